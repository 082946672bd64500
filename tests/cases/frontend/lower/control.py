# Loops that carry scalars and tiles, a loop with a condition, branches with results, barriers, arrays.
# pypto.program: Control
import pypto.language as pl

N = pl.dynamic("N")

@pl.program
class Control:
    @pl.function(type=pl.FunctionType.AIV)
    def kernel(self, x: pl.Tensor[[N, 64], pl.FP32], flag: pl.Scalar[pl.INT32], scale: pl.Scalar[pl.FP32], y: pl.Out[pl.Tensor[[N, 64], pl.FP32]], counts: pl.InOut[pl.Tensor[[8], pl.INT32]]):
        zero: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.full([16, 64], dtype=pl.FP32, value=0.0)
        places: pl.Array[4, pl.INT32] = pl.array.create(4, dtype=pl.INT32)
        for i, (sum, rows, out) in pl.range(0, N // 16, 1, init_values=(zero, 0, y)):
            part: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [i * 16, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
            next_sum: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(sum, part)
            next_rows: pl.Scalar[pl.INDEX] = pl.min(rows + 16, N)
            pl.system.bar_v()
            next_out: pl.Tensor[[N, 64], pl.FP32] = pl.tile.store(next_sum, [i * 16, 0], out)
            total, all_rows, done = pl.yield_(next_sum, next_rows, next_out)
        if flag > pl.const(0, pl.INT32) and all_rows != 0:
            raised: pl.Scalar[pl.FP32] = scale * 2.0 + 0.5
            scaled: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.muls(total, raised)
            result: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.yield_(scaled)
        else:
            result: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.yield_(total)
        for (left,) in pl.while_(init_values=(all_rows,)):
            pl.cond(left > 1)
            place: pl.Array[4, pl.INT32] = pl.array.update_element(places, left % 4, pl.cast(left, pl.INT32))
            rest: pl.Scalar[pl.INDEX] = pl.yield_(left // 2)
        seen: pl.Scalar[pl.INT32] = pl.array.get_element(places, 1)
        before: pl.Scalar[pl.INT32] = pl.tensor.read(counts, [3])
        pl.tensor.write(counts, [pl.cast(rest, pl.INDEX) + 2], before + seen)
        rows_there: pl.Scalar[pl.INDEX] = pl.tensor.dim(x, 0)
        pl.system.bar_all()
        last: pl.Tensor[[N, 64], pl.FP32] = pl.tile.store(result, [pl.max(rows_there - 16, 0), 0], done)
        return last
    @pl.function(type=pl.FunctionType.Orchestration)
    def host(self, x: pl.Tensor[[N, 64], pl.FP32], y: pl.Out[pl.Tensor[[N, 64], pl.FP32]]):
        return y
