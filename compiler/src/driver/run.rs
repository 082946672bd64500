//! `pto-run` and `ptoc run`: compiles a kernel for this machine and runs it on the simulated NPU.

mod arguments;

use self::arguments::{Given, Place, Split, named};
use crate::{
    driver::{
        CANNOT_RUN, EXIT_DIAGNOSTICS, EXIT_USAGE, TOOL, UNREADABLE, UNWRITABLE, USAGE, output,
        render::{Entry, Format, failure, render, write_json},
    },
    session::{CompileOptions, compile},
    target::DEFAULT_TARGET,
};
use clap::Parser;
use pto_dialect::device::Device;
use pto_runtime_shim::{
    Arch, Argument, Checks, Core, Element, Error, Finding, Kernel, Outcome, Parameter, Runner, Signature, Tensor,
    VendorArg, VendorEntry, VendorOptions, npy, run_vendor,
};
use std::{
    ffi::OsString,
    io::Write,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Runs a kernel on a simulated NPU, and checks it while it runs.
#[derive(Parser, Debug)]
#[command(
    name = "pto-run",
    version,
    about = "Runs a PTO tile kernel on a simulated NPU: numbers, races, uninitialised reads, deadlocks",
    max_term_width = 110
)]
pub struct Arguments {
    /// Kernel (.pto), front-end program (.py) or emitted C++ (.cpp)
    kernel: String,
    /// An argument, by name or position: a number, FILE.npy, or TYPE[DIMS] such as f32[16,64], after `zeros:`,
    /// `random:` or `random@SEED:` if it is not to be left unwritten
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    arguments: Vec<String>,
    /// Write what is in an argument after the run
    #[arg(long = "out", value_name = "NAME=FILE.npy")]
    outputs: Vec<String>,
    /// Compare an argument after the run
    #[arg(long = "expect", value_name = "NAME=FILE.npy")]
    expectations: Vec<String>,
    /// Relative tolerance of --expect (default: 1e-5, for f16 1e-3, for bf16 1e-2, for narrower floats 0.1)
    #[arg(long)]
    rtol: Option<f64>,
    /// Absolute tolerance of --expect (default: 1e-6, for 16-bit and narrower floats 1e-3)
    #[arg(long)]
    atol: Option<f64>,
    /// Blocks that run the kernel
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    blocks: u32,
    /// Checks: all, none, or some of race,init,bounds
    #[arg(long, default_value = "all")]
    check: String,
    /// Write a time line for Perfetto or chrome://tracing
    #[arg(long, value_name = "FILE.json")]
    trace: Option<PathBuf>,
    /// Which kernel, where the file has several
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Target: a3 (a2, a2a3), a5, kirin9030, kirinx90
    #[arg(long, value_name = "TARGET")]
    arch: Option<String>,
    /// A capacity or alignment in bytes, such as PTO_UBUF_SIZE_BYTES=262144
    #[arg(short = 'D', value_name = "MACRO=BYTES")]
    define: Vec<String>,
    /// Ignore the kernel's addresses: every declared tile gets memory of its own (-D__PTO_AUTO__)
    #[arg(long)]
    auto_place: bool,
    /// Stop after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    time_limit: u64,
    /// Run with the vendor's own headers (a folder with pto/pto-inst.hpp) in their CPU simulation: no checks
    #[arg(long, value_name = "DIR")]
    pto_isa: Option<PathBuf>,
    /// How diagnostics and findings are written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    diagnostics: Format,
    /// Report nothing when all is well
    #[arg(short, long)]
    quiet: bool,
}

/// Runs with these arguments, the program's name first; returns the exit code.
pub fn main(arguments: Vec<OsString>) -> i32 {
    match Arguments::try_parse_from(arguments) {
        Ok(arguments) => run(&arguments).unwrap_or_else(|stop| stop.report(arguments.diagnostics)),
        Err(error) => {
            let _ = error.print();
            if error.use_stderr() { EXIT_USAGE } else { 0 }
        }
    }
}

