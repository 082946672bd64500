// ConvTile: a feature map or filter in L1, with the attributes of an im2col load.
#ifndef PTO_HOST_CONV_TILE_HPP
#define PTO_HOST_CONV_TILE_HPP

namespace pto {

template <int... Ns>
struct ConvTileShape {
    static_assert(sizeof...(Ns) >= 1 && sizeof...(Ns) <= 6, "ConvTileShape: 1 to 6 dimensions");
    static constexpr int totalDimCount = sizeof...(Ns);
    static constexpr int dynamicDimCount = pto_host::dynamic_count<Ns...>();
    static constexpr int64_t fixed[] = {Ns...};
};

// Defines a setting of a convolution tile: field with its initial value, getter and setter.
#define PTO_HOST_CONV_SETTING(TYPE, NAME, INITIAL)             \
    PTO_INTERNAL TYPE Get##NAME() const { return host_##NAME; } \
    PTO_INTERNAL void Set##NAME(TYPE value) { host_##NAME = value; } \
    TYPE host_##NAME = INITIAL

// `BufferSize_` is a number of elements.
template <TileType Loc_, class Element_, int BufferSize_, Layout Layout_, class Shape_>
struct ConvTile {
    using DType = Element_;
    using ShapeType = Shape_;
    using TileDType = typename pto_host::Storage<Loc_, DType>::type;
    static constexpr TileType Loc = Loc_;
    static constexpr int bufferSize = BufferSize_;
    static constexpr Layout layout = Layout_;
    static constexpr int totalDimCount = Shape_::totalDimCount;
    static constexpr int dynamicDimCount = Shape_::dynamicDimCount;

    static_assert(bufferSize > 0, "ConvTile: the buffer size is a positive number of elements");
    static_assert(pto_host::element_of<DType> != pto_host::Element::None, "ConvTile: not an element type");

    PTO_INTERNAL ConvTile(pto_host::Site site = pto_host::Site::here()) : host_site(site) { fix_shape(); }
    template <class... Ints, class = std::enable_if_t<(sizeof...(Ints) > 0) && (std::is_integral_v<Ints> && ...)>>
    PTO_INTERNAL explicit ConvTile(Ints... values) : host_site{} {
        fix_shape();
        SetDynamicShape(values...);
    }

    template <class... Ints>
    PTO_INTERNAL void SetDynamicShape(Ints... values) {
        static_assert(sizeof...(Ints) == dynamicDimCount, "SetDynamicShape: one value for each dynamic dimension");
        const int64_t list[] = {int64_t(values)..., 0};
        for (int d = 0, next = 0; d < totalDimCount; ++d)
            if (Shape_::fixed[d] == DYNAMIC) host_shape[d] = list[next++];
    }
    PTO_INTERNAL int64_t GetShape(int dim) const { return host_shape[dim]; }

    PTO_INTERNAL TileDType& data() { return host_data; }
    PTO_INTERNAL const TileDType& data() const { return host_data; }

    PTO_HOST_CONV_SETTING(uint16_t, FmapH, 0);
    PTO_HOST_CONV_SETTING(uint16_t, FmapW, 0);
    PTO_HOST_CONV_SETTING(uint16_t, FilterH, 1);
    PTO_HOST_CONV_SETTING(uint16_t, FilterW, 1);
    PTO_HOST_CONV_SETTING(uint8_t, DilationH, 1);
    PTO_HOST_CONV_SETTING(uint8_t, DilationW, 1);
    PTO_HOST_CONV_SETTING(uint8_t, StrideH, 1);
    PTO_HOST_CONV_SETTING(uint8_t, StrideW, 1);
    PTO_HOST_CONV_SETTING(uint16_t, ChannelSize, 0);
    PTO_HOST_CONV_SETTING(uint16_t, RepeatStride, 0);
    PTO_HOST_CONV_SETTING(uint8_t, RepeatTime, 1);
    PTO_HOST_CONV_SETTING(uint8_t, RepeatMode, 0);
    PTO_HOST_CONV_SETTING(bool, Transpose, false);
    PTO_HOST_CONV_SETTING(uint16_t, DstStride, 0);
    PTO_HOST_CONV_SETTING(uint16_t, DstMposition, 0);

    PTO_INTERNAL DType GetPadValue() const { return host_pad_value; }
    PTO_INTERNAL void SetPadValue(DType value) { host_pad_value = value; }
    PTO_INTERNAL uint8_t GetPadList(uint8_t index) const { return host_pad_list[index]; }
    PTO_INTERNAL void SetPadList(uint8_t index, uint8_t value) { host_pad_list[index] = value; }
    PTO_INTERNAL const uint8_t* GetPadListArray() const { return host_pad_list; }
    PTO_INTERNAL void SetPadListArray(const uint8_t values[4]) {
        for (int i = 0; i < 4; ++i) host_pad_list[i] = values[i];
    }

    DType host_pad_value{};
    uint8_t host_pad_list[4] = {};
    int64_t host_shape[6] = {};
    TileDType host_data{};
    pto_host::Site host_site;

private:
    PTO_INTERNAL void fix_shape() {
        for (int d = 0; d < totalDimCount; ++d) host_shape[d] = Shape_::fixed[d] == DYNAMIC ? 1 : Shape_::fixed[d];
    }
};

template <class T>
struct is_conv_tile : std::false_type {};
template <TileType L, class E, int B, Layout G, class S>
struct is_conv_tile<ConvTile<L, E, B, G, S>> : std::true_type {};

template <class T>
constexpr bool is_conv_tile_v = is_conv_tile<T>::value;

} // namespace pto

#endif
