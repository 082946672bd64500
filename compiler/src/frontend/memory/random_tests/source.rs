//! The text of a program while it is written, and the tiles that may be named.

use super::random::Random;
use std::fmt;

/// Shape, element and space of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    pub rows: u64,
    pub columns: u64,
    pub dtype: &'static str,
    pub space: &'static str,
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rows, columns, dtype, space } = self;
        write!(f, "pl.Tile[[{rows}, {columns}], pl.{dtype}, pl.Mem.{space}]")
    }
}

impl Form {
    /// In the vector memory.
    pub fn vec(rows: u64, columns: u64, dtype: &'static str) -> Self {
        Self { rows, columns, dtype, space: "Vec" }
    }

    /// Bytes of a row.
    pub fn row_bytes(&self) -> u64 {
        self.columns * if self.dtype == "BF16" { 2 } else { 4 }
    }
}

/// How a tile lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// Row behind row.
    Dense,
    /// With gaps between its rows.
    Gaps,
    /// Row behind row, with nothing written to it: good only to begin a loop.
    Empty,
}

/// A tile that may be read.
#[derive(Clone, Debug)]
pub struct Tile {
    pub name: String,
    pub form: Form,
    pub lie: Lie,
    /// Which data it is a name for; an operation in place ends all names of its data.
    pub data: Vec<usize>,
    /// The loop body in which the data came to be; only there is it changed in place. 0 is outside all loops.
    pub home: Option<usize>,
}

impl Tile {
    /// Whether both name some of the same data.
    pub fn shares(&self, other: &Self) -> bool {
        self.data.iter().any(|d| other.data.contains(d))
    }
}

/// A program while it is written.
pub struct Source {
    pub random: Random,
    lines: Vec<String>,
    pub depth: usize,
    next: usize,
    /// The loop body that is written.
    pub home: usize,
    /// Index variables of the loops around.
    pub indices: Vec<String>,
    /// Data that was changed in place.
    ended: Vec<usize>,
}

impl Source {
    pub fn new(random: Random) -> Self {
        Self { random, lines: Vec::new(), depth: 0, next: 0, home: 0, indices: Vec::new(), ended: Vec::new() }
    }

    /// Writes a line.
    pub fn line(&mut self, text: &str) {
        self.lines.push(format!("{}{text}\n", "    ".repeat(self.depth + 2)));
    }

    /// A number that no name has yet.
    pub fn number(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    /// Writes `name: type = value` and adds the tile, whose data is new.
    pub fn assign(&mut self, scope: &mut Vec<Tile>, form: Form, value: &str) -> Tile {
        let number = self.number();
        let tile =
            Tile { name: format!("t{number}"), form, lie: Lie::Dense, data: vec![number], home: Some(self.home) };
        self.line(&format!("{}: {form} = {value}", tile.name));
        scope.push(tile.clone());
        tile
    }

    /// Writes another name for some of a tile's data.
    pub fn view(&mut self, scope: &mut Vec<Tile>, of: &Tile, form: Form, lie: Lie, value: &str) {
        self.assign(scope, form, value);
        if let Some(last) = scope.last_mut() {
            *last = Tile { name: last.name.clone(), form, lie, ..of.clone() };
        }
    }

    /// Writes the result of an operation in place; no other name of the data may be read from now on.
    pub fn replace(&mut self, scope: &mut Vec<Tile>, of: &Tile, value: &str) {
        self.ended.extend(&of.data);
        self.forget(scope);
        self.assign(scope, of.form, value);
    }

    /// Takes out names of data that was changed.
    pub fn forget(&self, scope: &mut Vec<Tile>) {
        scope.retain(|t| !t.data.iter().any(|d| self.ended.contains(d)));
    }

    /// A tile that may be read, rather a late one.
    pub fn pick(&mut self, scope: &[Tile], fits: impl Fn(&Tile) -> bool) -> Option<Tile> {
        let all: Vec<&Tile> = scope.iter().filter(|t| fits(t)).collect();
        let late = all.len().saturating_sub(4);
        let from = if self.random.chance(60) { all.get(late..) } else { Some(&all[..]) };
        self.random.of(from?).cloned()
    }

    /// Everything that was written.
    pub fn finish(self) -> String {
        self.lines.concat()
    }
}
