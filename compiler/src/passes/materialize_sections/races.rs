//! Memory that one core writes and the other touches, with nothing that makes one wait for the other.

use crate::ir;
use melior::ir::{OperationRef, Value, operation::OperationLike};
use pto_dialect::{Op, Tile, accesses, constant_int, device::Legality, diagnostics, op_name, value_key};
use std::collections::{HashMap, HashSet};

/// One access to memory from a section.
struct Touch<'c, 'a> {
    op: Op<'c, 'a>,
    cube: bool,
    value: Value<'c, 'a>,
    /// The pointer, view or tile that the memory comes from.
    root: Value<'c, 'a>,
    writes: bool,
}

/// Warns for each memory that sections of both cores of a function touch without order, once.
pub fn warn(function: OperationRef, legality: Legality) {
    Races { legality, touches: HashMap::new(), reported: HashSet::new() }.visit(function, None);
}

/// What a walk in source order has seen.
struct Races<'c, 'a> {
    legality: Legality,
    /// By root: the touches since the last signal between the cores.
    touches: HashMap<usize, Vec<Touch<'c, 'a>>>,
    /// Roots that were warned of.
    reported: HashSet<usize>,
}

impl<'c: 'a, 'a> Races<'c, 'a> {
    fn visit(&mut self, root: OperationRef<'c, 'a>, core: Option<&'static str>) {
        for op in ir::blocks(root).into_iter().flat_map(ir::operations) {
            let known = Op::of(op);
            // A called function may signal.
            if op_name(op) == "func.call" || known.is_some_and(|op| signals_core(op.mnemonic())) {
                self.touches.clear();
            } else if let (Some(known), Some(core)) = (known, core) {
                for access in accesses(known, self.legality).into_iter().filter(|a| ir::is_memory(a.value)) {
                    let (value, writes) = (access.value, access.writes);
                    self.touch(Touch { op: known, cube: core == "cube", value, root: ir::root_of(value), writes });
                }
            }
            self.visit(op, ir::section_kind(op).or(core));
        }
    }

    fn touch(&mut self, later: Touch<'c, 'a>) {
        let root = value_key(later.root);
        if self.reported.contains(&root) {
            return;
        }
        let earlier = self.touches.entry(root).or_default();
        let races = |earlier: &&Touch| {
            later.cube != earlier.cube && (later.writes || earlier.writes) && !are_apart(later.value, earlier.value)
        };
        if let Some(earlier) = earlier.iter().find(races) {
            report(earlier, &later);
            self.reported.insert(root);
        } else {
            earlier.push(later);
        }
    }
}

fn report(earlier: &Touch, later: &Touch) {
    let core = |touch: &Touch| if touch.cube { "cube" } else { "vector" };
    let does = |touch: &Touch| if touch.writes { "writes" } else { "reads" };
    let what = match Tile::of_value(later.root) {
        Some(tile) => format!("tile {} in {}", ir::label(later.root), tile.space.name()),
        None => format!("global memory behind {}", ir::label(later.root)),
    };
    let message = format!(
        "'{}' op {} {what} on the {} core, and '{}' {} it on the {} core; nothing orders the two",
        later.op.facts.name,
        does(later),
        core(later),
        earlier.op.facts.name,
        does(earlier),
        core(earlier)
    );
    diagnostics::warning(later.op.raw.location(), "PTO-0322", message)
        .note(earlier.op.raw.location(), format!("'{}' is here", earlier.op.facts.name))
        .help("the cores run concurrently: put a signal between them (a queue, or a flag between cores) where this is meant")
        .emit();
}

/// Operations that make a core wait for another, or tell it to go on.
fn signals_core(mnemonic: &str) -> bool {
    const PREFIXES: [&str; 13] = [
        "comm.tnotify",
        "comm.ttest",
        "comm.twait",
        "set_cross",
        "set_intra",
        "sync.",
        "syncall",
        "talloc",
        "tfree",
        "tpop",
        "tpush",
        "wait_cross",
        "wait_intra",
    ];
    PREFIXES.iter().any(|prefix| mnemonic.starts_with(prefix))
}

/// Two windows of one view that are known to have no element in common.
fn are_apart(a: Value, b: Value) -> bool {
    let parts = [a, b].map(|value| Op::defining(value).filter(|d| d.is("partition_view")));
    let [Some(a), Some(b)] = parts else { return false };
    let sources = [a, b].map(|part| part.operand("source").or_else(|| part.operand("src")));
    if !matches!(sources, [Some(a), Some(b)] if value_key(a) == value_key(b)) {
        return false;
    }
    let range = |part: Op, dim: usize| -> Option<(i64, i64)> {
        let start = constant_int(*part.operands("offsets").get(dim)?)?;
        Some((start, start.checked_add(constant_int(*part.operands("sizes").get(dim)?)?)?))
    };
    (0..a.operands("offsets").len())
        .any(|dim| matches!((range(a, dim), range(b, dim)), (Some(a), Some(b)) if a.1 <= b.0 || b.1 <= a.0))
}
