//===- Ops.cpp - generated operation classes, and the glue that build/facts.rs derives ------------===//

#include "Pto.h"
#include "TileOpSyntax.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace pto;

//===----------------------------------------------------------------------===//
// Pieces of declarative formats
//===----------------------------------------------------------------------===//

/// A pointer type, in full or without its name: `<f32>`.
static ParseResult parsePtr(OpAsmParser &parser, Type &type) {
  OptionalParseResult whole = parser.parseOptionalType(type);
  if (whole.has_value())
    return *whole;
  type = PtrType::parse(parser);
  return success(bool(type));
}
static void printPtr(OpAsmPrinter &printer, Operation *, Type type) { printer << type; }

/// `[0, 2]`: fields of a struct, from the outside in.
static ParseResult parseStructPath(OpAsmParser &parser, DenseI64ArrayAttr &path) {
  SmallVector<int64_t> fields;
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square,
                                     [&] { return parser.parseInteger(fields.emplace_back()); }))
    return failure();
  path = parser.getBuilder().getDenseI64ArrayAttr(fields);
  return success();
}
static void printStructPath(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr path) {
  printer << '[';
  llvm::interleaveComma(path.asArrayRef(), printer);
  printer << ']';
}

/// An enumeration attribute in full or as `<case>`; printed in full.
template <typename Attr>
static ParseResult parseSpelled(OpAsmParser &parser, Attr &attribute) {
  return parser.parseCustomAttributeWithFallback(attribute);
}
static void printSpelled(OpAsmPrinter &printer, Operation *, Attribute attribute) { printer << attribute; }

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

/// An operation of one of the other backends of ptoas.
static ParseResult refuseForeign(OpAsmParser &parser, OperationState &result) {
  return parser.emitError(parser.getNameLoc())
         << "[PTO-0216] '" << result.name << "' op expected an operation on tiles, got "
         << foreignFamily(result.name.getStringRef())
         << " of another backend; this program emits tile-level C++ only";
}

std::optional<Dialect::ParseOpHook> PtoDialect::getParseOperationHook(StringRef opName) const {
  for (const OpAlias &alias : kOpAliases)
    if (opName == alias.written)
      return ParseOpHook(*alias.parse);
  if (!foreignFamily(opName).empty())
    return ParseOpHook(refuseForeign);
  return Dialect::getParseOperationHook(opName);
}
