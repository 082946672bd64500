//===- Ops.cpp - generated operation classes, and the glue that build/facts.rs derives ------------===//

#include "Pto.h"
#include "TileOpSyntax.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSwitch.h"

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

/// `{dir_mask = 1, slot_size = 4096, slot_num = 8, local_slot_num = 4, flag_base = 0, nosplit = true}`; `local` is null for
/// queues without a landing area.
static ParseResult parsePipeKeys(OpAsmParser &parser, IntegerAttr &mask, IntegerAttr &size, IntegerAttr &slots,
                                 IntegerAttr &flag, BoolAttr &nosplit, IntegerAttr *local) {
  auto parseKey = [&]() -> ParseResult {
    StringRef key;
    SMLoc at = parser.getCurrentLocation();
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return failure();
    auto twice = [&] { return parser.emitError(at) << "'" << key << "' is given twice"; };
    if (key == "nosplit")
      return nosplit ? ParseResult(twice()) : parser.parseAttribute(nosplit);
    IntegerAttr *value = llvm::StringSwitch<IntegerAttr *>(key)
                             .Case("dir_mask", &mask)
                             .Case("slot_size", &size)
                             .Case("slot_num", &slots)
                             .Case("flag_base", &flag)
                             .Case("local_slot_num", local)
                             .Default(nullptr);
    if (!value)
      return parser.emitError(at) << "unknown key '" << key << "' of a queue";
    if (*value)
      return twice();
    return parser.parseAttribute(*value, parser.getBuilder().getIntegerType(key == "dir_mask" ? 8 : 32));
  };
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Braces, parseKey))
    return failure();
  if (!mask || !size || !slots)
    return parser.emitError(at) << "expected dir_mask, slot_size and slot_num of a queue";
  return success();
}
static ParseResult parsePipeShape(OpAsmParser &parser, IntegerAttr &mask, IntegerAttr &size, IntegerAttr &slots,
                                  IntegerAttr &flag, BoolAttr &nosplit, IntegerAttr &local) {
  return parsePipeKeys(parser, mask, size, slots, flag, nosplit, &local);
}
static ParseResult parsePipeShape(OpAsmParser &parser, IntegerAttr &mask, IntegerAttr &size, IntegerAttr &slots,
                                  IntegerAttr &flag, BoolAttr &nosplit) {
  return parsePipeKeys(parser, mask, size, slots, flag, nosplit, nullptr);
}
static void printPipeShape(OpAsmPrinter &printer, Operation *, IntegerAttr mask, IntegerAttr size, IntegerAttr slots,
                           IntegerAttr flag, BoolAttr nosplit, IntegerAttr local = {}) {
  printer << "{dir_mask = " << mask.getInt() << ", slot_size = " << size.getInt() << ", slot_num = " << slots.getInt();
  if (local)
    printer << ", local_slot_num = " << local.getInt();
  if (flag)
    printer << ", flag_base = " << flag.getInt();
  if (nosplit)
    printer << ", nosplit = " << (nosplit.getValue() ? "true" : "false");
  printer << "} ";
}

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
