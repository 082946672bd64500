//===- Matrix.td - matrix products -*- tablegen -*-===//
//
// TMATMUL_ACC and its relatives add to what dst's storage holds and do not read the storage of their input
// accumulator: that operand and dst must be the same storage (rule "acc_in_place").
//
//===-----------------------------------------------------------------------------===//

#ifndef PTO_MATRIX_TD
#define PTO_MATRIX_TD

include "Base.td"
include "Enums.td"

def PTO_DefaultAccPhase : DefaultValuedAttr<PTO_AccPhaseAttr, "::pto::AccPhase::unspecified">;

class ProductOp<string m, string call, dag args> : TileOp<m, call, args> {
  let pipe = "PIPE_M";
}

//===----------------------------------------------------------------------===//
// Plain
//===----------------------------------------------------------------------===//

// `kind` is "tmatmul" or "tgemv", which is also the name of the rule.
class MatmulOp<string kind, string callee> : ProductOp<kind, callee # "[<$accPhase>]($dst, $lhs, $rhs)",
    (ins TileIn:$lhs, TileIn:$rhs, TileOut:$dst, PTO_DefaultAccPhase:$accPhase)> {
  let summary = callee # ": lhs * rhs";
  let typed = "lhs";
  let a3 = "si8 f16 bf16 f32";
  let a5 = "si8 f16 bf16 f32 f8e4m3 f8e5m2 hif8";
  let rule = kind;
}
class MatmulAccOp<string kind, string callee> : ProductOp<kind # ".acc", callee # "_ACC[<$accPhase>]($dst, $acc_in, $lhs, $rhs)",
    (ins TileIn:$acc_in, TileIn:$lhs, TileIn:$rhs, TileOut:$dst, PTO_DefaultAccPhase:$accPhase)> {
  let summary = callee # "_ACC: acc_in + lhs * rhs";
  let typed = "lhs";
  let a3 = "si8 f16 bf16 f32";
  let a5 = "si8 f16 bf16 f32 f8e4m3 f8e5m2 hif8";
  let rule = kind # " acc_in_place";
  let inplace = "acc_in";
}
class MatmulBiasOp<string kind, string callee> : ProductOp<kind # ".bias", callee # "_BIAS[<$accPhase>]($dst, $a, $b, $bias)",
    (ins TileIn:$a, TileIn:$b, TileIn:$bias, TileOut:$dst, PTO_DefaultAccPhase:$accPhase)> {
  let summary = callee # "_BIAS: a * b + bias";
  let typed = "a";
  let a3 = "si8 f16 bf16 f32";
  let a5 = "si8 f16 bf16 f32 f8e4m3 f8e5m2 hif8";
  let rule = kind # " bias";
}
def TMatmulOp : MatmulOp<"tmatmul", "TMATMUL">;
def TMatmulAccOp : MatmulAccOp<"tmatmul", "TMATMUL">;
def TMatmulBiasOp : MatmulBiasOp<"tmatmul", "TMATMUL">;
def TGemvOp : MatmulOp<"tgemv", "TGEMV">;
def TGemvAccOp : MatmulAccOp<"tgemv", "TGEMV">;
def TGemvBiasOp : MatmulBiasOp<"tgemv", "TGEMV">;

//===----------------------------------------------------------------------===//
// With scales
//===----------------------------------------------------------------------===//

class MxOp<string m, string call, dag args> : ProductOp<m, call, args> {
  let typed = "a";
  let a3 = "-";
  let a5 = "f8e4m3 f8e5m2 f4e2m1x2 f4e1m2x2";
}
class MatmulMxOp<string kind, string callee> : MxOp<kind # ".mx", callee # "_MX[<$accPhase>]($dst, $a, $a_scale, $b, $b_scale)",
    (ins TileIn:$a, TileIn:$a_scale, TileIn:$b, TileIn:$b_scale, TileOut:$dst, PTO_DefaultAccPhase:$accPhase)> {
  let summary = callee # "_MX: (a, a_scale) * (b, b_scale)";
  let rule = kind # "_mx";
}
class MatmulMxAccOp<string kind, string callee> : MxOp<kind # ".mx.acc",
    callee # "_MX[<$accPhase>]($dst, $c_in, $a, $a_scale, $b, $b_scale)",
    (ins TileIn:$c_in, TileIn:$a, TileIn:$a_scale, TileIn:$b, TileIn:$b_scale, TileOut:$dst, PTO_DefaultAccPhase:$accPhase)> {
  let summary = callee # "_MX: c_in + (a, a_scale) * (b, b_scale)";
  let rule = kind # "_mx acc_in_place";
  let inplace = "c_in";
}
class MatmulMxBiasOp<string kind, string callee> : MxOp<kind # ".mx.bias",
    callee # "_MX($dst, $a, $a_scale, $b, $b_scale, $bias)",
    (ins TileIn:$a, TileIn:$a_scale, TileIn:$b, TileIn:$b_scale, TileIn:$bias, TileOut:$dst)> {
  let summary = callee # "_MX: (a, a_scale) * (b, b_scale) + bias";
  let rule = kind # "_mx bias";
}
def TMatmulMxOp : MatmulMxOp<"tmatmul", "TMATMUL">;
def TMatmulMxAccOp : MatmulMxAccOp<"tmatmul", "TMATMUL">;
def TMatmulMxBiasOp : MatmulMxBiasOp<"tmatmul", "TMATMUL">;
def TGemvMxOp : MatmulMxOp<"tgemv", "TGEMV">;
def TGemvMxAccOp : MatmulMxAccOp<"tgemv", "TGEMV">;
def TGemvMxBiasOp : MatmulMxBiasOp<"tgemv", "TGEMV">;

// The scales of a left or right tile live at an address that follows from the tile's own.
def TGetScaleAddrOp : TileOp<"tget_scale_addr", "TASSIGN($dst, GetScaleAddr($src.data()))", (ins TileRef:$src, TileRef:$dst)> {
  let summary = "places dst where the hardware looks for src's scales";
  let typed = "src";
  let a3 = "-";
  let rule = "tget_scale_addr";
  let pipe = "PIPE_S";
}

#endif // PTO_MATRIX_TD
