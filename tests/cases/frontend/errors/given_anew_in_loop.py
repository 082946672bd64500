# a sum that the loop means to carry, but does not; and its use behind the loop
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIV)
    def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        sum: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.full([16, 64], dtype=pl.FP32, value=0.0)
        for i in pl.range(4):
            t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [i * 16, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
            sum: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(sum, t)
        r: pl.Tensor[[16, 64], pl.FP32] = pl.tile.store(sum, [0, 0], y)
