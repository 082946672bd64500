# a bracket that is never closed
# pypto.program: P
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIV)
    def f(x: pl.Tensor[[64, 64], pl.FP32]):
        t: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [0, 0, [64, 64])
        pl.system.bar_v()
