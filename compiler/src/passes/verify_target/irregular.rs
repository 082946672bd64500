//! Transposition, concatenation, gather, scatter, printing.

use super::{
    codes::{ATTRIBUTE, ELEMENT, LAYOUT, MISSING, SCRATCH, SPACE},
    scratch,
    subject::{Named, Subject},
};
use melior::ir::ValueLike;
use pto_dialect::{BLayout, Space};

fn rows(subject: &mut Subject, operand: &'static str) {
    let Some(tile) = subject.tile(operand) else { return };
    let holds = tile.blayout == BLayout::RowMajor;
    let expected = format_args!("{tile} with blayout row_major on {}", subject.device.name);
    subject.require(holds, LAYOUT, expected, "col_major");
}

/// A2/A3's scratch (a block, or as much as src when whole blocks are exchanged); A5's 32-byte runs.
pub fn ttrans(subject: &mut Subject) {
    let (Some(src), Some(dst)) = (subject.tile("src"), subject.tile("dst")) else { return };
    if !subject.is_a3() {
        for tile in [&src, &dst] {
            whole_runs(subject, tile);
        }
        return;
    }
    let Some(tmp) = subject.tile("tmp") else { return };
    let bytes = src.element.bytes() as i64;
    let block = 32 / bytes;
    let unit = if bytes == 1 { 32 } else { 16 };
    let uses = dst.cols % unit == 0 && src.cols % block == 0 && src.cols / block <= 255;
    scratch::at_least(subject, &tmp, if uses { src.storage_bytes() } else { 32 });
}

fn whole_runs(subject: &mut Subject, tile: &Named) {
    let run = if tile.blayout == BLayout::RowMajor { tile.cols } else { tile.rows };
    let bytes = run as u64 * tile.element.bytes();
    let expected = format_args!("rows or columns of {tile} to be a multiple of 32 bytes");
    subject.require(bytes.is_multiple_of(32), LAYOUT, expected, format_args!("{bytes} bytes"));
}

/// A5 concatenates rows.
pub fn tconcat(subject: &mut Subject) {
    if !subject.is_a3() {
        for operand in ["src0", "src1", "dst", "src0Idx", "src1Idx"] {
            rows(subject, operand);
        }
    }
}

/// Sizes of elements and types of indices.
pub fn tgather(subject: &mut Subject) {
    let Some(src) = subject.tile("src") else { return };
    if subject.op.enum_text("maskPattern").is_some() {
        return by_mask(subject, &src);
    }
    if subject.has("kValue") {
        return by_comparison(subject);
    }
    let Some(indices) = subject.tile("indices") else { return };
    let wide = subject.is_a3() || src.element.bytes() == 8;
    let legal = if wide { "i32" } else { "i16 i32" };
    let holds = indices.element.is_in(legal);
    subject.require(
        holds,
        ELEMENT,
        format_args!("{indices} to hold {legal} on {}", subject.device.name),
        indices.element.name(),
    );
    if let Some(tmp) = subject.a3_scratch() {
        scratch::same_element(subject, &tmp, &indices);
        let holds = tmp.is_valid_like(&indices);
        let expected = format_args!("{tmp} with valid extents {} as {indices} has", indices.valid_text());
        subject.require(holds, SCRATCH, expected, tmp.valid_text());
    }
}

fn by_mask(subject: &mut Subject, tile: &Named) {
    let along_rows = subject.op.string("axis").as_deref() == Some("row");
    let sizes: &[u64] = match (subject.is_a3(), along_rows) {
        (true, _) => &[2, 4],
        (false, true) => &[1, 2, 4, 8],
        (false, false) => &[1, 2, 4],
    };
    let bytes = tile.element.bytes();
    let expected =
        format_args!("{tile} to hold elements of {sizes:?} bytes with maskPattern on {}", subject.device.name);
    subject.require(sizes.contains(&bytes), ELEMENT, expected, format_args!("{bytes} bytes"));
}

/// The library compares each row with a number of its own, which it reads from a tile as a 16 or 32-bit integer, and writes
/// behind tmp; neither follows from a scalar.
fn by_comparison(subject: &mut Subject) {
    let scalar = subject.op.operand("kValue").map_or_else(String::new, |value| value.r#type().to_string());
    let expected =
        format_args!("indices or maskPattern: the library compares with a tile of numbers, one for each row");
    subject.require(false, MISSING, expected, format_args!("kValue of type {scalar}"));
}

/// A2/A3 writes rows.
pub fn tgatherb(subject: &mut Subject) {
    if subject.is_a3() {
        rows(subject, "dst");
    }
}

/// Sizes of elements with a mask.
pub fn tscatter(subject: &mut Subject) {
    if let Some(src) = subject.tile("src")
        && subject.op.enum_text("maskPattern").is_some()
    {
        by_mask(subject, &src);
    }
}

/// A2/A3 reads indices from rows.
pub fn global_index(subject: &mut Subject) {
    if subject.is_a3() {
        rows(subject, "idx");
    }
}

/// Order of conflicting writes is A5's.
pub fn mscatter(subject: &mut Subject) {
    global_index(subject);
    if let Some(conflict) = subject.op.enum_text("scatterConflict").filter(|_| subject.is_a3()) {
        let expected = format_args!("no attribute scatterConflict on {}", subject.device.name);
        subject.require(false, ATTRIBUTE, expected, conflict);
    }
}

/// A5 cannot read mat back.
pub fn tprint(subject: &mut Subject) {
    let Some(src) = subject.tile("src").filter(|_| !subject.is_a3()) else { return };
    let expected = format_args!("{src} in vec or acc on {}", subject.device.name);
    subject.require(src.space != Space::Mat, SPACE, expected, src.space.name());
}
