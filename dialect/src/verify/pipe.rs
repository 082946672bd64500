//! Queues between cores and the buffers behind them. What needs other operations (the queue of an id, the other end of a
//! queue) is checked by `pto-lower-frontend-pipes` and `pto-resolve-reserved-buffers`.

use super::{
    check::{Check, Extent, Named, may_equal},
    codes::{ELEMENT, FORM, RANK, SHAPE, SPACE, VALID, VALUE},
};
use crate::{
    element::Element,
    epilogue::{Epilogue, Scale},
    op::Op,
    tile::{Space, Tile},
    types::View,
};
use melior::ir::operation::OperationLike;

/// Flags that one core has for queues (PTO-ISA: FlagID of TPipe is below 16); a direction takes two.
const FLAGS: i64 = 16;

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

/// `aic_initialize_pipe`, `aiv_initialize_pipe`: slots; a consumer buffer for each direction unless the slots are a tensor
/// in global memory that its users address themselves.
pub fn initialize_pipe(check: &mut Check) {
    let mask = check.op.int("dir_mask").unwrap_or(0);
    check.require((1..=3).contains(&mask), VALUE, format_args!("dir_mask 1, 2 or 3"), mask);
    let slot_num = check.op.int("slot_num").unwrap_or(if mask == 3 { 4 } else { 8 });
    slots(check, slot_num);
    let id = check.op.int("id").unwrap_or(0);
    check.require(id >= 0, VALUE, format_args!("an id of at least 0"), id);
    let tensor = check.view("gm_slot_tensor");
    let consumers = DIRECTIONS.iter().filter(|(_, operand, _)| check.has(operand)).count();
    if let Some(tensor) = &tensor {
        let one = !check.has("gm_slot_buffer");
        check.require(one, FORM, format_args!("gm_slot_buffer or gm_slot_tensor"), "both");
        slot_tensor(check, tensor);
        if consumers == 0 {
            let none = check.op.int("local_slot_num").is_none();
            check.require(none, FORM, format_args!("no local_slot_num without a consumer buffer"), "one");
        } else {
            let c2v = mask == 1 && consumers == 1;
            let expected = format_args!("gm_slot_tensor alone, or dir_mask = 1 and c2v_consumer_buf with it");
            check.require(c2v, FORM, expected, format_args!("dir_mask = {mask}"));
        }
    }
    let addressed = tensor.is_some() && consumers == 0;
    for (bit, operand, direction) in DIRECTIONS {
        let given = check.has(operand) || addressed;
        check.require(mask & bit == 0 || given, FORM, format_args!("{operand} for the direction {direction}"), "none");
    }
    if check.op.attr("acc_push_epilogue").is_some() {
        epilogue(check, mask);
    }
}

/// Sizes and counts above 0, and no more slots in local memory than there are.
fn slots(check: &mut Check, slot_num: i64) {
    for (attribute, unit) in [("slot_size", " bytes"), ("slot_num", ""), ("local_slot_num", "")] {
        if let Some(value) = check.op.int(attribute) {
            check.require(value > 0, VALUE, format_args!("{attribute} above 0{unit}"), value);
        }
    }
    if let Some(local) = check.op.int("local_slot_num") {
        check.require(local <= slot_num, VALUE, format_args!("local_slot_num of at most slot_num = {slot_num}"), local);
    }
}

/// Bytes of a tensor whose extents are known.
fn tensor_bytes(view: &View) -> Option<i64> {
    let elements = view.shape.iter().copied().try_fold(1i64, |all, extent| all.checked_mul(extent?))?;
    elements.checked_mul(i64::try_from(view.element.bytes()).ok()?)
}

/// A slot is the tensor, or the two halves that it is one of.
fn slot_tensor(check: &mut Check, tensor: &View) {
    let (Some(bytes), Some(slot)) = (tensor_bytes(tensor), check.op.int("slot_size")) else { return };
    let fits = bytes == slot || 2 * bytes == slot;
    let expected = format_args!("slot_size of {bytes} bytes as gm_slot_tensor has, or twice as much");
    check.require(fits, SHAPE, expected, format_args!("{slot} bytes"));
}

