//! Which memory: `MemRef(...)` in types, and the arguments of `tile.alloc`.

use ruff_python_ast as py;
use ruff_text_size::Ranged;

use super::language;
use super::{Parse, Parser};
use crate::frontend::ast::{Base, Call, Expr, ExprKind, MemRef, Problem};

/// All ways to write a `MemRef`.
const FORMS: &str = "expected `MemRef(base, offset, size)` or `MemRef(\"name\", offset, size)` (bytes, both), \
                     `MemRef(\"name\")`, or `MemRef(addr, size, id)` in the older notation";

impl Parser<'_> {
    /// The memory of a tile or tensor.
    pub(super) fn memref(&mut self, expr: &py::Expr) -> Parse<MemRef> {
        match expr {
            py::Expr::Name(_) => {
                let value = self.expr(expr)?;
                match value.kind {
                    ExprKind::Var(var) => Ok(MemRef::Whole(var)),
                    _ => Err(self.bad_type(expr, "expected the name of an allocation")),
                }
            }
            py::Expr::Subscript(subscript) => match &*subscript.value {
                py::Expr::Call(call) => {
                    let index = self.expr(&subscript.slice)?;
                    self.memref_call(call, Some(index))
                }
                _ => Err(self.bad_type(expr, FORMS)),
            },
            py::Expr::Call(call) => self.memref_call(call, None),
            _ => Err(self.bad_type(expr, FORMS)),
        }
    }

    fn memref_call(&mut self, call: &py::ExprCall, index: Option<Expr>) -> Parse<MemRef> {
        let names = language::dotted(&call.func).unwrap_or_default();
        let rest = self.modules.strip(&names).unwrap_or(&names);
        if rest != ["MemRef"] {
            return Err(self.bad_type(call, FORMS));
        }
        let slots = self.slots(call)?;
        match &*call.arguments.args {
            [py::Expr::StringLiteral(name)] => {
                let slot = self.slot(call, slots, index)?;
                Ok(MemRef::Declared { name: name.value.to_str().to_owned(), slot })
            }
            [addr @ (py::Expr::NumberLiteral(_) | py::Expr::UnaryOp(_)), size, id] => {
                self.seen.older = true;
                if slots.is_some() || index.is_some() {
                    return Err(self.bad_call(call, "`MemRef(addr, size, id)` has no slots"));
                }
                Ok(MemRef::Numbered {
                    addr: self.integer(addr, "a byte address")?,
                    size: self.natural(size, "a size in bytes")?,
                    id: self.integer(id, "a number")?,
                })
            }
            [base, offset, size] => {
                let base = self.base(base)?;
                let offset = self.offset(offset)?;
                let size = self.natural(size, "a size in bytes")?;
                let slot = self.slot(call, slots, index)?;
                Ok(MemRef::Part { base, offset, size, slot })
            }
            _ => Err(self.bad_call(call, FORMS)),
        }
    }

    /// `slots=2`.
    fn slots(&mut self, call: &py::ExprCall) -> Parse<Option<u64>> {
        let mut slots = None;
        for keyword in &call.arguments.keywords {
            if keyword.arg.as_ref().is_none_or(|n| n.as_str() != "slots") {
                return Err(self.bad_call(keyword, "`MemRef` has only the keyword `slots`"));
            }
            let count = self.natural(&keyword.value, "how many slots the memory has")?;
            if count == 0 {
                return Err(self.bad_call(&keyword.value, "memory has at least one slot"));
            }
            slots = Some(count);
        }
        Ok(slots)
    }

    /// How many slots, and which.
    fn slot(&self, call: &py::ExprCall, slots: Option<u64>, index: Option<Expr>) -> Parse<Option<(u64, Expr)>> {
        match (slots, index) {
            (Some(count), Some(index)) => Ok(Some((count, index))),
            (Some(1), None) => Ok(Some((1, Expr::index(0)))),
            (None, None) => Ok(None),
            (Some(count), None) => {
                Err(self
                    .bad_call(call, format!("expected which of the {count} slots: `MemRef(..., slots={count})[i]`")))
            }
            (None, Some(_)) => {
                Err(self.bad_call(call, "expected how many slots the memory has: `MemRef(..., slots=n)[i]`"))
            }
        }
    }

    fn base(&mut self, expr: &py::Expr) -> Parse<Base> {
        match expr {
            py::Expr::StringLiteral(name) => Ok(Base::Named(name.value.to_str().to_owned())),
            py::Expr::Name(_) => match self.expr(expr)?.kind {
                ExprKind::Var(var) => Ok(Base::Var(var)),
                _ => Err(self.bad_call(expr, "expected the name of an allocation")),
            },
            _ => Err(self.bad_call(expr, "expected the name of an allocation, or a string for memory from outside")),
        }
    }

    fn offset(&mut self, expr: &py::Expr) -> Parse<Expr> {
        let offset = self.expr(expr)?;
        match &offset.kind {
            ExprKind::Float(..)
            | ExprKind::Str(_)
            | ExprKind::Bool(_)
            | ExprKind::Null
            | ExprKind::Symbol(_)
            | ExprKind::List(_)
            | ExprKind::Tuple(_)
            | ExprKind::Dict(_) => {
                Err(self.bad_call(expr, "expected an offset in bytes, an integer or an expression of integers"))
            }
            _ => Ok(offset),
        }
    }

    /// Checks `tile.alloc(space, size)` and `tile.alloc(space, addr, size, id)`.
    pub(super) fn check_alloc(&mut self, made: &Call, call: &py::ExprCall) -> Parse<()> {
        let older = made.args.len() == 4;
        if !older && made.args.len() != 2 {
            return Err(self.alloc_form(call, made.args.len()));
        }
        let texts = &call.arguments.args;
        if made.args[0].as_symbol().is_none_or(|s| !s.starts_with("Mem.")) {
            return Err(
                self.bad_call(&texts[0], "expected a memory space: Mem.Vec, Mem.Mat, Mem.Left, Mem.Right, Mem.Acc")
            );
        }
        let size_at = if older { 2 } else { 1 };
        if made.args[size_at].as_int().is_none_or(|size| size < 0) {
            return Err(
                self.bad_call(&texts[size_at], "expected the size of the allocation in bytes, an integer from 0")
            );
        }
        if older && made.args[1].as_int().is_none_or(|addr| addr < -1) {
            return Err(self.bad_call(&texts[1], "expected a byte address, or -1 for none yet"));
        }
        if older && made.args[3].as_int().is_none() {
            return Err(self.bad_call(&texts[3], "expected the number of the allocation, an integer"));
        }
        self.seen.older |= older;
        Ok(())
    }

    fn alloc_form(&self, node: &impl Ranged, count: usize) -> Problem {
        let message = format!(
            "expected `tile.alloc(space, size)` (bytes), or `tile.alloc(space, addr, size, id)` in the older notation, \
             not {count} arguments"
        );
        self.bad_call(node, message)
    }
}
