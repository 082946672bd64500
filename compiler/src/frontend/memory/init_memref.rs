//! Gives every tile and tensor memory: an allocation of its own, or the bytes of what it is made from.
//!
//! Views, windows and in-place results have their source's bytes; so have the values that a loop carries (those of the
//! first value) and the results of a branch (those of the first branch). What comes out of a queue has none: the pop
//! says where. Each allocation gets a statement at the head of the function. What a window's offset is at run time
//! stays an expression. Declared allocations (`declared`) are the author's.

mod declared;
mod statements;
mod window;

use super::{
    Target,
    operands::{Origin, origin},
    refs, sizes, walk,
};
use crate::frontend::ast::{
    Base, Block, Call, Expr, Function, MemRef, MemorySpace, Problem, Span, Stmt, StmtKind, Type, VarId,
};
use declared::Declarations;
use std::collections::{BTreeMap, BTreeSet};

/// Gives a function's tiles memory.
///
/// # Errors
///
/// Tiles whose size is not known, and declarations that cannot be kept.
pub fn run(function: &mut Function, target: &Target) -> Result<(), Vec<Problem>> {
    let Some(body) = function.body.take() else { return Ok(()) };
    let declarations = declared::collect(function, target.int_acc_rows);
    let names = function.vars.iter().map(|v| v.name.clone()).collect();
    let mut init = Init {
        function,
        rows: target.int_acc_rows,
        declarations,
        names,
        next: 0,
        sizes: BTreeMap::new(),
        problems: Vec::new(),
    };
    let params: Vec<VarId> = init.function.params.iter().map(|p| p.var).collect();
    for param in params {
        init.own(param);
    }
    init.block(&body);
    let Init { mut problems, sizes, declarations, .. } = init;
    problems.extend(declarations.problems.iter().cloned());
    let mut full = statements::of(function, &body, &sizes, &declarations);
    full.extend(body);
    function.body = Some(full);
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

struct Init<'a> {
    function: &'a mut Function,
    rows: u64,
    declarations: Declarations,
    /// Names that are taken.
    names: BTreeSet<String>,
    /// The number of the next allocation.
    next: u64,
    /// Bytes of the allocations.
    sizes: BTreeMap<VarId, u64>,
    problems: Vec<Problem>,
}

