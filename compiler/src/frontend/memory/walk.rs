//! Walking over statements, and where a statement stands.

use crate::frontend::ast::{Block, Expr, Stmt, StmtKind, VarId};

/// Calls `visit` for each statement, outer ones first, in the order of the text.
pub fn each<'a>(block: &'a Block, visit: &mut dyn FnMut(&'a Stmt)) {
    for stmt in block {
        visit(stmt);
        for inner in stmt.blocks() {
            each(inner, visit);
        }
    }
}

/// Calls `visit` for each statement that may be changed, outer ones first.
pub fn each_mut(block: &mut Block, visit: &mut dyn FnMut(&mut Stmt)) {
    for stmt in block {
        visit(stmt);
        for inner in stmt.blocks_mut() {
            each_mut(inner, visit);
        }
    }
}

/// Calls `visit` for each block, inner ones first.
pub fn each_block_mut(block: &mut Block, visit: &mut dyn FnMut(&mut Block)) {
    for stmt in &mut *block {
        for inner in stmt.blocks_mut() {
            each_block_mut(inner, visit);
        }
    }
    visit(block);
}

/// The expressions that a statement itself evaluates; not those of statements inside.
pub fn expressions(stmt: &Stmt) -> Vec<&Expr> {
    match &stmt.kind {
        StmtKind::Assign { value, .. } => vec![value],
        StmtKind::Eval(value) => vec![value],
        StmtKind::If { condition, .. } => vec![condition],
        StmtKind::For(f) => [&f.start, &f.stop, &f.step].into_iter().chain(&f.inits).collect(),
        StmtKind::While(w) => std::iter::once(&w.condition).chain(&w.inits).collect(),
        StmtKind::Yield(values) | StmtKind::Return(values) => values.iter().collect(),
        StmtKind::With { context, .. } | StmtKind::Scope { context, .. } => vec![context],
        StmtKind::Break | StmtKind::Continue | StmtKind::Pass => Vec::new(),
    }
}

/// The values at the end of a block.
pub fn yielded(block: &Block) -> Option<&[Expr]> {
    block.iter().rev().find_map(|s| if let StmtKind::Yield(values) = &s.kind { Some(values.as_slice()) } else { None })
}

/// The variable that a block yields at a position.
pub fn yielded_var(block: &Block, index: usize) -> Option<VarId> {
    yielded(block)?.get(index)?.as_var()
}

/// What a loop carries: name inside, first value, name behind it, in order.
#[derive(Clone, Debug)]
pub struct Carry {
    /// Its position among the loop's values.
    pub index: usize,
    /// What the body knows it as.
    pub inside: VarId,
    /// Where it comes from, when that is a variable.
    pub init: Option<VarId>,
    /// What it is called behind the loop.
    pub result: Option<VarId>,
}

/// The values a statement carries, when it is a loop.
pub fn carries(stmt: &Stmt) -> Vec<Carry> {
    let (carried, inits, results) = match &stmt.kind {
        StmtKind::For(f) => (&f.carried, &f.inits, &f.results),
        StmtKind::While(w) => (&w.carried, &w.inits, &w.results),
        _ => return Vec::new(),
    };
    let carry = |(index, &inside): (usize, &VarId)| Carry {
        index,
        inside,
        init: inits.get(index).and_then(Expr::as_var),
        result: results.get(index).copied(),
    };
    carried.iter().enumerate().map(carry).collect()
}

/// The body of a loop.
pub fn loop_body(stmt: &Stmt) -> Option<&Block> {
    match &stmt.kind {
        StmtKind::For(f) => Some(&f.body),
        StmtKind::While(w) => Some(&w.body),
        _ => None,
    }
}

/// Way from a function's body to a statement: positions in blocks, and which block of the statement comes next.
pub type Path = Vec<(usize, usize)>;

/// The statement at the end of a path, whose last block number does not matter.
pub fn at<'a>(body: &'a Block, path: &[(usize, usize)]) -> Option<&'a Stmt> {
    let (&(index, inner), rest) = path.split_first()?;
    let stmt = body.get(index)?;
    if rest.is_empty() { Some(stmt) } else { at(stmt.blocks().get(inner)?, rest) }
}

/// Calls `visit` for each statement with its path, outer ones first.
pub fn each_with_path<'a>(body: &'a Block, visit: &mut dyn FnMut(&'a Stmt, &Path)) {
    fn go<'a>(block: &'a Block, path: &mut Path, visit: &mut dyn FnMut(&'a Stmt, &Path)) {
        for (index, stmt) in block.iter().enumerate() {
            path.push((index, 0));
            visit(stmt, path);
            for (number, inner) in stmt.blocks().into_iter().enumerate() {
                if let Some(last) = path.last_mut() {
                    last.1 = number;
                }
                go(inner, path, visit);
            }
            path.pop();
        }
    }
    go(body, &mut Vec::new(), visit);
}
