//! Element-wise instructions on vector tiles: unary, tile with tile, tile with scalar, comparison and selection.
//!
//! Floats are computed in `f64` and rounded once by the write, which for `+ - * /` and square root on types of at
//! most 32 bits is the correctly rounded result. Integers are computed in 64 bits and wrap. The valid part of the
//! destination is the domain; sources may be larger.

use std::cell::Cell;
use std::slice;

use super::{Apart, Ctx, Done, Fault, On, Op, Pipe, Rule, illegal, vector};
use crate::Arch;
use crate::npu::abi::{BoxLayout, Compact, Instr, Operand, Site, Slot, Space, Tile};
use crate::npu::element::{Element, Lane};
use crate::npu::layout::Window;

/// The instructions.
pub const OPS: &[Op] = &[
    // dst, src. The vendor's simulator keeps the sign of -0 and NaN in TABS; the device clears it.
    vector("TABS", |c| unary(c, f64::abs, i64::wrapping_abs)),
    vector("TNEG", |c| unary(c, |x| -x, i64::wrapping_neg)),
    vector("TNOT", |c| unary_integer(c, |x| !x)),
    vector("TRELU", |c| unary(c, |x| if x < 0.0 { 0.0 } else { x }, |x| x.max(0))),
    vector("TEXP", |c| transcendental(c, libm::exp)),
    vector("TLOG", |c| unary_float(c, libm::log)),
    vector("TSQRT", |c| unary_float(c, libm::sqrt)),
    vector("TRSQRT", reciprocal_root),
    vector("TRECIP", reciprocal),
    // dst, src0, src1 or scalar
    vector("TADD", add),
    vector("TADDS", add),
    vector("TSUB", subtract),
    vector("TSUBS", subtract),
    vector("TMUL", multiply),
    vector("TMULS", multiply),
    vector("TDIV", quotient),
    vector("TDIVS", quotient),
    vector("TMAX", maximum),
    vector("TMAXS", maximum),
    vector("TMIN", minimum),
    vector("TMINS", minimum),
    vector("TAND", |c| bitwise(c, |a, b| a & b)),
    vector("TANDS", |c| bitwise(c, |a, b| a & b)),
    vector("TOR", |c| bitwise(c, |a, b| a | b)),
    vector("TORS", |c| bitwise(c, |a, b| a | b)),
    vector("TSHL", shift_left),
    vector("TSHLS", shift_left),
    vector("TSHR", shift_right),
    vector("TSHRS", shift_right),
    vector("TLRELU", |c| binary_float(c, leaky)),
    vector("TSUBRELU", |c| binary_float(c, |a, b| positive(a - b))),
    vector("TFMOD", |c| remainder(c, false)),
    vector("TFMODS", |c| remainder(c, false)),
    // dst, src0, src1 or scalar, tmp
    vector("TXOR", |c| bitwise(c, |a, b| a ^ b)),
    vector("TXORS", |c| bitwise(c, |a, b| a ^ b)),
    vector("TPRELU", |c| binary_float(c, leaky)),
    vector("TREM", |c| remainder(c, true)),
    vector("TREMS", |c| remainder(c, true)),
    vector("TPOW", power),
    vector("TPOWS", power),
    // dst, src0, src1 or scalar; dst is a source too. What is rounded between is as in the vendor's simulator.
    vector("TFUSEDMULADD", |c| accumulate(c, |_, dst, a, b| single(single(a * dst) + b))),
    vector("TFUSEDMULADDRELU", |c| accumulate(c, |e, dst, a, b| positive(e.round(e.round(a * dst) + b)))),
    vector("TMULADDDST", |c| accumulate(c, |e, dst, a, b| e.round(a * b) + dst)),
    vector("TAXPY", |c| accumulate(c, |e, dst, a, b| e.round(a * b) + dst)),
    vector("TPAIRREDUCESUM", add_pairs),
    // masks, fills
    vector("TCMP", |c| compare(c, false)),
    vector("TCMPS", |c| compare(c, true)),
    vector("TSEL", select),
    vector("TSELS", select_scalar),
    Op { name: "TEXPANDS", on: On::By(fill_pipe), run: fill },
];

/// Those of A3 are its scratch tiles, and instructions that it splits into several which use the destination as
/// scratch.
pub const APART: &[Apart] = &[
    ("TANDS", &[(0, 1)], true),
    ("TORS", &[(0, 1)], true),
    ("TRECIP", &[(0, 1)], true),
    // Scalar by tile; in the other form operand 2 is no tile.
    ("TDIVS", &[(0, 2)], true),
    ("TXOR", &[(0, 1), (0, 2), (0, 3), (1, 3), (2, 3)], true),
    ("TXORS", &[(0, 1), (0, 3), (1, 3)], true),
    ("TPRELU", &[(0, 1), (0, 2), (0, 3), (1, 3), (2, 3)], true),
    ("TREM", &[(0, 1), (0, 2), (0, 3), (1, 3), (2, 3)], true),
    ("TREMS", &[(0, 1), (0, 3), (1, 3)], true),
    ("TFMOD", &[(0, 1), (0, 2)], true),
    ("TFMODS", &[(0, 1)], true),
    ("TSEL", &[(0, 1)], false),
    ("TSEL", &[(0, 4), (1, 4), (2, 4), (3, 4)], true),
    ("TSELS", &[(0, 1)], false),
    ("TSELS", &[(0, 3), (1, 3), (2, 3)], true),
];

/// The value where it is positive, else 0 (for NaN too).
fn positive(value: f64) -> f64 {
    if value > 0.0 { value } else { 0.0 }
}

/// Rounded to `f32`.
fn single(value: f64) -> f64 {
    f64::from(value as f32)
}

/// Operand `index`, a tile of this element type that covers the valid part of `dst`. Where less of it is valid, the
/// device goes on with what lies there.
pub(super) fn like<'m>(ctx: &mut Ctx<'m>, dst: &Tile, index: usize, element: Element) -> Result<&'m Tile, Fault> {
    let tile = ctx.tile(index)?;
    let name = ctx.instr.name;
    if tile.element != element {
        let (found, wanted) = (tile.element.name(), element.name());
        return Err(illegal(format!("{name}: operand {index} must hold {wanted}, found {found}")));
    }
    if tile.valid_rows < dst.valid_rows || tile.valid_cols < dst.valid_cols {
        ctx.report(Rule::Illegal, tile.site, |_| {
            format!(
                "{name}: {} x {} of operand {index} are valid, {} x {} are needed",
                tile.valid_rows, tile.valid_cols, dst.valid_rows, dst.valid_cols
            )
        });
    }
    Ok(tile)
}

/// Checks that an instruction has a meaning for the element type of a tile.
pub(super) fn holds(ctx: &Ctx, tile: &Tile, fits: bool, wanted: &str) -> Done {
    match fits {
        true => Ok(()),
        false => {
            Err(illegal(format!("{}: operands must hold {wanted}, found {}", ctx.instr.name, tile.element.name())))
        }
    }
}

/// Checks that part of a tile lies in the tile and in its memory, for what is made before it is written.
pub(super) fn room(ctx: &Ctx, tile: &Tile, window: Window) -> Result<usize, Fault> {
    let inside = window.row + window.rows <= tile.rows && window.col + window.cols <= tile.cols;
    let capacity = ctx.spaces.size(tile.space) * 8 / tile.element.bits();
    match window.rows.checked_mul(window.cols) {
        Some(count) if inside && count <= capacity => Ok(count),
        _ => Err(Fault {
            rule: Rule::OutsideSpace,
            message: format!(
                "{} writes {} x {} elements of a tile of {} x {}",
                ctx.instr.name, window.rows, window.cols, tile.rows, tile.cols
            ),
        }),
    }
}

/// Operand `index` if it is a scratch tile: on A3 its contents are lost; other targets do not touch it.
pub(super) fn scratch(ctx: &mut Ctx, index: usize) -> Done {
    match ctx.tile_if(index) {
        Some(tile) if ctx.arch == Arch::A3 => ctx.clobber(tile),
        _ => Ok(()),
    }
}

/// Whether an enumerator of `kind` asks for high precision, which A3 ignores.
fn precise(ctx: &Ctx, kinds: &[&str]) -> bool {
    ctx.arch != Arch::A3 && kinds.iter().any(|k| ctx.flag(k) == Some(1))
}

/// Elements of a tile over the valid part of the destination, or a scalar.
enum Source<L> {
    Many(Vec<L>),
    One(L),
}

/// A lane that scalars convert to.
trait Scalar: Lane {
    fn scalar(ctx: &Ctx, index: usize) -> Result<Self, Fault>;
}

