//! Statements and blocks. Assignments, branches and loops are next door.

use ruff_python_ast as py;
use ruff_text_size::Ranged;

use super::{MAX_BLOCKS, Parse, Parser, names_of};
use crate::frontend::ast::{Block, Expr, ExprKind, Problem, Span, Stmt, StmtKind, Type, VarId};

/// What a block belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Function,
    Loop,
    Branch,
    /// A scope of orchestration; values do not leave it by yields.
    Scope,
}

/// The yield at the end of a block.
pub(super) struct Yielded {
    /// Names of the values outside; none when the text gives none.
    pub(super) targets: Vec<Target>,
    /// The values; none when one of them is wrong.
    pub(super) values: Option<Vec<Expr>>,
    pub(super) span: Span,
}

/// A name that a yield gives to a value outside the block.
pub(super) struct Target {
    pub(super) name: String,
    /// When the text says it.
    pub(super) ty: Option<Type>,
    pub(super) span: Span,
}

impl Parser<'_> {
    /// A block, and its yield.
    pub(super) fn block(&mut self, body: &[&py::Stmt], place: Place) -> (Block, Option<Yielded>) {
        let (mut block, mut yielded) = (Block::new(), None);
        if self.too_deep(body) {
            return (block, yielded);
        }
        self.depth += 1;
        let mut comments = Vec::new();
        for (at, stmt) in body.iter().enumerate() {
            if self.is_full() {
                break;
            }
            comments.extend(self.comments_of(stmt));
            if let Some(text) = text_of(stmt) {
                comments.extend(text.split('\n').map(|line| line.replace(char::is_control, " ")));
                continue;
            }
            let first = block.len();
            let may_yield = at + 1 == body.len() && matches!(place, Place::Loop | Place::Branch);
            let result = match self.as_yield(stmt) {
                Some(call) if may_yield => self.yielded(stmt, call).map(|y| {
                    let values = y.values.clone().unwrap_or_default();
                    block.push(Stmt::made(StmtKind::Yield(values), y.span));
                    yielded = Some(y);
                }),
                Some(_) => {
                    Err(self.unsupported(*stmt, "expected `yield_` as the last statement of a loop or branch only"))
                }
                None => self.statement(stmt, &mut block),
            };
            self.keep(result);
            if let Some(made) = block.get_mut(first) {
                made.comments = std::mem::take(&mut comments);
            }
        }
        self.depth -= 1;
        (block, yielded)
    }

    /// Reports blocks that are too deep inside each other.
    pub(super) fn too_deep(&mut self, body: &[&py::Stmt]) -> bool {
        let deep = self.depth >= MAX_BLOCKS;
        if deep && let Some(first) = body.first() {
            let problem = self.unsupported(*first, format!("more than {MAX_BLOCKS} blocks inside each other"));
            self.report(problem);
        }
        deep
    }

    /// Comments above a statement; for those without blocks also inside and behind.
    fn comments_of(&mut self, stmt: &py::Stmt) -> Vec<String> {
        let compound = matches!(stmt, py::Stmt::If(_) | py::Stmt::For(_) | py::Stmt::While(_) | py::Stmt::With(_));
        let (start, end) = (stmt.start().to_usize(), stmt.end().to_usize());
        self.comments.take_before(if compound { start } else { self.source.line_end(end) })
    }

    /// The call of `yield_` that a statement is.
    pub(super) fn as_yield<'a>(&mut self, stmt: &'a py::Stmt) -> Option<&'a py::ExprCall> {
        let value = match stmt {
            py::Stmt::AnnAssign(assign) => assign.value.as_deref()?,
            py::Stmt::Assign(assign) => &assign.value,
            py::Stmt::Expr(expr) => &expr.value,
            _ => return None,
        };
        self.built_in(value, "yield")
    }

    fn yielded(&mut self, stmt: &py::Stmt, call: &py::ExprCall) -> Parse<Yielded> {
        if let Some(keyword) = call.arguments.keywords.first() {
            return Err(self.bad_call(keyword, "`yield_` takes values by position"));
        }
        let targets = self.targets(stmt)?;
        let count = call.arguments.args.len();
        if !targets.is_empty() && targets.len() != count {
            let message = format!("the number of names, {}, is not that of yielded values, {count}", targets.len());
            return Err(self.unsupported(stmt, message));
        }
        // The names are defined even when values are wrong, so that their uses do not complain again.
        let values = self.exprs(&call.arguments.args);
        let values = self.keep(values);
        Ok(Yielded { targets, values, span: self.span(stmt) })
    }

    fn targets(&mut self, stmt: &py::Stmt) -> Parse<Vec<Target>> {
        let (target, ty) = match stmt {
            py::Stmt::AnnAssign(assign) => {
                let ty = self.ty(&assign.annotation);
                (&*assign.target, Some(self.keep(ty).unwrap_or(Type::Unknown)))
            }
            py::Stmt::Assign(assign) if assign.targets.len() == 1 => (&assign.targets[0], None),
            py::Stmt::Assign(assign) => return Err(self.unsupported(assign, "expected one `=`")),
            _ => return Ok(Vec::new()),
        };
        let Some(names) = names_of(target) else {
            return Err(self.unsupported(target, "expected names in front of `=`"));
        };
        let named = |n: &&py::ExprName| Target { name: n.id.to_string(), ty: ty.clone(), span: self.span(*n) };
        Ok(names.iter().map(named).collect())
    }

    fn statement(&mut self, stmt: &py::Stmt, block: &mut Block) -> Parse<()> {
        let span = self.span(stmt);
        let kind = match stmt {
            py::Stmt::AnnAssign(assign) => return self.annotated(assign, block),
            py::Stmt::Assign(assign) => return self.assign(assign, block),
            py::Stmt::Expr(expr) => self.eval(&expr.value)?,
            py::Stmt::If(branch) => self.branch(&branch.test, &branch.body, &branch.elif_else_clauses)?,
            py::Stmt::For(stmt) => self.for_stmt(stmt)?,
            py::Stmt::While(stmt) => self.while_stmt(stmt)?,
            py::Stmt::With(stmt) => self.with(stmt)?,
            py::Stmt::Return(stmt) => StmtKind::Return(match stmt.value.as_deref() {
                None => Vec::new(),
                Some(py::Expr::Tuple(tuple)) => self.exprs(&tuple.elts)?,
                Some(value) => vec![self.expr(value)?],
            }),
            py::Stmt::Break(_) => StmtKind::Break,
            py::Stmt::Continue(_) => StmtKind::Continue,
            py::Stmt::Pass(_) => StmtKind::Pass,
            other => return Err(self.unsupported(other, unexpected(other))),
        };
        block.push(Stmt::made(kind, span));
        Ok(())
    }

    fn eval(&mut self, value: &py::Expr) -> Parse<StmtKind> {
        if value.is_ellipsis_literal_expr() {
            return Err(self.unsupported(value, "`...` stands alone in a function without body"));
        }
        let expr = self.expr(value)?;
        if expr.as_call().is_none() {
            return Err(self.unsupported(value, "a statement that does nothing; expected an assignment or a call"));
        }
        Ok(StmtKind::Eval(expr))
    }

    fn with(&mut self, stmt: &py::StmtWith) -> Parse<StmtKind> {
        let context = match &stmt.items[..] {
            [item] if item.optional_vars.is_none() && !stmt.is_async => self.context(&item.context_expr),
            _ => Err(self.unsupported(stmt, "expected `with context:` with one context and without `as`")),
        };
        let context = self.keep(context);
        let body: Vec<&py::Stmt> = stmt.body.iter().collect();
        let (body, _) = self.block(&body, Place::Scope);
        let context = context.unwrap_or_else(|| Expr::made(ExprKind::Null));
        Ok(StmtKind::With { context, body })
    }

    /// What opens a scope: a call.
    pub(super) fn context(&mut self, expr: &py::Expr) -> Parse<Expr> {
        if !expr.is_call_expr() {
            return Err(self.unsupported(expr, "expected a call that opens a scope, such as `pl.scope()`"));
        }
        self.expr(expr)
    }

    /// Defines a result of a loop or branch.
    pub(super) fn define_target(&mut self, target: Target, derived: Type) -> VarId {
        let annotated = target.ty.is_some();
        let var = self.function.add_var(target.name.clone(), target.ty.unwrap_or(derived), target.span);
        self.function.var_mut(var).annotated = annotated;
        self.scopes.define(&target.name, var, target.span);
        var
    }

    /// Defines a variable.
    pub(super) fn define(&mut self, name: &py::ExprName, ty: Option<Type>, annotated: bool) -> VarId {
        let span = self.span(name);
        let var = self.function.add_var(name.id.as_str(), ty.unwrap_or(Type::Unknown), span);
        self.function.var_mut(var).annotated = annotated;
        self.scopes.define(name.id.as_str(), var, span);
        var
    }

    /// Closes a block.
    pub(super) fn close_scope(&mut self) {
        for uncarried in self.scopes.close() {
            let name = uncarried.name;
            let message = format!("the loop reads `{name}` from in front of it and gives it anew without carrying it");
            let problem = Problem::new("PTO-0703", uncarried.read, message)
                .note(uncarried.written, format!("`{name}` is given anew here"))
                .help(
                    "carry it: `for i, (x,) in pl.range(n, init_values=(x0,)):` and `x1 = pl.yield_(...)` at the end",
                );
            self.report(problem);
        }
    }
}

/// Text that stands as a statement.
fn text_of(stmt: &py::Stmt) -> Option<&str> {
    Some(stmt.as_expr_stmt()?.value.as_string_literal_expr()?.value.to_str())
}

/// Why a statement is not part of the language.
fn unexpected(stmt: &py::Stmt) -> &'static str {
    match stmt {
        py::Stmt::AugAssign(_) => "expected `x = x + y`; `x += y` is not part of the language",
        py::Stmt::FunctionDef(_) | py::Stmt::ClassDef(_) => "functions and classes do not stand inside functions",
        py::Stmt::Import(_) | py::Stmt::ImportFrom(_) => "imports stand in front of the program",
        py::Stmt::Assert(_) | py::Stmt::Raise(_) | py::Stmt::Try(_) => "there are no exceptions in the language",
        py::Stmt::Match(_) => "`match` is not part of the language; expected `if`",
        _ => "expected an assignment, a call, `if`, `for`, `while`, `with`, `return`, `break`, `continue` or `pass`",
    }
}
