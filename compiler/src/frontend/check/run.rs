//! Runs a function on a memory that knows whose value stands where.
//!
//! Branches are run from the same state and only what is certain after both is kept. A loop's body is run until the
//! state at its head is certain for every trip; the loop may also run no trip at all. What an operation does is in
//! `operation`.

use super::{
    area::{Area, Extent},
    effects::{Origin, origin, scratch, touched},
    memory::{Memory, Patch},
    pieces::Writer,
    places::{Place, Places},
};
use crate::frontend::ast::{Block, Expr, Function, Problem, Span, Stmt, StmtKind, VarId};
use std::collections::HashSet;

/// Whether what follows a statement is reached from it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Falls,
    Stops,
}

/// A loop that is being run.
struct Loop {
    /// The state at the head.
    mark: usize,
    /// The states that leave it from inside.
    breaks: Vec<Patch>,
    /// The states that go to the head from inside.
    continues: Vec<Patch>,
}

/// A loop's parts.
struct Parts<'p> {
    condition: Option<&'p Expr>,
    carried: &'p [VarId],
    inits: &'p [Expr],
    body: &'p Block,
    results: &'p [VarId],
}

pub(super) struct Run<'p> {
    pub(super) function: &'p Function,
    pub(super) places: &'p Places,
    pub(super) memory: Memory,
    pub(super) problems: Vec<Problem>,
    /// What was reported: once a variable and code.
    pub(super) reported: HashSet<(&'static str, VarId)>,
    loops: Vec<Loop>,
    /// Tiles that nothing is ever written to under their own name: whoever carries one finds nothing lost.
    undefined: HashSet<VarId>,
}

impl<'p> Run<'p> {
    /// Runs a function; returns what it found.
    pub(super) fn of(function: &'p Function, places: &'p Places) -> Vec<Problem> {
        let (memory, problems, reported) = (Memory::default(), Vec::new(), HashSet::new());
        let undefined = function.body.as_ref().map(|body| undefined(body, places)).unwrap_or_default();
        let mut run = Self { function, places, memory, problems, reported, loops: Vec::new(), undefined };
        for param in &function.params {
            run.define(param.var, function.span);
        }
        if let Some(body) = &function.body {
            run.block(body);
        }
        run.problems
    }

    /// Gives a variable's bytes a new value.
    pub(super) fn define(&mut self, var: VarId, span: Span) {
        let places = self.places;
        let Some(place) = places.get(var) else { return };
        self.memory.write(place.area, var, Writer { tile: var, span }, |other| {
            places.get(other).is_some_and(|other| are_slots_of_one(place, other))
        });
    }

    fn block(&mut self, block: &'p Block) -> Flow {
        for statement in block {
            if self.statement(statement) == Flow::Stops {
                return Flow::Stops;
            }
        }
        Flow::Falls
    }

    fn statement(&mut self, statement: &'p Stmt) -> Flow {
        let span = statement.span;
        match &statement.kind {
            StmtKind::Assign { target, value } => self.operation(value, Some(*target), span),
            StmtKind::Eval(value) => self.operation(value, None, span),
            StmtKind::If { condition, then, otherwise, results } => {
                self.read_all(condition, "the condition", span);
                return self.branches(then, otherwise.as_ref(), results);
            }
            StmtKind::For(f) => {
                for bound in [&f.start, &f.stop, &f.step] {
                    self.read_all(bound, "the range", span);
                }
                self.repeat(
                    &Parts {
                        condition: None,
                        carried: &f.carried,
                        inits: &f.inits,
                        body: &f.body,
                        results: &f.results,
                    },
                    span,
                );
            }
            StmtKind::While(w) => self.repeat(
                &Parts {
                    condition: Some(&w.condition),
                    carried: &w.carried,
                    inits: &w.inits,
                    body: &w.body,
                    results: &w.results,
                },
                span,
            ),
            StmtKind::Return(values) => {
                values.iter().for_each(|value| self.read_all(value, "the return", span));
                return Flow::Stops;
            }
            StmtKind::Break | StmtKind::Continue => {
                self.leave(matches!(statement.kind, StmtKind::Break));
                return Flow::Stops;
            }
            StmtKind::With { body, .. } | StmtKind::Scope { body, .. } => return self.block(body),
            StmtKind::Yield(_) | StmtKind::Pass => {}
        }
        Flow::Falls
    }

