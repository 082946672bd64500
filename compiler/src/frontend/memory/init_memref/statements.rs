//! The allocation statements at the head of a function.

use super::declared::Declarations;
use crate::frontend::{
    ast::{Block, Call, Callee, Expr, ExprKind, Function, MemorySpace, Span, Stmt, StmtKind, VarId},
    memory::{
        refs::{self, Key},
        walk,
    },
};
use std::collections::BTreeMap;

/// One statement for each allocation that is in use, declared ones first, each in the order of first use.
pub fn of(function: &Function, body: &Block, sizes: &BTreeMap<VarId, u64>, declarations: &Declarations) -> Vec<Stmt> {
    let mut order: Vec<(VarId, MemorySpace)> = Vec::new();
    let mut note = |var: VarId| {
        if let Some((tile, memref)) = refs::tile(function, var)
            && let Some(Key::Var(base)) = refs::key(memref)
            && !order.iter().any(|(known, _)| *known == base)
        {
            order.push((base, tile.space.unwrap_or(MemorySpace::Ddr)));
        }
    };
    function.params.iter().for_each(|p| note(p.var));
    walk::each(body, &mut |stmt| match &stmt.kind {
        StmtKind::Assign { target, .. } => note(*target),
        _ => walk::carries(stmt).iter().for_each(|c| note(c.inside)),
    });
    order.sort_by_key(|(base, _)| declarations.size(*base).is_none());
    let statement = |(base, space): (VarId, MemorySpace)| {
        let pinned = declarations.size(base);
        let size = pinned.or(sizes.get(&base).copied()).unwrap_or(0);
        let memory = Expr::made(ExprKind::Symbol(format!("Mem.{space}")));
        let call = Call {
            callee: Callee::Op(if space == MemorySpace::Ddr { "tensor.alloc" } else { "tile.alloc" }.to_owned()),
            args: vec![memory, Expr::index(i64::try_from(size).unwrap_or(i64::MAX))],
            kwargs: pinned.map(|_| ("pinned".to_owned(), Expr::made(ExprKind::Bool(true)))).into_iter().collect(),
        };
        let value = Expr::made(ExprKind::Call(Box::new(call)));
        Stmt::made(StmtKind::Assign { target: base, value }, Span::default())
    };
    order.into_iter().map(statement).collect()
}
