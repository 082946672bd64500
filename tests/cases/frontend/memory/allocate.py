# Addresses that programs must get; see tests/all/frontend.rs for the directives.

# ---- two_tiles: two tiles one behind the other
# run --planner=sequential
# tile ta Vec 0 16384
# tile tb Vec 16384 16384
# allocs mem_vec_2 mem_vec_3
# pypto.program: Two
import pypto.language as pl

@pl.program
class Two:
    @pl.function(type=pl.FunctionType.InCore)
    def main(self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        ta: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=pl.Mem.Vec)
        tb: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(ta, ta)
        r: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(tb, [0, 0], out)
        return r

# ---- three_tiles: three tiles
# run --planner=sequential
# tile ta Vec 0 16384
# tile tb Vec 16384 16384
# tile tc Vec 32768 16384
# allocs mem_vec_2 mem_vec_3 mem_vec_4
# pypto.program: Three
import pypto.language as pl

@pl.program
class Three:
    @pl.function(type=pl.FunctionType.InCore)
    def main(self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        ta: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=pl.Mem.Vec)
        tb: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(ta, ta)
        tc: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(tb, tb)
        r: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(tc, [0, 0], out)
        return r

# ---- auto_reserve_before_tiles: a reserved buffer without base comes first
# run --planner=sequential
# reserve c2v_slot_buffer 0
# tile ta Vec 4096 16384
# tile tb Vec 20480 16384
# pypto.program: Reserve
import pypto.language as pl

@pl.program
class Reserve:
    @pl.function(type=pl.FunctionType.AIV)
    def main(self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        _: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='c2v_slot_buffer', size=4096, base=-1)
        ta: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=pl.Mem.Vec)
        tb: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(ta, ta)
        r: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(tb, [0, 0], out)
        return r

# ---- overlapping_reserves: two reserved buffers at the same bytes
# run --planner=sequential
# error overlapping reserve_buffer ranges in function 'main': [2048, 3072) overlaps with [0, 4096)
# pypto.program: Overlap
import pypto.language as pl

@pl.program
class Overlap:
    @pl.function(type=pl.FunctionType.AIV)
    def main(self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        first: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='first', size=4096, base=-1)
        second: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='second', size=1024, base=2048)
        ta: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=pl.Mem.Vec)
        tb: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(ta, ta)
        r: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(tb, [0, 0], out)
        return r

# ---- reuse_of_right_and_acc: moves beside their consumers let both right tiles share bytes; 4 rows of an accumulator take 16
# run --planner=reuse
# tile lhs_mat Mat 0 1024
# tile rhs0_mat Mat 1024 16384
# tile rhs1_mat Mat 17408 16384
# tile left Left 0 1024
# tile right0 Right 0 16384
# tile right1 Right 0 16384
# tile acc0 Acc 0 4096
# tile acc1 Acc 0 4096
# allocs mem_mat_4 mem_mat_5 mem_mat_6 mem_left_7 mem_right_8 mem_acc_9
# pypto.program: Matmul
import pypto.language as pl

@pl.program
class Matmul:
    @pl.function(type=pl.FunctionType.InCore)
    def main(self, lhs: pl.Tensor[[4, 128], pl.BF16], rhs0: pl.Tensor[[128, 64], pl.BF16], rhs1: pl.Tensor[[128, 64], pl.BF16], out: pl.Out[pl.Tensor[[4, 64], pl.FP32]]) -> pl.Tensor[[4, 64], pl.FP32]:
        lhs_mat: pl.Tile[[4, 128], pl.BF16, pl.Mem.Mat] = pl.tile.load(lhs, [0, 0], [4, 128], [4, 128], target_memory=pl.Mem.Mat)
        rhs0_mat: pl.Tile[[128, 64], pl.BF16, pl.Mem.Mat] = pl.tile.load(rhs0, [0, 0], [128, 64], [128, 64], target_memory=pl.Mem.Mat)
        rhs1_mat: pl.Tile[[128, 64], pl.BF16, pl.Mem.Mat] = pl.tile.load(rhs1, [0, 0], [128, 64], [128, 64], target_memory=pl.Mem.Mat)
        left: pl.Tile[[4, 128], pl.BF16, pl.Mem.Left] = pl.tile.move(lhs_mat, target_memory=pl.Mem.Left)
        right0: pl.Tile[[128, 64], pl.BF16, pl.Mem.Right] = pl.tile.move(rhs0_mat, target_memory=pl.Mem.Right)
        acc0: pl.Tile[[4, 64], pl.FP32, pl.Mem.Acc] = pl.tile.matmul(left, right0)
        r0: pl.Tensor[[4, 64], pl.FP32] = pl.tile.store(acc0, [0, 0], out)
        right1: pl.Tile[[128, 64], pl.BF16, pl.Mem.Right] = pl.tile.move(rhs1_mat, target_memory=pl.Mem.Right)
        acc1: pl.Tile[[4, 64], pl.FP32, pl.Mem.Acc] = pl.tile.matmul(left, right1)
        r1: pl.Tensor[[4, 64], pl.FP32] = pl.tile.store(acc1, [0, 0], r0)
        return r1

