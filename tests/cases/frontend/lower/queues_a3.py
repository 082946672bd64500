# A cube and a vector kernel that exchange tiles through global memory; block and sub-block numbers.
# pypto.program: Queues
import pypto.language as pl

@pl.program
class Queues:
    @pl.function(type=pl.FunctionType.AIC)
    def both_aic(self, x: pl.Tensor[[64, 64], pl.FP16], w: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], __gm_pipe_buffer: pl.Out[pl.Tensor[[1], pl.FP32]]):
        back: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='both_v2c_slot_buffer', size=16384, base=-1)
        there: pl.Scalar[pl.INT32] = pl.system.import_peer_buffer(name='both_c2v_slot_buffer', peer_func='both_aiv')
        pl.system.aic_initialize_pipe(there, back, dir_mask=3, slot_size=8192, slot_num=2)
        xm: pl.Tile[[32, 64], pl.FP16, pl.Mem.Mat] = pl.tile.load(x, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Mat)
        wm: pl.Tile[[64, 64], pl.FP16, pl.Mem.Mat] = pl.tile.load(w, [0, 0], [64, 64], [64, 64], target_memory=pl.Mem.Mat)
        l: pl.Tile[[32, 64], pl.FP16, pl.Mem.Left] = pl.tile.move(xm, target_memory=pl.Mem.Left)
        r: pl.Tile[[64, 64], pl.FP16, pl.Mem.Right] = pl.tile.move(wm, target_memory=pl.Mem.Right)
        p: pl.Tile[[32, 64], pl.FP32, pl.Mem.Acc] = pl.tile.matmul(l, r)
        pl.tile.tpush_to_aiv(p, split=0)
        got: pl.Tile[[32, 64], pl.FP16, pl.Mem.Mat] = pl.tile.tpop_from_aiv(split=0)
        l2: pl.Tile[[32, 64], pl.FP16, pl.Mem.Left] = pl.tile.move(got, target_memory=pl.Mem.Left)
        pl.system.tfree_to_aiv(got, split=0)
        q: pl.Tile[[32, 64], pl.FP32, pl.Mem.Acc] = pl.tile.matmul(l2, r)
        stored: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(q, [0, 0], y)
    @pl.function(type=pl.FunctionType.AIV)
    def both_aiv(self, x: pl.Tensor[[64, 64], pl.FP16], w: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], __gm_pipe_buffer: pl.Out[pl.Tensor[[1], pl.FP32]]):
        pl.func_attr({"dual_aiv_dispatch": True})
        there: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='both_c2v_slot_buffer', size=16384, base=-1)
        back: pl.Scalar[pl.INT32] = pl.system.import_peer_buffer(name='both_v2c_slot_buffer', peer_func='both_aic')
        pl.system.aiv_initialize_pipe(there, back, dir_mask=3, slot_size=8192, slot_num=2)
        lane: pl.Scalar[pl.INDEX] = pl.tile.get_subblock_idx()
        block: pl.Scalar[pl.INDEX] = pl.tile.get_block_idx()
        blocks: pl.Scalar[pl.INDEX] = pl.tile.get_block_num()
        got: pl.Tile[[32, 64], pl.FP32, pl.Mem.Vec] = pl.tile.tpop_from_aic(split=0)
        if lane + block < blocks:
            twice: pl.Tile[[32, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(got, got)
            kept: pl.Tile[[32, 64], pl.FP32, pl.Mem.Vec] = pl.yield_(twice)
        else:
            negative: pl.Tile[[32, 64], pl.FP32, pl.Mem.Vec] = pl.tile.neg(got)
            kept: pl.Tile[[32, 64], pl.FP32, pl.Mem.Vec] = pl.yield_(negative)
        pl.system.tfree_to_aic(got, split=0)
        half: pl.Tile[[32, 64], pl.FP16, pl.Mem.Vec] = pl.tile.cast(kept, target_type=pl.FP16, mode='round')
        pl.tile.tpush_to_aic(half, split=0)
