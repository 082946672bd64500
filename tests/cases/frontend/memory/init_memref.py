# Addresses that programs must get; see tests/all/frontend.rs for the directives.

# ---- valid_shape_does_not_count: a tile has the bytes of its physical shape, whatever part of it is valid at run time
# run --planner=sequential
# tile t Vec 0 4096
# tile u Vec 4096 4096
# pypto.program: ValidShapeDoesNotCount
import pypto.language as pl

@pl.program
class ValidShapeDoesNotCount:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[n, 64])] = pl.tile.load(a, [0, 0], [16, 64], [n, 64], target_memory=pl.Mem.Vec)
        u: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.adds(t, 1.0)
        pl.tile.store(u, [0, 0], out)

# ---- physical_extents_are_constant: an extent that is known only at run time has no bytes
# run --planner=sequential
# error tile 't' has an extent (axis 0) that is known only at run time
# pypto.program: PhysicalExtentsAreConstant
import pypto.language as pl

@pl.program
class PhysicalExtentsAreConstant:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        t: pl.Tile[[n, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [n, 64], [n, 64], target_memory=pl.Mem.Vec)
        pl.tile.store(t, [0, 0], out)

# ---- accumulators_have_whole_blocks: 4 rows of an accumulator take 16, 20 take 32
# run --planner=sequential
# tile c Acc 0 4096
# tile d Acc 4096 8192
# tile e Acc 12288 4096
# pypto.program: AccumulatorsHaveWholeBlocks
import pypto.language as pl

@pl.program
class AccumulatorsHaveWholeBlocks:
    @pl.function(type=pl.FunctionType.AIC)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        ma: pl.Tile[[4, 16], pl.BF16, pl.Mem.Mat] = pl.tile.load(a, [0, 0], [4, 16], [4, 16], target_memory=pl.Mem.Mat)
        mb: pl.Tile[[16, 64], pl.BF16, pl.Mem.Mat] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Mat)
        mc: pl.Tile[[20, 16], pl.BF16, pl.Mem.Mat] = pl.tile.load(a, [0, 0], [20, 16], [20, 16], target_memory=pl.Mem.Mat)
        la: pl.Tile[[4, 16], pl.BF16, pl.Mem.Left] = pl.tile.move(ma, target_memory=pl.Mem.Left)
        lc: pl.Tile[[20, 16], pl.BF16, pl.Mem.Left] = pl.tile.move(mc, target_memory=pl.Mem.Left)
        rb: pl.Tile[[16, 64], pl.BF16, pl.Mem.Right] = pl.tile.move(mb, target_memory=pl.Mem.Right)
        c: pl.Tile[[4, 64], pl.FP32, pl.Mem.Acc] = pl.tile.matmul(la, rb)
        d: pl.Tile[[20, 64], pl.FP32, pl.Mem.Acc] = pl.tile.matmul(lc, rb)
        e: pl.Tile[[4, 64], pl.FP32, pl.Mem.Acc] = pl.tile.matmul(la, rb)
        pl.tile.store(c, [0, 0], out)
        pl.tile.store(d, [0, 0], out)
        pl.tile.store(e, [0, 0], out)

# ---- integer_accumulators: on A2/A3 an accumulator of INT32 has blocks of 32 rows
# run --planner=sequential --arch=a3
# tile c Acc 0 8192
# tile d Acc 8192 8192
# pypto.program: IntegerAccumulators
import pypto.language as pl

@pl.program
class IntegerAccumulators:
    @pl.function(type=pl.FunctionType.AIC)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        ma: pl.Tile[[4, 32], pl.INT8, pl.Mem.Mat] = pl.tile.load(a, [0, 0], [4, 32], [4, 32], target_memory=pl.Mem.Mat)
        mb: pl.Tile[[32, 64], pl.INT8, pl.Mem.Mat] = pl.tile.load(a, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Mat)
        la: pl.Tile[[4, 32], pl.INT8, pl.Mem.Left] = pl.tile.move(ma, target_memory=pl.Mem.Left)
        rb: pl.Tile[[32, 64], pl.INT8, pl.Mem.Right] = pl.tile.move(mb, target_memory=pl.Mem.Right)
        c: pl.Tile[[4, 64], pl.INT32, pl.Mem.Acc] = pl.tile.matmul(la, rb)
        d: pl.Tile[[4, 64], pl.INT32, pl.Mem.Acc] = pl.tile.matmul(la, rb)
        pl.tile.store(c, [0, 0], out)
        pl.tile.store(d, [0, 0], out)

# ---- integer_accumulators_of_a5: on A5 it has blocks of 16 rows, as any other
# run --planner=sequential --arch=a5
# tile c Acc 0 4096
# tile d Acc 4096 4096
# pypto.program: IntegerAccumulatorsOfA5
import pypto.language as pl

