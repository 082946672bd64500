//! Runs of kernels of the cube core.

use super::data::{EXACT, Tolerance, matrix, noise, product};
use super::{Element, Row, Trial, row, run_all};

#[test]
fn cube_kernels() {
    run_all(ROWS);
}

/// The kernels.
pub const ROWS: &[Row] = &[
    row("examples/matmul.pto", &["matmul"], blocks_of_rows),
    row("tests/cases/run/product_types.pto", &["product_f16"], || with_bias(Element::F16, Element::F32, SUMS)),
    row("tests/cases/run/product_types.pto", &["product_bf16"], || with_bias(Element::BF16, Element::F32, SUMS)),
    row("tests/cases/run/product_types.pto", &["product_f32"], || with_bias(Element::F32, Element::F32, SUMS)),
    row("tests/cases/run/product_types.pto", &["product_i8"], || with_bias(Element::I8, Element::I32, EXACT)),
];

/// Sums of up to 256 products of numbers up to 1, each rounded to f32.
const SUMS: Tolerance = (2e-6, 4e-6);

fn blocks_of_rows() -> Vec<Trial> {
    let run = |(k, blocks): (usize, usize)| {
        let m = 64 * blocks;
        let (a, b) = (noise(Element::F16, &[m, k], 1, 1.0), noise(Element::F16, &[k, 128], 2, 1.0));
        let sums = product(&a, &b);
        let c = matrix(Element::F32, m, 128, |r, col| sums[r][col]);
        Trial::new().read(&a).read(&b).write(c, SUMS).int(m as i64).int(k as i64).blocks(blocks)
    };
    [(64, 1), (256, 1), (128, 4)].map(run).to_vec()
}

fn with_bias(element: Element, sum: Element, tolerance: Tolerance) -> Vec<Trial> {
    let scale = if element.is_float() { 1.0 } else { 127.0 };
    let run = |(k, blocks): (usize, usize)| {
        let m = 32 * blocks;
        let (a, b) = (noise(element, &[m, k], 3, scale), noise(element, &[k, 64], 4, scale));
        let bias = noise(sum, &[1, 64], 5, if element.is_float() { 1.0 } else { 1e5 });
        let (sums, add) = (product(&a, &b), bias.values());
        let c = matrix(sum, m, 64, |r, col| sums[r][col] + add[col]);
        let trial = Trial::new().read(&a).read(&b).read(&bias).write(c, tolerance);
        trial.int(m as i64).int(k as i64).blocks(blocks)
    };
    [(64, 1), (192, 4)].map(run).to_vec()
}
