//===- Irregular.td - gather, scatter, sort, sequences, partial tiles, quantisation -*- tablegen -*-===//

#ifndef PTO_IRREGULAR_TD
#define PTO_IRREGULAR_TD

include "Base.td"
include "Enums.td"

//===----------------------------------------------------------------------===//
// Gather and scatter between tiles
//===----------------------------------------------------------------------===//

// Three forms: by index (indices, tmp), by comparison (kValue, tmp, cdst) and by mask (maskPattern, axis).
// spelling: by index `ins(%src, %indices, %tmp : T, T, T)`; by comparison `ins(%src, %kValue, %tmp : T, f32, T)
//   outs(%dst, %cdst : T, T) {cmpMode, offset}`; by mask `ins(%src, {maskPattern = ..., axis = "row"} : T)`; an older
//   text has the axis behind the type: `ins(%src, {maskPattern = ...} : T, "row")`.
def TGatherOp : TileOp<"tgather", "TGATHER($dst, $src, $indices, [$tmp|$indices])",
    (ins TileIn:$src, TileOut:$dst, Optional<TileOut>:$cdst, Optional<TileIn>:$indices, Optional<Scalar>:$kValue,
         Optional<TileTmp>:$tmp, OptionalAttr<PTO_MaskPatternAttr>:$maskPattern, OptionalAttr<StrAttr>:$axis,
         OptionalAttr<PTO_CmpModeAttr>:$cmpMode, OptionalAttr<I32Attr>:$offset), [AttrSizedOperandSegments]> {
  let summary = "elements of src chosen by index, by comparison or by a mask";
  let outs = "dst cdst";
  let typed = "src";
  let a3 = "i16 i32 f16 bf16 f32";
  let a5 = "i8 i16 i32 i64 f16 bf16 f32 f8e4m3 f8e5m2 hif8";
  let rule = "vec row_major tgather";
  let scratch = "tgather";
  let events = "V>S S>V";
}
def TGatherBOp : TileOp<"tgatherb", "TGATHERB($dst, $src, $offsets)", (ins TileIn:$src, TileIn:$offsets, TileOut:$dst)> {
  let summary = "blocks of src at byte offsets";
  let a3 = "i8 i16 i32 f16 bf16 f32";
  let a5 = "i8 i16 i32 f16 bf16 f32";
  let rule = "vec tgatherb";
}

// spelling: by index `ins(%src, %indexes : T, T)`; by mask `ins(%src, {maskPattern = ..., axis = "row"} : T)`.
def TScatterOp : TileOp<"tscatter", "TSCATTER($dst, $src[, $indexes])",
    (ins TileIn:$src, TileOut:$dst, Optional<TileIn>:$indexes, OptionalAttr<StrAttr>:$axis,
         OptionalAttr<PTO_MaskPatternAttr>:$maskPattern)> {
  let summary = "src's elements to places of dst chosen by index or by a mask";
  let a3 = "i8 i16 i32 f16 bf16 f32";
  let a5 = "i8 i16 i32 i64 f16 bf16 f32";
  let rule = "vec row_major tscatter";
  let pipe = "tscatter";
  let events = "V>S S>V";
}

//===----------------------------------------------------------------------===//
// Gather and scatter in global memory
//===----------------------------------------------------------------------===//

def MGatherOp : TileOp<"mgather", "MGATHER<$coalesce[, $gatherOob]>($dst, $mem, $idx[, $scratch])",
    (ins ViewIn:$mem, MemIn:$idx, TileOut:$dst, Optional<ViewInOut>:$scratch, OptionalAttr<PTO_CoalesceAttr>:$coalesce,
         DefaultValuedAttr<PTO_GatherOOBAttr, "::pto::GatherOOB::undefined">:$gatherOob)> {
  let summary = "rows or elements of global memory at indices, to a tile";
  let a3 = "i8 i16 i32 f16 bf16 f32";
  let a5 = "i8 i16 i32 f16 bf16 f32 f8e4m3 f8e5m2 hif8";
  let rule = "mgather";
  let pipe = "gm_gather";
  let events = "V>S S>V MTE3>S S>MTE3 S>MTE2 MTE2>S MTE2>V MTE2>MTE3";
}
def MScatterOp : TileOp<"mscatter", "MSCATTER<$coalesce, $scatterAtomicOp, $scatterOob[, $scatterConflict]>($mem, $src, $idx)",
    (ins TileIn:$src, TileIn:$idx, ViewOut:$mem, OptionalAttr<PTO_CoalesceAttr>:$coalesce,
         DefaultValuedAttr<PTO_ScatterAtomicOpAttr, "::pto::ScatterAtomicOp::none">:$scatterAtomicOp,
         DefaultValuedAttr<PTO_ScatterOOBAttr, "::pto::ScatterOOB::undefined">:$scatterOob,
         OptionalAttr<PTO_ScatterConflictAttr>:$scatterConflict)> {
  let summary = "a tile to rows or elements of global memory at indices";
  let outs = "mem";
  let typed = "src";
  let a3 = "i8 i16 i32 f16 bf16 f32";
  let a5 = "i8 i16 i32 f16 bf16 f32 f8e4m3 f8e5m2 hif8";
  let rule = "mscatter";
  let pipe = "gm_scatter";
  let events = "V>S S>V MTE3>S S>MTE3 S>MTE2 MTE2>S MTE3>MTE2 MTE3>V";
}

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

