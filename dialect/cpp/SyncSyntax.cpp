//===- SyncSyntax.cpp - spelling of flags, barriers and queues -----------------------------------===//

#include "Pto.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace pto;
using Unresolved = OpAsmParser::UnresolvedOperand;

//===----------------------------------------------------------------------===//
// Enumerations in their loose spellings: <PIPE_V>, "PIPE_V", PIPE_V, #pto.pipe<PIPE_V>
//===----------------------------------------------------------------------===//

template <typename Attr, typename Enum>
static ParseResult parseLoose(OpAsmParser &parser, OperationState &result, StringRef name,
                              std::optional<Enum> (*symbolize)(StringRef), StringRef what) {
  SMLoc at = parser.getCurrentLocation();
  std::string text;
  StringRef keyword;
  std::optional<Enum> value;
  if (succeeded(parser.parseOptionalLess())) {
    if (parser.parseKeyword(&keyword) || parser.parseGreater())
      return failure();
    value = symbolize(keyword);
    text = keyword.str();
  } else if (succeeded(parser.parseOptionalString(&text))) {
    value = symbolize(text);
  } else if (succeeded(parser.parseOptionalKeyword(&keyword))) {
    value = symbolize(keyword);
    text = keyword.str();
  } else {
    Attribute attribute;
    if (parser.parseAttribute(attribute))
      return failure();
    auto typed = dyn_cast<Attr>(attribute);
    if (!typed)
      return parser.emitError(at) << "expected " << what << ", found " << attribute;
    value = typed.getValue();
  }
  if (!value)
    return parser.emitError(at) << "expected " << what << ", found '" << text << "'";
  result.addAttribute(name, Attr::get(parser.getContext(), *value));
  return success();
}

static ParseResult parsePipe(OpAsmParser &parser, OperationState &result, StringRef name) {
  return parseLoose<PipeAttr, Pipe>(parser, result, name, &symbolizePipe, "a pipe (PIPE_V, PIPE_MTE2, ...)");
}
static ParseResult parseEvent(OpAsmParser &parser, OperationState &result) {
  return parseLoose<EventAttr, Event>(parser, result, "event_id", &symbolizeEvent, "an event id (EVENT_ID0 to EVENT_ID7)");
}

static ParseResult parseFlag(OpAsmParser &parser, OperationState &result) {
  return failure(parser.parseLSquare() || parsePipe(parser, result, "src_pipe") || parser.parseComma() ||
                 parsePipe(parser, result, "dst_pipe") || parser.parseComma() || parseEvent(parser, result) ||
                 parser.parseRSquare() || parseAttributes(parser, result));
}
template <typename Op>
static void printFlag(Op op, OpAsmPrinter &printer) {
  printer << "[<" << stringifyPipe(op.getSrcPipe()) << ">, <" << stringifyPipe(op.getDstPipe()) << ">, <"
          << stringifyEvent(op.getEventId()) << ">]";
  printer.printOptionalAttrDict(op->getAttrs(), {"src_pipe", "dst_pipe", "event_id"});
}
ParseResult SetFlagOp::parse(OpAsmParser &parser, OperationState &result) { return parseFlag(parser, result); }
ParseResult WaitFlagOp::parse(OpAsmParser &parser, OperationState &result) { return parseFlag(parser, result); }
void SetFlagOp::print(OpAsmPrinter &printer) { printFlag(*this, printer); }
void WaitFlagOp::print(OpAsmPrinter &printer) { printFlag(*this, printer); }

