//! `pto-resolve-reserved-buffers`: addresses, flags and `nosplit` of queues, agreed between both ends.
//!
//! The two ends of a queue stand in two functions and find one another through the reserved buffer: the consumer
//! reserves it, the producer imports it. Ends without local buffers (their slots are a tensor in global memory) belong
//! together when they have one front-end id and direction. All ends of a queue get the same lowest free even flag number
//! (two flags per direction), and `nosplit` when all their operations have split = 0. Then `reserve_buffer` and
//! `import_reserved_buffer` become constants. An end whose buffer is known otherwise must state its `flag_base`.

use crate::ir;
use melior::ir::{
    Attribute, OperationRef, Value,
    attribute::{BoolAttribute, IntegerAttribute},
    operation::OperationLike,
    r#type::IntegerType,
};
use pto_dialect::{Op, device::Device, diagnostics, edit, op_key};
use std::collections::{BTreeMap, BTreeSet};

/// Flags that one core has for queues (PTO-ISA: FlagID of TPipe is below 16).
const FLAGS: i64 = 16;

/// Runs the pass on a module.
pub fn run(module: OperationRef, _device: &Device) -> bool {
    let functions = ir::functions(module);
    if !check_buffers(&functions) {
        return false;
    }
    let mut ends = collect_ends(&functions);
    let components = components(&ends);
    let mut ok = true;
    for component in &components {
        ok &= check_component(component, &ends, &functions) && settle_nosplit(component, &mut ends);
    }
    ok && assign_flags(&components, &ends) && replace_buffers(&functions)
}

/// What makes two ends one queue.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// A buffer: the number of the function that owns it, and its name.
    Buffer(usize, String),
    /// Front-end id and direction of a queue without local buffers.
    Global(i64, i64),
}

/// One end of a queue.
struct End<'c, 'a> {
    op: Op<'c, 'a>,
    function: usize,
    keys: BTreeSet<Key>,
}

impl<'c> End<'c, '_> {
    fn id(&self) -> Option<i64> {
        self.op.int(super::lower_frontend_pipes::FRONTEND_ID)
    }

    /// The queue as messages name it, behind the name of the operation.
    fn queue(&self) -> String {
        match (self.keys.first(), self.id()) {
            (Some(Key::Buffer(_, name)), _) => format!("queue \"{name}\""),
            (_, Some(id)) => format!("queue {id}"),
            (_, None) => format!("queue {}", self.op.result().map_or_else(String::new, ir::label)),
        }
    }

    /// Reports what is wrong with this end.
    fn error(&self, code: &'static str, message: std::fmt::Arguments) -> diagnostics::Report<'c> {
        diagnostics::error(self.op.raw.location(), code, format!("'{}' op {message}", self.op.facts.name))
    }

    /// Whether the slots are only reached through global memory.
    fn is_global(&self) -> bool {
        self.op.is("initialize_l2g2l_pipe") && self.op.operand("local_addr").is_none()
    }
}

fn number_of(functions: &[OperationRef], function: OperationRef) -> Option<usize> {
    functions.iter().position(|&f| op_key(f) == op_key(function))
}

fn collect_ends<'c, 'a>(functions: &[OperationRef<'c, 'a>]) -> Vec<End<'c, 'a>> {
    let mut ends = Vec::new();
    for (index, &function) in functions.iter().enumerate() {
        for op in ir::walk(function).into_iter().filter_map(Op::of) {
            if op.is("initialize_l2l_pipe") || op.is("initialize_l2g2l_pipe") {
                let mut end = End { op, function: index, keys: BTreeSet::new() };
                if end.is_global() {
                    end.keys.extend(end.id().map(|id| Key::Global(id, op.int("dir_mask").unwrap_or(0))));
                }
                let buffers = ["local_addr", "peer_local_addr"].into_iter().filter_map(|n| op.operand(n));
                end.keys.extend(buffers.filter_map(|b| buffer_key(b, index, functions)));
                ends.push(end);
            }
        }
    }
    ends
}

