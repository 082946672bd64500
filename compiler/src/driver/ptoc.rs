//! `ptoc`: the native command line.

use crate::{
    driver::{
        EXIT_DIAGNOSTICS, EXIT_INTERNAL, EXIT_USAGE, TOOL, UNREADABLE, UNWRITABLE, USAGE,
        explain::explain,
        output,
        render::{Format, failure, render},
    },
    memory::{Order, Planner},
    pipeline,
    session::{CompileOptions, Emit, Level, Outcome, compile},
};
use clap::{Parser, ValueEnum};
use pto_codegen::device_compiler::{self, KernelKind, Search};
use pto_dialect::device::Device;
use rayon::prelude::*;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Compiles PTO tile kernels to CANN C++ with every on-chip address placed and checked.
#[derive(Parser, Debug)]
#[command(
    name = "ptoc",
    version,
    about = "Compiles PTO tile kernels to CANN C++ with every on-chip address placed and checked",
    max_term_width = 110
)]
pub struct Arguments {
    /// Kernels (.pto) and front-end programs (.py); `-` reads standard input
    #[arg(required = true)]
    inputs: Vec<String>,
    /// Where to write; `-` is standard output; a folder when there are several inputs
    #[arg(short, long, default_value = "-")]
    output: String,
    /// What to produce
    #[arg(long, value_enum, default_value_t = EmitKind::Cpp)]
    emit: EmitKind,
    /// Target: a3 (a2, a2a3), a5, kirin9030, kirinx90
    #[arg(long, value_name = "TARGET")]
    arch: Option<String>,
    /// Who gives addresses: the kernel where it does (mixed), the compiler (2), or the kernel alone (3)
    #[arg(long, value_enum, default_value_t = LevelKind::Mixed)]
    level: LevelKind,
    /// How tiles may share bytes
    #[arg(long, value_enum, default_value_t = PlannerKind::Reuse)]
    planner: PlannerKind,
    /// In which order tiles get addresses
    #[arg(long, value_enum, default_value_t = OrderKind::Id)]
    order: OrderKind,
    /// Barriers between dependent operations: inserted, or left to the kernel
    #[arg(long, value_enum, default_value_t = SyncKind::Auto)]
    sync: SyncKind,
    /// How constant addresses are written
    #[arg(long, value_enum, default_value_t = TassignKind::Checked)]
    tassign: TassignKind,
    /// Check valid extents in the C++ while it runs: stop with a message instead of a hanging core
    #[arg(long)]
    runtime_checks: bool,
    /// A capacity or alignment in bytes, such as PTO_UBUF_SIZE_BYTES=262144
    #[arg(short = 'D', value_name = "MACRO=BYTES")]
    define: Vec<String>,
    /// Bytes at the top of a space that our placement leaves free, such as vec:8192
    #[arg(long, value_name = "SPACE:BYTES")]
    reserve: Vec<String>,
    /// Print the IR after a pass (or `all`) to standard error
    #[arg(long, value_name = "PASS")]
    print_after: Vec<String>,
    /// Print the time of each stage to standard error
    #[arg(long)]
    timing: bool,
    /// Print how many TASSIGN calls are checked at compile time and why others are not, to standard error
    #[arg(long)]
    tassign_report: bool,
    /// With --emit=obj: print the device compiler's command instead of running it
    #[arg(long)]
    dry_run: bool,
    /// How diagnostics are written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    diagnostics: Format,
    /// Threads for several inputs (0: one per core)
    #[arg(short, long, default_value_t = 0)]
    jobs: usize,
}

