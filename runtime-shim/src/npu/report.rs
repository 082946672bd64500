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

/// The name that a line declares.
fn declared_name(line: &str) -> Option<&str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    if line.starts_with('%') {
        let end =
            line[1..].find(|c: char| !is_name(c) && c != '-' && c != '.' && c != '$').map_or(line.len(), |e| e + 1);
        return Some(&line[..end]);
    }
    if line.starts_with("Tile<")
        || line.starts_with("pto::Tile")
        || line.starts_with("ConvTile<")
        || line.contains("GlobalTensor<")
        || line.starts_with("Tile")
        || line.starts_with("TPipe<")
        || line.starts_with("auto ")
    {
        // After the template arguments comes the name.
        let mut depth = 0usize;
        let mut end = None;
        for (at, c) in line.char_indices() {
            match c {
                '<' => depth += 1,
                '>' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        end = Some(at + 1);
                        break;
                    }
                }
                _ => {}
            }
        }
        let rest = line[end.unwrap_or("auto ".len().min(line.len()))..].trim_start();
        let name = &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())];
        return (!name.is_empty()).then_some(name);
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
        assert_eq!(declared_name("TLOAD(data, from);"), None);
    }

    #[test]
    fn checks_are_read_from_a_list() {
        assert_eq!(Checks::parse("race, init"), Ok(Checks { race: true, init: true, bounds: false }));
        assert_eq!(Checks::parse("none"), Ok(Checks::NONE));
        assert_eq!(Checks::parse("races"), Err("races".to_owned()));
    }
}
