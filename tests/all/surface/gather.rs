//! Elements chosen or placed by index or by mask: between tiles and in global memory.

use super::build::{Case, Maker, Shape, Subject};
use super::number::{Close, Data, Num, Type, named, noise};
use super::row::{Domain, Row, number, row};

/// The operations.
pub const ROWS: &[Row] = &[
    row("tgather", gather),
    row("tgatherb", gather_blocks),
    row("tscatter", scatter),
    row("mgather", gather_global),
    row("mscatter", scatter_global),
];

fn any(ty: &'static Type, rows: usize, cols: usize, seed: u64) -> Data {
    Data::new(ty, rows, cols, |r, c| number(Domain::Any, ty, (0, 1), seed, r * cols + c))
}

fn twice(one: impl Fn(u64) -> Case) -> Case {
    Case::join((0..2).map(one))
}

/// Mask patterns: name, one in how many, which.
const PATTERNS: [(&str, usize, usize); 7] = [
    ("P0101", 2, 0),
    ("P1010", 2, 1),
    ("P0001", 4, 0),
    ("P0010", 4, 1),
    ("P0100", 4, 2),
    ("P1000", 4, 3),
    ("P1111", 1, 0),
];

/// Sizes of elements that masks move along rows, and along columns.
fn masks(subject: &Subject, along_rows: bool) -> bool {
    let bytes = subject.ty.bytes();
    match (subject.is_a3(), along_rows) {
        (true, _) => matches!(bytes, 2 | 4),
        // Of 8 bytes the library keeps rows apart as no tile of the dialect does.
        (false, true) => bytes < 8,
        (false, false) => matches!(bytes, 1 | 2 | 4),
    }
}

fn gather(_: &Row, subject: &Subject) -> Vec<Case> {
    let by_index = |label: &str, index: &'static Type, seed: u64| {
        let mut maker = Maker::new(*subject, label);
        let (from, to, at) = (Shape::vec(subject.ty, 8, 64), Shape::vec(subject.ty, 8, 32), Shape::vec(index, 8, 32));
        let data = any(subject.ty, 8, 64, seed);
        // Kept below what the smallest index type can count.
        let places = Data::new(index, 8, 32, |r, c| Num::I(i128::from(noise(seed, (r * 32 + c) as u64) % 512)));
        maker.load("src", &from, &data);
        maker.load("indices", &at, &places);
        maker.tile("dst", &to);
        maker.op(&[("src", from.text()), ("indices", at.text())], &[("dst", to.text())], "");
        let want = data.like(8, 32, |r, c| data.values[places.at(r, c).int() as usize]);
        maker.store("dst", &to, &want, Close::Exact);
        maker.finish()
    };
    let by_mask = |(name, times, first): (&str, usize, usize), along_rows: bool, seed: u64| {
        let label = format!("{name}_{}", if along_rows { "row" } else { "col" });
        let mut maker = Maker::new(*subject, &label);
        let (rows, cols) = if along_rows { (8, 128 / times) } else { (8 / times, 128) };
        let (from, to) = (Shape::vec(subject.ty, 8, 128), Shape::vec(subject.ty, rows, cols));
        let data = any(subject.ty, 8, 128, seed);
        maker.load("src", &from, &data);
        maker.tile("dst", &to);
        let axis = if along_rows { "row" } else { "col" };
        maker.line(format!(
            "pto.tgather ins(%src, {{maskPattern = #pto.mask_pattern<{name}>, axis = \"{axis}\"}} : {}) outs(%dst : {})",
            from.text(),
            to.text()
        ));
        maker.names(["src", "dst"]);
        let want = data.like(rows, cols, |r, c| match along_rows {
            true => data.at(r, c * times + first),
            false => data.at(r * times + first, c),
        });
        maker.store("dst", &to, &want, Close::Exact);
        maker.finish()
    };
    let mut cases = vec![twice(|seed| by_index("", named("i32"), seed))];
    if !subject.is_a3() && subject.ty.bytes() < 8 {
        cases.push(twice(|seed| by_index("short", named("i16"), seed)));
    }
    for along_rows in [true, false] {
        if masks(subject, along_rows) {
            cases.extend(PATTERNS.map(|pattern| by_mask(pattern, along_rows, 0)));
        }
    }
    cases
}

