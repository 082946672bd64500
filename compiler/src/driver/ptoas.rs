//! `ptoas`: the same compiler behind the command line of the tool that front-ends call today.
//!
//! LLVM-style options: `-flag` and `--flag`, `--flag=value` and `--flag value`; messages and exit codes as there
//! (0, or 1 for everything else). Options of other backends are refused by name.

use crate::{
    driver::{
        output,
        render::{Format, render},
    },
    session::{CompileOptions, Emit, Level, OnConflict, Outcome, Stage, compile},
};
use pto_dialect::device::Device;
use std::collections::BTreeMap;

/// What an option takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// Nothing, or `=true`/`=false`.
    Switch,
    /// A value.
    Value,
}

/// What becomes of an option.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// It is obeyed.
    Obeyed,
    /// It is accepted: it chooses among things of which there is one here, or prints debug output.
    Accepted,
    /// It belongs to another backend or is not offered.
    Refused,
}

/// All options.
const OPTIONS: &[(&str, Takes, Use)] = &[
    ("o", Takes::Value, Use::Obeyed),
    ("pto-arch", Takes::Value, Use::Obeyed),
    ("pto-level", Takes::Value, Use::Obeyed),
    ("pto-backend", Takes::Value, Use::Obeyed),
    ("enable-insert-sync", Takes::Switch, Use::Obeyed),
    ("enable-inject-barrier-all-sync", Takes::Switch, Use::Obeyed),
    ("enable-graph-sync-solver", Takes::Switch, Use::Obeyed),
    ("enable-bufid_sync", Takes::Switch, Use::Obeyed),
    ("disable-infer-layout", Takes::Switch, Use::Obeyed),
    ("emit-pto-ir", Takes::Switch, Use::Obeyed),
    ("tassign", Takes::Value, Use::Obeyed),
    ("diagnostics", Takes::Value, Use::Obeyed),
    ("plan-memory-impl", Takes::Value, Use::Obeyed),
    ("mlir-print-ir-after", Takes::Value, Use::Obeyed),
    ("mlir-print-ir-before", Takes::Value, Use::Obeyed),
    ("mlir-print-ir-after-all", Takes::Switch, Use::Obeyed),
    ("mlir-print-ir-before-all", Takes::Switch, Use::Obeyed),
    ("cann-output-version", Takes::Value, Use::Accepted),
    ("plan-memory-order-by-size", Takes::Switch, Use::Accepted),
    ("graph-sync-solver-event-id-max", Takes::Value, Use::Accepted),
    ("pto-insert-sync-debug", Takes::Value, Use::Accepted),
    ("enable-bufid-sync-debug", Takes::Switch, Use::Accepted),
    ("enable-shape-inference", Takes::Switch, Use::Accepted),
    ("enable-op-fusion", Takes::Switch, Use::Accepted),
    ("enable-tile-op-expand", Takes::Switch, Use::Accepted),
    ("mlir-print-ir-module-scope", Takes::Switch, Use::Accepted),
    ("mlir-print-ir-tree-dir", Takes::Value, Use::Accepted),
    ("mlir-timing", Takes::Switch, Use::Accepted),
    ("mlir-disable-threading", Takes::Switch, Use::Accepted),
    ("emit-addptr-trace", Takes::Switch, Use::Refused),
    ("emit-vpto", Takes::Switch, Use::Refused),
    ("emit-vpto-llvm-ir", Takes::Switch, Use::Refused),
    ("vpto-print-ir", Takes::Switch, Use::Refused),
    ("dump-vpto-ir", Takes::Switch, Use::Refused),
    ("vpto-lowering-strategy", Takes::Value, Use::Refused),
    ("vpto-scheduler", Takes::Value, Use::Refused),
    ("vpto-fix-vfsimt-size", Takes::Value, Use::Refused),
    ("enable-vpto-soft-postupdate", Takes::Switch, Use::Refused),
    ("enable-vexpdif-fusion", Takes::Switch, Use::Refused),
    ("enable-unroll-after-loop-fusion", Takes::Switch, Use::Refused),
    ("enable-vfsim-costmodel-optimization", Takes::Switch, Use::Refused),
    ("dump-vfsim-unroll-test", Takes::Switch, Use::Refused),
    ("pto-print-seam-ir", Takes::Switch, Use::Refused),
    ("pto-seam-ir-file", Takes::Value, Use::Refused),
    ("enable-bisheng-vec-misched", Takes::Switch, Use::Refused),
    ("simt-fastmath", Takes::Switch, Use::Refused),
    ("bisheng-vf-auto-sync", Takes::Value, Use::Refused),
];

