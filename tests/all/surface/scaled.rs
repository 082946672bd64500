//! Matrix products of 8- and 4-bit floats with one scale for 32 elements along the sums (A5).

use super::build::{Case, Maker, Shape, Subject};
use super::number::{Close, Data, Num, TYPES, Type, named, noise};
use super::row::{Row, row};

/// The operations.
pub const ROWS: &[Row] = &[
    row("tmatmul.mx", product),
    row("tmatmul.mx.acc", product),
    row("tmatmul.mx.bias", product),
    row("tgemv.mx", product),
    row("tgemv.mx.acc", product),
    row("tgemv.mx.bias", product),
    row("tget_scale_addr", product).types("", "f8e4m3"),
];

/// Rows, length of the sums, columns; elements with one scale.
const TILE: (usize, usize, usize) = (32, 64, 64);
const GROUP: usize = 32;

const NZ: &str = "blayout=col_major, slayout=row_major";

/// Values that share a byte.
fn packed(ty: &Type) -> usize {
    if ty.name.ends_with("x2") { 2 } else { 1 }
}

/// A small value and, for four bits, its code.
fn small(ty: &Type, seed: u64, at: usize) -> (f64, u8) {
    let magnitudes: &[f64] = match ty.name {
        "f4e2m1x2" => &[0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0],
        "f4e1m2x2" => &[0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75],
        _ => &[0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 1.0],
    };
    let word = noise(seed, at as u64);
    let code = (word % 8) as u8;
    let value = magnitudes[usize::from(code)];
    match word >> 8 & 1 {
        0 => (value, code),
        _ => (-value, code | 8),
    }
}

/// Values and bytes of a matrix, row after row.
fn matrix(ty: &'static Type, rows: usize, cols: usize, seed: u64) -> (Vec<Vec<f64>>, Data) {
    let of = |r: usize, c: usize| small(ty, seed, r * cols + c);
    let values = (0..rows).map(|r| (0..cols).map(|c| of(r, c).0).collect()).collect();
    let data = Data::new(ty, rows, cols / packed(ty), |r, c| match packed(ty) {
        2 => Num::I(i128::from(of(r, 2 * c + 1).1 << 4 | of(r, 2 * c).1)),
        _ => Num::F(of(r, c).0),
    });
    (values, data)
}

/// An exponent with its bias of 127: powers of two from -2 to 2.
fn scale(seed: u64, row: usize, col: usize) -> i32 {
    (noise(seed, (row * 64 + col) as u64) % 5) as i32 - 2
}

fn product(row: &Row, subject: &Subject) -> Vec<Case> {
    let kinds = ["f8e4m3 f8e5m2", "f4e2m1x2 f4e1m2x2"];
    let own = kinds.iter().find(|kind| subject.ty.is_in(kind)).copied().unwrap_or(subject.ty.name);
    let rights = TYPES.iter().filter(|ty| ty.is_in(own));
    let _ = row;
    let cases = rights.map(|right| {
        let label = if right == subject.ty { String::new() } else { format!("by_{}", right.name) };
        Case::join((0..2).map(|seed| one(subject, right, &label, seed)))
    });
    // The plain form first.
    let mut cases: Vec<Case> = cases.collect();
    cases.sort_by_key(|case| case.label.clone());
    cases
}

