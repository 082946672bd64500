//! `pto-infer-kernel-kind`: says for which core a function is, where its author did not.
//!
//! A function without `pto.kernel_kind` and without sections gets the kind that its operations imply; one without
//! tile operations (a scalar helper) gets none. Functions that mix both kinds have sections by now
//! (`pto-materialize-sections`); alone, this pass refuses them.

use crate::ir;
use melior::ir::{OperationRef, operation::OperationLike};
use pto_dialect::{Op, Pipe, Space, Tile, attribute, device::Device, diagnostics, edit, enum_attr, pipe_of};

/// Runs the pass on a module.
pub fn run(module: OperationRef, device: &Device) -> bool {
    let mut ok = true;
    for function in ir::functions(module) {
        ok &= front_end_queues(function);
        if ir::kernel_kind(function).is_none() {
            ok &= infer(function, device);
        }
    }
    ok
}

/// The front-end's queue operations say by their names on which core they run; the function or section says it too.
fn front_end_queues(function: OperationRef) -> bool {
    if attribute(function, "pto.tileop.helper").is_some() {
        return true;
    }
    let mut ok = true;
    for op in ir::walk(function).into_iter().filter_map(Op::of) {
        let Some(wanted) = core_of_name(op) else { continue };
        let found = enclosing_kind(op.raw);
        if found != Some(wanted) {
            let found = found.map_or("neither".to_owned(), |kind| format!("a {kind} one"));
            let message =
                format!("'{}' op expected a {wanted} kernel function or section, found {found}", op.facts.name);
            diagnostics::error(op.raw.location(), "PTO-0413", message).emit();
            ok = false;
        }
    }
    ok
}

/// The core that a front-end's queue operation names.
fn core_of_name(op: Op) -> Option<&'static str> {
    match op.mnemonic() {
        "tpush_to_aic" | "tpop_from_aic" | "tfree_from_aic" | "talloc_to_aic" | "aiv_initialize_pipe" => Some("vector"),
        "tpush_to_aiv" | "tpop_from_aiv" | "tfree_from_aiv" | "talloc_to_aiv" | "aic_initialize_pipe" => Some("cube"),
        _ => None,
    }
}

/// The kind of the innermost section, else of the function.
fn enclosing_kind<'c>(op: OperationRef<'c, '_>) -> Option<&'c str> {
    let core = ir::ancestors(op).find_map(ir::section_kind);
    core.or_else(|| ir::function_of(op).and_then(ir::kernel_kind))
}

fn infer(function: OperationRef, device: &Device) -> bool {
    let mut first: Option<(&'static str, Op)> = None;
    for op in ir::walk(function).into_iter().filter_map(Op::of) {
        if op.mnemonic().starts_with("section.") {
            return true;
        }
        let Some(kind) = kind_of(op, device) else { continue };
        match first {
            None => first = Some((kind, op)),
            Some((known, _)) if known == kind => {}
            Some((known, other)) => {
                let message = format!(
                    "'{}' op runs on the {kind} core, but the function also uses the {known} core",
                    op.facts.name
                );
                diagnostics::error(op.raw.location(), "PTO-0302", message)
                    .note(other.raw.location(), format!("'{}' runs on the {known} core", other.facts.name))
                    .help("wrap the parts in pto.section.cube and pto.section.vector, or split the function")
                    .emit();
                return false;
            }
        }
    }
    if let Some((kind, op)) = first {
        let context = pto_dialect::context_of(op.raw);
        let attribute = enum_attr(context, "KernelKind", kind).expect("both kinds exist");
        edit::set_attribute(function, "pto.kernel_kind", attribute);
    }
    debug_assert!(first.is_none() || attribute(function, "pto.kernel_kind").is_some());
    true
}

/// The core an operation needs; `None` when it runs on either.
pub fn kind_of(op: Op, device: &Device) -> Option<&'static str> {
    if let Some(named) = core_of_name(op) {
        return Some(named);
    }
    let pipe = pipe_of(op, device.legality)?;
    let spaces: Vec<Space> = op.raw.operands().filter_map(Tile::of_value).map(|t| t.space).collect();
    let any = |wanted: &[Space]| spaces.iter().any(|s| wanted.contains(s));
    match pipe {
        _ if any(&[
            Space::Left,
            Space::Right,
            Space::Acc,
            Space::Bias,
            Space::Scaling,
            Space::ScaleLeft,
            Space::ScaleRight,
        ]) =>
        {
            Some("cube")
        }
        _ if any(&[Space::Vec]) => Some("vector"),
        // Between mat and global memory, the cube core moves on its own MTE2 and MTE3.
        _ if any(&[Space::Mat]) => Some("cube"),
        Pipe::M | Pipe::Mte1 | Pipe::Fix => Some("cube"),
        Pipe::V | Pipe::Mte3 => Some("vector"),
        _ => None,
    }
}
