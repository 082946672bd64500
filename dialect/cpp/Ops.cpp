//===- Ops.cpp - generated operation classes, and the glue that build/facts.rs derives ------------===//

#include "Pto.h"
#include "TileOpSyntax.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace pto;

#define GET_OP_CLASSES
#include "PtoOps.cpp.inc"

/// The verifier of every operation is in Rust (dialect/src/verify.rs).
extern "C" MlirLogicalResult pto_verify_op(MlirOperation op);
static LogicalResult verifyInRust(Operation *op) { return unwrap(pto_verify_op(wrap(op))); }

#include "PtoSyntax.cpp.inc"
