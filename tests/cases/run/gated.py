# y = x * gate * sigmoid(gate) in f16, computed in f32, 16 rows a step; the cores take steps in turn.
import pypto.language as pl

@pl.program
class Gated:
    @pl.function(type=pl.FunctionType.AIV)
    def gated(self, x: pl.Tensor[[64, 128], pl.FP16], gate: pl.Tensor[[64, 128], pl.FP16], y: pl.Out[pl.Tensor[[64, 128], pl.FP16]]):
        block: pl.Scalar[pl.INDEX] = pl.tile.get_block_idx()
        blocks: pl.Scalar[pl.INDEX] = pl.tile.get_block_num()
        for i, (out,) in pl.range(block, 4, blocks, init_values=(y,)):
            xh: pl.Tile[[16, 128], pl.FP16, pl.Mem.Vec] = pl.tile.load(x, [i * 16, 0], [16, 128], [16, 128], target_memory=pl.Mem.Vec)
            gh: pl.Tile[[16, 128], pl.FP16, pl.Mem.Vec] = pl.tile.load(gate, [i * 16, 0], [16, 128], [16, 128], target_memory=pl.Mem.Vec)
            xf: pl.Tile[[16, 128], pl.FP32, pl.Mem.Vec] = pl.tile.cast(xh, target_type=pl.FP32, mode='none')
            gf: pl.Tile[[16, 128], pl.FP32, pl.Mem.Vec] = pl.tile.cast(gh, target_type=pl.FP32, mode='none')
            negative: pl.Tile[[16, 128], pl.FP32, pl.Mem.Vec] = pl.tile.neg(gf)
            power: pl.Tile[[16, 128], pl.FP32, pl.Mem.Vec] = pl.tile.exp(negative)
            below: pl.Tile[[16, 128], pl.FP32, pl.Mem.Vec] = pl.tile.adds(power, 1.0)
            weight: pl.Tile[[16, 128], pl.FP32, pl.Mem.Vec] = pl.tile.div(gf, below)
            product: pl.Tile[[16, 128], pl.FP32, pl.Mem.Vec] = pl.tile.mul(xf, weight)
            half: pl.Tile[[16, 128], pl.FP16, pl.Mem.Vec] = pl.tile.cast(product, target_type=pl.FP16, mode='rint')
            stored: pl.Tensor[[64, 128], pl.FP16] = pl.tile.store(half, [i * 16, 0], out)
            result: pl.Tensor[[64, 128], pl.FP16] = pl.yield_(stored)
        return result
