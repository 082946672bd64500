//! Copying values to where they are expected, at the end of a block.
//!
//! All copies of a block happen at once as far as the program is concerned: none may write over what another one reads.
//! They are put into an order in which that holds; where they go round in a circle, one value is set aside first.

use crate::frontend::{
    ast::{
        Base, Block, Call, Callee, Expr, ExprKind, Function, MemRef, MemorySpace, Problem, Span, Stmt, StmtKind, Type,
        VarId,
    },
    memory::{materialize_aliases::Goal, refs},
};

/// A value to copy: its position in the yield, itself, and where to.
pub type Move = (usize, VarId, Goal);

/// What copying needs besides the copies.
#[derive(Default)]
pub struct Copies {
    /// Allocations for values that are set aside.
    pub allocations: Vec<Stmt>,
    /// Values that cannot be copied.
    pub problems: Vec<Problem>,
}

impl Copies {
    /// Puts copies in front of the yield at the end of a block, and yields them.
    pub fn insert(&mut self, function: &mut Function, block: &mut Block, mut moves: Vec<Move>) {
        let Some(at) = block.iter().rposition(|s| matches!(s.kind, StmtKind::Yield(_))) else { return };
        let span = block.get(at).map(|s| s.span).unwrap_or_default();
        let mut copies = Vec::new();
        while !moves.is_empty() {
            let reads = |function: &Function, other: &Move, goal: &Goal| {
                refs::base(function, other.1).as_ref() == Some(&goal.key)
            };
            let free = (0..moves.len()).find(|&i| {
                let others = moves.iter().enumerate().filter(|(j, _)| *j != i);
                moves.get(i).is_some_and(|m| others.into_iter().all(|(_, other)| !reads(function, other, &m.2)))
            });
            let Some(free) = free else {
                let Some((_, source, _)) = moves.first_mut() else { return };
                match self.set_aside(function, *source, span) {
                    Ok((aside, stmt)) => {
                        *source = aside;
                        copies.push(stmt);
                    }
                    Err(problem) => return self.problems.push(problem),
                }
                continue;
            };
            let (index, source, goal) = moves.remove(free);
            match copy(function, source, &goal, span) {
                Ok((target, stmt)) => {
                    replace(block, at, index, target);
                    copies.push(stmt);
                }
                Err(problem) => self.problems.push(problem),
            }
        }
        block.splice(at..at, copies);
    }

    /// Copies a value into an allocation of its own.
    fn set_aside(&mut self, function: &mut Function, source: VarId, span: Span) -> Result<(VarId, Stmt), Problem> {
        let unknown = || Problem::new("PTO-0661", span, "a yielded value has no memory");
        let (tile, memref) = refs::tile(function, source).ok_or_else(unknown)?;
        let (space, memref) = (tile.space.unwrap_or(MemorySpace::Ddr), memref.clone());
        let size = refs::size(&memref, &refs::alloc_sizes(function));
        let lower = space.name().to_lowercase();
        let number = function.vars.len();
        let older = !matches!(memref, MemRef::Part { .. });
        let ty = if older { Type::MemRef } else { Type::Ptr };
        let base = function.add_var(format!("mem_{lower}_{number}"), ty, Span::default());
        let bytes = Expr::index(i64::try_from(size).unwrap_or(i64::MAX));
        let mut args = vec![Expr::made(ExprKind::Symbol(format!("Mem.{space}")))];
        if older {
            let id = Expr::index(i64::try_from(number).unwrap_or(i64::MAX));
            args.extend([Expr::index(-1), bytes, id]);
        } else {
            args.push(bytes);
        }
        let call = Call { callee: Callee::Op("tile.alloc".to_owned()), args, kwargs: Vec::new() };
        let value = Expr::made(ExprKind::Call(Box::new(call)));
        self.allocations.push(Stmt::made(StmtKind::Assign { target: base, value }, Span::default()));
        let memref = if older {
            MemRef::Whole(base)
        } else {
            MemRef::Part { base: Base::Var(base), offset: refs::zero(), size, slot: None }
        };
        copy(function, source, &Goal { memref, key: refs::Key::Var(base), space: Some(space) }, span)
    }
}

fn replace(block: &mut Block, at: usize, index: usize, target: VarId) {
    if let Some(Stmt { kind: StmtKind::Yield(values), .. }) = block.get_mut(at)
        && let Some(value) = values.get_mut(index)
    {
        value.kind = ExprKind::Var(target);
    }
}

fn copy(function: &mut Function, source: VarId, goal: &Goal, span: Span) -> Result<(VarId, Stmt), Problem> {
    let variable = function.var(source);
    let space = goal.space.unwrap_or(MemorySpace::Ddr);
    let Some(tile) = variable.ty.tile().cloned() else {
        return Err(Problem::new("PTO-0661", span, format!("'{}' is not a tile", variable.name)));
    };
    if tile.space == Some(MemorySpace::Acc) && space == MemorySpace::Acc {
        let message = format!(
            "accumulator '{}' is yielded from other bytes than the value it becomes, and accumulators cannot be moved",
            variable.name
        );
        return Err(Problem::new("PTO-0659", span, message)
            .note(variable.span, format!("'{}' is computed here", variable.name))
            .help("let it be computed by adding to the carried accumulator"));
    }
    let name = refs::copy_name(function, &variable.name);
    let mut moved = tile;
    moved.memref = Some(goal.memref.clone());
    moved.space = Some(space);
    let target = function.add_var(name, Type::Tile(Box::new(moved)), span);
    let call = Call {
        callee: Callee::Op("tile.move".to_owned()),
        args: vec![Expr::made(ExprKind::Var(source))],
        kwargs: vec![("target_memory".to_owned(), Expr::made(ExprKind::Symbol(format!("Mem.{space}"))))],
    };
    let value = Expr::made(ExprKind::Call(Box::new(call)));
    Ok((target, Stmt::made(StmtKind::Assign { target, value }, span)))
}