/// Passes of ptoas under their names there, and the pass that does the same here.
const PASSES: &[(&str, &str)] = &[
    ("pto-plan-memory", "pto-allocate-memory-addr"),
    ("pto-resolve-buffer-select", "pto-resolve-views"),
    ("pto-lower-frontend-pipe-ops", "pto-lower-frontend-pipes"),
    ("pto-materialize-implicit-tmp", "pto-materialize-tmp"),
    ("pto-a5-normalize-tmov", "pto-legalize-tiles"),
    ("pto-inject-barrier-all-sync", "pto-insert-sync"),
    ("pto-graph-sync-solver", "pto-insert-sync"),
];

/// Our name of a pass; one that has no counterpart keeps its name, and nothing is printed around it.
fn our_pass(name: &str) -> &str {
    PASSES.iter().find(|(theirs, _)| *theirs == name).map_or(name, |(_, ours)| ours)
}

/// The options given, by name.
#[derive(Default)]
struct CommandLine {
    input: Option<String>,
    values: BTreeMap<&'static str, String>,
    defines: Vec<String>,
    reserves: Vec<String>,
    help: bool,
    version: bool,
}

impl CommandLine {
    fn value(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    fn is_on(&self, name: &str) -> bool {
        self.value(name) == Some("true")
    }
}

/// Runs with the process's arguments; returns the exit code.
pub fn main(arguments: &[String]) -> i32 {
    let line = match read_arguments(&arguments[1..]) {
        Ok(line) => line,
        Err(message) => return fail(&format!("ptoas: {message}")),
    };
    if line.help {
        print!("{}", help());
        return 0;
    }
    if line.version {
        println!("ptoas 0.60 (ptoc {})", env!("CARGO_PKG_VERSION"));
        return 0;
    }
    run(&line).unwrap_or_else(|message| fail(&message))
}

fn fail(message: &str) -> i32 {
    eprintln!("{message}");
    1
}

fn help() -> String {
    let mut text =
        String::from("OVERVIEW: PTO Assembler: .pto to CANN C++\n\nUSAGE: ptoas [options] <input file>\n\nOPTIONS:\n");
    for (name, takes, usage) in OPTIONS.iter().filter(|o| o.2 != Use::Refused) {
        let value = if *takes == Takes::Value { "=<value>" } else { "" };
        let note = if *usage == Use::Accepted { "  (accepted, without effect)" } else { "" };
        let dashes = if name.len() == 1 { "-" } else { "--" };
        text.push_str(&format!("  {dashes}{name}{value}{note}\n"));
    }
    text + "  -DPTO_<MEMORY>_SIZE_BYTES=<bytes>, -DPTO_<MEMORY>_ALIGN_BYTES=<bytes>\n  --reserve=<space>:<bytes>\n  --help, --version\n"
}

fn read_arguments(arguments: &[String]) -> Result<CommandLine, String> {
    let mut line = CommandLine::default();
    let mut rest = arguments.iter().peekable();
    while let Some(argument) = rest.next() {
        let name = argument.strip_prefix("--").or_else(|| argument.strip_prefix('-')).filter(|n| !n.is_empty());
        let Some(name) = name else {
            if line.input.replace(argument.clone()).is_some() {
                return Err(format!(
                    "Too many positional arguments specified!\nCan specify at most 1 positional arguments: '{argument}'"
                ));
            }
            continue;
        };
        if let Some(define) = name.strip_prefix('D').filter(|d| d.starts_with("PTO_")) {
            line.defines.push(define.to_owned());
            continue;
        }
        let (name, value) = name.split_once('=').map_or((name, None), |(n, v)| (n, Some(v.to_owned())));
        match name {
            "help" | "h" => line.help = true,
            "version" => line.version = true,
            "reserve" => line.reserves.extend(value.or_else(|| rest.next().cloned())),
            _ => {
                let option = OPTIONS.iter().find(|o| o.0 == name).ok_or_else(|| unknown(argument, name))?;
                let value = match option.1 {
                    Takes::Switch => switch(name, value)?,
                    Takes::Value => value
                        .or_else(|| rest.next().cloned())
                        .ok_or_else(|| format!("for the --{name} option: requires a value!"))?,
                };
                line.values.insert(option.0, value);
            }
        }
    }
    Ok(line)
}

fn switch(name: &str, value: Option<String>) -> Result<String, String> {
    match value.as_deref() {
        None | Some("true" | "TRUE" | "True" | "1" | "") => Ok("true".to_owned()),
        Some("false" | "FALSE" | "False" | "0") => Ok("false".to_owned()),
        Some(other) => {
            Err(format!("for the --{name} option: '{other}' is invalid value for boolean argument! Try 0 or 1"))
        }
    }
}

fn unknown(argument: &str, name: &str) -> String {
    let nearest = OPTIONS.iter().map(|o| o.0).min_by_key(|known| distance(known, name));
    let hint = nearest.map_or(String::new(), |n| format!("\nptoas: Did you mean '--{n}'?"));
    format!("Unknown command line argument '{argument}'.  Try: 'ptoas --help'{hint}")
}

/// Edits from one word to another.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let next = (diagonal + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], next);
        }
    }
    row[b.len()]
}

