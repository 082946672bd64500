//! `pto-allocate-memory-addr`: addresses for tiles, windows and AUTO reserved buffers.
//!
//! Per function: the tiles are collected, grouped by memory space (global memory is skipped), and every root with its
//! windows gets one slot, sized by the largest member. AUTO reserved buffers come first; tiles start behind them.
//! Ranges that the author pinned are obstacles. The pass rewrites `addr` of `pto.alloc_tile`, `addr` of `pto.subview`
//! where root and offsets are constant (slot + the window's own offset), and `base` of `pto.reserve_buffer`.
//!
//! Functions are placed after those they call: what a callee uses is taken where a caller needs tiles across the call.
//!
//! Planners: `sequential` gives every tile bytes of its own, in the order of the policy; `reuse` (the default) does
//! the same while it fits, and lets tiles whose lifetimes do not meet share bytes when it does not. The result is
//! proved by `pto-check-placement`, which shares no code with this pass.
//!
//! Tests: `tests/cases/passes/allocate`.

mod calls;
mod collect;
mod layout;
mod lifetimes;
mod overflow;
mod policy;
mod scales;

pub use policy::{DefaultPolicy, MemoryAllocatorPolicy, TargetPolicy, TileRef};

use crate::{
    ir,
    memory::{Order, Planner, layout::Range},
};
use calls::Calls;
use collect::{Reserved, Root, Roots};
use melior::ir::{
    OperationRef, Type, Value,
    attribute::{Attribute, BoolAttribute, IntegerAttribute},
    r#type::IntegerType,
};
use pto_dialect::{Op, Space, constant_int, device::Device, edit};
use std::sync::Arc;

/// The attribute of a tile that this pass placed.
pub const PLANNED: &str = "pto.planned";

/// How to place.
#[derive(Clone, Default)]
pub struct AllocationOptions {
    /// Which planner.
    pub planner: Planner,
    /// In which order, where the policy leaves it open.
    pub order: Order,
    /// Which policy; `None`: the target's.
    pub policy: Option<Arc<dyn MemoryAllocatorPolicy>>,
}

/// Runs the pass on a module.
pub fn run(module: OperationRef, device: &Device, options: &AllocationOptions) -> bool {
    let target_policy = TargetPolicy::new(device);
    let by_name = policy::ByName(target_policy.clone());
    let usual: &dyn MemoryAllocatorPolicy = if options.order == Order::Name { &by_name } else { &target_policy };
    let policy: &dyn MemoryAllocatorPolicy = options.policy.as_deref().unwrap_or(usual);
    let mut calls = Calls::of(ir::functions(module), device);
    let Some(order) = calls.order() else { return false };
    let mut ok = true;
    for function in order {
        ok &= allocate(function, device, policy, options.planner, &calls);
        calls.placed(function, device);
    }
    ok
}

fn allocate<'c, 'a>(
    function: OperationRef<'c, 'a>,
    device: &Device,
    policy: &dyn MemoryAllocatorPolicy,
    planner: Planner,
    calls: &Calls<'c, 'a>,
) -> bool {
    let mut roots = collect::roots(function, device);
    let mut reserved = collect::reserved(function);
    let mut ok = overflow::unused_fit(function, device);
    for space in Space::ON_CHIP {
        if policy.should_allocate(space) {
            scales::place(&mut roots, space);
            let place = PlaceSpace { space, device, policy, planner, calls };
            ok &= place.run(&mut roots, &mut reserved);
        }
    }
    if ok {
        follow(&mut roots);
        write_reserved(&reserved);
        write_roots(&roots);
        write_windows(function, &roots);
    }
    ok
}

/// How to place what has no address yet in one space of a function.
struct PlaceSpace<'x, 'c, 'a> {
    space: Space,
    device: &'x Device,
    policy: &'x dyn MemoryAllocatorPolicy,
    planner: Planner,
    calls: &'x Calls<'c, 'a>,
}

