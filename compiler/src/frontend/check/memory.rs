//! A memory that knows, for every byte, the variables whose value certainly stands there, and who wrote it last.
//!
//! All changes go through a log, so that a branch or the body of a loop can be run, its outcome kept as a `Patch`, and
//! the state before restored at the cost of what changed. Bytes that nothing has written are in no piece: a reader
//! finds nothing lost there. It knows nothing of programs.

use super::{
    area::{Area, Extent, union},
    pieces::{Piece, Pieces, Row, Writer, for_each_stretch, insert, meet, push},
};
use crate::frontend::ast::VarId;

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
