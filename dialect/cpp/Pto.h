//===- Pto.h - C++ classes of the PTO dialect (generated from td/) ----------------------------===//
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace pto {
/// Whether a type is one of the dialect's own element types (hif8, packed fp4, ...).
bool isLowPrecision(mlir::Type type);

/// What an operation that this program does not have is in the other backends of ptoas (`a micro instruction`); empty:
/// nothing there either. `name` has its dialect.
llvm::StringRef foreignFamily(llvm::StringRef name);

/// Fails where an attribute of the operation's own is of another kind than its definition says: without this, MLIR drops it.
mlir::ParseResult checkAttributes(mlir::OpAsmParser &parser, mlir::OperationState &result);

/// An optional attribute dictionary, checked.
mlir::ParseResult parseAttributes(mlir::OpAsmParser &parser, mlir::OperationState &result);
} // namespace pto

#include "PtoDialect.h.inc"
#include "PtoEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "PtoAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "PtoTypes.h.inc"
#define GET_OP_CLASSES
#include "PtoOps.h.inc"
