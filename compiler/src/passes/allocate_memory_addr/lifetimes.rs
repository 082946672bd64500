//! From when to when each tile's bytes matter, over structured control flow.
//!
//! The rules of loops are those of `crate::memory::lifetimes`; here is what the operations of a module do to tiles, which
//! are memory that several operations write, not values. Operations are numbered in source order. A tile lives from the first to the last operation that may touch it,
//! through any name: windows, casts, loop-carried values, results of branches and loops. What is defined outside a
//! loop and touched inside, or carried from trip to trip, lives through the whole loop. Memory that the author pinned
//! is described by byte ranges instead of names, because other names may stand for the same bytes.

use super::collect::{Root, Roots, leader};
use crate::{
    ir,
    memory::{layout::Range, lifetimes::Timeline},
};
use melior::ir::{BlockLike, OperationRef, Value, operation::OperationLike};
use pto_dialect::{Op, Role, Space, Tile, op_key, op_name, value_key};
use std::collections::{BTreeSet, HashMap};

/// Positions of the first and the last operation, both included. Empty when `start > end`.
#[derive(Clone, Debug)]
pub struct Lifetime {
    pub start: usize,
    pub end: usize,
    /// The tile's own key.
    pub key: usize,
    /// Keys of tiles that the last operation may write over this one's bytes.
    pub last_reader_allows: Vec<usize>,
}

impl Default for Lifetime {
    fn default() -> Self {
        Self { start: usize::MAX, end: 0, key: 0, last_reader_allows: Vec::new() }
    }
}

impl Lifetime {
    /// Whether both are alive at some operation.
    pub fn meets(&self, other: &Self) -> bool {
        self.start <= other.end && other.start <= self.end
    }

    fn touch(&mut self, at: usize) {
        self.start = self.start.min(at);
        self.end = self.end.max(at);
    }
}

/// Bytes that pinned tiles share, and when they are in use.
pub struct Region {
    pub range: Range,
    pub lifetime: Lifetime,
}

/// A loop by the positions of its first and last operation, and where it stands.
struct Loop {
    first: usize,
    last: usize,
}

impl Loop {
    fn holds(&self, at: usize) -> bool {
        self.first <= at && at <= self.last
    }
}

/// Which roots a tile value may stand for.
type RootSets = HashMap<usize, BTreeSet<usize>>;

/// Finds every root's lifetime.
pub fn find(function: OperationRef, roots: &mut [Root]) {
    let ops = ir::walk(function);
    let position: HashMap<usize, usize> = ops.iter().enumerate().map(|(i, &op)| (op_key(op), i)).collect();
    let loops = loops(&ops, &position);
    let sets = root_sets(&ops, roots);
    let defined: Vec<usize> = roots.iter().map(|r| position[&op_key(r.op.raw)]).collect();
    let held = held_by_loops(&ops, &loops, &sets, &defined);
    let ends: HashMap<usize, usize> = loops.iter().map(|l| (l.first, l.last)).collect();
    let mut time = Timeline::new(roots.len());
    let mut open: Vec<usize> = Vec::new();
    for (at, &op) in ops.iter().enumerate() {
        while open.last().is_some_and(|&last| last < at) {
            open.pop();
            time.end_loop();
        }
        for &root in touched(op, &sets).iter().chain(held.get(&at).into_iter().flatten()) {
            time.define(root);
            time.read(root);
        }
        time.step();
        if let Some(&last) = ends.get(&at) {
            open.push(last);
            time.begin_loop();
        }
    }
    for _ in open {
        time.end_loop();
    }
    let found = time.finish();
    for (index, root) in roots.iter_mut().enumerate() {
        root.lifetime.key = index;
        if let Some(lifetime) = found.of(index) {
            root.lifetime.touch(lifetime.start as usize);
            root.lifetime.touch(lifetime.end as usize);
        }
    }
    for root in between_cores(&ops, &sets) {
        // The other core is not where this one is: whatever comes first or last in the text.
        roots[root].lifetime.touch(0);
        roots[root].lifetime.touch(ops.len().saturating_sub(1));
    }
    for (at, &op) in ops.iter().enumerate() {
        allow_in_place(at, op, &sets, roots);
    }
}

