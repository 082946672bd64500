//! Which names are visible where.
//!
//! A block sees what the blocks around it define in front of it. A definition in a block ends with the block, so a name
//! that a block gives anew means two things behind it: the value in front and the value inside. Python has the second
//! in mind, the language (each name defined once, values leave blocks by yields) the first; such names are refused.

use std::collections::{HashMap, HashSet};

use crate::frontend::ast::{Span, VarId};

/// What a name means.
pub(super) enum Found {
    /// A variable.
    Var(VarId),
    /// A variable that a block in front gave anew there, without a yield.
    Clobbered(Span),
    /// Nothing visible; it was defined in another block there.
    Elsewhere(Span),
    /// Nothing.
    Nothing,
}

/// A name that a loop reads from in front of it and gives anew, without carrying it.
pub(super) struct Uncarried {
    pub(super) name: String,
    pub(super) read: Span,
    pub(super) written: Span,
}

#[derive(Default)]
struct Block {
    names: HashMap<String, VarId>,
    /// Names from around that were given anew in here, and where.
    written: HashMap<String, Span>,
    /// Names from around that blocks inside gave anew, and where.
    clobbered: HashMap<String, Span>,
    /// For loops: names from around that were read, and where first.
    read: Option<HashMap<String, Span>>,
}

/// The open blocks of a function.
#[derive(Default)]
pub(super) struct Scopes {
    blocks: Vec<Block>,
    /// Where names were defined last, anywhere in the function.
    everywhere: HashMap<String, Span>,
}

impl Scopes {
    /// The scope of a function.
    pub(super) fn new() -> Self {
        Self { blocks: vec![Block::default()], everywhere: HashMap::new() }
    }

    /// Opens a block.
    pub(super) fn open(&mut self, is_loop: bool) {
        self.blocks.push(Block { read: is_loop.then(HashMap::new), ..Block::default() });
    }

    /// Closes a block.
    pub(super) fn close(&mut self) -> Vec<Uncarried> {
        // The function's own block stays: callers open and close in pairs.
        let Some(block) = (if self.blocks.len() > 1 { self.blocks.pop() } else { None }) else { return Vec::new() };
        let mut problems = Vec::new();
        for (name, written) in block.written {
            if let Some(&read) = block.read.as_ref().and_then(|names| names.get(&name)) {
                problems.push(Uncarried { name: name.clone(), read, written });
            }
            self.inherit(name, written);
        }
        problems.sort_by_key(|p| p.read);
        problems
    }

    /// Notes that a block inside the innermost one gave a name anew.
    fn inherit(&mut self, name: String, written: Span) {
        let Some(block) = self.blocks.last_mut() else { return };
        if !block.names.contains_key(&name) {
            block.written.insert(name.clone(), written);
        }
        block.clobbered.insert(name, written);
    }

    /// Defines a name in the innermost block.
    pub(super) fn define(&mut self, name: &str, var: VarId, span: Span) {
        self.everywhere.insert(name.to_owned(), span);
        let outside = self.blocks.iter().rev().skip(1).any(|b| b.names.contains_key(name));
        let Some(block) = self.blocks.last_mut() else { return };
        if outside && name != "_" && !block.names.contains_key(name) {
            block.written.insert(name.to_owned(), span);
        }
        block.clobbered.remove(name);
        block.names.insert(name.to_owned(), var);
    }

    /// Defines a name in the function's own block, for names that come from outside.
    pub(super) fn define_outside(&mut self, name: &str, var: VarId, span: Span) {
        self.everywhere.insert(name.to_owned(), span);
        if let Some(block) = self.blocks.first_mut() {
            block.names.insert(name.to_owned(), var);
        }
    }

    /// Looks a name up without noting that it is read.
    pub(super) fn peek(&self, name: &str) -> Option<VarId> {
        self.blocks.iter().rev().find_map(|b| b.names.get(name).copied())
    }

    /// What a name means here.
    pub(super) fn find(&mut self, name: &str, span: Span) -> Found {
        let Some(home) = self.blocks.iter().rposition(|b| b.names.contains_key(name)) else {
            return self.everywhere.get(name).map_or(Found::Nothing, |&at| Found::Elsewhere(at));
        };
        if let Some(&at) = self.blocks[home..].iter().find_map(|b| b.clobbered.get(name)) {
            return Found::Clobbered(at);
        }
        for block in &mut self.blocks[home + 1..] {
            if let Some(read) = &mut block.read {
                read.entry(name.to_owned()).or_insert(span);
            }
        }
        self.blocks[home].names.get(name).map_or(Found::Nothing, |&var| Found::Var(var))
    }

    /// All names that are visible.
    pub(super) fn visible(&self) -> Vec<&str> {
        let names: HashSet<&str> = self.blocks.iter().flat_map(|b| b.names.keys().map(String::as_str)).collect();
        names.into_iter().collect()
    }
}
