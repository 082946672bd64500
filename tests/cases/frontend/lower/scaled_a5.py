# Products of 8-bit floats with scales, and a store that converts with a table of factors.
# ARCH: a5
# pypto.program: Scaled
import pypto.language as pl

@pl.program
class Scaled:
    @pl.function(type=pl.FunctionType.AIC)
    def kernel(self, x: pl.Tensor[[256, 256], pl.FP8E4M3FN], w: pl.Tensor[[256, 256], pl.FP8E4M3FN], c: pl.Tensor[[1, 64], pl.FP32], f: pl.Tensor[[1, 64], pl.UINT64], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], q: pl.Out[pl.Tensor[[64, 64], pl.INT8]]):
        xm: pl.Tile[[64, 64], pl.FP8E4M3FN, pl.Mem.Mat] = pl.tile.load(x, [0, 0], [64, 64], [64, 64], target_memory=pl.Mem.Mat)
        wm: pl.Tile[[64, 64], pl.FP8E4M3FN, pl.Mem.Mat] = pl.tile.load(w, [0, 0], [64, 64], [64, 64], target_memory=pl.Mem.Mat)
        cm: pl.Tile[[1, 64], pl.FP32, pl.Mem.Mat] = pl.tile.load(c, [0, 0], [1, 64], [1, 64], target_memory=pl.Mem.Mat)
        l: pl.Tile[[64, 64], pl.FP8E4M3FN, pl.Mem.Left] = pl.tile.move(xm, target_memory=pl.Mem.Left)
        r: pl.Tile[[64, 64], pl.FP8E4M3FN, pl.Mem.Right] = pl.tile.move(wm, target_memory=pl.Mem.Right)
        b: pl.Tile[[1, 64], pl.FP32, pl.Mem.Bias] = pl.tile.move(cm, target_memory=pl.Mem.Bias)
        ls0: pl.Tile[[64, 2], pl.FP8E8M0, pl.Mem.LeftScale] = pl.tile.create([64, 2], dtype=pl.FP8E8M0, target_memory=pl.Mem.LeftScale)
        ls: pl.Tile[[64, 2], pl.FP8E8M0, pl.Mem.LeftScale] = pl.tile.tget_scale_addr(ls0, l)
        rs0: pl.Tile[[2, 64], pl.FP8E8M0, pl.Mem.RightScale] = pl.tile.create([2, 64], dtype=pl.FP8E8M0, target_memory=pl.Mem.RightScale)
        rs: pl.Tile[[2, 64], pl.FP8E8M0, pl.Mem.RightScale] = pl.tile.tget_scale_addr(rs0, r)
        p0: pl.Tile[[64, 64], pl.FP32, pl.Mem.Acc] = pl.tile.matmul_mx(l, ls, r, rs)
        p1: pl.Tile[[64, 64], pl.FP32, pl.Mem.Acc] = pl.tile.matmul_mx_acc(p0, l, ls, r, rs)
        stored: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(p1, [0, 0], y)
        p2: pl.Tile[[64, 64], pl.FP32, pl.Mem.Acc] = pl.tile.matmul_mx_bias(l, ls, r, rs, b)
        again: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(p2, [0, 0], y)
        fm: pl.Tile[[1, 64], pl.UINT64, pl.Mem.Mat] = pl.tile.load(f, [0, 0], [1, 64], [1, 64], target_memory=pl.Mem.Mat)
        fs: pl.Tile[[1, 64], pl.UINT64, pl.Mem.LeftScale, pl.TileView(slayout=pl.TileLayout.none_box, fractal=512)] = pl.tile.move(fm, target_memory=pl.Mem.LeftScale)
        coarse: pl.Tensor[[64, 64], pl.INT8] = pl.tile.store_fp(p2, fs, q)
