// Compile-time checks of instruction operands, and the words they are reported in.
#ifndef PTO_HOST_CHECK_HPP
#define PTO_HOST_CHECK_HPP

namespace pto_host {

template <class T>
constexpr bool tile = pto::is_tile_data_v<T>;
template <class T>
constexpr bool global = pto::is_global_data_v<T>;
template <class T>
constexpr bool conv = pto::is_conv_tile_v<T>;
template <class T>
constexpr bool tile_or_conv = tile<T> || conv<T>;
template <class T>
constexpr bool tile_or_global = tile<T> || global<T>;

// Whether T is a tile in one of the given places.
template <class T, pto::TileType... Places>
constexpr bool placed() {
    if constexpr (tile_or_conv<T>) {
        return ((T::Loc == Places) || ...);
    } else {
        return false;
    }
}

template <class T>
constexpr bool vec = tile<T> && placed<T, pto::TileType::Vec>();
template <class T>
constexpr bool mat = tile<T> && placed<T, pto::TileType::Mat>();
template <class T>
constexpr bool left = placed<T, pto::TileType::Left>();
template <class T>
constexpr bool right = placed<T, pto::TileType::Right>();
template <class T>
constexpr bool left_or_right = left<T> || right<T>;
template <class T>
constexpr bool acc = placed<T, pto::TileType::Acc>();
template <class T>
constexpr bool bias = placed<T, pto::TileType::Bias>();
template <class T>
constexpr bool scaling = placed<T, pto::TileType::Scaling>();
template <class T>
constexpr bool scale_left = placed<T, pto::TileType::ScaleLeft>();
template <class T>
constexpr bool scale_right = placed<T, pto::TileType::ScaleRight>();
template <class T>
constexpr bool vec_or_mat = tile<T> && placed<T, pto::TileType::Vec, pto::TileType::Mat>();
template <class T>
constexpr bool vec_or_acc = placed<T, pto::TileType::Vec, pto::TileType::Acc>();
template <class T>
constexpr bool vec_mat_or_acc = tile<T> && placed<T, pto::TileType::Vec, pto::TileType::Mat, pto::TileType::Acc>();
template <class T>
constexpr bool load_target = tile_or_conv<T> && placed<T, pto::TileType::Vec, pto::TileType::Mat>();
template <class T>
constexpr bool conv_mat = conv<T> && placed<T, pto::TileType::Mat>();

template <class T>
constexpr bool vec_row() {
    if constexpr (vec<T>) {
        return T::isRowMajor && !T::isBoxedLayout;
    } else {
        return false;
    }
}
template <class T>
constexpr bool row = vec_row<T>();

template <class T, class... Others>
constexpr bool same_element() {
    return (std::is_same_v<typename T::DType, typename Others::DType> && ...);
}

template <class T, class... Allowed>
constexpr bool one_of = (std::is_same_v<std::remove_cv_t<T>, Allowed> || ...);

// Whether the types of the given flags appear in `Allowed`, each at most once and in that order.
template <class...>
struct List {};
template <class... Allowed>
constexpr bool in_order(List<>, List<Allowed...>) {
    return true;
}
template <class Flag, class... Flags>
constexpr bool in_order(List<Flag, Flags...>, List<>) {
    return false;
}
template <class Flag, class... Flags, class First, class... Allowed>
constexpr bool in_order(List<Flag, Flags...>, List<First, Allowed...>) {
    if constexpr (std::is_same_v<Flag, First>) {
        return in_order(List<Flags...>{}, List<Allowed...>{});
    } else {
        return in_order(List<Flag, Flags...>{}, List<Allowed...>{});
    }
}

// Architectures that implement an instruction.
enum Arch : unsigned { A2A3 = 1, A5 = 2, K9030 = 4, Other = 8, Everywhere = 15 };
#if defined(PTO_NPU_ARCH_A2A3)
constexpr unsigned this_arch = A2A3;
#elif defined(PTO_NPU_ARCH_A5)
constexpr unsigned this_arch = A5;
#elif defined(PTO_NPU_ARCH_KIRIN9030)
constexpr unsigned this_arch = K9030;
#else
constexpr unsigned this_arch = Other;
#endif

// Depends on a template argument, so that it fails where the instruction is used and not where it is declared.
template <unsigned Arches, class>
constexpr bool available = (Arches & this_arch) != 0;

} // namespace pto_host

#define PTO_HOST_SAYS_tile "a tile"
#define PTO_HOST_SAYS_global "a GlobalTensor"
#define PTO_HOST_SAYS_conv "a ConvTile"
#define PTO_HOST_SAYS_conv_mat "a ConvTile in Mat"
#define PTO_HOST_SAYS_tile_or_conv "a Tile or ConvTile"
#define PTO_HOST_SAYS_tile_or_global "a tile or a GlobalTensor"
#define PTO_HOST_SAYS_vec "a Vec tile"
#define PTO_HOST_SAYS_row "an unboxed row-major Vec tile"
#define PTO_HOST_SAYS_mat "a Mat tile"
#define PTO_HOST_SAYS_left "a Left tile"
#define PTO_HOST_SAYS_right "a Right tile"
#define PTO_HOST_SAYS_left_or_right "a Left or Right tile"
#define PTO_HOST_SAYS_acc "an Acc tile"
#define PTO_HOST_SAYS_bias "a Bias tile"
#define PTO_HOST_SAYS_scaling "a Scaling tile"
#define PTO_HOST_SAYS_scale_left "a ScaleLeft tile"
#define PTO_HOST_SAYS_scale_right "a ScaleRight tile"
#define PTO_HOST_SAYS_vec_or_mat "a Vec or Mat tile"
#define PTO_HOST_SAYS_vec_or_acc "a Vec or Acc tile"
#define PTO_HOST_SAYS_vec_mat_or_acc "a Vec, Mat or Acc tile"
#define PTO_HOST_SAYS_load_target "a Tile or ConvTile in Vec or Mat"

// PTO_WANT(TADD, src0, Src0, vec): operand `src0` of type Src0 must be a Vec tile.
#define PTO_WANT(OP, OPERAND, TYPE, ROLE) \
    static_assert(::pto_host::ROLE<TYPE>, #OP ": operand '" #OPERAND "' must be " PTO_HOST_SAYS_##ROLE)

#define PTO_SAME(OP, WHO, ...) \
    static_assert(::pto_host::same_element<__VA_ARGS__>(), #OP ": " WHO " must hold the same element type")

#define PTO_FLAG(OP, VALUE, ...) \
    static_assert(::pto_host::one_of<decltype(VALUE), __VA_ARGS__>, #OP ": template flag must be one of " #__VA_ARGS__)

// The template flags of a call, each optional, in this order.
#define PTO_FLAGS(OP, PACK, ...)                                                                                \
    static_assert(::pto_host::in_order(::pto_host::List<std::remove_cv_t<decltype(PACK)>...>{},                 \
                                       ::pto_host::List<__VA_ARGS__>{}),                                        \
                  #OP ": template flags must be, in this order, " #__VA_ARGS__)

#define PTO_AVAILABLE(OP, ARCHES, TYPE) \
    static_assert(::pto_host::available<(ARCHES), TYPE>, #OP ": this architecture has no such instruction")

// Last parameter of every instruction.
#define PTO_SITE ::pto_host::Site site = ::pto_host::Site::here()

#endif
