//! The text: places in it, and its comments.
//!
//! Places are lines and columns in characters. Comments are handed out in the order of the text, once each.

use std::cell::Cell;

use crate::frontend::ast::Span;

/// A text with its lines.
pub(super) struct Source<'t> {
    text: &'t str,
    /// Where lines begin, in bytes.
    lines: Vec<usize>,
    /// The last place that was asked for: line, byte, characters in front on the line. Most questions go forward.
    last: Cell<(usize, usize, u32)>,
}

impl<'t> Source<'t> {
    /// Finds the lines of a text.
    pub(super) fn new(text: &'t str) -> Self {
        let bytes = text.as_bytes();
        let mut lines = vec![0];
        for (at, &byte) in bytes.iter().enumerate() {
            if byte == b'\n' || (byte == b'\r' && bytes.get(at + 1) != Some(&b'\n')) {
                lines.push(at + 1);
            }
        }
        Self { text, lines, last: Cell::new((0, 0, 0)) }
    }

    /// The text.
    pub(super) fn text(&self) -> &'t str {
        self.text
    }

    /// A piece of the text.
    pub(super) fn slice(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// Line and column of a byte.
    pub(super) fn span(&self, at: usize) -> Span {
        let line = self.line(at);
        let (known_line, known_at, known) = self.last.get();
        let (from, before) =
            if known_line == line && known_at <= at { (known_at, known) } else { (self.lines[line], 0) };
        let characters = count(self.text.get(from..at).unwrap_or_default().chars().count());
        let column = before.saturating_add(characters);
        self.last.set((line, at, column));
        Span { line: count(line).saturating_add(1), column: column.saturating_add(1) }
    }

    /// Where the line of a byte ends.
    pub(super) fn line_end(&self, at: usize) -> usize {
        self.lines.get(self.line(at) + 1).copied().unwrap_or(self.text.len())
    }

    fn line(&self, at: usize) -> usize {
        self.lines.partition_point(|&start| start <= at).saturating_sub(1)
    }
}

/// Texts are bounded, so this loses nothing.
fn count(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// The comments of a text.
#[derive(Default)]
pub(super) struct Comments {
    /// Where each begins, and its text.
    found: Vec<(usize, String)>,
    /// How many are handed out.
    taken: usize,
}

impl Comments {
    /// Adds the next comment of the text, with its `#`.
    pub(super) fn push(&mut self, at: usize, comment: &str) {
        let text = comment.strip_prefix('#').unwrap_or(comment);
        let text = text.strip_prefix(' ').unwrap_or(text);
        self.found.push((at, text.replace(|c: char| c.is_control() && c != '\t', " ")));
    }

    /// Those in front of a byte that are not handed out yet.
    pub(super) fn take_before(&mut self, at: usize) -> Vec<String> {
        let mut taken = Vec::new();
        while let Some((start, text)) = self.found.get_mut(self.taken) {
            if *start >= at {
                break;
            }
            taken.push(std::mem::take(text));
            self.taken += 1;
        }
        taken
    }
}

/// A piece of the text without what a formatter puts in: line breaks, comments, commas at the end.
pub(super) fn one_line(text: &str) -> String {
    let words: Vec<String> = text.lines().map(without_comment).collect();
    let mut line = words.iter().flat_map(|w| w.split_whitespace()).collect::<Vec<_>>().join(" ");
    loop {
        let mut shorter = line.replace(" ,", ",");
        for (from, to) in [("[ ", "["), (" ]", "]"), ("( ", "("), (" )", ")"), (",]", "]"), (",)", ")")] {
            shorter = shorter.replace(from, to);
        }
        // One replacement makes place for another; each makes the line shorter.
        if shorter.len() == line.len() {
            return line;
        }
        line = shorter;
    }
}

/// A line up to its comment, or to the sign that the next line belongs to it.
fn without_comment(line: &str) -> String {
    let mut quote = None;
    let code = line.chars().take_while(|&c| {
        match quote {
            Some(open) if open == c => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == '#' || c == '\\' => return false,
            _ => {}
        }
        true
    });
    code.collect()
}
