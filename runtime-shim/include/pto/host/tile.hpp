// Tile: a two-dimensional block of on-chip memory, with the layout rules of the device checked at compile time.
// Only the address and the dynamic valid shape are state; the bytes belong to the runtime.
#ifndef PTO_HOST_TILE_HPP
#define PTO_HOST_TILE_HPP

namespace pto {

namespace TileConfig {
constexpr int alignedSize = 32;
constexpr int fractalABSize = 512;
constexpr int fractalCSize = 1024;
constexpr int fractalMxSize = 32;
} // namespace TileConfig

// Sizes of the memory's units, in bytes unless the name says otherwise.
constexpr int BLOCK_BYTE_SIZE = 32;
constexpr int C0_SIZE_BYTE = 32;
constexpr int REPEAT_BYTE = 256;
constexpr int CUBE_BLOCK_SIZE = 512;
constexpr int FRACTAL_NZ_ROW = 16; // rows

// A pad value of the tile's own element type: its bit pattern.
template <class T>
constexpr PadValue PadValueCustom(T value) {
    if constexpr (std::is_same_v<T, float>) {
        return PadValue(uint64_t(PadValue::CustomBase) | __builtin_bit_cast(uint32_t, value));
    } else if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>) {
        return PadValue(uint64_t(PadValue::CustomBase) | __builtin_bit_cast(uint16_t, value));
    } else {
        static_assert(std::is_integral_v<T> && sizeof(T) <= 4, "PadValueCustom: at most 32 bits");
        return PadValue(uint64_t(PadValue::CustomBase) | std::make_unsigned_t<T>(value));
    }
}
constexpr PadValue PadValueCustom16(uint16_t bits) { return PadValueCustom(bits); }

} // namespace pto

namespace pto_host {

// Type that holds the address of a tile: a pointer, except where the device keeps a plain number.
template <pto::TileType Loc, class T>
struct Storage {
    using type = T*;
};
template <class T>
struct Storage<pto::TileType::Ctrl, T> {
    using type = uint64_t;
};
#if !(defined(PTO_NPU_ARCH_A2A3) && defined(__DAV_CUBE__))
template <class T>
struct Storage<pto::TileType::Bias, T> {
    using type = uint64_t;
};
#endif

struct Box {
    int rows;
    int cols;
};

// Rows and columns of the inner box of a fractal layout, for elements of `bytes` bytes.
constexpr Box inner_box(pto::SLayout box, int fractal_bytes, int bytes) {
    const bool row_major = box == pto::SLayout::RowMajor;
    if (box == pto::SLayout::NoneBox) return {1, 1};
    if (fractal_bytes == 1024) return {16, 16};
    if (fractal_bytes == 32) return row_major ? Box{16, 2} : Box{2, 16};
    return row_major ? Box{16, 32 / bytes} : Box{32 / bytes, 16};
}

constexpr bool rows_fill_boxes(pto::TileType loc, int fractal_bytes, int rows, int inner_rows) {
    return loc == pto::TileType::Vec || fractal_bytes == 32 || rows == 1 || rows % inner_rows == 0;
}

} // namespace pto_host

namespace pto {

template <TileType Loc_, class Element_, int Rows_, int Cols_, BLayout BFractal_ = BLayout::RowMajor,
          int RowValid_ = Rows_, int ColValid_ = Cols_, SLayout SFractal_ = SLayout::NoneBox, int SFractalSize_ = 512,
          auto PadVal_ = PadValue::Null, CompactMode Compact_ = CompactMode::Null>
struct Tile {
    using DType = Element_;
    using TileDType = typename pto_host::Storage<Loc_, DType>::type;

