//! Functions: what the host can launch.

use super::codes::ENTRY;
use super::codes::{ATTRIBUTE, UNKNOWN};
use crate::ir;
use melior::ir::{OperationRef, attribute::TypeAttribute, operation::OperationLike, r#type::FunctionType};
use pto_dialect::{Op, Tile, attribute, diagnostics, layout_fault, string_bytes};

/// Parameters that can exist; and a kernel entry gives nothing back and takes no tile: the host has no memory on the chip.
/// Whether that holds.
pub fn signature(function: OperationRef) -> bool {
    let ty = attribute(function, "function_type").and_then(|a| TypeAttribute::try_from(a).ok());
    let Some(ty) = ty.and_then(|a| FunctionType::try_from(a.value()).ok()) else { return true };
    let layouts = layouts(function, ty);
    let is_entry = ["pto.entry", "hacc.entry"].into_iter().any(|name| attribute(function, name).is_some());
    (!is_entry || entry(function, ty)) && layouts
}

/// Tiles of parameters and results are such as memory can hold.
fn layouts(function: OperationRef, ty: FunctionType) -> bool {
    let inputs = (0..ty.input_count()).map(|i| (format!("parameter {i}"), ty.input(i)));
    let results = (0..ty.result_count()).map(|i| (format!("result {i}"), ty.result(i)));
    let tiles = inputs.chain(results).filter_map(|(what, ty)| Some((what, Tile::of(ty.ok()?)?)));
    let mut ok = true;
    for (expected, got) in tiles.filter_map(|(what, tile)| layout_fault(&tile, &what)) {
        let message = format!("'func.func' op expected {expected}, got {got}");
        diagnostics::error(function.location(), "PTO-0203", message).emit();
        ok = false;
    }
    ok
}

fn entry(function: OperationRef, ty: FunctionType) -> bool {
    let name = ir::symbol(function);
    let mut problems = Vec::new();
    if ty.result_count() > 0 {
        problems.push(format!("entry function '{name}' must return nothing, got {} results", ty.result_count()));
    }
    let tiles = (0..ty.input_count()).filter(|&i| ty.input(i).ok().and_then(Tile::of).is_some());
    problems
        .extend(tiles.map(|i| {
            format!("entry function '{name}' takes a tile as parameter {i}, which the host cannot hand over")
        }));
    for problem in &problems {
        diagnostics::error(function.location(), ENTRY, problem).emit();
    }
    problems.is_empty()
}

/// Text that is text, and attributes that the operation has (a warning: others are ignored). Names with a dot are notes
/// of whoever wrote them.
pub fn attributes(op: Op) -> bool {
    let mut ok = true;
    for (name, attribute) in op.raw.attributes() {
        let name = name.as_string_ref().as_str().unwrap_or_default().to_owned();
        let message = |what: &str| format!("'{}' op {what} '{name}'", op.facts.name);
        if string_bytes(attribute).is_some_and(|bytes| std::str::from_utf8(bytes).is_err()) {
            let message = message("expected text in UTF-8 for attribute");
            diagnostics::error(op.raw.location(), ATTRIBUTE, format!("{message}, found other bytes")).emit();
            ok = false;
        }
        let known = op.facts.attributes.contains(&name.as_str()) || name == "operandSegmentSizes" || name.contains('.');
        if !known {
            diagnostics::warning(op.raw.location(), UNKNOWN, message("has no attribute")).emit();
        }
    }
    ok
}
