//! `pto-find-lost-values`: warns of a tile that a loop writes in every trip and that nobody reads.
//!
//! It is legal, and nearly always a mistake: an accumulator that was meant to be carried. Changes nothing.

use crate::ir;
use melior::ir::{OperationRef, Value, operation::OperationLike};
use pto_dialect::{Op, Role, device::Device, diagnostics, edit, op_name, value_key, value_location};

/// Runs the pass on a module.
pub fn run(module: OperationRef, _device: &Device) -> bool {
    for function in ir::functions(module) {
        for alloc in ir::ops_named(function, "alloc_tile").into_iter().filter(|op| is_in_loop(op.raw)) {
            let Some(tile) = alloc.result() else { continue };
            if let Some(writer) = only_written(tile) {
                let name = ir::label(tile);
                let message = format!(
                    "'{}' op writes tile {name} in every trip of the loop, and nobody reads it",
                    writer.facts.name
                );
                diagnostics::warning(writer.raw.location(), "PTO-0611", message)
                    .note(value_location(tile), "the tile: the next trip has another one")
                    .help("to keep the value, carry the tile (iter_args and scf.yield) or write to a tile from before the loop")
                    .emit();
            }
        }
    }
    true
}

fn is_in_loop(op: OperationRef) -> bool {
    ir::ancestors(op).any(|parent| matches!(op_name(parent), "scf.for" | "scf.while"))
}

/// The first operation that writes a tile, if all that its users do is write it. An operation with several results may
/// have to be given a tile for one that is not wanted.
fn only_written<'c, 'a>(tile: Value<'c, 'a>) -> Option<Op<'c, 'a>> {
    let mut writer = None;
    for user in edit::uses(tile) {
        let op = Op::of(user)?;
        let outs = op.facts.operands.iter().filter(|operand| operand.is_out).count();
        let is = |value: Value| value_key(value) == value_key(tile);
        let written = op.named_operands().iter().all(|(operand, value)| !is(*value) || operand.role == Role::Write);
        if outs != 1 || !written || op.is("tprefetch") {
            return None;
        }
        writer = writer.or(Some(op));
    }
    writer
}
