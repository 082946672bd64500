//! Choosing addresses: one after another, or first fit among what is alive at the same time.

use super::{
    collect::{Reserved, Root, Roots},
    lifetimes::{Lifetime, Region},
    policy::MemoryAllocatorPolicy,
};
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
    pub obstacles: &'a [(u64, u64)],
}

/// Gives AUTO buffers of a space their bases, lowest first; they become obstacles. Returns where the last one ends.
pub fn place_reserved(
    space: Space,
    policy: &dyn MemoryAllocatorPolicy,
    reserved: &mut [Reserved],
    obstacles: &mut Vec<(u64, u64)>,
) -> u64 {
    let mut end = 0;
    for buffer in reserved.iter_mut().filter(|r| r.space == space && r.base.is_none()) {
        let base = lowest_free(policy, space, 0, buffer.size, obstacles);
        buffer.base = Some(base);
        obstacles.push((base, base + buffer.size));
        end = end.max(base + buffer.size);
    }
    end
}

/// The lowest legal start from `from` on where `size` bytes meet no obstacle.
fn lowest_free(
    policy: &dyn MemoryAllocatorPolicy,
    space: Space,
    from: u64,
    size: u64,
    obstacles: &[(u64, u64)],
) -> u64 {
    let mut sorted = obstacles.to_vec();
    sorted.sort_unstable();
    let mut address = policy.align_address(from, space);
    for (start, end) in sorted {
        if start < address.saturating_add(size) && address < end {
            address = policy.align_address(end, space);
        }
    }
    address
}

/// Every tile behind the one before it. `None` when they do not fit.
pub fn sequential(request: &Request, order: &[usize], roots: &[Root]) -> Option<Vec<(usize, u64)>> {
    let mut cursor = request.start;
    let mut placed = Vec::with_capacity(order.len());
    for &index in order {
        let size = roots[index].size;
        let address = lowest_free(request.policy, request.space, cursor, size, request.obstacles);
        cursor = address.checked_add(size)?;
        if cursor > request.limit {
            return None;
        }
        placed.push((index, address));
    }
    Some(placed)
}

/// Each tile at the lowest address where it meets nothing that is alive at the same time.
pub fn first_fit(request: &Request, order: &[usize], pinned: &[Region], roots: &Roots) -> Option<Vec<(usize, u64)>> {
    let mut placed: Vec<(usize, u64)> = Vec::with_capacity(order.len());
    for &index in order {
        let tile = &roots.list[index];
        let mut taken = request.obstacles.to_vec();
        taken.extend(pinned.iter().filter(|r| r.lifetime.meets(&tile.lifetime)).map(|r| r.range));
        taken.extend(
            placed
                .iter()
                .filter(|(other, _)| conflicts(&roots.list[*other], tile))
                .map(|&(other, a)| (a, a + roots.list[other].size)),
        );
        let from = request.start.min(request.limit);
        let address = lowest_free(request.policy, request.space, from, tile.size, &taken);
        if address.checked_add(tile.size)? > request.limit {
            return None;
        }
        placed.push((index, address));
    }
    Some(placed)
}

/// Whether two tiles may not share bytes. Tiles that only meet at one operation may, where it works in place.
fn conflicts(a: &Root, b: &Root) -> bool {
    a.lifetime.meets(&b.lifetime) && !hands_over(&a.lifetime, &b.lifetime) && !hands_over(&b.lifetime, &a.lifetime)
}

/// Whether the last operation of one writes the other in place of it.
fn hands_over(first: &Lifetime, second: &Lifetime) -> bool {
    first.end == second.start && first.last_reader_allows.contains(&second.key)
}
