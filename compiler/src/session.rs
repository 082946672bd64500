//! One text through the whole compiler: parse, target, passes, C++. Nothing here prints.

mod front_end;

use crate::{
    foreign, ir,
    memory::{Order, Planner},
    passes::materialize_tmp,
    pipeline::{self, Settings},
    placement,
    target::{DEFAULT_TARGET, TARGET_ATTRIBUTE, module_target},
};
use melior::{
    Context,
    ir::{Location, Module, OperationRef, attribute::StringAttribute, operation::OperationLike},
};
use pto_codegen::{Options as CodegenOptions, TassignCount};
use pto_dialect::{
    Op, ParseOptions, attribute, constant_int,
    device::{Device, Legality},
    diagnostics::{self, Collector, Diagnostic, INTERNAL, Severity},
    edit, new_context, op_name, parse,
};
use std::{
    collections::HashSet,
    sync::Arc,
    time::{Duration, Instant},
};

/// What to produce.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Emit {
    /// CANN C++.
    #[default]
    Cpp,
    /// The module after the pipeline, in the dialect's own spelling.
    Pto,
    /// The same in MLIR's generic form.
    Mlir,
    /// Where everything on the chip is, as JSON.
    Placement,
    /// The placed program in its own notation.
    Frontend,
}

/// Who gives addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// The author where he did, the compiler elsewhere.
    #[default]
    Mixed,
    /// The compiler alone (levels 1 and 2 of ptoas).
    Planned,
    /// The author alone (level 3 of ptoas).
    Given,
}

/// What to do when the module names another target than the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnConflict {
    /// An error.
    #[default]
    Refuse,
    /// A warning; the caller wins.
    Warn,
}

/// How to compile.
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    /// Target by name; `None`: the module's own, else the default.
    pub arch: Option<String>,
    /// When the module names another.
    pub on_conflict: OnConflict,
    /// A target of the module that nobody knows becomes the default (as ptoas does), with a warning.
    pub lenient_target: bool,
    /// `-D` overrides (`PTO_UBUF_SIZE_BYTES=...`).
    pub defines: Vec<String>,
    /// `--reserve` overrides (`vec:0`).
    pub reserves: Vec<String>,
    /// Who gives addresses.
    pub level: Level,
    /// How tiles may share bytes.
    pub planner: Planner,
    /// In which order tiles get addresses.
    pub order: Order,
    /// At level 3, whether an operation that needs a scratch tile must be given one (as ptoas wants it).
    pub strict_scratch: bool,
    /// Whether to insert barriers.
    pub sync: bool,
    /// Whether layouts are left as they are.
    pub keep_layout: bool,
    /// What to produce.
    pub emit: Emit,
    /// Write all addresses as run-time arguments.
    pub runtime_tassign: bool,
    /// Write `#line` directives into the C++.
    pub line_directives: bool,
    /// Check valid extents at run time in the C++.
    pub runtime_checks: bool,
    /// Passes after which the IR is wanted; `all` for every one.
    pub print_after: Vec<String>,
    /// Passes before which the IR is wanted.
    pub print_before: Vec<String>,
    /// Accept operations of unknown dialects when parsing.
    pub allow_unregistered: bool,
}

/// Where a compilation stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Before reading: a wrong option.
    Options,
    /// Reading.
    Parse,
    /// Legality before the passes.
    Check,
    /// The passes.
    Passes,
    /// Printing C++.
    Emit,
    /// Nowhere.
    Done,
}