static ParseResult parseDynFlag(OpAsmParser &parser, OperationState &result) {
  Unresolved id;
  return failure(parser.parseLSquare() || parsePipe(parser, result, "src_pipe") || parser.parseComma() ||
                 parsePipe(parser, result, "dst_pipe") || parser.parseComma() || parser.parseOperand(id) ||
                 parser.parseRSquare() || parseAttributes(parser, result) ||
                 parser.resolveOperand(id, parser.getBuilder().getIndexType(), result.operands));
}
template <typename Op>
static void printDynFlag(Op op, OpAsmPrinter &printer) {
  printer << "[<" << stringifyPipe(op.getSrcPipe()) << ">, <" << stringifyPipe(op.getDstPipe()) << ">, "
          << op.getEventId() << "]";
  printer.printOptionalAttrDict(op->getAttrs(), {"src_pipe", "dst_pipe"});
}
ParseResult SetFlagDynOp::parse(OpAsmParser &parser, OperationState &result) { return parseDynFlag(parser, result); }
ParseResult WaitFlagDynOp::parse(OpAsmParser &parser, OperationState &result) { return parseDynFlag(parser, result); }
void SetFlagDynOp::print(OpAsmPrinter &printer) { printDynFlag(*this, printer); }
void WaitFlagDynOp::print(OpAsmPrinter &printer) { printDynFlag(*this, printer); }

ParseResult BarrierOp::parse(OpAsmParser &parser, OperationState &result) {
  return failure(parsePipe(parser, result, "pipe") || parseAttributes(parser, result));
}
void BarrierOp::print(OpAsmPrinter &printer) {
  printer << " <" << stringifyPipe(getPipe()) << ">";
  printer.printOptionalAttrDict((*this)->getAttrs(), {"pipe"});
}

static ParseResult parseSyncEvent(OpAsmParser &parser, OperationState &result) {
  auto parseType = [&](StringRef name) {
    return parseLoose<PipeEventTypeAttr, PipeEventType>(parser, result, name, &symbolizePipeEventType,
                                                        "a kind of operation (TLOAD, TVEC, ...)");
  };
  return failure(parser.parseLSquare() || parseType("src_op") || parser.parseComma() || parseType("dst_op") ||
                 parser.parseComma() || parseEvent(parser, result) || parser.parseRSquare() ||
                 parseAttributes(parser, result));
}
template <typename Op>
static void printSyncEvent(Op op, OpAsmPrinter &printer) {
  printer << "[<" << stringifyPipeEventType(op.getSrcOp()) << ">, <" << stringifyPipeEventType(op.getDstOp()) << ">, <"
          << stringifyEvent(op.getEventId()) << ">]";
  printer.printOptionalAttrDict(op->getAttrs(), {"src_op", "dst_op", "event_id"});
}
ParseResult RecordEventOp::parse(OpAsmParser &parser, OperationState &result) { return parseSyncEvent(parser, result); }
ParseResult WaitEventOp::parse(OpAsmParser &parser, OperationState &result) { return parseSyncEvent(parser, result); }
void RecordEventOp::print(OpAsmPrinter &printer) { printSyncEvent(*this, printer); }
void WaitEventOp::print(OpAsmPrinter &printer) { printSyncEvent(*this, printer); }

ParseResult BarrierSyncOp::parse(OpAsmParser &parser, OperationState &result) {
  return failure(parser.parseLSquare() ||
                 parseLoose<PipeEventTypeAttr, PipeEventType>(parser, result, "op_type", &symbolizePipeEventType,
                                                              "a kind of operation (TLOAD, TVEC, ...)") ||
                 parser.parseRSquare() || parseAttributes(parser, result));
}
void BarrierSyncOp::print(OpAsmPrinter &printer) {
  printer << "[<" << stringifyPipeEventType(getOpType()) << ">]";
  printer.printOptionalAttrDict((*this)->getAttrs(), {"op_type"});
}

//===----------------------------------------------------------------------===//
// get_buf "PIPE_V", 3, 0  |  get_buf[#pto.pipe_event_type<TVEC>, 3]  |  get_buf_dyn[<PIPE_V>, %id]
//===----------------------------------------------------------------------===//

