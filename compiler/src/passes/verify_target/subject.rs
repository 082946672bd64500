//! What a rule works with: one operation, the device, operands as tiles with names, and the list of problems.

use melior::ir::{Value, operation::OperationLike};
use pto_dialect::{
    BLayout, Op, Role, SLayout, Space, Tile, View, constant_int,
    device::{Device, Legality},
    diagnostics, name_of_value,
};
use std::fmt::{self, Arguments, Display, Formatter};

/// One operation on one device.
pub struct Subject<'c, 'a, 'd> {
    /// The operation.
    pub op: Op<'c, 'a>,
    /// The device.
    pub device: &'d Device,
    problems: Vec<(&'static str, String)>,
}

impl<'c, 'a, 'd> Subject<'c, 'a, 'd> {
    /// Starts with an empty list.
    pub fn new(op: Op<'c, 'a>, device: &'d Device) -> Self {
        Self { op, device, problems: Vec::new() }
    }

    /// Emits what was found; whether that is nothing.
    pub fn report(self) -> bool {
        for (code, text) in &self.problems {
            let text = format_args!("'{}' op {text}", self.op.facts.name).to_string();
            diagnostics::error(self.op.raw.location(), code, text).emit();
        }
        self.problems.is_empty()
    }

    /// Adds `expected A, got B` unless the condition holds; whether it holds.
    pub fn require(&mut self, holds: bool, code: &'static str, expected: Arguments, got: impl Display) -> bool {
        if !holds {
            self.problems.push((code, format!("expected {expected}, got {got}")));
        }
        holds
    }

    /// Whether the rules of A2/A3 apply.
    pub fn is_a3(&self) -> bool {
        self.device.legality == Legality::A3
    }

    /// A tile operand; `None` when it is absent or no tile.
    pub fn tile(&self, operand: &'static str) -> Option<Named<'c, 'a>> {
        Named::of(operand, self.op.operand(operand)?)
    }

    /// The scratch tile, where A2/A3's rules about it apply.
    pub fn a3_scratch(&self) -> Option<Named<'c, 'a>> {
        self.tile("tmp").filter(|_| self.is_a3())
    }

    /// Every tile that is only read.
    pub fn sources(&self) -> Vec<Named<'c, 'a>> {
        let read = self.op.named_operands().into_iter().filter(|(operand, _)| operand.role == Role::Read);
        read.filter_map(|(operand, value)| Named::of(operand.name, value)).collect()
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

    /// Whether an enumeration attribute has a certain case.
    pub fn is_case(&self, attribute: &str, case: &str) -> bool {
        self.op.enum_text(attribute) == Some(case)
    }

    /// ` of tile %name` for the operation's result, or nothing.
    pub fn result_label(&self) -> String {
        let name = self.op.result().and_then(name_of_value);
        name.map_or_else(String::new, |name| format!(" of tile %{name}"))
    }
}

/// A tile operand with the names that messages use.
#[derive(Clone, Copy)]
pub struct Named<'c, 'a> {
    /// The operand's name in the definition.
    pub operand: &'static str,
    /// The value.
    pub value: Value<'c, 'a>,
    tile: Tile,
}

impl<'c, 'a> Named<'c, 'a> {
    fn of(operand: &'static str, value: Value<'c, 'a>) -> Option<Self> {
        Tile::of_value(value).map(|tile| Self { operand, value, tile })
    }

    /// Rows without boxes.
    pub fn is_rows(&self) -> bool {
        self.layout() == (BLayout::RowMajor, SLayout::NoneBox)
    }

    /// Column-major blocks of row-major boxes.
    pub fn is_nz(&self) -> bool {
        self.layout() == (BLayout::ColMajor, SLayout::RowMajor)
    }

    /// Row-major blocks of column-major boxes.
    pub fn is_zn(&self) -> bool {
        self.layout() == (BLayout::RowMajor, SLayout::ColMajor)
    }

    /// Block layout and layout inside a box.
    pub fn layout(&self) -> (BLayout, SLayout) {
        (self.blayout, self.slayout)
    }

    /// Whether it stands in one of the memories that hold scales and quantisation vectors.
    pub fn is_scaling(&self) -> bool {
        matches!(self.space, Space::Scaling | Space::ScaleLeft | Space::ScaleRight)
    }

    /// The layout in words.
    pub fn layout_text(&self) -> String {
        let name = |major| if major { "row_major" } else { "col_major" };
        let blocks = name(self.blayout == BLayout::RowMajor);
        match self.slayout {
            SLayout::NoneBox => format!("{blocks} without boxes"),
            inner => format!("{blocks} blocks of {} boxes", name(inner == SLayout::RowMajor)),
        }
    }

    /// Physical rows and columns.
    pub fn shape_text(&self) -> String {
        format!("{}x{}", self.rows, self.cols)
    }

    /// Valid rows and columns, `?` where open.
    pub fn valid_text(&self) -> String {
        let text = |extent: Option<i64>| extent.map_or_else(|| "?".to_owned(), |e| e.to_string());
        format!("{}x{}", text(self.valid_rows), text(self.valid_cols))
    }

    /// Whether the valid extents may be those of another tile.
    pub fn is_valid_like(&self, other: &Self) -> bool {
        may_equal(self.valid_rows, other.valid_rows) && may_equal(self.valid_cols, other.valid_cols)
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

/// Whether two extents may be equal.
pub fn may_equal(a: Option<i64>, b: Option<i64>) -> bool {
    a.is_none() || b.is_none() || a == b
}

/// Whether an extent may be at least `least`.
pub fn may_reach(extent: Option<i64>, least: i64) -> bool {
    extent.is_none_or(|extent| extent >= least)
}
