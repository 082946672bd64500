//! Element types: their widths, and how their values are read from and written to memory.
//!
//! Arithmetic is done in a wider lane: `f64` (or `f32` in the matrix unit) for floats, `i64` for integers. Writing
//! rounds floats to nearest, ties to even, and wraps integers; other roundings and saturation are the instruction's.

use std::sync::OnceLock;

use half::bf16;

/// Element type of a tile or tensor, numbered as `pto_host::Element`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Element {
    None,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    BF16,
    F32,
    F64,
    F8E4M3,
    F8E5M2,
    F8E8M0,
    HiF8,
    F4E2M1,
    F4E1M2,
    HiF4,
    I4,
    Bool,
    /// Raw bits of a four-bit element; never in a kernel.
    U4,
}

use Element::{
    BF16, Bool, F4E1M2, F4E2M1, F8E4M3, F8E5M2, F8E8M0, F16, F32, F64, HiF4, HiF8, I4, I8, I16, I32, I64, U4, U8, U16,
    U32, U64,
};

/// By number: element, name, bits, whether it is a float.
const FACTS: [(Element, &str, usize, bool); 23] = [
    (Element::None, "none", 8, false),
    (I8, "i8", 8, false),
    (U8, "u8", 8, false),
    (I16, "i16", 16, false),
    (U16, "u16", 16, false),
    (I32, "i32", 32, false),
    (U32, "u32", 32, false),
    (I64, "i64", 64, false),
    (U64, "u64", 64, false),
    (F16, "f16", 16, true),
    (BF16, "bf16", 16, true),
    (F32, "f32", 32, true),
    (F64, "f64", 64, true),
    (F8E4M3, "f8e4m3", 8, true),
    (F8E5M2, "f8e5m2", 8, true),
    (F8E8M0, "f8e8m0", 8, true),
    (HiF8, "hif8", 8, true),
    (F4E2M1, "f4e2m1", 4, true),
    (F4E1M2, "f4e1m2", 4, true),
    (HiF4, "hif4", 4, true),
    (I4, "i4", 4, false),
    (Bool, "bool", 8, false),
    (U4, "u4", 4, false),
];

impl Element {
    /// The element with a number of `pto_host::Element`.
    pub fn of(code: u8) -> Element {
        FACTS.get(usize::from(code)).map_or(Element::None, |f| f.0)
    }

