//! The bytes that a view has of its source, by shapes and constant offsets.

use super::{area::Area, places::Place};
use crate::frontend::ast::{Call, Expr, MemorySpace, TileType};

/// Rows of a slice beyond this number are not told apart: the slice counts as all of its source.
const MAX_ROWS: u64 = 4096;

/// Bytes from one row to the next of a tile whose rows follow one another.
pub(super) fn pitch(tile: &TileType) -> Option<u64> {
    let usual = |layout: &Option<String>, name: &str| layout.as_deref().is_none_or(|l| l == name);
    let view = tile.view.as_ref();
    let by_rows = view.is_none_or(|v| usual(&v.blayout, "row_major") && usual(&v.slayout, "none_box"));
    let space = tile.space.unwrap_or(MemorySpace::Vec);
    if space != MemorySpace::Vec || !by_rows || view.is_some_and(|v| v.stride.is_some()) {
        return None;
    }
    let bits = tile.static_shape()?.last()?.checked_mul(tile.dtype.bits())?;
    bits.is_multiple_of(8).then_some(bits / 8)
}

/// The same bytes with another type: rows are known when there are no gaps.
pub(super) fn seen_as(from: &Place, tile: &TileType) -> Place {
    let pitch = if from.area.is_whole() && from.exact { pitch(tile) } else { None };
    Place { pitch, ..*from }
}

/// The bytes of `tile.slice(source, shape, [row, column])`, when they can be told.
pub(super) fn part(from: &Place, tile: &TileType, source: &TileType, call: &Call) -> Option<Place> {
    let pitch = from.pitch.filter(|_| from.exact)?;
    let offsets = call.args.get(2)?.as_elements()?;
    let number = |e: &Expr| e.as_int().and_then(|v| u64::try_from(v).ok());
    let ([row, column], [rows, columns], [all_rows, all_columns]) =
        (offsets, &tile.static_shape()?[..], &source.static_shape()?[..])
    else {
        return None;
    };
    let (row, column) = (number(row)?, number(column)?);
    let bytes = |elements: u64| elements.checked_mul(tile.dtype.bits()).filter(|b| b.is_multiple_of(8)).map(|b| b / 8);
    let inside = row.checked_add(*rows)? <= *all_rows && column.checked_add(*columns)? <= *all_columns;
    if !inside || *rows > MAX_ROWS {
        return None;
    }
    let start = from.area.start.checked_add(row.checked_mul(pitch)?)?.checked_add(bytes(column)?)?;
    let area = Area::rows(from.area.space, start, *rows, bytes(*columns)?, pitch);
    Some(Place { area, ..*from })
}