@pl.program
class IntegerAccumulatorsOfA5:
    @pl.function(type=pl.FunctionType.AIC)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        ma: pl.Tile[[4, 32], pl.INT8, pl.Mem.Mat] = pl.tile.load(a, [0, 0], [4, 32], [4, 32], target_memory=pl.Mem.Mat)
        mb: pl.Tile[[32, 64], pl.INT8, pl.Mem.Mat] = pl.tile.load(a, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Mat)
        la: pl.Tile[[4, 32], pl.INT8, pl.Mem.Left] = pl.tile.move(ma, target_memory=pl.Mem.Left)
        rb: pl.Tile[[32, 64], pl.INT8, pl.Mem.Right] = pl.tile.move(mb, target_memory=pl.Mem.Right)
        c: pl.Tile[[4, 64], pl.INT32, pl.Mem.Acc] = pl.tile.matmul(la, rb)
        d: pl.Tile[[4, 64], pl.INT32, pl.Mem.Acc] = pl.tile.matmul(la, rb)
        pl.tile.store(c, [0, 0], out)
        pl.tile.store(d, [0, 0], out)

# ---- small_elements: elements of 4 bits stand in pairs, the last one alone; BOOL takes a byte
# run --planner=sequential
# tile t Vec 0 512
# tile u Vec 512 37
# tile v Vec 576 1024
# tile w Vec 1600 1024
# pypto.program: SmallElements
import pypto.language as pl

@pl.program
class SmallElements:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        t: pl.Tile[[16, 64], pl.INT4, pl.Mem.Vec] = pl.tile.create([16, 64], dtype=pl.INT4, target_memory=pl.Mem.Vec)
        u: pl.Tile[[1, 73], pl.INT4, pl.Mem.Vec] = pl.tile.create([1, 73], dtype=pl.INT4, target_memory=pl.Mem.Vec)
        v: pl.Tile[[16, 64], pl.BOOL, pl.Mem.Vec] = pl.tile.create([16, 64], dtype=pl.BOOL, target_memory=pl.Mem.Vec)
        w: pl.Tile[[16, 64], pl.UINT8, pl.Mem.Vec] = pl.tile.create([16, 64], dtype=pl.UINT8, target_memory=pl.Mem.Vec)

# ---- four_bit_window: a window of 4-bit elements begins at a whole byte: element 130 is byte 65
# run --planner=sequential
# tile t Vec 0 512
# error a window of 4-bit elements must begin at a whole, constant byte
# pypto.program: FourBitWindow
import pypto.language as pl

@pl.program
class FourBitWindow:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        t: pl.Tile[[16, 64], pl.INT4, pl.Mem.Vec] = pl.tile.create([16, 64], dtype=pl.INT4, target_memory=pl.Mem.Vec)
        w: pl.Tile[[1, 8], pl.INT4, pl.Mem.Vec] = pl.tile.slice(t, [1, 8], [2, 3])

# ---- views_have_the_bytes_of_their_source: other shapes and other valid parts, windows, results in place
# run --planner=sequential
# tile front Vec 0 256
# tile t Vec 256 4096
# tile r Vec 256 4096
# tile rows Vec 1024 512
# tile part Vec 640 320
# tile again Vec 1280 256
# tile shown Vec 256 4096
# tile filled Vec 256 4096
# tile joined Vec 256 4096
# tile last Vec 4352 4096
# allocs mem_vec_2 mem_vec_3 mem_vec_4
# pypto.program: ViewsHaveTheBytesOfTheirSource
import pypto.language as pl

@pl.program
class ViewsHaveTheBytesOfTheirSource:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        front: pl.Tile[[1, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [1, 64], [1, 64], target_memory=pl.Mem.Vec)
        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        r: pl.Tile[[32, 32], pl.FP32, pl.Mem.Vec] = pl.tile.reshape(t, [32, 32])
        rows: pl.Tile[[2, 64], pl.FP32, pl.Mem.Vec] = pl.tile.slice(t, [2, 64], [3, 0])
        part: pl.Tile[[2, 16], pl.FP32, pl.Mem.Vec] = pl.tile.slice(t, [2, 16], [1, 32])
        again: pl.Tile[[1, 64], pl.FP32, pl.Mem.Vec] = pl.tile.slice(rows, [1, 64], [1, 0])
        shown: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[n, 64])] = pl.tile.set_validshape(t, n, 64)
        filled: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec, pl.TileView(pad=pl.PadValue.zero)] = pl.tile.fillpad_inplace(shown)
        joined: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.assemble(filled, front, [0, 0])
        last: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.adds(joined, 1.0)
        pl.tile.store(last, [0, 0], out)

# ---- another_name: a name for a name is the same tile
# run --planner=sequential
# tile t Vec 0 4096
# tile u Vec 0 4096
# tile v Vec 4096 4096
# allocs mem_vec_2 mem_vec_3
# pypto.program: AnotherName
import pypto.language as pl

@pl.program
class AnotherName:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        u: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = t
        v: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.adds(u, 1.0)
        pl.tile.store(v, [0, 0], out)

