// Shape, Stride and GlobalTensor: a five-dimensional view of global memory. Dimensions and strides are in elements;
// DYNAMIC ones are given to the constructor.
#ifndef PTO_HOST_GLOBAL_HPP
#define PTO_HOST_GLOBAL_HPP

namespace pto_host {

template <int64_t... Ns>
constexpr int dynamic_count() {
    return (0 + ... + (Ns == -1 ? 1 : 0));
}

// Fills `out` from the arguments of a Shape or Stride constructor: none, one for each dynamic dimension, or five.
template <int64_t... Ns, class... Values>
constexpr void fill_dimensions(int64_t* out, Values... values) {
    constexpr int64_t fixed[] = {Ns...};
    constexpr int given = sizeof...(Values);
    static_assert(given == 0 || given == 5 || given == dynamic_count<Ns...>(),
                  "Shape/Stride: give no value, five values, or one value for each dynamic dimension");
    const int64_t list[] = {int64_t(values)..., 1};
    int next = 0;
    for (int d = 0; d < 5; ++d) {
        const bool dynamic = fixed[d] == -1;
        const int64_t chosen = given == 0 ? 1 : given == 5 ? list[d] : dynamic ? list[next] : 1;
        out[d] = dynamic ? chosen : fixed[d];
        next += dynamic && given != 5 && given != 0 ? 1 : 0;
    }
}

} // namespace pto_host

namespace pto {

constexpr int DYNAMIC = -1;

namespace GlobalTensorDim {
constexpr int DIM_0 = 0;
constexpr int DIM_1 = 1;
constexpr int DIM_2 = 2;
constexpr int DIM_3 = 3;
constexpr int DIM_4 = 4;
constexpr int TOTAL_DIM = 5;
} // namespace GlobalTensorDim

#define PTO_HOST_DIMENSIONS(NAME, STATIC_FIELD, FIELD)                                                          \
    template <int64_t N1 = DYNAMIC, int64_t N2 = DYNAMIC, int64_t N3 = DYNAMIC, int64_t N4 = DYNAMIC,           \
              int64_t N5 = DYNAMIC>                                                                             \
    struct NAME {                                                                                               \
        static constexpr int64_t STATIC_FIELD[5] = {N1, N2, N3, N4, N5};                                        \
        int64_t FIELD[5] = {};                                                                                  \
        PTO_INTERNAL NAME() { pto_host::fill_dimensions<N1, N2, N3, N4, N5>(FIELD); }                           \
        template <class... Values, class = std::enable_if_t<(std::is_convertible_v<Values, int64_t> && ...)>>   \
        PTO_INTERNAL NAME(int64_t first, Values... rest) {                                                      \
            pto_host::fill_dimensions<N1, N2, N3, N4, N5>(FIELD, first, rest...);                               \
        }                                                                                                       \
    }

PTO_HOST_DIMENSIONS(Shape, staticShape, shape);
PTO_HOST_DIMENSIONS(Stride, staticStride, stride);

template <class Element_, class Shape_, class Stride_, Layout Layout_ = Layout::ND>
struct GlobalTensor {
    using Shape = Shape_;
    using Stride = Stride_;
    using RawDType = std::remove_cv_t<Element_>;
    using DType = __gm__ RawDType;
    static constexpr Layout layout = Layout_;
    static constexpr int64_t staticShape[5] = {Shape::staticShape[0], Shape::staticShape[1], Shape::staticShape[2],
                                               Shape::staticShape[3], Shape::staticShape[4]};
    static constexpr int64_t staticStride[5] = {Stride::staticStride[0], Stride::staticStride[1],
                                                Stride::staticStride[2], Stride::staticStride[3],
                                                Stride::staticStride[4]};

    PTO_INTERNAL GlobalTensor(pto_host::Site site = pto_host::Site::here()) : host_site(site) {}
    PTO_INTERNAL GlobalTensor(DType* data, const Shape& shape = Shape(), const Stride& stride = Stride(),
                              pto_host::Site site = pto_host::Site::here())
        : host_data(data), host_shape(shape), host_stride(stride), host_site(site) {}

    PTO_INTERNAL DType* data() { return host_data; }
    PTO_INTERNAL DType* data() const { return host_data; }

    PTO_INTERNAL int64_t GetShape(int dim) const { return host_shape.shape[dim]; }
    PTO_INTERNAL int64_t GetStride(int dim) const { return host_stride.stride[dim]; }
    template <int Dim>
    static constexpr int64_t GetShape() {
        return Shape::staticShape[Dim];
    }
    template <int Dim>
    static constexpr int64_t GetStride() {
        return Stride::staticStride[Dim];
    }

    template <int... Dims, class... Values>
    PTO_INTERNAL void SetShape(Values... values) {
        static_assert(sizeof...(Dims) == sizeof...(Values), "SetShape: one value for each dimension");
        static_assert(((Shape::staticShape[Dims] == DYNAMIC) && ...), "SetShape: the dimension must be DYNAMIC");
        ((host_shape.shape[Dims] = int64_t(values)), ...);
    }
    template <int... Dims, class... Values>
    PTO_INTERNAL void SetStride(Values... values) {
        static_assert(sizeof...(Dims) == sizeof...(Values), "SetStride: one value for each dimension");
        static_assert(((Stride::staticStride[Dims] == DYNAMIC) && ...), "SetStride: the dimension must be DYNAMIC");
        ((host_stride.stride[Dims] = int64_t(values)), ...);
    }

    // For the operand descriptor and TASSIGN only.
    DType* host_data = nullptr;
    Shape host_shape{};
    Stride host_stride{};
    pto_host::Site host_site;
};

template <class T>
struct is_global : std::false_type {};
template <class E, class Sh, class St, Layout L>
struct is_global<GlobalTensor<E, Sh, St, L>> : std::true_type {};

template <class T>
constexpr bool is_global_data_v = is_global<T>::value;

} // namespace pto

#endif
