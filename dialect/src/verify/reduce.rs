//! Reductions and broadcasts along rows and columns.

use super::{
    check::{Check, Extent, Named, is_empty_marker, layout_text, may_equal, valid_text},
    codes::{ELEMENT, FORM, LAYOUT, SHAPE, VALID},
    elementwise::same_shape,
};
use crate::tile::{BLayout, SLayout};

/// One value for each row: dst has one valid column, src rows without boxes.
pub fn row_reduce(check: &mut Check) {
    let (Some(src), Some(dst)) = (check.tile("src"), check.tile("dst")) else { return };
    let holds = src.blayout == BLayout::RowMajor && src.slayout == SLayout::NoneBox;
    check.require(holds, LAYOUT, format_args!("{src} in rows without boxes"), layout_text(&src));
    let holds = dst.slayout == SLayout::NoneBox && (dst.blayout == BLayout::RowMajor || dst.cols == 1);
    check.require(holds, LAYOUT, format_args!("{dst} in rows, or of one column, without boxes"), layout_text(&dst));
    if is_empty_marker(&dst) && !check.op.facts.has_rule("row_arg") {
        return;
    }
    not_empty(check, &src);
    same_valid_rows(check, &dst, &src);
    let holds = may_equal(dst.valid_cols, Some(1));
    check.require(holds, VALID, format_args!("{dst} with 1 valid column"), Extent(dst.valid_cols));
}

/// The column of a value: dst holds 32-bit integers.
pub fn row_arg(check: &mut Check) {
    if let Some(dst) = check.tile("dst") {
        index_element(check, &dst);
    }
}

/// One value for each column: no boxes, as many valid columns.
pub fn col_reduce(check: &mut Check) {
    let (Some(src), Some(dst)) = (check.tile("src"), check.tile("dst")) else { return };
    for tile in [&src, &dst] {
        no_boxes(check, tile);
    }
    if !is_empty_marker(&dst) {
        same_valid_cols(check, &dst, &src);
    }
}

/// `tcolsum` with a scratch tile for pairs of rows.
pub fn tcolsum(check: &mut Check) {
    let (Some(src), Some(tmp)) = (check.tile("src"), check.tile("tmp")) else { return };
    let binary = check.op.bool("isBinary");
    check.require(binary.is_some(), FORM, format_args!("attribute isBinary with tmp"), "none");
    let expected = format_args!("{tmp} to hold {} as {src} does", src.element.name());
    check.require(tmp.element == src.element, ELEMENT, expected, tmp.element.name());
    let holds = tmp.blayout == BLayout::RowMajor && tmp.slayout == SLayout::NoneBox;
    check.require(holds, LAYOUT, format_args!("{tmp} in rows without boxes"), layout_text(&tmp));
    if binary == Some(true) {
        pairs_fit(check, &src, &tmp);
    }
}

/// Half of src's rows fit into tmp.
fn pairs_fit(check: &mut Check, src: &Named, tmp: &Named) {
    let (Some(rows), Some(cols)) = (src.valid_rows, src.valid_cols) else {
        check.require(false, VALID, format_args!("{src} with constant valid extents for isBinary"), valid_text(src));
        return;
    };
    check.require(tmp.cols >= cols, SHAPE, format_args!("{tmp} of at least {cols} columns"), tmp.cols);
    let bytes = ((rows + 1) / 2) as u64 * cols as u64 * src.element.bytes();
    let got = format_args!("{} bytes", tmp.storage_bytes());
    check.require(tmp.storage_bytes() >= bytes, SHAPE, format_args!("{tmp} of at least {bytes} bytes"), got);
}

/// The row of a value: one valid row of 32-bit integers.
pub fn col_arg(check: &mut Check) {
    let Some(dst) = check.tile("dst") else { return };
    index_element(check, &dst);
    let holds = may_equal(dst.valid_rows, Some(1));
    check.require(holds, VALID, format_args!("{dst} with 1 valid row"), Extent(dst.valid_rows));
    if let Some(src) = check.tile("src") {
        not_empty(check, &src);
    }
}

/// `trowexpand`: one value of each row, in all of dst's row.
pub fn row_expand(check: &mut Check) {
    let (Some(src), Some(dst)) = (check.tile("src"), check.tile("dst")) else { return };
    no_boxes(check, &src);
    let holds = dst.blayout == BLayout::RowMajor && dst.slayout == SLayout::NoneBox;
    check.require(holds, LAYOUT, format_args!("{dst} in rows without boxes"), layout_text(&dst));
    if is_empty_marker(&dst) {
        return;
    }
    same_valid_rows(check, &dst, &src);
    for tile in [&src, &dst] {
        not_empty(check, tile);
    }
}

