//! Where tiles lie on the memory that programs are run on.

use crate::frontend::ast::MemorySpace;
use std::ops::Range;

/// Bytes of a cell: every form is made of whole ones.
pub const CELL: i64 = 4;

/// Where a tile lies, in cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    pub space: MemorySpace,
    pub start: i64,
    /// From one row to the next.
    pub pitch: i64,
    pub rows: i64,
    pub columns: i64,
}

impl Place {
    /// Cells that lie behind one another: rows, or all of a tile without gaps.
    pub fn runs(self) -> impl Iterator<Item = Range<i64>> {
        let dense = self.pitch == self.columns;
        let (rows, length) = if dense { (1, self.rows * self.columns) } else { (self.rows, self.columns) };
        (0..rows).map(move |row| self.start + row * self.pitch).map(move |start| start..start + length)
    }

    pub fn cells(self) -> impl Iterator<Item = i64> {
        self.runs().flatten()
    }

    pub fn count(self) -> usize {
        usize::try_from(self.rows * self.columns).expect("a tile has a size")
    }

    /// Rows that an accumulator has besides: whole blocks are written.
    pub fn filled_up(self, bits: u64, is_int: bool) -> Self {
        let block = if is_int && bits == 32 { 32 } else { 16 };
        let rows = if self.space == MemorySpace::Acc { (self.rows + block - 1) / block * block } else { self.rows };
        Self { rows, ..self }
    }

    pub fn meets(self, other: Self) -> bool {
        let meet = |a: &Range<i64>, b: &Range<i64>| a.start < b.end && b.start < a.end;
        self.space == other.space && self.runs().any(|a| other.runs().any(|b| meet(&a, &b)))
    }
}
