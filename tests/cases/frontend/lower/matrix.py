# Products: plain, accumulating, with bias; windows of L1.
# pypto.program: Matrix
import pypto.language as pl

@pl.program
class Matrix:
    @pl.function(type=pl.FunctionType.AIC)
    def kernel(self, x: pl.Tensor[[256, 256], pl.BF16], w: pl.Tensor[[256, 256], pl.BF16], c: pl.Tensor[[256, 256], pl.FP32], k: pl.Scalar[pl.INDEX], y: pl.Out[pl.Tensor[[256, 256], pl.FP32]], z: pl.Out[pl.Tensor[[256, 256], pl.BF16]]):
        xm: pl.Tile[[64, 128], pl.BF16, pl.Mem.Mat] = pl.tile.load(x, [0, 0], [64, 128], [64, 128], target_memory=pl.Mem.Mat)
        wm: pl.Tile[[128, 64], pl.BF16, pl.Mem.Mat] = pl.tile.load(w, [0, 0], [128, 64], [128, 64], target_memory=pl.Mem.Mat)
        cm: pl.Tile[[1, 64], pl.FP32, pl.Mem.Mat] = pl.tile.load(c, [0, 0], [1, 64], [1, 64], target_memory=pl.Mem.Mat)
        l: pl.Tile[[64, 64], pl.BF16, pl.Mem.Left, pl.TileView(blayout=pl.TileLayout.row_major)] = pl.tile.extract(xm, 0, 64, [64, 64], target_memory=pl.Mem.Left)
        r: pl.Tile[[64, 64], pl.BF16, pl.Mem.Right] = pl.tile.extract(wm, 0, 0, [64, 64], target_memory=pl.Mem.Right)
        bias: pl.Tile[[1, 64], pl.FP32, pl.Mem.Bias] = pl.tile.move(cm, target_memory=pl.Mem.Bias)
        p0: pl.Tile[[64, 64], pl.FP32, pl.Mem.Acc] = pl.tile.matmul(l, r)
        p1: pl.Tile[[64, 64], pl.FP32, pl.Mem.Acc] = pl.tile.matmul_acc(p0, l, r)
        p2: pl.Tile[[64, 64], pl.FP32, pl.Mem.Acc] = pl.tile.matmul_acc(p1, l, r, k == 0)
        r10: pl.Tensor[[256, 256], pl.FP32] = pl.tile.store(p2, [0, 0], y)
        p3: pl.Tile[[64, 64], pl.FP32, pl.Mem.Acc] = pl.tile.matmul_bias(l, r, bias)
        r3: pl.Tensor[[256, 256], pl.FP32] = pl.tile.store(p3, [64, 0], y, atomic=1)
        back: pl.Tile[[64, 128], pl.BF16, pl.Mem.Mat] = pl.tile.create([64, 128], dtype=pl.BF16, target_memory=pl.Mem.Mat)
        back2: pl.Tile[[64, 128], pl.BF16, pl.Mem.Mat] = pl.tile.assemble(back, p3, [0, 64])
        wt: pl.Tile[[64, 128], pl.BF16, pl.Mem.Mat, pl.TileView(blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.col_major)] = pl.tile.transpose_view(wm)
        rows: pl.Tile[[64, 128], pl.BF16, pl.Mem.Mat] = pl.tile.gather_row(back2, x, [0, 0], [k, 0], [1, 128])
