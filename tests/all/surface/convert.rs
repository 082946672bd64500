//! Conversions between element types: every pair that a target has, in every rounding; every other pair is refused.

use super::build::{Case, Maker, Shape, Subject, Target};
use super::number::{Close, Data, Format, Num, TYPES, Type, named, noise, part};
use super::row::{Row, row};

/// The operation.
pub const ROWS: &[Row] = &[row("tcvt", convert).types(TO_A3, TO_A5).wrong(other_pairs)];

/// Types of results.
const TO_A3: &str = "f32 f16 bf16 i8 si16 si32 si64";
const TO_A5: &str = "f32 f16 bf16 i8 i16 i32 si64 f8e4m3 f8e5m2 hif8 f4e2m1x2 f4e1m2x2";

/// From, and to what, as the library's table of supported conversions has them (without four-bit integers).
const A3_PAIRS: &[(&str, &str)] = &[
    ("f32", "f16 f32 bf16 i16 i32 i64"),
    ("f16", "f32 i32 i16 i8 ui8"),
    ("bf16", "f32 i32"),
    ("i16", "f16 f32"),
    ("i32", "f32 i16 i64 f16"),
    ("i64", "f32 i32"),
    ("ui8", "f16"),
    ("i8", "f16"),
];
const A5_PAIRS: &[(&str, &str)] = &[
    ("f32", "f32 f16 bf16 i16 i32 i64 f8e4m3 f8e5m2 hif8"),
    ("f16", "f32 i32 i16 i8 ui8 hif8"),
    ("bf16", "f32 i32 f16 f4e2m1x2 f4e1m2x2"),
    ("i16", "ui8 f16 f32 ui32 i32"),
    ("i32", "f32 i16 ui16 i64 ui8"),
    ("i64", "f32 i32"),
    ("ui8", "f16 ui16"),
    ("i8", "f16 i16 i32"),
    ("ui32", "ui8 ui16 i16"),
    ("f8e4m3", "f32"),
    ("f8e5m2", "f32"),
    ("hif8", "f32"),
    ("f4e2m1x2", "bf16"),
    ("f4e1m2x2", "bf16"),
];

fn has(target: Target, from: &Type, to: &Type) -> bool {
    let pairs = if target == Target::A3 { A3_PAIRS } else { A5_PAIRS };
    pairs.iter().any(|(source, list)| *source == from.name && list.split(' ').any(|name| name == to.name))
}

/// How a number becomes a whole one.
type Whole = fn(f64) -> f64;

/// The roundings by their names in the dialect.
const ROUNDINGS: [(&str, Whole); 5] = [
    ("RINT", |x| x.round_ties_even()),
    ("ROUND", f64::round),
    ("FLOOR", f64::floor),
    ("CEIL", f64::ceil),
    ("TRUNC", f64::trunc),
];

/// Values that share a byte.
fn packed(ty: &Type) -> usize {
    if ty.name.starts_with("f4") { 2 } else { 1 }
}

/// The positive values of a narrow float, by their codes.
fn codes(ty: &Type) -> Vec<f64> {
    match ty.name {
        "f4e2m1x2" => vec![0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0],
        "f4e1m2x2" => (0..8).map(|code| f64::from(code) / 4.0).collect(),
        // HiF8: a prefix says how many bits the exponent has; the rest is mantissa. The greatest code is infinite.
        _ => (0..0x6f).map(hif8).collect(),
    }
}

/// The value of a positive code of HiF8.
fn hif8(code: i32) -> f64 {
    let below = |bits: i32| code & ((1 << bits) - 1);
    // Length of the prefix, bits of the exponent.
    let (prefix, bits) = match code {
        0 => return 0.0,
        1..=7 => return 2f64.powi(code - 23),
        8..=15 => (4, 0),
        16..=31 => (3, 1),
        32..=63 => (2, 2),
        64..=95 => (2, 3),
        _ => (2, 4),
    };
    let mantissa = 7 - prefix - bits;
    let fraction = 1.0 + f64::from(below(mantissa)) / f64::from(1 << mantissa);
    let exponent = match bits {
        0 => 0,
        _ => {
            let field = below(mantissa + bits) >> mantissa;
            let (negative, rest) = (field >> (bits - 1), field & ((1 << (bits - 1)) - 1));
            let magnitude = (1 << (bits - 1)) + rest;
            if negative == 1 { -magnitude } else { magnitude }
        }
    };
    fraction * 2f64.powi(exponent)
}

