//! Tiles: the typed view of `!pto.tile_buf`, footprints in bytes, and how elements are laid out.

use crate::{element::Element, ffi};
use melior::{
    Context,
    ir::{Type, TypeLike, Value, ValueLike},
};

/// An on-chip memory space (or global memory).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names of the hardware memories")]
pub enum Space {
    Gm,
    Mat,
    Left,
    Right,
    Acc,
    Vec,
    Bias,
    Scaling,
    ScaleLeft,
    ScaleRight,
}

impl Space {
    /// All on-chip spaces, in the order in which reports list them.
    pub const ON_CHIP: [Self; 9] = [
        Self::Vec,
        Self::Mat,
        Self::Left,
        Self::Right,
        Self::Acc,
        Self::Bias,
        Self::Scaling,
        Self::ScaleLeft,
        Self::ScaleRight,
    ];

    /// The name in the dialect and in `toolchain.toml`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gm => "gm",
            Self::Mat => "mat",
            Self::Left => "left",
            Self::Right => "right",
            Self::Acc => "acc",
            Self::Vec => "vec",
            Self::Bias => "bias",
            Self::Scaling => "scaling",
            Self::ScaleLeft => "scale_left",
            Self::ScaleRight => "scale_right",
        }
    }

    /// The space of a name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ON_CHIP.into_iter().chain([Self::Gm]).find(|s| s.name() == name)
    }

    /// `TileType::` enumerator in C++.
    pub fn tile_type(self) -> &'static str {
        match self {
            Self::Gm => "Gm",
            Self::Mat => "Mat",
            Self::Left => "Left",
            Self::Right => "Right",
            Self::Acc => "Acc",
            Self::Vec => "Vec",
            Self::Bias => "Bias",
            Self::Scaling => "Scaling",
            Self::ScaleLeft => "ScaleLeft",
            Self::ScaleRight => "ScaleRight",
        }
    }

    /// Values of the dialect's `AddressSpace`.
    pub(crate) fn from_code(code: i32) -> Self {
        match code {
            2 => Self::Mat,
            3 => Self::Left,
            4 => Self::Right,
            5 => Self::Acc,
            6 => Self::Vec,
            7 => Self::Bias,
            8 => Self::Scaling,
            _ => Self::Gm,
        }
    }

    fn code(self) -> i32 {
        match self {
            Self::Gm => 1,
            Self::Mat => 2,
            Self::Left => 3,
            Self::Right => 4,
            Self::Acc => 5,
            Self::Vec => 6,
            Self::Bias => 7,
            Self::Scaling | Self::ScaleLeft | Self::ScaleRight => 8,
        }
    }
}

/// How rows and columns, or boxes of them, follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum BLayout {
    RowMajor,
    ColMajor,
}

/// How elements lie inside a box; without boxes, `NoneBox`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum SLayout {
    NoneBox,
    RowMajor,
    ColMajor,
}

/// What stands outside the valid region after a padding load or fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum PadValue {
    Null,
    Zero,
    Max,
    Min,
}

/// Whether rows are packed, and whether each is followed by one element of space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum CompactMode {
    Null,
    Normal,
    RowPlusOne,
}

/// A tile type. Extents are elements; `None` is a valid extent known only at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tile {
    /// The memory space. A `scaling` tile of `f8E8M0` in boxes is a scale of the left or right operand.
    pub space: Space,
    /// Physical rows.
    pub rows: i64,
    /// Physical columns.
    pub cols: i64,
    /// Valid rows.
    pub valid_rows: Option<i64>,
    /// Valid columns.
    pub valid_cols: Option<i64>,
    /// Element type.
    pub element: Element,
    /// Block layout.
    pub blayout: BLayout,
    /// Layout inside a box.
    pub slayout: SLayout,
    /// Bytes of a box (512, 1024, or 32 for scales).
    pub fractal: i64,
    /// Padding.
    pub pad: PadValue,
    /// Compactness.
    pub compact: CompactMode,
}

impl Tile {
    /// The tile behind a type, if it is one.
    pub fn of(ty: Type) -> Option<Self> {
        let mut info = std::mem::MaybeUninit::<ffi::TileInfo>::uninit();
        // SAFETY: C++ fills the struct exactly when it returns true.
        let info = unsafe {
            if !ffi::ptoTileInfo(ty.to_raw(), info.as_mut_ptr()) {
                return None;
            }
            info.assume_init()
        };
        // SAFETY: a tile's element type is a live type of the same context.
        let element = Element::of(unsafe { Type::from_raw(info.element) })?;
        let slayout = [SLayout::NoneBox, SLayout::RowMajor, SLayout::ColMajor][info.slayout as usize];
        let space = match (Space::from_code(info.space), element, slayout) {
            (Space::Scaling, Element::F8E8M0, SLayout::RowMajor) => Space::ScaleLeft,
            (Space::Scaling, Element::F8E8M0, SLayout::ColMajor) => Space::ScaleRight,
            (space, _, _) => space,
        };
        let extent = |value: i64| (value >= 0).then_some(value);
        Some(Self {
            space,
            rows: info.rows,
            cols: info.cols,
            valid_rows: extent(info.valid_rows),
            valid_cols: extent(info.valid_cols),
            element,
            blayout: [BLayout::RowMajor, BLayout::ColMajor][info.blayout as usize],
            slayout,
            fractal: info.fractal,
            pad: [PadValue::Null, PadValue::Zero, PadValue::Max, PadValue::Min][info.pad as usize],
            compact: [CompactMode::Null, CompactMode::Normal, CompactMode::RowPlusOne][info.compact as usize],
        })
    }

