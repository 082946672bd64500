//! How many bytes of its scratch tile a library call uses, where that does not follow from the shape of an operand alone.
//!
//! Both who makes a missing scratch tile (`passes/materialize_tmp.rs`) and who checks a given one
//! (`passes/verify_target/scratch.rs`) ask here. Source of all sizes: the instructions that PTO-ISA's npu/a2a3 issues.

use melior::ir::OperationRef;
use pto_dialect::{Element, Op, Tile, edit, value_key};

/// Bytes that one vector instruction writes at most.
const VECTOR_BYTES: u64 = 256;

/// Bytes of scratch that an operation uses on A2/A3; `None`: as its rule in `td` says, or none.
pub fn bytes(op: Op) -> Option<u64> {
    let tile = |name: &str| op.operand(name).and_then(Tile::of_value);
    let dst = tile("dst")?;
    match op.facts.scratch {
        "trem" => Some(remainder(&dst)),
        "row_expand_bin" => Some(broadcast(&dst)),
        "tcvt" => Some(conversion(&tile("src")?, &dst)),
        "tsort32" => {
            // A row, filled up to whole blocks of 32.
            let src = tile("src")?;
            let cols = src.valid_cols.unwrap_or(src.cols).max(0) as u64;
            Some(cols.next_multiple_of(32) * src.element.bytes())
        }
        "tquant" => {
            // Factors for the rows; then the numbers as 32-bit integers, in the shape of src.
            let src = tile("src")?;
            Some(broadcast(&src).max(src.rows as u64 * src.cols as u64 * Element::F32.bytes()))
        }
        _ => None,
    }
}

/// Bytes that ptoas and the library's documents ask for, where that is less than what the call uses.
fn asked_for(op: Op) -> Option<u64> {
    let tile = |name: &str| op.operand(name).and_then(Tile::of_value);
    match op.facts.scratch {
        "trem" => tile("dst").map(|dst| 2 * dst.cols as u64 * dst.element.bytes()),
        "tsort32" | "tquant" => tile("src").map(|src| src.storage_bytes()),
        _ => None,
    }
}

/// Whether the author's scratch tile has what he was asked for and less than the call uses, and may be replaced: it has no
/// address of his, and is scratch wherever it is used.
pub fn may_be_replaced(op: Op) -> bool {
    let Some(tmp) = op.operand("tmp") else { return false };
    let Some(definition) = Op::defining(tmp).filter(|d| d.is("alloc_tile") && d.operand("addr").is_none()) else {
        return false;
    };
    let room = Tile::of_value(tmp).map_or(0, |tile| tile.storage_bytes());
    let holds_nothing = |user: &OperationRef| {
        Op::of(*user).is_some_and(|user| {
            user.named_operands().iter().all(|(operand, v)| operand.name == "tmp" || value_key(*v) != value_key(tmp))
        })
    };
    bytes(op).is_some_and(|bytes| room < bytes)
        && asked_for(op).is_some_and(|bytes| room >= bytes)
        && definition.result().is_some_and(|tile| edit::uses(tile).iter().all(holds_nothing))
}

/// A row of quotients, and behind it the bits of a comparison, which are cleared by a whole vector.
fn remainder(dst: &Tile) -> u64 {
    let row = dst.cols as u64 * dst.element.bytes();
    row + row.max(VECTOR_BYTES)
}

/// A column that becomes a block of 32 bytes for each row: eight rows at a time, and from 256 valid rows on 240 in a
/// round.
fn broadcast(dst: &Tile) -> u64 {
    const ONCE: i64 = 255;
    const ROUND: i64 = 240;
    let rows = match dst.valid_rows {
        Some(rows) if rows > ONCE => ROUND,
        Some(rows) => rows,
        None => dst.rows.min(ONCE),
    };
    (rows.max(1) as u64).div_ceil(8) * VECTOR_BYTES
}

/// A conversion that must not saturate, where it goes through wider integers.
fn conversion(src: &Tile, dst: &Tile) -> u64 {
    let rows = dst.valid_rows.unwrap_or(dst.rows);
    let cols = dst.valid_cols.unwrap_or(dst.cols);
    let head = 32 * ((cols.min(64) + 7) / 8);
    let bytes = match (src.element, dst.element) {
        (Element::F32, Element::I16) => {
            let whole = 256 * (cols / 64).min(255);
            let rest = 32 * ((rows.min(255) - 1).max(0) * (src.cols / 8) + (cols % 64 + 7) / 8);
            if cols % 64 == 0 { whole } else { whole.max(rest) }
        }
        (Element::F16, Element::I16) => head,
        (Element::F16, Element::I8) => head.max(128 + 32 * ((cols.min(64) + 15) / 16)),
        _ => 0,
    };
    bytes as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use pto_dialect::{BLayout, CompactMode, PadValue, SLayout, Space};

    fn tile(rows: i64, cols: i64, valid_rows: Option<i64>) -> Tile {
        Tile {
            space: Space::Vec,
            rows,
            cols,
            valid_rows,
            valid_cols: Some(cols),
            element: Element::F32,
            blayout: BLayout::RowMajor,
            slayout: SLayout::NoneBox,
            fractal: 512,
            pad: PadValue::Null,
            compact: CompactMode::Null,
        }
    }

    #[test]
    fn a_block_for_each_row_of_a_round() {
        assert_eq!(broadcast(&tile(16, 64, Some(9))), 512);
        assert_eq!(broadcast(&tile(248, 8, Some(248))), 31 * 256);
        assert_eq!(broadcast(&tile(512, 8, Some(512))), 30 * 256);
        assert_eq!(broadcast(&tile(512, 8, None)), 32 * 256);
        assert_eq!(broadcast(&tile(16, 8, None)), 512);
    }

    #[test]
    fn remainders_clear_a_whole_vector() {
        assert_eq!(remainder(&tile(16, 8, Some(16))), 32 + 256);
        assert_eq!(remainder(&tile(16, 128, Some(16))), 1024);
    }
}
