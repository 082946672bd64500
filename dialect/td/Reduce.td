//===- Reduce.td - reductions and broadcasts along rows and columns -*- tablegen -*-===//
//
// `[$tmp|$src]` stands where the library's signature has a scratch tile that A5 does not use.
//
//===-----------------------------------------------------------------------------===//

#ifndef PTO_REDUCE_TD
#define PTO_REDUCE_TD

include "Base.td"
include "Enums.td"
include "Elementwise.td"

//===----------------------------------------------------------------------===//
// Along rows
//===----------------------------------------------------------------------===//

// dst[i, 0] = f of src[i, *]
class RowReduceOp<string m, string callee> : TileOp<m, callee # "($dst, $src, [$tmp|$src])",
    (ins TileIn:$src, Optional<TileTmp>:$tmp, TileOut:$dst)> {
  let summary = callee # " of every row";
  let typed = "src";
  let a3 = "si16 si32 f16 f32";
  let rule = "vec same_elem row_reduce";
  let scratch = "row_reduce";
  let events = "V>S S>V";
}
def TRowSumOp : RowReduceOp<"trowsum", "TROWSUM"> { let a5 = "si16 si32 i64 f16 f32"; }
def TRowProdOp : RowReduceOp<"trowprod", "TROWPROD"> { let a5 = "si16 si32 f16 f32"; }
def TRowMaxOp : RowReduceOp<"trowmax", "TROWMAX"> { let a5 = "i8 si16 si32 i64 f16 f32"; }
def TRowMinOp : RowReduceOp<"trowmin", "TROWMIN"> { let a5 = "i8 si16 si32 i64 f16 f32"; }

// dst[i, 0] = the column of the largest or smallest src[i, *]
class RowArgReduceOp<string m, string callee> : RowReduceOp<m, callee> {
  let a5 = "i16 i32 f16 f32";
  let rule = "vec row_reduce row_arg";
}
def TRowArgMaxOp : RowArgReduceOp<"trowargmax", "TROWARGMAX">;
def TRowArgMinOp : RowArgReduceOp<"trowargmin", "TROWARGMIN">;

//===----------------------------------------------------------------------===//
// Along columns
//===----------------------------------------------------------------------===//

// dst[0, j] = f of src[*, j]
class ColReduceOp<string m, string callee> : TileOp<m, callee # "($dst, $src)", (ins TileIn:$src, TileOut:$dst)> {
  let summary = callee # " of every column";
  let typed = "src";
  let a3 = "si16 si32 f16 f32";
  let a5 = "i8 i16 i32 i64 f16 bf16 f32";
  let rule = "vec row_major same_elem col_reduce";
}
def TColMaxOp : ColReduceOp<"tcolmax", "TCOLMAX">;
def TColMinOp : ColReduceOp<"tcolmin", "TCOLMIN">;
def TColProdOp : ColReduceOp<"tcolprod", "TCOLPROD"> { let a5 = "i16 i32 f16 bf16 f32"; }

// `isBinary` adds pairs of rows in tmp; without it the rows are added one by one and tmp is not needed.
def TColSumOp : TileOp<"tcolsum", "TCOLSUM($dst, $src[, $tmp, $isBinary])",
    (ins TileIn:$src, Optional<TileTmp>:$tmp, TileOut:$dst, OptionalAttr<BoolAttr>:$isBinary)> {
  let summary = "TCOLSUM of every column";
  let typed = "src";
  let a3 = "si16 si32 f16 f32";
  let a5 = "i8 i16 i32 i64 f16 bf16 f32";
  let rule = "vec row_major same_elem col_reduce tcolsum";
  let scratch = "tcolsum";
  let attrsInside = 1;
}

// dst[0, j] = the row of the largest or smallest src[*, j]
class ColArgReduceOp<string m, string callee> : TileOp<m, callee # "($dst, $src, [$tmp|$src])",
    (ins TileIn:$src, Optional<TileTmp>:$tmp, TileOut:$dst)> {
  let summary = callee # " of every column";
  let typed = "src";
  let a3 = "ui16 ui32 f16 f32";
  let a5 = "i8 i16 i32 f16 bf16 f32";
  let rule = "vec row_major col_reduce col_arg";
  let scratch = "row_reduce";
}
def TColArgMaxOp : ColArgReduceOp<"tcolargmax", "TCOLARGMAX">;
def TColArgMinOp : ColArgReduceOp<"tcolargmin", "TCOLARGMIN">;

//===----------------------------------------------------------------------===//
// Broadcasts
//===----------------------------------------------------------------------===//

