//! Bytes cut into pieces of one history each: whose value certainly stands there, and who wrote last.

use super::area::Extent;
use crate::frontend::ast::{MemorySpace, Span, VarId};
use std::collections::BTreeMap;

/// Who wrote bytes last: a tile, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Writer {
    pub(super) tile: VarId,
    pub(super) span: Span,
}

/// Bytes with the same history: up to `end`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) end: u64,
    /// Whose value certainly stands there, sorted.
    pub(super) names: Vec<VarId>,
    pub(super) writer: Writer,
}

/// Pieces by their start.
pub(super) type Row = Vec<(u64, Piece)>;

/// Pieces of all spaces, by where they start; they do not overlap.
#[derive(Default)]
pub(super) struct Pieces(BTreeMap<(MemorySpace, u64), Piece>);

impl Pieces {
    /// Removes what an extent holds.
    pub(super) fn take(&mut self, extent: Extent) -> Row {
        self.cut(extent.space, extent.start);
        self.cut(extent.space, extent.end);
        let starts: Vec<u64> = self
            .0
            .range((extent.space, extent.start)..(extent.space, extent.end))
            .map(|((_, start), _)| *start)
            .collect();
        starts.into_iter().filter_map(|s| self.0.remove(&(extent.space, s)).map(|piece| (s, piece))).collect()
    }

    pub(super) fn put(&mut self, space: MemorySpace, row: Row) {
        self.0.extend(row.into_iter().map(|(start, piece)| ((space, start), piece)));
    }

    /// What an extent holds, cut at its ends.
    pub(super) fn copy(&self, extent: Extent) -> Row {
        self.touching(extent)
            .map(|(start, piece)| (start.max(extent.start), Piece { end: piece.end.min(extent.end), ..piece.clone() }))
            .collect()
    }

    /// The first part of an extent whose piece is as wanted.
    pub(super) fn find(&self, extent: Extent, wanted: impl Fn(&Piece) -> bool) -> Option<(Extent, Writer)> {
        let (start, piece) = self.touching(extent).find(|(_, piece)| wanted(piece))?;
        let found = Extent { space: extent.space, start, end: piece.end }.common(extent)?;
        Some((found, piece.writer))
    }

    fn touching(&self, extent: Extent) -> impl Iterator<Item = (u64, &Piece)> {
        let before = self.0.range(..(extent.space, extent.start)).next_back();
        let before = before.filter(|((space, _), piece)| *space == extent.space && piece.end > extent.start);
        let inside = self.0.range((extent.space, extent.start)..(extent.space, extent.end.max(extent.start)));
        before.into_iter().chain(inside).map(|((_, start), piece)| (*start, piece))
    }

    /// Makes a piece begin at a byte that stands inside one.
    fn cut(&mut self, space: MemorySpace, at: u64) {
        let Some((_, piece)) = self.0.range_mut(..(space, at)).next_back().filter(|((s, _), _)| *s == space) else {
            return;
        };
        if piece.end > at {
            let rest = piece.clone();
            piece.end = at;
            self.0.insert((space, at), rest);
        }
    }
}

/// What is certain when either of two histories may have happened, and whether it is less than the first.
pub(super) fn meet(extent: Extent, a: &[(u64, Piece)], b: &[(u64, Piece)]) -> (Row, bool) {
    let mut certain = Vec::new();
    let mut less = false;
    let mut rest = b;
    for_each_stretch(extent, a, |start, end, a| {
        let Some(a) = a else { return };
        // Stretches of `a` ascend, so what lies before them in `b` is done with.
        while rest.first().is_some_and(|(_, piece)| piece.end <= start) {
            rest = rest.get(1..).unwrap_or_default();
        }
        for_each_stretch(Extent { start, end, ..extent }, rest, |start, end, b| {
            let Some(b) = b else {
                less |= !a.names.is_empty();
                return;
            };
            let names: Vec<VarId> = a.names.iter().copied().filter(|n| b.names.contains(n)).collect();
            let (a_lost, b_lost) = (names.len() < a.names.len(), names.len() < b.names.len());
            // A value was destroyed in the history that lacks it; of two, the later line is the destroyer.
            let writer = if a_lost && (!b_lost || b.writer.span > a.writer.span) { b.writer } else { a.writer };
            less |= a_lost;
            push(&mut certain, start, Piece { end, names, writer });
        });
    });
    (certain, less)
}

/// Calls for every stretch of an extent that is in one piece or in none.
pub(super) fn for_each_stretch(extent: Extent, row: &[(u64, Piece)], mut each: impl FnMut(u64, u64, Option<&Piece>)) {
    let mut at = extent.start;
    for (start, piece) in row {
        let (start, end) = ((*start).max(at), piece.end.min(extent.end));
        if start >= extent.end {
            break;
        }
        if at < start {
            each(at, start, None);
        }
        if start < end {
            each(start, end, Some(piece));
            at = end;
        }
    }
    if at < extent.end {
        each(at, extent.end, None);
    }
}

/// Appends a piece, to the one before it when they are alike.
pub(super) fn push(row: &mut Row, start: u64, piece: Piece) {
    match row.last_mut() {
        Some((_, last)) if last.end == start && last.names == piece.names && last.writer == piece.writer => {
            last.end = piece.end;
        }
        _ => row.push((start, piece)),
    }
}

/// Adds to a sorted list.
pub(super) fn insert(names: &mut Vec<VarId>, name: VarId) {
    if let Err(index) = names.binary_search(&name) {
        names.insert(index, name);
    }
}
