//! Element-wise instructions on vector tiles: tile with tile, unary, tile with scalar.
//!
//! Floats are computed in `f64` and rounded once by the write, which for `+ - * /` and square root on types of at
//! most 32 bits is the correctly rounded result. Integers are computed in `i64` and wrap.

use super::{Ctx, Done, Op, vector};

/// The instructions.
pub const OPS: &[Op] = &[
    vector("TADD", |c| binary(c, |a, b| a + b, i64::wrapping_add)),
    vector("TSUB", |c| binary(c, |a, b| a - b, i64::wrapping_sub)),
    vector("TMUL", |c| binary(c, |a, b| a * b, i64::wrapping_mul)),
    vector("TABS", |c| unary(c, f64::abs, i64::wrapping_abs)),
];

/// dst = f(src0, src1) over the valid part of dst.
fn binary(ctx: &mut Ctx, float: impl Fn(f64, f64) -> f64, integer: impl Fn(i64, i64) -> i64) -> Done {
    let (dst, a, b) = (ctx.tile(0)?, ctx.tile(1)?, ctx.tile(2)?);
    let window = dst.valid();
    if dst.element.is_float() {
        let (mut x, y) = (ctx.read_window::<f64>(a, window, a.element)?, ctx.read_window::<f64>(b, window, b.element)?);
        x.iter_mut().zip(&y).for_each(|(x, &y)| *x = float(*x, y));
        ctx.write(dst, &x)
    } else {
        let (mut x, y) = (ctx.read_window::<i64>(a, window, a.element)?, ctx.read_window::<i64>(b, window, b.element)?);
        x.iter_mut().zip(&y).for_each(|(x, &y)| *x = integer(*x, y));
        ctx.write(dst, &x)
    }
}

/// dst = f(src) over the valid part of dst.
fn unary(ctx: &mut Ctx, float: impl Fn(f64) -> f64, integer: impl Fn(i64) -> i64) -> Done {
    let (dst, src) = (ctx.tile(0)?, ctx.tile(1)?);
    let window = dst.valid();
    if dst.element.is_float() {
        let mut x = ctx.read_window::<f64>(src, window, src.element)?;
        x.iter_mut().for_each(|x| *x = float(*x));
        ctx.write(dst, &x)
    } else {
        let mut x = ctx.read_window::<i64>(src, window, src.element)?;
        x.iter_mut().for_each(|x| *x = integer(*x));
        ctx.write(dst, &x)
    }
}
