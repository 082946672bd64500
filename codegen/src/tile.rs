//! Tiles: their C++ types, declarations and addresses.

use crate::{expression::Expression, function::Body, irregular::escape};
use melior::ir::{OperationRef, Value, operation::OperationLike};
use pto_dialect::{
    BLayout, CompactMode, Element, Op, PadValue, SLayout, Space, Tile, UNTOUCHED, constant_int, name_of_value, position,
};

/// `Tile<TileType::Vec, float, 16, 64>`; arguments that have their default value at the end are left out.
pub fn tile_type(tile: &Tile) -> String {
    let (rows, cols, valid_rows, valid_cols) = printed_extents(tile);
    let arguments = [
        format!("TileType::{}", tile.space.tile_type()),
        tile.element.cpp().to_owned(),
        rows.to_string(),
        cols.to_string(),
        format!("BLayout::{}", blayout(tile.blayout)),
        valid_rows.to_string(),
        valid_cols.to_string(),
        format!("SLayout::{}", slayout(tile.slayout)),
        tile.fractal.to_string(),
        format!("PadValue::{}", pad(tile.pad)),
        format!("CompactMode::{}", compact(tile.compact)),
    ];
    let defaults = [
        String::new(),
        String::new(),
        String::new(),
        String::new(),
        "BLayout::RowMajor".to_owned(),
        rows.to_string(),
        cols.to_string(),
        "SLayout::NoneBox".to_owned(),
        "512".to_owned(),
        "PadValue::Null".to_owned(),
        "CompactMode::Null".to_owned(),
    ];
    let kept = (0..arguments.len()).rev().find(|&i| arguments[i] != defaults[i]).unwrap_or(0);
    format!("Tile<{}>", arguments[..=kept].join(", "))
}

/// Rows, columns, valid rows, valid columns as template arguments: -1 where known at run time, or where the extent
/// is 0 (the library has no tile with a static valid extent of 0), twice the packed extent for two values a byte.
fn printed_extents(tile: &Tile) -> (i64, i64, i64, i64) {
    let valid = |extent: Option<i64>| extent.filter(|&e| e > 0).unwrap_or(-1);
    let (mut rows, mut cols) = (tile.rows, tile.cols);
    let (mut valid_rows, mut valid_cols) = (valid(tile.valid_rows), valid(tile.valid_cols));
    if matches!(tile.element, Element::F4E1M2x2 | Element::F4E2M1x2) {
        let double = |extent: &mut i64| *extent *= if *extent > 0 { 2 } else { 1 };
        match tile.blayout {
            BLayout::RowMajor => (double(&mut cols), double(&mut valid_cols)),
            BLayout::ColMajor => (double(&mut rows), double(&mut valid_rows)),
        };
    }
    (rows, cols, valid_rows, valid_cols)
}

fn blayout(layout: BLayout) -> &'static str {
    match layout {
        BLayout::RowMajor => "RowMajor",
        BLayout::ColMajor => "ColMajor",
    }
}

fn slayout(layout: SLayout) -> &'static str {
    match layout {
        SLayout::NoneBox => "NoneBox",
        SLayout::RowMajor => "RowMajor",
        SLayout::ColMajor => "ColMajor",
    }
}

fn pad(value: PadValue) -> &'static str {
    match value {
        PadValue::Null => "Null",
        PadValue::Zero => "Zero",
        PadValue::Max => "Max",
        PadValue::Min => "Min",
    }
}

fn compact(mode: CompactMode) -> &'static str {
    match mode {
        CompactMode::Null => "Null",
        CompactMode::Normal => "Normal",
        CompactMode::RowPlusOne => "RowPlusOne",
    }
}

/// A window has its own shape where its rows and columns are as far apart as in a tile of that shape; else it is
/// declared with its parent's shape and a smaller valid region.
pub fn window_tile(parent: &Tile, window: &Tile) -> Tile {
    if window.strides() == parent.strides() {
        return *window;
    }
    Tile { rows: parent.rows, cols: parent.cols, ..*window }
}

