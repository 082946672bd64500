# an operation that has no PTO form here: its name and line
# pypto.program: Compare
import pypto.language as pl

@pl.program
class Compare:
    @pl.function(type=pl.FunctionType.AIV)
    def kernel(self, x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
        a: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [8, 64], [8, 64], target_memory=pl.Mem.Vec)
        tmp: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec] = pl.tile.create([8, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec)
        got: pl.Tile[[8, 64], pl.INT32, pl.Mem.Vec] = pl.tile.gather_compare(a, 0.5, tmp, cmp_mode=4)
        other: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec] = pl.tile.unheard_of(a)
        r: pl.Tensor[[8, 64], pl.FP32] = pl.tile.store(a, [0, 0], y)
