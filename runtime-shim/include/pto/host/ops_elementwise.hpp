// Element-wise instructions on Vec tiles: tile-tile, unary, tile-scalar, comparison and conversion.
//
// One line an instruction. A family macro states the operands in the device library's order; the destination comes
// first. `_BY` families take an algorithm as a template flag.
#ifndef PTO_HOST_OPS_ELEMENTWISE_HPP
#define PTO_HOST_OPS_ELEMENTWISE_HPP

// ---- dst, src ------------------------------------------------------------------------------------------------
#define PTO_UNARY_BODY(OP)                                    \
    PTO_WANT(OP, dst, Dst, row);                              \
    PTO_WANT(OP, src, Src, row);                              \
    PTO_SAME(OP, "dst and src", Dst, Src)

#define PTO_UNARY(OP)                                         \
    template <class Dst, class Src>                           \
    PTO_INST RecordEvent OP(Dst& dst, Src& src, PTO_SITE) {   \
        PTO_UNARY_BODY(OP);                                   \
        return pto_host::record(#OP, site, dst, src);         \
    }

#define PTO_UNARY_BY(OP, ALGORITHM)                                                  \
    template <auto Algorithm = ALGORITHM::DEFAULT, class Dst, class Src>             \
    PTO_INST RecordEvent OP(Dst& dst, Src& src, PTO_SITE) {                          \
        PTO_FLAG(OP, Algorithm, ALGORITHM);                                          \
        PTO_UNARY_BODY(OP);                                                          \
        return pto_host::record(#OP, site, dst, src, Algorithm);                     \
    }

// ---- dst, src0, src1 -----------------------------------------------------------------------------------------
#define PTO_BINARY_BODY(OP, ARCHES)                           \
    PTO_AVAILABLE(OP, ARCHES, Dst);                           \
    PTO_WANT(OP, dst, Dst, row);                              \
    PTO_WANT(OP, src0, Src0, row);                            \
    PTO_WANT(OP, src1, Src1, row)

#define PTO_BINARY(OP, ARCHES)                                                        \
    template <class Dst, class Src0, class Src1>                                      \
    PTO_INST RecordEvent OP(Dst& dst, Src0& src0, Src1& src1, PTO_SITE) {             \
        PTO_BINARY_BODY(OP, ARCHES);                                                  \
        PTO_SAME(OP, "dst, src0 and src1", Dst, Src0, Src1);                          \
        return pto_host::record(#OP, site, dst, src0, src1);                          \
    }

#define PTO_BINARY_BY(OP, ALGORITHM)                                                            \
    template <auto Algorithm = ALGORITHM::DEFAULT, class Dst, class Src0, class Src1>           \
    PTO_INST RecordEvent OP(Dst& dst, Src0& src0, Src1& src1, PTO_SITE) {                       \
        PTO_FLAG(OP, Algorithm, ALGORITHM);                                                     \
        PTO_BINARY_BODY(OP, Everywhere);                                                        \
        PTO_SAME(OP, "dst, src0 and src1", Dst, Src0, Src1);                                    \
        return pto_host::record(#OP, site, dst, src0, src1, Algorithm);                         \
    }

// Sources of one type, result of another.
#define PTO_BINARY_CONVERT(OP, ARCHES)                                                \
    template <class Dst, class Src0, class Src1>                                      \
    PTO_INST RecordEvent OP(Dst& dst, Src0& src0, Src1& src1, PTO_SITE) {             \
        PTO_BINARY_BODY(OP, ARCHES);                                                  \
        PTO_SAME(OP, "src0 and src1", Src0, Src1);                                    \
        return pto_host::record(#OP, site, dst, src0, src1);                          \
    }

// ---- dst, src0, src1, tmp ------------------------------------------------------------------------------------
#define PTO_BINARY_TMP(OP)                                                            \
    template <class Dst, class Src0, class Src1, class Tmp>                           \
    PTO_INST RecordEvent OP(Dst& dst, Src0& src0, Src1& src1, Tmp& tmp, PTO_SITE) {   \
        PTO_BINARY_BODY(OP, Everywhere);                                              \
        PTO_WANT(OP, tmp, Tmp, row);                                                  \
        PTO_SAME(OP, "dst, src0 and src1", Dst, Src0, Src1);                          \
        return pto_host::record(#OP, site, dst, src0, src1, tmp);                     \
    }

#define PTO_BINARY_TMP_BY(OP, ALGORITHM)                                                              \
    template <auto Algorithm = ALGORITHM::DEFAULT, class Dst, class Src0, class Src1, class Tmp>      \
    PTO_INST RecordEvent OP(Dst& dst, Src0& src0, Src1& src1, Tmp& tmp, PTO_SITE) {                   \
        PTO_FLAG(OP, Algorithm, ALGORITHM);                                                           \
        PTO_BINARY_BODY(OP, Everywhere);                                                              \
        PTO_WANT(OP, tmp, Tmp, row);                                                                  \
        PTO_SAME(OP, "dst, src0 and src1", Dst, Src0, Src1);                                          \
        return pto_host::record(#OP, site, dst, src0, src1, tmp, Algorithm);                          \
    }

// ---- dst, src, scalar ----------------------------------------------------------------------------------------
// The scalar converts to the element type OWNER, as it does on the device.
#define PTO_SCALAR_BODY(OP)                                   \
    PTO_WANT(OP, dst, Dst, row);                              \
    PTO_WANT(OP, src, Src, row)

#define PTO_SCALAR(OP, OWNER)                                                                    \
    template <class Dst, class Src>                                                              \
    PTO_INST RecordEvent OP(Dst& dst, Src& src, typename OWNER::DType scalar, PTO_SITE) {        \
        PTO_SCALAR_BODY(OP);                                                                     \
        PTO_SAME(OP, "dst and src", Dst, Src);                                                   \
        return pto_host::record(#OP, site, dst, src, scalar);                                    \
    }

#define PTO_SCALAR_BY(OP, ALGORITHM)                                                             \
    template <auto Algorithm = ALGORITHM::DEFAULT, class Dst, class Src>                         \
    PTO_INST RecordEvent OP(Dst& dst, Src& src, typename Src::DType scalar, PTO_SITE) {          \
        PTO_FLAG(OP, Algorithm, ALGORITHM);                                                      \
        PTO_SCALAR_BODY(OP);                                                                     \
        PTO_SAME(OP, "dst and src", Dst, Src);                                                   \
        return pto_host::record(#OP, site, dst, src, scalar, Algorithm);                         \
    }

#define PTO_SCALAR_TMP_BY(OP, OWNER, ALGORITHM)                                                            \
    template <auto Algorithm = ALGORITHM::DEFAULT, class Dst, class Src, class Tmp>                        \
    PTO_INST RecordEvent OP(Dst& dst, Src& src, typename OWNER::DType scalar, Tmp& tmp, PTO_SITE) {        \
        PTO_FLAG(OP, Algorithm, ALGORITHM);                                                                \
        PTO_SCALAR_BODY(OP);                                                                               \
        PTO_WANT(OP, tmp, Tmp, row);                                                                       \
        PTO_SAME(OP, "dst and src", Dst, Src);                                                             \
        return pto_host::record(#OP, site, dst, src, scalar, tmp, Algorithm);                              \
    }

// In the vendor's CPU simulator only: no device implements these, so no emitted kernel may call them.
#define PTO_SIMULATOR_ONLY(OP)                                                                             \
    template <class First, class... Rest>                                                                  \
    PTO_INST RecordEvent OP(First&, Rest&&...) {                                                           \
        static_assert(pto_host::available<0, First>, #OP ": no device has this instruction");              \
        return {};                                                                                         \
    }

namespace pto {

using pto_host::A2A3;
using pto_host::A5;
using pto_host::Everywhere;
using pto_host::K9030;
using pto_host::Other;

PTO_UNARY(TABS)
PTO_UNARY(TNEG)
PTO_UNARY(TNOT)
PTO_UNARY(TRELU)
PTO_UNARY_BY(TEXP, ExpAlgorithm)
PTO_UNARY_BY(TLOG, LogAlgorithm)
PTO_UNARY_BY(TSQRT, SqrtAlgorithm)
PTO_UNARY_BY(TRSQRT, RsqrtAlgorithm)

PTO_BINARY(TADD, Everywhere)
PTO_BINARY(TSUB, Everywhere)
PTO_BINARY(TMUL, Everywhere)
PTO_BINARY_BY(TDIV, DivAlgorithm)
PTO_BINARY(TMIN, Everywhere)
PTO_BINARY(TMAX, Everywhere)
PTO_BINARY(TAND, Everywhere)
PTO_BINARY(TOR, Everywhere)
PTO_BINARY(TSHL, Everywhere)
PTO_BINARY(TSHR, Everywhere)
PTO_BINARY_BY(TFMOD, FmodAlgorithm)
PTO_BINARY(TFUSEDMULADD, A2A3 | A5 | Other)
PTO_BINARY(TFUSEDMULADDRELU, A2A3 | A5 | Other)
PTO_BINARY(TMULADDDST, A2A3 | A5 | Other)
PTO_BINARY(TSUBRELU, A2A3 | A5 | Other)
PTO_BINARY_CONVERT(TADDRELUCONV, A2A3 | A5 | Other)
PTO_BINARY_CONVERT(TSUBRELUCONV, A2A3 | A5 | Other)
PTO_BINARY_TMP(TXOR)
PTO_BINARY_TMP(TPRELU)
PTO_BINARY_TMP_BY(TREM, RemAlgorithm)
PTO_BINARY_TMP_BY(TPOW, PowAlgorithm)

PTO_SCALAR(TADDS, Src)
PTO_SCALAR(TSUBS, Src)
PTO_SCALAR(TMULS, Src)
PTO_SCALAR(TMAXS, Src)
PTO_SCALAR(TMINS, Src)
PTO_SCALAR(TANDS, Dst)
PTO_SCALAR(TORS, Dst)
PTO_SCALAR(TSHLS, Dst)
PTO_SCALAR(TSHRS, Dst)
PTO_SCALAR(TLRELU, Src)
PTO_SCALAR_BY(TDIVS, DivAlgorithm)
PTO_SCALAR_BY(TFMODS, FmodSAlgorithm)
PTO_SCALAR_TMP_BY(TREMS, Src, RemSAlgorithm)
PTO_SCALAR_TMP_BY(TPOWS, Dst, PowAlgorithm)

PTO_SIMULATOR_ONLY(TADDC)
PTO_SIMULATOR_ONLY(TSUBC)
PTO_SIMULATOR_ONLY(TADDSC)
PTO_SIMULATOR_ONLY(TSUBSC)

} // namespace pto

#include "pto/host/ops_special.hpp"

#endif