# ---- no_tiles: nothing to place
# run --planner=sequential
# allocs
# pypto.program: Empty
import pypto.language as pl

@pl.program
class Empty:
    @pl.function(type=pl.FunctionType.InCore)
    def main(self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        return out

# ---- bare_return: nothing but a return, with sharing asked for
# run --planner=reuse
# allocs
# pypto.program: Return
import pypto.language as pl

@pl.program
class Return:
    @pl.function(type=pl.FunctionType.InCore)
    def main(self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        return a

# ---- allocations_come_first: allocations stand before everything else
# run --planner=sequential
# first_statement mem_vec_2: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 16384)
# tile ta Vec 0 16384
# tile tb Vec 16384 16384
# pypto.program: First
import pypto.language as pl

@pl.program
class First:
    @pl.function(type=pl.FunctionType.InCore)
    def main(self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        ta: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=pl.Mem.Vec)
        tb: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(ta, ta)
        r: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(tb, [0, 0], out)
        return r

# ---- one_allocation_each: every tile has an allocation of its own
# run --planner=sequential
# tile ta Vec 0 16384
# tile tb Vec 16384 16384
# tile tc Vec 32768 16384
# allocs mem_vec_2 mem_vec_3 mem_vec_4
# pypto.program: Each
import pypto.language as pl

@pl.program
class Each:
    @pl.function(type=pl.FunctionType.InCore)
    def main(self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        ta: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=pl.Mem.Vec)
        tb: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(ta, ta)
        tc: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(tb, tb)
        r: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(tc, [0, 0], out)
        return r

# ---- unplaced_offsets_are_given_addresses: a program with memory and no addresses yet
# run --planner=sequential
# tile ta Vec 0 16384
# tile tb Vec 16384 16384
# pypto.program: Unplaced
import pypto.language as pl

@pl.program
class Unplaced:
    @pl.function(type=pl.FunctionType.InCore)
    def main(self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        mem_vec_2: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 16384)
        mem_vec_3: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 16384)
        ta: pl.Tile[[64, 64], pl.FP32, pl.MemRef(mem_vec_2, pl.const(0, pl.INT64), 16384), pl.Mem.Vec] = pl.tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=pl.Mem.Vec)
        tb: pl.Tile[[64, 64], pl.FP32, pl.MemRef(mem_vec_3, pl.const(0, pl.INT64), 16384), pl.Mem.Vec] = pl.tile.add(ta, ta)
        r: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(tb, [0, 0], out)
        return r

# ---- placed_addresses_are_kept: a program that comes in at addresses
# run --planner=sequential
# tile ta Vec 16384 16384
# tile tb Vec 32768 16384
# pypto.program: Placed
import pypto.language as pl

@pl.program
class Placed:
    @pl.function(type=pl.FunctionType.InCore)
    def main(self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        mem_vec_2: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 16384)
        mem_vec_3: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 16384)
        ta: pl.Tile[[64, 64], pl.FP32, pl.MemRef(mem_vec_2, pl.const(16384, pl.INT64), 16384), pl.Mem.Vec] = pl.tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=pl.Mem.Vec)
        tb: pl.Tile[[64, 64], pl.FP32, pl.MemRef(mem_vec_3, pl.const(32768, pl.INT64), 16384), pl.Mem.Vec] = pl.tile.add(ta, ta)
        r: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(tb, [0, 0], out)
        return r

