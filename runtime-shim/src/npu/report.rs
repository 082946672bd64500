//! What the checks find, in words that name tiles, instructions and source lines.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::abi::Site;

/// A rule that a kernel broke while it ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// Bytes were read that nobody wrote.
    Uninitialised,
    /// A tile reaches outside its memory, or a window outside its tile.
    OutsideSpace,
    /// An access outside a global tensor's buffer.
    OutsideTensor,
    /// An address that the device cannot use.
    Misaligned,
    /// Operands share bytes where the instruction does not allow it.
    InPlace,
    /// Two accesses to the same bytes, one a write, with nothing that orders them.
    Race,
    /// A flag is set while an earlier set may not have been waited for.
    SetTwice,
    /// A wait that nothing can satisfy.
    Deadlock,
    /// A flag is still set when the kernel ends.
    LeftSet,
    /// The instruction does not allow these operands, or is not simulated.
    Illegal,
    /// The kernel runs longer than it may.
    Limit,
}

impl Rule {
    /// Stable code.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Rule::Uninitialised => "PTO-0801",
            Rule::OutsideSpace => "PTO-0802",
            Rule::OutsideTensor => "PTO-0803",
            Rule::Misaligned => "PTO-0804",
            Rule::InPlace => "PTO-0805",
            Rule::Race => "PTO-0806",
            Rule::SetTwice => "PTO-0807",
            Rule::Deadlock => "PTO-0808",
            Rule::LeftSet => "PTO-0809",
            Rule::Illegal => "PTO-0810",
            Rule::Limit => "PTO-0811",
        }
    }

    /// The check that covers the rule; `None` for rules that always hold.
    fn check(self) -> Option<fn(&Checks) -> bool> {
        match self {
            Rule::Uninitialised => Some(|c| c.init),
            Rule::OutsideSpace | Rule::OutsideTensor | Rule::Misaligned | Rule::InPlace => Some(|c| c.bounds),
            Rule::Race | Rule::SetTwice | Rule::LeftSet => Some(|c| c.race),
            Rule::Deadlock | Rule::Illegal | Rule::Limit => None,
        }
    }
}

/// Which checks run. Deadlocks and illegal instructions are always reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Data races, flags set twice, flags left set.
    pub race: bool,
    /// Reads of bytes that were never written.
    pub init: bool,
    /// Accesses outside a memory or a tensor, misaligned ones, forbidden sharing of bytes by operands.
    pub bounds: bool,
}

impl Checks {
    /// Every check.
    pub const ALL: Checks = Checks { race: true, init: true, bounds: true };
    /// No check.
    pub const NONE: Checks = Checks { race: false, init: false, bounds: false };

    /// Reads `all`, `none`, or a list such as `race,init`.
    ///
    /// # Errors
    /// The word that is no check.
    pub fn parse(text: &str) -> Result<Checks, String> {
        let mut checks = Checks::NONE;
        for word in text.split(',').map(str::trim) {
            match word {
                "all" => checks = Checks::ALL,
                "none" | "" => {}
                "race" => checks.race = true,
                "init" => checks.init = true,
                "bounds" => checks.bounds = true,
                other => return Err(other.to_owned()),
            }
        }
        Ok(checks)
    }

    pub(crate) fn covers(&self, rule: Rule) -> bool {
        rule.check().is_none_or(|on| on(self))
    }
}

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// File of the instruction; empty when unknown.
    pub file: String,
    /// Line of the instruction, from 1; 0 when unknown.
    pub line: u32,
    /// What happened.
    pub message: String,
    /// Further places and facts, one line each.
    pub notes: Vec<String>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "{}:{}: ", self.file, self.line)?;
        }
        write!(f, "error: [{}] {}", self.rule.code(), self.message)?;
        self.notes.iter().try_for_each(|note| write!(f, "\n  {note}"))
    }
}

/// Findings of a run, each place once.
#[derive(Debug, Default)]
pub struct Findings {
    list: Vec<Finding>,
    seen: HashSet<(Rule, Site, Site)>,
    /// How many more there were beyond [`MOST`].
    pub dropped: usize,
}

/// Findings that are kept.
const MOST: usize = 200;

impl Findings {
    /// Notes a finding, unless the same rule was broken by the same pair of places before.
    pub fn add(&mut self, rule: Rule, at: Site, other: Site, text: impl FnOnce() -> (String, Vec<String>)) {
        if !self.seen.insert((rule, at, other)) {
            return;
        }
        if self.list.len() == MOST {
            self.dropped += 1;
            return;
        }
        let (message, notes) = text();
        self.list.push(Finding { rule, file: at.file().to_owned(), line: at.line, message, notes });
    }

