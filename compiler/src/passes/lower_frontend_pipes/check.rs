//! What the front-end's queue operations of one function must agree on.

use crate::ir;
use melior::ir::{OperationRef, Value, operation::OperationLike};
use pto_dialect::{
    Epilogue, Op, Scale, Space, Tile, View,
    device::{Device, Legality},
    diagnostics,
};
use std::collections::BTreeMap;

/// The initialisations of a function by id.
type Ends<'c, 'a> = BTreeMap<i64, Op<'c, 'a>>;

/// Whether an operation moves an entry, by its name.
pub fn is_transfer(mnemonic: &str) -> bool {
    ["tpush_to_", "tpop_from_", "tfree_from_", "talloc_to_"].iter().any(|prefix| mnemonic.starts_with(prefix))
}

/// Whether an operation initialises the end of a queue.
pub fn is_end(op: Op) -> bool {
    op.is("aic_initialize_pipe") || op.is("aiv_initialize_pipe")
}

fn error(op: Op, code: &str, what: &str) -> bool {
    diagnostics::error(op.raw.location(), code, format!("'{}' op {what}", op.facts.name)).emit();
    false
}

/// Checks a function; whether it is right.
pub fn function(function: OperationRef, device: &Device) -> bool {
    let ops: Vec<Op> = ir::walk(function).into_iter().filter_map(Op::of).collect();
    let mut ends = Ends::new();
    let mut seen = Vec::new();
    let mut ok = true;
    for op in ops {
        if is_end(op) {
            ok &= end(op, &mut ends);
        } else if is_transfer(op.mnemonic()) {
            ok &= transfer(op, &ends, device) && through_epilogue(op, &ends, &seen);
        } else if matches!(op.mnemonic(), "set_quant_scalar" | "set_quant_vector") {
            ok &= factors(op, &ends);
            seen.push(op);
        }
    }
    ok
}

fn end<'c, 'a>(op: Op<'c, 'a>, ends: &mut Ends<'c, 'a>) -> bool {
    let id = op.int("id").unwrap_or(0);
    if let Some(other) = ends.values().find(|other| other.mnemonic() != op.mnemonic()) {
        let message =
            format!("'{}' op stands in a function that has the other core's end of a queue too", op.facts.name);
        diagnostics::error(op.raw.location(), "PTO-0401", message).note(other.raw.location(), "the other end").emit();
        return false;
    }
    if ends.insert(id, op).is_some() {
        return error(op, "PTO-0401", &format!("initializes queue {id}, which the function has already"));
    }
    let mask = op.int("dir_mask").unwrap_or(0);
    let needs = [(1, "c2v_consumer_buf"), (2, "v2c_consumer_buf")];
    let lacks = needs.iter().any(|&(bit, name)| mask & bit != 0 && op.operand(name).is_none());
    if lacks && op.operand("gm_slot_tensor").is_none() {
        return error(op, "PTO-0402", "expected the consumer buffer of its direction");
    }
    true
}

/// The queue of an id, initialised where control comes by before.
fn queue_of<'c, 'a>(op: Op<'c, 'a>, ends: &Ends<'c, 'a>) -> Option<Op<'c, 'a>> {
    let id = op.int("id").unwrap_or(0);
    let initialize = match op.mnemonic() {
        "tpush_to_aiv" | "tpop_from_aiv" | "tfree_from_aiv" | "talloc_to_aiv" | "set_quant_scalar"
        | "set_quant_vector" => "pto.aic_initialize_pipe",
        _ => "pto.aiv_initialize_pipe",
    };
    let found = ends.get(&id).copied().filter(|end| end.facts.name == initialize && ir::in_block_of(op.raw, end.raw));
    if found.is_none() {
        error(
            op,
            "PTO-0403",
            &format!("uses queue {id}, but the function has no {initialize} with id = {id} before it"),
        );
    }
    found
}

fn entry<'c, 'a>(op: Op<'c, 'a>) -> Option<Value<'c, 'a>> {
    op.operand("tile").or_else(|| op.operand("entry")).or_else(|| op.result())
}

fn transfer<'c, 'a>(op: Op<'c, 'a>, ends: &Ends<'c, 'a>, device: &Device) -> bool {
    let id = op.int("id").unwrap_or(0);
    let Some(end) = queue_of(op, ends) else { return false };
    let (needed, direction, buffer) = match op.mnemonic() {
        "tpush_to_aiv" | "tpop_from_aic" | "tfree_from_aic" | "talloc_to_aiv" => {
            (1, "cube to vector", "c2v_consumer_buf")
        }
        _ => (2, "vector to cube", "v2c_consumer_buf"),
    };
    let mask = end.int("dir_mask").unwrap_or(0);
    if mask & needed == 0 {
        let what = format!("expected queue {id} to go from {direction}, found dir_mask = {mask}");
        return error(op, "PTO-0404", &what);
    }
    let Some(entry) = entry(op) else { return true };
    if let Some(view) = View::of_value(entry) {
        return slots(op, end, &view);
    }
    if op.mnemonic().starts_with("tpop") && end.operand(buffer).is_none() {
        return error(op, "PTO-0402", &format!("expected queue {id} to have {buffer}, where the tile lands"));
    }
    odd_split(op, end, device)
}

