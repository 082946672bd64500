//! Runs of kernels that compute with single numbers.

use super::data::{EXACT, F32, floats, from, integers, matrix, noise, rows};
use super::{Element, Row, Tensor, Trial, row, run_all};

#[test]
fn scalar_kernels() {
    run_all(ROWS);
}

/// The kernels.
pub const ROWS: &[Row] = &[
    row("tests/cases/run/scalar_factors.pto", &["picked_rows"], picked_rows),
    row("tests/cases/run/scalar_factors.pto", &["running_sums"], running_sums),
    row("tests/cases/run/local_state.pto", &["sorted"], sorted),
    row("tests/cases/run/local_state.pto", &["largest_sum"], largest_sum),
    row("tests/cases/run/narrow_scratch_a3.pto", &["remainders"], remainders),
    row("tests/cases/run/narrow_scratch_a3.pto", &["factors"], factors),
    row("tests/cases/codegen/corners.pto", &["scalars"], corners),
    row("tests/cases/codegen/nested_windows.pto", &["inner"], inner_window),
    row("tests/cases/codegen/nested_windows.pto", &["bits"], bits_of_a_window),
];

/// Quarters, so that every step is exact; the remainder has the divisor's sign.
fn remainders() -> Vec<Trial> {
    let quarter = |seed: u64, offset: f64| {
        let x = noise(Element::F32, &[16, 8], seed, 8.0);
        let values = x.values();
        from(Element::F32, &[16, 8], |at| (values[at] * 4.0).round() / 4.0 + offset)
    };
    let (x, y) = (quarter(59, 0.0), quarter(60, 9.0));
    let (a, b) = (x.values(), y.values());
    let z = from(Element::F32, &[16, 8], |at| a[at] - (a[at] / b[at]).floor() * b[at] + b[at]);
    vec![Trial::new().read(&x).read(&y).write(z, F32)]
}

fn factors() -> Vec<Trial> {
    let (x, column) = (floats(&[248, 8], 61), floats(&[248, 1], 62));
    let (old, by) = (rows(&x), column.values());
    let y = matrix(Element::F32, 248, 8, |r, c| old[r][c] * by[r]);
    vec![Trial::new().read(&x).read(&column).write(y, F32)]
}

/// Trips without signs, a set bit as a number, whether it is less than a clear one, a difference and a shift of 64 bits, the
/// bits of 1.0 as f16, the case of the least number.
fn corners() -> Vec<Trial> {
    let run = |(flag, which): (i64, i64)| {
        let case = if which == i64::MIN { 40 } else { 1 };
        let all = [4, -flag, flag, -4_294_967_294, 0, 0x3c00, case];
        Trial::new().write(integers(Element::I64, &all), EXACT).int(flag).int(which)
    };
    [(1, 3), (0, i64::MIN)].map(run).to_vec()
}

fn inner_window() -> Vec<Trial> {
    let x = floats(&[16, 64], 57);
    let old = rows(&x);
    let run = |row: usize| {
        let y = matrix(Element::F32, 4, 16, |r, c| old[row + 2 + r][16 + c].abs());
        Trial::new().read(&x).write(y, EXACT).int(row as i64)
    };
    [0, 3, 8].map(run).to_vec()
}

/// Turning all bits of a number changes its sign, and much else.
fn bits_of_a_window() -> Vec<Trial> {
    let x = noise(Element::F16, &[16, 64], 58, 4.0);
    let turned = |row: usize| {
        let mut y = x.clone();
        for (at, bytes) in y.bytes.chunks_mut(2).enumerate() {
            let (r, c) = (at / 64, at % 64);
            if (row..row + 4).contains(&r) && (16..32).contains(&c) {
                bytes.iter_mut().for_each(|byte| *byte = !*byte);
            }
        }
        y
    };
    [1, 12].map(|row| Trial::new().read(&x).write(turned(row), EXACT).int(row as i64)).to_vec()
}

fn picked_rows() -> Vec<Trial> {
    let order = [3, 0, 7, 3, 1];
    let (x, factor) = (floats(&[8, 64], 1), floats(&[5], 2));
    let (old, by) = (rows(&x), factor.values());
    let value = |r: usize, c: usize| old[order[r] as usize][c] * by[r];
    let y = matrix(Element::F32, 5, 64, value);
    let first = from(Element::F32, &[5], |r| value(r, 0));
    let trial = Trial::new().read(&x).read(&integers(Element::I32, &order)).read(&factor);
    vec![trial.write(y, F32).write(first, F32).int(5).int(8)]
}

fn running_sums() -> Vec<Trial> {
    let run = |n: usize| {
        // Not whole in an f64 where they are added up; 32 bits do not hold them.
        let values: Vec<i64> = noise(Element::I64, &[n], 3, 1e12).values().iter().map(|v| *v as i64).collect();
        let mut sums = values.clone();
        (0..n.saturating_sub(1)).rev().for_each(|at| sums[at] += sums[at + 1]);
        sums.push(sums.first().copied().unwrap_or(0));
        let before = [values, vec![0]].concat();
        let [before, after] = [before, sums].map(|list| integers(Element::I64, &list));
        Trial::new().update(&before, after, EXACT).int(n as i64)
    };
    [0, 1, 33].map(run).to_vec()
}

fn sorted() -> Vec<Trial> {
    let run = |n: usize| {
        let x = noise(Element::I32, &[n], 4, 50.0);
        let mut list = x.values();
        list.sort_by(f64::total_cmp);
        Trial::new().update(&x, Tensor::of(Element::I32, &[n], &list), EXACT).int(n as i64)
    };
    [1, 2, 64].map(run).to_vec()
}

fn largest_sum() -> Vec<Trial> {
    let x = noise(Element::I32, &[40], 5, 100.0);
    let list = x.values();
    let run = |n: usize| {
        let sums = (0..n).flat_map(|a| (a..=n).map(move |b| (a, b))).map(|(a, b)| list[a..b].iter().sum::<f64>());
        let best = sums.fold(0.0, f64::max);
        Trial::new().read(&x).int(n as i64).write(integers(Element::I32, &[best as i64]), EXACT)
    };
    [0, 1, 7, 40].map(run).to_vec()
}
