//! `pto-check-placement`: the independent check of every placement, given or ours. It shares no code with the
//! allocation pass and reads the result afresh.
//!
//! For every tile at a constant address, the four conditions of the library's `TASSIGN<addr>`, all that fail, in this
//! order (advice FIX-A12): SA-0351 the space exists on the target; SA-0352 the tile is not larger than the space;
//! SA-0353 it ends inside the space; SA-0354 its address is aligned. Also: negative addresses, windows outside their
//! tile, reserved buffers outside their space or under a tile, addresses inside the target's reserve (a warning).
//! For tiles that the allocation pass placed: no tile's bytes are written while another's value in them is still
//! needed, proved by running the function on a memory that remembers whose value each byte holds.
//!
//! The library counts rows * columns * element size, and two 4-bit values in a byte as two bytes; a convolution tile would
//! count its buffer size in elements, but no operation here makes one.

mod calls;
mod carried;
mod names;
mod owners;

use crate::ir;
use melior::ir::{OperationRef, Value, ValueLike, operation::OperationLike};
use pto_dialect::{
    CompactMode, Op, Space, Tile, attribute, constant_int,
    device::{Device, Memory},
    diagnostics, multi_tile, value_key,
};

/// Runs the pass on a module.
pub fn run(module: OperationRef, device: &Device) -> bool {
    let mut ok = true;
    for function in ir::functions(module) {
        ok &= check_function(function, device);
    }
    ok
}

fn check_function(function: OperationRef, device: &Device) -> bool {
    let mut ok = true;
    let ops: Vec<Op> = ir::walk(function).into_iter().filter_map(Op::of).collect();
    for &op in &ops {
        ok &= match op.mnemonic() {
            "alloc_tile" | "tassign" => check_tile(op, device),
            "alloc_multi_tile" => check_slots(op, device),
            "subview" => check_window(op, device),
            "reserve_buffer" => check_reserved(op, device),
            _ if pto_dialect::fixed_memory(op).is_some() => check_fixed(op),
            _ if op.operand("a_scale").is_some() => check_scales(op, &ops),
            _ if op.facts.has_rule("acc_in_place") => check_accumulator(op),
            _ if keeps_operands_apart(op) => check_apart(op),
            _ => true,
        };
    }
    ok && carried::check(function, device) && owners::check(function, device)
}

/// The address operand as a number, where it is one.
fn address(op: Op) -> Option<i64> {
    op.operand("addr").and_then(constant_int)
}

fn check_tile(op: Op, device: &Device) -> bool {
    let (Some(result), Some(address)) = (op.result(), address(op)) else { return true };
    let Some(tile) = Tile::of_value(result) else { return true };
    let given = attribute(op.raw, super::allocate_memory_addr::PLANNED).is_none();
    check_address(op, result, &tile, address, device, given)
}

