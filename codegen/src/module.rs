//! A whole file: header, helpers that are used, functions with callees before callers.

use crate::{
    function::{Body, is_declaration, symbol},
    structure::Structs,
};
use melior::ir::{BlockLike, Module, OperationRef, RegionLike, operation::OperationLike};
use pto_dialect::{attribute, device::Device, diagnostics, op_name, symbol_value};
use std::collections::{BTreeMap, BTreeSet};

/// How to print.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Write `TASSIGN(tile, address)` even for constant addresses (old headers).
    pub runtime_tassign: bool,
    /// Write `#line` directives, so that whoever compiles the C++ reports places of the kernel's own source.
    pub line_directives: bool,
    /// Check valid extents that are known at run time before a tile gets them, and stop with a message.
    pub runtime_checks: bool,
}

/// How many TASSIGN calls of each form there are.
#[derive(Clone, Debug, Default)]
pub struct TassignCount {
    /// `TASSIGN<0x..>(tile)`, checked by the device compiler.
    pub checked: usize,
    /// `TASSIGN(tile, address)`, by reason.
    pub runtime: BTreeMap<String, usize>,
}

/// What `emit` makes.
#[derive(Debug)]
pub struct Emitted {
    /// The C++ text.
    pub text: String,
    /// TASSIGN calls.
    pub tassign: TassignCount,
}

/// State that the functions of a file share.
pub struct Shared {
    pub(crate) device: Device,
    pub(crate) options: Options,
    pub(crate) needs_bitcast: bool,
    pub(crate) failed: bool,
    pub(crate) structs: Structs,
    text: String,
    tassign: TassignCount,
}

const BITCAST: &str = "template <typename To, typename From>
static AICORE inline To ptoc_bitcast(From from) {
  static_assert(sizeof(To) == sizeof(From), \"a bit cast keeps the size\");
  union {
    From from;
    To to;
  } both;
  both.from = from;
  return both.to;
}

";

/// Prints a placed module. `None` after an error, which goes to the context's diagnostic handlers.
pub fn emit(module: &Module, device: &Device, options: &Options) -> Option<Emitted> {
    let mut functions = Vec::new();
    collect(module.body().first_operation(), &mut functions);
    let symbols: Vec<String> = functions.iter().map(|&f| symbol(f)).collect();
    let ordered = callees_first(&functions)?;
    let mut shared = Shared {
        device: device.clone(),
        options: options.clone(),
        needs_bitcast: false,
        failed: false,
        structs: Structs::default(),
        text: String::new(),
        tassign: TassignCount::default(),
    };
    for function in ordered {
        Body::emit_function(&mut shared, &symbols, function);
    }
    if shared.failed {
        return None;
    }
    let mut text = String::from("#include \"pto/pto-inst.hpp\"\n\nusing namespace pto;\n\n");
    if shared.needs_bitcast {
        text.push_str(BITCAST);
    }
    text.push_str(shared.structs.definitions());
    text.push_str(shared.text.trim_end());
    text.push('\n');
    Some(Emitted { text, tassign: shared.tassign })
}

/// The functions of a module and of the modules inside it, in source order.
fn collect<'c, 'a>(mut next: Option<OperationRef<'c, 'a>>, functions: &mut Vec<OperationRef<'c, 'a>>) {
    while let Some(op) = next {
        match op_name(op) {
            "func.func" => functions.push(op),
            "builtin.module" => collect(first_inside(op), functions),
            _ => {}
        }
        next = op.next_in_block();
    }
}

fn first_inside<'c, 'a>(op: OperationRef<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
    op.region(0).ok()?.first_block()?.first_operation()
}

/// Declarations first, then definitions so that every callee stands before its callers, source order otherwise.
fn callees_first<'c, 'a>(functions: &[OperationRef<'c, 'a>]) -> Option<Vec<OperationRef<'c, 'a>>> {
    let by_name: BTreeMap<String, usize> = functions.iter().enumerate().map(|(i, &f)| (symbol(f), i)).collect();
    let mut order: Vec<usize> = (0..functions.len()).filter(|&i| is_declaration(functions[i])).collect();
    let mut done: BTreeSet<usize> = order.iter().copied().collect();
    for index in 0..functions.len() {
        visit(index, functions, &by_name, &mut done, &mut Vec::new(), &mut order)?;
    }
    Some(order.into_iter().map(|i| functions[i]).collect())
}

fn visit(
    index: usize,
    functions: &[OperationRef],
    by_name: &BTreeMap<String, usize>,
    done: &mut BTreeSet<usize>,
    open: &mut Vec<usize>,
    order: &mut Vec<usize>,
) -> Option<()> {
    if done.contains(&index) {
        return Some(());
    }
    if open.contains(&index) {
        let function = functions[index];
        let message = format!(
            "function '{}' calls itself, directly or through others; the device has no recursion",
            symbol(function)
        );
        diagnostics::error(function.location(), "PTO-0502", message).emit();
        return None;
    }
    open.push(index);
    let mut callees = BTreeSet::new();
    calls(first_inside(functions[index]), by_name, &mut callees);
    for callee in callees {
        visit(callee, functions, by_name, done, open, order)?;
    }
    open.pop();
    done.insert(index);
    order.push(index);
    Some(())
}

fn calls(mut next: Option<OperationRef>, by_name: &BTreeMap<String, usize>, found: &mut BTreeSet<usize>) {
    while let Some(op) = next {
        if op_name(op) == "func.call" {
            let callee = attribute(op, "callee").and_then(symbol_value);
            found.extend(callee.and_then(|name| by_name.get(&name)));
        }
        for region in op.regions() {
            calls(region.first_block().and_then(|b| b.first_operation()), by_name, found);
        }
        next = op.next_in_block();
    }
}

impl Shared {
    /// A line at an indentation.
    pub(crate) fn line(&mut self, indent: usize, text: &str) {
        for _ in 0..indent {
            self.text.push_str("  ");
        }
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// A preprocessor line.
    pub(crate) fn raw(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    pub(crate) fn blank(&mut self) {
        self.text.push('\n');
    }

    pub(crate) fn count_tassign(&mut self, checked: bool, reason: &str, tile: &str) {
        if checked {
            self.tassign.checked += 1;
        } else {
            *self.tassign.runtime.entry(reason.to_owned()).or_default() += 1;
            tracing::debug!(tile, reason, "run-time TASSIGN");
        }
    }
}
