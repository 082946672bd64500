# a type of function that does not exist, a decorator that is not the language's, a parameter without type
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.Incore)
    def f(x):
        pl.system.bar_v()
    @staticmethod
    def g():
        pl.system.bar_v()
