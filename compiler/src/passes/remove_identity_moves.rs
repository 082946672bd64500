//! `pto-remove-identity-moves`: a vector move of a tile onto the same bytes is no instruction.
//!
//! Runs once addresses are known. Both tiles have the same type with constant valid extents, and no part of the move
//! changes values (that is so for every move between vector tiles that the verifier lets through without operands of
//! its own).

use crate::ir;
use melior::ir::{OperationRef, Value};
use pto_dialect::{Op, Space, Tile, constant_int, device::Device, edit, value_key};

/// Runs the pass on a module.
pub fn run(module: OperationRef, _device: &Device) -> bool {
    for function in ir::functions(module) {
        for op in ir::ops_named(function, "tmov") {
            if let (Some(src), Some(dst)) = (op.operand("src"), op.operand("dst"))
                && op.named_operands().len() == 2
                && is_same(src, dst)
            {
                edit::erase(op.raw);
            }
        }
    }
    true
}

/// Whether two tiles are one: same bytes, seen in the same way.
fn is_same(a: Value, b: Value) -> bool {
    let (Some(from), Some(to)) = (Tile::of_value(a), Tile::of_value(b)) else { return false };
    let fixed = from.valid_rows.is_some() && from.valid_cols.is_some();
    from.space == Space::Vec
        && fixed
        && from == to
        && (value_key(a) == value_key(b) || at(a).is_some_and(|x| at(b) == Some(x)))
}

/// The constant address of a tile or window.
fn at(tile: Value) -> Option<i64> {
    let op = Op::defining(tile).filter(|op| op.is("alloc_tile") || op.is("subview"))?;
    // A window keeps the row pitch of its tile.
    if op.is("subview") && op.operand("source").and_then(Tile::of_value)?.strides() != Tile::of_value(tile)?.strides() {
        return None;
    }
    constant_int(op.operand("addr")?)
}
