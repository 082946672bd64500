# memory with wrong arguments: no size, a negative size, a slot without a count, an allocation that does not exist
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIV)
    def f(i: pl.Scalar[pl.INDEX]):
        m: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 4096)
        a: pl.Tile[[16, 64], pl.FP32, pl.MemRef(m, 0), pl.Mem.Vec] = pl.tile.create([16, 64], dtype=pl.FP32)
        b: pl.Tile[[16, 64], pl.FP32, pl.MemRef(m, 0, -4096), pl.Mem.Vec] = pl.tile.create([16, 64], dtype=pl.FP32)
        c: pl.Tile[[16, 64], pl.FP32, pl.MemRef(m, 0, 4096)[i % 2], pl.Mem.Vec] = pl.tile.create([16, 64], dtype=pl.FP32)
        d: pl.Tile[[16, 64], pl.FP32, pl.MemRef(mem, 0, 4096), pl.Mem.Vec] = pl.tile.create([16, 64], dtype=pl.FP32)
