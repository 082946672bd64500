//! Scratch tiles that the author gives, on A2/A3; a missing one is made later (`pto-materialize-tmp`).

use super::{
    codes::{ALIAS, SCRATCH},
    subject::{Named, Subject, may_reach},
};
use crate::scratch;
use pto_dialect::{BLayout, Element};

/// tmp has at least so many bytes.
pub fn at_least(subject: &mut Subject, tmp: &Named, bytes: u64) {
    let got = format_args!("{} bytes", tmp.storage_bytes());
    subject.require(tmp.storage_bytes() >= bytes, SCRATCH, format_args!("{tmp} of at least {bytes} bytes"), got);
}

/// tmp holds the element type of a data tile.
pub fn same_element(subject: &mut Subject, tmp: &Named, data: &Named) {
    let expected = format_args!("{tmp} to hold {} as {data} does", data.element.name());
    subject.require(tmp.element == data.element, SCRATCH, expected, tmp.element.name());
}

/// tmp has its rows one after the other.
pub fn in_rows(subject: &mut Subject, tmp: &Named) {
    let rows = tmp.blayout == BLayout::RowMajor;
    subject.require(rows, SCRATCH, format_args!("{tmp} with blayout row_major"), "col_major");
}

/// Rows and columns that are valid in tmp.
pub fn valid_at_least(subject: &mut Subject, tmp: &Named, rows: i64, cols: i64) {
    let holds = may_reach(tmp.valid_rows, rows) && may_reach(tmp.valid_cols, cols);
    let expected = format_args!("{tmp} with valid extents of at least {rows}x{cols}");
    subject.require(holds, SCRATCH, expected, tmp.valid_text());
}

/// tmp has what the library's call uses, or can be replaced by what has (`pto-materialize-tmp`).
pub fn as_used(subject: &mut Subject, tmp: &Named) {
    if let Some(bytes) = scratch::bytes(subject.op).filter(|_| !scratch::may_be_replaced(subject.op)) {
        at_least(subject, tmp, bytes);
    }
}

/// `trem` needs a row like dst's and one for bits, `trems` the first.
pub fn trem(subject: &mut Subject) {
    if let (Some(a), Some(b)) = (subject.tile("src0"), subject.tile("src1"))
        && subject.is_a3()
        && a.element.is_in("i32")
    {
        let expected = format_args!("{a} and {b} in two tiles: both are converted where they stand");
        subject.require(a.value != b.value, ALIAS, expected, "the same tile");
    }
    let (Some(tmp), Some(dst)) = (subject.a3_scratch(), subject.tile("dst")) else { return };
    same_element(subject, &tmp, &dst);
    valid_at_least(subject, &tmp, 1, dst.valid_cols.unwrap_or(0));
    at_least(subject, &tmp, dst.cols as u64 * dst.element.bytes());
    as_used(subject, &tmp);
}

/// `txor`, `txors`: scratch like dst, and storage of its own.
pub fn txor(subject: &mut Subject) {
    let (Some(tmp), Some(dst)) = (subject.a3_scratch(), subject.tile("dst")) else { return };
    same_element(subject, &tmp, &dst);
    in_rows(subject, &tmp);
    at_least(subject, &tmp, dst.storage_bytes());
    for tile in subject.sources().into_iter().chain([dst]) {
        subject.require(
            tile.value != tmp.value,
            ALIAS,
            format_args!("{tmp} in other storage than {tile}"),
            "the same tile",
        );
    }
}

/// `tprelu`: a row of bits for each row of dst, and one more.
pub fn tprelu(subject: &mut Subject) {
    let (Some(tmp), Some(dst)) = (subject.a3_scratch(), subject.tile("dst")) else { return };
    let bytes = tmp.element.is_in("i8");
    subject.require(bytes, SCRATCH, format_args!("{tmp} to hold ui8 or i8"), tmp.element.name());
    let rows = dst.valid_rows.unwrap_or(dst.rows) + 1;
    subject.require(tmp.rows >= rows, SCRATCH, format_args!("{tmp} of at least {rows} rows"), tmp.rows);
    valid_at_least(subject, &tmp, 0, (dst.valid_cols.unwrap_or(0) + 7) / 8);
}

/// `trsqrt`: one block.
pub fn trsqrt(subject: &mut Subject) {
    if let Some(tmp) = subject.a3_scratch() {
        at_least(subject, &tmp, 32);
    }
}

/// `tsort32`: a row of src in whole blocks.
pub fn tsort32(subject: &mut Subject) {
    if let Some(tmp) = subject.a3_scratch() {
        as_used(subject, &tmp);
    }
}

/// `tci`: 4-byte elements in rows, 768 bytes for 32-bit sequences and 1792 for 16-bit ones.
pub fn tci(subject: &mut Subject) {
    let (Some(tmp), Some(dst)) = (subject.a3_scratch(), subject.tile("dst")) else { return };
    let holds = tmp.element == Element::F32 || tmp.element.is_in("i32");
    subject.require(holds, SCRATCH, format_args!("{tmp} to hold f32"), tmp.element.name());
    subject.require(tmp.is_rows(), SCRATCH, format_args!("{tmp} in rows without boxes"), tmp.layout_text());
    at_least(subject, &tmp, if dst.element.bytes() == 2 { 1792 } else { 768 });
}
