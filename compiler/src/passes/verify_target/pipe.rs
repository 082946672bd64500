//! Queues between cores and signals between them.

use super::{
    codes::{ATTRIBUTE, ELEMENT, LIMIT},
    subject::Subject,
};
use pto_dialect::{Element, Epilogue};

/// `aic_initialize_pipe`, `aiv_initialize_pipe`: a landing area of its own only where tiles land, conversions that exist.
pub fn initialize_pipe(subject: &mut Subject) {
    let name = subject.device.name.as_str();
    let local = subject.op.int("local_slot_num");
    if let Some(local) = local.filter(|_| !subject.is_a3()) {
        let expected = format_args!("no local_slot_num on {name}: the slots themselves are in local memory");
        subject.require(false, ATTRIBUTE, expected, local);
    }
    let epilogue = subject.op.attr("acc_push_epilogue").and_then(Epilogue::of);
    if let Some(quant) = epilogue.map(|e| e.quant) {
        let exists = !quant.a5_only || !subject.is_a3();
        subject.require(exists, ATTRIBUTE, format_args!("a conversion that {name} has"), quant.case);
    }
}

/// `set_quant_vector`: the fixpipe reads words of 64 bits; on A5 front-ends also give the tile the type of its factors.
pub fn set_quant_vector(subject: &mut Subject) {
    let Some(tile) = subject.tile("scaling_tile") else { return };
    let words = matches!(tile.element, Element::I64 | Element::U64);
    let factors = matches!(tile.element, Element::F16 | Element::BF16 | Element::F32);
    let expected = format_args!("{tile} to hold words of 64 bits on {}", subject.device.name);
    subject.require(words || (factors && !subject.is_a3()), ELEMENT, expected, tile.element.name());
}

/// Pipes that can signal other cores.
const SIGNALS: [&str; 5] = ["PIPE_FIX", "PIPE_MTE1", "PIPE_MTE2", "PIPE_MTE3", "PIPE_V"];

/// `sync.set`, `set_cross_block`, `set_intra_block` and the waits.
pub fn cross_core(subject: &mut Subject) {
    let named = !subject.op.mnemonic().starts_with("sync.");
    if let Some(pipe) = subject.op.enum_text("pipe").filter(|_| named || !subject.is_a3()) {
        subject.require(SIGNALS.contains(&pipe), ATTRIBUTE, format_args!("one of {}", SIGNALS.join(", ")), pipe);
    }
    let last = i64::from(subject.device.sync.cross_core_ids) - 1;
    if let Some(id) = subject.op.int("event_id").filter(|_| subject.is_a3()) {
        let expected = format_args!("an event id of at most {last} on {}", subject.device.name);
        subject.require(id <= last, LIMIT, expected, id);
    }
}
