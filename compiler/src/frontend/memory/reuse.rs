//! Lets allocations that are never needed at once share bytes.
//!
//! All tiles of an allocation count as one buffer, from the first definition to the last read. Buffers of a space are
//! packed first fit, largest first (`crate::memory::reuse`). Two may not share when both are needed at once, when an
//! operation may not write over what it reads (`hazards`), or when they belong to different stages of a software
//! pipeline that the space has room for (`stages`). Declared allocations stay alone. Loops and branches are settled
//! afterwards by `fixup`.

mod declared;
mod hazards;
mod stages;
pub(super) mod timeline;

use super::{
    Target,
    follow::{follow_sources, moved, snapshot},
    refs::{self, Key},
    reserved, walk,
};
use crate::{
    frontend::ast::{Function, MemorySpace, Problem, StmtKind, VarId},
    memory::{
        layout::{self, Fit, Meeting},
        lifetimes::{Lifetime, Lifetimes},
        reuse::{Buffer, Times, pack_by_time},
    },
};
use hazards::Hazards;
use stages::Stages;
use std::collections::BTreeMap;

/// An allocation as the packing sees it.
#[derive(Debug)]
pub struct Group {
    /// Whose bytes.
    pub key: Key,
    /// The tiles that are assigned into it, in order; the first one stands for all.
    pub members: Vec<VarId>,
    /// Its space.
    pub space: MemorySpace,
    /// Its bytes.
    pub size: u64,
    /// Whether the author declared it.
    pub alone: bool,
}

/// Addresses of allocations of a space in which sharing whole places is not enough.
pub type Chosen = BTreeMap<Key, u64>;

/// Packs a function's allocations. Where their places do not fit, they keep bytes of their own size instead and get
/// addresses at which those overlap that may.
///
/// # Errors
///
/// Declared slots that two live tiles have at once, and reservations that cannot be kept.
pub fn run(function: &mut Function, target: &Target) -> Result<Chosen, Vec<Problem>> {
    let Some(body) = function.body.take() else { return Ok(Chosen::new()) };
    let lifetimes = timeline::of(function, &body);
    function.body = Some(body);
    let groups = groups(function, &lifetimes);
    let conflicts = declared::conflicts(function, &groups, &lifetimes);
    if !conflicts.is_empty() {
        return Err(conflicts);
    }
    let reserved = reserved::resolve(function, target, &[])?;
    let hazards = Hazards::of(function, target);
    let mut spaces: BTreeMap<MemorySpace, Vec<usize>> = BTreeMap::new();
    for (index, group) in groups.iter().enumerate() {
        spaces.entry(group.space).or_default().push(index);
    }
    let mut homes: Vec<(usize, usize)> = Vec::new();
    let mut chosen = Chosen::new();
    for (space, members) in spaces {
        let here = Space { function, groups: &groups, members: &members, lifetimes: &lifetimes, hazards: &hazards };
        let places = here.pack(space, target, reserved.end_in(space));
        if let Some(addresses) = here.overlap(space, target, reserved.end_in(space), &places) {
            let keys = members.iter().map(|&m| groups[m].key.clone());
            chosen.extend(keys.zip(addresses));
            continue;
        }
        for place in places {
            homes.extend(place.iter().skip(1).map(|&m| (members[m], members[place[0]])));
        }
    }
    apply(function, &groups, &homes);
    strip_stages(function);
    Ok(chosen)
}

/// Groups in the order of their first definitions.
fn groups(function: &Function, lifetimes: &Lifetimes) -> Vec<Group> {
    let sizes = refs::alloc_sizes(function);
    let pinned: Vec<VarId> = refs::allocs(function).into_iter().filter(|a| a.pinned).map(|a| a.var).collect();
    let mut groups: Vec<Group> = Vec::new();
    let mut places: BTreeMap<Key, usize> = BTreeMap::new();
    for var in lifetimes.order.iter().filter_map(|&v| u32::try_from(v).ok()).map(VarId) {
        let Some((tile, memref)) = refs::tile(function, var) else { continue };
        let Some(key) = refs::key(memref) else { continue };
        let size = refs::size(memref, &sizes);
        match places.get(&key).and_then(|&i| groups.get_mut(i)) {
            Some(group) => {
                group.members.push(var);
                group.size = group.size.max(size);
            }
            None => {
                places.insert(key.clone(), groups.len());
                let alone = matches!(key, Key::Var(base) if pinned.contains(&base));
                let space = tile.space.unwrap_or(MemorySpace::Ddr);
                groups.push(Group { key, members: vec![var], space, size, alone });
            }
        }
    }
    groups
}

/// One space's buffers.
struct Space<'a> {
    function: &'a Function,
    groups: &'a [Group],
    members: &'a [usize],
    lifetimes: &'a Lifetimes,
    hazards: &'a Hazards,
}

/// As many times is a packing that does not fit tried with fewer stages, so that a program with very many pipelines
/// does not take forever.
const TRIES: usize = 256;

