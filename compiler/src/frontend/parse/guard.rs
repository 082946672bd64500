//! Looks over a text before it is parsed: sizes, nesting, formatted strings.
//!
//! Everything behind this recurses over the syntax tree (the Python parser, its destructors, our passes), so the depth
//! is bounded here, where a loop suffices. The bound is a generous estimate, not the depth itself: brackets and
//! operators that are open at a place are added up.
//!
//! It also finds `memref=x` inside subscripts. The documentation writes types so, Python does not take it; the caller
//! makes it `memref:x`, which is a slice and has the same length, so that all places stay true.

use super::source::Source;
use crate::frontend::ast::Problem;

/// Larger texts are refused.
const MAX_BYTES: usize = 64 << 20;
/// How many brackets and operators may be open at a place.
const MAX_NESTING: usize = 200;
/// How many blocks may be open at a place.
const MAX_BLOCKS: usize = 64;

/// Words that nest like operators.
const WORD_OPERATORS: &[&str] =
    &["not", "and", "or", "if", "else", "lambda", "await", "in", "is", "for", "yield", "from", "as", "case"];
/// Prefixes of strings with expressions inside.
const FORMATTED: &[&str] = &["f", "fr", "rf", "t", "tr", "rt"];

/// Where `=` stands in subscripts, or what is wrong with the text.
pub(super) fn check(source: &Source<'_>) -> Result<Vec<usize>, Problem> {
    let text = source.text();
    if text.len() > MAX_BYTES {
        let message = format!("the text has {} bytes; programs may have {MAX_BYTES} bytes (64 MiB)", text.len());
        return Err(Problem::new("PTO-0701", source.span(0), message));
    }
    let mut scanner = Scanner::new(text.as_bytes());
    match scanner.run() {
        Ok(()) => Ok(scanner.equals),
        Err((at, message)) => Err(Problem::new("PTO-0702", source.span(at), message)),
    }
}

/// What is wrong, and where.
type Refusal = (usize, String);

/// An open bracket.
#[derive(Clone, Copy)]
struct Level {
    /// Whether it is `[` behind a value.
    subscript: bool,
    /// Operators since its last comma.
    operators: usize,
}

/// What the last token was.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// A name, literal or closing bracket.
    Value,
    /// A name directly behind `[` or `,`.
    Keyword,
    /// `[` or `,`.
    Opening,
    Other,
}

struct Scanner<'t> {
    bytes: &'t [u8],
    at: usize,
    levels: Vec<Level>,
    indents: Vec<usize>,
    last: Last,
    equals: Vec<usize>,
}

impl<'t> Scanner<'t> {
    fn new(bytes: &'t [u8]) -> Self {
        let base = Level { subscript: false, operators: 0 };
        Self { bytes, at: 0, levels: vec![base], indents: Vec::new(), last: Last::Other, equals: Vec::new() }
    }

