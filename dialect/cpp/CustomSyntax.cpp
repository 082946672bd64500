//===- CustomSyntax.cpp - operations whose spelling the declarative format cannot express --------===//
//
// Tiles and views here; flags and queues in SyncSyntax.cpp.
//
//===------------------------------------------------------------------------------------------===//

#include "Pto.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace pto;
using Unresolved = OpAsmParser::UnresolvedOperand;

static void addSegments(OpAsmParser &parser, OperationState &result, ArrayRef<int32_t> sizes) {
  result.addAttribute("operandSegmentSizes", parser.getBuilder().getDenseI32ArrayAttr(sizes));
}


//===----------------------------------------------------------------------===//
// alloc_tile [addr = %a] [valid_row = %r] [valid_col = %c] {attrs} : type
//===----------------------------------------------------------------------===//

ParseResult pto::checkAttributes(OpAsmParser &parser, OperationState &result) {
  return result.name.verifyInherentAttrs(result.attributes, [&] { return parser.emitError(parser.getNameLoc()); });
}

ParseResult pto::parseAttributes(OpAsmParser &parser, OperationState &result) {
  return failure(parser.parseOptionalAttrDict(result.attributes) || checkAttributes(parser, result));
}

ParseResult AllocTileOp::parse(OpAsmParser &parser, OperationState &result) {
  constexpr StringLiteral keys[] = {"addr", "valid_row", "valid_col"};
  std::optional<Unresolved> operands[3];
  for (bool more = true; more;) {
    more = false;
    for (auto [index, key] : llvm::enumerate(keys)) {
      SMLoc at = parser.getCurrentLocation();
      if (failed(parser.parseOptionalKeyword(key)))
        continue;
      more = true;
      if (operands[index])
        return parser.emitError(at) << "'" << key << "' is given twice";
      if (parser.parseEqual() || parser.parseOperand(operands[index].emplace()))
        return failure();
    }
  }
  Type type;
  if (parseAttributes(parser, result) || parser.parseColonType(type))
    return failure();
  result.addTypes(type);
  int32_t segments[3] = {0, 0, 0};
  for (auto [index, operand] : llvm::enumerate(operands)) {
    if (!operand)
      continue;
    Builder &builder = parser.getBuilder();
    Type expected = index == 0 ? Type(builder.getI64Type()) : Type(builder.getIndexType());
    if (parser.resolveOperand(*operand, expected, result.operands))
      return parser.emitError(operand->location) << "'pto.alloc_tile' op " << keys[index] << " must be " << expected;
    segments[index] = 1;
  }
  addSegments(parser, result, segments);
  return success();
}

void AllocTileOp::print(OpAsmPrinter &printer) {
  if (getAddr())
    printer << " addr = " << getAddr();
  if (getValidRow())
    printer << " valid_row = " << getValidRow();
  if (getValidCol())
    printer << " valid_col = " << getValidCol();
  printer.printOptionalAttrDict((*this)->getAttrs(), {"operandSegmentSizes"});
  printer << " : " << getResult().getType();
}

//===----------------------------------------------------------------------===//
// subview %t[%r, %c] sizes [R, C] [valid [%vr, %vc]] [addr = %a] {attrs} : type [-> type]
//===----------------------------------------------------------------------===//

/// The type of a window whose author wrote none: the source's layout, the window's shape.
static Type inferSubviewType(TileBufType source, ArrayRef<int64_t> sizes, bool dynamicValid) {
  int64_t rows = dynamicValid ? ShapedType::kDynamic : sizes[0], cols = dynamicValid ? ShapedType::kDynamic : sizes[1];
  return TileBufType::get(source.getContext(), source.getSpace(), sizes[0], sizes[1], source.getElementType(), rows,
                          cols, source.getBlayout(), source.getSlayout(), source.getFractal(), source.getPad(),
                          source.getCompact());
}

ParseResult SubviewOp::parse(OpAsmParser &parser, OperationState &result) {
  Unresolved source, addr;
  SmallVector<Unresolved> offsets, valid;
  SmallVector<int64_t> sizes;
  Builder &builder = parser.getBuilder();
  bool hasAddr = false;
  if (parser.parseOperand(source) || parser.parseOperandList(offsets, OpAsmParser::Delimiter::Square) ||
      parser.parseKeyword("sizes") || parser.parseLSquare() ||
      parser.parseCommaSeparatedList([&] { return parser.parseInteger(sizes.emplace_back()); }) || parser.parseRSquare())
    return failure();
  SMLoc at = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword("valid")) &&
      parser.parseOperandList(valid, 2, OpAsmParser::Delimiter::Square))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("addr"))) {
    hasAddr = true;
    if (parser.parseEqual() || parser.parseOperand(addr))
      return failure();
  }
  Type sourceType, type;
  if (parseAttributes(parser, result) || parser.parseColonType(sourceType) ||
      (succeeded(parser.parseOptionalArrow()) && parser.parseType(type)))
    return failure();
  auto tile = dyn_cast<TileBufType>(sourceType);
  if (!tile || sizes.size() != 2 || sizes[0] <= 0 || sizes[1] <= 0)
    return parser.emitError(at) << "expected a tile and sizes [ROWS, COLS] above zero";
  if (!type && (sizes[0] > tile.getRows() || sizes[1] > tile.getCols()))
    return parser.emitError(at) << "window of " << sizes[0] << "x" << sizes[1]
                                << " does not fit in its tile of " << tile.getRows() << "x" << tile.getCols();
  if (!type)
    type = inferSubviewType(tile, sizes, !valid.empty());
  result.addTypes(type);
  result.addAttribute("sizes", builder.getI64ArrayAttr(sizes));
  if (parser.resolveOperand(source, sourceType, result.operands) ||
      parser.resolveOperands(offsets, builder.getIndexType(), result.operands) ||
      parser.resolveOperands(valid, builder.getIndexType(), result.operands) ||
      (hasAddr && parser.resolveOperand(addr, builder.getI64Type(), result.operands)))
    return failure();
  int32_t hasValid = valid.empty() ? 0 : 1;
  addSegments(parser, result, {1, int32_t(offsets.size()), hasValid, hasValid, hasAddr});
  return success();
}

void SubviewOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getSource() << '[' << getOffsets() << "] sizes [";
  llvm::interleaveComma(getSizes().getAsValueRange<IntegerAttr>(), printer,
                        [&](const APInt &size) { printer << size.getSExtValue(); });
  printer << ']';
  if (getValidRow() && getValidCol())
    printer << " valid [" << getValidRow() << ", " << getValidCol() << ']';
  if (getAddr())
    printer << " addr = " << getAddr();
  printer.printOptionalAttrDict((*this)->getAttrs(), {"operandSegmentSizes", "sizes"});
  printer << " : " << getSource().getType() << " -> " << getResult().getType();
}

//===----------------------------------------------------------------------===//
// make_tensor_view %p, shape = [..], strides = [..] {layout = ..} : type
//===----------------------------------------------------------------------===//

ParseResult MakeTensorViewOp::parse(OpAsmParser &parser, OperationState &result) {
  Unresolved ptr;
  SmallVector<Unresolved> shape, strides;
  Type type;
  Type index = parser.getBuilder().getIndexType();
  if (parser.parseOperand(ptr) || parser.parseComma() || parser.parseKeyword("shape") || parser.parseEqual() ||
      parser.parseOperandList(shape, OpAsmParser::Delimiter::Square) || parser.parseComma() ||
      parser.parseKeyword("strides") || parser.parseEqual() ||
      parser.parseOperandList(strides, OpAsmParser::Delimiter::Square) ||
      parseAttributes(parser, result))
    return failure();
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseColonType(type))
    return failure();
  auto view = dyn_cast<TensorViewType>(type);
  if (!view)
    return parser.emitError(at) << "expected a tensor_view type, found " << type;
  result.addTypes(type);
  Type ptrType = PtrType::get(parser.getContext(), view.getElementType(), AddressSpace::gm);
  if (parser.resolveOperand(ptr, ptrType, result.operands) || parser.resolveOperands(shape, index, result.operands) ||
      parser.resolveOperands(strides, index, result.operands))
    return failure();
  addSegments(parser, result, {1, int32_t(shape.size()), int32_t(strides.size())});
  return success();
}

void MakeTensorViewOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getPtr() << ", shape = [" << getShape() << "], strides = [" << getStrides() << ']';
  printer.printOptionalAttrDict((*this)->getAttrs(), {"operandSegmentSizes"});
  printer << " : " << getResult().getType();
}

//===----------------------------------------------------------------------===//
// partition_view %v, offsets = [..], sizes = [..] {attrs} : type [-> type]
//===----------------------------------------------------------------------===//

ParseResult PartitionViewOp::parse(OpAsmParser &parser, OperationState &result) {
  Unresolved source;
  SmallVector<Unresolved> offsets, sizes;
  Type sourceType, type;
  Type index = parser.getBuilder().getIndexType();
  if (parser.parseOperand(source) || parser.parseComma() || parser.parseKeyword("offsets") || parser.parseEqual() ||
      parser.parseOperandList(offsets, OpAsmParser::Delimiter::Square) || parser.parseComma() ||
      parser.parseKeyword("sizes") || parser.parseEqual() ||
      parser.parseOperandList(sizes, OpAsmParser::Delimiter::Square) || parseAttributes(parser, result))
    return failure();
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseColonType(sourceType) || (succeeded(parser.parseOptionalArrow()) && parser.parseType(type)))
    return failure();
  auto view = dyn_cast<TensorViewType>(sourceType);
  if (!view)
    return parser.emitError(at) << "expected a tensor_view type, found " << sourceType;
  if (sizes.empty() || sizes.size() > 5)
    return parser.emitError(at) << "expected 1 to 5 sizes, found " << sizes.size();
  SmallVector<Value> sizeValues;
  if (parser.resolveOperand(source, sourceType, result.operands) ||
      parser.resolveOperands(offsets, index, result.operands) || parser.resolveOperands(sizes, index, sizeValues))
    return failure();
  result.operands.append(sizeValues);
  if (!type) {
    SmallVector<int64_t> shape;
    for (Value size : sizeValues) {
      APInt value;
      shape.push_back(matchPattern(size, m_ConstantInt(&value)) && value.getSExtValue() >= 0 ? value.getSExtValue()
                                                                                            : ShapedType::kDynamic);
    }
    type = PartitionTensorViewType::get(parser.getContext(), shape, view.getElementType());
  }
  result.addTypes(type);
  addSegments(parser, result, {1, int32_t(offsets.size()), int32_t(sizes.size())});
  return success();
}

void PartitionViewOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getSource() << ", offsets = [" << getOffsets() << "], sizes = [" << getSizes() << ']';
  printer.printOptionalAttrDict((*this)->getAttrs(), {"operandSegmentSizes"});
  printer << " : " << getSource().getType() << " -> " << getResult().getType();
}
