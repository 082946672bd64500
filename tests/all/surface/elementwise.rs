//! Element by element: two tiles, a tile and a scalar, one tile, comparison, selection, fills.

use super::build::{Case, Maker, Shape, Subject};
use super::number::{Close, Data, Num, named};
use super::row::{Domain, Row, number, row};
use pto_dialect::{Arity, Role};

/// The operations.
pub const ROWS: &[Row] = &[
    // Two tiles.
    row("tadd", each).float(|v, _| v[0] + v[1]).int(|v, _| v[0] + v[1]),
    row("tsub", each).float(|v, _| v[0] - v[1]).int(|v, _| v[0] - v[1]),
    row("tmul", each).float(|v, _| v[0] * v[1]).int(|v, _| v[0].wrapping_mul(v[1])),
    row("tmax", each).float(|v, _| v[0].max(v[1])).int(|v, _| v[0].max(v[1])).domain(Domain::Ordered),
    row("tmin", each).float(|v, _| v[0].min(v[1])).int(|v, _| v[0].min(v[1])).domain(Domain::Ordered),
    row("tand", each).int(|v, _| v[0] & v[1]),
    row("tor", each).int(|v, _| v[0] | v[1]),
    row("txor", each).int(|v, _| v[0] ^ v[1]),
    row("tshl", each).int(|v, _| v[0] << v[1]).domain(Domain::Shift),
    row("tshr", each).int(|v, _| v[0] >> v[1]).domain(Domain::Shift),
    row("taddrelu", each)
        .float(|v, s| s.ty.round(v[0] + v[1]).max(0.0))
        .int(|v, s| s.ty.wrap(v[0] + v[1]).max(0))
        .domain(Domain::Quarters),
    row("tdiv", each).float(|v, _| v[0] / v[1]).int(|v, _| v[0] / v[1]).domain(Domain::Divisor).forms(PRECISE_DIV),
    row("tfmod", each).float(truncated).int(|v, _| v[0] % v[1]).domain(Domain::SmallDivisor),
    row("trem", each).float(floored).int(|v, _| v[0] - v[1] * floor(v[0], v[1])).domain(Domain::SmallDivisor),
    row("tprelu", each).float(leaky).domain(Domain::Small),
    row("tpow", power)
        .float(|v, _| v[0].powf(v[1]))
        .int(|v, _| v[0].wrapping_pow(v[1] as u32))
        .domain(Domain::Power)
        .close(Close::Steps(2)),
    row("taddc", each).float(|v, s| s.ty.round(v[0] + v[1]) + v[2]).int(|v, _| v[0] + v[1] + v[2]),
    row("tsubc", each).float(|v, s| s.ty.round(v[0] - v[1]) + v[2]).int(|v, _| v[0] - v[1] + v[2]),
    // A tile and a scalar.
    row("tadds", each).float(|v, _| v[0] + v[1]).int(|v, _| v[0] + v[1]),
    row("tsubs", each).float(|v, _| v[0] - v[1]).int(|v, _| v[0] - v[1]),
    row("tmuls", each).float(|v, _| v[0] * v[1]).int(|v, _| v[0].wrapping_mul(v[1])),
    row("tmaxs", each).float(|v, _| v[0].max(v[1])).int(|v, _| v[0].max(v[1])).domain(Domain::Ordered),
    row("tmins", each).float(|v, _| v[0].min(v[1])).int(|v, _| v[0].min(v[1])).domain(Domain::Ordered),
    row("tdivs", quotient).float(|v, _| v[0] / v[1]).int(|v, _| v[0] / v[1]).domain(Domain::Divisor).forms(PRECISE_DIV),
    row("tfmods", each).float(truncated).int(|v, _| v[0] % v[1]).domain(Domain::SmallDivisor),
    row("trems", each).float(floored).int(|v, _| v[0] - v[1] * floor(v[0], v[1])).domain(Domain::SmallDivisor),
    row("tpows", power)
        .float(|v, _| v[0].powf(v[1]))
        .int(|v, _| v[0].wrapping_pow(v[1] as u32))
        .domain(Domain::Power)
        .close(Close::Steps(2)),
    row("tands", each).int(|v, _| v[0] & v[1]),
    row("tors", each).int(|v, _| v[0] | v[1]),
    row("txors", each).int(|v, _| v[0] ^ v[1]),
    row("tshls", each).int(|v, _| v[0] << v[1]).domain(Domain::Shift),
    row("tshrs", each).int(|v, _| v[0] >> v[1]).domain(Domain::Shift),
    row("tlrelu", each).float(leaky).domain(Domain::Small),
    row("taxpy", each).float(|v, _| v[0] * v[1] + v[2]).domain(Domain::Quarters),
    row("taddsc", each).float(|v, s| s.ty.round(v[0] + v[1]) + v[2]).int(|v, _| v[0] + v[1] + v[2]),
    row("tsubsc", each).float(|v, s| s.ty.round(v[0] - v[1]) + v[2]).int(|v, _| v[0] - v[1] + v[2]),
    row("texpands", each).float(|v, _| v[0]).int(|v, _| v[0]),
    // One tile.
    row("tneg", each).float(|v, _| -v[0]).int(|v, _| -v[0]),
    row("tabs", each).float(|v, _| v[0].abs()).int(|v, _| v[0].abs()),
    row("tnot", each).int(|v, _| !v[0]),
    row("trelu", each).float(|v, _| v[0].max(0.0)).int(|v, _| v[0].max(0)).domain(Domain::Ordered),
    row("texp", each)
        .float(|v, _| v[0].exp())
        .domain(Domain::Small)
        .close(Close::Steps(1))
        .forms(&[("precise", "{precisionType = #pto.exp_precision<high_precision>}")]),
    row("tlog", each)
        .float(|v, _| v[0].ln())
        .domain(Domain::Positive)
        .close(Close::Steps(1))
        .forms(&[("precise", "{precisionType = #pto.log_precision<high_precision>}")]),
    row("tsqrt", each)
        .float(|v, _| v[0].sqrt())
        .domain(Domain::Positive)
        .forms(&[("precise", "{precisionType = #pto.sqrt_precision<high_precision>}")]),
    row("trsqrt", each)
        .float(|v, _| 1.0 / v[0].sqrt())
        .domain(Domain::Positive)
        .close(Close::Steps(2))
        .forms(&[("precise", "{precisionType = #pto.rsqrt_precision<high_precision>}")]),
    row("trecip", each)
        .float(|v, _| 1.0 / v[0])
        .forms(&[("precise", "{precisionType = #pto.recip_precision<high_precision>}")]),
    // Masks.
    row("tcmp", compare).domain(Domain::Ordered),
    row("tcmps", compare).domain(Domain::Ordered),
    row("tsel", select),
    row("tsels", select),
];

