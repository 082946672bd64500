//! Conversions between element types: `TCVT`, the fused `T*CONV` forms, and the conversions of the fixpipe.

use super::super::abi::Tile;
use super::super::element::{Element, Lane};
use super::super::layout::Window;
use super::elementwise::positive;
use super::{Apart, Ctx, Done, Fault, Op, illegal, vector};
use crate::Arch;
use Element::{BF16, F4E1M2, F4E2M1, F8E4M3, F8E5M2, F16, F32, HiF8, I4, I8, I16, I32, I64, U8, U16, U32};

/// The instructions.
pub const OPS: &[Op] = &[
    vector("TCVT", convert),
    vector("TADDRELUCONV", |c| relu_convert(c, |a, b| a + b, i64::wrapping_add)),
    vector("TSUBRELUCONV", |c| relu_convert(c, |a, b| a - b, i64::wrapping_sub)),
    vector("TADDDEQRELU", dequantise_sum),
];

/// Operands that may not share bytes. On A3 `TADDDEQRELU` fills the
/// scratch with zeros while src0 holds the scaled sums.
pub const APART: &[Apart] = &[("TADDDEQRELU", &[(1, 4)], true)];

/// Pairs of types that `TCVT` converts, on A3 or on A5.
const PAIRS: [(Element, &[Element]); 15] = [
    (F32, &[F16, BF16, F32, I16, I32, I64, F8E4M3, F8E5M2, HiF8]),
    (F16, &[F32, I32, I16, I8, U8, I4, HiF8]),
    (BF16, &[F32, I32, F16, F4E1M2, F4E2M1]),
    (I16, &[F16, F32, U8, U32, I32]),
    (I32, &[F32, I16, U16, I64, U8, F16]),
    (I64, &[F32, I32]),
    (U8, &[F16, U16]),
    (I8, &[F16, I16, I32]),
    (I4, &[F16]),
    (U32, &[U8, U16, I16]),
    (F8E4M3, &[F32]),
    (F8E5M2, &[F32]),
    (HiF8, &[F32]),
    (F4E1M2, &[BF16]),
    (F4E2M1, &[BF16]),
];

/// Conversions that keep the low bits of what is too large, unless told to saturate; all others saturate.
const WRAPPING: [(Element, Element); 6] = [(F16, U8), (F16, I8), (F32, I16), (F16, I16), (I64, I32), (I32, I16)];

/// Of these, those that use the scratch tile on A3: through a saturated i32.
const SCRATCH: [(Element, Element); 3] = [(F32, I16), (F16, I16), (F16, I8)];

/// Rounding, as `pto::RoundMode` without `CAST_NONE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To nearest, ties to even.
    Rint,
    /// To nearest, ties away from zero.
    Round,
    /// Down.
    Floor,
    /// Up.
    Ceil,
    /// Towards zero.
    Trunc,
    /// What is not exact becomes the odd one of its neighbours.
    Odd,
}

impl Rounding {
    /// To an integer.
    pub fn integral(self, x: f64) -> f64 {
        match self {
            Rounding::Rint => x.round_ties_even(),
            Rounding::Round => x.round(),
            Rounding::Floor => x.floor(),
            Rounding::Ceil => x.ceil(),
            Rounding::Trunc => x.trunc(),
            Rounding::Odd => match x.trunc() {
                whole if whole != x && whole % 2.0 == 0.0 => whole + 1f64.copysign(x),
                whole => whole,
            },
        }
    }

    /// To a float type. Beyond its range: the largest value when `saturate`, else infinity, or NaN where the type has
    /// none. Four-bit types always saturate, f32 never does.
    pub fn float(self, x: f64, to: Element, saturate: bool) -> f64 {
        let exponent = (x.to_bits() >> 52 & 0x7ff) as i32 - 1023;
        // Bits of mantissa at this exponent, and the lowest exponent.
        let (mantissa, lowest) = match to {
            F16 => (10, -14),
            BF16 => (7, -126),
            F32 => (23, -126),
            F8E4M3 => (3, -6),
            F8E5M2 => (2, -14),
            F4E2M1 => (1, 0),
            F4E1M2 => (2, 0),
            HiF8 if exponent < -15 => (0, -22),
            HiF8 => ([3, 3, 3, 3, 2, 2, 2, 2, 1][exponent.unsigned_abs().min(8) as usize], -22),
            _ => return x,
        };
        let largest = to.largest();
        let y = if self == Rounding::Rint && matches!(to, F16 | BF16 | F32) {
            to.round(x)
        } else if x.is_finite() {
            let last = exponent.max(lowest) - mantissa;
            libm::ldexp(self.integral(libm::ldexp(x, -last)), last)
        } else {
            x
        };
        match to {
            _ if y.abs() <= largest || y.is_nan() => y,
            F4E2M1 | F4E1M2 => largest.copysign(y),
            F32 => y,
            _ if saturate => largest.copysign(y),
            F8E4M3 => f64::NAN,
            _ => f64::INFINITY.copysign(y),
        }
    }
}

