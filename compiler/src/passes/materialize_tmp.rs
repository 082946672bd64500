//! `pto-materialize-tmp`: gives an operation the scratch tile that its library call needs and its author left out.
//!
//! Which operations need one stands in `dialect/td` (`scratch`); its shape stands here, one rule each, and where its size
//! does not follow from an operand's shape, that in `scratch.rs`. Where the library would otherwise take memory that nobody placed (row broadcasts
//! on A2/A3), the explicit form is always made. The tile has no address: the allocation pass finds free space. A given
//! tile that is smaller than what the call uses, and nothing but scratch, is replaced.
//!
//! A5's library takes most scratch tiles and never touches them. A tile that is nothing but such scratch is marked
//! (`pto.untouched`): it gets no address and takes no room.

use crate::{ir, scratch};
use melior::ir::{
    Attribute, Identifier, Location, OperationRef, Type, Value, ValueLike,
    attribute::DenseI32ArrayAttribute,
    operation::{OperationBuilder, OperationLike},
    r#type::IntegerType,
};
use pto_dialect::{
    BLayout, CompactMode, Element, Op, PadValue, SLayout, Space, Tile, UNTOUCHED,
    device::{Device, Legality},
    edit, value_key,
};

/// Runs the pass on a module.
pub fn run(module: OperationRef, device: &Device) -> bool {
    for function in ir::functions(module) {
        for op in ir::walk(function).into_iter().filter_map(Op::of) {
            if op.is("alloc_tile") {
                mark_untouched(op, device.legality);
            }
            let given = op.operand("tmp").is_some();
            let suffices = !(device.legality == Legality::A3 && scratch::may_be_replaced(op));
            if op.facts.scratch.is_empty() || (given && suffices) {
                continue;
            }
            if let Some(need) = need(op, device.legality) {
                add_scratch(op, need);
            }
        }
    }
    true
}

/// The scratch tile that an operation cannot do without: its bytes and its shape in words; `None` when it lacks none.
/// Row expansions and conversions have a form without (with memory that the library does not declare), so a kernel may
/// leave theirs out; it gets one all the same where there is room.
pub fn missing(op: Op, device: &Device) -> Option<(u64, String)> {
    if matches!(op.facts.scratch, "" | "row_expand_bin" | "tcvt") || op.operand("tmp").is_some() {
        return None;
    }
    let need = need(op, device.legality)?;
    let bytes = (need.rows as u64).saturating_mul(need.cols as u64).saturating_mul(need.element.bytes());
    Some((bytes, format!("{}x{}x{}", need.rows, need.cols, need.element.name())))
}

/// Scratch rules of operations that use their scratch tile on A5 as well; the library's code for A5 does not read
/// the others (PTO-ISA, npu/a5).
const USED_ON_A5: [&str; 3] = ["tcolsum", "tsort32", "tmrgsort"];

/// Marks a tile without address whose every use is a scratch operand that the target's library does not touch.
fn mark_untouched(tile: Op, legality: Legality) {
    let Some(value) = tile.result().filter(|_| legality == Legality::A5 && tile.operand("addr").is_none()) else {
        return;
    };
    let users = edit::uses(value);
    let ignores = |user: &OperationRef| {
        Op::of(*user).is_some_and(|user| {
            let mut holders = user.named_operands().into_iter().filter(|(_, v)| value_key(*v) == value_key(value));
            let scratch = !user.facts.scratch.is_empty() && !USED_ON_A5.contains(&user.facts.scratch);
            scratch && holders.all(|(operand, _)| operand.name == "tmp")
        })
    };
    if !users.is_empty() && users.iter().all(ignores) {
        let context = pto_dialect::context_of(tile.raw);
        edit::set_attribute(tile.raw, UNTOUCHED, Attribute::unit(context));
    }
}

/// A scratch tile: a row-major vector tile of rows x columns, valid in a part of it.
#[derive(Clone, Copy)]
struct Need<'c> {
    rows: i64,
    cols: i64,
    valid: Option<(i64, i64)>,
    element: Element,
    ty: Type<'c>,
}

fn add_scratch<'c>(op: Op<'c, '_>, need: Need<'c>) {
    let context = pto_dialect::context_of(op.raw);
    let (valid_rows, valid_cols) = need.valid.unwrap_or((need.rows, need.cols));
    let tile = Tile {
        space: Space::Vec,
        rows: need.rows,
        cols: need.cols,
        valid_rows: Some(valid_rows),
        valid_cols: Some(valid_cols),
        element: need.element,
        blayout: BLayout::RowMajor,
        slayout: SLayout::NoneBox,
        fractal: 512,
        pad: PadValue::Null,
        compact: CompactMode::Null,
    };
    let segments = DenseI32ArrayAttribute::new(context, &[0, 0, 0]).into();
    let built = OperationBuilder::new(
        "pto.alloc_tile",
        Location::name(context, &format!("{}_tmp", op.mnemonic().replace('.', "_")), op.raw.location()),
    )
    .add_attributes(&[(Identifier::new(context, "operandSegmentSizes"), segments)])
    .add_results(&[tile.to_type(context, need.ty)])
    .build();
    let alloc = edit::insert_before(op.raw, built.expect("the operation is complete"));
    let value: Value = alloc.result(0).expect("one result").into();
    edit::set_operand(op, "tmp", value);
}

