//! Element by element: tiles with scalars, comparison, selection.

use super::{
    check::{Check, Named, may_equal, same_scalar, shape_text, valid_text},
    codes::{ELEMENT, FORM, LAYOUT, SHAPE, SPACE, VALID, VALUE},
};
use crate::{
    element::Element,
    tile::{BLayout, Space, Tile},
};

/// A scalar operand has the element type of dst (`trems`, `tfmods`, `tpows`); operations without one pass.
pub fn scalar_is_element(check: &mut Check) {
    if let Some(dst) = check.tile("dst") {
        scalar_matches(check, "scalar", &dst);
    }
}

/// The scalar has the tile's element type; integers may differ in signedness.
pub fn scalar_matches(check: &mut Check, operand: &str, tile: &Named) {
    let Some(scalar) = check.scalar(operand) else { return };
    let expected = format_args!("{operand} of type {} as {tile} holds", tile.element.name());
    check.require(same_scalar(scalar, tile.element), ELEMENT, expected, scalar.name());
}

/// `tdivs`: one tile and one scalar, in either order.
pub fn tdivs(check: &mut Check) {
    let values = ["src", "scalar"].map(|operand| check.op.operand(operand));
    let tiles = values.into_iter().flatten().filter(|value| Tile::of_value(*value).is_some()).count();
    check.require(tiles == 1, FORM, format_args!("one tile and one scalar"), format_args!("{tiles} tiles"));
}

/// `tshls`, `tshrs`: not by a negative number of bits.
pub fn tshifts(check: &mut Check) {
    if let Some(bits) = check.constant("scalar") {
        check.require(bits >= 0, VALUE, format_args!("a shift of at least 0 bits"), bits);
    }
}

/// `taxpy`: the scalar of src's type; dst the same, or f32 over f16.
pub fn taxpy(check: &mut Check) {
    let (Some(src), Some(dst)) = (check.tile("src"), check.tile("dst")) else { return };
    scalar_matches(check, "scalar", &src);
    let widening = (src.element, dst.element) == (Element::F16, Element::F32);
    let expected = format_args!("{dst} to hold {} as {src} does", src.element.name());
    check.require(src.element == dst.element || widening, ELEMENT, expected, dst.element.name());
    same_shape(check, &dst, &src);
}

/// The physical shapes are equal.
pub fn same_shape(check: &mut Check, tile: &Named, reference: &Named) {
    let holds = (tile.rows, tile.cols) == (reference.rows, reference.cols);
    check.require(
        holds,
        SHAPE,
        format_args!("{tile} of shape {} as {reference} is", shape_text(reference)),
        shape_text(tile),
    );
}

/// `texpands`: into vec or mat.
pub fn texpands(check: &mut Check) {
    let Some(dst) = check.tile("dst") else { return };
    let holds = matches!(dst.space, Space::Vec | Space::Mat);
    check.require(holds, SPACE, format_args!("{dst} in vec or mat"), dst.space.name());
    scalar_matches(check, "scalar", &dst);
}

/// `tcmp`, `tcmps`: equal operands, and a mask of bytes with a row for each row.
pub fn tcmp(check: &mut Check) {
    let Some(src) = check.tile("src0").or_else(|| check.tile("src")) else { return };
    if let Some(other) = check.tile("src1") {
        let expected = format_args!("{other} to hold {} as {src} does", src.element.name());
        check.require(other.element == src.element, ELEMENT, expected, other.element.name());
        let holds = may_equal(other.valid_rows, src.valid_rows) && may_equal(other.valid_cols, src.valid_cols);
        let expected = format_args!("{other} with valid extents {} as {src} has", valid_text(&src));
        check.require(holds, VALID, expected, valid_text(&other));
    }
    let Some(dst) = check.tile("dst") else { return };
    check.require(dst.element.is_in("i8"), ELEMENT, format_args!("{dst} to hold i8 or ui8"), dst.element.name());
    let holds = may_equal(src.valid_rows, dst.valid_rows);
    check.require(holds, VALID, format_args!("{dst} with as many valid rows as {src}"), valid_text(&dst));
}

/// `tsel`, `tsels`: what is selected has dst's element type, and rows.
pub fn tsel(check: &mut Check) {
    let Some(dst) = check.tile("dst") else { return };
    for tile in ["src0", "src1", "src", "dst"].into_iter().filter_map(|operand| check.tile(operand)).collect::<Vec<_>>()
    {
        let expected = format_args!("{tile} to hold {} as {dst} does", dst.element.name());
        check.require(tile.element == dst.element, ELEMENT, expected, tile.element.name());
        let rows = tile.blayout == BLayout::RowMajor;
        check.require(rows, LAYOUT, format_args!("{tile} with blayout row_major"), "col_major");
    }
}
