//! `pto-lower-frontend-pipes`: the front-end's queue operations, named by direction and id, become operations on
//! queue handles.
//!
//! `aic/aiv_initialize_pipe` becomes `initialize_l2g2l_pipe` (A2/A3, and slots that are a tensor: in global memory) or
//! `initialize_l2l_pipe` (A5: slots in the consumer's memory); push, pop, free and alloc name the handle; a popped tile
//! becomes `declare_tile`, an entry in global memory `declare_global`. A push that scales takes its factors from the
//! latest `set_quant_*` before it. Addresses, flags and `nosplit` are settled later, in `pto-resolve-reserved-buffers`.
//!
//! `check` holds what must hold between the operations of one function, `epilogue` what both ends of a queue with an
//! epilogue must agree on.

mod check;
mod epilogue;

use crate::ir;
use epilogue::Outputs;
use melior::ir::{
    Attribute, BlockLike, Identifier, Location, OperationRef, Type, Value,
    attribute::{DenseI32ArrayAttribute, DenseI64ArrayAttribute, IntegerAttribute, TypeAttribute},
    operation::{OperationBuilder, OperationLike},
    r#type::IntegerType,
};
use pto_dialect::{
    Op, View, constant_int,
    device::{Device, Legality},
    diagnostics, edit, op_key, pipe_type,
};
use std::collections::BTreeMap;

/// The attribute that keeps the front-end's id, which orders the assignment of flags.
pub const FRONTEND_ID: &str = "pto.pipe_id";

/// The attribute of a function or section whose vector code runs on the first vector core of a pair only.
pub const FIRST_LANE_ONLY: &str = "pto.first_lane_only";

/// A queue end in a function.
struct Queue<'c, 'a> {
    handle: Value<'c, 'a>,
    /// Strides of the slots' tensor in elements, where they are constants.
    strides: Option<Vec<i64>>,
    /// What a push with factors leaves in a slot, where the queue has an epilogue that scales.
    output: Option<Type<'c>>,
}

/// Runs the pass on a module.
pub fn run(module: OperationRef, device: &Device) -> bool {
    let functions = ir::functions(module);
    let mut ok = true;
    for &function in &functions {
        ok &= check::function(function, device);
    }
    let Some(outputs) = epilogue::outputs(&functions).filter(|_| ok) else { return false };
    for function in functions {
        ok &= lower_function(function, device, &outputs);
    }
    ok
}

fn lower_function<'c, 'a>(function: OperationRef<'c, 'a>, device: &Device, outputs: &Outputs<'c>) -> bool {
    let ops: Vec<Op> = ir::walk(function).into_iter().filter_map(Op::of).collect();
    let mut queues: BTreeMap<i64, Queue> = BTreeMap::new();
    let mut factors: BTreeMap<(usize, i64), Op> = BTreeMap::new();
    let mut settings = Vec::new();
    let mut ok = true;
    let mut unsplit = false;
    for op in ops {
        let id = op.int("id").unwrap_or(0);
        match op.mnemonic() {
            _ if check::is_end(op) => {
                let output = outputs.get(&op_key(op.raw)).copied();
                match build_handle(op, device) {
                    Some(handle) => {
                        let strides = slot_strides(op);
                        queues.insert(id, Queue { handle, strides, output });
                    }
                    None => ok = false,
                }
            }
            "set_quant_scalar" | "set_quant_vector" => {
                factors.insert((block_key(op.raw), id), op);
                settings.push(op);
            }
            name if check::is_transfer(name) => {
                unsplit |= op.int("split") == Some(0);
                let Some(queue) = queues.get(&id) else { continue };
                ok &= replace_transfer(op, queue, factors.get(&(block_key(op.raw), id)).copied());
            }
            _ => {}
        }
    }
    settings.into_iter().for_each(|op| edit::erase(op.raw));
    for op in ir::walk(function).into_iter().filter_map(Op::of) {
        if ok && check::is_end(op) {
            edit::erase(op.raw);
        }
    }
    if unsplit && device.legality == Legality::A5 {
        mark_first_lane(function);
    }
    ok
}

/// A number for the block that an operation stands in; for look-up only.
fn block_key(op: OperationRef) -> usize {
    op.block().map_or(0, |block| block.to_raw().ptr as usize)
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

fn integer<'c>(context: &'c melior::Context, width: u32, value: i64) -> Attribute<'c> {
    IntegerAttribute::new(IntegerType::new(context, width).into(), value).into()
}

