//! A memory that knows, for every byte, the variables whose value certainly stands there, and who wrote it last.
//!
//! All changes go through a log, so that a branch or the body of a loop can be run, its outcome kept as a `Patch`, and
//! the state before restored at the cost of what changed. Bytes that nothing has written are in no piece: a reader
//! finds nothing lost there. It knows nothing of programs.

use super::area::{Area, Extent, union};
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
struct Piece {
    end: u64,
    names: Vec<VarId>,
    writer: Writer,
}

/// Pieces by their start.
type Row = Vec<(u64, Piece)>;

#[derive(Default)]
struct Pieces(BTreeMap<(MemorySpace, u64), Piece>);

/// What extents held after a branch.
#[derive(Default)]
pub(super) struct Patch {
    extents: Vec<Extent>,
    pieces: Pieces,
}

/// What an extent held before a change.
struct Edit {
    extent: Extent,
    before: Row,
}

#[derive(Default)]
pub(super) struct Memory {
    pieces: Pieces,
    log: Vec<Edit>,
}

impl Memory {
    /// Gives bytes a new value; only names that `keep` accepts stay valid beside it.
    pub(super) fn write(&mut self, area: Area, name: VarId, writer: Writer, keep: impl Fn(VarId) -> bool) {
        for extent in area.extents() {
            self.edit(extent, |before| {
                let mut after = Vec::new();
                for_each_stretch(extent, before, |start, end, piece| {
                    let mut names: Vec<VarId> =
                        piece.map(|p| p.names.iter().copied().filter(|n| keep(*n)).collect()).unwrap_or_default();
                    insert(&mut names, name);
                    push(&mut after, start, Piece { end, names, writer });
                });
                after
            });
        }
    }

    /// Names bytes whose content nobody has written yet.
    pub(super) fn claim(&mut self, area: Area, name: VarId, writer: Writer) {
        for extent in area.extents() {
            self.edit(extent, |before| {
                let mut after = Vec::new();
                for_each_stretch(extent, before, |start, end, piece| {
                    let mut piece = piece.cloned().unwrap_or(Piece { end, names: Vec::new(), writer });
                    piece.end = end;
                    insert(&mut piece.names, name);
                    push(&mut after, start, piece);
                });
                after
            });
        }
    }

    /// Changes the value of `name` where it stands; where it does not, what stands there is lost.
    pub(super) fn touch(&mut self, area: Area, name: VarId, writer: Writer) {
        self.change(area.extents(), |piece| {
            if !piece.names.contains(&name) {
                *piece = Piece { end: piece.end, names: Vec::new(), writer };
            }
        });
    }

    /// Ends the validity of names that `keep` refuses.
    pub(super) fn strip(&mut self, area: Area, writer: Writer, keep: impl Fn(VarId) -> bool) {
        self.change(area.extents(), |piece| {
            if piece.names.iter().any(|n| !keep(*n)) {
                piece.names.retain(|n| keep(*n));
                piece.writer = writer;
            }
        });
    }

    /// All at once: every first name of a pair becomes valid exactly where the second is.
    pub(super) fn bind(&mut self, pairs: &[(VarId, VarId)], extents: Vec<Extent>) {
        self.change(union(extents).into_iter(), |piece| {
            let found: Vec<VarId> = pairs.iter().filter(|(_, v)| piece.names.contains(v)).map(|(n, _)| *n).collect();
            piece.names.retain(|n| pairs.iter().all(|(name, _)| name != n));
            for name in found {
                insert(&mut piece.names, name);
            }
        });
    }

    /// The first written bytes of an area where the value of `name` does not stand, and who wrote them.
    pub(super) fn lost(&self, area: Area, name: VarId) -> Option<(Extent, Writer)> {
        area.extents().find_map(|extent| self.pieces.find(extent, |piece| !piece.names.contains(&name)))
    }

    /// Whether both values stand in all of an extent.
    pub(super) fn holds_both(&self, extent: Extent, a: VarId, b: VarId) -> bool {
        self.pieces.find(extent, |piece| !(piece.names.contains(&a) && piece.names.contains(&b))).is_none()
    }

    /// A point to which `rewind` leads back.
    pub(super) fn mark(&self) -> usize {
        self.log.len()
    }

    /// What was changed since a mark.
    pub(super) fn since(&self, mark: usize) -> Patch {
        let extents = union(self.log.iter().skip(mark).map(|edit| edit.extent).collect());
        let mut pieces = Pieces::default();
        for &extent in &extents {
            pieces.put(extent.space, self.pieces.copy(extent));
        }
        Patch { extents, pieces }
    }

