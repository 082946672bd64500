# Addresses that programs must get; see tests/all/frontend.rs for the directives.

# ---- many_lifetimes: a loop with a branch whose tiles are needed one after another; two tiles from before it stay
# run --planner=reuse
# tile x Vec 0 16384
# tile y Vec 16384 16384
# tile e Vec 32768 16384
# tile f Vec 49152 16384
# tile g Vec 49152 16384
# tile h Vec 49152 16384
# tile k Vec 49152 16384
# tile r Vec 32768 16384
# allocs mem_vec_2 mem_vec_3 mem_vec_4 mem_vec_5
# pypto.program: ManyLifetimes
import pypto.language as pl

@pl.program
class ManyLifetimes:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[256, 512], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[256, 512], pl.FP32]]):
        x: pl.Tile[[16, 256], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 256], [16, 256], target_memory=pl.Mem.Vec)
        y: pl.Tile[[16, 256], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 256], [16, 256], target_memory=pl.Mem.Vec)
        for i in pl.range(n):
            e: pl.Tile[[16, 256], pl.FP32, pl.Mem.Vec] = pl.tile.add(x, y)
            if i > 2:
                f: pl.Tile[[16, 256], pl.FP32, pl.Mem.Vec] = pl.tile.mul(e, x)
                g: pl.Tile[[16, 256], pl.FP32, pl.Mem.Vec] = pl.tile.add(f, y)
                pl.tile.store(g, [0, 0], out)
            else:
                h: pl.Tile[[16, 256], pl.FP32, pl.Mem.Vec] = pl.tile.mul(e, y)
                k: pl.Tile[[16, 256], pl.FP32, pl.Mem.Vec] = pl.tile.add(h, e)
                pl.tile.store(k, [0, 0], out)
            r: pl.Tile[[16, 256], pl.FP32, pl.Mem.Vec] = pl.tile.add(e, e)
            pl.tile.store(r, [0, 0], out)

# ---- carried_sum: the first value, the carried one, the yielded one and the result are one buffer
# run --planner=reuse
# tile first Vec 0 4096
# tile t Vec 4096 4096
# tile next Vec 0 4096
# tile sum Vec 0 4096
# pypto.program: CarriedSum
import pypto.language as pl

@pl.program
class CarriedSum:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        first: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        for i, (acc,) in pl.range(n, init_values=(first,)):
            t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
            next: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(acc, t)
            sum: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.yield_(next)
        pl.tile.store(sum, [0, 0], out)

# ---- lost_sum: what is not yielded is not carried: the first value is read again on each trip and keeps its bytes
# run --planner=reuse
# tile acc Vec 0 4096
# tile t Vec 4096 4096
# tile next Vec 4096 4096
# pypto.program: LostSum
import pypto.language as pl

@pl.program
class LostSum:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        acc: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        for i in pl.range(n):
            t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
            next: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(acc, t)
        pl.tile.store(acc, [0, 0], out)

# ---- loop_result_is_read_later: what is first written behind a loop may take the bytes of a tile of the loop, never those of its result
# run --planner=reuse
# tile first Vec 0 16384
# tile chunk Vec 16384 16384
# tile next Vec 0 16384
# tile sum Vec 0 16384
# tile rest Vec 16384 16384
# tile both Vec 0 16384
# allocs mem_vec_2 mem_vec_3
# pypto.program: LoopResultIsReadLater
import pypto.language as pl

@pl.program
class LoopResultIsReadLater:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        first: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=pl.Mem.Vec)
        for i, (acc,) in pl.range(4, init_values=(first,)):
            chunk: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=pl.Mem.Vec)
            next: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(acc, chunk)
            sum: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.yield_(next)
        rest: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=pl.Mem.Vec)
        both: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(sum, rest)
        pl.tile.store(both, [0, 0], out)

# ---- transpose_is_not_in_place: source and working memory are read for the last time, and still the result lies on neither
# run --planner=reuse
# tile src Vec 0 1024
# tile tmp Vec 1024 1024
# tile dst Vec 2048 1024
# pypto.program: TransposeIsNotInPlace
import pypto.language as pl

@pl.program
class TransposeIsNotInPlace:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        src: pl.Tile[[16, 16], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 16], [16, 16], target_memory=pl.Mem.Vec)
        tmp: pl.Tile[[16, 16], pl.FP32, pl.Mem.Vec] = pl.tile.create([16, 16], dtype=pl.FP32, target_memory=pl.Mem.Vec)
        dst: pl.Tile[[16, 16], pl.FP32, pl.Mem.Vec] = pl.tile.transpose(src, 0, 1, tmp)
        pl.tile.store(dst, [0, 0], out)

# ---- concat_is_not_in_place: the result overlaps neither source
# run --planner=reuse
# tile l Vec 0 1024
# tile r Vec 1024 1024
# tile dst Vec 2048 2048
# pypto.program: ConcatIsNotInPlace
import pypto.language as pl

@pl.program
class ConcatIsNotInPlace:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        l: pl.Tile[[16, 16], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 16], [16, 16], target_memory=pl.Mem.Vec)
        r: pl.Tile[[16, 16], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 16], [16, 16], target_memory=pl.Mem.Vec)
        dst: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.tile.concat(l, r)
        pl.tile.store(dst, [0, 0], out)