/// The function that owns the buffer behind an address, and the buffer's name.
fn buffer_key(address: Value, function: usize, functions: &[OperationRef]) -> Option<Key> {
    let definition = Op::defining(address)?;
    let owner = match definition.mnemonic() {
        "reserve_buffer" => function,
        "import_reserved_buffer" => owner_of(definition, function, functions)?,
        _ => return None,
    };
    Some(Key::Buffer(owner, definition.string("name")?))
}

/// The function that an import names.
fn owner_of(import: Op, function: usize, functions: &[OperationRef]) -> Option<usize> {
    number_of(functions, ir::peer_function(functions[function], &import.symbol("peer_func")?)?)
}

/// Ends that share a key, as indices: those with a front-end id in its order, then the others in source order.
fn components(ends: &[End]) -> Vec<Vec<usize>> {
    let mut groups: Vec<(BTreeSet<Key>, Vec<usize>)> = Vec::new();
    for (index, end) in ends.iter().enumerate() {
        let (mut keys, mut members) = (end.keys.clone(), vec![index]);
        let (linked, rest): (Vec<_>, Vec<_>) = groups.into_iter().partition(|(other, _)| !other.is_disjoint(&keys));
        for (other, more) in linked {
            keys.extend(other);
            members.extend(more);
        }
        members.sort_unstable();
        groups = rest;
        groups.push((keys, members));
    }
    let mut components: Vec<Vec<usize>> = groups.into_iter().map(|(_, members)| members).collect();
    components.sort_by_key(|members| {
        let id = members.iter().filter_map(|&i| ends[i].id()).min();
        let mask = id.and_then(|_| ends[members[0]].op.int("dir_mask"));
        (id.unwrap_or(i64::MAX), mask, members[0])
    });
    components
}

fn check_component(component: &[usize], ends: &[End], functions: &[OperationRef]) -> bool {
    let first = &ends[component[0]];
    let others: Vec<&End> = component[1..].iter().map(|&i| &ends[i]).collect();
    if first.is_global() {
        return others.iter().all(|other| agree(first, other));
    }
    let queue = first.queue();
    if first.keys.is_empty() {
        let stated = first.op.int("flag_base").is_some();
        if !stated {
            let wanted = "its buffer from pto.reserve_buffer or pto.import_reserved_buffer, or a flag_base";
            first.error("PTO-0405", format_args!("expected {wanted} for {queue}, found neither")).emit();
        }
        return stated;
    }
    if others.is_empty() && !is_shared(first, functions) {
        let message = "has no other end in the file: nothing shows that both agree on flags, slots and split";
        diagnostics::warning(
            first.op.raw.location(),
            "PTO-0405",
            format!("'{}' op {queue} {message}", first.op.facts.name),
        )
        .emit();
        return true;
    }
    let [second] = others[..] else {
        let report = match others.len() {
            0 => first.error(
                "PTO-0405",
                format_args!(
                    "expected another end of {queue} in the file, found a function with the buffer and no end"
                ),
            ),
            more => first.error("PTO-0406", format_args!("expected two ends of {queue}, found {}", more + 1)),
        };
        others.iter().fold(report, |r, other| r.note(other.op.raw.location(), "another end")).emit();
        return false;
    };
    if first.function == second.function {
        first
            .error("PTO-0406", format_args!("expected the ends of {queue} in two functions, found both in one"))
            .note(second.op.raw.location(), "the other end")
            .emit();
        return false;
    }
    agree(first, second)
}

/// Whether another function has a buffer of this end: it owns it, or imports it.
fn is_shared(end: &End, functions: &[OperationRef]) -> bool {
    let imports = |function: usize, owner: usize, name: &str| {
        ir::ops_named(functions[function], "import_reserved_buffer").into_iter().any(|import| {
            import.string("name").as_deref() == Some(name) && owner_of(import, function, functions) == Some(owner)
        })
    };
    end.keys.iter().any(|key| match key {
        Key::Buffer(owner, _) if *owner != end.function => true,
        Key::Buffer(owner, name) => (0..functions.len()).any(|other| other != *owner && imports(other, *owner, name)),
        Key::Global(..) => false,
    })
}