/// Blocks of 32 bytes at offsets in bytes.
fn gather_blocks(_: &Row, subject: &Subject) -> Vec<Case> {
    let one = |seed: u64| {
        let mut maker = Maker::new(*subject, "");
        let block = 32 / subject.ty.bytes();
        let blocks = 64 / block;
        let at = named("ui32");
        // Rows of offsets are whole blocks too.
        let (shape, offsets) = (Shape::vec(subject.ty, 8, 64), Shape::vec(at, 8, blocks.max(8)).valid(8, blocks));
        let data = any(subject.ty, 8, 64, seed);
        let place = |r: usize, b: usize| noise(seed, (r * 8 + b) as u64) as usize % (8 * blocks);
        maker.load("src", &shape, &data);
        maker.load("offsets", &offsets, &Data::new(at, 8, blocks, |r, b| Num::I(place(r, b) as i128 * 32)));
        maker.tile("dst", &shape);
        maker.op(&[("src", shape.text()), ("offsets", offsets.text())], &[("dst", shape.text())], "");
        let want = data.like(8, 64, |r, c| data.values[place(r, c / block) * block + c % block]);
        maker.store("dst", &shape, &want, Close::Exact);
        maker.finish()
    };
    vec![twice(one)]
}

/// Places in dst; everything else becomes 0.
fn scatter(_: &Row, subject: &Subject) -> Vec<Case> {
    let zero = if subject.ty.is_float() { Num::F(0.0) } else { Num::I(0) };
    let index = match subject.ty.bytes() {
        1 | 2 => named("i16"),
        _ => named("i32"),
    };
    let by_index = |seed: u64| {
        let mut maker = Maker::new(*subject, "");
        let (from, at, to) = (Shape::vec(subject.ty, 8, 32), Shape::vec(index, 8, 32), Shape::vec(subject.ty, 8, 64));
        let data = any(subject.ty, 8, 32, seed);
        // A permutation of half of the places: 512 places, an odd factor.
        let place = |i: usize| (i * 37 + seed as usize * 11) % 512;
        maker.load("src", &from, &data);
        maker.load("indexes", &at, &Data::new(index, 8, 32, |r, c| Num::I(place(r * 32 + c) as i128)));
        maker.tile("dst", &to);
        maker.op(&[("src", from.text()), ("indexes", at.text())], &[("dst", to.text())], "");
        let mut want = data.like(8, 64, |_, _| zero);
        for (i, value) in data.values.iter().enumerate() {
            want.values[place(i)] = *value;
        }
        maker.store("dst", &to, &want, Close::Exact);
        maker.finish()
    };
    let by_mask = |(name, times, first): (&str, usize, usize), along_rows: bool| {
        let axis = if along_rows { "row" } else { "col" };
        let mut maker = Maker::new(*subject, &format!("{name}_{axis}"));
        let (rows, cols) = if along_rows { (8, 128 / times) } else { (8 / times, 128) };
        let (from, to) = (Shape::vec(subject.ty, rows, cols), Shape::vec(subject.ty, 8, 128));
        let data = any(subject.ty, rows, cols, 3);
        maker.load("src", &from, &data);
        maker.tile("dst", &to);
        maker.line(format!(
            "pto.tscatter ins(%src, {{maskPattern = #pto.mask_pattern<{name}>, axis = \"{axis}\"}} : {}) outs(%dst : {})",
            from.text(),
            to.text()
        ));
        maker.names(["src", "dst"]);
        let want = data.like(8, 128, |r, c| match along_rows {
            true if c % times == first => data.at(r, c / times),
            false if r % times == first => data.at(r / times, c),
            _ => zero,
        });
        maker.store("dst", &to, &want, Close::Exact);
        maker.finish()
    };
    let mut cases = vec![twice(by_index)];
    for along_rows in [true, false] {
        if masks(subject, along_rows) {
            cases.extend(PATTERNS.map(|pattern| by_mask(pattern, along_rows)));
        }
    }
    cases
}

/// Rows or elements of a table in global memory.
fn gather_global(_: &Row, subject: &Subject) -> Vec<Case> {
    let index = named("i32");
    let one = |by_row: bool, beyond: &str, label: &str, seed: u64| {
        let mut maker = Maker::new(*subject, label);
        let table = any(subject.ty, 16, 64, seed);
        let window = maker.window("mem", &table, Some(&table), Some(Close::Exact));
        let to = Shape::vec(subject.ty, 8, 64);
        let capacity = if by_row { 16 } else { 16 * 64 };
        let reach = if beyond == "undefined" { capacity } else { capacity * 3 };
        let place = |r: usize, c: usize| noise(seed, (r * 64 + c) as u64) as usize % reach;
        let at = if by_row { Shape::vec(index, 1, 8) } else { Shape::vec(index, 8, 64) };
        let places = match by_row {
            true => Data::new(index, 1, 8, |_, r| Num::I(place(r, 0) as i128)),
            false => Data::new(index, 8, 64, |r, c| Num::I(place(r, c) as i128)),
        };
        maker.load("idx", &at, &places);
        maker.tile("dst", &to);
        let coalesce = if by_row { "row" } else { "elem" };
        maker.line(format!(
            "pto.mgather ins(%mem_view, %idx : {window}, {}) outs(%dst : {}) \
             {{coalesce = #pto.coalesce<{coalesce}>, gatherOob = #pto.gather_oob<{beyond}>}}",
            at.text(),
            to.text()
        ));
        maker.names(["dst", "idx"]);
        let zero = if subject.ty.is_float() { Num::F(0.0) } else { Num::I(0) };
        let want = table.like(8, 64, |r, c| {
            let place = if by_row { place(r, 0) } else { place(r, c) };
            let inside = match (place < capacity, beyond) {
                (true, _) => place,
                (_, "clamp") => capacity - 1,
                (_, "wrap") => place % capacity,
                _ => return zero,
            };
            if by_row { table.at(inside, c) } else { table.values[inside] }
        });
        maker.store("dst", &to, &want, Close::Exact);
        maker.finish()
    };
    let mut cases =
        vec![twice(|seed| one(true, "undefined", "", seed)), twice(|seed| one(false, "undefined", "elem", seed))];
    for beyond in ["clamp", "wrap", "zero"] {
        cases.push(one(true, beyond, &format!("row_{beyond}"), 4));
        cases.push(one(false, beyond, &format!("elem_{beyond}"), 4));
    }
    cases
}