/// What came of it.
pub struct Outcome {
    /// The product; `None` after an error.
    pub text: Option<String>,
    /// Where it ended.
    pub stage: Stage,
    /// Everything that was reported, in order.
    pub diagnostics: Vec<Diagnostic>,
    /// TASSIGN calls by form.
    pub tassign: TassignCount,
    /// The target, once known.
    pub device: Option<Arc<Device>>,
    /// Time per stage and pass.
    pub times: Vec<(&'static str, Duration)>,
    /// The IR before and after passes.
    pub printed: Vec<pipeline::Printed>,
}

impl Outcome {
    /// Whether a bug of ours was met.
    pub fn is_internal_error(&self) -> bool {
        self.diagnostics.iter().any(|d| d.code == INTERNAL)
    }
}

/// Compiles a text. `file` is what messages call it.
pub fn compile(text: &str, file: &str, options: &CompileOptions) -> Outcome {
    let _span = tracing::info_span!("compile", file).entered();
    let start = Instant::now();
    let context = new_context();
    context.set_allow_unregistered_dialects(options.allow_unregistered);
    let collector = Collector::attach(&context);
    let mut outcome = Outcome {
        text: None,
        stage: Stage::Parse,
        diagnostics: Vec::new(),
        tassign: TassignCount::default(),
        device: None,
        times: vec![("context", start.elapsed())],
        printed: Vec::new(),
    };
    stages(&context, text, file, options, &mut outcome);
    outcome.diagnostics = tidy(collector.take(), outcome.stage);
    if outcome.diagnostics.iter().any(|d| d.severity == Severity::Error) {
        outcome.text = None;
    }
    outcome
}

/// Gives MLIR's own errors a code and drops what was said twice: verifying operations one by one repeats what concerns the
/// regions around them.
fn tidy(mut diagnostics: Vec<Diagnostic>, stage: Stage) -> Vec<Diagnostic> {
    let mut seen = HashSet::new();
    diagnostics.retain(|d| seen.insert((d.code.clone(), d.position.clone(), d.message.clone())));
    for diagnostic in diagnostics.iter_mut().filter(|d| d.severity == Severity::Error && d.code.is_empty()) {
        let text = &diagnostic.message;
        let verified = (text.starts_with('\'') && text.contains("' op "))
            || ["does not dominate this use", "redefinition of symbol"].iter().any(|words| text.contains(words));
        diagnostic.code = if stage == Stage::Parse && !verified { SYNTAX } else { CONSTRAINT }.to_owned();
    }
    diagnostics
}

/// The text cannot be read.
const SYNTAX: &str = "PTO-0101";
/// An operation breaks its definition: what MLIR checks by itself.
const CONSTRAINT: &str = "PTO-0102";

fn stages(context: &Context, text: &str, file: &str, options: &CompileOptions, outcome: &mut Outcome) -> Option<()> {
    let (mut module, device) = if front_end::is_program(text, file) {
        outcome.stage = Stage::Options;
        let device = Arc::new(choose_device(Location::unknown(context), None, options)?);
        outcome.device = Some(Arc::clone(&device));
        outcome.stage = Stage::Parse;
        let reader = front_end::FrontEnd { context, file, device: &device, options };
        match reader.run(text, &mut outcome.times)? {
            front_end::Product::Module(module) => (module, device),
            front_end::Product::Text(text) => {
                outcome.text = Some(text);
                outcome.stage = Stage::Done;
                return Some(());
            }
        }
    } else {
        let start = Instant::now();
        let parse_options = ParseOptions { allow_unregistered: options.allow_unregistered };
        let module = {
            let _span = tracing::info_span!("parse").entered();
            parse(context, text, file, parse_options)?
        };
        outcome.times.push(("parse", start.elapsed()));
        outcome.stage = Stage::Options;
        let root = module.as_operation();
        let device = Arc::new(choose_device(root.location(), stated_target(root), options)?);
        outcome.device = Some(Arc::clone(&device));
        if options.emit == Emit::Frontend {
            let message = "--emit=frontend prints front-end programs; this is a module of the dialect (try --emit=pto)";
            diagnostics::error(root.location(), "PTO-0320", message).emit();
            return None;
        }
        (module, device)
    };
    outcome.stage = Stage::Check;
    set_target(context, &module, &device);
    // Addresses of a front-end program are ours, whatever the level.
    let level = if front_end::is_program(text, file) { Level::Mixed } else { options.level };
    check_before(module.as_operation(), level, options.strict_scratch, &device)?;
    outcome.stage = Stage::Passes;
    let settings = Settings {
        device,
        planner: options.planner,
        order: options.order,
        sync: options.sync,
        layout: !options.keep_layout,
        // Later passes turn reserved buffers and windows into what codegen prints.
        until: (options.emit == Emit::Placement).then_some("pto-check-placement"),
    };
    let wanted = |before: bool, name: &str| {
        let list = if before { &options.print_before } else { &options.print_after };
        list.iter().any(|p| p == name || p == "all")
    };
    let mut report = pipeline::Report::default();
    let ok = pipeline::run(context, &mut module, &settings, &wanted, &mut report);
    outcome.times.append(&mut report.times);
    outcome.printed.append(&mut report.printed);
    if !ok {
        return None;
    }
    outcome.stage = Stage::Emit;
    let start = Instant::now();
    outcome.text = Some(emit(&module, &settings.device, options, outcome)?);
    outcome.times.push(("emit", start.elapsed()));
    outcome.stage = Stage::Done;
    Some(())
}

fn emit(module: &Module, device: &Device, options: &CompileOptions, outcome: &mut Outcome) -> Option<String> {
    let _span = tracing::info_span!("emit").entered();
    match options.emit {
        Emit::Pto => Some(format!("{}\n", module.as_operation().to_string().trim_end())),
        Emit::Mlir => {
            let flags = melior::ir::operation::OperationPrintingFlags::new().print_generic_operation_form();
            let text = module.as_operation().to_string_with_flags(flags).ok()?;
            Some(format!("{}\n", text.trim_end()))
        }
        Emit::Placement => Some(placement::to_json(&placement::of_module(module.as_operation()))),
        // Refused before the passes ran.
        Emit::Frontend => None,
        Emit::Cpp if !device.codegen => {
            let message = format!(
                "no C++ can be emitted for {} ({}): its PTO-ISA headers cannot be included yet",
                device.name, device.title
            );
            diagnostics::error(module.as_operation().location(), "PTO-0305", message).emit();
            None
        }
        Emit::Cpp => {
            let codegen = CodegenOptions {
                runtime_tassign: options.runtime_tassign,
                line_directives: options.line_directives,
                runtime_checks: options.runtime_checks,
            };
            let emitted = pto_codegen::emit(module, device, &codegen)?;
            outcome.tassign = emitted.tassign;
            Some(emitted.text)
        }
    }
}

/// The caller's target or the one that the text states, with the overrides of the command line.
fn choose_device(location: Location, stated: Option<String>, options: &CompileOptions) -> Option<Device> {
    let complain = |code: &str, message: String| {
        diagnostics::error(location, code, message).emit();
    };
    let named = options.arch.clone().or_else(|| stated.clone()).unwrap_or_else(|| DEFAULT_TARGET.to_owned());
    let mut device = match Device::by_name(&named) {
        Ok(device) => device,
        Err(error) if options.arch.is_none() && options.lenient_target => {
            diagnostics::warning(location, "PTO-0301", format!("{error}; compiling for {DEFAULT_TARGET}")).emit();
            Device::by_name(DEFAULT_TARGET).ok()?
        }
        Err(error) => {
            complain("PTO-0301", error.to_string());
            return None;
        }
    };
    if let Some(stated) = stated.filter(|s| options.arch.is_some() && !device.is_named(s)) {
        let message = format!("the module is for {stated} ({TARGET_ATTRIBUTE}), the command line says {named}");
        match options.on_conflict {
            OnConflict::Refuse => {
                complain("PTO-0306", message);
                return None;
            }
            OnConflict::Warn => diagnostics::warning(location, "PTO-0306", message).emit(),
        }
    }
    let defines = options.defines.iter().map(|text| (text, device.apply_define(text)));
    let mut results: Vec<_> = defines.collect();
    results.extend(options.reserves.iter().map(|text| (text, device.apply_reserve(text))));
    let mut ok = true;
    for (text, result) in results {
        if let Err(error) = result {
            complain("PTO-0307", format!("option '{text}': {error}"));
            ok = false;
        }
    }
    ok.then_some(device)
}

/// The target of the module, or of the only module in it that names one.
fn stated_target(root: OperationRef) -> Option<String> {
    module_target(root).or_else(|| {
        let inner = ir::blocks(root).into_iter().flat_map(ir::operations).filter(|&op| op_name(op) == "builtin.module");
        inner.filter_map(stated_target).next()
    })
}

fn set_target<'c>(context: &'c Context, module: &Module<'c>, device: &Device) {
    let attribute = StringAttribute::new(context, &device.name).into();
    let root = module.as_operation();
    if stated_target(root).is_some() {
        edit::set_attribute(root, TARGET_ATTRIBUTE, attribute);
    }
}

