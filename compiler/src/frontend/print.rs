//! Front-end IR to text, as PyPTO's own printer writes it.
//!
//! One line a statement, in the program's notation and under its name for the language's module. What is printed can be
//! parsed again and then prints the same. Types stand where the text said them ([`Var::annotated`]) and where the
//! language has a place for them. Names are printed as they are: whoever adds a variable gives it a name of its own.
//!
//! Tests: `tests/cases/frontend/roundtrip`.

mod expression;
mod number;
mod statement;
mod types;

use super::ast::{Direction, Function, FunctionKind, Param, Program, Type, Var, VarId};
use expression::Quotes;

/// Prints a program.
pub fn print(program: &Program) -> String {
    let mut printer = Printer::new(program);
    printer.header();
    for function in &program.functions {
        printer.function(function);
    }
    printer.out
}

/// What has one program to print.
struct Printer<'p> {
    program: &'p Program,
    /// The function that is being printed.
    function: &'p Function,
    /// Modules whose names stand by themselves.
    others: Vec<&'p str>,
    out: String,
}

impl<'p> Printer<'p> {
    fn new(program: &'p Program) -> Self {
        static NOTHING: Function = Function {
            name: String::new(),
            kind: FunctionKind::Opaque,
            bare: false,
            decorations: Vec::new(),
            has_self: false,
            params: Vec::new(),
            returns: None,
            attributes: None,
            body: None,
            vars: Vec::new(),
            span: super::ast::Span { line: 0, column: 0 },
        };
        let others = program.imports.iter().flat_map(|i| imported_names(i)).chain(["pld"]).collect();
        Self { program, function: &NOTHING, others, out: String::new() }
    }

    fn is_class(&self) -> bool {
        !self.program.name.is_empty()
    }

    /// A name of the language behind its module's.
    fn language(&self, name: &str) -> String {
        let root = name.split('.').next().unwrap_or(name);
        if self.program.prefix.is_empty() || self.others.contains(&root) {
            return name.to_owned();
        }
        format!("{}.{name}", self.program.prefix)
    }

    fn name(&self, var: VarId) -> &'p str {
        &self.function.var(var).name
    }

    fn names(&self, vars: &[VarId]) -> String {
        vars.iter().map(|&v| self.name(v)).collect::<Vec<_>>().join(", ")
    }

    fn line(&mut self, depth: usize, text: &str) {
        for _ in 0..depth {
            self.out.push_str("    ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// What stands in front of the functions.
    fn header(&mut self) {
        let Program { name, prefix, imports, dynamics, .. } = self.program;
        if self.is_class() {
            self.line(0, &format!("# pypto.program: {name}"));
        }
        match prefix.as_str() {
            "" => {}
            "pypto.language" => self.line(0, "import pypto.language"),
            _ => self.line(0, &format!("import pypto.language as {prefix}")),
        }
        for import in imports {
            self.line(0, import);
        }
        self.gap();
        let function = self.language("dynamic");
        for name in dynamics {
            self.line(0, &format!("{name} = {function}(\"{name}\")"));
        }
        if !dynamics.is_empty() {
            self.gap();
        }
        if self.is_class() {
            let decorator = self.language("program");
            self.line(0, &format!("@{decorator}"));
            self.line(0, &format!("class {name}:"));
            if self.program.functions.is_empty() {
                self.line(1, "pass");
            }
        }
    }

    /// An empty line between parts.
    fn gap(&mut self) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
    }

    fn function(&mut self, function: &'p Function) {
        self.function = function;
        if function.bare {
            self.block(0, function.body.as_deref().unwrap_or_default(), &[]);
            return;
        }
        let depth = usize::from(self.is_class());
        let decorator = self.decorator();
        self.line(depth, &decorator);
        let signature = self.signature();
        self.line(depth, &signature);
        if let Some(attributes) = &function.attributes {
            let text = format!("{}({})", self.language("func_attr"), self.quoted(attributes, Quotes::Double));
            self.line(depth + 1, &text);
        }
        match &function.body {
            None => self.line(depth + 1, "..."),
            // The attributes alone are a body to Python.
            Some(body) if body.is_empty() && function.attributes.is_some() => {}
            Some(body) => self.block(depth + 1, body, &[]),
        }
    }

    fn decorator(&self) -> String {
        let mut arguments = Vec::new();
        if self.function.kind != FunctionKind::Opaque {
            arguments.push(format!("type={}", self.language(&format!("FunctionType.{}", self.function.kind))));
        }
        for (name, value) in &self.function.decorations {
            arguments.push(format!("{name}={}", self.quoted(value, Quotes::Double)));
        }
        let name = self.language("function");
        if arguments.is_empty() { format!("@{name}") } else { format!("@{name}({})", arguments.join(", ")) }
    }

    fn signature(&self) -> String {
        let mut params: Vec<String> = Vec::new();
        if self.function.has_self {
            params.push("self".to_owned());
        }
        params.extend(self.function.params.iter().map(|p| self.param(p)));
        let returns = match self.function.returns.as_deref() {
            None => String::new(),
            Some([ty]) => format!(" -> {}", self.ty(ty)),
            Some([]) => " -> None".to_owned(),
            Some(types) => format!(" -> tuple[{}]", self.types(types)),
        };
        format!("def {}({}){returns}:", self.function.name, params.join(", "))
    }

    fn param(&self, param: &Param) -> String {
        let Var { name, ty, .. } = self.function.var(param.var);
        let ty = self.ty(ty);
        match param.direction {
            Direction::In => format!("{name}: {ty}"),
            Direction::Out => format!("{name}: {}[{ty}]", self.language("Out")),
            Direction::InOut => format!("{name}: {}[{ty}]", self.language("InOut")),
        }
    }

    fn types(&self, types: &[Type]) -> String {
        types.iter().map(|t| self.ty(t)).collect::<Vec<_>>().join(", ")
    }
}

/// Names that an import gives to things of other modules.
fn imported_names(import: &str) -> Vec<&str> {
    let (list, from) = match import.split_once(" import ") {
        Some((_, list)) => (list, true),
        None => (import.strip_prefix("import ").unwrap_or(import), false),
    };
    // Names of the language itself are known.
    if from && import.starts_with("from pypto.language import ") {
        return Vec::new();
    }
    let list = list.trim_matches(['(', ')']);
    let names = list.split(',').map(|item| match item.split_once(" as ") {
        Some((_, alias)) => alias.trim(),
        None => item.trim().split('.').next().unwrap_or_default(),
    });
    names.filter(|n| !n.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::print;
    use crate::frontend::parse::parse;
    use std::{fs, path::Path};

    /// Every program of the tests' folder, in all notations.
    #[test]
    fn what_is_printed_reads_back_the_same() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/frontend");
        let mut read = 0;
        for part in ["roundtrip", "lower"] {
            for entry in fs::read_dir(folder.join(part)).expect("the cases are there") {
                let path = entry.expect("a readable folder").path();
                let text = fs::read_to_string(&path).expect("a readable case");
                let once = print(&parse(&text).unwrap_or_else(|e| panic!("{}: {e:?}", path.display())));
                let twice = print(&parse(&once).unwrap_or_else(|e| panic!("{}: {e:?}\n{once}", path.display())));
                assert_eq!(once, twice, "{}", path.display());
                read += 1;
            }
        }
        assert!(read > 10);
    }
}