/// Why there is no result.
enum Stop {
    /// Diagnostics are written already.
    Written,
    /// A code, and what is wrong.
    Because(&'static str, String),
}

impl Stop {
    /// Writes the reason; returns the exit code.
    fn report(&self, format: Format) -> i32 {
        let Stop::Because(code, message) = self else { return EXIT_DIAGNOSTICS };
        eprint!("{}", failure(format, "pto-run", code, message));
        if *code == USAGE { EXIT_USAGE } else { EXIT_DIAGNOSTICS }
    }
}

/// A command line that makes no sense.
fn usage(message: impl std::fmt::Display) -> Stop {
    Stop::Because(USAGE, message.to_string())
}

/// Something that cannot be read.
fn unreadable(message: impl std::fmt::Display) -> Stop {
    Stop::Because(UNREADABLE, message.to_string())
}

/// Something that cannot be written.
fn unwritable(message: impl std::fmt::Display) -> Stop {
    Stop::Because(UNWRITABLE, message.to_string())
}

/// Something that cannot be run.
fn failed(error: Error) -> Stop {
    let code = match error {
        Error::CompilerNotFound { .. } | Error::HeadersNotFound(_) | Error::CompilerFailed { .. } => TOOL,
        _ => CANNOT_RUN,
    };
    Stop::Because(code, error.to_string())
}

/// An argument that the kernel cannot take.
fn unfit(message: String) -> Stop {
    Stop::Because(CANNOT_RUN, message)
}

fn run(arguments: &Arguments) -> Result<i32, Stop> {
    let checks = Checks::parse(&arguments.check).map_err(|word| {
        usage(format!("--check={}: unknown check '{word}'; expected all, none, race, init or bounds", arguments.check))
    })?;
    let given = named(&arguments.arguments, "--arg").map_err(usage)?;
    let outputs = named(&arguments.outputs, "--out").map_err(usage)?;
    let expectations = named(&arguments.expectations, "--expect").map_err(usage)?;
    let begin = Instant::now();
    let source = Source::make(arguments)?;
    let prepared = Prepared::new(arguments, &source)?;
    let compiled = begin.elapsed();
    let signature = prepared.signature();
    let parameters = &signature.parameters;
    if let Some(view) = parameters.iter().find(|parameter| parameter.cpp.starts_with("GlobalTensor<")) {
        let message =
            "is a tensor view, which nothing outside a kernel can give: take a pointer and make the view inside";
        return Err(unfit(format!("'{}' of {} {message}", view.name, signature.name)));
    }
    let place = |named: &Split| Place::find(named, parameters).map_err(usage);
    let outputs: Vec<(Place, &Split)> = outputs.iter().map(|o| Ok((place(o)?, o))).collect::<Result<_, Stop>>()?;
    let wanted: Vec<(Place, Tensor)> = expectations
        .iter()
        .map(|e| {
            let at = place(e)?;
            Ok((at, npy::read(Path::new(&e.value), parameters[at.0].element).map_err(unreadable)?))
        })
        .collect::<Result<_, Stop>>()?;
    let mut values: Vec<Option<Given>> = vec![None; parameters.len()];
    for one in &given {
        let at = place(one)?;
        if values[at.0].replace(Given::read(one, &parameters[at.0]).map_err(unfit)?).is_some() {
            return Err(usage(format!("--arg {}: given twice", one.name)));
        }
    }
    // What is only written or compared gets its shape from the expectation, or memory to spare.
    for (index, parameter) in parameters.iter().enumerate() {
        if values[index].is_none() {
            let expected = wanted.iter().find(|(at, _)| at.0 == index).map(|(_, tensor)| tensor);
            let written = outputs.iter().any(|(at, _)| at.0 == index);
            values[index] = match expected {
                Some(tensor) => Some(Given::fresh(tensor.element, &tensor.shape)),
                None if written && parameter.pointer => Some(Given::Plain(Argument::Spare)),
                // Front-end programs take these from whoever launches them.
                None if parameter.name == "pypto_spmd_block_idx" => Some(Given::Plain(Argument::BlockIndex)),
                None if parameter.name == "pypto_spmd_block_num" => Some(Given::Plain(Argument::BlockCount)),
                None if parameter.name == "pypto_spmd_subblock_idx" => Some(Given::Plain(Argument::SubblockIndex)),
                None => return Err(usage(missing(parameter, index, parameters))),
            };
        }
    }
    let values: Vec<Given> = values.into_iter().map(|v| v.expect("each has a value by now")).collect();
    let result = match &prepared {
        Prepared::Vendor(signature, folder) => vendor(arguments, &source, signature, &values, folder)?,
        Prepared::Simulated(kernel) => simulate(arguments, kernel, &values, checks, compiled)?,
    };
    let tensor = |at: Place| result.tensor(at.0, &parameters[at.0], &values[at.0]);
    let mut code = result.code;
    for (at, expected) in &wanted {
        if !compare(arguments, &parameters[at.0], &tensor(*at), expected) {
            code = EXIT_DIAGNOSTICS;
        }
    }
    for (at, output) in &outputs {
        npy::write(Path::new(&output.value), &tensor(*at)).map_err(unwritable)?;
    }
    Ok(code)
}

fn missing(parameter: &Parameter, index: usize, all: &[Parameter]) -> String {
    let list: Vec<String> = all.iter().map(|p| format!("{} {}", p.cpp, p.name)).collect();
    let form = if parameter.pointer { "FILE.npy or TYPE[DIMS]" } else { "NUMBER" };
    format!(
        "argument {index} is missing: give --arg {}={form}\n  the kernel takes ({})",
        parameter.name,
        list.join(", ")
    )
}

/// The C++ of the kernel, and how to compile it.
struct Source {
    cpp: PathBuf,
    options: pto_runtime_shim::CompileOptions,
    _folder: tempfile::TempDir,
}

impl Source {
    fn make(arguments: &Arguments) -> Result<Source, Stop> {
        let text = output::read(&arguments.kernel)
            .map_err(|error| unreadable(format!("cannot read '{}': {error}", arguments.kernel)))?;
        let named = arguments.arch.as_deref().unwrap_or(DEFAULT_TARGET);
        let mut device = Device::by_name(named).map_err(|e| usage(format!("--arch={named}: {e}")))?;
        for define in &arguments.define {
            device.apply_define(define).map_err(|e| usage(format!("-D{define}: {e}")))?;
        }
        let folder = tempfile::tempdir().map_err(|e| unwritable(format!("cannot make a folder: {e}")))?;
        let is_cpp = Path::new(&arguments.kernel).extension().is_some_and(|e| e == "cpp" || e == "cc" || e == "cce");
        let (cpp, device) = if is_cpp {
            (PathBuf::from(&arguments.kernel), device)
        } else {
            let options = CompileOptions {
                arch: arguments.arch.clone(),
                defines: arguments.define.clone(),
                sync: true,
                // The vendor's headers are not ours to map to lines.
                line_directives: arguments.pto_isa.is_none(),
                ..CompileOptions::default()
            };
            let outcome = compile(&text, &arguments.kernel, &options);
            eprint!("{}", render(arguments.diagnostics, &outcome.diagnostics, &arguments.kernel, &text));
            let (Some(cpp), Some(device)) = (outcome.text, outcome.device) else { return Err(Stop::Written) };
            let path = folder.path().join("kernel.cpp");
            std::fs::write(&path, cpp).map_err(|e| unwritable(format!("cannot write '{}': {e}", path.display())))?;
            (path, (*device).clone())
        };
        let arch = match device.name.as_str() {
            "a5" => Arch::A5,
            "kirin9030" => Arch::Kirin9030,
            "kirinx90" => Arch::KirinX90,
            _ => Arch::A3,
        };
        let auto = arguments.auto_place.then_some("__PTO_AUTO__");
        let defines = arguments.define.iter().map(String::as_str).chain(auto);
        let options = defines.fold(pto_runtime_shim::CompileOptions::new(arch), |o, d| o.define(d));
        Ok(Source { cpp, options, _folder: folder })
    }
}

/// The kernel, before its arguments are known.
enum Prepared {
    Simulated(Kernel),
    /// To be compiled with headers from this folder.
    Vendor(Signature, PathBuf),
}

impl Prepared {
    fn new(arguments: &Arguments, source: &Source) -> Result<Prepared, Stop> {
        let entry = arguments.entry.as_deref();
        let Some(folder) = &arguments.pto_isa else {
            return Kernel::compile(&source.cpp, &source.options, entry).map(Prepared::Simulated).map_err(failed);
        };
        let text = std::fs::read_to_string(&source.cpp)
            .map_err(|e| unreadable(format!("cannot read '{}': {e}", source.cpp.display())))?;
        let signature = Signature::find(&text, entry).map_err(|e| unfit(format!("{}: {e}", arguments.kernel)))?;
        Ok(Prepared::Vendor(signature, folder.clone()))
    }