impl<'c, 'a> PlaceSpace<'_, 'c, 'a> {
    fn run(&self, roots: &mut Roots<'c, 'a>, reserved: &mut [Reserved]) -> bool {
        let space = self.space;
        let is_open = |r: &Root| r.space == space && r.addr.is_none() && r.follows.is_none();
        let open: Vec<usize> = (0..roots.list.len()).filter(|&i| is_open(&roots.list[i])).collect();
        let any_reserve = reserved.iter().any(|r| r.space == space && r.base.is_none());
        if open.is_empty() && !any_reserve {
            return true;
        }
        let Some(memory) = self.device.memory(space) else { return true };
        let function = roots.function;
        let mut outside = self.calls.given_by_callers(function, space);
        outside.extend(self.calls.buffers(function, space));
        outside.extend(self.calls.sibling_buffers(function, space));
        let mut obstacles = fixed_ranges(space, reserved);
        let pinned: Vec<Range> =
            roots.list.iter().filter(|r| r.space == space).filter_map(|r| Some(range(r.addr?, r.size))).collect();
        obstacles.extend(&pinned);
        obstacles.extend(&outside);
        obstacles.extend(self.calls.taken(function, space));
        let mut apart = obstacles.clone();
        apart.extend(self.calls.sibling_tiles(function, space));
        let Some(start) = layout::place_reserved(space, self.policy, reserved, &mut apart) else {
            overflow::report(space, self.device, self.planner, roots, reserved, self.calls);
            return false;
        };
        obstacles.extend(fixed_ranges(space, reserved));
        let order = order_of(self.policy, &open, roots);
        let fixed: Vec<Range> = fixed_ranges(space, reserved).into_iter().chain(outside).collect();
        let limit = memory.placeable();
        let request = layout::Request { space, policy: self.policy, limit, start, obstacles: &obstacles };
        let placed = layout::sequential(&request, &order, &roots.list)
            .or_else(|| self.share(&layout::Request { obstacles: &fixed, ..request }, &pinned, &order, roots));
        let Some(addresses) = placed else {
            overflow::report(space, self.device, self.planner, roots, reserved, self.calls);
            return false;
        };
        for (index, address) in addresses {
            roots.list[index].addr = Some(address);
            roots.list[index].planned = true;
        }
        true
    }

    /// Placement with shared bytes: lifetimes first, then first fit in two orders. Pinned tiles, and what calls take,
    /// are obstacles only while their memory is in use.
    fn share(
        &self,
        request: &layout::Request,
        pinned: &[Range],
        order: &[usize],
        roots: &mut Roots<'c, 'a>,
    ) -> Option<Vec<(usize, u64)>> {
        if self.planner != Planner::Reuse {
            return None;
        }
        roots.find_lifetimes();
        let mut regions = lifetimes::pinned_regions(pinned, self.space, roots);
        regions.extend(self.calls.regions(roots.function, self.space));
        let mut by_size = order.to_vec();
        by_size.sort_by_key(|&i| std::cmp::Reverse(roots.list[i].size));
        layout::first_fit(request, order, &regions, roots)
            .or_else(|| layout::first_fit(request, &by_size, &regions, roots))
    }
}

/// Roots that have the slot of another get its address.
fn follow(roots: &mut Roots) {
    for index in 0..roots.list.len() {
        let own = collect::leader(&roots.list, index);
        if own != index && roots.list[index].addr.is_none() {
            roots.list[index].addr = roots.list[own].addr;
            roots.list[index].planned = true;
        }
        // An address that its follower brought was not in the leader's text.
        let given = roots.list[index].op.operand("addr").is_some();
        roots.list[index].planned |= !given && roots.list[index].addr.is_some();
    }
}

fn range(start: u64, size: u64) -> Range {
    Range { start, end: start.saturating_add(size) }
}

/// Reserved buffers that have their bases.
fn fixed_ranges(space: Space, reserved: &[Reserved]) -> Vec<Range> {
    reserved.iter().filter(|r| r.space == space).filter_map(|r| Some(range(r.base?, r.size))).collect()
}

