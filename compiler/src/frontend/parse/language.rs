//! The names that the language has by itself, and how a text calls its module.
//!
//! Which operations exist is not known here; only their namespaces are.

use ruff_python_ast as py;

use crate::frontend::ast::{DataType, MemorySpace};

/// What PyPTO's language module is called.
const MODULE: &str = "pypto.language";

/// Functions of the module itself. Any other unqualified name is an operation on tiles.
const BUILT_INS: &[&str] = &[
    "MemRef",
    "TensorView",
    "TileView",
    "at",
    "auto_incore",
    "auto_scope",
    "cast",
    "cluster",
    "cond",
    "const",
    "dynamic",
    "func_attr",
    "function",
    "incore",
    "manual_scope",
    "max",
    "min",
    "parallel",
    "pipeline",
    "program",
    "range",
    "scope",
    "split_aiv",
    "spmd",
    "spmd_submit",
    "submit",
    "unroll",
    "while",
    "yield",
];

/// Where operations live.
pub(super) const NAMESPACES: &[&str] =
    &["tile", "tensor", "system", "array", "prefetch", "builtin", "dist", "test", "debug"];

/// Enumerations, for names that stand without the module.
const ENUMERATIONS: &[&str] = &[
    "AtomicType",
    "CompactMode",
    "CoreType",
    "FunctionType",
    "Level",
    "Mem",
    "MemorySpace",
    "PadValue",
    "PipeType",
    "Role",
    "ScopeMode",
    "SplitMode",
    "TensorLayout",
    "TileLayout",
];

/// Types.
pub(super) const TYPES: &[&str] =
    &["Scalar", "Tensor", "Tile", "Array", "Tuple", "Ptr", "MemRefType", "UnknownType", "Out", "InOut", "In"];

/// Modules that need no import.
const OTHER_MODULES: &[&str] = &["pld"];

/// Words of Python that carry an underscore as names of operations.
const KEYWORDS: &[&str] = &[
    "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except",
    "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise",
    "return", "try", "while", "with", "yield",
];

/// Whether a word is one of Python's.
pub(crate) fn is_keyword(word: &str) -> bool {
    KEYWORDS.binary_search(&word).is_ok()
}

/// The last name of an operation without the underscore that keeps it apart from Python's keywords.
fn plain(name: &str) -> &str {
    name.strip_suffix('_').filter(|word| is_keyword(word)).unwrap_or(name)
}

/// The name behind an expression of names and dots.
pub(super) fn dotted(expr: &py::Expr) -> Option<Vec<&str>> {
    let mut names = Vec::new();
    let mut expr = expr;
    loop {
        match expr {
            py::Expr::Name(name) => {
                names.push(name.id.as_str());
                names.reverse();
                return Some(names);
            }
            py::Expr::Attribute(attribute) => {
                names.push(attribute.attr.as_str());
                expr = &attribute.value;
            }
            _ => return None,
        }
    }
}

/// How a text calls modules.
#[derive(Default)]
pub(super) struct Modules {
    /// What the language's module is called; empty until an import says it.
    alias: Vec<String>,
    /// Other modules.
    others: Vec<String>,
    /// Whether a name stood behind the module's.
    pub(super) prefix_used: bool,
}

impl Modules {
    /// Takes `import a.b as c`. Whether that was the language's module.
    pub(super) fn import(&mut self, module: &str, alias: Option<&str>) -> bool {
        if module == MODULE {
            self.alias = alias.unwrap_or(module).split('.').map(str::to_owned).collect();
            return true;
        }
        let name = alias.unwrap_or_else(|| module.split('.').next().unwrap_or(module));
        self.others.push(name.to_owned());
        false
    }

    /// Takes one name of `from a import b as c`. Whether that was the language's module.
    pub(super) fn import_from(&mut self, module: &str, name: &str, alias: Option<&str>) -> bool {
        if module == "pypto" && name == "language" {
            self.alias = vec![alias.unwrap_or(name).to_owned()];
            return true;
        }
        if module != MODULE {
            self.others.push(alias.unwrap_or(name).to_owned());
        }
        false
    }

    /// Whether an import gives the language's module a name.
    pub(super) fn is_imported(&self) -> bool {
        !self.alias.is_empty()
    }

    /// The module's name for the program.
    pub(super) fn prefix(&self) -> String {
        match (self.alias.is_empty(), self.prefix_used) {
            (false, _) => self.alias.join("."),
            (true, true) => "pl".to_owned(),
            (true, false) => String::new(),
        }
    }

