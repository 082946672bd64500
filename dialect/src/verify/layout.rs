//! Whether a tile type can exist in memory: 32-byte rows, whole boxes (PTO-ISA `Tile`).

use super::{check::Check, check::shape_text, codes::LAYOUT};
use crate::tile::{BLayout, SLayout, Space, Tile};

/// Bytes that one contiguous run of elements must be a multiple of.
const RUN_BYTES: u64 = 32;

/// The layout rules of a tile type, for an operation that brings the tile into being.
pub fn tile_layout(check: &mut Check, tile: &Tile, label: &str) {
    if let Some((expected, got)) = layout_fault(tile, label) {
        check.require(false, LAYOUT, format_args!("{expected}"), got);
    }
}

/// What is expected of a tile type that memory cannot hold, and what it has instead.
pub fn layout_fault(tile: &Tile, label: &str) -> Option<(String, String)> {
    match tile.slayout {
        SLayout::NoneBox => runs(tile, label),
        _ => boxes(tile, label),
    }
}

/// Without boxes, a row (or a column) is a multiple of 32 bytes; packed 4-bit elements count half a byte each.
fn runs(tile: &Tile, label: &str) -> Option<(String, String)> {
    let (what, extent) = match tile.blayout {
        BLayout::RowMajor => ("rows", tile.cols),
        BLayout::ColMajor => ("columns", tile.rows),
    };
    let unit = if tile.element.is_packed_4_bit() { RUN_BYTES / 2 } else { RUN_BYTES };
    let bytes = (extent as u64).saturating_mul(tile.element.bytes());
    let expected = || format!("{what} of {label} to be a multiple of {unit} bytes");
    (!bytes.is_multiple_of(unit)).then(|| (expected(), format!("{bytes} bytes")))
}

/// In boxes: whole boxes of columns, and of rows except where rows may be partial.
fn boxes(tile: &Tile, label: &str) -> Option<(String, String)> {
    let (box_rows, box_cols) = tile.inner_box();
    let partial_rows = tile.space == Space::Vec || tile.fractal == 32 || tile.rows == 1;
    let holds = tile.cols % box_cols == 0 && (partial_rows || tile.rows % box_rows == 0);
    let expected = || format!("{label} in whole boxes of {box_rows}x{box_cols} elements");
    (!holds).then(|| (expected(), shape_text(tile).to_string()))
}
