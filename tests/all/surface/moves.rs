//! Global memory to tiles and back, between tiles in vec, parts, padding, transposition, single elements.

use super::build::{Case, Maker, Shape, Subject};
use super::number::{Close, Data, Format, Num, Type, named};
use super::row::{Domain, Row, number, row};

/// The operations.
pub const ROWS: &[Row] = &[
    row("tload", load),
    row("tprefetch", prefetch),
    row("tstore", store),
    row("tmov", whole_tile).types(COPIED, COPIED),
    row("textract", extract),
    row("tinsert", insert),
    row("tfillpad", pad),
    row("ttrans", transpose),
    row("tconcat", concat),
    row("tconcatidx", concat_counted),
    row("tsetval", set_value).types(COPIED, COPIED),
    row("tgetval", get_value).types("i8 i16 i32 i64 f16 bf16 f32", "i8 i16 i32 i64 f16 bf16 f32"),
];

/// Where the facts leave the type open.
const COPIED: &str = "i8 i16 i32 f16 bf16 f32";

/// Data of any kind.
fn any(ty: &'static Type, rows: usize, cols: usize, seed: u64) -> Data {
    Data::new(ty, rows, cols, |r, c| number(Domain::Any, ty, (0, 1), seed, r * cols + c))
}

fn forms(one: impl Fn((usize, usize), &str, u64) -> Case, whole: (usize, usize), part: (usize, usize)) -> Vec<Case> {
    let both = |valid, label: &str| Case::join((0..2).map(|seed| one(valid, label, seed)));
    vec![both(whole, ""), both(part, "part")]
}

/// Columns of a part that is not whole blocks of 32 bytes.
const PART: (usize, usize) = (5, 37);
const WHOLE: (usize, usize) = (8, 64);

/// In and out again, by rows and by columns.
fn load(_: &Row, subject: &Subject) -> Vec<Case> {
    let one = |valid: (usize, usize), label: &str, seed: u64| {
        let mut maker = Maker::new(*subject, label);
        let shape = Shape::vec(subject.ty, WHOLE.0, WHOLE.1).valid(valid.0, valid.1);
        let data = any(subject.ty, valid.0, valid.1, seed);
        maker.load("dst", &shape, &data);
        maker.names(["dst"]);
        maker.store("dst", &shape, &data, Close::Exact);
        maker.finish()
    };
    let mut cases = forms(one, WHOLE, PART);
    let column = |seed: u64| {
        let mut maker = Maker::new(*subject, "column");
        let shape = Shape::column(subject.ty, 32).valid(19, 1);
        let data = any(subject.ty, 19, 1, seed);
        maker.load("dst", &shape, &data);
        maker.names(["dst"]);
        maker.store("dst", &shape, &data, Close::Exact);
        maker.finish()
    };
    cases.push(Case::join((0..2).map(column)));
    cases
}

/// What is brought into the cache is unchanged; its tile is working storage.
fn prefetch(_: &Row, subject: &Subject) -> Vec<Case> {
    forms(
        |valid, label, seed| {
            let mut maker = Maker::new(*subject, label);
            let shape = Shape::vec(subject.ty, WHOLE.0, WHOLE.1).valid(valid.0, valid.1);
            let data = any(subject.ty, valid.0, valid.1, seed);
            maker.tile("dst", &shape);
            maker.tile("copy", &shape);
            let window = maker.window("src", &data, Some(&data), Some(Close::Exact));
            maker.line(format!("pto.tprefetch ins(%src_view : {window}) outs(%dst : {})", shape.text()));
            maker.names(["dst"]);
            maker.line(format!("pto.tload ins(%src_view : {window}) outs(%copy : {})", shape.text()));
            maker.store("copy", &shape, &data, Close::Exact);
            maker.finish()
        },
        WHOLE,
        PART,
    )
}