/// dst = src as the type of dst, over the valid part of dst. Operands: dst, src, scratch, mode, saturation.
///
/// The defaults are the device's, which differ from those of the vendor's simulator (that never saturates, rounds only
/// to integers, and takes `CAST_ODD` for ties to odd).
fn convert(ctx: &mut Ctx) -> Done {
    let (dst, src, tmp) = (ctx.tile(0)?, ctx.tile(1)?, ctx.tile_if(2));
    let pair @ (from, to) = (src.element, dst.element);
    if !PAIRS.iter().any(|p| p.0 == from && p.1.contains(&to)) {
        return Err(illegal(format!("TCVT does not convert {} to {}", from.name(), to.name())));
    }
    let rounding = rounding(ctx.flag("RoundMode"), from, to)?;
    let wraps = WRAPPING.contains(&pair);
    let saturate = match ctx.flag("SaturationMode") {
        None => !wraps,
        Some(0) => true,
        // Without scratch A3 turns saturation off only for the pairs that default to it.
        Some(_) => ctx.arch == Arch::A3 && tmp.is_none() && !wraps,
    };
    let scratch = tmp.filter(|_| ctx.arch == Arch::A3 && !saturate && SCRATCH.contains(&pair));
    let window = dst.valid();
    let integer = |x: i64| match to.bits() > from.bits() || !saturate {
        true => to.wrap(x),
        false => to.saturate(x),
    };
    if !to.is_float() {
        let values: Vec<i64> = if from.is_float() {
            let values: Vec<f64> = ctx.read_window(src, window, from)?;
            let whole = |x: f64| match (saturate, scratch) {
                (true, _) => to.saturate(x as i64),
                (false, None) => to.wrap(x as i64),
                (false, Some(_)) => to.wrap(i64::from(x as i32)),
            };
            values.into_iter().map(|x| whole(rounding.integral(x))).collect()
        } else {
            ctx.read_window::<i64>(src, window, from)?.into_iter().map(integer).collect()
        };
        if let Some(tmp) = scratch {
            ctx.clobber(tmp)?;
        }
        return ctx.write(dst, &values);
    }
    let mut values: Vec<f64> = match from.is_float() {
        true => ctx.read_window(src, window, from)?,
        false => ctx.read_window::<i64>(src, window, from)?.into_iter().map(wide).collect(),
    };
    match pair {
        (F32, F32) => values.iter_mut().for_each(|x| *x = rounding.integral(*x)),
        _ => values.iter_mut().for_each(|x| *x = rounding.float(*x, to, saturate)),
    }
    if matches!(to, F4E1M2 | F4E2M1) {
        return write_nibbles(ctx, dst, &values);
    }
    ctx.write(dst, &values)
}

/// What a `RoundMode` means for a pair of types. Some conversions have one rounding only.
fn rounding(mode: Option<u64>, from: Element, to: Element) -> Result<Rounding, Fault> {
    use Rounding::{Ceil, Floor, Odd, Rint, Round, Trunc};
    let default = if from.is_float() && !to.is_float() && to != I4 { Trunc } else { Rint };
    let chosen = match mode {
        None | Some(0) => default,
        Some(1) => Rint,
        Some(2) => Round,
        Some(3) => Floor,
        Some(4) => Ceil,
        Some(5) => Trunc,
        Some(6) if (from, to) == (F32, F16) => Odd,
        Some(6) => default,
        Some(other) => return Err(illegal(format!("TCVT: {other} is no RoundMode"))),
    };
    Ok(match to {
        HiF8 => Round,
        F8E4M3 | F8E5M2 => Rint,
        _ => chosen,
    })
}

/// An integer as f64, rounded to odd where it has more than 53 bits: rounding that to a narrower float is exact.
fn wide(x: i64) -> f64 {
    let near = x as f64;
    match (near as i128).cmp(&i128::from(x)) {
        std::cmp::Ordering::Equal => near,
        _ if near.to_bits() & 1 == 1 => near,
        // The neighbour on the other side of x has an odd last bit.
        order => f64::from_bits(match order.is_gt() == (x > 0) {
            true => near.to_bits() - 1,
            false => near.to_bits() + 1,
        }),
    }
}

/// Writes four-bit values: whole bytes only, and zeros up to the end of the row, as the device does.
fn write_nibbles(ctx: &mut Ctx, dst: &Tile, values: &[f64]) -> Done {
    let cols = dst.valid_cols;
    let window = Window { row: 0, col: 0, rows: dst.valid_rows, cols: dst.cols };
    let mut padded = vec![0.0; window.rows * window.cols];
    for (to, from) in padded.chunks_exact_mut(window.cols.max(1)).zip(values.chunks(cols.max(1))) {
        let whole = cols / 2 * 2;
        to[..whole].copy_from_slice(&from[..whole]);
    }
    ctx.write_window(dst, window, dst.element, &padded)
}

