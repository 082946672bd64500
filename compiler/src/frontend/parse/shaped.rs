//! Types with a shape: tiles and tensors, with their memory, space and view.

use ruff_python_ast as py;

use super::language::{self, Symbol};
use super::types::elements;
use super::{Parse, Parser};
use crate::frontend::ast::{DataType, Expr, ExprKind, MemRef, MemorySpace, TensorType, TensorView, TileType, Type};

/// One argument inside the brackets of a type.
struct Argument<'a> {
    /// `memref` in `memref=x`.
    name: Option<&'a str>,
    value: &'a py::Expr,
}

/// What the brackets hold behind shape and element.
enum Extra {
    Space(MemorySpace),
    Layout(String),
    TileView,
    TensorView,
    MemRef,
}

impl Parser<'_> {
    /// Shape and element of a tile or tensor, and what else the brackets hold.
    fn shape_and_element<'a>(
        &mut self,
        subscript: &'a py::ExprSubscript,
        name: &str,
    ) -> Parse<(Vec<Expr>, DataType, Vec<Argument<'a>>)> {
        let [shape, dtype, rest @ ..] = elements(&subscript.slice) else {
            return Err(self.wrong_form(subscript, name));
        };
        let (py::Expr::List(py::ExprList { elts, .. }) | py::Expr::Tuple(py::ExprTuple { elts, .. })) = shape else {
            return Err(self.bad_type(shape, "expected the shape: a list of extents in elements"));
        };
        let shape = elts.iter().map(|e| self.extent(e)).collect::<Parse<_>>()?;
        let dtype = self.data_type(dtype)?;
        let rest = rest.iter().map(|e| self.argument(e)).collect::<Parse<_>>()?;
        Ok((shape, dtype, rest))
    }

    /// One extent of a shape.
    pub(super) fn extent(&mut self, expr: &py::Expr) -> Parse<Expr> {
        let extent = self.expr(expr)?;
        match &extent.kind {
            ExprKind::Int(value, _) if *value < 0 => {
                Err(self.bad_type(expr, format!("an extent counts elements and cannot be {value}")))
            }
            ExprKind::Float(..)
            | ExprKind::Str(_)
            | ExprKind::Bool(_)
            | ExprKind::Null
            | ExprKind::Symbol(_)
            | ExprKind::List(_)
            | ExprKind::Tuple(_)
            | ExprKind::Dict(_) => {
                Err(self.bad_type(expr, "expected an extent: an integer, or an expression of integers"))
            }
            _ => Ok(extent),
        }
    }

    fn argument<'a>(&self, expr: &'a py::Expr) -> Parse<Argument<'a>> {
        match expr {
            py::Expr::Slice(slice) => match (slice.lower.as_deref(), slice.upper.as_deref(), &slice.step) {
                (Some(py::Expr::Name(name)), Some(value), None) => Ok(Argument { name: Some(name.id.as_str()), value }),
                _ => Err(self.bad_type(expr, "expected name=value")),
            },
            value => Ok(Argument { name: None, value }),
        }
    }

    /// `Tile[...]`.
    pub(super) fn tile_type(&mut self, subscript: &py::ExprSubscript) -> Parse<Type> {
        let (shape, dtype, rest) = self.shape_and_element(subscript, "Tile")?;
        let mut tile = TileType { shape, dtype, memref: None, space: None, view: None };
        for argument in rest {
            let value = argument.value;
            let twice = match self.extra(&argument)? {
                Extra::Space(space) => tile.space.replace(space).is_some(),
                Extra::TileView => {
                    let view = self.tile_view(value)?;
                    tile.view.replace(view).is_some()
                }
                Extra::MemRef => {
                    let memref = self.memref(value)?;
                    tile.memref.replace(memref).is_some()
                }
                Extra::TensorView | Extra::Layout(_) => {
                    return Err(self.bad_type(value, "a tile has a `TileView`, tensors have a `TensorView` and layout"));
                }
            };
            if twice {
                return Err(self.bad_type(value, "a tile has one memory, one space and one view"));
            }
        }
        if let Some(MemRef::Whole(_)) = tile.memref {
            self.seen.older = true;
        }
        Ok(Type::Tile(Box::new(tile)))
    }

    /// `Tensor[...]`.
    pub(super) fn tensor_type(&mut self, subscript: &py::ExprSubscript) -> Parse<Type> {
        let (shape, dtype, rest) = self.shape_and_element(subscript, "Tensor")?;
        let mut tensor = TensorType { shape, dtype, view: None, memref: None };
        for argument in rest {
            let value = argument.value;
            let twice = match self.extra(&argument)? {
                Extra::TensorView => {
                    let view = self.tensor_view(value)?;
                    tensor.view.replace(view).is_some()
                }
                Extra::Layout(layout) => {
                    let view = TensorView { layout: Some(layout), ..TensorView::default() };
                    tensor.view.replace(view).is_some()
                }
                Extra::MemRef => {
                    let memref = self.memref(value)?;
                    tensor.memref.replace(memref).is_some()
                }
                Extra::TileView | Extra::Space(_) => {
                    return Err(
                        self.bad_type(value, "tensors lie in global memory and have a `TensorView` and a `MemRef`")
                    );
                }
            };
            if twice {
                return Err(self.bad_type(value, "a tensor has one view and one memory"));
            }
        }
        Ok(Type::Tensor(Box::new(tensor)))
    }

    /// What an argument behind shape and element is.
    fn extra(&mut self, argument: &Argument<'_>) -> Parse<Extra> {
        match argument.name {
            Some("memref") => {
                self.seen.shorthand = true;
                return Ok(Extra::MemRef);
            }
            Some("memory_space" | "target_memory" | "space" | "view" | "tile_view" | "tensor_view") | None => {}
            Some(name) => {
                let message = format!("unknown keyword `{name}`; expected memref, memory_space or view");
                return Err(self.bad_type(argument.value, message));
            }
        }
        let value = match argument.value {
            py::Expr::Call(call) => &*call.func,
            py::Expr::Subscript(subscript) => match &*subscript.value {
                py::Expr::Call(call) => &*call.func,
                other => other,
            },
            other => other,
        };
        if matches!(argument.value, py::Expr::Call(_) | py::Expr::Subscript(_)) {
            return match self.type_name(value).as_deref() {
                Some("MemRef") => Ok(Extra::MemRef),
                Some("TileView") => Ok(Extra::TileView),
                Some("TensorView") => Ok(Extra::TensorView),
                _ => Err(self.bad_type(argument.value, "expected a MemRef, a memory space or a view")),
            };
        }
        self.named_extra(value)
    }

    fn named_extra(&mut self, value: &py::Expr) -> Parse<Extra> {
        if value.as_name_expr().is_some_and(|name| self.scopes.peek(name.id.as_str()).is_some()) {
            return Ok(Extra::MemRef);
        }
        let free = self.free_names && value.is_name_expr();
        let names = language::dotted(value).unwrap_or_default();
        let symbol = match self.modules.strip(&names) {
            Some(rest) => language::symbol(rest),
            None => language::bare_symbol(&names),
        };
        match symbol {
            Symbol::Known(symbol) => {
                if let Some(space) = symbol.strip_prefix("Mem.").and_then(MemorySpace::by_name) {
                    self.seen.shorthand |= names.len() == 1;
                    return Ok(Extra::Space(space));
                }
                if let Some(layout) = symbol.strip_prefix("TensorLayout.") {
                    return Ok(Extra::Layout(layout.to_owned()));
                }
                Err(self.bad_type(value, "expected a MemRef, a memory space or a view"))
            }
            Symbol::NoMember(of, members) => {
                let name = names.last().copied().unwrap_or_default();
                Err(self.bad_type(value, format!("`{of}` has no `{name}`; expected one of {}", members.join(", "))))
            }
            Symbol::Unknown if free => Ok(Extra::MemRef),
            Symbol::Unknown => match value {
                py::Expr::Name(name) => {
                    let span = self.span(name);
                    Err(self.unknown_name(name.id.as_str(), span))
                }
                _ => Err(self.bad_type(value, "expected a MemRef, a memory space or a view")),
            },
        }
    }
}
