//! What to say when a space is too small.

use super::{Slot, Spaces, span_of};
use crate::{
    frontend::{
        ast::{Function, MemorySpace, Problem, VarId},
        memory::{Limit, Target, reserved::Resolved},
    },
    memory::layout::Slots,
};

/// As many allocations are listed, largest first.
const LISTED: usize = 8;

/// Tiles of a space do not fit.
pub fn exceeded(
    function: &Function,
    space: MemorySpace,
    slots: &[&Slot],
    placed: &Slots,
    limit: &Limit,
    resolved: &Resolved,
) -> Problem {
    let ends = placed.addresses.iter().zip(slots).map(|(a, s)| a.saturating_add(s.size));
    let first = ends.zip(slots).find(|(end, _)| *end > limit.bytes).map(|(_, slot)| *slot).or(slots.last().copied());
    let mut problem = base(space, placed.end, limit, span_of(function, first));
    let mut by_size: Vec<(&&Slot, u64)> = slots.iter().zip(placed.addresses.iter().copied()).collect();
    by_size.sort_by_key(|(slot, address)| (std::cmp::Reverse(slot.size), *address));
    for (slot, address) in by_size.iter().take(LISTED) {
        let message = format!("{} takes {} bytes at {address}: {}", slot.name, slot.size, tiles(function, &slot.tiles));
        problem = problem.note(span_of(function, Some(slot)), message);
    }
    let rest = by_size.iter().skip(LISTED);
    let (count, bytes) = rest.fold((0u64, 0u64), |(n, sum), (slot, _)| (n + 1, sum.saturating_add(slot.size)));
    if count > 0 {
        problem = problem.help(format!("{count} more allocations take {bytes} bytes"));
    }
    advise(problem, function, space, limit, resolved)
}

/// Reserved bytes alone do not fit, and no tile of the space says so.
pub fn of_reserved(function: &Function, resolved: &Resolved, spaces: &Spaces, target: &Target) -> Option<Problem> {
    let space = resolved.space.filter(|s| !spaces.contains_key(s))?;
    let limit = (target.limit)(space).filter(|limit| resolved.end > limit.bytes)?;
    let problem = base(space, resolved.end, &limit, resolved.span);
    Some(advise(problem, function, space, &limit, resolved))
}

fn base(space: MemorySpace, used: u64, limit: &Limit, span: crate::frontend::ast::Span) -> Problem {
    let message = format!("{space} buffer usage ({used} bytes) exceeds platform limit ({} bytes)", limit.bytes);
    Problem::new("PTO-0658", span, message)
}

fn advise(
    mut problem: Problem,
    function: &Function,
    space: MemorySpace,
    limit: &Limit,
    resolved: &Resolved,
) -> Problem {
    let reserved = resolved.end_in(space);
    if reserved > 0 {
        problem = problem.help(format!(
            "The first {reserved} bytes of that space are reserved by system.reserve_buffer, so tiles are allocated above them"
        ));
        if has_pipe_ring(function, resolved) {
            problem = problem.help(
                "this is the cross-core pipe ring: lower its depth with pl.cross_core_slot(slot_num=N), or shrink the tile that crosses between the cores",
            );
        }
    }
    if limit.note.is_empty() { problem } else { problem.help(limit.note.clone()) }
}

/// Whether the front-end made a reserved range for its own queues. Only those names can be meant; any other that ends
/// the same way is the author's.
fn has_pipe_ring(function: &Function, resolved: &Resolved) -> bool {
    let name = function.name.as_str();
    let kernel = name.strip_suffix("_aic").or_else(|| name.strip_suffix("_aiv")).unwrap_or(name);
    let rings = [format!("{kernel}_v2c_slot_buffer"), format!("{kernel}_c2v_slot_buffer")];
    resolved.ranges.iter().any(|(name, _)| rings.contains(name))
}

fn tiles(function: &Function, tiles: &[VarId]) -> String {
    let mut names: Vec<&str> = tiles.iter().take(3).map(|&v| function.var(v).name.as_str()).collect();
    if tiles.len() > names.len() {
        names.push("...");
    }
    names.join(", ")
}