/// dst = max(f(src0, src1), 0), narrowed to nearest with saturation: f32 to f16, f16 to i8, i16 to i8. A5 rounds the
/// sum to the sources' type first; A3 does all in one.
fn relu_convert(ctx: &mut Ctx, float: fn(f64, f64) -> f64, integer: fn(i64, i64) -> i64) -> Done {
    let (dst, a, b) = (ctx.tile(0)?, ctx.tile(1)?, ctx.tile(2)?);
    let (from, to, window) = (a.element, dst.element, dst.valid());
    if b.element != from || ![(F32, F16), (F16, I8), (I16, I8)].contains(&(from, to)) {
        return Err(illegal(format!(
            "{}: sources must be f32 for f16, or f16 or i16 for i8; found {} and {} for {}",
            ctx.instr.name,
            from.name(),
            b.element.name(),
            to.name()
        )));
    }
    let in_steps = ctx.arch != Arch::A3;
    if from == I16 {
        let (mut x, y): (Vec<i64>, Vec<i64>) = (ctx.read_window(a, window, from)?, ctx.read_window(b, window, from)?);
        for (x, &y) in x.iter_mut().zip(&y) {
            let sum = integer(*x, y);
            *x = to.saturate(if in_steps { from.wrap(sum) } else { sum }.max(0));
        }
        return ctx.write(dst, &x);
    }
    let (mut x, y): (Vec<f64>, Vec<f64>) = (ctx.read_window(a, window, from)?, ctx.read_window(b, window, from)?);
    for (x, &y) in x.iter_mut().zip(&y) {
        let sum = float(*x, y);
        let sum = if in_steps || from == F32 { from.round(sum) } else { sum };
        *x = match to {
            I8 => positive(sum).round_ties_even().min(127.0),
            _ => Rounding::Rint.float(positive(sum), to, true),
        };
    }
    ctx.write(dst, &x)
}

/// dst = max((src0 + src1) * scale, 0) as f16. Operands: dst, src0, src1, scale, scratch. The scale is applied between
/// two shifts by 2^17, which change nothing but what overflows. On A3 the sources end up with the scaled sums and their
/// positive parts.
fn dequantise_sum(ctx: &mut Ctx) -> Done {
    const SHIFT: f32 = 131_072.0;
    let (dst, a, b, scale) = (ctx.tile(0)?, ctx.tile(1)?, ctx.tile(2)?, ctx.float(3)? as f32);
    if (dst.element, a.element, b.element) != (F16, I32, I32) {
        return Err(illegal(format!(
            "TADDDEQRELU adds i32 into f16, found {} and {} into {}",
            a.element.name(),
            b.element.name(),
            dst.element.name()
        )));
    }
    let window = dst.valid();
    let (x, y): (Vec<i64>, Vec<i64>) = (ctx.read_window(a, window, I32)?, ctx.read_window(b, window, I32)?);
    let sums = x.iter().zip(&y).map(|(&x, &y)| I32.wrap(x.wrapping_add(y)) as f32 / SHIFT * scale * SHIFT);
    let scaled: Vec<f32> = sums.collect();
    let cut: Vec<f64> = scaled.iter().map(|&x| positive(f64::from(x))).collect();
    if ctx.arch == Arch::A3 {
        if let Some(tmp) = ctx.tile_if(4) {
            ctx.clobber(tmp)?;
        }
        ctx.write_window(a, window, F32, &scaled)?;
        ctx.write_window(b, window, F32, &cut)?;
    }
    let halves: Vec<f64> = cut.iter().map(|&x| Rounding::Rint.float(x, F16, true)).collect();
    ctx.write(dst, &halves)
}

/// How the fixpipe scales accumulators on their way out. The words are as the hardware reads them: bits 31:0 the scale
/// as an f32 (31:13 for a word a column: 10 bits of mantissa), 35:32 the shift to the right minus one (i32 to i16),
/// 45:37 the offset of an 8-bit result (signed), 46 whether an 8-bit result is signed.
#[derive(Clone, Copy, Debug)]
pub enum Quant<'a> {
    /// No scale: only a change of type.
    None,
    /// One word for all.
    Scalar(u64),
    /// One word for each column of the accumulator, in the order of the columns. (The vendor's simulator takes them by
    /// row, because its accumulators are column-major outside; the device by column.)
    Columns(&'a [u64]),
}

/// The word for a scale without an offset, as `SET_QUANT_SCALAR` builds it for results of type `to`.
pub fn quant_word(scale: f64, to: Element) -> u64 {
    u64::from((scale as f32).to_bits()) | u64::from(to == Element::I8) << 46
}

