# Addresses that programs must get; see tests/all/frontend.rs for the directives.

# ---- a_dying_input_is_overwritten: an operation may write its result over an argument that is read for the last time
# run --planner=reuse
# tile t Vec 0 4096
# tile u Vec 0 4096
# tile v Vec 0 4096
# allocs mem_vec_2
# pypto.program: ADyingInputIsOverwritten
import pypto.language as pl

@pl.program
class ADyingInputIsOverwritten:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        u: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.adds(t, 1.0)
        v: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.exp(u)
        pl.tile.store(v, [0, 0], out)

# ---- a_living_input_is_not: but not over one that is read again
# run --planner=reuse
# tile t Vec 0 4096
# tile u Vec 4096 4096
# tile v Vec 0 4096
# pypto.program: ALivingInputIsNot
import pypto.language as pl

@pl.program
class ALivingInputIsNot:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        u: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.adds(t, 1.0)
        v: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(u, t)
        pl.tile.store(v, [0, 0], out)

# ---- never_in_place: the reciprocal is never computed in place; its result goes elsewhere, the next one comes back
# run --planner=reuse
# tile t Vec 0 4096
# tile u Vec 4096 4096
# tile v Vec 0 4096
# allocs mem_vec_2 mem_vec_3
# pypto.program: NeverInPlace
import pypto.language as pl

@pl.program
class NeverInPlace:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        u: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.recip(t)
        v: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.exp(u)
        pl.tile.store(v, [0, 0], out)

# ---- never_in_place_of_a_view: nor over the tile whose view it reads
# run --planner=reuse
# tile t Vec 0 4096
# tile r Vec 0 4096
# tile u Vec 4096 4096
# pypto.program: NeverInPlaceOfAView
import pypto.language as pl

@pl.program
class NeverInPlaceOfAView:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        r: pl.Tile[[32, 32], pl.FP32, pl.Mem.Vec] = pl.tile.reshape(t, [32, 32])
        u: pl.Tile[[32, 32], pl.FP32, pl.Mem.Vec] = pl.tile.recip(r)
        pl.tile.store(u, [0, 0], out)

# ---- not_over_one_argument: an expansion may write over the tile but not over the vector, which lies in the first place
# run --planner=reuse
# tile vector Vec 0 4096
# tile t Vec 4096 4096
# tile u Vec 4096 4096
# pypto.program: NotOverOneArgument
import pypto.language as pl

@pl.program
class NotOverOneArgument:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        vector: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        u: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.row_expand_mul(t, vector)
        pl.tile.store(u, [0, 0], out)

# ---- not_over_the_mask: a selection may not write over its mask and its working memory
# run --planner=reuse
# tile mask Vec 0 4096
# tile tmp Vec 4096 4096
# tile t Vec 8192 4096
# tile u Vec 12288 4096
# tile v Vec 8192 4096
# pypto.program: NotOverTheMask
import pypto.language as pl

@pl.program
class NotOverTheMask:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        mask: pl.Tile[[64, 64], pl.UINT8, pl.Mem.Vec] = pl.tile.create([64, 64], dtype=pl.UINT8, target_memory=pl.Mem.Vec)
        tmp: pl.Tile[[64, 64], pl.UINT8, pl.Mem.Vec] = pl.tile.create([64, 64], dtype=pl.UINT8, target_memory=pl.Mem.Vec)
        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        u: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        v: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.sel(mask, t, u, tmp)
        pl.tile.store(v, [0, 0], out)

# ---- widening: wider elements would be written before the narrower ones below them are read
# run --planner=reuse
# tile h Vec 0 2048
# tile f Vec 2048 4096
# pypto.program: Widening
import pypto.language as pl

