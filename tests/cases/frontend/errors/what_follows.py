# one message for a statement without a result, none for those that need it: an unknown layout, too few offsets
import pypto.language as pl

@pl.program
class Follows:
    @pl.function(type=pl.FunctionType.AIV)
    def kernel(self, x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]], n: pl.Scalar[pl.INDEX]):
        a: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec, pl.TileView(fractal=256)] = pl.tile.load(x, [0, 0], [8, 64], [8, 64], target_memory=pl.Mem.Vec)
        b: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(a, a)
        c: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(b, b)
        for i, (d,) in pl.range(0, n, init_values=(c,)):
            e: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(d, d)
            f: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec] = pl.yield_(e)
        if n == 0:
            g: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec] = pl.yield_(f)
        else:
            g: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec] = pl.yield_(b)
        h: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [0], [8, 64], [8, 64], target_memory=pl.Mem.Vec)
        r: pl.Tensor[[8, 64], pl.FP32] = pl.tile.store(g, [0, 0], y)
        return r
