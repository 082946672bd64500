//! Reads where everything is out of a placed program.
//!
//! A declared slot that is chosen at run time has its address as text. A window at an offset that is known only at run
//! time has the address of its allocation, and the rest as `offset`.

use super::{has_memory, refs, reuse::timeline, sizes, walk};
use crate::{
    frontend::ast::{
        BinaryOp, Block, Expr, ExprKind, Function, MemRef, MemorySpace, Program, Span, Stmt, StmtKind, TileType, VarId,
    },
    placement::{Address, AllocPlacement, FunctionPlacement, ReservePlacement, TilePlacement},
};
use std::collections::BTreeMap;

/// The placement of every function that has something on the chip.
pub fn of_program(program: &Program) -> Vec<FunctionPlacement> {
    let functions = program.functions.iter().filter(|f| has_memory(f, program.notation));
    functions
        .map(of_function)
        .filter(|f| !(f.reserve.is_empty() && f.allocs.is_empty() && f.tiles.is_empty()))
        .collect()
}

fn of_function(function: &Function) -> FunctionPlacement {
    let allocs = refs::allocs(function);
    let name = |var: VarId| function.vars.get(var.index()).map(|v| v.name.clone()).unwrap_or_default();
    let listed = allocs.iter().filter(|a| a.space != Some(MemorySpace::Ddr)).map(|a| AllocPlacement {
        base: name(a.var),
        space: a.space.map(|s| s.to_string()).unwrap_or_default(),
        addr: a.address,
        size: a.size.unwrap_or(0),
        pinned: if a.address.is_none() { Some(a.pinned) } else { None },
        id: a.id,
    });
    let mut reserve = Vec::new();
    let mut tiles = Vec::new();
    if let Some(body) = &function.body {
        walk::each(body, &mut |stmt| reserve.extend(of_reserve(stmt)));
        let context = Context { function, allocs: &allocs, sizes: refs::alloc_sizes(function) };
        context.block(body, &mut tiles);
    }
    FunctionPlacement {
        func: function.name.clone(),
        kind: function.kind.to_string(),
        reserve,
        allocs: listed.collect(),
        tiles,
        needed: needed(function),
    }
}

/// By space, the most bytes that tiles need at once. Tiles of an allocation share its bytes.
fn needed(function: &Function) -> BTreeMap<String, u64> {
    let Some(body) = &function.body else { return BTreeMap::new() };
    let lifetimes = timeline::of(function, body);
    let sizes = refs::alloc_sizes(function);
    let mut groups: BTreeMap<MemorySpace, BTreeMap<refs::Key, Vec<(usize, u64)>>> = BTreeMap::new();
    for &value in &lifetimes.order {
        let var = VarId(u32::try_from(value).unwrap_or(u32::MAX));
        let Some((tile, memref)) = refs::tile(function, var) else { continue };
        let (Some(space), Some(key)) = (tile.space, refs::key(memref)) else { continue };
        let own = sizes::of_tile(tile, space, 1, "", Span::default()).unwrap_or(u64::MAX);
        // After sharing, a type names the bytes of the place; a tile needs no more than its own.
        let size = own.min(refs::size(memref, &sizes));
        groups.entry(space).or_default().entry(key).or_default().push((value, size));
    }
    let most = |groups: BTreeMap<refs::Key, Vec<(usize, u64)>>| {
        lifetimes.most_needed(&groups.into_values().collect::<Vec<_>>())
    };
    groups.into_iter().map(|(space, groups)| (space.to_string(), most(groups))).collect()
}

fn of_reserve(stmt: &Stmt) -> Option<ReservePlacement> {
    let call = walk::expressions(stmt).into_iter().filter_map(Expr::as_call);
    let call = call.into_iter().find(|c| c.op() == Some("system.reserve_buffer"))?;
    Some(ReservePlacement {
        name: call.kwarg("name").and_then(Expr::as_str).unwrap_or_default().to_owned(),
        size: call.kwarg("size").and_then(Expr::as_int).and_then(|s| u64::try_from(s).ok())?,
        base: call.kwarg("base").and_then(Expr::as_int).unwrap_or(-1),
    })
}

struct Context<'a> {
    function: &'a Function,
    allocs: &'a [refs::Alloc],
    sizes: BTreeMap<VarId, u64>,
}

