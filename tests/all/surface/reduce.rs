//! Reductions along rows and columns, places of extremes, broadcasts.

use super::build::{Case, Maker, Shape, Subject};
use super::number::{Close, Data, Num, named};
use super::row::{Domain, Row, number, row};

/// The operations.
pub const ROWS: &[Row] = &[
    row("trowsum", rows).float(|v, _| v.iter().sum()).int(|v, _| v.iter().sum()).domain(Domain::Quarters),
    row("trowprod", rows).float(|v, _| v.iter().product()).int(product).domain(Domain::Factor),
    row("trowmax", rows).float(largest).int(|v, _| v.iter().copied().max().unwrap_or(0)).domain(Domain::Ordered),
    row("trowmin", rows).float(smallest).int(|v, _| v.iter().copied().min().unwrap_or(0)).domain(Domain::Ordered),
    row("trowargmax", row_places)
        .float(largest)
        .int(|v, _| v.iter().copied().max().unwrap_or(0))
        .domain(Domain::Ordered),
    row("trowargmin", row_places)
        .float(smallest)
        .int(|v, _| v.iter().copied().min().unwrap_or(0))
        .domain(Domain::Ordered),
    row("tcolsum", cols)
        .float(|v, _| v.iter().sum())
        .int(|v, _| v.iter().sum())
        .domain(Domain::Quarters)
        .forms(&[("binary", "{isBinary = true}")]),
    row("tcolprod", cols).float(|v, _| v.iter().product()).int(product).domain(Domain::Factor),
    row("tcolmax", cols).float(largest).int(|v, _| v.iter().copied().max().unwrap_or(0)).domain(Domain::Ordered),
    row("tcolmin", cols).float(smallest).int(|v, _| v.iter().copied().min().unwrap_or(0)).domain(Domain::Ordered),
    row("tcolargmax", col_places)
        .float(largest)
        .int(|v, _| v.iter().copied().max().unwrap_or(0))
        .domain(Domain::Ordered),
    row("tcolargmin", col_places)
        .float(smallest)
        .int(|v, _| v.iter().copied().min().unwrap_or(0))
        .domain(Domain::Ordered),
    row("trowexpand", row_spread),
    row("tcolexpand", col_spread),
    row("trowexpandadd", row_broadcast).float(|v, _| v[0] + v[1]).int(|v, _| v[0] + v[1]),
    row("trowexpandsub", row_broadcast).float(|v, _| v[0] - v[1]).int(|v, _| v[0] - v[1]),
    row("trowexpandmul", row_broadcast).float(|v, _| v[0] * v[1]).int(|v, _| v[0].wrapping_mul(v[1])),
    row("trowexpandmax", row_broadcast).float(|v, _| v[0].max(v[1])).int(|v, _| v[0].max(v[1])).domain(Domain::Ordered),
    row("trowexpandmin", row_broadcast).float(|v, _| v[0].min(v[1])).int(|v, _| v[0].min(v[1])).domain(Domain::Ordered),
    row("trowexpanddiv", row_broadcast).float(|v, _| v[0] / v[1]).int(|v, _| v[0] / v[1]).domain(Domain::Divisor),
    row("trowexpandexpdif", row_broadcast)
        .float(|v, _| (v[0] - v[1]).exp())
        .domain(Domain::Quarters)
        .close(Close::Steps(2)),
    row("tcolexpandadd", col_broadcast).float(|v, _| v[0] + v[1]).int(|v, _| v[0] + v[1]),
    row("tcolexpandsub", col_broadcast).float(|v, _| v[0] - v[1]).int(|v, _| v[0] - v[1]),
    row("tcolexpandmul", col_broadcast).float(|v, _| v[0] * v[1]).int(|v, _| v[0].wrapping_mul(v[1])),
    row("tcolexpandmax", col_broadcast).float(|v, _| v[0].max(v[1])).int(|v, _| v[0].max(v[1])).domain(Domain::Ordered),
    row("tcolexpandmin", col_broadcast).float(|v, _| v[0].min(v[1])).int(|v, _| v[0].min(v[1])).domain(Domain::Ordered),
    row("tcolexpanddiv", col_broadcast).float(|v, _| v[0] / v[1]).int(|v, _| v[0] / v[1]).domain(Domain::Divisor),
    row("tcolexpandexpdif", col_broadcast)
        .float(|v, _| (v[0] - v[1]).exp())
        .domain(Domain::Quarters)
        .close(Close::Steps(2)),
];

/// Rows and columns of a tile, and what is valid of it in the partial form.
const WHOLE: (usize, usize) = (32, 64);
const PART: (usize, usize) = (19, 37);