/// A pipe or a kind of operation, in every spelling of either.
static ParseResult parsePipeLike(OpAsmParser &parser, OperationState &result) {
  SMLoc at = parser.getCurrentLocation();
  std::string text;
  StringRef keyword;
  Attribute value;
  if (succeeded(parser.parseOptionalLess())) {
    if (parser.parseKeyword(&keyword) || parser.parseGreater())
      return failure();
    text = keyword.str();
  } else if (failed(parser.parseOptionalString(&text))) {
    if (succeeded(parser.parseOptionalKeyword(&keyword)))
      text = keyword.str();
    else if (parser.parseAttribute(value))
      return failure();
  }
  MLIRContext *context = parser.getContext();
  if (auto pipe = symbolizePipe(text))
    value = PipeAttr::get(context, *pipe);
  else if (auto kind = symbolizePipeEventType(text))
    value = PipeEventTypeAttr::get(context, *kind);
  if (!value)
    return parser.emitError(at) << "expected a pipe or a kind of operation (PIPE_V, TVEC, ...), found '" << text << "'";
  if (!isa<PipeAttr, PipeEventTypeAttr>(value))
    return parser.emitError(at) << "expected a pipe or a kind of operation (PIPE_V, TVEC, ...), found " << value;
  result.addAttribute("op_type", value);
  return success();
}

static ParseResult parseI32(OpAsmParser &parser, OperationState &result, StringRef name) {
  IntegerAttr value;
  return parser.parseAttribute(value, parser.getBuilder().getI32Type(), name, result.attributes);
}

static ParseResult parseBuf(OpAsmParser &parser, OperationState &result, bool dynamic) {
  bool bracketed = succeeded(parser.parseOptionalLSquare());
  Unresolved id;
  if (parsePipeLike(parser, result) || parser.parseComma())
    return failure();
  if (dynamic) {
    if (parser.parseOperand(id) || parser.resolveOperand(id, parser.getBuilder().getIndexType(), result.operands))
      return failure();
  } else if (parseI32(parser, result, "buf_id")) {
    return failure();
  }
  if (succeeded(parser.parseOptionalComma()) && parseI32(parser, result, "mode"))
    return failure();
  if (bracketed && parser.parseRSquare())
    return failure();
  return parseAttributes(parser, result);
}

template <typename Op>
static void printBuf(Op op, OpAsmPrinter &printer) {
  printer << '[' << op.getOpType() << ", ";
  if constexpr (std::is_same_v<decltype(op.getBufId()), uint32_t>)
    printer << int32_t(op.getBufId());
  else
    printer << op.getBufId();
  if (op.getMode() != 0)
    printer << ", " << int32_t(op.getMode());
  printer << ']';
  printer.printOptionalAttrDict(op->getAttrs(), {"op_type", "buf_id", "mode"});
}
ParseResult GetBufOp::parse(OpAsmParser &parser, OperationState &result) { return parseBuf(parser, result, false); }
ParseResult RlsBufOp::parse(OpAsmParser &parser, OperationState &result) { return parseBuf(parser, result, false); }
ParseResult GetBufDynOp::parse(OpAsmParser &parser, OperationState &result) { return parseBuf(parser, result, true); }
ParseResult RlsBufDynOp::parse(OpAsmParser &parser, OperationState &result) { return parseBuf(parser, result, true); }
void GetBufOp::print(OpAsmPrinter &printer) { printBuf(*this, printer); }
void RlsBufOp::print(OpAsmPrinter &printer) { printBuf(*this, printer); }
void GetBufDynOp::print(OpAsmPrinter &printer) { printBuf(*this, printer); }
void RlsBufDynOp::print(OpAsmPrinter &printer) { printBuf(*this, printer); }

//===----------------------------------------------------------------------===//
// sync.set <PIPE_MTE3>, 3  |  sync.set <PIPE_MTE3>, %id
//===----------------------------------------------------------------------===//

