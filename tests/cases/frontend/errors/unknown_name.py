# a misspelt name
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIV)
    def f(source: pl.Tensor[[64, 64], pl.FP32], target: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        t: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(suorce, [0, 0], [64, 64], [64, 64], target_memory=pl.Mem.Vec)
        r: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(t, [0, 0], target)
