# types of a wrong form: no shape, a shape that is no list, an extent below zero, an element instead of a type
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIV)
    def f(a: pl.Tensor, b: pl.Tensor[64, pl.FP32], c: pl.Tensor[[-64], pl.FP32], d: pl.FP32, e: pl.Tesnor[[64], pl.FP32], g):
        pl.system.bar_v()
