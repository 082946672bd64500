# what a formatter makes of a program: joined lines, parentheses, trailing commas, the other quotes; another module name
# pypto.program: Scale
import pypto.language as lang
import pypto.language.distributed as pld


@lang.program
class Scale:

    @lang.function(
        type=lang.FunctionType.AIV,
    )
    def scale(
        x: lang.Tensor[
            [64, 64],
            lang.FP32,
            lang.MemRef('mem_ddr_0', lang.const(0, lang.INT64), 16384),
        ],
        y: lang.Out[lang.Tensor[[64, 64], lang.FP32]],
        window: pld.DistributedTensor[
            [64, 64],
            lang.FP32,
        ],
    ) -> lang.Tensor[[64, 64], lang.FP32]:
        """Text about the function."""
        mem_vec_0: lang.Ptr = lang.tile.alloc(lang.Mem.Vec, 16384)  # one is enough
        t: lang.Tile[
            [64, 64], lang.FP32,
            lang.MemRef(mem_vec_0, lang.const(0, lang.INT64), 16384), lang.Mem.Vec,
        ] = (
            lang.tile.load(
                x, [0, 0], [64, 64], [64, 64],  # all of it
                target_memory=lang.Mem.Vec,
            )
        )
        u: lang.Tile[[64, 64], lang.FP32, lang.MemRef(mem_vec_0, lang.const(0, lang.INT64), 16384), lang.Mem.Vec] = \
            lang.tile.muls(t, (1e-6))
        r: lang.Tensor[[64, 64], lang.FP32] = lang.tile.store(u, [0, 0], y,)
        lang.system.notify(
            "ready", peer=pld.system.rank(window)
        )
        return (r)
