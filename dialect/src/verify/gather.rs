//! Gather and scatter between tiles: by index, by comparison, by a repeating mask.

use super::{
    check::{Check, Extent, Named, may_equal, may_fit, same_scalar, valid_text},
    codes::{ELEMENT, FORM, SHAPE, VALID, VALUE},
};
use crate::element::Element;

/// `tgather`: exactly one of the three forms.
pub fn tgather(check: &mut Check) {
    let mask = check.op.enum_text("maskPattern");
    if mask.is_none() {
        let axis = check.op.string("axis");
        check.require(axis.is_none(), FORM, format_args!("maskPattern with axis"), "none");
    }
    match (mask, check.has("kValue")) {
        (Some(mask), _) => gather_by_mask(check, mask),
        (None, true) => gather_by_comparison(check),
        (None, false) => gather_by_index(check),
    }
}

fn gather_by_mask(check: &mut Check, mask: &str) {
    for operand in ["indices", "tmp", "kValue", "cdst"] {
        check.require(!check.has(operand), FORM, format_args!("no operand {operand} with maskPattern"), "one");
    }
    let (Some(src), Some(dst)) = (check.tile("src"), check.tile("dst")) else { return };
    same_bytes(check, &dst, &src);
    masked_extents(check, mask, &src, &dst);
    full_columns(check, &dst);
}

fn gather_by_comparison(check: &mut Check) {
    check.require(!check.has("indices"), FORM, format_args!("no operand indices with kValue"), "one");
    for operand in ["tmp", "cdst"] {
        check.require(check.has(operand), FORM, format_args!("operand {operand} with kValue"), "none");
    }
    let mode = check.op.enum_text("cmpMode").unwrap_or("eq");
    check.require(matches!(mode, "eq" | "gt"), VALUE, format_args!("cmpMode eq or gt"), mode);
    let (Some(src), Some(dst)) = (check.tile("src"), check.tile("dst")) else { return };
    check.require(dst.element.is_in("i32"), ELEMENT, format_args!("{dst} to hold i32"), dst.element.name());
    if let Some(counts) = check.tile("cdst") {
        let expected = format_args!("{counts} to hold {} as {dst} does", dst.element.name());
        check.require(same_scalar(counts.element, dst.element), ELEMENT, expected, counts.element.name());
    }
    if let Some(value) = check.scalar("kValue") {
        let expected = format_args!("kValue of type {} as {src} holds", src.element.name());
        check.require(same_scalar(value, src.element), ELEMENT, expected, value.name());
    }
}

fn gather_by_index(check: &mut Check) {
    let Some(indices) = check.tile("indices") else {
        check.require(false, FORM, format_args!("indices, kValue or maskPattern"), "none");
        return;
    };
    let (Some(src), Some(dst)) = (check.tile("src"), check.tile("dst")) else { return };
    same_element(check, &dst, &src);
    let holds = indices.element.is_in("i16 i32");
    check.require(holds, ELEMENT, format_args!("{indices} to hold i32 (or i16)"), indices.element.name());
    full_columns(check, &dst);
    full_columns(check, &indices);
}

/// The library walks whole rows: valid and physical columns agree.
fn full_columns(check: &mut Check, tile: &Named) {
    let holds = may_equal(tile.valid_cols, Some(tile.cols));
    check.require(holds, VALID, format_args!("{tile} with all {} columns valid", tile.cols), Extent(tile.valid_cols));
}

fn same_element(check: &mut Check, tile: &Named, reference: &Named) {
    let expected = format_args!("{tile} to hold {} as {reference} does", reference.element.name());
    check.require(tile.element == reference.element, ELEMENT, expected, tile.element.name());
}

fn same_bytes(check: &mut Check, tile: &Named, reference: &Named) {
    let (had, wanted) = (tile.element.bytes(), reference.element.bytes());
    let expected = format_args!("{tile} to hold elements of {wanted} bytes as {reference} does");
    check.require(had == wanted, ELEMENT, expected, format_args!("{had} bytes"));
}

/// `many` has as many times the extent of `few` as the mask has places for one element, along the axis.
fn masked_extents(check: &mut Check, mask: &str, many: &Named, few: &Named) {
    let times = match mask {
        "P1111" => 1,
        "P0101" | "P1010" => 2,
        _ => 4,
    };
    let axis = check.op.string("axis");
    let along_rows = match axis.as_deref() {
        Some("row") | None => true,
        Some("col") => false,
        other => {
            check.require(
                false,
                VALUE,
                format_args!("axis \"row\" or \"col\" with maskPattern"),
                other.unwrap_or("none"),
            );
            return;
        }
    };
    let (kept, scaled) = if along_rows {
        ((many.valid_rows, few.valid_rows), (many.valid_cols, few.valid_cols))
    } else {
        ((many.valid_cols, few.valid_cols), (many.valid_rows, few.valid_rows))
    };
    let wanted = scaled.1.map(|extent| extent.saturating_mul(times));
    let holds = may_equal(kept.0, kept.1) && may_equal(scaled.0, wanted);
    let expected = format_args!(
        "{many} with {times} times the valid extent {} of {few} along each {}",
        valid_text(few),
        axis.as_deref().unwrap_or("row")
    );
    check.require(holds, VALID, expected, valid_text(many));
}

/// `tgatherb`: offsets in bytes as 32-bit numbers.
pub fn tgatherb(check: &mut Check) {
    let (Some(src), Some(offsets), Some(dst)) = (check.tile("src"), check.tile("offsets"), check.tile("dst")) else {
        return;
    };
    same_bytes(check, &dst, &src);
    let holds = offsets.element == Element::U32 || offsets.element == Element::I32;
    check.require(holds, ELEMENT, format_args!("{offsets} to hold ui32"), offsets.element.name());
}

/// `tscatter`: by index or by mask.
pub fn tscatter(check: &mut Check) {
    let (Some(src), Some(dst)) = (check.tile("src"), check.tile("dst")) else { return };
    same_element(check, &dst, &src);
    match (check.tile("indexes"), check.op.enum_text("maskPattern")) {
        (Some(indexes), None) => {
            let axis = check.op.string("axis");
            check.require(axis.is_none(), FORM, format_args!("maskPattern with axis"), "none");
            scatter_by_index(check, &src, &indexes, &dst);
        }
        (None, Some(mask)) => masked_extents(check, mask, &dst, &src),
        (both, _) => {
            let got = if both.is_some() { "both" } else { "none" };
            check.require(false, FORM, format_args!("indexes or maskPattern"), got);
        }
    }
}

fn scatter_by_index(check: &mut Check, src: &Named, indexes: &Named, dst: &Named) {
    let bytes = match src.element.bytes() {
        1 => 2,
        8 => 4,
        bytes => bytes,
    };
    let holds = indexes.element.is_integer() && indexes.element.bytes() == bytes;
    check.require(holds, ELEMENT, format_args!("{indexes} to hold {}-bit integers", bytes * 8), indexes.element.name());
    let holds = may_equal(src.valid_rows, indexes.valid_rows) && may_equal(src.valid_cols, indexes.valid_cols);
    let expected = format_args!("{indexes} with valid extents {} as {src} has", valid_text(src));
    check.require(holds, VALID, expected, valid_text(indexes));
    let holds = may_fit(src.valid_rows, dst.valid_rows) && may_fit(src.valid_cols, dst.valid_cols);
    check.require(
        holds,
        SHAPE,
        format_args!("{dst} with at least the valid extents {} of {src}", valid_text(src)),
        valid_text(dst),
    );
}