static ParseResult parseCrossCore(OpAsmParser &parser, OperationState &result) {
  if (parsePipe(parser, result, "pipe") || parser.parseComma())
    return failure();
  Unresolved id;
  OptionalParseResult dynamic = parser.parseOptionalOperand(id);
  if (dynamic.has_value()) {
    if (failed(*dynamic) || parser.resolveOperand(id, parser.getBuilder().getIndexType(), result.operands))
      return failure();
  } else if (parseI32(parser, result, "event_id")) {
    return failure();
  }
  return parseAttributes(parser, result);
}
template <typename Op>
static void printCrossCore(Op op, OpAsmPrinter &printer) {
  printer << " <" << stringifyPipe(op.getPipe()) << ">, ";
  if (op.getEventIdDyn())
    printer << op.getEventIdDyn();
  else if (auto id = op.getEventIdAttr())
    printer << id.getInt();
  printer.printOptionalAttrDict(op->getAttrs(), {"pipe", "event_id"});
}
#define PTO_CROSS_CORE(Op)                                                                                             \
  ParseResult Op::parse(OpAsmParser &parser, OperationState &result) { return parseCrossCore(parser, result); }        \
  void Op::print(OpAsmPrinter &printer) { printCrossCore(*this, printer); }
PTO_CROSS_CORE(SyncSetOp)
PTO_CROSS_CORE(SyncWaitOp)
PTO_CROSS_CORE(SetCrossBlockOp)
PTO_CROSS_CORE(WaitCrossBlockOp)
PTO_CROSS_CORE(SetIntraBlockOp)
PTO_CROSS_CORE(WaitIntraBlockOp)
#undef PTO_CROSS_CORE

//===----------------------------------------------------------------------===//
// cmo.cacheinvalid all #pto.address_space<gm>  |  %addr single_cache_line : type
//===----------------------------------------------------------------------===//

ParseResult CmoCacheInvalidOp::parse(OpAsmParser &parser, OperationState &result) {
  Attribute space = AddressSpaceAttr::get(parser.getContext(), AddressSpace::gm);
  if (succeeded(parser.parseOptionalKeyword("all"))) {
    if (parser.parseAttribute(space))
      return failure();
    if (!isa<AddressSpaceAttr>(space))
      return parser.emitError(parser.getCurrentLocation()) << "expected #pto.address_space<gm>, found " << space;
    result.addAttribute("space", space);
    return parseAttributes(parser, result);
  }
  Unresolved addr;
  Type type;
  result.addAttribute("space", space);
  return failure(parser.parseOperand(addr) || parser.parseKeyword("single_cache_line") ||
                 parseAttributes(parser, result) || parser.parseColonType(type) ||
                 parser.resolveOperand(addr, type, result.operands));
}
void CmoCacheInvalidOp::print(OpAsmPrinter &printer) {
  if (getAddr())
    printer << ' ' << getAddr() << " single_cache_line";
  else
    printer << " all " << Attribute(getSpaceAttr());
  printer.printOptionalAttrDict((*this)->getAttrs(), {"space"});
  if (getAddr())
    printer << " : " << getAddr().getType();
}

//===----------------------------------------------------------------------===//
// Queues: `{id = 0, split = 1}` with typed values, then what each operation adds
//===----------------------------------------------------------------------===//

/// `{key = value, ...}`; integers take the width that the operation's attribute has.
static ParseResult parseKeys(OpAsmParser &parser, OperationState &result) {
  SmallVector<StringRef> seen;
  auto parseKey = [&]() -> ParseResult {
    StringRef key;
    SMLoc at = parser.getCurrentLocation();
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return failure();
    if (llvm::is_contained(seen, key))
      return parser.emitError(at) << "'" << key << "' is given twice";
    seen.push_back(key);
    Attribute value;
    if (parser.parseAttribute(value))
      return failure();
    auto integer = dyn_cast<IntegerAttr>(value);
    if (integer && !integer.getType().isInteger(1)) {
      unsigned width = key == "dir_mask" || key == "split" ? 8 : 32;
      int64_t number = integer.getValue().getSExtValue();
      if (number < 0 || number >= (int64_t(1) << (width - 1)))
        return parser.emitError(at) << "'" << key << "' = " << number << " is out of range";
      value = parser.getBuilder().getIntegerAttr(parser.getBuilder().getIntegerType(width), number);
    }
    result.addAttribute(key, value);
    return success();
  };
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Braces, parseKey);
}

