//! Matrix products: element types that multiply, extents that the instruction counts, layouts that A5 demands.

use super::{
    codes::{ELEMENT, LAYOUT, LIMIT},
    subject::{Named, Subject},
};
use pto_dialect::{BLayout, SLayout};

/// Sum, left, right (PTO-ISA TMATMUL).
const PRODUCTS: &[(&str, &str, &str)] =
    &[("i32", "si8", "si8"), ("f32", "f16", "f16"), ("f32", "bf16", "bf16"), ("f32", "f32", "f32")];

/// What A5 adds.
const A5_PRODUCTS: &[(&str, &str, &str)] = &[("f32", "f8e4m3 f8e5m2", "f8e4m3 f8e5m2"), ("f32", "hif8", "hif8")];

fn operands<'c, 'a>(subject: &Subject<'c, 'a, '_>) -> Option<[Named<'c, 'a>; 3]> {
    let lhs = subject.tile("lhs").or_else(|| subject.tile("a"))?;
    let rhs = subject.tile("rhs").or_else(|| subject.tile("b"))?;
    Some([lhs, rhs, subject.tile("dst")?])
}

/// Products without scales.
pub fn product(subject: &mut Subject) {
    let Some([lhs, rhs, dst]) = operands(subject) else { return };
    let is =
        |row: &(&str, &str, &str)| row.0 == dst.element.name() && lhs.element.is_in(row.1) && rhs.element.is_in(row.2);
    let legal = PRODUCTS.iter().any(is) || (!subject.is_a3() && A5_PRODUCTS.iter().any(is));
    let got = format_args!("{} = {} * {}", dst.element.name(), lhs.element.name(), rhs.element.name());
    subject.require(legal, ELEMENT, format_args!("a product of element types that {} has", subject.device.name), got);
    within_limits(subject, &lhs, &rhs, 0);
    if !subject.is_a3() {
        layouts(subject, &lhs, &rhs, &dst);
    }
}

/// Products with scales.
pub fn scaled(subject: &mut Subject) {
    let Some([lhs, rhs, dst]) = operands(subject) else { return };
    within_limits(subject, &lhs, &rhs, 1);
    layouts(subject, &lhs, &rhs, &dst);
    let major = [("a_scale", BLayout::RowMajor, SLayout::RowMajor), ("b_scale", BLayout::ColMajor, SLayout::ColMajor)];
    for (operand, blocks, boxes) in major {
        let Some(scale) = subject.tile(operand) else { continue };
        let holds = scale.layout() == (blocks, boxes) && scale.fractal == 32;
        let side = if blocks == BLayout::RowMajor { "row_major" } else { "col_major" };
        let expected = format_args!("{scale} in {side} blocks of {side} boxes with fractal=32");
        subject.require(
            holds,
            LAYOUT,
            expected,
            format_args!("{} with fractal={}", scale.layout_text(), scale.fractal),
        );
    }
}

/// M, K and N as far as they are known.
fn within_limits(subject: &mut Subject, lhs: &Named, rhs: &Named, least: i64) {
    let Some(limit) = subject.device.limits.as_ref().map(|limits| limits.matmul_extent) else { return };
    let extents = [("rows", lhs, lhs.valid_rows), ("columns", lhs, lhs.valid_cols), ("columns", rhs, rhs.valid_cols)];
    for (side, tile, extent) in extents {
        let Some(extent) = extent else { continue };
        let holds = (least..=limit).contains(&extent);
        subject.require(holds, LIMIT, format_args!("{tile} with {least} to {limit} valid {side}"), extent);
    }
}

/// A5: left is accepted with either block layout, see `pto-legalize-tiles`.
fn layouts(subject: &mut Subject, lhs: &Named, rhs: &Named, dst: &Named) {
    let holds = lhs.slayout == SLayout::RowMajor;
    subject.require(holds, LAYOUT, format_args!("{lhs} in row_major boxes"), lhs.layout_text());
    let holds = rhs.is_zn();
    subject.require(holds, LAYOUT, format_args!("{rhs} in row_major blocks of col_major boxes"), rhs.layout_text());
    let holds = dst.is_nz();
    subject.require(holds, LAYOUT, format_args!("{dst} in col_major blocks of row_major boxes"), dst.layout_text());
}
