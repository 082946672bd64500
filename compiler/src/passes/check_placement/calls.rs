//! Which bytes each function of a module uses, those of the functions that it calls included.

use crate::{ir, passes::allocate_memory_addr::PLANNED};
use melior::ir::{OperationRef, ValueLike, operation::OperationLike};
use pto_dialect::{Op, Space, Tile, attribute, constant_int, device::Device, multi_tile, op_name};

/// Bytes that a call uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Used {
    /// Memory space.
    pub space: Space,
    /// First byte.
    pub start: u64,
    /// The byte behind the last one.
    pub end: u64,
    /// Whether the allocation pass chose them.
    pub planned: bool,
}

/// What a call of `name`, from inside `function`, uses.
pub fn used_by_call(function: OperationRef, name: &str, device: &Device) -> Vec<Used> {
    let Some(module) = function.parent_operation() else { return Vec::new() };
    let functions = ir::functions(module);
    let mut names = vec![name.to_owned()];
    let mut used = Vec::new();
    let mut next = 0;
    while next < names.len() {
        let callee_function = functions.iter().find(|&&f| ir::symbol(f) == names[next]);
        next += 1;
        for op in callee_function.map(|&f| ir::walk(f)).unwrap_or_default() {
            if op_name(op) == "func.call" {
                names.extend(ir::callee(op).filter(|callee| !names.contains(callee)));
            } else if let Some(op) = Op::of(op) {
                used.extend(own_bytes(op, device));
            }
        }
    }
    used.sort_unstable();
    used.dedup();
    used
}

fn own_bytes(op: Op, device: &Device) -> Option<Used> {
    let planned = attribute(op.raw, PLANNED).is_some();
    if op.is("reserve_buffer") {
        let space = Space::by_name(op.enum_text("space")?)?;
        let start = u64::try_from(op.int("base")?).ok()?;
        return Some(Used {
            space,
            start,
            end: start.checked_add(u64::try_from(op.int("size")?).ok()?)?,
            planned: true,
        });
    }
    let start = u64::try_from(constant_int(op.operand("addr")?)?).ok()?;
    let ty = op.result()?.r#type();
    let (tile, bytes) = match multi_tile(ty) {
        Some((slot, count)) => {
            let tile = Tile::of(slot)?;
            let align = device.memory(tile.space).map_or(1, |m| m.place_align.max(1));
            (tile, tile.footprint_bytes().next_multiple_of(align).checked_mul(u64::try_from(count).ok()?)?)
        }
        None => Tile::of(ty).map(|tile| (tile, tile.footprint_bytes()))?,
    };
    op.mnemonic().starts_with("alloc_").then_some(Used {
        space: tile.space,
        start,
        end: start.checked_add(bytes)?,
        planned,
    })
}