/// Out, and added to what is there.
fn store(_: &Row, subject: &Subject) -> Vec<Case> {
    let one = |valid: (usize, usize), label: &str, seed: u64| {
        let mut maker = Maker::new(*subject, label);
        let shape = Shape::vec(subject.ty, WHOLE.0, WHOLE.1).valid(valid.0, valid.1);
        let data = any(subject.ty, valid.0, valid.1, seed);
        maker.load("src", &shape, &data);
        maker.names(["src"]);
        maker.store("src", &shape, &data, Close::Exact);
        maker.finish()
    };
    let mut cases = forms(one, WHOLE, PART);
    if ["i8", "i16", "i32", "f16", "bf16", "f32"].contains(&subject.ty.name) {
        let added = |seed: u64| {
            let mut maker = Maker::new(*subject, "added");
            let shape = Shape::vec(subject.ty, WHOLE.0, WHOLE.1);
            let of = |seed: u64| {
                Data::new(subject.ty, WHOLE.0, WHOLE.1, |r, c| {
                    number(Domain::Quarters, subject.ty, (0, 1), seed, r * WHOLE.1 + c)
                })
            };
            let (data, before) = (of(seed), of(seed + 5));
            maker.load("src", &shape, &data);
            maker.names(["src"]);
            let want = data.like(WHOLE.0, WHOLE.1, |r, c| match (data.at(r, c), before.at(r, c)) {
                (Num::F(a), Num::F(b)) => Num::F(a + b),
                (a, b) => Num::I(a.int() + b.int()),
            });
            let window = maker.window("dst", &want, Some(&before), Some(Close::Exact));
            maker.line(format!(
                "pto.tstore ins(%src : {}) outs(%dst_view : {window}) {{atomicType = #pto.atomic_type<atomic_add>}}",
                shape.text()
            ));
            maker.finish()
        };
        cases.push(Case::join((0..2).map(added)));
    }
    cases
}

fn whole_tile(_: &Row, subject: &Subject) -> Vec<Case> {
    forms(
        |valid, label, seed| {
            let mut maker = Maker::new(*subject, label);
            let shape = Shape::vec(subject.ty, WHOLE.0, WHOLE.1).valid(valid.0, valid.1);
            let data = any(subject.ty, valid.0, valid.1, seed);
            maker.load("src", &shape, &data);
            maker.tile("dst", &shape);
            maker.op(&[("src", shape.text())], &[("dst", shape.text())], "");
            maker.callee("TMOV(");
            maker.store("dst", &shape, &data, Close::Exact);
            maker.finish()
        },
        WHOLE,
        PART,
    )
}

/// Rows and columns of a tile that is part of another, and where it starts in it: a whole block from the left.
const SMALL: (usize, usize) = (4, 32);
const FROM: (usize, usize) = (3, 32);

fn extract(_: &Row, subject: &Subject) -> Vec<Case> {
    let one = |seed: u64| {
        let mut maker = Maker::new(*subject, "");
        let (large, small) = (Shape::vec(subject.ty, WHOLE.0, WHOLE.1), Shape::vec(subject.ty, SMALL.0, SMALL.1));
        let data = any(subject.ty, WHOLE.0, WHOLE.1, seed);
        maker.load("src", &large, &data);
        maker.tile("dst", &small);
        let (row, col) = (maker.index(FROM.0), maker.index(FROM.1));
        maker.line(format!(
            "pto.textract ins(%src, {row}, {col} : {}, index, index) outs(%dst : {})",
            large.text(),
            small.text()
        ));
        maker.names(["src", "dst"]);
        maker.callee("TEXTRACT(");
        let want = data.like(SMALL.0, SMALL.1, |r, c| data.at(r + FROM.0, c + FROM.1));
        maker.store("dst", &small, &want, Close::Exact);
        maker.finish()
    };
    vec![Case::join((0..2).map(one))]
}

fn insert(_: &Row, subject: &Subject) -> Vec<Case> {
    let one = |seed: u64| {
        let mut maker = Maker::new(*subject, "");
        let (large, small) = (Shape::vec(subject.ty, WHOLE.0, WHOLE.1), Shape::vec(subject.ty, SMALL.0, SMALL.1));
        let data = any(subject.ty, SMALL.0, SMALL.1, seed);
        let before = any(subject.ty, WHOLE.0, WHOLE.1, seed + 5);
        maker.load("src", &small, &data);
        maker.load("dst", &large, &before);
        let (row, col) = (maker.index(FROM.0), maker.index(FROM.1));
        maker.line(format!(
            "pto.tinsert ins(%src, {row}, {col} : {}, index, index) outs(%dst : {})",
            small.text(),
            large.text()
        ));
        maker.names(["src", "dst"]);
        maker.callee("TINSERT(");
        let inside =
            |r: usize, c: usize| (FROM.0..FROM.0 + SMALL.0).contains(&r) && (FROM.1..FROM.1 + SMALL.1).contains(&c);
        let want = before.like(WHOLE.0, WHOLE.1, |r, c| match inside(r, c) {
            true => data.at(r - FROM.0, c - FROM.1),
            false => before.at(r, c),
        });
        maker.store("dst", &large, &want, Close::Exact);
        maker.finish()
    };
    vec![Case::join((0..2).map(one))]
}