/// What no pass is responsible for.
fn check_before(root: OperationRef, level: Level, strict_scratch: bool, device: &Device) -> Option<()> {
    let mut ok = foreign::check(root);
    for op in ir::walk(root) {
        if op_name(op) == "scf.for"
            && op.operand_count() > 2
            && op.operand(2).ok().and_then(constant_int).is_some_and(|step| step <= 0)
        {
            diagnostics::error(op.location(), "PTO-0308", "'scf.for' op constant step operand must be positive").emit();
            ok = false;
        }
        ok &= foreign::check(op);
        if let Some(known) = Op::of(op) {
            ok &= check_level(known, level) && (!strict_scratch || check_scratch(known, level, device));
        }
    }
    ok.then_some(())
}

/// Where the author gives all addresses, that of a scratch tile is his too.
fn check_scratch(op: Op, level: Level, device: &Device) -> bool {
    let wanted = level == Level::Given && device.legality == Legality::A3;
    let missing = if wanted { materialize_tmp::missing(op, device) } else { None };
    let Some((bytes, shape)) = missing else { return true };
    let message = format!(
        "'{}' op needs a scratch tile tmp of {bytes} bytes (vec {shape}) on {} when --pto-level=level3",
        op.facts.name, device.name
    );
    diagnostics::error(op.raw.location(), "PTO-0309", message).emit();
    false
}

/// In the strict levels, addresses come from one side only.
fn check_level(op: Op, level: Level) -> bool {
    let tile = op.is("alloc_tile") || op.is("alloc_multi_tile");
    let has_addr = tile && op.operand("addr").is_some();
    let reserve = op.is("reserve_buffer");
    let auto = attribute(op.raw, "autoAlloc").is_some() && op.bool("autoAlloc") == Some(true);
    let problem = match level {
        Level::Given if tile && !has_addr => "requires 'addr' operand when --pto-level=level3",
        Level::Given if reserve && auto => "requires 'auto = false' and explicit 'base' when --pto-level=level3",
        Level::Planned if has_addr => "unexpected 'addr' operand: only supported when --pto-level=level3",
        Level::Planned if reserve && !auto => {
            "with explicit 'base' (auto = false) is not supported when --pto-level=level1 or level2; use --pto-level=level3 or set auto = true"
        }
        _ => return true,
    };
    diagnostics::error(op.raw.location(), "PTO-0309", format!("'{}' op {problem}", op.facts.name)).emit();
    false
}
