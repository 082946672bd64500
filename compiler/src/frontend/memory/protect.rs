//! Copies values that a loop or a branch would write over although they are read again.
//!
//! A loop carries its value in the bytes of the first one, and a branch's result has the bytes of what the first block
//! yields. Where the old value is read again (behind the loop, in the next trip of a loop around it, as another first
//! value), the loop or branch gets a copy. This is done before tiles have memory; a trial tells which of them would
//! have the same bytes. The reference does not do this and computes such programs wrongly.
//!
//! Only vector memory can be copied within itself; elsewhere such a program is refused.

use super::{
    Target, init_memref,
    operands::written,
    paths::{before, block_mut, exclude_each_other, is_inside, same_place},
    refs::{self, Key},
    walk::{self, Path},
};
use crate::frontend::ast::{
    Block, Call, Callee, Expr, ExprKind, Function, MemorySpace, Problem, Span, Stmt, StmtKind, Type, VarId,
};
use std::collections::{BTreeMap, BTreeSet};

/// Copies give values bytes of their own, which may endanger others: so often is that looked at again.
const ROUNDS: usize = 16;

/// Puts in the copies.
///
/// # Errors
///
/// Values that would be written over and cannot be copied.
pub fn run(function: &mut Function, target: &Target) -> Result<(), Vec<Problem>> {
    for _ in 0..ROUNDS {
        if round(function, target)? == 0 {
            break;
        }
    }
    Ok(())
}

/// Puts in the copies that are needed now; how many there were.
fn round(function: &mut Function, target: &Target) -> Result<usize, Vec<Problem>> {
    let mut trial = function.clone();
    // What is wrong with sizes is said when the tiles get their memory.
    if init_memref::run(&mut trial, target).is_err() {
        return Ok(0);
    }
    let (Some(body), Some(mut own)) = (&trial.body, function.body.take()) else { return Ok(0) };
    let allocations = body.len().saturating_sub(own.len());
    let program = Reads::of(&trial, body);
    let mut found = Vec::new();
    walk::each_with_path(body, &mut |stmt, path| found.extend(program.endangered(stmt, path)));
    let count = found.len();
    let problems = copy_all(function, &mut own, found, allocations);
    function.body = Some(own);
    if problems.is_empty() { Ok(count) } else { Err(problems) }
}

/// Later places first, so that the paths of the earlier ones stay true.
fn copy_all(function: &mut Function, body: &mut Block, found: Vec<Danger>, allocations: usize) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut previous: Option<(Path, usize)> = None;
    for danger in found.into_iter().rev() {
        let mut path = danger.path.clone();
        if let Some(first) = path.first_mut() {
            first.0 = first.0.saturating_sub(allocations);
        }
        // Copies for the same loop stand in front of it already.
        let moved = previous.as_ref().filter(|(before, _)| *before == danger.path).map_or(0, |(_, copies)| *copies);
        match copy(function, body, &path, moved, &danger) {
            Ok(copies) => previous = Some((danger.path, moved + copies)),
            Err(problem) => problems.push(problem),
        }
    }
    problems
}

/// A value that must be copied.
struct Danger {
    /// The loop or branch.
    path: Path,
    /// Which of its values.
    index: usize,
    /// The value.
    var: VarId,
    /// What is read again.
    read: VarId,
    /// Where.
    at: Span,
    /// How the value is made when it is a tile that nothing was written to: another one is as good as a copy.
    create: Option<Expr>,
}

/// Where a value is defined.
struct Defined {
    path: Path,
    /// Whether it exists only once the statement is over.
    behind: bool,
}

impl Defined {
    /// Whether it exists when the statement at a path begins.
    fn before(&self, path: &Path) -> bool {
        before(&self.path, path) && !(self.behind && is_inside(path, &self.path))
    }
}

/// Where values are defined and read. Statements are numbered in the order of the text.
struct Reads<'a> {
    function: &'a Function,
    body: &'a Block,
    defined: BTreeMap<VarId, Defined>,
    by_base: BTreeMap<Key, Vec<VarId>>,
    reads: BTreeMap<VarId, Vec<(Path, Span)>>,
    /// Allocations that some statement writes to without giving the tile a new name.
    changed: BTreeSet<Key>,
}