    /// Restores the state at a mark; returns what had changed.
    pub(super) fn rewind(&mut self, mark: usize) -> Patch {
        let patch = self.since(mark);
        while self.log.len() > mark {
            if let Some(edit) = self.log.pop() {
                self.pieces.take(edit.extent);
                self.pieces.put(edit.extent.space, edit.before);
            }
        }
        patch
    }

    /// Goes on from what is certain after all of the outcomes. Returns whether that is less than after the first.
    pub(super) fn join(&mut self, outcomes: &[Patch]) -> bool {
        let mut less = false;
        for extent in union(outcomes.iter().flat_map(|p| p.extents.iter().copied()).collect()) {
            let mut rows = outcomes.iter().map(|p| p.content(extent, &self.pieces)).collect::<Vec<_>>().into_iter();
            let Some(mut certain) = rows.next() else { continue };
            for row in rows {
                let (met, lesser) = meet(extent, &certain, &row);
                certain = met;
                less |= lesser;
            }
            self.edit(extent, |_| certain);
        }
        less
    }

    fn change(&mut self, extents: impl Iterator<Item = Extent>, change: impl Fn(&mut Piece)) {
        for extent in extents {
            self.edit(extent, |before| {
                let mut after = before.to_vec();
                after.iter_mut().for_each(|(_, piece)| change(piece));
                after
            });
        }
    }

    fn edit(&mut self, extent: Extent, change: impl FnOnce(&[(u64, Piece)]) -> Row) {
        let before = self.pieces.take(extent);
        let after = change(&before);
        let changed = after != before;
        self.pieces.put(extent.space, after);
        if changed {
            self.log.push(Edit { extent, before });
        }
    }
}

impl Patch {
    /// What an extent holds after this outcome, when it held `base` before.
    fn content(&self, extent: Extent, base: &Pieces) -> Row {
        let first = self.extents.partition_point(|e| (e.space, e.end) <= (extent.space, extent.start));
        let mut inside = self.extents.iter().skip(first).take_while(|e| e.common(extent).is_some()).peekable();
        if inside.peek().is_none() {
            return base.copy(extent);
        }
        let mut pieces = Pieces::default();
        pieces.put(extent.space, base.copy(extent));
        for &part in inside {
            pieces.take(part);
            pieces.put(part.space, self.pieces.copy(part));
        }
        pieces.copy(extent)
    }
}

impl Pieces {
    /// Removes what an extent holds.
    fn take(&mut self, extent: Extent) -> Row {
        self.cut(extent.space, extent.start);
        self.cut(extent.space, extent.end);
        let starts: Vec<u64> =
            self.0.range((extent.space, extent.start)..(extent.space, extent.end)).map(|((_, start), _)| *start).collect();
        starts.into_iter().filter_map(|s| self.0.remove(&(extent.space, s)).map(|piece| (s, piece))).collect()
    }

    fn put(&mut self, space: MemorySpace, row: Row) {
        self.0.extend(row.into_iter().map(|(start, piece)| ((space, start), piece)));
    }

    /// What an extent holds, cut at its ends.
    fn copy(&self, extent: Extent) -> Row {
        self.touching(extent)
            .map(|(start, piece)| {
                (start.max(extent.start), Piece { end: piece.end.min(extent.end), ..piece.clone() })
            })
            .collect()
    }

    /// The first part of an extent whose piece is as wanted.
    fn find(&self, extent: Extent, wanted: impl Fn(&Piece) -> bool) -> Option<(Extent, Writer)> {
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
fn meet(extent: Extent, a: &[(u64, Piece)], b: &[(u64, Piece)]) -> (Row, bool) {
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
fn for_each_stretch(extent: Extent, row: &[(u64, Piece)], mut each: impl FnMut(u64, u64, Option<&Piece>)) {
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
fn push(row: &mut Row, start: u64, piece: Piece) {
    match row.last_mut() {
        Some((_, last)) if last.end == start && last.names == piece.names && last.writer == piece.writer => {
            last.end = piece.end;
        }
        _ => row.push((start, piece)),
    }
}

/// Adds to a sorted list.
fn insert(names: &mut Vec<VarId>, name: VarId) {
    if let Err(index) = names.binary_search(&name) {
        names.insert(index, name);
    }
}
