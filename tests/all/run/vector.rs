//! Runs of kernels of the vector core.

use super::data::{EXACT, F32, Tolerance, by_row, cast, column, floats, from, map, matrix, noise, rows, softmax};
use super::data::{transposed, zip};
use super::{Element, Row, Tensor, Trial, row, run_all};

#[test]
fn vector_kernels() {
    run_all(ROWS);
}

/// The kernels.
pub const ROWS: &[Row] = &[
    row("tests/cases/run/add_types.pto", &["add_f32"], || add(Element::F32)),
    row("tests/cases/run/add_types.pto", &["add_f16"], || add(Element::F16)),
    row("tests/cases/run/add_types.pto", &["add_i32"], || add(Element::I32)),
    row("tests/cases/run/add_types.pto", &["add_i16"], || add(Element::I16)),
    row("examples/softmax.pto", &["softmax"], row_softmax),
    row("examples/rms_norm.py", &["rms_norm"], rms_norm),
    row("tests/cases/run/gated.py", &["gated"], gated),
    row("tests/cases/run/transpose.pto", &["halves"], || turned(Element::F16, 32, 64)),
    row("tests/cases/run/transpose.pto", &["bytes"], || turned(Element::I8, 32, 32)),
    row("tests/cases/run/transpose.pto", &["part"], turned_part),
    row("tests/cases/run/gather.pto", &["by_index"], gather_by_index),
    row("tests/cases/run/gather.pto", &["by_mask"], gather_by_mask),
    row("tests/cases/run/sort_row.pto", &["sort_row"], sort_row),
    row("tests/cases/run/quantise.pto", &["quantise"], quantise),
    row("tests/cases/run/quantise.pto", &["with_offset"], quantise_with_offset),
    row("tests/cases/run/convert_chain.pto", &["narrow_and_back"], narrow_and_back),
    row("tests/cases/run/convert_chain.pto", &["rounded"], rounded),
    row("tests/cases/run/reductions.pto", &["rows"], reduced_rows),
    row("tests/cases/run/reductions.pto", &["columns"], reduced_columns),
    row("tests/cases/run/reductions.pto", &["spread"], spread),
    row("tests/cases/run/select.pto", &["tiles"], || select(Element::F32)),
    row("tests/cases/run/select.pto", &["halves"], || select(Element::F16)),
    row("tests/cases/run/select.pto", &["scalars"], select_scalars),
    row("tests/cases/run/tail_both.pto", &["tail_both"], tail_both),
    row("tests/cases/run/ping_pong.pto", &["ping_pong"], ping_pong),
    row("tests/cases/run/block_sums.pto", &["block_sums"], block_sums),
];

fn add(element: Element) -> Vec<Trial> {
    let run = |(height, blocks): (usize, usize)| {
        let scale = if element.is_float() { 1.0 } else { 15000.0 };
        let (x, y) = (noise(element, &[height, 64], 1, scale), noise(element, &[height, 64], 2, scale));
        let sum = zip(&x, &y, |a, b| a + b);
        Trial::new().read(&x).read(&y).write(sum, EXACT).int(height as i64).blocks(blocks)
    };
    [(16, 1), (37, 1), (100, 4), (64, 4), (17, 4)].map(run).to_vec()
}

fn row_softmax() -> Vec<Trial> {
    let run = |(height, blocks): (usize, usize)| {
        let x = noise(Element::F32, &[height, 64], 3, 8.0);
        let y = by_row(&x, softmax);
        Trial::new().read(&x).write(y, (3e-6, 0.0)).int(height as i64).blocks(blocks)
    };
    [(16, 1), (5, 1), (40, 1), (40, 4), (100, 4)].map(run).to_vec()
}

