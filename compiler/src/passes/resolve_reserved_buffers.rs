//! `pto-resolve-reserved-buffers`: addresses, flags and `nosplit` of queues, agreed between both ends.
//!
//! The two ends of a queue stand in two functions and find one another through the reserved buffer: the consumer
//! reserves it, the producer imports it. Both get the same lowest free even flag number (two flags per direction), and
//! `nosplit` when all their operations have split = 0. Then `reserve_buffer` and `import_reserved_buffer` become
//! constants. An end whose peer is in another file is accepted with a warning: nothing here can check the other side.

use crate::ir;
use melior::ir::{
    Attribute, OperationRef, Value,
    attribute::{BoolAttribute, IntegerAttribute},
    operation::OperationLike,
    r#type::IntegerType,
};
use pto_dialect::{Op, device::Device, diagnostics, edit};
use std::collections::{BTreeMap, BTreeSet};

/// Flags that one core has for queues (PTO-ISA: FlagID of TPipe is below 16).
const FLAGS: i64 = 16;

/// Runs the pass on a module.
pub fn run(module: OperationRef, _device: &Device) -> bool {
    let functions = ir::functions(module);
    let mut ends = collect_ends(&functions);
    let components = components(&ends);
    let mut ok = true;
    for component in &components {
        ok &= check_component(component, &ends) && settle_nosplit(component, &mut ends);
    }
    ok && assign_flags(&components, &ends) && replace_buffers(&functions)
}

/// One end of a queue.
struct End<'c, 'a> {
    op: Op<'c, 'a>,
    function: usize,
    /// Buffers by owner and name: what makes two ends one queue.
    keys: BTreeSet<(String, String)>,
}

fn collect_ends<'c, 'a>(functions: &[OperationRef<'c, 'a>]) -> Vec<End<'c, 'a>> {
    let mut ends = Vec::new();
    for (index, &function) in functions.iter().enumerate() {
        for op in ir::walk(function).into_iter().filter_map(Op::of) {
            if op.is("initialize_l2l_pipe") || op.is("initialize_l2g2l_pipe") {
                let keys = ["local_addr", "peer_local_addr"]
                    .iter()
                    .filter_map(|n| buffer_key(op.operand(n)?, function))
                    .collect();
                ends.push(End { op, function: index, keys });
            }
        }
    }
    ends
}

/// The function that owns the buffer behind an address, and the buffer's name.
fn buffer_key(address: Value, function: OperationRef) -> Option<(String, String)> {
    let definition = Op::defining(address)?;
    let owner = match definition.mnemonic() {
        "reserve_buffer" => ir::symbol(function),
        "import_reserved_buffer" => definition.symbol("peer_func")?,
        _ => return None,
    };
    Some((owner, definition.string("name")?))
}

/// Ends that share a buffer, as indices; in the order of their first end.
fn components(ends: &[End]) -> Vec<Vec<usize>> {
    type Keys = BTreeSet<(String, String)>;
    let mut groups: Vec<(Keys, Vec<usize>)> = Vec::new();
    for (index, end) in ends.iter().enumerate() {
        let found = groups.iter_mut().find(|(keys, _)| !keys.is_disjoint(&end.keys));
        match found {
            Some((keys, members)) => {
                keys.extend(end.keys.iter().cloned());
                members.push(index);
            }
            None => groups.push((end.keys.clone(), vec![index])),
        }
    }
    let mut components: Vec<Vec<usize>> = groups.into_iter().map(|(_, members)| members).collect();
    let id = |&i: &usize| ends[i].op.int(super::lower_frontend_pipes::FRONTEND_ID).unwrap_or(i64::MAX);
    components.sort_by_key(|c| (c.iter().map(id).min(), c.first().and_then(|&i| ends[i].op.int("dir_mask"))));
    components
}

fn check_component(component: &[usize], ends: &[End]) -> bool {
    let first = &ends[component[0]];
    if component.len() == 1 {
        diagnostics::warning(first.op.raw.location(), "PTO-0405", "the other end of this queue is not in this file; both ends must be compiled with the same flag_base, slots and split")
            .emit();
        return true;
    }
    if component.len() > 2 {
        let message = format!("{} ends use one reserved buffer; a queue has two", component.len());
        let report = diagnostics::error(first.op.raw.location(), "PTO-0406", message);
        component[1..].iter().fold(report, |r, &i| r.note(ends[i].op.raw.location(), "another end")).emit();
        return false;
    }
    let second = &ends[component[1]];
    for what in ["dir_mask", "slot_size", "slot_num", "local_slot_num"] {
        if first.op.int(what) != second.op.int(what) {
            let show = |end: &End| end.op.int(what).map_or("none".to_owned(), |v| v.to_string());
            let message = format!(
                "both ends of a queue must agree on {what}: {} here, {} at the other end",
                show(first),
                show(second)
            );
            diagnostics::error(first.op.raw.location(), "PTO-0407", message)
                .note(second.op.raw.location(), "the other end")
                .emit();
            return false;
        }
    }
    true
}

