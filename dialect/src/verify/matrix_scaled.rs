//! Matrix products of elements with shared scales: one scale for 32 elements along K.

use super::{
    check::{Check, Extent, Named, may_equal, shape_text, valid_text},
    codes::{ELEMENT, SHAPE, SPACE, VALID},
    matrix::Product,
};
use crate::tile::{Space, Tile};

/// Elements that share a scale.
const GROUP: i64 = 32;

/// K of `tmatmul.mx` is a multiple of this.
const K_UNIT: i64 = 64;

/// `tmatmul.mx` and its forms.
pub fn tmatmul_mx(check: &mut Check) {
    let Some(product) = Product::of(check) else { return };
    product.spaces(check);
    product.shapes(check);
    let (lhs, rhs) = (&product.lhs, &product.rhs);
    check.require(lhs.cols % K_UNIT == 0, SHAPE, format_args!("{lhs} of a multiple of {K_UNIT} columns"), lhs.cols);
    elements(check, &product);
    if let Some(scale) = check.tile("a_scale") {
        let valid = (lhs.valid_rows, groups(lhs.valid_cols));
        scale_tile(check, &scale, lhs, Some((Some(lhs.rows), groups(Some(lhs.cols)))), valid);
    }
    if let Some(scale) = check.tile("b_scale") {
        let valid = (groups(rhs.valid_rows), rhs.valid_cols);
        scale_tile(check, &scale, rhs, Some((groups(Some(rhs.rows)), Some(rhs.cols))), valid);
    }
}

/// `tgemv.mx` and its forms: scales for the valid extents.
pub fn tgemv_mx(check: &mut Check) {
    let Some(product) = Product::of(check) else { return };
    product.spaces(check);
    product.shapes(check);
    product.vector_extents(check);
    elements(check, &product);
    let (lhs, rhs) = (&product.lhs, &product.rhs);
    if let Some(scale) = check.tile("a_scale") {
        scale_tile(check, &scale, lhs, None, (lhs.valid_rows, groups(lhs.valid_cols)));
    }
    if let Some(scale) = check.tile("b_scale") {
        scale_tile(check, &scale, rhs, None, (groups(rhs.valid_rows), rhs.valid_cols));
    }
}

fn groups(extent: Option<i64>) -> Option<i64> {
    extent.map(|extent| (extent + GROUP - 1) / GROUP)
}

/// Both 8-bit or both 4-bit floating point, summed in f32.
fn elements(check: &mut Check, product: &Product) {
    let kinds = ["f8e4m3 f8e5m2", "f4e2m1x2 f4e1m2x2"];
    let holds = kinds.iter().any(|kind| product.lhs.element.is_in(kind) && product.rhs.element.is_in(kind));
    let got = format_args!("{} and {}", product.lhs.element.name(), product.rhs.element.name());
    check.require(holds, ELEMENT, format_args!("f8 with f8 or f4 with f4"), got);
    let dst = &product.dst;
    check.require(dst.element.is_in("f32"), ELEMENT, format_args!("{dst} to hold f32"), dst.element.name());
}

fn in_scaling(tile: &Tile) -> bool {
    matches!(tile.space, Space::Scaling | Space::ScaleLeft | Space::ScaleRight)
}

/// Rows and columns, each perhaps known at run time only.
type Extents = (Option<i64>, Option<i64>);

/// A scale tile in scaling, with one scale for each group of valid elements; its shape too, where it is given.
fn scale_tile(check: &mut Check, scale: &Named, of: &Named, shape: Option<Extents>, valid: Extents) {
    check.require(in_scaling(scale), SPACE, format_args!("{scale} in scaling"), scale.space.name());
    if let Some((rows, cols)) = shape {
        let holds = may_equal(Some(scale.rows), rows) && may_equal(Some(scale.cols), cols);
        let expected =
            format_args!("{scale} of shape {}x{}, one scale for {GROUP} elements of {of}", Extent(rows), Extent(cols));
        check.require(holds, SHAPE, expected, shape_text(scale));
    }
    let (rows, cols) = valid;
    let holds = may_equal(scale.valid_rows, rows) && may_equal(scale.valid_cols, cols);
    let expected = format_args!(
        "{scale} with valid extents {}x{}, one scale for {GROUP} elements of {of}",
        Extent(rows),
        Extent(cols)
    );
    check.require(holds, VALID, expected, valid_text(scale));
}

/// `tget_scale_addr`: the scales of a left or right tile, as many along K as it has groups of valid elements.
pub fn tget_scale_addr(check: &mut Check) {
    let (Some(src), Some(dst)) = (check.tile("src"), check.tile("dst")) else { return };
    let holds = matches!(src.space, Space::Left | Space::Right);
    check.require(holds, SPACE, format_args!("{src} in left or right"), src.space.name());
    let (shape, valid) = match src.space {
        Space::Left => {
            let along = groups(src.valid_cols);
            ((Some(src.rows), along), (src.valid_rows, along))
        }
        _ => {
            let along = groups(src.valid_rows);
            ((along, Some(src.cols)), (along, src.valid_cols))
        }
    };
    scale_tile(check, &dst, &src, Some(shape), valid);
}