/// Converts accumulators (`F32` or `I32`), row by row with `cols` columns, to the element `to`: what `TSTORE`, `TMOV`,
/// `TEXTRACT`, `TINSERT` and `TPUSH` of an Acc tile do on the way. The results are values of `to`, exactly, so that a
/// write as `to` stores them as they are; `relu` comes last. Refuses pairs of types that the fixpipe does not convert.
///
/// A caller whose instruction ignores the word for `F32` to `F32` (all but `TSTORE` on A5) passes [`Quant::None`].
///
/// Without a word: `F32` to `F32`, `F16`, `BF16`; `I32` to `I32`. With one: `F32` to `F32`, `F16`, `BF16`, `I8`, `U8`,
/// `HiF8`, `F8E4M3`; `I32` to `F16`, `BF16`, `I8`, `U8`, `I16`.
pub fn fixpipe<L: Lane>(
    values: &[L],
    cols: usize,
    from: Element,
    to: Element,
    quant: Quant,
    relu: bool,
) -> Result<Vec<f64>, Fault> {
    let convert: fn(f64, u64, f32) -> f64 = match (quant, from, to) {
        (Quant::None, F32, F32) | (Quant::None, I32, I32) => |x, _, _| x,
        (Quant::None, F32, F16) => |x, _, _| F16.round(x),
        (Quant::None, F32, BF16) => |x, _, _| BF16.round(x),
        (Quant::None, _, _) => {
            return Err(illegal(format!(
                "the fixpipe does not convert {} to {} without a scale",
                from.name(),
                to.name()
            )));
        }
        (_, F32, F32) => |x, _, scale| scaled(x, scale),
        (_, F32 | I32, F16) => |x, _, scale| finite(scaled(x, scale), F16),
        (_, F32 | I32, BF16) => |x, _, scale| BF16.round(scaled(x, scale)),
        (_, F32, F8E4M3) => |x, _, scale| finite(scaled(x, scale), F8E4M3),
        (_, F32, HiF8) => |x, _, scale| Rounding::Round.float(scaled(x, scale), HiF8, true),
        (_, F32 | I32, I8 | U8) => byte,
        (_, I32, I16) => |x, word, _| I16.saturate(x as i64 >> ((word >> 32 & 15) + 1)) as f64,
        _ => {
            return Err(illegal(format!("the fixpipe does not scale {} to {}", from.name(), to.name())));
        }
    };
    // A scalar register keeps all bits of the scale, a word of the fixpipe buffer 19 of them.
    let split = |word: u64, mask: u32| (word, f32::from_bits(word as u32 & mask));
    let words: Vec<(u64, f32)> = match quant {
        Quant::None => vec![(0, 1.0); cols],
        Quant::Scalar(word) => vec![split(word, u32::MAX); cols],
        Quant::Columns(words) if words.len() >= cols => words.iter().map(|&w| split(w, 0xffff_e000)).collect(),
        Quant::Columns(words) => {
            return Err(illegal(format!(
                "the fixpipe needs a scale for each of {cols} columns, found {}",
                words.len()
            )));
        }
    };
    let mut out = Vec::with_capacity(values.len());
    for row in values.chunks(cols.max(1)) {
        out.extend(row.iter().zip(&words).map(|(x, &(word, scale))| {
            let y = convert(x.to_f64(), word, scale);
            let y = if to == I8 || to == U8 { to.wrap(y as i64) as f64 } else { y };
            if relu { positive(y) } else { y }
        }));
    }
    Ok(out)
}

/// Product in f32, as the fixpipe multiplies: an i32 is first rounded to f32.
fn scaled(x: f64, scale: f32) -> f64 {
    f64::from(x as f32 * scale)
}

/// Rounds to a type; what is finite stays finite.
fn finite(x: f64, to: Element) -> f64 {
    let largest = to.largest();
    to.round(if x.is_finite() { x.clamp(-largest, largest) } else { x })
}

/// To eight bits: rounded to nine with sign, offset added, brought into range. (The vendor's simulator adds an unsigned
/// offset before it rounds; the device's offset has a sign and comes after.)
fn byte(x: f64, word: u64, scale: f32) -> f64 {
    let rounded = scaled(x, scale).round_ties_even().clamp(-256.0, 255.0) as i64;
    let offset = (word >> 37 << 55) as i64 >> 55;
    let (low, high) = if word >> 46 & 1 == 1 { (-128, 127) } else { (0, 255) };
    (rounded + offset).clamp(low, high) as f64
}

#[cfg(test)]
mod tests {
    use super::super::super::abi::Operand;
    use super::super::Rule;
    use super::super::bench::{Bench, flag, tiles, vec};
    use super::*;

    const MODES: [u64; 7] = [0, 1, 2, 3, 4, 5, 6];
    const ON: Option<u64> = Some(0);
    const OFF: Option<u64> = Some(1);

    fn cvt(
        arch: Arch,
        from: Element,
        to: Element,
        x: &[f64],
        mode: u64,
        saturation: Option<u64>,
        tmp: bool,
    ) -> Vec<f64> {
        let mut bench = Bench::new(arch);
        let (mut src, mut dst) = (vec(from, 1, 64, 0), vec(to, 1, 64, 512));
        let scratch = vec(I32, 1, 64, 1024);
        (src.valid_cols, dst.valid_cols) = (x.len(), x.len());
        bench.put(&src, x);
        let mut operands = tiles([&dst, &src]);
        operands.push(if tmp { Operand::Tile(scratch) } else { Operand::Null });
        operands.push(flag("RoundMode", mode));
        operands.push(saturation.map_or(Operand::Null, |s| flag("SaturationMode", s)));
        bench.run("TCVT", operands).unwrap_or_else(|f| panic!("{} {}: {}", from.name(), to.name(), f.message));
        bench.get(&dst)
    }

