# today's notation: branches, loops of every kind, slots, views, constants, operators, orchestration
# pypto.program: Control
import pypto.language as pl

ROWS = pl.dynamic("ROWS")

@pl.program
class Control:
    @pl.function(type=pl.FunctionType.AIV, level=pl.Level.AIV, role=pl.Role.SubWorker)
    def kernel(x: pl.Tensor[[ROWS, 64], pl.FP32, pl.TensorView(stride=[64, 1], layout=pl.TensorLayout.ND), pl.MemRef("mem_ddr_0", pl.const(0, pl.INT64), 0)], rows: pl.Scalar[pl.INDEX], y: pl.InOut[pl.Tensor[[ROWS, 64], pl.FP32]]) -> tuple[pl.Tensor[[ROWS, 64], pl.FP32], pl.Scalar[pl.INDEX]]:
        pl.func_attr({"dual_aiv_dispatch": True, "note": "it's \"quoted\""})
        ring: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 8192, pinned=True)
        mem_vec_1: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 4096)
        _: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='slots', size=4096, base=-1)
        blocks: pl.Scalar[pl.INDEX] = (rows + 15) // 16 - -1 * (rows - (rows - 1)) % 4
        for i, (out, count) in pl.pipeline(0, blocks, 2, stage=2, init_values=(y, rows), attrs={"depth": 2}):
            t: pl.Tile[[16, 64], pl.FP32, pl.MemRef(ring, i % 2 * 4096, 4096, slots=2)[i % 2], pl.Mem.Vec, pl.TileView(valid_shape=[pl.min(16, rows - i * 16), 64], pad=pl.PadValue.min)] = pl.tile.load(x, [i * 16, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
            if (i < 2 or not i == blocks - 1) and rows > 0:
                a: pl.Tile[[16, 64], pl.FP32, pl.MemRef(mem_vec_1, 0, 4096), pl.Mem.Vec] = pl.tile.and_(t, t)
                u: pl.Tile[[16, 64], pl.FP32, pl.MemRef(mem_vec_1, 0, 4096), pl.Mem.Vec] = pl.yield_(a)
            else:
                b: pl.Tile[[16, 64], pl.FP32, pl.MemRef(mem_vec_1, 0, 4096), pl.Mem.Vec] = pl.tile.muls(t, -1e+30)
                u: pl.Tile[[16, 64], pl.FP32, pl.MemRef(mem_vec_1, 0, 4096), pl.Mem.Vec] = pl.yield_(b)
            stored: pl.Tensor[[ROWS, 64], pl.FP32] = pl.tile.store(u, [i * 16, 0], out, atomic=pl.AtomicType.Add)
            next: pl.Scalar[pl.INDEX] = count - pl.const(-7, pl.INT32) * 2 ** 3
            out_rv, count_rv = pl.yield_(stored, next)
        for (n,) in pl.while_(init_values=(count_rv,)):
            pl.cond(n > 0)
            less: pl.Scalar[pl.INDEX] = n >> 1 & ~3
            n_rv: pl.Scalar[pl.INDEX] = pl.yield_(less)
        while n_rv < 0:
            pl.system.bar_all()
            break
        return out_rv, n_rv
    @pl.function(type=pl.FunctionType.AIC, external_source="kernels/product.cpp")
    def external(x: pl.Tensor[[16, 16], pl.FP16], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
        ...
    @pl.function(type=pl.FunctionType.Orchestration, level=pl.Level.CHIP, role=pl.Role.Orchestrator)
    def main(self, x: pl.Tensor[[ROWS, 64], pl.FP32], y: pl.InOut[pl.Tensor[[ROWS, 64], pl.FP32]]) -> pl.Tensor[[ROWS, 64], pl.FP32]:
        rows: pl.Scalar[pl.INDEX] = pl.tensor.dim(x, 0)
        ids: pl.Array[4, pl.TASK_ID] = pl.array.create(4, dtype=pl.TASK_ID)
        with pl.scope(mode=pl.ScopeMode.MANUAL):
            for i in pl.spmd(4):
                task: pl.Tuple[pl.Tensor[[ROWS, 64], pl.FP32], pl.Scalar[pl.TASK_ID]] = pl.submit(self.kernel, x, rows, y, deps=[ids[i]])
            done: pl.Tensor[[ROWS, 64], pl.FP32] = self.kernel(x, rows, y, attrs={"core_num": 4})
        for k in pl.unroll(2):
            pass
        return done
