# A program that comes with memory but without addresses, a declared allocation with two slots among it.
# pypto.program: Given
import pypto.language as pl

@pl.program
class Given:
    @pl.function(type=pl.FunctionType.AIV)
    def kernel(self, a: pl.Tensor[[64, 64], pl.FP32, pl.MemRef("mem_ddr_0", pl.const(0, pl.INT64), 16384)], o: pl.Out[pl.Tensor[[64, 64], pl.FP32, pl.MemRef("mem_ddr_1", pl.const(0, pl.INT64), 16384)]]):
        ping: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 8192, pinned=True)
        mem_vec_2: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 4096)
        for i in pl.range(4):
            s: pl.Tile[[16, 64], pl.FP32, pl.MemRef(ping, i % 2 * 4096, 4096, slots=2)[i % 2], pl.Mem.Vec] = pl.tile.load(a, [i * 16, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
            w: pl.Tile[[16, 64], pl.FP32, pl.MemRef(mem_vec_2, pl.const(0, pl.INT64), 4096), pl.Mem.Vec] = pl.tile.add(s, s)
            r: pl.Tensor[[64, 64], pl.FP32, pl.MemRef("mem_ddr_1", pl.const(0, pl.INT64), 16384)] = pl.tile.store(w, [i * 16, 0], o)
        return o
