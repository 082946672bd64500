//===- Elementwise.td - tile-tile, tile-scalar, unary, compare, select, convert -*- tablegen -*-===//
//
// In a `cpp` call, `[$tmp|$dst]` stands where the library's signature has a scratch tile that the target (or the
// element type) does not use: without a scratch tile, dst is named there.
//
//===-----------------------------------------------------------------------------------------===//

#ifndef PTO_ELEMENTWISE_TD
#define PTO_ELEMENTWISE_TD

include "Base.td"
include "Enums.td"

// A precision attribute with its default.
class Precision<PTO_EnumAttr attr> : DefaultValuedAttr<attr, "::pto::" # attr.facts.className # "::standard">;

// The checks that most elementwise ops share.
class Elementwise<string m, string call, dag args, list<Trait> traits = []> : TileOp<m, call, args, traits> {
  let rule = "vec row_major same_elem same_valid";
  let inplace = "*";
}

//===----------------------------------------------------------------------===//
// Two tiles
//===----------------------------------------------------------------------===//

// dst[i, j] = f(src0[i, j], src1[i, j])
class BinaryTileOp<string m, string callee> : Elementwise<m, callee # "($dst, $src0, $src1)",
    (ins TileIn:$src0, TileIn:$src1, TileOut:$dst)> {
  let summary = "element by element " # callee # " of two tiles";
}
def TAddOp : BinaryTileOp<"tadd", "TADD"> { let a3 = "si16 si32 f16 f32"; let a5 = "i8 i16 i32 i64 f16 bf16 f32"; }
def TSubOp : BinaryTileOp<"tsub", "TSUB"> { let a3 = "si16 si32 f16 f32"; let a5 = "i8 i16 i32 i64 f16 bf16 f32"; }
def TMulOp : BinaryTileOp<"tmul", "TMUL"> { let a3 = "si16 si32 f16 f32"; let a5 = "i16 i32 i64 f16 bf16 f32"; }
def TMaxOp : BinaryTileOp<"tmax", "TMAX"> { let a3 = "si16 si32 f16 f32"; let a5 = "i8 i16 i32 i64 f16 bf16 f32"; }
def TMinOp : BinaryTileOp<"tmin", "TMIN"> { let a3 = "si16 si32 f16 f32"; let a5 = "i8 i16 i32 i64 f16 bf16 f32"; }
def TAndOp : BinaryTileOp<"tand", "TAND"> { let a3 = "i8 i16 i32"; let a5 = "i8 i16 i32"; }
def TOrOp : BinaryTileOp<"tor", "TOR"> { let a3 = "i8 i16 i32"; let a5 = "i8 i16 i32"; }
def TShlOp : BinaryTileOp<"tshl", "TSHL"> { let a3 = "i8 i16 i32"; let a5 = "i8 i16 i32 i64"; let events = "V>S S>V"; }
def TShrOp : BinaryTileOp<"tshr", "TSHR"> { let a3 = "i8 i16 i32"; let a5 = "i8 i16 i32 i64"; let events = "V>S S>V"; }

// The library has no such call: the sum, then the larger of it and 0.
def TAddReluOp : BinaryTileOp<"taddrelu", "TADDRELU"> {
  let cpp = "TADD($dst, $src0, $src1); TMAXS($dst, $dst, 0)";
  let a3 = "si16 f16 f32";
  let a5 = "-";
}

// The same with a precision in the template list.
class PreciseBinaryTileOp<string m, string callee, PTO_EnumAttr precision> : Elementwise<m,
    callee # "[<$precisionType>]($dst, $src0, $src1)",
    (ins TileIn:$src0, TileIn:$src1, TileOut:$dst, Precision<precision>:$precisionType)> {
  let summary = "element by element " # callee # " of two tiles";
}
def TDivOp : PreciseBinaryTileOp<"tdiv", "TDIV", PTO_DivPrecisionAttr> { let a3 = "f16 f32"; let a5 = "i16 i32 i64 f16 f32"; }
def TFModOp : PreciseBinaryTileOp<"tfmod", "TFMOD", PTO_FmodPrecisionAttr> {
  let a3 = "f32";
  let a5 = "i16 i32 f16 f32";
  let inplace_a3 = "";
}

