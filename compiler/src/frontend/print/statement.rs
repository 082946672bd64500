//! Statements.

use super::Printer;
use crate::frontend::ast::{Expr, ExprKind, For, Stmt, StmtKind, Var, VarId, While};

impl<'p> Printer<'p> {
    /// Statements; a yield at their end gives `results` their values.
    pub(super) fn block(&mut self, depth: usize, block: &'p [Stmt], results: &[VarId]) {
        if block.is_empty() {
            self.line(depth, "pass");
        }
        for stmt in block {
            for comment in &stmt.comments {
                self.line(depth, &format!("# {comment}"));
            }
            self.statement(depth, &stmt.kind, results);
        }
    }

    fn statement(&mut self, depth: usize, stmt: &'p StmtKind, results: &[VarId]) {
        let text = match stmt {
            StmtKind::Assign { target, value } => format!("{} = {}", self.target(*target), self.expr(value)),
            StmtKind::Eval(value) => self.expr(value),
            StmtKind::If { condition, then, otherwise, results } => {
                let head = format!("if {}:", self.expr(condition));
                self.line(depth, &head);
                self.block(depth + 1, then, results);
                if let Some(otherwise) = otherwise {
                    self.line(depth, "else:");
                    self.block(depth + 1, otherwise, results);
                }
                return;
            }
            StmtKind::For(stmt) => return self.for_loop(depth, stmt),
            StmtKind::While(stmt) => return self.while_loop(depth, stmt),
            StmtKind::With { context, body } => {
                let head = format!("with {}:", self.expr(context));
                return self.compound(depth, &head, body, &[]);
            }
            StmtKind::Scope { targets, context, body } => {
                let head = format!("for {} in {}:", self.names(targets), self.expr(context));
                return self.compound(depth, &head, body, &[]);
            }
            StmtKind::Yield(values) => self.yielded(values, results),
            StmtKind::Return(values) if values.is_empty() => "return".to_owned(),
            StmtKind::Return(values) => format!("return {}", self.exprs(values)),
            StmtKind::Break => "break".to_owned(),
            StmtKind::Continue => "continue".to_owned(),
            StmtKind::Pass => "pass".to_owned(),
        };
        self.line(depth, &text);
    }

    fn compound(&mut self, depth: usize, head: &str, body: &'p [Stmt], results: &[VarId]) {
        self.line(depth, head);
        self.block(depth + 1, body, results);
    }

    /// A name with its type.
    fn target(&self, var: VarId) -> String {
        let Var { name, ty, annotated, .. } = self.function.var(var);
        if *annotated { format!("{name}: {}", self.ty(ty)) } else { name.clone() }
    }

    fn yielded(&self, values: &[Expr], results: &[VarId]) -> String {
        let call = format!("{}({})", self.language("yield_"), self.exprs(values));
        match results {
            [] => call,
            [result] => format!("{} = {call}", self.target(*result)),
            results => format!("{} = {call}", self.names(results)),
        }
    }

    fn for_loop(&mut self, depth: usize, stmt: &'p For) {
        let mut arguments = Vec::new();
        let is = |e: &Expr, value| matches!(e.kind, ExprKind::Int(v, None) if v == value);
        let step = !is(&stmt.step, 1);
        if step || !is(&stmt.start, 0) {
            arguments.push(self.expr(&stmt.start));
        }
        arguments.push(self.expr(&stmt.stop));
        if step {
            arguments.push(self.expr(&stmt.step));
        }
        // Attributes come last.
        let (attributes, extra): (Vec<_>, Vec<_>) = stmt.extra.iter().partition(|(name, _)| name == "attrs");
        let keyword = |(name, value): &(String, Expr)| format!("{name}={}", self.expr(value));
        arguments.extend(extra.into_iter().map(keyword));
        if !stmt.inits.is_empty() {
            arguments.push(format!("init_values={}", self.tuple(&stmt.inits)));
        }
        arguments.extend(attributes.into_iter().map(keyword));
        let mut names = self.name(stmt.index).to_owned();
        if !stmt.carried.is_empty() {
            names = format!("{names}, {}", self.pattern(&stmt.carried));
        }
        let head = format!("for {names} in {}({}):", self.language(stmt.kind.name()), arguments.join(", "));
        self.compound(depth, &head, &stmt.body, &stmt.results);
    }

    fn while_loop(&mut self, depth: usize, stmt: &'p While) {
        if !stmt.explicit {
            let head = format!("while {}:", self.expr(&stmt.condition));
            return self.compound(depth, &head, &stmt.body, &stmt.results);
        }
        let names = self.pattern(&stmt.carried);
        let head = format!("for {names} in {}(init_values={}):", self.language("while_"), self.tuple(&stmt.inits));
        self.line(depth, &head);
        let condition = format!("{}({})", self.language("cond"), self.expr(&stmt.condition));
        self.line(depth + 1, &condition);
        if !stmt.body.is_empty() {
            self.block(depth + 1, &stmt.body, &stmt.results);
        }
    }

    /// Names in parentheses.
    fn pattern(&self, vars: &[VarId]) -> String {
        if let [var] = vars { format!("({},)", self.name(*var)) } else { format!("({})", self.names(vars)) }
    }
}
