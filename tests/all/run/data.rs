//! Inputs that look random, and tensors computed from others by plain loops.

use super::{Element, Tensor};

/// Relative and absolute.
pub type Tolerance = (f64, f64);
/// Every bit of the value counts.
pub const EXACT: Tolerance = (0.0, 0.0);
/// A few roundings of f32.
pub const F32: Tolerance = (2e-6, 1e-7);

/// Numbers from -1 to 1 that depend on the seed and on where they are.
fn random(seed: u64, at: usize) -> f64 {
    let mut z =
        seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add((at as u64 + 1).wrapping_mul(0xd1b5_4a32_d192_ed03));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// A tensor of numbers between `-scale` and `scale`, rounded to the element type.
pub fn noise(element: Element, shape: &[usize], seed: u64, scale: f64) -> Tensor {
    from(element, shape, |at| random(seed, at) * scale)
}

/// A tensor of f32 between -1 and 1.
pub fn floats(shape: &[usize], seed: u64) -> Tensor {
    noise(Element::F32, shape, seed, 1.0)
}

/// A tensor whose values depend on where they are.
pub fn from(element: Element, shape: &[usize], value: impl FnMut(usize) -> f64) -> Tensor {
    let values: Vec<f64> = (0..shape.iter().product()).map(value).collect();
    Tensor::of(element, shape, &values)
}

/// A matrix whose values depend on row and column.
pub fn matrix(element: Element, rows: usize, cols: usize, mut value: impl FnMut(usize, usize) -> f64) -> Tensor {
    from(element, &[rows, cols], |at| value(at / cols, at % cols))
}

/// Of the same shape and type, from each value.
pub fn map(x: &Tensor, mut value: impl FnMut(f64) -> f64) -> Tensor {
    let values = x.values();
    from(x.element, &x.shape, |at| value(values[at]))
}

/// Of the same shape and type, from the values of two.
pub fn zip(x: &Tensor, y: &Tensor, mut value: impl FnMut(f64, f64) -> f64) -> Tensor {
    let (a, b) = (x.values(), y.values());
    from(x.element, &x.shape, |at| value(a[at], b[at]))
}

/// The same values in another element type.
pub fn cast(x: &Tensor, element: Element) -> Tensor {
    Tensor::of(element, &x.shape, &x.values())
}

/// Rows of a matrix.
pub fn rows(x: &Tensor) -> Vec<Vec<f64>> {
    let cols = x.shape.last().copied().unwrap_or(1);
    x.values().chunks(cols).map(<[f64]>::to_vec).collect()
}

/// Of the same shape and type, row by row.
pub fn by_row(x: &Tensor, row: impl FnMut(&[f64]) -> Vec<f64>) -> Tensor {
    let cols = x.shape.last().copied().unwrap_or(1);
    let values: Vec<f64> = x.values().chunks(cols).flat_map(row).collect();
    Tensor::of(x.element, &x.shape, &values)
}

/// A matrix product, in f64.
pub fn product(x: &Tensor, y: &Tensor) -> Vec<Vec<f64>> {
    let (a, b) = (rows(x), rows(y));
    let dot = |row: &[f64], col: usize| row.iter().zip(&b).map(|(p, q)| p * q[col]).sum();
    a.iter().map(|row| (0..b[0].len()).map(|col| dot(row, col)).collect()).collect()
}

/// Turned over its diagonal.
pub fn transposed(x: &Tensor) -> Tensor {
    let values = rows(x);
    matrix(x.element, x.shape[1], x.shape[0], |r, c| values[c][r])
}

/// A tensor of integers.
pub fn integers(element: Element, values: &[i64]) -> Tensor {
    from(element, &[values.len()], |at| values[at] as f64)
}

/// One number for each row as a column.
pub fn column(x: &Tensor, row: impl Fn(&[f64]) -> f64) -> Tensor {
    let values: Vec<f64> = rows(x).iter().map(|r| row(r)).collect();
    Tensor::of(x.element, &[values.len(), 1], &values)
}

/// Softmax of a row.
pub fn softmax(row: &[f64]) -> Vec<f64> {
    let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let parts: Vec<f64> = row.iter().map(|v| (v - largest).exp()).collect();
    let sum: f64 = parts.iter().sum();
    parts.iter().map(|v| v / sum).collect()
}
