//! What the text says about bytes: allocations, reserved ranges, the addresses in tile types.
//!
//! It reads all notations and takes nothing from the planner. Addresses that depend on run-time values are bounded by
//! interval arithmetic over literals, remainders and the ranges of counted loops.

use crate::frontend::ast::{
    Base, BinaryOp, Block, Call, Expr, ExprKind, Function, MemRef, MemorySpace, Span, StmtKind, TileType, VarId,
};
use std::collections::HashMap;

/// A `tile.alloc`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allocation {
    pub(super) space: Option<MemorySpace>,
    /// Older notations.
    pub(super) address: Option<i64>,
    pub(super) bytes: Option<u64>,
    pub(super) span: Span,
}

/// A `system.reserve_buffer`.
#[derive(Clone, Debug)]
pub(super) struct Reserved {
    pub(super) name: String,
    pub(super) base: Option<u64>,
    pub(super) bytes: u64,
    pub(super) span: Span,
}

/// What the function says outside tile types.
#[derive(Default)]
pub(super) struct Declarations {
    pub(super) allocations: HashMap<VarId, Allocation>,
    pub(super) reserved: Vec<Reserved>,
    /// Least and greatest values of scalars.
    ranges: HashMap<VarId, (i128, i128)>,
}

/// The bytes that a tile's type states.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stated {
    pub(super) space: MemorySpace,
    /// The first byte, or the least possible one.
    pub(super) start: Option<u64>,
    /// Behind the last possible byte, when the address depends on run-time values.
    pub(super) moving_end: Option<u64>,
    /// Whether the address depends on run-time values.
    pub(super) moves: bool,
    /// How many bytes the type says there are.
    pub(super) room: Option<u64>,
    /// The allocation.
    pub(super) base: Option<VarId>,
    /// Whether the allocation is declared in slots.
    pub(super) slotted: bool,
}

impl Declarations {
    /// Collects them.
    pub(super) fn of(function: &Function) -> Self {
        let mut found = Self::default();
        if let Some(body) = &function.body {
            found.block(body);
        }
        found
    }

