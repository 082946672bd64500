//! Tiles that one trip of a loop hands to the next.
//!
//! `alloc_tile` in a loop has one place, so the tile of this trip is the tile of the last one, whatever the values are
//! called. What a trip gets from the trip before must be read before its own tile is written; what is older is gone.

use super::names::flows;
use crate::ir;
use melior::ir::{BlockLike, OperationRef, Value, operation::OperationLike};
use pto_dialect::{
    Op, Tile, accesses, constant_int,
    device::{Device, Legality},
    diagnostics, edit, op_key, op_name, value_key, value_location,
};
use std::collections::{BTreeSet, HashMap};

/// Whether no trip of a loop reads what it has overwritten.
pub fn check(function: OperationRef, device: &Device) -> bool {
    let loops = ir::walk(function).into_iter().filter(|&op| is_loop(op));
    loops.map(|op| Carried::of(op).is_none_or(|carried| carried.check(device.legality))).fold(true, |a, b| a & b)
}

fn is_loop(op: OperationRef) -> bool {
    matches!(op_name(op), "scf.for" | "scf.while")
}

/// A tile by its number, and how many trips ago it was made: 2 for more than one.
type Age = (usize, u8);

/// One loop.
struct Carried<'c, 'a> {
    root: OperationRef<'c, 'a>,
    ops: Vec<OperationRef<'c, 'a>>,
    tiles: Vec<Value<'c, 'a>>,
    /// By value: the tiles that it may stand for.
    ages: HashMap<usize, BTreeSet<Age>>,
}

