//! Makes what a loop carries one buffer, by having the yielded value computed where the next trip expects it.
//!
//! From each carried value the buffer is pushed up the producers of what the loop yields: through branches into both
//! of them, through operations that work in place, through loops. It stops where an operation cannot write there:
//! where the buffer is still needed, in another memory space, or where the operation may not write over its operands.
//! What is left differing is copied by `fixup`.

use super::{
    follow::{Snapshot, follow_sources, restore, snapshot},
    operands::{Origin, covered_in_part, forbidden, origin},
    refs::{self, Key},
    walk::{self, Path},
};
use crate::frontend::ast::{Block, Call, Expr, Function, MemRef, MemorySpace, Stmt, StmtKind, VarId};
use std::collections::{BTreeMap, BTreeSet};

/// Retargets what can be.
pub fn run(function: &mut Function) {
    let Some(body) = function.body.take() else { return };
    let before = snapshot(function);
    let mut retarget = Retarget::new(function, &body);
    walk::each(&body, &mut |stmt| retarget.push_loop(stmt));
    follow_sources(function, &body, &before);
    function.body = Some(body);
}

/// Where a value comes from.
pub enum Definition {
    /// An assignment, at a path.
    Assigned(Path),
    /// The result of a branch: what the blocks yield at an index, and the branch's path.
    Joined(Vec<Option<VarId>>, Path),
    /// The result of a loop: what it yields, the name inside and the first value.
    Looped(Option<VarId>, VarId, Option<VarId>),
    /// What a loop's body knows it as; the first value.
    Carried(Option<VarId>),
}

/// Pushes buffers up chains of producers.
pub struct Retarget<'a> {
    function: &'a mut Function,
    body: &'a Block,
    definitions: BTreeMap<VarId, Definition>,
    /// The statements that define values.
    places: BTreeMap<VarId, Path>,
    visiting: BTreeSet<VarId>,
    /// Memory before the push that is going on: what it moves is one value and cannot be in its own way.
    start: Snapshot,
    /// Names inside the loops whose results are being pushed. Their bytes become the goal's, too.
    open: Vec<VarId>,
}

/// What a value is to be computed into.
#[derive(Clone)]
pub struct Goal {
    /// The bytes.
    pub memref: MemRef,
    /// Their allocation.
    pub key: Key,
    /// Their space.
    pub space: Option<MemorySpace>,
}

impl Goal {
    /// The bytes of a variable.
    pub fn of(function: &Function, var: VarId) -> Option<Self> {
        let (tile, memref) = refs::tile(function, var)?;
        Some(Self { memref: memref.clone(), key: refs::key(memref)?, space: tile.space })
    }
}

impl<'a> Retarget<'a> {
    /// For a function whose body was taken out.
    pub fn new(function: &'a mut Function, body: &'a Block) -> Self {
        let (definitions, places) = definitions(body);
        Self {
            function,
            body,
            definitions,
            places,
            visiting: BTreeSet::new(),
            start: Snapshot::new(),
            open: Vec::new(),
        }
    }

    /// The function.
    pub fn function(&self) -> &Function {
        self.function
    }

    /// Where a variable comes from.
    pub fn definition(&self, var: VarId) -> Option<&Definition> {
        self.definitions.get(&var)
    }

    /// A new value is to be pushed.
    pub fn begin(&mut self) {
        self.start = snapshot(self.function);
    }

    fn push_loop(&mut self, stmt: &Stmt) {
        let Some(body) = walk::loop_body(stmt) else { return };
        for carry in walk::carries(stmt) {
            let goal = Goal::of(self.function, carry.inside);
            if let (Some(goal), Some(yielded)) = (goal, walk::yielded_var(body, carry.index)) {
                self.begin();
                self.push(yielded, &goal);
            }
        }
    }

    /// Tries to have a value computed into the goal; whether it is there now.
    fn push(&mut self, var: VarId, goal: &Goal) -> bool {
        if refs::base(self.function, var).as_ref() == Some(&goal.key) {
            return true;
        }
        if refs::base(self.function, var).is_none() || !self.visiting.insert(var) {
            return false;
        }
        let done = match self.definitions.get(&var) {
            Some(Definition::Assigned(path)) => {
                let path = path.clone();
                self.push_assigned(var, &path, goal, None)
            }
            Some(Definition::Joined(sources, path)) => {
                let (sources, path) = (sources.clone(), path.clone());
                // Each branch may stay where it got to: its block ends with the goal's bytes unread.
                let reached: Vec<bool> = sources
                    .into_iter()
                    .enumerate()
                    .map(|(block, source)| source.is_some_and(|s| self.push_from_block(s, &path, block, goal)))
                    .collect();
                reached.into_iter().all(|r| r) && self.write(var, goal)
            }
            Some(&Definition::Looped(yielded, inside, init)) => {
                // All or nothing: the body alone would write over bytes that are read behind the loop.
                let saved = snapshot(self.function);
                self.open.push(inside);
                let done = yielded.is_some_and(|y| self.push(y, goal))
                    && init.is_none_or(|i| self.push(i, goal))
                    && self.write(inside, goal)
                    && self.write(var, goal);
                self.open.pop();
                if !done {
                    restore(self.function, saved);
                }
                done
            }
            // Any other carried value is needed as long as its own loop runs.
            Some(&Definition::Carried(init)) => {
                self.open.contains(&var) && init.is_some_and(|i| self.push(i, goal)) && self.write(var, goal)
            }
            None => false,
        };
        self.visiting.remove(&var);
        done
    }

