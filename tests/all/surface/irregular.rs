//! Sorting, sequences, triangles, random bits, histograms, partial tiles, quantisation, printing.

use super::build::{Case, Maker, Shape, Subject};
use super::number::{Close, Data, Num, Type, named, noise, part};
use super::row::{Domain, Row, number, row};

/// The operations.
pub const ROWS: &[Row] = &[
    row("tsort32", sort),
    row("tmrgsort", merge),
    row("tci", sequence),
    row("ttri", triangle),
    row("trandom", random),
    row("thistogram", histogram),
    row("tpartadd", partial).float(|v, _| v[0] + v[1]).int(|v, _| v[0] + v[1]),
    row("tpartmul", partial).float(|v, _| v[0] * v[1]).int(|v, _| v[0].wrapping_mul(v[1])),
    row("tpartmax", partial).float(|v, _| v[0].max(v[1])).int(|v, _| v[0].max(v[1])).domain(Domain::Ordered),
    row("tpartmin", partial).float(|v, _| v[0].min(v[1])).int(|v, _| v[0].min(v[1])).domain(Domain::Ordered),
    row("tpartargmax", partial_places),
    row("tpartargmin", partial_places),
    row("tquant", quantise),
    row("tquant.mx", quantise_groups),
    row("tdequant", dequantise),
];

fn twice(one: impl Fn(u64) -> Case) -> Case {
    Case::join((0..2).map(one))
}

/// A value and where it comes from, as sorting keeps them.
type Record = (f64, u32);

/// Records in memory: value and index, 8 bytes each; f16 has two unused bytes between them.
fn records(ty: &'static Type, list: &[Record]) -> Data {
    let bytes = list.iter().flat_map(|(value, index)| {
        let mut bytes = ty.encode(Num::F(*value)).to_le_bytes()[..4].to_vec();
        bytes.extend(index.to_le_bytes());
        bytes
    });
    let words: Vec<u8> = bytes.collect();
    let size = ty.bytes();
    let values = words.chunks_exact(size).map(|w| ty.decode(w.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b))));
    let values: Vec<Num> = values.collect();
    Data { ty, rows: 1, cols: values.len(), values }
}

fn descending(list: &mut [Record]) {
    list.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
}

/// Numbers with equal ones among them.
fn score(seed: u64, at: usize) -> f64 {
    (part(seed, at as u64) * 400.0).floor() / 8.0 - 20.0
}

/// Elements of a record.
fn width(ty: &Type) -> usize {
    8 / ty.bytes()
}

fn sort(_: &Row, subject: &Subject) -> Vec<Case> {
    let one = |seed: u64| {
        let mut maker = Maker::new(*subject, "");
        let index = named("ui32");
        let (from, at) = (Shape::vec(subject.ty, 1, 128), Shape::vec(index, 1, 128));
        let to = Shape::vec(subject.ty, 1, 128 * width(subject.ty));
        let list: Vec<Record> = (0..128).map(|i| (score(seed, i), 1000 + 3 * i as u32)).collect();
        maker.load("src", &from, &Data::new(subject.ty, 1, 128, |_, c| Num::F(list[c].0)));
        maker.load("idx", &at, &Data::new(index, 1, 128, |_, c| Num::I(i128::from(list[c].1))));
        maker.tile("dst", &to);
        maker.op(&[("src", from.text()), ("idx", at.text())], &[("dst", to.text())], "");
        let mut sorted = list;
        sorted.chunks_mut(32).for_each(descending);
        maker.store("dst", &to, &records(subject.ty, &sorted), Close::Exact);
        maker.finish()
    };
    vec![twice(one)]
}

/// Sorted runs of so many records, whose values are all different.
fn runs(count: usize, length: usize, seed: u64) -> Vec<Record> {
    let mut all: Vec<Record> =
        (0..count * length).map(|i| (((i * 97 + seed as usize * 5) % 1024) as f64 / 4.0, i as u32)).collect();
    all.chunks_mut(length).for_each(descending);
    all
}

