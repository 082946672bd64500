// Matrix unit: TMATMUL and TGEMV with accumulate, bias and block-scaled (MX) forms.
#ifndef PTO_HOST_OPS_MATRIX_HPP
#define PTO_HOST_OPS_MATRIX_HPP

namespace pto_host {

template <class C, class A, class B, class X, class Y, class Z>
constexpr bool typed = std::is_same_v<C, X> && std::is_same_v<A, Y> && std::is_same_v<B, Z>;

template <class T>
constexpr bool float8 = one_of<T, float8_e4m3_t, float8_e5m2_t>;
template <class T>
constexpr bool float4 = one_of<T, float4_e2m1x2_t, float4_e1m2x2_t>;

// Element types (result, left, right) that the matrix unit multiplies.
template <class Res, class Left, class Right>
constexpr bool multiplies() {
    using C = typename Res::DType;
    using A = typename Left::DType;
    using B = typename Right::DType;
    const bool everywhere = typed<C, A, B, int32_t, int8_t, int8_t> || typed<C, A, B, float, half, half> ||
                            typed<C, A, B, float, bfloat16_t, bfloat16_t> || typed<C, A, B, float, float, float>;
    const bool low_precision = std::is_same_v<C, float> && ((float8<A> && float8<B>) ||
                                                            (one_of<A, hifloat8_t> && one_of<B, hifloat8_t>));
    return everywhere || (this_arch != A2A3 && low_precision);
}

template <class Res, class Left, class Right>
constexpr bool multiplies_scaled() {
    using A = typename Left::DType;
    using B = typename Right::DType;
    return std::is_same_v<typename Res::DType, float> && ((float8<A> && float8<B>) || (float4<A> && float4<B>));
}

// From A5 on the fractal order of all three operands is fixed.
template <class Res, class Left, class Right>
constexpr bool conforms() {
    const bool fractals = !Left::isRowMajor && Left::isInnerRowMajor && Right::isRowMajor &&
                          Right::isInnerColMajor && !Res::isRowMajor && Res::isInnerRowMajor;
    return this_arch != A5 || fractals;
}

// Asked for only when all three are tiles, so that a wrong location is reported alone.
template <class Res, class Left, class Right, bool Scaled>
constexpr bool multiplicands() {
    if constexpr (acc<Res> && left<Left> && right<Right>) {
        return Scaled ? multiplies_scaled<Res, Left, Right>() : multiplies<Res, Left, Right>();
    } else {
        return true;
    }
}
template <class Res, class Left, class Right>
constexpr bool fractals() {
    if constexpr (acc<Res> && left<Left> && right<Right>) {
        return conforms<Res, Left, Right>();
    } else {
        return true;
    }
}

template <class Res, class Bias>
constexpr bool biases() {
    if constexpr (bias<Bias> && acc<Res>) {
        return Bias::Rows == 1 && std::is_same_v<typename Res::DType, typename Bias::DType>;
    } else {
        return true;
    }
}

} // namespace pto_host