impl<'a> Reads<'a> {
    fn of(function: &'a Function, body: &'a Block) -> Self {
        let mut found = Self {
            function,
            body,
            defined: BTreeMap::new(),
            by_base: BTreeMap::new(),
            reads: BTreeMap::new(),
            changed: BTreeSet::new(),
        };
        walk::each_with_path(body, &mut |stmt, path| {
            for var in walk::expressions(stmt).into_iter().flat_map(Expr::vars) {
                found.reads.entry(var).or_default().push((path.clone(), stmt.span));
            }
            let calls = walk::expressions(stmt).into_iter().filter_map(Expr::as_call);
            found.changed.extend(calls.flat_map(written).filter_map(|v| refs::base(function, v)));
            let mut define = |var: VarId, behind: bool| {
                found.defined.insert(var, Defined { path: path.clone(), behind });
                if let Some(key) = refs::base(function, var) {
                    found.by_base.entry(key).or_default().push(var);
                }
            };
            match &stmt.kind {
                StmtKind::Assign { target, .. } => define(*target, true),
                StmtKind::If { results, .. } => results.iter().for_each(|r| define(*r, true)),
                _ => {
                    for carry in walk::carries(stmt) {
                        define(carry.inside, false);
                        carry.result.into_iter().for_each(|r| define(r, true));
                    }
                }
            }
        });
        found
    }

    /// The values of a loop or branch that it would write over too early.
    fn endangered(&self, stmt: &Stmt, path: &Path) -> Vec<Danger> {
        let mut found = Vec::new();
        let mut seen: Vec<Key> = Vec::new();
        for (index, var, written) in self.taken_over(stmt) {
            let Some(key) = refs::base(self.function, var) else { continue };
            let create = self.undefined(var);
            let again = match (seen.contains(&key), written) {
                (true, _) => Some((var, stmt.span)),
                (false, true) => self.read_again(&key, create.map(|_| var), stmt, path),
                (false, false) => None,
            };
            match again {
                Some((read, at)) => {
                    found.push(Danger { path: path.clone(), index, var, read, at, create: create.cloned() });
                }
                None => seen.push(key),
            }
        }
        found
    }

    /// Values whose bytes a loop carries or a branch's result has, and whether something else is written there.
    fn taken_over(&self, stmt: &Stmt) -> Vec<(usize, VarId, bool)> {
        let StmtKind::If { then, otherwise: Some(otherwise), results, .. } = &stmt.kind else {
            let inits = walk::carries(stmt).into_iter().filter_map(|c| Some((c.index, c.init?)));
            return inits.map(|(index, init)| (index, init, true)).collect();
        };
        let taken = |index: usize| {
            let var = walk::yielded_var(then, index)?;
            let key = refs::base(self.function, var)?;
            let other = walk::yielded_var(otherwise, index).and_then(|v| refs::base(self.function, v))?;
            Some((index, var, key != other))
        };
        (0..results.len()).filter_map(taken).collect()
    }

