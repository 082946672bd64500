//! `pto-lower-frontend-pipes`: the front-end's queue operations, named by direction and id, become operations on
//! queue handles.
//!
//! `aic/aiv_initialize_pipe` becomes `initialize_l2g2l_pipe` (A2/A3: slots in global memory) or `initialize_l2l_pipe`
//! (A5: slots in the consumer's memory); push, pop and free name the handle; a popped tile becomes `declare_tile`.
//! Addresses, flags and `nosplit` are settled later, in `pto-resolve-reserved-buffers`.

use crate::ir;
use melior::ir::{
    Attribute, Identifier, Location, OperationRef, Type, Value,
    attribute::IntegerAttribute,
    operation::{OperationBuilder, OperationLike},
    r#type::IntegerType,
};
use pto_dialect::{
    Op,
    device::{Device, Legality},
    diagnostics, edit, pipe_type,
};
use std::collections::BTreeMap;

/// The attribute that keeps the front-end's id, which orders the assignment of flags.
pub const FRONTEND_ID: &str = "pto.pipe_id";

/// The attribute of a function or section whose vector code runs on the first vector core of a pair only.
pub const FIRST_LANE_ONLY: &str = "pto.first_lane_only";

/// A queue end in a function.
struct Queue<'c, 'a> {
    handle: Value<'c, 'a>,
    dir_mask: i64,
}

/// Runs the pass on a module.
pub fn run(module: OperationRef, device: &Device) -> bool {
    let mut ok = true;
    for function in ir::functions(module) {
        ok &= lower_function(function, device);
    }
    ok
}

fn lower_function<'c, 'a>(function: OperationRef<'c, 'a>, device: &Device) -> bool {
    let ops: Vec<Op> = ir::walk(function).into_iter().filter_map(Op::of).collect();
    let mut queues: BTreeMap<i64, Queue> = BTreeMap::new();
    let mut ok = true;
    let mut unsplit = false;
    for op in ops {
        let done = match op.mnemonic() {
            "aic_initialize_pipe" | "aiv_initialize_pipe" => lower_initialize(op, device, &mut queues),
            "tpush_to_aiv" | "tpush_to_aic" | "tpop_from_aic" | "tpop_from_aiv" | "tfree_from_aic"
            | "tfree_from_aiv" => {
                unsplit |= op.int("split") == Some(0);
                lower_transfer(op, &queues)
            }
            _ => true,
        };
        ok &= done;
    }
    if unsplit && device.legality == Legality::A5 {
        mark_first_lane(function);
    }
    ok
}

/// Only one of the two vector cores of a pair takes part in a queue that is not split.
fn mark_first_lane(function: OperationRef) {
    let ops = ir::walk(function);
    let asks_itself =
        ops.iter().filter_map(|&op| Op::of(op)).any(|op| op.is("get_subblock_idx") || op.is("get_subblock_num"));
    if asks_itself {
        return;
    }
    let context = pto_dialect::context_of(function);
    if ir::kernel_kind(function) == Some("vector") {
        edit::set_attribute(function, FIRST_LANE_ONLY, Attribute::unit(context));
    }
    for section in ops.into_iter().filter_map(Op::of).filter(|op| op.is("section.vector")) {
        edit::set_attribute(section.raw, FIRST_LANE_ONLY, Attribute::unit(context));
    }
}

fn lower_initialize<'c, 'a>(op: Op<'c, 'a>, device: &Device, queues: &mut BTreeMap<i64, Queue<'c, 'a>>) -> bool {
    let id = op.int("id").unwrap_or(0);
    if queues.contains_key(&id) {
        let message = format!("'{}' op initializes queue {id}, which the function has already", op.facts.name);
        diagnostics::error(op.raw.location(), "PTO-0401", message).emit();
        return false;
    }
    let dir_mask = op.int("dir_mask").unwrap_or(0);
    let Some(handle) = build_handle(op, device, dir_mask) else { return false };
    queues.insert(id, Queue { handle, dir_mask });
    edit::erase(op.raw);
    true
}

