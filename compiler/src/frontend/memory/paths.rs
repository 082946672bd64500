//! How statements lie to one another: before, inside, in different branches.

use super::walk;
use crate::frontend::ast::{Block, StmtKind};

/// Whether one statement begins before another.
pub fn before(a: &[(usize, usize)], b: &[(usize, usize)]) -> bool {
    for (x, y) in a.iter().zip(b) {
        if x.0 != y.0 {
            return x.0 < y.0;
        }
        if x.1 != y.1 && a.len() > 1 && b.len() > 1 {
            return x.1 < y.1;
        }
    }
    a.len() < b.len()
}

/// Whether a statement is inside another.
pub fn is_inside(inner: &[(usize, usize)], outer: &[(usize, usize)]) -> bool {
    let Some((last, front)) = outer.split_last() else { return true };
    inner.len() > outer.len() && inner.starts_with(front) && inner.get(front.len()).is_some_and(|i| i.0 == last.0)
}

/// Whether two paths lead to the same statement.
pub fn same_place(a: &[(usize, usize)], b: &[(usize, usize)]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).enumerate().all(|(depth, (x, y))| x.0 == y.0 && (depth + 1 == a.len() || x.1 == y.1))
}

/// Whether two statements are in different blocks of one branch.
pub fn exclude_each_other(body: &Block, a: &[(usize, usize)], b: &[(usize, usize)]) -> bool {
    let shared = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (Some(x), Some(y)) = (a.get(shared), b.get(shared)) else { return false };
    let both_inside = shared + 1 < a.len() && shared + 1 < b.len();
    let stmt = a.get(..=shared).and_then(|path| walk::at(body, path));
    x.0 == y.0 && both_inside && stmt.is_some_and(|s| matches!(s.kind, StmtKind::If { .. }))
}

/// The block that holds the statement at the end of a path, and its position there.
pub fn block_mut<'a>(body: &'a mut Block, path: &[(usize, usize)]) -> Option<(&'a mut Block, usize)> {
    let (&(index, inner), rest) = path.split_first()?;
    if rest.is_empty() {
        return Some((body, index));
    }
    block_mut(body.get_mut(index)?.blocks_mut().into_iter().nth(inner)?, rest)
}
