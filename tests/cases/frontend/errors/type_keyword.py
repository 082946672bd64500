# a keyword in brackets that types do not have
m: MemRefType = tile.alloc(Vec, -1, 1024, 0)
t: Tile[[16, 16], FP32, memory=m] = tile.load(x, [0, 0], [16, 16])
