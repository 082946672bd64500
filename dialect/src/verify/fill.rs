//! Padding, transposition, concatenation, single elements.

use super::{
    check::{Check, Named, layout_text, same_scalar, shape_text},
    codes::{BOUNDS, ELEMENT, IDENTITY, LAYOUT, SHAPE, SPACE, VALUE},
    elementwise::scalar_matches,
    reduce::same_valid_rows,
};
use crate::{
    element::Element,
    tile::{BLayout, PadValue, SLayout, Space},
};
use melior::ir::ValueLike;

/// `tfillpad`: inside vec or mat, into at least as much room, with something to fill in.
pub fn tfillpad(check: &mut Check) {
    let (Some(src), Some(dst)) = (check.tile("src"), check.tile("dst")) else { return };
    let spaces = src.space == dst.space && matches!(dst.space, Space::Vec | Space::Mat);
    let got = format_args!("{} and {}", src.space.name(), dst.space.name());
    check.require(spaces, SPACE, format_args!("{src} and {dst} both in vec or both in mat"), got);
    element_size(check, &dst, &[1, 2, 4]);
    let same = src.element.bytes() == dst.element.bytes();
    let expected = format_args!("{dst} to hold elements of {} bytes as {src} does", src.element.bytes());
    check.require(same, ELEMENT, expected, dst.element.name());
    check.require(dst.pad != PadValue::Null, VALUE, format_args!("{dst} with a pad value in its type"), "pad=0");
    let holds = dst.rows >= src.rows && dst.cols >= src.cols;
    check.require(holds, SHAPE, format_args!("{dst} of at least {} as {src} is", shape_text(&src)), shape_text(&dst));
    let attribute = check.op.enum_text("padValue");
    if dst.space == Space::Mat {
        fill_in_mat(check, &src, &dst);
    }
    if let Some(case) = attribute {
        check.require(dst.space == Space::Mat, SPACE, format_args!("{dst} in mat with padValue"), dst.space.name());
        let of_type = ["null", "zero", "max", "min"][dst.pad as usize];
        check.require(case == of_type, VALUE, format_args!("padValue {of_type} as in the type of {dst}"), case);
    }
}

fn fill_in_mat(check: &mut Check, src: &Named, dst: &Named) {
    let (from, to) = (src.value.r#type(), dst.value.r#type());
    check.require(from == to, IDENTITY, format_args!("{dst} of the type of {src} in mat"), to);
    let nz = dst.blayout == BLayout::ColMajor && dst.slayout == SLayout::RowMajor;
    check.require(nz, LAYOUT, format_args!("{dst} in col_major blocks of row_major boxes"), layout_text(dst));
    let zero = matches!(dst.pad, PadValue::Zero | PadValue::Null);
    check.require(zero, VALUE, format_args!("{dst} with pad value zero in mat"), "another");
}

fn element_size(check: &mut Check, tile: &Named, sizes: &[u64]) {
    let bytes = tile.element.bytes();
    let expected = format_args!("{tile} to hold elements of 1, 2 or 4 bytes");
    check.require(sizes.contains(&bytes), ELEMENT, expected, format_args!("{bytes} bytes ({})", tile.element.name()));
}

/// `ttrans`: from rows.
pub fn ttrans(check: &mut Check) {
    let Some(src) = check.tile("src") else { return };
    let rows = src.blayout == BLayout::RowMajor;
    check.require(rows, LAYOUT, format_args!("{src} with blayout row_major"), "col_major");
    element_size(check, &src, &[1, 2, 4]);
}

/// `tconcat`, `tconcatidx`: as many rows, and room for all columns.
pub fn tconcat(check: &mut Check) {
    let (Some(src0), Some(src1), Some(dst)) = (check.tile("src0"), check.tile("src1"), check.tile("dst")) else {
        return;
    };
    for src in [&src0, &src1] {
        same_valid_rows(check, src, &dst);
        let expected = format_args!("{src} to hold {} as {dst} does", dst.element.name());
        check.require(src.element == dst.element, ELEMENT, expected, src.element.name());
    }
    let indices = (check.tile("src0Idx"), check.tile("src1Idx"));
    if let (Some(index0), Some(index1)) = indices {
        return index_tiles(check, &index0, &index1);
    }
    if let (Some(left), Some(right)) = (src0.valid_cols, src1.valid_cols) {
        let expected = format_args!("{dst} of at least {} columns", left + right);
        check.require(left + right <= dst.cols, SHAPE, expected, dst.cols);
    }
}

fn index_tiles(check: &mut Check, index0: &Named, index1: &Named) {
    for index in [index0, index1] {
        let holds = index.element.is_in("i8 i16 i32");
        check.require(holds, ELEMENT, format_args!("{index} to hold 8-, 16- or 32-bit integers"), index.element.name());
    }
    let holds = index0.element == index1.element;
    check.require(holds, ELEMENT, format_args!("{index1} to hold {}", index0.element.name()), index1.element.name());
}

/// `tsetval`: the value has the element type, the offset lies in the tile.
pub fn tsetval(check: &mut Check) {
    if let Some(dst) = check.tile("dst") {
        scalar_matches(check, "val", &dst);
        offset_inside(check, &dst);
    }
}

/// `tgetval`: the result has the element type, the offset lies in the tile.
pub fn tgetval(check: &mut Check) {
    let Some(src) = check.tile("src") else { return };
    if let Some(result) = check.op.result().and_then(|r| Element::of(r.r#type())) {
        let expected = format_args!("a result of type {} as {src} holds", src.element.name());
        check.require(same_scalar(result, src.element), ELEMENT, expected, result.name());
    }
    offset_inside(check, &src);
}

fn offset_inside(check: &mut Check, tile: &Named) {
    let Some(offset) = check.constant("offset") else { return };
    let elements = tile.rows * tile.cols;
    let holds = (0..elements).contains(&offset);
    check.require(holds, BOUNDS, format_args!("an offset inside the {elements} elements of {tile}"), offset);
}
