# Tiles filled, extended, put together and turned; single elements.
# pypto.program: Moves
import pypto.language as pl

@pl.program
class Moves:
    @pl.function(type=pl.FunctionType.AIV)
    def kernel(self, x: pl.Tensor[[256, 256], pl.FP32], n: pl.Scalar[pl.INDEX], y: pl.Out[pl.Tensor[[256, 256], pl.FP32]]):
        a: pl.Tile[[32, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Vec)
        half: pl.Tile[[32, 64], pl.FP32, pl.Mem.Vec] = pl.tile.full([32, 64], dtype=pl.FP32, value=0.5)
        wide: pl.Tile[[32, 128], pl.FP32, pl.Mem.Vec] = pl.tile.concat(a, half)
        r4: pl.Tensor[[256, 256], pl.FP32] = pl.tile.store(wide, [0, 0], y)
        part: pl.Tile[[32, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[n, 64])] = pl.tile.load(x, [0, 0], [32, 64], [n, 64], target_memory=pl.Mem.Vec)
        filled: pl.Tile[[32, 64], pl.FP32, pl.Mem.Vec, pl.TileView(pad=pl.PadValue.zero)] = pl.tile.fillpad(part, pad_value=pl.PadValue.zero)
        again: pl.Tile[[32, 64], pl.FP32, pl.Mem.Vec, pl.TileView(pad=pl.PadValue.zero)] = pl.tile.fillpad_inplace(filled)
        grown: pl.Tile[[48, 64], pl.FP32, pl.Mem.Vec, pl.TileView(pad=pl.PadValue.max)] = pl.tile.fillpad_expand(part, [48, 64], pad_value=pl.PadValue.max)
        lower: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.slice(a, [16, 64], [16, 0])
        moving: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec] = pl.tile.slice(a, [8, 64], [n, 0])
        twice: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(lower, lower)
        there: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(moving, moving)
        flat: pl.Tile[[4, 128], pl.FP32, pl.Mem.Vec] = pl.tile.reshape(there, [4, 128])
        bits: pl.Tile[[4, 128], pl.INT32, pl.Mem.Vec] = pl.tile.reinterpret_view(flat, dtype=pl.INT32)
        shown: pl.Tile[[48, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[n, 64], pad=pl.PadValue.max)] = pl.tile.set_validshape(grown, n, 64)
        copy: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.move(twice, target_memory=pl.Mem.Vec)
        joined: pl.Tile[[32, 64], pl.FP32, pl.Mem.Vec] = pl.tile.assemble(a, copy, [0, 0])
        turn_tmp: pl.Tile[[32, 64], pl.FP32, pl.Mem.Vec] = pl.tile.create([32, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec)
        turned: pl.Tile[[64, 32], pl.FP32, pl.Mem.Vec] = pl.tile.transpose(joined, 0, 1, turn_tmp)
        r20: pl.Tensor[[256, 256], pl.FP32] = pl.tile.store(turned, [0, 0], y)
        r21: pl.Tensor[[256, 256], pl.FP32] = pl.tile.store(shown, [64, 0], y)
        v: pl.Scalar[pl.FP32] = pl.tile.read(joined, [1, n])
        pl.tile.write(joined, [0, 3], v)
        r22: pl.Tensor[[256, 256], pl.FP32] = pl.tile.store(joined, [128, 0], y)
        r23: pl.Tensor[[256, 256], pl.FP32] = pl.tile.store(flat, [192, 0], y)
