# Addresses that programs must get; see tests/all/frontend.rs for the directives.

# ---- shorthand_two: the documentation's example
# run --planner=sequential
# tile tile_a Vec 0 16384
# tile tile_b Vec 16384 16384
# SeqStmts [
mem_vec_0: MemRefType = tile.alloc(Vec, -1, 16384, 0)
mem_vec_1: MemRefType = tile.alloc(Vec, -1, 16384, 1)
tile_a: Tile[[64, 64], FP32, memref=mem_vec_0] = tile.load(input_a, [0, 0], [64, 64])
tile_b: Tile[[64, 64], FP32, memref=mem_vec_1] = tile.add(tile_a, tile_a)
# ]

# ---- shorthand_four_spaces: every space starts at 0
# run --planner=sequential
# tile l1 Mat 0 16384
# tile l0a Left 0 16384
# tile l0b Right 0 16384
# tile l0c Acc 0 16384
mem_m: MemRefType = tile.alloc(Mat, -1, 16384, 0)
mem_l: MemRefType = tile.alloc(Left, -1, 16384, 1)
mem_r: MemRefType = tile.alloc(Right, -1, 16384, 2)
mem_c: MemRefType = tile.alloc(Acc, -1, 16384, 3)
l1: Tile[[64, 64], FP32, memref=mem_m] = tile.load(x, [0, 0], [64, 64])
l0a: Tile[[64, 64], FP32, memref=mem_l] = tile.move(l1)
l0b: Tile[[64, 64], FP32, memref=mem_r] = tile.move(l1)
l0c: Tile[[64, 64], FP32, memref=mem_c] = tile.matmul(l0a, l0b)

# ---- shorthand_reserve: a reserved buffer pushes tiles behind it
# run --planner=sequential
# reserve queue 0
# tile tile_a Vec 4096 16384
mem_vec_0: MemRefType = tile.alloc(Vec, -1, 16384, 0)
q: Scalar[INT32] = system.reserve_buffer(name='queue', size=4096, base=-1)
tile_a: Tile[[64, 64], FP32, memref=mem_vec_0] = tile.load(x, [0, 0], [64, 64])

# ---- row_slices: row k of a tile stands at its slot's base + k * row stride
# run --planner=sequential
# tile before Vec 0 256
# tile t Vec 256 4096
# tile row3 Vec 1024 256
# pypto.program: Rows
import pypto.language as pl

