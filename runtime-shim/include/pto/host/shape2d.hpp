// TileShape2D and BaseShape2D: the Shape and Stride of a two-dimensional tensor in a given layout.
#ifndef PTO_HOST_SHAPE2D_HPP
#define PTO_HOST_SHAPE2D_HPP

namespace pto_host {

constexpr int64_t divide(int64_t value, int64_t by) { return value == -1 ? -1 : value / by; }
constexpr int64_t multiply(int64_t value, int64_t by) { return value == -1 || by == -1 ? -1 : value * by; }

template <class T>
constexpr int64_t c0_elements = 32 / int64_t(sizeof(T));

} // namespace pto_host

namespace pto {

template <class T, int64_t Rows = DYNAMIC, int64_t Cols = DYNAMIC, Layout L = Layout::ND>
struct TileShape2D : Shape<1, 1, 1, Rows, Cols> {
    static_assert(L == Layout::ND || L == Layout::DN, "TileShape2D: only ND, DN and NZ are modelled");
    using Parent = Shape<1, 1, 1, Rows, Cols>;
    PTO_INTERNAL TileShape2D() : Parent() {}
    PTO_INTERNAL TileShape2D(int64_t rows, int64_t cols) : Parent(1, 1, 1, rows, cols) {}
    using Parent::Parent;
};

template <class T, int64_t Rows, int64_t Cols>
struct TileShape2D<T, Rows, Cols, Layout::NZ>
    : Shape<1, pto_host::divide(Cols, pto_host::c0_elements<T>), pto_host::divide(Rows, 16), 16,
            pto_host::c0_elements<T>> {
    static constexpr int64_t C0Size = pto_host::c0_elements<T>;
    static_assert(Rows == DYNAMIC || Rows % 16 == 0, "TileShape2D NZ: rows must be a multiple of 16");
    static_assert(Cols == DYNAMIC || Cols % C0Size == 0, "TileShape2D NZ: cols must be a multiple of 32 bytes");
    using Parent = Shape<1, pto_host::divide(Cols, C0Size), pto_host::divide(Rows, 16), 16, C0Size>;
    PTO_INTERNAL TileShape2D() : Parent() {}
    PTO_INTERNAL TileShape2D(int64_t rows, int64_t cols) : Parent(1, cols / C0Size, rows / 16, 16, C0Size) {}
    using Parent::Parent;
};

template <class T, int64_t Rows = DYNAMIC, int64_t Cols = DYNAMIC, Layout L = Layout::ND>
struct BaseShape2D;

template <class T, int64_t Rows, int64_t Cols>
struct BaseShape2D<T, Rows, Cols, Layout::ND>
    : Stride<pto_host::multiply(Rows, Cols), pto_host::multiply(Rows, Cols), pto_host::multiply(Rows, Cols), Cols, 1> {
    using Parent = Stride<pto_host::multiply(Rows, Cols), pto_host::multiply(Rows, Cols),
                          pto_host::multiply(Rows, Cols), Cols, 1>;
    PTO_INTERNAL BaseShape2D() : Parent() {}
    PTO_INTERNAL BaseShape2D(int64_t rows, int64_t cols) : Parent(rows * cols, rows * cols, rows * cols, cols, 1) {}
    using Parent::Parent;
};

template <class T, int64_t Rows, int64_t Cols>
struct BaseShape2D<T, Rows, Cols, Layout::DN>
    : Stride<pto_host::multiply(Rows, Cols), pto_host::multiply(Rows, Cols), pto_host::multiply(Rows, Cols), 1, Rows> {
    using Parent = Stride<pto_host::multiply(Rows, Cols), pto_host::multiply(Rows, Cols),
                          pto_host::multiply(Rows, Cols), 1, Rows>;
    PTO_INTERNAL BaseShape2D() : Parent() {}
    PTO_INTERNAL BaseShape2D(int64_t rows, int64_t cols) : Parent(rows * cols, rows * cols, rows * cols, 1, rows) {}
    using Parent::Parent;
};

template <class T, int64_t Rows, int64_t Cols>
struct BaseShape2D<T, Rows, Cols, Layout::NZ>
    : Stride<pto_host::multiply(Rows, Cols), pto_host::multiply(Rows, pto_host::c0_elements<T>),
             16 * pto_host::c0_elements<T>, pto_host::c0_elements<T>, 1> {
    static constexpr int64_t C0Size = pto_host::c0_elements<T>;
    using Parent = Stride<pto_host::multiply(Rows, Cols), pto_host::multiply(Rows, C0Size), 16 * C0Size, C0Size, 1>;
    PTO_INTERNAL BaseShape2D() : Parent() {}
    PTO_INTERNAL BaseShape2D(int64_t rows, int64_t cols)
        : Parent(rows * cols, rows * C0Size, 16 * C0Size, C0Size, 1) {}
    using Parent::Parent;
};

} // namespace pto

#endif
