//===- TileOpSyntax.cpp - one parser and printer for all `ins(...) outs(...)` operations ---------===//
//
//   pto.tX ins(%a, %b {attrs} : T, T [fp %f : T] [pre_quant %q : i64]) outs(%d : T) {attrs}
//   pto.tX ins(%a : T, %b : T) outs(...)         the same with each type behind its operand; read, not printed
//   %v = pto.tgetval ins(%t, %i : T, index) outs : f32 {attrs}
//
// Which operands an operation has, and of what kind, comes from its `def` through a generated table.
// Optional operands are told apart by their number and by the kind of their type. The attribute dictionary is
// accepted inside `ins` (after or instead of an operand), after the types, and at the end.
//
//===------------------------------------------------------------------------------------------===//

#include "TileOpSyntax.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace pto;

namespace {
using Unresolved = OpAsmParser::UnresolvedOperand;

/// Operands as written, with their types.
struct OperandList {
  SmallVector<Unresolved> names;
  SmallVector<Type> types;
  bool noScratch = false; ///< `no_tmp` was written
};
using NamedOperands = llvm::StringMap<std::pair<Unresolved, Type>>;

/// Two names for one thing.
struct Alias {
  const char *written;
  const char *meant;
};

/// Spellings of attribute names that front-ends print, and the name they stand for.
constexpr Alias kAttributeAliases[] = {{"satmode", "sat_mode"}};
} // namespace

static bool isKind(StringRef kind, Type type) {
  if (kind == "tile")
    return isa<TileBufType>(type);
  if (kind == "view")
    return isa<TensorViewType, PartitionTensorViewType>(type);
  if (kind == "memory")
    return isa<TileBufType, TensorViewType, PartitionTensorViewType>(type);
  if (kind == "ptr")
    return isa<PtrType>(type);
  if (kind == "pipe")
    return isa<PipeType>(type);
  if (kind == "index")
    return type.isIndex();
  if (kind == "int")
    return type.isIntOrIndex();
  if (kind == "scalar")
    return type.isIntOrIndexOrFloat() || isLowPrecision(type);
  return true;
}

/// Chooses how many written operands each spec takes: optional ones are present where possible, lists are as short as
/// possible, so that the last of several tiles is the scratch tile.
static bool assign(ArrayRef<const OperandSpec *> specs, ArrayRef<Type> types, SmallVectorImpl<int32_t> &counts) {
  if (specs.empty())
    return types.empty();
  const OperandSpec &spec = *specs.front();
  int64_t least = spec.arity == '1' ? 1 : 0;
  int64_t most = spec.arity == '*' ? types.size() : 1;
  most = std::min<int64_t>(most, types.size());
  for (int64_t step = 0; step <= most - least; ++step) {
    int64_t count = spec.arity == '*' ? least + step : most - step;
    if (!llvm::all_of(types.take_front(count), [&](Type type) { return isKind(spec.kind, type); }))
      continue;
    counts.push_back(count);
    if (assign(specs.drop_front(), types.drop_front(count), counts))
      return true;
    counts.pop_back();
  }
  return false;
}

static std::string describe(ArrayRef<const OperandSpec *> specs) {
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::interleaveComma(specs, out, [&](const OperandSpec *spec) {
    out << spec->name << (spec->arity == '?' ? "?" : spec->arity == '*' ? "..." : "") << ": " << spec->kind;
  });
  return text;
}

/// A type; that of a tile also without its name: `<loc=vec, ...>`.
static ParseResult parseOperandType(OpAsmParser &parser, Type &type) {
  OptionalParseResult whole = parser.parseOptionalType(type);
  if (whole.has_value())
    return *whole;
  TileBufType tile;
  if (parser.parseCustomTypeWithFallback(tile))
    return failure();
  type = tile;
  return success();
}

/// More operands behind the types of the first ones, up to their own colon: `%a : T, %b, %c : T, T`.
static ParseResult parseMoreOperands(OpAsmParser &parser, OperandList &list, NamedAttrList &attributes) {
  Unresolved operand;
  OptionalParseResult isOperand = parser.parseOptionalOperand(operand);
  if (!isOperand.has_value())
    return success();
  if (failed(*isOperand))
    return failure();
  if (list.names.size() != list.types.size())
    return parser.emitError(operand.location) << "expected " << list.names.size() - list.types.size()
                                              << " more types before the next operand";
  list.names.push_back(operand);
  while (succeeded(parser.parseOptionalComma()))
    if (parser.parseOperand(list.names.emplace_back()))
      return failure();
  return failure(parser.parseOptionalAttrDict(attributes) || parser.parseColon());
}