    /// The tile type of a value.
    pub fn of_value(value: Value) -> Option<Self> {
        Self::of(value.r#type())
    }

    /// The MLIR type with this description; `element` must be the MLIR form of `self.element`.
    pub fn to_type<'c>(&self, context: &'c Context, element: Type<'c>) -> Type<'c> {
        let info = ffi::TileInfo {
            space: self.space.code(),
            blayout: self.blayout as i32,
            slayout: self.slayout as i32,
            pad: self.pad as i32,
            compact: self.compact as i32,
            rows: self.rows,
            cols: self.cols,
            valid_rows: self.valid_rows.unwrap_or(-1),
            valid_cols: self.valid_cols.unwrap_or(-1),
            fractal: self.fractal,
            element: element.to_raw(),
        };
        // SAFETY: the struct mirrors the C++ one; an invalid description yields a null type, which is a bug of the caller.
        unsafe { Type::from_raw(ffi::ptoTileGet(context.to_raw(), &info)) }
    }

    /// Bytes that the library's address check counts: rows * columns * element size (PTO-ISA TileStorageBytes). A
    /// packed pair of 4-bit values is two elements there, of one byte each; the tile is placed by that number too.
    pub fn storage_bytes(&self) -> u64 {
        let pair = if matches!(self.element, Element::F4E1M2x2 | Element::F4E2M1x2) { 2 } else { 1 };
        (self.rows as u64).saturating_mul(self.cols as u64).saturating_mul(self.element.bytes() * pair)
    }

    /// Bytes that the tile really occupies; more than `storage_bytes` only when each row is followed by one element.
    pub fn footprint_bytes(&self) -> u64 {
        if self.compact != CompactMode::RowPlusOne {
            return self.storage_bytes();
        }
        let (major, minor) = match self.blayout {
            BLayout::RowMajor => (self.rows as u64, self.cols as u64),
            BLayout::ColMajor => (self.cols as u64, self.rows as u64),
        };
        ((major - 1) * (minor + 1) + minor).saturating_mul(self.element.bytes())
    }

    /// Rows and columns of a box (1 x 1 without boxes), PTO-ISA Tile.
    pub fn inner_box(&self) -> (i64, i64) {
        let per_line = (32 / self.element.bytes() as i64).max(1);
        match (self.slayout, self.fractal) {
            (SLayout::NoneBox, _) => (1, 1),
            (_, 1024) => (16, 16),
            (SLayout::RowMajor, 32) => (16, 2),
            (SLayout::ColMajor, 32) => (2, 16),
            (SLayout::RowMajor, _) => (16, per_line),
            (SLayout::ColMajor, _) => (per_line, 16),
        }
    }

    /// The distance, in elements, of element (row, col) from the tile's start; both must be multiples of the box.
    pub fn element_offset(&self, row: i64, col: i64) -> i64 {
        let (row_stride, col_stride) = self.strides();
        row * row_stride + col * col_stride
    }

    /// Element distance for one row and for one column, on positions that are multiples of the box.
    pub fn strides(&self) -> (i64, i64) {
        let gap = i64::from(self.compact == CompactMode::RowPlusOne);
        let (box_rows, box_cols) = self.inner_box();
        if self.slayout == SLayout::NoneBox {
            return match self.blayout {
                BLayout::RowMajor => (self.cols + gap, 1),
                BLayout::ColMajor => (1, self.rows + gap),
            };
        }
        // Boxes follow one another; moving by one row inside the grid of boxes moves by whole boxes.
        match self.blayout {
            BLayout::RowMajor => (self.cols, box_rows),
            BLayout::ColMajor => (box_cols, self.rows),
        }
    }

    /// A short description for messages: `vec 16x64xf32`.
    pub fn describe(&self) -> String {
        format!("{} {}x{}x{}", self.space.name(), self.rows, self.cols, self.element.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tile(rows: i64, cols: i64, element: Element) -> Tile {
        Tile {
            space: Space::Vec,
            rows,
            cols,
            valid_rows: Some(rows),
            valid_cols: Some(cols),
            element,
            blayout: BLayout::RowMajor,
            slayout: SLayout::NoneBox,
            fractal: 512,
            pad: PadValue::Null,
            compact: CompactMode::Null,
        }
    }

    #[test]
    fn footprints_are_bytes() {
        assert_eq!(tile(16, 64, Element::F32).storage_bytes(), 4096);
        assert_eq!(tile(16, 64, Element::F4E2M1x2).storage_bytes(), 2048);
        let padded = Tile { compact: CompactMode::RowPlusOne, ..tile(16, 16, Element::F32) };
        assert_eq!(padded.storage_bytes(), 1024);
        assert_eq!(padded.footprint_bytes(), (15 * 17 + 16) * 4);
    }

    #[test]
    fn a_row_of_boxes_is_found_by_its_strides() {
        // NZ: column-major blocks of 16x16 f16 boxes with rows inside; 64x64.
        let nz = Tile { blayout: BLayout::ColMajor, slayout: SLayout::RowMajor, ..tile(64, 64, Element::F16) };
        assert_eq!(nz.inner_box(), (16, 16));
        assert_eq!(nz.element_offset(16, 0), 256);
        assert_eq!(nz.element_offset(0, 16), 64 * 16);
        // ZN: row-major blocks, columns inside.
        let zn = Tile { slayout: SLayout::ColMajor, ..tile(64, 64, Element::F16) };
        assert_eq!(zn.element_offset(16, 0), 64 * 16);
        assert_eq!(zn.element_offset(0, 16), 256);
    }
}
