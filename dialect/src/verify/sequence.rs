//! Sorting, sequences and patterns, printing.

use super::{
    check::{Check, Named, layout_text, same_scalar, shape_text},
    codes::{ELEMENT, FORM, LAYOUT, SHAPE, SPACE, VALID, VALUE},
    elementwise::scalar_matches,
};
use crate::{
    element::Element,
    tile::{BLayout, SLayout, Space},
    types::View,
};
use melior::ir::ValueLike;

/// `tsort32`: indices of 32 bits beside the values.
pub fn tsort32(check: &mut Check) {
    let (Some(src), Some(idx), Some(dst)) = (check.tile("src"), check.tile("idx"), check.tile("dst")) else { return };
    let expected = format_args!("{dst} to hold {} as {src} does", src.element.name());
    check.require(dst.element == src.element, ELEMENT, expected, dst.element.name());
    check.require(idx.element.is_in("i32"), ELEMENT, format_args!("{idx} to hold ui32"), idx.element.name());
}

/// `tmrgsort`: one list in blocks, or two to four lists.
pub fn tmrgsort(check: &mut Check) {
    let lists = check.tiles("srcs");
    for list in &lists {
        check.require(list.rows == 1, SHAPE, format_args!("{list} of 1 row"), list.rows);
    }
    if check.has("blockLen") {
        check.require(lists.len() == 1, FORM, format_args!("one list with blockLen"), lists.len());
        merge_blocks(check, &lists);
    } else {
        check.require((2..=4).contains(&lists.len()), FORM, format_args!("2 to 4 lists, or blockLen"), lists.len());
        merge_lists(check, &lists);
    }
}

fn merge_blocks(check: &mut Check, lists: &[Named]) {
    if let Some(length) = check.constant("blockLen") {
        let holds = length > 0 && length % 64 == 0;
        check.require(holds, VALUE, format_args!("a blockLen that is a multiple of 64"), length);
    }
    if let (Some(src), Some(dst)) = (lists.first(), check.tile("dst")) {
        let holds = (src.rows, src.cols) == (dst.rows, dst.cols);
        check.require(holds, SHAPE, format_args!("{dst} of shape {} as {src} is", shape_text(src)), shape_text(&dst));
    }
}

fn merge_lists(check: &mut Check, lists: &[Named]) {
    let counts = check.op.operand("excuted").map(|value| value.r#type().to_string());
    let holds = counts.as_deref() == Some("vector<4xi16>");
    check.require(holds, FORM, format_args!("excuted of type vector<4xi16>"), counts.as_deref().unwrap_or("none"));
    let (Some(tmp), Some(dst)) = (check.tile("tmp"), check.tile("dst")) else { return };
    let cols = lists.iter().map(|list| list.cols).sum::<i64>().max(dst.cols);
    check.require(tmp.cols >= cols, SHAPE, format_args!("{tmp} of at least {cols} columns"), tmp.cols);
}

/// `tci`: one row of integers, from a start of their type.
pub fn tci(check: &mut Check) {
    let Some(dst) = check.tile("dst") else { return };
    scalar_matches(check, "S", &dst);
    check.require(dst.rows == 1, SHAPE, format_args!("{dst} of 1 row"), dst.rows);
    check.require(dst.cols != 1, SHAPE, format_args!("{dst} of more than 1 column"), dst.cols);
}

/// `ttri`: the upper or the lower triangle.
pub fn ttri(check: &mut Check) {
    let which = check.op.int("upperOrLower").unwrap_or(0);
    check.require((0..=1).contains(&which), VALUE, format_args!("upperOrLower 0 or 1"), which);
}

/// `trandom`: 32-bit keys and counters, 7 or 10 rounds.
pub fn trandom(check: &mut Check) {
    for operand in ["key0", "key1", "counter0", "counter1", "counter2", "counter3"] {
        let Some(element) = check.scalar(operand) else { continue };
        check.require(element.is_in("i32"), ELEMENT, format_args!("{operand} of type i32"), element.name());
    }
    let rounds = check.op.int("rounds").unwrap_or(10);
    check.require(matches!(rounds, 7 | 10), VALUE, format_args!("rounds 7 or 10"), rounds);
}

/// `thistogram`: 256 counters of ui32 for each row; idx holds the higher bytes that were chosen before.
pub fn thistogram(check: &mut Check) {
    let (Some(src), Some(idx), Some(dst)) = (check.tile("src"), check.tile("idx"), check.tile("dst")) else { return };
    for (tile, legal) in [(&src, "ui16 ui32"), (&idx, "ui8"), (&dst, "ui32")] {
        let holds = legal.split(' ').any(|name| name == tile.element.name());
        check.require(holds, ELEMENT, format_args!("{tile} to hold {legal}"), tile.element.name());
    }
    for tile in [&src, &dst] {
        let holds = tile.blayout == BLayout::RowMajor && tile.slayout == SLayout::NoneBox;
        check.require(holds, LAYOUT, format_args!("{tile} in rows without boxes"), layout_text(tile));
    }
    let rows = dst.rows == src.rows;
    check.require(rows, SHAPE, format_args!("{dst} of {} rows as {src} is", src.rows), dst.rows);
    super::reduce::same_valid_rows(check, &dst, &src);
    check.require(dst.cols >= 256, SHAPE, format_args!("{dst} of at least 256 columns"), dst.cols);
    if let Some(cols) = dst.valid_cols {
        check.require(
            cols == 0 || cols >= 256,
            VALID,
            format_args!("{dst} with 0 or at least 256 valid columns"),
            cols,
        );
    }
    histogram_index(check, &src, &idx);
}

fn histogram_index(check: &mut Check, src: &Named, idx: &Named) {
    let byte = check.op.int("byte").unwrap_or(1);
    let bytes = src.element.bytes() as i64;
    check.require((0..bytes).contains(&byte), VALUE, format_args!("byte 0 to {} of {src}", bytes - 1), byte);
    if src.element == Element::U16 {
        let holds = idx.blayout == BLayout::ColMajor && idx.slayout == SLayout::NoneBox;
        check.require(holds, LAYOUT, format_args!("{idx} in columns without boxes"), layout_text(idx));
        let holds = (idx.rows, idx.cols) == (src.rows, 1);
        check.require(holds, SHAPE, format_args!("{idx} of shape {}x1", src.rows), shape_text(idx));
    } else if (0..3).contains(&byte) {
        let holds = (idx.rows, idx.cols) == (3 - byte, src.cols);
        check.require(holds, SHAPE, format_args!("{idx} of shape {}x{}", 3 - byte, src.cols), shape_text(idx));
    }
}

/// `tprint`: a vec tile, or a tile that is brought through a scratch view.
pub fn tprint(check: &mut Check) {
    let tmp = check.op.operand("tmp").and_then(View::of_value);
    let Some(src) = check.tile("src") else {
        check.require(tmp.is_none(), FORM, format_args!("no tmp for a tensor view"), "one");
        return;
    };
    let holds = match tmp {
        None => src.space == Space::Vec,
        Some(_) => matches!(src.space, Space::Vec | Space::Mat | Space::Acc),
    };
    check.require(holds, SPACE, format_args!("{src} in vec, or in mat or acc with tmp"), src.space.name());
    let holds = src.element.is_in("i8 i16 i32 f16 f32");
    check.require(holds, ELEMENT, format_args!("{src} to hold i8, i16, i32, f16 or f32"), src.element.name());
    if let Some(tmp) = tmp {
        let expected = format_args!("tmp to hold {} as {src} does", src.element.name());
        check.require(same_scalar(tmp.element, src.element), ELEMENT, expected, tmp.element.name());
    }
}
