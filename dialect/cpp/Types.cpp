//===- Types.cpp - the textual grammar of the types -------------------------------------------===//

#include "Pto.h"
#include "mlir/CAPI/IR.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pto;

#define GET_TYPEDEF_CLASSES
#include "PtoTypes.cpp.inc"

void PtoDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "PtoTypes.cpp.inc"
      >();
}

bool pto::isLowPrecision(Type type) {
  return isa<HiF8Type, F8E8M0Type, HiF8x2Type, F4E1M2x2Type, F4E2M1x2Type, BF16x2Type>(type);
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

/// A memory space by its name or by the name of the memory itself (`ub`, `l0a`, ...).
static std::optional<AddressSpace> spaceOf(StringRef name) {
  return llvm::StringSwitch<std::optional<AddressSpace>>(name)
      .Case("ub", AddressSpace::vec)
      .Case("l1", AddressSpace::mat)
      .Case("l0a", AddressSpace::left)
      .Case("l0b", AddressSpace::right)
      .Case("l0c", AddressSpace::acc)
      .Case("bt", AddressSpace::bias)
      .Case("fb", AddressSpace::scaling)
      .Default(symbolizeAddressSpace(name));
}

static FailureOr<AddressSpace> parseSpace(AsmParser &parser) {
  StringRef name;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return failure();
  if (auto space = spaceOf(name))
    return *space;
  return parser.emitError(at) << "expected a memory space (vec, mat, left, right, acc, bias, scaling, gm), found '"
                              << name << "'";
}

/// `?`, or an integer; -1 means `?` too.
static ParseResult parseExtent(AsmParser &parser, int64_t &value) {
  if (succeeded(parser.parseOptionalQuestion())) {
    value = ShapedType::kDynamic;
    return success();
  }
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseInteger(value))
    return failure();
  if (value == -1)
    value = ShapedType::kDynamic;
  else if (value < 0)
    return parser.emitError(at) << "expected a non-negative extent or '?', found " << value;
  return success();
}