/// Both ends describe one queue.
fn agree(first: &End, second: &End) -> bool {
    for what in ["dir_mask", "slot_size", "slot_num", "local_slot_num", "flag_base"] {
        let values = [first, second].map(|end| end.op.int(what));
        let open = what == "flag_base" && values.contains(&None);
        if values[0] != values[1] && !open {
            let show = |value: Option<i64>| value.map_or("none".to_owned(), |v| v.to_string());
            let [here, there] = values.map(show);
            first
                .error(
                    "PTO-0407",
                    format_args!("expected {what} = {there} for {} as its other end has, found {here}", first.queue()),
                )
                .note(second.op.raw.location(), "the other end")
                .emit();
            return false;
        }
    }
    true
}

/// How an operation on a queue divides its entry.
fn split_of(user: Op) -> Option<i64> {
    if user.is("tpush_quant") { Some(0) } else { user.int("split") }
}

/// An operation that divides its entry, or does not, against its queue.
fn wrong_split<'c>(op: Op<'c, '_>, nosplit: bool, why: &str) -> diagnostics::Report<'c> {
    let (wanted, found) = (if nosplit { "split = 0" } else { "a split other than 0" }, split_of(op).unwrap_or(0));
    let message = format!("'{}' op expected {wanted} {why}, found {found}", op.facts.name);
    diagnostics::error(op.raw.location(), "PTO-0408", message)
}

