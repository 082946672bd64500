# Random bits and indexed global memory.
# ARCH: a5
# pypto.program: Random
import pypto.language as pl

@pl.program
class Random:
    @pl.function(type=pl.FunctionType.AIV)
    def kernel(self, x: pl.Tensor[[256, 256], pl.FP32], y: pl.Out[pl.Tensor[[256, 256], pl.INT32]], z: pl.Out[pl.Tensor[[256, 256], pl.FP32]]):
        bits: pl.Tile[[8, 128], pl.INT32, pl.Mem.Vec] = pl.tile.random(1, 2, 3, 4, 5, 6, [8, 128], dtype=pl.INT32, rounds=10)
        r2: pl.Tensor[[256, 256], pl.FP32] = pl.tile.store(bits, [0, 0], y)
        rows: pl.Tile[[1, 8], pl.INT32, pl.Mem.Vec] = pl.tile.ci(0, [1, 8], dtype=pl.INT32, descending=True)
        got: pl.Tile[[8, 256], pl.FP32, pl.Mem.Vec] = pl.tile.mgather(x, rows, coalesce=0, gather_oob=1, target_memory=pl.Mem.Vec)
        rz: pl.Tensor[[256, 256], pl.FP32] = pl.tile.mscatter(got, rows, z)