const PRECISE_DIV: &[(&str, &str)] = &[("precise", "{precisionType = #pto.div_precision<high_precision>}")];

/// a - b * trunc(a / b), each step in f32.
fn truncated(v: &[f64], subject: &Subject) -> f64 {
    let f32s = |x: f64| f64::from(x as f32);
    subject.ty.round(f32s(v[0] - f32s(f32s(v[0] / v[1]).trunc() * v[1])))
}

/// The same rounded down; where rounding gave it the wrong sign, the divisor is added.
fn floored(v: &[f64], subject: &Subject) -> f64 {
    let f32s = |x: f64| f64::from(x as f32);
    let rest = subject.ty.round(f32s(v[0] - f32s(f32s(v[0] / v[1]).floor() * v[1])));
    // The form of A5 with a scalar leaves it.
    let mends = subject.is_a3() || subject.op == "trem";
    if mends && rest * v[1] < 0.0 { rest + v[1] } else { rest }
}

fn floor(a: i128, b: i128) -> i128 {
    a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0)
}

fn leaky(v: &[f64], _: &Subject) -> f64 {
    if v[0] > 0.0 { v[0] } else { v[0] * v[1] }
}

/// Runs of each function.
const RUNS: u64 = 2;

/// Rows and columns of tiles, and of the part of them that is valid in the partial form.
const ROWS_OF_TILE: usize = 8;
const COLS_OF_TILE: usize = 64;
const PART: (usize, usize) = (5, 37);

