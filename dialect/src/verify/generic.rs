//! Rules that most tile instructions share.

use super::{
    check::{Check, may_equal, valid_text},
    codes::{ELEMENT, LAYOUT, SPACE, VALID},
};
use crate::tile::{BLayout, Space, Tile};

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