/// `: T, T`; an older spelling of the masked forms has the axis behind the types: `: T, "row"`.
static ParseResult parseTypes(OpAsmParser &parser, OperandList &list, NamedAttrList &attributes) {
  if (parser.parseColon())
    return failure();
  do {
    std::string axis;
    if (parseMoreOperands(parser, list, attributes))
      return failure();
    if (succeeded(parser.parseOptionalString(&axis)))
      attributes.append("axis", parser.getBuilder().getStringAttr(axis));
    else if (parseOperandType(parser, list.types.emplace_back()))
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return success();
}

/// `%a, %b {attrs} : T, T`, without the closing parenthesis.
static ParseResult parseOperandList(OpAsmParser &parser, OperandList &list, NamedAttrList &attributes) {
  do {
    Unresolved operand;
    OptionalParseResult isOperand = parser.parseOptionalOperand(operand);
    if (isOperand.has_value()) {
      if (failed(*isOperand))
        return failure();
      list.names.push_back(operand);
    }
    if (succeeded(parser.parseOptionalKeyword("no_tmp")))
      list.noScratch = true;
    if (parser.parseOptionalAttrDict(attributes))
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  if (list.names.empty())
    return success();
  SMLoc at = parser.getCurrentLocation();
  if (parseTypes(parser, list, attributes))
    return failure();
  if (list.names.size() != list.types.size())
    return parser.emitError(at) << "expected " << list.names.size() << " types for " << list.names.size()
                                << " operands, found " << list.types.size();
  return parser.parseOptionalAttrDict(attributes);
}

/// `fp %f : T` behind the types of `ins`.
static ParseResult parseClauses(OpAsmParser &parser, const TileOpSpec &spec, NamedOperands &clauses) {
  for (const OperandSpec &operand : spec.operands) {
    if (!*operand.clause || failed(parser.parseOptionalKeyword(operand.clause)))
      continue;
    auto &entry = clauses[operand.name];
    if (parser.parseOperand(entry.first) || parser.parseColonType(entry.second))
      return failure();
  }
  return success();
}

/// `name = %v : T` or `name = attribute` behind everything else.
static ParseResult parseTrailing(OpAsmParser &parser, const TileOpSpec &spec, NamedOperands &clauses,
                                 NamedAttrList &attributes) {
  for (const char *name : spec.trailing) {
    if (failed(parser.parseOptionalKeyword(name)))
      continue;
    if (parser.parseEqual())
      return failure();
    Attribute attribute;
    auto &&isOperand = llvm::any_of(spec.operands, [&](const OperandSpec &o) { return StringRef(o.name) == name; });
    if (isOperand) {
      auto &entry = clauses[name];
      if (parser.parseOperand(entry.first) || parser.parseColonType(entry.second))
        return failure();
    } else {
      if (parser.parseAttribute(attribute))
        return failure();
      attributes.append(name, attribute);
    }
  }
  return success();
}

static ParseResult normalizeAttributes(OpAsmParser &parser, SMLoc at, NamedAttrList &attributes) {
  if (attributes.get("operandSegmentSizes"))
    return parser.emitError(at) << "'operandSegmentSizes' follows from the operands and is not written";
  for (const Alias &alias : kAttributeAliases) {
    Attribute value = attributes.get(alias.written);
    if (!value)
      continue;
    if (attributes.get(alias.meant))
      return parser.emitError(at) << "'" << alias.written << "' and '" << alias.meant << "' are the same attribute";
    attributes.erase(alias.written);
    attributes.set(alias.meant, value);
  }
  // An older spelling of the two bytes of a 16-bit value.
  if (auto high = dyn_cast_or_null<BoolAttr>(attributes.get("isMSB"))) {
    Attribute byte = parser.getBuilder().getI32IntegerAttr(high.getValue());
    if (Attribute given = attributes.get("byte"); given && given != byte)
      return parser.emitError(at) << "'isMSB' and 'byte' say different bytes";
    attributes.erase("isMSB");
    attributes.set("byte", byte);
  }
  std::optional<NamedAttribute> twice = attributes.findDuplicate();
  if (twice)
    return parser.emitError(at) << "attribute '" << twice->getName().getValue() << "' is given twice";
  return success();
}

/// Operand counts in spec order, and the operands in the order in which the operation holds them.
static ParseResult resolve(OpAsmParser &parser, OperationState &result, const TileOpSpec &spec, SMLoc at,
                           OperandList lists[2], NamedOperands &clauses, StringRef second) {
  llvm::StringMap<std::pair<ArrayRef<Unresolved>, ArrayRef<Type>>> found;
  for (bool outs : {false, true}) {
    SmallVector<const OperandSpec *> specs;
    for (const OperandSpec &operand : spec.operands)
      if (operand.isOut == outs && !clauses.contains(operand.name) &&
          !(lists[outs].noScratch && StringRef(operand.name) == "tmp"))
        specs.push_back(&operand);
    auto moved = llvm::find_if(specs, [&](const OperandSpec *spec) { return spec->name == second; });
    if (moved != specs.end() && specs.size() > 1)
      std::rotate(specs.begin() + 1, moved, moved + 1);
    SmallVector<int32_t> counts;
    if (!assign(specs, lists[outs].types, counts))
      return parser.emitError(at) << "expected " << (outs ? "outs(" : "ins(")
                                  << describe(specs) << "), found " << lists[outs].types.size() << " operands of types ("
                                  << lists[outs].types << ")";
    size_t next = 0;
    for (auto [operand, count] : llvm::zip(specs, counts)) {
      found[operand->name] = {ArrayRef(lists[outs].names).slice(next, count),
                              ArrayRef(lists[outs].types).slice(next, count)};
      next += count;
    }
  }
  SmallVector<int32_t> segments;
  for (const OperandSpec &operand : spec.operands) {
    auto clause = clauses.find(operand.name);
    auto [names, types] = clause == clauses.end() ? found[operand.name]
                                                  : std::pair(ArrayRef(clause->second.first), ArrayRef(clause->second.second));
    segments.push_back(names.size());
    if (parser.resolveOperands(names, types, at, result.operands))
      return failure();
  }
  if (spec.hasSegments)
    result.addAttribute("operandSegmentSizes", parser.getBuilder().getDenseI32ArrayAttr(segments));
  return success();
}

ParseResult pto::parseTileOp(OpAsmParser &parser, OperationState &result, const TileOpSpec &spec, StringRef second) {
  OperandList lists[2];
  NamedOperands clauses;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseKeyword("ins") || parser.parseLParen() || parseOperandList(parser, lists[0], result.attributes) ||
      parseClauses(parser, spec, clauses) || parser.parseRParen())
    return failure();
  bool hasOuts = llvm::any_of(spec.operands, [](const OperandSpec &operand) { return operand.isOut; });
  if (hasOuts) {
    if (parser.parseKeyword("outs") || parser.parseLParen() || parseOperandList(parser, lists[1], result.attributes) ||
        parser.parseRParen())
      return failure();
  } else if (succeeded(parser.parseOptionalKeyword("outs"))) {
    if (parser.parseColonTypeList(result.types))
      return failure();
  }
  if (parser.parseOptionalAttrDict(result.attributes) || parseTrailing(parser, spec, clauses, result.attributes) ||
      normalizeAttributes(parser, at, result.attributes) || checkAttributes(parser, result))
    return failure();
  return resolve(parser, result, spec, at, lists, clauses, second);
}

static void printValues(OpAsmPrinter &printer, ArrayRef<Value> values) {
  llvm::interleaveComma(values, printer, [&](Value value) { printer << value; });
}

void pto::printTileOp(OpAsmPrinter &printer, Operation *op, const TileOpSpec &spec, DictionaryAttr defaults) {
  SmallVector<Value> lists[2];
  SmallVector<std::pair<StringRef, Value>> clauses;
  llvm::StringMap<Value> trailing;
  ArrayRef<int32_t> segments;
  if (spec.hasSegments)
    segments = cast<DenseI32ArrayAttr>(op->getAttr("operandSegmentSizes")).asArrayRef();
  int64_t fixed = llvm::count_if(spec.operands, [](const OperandSpec &operand) { return operand.arity == '1'; });
  unsigned next = 0;
  // Without a scratch tile, the last of several tiles would read as one.
  bool hasList = false, hasScratch = false;
  for (auto [index, operand] : llvm::enumerate(spec.operands)) {
    int64_t count = spec.hasSegments         ? segments[index]
                    : operand.arity == '1' ? 1
                                           : int64_t(op->getNumOperands()) - fixed;
    hasList |= operand.arity == '*' && count > 1;
    hasScratch |= StringRef(operand.name) == "tmp" && count > 0;
    bool isTrailing = llvm::is_contained(spec.trailing, StringRef(operand.name));
    for (Value value : op->getOperands().slice(next, count)) {
      if (isTrailing)
        trailing[operand.name] = value;
      else if (*operand.clause)
        clauses.push_back({operand.clause, value});
      else
        lists[operand.isOut].push_back(value);
    }
    next += count;
  }

  bool endsWithList = hasList && !hasScratch;

  SmallVector<NamedAttribute> attributes;
  for (NamedAttribute attribute : op->getAttrDictionary())
    if (attribute.getName() != "operandSegmentSizes" && !llvm::is_contained(spec.trailing, attribute.getName()) &&
        (!defaults || defaults.get(attribute.getName()) != attribute.getValue()))
      attributes.push_back(attribute);

  printer << " ins(";
  printValues(printer, lists[0]);
  if (endsWithList)
    printer << " no_tmp";
  if (spec.attrsInside)
    printer.printOptionalAttrDict(attributes);
  if (!lists[0].empty()) {
    printer << " : ";
    llvm::interleaveComma(lists[0], printer, [&](Value value) { printer << value.getType(); });
  }
  for (auto [keyword, value] : clauses)
    printer << ' ' << keyword << ' ' << value << " : " << value.getType();
  printer << ")";
  if (!lists[1].empty()) {
    printer << " outs(";
    printValues(printer, lists[1]);
    printer << " : ";
    llvm::interleaveComma(lists[1], printer, [&](Value value) { printer << value.getType(); });
    printer << ")";
  } else if (op->getNumResults()) {
    printer << " outs : " << op->getResultTypes();
  }
  if (!spec.attrsInside)
    printer.printOptionalAttrDict(attributes);
  for (const char *name : spec.trailing) {
    Attribute attribute = op->getAttr(name);
    if (Value value = trailing.lookup(name))
      printer << ' ' << name << " = " << value << " : " << value.getType();
    else if (attribute && (!defaults || defaults.get(name) != attribute))
      printer << ' ' << name << " = " << attribute;
  }
}
