//! Where the elements of a tile lie: runs of elements for reading and writing, strips of bytes for the checks.

use super::abi::{BoxLayout, Compact, Site, Slot, Space, Tile};
use super::element::Element;

/// Part of a tile, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// First row.
    pub row: usize,
    /// First column.
    pub col: usize,
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
}

/// Elements of one row that lie at equal distances: `count` of them from element `start` of the tile, `step` apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Offset of the first from the start of the tile, in elements.
    pub start: usize,
    /// Distance in elements.
    pub step: usize,
    /// How many.
    pub count: usize,
}

impl Tile {
    /// An unboxed row-major tile, all of it valid, that no variable of the kernel holds.
    pub fn plain(space: Space, element: Element, rows: usize, cols: usize, address: u64, site: Site) -> Tile {
        Tile {
            space,
            element,
            row_major: true,
            box_layout: BoxLayout::None,
            fractal_bytes: 512,
            compact: Compact::Null,
            rows,
            cols,
            valid_rows: rows,
            valid_cols: cols,
            address,
            pad: 0,
            slot: Slot(std::ptr::null_mut()),
            site,
        }
    }

    /// The valid part.
    pub fn valid(&self) -> Window {
        Window { row: 0, col: 0, rows: self.valid_rows, cols: self.valid_cols }
    }

    /// All of it, padding included.
    pub fn whole(&self) -> Window {
        Window { row: 0, col: 0, rows: self.rows, cols: self.cols }
    }

    /// Bytes of the tile's storage.
    pub fn bytes(&self) -> usize {
        self.element.bytes_of(self.rows * self.cols)
    }

    /// Rows and columns of the inner box; 1 x 1 when unboxed. A box of 512 bytes is 16 by 32 bytes.
    pub fn inner_box(&self) -> (usize, usize) {
        let across = 32 / self.element.storage_bytes();
        match (self.box_layout, self.fractal_bytes) {
            (BoxLayout::None, _) => (1, 1),
            (_, 1024) => (16, 16),
            (BoxLayout::RowMajor, 32) => (16, 2),
            (BoxLayout::ColMajor, 32) => (2, 16),
            (BoxLayout::RowMajor, _) => (16, across),
            (BoxLayout::ColMajor, _) => (across, 16),
        }
    }

    /// Order inside the boxes. A single row has none, whatever its type says: the device stores the vectors of TGEMV
    /// without gaps.
    fn order(&self) -> BoxLayout {
        if self.rows == 1 && self.box_layout == BoxLayout::RowMajor { BoxLayout::None } else { self.box_layout }
    }

    /// Offset of an element from the start of the tile, in elements.
    pub fn offset(&self, row: usize, col: usize) -> usize {
        if self.order() == BoxLayout::None {
            return if self.row_major { row * self.cols + col } else { col * self.rows + row };
        }
        let (box_rows, box_cols) = self.inner_box();
        let (outer_row, inner_row) = (row / box_rows, row % box_rows);
        let (outer_col, inner_col) = (col / box_cols, col % box_cols);
        let outer = match self.row_major {
            true => outer_row * self.cols * box_rows + outer_col * box_rows * box_cols,
            false => outer_col * self.rows * box_cols + outer_row * box_rows * box_cols,
        };
        let inner = match self.box_layout {
            BoxLayout::ColMajor => inner_col * box_rows + inner_row,
            _ => inner_row * box_cols + inner_col,
        };
        outer + inner
    }

    /// Calls `each` with the runs of a window, row by row.
    pub fn runs(&self, window: Window, mut each: impl FnMut(Run)) {
        let Window { row, col, rows, cols } = window;
        if self.order() == BoxLayout::None && self.row_major && col == 0 && cols == self.cols {
            // Whole rows follow one another.
            return each(Run { start: row * self.cols, step: 1, count: rows * cols });
        }
        let (box_rows, box_cols) = self.inner_box();
        let (width, step) = match self.order() {
            BoxLayout::None => (usize::MAX, if self.row_major { 1 } else { self.rows }),
            BoxLayout::RowMajor => (box_cols, 1),
            BoxLayout::ColMajor => (box_cols, box_rows),
        };
        for r in row..row + rows {
            let mut c = col;
            while c < col + cols {
                let count = (width - c % width).min(col + cols - c);
                each(Run { start: self.offset(r, c), step, count });
                c += count;
            }
        }
    }

