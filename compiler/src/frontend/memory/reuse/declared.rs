//! Declared allocations: one slot cannot hold two tiles that are needed at once.

use super::Group;
use crate::{
    frontend::{
        ast::{Function, Problem, StmtKind, VarId},
        memory::{
            operands::{Origin, origin},
            refs, walk,
        },
    },
    memory::lifetimes::Lifetimes,
};
use std::collections::{BTreeMap, BTreeSet};

/// Tiles that would write over one another. A slot that is chosen at run time is the author's business.
pub fn conflicts(function: &Function, groups: &[Group], lifetimes: &Lifetimes) -> Vec<Problem> {
    let own = independently_bound(function);
    let mut problems = Vec::new();
    for group in groups.iter().filter(|g| g.alone) {
        let mut slots: BTreeMap<i64, Vec<VarId>> = BTreeMap::new();
        for &member in group.members.iter().filter(|m| own.contains(m)) {
            if let Some(offset) = refs::of_var(function, member).and_then(refs::offset) {
                slots.entry(offset).or_default().push(member);
            }
        }
        for tiles in slots.values() {
            for (a, b) in tiles.iter().zip(tiles.iter().skip(1)) {
                let (Some(first), Some(second)) = (lifetimes.of(a.index()), lifetimes.of(b.index())) else { continue };
                if first.meets(&second) {
                    let (a, b) = (function.var(*a), function.var(*b));
                    let message = format!(
                        "tiles '{}' and '{}' have the same declared slot and are needed at once",
                        a.name, b.name
                    );
                    problems.push(
                        Problem::new("PTO-0660", b.span, message)
                            .note(a.span, format!("'{}' is defined here and read later", a.name))
                            .help("put them into different slots or different allocations"),
                    );
                }
            }
        }
    }
    problems
}

/// Tiles that an operation computes into bytes of their own; views and other names are the same data.
fn independently_bound(function: &Function) -> BTreeSet<VarId> {
    let mut found = BTreeSet::new();
    let Some(body) = &function.body else { return found };
    walk::each(body, &mut |stmt| {
        if let StmtKind::Assign { target, value } = &stmt.kind
            && let Some(call) = value.as_call()
            && !matches!(call.op().map(origin), Some(Origin::View(_) | Origin::InPlace(_)))
        {
            found.insert(*target);
        }
    });
    found
}
