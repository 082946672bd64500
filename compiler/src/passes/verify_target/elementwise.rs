//! Powers, fills, comparison, selection, conversion.

use super::{
    codes::{ATTRIBUTE, ELEMENT, LAYOUT, SCRATCH},
    scratch,
    subject::{Named, Subject},
};
use pto_dialect::{BLayout, Element, Space};

/// Precision modes, and the scratch of the floating-point form.
pub fn tpow(subject: &mut Subject) {
    let Some(dst) = subject.tile("dst") else { return };
    let precise = subject.is_case("precisionType", "high_precision");
    if subject.is_a3() {
        subject.require(
            !precise,
            ATTRIBUTE,
            format_args!("precisionType default on {}", subject.device.name),
            "high_precision",
        );
    } else if precise {
        let holds = dst.element.is_in("f16 bf16 f32");
        subject.require(
            holds,
            ELEMENT,
            format_args!("{dst} to hold f16, bf16 or f32 with high_precision"),
            dst.element.name(),
        );
    } else {
        let holds = dst.element != Element::BF16;
        subject.require(holds, ATTRIBUTE, format_args!("precisionType high_precision for bf16"), "default");
    }
    if dst.element.is_integer() {
        let none = !subject.has("tmp");
        subject.require(none, SCRATCH, format_args!("no tmp for powers of {}", dst.element.name()), "one");
    }
    if let Some(tmp) = subject.a3_scratch()
        && !dst.element.is_integer()
    {
        scratch::same_element(subject, &tmp, &dst);
        scratch::in_rows(subject, &tmp);
        scratch::at_least(subject, &tmp, dst.storage_bytes());
        let valid = tmp.is_valid_like(&dst);
        subject.require(
            valid,
            SCRATCH,
            format_args!("{tmp} with valid extents {}", dst.valid_text()),
            tmp.valid_text(),
        );
    }
}

fn rows(subject: &mut Subject, tile: &Named) {
    let holds = tile.blayout == BLayout::RowMajor;
    let expected = format_args!("{tile} with blayout row_major on {}", subject.device.name);
    subject.require(holds, LAYOUT, expected, "col_major");
}

/// Fills go along rows in vec on A2/A3, and for i64 on A5.
pub fn texpands(subject: &mut Subject) {
    let Some(dst) = subject.tile("dst") else { return };
    if dst.space == Space::Vec && (subject.is_a3() || dst.element.bytes() == 8) {
        rows(subject, &dst);
    }
}

/// A5 compares along rows.
pub fn tcmp(subject: &mut Subject) {
    if subject.is_a3() {
        return;
    }
    for operand in ["src0", "src1", "dst"] {
        if let Some(tile) = subject.tile(operand) {
            rows(subject, &tile);
        }
    }
}

/// A2/A3's scratch; on A5 the mask of `tsels` has rows.
pub fn tsel(subject: &mut Subject) {
    if !subject.is_a3() {
        if let Some(mask) = subject.tile("mask").filter(|_| subject.op.is("tsels")) {
            rows(subject, &mask);
        }
        return;
    }
    let Some(tmp) = subject.a3_scratch() else { return };
    if let Some(src) = subject.tile("src") {
        scratch::same_element(subject, &tmp, &src);
        scratch::in_rows(subject, &tmp);
        return scratch::at_least(subject, &tmp, src.cols as u64 * src.element.bytes());
    }
    // The library casts the pointer, so its element type is free (PTO-ISA, a2a3/TSel.hpp); PyPTO passes bytes.
    let half = subject.tile("dst").is_some_and(|dst| dst.element.bytes() == 2);
    scratch::at_least(subject, &tmp, if half { 16 } else { 8 });
}

/// From, and to what it can be converted on A2/A3 (PTO-ISA TCVT).
const A3_PAIRS: &[(&str, &str)] = &[
    ("f32", "f16 f32 bf16 i16 i32 i64"),
    ("f16", "f32 i32 i16 i8 ui8"),
    ("bf16", "f32 i32"),
    ("i16", "f16 f32"),
    ("i32", "f32 i16 i64 f16"),
    ("i64", "f32 i32"),
    ("ui8", "f16"),
    ("i8", "f16"),
];

/// The same on A5.
const A5_PAIRS: &[(&str, &str)] = &[
    ("f32", "f32 f16 bf16 i16 i32 i64 f8e4m3 f8e5m2 hif8"),
    ("f16", "f32 i32 i16 i8 ui8 hif8"),
    ("bf16", "f32 i32 f16 f4e2m1x2 f4e1m2x2"),
    ("i16", "ui8 f16 f32 ui32 i32"),
    ("i32", "f32 i16 ui16 i64 ui8"),
    ("i64", "f32 i32"),
    ("ui8", "f16 ui16"),
    ("i8", "f16 i16 i32"),
    ("ui32", "ui8 ui16 i16"),
    ("f8e4m3", "f32"),
    ("f8e5m2", "f32"),
    ("hif8", "f32"),
    ("f4e2m1x2", "bf16"),
    ("f4e1m2x2", "bf16"),
];

/// The pair exists, and A2/A3's scratch suffices.
pub fn tcvt(subject: &mut Subject) {
    let (Some(src), Some(dst)) = (subject.tile("src"), subject.tile("dst")) else { return };
    let pairs = if subject.is_a3() { A3_PAIRS } else { A5_PAIRS };
    let to = pairs.iter().find(|(from, _)| *from == src.element.name()).map_or("", |(_, to)| to);
    let holds = to.split(' ').any(|name| name == dst.element.name());
    let name = &subject.device.name;
    if to.is_empty() {
        subject.require(false, ELEMENT, format_args!("{src} to hold a type that {name} converts"), src.element.name());
    } else {
        let expected = format_args!("{dst} to hold one of {to}, to which {name} converts {}", src.element.name());
        subject.require(holds, ELEMENT, expected, dst.element.name());
    }
    let exact = subject.op.enum_text("sat_mode").unwrap_or("OFF") == "OFF";
    if let Some(tmp) = subject.a3_scratch().filter(|_| exact) {
        scratch::as_used(subject, &tmp);
    }
}
