# a loop without its yield, branches that yield different names, a yield that is not last
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIV)
    def f(n: pl.Scalar[pl.INDEX]):
        for i, (a,) in pl.range(4, init_values=(n,)):
            pl.system.bar_v()
        if n == 0:
            x: pl.Scalar[pl.INDEX] = pl.yield_(1)
        else:
            y: pl.Scalar[pl.INDEX] = pl.yield_(2)
        for i, (b,) in pl.range(4, init_values=(n,)):
            c: pl.Scalar[pl.INDEX] = pl.yield_(b)
            pl.system.bar_v()
