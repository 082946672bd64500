//! Functions: what the host can launch.

use super::codes::ENTRY;
use crate::ir;
use melior::ir::{OperationRef, attribute::TypeAttribute, operation::OperationLike, r#type::FunctionType};
use pto_dialect::{Tile, attribute, diagnostics};

/// A kernel entry gives nothing back and takes no tile: the host has no memory on the chip. Whether that holds.
pub fn entry(function: OperationRef) -> bool {
    let is_entry = ["pto.entry", "hacc.entry"].into_iter().any(|name| attribute(function, name).is_some());
    let ty = attribute(function, "function_type").and_then(|a| TypeAttribute::try_from(a).ok());
    let Some(ty) = ty.filter(|_| is_entry).and_then(|a| FunctionType::try_from(a.value()).ok()) else { return true };
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