#define PTO_MAD_BODY(OP, SCALED)                                                                              \
    PTO_WANT(OP, c, Res, acc);                                                                                \
    PTO_WANT(OP, a, Left, left);                                                                              \
    PTO_WANT(OP, b, Right, right);                                                                            \
    static_assert(::pto_host::multiplicands<Res, Left, Right, SCALED>(),                                      \
                  #OP ": the matrix unit does not multiply these element types into this result");            \
    static_assert(::pto_host::fractals<Res, Left, Right>(),                                                   \
                  #OP ": this architecture wants Left ColMajor/RowMajor, Right RowMajor/ColMajor, Acc "       \
                      "ColMajor/RowMajor")

#define PTO_BIAS_BODY(OP)                                                                                     \
    PTO_WANT(OP, bias, Bias, bias);                                                                           \
    static_assert(::pto_host::biases<Res, Bias>(), #OP ": the bias must be one row of the result's element type")

#define PTO_SCALE_BODY(OP)                                    \
    PTO_AVAILABLE(OP, A5 | K9030 | Other, Res);               \
    PTO_WANT(OP, a_scale, LeftScale, scale_left);             \
    PTO_WANT(OP, b_scale, RightScale, scale_right)

// Each form comes plain and with an accumulation phase as template flag.
#define PTO_MAD(OP)                                                                                           \
    template <class Res, class Left, class Right>                                                             \
    PTO_INST RecordEvent OP(Res& c, Left& a, Right& b, PTO_SITE) {                                            \
        PTO_MAD_BODY(OP, false);                                                                              \
        return pto_host::record(#OP, site, c, a, b);                                                          \
    }                                                                                                         \
    template <AccPhase Phase, class Res, class Left, class Right>                                             \
    PTO_INST RecordEvent OP(Res& c, Left& a, Right& b, PTO_SITE) {                                            \
        PTO_MAD_BODY(OP, false);                                                                              \
        return pto_host::record(#OP, site, c, a, b, Phase);                                                   \
    }

// Result and addend are of one tile type.
#define PTO_MAD_ACC(OP)                                                                                       \
    template <class Res, class Left, class Right>                                                             \
    PTO_INST RecordEvent OP(Res& c, Res& c_in, Left& a, Right& b, PTO_SITE) {                                 \
        PTO_MAD_BODY(OP, false);                                                                              \
        return pto_host::record(#OP, site, c, c_in, a, b);                                                    \
    }                                                                                                         \
    template <AccPhase Phase, class Res, class Left, class Right>                                             \
    PTO_INST RecordEvent OP(Res& c, Res& c_in, Left& a, Right& b, PTO_SITE) {                                 \
        PTO_MAD_BODY(OP, false);                                                                              \
        return pto_host::record(#OP, site, c, c_in, a, b, Phase);                                             \
    }

#define PTO_MAD_BIAS(OP)                                                                                      \
    template <class Res, class Left, class Right, class Bias>                                                 \
    PTO_INST RecordEvent OP(Res& c, Left& a, Right& b, Bias& bias, PTO_SITE) {                                \
        PTO_MAD_BODY(OP, false);                                                                              \
        PTO_BIAS_BODY(OP);                                                                                    \
        return pto_host::record(#OP, site, c, a, b, bias);                                                    \
    }                                                                                                         \
    template <AccPhase Phase, class Res, class Left, class Right, class Bias>                                 \
    PTO_INST RecordEvent OP(Res& c, Left& a, Right& b, Bias& bias, PTO_SITE) {                                \
        PTO_MAD_BODY(OP, false);                                                                              \
        PTO_BIAS_BODY(OP);                                                                                    \
        return pto_host::record(#OP, site, c, a, b, bias, Phase);                                             \
    }

#define PTO_MAD_MX_PARAMETERS Left &a, LeftScale &a_scale, Right &b, RightScale &b_scale

#define PTO_MAD_MX(OP)                                                                                        \
    template <class Res, class Left, class LeftScale, class Right, class RightScale>                          \
    PTO_INST RecordEvent OP(Res& c, PTO_MAD_MX_PARAMETERS, PTO_SITE) {                                        \
        PTO_SCALE_BODY(OP);                                                                                   \
        PTO_MAD_BODY(OP, true);                                                                               \
        return pto_host::record(#OP, site, c, a, a_scale, b, b_scale);                                        \
    }                                                                                                         \
    template <AccPhase Phase, class Res, class Left, class LeftScale, class Right, class RightScale>          \
    PTO_INST RecordEvent OP(Res& c, PTO_MAD_MX_PARAMETERS, PTO_SITE) {                                        \
        PTO_SCALE_BODY(OP);                                                                                   \
        PTO_MAD_BODY(OP, true);                                                                               \
        return pto_host::record(#OP, site, c, a, a_scale, b, b_scale, Phase);                                 \
    }                                                                                                         \
    template <class Res, class Left, class LeftScale, class Right, class RightScale>                          \
    PTO_INST RecordEvent OP(Res& c, Res& c_in, PTO_MAD_MX_PARAMETERS, PTO_SITE) {                             \
        PTO_SCALE_BODY(OP);                                                                                   \
        PTO_MAD_BODY(OP, true);                                                                               \
        return pto_host::record(#OP, site, c, c_in, a, a_scale, b, b_scale);                                  \
    }                                                                                                         \
    template <AccPhase Phase, class Res, class Left, class LeftScale, class Right, class RightScale>          \
    PTO_INST RecordEvent OP(Res& c, Res& c_in, PTO_MAD_MX_PARAMETERS, PTO_SITE) {                             \
        PTO_SCALE_BODY(OP);                                                                                   \
        PTO_MAD_BODY(OP, true);                                                                               \
        return pto_host::record(#OP, site, c, c_in, a, a_scale, b, b_scale, Phase);                           \
    }                                                                                                         \
    template <class Res, class Left, class LeftScale, class Right, class RightScale, class Bias>              \
    PTO_INST RecordEvent OP(Res& c, PTO_MAD_MX_PARAMETERS, Bias& bias, PTO_SITE) {                            \
        PTO_SCALE_BODY(OP);                                                                                   \
        PTO_MAD_BODY(OP, true);                                                                               \
        PTO_BIAS_BODY(OP);                                                                                    \
        return pto_host::record(#OP, site, c, a, a_scale, b, b_scale, bias);                                  \
    }                                                                                                         \
    template <AccPhase Phase, class Res, class Left, class LeftScale, class Right, class RightScale,          \
              class Bias>                                                                                     \
    PTO_INST RecordEvent OP(Res& c, PTO_MAD_MX_PARAMETERS, Bias& bias, PTO_SITE) {                            \
        PTO_SCALE_BODY(OP);                                                                                   \
        PTO_MAD_BODY(OP, true);                                                                               \
        PTO_BIAS_BODY(OP);                                                                                    \
        return pto_host::record(#OP, site, c, a, a_scale, b, b_scale, bias, Phase);                           \
    }

namespace pto {

PTO_MAD(TMATMUL)
PTO_MAD(TGEMV)
PTO_MAD_ACC(TMATMUL_ACC)
PTO_MAD(TMATMUL_ACC) // the addend is the result itself
PTO_MAD_ACC(TGEMV_ACC)
PTO_MAD_BIAS(TMATMUL_BIAS)
PTO_MAD_BIAS(TGEMV_BIAS)
PTO_MAD_MX(TMATMUL_MX)
PTO_MAD_MX(TGEMV_MX)

} // namespace pto

#endif