    static constexpr TileType Loc = Loc_;
    static constexpr int Rows = Rows_;
    static constexpr int Cols = Cols_;
    static constexpr int ValidRow = RowValid_;
    static constexpr int ValidCol = ColValid_;
    static constexpr BLayout BFractal = BFractal_;
    static constexpr SLayout SFractal = SFractal_;
    static constexpr int SFractalSize = SFractalSize_;
    static constexpr auto PadVal = PadVal_;
    static constexpr CompactMode Compact = Compact_;
    static constexpr int Numel = Rows * Cols;
    static constexpr bool isRowMajor = BFractal == BLayout::RowMajor;
    static constexpr bool isBoxedLayout = SFractal != SLayout::NoneBox;
    static constexpr bool isInnerRowMajor = SFractal == SLayout::RowMajor;
    static constexpr bool isInnerColMajor = SFractal == SLayout::ColMajor;
    static constexpr int RowStride = isRowMajor ? Cols : 1;
    static constexpr int ColStride = isRowMajor ? 1 : Rows;
    static constexpr int InnerRows = pto_host::inner_box(SFractal, SFractalSize, sizeof(DType)).rows;
    static constexpr int InnerCols = pto_host::inner_box(SFractal, SFractalSize, sizeof(DType)).cols;
    static constexpr int InnerNumel = InnerRows * InnerCols;

    static_assert(pto_host::element_of<DType> != pto_host::Element::None, "Tile: not an element type");
    static_assert(Rows > 0 && Cols > 0, "Tile: rows and cols must be positive");
    static_assert(ValidRow >= -1 && ValidRow <= Rows, "Tile: valid rows must be at most rows, or -1 for dynamic");
    static_assert(ValidCol >= -1 && ValidCol <= Cols, "Tile: valid cols must be at most cols, or -1 for dynamic");
    static_assert(SFractalSize == 512 || SFractalSize == 1024 || SFractalSize == 32,
                  "Tile: the fractal size must be 512, 1024 or 32 bytes");
    static_assert(isBoxedLayout || !isRowMajor || Cols * sizeof(DType) % 32 == 0,
                  "Tile: a row of an unboxed row-major tile must be a multiple of 32 bytes");
    static_assert(isBoxedLayout || isRowMajor || Rows * sizeof(DType) % 32 == 0,
                  "Tile: a column of an unboxed column-major tile must be a multiple of 32 bytes");
    static_assert(pto_host::rows_fill_boxes(Loc, SFractalSize, Rows, InnerRows),
                  "Tile: rows must be a multiple of the rows of the inner box");
    static_assert(Cols % InnerCols == 0, "Tile: cols must be a multiple of the cols of the inner box");

    PTO_INTERNAL Tile(pto_host::Site site = pto_host::Site::here()) : host_site(site) { host_place(*this); }
    template <int R = ValidRow, int C = ValidCol>
    PTO_INTERNAL Tile(std::enable_if_t<R == DYNAMIC && C == DYNAMIC, unsigned> rows, unsigned cols,
                      pto_host::Site site = pto_host::Site::here())
        : RowMaskInternal(rows), ColMaskInternal(cols), host_site(site) {
        host_place(*this);
    }
    template <int R = ValidRow, int C = ValidCol>
    PTO_INTERNAL Tile(std::enable_if_t<R == DYNAMIC && (C > 0), unsigned> rows,
                      pto_host::Site site = pto_host::Site::here())
        : RowMaskInternal(rows), host_site(site) {
        host_place(*this);
    }
    template <int R = ValidRow, int C = ValidCol>
    PTO_INTERNAL Tile(std::enable_if_t<(R > 0) && C == DYNAMIC, unsigned> cols,
                      pto_host::Site site = pto_host::Site::here(), int = 0)
        : ColMaskInternal(cols), host_site(site) {
        host_place(*this);
    }

    PTO_INTERNAL TileDType& data() { return host_data; }
    PTO_INTERNAL const TileDType& data() const { return host_data; }

