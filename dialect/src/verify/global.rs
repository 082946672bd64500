//! Views of global memory, scalar accesses, arrays on the stack.

use super::{
    check::Check,
    codes::{BOUNDS, ELEMENT, RANK, SHAPE, SPACE, VALUE},
};
use crate::{
    element::Element,
    op::constant_int,
    tile::Space,
    types::{View, local_array as array_type, pointer},
};
use melior::ir::ValueLike;

/// `make_tensor_view`: one extent and one stride for each dimension, over a pointer to the element type.
pub fn make_tensor_view(check: &mut Check) {
    let Some(view) = check.op.result().and_then(View::of_value) else { return };
    let rank = view.shape.len();
    for operand in ["shape", "strides"] {
        let given = check.op.operands(operand);
        if !check.require(given.len() == rank, RANK, format_args!("{rank} values in {operand}"), given.len()) {
            continue;
        }
        for (index, value) in given.into_iter().enumerate() {
            extent(check, operand, index, constant_int(value), view.shape[index]);
        }
    }
    if let Some((element, _)) = check.op.operand("ptr").and_then(|ptr| pointer(ptr.r#type())) {
        let expected = format_args!("a pointer to {}", view.element.name());
        check.require(element == view.element, ELEMENT, expected, element.name());
    }
}

/// Constants are not negative, and an extent does not contradict the type.
fn extent(check: &mut Check, operand: &str, index: usize, constant: Option<i64>, of_type: Option<i64>) {
    let Some(constant) = constant else { return };
    check.require(constant >= 0, VALUE, format_args!("{operand}[{index}] of at least 0"), constant);
    if let Some(dim) = of_type.filter(|_| operand == "shape") {
        check.require(constant == dim, SHAPE, format_args!("shape[{index}] to be {dim} as the type says"), constant);
    }
}

/// `partition_view`: a window inside its source, of the type that its constant sizes give.
pub fn partition_view(check: &mut Check) {
    let Some(source) = check.view("source") else { return };
    let rank = source.shape.len();
    let [offsets, sizes] =
        ["offsets", "sizes"].map(|o| check.op.operands(o).into_iter().map(constant_int).collect::<Vec<_>>());
    let mut complete = true;
    for (operand, given) in [("offsets", &offsets), ("sizes", &sizes)] {
        complete &= check.require(given.len() == rank, RANK, format_args!("{rank} values in {operand}"), given.len());
    }
    if complete {
        for (dim, (&offset, &size)) in offsets.iter().zip(&sizes).enumerate() {
            window(check, dim, offset, size, source.shape[dim]);
        }
    }
    if let Some(result) = check.op.result().and_then(View::of_value) {
        result_view(check, &source, &result, &sizes);
    }
}

fn window(check: &mut Check, dim: usize, offset: Option<i64>, size: Option<i64>, extent: Option<i64>) {
    if let Some(offset) = offset {
        check.require(offset >= 0, BOUNDS, format_args!("offsets[{dim}] of at least 0"), offset);
    }
    if let Some(size) = size {
        check.require(size > 0, VALUE, format_args!("sizes[{dim}] above 0"), size);
    }
    if let (Some(offset), Some(size), Some(extent)) = (offset, size, extent)
        && offset >= 0
        && size > 0
    {
        let end = offset.saturating_add(size);
        let got = format_args!("{offset} to {end}");
        check.require(end <= extent, BOUNDS, format_args!("dimension {dim} of the window inside its {extent}"), got);
    }
}

fn result_view(check: &mut Check, source: &View, result: &View, sizes: &[Option<i64>]) {
    let expected = format_args!("a result of {} as the source holds", source.element.name());
    check.require(result.element == source.element, ELEMENT, expected, result.element.name());
    let rank = sizes.len();
    if !check.require(result.shape.len() == rank, RANK, format_args!("a result of rank {rank}"), result.shape.len()) {
        return;
    }
    for (dim, (&of_type, &size)) in result.shape.iter().zip(sizes).enumerate() {
        if let (Some(of_type), Some(size)) = (of_type, size) {
            check.require(of_type == size, SHAPE, format_args!("dimension {dim} of the result to be {size}"), of_type);
        }
    }
}

/// `load_scalar`, `store_scalar`: the value has the pointer's element type.
pub fn scalar_access(check: &mut Check) {
    let pointee = check.op.operand("ptr").and_then(|ptr| pointer(ptr.r#type()));
    let value = check.op.operand("value").or_else(|| check.op.result());
    if let (Some((element, _)), Some(value)) = (pointee, value.and_then(|v| Element::of(v.r#type()))) {
        check.require(value == element, ELEMENT, format_args!("a value of type {}", element.name()), value.name());
    }
}

/// `cmo.cacheinvalid`: only global memory is cached.
pub fn cache_line(check: &mut Check) {
    let Some(address) = check.op.operand("addr") else { return };
    let space = match View::of_value(address) {
        Some(_) => Some(Space::Gm),
        None => pointer(address.r#type()).map(|(_, space)| space),
    };
    let got = space.map_or("another type", Space::name);
    check.require(space == Some(Space::Gm), SPACE, format_args!("an address in gm"), got);
}

/// `local_array_get`, `local_array_set`: one index for each dimension, inside the array, and the element type.
pub fn local_array(check: &mut Check) {
    let Some((shape, element)) = check.op.operand("array").and_then(|a| array_type(a.r#type())) else { return };
    let indices: Vec<_> = check.op.operands("indices").into_iter().map(constant_int).collect();
    if check.require(indices.len() == shape.len(), RANK, format_args!("{} indices", shape.len()), indices.len()) {
        for (dim, (index, extent)) in indices.into_iter().zip(shape).enumerate() {
            let Some(index) = index else { continue };
            let expected = format_args!("index {dim} from 0 to {}", extent - 1);
            check.require((0..extent).contains(&index), BOUNDS, expected, index);
        }
    }
    let value = check.op.operand("value").or_else(|| check.op.result());
    if let Some(value) = value.and_then(|v| Element::of(v.r#type())) {
        check.require(value == element, ELEMENT, format_args!("a value of type {}", element.name()), value.name());
    }
}
