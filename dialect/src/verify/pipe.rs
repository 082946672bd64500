//! Queues between cores, the buffers behind them, and flags.

use super::{
    check::Check,
    codes::{FORM, SPACE, VALUE},
};

/// Direction bits of `dir_mask`, each with the operand that its consumer needs.
const DIRECTIONS: [(i64, &str, &str); 2] =
    [(1, "c2v_consumer_buf", "cube to vector"), (2, "v2c_consumer_buf", "vector to cube")];

/// `reserve_buffer`: some bytes of vec or mat, with an address exactly when the compiler is not to choose it.
pub fn reserve_buffer(check: &mut Check) {
    let size = check.op.int("size").unwrap_or(0);
    check.require(size > 0, VALUE, format_args!("a size above 0 bytes"), format_args!("{size} bytes"));
    if let Some(space) = check.op.enum_text("space") {
        check.require(matches!(space, "vec" | "mat"), SPACE, format_args!("location vec or mat"), space);
    }
    match (check.op.bool("autoAlloc"), check.op.int("base")) {
        (Some(true), Some(_)) => {
            check.require(false, FORM, format_args!("no base with auto = true"), "one");
        }
        (Some(false), None) => {
            check.require(false, FORM, format_args!("a base with auto = false"), "none");
        }
        (_, Some(base)) => {
            check.require(base >= 0, VALUE, format_args!("a base of at least 0 bytes"), base);
        }
        _ => {}
    }
}

/// `aic_initialize_pipe`, `aiv_initialize_pipe`: slots, and a consumer buffer for each direction unless the
/// slots are a tensor in global memory.
pub fn initialize_pipe(check: &mut Check) {
    let mask = check.op.int("dir_mask").unwrap_or(0);
    check.require((1..=3).contains(&mask), VALUE, format_args!("dir_mask 1, 2 or 3"), mask);
    for (attribute, unit) in [("slot_size", " bytes"), ("slot_num", ""), ("local_slot_num", "")] {
        if let Some(value) = check.op.int(attribute) {
            check.require(value > 0, VALUE, format_args!("{attribute} above 0{unit}"), value);
        }
    }
    let id = check.op.int("id").unwrap_or(0);
    check.require(id >= 0, VALUE, format_args!("an id of at least 0"), id);
    let in_global = check.has("gm_slot_tensor");
    for (bit, operand, direction) in DIRECTIONS {
        let given = check.has(operand) || in_global;
        check.require(mask & bit == 0 || given, FORM, format_args!("{operand} for the direction {direction}"), "none");
    }
}

/// `set_flag`, `wait_flag` and their dynamic forms: pipes that exist.
pub fn flag(check: &mut Check) {
    for attribute in ["src_pipe", "dst_pipe"] {
        let Some(pipe) = check.op.enum_text(attribute) else { continue };
        let concrete = !matches!(pipe, "PIPE_NUM" | "PIPE_UNASSIGNED" | "PIPE_ALL");
        check.require(concrete, VALUE, format_args!("one hardware pipe as {attribute}"), pipe);
    }
    if let Some(event) = check.constant("event_id") {
        check.require((0..8).contains(&event), VALUE, format_args!("an event from 0 to 7"), event);
    }
}