/// The options as the compiler takes them; `Err` is an `Error:` line.
fn options(line: &CommandLine) -> Result<CompileOptions, String> {
    for (name, _, _) in OPTIONS.iter().filter(|o| o.2 == Use::Refused) {
        if line.value(name).is_some_and(|v| v != "false") {
            return Err(format!("Error: --{name} belongs to another backend or mode; this program emits C++ only."));
        }
    }
    let arch = line.value("pto-arch").map(str::to_ascii_lowercase);
    if let Some(arch) = arch.as_deref().filter(|a| Device::by_name(a).is_err()) {
        let given = line.value("pto-arch").unwrap_or(arch);
        return Err(format!("Error: invalid --pto-arch='{given}'. Expected 'a2', 'a3', or 'a5'."));
    }
    match line.value("pto-backend").map(str::to_ascii_lowercase).as_deref() {
        None | Some("emitc") => {}
        Some("vpto") => {
            return Err("Error: --pto-backend=vpto is not available; this program emits C++ only.".to_owned());
        }
        Some(other) => return Err(format!("Error: invalid --pto-backend='{other}'. Expected 'emitc' or 'vpto'.")),
    }
    // What is asked for is that dependent operations are ordered; there is one way here in which they are.
    let sync_modes =
        ["enable-insert-sync", "enable-bufid_sync", "enable-inject-barrier-all-sync", "enable-graph-sync-solver"];
    if line.is_on("enable-bufid_sync") && arch.as_deref() != Some("a5") {
        return Err("Error: --enable-bufid_sync requires --pto-arch=a5.".to_owned());
    }
    let chosen = sync_modes.iter().filter(|m| line.is_on(m)).count();
    if chosen > 1 {
        return Err("Error: --enable-insert-sync, --enable-bufid_sync, --enable-inject-barrier-all-sync, and --enable-graph-sync-solver are mutually exclusive.".to_owned());
    }
    let print = |which: &str, all: &str| -> Vec<String> {
        let named =
            line.value(which).into_iter().flat_map(|list| list.split(',')).map(|name| our_pass(name).to_owned());
        named.chain(line.is_on(all).then(|| "all".to_owned())).collect()
    };
    let print_before = print("mlir-print-ir-before", "mlir-print-ir-before-all");
    let print_after = print("mlir-print-ir-after", "mlir-print-ir-after-all");
    Ok(CompileOptions {
        arch,
        on_conflict: OnConflict::Warn,
        lenient_target: true,
        strict_scratch: true,
        defines: line.defines.clone(),
        reserves: line.reserves.clone(),
        level: level(line)?,
        sync: chosen == 1,
        keep_layout: line.is_on("disable-infer-layout"),
        emit: if line.is_on("emit-pto-ir") { Emit::Pto } else { Emit::Cpp },
        runtime_tassign: runtime_tassign(line)?,
        print_after,
        print_before,
        allow_unregistered: true,
        ..CompileOptions::default()
    })
}

