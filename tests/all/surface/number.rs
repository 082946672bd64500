//! Element types and their numbers, worked out here from the definitions of the formats: what is expected of a kernel is
//! computed without the code that runs it.

use pto_runtime_shim::{Element, Tensor};

/// How the bits of an element are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Two's complement, so many bits.
    Signed(u32),
    /// So many bits.
    Unsigned(u32),
    /// Sign, so many bits of exponent, so many of fraction; the exponent's bias is half its range.
    Float(u32, u32),
    /// So many bits whose meaning is not needed here.
    Bits(u32),
}

/// An element type.
#[derive(Debug, PartialEq, Eq)]
pub struct Type {
    /// Its name in the facts.
    pub name: &'static str,
    /// Its name in a kernel's text.
    pub text: &'static str,
    pub format: Format,
    /// What the simulated NPU calls it, or a type as wide where it has no tiles of it.
    element: Element,
}

/// Every element type that a tile's type can name.
pub const TYPES: &[Type] = &[
    ty("i8", "i8", Format::Signed(8), Element::I8),
    ty("ui8", "ui8", Format::Unsigned(8), Element::U8),
    ty("i16", "i16", Format::Signed(16), Element::I16),
    ty("ui16", "ui16", Format::Unsigned(16), Element::U16),
    ty("i32", "i32", Format::Signed(32), Element::I32),
    ty("ui32", "ui32", Format::Unsigned(32), Element::U32),
    ty("i64", "i64", Format::Signed(64), Element::I64),
    ty("ui64", "ui64", Format::Unsigned(64), Element::U64),
    ty("f16", "f16", Format::Float(5, 10), Element::F16),
    ty("bf16", "bf16", Format::Float(8, 7), Element::BF16),
    ty("f32", "f32", Format::Float(8, 23), Element::F32),
    ty("f8e4m3", "f8E4M3FN", Format::Float(4, 3), Element::F8E4M3),
    ty("f8e5m2", "f8E5M2", Format::Float(5, 2), Element::F8E5M2),
    ty("hif8", "!pto.hif8", Format::Bits(8), Element::HiF8),
    ty("f8e8m0", "!pto.f8E8M0", Format::Bits(8), Element::F8E8M0),
    ty("f4e2m1x2", "!pto.f4E2M1x2", Format::Bits(8), Element::F4E2M1),
    ty("f4e1m2x2", "!pto.f4E1M2x2", Format::Bits(8), Element::F4E1M2),
    ty("i1", "i1", Format::Bits(8), Element::U8),
    ty("i4", "i4", Format::Bits(8), Element::U8),
    ty("f64", "f64", Format::Bits(64), Element::U64),
    ty("hif8x2", "!pto.hif8x2", Format::Bits(16), Element::U16),
    ty("bf16x2", "!pto.bf16x2", Format::Bits(32), Element::U32),
];

const fn ty(name: &'static str, text: &'static str, format: Format, element: Element) -> Type {
    Type { name, text, format, element }
}

/// A type by its name.
pub fn named(name: &str) -> &'static Type {
    TYPES.iter().find(|t| t.name == name).unwrap_or_else(|| panic!("no element type {name}"))
}

impl Type {
    /// Bits of storage.
    pub fn bits(&self) -> u32 {
        match self.format {
            Format::Signed(bits) | Format::Unsigned(bits) | Format::Bits(bits) => bits,
            Format::Float(exponent, fraction) => 1 + exponent + fraction,
        }
    }

    pub fn bytes(&self) -> usize {
        self.bits() as usize / 8
    }

    pub fn is_float(&self) -> bool {
        matches!(self.format, Format::Float(..))
    }

    pub fn is_integer(&self) -> bool {
        matches!(self.format, Format::Signed(_) | Format::Unsigned(_))
    }

    pub fn is_unsigned(&self) -> bool {
        matches!(self.format, Format::Unsigned(_))
    }

    /// Whether a list of the facts has it; a signless name stands for both signednesses. (In lists of the tests, `si16`
    /// is the signed one alone.)
    pub fn is_in(&self, list: &str) -> bool {
        let bare = if self.is_unsigned() { self.name.strip_prefix('u') } else { None };
        let signed = |name: &str| !self.is_unsigned() && name.strip_prefix('s') == Some(self.name);
        list.split_whitespace().any(|name| name == self.name || Some(name) == bare || signed(name))
    }

    /// Smallest and largest integer.
    pub fn range(&self) -> (i128, i128) {
        match self.format {
            Format::Signed(bits) => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            Format::Unsigned(bits) | Format::Bits(bits) => (0, (1 << bits) - 1),
            // Integers that narrow floats have too.
            Format::Float(..) => (-8, 8),
        }
    }

