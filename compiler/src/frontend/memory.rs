//! Memory of the front-end's programs: from tiles without bytes to tiles at addresses.
//!
//! A function may come in at any stage: without memory (`protect` copies what would be written over too early,
//! `init_memref` gives every tile an allocation), with memory but without addresses (`materialize_aliases` and, when asked for, `reuse` decide which tiles have the same bytes, then
//! `allocate` gives allocations their addresses), or at addresses, which are kept. Rules that are about numbers only are
//! in `crate::memory`. Nothing here knows a device: the caller says what a space has and where buffers may start.
//!
//! Codes of this family: 0650 dynamic extent, 0651 no bytes, 0652 too many bytes, 0653 declared allocation, 0654 tile
//! without memory, 0655 reserved ranges overlap, 0656 bad `reserve_buffer`, 0657 no space to reserve in, 0658 capacity,
//! 0659 accumulators cannot be moved, 0660 one slot for two live tiles, 0661 memory that contradicts itself.

mod allocate;
mod fixup;
mod follow;
pub mod init_memref;
pub mod materialize_aliases;
mod operands;
mod paths;
pub mod placement;
mod protect;
#[cfg(test)]
mod random_tests;
mod refs;
mod reserved;
pub mod reuse;
mod sizes;
pub mod stage;
#[cfg(test)]
mod tests;
mod walk;

use super::ast::{Function, FunctionKind, MemorySpace, Notation, Problem, Program};
use stage::Stage;

pub use crate::memory::{Order, Planner};

/// What a space has for our placement.
#[derive(Clone, Debug)]
pub struct Limit {
    /// Bytes.
    pub bytes: u64,
    /// Why it is not more; may be empty.
    pub note: String,
}

/// What a device demands.
pub struct Target<'a> {
    /// What a space has; `None` when nobody knows.
    pub limit: &'a dyn Fn(MemorySpace) -> Option<Limit>,
    /// The first legal start at or behind a byte address.
    pub align: &'a dyn Fn(u64, MemorySpace) -> u64,
    /// Rows that a block of an INT32 accumulator has: 32 on A2/A3, 16 on A5.
    pub int_acc_rows: u64,
    /// Whether a split vector kernel may not write over a loaded tile with what it computes from a popped one (A2/A3).
    pub split_load_hazard: bool,
}

/// What to do.
pub struct Options<'a> {
    /// Who decides which tiles share bytes.
    pub planner: Planner,
    /// In which order allocations get addresses.
    pub order: Order,
    /// The device.
    pub target: Target<'a>,
}

/// Brings every function that is compiled for a core to addresses.
///
/// # Errors
///
/// What is wrong with the program, from all functions. The program is then partly changed.
pub fn place(program: &mut Program, options: &Options) -> Result<(), Vec<Problem>> {
    let notation = program.notation;
    let mut problems = Vec::new();
    for function in &mut program.functions {
        if has_memory(function, notation)
            && let Err(found) = place_function(function, options)
        {
            problems.extend(found);
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Whether a function's tiles get memory. The older notation did not ask what a function is for.
pub fn has_memory(function: &Function, notation: Notation) -> bool {
    if function.body.is_none() {
        return false;
    }
    if function.kind.is_kernel() || function.bare {
        return true;
    }
    let outside = matches!(
        function.kind,
        FunctionKind::Orchestration | FunctionKind::Group | FunctionKind::Spmd | FunctionKind::Graph
    );
    let older = matches!(notation, Notation::Older | Notation::Shorthand);
    older && (!outside || function.vars.iter().any(|v| v.ty.tile().is_some()))
}

fn place_function(function: &mut Function, options: &Options) -> Result<(), Vec<Problem>> {
    let stage = stage::of(function);
    if stage != Stage::Bare {
        let forgotten = stage::forgotten(function);
        if !forgotten.is_empty() {
            return Err(forgotten);
        }
    }
    if stage == Stage::Placed {
        return allocate::keep(function, options);
    }
    if stage == Stage::Bare {
        protect::run(function, &options.target)?;
        init_memref::run(function, &options.target)?;
    }
    let chosen = share(function, options.planner, &options.target)?;
    allocate::run(function, options, &chosen)
}

/// Decides which tiles of a function that has memory have the same bytes; returns the addresses that are settled with
/// that.
///
/// # Errors
///
/// Values that cannot be where they are expected.
pub fn share(function: &mut Function, planner: Planner, target: &Target) -> Result<reuse::Chosen, Vec<Problem>> {
    let before = refs::used(function);
    materialize_aliases::run(function);
    match planner {
        Planner::Sequential => {
            fixup::run(function)?;
            // What was unused when it came in stays as it came.
            refs::remove_unused(function, |key| before.contains(key));
            Ok(reuse::Chosen::new())
        }
        Planner::Reuse => {
            let chosen = reuse::run(function, target)?;
            fixup::run(function)?;
            refs::remove_unused(function, |_| true);
            Ok(chosen)
        }
    }
}
