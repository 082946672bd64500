//! Reading and writing the memory that types name.

use super::walk;
use crate::frontend::ast::{
    Base, BinaryOp, Call, DataType, Expr, ExprKind, Function, MemRef, MemorySpace, Stmt, StmtKind, TileType, Type,
    VarId,
};
use std::collections::{BTreeMap, BTreeSet};

/// Whose bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// An allocation of the function.
    Var(VarId),
    /// Memory by name.
    Named(String),
    /// Memory by number (older notation).
    Number(i64),
}

/// The allocation that memory belongs to; declarations have none yet.
pub fn key(memref: &MemRef) -> Option<Key> {
    match memref {
        MemRef::Part { base: Base::Var(var), .. } | MemRef::Whole(var) => Some(Key::Var(*var)),
        MemRef::Part { base: Base::Named(name), .. } => Some(Key::Named(name.clone())),
        MemRef::Numbered { id, .. } => Some(Key::Number(*id)),
        MemRef::Declared { .. } => None,
    }
}

/// The memory of a type.
pub fn of_type(ty: &Type) -> Option<&MemRef> {
    match ty {
        Type::Tile(tile) => tile.memref.as_ref(),
        Type::Tensor(tensor) => tensor.memref.as_ref(),
        _ => None,
    }
}

/// The memory of a variable.
pub fn of_var(function: &Function, var: VarId) -> Option<&MemRef> {
    of_type(&function.vars.get(var.index())?.ty)
}

/// The tile that a variable is, when it has memory.
pub fn tile(function: &Function, var: VarId) -> Option<(&TileType, &MemRef)> {
    let tile = function.vars.get(var.index())?.ty.tile()?;
    Some((tile, tile.memref.as_ref()?))
}

/// The allocation that a tile's bytes belong to.
pub fn base(function: &Function, var: VarId) -> Option<Key> {
    tile(function, var).and_then(|(_, memref)| key(memref))
}

/// Gives a tile other bytes, and their space when it is known.
pub fn retarget(function: &mut Function, var: VarId, memref: MemRef, space: Option<MemorySpace>) {
    if let Some(tile) = function.vars.get_mut(var.index()).and_then(|v| v.ty.tile_mut()) {
        tile.memref = Some(memref);
        tile.space = space.or(tile.space);
    }
}

/// An allocation statement.
#[derive(Clone, Debug)]
pub struct Alloc {
    /// Its name.
    pub var: VarId,
    /// Its space.
    pub space: Option<MemorySpace>,
    /// Where it is, in the older notation; -1 for nowhere.
    pub address: Option<i64>,
    /// Bytes; `None` when the text has no sensible number.
    pub size: Option<u64>,
    /// Its number, in the older notation.
    pub id: Option<i64>,
    /// Whether the author declared it.
    pub pinned: bool,
}

/// What a statement allocates.
pub fn alloc(stmt: &Stmt) -> Option<Alloc> {
    let StmtKind::Assign { target, value } = &stmt.kind else { return None };
    let call = value.as_call().filter(|c| matches!(c.op(), Some("tile.alloc" | "tensor.alloc")))?;
    let int = |index: usize| call.args.get(index).and_then(Expr::as_int);
    let older = call.args.len() >= 3;
    let size = int(if older { 2 } else { 1 }).and_then(|v| u64::try_from(v).ok());
    Some(Alloc {
        var: *target,
        space: call.args.first().and_then(space),
        address: if older { Some(int(1).unwrap_or(-1)) } else { None },
        size,
        id: if older { int(3) } else { None },
        pinned: matches!(call.kwarg("pinned"), Some(Expr { kind: ExprKind::Bool(true), .. })),
    })
}

/// The allocations of a function in the order of their statements.
pub fn allocs(function: &Function) -> Vec<Alloc> {
    let mut found = Vec::new();
    if let Some(body) = &function.body {
        walk::each(body, &mut |stmt| found.extend(alloc(stmt)));
    }
    found
}

