//! What names mean in expressions: variables, dynamic extents, functions, symbols of the language.

use ruff_python_ast as py;
use ruff_text_size::Ranged;

use super::language::{self, Symbol};
use super::scopes::Found;
use super::suggestions::suggest;
use super::{Parse, Parser, program};
use crate::frontend::ast::{ExprKind, Problem, Span, Type, VarId};

impl Parser<'_> {
    /// A name without dots.
    pub(super) fn name(&mut self, name: &py::ExprName) -> Parse<ExprKind> {
        let (text, span) = (name.id.as_str(), self.span(name));
        match self.scopes.find(text, span) {
            Found::Var(var) => return Ok(ExprKind::Var(var)),
            Found::Clobbered(at) => return Err(clobbered(text, span, at)),
            Found::Elsewhere(_) | Found::Nothing => {}
        }
        if self.dynamic_names.contains(text) {
            return Ok(ExprKind::Dynamic(text.to_owned()));
        }
        if self.is_outer_extent(text) {
            return Ok(ExprKind::Dynamic(text.to_owned()));
        }
        if let Symbol::Known(symbol) = language::bare_symbol(&[text]) {
            self.seen.shorthand |= symbol.starts_with("Mem.");
            return Ok(ExprKind::Symbol(symbol));
        }
        if self.function_names.contains(text) {
            return Ok(ExprKind::Function(text.to_owned()));
        }
        if self.free_names {
            return Ok(ExprKind::Var(self.free_variable(text, span)));
        }
        Err(self.unknown_name(text, span))
    }

    /// Whether a name is an extent that a caller computes. A kernel that was taken out of a function names the extents
    /// of its tensors as that function does; printed alone, they end in `__FREE_VAR`.
    fn is_outer_extent(&mut self, name: &str) -> bool {
        if self.outer_extents.iter().any(|e| e == name) {
            return true;
        }
        let outer = self.in_signature && (name.ends_with("__FREE_VAR") || program::defines(self.module_body, name));
        if outer {
            self.outer_extents.push(name.to_owned());
        }
        outer
    }

    /// Names with dots.
    pub(super) fn path(&mut self, attribute: &py::ExprAttribute) -> Parse<ExprKind> {
        let expr = &*attribute.value;
        let Some(mut names) = language::dotted(expr) else {
            return Err(self.no_attributes(attribute));
        };
        names.push(attribute.attr.as_str());
        if names[0] == "self" && names.len() == 2 {
            return self.program_function(names[1], self.span(&attribute.attr)).map(ExprKind::Function);
        }
        if self.scopes.peek(names[0]).is_some() {
            return Err(self.no_attributes(attribute));
        }
        let found = match self.modules.strip(&names) {
            Some(rest) => language::symbol(rest),
            None if self.modules.is_other(names[0]) => Symbol::Known(names.join(".")),
            None => language::bare_symbol(&names),
        };
        match found {
            Symbol::Known(symbol) => Ok(ExprKind::Symbol(symbol)),
            Symbol::NoMember(of, members) => {
                let message = format!("`{of}` has no `{}`; expected one of {}", attribute.attr, members.join(", "));
                Err(self.bad_type(attribute, message))
            }
            Symbol::Unknown => Err(self.unknown_path(&names, attribute)),
        }
    }

    fn no_attributes(&self, attribute: &py::ExprAttribute) -> Problem {
        let message = format!("values have no attributes (`.{}`); expected an operation on the value", attribute.attr);
        self.unsupported(attribute, message)
    }

    /// A function of the program by its name.
    pub(super) fn program_function(&self, name: &str, span: Span) -> Parse<String> {
        if self.function_names.contains(name) {
            return Ok(name.to_owned());
        }
        let problem = Problem::new("PTO-0703", span, format!("the program has no function `{name}`"));
        Err(suggest(problem, name, self.function_names.iter().map(String::as_str)))
    }

    /// A variable for a name that nothing defines.
    fn free_variable(&mut self, name: &str, span: Span) -> VarId {
        let var = self.function.add_var(name, Type::Unknown, span);
        self.function.var_mut(var).annotated = false;
        self.scopes.define_outside(name, var, span);
        var
    }

    /// The problem of a name that is not visible.
    pub(super) fn unknown_name(&mut self, name: &str, span: Span) -> Problem {
        if let Found::Elsewhere(at) = self.scopes.find(name, span) {
            let message = format!("`{name}` is not visible here: it is defined in another block");
            return Problem::new("PTO-0703", span, message)
                .note(at, format!("`{name}` is defined here"))
                .help("values leave a block by `pl.yield_` at its end");
        }
        let problem = Problem::new("PTO-0703", span, format!("unknown name `{name}`"));
        let names = self.scopes.visible().into_iter().chain(self.program.dynamics.iter().map(String::as_str));
        // Where the module has a name, its names do not stand alone.
        let language = language::candidates().filter(|_| !self.modules.is_imported()).map(|c| -> &str { c });
        suggest(problem, name, names.chain(language))
    }

    fn unknown_path(&mut self, names: &[&str], node: &impl Ranged) -> Problem {
        let span = self.span(node);
        let Some(rest) = self.modules.strip(names) else {
            return self.unknown_name(names[0], span);
        };
        let Some(&name) = rest.first() else {
            return Problem::new("PTO-0702", span, "expected a name of the language behind the module's name");
        };
        let problem = Problem::new("PTO-0703", span, format!("the language has no name `{}`", rest.join(".")));
        suggest(problem, name, language::candidates())
    }
}

/// The problem of a name that a block gave anew without a yield.
fn clobbered(name: &str, span: Span, at: Span) -> Problem {
    let message = format!("`{name}` may have two values here: a block in front gives it anew without yielding it");
    Problem::new("PTO-0703", span, message)
        .note(at, format!("`{name}` is given anew here"))
        .help(format!("yield it from the block (`{name} = pl.yield_(...)`), or use another name inside"))
}