impl Init<'_> {
    fn block(&mut self, block: &Block) {
        for stmt in block {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign { target, value } => self.assign(*target, value),
            StmtKind::If { results, .. } => {
                for block in stmt.blocks() {
                    self.block(block);
                }
                for (index, &result) in results.iter().enumerate() {
                    let mut sources = stmt.blocks().into_iter().filter_map(|b| walk::yielded_var(b, index));
                    let source = sources.find(|&v| refs::of_var(self.function, v).is_some());
                    self.join(result, source);
                }
            }
            StmtKind::For(_) | StmtKind::While(_) => {
                let carries = walk::carries(stmt);
                for carry in &carries {
                    match carry.init {
                        Some(init) => self.share(carry.inside, init),
                        None => self.own(carry.inside),
                    }
                }
                for block in stmt.blocks() {
                    self.block(block);
                }
                for carry in carries {
                    if let Some(result) = carry.result {
                        self.join(result, Some(carry.inside));
                    }
                }
            }
            _ => {
                for block in stmt.blocks() {
                    self.block(block);
                }
            }
        }
    }

    fn assign(&mut self, target: VarId, value: &Expr) {
        if let Some(source) = value.as_var() {
            if self.is_tile(target) {
                return self.share(target, source);
            }
            return self.own(target);
        }
        let Some(call) = value.as_call() else { return self.own(target) };
        let origin = call.op().map_or(Origin::Own, origin);
        let source = |index: usize| call.args.get(index).and_then(Expr::as_var);
        match origin {
            Origin::Popped if self.is_tile(target) => self.without(target),
            Origin::View(index) => {
                self.refuse_declared(target, call);
                match source(index) {
                    Some(source) if self.is_tile(source) && refs::of_var(self.function, source).is_none() => {
                        self.without(target);
                    }
                    Some(source) => self.view(target, source, call),
                    None => self.own(target),
                }
            }
            Origin::InPlace(index) => {
                self.refuse_declared(target, call);
                match source(index).filter(|&s| refs::of_var(self.function, s).is_some()) {
                    Some(source) => self.share(target, source),
                    None => self.own(target),
                }
            }
            Origin::Own | Origin::Popped => self.own(target),
        }
    }

    fn is_tile(&self, var: VarId) -> bool {
        self.function.vars.get(var.index()).is_some_and(|v| v.ty.tile().is_some())
    }

    /// An allocation of its own, or the declared one.
    fn own(&mut self, var: VarId) {
        let Some(variable) = self.function.vars.get(var.index()) else { return };
        let (name, span) = (variable.name.clone(), variable.span);
        match &variable.ty {
            Type::Tensor(tensor) => {
                let size = sizes::of_tensor(tensor);
                let base = Base::Named(format!("mem_ddr_{}", self.number("ddr")));
                self.set(var, MemRef::Part { base, offset: refs::zero(), size, slot: None }, None);
            }
            Type::Tile(tile) => {
                let space = tile.space.unwrap_or(MemorySpace::Ddr);
                let declared = matches!(tile.memref, Some(MemRef::Declared { .. }));
                let size = match sizes::of_tile(tile, space, self.rows, &name, span) {
                    Ok(size) => size,
                    Err(problem) => return self.problems.push(problem),
                };
                if declared {
                    if let Some(memref) = self.declarations.resolve(self.function, var) {
                        self.set(var, memref, Some(space));
                    }
                    return;
                }
                let lower = space.name().to_lowercase();
                let number = self.number(&lower);
                let base = self.function.add_var(format!("mem_{lower}_{number}"), Type::Ptr, Span::default());
                self.sizes.insert(base, size);
                self.set(
                    var,
                    MemRef::Part { base: Base::Var(base), offset: refs::zero(), size, slot: None },
                    Some(space),
                );
            }
            _ => {}
        }
    }

    /// A result of a loop or branch: a number of its own, as the reference counts, but a source's bytes.
    fn join(&mut self, result: VarId, source: Option<VarId>) {
        if !self.is_tile(result) {
            return self.own(result);
        }
        let memref = source.and_then(|s| refs::tile(self.function, s)).map(|(t, m)| (m.clone(), t.space));
        match memref {
            Some((memref, space)) => {
                self.number(space.unwrap_or(MemorySpace::Ddr).name());
                self.set(result, memref, space);
            }
            // Values without bytes stay without; anything else has an allocation.
            None if source.is_some_and(|s| self.is_tile(s)) => self.without(result),
            None => self.own(result),
        }
    }

    /// The very bytes of another variable.
    fn share(&mut self, var: VarId, source: VarId) {
        let Some(memref) = refs::of_var(self.function, source).cloned() else {
            if self.is_tile(source) {
                self.without(var);
            } else {
                self.own(var);
            }
            return;
        };
        let space = self.function.vars.get(source.index()).and_then(|v| v.ty.tile()).and_then(|t| t.space);
        self.set(var, memref, space);
    }

    /// Bytes inside those of another variable.
    fn view(&mut self, var: VarId, source: VarId, call: &Call) {
        let Some(parent) = refs::of_var(self.function, source).cloned() else { return self.own(var) };
        let space = self.function.vars.get(source.index()).and_then(|v| v.ty.tile()).and_then(|t| t.space);
        let span = self.function.vars.get(var.index()).map(|v| v.span).unwrap_or_default();
        let source_type = self.function.vars.get(source.index()).map(|v| v.ty.clone());
        match window::memory(&parent, source_type.as_ref(), call, span) {
            Ok(memref) => self.set(var, memref, space),
            Err(problem) => self.problems.push(problem),
        }
    }

    /// No bytes of this function's own.
    fn without(&mut self, var: VarId) {
        if let Some(tile) = self.function.vars.get_mut(var.index()).and_then(|v| v.ty.tile_mut()) {
            tile.memref = None;
            if let Some(axis) = tile.shape.iter().position(|e| e.as_int().is_none()) {
                let variable = self.function.var(var);
                let message =
                    format!("tile '{}' has an extent (axis {axis}) that is known only at run time", variable.name);
                self.problems.push(Problem::new("PTO-0650", variable.span, message));
            }
        }
    }

    fn set(&mut self, var: VarId, memref: MemRef, space: Option<MemorySpace>) {
        match self.function.vars.get_mut(var.index()).map(|v| &mut v.ty) {
            Some(Type::Tile(tile)) => {
                tile.memref = Some(memref);
                tile.space = space.or(tile.space);
            }
            Some(Type::Tensor(tensor)) => tensor.memref = Some(memref),
            _ => {}
        }
    }

    /// The next number whose name is free.
    fn number(&mut self, space: &str) -> u64 {
        loop {
            let number = self.next;
            self.next += 1;
            if !self.names.contains(&format!("mem_{space}_{number}")) {
                return number;
            }
        }
    }

    fn refuse_declared(&mut self, var: VarId, call: &Call) {
        let Some(variable) = self.function.vars.get(var.index()) else { return };
        if matches!(refs::of_type(&variable.ty), Some(MemRef::Declared { .. })) {
            let message = format!(
                "tile '{}' is produced by '{}' in its source tile's allocation, so it cannot have one of its own",
                variable.name,
                call.op().unwrap_or_default()
            );
            self.problems
                .push(Problem::new("PTO-0653", variable.span, message).help("declare the source tile instead"));
        }
    }
}
