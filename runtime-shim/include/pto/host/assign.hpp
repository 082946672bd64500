// TASSIGN: binds a tile to an address, or a global tensor to a pointer. The form with the address as a template
// argument is checked against the buffer's capacity and alignment.
//
// With -D__PTO_AUTO__ addresses are not the kernel's business: TASSIGN of a tile checks and does nothing, and every
// declaration of a tile gets memory of its own from the runtime.
#ifndef PTO_HOST_ASSIGN_HPP
#define PTO_HOST_ASSIGN_HPP

namespace pto_host {

// Capacity and alignment of the buffer behind a tile location, in bytes. A Ctrl tile has no buffer.
template <pto::TileType Loc>
struct Buffer;

#define PTO_HOST_BUFFER(LOC, SIZE, ALIGN)              \
    template <>                                        \
    struct Buffer<pto::TileType::LOC> {                \
        static constexpr std::size_t capacity = SIZE;  \
        static constexpr std::size_t alignment = ALIGN; \
    }

PTO_HOST_BUFFER(Vec, PTO_UBUF_SIZE_BYTES, PTO_UBUF_ALIGN_BYTES);
PTO_HOST_BUFFER(Mat, PTO_CBUF_SIZE_BYTES, PTO_CBUF_ALIGN_BYTES);
PTO_HOST_BUFFER(Left, PTO_L0A_SIZE_BYTES, PTO_L0A_ALIGN_BYTES);
PTO_HOST_BUFFER(Right, PTO_L0B_SIZE_BYTES, PTO_L0B_ALIGN_BYTES);
PTO_HOST_BUFFER(Acc, PTO_L0C_SIZE_BYTES, PTO_L0C_ALIGN_BYTES);
PTO_HOST_BUFFER(Bias, PTO_BIAS_SIZE_BYTES, PTO_BIAS_ALIGN_BYTES);
PTO_HOST_BUFFER(Scaling, PTO_FBUF_SIZE_BYTES, PTO_FBUF_ALIGN_BYTES);
PTO_HOST_BUFFER(ScaleLeft, PTO_SCALELEFT_SIZE_BYTES, PTO_L0A_ALIGN_BYTES);
PTO_HOST_BUFFER(ScaleRight, PTO_SCALERIGHT_SIZE_BYTES, PTO_L0B_ALIGN_BYTES);

// Storage of a tile in bytes. Padding counts, the valid shape does not; two-in-a-byte formats count whole bytes.
template <class T>
constexpr std::size_t storage_bytes() {
    if constexpr (pto::is_conv_tile_v<T>) {
        return std::size_t(T::bufferSize) * sizeof(typename T::DType);
    } else {
        return std::size_t(T::Rows) * T::Cols * sizeof(typename T::DType);
    }
}

// The asserts stand in a function so that every one that fails is reported, in this order.
template <class T, std::size_t Address>
constexpr void check_address() {
    constexpr std::size_t bytes = storage_bytes<T>();
    constexpr std::size_t capacity = Buffer<T::Loc>::capacity;
    constexpr std::size_t alignment = Buffer<T::Loc>::alignment;
    static_assert(capacity > 0,
                  "[SA-0351] TASSIGN: this architecture has no such memory space (its capacity is 0). Fix: FIX-A12");
    static_assert(bytes <= capacity,
                  "[SA-0352] TASSIGN: the tile is larger than its memory space; use fewer rows or columns or a "
                  "smaller element. Fix: FIX-A12");
    static_assert(capacity == 0 || Address + bytes <= capacity,
                  "[SA-0353] TASSIGN: the tile ends beyond its memory space; use a lower address or a smaller tile. "
                  "Fix: FIX-A12");
    static_assert(alignment == 0 || Address % alignment == 0,
                  "[SA-0354] TASSIGN: the address is not a multiple of the alignment of its memory space (32 bytes "
                  "unless overridden). Fix: FIX-A12");
}

} // namespace pto_host

namespace pto {

// Called by every constructor of a tile.
template <class T>
PTO_INTERNAL void host_place(T& tile) {
#ifdef __PTO_AUTO__
    tile.host_data = (typename T::TileDType)(pto_host::ask<uint64_t>("host_place", tile.host_site, tile));
#endif
}

// Where the scales of an L0 operand stand: there is one byte of scale for every 16 bytes of operand.
template <class T>
PTO_INTERNAL uint64_t GetScaleAddr(T* operand) {
    return uint64_t(operand) >> 4;
}

template <class T, class AddrType>
PTO_INST void TASSIGN(T& object, AddrType address, pto_host::Site site = pto_host::Site::here()) {
    if constexpr (is_tile_data_v<T> || is_conv_tile_v<T>) {
        static_assert(std::is_integral_v<AddrType>, "TASSIGN: the address of a tile is an integer");
#ifndef __PTO_AUTO__
        if constexpr (std::is_integral_v<AddrType>) object.host_data = (typename T::TileDType)(uint64_t(address));
#endif
    } else {
        static_assert(is_global_data_v<T>, "TASSIGN: only a tile or a global tensor has an address");
        static_assert(std::is_pointer_v<AddrType>, "TASSIGN: a global tensor is bound to a pointer");
        static_assert(std::is_same_v<std::remove_cv_t<std::remove_pointer_t<AddrType>>, typename T::DType>,
                      "TASSIGN: the pointer must be to the element type of the global tensor");
        object.host_data = address;
    }
    pto_host::record("TASSIGN", site, object);
}

template <std::size_t Addr, class T>
PTO_INST std::enable_if_t<is_tile_data_v<T> || is_conv_tile_v<T>> TASSIGN(
    T& object, pto_host::Site site = pto_host::Site::here()) {
    pto_host::check_address<std::remove_cv_t<T>, Addr>();
    TASSIGN(object, Addr, site);
}

} // namespace pto

#endif
