//! Which results may not take the bytes of which operands, whatever the time says.

use super::Group;
use crate::frontend::{
    ast::{Expr, ExprKind, Function, FunctionKind, StmtKind, VarId},
    memory::{Target, operands, refs, walk},
};
use std::collections::{BTreeMap, BTreeSet};

/// What a function's operations demand.
#[derive(Debug, Default)]
pub struct Hazards {
    /// Operands that each result may not lie on.
    forbidden: BTreeMap<VarId, Vec<VarId>>,
    /// Tiles that were loaded, or are views of such.
    loaded: BTreeSet<VarId>,
    /// Tiles that are computed from what came out of a queue.
    from_popped: BTreeSet<VarId>,
}

impl Hazards {
    /// Of a function on a device.
    pub fn of(function: &Function, target: &Target) -> Self {
        let mut found = Self::default();
        let Some(body) = &function.body else { return found };
        let split = target.split_load_hazard && is_split(function);
        let mut popped = BTreeSet::new();
        walk::each(body, &mut |stmt| {
            let StmtKind::Assign { target, value } = &stmt.kind else { return };
            let Some(call) = value.as_call() else { return };
            let mut forbidden = operands::forbidden(function, call, *target);
            if let Some(own) = refs::of_var(function, *target) {
                // What shares a place begins where the place does.
                forbidden.extend(operands::covered_in_part(function, call, own));
            }
            if !forbidden.is_empty() {
                found.forbidden.insert(*target, forbidden);
            }
            if !split {
                return;
            }
            let inputs: Vec<VarId> = call.args.iter().filter_map(Expr::as_var).collect();
            match call.op().unwrap_or_default() {
                "tile.load" => {
                    found.loaded.insert(*target);
                }
                "tile.tpop_from_aic" => {
                    popped.insert(*target);
                }
                op if sees_its_input(op) && inputs.iter().any(|v| found.loaded.contains(v)) => {
                    found.loaded.insert(*target);
                }
                _ => {}
            }
            if inputs.iter().any(|v| popped.contains(v)) {
                found.from_popped.insert(*target);
            }
        });
        found
    }

    /// Whether something that computes into `writer` may not write over what lies in `other`.
    pub fn forbid(&self, function: &Function, writer: &Group, other: &Group) -> bool {
        let operands = writer.members.iter().filter_map(|m| self.forbidden.get(m)).flatten();
        operands.into_iter().any(|&operand| refs::base(function, operand).as_ref() == Some(&other.key))
    }

    /// Whether `writer` would be computed from a popped tile over a loaded one, which split vector kernels on A2/A3
    /// get wrong.
    pub fn loaded_and_popped(&self, writer: &Group, other: &Group) -> bool {
        let first = |group: &Group, set: &BTreeSet<VarId>| group.members.first().is_some_and(|v| set.contains(v));
        first(writer, &self.from_popped) && first(other, &self.loaded)
    }
}

/// Operations whose result is the loaded tile seen differently, as the hazard counts it.
fn sees_its_input(op: &str) -> bool {
    matches!(
        op,
        "tile.reshape"
            | "tile.extract"
            | "tile.slice"
            | "tile.fillpad"
            | "tile.fillpad_inplace"
            | "tile.transpose_view"
            | "tile.reinterpret_view"
    )
}

/// Whether a vector kernel works on half of each tile.
fn is_split(function: &Function) -> bool {
    if function.kind != FunctionKind::Aiv {
        return false;
    }
    let attribute = |name: &str| {
        let decorated = function.decorations.iter().find(|(n, _)| n == name).map(|(_, e)| e);
        let listed = match function.attributes.as_ref().map(|e| &e.kind) {
            Some(ExprKind::Dict(pairs)) => pairs.iter().find(|(key, _)| key.as_str() == Some(name)).map(|(_, e)| e),
            _ => None,
        };
        decorated.or(listed)
    };
    let is_set = |expr: &Expr| match &expr.kind {
        ExprKind::Bool(value) => *value,
        ExprKind::Int(value, _) => *value != 0,
        ExprKind::Symbol(name) => name.rsplit('.').next().is_some_and(|n| !n.eq_ignore_ascii_case("none")),
        _ => false,
    };
    ["split", "split_aiv"].into_iter().filter_map(attribute).any(is_set)
}
