//! Stages of software pipelines: copies of a loop's body that run at once must not share bytes.
//!
//! The front-end marks operations with `pipeline_membership="group:stage;..."`. A group gets as many buffers as its
//! space has room for, at most one a stage; stages that many apart share one. When a space does not fit, the group with
//! the largest tiles gives one up, again and again. When that does not help, only loaded tiles outside the cube unit's
//! memories are kept apart.

use super::Group;
use crate::{
    frontend::{
        ast::{Call, Expr, ExprKind, Function, MemorySpace, StmtKind, VarId},
        memory::walk,
    },
    memory::layout::Align,
};
use std::collections::{BTreeMap, BTreeSet};

/// The keyword that carries the marks, inside `attrs` or on its own.
const MARK: &str = "pipeline_membership";

/// A pipeline group in a space.
#[derive(Debug, Default)]
struct Pipeline {
    /// Bytes of its largest tile.
    slot: u64,
    /// Its stages in order.
    stages: BTreeSet<i64>,
    /// How many buffers it has.
    depth: u64,
}

/// The pipelines of one space.
#[derive(Debug)]
pub struct Stages {
    /// Group and stage of each buffer.
    marks: Vec<Vec<(i64, i64)>>,
    loads: Vec<bool>,
    pipelines: BTreeMap<i64, Pipeline>,
    /// Whether the number of buffers counts; otherwise loads are kept apart.
    counted: bool,
    /// Whether nothing is kept apart.
    off: bool,
}

impl Stages {
    /// Of the buffers of a space that has so many bytes.
    pub fn of(function: &Function, groups: &[&Group], limit: Option<u64>) -> Self {
        let marks = marks(function);
        let mark = |group: &&Group| group.members.iter().find_map(|m| marks.get(m));
        let mut stages = Self {
            marks: groups.iter().map(|g| mark(g).map(|(m, _)| m.clone()).unwrap_or_default()).collect(),
            loads: groups.iter().map(|g| mark(g).is_some_and(|(_, load)| *load)).collect(),
            pipelines: BTreeMap::new(),
            counted: limit.is_some(),
            off: false,
        };
        for (group, marks) in groups.iter().zip(&stages.marks) {
            for &(pipeline, stage) in marks {
                let pipeline = stages.pipelines.entry(pipeline).or_default();
                pipeline.slot = pipeline.slot.max(group.size);
                pipeline.stages.insert(stage);
            }
        }
        for pipeline in stages.pipelines.values_mut() {
            let room = limit.and_then(|l| l.checked_div(pipeline.slot)).unwrap_or(1);
            pipeline.depth = room.min(pipeline.stages.len() as u64).max(1);
        }
        if !stages.counted
            && let Some(first) = groups.first()
        {
            stages.only_loads(first.space);
        }
        stages
    }

    /// Whether a buffer belongs to a pipeline.
    pub fn concern(&self, buffer: usize) -> bool {
        self.marks.get(buffer).is_some_and(|marks| !marks.is_empty())
    }

    /// Whether two buffers belong to different stages that must not wait for one another.
    pub fn keep_apart(&self, a: usize, b: usize) -> bool {
        let (Some(first), Some(second)) = (self.marks.get(a), self.marks.get(b)) else { return false };
        if self.off {
            return false;
        }
        let differ = first.iter().any(|&(group, stage)| {
            let same_group = second.iter().filter(|(other, _)| *other == group);
            same_group.into_iter().any(|&(_, other)| self.differ(group, stage, other))
        });
        let loads = || [a, b].into_iter().any(|i| self.loads.get(i).copied().unwrap_or(false));
        differ && (self.counted || loads())
    }

    fn differ(&self, group: i64, a: i64, b: i64) -> bool {
        if !self.counted {
            return a != b;
        }
        let Some(pipeline) = self.pipelines.get(&group) else { return false };
        let ordinal = |stage: i64| pipeline.stages.range(..stage).count() as u64;
        ordinal(a) % pipeline.depth.max(1) != ordinal(b) % pipeline.depth.max(1)
    }

    /// Takes a buffer from the group for which that saves most; whether there was one to take.
    pub fn give_up_one(&mut self, align: Align) -> bool {
        let bytes = |slot: u64| if slot < u64::MAX / 2 { align(slot) } else { slot };
        let candidates = self.pipelines.iter_mut().filter(|(_, p)| p.depth > 1);
        // The first of equals, so that the result does not depend on anything else.
        let chosen = candidates.fold(None, |best: Option<&mut Pipeline>, (_, next)| match best {
            Some(best) if bytes(best.slot) >= bytes(next.slot) => Some(best),
            _ => Some(next),
        });
        chosen.is_some_and(|pipeline| {
            pipeline.depth -= 1;
            true
        })
    }

    /// From now on only loaded tiles are kept apart, and none in the cube unit's memories.
    pub fn only_loads(&mut self, space: MemorySpace) {
        self.counted = false;
        self.off = !matches!(space, MemorySpace::Vec | MemorySpace::Mat | MemorySpace::Ddr | MemorySpace::ScalarLocal);
    }
}

/// The marks of a function's tiles, and whether they are loaded.
fn marks(function: &Function) -> BTreeMap<VarId, (Vec<(i64, i64)>, bool)> {
    let mut found = BTreeMap::new();
    let Some(body) = &function.body else { return found };
    walk::each(body, &mut |stmt| {
        if let StmtKind::Assign { target, value } = &stmt.kind
            && let Some(call) = value.as_call()
            && let Some(text) = mark(call)
        {
            let load = matches!(call.op(), Some("tile.load" | "tile.read"));
            found.insert(*target, (parse(text), load));
        }
    });
    found.retain(|_, (marks, _)| !marks.is_empty());
    found
}

fn mark(call: &Call) -> Option<&str> {
    if let Some(text) = call.kwarg(MARK).and_then(Expr::as_str) {
        return Some(text);
    }
    let ExprKind::Dict(pairs) = &call.kwarg("attrs")?.kind else { return None };
    pairs.iter().find(|(key, _)| key.as_str() == Some(MARK)).and_then(|(_, value)| value.as_str())
}

/// `group:stage;group:stage`; what is not like that is left out.
fn parse(text: &str) -> Vec<(i64, i64)> {
    text.split(';')
        .filter_map(|pair| pair.split_once(':'))
        .filter_map(|(g, s)| Some((g.parse().ok()?, s.parse().ok()?)))
        .collect()
}

/// Takes the marks off a call.
pub fn strip(value: &mut Expr) {
    let ExprKind::Call(call) = &mut value.kind else { return };
    call.kwargs.retain(|(name, _)| name != MARK);
    let Some(at) = call.kwargs.iter().position(|(name, _)| name == "attrs") else { return };
    let Some((_, Expr { kind: ExprKind::Dict(pairs), .. })) = call.kwargs.get_mut(at) else { return };
    let before = pairs.len();
    pairs.retain(|(key, _)| key.as_str() != Some(MARK));
    if pairs.is_empty() && before > 0 {
        call.kwargs.remove(at);
    }
}
