//! Scalar expressions: arithmetic, comparisons, conversions.
//!
//! Values have types without sign; unsigned types decide which operation is taken (`divui`) and appear only where the
//! dialect wants them. A bare literal takes the type of the other operand.

use super::{
    Bound, Lowering,
    build::{integer_type, is_unsigned},
};
use crate::frontend::ast::{BinaryOp, Call, Callee, DataType, Expr, ExprKind, Problem, Type, UnaryOp};
use melior::ir::Value;

/// A scalar value and its type in the program.
#[derive(Clone, Copy)]
pub struct Scalar<'c, 'a> {
    pub value: Value<'c, 'a>,
    pub dtype: DataType,
}

impl<'c, 'a> Lowering<'_, 'c, 'a> {
    /// The type of an expression, where anything in it says one.
    pub fn dtype_of(&self, expr: &Expr) -> Option<DataType> {
        match &expr.kind {
            ExprKind::Var(var) => self.function.var(*var).ty.scalar(),
            ExprKind::Dynamic(_) => Some(DataType::Index),
            ExprKind::Int(_, dtype) | ExprKind::Float(_, dtype) => *dtype,
            ExprKind::Bool(_) => Some(DataType::Bool),
            ExprKind::Unary(UnaryOp::Not, _) => Some(DataType::Bool),
            ExprKind::Unary(_, inner) => self.dtype_of(inner),
            ExprKind::Binary(op, ..) if is_comparison(*op) || matches!(op, BinaryOp::And | BinaryOp::Or) => {
                Some(DataType::Bool)
            }
            ExprKind::Binary(_, a, b) => common(self.dtype_of(a), self.dtype_of(b)),
            ExprKind::Call(call) => self.dtype_of_call(call),
            ExprKind::Item(array, _) => match array.as_var().map(|v| &self.function.var(v).ty) {
                Some(Type::Array(_, dtype)) => Some(*dtype),
                _ => None,
            },
            _ => None,
        }
    }

    fn dtype_of_call(&self, call: &Call) -> Option<DataType> {
        match call.op()? {
            "cast" => call.args.get(1).and_then(Expr::as_symbol).and_then(DataType::by_name),
            "min" | "max" => common(self.dtype_of(call.args.first()?), self.dtype_of(call.args.get(1)?)),
            "abs" => self.dtype_of(call.args.first()?),
            _ => None,
        }
    }

    /// Lowers a scalar. `want`: what a literal that says no type should be.
    pub fn scalar(&mut self, expr: &Expr, want: Option<DataType>) -> Result<Scalar<'c, 'a>, Problem> {
        match &expr.kind {
            ExprKind::Int(value, dtype) => self.int_literal(*value, dtype.or(want).unwrap_or(DataType::Index)),
            ExprKind::Float(value, dtype) => {
                let dtype = dtype.or(want.filter(|d| d.is_float())).unwrap_or(DataType::Fp32);
                let ty = self.scalar_type(dtype)?;
                Ok(Scalar { value: self.float_constant(*value, ty)?, dtype })
            }
            ExprKind::Bool(value) => self.int_literal(i64::from(*value), DataType::Bool),
            ExprKind::Var(var) => match self.bound.get(var) {
                Some(Bound::Scalar(scalar)) => {
                    let scalar = *scalar;
                    self.signless(scalar)
                }
                _ => Err(self.not_a_scalar(expr)),
            },
            ExprKind::Dynamic(name) => match self.dynamics.get(name) {
                Some(value) => Ok(Scalar { value: *value, dtype: DataType::Index }),
                None => Err(Problem::new(
                    "PTO-0712",
                    expr.span,
                    format!("dynamic extent '{name}' is the shape of no parameter of '{}'", self.function.name),
                )),
            },
            ExprKind::Unary(op, inner) => self.unary(*op, inner, want),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, want),
            ExprKind::Call(call) => self.scalar_call(expr, call, want),
            _ => Err(self.not_a_scalar(expr)),
        }
    }

    /// Lowers a scalar as a value of a type.
    pub fn scalar_as(&mut self, expr: &Expr, dtype: DataType) -> Result<Value<'c, 'a>, Problem> {
        let scalar = self.scalar(expr, Some(dtype))?;
        Ok(self.convert(scalar, dtype)?.value)
    }

    /// Lowers an expression as an index.
    pub fn index_of(&mut self, expr: &Expr) -> Result<Value<'c, 'a>, Problem> {
        self.scalar_as(expr, DataType::Index)
    }

    fn not_a_scalar(&self, expr: &Expr) -> Problem {
        let what = match expr.as_var() {
            Some(var) => format!("'{}' is no scalar with a value here", self.function.var(var).name),
            None => "this is no scalar expression".to_owned(),
        };
        Problem::new("PTO-0712", expr.span, format!("expected a scalar: {what}"))
    }

    fn int_literal(&mut self, value: i64, dtype: DataType) -> Result<Scalar<'c, 'a>, Problem> {
        let ty = self.scalar_type(dtype)?;
        let made = if dtype.is_float() { self.float_constant(value as f64, ty) } else { self.constant(value, ty) };
        Ok(Scalar { value: made?, dtype })
    }

    /// Arithmetic takes integers without sign only.
    fn signless(&mut self, scalar: Scalar<'c, 'a>) -> Result<Scalar<'c, 'a>, Problem> {
        if !is_unsigned(scalar.value) {
            return Ok(scalar);
        }
        let ty = self.scalar_type(scalar.dtype)?;
        let cast = "builtin.unrealized_conversion_cast";
        let value = self.value(cast, &[scalar.value], &[], ty, self.location(self.at))?;
        Ok(Scalar { value, ..scalar })
    }

    /// With the sign in the type, as the dialect's operations want it.
    pub fn signed(&mut self, scalar: Scalar<'c, 'a>) -> Result<Value<'c, 'a>, Problem> {
        if !scalar.dtype.is_unsigned() || scalar.dtype == DataType::Bool || is_unsigned(scalar.value) {
            return Ok(scalar.value);
        }
        let ty = self.signed_scalar_type(scalar.dtype)?;
        self.value("builtin.unrealized_conversion_cast", &[scalar.value], &[], ty, self.location(self.at))
    }

    fn unary(&mut self, op: UnaryOp, inner: &Expr, want: Option<DataType>) -> Result<Scalar<'c, 'a>, Problem> {
        if let (UnaryOp::Neg, Some(value)) = (op, inner.as_int()) {
            let dtype = self.dtype_of(inner).or(want).unwrap_or(DataType::Index);
            return self.int_literal(value.wrapping_neg(), dtype);
        }
        if let (UnaryOp::Neg, ExprKind::Float(value, dtype)) = (op, &inner.kind) {
            let negated = Expr { kind: ExprKind::Float(-value, *dtype), span: inner.span };
            return self.scalar(&negated, want);
        }
        let operand = self.scalar(inner, want)?;
        let ty = self.scalar_type(operand.dtype)?;
        let location = self.location(self.at);
        let value = match op {
            UnaryOp::Neg if operand.dtype.is_float() => {
                self.value("arith.negf", &[operand.value], &[], ty, location)?
            }
            UnaryOp::Neg => {
                let zero = self.constant(0, ty)?;
                self.value("arith.subi", &[zero, operand.value], &[], ty, location)?
            }
            UnaryOp::Not => {
                let truth = self.convert(operand, DataType::Bool)?;
                let one = self.constant(1, integer_type(self.context, 1))?;
                let ty = integer_type(self.context, 1);
                let value = self.value("arith.xori", &[truth.value, one], &[], ty, location)?;
                return Ok(Scalar { value, dtype: DataType::Bool });
            }
            UnaryOp::BitNot => {
                let ones = self.constant(-1, ty)?;
                self.value("arith.xori", &[operand.value, ones], &[], ty, location)?
            }
        };
        Ok(Scalar { value, dtype: operand.dtype })
    }

    fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr, want: Option<DataType>) -> Result<Scalar<'c, 'a>, Problem> {
        let both = common(self.dtype_of(a), self.dtype_of(b));
        let fraction = |e: &Expr| matches!(e.kind, ExprKind::Float(..));
        let literal = if fraction(a) || fraction(b) { DataType::Fp32 } else { DataType::Index };
        let dtype = match op {
            BinaryOp::And | BinaryOp::Or => DataType::Bool,
            BinaryOp::Div => both.filter(|d| d.is_float()).unwrap_or(DataType::Fp32),
            _ if is_comparison(op) => both.unwrap_or(literal),
            _ => both.or(want).unwrap_or(literal),
        };
        let left = self.scalar(a, Some(dtype))?;
        let left = self.convert(left, dtype)?;
        let right = self.scalar(b, Some(dtype))?;
        let right = self.convert(right, dtype)?;
        let Some(name) = operation(op, dtype) else {
            let message = format!("operator '{op}' has no form for {dtype}");
            return Err(Problem::new("PTO-0712", self.at, message));
        };
        let operands = [left.value, right.value];
        if is_comparison(op) {
            return self.compare(op, dtype, &operands);
        }
        let ty = self.scalar_type(dtype)?;
        Ok(Scalar { value: self.value(name, &operands, &[], ty, self.location(self.at))?, dtype })
    }

    fn compare(
        &mut self,
        op: BinaryOp,
        dtype: DataType,
        operands: &[Value<'c, 'a>],
    ) -> Result<Scalar<'c, 'a>, Problem> {
        // The numbers of arith's predicates: eq ne slt sle sgt sge ult ule ugt uge; oeq one olt ole ogt oge.
        let row = match op {
            BinaryOp::Eq => [0, 0, 1],
            BinaryOp::Ne => [1, 1, 6],
            BinaryOp::Lt => [2, 6, 4],
            BinaryOp::Le => [3, 7, 5],
            BinaryOp::Gt => [4, 8, 2],
            _ => [5, 9, 3],
        };
        let (name, column) = match dtype {
            d if d.is_float() => ("arith.cmpf", 2),
            d if d.is_unsigned() => ("arith.cmpi", 1),
            _ => ("arith.cmpi", 0),
        };
        // `!=` between floats is true for what is not a number: une, 13.
        let predicate = if column == 2 && op == BinaryOp::Ne { 13 } else { row[column] };
        let predicate = self.integer(predicate, 64);
        let ty = integer_type(self.context, 1);
        let value = self.value(name, operands, &[("predicate", predicate)], ty, self.location(self.at))?;
        Ok(Scalar { value, dtype: DataType::Bool })
    }

    fn scalar_call(&mut self, expr: &Expr, call: &Call, want: Option<DataType>) -> Result<Scalar<'c, 'a>, Problem> {
        match (call.op(), &call.args[..]) {
            (Some("cast"), [value, ..]) => {
                let Some(dtype) = self.dtype_of_call(call) else {
                    return Err(Problem::new("PTO-0712", expr.span, "expected cast(value, TYPE)"));
                };
                // The literal keeps its own type first: a fraction is cut, not reinterpreted.
                let inner = self.scalar(value, None)?;
                self.convert(inner, dtype)
            }
            (Some(name @ ("min" | "max")), [a, b]) => self.extreme(name == "min", a, b, want),
            (Some("abs"), [a]) => {
                let zero = Expr { kind: ExprKind::Int(0, None), span: a.span };
                let negative =
                    Expr { kind: ExprKind::Binary(BinaryOp::Sub, Box::new(zero), Box::new(a.clone())), span: a.span };
                self.extreme(false, a, &negative, want)
            }
            _ => {
                let name = match &call.callee {
                    Callee::Op(name) | Callee::Function(name) => name,
                };
                Err(Problem::new("PTO-0712", expr.span, format!("'{name}' is no scalar expression here")))
            }
        }
    }

    fn extreme(&mut self, least: bool, a: &Expr, b: &Expr, want: Option<DataType>) -> Result<Scalar<'c, 'a>, Problem> {
        let dtype = common(self.dtype_of(a), self.dtype_of(b)).or(want).unwrap_or(DataType::Index);
        let left = self.scalar_as(a, dtype)?;
        let right = self.scalar_as(b, dtype)?;
        let name = match (dtype.is_float(), dtype.is_unsigned(), least) {
            (true, _, true) => "arith.minimumf",
            (true, _, false) => "arith.maximumf",
            (false, true, true) => "arith.minui",
            (false, true, false) => "arith.maxui",
            (false, false, true) => "arith.minsi",
            (false, false, false) => "arith.maxsi",
        };
        let ty = self.scalar_type(dtype)?;
        Ok(Scalar { value: self.value(name, &[left, right], &[], ty, self.location(self.at))?, dtype })
    }

    /// As a value of another type: integers are extended or cut, a float becomes an integer towards zero.
    pub fn convert(&mut self, scalar: Scalar<'c, 'a>, dtype: DataType) -> Result<Scalar<'c, 'a>, Problem> {
        let scalar = self.signless(scalar)?;
        let from = scalar.dtype;
        let ty = self.scalar_type(dtype)?;
        if from == dtype || self.scalar_type(from)? == ty {
            return Ok(Scalar { dtype, ..scalar });
        }
        let location = self.location(self.at);
        if dtype == DataType::Bool {
            let zero = self.int_literal(0, from)?;
            return self.compare(BinaryOp::Ne, from, &[scalar.value, zero.value]);
        }
        // Between floats and index there is no direct step.
        if from == DataType::Index && dtype.is_float() || from.is_float() && dtype == DataType::Index {
            let middle = self.convert(scalar, DataType::Int64)?;
            return self.convert(middle, dtype);
        }
        let name = match (from, dtype) {
            (DataType::Index, _) | (_, DataType::Index) if from.is_unsigned() => "arith.index_castui",
            (DataType::Index, _) | (_, DataType::Index) => "arith.index_cast",
            (a, b) if a.is_float() && b.is_float() => {
                if a.bits() < b.bits() {
                    "arith.extf"
                } else {
                    "arith.truncf"
                }
            }
            (a, b) if a.is_float() => {
                if b.is_unsigned() {
                    "arith.fptoui"
                } else {
                    "arith.fptosi"
                }
            }
            (a, b) if b.is_float() => {
                if a.is_unsigned() {
                    "arith.uitofp"
                } else {
                    "arith.sitofp"
                }
            }
            (a, b) if a.bits() > b.bits() || (a.bits() == b.bits() && b == DataType::Bool) => "arith.trunci",
            (a, _) => {
                if a.is_unsigned() {
                    "arith.extui"
                } else {
                    "arith.extsi"
                }
            }
        };
        if from.is_float() && dtype.is_float() && from.bits() == dtype.bits() {
            let middle = self.convert(scalar, DataType::Fp32)?;
            return self.convert(middle, dtype);
        }
        Ok(Scalar { value: self.value(name, &[scalar.value], &[], ty, location)?, dtype })
    }
}

