//! Types that need no knowledge of operations: of names, numbers, arithmetic, and a few built-ins.

use super::Parser;
use crate::frontend::ast::{BinaryOp, Call, DataType, Expr, ExprKind, Type, UnaryOp};

impl Parser<'_> {
    /// The type of a value, [`Type::Unknown`] where operations decide.
    pub(super) fn type_of(&self, expr: &Expr) -> Type {
        match &expr.kind {
            ExprKind::Var(var) => self.function.var(*var).ty.clone(),
            ExprKind::Dynamic(_) => Type::Scalar(DataType::Index),
            ExprKind::Int(_, dtype) => Type::Scalar(dtype.unwrap_or(DataType::Index)),
            ExprKind::Float(_, dtype) => Type::Scalar(dtype.unwrap_or(DataType::Fp32)),
            ExprKind::Bool(_) | ExprKind::Unary(UnaryOp::Not, _) => Type::Scalar(DataType::Bool),
            ExprKind::Unary(_, operand) => scalar(self.type_of(operand)),
            ExprKind::Binary(op, left, right) => self.type_of_binary(*op, left, right),
            ExprKind::Call(call) => self.type_of_call(call),
            ExprKind::Item(base, index) => self.type_of_item(base, index),
            _ => Type::Unknown,
        }
    }

    fn type_of_binary(&self, op: BinaryOp, left: &Expr, right: &Expr) -> Type {
        match op {
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                Type::Scalar(DataType::Bool)
            }
            BinaryOp::And | BinaryOp::Or => Type::Scalar(DataType::Bool),
            _ => self.joined_type(left, right),
        }
    }

    /// The type of arithmetic on two scalars: fractions before integers, then the wider one; INDEX takes the other's.
    fn joined_type(&self, left: &Expr, right: &Expr) -> Type {
        let (Type::Scalar(a), Type::Scalar(b)) = (self.type_of(left), self.type_of(right)) else {
            return Type::Unknown;
        };
        let rank = |d: DataType| (d.is_float(), d.bits(), d != DataType::Index);
        let bare = |e: &Expr| matches!(e.kind, ExprKind::Int(_, None) | ExprKind::Float(_, None));
        // A bare number is of whatever type it meets.
        match (bare(left), bare(right)) {
            (true, false) if b.is_float() >= a.is_float() => Type::Scalar(b),
            (false, true) if a.is_float() >= b.is_float() => Type::Scalar(a),
            _ => Type::Scalar(if rank(a) >= rank(b) { a } else { b }),
        }
    }

    fn type_of_call(&self, call: &Call) -> Type {
        let Some(op) = call.op() else { return Type::Unknown };
        match (op, call.args.as_slice()) {
            ("min" | "max", [a, b]) => self.joined_type(a, b),
            ("abs", [a]) => scalar(self.type_of(a)),
            ("cast", [_, dtype]) => dtype.as_symbol().and_then(DataType::by_name).map_or(Type::Unknown, Type::Scalar),
            ("tile.alloc", [_, _]) => Type::Ptr,
            ("tile.alloc", _) => Type::MemRef,
            ("system.reserve_buffer" | "system.import_peer_buffer", _) => Type::Scalar(DataType::Int32),
            ("system.task_invalid" | "system.task_dummy", _) => Type::Scalar(DataType::TaskId),
            ("tile.get_block_idx" | "tile.get_block_num" | "tile.get_subblock_idx" | "tensor.dim", _) => {
                Type::Scalar(DataType::Index)
            }
            ("tile.read" | "tensor.read", [from, ..]) => match self.type_of(from) {
                Type::Tile(tile) => Type::Scalar(tile.dtype),
                Type::Tensor(tensor) => Type::Scalar(tensor.dtype),
                _ => Type::Unknown,
            },
            _ => Type::Unknown,
        }
    }

    fn type_of_item(&self, base: &Expr, index: &Expr) -> Type {
        match self.type_of(base) {
            Type::Tuple(types) => {
                let index = index.as_int().and_then(|i| usize::try_from(i).ok());
                index.and_then(|i| types.into_iter().nth(i)).unwrap_or(Type::Unknown)
            }
            Type::Array(_, dtype) => Type::Scalar(dtype),
            _ => Type::Unknown,
        }
    }
}

/// A scalar's type; operators on anything else decide by themselves.
fn scalar(ty: Type) -> Type {
    match ty {
        Type::Scalar(_) => ty,
        _ => Type::Unknown,
    }
}