# ---- add_is_in_place: the sum of a tile with itself takes its bytes
# run --planner=reuse
# tile x Vec 0 1024
# tile y Vec 0 1024
# allocs mem_vec_2
# pypto.program: AddIsInPlace
import pypto.language as pl

@pl.program
class AddIsInPlace:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        x: pl.Tile[[16, 16], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 16], [16, 16], target_memory=pl.Mem.Vec)
        y: pl.Tile[[16, 16], pl.FP32, pl.Mem.Vec] = pl.tile.add(x, x)
        pl.tile.store(y, [0, 0], out)

# ---- top_of_the_vector_memory: 188 KiB are needed at once: the memory has 192, but its last 8 are kept free
# run --planner=reuse
# error Vec buffer usage (192512 bytes) exceeds platform limit (188416 bytes)
# error the top 8192 bytes of
# pypto.program: TopOfTheVectorMemory
import pypto.language as pl

@pl.program
class TopOfTheVectorMemory:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[256, 512], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[256, 512], pl.FP32]]):
        x: pl.Tile[[128, 120], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [128, 120], [128, 120], target_memory=pl.Mem.Vec)
        y: pl.Tile[[128, 120], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [128, 120], [128, 120], target_memory=pl.Mem.Vec)
        z: pl.Tile[[128, 120], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [128, 120], [128, 120], target_memory=pl.Mem.Vec)
        t: pl.Tile[[16, 128], pl.FP32, pl.Mem.Vec] = pl.tile.full([16, 128], dtype=pl.FP32, value=1.0)
        s: pl.Tile[[128, 120], pl.FP32, pl.Mem.Vec] = pl.tile.add(x, y)
        u: pl.Tile[[128, 120], pl.FP32, pl.Mem.Vec] = pl.tile.add(s, z)
        pl.tile.store(t, [0, 0], out)
        pl.tile.store(u, [0, 0], out)

# ---- top_of_the_vector_memory_given_free: the same fits when nothing is kept free
# run --planner=reuse --reserve=vec:0
# tile x Vec 0 61440
# tile y Vec 61440 61440
# tile z Vec 122880 61440
# tile t Vec 184320 8192
# tile s Vec 0 61440
# tile u Vec 0 61440
# pypto.program: TopOfTheVectorMemoryGivenFree
import pypto.language as pl

@pl.program
class TopOfTheVectorMemoryGivenFree:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[256, 512], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[256, 512], pl.FP32]]):
        x: pl.Tile[[128, 120], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [128, 120], [128, 120], target_memory=pl.Mem.Vec)
        y: pl.Tile[[128, 120], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [128, 120], [128, 120], target_memory=pl.Mem.Vec)
        z: pl.Tile[[128, 120], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [128, 120], [128, 120], target_memory=pl.Mem.Vec)
        t: pl.Tile[[16, 128], pl.FP32, pl.Mem.Vec] = pl.tile.full([16, 128], dtype=pl.FP32, value=1.0)
        s: pl.Tile[[128, 120], pl.FP32, pl.Mem.Vec] = pl.tile.add(x, y)
        u: pl.Tile[[128, 120], pl.FP32, pl.Mem.Vec] = pl.tile.add(s, z)
        pl.tile.store(t, [0, 0], out)
        pl.tile.store(u, [0, 0], out)

# ---- reserve_forces_reuse: three tiles of 48 KiB, one needed after another, beside a queue of 64 KiB
# run --planner=reuse
# reserve c2v 0
# tile x Vec 65536 49152
# tile y Vec 65536 49152
# tile z Vec 65536 49152
# pypto.program: ReserveForcesReuse
import pypto.language as pl

@pl.program
class ReserveForcesReuse:
    @pl.function(type=pl.FunctionType.AIV)
    def main(a: pl.Tensor[[256, 512], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[256, 512], pl.FP32]]):
        fifo: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='c2v', size=65536, base=-1)
        x: pl.Tile[[96, 128], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [96, 128], [96, 128], target_memory=pl.Mem.Vec)
        y: pl.Tile[[96, 128], pl.FP32, pl.Mem.Vec] = pl.tile.add(x, x)
        z: pl.Tile[[96, 128], pl.FP32, pl.Mem.Vec] = pl.tile.add(y, y)
        pl.tile.store(z, [0, 0], out)

# ---- reserve_without_reuse: the same tiles one behind another do not fit
# run --planner=sequential
# error Vec buffer usage (212992 bytes) exceeds platform limit (188416 bytes)
# error The first 65536 bytes of that space are reserved by system.reserve_buffer
# pypto.program: ReserveWithoutReuse
import pypto.language as pl

