//! When a value gets other bytes, everything that is the same data follows: views, in-place results, other names.

use super::{
    materialize_aliases::Goal,
    operands::{Origin, origin},
    refs, walk,
};
use crate::frontend::ast::{BinaryOp, Block, Expr, Function, MemRef, MemorySpace, StmtKind, Var, VarId};

/// The memory of all variables.
pub type Snapshot = Vec<(Option<MemRef>, Option<MemorySpace>)>;

/// The memory of all variables.
pub fn snapshot(function: &Function) -> Snapshot {
    let of = |v: &Var| v.ty.tile().map_or((None, None), |t| (t.memref.clone(), t.space));
    function.vars.iter().map(of).collect()
}

/// Gives tiles the memory back that they had.
pub fn restore(function: &mut Function, saved: Snapshot) {
    for (var, (memref, space)) in function.vars.iter_mut().zip(saved) {
        if let Some(tile) = var.ty.tile_mut() {
            tile.memref = memref;
            tile.space = space;
        }
    }
}

/// Lets views, in-place results and other names follow sources that got other bytes, and keeps their places inside.
pub fn follow_sources(function: &mut Function, body: &Block, before: &Snapshot) {
    walk::each(body, &mut |stmt| {
        let StmtKind::Assign { target, value } = &stmt.kind else { return };
        let source = match (value.as_var(), value.as_call()) {
            (Some(var), _) => Some(var),
            (_, Some(call)) => match call.op().map(origin) {
                Some(Origin::View(index) | Origin::InPlace(index)) => call.args.get(index).and_then(Expr::as_var),
                _ => None,
            },
            _ => None,
        };
        if let Some(source) = source {
            follow(function, *target, source, before);
        }
    });
}

fn follow(function: &mut Function, var: VarId, source: VarId, before: &Snapshot) {
    let old = |v: VarId| before.get(v.index()).and_then(|(memref, _)| memref.as_ref());
    let (Some(own_old), Some(source_old)) = (old(var), old(source)) else { return };
    let Some(now) = Goal::of(function, source) else { return };
    let was_inside = refs::key(own_old) == refs::key(source_old);
    let source_moved = refs::key(source_old).as_ref() != Some(&now.key);
    let is_inside = refs::base(function, var).as_ref() == Some(&now.key);
    if !was_inside || !source_moved || is_inside {
        return;
    }
    let memref = moved(own_old, source_old, &now.memref);
    refs::retarget(function, var, memref, now.space);
}

/// What lay inside `from` as `own` did, inside `to`.
pub fn moved(own: &MemRef, from: &MemRef, to: &MemRef) -> MemRef {
    let (
        MemRef::Part { offset, size, slot, .. },
        MemRef::Part { offset: from_offset, .. },
        MemRef::Part { base, offset: to_offset, size: to_size, .. },
    ) = (own, from, to)
    else {
        return to.clone();
    };
    let relative = match (offset.as_int(), from_offset.as_int()) {
        (Some(own), Some(from)) => own.checked_sub(from).map(Expr::index),
        (None, Some(0)) => Some(offset.clone()),
        (None, Some(_)) => Some(refs::binary(BinaryOp::Sub, offset, from_offset)),
        // Both are the same expression, or nothing is known: the source's place is the best there is.
        (_, None) => None,
    };
    let Some(relative) = relative else { return to.clone() };
    if relative.as_int() == Some(0) && size == to_size {
        return to.clone();
    }
    match refs::add(to_offset, &relative) {
        Some(offset) => MemRef::Part { base: base.clone(), offset, size: *size, slot: slot.clone() },
        None => to.clone(),
    }
}
