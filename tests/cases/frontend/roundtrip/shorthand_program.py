# a program in the shorthand: no module in front of names, `Vec` for the space, the bare allocation as memory
@program
class Halve:
    @function(type=FunctionType.AIV)
    def halve(self, x: Tensor[[32, 64], FP16], y: Out[Tensor[[32, 64], FP16]]) -> Tensor[[32, 64], FP16]:
        buffer: MemRefType = tile.alloc(Vec, 4096, 4096, 7)
        t: Tile[[32, 64], FP16, memref=buffer, Vec] = load(x, [0, 0], [32, 64])
        h: Tile[[32, 64], FP16, memref=buffer, Vec] = muls(t, const(0.5, FP16))
        return store(h, [0, 0], y)