static void printKeys(Operation *op, OpAsmPrinter &printer, ArrayRef<StringRef> keys) {
  printer << '{';
  bool first = true;
  for (StringRef key : keys) {
    Attribute value = op->getAttr(key);
    auto integer = dyn_cast_or_null<IntegerAttr>(value);
    if (!value || (key == "id" && integer && integer.getValue().isZero()))
      continue;
    printer << (first ? "" : ", ") << key << " = ";
    first = false;
    if (integer && !integer.getType().isInteger(1))
      printer << integer.getValue().getSExtValue();
    else
      printer << value;
  }
  printer << '}';
}

static ParseResult parseSubblock(OpAsmParser &parser, OperationState &result, int32_t &count) {
  Unresolved id;
  if (failed(parser.parseOptionalKeyword("aiv_subblockid")))
    return success();
  count = 1;
  return failure(parser.parseLParen() || parser.parseOperand(id) || parser.parseRParen() ||
                 parser.resolveOperand(id, parser.getBuilder().getI64Type(), result.operands));
}

static ParseResult parsePush(OpAsmParser &parser, OperationState &result) {
  Unresolved tile;
  Type type;
  int32_t subblock = 0;
  return failure(parser.parseLParen() || parser.parseOperand(tile) || parser.parseColonType(type) ||
                 parser.parseRParen() || parser.resolveOperand(tile, type, result.operands) ||
                 parseKeys(parser, result) || parseSubblock(parser, result, subblock) ||
                 parseAttributes(parser, result));
}
template <typename Op>
static void printPush(Op op, OpAsmPrinter &printer) {
  printer << '(' << op.getTile() << " : " << op.getTile().getType() << ") ";
  printKeys(op, printer, {"id", "split"});
  if (op.getAivSubblockid())
    printer << " aiv_subblockid(" << op.getAivSubblockid() << ')';
  printer.printOptionalAttrDict(op->getAttrs(), {"id", "split"});
}
ParseResult TPushToAivOp::parse(OpAsmParser &parser, OperationState &result) { return parsePush(parser, result); }
ParseResult TPushToAicOp::parse(OpAsmParser &parser, OperationState &result) { return parsePush(parser, result); }
void TPushToAivOp::print(OpAsmPrinter &printer) { printPush(*this, printer); }
void TPushToAicOp::print(OpAsmPrinter &printer) { printPush(*this, printer); }

static ParseResult parsePop(OpAsmParser &parser, OperationState &result) {
  SmallVector<Unresolved> valid;
  Type type;
  int32_t subblock = 0;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseOperandList(valid, OpAsmParser::Delimiter::OptionalParen) ||
      parser.resolveOperands(valid, parser.getBuilder().getIndexType(), result.operands))
    return failure();
  if (!valid.empty() && valid.size() != 2)
    return parser.emitError(at) << "expected valid rows and valid columns, found " << valid.size() << " operands";
  if (parseKeys(parser, result) || parseSubblock(parser, result, subblock) ||
      parseAttributes(parser, result) || parser.parseArrow() || parser.parseType(type))
    return failure();
  result.addTypes(type);
  int32_t hasValid = valid.empty() ? 0 : 1;
  result.addAttribute("operandSegmentSizes", parser.getBuilder().getDenseI32ArrayAttr({hasValid, hasValid, subblock}));
  return success();
}
template <typename Op>
static void printPop(Op op, OpAsmPrinter &printer) {
  printer << ' ';
  if (op.getValidRow() && op.getValidCol())
    printer << '(' << op.getValidRow() << ", " << op.getValidCol() << ") ";
  printKeys(op, printer, {"id", "split"});
  if (op.getAivSubblockid())
    printer << " aiv_subblockid(" << op.getAivSubblockid() << ')';
  printer.printOptionalAttrDict(op->getAttrs(), {"id", "split", "operandSegmentSizes"});
  printer << " -> " << op.getTile().getType();
}
ParseResult TPopFromAicOp::parse(OpAsmParser &parser, OperationState &result) { return parsePop(parser, result); }
ParseResult TPopFromAivOp::parse(OpAsmParser &parser, OperationState &result) { return parsePop(parser, result); }
void TPopFromAicOp::print(OpAsmPrinter &printer) { printPop(*this, printer); }
void TPopFromAivOp::print(OpAsmPrinter &printer) { printPop(*this, printer); }

