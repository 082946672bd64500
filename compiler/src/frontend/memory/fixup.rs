//! Settles what loops carry and branches yield once tiles have their final bytes.
//!
//! Carried values take the bytes of the first value. Seeds of accumulators that one branch computes and the other adds
//! to are computed where the accumulator is. A value that still ends up elsewhere than the next trip or the joined
//! result expects it is copied there with `tile.move`; accumulators cannot be copied that way, which is an error.

mod copies;

use super::{
    follow::{follow_sources, snapshot},
    materialize_aliases::{Definition, Goal, Retarget},
    operands::is_accumulating,
    refs, walk,
};
use crate::frontend::ast::{Block, Function, MemorySpace, Problem, Stmt, StmtKind, VarId};
use copies::Copies;

/// Settles a function.
pub fn run(function: &mut Function) -> Result<(), Vec<Problem>> {
    let Some(mut body) = function.body.take() else { return Ok(()) };
    let before = snapshot(function);
    align_carries(function, &body);
    seed_accumulators(function, &body);
    let mut copies = Copies::default();
    settle(function, &mut body, &mut copies);
    follow_sources(function, &body, &before);
    body.splice(0..0, copies.allocations);
    function.body = Some(body);
    if copies.problems.is_empty() { Ok(()) } else { Err(copies.problems) }
}

/// Outer loops first, so that inner ones see what the outer ones carry.
fn align_carries(function: &mut Function, body: &Block) {
    walk::each(body, &mut |stmt| {
        for carry in walk::carries(stmt) {
            let Some(goal) = carry.init.and_then(|i| Goal::of(function, i)) else { continue };
            for var in std::iter::once(carry.inside).chain(carry.result) {
                let has = refs::base(function, var);
                if has.is_some_and(|key| key != goal.key) {
                    refs::retarget(function, var, goal.memref.clone(), goal.space);
                }
            }
        }
    });
}

/// Where one branch adds to an accumulator and the other starts a new one, lets it start in the same bytes.
fn seed_accumulators(function: &mut Function, body: &Block) {
    let before = snapshot(function);
    let mut retarget = Retarget::new(function, body);
    walk::each_with_path(body, &mut |stmt, path| {
        let StmtKind::If { then, otherwise: Some(otherwise), results, .. } = &stmt.kind else { return };
        for index in 0..results.len() {
            let (Some(a), Some(b)) = (walk::yielded_var(then, index), walk::yielded_var(otherwise, index)) else {
                continue;
            };
            seed(&mut retarget, body, a, b, path.len() - 1);
        }
    });
    follow_sources(function, body, &before);
}

fn seed(retarget: &mut Retarget, body: &Block, a: VarId, b: VarId, depth: usize) {
    let accumulates = |retarget: &Retarget, var: VarId| {
        let Some(Definition::Assigned(path)) = retarget.definition(var) else { return false };
        let Some(StmtKind::Assign { value, .. }) = walk::at(body, path).map(|s| &s.kind) else { return false };
        value.as_call().is_some_and(|call| is_accumulating(retarget.function(), call, var))
    };
    let (accumulator, seed) = match (accumulates(retarget, a), accumulates(retarget, b)) {
        (true, false) => (a, b),
        (false, true) => (b, a),
        _ => return,
    };
    let Some(goal) = Goal::of(retarget.function(), accumulator) else { return };
    if goal.space != Some(MemorySpace::Acc) || refs::base(retarget.function(), seed).as_ref() == Some(&goal.key) {
        return;
    }
    // A seed from outside the branch would be written whichever branch is taken.
    let path = match retarget.definition(seed) {
        Some(Definition::Assigned(path)) if path.len() > depth + 1 => path.clone(),
        _ => return,
    };
    retarget.begin();
    retarget.push_assigned(seed, &path, &goal, Some(depth));
}

/// Inner statements first.
fn settle(function: &mut Function, block: &mut Block, copies: &mut Copies) {
    for stmt in block {
        for inner in stmt.blocks_mut() {
            settle(function, inner, copies);
        }
        if let StmtKind::If { then, otherwise, results, .. } = &mut stmt.kind {
            settle_branches(function, then, otherwise.as_mut(), results, copies);
        } else {
            settle_loop(function, stmt, copies);
        }
    }
}

fn settle_loop(function: &mut Function, stmt: &mut Stmt, copies: &mut Copies) {
    let carries = walk::carries(stmt);
    let body = match &mut stmt.kind {
        StmtKind::For(f) => &mut f.body,
        StmtKind::While(w) => &mut w.body,
        _ => return,
    };
    let mut moves = Vec::new();
    for carry in carries {
        // A first value that is no variable has no bytes of its own: what the body knows it as has.
        let goal = carry.init.and_then(|i| Goal::of(function, i)).or_else(|| Goal::of(function, carry.inside));
        let Some(goal) = goal else { continue };
        for var in std::iter::once(carry.inside).chain(carry.result) {
            if refs::base(function, var).is_some_and(|key| key != goal.key) {
                refs::retarget(function, var, goal.memref.clone(), goal.space);
            }
        }
        if let Some(yielded) = walk::yielded_var(body, carry.index)
            && refs::base(function, yielded).is_some_and(|key| key != goal.key)
        {
            moves.push((carry.index, yielded, goal));
        }
    }
    copies.insert(function, body, moves);
}

fn settle_branches(
    function: &mut Function,
    then: &mut Block,
    otherwise: Option<&mut Block>,
    results: &[VarId],
    copies: &mut Copies,
) {
    let mut moves = Vec::new();
    for (index, &result) in results.iter().enumerate() {
        let first = walk::yielded_var(then, index);
        let second = otherwise.as_deref().and_then(|b| walk::yielded_var(b, index));
        let goals = (first.and_then(|v| Goal::of(function, v)), second.and_then(|v| Goal::of(function, v)));
        let goal = match goals {
            (Some(goal), Some(other)) => {
                if goal.key != other.key
                    && let Some(second) = second
                {
                    moves.push((index, second, goal.clone()));
                }
                goal
            }
            (Some(goal), None) | (None, Some(goal)) => goal,
            (None, None) => continue,
        };
        if refs::base(function, result).is_some_and(|key| key != goal.key) {
            refs::retarget(function, result, goal.memref, goal.space);
        }
    }
    if let Some(otherwise) = otherwise {
        copies.insert(function, otherwise, moves);
    }
}