def TRemOp : Elementwise<"trem", "TREM[<$precisionType>]($dst, $src0, $src1, [$tmp|$dst])",
    (ins TileIn:$src0, TileIn:$src1, Optional<TileTmp>:$tmp, TileOut:$dst, Precision<PTO_RemPrecisionAttr>:$precisionType)> {
  let summary = "remainder with the sign of the divisor";
  let a3 = "si32 f32";
  let a5 = "i16 i32 i64 f16 f32";
  let rule = "vec row_major same_elem same_valid trem";
  let inplace_a3 = "";
  let destroys_a3 = "src0:i32 src1:i32";
  let scratch = "trem";
}
def TXorOp : Elementwise<"txor", "TXOR($dst, $src0, $src1, [$tmp|$dst])",
    (ins TileIn:$src0, TileIn:$src1, Optional<TileTmp>:$tmp, TileOut:$dst)> {
  let summary = "bitwise exclusive or of two tiles";
  let a3 = "i8 i16 i32";
  let a5 = "i8 i16 i32";
  let rule = "vec row_major same_elem same_valid txor";
  let inplace_a3 = "";
  let scratch = "same_as_dst";
}
def TPReluOp : Elementwise<"tprelu", "TPRELU($dst, $src0, $src1, [$tmp|$dst])",
    (ins TileIn:$src0, TileIn:$src1, Optional<TileTmp>:$tmp, TileOut:$dst)> {
  let summary = "src0 where it is positive, src0 * src1 elsewhere";
  let a3 = "f16 f32";
  let a5 = "f16 f32";
  let rule = "vec row_major same_elem same_valid tprelu";
  let inplace_a3 = "";
  let scratch = "tprelu";
}
def TPowOp : Elementwise<"tpow", "TPOW[<$precisionType>]($dst, $base, $exp, [$tmp|$dst])",
    (ins TileIn:$base, TileIn:$exp, TileOut:$dst, Optional<TileTmp>:$tmp, Precision<PTO_PowPrecisionAttr>:$precisionType)> {
  let summary = "base to the power of exp, element by element";
  let a3 = "i8 i16 i32 f32";
  let a5 = "i8 i16 i32 f16 bf16 f32";
  let rule = "vec row_major same_elem same_valid tpow";
  let inplace_a3 = "";
  let scratch = "tpow";
  let events = "V>S S>V";
}

// Two calls each. The second one reads src2, so that dst may share storage with src0 and src1 only.
class TernaryTileOp<string m, string first> : Elementwise<m, first # "($dst, $src0, $src1); TADD($dst, $dst, $src2)",
    (ins TileIn:$src0, TileIn:$src1, TileIn:$src2, TileOut:$dst)> {
  let summary = first # " of two tiles, plus a third";
  let a3 = "si16 si32 f16 f32";
  let a5 = "i8 i16 i32 i64 f16 bf16 f32";
  let inplace = "src0 src1";
}
def TAddCOp : TernaryTileOp<"taddc", "TADD">;
def TSubCOp : TernaryTileOp<"tsubc", "TSUB">;

//===----------------------------------------------------------------------===//
// A tile and a scalar
//===----------------------------------------------------------------------===//