fn largest(v: &[f64], _: &Subject) -> f64 {
    v.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn smallest(v: &[f64], _: &Subject) -> f64 {
    v.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Wrapped at each step: the product itself is too large for any integer here.
fn product(v: &[i128], subject: &Subject) -> i128 {
    v.iter().fold(1, |all, &x| subject.ty.wrap(all.wrapping_mul(x)))
}

fn data(row: &Row, subject: &Subject, operand: (usize, usize), (rows, cols): (usize, usize), seed: u64) -> Data {
    Data::new(subject.ty, rows, cols, |r, c| number(row.domain, subject.ty, operand, seed, r * cols + c))
}

/// The whole and the partial form, two runs each.
fn forms(one: impl Fn((usize, usize), &str, u64) -> Case) -> Vec<Case> {
    let both = |valid, label: &str| Case::join((0..2).map(|seed| one(valid, label, seed)));
    vec![both(WHOLE, ""), both(PART, "part")]
}

fn tile(subject: &Subject, valid: (usize, usize)) -> Shape {
    Shape::vec(subject.ty, WHOLE.0, WHOLE.1).valid(valid.0, valid.1)
}

/// One value for each row.
fn rows(row: &Row, subject: &Subject) -> Vec<Case> {
    forms(|valid, label, seed| {
        let mut maker = Maker::new(*subject, label);
        let src = data(row, subject, (0, 2), valid, seed);
        let (from, to) = (tile(subject, valid), Shape::column(subject.ty, WHOLE.0).valid(valid.0, 1));
        maker.load("src", &from, &src);
        maker.tile("dst", &to);
        maker.op(&[("src", from.text())], &[("dst", to.text())], "");
        let want = src.like(valid.0, 1, |r, _| row.result(&src.values[r * valid.1..][..valid.1], subject));
        maker.store("dst", &to, &want, row.close);
        maker.finish()
    })
}

/// The first place where the result of a row stands.
fn place(row: &Row, subject: &Subject, values: &[Num]) -> Num {
    let extreme = row.result(values, subject);
    Num::I(values.iter().position(|v| *v == extreme).unwrap_or(values.len()) as i128)
}

fn row_places(row: &Row, subject: &Subject) -> Vec<Case> {
    forms(|valid, label, seed| {
        let mut maker = Maker::new(*subject, label);
        let src = data(row, subject, (0, 2), valid, seed);
        let index = named("ui32");
        let (from, to) = (tile(subject, valid), Shape::column(index, WHOLE.0).valid(valid.0, 1));
        maker.load("src", &from, &src);
        maker.tile("dst", &to);
        maker.op(&[("src", from.text())], &[("dst", to.text())], "");
        let want = Data::new(index, valid.0, 1, |r, _| place(row, subject, &src.values[r * valid.1..][..valid.1]));
        maker.store("dst", &to, &want, Close::Exact);
        maker.finish()
    })
}

fn column_of(src: &Data, col: usize) -> Vec<Num> {
    (0..src.rows).map(|r| src.at(r, col)).collect()
}

/// One value for each column.
fn cols(row: &Row, subject: &Subject) -> Vec<Case> {
    let one = |attributes: &str, valid: (usize, usize), label: &str, seed: u64| {
        let mut maker = Maker::new(*subject, label);
        let src = data(row, subject, (0, 2), valid, seed);
        let (from, to) = (tile(subject, valid), Shape::vec(subject.ty, 1, WHOLE.1).valid(1, valid.1));
        maker.load("src", &from, &src);
        maker.tile("dst", &to);
        maker.op(&[("src", from.text())], &[("dst", to.text())], attributes);
        let want = src.like(1, valid.1, |_, c| row.result(&column_of(&src, c), subject));
        maker.store("dst", &to, &want, row.close);
        maker.finish()
    };
    let mut cases = forms(|valid, label, seed| one("", valid, label, seed));
    for (label, attributes) in row.forms {
        cases.extend(forms(|valid, part, seed| one(attributes, valid, &format!("{label}{part}"), seed)));
    }
    cases
}

fn col_places(row: &Row, subject: &Subject) -> Vec<Case> {
    forms(|valid, label, seed| {
        let mut maker = Maker::new(*subject, label);
        let mut src = data(row, subject, (0, 2), valid, seed);
        if subject.is_a3() && subject.ty.is_unsigned() {
            // A3 compares the bits as floats: in the order of integers as long as they are positive and finite.
            let most = if subject.ty.bits() == 16 { 0x7bff } else { 0x7f7f_ffff };
            src = src.like(valid.0, valid.1, |r, c| Num::I(src.at(r, c).int() % most));
        }
        let index = named("ui32");
        let (from, to) = (tile(subject, valid), Shape::vec(index, 1, WHOLE.1).valid(1, valid.1));
        maker.load("src", &from, &src);
        maker.tile("dst", &to);
        maker.op(&[("src", from.text())], &[("dst", to.text())], "");
        let want = Data::new(index, 1, valid.1, |_, c| place(row, subject, &column_of(&src, c)));
        maker.store("dst", &to, &want, Close::Exact);
        maker.finish()
    })
}

/// A column in all columns.
fn row_spread(row: &Row, subject: &Subject) -> Vec<Case> {
    forms(|valid, label, seed| {
        let mut maker = Maker::new(*subject, label);
        let src = data(row, subject, (0, 2), (valid.0, 1), seed);
        let (from, to) = (Shape::column(subject.ty, WHOLE.0).valid(valid.0, 1), tile(subject, valid));
        maker.load("src", &from, &src);
        maker.tile("dst", &to);
        maker.op(&[("src", from.text())], &[("dst", to.text())], "");
        let want = src.like(valid.0, valid.1, |r, _| src.at(r, 0));
        maker.store("dst", &to, &want, Close::Exact);
        maker.finish()
    })
}

/// A row in all rows.
fn col_spread(row: &Row, subject: &Subject) -> Vec<Case> {
    forms(|valid, label, seed| {
        let mut maker = Maker::new(*subject, label);
        let src = data(row, subject, (0, 2), (1, valid.1), seed);
        let (from, to) = (Shape::vec(subject.ty, 1, WHOLE.1).valid(1, valid.1), tile(subject, valid));
        maker.load("src", &from, &src);
        maker.tile("dst", &to);
        maker.op(&[("src", from.text())], &[("dst", to.text())], "");
        let want = src.like(valid.0, valid.1, |_, c| src.at(0, c));
        maker.store("dst", &to, &want, Close::Exact);
        maker.finish()
    })
}

/// A tile and one value for each row: as a column, or as a block of 32 bytes.
fn row_broadcast(row: &Row, subject: &Subject) -> Vec<Case> {
    let one = |in_blocks: bool, valid: (usize, usize), label: &str, seed: u64| {
        let mut maker = Maker::new(*subject, label);
        let left = data(row, subject, (0, 2), valid, seed);
        let values = data(row, subject, (1, 2), (valid.0, 1), seed);
        let shape = tile(subject, valid);
        let block = (32 / subject.ty.bytes()).max(1);
        maker.load("src0", &shape, &left);
        let side = if in_blocks {
            let side = Shape::vec(subject.ty, WHOLE.0, block).valid(valid.0, block);
            maker.load("src1", &side, &values.like(valid.0, block, |r, _| values.at(r, 0)));
            side
        } else {
            let side = Shape::column(subject.ty, WHOLE.0).valid(valid.0, 1);
            maker.load("src1", &side, &values);
            side
        };
        maker.tile("dst", &shape);
        maker.op(&[("src0", shape.text()), ("src1", side.text())], &[("dst", shape.text())], "");
        let want = left.like(valid.0, valid.1, |r, c| row.result(&[left.at(r, c), values.at(r, 0)], subject));
        maker.store("dst", &shape, &want, row.close);
        maker.finish()
    };
    let mut cases = forms(|valid, label, seed| one(false, valid, label, seed));
    cases.extend(forms(|valid, part, seed| one(true, valid, &format!("blocks{part}"), seed)));
    cases
}

/// A tile and one value for each column.
fn col_broadcast(row: &Row, subject: &Subject) -> Vec<Case> {
    forms(|valid, label, seed| {
        let mut maker = Maker::new(*subject, label);
        let left = data(row, subject, (0, 2), valid, seed);
        let right = data(row, subject, (1, 2), (1, valid.1), seed);
        let (shape, line) = (tile(subject, valid), Shape::vec(subject.ty, 1, WHOLE.1).valid(1, valid.1));
        maker.load("src0", &shape, &left);
        maker.load("src1", &line, &right);
        maker.tile("dst", &shape);
        maker.op(&[("src0", shape.text()), ("src1", line.text())], &[("dst", shape.text())], "");
        let want = left.like(valid.0, valid.1, |r, c| row.result(&[left.at(r, c), right.at(0, c)], subject));
        maker.store("dst", &shape, &want, row.close);
        maker.finish()
    })
}
