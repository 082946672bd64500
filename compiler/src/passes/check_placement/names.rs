//! For which tiles may a value stand? Through views, choices, branches and loops, whatever happens at run time.

use crate::ir;
use melior::ir::{BlockLike, OperationRef, Value, operation::OperationLike};
use pto_dialect::{Op, op_name, value_key};
use std::collections::{BTreeSet, HashMap};

/// Tiles by value.
pub type Names = HashMap<usize, BTreeSet<usize>>;

/// Spreads the tiles of allocations to all values of a function that may stand for them.
pub fn spread(function: OperationRef, names: &mut Names) {
    // Inwards and onwards in the order of the text, outwards against it: few rounds suffice.
    let ops = ir::walk(function);
    loop {
        let mut changed = false;
        for &op in ops.iter().chain(ops.iter().rev()) {
            flows(op, &mut |from, to| changed |= flow(names, from, to));
        }
        if !changed {
            return;
        }
    }
}

fn flow(names: &mut Names, from: Value, to: Value) -> bool {
    let Some(tiles) = names.get(&value_key(from)).cloned() else { return false };
    let known = names.entry(value_key(to)).or_default();
    let before = known.len();
    known.extend(tiles);
    known.len() > before
}

/// From which value to which an operation hands tiles on.
pub fn flows<'c: 'a, 'a>(op: OperationRef<'c, 'a>, flow: &mut dyn FnMut(Value<'c, 'a>, Value<'c, 'a>)) {
    match op_name(op) {
        "arith.select" => {
            for index in [1, 2] {
                if let (Ok(from), Ok(to)) = (op.operand(index), op.result(0)) {
                    flow(from, to.into());
                }
            }
        }
        "scf.for" | "scf.while" => {
            let first = if op_name(op) == "scf.for" { 3 } else { 0 };
            let skip = usize::from(first == 3);
            for index in 0..op.operand_count().saturating_sub(first) {
                let Ok(init) = op.operand(first + index) else { continue };
                if let Some(Ok(argument)) = ir::blocks(op).first().map(|block| block.argument(index + skip)) {
                    flow(init, argument.into());
                }
                if let Ok(result) = op.result(index) {
                    flow(init, result.into());
                }
            }
            yields(op, Some(skip), flow);
        }
        _ if op.region_count() > 0 => yields(op, None, flow),
        _ => {
            let Some(known) = Op::of(op) else { return };
            let from = match known.mnemonic() {
                "subview" | "treshape" | "bitcast" | "tassign" | "multi_tile_get" => {
                    ["source", "src", "tile"].iter().find_map(|name| known.operand(name))
                }
                // A handle that lives in a tile.
                "comm.build_async_session" => known.operand("scratch"),
                _ => None,
            };
            if let (Some(from), Some(to)) = (from, known.result()) {
                flow(from, to);
            }
        }
    }
}

/// What blocks yield stands for the operation's results, and for the next trip's arguments.
fn yields<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    next_trip: Option<usize>,
    flow: &mut dyn FnMut(Value<'c, 'a>, Value<'c, 'a>),
) {
    let blocks = ir::blocks(op);
    for block in &blocks {
        let Some(last) = block.terminator() else { continue };
        let condition = op_name(last) == "scf.condition";
        for (index, value) in last.operands().skip(usize::from(condition)).enumerate() {
            // The way out of `while` leads through its condition.
            if (condition || op_name(op) != "scf.while")
                && let Ok(result) = op.result(index)
            {
                flow(value, result.into());
            }
            let Some(skip) = next_trip else { continue };
            // A condition hands on to the body, the body to the condition of the next trip.
            let target = if condition { blocks.get(1) } else { blocks.first() };
            if let Some(Ok(argument)) = target.map(|block| block.argument(index + skip)) {
                flow(value, argument.into());
            }
        }
    }
}