/// The code of a narrow float next to a number.
fn nearest(ty: &Type, value: f64, whole: Whole) -> u8 {
    let list = codes(ty);
    let mut order: Vec<usize> = (0..list.len()).collect();
    order.sort_by(|a, b| list[*a].total_cmp(&list[*b]));
    let magnitude = value.abs();
    let above = order.iter().position(|&code| list[code] >= magnitude).unwrap_or(order.len());
    let sign = u8::from(value < 0.0);
    let chosen = match above {
        0 => order[0],
        _ if above == order.len() => order[above - 1],
        _ => {
            let (low, high) = (order[above - 1], order[above]);
            // Counted in steps from the lower one on; its parity is that of its code.
            let parity = (low % 2) as f64;
            let steps = parity + (magnitude - list[low]) / (list[high] - list[low]);
            let rounded = whole(steps.copysign(value)).abs() - parity;
            if rounded >= 1.0 { high } else { low }
        }
    };
    let bits = if ty.name == "hif8" { 7 } else { 3 };
    let code = chosen as u8;
    if code == 0 && ty.name == "hif8" { 0 } else { sign << bits | code }
}

/// A number that becomes a float of a type.
fn to_float(ty: &Type, value: f64, whole: Whole) -> f64 {
    let Format::Float(_, fraction) = ty.format else { panic!("{} is no float", ty.name) };
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let exponent = (value.to_bits() >> 52 & 0x7ff) as i32 - 1023;
    let place = (2f64.powi(exponent - fraction as i32)).max(ty.least());
    whole(value / place) * place
}

/// Values of a source: those that every result type here can hold, halves among them.
fn source(from: &'static Type, to: &'static Type, seed: u64, at: usize) -> f64 {
    let (word, near) = (noise(seed, at as u64), part(seed + 9, at as u64));
    let limit = match to.name {
        "i8" => 127.0,
        "ui8" => 255.0,
        "f4e2m1x2" => 6.0,
        "f4e1m2x2" => 1.75,
        "f8e4m3" => 440.0,
        _ => 1000.0,
    };
    let low = if to.is_unsigned() || from.is_unsigned() { 0.0 } else { -limit };
    let value = low + (limit - low) * near;
    let value = match word % 4 {
        0 => value.floor() + 0.5,
        1 => value.floor(),
        _ if !from.is_integer() && !to.is_integer() => value / 2f64.powi(((word >> 8) % 9) as i32),
        _ => value,
    };
    value.clamp(low, limit)
}

/// A source in its type: the value behind each element, and the bytes.
fn made(from: &'static Type, rows: usize, cols: usize, value: impl Fn(usize, usize) -> f64) -> (Vec<Vec<f64>>, Data) {
    let narrow = matches!(from.format, Format::Bits(_));
    let values: Vec<Vec<f64>> = (0..rows)
        .map(|r| {
            let of = |c: usize| {
                let value = value(r, c);
                match (narrow, from.is_integer()) {
                    (true, _) => {
                        let code = nearest(from, value, |x| x.round_ties_even());
                        let size = if from.name == "hif8" { 128 } else { 8 };
                        let magnitude = codes(from)[usize::from(code % size)];
                        if code >= size { -magnitude } else { magnitude }
                    }
                    (_, true) => {
                        let (low, high) = from.range();
                        value.trunc().clamp(low as f64, high as f64)
                    }
                    _ => from.round(value),
                }
            };
            (0..cols * packed(from)).map(of).collect()
        })
        .collect();
    let data = bytes_of(from, rows, cols, &values, |x| x.round_ties_even());
    (values, data)
}

/// Values as elements of a type.
fn bytes_of(ty: &'static Type, rows: usize, cols: usize, values: &[Vec<f64>], whole: Whole) -> Data {
    Data::new(ty, rows, cols, |r, c| match ty.format {
        Format::Bits(_) if packed(ty) == 2 => {
            let [low, high] = [0, 1].map(|i| nearest(ty, values[r][2 * c + i], whole));
            Num::I(i128::from(high << 4 | low))
        }
        Format::Bits(_) => Num::I(i128::from(nearest(ty, values[r][c], whole))),
        Format::Float(..) => Num::F(to_float(ty, values[r][c], whole)),
        _ => Num::I(values[r][c] as i128),
    })
}

fn convert(_: &Row, subject: &Subject) -> Vec<Case> {
    let mut cases = Vec::new();
    // Four-bit sources: see EXCEPTIONS.
    let fits = |from: &&Type| has(subject.target, from, subject.ty) && packed(from) == 1;
    for from in TYPES.iter().filter(fits) {
        cases.push(rounded(subject, from, "RINT", (8, 64), "part_not"));
        cases.push(rounded(subject, from, "RINT", (5, 36), "part"));
        let rounds = !from.is_integer() && !matches!(subject.ty.name, "f8e4m3" | "f8e5m2" | "hif8");
        let rounds = rounds && (subject.ty.is_integer() || subject.ty.bits() <= from.bits());
        if rounds {
            cases.extend(ROUNDINGS[1..].iter().map(|(name, _)| rounded(subject, from, name, (8, 64), "")));
        }
        if subject.ty.is_integer() && (!from.is_integer() || from.bits() > subject.ty.bits()) {
            cases.push(saturated(subject, from));
        }
    }
    cases
}

