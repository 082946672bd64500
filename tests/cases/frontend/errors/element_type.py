# element types that do not exist
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIV)
    def f(x: pl.Tensor[[64, 64], pl.FLOAT32], n: pl.Scalar[pl.INT46]):
        pl.system.bar_v()