    fn leave(&mut self, for_good: bool) {
        let Some(mark) = self.loops.last().map(|l| l.mark) else { return };
        let patch = self.memory.since(mark);
        if let Some(current) = self.loops.last_mut() {
            if for_good { &mut current.breaks } else { &mut current.continues }.push(patch);
        }
    }

    fn branches(&mut self, then: &'p Block, otherwise: Option<&'p Block>, results: &[VarId]) -> Flow {
        let mark = self.memory.mark();
        let mut outcomes = Vec::new();
        for block in [Some(then), otherwise] {
            let flow = block.map_or(Flow::Falls, |block| {
                let flow = self.block(block);
                self.bind(results, yielded(block));
                flow
            });
            let patch = self.memory.rewind(mark);
            if flow == Flow::Falls {
                outcomes.push(patch);
            }
        }
        self.memory.join(&outcomes);
        if outcomes.is_empty() { Flow::Stops } else { Flow::Falls }
    }

    fn repeat(&mut self, parts: &Parts<'p>, span: Span) {
        self.bind(parts.carried, parts.inits);
        self.claim_undefined(parts, span);
        self.forget_overwritten(parts, span);
        let breaks = loop {
            let mark = self.memory.mark();
            self.loops.push(Loop { mark, breaks: Vec::new(), continues: Vec::new() });
            if let Some(condition) = parts.condition {
                self.read_all(condition, "the condition", span);
            }
            let flow = self.block(parts.body);
            if flow == Flow::Falls {
                self.bind(parts.carried, yielded(parts.body));
            }
            let end = self.memory.rewind(mark);
            let Some(ended) = self.loops.pop() else { break Vec::new() };
            let mut outcomes = vec![Patch::default()];
            outcomes.extend((flow == Flow::Falls).then_some(end));
            outcomes.extend(ended.continues);
            // Each time fewer values are certain at the head, so this ends.
            if !self.memory.join(&outcomes) {
                break ended.breaks;
            }
        };
        let mut outcomes = vec![Patch::default()];
        outcomes.extend(breaks);
        self.memory.join(&outcomes);
        let pairs: Vec<_> = parts.results.iter().copied().zip(parts.carried.iter().copied()).collect();
        self.bind_pairs(&pairs);
    }

    /// What a loop carries at first without anybody knowing what it is stands wherever its place is, also when the loop
    /// has been run before.
    fn claim_undefined(&mut self, parts: &Parts<'p>, span: Span) {
        for (&carried, init) in parts.carried.iter().zip(parts.inits) {
            let value = init.as_var().and_then(|var| self.places.get(var)).map(|place| place.value);
            if value.is_some_and(|value| self.undefined.contains(&value))
                && let Some(place) = self.places.get(carried)
            {
                self.memory.claim(place.area, carried, Writer { tile: carried, span });
            }
        }
    }

    /// Values from outside that the body certainly overwrites are not there for every trip. Knowing that at once spares
    /// running the body again, which would double with every level of nesting.
    fn forget_overwritten(&mut self, parts: &Parts<'p>, span: Span) {
        let places = self.places;
        let mut given = Given { inside: parts.carried.iter().copied().collect(), ..Given::default() };
        if !given.collect(parts.body) {
            return;
        }
        let spoiled: HashSet<VarId> = given.spoiled.iter().filter_map(|v| places.get(*v)).map(|p| p.value).collect();
        for (var, at) in given.written {
            let Some(place) = places.get(var) else { continue };
            let writer = Writer { tile: var, span: if at == Span::default() { span } else { at } };
            self.memory.strip(place.area, writer, |name| {
                given.inside.contains(&name)
                    || spoiled.contains(&name)
                    || places.get(name).is_some_and(|other| are_slots_of_one(place, other))
            });
        }
    }

