# constructs of Python that programs do not have, three in one function
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIV)
    def f(x: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX]):
        n += 1
        sizes = [i * 16 for i in range(4)]
        try:
            pl.system.bar_all()
        except ValueError:
            pass
