//! `pto-compose-windows`: every window is one of a tile itself.
//!
//! A window's rows are as far apart as those of its tile, which its own type does not say. So a window of a window becomes
//! a window of the tile, at the sum of both offsets, and a window under another element type a window of the tile under
//! that type. A window narrower than its tile cannot have another shape or address, and cannot leave its block: whoever
//! got it would take its type for the whole truth.

use crate::ir;
use melior::ir::{
    Identifier, Location, OperationRef, Type, Value, ValueLike,
    attribute::DenseI32ArrayAttribute,
    operation::{OperationBuilder, OperationLike},
};
use pto_dialect::{Op, Tile, constant_int, device::Device, diagnostics, edit, op_name};

/// Runs the pass on a module.
pub fn run(module: OperationRef, _device: &Device) -> bool {
    let mut ok = true;
    for function in ir::functions(module) {
        for op in ir::walk(function).into_iter().filter_map(Op::of) {
            match op.mnemonic() {
                "subview" => compose(op),
                "bitcast" => cast_the_tile(op),
                "treshape" | "tassign" => ok &= check_whole(op),
                _ => {}
            }
        }
        for window in ir::ops_named(function, "subview") {
            ok &= check_uses(window);
        }
    }
    ok
}

/// The window that a value is.
fn window_of<'c: 'a, 'a>(value: Value<'c, 'a>) -> Option<Op<'c, 'a>> {
    Op::defining(value).filter(|definition| definition.is("subview"))
}

/// Whether the rows of a window are further apart than its type says.
fn is_narrow(window: Op) -> bool {
    let strides = |value: Option<Value>| value.and_then(Tile::of_value).map(|tile| tile.strides());
    strides(window.operand("source")) != strides(window.result())
}

/// A window of a window is one of the tile.
fn compose(inner: Op) {
    let Some(outer) = inner.operand("source").and_then(window_of) else { return };
    let (Some(tile), Some(result)) = (outer.operand("source"), inner.result()) else { return };
    let offsets = inner.operands("offsets").into_iter().zip(outer.operands("offsets"));
    let offsets: Vec<Value> = offsets.map(|(a, b)| sum(inner.raw, a, b)).collect();
    replace(inner.raw, inner, tile, &offsets, result.r#type());
}

/// A window under another element type is a window of the tile under that type.
fn cast_the_tile(cast: Op) {
    let Some(window) = cast.operand("src").and_then(window_of) else { return };
    let (Some(source), Some(result)) = (window.operand("source"), cast.result()) else { return };
    let (Some(tile), Some(to)) = (Tile::of_value(source), Tile::of_value(result)) else { return };
    let context = pto_dialect::context_of(cast.raw);
    let ty = Tile { element: to.element, ..tile }.to_type(context, edit::element_type(result.r#type()));
    let whole = OperationBuilder::new("pto.bitcast", unnamed(cast.raw)).add_operands(&[source]).add_results(&[ty]);
    let whole = edit::insert_before(cast.raw, whole.build().expect("the operation is complete"));
    let whole: Value = whole.result(0).expect("one result").into();
    replace(cast.raw, window, whole, &window.operands("offsets"), result.r#type());
}

/// Puts a window like another one, of this tile at these offsets, in the place of an operation.
fn replace<'c>(
    op: OperationRef<'c, '_>,
    like: Op<'c, '_>,
    tile: Value<'c, '_>,
    offsets: &[Value<'c, '_>],
    ty: Type<'c>,
) {
    let context = pto_dialect::context_of(op);
    let valid = [like.operand("valid_row"), like.operand("valid_col")];
    let count = |present: bool| i32::from(present);
    let segments = [1, offsets.len() as i32, count(valid[0].is_some()), count(valid[1].is_some()), 0];
    let operands: Vec<Value> =
        [tile].into_iter().chain(offsets.iter().copied()).chain(valid.into_iter().flatten()).collect();
    let named = |name: &str| Identifier::new(context, name);
    let window = OperationBuilder::new("pto.subview", op.location())
        .add_operands(&operands)
        .add_attributes(&[
            (named("sizes"), like.attr("sizes").expect("every window has sizes")),
            (named("operandSegmentSizes"), DenseI32ArrayAttribute::new(context, &segments).into()),
        ])
        .add_results(&[ty]);
    let window = edit::insert_before(op, window.build().expect("the operation is complete"));
    edit::replace_all_uses(op.result(0).expect("one result").into(), window.result(0).expect("one result").into());
    edit::erase(op);
}

/// The sum of two offsets, before an operation.
fn sum<'c, 'a>(anchor: OperationRef<'c, 'a>, a: Value<'c, 'a>, b: Value<'c, 'a>) -> Value<'c, 'a> {
    let context = pto_dialect::context_of(anchor);
    let index = Type::index(context);
    match (constant_int(a), constant_int(b)) {
        (Some(0), _) => b,
        (_, Some(0)) => a,
        (Some(a), Some(b)) => edit::constant(context, anchor, a.saturating_add(b), index, unnamed(anchor)),
        _ => {
            let sum = OperationBuilder::new("arith.addi", unnamed(anchor)).add_operands(&[a, b]).add_results(&[index]);
            edit::insert_before(anchor, sum.build().expect("the operation is complete"))
                .result(0)
                .expect("one result")
                .into()
        }
    }
}

/// A location without the name of the window.
fn unnamed<'c>(op: OperationRef<'c, '_>) -> Location<'c> {
    Location::unknown(pto_dialect::context_of(op))
}

/// A new shape or a new address is for whole tiles.
fn check_whole(op: Op) -> bool {
    let source = op.operand("src").or_else(|| op.operand("tile"));
    let narrow = source.and_then(window_of).filter(|&window| is_narrow(window));
    narrow.is_none_or(|window| refuse(op.raw, window))
}

/// Operations that hand a value on.
const HAND_ON: [&str; 7] =
    ["arith.select", "func.call", "func.return", "scf.condition", "scf.for", "scf.while", "scf.yield"];

/// A window narrower than its tile stays where it is.
fn check_uses(window: Op) -> bool {
    let Some(result) = window.result().filter(|_| is_narrow(window)) else { return true };
    let mut users = edit::uses(result).into_iter().rev();
    users.find(|&user| HAND_ON.contains(&op_name(user))).is_none_or(|user| refuse(user, window))
}

fn refuse(op: OperationRef, window: Op) -> bool {
    let describe = |value: Option<Value>| {
        value.and_then(|v| Some(format!("{} ({})", ir::label(v), Tile::of_value(v)?.describe()))).unwrap_or_default()
    };
    let message = format!(
        "'{}' op expected a whole tile, found window {} of tile {}: its rows are further apart than its type says",
        op_name(op),
        describe(window.result()),
        describe(window.operand("source"))
    );
    diagnostics::error(op.location(), "PTO-0343", message)
        .note(window.raw.location(), "the window")
        .help("move it to a tile of its own (pto.tmov), or hand on the tile and the offsets")
        .emit();
    false
}