template <typename Enum>
static ParseResult parseCase(AsmParser &parser, Enum &value, std::optional<Enum> (*byName)(StringRef),
                             std::optional<Enum> (*byValue)(uint32_t), StringRef what) {
  SMLoc at = parser.getCurrentLocation();
  uint32_t number;
  StringRef name;
  std::optional<Enum> found;
  OptionalParseResult isNumber = parser.parseOptionalInteger(number);
  if (isNumber.has_value())
    found = succeeded(*isNumber) ? byValue(number) : std::nullopt;
  else if (succeeded(parser.parseOptionalKeyword(&name)))
    found = byName(name);
  if (!found)
    return parser.emitError(at) << "expected a " << what;
  value = *found;
  return success();
}
#define PARSE_CASE(Name, field, what)                                                                                  \
  parseCase<Name>(parser, field, static_cast<std::optional<Name> (*)(StringRef)>(&symbolize##Name),                    \
                  static_cast<std::optional<Name> (*)(uint32_t)>(&symbolize##Name), what)

//===----------------------------------------------------------------------===//
// tile_buf
//===----------------------------------------------------------------------===//

namespace {
struct TileFields {
  AddressSpace space = AddressSpace::vec;
  int64_t rows = 0, cols = 0, validRows = 0, validCols = 0, fractal = 512;
  Type element;
  BLayout blayout = BLayout::row_major;
  SLayout slayout = SLayout::none_box;
  PadValue pad = PadValue::null;
  CompactMode compact = CompactMode::null;
  bool hasValidRows = false, hasValidCols = false;
};
} // namespace

/// One `key = value`; the same keys in both forms, `valid` in the compact one, the others in the long one.
static ParseResult parseTileField(AsmParser &parser, StringRef key, SMLoc at, TileFields &tile) {
  if (key == "dtype")
    return parser.parseType(tile.element);
  if (key == "rows" || key == "cols")
    return parser.parseInteger(key == "rows" ? tile.rows : tile.cols);
  if (key == "v_row")
    return tile.hasValidRows = true, parseExtent(parser, tile.validRows);
  if (key == "v_col")
    return tile.hasValidCols = true, parseExtent(parser, tile.validCols);
  if (key == "valid") {
    SmallVector<int64_t> extents;
    if (parser.parseDimensionList(extents, /*allowDynamic=*/true, /*withTrailingX=*/false))
      return failure();
    if (extents.size() != 2)
      return parser.emitError(at) << "expected valid=ROWSxCOLS, found " << extents.size() << " extents";
    tile.validRows = extents[0], tile.validCols = extents[1];
    tile.hasValidRows = tile.hasValidCols = true;
    return success();
  }
  if (key == "blayout")
    return PARSE_CASE(BLayout, tile.blayout, "block layout (row_major, col_major)");
  if (key == "slayout")
    return PARSE_CASE(SLayout, tile.slayout, "box layout (none_box, row_major, col_major)");
  if (key == "fractal")
    return parser.parseInteger(tile.fractal);
  if (key == "pad")
    return PARSE_CASE(PadValue, tile.pad, "pad value (0 null, 1 zero, 2 max, 3 min)");
  if (key == "compact")
    return PARSE_CASE(CompactMode, tile.compact, "compact mode (0 null, 1 normal, 2 row_plus_one)");
  return parser.emitError(at) << "unknown key '" << key << "' in a tile_buf type";
}

static ParseResult parseTileFields(AsmParser &parser, TileFields &tile, llvm::SmallSet<StringRef, 12> &seen) {
  do {
    StringRef key;
    SMLoc at = parser.getCurrentLocation();
    if (parser.parseKeyword(&key))
      return failure();
    if (!seen.insert(key).second)
      return parser.emitError(at) << "key '" << key << "' is given twice";
    if (parser.parseEqual() || parseTileField(parser, key, at, tile))
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return success();
}

static TileBufType finishTile(AsmParser &parser, SMLoc at, TileFields &tile) {
  if (!tile.hasValidRows)
    tile.validRows = tile.rows;
  if (!tile.hasValidCols)
    tile.validCols = tile.cols;
  return TileBufType::getChecked([&] { return parser.emitError(at); }, parser.getContext(), tile.space, tile.rows,
                                 tile.cols, tile.element, tile.validRows, tile.validCols, tile.blayout, tile.slayout,
                                 tile.fractal, tile.pad, tile.compact);
}

/// What follows `<` up to, not including, `>`.
static TileBufType parseTileBody(AsmParser &parser) {
  TileFields tile;
  llvm::SmallSet<StringRef, 12> seen;
  SMLoc at = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword("loc"))) {
    if (parser.parseEqual())
      return {};
    auto space = parseSpace(parser);
    if (failed(space) || parser.parseComma() || parseTileFields(parser, tile, seen))
      return {};
    tile.space = *space;
    for (StringRef key : {"dtype", "rows", "cols"})
      if (!seen.contains(key))
        return parser.emitError(at) << "tile_buf lacks '" << key << "'", TileBufType();
    return finishTile(parser, at, tile);
  }
  auto space = parseSpace(parser);
  SmallVector<int64_t> shape;
  if (failed(space) || parser.parseComma() || parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(tile.element))
    return {};
  if (shape.size() != 2)
    return parser.emitError(at) << "expected a tile shape ROWSxCOLSxTYPE, found rank " << shape.size(), TileBufType();
  tile.space = *space, tile.rows = shape[0], tile.cols = shape[1];
  if (succeeded(parser.parseOptionalComma()) && parseTileFields(parser, tile, seen))
    return {};
  return finishTile(parser, at, tile);
}

Type TileBufType::parse(AsmParser &parser) {
  if (parser.parseLess())
    return {};
  TileBufType type = parseTileBody(parser);
  return type && succeeded(parser.parseGreater()) ? type : TileBufType();
}

static void printExtent(AsmPrinter &printer, int64_t value) {
  if (ShapedType::isDynamic(value))
    printer << '?';
  else
    printer << value;
}

void TileBufType::print(AsmPrinter &printer) const {
  printer << '<' << stringifyAddressSpace(getSpace()) << ", " << getRows() << 'x' << getCols() << 'x' << getElementType();
  if (getValidRows() != getRows() || getValidCols() != getCols()) {
    printer << ", valid=";
    printExtent(printer, getValidRows());
    printer << 'x';
    printExtent(printer, getValidCols());
  }
  if (getBlayout() != BLayout::row_major)
    printer << ", blayout=" << stringifyBLayout(getBlayout());
  if (getSlayout() != SLayout::none_box)
    printer << ", slayout=" << stringifySLayout(getSlayout());
  if (getFractal() != 512)
    printer << ", fractal=" << getFractal();
  if (getPad() != PadValue::null)
    printer << ", pad=" << static_cast<uint32_t>(getPad());
  if (getCompact() != CompactMode::null)
    printer << ", compact=" << static_cast<uint32_t>(getCompact());
  printer << '>';
}

LogicalResult TileBufType::verify(function_ref<InFlightDiagnostic()> error, AddressSpace space, int64_t rows,
                                  int64_t cols, Type element, int64_t validRows, int64_t validCols, BLayout, SLayout,
                                  int64_t fractal, PadValue, CompactMode) {
  if (space == AddressSpace::gm || space == AddressSpace::zero)
    return error() << "a tile cannot stand in '" << stringifyAddressSpace(space) << "'; expected an on-chip memory";
  if (rows <= 0 || cols <= 0)
    return error() << "expected a tile shape above zero, found " << rows << "x" << cols;
  if (rows > (1 << 24) || cols > (1 << 24))
    return error() << "expected at most 16777216 rows and columns, found " << rows << "x" << cols;
  if (!element.isIntOrFloat() && !isLowPrecision(element))
    return error() << "expected an integer or floating-point element type, found " << element;
  if (!ShapedType::isDynamic(validRows) && validRows > rows)
    return error() << "expected at most " << rows << " valid rows, found " << validRows;
  if (!ShapedType::isDynamic(validCols) && validCols > cols)
    return error() << "expected at most " << cols << " valid columns, found " << validCols;
  if (fractal != 32 && fractal != 512 && fractal != 1024)
    return error() << "expected fractal 32, 512 or 1024 (bytes), found " << fractal;
  return success();
}

//===----------------------------------------------------------------------===//
// multi_tile_buf
//===----------------------------------------------------------------------===//

Type MultiTileBufType::parse(AsmParser &parser) {
  TileFields tile;
  TileBufType slot;
  int64_t count = 0;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseLess())
    return {};
  Type nested;
  OptionalParseResult hasNested = parser.parseOptionalType(nested);
  if (hasNested.has_value()) {
    if (failed(*hasNested) || parser.parseComma())
      return {};
    slot = dyn_cast<TileBufType>(nested);
    if (!slot)
      return parser.emitError(at) << "expected a tile_buf type in multi_tile_buf", Type();
    if (parser.parseKeyword("count") || parser.parseEqual() || parser.parseInteger(count))
      return {};
  } else {
    llvm::SmallSet<StringRef, 12> seen;
    auto space = parseSpace(parser);
    SmallVector<int64_t> shape;
    if (failed(space) || parser.parseComma() || parser.parseDimensionList(shape, false) || parser.parseType(tile.element))
      return {};
    if (shape.size() != 2)
      return parser.emitError(at) << "expected a tile shape ROWSxCOLSxTYPE", Type();
    tile.space = *space, tile.rows = shape[0], tile.cols = shape[1];
    while (succeeded(parser.parseOptionalComma())) {
      StringRef key;
      SMLoc keyAt = parser.getCurrentLocation();
      if (parser.parseKeyword(&key) || parser.parseEqual())
        return {};
      if (!seen.insert(key).second)
        return parser.emitError(keyAt) << "key '" << key << "' is given twice", Type();
      if (key == "count" ? parser.parseInteger(count) : parseTileField(parser, key, keyAt, tile))
        return {};
    }
    slot = finishTile(parser, at, tile);
  }
  if (!slot || parser.parseGreater())
    return {};
  return MultiTileBufType::getChecked([&] { return parser.emitError(at); }, parser.getContext(), slot, count);
}

void MultiTileBufType::print(AsmPrinter &printer) const {
  printer << '<' << Type(getSlot()) << ", count=" << getCount() << '>';
}

LogicalResult MultiTileBufType::verify(function_ref<InFlightDiagnostic()> error, TileBufType slot, int64_t count) {
  if (count < 2 || count > 16)
    return error() << "expected a count of 2 to 16 tiles, found " << count;
  if (slot.getCompact() == CompactMode::row_plus_one)
    return error() << "tiles of a multi_tile_buf cannot be compact=2 (row_plus_one)";
  return success();
}

//===----------------------------------------------------------------------===//
// ptr, tensor views, local arrays
//===----------------------------------------------------------------------===//

Type PtrType::parse(AsmParser &parser) {
  Type element;
  AddressSpace space = AddressSpace::gm;
  if (parser.parseLess() || parser.parseType(element))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    auto parsed = parseSpace(parser);
    if (failed(parsed))
      return {};
    space = *parsed;
  }
  return succeeded(parser.parseGreater()) ? PtrType::get(parser.getContext(), element, space) : PtrType();
}

