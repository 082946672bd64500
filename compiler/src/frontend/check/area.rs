//! Bytes of a memory space: one piece (`Extent`) or equally spaced rows (`Area`). Arithmetic only.

use crate::frontend::ast::MemorySpace;
use std::fmt;

/// Bytes in one piece, from `start` to before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Extent {
    pub(super) space: MemorySpace,
    pub(super) start: u64,
    pub(super) end: u64,
}

/// Rows of bytes: `rows` times `row_bytes`, from one start to the next `pitch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) space: MemorySpace,
    pub(super) start: u64,
    rows: u64,
    row_bytes: u64,
    pitch: u64,
}

impl Extent {
    /// What both have.
    pub(super) fn common(self, other: Self) -> Option<Self> {
        let (start, end) = (self.start.max(other.start), self.end.min(other.end));
        (self.space == other.space && start < end).then_some(Self { space: self.space, start, end })
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} to {}", self.space, self.start, self.end)
    }
}

impl Area {
    /// Bytes in one piece.
    pub(super) fn whole(space: MemorySpace, start: u64, bytes: u64) -> Self {
        Self { space, start, rows: 1, row_bytes: bytes, pitch: bytes }
    }

    /// Rows; those that touch are one piece.
    pub(super) fn rows(space: MemorySpace, start: u64, rows: u64, row_bytes: u64, pitch: u64) -> Self {
        if rows == 1 || pitch == row_bytes {
            return Self::whole(space, start, rows.saturating_mul(row_bytes));
        }
        Self { space, start, rows, row_bytes, pitch }
    }

    /// How many bytes.
    pub(super) fn bytes(self) -> u64 {
        self.rows.saturating_mul(self.row_bytes)
    }

    /// Whether it is in one piece.
    pub(super) fn is_whole(self) -> bool {
        self.rows == 1
    }

    /// From the first byte to behind the last.
    pub(super) fn envelope(self) -> Extent {
        let last = self.rows.saturating_sub(1).saturating_mul(self.pitch);
        let end = self.start.saturating_add(last).saturating_add(self.row_bytes);
        Extent { space: self.space, start: self.start, end }
    }

    /// Its pieces in ascending order.
    pub(super) fn extents(self) -> impl Iterator<Item = Extent> {
        (0..self.rows).map(move |row| self.row(row)).filter(|e| e.start < e.end)
    }

    /// The first bytes that both have.
    pub(super) fn overlap(self, other: Self) -> Option<Extent> {
        self.envelope().common(other.envelope())?;
        self.extents().find_map(|extent| other.within(extent))
    }

    fn row(self, row: u64) -> Extent {
        let start = self.start.saturating_add(row.saturating_mul(self.pitch));
        Extent { space: self.space, start, end: start.saturating_add(self.row_bytes) }
    }

    /// Its first bytes inside an extent: in the row that begins before the extent, or in the next.
    fn within(self, extent: Extent) -> Option<Extent> {
        let row = extent.start.saturating_sub(self.start) / self.pitch.max(1);
        [row, row + 1].into_iter().filter(|r| *r < self.rows).find_map(|r| self.row(r).common(extent))
    }
}

impl fmt::Display for Area {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.envelope().fmt(f)?;
        if self.rows > 1 {
            write!(f, " ({} rows of {} bytes)", self.rows, self.row_bytes)?;
        }
        Ok(())
    }
}

/// The union in ascending order, what touches joined.
pub(super) fn union(mut extents: Vec<Extent>) -> Vec<Extent> {
    extents.sort_unstable();
    let mut joined: Vec<Extent> = Vec::new();
    for extent in extents {
        match joined.last_mut() {
            Some(last) if last.space == extent.space && extent.start <= last.end => last.end = last.end.max(extent.end),
            _ => joined.push(extent),
        }
    }
    joined
}
