//! Operations that bring tiles into being.

use super::{
    check::Check,
    codes::{BOUNDS, ELEMENT, FORM, IDENTITY, VALID},
    layout::tile_layout,
};
use crate::{location::name_of_value, tile::Tile, types::multi_tile};
use melior::ir::{Value, ValueLike};

/// `alloc_tile`: run-time extents given where the type leaves them open, and a type that memory can hold.
pub fn alloc_tile(check: &mut Check) {
    with_result(check, |check, result| match Tile::of_value(result) {
        Some(tile) => new_tile(check, &tile, &label(result)),
        None => unknown_element(check, result),
    });
}

/// `declare_tile`: run-time extents where the type leaves them open, now or later from the pop. Its memory is laid
/// out by whoever fills it.
pub fn declare_tile(check: &mut Check) {
    with_result(check, |check, result| match Tile::of_value(result) {
        Some(tile) if check.has("valid_row") || check.has("valid_col") => open_extents(check, &tile),
        Some(_) => {}
        None => unknown_element(check, result),
    });
}

/// `alloc_multi_tile`: the same for each slot.
pub fn alloc_multi_tile(check: &mut Check) {
    // What another compiler's planner leaves behind.
    let planned = check.op.attr("pto.multi_buffer_addrs").is_some();
    check.require(!planned, FORM, format_args!("addr for the address of the first slot"), "pto.multi_buffer_addrs");
    with_result(check, |check, result| match multi_tile(result.r#type()).and_then(|(slot, _)| Tile::of(slot)) {
        Some(tile) => new_tile(check, &tile, &label(result)),
        None => unknown_element(check, result),
    });
}

/// `multi_tile_get`: a slot that exists, of the slots' type.
pub fn multi_tile_get(check: &mut Check) {
    let Some((slot, count)) = check.op.operand("source").and_then(|source| multi_tile(source.r#type())) else { return };
    if let Some(index) = check.constant("slot") {
        check.require((0..count).contains(&index), BOUNDS, format_args!("a slot from 0 to {}", count - 1), index);
    }
    with_result(check, |check, result| {
        let ty = result.r#type();
        check.require(ty == slot, IDENTITY, format_args!("{} of the slot's type {slot}", label(result)), ty);
    });
}

fn with_result<'c, 'a>(check: &mut Check<'c, 'a>, rule: impl FnOnce(&mut Check<'c, 'a>, Value<'c, 'a>)) {
    if let Some(result) = check.op.result() {
        rule(check, result);
    }
}

fn new_tile(check: &mut Check, tile: &Tile, label: &str) {
    tile_layout(check, tile, label);
    open_extents(check, tile);
}

/// `valid_row` is given exactly when the type says `?`, and does not exceed the tile; the same for columns.
fn open_extents(check: &mut Check, tile: &Tile) {
    let sides = [("valid_row", tile.valid_rows, tile.rows), ("valid_col", tile.valid_cols, tile.cols)];
    for (operand, of_type, extent) in sides {
        match (of_type, check.has(operand)) {
            (None, false) => {
                check.require(false, FORM, format_args!("operand {operand} because the type says '?'"), "none");
            }
            (Some(valid), true) => {
                check.require(false, FORM, format_args!("no operand {operand} because the type says {valid}"), "one");
            }
            _ => {}
        }
        if let Some(valid) = check.constant(operand) {
            check.require(valid <= extent, VALID, format_args!("{operand} up to {extent}"), valid);
        }
    }
}

fn unknown_element(check: &mut Check, result: Value) {
    let expected = format_args!("{} to hold an element type of the library", label(result));
    check.require(false, ELEMENT, expected, result.r#type());
}

/// `tile %name`, or `the tile`.
pub fn label(value: Value) -> String {
    name_of_value(value).map_or_else(|| "the tile".to_owned(), |name| format!("tile %{name}"))
}
