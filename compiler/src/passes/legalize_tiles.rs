//! `pto-legalize-tiles`: tile layouts and moves in the one form that a target's library accepts.
//!
//! Where `toolchain.toml` states the block layout of `left` tiles, they get it whatever the text says (the library
//! refuses the other); on A2/A3 the text stands, but for tiles that `textract` fills, which have rows there. On A5 a
//! move between column-major vector tiles becomes the same move on their row-major views (the column-major one hangs
//! some parts).

use crate::ir;
use melior::ir::{
    OperationRef, Type, Value, ValueLike,
    operation::{OperationBuilder, OperationLike},
};
use pto_dialect::{
    BLayout, Op, SLayout, Space, Tile,
    device::{BlockOrder, Device, Legality},
    diagnostics, edit,
};

/// Runs the pass on a module.
pub fn run(module: OperationRef, device: &Device) -> bool {
    let mut ok = true;
    for function in ir::functions(module) {
        for op in ir::walk(function) {
            if let Some(order) = device.left_blocks {
                op.results().for_each(|result| lay_out_left(op, result.into(), order));
            }
            let Some(known) = Op::of(op) else { continue };
            match device.legality {
                Legality::A5 if known.is("tmov") => ok &= move_rows(known),
                Legality::A3 if known.is("textract") => extract_to_rows(known),
                _ => {}
            }
        }
    }
    ok
}

/// A2/A3 extracts into row-major blocks only, whatever the text says of its left tile.
fn extract_to_rows(op: Op) {
    let Some(dst) = op.operand("dst") else { return };
    if let Some(definition) = Op::defining(dst).filter(|definition| definition.is("alloc_tile")) {
        lay_out_left(definition.raw, dst, BlockOrder::RowMajor);
    }
}

/// Gives a left tile the block layout that the target reads.
fn lay_out_left(op: OperationRef, value: Value, order: BlockOrder) {
    let Some(tile) = Tile::of_value(value) else { return };
    let blayout = match order {
        BlockOrder::RowMajor => BLayout::RowMajor,
        BlockOrder::ColMajor => BLayout::ColMajor,
    };
    if tile.space != Space::Left || tile.blayout == blayout || tile.slayout != SLayout::RowMajor {
        return;
    }
    let context = pto_dialect::context_of(op);
    let ty = Tile { blayout, ..tile }.to_type(context, edit::element_type(value.r#type()));
    edit::set_type(value, ty);
}

/// `tmov` between column-major vector tiles without boxes, on row-major views of both.
fn move_rows(op: Op) -> bool {
    let (Some(src), Some(dst)) = (op.operand("src"), op.operand("dst")) else { return true };
    let (Some(from), Some(to)) = (Tile::of_value(src), Tile::of_value(dst)) else { return true };
    let is_column = |t: &Tile| t.space == Space::Vec && t.blayout == BLayout::ColMajor && t.slayout == SLayout::NoneBox;
    if !is_column(&from) || !is_column(&to) || op.operand("fp").is_some() {
        return true;
    }
    let dynamic = [from.valid_rows, from.valid_cols, to.valid_rows, to.valid_cols].contains(&None);
    if dynamic {
        return move_dynamic_rows(op, src, dst, &from, &to);
    }
    let views = [(src, from), (dst, to)].map(|(value, tile)| row_view(op.raw, value, transposed(&tile)));
    edit::set_operand(op, "src", views[0]);
    edit::set_operand(op, "dst", views[1]);
    true
}

fn transposed(tile: &Tile) -> Tile {
    Tile {
        rows: tile.cols,
        cols: tile.rows,
        valid_rows: tile.valid_cols,
        valid_cols: tile.valid_rows,
        blayout: BLayout::RowMajor,
        ..*tile
    }
}

/// With extents known at run time, the views take theirs from the tiles.
fn move_dynamic_rows<'c, 'a>(op: Op<'c, 'a>, src: Value<'c, 'a>, dst: Value<'c, 'a>, from: &Tile, to: &Tile) -> bool {
    if from.cols != 1 && to.cols != 1 && (from.rows, from.cols) != (to.rows, to.cols) {
        let message = format!(
            "'pto.tmov' op expected {} and {} of one shape, as column-major tiles with extents known at run time, found {}x{} and {}x{}",
            ir::label(src),
            ir::label(dst),
            from.rows,
            from.cols,
            to.rows,
            to.cols
        );
        diagnostics::error(op.raw.location(), "PTO-0303", message).emit();
        return false;
    }
    for (operand, value, tile) in [("src", src, from), ("dst", dst, to)] {
        let open = Tile { valid_rows: None, valid_cols: None, ..transposed(tile) };
        let view = row_view(op.raw, value, open);
        let location = op.raw.location();
        let context = pto_dialect::context_of(op.raw);
        let index = Type::index(context);
        let query =
            OperationBuilder::new("pto.get_validshape", location).add_operands(&[value]).add_results(&[index, index]);
        let query = edit::insert_before(op.raw, query.build().expect("complete"));
        let [rows, cols] = [0, 1].map(|i| Value::from(query.result(i).expect("two results")));
        let set = OperationBuilder::new("pto.set_validshape", location).add_operands(&[view, cols, rows]);
        edit::insert_before(op.raw, set.build().expect("complete"));
        edit::set_operand(op, operand, view);
    }
    true
}

fn row_view<'c, 'a>(anchor: OperationRef<'c, 'a>, value: Value<'c, 'a>, view: Tile) -> Value<'c, 'a> {
    let context = pto_dialect::context_of(anchor);
    let ty = view.to_type(context, edit::element_type(value.r#type()));
    let reshape = OperationBuilder::new("pto.treshape", anchor.location()).add_operands(&[value]).add_results(&[ty]);
    let reshape = edit::insert_before(anchor, reshape.build().expect("complete"));
    reshape.result(0).expect("one result").into()
}