fn build_handle<'c, 'a>(op: Op<'c, 'a>, device: &Device) -> Option<Value<'c, 'a>> {
    let context = pto_dialect::context_of(op.raw);
    let location = op.raw.location();
    let dir_mask = op.int("dir_mask").unwrap_or(0);
    let (first, second) = match dir_mask {
        1 => (op.operand("c2v_consumer_buf"), None),
        2 => (op.operand("v2c_consumer_buf"), None),
        _ => (op.operand("c2v_consumer_buf"), op.operand("v2c_consumer_buf")),
    };
    let tensor = op.operand("gm_slot_tensor");
    let through_gm = device.legality == Legality::A3 || tensor.is_some();
    let mut operands = Vec::new();
    if through_gm {
        let Some(gm) = tensor.or_else(|| op.operand("gm_slot_buffer")) else {
            let message = format!(
                "'{}' op expected gm_slot_buffer: on {} the slots stand in global memory",
                op.facts.name, device.name
            );
            diagnostics::error(location, "PTO-0402", message).emit();
            return None;
        };
        operands.push(gm);
    }
    operands.extend(first);
    operands.extend(second);
    let int = |width, value| integer(context, width, value);
    let slot_num = op.int("slot_num").unwrap_or(if dir_mask == 3 { 4 } else { 8 });
    let mut attributes = vec![
        ("dir_mask", int(8, dir_mask)),
        ("slot_size", int(32, op.int("slot_size").unwrap_or(0))),
        ("slot_num", int(32, slot_num)),
        (FRONTEND_ID, int(32, op.int("id").unwrap_or(0))),
    ];
    if through_gm {
        if first.is_some() {
            attributes.push(("local_slot_num", int(32, op.int("local_slot_num").unwrap_or(slot_num))));
        }
        let sizes = [1, i32::from(first.is_some()), i32::from(second.is_some())];
        attributes.push(("operandSegmentSizes", DenseI32ArrayAttribute::new(context, &sizes).into()));
    }
    attributes.extend(["nosplit", "acc_push_epilogue"].into_iter().filter_map(|name| Some((name, op.attr(name)?))));
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

/// Strides of the slots' tensor: of the view that makes it, or of the declaration.
fn slot_strides(op: Op) -> Option<Vec<i64>> {
    let definition = Op::defining(op.operand("gm_slot_tensor")?)?;
    if definition.is("make_tensor_view") {
        return definition.operands("strides").into_iter().map(constant_int).collect();
    }
    definition.ints("strides")
}

/// Push, pop, free and alloc on the handle.
fn replace_transfer<'c, 'a>(op: Op<'c, 'a>, queue: &Queue<'c, 'a>, factors: Option<Op<'c, 'a>>) -> bool {
    let context = pto_dialect::context_of(op.raw);
    let split = (Identifier::new(context, "split"), op.attr("split").expect("verified"));
    let name = op.mnemonic().split_once('_').map_or(op.mnemonic(), |(verb, _)| verb);
    if let (Some(out), Some(factors), "tpush") = (queue.output, factors, name) {
        build_push_quant(op, queue, out, factors);
        edit::erase(op.raw);
        return true;
    }
    let mut operands: Vec<Value> = op.operand("tile").or_else(|| op.operand("entry")).into_iter().collect();
    if let Some(result) = op.result() {
        let entry = if View::of_value(result).is_some() {
            let Some(entry) = declare_entry(op, queue) else { return false };
            entry
        } else {
            declare_popped(op, context)
        };
        operands.push(entry);
        edit::replace_all_uses(result, entry);
    }
    operands.push(queue.handle);
    operands.extend(op.operand("aiv_subblockid"));
    let built = OperationBuilder::new(&format!("pto.{name}"), op.raw.location())
        .add_operands(&operands)
        .add_attributes(&[split])
        .build();
    edit::insert_before(op.raw, built.expect("the operation is complete"));
    edit::erase(op.raw);
    true
}

fn build_push_quant<'c, 'a>(op: Op<'c, 'a>, queue: &Queue<'c, 'a>, out: Type<'c>, factors: Op<'c, 'a>) {
    let context = pto_dialect::context_of(op.raw);
    let [scale, tile] = ["scale", "scaling_tile"].map(|name| factors.operand(name));
    let sizes = [1, i32::from(scale.is_some()), i32::from(tile.is_some()), 1];
    let operands: Vec<Value> = op.operand("tile").into_iter().chain(scale).chain(tile).chain([queue.handle]).collect();
    let attributes = [
        (Identifier::new(context, "out"), TypeAttribute::new(out).into()),
        (Identifier::new(context, "operandSegmentSizes"), DenseI32ArrayAttribute::new(context, &sizes).into()),
    ];
    let built = OperationBuilder::new("pto.tpush_quant", op.raw.location())
        .add_operands(&operands)
        .add_attributes(&attributes)
        .build();
    edit::insert_before(op.raw, built.expect("the operation is complete"));
}

/// The tensor that a pop or an alloc binds to a slot, with the strides of the slots' tensor.
fn declare_entry<'c, 'a>(op: Op<'c, 'a>, queue: &Queue<'c, 'a>) -> Option<Value<'c, 'a>> {
    let context = pto_dialect::context_of(op.raw);
    let result = op.result()?;
    let Some(strides) = &queue.strides else {
        let message = format!("'{}' op expected a gm_slot_tensor whose strides are constants", op.facts.name);
        diagnostics::error(op.raw.location(), "PTO-0414", message).emit();
        return None;
    };
    let built = OperationBuilder::new("pto.declare_global", op.raw.location())
        .add_attributes(&[(Identifier::new(context, "strides"), DenseI64ArrayAttribute::new(context, strides).into())])
        .add_results(&[melior::ir::ValueLike::r#type(&result)])
        .build();
    let entry = edit::insert_before(op.raw, built.expect("the operation is complete"));
    Some(entry.result(0).expect("one result").into())
}

fn declare_popped<'c, 'a>(op: Op<'c, 'a>, context: &'c melior::Context) -> Value<'c, 'a> {
    let valid = [op.operand("valid_row"), op.operand("valid_col")];
    let sizes: Vec<i32> = valid.iter().map(|v| i32::from(v.is_some())).collect();
    let operands: Vec<Value> = valid.into_iter().flatten().collect();
    let result = op.result().expect("a pop has a result");
    let ty: Type = melior::ir::ValueLike::r#type(&result);
    let segments = DenseI32ArrayAttribute::new(context, &sizes).into();
    let built = OperationBuilder::new("pto.declare_tile", op.raw.location())
        .add_operands(&operands)
        .add_attributes(&[(Identifier::new(context, "operandSegmentSizes"), segments)])
        .add_results(&[ty])
        .build();
    edit::insert_before(op.raw, built.expect("the operation is complete")).result(0).expect("one result").into()
}