fn build_handle<'c, 'a>(op: Op<'c, 'a>, device: &Device, dir_mask: i64) -> Option<Value<'c, 'a>> {
    let context = pto_dialect::context_of(op.raw);
    let location = op.raw.location();
    let (first, second) = match dir_mask {
        1 => (op.operand("c2v_consumer_buf"), None),
        2 => (op.operand("v2c_consumer_buf"), None),
        _ => (op.operand("c2v_consumer_buf"), op.operand("v2c_consumer_buf")),
    };
    let gm = op.operand("gm_slot_buffer").or_else(|| op.operand("gm_slot_tensor"));
    let through_gm = device.legality == Legality::A3;
    let mut operands = Vec::new();
    if through_gm {
        let Some(gm) = gm else {
            let message = format!(
                "'{}' op expected gm_slot_buffer: on {} the slots stand in global memory",
                op.facts.name, device.name
            );
            diagnostics::error(location, "PTO-0402", message).emit();
            return None;
        };
        operands.push(gm);
    }
    let Some(first) = first else {
        diagnostics::error(
            location,
            "PTO-0402",
            format!("'{}' op expected the consumer buffer of its direction", op.facts.name),
        )
        .emit();
        return None;
    };
    operands.push(first);
    operands.extend(second);
    let int = |width: u32, value: i64| -> Attribute {
        IntegerAttribute::new(IntegerType::new(context, width).into(), value).into()
    };
    let slot_num = op.int("slot_num").unwrap_or(if dir_mask == 3 { 4 } else { 8 });
    let mut attributes = vec![
        ("dir_mask", int(8, dir_mask)),
        ("slot_size", int(32, op.int("slot_size").unwrap_or(0))),
        ("slot_num", int(32, slot_num)),
        (FRONTEND_ID, int(32, op.int("id").unwrap_or(0))),
    ];
    if through_gm {
        attributes.push(("local_slot_num", int(32, op.int("local_slot_num").unwrap_or(slot_num))));
        let sizes = [1, 1, i32::from(second.is_some())];
        attributes
            .push(("operandSegmentSizes", melior::ir::attribute::DenseI32ArrayAttribute::new(context, &sizes).into()));
    }
    if let Some(nosplit) = op.attr("nosplit") {
        attributes.push(("nosplit", nosplit));
    }
    let attributes: Vec<_> = attributes.into_iter().map(|(n, a)| (Identifier::new(context, n), a)).collect();
    let name = ["", "c2v", "v2c", "queue"][usize::try_from(dir_mask).unwrap_or(3).min(3)];
    let built = OperationBuilder::new(
        if through_gm { "pto.initialize_l2g2l_pipe" } else { "pto.initialize_l2l_pipe" },
        Location::name(context, &format!("{name}_pipe"), location),
    )
    .add_operands(&operands)
    .add_attributes(&attributes)
    .add_results(&[pipe_type(context)])
    .build()
    .expect("the operation is complete");
    Some(edit::insert_before(op.raw, built).result(0).expect("one result").into())
}

/// Push, pop and free.
fn lower_transfer<'c, 'a>(op: Op<'c, 'a>, queues: &BTreeMap<i64, Queue<'c, 'a>>) -> bool {
    let id = op.int("id").unwrap_or(0);
    let (needed, direction) = match op.mnemonic() {
        "tpush_to_aiv" | "tpop_from_aic" | "tfree_from_aic" => (1, "cube to vector"),
        _ => (2, "vector to cube"),
    };
    let initialize = match op.mnemonic() {
        "tpush_to_aiv" | "tpop_from_aiv" | "tfree_from_aiv" => "pto.aic_initialize_pipe",
        _ => "pto.aiv_initialize_pipe",
    };
    let Some(queue) = queues.get(&id) else {
        let message = format!(
            "'{}' op uses queue {id}, but the function has no {initialize} with id = {id} before it",
            op.facts.name
        );
        diagnostics::error(op.raw.location(), "PTO-0403", message).emit();
        return false;
    };
    if queue.dir_mask & needed == 0 {
        let message = format!(
            "'{}' op expected queue {id} to go from {direction}, found dir_mask = {}",
            op.facts.name, queue.dir_mask
        );
        diagnostics::error(op.raw.location(), "PTO-0404", message).emit();
        return false;
    }
    replace_transfer(op, queue.handle);
    true
}

fn replace_transfer<'c, 'a>(op: Op<'c, 'a>, handle: Value<'c, 'a>) {
    let context = pto_dialect::context_of(op.raw);
    let location = op.raw.location();
    let split = (Identifier::new(context, "split"), op.attr("split").expect("verified"));
    let mut builder_operands = Vec::new();
    let name = match &op.mnemonic()[..4] {
        "tpus" => {
            builder_operands.extend(op.operand("tile"));
            "pto.tpush"
        }
        "tpop" => {
            let tile = declare_popped(op, context);
            builder_operands.push(tile);
            edit::replace_all_uses(op.result().expect("a pop has a result"), tile);
            "pto.tpop"
        }
        _ => "pto.tfree",
    };
    builder_operands.push(handle);
    builder_operands.extend(op.operand("aiv_subblockid"));
    let built = OperationBuilder::new(name, location).add_operands(&builder_operands).add_attributes(&[split]).build();
    edit::insert_before(op.raw, built.expect("the operation is complete"));
    edit::erase(op.raw);
}

fn declare_popped<'c, 'a>(op: Op<'c, 'a>, context: &'c melior::Context) -> Value<'c, 'a> {
    let valid = [op.operand("valid_row"), op.operand("valid_col")];
    let sizes: Vec<i32> = valid.iter().map(|v| i32::from(v.is_some())).collect();
    let operands: Vec<Value> = valid.into_iter().flatten().collect();
    let result = op.result().expect("a pop has a result");
    let ty: Type = melior::ir::ValueLike::r#type(&result);
    let segments = melior::ir::attribute::DenseI32ArrayAttribute::new(context, &sizes).into();
    let built = OperationBuilder::new("pto.declare_tile", op.raw.location())
        .add_operands(&operands)
        .add_attributes(&[(Identifier::new(context, "operandSegmentSizes"), segments)])
        .add_results(&[ty])
        .build();
    edit::insert_before(op.raw, built.expect("the operation is complete")).result(0).expect("one result").into()
}
