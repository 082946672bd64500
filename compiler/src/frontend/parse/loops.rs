//! Counted loops, and scopes of orchestration that bind names.

use ruff_python_ast as py;

use super::statement::{Place, Yielded};
use super::{Parse, Parser, names_of};
use crate::frontend::ast::{Block, Callee, DataType, Expr, ExprKind, For, LoopKind, Problem, StmtKind, Type, VarId};

/// What stands between `for` and `in`.
struct Pattern<'a> {
    index: Option<&'a py::ExprName>,
    carried: Vec<&'a py::ExprName>,
}

/// The arguments of a counted loop.
struct Header {
    bounds: [Expr; 3],
    inits: Vec<Expr>,
    extra: Vec<(String, Expr)>,
}

impl Default for Header {
    fn default() -> Self {
        Self { bounds: [Expr::index(0), Expr::index(0), Expr::index(1)], inits: Vec::new(), extra: Vec::new() }
    }
}

impl Parser<'_> {
    /// `for ... in ...:`.
    pub(super) fn for_stmt(&mut self, stmt: &py::StmtFor) -> Parse<StmtKind> {
        if stmt.is_async || !stmt.orelse.is_empty() {
            let problem = self.unsupported(stmt, "expected a plain `for`, without `async` and `else`");
            self.report(problem);
        }
        let callee = match &*stmt.iter {
            py::Expr::Call(call) => self.callee(&call.func).map(|callee| (call, callee)),
            other => {
                let message = "expected `pl.range(...)`, `pl.parallel(...)`, `pl.unroll(...)` or `pl.pipeline(...)`";
                Err(self.unsupported(other, message))
            }
        };
        let Some((call, callee)) = self.keep(callee) else {
            return Ok(self.failed_loop(stmt));
        };
        let name = if let Callee::Op(name) = &callee { name.as_str() } else { "" };
        match LoopKind::by_name(name) {
            Some(kind) => Ok(self.counted(stmt, call, kind)),
            None if name == "while" => Ok(self.explicit_while(stmt, call)),
            None if name.is_empty() || name.starts_with("tile.") => {
                let problem = self.unsupported(
                    &*stmt.iter,
                    "expected a loop (`pl.range`, `pl.parallel`, `pl.unroll`, `pl.pipeline`, `pl.while_`) or a scope (`pl.spmd`)",
                );
                self.report(problem);
                Ok(self.failed_loop(stmt))
            }
            None => Ok(self.scope_loop(stmt)),
        }
    }

    /// Reads the body of a loop whose head is wrong, for the problems in it.
    fn failed_loop(&mut self, stmt: &py::StmtFor) -> StmtKind {
        let mut names = Vec::new();
        collect_names(&stmt.target, &mut names);
        self.scopes.open(true);
        for name in names {
            self.define(name, None, false);
        }
        let (_, yielded) = self.loop_block(&stmt.body);
        self.loop_results(yielded, &[]);
        StmtKind::Pass
    }

    pub(super) fn loop_block(&mut self, body: &[py::Stmt]) -> (Block, Option<Yielded>) {
        let body: Vec<&py::Stmt> = body.iter().collect();
        let made = self.block(&body, Place::Loop);
        self.close_scope();
        made
    }

    fn counted(&mut self, stmt: &py::StmtFor, call: &py::ExprCall, kind: LoopKind) -> StmtKind {
        let header = self.header(call);
        let header_fails = header.is_err();
        let header = self.keep(header).unwrap_or_default();
        let pattern = self.pattern(&stmt.target);
        let pattern = self.keep(pattern).unwrap_or(Pattern { index: None, carried: Vec::new() });
        if !header_fails {
            self.check_carried(stmt, pattern.carried.len(), header.inits.len());
        }
        self.scopes.open(true);
        let index_type = Some(Type::Scalar(DataType::Index));
        let index = match pattern.index {
            Some(name) => self.define(name, index_type, false),
            None => self.function.add_var("_", Type::Scalar(DataType::Index), self.span(&*stmt.target)),
        };
        let carried = self.define_carried(&pattern.carried, &header.inits);
        let (body, yielded) = self.loop_block(&stmt.body);
        if !header_fails {
            self.check_yield(stmt, yielded.as_ref(), carried.len());
        }
        let results = self.loop_results(yielded, &carried);
        let Header { bounds: [start, stop, step], inits, extra } = header;
        StmtKind::For(Box::new(For { kind, index, start, stop, step, carried, inits, extra, body, results }))
    }

    fn pattern<'a>(&self, target: &'a py::Expr) -> Parse<Pattern<'a>> {
        let expected = "expected `i` or `i, (carried,)` between `for` and `in`";
        match target {
            py::Expr::Name(name) => Ok(Pattern { index: Some(name), carried: Vec::new() }),
            py::Expr::Tuple(tuple) => match &tuple.elts[..] {
                [py::Expr::Name(index), carried @ py::Expr::Tuple(_)] => match names_of(carried) {
                    Some(carried) => Ok(Pattern { index: Some(index), carried }),
                    None => Err(self.unsupported(carried, expected)),
                },
                _ => Err(self.unsupported(target, expected)),
            },
            _ => Err(self.unsupported(target, expected)),
        }
    }

    fn header(&mut self, call: &py::ExprCall) -> Parse<Header> {
        let args = self.exprs(&call.arguments.args)?;
        let bounds = match <[Expr; 1]>::try_from(args) {
            Ok([stop]) => [Expr::index(0), stop, Expr::index(1)],
            Err(args) => match <[Expr; 2]>::try_from(args) {
                Ok([start, stop]) => [start, stop, Expr::index(1)],
                Err(args) => <[Expr; 3]>::try_from(args).map_err(|args| {
                    self.bad_call(
                        call,
                        format!("expected stop; start, stop; or start, stop, step; not {} values", args.len()),
                    )
                })?,
            },
        };
        if bounds[2].as_int() == Some(0) {
            return Err(self.bad_call(&call.arguments.args[2], "the step of a loop cannot be 0"));
        }
        let mut header = Header { bounds, ..Header::default() };
        for keyword in &call.arguments.keywords {
            match keyword.arg.as_ref().map(|n| n.as_str()) {
                Some("init_values") => header.inits = self.inits(&keyword.value)?,
                Some(name) => header.extra.push((name.to_owned(), self.expr(&keyword.value)?)),
                None => return Err(self.unsupported(keyword, "`**` is not part of the language; expected name=value")),
            }
        }
        Ok(header)
    }

    pub(super) fn inits(&mut self, value: &py::Expr) -> Parse<Vec<Expr>> {
        match value {
            py::Expr::Tuple(py::ExprTuple { elts, .. }) | py::Expr::List(py::ExprList { elts, .. }) => self.exprs(elts),
            other => Err(self.bad_call(other, "expected the first values in parentheses: init_values=(x,)")),
        }
    }

    pub(super) fn check_carried(&mut self, stmt: &py::StmtFor, carried: usize, inits: usize) {
        if carried != inits {
            let message = format!("the number of carried names, {carried}, is not that of first values, {inits}");
            let problem = self.unsupported(&*stmt.target, message);
            self.report(problem);
        }
    }

    /// Defines carried names; their types are those of the first values.
    pub(super) fn define_carried(&mut self, names: &[&py::ExprName], inits: &[Expr]) -> Vec<VarId> {
        let mut carried = Vec::new();
        for (at, name) in names.iter().enumerate() {
            let ty = inits.get(at).map(|init| self.type_of(init));
            carried.push(self.define(name, ty, false));
        }
        carried
    }

    /// Checks that a loop yields as many values as it carries.
    pub(super) fn check_yield(&mut self, stmt: &py::StmtFor, yielded: Option<&Yielded>, carried: usize) {
        let problem = match yielded {
            None if carried == 0 => return,
            // A yield that is wrong by itself is reported already.
            None if self.is_full() || stmt.body.iter().any(|s| self.as_yield(s).is_some()) => return,
            None => {
                let message = "a loop that carries values ends with `pl.yield_` of their next values";
                self.unsupported(&*stmt.target, message)
            }
            Some(Yielded { values: Some(values), span, .. }) if values.len() != carried => {
                let count = values.len();
                let message = format!("the number of yielded values, {count}, is not that of carried ones, {carried}");
                Problem::new("PTO-0702", *span, message)
            }
            Some(_) => return,
        };
        self.report(problem);
    }

    /// Defines what a loop yields: of the type that the text says, or that the carried name has.
    pub(super) fn loop_results(&mut self, yielded: Option<Yielded>, carried: &[VarId]) -> Vec<VarId> {
        let targets = yielded.map(|y| y.targets).unwrap_or_default();
        let mut results = Vec::new();
        for (at, target) in targets.into_iter().enumerate() {
            let derived = carried.get(at).map_or(Type::Unknown, |&v| self.function.var(v).ty.clone());
            results.push(self.define_target(target, derived));
        }
        results
    }

    /// `for i in pl.spmd(n):`.
    fn scope_loop(&mut self, stmt: &py::StmtFor) -> StmtKind {
        let context = self.context(&stmt.iter);
        let context = self.keep(context).unwrap_or_else(|| Expr::made(ExprKind::Null));
        let names = names_of(&stmt.target).unwrap_or_else(|| {
            let problem = self.unsupported(&*stmt.target, "expected names between `for` and `in`");
            self.report(problem);
            Vec::new()
        });
        self.scopes.open(true);
        let mut targets = Vec::new();
        for name in names {
            targets.push(self.define(name, Some(Type::Scalar(DataType::Index)), false));
        }
        let body: Vec<&py::Stmt> = stmt.body.iter().collect();
        let (body, _) = self.block(&body, Place::Scope);
        self.close_scope();
        StmtKind::Scope { targets, context, body }
    }
}

/// All names in a pattern, however it is nested.
fn collect_names<'a>(target: &'a py::Expr, names: &mut Vec<&'a py::ExprName>) {
    match target {
        py::Expr::Name(name) => names.push(name),
        py::Expr::Tuple(py::ExprTuple { elts, .. }) | py::Expr::List(py::ExprList { elts, .. }) => {
            for element in elts {
                collect_names(element, names);
            }
        }
        _ => {}
    }
}