static ParseResult parseFree(OpAsmParser &parser, OperationState &result) {
  if (succeeded(parser.parseOptionalLParen())) {
    Unresolved entry;
    Type type;
    if (parser.parseOperand(entry) || parser.parseColonType(type) || parser.parseRParen() ||
        parser.resolveOperand(entry, type, result.operands))
      return failure();
  }
  return failure(parseKeys(parser, result) || parseAttributes(parser, result));
}
template <typename Op>
static void printFree(Op op, OpAsmPrinter &printer) {
  if (op.getEntry())
    printer << '(' << op.getEntry() << " : " << op.getEntry().getType() << ')';
  printer << ' ';
  printKeys(op, printer, {"id", "split"});
  printer.printOptionalAttrDict(op->getAttrs(), {"id", "split"});
}
ParseResult TFreeFromAicOp::parse(OpAsmParser &parser, OperationState &result) { return parseFree(parser, result); }
ParseResult TFreeFromAivOp::parse(OpAsmParser &parser, OperationState &result) { return parseFree(parser, result); }
void TFreeFromAicOp::print(OpAsmPrinter &printer) { printFree(*this, printer); }
void TFreeFromAivOp::print(OpAsmPrinter &printer) { printFree(*this, printer); }

static ParseResult parseAlloc(OpAsmParser &parser, OperationState &result) {
  Type type;
  if (parseKeys(parser, result) || parseAttributes(parser, result) || parser.parseArrow() ||
      parser.parseType(type))
    return failure();
  result.addTypes(type);
  return success();
}
template <typename Op>
static void printAlloc(Op op, OpAsmPrinter &printer) {
  printer << ' ';
  printKeys(op, printer, {"id", "split"});
  printer.printOptionalAttrDict(op->getAttrs(), {"id", "split"});
  printer << " -> " << op.getEntry().getType();
}
ParseResult TAllocToAivOp::parse(OpAsmParser &parser, OperationState &result) { return parseAlloc(parser, result); }
ParseResult TAllocToAicOp::parse(OpAsmParser &parser, OperationState &result) { return parseAlloc(parser, result); }
void TAllocToAivOp::print(OpAsmPrinter &printer) { printAlloc(*this, printer); }
void TAllocToAicOp::print(OpAsmPrinter &printer) { printAlloc(*this, printer); }

static ParseResult parseQuant(OpAsmParser &parser, OperationState &result) {
  Unresolved value;
  Type type;
  return failure(parser.parseLParen() || parser.parseOperand(value) || parser.parseColonType(type) ||
                 parser.parseRParen() || parser.resolveOperand(value, type, result.operands) ||
                 parseKeys(parser, result) || parseAttributes(parser, result));
}
static void printQuant(Operation *op, Value value, OpAsmPrinter &printer) {
  printer << '(' << value << " : " << value.getType() << ") {id = " << cast<IntegerAttr>(op->getAttr("id")).getInt() << '}';
  printer.printOptionalAttrDict(op->getAttrs(), {"id"});
}
ParseResult SetQuantScalarOp::parse(OpAsmParser &parser, OperationState &result) { return parseQuant(parser, result); }
ParseResult SetQuantVectorOp::parse(OpAsmParser &parser, OperationState &result) { return parseQuant(parser, result); }
void SetQuantScalarOp::print(OpAsmPrinter &printer) { printQuant(*this, getScale(), printer); }
void SetQuantVectorOp::print(OpAsmPrinter &printer) { printQuant(*this, getScalingTile(), printer); }

