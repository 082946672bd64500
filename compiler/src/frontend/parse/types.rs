//! Types. Those with a shape are next door.

use ruff_python_ast as py;
use ruff_text_size::Ranged;

use super::language;
use super::source::one_line;
use super::suggestions::{self, suggest};
use super::{Parse, Parser};
use crate::frontend::ast::{DataType, Direction, Problem, Type};

impl Parser<'_> {
    /// The type of a parameter.
    pub(super) fn param_type(&mut self, annotation: &py::Expr) -> Parse<(Direction, Type)> {
        if let py::Expr::Subscript(subscript) = annotation {
            let direction = match self.type_name(&subscript.value).as_deref() {
                Some("Out") => Some(Direction::Out),
                Some("InOut") => Some(Direction::InOut),
                Some("In") => Some(Direction::In),
                _ => None,
            };
            if let Some(direction) = direction {
                return Ok((direction, self.ty(&subscript.slice)?));
            }
        }
        Ok((Direction::In, self.ty(annotation)?))
    }

    /// What a function returns.
    pub(super) fn return_types(&mut self, annotation: &py::Expr) -> Parse<Vec<Type>> {
        if let py::Expr::Subscript(subscript) = annotation
            && subscript.value.as_name_expr().is_some_and(|n| n.id.as_str() == "tuple")
        {
            return elements(&subscript.slice).iter().map(|e| self.ty(e)).collect();
        }
        if annotation.is_none_literal_expr() {
            return Ok(Vec::new());
        }
        Ok(vec![self.ty(annotation)?])
    }

    /// A type.
    pub(super) fn ty(&mut self, annotation: &py::Expr) -> Parse<Type> {
        match annotation {
            py::Expr::Subscript(subscript) => self.type_with_brackets(subscript),
            py::Expr::Name(_) | py::Expr::Attribute(_) => self.plain_type(annotation),
            _ => Err(self.expected_type(annotation)),
        }
    }

    fn expected_type(&self, node: &impl Ranged) -> Problem {
        let message =
            "expected a type: Tile[[rows, columns], FP32], Tensor[...], Scalar[...], Array[...], Tuple[...], Ptr";
        self.bad_type(node, message)
    }

    /// The name of a type without the module's; with its own for other modules.
    pub(super) fn type_name(&mut self, expr: &py::Expr) -> Option<String> {
        let names = language::dotted(expr)?;
        match self.modules.strip(&names) {
            Some(rest) => Some(rest.join(".")),
            None => Some(names.join(".")),
        }
    }

    fn plain_type(&mut self, annotation: &py::Expr) -> Parse<Type> {
        let Some(name) = self.type_name(annotation) else { return Err(self.expected_type(annotation)) };
        match name.as_str() {
            "Ptr" => Ok(Type::Ptr),
            "MemRefType" => {
                self.seen.older = true;
                Ok(Type::MemRef)
            }
            "UnknownType" => Ok(Type::Unknown),
            "Tile" | "Tensor" | "Scalar" | "Array" | "Tuple" | "tuple" => {
                Err(self.bad_type(annotation, format!("`{name}` needs arguments: {}", form_of(&name))))
            }
            _ => self.other_type(&name, annotation),
        }
    }

    /// A type that we only pass on.
    fn other_type(&mut self, name: &str, annotation: &impl Ranged) -> Parse<Type> {
        let root = name.split('.').next().unwrap_or(name);
        let marker =
            !name.contains('.') && ["Type", "Tensor", "Ctx", "Event", "Session"].iter().any(|e| name.ends_with(e));
        if !self.modules.is_other(root) && !marker {
            let span = self.span(annotation);
            if DataType::by_name(name).is_some() {
                let message = format!("`{name}` is an element; expected `Scalar[{name}]`");
                return Err(Problem::new("PTO-0704", span, message));
            }
            let problem = Problem::new("PTO-0704", span, format!("unknown type `{name}`"));
            return Err(suggest(problem, name, language::TYPES.iter().copied()));
        }
        let (start, end) = (annotation.start().to_usize(), annotation.end().to_usize());
        let text = one_line(self.source.slice(start, end));
        Ok(Type::Other(text.strip_prefix(&format!("{}.", self.modules.prefix())).unwrap_or(&text).to_owned()))
    }

    fn type_with_brackets(&mut self, subscript: &py::ExprSubscript) -> Parse<Type> {
        let Some(name) = self.type_name(&subscript.value) else { return Err(self.expected_type(subscript)) };
        let arguments = elements(&subscript.slice);
        match name.as_str() {
            "Scalar" => match arguments {
                [dtype] => Ok(Type::Scalar(self.data_type(dtype)?)),
                _ => Err(self.wrong_form(subscript, &name)),
            },
            "Array" => match arguments {
                [extent, dtype] => {
                    let extent = self.natural(extent, "how many elements the array has")?;
                    Ok(Type::Array(extent, self.data_type(dtype)?))
                }
                _ => Err(self.wrong_form(subscript, &name)),
            },
            "Tuple" | "tuple" => Ok(Type::Tuple(arguments.iter().map(|a| self.ty(a)).collect::<Parse<_>>()?)),
            "Tile" => self.tile_type(subscript),
            "Tensor" => self.tensor_type(subscript),
            "Out" | "InOut" | "In" => {
                Err(self.bad_type(subscript, format!("`{name}` stands outermost in the type of a parameter only")))
            }
            _ => self.other_type(&name, subscript),
        }
    }

    pub(super) fn wrong_form(&self, node: &impl Ranged, name: &str) -> Problem {
        self.bad_type(node, format!("expected {}", form_of(name)))
    }

    /// An element's type.
    pub(super) fn data_type(&mut self, expr: &py::Expr) -> Parse<DataType> {
        let names = language::dotted(expr).unwrap_or_default();
        let rest = self.modules.strip(&names).unwrap_or(&names);
        let rest = rest.strip_prefix(&["DataType"]).unwrap_or(rest);
        if let [name] = rest {
            if let Some(dtype) = DataType::by_name(name) {
                return Ok(dtype);
            }
            let message = format!("unknown element type `{name}`; expected one of {}", DataType::NAMES.join(", "));
            let problem = self.bad_type(expr, message);
            return Err(match suggestions::element_elsewhere(name) {
                Some(ours) => problem.help(format!("did you mean `{ours}`?")),
                None => suggest(problem, name, DataType::NAMES.iter().copied()),
            });
        }
        Err(self.bad_type(expr, format!("expected an element type, one of {}", DataType::NAMES.join(", "))))
    }
}

/// How a type is written.
fn form_of(name: &str) -> &'static str {
    match name {
        "Scalar" => "`Scalar[type]`",
        "Array" => "`Array[elements, type]`",
        "Tuple" | "tuple" => "`Tuple[type, ...]`",
        "Tensor" => "`Tensor[[extents], type, view, memory]`: shape and element, then optionally view and memory",
        _ => {
            "`Tile[[rows, columns], type, memory, space, view]`: shape and element, then optionally memory, space and view"
        }
    }
}

/// The arguments in brackets.
pub(super) fn elements(slice: &py::Expr) -> &[py::Expr] {
    match slice {
        py::Expr::Tuple(tuple) if !tuple.parenthesized => &tuple.elts,
        other => std::slice::from_ref(other),
    }
}
