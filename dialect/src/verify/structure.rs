//! Records on the stack, pointers from addresses, regions.

use super::{
    check::Check,
    codes::{BOUNDS, ELEMENT, FORM, IDENTITY, PLACE, VALUE},
};
use crate::{
    edit,
    element::Element,
    op::{Op, attribute, op_name, value_key},
    types::{pointer, struct_field, struct_fields},
};
use melior::ir::{BlockLike, OperationRef, RegionLike, Type, ValueLike, operation::OperationLike};

/// `declare_struct`: its memory ends with the scope, so nothing but the accesses may have it.
pub fn declare_struct(check: &mut Check) {
    let Some(value) = check.op.result() else { return };
    let stranger =
        edit::uses(value).into_iter().find(|user| !matches!(op_name(*user), "pto.struct_get" | "pto.struct_set"));
    let got = stranger.map_or("", op_name);
    check.require(stranger.is_none(), PLACE, format_args!("only struct_get and struct_set to use the struct"), got);
    check.help(
        stranger.is_none(),
        "the struct is memory of the scope that declares it: declare it further out and set its fields in place",
    );
}

/// `struct_get`, `struct_set`: a path to a scalar, of the value's type.
pub fn struct_access(check: &mut Check) {
    let (Some(root), Some(path)) = (check.op.operand("s"), check.op.ints("path")) else { return };
    if !check.require(!path.is_empty(), FORM, format_args!("a path of at least one field"), "none") {
        return;
    }
    let mut ty: Type = root.r#type();
    for (depth, &index) in path.iter().enumerate() {
        let Some(fields) = struct_fields(ty) else {
            check.require(
                false,
                FORM,
                format_args!("a path that ends at field {ty}"),
                format_args!("{} more", path.len() - depth),
            );
            return;
        };
        let inside = usize::try_from(index).ok().filter(|&i| i < fields);
        let expected = format_args!("field {depth} of the path from 0 to {}", fields - 1);
        check.require(inside.is_some(), BOUNDS, expected, index);
        let Some(inside) = inside else { return };
        ty = struct_field(ty, inside);
    }
    if !check.require(struct_fields(ty).is_none(), FORM, format_args!("a path to a scalar"), ty) {
        return;
    }
    let value = check.op.operand("value").or_else(|| check.op.result());
    if let Some(value) = value {
        check.require(value.r#type() == ty, ELEMENT, format_args!("a value of type {ty}"), value.r#type());
    }
}

/// `inttoptr`: a pointer to a scalar type, for scalar accesses alone.
pub fn inttoptr(check: &mut Check) {
    let Some(result) = check.op.result() else { return };
    let element = pointer(result.r#type()).map(|(element, _)| element).filter(|e| *e != Element::Index);
    check.require(element.is_some(), ELEMENT, format_args!("a pointer to a scalar with C++ form"), result.r#type());
    let as_pointer = |user: &OperationRef| {
        let op = Op::of(*user).filter(|op| op.is("load_scalar") || op.is("store_scalar"));
        op.and_then(|op| op.operand("ptr")).is_some_and(|ptr| value_key(ptr) == value_key(result))
    };
    let stranger = edit::uses(result).into_iter().find(|user| !as_pointer(user));
    let expected = format_args!("only load_scalar and store_scalar to use the pointer");
    check.require(stranger.is_none(), PLACE, expected, stranger.map_or("", op_name));
}

/// `section.simt`: inside a function that is no body of threads already, with launch extents that are not negative.
pub fn section_simt(check: &mut Check) {
    for name in ["dimX", "dimY", "dimZ"] {
        let extent = check.op.int(name).unwrap_or(0);
        check.require(extent >= 0, VALUE, format_args!("{name} of at least 0"), extent);
    }
    let mut parent = check.op.raw.parent_operation();
    while let Some(op) = parent {
        match op_name(op) {
            "pto.section.simt" => {
                check.require(false, PLACE, format_args!("no section.simt around it"), "one");
            }
            "func.func" => {
                let entry = attribute(op, "pto.simt_entry").is_some();
                check.require(!entry, PLACE, format_args!("a function without pto.simt_entry"), "one with it");
                return;
            }
            _ => {}
        }
        parent = op.parent_operation();
    }
    check.require(false, PLACE, format_args!("a function around it"), "none");
}

/// `fusion_region`: ends in a `yield` of its results' types.
pub fn fusion_region(check: &mut Check) {
    let block = check.op.raw.region(0).ok().and_then(|r| r.first_block());
    let Some(last) = block.and_then(|b| b.terminator()).filter(|last| op_name(*last) == "pto.yield") else {
        check.require(false, FORM, format_args!("pto.yield at the end"), "another end");
        return;
    };
    let (wanted, given) = (check.op.raw.result_count(), last.operand_count());
    if !check.require(given == wanted, FORM, format_args!("{wanted} yielded values as there are results"), given) {
        return;
    }
    for index in 0..wanted {
        let (Ok(result), Ok(value)) = (check.op.raw.result(index), last.operand(index)) else { continue };
        let (wanted, got) = (result.r#type(), value.r#type());
        check.require(got == wanted, IDENTITY, format_args!("yielded value {index} of type {wanted}"), got);
    }
}
