//! Types, and the memory in them.

use super::Printer;
use super::expression::{Quotes, string};
use crate::frontend::ast::{
    Base, DataType, Expr, ExprKind, MemRef, MemorySpace, Notation, TensorType, TensorView, TileType, TileView, Type,
};

impl Printer<'_> {
    pub(super) fn ty(&self, ty: &Type) -> String {
        match ty {
            Type::Scalar(dtype) => format!("{}[{}]", self.language("Scalar"), self.dtype(*dtype)),
            Type::Tensor(tensor) => self.tensor(tensor),
            Type::Tile(tile) => self.tile(tile),
            Type::Array(extent, dtype) => format!("{}[{extent}, {}]", self.language("Array"), self.dtype(*dtype)),
            // Python wants something between the brackets.
            Type::Tuple(types) if types.is_empty() => format!("{}[()]", self.language("Tuple")),
            Type::Tuple(types) => format!("{}[{}]", self.language("Tuple"), self.types(types)),
            Type::Ptr => self.language("Ptr"),
            Type::MemRef => self.language("MemRefType"),
            Type::Unknown => self.language("UnknownType"),
            Type::Other(text) => self.language(text),
        }
    }

    /// Whether spaces stand without `Mem.`, and memory behind `memref=`.
    pub(super) fn is_shorthand(&self) -> bool {
        self.program.notation == Notation::Shorthand && self.program.prefix.is_empty()
    }

    fn dtype(&self, dtype: DataType) -> String {
        self.language(dtype.name())
    }

    fn shape(&self, shape: &[Expr]) -> String {
        format!("[{}]", self.exprs(shape))
    }

    fn tile(&self, tile: &TileType) -> String {
        let mut arguments = vec![self.shape(&tile.shape), self.dtype(tile.dtype)];
        arguments.extend(tile.memref.as_ref().map(|m| self.memref(m)));
        arguments.extend(tile.space.map(|s| self.space(s)));
        arguments.extend(tile.view.as_ref().map(|v| self.tile_view(v)));
        format!("{}[{}]", self.language("Tile"), arguments.join(", "))
    }

    fn tensor(&self, tensor: &TensorType) -> String {
        let mut arguments = vec![self.shape(&tensor.shape), self.dtype(tensor.dtype)];
        // Behind tiles it is the other way round.
        arguments.extend(tensor.view.as_ref().map(|v| self.tensor_view(v)));
        arguments.extend(tensor.memref.as_ref().map(|m| self.memref(m)));
        format!("{}[{}]", self.language("Tensor"), arguments.join(", "))
    }

    fn space(&self, space: MemorySpace) -> String {
        self.symbol(&format!("Mem.{space}"))
    }

    fn memref(&self, memref: &MemRef) -> String {
        let text = match memref {
            MemRef::Whole(var) => self.name(*var).to_owned(),
            MemRef::Part { base, offset, size, slot } => {
                let base = match base {
                    Base::Var(var) => self.name(*var).to_owned(),
                    Base::Named(name) => string(name, Quotes::Double),
                };
                self.memref_call(&format!("{base}, {}, {size}", self.expr(offset)), slot.as_ref())
            }
            MemRef::Numbered { addr, size, id } => self.memref_call(&format!("{addr}, {size}, {id}"), None),
            MemRef::Declared { name, slot } => self.memref_call(&string(name, Quotes::Double), slot.as_ref()),
        };
        if self.program.notation == Notation::Shorthand { format!("memref={text}") } else { text }
    }

    fn memref_call(&self, arguments: &str, slot: Option<&(u64, Expr)>) -> String {
        let name = self.language("MemRef");
        match slot {
            None => format!("{name}({arguments})"),
            Some((1, Expr { kind: ExprKind::Int(0, None), .. })) => format!("{name}({arguments}, slots=1)"),
            Some((count, index)) => format!("{name}({arguments}, slots={count})[{}]", self.expr(index)),
        }
    }

    fn tile_view(&self, view: &TileView) -> String {
        let fields = [
            view.valid_shape.as_ref().map(|s| format!("valid_shape={}", self.shape(s))),
            view.stride.as_ref().map(|s| format!("stride={}", self.shape(s))),
            view.start_offset.as_ref().map(|o| format!("start_offset={}", self.expr(o))),
            view.blayout.as_ref().map(|l| self.member("blayout", "TileLayout", l)),
            view.slayout.as_ref().map(|l| self.member("slayout", "TileLayout", l)),
            view.fractal.map(|f| format!("fractal={f}")),
            view.pad.as_ref().map(|p| self.member("pad", "PadValue", p)),
            view.compact.as_ref().map(|c| self.member("compact", "CompactMode", c)),
        ];
        format!("{}({})", self.language("TileView"), fields.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }

    fn tensor_view(&self, view: &TensorView) -> String {
        let fields = [
            view.valid_shape.as_ref().map(|s| format!("valid_shape={}", self.shape(s))),
            view.stride.as_ref().map(|s| format!("stride={}", self.shape(s))),
            view.layout.as_ref().map(|l| self.member("layout", "TensorLayout", l)),
            view.pad.as_ref().map(|p| self.member("pad", "PadValue", p)),
        ];
        format!("{}({})", self.language("TensorView"), fields.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }

    fn member(&self, field: &str, of: &str, member: &str) -> String {
        format!("{field}={}", self.language(&format!("{of}.{member}")))
    }
}
