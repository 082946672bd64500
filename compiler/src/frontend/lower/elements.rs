//! Single elements of tiles and tensors, and what there is to ask about tensors.

use super::{Bound, Lowered, Lowering, Tensor, scalars::Scalar};
use crate::frontend::ast::{BinaryOp, Call, DataType, Expr, ExprKind, Problem, VarId};
use melior::ir::Value;

impl<'p, 'c, 'a> Lowering<'p, 'c, 'a> {
    /// Position of an element counted row by row.
    pub(super) fn flat_offset(&mut self, indices: &[Expr], shape: &[Expr]) -> Lowered<Value<'c, 'a>> {
        if indices.len() != shape.len() || indices.is_empty() {
            let message = format!("expected {} indices, found {}", shape.len(), indices.len());
            return Err(Problem::new("PTO-0715", self.at, message));
        }
        let mut offset = indices[0].clone();
        for (index, extent) in indices.iter().zip(shape).skip(1) {
            use crate::frontend::ast::BinaryOp::{Add, Mul};
            offset = folded(Add, folded(Mul, offset, extent.clone()), index.clone());
        }
        self.index_of(&offset)
    }

    pub(super) fn read_element(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let tile_expr = self.arg(call, 0, "a tile")?;
        let source = self.tile_argument(tile_expr)?;
        let tile = tile_expr.as_var().and_then(|v| self.function.var(v).ty.tile());
        let Some(tile) = tile else { return Err(self.expected("a tile", tile_expr)) };
        let offset = self.flat_offset(self.list(call, 1, "indices")?, &tile.shape)?;
        let ty = self.signed_scalar_type(tile.dtype)?;
        let operands = [("src", source.value), ("offset", offset)];
        let value = self.pto_value("tgetval", &operands, &[], ty, self.target_location(target))?;
        Ok(Some(Bound::Scalar(Scalar { value, dtype: tile.dtype })))
    }

    pub(super) fn write_element(&mut self, call: &'p Call) -> Lowered<Option<Bound<'c, 'a>>> {
        let tile_expr = self.arg(call, 0, "a tile")?;
        let dst = self.tile_argument(tile_expr)?;
        let tile = tile_expr.as_var().and_then(|v| self.function.var(v).ty.tile());
        let Some(tile) = tile else { return Err(self.expected("a tile", tile_expr)) };
        let offset = self.flat_offset(self.list(call, 1, "indices")?, &tile.shape)?;
        let value = self.scalar_operand(self.arg(call, 2, "a value")?, Some(tile.dtype))?;
        let operands = [("dst", dst.value), ("offset", offset), ("val", value)];
        self.pto("tsetval", &operands, &[], None, self.location(self.at))?;
        Ok(Some(Bound::Tile(dst)))
    }

    pub(super) fn tensor_call(
        &mut self,
        name: &str,
        call: &'p Call,
        target: Option<VarId>,
    ) -> Lowered<Option<Bound<'c, 'a>>> {
        let tensor = self.tensor_argument(self.arg(call, 0, "a tensor")?)?;
        let ty = self.tensor_type(tensor.shape)?;
        match name {
            "tensor.read" => {
                let offset = self.flat_offset(self.list(call, 1, "indices")?, &ty.shape)?;
                let element = self.signed_scalar_type(ty.dtype)?;
                let operands = [("ptr", tensor.pointer), ("offset", offset)];
                let value = self.pto_value("load_scalar", &operands, &[], element, self.target_location(target))?;
                Ok(Some(Bound::Scalar(Scalar { value, dtype: ty.dtype })))
            }
            "tensor.write" => {
                let offset = self.flat_offset(self.list(call, 1, "indices")?, &ty.shape)?;
                let scalar = self.scalar(self.arg(call, 2, "a value")?, Some(ty.dtype))?;
                let scalar = self.convert(scalar, ty.dtype)?;
                let value = self.signed(scalar)?;
                let operands = [("ptr", tensor.pointer), ("offset", offset), ("value", value)];
                self.pto("store_scalar", &operands, &[], None, self.location(self.at))?;
                Ok(Some(Bound::Tensor(tensor)))
            }
            "tensor.dim" => {
                let axis = self.arg(call, 1, "an axis")?;
                let extent = axis.as_int().and_then(|a| usize::try_from(a).ok()).and_then(|a| ty.shape.get(a));
                let Some(extent) = extent else { return Err(self.expected("an axis of the tensor", axis)) };
                let value = self.index_of(extent)?;
                Ok(Some(Bound::Scalar(Scalar { value, dtype: DataType::Index })))
            }
            "tensor.view" => {
                let Some(target) = target else { return Ok(None) };
                let view = self.make_view(target, tensor.pointer)?;
                Ok(Some(Bound::Tensor(Tensor { shape: target, view: Some(view), ..tensor })))
            }
            _ => Err(self.unknown_op(name)),
        }
    }

    /// The place of the statement with the name of what it defines.
    pub(super) fn target_location(&self, target: Option<VarId>) -> melior::ir::Location<'c> {
        match target {
            Some(var) => self.named(&self.function.var(var).name, self.at),
            None => self.location(self.at),
        }
    }
}

/// A binary expression, folded when both sides are constants.
fn folded(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    if let (Some(x), Some(y)) = (a.as_int(), b.as_int()) {
        let value = if op == BinaryOp::Mul { x.checked_mul(y) } else { x.checked_add(y) };
        if let Some(value) = value {
            return Expr { kind: ExprKind::Int(value, None), span: a.span };
        }
    }
    let span = a.span;
    Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), span }
}
