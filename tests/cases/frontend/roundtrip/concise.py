# (only parsed) functions without class and statements without types; types follow where they are obvious
import pypto.language as pl

@pl.function(type=pl.FunctionType.AIC)
def product(a: pl.Tensor[[16, 64], pl.FP16], b: pl.Tensor[[64, 16], pl.FP16], c: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    steps = 64 // 16
    l = pl.tile.alloc(pl.Mem.Left, 512)
    first = pl.tile.create([16, 16], dtype=pl.FP32, target_memory=pl.Mem.Acc)
    for k, (acc,) in pl.range(steps, init_values=(first,)):
        at = k * 16
        x = pl.load(a, [0, at], [16, 16], target_memory=pl.Mem.Left)
        y = pl.load(b, [at, 0], [16, 16], target_memory=pl.Mem.Right)
        if k == 0:
            s = pl.matmul(x, y)
            sum = pl.yield_(s)
        elif k == 1:
            s = pl.matmul_acc(acc, x, y)
            sum = pl.yield_(s)
        else:
            s = pl.matmul_acc(acc, x, y)
            sum = pl.yield_(s)
        done = pl.yield_(sum)
    pl.store(done, [0, 0], c)
    return

@pl.function
def main(a: pl.Tensor[[16, 64], pl.FP16], b: pl.Tensor[[64, 16], pl.FP16], c: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    first, second = pl.submit(product, a, b, c)
    product(a, b, first)
