//! Two tiles of which only a part is valid.

use super::{
    check::{Check, may_equal, may_fit, same_scalar, shape_text, valid_text},
    codes::{ELEMENT, SHAPE, VALID},
};

/// Neither source is valid where dst is not.
pub fn tpart(check: &mut Check) {
    let Some(dst) = check.tile("dst") else { return };
    for operand in ["src0", "src1"] {
        let Some(src) = check.tile(operand) else { continue };
        let holds = may_fit(src.valid_rows, dst.valid_rows) && may_fit(src.valid_cols, dst.valid_cols);
        let expected = format_args!("{src} with at most the valid extents {} of {dst}", valid_text(&dst));
        check.require(holds, VALID, expected, valid_text(&src));
    }
}

/// Each index tile is like its data tile; one element type of 32-bit (or 16-bit) integers.
pub fn tpart_arg(check: &mut Check) {
    let pairs = [("dst", "dstIdx"), ("src0", "src0Idx"), ("src1", "src1Idx")];
    let reference = check.tile("dstIdx");
    for (data, index) in pairs {
        let (Some(data), Some(index)) = (check.tile(data), check.tile(index)) else { continue };
        let holds = index.element.is_in(if data.element.bytes() == 2 { "i16 i32" } else { "i32" });
        let same = reference.is_none_or(|r| same_scalar(r.element, index.element));
        check.require(
            holds && same,
            ELEMENT,
            format_args!("{index} to hold i32 or ui32 as the others do"),
            index.element.name(),
        );
        let holds = (data.rows, data.cols) == (index.rows, index.cols);
        check.require(
            holds,
            SHAPE,
            format_args!("{index} of shape {} as {data} is", shape_text(&data)),
            shape_text(&index),
        );
        let holds = may_equal(data.valid_rows, index.valid_rows) && may_equal(data.valid_cols, index.valid_cols);
        let expected = format_args!("{index} with valid extents {} as {data} has", valid_text(&data));
        check.require(holds, VALID, expected, valid_text(&index));
    }
}
