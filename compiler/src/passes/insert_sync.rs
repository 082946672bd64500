//! `pto-insert-sync`: barriers between dependent operations, a scheme that is simple and certainly right.
//!
//! Pipes run concurrently. Before an operation that touches bytes which an operation on another pipe touched since
//! the last full barrier, one of the two writing, a full barrier is placed; between two such operations of one pipe, a
//! barrier of that pipe, unless the target keeps it in order by itself. Each trip of a loop starts after a full
//! barrier, and so does the end of the function. Distinct pointers count as one memory, since they may be equal.
//! Functions that synchronise by themselves (flags, events) are left alone. No flags are used, so none can be
//! unbalanced; how to do it with few flags and little waiting is a later pass's work.

use crate::ir;
use melior::ir::{
    BlockLike, BlockRef, Identifier, OperationRef, RegionLike, Value, ValueLike,
    operation::{OperationBuilder, OperationLike},
};
use pto_dialect::{
    Op, Pipe, Space, Tile, accesses, constant_int, device::Device, edit, enum_attr, op_name, pipe_of, pointer,
};

/// Runs the pass on a module.
pub fn run(module: OperationRef, device: &Device) -> bool {
    for function in ir::functions(module) {
        let ops = ir::walk(function);
        let own_flags = ops.iter().filter_map(|&op| Op::of(op)).any(|op| SYNCHRONISES.contains(&op.mnemonic()));
        let Some(block) = function.region(0).ok().and_then(|r| r.first_block()) else { continue };
        if !own_flags {
            let mut pass = InsertSync { device, pending: Vec::new() };
            pass.block(block);
            if let (true, Some(last)) = (pass.uses_pipes(function), block.terminator()) {
                barrier_before(last, Pipe::All);
            }
        }
    }
    true
}

/// A function with one of these is synchronised by its author.
const SYNCHRONISES: [&str; 6] =
    ["set_flag", "wait_flag", "set_flag_dyn", "wait_flag_dyn", "record_event", "wait_event"];

/// Bytes of a memory space; `None`: the whole space.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    space: Space,
    range: Option<(u64, u64)>,
}

impl Place {
    fn overlaps(&self, other: &Self) -> bool {
        self.space == other.space
            && match (self.range, other.range) {
                (Some((a, b)), Some((c, d))) => a < d && c < b,
                _ => true,
            }
    }
}

/// An access since the last full barrier.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Pending {
    pipe: Pipe,
    place: Place,
    writes: bool,
    /// A barrier of its own pipe came after it.
    drained: bool,
}

struct InsertSync<'d> {
    device: &'d Device,
    pending: Vec<Pending>,
}