    /// What a tile's type states; `Err` says why it states nothing.
    pub(super) fn stated(&self, tile: &TileType) -> Result<Option<Stated>, &'static str> {
        let Some(memref) = &tile.memref else { return Ok(None) };
        let base = match memref {
            MemRef::Part { base: Base::Var(var), .. } | MemRef::Whole(var) => Some(*var),
            _ => None,
        };
        let allocation = base.and_then(|b| self.allocations.get(&b));
        let space = tile.space.or(allocation.and_then(|a| a.space)).ok_or("is in no memory space")?;
        let mut stated =
            Stated { space, start: None, moving_end: None, moves: false, room: None, base, slotted: false };
        match memref {
            MemRef::Declared { .. } => return Err("has a declaration, but no address"),
            MemRef::Numbered { addr, size, .. } => {
                stated.start = Some(u64::try_from(*addr).map_err(|_| "has no address")?);
                stated.room = Some(*size);
            }
            MemRef::Whole(_) => {
                let allocation = allocation.ok_or("has bytes of something that is no allocation")?;
                stated.start = allocation.address.and_then(|a| u64::try_from(a).ok());
                stated.start.ok_or("has no address")?;
                stated.room = allocation.bytes;
            }
            MemRef::Part { offset, size, slot, .. } => {
                stated.room = Some(*size);
                stated.slotted = slot.is_some();
                self.place(&mut stated, offset, allocation)?;
            }
        }
        Ok(Some(stated))
    }

    fn place(&self, stated: &mut Stated, offset: &Expr, allocation: Option<&Allocation>) -> Result<(), &'static str> {
        if let Some(address) = offset.as_int() {
            stated.start = Some(u64::try_from(address).map_err(|_| "has no address")?);
            return Ok(());
        }
        stated.moves = true;
        let range = self.range(offset);
        let start = |low: i128| u64::try_from(low).map_err(|_| "may begin before the memory");
        if stated.slotted {
            // The index is promised to be one of the slots, so they are all it can be: `base + index * slot bytes`.
            let base = leading_constant(offset).or(range.map(|(low, _)| low));
            stated.start = base.map(start).transpose()?;
            let bytes = allocation.and_then(|a| a.bytes);
            stated.moving_end = stated.start.zip(bytes).map(|(s, b)| s.saturating_add(b));
        } else if let Some((low, high)) = range {
            stated.start = Some(start(low)?);
            stated.moving_end = u64::try_from(high).ok().zip(stated.room).map(|(h, r)| h.saturating_add(r));
        }
        Ok(())
    }

    fn block(&mut self, block: &Block) {
        for statement in block {
            match &statement.kind {
                StmtKind::Assign { target, value } => self.value(Some(*target), value, statement.span),
                StmtKind::Eval(value) => self.value(None, value, statement.span),
                StmtKind::For(f) => {
                    if let Some((first, _)) = self.range(&f.start)
                        && let Some((_, stop)) = self.range(&f.stop)
                        && f.step.as_int().is_some_and(|step| step > 0)
                    {
                        self.ranges.insert(f.index, (first, (stop - 1).max(first)));
                    }
                }
                _ => {}
            }
            statement.blocks().into_iter().for_each(|b| self.block(b));
        }
    }

    fn value(&mut self, target: Option<VarId>, value: &Expr, span: Span) {
        let call = value.as_call();
        match (call.and_then(Call::op), call, target) {
            (Some("tile.alloc"), Some(call), Some(target)) => {
                self.allocations.insert(target, allocation(call, span));
            }
            (Some("system.reserve_buffer"), Some(call), _) => {
                let number = |name| call.kwarg(name).and_then(Expr::as_int).and_then(|v| u64::try_from(v).ok());
                let name = call.kwarg("name").and_then(Expr::as_str).unwrap_or_default().to_owned();
                self.reserved.push(Reserved { name, base: number("base"), bytes: number("size").unwrap_or(0), span });
            }
            (_, _, Some(target)) => {
                if let Some(range) = self.range(value) {
                    self.ranges.insert(target, range);
                }
            }
            _ => {}
        }
    }

    /// Least and greatest value.
    fn range(&self, value: &Expr) -> Option<(i128, i128)> {
        if let Some(value) = value.as_int() {
            return Some((value.into(), value.into()));
        }
        let (op, a, b) = match &value.kind {
            ExprKind::Var(var) => return self.ranges.get(var).copied(),
            ExprKind::Binary(op, a, b) => (op, a, b),
            _ => return None,
        };
        let divisor = b.as_int().filter(|d| *d > 0).map(i128::from);
        let (low, high) = match (op, self.range(a), self.range(b)) {
            (BinaryOp::Mod, _, _) => (0, divisor? - 1),
            (BinaryOp::FloorDiv, Some((low, high)), _) => (low.div_euclid(divisor?), high.div_euclid(divisor?)),
            (BinaryOp::Add, Some(a), Some(b)) => (a.0 + b.0, a.1 + b.1),
            (BinaryOp::Sub, Some(a), Some(b)) => (a.0 - b.1, a.1 - b.0),
            (BinaryOp::Mul, Some(a), Some(b)) => {
                let products =
                    [a.0.checked_mul(b.0)?, a.0.checked_mul(b.1)?, a.1.checked_mul(b.0)?, a.1.checked_mul(b.1)?];
                (products.into_iter().min()?, products.into_iter().max()?)
            }
            _ => return None,
        };
        // Far beyond any address; keeps the sums above from overflowing.
        let sane = -(1 << 100)..=(1 << 100);
        (sane.contains(&low) && sane.contains(&high)).then_some((low, high))
    }
}

/// The constant in front of a sum.
fn leading_constant(offset: &Expr) -> Option<i128> {
    match &offset.kind {
        ExprKind::Binary(BinaryOp::Add, a, _) => a.as_int().map(i128::from).or_else(|| leading_constant(a)),
        _ => None,
    }
}

fn allocation(call: &Call, span: Span) -> Allocation {
    let symbol = call.args.first().and_then(Expr::as_symbol).unwrap_or_default();
    let space = MemorySpace::by_name(symbol.strip_prefix("Mem.").unwrap_or(symbol));
    let number = |index: usize| call.args.get(index).and_then(Expr::as_int);
    // `(space, bytes)` today, `(space, address, bytes, id)` before.
    let (address, bytes) = if call.args.len() > 2 { (number(1), number(2)) } else { (None, number(1)) };
    Allocation { space, address, bytes: bytes.and_then(|b| u64::try_from(b).ok()), span }
}
