//! Gives allocations their addresses, one after another in each space.
//!
//! An allocation's slot is as large as the largest of its tiles, a declared one as large as the author said; tiles
//! keep their places inside. Addresses stand in the statements in the older notation and in the types in today's.
//! What is known only at run time stays an expression behind the allocation's address.

mod capacity;

use super::{
    Options, Order,
    refs::{self, Key},
    reserved::{self, Resolved},
    reuse::Chosen,
};
use crate::{
    frontend::ast::{BinaryOp, DataType, Expr, ExprKind, Function, MemRef, MemorySpace, Problem, Span, Type, VarId},
    memory::layout::{self, Failure, Range},
};
use std::collections::BTreeMap;

/// An allocation in a space, with all its tiles.
#[derive(Debug)]
pub struct Slot {
    key: Key,
    /// The name it is ordered and called by.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// Where the author put it (older notation).
    fixed: Option<u64>,
    /// The tiles in it.
    pub tiles: Vec<VarId>,
    rank: (i64, usize),
}

/// Slots of each space, in the order of placement.
type Spaces = BTreeMap<MemorySpace, Vec<Slot>>;

/// Places everything that has no address. `chosen`: addresses that are settled already.
pub fn run(function: &mut Function, options: &Options, chosen: &Chosen) -> Result<(), Vec<Problem>> {
    let mut spaces = slots(function, options.order)?;
    for slot in spaces.values_mut().flatten() {
        slot.fixed = slot.fixed.or_else(|| chosen.get(&slot.key).copied());
    }
    let resolved = reserved::resolve(function, &options.target, &[])?;
    let mut addresses = chosen.clone();
    let mut problems = Vec::new();
    for (&space, slots) in &spaces {
        match place_space(function, space, slots, &resolved, options) {
            Ok(placed) => addresses.extend(placed),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() {
        problems.extend(capacity::of_reserved(function, &resolved, &spaces, &options.target));
    }
    if problems.is_empty() {
        problems.extend(write(function, &addresses).err());
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    reserved::write(function, &resolved);
    Ok(())
}

/// Leaves addresses as they are; only reservations without a base get one, around the tiles.
pub fn keep(function: &mut Function, options: &Options) -> Result<(), Vec<Problem>> {
    let space = reserved::space(function);
    let sizes = refs::alloc_sizes(function);
    let fixed: BTreeMap<Key, i64> =
        refs::allocs(function).into_iter().filter_map(|a| Some((Key::Var(a.var), a.address?))).collect();
    let mut taken = Vec::new();
    for tile in function.vars.iter().filter_map(|v| v.ty.tile()).filter(|t| t.space == space) {
        let Some(memref) = &tile.memref else { continue };
        let base = refs::key(memref).and_then(|k| fixed.get(&k).copied()).unwrap_or(0);
        let start = refs::offset(memref).and_then(|o| o.checked_add(base)).and_then(|o| u64::try_from(o).ok());
        if let Some(start) = start {
            taken.push(Range { start, end: start.saturating_add(refs::size(memref, &sizes)) });
        }
    }
    let resolved = reserved::resolve(function, &options.target, &taken)?;
    reserved::write(function, &resolved);
    Ok(())
}

fn place_space(
    function: &Function,
    space: MemorySpace,
    slots: &[Slot],
    resolved: &Resolved,
    options: &Options,
) -> Result<Vec<(Key, u64)>, Problem> {
    let align = |address| (options.target.align)(address, space);
    let taken: Vec<Range> =
        slots.iter().filter_map(|s| s.fixed.map(|start| Range { start, end: start.saturating_add(s.size) })).collect();
    let free: Vec<&Slot> = slots.iter().filter(|s| s.fixed.is_none()).collect();
    let sizes: Vec<u64> = free.iter().map(|s| s.size).collect();
    let placed = layout::place_slots(&sizes, resolved.end_in(space), &taken, &align).map_err(|failure| {
        let (Failure::TooFar { index } | Failure::Overlap { index, .. }) = failure;
        let name = free.get(index).map_or("", |s| s.name.as_str());
        let message = format!("allocation '{name}' in {space} ends behind every address");
        Problem::new("PTO-0652", span_of(function, free.get(index).copied()), message)
    })?;
    if let Some(limit) = (options.target.limit)(space)
        && placed.end > limit.bytes
    {
        return Err(capacity::exceeded(function, space, &free, &placed, &limit, resolved));
    }
    Ok(free.iter().map(|s| s.key.clone()).zip(placed.addresses).collect())
}

/// Where a slot's first tile is defined.
pub fn span_of(function: &Function, slot: Option<&Slot>) -> Span {
    slot.and_then(|s| s.tiles.first()).map(|&v| function.var(v).span).unwrap_or_default()
}

/// The allocations that tiles belong to.
fn slots(function: &Function, order: Order) -> Result<Spaces, Vec<Problem>> {
    let allocs = refs::allocs(function);
    let known: BTreeMap<Key, usize> = allocs.iter().enumerate().map(|(i, a)| (Key::Var(a.var), i)).collect();
    let numbered: BTreeMap<i64, usize> = allocs.iter().enumerate().filter_map(|(i, a)| Some((a.id?, i))).collect();
    let sizes = refs::alloc_sizes(function);
    let (mut spaces, mut problems) = (Spaces::new(), Vec::new());
    let mut homes: BTreeMap<Key, MemorySpace> = BTreeMap::new();
    for (index, var) in function.vars.iter().enumerate() {
        let Some(tile) = var.ty.tile() else { continue };
        let Some((memref, key)) = tile.memref.as_ref().and_then(|m| Some((m, refs::key(m)?))) else { continue };
        // A number stands for the allocation that has it.
        let alloc = match &key {
            Key::Number(id) => numbered.get(id),
            _ => known.get(&key),
        };
        let alloc = alloc.and_then(|&i| Some((i, allocs.get(i)?)));
        let key = alloc.map_or(key, |(_, a)| Key::Var(a.var));
        let space = tile.space.or(alloc.and_then(|(_, a)| a.space)).unwrap_or(MemorySpace::Ddr);
        if space == MemorySpace::Ddr {
            continue;
        }
        let size = refs::size(memref, &sizes);
        if size == 0 {
            let message = format!("the memory of tile '{}' in {space} has 0 bytes", var.name);
            problems.push(Problem::new("PTO-0651", var.span, message));
            continue;
        }
        if *homes.entry(key.clone()).or_insert(space) != space {
            let home = homes.get(&key).copied().unwrap_or(space);
            let message = format!("tile '{}' is in {space}, other tiles of its allocation are in {home}", var.name);
            problems.push(Problem::new("PTO-0661", var.span, message));
            continue;
        }
        let id = VarId(u32::try_from(index).unwrap_or(u32::MAX));
        let list = spaces.entry(space).or_default();
        match list.iter_mut().find(|s| s.key == key) {
            Some(slot) => {
                slot.size = slot.size.max(size);
                slot.tiles.push(id);
            }
            None => {
                let after = allocs.len().saturating_add(list.len());
                let pinned = alloc.filter(|(_, a)| a.pinned || a.address.is_some()).and_then(|(_, a)| a.size);
                list.push(Slot {
                    name: name_of(function, &key),
                    size: size.max(pinned.unwrap_or(0)),
                    fixed: alloc.and_then(|(_, a)| a.address).and_then(|a| u64::try_from(a).ok()),
                    tiles: vec![id],
                    rank: alloc.map_or((i64::MAX, after), |(i, a)| (a.id.unwrap_or(0), i)),
                    key,
                });
            }
        }
    }
    for list in spaces.values_mut() {
        match order {
            Order::Id => list.sort_by_key(|s| s.rank),
            Order::Name => list.sort_by(|a, b| (&a.name, a.rank).cmp(&(&b.name, b.rank))),
        }
    }
    if problems.is_empty() { Ok(spaces) } else { Err(problems) }
}

fn name_of(function: &Function, key: &Key) -> String {
    match key {
        Key::Var(var) => function.vars.get(var.index()).map(|v| v.name.clone()).unwrap_or_default(),
        Key::Named(name) => name.clone(),
        Key::Number(id) => format!("mem_{id}"),
    }
}

/// Writes addresses into types and statements.
fn write(function: &mut Function, addresses: &BTreeMap<Key, u64>) -> Result<(), Problem> {
    let numbers: BTreeMap<i64, Key> =
        refs::allocs(function).iter().filter_map(|a| Some((a.id?, Key::Var(a.var)))).collect();
    for var in &mut function.vars {
        let Type::Tile(tile) = &mut var.ty else { continue };
        let Some(memref) = &mut tile.memref else { continue };
        let Some(key) = refs::key(memref) else { continue };
        let key = match &key {
            Key::Number(id) => numbers.get(id).cloned().unwrap_or(key),
            _ => key,
        };
        let Some(base) = addresses.get(&key).and_then(|&a| i64::try_from(a).ok()) else { continue };
        match memref {
            MemRef::Part { offset, .. } => {
                let too_far =
                    || Problem::new("PTO-0652", var.span, format!("tile '{}' begins behind every address", var.name));
                *offset = shifted(offset, base).ok_or_else(too_far)?;
            }
            MemRef::Numbered { addr, .. } => *addr = base,
            MemRef::Whole(_) | MemRef::Declared { .. } => {}
        }
    }
    if let Some(body) = &mut function.body {
        super::walk::each_mut(body, &mut |stmt| {
            let Some((var, call)) = refs::alloc_call(stmt) else { return };
            let base = addresses.get(&Key::Var(var)).and_then(|&a| i64::try_from(a).ok());
            if let (Some(base), 3.., Some(argument)) = (base, call.args.len(), call.args.get_mut(1)) {
                *argument = Expr::index(base);
            }
        });
    }
    Ok(())
}

/// An offset behind an address. A negative one means that there was none.
fn shifted(offset: &Expr, base: i64) -> Option<Expr> {
    match offset.as_int() {
        Some(constant) => {
            let address = base.checked_add(constant.max(0))?;
            Some(Expr::made(ExprKind::Int(address, Some(DataType::Int64))))
        }
        None => Some(refs::binary(BinaryOp::Add, &Expr::index(base), offset)),
    }
}