@pl.program
class ReserveWithoutReuse:
    @pl.function(type=pl.FunctionType.AIV)
    def main(a: pl.Tensor[[256, 512], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[256, 512], pl.FP32]]):
        fifo: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='c2v', size=65536, base=-1)
        x: pl.Tile[[96, 128], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [96, 128], [96, 128], target_memory=pl.Mem.Vec)
        y: pl.Tile[[96, 128], pl.FP32, pl.Mem.Vec] = pl.tile.add(x, x)
        z: pl.Tile[[96, 128], pl.FP32, pl.Mem.Vec] = pl.tile.add(y, y)
        pl.tile.store(z, [0, 0], out)

# ---- one_tile_is_too_large: no sharing helps: the tile and its bytes are named
# run --planner=reuse
# error Right buffer usage (262144 bytes) exceeds platform limit (65536 bytes)
# error takes 262144 bytes at 0: r
# pypto.program: OneTileIsTooLarge
import pypto.language as pl

@pl.program
class OneTileIsTooLarge:
    @pl.function(type=pl.FunctionType.AIC)
    def main(a: pl.Tensor[[256, 512], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[256, 512], pl.FP32]]):
        m: pl.Tile[[128, 512], pl.FP32, pl.Mem.Mat] = pl.tile.load(a, [0, 0], [128, 512], [128, 512], target_memory=pl.Mem.Mat)
        r: pl.Tile[[128, 512], pl.FP32, pl.Mem.Right] = pl.tile.move(m, target_memory=pl.Mem.Right)

# ---- reserve_beside_a_given_address: a queue goes around the tile that the author placed
# run --planner=reuse
# reserve c2v 16384
# tile t Vec 12288 4096
# pypto.program: ReserveBesideAGivenAddress
import pypto.language as pl

@pl.program
class ReserveBesideAGivenAddress:
    @pl.function(type=pl.FunctionType.AIV)
    def main(a: pl.Tensor[[64, 64], pl.FP32, pl.MemRef(-1, 16384, 0)], out: pl.Out[pl.Tensor[[64, 64], pl.FP32, pl.MemRef(-1, 16384, 1)]]):
        mem_vec_2: pl.MemRefType = pl.tile.alloc(pl.Mem.Vec, 12288, 4096, 2)
        fifo: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='c2v', size=65536, base=-1)
        t: pl.Tile[[16, 64], pl.FP32, mem_vec_2, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        pl.tile.store(t, [0, 0], out)

# ---- window_of_a_popped_tile: a window of a popped tile is addressed from the pop, not from an allocation
# run --planner=reuse
# reserve fifo 0
# allocs
# no_error error
# pypto.program: WindowOfAPoppedTile
import pypto.language as pl

@pl.program
class WindowOfAPoppedTile:
    @pl.function(type=pl.FunctionType.AIV)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        fifo: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='fifo', size=32768, base=-1)
        pl.system.aiv_initialize_pipe(fifo, 0, dir_mask=1, slot_size=4096)
        got: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.tpop_from_aic(split=0)
        w: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec] = pl.tile.slice(got, [8, 64], [8, 0])
        pl.tile.store(w, [0, 0], out)
        pl.system.tfree_to_aic(got, split=0)

# ---- window_that_is_not_aligned: column 1 begins 4 bytes behind an aligned address and is stated there, never rounded; the lowering refuses it
# run --planner=reuse
# tile t Vec 0 512
# tile w Vec 4 484
# tile u Vec 512 64
# pypto.program: WindowThatIsNotAligned
import pypto.language as pl

@pl.program
class WindowThatIsNotAligned:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        t: pl.Tile[[16, 8], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 8], [16, 8], target_memory=pl.Mem.Vec)
        w: pl.Tile[[16, 1], pl.FP32, pl.Mem.Vec] = pl.tile.slice(t, [16, 1], [0, 1])
        u: pl.Tile[[16, 1], pl.FP32, pl.Mem.Vec] = pl.tile.muls(w, 0.5)
        pl.tile.store(u, [0, 0], out)

# ---- nothing_is_valid: a tile of which nothing is valid has its bytes all the same
# run --planner=reuse
# tile t Vec 0 4096
# tile u Vec 0 4096
# pypto.program: NothingIsValid
import pypto.language as pl

@pl.program
class NothingIsValid:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[0, 0])] = pl.tile.create([16, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec)
        u: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[0, 0])] = pl.tile.adds(t, 1.0)

# ---- less_than_nothing_is_valid: a constant valid extent of -1 would stop the core
# run --planner=reuse
# error an extent counts elements and cannot be -1
# pypto.program: LessThanNothingIsValid
import pypto.language as pl

@pl.program
class LessThanNothingIsValid:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[16, -1])] = pl.tile.load(a, [0, 0], [16, 64], [16, -1], target_memory=pl.Mem.Vec)
        pl.tile.store(t, [0, 0], out)

# ---- perhaps_less_than_nothing: a valid extent that may be negative at run time is the business of the caller
# run --planner=reuse
# tile t Vec 0 4096
# pypto.program: PerhapsLessThanNothing
import pypto.language as pl

@pl.program
class PerhapsLessThanNothing:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        w: pl.Scalar[pl.INDEX] = min(n - 384, 64)
        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[16, w])] = pl.tile.load(a, [0, 0], [16, 64], [16, w], target_memory=pl.Mem.Vec)
        pl.tile.store(t, [0, 0], out)
