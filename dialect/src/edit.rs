//! Changes to IR that melior does not offer on shared references.

use crate::{ffi, op::Op};
use melior::{
    Context,
    ir::{
        Attribute, BlockLike, BlockRef, Identifier, Location, Operation, OperationRef, Type, Value, ValueLike,
        attribute::{DenseI32ArrayAttribute, IntegerAttribute},
        operation::{OperationBuilder, OperationLike},
    },
};

/// Puts a new operation before `anchor`.
pub fn insert_before<'c, 'a>(anchor: OperationRef<'c, 'a>, op: Operation<'c>) -> OperationRef<'c, 'a> {
    let block = anchor.block().expect("an anchor stands in a block");
    block.insert_operation_before(anchor, op)
}

/// Moves an operation to the end of a block.
pub fn move_to_end<'c, 'a>(op: OperationRef<'c, 'a>, block: BlockRef<'c, 'a>) {
    // SAFETY: the operation is live and owned by its block; ownership goes from that block to the new one.
    unsafe {
        mlir_sys::mlirOperationRemoveFromParent(op.to_raw());
        mlir_sys::mlirBlockAppendOwnedOperation(block.to_raw(), op.to_raw());
    }
}

/// Removes an operation whose results have no uses.
pub fn erase(op: OperationRef) {
    // SAFETY: the caller holds no other reference to it; MLIR checks that no use is left.
    unsafe { mlir_sys::mlirOperationDestroy(op.to_raw()) }
}

/// Moves an operation to right before another.
pub fn move_before(op: OperationRef, anchor: OperationRef) {
    // SAFETY: both operations are live.
    unsafe { mlir_sys::mlirOperationMoveBefore(op.to_raw(), anchor.to_raw()) }
}

/// Makes every use of `of` a use of `with`.
pub fn replace_all_uses(of: Value, with: Value) {
    // SAFETY: both values are live.
    unsafe { ffi::ptoReplaceAllUses(of.to_raw(), with.to_raw()) }
}

/// Puts the single block of an operation's only region in the operation's place; what it yields becomes the results.
pub fn open_region(op: OperationRef) {
    // SAFETY: the caller holds no other reference to the operation.
    unsafe { ffi::ptoOpenRegion(op.to_raw()) }
}

/// Turns the blocks of each region in a function into `scf` operations. False when MLIR cannot; the function is then
/// of no more use.
pub fn lift_control_flow(function: OperationRef) -> bool {
    // SAFETY: the operation is live; references into its regions are not used afterwards.
    unsafe { ffi::ptoLiftControlFlow(function.to_raw()) }
}

/// Whether nothing uses a value.
pub fn is_unused(value: Value) -> bool {
    // SAFETY: the value is live; no use is null.
    unsafe { mlir_sys::mlirValueGetFirstUse(value.to_raw()).ptr.is_null() }
}

/// The operations that use a value, in MLIR's order (latest first), one entry per use.
pub fn uses<'c, 'a>(value: Value<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let mut found = Vec::new();
    // SAFETY: the value and its uses are live while the IR is not changed.
    unsafe {
        let mut next = mlir_sys::mlirValueGetFirstUse(value.to_raw());
        while !next.ptr.is_null() {
            found.push(OperationRef::from_raw(mlir_sys::mlirOpOperandGetOwner(next)));
            next = mlir_sys::mlirOpOperandGetNextUse(next);
        }
    }
    found
}

/// Sets an attribute, inherent or not.
pub fn set_attribute(op: OperationRef, name: &str, attribute: Attribute) {
    use melior::ir::AttributeLike;
    // SAFETY: both are live and of one context.
    unsafe { mlir_sys::mlirOperationSetAttributeByName(op.to_raw(), ffi::string_ref(name), attribute.to_raw()) }
}

/// Gives an optional operand a value, or replaces the value it has.
pub fn set_operand<'c, 'a>(op: Op<'c, 'a>, name: &str, value: Value<'c, 'a>) {
    let index = op.facts.operand_index(name).expect("the operand is defined");
    let range = op.operand_range(index);
    let mut operands: Vec<_> = op.raw.operands().map(|v| v.to_raw()).collect();
    if range.is_empty() {
        operands.insert(range.start, value.to_raw());
        if op.facts.segments {
            let sizes: Vec<i32> = (0..op.facts.operands.len())
                .map(|i| op.operand_range(i).len() as i32 + i32::from(i == index))
                .collect();
            let attribute: Attribute = DenseI32ArrayAttribute::new(crate::op::context_of(op.raw), &sizes).into();
            set_attribute(op.raw, "operandSegmentSizes", attribute);
        }
    } else {
        operands[range.start] = value.to_raw();
    }
    // SAFETY: all values are live and dominate the operation.
    unsafe { mlir_sys::mlirOperationSetOperands(op.raw.to_raw(), operands.len() as isize, operands.as_ptr()) }
}

/// An integer constant of a type, before `anchor`.
pub fn constant<'c, 'a>(
    context: &'c Context,
    anchor: OperationRef<'c, 'a>,
    value: i64,
    ty: Type<'c>,
    location: Location<'c>,
) -> Value<'c, 'a> {
    let op = OperationBuilder::new("arith.constant", location)
        .add_attributes(&[(Identifier::new(context, "value"), IntegerAttribute::new(ty, value).into())])
        .add_results(&[ty])
        .build()
        .expect("a constant is complete");
    insert_before(anchor, op).result(0).expect("a constant has a result").into()
}

/// The MLIR element type of a tile or view type; the type itself for others.
pub fn element_type(ty: Type) -> Type {
    use melior::ir::TypeLike;
    let mut info = std::mem::MaybeUninit::<ffi::TileInfo>::uninit();
    // SAFETY: C++ fills the struct exactly when it returns true.
    unsafe {
        if ffi::ptoTileInfo(ty.to_raw(), info.as_mut_ptr()) {
            return Type::from_raw(info.assume_init().element);
        }
        let mut element = ty.to_raw();
        ffi::ptoShapedInfo(ty.to_raw(), std::ptr::null_mut(), 0, &mut element);
        Type::from_raw(element)
    }
}

/// Changes the type of a value in place.
pub fn set_type(value: Value, ty: Type) {
    use melior::ir::TypeLike;
    // SAFETY: both are live and of one context.
    unsafe { mlir_sys::mlirValueSetType(value.to_raw(), ty.to_raw()) }
}
