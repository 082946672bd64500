# the older notation: allocations with address and number, numbered memory of tensors, a carried tile
# pypto.program: Sum
import pypto.language as pl

@pl.program
class Sum:
    @pl.function(type=pl.FunctionType.InCore)
    def sum(self, x: pl.Tensor[[128, 32], pl.FP32, pl.MemRef(-1, 16384, 0)], y: pl.Out[pl.Tensor[[16, 32], pl.FP32, pl.MemRef(-1, 2048, 1)]]) -> pl.Tensor[[16, 32], pl.FP32]:
        mem_vec_2: pl.MemRefType = pl.tile.alloc(pl.Mem.Vec, 0, 2048, 2)
        mem_vec_4: pl.MemRefType = pl.tile.alloc(pl.Mem.Vec, 2048, 2048, 4)
        zero: pl.Tile[[16, 32], pl.FP32, mem_vec_2, pl.Mem.Vec] = pl.tile.full([16, 32], dtype=pl.FP32, value=0.0)
        for i, (sum_before,) in pl.range(0, 128, 16, init_values=(zero,)):
            part: pl.Tile[[16, 32], pl.FP32, mem_vec_4, pl.Mem.Vec] = pl.tile.load(x, [i, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec, transpose=False)
            # added in place
            sum_behind: pl.Tile[[16, 32], pl.FP32, mem_vec_2, pl.Mem.Vec] = pl.tile.add(sum_before, part)
            total: pl.Tile[[16, 32], pl.FP32, mem_vec_2, pl.Mem.Vec] = pl.yield_(sum_behind)
        result: pl.Tensor[[16, 32], pl.FP32, pl.MemRef(-1, 2048, 1)] = pl.tile.store(total, [0, 0], y)
        return result