def TSort32Op : TileOp<"tsort32", "TSORT32($dst, $src, $idx[, $tmp])",
    (ins TileIn:$src, TileIn:$idx, Optional<TileTmp>:$tmp, TileOut:$dst)> {
  let summary = "sorts every 32 elements, with their indices";
  let a3 = "f16 f32";
  let a5 = "f16 f32";
  let rule = "vec row_major tsort32";
  let scratch = "tsort32";
}

// Two forms: the blocks of one list (blockLen), or two to four lists (tmp, excuted).
// spelling: `ins(%src, %blockLen : T, i32) outs(%dst : T)`; `ins(%s0, %s1, %tmp {exhausted = false} : T, T, T)
//   outs(%dst, %ex : T, vector<4xi16>)`, where the last of `ins` is tmp unless `no_tmp` follows the operands.
def TMrgSortOp : TileOp<"tmrgsort", "TMRGSORT($dst, $srcs, $blockLen)",
    (ins Variadic<TileIn>:$srcs, Optional<IntScalar>:$blockLen, TileOut:$dst, Optional<TileTmp>:$tmp,
         Optional<AnyValue>:$excuted, DefaultValuedAttr<BoolAttr, "false">:$exhausted), [AttrSizedOperandSegments]> {
  let summary = "merges sorted lists";
  let outs = "dst excuted";
  let a3 = "f16 f32";
  let a5 = "f16 f32";
  let rule = "vec row_major same_elem tmrgsort";
  let scratch = "tmrgsort";
  let attrsInside = 1;
  let events = "V>S";
}

//===----------------------------------------------------------------------===//
// Sequences and patterns
//===----------------------------------------------------------------------===//

// The library has two forms: without a scratch tile a loop of scalar stores, with one a vector operation. The author
// chooses; no scratch is added, so that the pipe of the operation is the one that its text says.
def TCIOp : TileOp<"tci", "TCI<@dst, [@tmp, ]%dst, $descending>($dst, $S[, $tmp])",
    (ins IntScalar:$S, Optional<TileTmp>:$tmp, TileOut:$dst, DefaultValuedAttr<BoolAttr, "false">:$descending)> {
  let summary = "S, S + 1, S + 2, ... or downwards";
  let a3 = "i16 i32";
  let a5 = "i16 i32";
  let rule = "vec row_major tci";
  let pipe = "tci";
}
def TTriOp : TileOp<"ttri", "TTRI<@dst, $upperOrLower>($dst, $diagonal)",
    (ins IntScalar:$diagonal, TileOut:$dst, DefaultValuedAttr<I32Attr, "0">:$upperOrLower)> {
  let summary = "ones in a triangle, zeros elsewhere";
  let a3 = "i16 i32 f16 f32";
  let a5 = "i8 i16 i32 i64 f16 bf16 f32";
  let rule = "vec row_major ttri";
  let attrsInside = 1;
}
def TRandomOp : TileOp<"trandom", "",
    (ins IntScalar:$key0, IntScalar:$key1, IntScalar:$counter0, IntScalar:$counter1, IntScalar:$counter2,
         IntScalar:$counter3, TileOut:$dst, DefaultValuedAttr<I32Attr, "10">:$rounds)> {
  let summary = "random bits from a key and a counter";
  let a3 = "-";
  let a5 = "i32";
  let rule = "vec row_major trandom";
  let attrsInside = 1;
}
def THistogramOp : TileOp<"thistogram", "THISTOGRAM<HistByte::BYTE_$byte>($dst, $src, $idx)",
    (ins TileIn:$src, TileIn:$idx, TileOut:$dst, DefaultValuedAttr<I32Attr, "1">:$byte)> {
  let summary = "how often every value of a byte occurs";
  let typed = "src";
  let a3 = "-";
  let a5 = "ui16 ui32";
  let rule = "vec thistogram";
}

//===----------------------------------------------------------------------===//
// Tiles of which only a part is valid
//===----------------------------------------------------------------------===//

