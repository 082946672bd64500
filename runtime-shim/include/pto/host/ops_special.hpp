// Element-wise instructions whose operands follow no family: selection, comparison, conversion, quantisation, fills.
#ifndef PTO_HOST_OPS_SPECIAL_HPP
#define PTO_HOST_OPS_SPECIAL_HPP

namespace pto {

template <auto Algorithm = DivAlgorithm::DEFAULT, class Dst, class Src>
PTO_INST RecordEvent TDIVS(Dst& dst, typename Dst::DType scalar, Src& src, PTO_SITE) {
    PTO_FLAG(TDIVS, Algorithm, DivAlgorithm);
    PTO_SCALAR_BODY(TDIVS);
    PTO_SAME(TDIVS, "dst and src", Dst, Src);
    return pto_host::record("TDIVS", site, dst, scalar, src, Algorithm);
}

template <auto Algorithm = RsqrtAlgorithm::DEFAULT, class Dst, class Src, class Tmp,
          class = std::enable_if_t<is_tile_data_v<Tmp>>>
PTO_INST RecordEvent TRSQRT(Dst& dst, Src& src, Tmp& tmp, PTO_SITE) {
    PTO_FLAG(TRSQRT, Algorithm, RsqrtAlgorithm);
    PTO_UNARY_BODY(TRSQRT);
    PTO_WANT(TRSQRT, tmp, Tmp, row);
    return pto_host::record("TRSQRT", site, dst, src, tmp, Algorithm);
}

// Implemented as a division, so it takes either algorithm.
template <auto Algorithm = RecipAlgorithm::DEFAULT, class Dst, class Src>
PTO_INST RecordEvent TRECIP(Dst& dst, Src& src, PTO_SITE) {
    PTO_FLAG(TRECIP, Algorithm, RecipAlgorithm, DivAlgorithm);
    PTO_UNARY_BODY(TRECIP);
    return pto_host::record("TRECIP", site, dst, src, Algorithm);
}

// dst += scalar * src; the destination may be wider than the source.
template <class Dst, class Src>
PTO_INST RecordEvent TAXPY(Dst& dst, Src& src, typename Src::DType scalar, PTO_SITE) {
    PTO_SCALAR_BODY(TAXPY);
    return pto_host::record("TAXPY", site, dst, src, scalar);
}

template <class Dst, class Src, class Tmp>
PTO_INST RecordEvent TXORS(Dst& dst, Src& src, typename Src::DType scalar, Tmp& tmp, PTO_SITE) {
    PTO_SCALAR_BODY(TXORS);
    PTO_WANT(TXORS, tmp, Tmp, row);
    PTO_SAME(TXORS, "dst and src", Dst, Src);
    return pto_host::record("TXORS", site, dst, src, scalar, tmp);
}

template <class Dst>
PTO_INST RecordEvent TEXPANDS(Dst& dst, typename Dst::DType scalar, PTO_SITE) {
    static_assert(pto_host::load_target<Dst>, "TEXPANDS: operand 'dst' must be " PTO_HOST_SAYS_load_target);
    return pto_host::record("TEXPANDS", site, dst, scalar);
}

template <class Dst, class Src0, class Src1>
PTO_INST RecordEvent TCMP(Dst& dst, Src0& src0, Src1& src1, CmpMode mode, PTO_SITE) {
    PTO_WANT(TCMP, dst, Dst, row);
    PTO_WANT(TCMP, src0, Src0, row);
    PTO_WANT(TCMP, src1, Src1, row);
    PTO_SAME(TCMP, "src0 and src1", Src0, Src1);
    return pto_host::record("TCMP", site, dst, src0, src1, mode);
}

template <class Dst, class Src0>
PTO_INST RecordEvent TCMPS(Dst& dst, Src0& src0, typename Src0::DType scalar, CmpMode mode, PTO_SITE) {
    PTO_WANT(TCMPS, dst, Dst, row);
    PTO_WANT(TCMPS, src0, Src0, row);
    return pto_host::record("TCMPS", site, dst, src0, scalar, mode);
}

template <class Dst, class Src0, class Src1, class = std::enable_if_t<is_tile_data_v<Src1>>>
PTO_INST RecordEvent TCMPS(Dst& dst, Src0& src0, Src1& src1, CmpMode mode, PTO_SITE) {
    PTO_WANT(TCMPS, dst, Dst, row);
    PTO_WANT(TCMPS, src0, Src0, row);
    PTO_WANT(TCMPS, src1, Src1, row);
    return pto_host::record("TCMPS", site, dst, src0, src1, mode);
}

// Destination and both sources are of one tile type, valid shape included.
template <class Data, class Mask, class Tmp>
PTO_INST RecordEvent TSEL(Data& dst, Mask& mask, Data& src0, Data& src1, Tmp& tmp, PTO_SITE) {
    PTO_WANT(TSEL, dst, Data, row);
    PTO_WANT(TSEL, mask, Mask, row);
    PTO_WANT(TSEL, tmp, Tmp, row);
    return pto_host::record("TSEL", site, dst, mask, src0, src1, tmp);
}

template <class Dst, class Mask, class Src, class Tmp>
PTO_INST RecordEvent TSELS(Dst& dst, Mask& mask, Src& src, Tmp& tmp, typename Src::DType scalar, PTO_SITE) {
    PTO_WANT(TSELS, dst, Dst, row);
    PTO_WANT(TSELS, mask, Mask, row);
    PTO_WANT(TSELS, src, Src, row);
    PTO_WANT(TSELS, tmp, Tmp, row);
    PTO_SAME(TSELS, "dst and src", Dst, Src);
    return pto_host::record("TSELS", site, dst, mask, src, tmp, scalar);
}

template <class Dst, class Src0, class Src1, class Tmp>
PTO_INST RecordEvent TADDDEQRELU(Dst& dst, Src0& src0, Src1& src1, float scale, Tmp& tmp, PTO_SITE) {
    PTO_BINARY_BODY(TADDDEQRELU, A2A3 | Other);
    PTO_WANT(TADDDEQRELU, tmp, Tmp, row);
    PTO_SAME(TADDDEQRELU, "src0 and src1", Src0, Src1);
    return pto_host::record("TADDDEQRELU", site, dst, src0, src1, scale, tmp);
}

template <class Dst, class Src>
PTO_INST RecordEvent TPAIRREDUCESUM(Dst& dst, Src& src, PTO_SITE) {
    PTO_AVAILABLE(TPAIRREDUCESUM, A2A3 | A5 | Other, Dst);
    PTO_UNARY_BODY(TPAIRREDUCESUM);
    return pto_host::record("TPAIRREDUCESUM", site, dst, src);
}

// ---- conversion ----------------------------------------------------------------------------------------------
// Operands are recorded as dst, src, tmp (Null when absent), mode, saturation (Null when absent).
#define PTO_CVT_BODY                  \
    PTO_WANT(TCVT, dst, Dst, vec);    \
    PTO_WANT(TCVT, src, Src, vec)

template <bool NeedSetCtrl = true, class Dst, class Src, class Tmp, class = std::enable_if_t<is_tile_data_v<Tmp>>>
PTO_INST RecordEvent TCVT(Dst& dst, Src& src, Tmp& tmp, RoundMode mode, SaturationMode saturation, PTO_SITE) {
    PTO_CVT_BODY;
    PTO_WANT(TCVT, tmp, Tmp, vec);
    return pto_host::record("TCVT", site, dst, src, tmp, mode, saturation);
}
template <bool NeedSetCtrl = true, class Dst, class Src, class Tmp, class = std::enable_if_t<is_tile_data_v<Tmp>>>
PTO_INST RecordEvent TCVT(Dst& dst, Src& src, Tmp& tmp, RoundMode mode, PTO_SITE) {
    PTO_CVT_BODY;
    PTO_WANT(TCVT, tmp, Tmp, vec);
    return pto_host::record("TCVT", site, dst, src, tmp, mode, pto_host::Operand{});
}
template <bool NeedSetCtrl = true, class Dst, class Src>
PTO_INST RecordEvent TCVT(Dst& dst, Src& src, RoundMode mode, SaturationMode saturation, PTO_SITE) {
    PTO_CVT_BODY;
    return pto_host::record("TCVT", site, dst, src, pto_host::Operand{}, mode, saturation);
}
template <bool NeedSetCtrl = true, class Dst, class Src>
PTO_INST RecordEvent TCVT(Dst& dst, Src& src, RoundMode mode, PTO_SITE) {
    PTO_CVT_BODY;
    return pto_host::record("TCVT", site, dst, src, pto_host::Operand{}, mode, pto_host::Operand{});
}

// ---- quantisation --------------------------------------------------------------------------------------------
// Integer: dst, src, scale, offset (Null when absent), type; with a tmp tile after scale.
template <auto Type, class Dst, class Src, class Para>
PTO_INST RecordEvent TQUANT(Dst& dst, Src& src, Para& scale, Para* offset = nullptr, PTO_SITE) {
    PTO_FLAG(TQUANT, Type, QuantType);
    PTO_WANT(TQUANT, dst, Dst, vec);
    PTO_WANT(TQUANT, src, Src, vec);
    PTO_WANT(TQUANT, scale, Para, vec);
    return pto_host::record("TQUANT", site, dst, src, scale, offset, Type);
}
template <auto Type, class Dst, class Src, class Para, class Tmp, class = std::enable_if_t<is_tile_data_v<Tmp>>>
PTO_INST RecordEvent TQUANT(Dst& dst, Src& src, Para& scale, Tmp& tmp, Para* offset = nullptr, PTO_SITE) {
    PTO_FLAG(TQUANT, Type, QuantType);
    PTO_WANT(TQUANT, dst, Dst, vec);
    PTO_WANT(TQUANT, src, Src, vec);
    PTO_WANT(TQUANT, scale, Para, vec);
    PTO_WANT(TQUANT, tmp, Tmp, vec);
    return pto_host::record("TQUANT", site, dst, src, scale, tmp, offset, Type);
}

// Block formats: dst, src, exponents, maxima, scales, [exponents in ZZ order,] flags.
#define PTO_MX_BODY                                      \
    PTO_AVAILABLE(TQUANT, A5 | K9030 | Other, Dst);      \
    PTO_WANT(TQUANT, dst, Dst, vec);                     \
    PTO_WANT(TQUANT, src, Src, vec);                     \
    PTO_WANT(TQUANT, exp, Exp, vec);                     \
    PTO_WANT(TQUANT, max, Max, vec);                     \
    PTO_WANT(TQUANT, scaling, Scale, vec)

template <auto Type, auto... Flags, class Dst, class Src, class Exp, class Max, class Scale>
PTO_INST RecordEvent TQUANT(Dst& dst, Src& src, Exp* exp, Max* max, Scale* scaling, PTO_SITE) {
    PTO_MX_BODY;
    return pto_host::record("TQUANT", site, dst, src, exp, max, scaling, pto_host::Operand{}, Type, Flags...);
}
template <auto Type, auto Mode, class Dst, class Src, class Exp, class Max, class Scale>
PTO_INST RecordEvent TQUANT(Dst& dst, Src& src, Exp* exp, Max* max, Scale* scaling, Exp* exp_zz, PTO_SITE) {
    PTO_FLAG(TQUANT, Type, QuantType);
    PTO_FLAG(TQUANT, Mode, VecStoreMode);
    PTO_MX_BODY;
    return pto_host::record("TQUANT", site, dst, src, exp, max, scaling, exp_zz, Type, Mode);
}

template <class Dst, class Src, class Para>
PTO_INST RecordEvent TDEQUANT(Dst& dst, Src& src, Para& scale, Para& offset, PTO_SITE) {
    PTO_WANT(TDEQUANT, dst, Dst, row);
    PTO_WANT(TDEQUANT, src, Src, row);
    PTO_WANT(TDEQUANT, scale, Para, vec);
    return pto_host::record("TDEQUANT", site, dst, src, scale, offset);
}

} // namespace pto

#endif