    /// An integer that wraps around.
    pub fn wrap(&self, value: i128) -> i128 {
        let (low, high) = self.range();
        (value - low).rem_euclid(high - low + 1) + low
    }

    /// Whether the largest exponent is an ordinary one: no infinities, one NaN.
    fn is_finite(&self) -> bool {
        self.name == "f8e4m3"
    }

    /// Largest finite float.
    pub fn largest(&self) -> f64 {
        let Format::Float(exponent, fraction) = self.format else { panic!("{} is no float", self.name) };
        let bias = (1 << (exponent - 1)) - 1;
        match self.is_finite() {
            true => 448.0,
            false => (2.0 - 0.5f64.powi(fraction as i32)) * 2f64.powi(bias),
        }
    }

    /// Exponents of the smallest normal float and of the last place of subnormal ones.
    fn smallest(&self) -> (i32, i32) {
        let Format::Float(exponent, fraction) = self.format else { panic!("{} is no float", self.name) };
        let normal = 2 - (1 << (exponent - 1));
        (normal, normal - fraction as i32)
    }

    /// Smallest positive float.
    pub fn least(&self) -> f64 {
        2f64.powi(self.smallest().1)
    }

    /// The nearest float of the type, ties to even; what is too large becomes infinite, or the largest where there are
    /// no infinities.
    pub fn round(&self, value: f64) -> f64 {
        let Format::Float(_, fraction) = self.format else { panic!("{} is no float", self.name) };
        if value == 0.0 || !value.is_finite() {
            return match value.is_infinite() && self.is_finite() {
                true => self.largest().copysign(value),
                false => value,
            };
        }
        let place = 2f64.powi(exponent_of(value).max(self.smallest().0) - fraction as i32);
        let rounded = (value / place).round_ties_even() * place;
        match rounded.abs() > self.largest() {
            true if self.is_finite() => self.largest().copysign(value),
            true => f64::INFINITY.copysign(value),
            false => rounded,
        }
    }

    /// Bits of a number, which is brought into the type first.
    pub fn encode(&self, number: Num) -> u64 {
        match (self.format, number) {
            (Format::Float(exponent, fraction), Num::F(value)) => {
                let value = self.round(value);
                let sign = u64::from(value.is_sign_negative()) << (exponent + fraction);
                let all = (1u64 << exponent) - 1;
                let magnitude = match value.abs() {
                    v if v.is_nan() && self.is_finite() => return sign | ((1 << (exponent + fraction)) - 1),
                    v if v.is_nan() => all << fraction | 1 << (fraction - 1),
                    v if v.is_infinite() => all << fraction,
                    v => {
                        let (normal, place) = self.smallest();
                        let above = if v == 0.0 { 0 } else { (exponent_of(v) - normal).max(0) };
                        let digits = (v / 2f64.powi(place + above)) as u64;
                        digits + ((above as u64) << fraction)
                    }
                };
                sign | magnitude
            }
            (Format::Float(..), Num::I(value)) => self.encode(Num::F(value as f64)),
            (_, Num::I(value)) => {
                let bits = self.wrap(value) as u64;
                bits & (u64::MAX >> (64 - self.bits()))
            }
            // Of kernels that are refused.
            (_, Num::F(value)) => self.encode(Num::I(value as i128)),
        }
    }

    /// The number behind bits.
    pub fn decode(&self, bits: u64) -> Num {
        let Format::Float(exponent, fraction) = self.format else {
            return Num::I(self.wrap(i128::from(bits)));
        };
        let sign = if bits >> (exponent + fraction) & 1 == 1 { -1.0 } else { 1.0 };
        let field = bits >> fraction & ((1 << exponent) - 1);
        let digits = bits & ((1 << fraction) - 1);
        let top = field == (1 << exponent) - 1;
        let whole = digits + 1 == 1 << fraction;
        let place = self.smallest().1;
        Num::F(match (top, field) {
            (true, _) if self.is_finite() && whole => f64::NAN,
            (true, _) if !self.is_finite() && digits == 0 => sign * f64::INFINITY,
            (true, _) if !self.is_finite() => f64::NAN,
            (_, 0) => sign * digits as f64 * 2f64.powi(place),
            _ => sign * (digits + (1 << fraction)) as f64 * 2f64.powi(place + field as i32 - 1),
        })
    }
}

/// Exponent of a float that is not 0.
fn exponent_of(value: f64) -> i32 {
    (value.to_bits() >> 52 & 0x7ff) as i32 - 1023
}

/// A number: integers (and raw bits), or floats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Num {
    I(i128),
    F(f64),
}

impl Num {
    pub fn int(self) -> i128 {
        match self {
            Num::I(value) => value,
            Num::F(value) => value as i128,
        }
    }