    /// Pushes what a block of a branch yields. A value from outside the block may be needed whichever block runs.
    fn push_from_block(&mut self, source: VarId, branch: &Path, block: usize, goal: &Goal) -> bool {
        if refs::base(self.function, source).as_ref() == Some(&goal.key) {
            return true;
        }
        let depth = branch.len();
        let inside = self.places.get(&source).is_some_and(|place| {
            let front = depth.saturating_sub(1);
            place.len() > depth
                && place.get(..front) == branch.get(..front)
                && place.get(front) == branch.get(front).map(|(index, _)| (*index, block)).as_ref()
        });
        inside && self.push(source, goal)
    }

    /// Tries to have an assigned value computed into the goal. With `branch`, bytes need be free only up to the end of
    /// that statement's block.
    pub fn push_assigned(&mut self, var: VarId, path: &Path, goal: &Goal, branch: Option<usize>) -> bool {
        let Some(StmtKind::Assign { value, .. }) = walk::at(self.body, path).map(|s| &s.kind) else { return false };
        let Some(call) = value.as_call() else { return false };
        let Some(op) = call.op() else { return false };
        match origin(op) {
            Origin::InPlace(index) => {
                let input = call.args.get(index).and_then(Expr::as_var);
                return input.is_some_and(|i| self.push(i, goal)) && self.write(var, goal);
            }
            Origin::View(index) if matches!(op, "tile.set_validshape" | "tile.assemble") => {
                let input = call.args.get(index).and_then(Expr::as_var);
                let same = |i: &VarId| refs::base(self.function, *i) == refs::base(self.function, var);
                return input.filter(same).is_some_and(|i| self.push(i, goal)) && self.write(var, goal);
            }
            // A window's place inside its source would be lost.
            Origin::View(_) | Origin::Popped => return false,
            Origin::Own => {}
        }
        let space = self.function.vars.get(var.index()).and_then(|v| v.ty.tile()).and_then(|t| t.space);
        if goal.space.is_some() && space != goal.space {
            return false;
        }
        if self.reads_where_it_may_not_write(call, var, goal) || !self.is_free(path, goal, branch) {
            return false;
        }
        self.write(var, goal)
    }

    fn write(&mut self, var: VarId, goal: &Goal) -> bool {
        refs::retarget(self.function, var, goal.memref.clone(), goal.space);
        true
    }

    fn reads_where_it_may_not_write(&self, call: &Call, var: VarId, goal: &Goal) -> bool {
        let mut operands = forbidden(self.function, call, var);
        operands.extend(covered_in_part(self.function, call, &goal.memref));
        operands.iter().any(|&operand| refs::base(self.function, operand).as_ref() == Some(&goal.key))
    }

    /// Whether the goal's bytes are neither read nor written behind a statement, up to the end of the loop around it
    /// (or of the block inside the statement at depth `branch`).
    fn is_free(&self, path: &Path, goal: &Goal, branch: Option<usize>) -> bool {
        for depth in (0..path.len()).rev() {
            let Some((&(index, _), outer)) = path.get(..=depth).and_then(<[_]>::split_last) else { return false };
            let Some(block) = block_at(self.body, outer) else { return false };
            if block.iter().skip(index + 1).any(|stmt| self.touches(stmt, &goal.key)) {
                return false;
            }
            if branch.is_some_and(|b| depth == b + 1) {
                return true;
            }
            let around = if outer.is_empty() { None } else { walk::at(self.body, outer) };
            if around.is_some_and(|s| walk::loop_body(s).is_some()) {
                return true;
            }
        }
        true
    }

    fn touches(&self, stmt: &Stmt, key: &Key) -> bool {
        let base = |var: VarId| self.start.get(var.index()).and_then(|(memref, _)| memref.as_ref()).and_then(refs::key);
        let is = |var: VarId| {
            base(var).is_some_and(|b| b == *key || self.open.iter().any(|o| base(*o).as_ref() == Some(&b)))
        };
        let reads = walk::expressions(stmt).into_iter().flat_map(Expr::vars).any(is);
        let writes = matches!(&stmt.kind, StmtKind::Assign { target, .. } if is(*target));
        reads || writes || stmt.blocks().into_iter().flatten().any(|inner| self.touches(inner, key))
    }
}

/// The block that a path leads into.
fn block_at<'a>(body: &'a Block, outer: &[(usize, usize)]) -> Option<&'a Block> {
    match outer.last() {
        None => Some(body),
        Some(&(_, number)) => walk::at(body, outer)?.blocks().into_iter().nth(number),
    }
}

/// Where each value comes from.
fn definitions(body: &Block) -> (BTreeMap<VarId, Definition>, BTreeMap<VarId, Path>) {
    let mut found = BTreeMap::new();
    let mut places = BTreeMap::new();
    walk::each_with_path(body, &mut |stmt, path| match &stmt.kind {
        StmtKind::Assign { target, .. } => {
            places.insert(*target, path.clone());
            found.insert(*target, Definition::Assigned(path.clone()));
        }
        StmtKind::If { results, .. } => {
            for (index, &result) in results.iter().enumerate() {
                let sources = stmt.blocks().into_iter().map(|b| walk::yielded_var(b, index)).collect();
                places.insert(result, path.clone());
                found.insert(result, Definition::Joined(sources, path.clone()));
            }
        }
        _ => {
            for carry in walk::carries(stmt) {
                found.insert(carry.inside, Definition::Carried(carry.init));
                let yielded = walk::loop_body(stmt).and_then(|b| walk::yielded_var(b, carry.index));
                if let Some(result) = carry.result {
                    places.insert(result, path.clone());
                    found.insert(result, Definition::Looped(yielded, carry.inside, carry.init));
                }
            }
        }
    });
    (found, places)
}