    /// Gives names to what expressions name.
    fn bind(&mut self, readers: &[VarId], values: &[Expr]) {
        let places = self.places;
        let value = |e: &Expr| e.as_var().and_then(|var| places.get(var)).map(|place| place.value);
        let pairs: Vec<_> = readers.iter().zip(values).filter_map(|(r, e)| Some((*r, value(e)?))).collect();
        self.bind_pairs(&pairs);
    }

    fn bind_pairs(&mut self, pairs: &[(VarId, VarId)]) {
        let places = pairs.iter().filter_map(|(reader, _)| self.places.get(*reader));
        let extents: Vec<Extent> = places.map(|place| place.area).flat_map(Area::extents).collect();
        self.memory.bind(pairs, extents);
    }
}

/// Whether two tiles are slots of one declared allocation, so that the author keeps them apart at run time.
pub(super) fn are_slots_of_one(a: &Place, b: &Place) -> bool {
    a.slots.is_some() && a.slots == b.slots && (a.moves || b.moves)
}

fn yielded(block: &Block) -> &[Expr] {
    match block.last().map(|s| &s.kind) {
        Some(StmtKind::Yield(values)) => values,
        _ => &[],
    }
}

/// The tiles of a block that are made and never changed without getting a new name.
fn undefined(block: &Block, places: &Places) -> HashSet<VarId> {
    fn collect(block: &Block, made: &mut HashSet<VarId>, changed: &mut Vec<VarId>) {
        for statement in block {
            if let StmtKind::Assign { value, .. } | StmtKind::Eval(value) = &statement.kind {
                changed.extend(value.as_call().map(touched).unwrap_or_default());
            }
            if let StmtKind::Assign { target, value } = &statement.kind
                && origin(value) == Origin::Created
            {
                made.insert(*target);
            }
            statement.blocks().into_iter().for_each(|inner| collect(inner, made, changed));
        }
    }
    let (mut made, mut changed) = (HashSet::new(), Vec::new());
    collect(block, &mut made, &mut changed);
    for value in changed.into_iter().filter_map(|var| places.get(var)).map(|place| place.value) {
        made.remove(&value);
    }
    made
}

/// What a block gives values to.
#[derive(Default)]
struct Given {
    /// Variables of the block.
    inside: HashSet<VarId>,
    /// Those of them that bytes are written for, and where.
    written: Vec<(VarId, Span)>,
    /// Working memory: the block itself may make it valid again.
    spoiled: Vec<VarId>,
}

impl Given {
    /// Collects from a block; false when the block may be left before its end.
    fn collect(&mut self, block: &Block) -> bool {
        block.iter().all(|statement| {
            match &statement.kind {
                StmtKind::Break | StmtKind::Return(_) => return false,
                StmtKind::Eval(value) => self.spoiled.extend(value.as_call().map(scratch).unwrap_or_default()),
                StmtKind::Assign { target, value } => {
                    self.inside.insert(*target);
                    self.spoiled.extend(value.as_call().map(scratch).unwrap_or_default());
                    if matches!(origin(value), Origin::Own | Origin::InPlace(_)) {
                        self.written.push((*target, statement.span));
                    }
                }
                StmtKind::If { results, .. } => self.inside.extend(results),
                StmtKind::For(f) => self.inside.extend(f.carried.iter().chain(&f.results)),
                StmtKind::While(w) => self.inside.extend(w.carried.iter().chain(&w.results)),
                _ => {}
            }
            statement.blocks().into_iter().all(|b| self.collect(b))
        })
    }
}
