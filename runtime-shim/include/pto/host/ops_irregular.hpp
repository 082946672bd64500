// Gathers, scatters, sorts, sequences and other instructions on Vec tiles that are not element-wise.
#ifndef PTO_HOST_OPS_IRREGULAR_HPP
#define PTO_HOST_OPS_IRREGULAR_HPP

namespace pto {

// ---- dst, src0, src1 with valid regions of different sizes ------------------------------------------------------
PTO_BINARY(TPARTADD, Everywhere)
PTO_BINARY(TPARTMUL, Everywhere)
PTO_BINARY(TPARTMAX, Everywhere)
PTO_BINARY(TPARTMIN, Everywhere)

#define PTO_PART_ARG(OP)                                                                                        \
    template <class Dst, class Src0, class Src1, class DstIdx, class Src0Idx, class Src1Idx>                    \
    PTO_INST RecordEvent OP(Dst& dst, Src0& src0, Src1& src1, DstIdx& dst_idx, Src0Idx& src0_idx,               \
                            Src1Idx& src1_idx, PTO_SITE) {                                                      \
        PTO_BINARY_BODY(OP, A2A3 | A5 | Other);                                                                 \
        PTO_SAME(OP, "dst, src0 and src1", Dst, Src0, Src1);                                                    \
        PTO_WANT(OP, dst_idx, DstIdx, row);                                                                     \
        PTO_WANT(OP, src0_idx, Src0Idx, row);                                                                   \
        PTO_WANT(OP, src1_idx, Src1Idx, row);                                                                   \
        PTO_SAME(OP, "the index tiles", DstIdx, Src0Idx, Src1Idx);                                              \
        return pto_host::record(#OP, site, dst, src0, src1, dst_idx, src0_idx, src1_idx);                       \
    }

PTO_PART_ARG(TPARTARGMAX)
PTO_PART_ARG(TPARTARGMIN)

// ---- gather and scatter ---------------------------------------------------------------------------------------
template <class Dst, class Src, class Index, class Tmp>
PTO_INST RecordEvent TGATHER(Dst& dst, Src& src, Index& index, Tmp& tmp, PTO_SITE) {
    PTO_WANT(TGATHER, dst, Dst, vec);
    PTO_WANT(TGATHER, src, Src, vec);
    PTO_WANT(TGATHER, index, Index, vec);
    PTO_WANT(TGATHER, tmp, Tmp, vec);
    PTO_SAME(TGATHER, "dst and src", Dst, Src);
    return pto_host::record("TGATHER", site, dst, src, index, tmp);
}
template <class Dst, class Src, class Value, class Count, class Tmp, CmpMode Mode>
PTO_INST RecordEvent TGATHER(Dst& dst, Src& src, Value& value, Count& count, Tmp& tmp, int offset, PTO_SITE) {
    PTO_WANT(TGATHER, dst, Dst, vec);
    PTO_WANT(TGATHER, src, Src, vec);
    PTO_WANT(TGATHER, value, Value, vec);
    PTO_WANT(TGATHER, count, Count, vec);
    PTO_WANT(TGATHER, tmp, Tmp, vec);
    return pto_host::record("TGATHER", site, dst, src, value, count, tmp, offset, Mode);
}
template <class Dst, class Src, MaskPattern Pattern = MaskPattern::P1111, auto Axis = GatherAxis::GATHER_ROW>
PTO_INST RecordEvent TGATHER(Dst& dst, Src& src, PTO_SITE) {
    PTO_FLAG(TGATHER, Axis, GatherAxis);
    PTO_WANT(TGATHER, dst, Dst, vec);
    PTO_WANT(TGATHER, src, Src, vec);
    return pto_host::record("TGATHER", site, dst, src, Pattern, Axis);
}

template <class Dst, class Src, class Offset>
PTO_INST RecordEvent TGATHERB(Dst& dst, Src& src, Offset& offset, PTO_SITE) {
    PTO_WANT(TGATHERB, dst, Dst, vec);
    PTO_WANT(TGATHERB, src, Src, vec);
    PTO_WANT(TGATHERB, offset, Offset, vec);
    return pto_host::record("TGATHERB", site, dst, src, offset);
}

template <class Dst, class Src, class Index>
PTO_INST RecordEvent TSCATTER(Dst& dst, Src& src, Index& index, PTO_SITE) {
    PTO_WANT(TSCATTER, dst, Dst, vec);
    PTO_WANT(TSCATTER, src, Src, vec);
    PTO_WANT(TSCATTER, index, Index, vec);
    PTO_SAME(TSCATTER, "dst and src", Dst, Src);
    return pto_host::record("TSCATTER", site, dst, src, index);
}
template <MaskPattern Pattern = MaskPattern::P1111, auto Axis = ScatterAxis::SCATTER_ROW, class Dst, class Src>
PTO_INST RecordEvent TSCATTER(Dst& dst, Src& src, PTO_SITE) {
    PTO_FLAG(TSCATTER, Axis, ScatterAxis);
    PTO_WANT(TSCATTER, dst, Dst, vec);
    PTO_WANT(TSCATTER, src, Src, vec);
    return pto_host::record("TSCATTER", site, dst, src, Pattern, Axis);
}

// ---- sort -----------------------------------------------------------------------------------------------------
template <class Dst, class Src, class Index>
PTO_INST RecordEvent TSORT32(Dst& dst, Src& src, Index& index, PTO_SITE) {
    PTO_WANT(TSORT32, dst, Dst, row);
    PTO_WANT(TSORT32, src, Src, row);
    PTO_WANT(TSORT32, index, Index, row);
    PTO_SAME(TSORT32, "dst and src", Dst, Src);
    return pto_host::record("TSORT32", site, dst, src, index);
}
template <class Dst, class Src, class Index, class Tmp, class = std::enable_if_t<is_tile_data_v<Tmp>>>
PTO_INST RecordEvent TSORT32(Dst& dst, Src& src, Index& index, Tmp& tmp, PTO_SITE) {
    PTO_WANT(TSORT32, dst, Dst, row);
    PTO_WANT(TSORT32, src, Src, row);
    PTO_WANT(TSORT32, index, Index, row);
    PTO_WANT(TSORT32, tmp, Tmp, row);
    PTO_SAME(TSORT32, "dst and src", Dst, Src);
    return pto_host::record("TSORT32", site, dst, src, index, tmp);
}

// Tells a kernel that brings its own copy of the structure below that it is here.
#define TMRGSORT_HPP

// How many elements of each list a merge consumed; the runtime fills it.
struct MrgSortExecutedNumList {
    uint16_t mrgSortList0;
    uint16_t mrgSortList1;
    uint16_t mrgSortList2;
    uint16_t mrgSortList3;
};

#define PTO_MERGE_BODY                          \
    PTO_WANT(TMRGSORT, dst, Dst, row);          \
    PTO_WANT(TMRGSORT, tmp, Tmp, row);          \
    PTO_WANT(TMRGSORT, src0, Src0, row);        \
    PTO_WANT(TMRGSORT, src1, Src1, row);        \
    PTO_SAME(TMRGSORT, "dst, tmp and the sources", Dst, Tmp, Src0, Src1)

template <class Dst, class Tmp, class Src0, class Src1, class Src2, class Src3, bool Exhausted>
PTO_INST RecordEvent TMRGSORT(Dst& dst, MrgSortExecutedNumList& done, Tmp& tmp, Src0& src0, Src1& src1, Src2& src2,
                              Src3& src3, PTO_SITE) {
    PTO_MERGE_BODY;
    PTO_WANT(TMRGSORT, src2, Src2, row);
    PTO_WANT(TMRGSORT, src3, Src3, row);
    return pto_host::record("TMRGSORT", site, dst, pto_host::memory(done), tmp, src0, src1, src2, src3, Exhausted);
}
template <class Dst, class Tmp, class Src0, class Src1, class Src2, bool Exhausted>
PTO_INST RecordEvent TMRGSORT(Dst& dst, MrgSortExecutedNumList& done, Tmp& tmp, Src0& src0, Src1& src1, Src2& src2,
                              PTO_SITE) {
    PTO_MERGE_BODY;
    PTO_WANT(TMRGSORT, src2, Src2, row);
    return pto_host::record("TMRGSORT", site, dst, pto_host::memory(done), tmp, src0, src1, src2, Exhausted);
}
template <class Dst, class Tmp, class Src0, class Src1, bool Exhausted>
PTO_INST RecordEvent TMRGSORT(Dst& dst, MrgSortExecutedNumList& done, Tmp& tmp, Src0& src0, Src1& src1, PTO_SITE) {
    PTO_MERGE_BODY;
    return pto_host::record("TMRGSORT", site, dst, pto_host::memory(done), tmp, src0, src1, Exhausted);
}
template <class Dst, class Src>
PTO_INST RecordEvent TMRGSORT(Dst& dst, Src& src, uint32_t block_length, PTO_SITE) {
    PTO_WANT(TMRGSORT, dst, Dst, row);
    PTO_WANT(TMRGSORT, src, Src, row);
    PTO_SAME(TMRGSORT, "dst and src", Dst, Src);
    return pto_host::record("TMRGSORT", site, dst, src, block_length);
}

// ---- sequences ------------------------------------------------------------------------------------------------
template <class Dst, class T, int Descending>
PTO_INST RecordEvent TCI(Dst& dst, T start, PTO_SITE) {
    PTO_WANT(TCI, dst, Dst, row);
    static_assert(std::is_same_v<T, typename Dst::DType>, "TCI: 'start' must have the element type of dst");
    return pto_host::record("TCI", site, dst, start, Descending);
}
template <class Dst, class Tmp, class T, int Descending>
PTO_INST RecordEvent TCI(Dst& dst, T start, Tmp& tmp, PTO_SITE) {
    PTO_WANT(TCI, dst, Dst, row);
    PTO_WANT(TCI, tmp, Tmp, vec);
    static_assert(std::is_same_v<T, typename Dst::DType>, "TCI: 'start' must have the element type of dst");
    return pto_host::record("TCI", site, dst, start, tmp, Descending);
}

template <class Dst, int UpperOrLower>
PTO_INST RecordEvent TTRI(Dst& dst, int diagonal, PTO_SITE) {
    PTO_WANT(TTRI, dst, Dst, row);
    return pto_host::record("TTRI", site, dst, diagonal, UpperOrLower);
}

template <HistByte Byte, class Dst, class Src, class Index>
PTO_INST RecordEvent THISTOGRAM(Dst& dst, Src& src, Index& index, PTO_SITE) {
    PTO_AVAILABLE(THISTOGRAM, A5 | K9030 | Other, Dst);
    PTO_WANT(THISTOGRAM, dst, Dst, vec);
    PTO_WANT(THISTOGRAM, src, Src, vec);
    PTO_WANT(THISTOGRAM, index, Index, vec);
    return pto_host::record("THISTOGRAM", site, dst, src, index, Byte);
}

using TRandomKey = uint32_t[2];
using TRandomCounter = uint32_t[4];

template <uint16_t Rounds = 10, class Dst>
PTO_INST RecordEvent TRANDOM(Dst& dst, TRandomKey& key, TRandomCounter& counter, PTO_SITE) {
    PTO_AVAILABLE(TRANDOM, A5 | Other, Dst);
    PTO_WANT(TRANDOM, dst, Dst, row);
    return pto_host::record("TRANDOM", site, dst, pto_host::memory(key), pto_host::memory(counter), Rounds);
}

// ---- debug ----------------------------------------------------------------------------------------------------
template <PrintFormat Format = PrintFormat::Width8_Precision4, class Src>
PTO_INST void TPRINT(Src& src, PTO_SITE) {
    PTO_WANT(TPRINT, src, Src, tile_or_global);
    pto_host::record("TPRINT", site, src, Format);
}
template <PrintFormat Format = PrintFormat::Width8_Precision4, class Src, class Tmp>
PTO_INST void TPRINT(Src& src, Tmp& tmp, PTO_SITE) {
    PTO_WANT(TPRINT, src, Src, tile);
    PTO_WANT(TPRINT, tmp, Tmp, global);
    pto_host::record("TPRINT", site, src, tmp, Format);
}

} // namespace pto

#endif
