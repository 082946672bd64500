//! Finds clang and runs it on kernels. Does not read the bitcode: see `bitcode.rs`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::error::{Diagnostic, Error, Severity};
use crate::{CompileOptions, include_dir};

/// Environment variables that hold an LLVM installation prefix, as other crates of the workspace use them.
const PREFIX_VARIABLES: [&str; 2] = ["LLVM_SYS_221_PREFIX", "MLIR_SYS_220_PREFIX"];

/// A clang that compiles kernels against the headers of this crate.
#[derive(Debug, Clone)]
pub struct HostCompiler {
    program: PathBuf,
    include_dir: PathBuf,
}

impl HostCompiler {
    /// Finds clang: `PTO_HOST_CXX`, then `clang++-22` and `clang++` on the path, then `bin/clang++` of the LLVM
    /// prefix in the environment. Bitcode is read by LLVM 22, so an LLVM 22 clang is wanted first.
    ///
    /// # Errors
    /// [`Error::CompilerNotFound`] lists what was looked for; [`Error::HeadersNotFound`] when the headers are gone.
    pub fn find() -> Result<Self, Error> {
        let candidates = candidates();
        let found = candidates.iter().find_map(|name| which::which(name).ok());
        match found {
            Some(program) => Self::with_program(program),
            None => Err(Error::CompilerNotFound {
                looked_for: candidates.iter().map(|name| name.display().to_string()).collect(),
            }),
        }
    }

    /// Uses the given clang.
    ///
    /// # Errors
    /// [`Error::HeadersNotFound`] when [`include_dir`] holds no `pto/pto-inst.hpp`.
    pub fn with_program(program: impl Into<PathBuf>) -> Result<Self, Error> {
        let include_dir = include_dir();
        if !include_dir.join("pto/pto-inst.hpp").is_file() {
            return Err(Error::HeadersNotFound(include_dir));
        }
        Ok(HostCompiler { program: program.into(), include_dir })
    }

    /// The clang that is run.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Checks that a kernel compiles, without producing code. Returns the warnings.
    ///
    /// # Errors
    /// [`Error::Rejected`] with clang's diagnostics when the kernel does not compile; other variants when clang
    /// itself could not do its work.
    pub fn check(&self, kernel: &Path, options: &CompileOptions) -> Result<Vec<Diagnostic>, Error> {
        let mut command = self.command(kernel, options);
        command.arg("-fsyntax-only");
        run(kernel, command)
    }

    /// Compiles a kernel to LLVM bitcode in `output`, with line tables. Returns the warnings.
    ///
    /// The file appears whole or not at all. It refers to `pto_host_call`, which whoever runs it supplies.
    ///
    /// # Errors
    /// As for [`HostCompiler::check`].
    pub fn compile_to_bitcode(
        &self,
        kernel: &Path,
        options: &CompileOptions,
        output: &Path,
    ) -> Result<Vec<Diagnostic>, Error> {
        let folder = output.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let scratch = tempfile::NamedTempFile::new_in(folder)
            .map_err(|source| io_error(format!("cannot write in {}", folder.display()), source))?;
        let mut command = self.command(kernel, options);
        // Loops over memory must stay loops: each access of theirs is looked at.
        command.args(["-O1", "-fno-builtin", "-gline-tables-only", "-emit-llvm", "-c", "-o"]).arg(scratch.path());
        if !options.optimised {
            command.args(["-Xclang", "-disable-llvm-passes"]);
        }
        let warnings = run(kernel, command)?;
        scratch.persist(output).map_err(|e| io_error(format!("cannot write {}", output.display()), e.error))?;
        Ok(warnings)
    }

    fn command(&self, kernel: &Path, options: &CompileOptions) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(options.arguments())
            .args(["-ferror-limit=0", "-fno-caret-diagnostics", "-fno-color-diagnostics"])
            .args(["-fno-exceptions", "-fno-rtti", "-Wno-unused-variable"])
            .arg("-I")
            .arg(&self.include_dir)
            .args(["-x", "c++"])
            .arg(kernel);
        command
    }
}

fn candidates() -> Vec<PathBuf> {
    let chosen = std::env::var_os("PTO_HOST_CXX").map(PathBuf::from);
    let on_path = ["clang++-22", "clang++"].map(PathBuf::from);
    let prefixes = PREFIX_VARIABLES.iter().filter_map(std::env::var_os);
    let in_prefix = prefixes.map(|prefix| PathBuf::from(prefix).join("bin/clang++"));
    chosen.into_iter().chain(on_path).chain(in_prefix).collect()
}

/// Runs clang on a kernel; the warnings, or the reason it failed.
pub(crate) fn run(kernel: &Path, mut command: Command) -> Result<Vec<Diagnostic>, Error> {
    let output = command
        .output()
        .map_err(|source| io_error(format!("cannot run {}", command.get_program().display()), source))?;
    let diagnostics = parse_diagnostics(&String::from_utf8_lossy(&output.stderr));
    match output.status.success() {
        true => Ok(diagnostics),
        false => Err(failure(kernel, &command, &output, diagnostics)),
    }
}

fn failure(kernel: &Path, command: &Command, output: &Output, diagnostics: Vec<Diagnostic>) -> Error {
    let command = command_line(command);
    match diagnostics.iter().any(|d| d.severity == Severity::Error && d.line > 0) {
        true => Error::Rejected { kernel: kernel.to_owned(), diagnostics, command },
        false => Error::CompilerFailed { command, stderr: String::from_utf8_lossy(&output.stderr).into_owned() },
    }
}

fn command_line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

pub(crate) fn io_error(action: String, source: std::io::Error) -> Error {
    Error::Io { action, source }
}

/// Reads clang's `file:line:column: severity: message` lines; others (such as `In file included from`) are dropped.
pub(crate) fn parse_diagnostics(text: &str) -> Vec<Diagnostic> {
    text.lines().filter_map(parse_diagnostic).collect()
}

fn parse_diagnostic(text: &str) -> Option<Diagnostic> {
    let severities = [
        (": fatal error: ", Severity::Error),
        (": error: ", Severity::Error),
        (": warning: ", Severity::Warning),
        (": note: ", Severity::Note),
    ];
    let found = severities.iter().filter_map(|(mark, severity)| Some((text.find(mark)?, *mark, *severity)));
    let (at, mark, severity) = found.min_by_key(|(at, ..)| *at)?;
    let (place, message) = (&text[..at], text[at + mark.len()..].to_owned());
    let mut parts = place.rsplitn(3, ':');
    let column = parts.next().and_then(|part| part.parse().ok());
    let line = parts.next().and_then(|part| part.parse().ok());
    Some(match (parts.next(), line, column) {
        (Some(file), Some(line), Some(column)) => Diagnostic { file: file.to_owned(), line, column, severity, message },
        _ => Diagnostic { file: String::new(), line: 0, column: 0, severity, message },
    })
}