impl Scalar for f64 {
    fn scalar(ctx: &Ctx, index: usize) -> Result<f64, Fault> {
        ctx.float(index)
    }
}

impl Scalar for f32 {
    fn scalar(ctx: &Ctx, index: usize) -> Result<f32, Fault> {
        ctx.float(index).map(|value| value as f32)
    }
}

impl Scalar for i64 {
    fn scalar(ctx: &Ctx, index: usize) -> Result<i64, Fault> {
        ctx.int(index)
    }
}

/// Operand `index`, a tile like the destination or a scalar.
fn source<L: Scalar>(ctx: &mut Ctx, dst: &Tile, index: usize) -> Result<Source<L>, Fault> {
    if ctx.tile_if(index).is_none() {
        return L::scalar(ctx, index).map(Source::One);
    }
    let tile = like(ctx, dst, index, dst.element)?;
    ctx.read_window(tile, dst.valid(), tile.element).map(Source::Many)
}

/// `f` of each element of operand 1.
fn map<L: Lane>(ctx: &mut Ctx, dst: &Tile, f: impl Fn(L) -> L) -> Result<Vec<L>, Fault> {
    let src = like(ctx, dst, 1, dst.element)?;
    let mut x = ctx.read_window::<L>(src, dst.valid(), src.element)?;
    x.iter_mut().for_each(|x| *x = f(*x));
    Ok(x)
}

/// `f` of each element of operands 1 and 2, of which one may be a scalar.
fn zip<L: Scalar>(ctx: &mut Ctx, dst: &Tile, f: impl Fn(L, L) -> L) -> Result<Vec<L>, Fault> {
    Ok(match (source::<L>(ctx, dst, 1)?, source::<L>(ctx, dst, 2)?) {
        (Source::Many(mut x), Source::Many(y)) => {
            x.iter_mut().zip(&y).for_each(|(x, &y)| *x = f(*x, y));
            x
        }
        (Source::Many(mut x), Source::One(y)) => {
            x.iter_mut().for_each(|x| *x = f(*x, y));
            x
        }
        (Source::One(x), Source::Many(mut y)) => {
            y.iter_mut().for_each(|y| *y = f(x, *y));
            y
        }
        (Source::One(_), Source::One(_)) => {
            return Err(illegal(format!("{}: one of operands 1 and 2 must be a tile", ctx.instr.name)));
        }
    })
}

/// dst = f(src).
fn unary(ctx: &mut Ctx, float: impl Fn(f64) -> f64, integer: impl Fn(i64) -> i64) -> Done {
    match ctx.tile(0)?.element.is_float() {
        true => unary_float(ctx, float),
        false => unary_integer(ctx, integer),
    }
}

/// dst = f(src), for floats.
fn unary_float(ctx: &mut Ctx, f: impl Fn(f64) -> f64) -> Done {
    let dst = ctx.tile(0)?;
    holds(ctx, dst, dst.element.is_float(), "floats")?;
    if dst.element == Element::F32 {
        // Narrow lanes, the same numbers.
        let x = map(ctx, dst, |x: f32| f(f64::from(x)) as f32)?;
        return ctx.write(dst, &x);
    }
    let x = map(ctx, dst, f)?;
    ctx.write(dst, &x)
}

/// dst = f(src), for integers.
fn unary_integer(ctx: &mut Ctx, f: impl Fn(i64) -> i64) -> Done {
    let dst = ctx.tile(0)?;
    holds(ctx, dst, !dst.element.is_float(), "integers")?;
    let x = map(ctx, dst, f)?;
    ctx.write(dst, &x)
}

/// dst = f(src) through `f32` for `f16`, as the vendor's simulator computes it.
fn transcendental(ctx: &mut Ctx, f: impl Fn(f64) -> f64) -> Done {
    match ctx.tile(0)?.element {
        Element::F16 => unary_float(ctx, |x| single(f(x))),
        _ => unary_float(ctx, f),
    }
}

/// dst = 1 / sqrt(src). A5, and the form with a scratch tile, round the root first; the other instruction of A3 is an
/// approximation, here rounded once as in the vendor's simulator.
fn reciprocal_root(ctx: &mut Ctx) -> Done {
    let dst = ctx.tile(0)?;
    holds(ctx, dst, dst.element.is_float(), "floats")?;
    let element = dst.element;
    let x = match ctx.arch == Arch::A3 && ctx.tile_if(2).is_none() {
        true => map(ctx, dst, |x: f64| 1.0 / libm::sqrt(x))?,
        false => map(ctx, dst, |x: f64| 1.0 / element.round(libm::sqrt(x)))?,
    };
    scratch(ctx, 2)?;
    ctx.write(dst, &x)
}

/// dst = f(src0, src1 or scalar); the scratch tile, if any, is operand 3.
fn binary(
    ctx: &mut Ctx,
    float: impl Fn(f64, f64) -> f64,
    signed: impl Fn(i64, i64) -> i64,
    unsigned: impl Fn(u64, u64) -> u64,
) -> Done {
    let dst = ctx.tile(0)?;
    if dst.element.is_float() {
        return binary_float(ctx, float);
    }
    let x = match dst.element.is_unsigned() {
        true => zip(ctx, dst, |a: i64, b: i64| unsigned(a as u64, b as u64) as i64)?,
        false => zip(ctx, dst, signed)?,
    };
    scratch(ctx, 3)?;
    ctx.write(dst, &x)
}

/// As [`binary`], for floats.
fn binary_float(ctx: &mut Ctx, f: impl Fn(f64, f64) -> f64) -> Done {
    let dst = ctx.tile(0)?;
    holds(ctx, dst, dst.element.is_float(), "floats")?;
    if dst.element == Element::F32 {
        // Narrow lanes, the same numbers.
        let x = zip(ctx, dst, |a: f32, b: f32| f(f64::from(a), f64::from(b)) as f32)?;
        scratch(ctx, 3)?;
        return ctx.write(dst, &x);
    }
    let x = zip(ctx, dst, f)?;
    scratch(ctx, 3)?;
    ctx.write(dst, &x)
}

/// As [`binary`], for integers, bit by bit.
fn bitwise(ctx: &mut Ctx, f: impl Fn(i64, i64) -> i64) -> Done {
    let dst = ctx.tile(0)?;
    holds(ctx, dst, !dst.element.is_float(), "integers")?;
    binary(ctx, |a, _| a, &f, |a, b| f(a as i64, b as i64) as u64)
}

fn add(ctx: &mut Ctx) -> Done {
    binary(ctx, |a, b| a + b, i64::wrapping_add, u64::wrapping_add)
}

fn subtract(ctx: &mut Ctx) -> Done {
    binary(ctx, |a, b| a - b, i64::wrapping_sub, u64::wrapping_sub)
}

fn multiply(ctx: &mut Ctx) -> Done {
    binary(ctx, |a, b| a * b, i64::wrapping_mul, u64::wrapping_mul)
}

fn maximum(ctx: &mut Ctx) -> Done {
    binary(ctx, greater, i64::max, u64::max)
}

fn minimum(ctx: &mut Ctx) -> Done {
    binary(ctx, lesser, i64::min, u64::min)
}

/// The greater; the first when they are equal or one is NaN, as in the vendor's simulator.
pub(super) fn greater(a: f64, b: f64) -> f64 {
    if a < b { b } else { a }
}

