# statements beside functions
import pypto.language as pl

@pl.function
def f(n: pl.Scalar[pl.INDEX]):
    pl.system.bar_v()

f(4)