    fn run(&mut self) -> Result<(), Refusal> {
        self.line_start()?;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'#' => self.skip_to_line_end(),
                b'\n' | b'\r' => {
                    self.at += 1;
                    if self.levels.len() == 1 {
                        self.line_start()?;
                    }
                }
                b'\\' => self.at += if self.peek(1) == Some(b'\r') && self.peek(2) == Some(b'\n') { 3 } else { 2 },
                b' ' | b'\t' | 0x0c => self.at += 1,
                b'"' | b'\'' => self.string(byte),
                b'0'..=b'9' => self.number(),
                b'A'..=b'Z' | b'a'..=b'z' | b'_' | 0x80.. => self.word()?,
                _ => self.punctuation(byte)?,
            }
        }
        Ok(())
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn top(&mut self) -> &mut Level {
        if self.levels.is_empty() {
            self.levels.push(Level { subscript: false, operators: 0 });
        }
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    fn skip_to_line_end(&mut self) {
        while self.peek(0).is_some_and(|b| b != b'\n' && b != b'\r') {
            self.at += 1;
        }
    }

    /// Measures the indentation of a new statement.
    fn line_start(&mut self) -> Result<(), Refusal> {
        self.last = Last::Other;
        self.top().operators = 0;
        let mut width = 0;
        loop {
            match self.peek(0) {
                Some(b' ') => width += 1,
                Some(b'\t') => width = width / 8 * 8 + 8,
                Some(0x0c) => width = 0,
                _ => break,
            }
            self.at += 1;
        }
        if matches!(self.peek(0), None | Some(b'#' | b'\n' | b'\r')) {
            return Ok(());
        }
        while self.indents.last().is_some_and(|&open| open >= width) {
            self.indents.pop();
        }
        self.indents.push(width);
        if self.indents.len() > MAX_BLOCKS {
            return Err((self.at, format!("more than {MAX_BLOCKS} blocks inside each other")));
        }
        Ok(())
    }

    /// Skips a string; one that does not end is the parser's to report.
    fn string(&mut self, quote: u8) {
        let triple = self.peek(1) == Some(quote) && self.peek(2) == Some(quote);
        self.at += if triple { 3 } else { 1 };
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\\' => self.at += 2,
                b'\n' | b'\r' if !triple => break,
                _ if byte == quote && !triple => {
                    self.at += 1;
                    break;
                }
                _ if byte == quote && self.peek(1) == Some(quote) && self.peek(2) == Some(quote) => {
                    self.at += 3;
                    break;
                }
                _ => self.at += 1,
            }
        }
        self.last = Last::Value;
    }

    fn number(&mut self) {
        while self.peek(0).is_some_and(|b| b.is_ascii_alphanumeric() || b == b'.' || b == b'_') {
            self.at += 1;
        }
        self.last = Last::Value;
    }

    fn word(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        while self.peek(0).is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80) {
            self.at += 1;
        }
        let is = |words: &[&str]| words.iter().any(|w| w.as_bytes().eq_ignore_ascii_case(&self.bytes[start..self.at]));
        if matches!(self.peek(0), Some(b'"' | b'\'')) && is(FORMATTED) {
            return Err((start, "formatted strings are not part of the language; expected a plain string".into()));
        }
        if is(WORD_OPERATORS) {
            self.last = Last::Other;
            return self.operator(start);
        }
        self.last = if self.last == Last::Opening { Last::Keyword } else { Last::Value };
        Ok(())
    }

    fn punctuation(&mut self, byte: u8) -> Result<(), Refusal> {
        let at = self.at;
        self.at += 1;
        match byte {
            b'(' | b'[' | b'{' => {
                let value = matches!(self.last, Last::Value | Last::Keyword);
                self.last = if byte == b'[' { Last::Opening } else { Last::Other };
                if value {
                    self.top().operators += 1;
                }
                self.levels.push(Level { subscript: value && byte == b'[', operators: 0 });
                self.depth(at)
            }
            b')' | b']' | b'}' => {
                if self.levels.len() > 1 {
                    self.levels.pop();
                }
                self.last = Last::Value;
                Ok(())
            }
            b',' | b';' => {
                self.top().operators = 0;
                self.last = if byte == b',' { Last::Opening } else { Last::Other };
                Ok(())
            }
            b'=' if self.last == Last::Keyword && self.top().subscript && self.peek(0) != Some(b'=') => {
                self.equals.push(at);
                self.last = Last::Other;
                Ok(())
            }
            _ => {
                self.last = Last::Other;
                self.operator(at)
            }
        }
    }

    fn operator(&mut self, at: usize) -> Result<(), Refusal> {
        self.top().operators += 1;
        self.depth(at)
    }

    fn depth(&mut self, at: usize) -> Result<(), Refusal> {
        let depth: usize = self.levels.len() + self.levels.iter().map(|l| l.operators).sum::<usize>();
        if depth > MAX_NESTING {
            let message =
                format!("nested too deeply: more than {MAX_NESTING} brackets and operators inside each other");
            return Err((at, message));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::source::Source;
    use super::check;

    #[test]
    fn keywords_are_found_in_subscripts_only() {
        let equals = |text: &str| check(&Source::new(text)).map_err(|p| p.message);
        assert_eq!(equals("x: T[a, memref=m] = f(b=1)"), Ok(vec![14]));
        assert_eq!(equals("x = [a, b == c, d[e == f]]"), Ok(vec![]));
        assert_eq!(equals("x = y[f(a=1)] # z[a, b=c]"), Ok(vec![]));
        assert_eq!(equals("x = 'y[a, b=c]'"), Ok(vec![]));
    }

    #[test]
    fn depth_is_bounded() {
        let accepts = |text: &str| check(&Source::new(text)).is_ok();
        assert!(accepts(&format!("x = {}", vec!["n + n"; 10_000].join(", "))));
        assert!(!accepts(&format!("x = {}n", "- ".repeat(10_000))));
        assert!(!accepts(&format!("x = f{}", "()".repeat(10_000))));
        assert!(!accepts("x = f\"{n}\""));
    }
}