/// An epilogue runs while the cube core pushes whole tiles into a buffer that the other end can be found by.
fn epilogue(check: &mut Check, mask: i64) {
    check.require(mask == 1, VALUE, format_args!("dir_mask = 1 with acc_push_epilogue"), mask);
    let nosplit = check.op.bool("nosplit") == Some(true);
    check.require(nosplit, FORM, format_args!("nosplit = true with acc_push_epilogue"), "none");
    let Some(buffer) = check.op.operand("c2v_consumer_buf") else { return };
    let known = Op::defining(buffer).is_some_and(|d| d.is("reserve_buffer") || d.is("import_reserved_buffer"));
    let expected =
        format_args!("c2v_consumer_buf from reserve_buffer or import_reserved_buffer with acc_push_epilogue");
    check.require(known, FORM, expected, "another value");
}

/// `initialize_l2l_pipe`, `initialize_l2g2l_pipe`.
pub fn pipe_shape(check: &mut Check) {
    let mask = check.op.int("dir_mask").unwrap_or(0);
    check.require((1..=3).contains(&mask), VALUE, format_args!("dir_mask 1, 2 or 3"), mask);
    let slot_num = check.op.int("slot_num").unwrap_or(0);
    slots(check, slot_num);
    if let Some(base) = check.op.int("flag_base") {
        let width = if mask == 3 { 4 } else { 2 };
        let fits = base >= 0 && base + width <= FLAGS;
        check.require(fits, VALUE, format_args!("a flag_base from 0 to {}", FLAGS - width), base);
    }
    let (local, peer) = (check.has("local_addr"), check.has("peer_local_addr"));
    if local {
        let text = if peer { "one" } else { "none" };
        let expected = format_args!("peer_local_addr exactly when dir_mask is 3 (here {mask})");
        check.require(peer == (mask == 3), FORM, expected, text);
    } else {
        check.require(!peer, FORM, format_args!("local_addr beside peer_local_addr"), "none");
        let none = check.op.int("local_slot_num").is_none();
        check.require(none, FORM, format_args!("no local_slot_num without local_addr"), "one");
    }
}

/// Attributes that the definition does not have, on operations whose grammar takes a dictionary: a setting that nothing
/// reads is a mistake.
pub fn stated_attributes(check: &mut Check) {
    let unknown: Vec<String> = check
        .op
        .raw
        .attributes()
        .map(|(name, _)| name.as_string_ref().as_str().unwrap_or_default().to_owned())
        .filter(|name| name != "operandSegmentSizes" && !name.contains('.'))
        .filter(|name| !check.op.facts.attributes.contains(&name.as_str()))
        .collect();
    for name in unknown {
        check.require(false, FORM, format_args!("no attribute besides its own"), format_args!("'{name}'"));
    }
}

/// What travels: the operand or the result.
fn entry<'c, 'a>(op: Op<'c, 'a>) -> Option<melior::ir::Value<'c, 'a>> {
    op.operand("tile").or_else(|| op.operand("entry")).or_else(|| op.result())
}

/// Whether the operation sends from the vector cores to the cube core, by its name.
fn is_to_cube(op: Op) -> bool {
    matches!(op.mnemonic(), "tpush_to_aic" | "tpop_from_aiv" | "tfree_from_aiv" | "talloc_to_aic")
}

/// Push, pop, free and alloc: how a slot is divided between the two vector cores.
pub fn transfer(check: &mut Check) {
    let split = check.op.int("split").unwrap_or(0);
    if !check.require((0..=4).contains(&split), VALUE, format_args!("split from 0 to 4"), split) {
        return;
    }
    let id = check.op.int("id").unwrap_or(0);
    check.require(id >= 0, VALUE, format_args!("an id of at least 0"), id);
    let entry = entry(check.op);
    let is_view = entry.and_then(View::of_value).is_some();
    let odd = split >= 3;
    if odd {
        let why = "split 0, 1 or 2 where the entry is a tensor view: its odd halves have no address";
        check.require(!is_view, VALUE, format_args!("{why}"), split);
        let to_vector = !is_to_cube(check.op);
        check.require(to_vector, VALUE, format_args!("split 0, 1 or 2 from vector to cube"), split);
    }
    if check.has("aiv_subblockid") {
        check.require(split != 0, FORM, format_args!("aiv_subblockid only with split 1 to 4"), "split = 0");
        let space = entry.and_then(Tile::of_value).map(|tile| tile.space);
        let got = space.map_or("a tensor view", Space::name);
        check.require(space == Some(Space::Vec), SPACE, format_args!("aiv_subblockid only with a tile in vec"), got);
    }
    if check.op.is("tpush_to_aiv") || check.op.is("tpush") {
        parity(check, split, entry);
    }
}