// dst[i, j] = f(src[i, j], scalar)
class ScalarTileOp<string m, string callee> : Elementwise<m, callee # "($dst, $src, $scalar)",
    (ins TileIn:$src, Scalar:$scalar, TileOut:$dst)> {
  let summary = "element by element " # callee # " of a tile and a scalar";
  let rule = "vec same_elem same_valid";
}
def TAddSOp : ScalarTileOp<"tadds", "TADDS"> { let a3 = "si16 si32 f16 f32"; let a5 = "i8 i16 i32 i64 f16 bf16 f32"; }
def TSubSOp : ScalarTileOp<"tsubs", "TSUBS"> { let a3 = "si16 si32 f16 f32"; let a5 = "i8 i16 i32 i64 f16 bf16 f32"; }
def TMaxSOp : ScalarTileOp<"tmaxs", "TMAXS"> { let a3 = "si16 si32 f16 f32"; let a5 = "i8 i16 i32 i64 f16 bf16 f32"; }
def TMinSOp : ScalarTileOp<"tmins", "TMINS"> { let a3 = "si16 si32 f16 f32"; let a5 = "i8 i16 i32 i64 f16 bf16 f32"; }
def TFModSOp : ScalarTileOp<"tfmods", "TFMODS"> {
  let a3 = "f32";
  let a5 = "i16 i32 f16 f32";
  let rule = "vec row_major same_elem same_valid tfmods";
  let inplace_a3 = "";
}
def TMulSOp : Elementwise<"tmuls", "TMULS($dst, $src0, $scalar)", (ins TileIn:$src0, Scalar:$scalar, TileOut:$dst)> {
  let summary = "element by element TMULS of a tile and a scalar";
  let rule = "vec same_elem same_valid";
  let a3 = "si16 si32 f16 f32";
  let a5 = "i16 i32 i64 f16 bf16 f32";
}

// spelling: (tile, scalar) divides by the scalar, (scalar, tile) divides the scalar: the textual order is kept.
def TileOrScalar : PTO_Operand<"any", "read", Or<[PTO_IsTile, PTO_IsScalar]>, "tile or scalar">;
def TDivSOp : Elementwise<"tdivs", "TDIVS[<$precisionType>]($dst, $src, $scalar)",
    (ins TileOrScalar:$src, TileOrScalar:$scalar, TileOut:$dst, Precision<PTO_DivPrecisionAttr>:$precisionType)> {
  let summary = "a tile over a scalar, or a scalar over a tile";
  let a3 = "si16 si32 f16 f32";
  let a5 = "i16 i32 i64 f16 f32";
  let rule = "vec same_elem same_valid tdivs";
  let inplace_a3 = "src";
  let events = "V>S S>V";
}

// `scalar` is an integer.
class BitsScalarTileOp<string m, string callee> : Elementwise<m, callee # "($dst, $src, $scalar)",
    (ins TileIn:$src, IntScalar:$scalar, TileOut:$dst)> {
  let summary = "element by element " # callee # " of a tile and an integer";
}
def TAndSOp : BitsScalarTileOp<"tands", "TANDS"> { let a3 = "i8 i16 i32"; let a5 = "i8 i16 i32"; let inplace_a3 = ""; }
def TOrSOp : BitsScalarTileOp<"tors", "TORS"> { let a3 = "i8 i16 i32"; let a5 = "i8 i16 i32"; let inplace_a3 = ""; }
def TShlSOp : BitsScalarTileOp<"tshls", "TSHLS"> {
  let a3 = "i16 i32";
  let a5 = "i8 i16 i32 i64";
  let rule = "vec same_elem same_valid tshifts";
}
def TShrSOp : BitsScalarTileOp<"tshrs", "TSHRS"> {
  let a3 = "i16 i32";
  let a5 = "i8 i16 i32 i64";
  let rule = "vec same_elem same_valid tshifts";
}
def TXorSOp : Elementwise<"txors", "TXORS($dst, $src, $scalar, [$tmp|$dst])",
    (ins TileIn:$src, IntScalar:$scalar, Optional<TileTmp>:$tmp, TileOut:$dst)> {
  let summary = "bitwise exclusive or of a tile and an integer";
  let a3 = "i8 i16 i32";
  let a5 = "i8 i16 i32";
  let rule = "vec row_major same_elem same_valid txor";
  let inplace_a3 = "";
  let scratch = "same_as_dst";
}

def TRemSOp : Elementwise<"trems", "TREMS($dst, $src, $scalar, [$tmp|$dst])",
    (ins TileIn:$src, Scalar:$scalar, Optional<TileTmp>:$tmp, TileOut:$dst)> {
  let summary = "remainder of a tile and a scalar, with the sign of the divisor";
  let a3 = "si32 f32";
  let a5 = "i16 i32 i64 f16 f32";
  let rule = "vec row_major same_elem same_valid trem";
  let inplace_a3 = "";
  let destroys_a3 = "src:i32";
  let scratch = "trems";
}
def TPowSOp : Elementwise<"tpows", "TPOWS[<$precisionType>]($dst, $src, $scalar, [$tmp|$dst])",
    (ins TileIn:$src, Scalar:$scalar, TileOut:$dst, Optional<TileTmp>:$tmp, Precision<PTO_PowPrecisionAttr>:$precisionType)> {
  let summary = "a tile to the power of a scalar";
  let a3 = "i8 i16 i32 f32";
  let a5 = "i8 i16 i32 f16 bf16 f32";
  let rule = "vec row_major same_elem same_valid tpow";
  let inplace_a3 = "";
  let scratch = "tpow";
  let events = "V>S S>V";
}