    /// Short name, such as `f16`.
    pub fn name(self) -> &'static str {
        FACTS[self as usize].1
    }

    /// The element of a short name.
    pub fn named(name: &str) -> Option<Element> {
        FACTS[1..22].iter().find(|f| f.1 == name).map(|f| f.0)
    }

    /// Width of a value in bits: 4, 8, 16, 32 or 64.
    pub fn bits(self) -> usize {
        FACTS[self as usize].2
    }

    /// Bytes of the kernel's type for it: two four-bit values share a byte.
    pub fn storage_bytes(self) -> usize {
        self.bits().div_ceil(8)
    }

    /// Bytes of `count` values.
    pub fn bytes_of(self, count: usize) -> usize {
        (count * self.bits()).div_ceil(8)
    }

    /// Whether it is a floating-point type.
    pub fn is_float(self) -> bool {
        FACTS[self as usize].3
    }

    /// Whether it is an unsigned integer.
    pub fn is_unsigned(self) -> bool {
        matches!(self, U8 | U16 | U32 | U64 | Bool | U4)
    }

    /// The unsigned integer of the same width: copies go through it bit by bit.
    pub fn raw(self) -> Element {
        match self.bits() {
            4 => U4,
            8 => U8,
            16 => U16,
            32 => U32,
            _ => U64,
        }
    }

    /// Smallest and largest value of an integer type.
    pub fn integer_range(self) -> (i64, i64) {
        let bits = self.bits() as u32;
        match self.is_unsigned() {
            // The lane holds the bits of a u64.
            true if bits == 64 => (0, i64::MAX),
            true => (0, (1i64 << bits) - 1),
            false => (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits)),
        }
    }

    /// Largest finite value of a float type.
    pub fn largest(self) -> f64 {
        match self {
            F16 => 65504.0,
            BF16 => bf16::MAX.to_f64(),
            F32 => f64::from(f32::MAX),
            F64 => f64::MAX,
            narrow => narrow.codec().largest,
        }
    }

    /// Rounds a value to the type, ties to even; what is too large becomes infinite where the type has it, else the
    /// largest value.
    pub fn round(self, value: f64) -> f64 {
        match self {
            F16 => f64::from(of_half(to_half(odd(value)))),
            BF16 => bf16::from_f32(odd(value)).to_f64(),
            F32 => f64::from(value as f32),
            F64 => value,
            narrow if narrow.is_float() => narrow.codec().decode(narrow.codec().encode(value)),
            _ => value,
        }
    }

    /// Wraps an integer to the type.
    pub fn wrap(self, value: i64) -> i64 {
        match self {
            I8 => i64::from(value as i8),
            U8 | Bool => i64::from(value as u8),
            I16 => i64::from(value as i16),
            U16 => i64::from(value as u16),
            I32 => i64::from(value as i32),
            U32 => i64::from(value as u32),
            I4 => (value << 60) >> 60,
            U4 => value & 15,
            _ => value,
        }
    }

    /// Brings an integer into the range of the type.
    pub fn saturate(self, value: i64) -> i64 {
        let (low, high) = self.integer_range();
        value.clamp(low, high)
    }

    /// Value of a bit pattern, for floats of at most 32 bits.
    pub fn float_of_bits(self, bits: u64) -> f64 {
        let mut out = Vec::new();
        self.decode(&bits.to_le_bytes(), 0, 1, 1, &mut out);
        out[0]
    }

    /// Appends `count` values to `out`: those at elements `start`, `start + step`, ... of `memory`.
    ///
    /// # Panics
    /// When they do not lie in `memory`: callers check bounds first.
    pub fn decode<L: Lane>(self, memory: &[u8], start: usize, step: usize, count: usize, out: &mut Vec<L>) {
        macro_rules! values {
            ($type:ty, $convert:expr) => {{
                const SIZE: usize = size_of::<$type>();
                let convert = $convert;
                let bytes = &memory[start * SIZE..];
                if step == 1 {
                    let words = bytes[..count * SIZE].chunks_exact(SIZE);
                    out.extend(words.map(|w| convert(<$type>::from_le_bytes(w.try_into().expect("a whole value")))));
                } else {
                    out.extend((0..count).map(|i| {
                        let word = &bytes[i * step * SIZE..][..SIZE];
                        convert(<$type>::from_le_bytes(word.try_into().expect("a whole value")))
                    }));
                }
            }};
        }
        match self {
            F32 => values!(f32, |v| L::from_f32(v)),
            F16 => values!(u16, |v| L::from_f32(of_half(v))),
            BF16 => values!(u16, |v| L::from_f32(bf16::from_bits(v).to_f32())),
            F64 => values!(f64, |v| L::from_f64(v)),
            I8 => values!(i8, |v| L::from_i64(i64::from(v))),
            U8 | Bool | Element::None => values!(u8, |v| L::from_i64(i64::from(v))),
            I16 => values!(i16, |v| L::from_i64(i64::from(v))),
            U16 => values!(u16, |v| L::from_i64(i64::from(v))),
            I32 => values!(i32, |v| L::from_i64(i64::from(v))),
            U32 => values!(u32, |v| L::from_i64(i64::from(v))),
            I64 | U64 => values!(i64, |v| L::from_i64(v)),
            F8E4M3 | F8E5M2 | F8E8M0 | HiF8 => {
                let codec = self.codec();
                values!(u8, |v| L::from_f64(codec.decode(v)))
            }
            F4E2M1 | F4E1M2 | HiF4 | I4 | U4 => out.extend((0..count).map(|i| {
                let at = start + i * step;
                let nibble = memory[at / 2] >> (4 * (at % 2)) & 15;
                match self {
                    I4 => L::from_i64(I4.wrap(i64::from(nibble))),
                    U4 => L::from_i64(i64::from(nibble)),
                    _ => L::from_f64(self.codec().decode(nibble)),
                }
            })),
        }
    }

    /// Writes `values` to elements `start`, `start + step`, ... of `memory`.
    ///
    /// # Panics
    /// When they do not lie in `memory`: callers check bounds first.
    pub fn encode<L: Lane>(self, values: &[L], memory: &mut [u8], start: usize, step: usize) {
        macro_rules! values {
            ($type:ty, $convert:expr) => {{
                const SIZE: usize = size_of::<$type>();
                let convert = $convert;
                let bytes = &mut memory[start * SIZE..];
                if step == 1 {
                    for (word, &value) in bytes[..values.len() * SIZE].chunks_exact_mut(SIZE).zip(values) {
                        let converted: $type = convert(value);
                        word.copy_from_slice(&converted.to_le_bytes());
                    }
                } else {
                    for (i, &value) in values.iter().enumerate() {
                        let converted: $type = convert(value);
                        bytes[i * step * SIZE..][..SIZE].copy_from_slice(&converted.to_le_bytes());
                    }
                }
            }};
        }
        match self {
            F32 => values!(f32, |v: L| v.to_f32()),
            F16 => values!(u16, |v: L| to_half(odd(v.to_f64()))),
            BF16 => values!(u16, |v: L| bf16::from_f32(odd(v.to_f64())).to_bits()),
            F64 => values!(f64, |v: L| v.to_f64()),
            I8 | U8 | Bool | Element::None => values!(u8, |v: L| v.to_i64() as u8),
            I16 | U16 => values!(u16, |v: L| v.to_i64() as u16),
            I32 | U32 => values!(u32, |v: L| v.to_i64() as u32),
            I64 | U64 => values!(i64, |v: L| v.to_i64()),
            F8E4M3 | F8E5M2 | F8E8M0 | HiF8 => {
                let codec = self.codec();
                values!(u8, |v: L| codec.encode(v.to_f64()))
            }
            F4E2M1 | F4E1M2 | HiF4 | I4 | U4 => {
                for (i, &value) in values.iter().enumerate() {
                    let nibble = match self {
                        I4 | U4 => value.to_i64() as u8 & 15,
                        _ => self.codec().encode(value.to_f64()),
                    };
                    let at = start + i * step;
                    let shift = 4 * (at % 2);
                    memory[at / 2] = memory[at / 2] & !(15 << shift) | nibble << shift;
                }
            }
        }
    }

    /// Table of a float of at most 8 bits.
    fn codec(self) -> &'static Codec {
        static CODECS: OnceLock<Vec<(Element, Codec)>> = OnceLock::new();
        let codecs = CODECS.get_or_init(|| {
            let narrow = [
                (F8E4M3, Codec::new(8, |b| scientific(b, 4, 3, 7, |e, m| e == 15 && m == 7, |_, _| false))),
                (
                    F8E5M2,
                    Codec::new(8, |b| scientific(b, 5, 2, 15, |e, m| e == 31 && m != 0, |e, m| e == 31 && m == 0)),
                ),
                (F8E8M0, Codec::new(8, |b| if b == 255 { f64::NAN } else { libm::ldexp(1.0, i32::from(b) - 127) })),
                (HiF8, Codec::new(8, hif8)),
                (F4E2M1, Codec::new(4, |b| scientific(b, 2, 1, 1, |_, _| false, |_, _| false))),
                (F4E1M2, Codec::new(4, |b| scientific(b, 1, 2, 1, |_, _| false, |_, _| false))),
                // 1.2 in sign-magnitude: quarters up to 1.75.
                (HiF4, Codec::new(4, |b| f64::from(b & 7) / 4.0 * if b & 8 == 0 { 1.0 } else { -1.0 })),
            ];
            narrow.into()
        });
        &codecs.iter().find(|c| c.0 == self).expect("a narrow float").1
    }
}

