//! Conversions between element types: `TCVT`, the fused `T*CONV` forms, and the conversions of the fixpipe.

use super::super::element::{Element, Lane};
use super::{Fault, Op, illegal};

/// The instructions.
pub const OPS: &[Op] = &[];

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
    use Element::{BF16, F8E4M3, F16, F32, HiF8, I8, I16, I32, U8};
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
        (_, F32, HiF8) => |x, _, scale| finite(scaled(x, scale), HiF8),
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
            if relu && !(y > 0.0) { 0.0 } else { y }
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
    let rounded = libm::rint(scaled(x, scale)).clamp(-256.0, 255.0) as i64;
    let offset = (word >> 37 << 55) as i64 >> 55;
    let (low, high) = if word >> 46 & 1 == 1 { (-128, 127) } else { (0, 255) };
    (rounded + offset).clamp(low, high) as f64
}
