//===- TileOpSyntax.h - one parser and printer for all `ins(...) outs(...)` operations -----------===//
#pragma once

#include "Pto.h"

namespace pto {

/// One operand of an operation, as its `def` in td/ states it (the table is generated).
struct OperandSpec {
  const char *name;
  const char *kind;  ///< what types it takes: tile, view, memory, ptr, scalar, int, index, pipe, any
  char arity;        ///< '1' one, '?' none or one, '*' any number
  bool isOut;        ///< stands in `outs`
  const char *clause;  ///< written by this keyword behind the types of `ins`; empty: a plain operand
};

/// The spelling of an operation.
struct TileOpSpec {
  llvm::ArrayRef<OperandSpec> operands;  ///< in the order in which the operation holds them
  bool hasSegments;                      ///< carries `operandSegmentSizes`
  bool attrsInside;                      ///< prints its attributes inside `ins`
  llvm::ArrayRef<const char *> trailing; ///< operands and attributes written by name behind everything else
};

/// `second`: the operand that is written behind the first one, where an older spelling has it there; empty: none.
mlir::ParseResult parseTileOp(mlir::OpAsmParser &parser, mlir::OperationState &result, const TileOpSpec &spec,
                              llvm::StringRef second = {});

/// `defaults`: attributes that need not be printed, with their values.
void printTileOp(mlir::OpAsmPrinter &printer, mlir::Operation *op, const TileOpSpec &spec,
                 mlir::DictionaryAttr defaults);

/// The attributes that an operation of class `Op` has when none is written.
template <typename Op, typename Properties = typename Op::Properties>
mlir::DictionaryAttr defaultAttributes(mlir::Operation *op) {
  if constexpr (std::is_same_v<Properties, mlir::EmptyProperties>) {
    return {};
  } else {
    Properties properties;
    op->getName().populateDefaultProperties(mlir::OpaqueProperties(&properties));
    return llvm::dyn_cast_or_null<mlir::DictionaryAttr>(Op::getPropertiesAsAttr(op->getContext(), properties));
  }
}

} // namespace pto