fn one(subject: &Subject, right: &'static Type, label: &str, seed: u64) -> Case {
    let mut maker = Maker::new(*subject, label);
    let left = subject.ty;
    let vector = subject.op.starts_with("tgemv");
    let (m, k, n) = (if vector { 1 } else { TILE.0 }, TILE.1, TILE.2);
    let groups = k / GROUP;
    let (float, exponent) = (named("f32"), named("f8e8m0"));
    let a_shape = Shape::vec(left, TILE.0, k / packed(left)).valid(m, k / packed(left)).space("left").keys(NZ);
    let b_shape = Shape::vec(right, k, n / packed(right)).space("right").keys("slayout=col_major");
    let sum = Shape::vec(float, TILE.0, n)
        .valid(m, n)
        .space("acc")
        .keys("blayout=col_major, slayout=row_major, fractal=1024");
    let (a, a_data) = matrix(left, m, k, seed);
    let (b, b_data) = matrix(right, k, n, seed + 5);
    for (name, shape, data) in [("a", &a_shape, &a_data), ("b", &b_shape, &b_data)] {
        let staged = format!("{name}_mat");
        let mat = shape.clone().space("mat").keys(NZ);
        maker.load(&staged, &mat, data);
        maker.tile(name, shape);
        maker.line(format!("pto.tmov ins(%{staged} : {}) outs(%{name} : {})", mat.text(), shape.text()));
    }
    // Scales in boxes of 16 x 2, and 2 x 16.
    let biased = |seed: u64, r: usize, c: usize| Num::I(i128::from(127 + scale(seed, r, c)));
    let a_scales = Data::new(exponent, TILE.0 / 16, groups * 16, |block, at| {
        biased(seed, block * 16 + at / 2 % 16, at / 32 * 2 + at % 2)
    });
    let b_scales = Data::new(exponent, n / 16, groups * 16, |block, at| {
        biased(seed + 9, at / 32 * 2 + at % 2, block * 16 + at / 2 % 16)
    });
    let a_scale =
        Shape::vec(exponent, TILE.0, groups).valid(m, groups).space("scaling").keys("slayout=row_major, fractal=32");
    let b_scale =
        Shape::vec(exponent, groups, n).space("scaling").keys("blayout=col_major, slayout=col_major, fractal=32");
    for (of, name, shape, data, layout, blocks) in [
        ("a", "a_scale", &a_scale, &a_scales, "mx_a_zz", TILE.0 / 16),
        ("b", "b_scale", &b_scale, &b_scales, "mx_b_nn", n / 16),
    ] {
        let staged = format!("{name}_mat");
        let whole = Shape { valid: (shape.rows, shape.cols), ..shape.clone().space("mat") };
        maker.load_as(&staged, &whole, data, &[1, blocks, groups / 2, 16, 2], layout);
        maker.tile(name, shape);
        let operand = if of == "a" { a_shape.text() } else { b_shape.text() };
        maker.line(format!("pto.tget_scale_addr ins(%{of} : {operand}) outs(%{name} : {})", shape.text()));
        maker.line(format!("pto.tmov ins(%{staged} : {}) outs(%{name} : {})", whole.text(), shape.text()));
    }
    maker.tile("dst", &sum);
    let types = [a_shape.text(), a_scale.text(), b_shape.text(), b_scale.text()].join(", ");
    let (operands, st) = ("%a, %a_scale, %b, %b_scale", sum.text());
    let mut addend = vec![0.0; n];
    let mut times = 1.0;
    let plain = if vector { "tgemv.mx" } else { "tmatmul.mx" };
    if subject.op.ends_with(".acc") {
        maker.line(format!("pto.{plain} ins({operands} : {types}) outs(%dst : {st})"));
        maker.line(format!("pto.{plain}.acc ins(%dst, {operands} : {st}, {types}) outs(%dst : {st})"));
        times = 2.0;
    } else if subject.op.ends_with(".bias") {
        let line = Shape::vec(float, 1, n);
        let data = Data::new(float, 1, n, |_, c| Num::F((c % 7) as f64 - 3.0));
        let (mat, bias) = (line.clone().space("mat"), line.space("bias"));
        maker.load("bias_mat", &mat, &data);
        maker.tile("bias", &bias);
        maker.line(format!("pto.tmov ins(%bias_mat : {}) outs(%bias : {})", mat.text(), bias.text()));
        maker.line(format!("pto.{plain}.bias ins({operands}, %bias : {types}, {}) outs(%dst : {st})", bias.text()));
        maker.names(["bias"]);
        addend = (0..n).map(|c| (c % 7) as f64 - 3.0).collect();
    } else {
        maker.line(format!("pto.{plain} ins({operands} : {types}) outs(%dst : {st})"));
    }
    match subject.op {
        "tget_scale_addr" => maker.names(["a", "a_scale"]),
        _ => maker.names(["a", "a_scale", "b", "b_scale", "dst"]),
    }
    let want = Data::new(float, m, n, |row, col| {
        let term = |i: usize| {
            let shift = scale(seed, row, i / GROUP) + scale(seed + 9, i / GROUP, col);
            a[row][i] * b[i][col] * 2f64.powi(shift)
        };
        Num::F(times * (0..k).map(term).sum::<f64>() + addend[col])
    });
    maker.store("dst", &sum, &want, Close::Exact);
    maker.finish()
}