/// Every slot of a multi tile, as far apart as `pto-resolve-views` will put them.
fn check_slots(op: Op, device: &Device) -> bool {
    let (Some(result), Some(address)) = (op.result(), address(op)) else { return true };
    let Some((slot, count)) = multi_tile(result.r#type()) else { return true };
    let Some(tile) = Tile::of(slot) else { return true };
    let align = device.memory(tile.space).map_or(1, |m| m.place_align.max(1));
    let stride = tile.footprint_bytes().next_multiple_of(align) as i64;
    let given = attribute(op.raw, super::allocate_memory_addr::PLANNED).is_none();
    (0..count)
        .all(|i| check_address(op, result, &tile, address.saturating_add(i.saturating_mul(stride)), device, given))
}

fn check_address(op: Op, value: Value, tile: &Tile, address: i64, device: &Device, given: bool) -> bool {
    let Some(memory) = device.memory(tile.space) else { return true };
    let label = format!("tile {} ({})", ir::label(value), tile.describe());
    let Ok(start) = u64::try_from(address) else {
        let message = format!("'{}' op {label} has the negative address {address}", op.facts.name);
        diagnostics::error(op.raw.location(), "PTO-0603", message).help(advice(memory, tile)).emit();
        return false;
    };
    let failures = failures(tile, start, memory, device);
    let ok = failures.is_empty();
    for (code, what) in failures {
        diagnostics::error(op.raw.location(), code, format!("'{}' op {label} at {start:#x}: {what}", op.facts.name))
            .help(advice(memory, tile))
            .emit();
    }
    if ok && given {
        warn_reserve(op, &label, start, tile, memory);
    }
    ok
}

/// The conditions that do not hold, in the library's order.
fn failures(tile: &Tile, start: u64, memory: &Memory, device: &Device) -> Vec<(&'static str, String)> {
    let space = tile.space.name();
    let bytes = tile.storage_bytes();
    // What really lies behind the last row counts for the end, not for the library's own numbers.
    let end = start.saturating_add(tile.footprint_bytes());
    let capacity = memory.capacity;
    let mut found = Vec::new();
    if capacity == 0 {
        found.push(("SA-0351", format!("{} has no {space} memory (capacity 0 bytes)", device.name)));
    }
    if bytes > capacity {
        found.push(("SA-0352", format!("it occupies {bytes} bytes; {space} of {} has {capacity}", device.name)));
    }
    if capacity > 0 && end > capacity {
        let more = if tile.compact == CompactMode::RowPlusOne { ", counting one element after each row" } else { "" };
        found
            .push(("SA-0353", format!("it ends at byte {end}{more}; {space} of {} has {capacity} bytes", device.name)));
    }
    if memory.align > 0 && !start.is_multiple_of(memory.align) {
        found.push(("SA-0354", format!("address {start} is not a multiple of {} bytes", memory.align)));
    }
    found
}

/// FIX-A12.
fn advice(memory: &Memory, tile: &Tile) -> String {
    let room = memory.capacity.checked_sub(tile.footprint_bytes());
    let place = match room {
        Some(last) => {
            format!("an address from 0 to {} that is a multiple of {}", last - last % memory.align.max(1), memory.align)
        }
        None => "fewer rows or columns, a smaller element type, or a space that the target has".to_owned(),
    };
    format!("FIX-A12: choose {place}; -D{}=<bytes> states another capacity", memory.size_macro)
}

fn warn_reserve(op: Op, label: &str, start: u64, tile: &Tile, memory: &Memory) {
    let Some(reserve) = &memory.reserve else { return };
    if start.saturating_add(tile.footprint_bytes()) > memory.placeable() {
        let message = format!(
            "'{}' op {label} at {start:#x} reaches into the top {} bytes of {}",
            op.facts.name,
            reserve.bytes,
            tile.space.name()
        );
        diagnostics::warning(op.raw.location(), "PTO-0604", message).help(reserve.reason.clone()).emit();
    }
}

/// The library accumulates into `dst` and never reads the other accumulator's bytes, so both must be the same ones.
fn check_accumulator(op: Op) -> bool {
    let accumulator = op.operand("acc_in").or_else(|| op.operand("c_in"));
    let (Some(from), Some(to)) = (accumulator, op.operand("dst")) else { return true };
    let place = |tile: Value| Op::defining(tile).and_then(address);
    let (Some(a), Some(b)) = (place(from), place(to)) else { return true };
    if a == b {
        return true;
    }
    let message = format!(
        "'{}' op accumulates in place, but {} stands at {a:#x} and {} at {b:#x}",
        op.facts.name,
        ir::label(from),
        ir::label(to)
    );
    diagnostics::error(op.raw.location(), "PTO-0610", message).help("name one tile as both").emit();
    false
}

/// The hardware looks for scales at the address of their left or right tile divided by 16 and nowhere else.
fn check_scales(op: Op, ops: &[Op]) -> bool {
    let mut ok = !op.facts.has_rule("acc_in_place") || check_accumulator(op);
    for (of, scale) in [("a", "a_scale"), ("b", "b_scale")] {
        let (Some(of), Some(scale)) = (op.operand(of), op.operand(scale)) else { continue };
        if let Some(tile) = Tile::of_value(scale).filter(|t| t.space == Space::Scaling) {
            let message = format!(
                "'{}' op finds the scales of {} in a memory of their own, but {} ({}) stands in the fixpipe buffer",
                op.facts.name,
                ir::label(of),
                ir::label(scale),
                tile.describe()
            );
            diagnostics::error(op.raw.location(), "PTO-0613", message)
                .help("scales are tiles of !pto.f8E8M0 in boxes: slayout=row_major for left, col_major for right")
                .emit();
            ok = false;
            continue;
        }
        let is = |operand: Option<Value>, wanted: Value| operand.is_some_and(|v| value_key(v) == value_key(wanted));
        // Placed by the kernel itself, at run time.
        let moved =
            ops.iter().any(|o| o.is("tget_scale_addr") && is(o.operand("src"), of) && is(o.operand("dst"), scale));
        let place = |tile: Value| Op::defining(tile).and_then(address);
        let (Some(from), Some(to)) = (place(of), place(scale)) else { continue };
        if !moved && from >> 4 != to {
            let message = format!(
                "'{}' op finds the scales of {} (at {from:#x}) at {:#x}, but {} stands at {to:#x}",
                op.facts.name,
                ir::label(of),
                from >> 4,
                ir::label(scale)
            );
            diagnostics::error(op.raw.location(), "PTO-0613", message)
                .help("use pto.tget_scale_addr, or give the scales the address of their tile divided by 16")
                .emit();
            ok = false;
        }
    }
    ok
}

/// Operations whose library code writes one operand while it still needs others: the groups of `tquant.mx`, and the
/// X-to-ZZ form of `tmov`, which has a scratch tile in vec.
fn keeps_operands_apart(op: Op) -> bool {
    let scratch = op.operand("fp").and_then(Tile::of_value).is_some_and(|tile| tile.space == Space::Vec);
    op.facts.has_rule("tquant_mx") || (op.is("tmov") && scratch)
}

/// No two of an operation's tiles share bytes, as far as their addresses are constant.
fn check_apart(op: Op) -> bool {
    let place = |value: Value| -> Option<(Space, i64, i64)> {
        let owner = owner_of(value)?;
        let (start, tile) = (address(owner)?, Tile::of_value(owner.result()?)?);
        Some((tile.space, start, start.saturating_add(tile.footprint_bytes() as i64)))
    };
    let placed: Vec<_> = op.named_operands().into_iter().filter_map(|(o, v)| Some((o.name, v, place(v)?))).collect();
    let mut ok = true;
    for (index, (name, value, b)) in placed.iter().enumerate() {
        for (other_name, other, a) in &placed[..index] {
            if a.0 == b.0 && a.1 < b.2 && b.1 < a.2 {
                let message = format!(
                    "'{}' op needs {other_name} and {name} apart, but tiles {} ({} to {}) and {} ({} to {}) share bytes of {}",
                    op.facts.name,
                    ir::label(*other),
                    a.1,
                    a.2,
                    ir::label(*value),
                    b.1,
                    b.2,
                    a.0.name()
                );
                diagnostics::error(op.raw.location(), "PTO-0612", message).emit();
                ok = false;
            }
        }
    }
    ok
}

/// The tile whose bytes a view of it shows.
fn owner_of<'c, 'a>(value: Value<'c, 'a>) -> Option<Op<'c, 'a>> {
    let definition = Op::defining(value)?;
    match definition.mnemonic() {
        "treshape" | "bitcast" => owner_of(definition.operand("src")?),
        "subview" if address(definition).is_none() => owner_of(definition.operand("source")?),
        _ => Some(definition),
    }
}

/// A window lies inside its tile and starts at an aligned address.
fn check_window(op: Op, device: &Device) -> bool {
    let (Some(source), Some(result)) = (op.operand("source"), op.result()) else { return true };
    let (Some(parent), Some(window)) = (Tile::of_value(source), Tile::of_value(result)) else { return true };
    let offsets: Vec<Option<i64>> = op.operands("offsets").into_iter().map(constant_int).collect();
    let mut ok = true;
    for (what, offset, size, extent) in [
        ("rows", offsets.first().copied().flatten(), window.rows, parent.rows),
        ("columns", offsets.get(1).copied().flatten(), window.cols, parent.cols),
    ] {
        let start = offset.unwrap_or(0);
        if start < 0 || start.saturating_add(size) > extent {
            let message = format!(
                "'pto.subview' op window of {what} {start} to {} leaves its tile {}, which has {extent}",
                start.saturating_add(size),
                ir::label(source)
            );
            diagnostics::error(op.raw.location(), "PTO-0605", message).emit();
            ok = false;
        }
    }
    let Some(memory) = device.memory(parent.space) else { return ok };
    if let Some(start) = address(op).filter(|a| ok && memory.align > 0 && a.rem_euclid(memory.align as i64) != 0) {
        let message = format!(
            "'pto.subview' op window {} starts at byte {start}, which is not a multiple of {} bytes",
            ir::label(result),
            memory.align
        );
        diagnostics::error(op.raw.location(), "SA-0354", message)
            .help("FIX-A12: start the window at a whole block, or copy its part into a tile of its own")
            .emit();
        ok = false;
    }
    ok
}

/// A reserved buffer lies inside its space, and no tile of its function lies in it.
fn check_reserved(op: Op, device: &Device) -> bool {
    let space = op.enum_text("space").and_then(Space::by_name);
    let (Some(space), Some(base), Some(size)) = (space, op.int("base"), op.int("size")) else { return true };
    let Some(memory) = device.memory(space) else { return true };
    let end = base.saturating_add(size);
    let name = op.string("name").unwrap_or_default();
    if base < 0 || end > memory.capacity as i64 {
        let message = format!(
            "reserved buffer \"{name}\" takes bytes {base} to {end}; {} of {} has {}",
            space.name(),
            device.name,
            memory.capacity
        );
        diagnostics::error(op.raw.location(), "PTO-0606", message).emit();
        return false;
    }
    let tiles = tiles_inside(op, space, base, end);
    for (tile_op, took) in &tiles {
        let message = format!("{took}, inside reserved buffer \"{name}\" ({base} to {end})");
        diagnostics::error(tile_op.raw.location(), "PTO-0607", message).note(op.raw.location(), "reserved here").emit();
    }
    tiles.is_empty()
}

/// No tile of ours stands where the library has memory of its own; one of the author's gets a warning.
fn check_fixed(op: Op) -> bool {
    let Some((space, size)) = pto_dialect::fixed_memory(op) else { return true };
    let mut ok = true;
    for (tile_op, took) in tiles_inside(op, space, 0, size as i64) {
        let message = format!("{took}, of which '{}' takes bytes 0 to {size} for itself", op.facts.name);
        let planned = attribute(tile_op.raw, super::allocate_memory_addr::PLANNED).is_some();
        let report = if planned { diagnostics::error } else { diagnostics::warning };
        report(tile_op.raw.location(), "PTO-0607", message).note(op.raw.location(), "taken here").emit();
        ok &= !planned;
    }
    ok
}

/// The tiles of an operation's function that have bytes of a range, and what they take in words.
fn tiles_inside<'c, 'a>(op: Op<'c, 'a>, space: Space, base: i64, end: i64) -> Vec<(Op<'c, 'a>, String)> {
    let ops = ir::function_of(op.raw).map(ir::walk).unwrap_or_default();
    let tiles = ops.into_iter().filter_map(Op::of).filter(|o| o.is("alloc_tile"));
    tiles
        .filter_map(|tile_op| {
            let (value, start) = (tile_op.result()?, address(tile_op)?);
            let tile = Tile::of_value(value).filter(|t| t.space == space)?;
            let tile_end = start.saturating_add(tile.footprint_bytes() as i64);
            let took = format!("tile {} takes bytes {start} to {tile_end} of {}", ir::label(value), space.name());
            (start < end && base < tile_end).then_some((tile_op, took))
        })
        .collect()
}