/// What one is made of: tiles that are loaded, scalars, the destination; all by the facts.
fn each(row: &Row, subject: &Subject) -> Vec<Case> {
    let whole = (ROWS_OF_TILE, COLS_OF_TILE);
    let mut cases = vec![("", "", whole), ("part", "", PART)];
    cases.extend(row.forms.iter().map(|(label, attributes)| (*label, *attributes, whole)));
    let function = |(label, attributes, valid)| {
        Case::join((0..RUNS).map(|seed| one(row, subject, label, attributes, valid, seed)))
    };
    cases.into_iter().map(function).collect()
}

fn one(row: &Row, subject: &Subject, label: &str, attributes: &str, valid: (usize, usize), seed: u64) -> Case {
    let mut maker = Maker::new(*subject, label);
    let shape = Shape::vec(subject.ty, ROWS_OF_TILE, COLS_OF_TILE).valid(valid.0, valid.1);
    let operands = subject.facts().operands;
    let inputs: Vec<_> =
        operands.iter().filter(|o| !matches!(o.role, Role::Scratch | Role::Write) && o.arity == Arity::One).collect();
    let count = inputs.len();
    let mut values: Vec<Data> = Vec::new();
    let (mut ins, mut outs) = (Vec::new(), Vec::new());
    for (at, operand) in inputs.iter().enumerate() {
        let key = |i: usize| number(row.domain, subject.ty, (at, count), seed, i);
        if operand.is_tile {
            let data = Data::new(subject.ty, valid.0, valid.1, |r, c| key(r * valid.1 + c));
            maker.load(operand.name, &shape, &data);
            values.push(data);
            let list = if operand.is_out { &mut outs } else { &mut ins };
            list.push((operand.name, shape.text()));
        } else {
            // Of the element type, but where the operation has it as f32; integers without a sign.
            let only_integers = ["tands", "tors", "txors", "tshls", "tshrs"].contains(&subject.op);
            let ty = match () {
                () if operand.name == "slope" => named("f32"),
                () if only_integers && !subject.ty.is_integer() => named("i32"),
                () => subject.ty,
            };
            let text = if ty.is_integer() { ty.text.trim_start_matches('u') } else { ty.text };
            let value = ty.decode(ty.encode(key(130 + seed as usize)));
            maker.scalar(operand.name, text, value);
            values.push(Data::new(ty, valid.0, valid.1, |_, _| value));
            ins.push((operand.name, text.to_owned()));
        }
    }
    if outs.is_empty() {
        maker.tile("dst", &shape);
        outs.push(("dst", shape.text()));
    }
    maker.op(&ins, &outs, attributes);
    let want = Data::new(subject.ty, valid.0, valid.1, |r, c| {
        let operands: Vec<Num> = values.iter().map(|data| data.at(r, c)).collect();
        row.result(&operands, subject)
    });
    maker.store("dst", &shape, &want, row.close);
    maker.finish()
}

/// Powers: bf16 has the precise form only.
fn power(row: &Row, subject: &Subject) -> Vec<Case> {
    let precise: &[(&str, &str)] = &[("precise", "{precisionType = #pto.pow_precision<high_precision>}")];
    match (subject.ty.name, subject.is_a3()) {
        ("bf16", false) => each(&row.forms(precise), subject).split_off(2),
        (_, false) if subject.ty.is_float() => each(&row.forms(precise), subject),
        _ => each(row, subject),
    }
}

