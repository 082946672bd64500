//! Conversion between element types. Which pairs exist depends on the target.

use super::{
    check::{Check, layout_text, shape_text},
    codes::{LAYOUT, SHAPE},
    generic::value_cols,
};
use crate::{
    op::{defining_op, op_name},
    tile::{BLayout, SLayout, Tile},
};
use melior::ir::Value;

/// `tcvt`: equal physical shapes, unless one tile is a window of a larger one; scratch in rows.
pub fn tcvt(check: &mut Check) {
    let (Some(src), Some(dst)) = (check.tile("src"), check.tile("dst")) else { return };
    let values = |tile: &Tile| (tile.rows, value_cols(tile, Some(tile.cols)));
    let holds = values(&src) == values(&dst) || is_window(src.value) || is_window(dst.value);
    let expected = format_args!("{dst} of as many rows and values as {src}, {}", shape_text(&src));
    check.require(holds, SHAPE, expected, shape_text(&dst));
    if let Some(tmp) = check.tile("tmp") {
        let holds = tmp.blayout == BLayout::RowMajor && tmp.slayout == SLayout::NoneBox;
        check.require(holds, LAYOUT, format_args!("{tmp} in rows without boxes"), layout_text(&tmp));
    }
}

fn is_window(value: Value) -> bool {
    defining_op(value).is_some_and(|op| op_name(op) == "pto.subview")
}
