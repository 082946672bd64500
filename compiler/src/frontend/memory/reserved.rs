//! `system.reserve_buffer`: bytes that a function keeps free for queues between cores.

use super::{Target, walk};
use crate::{
    frontend::ast::{Block, Call, Expr, ExprKind, Function, FunctionKind, MemorySpace, Problem, Span, Stmt, StmtKind},
    memory::layout::{self, Failure, Range, Reserved},
};

/// One reservation.
struct Statement {
    name: String,
    reserved: Reserved,
    span: Span,
}

/// What a function reserves.
#[derive(Debug, Default)]
pub struct Resolved {
    /// Where; `None` when nothing is reserved.
    pub space: Option<MemorySpace>,
    /// Names and ranges in the order of the statements; ends are rounded up to a legal start.
    pub ranges: Vec<(String, Range)>,
    /// Where tiles begin.
    pub end: u64,
    /// The last statement, for messages.
    pub span: Span,
}

impl Resolved {
    /// Where tiles of a space begin.
    pub fn end_in(&self, space: MemorySpace) -> u64 {
        if self.space == Some(space) { self.end } else { 0 }
    }
}

/// Where queues of a function live: `None` when it may not have any.
pub fn space(function: &Function) -> Option<MemorySpace> {
    match function.kind {
        FunctionKind::Aic => Some(MemorySpace::Mat),
        FunctionKind::Aiv | FunctionKind::InCore => Some(MemorySpace::Vec),
        _ => None,
    }
}

/// Finds every reservation's base without changing anything. `taken` is in use by tiles that are already placed.
pub fn resolve(function: &Function, target: &Target, taken: &[Range]) -> Result<Resolved, Vec<Problem>> {
    let statements = collect(function.body.as_ref().unwrap_or(&Block::new()))?;
    let Some(last) = statements.last() else { return Ok(Resolved::default()) };
    let Some(space) = space(function) else {
        let message = format!(
            "cannot resolve reserve_buffer memory space for function '{}' with type {}",
            function.name, function.kind
        );
        return Err(vec![Problem::new("PTO-0657", last.span, message)]);
    };
    let reserved: Vec<Reserved> = statements.iter().map(|s| s.reserved).collect();
    let align = |address| (target.align)(address, space);
    let done = layout::place_reserved(&reserved, taken, &align)
        .map_err(|failure| vec![describe(&failure, &function.name, &statements)])?;
    let ranges = statements.iter().map(|s| s.name.clone()).zip(done.ranges).collect();
    Ok(Resolved { space: Some(space), ranges, end: done.end, span: last.span })
}

/// Writes the bases into the statements.
pub fn write(function: &mut Function, resolved: &Resolved) {
    let mut bases = resolved.ranges.iter().map(|(_, range)| range.start);
    let Some(body) = &mut function.body else { return };
    walk::each_mut(body, &mut |stmt| {
        let Some(call) = reserve_mut(stmt) else { return };
        let Some(base) = bases.next().and_then(|b| i64::try_from(b).ok()) else { return };
        let value = Expr::index(base);
        match call.kwargs.iter_mut().find(|(name, _)| name == "base") {
            Some((_, old)) => *old = value,
            None => call.kwargs.push(("base".to_owned(), value)),
        }
    });
}

fn collect(body: &Block) -> Result<Vec<Statement>, Vec<Problem>> {
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    walk::each(body, &mut |stmt| {
        for call in walk::expressions(stmt).into_iter().filter_map(Expr::as_call).filter(|c| is_reserve(c)) {
            match statement(call, stmt.span) {
                Ok(statement) => found.push(statement),
                Err(problem) => problems.push(problem),
            }
        }
    });
    if problems.is_empty() { Ok(found) } else { Err(problems) }
}

fn statement(call: &Call, span: Span) -> Result<Statement, Problem> {
    let bad = |message: String| Problem::new("PTO-0656", span, message);
    let name = call.kwarg("name").and_then(Expr::as_str).unwrap_or_default().to_owned();
    let size = match call.kwarg("size").map(|e| e.as_int()) {
        Some(Some(size)) if size > 0 => size.unsigned_abs(),
        Some(Some(size)) => return Err(bad(format!("reserve_buffer requires size > 0, got {size}"))),
        Some(None) => return Err(bad("the size of reserve_buffer must be a constant".to_owned())),
        None => return Err(bad("reserve_buffer requires a size".to_owned())),
    };
    let base = match call.kwarg("base") {
        None => None,
        Some(expr) if expr.as_symbol().is_some_and(|s| s.rsplit('.').next() == Some("AUTO")) => None,
        Some(expr) => match expr.as_int() {
            Some(base) => u64::try_from(base).ok(),
            None => return Err(bad("the base of reserve_buffer must be a constant".to_owned())),
        },
    };
    Ok(Statement { name, reserved: Reserved { size, base }, span })
}

fn is_reserve(call: &Call) -> bool {
    call.op() == Some("system.reserve_buffer")
}

fn reserve_mut(stmt: &mut Stmt) -> Option<&mut Call> {
    let (StmtKind::Assign { value, .. } | StmtKind::Eval(value)) = &mut stmt.kind else { return None };
    let ExprKind::Call(call) = &mut value.kind else { return None };
    is_reserve(call).then_some(call)
}

fn describe(failure: &Failure, function: &str, statements: &[Statement]) -> Problem {
    let span = |index: usize| statements.get(index).map(|s| s.span).unwrap_or_default();
    let name = |index: usize| statements.get(index).map_or("", |s| s.name.as_str());
    match *failure {
        Failure::Overlap { index, range, other, taken } => {
            let message = format!(
                "overlapping reserve_buffer ranges in function '{function}': [{}, {}) overlaps with [{}, {})",
                range.start, range.end, taken.start, taken.end
            );
            Problem::new("PTO-0655", span(index), message)
                .note(span(other), format!("[{}, {}) is '{}'", taken.start, taken.end, name(other)))
        }
        Failure::TooFar { index } => {
            let message = format!("reserve_buffer '{}' ends behind every address", name(index));
            Problem::new("PTO-0656", span(index), message)
        }
    }
}
