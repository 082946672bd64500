// Turns what a kernel passes to an instruction into operand descriptors, and records the call.
#ifndef PTO_HOST_OPERAND_HPP
#define PTO_HOST_OPERAND_HPP

namespace pto_host {

template <class T, class = void>
struct Describe;

// A tile: everything about it is in its type, but for address and dynamic valid shape.
template <class T>
struct Describe<T, std::enable_if_t<pto::is_tile_data_v<T>>> {
    static PTO_INTERNAL Operand of(const T& tile) {
        Operand o{};
        o.kind = Kind::Tile;
        o.space = uint8_t(T::Loc);
        o.element = element_of<typename T::DType>;
        o.block_layout = uint8_t(T::BFractal);
        o.box_layout = uint8_t(T::SFractal);
        o.compact = uint8_t(T::Compact);
        o.rank = 2;
        o.fractal_bytes = T::SFractalSize;
        o.element_bytes = sizeof(typename T::DType);
        o.address = uint64_t(tile.host_data);
        o.shape[0] = T::Rows;
        o.shape[1] = T::Cols;
        o.stride[0] = T::RowStride;
        o.stride[1] = T::ColStride;
        o.valid[0] = T::ValidRow == -1 ? int64_t(tile.RowMaskInternal) : T::ValidRow;
        o.valid[1] = T::ValidCol == -1 ? int64_t(tile.ColMaskInternal) : T::ValidCol;
        o.bits = uint64_t(T::PadVal);
        o.slot = const_cast<typename T::TileDType*>(&tile.host_data);
        o.site = tile.host_site;
        return o;
    }
};

template <class T>
struct Describe<T, std::enable_if_t<pto::is_conv_tile_v<T>>> {
    static PTO_INTERNAL Operand of(const T& tile) {
        Operand o{};
        o.kind = Kind::Conv;
        o.space = uint8_t(T::Loc);
        o.element = element_of<typename T::DType>;
        o.layout = uint8_t(T::layout);
        o.rank = T::totalDimCount;
        o.element_bytes = sizeof(typename T::DType);
        o.address = uint64_t(tile.host_data);
        for (int d = 0; d < 6; ++d) o.shape[d] = tile.host_shape[d];
        o.stride[0] = T::bufferSize;
        // Settings of im2col loads, packed; unpacked by Image::unpack.
        const uint64_t filter = uint64_t(tile.host_FmapH) | uint64_t(tile.host_FmapW) << 16 |
                                uint64_t(tile.host_FilterH) << 32 | uint64_t(tile.host_FilterW) << 48;
        const uint64_t steps = uint64_t(tile.host_DilationH) | uint64_t(tile.host_DilationW) << 8 |
                               uint64_t(tile.host_StrideH) << 16 | uint64_t(tile.host_StrideW) << 24 |
                               uint64_t(tile.host_ChannelSize) << 32 | uint64_t(tile.host_RepeatStride) << 48;
        uint64_t rest = uint64_t(tile.host_RepeatTime) << 32 | uint64_t(tile.host_RepeatMode) << 40 |
                        uint64_t(tile.host_Transpose) << 48;
        for (int side = 0; side < 4; ++side) rest |= uint64_t(tile.host_pad_list[side]) << (8 * side);
        o.stride[1] = int64_t(filter);
        o.stride[2] = int64_t(steps);
        o.stride[3] = int64_t(rest);
        __builtin_memcpy(&o.bits, &tile.host_pad_value, sizeof(typename T::DType));
        o.slot = const_cast<T*>(&tile);
        o.site = tile.host_site;
        return o;
    }
};

template <class T>
struct Describe<T, std::enable_if_t<pto::is_global_data_v<T>>> {
    static PTO_INTERNAL Operand of(const T& tensor) {
        Operand o{};
        o.kind = Kind::Global;
        o.element = element_of<typename T::RawDType>;
        o.layout = uint8_t(T::layout);
        o.rank = 5;
        o.element_bytes = sizeof(typename T::RawDType);
        o.address = uint64_t(tensor.host_data);
        for (int d = 0; d < 5; ++d) {
            o.shape[d] = tensor.host_shape.shape[d];
            o.stride[d] = tensor.host_stride.stride[d];
        }
        o.slot = const_cast<typename T::DType**>(&tensor.host_data);
        o.site = tensor.host_site;
        return o;
    }
};

template <class T>
constexpr bool is_float = std::is_floating_point<T>::value || std::is_same<T, half>::value ||
                          std::is_same<T, bfloat16_t>::value;

template <class T>
struct Describe<T, std::enable_if_t<is_float<T>>> {
    static PTO_INTERNAL Operand of(T value) {
        const double wide = double(value);
        Operand o{};
        o.kind = Kind::Float;
        o.element = element_of<T>;
        o.element_bytes = sizeof(T);
        __builtin_memcpy(&o.bits, &wide, sizeof(wide));
        return o;
    }
};

template <class T>
struct Describe<T, std::enable_if_t<std::is_integral<T>::value && !is_float<T>>> {
    static PTO_INTERNAL Operand of(T value) {
        Operand o{};
        o.kind = Kind::Integer;
        o.element = element_of<T>;
        o.element_bytes = sizeof(T);
        o.bits = uint64_t(int64_t(value));
        return o;
    }
};

template <class T>
struct Describe<T, std::enable_if_t<std::is_enum<T>::value>> {
    static PTO_INTERNAL Operand of(T value) {
        Operand o{};
        o.kind = Kind::Flag;
        o.bits = uint64_t(value);
        o.name = host_enum_name(value);
        return o;
    }
};

// A pointer: to a tile (an optional operand), or to plain memory.
template <class T>
struct Describe<T*, void> {
    static PTO_INTERNAL Operand of(T* pointer) {
        if constexpr (pto::is_tile_data_v<std::remove_cv_t<T>>) {
            return pointer ? Describe<std::remove_cv_t<T>>::of(*pointer) : Operand{};
        } else {
            Operand o{};
            o.kind = Kind::Memory;
            o.element = element_of<T>;
            o.address = uint64_t(pointer);
            return o;
        }
    }
};

// Storage of the narrow formats has no arithmetic: the byte is passed as it is.
template <class T>
struct Describe<T, std::enable_if_t<std::is_class<T>::value && element_of<T> != Element::None>> {
    static PTO_INTERNAL Operand of(T value) {
        Operand o{};
        o.kind = Kind::Integer;
        o.element = element_of<T>;
        o.element_bytes = 1;
        o.bits = value.bits;
        return o;
    }
};

// A plain structure or array that the runtime reads or fills in place.
template <class T>
PTO_INTERNAL Operand memory(T& object) {
    Operand o{};
    o.kind = Kind::Memory;
    o.address = uint64_t(&object);
    o.shape[0] = sizeof(T);
    return o;
}

template <class T>
PTO_INTERNAL Operand operand(const T& value) {
    return Describe<T>::of(value);
}
PTO_INTERNAL Operand operand(const Operand& described) { return described; }

template <class... Args>
PTO_INTERNAL pto::RecordEvent record(const char* name, Site site, const Args&... args) {
    const Operand operands[] = {operand(args)..., Operand{}};
    const Call call{name, operands, sizeof...(Args), nullptr, 0, site};
    pto_host_call(&call);
    return {};
}

// As `record`, for what answers with a value.
template <class Result, class... Args>
PTO_INTERNAL Result ask(const char* name, Site site, const Args&... args) {
    Result result{};
    const Operand operands[] = {operand(args)..., Operand{}};
    const Call call{name, operands, sizeof...(Args), &result, sizeof(Result), site};
    pto_host_call(&call);
    return result;
}

} // namespace pto_host

#endif