/// The lesser, as [`greater`].
pub(super) fn lesser(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

/// x where it is positive, else its product with `slope`.
fn leaky(x: f64, slope: f64) -> f64 {
    if x > 0.0 { x } else { x * slope }
}

/// Runs `body` with a division of integers that gives 0 for a divisor of 0, as the 64-bit division of A5 does, and
/// reports such divisors.
pub(super) fn dividing(
    ctx: &mut Ctx,
    body: impl FnOnce(&mut Ctx, &dyn Fn(i64, i64) -> i64, &dyn Fn(u64, u64) -> u64) -> Done,
) -> Done {
    let zero = Cell::new(false);
    let signed = |a: i64, b: i64| match b {
        0 => {
            zero.set(true);
            0
        }
        _ => a.wrapping_div(b),
    };
    let unsigned = |a: u64, b: u64| {
        zero.set(zero.get() || b == 0);
        a.checked_div(b).unwrap_or(0)
    };
    body(ctx, &signed, &unsigned)?;
    if zero.get() {
        ctx.report(Rule::Illegal, Site::NONE, |c| format!("{} divides an integer by zero", c.instr.name));
    }
    Ok(())
}

/// dst = src0 / src1, of which one may be a scalar.
fn quotient(ctx: &mut Ctx) -> Done {
    // A3 divides a tile in place by a scalar by multiplying with the rounded reciprocal; the simulator divides.
    let dst = ctx.tile(0)?;
    let in_place = ctx.tile_if(1).is_some_and(|src| src.address == dst.address) && ctx.tile_if(2).is_none();
    if ctx.arch == Arch::A3 && dst.element.is_float() && in_place {
        let factor = dst.element.round(single(1.0 / ctx.float(2)?));
        return binary_float(ctx, |a, _| a * factor);
    }
    dividing(ctx, |ctx, signed, unsigned| binary(ctx, |a, b| a / b, signed, unsigned))
}

/// dst = 1 / src.
fn reciprocal(ctx: &mut Ctx) -> Done {
    let unsigned = ctx.tile(0)?.element.is_unsigned();
    dividing(ctx, |ctx, by, by_unsigned| match unsigned {
        true => unary(ctx, |x| 1.0 / x, |x| by_unsigned(1, x as u64) as i64),
        false => unary(ctx, |x| 1.0 / x, |x| by(1, x)),
    })
}

/// dst = src0 << src1. All bits leave when the count, as an unsigned number, is at least their number.
fn shift_left(ctx: &mut Ctx) -> Done {
    let bits = ctx.tile(0)?.element.bits() as u64;
    bitwise(ctx, |a, n| if (n as u64) < bits { a << n } else { 0 })
}

/// dst = src0 >> src1, with copies of the sign for signed types.
fn shift_right(ctx: &mut Ctx) -> Done {
    let dst = ctx.tile(0)?;
    holds(ctx, dst, !dst.element.is_float(), "integers")?;
    let bits = dst.element.bits() as u64;
    let signed = |a: i64, n: i64| a >> (n as u64).min(63);
    binary(ctx, |a, _| a, signed, |a, n| if n < bits { a >> n } else { 0 })
}

/// dst = base ^ exponent.
fn power(ctx: &mut Ctx) -> Done {
    let dst = ctx.tile(0)?;
    if !dst.element.is_float() {
        // No scratch: A3 computes integers one by one.
        let x = match dst.element.is_unsigned() {
            true => zip(ctx, dst, |a: i64, n: i64| power_of(a, n as u64))?,
            false => zip(ctx, dst, |a: i64, n: i64| match (a, u64::try_from(n)) {
                (_, Ok(n)) => power_of(a, n),
                (1, _) => 1,
                (-1, _) => 1 - 2 * (n & 1),
                _ => 0,
            })?,
        };
        return ctx.write(dst, &x);
    }
    if ctx.arch == Arch::A3 {
        // Special cases are mended last, from the base and the exponent, which must still be there.
        for index in [1, 2] {
            let Some(tile) = ctx.tile_if(index) else { continue };
            if dst.space == tile.space && dst.region(dst.valid()).overlaps(&tile.region(tile.valid())) {
                let message = format!("{}: dst and operand {index} may not share bytes for floats", ctx.instr.name);
                ctx.report(Rule::InPlace, tile.site, |_| message);
            }
        }
    }
    match dst.element {
        Element::F16 => binary_float(ctx, |a, b| single(libm::pow(a, b))),
        _ => binary_float(ctx, libm::pow),
    }
}

/// `base` to a power, wrapping.
fn power_of(mut base: i64, mut exponent: u64) -> i64 {
    let mut result = 1i64;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    result
}

/// dst = src0 - src1 * q, where q is src0 / src1 rounded down (`floored`) or toward 0.
///
/// Every target computes it so, each step rounded; the vendor's simulator has the exact remainder. A floored remainder
/// whose sign is not the divisor's gets the divisor added, but for A5 with a scalar.
fn remainder(ctx: &mut Ctx, floored: bool) -> Done {
    let dst = ctx.tile(0)?;
    let element = dst.element;
    if element == Element::I32 && floored && ctx.arch == Arch::A3 {
        return remainder_through_floats(ctx, dst);
    }
    let exact =
        element == Element::F32 && precise(ctx, &["RemAlgorithm", "RemSAlgorithm", "FmodAlgorithm", "FmodSAlgorithm"]);
    let mend = floored && (exact || ctx.arch == Arch::A3 || ctx.tile_if(2).is_some());
    let whole = if floored { f64::floor } else { f64::trunc };
    let float = |a: f64, b: f64| {
        let rest = match exact {
            true => libm::fmod(a, b),
            false => element.round(single(a - single(whole(single(a / b)) * b))),
        };
        match mend && element.round(rest * b) < 0.0 && b.is_finite() {
            true => rest + b,
            false => rest,
        }
    };
    dividing(ctx, |ctx, by, by_unsigned| {
        let signed = |a: i64, b: i64| {
            let rest = a.wrapping_sub(by(a, b).wrapping_mul(b));
            if floored && rest != 0 && (rest < 0) != (b < 0) { rest.wrapping_add(b) } else { rest }
        };
        binary(ctx, float, signed, |a, b| a.wrapping_sub(by_unsigned(a, b).wrapping_mul(b)))
    })
}

/// The floored remainder of `i32` on A3, which goes through `f32` in place: what is left in the sources is the
/// dividend as `f32` has it, and the divisor as the bits of an `f32`.
fn remainder_through_floats(ctx: &mut Ctx, dst: &Tile) -> Done {
    let window = dst.valid();
    let src = like(ctx, dst, 1, Element::I32)?;
    let mut a = ctx.read_window::<i64>(src, window, Element::I32)?;
    let (mut b, divisor) = match source::<i64>(ctx, dst, 2)? {
        Source::Many(b) => (b, Some(ctx.tile(2)?)),
        Source::One(b) => (vec![b; a.len()], None),
    };
    let float = |x: i64| single(x as f64);
    let integer = |x: f64| Element::I32.saturate(x as i64);
    let mut rests = Vec::with_capacity(a.len());
    for (a, b) in a.iter_mut().zip(&mut b) {
        let quotient = integer(single(float(*a) / float(*b)).floor());
        *a = integer(float(*a));
        if divisor.is_some() {
            *b = integer(float(*b));
        }
        let rest = float(Element::I32.wrap(*a - quotient.wrapping_mul(*b)));
        let mended = if single(rest * float(*b)) < 0.0 { single(rest + float(*b)) } else { rest };
        rests.push(integer(mended));
    }
    ctx.write_window(src, window, Element::I32, &a)?;
    if let Some(divisor) = divisor {
        ctx.write_window(divisor, window, Element::F32, &b)?;
    }
    scratch(ctx, 3)?;
    ctx.write(dst, &rests)
}

/// dst = f(element type, dst, src0, src1 or scalar), for floats. Sources may be narrower than the destination: the
/// device widens them first, where the vendor's simulator rounds their product to the narrow type.
fn accumulate(ctx: &mut Ctx, f: impl Fn(Element, f64, f64, f64) -> f64) -> Done {
    let dst = ctx.tile(0)?;
    let (element, window) = (dst.element, dst.valid());
    holds(ctx, dst, element.is_float(), "floats")?;
    let mixed = (element, ctx.tile(1)?.element) == (Element::F32, Element::F16) && ctx.instr.name == "TAXPY";
    let src = like(ctx, dst, 1, if mixed { Element::F16 } else { element })?;
    let mut sum = ctx.read::<f64>(dst)?;
    let x = ctx.read_window::<f64>(src, window, src.element)?;
    match source::<f64>(ctx, dst, 2)? {
        Source::Many(y) => sum.iter_mut().zip(&x).zip(&y).for_each(|((d, &x), &y)| *d = f(element, *d, x, y)),
        Source::One(y) => sum.iter_mut().zip(&x).for_each(|(d, &x)| *d = f(element, *d, x, y)),
    }
    ctx.write(dst, &sum)
}

/// dst[r][c] = src[r][2c] + src[r][2c + 1]. Only that half of the destination is written, and the last of an odd
/// number of columns is left out; the vendor's simulator copies that one and clears the rest.
fn add_pairs(ctx: &mut Ctx) -> Done {
    let dst = ctx.tile(0)?;
    holds(ctx, dst, dst.element.is_float(), "floats")?;
    let src = like(ctx, dst, 1, dst.element)?;
    let half = Window { cols: dst.valid_cols / 2, ..dst.valid() };
    let x = ctx.read_window::<f64>(src, Window { cols: 2 * half.cols, ..half }, src.element)?;
    let sums: Vec<f64> = x.chunks_exact(2).map(|pair| pair[0] + pair[1]).collect();
    ctx.write_window(dst, half, dst.element, &sums)
}

/// A row-major tile as bytes, for masks: bit `c % 8` of byte `c / 8` of a row is that of column `c`.
fn mask_bytes(ctx: &Ctx, tile: &Tile) -> Result<Tile, Fault> {
    if tile.box_layout != BoxLayout::None || !tile.row_major || tile.element.bits() < 8 {
        return Err(illegal(format!("{}: a mask must be an unboxed row-major tile of whole bytes", ctx.instr.name)));
    }
    Ok(Tile { element: Element::U8, cols: tile.cols * tile.element.storage_bytes(), ..tile.clone() })
}

/// Bytes that a comparison writes at once, by bytes of an element: the mask of 256 bytes of elements, and on A5 at
/// least 16 bytes.
fn mask_group(arch: Arch, element: Element) -> usize {
    match (arch, element.storage_bytes()) {
        (Arch::A3, bytes) => 32 / bytes,
        (_, 1 | 8) => 32,
        _ => 16,
    }
}

/// How two elements compare, by `pto::CmpMode`.
fn comparison<T: PartialOrd>(mode: u64) -> Option<fn(&T, &T) -> bool> {
    let modes: [fn(&T, &T) -> bool; 6] = [T::eq, T::ne, T::lt, T::le, T::gt, T::ge];
    modes.get(usize::try_from(mode).ok()?).copied()
}

/// dst = packed mask of src0 `mode` src1, over the valid part of src0. `by_one`: src1 is a scalar, or a tile whose
/// first element is one (64-bit tiles are compared element by element).
///
/// The simulator takes numbers that differ by less than 1e-9 for equal in TCMPS, packs without regard to the row
/// stride of the mask, and clears the rest of it; this is as on the device. Bits past the last column are 0, which on
/// A3 they need not be.
fn compare(ctx: &mut Ctx, by_one: bool) -> Done {
    let (dst, src, name) = (ctx.tile(0)?, ctx.tile(1)?, ctx.instr.name);
    let unknown = || illegal(format!("{name}: no comparison mode"));
    let mode = ctx.flag("CmpMode").ok_or_else(unknown)?;
    let window = src.valid();
    let mask = mask_bytes(ctx, dst)?;
    let needed = window.cols.div_ceil(8);
    if dst.valid_rows != window.rows || mask.cols < needed {
        return Err(illegal(format!(
            "{name}: the mask has {} rows of {} bytes, {} rows of {needed} bytes are needed",
            dst.valid_rows, mask.cols, window.rows
        )));
    }
    let holds = match src.element {
        e if e.is_float() => {
            let holds = comparison::<f64>(mode).ok_or_else(unknown)?;
            comparisons(ctx, src, by_one, |a, b| holds(&a, &b))?
        }
        Element::U64 => {
            let holds = comparison::<u64>(mode).ok_or_else(unknown)?;
            comparisons(ctx, src, by_one, |a: i64, b: i64| holds(&(a as u64), &(b as u64)))?
        }
        Element::I32 if ctx.arch == Arch::A3 && mode > 1 => {
            // EQ and NE are 0 and 1.
            ctx.report(Rule::Illegal, src.site, |_| format!("{name} tests i32 for equality only on this target"));
            comparisons(ctx, src, by_one, |a: i64, b| a == b)?
        }
        Element::I16 | Element::U16 if ctx.arch == Arch::A3 && by_one => {
            let differs = Cell::new(false);
            let (holds, meant) = comparison::<f64>(mode).zip(comparison::<i64>(mode)).ok_or_else(unknown)?;
            let half = |x: i64| half::f16::from_bits(x as u16).to_f64();
            let bits = comparisons(ctx, src, by_one, |a: i64, b: i64| {
                let bit = holds(&half(a), &half(b));
                differs.set(differs.get() || bit != meant(&a, &b));
                bit
            })?;
            if differs.get() {
                let element = src.element.name();
                ctx.report(Rule::Illegal, src.site, |_| {
                    format!("{name} compares {element} as if it were f16 on this target, which changes the result")
                });
            }
            bits
        }
        _ => {
            let holds = comparison::<i64>(mode).ok_or_else(unknown)?;
            comparisons(ctx, src, by_one, |a, b| holds(&a, &b))?
        }
    };
    let width = needed.next_multiple_of(mask_group(ctx.arch, src.element)).min(mask.cols);
    let mut bytes = vec![0i64; window.rows * width];
    if window.cols > 0 {
        for (row, bits) in bytes.chunks_exact_mut(width).zip(holds.chunks_exact(window.cols)) {
            for (byte, bits) in row.iter_mut().zip(bits.chunks(8)) {
                *byte = bits.iter().rev().fold(0, |byte, &bit| byte << 1 | i64::from(bit));
            }
        }
    }
    ctx.write_window(&mask, Window { row: 0, col: 0, rows: window.rows, cols: width }, Element::U8, &bytes)
}

/// Whether `holds` for each element of `src` and what it is compared with.
fn comparisons<L: Scalar>(
    ctx: &mut Ctx,
    src: &Tile,
    by_one: bool,
    holds: impl Fn(L, L) -> bool,
) -> Result<Vec<bool>, Fault> {
    let first = by_one && src.element.bits() < 64 && ctx.tile_if(2).is_some();
    let right = match first {
        true => {
            let one = Tile { valid_rows: 1, valid_cols: 1, ..src.clone() };
            let tile = like(ctx, &one, 2, src.element)?;
            Source::One(ctx.read_window::<L>(tile, one.valid(), tile.element)?[0])
        }
        false => source::<L>(ctx, src, 2)?,
    };
    let left = ctx.read::<L>(src)?;
    Ok(match right {
        Source::Many(right) => left.iter().zip(&right).map(|(&a, &b)| holds(a, b)).collect(),
        Source::One(b) => left.iter().map(|&a| holds(a, b)).collect(),
    })
}

/// dst = mask ? src0 : src1, bit by bit. (The simulator takes the rows of the mask to be as long as its valid part.)
fn select(ctx: &mut Ctx) -> Done {
    let dst = ctx.tile(0)?;
    let other = like(ctx, dst, 3, dst.element)?;
    let otherwise = ctx.read_window(other, dst.valid(), dst.element.raw())?;
    choose(ctx, dst, 2, otherwise, 4)
}

/// dst = mask ? src : scalar, bit by bit.
fn select_scalar(ctx: &mut Ctx) -> Done {
    let dst = ctx.tile(0)?;
    let count = room(ctx, dst, dst.valid())?;
    let otherwise = vec![raw_scalar(ctx, 4, dst.element)?; count];
    choose(ctx, dst, 2, otherwise, 3)
}

/// Writes operand `src` where the mask (operand 1) is set and what is already in `values` elsewhere.
fn choose(ctx: &mut Ctx, dst: &Tile, src: usize, mut values: Vec<i64>, tmp: usize) -> Done {
    let (window, raw) = (dst.valid(), dst.element.raw());
    let src = like(ctx, dst, src, dst.element)?;
    let taken = ctx.read_window::<i64>(src, window, raw)?;
    let mask = mask_bytes(ctx, ctx.tile(1)?)?;
    let width = window.cols.div_ceil(8);
    let bytes = ctx.read_window::<i64>(&mask, Window { cols: width, ..window }, Element::U8)?;
    if window.cols > 0 {
        let rows = values.chunks_exact_mut(window.cols).zip(taken.chunks_exact(window.cols));
        for ((values, taken), bytes) in rows.zip(bytes.chunks_exact(width)) {
            for (c, (value, &taken)) in values.iter_mut().zip(taken).enumerate() {
                if bytes[c / 8] >> (c % 8) & 1 == 1 {
                    *value = taken;
                }
            }
        }
    }
    scratch(ctx, tmp)?;
    ctx.write_window(dst, window, raw, &values)
}

/// Operand `index`, a scalar, as the bits of an element.
fn raw_scalar(ctx: &Ctx, index: usize, element: Element) -> Result<i64, Fault> {
    if !element.is_float() {
        return ctx.int(index);
    }
    let mut bytes = [0; 8];
    element.encode(slice::from_ref(&ctx.float(index)?), &mut bytes, 0, 1);
    Ok(i64::from_le_bytes(bytes))
}

/// Buffers of L1 are filled by the pipe that loads them.
fn fill_pipe(instr: &Instr, _: Arch) -> Pipe {
    match instr.operands.first() {
        Some(Operand::Tile(Tile { space: Space::Mat, .. }) | Operand::Conv(_)) => Pipe::Mte2,
        _ => Pipe::V,
    }
}

/// dst = scalar: the valid part of a vector tile; all of a tile in L1, as on the device.
fn fill(ctx: &mut Ctx) -> Done {
    let flat;
    let (dst, window) = match ctx.operand(0) {
        Operand::Conv(conv) => {
            let count = conv.shape.iter().take(5).try_fold(1usize, |n, &d| n.checked_mul(usize::try_from(d).ok()?));
            let Some(count) = count.filter(|&n| n <= conv.elements) else {
                let (shape, size) = (&conv.shape, conv.elements);
                return Err(illegal(format!("TEXPANDS: shape {shape:?} is larger than the {size} elements of dst")));
            };
            flat = Tile {
                space: conv.space,
                element: conv.element,
                row_major: true,
                box_layout: BoxLayout::None,
                fractal_bytes: 512,
                compact: Compact::Null,
                rows: 1,
                cols: count,
                valid_rows: 1,
                valid_cols: count,
                address: conv.address,
                pad: 0,
                slot: Slot(std::ptr::null_mut()),
                site: conv.site,
            };
            (&flat, flat.whole())
        }
        _ => {
            let dst = ctx.tile(0)?;
            (dst, if dst.space == Space::Mat { dst.whole() } else { dst.valid() })
        }
    };
    let count = room(ctx, dst, window)?;
    let values = vec![raw_scalar(ctx, 1, dst.element)?; count];
    ctx.write_window(dst, window, dst.element.raw(), &values)
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, flag, tile, tiles, vec};
    use super::*;
    use crate::npu::abi::Conv;
    use Element::{BF16, F16, F32, I8, I16, I32, U8, U16, U32, U64};

    const NAN: f64 = f64::NAN;
    const INF: f64 = f64::INFINITY;

    /// An operand: a tile with these values, or a scalar.
    #[derive(Clone, Debug)]
    enum Arg {
        T(Vec<f64>),
        S(f64),
    }
    use Arg::S;

    fn t(values: &[f64]) -> Arg {
        Arg::T(values.to_vec())
    }

    /// Equal, NaN to NaN, and zeros of one sign.
    fn assert_same(found: &[f64], expected: &[f64], what: &str) {
        let bits = |v: &[f64]| v.iter().map(|v| if v.is_nan() { 1 } else { v.to_bits() }).collect::<Vec<_>>();
        assert_eq!(bits(found), bits(expected), "{what}: {found:?}, expected {expected:?}");
    }

    /// Runs an instruction whose tiles are single rows; `initial` is in the destination.
    fn eval(
        arch: Arch,
        name: &'static str,
        element: Element,
        initial: &[f64],
        args: &[Arg],
        more: Vec<Operand>,
    ) -> Vec<f64> {
        let mut bench = Bench::new(arch);
        let mut address = 0;
        let mut row = |bench: &mut Bench, values: &[f64]| {
            let mut row = vec(element, 1, 64, address);
            row.valid_cols = values.len();
            bench.put(&row, values);
            address += 1024;
            row
        };
        let dst = row(&mut bench, initial);
        let mut operands = tiles([&dst]);
        for arg in args {
            operands.push(match arg {
                Arg::T(values) => Operand::Tile(row(&mut bench, values)),
                S(value) if element.is_float() => Operand::Float(*value, element),
                S(value) => Operand::Int(*value as i64, element),
            });
        }
        operands.extend(more);
        bench.run(name, operands).unwrap_or_else(|fault| panic!("{name}: {}", fault.message));
        let found = bench.get(&dst);
        assert_eq!(bench.broken(), [""; 0], "{name}");
        found
    }

    fn scratch_tile() -> Vec<Operand> {
        tiles([&vec(U8, 4, 256, 64 * 1024)])
    }

    #[test]
    fn every_instruction_of_one_or_two_sources() {
        let a = [7.0, -7.0, 0.5, -2.0];
        let b = [2.0, 2.0, -4.0, 3.0];
        let (x, y) = (t(&a), t(&b));
        let each = |f: fn(f64, f64) -> f64| a.iter().zip(&b).map(|(&a, &b)| f(a, b)).collect::<Vec<f64>>();
        let with = |s: f64, f: fn(f64, f64) -> f64| a.iter().map(|&a| f(a, s)).collect::<Vec<f64>>();
        let floats: &[(&'static str, &[Arg], Vec<f64>)] = &[
            ("TABS", slice::from_ref(&x), vec![7.0, 7.0, 0.5, 2.0]),
            ("TNEG", slice::from_ref(&x), vec![-7.0, 7.0, -0.5, 2.0]),
            ("TRELU", slice::from_ref(&x), vec![7.0, 0.0, 0.5, 0.0]),
            ("TSQRT", &[t(&[4.0, 0.25, 0.0, -1.0])], vec![2.0, 0.5, 0.0, NAN]),
            ("TRSQRT", &[t(&[4.0, 0.25, 0.0, -1.0])], vec![0.5, 2.0, INF, NAN]),
            ("TEXP", &[t(&[0.0, -INF, 100000.0, NAN])], vec![1.0, 0.0, INF, NAN]),
            ("TLOG", &[t(&[1.0, 0.0, INF, -1.0])], vec![0.0, -INF, INF, NAN]),
            ("TRECIP", &[t(&[2.0, -0.25, 0.0, INF])], vec![0.5, -4.0, INF, 0.0]),
            ("TADD", &[x.clone(), y.clone()], each(|a, b| a + b)),
            ("TADDS", &[x.clone(), S(1.5)], with(1.5, |a, s| a + s)),
            ("TSUB", &[x.clone(), y.clone()], each(|a, b| a - b)),
            ("TSUBS", &[x.clone(), S(1.5)], with(1.5, |a, s| a - s)),
            ("TMUL", &[x.clone(), y.clone()], each(|a, b| a * b)),
            ("TMULS", &[x.clone(), S(1.5)], with(1.5, |a, s| a * s)),
            ("TDIV", &[t(&[1.0, -3.0, 6.0, 0.0]), t(&[0.0, 2.0, 4.0, 0.0])], vec![INF, -1.5, 1.5, NAN]),
            ("TDIVS", &[x.clone(), S(4.0)], with(4.0, |a, s| a / s)),
            ("TDIVS", &[S(1.0), t(&[2.0, 4.0, -8.0, 0.0])], vec![0.5, 0.25, -0.125, INF]),
            ("TMAX", &[t(&[1.0, NAN, 1.0, -0.0]), t(&[2.0, 1.0, NAN, 0.0])], vec![2.0, NAN, 1.0, -0.0]),
            ("TMAXS", &[x.clone(), S(0.75)], with(0.75, f64::max)),
            ("TMIN", &[t(&[1.0, NAN, 1.0, 0.0]), t(&[2.0, 1.0, NAN, -0.0])], vec![1.0, NAN, 1.0, 0.0]),
            ("TMINS", &[x.clone(), S(0.75)], with(0.75, f64::min)),
            ("TLRELU", &[x.clone(), S(0.5)], vec![7.0, -3.5, 0.5, -1.0]),
            ("TSUBRELU", &[x.clone(), y.clone()], vec![5.0, 0.0, 4.5, 0.0]),
            ("TFMOD", &[x.clone(), y.clone()], vec![1.0, -1.0, 0.5, -2.0]),
            ("TFMODS", &[x.clone(), S(2.0)], vec![1.0, -1.0, 0.5, 0.0]),
            ("TPRELU", &[x.clone(), y.clone()], vec![7.0, -14.0, 0.5, -6.0]),
            ("TREM", &[x.clone(), y.clone()], vec![1.0, 1.0, -3.5, 1.0]),
            ("TREMS", &[x.clone(), S(-2.0)], vec![-1.0, -1.0, -1.5, 0.0]),
            ("TPOW", &[t(&[2.0, -2.0, 4.0, 0.0]), t(&[3.0, 3.0, 0.5, 0.0])], vec![8.0, -8.0, 2.0, 1.0]),
            ("TPOWS", &[t(&[2.0, -2.0, 4.0, 0.0]), S(2.0)], vec![4.0, 4.0, 16.0, 0.0]),
        ];
        let tmp = ["TPRELU", "TREM", "TREMS", "TPOW", "TPOWS"];
        for (arch, element) in [(Arch::A3, F32), (Arch::A3, F16), (Arch::A5, F32), (Arch::A5, F16), (Arch::A5, BF16)] {
            for (name, args, expected) in floats {
                let more = if tmp.contains(name) { scratch_tile() } else { Vec::new() };
                assert_same(&eval(arch, name, element, &[0.0; 4], args, more), expected, name);
            }
        }
    }

    #[test]
    fn integers_wrap_divide_and_shift() {
        type Case = (&'static str, Element, &'static [f64], Arg, &'static [f64]);
        let cases: &[Case] = &[
            ("TADD", I8, &[127.0, -128.0, 3.0], t(&[1.0, -1.0, 4.0]), &[-128.0, 127.0, 7.0]),
            ("TADDS", U8, &[255.0, 0.0, 3.0], S(2.0), &[1.0, 2.0, 5.0]),
            ("TSUB", U16, &[0.0, 9.0, 3.0], t(&[1.0, 4.0, 3.0]), &[65535.0, 5.0, 0.0]),
            ("TSUBS", I16, &[-32768.0, 9.0, 3.0], S(1.0), &[32767.0, 8.0, 2.0]),
            ("TMUL", I32, &[65536.0, -3.0, 7.0], t(&[65536.0, 5.0, 7.0]), &[0.0, -15.0, 49.0]),
            ("TMULS", U32, &[2147483648.0, 3.0, 7.0], S(2.0), &[0.0, 6.0, 14.0]),
            ("TDIV", I32, &[-7.0, 7.0, -2147483648.0], t(&[2.0, -2.0, -1.0]), &[-3.0, -3.0, -2147483648.0]),
            ("TDIVS", U16, &[65535.0, 7.0, 1.0], S(2.0), &[32767.0, 3.0, 0.0]),
            ("TMAX", I8, &[-1.0, 5.0, 0.0], t(&[1.0, -5.0, 0.0]), &[1.0, 5.0, 0.0]),
            ("TMAXS", U8, &[255.0, 5.0, 0.0], S(6.0), &[255.0, 6.0, 6.0]),
            ("TMIN", U32, &[4294967295.0, 5.0, 0.0], t(&[1.0, 9.0, 0.0]), &[1.0, 5.0, 0.0]),
            ("TMINS", I32, &[-9.0, 5.0, 0.0], S(-1.0), &[-9.0, -1.0, -1.0]),
            ("TAND", I16, &[-1.0, 12.0, 5.0], t(&[255.0, 10.0, 2.0]), &[255.0, 8.0, 0.0]),
            ("TANDS", U16, &[65535.0, 12.0, 5.0], S(10.0), &[10.0, 8.0, 0.0]),
            ("TOR", U32, &[1.0, 12.0, 5.0], t(&[2.0, 10.0, 2.0]), &[3.0, 14.0, 7.0]),
            ("TORS", I8, &[-128.0, 12.0, 5.0], S(1.0), &[-127.0, 13.0, 5.0]),
            ("TXOR", I32, &[-1.0, 12.0, 5.0], t(&[1.0, 10.0, 5.0]), &[-2.0, 6.0, 0.0]),
            ("TXORS", U8, &[255.0, 12.0, 5.0], S(15.0), &[240.0, 3.0, 10.0]),
            ("TSHL", I8, &[1.0, -1.0, 3.0], t(&[7.0, 1.0, 8.0]), &[-128.0, -2.0, 0.0]),
            ("TSHLS", U16, &[32769.0, 1.0, 3.0], S(1.0), &[2.0, 2.0, 6.0]),
            ("TSHR", I16, &[-32768.0, -1.0, 256.0], t(&[15.0, 20.0, 4.0]), &[-1.0, -1.0, 16.0]),
            ("TSHRS", U32, &[4294967295.0, 8.0, 1.0], S(3.0), &[536870911.0, 1.0, 0.0]),
            ("TPOW", I16, &[3.0, -2.0, 2.0], t(&[4.0, 3.0, 16.0]), &[81.0, -8.0, 0.0]),
            ("TPOW", I32, &[-1.0, 1.0, 5.0], t(&[-3.0, -9.0, -1.0]), &[-1.0, 1.0, 0.0]),
            ("TPOWS", U8, &[3.0, 2.0, 0.0], S(5.0), &[243.0, 32.0, 0.0]),
            ("TREM", I16, &[-7.0, 7.0, 6.0], t(&[3.0, -3.0, 3.0]), &[2.0, -2.0, 0.0]),
            ("TREMS", U16, &[65535.0, 7.0, 6.0], S(10.0), &[5.0, 7.0, 6.0]),
            ("TFMOD", I32, &[-7.0, 7.0, 6.0], t(&[3.0, -3.0, 3.0]), &[-1.0, 1.0, 0.0]),
        ];
        for (name, element, a, b, expected) in cases {
            let found = eval(Arch::A5, name, *element, &[0.0; 3], &[t(a), b.clone()], Vec::new());
            assert_same(&found, expected, name);
        }
        for (name, a, expected) in
            [("TABS", -128.0, -128.0), ("TNEG", 5.0, -5.0), ("TNOT", 5.0, -6.0), ("TRELU", -5.0, 0.0)]
        {
            assert_same(&eval(Arch::A5, name, I8, &[0.0], &[t(&[a])], Vec::new()), &[expected], name);
        }
        assert_same(&eval(Arch::A3, "TRECIP", I32, &[9.0; 2], &[t(&[1.0, -3.0])], Vec::new()), &[1.0, 0.0], "TRECIP");
    }

    #[test]
    fn unsigned_64_bit_integers_use_all_bits() {
        let mut bench = Bench::new(Arch::A5);
        let [zero, all, one, result] = [0, 32, 64, 96].map(|address| {
            let mut tile = vec(U64, 1, 4, address);
            tile.valid_cols = 1;
            tile
        });
        bench.put(&zero, &[0.0]);
        bench.put(&one, &[1.0]);
        bench.run("TNOT", tiles([&all, &zero])).expect("legal");
        // As i64 all ones is -1.
        for (name, expected) in
            [("TMAX", -1.0), ("TMIN", 1.0), ("TDIV", -1.0), ("TSHR", i64::MAX as f64), ("TREM", 0.0)]
        {
            bench.run(name, tiles([&result, &all, &one])).expect("legal");
            assert_eq!(bench.get(&result), [expected], "{name}");
        }
        let mask = vec(U8, 1, 32, 128);
        let operands = |mode| [tiles([&mask, &all, &one]), vec![flag("CmpMode", mode)]].concat();
        for (mode, expected) in [(0, 0.0), (1, 1.0), (2, 0.0), (3, 0.0), (4, 1.0), (5, 1.0)] {
            bench.run("TCMP", operands(mode)).expect("legal");
            assert_eq!(bench.get(&mask)[..2], [expected, 0.0], "mode {mode}");
        }
        assert!(bench.broken().is_empty());
    }

    #[test]
    fn destinations_that_are_sources() {
        // In f32, 1 + 2^-12 squared is 1 + 2^-11 + 2^-24, a tie that goes down when rounded.
        let near = 1.0 + libm::ldexp(1.0, -12);
        let square = 1.0 + libm::ldexp(1.0, -11);
        let cases: &[(&'static str, f64, f64, Arg, f64)] = &[
            ("TFUSEDMULADD", near, near, t(&[-square]), 0.0),
            ("TFUSEDMULADDRELU", 2.0, 3.0, t(&[-7.0]), 0.0),
            ("TFUSEDMULADDRELU", 2.0, 3.0, t(&[1.0]), 7.0),
            ("TMULADDDST", -square, near, t(&[near]), 0.0),
            ("TAXPY", -square, near, S(near), 0.0),
        ];
        for (name, dst, a, b, expected) in cases {
            assert_same(&eval(Arch::A3, name, F32, &[*dst], &[t(&[*a]), b.clone()], Vec::new()), &[*expected], name);
        }
        // In f16, products of 1 + 2^-10 are rounded by TMULADDDST and TAXPY, not by TFUSEDMULADD.
        let step = libm::ldexp(1.0, -10);
        let (x, rounded, rest) = (1.0 + step, 1.0 + 2.0 * step, step * step);
        assert_same(
            &eval(Arch::A3, "TFUSEDMULADD", F16, &[x], &[t(&[x]), t(&[-rounded])], Vec::new()),
            &[rest],
            "fused",
        );
        assert_same(
            &eval(Arch::A3, "TMULADDDST", F16, &[-rounded], &[t(&[x]), t(&[x])], Vec::new()),
            &[0.0],
            "product",
        );
        assert_same(&eval(Arch::A5, "TAXPY", F16, &[-rounded], &[t(&[x]), S(x)], Vec::new()), &[0.0], "product");
        // f32 += f16 * f16 is exact.
        let mut bench = Bench::new(Arch::A3);
        let (dst, src) = (vec(F32, 1, 16, 0), vec(F16, 1, 16, 64));
        bench.put(&dst, &[-rounded; 16]);
        bench.put(&src, &[x; 16]);
        bench.run("TAXPY", [tiles([&dst, &src]), vec![Operand::Float(x, F16)]].concat()).expect("legal");
        assert_eq!(bench.get(&dst), [rest; 16]);
    }

    #[test]
    fn steps_are_rounded_as_on_the_device() {
        let third = F32.round(1.0 / 3.0);
        let two = F32.round(libm::sqrt(2.0));
        let single = |x: f64| F32.round(x);
        assert_same(
            &eval(Arch::A5, "TRSQRT", F32, &[0.0], &[t(&[2.0])], Vec::new()),
            &[single(1.0 / two)],
            "rounded root",
        );
        assert_same(
            &eval(Arch::A3, "TRSQRT", F32, &[0.0], &[t(&[2.0])], Vec::new()),
            &[single(1.0 / libm::sqrt(2.0))],
            "one instruction",
        );
        assert_same(
            &eval(Arch::A3, "TRSQRT", F32, &[0.0], &[t(&[2.0])], scratch_tile()),
            &[single(1.0 / two)],
            "scratch",
        );
        // A quotient that f32 cannot hold: the remainder is not that of fmod, unless high precision is asked for.
        let (a, b) = (1e8, third);
        let device = single(a - single(single(a / b).trunc() * b));
        assert_ne!(device, single(libm::fmod(a, b)));
        let high = vec![flag("FmodAlgorithm", 1)];
        assert_same(&eval(Arch::A5, "TFMOD", F32, &[0.0], &[t(&[a]), t(&[b])], Vec::new()), &[device], "default");
        assert_same(
            &eval(Arch::A5, "TFMOD", F32, &[0.0], &[t(&[a]), t(&[b])], high.clone()),
            &[single(libm::fmod(a, b))],
            "high",
        );
        assert_same(
            &eval(Arch::A3, "TFMOD", F32, &[0.0], &[t(&[a]), t(&[b])], high),
            &[device],
            "A3 has one precision",
        );
        // In place by a scalar, A3 multiplies with the reciprocal.
        for (arch, expected) in [(Arch::A3, single(5.0 * third)), (Arch::A5, single(5.0 / 3.0))] {
            let mut bench = Bench::new(arch);
            let x = vec(F32, 1, 8, 0);
            bench.put(&x, &[5.0; 8]);
            bench.run("TDIVS", [tiles([&x, &x]), vec![Operand::Float(3.0, F32)]].concat()).expect("legal");
            assert_eq!(bench.get(&x), [expected; 8]);
        }
        assert_ne!(single(5.0 * third), single(5.0 / 3.0));
    }

    #[test]
    fn remainders_of_i32_spoil_their_sources_on_a3() {
        let mut bench = Bench::new(Arch::A3);
        let [dst, a, b, tmp] = [0, 32, 64, 96].map(|address| vec(I32, 1, 8, address));
        let dividends = [-7.0, 7.0, 16777217.0, 9.0, 0.0, 1.0, 2.0, 3.0];
        bench.put(&a, &dividends);
        bench.put(&b, &[3.0, -3.0, 5.0, 9.0, 1.0, 0.0, 2.0, 2.0]);
        bench.run("TREM", tiles([&dst, &a, &b, &tmp])).expect("legal");
        // 2^24 + 1 is 2^24 as f32, whose remainder by 5 is 1.
        assert_eq!(bench.get(&dst), [2.0, -2.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0]);
        assert_eq!(bench.get(&a), [-7.0, 7.0, 16777216.0, 9.0, 0.0, 1.0, 2.0, 3.0]);
        let bits = Tile { element: F32, ..b.clone() };
        assert_eq!(bench.get(&bits), [3.0, -3.0, 5.0, 9.0, 1.0, 0.0, 2.0, 2.0]);
        bench.put(&a, &dividends);
        bench.run("TREMS", [tiles([&dst, &a]), vec![Operand::Int(-2, I32)], tiles([&tmp])].concat()).expect("legal");
        assert_eq!(bench.get(&dst), [-1.0, -1.0, 0.0, -1.0, 0.0, -1.0, 0.0, -1.0]);
        assert!(bench.broken().is_empty());
    }

    #[test]
    fn masks_are_packed_by_row_and_choose() {
        for (arch, element, mask_element) in
            [(Arch::A3, F32, U8), (Arch::A3, F16, U8), (Arch::A5, I8, U32), (Arch::A5, I32, U32)]
        {
            let mut bench = Bench::new(arch);
            let (rows, cols) = (3, 64);
            let data = |address| {
                let mut tile = vec(element, rows, cols, address);
                tile.valid_cols = 43;
                tile
            };
            let (x, y, dst) = (data(0), data(1024), data(2048));
            let count = rows * x.valid_cols;
            let a: Vec<f64> = (0..count).map(|i| (i * 7 % 11) as f64 - 5.0).collect();
            let b: Vec<f64> = (0..count).map(|i| (i * 5 % 7) as f64 - 3.0).collect();
            bench.put(&x, &a);
            bench.put(&y, &b);
            let mask = vec(mask_element, rows, 64 / mask_element.storage_bytes(), 4096);
            let bytes = Tile { element: U8, cols: 64, valid_cols: 6, ..mask.clone() };
            let modes: [fn(&f64, &f64) -> bool; 6] = [f64::eq, f64::ne, f64::lt, f64::le, f64::gt, f64::ge];
            for (mode, holds) in modes.iter().enumerate() {
                if arch == Arch::A3 && element == I32 && mode > 1 {
                    continue;
                }
                let mode = flag("CmpMode", mode as u64);
                let packed = |right: &dyn Fn(usize) -> f64| -> Vec<f64> {
                    let bit = |r: usize, c: usize| c < 43 && holds(&a[r * 43 + c], &right(r * 43 + c));
                    (0..rows * 6)
                        .map(|i| (0..8).map(|k| f64::from(u8::from(bit(i / 6, i % 6 * 8 + k)) << k)).sum())
                        .collect()
                };
                bench.run("TCMP", [tiles([&mask, &x, &y]), vec![mode.clone()]].concat()).expect("legal");
                assert_eq!(bench.get(&bytes), packed(&|i| b[i]));
                // The first element of a tile counts as a scalar.
                bench.run("TCMPS", [tiles([&mask, &x, &y]), vec![mode.clone()]].concat()).expect("legal");
                assert_eq!(bench.get(&bytes), packed(&|_| b[0]));
                let one = if element.is_float() { Operand::Float(1.0, element) } else { Operand::Int(1, element) };
                bench.run("TCMPS", [tiles([&mask, &x]), vec![one.clone(), mode]].concat()).expect("legal");
                assert_eq!(bench.get(&bytes), packed(&|_| 1.0));
                // Choose with the last mask.
                let tmp = vec(U32, 1, 16, 8192);
                let pick = |other: &dyn Fn(usize) -> f64| -> Vec<f64> {
                    (0..count).map(|i| if holds(&a[i], &1.0) { a[i] } else { other(i) }).collect()
                };
                bench.run("TSEL", tiles([&dst, &mask, &x, &y, &tmp])).expect("legal");
                assert_eq!(bench.get(&dst), pick(&|i| b[i]));
                bench.run("TSELS", [tiles([&dst, &mask, &x, &tmp]), vec![one]].concat()).expect("legal");
                assert_eq!(bench.get(&dst), pick(&|_| 1.0));
            }
            assert!(bench.broken().is_empty());
        }
    }

    #[test]
    fn masks_are_written_by_groups() {
        // 43 columns need 6 bytes.
        for (arch, element, expected) in
            [(Arch::A3, F32, 8), (Arch::A3, F16, 16), (Arch::A5, I8, 32), (Arch::A5, BF16, 16), (Arch::A5, I32, 16)]
        {
            let mut bench = Bench::new(arch);
            let (x, mask) = (Tile { valid_cols: 43, ..vec(element, 1, 64, 0) }, vec(U8, 1, 64, 1024));
            bench.put(&x, &[1.0; 43]);
            bench.put(&mask, &[255.0; 64]);
            bench.run("TCMP", [tiles([&mask, &x, &x]), vec![flag("CmpMode", 1)]].concat()).expect("legal");
            let written = bench.get(&mask).iter().take_while(|&&byte| byte == 0.0).count();
            assert_eq!(written, expected, "{}", element.name());
        }
    }

    #[test]
    fn comparisons_that_a3_does_not_have() {
        let compare = |arch, element, name, right: Operand, mode| {
            let mut bench = Bench::new(arch);
            let (x, mask) = (vec(element, 1, 16, 0), vec(U8, 1, 32, 128));
            bench.put(&x, &[-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
            let operands = [tiles([&mask, &x]), vec![right, flag("CmpMode", mode)]].concat();
            bench.run(name, operands).expect("runs");
            (bench.get(&Tile { valid_cols: 1, ..mask })[0], bench.broken())
        };
        // i32 is only tested for equality; i16 is compared as f16, whose negative numbers are in reverse.
        assert_eq!(compare(Arch::A3, I32, "TCMPS", Operand::Int(2, I32), 2), (32.0, vec!["PTO-0810"]));
        assert_eq!(compare(Arch::A3, I32, "TCMPS", Operand::Int(2, I32), 1), (223.0, vec![]));
        assert_eq!(compare(Arch::A5, I32, "TCMPS", Operand::Int(2, I32), 2), (31.0, vec![]));
        assert_eq!(compare(Arch::A3, I16, "TCMPS", Operand::Int(2, I16), 4), (192.0, vec![]));
        let (mask, broken) = compare(Arch::A3, I16, "TCMPS", Operand::Int(2, I16), 2);
        assert_eq!((mask, broken), (24.0, vec!["PTO-0810"]), "-3, -2 and -1 are NaN");
    }

    #[test]
    fn pairs_are_added_in_half_of_the_destination() {
        let mut bench = Bench::new(Arch::A5);
        let (mut dst, mut src) = (vec(F16, 2, 16, 0), vec(F16, 2, 16, 64));
        bench.put(&dst, &[9.0; 32]);
        (dst.valid_cols, src.valid_cols) = (5, 5);
        bench.put(&src, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]);
        bench.run("TPAIRREDUCESUM", tiles([&dst, &src])).expect("legal");
        assert_eq!(bench.get(&dst), [3.0, 7.0, 9.0, 9.0, 9.0, 13.0, 17.0, 9.0, 9.0, 9.0]);
    }

    #[test]
    fn fills_reach_the_valid_part_or_all_of_l1() {
        let mut bench = Bench::new(Arch::A3);
        let mut ub = vec(BF16, 2, 16, 0);
        bench.put(&ub, &[1.0; 32]);
        ub.valid_cols = 3;
        bench.run("TEXPANDS", [tiles([&ub]), vec![Operand::Float(-2.5, BF16)]].concat()).expect("legal");
        ub.valid_cols = 4;
        assert_eq!(bench.get(&ub), [-2.5, -2.5, -2.5, 1.0, -2.5, -2.5, -2.5, 1.0]);
        let mut l1 = tile(Space::Mat, U16, 32, 32, 512);
        (l1.box_layout, l1.row_major) = (BoxLayout::RowMajor, false);
        (l1.valid_rows, l1.valid_cols) = (1, 1);
        bench.run("TEXPANDS", [tiles([&l1]), vec![Operand::Int(7, U16)]].concat()).expect("legal");
        (l1.valid_rows, l1.valid_cols) = (32, 32);
        assert_eq!(bench.get(&l1), [7.0; 1024]);
        let shape = vec![1, 2, 3, 4, 16];
        let conv = Conv {
            space: Space::Mat,
            element: F16,
            layout: 0,
            shape,
            address: 4096,
            elements: 384,
            image: Default::default(),
            site: Site::NONE,
        };
        bench.run("TEXPANDS", vec![Operand::Conv(conv.clone()), Operand::Float(1.5, F16)]).expect("legal");
        assert_eq!(bench.get(&tile(Space::Mat, F16, 24, 16, 4096)), [1.5; 384]);
        let small = Conv { elements: 100, ..conv };
        assert!(bench.run("TEXPANDS", vec![Operand::Conv(small), Operand::Float(1.5, F16)]).is_err());
        let On::By(pipe) = super::super::find("TEXPANDS").expect("in the table").on else { panic!("depends on dst") };
        let on = |operand| {
            let result = (Slot(std::ptr::null_mut()), 0);
            pipe(&Instr { name: "TEXPANDS", operands: vec![operand], result, site: Site::NONE }, Arch::A3)
        };
        assert_eq!((on(Operand::Tile(l1)), on(Operand::Tile(ub))), (Pipe::Mte2, Pipe::V));
    }

    #[test]
    fn scratch_is_lost_only_where_the_device_uses_it() {
        for (arch, lost) in [(Arch::A3, true), (Arch::A5, false)] {
            let mut bench = Bench::new(arch);
            let [dst, a, b, tmp] = [0, 32, 64, 96].map(|address| vec(U8, 1, 32, address));
            [&a, &b, &tmp].into_iter().for_each(|tile| bench.put(tile, &[1.0; 32]));
            bench.run("TXOR", tiles([&dst, &a, &b, &tmp])).expect("legal");
            assert_eq!(bench.get(&tmp) != [1.0; 32], lost);
        }
    }

    #[test]
    fn boxed_tiles_keep_their_layout() {
        let mut bench = Bench::new(Arch::A5);
        let mut x = vec(F16, 32, 32, 0);
        (x.box_layout, x.row_major, x.valid_rows, x.valid_cols) = (BoxLayout::RowMajor, false, 17, 20);
        let y = Tile { address: 2048, ..vec(F16, 32, 32, 0) };
        let y = Tile { valid_rows: 17, valid_cols: 20, ..y };
        let values: Vec<f64> = (0..340).map(f64::from).collect();
        bench.put(&x, &values);
        bench.put(&y, &values);
        bench.run("TADD", tiles([&y, &x, &y])).expect("legal");
        assert_eq!(bench.get(&y), values.iter().map(|v| 2.0 * v).collect::<Vec<_>>());
    }

    #[test]
    fn operands_that_do_not_fit_are_refused() {
        let mut bench = Bench::new(Arch::A3);
        let x = vec(F32, 2, 8, 0);
        let integers = vec(I32, 2, 8, 0);
        bench.put(&x, &[1.0; 16]);
        let small = Tile { valid_rows: 1, ..x.clone() };
        let column = Tile { row_major: false, element: U8, ..x.clone() };
        let cases: Vec<(&'static str, Vec<Operand>, &str)> = vec![
            ("TADD", tiles([&x, &x, &integers]), "operand 2 must hold f32, found i32"),
            ("TADD", tiles([&x, &x]), "operand 2 must be a number"),
            ("TADDS", vec![Operand::Tile(x.clone()), Operand::Int(1, I32), Operand::Int(1, I32)], "must be a tile"),
            ("TAND", tiles([&x, &x, &x]), "must hold integers, found f32"),
            ("TSHR", tiles([&x, &x, &x]), "must hold integers, found f32"),
            ("TNOT", tiles([&x, &x]), "must hold integers, found f32"),
            ("TEXP", tiles([&integers, &integers]), "must hold floats, found i32"),
            ("TLRELU", tiles([&integers, &integers, &integers]), "must hold floats, found i32"),
            ("TAXPY", tiles([&integers, &integers, &integers]), "must hold floats, found i32"),
            ("TCMP", tiles([&integers, &x, &x]), "no comparison mode"),
            ("TCMP", [tiles([&integers, &x, &x]), vec![flag("CmpMode", 6)]].concat(), "no comparison mode"),
            ("TCMP", [tiles([&small, &x, &x]), vec![flag("CmpMode", 0)]].concat(), "the mask has 1 rows"),
            ("TSEL", tiles([&x, &column, &x, &x, &x]), "a mask must be"),
            (
                "TEXPANDS",
                [tiles([&Tile { valid_rows: 1 << 40, ..x.clone() }]), vec![Operand::Float(0.0, F32)]].concat(),
                "elements of a tile of 2 x 8",
            ),
        ];
        for (name, operands, expected) in cases {
            let fault = bench.run(name, operands).expect_err(name);
            assert!(fault.message.contains(expected), "{name}: {}", fault.message);
        }
        bench.run("TPOW", tiles([&x, &x, &x, &vec(F32, 2, 8, 512)])).expect("runs");
        let (zero, by) = (vec(I32, 2, 8, 64), vec(I32, 2, 8, 128));
        [&zero, &by].into_iter().for_each(|tile| bench.put(tile, &[0.0; 16]));
        bench.run("TDIVS", [tiles([&by, &zero]), vec![Operand::Int(0, I32)]].concat()).expect("runs");
        assert_eq!(bench.get(&by), [0.0; 16]);
        assert_eq!(bench.broken(), ["PTO-0805", "PTO-0810"]);
    }

    #[test]
    fn sources_with_a_smaller_valid_part_are_reported_and_read() {
        let mut bench = Bench::new(Arch::A3);
        let (x, sum) = (vec(F32, 2, 8, 0), vec(F32, 2, 8, 64));
        bench.put(&x, &[1.0; 16]);
        bench.run("TADD", tiles([&sum, &x, &Tile { valid_rows: 1, ..x.clone() }])).expect("runs");
        assert_eq!(bench.get(&sum), [2.0; 16]);
        assert_eq!(bench.broken(), ["PTO-0810"]);
    }
}
