//! Runs of kernels that communicate on one card, and of those whose control flow or memory is not plain.

use super::data::{EXACT, F32, floats, from, integers, map, matrix, rows, zip};
use super::{Element, Row, Tensor, Trial, row, run_all};

#[test]
fn communicating_kernels() {
    run_all(ROWS);
}

/// The kernels.
pub const ROWS: &[Row] = &[
    row("tests/cases/codegen/addresses.pto", &["by_address"], by_address),
    row("tests/cases/codegen/async_copies.pto", &["copies"], copies),
    row("tests/cases/codegen/async_copies.pto", &["prefetched"], prefetched),
    row("tests/cases/codegen/blocks.pto", &["collatz"], collatz),
    row("tests/cases/codegen/blocks.pto", &["early_end"], early_end),
    row("tests/cases/codegen/blocks.pto", &["doubled"], doubled),
    row("tests/cases/codegen/blocks.pto", &["many"], many),
    row("tests/cases/codegen/carried_views.pto", &["either"], either),
    row("tests/cases/codegen/carried_views.pto", &["in_turn"], in_turn),
    row("tests/cases/codegen/collectives.pto", &["broadcast"], broadcast),
    row("tests/cases/codegen/collectives.pto", &["gather"], gather),
    row("tests/cases/codegen/collectives.pto", &["scatter"], scatter),
    row("tests/cases/codegen/collectives.pto", &["total"], total),
    row("tests/cases/codegen/collectives.pto", &["largest"], largest),
    row("tests/cases/codegen/collectives.pto", &["add_and_fetch"], add_and_fetch),
    row("tests/cases/codegen/collectives.pto", &["signals"], signals),
    row("tests/cases/codegen/records.pto", &["running"], running),
    row("tests/cases/codegen/records.pto", &["apart"], apart),
    row("tests/cases/codegen/regions.pto", &["opened"], opened),
];

fn window(seed: u64) -> Tensor {
    floats(&[8, 64], seed)
}

/// Rows `from` to `from + 8` of 16.
fn half(x: &Tensor, from: usize) -> Tensor {
    let all = rows(x);
    matrix(Element::F32, 8, 64, |r, c| all[from + r][c])
}

fn by_address() -> Vec<Trial> {
    let x = integers(Element::I64, &[1, (7 << 32) + 5, -1]);
    let run = |(i, high): (i64, i64)| Trial::new().read(&x).write(integers(Element::I32, &[high]), EXACT).int(i);
    [(0, 0), (1, 7), (2, -1)].map(run).to_vec()
}

fn copies() -> Vec<Trial> {
    let x = floats(&[128], 51);
    let trial = Trial::new().read(&x).write(x.clone(), EXACT).write(x.clone(), EXACT);
    vec![trial.scratch(1024).write(integers(Element::I32, &[1]), EXACT)]
}

fn prefetched() -> Vec<Trial> {
    let x = floats(&[128], 52);
    vec![Trial::new().read(&x).write(x.clone(), EXACT).scratch(1024)]
}

fn collatz() -> Vec<Trial> {
    let run = |n: i64| {
        let (mut m, mut steps) = (n, 0);
        while m > 1 {
            m = if m % 2 == 0 { m / 2 } else { 3 * m + 1 };
            steps += 1;
        }
        Trial::new().write(integers(Element::I32, &[steps]), EXACT).int(n)
    };
    [-4, 1, 2, 27].map(run).to_vec()
}

fn early_end() -> Vec<Trial> {
    let run = |n: i64| Trial::new().write(integers(Element::I32, &[n.max(0)]), EXACT).int(n);
    [-1, 0, 12].map(run).to_vec()
}

fn doubled() -> Vec<Trial> {
    let x = window(53);
    let run = |n: i64| Trial::new().read(&x).write(map(&x, |v| v * f64::from(1u32 << n)), EXACT).int(n);
    [0, 1, 5].map(run).to_vec()
}

fn many() -> Vec<Trial> {
    let run = |(n, y): (i64, i64)| Trial::new().write(integers(Element::I32, &[y]), EXACT).int(n);
    [(0, 0), (1, 10), (2, 20), (-7, -7)].map(run).to_vec()
}