    fn signature(&self) -> &Signature {
        match self {
            Prepared::Simulated(kernel) => &kernel.signature,
            Prepared::Vendor(signature, _) => signature,
        }
    }
}

/// What a run left behind.
struct RunResult {
    code: i32,
    memory: Vec<Vec<u8>>,
    /// Size that the kernel wrote, and row pitch, in bytes, for arguments of unknown shape.
    extents: Vec<(u64, Option<u64>)>,
}

impl RunResult {
    /// An argument after the run.
    fn tensor(&self, index: usize, parameter: &Parameter, given: &Given) -> Tensor {
        let bytes = &self.memory[index];
        match given {
            Given::Tensor(tensor) => Tensor { bytes: bytes.clone(), ..tensor.clone() },
            Given::Fresh(element, shape) => Tensor { element: *element, shape: shape.clone(), bytes: bytes.clone() },
            Given::Plain(Argument::Spare) => {
                let element = parameter.element.unwrap_or(Element::U8);
                let (extent, pitch) = self.extents[index];
                let (extent, width) = (extent as usize, element.bits().div_ceil(8));
                let shape = match pitch {
                    Some(pitch) if pitch > 0 && extent % pitch as usize == 0 => {
                        vec![extent / pitch as usize, pitch as usize / width]
                    }
                    _ => vec![extent / width],
                };
                Tensor { element, shape, bytes: bytes[..extent].to_vec() }
            }
            _ => Tensor::zeros(Element::U8, &[0]),
        }
    }
}

fn simulate(
    arguments: &Arguments,
    kernel: &Kernel,
    values: &[Given],
    checks: Checks,
    compiled: Duration,
) -> Result<RunResult, Stop> {
    let mut runner = Runner::new(kernel)
        .blocks(arguments.blocks as usize)
        .checks(checks)
        .trace(arguments.trace.is_some())
        .time_limit(Duration::from_secs(arguments.time_limit.max(1)))
        .progress(Box::new(|instructions| eprintln!("pto-run: {instructions} instructions so far")));
    for value in values {
        runner = runner.arg(value.argument());
    }
    let outcome = runner.run().map_err(failed)?;
    print!("{}", outcome.printed);
    let _ = std::io::stdout().flush();
    outcome.findings.iter().for_each(|finding| eprint!("{}", shown(arguments.diagnostics, finding)));
    if let (Some(path), Some(trace)) = (&arguments.trace, &outcome.trace) {
        output::write(&path.to_string_lossy(), trace)
            .map_err(|error| unwritable(format!("cannot write '{}': {error}", path.display())))?;
    }
    if !arguments.quiet || !outcome.findings.is_empty() {
        eprintln!("{}", summary(arguments, kernel, &outcome, compiled));
    }
    let extents = outcome.extents.iter().copied().zip(outcome.pitches.iter().copied()).collect();
    let code = if outcome.findings.is_empty() { 0 } else { EXIT_DIAGNOSTICS };
    Ok(RunResult { code, memory: outcome.memory, extents })
}

/// A finding as a line of text or JSON.
fn shown(format: Format, finding: &Finding) -> String {
    if format == Format::Text {
        return format!("{finding}\n");
    }
    let known = finding.line > 0;
    let note = |message: &String| Entry { severity: "note", message: message.clone(), ..Entry::default() };
    let entry = Entry {
        severity: "error",
        code: finding.rule.code().to_owned(),
        message: finding.message.clone(),
        file: known.then(|| finding.file.clone()),
        line: known.then_some(finding.line),
        notes: finding.notes.iter().map(note).collect(),
        ..Entry::default()
    };
    let mut out = String::new();
    write_json(&mut out, &entry);
    out
}

fn summary(arguments: &Arguments, kernel: &Kernel, outcome: &Outcome, compiled: Duration) -> String {
    let found = match outcome.findings.len() + outcome.dropped {
        0 if arguments.check == "none" => "no checks".to_owned(),
        0 => "no findings".to_owned(),
        1 => "1 finding".to_owned(),
        n => format!("{n} findings"),
    };
    format!(
        "pto-run: {}: {} block{}, {} instructions in {:.1} ms (compiled in {:.0} ms): {found}",
        kernel.signature.name,
        arguments.blocks,
        if arguments.blocks == 1 { "" } else { "s" },
        outcome.instructions,
        outcome.elapsed.as_secs_f64() * 1e3,
        compiled.as_secs_f64() * 1e3,
    )
}

/// Compares an argument with what is expected, and says so.
fn compare(arguments: &Arguments, parameter: &Parameter, found: &Tensor, expected: &Tensor) -> bool {
    let (rtol, atol) = match expected.element {
        Element::F32 | Element::F64 => (1e-5, 1e-6),
        Element::F16 => (1e-3, 1e-3),
        Element::BF16 => (1e-2, 1e-3),
        element if element.is_float() => (0.1, 1e-3),
        _ => (0.0, 0.0),
    };
    let (rtol, atol) = (arguments.rtol.unwrap_or(rtol), arguments.atol.unwrap_or(atol));
    let agreement = found.agreement(expected, rtol, atol);
    let worst = match agreement.at {
        Some((at, a, b)) => {
            format!("largest difference {:.3e} at {:?}: {a} for {b}", agreement.largest, expected.index(at))
        }
        None => "bit for bit".to_owned(),
    };
    let name = &parameter.name;
    if agreement.differing == 0 {
        if !arguments.quiet {
            eprintln!("pto-run: {name}: all {} values agree ({worst})", agreement.count);
        }
        return true;
    }
    eprintln!(
        "pto-run: error: {name}: {} of {} values differ by more than {atol} + {rtol} * |expected| ({worst})",
        agreement.differing, agreement.count
    );
    false
}

/// Runs with the vendor's headers.
fn vendor(
    arguments: &Arguments,
    source: &Source,
    kernel: &Signature,
    values: &[Given],
    folder: &Path,
) -> Result<RunResult, Stop> {
    let function =
        |wanted: &[Core]| kernel.entries.iter().find(|(core, _)| wanted.contains(core)).map(|(_, f)| f.clone());
    // Code without sections is a vector kernel there: the half decides nothing but a macro.
    let entry = VendorEntry { cube: function(&[Core::Cube]), vector: function(&[Core::Vector, Core::Whole]) };
    let mut options = VendorOptions::new(folder, source.options.arch);
    options.blocks = arguments.blocks;
    options.time_limit = Duration::from_secs(arguments.time_limit.max(1));
    options.cache = Some(std::env::temp_dir().join("pto-run-headers"));
    let mut list: Vec<VendorArg> = values.iter().map(Given::vendor).collect();
    let report = run_vendor(&options, &source.cpp, &entry, &mut list).map_err(failed)?;
    print!("{}", report.stdout);
    let _ = std::io::stdout().flush();
    eprint!("{}", report.stderr);
    if !arguments.quiet {
        eprintln!(
            "pto-run: {}: {} block{} with the vendor's headers in {:.1} ms (compiled in {:.0} ms): no checks",
            kernel.name,
            arguments.blocks,
            if arguments.blocks == 1 { "" } else { "s" },
            report.run.as_secs_f64() * 1e3,
            report.compile.as_secs_f64() * 1e3,
        );
    }
    let memory: Vec<Vec<u8>> = list
        .into_iter()
        .map(|argument| if let VendorArg::Buffer(bytes) = argument { bytes } else { Vec::new() })
        .collect();
    let extents = memory.iter().map(|bytes| (bytes.len() as u64, None)).collect();
    Ok(RunResult { code: 0, memory, extents })
}

impl Given {
    fn vendor(&self) -> VendorArg {
        match self.argument() {
            Argument::Tensor(tensor) => VendorArg::Buffer(tensor.bytes),
            Argument::Fresh(bytes) => VendorArg::Buffer(vec![0; bytes]),
            Argument::Spare => VendorArg::Buffer(vec![0; 64 << 20]),
            Argument::Int(value) => VendorArg::Integer(value),
            Argument::Float(value) => VendorArg::Real(value),
            Argument::BlockIndex => VendorArg::BlockIndex,
            Argument::BlockCount => VendorArg::BlockCount,
            Argument::SubblockIndex => VendorArg::SubblockIndex,
        }
    }

    fn argument(&self) -> Argument {
        match self {
            Given::Tensor(tensor) => Argument::Tensor(tensor.clone()),
            Given::Fresh(element, shape) => Argument::Fresh(element.bytes_of(shape.iter().product())),
            Given::Plain(argument) => argument.clone(),
        }
    }
}
