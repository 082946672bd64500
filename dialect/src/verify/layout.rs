//! Whether a tile type can exist in memory: 32-byte rows, whole boxes (PTO-ISA `Tile`).

use super::{check::Check, check::shape_text, codes::LAYOUT};
use crate::tile::{BLayout, SLayout, Space, Tile};

/// Bytes that one contiguous run of elements must be a multiple of.
const RUN_BYTES: u64 = 32;

/// The layout rules of a tile type, for an operation that brings the tile into being.
pub fn tile_layout(check: &mut Check, tile: &Tile, label: &str) {
    match tile.slayout {
        SLayout::NoneBox => runs(check, tile, label),
        _ => boxes(check, tile, label),
    }
}

/// Without boxes, a row (or a column) is a multiple of 32 bytes; packed 4-bit elements count half a byte each.
fn runs(check: &mut Check, tile: &Tile, label: &str) {
    let (what, extent) = match tile.blayout {
        BLayout::RowMajor => ("rows", tile.cols),
        BLayout::ColMajor => ("columns", tile.rows),
    };
    let unit = if tile.element.is_packed_4_bit() { RUN_BYTES / 2 } else { RUN_BYTES };
    let bytes = (extent as u64).saturating_mul(tile.element.bytes());
    let expected = format_args!("{what} of {label} to be a multiple of {unit} bytes");
    check.require(bytes.is_multiple_of(unit), LAYOUT, expected, format_args!("{bytes} bytes"));
}

/// In boxes: whole boxes of columns, and of rows except where rows may be partial.
fn boxes(check: &mut Check, tile: &Tile, label: &str) {
    let (box_rows, box_cols) = tile.inner_box();
    let partial_rows = tile.space == Space::Vec || tile.fractal == 32 || tile.rows == 1;
    let holds = tile.cols % box_cols == 0 && (partial_rows || tile.rows % box_rows == 0);
    let expected = format_args!("{label} in whole boxes of {box_rows}x{box_cols} elements");
    check.require(holds, LAYOUT, expected, shape_text(tile));
}