fn rms_norm() -> Vec<Trial> {
    let run = |height: usize| {
        let x = floats(&[height, 256], 4);
        let y = by_row(&x, |row| {
            let mean = row.iter().map(|v| v * v).sum::<f64>() / 256.0;
            row.iter().map(|v| v / (mean + 1e-6).sqrt()).collect()
        });
        Trial::new().read(&x).write(y, (2e-6, 0.0)).int(height as i64)
    };
    [16, 64].map(run).to_vec()
}

fn gated() -> Vec<Trial> {
    let (x, gate) = (noise(Element::F16, &[64, 128], 5, 4.0), noise(Element::F16, &[64, 128], 6, 4.0));
    let y = zip(&x, &gate, |a, g| a * g / (1.0 + (-g).exp()));
    [1, 4].map(|blocks| Trial::new().read(&x).read(&gate).write(y.clone(), (1e-3, 1e-7)).blocks(blocks)).to_vec()
}

fn turned(element: Element, height: usize, width: usize) -> Vec<Trial> {
    let x = noise(element, &[height, width], 7, 100.0);
    vec![Trial::new().read(&x).write(transposed(&x), EXACT)]
}

fn turned_part() -> Vec<Trial> {
    let run = |(m, n): (usize, usize)| {
        let x = floats(&[m, n], 8);
        Trial::new().read(&x).write(transposed(&x), EXACT).int(m as i64).int(n as i64)
    };
    [(16, 32), (16, 8), (8, 32), (5, 19), (1, 1)].map(run).to_vec()
}

fn gather_by_index() -> Vec<Trial> {
    let x = floats(&[8, 64], 9);
    // With repeats, and in no order.
    let places = from(Element::I32, &[8, 64], |at| (at * at * 7 % 512) as f64);
    let values = x.values();
    let y = map(&places, |at| at);
    let y = from(Element::F32, &y.shape, |at| values[y.values()[at] as usize]);
    vec![Trial::new().read(&x).read(&places).write(y, EXACT)]
}

fn gather_by_mask() -> Vec<Trial> {
    let x = floats(&[8, 64], 10);
    let old = rows(&x);
    let every = |step: usize, first: usize| matrix(Element::F32, 8, 64 / step, |r, c| old[r][c * step + first]);
    vec![Trial::new().read(&x).write(every(2, 0), EXACT).write(every(2, 1), EXACT).write(every(4, 2), EXACT)]
}

fn sort_row() -> Vec<Trial> {
    let run = |x: Tensor| {
        let values = x.values();
        let mut order: Vec<usize> = (0..2048).collect();
        order.sort_by(|&a, &b| values[b].total_cmp(&values[a]).then(a.cmp(&b)));
        let sorted = from(Element::F32, &[1, 2048], |at| values[order[at]]);
        let places = from(Element::I32, &[1, 2048], |at| order[at] as f64);
        Trial::new().read(&x).write(sorted, EXACT).write(places, EXACT)
    };
    let ramp = from(Element::F32, &[1, 2048], |at| at as f64);
    vec![run(floats(&[1, 2048], 11)), run(ramp)]
}

fn quantise() -> Vec<Trial> {
    let x = noise(Element::F32, &[16, 128], 12, 3.0);
    let single = |v: f64| v as f32;
    let largest = |row: &[f64]| row.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let bytes = by_row(&x, |row| {
        let factor = single(127.0) / single(largest(row));
        row.iter().map(|v| f64::from((single(*v) * factor).round_ties_even().clamp(-128.0, 127.0))).collect()
    });
    let scales = column(&x, |row| f64::from(single(largest(row)) * single(1.0 / 127.0)));
    let (codes, steps) = (rows(&bytes), scales.values());
    let back = matrix(Element::F32, 16, 128, |r, c| codes[r][c] * steps[r]);
    // What comes back is the input, to half a step.
    assert_eq!(back.agreement(&x, 0.0, 3.0 / 127.0 * 0.501).differing, 0);
    let bytes = cast(&bytes, Element::I8);
    vec![Trial::new().read(&x).write(bytes, EXACT).write(scales, EXACT).write(back, EXACT)]
}

