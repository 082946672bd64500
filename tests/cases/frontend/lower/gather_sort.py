# Elements by index, mask and order.
# pypto.program: GatherSort
import pypto.language as pl

@pl.program
class GatherSort:
    @pl.function(type=pl.FunctionType.AIV)
    def kernel(self, x: pl.Tensor[[256, 256], pl.FP32], y: pl.Out[pl.Tensor[[256, 256], pl.FP32]]):
        a: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [8, 64], [8, 64], target_memory=pl.Mem.Vec)
        count: pl.Tile[[1, 64], pl.INT32, pl.Mem.Vec] = pl.tile.ci(0, [1, 64], dtype=pl.INT32, descending=False)
        places: pl.Tile[[8, 64], pl.INT32, pl.Mem.Vec] = pl.tile.create([8, 64], dtype=pl.INT32, target_memory=pl.Mem.Vec)
        idx: pl.Tile[[8, 64], pl.INT32, pl.Mem.Vec] = pl.tile.col_expand(places, count)
        tmp: pl.Tile[[8, 64], pl.INT32, pl.Mem.Vec] = pl.tile.create([8, 64], dtype=pl.INT32, target_memory=pl.Mem.Vec)
        g: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec] = pl.tile.gather(a, idx, tmp)
        gb: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec] = pl.tile.gatherb(g, idx, output_dtype=pl.FP32)
        gm: pl.Tile[[8, 32], pl.FP32, pl.Mem.Vec] = pl.tile.gather_mask(g, mask_pattern=1)
        zero: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec] = pl.tile.full([8, 64], dtype=pl.FP32, value=0.0)
        sc: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec] = pl.tile.scatter(zero, g, idx)
        sm: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec] = pl.tile.scatter_mask(sc, gm, mask_pattern=2)
        r12: pl.Tensor[[256, 256], pl.FP32] = pl.tile.store(sm, [0, 0], y)
        r13: pl.Tensor[[256, 256], pl.FP32] = pl.tile.store(gb, [8, 0], y)
        keys: pl.Tile[[1, 256], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [1, 256], [1, 256], target_memory=pl.Mem.Vec)
        numbers: pl.Tile[[1, 256], pl.UINT32, pl.Mem.Vec] = pl.tile.ci(0, [1, 256], dtype=pl.UINT32, descending=False)
        pairs: pl.Tile[[1, 512], pl.FP32, pl.Mem.Vec] = pl.tile.sort32(keys, numbers)
        runs: pl.Tile[[1, 512], pl.FP32, pl.Mem.Vec] = pl.tile.mrgsort_format1(pairs, 64)
        first: pl.Tile[[1, 256], pl.FP32, pl.Mem.Vec] = pl.tile.slice(runs, [1, 256], [0, 0])
        second: pl.Tile[[1, 256], pl.FP32, pl.Mem.Vec] = pl.tile.slice(runs, [1, 256], [0, 256])
        merge_tmp: pl.Tile[[1, 512], pl.FP32, pl.Mem.Vec] = pl.tile.create([1, 512], dtype=pl.FP32, target_memory=pl.Mem.Vec)
        merged: pl.Tile[[1, 512], pl.FP32, pl.Mem.Vec] = pl.tile.mrgsort_format2(first, second, merge_tmp, exhausted=False)
        upper: pl.Tile[[16, 16], pl.FP32, pl.Mem.Vec] = pl.tile.tri(0, [16, 16], dtype=pl.FP32, upper=True)
        r23: pl.Tensor[[256, 256], pl.FP32] = pl.tile.store(upper, [16, 0], y)
        rr: pl.Tensor[[256, 256], pl.FP32] = pl.tile.store(merged, [32, 0], y)
