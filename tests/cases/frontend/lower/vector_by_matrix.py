# A row times a matrix.
# pypto.program: VectorByMatrix
import pypto.language as pl

@pl.program
class VectorByMatrix:
    @pl.function(type=pl.FunctionType.AIC)
    def kernel(self, x: pl.Tensor[[256, 256], pl.FP16], w: pl.Tensor[[256, 256], pl.FP16], c: pl.Tensor[[256, 256], pl.FP32], y: pl.Out[pl.Tensor[[256, 256], pl.FP32]]):
        xm: pl.Tile[[1, 64], pl.FP16, pl.Mem.Mat] = pl.tile.load(x, [0, 0], [1, 64], [1, 64], target_memory=pl.Mem.Mat)
        wm: pl.Tile[[64, 64], pl.FP16, pl.Mem.Mat] = pl.tile.load(w, [0, 0], [64, 64], [64, 64], target_memory=pl.Mem.Mat)
        cm: pl.Tile[[1, 64], pl.FP32, pl.Mem.Mat] = pl.tile.load(c, [0, 0], [1, 64], [1, 64], target_memory=pl.Mem.Mat)
        l: pl.Tile[[1, 64], pl.FP16, pl.Mem.Left, pl.TileView(blayout=pl.TileLayout.row_major)] = pl.tile.move(xm, target_memory=pl.Mem.Left)
        r: pl.Tile[[64, 64], pl.FP16, pl.Mem.Right] = pl.tile.move(wm, target_memory=pl.Mem.Right)
        bias: pl.Tile[[1, 64], pl.FP32, pl.Mem.Bias] = pl.tile.move(cm, target_memory=pl.Mem.Bias)
        p0: pl.Tile[[1, 64], pl.FP32, pl.Mem.Acc] = pl.tile.gemv(l, r)
        p1: pl.Tile[[1, 64], pl.FP32, pl.Mem.Acc] = pl.tile.gemv_acc(p0, l, r)
        r9: pl.Tensor[[256, 256], pl.FP32] = pl.tile.store(p1, [0, 0], y)
        p2: pl.Tile[[1, 64], pl.FP32, pl.Mem.Acc] = pl.tile.gemv_bias(l, r, bias)
        r11: pl.Tensor[[256, 256], pl.FP32] = pl.tile.store(p2, [1, 0], y)