# ---- vec_is_full: 192512 bytes do not fit into the 188416 that A2/A3 leaves
# run --planner=sequential
# error Vec buffer usage (192512 bytes) exceeds platform limit (188416 bytes)
# pypto.program: Full
import pypto.language as pl

@pl.program
class Full:
    @pl.function(type=pl.FunctionType.AIV)
    def main(self, a: pl.Tensor[[64, 752], pl.FP32], out: pl.Out[pl.Tensor[[64, 752], pl.FP32]]) -> pl.Tensor[[64, 752], pl.FP32]:
        t: pl.Tile[[64, 752], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [64, 752], [64, 752], target_memory=pl.Mem.Vec)
        r: pl.Tensor[[64, 752], pl.FP32] = pl.tile.store(t, [0, 0], out)
        return r

# ---- ring_is_blamed: the queue's own ring leaves no room
# run --planner=sequential
# error Mat buffer usage (532480 bytes) exceeds platform limit (524288 bytes)
# error The first 524288 bytes of that space are reserved by system.reserve_buffer
# error cross-core pipe ring
# error pl.cross_core_slot(slot_num=N)
# pypto.program: Ring
import pypto.language as pl

@pl.program
class Ring:
    @pl.function(type=pl.FunctionType.AIC)
    def kernel_aic(self, a: pl.Tensor[[64, 64], pl.BF16]):
        ring: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='kernel_v2c_slot_buffer', size=524288, base=-1)
        t: pl.Tile[[64, 64], pl.BF16, pl.Mem.Mat] = pl.tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=pl.Mem.Mat)

# ---- hand_made_buffer_is_no_ring: a buffer of the author's own is not blamed on a queue
# run --planner=sequential
# error Mat buffer usage (532480 bytes) exceeds platform limit (524288 bytes)
# error The first 524288 bytes of that space are reserved by system.reserve_buffer
# no_error cross_core_slot
# pypto.program: Hand
import pypto.language as pl

@pl.program
class Hand:
    @pl.function(type=pl.FunctionType.AIC)
    def kernel_aic(self, a: pl.Tensor[[64, 64], pl.BF16]):
        ring: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='my_scratch_buffer', size=524288, base=-1)
        t: pl.Tile[[64, 64], pl.BF16, pl.Mem.Mat] = pl.tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=pl.Mem.Mat)

# ---- name_like_a_ring: a name that only ends like a ring's
# run --planner=sequential
# error Mat buffer usage (532480 bytes) exceeds platform limit (524288 bytes)
# error The first 524288 bytes of that space are reserved by system.reserve_buffer
# no_error cross_core_slot
# pypto.program: Like
import pypto.language as pl

@pl.program
class Like:
    @pl.function(type=pl.FunctionType.AIC)
    def kernel_aic(self, a: pl.Tensor[[64, 64], pl.BF16]):
        ring: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='scratch_v2c_slot_buffer', size=524288, base=-1)
        t: pl.Tile[[64, 64], pl.BF16, pl.Mem.Mat] = pl.tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=pl.Mem.Mat)

# ---- other_space_is_not_blamed: the ring stands in Mat, Vec overflows
# run --planner=sequential
# error Vec buffer usage (192512 bytes) exceeds platform limit (188416 bytes)
# no_error reserved by
# pypto.program: Other
import pypto.language as pl

@pl.program
class Other:
    @pl.function(type=pl.FunctionType.AIC)
    def main(self, a: pl.Tensor[[64, 752], pl.FP32], out: pl.Out[pl.Tensor[[64, 752], pl.FP32]]) -> pl.Tensor[[64, 752], pl.FP32]:
        ring: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='main_v2c_slot_buffer', size=4096, base=-1)
        t: pl.Tile[[64, 752], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [64, 752], [64, 752], target_memory=pl.Mem.Vec)
        r: pl.Tensor[[64, 752], pl.FP32] = pl.tile.store(t, [0, 0], out)
        return r