/// The roots that sections of both cores touch.
fn between_cores(ops: &[OperationRef], sets: &RootSets) -> BTreeSet<usize> {
    let mut touched_by: HashMap<&str, BTreeSet<usize>> = HashMap::new();
    for &op in ops {
        if let Some(core) = ir::ancestors(op).find_map(ir::section_kind) {
            touched_by.entry(core).or_default().extend(touched(op, sets));
        }
    }
    let of = |core: &str| touched_by.get(core).cloned().unwrap_or_default();
    of("cube").intersection(&of("vector")).copied().collect()
}

/// The roots that an operation's operands may stand for.
fn touched(op: OperationRef, sets: &RootSets) -> BTreeSet<usize> {
    op.operands().filter_map(|value| sets.get(&value_key(value))).flatten().copied().collect()
}

/// By the position of a loop: the roots whose bytes it holds from its beginning. What is defined outside a loop and
/// touched inside is there from the outermost such loop on, and so is what a loop carries from trip to trip.
fn held_by_loops(
    ops: &[OperationRef],
    loops: &[Loop],
    sets: &RootSets,
    defined: &[usize],
) -> HashMap<usize, BTreeSet<usize>> {
    let mut held: HashMap<usize, BTreeSet<usize>> = HashMap::new();
    for (at, &op) in ops.iter().enumerate() {
        for root in touched(op, sets) {
            let around = |l: &&Loop| l.holds(at) && !l.holds(defined[root]);
            if let Some(outermost) = loops.iter().find(around) {
                held.entry(outermost.first).or_default().insert(root);
            }
        }
    }
    for own in loops {
        for block in ir::blocks(ops[own.first]) {
            let carried = block.terminator().map(|last| touched(last, sets)).unwrap_or_default();
            held.entry(own.first).or_default().extend(carried);
        }
    }
    held
}

/// Outer loops before inner ones.
fn loops(ops: &[OperationRef], position: &HashMap<usize, usize>) -> Vec<Loop> {
    let is_loop = |op: &&OperationRef| matches!(op_name(**op), "scf.for" | "scf.while");
    ops.iter()
        .filter(is_loop)
        .map(|&op| {
            let first = position[&op_key(op)];
            Loop { first, last: first + ir::walk(op).len() }
        })
        .collect()
}

/// Goes round until nothing changes: carried values make the sets depend on one another.
fn root_sets(ops: &[OperationRef], roots: &[Root]) -> RootSets {
    let own = |i: usize| BTreeSet::from([leader(roots, i)]);
    let mut sets: RootSets = roots.iter().enumerate().map(|(i, r)| (value_key(r.value), own(i))).collect();
    loop {
        let mut changed = false;
        for &op in ops {
            for (from, to) in flows(op) {
                let Some(source) = sets.get(&value_key(from)).cloned() else { continue };
                let target = sets.entry(value_key(to)).or_default();
                let before = target.len();
                target.extend(source);
                changed |= target.len() != before;
            }
        }
        if !changed {
            return sets;
        }
    }
}

/// Which values an operation makes stand for the same tiles as which others.
fn flows<'c, 'a>(op: OperationRef<'c, 'a>) -> Vec<(Value<'c, 'a>, Value<'c, 'a>)> {
    if let Some(known) = Op::of(op) {
        if known.is("comm.build_async_session") {
            // The queue lives in the scratch tile: whoever uses it uses the tile.
            return known.operand("scratch").zip(known.result()).into_iter().collect();
        }
        let source = ["source", "src", "tile"].iter().find_map(|n| known.operand(n));
        let views = matches!(known.mnemonic(), "subview" | "treshape" | "bitcast" | "tassign" | "multi_tile_get");
        return match (source, known.result()) {
            (Some(source), Some(result)) if views => vec![(source, result)],
            _ => Vec::new(),
        };
    }
    let result = |i: usize| op.result(i).ok().map(Value::from);
    match op_name(op) {
        "arith.select" => [1, 2].into_iter().filter_map(|i| Some((op.operand(i).ok()?, result(0)?))).collect(),
        "scf.for" => structured(op, 3, 1),
        "scf.while" => structured(op, 0, 0),
        "scf.if" | "scf.index_switch" => structured(op, usize::MAX, 0),
        _ => Vec::new(),
    }
}

