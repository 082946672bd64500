//! What an expression does with bytes: where its value comes from, what it reads, what it spoils as working memory.
//!
//! It looks at one expression at a time and knows no addresses.

use crate::frontend::{
    ast::{Call, Expr, ExprKind, VarId},
    ops::{FrontOp, Memory, op_by_name},
};

/// Where a value's bytes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Written to bytes of its own.
    Own,
    /// Bytes of its own that nothing is written to (`tile.create`).
    Created,
    /// The slot of a queue, which the pop finds.
    Popped,
    /// All bytes of a variable.
    Alias(VarId),
    /// Some bytes of a variable.
    Part(VarId),
    /// The bytes of a variable, whose value ends.
    InPlace(VarId),
}

/// Where the value of an assignment comes from.
pub(super) fn origin(value: &Expr) -> Origin {
    if let ExprKind::Var(var) = value.kind {
        return Origin::Alias(var);
    }
    let Some(call) = value.as_call() else { return Origin::Own };
    let argument = |index: usize| call.args.get(index).and_then(Expr::as_var);
    let Some(op) = row(call) else { return Origin::Own };
    match op.memory {
        Memory::View => argument(0).map_or(Origin::Own, Origin::Alias),
        Memory::Slice => argument(0).map_or(Origin::Own, Origin::Part),
        Memory::Reuses(index) => argument(index).map_or(Origin::Own, Origin::InPlace),
        Memory::Popped => Origin::Popped,
        // A name for the result of a change is another name for the changed tile.
        Memory::None => touched(call).first().map_or(Origin::Own, |var| Origin::Alias(*var)),
        Memory::Own if op.name == "tile.create" => Origin::Created,
        Memory::Own => Origin::Own,
    }
}

/// The variables whose tiles a call changes without giving them a new name.
pub(super) fn touched(call: &Call) -> Vec<VarId> {
    let writes = row(call).map_or(&[][..], |op| op.writes);
    writes.iter().filter_map(|index| call.args.get(*index)?.as_var()).collect()
}

/// The variables whose values an expression needs, in the order of the text.
pub(super) fn reads(value: &Expr) -> Vec<VarId> {
    let mut found = Vec::new();
    collect_reads(value, true, &mut found);
    found
}

/// The variables that a call uses as working memory.
pub(super) fn scratch(call: &Call) -> Vec<VarId> {
    let by_position = call.args.iter().enumerate().filter(|(index, _)| is_scratch(call, *index)).map(|(_, e)| e);
    let by_name = call.kwargs.iter().filter(|(name, _)| is_scratch_name(name)).map(|(_, e)| e);
    by_position.chain(by_name).filter_map(Expr::as_var).collect()
}

fn collect_reads(value: &Expr, outermost: bool, found: &mut Vec<VarId>) {
    let Some(call) = value.as_call() else {
        found.extend(value.as_var().filter(|_| !outermost));
        value.children().into_iter().for_each(|child| collect_reads(child, false, found));
        return;
    };
    // Seeing bytes differently reads none of them.
    let seen = match row(call).map(|op| op.memory) {
        Some(Memory::View | Memory::Slice) if outermost => 1,
        _ => 0,
    };
    for (index, argument) in call.args.iter().enumerate().skip(seen) {
        if !is_scratch(call, index) {
            collect_reads(argument, false, found);
        }
    }
    for (_, argument) in call.kwargs.iter().filter(|(name, _)| !is_scratch_name(name)) {
        collect_reads(argument, false, found);
    }
}

fn row(call: &Call) -> Option<&'static FrontOp> {
    call.op().and_then(op_by_name)
}

fn is_scratch_name(name: &str) -> bool {
    matches!(name, "tmp" | "tmp_tile" | "scratch")
}

/// PyPTO's signatures: the arguments called `tmp`, `tmp_tile` or `scratch`.
fn is_scratch(call: &Call, index: usize) -> bool {
    let position = match call.op().unwrap_or_default().strip_prefix("tile.").unwrap_or_default() {
        "row_sum" | "row_max" | "row_min" | "row_prod" | "row_argmax" | "row_argmin" | "col_argmax" | "col_argmin"
        | "col_sum" | "rsqrt" => 1,
        "rem" | "rems" | "xor" | "xors" | "prelu" | "sels" | "gather" | "gather_compare" | "row_expand_add"
        | "mgather" => 2,
        "sel" | "transpose" => 3,
        // Two to four lists, then the working memory.
        "mrgsort_format2" => call.args.len().saturating_sub(1).max(2),
        _ => return false,
    };
    index == position
}