# ---- sibling_slices: two rows of one tile, reshaped: each keeps its own offset
# run --planner=sequential
# tile ta Vec 0 512
# tile s0 Vec 0 64
# tile s1 Vec 64 64
# tile c0 Vec 0 64
# tile c1 Vec 64 64
# allocs mem_vec_2
# pypto.program: Slices
import pypto.language as pl

@pl.program
class Slices:
    @pl.function(type=pl.FunctionType.InCore)
    def main(self, a: pl.Tensor[[8, 16], pl.FP32], out: pl.Out[pl.Tensor[[32, 1], pl.FP32]]) -> pl.Tensor[[32, 1], pl.FP32]:
        ta: pl.Tile[[8, 16], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [8, 16], [8, 16], target_memory=pl.Mem.Vec)
        s0: pl.Tile[[1, 16], pl.FP32, pl.Mem.Vec] = pl.tile.slice(ta, [1, 16], [0, 0])
        s1: pl.Tile[[1, 16], pl.FP32, pl.Mem.Vec] = pl.tile.slice(ta, [1, 16], [1, 0])
        c0: pl.Tile[[16, 1], pl.FP32, pl.Mem.Vec] = pl.tile.reshape(s0, [16, 1])
        c1: pl.Tile[[16, 1], pl.FP32, pl.Mem.Vec] = pl.tile.reshape(s1, [16, 1])
        r0: pl.Tensor[[32, 1], pl.FP32] = pl.tile.store(c0, [0, 0], out)
        r1: pl.Tensor[[32, 1], pl.FP32] = pl.tile.store(c1, [16, 0], r0)
        return r1

# ---- cube_reserves_in_mat: the cube core receives in L1
# run --planner=sequential
# reserve v2c_slot_buffer 0
# tile t Mat 4096 8192
# pypto.program: Cube
import pypto.language as pl

@pl.program
class Cube:
    @pl.function(type=pl.FunctionType.AIC)
    def kernel_aic(self, a: pl.Tensor[[64, 64], pl.BF16]):
        ring: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='v2c_slot_buffer', size=4096, base=-1)
        t: pl.Tile[[64, 64], pl.BF16, pl.Mem.Mat] = pl.tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=pl.Mem.Mat)

# ---- explicit_base: a stated base is kept, and tiles start behind it
# run --planner=sequential
# reserve c2v_slot_buffer 8192
# tile ta Vec 12288 16384
# tile tb Vec 28672 16384
# pypto.program: Explicit
import pypto.language as pl

@pl.program
class Explicit:
    @pl.function(type=pl.FunctionType.AIV)
    def main(self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        _: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='c2v_slot_buffer', size=4096, base=8192)
        ta: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=pl.Mem.Vec)
        tb: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(ta, ta)
        r: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(tb, [0, 0], out)
        return r

# ---- outside_the_cores: a function that is for no core is left alone
# run --planner=sequential
# functions
# no_error error
# pypto.program: Opaque
import pypto.language as pl

@pl.program
class Opaque:
    @pl.function(type=pl.FunctionType.Opaque)
    def main(self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        ta: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=pl.Mem.Vec)
        tb: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(ta, ta)
        r: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(tb, [0, 0], out)
        return r

# ---- older_places_every_function: the older notation did not ask what a function is for
# run --planner=sequential
# tile ta Vec 0 16384
# tile tb Vec 16384 16384
# pypto.program: Older
import pypto.language as pl

@pl.program
class Older:
    @pl.function
    def main(self, a: pl.Tensor[[64, 64], pl.FP32, pl.MemRef(-1, 16384, 0)], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        mem_vec_2: pl.MemRefType = pl.tile.alloc(pl.Mem.Vec, -1, 16384, 2)
        mem_vec_3: pl.MemRefType = pl.tile.alloc(pl.Mem.Vec, -1, 16384, 3)
        ta: pl.Tile[[64, 64], pl.FP32, mem_vec_2, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=pl.Mem.Vec, transpose=False)
        tb: pl.Tile[[64, 64], pl.FP32, mem_vec_3, pl.Mem.Vec] = pl.tile.add(ta, ta)
        r: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(tb, [0, 0], out)
        return r
