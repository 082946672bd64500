# a comparison of three values
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIV)
    def f(n: pl.Scalar[pl.INDEX]):
        if 0 < n < 16:
            pl.system.bar_v()