/// A tile over a scalar, a scalar over a tile.
fn quotient(row: &Row, subject: &Subject) -> Vec<Case> {
    let shape = Shape::vec(subject.ty, ROWS_OF_TILE, COLS_OF_TILE);
    let text = if subject.ty.is_integer() { subject.ty.text.trim_start_matches('u') } else { subject.ty.text };
    let one = |tile_first: bool, label: &str, attributes: &str, (rows, cols): (usize, usize), seed: u64| {
        let mut maker = Maker::new(*subject, label);
        let shape = shape.clone().valid(rows, cols);
        let tile = usize::from(!tile_first);
        let data =
            Data::new(subject.ty, rows, cols, |r, c| number(row.domain, subject.ty, (tile, 2), seed, r * cols + c));
        let value = number(row.domain, subject.ty, (1 - tile, 2), seed, 130 + seed as usize);
        let value = subject.ty.decode(subject.ty.encode(value));
        maker.load("src", &shape, &data);
        maker.scalar("scalar", text, value);
        maker.tile("dst", &shape);
        let mut ins = [("src", shape.text()), ("scalar", text.to_owned())];
        if !tile_first {
            ins.reverse();
        }
        maker.op(&ins, &[("dst", shape.text())], attributes);
        let want = Data::new(subject.ty, rows, cols, |r, c| {
            let mut operands = [data.at(r, c), value];
            if !tile_first {
                operands.reverse();
            }
            row.result(&operands, subject)
        });
        maker.store("dst", &shape, &want, row.close);
        maker.finish()
    };
    let whole = (ROWS_OF_TILE, COLS_OF_TILE);
    let (_, precise) = PRECISE_DIV[0];
    let forms = [
        (true, "", "", whole),
        (true, "part", "", PART),
        (false, "by_tile", "", whole),
        (false, "by_tile_part", "", PART),
        (true, "precise", precise, whole),
        (false, "by_tile_precise", precise, whole),
    ];
    let function = |(first, label, attributes, valid)| {
        Case::join((0..RUNS).map(|seed| one(first, label, attributes, valid, seed)))
    };
    forms.into_iter().map(function).collect()
}