/// `tcolexpand`: one row, in all rows of dst.
pub fn col_expand(check: &mut Check) {
    let (Some(src), Some(dst)) = (check.tile("src"), check.tile("dst")) else { return };
    for tile in [&src, &dst] {
        no_boxes(check, tile);
    }
    same_valid_cols(check, &dst, &src);
}

/// One operand like dst, the other with one value (or one 32-byte block of it) for each row.
pub fn row_expand_bin(check: &mut Check) {
    let (Some(src0), Some(src1), Some(dst)) = (check.tile("src0"), check.tile("src1"), check.tile("dst")) else {
        return;
    };
    let holds = dst.blayout == BLayout::RowMajor;
    check.require(holds, LAYOUT, format_args!("{dst} with blayout row_major"), "col_major");
    if let Some(tmp) = check.tile("tmp") {
        let expected = format_args!("{tmp} to hold {} as {dst} does", dst.element.name());
        check.require(tmp.element == dst.element, ELEMENT, expected, tmp.element.name());
    }
    if is_empty_marker(&dst) {
        return;
    }
    match (is_full(&src0, &dst), is_full(&src1, &dst)) {
        (true, _) if is_column(&src1, &dst) => {}
        (_, true) if is_column(&src0, &dst) => {}
        (false, false) => {
            let expected = format_args!("src0 or src1 in rows with the valid extents {} of {dst}", valid_text(&dst));
            check.require(false, VALID, expected, format_args!("{} and {}", valid_text(&src0), valid_text(&src1)));
        }
        (first, _) => not_a_column(check, if first { &src1 } else { &src0 }, &dst),
    }
}

fn not_a_column(check: &mut Check, tile: &Named, dst: &Named) {
    let block = 32 / tile.element.bytes();
    let forms = format!("col_major with 1 valid column, or row_major with {block}");
    let got = format_args!("{}, {}", valid_text(tile), layout_text(tile));
    check.require(false, VALID, format_args!("{tile} with one value for each row of {dst}: {forms}"), got);
}

fn is_full(tile: &Named, dst: &Named) -> bool {
    let equal = may_equal(tile.valid_rows, dst.valid_rows) && may_equal(tile.valid_cols, dst.valid_cols);
    equal && tile.blayout == BLayout::RowMajor
}

fn is_column(tile: &Named, dst: &Named) -> bool {
    let width = match tile.blayout {
        BLayout::RowMajor => 32 / tile.element.bytes() as i64,
        BLayout::ColMajor => 1,
    };
    may_equal(tile.valid_rows, dst.valid_rows) && may_equal(tile.valid_cols, Some(width))
}

/// src0 like dst, src1 with one value for each column.
pub fn col_expand_bin(check: &mut Check) {
    let (Some(src0), Some(src1), Some(dst)) = (check.tile("src0"), check.tile("src1"), check.tile("dst")) else {
        return;
    };
    same_shape(check, &src0, &dst);
    same_valid_rows(check, &src0, &dst);
    same_valid_cols(check, &src0, &dst);
    same_valid_cols(check, &src1, &dst);
}

fn index_element(check: &mut Check, dst: &Named) {
    check.require(dst.element.is_in("i32"), ELEMENT, format_args!("{dst} to hold i32 or ui32"), dst.element.name());
}

fn no_boxes(check: &mut Check, tile: &Named) {
    let holds = tile.slayout == SLayout::NoneBox;
    check.require(holds, LAYOUT, format_args!("{tile} without boxes"), layout_text(tile));
}

fn not_empty(check: &mut Check, tile: &Named) {
    let holds = tile.valid_rows != Some(0) && tile.valid_cols != Some(0);
    check.require(holds, VALID, format_args!("{tile} with something valid"), valid_text(tile));
}

/// As many valid rows as the reference.
pub fn same_valid_rows(check: &mut Check, tile: &Named, reference: &Named) {
    let holds = may_equal(tile.valid_rows, reference.valid_rows);
    let expected = format_args!("{tile} with {} valid rows as {reference} has", Extent(reference.valid_rows));
    check.require(holds, VALID, expected, Extent(tile.valid_rows));
}

/// As many valid columns as the reference.
pub fn same_valid_cols(check: &mut Check, tile: &Named, reference: &Named) {
    let holds = may_equal(tile.valid_cols, reference.valid_cols);
    let expected = format_args!("{tile} with {} valid columns as {reference} has", Extent(reference.valid_cols));
    check.require(holds, VALID, expected, Extent(tile.valid_cols));
}
