// Moves between on-chip memories, layout changes, and the registers that configure them.
//
// Moves are recorded as: destination, source, third operand (tmp or fixpipe tile, scalar quantisation, or Null),
// row, column (for TEXTRACT and TINSERT), then flags.
#ifndef PTO_HOST_OPS_MOVE_HPP
#define PTO_HOST_OPS_MOVE_HPP

namespace pto_host {

#if defined(PTO_NPU_ARCH_A2A3)
constexpr bool has_direct_paths = false;
#else
constexpr bool has_direct_paths = true; // Vec -> Mat, Acc -> Vec, Mat -> scale
#endif

// Whether the hardware can copy from Src's memory into Dst's.
template <class Dst, class Src>
constexpr bool can_move() {
    if (placed<Src, pto::TileType::Mat>()) return left_or_right<Dst> || bias<Dst> || scaling<Dst> ||
                         (has_direct_paths && (scale_left<Dst> || scale_right<Dst>));
    if (vec<Src>) return vec<Dst> || (has_direct_paths && mat<Dst>);
    if (acc<Src>) return mat<Dst> || (has_direct_paths && vec<Dst>);
    return false;
}

template <class Dst, class Src>
constexpr bool can_insert() {
    if (vec<Src>) return vec<Dst> || (has_direct_paths && mat<Dst>);
    return acc<Src> && can_move<Dst, Src>();
}

} // namespace pto_host