    /// How a tile is made of which nobody can tell what it holds.
    fn undefined(&self, var: VarId) -> Option<&'a Expr> {
        if refs::base(self.function, var).is_none_or(|key| self.changed.contains(&key)) {
            return None;
        }
        match &walk::at(self.body, &self.defined.get(&var)?.path)?.kind {
            StmtKind::Assign { value, .. } => {
                (value.as_call().and_then(Call::op) == Some("tile.create")).then_some(value)
            }
            _ => None,
        }
    }

    /// A tile with the same bytes from before a loop or branch that is read once that has begun (a loop) or is over (a
    /// branch). What `undefined` holds does not matter.
    fn read_again(&self, key: &Key, undefined: Option<VarId>, stmt: &Stmt, path: &Path) -> Option<(VarId, Span)> {
        let is_loop = walk::loop_body(stmt).is_some();
        for &var in self.by_base.get(key)?.iter().filter(|v| Some(**v) != undefined) {
            let Some(defined) = self.defined.get(&var) else { continue };
            if !defined.before(path) {
                continue;
            }
            for (read, span) in self.reads.get(&var).into_iter().flatten() {
                let inside = is_inside(read, path);
                let later = if is_loop { inside || before(path, read) } else { !inside && before(path, read) };
                if (later && !exclude_each_other(self.body, path, read)) || self.comes_round(&defined.path, path, read)
                {
                    return Some((var, *span));
                }
            }
        }
        None
    }

    /// Whether a loop around both runs the reading statement again, with a value from outside that loop.
    fn comes_round(&self, defined: &Path, path: &Path, read: &Path) -> bool {
        (1..path.len()).any(|depth| {
            let (Some(outer), Some(around)) =
                (path.get(..depth), walk::at(self.body, path.get(..depth).unwrap_or(path)))
            else {
                return false;
            };
            // A carried value is a new one on each trip: it is defined at the loop itself.
            let from_outside = !is_inside(defined, outer) && !same_place(defined, outer);
            walk::loop_body(around).is_some() && is_inside(read, outer) && from_outside
        })
    }
}

/// Copies a value in front of a loop, or at the end of a branch's first block. `moved` statements were put in front of
/// it before; returns how many are now.
fn copy(
    function: &mut Function,
    body: &mut Block,
    path: &Path,
    moved: usize,
    danger: &Danger,
) -> Result<usize, Problem> {
    let Some(mut tile) = function.vars.get(danger.var.index()).and_then(|v| v.ty.tile()).cloned() else {
        return Ok(0);
    };
    // A slot that the author declared is not for the copy.
    tile.memref = None;
    let name = function.var(danger.var).name.clone();
    let Some((block, at)) = block_mut(body, path) else { return Ok(0) };
    let Some(stmt) = block.get_mut(at + moved) else { return Ok(0) };
    let span = stmt.span;
    if tile.space != Some(MemorySpace::Vec) && danger.create.is_none() {
        let read = function.vars.get(danger.read.index()).map(|v| v.name.clone()).unwrap_or_default();
        let space = tile.space.map_or("memory", MemorySpace::name);
        let message =
            format!("'{name}' is written over here, and '{read}' is read again; tiles in {space} cannot be copied");
        return Err(Problem::new("PTO-0659", span, message).note(danger.at, format!("'{read}' is read here")));
    }
    let copy_name = refs::copy_name(function, &name);
    let target = function.add_var(copy_name, Type::Tile(Box::new(tile)), span);
    let call = Call {
        callee: Callee::Op("tile.move".to_owned()),
        args: vec![Expr::made(ExprKind::Var(danger.var))],
        kwargs: vec![("target_memory".to_owned(), Expr::made(ExprKind::Symbol("Mem.Vec".to_owned())))],
    };
    let value = danger.create.clone().unwrap_or_else(|| Expr::made(ExprKind::Call(Box::new(call))));
    let copy = Stmt::made(StmtKind::Assign { target, value }, span);
    if let Some(value) = used_value(stmt, danger.index) {
        value.kind = ExprKind::Var(target);
    }
    if let StmtKind::If { then, .. } = &mut stmt.kind {
        let end = then.iter().rposition(|s| matches!(s.kind, StmtKind::Yield(_))).unwrap_or(then.len());
        then.insert(end, copy);
        return Ok(0);
    }
    block.insert(at, copy);
    Ok(1)
}

/// The expression that a loop begins with, or that a branch's first block yields.
fn used_value(stmt: &mut Stmt, index: usize) -> Option<&mut Expr> {
    match &mut stmt.kind {
        StmtKind::For(f) => f.inits.get_mut(index),
        StmtKind::While(w) => w.inits.get_mut(index),
        StmtKind::If { then, .. } => then.iter_mut().rev().find_map(|s| match &mut s.kind {
            StmtKind::Yield(values) => values.get_mut(index),
            _ => None,
        }),
        _ => None,
    }
}
