//! An independent proof that a placed program keeps its values: every tile at an address, nothing overwritten too early.
//!
//! It reads the addresses afresh and shares no code with what chose them (`memory`): of the table of operations it uses
//! only where a result's bytes come from, which arguments are changed, and which a result may not replace. Kernel functions are checked, and statements
//! without a function; in the older notations, all functions with placed tiles. What a queue's slots hold is
//! not checked here.
//!
//! - PTO-0671: a tile without an address, or at one that is not aligned, too high or too small for its shape.
//! - PTO-0672: bytes that are reserved.
//! - PTO-0673: a value that is overwritten before a read.
//! - PTO-0674: a value that does not stand where its reader looks.
//! - PTO-0675: a result that overlaps an argument of the same operation without replacing it, or replaces one that it may not.

mod area;
mod bounds;
mod effects;
mod memory;
mod operation;
mod pieces;
mod places;
mod run;
mod stated;
#[cfg(test)]
mod tests;
mod views;

use super::ast::{Function, MemorySpace, Notation, Problem, Program, Type};
use bounds::Bounds;
use places::Places;
use run::Run;
use stated::Declarations;

/// What a device has.
pub struct Target<'a> {
    /// Bytes of a space; `None` when no limit is known.
    pub capacity: &'a dyn Fn(MemorySpace) -> Option<u64>,
    /// Tiles of a space begin at multiples of this many bytes.
    pub align: &'a dyn Fn(MemorySpace) -> u64,
}

/// Checks a placed program. No problems are a proof; the problems of a function are in the order of the text.
pub fn check(program: &Program, target: &Target) -> Vec<Problem> {
    let older = program.notation != Notation::Today;
    let checked = program.functions.iter().filter(|f| f.kind.is_kernel() || f.bare || older && has_placed_tiles(f));
    checked.flat_map(|function| check_function(function, target)).collect()
}

fn check_function(function: &Function, target: &Target) -> Vec<Problem> {
    let declarations = Declarations::of(function);
    let mut bounds = Bounds::new(function, target, &declarations);
    let (places, mut problems) = Places::find(function, &declarations, &mut bounds);
    problems.extend(bounds.finish());
    problems.extend(Run::of(function, &places));
    problems.sort_by_key(|problem| problem.span);
    problems
}

fn has_placed_tiles(function: &Function) -> bool {
    function.vars.iter().any(|var| matches!(&var.ty, Type::Tile(tile) if tile.memref.is_some()))
}
