//! Rules that most tile instructions share.

use super::{
    check::{Check, may_equal, valid_text},
    codes::{ELEMENT, FORM, LAYOUT, SPACE, VALID},
};
use crate::tile::{BLayout, Space, Tile};
use melior::ir::ValueLike;

/// Attributes that older texts have and whose meaning is said in another way today: operation, attribute, how. Others that
/// an operation does not have are notes of front-ends (`layout` of a transfer) and are left alone.
const SAID_OTHERWISE: [(&str, &str, &str); 2] =
    [("pto.thistogram", "isMSB", "byte"), ("pto.tfillpad", "mode", "the extents of src and dst")];

/// No attribute whose meaning would be ignored.
pub fn known_attributes(check: &mut Check) {
    let facts = check.op.facts;
    for (_, old, today) in SAID_OTHERWISE.iter().filter(|(op, ..)| *op == facts.name) {
        let given = check.op.attr(old).is_some();
        check.require(!given, FORM, format_args!("{today} instead of the older attribute"), format_args!("'{old}'"));
    }
}

/// Tiles hold element types that the library has.
pub fn known_elements(check: &mut Check) {
    for (operand, value) in check.op.named_operands() {
        if operand.is_tile && Tile::of_value(value).is_none() {
            let expected = format_args!("{} to hold an element type of the library", operand.name);
            check.require(false, ELEMENT, expected, value.r#type());
        }
    }
}

/// Every tile, scratch included, stands in vec.
pub fn vec(check: &mut Check) {
    for tile in check.tiles_where(|_| true) {
        check.require(tile.space == Space::Vec, SPACE, format_args!("{tile} in vec"), tile.space.name());
    }
}

/// Every tile but scratch has its rows one after the other.
pub fn row_major(check: &mut Check) {
    for tile in check.data_tiles() {
        let holds = tile.blayout == BLayout::RowMajor;
        check.require(holds, LAYOUT, format_args!("{tile} with blayout row_major"), "col_major");
    }
}

/// All tiles but scratch hold the same element type.
pub fn same_elem(check: &mut Check) {
    let tiles = check.data_tiles();
    let Some(reference) = tiles.iter().find(|t| t.operand == "dst").or(tiles.first()).copied() else { return };
    for tile in tiles {
        let holds = tile.element == reference.element;
        let expected = format_args!("{tile} to hold {} as {reference} does", reference.element.name());
        check.require(holds, ELEMENT, expected, tile.element.name());
    }
}

/// All tiles but scratch have the valid extents of dst; a packed element counts as its two values.
pub fn same_valid(check: &mut Check) {
    let Some(dst) = check.tile("dst") else { return };
    for tile in check.data_tiles() {
        let holds = may_equal(tile.valid_rows, dst.valid_rows)
            && may_equal(value_cols(&tile, tile.valid_cols), value_cols(&dst, dst.valid_cols));
        let expected = format_args!("{tile} with valid extents {} as {dst} has", valid_text(&dst));
        check.require(holds, VALID, expected, valid_text(&tile));
    }
}

/// Columns counted in values.
pub fn value_cols(tile: &Tile, cols: Option<i64>) -> Option<i64> {
    let values = if tile.element.is_packed_4_bit() { 2 } else { 1 };
    cols.map(|cols| cols.saturating_mul(values))
}
