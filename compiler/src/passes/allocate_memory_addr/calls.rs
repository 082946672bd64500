//! Functions that call others: who is placed first, and which bytes a call takes.
//!
//! Callees are placed before their callers. Everything that a function and those it calls place, or have placed, is
//! its footprint; a caller keeps its tiles out of it while they are needed across the call. Queue buffers of a callee
//! are filled by the other core at any time, so they are taken as long as the caller runs, and no other function for that
//! core that the caller runs may use them.

use super::{
    collect::{self, Roots},
    lifetimes::{Lifetime, Region},
};
use crate::{ir, memory::layout::Range};
use melior::ir::{OperationRef, operation::OperationLike};
use pto_dialect::{Space, device::Device, diagnostics, op_key, op_name};
use std::collections::HashMap;

/// The calls of a module by function name, and what is known of each function's bytes.
pub struct Calls<'c, 'a> {
    functions: Vec<OperationRef<'c, 'a>>,
    callees: HashMap<String, Vec<(String, OperationRef<'c, 'a>)>>,
    /// What their authors gave to the tiles of functions that call others.
    given: HashMap<String, Vec<(Space, Range)>>,
    footprints: HashMap<String, Footprint>,
}

/// The bytes that a function uses.
#[derive(Clone, Default)]
struct Footprint {
    tiles: Vec<(Space, Range)>,
    buffers: Vec<(Space, Range)>,
}

impl<'c, 'a> Calls<'c, 'a> {
    /// Reads the calls of a module.
    pub fn of(functions: Vec<OperationRef<'c, 'a>>, device: &Device) -> Self {
        let callees: HashMap<String, Vec<_>> = functions
            .iter()
            .map(|&function| {
                let calls = ir::walk(function).into_iter().filter(|&op| op_name(op) == "func.call");
                (ir::symbol(function), calls.filter_map(|call| Some((ir::callee(call)?, call))).collect())
            })
            .collect();
        let callers = functions.iter().map(|&f| (ir::symbol(f), f)).filter(|(name, _)| !callees[name].is_empty());
        let given = callers.map(|(name, f)| (name, given(&collect::roots(f, device)).collect())).collect();
        Self { functions, callees, given, footprints: HashMap::new() }
    }

    /// Callees before callers, else in the order of the text; `None` after an error: a function that calls itself.
    pub fn order(&self) -> Option<Vec<OperationRef<'c, 'a>>> {
        let mut order = Vec::new();
        let mut state: HashMap<String, bool> = HashMap::new();
        for &function in &self.functions {
            self.visit(function, &mut state, &mut order)?;
        }
        Some(order)
    }

    fn visit(
        &self,
        function: OperationRef<'c, 'a>,
        state: &mut HashMap<String, bool>,
        order: &mut Vec<OperationRef<'c, 'a>>,
    ) -> Option<()> {
        let name = ir::symbol(function);
        if state.contains_key(&name) {
            return Some(());
        }
        state.insert(name.clone(), false);
        for (callee, call) in self.callees.get(&name).into_iter().flatten() {
            if state.get(callee) == Some(&false) {
                let message = format!(
                    "function '{callee}' calls itself, here from '{name}': its tiles can stand in one place only"
                );
                diagnostics::error(call.location(), "PTO-0502", message).help("use a loop").emit();
                return None;
            }
            if let Some(next) = self.functions.iter().find(|&&f| ir::symbol(f) == *callee) {
                self.visit(*next, state, order)?;
            }
        }
        state.insert(name, true);
        order.push(function);
        Some(())
    }

    /// Remembers what a function uses, once it is placed.
    pub fn placed(&mut self, function: OperationRef<'c, 'a>, device: &Device) {
        let name = ir::symbol(function);
        let mut own = Footprint::default();
        for (callee, _) in self.callees.get(&name).into_iter().flatten() {
            if let Some(inner) = self.footprints.get(callee) {
                own.tiles.extend(&inner.tiles);
                own.buffers.extend(&inner.buffers);
            }
        }
        own.tiles.extend(given(&collect::roots(function, device)));
        let buffers = collect::reserved(function);
        own.buffers.extend(buffers.iter().filter_map(|b| Some((b.space, super::range(b.base?, b.size)))));
        self.footprints.insert(name, own);
    }

    /// Bytes of a space that the author gave to tiles of functions that call this one, directly or not.
    pub fn given_by_callers(&self, function: OperationRef<'c, 'a>, space: Space) -> Vec<Range> {
        let mut callers = vec![ir::symbol(function)];
        let mut next = 0;
        let mut found = Vec::new();
        while next < callers.len() {
            let name = callers[next].clone();
            next += 1;
            for symbol in self.functions.iter().map(|&f| ir::symbol(f)) {
                let Some(given) = self.given.get(&symbol) else { continue };
                if self.callees[&symbol].iter().any(|(callee, _)| *callee == name) && !callers.contains(&symbol) {
                    found.extend(in_space(given, space));
                    callers.push(symbol);
                }
            }
        }
        found
    }

