//! What operations do with the bytes of their operands.

use super::refs;
use crate::frontend::{
    ast::{Call, Expr, Function, MemRef, VarId},
    ops::{Memory, op_by_name},
};

/// Where a result's bytes come from.
pub enum Origin {
    /// They are the argument's, seen differently.
    View(usize),
    /// They are the argument's, changed.
    InPlace(usize),
    /// A queue's.
    Popped,
    /// Its own.
    Own,
}

/// Where the bytes of an operation's result come from. Tensors follow the one that is written.
pub fn origin(op: &str) -> Origin {
    match op {
        "tile.assemble"
        | "tensor.slice"
        | "tensor.reshape"
        | "tensor.reinterpret_view"
        | "tensor.view"
        | "tensor.set_validshape" => return Origin::View(0),
        "tensor.assemble" | "tile.scatter_update" | "tile.batch_matmul_acc" => return Origin::InPlace(0),
        "tile.store" | "tile.mscatter" => return Origin::InPlace(2),
        _ => {}
    }
    match op_by_name(op).map(|op| op.memory) {
        Some(Memory::View | Memory::Slice) => Origin::View(0),
        Some(Memory::Reuses(argument)) => Origin::InPlace(argument),
        Some(Memory::Popped) => Origin::Popped,
        _ => Origin::Own,
    }
}

/// Operands whose bytes a call's result may not have.
pub fn forbidden(function: &Function, call: &Call, result: VarId) -> Vec<VarId> {
    let Some(op) = call.op().and_then(op_by_name) else { return Vec::new() };
    let all: Vec<usize> = (0..call.args.len()).collect();
    let mut indices: Vec<usize> = if op.not_inplace { all } else { op.no_alias.to_vec() };
    // Wider elements would be written before the narrower ones below them are read.
    let bits = |var: VarId| function.vars.get(var.index()).and_then(|v| v.ty.tile()).map(|t| t.dtype.bits());
    if op.name == "tile.cast"
        && let Some(input) = call.args.first().and_then(Expr::as_var)
        && bits(result) > bits(input)
    {
        indices.push(0);
    }
    indices.into_iter().filter_map(|i| call.args.get(i)?.as_var()).collect()
}

/// Operands that a call changes without giving them a new name.
pub fn written(call: &Call) -> Vec<VarId> {
    let indices = call.op().and_then(op_by_name).map_or(&[][..], |op| op.writes);
    indices.iter().filter_map(|&i| call.args.get(i)?.as_var()).collect()
}

/// Operands that a call's result would cover in part if it had the given bytes: it would be written over what is read
/// later on. One that begins where the result does and is as large is replaced bit by bit, which is fine.
pub fn covered_in_part(function: &Function, call: &Call, result: &MemRef) -> Vec<VarId> {
    let is_covered = |var: &VarId| match (refs::tile(function, *var).map(|(_, operand)| operand), result) {
        (Some(operand @ MemRef::Part { size, .. }), MemRef::Part { size: own, .. }) => {
            match (refs::offset(operand), refs::offset(result)) {
                (Some(at), Some(start)) if at == start => own > size,
                (Some(at), Some(start)) => {
                    let range = |start: i64, size: u64| start..start.saturating_add_unsigned(size);
                    let (a, b) = (range(at, *size), range(start, *own));
                    a.start < b.end && b.start < a.end
                }
                _ => true,
            }
        }
        _ => false,
    };
    call.args.iter().filter_map(Expr::as_var).filter(is_covered).collect()
}

/// Whether an operation works in place on an argument.
pub fn is_accumulating(function: &Function, call: &Call, result: VarId) -> bool {
    let Some(Memory::Reuses(index)) = call.op().and_then(op_by_name).map(|op| op.memory) else { return false };
    let input = call.args.get(index).and_then(Expr::as_var);
    input.is_some_and(|i| refs::base(function, i).is_some() && refs::base(function, i) == refs::base(function, result))
}
