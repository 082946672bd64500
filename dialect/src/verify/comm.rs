//! Communication between cards, asynchronous transfers.

use super::{
    check::{Check, Named, same_scalar},
    codes::{ELEMENT, FORM, IDENTITY, RANK, SHAPE, SPACE, VALUE},
};
use crate::{
    element::Element,
    tile::Space,
    types::{View, ViewKind, pointer},
};
use melior::ir::{Value, ValueLike};

/// `comm.tput`, `comm.tget`: windows of one shape and element type, and staging tiles of that type.
pub fn comm_copy(check: &mut Check) {
    let (Some(dst), Some(src)) = (check.view("dst"), check.view("src")) else { return };
    extents(check, "dst", &dst, true);
    extents(check, "src", &src, true);
    same_element(check, "dst", dst.element, "src", src.element);
    let expected = format_args!("dst of shape {} as src is", shape_text(&src));
    check.require(dst.shape == src.shape, SHAPE, expected, shape_text(&dst));
    staging(check, src.element);
}

/// `comm.tnotify`, `comm.twait`, `comm.ttest`: a signal of 32-bit words with constant extents, and a word.
pub fn comm_signal(check: &mut Check) {
    let Some(signal) = check.view("signal") else { return };
    extents(check, "signal", &signal, false);
    check.require(signal.element == Element::I32, ELEMENT, format_args!("a signal of i32"), signal.element.name());
    if let Some(value) = check.scalar("value") {
        check.require(value == Element::I32, ELEMENT, format_args!("a value of type i32"), value.name());
    }
}