/// The order in which the policy wants the tiles.
fn order_of(policy: &dyn MemoryAllocatorPolicy, open: &[usize], roots: &Roots) -> Vec<usize> {
    let mut refs: Vec<TileRef> = open
        .iter()
        .map(|&i| TileRef {
            id: i,
            name: roots.list[i].name.clone(),
            space: roots.list[i].space,
            size: roots.list[i].size,
        })
        .collect();
    policy.order(&mut refs);
    refs.into_iter().map(|r| r.id).collect()
}

fn integer_type<'c>(op: OperationRef<'c, '_>, width: u32) -> Type<'c> {
    IntegerType::new(pto_dialect::context_of(op), width).into()
}

fn write_reserved(reserved: &[Reserved]) {
    for buffer in reserved.iter().filter(|r| r.auto) {
        let Some(base) = buffer.base else { continue };
        let context = pto_dialect::context_of(buffer.op);
        let base: Attribute = IntegerAttribute::new(integer_type(buffer.op, 32), base as i64).into();
        edit::set_attribute(buffer.op, "base", base);
        edit::set_attribute(buffer.op, "autoAlloc", BoolAttribute::new(context, false).into());
    }
}

fn write_roots(roots: &Roots) {
    for root in roots.list.iter().filter(|r| r.planned) {
        let Some(addr) = root.addr else { continue };
        set_addr(root.op, addr);
        let context = pto_dialect::context_of(root.op.raw);
        edit::set_attribute(root.op.raw, PLANNED, Attribute::unit(context));
    }
}

fn set_addr(op: Op, address: u64) {
    let context = pto_dialect::context_of(op.raw);
    let location = melior::ir::Location::unknown(context);
    let constant = edit::constant(context, op.raw, address as i64, integer_type(op.raw, 64), location);
    edit::set_operand(op, "addr", constant);
}

/// Windows at constant offsets of tiles at constant addresses.
fn write_windows(function: OperationRef, roots: &Roots) {
    for op in ir::walk(function).into_iter().filter_map(Op::of).filter(|op| op.is("subview")) {
        if op.operand("addr").is_none()
            && let Some(address) = window_address(op, roots)
        {
            set_addr(op, address);
        }
    }
}

fn window_address(op: Op, roots: &Roots) -> Option<u64> {
    let source = op.operand("source")?;
    let parent = pto_dialect::Tile::of_value(source)?;
    let base = constant_address(source, roots)?;
    let offset = constant_offset(op, &parent)?;
    base.checked_add_signed(offset)
}

fn constant_address(tile: Value, roots: &Roots) -> Option<u64> {
    let definition = Op::defining(tile)?;
    if let Some(addr) = definition.operand("addr") {
        return constant_int(addr).and_then(|a| u64::try_from(a).ok());
    }
    roots
        .list
        .iter()
        .find(|r| pto_dialect::op_key(r.op.raw) == pto_dialect::op_key(definition.raw))
        .and_then(|r| r.addr)
}

/// Bytes from the parent's start to the window's, where both offsets are constant.
fn constant_offset(op: Op, parent: &pto_dialect::Tile) -> Option<i64> {
    let offsets: Vec<i64> = op.operands("offsets").into_iter().map(constant_int).collect::<Option<_>>()?;
    let [row, col] = offsets[..] else { return None };
    let (row_stride, col_stride) = parent.strides();
    let elements = row.checked_mul(row_stride)?.checked_add(col.checked_mul(col_stride)?)?;
    elements.checked_mul(parent.element.bytes() as i64)
}

/// For messages and reports.
impl Root<'_, '_> {
    fn describe(&self) -> String {
        format!("tile {}: {} bytes ({})", self.label(), self.size, self.shape)
    }

    fn label(&self) -> String {
        if self.name.is_empty() { "<unnamed>".to_owned() } else { format!("%{}", self.name) }
    }
}
