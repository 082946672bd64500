//! `pto-lift-control-flow`: branches between blocks (`cf`) become loops and conditions (`scf`).
//!
//! Every pass behind this one, and C++, knows structured control flow only. MLIR does the lifting; paths on which a value
//! does not exist get `ub.poison` in its place. What only reserves memory (tiles of constant extents, records and arrays
//! on the stack) moves to the beginning of its function before, so that it need not be handed from block to block.

use crate::ir;
use melior::ir::{BlockLike, OperationRef, operation::OperationLike};
use pto_dialect::{Op, Tile, device::Device, diagnostics, edit, op_name};

/// Runs the pass on a module.
pub fn run(module: OperationRef, _device: &Device) -> bool {
    let mut ok = true;
    for function in ir::functions(module) {
        let branches = ir::walk(function).into_iter().any(|op| ir::is_branched(op)) || ir::is_branched(function);
        if !branches {
            continue;
        }
        to_the_beginning(function);
        if !edit::lift_control_flow(function) {
            let message = format!(
                "function '{}' branches in a way that loops and conditions cannot express",
                ir::symbol(function)
            );
            diagnostics::error(function.location(), "PTO-0342", message).emit();
            ok = false;
        }
    }
    ok
}

/// Moves what has no inputs but constants from later blocks to the end of the first.
fn to_the_beginning(function: OperationRef) {
    let blocks = ir::blocks(function);
    let Some(end) = blocks.first().and_then(|block| block.terminator()) else { return };
    let later: Vec<OperationRef> = blocks.iter().skip(1).flat_map(|b| ir::operations(*b)).collect();
    // Constants come to stand before the tiles that may name them as their address.
    for wanted in [is_constant as fn(OperationRef) -> bool, reserves_memory] {
        for op in later.iter().filter(|op| wanted(**op)) {
            edit::move_before(*op, end);
        }
    }
}

fn is_constant(op: OperationRef) -> bool {
    op_name(op) == "arith.constant"
}

fn reserves_memory(op: OperationRef) -> bool {
    let Some(op) = Op::of(op) else { return false };
    match op.mnemonic() {
        "declare_local_array" | "declare_struct" => true,
        // Extents known only at run time are set where the tile stands.
        "alloc_tile" => {
            let fixed =
                op.result().and_then(Tile::of_value).is_some_and(|t| t.valid_rows.is_some() && t.valid_cols.is_some());
            let inputs = op.raw.operands().all(|v| pto_dialect::defining_op(v).is_some_and(is_constant));
            fixed && inputs
        }
        _ => false,
    }
}