/// `nosplit` from the operations of all ends, unless it is stated.
fn settle_nosplit(component: &[usize], ends: &mut [End]) -> bool {
    let queue = ends[component[0]].queue();
    let mut unsplit: Option<(bool, Op)> = None;
    for &index in component {
        let Some(handle) = ends[index].op.result() else { continue };
        for user in edit::uses(handle).into_iter().rev().filter_map(Op::of) {
            let Some(split) = split_of(user) else { continue };
            match unsplit {
                Some((known, other)) if known != (split == 0) => {
                    let why = format!("on {queue} as its other operations");
                    wrong_split(user, known, &why).note(other.raw.location(), "another operation").emit();
                    return false;
                }
                _ => unsplit = Some((split == 0, user)),
            }
        }
    }
    let stated: Vec<(bool, &End)> =
        component.iter().filter_map(|&i| Some((ends[i].op.bool("nosplit")?, &ends[i]))).collect();
    if let Some((other, end)) = stated.iter().find(|other| other.0 != stated[0].0) {
        end.error(
            "PTO-0408",
            format_args!("expected nosplit = {} for {queue} as its other end has, found {other}", !other),
        )
        .emit();
        return false;
    }
    let stated: Vec<bool> = stated.into_iter().map(|(nosplit, _)| nosplit).collect();
    if let (Some(&stated), Some((used, op))) = (stated.first(), unsplit)
        && stated != used
    {
        wrong_split(op, stated, &format!("on {queue} with nosplit = {stated}")).emit();
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

/// The flags that the queues of each function have.
type Used = BTreeMap<usize, BTreeSet<i64>>;

/// Stated flag numbers first, then for each queue the lowest even one that is free in all its functions.
fn assign_flags(components: &[Vec<usize>], ends: &[End]) -> bool {
    let mut used = Used::new();
    let base_of = |component: &[usize]| component.iter().find_map(|&i| ends[i].op.int("flag_base"));
    let (stated, open): (Vec<_>, Vec<_>) = components.iter().partition(|c| base_of(c).is_some());
    for component in stated.into_iter().chain(open) {
        let first = &ends[component[0]];
        let width = if first.op.int("dir_mask") == Some(3) { 4 } else { 2 };
        let is_free = |base: i64| {
            component.iter().all(|&i| {
                used.get(&ends[i].function).is_none_or(|taken| (base..base + width).all(|f| !taken.contains(&f)))
            })
        };
        let stated = base_of(component);
        if let Some(base) = stated.filter(|&base| !is_free(base)) {
            let queue = first.queue();
            let message =
                format_args!("expected {width} flags of its own for {queue}, found flag_base = {base} in use");
            first.error("PTO-0409", message).emit();
            return false;
        }
        let base = stated.or_else(|| (0..=FLAGS - width).step_by(2).find(|&base| is_free(base)));
        let Some(base) = base else {
            let queue = first.queue();
            let message = format_args!("expected {width} free flags of {FLAGS} for {queue}, found fewer");
            first.error("PTO-0409", message).emit();
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

/// Names are reserved and imported once in a function, and what is imported exists.
fn check_buffers(functions: &[OperationRef]) -> bool {
    let mut reserved: BTreeSet<(usize, String)> = BTreeSet::new();
    let mut ok = true;
    for (index, &function) in functions.iter().enumerate() {
        for op in ir::ops_named(function, "reserve_buffer") {
            let name = op.string("name").unwrap_or_default();
            if !reserved.insert((index, name.clone())) {
                let message = format!("'pto.reserve_buffer' op expected one \"{name}\" in a function, found another");
                diagnostics::error(op.raw.location(), "PTO-0411", message).emit();
                ok = false;
            }
        }
    }
    for (index, &function) in functions.iter().enumerate() {
        let mut imported = BTreeSet::new();
        for op in ir::ops_named(function, "import_reserved_buffer") {
            let (name, peer) = (op.string("name").unwrap_or_default(), op.symbol("peer_func").unwrap_or_default());
            let owner = owner_of(op, index, functions);
            let message = match owner {
                None => {
                    format!("'pto.import_reserved_buffer' op: no function '{peer}' is visible here, or several are")
                }
                Some(owner) if !reserved.contains(&(owner, name.clone())) => {
                    format!("'pto.import_reserved_buffer' op: function '{peer}' reserves no buffer \"{name}\"")
                }
                Some(_) => String::new(),
            };
            if !message.is_empty() {
                diagnostics::error(op.raw.location(), "PTO-0412", message).emit();
                ok = false;
            }
            if !imported.insert((name.clone(), peer.clone())) {
                let message = format!(
                    "'pto.import_reserved_buffer' op expected one import of \"{name}\" of '{peer}', found another"
                );
                diagnostics::error(op.raw.location(), "PTO-0411", message).emit();
                ok = false;
            }
        }
    }
    ok
}

/// Reserved and imported buffers become their addresses.
fn replace_buffers(functions: &[OperationRef]) -> bool {
    let mut bases: BTreeMap<(usize, String), i64> = BTreeMap::new();
    for (index, &function) in functions.iter().enumerate() {
        for op in ir::ops_named(function, "reserve_buffer") {
            let name = op.string("name").unwrap_or_default();
            let Some(base) = op.int("base") else {
                let message = format!("reserved buffer \"{name}\" has no base; run pto-allocate-memory-addr first");
                diagnostics::error(op.raw.location(), "PTO-0410", message).emit();
                return false;
            };
            bases.insert((index, name), base);
        }
    }
    for (index, &function) in functions.iter().enumerate() {
        for kind in ["reserve_buffer", "import_reserved_buffer"] {
            for op in ir::ops_named(function, kind) {
                let owner = if kind == "reserve_buffer" { Some(index) } else { owner_of(op, index, functions) };
                let base = owner.and_then(|owner| bases.get(&(owner, op.string("name").unwrap_or_default())));
                replace(op, *base.expect("checked"));
            }
        }
    }
    true
}

fn replace(op: Op, base: i64) {
    let context = pto_dialect::context_of(op.raw);
    let constant = edit::constant(context, op.raw, base, IntegerType::new(context, 32).into(), op.raw.location());
    edit::replace_all_uses(op.result().expect("a buffer has an address"), constant);
    edit::erase(op.raw);
}