/// Two equal halves, or halves that differ by one row or column: the type decides where it says the extent.
fn parity(check: &mut Check, split: i64, entry: Option<melior::ir::Value>) {
    let rows = split == 1 || split == 3;
    let tile = entry.and_then(Tile::of_value).filter(|tile| tile.space != Space::Vec);
    let view = entry.and_then(View::of_value).filter(|view| view.shape.len() == 2);
    let extent = match (tile, view) {
        (Some(tile), _) if rows => tile.valid_rows,
        (Some(tile), _) => tile.valid_cols,
        (None, Some(view)) => view.shape[usize::from(!rows)],
        (None, None) => None,
    };
    let (Some(extent), false) = (extent, split == 0) else { return };
    let odd = split >= 3;
    let (kind, axis) = (if odd { "odd" } else { "even" }, if rows { "rows" } else { "columns" });
    let holds = (extent % 2 != 0) == odd;
    check.require(holds, VALID, format_args!("an {kind} number of valid {axis} for split = {split}"), extent);
}

/// `tpop_from_*`: extents that the pop states are those that the type leaves open.
pub fn pop_from(check: &mut Check) {
    let given = [check.has("valid_row"), check.has("valid_col")];
    let result = check.op.result();
    let tile = result.and_then(Tile::of_value);
    check.require(given[0] == given[1], FORM, format_args!("valid rows and valid columns, or neither"), "one of them");
    if given[0] {
        let open = tile.is_some_and(|t| t.valid_rows.is_none() || t.valid_cols.is_none());
        let expected = format_args!("a tile with open valid extents (valid=?x?) where the pop states them");
        let got = if tile.is_some() { "constant ones" } else { "a tensor view" };
        check.require(open, VALID, expected, got);
    } else if check.op.int("split").unwrap_or(0) >= 3 && tile.is_some() {
        let expected = format_args!("valid rows and columns: the halves of an odd split differ");
        check.require(false, FORM, expected, "none");
    }
}

/// Operations on a queue's handle: it comes from an initialisation in sight, which fits the entry.
pub fn handle(check: &mut Check) {
    let pipe = check.op.operand("pipe_handle").and_then(Op::defining);
    let pipe = pipe.filter(|d| d.is("initialize_l2l_pipe") || d.is("initialize_l2g2l_pipe"));
    let expected = format_args!("a queue from initialize_l2l_pipe or initialize_l2g2l_pipe");
    if !check.require(pipe.is_some(), FORM, expected, "another value") {
        return;
    }
    let Some(pipe) = pipe else { return };
    let split = check.op.int("split").unwrap_or(0);
    if split >= 3 {
        let fits =
            pipe.is("initialize_l2g2l_pipe") && pipe.int("dir_mask") == Some(1) && pipe.operand("local_addr").is_some();
        let expected = format_args!("split 0, 1 or 2 unless the queue goes from cube to vector through global memory");
        check.require(fits, VALUE, expected, split);
    }
    if let Some(view) = entry(check.op).and_then(View::of_value) {
        view_entry(check, pipe, &view, split);
    }
}