/// Rounds columns up so that a row is a multiple of 32 bytes.
fn whole_rows(cols: i64, element: Element) -> i64 {
    let per_block = 32 / element.bytes() as i64;
    cols.max(1).div_euclid(per_block) * per_block + if cols.max(1) % per_block == 0 { 0 } else { per_block }
}

/// What an operation needs on a target; `None`: nothing.
fn need<'c>(op: Op<'c, '_>, legality: Legality) -> Option<Need<'c>> {
    let rule = op.facts.scratch;
    if legality == Legality::A5 && !USED_ON_A5.contains(&rule) {
        return None;
    }
    let context = pto_dialect::context_of(op.raw);
    let int = |width: u32| -> Type<'c> { IntegerType::new(context, width).into() };
    let of = |name: &str| -> Option<(Tile, Type<'c>)> {
        let value = op.operand(name)?;
        Some((Tile::of_value(value)?, edit::element_type(value.r#type())))
    };
    let like = |(tile, ty): (Tile, Type<'c>)| Need {
        rows: tile.rows,
        cols: tile.cols,
        valid: None,
        element: tile.element,
        ty,
    };
    let bytes = |element: Element| element.bytes() as i64;
    // One row of so many bytes.
    let flat = |bytes: u64, (tile, ty): (Tile, Type<'c>)| {
        let cols = whole_rows(bytes.div_ceil(tile.element.bytes()) as i64, tile.element);
        Need { rows: 1, cols, valid: None, element: tile.element, ty }
    };
    let dst = of("dst")?;
    let columns = |t: &Tile| t.valid_cols.unwrap_or(t.cols);
    let rows = |t: &Tile| t.valid_rows.unwrap_or(t.rows);
    match rule {
        "same_as_dst" => Some(like(dst)),
        "trem" => scratch::bytes(op).map(|n| flat(n, dst)),
        "trems" => Some(Need { rows: 1, ..like(dst) }),
        "tprelu" => {
            let mask = (columns(&dst.0) + 7) / 8;
            let ty = IntegerType::unsigned(context, 8).into();
            let cols = whole_rows(mask, Element::U8);
            Some(Need { rows: rows(&dst.0) + 1, cols, valid: Some((rows(&dst.0), mask)), element: Element::U8, ty })
        }
        "tpow" => (!dst.0.element.is_integer()).then(|| like(dst)),
        "tsel" => Some(Need { rows: 1, cols: 16, valid: None, element: Element::I32, ty: int(32) }),
        "tsels" => Some(Need { rows: 1, ..like(of("src")?) }),
        "trsqrt" => {
            let precise = op.enum_text("precisionType") == Some("high_precision");
            precise.then(|| Need { rows: 1, cols: 32 / bytes(dst.0.element), ..like(dst) })
        }
        "tcvt" => {
            let exact = op.enum_text("sat_mode") != Some("ON");
            let bytes = scratch::bytes(op).filter(|&bytes| exact && bytes > 0)?;
            let cols = whole_rows(bytes as i64, Element::I8);
            Some(Need { rows: 1, cols, valid: None, element: Element::I8, ty: int(8) })
        }
        "row_reduce" => Some(like(of("src")?)),
        "tcolsum" => {
            let (tile, ty) = of("src")?;
            let binary = op.bool("isBinary") == Some(true);
            binary.then(|| Need {
                rows: (rows(&tile) + 1) / 2,
                cols: whole_rows(columns(&tile), tile.element),
                valid: None,
                element: tile.element,
                ty,
            })
        }
        "row_expand_bin" => scratch::bytes(op).filter(|_| has_column(op)).map(|n| flat(n, dst)),
        "ttrans" => {
            let (tile, ty) = of("src")?;
            let block = 32 / bytes(tile.element);
            let lines = if bytes(tile.element) == 1 { 32 } else { 16 };
            let used = dst.0.cols % lines == 0 && tile.cols % block == 0 && tile.cols / block <= 255;
            Some(if used {
                like((tile, ty))
            } else {
                Need { rows: 1, cols: block, valid: None, element: tile.element, ty }
            })
        }
        "tgather" => op.operand("indices").and_then(|_| of("indices")).map(like),
        "tsort32" => {
            let (tile, ty) = of("src")?;
            let unaligned = tile.valid_cols.is_none_or(|c| c % 32 != 0);
            scratch::bytes(op).filter(|_| unaligned).map(|n| flat(n, (tile, ty)))
        }
        "tmrgsort" => {
            let sources = op.operands("srcs");
            let total: i64 = sources.iter().filter_map(|&v| Tile::of_value(v)).map(|t| t.cols).sum();
            (sources.len() > 1).then(|| Need { rows: 1, cols: total.max(dst.0.cols), ..like(dst) })
        }
        "tquant" => {
            let src = of("src")?;
            let bytes = scratch::bytes(op)?;
            Some(if bytes > src.0.storage_bytes() { flat(bytes, src) } else { like(src) })
        }
        _ => None,
    }
}

/// Whether one of the operands of a row broadcast is a column.
fn has_column(op: Op) -> bool {
    ["src0", "src1"].into_iter().any(|name| {
        op.operand(name)
            .and_then(Tile::of_value)
            .is_some_and(|t| t.blayout == BLayout::ColMajor && t.valid_cols.unwrap_or(t.cols) == 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_whole_blocks() {
        assert_eq!(whole_rows(1, Element::U8), 32);
        assert_eq!(whole_rows(32, Element::U8), 32);
        assert_eq!(whole_rows(9, Element::F32), 16);
    }
}
