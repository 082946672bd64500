//! `pto-resolve-views`: every window and every slot of a multi tile becomes a tile with an address of its own.
//!
//! Constant windows have theirs already from the allocation pass. Here the others get theirs as arithmetic: the
//! parent's address plus (row * row stride + column * column stride) * element bytes. A parent that is placed at run
//! time (a popped tile, a loop-carried tile) is asked for its address.

use crate::ir;
use melior::ir::{
    Identifier, OperationRef, Type, Value, ValueLike,
    attribute::DenseI32ArrayAttribute,
    operation::{OperationBuilder, OperationLike},
    r#type::IntegerType,
};
use pto_dialect::{Op, Tile, constant_int, device::Device, edit, multi_tile};

/// Runs the pass on a module.
pub fn run(module: OperationRef, device: &Device) -> bool {
    for function in ir::functions(module) {
        for op in ir::walk(function).into_iter().filter_map(Op::of) {
            match op.mnemonic() {
                "subview" if op.operand("addr").is_none() => resolve_window(op),
                "multi_tile_get" => resolve_slot(op, device),
                _ => {}
            }
        }
        erase_unused(function);
    }
    true
}

fn resolve_window(op: Op) {
    let Some(source) = op.operand("source") else { return };
    let Some(parent) = Tile::of_value(source) else { return };
    let scope = Arithmetic::before(op.raw);
    let (row_stride, col_stride) = parent.strides();
    let bytes = parent.element.bytes() as i64;
    let mut address = address_of(source, &scope);
    for (offset, stride) in op.operands("offsets").into_iter().zip([row_stride, col_stride]) {
        address = scope.add(address, scope.scaled(offset, stride * bytes));
    }
    edit::set_operand(op, "addr", scope.value(address));
}

/// The address of a tile, before its window.
fn address_of<'c, 'a>(mut tile: Value<'c, 'a>, scope: &Arithmetic<'c, 'a>) -> Number<'c, 'a> {
    while let Some(source) = Op::defining(tile).filter(|d| d.is("bitcast")).and_then(|d| d.operand("src")) {
        tile = source;
    }
    if let Some(addr) =
        Op::defining(tile).filter(|d| d.is("alloc_tile") || d.is("subview")).and_then(|d| d.operand("addr"))
    {
        return Number::of(addr);
    }
    let query = OperationBuilder::new("pto.tile_addr", scope.anchor.location())
        .add_operands(&[tile])
        .add_results(&[scope.i64()]);
    Number::Value(scope.insert(query))
}

fn resolve_slot(op: Op, device: &Device) {
    let (Some(source), Some(slot), Some(result)) = (op.operand("source"), op.operand("slot"), op.result()) else {
        return;
    };
    let Some(owner) = Op::defining(source).filter(|d| d.is("alloc_multi_tile")) else { return };
    let (Some(base), Some((ty, _))) = (owner.operand("addr"), multi_tile(source.r#type())) else { return };
    let Some(tile) = Tile::of(ty) else { return };
    let scope = Arithmetic::before(op.raw);
    let address = scope.add(Number::of(base), scope.scaled(slot, slot_stride(&tile, device) as i64));
    let valid = [owner.operand("valid_row"), owner.operand("valid_col")];
    let sizes = [1, i32::from(valid[0].is_some()), i32::from(valid[1].is_some())];
    let mut operands = vec![scope.value(address)];
    operands.extend(valid.into_iter().flatten());
    let context = pto_dialect::context_of(op.raw);
    let segments = DenseI32ArrayAttribute::new(context, &sizes).into();
    let alloc = OperationBuilder::new("pto.alloc_tile", op.raw.location())
        .add_operands(&operands)
        .add_attributes(&[(Identifier::new(context, "operandSegmentSizes"), segments)])
        .add_results(&[ty]);
    edit::replace_all_uses(result, scope.insert(alloc));
    edit::erase(op.raw);
}

/// Bytes from one slot of a multi tile to the next.
pub fn slot_stride(tile: &Tile, device: &Device) -> u64 {
    let align = device.memory(tile.space).map_or(32, |m| m.place_align);
    tile.footprint_bytes().next_multiple_of(align)
}

/// Tiles and windows that nobody uses, users before what they use.
fn erase_unused(function: OperationRef) {
    for op in ir::walk(function).into_iter().rev().filter_map(Op::of) {
        let names_a_tile =
            matches!(op.mnemonic(), "alloc_tile" | "alloc_multi_tile" | "subview" | "bitcast" | "treshape");
        if names_a_tile && op.result().is_some_and(edit::is_unused) {
            edit::erase(op.raw);
        }
    }
}

/// An address on its way: a constant as long as it can be.
#[derive(Clone, Copy)]
enum Number<'c, 'a> {
    Constant(i64),
    Value(Value<'c, 'a>),
}

impl<'c, 'a> Number<'c, 'a> {
    fn of(value: Value<'c, 'a>) -> Self {
        constant_int(value).map_or(Self::Value(value), Self::Constant)
    }
}

/// Builds i64 arithmetic before an operation.
struct Arithmetic<'c, 'a> {
    anchor: OperationRef<'c, 'a>,
}

impl<'c, 'a> Arithmetic<'c, 'a> {
    fn before(anchor: OperationRef<'c, 'a>) -> Self {
        Self { anchor }
    }

    fn i64(&self) -> Type<'c> {
        let context = pto_dialect::context_of(self.anchor);
        IntegerType::new(context, 64).into()
    }

    fn insert(&self, builder: OperationBuilder<'c>) -> Value<'c, 'a> {
        let op = builder.build().expect("the operation is complete");
        edit::insert_before(self.anchor, op).result(0).expect("one result").into()
    }

    fn value(&self, number: Number<'c, 'a>) -> Value<'c, 'a> {
        match number {
            Number::Value(value) => value,
            Number::Constant(constant) => {
                let context = pto_dialect::context_of(self.anchor);
                edit::constant(context, self.anchor, constant, self.i64(), self.anchor.location())
            }
        }
    }

    fn binary(&self, name: &str, a: Value<'c, 'a>, b: Value<'c, 'a>) -> Value<'c, 'a> {
        self.insert(OperationBuilder::new(name, unnamed(self.anchor)).add_operands(&[a, b]).add_results(&[self.i64()]))
    }

    fn add(&self, a: Number<'c, 'a>, b: Number<'c, 'a>) -> Number<'c, 'a> {
        match (a, b) {
            (Number::Constant(a), Number::Constant(b)) => Number::Constant(a.wrapping_add(b)),
            (Number::Constant(0), other) | (other, Number::Constant(0)) => other,
            (a, b) => Number::Value(self.binary("arith.addi", self.value(a), self.value(b))),
        }
    }

    /// An index times a constant.
    fn scaled(&self, index: Value<'c, 'a>, factor: i64) -> Number<'c, 'a> {
        if let Some(constant) = constant_int(index) {
            return Number::Constant(constant.wrapping_mul(factor));
        }
        let cast = OperationBuilder::new("arith.index_cast", unnamed(self.anchor))
            .add_operands(&[index])
            .add_results(&[self.i64()]);
        let wide = self.insert(cast);
        if factor == 1 {
            return Number::Value(wide);
        }
        Number::Value(self.binary("arith.muli", wide, self.value(Number::Constant(factor))))
    }
}

/// A location without the name of the tile, so that the arithmetic is written in place.
fn unnamed<'c>(op: OperationRef<'c, '_>) -> melior::ir::Location<'c> {
    melior::ir::Location::unknown(pto_dialect::context_of(op))
}
