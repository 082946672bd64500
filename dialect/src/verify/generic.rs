//! Rules that most tile instructions share.

use super::{
    check::{Check, may_equal, valid_text},
    codes::{ELEMENT, FORM, LAYOUT, SPACE, VALID},
};
use crate::tile::{BLayout, Space, Tile};
use melior::ir::{ValueLike, operation::OperationLike};

/// No attribute that the operation does not have: it would be ignored. Names with a dot belong to passes and tools.
pub fn known_attributes(check: &mut Check) {
    let facts = check.op.facts;
    let names: Vec<String> = check
        .op
        .raw
        .attributes()
        .filter_map(|(name, _)| Some(name.as_string_ref().as_str().ok()?.to_owned()))
        .collect();
    for name in names {
        let known = name.contains('.') || name == "operandSegmentSizes" || facts.attributes.contains(&name.as_str());
        check.require(
            known,
            FORM,
            format_args!("no attribute that the operation does not have"),
            format_args!("'{name}'"),
        );
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
