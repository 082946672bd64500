//! Tiles of which only a part is valid, quantisation.

use super::{
    codes::{LAYOUT, SCRATCH, SHAPE, VALID},
    scratch,
    subject::{Named, Subject, may_equal},
};
use pto_dialect::BLayout;

/// A2/A3: one of the sources is valid wherever dst is. A5, max and min: equal physical shapes.
pub fn tpart(subject: &mut Subject) {
    if subject.is_a3() {
        return one_covers(subject);
    }
    if subject.op.is("tpartadd") || subject.op.is("tpartmul") {
        return;
    }
    let Some(dst) = subject.tile("dst") else { return };
    for src in ["src0", "src1"].into_iter().filter_map(|o| subject.tile(o)).collect::<Vec<_>>() {
        let holds = (src.rows, src.cols) == (dst.rows, dst.cols);
        let expected = format_args!("{src} of shape {} as {dst} is", dst.shape_text());
        subject.require(holds, SHAPE, expected, src.shape_text());
    }
}

/// The forms with indices: one source covers dst on every target.
pub fn tpart_arg(subject: &mut Subject) {
    if !subject.is_a3() {
        one_covers(subject);
    }
}

fn one_covers(subject: &mut Subject) {
    let (Some(src0), Some(src1), Some(dst)) = (subject.tile("src0"), subject.tile("src1"), subject.tile("dst")) else {
        return;
    };
    let holds = src0.is_valid_like(&dst) || src1.is_valid_like(&dst);
    let expected = format_args!("{src0} or {src1} with the valid extents {} of {dst}", dst.valid_text());
    subject.require(holds, VALID, expected, format_args!("{} and {}", src0.valid_text(), src1.valid_text()));
}

/// A2/A3: data in rows, one factor for each row, scratch for the rows' factors and for src's numbers.
pub fn tquant(subject: &mut Subject) {
    let (Some(src), Some(dst)) = (subject.tile("src"), subject.tile("dst")) else { return };
    if !subject.is_a3() {
        return;
    }
    for tile in [&src, &dst] {
        let holds = tile.blayout == BLayout::RowMajor;
        subject.require(holds, LAYOUT, format_args!("{tile} with blayout row_major"), "col_major");
    }
    for operand in ["fp", "offset"] {
        if let Some(factor) = subject.tile(operand) {
            one_for_each_row(subject, &factor, &dst);
        }
    }
    if let Some(tmp) = subject.a3_scratch() {
        scratch::same_element(subject, &tmp, &src);
        scratch::in_rows(subject, &tmp);
        let fits = (tmp.rows, tmp.cols) == (src.rows, src.cols) || tmp.storage_bytes() > src.storage_bytes();
        let expected = format_args!("{tmp} of shape {} as {src} is, or larger", src.shape_text());
        subject.require(fits, SCRATCH, expected, tmp.shape_text());
        scratch::as_used(subject, &tmp);
    }
}

fn one_for_each_row(subject: &mut Subject, factor: &Named, dst: &Named) {
    let column = factor.blayout == BLayout::ColMajor;
    subject.require(column, LAYOUT, format_args!("{factor} with blayout col_major"), "row_major");
    let holds = may_equal(factor.valid_rows, dst.valid_rows) && may_equal(factor.valid_cols, Some(1));
    let expected = format_args!("{factor} with one valid column of as many rows as {dst} has");
    subject.require(holds, VALID, expected, factor.valid_text());
}
