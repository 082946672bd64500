//! Bytes that tiles and tensors take. A size that does not fit is no size; nothing here wraps around.

use crate::frontend::ast::{DataType, Expr, MemorySpace, Problem, Span, TensorType, TileType};

/// Rows of a fractal block of an accumulator, which is filled up to whole blocks.
const ACC_ROWS: u64 = 16;

/// Bytes of elements next to one another; elements of 4 bits stand in pairs.
pub fn packed(elements: u64, dtype: DataType) -> Option<u64> {
    Some(elements.checked_mul(dtype.bits())?.div_ceil(8))
}

/// Bytes of a tensor; 0 when an extent is known only at run time.
pub fn of_tensor(tensor: &TensorType) -> u64 {
    extents(&tensor.shape).and_then(|e| product(&e)).and_then(|n| packed(n, tensor.dtype)).unwrap_or(0)
}

/// Bytes of a tile's allocation in a space.
pub fn of_tile(tile: &TileType, space: MemorySpace, int_acc_rows: u64, name: &str, span: Span) -> Result<u64, Problem> {
    for (axis, extent) in tile.shape.iter().enumerate() {
        match extent.as_int() {
            None => {
                let message = format!("tile '{name}' has an extent (axis {axis}) that is known only at run time");
                return Err(Problem::new("PTO-0650", span, message)
                    .help("physical extents are constants; put what is known at run time into `valid_shape`"));
            }
            Some(value) if value <= 0 => {
                return Err(Problem::new("PTO-0651", span, format!("tile '{name}' has extent {value} (axis {axis})")));
            }
            Some(_) => {}
        }
    }
    let too_large = || Problem::new("PTO-0652", span, format!("the size of tile '{name}' does not fit into 64 bits"));
    let mut extents = extents(&tile.shape).ok_or_else(too_large)?;
    if space == MemorySpace::Acc {
        let rows = if tile.dtype == DataType::Int32 { int_acc_rows.max(1) } else { ACC_ROWS };
        let Some(at) = extents.len().checked_sub(2) else {
            return Err(Problem::new("PTO-0651", span, format!("accumulator '{name}' must have two extents")));
        };
        extents[at] = extents[at].checked_next_multiple_of(rows).ok_or_else(too_large)?;
    }
    product(&extents).and_then(|n| packed(n, tile.dtype)).filter(|s| i64::try_from(*s).is_ok()).ok_or_else(too_large)
}

/// Bytes from a window's first to its last element inside a tile that is stored row by row. `None` when the window
/// is not one that can be counted; it then counts as large as the whole.
pub fn of_window(parent: &[Expr], window: &[Expr], dtype: DataType) -> Option<u64> {
    let (parent, window) = (extents(parent)?, extents(window)?);
    if parent.len() != window.len() {
        return None;
    }
    let (mut last, mut stride) = (0u64, 1u64);
    for (&whole, &part) in parent.iter().zip(&window).rev() {
        if part == 0 || part > whole {
            return None;
        }
        last = last.checked_add((part - 1).checked_mul(stride)?)?;
        stride = stride.checked_mul(whole)?;
    }
    packed(last.checked_add(1)?, dtype)
}

/// Constant extents.
pub fn extents(shape: &[Expr]) -> Option<Vec<u64>> {
    shape.iter().map(|e| e.as_int().and_then(|v| u64::try_from(v).ok())).collect()
}

fn product(extents: &[u64]) -> Option<u64> {
    extents.iter().try_fold(1u64, |product, &extent| product.checked_mul(extent))
}
