//! Numbers, bare and in `const(value, type)`.

use ruff_python_ast as py;
use ruff_text_size::Ranged;

use super::{Parse, Parser};
use crate::frontend::ast::{DataType, ExprKind};

impl Parser<'_> {
    /// A bare number.
    pub(super) fn number(&mut self, number: &py::ExprNumberLiteral, negative: bool) -> Parse<ExprKind> {
        match &number.value {
            py::Number::Int(value) => {
                let value = signed(value, negative);
                let value = value.and_then(|v| i64::try_from(v).ok());
                let value = value.ok_or_else(|| self.too_large(number))?;
                Ok(ExprKind::Int(value, None))
            }
            py::Number::Float(value) => Ok(ExprKind::Float(if negative { -value } else { *value }, None)),
            py::Number::Complex { .. } => Err(self.unsupported(number, "complex numbers are not part of the language")),
        }
    }

    fn too_large(&self, node: &impl Ranged) -> super::Problem {
        self.bad_call(node, "the integer does not fit 64 bits (8 bytes) with sign")
    }

    /// `const(value, type)`.
    pub(super) fn constant(&mut self, call: &py::ExprCall) -> Parse<ExprKind> {
        let ([value, dtype], true) = (&*call.arguments.args, call.arguments.keywords.is_empty()) else {
            return Err(self.bad_call(call, "expected `const(value, type)`: a number and its type"));
        };
        let dtype = self.data_type(dtype)?;
        let (literal, negative) = match value {
            py::Expr::UnaryOp(unary) if unary.op == py::UnaryOp::USub => (&*unary.operand, true),
            other => (other, false),
        };
        match literal {
            py::Expr::NumberLiteral(number) => self.typed_number(number, negative, dtype),
            py::Expr::BooleanLiteral(literal) if dtype == DataType::Bool && !negative => {
                Ok(ExprKind::Bool(literal.value))
            }
            py::Expr::Call(call) if dtype.is_float() => match self.special_float(call)? {
                Some(number) => Ok(ExprKind::Float(if negative { -number } else { number }, Some(dtype))),
                None => Err(self.bad_call(value, "expected a number")),
            },
            _ => Err(self.bad_call(value, "expected a number")),
        }
    }

    fn typed_number(&self, number: &py::ExprNumberLiteral, negative: bool, dtype: DataType) -> Parse<ExprKind> {
        match &number.value {
            py::Number::Int(value) if dtype.is_float() => {
                let value = signed(value, negative).ok_or_else(|| self.too_large(number))?;
                // Whole numbers up to 2^53 are exact, which covers what is written so.
                #[expect(clippy::cast_precision_loss, reason = "a literal rounds as Python rounds it")]
                Ok(ExprKind::Float(value as f64, Some(dtype)))
            }
            py::Number::Int(value) => {
                let value = signed(value, negative).ok_or_else(|| self.too_large(number))?;
                let (low, high) = bounds(dtype);
                if value < low || value > high {
                    let message = format!("{value} does not fit {dtype}, which goes from {low} to {high}");
                    return Err(self.bad_call(number, message));
                }
                let value = i64::try_from(value).map_err(|_| self.too_large(number))?;
                Ok(ExprKind::Int(value, Some(dtype)))
            }
            py::Number::Float(value) if dtype.is_float() => {
                Ok(ExprKind::Float(if negative { -value } else { *value }, Some(dtype)))
            }
            py::Number::Float(_) => Err(self.bad_call(number, format!("expected an integer for {dtype}"))),
            py::Number::Complex { .. } => Err(self.unsupported(number, "complex numbers are not part of the language")),
        }
    }

    /// `float('inf')`, the only way to write it.
    pub(super) fn special_float(&self, call: &py::ExprCall) -> Parse<Option<f64>> {
        let is_float = call.func.as_name_expr().is_some_and(|n| n.id.as_str() == "float");
        let [argument] = &*call.arguments.args else { return Ok(None) };
        let Some(text) = argument.as_string_literal_expr().filter(|_| is_float) else { return Ok(None) };
        match text.value.to_str() {
            "inf" | "+inf" => Ok(Some(f64::INFINITY)),
            "-inf" => Ok(Some(f64::NEG_INFINITY)),
            "nan" => Ok(Some(f64::NAN)),
            other => Err(self.bad_call(argument, format!("expected 'inf', '-inf' or 'nan', not '{other}'"))),
        }
    }

    /// An integer that has to be written out: `16`, `-1`, `const(16, INT64)`.
    pub(super) fn integer(&mut self, expr: &py::Expr, what: &str) -> Parse<i64> {
        let expected = || format!("expected {what}, an integer");
        match expr {
            py::Expr::NumberLiteral(_) | py::Expr::UnaryOp(_) | py::Expr::Call(_) => {
                let value = self.expr(expr)?;
                value.as_int().ok_or_else(|| self.bad_call(expr, expected()))
            }
            _ => Err(self.bad_call(expr, expected())),
        }
    }

    /// An integer that has to be written out and is not negative.
    pub(super) fn natural(&mut self, expr: &py::Expr, what: &str) -> Parse<u64> {
        let value = self.integer(expr, what)?;
        u64::try_from(value)
            .map_err(|_| self.bad_call(expr, format!("expected {what}, an integer from 0, not {value}")))
    }
}

/// The value with its sign, when it is of a sensible size.
fn signed(value: &py::Int, negative: bool) -> Option<i128> {
    let value = i128::from(value.as_u64()?);
    Some(if negative { -value } else { value })
}

/// Least and greatest value of an integer type.
fn bounds(dtype: DataType) -> (i128, i128) {
    let bits = if dtype == DataType::Bool { 1 } else { dtype.bits() };
    if dtype.is_unsigned() { (0, (1 << bits) - 1) } else { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) }
}
