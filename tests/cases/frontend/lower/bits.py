# Bits and shifts of integers.
# pypto.program: Bits
import pypto.language as pl

@pl.program
class Bits:
    @pl.function(type=pl.FunctionType.AIV)
    def kernel(self, x: pl.Tensor[[256, 256], pl.INT16], y: pl.Out[pl.Tensor[[256, 256], pl.INT16]]):
        a: pl.Tile[[32, 64], pl.INT16, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Vec)
        b: pl.Tile[[32, 64], pl.INT16, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Vec)
        t3: pl.Tile[[32, 64], pl.INT16, pl.Mem.Vec] = pl.tile.and_(a, b)
        t4: pl.Tile[[32, 64], pl.INT16, pl.Mem.Vec] = pl.tile.or_(t3, b)
        t5: pl.Tile[[32, 64], pl.INT16, pl.Mem.Vec] = pl.tile.shl(t4, b)
        t6: pl.Tile[[32, 64], pl.INT16, pl.Mem.Vec] = pl.tile.shr(t5, b)
        t7: pl.Tile[[32, 64], pl.INT16, pl.Mem.Vec] = pl.tile.not_(t6)
        t8: pl.Tile[[32, 64], pl.INT16, pl.Mem.Vec] = pl.tile.ands(t7, 255)
        t9: pl.Tile[[32, 64], pl.INT16, pl.Mem.Vec] = pl.tile.ors(t8, 1)
        t10: pl.Tile[[32, 64], pl.INT16, pl.Mem.Vec] = pl.tile.shls(t9, 2)
        t11: pl.Tile[[32, 64], pl.INT16, pl.Mem.Vec] = pl.tile.shrs(t10, 1)
        tmp: pl.Tile[[32, 64], pl.INT16, pl.Mem.Vec] = pl.tile.create([32, 64], dtype=pl.INT16, target_memory=pl.Mem.Vec)
        t13: pl.Tile[[32, 64], pl.INT16, pl.Mem.Vec] = pl.tile.xor(t11, b, tmp)
        t14: pl.Tile[[32, 64], pl.INT16, pl.Mem.Vec] = pl.tile.xors(t13, 7, tmp)
        r15: pl.Tensor[[256, 256], pl.FP32] = pl.tile.store(t14, [0, 0], y)
