//! Tensors: element type, shape and bytes, as kernels take them and `.npy` files hold them.

use crate::npu::Element;

/// A dense tensor in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Element type.
    pub element: Element,
    /// Extents.
    pub shape: Vec<usize>,
    /// The elements, little-endian.
    pub bytes: Vec<u8>,
}

impl Tensor {
    /// A tensor of these values, rounded to the element type.
    #[must_use]
    pub fn of(element: Element, shape: &[usize], values: &[f64]) -> Tensor {
        let mut bytes = vec![0; element.bytes_of(values.len())];
        if element.is_float() {
            element.encode(values, &mut bytes, 0, 1);
        } else {
            let integers: Vec<i64> = values.iter().map(|&v| v as i64).collect();
            element.encode(&integers, &mut bytes, 0, 1);
        }
        Tensor { element, shape: shape.to_vec(), bytes }
    }

    /// A tensor of zeros.
    #[must_use]
    pub fn zeros(element: Element, shape: &[usize]) -> Tensor {
        let count = shape.iter().product();
        Tensor { element, shape: shape.to_vec(), bytes: vec![0; element.bytes_of(count)] }
    }

    /// The values.
    #[must_use]
    pub fn values(&self) -> Vec<f64> {
        let mut values = Vec::new();
        self.element.decode(&self.bytes, 0, 1, self.count(), &mut values);
        values
    }

    /// Number of elements.
    #[must_use]
    pub fn count(&self) -> usize {
        self.bytes.len() * 8 / self.element.bits()
    }

    /// Compares with what is expected: values agree when they differ by at most `atol + rtol * |expected|`; infinities
    /// and NaNs agree with themselves.
    #[must_use]
    pub fn agreement(&self, expected: &Tensor, rtol: f64, atol: f64) -> Agreement {
        let (found, wanted) = (self.values(), expected.values());
        let mut agreement = Agreement { count: wanted.len(), ..Agreement::default() };
        for (index, (&a, &b)) in found.iter().zip(&wanted).enumerate() {
            let same = a == b || (a.is_nan() && b.is_nan());
            let difference = if same { 0.0 } else { (a - b).abs() };
            if !(same || difference <= atol + rtol * b.abs()) {
                agreement.differing += 1;
            }
            let larger = difference > agreement.largest || (difference.is_nan() && !agreement.largest.is_nan());
            if larger {
                agreement.largest = difference;
                agreement.at = Some((index, a, b));
            }
        }
        agreement.differing += wanted.len().abs_diff(found.len());
        agreement
    }

    /// Index of an element by dimension, such as `[3, 5]`.
    #[must_use]
    pub fn index(&self, flat: usize) -> Vec<usize> {
        let mut rest = flat;
        let mut index: Vec<usize> = Vec::new();
        for &extent in self.shape.iter().rev() {
            index.push(rest % extent.max(1));
            rest /= extent.max(1);
        }
        index.reverse();
        index
    }
}

/// How two tensors compare.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agreement {
    /// Values compared.
    pub count: usize,
    /// Values that do not agree, or are missing in one.
    pub differing: usize,
    /// Largest absolute difference.
    pub largest: f64,
    /// Where it is: flat index, value found, value expected.
    pub at: Option<(usize, f64, f64)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_agree_within_a_tolerance() {
        let tensor = |values: &[f64]| Tensor::of(Element::F32, &[values.len()], values);
        let found = tensor(&[1.0, 2.5, f64::NAN, f64::INFINITY]).agreement(
            &tensor(&[1.0, 2.0, f64::NAN, f64::INFINITY]),
            0.1,
            0.0,
        );
        assert_eq!((found.count, found.differing, found.largest, found.at), (4, 1, 0.5, Some((1, 2.5, 2.0))));
        assert_eq!(tensor(&[1.0]).agreement(&tensor(&[1.0, 2.0]), 0.0, 0.0).differing, 1);
        assert_eq!(tensor(&[0.0; 6]).index(5), [5]);
        assert_eq!(Tensor::zeros(Element::I8, &[2, 3]).index(5), [1, 2]);
    }
}
