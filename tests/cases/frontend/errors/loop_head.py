# loops over nothing that can be counted, with a step of 0, with more first values than names
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIV)
    def f(n: pl.Scalar[pl.INDEX]):
        for i in [0, 1, 2]:
            pl.system.bar_v()
        for i in pl.range(0, n, 0):
            pl.system.bar_v()
        for i, (a,) in pl.range(4, init_values=(n, n)):
            b: pl.Scalar[pl.INDEX] = pl.yield_(a)
