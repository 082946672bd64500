//! Functions: decorators, signature, attributes; and bare statements as a function.

use ruff_python_ast as py;
use ruff_text_size::Ranged;

use super::scopes::Scopes;
use super::statement::Place;
use super::suggestions::suggest;
use super::{Parse, Parser};
use crate::frontend::ast::{Direction, Expr, Function, FunctionKind, Param, Type};

impl Parser<'_> {
    /// Statements that stand without function. Names that nothing defines are variables.
    pub(super) fn bare_function(&mut self, body: &[&py::Stmt]) {
        self.scopes = Scopes::new();
        self.free_names = true;
        let span = body.first().map(|s| self.span(*s)).unwrap_or_default();
        self.function =
            Function { name: "main".into(), kind: FunctionKind::InCore, bare: true, span, ..Function::default() };
        let (block, _) = self.block(body, Place::Function);
        self.function.body = Some(block);
        self.free_names = false;
        self.program.functions.push(std::mem::take(&mut self.function));
    }

    /// A function of the program.
    pub(super) fn function_def(&mut self, def: &py::StmtFunctionDef) {
        self.scopes = Scopes::new();
        self.function = Function { name: def.name.to_string(), span: self.span(&def.name), ..Function::default() };
        self.reject_parts(def);
        for decorator in &def.decorator_list {
            let result = self.decorator(&decorator.expression);
            self.keep(result);
        }
        self.in_signature = true;
        self.outer_extents.clear();
        self.parameters(&def.parameters);
        if let Some(annotation) = &def.returns {
            let result = self.return_types(annotation);
            self.function.returns = self.keep(result);
        }
        self.in_signature = false;
        // Comments up to here belong to the function, not to its first statement.
        let header = def.returns.as_ref().map_or(def.parameters.end(), |r| r.end());
        self.comments.take_before(self.source.line_end(header.to_usize()));
        self.function_body(&def.body);
        if let Some(first) = self.functions_at.insert(self.function.name.clone(), self.function.span) {
            let message = format!("the program has two functions `{}`", self.function.name);
            let problem = super::Problem::new("PTO-0702", self.function.span, message);
            self.report(problem.note(first, "the first is here"));
        }
        self.program.functions.push(std::mem::take(&mut self.function));
    }

    fn reject_parts(&mut self, def: &py::StmtFunctionDef) {
        if def.is_async || def.type_params.is_some() {
            let problem = self.unsupported(&def.name, "expected a plain function, without `async` and type parameters");
            self.report(problem);
        }
    }

    /// `@pl.function(type=..., ...)`.
    fn decorator(&mut self, decorator: &py::Expr) -> Parse<()> {
        if !self.is_built_in_name(decorator, "function") {
            return Err(self.unsupported(decorator, "expected the decorator `@pl.function`"));
        }
        let py::Expr::Call(call) = decorator else { return Ok(()) };
        if let Some(argument) = call.arguments.args.first() {
            return Err(self.bad_call(argument, "expected name=value: type=pl.FunctionType.InCore"));
        }
        for keyword in &call.arguments.keywords {
            let Some(name) = &keyword.arg else {
                return Err(self.unsupported(keyword, "`**` is not part of the language; expected name=value"));
            };
            let value = self.expr(&keyword.value)?;
            if name.as_str() == "type" {
                self.function.kind = self.kind(&value, &keyword.value)?;
            } else {
                self.function.decorations.push((name.to_string(), value));
            }
        }
        Ok(())
    }

    fn kind(&self, value: &Expr, node: &py::Expr) -> Parse<FunctionKind> {
        let name = value.as_symbol().and_then(|s| s.strip_prefix("FunctionType."));
        if let Some(kind) = name.and_then(FunctionKind::by_name) {
            return Ok(kind);
        }
        let message = format!("expected `FunctionType.` and one of {}", FunctionKind::NAMES.join(", "));
        let problem = self.bad_call(node, message);
        Err(suggest(problem, name.unwrap_or_default(), FunctionKind::NAMES.iter().copied()))
    }

    fn parameters(&mut self, parameters: &py::Parameters) {
        if let Some(extra) = parameters.vararg.as_ref().or(parameters.kwarg.as_ref()) {
            let problem = self.unsupported(&**extra, "expected parameters with names and types, without `*`");
            self.report(problem);
        }
        let all: Vec<_> = parameters.posonlyargs.iter().chain(&parameters.args).chain(&parameters.kwonlyargs).collect();
        let is_self =
            |p: &&py::ParameterWithDefault| p.parameter.name.as_str() == "self" && p.parameter.annotation.is_none();
        self.function.has_self = all.first().is_some_and(is_self);
        let named = if self.function.has_self { &all[1..] } else { &all[..] };
        // All names first: types may mention parameters that come later.
        for parameter in named {
            self.declare_parameter(&parameter.parameter);
        }
        for (at, parameter) in named.iter().enumerate() {
            let result = self.parameter_type(parameter);
            if let Some((direction, ty)) = self.keep(result) {
                let var = self.function.params[at].var;
                self.function.params[at].direction = direction;
                self.function.var_mut(var).ty = ty;
            }
        }
    }

    fn declare_parameter(&mut self, parameter: &py::Parameter) {
        let (name, span) = (parameter.name.as_str(), self.span(&parameter.name));
        if self.scopes.peek(name).is_some() {
            let problem = self.unsupported(&parameter.name, format!("the function has two parameters `{name}`"));
            self.report(problem);
        }
        let var = self.function.add_var(name, Type::Unknown, span);
        self.scopes.define(name, var, span);
        self.function.params.push(Param { var, direction: Direction::In });
    }

    fn parameter_type(&mut self, parameter: &py::ParameterWithDefault) -> Parse<(Direction, Type)> {
        if let Some(default) = &parameter.default {
            return Err(self.unsupported(&**default, "parameters have no default values"));
        }
        let Some(annotation) = &parameter.parameter.annotation else {
            let message = format!("expected the type of the parameter `{}`", parameter.parameter.name);
            return Err(self.bad_type(&parameter.parameter.name, message));
        };
        self.param_type(annotation)
    }

    fn function_body(&mut self, body: &[py::Stmt]) {
        let mut body: Vec<&py::Stmt> = body.iter().collect();
        if let [py::Stmt::Expr(expr)] = body[..]
            && expr.value.is_ellipsis_literal_expr()
        {
            return;
        }
        let attributes = body.iter().position(|s| !is_text(s)).filter(|&at| self.is_attributes(body[at]));
        if let Some(at) = attributes
            && let py::Stmt::Expr(expr) = body.remove(at)
        {
            let result = self.attributes(&expr.value);
            self.function.attributes = self.keep(result);
        }
        let (block, _) = self.block(&body, Place::Function);
        self.function.body = Some(block);
    }

    fn is_attributes(&mut self, stmt: &py::Stmt) -> bool {
        stmt.as_expr_stmt().is_some_and(|e| self.built_in(&e.value, "func_attr").is_some())
    }

    /// `pl.func_attr({...})`.
    fn attributes(&mut self, value: &py::Expr) -> Parse<Expr> {
        match value.as_call_expr().map(|c| (&*c.arguments.args, c.arguments.keywords.is_empty())) {
            Some(([argument @ py::Expr::Dict(_)], true)) => self.expr(argument),
            _ => Err(self.bad_call(value, "expected `func_attr({\"name\": value})`")),
        }
    }
}

/// Whether a statement is text about the function.
fn is_text(stmt: &py::Stmt) -> bool {
    stmt.as_expr_stmt().is_some_and(|e| e.value.is_string_literal_expr())
}