class ExpandOp<string m, string callee> : TileOp<m, callee # "($dst, $src)", (ins TileIn:$src, TileOut:$dst)> {
  let a3 = "i8 i16 i32 f16 bf16 f32";
  let a5 = "i8 i16 i32 i64 f16 bf16 f32";
}
def TRowExpandOp : ExpandOp<"trowexpand", "TROWEXPAND"> {
  let summary = "the first element of every row, in the whole row";
  let rule = "vec same_elem row_expand";
  let events = "V>S S>V";
}
def TColExpandOp : ExpandOp<"tcolexpand", "TCOLEXPAND"> {
  let summary = "the first row, in every row";
  let rule = "vec row_major same_elem col_expand";
}

// One of src0, src1 has dst's extent; the other has one value per row.
class RowExpandBinOp<string m, string callee> : TileOp<m, callee # "($dst, $src0, $src1[, $tmp])",
    (ins TileIn:$src0, TileIn:$src1, Optional<TileTmp>:$tmp, TileOut:$dst)> {
  let summary = callee # " of a tile and a vector with one value per row";
  let a3 = "si16 si32 f16 f32";
  let a5 = "i8 i16 i32 f16 bf16 f32";
  let rule = "vec same_elem row_expand_bin";
  let inplace = "src0";
  let scratch = "row_expand_bin";
}
def TRowExpandAddOp : RowExpandBinOp<"trowexpandadd", "TROWEXPANDADD">;
def TRowExpandSubOp : RowExpandBinOp<"trowexpandsub", "TROWEXPANDSUB">;
def TRowExpandMulOp : RowExpandBinOp<"trowexpandmul", "TROWEXPANDMUL">;
def TRowExpandMaxOp : RowExpandBinOp<"trowexpandmax", "TROWEXPANDMAX">;
def TRowExpandMinOp : RowExpandBinOp<"trowexpandmin", "TROWEXPANDMIN">;
def TRowExpandExpdifOp : RowExpandBinOp<"trowexpandexpdif", "TROWEXPANDEXPDIF"> { let a3 = "f16 f32"; let a5 = "f16 f32"; }
def TRowExpandDivOp : TileOp<"trowexpanddiv", "TROWEXPANDDIV[<$precisionType>]($dst, $src0, $src1[, $tmp])",
    (ins TileIn:$src0, TileIn:$src1, Optional<TileTmp>:$tmp, TileOut:$dst, Precision<PTO_DivPrecisionAttr>:$precisionType)> {
  let summary = "TROWEXPANDDIV of a tile and a vector with one value per row";
  let a3 = "f16 f32";
  let a5 = "i8 i16 i32 f16 bf16 f32";
  let rule = "vec same_elem row_expand_bin";
  let inplace = "src0";
  let scratch = "row_expand_bin";
}

// src1 is one row.
class ColExpandBinOp<string m, string callee> : TileOp<m, callee # "($dst, $src0, $src1)",
    (ins TileIn:$src0, TileIn:$src1, TileOut:$dst)> {
  let summary = callee # " of a tile and a vector with one value per column";
  let a3 = "si16 si32 f16 f32";
  let a5 = "i8 i16 i32 f16 bf16 f32";
  let rule = "vec row_major same_elem col_expand_bin";
  let inplace = "src0";
}
def TColExpandAddOp : ColExpandBinOp<"tcolexpandadd", "TCOLEXPANDADD">;
def TColExpandSubOp : ColExpandBinOp<"tcolexpandsub", "TCOLEXPANDSUB">;
def TColExpandMulOp : ColExpandBinOp<"tcolexpandmul", "TCOLEXPANDMUL">;
def TColExpandMaxOp : ColExpandBinOp<"tcolexpandmax", "TCOLEXPANDMAX">;
def TColExpandMinOp : ColExpandBinOp<"tcolexpandmin", "TCOLEXPANDMIN">;
def TColExpandExpdifOp : ColExpandBinOp<"tcolexpandexpdif", "TCOLEXPANDEXPDIF"> { let a3 = "f16 f32"; let a5 = "f16 f32"; }
def TColExpandDivOp : TileOp<"tcolexpanddiv", "TCOLEXPANDDIV[<$precisionType>]($dst, $src0, $src1)",
    (ins TileIn:$src0, TileIn:$src1, TileOut:$dst, Precision<PTO_DivPrecisionAttr>:$precisionType)> {
  let summary = "TCOLEXPANDDIV of a tile and a vector with one value per column";
  let a3 = "f16 f32";
  let a5 = "i8 i16 i32 f16 bf16 f32";
  let rule = "vec row_major same_elem col_expand_bin";
  let inplace = "src0";
}

#endif // PTO_REDUCE_TD
