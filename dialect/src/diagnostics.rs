//! Diagnostics about the user's program: emitted through MLIR, collected as data.
//!
//! Message form: `[CODE] text`. Nothing here prints.

use crate::{
    ffi,
    location::{Position, position},
};
use melior::{
    Context,
    diagnostic::{DiagnosticHandlerId, DiagnosticSeverity},
    ir::Location,
};
use std::{cell::RefCell, rc::Rc};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Severity {
    Error,
    Warning,
    Note,
    Remark,
}

/// A diagnostic on its way to MLIR.
#[must_use]
pub struct Report<'c> {
    severity: Severity,
    location: Location<'c>,
    message: String,
    notes: Vec<(Location<'c>, String)>,
}

/// An error with a code.
pub fn error<'c>(location: Location<'c>, code: &str, message: impl std::fmt::Display) -> Report<'c> {
    Report { severity: Severity::Error, location, message: format!("[{code}] {message}"), notes: Vec::new() }
}

/// A warning with a code.
pub fn warning<'c>(location: Location<'c>, code: &str, message: impl std::fmt::Display) -> Report<'c> {
    Report { severity: Severity::Warning, ..error(location, code, message) }
}

/// Something worth knowing that is neither wrong nor doubtful.
pub fn remark(location: Location<'_>, message: impl Into<String>) -> Report<'_> {
    Report { severity: Severity::Remark, location, message: message.into(), notes: Vec::new() }
}

impl<'c> Report<'c> {
    /// Adds a note at a place of its own.
    pub fn note(mut self, location: Location<'c>, message: impl Into<String>) -> Self {
        self.notes.push((location, message.into()));
        self
    }

    /// Adds a note at the place of the report.
    pub fn help(self, message: impl Into<String>) -> Self {
        let location = self.location;
        self.note(location, message)
    }

    /// Hands it to the context's handlers.
    pub fn emit(self) {
        let severity = match self.severity {
            Severity::Error => 0,
            Severity::Warning => 1,
            Severity::Note | Severity::Remark => 3,
        };
        let locations: Vec<_> = self.notes.iter().map(|(l, _)| l.to_raw()).collect();
        let notes: Vec<_> = self.notes.iter().map(|(_, text)| ffi::string_ref(text)).collect();
        // SAFETY: all strings and arrays outlive the call, which copies them.
        unsafe {
            ffi::ptoEmitDiagnostic(
                self.location.to_raw(),
                severity,
                ffi::string_ref(&self.message),
                notes.len() as isize,
                locations.as_ptr(),
                notes.as_ptr(),
            );
        }
    }
}

/// Marks a bug of this program: drivers exit with 70 when they see the code.
pub fn internal_error(location: Location, what: &str) {
    error(location, INTERNAL, format!("internal error in {what}"))
        .help("this is a bug in the compiler, not in the kernel: please report it with the input file")
        .emit();
}

/// The code of internal errors.
pub const INTERNAL: &str = "PTO-0070";

/// A diagnostic as data.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The code (`SA-0352`); empty for MLIR's own messages.
    pub code: String,
    /// Where.
    pub position: Position,
    /// The text without the code.
    pub message: String,
    /// What belongs to it.
    pub notes: Vec<Diagnostic>,
}

/// Collects every diagnostic of a context while it lives.
pub struct Collector<'c> {
    context: &'c Context,
    id: DiagnosticHandlerId,
    collected: Rc<RefCell<Vec<Diagnostic>>>,
}

impl<'c> Collector<'c> {
    /// Starts to collect; MLIR prints nothing itself meanwhile.
    pub fn attach(context: &'c Context) -> Self {
        let collected = Rc::new(RefCell::new(Vec::new()));
        let sink = Rc::clone(&collected);
        let id = context.attach_diagnostic_handler(move |diagnostic| {
            sink.borrow_mut().push(convert(&diagnostic));
            true
        });
        Self { context, id, collected }
    }

    /// What has been collected so far; empties the collection.
    pub fn take(&self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.collected.borrow_mut())
    }
}

impl Drop for Collector<'_> {
    fn drop(&mut self) {
        self.context.detach_diagnostic_handler(self.id);
    }
}

fn convert(diagnostic: &melior::diagnostic::Diagnostic) -> Diagnostic {
    let text = diagnostic.to_string();
    let (code, message) = split_code(&text);
    Diagnostic {
        severity: match diagnostic.severity() {
            DiagnosticSeverity::Error => Severity::Error,
            DiagnosticSeverity::Warning => Severity::Warning,
            DiagnosticSeverity::Note => Severity::Note,
            DiagnosticSeverity::Remark => Severity::Remark,
        },
        code: code.to_owned(),
        position: position(diagnostic.location()),
        message: message.to_owned(),
        notes: (0..diagnostic.note_count()).filter_map(|i| diagnostic.note(i).ok()).map(|n| convert(&n)).collect(),
    }
}

/// `[CODE] text` in its parts.
fn split_code(text: &str) -> (&str, &str) {
    let code = text.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    match code {
        Some((code, rest)) if code.contains('-') && !code.contains(' ') => (code, rest),
        _ => ("", text),
    }
}

#[cfg(test)]
mod tests {
    use super::split_code;

    #[test]
    fn codes_are_split_off() {
        assert_eq!(split_code("[SA-0352] too big"), ("SA-0352", "too big"));
        assert_eq!(split_code("[a b] text"), ("", "[a b] text"));
    }
}
