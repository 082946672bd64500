//! `pto-infer-layout`: whether a tensor in global memory is ND, DN or NZ, from its shape and strides.
//!
//! Shapes and strides are right-aligned to five dimensions. A layout that the author states must agree, unless shape
//! and strides fit both ND and DN.

use crate::ir;
use melior::ir::{OperationRef, ValueLike, operation::OperationLike};
use pto_dialect::{BLayout, Op, SLayout, Tile, View, constant_int, device::Device, diagnostics, edit, enum_attr};

/// Runs the pass on a module.
pub fn run(module: OperationRef, _device: &Device) -> bool {
    let mut ok = true;
    for function in ir::functions(module) {
        for op in ir::walk(function).into_iter().filter_map(Op::of) {
            if op.is("make_tensor_view") {
                ok &= infer(op);
            }
        }
    }
    ok
}

/// What shape and strides say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inferred {
    /// Not known before run time.
    Unknown,
    /// One layout.
    Is(&'static str),
    /// ND and DN alike.
    Either(&'static str),
}

fn infer(op: Op) -> bool {
    let inferred = inferred_layout(op);
    let stated = op.enum_text("layout");
    let chosen = match (stated, inferred) {
        (Some(stated), Inferred::Is(layout)) if stated != layout && matches!(stated, "nd" | "dn" | "nz") => {
            let view = op.result().map_or_else(String::new, ir::label);
            let message = format!(
                "'pto.make_tensor_view' op expected layout {layout} for {view} from its shape and strides, found {stated}"
            );
            diagnostics::error(op.raw.location(), "PTO-0304", message).emit();
            return false;
        }
        (Some(_), _) => return true,
        (None, Inferred::Unknown) => preferred_by_users(op).unwrap_or("nd"),
        (None, Inferred::Is(layout)) => layout,
        (None, Inferred::Either(layout)) => preferred_by_users(op).unwrap_or(layout),
    };
    let context = pto_dialect::context_of(op.raw);
    edit::set_attribute(op.raw, "layout", enum_attr(context, "Layout", chosen).expect("a layout of the dialect"));
    true
}

/// Shape and strides at five dimensions; `None` where not all are constant.
fn static_geometry(op: Op) -> Option<([i64; 5], [i64; 5], u64)> {
    let view = op.result().and_then(View::of_value)?;
    let extents = op.operands("shape").into_iter().zip(&view.shape).map(|(v, e)| constant_int(v).or(*e));
    let extents: Vec<i64> = extents.collect::<Option<_>>()?;
    let steps: Vec<i64> = op.operands("strides").into_iter().map(constant_int).collect::<Option<_>>()?;
    if extents.is_empty() || extents.len() > 5 || extents.len() != steps.len() {
        return None;
    }
    let missing = 5 - extents.len();
    let (mut shape, mut strides) = ([1i64; 5], [0i64; 5]);
    shape[missing..].copy_from_slice(&extents);
    strides[missing..].copy_from_slice(&steps);
    for i in (0..missing).rev() {
        strides[i] = shape[i + 1].checked_mul(strides[i + 1])?;
    }
    Some((shape, strides, view.element.bytes()))
}

fn inferred_layout(op: Op) -> Inferred {
    let Some((shape, strides, bytes)) = static_geometry(op) else { return Inferred::Unknown };
    classify(shape, strides, bytes)
}

fn classify(shape: [i64; 5], strides: [i64; 5], bytes: u64) -> Inferred {
    let box_bytes = shape[2].checked_mul(shape[3]).and_then(|n| n.checked_mul(bytes as i64));
    if shape[2] == 16 && box_bytes == Some(512) && strides[4] == 1 && strides[3] == shape[4] {
        return Inferred::Is("nz");
    }
    let (rows, cols, row_step, col_step) = (shape[3], shape[4], strides[3], strides[4]);
    let nd = (cols == 1 || col_step == 1) && (rows == 1 || if cols == 1 { row_step == 1 } else { row_step == cols });
    let dn = (rows == 1 || row_step == 1) && (cols == 1 || if rows == 1 { col_step == 1 } else { col_step == rows });
    match (nd, dn) {
        (true, true) => Inferred::Either(if cols == 1 && rows != 1 { "dn" } else { "nd" }),
        (false, true) => Inferred::Is("dn"),
        // Neither: rows further apart than they are long, which ND describes.
        (true, false) | (false, false) => Inferred::Is("nd"),
    }
}

/// The layout of the vector tiles that are loaded from or stored to the view, where they agree.
fn preferred_by_users(op: Op) -> Option<&'static str> {
    let view = op.result()?;
    let mut preferred = None;
    for window in edit::uses(view).into_iter().filter_map(Op::of) {
        let users = if window.is("partition_view") { edit::uses(window.result()?) } else { vec![window.raw] };
        for user in users.into_iter().filter_map(Op::of) {
            let tile = match user.mnemonic() {
                "tload" => user.operand("dst"),
                "tstore" => user.operand("src"),
                _ => None,
            };
            let Some(tile) = tile.and_then(|v| Tile::of(v.r#type())) else { continue };
            if tile.slayout != SLayout::NoneBox {
                return None;
            }
            let layout = if tile.blayout == BLayout::RowMajor { "nd" } else { "dn" };
            if preferred.is_some_and(|p| p != layout) {
                return None;
            }
            preferred = Some(layout);
        }
    }
    preferred
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_follow_shape_and_strides() {
        assert_eq!(classify([1, 1, 1, 16, 64], [1024, 1024, 1024, 64, 1], 4), Inferred::Is("nd"));
        assert_eq!(classify([1, 1, 1, 16, 64], [1024, 1024, 1024, 1, 16], 4), Inferred::Is("dn"));
        assert_eq!(classify([1, 4, 16, 16, 16], [4096, 4096, 256, 16, 1], 2), Inferred::Is("nz"));
        assert_eq!(classify([1, 1, 1, 16, 1], [16, 16, 16, 1, 1], 4), Inferred::Either("dn"));
        assert_eq!(classify([1, 1, 1, 1, 64], [64, 64, 64, 64, 1], 4), Inferred::Either("nd"));
        assert_eq!(classify([1, 1, 1, 8, 64], [4096, 4096, 4096, 512, 1], 4), Inferred::Is("nd"));
    }
}