impl<'c, 'a> Body<'_, 'c, 'a> {
    /// Declares the tile of `result`, with valid extents where the type leaves them open.
    pub fn declare_tile(&mut self, result: Value<'c, 'a>, tile: &Tile, valid: [Option<Value<'c, 'a>>; 2]) -> String {
        let name = self.declare_name(result, "tile");
        let mut arguments = Vec::new();
        for (extent, operand, physical) in
            [(tile.valid_rows, valid[0], tile.rows), (tile.valid_cols, valid[1], tile.cols)]
        {
            match (extent, operand) {
                (Some(extent), _) if extent > 0 => {}
                (Some(_), _) => arguments.push("0".to_owned()),
                (None, Some(value)) => arguments.push(self.argument(value)),
                (None, None) => arguments.push(physical.to_string()),
            }
        }
        let arguments = if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) };
        self.line(format!("{} {name}{arguments};", tile_type(tile)));
        name
    }

    /// `pto.alloc_tile`, `pto.subview` with an address, `pto.declare_tile`.
    pub fn emit_tile_definition(&mut self, op: Op<'c, 'a>) {
        let Some((result, own)) = op.result().and_then(|r| Some((r, Tile::of_value(r)?))) else { return };
        let parent = op.operand("source").and_then(Tile::of_value);
        let tile = parent.map_or(own, |parent| window_tile(&parent, &own));
        self.check_valid(op, result, &own);
        let name = self.declare_tile(result, &tile, [op.operand("valid_row"), op.operand("valid_col")]);
        match op.operand("addr") {
            Some(addr) => self.emit_tassign(op.raw, &name, &tile, addr),
            None if op.is("declare_tile") || op.attr(UNTOUCHED).is_some() => {}
            None => self.fail(op.raw, "has no address; run pto-allocate-memory-addr and pto-resolve-views first"),
        }
    }

    /// With `runtime_checks`: stops the core with a message where an extent from run time is negative or larger than the
    /// tile. A transfer of such a tile would hang the core or reach outside of it.
    pub fn check_valid(&mut self, op: Op<'c, 'a>, tile: Value<'c, 'a>, own: &Tile) {
        if !self.options().runtime_checks {
            return;
        }
        for (what, extent) in [("valid_row", own.rows), ("valid_col", own.cols)] {
            let Some(value) = op.operand(what).filter(|&value| constant_int(value).is_none()) else { continue };
            let place = position(op.raw.location());
            let tile = name_of_value(tile).unwrap_or_default();
            // The file is no format.
            let file = place.file.replace('%', "%%");
            let format = format!("{file}:{}: {what} of tile %%{tile} is %ld, expected 0 to {extent}", place.line);
            let value = self.argument(value);
            self.line(format!("if ((uint64_t)({value}) > {extent}) {{"));
            self.line(format!("  cce::printf(\"{}\\n\", (int64_t)({value}));", escape(&format)));
            self.line("  trap();");
            self.line("}");
        }
    }

    /// The checked form for a constant that the library's check accepts, else the run-time form.
    pub fn emit_tassign(&mut self, op: OperationRef<'c, 'a>, name: &str, tile: &Tile, addr: Value<'c, 'a>) {
        let constant = constant_int(addr).and_then(|a| u64::try_from(a).ok());
        match constant {
            Some(address) if !self.options().runtime_tassign && self.fits_check(tile, address) => {
                self.count_tassign(true, op, "");
                self.line(format!("TASSIGN<{address:#x}>({name});"));
            }
            Some(address) => {
                let reason = if self.options().runtime_tassign {
                    "asked for"
                } else {
                    "a window declared with its parent's shape"
                };
                self.count_tassign(false, op, reason);
                self.line(format!("TASSIGN({name}, {address:#x});"));
            }
            None => {
                self.count_tassign(false, op, "the address is known at run time");
                let address = self.argument(addr);
                self.line(format!("TASSIGN({name}, {address});"));
            }
        }
    }

    /// Whether `TASSIGN<address>` compiles: the library counts the declared shape, which for a window may be its parent's.
    fn fits_check(&self, tile: &Tile, address: u64) -> bool {
        let Some(memory) = self.device().memory(tile.space) else { return true };
        address.checked_add(tile.storage_bytes()).is_some_and(|end| end <= memory.capacity)
            && address.is_multiple_of(memory.align)
    }

    /// `pto.bitcast`, `pto.treshape`, `pto.tassign`: another object over the same bytes.
    pub fn emit_tile_cast(&mut self, op: Op<'c, 'a>) {
        let source = op.operand("src").or_else(|| op.operand("tile"));
        let (Some(source), Some(result)) = (source, op.result()) else { return };
        let Some(tile) = Tile::of_value(result) else { return self.fail(op.raw, "must yield a tile") };
        let from = self.argument(source);
        let name = self.declare_tile(result, &tile, [None, None]);
        if let Some(addr) = op.operand("addr") {
            return self.emit_tassign(op.raw, &name, &tile, addr);
        }
        match op.mnemonic() {
            "treshape" => self.line(format!("TRESHAPE({name}, {from});")),
            _ if constant_address(source).is_some() => {
                let addr = constant_address(source).expect("just seen");
                self.emit_tassign(op.raw, &name, &tile, addr);
            }
            _ => {
                self.count_tassign(false, op.raw, "the address of another tile object");
                self.line(format!("TASSIGN({name}, {});", data_address(&from, tile.space)));
            }
        }
    }

    /// `pto.tile_addr`.
    pub fn emit_tile_addr(&mut self, op: Op<'c, 'a>) {
        let (Some(source), Some(result)) = (op.operand("src"), op.result()) else { return };
        let space = Tile::of_value(source).map_or(Space::Vec, |t| t.space);
        let name = self.argument(source);
        self.bind(result, Expression::compound(format!("(int64_t){}", data_address(&name, space))));
    }
}

/// The address operand of a tile that stands at a constant address.
fn constant_address<'c: 'a, 'a>(tile: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    let addr = Op::defining(tile)?.operand("addr")?;
    constant_int(addr)?;
    Some(addr)
}

/// A tile object's address as an integer.
fn data_address(name: &str, space: Space) -> String {
    match space {
        Space::Bias => format!("(uint64_t)({name}.data())"),
        _ => format!("reinterpret_cast<uint64_t>({name}.data())"),
    }
}