    #[test]
    fn floats_round_to_integers_by_mode() {
        let x = [2.5, -2.5, 3.5, 0.75, -0.75, -7.0];
        let want = [
            [2.0, -2.0, 3.0, 0.0, 0.0, -7.0],
            [2.0, -2.0, 4.0, 1.0, -1.0, -7.0],
            [3.0, -3.0, 4.0, 1.0, -1.0, -7.0],
            [2.0, -3.0, 3.0, 0.0, -1.0, -7.0],
            [3.0, -2.0, 4.0, 1.0, 0.0, -7.0],
            [2.0, -2.0, 3.0, 0.0, 0.0, -7.0],
            [2.0, -2.0, 3.0, 0.0, 0.0, -7.0],
        ];
        for (from, to) in [(F32, I16), (F32, I32), (F32, I64), (F16, I32), (F16, I16), (F16, I8), (BF16, I32)] {
            for mode in MODES {
                assert_eq!(cvt(Arch::A5, from, to, &x, mode, None, false), want[mode as usize], "{mode}");
            }
        }
        // Four bits and f32 itself round to nearest by default.
        assert_eq!(cvt(Arch::A3, F16, I4, &x, 0, None, false), want[1]);
        assert_eq!(cvt(Arch::A3, F32, F32, &x, 0, None, false), want[1]);
        assert_eq!(cvt(Arch::A3, F32, F32, &x, 3, None, false), want[3]);
    }

    #[test]
    fn what_is_too_large_saturates_or_wraps_by_pair() {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        let x = [300.0, -200.0, inf, -inf, nan];
        let (wrapped, clamped) = ([44.0, 56.0, -1.0, 0.0, 0.0], [127.0, -128.0, 127.0, -128.0, 0.0]);
        for (saturation, tmp, want) in [
            (None, false, wrapped),
            (OFF, false, wrapped),
            (OFF, true, wrapped),
            (ON, false, clamped),
            (ON, true, clamped),
        ] {
            for arch in [Arch::A3, Arch::A5] {
                assert_eq!(cvt(arch, F16, I8, &x, 0, saturation, tmp), want);
            }
        }
        assert_eq!(cvt(Arch::A3, F16, U8, &[300.0, -1.0, inf], 0, None, false), [44.0, 255.0, 255.0]);
        // With scratch A3 goes through a saturated i32.
        let big = [4_294_967_296.0 + 5.0 * 512.0];
        assert_eq!(cvt(Arch::A5, F32, I16, &big, 0, None, true), [2560.0]);
        assert_eq!(cvt(Arch::A3, F32, I16, &big, 0, None, true), [-1.0]);
        // Pairs that saturate by default; A3 insists without scratch.
        assert_eq!(cvt(Arch::A5, F32, I32, &[3e9, nan], 0, None, false), [2_147_483_647.0, 0.0]);
        assert_eq!(cvt(Arch::A3, F32, I32, &[4_294_967_298.0], 0, OFF, false), [2_147_483_647.0]);
        assert_eq!(cvt(Arch::A5, F32, I32, &[4_294_967_296.0], 0, OFF, false), [0.0]);
        assert_eq!(cvt(Arch::A5, F16, I4, &[9.0, -9.0], 0, None, false), [7.0, -8.0]);
        // Integers.
        assert_eq!(cvt(Arch::A3, I32, I16, &[40000.0, -40000.0], 0, None, false), [-25536.0, 25536.0]);
        assert_eq!(cvt(Arch::A3, I32, I16, &[40000.0, -40000.0], 0, ON, false), [32767.0, -32768.0]);
        assert_eq!(cvt(Arch::A3, I64, I32, &[4_294_967_297.0], 0, None, false), [1.0]);
        assert_eq!(cvt(Arch::A5, I32, U8, &[300.0, -1.0], 0, None, false), [255.0, 0.0]);
        assert_eq!(cvt(Arch::A5, U32, I16, &[4_294_967_295.0], 0, None, false), [32767.0]);
        assert_eq!(cvt(Arch::A5, I16, U32, &[-1.0], 0, None, false), [4_294_967_295.0]);
        assert_eq!(cvt(Arch::A5, I8, I16, &[-5.0], 0, None, false), [-5.0]);
    }

