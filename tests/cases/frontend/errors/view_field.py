# a view with a field and a layout that do not exist
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIV)
    def f(x: pl.Tensor[[64, 64], pl.FP32]):
        t: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid=[32, 64])] = pl.tile.create([64, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec)
        u: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec, pl.TileView(blayout=pl.TileLayout.rows)] = pl.tile.create([64, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec)
