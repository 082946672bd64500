//===- CommSyntax.cpp - spelling of the collective operations -------------------------------------===//
//
// (%tensor[, %acc], recv(%ping[, %pong]), group(%g0, ...) : types) {attributes}; types in the order of the operands.
//
//===------------------------------------------------------------------------------------------------===//

#include "Pto.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace pto;
using Unresolved = OpAsmParser::UnresolvedOperand;

/// `leading`: operands before `recv`, each of them one value.
static ParseResult parseGroup(OpAsmParser &parser, OperationState &result, int32_t leading) {
  SmallVector<Unresolved> operands;
  SmallVector<Type> types;
  if (parser.parseLParen())
    return failure();
  for (int32_t i = 0; i < leading; ++i)
    if (parser.parseOperand(operands.emplace_back()) || parser.parseComma())
      return failure();
  SmallVector<Unresolved> staging, group;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseKeyword("recv") || parser.parseOperandList(staging, OpAsmParser::Delimiter::Paren))
    return failure();
  if (staging.empty() || staging.size() > 2)
    return parser.emitError(at) << "expected one staging tile or two, found " << staging.size();
  if (parser.parseComma() || parser.parseKeyword("group") ||
      parser.parseOperandList(group, OpAsmParser::Delimiter::Paren) || parser.parseColonTypeList(types) ||
      parser.parseRParen() || parseAttributes(parser, result))
    return failure();
  operands.append(staging);
  operands.append(group);
  if (parser.resolveOperands(operands, types, at, result.operands))
    return failure();
  SmallVector<int32_t> segments(leading + 1, 1);
  segments.push_back(staging.size() == 2 ? 1 : 0);
  segments.push_back(int32_t(group.size()));
  result.addAttribute("operandSegmentSizes", parser.getBuilder().getDenseI32ArrayAttr(segments));
  return success();
}

template <typename Op>
static void printGroup(Op op, OpAsmPrinter &printer, ArrayRef<Value> leading) {
  printer << '(';
  for (Value value : leading)
    printer << value << ", ";
  printer << "recv(" << op.getPing();
  if (op.getPong())
    printer << ", " << op.getPong();
  printer << "), group(" << op.getGroup() << ") : " << op->getOperandTypes() << ')';
  printer.printOptionalAttrDict(op->getAttrs(), {"operandSegmentSizes"});
}

ParseResult CommTBroadcastOp::parse(OpAsmParser &parser, OperationState &result) { return parseGroup(parser, result, 1); }
ParseResult CommTGatherOp::parse(OpAsmParser &parser, OperationState &result) { return parseGroup(parser, result, 1); }
ParseResult CommTScatterOp::parse(OpAsmParser &parser, OperationState &result) { return parseGroup(parser, result, 1); }
ParseResult CommTReduceOp::parse(OpAsmParser &parser, OperationState &result) { return parseGroup(parser, result, 2); }
void CommTBroadcastOp::print(OpAsmPrinter &printer) { printGroup(*this, printer, {getSrc()}); }
void CommTGatherOp::print(OpAsmPrinter &printer) { printGroup(*this, printer, {getDst()}); }
void CommTScatterOp::print(OpAsmPrinter &printer) { printGroup(*this, printer, {getSrc()}); }
void CommTReduceOp::print(OpAsmPrinter &printer) { printGroup(*this, printer, {getDst(), getAcc()}); }