fn quantise_with_offset() -> Vec<Trial> {
    let x = noise(Element::F32, &[16, 128], 13, 3.0);
    let run = |(factor, point): (f32, f32)| {
        let code = |v: f64| f64::from((v as f32 * factor + point).round_ties_even().clamp(0.0, 255.0));
        let bytes = cast(&map(&x, code), Element::U8);
        Trial::new().read(&x).write(bytes, EXACT).float(factor.into()).float(point.into())
    };
    // The last one saturates at both ends.
    [(42.0, 128.0), (10.5, 100.0), (80.0, 128.0)].map(run).to_vec()
}

fn narrow_and_back() -> Vec<Trial> {
    let x = noise(Element::F32, &[16, 64], 14, 500.0);
    let through = |element| cast(&cast(&x, element), Element::F32);
    vec![Trial::new().read(&x).write(through(Element::F16), EXACT).write(through(Element::BF16), EXACT)]
}

fn rounded() -> Vec<Trial> {
    // Halves, both sides of them, and whole numbers, of both signs.
    let x = from(Element::F32, &[16, 64], |at| (at as f64 - 512.0) / 8.0);
    let modes = [f64::round_ties_even, f64::round, f64::floor, f64::ceil, f64::trunc];
    let trial =
        modes.iter().fold(Trial::new().read(&x), |trial, mode| trial.write(cast(&map(&x, mode), Element::I32), EXACT));
    vec![trial.write(map(&x, f64::trunc), EXACT)]
}

/// Sizes of what is valid in a tile of 16 by 64.
const PARTS: [(usize, usize); 5] = [(16, 64), (16, 40), (9, 64), (3, 17), (1, 1)];

