# integers that do not fit their types
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIV)
    def f(x: pl.Tensor[[64], pl.INT32]):
        a = pl.const(300, pl.INT8)
        b = pl.const(-1, pl.UINT32)
        c = 9223372036854775808
        d = pl.const(1.5, pl.INT32)