fn attributes(name: &str, saturation: &str) -> String {
    format!("{{rmode = #pto.round_mode<{name}>, sat_mode = #pto.saturation_mode<{saturation}>}}")
}

/// One pair in one rounding, without numbers that are too large.
fn rounded(subject: &Subject, from: &'static Type, name: &str, valid: (usize, usize), form: &str) -> Case {
    let to = subject.ty;
    let whole = ROUNDINGS.iter().find(|(n, _)| *n == name).expect("it is one of them").1;
    // HiF8 has one rounding: ties away from zero.
    let whole = if to.name == "hif8" { f64::round } else { whole };
    let one = |seed: u64| {
        let mut label = format!("from_{}_{name}", from.name);
        if form == "part" {
            label += "_part";
        }
        let mut maker = Maker::new(*subject, &label);
        let (rows, values_of_row) = valid;
        let (src_cols, dst_cols) = (values_of_row / packed(from), values_of_row / packed(to));
        let tile = |ty: &'static Type, cols: usize| Shape::vec(ty, 8, 64 / packed(ty)).valid(rows, cols);
        let (values, data) = made(from, rows, src_cols, |r, c| source(from, to, seed, r * 64 + c));
        let (src, dst) = (tile(from, src_cols), tile(to, dst_cols));
        maker.load("src", &src, &data);
        maker.tile("dst", &dst);
        maker.op(&[("src", src.text())], &[("dst", dst.text())], &attributes(name, "OFF"));
        let values = match to.is_integer() || (from.name, to.name) == ("f32", "f32") {
            true => values.iter().map(|row| row.iter().map(|x| whole(*x)).collect()).collect(),
            false => values,
        };
        maker.store("dst", &dst, &bytes_of(to, rows, dst_cols, &values, whole), Close::Exact);
        maker.finish()
    };
    Case::join((0..2).map(one))
}

/// Numbers beyond the result's range: the nearest that it has.
fn saturated(subject: &Subject, from: &'static Type) -> Case {
    let to = subject.ty;
    let mut maker = Maker::new(*subject, &format!("from_{}_saturated", from.name));
    let tile = |ty: &'static Type| Shape::vec(ty, 8, 64);
    let largest = if from.is_float() { from.largest().min(1e30) } else { from.range().1 as f64 };
    let value = |r: usize, c: usize| {
        let size = largest.log2() * part(3, (r * 64 + c) as u64);
        let sign = if noise(4, (r * 64 + c) as u64).is_multiple_of(2) { 1.0 } else { -1.0 };
        sign * 2f64.powf(size)
    };
    let (values, data) = made(from, 8, 64, value);
    maker.load("src", &tile(from), &data);
    maker.tile("dst", &tile(to));
    maker.op(&[("src", tile(from).text())], &[("dst", tile(to).text())], &attributes("RINT", "ON"));
    let (low, high) = to.range();
    let want = Data::new(to, 8, 64, |r, c| Num::I((values[r][c].round_ties_even() as i128).clamp(low, high)));
    maker.store("dst", &tile(to), &want, Close::Exact);
    maker.finish()
}

/// Every pair that the target does not convert.
fn other_pairs(row: &Row, target: Target) -> Vec<Case> {
    let pairs = TYPES.iter().flat_map(|from| TYPES.iter().map(move |to| (from, to)));
    let one = |(from, to): (&'static Type, &'static Type)| {
        let subject = Subject { op: row.op, target, ty: to };
        let mut maker = Maker::new(subject, &format!("from_{}", from.name));
        // Columns count values: a four-bit element is two.
        let tile = |ty: &'static Type| Shape::vec(ty, 8, if ty.name == "i4" { 32 } else { 64 / packed(ty) });
        maker.tile("src", &tile(from));
        maker.tile("dst", &tile(to));
        maker.op(&[("src", tile(from).text())], &[("dst", tile(to).text())], "");
        maker.finish()
    };
    pairs.filter(|(from, to)| !has(target, from, to)).map(one).collect()
}

#[test]
fn narrow_floats_are_as_defined() {
    assert_eq!((hif8(8), hif8(0x6e), hif8(1), hif8(0x10)), (1.0, 32768.0, 2f64.powi(-22), 2.0));
    assert_eq!(nearest(named("f4e2m1x2"), 2.4, |x| x.round_ties_even()), 4);
    assert_eq!(nearest(named("f4e2m1x2"), -2.5, |x| x.round_ties_even()), 12);
    assert_eq!(nearest(named("f4e2m1x2"), 5.0, |x| x.round_ties_even()), 6);
}
