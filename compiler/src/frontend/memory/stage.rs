//! How far a function has come: without memory, without addresses, or at addresses.

use super::{
    operands::{Origin, origin},
    refs, walk,
};
use crate::frontend::ast::{Expr, Function, MemRef, MemorySpace, Problem, StmtKind, VarId};
use std::collections::BTreeMap;

/// A stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// No tile has memory, or only declared memory.
    Bare,
    /// Tiles have memory that is nowhere yet.
    Unplaced,
    /// Tiles are at addresses.
    Placed,
}

/// The stage of a function.
///
/// In today's notation an offset inside an allocation and an address look the same. Before placement some tile begins
/// where its allocation does; so an allocation without any such tile has been placed. One function's first
/// allocations begin at 0 both ways, and placing them again puts them there again.
pub fn of(function: &Function) -> Stage {
    let tiles = || function.vars.iter().filter_map(|v| v.ty.tile());
    let given = tiles().filter_map(|t| t.memref.as_ref()).any(|m| !matches!(m, MemRef::Declared { .. }));
    let allocs = refs::allocs(function);
    if !given && allocs.is_empty() {
        return Stage::Bare;
    }
    if allocs.iter().any(|a| a.address.is_some()) {
        let placed = allocs.iter().filter_map(|a| a.address).all(|a| a >= 0);
        return if placed { Stage::Placed } else { Stage::Unplaced };
    }
    let pinned: BTreeMap<_, _> =
        allocs.iter().filter(|a| a.pinned).filter_map(|a| Some((refs::Key::Var(a.var), a.size?))).collect();
    let mut lowest: BTreeMap<refs::Key, i64> = BTreeMap::new();
    for tile in tiles().filter(|t| t.space != Some(MemorySpace::Ddr)) {
        let Some(memref) = &tile.memref else { continue };
        let (Some(key), Some(offset)) = (refs::key(memref), first_byte(memref, &pinned)) else { continue };
        lowest.entry(key).and_modify(|l| *l = offset.min(*l)).or_insert(offset);
    }
    if lowest.values().any(|&offset| offset > 0) { Stage::Placed } else { Stage::Unplaced }
}

/// A constant offset. A slot of a declared allocation may be the only one in use and still be relative: what lies
/// inside the allocation says nothing.
fn first_byte(memref: &MemRef, pinned: &BTreeMap<refs::Key, u64>) -> Option<i64> {
    let offset = match memref {
        MemRef::Numbered { addr, .. } => *addr,
        _ => refs::offset(memref)?,
    };
    let size = refs::key(memref).and_then(|k| pinned.get(&k).copied());
    match size.and_then(|s| i64::try_from(s).ok()) {
        Some(size) if offset < size => Some(0),
        _ => Some(offset),
    }
}

/// Tiles without memory in a function whose tiles have memory. What comes out of a queue needs none.
pub fn forgotten(function: &Function) -> Vec<Problem> {
    let mut problems = Vec::new();
    let has_none = |var: VarId| {
        let tile = function.vars.get(var.index()).and_then(|v| v.ty.tile());
        tile.is_some_and(|t| t.memref.as_ref().and_then(refs::key).is_none())
    };
    let Some(body) = &function.body else { return problems };
    walk::each(body, &mut |stmt| {
        let StmtKind::Assign { target, value } = &stmt.kind else { return };
        if !has_none(*target) {
            return;
        }
        let source = match (value.as_var(), value.as_call()) {
            (None, Some(call)) => match call.op().map(origin) {
                Some(Origin::Popped) => return,
                Some(Origin::View(index)) => call.args.get(index).and_then(Expr::as_var),
                _ => None,
            },
            (var, _) => var,
        };
        if !source.is_some_and(has_none) {
            let variable = function.var(*target);
            let message = format!("tile '{}' has no memory, unlike others of '{}'", variable.name, function.name);
            problems.push(Problem::new("PTO-0654", variable.span, message));
        }
    });
    problems
}
