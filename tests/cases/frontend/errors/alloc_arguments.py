# allocations with wrong arguments: three of them, no space, a size that is no number
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIV)
    def f(n: pl.Scalar[pl.INDEX]):
        a: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 0, 1024)
        b: pl.Ptr = pl.tile.alloc(1024, pl.Mem.Vec)
        c: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, n)