/// `nosplit` from the operations of all ends, unless it is stated.
fn settle_nosplit(component: &[usize], ends: &mut [End]) -> bool {
    let mut unsplit: Option<(bool, OperationRef)> = None;
    for &index in component {
        let Some(handle) = ends[index].op.result() else { continue };
        for user in edit::uses(handle).into_iter().rev().filter_map(Op::of) {
            let Some(split) = user.int("split") else { continue };
            match unsplit {
                Some((known, other)) if known != (split == 0) => {
                    diagnostics::error(
                        user.raw.location(),
                        "PTO-0408",
                        format!(
                            "'{}' op with split = {split} on a queue that is also used {} split",
                            user.facts.name,
                            if known { "without" } else { "with" }
                        ),
                    )
                    .note(other.location(), "used here")
                    .emit();
                    return false;
                }
                _ => unsplit = Some((split == 0, user.raw)),
            }
        }
    }
    let stated: Vec<bool> = component.iter().filter_map(|&i| ends[i].op.bool("nosplit")).collect();
    if let (Some(&stated), Some((used, op))) = (stated.first(), unsplit)
        && stated != used
    {
        diagnostics::error(
            op.location(),
            "PTO-0408",
            format!("the queue states nosplit = {stated}, but this operation needs {used}"),
        )
        .emit();
        return false;
    }
    let nosplit = stated.first().copied().or(unsplit.map(|(u, _)| u)).unwrap_or(false);
    for &index in component {
        let op = ends[index].op.raw;
        let context = pto_dialect::context_of(op);
        edit::set_attribute(op, "nosplit", BoolAttribute::new(context, nosplit).into());
    }
    true
}

/// The lowest even flag number that is free in all functions of a component.
fn assign_flags(components: &[Vec<usize>], ends: &[End]) -> bool {
    let mut used: BTreeMap<usize, BTreeSet<i64>> = BTreeMap::new();
    for component in components {
        let width = if ends[component[0]].op.int("dir_mask") == Some(3) { 4 } else { 2 };
        let stated = component.iter().find_map(|&i| ends[i].op.int("flag_base"));
        let is_free = |base: i64| {
            component.iter().all(|&i| {
                used.get(&ends[i].function).is_none_or(|taken| (base..base + width).all(|f| !taken.contains(&f)))
            })
        };
        let base = stated.or_else(|| (0..=FLAGS - width).step_by(2).find(|&base| is_free(base)));
        let Some(base) = base else {
            let message = format!("the queues of a function need more than the {FLAGS} flags there are");
            diagnostics::error(ends[component[0]].op.raw.location(), "PTO-0409", message).emit();
            return false;
        };
        for &index in component {
            used.entry(ends[index].function).or_default().extend(base..base + width);
            set_i32(ends[index].op.raw, "flag_base", base);
        }
    }
    true
}

fn set_i32(op: OperationRef, name: &str, value: i64) {
    let context = pto_dialect::context_of(op);
    let attribute: Attribute = IntegerAttribute::new(IntegerType::new(context, 32).into(), value).into();
    edit::set_attribute(op, name, attribute);
}

/// Reserved and imported buffers become their addresses.
fn replace_buffers(functions: &[OperationRef]) -> bool {
    let mut bases: BTreeMap<(String, String), i64> = BTreeMap::new();
    for &function in functions {
        for op in ir::ops_named(function, "reserve_buffer") {
            let name = op.string("name").unwrap_or_default();
            let Some(base) = op.int("base") else {
                diagnostics::error(
                    op.raw.location(),
                    "PTO-0410",
                    format!("reserved buffer \"{name}\" has no base; run pto-allocate-memory-addr first"),
                )
                .emit();
                return false;
            };
            if bases.insert((ir::symbol(function), name.clone()), base).is_some() {
                diagnostics::error(op.raw.location(), "PTO-0411", format!("the function reserves \"{name}\" twice"))
                    .emit();
                return false;
            }
        }
    }
    let mut ok = true;
    for &function in functions {
        for op in ir::ops_named(function, "reserve_buffer") {
            replace(op, bases[&(ir::symbol(function), op.string("name").unwrap_or_default())]);
        }
        for op in ir::ops_named(function, "import_reserved_buffer") {
            let key = (op.symbol("peer_func").unwrap_or_default(), op.string("name").unwrap_or_default());
            match bases.get(&key) {
                Some(&base) => replace(op, base),
                None => {
                    let message = format!(
                        "'pto.import_reserved_buffer' op: function '{}' reserves no buffer \"{}\"",
                        key.0, key.1
                    );
                    diagnostics::error(op.raw.location(), "PTO-0412", message).emit();
                    ok = false;
                }
            }
        }
    }
    ok
}

fn replace(op: Op, base: i64) {
    let context = pto_dialect::context_of(op.raw);
    let constant = edit::constant(context, op.raw, base, IntegerType::new(context, 32).into(), op.raw.location());
    edit::replace_all_uses(op.result().expect("a buffer has an address"), constant);
    edit::erase(op.raw);
}
