# an explicit while loop without its condition
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIV)
    def f(n: pl.Scalar[pl.INDEX]):
        for (a,) in pl.while_(init_values=(n,)):
            less: pl.Scalar[pl.INDEX] = a - 1
            last: pl.Scalar[pl.INDEX] = pl.yield_(less)