impl Context<'_> {
    /// Results stand where the text names them: at the end of each block that yields them.
    fn block(&self, block: &Block, tiles: &mut Vec<TilePlacement>) {
        for stmt in block {
            let results = match &stmt.kind {
                StmtKind::Assign { target, .. } => {
                    tiles.extend(self.tile(*target));
                    continue;
                }
                StmtKind::If { results, .. } => results.as_slice(),
                StmtKind::For(f) => &f.results,
                StmtKind::While(w) => &w.results,
                _ => &[],
            };
            for inner in stmt.blocks() {
                self.block(inner, tiles);
                if let ([result], true) = (results, walk::yielded(inner).is_some()) {
                    tiles.extend(self.tile(*result));
                }
            }
        }
    }

    fn tile(&self, var: VarId) -> Option<TilePlacement> {
        let variable = self.function.vars.get(var.index())?;
        let (tile, memref) = refs::tile(self.function, var)?;
        let key = refs::key(memref)?;
        let alloc = match &key {
            refs::Key::Var(base) => self.allocs.iter().find(|a| a.var == *base),
            refs::Key::Number(id) => self.allocs.iter().find(|a| a.id == Some(*id)),
            refs::Key::Named(_) => None,
        };
        let base = match (&key, alloc) {
            (refs::Key::Named(name), _) => name.clone(),
            (_, Some(alloc)) => self.function.vars.get(alloc.var.index())?.name.clone(),
            (refs::Key::Var(base), None) => self.function.vars.get(base.index())?.name.clone(),
            (refs::Key::Number(id), None) => id.to_string(),
        };
        let (addr, offset) = self.address(memref, alloc);
        let space = tile.space.or(alloc.and_then(|a| a.space)).unwrap_or(MemorySpace::Ddr);
        Some(TilePlacement {
            var: variable.name.clone(),
            shape: self.shape(tile),
            dtype: tile.dtype.to_string(),
            base,
            addr,
            offset,
            size: refs::size(memref, &self.sizes),
            space: space.to_string(),
        })
    }

    fn shape(&self, tile: &TileType) -> String {
        tile.shape.iter().map(|e| self.text(e)).collect::<Vec<_>>().join(", ")
    }

    fn address(&self, memref: &MemRef, alloc: Option<&refs::Alloc>) -> (Address, Option<String>) {
        match memref {
            MemRef::Numbered { addr, .. } => (Address::Known(*addr), None),
            MemRef::Part { offset, .. } => match (offset.as_int(), &offset.kind) {
                (Some(known), _) => {
                    (Address::Known(alloc.and_then(|a| a.address).unwrap_or(0).saturating_add(known)), None)
                }
                (None, ExprKind::Binary(BinaryOp::Add, base, rest))
                    if base.as_int().is_some() && !alloc.is_some_and(|a| a.pinned) =>
                {
                    (Address::Known(base.as_int().unwrap_or(0)), Some(self.text(rest)))
                }
                _ => (Address::Computed(self.text(offset)), None),
            },
            _ => (Address::Known(alloc.and_then(|a| a.address).unwrap_or(-1)), None),
        }
    }

    /// An expression as the text would have it, without the language's module.
    fn text(&self, expr: &Expr) -> String {
        self.within(expr, 0)
    }

    fn within(&self, expr: &Expr, level: u8) -> String {
        match &expr.kind {
            ExprKind::Var(var) => self.function.vars.get(var.index()).map(|v| v.name.clone()).unwrap_or_default(),
            ExprKind::Dynamic(name) | ExprKind::Symbol(name) => name.clone(),
            ExprKind::Int(value, _) => value.to_string(),
            ExprKind::Unary(op, inner) => format!("{op:?}({})", self.within(inner, 0)).to_lowercase(),
            ExprKind::Binary(op, a, b) => {
                let own = if matches!(op, BinaryOp::Add | BinaryOp::Sub) { 1 } else { 2 };
                let text = format!("{} {} {}", self.within(a, own), op.name(), self.within(b, own + 1));
                if own < level { format!("({text})") } else { text }
            }
            ExprKind::Call(call) => {
                let arguments: Vec<String> = call.args.iter().map(|e| self.within(e, 0)).collect();
                format!("{}({})", call.op().unwrap_or("?"), arguments.join(", "))
            }
            _ => "?".to_owned(),
        }
    }
}