fn either() -> Vec<Trial> {
    let (x, y) = (floats(&[12, 64], 54), floats(&[12, 128], 55));
    let run = |second: bool| {
        let all = rows(if second { &y } else { &x });
        let out = matrix(Element::F32, 8, 64, |r, c| all[4 + r][c]);
        Trial::new().read(&x).read(&y).write(out, EXACT).int(i64::from(second)).int(12)
    };
    [false, true].map(run).to_vec()
}

fn in_turn() -> Vec<Trial> {
    let (x, y) = (window(56), window(57));
    let run = |trips: i64| {
        let (mut a, mut b) = (x.clone(), y.clone());
        for trip in 0..trips {
            match trip % 2 {
                0 => b = map(&a, |v| f64::from((v + 1.0) as f32)),
                _ => a = map(&b, |v| f64::from((v + 1.0) as f32)),
            }
        }
        Trial::new().update(&x, a, F32).update(&y, b, F32).int(trips)
    };
    [0, 1, 4].map(run).to_vec()
}

fn broadcast() -> Vec<Trial> {
    let x = window(58);
    vec![Trial::new().read(&x).write(x.clone(), EXACT).write(x.clone(), EXACT)]
}

fn gather() -> Vec<Trial> {
    let (a, b) = (window(59), window(60));
    let list = [a.values(), b.values()].concat();
    vec![Trial::new().write(from(Element::F32, &[16, 64], |at| list[at]), EXACT).read(&a).read(&b)]
}

fn scatter() -> Vec<Trial> {
    let x = floats(&[16, 64], 61);
    vec![Trial::new().read(&x).write(half(&x, 0), EXACT).write(half(&x, 8), EXACT).int(64)]
}

fn total() -> Vec<Trial> {
    let [a, b, c] = [62, 63, 64].map(window);
    // The root's first, then the others in their order, each sum rounded.
    let sum = zip(&zip(&b, &a, |p, q| f64::from((p + q) as f32)), &c, |p, q| f64::from((p + q) as f32));
    vec![Trial::new().write(sum, EXACT).read(&a).read(&b).read(&c)]
}

fn largest() -> Vec<Trial> {
    let (a, b) = (window(65), window(66));
    vec![Trial::new().write(zip(&a, &b, f64::max), EXACT).read(&a).read(&b)]
}

fn add_and_fetch() -> Vec<Trial> {
    let (x, y) = (window(67), window(68));
    let sum = zip(&x, &y, |p, q| f64::from((p + q) as f32));
    vec![Trial::new().read(&x).update(&y, sum.clone(), EXACT).write(sum, EXACT)]
}

fn signals() -> Vec<Trial> {
    let run = |start: i64| {
        let answers = [i64::from(start >= 5), i64::from(start + 3 >= 5)];
        let after = integers(Element::I32, &[start + 3]);
        Trial::new()
            .update(&integers(Element::I32, &[start]), after, EXACT)
            .write(integers(Element::I32, &answers), EXACT)
    };
    [0, 2, 5].map(run).to_vec()
}

fn running() -> Vec<Trial> {
    let run = |n: usize| {
        let x = floats(&[n], 69);
        let mut sum = 0.0f32;
        let sums: Vec<f64> = x
            .values()
            .iter()
            .map(|v| {
                let before = sum;
                sum += *v as f32;
                f64::from(before)
            })
            .collect();
        let counts = integers(Element::I32, &[n as i64]);
        Trial::new().update(&x, Tensor::of(Element::F32, &[n], &sums), EXACT).write(counts, EXACT).int(n as i64)
    };
    [1, 9].map(run).to_vec()
}

fn apart() -> Vec<Trial> {
    vec![Trial::new().write(integers(Element::I32, &[-3]), EXACT).int(-3)]
}

fn opened() -> Vec<Trial> {
    let x = window(70);
    let run = |n: i64| {
        let factor = if n < 0 { 0.5 } else { 2.0 };
        Trial::new().read(&x).write(map(&x, |v| (v * factor).exp()), F32).int(n)
    };
    [-1, 3].map(run).to_vec()
}