    #[test]
    fn floats_round_to_floats_by_mode() {
        let step = 1.0 / 1024.0;
        let x = [1.0 + 0.5 * step, 1.0 + 1.5 * step, -1.0 - 0.25 * step, 1.0 + step, 1e-8];
        let tiny = 2f64.powi(-24);
        let want = [
            [1.0, 1.0 + 2.0 * step, -1.0, 1.0 + step, 0.0],
            [1.0, 1.0 + 2.0 * step, -1.0, 1.0 + step, 0.0],
            [1.0 + step, 1.0 + 2.0 * step, -1.0, 1.0 + step, 0.0],
            [1.0, 1.0 + step, -1.0 - step, 1.0 + step, 0.0],
            [1.0 + step, 1.0 + 2.0 * step, -1.0, 1.0 + step, tiny],
            [1.0, 1.0 + step, -1.0, 1.0 + step, 0.0],
            [1.0 + step, 1.0 + step, -1.0 - step, 1.0 + step, tiny],
        ];
        for mode in MODES {
            assert_eq!(cvt(Arch::A3, F32, F16, &x, mode, None, false), want[mode as usize], "{mode}");
        }
        let inf = f64::INFINITY;
        assert_eq!(cvt(Arch::A3, F32, F16, &[1e5, -inf], 1, None, false), [65504.0, -65504.0]);
        assert_eq!(cvt(Arch::A5, F32, F16, &[1e5, -inf], 1, OFF, false), [inf, -inf]);
        assert_eq!(cvt(Arch::A3, F16, F32, &[inf, 0.5], 1, None, false), [inf, 0.5]);
        assert_eq!(cvt(Arch::A3, F32, BF16, &[1.0 + 1.0 / 256.0, 3.0], 4, None, false), [1.0 + 1.0 / 128.0, 3.0]);
        assert_eq!(cvt(Arch::A5, BF16, F16, &[65536.0, 1.5], 1, None, false), [65504.0, 1.5]);
        // Eight bits: one rounding whatever the mode; HiFloat8 takes ties away from zero.
        assert_eq!(cvt(Arch::A5, F32, F8E4M3, &[17.0, 19.0, 500.0], 5, None, false), [16.0, 20.0, 448.0]);
        assert!(cvt(Arch::A5, F32, F8E4M3, &[500.0], 1, OFF, false)[0].is_nan());
        assert_eq!(cvt(Arch::A5, F32, F8E5M2, &[9.0, 1e6], 1, OFF, false), [8.0, inf]);
        assert_eq!(cvt(Arch::A5, F32, HiF8, &[17.0, 18.0, 68.0, 1.0625], 1, None, false), [16.0, 20.0, 64.0, 1.125]);
        assert_eq!(
            cvt(Arch::A5, F16, HiF8, &[2f64.powi(-23), 3.0 * 2f64.powi(-18)], 1, None, false),
            [2f64.powi(-22), 2f64.powi(-16)]
        );
        assert_eq!(cvt(Arch::A5, HiF8, F32, &[-0.875], 1, None, false), [-0.875]);
        // Integers that a float does not hold.
        assert_eq!(cvt(Arch::A3, I32, F32, &[16_777_217.0], 4, None, false), [16_777_218.0]);
        assert_eq!(cvt(Arch::A3, I32, F16, &[2049.0, 1e6], 1, None, false), [2048.0, 65504.0]);
        assert_eq!(wide((1 << 60) + 1), 2f64.powi(60) + 256.0);
        assert_eq!(wide(-(1 << 60) - 1), -(2f64.powi(60) + 256.0));
        assert_eq!(wide((1 << 60) - 1), 2f64.powi(60) - 128.0);
        assert_eq!(wide(i64::MIN), -(2f64.powi(63)));
        assert_eq!(Rounding::Rint.float(wide((1 << 60) + (1 << 36) + 1), F32, true), 2f64.powi(60) + 2f64.powi(37));
    }

    /// Every rounding agrees with a search through all values of the type.
    #[test]
    fn rounding_finds_the_neighbours() {
        for to in [F16, F8E4M3, F8E5M2, HiF8, F4E2M1, F4E1M2] {
            let codes = 0..1u64 << to.bits();
            let mut values: Vec<f64> = codes.map(|c| to.float_of_bits(c)).filter(|v| v.is_finite()).collect();
            values.sort_by(f64::total_cmp);
            values.dedup();
            for pair in values.windows(2).step_by(if to == F16 { 97 } else { 1 }) {
                let (low, high) = (pair[0], pair[1]);
                assert_eq!(Rounding::Trunc.float(low, to, true), low);
                for (part, near) in [(0.25, low), (0.75, high)] {
                    let x = low + (high - low) * part;
                    assert_eq!(Rounding::Rint.float(x, to, true), near, "{} {x}", to.name());
                    assert_eq!(Rounding::Round.float(x, to, true), near);
                    assert_eq!(Rounding::Floor.float(x, to, true), low);
                    assert_eq!(Rounding::Ceil.float(x, to, true), high);
                    assert_eq!(Rounding::Trunc.float(x, to, true), if x > 0.0 { low } else { high });
                }
                let tie = (low + high) / 2.0;
                assert_eq!(Rounding::Round.float(tie, to, true), if tie > 0.0 { high } else { low });
            }
        }
    }

