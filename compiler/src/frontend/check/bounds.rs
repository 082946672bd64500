//! Addresses by themselves: each is there, aligned, inside the memory and its allocation, and off the reserved ranges.
//!
//! Problems are PTO-0671, and PTO-0672 for reserved ranges. What stands at the addresses is not looked at.

use super::{
    Target,
    area::{Area, Extent},
    stated::{Declarations, Stated},
};
use crate::frontend::ast::{Function, FunctionKind, MemorySpace, Problem, Span, TileType, VarId};
use std::collections::BTreeMap;

/// Rows of an accumulator come in groups of this many (PyPTO's InitMemRef).
const ACCUMULATOR_ROWS: u64 = 16;

/// Checks addresses as they are found.
pub(super) struct Bounds<'p> {
    function: &'p Function,
    target: &'p Target<'p>,
    declarations: &'p Declarations,
    /// Where and what is reserved.
    reserved: Vec<(Extent, &'p str, Span)>,
    /// Per allocation: the least and the greatest byte that its tiles have, and the last of them.
    used: BTreeMap<VarId, (u64, u64, Span)>,
    problems: Vec<Problem>,
}

impl<'p> Bounds<'p> {
    /// Starts with the reserved ranges.
    pub(super) fn new(function: &'p Function, target: &'p Target<'p>, declarations: &'p Declarations) -> Self {
        let (reserved, used, problems) = (Vec::new(), BTreeMap::new(), Vec::new());
        let mut bounds = Self { function, target, declarations, reserved, used, problems };
        bounds.reserve();
        bounds
    }

    /// The bytes of a tile of its own, and whether they are all slots of its allocation.
    pub(super) fn own(&mut self, name: &str, tile: &TileType, stated: &Stated, span: Span) -> Option<(Area, bool)> {
        let Some(bytes) = physical_bytes(tile, stated.space).filter(|b| *b > 0) else {
            self.problem(
                span,
                format!("tile '{name}' has no number of bytes: its shape must be constant and not empty"),
            );
            return None;
        };
        let start = stated.start;
        let end = if stated.moves { stated.moving_end } else { start.and_then(|s| s.checked_add(bytes)) };
        let (Some(start), Some(end)) = (start, end) else {
            self.problem(span, format!("tile '{name}' is at an address that has no bounds"));
            return None;
        };
        let extent = Extent { space: stated.space, start, end };
        if let Some(room) = stated.room.filter(|room| *room < bytes) {
            self.problem(span, format!("tile '{name}' needs {bytes} bytes, but its memory has {room}"));
        }
        self.aligned(name, stated, start, span);
        self.fits(&format!("tile '{name}'"), extent, span);
        self.off_reserved(name, extent, span);
        self.in_allocation(name, stated, extent, span);
        Some((Area::whole(stated.space, start, end.saturating_sub(start)), stated.moves))
    }

    /// What a view's type states; where its bytes really are is its source's affair.
    pub(super) fn view(&mut self, name: &str, tile: &TileType, stated: &Stated, span: Span) {
        let Some(start) = stated.start else { return };
        let element = tile.dtype.bits().div_ceil(8);
        if !stated.moves && !start.is_multiple_of(element) {
            self.problem(span, format!("tile '{name}' begins at byte {start}, inside an element of {element} bytes"));
        }
        if (self.target.capacity)(stated.space).is_some_and(|capacity| start >= capacity) {
            self.problem(
                span,
                format!("tile '{name}' begins at {} {start}, behind the end of the memory", stated.space),
            );
        }
    }

    /// A problem with an address.
    pub(super) fn problem(&mut self, span: Span, message: String) {
        self.problems.push(Problem::new("PTO-0671", span, message));
    }

    /// All problems, after all tiles have been seen.
    pub(super) fn finish(mut self) -> Vec<Problem> {
        for (base, (start, end, span)) in std::mem::take(&mut self.used) {
            let Some(allocation) = self.declarations.allocations.get(&base) else { continue };
            if allocation.bytes.is_some_and(|bytes| end - start > bytes) {
                let name = &self.function.var(base).name;
                let message = format!("the tiles of '{name}' take {} bytes, more than it has", end - start);
                self.problems.push(Problem::new("PTO-0671", span, message).note(allocation.span, "the allocation"));
            }
        }
        self.problems
    }

    fn reserve(&mut self) {
        let space = match self.function.kind {
            FunctionKind::Aic => MemorySpace::Mat,
            FunctionKind::Aiv | FunctionKind::InCore => MemorySpace::Vec,
            _ => return,
        };
        for reserved in &self.declarations.reserved {
            let Some(start) = reserved.base else {
                self.problem(reserved.span, format!("reserved buffer '{}' has no address", reserved.name));
                continue;
            };
            let extent = Extent { space, start, end: start.saturating_add(reserved.bytes) };
            self.fits(&format!("reserved buffer '{}'", reserved.name), extent, reserved.span);
            self.off_reserved(&reserved.name, extent, reserved.span);
            self.reserved.push((extent, &reserved.name, reserved.span));
        }
    }

    fn aligned(&mut self, name: &str, stated: &Stated, start: u64, span: Span) {
        let align = (self.target.align)(stated.space).max(1);
        if !start.is_multiple_of(align) {
            self.problem(
                span,
                format!("tile '{name}' begins at {} {start}, not at a multiple of {align}", stated.space),
            );
        }
    }

    fn fits(&mut self, what: &str, extent: Extent, span: Span) {
        if let Some(capacity) = (self.target.capacity)(extent.space).filter(|c| extent.end > *c) {
            self.problem(span, format!("{what} ({extent}) reaches behind the end of the memory, {capacity} bytes"));
        }
    }

    fn off_reserved(&mut self, name: &str, extent: Extent, span: Span) {
        for (reserved, reserved_name, at) in &self.reserved {
            if extent.common(*reserved).is_some() {
                let message = format!("'{name}' ({extent}) overlaps reserved buffer '{reserved_name}' ({reserved})");
                self.problems.push(Problem::new("PTO-0672", span, message).note(*at, "the reserved buffer"));
            }
        }
    }

    fn in_allocation(&mut self, name: &str, stated: &Stated, extent: Extent, span: Span) {
        let Some(base) = stated.base else { return };
        let space = self.declarations.allocations.get(&base).and_then(|a| a.space);
        if space.is_some_and(|space| space != stated.space) {
            self.problem(span, format!("tile '{name}' is in {}, but its allocation is not", stated.space));
            return;
        }
        let used = self.used.entry(base).or_insert((extent.start, extent.end, span));
        if extent.end > used.1 {
            (used.1, used.2) = (extent.end, span);
        }
        used.0 = used.0.min(extent.start);
    }
}

/// Bytes of a tile as if nothing were rounded.
pub(super) fn unrounded_bytes(tile: &TileType) -> Option<u64> {
    bytes(tile, 1)
}

/// Bytes that a tile takes in its memory.
fn physical_bytes(tile: &TileType, space: MemorySpace) -> Option<u64> {
    bytes(tile, if space == MemorySpace::Acc { ACCUMULATOR_ROWS } else { 1 })
}

fn bytes(tile: &TileType, row_group: u64) -> Option<u64> {
    let shape = tile.static_shape()?;
    let (columns, leading) = shape.split_last()?;
    let rows = leading.iter().try_fold(1u64, |product, extent| product.checked_mul(*extent))?;
    let rows = rows.checked_next_multiple_of(row_group)?;
    Some(rows.checked_mul(*columns)?.checked_mul(tile.dtype.bits())?.div_ceil(8))
}
