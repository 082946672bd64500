# a text without a program
import pypto.language as pl
