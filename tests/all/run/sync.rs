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
    row("tests/cases/codegen/block_signals_a3.pto", &["rotate"], block_signals),
    row("tests/cases/codegen/buffer_tokens.pto", &["tokens"], buffer_tokens),
    row("tests/cases/codegen/core_signals.pto", &["multiply", "twice"], core_signals),
    row("tests/cases/codegen/event_arrays.pto", &["numbered"], numbered),
    row("tests/cases/codegen/event_arrays.pto", &["waited"], waited),
    row("tests/cases/codegen/moved_tile.pto", &["moved"], moved_tile),
    row("tests/cases/codegen/own_events.pto", &["events"], own_events),
    row("tests/cases/codegen/queue_handles_a3.pto", &["multiply", "collect"], queue_handles),
    row("tests/cases/codegen/signals_in_block_a5.pto", &["multiply", "twice"], core_signals),
    row("tests/cases/codegen/slot_tensors.pto", &["multiply", "exponential"], slot_tensors),
    row("tests/cases/codegen/slots_to_cube.pto", &["twice", "multiply"], slots_to_cube),
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

/// Rows that each core gets from the next one.
fn rotated(cores: usize) -> Trial {
    let x = floats(&[cores, 64], 42);
    let old = rows(&x);
    let rotated = matrix(Element::F32, cores, 64, |r, c| old[(r + 1) % cores][c]);
    Trial::new().read(&x).write(x.clone(), EXACT).write(rotated, EXACT).blocks(cores).scratch(64)
}

fn all_cores_meet() -> Vec<Trial> {
    [1, 4].map(|cores| rotated(cores).int(cores as i64)).to_vec()
}

fn block_signals() -> Vec<Trial> {
    [1, 4].map(rotated).to_vec()
}

/// The view begins in row 1 of rows that are longer than those of the tile.
fn own_events() -> Vec<Trial> {
    const PITCH: usize = 72;
    let x = floats(&[17, PITCH], 50);
    let old = rows(&x);
    let y = matrix(Element::F32, 16, 64, |r, c| old[r + 1][c].exp());
    let counts = integers(Element::I64, &[PITCH as i64, 1]);
    vec![Trial::new().read(&x).write(y, F32).write(counts, EXACT).int(17).int(PITCH as i64)]
}

/// Rows beyond the valid ones stay as they are.
fn moved_tile() -> Vec<Trial> {
    let x = floats(&[16, 64], 51);
    let (old, before) = (rows(&x), floats(&[16, 64], 52));
    let kept = rows(&before);
    let run = |(place, valid): (i64, usize)| {
        let y = matrix(Element::F32, 16, 64, |r, c| if r < valid { old[r][c].exp() } else { kept[r][c] });
        Trial::new().read(&x).update(&before, y, F32).int(place).int(valid as i64)
    };
    [(8192, 16), (65_536, 5)].map(run).to_vec()
}

/// The same sums through three queues: as they are, doubled, and scaled by a power of two. Both vector cores take all of
/// the scaled ones.
fn queue_handles() -> Vec<Trial> {
    const SCALE: f32 = 0.007_812_5;
    let (a, b) = (noise(Element::I8, &[16, 64], 53, 127.0), noise(Element::I8, &[64, 64], 54, 127.0));
    let sums = product(&a, &b);
    let whole = |times: f64| matrix(Element::I32, 16, 64, |r, c| sums[r][c] * times);
    let scaled = matrix(Element::F16, 32, 64, |r, c| (sums[r % 16][c] * f64::from(SCALE)).max(0.0));
    let trial = Trial::new().scratch(8192).scratch(8192).scratch(4096).read(&a).read(&b).float(f64::from(SCALE));
    vec![trial.write(whole(1.0), EXACT).write(whole(2.0), EXACT).write(scaled, EXACT)]
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

fn slots_to_cube() -> Vec<Trial> {
    let b = noise(Element::F16, &[16, 16], 55, 0.5);
    let run = |steps: usize| {
        let a = noise(Element::F16, &[16 * steps, 16], 56, 0.5);
        let sums = product(&a, &b);
        let out = matrix(Element::F32, 16 * steps, 16, |r, c| 2.0 * sums[r][c]);
        Trial::new().scratch(1024).read(&a).int(steps as i64).read(&b).write(out, (2e-6, 4e-6))
    };
    [1, 5].map(run).to_vec()
}