# ---- transposed_tiles_are_new: a transposed tile has bytes of its own
# run --planner=sequential
# tile t Vec 0 4096
# tile tmp Vec 4096 4096
# tile turned Vec 8192 4096
# pypto.program: TransposedTilesAreNew
import pypto.language as pl

@pl.program
class TransposedTilesAreNew:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        tmp: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.create([16, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec)
        turned: pl.Tile[[64, 16], pl.FP32, pl.Mem.Vec] = pl.tile.transpose(t, 0, 1, tmp)
        pl.tile.store(turned, [0, 0], out)

# ---- popped_tiles_have_no_memory: what comes out of a queue, and a window of it, stand where the pop says
# run --planner=sequential
# reserve fifo 0
# allocs mem_vec_2
# tile sum Vec 8192 2048
# pypto.program: PoppedTilesHaveNoMemory
import pypto.language as pl

@pl.program
class PoppedTilesHaveNoMemory:
    @pl.function(type=pl.FunctionType.AIV)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        fifo: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='fifo', size=8192, base=-1)
        pl.system.aiv_initialize_pipe(fifo, 0, dir_mask=1, slot_size=4096)
        got: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.tpop_from_aic(split=0)
        half: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec] = pl.tile.slice(got, [8, 64], [8, 0])
        sum: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(half, half)
        pl.tile.store(sum, [0, 0], out)
        pl.system.tfree_to_aic(got, split=0)

# ---- numbers_count_over_all_spaces: tensors of the parameters come first, then every tile; the result of a loop counts although it has no bytes of its own
# run --planner=sequential
# allocs mem_mat_3 mem_left_4 mem_vec_5 mem_vec_8
# pypto.program: NumbersCountOverAllSpaces
import pypto.language as pl

@pl.program
class NumbersCountOverAllSpaces:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], b: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        m: pl.Tile[[16, 64], pl.BF16, pl.Mem.Mat] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Mat)
        l: pl.Tile[[16, 64], pl.BF16, pl.Mem.Left] = pl.tile.move(m, target_memory=pl.Mem.Left)
        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        for i, (c,) in pl.range(4, init_values=(t,)):
            u: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.adds(c, 1.0)
            e: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.yield_(u)
        w: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.adds(e, 1.0)
        pl.tile.store(w, [0, 0], out)

# ---- loops_carry_one_buffer: the first value, what the body knows it as, what it yields and the result are one buffer
# run --planner=sequential
# tile t Vec 0 4096
# tile u Vec 0 4096
# tile e Vec 0 4096
# tile w Vec 4096 4096
# pypto.program: LoopsCarryOneBuffer
import pypto.language as pl

@pl.program
class LoopsCarryOneBuffer:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        for i, (c,) in pl.range(4, init_values=(t,)):
            u: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.adds(c, 1.0)
            e: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.yield_(u)
        w: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.adds(e, 1.0)
        pl.tile.store(w, [0, 0], out)

# ---- a_result_has_the_bytes_of_the_first_branch: what the other branch yields is copied there
# run --planner=sequential
# tile t Vec 0 4096
# tile u Vec 4096 4096
# tile v Vec 8192 4096
# tile v_mv Vec 4096 4096
# tile e Vec 4096 4096
# tile w Vec 12288 4096
# allocs mem_vec_2 mem_vec_3 mem_vec_4 mem_vec_6
# pypto.program: AResultHasTheBytesOfTheFirstBranch
import pypto.language as pl

@pl.program
class AResultHasTheBytesOfTheFirstBranch:
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

# ---- declared_allocations: all slots are as large as the largest tile; the declared allocation comes before the others
# run --planner=sequential
# tile s0 Vec 0 4096
# tile s1 Vec 4096 4096
# tile t Vec 8192 4096
# allocs ring mem_vec_2
# pypto.program: DeclaredAllocations
import pypto.language as pl

@pl.program
class DeclaredAllocations:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        s0: pl.Tile[[16, 64], pl.FP32, pl.MemRef("ring", slots=2)[0], pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        s1: pl.Tile[[8, 64], pl.FP32, pl.MemRef("ring", slots=2)[1], pl.Mem.Vec] = pl.tile.load(a, [0, 0], [8, 64], [8, 64], target_memory=pl.Mem.Vec)
        u: pl.Tile[[8, 64], pl.FP32, pl.Mem.Vec] = pl.tile.slice(t, [8, 64], [0, 0])
        pl.tile.store(s0, [0, 0], out)
        pl.tile.store(s1, [0, 0], out)
        pl.tile.store(u, [0, 0], out)

# ---- a_slot_that_is_not_there: slot 2 of 2
# run --planner=sequential
# error tile 's' names a slot that 'ring' with 2 slots does not have
# pypto.program: ASlotThatIsNotThere
import pypto.language as pl

@pl.program
class ASlotThatIsNotThere:
    @pl.function(type=pl.FunctionType.InCore)
    def main(a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        s: pl.Tile[[16, 64], pl.FP32, pl.MemRef("ring", slots=2)[2], pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        pl.tile.store(s, [0, 0], out)
