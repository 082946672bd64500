//! The report for a space that is too small: what is needed, what there is, who takes it.

use super::{
    calls::Calls,
    collect::{Reserved, Roots},
};
use crate::memory::Planner;
use melior::ir::{OperationRef, operation::OperationLike};
use pto_dialect::{Op, Space, Tile, device::Device, diagnostics, edit, op_name};

/// Reports that the tiles of a space do not fit.
pub fn report<'c, 'a>(
    space: Space,
    device: &Device,
    planner: Planner,
    roots: &mut Roots<'c, 'a>,
    reserved: &[Reserved],
    calls: &Calls<'c, 'a>,
) {
    let Some(memory) = device.memory(space) else { return };
    let available = memory.placeable();
    let name = space.name();
    let oversized = roots.list.iter().find(|r| r.space == space && r.addr.is_none() && r.size > available);
    if let Some(tile) = oversized {
        let message = format!(
            "tile {} needs {} bytes; {name} of {} has {available}: it can never fit",
            tile.label(),
            tile.size,
            device.name
        );
        diagnostics::error(tile.op.raw.location(), "PTO-0601", message)
            .help(capacity_note(memory))
            .help("use fewer rows or columns, or a smaller element type")
            .emit();
        return;
    }
    roots.find_lifetimes();
    let all =
        (0..roots.list.len()).filter(|&i| roots.list[i].space == space && roots.list[i].follows.is_none()).collect();
    let (peak, alive) = if planner == Planner::Reuse { peak(space, roots) } else { (None, all) };
    let reservations: u64 = reserved.iter().filter(|r| r.space == space).map(|r| r.size).sum();
    let tiles: u64 = alive.iter().map(|&i| roots.list[i].size).sum();
    let at = peak.and_then(|p| crate::ir::walk(roots.function).get(p).copied());
    let location = at.map_or_else(|| roots.function.location(), |op| op.location());
    let place = at.map_or(String::new(), |op| format!(" at '{}'", op_name(op)));
    let taken =
        if reservations == 0 { String::new() } else { format!(", {reservations} of them for reserved buffers") };
    let needed = tiles + reservations;
    let message = if needed > available {
        format!(
            "{name} of {} overflows: {needed} bytes are needed{place}{taken}, {available} are available",
            device.name
        )
    } else {
        format!(
            "{name} of {} overflows: {needed} bytes are needed{place}{taken}, but the {available} that are available are divided so that no placement was found",
            device.name
        )
    };
    let mut report = diagnostics::error(location, "PTO-0602", message).help(capacity_note(memory));
    for buffer in reserved.iter().filter(|r| r.space == space) {
        report =
            report.note(buffer.op.location(), format!("reserved buffer \"{}\": {} bytes", buffer.name, buffer.size));
    }
    for (call, callee, end) in calls.needs(roots.function, space) {
        report = report.note(call.location(), format!("'{callee}' and what it calls use bytes up to {end}"));
    }
    for &index in &alive {
        let root = &roots.list[index];
        report = report.note(root.op.raw.location(), root.describe());
    }
    report.emit();
}

/// Whether every tile that is left out, because nobody uses it, could exist at all; reports those that could not.
pub fn unused_fit(function: OperationRef, device: &Device) -> bool {
    let mut ok = true;
    for op in crate::ir::walk(function).into_iter().filter_map(Op::of).filter(|op| op.is("alloc_tile")) {
        let Some(value) = op.result().filter(|&v| op.operand("addr").is_none() && edit::is_unused(v)) else { continue };
        let Some(tile) = Tile::of_value(value) else { continue };
        let Some(memory) = device.memory(tile.space).filter(|m| tile.footprint_bytes() > m.capacity) else { continue };
        let message = format!(
            "tile {} needs {} bytes; {} of {} has {}: it can never fit",
            crate::ir::label(value),
            tile.footprint_bytes(),
            tile.space.name(),
            device.name,
            memory.capacity
        );
        diagnostics::error(op.raw.location(), "PTO-0601", message).help(capacity_note(memory)).emit();
        ok = false;
    }
    ok
}

fn capacity_note(memory: &pto_dialect::device::Memory) -> String {
    match &memory.reserve {
        Some(reserve) => format!(
            "{} has {} bytes, of which the top {} are kept free ({}); --reserve={}:0 gives them up",
            memory.memory,
            memory.capacity,
            reserve.bytes,
            reserve.reason,
            memory.space.name()
        ),
        None => {
            format!("{} has {} bytes; -D{}=<bytes> changes that", memory.memory, memory.capacity, memory.size_macro)
        }
    }
}

/// The operation where most bytes are alive, and the tiles that are.
fn peak(space: Space, roots: &Roots) -> (Option<usize>, Vec<usize>) {
    let of_space: Vec<usize> =
        (0..roots.list.len()).filter(|&i| roots.list[i].space == space && roots.list[i].follows.is_none()).collect();
    let alive_at = |p: usize| -> Vec<usize> {
        of_space
            .iter()
            .copied()
            .filter(|&i| roots.list[i].lifetime.start <= p && p <= roots.list[i].lifetime.end)
            .collect()
    };
    let bytes = |alive: &[usize]| -> u64 { alive.iter().map(|&i| roots.list[i].size).sum() };
    let ops = crate::ir::walk(roots.function);
    let mut starts: Vec<usize> =
        of_space.iter().map(|&i| roots.list[i].lifetime.start).filter(|&p| p < ops.len()).collect();
    starts.sort_unstable();
    starts.dedup();
    // A start inside a loop may be the loop itself; the operation that works on tiles is what the author knows.
    let best = starts.into_iter().max_by_key(|&p| (bytes(&alive_at(p)), std::cmp::Reverse(p)));
    let best = best.map(|p| {
        (p..ops.len()).find(|&q| Op::of(ops[q]).is_some() && bytes(&alive_at(q)) == bytes(&alive_at(p))).unwrap_or(p)
    });
    (best, best.map(alive_at).unwrap_or(of_space))
}
