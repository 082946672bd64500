//===- Ops.cpp - generated operation classes, and the glue that build/facts.rs derives ------------===//

#include "Pto.h"
#include "TileOpSyntax.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace pto;

/// A pointer type, in full or from its `<` on.
static ParseResult parsePointer(OpAsmParser &parser, Type &type) {
  PtrType pointer;
  if (parser.parseCustomTypeWithFallback(pointer))
    return failure();
  type = pointer;
  return success();
}
static void printPointer(OpAsmPrinter &printer, Operation *, Type type) { printer << type; }

#define GET_OP_CLASSES
#include "PtoOps.cpp.inc"

/// The verifier of every operation is in Rust (dialect/src/verify.rs).
extern "C" MlirLogicalResult pto_verify_op(MlirOperation op);
static LogicalResult verifyInRust(Operation *op) { return unwrap(pto_verify_op(wrap(op))); }

namespace {
/// An older spelling of an operation.
struct OpAlias {
  const char *written;
  ParseResult (*parse)(OpAsmParser &, OperationState &);
};
} // namespace

/// Parses an older spelling of the operation `meant`. `needed` is an operand that the older operation always has,
/// written behind the first one; empty: none.
static ParseResult parseAliasOf(OpAsmParser &parser, OperationState &result, StringRef meant, const TileOpSpec &spec,
                                StringRef needed) {
  result.name = OperationName(meant, parser.getContext());
  if (parseTileOp(parser, result, spec, needed))
    return failure();
  if (needed.empty())
    return success();
  auto counts = cast<DenseI32ArrayAttr>(result.attributes.get("operandSegmentSizes")).asArrayRef();
  for (auto [operand, count] : llvm::zip(spec.operands, counts))
    if (operand.name == needed && count == 0)
      return parser.emitError(parser.getNameLoc()) << "expected operand '" << needed << "', found none";
  return success();
}

#include "PtoSyntax.cpp.inc"

std::optional<Dialect::ParseOpHook> PtoDialect::getParseOperationHook(StringRef opName) const {
  for (const OpAlias &alias : kOpAliases)
    if (opName == alias.written)
      return ParseOpHook(*alias.parse);
  return Dialect::getParseOperationHook(opName);
}
