//! Errors of the crate, and the diagnostics of clang in a structured form.

use std::fmt;
use std::path::PathBuf;

/// Severity of a compiler diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Severity {
    /// The kernel does not compile.
    Error,
    /// The kernel compiles but is suspicious.
    Warning,
    /// Belongs to the diagnostic before it.
    Note,
}

/// One line that clang reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// File as clang names it; empty when the diagnostic has no place.
    pub file: String,
    /// Line, from 1; 0 when the diagnostic has no place.
    pub line: u32,
    /// Column in bytes, from 1; 0 when the diagnostic has no place.
    pub column: u32,
    /// Severity.
    pub severity: Severity,
    /// Text, without place and severity.
    pub message: String,
}

impl Diagnostic {
    /// The static-assertion code in the message, for example `SA-0352`.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        let start = self.message.find("[SA-")? + 1;
        let length = self.message[start..].find(']')?;
        Some(&self.message[start..start + length])
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        if self.line > 0 {
            write!(f, "{}:{}:{}: ", self.file, self.line, self.column)?;
        }
        write!(f, "{severity}: {}", self.message)
    }
}

/// Why a kernel could not be checked, compiled or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No host compiler was found.
    #[error("no clang++ found; looked for {}; install clang 22 or set PTO_HOST_CXX", .looked_for.join(", "))]
    CompilerNotFound {
        /// Names and paths that were tried, in order.
        looked_for: Vec<String>,
    },
    /// The headers are not where they should be.
    #[error("no pto/pto-inst.hpp in {}; set PTO_SHIM_INCLUDE_DIR", .0.display())]
    HeadersNotFound(PathBuf),
    /// The compiler could not be started, or a file could not be read or written.
    #[error("{action}: {source}")]
    Io {
        /// What was being done, naming the file or program.
        action: String,
        /// What the system answered.
        source: std::io::Error,
    },
    /// The kernel does not compile.
    #[error("kernel {} does not compile:\n{}\nto re-run: {command}", .kernel.display(), render(.diagnostics))]
    Rejected {
        /// The kernel's file.
        kernel: PathBuf,
        /// What clang reported, in its order; at least one is an error.
        diagnostics: Vec<Diagnostic>,
        /// The command that was run.
        command: String,
    },
    /// The compiler failed without reporting an error in the kernel.
    #[error("{command} failed:\n{stderr}")]
    CompilerFailed {
        /// The command that was run.
        command: String,
        /// What it wrote to its error stream.
        stderr: String,
    },
    /// The kernel to run is not in the file.
    #[error("{}: {reason}", .file.display())]
    NoKernel {
        /// The file.
        file: PathBuf,
        /// What is missing.
        reason: String,
    },
    /// An array file cannot be used.
    #[error("{}: {reason}", .file.display())]
    Npy {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The arguments do not fit the kernel.
    #[error("{0}")]
    Arguments(String),
    /// The bitcode cannot be read, or LLVM's verifier rejects it.
    #[error("invalid bitcode in {}: {reason}", .file.display())]
    InvalidBitcode {
        /// The bitcode file.
        file: PathBuf,
        /// What LLVM reported.
        reason: String,
    },
    /// The vendor's headers are not where the caller says.
    #[error("no pto/pto-inst.hpp in {} or its include folder: give the folder of a pto-isa checkout", .0.display())]
    VendorHeadersNotFound(PathBuf),
    /// The vendor's simulator does not know the architecture.
    #[error("the vendor's simulator does not know {0}: it simulates a3 and a5")]
    VendorArchUnknown(String),
    /// The kernel stopped in the vendor's simulator: an assertion of theirs, a wild access, or wrong arguments.
    #[error("the kernel stopped in the vendor's simulator ({status}):\n{stderr}")]
    VendorStopped {
        /// How the process ended.
        status: String,
        /// The end of what it wrote to its error stream.
        stderr: String,
    },
    /// The kernel did not finish in the vendor's simulator.
    #[error("the kernel did not finish in the vendor's simulator within {seconds} s:\n{stderr}")]
    VendorTimeout {
        /// Time limit in seconds.
        seconds: f64,
        /// What it wrote to its error stream: which cores were not finished.
        stderr: String,
    },
}

impl Error {
    /// The diagnostics of a rejected kernel; none for other errors.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Error::Rejected { diagnostics, .. } => diagnostics,
            _ => &[],
        }
    }
}

fn render(diagnostics: &[Diagnostic]) -> String {
    let lines: Vec<String> = diagnostics.iter().map(Diagnostic::to_string).collect();
    lines.join("\n")
}