/// The call of an allocation statement.
pub fn alloc_call(stmt: &mut Stmt) -> Option<(VarId, &mut Call)> {
    let StmtKind::Assign { target, value } = &mut stmt.kind else { return None };
    let ExprKind::Call(call) = &mut value.kind else { return None };
    matches!(call.op(), Some("tile.alloc" | "tensor.alloc")).then_some((*target, call))
}

/// A memory space by its name, `Mem.Vec` or `Vec`.
pub fn space(expr: &Expr) -> Option<MemorySpace> {
    let name = expr.as_symbol()?;
    MemorySpace::by_name(name.rsplit('.').next().unwrap_or(name))
}

/// The allocations that some tile or tensor belongs to.
pub fn used(function: &Function) -> BTreeSet<Key> {
    function.vars.iter().filter_map(|v| of_type(&v.ty)).filter_map(key).collect()
}

/// Takes out allocations that no tile belongs to, as far as `may_go` says.
pub fn remove_unused(function: &mut Function, may_go: impl Fn(&Key) -> bool) {
    let now = used(function);
    let gone =
        |stmt: &Stmt| alloc(stmt).map(|a| Key::Var(a.var)).is_some_and(|key| may_go(&key) && !now.contains(&key));
    if let Some(body) = &mut function.body {
        walk::each_block_mut(body, &mut |block| block.retain(|stmt| !gone(stmt)));
    }
}

/// The first byte of memory inside its allocation; `None` when it is known only at run time.
pub fn offset(memref: &MemRef) -> Option<i64> {
    match memref {
        MemRef::Part { offset, .. } => offset.as_int(),
        _ => Some(0),
    }
}

/// Bytes of memory; those of its allocation when it is the whole of it.
pub fn size(memref: &MemRef, sizes: &BTreeMap<VarId, u64>) -> u64 {
    match memref {
        MemRef::Part { size, .. } | MemRef::Numbered { size, .. } => *size,
        MemRef::Whole(var) => sizes.get(var).copied().unwrap_or(0),
        MemRef::Declared { .. } => 0,
    }
}

/// The sizes of a function's allocations.
pub fn alloc_sizes(function: &Function) -> BTreeMap<VarId, u64> {
    allocs(function).into_iter().filter_map(|a| Some((a.var, a.size?))).collect()
}

/// Offset 0 as the reference writes it.
pub fn zero() -> Expr {
    Expr::made(ExprKind::Int(0, Some(DataType::Int64)))
}

/// `a + b` with constants folded; `None` when the sum is too large.
pub fn add(a: &Expr, b: &Expr) -> Option<Expr> {
    match (a.as_int(), b.as_int()) {
        (Some(x), Some(y)) => x.checked_add(y).map(Expr::index),
        (_, Some(0)) => Some(a.clone()),
        (Some(0), _) => Some(b.clone()),
        _ => Some(binary(BinaryOp::Add, a, b)),
    }
}

/// `a * b` with constants folded; `None` when the product is too large.
pub fn mul(a: &Expr, b: &Expr) -> Option<Expr> {
    match (a.as_int(), b.as_int()) {
        (Some(x), Some(y)) => x.checked_mul(y).map(Expr::index),
        (_, Some(1)) => Some(a.clone()),
        (Some(1), _) => Some(b.clone()),
        _ => Some(binary(BinaryOp::Mul, a, b)),
    }
}

/// An operation on two expressions.
pub fn binary(op: BinaryOp, a: &Expr, b: &Expr) -> Expr {
    Expr::made(ExprKind::Binary(op, Box::new(a.clone()), Box::new(b.clone())))
}

/// A name for a copy of a variable that no other variable has.
pub fn copy_name(function: &Function, name: &str) -> String {
    let first = format!("{name}_mv");
    let taken = |candidate: &str| function.vars.iter().any(|v| v.name == candidate);
    if !taken(&first) {
        return first;
    }
    let mut number = 1u64;
    loop {
        let next = format!("{first}_{number}");
        if !taken(&next) {
            return next;
        }
        number += 1;
    }
}