fn runtime_tassign(line: &CommandLine) -> Result<bool, String> {
    match line.value("tassign") {
        None | Some("checked") => Ok(false),
        Some("runtime") => Ok(true),
        Some(other) => Err(format!("Error: invalid --tassign='{other}'. Expected 'checked' or 'runtime'.")),
    }
}

fn level(line: &CommandLine) -> Result<Level, String> {
    let implementation = line.value("plan-memory-impl").unwrap_or("legacy");
    if !matches!(implementation, "legacy" | "modern") {
        return Err(format!("Error: invalid --plan-memory-impl='{implementation}', expected 'legacy' or 'modern'."));
    }
    match line.value("pto-level").unwrap_or("level2").to_ascii_lowercase().as_str() {
        "level1" | "level2" => Ok(Level::Planned),
        "level3" => Ok(Level::Given),
        other => Err(format!("Error: invalid --pto-level='{other}'. Expected 'level1', 'level2', or 'level3'.")),
    }
}

fn run(line: &CommandLine) -> Result<i32, String> {
    let input = line.input.as_deref().unwrap_or("-");
    let text = output::read(input).map_err(|error| format!("Error: Could not open input file: {input}: {error}"))?;
    let options = options(line)?;
    let format = match line.value("diagnostics") {
        None | Some("text") => Format::Ptoas,
        Some("json") => Format::Json,
        Some(other) => return Err(format!("Error: invalid --diagnostics='{other}'. Expected 'text' or 'json'.")),
    };
    let file = if input == "-" { "<stdin>" } else { input };
    let outcome = compile(&text, file, &options);
    for printed in &outcome.printed {
        let when = if printed.before { "Before" } else { "After" };
        eprintln!("// -----// IR Dump {when} {} //----- //\n{}\n", printed.pass, printed.ir);
    }
    eprint!("{}", render(format, &outcome.diagnostics, file, &text));
    match &outcome.text {
        Some(product) => {
            let target = line.value("o").unwrap_or("-");
            output::write(target, product).map_err(|error| format!("Error: Could not write '{target}': {error}"))?;
            Ok(0)
        }
        None => {
            if let Some(last) = closing_line(&outcome) {
                eprintln!("{last}");
            }
            Ok(1)
        }
    }
}

/// The line that ends a failed run, as callers look for it.
fn closing_line(outcome: &Outcome) -> Option<&'static str> {
    match outcome.stage {
        Stage::Parse => Some("Error: Failed to parse MLIR."),
        Stage::Passes => Some("Error: Pass execution failed."),
        Stage::Emit => Some("Error: Failed to emit C++."),
        Stage::Options | Stage::Check | Stage::Done => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<CommandLine, String> {
        read_arguments(&words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn both_dashes_and_both_value_forms_are_read() {
        let line = parse(&["in.pto", "-o", "out.cpp", "--pto-arch", "a5", "-pto-level=level3", "--enable-insert-sync"])
            .expect("well-formed");
        assert_eq!(line.input.as_deref(), Some("in.pto"));
        assert_eq!(line.value("o"), Some("out.cpp"));
        assert_eq!(line.value("pto-arch"), Some("a5"));
        assert!(line.is_on("enable-insert-sync"));
        assert_eq!(options(&line).expect("legal").level, Level::Given);
    }

    #[test]
    fn wrong_words_get_the_lines_that_callers_know() {
        let unknown = parse(&["--pto-arhc=a3"]).err().expect("unknown");
        assert!(
            unknown.contains("Unknown command line argument '--pto-arhc=a3'")
                && unknown.contains("Did you mean '--pto-arch'?")
        );
        let error = |words: &[&str]| options(&parse(words).expect("readable")).expect_err("refused");
        assert_eq!(error(&["--pto-arch=a9"]), "Error: invalid --pto-arch='a9'. Expected 'a2', 'a3', or 'a5'.");
        assert!(error(&["--pto-level=3"]).starts_with("Error: invalid --pto-level="));
        assert!(error(&["--vpto-scheduler=on"]).contains("--vpto-scheduler"));
        assert!(error(&["--enable-insert-sync", "--enable-graph-sync-solver"]).contains("mutually exclusive"));
    }
}
