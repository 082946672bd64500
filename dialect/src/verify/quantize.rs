//! Quantisation to 8-bit integers and to groups with shared scales, and back.

use super::{
    check::{Check, Extent, Named, may_equal, valid_text},
    codes::{ELEMENT, FORM, LAYOUT, SHAPE, VALID, VALUE},
};
use crate::{element::Element, tile::BLayout};

/// Elements that share a scale.
const GROUP: i64 = 32;

fn holds_one_of(check: &mut Check, tile: &Named, legal: &str) {
    let holds = legal.split(' ').any(|name| name == tile.element.name());
    check.require(holds, ELEMENT, format_args!("{tile} to hold one of {legal}"), tile.element.name());
}

/// `tquant`: symmetric to i8, or with an offset to ui8.
pub fn tquant(check: &mut Check) {
    let (Some(src), Some(dst)) = (check.tile("src"), check.tile("dst")) else { return };
    match check.op.enum_text("quant_type") {
        Some("INT8_SYM") => {
            check.require(!check.has("offset"), FORM, format_args!("no offset with INT8_SYM"), "one");
            holds_one_of(check, &dst, "i8");
        }
        Some("INT8_ASYM") => {
            check.require(check.has("offset"), FORM, format_args!("an offset with INT8_ASYM"), "none");
            holds_one_of(check, &dst, "ui8");
        }
        other => {
            let got = other.unwrap_or("none");
            check.require(false, VALUE, format_args!("quant_type INT8_SYM or INT8_ASYM"), got);
        }
    }
    for operand in ["src", "fp", "offset", "tmp"] {
        if let Some(tile) = check.tile(operand) {
            holds_one_of(check, &tile, "f32");
        }
    }
    let holds = may_equal(src.valid_rows, dst.valid_rows) && may_equal(src.valid_cols, dst.valid_cols);
    check.require(
        holds,
        VALID,
        format_args!("{dst} with valid extents {} as {src} has", valid_text(&src)),
        valid_text(&dst),
    );
}

/// `tdequant`: rows to rows of f32.
pub fn tdequant(check: &mut Check) {
    for operand in ["scale", "offset", "dst"] {
        if let Some(tile) = check.tile(operand) {
            holds_one_of(check, &tile, "f32");
        }
    }
    for operand in ["src", "dst"] {
        let Some(tile) = check.tile(operand) else { continue };
        let rows = tile.blayout == BLayout::RowMajor;
        check.require(rows, LAYOUT, format_args!("{tile} with blayout row_major"), "col_major");
    }
}

/// `tquant.mx`: 8- or 4-bit floating point and one exponent for 32 elements along the axis.
pub fn tquant_mx(check: &mut Check) {
    let (Some(src), Some(dst)) = (check.tile("src"), check.tile("dst")) else { return };
    let kind = check.op.enum_text("quant_type");
    match kind {
        Some("MXFP8") => holds_one_of(check, &dst, "i8 ui8 f8e4m3"),
        Some("MXFP4_E2M1") => {
            holds_one_of(check, &dst, "f4e2m1x2");
            holds_one_of(check, &src, "f16 bf16");
        }
        other => {
            check.require(false, VALUE, format_args!("quant_type MXFP8 or MXFP4_E2M1"), other.unwrap_or("none"));
        }
    }
    for operand in ["max", "scaling"] {
        if let Some(tile) = check.tile(operand) {
            holds_one_of(check, &tile, src.element.name());
        }
    }
    if let Some(exp) = check.tile("exp") {
        holds_one_of(check, &exp, "i8 ui8 f8e8m0");
    }
    mx_extents(check, &src, &dst);
    mx_attributes(check, &src);
}

fn mx_extents(check: &mut Check, src: &Named, dst: &Named) {
    let (Some(rows), Some(cols)) = (src.valid_rows, src.valid_cols) else {
        check.require(false, VALID, format_args!("{src} with constant valid extents"), valid_text(src));
        return;
    };
    let by_rows = check.op.enum_text("grpAxis") == Some("axis0");
    let (extent, side) = if by_rows { (rows, "rows") } else { (cols, "columns") };
    check.require(extent % GROUP == 0, SHAPE, format_args!("{src} with a multiple of {GROUP} valid {side}"), extent);
    let packed = if dst.element == Element::F4E2M1x2 { 2 } else { 1 };
    let holds = may_equal(dst.valid_rows, Some(rows)) && may_equal(dst.valid_cols, Some(cols / packed));
    let expected = format_args!("{dst} with valid extents {rows}x{}", Extent(Some(cols / packed)));
    check.require(holds, VALID, expected, valid_text(dst));
}

fn mx_attributes(check: &mut Check, src: &Named) {
    let by_rows = check.op.enum_text("grpAxis") == Some("axis0");
    let stores = check.op.enum_text("storeMode").is_some();
    let reordered = check.has("exp_zz");
    check.require(stores == reordered, FORM, format_args!("storeMode exactly with exp_zz"), "one of them");
    check.require(!stores || !by_rows, FORM, format_args!("grpAxis axis1 with storeMode"), "axis0");
    let nv = check.differs("quantScaleAlg", "ocp");
    check.require(!stores || !nv, VALUE, format_args!("quantScaleAlg ocp with storeMode"), "another");
    if check.op.bool("interleave") == Some(true) {
        check.require(by_rows, FORM, format_args!("grpAxis axis0 with interleave"), "axis1");
        let holds = src.valid_rows.is_none_or(|rows| rows % (2 * GROUP) == 0);
        check.require(
            holds,
            SHAPE,
            format_args!("{src} with a multiple of {} valid rows for interleave", 2 * GROUP),
            valid_text(src),
        );
        let holds = src.element != Element::F32;
        check.require(holds, ELEMENT, format_args!("{src} to hold f16 or bf16 for interleave"), "f32");
    }
}