/// The value of a kind of padding: extremes of a type, with infinities.
fn pad_value(ty: &Type, kind: &str) -> Num {
    match (ty.format, kind) {
        (Format::Float(..), "zero") => Num::F(0.0),
        (Format::Float(..), "max") => Num::F(f64::INFINITY),
        (Format::Float(..), _) => Num::F(f64::NEG_INFINITY),
        (_, "zero") => Num::I(0),
        (_, "max") => Num::I(ty.range().1),
        _ => Num::I(ty.range().0),
    }
}

fn pad(_: &Row, subject: &Subject) -> Vec<Case> {
    let one = |(kind, keys): (&str, &'static str), cols: usize, label: &str, seed: u64| {
        let mut maker = Maker::new(*subject, label);
        let from = Shape::vec(subject.ty, WHOLE.0, WHOLE.1).valid(PART.0, PART.1);
        let to = Shape::vec(subject.ty, WHOLE.0, cols).keys(keys);
        let data = any(subject.ty, PART.0, PART.1, seed);
        maker.load("src", &from, &data);
        maker.tile("dst", &to);
        maker.op(&[("src", from.text())], &[("dst", to.text())], "");
        maker.callee("TFILLPAD(");
        let want = data.like(WHOLE.0, cols, |r, c| match r < PART.0 && c < PART.1 {
            true => data.at(r, c),
            false => pad_value(subject.ty, kind),
        });
        maker.store("dst", &to, &want, Close::Exact);
        maker.finish()
    };
    let kinds = [("zero", "pad=1"), ("max", "pad=2"), ("min", "pad=3")];
    let mut cases = vec![Case::join((0..2).map(|seed| one(kinds[0], WHOLE.1, "", seed)))];
    // Narrow floats are padded with zero only.
    if subject.ty.bits() > 8 || subject.ty.is_integer() {
        cases.extend(kinds[1..].iter().map(|kind| one(*kind, WHOLE.1, kind.0, 0)));
    }
    cases.push(one(kinds[0], 2 * WHOLE.1, "wider", 0));
    cases
}

fn transpose(_: &Row, subject: &Subject) -> Vec<Case> {
    forms(
        |(rows, cols), label, seed| {
            let mut maker = Maker::new(*subject, label);
            let from = Shape::vec(subject.ty, 32, 64).valid(rows, cols);
            let to = Shape::vec(subject.ty, 64, 32).valid(cols, rows);
            let data = any(subject.ty, rows, cols, seed);
            maker.load("src", &from, &data);
            maker.tile("dst", &to);
            maker.op(&[("src", from.text())], &[("dst", to.text())], "");
            let want = data.like(cols, rows, |r, c| data.at(c, r));
            maker.store("dst", &to, &want, Close::Exact);
            maker.finish()
        },
        (32, 64),
        (19, 37),
    )
}

fn concat(_: &Row, subject: &Subject) -> Vec<Case> {
    forms(
        |(rows, cols), label, seed| {
            let mut maker = Maker::new(*subject, label);
            let other = if cols == 32 { 32 } else { 9 };
            let (left, right) = (any(subject.ty, rows, cols, seed), any(subject.ty, rows, other, seed + 5));
            let small = Shape::vec(subject.ty, 8, 32);
            let (first, second) = (small.clone().valid(rows, cols), small.valid(rows, other));
            let to = Shape::vec(subject.ty, 8, 64).valid(rows, cols + other);
            maker.load("src0", &first, &left);
            maker.load("src1", &second, &right);
            maker.tile("dst", &to);
            maker.op(&[("src0", first.text()), ("src1", second.text())], &[("dst", to.text())], "");
            let want = left.like(rows, cols + other, |r, c| match c < cols {
                true => left.at(r, c),
                false => right.at(r, c - cols),
            });
            maker.store("dst", &to, &want, Close::Exact);
            maker.finish()
        },
        (8, 32),
        (5, 17),
    )
}