/// A tensor view as entry is one slot of a queue in global memory that has no local buffers.
fn view_entry(check: &mut Check, pipe: Op, entry: &View, split: i64) {
    let expected = format_args!("a queue whose slots are a tensor, without local buffers, for a tensor view");
    let slots = pipe.operand("gm_addr").and_then(View::of_value).filter(|_| pipe.operand("local_addr").is_none());
    if !check.require(slots.is_some(), FORM, expected, "another queue") {
        return;
    }
    if let Some(slots) = slots {
        same_slot(check, &slots, entry);
    }
    let (Some(bytes), Some(slot)) = (tensor_bytes(entry), pipe.int("slot_size")) else { return };
    let fits = bytes == slot || (split != 0 && 2 * bytes == slot);
    let expected = format_args!("an entry of {slot} bytes as slot_size says, or half of it where it is split");
    check.require(fits, SHAPE, expected, format_args!("{bytes} bytes"));
}

/// An entry has the element type and the extents of the slots' tensor.
fn same_slot(check: &mut Check, slots: &View, entry: &View) {
    let same = slots.element == entry.element;
    check.require(
        same,
        ELEMENT,
        format_args!("elements of {} as the slots have", slots.element.name()),
        entry.element.name(),
    );
    let rank = slots.shape.len();
    if !check.require(
        rank == entry.shape.len(),
        RANK,
        format_args!("{rank} dimensions as the slots have"),
        entry.shape.len(),
    ) {
        return;
    }
    for (index, (&slot, &extent)) in slots.shape.iter().zip(&entry.shape).enumerate() {
        let expected = format_args!("{} in dimension {index} as the slots have", Extent(slot));
        check.require(may_equal(slot, extent), SHAPE, expected, Extent(extent));
    }
}

/// `set_quant_vector`: a tile that the fixpipe reads its factors from.
pub fn set_quant_vector(check: &mut Check) {
    scaling_tile(check, "scaling_tile");
}

fn scaling_tile(check: &mut Check, operand: &'static str) {
    if let Some(tile) = check.tile(operand) {
        check.require(tile.space == Space::Scaling, SPACE, format_args!("{tile} in scaling"), tile.space.name());
    }
}

/// `tpush_quant`: the factors that the queue's epilogue takes, and what it makes of the accumulator.
pub fn tpush_quant(check: &mut Check) {
    scaling_tile(check, "scaling_tile");
    let pipe = check.op.operand("pipe_handle").and_then(Op::defining);
    let epilogue = pipe.and_then(|d| d.attr("acc_push_epilogue")).and_then(Epilogue::of);
    let expected = format_args!("a queue with acc_push_epilogue");
    if !check.require(epilogue.is_some(), FORM, expected, "another one") {
        return;
    }
    let (Some(epilogue), Some(tile)) = (epilogue, check.tile("tile")) else { return };
    let given = match (check.has("scale"), check.has("scaling_tile")) {
        (false, false) => Scale::None,
        (true, false) => Scale::Scalar,
        _ => Scale::Vector,
    };
    let wanted = epilogue.quant.scale;
    check.require(given == wanted, FORM, format_args!("{} as factors", scale_text(wanted)), scale_text(given));
    from_acc(check, &epilogue, &tile);
}

fn scale_text(scale: Scale) -> &'static str {
    match scale {
        Scale::None => "nothing",
        Scale::Scalar => "a scale",
        Scale::Vector => "a scaling tile",
    }
}

/// An accumulator that the conversion takes.
fn from_acc(check: &mut Check, epilogue: &Epilogue, tile: &Named) {
    check.require(tile.space == Space::Acc, SPACE, format_args!("{tile} in acc"), tile.space.name());
    let names: Vec<&str> = epilogue.quant.from.iter().map(|e: &Element| e.name()).collect();
    let expected = format_args!("{tile} to hold {} for {}", names.join(" or "), epilogue.quant.case);
    check.require(epilogue.quant.from.contains(&tile.element), ELEMENT, expected, tile.element.name());
}

/// `declare_global`: strides for all dimensions, and extents that are known: nothing else could set them.
pub fn declare_global(check: &mut Check) {
    let Some(view) = check.op.result().and_then(View::of_value) else { return };
    let open = view.shape.iter().any(Option::is_none);
    check.require(!open, SHAPE, format_args!("known extents"), "one that is open");
    if let Some(strides) = check.op.ints("strides") {
        let rank = view.shape.len();
        check.require(strides.len() == rank, RANK, format_args!("{rank} strides"), strides.len());
    }
}
