# an operation of a namespace that does not exist, and one without any module
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIV)
    def f(x: pl.Tensor[[64, 64], pl.FP32]):
        t = pl.tiel.load(x, [0, 0], [64, 64], [64, 64], target_memory=pl.Mem.Vec)
        u = load(x, [0, 0], [64, 64])
