//! `pto-materialize-sections`: puts the work of each core into sections, where a function without kernel kind has work
//! for both, or has work outside of the sections that its author wrote.
//!
//! In every block, neighbouring operations for one core become a run, and a run becomes `pto.section.cube` or
//! `pto.section.vector`. What is pure (tiles, views, arithmetic) stays outside, before the section; barriers between two
//! operations of a run stay inside. A loop or branch whose body is for one core is part of a run; one that mixes both
//! runs on both cores, with sections inside. An operation's core follows from its memories and its pipe
//! (`infer_kernel_kind::kind_of`).
//!
//! The cores run concurrently. Where one of them touches memory that the other writes, and no operation between them
//! makes one core wait for the other, the pass warns (PTO-0322), for sections of the author as well.
//!
//! Tests: `tests/cases/passes/materialize_sections`.

mod races;

use super::infer_kernel_kind::kind_of;
use crate::ir;
use melior::ir::{
    Block, BlockLike, BlockRef, OperationRef, Region, RegionLike,
    operation::{OperationBuilder, OperationLike},
};
use pto_dialect::{Op, Space, Tile, device::Device, diagnostics, edit, is_pure, op_key, op_name};
use std::collections::HashSet;

/// Runs the pass on a module.
pub fn run(module: OperationRef, device: &Device) -> bool {
    let mut ok = true;
    for function in ir::functions(module).into_iter().filter(|&f| ir::kernel_kind(f).is_none()) {
        if needs_sections(function, device) {
            for block in ir::blocks(function) {
                ok &= Sections { device, run: None, ok: true }.block(block);
            }
        }
        if ok {
            races::warn(function, device.legality);
        }
    }
    ok
}

/// Whether a function has work for both cores outside of sections, or some beside the sections that it has.
fn needs_sections(function: OperationRef, device: &Device) -> bool {
    let mut kinds = Kinds::default();
    kinds.collect(function, device);
    kinds.cube && kinds.vector || (kinds.section && (kinds.cube || kinds.vector))
}

/// For which cores an operation has work outside of sections, and whether there are sections in it.
#[derive(Clone, Copy, Default)]
struct Kinds {
    cube: bool,
    vector: bool,
    section: bool,
}

impl Kinds {
    fn collect(&mut self, root: OperationRef, device: &Device) {
        for op in ir::blocks(root).into_iter().flat_map(ir::operations) {
            if ir::section_kind(op).is_some() {
                self.section = true;
                continue;
            }
            match Op::of(op).and_then(|op| core_of(op, device)) {
                Some("cube") => self.cube = true,
                Some(_) => self.vector = true,
                None => {}
            }
            self.collect(op, device);
        }
    }
}

/// The core that an operation needs, flags and changes of a tile's valid extents included.
fn core_of(op: Op, device: &Device) -> Option<&'static str> {
    if let Some(kind) = kind_of(op, device) {
        return Some(kind);
    }
    if op.is("set_validshape") || reads_changing_extents(op) {
        let source = op.operand("source").or_else(|| op.operand("src"));
        let space = source.and_then(Tile::of_value).map(|tile| tile.space);
        return space.map(|space| if space == Space::Vec { "vector" } else { "cube" });
    }
    if op.is("barrier") || is_flag(op) {
        return ["src_pipe", "dst_pipe", "pipe"]
            .into_iter()
            .filter_map(|name| op.enum_text(name))
            .find_map(core_of_pipe);
    }
    None
}

/// Whether an operation asks for valid extents that change on the way: those of the core that changes them.
fn reads_changing_extents(op: Op) -> bool {
    if !matches!(op.mnemonic(), "get_validshape" | "tile_valid_rows" | "tile_valid_cols") {
        return false;
    }
    let Some(source) = op.operand("source").or_else(|| op.operand("src")) else { return false };
    Op::defining(source).is_some_and(|d| d.is("declare_tile"))
        || edit::uses(source).into_iter().filter_map(Op::of).any(|user| user.is("set_validshape"))
}

/// The core that has a pipe; both have the scalar unit and the loads from global memory.
fn core_of_pipe(pipe: &str) -> Option<&'static str> {
    match pipe {
        "PIPE_M" | "PIPE_MTE1" | "PIPE_FIX" => Some("cube"),
        "PIPE_V" | "PIPE_MTE3" => Some("vector"),
        _ => None,
    }
}

/// A flag between two pipes of one core.
fn is_flag(op: Op) -> bool {
    matches!(op.mnemonic(), "set_flag" | "wait_flag" | "set_flag_dyn" | "wait_flag_dyn")
}

