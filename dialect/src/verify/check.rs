//! What a rule works with: the operands of one operation as tiles with names, and the list of problems.

use crate::{
    diagnostics,
    element::Element,
    facts::Role,
    location::name_of_value,
    op::{Op, constant_int},
    tile::{BLayout, SLayout, Tile},
    types::View,
};
use melior::ir::{Value, ValueLike, operation::OperationLike};
use std::fmt::{self, Arguments, Display, Formatter};

/// One operation under test.
pub struct Check<'c, 'a> {
    /// The operation.
    pub op: Op<'c, 'a>,
    problems: Vec<Problem>,
}

struct Problem {
    code: &'static str,
    text: String,
    help: Option<&'static str>,
}

impl<'c, 'a> Check<'c, 'a> {
    /// Starts with an empty list.
    pub fn new(op: Op<'c, 'a>) -> Self {
        Self { op, problems: Vec::new() }
    }

    /// Emits what was found; whether that is nothing.
    pub fn report(self) -> bool {
        for problem in &self.problems {
            let text = format_args!("'{}' op {}", self.op.facts.name, problem.text).to_string();
            let report = diagnostics::error(self.op.raw.location(), problem.code, text);
            match problem.help {
                Some(help) => report.help(help).emit(),
                None => report.emit(),
            }
        }
        self.problems.is_empty()
    }

    /// Adds `expected A, got B` unless the condition holds; whether it holds.
    pub fn require(&mut self, holds: bool, code: &'static str, expected: Arguments, got: impl Display) -> bool {
        if !holds {
            self.problems.push(Problem { code, text: format!("expected {expected}, got {got}"), help: None });
        }
        holds
    }

    /// Adds what the author can do about the latest problem, if the condition failed.
    pub fn help(&mut self, holds: bool, help: &'static str) {
        if let Some(problem) = self.problems.last_mut().filter(|_| !holds) {
            problem.help = Some(help);
        }
    }

    /// A tile operand; `None` when it is absent or no tile.
    pub fn tile(&self, operand: &'static str) -> Option<Named<'c, 'a>> {
        Named::of(operand, self.op.operand(operand)?)
    }

    /// All tiles of a variadic operand.
    pub fn tiles(&self, operand: &'static str) -> Vec<Named<'c, 'a>> {
        self.op.operands(operand).into_iter().filter_map(|value| Named::of(operand, value)).collect()
    }

    /// Every tile operand that is not scratch.
    pub fn data_tiles(&self) -> Vec<Named<'c, 'a>> {
        self.tiles_where(|role| role != Role::Scratch)
    }

    /// Every tile operand whose role is wanted.
    pub fn tiles_where(&self, wanted: impl Fn(Role) -> bool) -> Vec<Named<'c, 'a>> {
        let named = self.op.named_operands().into_iter().filter(|(operand, _)| wanted(operand.role));
        named.filter_map(|(operand, value)| Named::of(operand.name, value)).collect()
    }

    /// A view operand.
    pub fn view(&self, operand: &str) -> Option<View> {
        self.op.operand(operand).and_then(View::of_value)
    }

    /// The constant behind an operand.
    pub fn constant(&self, operand: &str) -> Option<i64> {
        self.op.operand(operand).and_then(constant_int)
    }

    /// Whether an optional operand is there.
    pub fn has(&self, operand: &str) -> bool {
        self.op.operand(operand).is_some()
    }

    /// The element type of a scalar operand.
    pub fn scalar(&self, operand: &str) -> Option<Element> {
        self.op.operand(operand).and_then(|value| Element::of(value.r#type()))
    }

    /// Whether an enumeration attribute is there with another case than `default`.
    pub fn differs(&self, attribute: &str, default: &str) -> bool {
        self.op.enum_text(attribute).is_some_and(|case| case != default)
    }
}

/// A tile operand with the names that messages use.
#[derive(Clone, Copy)]
pub struct Named<'c, 'a> {
    /// The operand's name in the definition.
    pub operand: &'static str,
    /// The value.
    pub value: Value<'c, 'a>,
    /// Its type.
    pub tile: Tile,
}

impl<'c, 'a> Named<'c, 'a> {
    /// A value as a tile.
    pub fn of(operand: &'static str, value: Value<'c, 'a>) -> Option<Self> {
        Tile::of_value(value).map(|tile| Self { operand, value, tile })
    }
}

impl std::ops::Deref for Named<'_, '_> {
    type Target = Tile;
    fn deref(&self) -> &Tile {
        &self.tile
    }
}

impl Display for Named<'_, '_> {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match name_of_value(self.value) {
            Some(name) => write!(f, "{} (tile %{name})", self.operand),
            None => f.write_str(self.operand),
        }
    }
}

/// A run-time extent as `?`.
pub struct Extent(pub Option<i64>);

impl Display for Extent {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self.0 {
            Some(extent) => write!(f, "{extent}"),
            None => f.write_str("?"),
        }
    }
}

/// `16x?` for the valid extents of a tile.
pub fn valid_text(tile: &Tile) -> String {
    format!("{}x{}", Extent(tile.valid_rows), Extent(tile.valid_cols))
}

/// `16x64` for the physical shape of a tile.
pub fn shape_text(tile: &Tile) -> String {
    format!("{}x{}", tile.rows, tile.cols)
}

/// `col_major blocks, row_major boxes` for the layout of a tile.
pub fn layout_text(tile: &Tile) -> String {
    let blocks = match tile.blayout {
        BLayout::RowMajor => "row_major",
        BLayout::ColMajor => "col_major",
    };
    match tile.slayout {
        SLayout::NoneBox => format!("{blocks} without boxes"),
        SLayout::RowMajor => format!("{blocks} blocks of row_major boxes"),
        SLayout::ColMajor => format!("{blocks} blocks of col_major boxes"),
    }
}

/// Whether two extents may be equal.
pub fn may_equal(a: Option<i64>, b: Option<i64>) -> bool {
    a.is_none() || b.is_none() || a == b
}

/// Whether `a` may be at most `b`.
pub fn may_fit(a: Option<i64>, b: Option<i64>) -> bool {
    a.zip(b).is_none_or(|(a, b)| a <= b)
}

/// Whether two integers differ in signedness at most, or two types not at all.
pub fn same_scalar(a: Element, b: Element) -> bool {
    let bare = |e: Element| if e.is_integer() { e.name().trim_start_matches('u') } else { e.name() };
    bare(a) == bare(b)
}

/// The marker of an inactive lane: both valid extents are the constant 0.
pub fn is_empty_marker(tile: &Tile) -> bool {
    (tile.valid_rows, tile.valid_cols) == (Some(0), Some(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_extent_equals_and_fits_anything() {
        assert!(may_equal(None, Some(3)) && may_equal(Some(3), Some(3)) && !may_equal(Some(2), Some(3)));
        assert!(may_fit(None, Some(3)) && may_fit(Some(3), Some(3)) && !may_fit(Some(4), Some(3)));
    }

    #[test]
    fn scalars_may_differ_in_signedness_only() {
        assert!(same_scalar(Element::U16, Element::I16));
        assert!(!same_scalar(Element::I32, Element::I16));
        assert!(!same_scalar(Element::F16, Element::BF16));
    }
}