/// Operands from `first` on flow into block arguments from `skip` on; terminators into results and arguments.
fn structured<'c, 'a>(op: OperationRef<'c, 'a>, first: usize, skip: usize) -> Vec<(Value<'c, 'a>, Value<'c, 'a>)> {
    let mut pairs = Vec::new();
    let inits: Vec<Value> = op.operands().skip(first.min(op.operand_count())).collect();
    let results: Vec<Value> = op.results().map(Value::from).collect();
    for block in ir::blocks(op) {
        let arguments: Vec<Value> =
            (skip..block.argument_count()).filter_map(|i| block.argument(i).ok().map(Value::from)).collect();
        pairs.extend(inits.iter().copied().zip(arguments.iter().copied()));
        pairs.extend(inits.iter().copied().zip(results.iter().copied()));
        let Some(last) = block.terminator() else { continue };
        let condition = usize::from(op_name(last) == "scf.condition");
        let yielded: Vec<Value> = last.operands().skip(condition).collect();
        pairs.extend(yielded.iter().copied().zip(results.iter().copied()));
        for other in ir::blocks(op) {
            let arguments = (skip..other.argument_count()).filter_map(|i| other.argument(i).ok().map(Value::from));
            pairs.extend(yielded.iter().copied().zip(arguments));
        }
    }
    pairs
}

/// Notes for tiles that die at an operation which results may take their bytes.
fn allow_in_place(at: usize, op: OperationRef, sets: &RootSets, roots: &mut [Root]) {
    let Some(op) = Op::of(op) else { return };
    let Some(result) = op.operand("dst").and_then(|dst| single(sets, dst)) else { return };
    let allowed: Vec<&str> = op.facts.inplace_on_all().split_whitespace().collect();
    for (operand, value) in op.named_operands() {
        let Some(dying) = single(sets, value) else { continue };
        // A tile that stands for several operands must be allowed as each of them.
        let operands = op.named_operands();
        let holders = operands.iter().filter(|(_, v)| sets.get(&value_key(*v)).is_some_and(|s| s.contains(&dying)));
        let named = holders
            .into_iter()
            .all(|(o, _)| o.role == Role::Read && (allowed.contains(&"*") || allowed.contains(&o.name)));
        let same = Tile::of_value(value) == op.operand("dst").and_then(Tile::of_value);
        let is_root = value_key(value) == value_key(roots[dying].value);
        if operand.role == Role::Read && named && same && is_root && dying != result && roots[dying].lifetime.end == at
        {
            roots[dying].lifetime.last_reader_allows.push(result);
        }
    }
}

fn single(sets: &RootSets, value: Value) -> Option<usize> {
    let set = sets.get(&value_key(value))?;
    (set.len() == 1).then(|| set.first().copied()).flatten()
}

/// Pinned ranges that touch one another are one region; it is in use from the first access to the last, through
/// every loop that any access stands in.
pub fn pinned_regions(pinned: &[Range], space: Space, roots: &Roots) -> Vec<Region> {
    let mut sorted = pinned.to_vec();
    sorted.sort_unstable();
    let mut regions: Vec<Region> = Vec::new();
    for range in sorted {
        match regions.last_mut() {
            Some(last) if range.start < last.range.end => last.range.end = last.range.end.max(range.end),
            _ => regions.push(Region { range, lifetime: Lifetime::default() }),
        }
    }
    let ops = ir::walk(roots.function);
    let position: HashMap<usize, usize> = ops.iter().enumerate().map(|(i, &op)| (op_key(op), i)).collect();
    let loops = loops(&ops, &position);
    for root in roots.list.iter().filter(|r| r.space == space) {
        let Some(address) = root.addr else { continue };
        let Some(region) = regions.iter_mut().find(|r| r.range.start <= address && address < r.range.end) else {
            continue;
        };
        for at in [root.lifetime.start, root.lifetime.end] {
            if root.lifetime.start > root.lifetime.end {
                continue;
            }
            region.lifetime.touch(at);
            if let Some(outermost) = loops.iter().find(|l| l.first <= at && at <= l.last) {
                region.lifetime.touch(outermost.first);
                region.lifetime.touch(outermost.last);
            }
        }
    }
    regions
}