#[derive(Clone, Copy, Debug, ValueEnum, PartialEq, Eq)]
enum EmitKind {
    /// CANN C++
    Cpp,
    /// The placed module
    Pto,
    /// The placed module in MLIR's generic form
    Mlir,
    /// The placed front-end program (.py) in its own notation
    Frontend,
    /// Where everything on the chip is, as JSON
    Placement,
    /// An object, by the device compiler
    Obj,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LevelKind {
    Mixed,
    #[value(name = "2", alias = "level2")]
    Two,
    #[value(name = "3", alias = "level3")]
    Three,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum PlannerKind {
    Sequential,
    Reuse,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OrderKind {
    /// By number: order of definition, or the id that the program states
    Id,
    /// By name, as plain text
    Name,
}

#[derive(Clone, Copy, Debug, ValueEnum, PartialEq, Eq)]
enum SyncKind {
    Auto,
    None,
}

#[derive(Clone, Copy, Debug, ValueEnum, PartialEq, Eq)]
enum TassignKind {
    /// `TASSIGN<0x4000>(tile)`, checked by the device compiler
    Checked,
    /// `TASSIGN(tile, 0x4000)`, for old headers
    Runtime,
}

impl Arguments {
    fn options(&self) -> CompileOptions {
        CompileOptions {
            arch: self.arch.clone(),
            defines: self.define.clone(),
            reserves: self.reserve.clone(),
            level: match self.level {
                LevelKind::Mixed => Level::Mixed,
                LevelKind::Two => Level::Planned,
                LevelKind::Three => Level::Given,
            },
            planner: match self.planner {
                PlannerKind::Sequential => Planner::Sequential,
                PlannerKind::Reuse => Planner::Reuse,
            },
            order: match self.order {
                OrderKind::Id => Order::Id,
                OrderKind::Name => Order::Name,
            },
            sync: self.sync == SyncKind::Auto,
            emit: match self.emit {
                EmitKind::Cpp | EmitKind::Obj => Emit::Cpp,
                EmitKind::Pto => Emit::Pto,
                EmitKind::Mlir => Emit::Mlir,
                EmitKind::Frontend => Emit::Frontend,
                EmitKind::Placement => Emit::Placement,
            },
            runtime_tassign: self.tassign == TassignKind::Runtime,
            runtime_checks: self.runtime_checks,
            print_after: self.print_after.clone(),
            ..CompileOptions::default()
        }
    }

    /// The name of an input's product in the output folder.
    fn product(&self, input: &str) -> String {
        let extension = match self.emit {
            EmitKind::Cpp => "cpp",
            EmitKind::Pto => "pto",
            EmitKind::Mlir => "mlir",
            EmitKind::Frontend => "placed.py",
            EmitKind::Placement => "addr.json",
            EmitKind::Obj => "o",
        };
        let stem = Path::new(input).file_stem().unwrap_or_default().to_string_lossy();
        format!("{stem}.{extension}")
    }
}

/// Runs with the process's arguments; returns the exit code.
pub fn main() -> i32 {
    // `ptoc run` is `pto-run`.
    let words: Vec<std::ffi::OsString> = std::env::args_os().collect();
    match words.get(1).and_then(|word| word.to_str()) {
        Some("run") => return run_kernel(&words[2..]),
        Some("explain") => return show_explanation(words.get(2).map(|code| code.to_string_lossy()).as_deref()),
        _ => {}
    }
    match Arguments::try_parse() {
        Ok(arguments) => run(&arguments),
        Err(error) => {
            let _ = error.print();
            if error.use_stderr() { EXIT_USAGE } else { 0 }
        }
    }
}

fn show_explanation(code: Option<&str>) -> i32 {
    match explain(code) {
        // A reader who has seen enough closes the pipe.
        Ok(text) => output::write("-", &text).map_or(EXIT_DIAGNOSTICS, |()| 0),
        Err(message) => {
            eprint!("{}", failure(Format::Text, "ptoc", USAGE, &message));
            EXIT_USAGE
        }
    }
}

/// Starts `pto-run`, which is beside this program: the simulated NPU and a code generator for this machine would make it
/// half as large again.
fn run_kernel(words: &[std::ffi::OsString]) -> i32 {
    let program = std::env::current_exe().map(|own| own.with_file_name("pto-run")).unwrap_or_else(|_| "pto-run".into());
    match std::process::Command::new(&program).args(words).status() {
        Ok(status) => status.code().unwrap_or(EXIT_INTERNAL),
        Err(error) => {
            let message = format!("cannot start {}: {error}", program.display());
            eprint!("{}", failure(Format::Text, "ptoc", TOOL, &message));
            EXIT_DIAGNOSTICS
        }
    }
}

fn run(arguments: &Arguments) -> i32 {
    let targets = match check_arguments(arguments).and_then(|()| targets(arguments)) {
        Ok(targets) => targets,
        Err(message) => {
            eprint!("{}", failure(arguments.diagnostics, "ptoc", USAGE, &message));
            return EXIT_USAGE;
        }
    };
    if let [(input, target)] = &targets[..] {
        let (messages, code) = one(arguments, input, target);
        eprint!("{messages}");
        return code;
    }
    let threads = rayon::ThreadPoolBuilder::new().num_threads(arguments.jobs).build();
    let work = || targets.par_iter().map(|(input, target)| one(arguments, input, target)).collect::<Vec<_>>();
    let results = threads.map_or_else(|_| work(), |pool| pool.install(work));
    // In the order of the command line, whatever finished first.
    results.into_iter().fold(0, |worst, (messages, code)| {
        eprint!("{messages}");
        worst.max(code)
    })
}

fn check_arguments(arguments: &Arguments) -> Result<(), String> {
    let named = arguments.arch.as_deref().unwrap_or(crate::target::DEFAULT_TARGET);
    let mut device = Device::by_name(named).map_err(|e| format!("--arch={named}: {e}"))?;
    for define in &arguments.define {
        device.apply_define(define).map_err(|e| format!("-D{define}: {e}"))?;
    }
    for reserve in &arguments.reserve {
        device.apply_reserve(reserve).map_err(|e| format!("--reserve={reserve}: {e}"))?;
    }
    for name in arguments.print_after.iter().filter(|n| *n != "all") {
        if !pipeline::pass_names().any(|known| known == name) {
            let known: Vec<&str> = pipeline::pass_names().collect();
            return Err(format!("unknown pass '{name}'; expected all or one of {}", known.join(", ")));
        }
    }
    if arguments.dry_run && arguments.emit != EmitKind::Obj {
        return Err("--dry-run belongs to --emit=obj".to_owned());
    }
    if arguments.emit == EmitKind::Obj && arguments.output == "-" && !arguments.dry_run {
        return Err("--emit=obj needs a file: give -o FILE".to_owned());
    }
    Ok(())
}

/// Each input with where its product goes.
fn targets(arguments: &Arguments) -> Result<Vec<(String, String)>, String> {
    let folder = Path::new(&arguments.output).is_dir() || arguments.output.ends_with('/');
    if arguments.inputs.len() == 1 && !folder {
        return Ok(vec![(arguments.inputs[0].clone(), arguments.output.clone())]);
    }
    if arguments.output == "-" {
        return Err("several inputs need a folder: give -o FOLDER".to_owned());
    }
    std::fs::create_dir_all(&arguments.output)
        .map_err(|error| format!("cannot make folder '{}': {error}", arguments.output))?;
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    let mut targets = Vec::new();
    for input in &arguments.inputs {
        let product = arguments.product(input);
        if let Some(other) = seen.insert(product.clone(), input) {
            return Err(format!("'{other}' and '{input}' would both become {product}"));
        }
        let path: PathBuf = Path::new(&arguments.output).join(product);
        targets.push((input.clone(), path.to_string_lossy().into_owned()));
    }
    Ok(targets)
}

/// One input: what to show, and the exit code.
fn one(arguments: &Arguments, input: &str, target: &str) -> (String, i32) {
    let text = match output::read(input) {
        Ok(text) => text,
        Err(error) => {
            let message = format!("cannot read '{input}': {error}");
            return (failure(arguments.diagnostics, "ptoc", UNREADABLE, &message), EXIT_DIAGNOSTICS);
        }
    };
    let file = if input == "-" { "<stdin>" } else { input };
    let outcome = compile(&text, file, &arguments.options());
    let mut messages = String::new();
    for printed in &outcome.printed {
        messages.push_str(&format!("// ----- after {} -----\n{}\n", printed.pass, printed.ir));
    }
    messages.push_str(&render(arguments.diagnostics, &outcome.diagnostics, file, &text));
    reports(arguments, &outcome, file, &mut messages);
    let code = match &outcome.text {
        Some(product) => deliver(arguments, &outcome, product, target, &mut messages),
        None if outcome.is_internal_error() => EXIT_INTERNAL,
        None => EXIT_DIAGNOSTICS,
    };
    (messages, code)
}

fn reports(arguments: &Arguments, outcome: &Outcome, file: &str, messages: &mut String) {
    if arguments.timing {
        for (stage, time) in &outcome.times {
            messages.push_str(&format!("{file}: {:9.3} ms  {stage}\n", time.as_secs_f64() * 1e3));
        }
    }
    if arguments.tassign_report && outcome.text.is_some() {
        messages.push_str(&format!("{file}: {} TASSIGN checked at compile time\n", outcome.tassign.checked));
        for (reason, count) in &outcome.tassign.runtime {
            messages.push_str(&format!("{file}: {count} TASSIGN at run time: {reason}\n"));
        }
    }
}

fn deliver(arguments: &Arguments, outcome: &Outcome, product: &str, target: &str, messages: &mut String) -> i32 {
    let result = match (arguments.emit, &outcome.device) {
        (EmitKind::Obj, Some(device)) => object(arguments, device, product, target).map_err(|message| (TOOL, message)),
        _ => output::write(target, product).map_err(|error| (UNWRITABLE, format!("cannot write '{target}': {error}"))),
    };
    match result {
        Ok(()) => 0,
        Err((code, message)) => {
            messages.push_str(&failure(arguments.diagnostics, "ptoc", code, &message));
            EXIT_DIAGNOSTICS
        }
    }
}

fn object(arguments: &Arguments, device: &Device, cpp: &str, target: &str) -> Result<(), String> {
    let search = Search::from_environment();
    if !arguments.dry_run {
        return device_compiler::compile(cpp, device, &search, Path::new(target)).map_err(|e| e.to_string());
    }
    // A dry run shows the command even where the compiler is not installed.
    let program = device_compiler::find(&search)
        .unwrap_or_else(|_| PathBuf::from(&pto_dialect::device::device_compiler().names[0]));
    let object = if target == "-" { Path::new("kernel.o") } else { Path::new(target) };
    let source = object.with_extension("cpp");
    let invocation = device_compiler::invocation(&program, device, KernelKind::of_text(cpp), &source, object, &search);
    let invocation = invocation.map_err(|e| e.to_string())?;
    output::write("-", &format!("{invocation}\n")).map_err(|e| e.to_string())
}