// Where only one of src0, src1 is valid, that one is copied.
class PartialOp<string m, string callee> : TileOp<m, callee # "($dst, $src0, $src1)",
    (ins TileIn:$src0, TileIn:$src1, TileOut:$dst)> {
  let summary = callee # " of two tiles, where both are valid";
  let a3 = "si16 si32 f16 f32";
  let a5 = "i8 i16 i32 i64 f16 bf16 f32";
  let rule = "vec row_major same_elem tpart";
}
def TPartAddOp : PartialOp<"tpartadd", "TPARTADD">;
def TPartMulOp : PartialOp<"tpartmul", "TPARTMUL"> { let a5 = "i8 i16 i32 f16 bf16 f32"; }
def TPartMaxOp : PartialOp<"tpartmax", "TPARTMAX">;
def TPartMinOp : PartialOp<"tpartmin", "TPARTMIN">;

class PartialArgOp<string m, string callee> : TileOp<m, callee # "($dst, $src0, $src1, $dstIdx, $src0Idx, $src1Idx)",
    (ins TileIn:$src0, TileIn:$src1, TileIn:$src0Idx, TileIn:$src1Idx, TileOut:$dst, TileOut:$dstIdx)> {
  let summary = callee # " of two tiles and their indices, where both are valid";
  let outs = "dst dstIdx";
  let a3 = "f16 f32";
  let a5 = "f16 f32";
  let rule = "vec row_major tpart tpart_arg";
}
def TPartArgMaxOp : PartialArgOp<"tpartargmax", "TPARTARGMAX">;
def TPartArgMinOp : PartialArgOp<"tpartargmin", "TPARTARGMIN">;

//===----------------------------------------------------------------------===//
// Quantisation
//===----------------------------------------------------------------------===//

// spelling: tmp stands in `outs`: `ins(%src, %fp, %offset : T, T, T) outs(%dst, %tmp : T, T) {quant_type = ...}`.
def TQuantOp : TileOp<"tquant", "TQUANT<$quant_type>($dst, $src, $fp[, $tmp][, &$offset])",
    (ins TileIn:$src, TileIn:$fp, Optional<TileIn>:$offset, TileOut:$dst, Optional<TileTmp>:$tmp,
         PTO_QuantTypeAttr:$quant_type), [AttrSizedOperandSegments]> {
  let summary = "f32 to 8-bit integers";
  let outs = "dst tmp";
  let typed = "src";
  let a3 = "f32";
  let a5 = "f32";
  let rule = "vec tquant";
  let destroys_a3 = "src";
  let scratch = "tquant";
}

// spelling: `outs(%dst, %exp, %max, %scaling[, %exp_zz] : ...)`.
def TQuantMxOp : TileOp<"tquant.mx", "TQUANT<1, MxQuantAlg::OcpMxFp8E4M3>($dst, $src, &$exp, &$max, &$scaling)",
    (ins TileIn:$src, TileOut:$dst, TileOut:$exp, TileOut:$max, TileOut:$scaling, Optional<TileOut>:$exp_zz,
         PTO_QuantTypeAttr:$quant_type, DefaultValuedAttr<PTO_QuantScaleAlgAttr, "::pto::QuantScaleAlg::ocp">:$quantScaleAlg,
         OptionalAttr<PTO_VecStoreModeAttr>:$storeMode, DefaultValuedAttr<PTO_MxGroupAxisAttr, "::pto::MxGroupAxis::axis1">:$grpAxis,
         DefaultValuedAttr<BoolAttr, "false">:$interleave)> {
  let summary = "to 8- or 4-bit floating point with one scale for 32 elements";
  let outs = "dst exp max scaling exp_zz";
  let typed = "src";
  let a3 = "-";
  let a5 = "f16 bf16 f32";
  let rule = "vec row_major tquant_mx";
}

def TDequantOp : TileOp<"tdequant", "TDEQUANT($dst, $src, $scale, $offset)",
    (ins TileIn:$src, TileIn:$scale, TileIn:$offset, TileOut:$dst)> {
  let summary = "(src - offset) * scale";
  let typed = "src";
  let a3 = "si8 si16";
  let a5 = "si8 si16";
  let rule = "vec tdequant";
  let events = "V>S S>V";
}

//===----------------------------------------------------------------------===//
// Debugging
//===----------------------------------------------------------------------===//

// spelling: `ins(%src : T) {attrs}` without `outs`; tmp is a tensor view.
def TPrintOp : TileOp<"tprint", "TPRINT[<$printFormat>]($src[, $tmp])",
    (ins MemIn:$src, Optional<ViewInOut>:$tmp, OptionalAttr<PTO_PrintFormatAttr>:$printFormat)> {
  let summary = "prints a tile or a tensor view";
  let outs = "";
  let typed = "src";
  let rule = "tprint";
}

#endif // PTO_IRREGULAR_TD
