//! What there is to place in a function.

use super::lifetimes::{self, Lifetime};
use crate::{ir, passes::resolve_views::slot_stride};
use melior::ir::{OperationRef, Value, ValueLike};
use pto_dialect::{
    Op, Space, Tile, UNTOUCHED, constant_int, device::Device, edit, multi_tile, name_of_value, value_key,
};
use std::collections::HashMap;

/// A tile that owns bytes, with all windows of it.
pub struct Root<'c, 'a> {
    pub op: Op<'c, 'a>,
    pub value: Value<'c, 'a>,
    pub name: String,
    pub space: Space,
    /// What it is, for messages.
    pub shape: String,
    /// Bytes of the slot: the largest of the tile and its windows' ends.
    pub size: u64,
    /// The byte address, given or chosen.
    pub addr: Option<u64>,
    /// Whether this pass chose the address.
    pub planned: bool,
    /// From the first to the last operation that may touch it; found only when needed.
    pub lifetime: Lifetime,
    /// The root whose slot this one has: an operation accumulates one in place of the other.
    pub follows: Option<usize>,
}

/// The roots of a function in the order of definition.
pub struct Roots<'c, 'a> {
    pub function: OperationRef<'c, 'a>,
    pub list: Vec<Root<'c, 'a>>,
    has_lifetimes: bool,
}

impl Roots<'_, '_> {
    /// Finds the lifetimes of all roots, once.
    pub fn find_lifetimes(&mut self) {
        if !self.has_lifetimes {
            lifetimes::find(self.function, &mut self.list);
            self.has_lifetimes = true;
        }
    }
}

/// A reserved buffer.
pub struct Reserved<'c, 'a> {
    pub op: OperationRef<'c, 'a>,
    pub name: String,
    pub space: Space,
    pub size: u64,
    pub base: Option<u64>,
    pub auto: bool,
}

/// Tiles with an address known only at run time stand where their author wants; they are left out.
pub fn roots<'c, 'a>(function: OperationRef<'c, 'a>, device: &Device) -> Roots<'c, 'a> {
    let mut list: Vec<Root> =
        ir::walk(function).into_iter().filter_map(Op::of).filter_map(|op| root(op, device)).collect();
    accumulate_in_place(function, &mut list);
    Roots { function, list, has_lifetimes: false }
}

/// The library adds to what the result's bytes hold, so the accumulator that goes in must be the one that comes out.
fn accumulate_in_place(function: OperationRef, list: &mut [Root]) {
    let index: HashMap<usize, usize> = list.iter().enumerate().map(|(i, r)| (value_key(r.value), i)).collect();
    for op in ir::walk(function).into_iter().filter_map(Op::of).filter(|op| op.facts.has_rule("acc_in_place")) {
        let find = |name: &str| op.operand(name).and_then(|v| index.get(&value_key(v)).copied());
        let (Some(before), Some(after)) = (find(op.facts.inplace), find("dst")) else { continue };
        let (first, second) = (leader(list, before), leader(list, after));
        if first == second || (list[first].addr.is_some() && list[second].addr.is_some()) {
            continue;
        }
        let (own, other) = (first.min(second), first.max(second));
        list[own].addr = list[own].addr.or(list[other].addr);
        list[own].size = list[own].size.max(list[other].size);
        list[other].follows = Some(own);
    }
}

/// The root whose slot a root has.
pub fn leader(list: &[Root], mut index: usize) -> usize {
    while let Some(next) = list[index].follows {
        index = next;
    }
    index
}

fn root<'c, 'a>(op: Op<'c, 'a>, device: &Device) -> Option<Root<'c, 'a>> {
    if !op.is("alloc_tile") && !op.is("alloc_multi_tile") {
        return None;
    }
    let value = op.result()?;
    let (tile, bytes) = match multi_tile(value.r#type()) {
        Some((slot, count)) => {
            let tile = Tile::of(slot)?;
            (tile, slot_stride(&tile, device).saturating_mul(count as u64))
        }
        None => Tile::of_value(value).map(|tile| (tile, tile.footprint_bytes()))?,
    };
    let given = op.operand("addr");
    // A tile that nobody uses needs no bytes (`pto-resolve-views` drops it), and neither does one that nobody touches.
    if given.is_none() && (edit::is_unused(value) || op.attr(UNTOUCHED).is_some()) {
        return None;
    }
    let addr = given.and_then(constant_int).and_then(|a| u64::try_from(a).ok());
    if given.is_some() && addr.is_none() {
        return None;
    }
    let mut size = bytes;
    widen(value, 0, &mut size);
    Some(Root {
        op,
        value,
        name: name_of_value(value).unwrap_or_default(),
        space: tile.space,
        shape: tile.describe(),
        size,
        addr,
        planned: false,
        lifetime: Lifetime::default(),
        follows: None,
    })
}

/// Follows windows, reshapes and casts: a slot must hold its largest member.
fn widen(value: Value, offset: u64, size: &mut u64) {
    for user in edit::uses(value).into_iter().filter_map(Op::of) {
        let (Some(result), true) = (user.result(), matches!(user.mnemonic(), "subview" | "treshape" | "bitcast"))
        else {
            continue;
        };
        let Some(member) = Tile::of_value(result) else { continue };
        let inner = if user.is("subview") { window_offset(user).unwrap_or(0) } else { 0 };
        let start = offset.saturating_add(inner);
        // A window keeps its parent's stride, so it ends inside its parent; a reshape may be larger than its source.
        if !user.is("subview") {
            *size = (*size).max(start.saturating_add(member.footprint_bytes()));
        }
        widen(result, start, size);
    }
}

fn window_offset(op: Op) -> Option<u64> {
    let parent = op.operand("source").and_then(Tile::of_value)?;
    u64::try_from(super::constant_offset(op, &parent)?).ok()
}

/// The reserved buffers of a function in the order of definition, and what the library takes at address 0.
pub fn reserved<'c, 'a>(function: OperationRef<'c, 'a>) -> Vec<Reserved<'c, 'a>> {
    let ops = ir::walk(function).into_iter().filter_map(Op::of);
    let buffers = ops.filter(|op| op.is("reserve_buffer") || pto_dialect::fixed_memory(*op).is_some());
    buffers
        .filter_map(|op| {
            if let Some((space, size)) = pto_dialect::fixed_memory(op) {
                let name = op.mnemonic().to_owned();
                return Some(Reserved { op: op.raw, name, space, size, base: Some(0), auto: false });
            }
            Some(Reserved {
                op: op.raw,
                name: op.string("name").unwrap_or_default(),
                space: Space::by_name(op.enum_text("space")?)?,
                size: u64::try_from(op.int("size")?).ok()?,
                base: op.int("base").and_then(|b| u64::try_from(b).ok()),
                auto: op.bool("autoAlloc") == Some(true),
            })
        })
        .collect()
}