impl Space<'_> {
    /// Places by positions in `members`.
    fn pack(&self, space: MemorySpace, target: &Target, reserved: u64) -> Vec<Vec<usize>> {
        let limit = (target.limit)(space).map(|l| l.bytes);
        let group = |m: usize| &self.groups[self.members[m]];
        let of_space: Vec<&Group> = (0..self.members.len()).map(group).collect();
        let mut stages = Stages::of(self.function, &of_space, limit);
        let lives: Vec<Option<Lifetime>> = of_space.iter().map(|g| self.hull(g)).collect();
        let once = |stages: &Stages| {
            let buffers: Vec<Buffer> = of_space.iter().map(|g| self.buffer(g)).collect();
            // Whatever forbids sharing needs two buffers that at least touch in time, but for stages of a pipeline.
            let times = Times { lives: &lives, always: &|index| stages.concern(index) };
            pack_by_time(&buffers, &times, &|a, b| self.may_share(of_space[a], of_space[b]) && !stages.keep_apart(a, b))
        };
        let mut places = once(&stages);
        let Some(limit) = limit else { return places };
        let align = |address| (target.align)(address, space);
        let fits = |places: &[Vec<usize>]| {
            let sizes: Vec<u64> = places.iter().filter_map(|p| p.first()).map(|&m| of_space[m].size).collect();
            layout::end_of(&sizes, reserved, &align) <= limit
        };
        for _ in 0..TRIES {
            if fits(&places) {
                return places;
            }
            if !stages.give_up_one(&align) {
                break;
            }
            places = once(&stages);
        }
        stages.only_loads(space);
        once(&stages)
    }

    /// Addresses by members, when the places do not fit and overlapping ones do. A place of the author's is not ours
    /// to move.
    fn overlap(&self, space: MemorySpace, target: &Target, reserved: u64, places: &[Vec<usize>]) -> Option<Vec<u64>> {
        let limit = (target.limit)(space)?.bytes;
        let align = |address| (target.align)(address, space);
        let group = |m: usize| &self.groups[self.members[m]];
        let whole: Vec<u64> = places.iter().filter_map(|p| p.first()).map(|&m| group(m).size).collect();
        if layout::end_of(&whole, reserved, &align) <= limit || self.members.iter().any(|&m| self.groups[m].alone) {
            return None;
        }
        let sizes: Vec<u64> = (0..self.members.len()).map(|m| group(m).size).collect();
        let fit = Fit {
            sizes: &sizes,
            start: reserved,
            limit,
            align: &align,
            taken: &|_| Vec::new(),
            meeting: &|a, b| self.meeting(group(a), group(b)),
        };
        let in_order: Vec<usize> = (0..sizes.len()).collect();
        let mut by_size = in_order.clone();
        by_size.sort_by_key(|&m| std::cmp::Reverse(sizes[m]));
        layout::first_fit(&fit, &by_size).or_else(|| layout::first_fit(&fit, &in_order))
    }

    fn meeting(&self, group: &Group, other: &Group) -> Meeting {
        if !self.may_share(group, other) {
            return Meeting::Never;
        }
        match (self.hull(group), self.hull(other)) {
            (Some(own), Some(other)) if own.start == other.end => Meeting::Replaces,
            (Some(own), Some(other)) if own.end == other.start => Meeting::Replaced,
            _ => Meeting::Free,
        }
    }

    fn buffer(&self, group: &Group) -> Buffer {
        let start = self.hull(group).map_or(0, |l| l.start);
        Buffer { size: group.size, start, alone: group.alone }
    }

    fn hull(&self, group: &Group) -> Option<Lifetime> {
        self.lifetimes.hull(&indices(group))
    }

    fn may_share(&self, a: &Group, b: &Group) -> bool {
        self.lifetimes.may_share(&indices(a), &indices(b)) && !self.forbidden(a, b) && !self.forbidden(b, a)
    }

    /// Whether what writes one buffer may not do so over the other.
    fn forbidden(&self, writer: &Group, other: &Group) -> bool {
        let meet = match (self.hull(writer), self.hull(other)) {
            (Some(writer), Some(other)) => writer.start == other.end,
            _ => true,
        };
        self.hazards.forbid(self.function, writer, other) || (meet && self.hazards.loaded_and_popped(writer, other))
    }
}

fn indices(group: &Group) -> Vec<usize> {
    group.members.iter().map(|v| v.index()).collect()
}

/// Gives each group in `homes` the bytes of another.
fn apply(function: &mut Function, groups: &[Group], homes: &[(usize, usize)]) {
    let before = snapshot(function);
    let first = |index: usize| groups.get(index).and_then(|g: &Group| g.members.first().copied());
    for &(index, home) in homes {
        let (Some(own), Some(home)) = (first(index), first(home)) else { continue };
        let root = refs::of_var(function, own).cloned();
        let target = refs::tile(function, home).map(|(_, m)| m.clone());
        let (Some(root), Some(target)) = (root, target) else { continue };
        for &member in groups.get(index).map(|g| g.members.as_slice()).unwrap_or_default() {
            let Some(memref) = refs::of_var(function, member).cloned() else { continue };
            // The one that stands for the group takes all of the buffer, as the reference has it.
            let memref = if member == own { target.clone() } else { moved(&memref, &root, &target) };
            refs::retarget(function, member, memref, None);
        }
    }
    let Some(body) = function.body.take() else { return };
    follow_sources(function, &body, &before);
    function.body = Some(body);
}

/// Stages have served their purpose.
fn strip_stages(function: &mut Function) {
    let Some(body) = &mut function.body else { return };
    walk::each_mut(body, &mut |stmt| {
        if let StmtKind::Assign { value, .. } | StmtKind::Eval(value) = &mut stmt.kind {
            stages::strip(value);
        }
    });
}
