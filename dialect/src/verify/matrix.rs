//! Matrix products without scales.

use super::{
    check::{Check, Extent, Named, may_equal, shape_text},
    codes::{ELEMENT, IDENTITY, SHAPE, SPACE, VALID},
};
use crate::tile::Space;
use melior::ir::ValueLike;

/// The operands of a product: left, right, and what receives the sum.
pub struct Product<'c, 'a> {
    /// In left.
    pub lhs: Named<'c, 'a>,
    /// In right.
    pub rhs: Named<'c, 'a>,
    /// In acc.
    pub dst: Named<'c, 'a>,
}

impl<'c, 'a> Product<'c, 'a> {
    /// The operands by either pair of names.
    pub fn of(check: &Check<'c, 'a>) -> Option<Self> {
        Some(Self {
            lhs: check.tile("lhs").or_else(|| check.tile("a"))?,
            rhs: check.tile("rhs").or_else(|| check.tile("b"))?,
            dst: check.tile("dst")?,
        })
    }

    /// Each operand stands in its memory.
    pub fn spaces(&self, check: &mut Check) {
        for (tile, space) in [(&self.lhs, Space::Left), (&self.rhs, Space::Right), (&self.dst, Space::Acc)] {
            check.require(tile.space == space, SPACE, format_args!("{tile} in {}", space.name()), tile.space.name());
        }
    }

    /// MxK, KxN, MxN, physically or in what is valid.
    pub fn shapes(&self, check: &mut Check) {
        let Self { lhs, rhs, dst } = self;
        let agree = |a: i64, valid_a, b: i64, valid_b| a == b || may_equal(valid_a, valid_b);
        let holds = agree(lhs.rows, lhs.valid_rows, dst.rows, dst.valid_rows);
        check.require(holds, SHAPE, format_args!("{dst} of {} rows as {lhs} is", lhs.rows), shape_text(dst));
        let holds = agree(rhs.cols, rhs.valid_cols, dst.cols, dst.valid_cols);
        check.require(holds, SHAPE, format_args!("{dst} of {} columns as {rhs} is", rhs.cols), shape_text(dst));
        let holds = agree(lhs.cols, lhs.valid_cols, rhs.rows, rhs.valid_rows);
        check.require(holds, SHAPE, format_args!("{rhs} of {} rows, the columns of {lhs}", lhs.cols), shape_text(rhs));
    }

    /// Valid extents 1xK, KxN, 1xN.
    pub fn vector_extents(&self, check: &mut Check) {
        let Self { lhs, rhs, dst } = self;
        for tile in [lhs, dst] {
            let holds = may_equal(tile.valid_rows, Some(1));
            check.require(holds, VALID, format_args!("{tile} with 1 valid row"), Extent(tile.valid_rows));
        }
        let expected = format_args!("{rhs} with as many valid rows as {lhs} has columns, {}", Extent(lhs.valid_cols));
        check.require(may_equal(lhs.valid_cols, rhs.valid_rows), VALID, expected, Extent(rhs.valid_rows));
        let expected = format_args!("{dst} with {} valid columns as {rhs} has", Extent(rhs.valid_cols));
        check.require(may_equal(rhs.valid_cols, dst.valid_cols), VALID, expected, Extent(dst.valid_cols));
    }
}

/// `tmatmul` and its forms with an accumulator or a bias.
pub fn tmatmul(check: &mut Check) {
    if let Some(product) = Product::of(check) {
        product.spaces(check);
        product.shapes(check);
    }
}

/// `tgemv`: the left operand is one row.
pub fn tgemv(check: &mut Check) {
    if let Some(product) = Product::of(check) {
        product.spaces(check);
        product.vector_extents(check);
    }
}

/// One row of bias, of dst's element type.
pub fn bias(check: &mut Check) {
    let (Some(bias), Some(dst)) = (check.tile("bias"), check.tile("dst")) else { return };
    check.require(bias.space == Space::Bias, SPACE, format_args!("{bias} in bias"), bias.space.name());
    check.require(bias.rows == 1, SHAPE, format_args!("{bias} of 1 row"), bias.rows);
    let expected = format_args!("{bias} to hold {} as {dst} does", dst.element.name());
    check.require(bias.element == dst.element, ELEMENT, expected, bias.element.name());
}

/// The accumulator that comes in and dst are one storage, hence of one type.
pub fn acc_in_place(check: &mut Check) {
    let (Some(acc), Some(dst)) = (check.tile("acc_in").or_else(|| check.tile("c_in")), check.tile("dst")) else {
        return;
    };
    let (from, to) = (acc.value.r#type(), dst.value.r#type());
    check.require(from == to, IDENTITY, format_args!("{acc} of the type {to} of {dst}"), from);
}
