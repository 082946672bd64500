//! Runs of kernels of a cube and two vector cores that work together.

use super::data::{matrix, noise, product, rows, softmax, transposed};
use super::{Element, Row, Trial, row, run_all};

#[test]
fn mixed_kernels() {
    run_all(ROWS);
}

/// The kernels.
pub const ROWS: &[Row] = &[
    row("tests/cases/run/attention_a3.pto", &["multiply", "normalise"], attention),
    row("tests/cases/run/attention_a5.pto", &["multiply", "normalise"], attention),
];

/// Weights are rounded to f16 between the products: 2^-11 of values up to 1.
fn attention() -> Vec<Trial> {
    let run = |length: usize| {
        let make = |height, seed, scale| noise(Element::F16, &[height, 64], seed, scale);
        let (q, k, v) = (make(16, 1, 2.0), make(length, 2, 2.0), make(length, 3, 1.0));
        let weights: Vec<Vec<f64>> = product(&q, &transposed(&k))
            .iter()
            .map(|row| softmax(&row.iter().map(|s| s / 8.0).collect::<Vec<_>>()))
            .collect();
        let values = rows(&v);
        let out = matrix(Element::F32, 16, 64, |r, c| weights[r].iter().zip(&values).map(|(w, v)| w * v[c]).sum());
        let trial = Trial::new().scratch(2 * 4 * 4096).read(&q).read(&k).read(&v).int(length as i64);
        trial.write(out, (0.0, 2e-4))
    };
    [64, 256, 640].map(run).to_vec()
}
