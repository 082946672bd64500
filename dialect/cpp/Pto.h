//===- Pto.h - C++ classes of the PTO dialect (generated from td/) ----------------------------===//
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace pto {
/// Whether a type is one of the dialect's own element types (hif8, packed fp4, ...).
bool isLowPrecision(mlir::Type type);
} // namespace pto

#include "PtoDialect.h.inc"
#include "PtoEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "PtoAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "PtoTypes.h.inc"
#define GET_OP_CLASSES
#include "PtoOps.h.inc"
