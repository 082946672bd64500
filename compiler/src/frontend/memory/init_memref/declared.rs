//! Allocations that the author declared: `MemRef("name")`, `MemRef("name", slots=2)[i]`.
//!
//! All tiles of one name share one allocation of equal slots; a slot holds the largest of them. Which slot is meant
//! may be known only at run time; then the offset is an expression.

use crate::frontend::{
    ast::{Base, BinaryOp, DataType, Expr, ExprKind, Function, MemRef, MemorySpace, Problem, Span, Type, VarId},
    memory::{refs, sizes},
};
use std::collections::BTreeMap;

/// One declared allocation.
struct Declared {
    base: VarId,
    slot_size: u64,
    slots: u64,
    space: MemorySpace,
}

/// A function's declarations.
#[derive(Default)]
pub struct Declarations {
    by_name: BTreeMap<String, Declared>,
    /// What is wrong with them.
    pub problems: Vec<Problem>,
}

/// Finds all declarations, and makes a variable for each.
pub fn collect(function: &mut Function, int_acc_rows: u64) -> Declarations {
    let mut found = Declarations::default();
    for index in 0..function.vars.len() {
        let (var_name, span) = (function.vars[index].name.clone(), function.vars[index].span);
        let Type::Tile(tile) = &function.vars[index].ty else { continue };
        let Some(MemRef::Declared { name, slot }) = &tile.memref else { continue };
        let space = tile.space.unwrap_or(MemorySpace::Ddr);
        // A size that is wrong is reported where the tile gets its memory.
        let size = sizes::of_tile(tile, space, int_acc_rows, &var_name, span).unwrap_or(0);
        let slots = slot.as_ref().map_or(1, |(count, _)| *count);
        let chosen = slot.as_ref().and_then(|(_, index)| index.as_int());
        if slots == 0 || chosen.is_some_and(|c| u64::try_from(c).map_or(true, |c| c >= slots)) {
            let message = format!("tile '{var_name}' names a slot that '{name}' with {slots} slots does not have");
            found.problems.push(Problem::new("PTO-0653", span, message));
        }
        let name = name.clone();
        match found.by_name.get_mut(&name) {
            Some(known) => {
                if known.slots != slots || known.space != space {
                    let message = format!(
                        "tile '{var_name}' declares '{name}' with {slots} slots in {space}, others with {} slots in {}",
                        known.slots, known.space
                    );
                    found.problems.push(Problem::new("PTO-0653", span, message));
                }
                known.slot_size = known.slot_size.max(size);
            }
            None => {
                let base = function.add_var(name.clone(), Type::Ptr, Span::default());
                found.by_name.insert(name, Declared { base, slot_size: size, slots, space });
            }
        }
    }
    for (name, declared) in &found.by_name {
        let total = declared.slot_size.checked_mul(declared.slots).filter(|t| i64::try_from(*t).is_ok());
        if total.is_none() {
            let message = format!(
                "declared allocation '{name}' is too large: {} slots of {} bytes",
                declared.slots, declared.slot_size
            );
            found.problems.push(Problem::new("PTO-0652", Span::default(), message));
        }
    }
    found
}

impl Declarations {
    /// The memory that a tile's declaration asks for.
    pub fn resolve(&self, function: &Function, var: VarId) -> Option<MemRef> {
        let tile = function.vars.get(var.index())?.ty.tile()?;
        let Some(MemRef::Declared { name, slot }) = &tile.memref else { return None };
        let declared = self.by_name.get(name)?;
        let stride = i64::try_from(declared.slot_size).ok()?;
        let offset = match slot {
            None => refs::zero(),
            Some((_, index)) => match index.as_int() {
                Some(index) => Expr::made(ExprKind::Int(index.checked_mul(stride)?, Some(DataType::Int64))),
                None => refs::binary(BinaryOp::Mul, index, &Expr::index(stride)),
            },
        };
        Some(MemRef::Part { base: Base::Var(declared.base), offset, size: declared.slot_size, slot: slot.clone() })
    }

    /// Bytes of a declared allocation; `None` when the variable is none.
    pub fn size(&self, base: VarId) -> Option<u64> {
        let declared = self.by_name.values().find(|d| d.base == base)?;
        Some(declared.slot_size.saturating_mul(declared.slots))
    }
}
