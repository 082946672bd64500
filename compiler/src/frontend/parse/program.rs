//! What stands outside functions: imports, dynamic extents, the program's class.

use ruff_python_ast as py;
use ruff_text_size::Ranged;

use super::source::one_line;
use super::{Parse, Parser, language};

impl Parser<'_> {
    /// The whole text.
    pub(super) fn module(&mut self) {
        let body = self.module_body;
        self.collect_function_names(body);
        let mut bare: Vec<&py::Stmt> = Vec::new();
        for stmt in body {
            let result = self.top_level(stmt, &mut bare);
            self.keep(result);
        }
        let Some(first) = bare.first() else {
            if self.program.functions.is_empty() && self.problems.is_empty() {
                let problem = super::Problem::new("PTO-0702", self.source.span(0), "expected a program, found none");
                self.report(problem.help("a program is a class with `@pl.program`, a function, or statements of one"));
            }
            return;
        };
        if !self.function_names.is_empty() {
            let problem = self.unsupported(*first, "expected statements inside a function of the program");
            self.report(problem);
            return;
        }
        self.bare_function(&bare);
    }

    /// Functions may be called in front of their definition.
    fn collect_function_names(&mut self, body: &[py::Stmt]) {
        for stmt in body {
            match stmt {
                py::Stmt::FunctionDef(function) => self.function_names.extend([function.name.to_string()]),
                py::Stmt::ClassDef(class) => {
                    let functions = class.body.iter().filter_map(|s| s.as_function_def_stmt());
                    self.function_names.extend(functions.map(|f| f.name.to_string()));
                }
                _ => {}
            }
        }
    }

    fn top_level<'a>(&mut self, stmt: &'a py::Stmt, bare: &mut Vec<&'a py::Stmt>) -> Parse<()> {
        match stmt {
            py::Stmt::Import(import) => {
                let language = import
                    .names
                    .iter()
                    .fold(false, |found, alias| found | self.modules.import(&alias.name, alias.asname.as_deref()));
                self.keep_import(stmt, language && import.names.len() == 1);
            }
            py::Stmt::ImportFrom(import) => {
                let module = import.module.as_deref().unwrap_or_default();
                let language = import.names.iter().fold(false, |found, alias| {
                    found | self.modules.import_from(module, &alias.name, alias.asname.as_deref())
                });
                self.keep_import(stmt, language && import.names.len() == 1);
            }
            py::Stmt::ClassDef(class) => self.class(class)?,
            py::Stmt::FunctionDef(function) => self.function_def(function),
            // Text about the program; Python keeps it as a value nobody uses.
            py::Stmt::Expr(expr) if expr.value.is_string_literal_expr() => {}
            py::Stmt::Assign(assign) if self.built_in(&assign.value, "dynamic").is_some() => self.dynamic(assign)?,
            other => bare.push(other),
        }
        Ok(())
    }

    /// Keeps the text of an import that the program's prefix does not say.
    fn keep_import(&mut self, stmt: &py::Stmt, is_language: bool) {
        if !is_language {
            let text = self.source.slice(stmt.start().to_usize(), stmt.end().to_usize());
            self.program.imports.push(one_line(text));
        }
    }

    /// `M = pl.dynamic("M")`.
    fn dynamic(&mut self, assign: &py::StmtAssign) -> Parse<()> {
        let name = match &assign.targets[..] {
            [py::Expr::Name(name)] => name.id.to_string(),
            _ => return Err(self.unsupported(assign, "expected one name: M = pl.dynamic(\"M\")")),
        };
        let arguments = assign.value.as_call_expr().map(|c| &*c.arguments.args);
        let text = match arguments {
            Some([py::Expr::StringLiteral(text)]) => text.value.to_str().to_owned(),
            _ => return Err(self.bad_call(&*assign.value, "expected `dynamic(\"name\")`")),
        };
        // Defined even when it is wrong, so that its uses do not complain again.
        if self.dynamic_names.insert(name.clone()) {
            self.program.dynamics.push(name.clone());
        }
        if text == name {
            return Ok(());
        }
        Err(self.bad_call(&*assign.value, format!("expected the name of the variable, \"{name}\", not \"{text}\"")))
    }

    /// A call of a function of the language's module, by its name.
    pub(super) fn built_in<'a>(&mut self, expr: &'a py::Expr, name: &str) -> Option<&'a py::ExprCall> {
        let call = expr.as_call_expr()?;
        let names = language::dotted(&call.func)?;
        let [last] = self.modules.strip(&names).unwrap_or(&names) else { return None };
        (last.strip_suffix('_').unwrap_or(last) == name && self.scopes.peek(last).is_none()).then_some(call)
    }

    fn class(&mut self, class: &py::StmtClassDef) -> Parse<()> {
        if !self.program.name.is_empty() {
            return Err(self.unsupported(&class.name, "expected one program; the text has a second class"));
        }
        self.program.name = class.name.to_string();
        let is_program = class.decorator_list.iter().all(|d| self.is_built_in_name(&d.expression, "program"));
        if class.decorator_list.len() != 1 || !is_program {
            let problem = self.unsupported(&class.name, "expected `@pl.program` in front of the class");
            self.report(problem);
        }
        if let Some(arguments) = &class.arguments {
            let problem = self.unsupported(&**arguments, "a program has no base classes");
            self.report(problem);
        }
        for stmt in &class.body {
            match stmt {
                py::Stmt::FunctionDef(function) => self.function_def(function),
                py::Stmt::Pass(_) => {}
                py::Stmt::Expr(expr) if expr.value.is_string_literal_expr() => {}
                other => {
                    let problem = self.unsupported(other, "expected functions in the program's class");
                    self.report(problem);
                }
            }
        }
        Ok(())
    }

    /// Whether an expression names a function of the module, called or not.
    pub(super) fn is_built_in_name(&mut self, expr: &py::Expr, name: &str) -> bool {
        let callee = expr.as_call_expr().map_or(expr, |call| &call.func);
        let names = language::dotted(callee).unwrap_or_default();
        self.modules.strip(&names).unwrap_or(&names) == [name]
    }
}

/// Whether statements, or blocks in them, define a name with a type.
pub(super) fn defines(body: &[py::Stmt], name: &str) -> bool {
    body.iter().any(|stmt| match stmt {
        py::Stmt::AnnAssign(assign) => assign.target.as_name_expr().is_some_and(|n| n.id.as_str() == name),
        py::Stmt::ClassDef(class) => defines(&class.body, name),
        py::Stmt::FunctionDef(function) => {
            function.parameters.args.iter().any(|p| p.parameter.name.as_str() == name) || defines(&function.body, name)
        }
        py::Stmt::For(stmt) => defines(&stmt.body, name),
        py::Stmt::While(stmt) => defines(&stmt.body, name),
        py::Stmt::With(stmt) => defines(&stmt.body, name),
        py::Stmt::If(stmt) => {
            defines(&stmt.body, name) || stmt.elif_else_clauses.iter().any(|clause| defines(&clause.body, name))
        }
        _ => false,
    })
}
