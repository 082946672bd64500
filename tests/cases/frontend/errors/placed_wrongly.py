# addresses by hand: a value overwritten before its last use, one outside its memory, one that is not aligned
# pypto.program: Wrong
import pypto.language as pl

@pl.program
class Wrong:
    @pl.function(type=pl.FunctionType.AIV)
    def kernel(self, x: pl.Tensor[[8, 64], pl.FP32], y: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
        m0: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 2048)
        m1: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 2048)
        m2: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 2048)
        m3: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 2048)
        a: pl.Tile[[8, 64], pl.FP32, pl.MemRef(m0, pl.const(4096, pl.INT64), 2048), pl.Mem.Vec] = pl.tile.load(x, [0, 0], [8, 64], [8, 64], target_memory=pl.Mem.Vec)
        b: pl.Tile[[8, 64], pl.FP32, pl.MemRef(m1, pl.const(5120, pl.INT64), 2048), pl.Mem.Vec] = pl.tile.load(x, [0, 0], [8, 64], [8, 64], target_memory=pl.Mem.Vec)
        c: pl.Tile[[8, 64], pl.FP32, pl.MemRef(m2, pl.const(196608, pl.INT64), 2048), pl.Mem.Vec] = pl.tile.muls(b, 2.0)
        d: pl.Tile[[8, 64], pl.FP32, pl.MemRef(m3, pl.const(16400, pl.INT64), 2048), pl.Mem.Vec] = pl.tile.add(a, b)
        r: pl.Tensor[[8, 64], pl.FP32] = pl.tile.store(d, [0, 0], y)