    /// What stands behind the module's name.
    pub(super) fn strip<'a, 'n>(&mut self, names: &'a [&'n str]) -> Option<&'a [&'n str]> {
        let rest = if self.alias.is_empty() {
            names.strip_prefix(&["pl"]).filter(|_| !self.is_other("pl"))
        } else if names.len() > self.alias.len() && names.iter().zip(&self.alias).all(|(a, b)| a == b) {
            Some(&names[self.alias.len()..])
        } else {
            None
        }?;
        self.prefix_used |= !rest.is_empty();
        Some(rest)
    }

    /// Whether a name is another module's.
    pub(super) fn is_other(&self, name: &str) -> bool {
        OTHER_MODULES.contains(&name) || self.others.iter().any(|m| m == name)
    }
}

/// An operation by what stands behind the module's name.
pub(super) fn operation(names: &[&str]) -> Option<String> {
    match names {
        [name] if is_built_in(plain(name)) => Some(plain(name).to_owned()),
        [name] => Some(format!("tile.{}", plain(name))),
        [namespace, .., name] if NAMESPACES.contains(namespace) => {
            let path = names[..names.len() - 1].join(".");
            Some(format!("{path}.{}", plain(name)))
        }
        _ => None,
    }
}

/// An operation of another module.
pub(super) fn foreign_operation(names: &[&str]) -> String {
    match names {
        [path @ .., name] if !path.is_empty() => format!("{}.{}", path.join("."), plain(name)),
        _ => names.join("."),
    }
}

/// Whether the module itself has a function of a name.
pub(super) fn is_built_in(name: &str) -> bool {
    BUILT_INS.binary_search(&name).is_ok()
}

/// What a name is that stands for itself: `FP32`, `Mem.Vec`.
pub(super) enum Symbol {
    /// A name of the language.
    Known(String),
    /// A member that its enumeration does not have, and those it has.
    NoMember(&'static str, &'static [&'static str]),
    /// None.
    Unknown,
}

/// A name behind the module's that stands for itself.
pub(super) fn symbol(names: &[&str]) -> Symbol {
    match names {
        [name] if DataType::by_name(name).is_some() => Symbol::Known((*name).to_owned()),
        [name] if MemorySpace::by_name(name).is_some() => Symbol::Known(format!("Mem.{name}")),
        [name] if TYPES.contains(name) || ENUMERATIONS.contains(name) => Symbol::Known((*name).to_owned()),
        // Layouts of tensors have short names.
        [name @ ("ND" | "DN" | "NZ")] => Symbol::Known(format!("TensorLayout.{name}")),
        ["Mem" | "MemorySpace", name] if MemorySpace::by_name(name).is_none() => {
            Symbol::NoMember("Mem", MemorySpace::NAMES)
        }
        ["Mem" | "MemorySpace", name] => Symbol::Known(format!("Mem.{name}")),
        ["DataType", name] if DataType::by_name(name).is_some() => Symbol::Known((*name).to_owned()),
        [root, _, ..] if root.starts_with(|c: char| c.is_ascii_uppercase()) => Symbol::Known(names.join(".")),
        _ => Symbol::Unknown,
    }
}

/// The same for a name that stands without the module; names that only look like enumerations are not taken.
pub(super) fn bare_symbol(names: &[&str]) -> Symbol {
    match names {
        [root, _, ..] if !ENUMERATIONS.contains(root) => Symbol::Unknown,
        _ => symbol(names),
    }
}

/// Names of the language that a name may have been meant to be.
pub(super) fn candidates() -> impl Iterator<Item = &'static str> {
    [BUILT_INS, NAMESPACES, ENUMERATIONS, TYPES, DataType::NAMES, MemorySpace::NAMES].into_iter().flatten().copied()
}

#[cfg(test)]
mod tests {
    use super::{BUILT_INS, KEYWORDS, operation};

    #[test]
    fn tables_are_sorted() {
        assert!(BUILT_INS.is_sorted());
        assert!(KEYWORDS.is_sorted());
    }

    #[test]
    fn operations_lose_their_underscore() {
        assert_eq!(operation(&["tile", "and_"]).as_deref(), Some("tile.and"));
        assert_eq!(operation(&["yield_"]).as_deref(), Some("yield"));
        assert_eq!(operation(&["load"]).as_deref(), Some("tile.load"));
        assert_eq!(operation(&["tile", "load_"]).as_deref(), Some("tile.load_"));
        assert_eq!(operation(&["tiel", "load"]), None);
    }
}