/// How an operation stands to the runs of its block.
enum Class {
    /// For one core, with everything inside.
    Work(&'static str),
    /// Has work for both cores inside, or sections.
    Mixed,
    /// Yields values and does nothing else: it may stand before a section as well as in it.
    Pure,
    /// A barrier or flag that either core may have: for the core of the run around it.
    Shared,
    /// Anything else: for both cores, where it stands.
    Both,
}

/// Operations that make or ask handles of tiles and buffers. They do no work, though MLIR may not move them freely.
const HANDLES: [&str; 12] = [
    "alloc_multi_tile",
    "alloc_tile",
    "bitcast",
    "declare_tile",
    "get_validshape",
    "import_reserved_buffer",
    "multi_tile_get",
    "reserve_buffer",
    "subview",
    "tile_valid_cols",
    "tile_valid_rows",
    "treshape",
];

fn class_of(op: OperationRef, device: &Device) -> Class {
    if ir::section_kind(op).is_some() {
        return Class::Both;
    }
    let mut kinds = Kinds::default();
    kinds.collect(op, device);
    match Op::of(op).and_then(|op| core_of(op, device)) {
        Some("cube") => kinds.cube = true,
        Some(_) => kinds.vector = true,
        None => {}
    }
    match kinds {
        Kinds { section: true, .. } | Kinds { cube: true, vector: true, .. } => Class::Mixed,
        Kinds { cube: true, .. } => Class::Work("cube"),
        Kinds { vector: true, .. } => Class::Work("vector"),
        _ if is_pure(op) && op.region_count() == 0 => Class::Pure,
        _ => match Op::of(op) {
            Some(known) if HANDLES.contains(&known.mnemonic()) => Class::Pure,
            Some(known) if known.is("barrier") || is_flag(known) => Class::Shared,
            _ => Class::Both,
        },
    }
}

/// Neighbouring operations for one core.
struct Run<'c, 'a> {
    kind: &'static str,
    members: Vec<OperationRef<'c, 'a>>,
    keys: HashSet<usize>,
    /// Barriers and flags behind the last member: members as soon as another one follows.
    pending: Vec<OperationRef<'c, 'a>>,
}

impl<'c, 'a> Run<'c, 'a> {
    fn add(&mut self, op: OperationRef<'c, 'a>) {
        for op in std::mem::take(&mut self.pending).into_iter().chain([op]) {
            self.keys.insert(op_key(op));
            self.members.push(op);
        }
    }

    /// Whether an operation, or one inside it, uses what a member yields.
    fn feeds(&self, op: OperationRef<'c, 'a>) -> bool {
        let inside = ir::walk(op).into_iter().chain([op]);
        inside.flat_map(|op| op.operands().collect::<Vec<_>>()).any(|value| {
            pto_dialect::defining_op(value).is_some_and(|definition| self.keys.contains(&op_key(definition)))
        })
    }
}

/// Goes through a block and wraps its runs.
struct Sections<'c, 'a, 'd> {
    device: &'d Device,
    run: Option<Run<'c, 'a>>,
    ok: bool,
}

impl<'c, 'a> Sections<'c, 'a, '_> {
    fn block(mut self, block: BlockRef<'c, 'a>) -> bool {
        let last = block.terminator().map(op_key);
        for op in ir::operations(block) {
            if Some(op_key(op)) != last {
                self.operation(op);
            }
        }
        self.finish();
        self.ok
    }

    fn operation(&mut self, op: OperationRef<'c, 'a>) {
        let class = class_of(op, self.device);
        match (&mut self.run, class) {
            (Some(run), Class::Work(kind)) if run.kind == kind => run.add(op),
            (_, Class::Work(kind)) => {
                self.refuse_pending(op, kind);
                self.finish();
                let mut run = Run { kind, members: Vec::new(), keys: HashSet::new(), pending: Vec::new() };
                run.add(op);
                self.run = Some(run);
            }
            (Some(run), Class::Pure | Class::Both) if run.feeds(op) => run.add(op),
            (_, Class::Pure) | (None, Class::Shared) => {}
            (Some(run), Class::Shared) => run.pending.push(op),
            (_, Class::Both) => self.finish(),
            (_, Class::Mixed) => {
                self.finish();
                for block in ir::blocks(op) {
                    self.ok &= Sections { device: self.device, run: None, ok: true }.block(block);
                }
            }
        }
    }

    /// A flag of pipes that both cores have, between work of the two, could be meant for either.
    fn refuse_pending(&mut self, next: OperationRef<'c, 'a>, kind: &str) {
        let Some(run) = &self.run else { return };
        let Some(flag) = run.pending.iter().copied().filter_map(Op::of).find(|&op| is_flag(op)) else { return };
        let before = run.members[run.members.len() - 1];
        let message = format!(
            "'{}' op stands between work of the {} core and of the {kind} core, and either could have its pipes",
            flag.facts.name, run.kind
        );
        diagnostics::error(flag.raw.location(), "PTO-0302", message)
            .note(before.location(), format!("'{}' runs on the {} core", op_name(before), run.kind))
            .note(next.location(), format!("'{}' runs on the {kind} core", op_name(next)))
            .help("wrap the parts in pto.section.cube and pto.section.vector")
            .emit();
        self.ok = false;
    }

    /// Makes a section of the run, where its last member stands.
    fn finish(&mut self) {
        let Some(run) = self.run.take() else { return };
        if !self.ok {
            return;
        }
        let anchor = run.members[run.members.len() - 1];
        let region = Region::new();
        region.append_block(Block::new(&[]));
        let name = if run.kind == "cube" { "pto.section.cube" } else { "pto.section.vector" };
        let section = OperationBuilder::new(name, run.members[0].location()).add_regions([region]).build();
        let section = edit::insert_before(anchor, section.expect("the operation is complete"));
        let body = section.region(0).ok().and_then(|region| region.first_block()).expect("the block just made");
        for &member in &run.members {
            edit::move_to_end(member, body);
        }
        self.ok &= values_stay_inside(section, &run);
    }
}

/// A value of one core does not exist on the other.
fn values_stay_inside(section: OperationRef, run: &Run) -> bool {
    let mut ok = true;
    for &member in &run.members {
        for result in member.results() {
            let outside = edit::uses(result.into()).into_iter().find(|&user| !is_inside(user, section));
            let Some(user) = outside else { continue };
            let message = format!(
                "'{}' op runs on the {} core, but '{}' needs its result on another core or on both",
                op_name(member),
                run.kind,
                op_name(user)
            );
            diagnostics::error(member.location(), "PTO-0321", message)
                .note(user.location(), "used here")
                .help("hand the value on through global memory with a signal between the cores, or compute it on each core")
                .emit();
            ok = false;
        }
    }
    ok
}

fn is_inside(op: OperationRef, section: OperationRef) -> bool {
    ir::ancestors(op).any(|parent| op_key(parent) == op_key(section))
}