def TLReluOp : Elementwise<"tlrelu", "TLRELU($dst, $src, $slope)", (ins TileIn:$src, F32Value:$slope, TileOut:$dst)> {
  let summary = "src where it is positive, src * slope elsewhere";
  let a3 = "f16 f32";
  let a5 = "f16 f32";
  let rule = "vec same_elem same_valid";
}
def TAxpyOp : TileOp<"taxpy", "TAXPY($dst, $src, $scalar)", (ins TileIn:$src, Scalar:$scalar, TileInOut:$dst)> {
  let summary = "adds scalar * src to dst";
  let a3 = "f16 f32";
  let a5 = "f16 f32";
  let rule = "vec same_valid taxpy";
}

// Two calls each; the second one reads src1.
class ScalarThenTileOp<string m, string first> : Elementwise<m, first # "($dst, $src0, $scalar); TADD($dst, $dst, $src1)",
    (ins TileIn:$src0, Scalar:$scalar, TileIn:$src1, TileOut:$dst)> {
  let summary = first # " of a tile and a scalar, plus a tile";
  let a3 = "si16 si32 f16 f32";
  let a5 = "i8 i16 i32 i64 f16 bf16 f32";
  let inplace = "src0";
}
def TAddSCOp : ScalarThenTileOp<"taddsc", "TADDS">;
def TSubSCOp : ScalarThenTileOp<"tsubsc", "TSUBS">;

def TExpandsOp : TileOp<"texpands", "TEXPANDS($dst, $scalar)", (ins Scalar:$scalar, TileOut:$dst)> {
  let summary = "fills dst with a scalar";
  let a3 = "i8 i16 i32 f16 bf16 f32";
  let a5 = "i8 i16 i32 i64 f16 bf16 f32";
  let rule = "texpands";
  let pipe = "texpands";
}

//===----------------------------------------------------------------------===//
// One tile
//===----------------------------------------------------------------------===//

// dst[i, j] = f(src[i, j])
class UnaryTileOp<string m, string callee> : Elementwise<m, callee # "($dst, $src)", (ins TileIn:$src, TileOut:$dst)> {
  let summary = "element by element " # callee;
}
def TAbsOp : UnaryTileOp<"tabs", "TABS"> { let a3 = "f16 f32"; let a5 = "si8 si16 si32 f16 f32"; }
def TNegOp : UnaryTileOp<"tneg", "TNEG"> {
  let a3 = "si16 si32 f16 f32";
  let a5 = "i16 i32 i64 f16 bf16 f32";
  let rule = "vec same_elem same_valid";
}
def TNotOp : UnaryTileOp<"tnot", "TNOT"> { let a3 = "i8 i16 i32"; let a5 = "i8 i16 i32"; }
def TReluOp : UnaryTileOp<"trelu", "TRELU"> { let a3 = "si32 f16 f32"; let a5 = "si32 f16 f32"; }

// The same with a precision in the template list.
class PreciseUnaryTileOp<string m, string callee, PTO_EnumAttr precision> : Elementwise<m,
    callee # "[<$precisionType>]($dst, $src)", (ins TileIn:$src, TileOut:$dst, Precision<precision>:$precisionType)> {
  let summary = "element by element " # callee;
  let a3 = "f16 f32";
  let a5 = "f16 f32";
}
def TExpOp : PreciseUnaryTileOp<"texp", "TEXP", PTO_ExpPrecisionAttr>;
def TLogOp : PreciseUnaryTileOp<"tlog", "TLOG", PTO_LogPrecisionAttr>;
def TSqrtOp : PreciseUnaryTileOp<"tsqrt", "TSQRT", PTO_SqrtPrecisionAttr>;
def TRecipOp : PreciseUnaryTileOp<"trecip", "TRECIP", PTO_RecipPrecisionAttr> { let inplace_a3 = ""; let events = "V>S S>V"; }

