//===- Move.td - transfers between memories, sub-tiles, padding, layout -*- tablegen -*-===//

#ifndef PTO_MOVE_TD
#define PTO_MOVE_TD

include "Base.td"
include "Enums.td"

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

// spelling: after `outs(...) {attrs}` the clauses `pad_mode = A`, `pad_value = %v : T`, `left_padding_num = %v : T`,
//   `init_out_buffer = A`, `right_padding_num = %v : T`, `init_condition = %v : T`, each optional, in this order.
def TLoadOp : TileOp<"tload", "TLOAD($dst, $src)",
    (ins ViewIn:$src, TileOut:$dst, Optional<AnyValue>:$pad_value, Optional<IndexValue>:$left_padding_num,
         Optional<AnyValue>:$right_padding_num, Optional<AnyValue>:$init_condition, OptionalAttr<PTO_PadModeAttr>:$pad_mode,
         DefaultValuedAttr<BoolAttr, "false">:$init_out_buffer), [AttrSizedOperandSegments]> {
  let summary = "global memory to a tile";
  let trailing = "pad_mode pad_value left_padding_num init_out_buffer right_padding_num init_condition";
  let a3 = "i8 i16 i32 i64 f16 bf16 f32";
  let a5 = "i8 i16 i32 i64 f16 bf16 f32 f8e4m3 f8e5m2 hif8 f4e2m1x2 f4e1m2x2 f8e8m0";
  let rule = "tload";
  let pipe = "tload";
}
def TPrefetchOp : TileOp<"tprefetch", "TPREFETCH($dst, $src)", (ins ViewIn:$src, TileOut:$dst)> {
  let summary = "brings global memory into the L2 cache; dst is working storage";
  let a3 = "i8 i16 i32 i64 f16 bf16 f32";
  let a5 = "i8 i16 i32 i64 f16 bf16 f32 f8e4m3 f8e5m2 hif8 f4e2m1x2 f4e1m2x2 f8e8m0";
  let rule = "tload";
  let pipe = "PIPE_MTE2";
}

// spelling: `ins(%src : T fp %fp : T)` for fp, `ins(%src : T, %preQuantScalar : i64)` for the scalar.
def TStoreOp : TileOp<"tstore", "TSTORE[<$stPhase>]($dst, $src[, $preQuantScalar])",
    (ins TileIn:$src, ViewOut:$dst, Optional<TileIn>:$fp, Optional<I64Value>:$preQuantScalar,
         DefaultValuedAttr<PTO_STPhaseAttr, "::pto::STPhase::unspecified">:$stPhase,
         DefaultValuedAttr<PTO_AtomicTypeAttr, "::pto::AtomicType::atomic_none">:$atomicType,
         DefaultValuedAttr<PTO_ReluPreModeAttr, "::pto::ReluPreMode::no_relu">:$reluPreMode), [AttrSizedOperandSegments]> {
  let summary = "a tile to global memory";
  let aliases = "tstore_fp:fp";
  let clauses = "fp=fp";
  let typed = "src";
  let a3 = "i8 i16 i32 i64 f16 bf16 f32";
  let a5 = "i8 i16 i32 i64 f16 bf16 f32 f8e4m3 f8e5m2 hif8 f4e2m1x2 f4e1m2x2 f8e8m0";
  let rule = "tstore";
  let pipe = "tstore";
}

//===----------------------------------------------------------------------===//
// Between tiles
//===----------------------------------------------------------------------===//

// A third tile in scaling holds a quantisation vector (fp); one in vec is the scratch tile of the X-to-ZZ form.
// spelling: `ins(%src, %fp : T, T)` or `ins(%src, %preQuantScalar : T, i64)`.
def TMovOp : TileOp<"tmov", "TMOV($dst, $src)",
    (ins TileIn:$src, TileOut:$dst, Optional<TileIn>:$fp, Optional<I64Value>:$preQuantScalar,
         OptionalAttr<PTO_AccToVecModeAttr>:$accToVecMode,
         DefaultValuedAttr<PTO_ReluPreModeAttr, "::pto::ReluPreMode::no_relu">:$reluPreMode,
         OptionalAttr<PTO_MxGroupAxisAttr>:$grpAxis), [AttrSizedOperandSegments]> {
  let summary = "a tile to a tile in the same or another memory";
  let aliases = "tmov.fp:fp";
  let rule = "tmov";
  let inplace = "src";
  let pipe = "tmov";
}

// spelling: `ins(%src, %indexRow, %indexCol, %preQuantScalar : T, index, index, i64 fp %fp : T)`.
def TExtractOp : TileOp<"textract", "TEXTRACT($dst, $src, $indexRow, $indexCol)",
    (ins TileIn:$src, IndexValue:$indexRow, IndexValue:$indexCol, TileOut:$dst, Optional<TileIn>:$fp,
         Optional<I64Value>:$preQuantScalar, OptionalAttr<PTO_AccToVecModeAttr>:$accToVecMode,
         DefaultValuedAttr<PTO_ReluPreModeAttr, "::pto::ReluPreMode::no_relu">:$reluPreMode), [AttrSizedOperandSegments]> {
  let summary = "the part of src that starts at (indexRow, indexCol)";
  let aliases = "textract_fp:fp";
  let clauses = "fp=fp";
  let a3 = "i8 i16 i32 f16 bf16 f32";
  let a5 = "i8 i16 i32 f16 bf16 f32 f8e4m3 f8e5m2 hif8 f4e2m1x2 f4e1m2x2 f8e8m0";
  let rule = "textract";
  let pipe = "textract";
  let events = "V>S S>V";
}