fn merge(_: &Row, subject: &Subject) -> Vec<Case> {
    let blocks = |seed: u64| {
        let mut maker = Maker::new(*subject, "");
        let length = 64 / width(subject.ty);
        let list = runs(8, length, seed);
        let shape = Shape::vec(subject.ty, 1, 512);
        maker.load("src", &shape, &records(subject.ty, &list));
        maker.tile("dst", &shape);
        maker.line("%length = arith.constant 64 : i32");
        maker.line(format!("pto.tmrgsort ins(%src, %length : {}, i32) outs(%dst : {})", shape.text(), shape.text()));
        maker.names(["src", "dst"]);
        let mut sorted = list;
        sorted.chunks_mut(4 * length).for_each(descending);
        maker.store("dst", &shape, &records(subject.ty, &sorted), Close::Exact);
        maker.finish()
    };
    let lists = |count: usize, seed: u64| {
        let mut maker = Maker::new(*subject, &format!("lists{count}"));
        let length = 64 / width(subject.ty);
        let list = runs(count, length, seed);
        let (small, large) = (Shape::vec(subject.ty, 1, 64), Shape::vec(subject.ty, 1, 64 * count));
        let names = ["src0", "src1", "src2", "src3"];
        for (name, run) in names.iter().zip(list.chunks(length)) {
            maker.load(name, &small, &records(subject.ty, run));
        }
        maker.tile("dst", &large);
        maker.tile("tmp", &large);
        maker.line("%counts = arith.constant dense<0> : vector<4xi16>");
        let all: Vec<String> = names[..count].iter().map(|n| format!("%{n}")).collect();
        let types = vec![small.text(); count].join(", ");
        let (all, whole) = (all.join(", "), large.text());
        maker.line(format!(
            "pto.tmrgsort ins({all}, %tmp {{exhausted = false}} : {types}, {whole}) outs(%dst, %counts : {whole}, vector<4xi16>)"
        ));
        maker.names(names[..count].iter().copied().chain(["dst", "tmp"]));
        let mut sorted = list;
        descending(&mut sorted);
        maker.store("dst", &large, &records(subject.ty, &sorted), Close::Exact);
        maker.finish()
    };
    let mut cases = vec![twice(blocks)];
    cases.extend((2..=4).map(|count| twice(|seed| lists(count, seed))));
    cases
}