/// As many elements of each row as the first column of an index tile says.
fn concat_counted(_: &Row, subject: &Subject) -> Vec<Case> {
    let one = |seed: u64| {
        let mut maker = Maker::new(*subject, "");
        let index = named("i32");
        let (left, right) = (any(subject.ty, 8, 32, seed), any(subject.ty, 8, 32, seed + 5));
        let (small, counts) = (Shape::vec(subject.ty, 8, 32), Shape::vec(index, 8, 8));
        let to = Shape::vec(subject.ty, 8, 64);
        // Counts are in bytes of the index tile's own type.
        let size = index.bytes() as i128;
        let count = |turn: usize, r: usize| (5 * r + 7 * turn) % 33;
        let of = |turn: usize| Data::new(index, 8, 8, |r, _| Num::I(count(turn, r) as i128 * size));
        maker.load("src0", &small, &left);
        maker.load("src1", &small, &right);
        maker.load("src0Idx", &counts, &of(0));
        maker.load("src1Idx", &counts, &of(1));
        let before = any(subject.ty, 8, 64, seed + 9);
        maker.load("dst", &to, &before);
        let ins =
            [("src0", small.text()), ("src1", small.text()), ("src0Idx", counts.text()), ("src1Idx", counts.text())];
        maker.op(&ins, &[("dst", to.text())], "");
        let want = left.like(8, 64, |r, c| {
            let (first, second) = (count(0, r), count(1, r));
            match c {
                _ if c < first => left.at(r, c),
                _ if c < first + second => right.at(r, c - first),
                _ => before.at(r, c),
            }
        });
        maker.store("dst", &to, &want, Close::Exact);
        maker.finish()
    };
    vec![Case::join((0..2).map(one))]
}

fn scalar_text(ty: &'static Type) -> &'static str {
    if ty.is_integer() { ty.text.trim_start_matches('u') } else { ty.text }
}

fn set_value(_: &Row, subject: &Subject) -> Vec<Case> {
    let one = |seed: u64| {
        let mut maker = Maker::new(*subject, "");
        let shape = Shape::vec(subject.ty, WHOLE.0, WHOLE.1);
        let before = any(subject.ty, WHOLE.0, WHOLE.1, seed);
        let value = any(subject.ty, 1, 1, seed + 5).at(0, 0);
        maker.load("dst", &shape, &before);
        maker.scalar("val", scalar_text(subject.ty), value);
        let offset = maker.index(2 * WHOLE.1 + 9);
        let (text, ty) = (scalar_text(subject.ty), shape.text());
        maker.line(format!("pto.tsetval ins({offset}, %val : index, {text}) outs(%dst : {ty})"));
        maker.names(["dst", "val"]);
        let want = before.like(WHOLE.0, WHOLE.1, |r, c| if (r, c) == (2, 9) { value } else { before.at(r, c) });
        maker.store("dst", &shape, &want, Close::Exact);
        maker.finish()
    };
    vec![Case::join((0..2).map(one))]
}

/// What is read goes to memory as a scalar.
fn get_value(_: &Row, subject: &Subject) -> Vec<Case> {
    let one = |seed: u64| {
        let mut maker = Maker::new(*subject, "");
        let shape = Shape::vec(subject.ty, WHOLE.0, WHOLE.1);
        let data = any(subject.ty, WHOLE.0, WHOLE.1, seed);
        maker.load("src", &shape, &data);
        let offset = maker.index(2 * WHOLE.1 + 9);
        let text = scalar_text(subject.ty);
        maker.line(format!("%value = pto.tgetval ins(%src, {offset} : {}, index) outs : {text}", shape.text()));
        maker.names(["src"]);
        // Scalars have no sign.
        let want = Data::new(named(subject.ty.name.trim_start_matches('u')), 1, 1, |_, _| data.at(2, 9));
        maker.window("out", &want, None, Some(Close::Exact));
        let zero = maker.index(0);
        maker.line(format!("pto.store_scalar %value, %out_at[{zero}] : !pto.ptr<{text}>, {text}"));
        maker.finish()
    };
    vec![Case::join((0..2).map(one))]
}
