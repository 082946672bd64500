//! The placement of a module of the dialect.

use super::{Address, AllocPlacement, FunctionPlacement, ReservePlacement, TilePlacement};
use crate::ir;
use melior::ir::{OperationRef, Value};
use pto_dialect::{Op, Space, Tile, constant_int, multi_tile, name_of_value};

/// Every function of a module whose tiles have addresses.
pub fn of_module(module: OperationRef) -> Vec<FunctionPlacement> {
    ir::functions(module).into_iter().map(of_function).collect()
}

fn of_function(function: OperationRef) -> FunctionPlacement {
    let mut placement = FunctionPlacement {
        func: ir::symbol(function),
        kind: match ir::kernel_kind(function) {
            Some("cube") => "AIC".to_owned(),
            Some("vector") => "AIV".to_owned(),
            _ => "InCore".to_owned(),
        },
        ..FunctionPlacement::default()
    };
    for op in ir::walk(function).into_iter().filter_map(Op::of) {
        match op.mnemonic() {
            "reserve_buffer" => placement.reserve.extend(reserved(op)),
            "alloc_tile" | "alloc_multi_tile" => {
                let (Some(value), Some(tile)) = (op.result(), described(op)) else { continue };
                placement.allocs.push(AllocPlacement {
                    base: name_of_value(value).unwrap_or_default(),
                    space: tile.space.clone(),
                    addr: op.operand("addr").and_then(constant_int),
                    size: tile.size,
                    pinned: None,
                    id: None,
                });
                placement.tiles.push(tile);
            }
            "subview" => placement.tiles.extend(described(op)),
            _ => {}
        }
    }
    placement
}

fn reserved(op: Op) -> Option<ReservePlacement> {
    Some(ReservePlacement {
        name: op.string("name")?,
        size: u64::try_from(op.int("size")?).ok()?,
        base: op.int("base").unwrap_or(-1),
    })
}

fn described(op: Op) -> Option<TilePlacement> {
    let value = op.result()?;
    let tile = match multi_tile(pto_dialect_type(value)) {
        Some((slot, _)) => Tile::of(slot)?,
        None => Tile::of_value(value)?,
    };
    let address = op.operand("addr");
    let addr = match address.map(constant_int) {
        Some(Some(address)) => Address::Known(address),
        _ => Address::Computed("run time".to_owned()),
    };
    Some(TilePlacement {
        var: name_of_value(value).unwrap_or_default(),
        shape: format!("{}, {}", tile.rows, tile.cols),
        dtype: tile.element.name().to_owned(),
        base: root_name(op).unwrap_or_default(),
        addr,
        offset: None,
        size: tile.footprint_bytes(),
        space: space_name(tile.space).to_owned(),
    })
}

fn pto_dialect_type<'c>(value: Value<'c, '_>) -> melior::ir::Type<'c> {
    melior::ir::ValueLike::r#type(&value)
}

/// The tile that owns the bytes of a window.
fn root_name(op: Op) -> Option<String> {
    match op.operand("source").and_then(Op::defining) {
        Some(parent) if op.is("subview") => root_name(parent),
        _ => name_of_value(op.result()?),
    }
}

/// The front-end's names, so that both kinds of input give one kind of output.
fn space_name(space: Space) -> &'static str {
    match space {
        Space::Gm => "DDR",
        Space::Mat => "Mat",
        Space::Left => "Left",
        Space::Right => "Right",
        Space::Acc => "Acc",
        Space::Vec => "Vec",
        Space::Bias => "Bias",
        Space::Scaling => "Scaling",
        Space::ScaleLeft => "LeftScale",
        Space::ScaleRight => "RightScale",
    }
}
