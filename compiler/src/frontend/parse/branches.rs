//! Branches, and the values they yield.

use ruff_python_ast as py;

use super::statement::{Place, Target, Yielded};
use super::{Parse, Parser};
use crate::frontend::ast::{Block, Expr, ExprKind, Problem, Span, Stmt, StmtKind, Type, VarId};

impl Parser<'_> {
    /// `if`, with what follows its block.
    pub(super) fn branch(
        &mut self,
        test: &py::Expr,
        then: &[py::Stmt],
        rest: &[py::ElifElseClause],
    ) -> Parse<StmtKind> {
        let condition = self.expr(test);
        let condition = self.keep(condition).unwrap_or_else(|| Expr::made(ExprKind::Null));
        let (then, then_yield) = self.branch_block(then);
        let (otherwise, else_yield) = match rest {
            [] => (None, None),
            [clause, rest @ ..] => {
                let (block, yielded) = self.alternative(clause, rest);
                (Some(block), yielded)
            }
        };
        let results = self.branch_results(then_yield, else_yield, otherwise.is_some());
        Ok(StmtKind::If { condition, then, otherwise, results })
    }

    fn branch_block(&mut self, body: &[py::Stmt]) -> (Block, Option<Yielded>) {
        let body: Vec<&py::Stmt> = body.iter().collect();
        self.scopes.open(false);
        let made = self.block(&body, Place::Branch);
        self.close_scope();
        made
    }

    /// `else`, or `elif` as a branch inside `else`.
    fn alternative(&mut self, clause: &py::ElifElseClause, rest: &[py::ElifElseClause]) -> (Block, Option<Yielded>) {
        let Some(test) = &clause.test else {
            return self.branch_block(&clause.body);
        };
        let span = self.span(clause);
        if self.too_deep(&clause.body.iter().collect::<Vec<_>>()) {
            return (Block::new(), None);
        }
        self.depth += 1;
        self.scopes.open(false);
        let result = self.branch(test, &clause.body, rest);
        let kind = self.keep(result);
        self.close_scope();
        self.depth -= 1;
        let mut block: Block = kind.map(|kind| Stmt::made(kind, span)).into_iter().collect();
        let yielded = self.pass_on(&mut block, span);
        (block, yielded)
    }

    /// Yields the results of an `elif` once more.
    fn pass_on(&self, block: &mut Block, span: Span) -> Option<Yielded> {
        let StmtKind::If { results, .. } = &block.first()?.kind else { return None };
        if results.is_empty() {
            return None;
        }
        let targets = results.iter().map(|&v| self.function.var(v)).map(|v| Target {
            name: v.name.clone(),
            ty: v.annotated.then(|| v.ty.clone()),
            span: v.span,
        });
        let targets = targets.collect();
        let values: Vec<Expr> = results.iter().map(|&v| Expr { kind: ExprKind::Var(v), span }).collect();
        block.push(Stmt::made(StmtKind::Yield(values.clone()), span));
        Some(Yielded { targets, values: Some(values), span })
    }

    /// Defines what both branches yield.
    fn branch_results(&mut self, then: Option<Yielded>, other: Option<Yielded>, has_else: bool) -> Vec<VarId> {
        let names = |y: &Option<Yielded>| -> Vec<String> {
            y.iter().flat_map(|y| y.targets.iter().map(|t| t.name.clone())).collect()
        };
        let (then_names, else_names) = (names(&then), names(&other));
        if then_names != else_names {
            let span = other.as_ref().or(then.as_ref()).map_or(Span::default(), |y| y.span);
            let message = if has_else {
                format!(
                    "both branches yield the same names; found `{}` and `{}`",
                    then_names.join(", "),
                    else_names.join(", ")
                )
            } else {
                "a branch that yields names needs an `else` that yields the same".to_owned()
            };
            self.report(Problem::new("PTO-0702", span, message));
        }
        // What only the second names is defined too, so that its uses do not complain again.
        let other_types: Vec<Option<Type>> =
            other.iter().flat_map(|y| y.targets.iter().map(|t| t.ty.clone())).collect();
        let Some(yielded) = then.filter(|y| !y.targets.is_empty()).or(other) else { return Vec::new() };
        let values = yielded.values.unwrap_or_default();
        let made = yielded.targets.into_iter().enumerate().map(|(at, mut target)| {
            target.ty = target.ty.or_else(|| other_types.get(at).cloned().flatten());
            let derived = values.get(at).map_or(Type::Unknown, |v| self.type_of(v));
            self.define_target(target, derived)
        });
        made.collect()
    }
}
