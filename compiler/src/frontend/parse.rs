//! Text to front-end IR.
//!
//! The text is parsed as Python and never executed; what it may say is PyPTO's printed form in its three notations (see
//! [`Notation`]) and the concise forms around it. Names are resolved here: an expression names variables, dynamic
//! extents, functions or symbols of the language, nothing else. Types that the text leaves out are derived where that
//! needs no knowledge of operations. What operations exist, what they take and what makes sense on a device is not
//! checked here. Problems are collected statement by statement; nothing panics on any text.
//!
//! Tests: `tests/cases/frontend`.

mod assignments;
mod branches;
mod call;
mod derive;
mod expression;
mod function;
mod guard;
pub(crate) mod language;
mod literal;
mod loops;
mod memory;
mod program;
mod scopes;
mod shaped;
mod source;
mod statement;
mod suggestions;
mod symbols;
mod types;
mod views;
mod while_loops;

use std::collections::{HashMap, HashSet};

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::{self as py, PySourceType};
use ruff_python_parser::{ParseError, parse_unchecked_source};
use ruff_text_size::Ranged;

use super::ast::{Function, Notation, Problem, Program, Span};
use language::Modules;
use scopes::Scopes;
use source::{Comments, Source};

/// How many problems are reported; more help nobody.
const MAX_PROBLEMS: usize = 100;

/// Parses a program.
///
/// # Errors
///
/// All problems that were found, in the order of the text: `PTO-0701` for what is not Python, `PTO-0702` for what is
/// not part of the language, `PTO-0703` for names, `PTO-0704` for types, `PTO-0705` for calls with wrong arguments.
pub fn parse(text: &str) -> Result<Program, Vec<Problem>> {
    let source = Source::new(text);
    let equals = guard::check(&source).map_err(|problem| vec![problem])?;
    let patched = patch(text, &equals);
    let parsed = parse_unchecked_source(patched.as_deref().unwrap_or(text), PySourceType::Python);
    if !parsed.errors().is_empty() {
        return Err(syntax_problems(&source, parsed.errors()));
    }
    let mut comments = Comments::default();
    for token in parsed.tokens().iter().filter(|t| t.kind() == TokenKind::Comment) {
        let (start, end) = (token.start().to_usize(), token.end().to_usize());
        comments.push(start, source.slice(start, end));
    }
    let mut parser = Parser::new(source, comments);
    parser.module_body = &parsed.syntax().body;
    parser.module();
    parser.finish()
}

/// Makes `memref=x` in subscripts a slice, which Python takes.
fn patch(text: &str, equals: &[usize]) -> Option<String> {
    if equals.is_empty() {
        return None;
    }
    let mut bytes = text.as_bytes().to_vec();
    for &at in equals {
        bytes[at] = b':';
    }
    String::from_utf8(bytes).ok()
}

/// What Python says. One error leads to others, so a line has one.
fn syntax_problems(source: &Source<'_>, errors: &[ParseError]) -> Vec<Problem> {
    let mut problems: Vec<Problem> = Vec::new();
    for error in errors.iter().take(MAX_PROBLEMS) {
        let span = source.span(error.location.start().to_usize());
        if problems.last().is_none_or(|p| p.span.line != span.line) {
            let message = format!("not valid Python: {}", lower_first(&error.error.to_string()));
            problems.push(Problem::new("PTO-0701", span, message));
        }
    }
    problems
}

/// Messages begin in lower case, and quote no control characters.
fn lower_first(message: &str) -> String {
    let mut letters = message.chars();
    let first = letters.next().into_iter().flat_map(char::to_lowercase);
    first.chain(letters.flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })).collect()
}

/// How many blocks of a function may be inside each other. An `elif` is a block more.
const MAX_BLOCKS: usize = 60;

/// The result of reading one thing.
type Parse<T> = Result<T, Problem>;

/// What the text has shown of its notation.
#[derive(Default)]
struct Seen {
    older: bool,
    shorthand: bool,
}

/// What reads a text.
struct Parser<'t> {
    source: Source<'t>,
    comments: Comments,
    modules: Modules,
    seen: Seen,
    problems: Vec<Problem>,
    program: Program,
    /// The statements of the text.
    module_body: &'t [py::Stmt],
    /// Names of all functions of the program.
    function_names: HashSet<String>,
    /// Those of the program's dynamic extents.
    dynamic_names: HashSet<String>,
    /// Where the functions that are read already stand.
    functions_at: HashMap<String, Span>,
    /// The function that is being read.
    function: Function,
    /// Its names.
    scopes: Scopes,
    /// How many blocks are open.
    depth: usize,
    /// Whether names without definition are variables (statements without function).
    free_names: bool,
    /// Whether the signature is being read.
    in_signature: bool,
    /// Extents that the signature names and nothing of the function defines.
    outer_extents: Vec<String>,
}

impl<'t> Parser<'t> {
    fn new(source: Source<'t>, comments: Comments) -> Self {
        Self {
            source,
            comments,
            modules: Modules::default(),
            seen: Seen::default(),
            problems: Vec::new(),
            program: Program::default(),
            module_body: &[],
            function_names: HashSet::new(),
            dynamic_names: HashSet::new(),
            functions_at: HashMap::new(),
            function: Function::default(),
            scopes: Scopes::new(),
            depth: 0,
            free_names: false,
            in_signature: false,
            outer_extents: Vec::new(),
        }
    }

    fn finish(mut self) -> Result<Program, Vec<Problem>> {
        if !self.problems.is_empty() {
            self.problems.sort_by_key(|p| p.span);
            return Err(self.problems);
        }
        self.program.prefix = self.modules.prefix();
        self.program.notation = match (self.seen.shorthand, self.seen.older) {
            (true, _) => Notation::Shorthand,
            (false, true) => Notation::Older,
            (false, false) => Notation::Today,
        };
        Ok(self.program)
    }

    /// Where a node begins.
    fn span(&self, node: &impl Ranged) -> Span {
        self.source.span(node.start().to_usize())
    }

    /// Keeps a problem.
    fn report(&mut self, problem: Problem) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }

    /// Keeps the problem of what failed.
    fn keep<T>(&mut self, result: Parse<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(problem) => {
                self.report(problem);
                None
            }
        }
    }

    /// A construct that is not part of the language.
    fn unsupported(&self, node: &impl Ranged, message: impl Into<String>) -> Problem {
        Problem::new("PTO-0702", self.span(node), message)
    }

    /// A call of a wrong form.
    fn bad_call(&self, node: &impl Ranged, message: impl Into<String>) -> Problem {
        Problem::new("PTO-0705", self.span(node), message)
    }

    /// A type of a wrong form.
    fn bad_type(&self, node: &impl Ranged, message: impl Into<String>) -> Problem {
        Problem::new("PTO-0704", self.span(node), message)
    }

    /// Whether no more problems are kept, so that reading on is pointless.
    fn is_full(&self) -> bool {
        self.problems.len() >= MAX_PROBLEMS
    }
}

/// The names that a pattern of names binds: `a`, `(a, b)`.
fn names_of(target: &py::Expr) -> Option<Vec<&py::ExprName>> {
    match target {
        py::Expr::Name(name) => Some(vec![name]),
        py::Expr::Tuple(tuple) => tuple.elts.iter().map(|e| e.as_name_expr()).collect(),
        _ => None,
    }
}