//===----------------------------------------------------------------------===//
// tfree(%pipe : type) {split = 1}  |  tfree(%entry, %pipe : type, type) {split = 1}
//===----------------------------------------------------------------------===//

ParseResult TFreeOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<Unresolved, 2> operands;
  SmallVector<Type, 2> types;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseLParen() || parser.parseOperandList(operands) || parser.parseColonTypeList(types) ||
      parser.parseRParen())
    return failure();
  if (operands.size() > 2)
    return parser.emitError(at) << "expected a queue, or an entry and a queue, found " << operands.size() << " operands";
  return failure(parser.resolveOperands(operands, types, at, result.operands) || parseKeys(parser, result) ||
                 parseAttributes(parser, result));
}
void TFreeOp::print(OpAsmPrinter &printer) {
  printer << '(' << (*this)->getOperands() << " : " << (*this)->getOperandTypes() << ") {split = " << int(getSplit()) << '}';
  printer.printOptionalAttrDict((*this)->getAttrs(), {"split"});
}

//===----------------------------------------------------------------------===//
// aic/aiv_initialize_pipe {keys} (gm_slot_buffer = %p : type, ...)
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kPipeOperands[] = {"gm_slot_buffer", "gm_slot_tensor", "c2v_consumer_buf",
                                                  "v2c_consumer_buf"};
static const SmallVector<StringRef> kPipeKeys = {"id",       "dir_mask",       "slot_size", "slot_num",
                                                 "local_slot_num", "nosplit", "acc_push_epilogue"};

static ParseResult parseInitializePipe(OpAsmParser &parser, OperationState &result) {
  std::pair<Unresolved, Type> operands[4];
  int32_t segments[4] = {0, 0, 0, 0};
  auto parseOperand = [&]() -> ParseResult {
    StringRef name;
    SMLoc at = parser.getCurrentLocation();
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    const auto *found = llvm::find(kPipeOperands, name);
    if (found == std::end(kPipeOperands))
      return parser.emitError(at) << "unknown operand '" << name << "' of a pipe";
    auto index = found - std::begin(kPipeOperands);
    if (segments[index]++)
      return parser.emitError(at) << "'" << name << "' is given twice";
    return failure(parser.parseOperand(operands[index].first) || parser.parseColonType(operands[index].second));
  };
  if (parseKeys(parser, result) ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::OptionalParen, parseOperand) ||
      parseAttributes(parser, result))
    return failure();
  for (auto [operand, present] : llvm::zip(operands, segments))
    if (present && parser.resolveOperand(operand.first, operand.second, result.operands))
      return failure();
  result.addAttribute("operandSegmentSizes", parser.getBuilder().getDenseI32ArrayAttr(segments));
  return success();
}

template <typename Op>
static void printInitializePipe(Op op, OpAsmPrinter &printer) {
  printer << ' ';
  printKeys(op, printer, kPipeKeys);
  printer << " (";
  Value operands[] = {op.getGmSlotBuffer(), op.getGmSlotTensor(), op.getC2vConsumerBuf(), op.getV2cConsumerBuf()};
  bool first = true;
  for (auto [name, value] : llvm::zip(kPipeOperands, operands)) {
    if (!value)
      continue;
    printer << (first ? "" : ", ") << name << " = " << value << " : " << value.getType();
    first = false;
  }
  printer << ')';
  SmallVector<StringRef> elided = kPipeKeys;
  elided.push_back("operandSegmentSizes");
  printer.printOptionalAttrDict(op->getAttrs(), elided);
}
ParseResult AicInitializePipeOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseInitializePipe(parser, result);
}
ParseResult AivInitializePipeOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseInitializePipe(parser, result);
}
void AicInitializePipeOp::print(OpAsmPrinter &printer) { printInitializePipe(*this, printer); }
void AivInitializePipeOp::print(OpAsmPrinter &printer) { printInitializePipe(*this, printer); }