    /// The findings, in the order in which they happened.
    pub fn into_list(self) -> Vec<Finding> {
        self.list
    }
}

/// Source files, read when a name is wanted.
#[derive(Debug, Default)]
pub struct Sources {
    files: HashMap<String, Vec<String>>,
}

impl Sources {
    /// Text of a line, trimmed.
    pub fn line(&mut self, site: Site) -> Option<&str> {
        let lines = self.files.entry(site.file().to_owned()).or_insert_with_key(|file| {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            text.lines().map(|line| line.trim().to_owned()).collect()
        });
        lines.get((site.line as usize).checked_sub(1)?).map(String::as_str)
    }

    /// Name of what is declared at a place: of a C++ variable, an MLIR value, or a Python variable.
    pub fn declared(&mut self, site: Site) -> Option<String> {
        declared_name(self.line(site)?).map(str::to_owned)
    }
}

/// The variable of a C++ declaration `Type name...`; `None` where a line declares several.
fn cpp_name(line: &str) -> Option<&str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let line = line.strip_prefix("const ").unwrap_or(line);
    let mut rest = line.trim_start_matches(|c| is_name(c) || c == ':');
    if rest.starts_with('<') {
        let mut depth = 0usize;
        let end = rest.find(|c| {
            depth = depth + usize::from(c == '<') - usize::from(c == '>');
            depth == 0
        })?;
        rest = &rest[end + 1..];
    }
    let after = rest.trim_start();
    let typed = line[..line.len() - rest.len()].ends_with(|c| is_name(c) || c == '>');
    if !typed || after.len() == rest.len() {
        return None;
    }
    let name = &after[..after.find(|c| !is_name(c))?];
    let rest = after[name.len()..].trim_start();
    // Another name follows a comma outside all brackets. An initialiser may have one between template arguments.
    let mut depth = 0usize;
    let ends = |c: char| {
        depth = (depth + usize::from("([{".contains(c))).saturating_sub(usize::from(")]}".contains(c)));
        depth == 0 && ",;".contains(c)
    };
    let several = !rest.starts_with('=') && rest.find(ends).is_some_and(|end| rest[end..].starts_with(','));
    (!name.is_empty() && rest.starts_with(['(', '{', '[', ';', '=']) && !several).then_some(name)
}

/// The name that a line declares.
fn declared_name(line: &str) -> Option<&str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    if let Some(value) = line.strip_prefix('%') {
        let end = value.find(|c: char| !is_name(c) && !"-.$".contains(c)).unwrap_or(value.len());
        return Some(&line[..=end]);
    }
    if let Some(name) = cpp_name(line) {
        return Some(name);
    }
    let name = &line[..line.find(|c| !is_name(c)).unwrap_or(line.len())];
    let rest = line[name.len()..].trim_start();
    (!name.is_empty() && (rest.starts_with(':') || rest.starts_with('='))).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_declarations() {
        assert_eq!(
            declared_name("Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, -1> data(count);"),
            Some("data")
        );
        assert_eq!(declared_name("GlobalTensor<float, pto::Shape<1, 1>, pto::Stride<1>> from(x);"), Some("from"));
        assert_eq!(declared_name("TileLeft<half, 16, 16> a;"), Some("a"));
        assert_eq!(declared_name("%tile_0 = pto.alloc_tile : !pto.tile_buf<...>"), Some("%tile_0"));
        assert_eq!(declared_name("x: pl.Tile = pl.load(a)"), Some("x"));
        assert_eq!(declared_name("x: Tile = pl.load(a)"), Some("x"));
        assert_eq!(declared_name("pto::TileVec a = pto::TileVec(rows, columns);"), Some("a"));
        assert_eq!(declared_name("Shape<1, Min<2, 3>> view{x, y};"), Some("view"));
        assert_eq!(declared_name("auto to = GlobalTensor<float, Shape<1, 1>>(y);"), Some("to"));
        assert_eq!(declared_name("const View from(x, rows);"), Some("from"));
        assert_eq!(declared_name("data = pl.load(a)"), Some("data"));
        assert_eq!(declared_name("Rows a, b;"), None);
        assert_eq!(declared_name("View from(x, rows), to(y);"), None);
        assert_eq!(declared_name("TLOAD(data, from);"), None);
    }

    #[test]
    fn checks_are_read_from_a_list() {
        assert_eq!(Checks::parse("race, init"), Ok(Checks { race: true, init: true, bounds: false }));
        assert_eq!(Checks::parse("none"), Ok(Checks::NONE));
        assert_eq!(Checks::parse("races"), Err("races".to_owned()));
    }
}
