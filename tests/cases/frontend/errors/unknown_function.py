# a call of a function that the program does not have
# pypto.program: P
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIV)
    def kernel_add(x: pl.Tensor[[64], pl.FP32]):
        pl.system.bar_v()
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[64], pl.FP32]):
        self.kernel_ad(x)