    #[test]
    fn four_bits_are_written_by_whole_bytes_up_to_the_end_of_the_row() {
        let mut bench = Bench::new(Arch::A5);
        let (mut src, whole) = (vec(BF16, 2, 16, 0), vec(F4E2M1, 2, 64, 512));
        let mut dst = whole.clone();
        (src.valid_cols, dst.valid_cols) = (5, 5);
        bench.put(&whole, &[6.0; 128]);
        bench.put(&src, &[0.25, 0.75, -5.0, 100.0, 1.0, 1.75, 2.5, -0.1, 1.0, 1.0]);
        let mut operands = tiles([&dst, &src]);
        operands.extend([Operand::Null, flag("RoundMode", 1), Operand::Null]);
        bench.run("TCVT", operands).expect("legal");
        let got = bench.get(&whole);
        assert_eq!(got[..5], [0.0, 1.0, -4.0, 6.0, 0.0]);
        assert_eq!(got[64..69], [2.0, 2.0, -0.0, 1.0, 0.0]);
        assert!(got[5..64].iter().chain(&got[69..]).all(|&v| v == 0.0));
        assert_eq!(cvt(Arch::A5, F4E1M2, BF16, &[1.75, -0.25], 1, None, false), [1.75, -0.25]);
    }

    #[test]
    fn scratch_is_lost_on_the_paths_that_use_it() {
        for (arch, to, lost) in [(Arch::A3, I16, true), (Arch::A5, I16, false), (Arch::A3, I32, false)] {
            let mut bench = Bench::new(arch);
            let (src, dst, tmp) = (vec(F32, 1, 16, 0), vec(to, 1, 16, 256), vec(I32, 1, 16, 512));
            bench.put(&src, &[1.0; 16]);
            bench.put(&tmp, &[7.0; 16]);
            let mut operands = tiles([&dst, &src, &tmp]);
            operands.extend([flag("RoundMode", 1), flag("SaturationMode", 1)]);
            bench.run("TCVT", operands).expect("legal");
            assert_eq!(bench.get(&tmp)[0] != 7.0, lost, "{}", to.name());
        }
    }

    #[test]
    fn fused_sums() {
        for arch in [Arch::A3, Arch::A5] {
            let run = |name, from, to, x: &[f64], y: &[f64]| {
                let mut bench = Bench::new(arch);
                let (mut a, mut b) = (vec(from, 1, 32, 0), vec(from, 1, 32, 256));
                let mut dst = vec(to, 1, 32, 512);
                (a.valid_cols, b.valid_cols, dst.valid_cols) = (x.len(), x.len(), x.len());
                bench.put(&a, x);
                bench.put(&b, y);
                bench.run(name, tiles([&dst, &a, &b])).expect("legal");
                bench.get(&dst)
            };
            let (x, y) = ([60000.0, -3.0, 1.0], [60000.0, 1.0, 1.0 / 4096.0]);
            assert_eq!(run("TADDRELUCONV", F32, F16, &x, &y), [65504.0, 0.0, 1.0]);
            assert_eq!(run("TSUBRELUCONV", F16, I8, &[200.0, 2.5, 1.0], &[1.0, 0.0, 3.0]), [127.0, 2.0, 0.0]);
            assert_eq!(run("TSUBRELUCONV", I16, I8, &[200.0, 5.0, 1.0], &[-1.0, 2.0, 3.0]), [127.0, 3.0, 0.0]);
            // The sum of i16 wraps where it is rounded first.
            let overflow = if arch == Arch::A3 { 127.0 } else { 0.0 };
            assert_eq!(run("TADDRELUCONV", I16, I8, &[30000.0], &[30000.0]), [overflow]);
            // 16.5 + 1/256 is rounded to a tie first on A5.
            let near = if arch == Arch::A3 { 17.0 } else { 16.0 };
            assert_eq!(run("TADDRELUCONV", F16, I8, &[16.5], &[1.0 / 256.0]), [near]);
        }
    }

    #[test]
    fn dequantised_sums_and_what_is_left_of_the_sources() {
        for arch in [Arch::A3, Arch::A5] {
            let mut bench = Bench::new(arch);
            let (a, b, tmp) = (vec(I32, 1, 8, 0), vec(I32, 1, 8, 64), vec(I32, 1, 8, 128));
            let dst = vec(F16, 1, 8, 192);
            bench.put(&a, &[1.0, -5.0, 2_000_000_000.0, 3.0, 0.0, 0.0, 0.0, 7.0]);
            bench.put(&b, &[2.0, 1.0, 0.0, 4.0, 0.0, 0.0, 0.0, 0.0]);
            bench.put(&tmp, &[1.0; 8]);
            let mut operands = tiles([&dst, &a, &b]);
            operands.extend([Operand::Float(0.5, F32), Operand::Tile(tmp.clone())]);
            bench.run("TADDDEQRELU", operands).expect("legal");
            assert_eq!(bench.get(&dst), [1.5, 0.0, 65504.0, 3.5, 0.0, 0.0, 0.0, 3.5]);
            let left = bench.get(&Tile { element: F32, ..a.clone() });
            match arch {
                Arch::A3 => {
                    assert_eq!(left[..4], [1.5, -2.0, 1e9, 3.5]);
                    assert_eq!(bench.get(&Tile { element: F32, ..b.clone() })[..4], [1.5, 0.0, 1e9, 3.5]);
                    assert_ne!(bench.get(&tmp)[0], 1.0);
                }
                _ => assert_eq!(bench.get(&a)[1], -5.0),
            }
        }
    }