    /// Functions for the same core that some function calls beside this one, as far as they are placed.
    fn siblings(&self, function: OperationRef<'c, 'a>) -> impl Iterator<Item = &Footprint> {
        let (name, kind) = (ir::symbol(function), ir::kernel_kind(function));
        let beside = move |other: &&OperationRef<'c, 'a>| {
            let symbol = ir::symbol(**other);
            let same_core = kind.is_none_or(|k| ir::kernel_kind(**other).is_none_or(|o| o == k));
            let calls = |list: &Vec<(String, OperationRef)>, wanted: &str| list.iter().any(|(c, _)| c == wanted);
            same_core && symbol != name && self.callees.values().any(|list| calls(list, &name) && calls(list, &symbol))
        };
        self.functions.iter().filter(beside).filter_map(|&other| self.footprints.get(&ir::symbol(other)))
    }

    /// Bytes of a space in queue buffers of siblings: the other core fills them while this function runs.
    pub fn sibling_buffers(&self, function: OperationRef<'c, 'a>, space: Space) -> Vec<Range> {
        in_space(self.siblings(function).flat_map(|f| &f.buffers), space).collect()
    }

    /// Bytes of a space in tiles of siblings: this function's queue buffers are filled while they run.
    pub fn sibling_tiles(&self, function: OperationRef<'c, 'a>, space: Space) -> Vec<Range> {
        in_space(self.siblings(function).flat_map(|f| &f.tiles), space).collect()
    }

    /// Bytes of a space that calls in a function take, whichever call and whenever.
    pub fn taken(&self, function: OperationRef<'c, 'a>, space: Space) -> Vec<Range> {
        let mut found = self.buffers(function, space);
        for (callee, _) in self.callees.get(&ir::symbol(function)).into_iter().flatten() {
            found.extend(in_space(self.footprints.get(callee).into_iter().flat_map(|f| &f.tiles), space));
        }
        found
    }

    /// Bytes of a space in queue buffers of functions that this one calls.
    pub fn buffers(&self, function: OperationRef<'c, 'a>, space: Space) -> Vec<Range> {
        let callees = self.callees.get(&ir::symbol(function)).into_iter().flatten();
        let footprints = callees.filter_map(|(callee, _)| self.footprints.get(callee));
        in_space(footprints.flat_map(|f| &f.buffers), space).collect()
    }

    /// The same for tiles, with the call at which they are taken.
    pub fn regions(&self, function: OperationRef<'c, 'a>, space: Space) -> Vec<Region> {
        let ops = ir::walk(function);
        let position: HashMap<usize, usize> = ops.iter().enumerate().map(|(i, &op)| (op_key(op), i)).collect();
        let mut found = Vec::new();
        for (callee, call) in self.callees.get(&ir::symbol(function)).into_iter().flatten() {
            let at = position[&op_key(*call)];
            let tiles = in_space(self.footprints.get(callee).into_iter().flat_map(|f| &f.tiles), space);
            let lifetime = Lifetime { start: at, end: at, key: usize::MAX, last_reader_allows: Vec::new() };
            found.extend(tiles.map(|range| Region { range, lifetime: lifetime.clone() }));
        }
        found
    }

    /// The calls of a function that take bytes of a space, with their number.
    pub fn needs(&self, function: OperationRef<'c, 'a>, space: Space) -> Vec<(OperationRef<'c, 'a>, String, u64)> {
        let mut found = Vec::new();
        for (callee, call) in self.callees.get(&ir::symbol(function)).into_iter().flatten() {
            let Some(own) = self.footprints.get(callee) else { continue };
            let all = in_space(own.tiles.iter().chain(&own.buffers), space);
            if let Some(end) = all.map(|range| range.end).max() {
                found.push((*call, callee.clone(), end));
            }
        }
        found
    }
}

/// Tiles that have addresses.
fn given(roots: &Roots) -> impl Iterator<Item = (Space, Range)> {
    roots.list.iter().filter_map(|root| Some((root.space, super::range(root.addr?, root.size))))
}

/// Those that stand in a space.
fn in_space<'x>(bytes: impl IntoIterator<Item = &'x (Space, Range)>, space: Space) -> impl Iterator<Item = Range> {
    bytes.into_iter().filter(move |(s, _)| *s == space).map(|(_, range)| *range)
}