fn largest(row: &[f64]) -> f64 {
    row.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn smallest(row: &[f64]) -> f64 {
    row.iter().copied().fold(f64::INFINITY, f64::min)
}

type Reduce = fn(&[f64]) -> f64;

/// Sum, largest, smallest and product of a list, and how well they must agree.
const REDUCTIONS: [(Reduce, Tolerance); 4] = [
    (|row| row.iter().sum(), (2e-6, 2e-6)),
    (largest, EXACT),
    (smallest, EXACT),
    (|row| row.iter().product(), (1e-5, 0.0)),
];

/// Values whose product stays in range.
fn near_one(m: usize, n: usize, seed: u64) -> Tensor {
    map(&floats(&[m, n], seed), |v| v.signum() * (0.8 + 0.4 * v.abs()))
}

fn reduced_rows() -> Vec<Trial> {
    let run = |(m, n): (usize, usize)| {
        let x = near_one(m, n, 15);
        let trial = REDUCTIONS
            .iter()
            .fold(Trial::new().read(&x), |trial, (reduce, tolerance)| trial.write(column(&x, reduce), *tolerance));
        let place = column(&x, |row| row.iter().position(|v| *v == largest(row)).unwrap_or(0) as f64);
        trial.write(cast(&place, Element::I32), EXACT).int(m as i64).int(n as i64)
    };
    PARTS.map(run).to_vec()
}

fn reduced_columns() -> Vec<Trial> {
    let run = |(m, n): (usize, usize)| {
        let x = near_one(m, n, 16);
        let trial = REDUCTIONS.iter().fold(Trial::new().read(&x), |trial, (reduce, tolerance)| {
            trial.write(transposed(&column(&transposed(&x), reduce)), *tolerance)
        });
        trial.int(m as i64).int(n as i64)
    };
    PARTS.map(run).to_vec()
}

fn spread() -> Vec<Trial> {
    let operations: [fn(f64, f64) -> f64; 6] =
        [|a, b| a * b, |a, b| a + b, |a, b| a - b, |a, b| a / b, f64::max, f64::min];
    let run = |(m, n): (usize, usize)| {
        let x = near_one(m, n, 17);
        let (by_row, by_col) = (column(&x, largest).values(), column(&transposed(&x), largest).values());
        let old = rows(&x);
        let write =
            |trial: Trial, value: &dyn Fn(usize, usize) -> f64| trial.write(matrix(Element::F32, m, n, value), EXACT);
        let trial = operations.iter().fold(Trial::new().read(&x), |trial, apply| {
            let trial = write(trial, &|r, c| apply(old[r][c], by_row[r]));
            write(trial, &|r, c| apply(old[r][c], by_col[c]))
        });
        let trial = write(write(trial, &|r, _| by_row[r]), &|_, c| by_col[c]);
        trial.int(m as i64).int(n as i64)
    };
    PARTS.map(run).to_vec()
}

/// Equal, not equal, less, at most, greater, at least.
const COMPARISONS: [fn(f64, f64) -> bool; 6] =
    [|a, b| a == b, |a, b| a != b, |a, b| a < b, |a, b| a <= b, |a, b| a > b, |a, b| a >= b];

fn select(element: Element) -> Vec<Trial> {
    // Few different values, so that many are equal.
    let few = |seed| map(&noise(element, &[16, 64], seed, 3.0), f64::round);
    let (x, y) = (few(18), few(19));
    let trial = COMPARISONS.iter().fold(Trial::new().read(&x).read(&y), |trial, holds| {
        trial.write(zip(&x, &y, |a, b| if holds(a, b) { a } else { b }), EXACT)
    });
    // Where the two differ by sign of what is chosen, not only by order.
    let z = map(&y, |v| v + 0.5);
    let other = COMPARISONS.iter().fold(Trial::new().read(&x).read(&z), |trial, holds| {
        trial.write(zip(&x, &z, |a, b| if holds(a, b) { a } else { b }), EXACT)
    });
    vec![trial, other]
}

fn select_scalars() -> Vec<Trial> {
    let x = map(&noise(Element::F32, &[16, 64], 20, 3.0), f64::round);
    let run = |limit: f64| {
        let trial = Trial::new().read(&x).float(limit).float(-7.5);
        COMPARISONS
            .iter()
            .fold(trial, |trial, holds| trial.write(map(&x, |v| if holds(v, limit) { v } else { -7.5 }), EXACT))
    };
    [1.0, 0.25].map(run).to_vec()
}

fn tail_both() -> Vec<Trial> {
    let run = |(m, n): (usize, usize)| {
        let x = floats(&[m, n], 21);
        let old = rows(&x);
        let y = matrix(Element::F32, m, n, |r, c| {
            let first = c / 64 * 64;
            old[r][c] - largest(&old[r][first..n.min(first + 64)])
        });
        Trial::new().read(&x).write(y, EXACT).int(m as i64).int(n as i64)
    };
    [(16, 64), (1, 1), (40, 150), (17, 65), (31, 128), (32, 7)].map(run).to_vec()
}

fn ping_pong() -> Vec<Trial> {
    let run = |trips: usize| {
        let x = floats(&[16 * trips, 64], 22);
        Trial::new().read(&x).write(map(&x, f64::exp), F32).int(16 * trips as i64)
    };
    [1, 2, 5, 8].map(run).to_vec()
}

fn block_sums() -> Vec<Trial> {
    let run = |blocks: usize| {
        let (x, before) = (floats(&[8 * blocks, 64], 23), floats(&[1, 64], 24));
        let (old, first) = (rows(&x), before.values());
        let sums = matrix(Element::F32, 1, 64, |_, c| first[c] + old.iter().map(|row| row[c]).sum::<f64>());
        let marks = from(Element::I32, &[16 * blocks], |at| if at % 16 == 0 { blocks as f64 } else { 0.0 });
        let empty = Tensor::zeros(Element::I32, &[16 * blocks]);
        let trial = Trial::new().read(&x).update(&before, sums, (0.0, 4e-6)).update(&empty, marks, EXACT);
        trial.blocks(blocks)
    };
    [1, 4].map(run).to_vec()
}