    #[test]
    fn the_fixpipe_scales_by_word() {
        let word = quant_word;
        let (v, inf) = ([1.0f64, -2.0, 3.0, 100.0], f64::INFINITY);
        let pipe = |x: &[f64], from, to, quant, relu| fixpipe(x, 2, from, to, quant, relu).expect("legal");
        assert_eq!(pipe(&v, F32, F32, Quant::None, true), [1.0, 0.0, 3.0, 100.0]);
        assert_eq!(pipe(&[70000.0, 0.1], F32, F16, Quant::None, false), [inf, F16.round(0.1)]);
        assert_eq!(pipe(&[0.1], F32, BF16, Quant::None, false), [BF16.round(0.1)]);
        assert_eq!(pipe(&v, I32, F16, Quant::Scalar(word(1000.0, F16)), false), [1000.0, -2000.0, 3000.0, 65504.0]);
        assert_eq!(pipe(&[inf], F32, F16, Quant::Scalar(word(1.0, F16)), false), [inf]);
        assert_eq!(pipe(&v, I32, BF16, Quant::Scalar(word(0.5, BF16)), false), [0.5, -1.0, 1.5, 50.0]);
        // Signed and unsigned bytes, with an offset.
        let scale = word(1.5, I8);
        assert_eq!(pipe(&v, F32, I8, Quant::Scalar(scale), false), [2.0, -3.0, 4.0, 127.0]);
        assert_eq!(pipe(&v, I32, U8, Quant::Scalar(word(2.0, U8)), false), [2.0, 0.0, 6.0, 200.0]);
        let minus_three = (0x1fdu64) << 37;
        assert_eq!(pipe(&v, I32, I8, Quant::Scalar(scale | minus_three), false), [-1.0, -6.0, 1.0, 127.0]);
        // Rounded before the offset: 1.5 + 1 is 3, not 2.
        assert_eq!(pipe(&[1.0], F32, I8, Quant::Scalar(scale | 1 << 37), false), [3.0]);
        // A word a column, of 10 bits of mantissa; the scalar keeps all bits.
        let fine = word(1.0 + 1.0 / 4096.0, F16);
        let words = [fine, word(2.0, F16)];
        assert_eq!(pipe(&[4096.0, 8.0], F32, F32, Quant::Columns(&words), false), [4096.0, 16.0]);
        assert_eq!(pipe(&[4096.0, 8.0], F32, F32, Quant::Scalar(fine), false)[0], 4097.0);
        // Shift to the right by one more than the word says.
        assert_eq!(pipe(&[-7.0, 1e9], I32, I16, Quant::Scalar(1 << 32), false), [-2.0, 32767.0]);
        assert_eq!(pipe(&[9.0, -300.0], F32, F8E4M3, Quant::Scalar(word(2.0, F8E4M3)), false), [18.0, -448.0]);
        assert_eq!(pipe(&[9.0, 1e9], F32, HiF8, Quant::Scalar(word(2.0, HiF8)), false), [20.0, 32768.0]);
        for (from, to, quant) in [
            (F32, I8, Quant::None),
            (I32, F16, Quant::None),
            (I32, I32, Quant::Scalar(0)),
            (F16, F16, Quant::None),
            (F32, F16, Quant::Columns(&[0])),
        ] {
            assert_eq!(fixpipe(&v, 2, from, to, quant, false).expect_err("refused").rule, Rule::Illegal);
        }
    }

    #[test]
    fn what_no_target_converts_is_refused() {
        for (name, dst, src, rest, words) in [
            ("TCVT", I32, I32, vec![Operand::Null], "does not convert i32 to i32"),
            ("TCVT", F8E4M3, F16, vec![Operand::Null], "does not convert f16 to f8e4m3"),
            ("TCVT", F16, F32, vec![Operand::Null, flag("RoundMode", 9)], "9 is no RoundMode"),
            ("TADDRELUCONV", I8, F32, tiles([&vec(F32, 1, 8, 0)]), "found f32 and f32 for i8"),
            ("TADDRELUCONV", F16, F32, tiles([&vec(F16, 1, 8, 0)]), "found f32 and f16 for f16"),
            ("TADDDEQRELU", F32, I32, vec![Operand::Tile(vec(I32, 1, 8, 0)), Operand::Float(1.0, F32)], "into f32"),
        ] {
            let mut operands = tiles([&vec(dst, 1, 8, 256), &vec(src, 1, 8, 0)]);
            operands.extend(rest);
            let fault = Bench::new(Arch::A5).run(name, operands).expect_err(words);
            assert!(fault.message.contains(words), "{}", fault.message);
        }
        // The valid part of dst reaches past the rows of src.
        let mut bench = Bench::new(Arch::A3);
        let fault = bench.run("TCVT", tiles([&vec(F16, 4, 16, 512), &vec(F32, 2, 16, 0)])).expect_err("past the end");
        assert_eq!(fault.rule, Rule::OutsideSpace);
    }
}