/// Odd halves are only made on the way from cube to vector through global memory.
fn odd_split(op: Op, end: Op, device: &Device) -> bool {
    let split = op.int("split").unwrap_or(0);
    let buffer = device.legality == Legality::A3 && end.operand("gm_slot_buffer").is_some();
    let through_gm = buffer || end.operand("gm_slot_tensor").is_some();
    let fits = end.int("dir_mask") == Some(1) && through_gm && end.operand("c2v_consumer_buf").is_some();
    if split < 3 || fits {
        return true;
    }
    let what = "expected split 0, 1 or 2 unless the queue goes from cube to vector only, through global memory, into \
                c2v_consumer_buf";
    error(op, "PTO-0414", &format!("{what}; found {split}"))
}

/// An entry in global memory is a slot of the queue's tensor.
fn slots(op: Op, end: Op, entry: &View) -> bool {
    let id = op.int("id").unwrap_or(0);
    let Some(tensor) = end.operand("gm_slot_tensor").and_then(View::of_value) else {
        return error(
            op,
            "PTO-0414",
            &format!("expected queue {id} to have gm_slot_tensor, since the entry is a tensor view"),
        );
    };
    let differ = |(a, b): (&Option<i64>, &Option<i64>)| a.zip(*b).is_some_and(|(a, b)| a != b);
    let same = tensor.element == entry.element
        && tensor.shape.len() == entry.shape.len()
        && !tensor.shape.iter().zip(&entry.shape).any(differ);
    let show = |view: &View| {
        let extents: String = view.shape.iter().map(|e| e.map_or("?x".to_owned(), |e| format!("{e}x"))).collect();
        format!("{extents}{}", view.element.name())
    };
    let what = format!("expected an entry of {} as the slots of queue {id} are, found {}", show(&tensor), show(entry));
    same || error(op, "PTO-0414", &what)
}

/// Pushes, pops and frees of a queue with an epilogue move whole tiles; a push that scales has its factors before it, in
/// the same block.
fn through_epilogue<'c, 'a>(op: Op<'c, 'a>, ends: &Ends<'c, 'a>, seen: &[Op<'c, 'a>]) -> bool {
    let id = op.int("id").unwrap_or(0);
    let end = ends.get(&id);
    let Some(epilogue) = end.and_then(|end| end.attr("acc_push_epilogue")).and_then(Epilogue::of) else { return true };
    if op.int("split") != Some(0) {
        return error(op, "PTO-0415", &format!("expected split = 0, since queue {id} has acc_push_epilogue"));
    }
    let Some(entry) = entry(op) else { return true };
    if op.mnemonic().starts_with("tpop") && Tile::of_value(entry).is_none() {
        return error(op, "PTO-0415", &format!("expected a tile, since queue {id} has acc_push_epilogue"));
    }
    if op.is("tpush_to_aiv") { push(op, &epilogue, entry, seen) } else { true }
}

fn push(op: Op, epilogue: &Epilogue, tile: Value, seen: &[Op]) -> bool {
    let (id, quant) = (op.int("id").unwrap_or(0), epilogue.quant);
    let Some(acc) = Tile::of_value(tile).filter(|tile| tile.space == Space::Acc) else {
        let what = format!("expected {} to be a tile in acc, since queue {id} has acc_push_epilogue", ir::label(tile));
        return error(op, "PTO-0415", &what);
    };
    if !quant.from.contains(&acc.element) {
        let names: Vec<&str> = quant.from.iter().map(|e| e.name()).collect();
        let (tile, wanted) = (ir::label(tile), names.join(" or "));
        let what = format!("expected {tile} to hold {wanted} for {}, found {}", quant.case, acc.element.name());
        return error(op, "PTO-0415", &what);
    }
    let setter = match quant.scale {
        Scale::None => return true,
        Scale::Scalar => "set_quant_scalar",
        Scale::Vector => "set_quant_vector",
    };
    let same_block = |other: &Op| other.raw.block() == op.raw.block();
    let given = seen.iter().any(|other| other.is(setter) && other.int("id").unwrap_or(0) == id && same_block(other));
    given || error(op, "PTO-0415", &format!("expected pto.{setter} with id = {id} before it in its block"))
}

/// `set_quant_*`: its queue scales, and in that way.
fn factors<'c, 'a>(op: Op<'c, 'a>, ends: &Ends<'c, 'a>) -> bool {
    let id = op.int("id").unwrap_or(0);
    let Some(end) = queue_of(op, ends) else { return false };
    let Some(epilogue) = end.attr("acc_push_epilogue").and_then(Epilogue::of) else {
        return error(op, "PTO-0415", &format!("expected queue {id} to have acc_push_epilogue"));
    };
    let wanted = if op.is("set_quant_scalar") { Scale::Scalar } else { Scale::Vector };
    let what = format!("does not fit queue {id}: {} takes other factors, or none", epilogue.quant.case);
    epilogue.quant.scale == wanted || error(op, "PTO-0415", &what)
}
