# Sums and differences of three, with a scalar in the middle.
# ARCH: a5
# pypto.program: Carries
import pypto.language as pl

@pl.program
class Carries:
    @pl.function(type=pl.FunctionType.AIV)
    def kernel(self, x: pl.Tensor[[256, 256], pl.FP32], y: pl.Out[pl.Tensor[[256, 256], pl.FP32]]):
        a: pl.Tile[[32, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Vec)
        b: pl.Tile[[32, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Vec)
        c: pl.Tile[[32, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Vec)
        t4: pl.Tile[[32, 64], pl.FP32, pl.Mem.Vec] = pl.tile.addc(a, b, c)
        t5: pl.Tile[[32, 64], pl.FP32, pl.Mem.Vec] = pl.tile.subc(t4, b, c)
        t6: pl.Tile[[32, 64], pl.FP32, pl.Mem.Vec] = pl.tile.addsc(t5, 1.0, c)
        t7: pl.Tile[[32, 64], pl.FP32, pl.Mem.Vec] = pl.tile.subsc(t6, 2.0, c)
        r8: pl.Tensor[[256, 256], pl.FP32] = pl.tile.store(t7, [0, 0], y)
