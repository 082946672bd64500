//! A function's statements on the clock of `crate::memory::lifetimes`.
//!
//! Assignments, calls, yields and returns take a tick each. Conditions and first values of loops are read with the
//! statement that comes next.

use crate::{
    frontend::{
        ast::{Block, Expr, Function, Stmt, StmtKind, VarId},
        memory::{refs, walk},
    },
    memory::lifetimes::{Lifetimes, Source, Timeline},
};

/// When the tiles of a function are needed.
pub fn of(function: &Function, body: &Block) -> Lifetimes {
    let mut time = Timeline::new(function.vars.len());
    block(function, body, &mut time);
    time.finish()
}

fn block(function: &Function, statements: &Block, time: &mut Timeline) {
    for stmt in statements {
        statement(function, stmt, time);
    }
}

fn statement(function: &Function, stmt: &Stmt, time: &mut Timeline) {
    for var in walk::expressions(stmt).into_iter().flat_map(Expr::vars) {
        time.read(var.index());
    }
    match &stmt.kind {
        StmtKind::Assign { target, .. } => {
            if is_tile(function, *target) {
                time.define(target.index());
            }
            time.step();
        }
        StmtKind::Eval(_) | StmtKind::Yield(_) | StmtKind::Return(_) => time.step(),
        StmtKind::If { results, .. } => branch(function, stmt, results, time),
        StmtKind::For(_) | StmtKind::While(_) => {
            for carry in walk::carries(stmt) {
                if let Some(init) = carry.init {
                    time.stand_for(carry.inside.index(), init.index());
                }
            }
            time.begin_loop();
            stmt.blocks().into_iter().for_each(|b| block(function, b, time));
            time.end_loop();
            for carry in walk::carries(stmt) {
                if let (Some(init), Some(result)) = (carry.init, carry.result) {
                    time.stand_for(result.index(), init.index());
                }
            }
        }
        _ => stmt.blocks().into_iter().for_each(|b| block(function, b, time)),
    }
}

fn branch(function: &Function, stmt: &Stmt, results: &[VarId], time: &mut Timeline) {
    let mut ends = Vec::new();
    for inner in stmt.blocks() {
        let from = time.now();
        block(function, inner, time);
        ends.push((inner, from, time.now()));
    }
    for (index, result) in results.iter().enumerate() {
        // The result has the bytes of the first branch's value; what another branch yields is copied there.
        let mut first = true;
        let mut sources = Vec::new();
        for &(inner, from, until) in &ends {
            let Some(var) = walk::yielded_var(inner, index) else { continue };
            if refs::base(function, var).is_some() {
                sources.push(Source { value: var.index(), from, until, keeps_bytes: first });
                first = false;
            }
        }
        if !sources.is_empty() {
            time.join(result.index(), &sources);
        }
    }
}

fn is_tile(function: &Function, var: VarId) -> bool {
    function.vars.get(var.index()).is_some_and(|v| v.ty.tile().is_some())
}