/// The reverse; with sums and extremes of what is there.
fn scatter_global(_: &Row, subject: &Subject) -> Vec<Case> {
    let index = named("i32");
    let one = |by_row: bool, atomic: &str, beyond: &str, label: &str, seed: u64| {
        let mut maker = Maker::new(*subject, label);
        let quarters = |rows: usize, cols: usize, seed: u64| {
            let ty = subject.ty;
            Data::new(ty, rows, cols, |r, c| number(Domain::Quarters, ty, (0, 1), seed, 200 + r * cols + c))
        };
        let (before, data) = (quarters(16, 64, seed), quarters(8, 64, seed + 5));
        let from = Shape::vec(subject.ty, 8, 64);
        let capacity: usize = if by_row { 16 } else { 16 * 64 };
        let reach = if beyond == "undefined" { capacity } else { capacity * 2 };
        // Odd factors: no two places are the same below the capacity.
        let place = |i: usize| (i * 5 + seed as usize) % reach;
        let at = if by_row { Shape::vec(index, 1, 8) } else { Shape::vec(index, 8, 64) };
        let places = match by_row {
            true => Data::new(index, 1, 8, |_, r| Num::I(place(r) as i128)),
            false => Data::new(index, 8, 64, |r, c| Num::I(place(r * 64 + c) as i128)),
        };
        maker.load("src", &from, &data);
        maker.load("idx", &at, &places);
        let mut want = before.clone();
        for r in 0..8 {
            for c in 0..64 {
                let target = if by_row { place(r) } else { place(r * 64 + c) };
                if target >= capacity {
                    continue;
                }
                let at = if by_row { target * 64 + c } else { target };
                let old = want.values[at];
                want.values[at] = match (old, data.at(r, c), atomic) {
                    (_, new, "none") => new,
                    (Num::F(a), Num::F(b), "add") => Num::F(subject.ty.round(a + b)),
                    (Num::F(a), Num::F(b), "max") => Num::F(a.max(b)),
                    (Num::F(a), Num::F(b), _) => Num::F(a.min(b)),
                    (a, b, "add") => Num::I(subject.ty.wrap(a.int() + b.int())),
                    (a, b, "max") => Num::I(a.int().max(b.int())),
                    (a, b, _) => Num::I(a.int().min(b.int())),
                };
            }
        }
        let window = maker.window("mem", &want, Some(&before), Some(Close::Exact));
        let coalesce = if by_row { "row" } else { "elem" };
        maker.line(format!(
            "pto.mscatter ins(%src, %idx : {}, {}) outs(%mem_view : {window}) {{coalesce = #pto.coalesce<{coalesce}>, \
             scatterAtomicOp = #pto.scatter_atomic_op<{atomic}>, scatterOob = #pto.scatter_oob<{beyond}>}}",
            from.text(),
            at.text()
        ));
        maker.names(["src", "idx"]);
        maker.finish()
    };
    let mut cases = vec![
        twice(|seed| one(true, "none", "undefined", "", seed)),
        twice(|seed| one(false, "none", "undefined", "elem", seed)),
        one(true, "none", "skip", "row_skip", 3),
        one(false, "none", "skip", "elem_skip", 3),
    ];
    let signed = !subject.ty.is_unsigned();
    if subject.ty.is_in("i32 f16 f32") && signed {
        cases.push(one(false, "add", "undefined", "elem_add", 3));
        cases.push(one(true, "add", "undefined", "row_add", 3));
    }
    if subject.ty.is_in("i32 f32") && signed {
        cases.push(one(false, "max", "undefined", "elem_max", 3));
        cases.push(one(false, "min", "undefined", "elem_min", 3));
    }
    cases
}
