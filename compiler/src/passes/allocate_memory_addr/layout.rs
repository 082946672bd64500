//! The tiles of a function and the rules of `crate::memory::layout`.

use super::{
    collect::{Reserved, Root, Roots},
    lifetimes::{Lifetime, Region},
    policy::MemoryAllocatorPolicy,
};
use crate::memory::layout::{self, Fit, Meeting, Range};
use pto_dialect::Space;

/// What a placement must keep to.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    pub space: Space,
    pub policy: &'a dyn MemoryAllocatorPolicy,
    /// Where our placement must end.
    pub limit: u64,
    /// Where tiles start: behind the AUTO reserved buffers.
    pub start: u64,
    /// Byte ranges that are taken for the whole function.
    pub obstacles: &'a [Range],
}

/// Gives AUTO buffers of a space their bases, lowest first, around `obstacles`, to which they are added. Returns where
/// the last one ends; `None` when addresses do not reach that far.
pub fn place_reserved(
    space: Space,
    policy: &dyn MemoryAllocatorPolicy,
    reserved: &mut [Reserved],
    obstacles: &mut Vec<Range>,
) -> Option<u64> {
    let open: Vec<&mut Reserved> = reserved.iter_mut().filter(|r| r.space == space && r.base.is_none()).collect();
    let wanted: Vec<_> = open.iter().map(|r| layout::Reserved { size: r.size, base: None }).collect();
    let done = layout::place_reserved(&wanted, obstacles, &|address| policy.align_address(address, space)).ok()?;
    for (buffer, range) in open.into_iter().zip(&done.ranges) {
        buffer.base = Some(range.start);
    }
    obstacles.extend(&done.ranges);
    Some(done.end)
}

/// Each tile behind the one before it; `None` when they do not fit.
pub fn sequential(request: &Request, order: &[usize], roots: &[Root]) -> Option<Vec<(usize, u64)>> {
    let sizes: Vec<u64> = order.iter().map(|&index| roots[index].size).collect();
    let align = |address| request.policy.align_address(address, request.space);
    let slots = layout::place_slots(&sizes, request.start, request.obstacles, &align).ok()?;
    let fits = |(address, size): (&u64, &u64)| address.checked_add(*size).is_some_and(|end| end <= request.limit);
    slots.addresses.iter().zip(&sizes).all(fits).then(|| order.iter().copied().zip(slots.addresses.clone()).collect())
}

/// Each tile at the lowest address where it meets nothing that is alive at the same time.
pub fn first_fit(request: &Request, order: &[usize], pinned: &[Region], roots: &Roots) -> Option<Vec<(usize, u64)>> {
    let sizes: Vec<u64> = roots.list.iter().map(|root| root.size).collect();
    let fit = Fit {
        sizes: &sizes,
        start: request.start,
        limit: request.limit,
        align: &|address| request.policy.align_address(address, request.space),
        taken: &|index| {
            let alive = pinned.iter().filter(|r| r.lifetime.meets(&roots.list[index].lifetime)).map(|r| r.range);
            request.obstacles.iter().copied().chain(alive).collect()
        },
        meeting: &|tile, other| meeting(&roots.list[tile], &roots.list[other]),
    };
    let addresses = layout::first_fit(&fit, order)?;
    Some(order.iter().map(|&index| (index, addresses[index])).collect())
}

/// Tiles that only meet at one operation may share bytes, where it works in place.
fn meeting(tile: &Root, other: &Root) -> Meeting {
    if !tile.lifetime.meets(&other.lifetime) {
        Meeting::Free
    } else if hands_over(&other.lifetime, &tile.lifetime) {
        Meeting::Replaces
    } else if hands_over(&tile.lifetime, &other.lifetime) {
        Meeting::Replaced
    } else {
        Meeting::Never
    }
}

/// Whether the last operation of one writes the other in place of it.
fn hands_over(first: &Lifetime, second: &Lifetime) -> bool {
    first.end == second.start && first.last_reader_allows.contains(&second.key)
}