def TRsqrtOp : Elementwise<"trsqrt", "TRSQRT[<$precisionType>]($dst, $src[, $tmp])",
    (ins TileIn:$src, TileOut:$dst, Optional<TileTmp>:$tmp, Precision<PTO_RsqrtPrecisionAttr>:$precisionType)> {
  let summary = "1 over the square root; on A2/A3 the form with tmp is the precise one";
  let a3 = "f16 f32";
  let a5 = "f16 f32";
  let rule = "vec row_major same_elem same_valid trsqrt";
  let scratch = "trsqrt";
}

//===----------------------------------------------------------------------===//
// Comparison, selection
//===----------------------------------------------------------------------===//

// dst: packed bits, one per element, each row on its own.
def TCmpOp : TileOp<"tcmp", "TCMP($dst, $src0, $src1, $cmpMode)",
    (ins TileIn:$src0, TileIn:$src1, TileOut:$dst, DefaultValuedAttr<PTO_CmpModeAttr, "::pto::CmpMode::eq">:$cmpMode)> {
  let summary = "compares two tiles into a mask of bits";
  let typed = "src0";
  let a3 = "si32 f16 f32";
  let a5 = "i8 i16 i32 i64 f16 bf16 f32";
  let rule = "vec tcmp";
  let attrsInside = 1;
}
def TCmpSOp : TileOp<"tcmps", "TCMPS($dst, $src, $scalar, $cmpMode)",
    (ins TileIn:$src, Scalar:$scalar, TileOut:$dst, DefaultValuedAttr<PTO_CmpModeAttr, "::pto::CmpMode::eq">:$cmpMode)> {
  let summary = "compares a tile and a scalar into a mask of bits";
  let typed = "src";
  let a3 = "i16 si32 f16 f32";
  let a5 = "i8 i16 i32 i64 f16 bf16 f32";
  let rule = "vec tcmp";
  let attrsInside = 1;
}

def TSelOp : TileOp<"tsel", "TSEL($dst, $mask, $src0, $src1, [$tmp|$dst])",
    (ins TileIn:$mask, TileIn:$src0, TileIn:$src1, Optional<TileTmp>:$tmp, TileOut:$dst)> {
  let summary = "src0 where the mask's bit is set, src1 elsewhere";
  let a3 = "i16 i32 f16 bf16 f32";
  let a5 = "i8 i16 i32 i64 f16 bf16 f32";
  let rule = "vec tsel";
  let inplace = "src0 src1";
  let scratch = "tsel";
}
def TSelSOp : TileOp<"tsels", "TSELS($dst, $mask, $src, [$tmp|$dst], $scalar)",
    (ins TileIn:$mask, TileIn:$src, Optional<TileTmp>:$tmp, Scalar:$scalar, TileOut:$dst)> {
  let summary = "src where the mask's bit is set, the scalar elsewhere";
  let a3 = "i16 i32 f16 bf16 f32";
  let a5 = "i8 i16 i32 i64 f16 f32";
  let rule = "vec tsel";
  let inplace = "src";
  let scratch = "tsels";
  let events = "S>V";
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

// spelling: the attribute `sat_mode` may also be written `satmode`, but not both.
def TCvtOp : TileOp<"tcvt", "TCVT($dst, $src[, $tmp], $rmode, $sat_mode)",
    (ins TileIn:$src, Optional<TileTmp>:$tmp, TileOut:$dst,
         DefaultValuedAttr<PTO_RoundModeAttr, "::pto::RoundMode::CAST_RINT">:$rmode,
         DefaultValuedAttr<PTO_SaturationModeAttr, "::pto::SaturationMode::OFF">:$sat_mode)> {
  let summary = "converts the element type";
  let rule = "vec same_valid tcvt";
  let inplace = "src";
  let scratch = "tcvt";
  let attrsInside = 1;
}

#endif // PTO_ELEMENTWISE_TD
