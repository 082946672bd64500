# bare statements in the documentation's shorthand, with free names and a list of statements as comments
# SeqStmts [
mem_vec_0: MemRefType = tile.alloc(Vec, -1, 8192, 0)
mem_vec_1: MemRefType = tile.alloc(Vec, -1, 8192, 1)
left: Tile[[32, 64], FP32, memref=mem_vec_0] = tile.load(source, [0, 0], [32, 64])
scaled: Tile[[32, 64], FP32, memref=mem_vec_1, Vec] = tile.muls(left, 0.25)
tile.store(scaled, [32, 0], target)
# ]
