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
}