/// A comparison: its name, what it means for floats and for integers.
type Mode = (&'static str, fn(f64, f64) -> bool, fn(i128, i128) -> bool);

/// The comparisons.
const MODES: [Mode; 6] = [
    ("eq", |a, b| a == b, |a, b| a == b),
    ("ne", |a, b| a != b, |a, b| a != b),
    ("lt", |a, b| a < b, |a, b| a < b),
    ("le", |a, b| a <= b, |a, b| a <= b),
    ("gt", |a, b| a > b, |a, b| a > b),
    ("ge", |a, b| a >= b, |a, b| a >= b),
];

/// The operands of a comparison or selection, with their types: two tiles, or a tile and a scalar.
fn operands(
    maker: &mut Maker,
    shape: &Shape,
    left: &Data,
    right: &Data,
    scalar: Option<Num>,
) -> [(&'static str, String); 2] {
    let first = if scalar.is_some() { "src" } else { "src0" };
    maker.load(first, shape, left);
    let second = match scalar {
        Some(value) => {
            let text = if left.ty.is_integer() { left.ty.text.trim_start_matches('u') } else { left.ty.text };
            maker.scalar("scalar", text, value);
            ("scalar", text.to_owned())
        }
        None => {
            maker.load("src1", shape, right);
            ("src1", shape.text())
        }
    };
    [(first, shape.text()), second]
}

/// Masks: a bit for each element, each row in bytes of its own.
fn compare(row: &Row, subject: &Subject) -> Vec<Case> {
    let bytes = named("ui8");
    let with_scalar = subject.op == "tcmps";
    let one = |mode: usize, (rows, cols): (usize, usize), label: &str, seed: u64| {
        let (name, float, int) = MODES[mode];
        let mut maker = Maker::new(*subject, label);
        let shape = Shape::vec(subject.ty, ROWS_OF_TILE, COLS_OF_TILE).valid(rows, cols);
        let mask = Shape::vec(bytes, ROWS_OF_TILE, 32).valid(rows, cols / 8);
        let key = |operand: usize, at: usize| {
            let value = number(row.domain, subject.ty, (operand, 2), seed, at);
            match value {
                // A3 compares 16-bit integers with a scalar as if they were f16: equal to the order of integers here.
                Num::I(value) if subject.is_a3() && subject.ty.bits() == 16 => Num::I(value.rem_euclid(31743)),
                _ => value,
            }
        };
        let left = Data::new(subject.ty, rows, cols, |r, c| key(0, r * cols + c));
        let scalar = subject.ty.decode(subject.ty.encode(if seed == 0 { left.at(0, 3) } else { key(1, 140) }));
        let right = Data::new(subject.ty, rows, cols, |r, c| match (with_scalar, (r + c) % 3) {
            (true, _) => scalar,
            (false, 0) => left.at(r, c),
            _ => key(1, r * cols + c),
        });
        let [first, second] = operands(&mut maker, &shape, &left, &right, with_scalar.then_some(scalar));
        maker.tile("dst", &mask);
        let attributes = format!("{{cmpMode = #pto.cmp<{name}>}}");
        maker.op(&[first, second], &[("dst", mask.text())], &attributes);
        let holds = |r: usize, c: usize| match (left.at(r, c), right.at(r, c)) {
            (Num::F(a), Num::F(b)) => float(a, b),
            (a, b) => int(a.int(), b.int()),
        };
        let want = Data::new(bytes, rows, cols / 8, |r, byte| {
            Num::I((0..8).map(|bit| i128::from(holds(r, byte * 8 + bit)) << bit).sum())
        });
        maker.store("dst", &mask, &want, Close::Exact);
        maker.finish()
    };
    let mut cases = Vec::new();
    for (mode, (name, ..)) in MODES.iter().enumerate() {
        // A3 tests i32 for equality only.
        if subject.is_a3() && subject.ty.bits() == 32 && subject.ty.is_integer() && mode > 1 {
            continue;
        }
        let both = |valid: (usize, usize), label: &str| Case::join((0..RUNS).map(|seed| one(mode, valid, label, seed)));
        cases.push(both((ROWS_OF_TILE, COLS_OF_TILE), if mode == 0 { "" } else { name }));
        if mode == 1 {
            cases.push(both((5, 40), "part"));
        }
    }
    cases
}

/// Elements of one or the other, by the bits of a mask.
fn select(_: &Row, subject: &Subject) -> Vec<Case> {
    let bytes = named("ui8");
    let with_scalar = subject.op == "tsels";
    let one = |(rows, cols): (usize, usize), label: &str, seed: u64| {
        let mut maker = Maker::new(*subject, label);
        let shape = Shape::vec(subject.ty, ROWS_OF_TILE, COLS_OF_TILE).valid(rows, cols);
        let width = cols.div_ceil(8);
        let mask = Shape::vec(bytes, ROWS_OF_TILE, 32).valid(rows, width);
        let bits = Data::new(bytes, rows, width, |r, c| number(Domain::Any, bytes, (7, 9), seed, 200 + r * width + c));
        let key = |operand: usize, at: usize| number(Domain::Any, subject.ty, (operand, 2), seed, at);
        let left = Data::new(subject.ty, rows, cols, |r, c| key(0, r * cols + c));
        let scalar = subject.ty.decode(subject.ty.encode(key(1, 140)));
        let right = Data::new(subject.ty, rows, cols, |r, c| if with_scalar { scalar } else { key(1, r * cols + c) });
        maker.load("mask", &mask, &bits);
        let [first, second] = operands(&mut maker, &shape, &left, &right, with_scalar.then_some(scalar));
        maker.tile("dst", &shape);
        maker.op(&[("mask", mask.text()), first, second], &[("dst", shape.text())], "");
        let set = |r: usize, c: usize| bits.at(r, c / 8).int() >> (c % 8) & 1 == 1;
        let want = Data::new(subject.ty, rows, cols, |r, c| if set(r, c) { left.at(r, c) } else { right.at(r, c) });
        maker.store("dst", &shape, &want, Close::Exact);
        maker.finish()
    };
    let both = |valid: (usize, usize), label: &str| Case::join((0..RUNS).map(|seed| one(valid, label, seed)));
    vec![both((ROWS_OF_TILE, COLS_OF_TILE), ""), both(PART, "part")]
}