@pl.program
class Rows:
    @pl.function(type=pl.FunctionType.InCore)
    def main(self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        before: pl.Tile[[1, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [1, 64], [1, 64], target_memory=pl.Mem.Vec)
        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        row3: pl.Tile[[1, 64], pl.FP32, pl.Mem.Vec] = pl.tile.slice(t, [1, 64], [3, 0])
        s: pl.Tile[[1, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(row3, before)
        r: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(s, [0, 0], out)
        return r

# ---- unaligned_sizes: tiles of 36, 96, 36 and 32 bytes; a slice 32 bytes into the second
# run --planner=sequential
# tile t Vec 0 36
# tile u Vec 64 96
# tile s Vec 96 32
# tile v Vec 160 36
# tile w Vec 224 32
# pypto.program: Small
import pypto.language as pl

@pl.program
class Small:
    @pl.function(type=pl.FunctionType.InCore)
    def main(self, a: pl.Tensor[[64, 752], pl.FP32], out: pl.Out[pl.Tensor[[64, 752], pl.FP32]]) -> pl.Tensor[[64, 752], pl.FP32]:
        t: pl.Tile[[1, 9], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [1, 9], [1, 9], target_memory=pl.Mem.Vec)
        u: pl.Tile[[3, 8], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [3, 8], [3, 8], target_memory=pl.Mem.Vec)
        s: pl.Tile[[1, 8], pl.FP32, pl.Mem.Vec] = pl.tile.slice(u, [1, 8], [1, 0])
        v: pl.Tile[[1, 9], pl.FP32, pl.Mem.Vec] = pl.tile.add(t, t)
        w: pl.Tile[[1, 8], pl.FP32, pl.Mem.Vec] = pl.tile.add(s, s)
        r: pl.Tensor[[64, 752], pl.FP32] = pl.tile.store(v, [0, 0], out)
        r2: pl.Tensor[[64, 752], pl.FP32] = pl.tile.store(w, [0, 0], r)
        return r2

# ---- unaligned_reserves: stated bases are not aligned; what follows is
# run --planner=sequential
# reserve first 40
# reserve second 160
# tile t Vec 192 16384
# pypto.program: Odd
import pypto.language as pl

@pl.program
class Odd:
    @pl.function(type=pl.FunctionType.AIV)
    def main(self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        b1: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='first', size=100, base=40)
        b2: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='second', size=10, base=-1)
        t: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [64, 64], [64, 64], target_memory=pl.Mem.Vec)
        r: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(t, [0, 0], out)
        return r

# ---- order_by_id: thirteen tiles in the order of their numbers
# run --planner=sequential
# tile t0 Vec 0 4096
# tile t7 Vec 28672 4096
# tile t8 Vec 32768 4096
# tile t12 Vec 49152 4096
# pypto.program: ById
import pypto.language as pl

@pl.program
class ById:
    @pl.function(type=pl.FunctionType.InCore)
    def main(self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        t0: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        t1: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        t2: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        t3: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        t4: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        t5: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        t6: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        t7: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        t8: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        t9: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        t10: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        t11: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        t12: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        r: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(t12, [0, 0], out)
        return r

# ---- order_by_name: the same in the order of their names: mem_vec_10 comes before mem_vec_2
# run --planner=sequential --order=name
# tile t0 Vec 20480 4096
# tile t7 Vec 49152 4096
# tile t8 Vec 0 4096
# tile t12 Vec 16384 4096
# pypto.program: ByName
import pypto.language as pl

@pl.program
class ByName:
    @pl.function(type=pl.FunctionType.InCore)
    def main(self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        t0: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        t1: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        t2: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        t3: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        t4: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        t5: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        t6: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        t7: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        t8: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        t9: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        t10: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        t11: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        t12: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        r: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(t12, [0, 0], out)
        return r

# ---- places_overlap: whole places of 128, 64 and 64 KiB do not fit, but two small tiles do fit into the bytes of the large one
# run --planner=reuse
# tile whole Vec 0 131072
# tile kept Vec 131072 49152
# tile first Vec 0 49152
# tile second Vec 49152 49152
# pypto.program: Places
import pypto.language as pl

@pl.program
class Places:
    @pl.function(type=pl.FunctionType.AIV)
    def main(self, a: pl.Tensor[[256, 256], pl.FP32], out: pl.Out[pl.Tensor[[256, 256], pl.FP32]]):
        whole: pl.Tile[[128, 256], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [128, 256], [128, 256], target_memory=pl.Mem.Vec)
        kept: pl.Tile[[48, 256], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [128, 0], [48, 256], [48, 256], target_memory=pl.Mem.Vec)
        r0: pl.Tensor[[256, 256], pl.FP32] = pl.tile.store(whole, [0, 0], out)
        first: pl.Tile[[48, 256], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [0, 0], [48, 256], [48, 256], target_memory=pl.Mem.Vec)
        second: pl.Tile[[48, 256], pl.FP32, pl.Mem.Vec] = pl.tile.load(a, [48, 0], [48, 256], [48, 256], target_memory=pl.Mem.Vec)
        third: pl.Tile[[48, 256], pl.FP32, pl.Mem.Vec] = pl.tile.add(first, second)
        sum: pl.Tile[[48, 256], pl.FP32, pl.Mem.Vec] = pl.tile.add(third, kept)
        r1: pl.Tensor[[256, 256], pl.FP32] = pl.tile.store(sum, [128, 0], r0)
        return r1

# ---- larger_than_the_default: 192 KiB of accumulators, more than a3 has; the message names the target that has it
# error Acc buffer usage (196608 bytes) exceeds platform limit (131072 bytes)
# error compiled for a3, the default; it fits a5: --arch=a5
# pypto.program: Larger
import pypto.language as pl

@pl.program
class Larger:
    @pl.function(type=pl.FunctionType.AIC)
    def main(self, l: pl.Tensor[[192, 64], pl.FP16], r: pl.Tensor[[64, 256], pl.FP16], out: pl.Out[pl.Tensor[[192, 256], pl.FP32]]):
        acc: pl.Tile[[192, 256], pl.FP32, pl.Mem.Acc] = pl.tile.create([192, 256], dtype=pl.FP32, target_memory=pl.Mem.Acc)
        stored: pl.Tensor[[192, 256], pl.FP32] = pl.tile.store(acc, [0, 0], out)
        return stored
