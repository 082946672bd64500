//! `pto-allocate-memory-addr`: addresses for tiles, windows and AUTO reserved buffers.
//!
//! Per function: the tiles are collected, grouped by memory space (global memory is skipped), and every root with its
//! windows gets one slot, sized by the largest member. AUTO reserved buffers come first; tiles start behind them.
//! Ranges that the author pinned are obstacles. The pass rewrites `addr` of `pto.alloc_tile`, `addr` of `pto.subview`
//! where root and offsets are constant (slot + the window's own offset), and `base` of `pto.reserve_buffer`.
//!
//! Planners: `sequential` gives every tile bytes of its own, in the order of the policy; `reuse` (the default) does
//! the same while it fits, and lets tiles whose lifetimes do not meet share bytes when it does not. The result is
//! proved by `pto-check-placement`, which shares no code with this pass.
//!
//! Tests: `tests/cases/passes/allocate`.

mod collect;
mod layout;
mod lifetimes;
mod overflow;
mod policy;

pub use policy::{DefaultPolicy, MemoryAllocatorPolicy, TargetPolicy, TileRef};

use crate::{
    ir,
    memory::{Order, Planner, layout::Range},
};
use collect::{Reserved, Root, Roots};
use melior::ir::{
    OperationRef, Type, Value,
    attribute::{Attribute, BoolAttribute, FlatSymbolRefAttribute, IntegerAttribute},
    operation::OperationLike,
    r#type::IntegerType,
};
use pto_dialect::{Op, Space, attribute, constant_int, device::Device, diagnostics, edit, op_name};
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
    let functions = ir::functions(module);
    if !calls_are_placed(module, &functions) {
        return false;
    }
    let mut ok = true;
    for function in functions {
        ok &= allocate(function, device, policy, options.planner);
    }
    ok
}

/// Each function is placed as if it were alone, so tiles of a called one must have addresses from their author.
fn calls_are_placed(module: OperationRef, functions: &[OperationRef]) -> bool {
    let mut ok = true;
    for call in ir::walk(module).into_iter().filter(|&op| op_name(op) == "func.call") {
        let callee = attribute(call, "callee").and_then(|a| FlatSymbolRefAttribute::try_from(a).ok());
        let Some(callee) = functions.iter().find(|&&f| callee.is_some_and(|c| c.value() == ir::symbol(f))) else {
            continue;
        };
        let open = ir::ops_named(*callee, "alloc_tile").into_iter().find(|op| op.operand("addr").is_none());
        if let Some(tile) = open {
            let message = format!(
                "function '{}' is called, so its tiles need addresses that its callers leave free",
                ir::symbol(*callee)
            );
            diagnostics::error(tile.raw.location(), "PTO-0609", message).note(call.location(), "called here").emit();
            ok = false;
        }
    }
    ok
}

fn allocate(function: OperationRef, device: &Device, policy: &dyn MemoryAllocatorPolicy, planner: Planner) -> bool {
    let mut roots = collect::roots(function, device);
    let mut reserved = collect::reserved(function);
    let mut ok = true;
    for space in Space::ON_CHIP {
        if policy.should_allocate(space) {
            ok &= place_space(space, device, policy, planner, &mut roots, &mut reserved);
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

/// Places what has no address yet in one space.
fn place_space(
    space: Space,
    device: &Device,
    policy: &dyn MemoryAllocatorPolicy,
    planner: Planner,
    roots: &mut Roots,
    reserved: &mut [Reserved],
) -> bool {
    let is_open = |r: &Root| r.space == space && r.addr.is_none() && r.follows.is_none();
    let open: Vec<usize> = (0..roots.list.len()).filter(|&i| is_open(&roots.list[i])).collect();
    let any_reserve = reserved.iter().any(|r| r.space == space && r.base.is_none());
    if open.is_empty() && !any_reserve {
        return true;
    }
    let Some(memory) = device.memory(space) else { return true };
    let mut obstacles = fixed_ranges(space, reserved);
    let pinned: Vec<Range> =
        roots.list.iter().filter(|r| r.space == space).filter_map(|r| Some(range(r.addr?, r.size))).collect();
    obstacles.extend(&pinned);
    let Some(reserved_end) = layout::place_reserved(space, policy, reserved, &mut obstacles) else {
        overflow::report(space, device, planner, roots, reserved);
        return false;
    };
    let order = order_of(policy, &open, roots);
    let request =
        layout::Request { space, policy, limit: memory.placeable(), start: reserved_end, obstacles: &obstacles };
    let placed = layout::sequential(&request, &order, &roots.list).or_else(|| {
        (planner == Planner::Reuse).then(|| share(&request, space, &pinned, reserved, &order, roots)).flatten()
    });
    match placed {
        Some(addresses) => {
            for (index, address) in addresses {
                roots.list[index].addr = Some(address);
                roots.list[index].planned = true;
            }
            true
        }
        None => {
            overflow::report(space, device, planner, roots, reserved);
            false
        }
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

/// Placement with shared bytes: lifetimes first, then first fit in two orders. Pinned tiles are obstacles only while
/// their memory is in use.
fn share(
    request: &layout::Request,
    space: Space,
    pinned: &[Range],
    reserved: &[Reserved],
    order: &[usize],
    roots: &mut Roots,
) -> Option<Vec<(usize, u64)>> {
    roots.find_lifetimes();
    let fixed = fixed_ranges(space, reserved);
    let pinned = lifetimes::pinned_regions(pinned, space, roots);
    let request = layout::Request { obstacles: &fixed, ..*request };
    let mut by_size = order.to_vec();
    by_size.sort_by_key(|&i| std::cmp::Reverse(roots.list[i].size));
    layout::first_fit(&request, order, &pinned, roots).or_else(|| layout::first_fit(&request, &by_size, &pinned, roots))
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
