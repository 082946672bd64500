// Element types. Floats of 16 bits are native to clang; the narrower formats are sized storage without arithmetic.
#ifndef PTO_HOST_ELEMENT_HPP
#define PTO_HOST_ELEMENT_HPP

typedef _Float16 half;
typedef __bf16 bfloat16_t;

#define PTO_HOST_STORAGE_TYPE(NAME) \
    struct NAME {                   \
        uint8_t bits;               \
    }

PTO_HOST_STORAGE_TYPE(float8_e4m3_t);
PTO_HOST_STORAGE_TYPE(float8_e5m2_t);
PTO_HOST_STORAGE_TYPE(float8_e8m0_t);
PTO_HOST_STORAGE_TYPE(hifloat8_t);
// Two values a byte; a tile of these counts logical elements in its Cols.
PTO_HOST_STORAGE_TYPE(float4_e2m1x2_t);
PTO_HOST_STORAGE_TYPE(float4_e1m2x2_t);
PTO_HOST_STORAGE_TYPE(hifloat4x2_t);

namespace pto {
PTO_HOST_STORAGE_TYPE(int4b_t);
}

namespace pto_host {

// Values are part of the interface to the runtime: append, never renumber.
enum class Element : uint8_t {
    None = 0,
    I8 = 1, U8 = 2, I16 = 3, U16 = 4, I32 = 5, U32 = 6, I64 = 7, U64 = 8,
    F16 = 9, BF16 = 10, F32 = 11, F64 = 12,
    F8E4M3 = 13, F8E5M2 = 14, F8E8M0 = 15, HiF8 = 16,
    F4E2M1x2 = 17, F4E1M2x2 = 18, HiF4x2 = 19, I4x2 = 20, Bool = 21,
};

constexpr Element integer_element(std::size_t bytes, bool sign) {
    switch (bytes) {
        case 1: return sign ? Element::I8 : Element::U8;
        case 2: return sign ? Element::I16 : Element::U16;
        case 4: return sign ? Element::I32 : Element::U32;
        default: return sign ? Element::I64 : Element::U64;
    }
}

template <class T, class = void>
struct ElementOf {
    static constexpr Element value = Element::None;
};
template <class T>
struct ElementOf<T, std::enable_if_t<std::is_integral<T>::value>> {
    static constexpr Element value =
        std::is_same<T, bool>::value ? Element::Bool : integer_element(sizeof(T), std::is_signed<T>::value);
};

#define PTO_HOST_ELEMENT(TYPE, CODE)                     \
    template <>                                          \
    struct ElementOf<TYPE, void> {                       \
        static constexpr Element value = Element::CODE;  \
    }

PTO_HOST_ELEMENT(half, F16);
PTO_HOST_ELEMENT(bfloat16_t, BF16);
PTO_HOST_ELEMENT(float, F32);
PTO_HOST_ELEMENT(double, F64);
PTO_HOST_ELEMENT(float8_e4m3_t, F8E4M3);
PTO_HOST_ELEMENT(float8_e5m2_t, F8E5M2);
PTO_HOST_ELEMENT(float8_e8m0_t, F8E8M0);
PTO_HOST_ELEMENT(hifloat8_t, HiF8);
PTO_HOST_ELEMENT(float4_e2m1x2_t, F4E2M1x2);
PTO_HOST_ELEMENT(float4_e1m2x2_t, F4E1M2x2);
PTO_HOST_ELEMENT(hifloat4x2_t, HiF4x2);
PTO_HOST_ELEMENT(pto::int4b_t, I4x2);

template <class T>
constexpr Element element_of = ElementOf<typename std::remove_cv<T>::type>::value;

} // namespace pto_host

#endif
