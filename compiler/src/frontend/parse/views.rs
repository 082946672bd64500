//! `TileView(...)` and `TensorView(...)` in types.

use ruff_python_ast as py;

use super::{Parse, Parser};
use crate::frontend::ast::{Expr, ExprKind, TensorView, TileView};

const TILE_LAYOUTS: &[&str] = &["none_box", "row_major", "col_major"];
const TENSOR_LAYOUTS: &[&str] = &["ND", "DN", "NZ"];
const PADS: &[&str] = &["null", "zero", "max", "min"];
const COMPACT_MODES: &[&str] = &["null", "normal"];

impl Parser<'_> {
    /// `TileView(valid_shape=[...], ...)`.
    pub(super) fn tile_view(&mut self, expr: &py::Expr) -> Parse<TileView> {
        let mut view = TileView::default();
        for keyword in self.fields(expr, "TileView")? {
            let value = &keyword.value;
            match keyword.arg.as_ref().map_or("", |n| n.as_str()) {
                "valid_shape" => view.valid_shape = Some(self.extents(value)?),
                "stride" => view.stride = Some(self.extents(value)?),
                "start_offset" => view.start_offset = Some(self.extent(value)?),
                "blayout" => view.blayout = Some(self.member(value, "TileLayout", TILE_LAYOUTS)?),
                "slayout" => view.slayout = Some(self.member(value, "TileLayout", TILE_LAYOUTS)?),
                "fractal" => view.fractal = Some(self.integer(value, "the bytes of a fractal")?),
                "pad" => view.pad = Some(self.member(value, "PadValue", PADS)?),
                "compact" => view.compact = Some(self.member(value, "CompactMode", COMPACT_MODES)?),
                name => {
                    let message = format!(
                        "`TileView` has no `{name}`; expected valid_shape, stride, start_offset, blayout, slayout, \
                         fractal, pad or compact"
                    );
                    return Err(self.bad_type(keyword, message));
                }
            }
        }
        Ok(view)
    }

    /// `TensorView(stride=[...], layout=...)`.
    pub(super) fn tensor_view(&mut self, expr: &py::Expr) -> Parse<TensorView> {
        let mut view = TensorView::default();
        for keyword in self.fields(expr, "TensorView")? {
            let value = &keyword.value;
            match keyword.arg.as_ref().map_or("", |n| n.as_str()) {
                "valid_shape" => view.valid_shape = Some(self.extents(value)?),
                "stride" => view.stride = Some(self.extents(value)?),
                "layout" => view.layout = Some(self.member(value, "TensorLayout", TENSOR_LAYOUTS)?),
                "pad" => view.pad = Some(self.member(value, "PadValue", PADS)?),
                name => {
                    let message = format!("`TensorView` has no `{name}`; expected valid_shape, stride, layout or pad");
                    return Err(self.bad_type(keyword, message));
                }
            }
        }
        Ok(view)
    }

    /// The keyword arguments of a view.
    fn fields<'a>(&self, expr: &'a py::Expr, name: &str) -> Parse<&'a [py::Keyword]> {
        match expr {
            py::Expr::Call(call) if call.arguments.args.is_empty() => Ok(&call.arguments.keywords),
            _ => Err(self.bad_type(expr, format!("expected `{name}(field=value, ...)`"))),
        }
    }

    fn extents(&mut self, expr: &py::Expr) -> Parse<Vec<Expr>> {
        match expr {
            py::Expr::List(py::ExprList { elts, .. }) | py::Expr::Tuple(py::ExprTuple { elts, .. }) => {
                elts.iter().map(|e| self.extent(e)).collect()
            }
            _ => Err(self.bad_type(expr, "expected a list of extents in elements")),
        }
    }

    /// A member of an enumeration, or its name as a string.
    fn member(&mut self, expr: &py::Expr, of: &str, members: &[&str]) -> Parse<String> {
        let expected = || format!("expected `{of}.` and one of {}", members.join(", "));
        let value = self.expr(expr).map_err(|_| self.bad_type(expr, expected()))?;
        let name = match &value.kind {
            ExprKind::Symbol(symbol) => symbol.strip_prefix(of).and_then(|rest| rest.strip_prefix('.')),
            ExprKind::Str(text) => Some(text.as_str()),
            _ => None,
        };
        match name.filter(|n| members.contains(n)) {
            Some(name) => Ok(name.to_owned()),
            None => Err(self.bad_type(expr, expected())),
        }
    }
}