impl<'c: 'a, 'a> Carried<'c, 'a> {
    /// A loop that makes tiles at a constant place.
    fn of(root: OperationRef<'c, 'a>) -> Option<Self> {
        let ops = ir::walk(root);
        let made = ops.iter().filter_map(|&op| Op::of(op)).filter(|op| op.is("alloc_tile"));
        let placed = made.filter(|op| op.operand("addr").and_then(constant_int).is_some());
        let tiles: Vec<Value> = placed.filter_map(|op| op.result()).collect();
        if tiles.is_empty() || root.operand_count() == 0 {
            return None;
        }
        let ages = tiles.iter().enumerate().map(|(tile, &value)| (value_key(value), BTreeSet::from([(tile, 0)])));
        let mut carried = Self { root, ages: ages.collect(), ops, tiles };
        carried.spread();
        Some(carried)
    }

    fn spread(&mut self) {
        let first = ir::blocks(self.root).into_iter().next();
        let carried: BTreeSet<usize> = first
            .map(|block| (0..block.argument_count()).filter_map(|i| block.argument(i).ok()).collect::<Vec<_>>())
            .unwrap_or_default()
            .into_iter()
            .map(|argument| value_key(argument.into()))
            .collect();
        loop {
            let mut changed = false;
            let ages = &mut self.ages;
            let mut flow = |from: Value, to: Value, older: bool| {
                let found = ages.get(&value_key(from)).cloned().unwrap_or_default();
                let known = ages.entry(value_key(to)).or_default();
                let before = known.len();
                known.extend(found.into_iter().map(|(tile, age)| (tile, if older { (age + 1).min(2) } else { age })));
                changed |= known.len() > before;
            };
            for &op in self.ops.iter().chain(self.ops.iter().rev()) {
                flows(op, &mut |from, to| flow(from, to, false));
            }
            flows(self.root, &mut |from, to| flow(from, to, carried.contains(&value_key(to))));
            if !changed {
                return;
            }
        }
    }

    fn ages(&self, value: Value) -> impl Iterator<Item = Age> + '_ {
        self.ages.get(&value_key(value)).into_iter().flatten().copied()
    }

    fn check(&self, legality: Legality) -> bool {
        // Where each tile is written, as positions in the loop.
        let mut written: HashMap<usize, Vec<usize>> = HashMap::new();
        for (at, &op) in self.ops.iter().enumerate() {
            for value in touched(op, legality).into_iter().filter(|(_, _, writes)| *writes).map(|(value, ..)| value) {
                for (tile, _) in self.ages(value).filter(|(_, age)| *age == 0) {
                    written.entry(tile).or_default().push(at);
                }
            }
        }
        for (at, &op) in self.ops.iter().enumerate() {
            for (value, ..) in touched(op, legality).into_iter().filter(|(_, reads, _)| *reads) {
                for (tile, age) in self.ages(value).filter(|(_, age)| *age > 0) {
                    let writes = written.get(&tile).map_or(&[][..], Vec::as_slice);
                    let spoilt = |&w: &usize| {
                        age > 1
                            || w < at
                            || self.in_one_loop(w, at)
                            || (w == at && !may_be_in_place(op, value, legality))
                    };
                    if writes.iter().any(spoilt) {
                        return self.report(op, value, tile);
                    }
                }
            }
        }
        // Behind the loop, only what the last trip made is left. The way out of `while` is part of another trip: what the last
        // one handed on is left there, unless the way out writes the tile itself.
        let leaves_late = op_name(self.root) == "scf.while";
        for result in self.root.results().map(Value::from) {
            let is_gone = |(tile, age): &Age| {
                let writes = written.get(tile).map_or(&[][..], Vec::as_slice);
                let kept = leaves_late && *age == 1 && !writes.iter().any(|&at| self.in_first_block(at));
                *age > 0 && !writes.is_empty() && !kept
            };
            let old = self.ages(result).find(is_gone);
            if let (Some((tile, _)), Some(&user)) = (old, edit::uses(result).last()) {
                return self.report(user, result, tile);
            }
        }
        true
    }

    /// Whether an operation stands in the loop's first block: the condition of a `while`.
    fn in_first_block(&self, at: usize) -> bool {
        let root = op_key(self.root);
        let outermost = std::iter::once(self.ops[at]).chain(ir::ancestors(self.ops[at]));
        let outermost = outermost.take_while(|op| op_key(*op) != root).last();
        outermost.and_then(|op| op.block()) == ir::blocks(self.root).into_iter().next()
    }

    /// Whether two operations stand in one loop inside of this one: then either may come first.
    fn in_one_loop(&self, a: usize, b: usize) -> bool {
        let root = op_key(self.root);
        let loops = |at: usize| {
            ir::ancestors(self.ops[at]).take_while(move |op| op_key(*op) != root).filter(|&op| is_loop(op)).map(op_key)
        };
        let of_a: BTreeSet<usize> = loops(a).collect();
        loops(b).any(|op| of_a.contains(&op))
    }

    fn report(&self, op: OperationRef, value: Value, tile: usize) -> bool {
        let (name, tile) = (ir::label(value), self.tiles[tile]);
        let message = format!(
            "'{}' op takes {name}, which may be tile {} of an earlier trip: this trip has written the tile again by then",
            op_name(op),
            ir::label(tile)
        );
        diagnostics::error(op.location(), "PTO-0615", message)
            .note(value_location(tile), "the tile: it has one place, whatever the trip")
            .help("allocate tiles before the loop and exchange them, or copy what the next trip needs (pto.tmov)")
            .emit();
        false
    }
}

/// Tiles that an operation reads and writes.
fn touched<'c, 'a>(op: OperationRef<'c, 'a>, legality: Legality) -> Vec<(Value<'c, 'a>, bool, bool)> {
    if op_name(op) == "func.call" {
        return op.operands().filter(|v| Tile::of_value(*v).is_some()).map(|v| (v, true, true)).collect();
    }
    let all = Op::of(op).map(|op| accesses(op, legality)).unwrap_or_default();
    all.into_iter().map(|access| (access.value, access.reads, access.writes)).collect()
}

/// Whether the instruction may write where it reads this operand.
fn may_be_in_place(op: OperationRef, value: Value, legality: Legality) -> bool {
    let Some(op) = Op::of(op) else { return false };
    let allowed = match legality {
        Legality::A3 => op.facts.inplace_on_all(),
        Legality::A5 => op.facts.inplace,
    };
    let mut holders = op.named_operands().into_iter().filter(|(_, v)| value_key(*v) == value_key(value));
    holders.all(|(operand, _)| allowed == "*" || allowed.split_whitespace().any(|name| name == operand.name))
}