#define PTO_MOVE_BODY(OP, PATH)                    \
    PTO_WANT(OP, dst, Dst, tile_or_conv);          \
    PTO_WANT(OP, src, Src, tile_or_conv);          \
    static_assert(::pto_host::PATH<Dst, Src>(),    \
                  #OP ": this architecture has no path from the memory of src to the memory of dst")

#define PTO_ONLY_ACC(OP, WHAT) static_assert(::pto_host::acc<Src>, #OP ": " WHAT " needs an Acc source")

namespace pto {

// ---- TMOV -------------------------------------------------------------------------------------------------------
template <class Dst, class Src, auto... Flags>
PTO_INST RecordEvent TMOV(Dst& dst, Src& src, PTO_SITE) {
    PTO_MOVE_BODY(TMOV, can_move);
    PTO_FLAGS(TMOV, Flags, AccToVecMode, ReluPreMode);
    return pto_host::record("TMOV", site, dst, src, pto_host::Operand{}, Flags...);
}
template <STPhase Phase, class Dst, class Src, auto... Flags>
PTO_INST RecordEvent TMOV(Dst& dst, Src& src, PTO_SITE) {
    PTO_MOVE_BODY(TMOV, can_move);
    PTO_FLAGS(TMOV, Flags, AccToVecMode, ReluPreMode);
    return pto_host::record("TMOV", site, dst, src, pto_host::Operand{}, Phase, Flags...);
}
template <class Dst, class Src, class Third, auto... Flags, class = std::enable_if_t<is_tile_data_v<Third>>>
PTO_INST RecordEvent TMOV(Dst& dst, Src& src, Third& third, PTO_SITE) {
    PTO_MOVE_BODY(TMOV, can_move);
    PTO_FLAGS(TMOV, Flags, AccToVecMode, ReluPreMode);
    return pto_host::record("TMOV", site, dst, src, third, Flags...);
}
template <int Axis, class Dst, class Src, class Third, class = std::enable_if_t<is_tile_data_v<Third>>>
PTO_INST RecordEvent TMOV(Dst& dst, Src& src, Third& third, PTO_SITE) {
    PTO_MOVE_BODY(TMOV, can_move);
    return pto_host::record("TMOV", site, dst, src, third, Axis);
}
template <STPhase Phase, class Dst, class Src, class Third, auto... Flags,
          class = std::enable_if_t<is_tile_data_v<Third>>>
PTO_INST RecordEvent TMOV(Dst& dst, Src& src, Third& third, PTO_SITE) {
    PTO_MOVE_BODY(TMOV, can_move);
    PTO_ONLY_ACC(TMOV, "a store phase");
    PTO_FLAGS(TMOV, Flags, AccToVecMode, ReluPreMode);
    return pto_host::record("TMOV", site, dst, src, third, Phase, Flags...);
}
template <class Dst, class Src, auto... Flags>
PTO_INST RecordEvent TMOV(Dst& dst, Src& src, uint64_t quant, PTO_SITE) {
    PTO_MOVE_BODY(TMOV, can_move);
    PTO_ONLY_ACC(TMOV, "quantisation");
    PTO_FLAGS(TMOV, Flags, AccToVecMode, ReluPreMode);
    return pto_host::record("TMOV", site, dst, src, quant, Flags...);
}
template <STPhase Phase, class Dst, class Src, auto... Flags>
PTO_INST RecordEvent TMOV(Dst& dst, Src& src, uint64_t quant, PTO_SITE) {
    PTO_MOVE_BODY(TMOV, can_move);
    PTO_ONLY_ACC(TMOV, "quantisation");
    PTO_FLAGS(TMOV, Flags, AccToVecMode, ReluPreMode);
    return pto_host::record("TMOV", site, dst, src, quant, Phase, Flags...);
}
template <class Dst, class Src, class Fp, ReluPreMode Relu = ReluPreMode::NoRelu>
PTO_INST RecordEvent TMOV_FP(Dst& dst, Src& src, Fp& fp, PTO_SITE) {
    PTO_MOVE_BODY(TMOV_FP, can_move);
    PTO_ONLY_ACC(TMOV_FP, "quantisation");
    PTO_WANT(TMOV_FP, fp, Fp, scaling);
    return pto_host::record("TMOV_FP", site, dst, src, fp, Relu);
}
template <STPhase Phase, class Dst, class Src, class Fp, ReluPreMode Relu = ReluPreMode::NoRelu>
PTO_INST RecordEvent TMOV_FP(Dst& dst, Src& src, Fp& fp, PTO_SITE) {
    PTO_MOVE_BODY(TMOV_FP, can_move);
    PTO_ONLY_ACC(TMOV_FP, "quantisation");
    PTO_WANT(TMOV_FP, fp, Fp, scaling);
    return pto_host::record("TMOV_FP", site, dst, src, fp, Phase, Relu);
}

// ---- TEXTRACT and TINSERT ---------------------------------------------------------------------------------------
// One set of overloads for both: the sub-tile of src at (row, col), or the place in dst at (row, col).
#define PTO_WINDOW(OP, PATH)                                                                                         \
    template <class Dst, class Src, auto... Flags>                                                                   \
    PTO_INST RecordEvent OP(Dst& dst, Src& src, uint16_t row, uint16_t col, PTO_SITE) {                              \
        PTO_MOVE_BODY(OP, PATH);                                                                                     \
        PTO_FLAGS(OP, Flags, AccToVecMode, ReluPreMode);                                                             \
        return pto_host::record(#OP, site, dst, src, pto_host::Operand{}, row, col, Flags...);                       \
    }                                                                                                                \
    template <class Dst, class Src, auto... Flags>                                                                   \
    PTO_INST RecordEvent OP(Dst& dst, Src& src, uint64_t quant, uint16_t row, uint16_t col, PTO_SITE) {              \
        PTO_MOVE_BODY(OP, PATH);                                                                                     \
        PTO_ONLY_ACC(OP, "quantisation");                                                                            \
        PTO_FLAGS(OP, Flags, AccToVecMode, ReluPreMode);                                                             \
        return pto_host::record(#OP, site, dst, src, quant, row, col, Flags...);                                     \
    }                                                                                                                \
    template <class Dst, class Src, class Fp, AccToVecMode Mode, ReluPreMode Relu = ReluPreMode::NoRelu>             \
    PTO_INST RecordEvent OP(Dst& dst, Src& src, Fp& fp, uint16_t row, uint16_t col, PTO_SITE) {                      \
        PTO_MOVE_BODY(OP, PATH);                                                                                     \
        PTO_ONLY_ACC(OP, "quantisation");                                                                            \
        PTO_WANT(OP, fp, Fp, scaling);                                                                               \
        return pto_host::record(#OP, site, dst, src, fp, row, col, Mode, Relu);                                      \
    }                                                                                                                \
    template <class Dst, class Src, class Fp, ReluPreMode Relu = ReluPreMode::NoRelu>                                \
    PTO_INST RecordEvent OP##_FP(Dst& dst, Src& src, Fp& fp, uint16_t row, uint16_t col, PTO_SITE) {                 \
        PTO_MOVE_BODY(OP##_FP, PATH);                                                                                \
        PTO_ONLY_ACC(OP##_FP, "quantisation");                                                                       \
        PTO_WANT(OP##_FP, fp, Fp, scaling);                                                                          \
        return pto_host::record(#OP "_FP", site, dst, src, fp, row, col, Relu);                                      \
    }

PTO_WINDOW(TEXTRACT, can_move)
PTO_WINDOW(TINSERT, can_insert)

template <class Dst, class Src>
PTO_INST RecordEvent TEXTRACT(Dst& dst, Src& src, uint16_t row = 0, PTO_SITE) {
    return TEXTRACT(dst, src, row, uint16_t(0), site);
}
// Two destinations, for a Vec source.
template <class Dst0, class Dst1, class Src, class = std::enable_if_t<is_tile_data_v<Src>>>
PTO_INST RecordEvent TEXTRACT(Dst0& dst0, Dst1& dst1, Src& src, uint16_t row0 = 0, uint16_t col0 = 0,
                              uint16_t row1 = 0, uint16_t col1 = 0, PTO_SITE) {
    PTO_WANT(TEXTRACT, dst0, Dst0, vec);
    PTO_WANT(TEXTRACT, dst1, Dst1, vec);
    PTO_WANT(TEXTRACT, src, Src, vec);
    return pto_host::record("TEXTRACT", site, dst0, dst1, src, row0, col0, row1, col1);
}
template <TInsertMode Mode, class Dst, class Src>
PTO_INST RecordEvent TINSERT(Dst& dst, Src& src, uint16_t row = 0, uint16_t col = 0, PTO_SITE) {
    PTO_MOVE_BODY(TINSERT, can_insert);
    return pto_host::record("TINSERT", site, dst, src, pto_host::Operand{}, row, col, Mode);
}

// ---- layout -----------------------------------------------------------------------------------------------------
template <class Dst, class Src, class Tmp>
PTO_INST RecordEvent TTRANS(Dst& dst, Src& src, Tmp& tmp, PTO_SITE) {
    static_assert(pto_host::placed<Dst, TileType::Vec>(), "TTRANS: operand 'dst' must be in Vec");
    static_assert(pto_host::placed<Src, TileType::Vec>(), "TTRANS: operand 'src' must be in Vec");
    static_assert(pto_host::placed<Tmp, TileType::Vec>(), "TTRANS: operand 'tmp' must be in Vec");
    PTO_SAME(TTRANS, "dst and src", Dst, Src);
    return pto_host::record("TTRANS", site, dst, src, tmp);
}

#define PTO_CONCAT_BODY                         \
    PTO_WANT(TCONCAT, dst, Dst, vec);           \
    PTO_WANT(TCONCAT, src0, Src0, vec);         \
    PTO_WANT(TCONCAT, src1, Src1, vec);         \
    PTO_SAME(TCONCAT, "dst, src0 and src1", Dst, Src0, Src1)

template <class Dst, class Src0, class Src1>
PTO_INST RecordEvent TCONCAT(Dst& dst, Src0& src0, Src1& src1, PTO_SITE) {
    PTO_CONCAT_BODY;
    return pto_host::record("TCONCAT", site, dst, src0, src1);
}
template <class Dst, class Src0, class Src1, class Idx0, class Idx1>
PTO_INST RecordEvent TCONCAT(Dst& dst, Src0& src0, Src1& src1, Idx0& idx0, Idx1& idx1, PTO_SITE) {
    PTO_CONCAT_BODY;
    PTO_WANT(TCONCAT, idx0, Idx0, vec);
    PTO_WANT(TCONCAT, idx1, Idx1, vec);
    return pto_host::record("TCONCAT", site, dst, src0, src1, idx0, idx1);
}
template <class Dst, class Src0, class Src1, class DstIdx, class Idx0, class Idx1>
PTO_INST RecordEvent TCONCAT(Dst& dst, Src0& src0, Src1& src1, DstIdx& dst_idx, Idx0& idx0, Idx1& idx1, PTO_SITE) {
    PTO_CONCAT_BODY;
    PTO_WANT(TCONCAT, dst_idx, DstIdx, vec);
    PTO_WANT(TCONCAT, idx0, Idx0, vec);
    PTO_WANT(TCONCAT, idx1, Idx1, vec);
    return pto_host::record("TCONCAT", site, dst, src0, src1, dst_idx, idx0, idx1);
}

// Padding of a Mat tile in place; the value is a template argument.
template <class Data, PadValue Pad = PadValue::Zero, std::enable_if_t<pto_host::mat<Data>, int> = 0>
PTO_INST RecordEvent TFILLPAD(Data& dst, Data& src, PTO_SITE) {
    return pto_host::record("TFILLPAD", site, dst, src, Pad);
}
#define PTO_FILL_BODY(OP)                                                                                        \
    PTO_WANT(OP, dst, Dst, vec);                                                                                 \
    PTO_WANT(OP, src, Src, vec);                                                                                 \
    static_assert(uint64_t(Dst::PadVal) != 0, #OP ": the pad value of dst must not be Null");                    \
    static_assert(sizeof(typename Dst::DType) == sizeof(typename Src::DType),                                    \
                  #OP ": dst and src must have elements of one width")

template <TFillPadMode Mode = TFillPadMode::Normal, class Dst, class Src,
          std::enable_if_t<pto_host::vec<Dst> && pto_host::vec<Src>, int> = 0>
PTO_INST RecordEvent TFILLPAD(Dst& dst, Src& src, PTO_SITE) {
    PTO_FILL_BODY(TFILLPAD);
    return pto_host::record("TFILLPAD", site, dst, src, Mode);
}
template <class Dst, class Src>
PTO_INST RecordEvent TFILLPAD_INPLACE(Dst& dst, Src& src, PTO_SITE) {
    PTO_FILL_BODY(TFILLPAD_INPLACE);
    return pto_host::record("TFILLPAD_INPLACE", site, dst, src);
}
template <class Dst, class Src>
PTO_INST RecordEvent TFILLPAD_EXPAND(Dst& dst, Src& src, PTO_SITE) {
    PTO_FILL_BODY(TFILLPAD_EXPAND);
    return pto_host::record("TFILLPAD_EXPAND", site, dst, src);
}

#define PTO_INTERLEAVE(OP)                                                                       \
    template <class Dst, class Src>                                                              \
    PTO_INST RecordEvent OP(Dst& dst1, Dst& dst0, Src& src1, Src& src0, PTO_SITE) {              \
        PTO_AVAILABLE(OP, A5 | Other, Dst);                                                      \
        PTO_WANT(OP, dst1, Dst, row);                                                            \
        PTO_WANT(OP, src1, Src, row);                                                            \
        PTO_SAME(OP, "destinations and sources", Dst, Src);                                      \
        return pto_host::record(#OP, site, dst1, dst0, src1, src0);                              \
    }

PTO_INTERLEAVE(TINTERLEAVE)
PTO_INTERLEAVE(TDEINTERLEAVE)

template <class Dst, class Src>
PTO_INST RecordEvent TDEINTERLEAVE(Dst& dst1, Dst& dst0, Src& src, PTO_SITE) {
    PTO_AVAILABLE(TDEINTERLEAVE, A5 | Other, Dst);
    PTO_WANT(TDEINTERLEAVE, dst1, Dst, row);
    PTO_WANT(TDEINTERLEAVE, src, Src, row);
    return pto_host::record("TDEINTERLEAVE", site, dst1, dst0, src);
}

// ---- convolution and configuration registers ----------------------------------------------------------------------
template <class Dst, class Src, SetFmatrixMode Mode = SetFmatrixMode::FMATRIX_A_MANUAL>
PTO_INST RecordEvent TIMG2COL(Dst& dst, Src& src, uint16_t pos_m = 0, uint16_t pos_k = 0, PTO_SITE) {
    PTO_AVAILABLE(TIMG2COL, A2A3 | A5 | Other, Dst);
    PTO_WANT(TIMG2COL, dst, Dst, left_or_right);
    PTO_WANT(TIMG2COL, src, Src, conv_mat);
    return pto_host::record("TIMG2COL", site, dst, src, pos_m, pos_k, Mode);
}

#define PTO_IMG2COL_REGISTER(OP)                                                                 \
    template <class Src, SetFmatrixMode Mode = SetFmatrixMode::FMATRIX_A_MANUAL>                 \
    PTO_INST RecordEvent OP(Src& src, PTO_SITE) {                                                \
        PTO_WANT(OP, src, Src, conv);                                                            \
        return pto_host::record(#OP, site, src, Mode);                                           \
    }

PTO_IMG2COL_REGISTER(SETFMATRIX)
PTO_IMG2COL_REGISTER(SET_IMG2COL_RPT)
PTO_IMG2COL_REGISTER(SET_IMG2COL_PADDING)

// The result type decides how the hardware reads the scalar; it is recorded as a zero of that type.
template <class Out>
PTO_INST RecordEvent SET_QUANT_SCALAR(float scale, PTO_SITE) {
    return pto_host::record("SET_QUANT_SCALAR", site, scale, Out{});
}
template <class Fp>
PTO_INST RecordEvent SET_QUANT_VECTOR(Fp& fp, PTO_SITE) {
    PTO_WANT(SET_QUANT_VECTOR, fp, Fp, scaling);
    return pto_host::record("SET_QUANT_VECTOR", site, fp);
}

} // namespace pto

#endif