@pl.program
class Widening:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        h: pl.Tile[[16, 64], pl.BF16, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        f: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.cast(h, target_type=pl.FP32, mode='none')
        pl.tile.store(f, [0, 0], out)

# ---- narrowing: narrower ones may be written over the wider ones, and the tile then has the bytes of the place
# run --planner=reuse
# tile f Vec 0 4096
# tile h Vec 0 4096
# allocs mem_vec_2
# pypto.program: Narrowing
import pypto.language as pl

@pl.program
class Narrowing:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        f: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        h: pl.Tile[[16, 64], pl.BF16, pl.Mem.Vec] = pl.tile.cast(f, target_type=pl.BF16, mode='rint')
        pl.tile.store(h, [0, 0], out)

# ---- shape_and_element_do_not_matter: only bytes do
# run --planner=reuse
# tile t Vec 0 4096
# tile u Vec 0 4096
# allocs mem_vec_2
# pypto.program: ShapeAndElementDoNotMatter
import pypto.language as pl

@pl.program
class ShapeAndElementDoNotMatter:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        pl.tile.store(t, [0, 0], out)
        u: pl.Tile[[8, 128], pl.INT16, pl.Mem.Vec] = pl.tile.create([8, 128], dtype=pl.INT16, target_memory=pl.Mem.Vec)
        pl.tile.store(u, [0, 0], out)

# ---- needed_in_the_loop: a tile from before a loop that is read inside lives to the end of the loop, although the text reads it first
# run --planner=reuse
# tile w Vec 0 4096
# tile t Vec 4096 4096
# tile u Vec 8192 4096
# tile v Vec 8192 4096
# allocs mem_vec_2 mem_vec_3 mem_vec_4
# pypto.program: NeededInTheLoop
import pypto.language as pl

@pl.program
class NeededInTheLoop:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        w: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        for i in pl.range(4):
            t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.adds(w, 1.0)
            u: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
            v: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(t, u)
            pl.tile.store(t, [0, 0], out)
            pl.tile.store(v, [0, 0], out)

# ---- carried_by_a_loop: the sum is computed where the carried value is; what the body loads may not lie there
# run --planner=reuse
# tile w Vec 0 4096
# tile zero Vec 4096 4096
# tile x Vec 8192 4096
# tile y Vec 8192 4096
# tile next Vec 4096 4096
# tile total Vec 4096 4096
# tile z Vec 0 4096
# allocs mem_vec_2 mem_vec_3 mem_vec_4
# pypto.program: CarriedByALoop
import pypto.language as pl

@pl.program
class CarriedByALoop:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        w: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        zero: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        for i, (sum,) in pl.range(4, init_values=(zero,)):
            x: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
            y: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(x, w)
            next: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(sum, y)
            total: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.yield_(next)
        z: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.exp(total)
        pl.tile.store(z, [0, 0], out)
        pl.tile.store(total, [0, 0], out)

# ---- results_of_branches: both values are one value on ways that exclude each other; the second is copied into the bytes of the first
# run --planner=reuse
# tile t Vec 0 4096
# tile u Vec 4096 4096
# tile v Vec 0 4096
# tile v_mv Vec 4096 4096
# tile e Vec 4096 4096
# tile w Vec 0 4096
# allocs mem_vec_2 mem_vec_3
# pypto.program: ResultsOfBranches
import pypto.language as pl

@pl.program
class ResultsOfBranches:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        if n > 2:
            u: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.adds(t, 1.0)
            e: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.yield_(u)
        else:
            v: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.adds(t, 2.0)
            e: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.yield_(v)
        w: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.adds(e, 1.0)
        pl.tile.store(w, [0, 0], out)

# ---- a_result_is_read_later: reading the result of a branch keeps the bytes of both values
# run --planner=reuse
# tile u Vec 4096 4096
# tile e Vec 4096 4096
# tile v Vec 0 4096
# tile x Vec 8192 4096
# tile y Vec 0 4096
# pypto.program: AResultIsReadLater
import pypto.language as pl

@pl.program
class AResultIsReadLater:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        if n > 2:
            u: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.adds(t, 1.0)
            e: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.yield_(u)
        else:
            v: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.adds(t, 2.0)
            e: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.yield_(v)
        x: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        y: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(x, e)
        pl.tile.store(y, [0, 0], out)

# ---- declared_allocations_stay_alone: nothing shares a declared allocation, whenever it is needed
# run --planner=reuse
# tile ring0 Vec 0 4096
# tile t Vec 4096 4096
# tile u Vec 4096 4096
# pypto.program: DeclaredAllocationsStayAlone
import pypto.language as pl

@pl.program
class DeclaredAllocationsStayAlone:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        ring0: pl.Tile[[16, 64], pl.FP32, pl.MemRef("ring"), pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        pl.tile.store(ring0, [0, 0], out)
        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        u: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.exp(t)
        pl.tile.store(u, [0, 0], out)

# ---- two_tiles_in_one_slot: the author gave one slot to two tiles that are needed at once
# run --planner=reuse
# error tiles 's' and 't' have the same declared slot and are needed at once
# pypto.program: TwoTilesInOneSlot
import pypto.language as pl

@pl.program
class TwoTilesInOneSlot:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        s: pl.Tile[[16, 64], pl.FP32, pl.MemRef("ring"), pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        t: pl.Tile[[16, 64], pl.FP32, pl.MemRef("ring"), pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        u: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(s, t)
        pl.tile.store(u, [0, 0], out)

# ---- largest_first: the small early tile goes into the place of the large late one, not the other way round
# run --planner=reuse
# tile small Vec 3072 4096
# tile kept Vec 0 3072
# tile large Vec 3072 4096
# allocs mem_vec_3 mem_vec_4
# pypto.program: LargestFirst
import pypto.language as pl

@pl.program
class LargestFirst:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        small: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [8, 64], [8, 64], target_memory=pl.Mem.Vec)
        kept: pl.Tile[[12, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [12, 64], [12, 64], target_memory=pl.Mem.Vec)
        pl.tile.store(small, [0, 0], out)
        large: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        pl.tile.store(large, [0, 0], out)
        pl.tile.store(kept, [0, 0], out)

# ---- windows_keep_their_source: a tile is needed as long as a window of it is read
# run --planner=reuse
# tile t Vec 0 4096
# tile w Vec 2048 2048
# tile u Vec 4096 4096
# tile x Vec 4096 4096
# pypto.program: WindowsKeepTheirSource
import pypto.language as pl

@pl.program
class WindowsKeepTheirSource:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        w: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec] = pl.tile.slice(t, [8, 64], [8, 0])
        u: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        pl.tile.store(u, [0, 0], out)
        x: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        pl.tile.store(x, [0, 0], out)
        pl.tile.store(w, [0, 0], out)

# ---- not_over_a_window_behind_the_first_byte: a result at the first byte would run over the window at byte 1024 before that is read
# run --planner=reuse
# tile t Vec 0 4096
# tile w Vec 1024 3072
# tile u Vec 4096 3072
# pypto.program: NotOverAWindowBehindTheFirstByte
import pypto.language as pl

@pl.program
class NotOverAWindowBehindTheFirstByte:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        w: pl.Tile[[12, 64], pl.FP32, pl.Mem.Vec] = pl.tile.slice(t, [12, 64], [4, 0])
        u: pl.Tile[[12, 64], pl.FP32, pl.Mem.Vec] = pl.tile.exp(w)
        pl.tile.store(u, [0, 0], out)

# ---- over_a_window_at_the_first_byte: where both begin at the same byte, each element is read before it is written
# run --planner=reuse
# tile t Vec 0 4096
# tile w Vec 0 3072
# tile u Vec 0 4096
# pypto.program: OverAWindowAtTheFirstByte
import pypto.language as pl

@pl.program
class OverAWindowAtTheFirstByte:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        w: pl.Tile[[12, 64], pl.FP32, pl.Mem.Vec] = pl.tile.slice(t, [12, 64], [0, 0])
        u: pl.Tile[[12, 64], pl.FP32, pl.Mem.Vec] = pl.tile.exp(w)
        pl.tile.store(u, [0, 0], out)

# ---- spaces_are_apart: each space has places of its own
# run --planner=reuse
# tile m Mat 0 2048
# tile l Left 0 2048
# tile r Right 0 2048
# tile c Acc 0 4096
# tile d Acc 0 4096
# allocs mem_mat_2 mem_left_3 mem_right_4 mem_acc_5
# pypto.program: SpacesAreApart
import pypto.language as pl

@pl.program
class SpacesAreApart:
    @pl.function(type=pl.FunctionType.AIC)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        m: pl.Tile[[32, 32], pl.BF16, pl.Mem.Mat] = pl.tile.load(a, [0, 0], [32, 32], [32, 32], target_memory=pl.Mem.Mat)
        l: pl.Tile[[32, 32], pl.BF16, pl.Mem.Left] = pl.tile.move(m, target_memory=pl.Mem.Left)
        r: pl.Tile[[32, 32], pl.BF16, pl.Mem.Right] = pl.tile.move(m, target_memory=pl.Mem.Right)
        c: pl.Tile[[32, 32], pl.FP32, pl.Mem.Acc] = pl.tile.matmul(l, r)
        d: pl.Tile[[32, 32], pl.FP32, pl.Mem.Acc] = pl.tile.matmul_acc(c, l, r)
        pl.tile.store(d, [0, 0], out)

# ---- one_seed_for_two_loops: a tile without value begins two loops, whose results are both read: the second loop gets another one
# run --planner=reuse
# tile t Vec 0 4096
# tile e Vec 4096 4096
# tile seed_mv Vec 8192 4096
# tile f Vec 8192 4096
# tile w Vec 0 4096
# pypto.program: OneSeedForTwoLoops
import pypto.language as pl

@pl.program
class OneSeedForTwoLoops:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        seed: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.create([16, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec)
        for i, (c,) in pl.range(4, init_values=(seed,)):
            u: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.exp(t)
            e: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.yield_(u)
        for j, (d,) in pl.range(4, init_values=(seed,)):
            v: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.recip(t)
            f: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.yield_(v)
        w: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(e, f)
        pl.tile.store(w, [0, 0], out)

# ---- one_seed_for_a_loop_in_a_loop: an accumulator without value begins the inner loop each time
# run --planner=reuse
# tile seed Acc 0 4096
# tile next Acc 0 4096
# tile sum Acc 0 4096
# pypto.program: OneSeedForALoopInALoop
import pypto.language as pl

@pl.program
class OneSeedForALoopInALoop:
    @pl.function(type=pl.FunctionType.AIC)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        m: pl.Tile[[32, 32], pl.BF16, pl.Mem.Mat] = pl.tile.load(a, [0, 0], [32, 32], [32, 32], target_memory=pl.Mem.Mat)
        l: pl.Tile[[32, 32], pl.BF16, pl.Mem.Left] = pl.tile.move(m, target_memory=pl.Mem.Left)
        r: pl.Tile[[32, 32], pl.BF16, pl.Mem.Right] = pl.tile.move(m, target_memory=pl.Mem.Right)
        seed: pl.Tile[[32, 32], pl.FP32, pl.Mem.Acc] = pl.tile.create([32, 32], dtype=pl.FP32, target_memory=pl.Mem.Acc)
        for i in pl.range(4):
            for k, (acc,) in pl.range(4, init_values=(seed,)):
                next: pl.Tile[[32, 32], pl.FP32, pl.Mem.Acc] = pl.tile.matmul_acc(acc, l, r, k == 0)
                sum: pl.Tile[[32, 32], pl.FP32, pl.Mem.Acc] = pl.yield_(next)
            pl.tile.store(sum, [0, 0], out)