fn is_comparison(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge)
}

/// The type of an operation on two scalars; `None` is a literal that takes the other's.
fn common(a: Option<DataType>, b: Option<DataType>) -> Option<DataType> {
    let (Some(a), Some(b)) = (a, b) else { return a.or(b) };
    Some(match (a.is_float(), b.is_float()) {
        (true, false) => a,
        (false, true) => b,
        (true, true) => {
            if a.bits() >= b.bits() {
                a
            } else {
                b
            }
        }
        (false, false) if a == DataType::Index || b == DataType::Index => DataType::Index,
        (false, false) => {
            if a.bits() >= b.bits() {
                a
            } else {
                b
            }
        }
    })
}

/// The operation of an operator. Division and remainder are those of the device's integers, towards zero, as PyPTO's
/// own code generator writes them.
fn operation(op: BinaryOp, dtype: DataType) -> Option<&'static str> {
    let float = dtype.is_float();
    let unsigned = dtype.is_unsigned();
    Some(match op {
        _ if is_comparison(op) => "",
        BinaryOp::Add => {
            if float {
                "arith.addf"
            } else {
                "arith.addi"
            }
        }
        BinaryOp::Sub => {
            if float {
                "arith.subf"
            } else {
                "arith.subi"
            }
        }
        BinaryOp::Mul => {
            if float {
                "arith.mulf"
            } else {
                "arith.muli"
            }
        }
        BinaryOp::Div | BinaryOp::FloorDiv if float => "arith.divf",
        BinaryOp::FloorDiv => {
            if unsigned {
                "arith.divui"
            } else {
                "arith.divsi"
            }
        }
        BinaryOp::Mod if !float => {
            if unsigned {
                "arith.remui"
            } else {
                "arith.remsi"
            }
        }
        BinaryOp::And | BinaryOp::BitAnd if !float => "arith.andi",
        BinaryOp::Or | BinaryOp::BitOr if !float => "arith.ori",
        BinaryOp::BitXor if !float => "arith.xori",
        BinaryOp::ShiftLeft if !float => "arith.shli",
        BinaryOp::ShiftRight if !float => {
            if unsigned {
                "arith.shrui"
            } else {
                "arith.shrsi"
            }
        }
        _ => return None,
    })
}