    template <int R = ValidRow>
    static constexpr std::enable_if_t<(R > 0), unsigned> GetValidRow() {
        return R;
    }
    template <int R = ValidRow>
    PTO_INTERNAL std::enable_if_t<R == DYNAMIC, unsigned> GetValidRow() const {
        return RowMaskInternal;
    }
    template <int C = ValidCol>
    static constexpr std::enable_if_t<(C > 0), unsigned> GetValidCol() {
        return C;
    }
    template <int C = ValidCol>
    PTO_INTERNAL std::enable_if_t<C == DYNAMIC, unsigned> GetValidCol() const {
        return ColMaskInternal;
    }

    PTO_INTERNAL void SetValidRow(unsigned rows) {
        static_assert(ValidRow == DYNAMIC, "SetValidRow: the valid rows of this tile are static");
        RowMaskInternal = rows;
    }
    PTO_INTERNAL void SetValidCol(unsigned cols) {
        static_assert(ValidCol == DYNAMIC, "SetValidCol: the valid cols of this tile are static");
        ColMaskInternal = cols;
    }
    PTO_INTERNAL void SetValidShape(unsigned rows, unsigned cols) {
        SetValidRow(rows);
        SetValidCol(cols);
    }

    // Scalar access; offsets are in elements. Defined in intrinsics.hpp.
    PTO_INTERNAL DType GetValue(uint32_t offset, pto_host::Site site = pto_host::Site::here());
    PTO_INTERNAL void SetValue(uint32_t offset, DType value, pto_host::Site site = pto_host::Site::here());

    // Whether K is padded to the fractal (A3).
    PTO_INTERNAL bool GetKAligned() const { return host_k_aligned; }
    PTO_INTERNAL void SetKAligned(bool aligned) { host_k_aligned = aligned; }

    unsigned RowMaskInternal = 0;
    unsigned ColMaskInternal = 0;
    TileDType host_data{};
    bool host_k_aligned = false;
    pto_host::Site host_site;
};

template <class T>
struct is_tile : std::false_type {};
template <TileType L, class E, int R, int C, BLayout B, int VR, int VC, SLayout S, int F, auto P, CompactMode M>
struct is_tile<Tile<L, E, R, C, B, VR, VC, S, F, P, M>> : std::true_type {};

template <class T>
constexpr bool is_tile_data_v = is_tile<T>::value;

// The left operand is stored in another fractal order from A5 on.
#if defined(PTO_NPU_ARCH_A2A3) || defined(PTO_NPU_ARCH_KIRINX90)
#define PTO_HOST_LEFT_BLAYOUT BLayout::RowMajor
#else
#define PTO_HOST_LEFT_BLAYOUT BLayout::ColMajor
#endif

// NAME and NAMECompact: the usual tile of a matrix operand.
#define PTO_HOST_TILE_ALIAS(NAME, LOC, BLAYOUT, SLAYOUT, FRACTAL)                                              \
    template <class E, int R, int C, int VR = R, int VC = C>                                                   \
    using NAME = Tile<TileType::LOC, E, R, C, BLAYOUT, VR, VC, SLayout::SLAYOUT, FRACTAL>;                     \
    template <class E, int R, int C, int VR = R, int VC = C>                                                   \
    using NAME##Compact = Tile<TileType::LOC, E, R, C, BLAYOUT, VR, VC, SLayout::SLAYOUT, FRACTAL,             \
                               PadValue::Null, CompactMode::Normal>

PTO_HOST_TILE_ALIAS(TileLeft, Left, PTO_HOST_LEFT_BLAYOUT, RowMajor, 512);
PTO_HOST_TILE_ALIAS(TileRight, Right, BLayout::RowMajor, ColMajor, 512);
PTO_HOST_TILE_ALIAS(TileAcc, Acc, BLayout::ColMajor, RowMajor, 1024);
PTO_HOST_TILE_ALIAS(TileLeftScale, ScaleLeft, BLayout::RowMajor, RowMajor, 32);
PTO_HOST_TILE_ALIAS(TileRightScale, ScaleRight, BLayout::ColMajor, ColMajor, 32);

} // namespace pto

#endif
