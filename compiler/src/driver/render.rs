//! Diagnostics as text: `file:line:column: error: [CODE] message`, the source line, notes.

use pto_dialect::{
    Position,
    diagnostics::{Diagnostic, Severity},
};
use std::fmt::Write;

/// All diagnostics of a compilation. `file` and `text` are the input, for its source lines.
pub fn render(diagnostics: &[Diagnostic], file: &str, text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = String::new();
    for diagnostic in diagnostics {
        one(&mut out, diagnostic, file, &lines);
        for note in &diagnostic.notes {
            one(&mut out, note, file, &lines);
        }
    }
    out
}

fn one(out: &mut String, diagnostic: &Diagnostic, file: &str, lines: &[&str]) {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
        Severity::Remark => "remark",
    };
    let position = &diagnostic.position;
    if position.line > 0 {
        let _ = write!(out, "{}:{}:{}: ", position.file, position.line, position.column);
    } else {
        let _ = write!(out, "{file}: ");
    }
    let code = if diagnostic.code.is_empty() { String::new() } else { format!("[{}] ", diagnostic.code) };
    let _ = writeln!(out, "{severity}: {code}{}", diagnostic.message);
    if let Some(line) = source_line(position, file, lines) {
        let indent: String = line
            .chars()
            .take(position.column.saturating_sub(1) as usize)
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        let _ = writeln!(out, "    {}\n    {indent}^", shorten(line));
    }
}

/// The line of the input that a position is in; positions in other files (`loc(...)`) have none here.
fn source_line<'t>(position: &Position, file: &str, lines: &[&'t str]) -> Option<&'t str> {
    if position.line == 0 || position.file != file {
        return None;
    }
    lines.get(position.line as usize - 1).copied()
}

/// Long lines are cut: tile types are wordy.
fn shorten(line: &str) -> String {
    const LONGEST: usize = 160;
    if line.chars().count() <= LONGEST {
        return line.to_owned();
    }
    line.chars().take(LONGEST).chain("...".chars()).collect()
}
