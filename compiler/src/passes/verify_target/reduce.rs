//! Reductions and broadcasts.

use super::{
    codes::{SCRATCH, VALID},
    scratch,
    subject::{Named, Subject, may_equal},
};
use pto_dialect::BLayout;

/// Bytes that one vector instruction reads.
const VECTOR_BYTES: i64 = 256;

/// Bytes of a block.
const BLOCK_BYTES: i64 = 32;

/// A2/A3's scratch of the plain reductions: a block of src's elements.
pub fn row_reduce(subject: &mut Subject) {
    if let (Some(tmp), Some(src)) = (subject.a3_scratch(), subject.tile("src")) {
        scratch::same_element(subject, &tmp, &src);
        scratch::at_least(subject, &tmp, BLOCK_BYTES as u64);
    }
}

/// Elements of scratch for one row whose values and positions are reduced in turns.
fn arg_stride(src: &Named) -> i64 {
    let bytes = src.element.bytes() as i64;
    let cols = src.valid_cols.unwrap_or(src.cols);
    let repeats = (cols + VECTOR_BYTES / bytes - 1) / (VECTOR_BYTES / bytes);
    let block = BLOCK_BYTES / bytes;
    let blocks = |elements: i64| (elements + block - 1) / block;
    (blocks(2 * repeats) + blocks(repeats)) * block
}

/// A2/A3's scratch of the arg forms: like src, or just what is used.
pub fn row_arg(subject: &mut Subject) {
    let (Some(tmp), Some(src)) = (subject.a3_scratch(), subject.tile("src")) else { return };
    if tmp.is_valid_like(&src) {
        return;
    }
    let rows = src.valid_rows.unwrap_or(src.rows);
    let one_vector = src.valid_cols.unwrap_or(src.cols) <= VECTOR_BYTES / src.element.bytes() as i64;
    match (one_vector, tmp.blayout) {
        (true, BLayout::ColMajor) => scratch::valid_at_least(subject, &tmp, 2 * rows, 1),
        (true, BLayout::RowMajor) => scratch::valid_at_least(subject, &tmp, rows, 2),
        (false, _) => {
            subject.require(tmp.rows == src.rows, SCRATCH, format_args!("{tmp} of {} rows", src.rows), tmp.rows);
            scratch::valid_at_least(subject, &tmp, rows, arg_stride(&src));
        }
    }
}

/// A5 reads the first row before it looks how many there are.
pub fn col_reduce(subject: &mut Subject) {
    let Some(src) = subject.tile("src").filter(|_| !subject.is_a3() && !subject.op.is("tcolprod")) else { return };
    if is_inactive(subject) {
        return;
    }
    let holds = src.valid_rows != Some(0) && src.valid_cols != Some(0);
    subject.require(
        holds,
        VALID,
        format_args!("{src} with something valid on {}", subject.device.name),
        src.valid_text(),
    );
}

/// The marker of an inactive lane: nothing of dst is valid.
fn is_inactive(subject: &Subject) -> bool {
    subject.tile("dst").is_some_and(|dst| (dst.valid_rows, dst.valid_cols) == (Some(0), Some(0)))
}

/// A2/A3's scratch of the arg forms along columns.
pub fn col_arg(subject: &mut Subject) {
    let (Some(tmp), Some(src)) = (subject.a3_scratch(), subject.tile("src")) else { return };
    scratch::same_element(subject, &tmp, &src);
    scratch::at_least(subject, &tmp, BLOCK_BYTES as u64);
    if !tmp.is_valid_like(&src) {
        scratch::valid_at_least(subject, &tmp, 1, arg_stride(&src));
    }
}

/// A5 expands one column.
pub fn row_expand(subject: &mut Subject) {
    let Some(src) = subject.tile("src").filter(|_| !subject.is_a3() && !is_inactive(subject)) else { return };
    let holds = may_equal(src.valid_cols, Some(1));
    subject.require(
        holds,
        VALID,
        format_args!("{src} with 1 valid column on {}", subject.device.name),
        src.valid_text(),
    );
}

/// A2/A3's scratch goes with a column of values, and holds a block for each row of a round.
pub fn row_expand_bin(subject: &mut Subject) {
    let Some(tmp) = subject.a3_scratch() else { return };
    let has_column =
        ["src0", "src1"].into_iter().filter_map(|o| subject.tile(o)).any(|t| t.blayout == BLayout::ColMajor);
    subject.require(has_column, SCRATCH, format_args!("no tmp unless src0 or src1 is a col_major vector"), "one");
    scratch::as_used(subject, &tmp);
}