impl InsertSync<'_> {
    fn block(&mut self, block: BlockRef) {
        for op in ir::operations(block) {
            self.operation(op);
        }
    }

    fn operation(&mut self, op: OperationRef) {
        match op_name(op) {
            "scf.for" | "scf.while" => self.repeated(op),
            "func.call" => self.call(op),
            _ if op.region_count() > 0 => self.alternatives(op),
            _ => {
                let Some(known) = Op::of(op) else { return };
                if known.is("tsync") || (known.is("barrier") && known.enum_text("pipe") == Some("PIPE_ALL")) {
                    return self.pending.clear();
                }
                if known.is("tfree") {
                    // The slot goes back to its producer: whoever still reads a popped tile must be done.
                    let slots = [Space::Vec, Space::Mat].map(|space| Pending {
                        pipe: Pipe::All,
                        place: Place { space, range: None },
                        writes: true,
                        drained: false,
                    });
                    return self.access(op, Pipe::All, slots.to_vec());
                }
                if let Some(pipe) = pipe_of(known, self.device.legality) {
                    let touched = accesses(known, self.device.legality).into_iter().map(|a| Pending {
                        pipe,
                        place: place_of(a.value),
                        writes: a.writes,
                        drained: false,
                    });
                    self.access(op, pipe, touched.collect());
                }
            }
        }
    }

    /// A called function may touch anything, on any pipe.
    fn call(&mut self, op: OperationRef) {
        if !self.pending.is_empty() {
            barrier_before(op, Pipe::All);
        }
        let spaces = Space::ON_CHIP.into_iter().chain([Space::Gm]);
        self.pending = spaces
            .map(|space| Pending { pipe: Pipe::All, place: Place { space, range: None }, writes: true, drained: false })
            .collect();
    }

    /// What runs several times starts after a full barrier each time.
    fn repeated(&mut self, op: OperationRef) {
        if !self.uses_pipes(op) {
            return;
        }
        if let Some(pipe) = self.only_pipe(op).filter(|&p| self.in_order(p) && self.pending.iter().all(|a| a.pipe == p))
        {
            // One pipe that keeps its own order: nothing to wait for, on any trip.
            for block in ir::blocks(op) {
                self.block(block);
            }
            debug_assert!(self.pending.iter().all(|a| a.pipe == pipe));
            return;
        }
        let mut after = self.pending.clone();
        for block in ir::blocks(op) {
            if let Some(first) = block.first_operation() {
                barrier_before(first, Pipe::All);
            }
            self.pending.clear();
            self.block(block);
            after.append(&mut self.pending);
        }
        self.join(&after);
    }

    /// What runs at most once, one of several.
    fn alternatives(&mut self, op: OperationRef) {
        let before = self.pending.clone();
        let mut after: Vec<Pending> = before.clone();
        for block in ir::blocks(op) {
            self.pending.clone_from(&before);
            self.block(block);
            let end = std::mem::replace(&mut self.pending, after);
            self.join(&end);
            after = std::mem::take(&mut self.pending);
        }
        self.pending = after;
    }

    fn join(&mut self, other: &[Pending]) {
        for access in other {
            if !self.pending.contains(access) {
                self.pending.push(*access);
            }
        }
    }

    /// The pipe of everything inside an operation, where it is one.
    fn only_pipe(&self, root: OperationRef) -> Option<Pipe> {
        let mut only = None;
        for op in ir::walk(root) {
            if op_name(op) == "func.call" {
                return None;
            }
            let Some(pipe) = Op::of(op).and_then(|op| pipe_of(op, self.device.legality)) else { continue };
            if only.is_some_and(|known| known != pipe) {
                return None;
            }
            only = Some(pipe);
        }
        only
    }

    fn uses_pipes(&self, root: OperationRef) -> bool {
        ir::walk(root).into_iter().any(|op| {
            op_name(op) == "func.call" || Op::of(op).and_then(|op| pipe_of(op, self.device.legality)).is_some()
        })
    }

    fn access(&mut self, op: OperationRef, pipe: Pipe, touched: Vec<Pending>) {
        let conflicts = |p: &Pending, t: &Pending| (p.writes || t.writes) && p.place.overlaps(&t.place);
        let across = |p: &Pending| p.pipe != pipe || pipe == Pipe::All;
        let depends = |filter: &dyn Fn(&Pending) -> bool| {
            self.pending.iter().any(|p| filter(p) && touched.iter().any(|t| conflicts(p, t)))
        };
        if depends(&|p| across(p)) {
            barrier_before(op, Pipe::All);
            self.pending.clear();
        } else if depends(&|p| !across(p) && !p.drained) && !self.in_order(pipe) {
            barrier_before(op, pipe);
            for p in self.pending.iter_mut().filter(|p| p.pipe == pipe) {
                p.drained = true;
            }
        }
        for access in touched {
            self.pending.retain(|p| !(p.pipe == access.pipe && p.place == access.place && p.writes == access.writes));
            self.pending.push(access);
        }
    }

    /// Whether the target orders the operations of a pipe by itself.
    fn in_order(&self, pipe: Pipe) -> bool {
        let sync = &self.device.sync;
        sync.in_order.iter().chain(&sync.no_barrier).any(|name| name == pipe.name())
    }
}

/// Puts a barrier before an operation.
pub fn barrier_before(op: OperationRef, pipe: Pipe) {
    let context = pto_dialect::context_of(op);
    let attribute = enum_attr(context, "Pipe", pipe.name()).expect("every pipe is a case");
    let location = melior::ir::Location::unknown(context);
    let barrier =
        OperationBuilder::new("pto.barrier", location).add_attributes(&[(Identifier::new(context, "pipe"), attribute)]);
    edit::insert_before(op, barrier.build().expect("the operation is complete"));
}

/// The bytes behind a tile, a view or a pointer.
fn place_of(value: Value) -> Place {
    if let Some(tile) = Tile::of_value(value) {
        let addr = Op::defining(value).and_then(|d| d.operand("addr")).and_then(constant_int);
        let start = addr.and_then(|a| u64::try_from(a).ok());
        return Place { space: tile.space, range: start.map(|s| (s, s.saturating_add(extent(value, &tile)))) };
    }
    let space = pointer(value.r#type()).map_or(Space::Gm, |(_, space)| space);
    Place { space, range: None }
}

/// Bytes from a tile's first to its last: a window reaches over its parent's rows.
fn extent(value: Value, tile: &Tile) -> u64 {
    let parent =
        Op::defining(value).filter(|d| d.is("subview")).and_then(|d| d.operand("source")).and_then(Tile::of_value);
    let Some(parent) = parent else { return tile.footprint_bytes() };
    let (row, col) = parent.strides();
    let (box_rows, box_cols) = parent.inner_box();
    let box_elements = box_rows * box_cols;
    let last = |extent: i64, step: i64| (extent - step).max(0);
    let elements = last(tile.rows, box_rows) * row + last(tile.cols, box_cols) * col + box_elements;
    (elements.max(1) as u64).saturating_mul(parent.element.bytes()).max(tile.footprint_bytes())
}
