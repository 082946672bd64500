//! Loops with a condition.

use ruff_python_ast as py;

use super::{Parse, Parser, names_of};
use crate::frontend::ast::{Expr, ExprKind, Problem, StmtKind, While};

impl Parser<'_> {
    /// `while condition:`.
    pub(super) fn while_stmt(&mut self, stmt: &py::StmtWhile) -> Parse<StmtKind> {
        if !stmt.orelse.is_empty() {
            let problem = self.unsupported(stmt, "`else` of a loop is not part of the language");
            self.report(problem);
        }
        self.scopes.open(true);
        let condition = self.expr(&stmt.test);
        let condition = self.keep(condition).unwrap_or_else(|| Expr::made(ExprKind::Null));
        let (body, yielded) = self.loop_block(&stmt.body);
        if let Some(yielded) = yielded.filter(|y| y.values.as_ref().is_some_and(|v| !v.is_empty())) {
            let message = "`while` carries no values; expected `for (x,) in pl.while_(init_values=(x0,)):`";
            self.report(Problem::new("PTO-0702", yielded.span, message));
        }
        Ok(StmtKind::While(Box::new(While {
            condition,
            carried: Vec::new(),
            inits: Vec::new(),
            explicit: false,
            body,
            results: Vec::new(),
        })))
    }

    /// `for (a, b) in pl.while_(init_values=(...)):`.
    pub(super) fn explicit_while(&mut self, stmt: &py::StmtFor, call: &py::ExprCall) -> StmtKind {
        let header = self.while_header(call);
        let header_fails = header.is_err();
        let inits = self.keep(header).unwrap_or_default();
        let names = names_of(&stmt.target).unwrap_or_else(|| {
            let problem = self.unsupported(&*stmt.target, "expected the carried names: `for (a, b) in pl.while_(...)`");
            self.report(problem);
            Vec::new()
        });
        if !header_fails {
            self.check_carried(stmt, names.len(), inits.len());
        }
        self.scopes.open(true);
        let carried = self.define_carried(&names, &inits);
        let (condition, body) = self.condition(stmt);
        let condition = self.keep(condition).unwrap_or_else(|| Expr::made(ExprKind::Null));
        let (body, yielded) = self.loop_block(body);
        if !header_fails {
            self.check_yield(stmt, yielded.as_ref(), carried.len());
        }
        let results = self.loop_results(yielded, &carried);
        StmtKind::While(Box::new(While { condition, carried, inits, explicit: true, body, results }))
    }

    fn while_header(&mut self, call: &py::ExprCall) -> Parse<Vec<Expr>> {
        match (&*call.arguments.args, &call.arguments.keywords[..]) {
            ([], [keyword]) if keyword.arg.as_ref().is_some_and(|n| n.as_str() == "init_values") => {
                self.inits(&keyword.value)
            }
            _ => Err(self.bad_call(call, "expected `while_(init_values=(...))`")),
        }
    }

    /// The condition at the beginning of the body, and the rest.
    fn condition<'a>(&mut self, stmt: &'a py::StmtFor) -> (Parse<Expr>, &'a [py::Stmt]) {
        let expected = "expected `pl.cond(condition)` as the first statement";
        let Some((first, rest)) = stmt.body.split_first() else {
            return (Err(self.unsupported(stmt, expected)), &[]);
        };
        let call = first.as_expr_stmt().and_then(|e| self.built_in(&e.value, "cond"));
        match call.map(|c| (&*c.arguments.args, c.arguments.keywords.is_empty())) {
            Some(([condition], true)) => (self.expr(condition), rest),
            Some(_) => (Err(self.bad_call(first, "expected `cond(condition)`")), rest),
            None => (Err(self.unsupported(first, expected)), &stmt.body),
        }
    }
}