fn scalar_text(ty: &'static Type) -> &'static str {
    if ty.is_integer() { ty.text.trim_start_matches('u') } else { ty.text }
}

fn sequence(_: &Row, subject: &Subject) -> Vec<Case> {
    let one = |down: bool, cols: usize, label: &str, seed: u64| {
        let mut maker = Maker::new(*subject, label);
        let shape = Shape::vec(subject.ty, 1, 128).valid(1, cols);
        let text = if subject.ty.is_integer() { scalar_text(subject.ty) } else { "i32" };
        let start = subject.ty.wrap(i128::from(noise(seed, 5) >> 40));
        maker.scalar("S", text, Num::I(start));
        maker.tile("dst", &shape);
        let attributes = if down { "{descending = true}" } else { "" };
        maker.op(&[("S", text.to_owned())], &[("dst", shape.text())], attributes);
        let step = if down { -1 } else { 1 };
        let want = Data::new(subject.ty, 1, cols, |_, c| Num::I(start + step * c as i128));
        maker.store("dst", &shape, &want, Close::Exact);
        maker.finish()
    };
    let both = |down, cols, label: &str| twice(|seed| one(down, cols, label, seed));
    vec![both(false, 128, ""), both(false, 37, "part"), both(true, 128, "down")]
}

fn triangle(_: &Row, subject: &Subject) -> Vec<Case> {
    let one = |upper: bool, (rows, cols): (usize, usize), label: &str, diagonal: i128| {
        let mut maker = Maker::new(*subject, label);
        let shape = Shape::vec(subject.ty, 16, 64).valid(rows, cols);
        maker.scalar("diagonal", "i32", Num::I(diagonal));
        maker.tile("dst", &shape);
        let attributes = if upper { "{upperOrLower = 1 : i32}" } else { "{upperOrLower = 0 : i32}" };
        maker.op(&[("diagonal", "i32".to_owned())], &[("dst", shape.text())], attributes);
        let want = Data::new(subject.ty, rows, cols, |r, c| {
            let edge = r as i128 + diagonal;
            let one = if upper { c as i128 >= edge } else { c as i128 <= edge };
            if subject.ty.is_float() { Num::F(f64::from(u8::from(one))) } else { Num::I(i128::from(one)) }
        });
        maker.store("dst", &shape, &want, Close::Exact);
        maker.finish()
    };
    let all = |upper, valid, label: &str| Case::join([0, 3, -4].map(|diagonal| one(upper, valid, label, diagonal)));
    vec![
        all(false, (16, 64), ""),
        all(true, (16, 64), "upper"),
        all(false, (9, 37), "part"),
        all(true, (9, 37), "upperpart"),
    ]
}

/// Philox, as its authors define it: four words from a counter and a key.
fn philox(counter: u128, key: [u32; 2], rounds: usize) -> [u32; 4] {
    let mut words = [0, 32, 64, 96].map(|shift| (counter >> shift) as u32);
    let mut key = key;
    for _ in 0..rounds {
        let even = u64::from(words[0]) * 0xd251_1f53;
        let odd = u64::from(words[2]) * 0xcd9e_8d57;
        words =
            [(odd >> 32) as u32 ^ words[1] ^ key[0], odd as u32, (even >> 32) as u32 ^ words[3] ^ key[1], even as u32];
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
    }
    words
}

/// One row of not more than 256 numbers: the words of counters that follow one another.
fn random(_: &Row, subject: &Subject) -> Vec<Case> {
    let one = |rounds: usize, label: &str, seed: u64| {
        let mut maker = Maker::new(*subject, label);
        let shape = Shape::vec(subject.ty, 1, 256);
        let words: Vec<u32> = (0..6).map(|i| noise(seed, i) as u32).collect();
        let names = ["key0", "key1", "counter0", "counter1", "counter2", "counter3"];
        for (name, word) in names.iter().zip(&words) {
            maker.scalar(name, "i32", Num::I(i128::from(*word as i32)));
        }
        maker.tile("dst", &shape);
        let all = names.map(|name| format!("%{name}")).join(", ");
        let types = ["i32"; 6].join(", ");
        maker.line(format!(
            "pto.trandom ins({all} {{rounds = {rounds} : i32}} : {types}) outs(%dst : {})",
            shape.text()
        ));
        maker.names(["dst"]);
        maker.callee("TRandomKey key; TRandomCounter counter; TRANDOM(");
        let start = words[2..].iter().rev().fold(0u128, |all, word| all << 32 | u128::from(*word));
        let want = Data::new(subject.ty, 1, 256, |_, c| {
            let words_of = philox(start.wrapping_add(c as u128 / 4), [words[0], words[1]], rounds);
            Num::I(i128::from(words_of[c % 4]))
        });
        maker.store("dst", &shape, &want, Close::Exact);
        maker.finish()
    };
    vec![twice(|seed| one(10, "", seed)), twice(|seed| one(7, "seven", seed))]
}

/// Running counts of the values of a byte, among the values whose higher bytes were chosen before.
fn histogram(_: &Row, subject: &Subject) -> Vec<Case> {
    let bytes = subject.ty.bytes();
    let one = |byte: usize, seed: u64| {
        let label = if byte + 1 == bytes { String::new() } else { format!("byte{byte}") };
        let mut maker = Maker::new(*subject, &label);
        let (small, counts) = (named("ui8"), named("ui32"));
        let rows = if bytes == 2 { 32 } else { 1 };
        let (from, to) = (Shape::vec(subject.ty, rows, 64), Shape::vec(counts, rows, 256));
        let above = bytes - 1 - byte;
        let chosen = |r: usize, level: usize| (noise(seed, (r * 4 + level) as u64) % 3) as i128;
        // Few values of the higher bytes, so that some are chosen.
        let data = Data::new(subject.ty, rows, 64, |r, c| {
            let word = noise(seed + 1, (r * 64 + c) as u64);
            let high = (0..above).fold(0, |all, level| all << 8 | i128::from((word >> (8 * level)) % 3));
            Num::I(high << (8 * (byte + 1)) | i128::from(word >> 40) & ((1 << (8 * (byte + 1))) - 1))
        });
        maker.load("src", &from, &data);
        // One row for each higher byte; of 16-bit values one column.
        let at = match bytes {
            2 => Shape::column(small, rows),
            _ => Shape::vec(small, above.max(1), 64),
        };
        maker.load(
            "idx",
            &at,
            &match bytes {
                2 => Data::new(small, rows, 1, |r, _| Num::I(chosen(r, 0))),
                _ => Data::new(small, above.max(1), 64, |level, _| Num::I(chosen(0, level))),
            },
        );
        maker.tile("dst", &to);
        let attributes = format!("{{byte = {byte} : i32}}");
        maker.op(&[("src", from.text()), ("idx", at.text())], &[("dst", to.text())], &attributes);
        let want = Data::new(counts, rows, 256, |r, bin| {
            let prefix = (0..above).fold(0, |all, level| all << 8 | chosen(r, level));
            let counts = |value: &Num| {
                let value = value.int();
                value >> (8 * (byte + 1)) == prefix && (value >> (8 * byte) & 255) as usize <= bin
            };
            Num::I(data.values[r * 64..][..64].iter().filter(|v| counts(v)).count() as i128)
        });
        maker.store("dst", &to, &want, Close::Exact);
        maker.finish()
    };
    (0..bytes).rev().map(|byte| twice(|seed| one(byte, seed))).collect()
}

/// One source is valid in all of dst, the other in a part of it.
fn partial(row: &Row, subject: &Subject) -> Vec<Case> {
    let one = |first: (usize, usize), second: (usize, usize), label: &str, seed: u64| {
        let mut maker = Maker::new(*subject, label);
        let whole = Shape::vec(subject.ty, 8, 64);
        let of = |operand: usize, (rows, cols): (usize, usize)| {
            Data::new(subject.ty, rows, cols, |r, c| number(row.domain, subject.ty, (operand, 2), seed, r * cols + c))
        };
        let (left, right) = (of(0, first), of(1, second));
        let (a, b) = (whole.clone().valid(first.0, first.1), whole.clone().valid(second.0, second.1));
        maker.load("src0", &a, &left);
        maker.load("src1", &b, &right);
        maker.tile("dst", &whole);
        maker.op(&[("src0", a.text()), ("src1", b.text())], &[("dst", whole.text())], "");
        let want = left.like(8, 64, |r, c| match (r < first.0 && c < first.1, r < second.0 && c < second.1) {
            (true, true) => row.result(&[left.at(r, c), right.at(r, c)], subject),
            (true, false) => left.at(r, c),
            _ => right.at(r, c),
        });
        maker.store("dst", &whole, &want, row.close);
        maker.finish()
    };
    let (all, few) = ((8, 64), (5, 37));
    let both = |first, second, label: &str| twice(|seed| one(first, second, label, seed));
    vec![both(all, all, ""), both(all, few, "second_part"), both(few, all, "first_part")]
}

/// The larger (or smaller) of two and its index; of equal ones the first.
fn partial_places(_: &Row, subject: &Subject) -> Vec<Case> {
    let one = |second: (usize, usize), label: &str, seed: u64| {
        let mut maker = Maker::new(*subject, label);
        let index = named("i32");
        let whole = Shape::vec(subject.ty, 8, 64);
        let places = Shape::vec(index, 8, 64);
        let of = |rows: usize, cols: usize, key: u64| {
            Data::new(subject.ty, rows, cols, |r, c| Num::F(score(seed * 2 + key, r * cols + c)))
        };
        let (left, right) = (of(8, 64, 0), of(second.0, second.1, 1));
        let numbers = |rows: usize, cols: usize, from: usize| {
            Data::new(index, rows, cols, |r, c| Num::I((from + r * 64 + c) as i128))
        };
        let (left_at, right_at) = (numbers(8, 64, 0), numbers(second.0, second.1, 10_000));
        let (b, b_at) = (whole.clone().valid(second.0, second.1), places.clone().valid(second.0, second.1));
        maker.load("src0", &whole, &left);
        maker.load("src1", &b, &right);
        maker.load("src0Idx", &places, &left_at);
        maker.load("src1Idx", &b_at, &right_at);
        maker.tile("dst", &whole);
        maker.tile("dstIdx", &places);
        let ins = [("src0", whole.text()), ("src1", b.text()), ("src0Idx", places.text()), ("src1Idx", b_at.text())];
        maker.op(&ins, &[("dst", whole.text()), ("dstIdx", places.text())], "");
        let takes_second = |r: usize, c: usize| {
            r < second.0 && c < second.1 && {
                let (a, b) = (left.at(r, c).float(), right.at(r, c).float());
                if subject.op == "tpartargmax" { b > a } else { b < a }
            }
        };
        let want = left.like(8, 64, |r, c| if takes_second(r, c) { right.at(r, c) } else { left.at(r, c) });
        maker.store("dst", &whole, &want, Close::Exact);
        let want =
            Data::new(index, 8, 64, |r, c| if takes_second(r, c) { right_at.at(r, c) } else { left_at.at(r, c) });
        maker.store("dstIdx", &places, &want, Close::Exact);
        maker.finish()
    };
    vec![twice(|seed| one((8, 64), "", seed)), twice(|seed| one((5, 37), "part", seed))]
}

/// To bytes: a factor (and an offset) for each row.
fn quantise(_: &Row, subject: &Subject) -> Vec<Case> {
    let float = named("f32");
    let one = |with_offset: bool, (rows, cols): (usize, usize), label: &str, seed: u64| {
        let mut maker = Maker::new(*subject, label);
        let to_type = if with_offset { named("ui8") } else { named("i8") };
        let (from, to) =
            (Shape::vec(subject.ty, 16, 64).valid(rows, cols), Shape::vec(to_type, 16, 64).valid(rows, cols));
        let side = Shape::column(float, 16).valid(rows, 1);
        let data =
            Data::new(subject.ty, rows, cols, |r, c| number(Domain::Small, subject.ty, (0, 1), seed, r * cols + c));
        let factor = Data::new(float, rows, 1, |r, _| Num::F(2f64.powi(r as i32 % 7) + 0.5));
        let offset = Data::new(float, rows, 1, |r, _| Num::F(100.0 + r as f64));
        maker.load("src", &from, &data);
        maker.load("fp", &side, &factor);
        let mut ins = vec![("src", from.text()), ("fp", side.text())];
        if with_offset {
            maker.load("offset", &side, &offset);
            ins.push(("offset", side.text()));
        }
        maker.tile("dst", &to);
        let kind = if with_offset { "INT8_ASYM" } else { "INT8_SYM" };
        maker.op(&ins, &[("dst", to.text())], &format!("{{quant_type = #pto.quant_type<{kind}>}}"));
        let (low, high) = to_type.range();
        let want = Data::new(to_type, rows, cols, |r, c| {
            let product = (data.at(r, c).float() * factor.at(r, 0).float()) as f32;
            let sum = if with_offset { product + offset.at(r, 0).float() as f32 } else { product };
            Num::I((f64::from(sum).round_ties_even() as i128).clamp(low, high))
        });
        maker.store("dst", &to, &want, Close::Exact);
        maker.finish()
    };
    let both = |with_offset, valid, label: &str| twice(|seed| one(with_offset, valid, label, seed));
    vec![both(false, (16, 64), ""), both(true, (16, 64), "offset"), both(false, (9, 37), "part")]
}

/// To 8-bit floats: the 32 elements of a group share the exponent that brings the largest below 2^9.
fn quantise_groups(_: &Row, subject: &Subject) -> Vec<Case> {
    let (narrow, exponent) = (named("f8e4m3"), named("f8e8m0"));
    let (rows, cols, group) = (8, 128, 32);
    let groups = cols / group;
    let one = |seed: u64| {
        let mut maker = Maker::new(*subject, "");
        let (from, to) = (Shape::vec(subject.ty, rows, cols), Shape::vec(narrow, rows, cols));
        let (codes, side) = (Shape::vec(exponent, 1, rows * groups), Shape::vec(subject.ty, 1, rows * groups));
        let data = Data::new(subject.ty, rows, cols, |r, c| {
            let value = number(Domain::Small, subject.ty, (0, 1), seed, r * cols + c).float();
            Num::F(value * 2f64.powi(c as i32 / group as i32 * 3 - 4))
        });
        maker.load("src", &from, &data);
        for (name, shape) in [("dst", &to), ("exp", &codes), ("max", &side), ("scaling", &side)] {
            maker.tile(name, shape);
        }
        let outs = [("dst", to.text()), ("exp", codes.text()), ("max", side.text()), ("scaling", side.text())];
        maker.op(&[("src", from.text())], &outs, "{quant_type = #pto.quant_type<MXFP8>}");
        let largest = |r: usize, g: usize| {
            data.values[r * cols + g * group..][..group].iter().fold(0f64, |m, v| m.max(v.float().abs()))
        };
        let shared = |r: usize, g: usize| largest(r, g).log2().floor().max(-100.0) as i32 - 8;
        let want = Data::new(narrow, rows, cols, |r, c| {
            let value = data.at(r, c).float() * 2f64.powi(-shared(r, c / group));
            Num::F(value.clamp(-448.0, 448.0))
        });
        maker.store("dst", &to, &want, Close::Exact);
        let want =
            Data::new(exponent, 1, rows * groups, |_, i| Num::I(i128::from(127 + shared(i / groups, i % groups))));
        maker.store("exp", &codes, &want, Close::Exact);
        let want = Data::new(subject.ty, 1, rows * groups, |_, i| Num::F(largest(i / groups, i % groups)));
        maker.store("max", &side, &want, Close::Exact);
        maker.finish()
    };
    vec![twice(one)]
}

/// (src - offset) * scale.
fn dequantise(_: &Row, subject: &Subject) -> Vec<Case> {
    let float = named("f32");
    let one = |(rows, cols): (usize, usize), label: &str, seed: u64| {
        let mut maker = Maker::new(*subject, label);
        let (from, to) =
            (Shape::vec(subject.ty, 16, 64).valid(rows, cols), Shape::vec(float, 16, 64).valid(rows, cols));
        let side = Shape::column(float, 16).valid(rows, 1);
        let data =
            Data::new(subject.ty, rows, cols, |r, c| number(Domain::Any, subject.ty, (0, 1), seed, r * cols + c));
        let scale = Data::new(float, rows, 1, |r, _| Num::F(0.01 * (r + 1) as f64));
        let offset = Data::new(float, rows, 1, |r, _| Num::F(r as f64 - 5.0));
        maker.load("src", &from, &data);
        maker.load("scale", &side, &scale);
        maker.load("offset", &side, &offset);
        maker.tile("dst", &to);
        let ins = [("src", from.text()), ("scale", side.text()), ("offset", side.text())];
        maker.op(&ins, &[("dst", to.text())], "");
        let want = Data::new(float, rows, cols, |r, c| {
            let difference = data.at(r, c).float() as f32 - offset.at(r, 0).float() as f32;
            Num::F(f64::from(difference * scale.at(r, 0).float() as f32))
        });
        maker.store("dst", &to, &want, Close::Exact);
        maker.finish()
    };
    vec![twice(|seed| one((16, 64), "", seed)), twice(|seed| one((9, 37), "part", seed))]
}