    pub fn float(self) -> f64 {
        match self {
            Num::F(value) => value,
            Num::I(value) => value as f64,
        }
    }
}

/// A matrix of numbers of a type.
#[derive(Clone, Debug)]
pub struct Data {
    pub ty: &'static Type,
    pub rows: usize,
    pub cols: usize,
    pub values: Vec<Num>,
}

impl Data {
    pub fn new(ty: &'static Type, rows: usize, cols: usize, mut value: impl FnMut(usize, usize) -> Num) -> Data {
        let values = (0..rows * cols).map(|at| ty.decode(ty.encode(value(at / cols, at % cols)))).collect();
        Data { ty, rows, cols, values }
    }

    pub fn at(&self, row: usize, col: usize) -> Num {
        self.values[row * self.cols + col]
    }

    /// Of the same type.
    pub fn like(&self, rows: usize, cols: usize, value: impl FnMut(usize, usize) -> Num) -> Data {
        Data::new(self.ty, rows, cols, value)
    }

    pub fn bytes(&self) -> Vec<u8> {
        let size = self.ty.bytes();
        self.values.iter().flat_map(|&v| self.ty.encode(v).to_le_bytes().into_iter().take(size)).collect()
    }

    /// As an argument of a kernel.
    pub fn tensor(&self) -> Tensor {
        Tensor { element: self.ty.element, shape: vec![self.rows, self.cols], bytes: self.bytes() }
    }
}

/// How near a result must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Close {
    Exact,
    /// So many steps from float to float.
    Steps(u64),
}

/// The first number in `bytes` that is not as wanted.
pub fn first_difference(bytes: &[u8], want: &Data, close: Close) -> Option<String> {
    let size = want.ty.bytes();
    if bytes.len() != want.values.len() * size {
        return Some(format!("{} bytes instead of {}", bytes.len(), want.values.len() * size));
    }
    for (at, (word, &wanted)) in bytes.chunks_exact(size).zip(&want.values).enumerate() {
        let bits = word.iter().rev().fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
        let found = want.ty.decode(bits);
        let near = match (found, wanted) {
            (Num::F(a), Num::F(b)) if a == b || a.is_nan() && b.is_nan() => true,
            (Num::F(_), Num::F(_)) => match close {
                Close::Exact => false,
                Close::Steps(most) => steps(want.ty, bits).abs_diff(steps(want.ty, want.ty.encode(wanted))) <= most,
            },
            (a, b) => a == b,
        };
        if !near {
            let (row, col) = (at / want.cols, at % want.cols);
            return Some(format!("{found:?} instead of {wanted:?} at [{row}, {col}]"));
        }
    }
    None
}

/// A number that grows by one from float to float.
fn steps(ty: &Type, bits: u64) -> i64 {
    let sign = 1i64 << (ty.bits() - 1);
    let bits = bits as i64;
    if bits & sign != 0 { sign - bits } else { bits }
}

/// Bits that look random and depend on two numbers.
pub fn noise(seed: u64, at: u64) -> u64 {
    let mut z = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ at.wrapping_mul(0xd1b5_4a32_d192_ed03);
    for _ in 0..2 {
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
    }
    z
}

/// A number from 0 to 1 that looks random.
pub fn part(seed: u64, at: u64) -> f64 {
    (noise(seed, at) >> 11) as f64 / (1u64 << 53) as f64
}

#[test]
fn formats_are_as_defined() {
    let f16 = named("f16");
    assert_eq!((f16.largest(), f16.least()), (65504.0, 2f64.powi(-24)));
    assert_eq!(f16.encode(Num::F(1.0)), 0x3c00);
    assert_eq!(f16.encode(Num::F(-65520.0)), 0xfc00);
    assert_eq!(f16.round(1.0 + 2f64.powi(-11)), 1.0);
    assert_eq!(f16.round(1.0 + 3.0 * 2f64.powi(-11)), 1.0 + 2f64.powi(-9));
    assert_eq!(named("f32").encode(Num::F(0.1)), u64::from(0.1f32.to_bits()));
    assert_eq!(named("f8e4m3").encode(Num::F(1e9)), 0x7e);
    assert_eq!(named("f8e5m2").decode(0x7c), Num::F(f64::INFINITY));
    assert_eq!((named("i8").wrap(200), named("ui8").wrap(-1)), (-56, 255));
    for ty in TYPES.iter().filter(|t| t.bits() <= 16) {
        for bits in 0..1u64 << ty.bits() {
            let number = ty.decode(bits);
            if number != Num::F(f64::NAN) && number == number {
                assert_eq!(ty.encode(number), bits, "{}", ty.name);
            }
        }
    }
    assert!(named("ui16").is_in("i16") && !named("i16").is_in("ui16") && !named("f16").is_in("bf16"));
}