/// A neighbour of `value` among the `f32` that rounds to narrower types as `value` does: one with an odd last bit
/// unless it is exact. (`half` itself rounds an `f64` twice, or drops its low bits, as the machine has it.)
fn odd(value: f64) -> f32 {
    let near = value as f32;
    let bits = near.to_bits();
    match f64::from(near).abs() {
        wide if bits & 1 == 1 || wide == value.abs() || wide.is_nan() => near,
        wide if wide < value.abs() => f32::from_bits(bits + 1),
        _ => f32::from_bits(bits - 1),
    }
}

/// Value of an `f16`. (`half` asks for the features of the machine at every conversion.)
#[inline]
fn of_half(code: u16) -> f32 {
    let magnitude = u32::from(code & 0x7fff) << 13;
    // The exponent is off by 112, for subnormals too.
    let scaled = f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23);
    let bits = if code & 0x7c00 == 0x7c00 { magnitude | 0x7f80_0000 } else { scaled.to_bits() };
    f32::from_bits(bits | u32::from(code & 0x8000) << 16)
}

/// The nearest `f16`, ties to even.
#[inline]
fn to_half(value: f32) -> u16 {
    let bits = value.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    let code = match magnitude {
        0x7f80_0001.. => 0x7e00,
        0x4780_0000.. => 0x7c00,
        // Next to a half, the last bit of an f32 is worth as much as that of a subnormal.
        0..0x3880_0000 => (f32::from_bits(magnitude) + 0.5).to_bits() - 0.5f32.to_bits(),
        _ => (magnitude - (112 << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13,
    };
    code as u16 | (bits >> 16) as u16 & 0x8000
}

/// Value of sign, `exponent` and `mantissa` bits with a bias, subnormals included.
fn scientific(
    bits: u8,
    exponent: u32,
    mantissa: u32,
    bias: i32,
    nan: fn(u8, u8) -> bool,
    infinite: fn(u8, u8) -> bool,
) -> f64 {
    let sign = if bits >> (exponent + mantissa) & 1 == 0 { 1.0 } else { -1.0 };
    let (e, m) = (bits >> mantissa & ((1 << exponent) - 1), bits & ((1 << mantissa) - 1));
    let fraction = f64::from(m) / f64::from(1u32 << mantissa);
    match e {
        _ if nan(e, m) => f64::NAN,
        _ if infinite(e, m) => sign * f64::INFINITY,
        0 => sign * libm::ldexp(fraction, 1 - bias),
        _ => sign * libm::ldexp(1.0 + fraction, i32::from(e) - bias),
    }
}

/// HiFloat8: a prefix code says how many of the five remaining bits are exponent (sign and magnitude with a hidden
/// leading one) and how many are mantissa.
fn hif8(bits: u8) -> f64 {
    let sign = if bits & 0x80 == 0 { 1.0 } else { -1.0 };
    let payload = bits & 0x7f;
    let (exponent_bits, rest) = match payload {
        0 => return if bits == 0 { 0.0 } else { f64::NAN },
        p if p >> 3 == 0 => return sign * libm::ldexp(1.0, i32::from(p) - 23),
        p if p >> 5 == 3 => (4, p & 0x1f),
        p if p >> 5 == 2 => (3, p & 0x1f),
        p if p >> 5 == 1 => (2, p & 0x1f),
        p if p >> 4 == 1 => (1, p & 0x0f),
        p => (0, p & 0x07),
    };
    let mantissa_bits = 3.min(5 - exponent_bits);
    let (raw, mantissa) = (rest >> mantissa_bits, rest & ((1 << mantissa_bits) - 1));
    let exponent = match exponent_bits {
        0 => 0,
        n => {
            let hidden = 1u8 << (n - 1);
            let magnitude = i32::from(hidden | raw & (hidden - 1));
            if raw & hidden == 0 { magnitude } else { -magnitude }
        }
    };
    match (exponent_bits, exponent, mantissa) {
        (4, 15, 1) => sign * f64::INFINITY,
        _ => sign * libm::ldexp(1.0 + f64::from(mantissa) / f64::from(1u32 << mantissa_bits), exponent),
    }
}

/// All values of a float of at most 8 bits.
struct Codec {
    values: Vec<f64>,
    /// Codes of finite values by value, one for each value.
    sorted: Vec<u8>,
    nan: Option<u8>,
    infinity: [Option<u8>; 2],
    largest: f64,
}

impl Codec {
    fn new(bits: u32, value: impl Fn(u8) -> f64) -> Codec {
        let values: Vec<f64> = (0..1u32 << bits).map(|b| value(b as u8)).collect();
        let find = |wanted: &dyn Fn(f64) -> bool| values.iter().position(|&v| wanted(v)).map(|b| b as u8);
        let mut sorted: Vec<u8> = (0..values.len()).filter(|&b| values[b].is_finite()).map(|b| b as u8).collect();
        sorted.sort_by(|&a, &b| values[usize::from(a)].total_cmp(&values[usize::from(b)]));
        Codec {
            nan: find(&|v| v.is_nan()),
            infinity: [find(&|v| v == f64::INFINITY), find(&|v| v == f64::NEG_INFINITY)],
            largest: values[usize::from(*sorted.last().expect("some finite value"))],
            values,
            sorted,
        }
    }

    fn decode(&self, bits: u8) -> f64 {
        self.values[usize::from(bits)]
    }

    /// The nearest value, ties to the even code; the largest one (or infinity) for what lies beyond.
    fn encode(&self, value: f64) -> u8 {
        let at = |i: usize| self.values[usize::from(self.sorted[i])];
        if value.is_nan() {
            return self.nan.unwrap_or(0);
        }
        let next = self.sorted.partition_point(|&b| self.values[usize::from(b)].total_cmp(&value).is_lt());
        if next == self.sorted.len() {
            let last = self.sorted[next - 1];
            let step = if next > 1 { at(next - 1) - at(next - 2) } else { 0.0 };
            return if value > self.largest + step / 2.0 { self.infinity[0].unwrap_or(last) } else { last };
        }
        if next == 0 {
            let step = at(1) - at(0);
            return if value < at(0) - step / 2.0 {
                self.infinity[1].unwrap_or(self.sorted[0])
            } else {
                self.sorted[0]
            };
        }
        let (low, high) = (value - at(next - 1), at(next) - value);
        let (below, above) = (self.sorted[next - 1], self.sorted[next]);
        if low < high || (low == high && below & 1 == 0) { below } else { above }
    }
}

/// A wide type that instructions compute in.
pub trait Lane: Copy + Default + 'static {
    /// From a float of at most 32 bits.
    fn from_f32(value: f32) -> Self;
    /// From a float.
    fn from_f64(value: f64) -> Self;
    /// From an integer.
    fn from_i64(value: i64) -> Self;
    /// As a float, rounded to nearest.
    fn to_f32(self) -> f32;
    /// As a float.
    fn to_f64(self) -> f64;
    /// As an integer; floats are truncated.
    fn to_i64(self) -> i64;
}

macro_rules! lane {
    ($($type:ty),*) => {$(
        impl Lane for $type {
            #[inline]
            fn from_f32(value: f32) -> Self {
                value as $type
            }
            #[inline]
            fn from_f64(value: f64) -> Self {
                value as $type
            }
            #[inline]
            fn from_i64(value: i64) -> Self {
                value as $type
            }
            #[inline]
            fn to_f32(self) -> f32 {
                self as f32
            }
            #[inline]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline]
            fn to_i64(self) -> i64 {
                self as i64
            }
        }
    )*};
}

lane!(f32, f64, i32, i64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_of_a_narrow_float_survives_a_round_trip() {
        for element in [F8E4M3, F8E5M2, F8E8M0, HiF8, F4E2M1, F4E1M2] {
            let codec = element.codec();
            for code in 0..codec.values.len() {
                let value = codec.values[code];
                let back = codec.decode(codec.encode(value));
                assert!(
                    back == value || (back.is_nan() && value.is_nan()),
                    "{} {code}: {value} {back}",
                    element.name()
                );
            }
        }
    }

    #[test]
    fn known_values() {
        assert_eq!(F8E4M3.largest(), 448.0);
        assert_eq!(F8E5M2.largest(), 57344.0);
        assert_eq!(F4E2M1.largest(), 6.0);
        assert_eq!(F4E1M2.largest(), 1.75);
        assert_eq!(HiF8.largest(), 32768.0);
        // Each prefix of HiFloat8: none to four bits of exponent, and the values below them.
        for (code, value) in [
            (0x08, 1.0),
            (0x0f, 1.875),
            (0x10, 2.0),
            (0x17, 3.75),
            (0x1f, 0.9375),
            (0x21, 4.5),
            (0x2f, 15.0),
            (0x3f, 0.234375),
            (0x45, 40.0),
            (0x61, 384.0),
            (0x6e, 32768.0),
            (0xef, f64::NEG_INFINITY),
            (0x7f, 1.5 / 32768.0),
            (0x01, 1.0 / 4194304.0),
            (0x87, -1.0 / 65536.0),
        ] {
            assert_eq!(HiF8.codec().decode(code), value, "{code:#x}");
        }
        assert!(HiF8.codec().decode(0x80).is_nan());
        assert_eq!(F8E4M3.round(17.0), 16.0, "ties to even");
        assert_eq!(F8E4M3.round(19.0), 20.0);
        assert_eq!(F16.round(65519.9), 65504.0);
        assert_eq!(F16.round(65520.0), f64::INFINITY);
        assert_eq!(F16.round(1e300), f64::INFINITY);
        assert_eq!(F16.round(2049.0 + 1e-9), 2050.0, "no tie, though f32 makes it one");
        assert_eq!(F16.round(-(2051.0 - 1e-9)), -2050.0);
        assert_eq!(F16.round(libm::ldexp(1.0, -25) + 1e-20), libm::ldexp(1.0, -24), "subnormal, above the tie");
        assert_eq!(BF16.round(257.0 + 1e-9), 258.0);
        assert!(F16.round(f64::NAN).is_nan());
        assert_eq!(I8.wrap(200), -56);
        assert_eq!(I16.integer_range(), (-32768, 32767));
    }

    #[test]
    fn halves_convert_as_the_standard_says() {
        for code in 0..=u16::MAX {
            let value = of_half(code);
            let expected = half::f16::from_bits(code).to_f32();
            assert!(value.to_bits() == expected.to_bits() || (value.is_nan() && expected.is_nan()), "{code:x}");
            // The value, the tie with the next one, and their neighbours.
            for offset in [0u32, 1, 0xfff, 0x1000, 0x1001, 0x1fff] {
                let near = f32::from_bits(value.to_bits().wrapping_add(offset));
                let expected = half::f16::from_f32(near);
                let found = to_half(near);
                assert!(found == expected.to_bits() || (near.is_nan() && of_half(found).is_nan()), "{near:e}");
            }
        }
        for tiny in [2.0f32.powi(-25), 2.0f32.powi(-25) * 1.5, 3.0 * 2.0f32.powi(-25), f32::MIN_POSITIVE, 0.0] {
            assert_eq!(to_half(tiny), half::f16::from_f32(tiny).to_bits(), "{tiny:e}");
        }
    }

    #[test]
    fn nibbles_share_a_byte() {
        let mut memory = vec![0u8; 2];
        F4E2M1.encode(&[1.0, -6.0, 0.5], &mut memory, 0, 1);
        assert_eq!(memory, [0xf2, 0x01]);
        let mut out: Vec<f64> = Vec::new();
        F4E2M1.decode(&memory, 0, 1, 3, &mut out);
        assert_eq!(out, [1.0, -6.0, 0.5]);
    }
}
