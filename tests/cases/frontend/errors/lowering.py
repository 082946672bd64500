# what no kernel may do, each on its own line: the rest of the function is looked at all the same
# pypto.program: Lowering
import pypto.language as pl

@pl.program
class Lowering:
    @pl.function(type=pl.FunctionType.AIV)
    def kernel(self, x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]], n: pl.Scalar[pl.INDEX]):
        a: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [0], [8, 64], [8, 64], target_memory=pl.Mem.Vec)
        b: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [8, 64], [8, 64], target_memory=pl.Mem.Vec)
        c: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(b, n)
        d: pl.Tile[[8, 64], pl.UINT8, pl.Mem.Vec] = pl.tile.cmp(b, b, cmp_type=9)
        e: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(b, b, b, b)
        pl.tile.store(b, [0, 0], n)
        for i in pl.range(0, n, -1):
            pl.tile.write(b, [i, 0], 1.0)
        if n == 0:
            return y
        r: pl.Tensor[[8, 64], pl.FP32] = pl.tile.store(b, [0, 0], y)
        return r
