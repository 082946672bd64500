//! Assignments. Each makes a variable, also for a name that has one.

use ruff_python_ast as py;

use super::{Parse, Parser, names_of};
use crate::frontend::ast::{Block, Expr, ExprKind, Stmt, StmtKind, Type};

impl Parser<'_> {
    /// `x: T = value`.
    pub(super) fn annotated(&mut self, assign: &py::StmtAnnAssign, block: &mut Block) -> Parse<()> {
        let py::Expr::Name(name) = &*assign.target else {
            return Err(self.unsupported(&*assign.target, "expected a name in front of `:`"));
        };
        let Some(value) = &assign.value else {
            let ty = self.ty(&assign.annotation);
            self.define(name, ty.ok(), true);
            return Err(self.unsupported(assign, format!("expected a value: {}: type = value", name.id)));
        };
        let value = self.expr(value);
        let ty = self.ty(&assign.annotation);
        let (value, ty) = (self.keep(value), self.keep(ty));
        // The name is defined even when the statement is wrong, so that its uses do not complain again.
        let target = self.define(name, ty, true);
        if let Some(value) = value {
            block.push(Stmt::made(StmtKind::Assign { target, value }, self.span(assign)));
        }
        Ok(())
    }

    /// `x = value`, `a, b = value`.
    pub(super) fn assign(&mut self, assign: &py::StmtAssign, block: &mut Block) -> Parse<()> {
        let value = self.expr(&assign.value);
        let value = self.keep(value);
        let ty = value.as_ref().map_or(Type::Unknown, |v| self.type_of(v));
        let [target] = &assign.targets[..] else {
            return Err(self.unsupported(assign, "expected one `=`"));
        };
        match target {
            py::Expr::Name(name) => {
                let target = self.define(name, Some(ty), false);
                if let Some(value) = value {
                    block.push(Stmt::made(StmtKind::Assign { target, value }, self.span(assign)));
                }
                Ok(())
            }
            py::Expr::Tuple(_) => self.unpack(target, value, ty, block),
            py::Expr::Subscript(_) => {
                Err(self.unsupported(target, "expected a name in front of `=`; elements are written by `tile.write`"))
            }
            _ => Err(self.unsupported(target, "expected a name in front of `=`")),
        }
    }

    /// `a, b = value`: the value, then its items.
    fn unpack(&mut self, target: &py::Expr, value: Option<Expr>, ty: Type, block: &mut Block) -> Parse<()> {
        let Some(names) = names_of(target) else {
            return Err(self.unsupported(target, "expected names in front of `=`"));
        };
        let span = self.span(target);
        let tuple = self.function.add_var("_tuple", ty, span);
        self.function.var_mut(tuple).annotated = false;
        if let Some(value) = value {
            block.push(Stmt::made(StmtKind::Assign { target: tuple, value }, span));
        }
        for (at, name) in names.into_iter().enumerate() {
            let at = i64::try_from(at).unwrap_or(i64::MAX);
            let kind = ExprKind::Item(
                Box::new(Expr { kind: ExprKind::Var(tuple), span }),
                Box::new(Expr { kind: ExprKind::Int(at, None), span }),
            );
            let value = Expr { kind, span };
            let ty = self.type_of(&value);
            let target = self.define(name, Some(ty), false);
            block.push(Stmt::made(StmtKind::Assign { target, value }, span));
        }
        Ok(())
    }
}