void PtrType::print(AsmPrinter &printer) const {
  printer << '<' << getElementType();
  if (getSpace() != AddressSpace::gm)
    printer << ", " << stringifyAddressSpace(getSpace());
  printer << '>';
}

template <typename T>
static Type parseShaped(AsmParser &parser, bool allowDynamic, size_t maxRank) {
  SmallVector<int64_t> shape;
  Type element;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape, allowDynamic) || parser.parseType(element) ||
      parser.parseGreater())
    return {};
  if (shape.empty() || shape.size() > maxRank)
    return parser.emitError(at) << "expected rank 1 to " << maxRank << ", found " << shape.size(), Type();
  return T::get(parser.getContext(), shape, element);
}

template <typename T>
static void printShaped(T type, AsmPrinter &printer) {
  printer << '<';
  for (int64_t extent : type.getShape()) {
    printExtent(printer, extent);
    printer << 'x';
  }
  printer << type.getElementType() << '>';
}

Type TensorViewType::parse(AsmParser &parser) { return parseShaped<TensorViewType>(parser, true, 5); }
void TensorViewType::print(AsmPrinter &printer) const { printShaped(*this, printer); }
Type PartitionTensorViewType::parse(AsmParser &parser) { return parseShaped<PartitionTensorViewType>(parser, true, 5); }
void PartitionTensorViewType::print(AsmPrinter &printer) const { printShaped(*this, printer); }
Type LocalArrayType::parse(AsmParser &parser) { return parseShaped<LocalArrayType>(parser, false, 8); }
void LocalArrayType::print(AsmPrinter &printer) const { printShaped(*this, printer); }

LogicalResult StructType::verify(function_ref<InFlightDiagnostic()> error, ArrayRef<Type> fields) {
  if (fields.empty())
    return error() << "expected a struct of at least one field, found none";
  for (auto [index, field] : llvm::enumerate(fields)) {
    bool integer = field.isInteger(8) || field.isInteger(16) || field.isInteger(32) || field.isInteger(64);
    if (!integer && !field.isF16() && !field.isBF16() && !field.isF32() && !field.isF64() && !isa<StructType>(field))
      return error() << "expected an integer of 8 to 64 bits, f16, bf16, f32, f64 or a struct as field " << index
                     << " of a struct, found " << field;
  }
  return success();
}
