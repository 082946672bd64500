//! Expressions.

use ruff_python_ast as py;

use super::{Parse, Parser};
use crate::frontend::ast::{BinaryOp, Expr, ExprKind, UnaryOp};

impl Parser<'_> {
    /// Any expression.
    pub(super) fn expr(&mut self, expr: &py::Expr) -> Parse<Expr> {
        let span = self.span(expr);
        Ok(Expr { kind: self.expr_kind(expr)?, span })
    }

    fn expr_kind(&mut self, expr: &py::Expr) -> Parse<ExprKind> {
        match expr {
            py::Expr::Name(name) => self.name(name),
            py::Expr::Attribute(attribute) => self.path(attribute),
            py::Expr::NumberLiteral(number) => self.number(number, false),
            py::Expr::BooleanLiteral(literal) => Ok(ExprKind::Bool(literal.value)),
            py::Expr::NoneLiteral(_) => Ok(ExprKind::Null),
            py::Expr::StringLiteral(literal) => Ok(ExprKind::Str(literal.value.to_str().to_owned())),
            py::Expr::UnaryOp(unary) => self.unary(unary),
            py::Expr::BinOp(binary) => self.binary(binary),
            py::Expr::BoolOp(operation) => self.bool_op(operation),
            py::Expr::Compare(compare) => self.compare(compare),
            py::Expr::Call(call) => self.call(call),
            py::Expr::List(list) => self.exprs(&list.elts).map(ExprKind::List),
            py::Expr::Tuple(tuple) => self.exprs(&tuple.elts).map(ExprKind::Tuple),
            py::Expr::Dict(dict) => self.dict(dict),
            py::Expr::Subscript(subscript) => self.item(subscript),
            // Snippets of documentation leave out what does not matter to them.
            py::Expr::EllipsisLiteral(_) if self.free_names => Ok(ExprKind::Symbol("...".to_owned())),
            _ => Err(self.unsupported(expr, unexpected(expr))),
        }
    }

    /// Several expressions.
    pub(super) fn exprs(&mut self, exprs: &[py::Expr]) -> Parse<Vec<Expr>> {
        exprs.iter().map(|e| self.expr(e)).collect()
    }

    fn unary(&mut self, unary: &py::ExprUnaryOp) -> Parse<ExprKind> {
        let op = match unary.op {
            py::UnaryOp::USub => {
                if let py::Expr::NumberLiteral(number) = &*unary.operand {
                    return self.number(number, true);
                }
                UnaryOp::Neg
            }
            py::UnaryOp::Not => UnaryOp::Not,
            py::UnaryOp::Invert => UnaryOp::BitNot,
            py::UnaryOp::UAdd => return self.expr_kind(&unary.operand),
        };
        Ok(ExprKind::Unary(op, Box::new(self.expr(&unary.operand)?)))
    }

    fn binary(&mut self, binary: &py::ExprBinOp) -> Parse<ExprKind> {
        let op = match binary.op {
            py::Operator::Add => BinaryOp::Add,
            py::Operator::Sub => BinaryOp::Sub,
            py::Operator::Mult => BinaryOp::Mul,
            py::Operator::Div => BinaryOp::Div,
            py::Operator::FloorDiv => BinaryOp::FloorDiv,
            py::Operator::Mod => BinaryOp::Mod,
            py::Operator::Pow => BinaryOp::Pow,
            py::Operator::LShift => BinaryOp::ShiftLeft,
            py::Operator::RShift => BinaryOp::ShiftRight,
            py::Operator::BitOr => BinaryOp::BitOr,
            py::Operator::BitXor => BinaryOp::BitXor,
            py::Operator::BitAnd => BinaryOp::BitAnd,
            py::Operator::MatMult => {
                return Err(self.unsupported(binary, "`@` is not part of the language; expected `tile.matmul`"));
            }
        };
        self.joined(op, &binary.left, &binary.right)
    }

    fn joined(&mut self, op: BinaryOp, left: &py::Expr, right: &py::Expr) -> Parse<ExprKind> {
        Ok(ExprKind::Binary(op, Box::new(self.expr(left)?), Box::new(self.expr(right)?)))
    }

    fn bool_op(&mut self, operation: &py::ExprBoolOp) -> Parse<ExprKind> {
        let op = if operation.op == py::BoolOp::And { BinaryOp::And } else { BinaryOp::Or };
        let span = self.span(operation);
        let mut operands = self.exprs(&operation.values)?.into_iter();
        let Some(first) = operands.next() else {
            return Err(self.unsupported(operation, "expected an operand"));
        };
        let tree = operands
            .fold(first, |left, right| Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span });
        Ok(tree.kind)
    }

    fn compare(&mut self, compare: &py::ExprCompare) -> Parse<ExprKind> {
        let ([op], [right]) = (&*compare.ops, &*compare.comparators) else {
            return Err(
                self.unsupported(compare, "chained comparisons are not part of the language; join two by `and`")
            );
        };
        let op = match op {
            py::CmpOp::Eq => BinaryOp::Eq,
            py::CmpOp::NotEq => BinaryOp::Ne,
            py::CmpOp::Lt => BinaryOp::Lt,
            py::CmpOp::LtE => BinaryOp::Le,
            py::CmpOp::Gt => BinaryOp::Gt,
            py::CmpOp::GtE => BinaryOp::Ge,
            other => {
                let message =
                    format!("`{}` is not part of the language; expected ==, !=, <, <=, > or >=", other.as_str());
                return Err(self.unsupported(compare, message));
            }
        };
        self.joined(op, &compare.left, right)
    }

    fn dict(&mut self, dict: &py::ExprDict) -> Parse<ExprKind> {
        let mut pairs = Vec::new();
        for item in &dict.items {
            let Some(key) = &item.key else {
                return Err(self.unsupported(&item.value, "`**` is not part of the language; expected key: value"));
            };
            pairs.push((self.expr(key)?, self.expr(&item.value)?));
        }
        Ok(ExprKind::Dict(pairs))
    }

    fn item(&mut self, subscript: &py::ExprSubscript) -> Parse<ExprKind> {
        if matches!(&*subscript.slice, py::Expr::Slice(_) | py::Expr::Tuple(_)) {
            let message = "expected one index; parts of tiles and tensors are taken by `tile.slice` or `tensor.slice`";
            return Err(self.unsupported(&*subscript.slice, message));
        }
        let base = self.expr(&subscript.value)?;
        Ok(ExprKind::Item(Box::new(base), Box::new(self.expr(&subscript.slice)?)))
    }
}

/// Why an expression is not part of the language.
fn unexpected(expr: &py::Expr) -> &'static str {
    match expr {
        py::Expr::If(_) => "`a if c else b` is not part of the language; expected an `if` statement with yields",
        py::Expr::Lambda(_) => "functions are not values; expected a function of the program",
        py::Expr::Set(_) => "sets are not part of the language; expected a list, tuple or dictionary",
        py::Expr::ListComp(_) | py::Expr::SetComp(_) | py::Expr::DictComp(_) | py::Expr::Generator(_) => {
            "comprehensions are not part of the language; expected a list, or a loop"
        }
        py::Expr::FString(_) | py::Expr::TString(_) | py::Expr::BytesLiteral(_) => "expected a plain string",
        py::Expr::Named(_) => "`:=` is not part of the language; expected an assignment of its own",
        py::Expr::Starred(_) => "`*` is not part of the language; expected the values one by one",
        py::Expr::Yield(_) | py::Expr::YieldFrom(_) => {
            "Python's `yield` is not part of the language; expected `pl.yield_`"
        }
        py::Expr::Await(_) => "`await` is not part of the language",
        _ => "expected a name, number, string, operation, list or tuple",
    }
}
