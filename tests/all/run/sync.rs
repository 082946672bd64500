//! Runs of kernels that synchronise by themselves, and of queues with entries in global memory or with an epilogue.

use super::data::{EXACT, F32, floats, integers, map, matrix, noise, product, rows};
use super::{Element, Row, Tensor, Trial, row, run_all};

#[test]
fn synchronising_kernels() {
    run_all(ROWS);
}

/// The kernels.
pub const ROWS: &[Row] = &[
    row("tests/cases/codegen/acc_epilogue_a3.pto", &["multiply", "collect"], || epilogue(2)),
    row("tests/cases/codegen/acc_epilogue_a5.pto", &["multiply", "collect"], || epilogue(1)),
    row("tests/cases/codegen/all_cores_meet.pto", &["rotate"], all_cores_meet),
    row("tests/cases/codegen/buffer_tokens.pto", &["tokens"], buffer_tokens),
    row("tests/cases/codegen/core_signals.pto", &["multiply", "twice"], core_signals),
    row("tests/cases/codegen/event_arrays.pto", &["numbered"], numbered),
    row("tests/cases/codegen/event_arrays.pto", &["waited"], waited),
    row("tests/cases/codegen/slot_tensors.pto", &["multiply", "exponential"], slot_tensors),
];

/// Each of the vector cores that take part stores 32 rows of halves and 16 of bytes, 32 rows apart. A factor is a power
/// of two, so that products with it are exact.
fn epilogue(lanes: usize) -> Vec<Trial> {
    const SCALE: f32 = 0.007_812_5;
    const SIGNED: i64 = 1 << 46;
    let (a, b) = (noise(Element::I8, &[16, 64], 40, 127.0), noise(Element::I8, &[64, 64], 41, 127.0));
    let sums = product(&a, &b);
    let factor = |c: usize| 2f32.powi(-10 - (c % 3) as i32);
    let words: Vec<i64> = (0..64).map(|c| i64::from(factor(c).to_bits()) | SIGNED).collect();
    let words = Tensor { shape: vec![1, 64], ..integers(Element::U64, &words) };
    let halves = matrix(Element::F16, 32 * lanes, 64, |r, c| (sums[r % 16][c] * f64::from(SCALE)).max(0.0));
    let before = matrix(Element::I8, 32 * lanes - 16, 64, |_, _| 0.0);
    let bytes = matrix(Element::I8, 32 * lanes - 16, 64, |r, c| {
        let whole = (sums[r % 16][c] * f64::from(factor(c))).round_ties_even();
        if r % 32 < 16 { whole.clamp(-128.0, 127.0) } else { 0.0 }
    });
    let slots = |trial: Trial| if lanes == 2 { trial.scratch(4096).scratch(2048) } else { trial };
    let trial = slots(Trial::new()).read(&a).read(&b).read(&words).float(f64::from(SCALE));
    vec![trial.write(halves, EXACT).update(&before, bytes, EXACT)]
}

fn all_cores_meet() -> Vec<Trial> {
    let run = |cores: usize| {
        let x = floats(&[cores, 64], 42);
        let old = rows(&x);
        let rotated = matrix(Element::F32, cores, 64, |r, c| old[(r + 1) % cores][c]);
        let trial = Trial::new().read(&x).write(x.clone(), EXACT).write(rotated, EXACT);
        trial.scratch(64).int(cores as i64).blocks(cores)
    };
    [1, 4].map(run).to_vec()
}

fn buffer_tokens() -> Vec<Trial> {
    let x = floats(&[16, 64], 43);
    [1, 31].map(|token| Trial::new().read(&x).write(map(&x, f64::exp), F32).int(token)).to_vec()
}

fn core_signals() -> Vec<Trial> {
    let (a, b) = (noise(Element::F16, &[16, 16], 44, 1.0), noise(Element::F16, &[16, 16], 45, 1.0));
    let sums = product(&a, &b);
    let out = matrix(Element::F32, 16, 16, |r, c| 2.0 * sums[r][c]);
    [0, 7].map(|id| Trial::new().read(&a).read(&b).write(out.clone(), (2e-6, 4e-6)).int(id)).to_vec()
}

fn numbered() -> Vec<Trial> {
    let x = floats(&[16, 64], 46);
    [0, 6].map(|first| Trial::new().read(&x).write(map(&x, |v| v.exp() + 1.0), F32).int(first)).to_vec()
}

fn waited() -> Vec<Trial> {
    let x = floats(&[16, 64], 47);
    vec![Trial::new().read(&x).write(map(&x, f64::exp), F32)]
}

/// Step s multiplies s + 1 times; there are two slots.
fn slot_tensors() -> Vec<Trial> {
    let (a, b) = (noise(Element::F16, &[16, 16], 48, 0.5), noise(Element::F16, &[16, 16], 49, 0.5));
    let sums = product(&a, &b);
    let run = |steps: usize| {
        let out = matrix(Element::F32, 16 * steps, 16, |r, c| (sums[r % 16][c] * (r / 16 + 1) as f64).exp());
        Trial::new().scratch(2048).read(&a).read(&b).int(steps as i64).write(out, (2e-5, 0.0))
    };
    [1, 5].map(run).to_vec()
}
