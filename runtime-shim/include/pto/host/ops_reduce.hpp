// Row and column reductions, and broadcasts of a row or column into a tile.
#ifndef PTO_HOST_OPS_REDUCE_HPP
#define PTO_HOST_OPS_REDUCE_HPP

// dst, src, tmp. The destination may be a column-major column.
#define PTO_ROW_REDUCE(OP)                                                   \
    template <class Dst, class Src, class Tmp>                               \
    PTO_INST RecordEvent OP(Dst& dst, Src& src, Tmp& tmp, PTO_SITE) {        \
        PTO_WANT(OP, dst, Dst, vec);                                         \
        PTO_WANT(OP, src, Src, row);                                         \
        PTO_WANT(OP, tmp, Tmp, vec);                                         \
        PTO_SAME(OP, "dst and src", Dst, Src);                               \
        return pto_host::record(#OP, site, dst, src, tmp);                   \
    }

// dst, src
#define PTO_COL_REDUCE(OP)                                                   \
    template <class Dst, class Src>                                          \
    PTO_INST RecordEvent OP(Dst& dst, Src& src, PTO_SITE) {                  \
        PTO_WANT(OP, dst, Dst, row);                                         \
        PTO_WANT(OP, src, Src, row);                                         \
        PTO_SAME(OP, "dst and src", Dst, Src);                               \
        return pto_host::record(#OP, site, dst, src);                        \
    }

// Index of the extreme: dst, src, tmp, or with its value: value, index, src, tmp.
#define PTO_ARG_REDUCE(OP)                                                                          \
    template <class Dst, class Src, class Tmp>                                                      \
    PTO_INST RecordEvent OP(Dst& dst, Src& src, Tmp& tmp, PTO_SITE) {                               \
        PTO_WANT(OP, dst, Dst, vec);                                                                \
        PTO_WANT(OP, src, Src, row);                                                                \
        PTO_WANT(OP, tmp, Tmp, vec);                                                                \
        static_assert(pto_host::index_tile<Dst>(), #OP ": operand 'dst' must hold 32-bit integers"); \
        return pto_host::record(#OP, site, dst, src, tmp);                                          \
    }                                                                                               \
    template <class Value, class Index, class Src, class Tmp>                                       \
    PTO_INST RecordEvent OP(Value& value, Index& index, Src& src, Tmp& tmp, PTO_SITE) {             \
        PTO_WANT(OP, value, Value, vec);                                                            \
        PTO_WANT(OP, index, Index, vec);                                                            \
        PTO_WANT(OP, src, Src, row);                                                                \
        PTO_WANT(OP, tmp, Tmp, vec);                                                                \
        PTO_SAME(OP, "value and src", Value, Src);                                                  \
        return pto_host::record(#OP, site, value, index, src, tmp);                                 \
    }

// dst, src0, src1: one source has the extent of dst, the other is the row or column that is spread over it.
#define PTO_EXPAND_BODY(OP)                                                  \
    PTO_WANT(OP, dst, Dst, row);                                             \
    PTO_WANT(OP, src0, Src0, vec);                                           \
    PTO_WANT(OP, src1, Src1, vec);                                           \
    PTO_SAME(OP, "dst, src0 and src1", Dst, Src0, Src1)

#define PTO_COL_EXPAND(OP)                                                                      \
    template <class Dst, class Src0, class Src1>                                                \
    PTO_INST RecordEvent OP(Dst& dst, Src0& src0, Src1& src1, PTO_SITE) {                       \
        PTO_EXPAND_BODY(OP);                                                                    \
        return pto_host::record(#OP, site, dst, src0, src1);                                    \
    }

#define PTO_ROW_EXPAND(OP)                                                                      \
    PTO_COL_EXPAND(OP)                                                                          \
    template <class Dst, class Src0, class Src1, class Tmp>                                     \
    PTO_INST RecordEvent OP(Dst& dst, Src0& src0, Src1& src1, Tmp& tmp, PTO_SITE) {             \
        PTO_EXPAND_BODY(OP);                                                                    \
        PTO_WANT(OP, tmp, Tmp, vec);                                                            \
        return pto_host::record(#OP, site, dst, src0, src1, tmp);                               \
    }

#define PTO_COL_EXPAND_BY(OP, ALGORITHM)                                                        \
    template <auto Algorithm = ALGORITHM::DEFAULT, class Dst, class Src0, class Src1>           \
    PTO_INST RecordEvent OP(Dst& dst, Src0& src0, Src1& src1, PTO_SITE) {                       \
        PTO_FLAG(OP, Algorithm, ALGORITHM);                                                     \
        PTO_EXPAND_BODY(OP);                                                                    \
        return pto_host::record(#OP, site, dst, src0, src1, Algorithm);                         \
    }

#define PTO_ROW_EXPAND_BY(OP, ALGORITHM)                                                                  \
    PTO_COL_EXPAND_BY(OP, ALGORITHM)                                                                      \
    template <auto Algorithm = ALGORITHM::DEFAULT, class Dst, class Src0, class Src1, class Tmp>          \
    PTO_INST RecordEvent OP(Dst& dst, Src0& src0, Src1& src1, Tmp& tmp, PTO_SITE) {                       \
        PTO_FLAG(OP, Algorithm, ALGORITHM);                                                               \
        PTO_EXPAND_BODY(OP);                                                                              \
        PTO_WANT(OP, tmp, Tmp, vec);                                                                      \
        return pto_host::record(#OP, site, dst, src0, src1, tmp, Algorithm);                              \
    }

#define PTO_SPREAD(OP)                                                       \
    template <class Dst, class Src>                                          \
    PTO_INST RecordEvent OP(Dst& dst, Src& src, PTO_SITE) {                  \
        PTO_WANT(OP, dst, Dst, row);                                         \
        PTO_WANT(OP, src, Src, vec);                                         \
        PTO_SAME(OP, "dst and src", Dst, Src);                               \
        return pto_host::record(#OP, site, dst, src);                        \
    }

namespace pto_host {

template <class T>
constexpr bool index_tile() {
    return std::is_same_v<typename T::DType, int32_t> || std::is_same_v<typename T::DType, uint32_t>;
}

} // namespace pto_host

namespace pto {

PTO_ROW_REDUCE(TROWSUM)
PTO_ROW_REDUCE(TROWPROD)
PTO_ROW_REDUCE(TROWMAX)
PTO_ROW_REDUCE(TROWMIN)
PTO_COL_REDUCE(TCOLSUM)
PTO_COL_REDUCE(TCOLPROD)
PTO_COL_REDUCE(TCOLMAX)
PTO_COL_REDUCE(TCOLMIN)
PTO_ARG_REDUCE(TROWARGMAX)
PTO_ARG_REDUCE(TROWARGMIN)
PTO_ARG_REDUCE(TCOLARGMAX)
PTO_ARG_REDUCE(TCOLARGMIN)

template <class Dst, class Src, class Tmp>
PTO_INST RecordEvent TCOLSUM(Dst& dst, Src& src, Tmp& tmp, bool binary, PTO_SITE) {
    PTO_WANT(TCOLSUM, dst, Dst, row);
    PTO_WANT(TCOLSUM, src, Src, row);
    PTO_WANT(TCOLSUM, tmp, Tmp, row);
    PTO_SAME(TCOLSUM, "dst, src and tmp", Dst, Src, Tmp);
    return pto_host::record("TCOLSUM", site, dst, src, tmp, binary);
}

PTO_SPREAD(TROWEXPAND)
PTO_ROW_EXPAND(TROWEXPANDADD)
PTO_ROW_EXPAND(TROWEXPANDSUB)
PTO_ROW_EXPAND(TROWEXPANDMUL)
PTO_ROW_EXPAND_BY(TROWEXPANDDIV, DivAlgorithm)
PTO_ROW_EXPAND(TROWEXPANDMAX)
PTO_ROW_EXPAND(TROWEXPANDMIN)
PTO_ROW_EXPAND(TROWEXPANDEXPDIF)
PTO_SPREAD(TCOLEXPAND)
PTO_COL_EXPAND(TCOLEXPANDADD)
PTO_COL_EXPAND(TCOLEXPANDSUB)
PTO_COL_EXPAND(TCOLEXPANDMUL)
PTO_COL_EXPAND_BY(TCOLEXPANDDIV, DivAlgorithm)
PTO_COL_EXPAND(TCOLEXPANDMAX)
PTO_COL_EXPAND(TCOLEXPANDMIN)
PTO_COL_EXPAND(TCOLEXPANDEXPDIF)

} // namespace pto

#endif