    /// The bytes of a window, as addresses in the tile's space.
    pub fn region(&self, window: Window) -> Region {
        let Window { row, col, rows, cols } = window;
        let mut region = Region::default();
        if rows == 0 || cols == 0 {
            return region;
        }
        let bits = self.element.bits() as u64;
        let bytes = |elements: usize| elements as u64 * bits / 8;
        let end = |elements: usize| (elements as u64 * bits).div_ceil(8);
        // Strips of `count` pieces of `len` elements, `stride` apart.
        let mut strip = |start: usize, len: usize, stride: usize, count: usize| {
            let first = self.address + bytes(start);
            region.push(Strip {
                start: first,
                len: self.address + end(start + len) - first,
                stride: bytes(stride),
                count: count as u64,
            });
        };
        if self.order() == BoxLayout::None {
            match self.row_major {
                true => strip(self.offset(row, col), cols, self.cols, rows),
                false => strip(self.offset(row, col), rows, self.rows, cols),
            }
            return region;
        }
        let (box_rows, box_cols) = self.inner_box();
        // The part of each box that the window covers, boxes in the order of their storage.
        let mut part = |outer_row: usize, outer_col: usize| {
            let (r0, r1) = (row.max(outer_row * box_rows), (row + rows).min((outer_row + 1) * box_rows));
            let (c0, c1) = (col.max(outer_col * box_cols), (col + cols).min((outer_col + 1) * box_cols));
            match self.box_layout {
                BoxLayout::ColMajor => strip(self.offset(r0, c0), r1 - r0, box_rows, c1 - c0),
                _ => strip(self.offset(r0, c0), c1 - c0, box_cols, r1 - r0),
            }
        };
        let outer_rows = row / box_rows..=(row + rows - 1) / box_rows;
        let outer_cols = col / box_cols..=(col + cols - 1) / box_cols;
        match self.row_major {
            true => outer_rows.for_each(|r| outer_cols.clone().for_each(|c| part(r, c))),
            false => outer_cols.for_each(|c| outer_rows.clone().for_each(|r| part(r, c))),
        }
        region
    }
}

/// `count` pieces of `len` bytes, `stride` bytes from start to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Strip {
    /// First byte.
    pub start: u64,
    /// Bytes of a piece.
    pub len: u64,
    /// Distance between pieces.
    pub stride: u64,
    /// Pieces.
    pub count: u64,
}

impl Strip {
    /// One piece.
    pub fn piece(start: u64, len: u64) -> Strip {
        Strip { start, len, stride: len, count: 1 }
    }

    /// One past the last byte.
    pub fn end(&self) -> u64 {
        self.start + (self.count - 1) * self.stride + self.len
    }

    /// Whether the bytes from `start` to `end` touch a piece.
    fn touches(&self, start: u64, end: u64) -> bool {
        if start >= self.end() || end <= self.start {
            return false;
        }
        if self.count == 1 {
            return true;
        }
        // The last piece that starts before `end`.
        let last = ((end - 1).saturating_sub(self.start) / self.stride).min(self.count - 1);
        self.start + last * self.stride + self.len > start
    }

    fn overlaps(&self, other: &Strip) -> bool {
        let (few, many) = if self.count <= other.count { (self, other) } else { (other, self) };
        if few.start >= many.end() || many.start >= few.end() {
            return false;
        }
        (0..few.count).any(|i| {
            let start = few.start + i * few.stride;
            many.touches(start, start + few.len)
        })
    }
}

/// A set of bytes of one memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Region {
    strips: Vec<Strip>,
}

impl Region {
    /// A single piece.
    pub fn piece(start: u64, len: u64) -> Region {
        let mut region = Region::default();
        region.push(Strip::piece(start, len));
        region
    }

    /// Adds a strip; what follows the last one without a gap is joined to it.
    pub fn push(&mut self, mut strip: Strip) {
        if strip.len == 0 || strip.count == 0 {
            return;
        }
        if strip.count > 1 && strip.stride <= strip.len {
            strip = Strip::piece(strip.start, strip.end() - strip.start);
        }
        match self.strips.last_mut() {
            Some(last) if last.count == 1 && strip.count == 1 && last.end() == strip.start => {
                last.len += strip.len;
                last.stride = last.len;
            }
            // Pieces of one length at equal distances are one strip.
            Some(last)
                if strip.count == 1
                    && last.len == strip.len
                    && strip.start > last.start
                    && (last.count == 1 || strip.start == last.start + last.count * last.stride) =>
            {
                if last.count == 1 {
                    last.stride = strip.start - last.start;
                }
                last.count += 1;
            }
            _ => self.strips.push(strip),
        }
    }

    /// Whether there is no byte in it.
    pub fn is_empty(&self) -> bool {
        self.strips.is_empty()
    }

    /// First byte, and one past the last.
    pub fn bounds(&self) -> (u64, u64) {
        let start = self.strips.iter().map(|s| s.start).min().unwrap_or(0);
        let end = self.strips.iter().map(Strip::end).max().unwrap_or(0);
        (start, end)
    }

    /// Whether a byte is in both.
    pub fn overlaps(&self, other: &Region) -> bool {
        self.strips.iter().any(|a| other.strips.iter().any(|b| a.overlaps(b)))
    }

    /// The pieces, as start and length in bytes.
    pub fn pieces(&self) -> impl Iterator<Item = (u64, u64)> {
        self.strips.iter().flat_map(|s| (0..s.count).map(|i| (s.start + i * s.stride, s.len)))
    }
}
