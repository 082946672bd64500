# Each row of x divided by the root of the mean of its squares, 16 rows a step.
import pypto.language as pl

ROWS = pl.dynamic("ROWS")

@pl.program
class RmsNorm:
    @pl.function(type=pl.FunctionType.AIV)
    def rms_norm(self, x: pl.Tensor[[ROWS, 256], pl.FP32], y: pl.Out[pl.Tensor[[ROWS, 256], pl.FP32]]):
        for i, (out,) in pl.range(0, ROWS // 16, init_values=(y,)):
            rows: pl.Tile[[16, 256], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [i * 16, 0], [16, 256], [16, 256], target_memory=pl.Mem.Vec)
            squares: pl.Tile[[16, 256], pl.FP32, pl.Mem.Vec] = pl.tile.mul(rows, rows)
            tmp: pl.Tile[[16, 256], pl.FP32, pl.Mem.Vec] = pl.tile.create([16, 256], dtype=pl.FP32, target_memory=pl.Mem.Vec)
            sums: pl.Tile[[16, 1], pl.FP32, pl.Mem.Vec] = pl.tile.row_sum(squares, tmp)
            line: pl.Tile[[1, 16], pl.FP32, pl.Mem.Vec] = pl.tile.reshape(sums, [1, 16])
            means: pl.Tile[[1, 16], pl.FP32, pl.Mem.Vec] = pl.tile.muls(line, 0.00390625)
            safe: pl.Tile[[1, 16], pl.FP32, pl.Mem.Vec] = pl.tile.adds(means, 1e-06)
            roots: pl.Tile[[1, 16], pl.FP32, pl.Mem.Vec] = pl.tile.sqrt(safe)
            column: pl.Tile[[16, 1], pl.FP32, pl.Mem.Vec] = pl.tile.reshape(roots, [16, 1])
            normal: pl.Tile[[16, 256], pl.FP32, pl.Mem.Vec] = pl.tile.row_expand_div(rows, column)
            stored: pl.Tensor[[ROWS, 256], pl.FP32] = pl.tile.store(normal, [i * 16, 0], out)
            result: pl.Tensor[[ROWS, 256], pl.FP32] = pl.yield_(stored)
        return result
