//! Flags, barriers, tokens and signals between cores.

use super::{
    check::Check,
    codes::{BOUNDS, ELEMENT, FORM, SHAPE, SPACE, VALUE},
};
use crate::{
    element::Element,
    pipes::SYNCALL_ELEMENTS,
    tile::Space,
    types::{View, event_id_array_size, pointer},
};
use melior::ir::ValueLike;

/// `set_flag`, `wait_flag` and their dynamic forms: pipes that exist.
pub fn flag(check: &mut Check) {
    for attribute in ["src_pipe", "dst_pipe"] {
        hardware_pipe(check, attribute, format_args!("one hardware pipe as {attribute}"));
    }
    event(check, "event_id");
}

/// A pipe that instructions run on; an attribute of another kind (an operation's) says nothing here.
fn hardware_pipe(check: &mut Check, attribute: &str, expected: std::fmt::Arguments) {
    if let Some(pipe) = check.op.enum_text(attribute) {
        let concrete = !matches!(pipe, "PIPE_NUM" | "PIPE_UNASSIGNED" | "PIPE_ALL");
        check.require(concrete, VALUE, expected, pipe);
    }
}

/// An event that a pair of pipes has, where it is a constant.
fn event(check: &mut Check, operand: &'static str) {
    if let Some(event) = check.constant(operand) {
        check.require((0..8).contains(&event), VALUE, format_args!("an event from 0 to 7"), event);
    }
}

/// `eventid_array_get`, `eventid_array_set`: a place in the array, and an event that exists.
pub fn eventid_array(check: &mut Check) {
    let Some(size) = check.op.operand("array").and_then(|array| event_id_array_size(array.r#type())) else { return };
    if let Some(index) = check.constant("index") {
        check.require((0..size).contains(&index), BOUNDS, format_args!("an index below {size}"), index);
    }
    event(check, "value");
}

/// Tokens that a core has (source: PTO-IR manual, get_buf).
const BUFS: i64 = 32;

/// `get_buf`, `rls_buf` and their dynamic forms: one pipe and a token that exist.
pub fn buf(check: &mut Check) {
    hardware_pipe(check, "op_type", format_args!("one hardware pipe"));
    if let Some(id) = check.op.int("buf_id").or_else(|| check.constant("buf_id")) {
        check.require((0..BUFS).contains(&id), VALUE, format_args!("a buf_id from 0 to {}", BUFS - 1), id);
    }
    let mode = check.op.int("mode").unwrap_or(0);
    check.require(mode >= 0, VALUE, format_args!("a mode of at least 0"), mode);
}

/// `sync.set`, `sync.wait`, `set_cross_block`, `set_intra_block`, ...: one number in one of two forms. The largest number
/// and the pipes that may signal depend on the target.
pub fn cross_core(check: &mut Check) {
    let forms = usize::from(check.has("event_id_dyn")) + usize::from(check.op.int("event_id").is_some());
    check.require(forms == 1, FORM, format_args!("one event id, as a number or as a value"), forms);
    if let Some(id) = check.op.int("event_id").or_else(|| check.constant("event_id_dyn")) {
        let last = if check.op.mnemonic().ends_with("intra_block") { 31 } else { 15 };
        check.require((0..=last).contains(&id), VALUE, format_args!("an event id from 0 to {last}"), id);
    }
    if let Some(mode) = check.op.int("ffts_mode") {
        let last = if check.op.is("set_cross_block") { 0 } else { 2 };
        check.require((0..=last).contains(&mode), VALUE, format_args!("an ffts_mode from 0 to {last}"), mode);
    }
    hardware_pipe(check, "pipe", format_args!("one hardware pipe"));
}

/// `syncall`: a workspace in global memory exactly where software counts the cores.
pub fn syncall(check: &mut Check) {
    let workspace = check.op.operand("gm_workspace");
    if check.op.enum_text("mode") != Some("soft") {
        let none = workspace.is_none() && !check.has("used_cores");
        check.require(none, FORM, format_args!("no operands in mode hard"), "some");
        return;
    }
    let expected = format_args!("a workspace in global memory in mode soft");
    if !check.require(workspace.is_some(), FORM, expected, "none") {
        return;
    }
    let Some(ty) = workspace.map(|value| value.r#type()) else { return };
    let (element, space, elements) = match (pointer(ty), View::of(ty)) {
        (Some((element, space)), _) => (element, space, None),
        (None, Some(view)) => {
            let elements = view.shape.iter().copied().try_fold(1i64, |all, extent| all.checked_mul(extent?));
            (view.element, Space::Gm, elements)
        }
        (None, None) => {
            check.require(false, FORM, format_args!("a pointer or a tensor view as workspace"), ty);
            return;
        }
    };
    check.require(space == Space::Gm, SPACE, format_args!("a workspace in gm"), space.name());
    check.require(element == Element::I32, ELEMENT, format_args!("a workspace of i32"), element.name());
    if let Some(elements) = elements {
        let expected = format_args!("a workspace of at least {} bytes", 4 * SYNCALL_ELEMENTS);
        check.require(elements >= SYNCALL_ELEMENTS, SHAPE, expected, format_args!("{} bytes", 4 * elements));
    }
}
