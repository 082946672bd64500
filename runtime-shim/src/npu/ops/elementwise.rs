//! Element-wise instructions on vector tiles: unary, tile with tile, tile with scalar, comparison and selection.
//!
//! Floats are computed in `f64` and rounded once by the write, which for `+ - * /` and square root on types of at
//! most 32 bits is the correctly rounded result. Integers are computed in 64 bits and wrap. The valid part of the
//! destination is the domain; sources may be larger.

use std::cell::Cell;
use std::slice;

use super::gather::scratch_holds;
use super::{Apart, Ctx, Done, Fault, On, Op, Pipe, Rule, illegal, vector};
use crate::Arch;
use crate::npu::abi::{BoxLayout, Instr, Operand, Site, Space, Tile};
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
pub(super) fn positive(value: f64) -> f64 {
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

/// Bytes that one vector instruction writes at most.
const VECTOR_BYTES: usize = 256;

/// dst = src0 - src1 * q, where q is src0 / src1 rounded down (`floored`) or toward 0.
///
/// Every target computes it so, each step rounded; the vendor's simulator has the exact remainder. A floored remainder
/// whose sign is not the divisor's gets the divisor added, but for A5 with a scalar.
fn remainder(ctx: &mut Ctx, floored: bool) -> Done {
    let dst = ctx.tile(0)?;
    let element = dst.element;
    if let (Arch::A3, true, Some(tmp)) = (ctx.arch, ctx.tile_if(2).is_some(), ctx.tile_if(3)) {
        // A row of quotients; behind it the bits of a comparison, cleared by a whole vector.
        let row = dst.cols * element.storage_bytes();
        scratch_holds(ctx, tmp, row + row.max(VECTOR_BYTES));
    }
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
            flat = Tile::plain(conv.space, conv.element, 1, count, conv.address, conv.site);
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
mod tests;