/// The collectives: members of one type, a root among them, staging tiles of their element type.
pub fn comm_group(check: &mut Check) {
    let members = check.op.operands("group");
    let Some(first) = members.first().copied() else {
        check.require(false, FORM, format_args!("at least one member of the group"), "none");
        return;
    };
    let Some(member) = View::of_value(first) else { return };
    extents(check, "group[0]", &member, false);
    for (index, other) in members.iter().enumerate().skip(1) {
        let (wanted, got) = (first.r#type(), other.r#type());
        check.require(got == wanted, IDENTITY, format_args!("group[{index}] of type {wanted} as group[0] is"), got);
    }
    let root = check.op.int("root").unwrap_or(0);
    let expected = format_args!("a root from 0 to {}", members.len() - 1);
    check.require((0..members.len() as i64).contains(&root), VALUE, expected, root);
    let name = if check.has("src") { "src" } else { "dst" };
    let Some(tensor) = check.view(name) else { return };
    extents(check, name, &tensor, false);
    same_element(check, name, tensor.element, "group[0]", member.element);
    if check.op.is("comm.tbroadcast") {
        let expected = format_args!("src of the shape of group[0], {}", shape_text(&member));
        check.require(tensor.shape == member.shape, SHAPE, expected, shape_text(&tensor));
    }
    staging(check, tensor.element);
    if let (Some(acc), Some(ping)) = (check.op.operand("acc"), check.op.operand("ping")) {
        same_type(check, "acc", acc, "ping", ping);
    }
}

/// `comm.build_async_session`: at least one 8-byte word of scratch in vec, bytes in global memory, settings in range.
pub fn build_async_session(check: &mut Check) {
    if let Some(scratch) = check.tile("scratch") {
        in_vec(check, &scratch);
        let bytes = scratch.footprint_bytes();
        check.require(bytes >= 8, SHAPE, format_args!("{scratch} of at least 8 bytes"), format_args!("{bytes} bytes"));
    }
    byte_workspace(check);
    // Lowest and highest value of each setting. Source: the configuration of the library's engine.
    let settings = [
        ("sync_id", 0, 7),
        ("block_bytes", 1, i64::MAX),
        ("comm_block_offset", 0, i64::MAX),
        ("queue_num", 1, i64::MAX),
        ("channel_group_idx", 0, i64::from(u32::MAX)),
    ];
    for (name, lowest, highest) in settings {
        let Some(value) = check.op.int(name) else { continue };
        let holds = (lowest..=highest).contains(&value);
        match highest {
            i64::MAX => check.require(holds, VALUE, format_args!("{name} of at least {lowest}"), value),
            _ => check.require(holds, VALUE, format_args!("{name} from {lowest} to {highest}"), value),
        };
    }
}

/// A workspace of bytes in global memory.
pub fn byte_workspace(check: &mut Check) {
    let Some((element, space)) = check.op.operand("workspace").and_then(|w| pointer(w.r#type())) else { return };
    let expected = format_args!("a workspace of 8-bit integers");
    check.require(element.is_integer() && element.bytes() == 1, ELEMENT, expected, element.name());
    check.require(space == Space::Gm, SPACE, format_args!("a workspace in gm"), space.name());
}

/// `comm.tput_async`, `comm.tget_async`, `tprefetch_async`: flat tensors of constant size.
pub fn async_copy(check: &mut Check) {
    let Some(src) = check.view("src") else { return };
    flat(check, "src", &src);
    let Some(dst) = check.view("dst") else { return };
    flat(check, "dst", &dst);
    same_element(check, "dst", dst.element, "src", src.element);
    let expected = format_args!("dst of shape {} as src is", shape_text(&src));
    check.require(dst.shape == src.shape, SHAPE, expected, shape_text(&dst));
}

fn flat(check: &mut Check, name: &str, view: &View) {
    let known = view.shape.iter().all(Option::is_some);
    check.require(known, SHAPE, format_args!("{name} of constant extents"), shape_text(view));
    let outer = &view.shape[..view.shape.len().saturating_sub(1)];
    let line = outer.iter().all(|e| e.is_none_or(|e| e == 1));
    check.require(line, RANK, format_args!("{name} with extents of 1 before the last"), shape_text(view));
}

/// Extents above zero; ones known only at run time where they may be.
fn extents(check: &mut Check, name: &str, view: &View, may_be_open: bool) {
    let may_be_open = may_be_open && view.kind == ViewKind::Partition;
    for (dim, extent) in view.shape.iter().enumerate() {
        match extent {
            Some(extent) => {
                check.require(*extent > 0, SHAPE, format_args!("extent {dim} of {name} above 0"), extent);
            }
            None => {
                check.require(may_be_open, SHAPE, format_args!("a constant extent {dim} of {name}"), "?");
            }
        }
    }
}

fn same_element(check: &mut Check, name: &str, element: Element, other: &str, wanted: Element) {
    let expected = format_args!("{name} of {} as {other} is", wanted.name());
    check.require(element == wanted, ELEMENT, expected, element.name());
}

fn same_type(check: &mut Check, name: &str, value: Value, other: &str, wanted: Value) {
    let (got, wanted) = (value.r#type(), wanted.r#type());
    check.require(got == wanted, IDENTITY, format_args!("{name} of type {wanted} as {other} is"), got);
}

/// Staging tiles in vec, of one type, of the tensors' elements.
fn staging(check: &mut Check, element: Element) {
    let Some(ping) = check.tile("ping") else { return };
    in_vec(check, &ping);
    let expected = format_args!("{ping} of {} as the tensors are", element.name());
    check.require(same_scalar(ping.element, element), ELEMENT, expected, ping.element.name());
    if let Some(pong) = check.op.operand("pong") {
        same_type(check, "pong", pong, "ping", ping.value);
    }
}

fn in_vec(check: &mut Check, tile: &Named) {
    check.require(tile.space == Space::Vec, SPACE, format_args!("{tile} in vec"), tile.space.name());
}

fn shape_text(view: &View) -> String {
    let extents: Vec<String> = view.shape.iter().map(|e| e.map_or("?".to_owned(), |e| e.to_string())).collect();
    extents.join("x")
}
