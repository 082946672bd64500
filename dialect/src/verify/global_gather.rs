//! Gather from and scatter to global memory.

use super::{
    check::{Check, Named, layout_text, may_equal, valid_text},
    codes::{ELEMENT, FORM, LAYOUT, RANK, SHAPE, SPACE, VALID, VALUE},
};
use crate::tile::{BLayout, SLayout, Space, Tile};

/// `mgather`: to vec by indices in a tile, or to mat by indices in global memory.
pub fn mgather(check: &mut Check) {
    let (Some(mem), Some(dst)) = (check.view("mem"), check.tile("dst")) else { return };
    let expected = format_args!("{dst} to hold {} as mem does", mem.element.name());
    check.require(dst.element == mem.element, ELEMENT, expected, dst.element.name());
    match dst.space {
        Space::Mat => gather_to_mat(check, &dst),
        Space::Vec => gather_to_vec(check, &dst),
        space => {
            check.require(false, SPACE, format_args!("{dst} in vec or mat"), space.name());
        }
    }
}

fn gather_to_mat(check: &mut Check, dst: &Named) {
    let nz = dst.blayout == BLayout::ColMajor && dst.slayout == SLayout::RowMajor && dst.fractal == 512;
    check.require(nz, LAYOUT, format_args!("{dst} in col_major blocks of row_major boxes"), layout_text(dst));
    match check.view("idx") {
        Some(idx) => {
            check.require(idx.element.is_in("i32"), ELEMENT, format_args!("idx to hold i32"), idx.element.name());
        }
        None => {
            check.require(false, FORM, format_args!("idx in global memory for {dst} in mat"), "a tile");
        }
    }
    let coalesce = check.op.enum_text("coalesce");
    check.require(coalesce.is_some(), FORM, format_args!("attribute coalesce for {dst} in mat"), "none");
    let scratch = check.view("scratch");
    match coalesce {
        Some("elem") => {
            check.require(scratch.is_some(), FORM, format_args!("a scratch view with coalesce elem"), "none");
            let same = scratch.as_ref().is_none_or(|view| view.element == dst.element);
            check.require(
                same,
                ELEMENT,
                format_args!("scratch to hold {} as {dst} does", dst.element.name()),
                "another type",
            );
        }
        _ => {
            check.require(scratch.is_none(), FORM, format_args!("no scratch with coalesce row"), "one");
        }
    }
}

fn gather_to_vec(check: &mut Check, dst: &Named) {
    rows_without_boxes(check, dst);
    check.require(!check.has("scratch"), FORM, format_args!("no scratch for {dst} in vec"), "one");
    match check.tile("idx") {
        Some(idx) => index_tile(check, &idx, dst),
        None => {
            check.require(false, FORM, format_args!("idx in a tile for {dst} in vec"), "a view");
        }
    }
}

fn rows_without_boxes(check: &mut Check, tile: &Named) {
    let holds = tile.blayout == BLayout::RowMajor && tile.slayout == SLayout::NoneBox;
    check.require(holds, LAYOUT, format_args!("{tile} in rows without boxes"), layout_text(tile));
}

/// One index for each row, or for each element.
fn index_tile(check: &mut Check, idx: &Named, data: &Named) {
    check.require(idx.space == Space::Vec, SPACE, format_args!("{idx} in vec"), idx.space.name());
    check.require(idx.element.is_in("i32"), ELEMENT, format_args!("{idx} to hold i32"), idx.element.name());
    check.require(idx.slayout == SLayout::NoneBox, LAYOUT, format_args!("{idx} without boxes"), layout_text(idx));
    let rows = data.valid_rows;
    let line = |tile: &Tile, long: Option<i64>, short: Option<i64>| {
        may_equal(tile.valid_rows, short) && may_equal(tile.valid_cols, long)
    };
    let holds = match check.op.enum_text("coalesce") {
        Some("row") => line(idx, rows, Some(1)) || line(idx, Some(1), rows),
        Some("elem") => line(idx, data.valid_cols, rows),
        _ => true,
    };
    check.require(holds, VALID, format_args!("{idx} with an index for each row or element of {data}"), valid_text(idx));
}

/// `mscatter`: from vec by indices in a tile.
pub fn mscatter(check: &mut Check) {
    let (Some(mem), Some(src)) = (check.view("mem"), check.tile("src")) else { return };
    check.require(src.space == Space::Vec, SPACE, format_args!("{src} in vec"), src.space.name());
    rows_without_boxes(check, &src);
    let expected = format_args!("{src} to hold {} as mem does", mem.element.name());
    check.require(src.element == mem.element, ELEMENT, expected, src.element.name());
    if let Some(idx) = check.tile("idx") {
        index_tile(check, &idx, &src);
    }
    for (dim, extent) in mem.shape.iter().enumerate() {
        check.require(*extent != Some(0), SHAPE, format_args!("dimension {dim} of mem above 0"), 0);
    }
    check.require(!mem.shape.is_empty(), RANK, format_args!("mem of rank 1 or more"), 0);
    scatter_attributes(check, &src);
}

fn scatter_attributes(check: &mut Check, src: &Named) {
    let atomic = check.op.enum_text("scatterAtomicOp").unwrap_or("none");
    if check.op.enum_text("coalesce").is_none() {
        let plain = atomic == "none"
            && !check.differs("scatterOob", "undefined")
            && !check.differs("scatterConflict", "default");
        check.require(plain, FORM, format_args!("attribute coalesce with the other attributes"), "none");
    }
    let legal = match atomic {
        "add" => "i32 f16 f32",
        "max" | "min" => "i32 f32",
        _ => return,
    };
    let signed = atomic == "add" || src.element.name() != "ui32";
    let holds = src.element.is_in(legal) && signed;
    check.require(holds, VALUE, format_args!("{src} to hold one of {legal} with {atomic}"), src.element.name());
}