// spelling: `ins(%src, %indexRow, %indexCol : T, index, index fp %fp : T pre_quant %preQuantScalar : i64)`.
def TInsertOp : TileOp<"tinsert", "TINSERT($dst, $src, $indexRow, $indexCol)",
    (ins TileIn:$src, IndexValue:$indexRow, IndexValue:$indexCol, TileInOut:$dst, Optional<TileIn>:$fp,
         Optional<I64Value>:$preQuantScalar, OptionalAttr<PTO_AccToVecModeAttr>:$accToVecMode,
         DefaultValuedAttr<PTO_ReluPreModeAttr, "::pto::ReluPreMode::no_relu">:$reluPreMode,
         OptionalAttr<PTO_TInsertModeAttr>:$tinsertMode), [AttrSizedOperandSegments]> {
  let summary = "writes src into dst at (indexRow, indexCol)";
  let aliases = "tinsert_fp:fp";
  let clauses = "fp=fp pre_quant=preQuantScalar";
  let a3 = "i8 i16 i32 f16 bf16 f32";
  let a5 = "i8 i16 i32 f16 bf16 f32 f8e4m3 f8e5m2 hif8 f4e2m1x2 f4e1m2x2 f8e8m0";
  let rule = "tinsert";
  let pipe = "tinsert";
  let events = "V>S S>V";
}

def TFillPadOp : TileOp<"tfillpad", "TFILLPAD($dst, $src)",
    (ins TileIn:$src, TileOut:$dst, OptionalAttr<PTO_PadValueAttr>:$padValue)> {
  let summary = "src, and dst's pad value where src is not valid";
  let aliases = "tfillpad_expand tfillpad_inplace";
  let a3 = "i8 i16 i32 f16 bf16 f32";
  let a5 = "i8 i16 i32 f16 bf16 f32 f8e4m3 f8e5m2 hif8";
  let rule = "tfillpad";
  let pipe = "tfillpad";
  let events = "V>S";
}

def TTransOp : TileOp<"ttrans", "TTRANS($dst, $src, [$tmp|$dst])", (ins TileIn:$src, Optional<TileTmp>:$tmp, TileOut:$dst)> {
  let summary = "exchanges rows and columns";
  let a3 = "i8 i16 i32 f16 bf16 f32";
  let a5 = "i8 i16 i32 f16 bf16 f32";
  let rule = "vec same_elem ttrans";
  let scratch = "ttrans";
  let events = "V>S S>V S>MTE3 MTE3>S V>MTE3 MTE3>V";
}

def TConcatOp : TileOp<"tconcat", "TCONCAT($dst, $src0, $src1)", (ins TileIn:$src0, TileIn:$src1, TileOut:$dst)> {
  let summary = "the columns of src0, then those of src1";
  let a3 = "i8 i16 i32 f16 bf16 f32";
  let a5 = "i8 i16 i32 f16 bf16 f32";
  let rule = "vec same_elem tconcat";
  let events = "V>S MTE2>S S>V S>MTE3";
}
def TConcatidxOp : TileOp<"tconcatidx", "TCONCAT($dst, $src0, $src1, $src0Idx, $src1Idx)",
    (ins TileIn:$src0, TileIn:$src1, TileIn:$src0Idx, TileIn:$src1Idx, TileOut:$dst)> {
  let summary = "the columns of src0, then those of src1, as many as the index tiles say";
  let a3 = "i8 i16 i32 f16 bf16 f32";
  let a5 = "i8 i16 i32 f16 bf16 f32";
  let rule = "vec tconcat";
  let events = "V>S MTE2>S S>V S>MTE3";
}

//===----------------------------------------------------------------------===//
// Single elements
//===----------------------------------------------------------------------===//

def TSetValOp : TileOp<"tsetval", "$dst.SetValue($offset, $val)", (ins TileInOut:$dst, IndexValue:$offset, Scalar:$val)> {
  let summary = "writes one element";
  let rule = "tsetval";
  let pipe = "PIPE_S";
}

// spelling: `%v = pto.tgetval ins(%src, %offset : T, index) outs : f32`.
// (Inside the op, `outs` is the field of TileOp.)
defvar tgetvalResults = (outs Scalar:$dst);
def TGetValOp : TileOp<"tgetval", "$dst = $src.GetValue($offset)", (ins TileIn:$src, IndexValue:$offset)> {
  let summary = "reads one element";
  let results = tgetvalResults;
  let outs = "";
  let typed = "src";
  let rule = "vec tgetval";
  let pipe = "PIPE_S";
}

#endif // PTO_MOVE_TD
