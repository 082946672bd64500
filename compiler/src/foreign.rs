//! What belongs to another backend of ptoas, or to no program at all, and is told before any pass runs. Single
//! operations of other backends are refused where they are read.

use melior::ir::{OperationRef, ValueLike, attribute::TypeAttribute, operation::OperationLike, r#type::FunctionType};
use pto_dialect::{attribute, diagnostics, op_name, string_value, struct_fields};

/// Whether an operation may be part of a module that becomes C++.
pub fn check(op: OperationRef) -> bool {
    match op_name(op) {
        "builtin.module" => module(op),
        "func.func" => helper(op) & signature(op),
        "pto.declare_struct" => true,
        _ => results(op),
    }
}

/// A module that names its backend names ours.
fn module(op: OperationRef) -> bool {
    let Some(backend) = attribute(op, "pto.backend").and_then(string_value).filter(|b| b != "emitc") else {
        return true;
    };
    let message =
        format!("'builtin.module' op expected pto.backend \"emitc\", got \"{backend}\"; this program emits C++ only");
    diagnostics::error(op.location(), "PTO-0341", message).emit();
    false
}

/// Tile-operation helpers are bodies of micro instructions.
fn helper(op: OperationRef) -> bool {
    let empty = op.region(0).ok().and_then(|r| melior::ir::RegionLike::first_block(&r)).is_none();
    if empty || attribute(op, "pto.tileop.helper").is_none() {
        return true;
    }
    let message = "'func.func' op expected a function on tiles, got a helper of micro instructions (pto.tileop.helper), \
                   which belongs to another backend; this program emits tile-level C++ only";
    diagnostics::error(op.location(), "PTO-0341", message).emit();
    false
}

/// A struct is memory of the scope that declares it: no function takes or returns one.
fn signature(op: OperationRef) -> bool {
    let ty = attribute(op, "function_type").and_then(|a| TypeAttribute::try_from(a).ok());
    let Some(ty) = ty.and_then(|t| FunctionType::try_from(t.value()).ok()) else { return true };
    let inputs = (0..ty.input_count()).filter_map(|i| ty.input(i).ok()).any(|t| struct_fields(t).is_some());
    let results = (0..ty.result_count()).filter_map(|i| ty.result(i).ok()).any(|t| struct_fields(t).is_some());
    if !inputs && !results {
        return true;
    }
    let what = if inputs { "parameters" } else { "results" };
    let message = format!(
        "'func.func' op expected {what} that outlive a call, got a struct; declare it in the function that uses it"
    );
    diagnostics::error(op.location(), "PTO-0215", message).emit();
    false
}

/// Nothing but its declaration makes a struct.
fn results(op: OperationRef) -> bool {
    let made = op.results().any(|result| struct_fields(result.r#type()).is_some());
    if made {
        let message =
            format!("'{}' op expected a result that is no struct; only pto.declare_struct makes one", op_name(op));
        diagnostics::error(op.location(), "PTO-0215", message).emit();
    }
    !made
}
