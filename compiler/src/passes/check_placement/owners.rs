//! Whose value does each byte hold? A function is run on a memory that remembers it.
//!
//! Branches are run from the same state and their states are united; loops are run twice, the second time from the
//! state that the first trip left, so that what one trip destroys for the next is seen (`names.rs`: for which tiles a value
//! may stand). A read of a tile whose value
//! was overwritten through another tile, or by a called function, since it was written is an error, and so is one of a
//! source that the target's library destroyed (`destroys_a3`). Reads of bytes never written are the author's affair.

use super::{
    calls::{Used, used_by_call},
    names,
};
use crate::{ir, passes::allocate_memory_addr::PLANNED};
use melior::ir::{BlockRef, OperationRef, RegionLike, Value, ValueLike, operation::OperationLike};
use pto_dialect::{
    Op, Space, Tile, accesses, attribute, constant_int, device::Device, diagnostics, multi_tile, op_key, op_name,
    value_key,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Checks a function; true when nothing was placed by us or nothing is overwritten too early.
pub fn check(function: OperationRef, device: &Device) -> bool {
    let mut check = Check::new(function, device);
    let destroys = |op: Op| accesses(op, device.legality).iter().any(|access| access.destroys);
    if !check.tiles.iter().any(|t| t.planned)
        && check.calls.values().all(Vec::is_empty)
        && !ir::walk(function).into_iter().filter_map(Op::of).any(destroys)
    {
        return true;
    }
    if let Some(block) = function.region(0).ok().and_then(|r| r.first_block()) {
        check.block(block);
    }
    check.reported.is_empty()
}

struct Placed<'c, 'a> {
    value: Value<'c, 'a>,
    space: Space,
    start: u64,
    end: u64,
    planned: bool,
}

/// A tile and the bytes that it takes; all slots of a multi tile are one piece.
fn footprint(value: Value, device: &Device) -> Option<(Tile, u64)> {
    if let Some(tile) = Tile::of_value(value) {
        return Some((tile, tile.footprint_bytes()));
    }
    let (slot, count) = multi_tile(value.r#type())?;
    let tile = Tile::of(slot)?;
    let align = device.memory(tile.space).map_or(1, |memory| memory.place_align.max(1));
    Some((tile, tile.footprint_bytes().next_multiple_of(align).saturating_mul(u64::try_from(count).ok()?)))
}

/// What may be true of a tile's value, over all paths: bits.
const VALID: u8 = 1;
const LOST: u8 = 2;
const DESTROYED: u8 = 4;

#[derive(Clone, Default, PartialEq)]
struct State {
    /// Bytes by space and start: end, and the tiles whose value may stand there.
    bytes: BTreeMap<(Space, u64), (u64, BTreeSet<usize>)>,
    value: HashMap<usize, u8>,
}

/// The owner of bytes that a called function uses.
const CALLEE: usize = usize::MAX;

struct Check<'c, 'a> {
    device: &'a Device,
    tiles: Vec<Placed<'c, 'a>>,
    /// What calls use, by the name of the called function.
    calls: HashMap<String, Vec<Used>>,
    /// Which tiles a value may stand for.
    names: HashMap<usize, BTreeSet<usize>>,
    state: State,
    /// Of each loop: the states in which it was met, and what came of them.
    runs: HashMap<usize, Vec<(State, State)>>,
    /// The last operation that destroyed a tile.
    destroyers: HashMap<usize, OperationRef<'c, 'a>>,
    reported: BTreeSet<(usize, usize)>,
}

impl<'c, 'a> Check<'c, 'a> {
    fn new(function: OperationRef<'c, 'a>, device: &'a Device) -> Self {
        let calls = ir::walk(function).into_iter().filter(|&op| op_name(op) == "func.call").filter_map(ir::callee);
        let mut check = Self {
            device,
            tiles: Vec::new(),
            calls: calls.map(|name| (name.clone(), used_by_call(function, &name, device))).collect(),
            names: HashMap::new(),
            state: State::default(),
            runs: HashMap::new(),
            destroyers: HashMap::new(),
            reported: BTreeSet::new(),
        };
        let is_root = |op: &Op| op.is("alloc_tile") || op.is("alloc_multi_tile");
        for op in ir::walk(function).into_iter().filter_map(Op::of).filter(is_root) {
            let (Some(value), Some(addr)) = (op.result(), op.operand("addr").and_then(constant_int)) else { continue };
            let (Some((tile, bytes)), Ok(start)) = (footprint(value, device), u64::try_from(addr)) else { continue };
            check.names.insert(value_key(value), BTreeSet::from([check.tiles.len()]));
            let end = start.saturating_add(bytes);
            let planned = attribute(op.raw, PLANNED).is_some();
            check.tiles.push(Placed { value, space: tile.space, start, end, planned });
        }
        names::spread(function, &mut check.names);
        check
    }

    fn block(&mut self, block: BlockRef<'c, 'a>) {
        for op in ir::operations(block) {
            self.operation(op);
        }
    }

    fn operation(&mut self, op: OperationRef<'c, 'a>) {
        match op_name(op) {
            "scf.for" | "scf.while" => self.repeat(op),
            "func.call" => self.call(op),
            _ if op.region_count() > 0 => self.branch(op),
            _ => {
                if let Some(op) = Op::of(op) {
                    self.instruction(op);
                }
            }
        }
    }

    fn instruction(&mut self, op: Op<'c, 'a>) {
        // A handle that lives in a tile needs it wherever the handle is used.
        for value in op.raw.operands().filter(|v| Tile::of_value(*v).is_none()) {
            self.read(op.raw, value);
        }
        let touched = accesses(op, self.device.legality);
        for access in touched.iter().filter(|a| a.reads && !is_scratch(op, a.value)) {
            self.read(op.raw, access.value);
        }
        for access in touched.iter().filter(|a| a.destroys) {
            self.destroy(op.raw, access.value);
        }
        for access in touched.iter().filter(|a| a.writes && !a.destroys) {
            self.write(access.value);
        }
    }

    /// A called function reads and writes the tiles it is handed, and overwrites what it uses itself.
    fn call(&mut self, op: OperationRef<'c, 'a>) {
        let name = ir::callee(op).unwrap_or_default();
        let used = self.calls.get(&name).cloned().unwrap_or_default();
        for value in op.operands().filter(|&v| Tile::of_value(v).is_some()) {
            self.read(op, value);
            self.write(value);
            for tile in self.tiles_of(value) {
                let placed = &self.tiles[tile];
                let clash =
                    used.iter().find(|u| u.space == placed.space && u.start < placed.end && placed.start < u.end);
                if let Some(clash) = clash.filter(|_| self.reported.insert((op_key(op), tile))) {
                    let message = format!(
                        "'func.call' op hands tile {} ({} {} to {}) to '{name}', which uses bytes {} to {} itself",
                        ir::label(placed.value),
                        placed.space.name(),
                        placed.start,
                        placed.end,
                        clash.start,
                        clash.end
                    );
                    diagnostics::error(op.location(), "PTO-0609", message)
                        .note(pto_dialect::value_location(placed.value), "the tile")
                        .emit();
                }
            }
        }
        for bytes in used {
            for owner in self.take_bytes(bytes.space, bytes.start, bytes.end, CALLEE) {
                if owner != CALLEE && (self.tiles[owner].planned || bytes.planned) {
                    let bits = self.state.value.entry(owner).or_default();
                    *bits = if *bits & VALID != 0 { LOST } else { *bits };
                }
            }
        }
    }

    fn tiles_of(&self, value: Value<'c, 'a>) -> Vec<usize> {
        self.names.get(&value_key(value)).into_iter().flatten().copied().collect()
    }

    fn read(&mut self, op: OperationRef<'c, 'a>, value: Value<'c, 'a>) {
        for tile in self.tiles_of(value) {
            let bits = self.state.value.get(&tile).copied().unwrap_or(0);
            if bits & (LOST | DESTROYED) == 0 || !self.reported.insert((op_key(op), tile)) {
                continue;
            }
            if bits & DESTROYED != 0 {
                self.report_destroyed(op, tile);
            } else {
                let placed = &self.tiles[tile];
                let message = format!(
                    "'{}' op reads tile {}, whose bytes ({} {} to {}) may have been overwritten through another tile since",
                    op_name(op),
                    ir::label(placed.value),
                    placed.space.name(),
                    placed.start,
                    placed.end
                );
                diagnostics::error(op.location(), "PTO-0608", message)
                    .note(pto_dialect::value_location(placed.value), "the tile")
                    .emit();
            }
        }
    }

    fn report_destroyed(&self, op: OperationRef<'c, 'a>, tile: usize) {
        let (placed, destroyer) = (&self.tiles[tile], self.destroyers[&tile]);
        let message = format!(
            "'{}' op reads tile {}, which '{}' has overwritten: the library of {} computes in that source",
            op_name(op),
            ir::label(placed.value),
            op_name(destroyer),
            self.device.name
        );
        diagnostics::error(op.location(), "PTO-0614", message)
            .note(destroyer.location(), "overwritten here")
            .help(format!("copy {} with pto.tmov before, and give the copy to one of the two", ir::label(placed.value)))
            .emit();
    }

    /// The library leaves nothing in a source that anybody may read.
    fn destroy(&mut self, op: OperationRef<'c, 'a>, value: Value<'c, 'a>) {
        for tile in self.tiles_of(value) {
            *self.state.value.entry(tile).or_default() |= DESTROYED;
            self.destroyers.insert(tile, op);
        }
    }

    fn write(&mut self, value: Value<'c, 'a>) {
        let tiles = self.tiles_of(value);
        // A name for several tiles writes one of them, nobody knows which.
        let whole = tiles.len() == 1 && pto_dialect::defining_op(value).is_some_and(|d| op_name(d) == "pto.alloc_tile");
        for tile in tiles {
            let (space, start, end) = (self.tiles[tile].space, self.tiles[tile].start, self.tiles[tile].end);
            for owner in self.take_bytes(space, start, end, tile) {
                // Only what we placed is ours to prove; tiles that the author put on one another share on purpose.
                if owner != tile && owner != CALLEE && (self.tiles[owner].planned || self.tiles[tile].planned) {
                    let bits = self.state.value.entry(owner).or_default();
                    *bits = if *bits & VALID != 0 { LOST } else { *bits };
                }
            }
            let bits = self.state.value.entry(tile).or_default();
            // A window restores its part only: what was lost beside it stays lost.
            *bits = if whole || *bits & (LOST | DESTROYED) == 0 { VALID } else { *bits };
        }
    }

    /// Gives bytes a new owner; returns whose value stood there.
    fn take_bytes(&mut self, space: Space, start: u64, end: u64, tile: usize) -> BTreeSet<usize> {
        let mut former = BTreeSet::new();
        let touched: Vec<(u64, u64, BTreeSet<usize>)> = self
            .state
            .bytes
            .range((space, 0)..(space, end))
            .rev()
            .take_while(|(_, (e, _))| *e > start)
            .map(|(&(_, s), (e, owners))| (s, *e, owners.clone()))
            .collect();
        for (s, e, owners) in touched {
            self.state.bytes.remove(&(space, s));
            if s < start {
                self.state.bytes.insert((space, s), (start, owners.clone()));
            }
            if e > end {
                self.state.bytes.insert((space, end), (e, owners.clone()));
            }
            former.extend(owners);
        }
        self.state.bytes.insert((space, start), (end, BTreeSet::from([tile])));
        former
    }

    fn branch(&mut self, op: OperationRef<'c, 'a>) {
        let before = self.state.clone();
        let mut after: Option<State> = None;
        let blocks = ir::blocks(op);
        let all_covered = blocks.len() > 1 || op_name(op).starts_with("pto.section");
        for block in blocks {
            self.state = before.clone();
            self.block(block);
            after = Some(match after {
                None => std::mem::take(&mut self.state),
                Some(other) => other.united(&self.state),
            });
        }
        self.state = match after {
            Some(after) if all_covered => after,
            Some(after) => after.united(&before),
            None => before,
        };
    }

    fn repeat(&mut self, op: OperationRef<'c, 'a>) {
        let before = self.state.clone();
        // Loops in loops start from few different states: what came of each is remembered.
        let known = self.runs.get(&op_key(op)).and_then(|runs| runs.iter().find(|(from, _)| *from == before));
        if let Some((_, after)) = known {
            self.state = after.clone();
            return;
        }
        let blocks = ir::blocks(op);
        for _trip in 0..2 {
            for &block in &blocks {
                self.block(block);
            }
        }
        if op_name(op) == "scf.while"
            && let Some(&condition) = blocks.first()
        {
            // The way out leads through the condition once more.
            self.block(condition);
        }
        self.state = std::mem::take(&mut self.state).united(&before);
        self.runs.entry(op_key(op)).or_default().push((before, self.state.clone()));
    }
}

impl State {
    /// What may be true after either.
    fn united(mut self, other: &Self) -> Self {
        for (&tile, &bits) in &other.value {
            *self.value.entry(tile).or_default() |= bits;
        }
        let mut cuts: BTreeMap<Space, BTreeSet<u64>> = BTreeMap::new();
        for state in [&self, other] {
            for (&(space, start), &(end, _)) in &state.bytes {
                cuts.entry(space).or_default().extend([start, end]);
            }
        }
        let mut bytes = BTreeMap::new();
        for (space, cuts) in cuts {
            let cuts: Vec<u64> = cuts.into_iter().collect();
            for pair in cuts.windows(2) {
                let owners: BTreeSet<usize> =
                    [&self, other].into_iter().flat_map(|s| s.owners_at(space, pair[0])).collect();
                if !owners.is_empty() {
                    bytes.insert((space, pair[0]), (pair[1], owners));
                }
            }
        }
        self.bytes = bytes;
        self
    }

    fn owners_at(&self, space: Space, at: u64) -> Vec<usize> {
        let before = self.bytes.range((space, 0)..=(space, at)).next_back();
        before
            .filter(|(_, (end, _))| *end > at)
            .map(|(_, (_, owners))| owners.iter().copied().collect())
            .unwrap_or_default()
    }
}

fn is_scratch(op: Op, value: Value) -> bool {
    op.named_operands().iter().any(|(o, v)| o.role == pto_dialect::Role::Scratch && value_key(*v) == value_key(value))
}
