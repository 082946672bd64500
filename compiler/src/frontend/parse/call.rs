//! Calls: what is called, and with what.

use ruff_python_ast as py;

use super::suggestions::suggest;
use super::{Parse, Parser, language, suggestions};
use crate::frontend::ast::{Call, Callee, ExprKind, Problem, Type};

/// Functions of Python that the printed form uses.
const PYTHON_FUNCTIONS: &[&str] = &["abs", "min", "max", "range"];

impl Parser<'_> {
    /// A call inside an expression.
    pub(super) fn call(&mut self, call: &py::ExprCall) -> Parse<ExprKind> {
        if let py::Expr::Name(name) = &*call.func
            && name.id.as_str() == "float"
        {
            let number = self.special_float(call)?;
            let number = number
                .ok_or_else(|| self.bad_call(call, "expected `float('inf')`, `float('-inf')` or `float('nan')`"))?;
            return Ok(ExprKind::Float(number, None));
        }
        let callee = self.callee(&call.func)?;
        let Callee::Op(operation) = &callee else {
            return self.call_of(callee, call);
        };
        match operation.as_str() {
            "const" => self.constant(call),
            "yield" => Err(self.unsupported(call, "expected `yield_` as the last statement of a loop or branch")),
            "cond" => Err(self.unsupported(call, "expected `cond` as the first statement of a `while_` loop")),
            "func_attr" => Err(self.unsupported(call, "expected `func_attr` as the first statement of a function")),
            "MemRef" | "TileView" | "TensorView" => {
                Err(self.unsupported(call, format!("`{operation}` is part of types, not a value")))
            }
            "dynamic" => {
                Err(self.unsupported(call, "expected `dynamic` in front of the program: M = pl.dynamic(\"M\")"))
            }
            _ => self.call_of(callee, call),
        }
    }

    fn call_of(&mut self, callee: Callee, call: &py::ExprCall) -> Parse<ExprKind> {
        let mut made = self.arguments(callee, call)?;
        self.qualify(&mut made, call);
        match made.op() {
            Some("tile.alloc") => self.check_alloc(&made, call)?,
            // Loads transpose in the older language only.
            Some("tile.load") => self.seen.older |= made.kwarg("transpose").is_some(),
            _ => {}
        }
        Ok(ExprKind::Call(Box::new(made)))
    }

    /// Reads the arguments.
    pub(super) fn arguments(&mut self, callee: Callee, call: &py::ExprCall) -> Parse<Call> {
        let args = self.exprs(&call.arguments.args)?;
        let mut kwargs: Vec<(String, _)> = Vec::new();
        for keyword in &call.arguments.keywords {
            let Some(name) = &keyword.arg else {
                return Err(self.unsupported(keyword, "`**` is not part of the language; expected name=value"));
            };
            if kwargs.iter().any(|(n, _)| n == name.as_str()) {
                return Err(self.bad_call(keyword, format!("`{name}` is given twice")));
            }
            kwargs.push((name.to_string(), self.expr(&keyword.value)?));
        }
        Ok(Call { callee, args, kwargs })
    }

    /// What an expression in front of parentheses calls.
    pub(super) fn callee(&mut self, function: &py::Expr) -> Parse<Callee> {
        let Some(names) = language::dotted(function) else {
            return Err(self.unsupported(function, "expected the name of an operation or function in front of `(`"));
        };
        if let Some(rest) = self.modules.strip(&names) {
            return match language::operation(rest) {
                Some(operation) => Ok(Callee::Op(operation)),
                None => Err(self.no_namespace(&names, function)),
            };
        }
        let span = self.span(function);
        match names[..] {
            ["self", name] => self.program_function(name, span).map(Callee::Function),
            ["self", ..] => Err(self.unsupported(function, "expected `self.` and a function of the program")),
            [name] if self.function_names.contains(name) => Ok(Callee::Function(name.to_owned())),
            [name] if PYTHON_FUNCTIONS.contains(&name) => Ok(Callee::Op(name.to_owned())),
            [name] => self.bare_callee(name, function),
            [root, ..] if self.modules.is_other(root) => Ok(Callee::Op(language::foreign_operation(&names))),
            _ => language::operation(&names).map(Callee::Op).ok_or_else(|| self.no_namespace(&names, function)),
        }
    }

    /// A name that stands without the module.
    fn bare_callee(&mut self, name: &str, function: &py::Expr) -> Parse<Callee> {
        let span = self.span(function);
        if self.scopes.peek(name).is_some() {
            return Err(self.unsupported(function, format!("`{name}` is a value and cannot be called")));
        }
        // The module has a name of its own, so that a name without it is no operation.
        if self.modules.is_imported() {
            let problem = Problem::new("PTO-0703", span, format!("unknown function `{name}`"));
            let prefixed = format!("{}.{name}", self.modules.prefix());
            let names = self.function_names.iter().map(String::as_str);
            return Err(match suggestions::closest(name, names) {
                Some(close) => problem.help(format!("did you mean `self.{close}`?")),
                None => problem.help(format!("operations stand behind the module's name: `{prefixed}`")),
            });
        }
        language::operation(&[name]).map(Callee::Op).ok_or_else(|| self.unknown_name(name, span))
    }

    fn no_namespace(&mut self, names: &[&str], function: &py::Expr) -> Problem {
        let span = self.span(function);
        let rest = self.modules.strip(names).unwrap_or(names);
        let root = rest.first().copied().unwrap_or_default();
        if self.scopes.peek(root).is_some() {
            return self.unsupported(function, format!("`{root}` is a value and has no functions"));
        }
        let message = format!("unknown namespace `{root}`; expected one of {}", language::NAMESPACES.join(", "));
        suggest(Problem::new("PTO-0703", span, message), root, language::NAMESPACES.iter().copied())
    }

    /// Some names are a function of scalars and an operation on tiles; the argument decides.
    fn qualify(&self, made: &mut Call, call: &py::ExprCall) {
        let Callee::Op(name) = &mut made.callee else { return };
        let bare = call.func.is_name_expr();
        if !(name == "cast" || (name == "abs" && bare)) {
            return;
        }
        let namespace = match made.args.first().map(|a| self.type_of(a)) {
            Some(Type::Tile(_)) => "tile",
            Some(Type::Tensor(_)) => "tensor",
            _ if made.kwargs.iter().any(|(n, _)| n == "target_type") => "tile",
            _ => return,
        };
        *name = format!("{namespace}.{name}");
    }
}
