//! Diagnostics for people and for programs.
//!
//! - Text: `file:line:column: error: [CODE] message`, the source line with a mark, notes.
//! - JSON: one object a line, with the fields of [`Entry`].

use clap::ValueEnum;
use pto_dialect::{
    Position,
    diagnostics::{Diagnostic, Severity},
};
use serde::Serialize;
use std::{collections::HashMap, fmt::Write, fs::File, io::Read};

/// How diagnostics are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Text,
    /// For people who know ptoas: the code stands behind the message
    #[value(skip)]
    Ptoas,
    /// For programs: one JSON object a line
    Json,
}

/// Errors, warnings and remarks that are shown of one input; the rest is counted.
const MOST: usize = 50;

/// All diagnostics of a compilation. `file` and `text` are the input, for its source lines.
pub fn render(format: Format, diagnostics: &[Diagnostic], file: &str, text: &str) -> String {
    let mut sources = Sources::new(file, text);
    let mut out = String::new();
    for diagnostic in &diagnostics[..diagnostics.len().min(MOST)] {
        match format {
            Format::Json => write_json(&mut out, &entry(diagnostic, &mut sources)),
            Format::Text | Format::Ptoas => std::iter::once(diagnostic)
                .chain(&diagnostic.notes)
                .for_each(|one| write_text(&mut out, one, &mut sources, format)),
        }
    }
    if diagnostics.len() > MOST {
        let message = format!("{} more messages are not shown", diagnostics.len() - MOST);
        match format {
            Format::Text | Format::Ptoas => out.push_str(&format!("{file}: note: {message}\n")),
            Format::Json => write_json(&mut out, &Entry { severity: "note", message, ..Entry::default() }),
        }
    }
    out
}

/// What goes wrong around the input: files, tools, the command line.
pub fn failure(format: Format, program: &str, code: &str, message: &str) -> String {
    match format {
        Format::Text | Format::Ptoas => format!("{program}: error: [{code}] {message}\n"),
        Format::Json => {
            let mut out = String::new();
            let entry =
                Entry { severity: "error", code: code.to_owned(), message: message.to_owned(), ..Entry::default() };
            write_json(&mut out, &entry);
            out
        }
    }
}

/// A diagnostic as JSON. Fields without a value are left out.
#[derive(Debug, Default, Serialize)]
pub struct Entry {
    /// `error`, `warning`, `remark` or `note`.
    pub severity: &'static str,
    /// The stable code; `ptoc explain CODE` says more.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub code: String,
    /// What is wrong, in one sentence.
    pub message: String,
    /// The file, as the caller or a `loc(...)` names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The value that is defined there, without `%`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The line of the file, where the file can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What belongs to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Entry>,
}

/// One line.
pub fn write_json(out: &mut String, entry: &Entry) {
    // Strings and numbers: nothing that JSON cannot hold.
    let _ = writeln!(out, "{}", serde_json::to_string(entry).unwrap_or_default());
}

fn entry(diagnostic: &Diagnostic, sources: &mut Sources) -> Entry {
    let position = &diagnostic.position;
    let known = position.line > 0;
    Entry {
        severity: severity(diagnostic),
        code: diagnostic.code.clone(),
        message: diagnostic.message.clone(),
        file: Some(if known { position.file.clone() } else { sources.input.to_owned() }),
        line: known.then_some(position.line),
        column: known.then_some(position.column),
        value: (!position.name.is_empty()).then(|| position.name.clone()),
        source: sources.line(position).map(str::to_owned),
        notes: diagnostic.notes.iter().map(|note| entry(note, sources)).collect(),
    }
}

fn severity(diagnostic: &Diagnostic) -> &'static str {
    match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
        Severity::Remark => "remark",
    }
}

fn write_text(out: &mut String, diagnostic: &Diagnostic, sources: &mut Sources, format: Format) {
    let position = &diagnostic.position;
    if position.line > 0 {
        let _ = write!(out, "{}:{}:{}: ", position.file, position.line, position.column);
    } else {
        let _ = write!(out, "{}: ", sources.input);
    }
    let (severity, message, code) = (severity(diagnostic), &diagnostic.message, &diagnostic.code);
    let _ = match format {
        _ if code.is_empty() => writeln!(out, "{severity}: {message}"),
        Format::Ptoas => writeln!(out, "{severity}: {message} [{code}]"),
        _ => writeln!(out, "{severity}: [{code}] {message}"),
    };
    if let Some(line) = sources.line(position) {
        let indent: String = line
            .chars()
            .take(position.column.saturating_sub(1) as usize)
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        let _ = writeln!(out, "    {}\n    {indent}^", shorten(line));
    }
}

/// Lines of the input, and of the files that its locations name (`loc("kernel.py":3:5)`).
struct Sources<'t> {
    input: &'t str,
    lines: Vec<&'t str>,
    others: HashMap<String, Vec<String>>,
}

impl<'t> Sources<'t> {
    /// Bytes of a named file that are read at most.
    const LARGEST: u64 = 16 << 20;

    fn new(input: &'t str, text: &'t str) -> Self {
        Self { input, lines: text.lines().collect(), others: HashMap::new() }
    }

    /// The line of a position, where its file is known or can be read.
    fn line(&mut self, position: &Position) -> Option<&str> {
        let index = (position.line as usize).checked_sub(1)?;
        if position.file == self.input {
            return self.lines.get(index).copied();
        }
        let lines = self.others.entry(position.file.clone()).or_insert_with_key(|file| lines_of(file));
        lines.get(index).map(String::as_str)
    }
}

/// The lines of an ordinary text file; none otherwise.
fn lines_of(file: &str) -> Vec<String> {
    // A pipe or device would be waited for.
    if !std::fs::metadata(file).is_ok_and(|meta| meta.is_file()) {
        return Vec::new();
    }
    let mut text = String::new();
    match File::open(file).map(|file| file.take(Sources::LARGEST).read_to_string(&mut text)) {
        Ok(Ok(_)) => text.lines().map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Long lines are cut: tile types are wordy.
fn shorten(line: &str) -> String {
    const LONGEST: usize = 160;
    if line.chars().count() <= LONGEST {
        return line.to_owned();
    }
    line.chars().take(LONGEST).chain("...".chars()).collect()
}
