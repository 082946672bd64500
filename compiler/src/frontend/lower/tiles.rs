//! Tiles: handles at addresses, views, and operations between tiles.
//!
//! Regular operations go by their row in `ops.rs` and the dialect's own facts; the rest has a function each.

use super::{
    Bound, Handle, Lowered, Lowering,
    build::{integer_type, internal},
    types,
};
use crate::frontend::{
    ast::{Call, DataType, Expr, ExprKind, MemRef, MemorySpace, Problem, TileType, Type, VarId},
    ops::{AttrKind, AttrRule, FrontOp, Memory, op_by_name},
};
use melior::ir::{Attribute, Type as MlirType, Value, ValueLike};
use pto_dialect::{Operand, enum_attr, facts_by_name};

impl<'p, 'c, 'a> Lowering<'p, 'c, 'a> {
    pub(super) fn tile_call(
        &mut self,
        name: &str,
        call: &'p Call,
        target: Option<VarId>,
    ) -> Lowered<Option<Bound<'c, 'a>>> {
        let Some(row) = op_by_name(name) else { return Err(self.unknown_op(name)) };
        if !row.pto.is_empty() {
            return self.regular(row, call, target);
        }
        match name {
            "tile.alloc" => {
                if let (Some(target), [space, address, ..]) = (target, &call.args[..])
                    && call.args.len() >= 3
                {
                    let space = space.as_symbol().and_then(|s| s.rsplit('.').next()).and_then(MemorySpace::by_name);
                    self.allocations.insert(target, (space, address.clone()));
                }
                Ok(None)
            }
            "tile.create" => self.result_tile(target).map(|h| Some(Bound::Tile(h))),
            "tile.get_block_idx" => self.hidden_index("__pypto_spmd_block_idx", target),
            "tile.get_block_num" => self.hidden_index("__pypto_spmd_block_num", target),
            "tile.get_subblock_idx" => self.hidden_index("__pypto_spmd_subblock_idx", target),
            "tile.load" => self.load(call, target),
            "tile.store" => self.store(call),
            "tile.store_fp" => self.store_fp(call),
            "tile.gather_row" => self.gather_row(call, target),
            "tile.mscatter" => self.mscatter(call),
            "tile.mgather" => self.mgather(call, target),
            "tile.read" => self.read_element(call, target),
            "tile.write" => self.write_element(call),
            "tile.move" => self.move_tile(call, target),
            "tile.full" => self.full(call, target),
            "tile.random" => self.random(call, target),
            "tile.tri" => self.triangle(call, target),
            "tile.col_sum" => self.col_sum(call, target),
            "tile.extract" => self.extract(call, target),
            "tile.transpose" => self.transpose(call, target),
            "tile.matmul_acc" => self.matmul_acc(row, call, target),
            "tile.mrgsort_format1" => self.merge_blocks(call, target),
            "tile.mrgsort_format2" => self.merge_lists(call, target),
            "tile.slice" => self.slice(call, target),
            "tile.reshape" | "tile.reinterpret_view" | "tile.transpose_view" => self.reshape(call, target),
            "tile.set_validshape" => self.set_valid(call, target),
            "tile.assemble" => self.assemble(call, target),
            "tile.tpush_to_aiv" | "tile.tpush_to_aic" => self.push(name, call),
            "tile.tpop_from_aic" | "tile.tpop_from_aiv" => self.pop(name, call, target),
            _ => Err(self.unknown_op(name)),
        }
    }

    /// The tile that a statement defines.
    pub(super) fn target_tile(&self, target: Option<VarId>) -> Lowered<(VarId, &'p TileType)> {
        match target.map(|t| (t, &self.function.var(t).ty)) {
            Some((var, Type::Tile(tile))) => Ok((var, tile)),
            Some((var, _)) => {
                let message = format!("'{}' is not annotated as a tile", self.function.var(var).name);
                Err(Problem::new("PTO-0711", self.at, message))
            }
            None => Err(Problem::new("PTO-0711", self.at, "the result of this operation needs a name")),
        }
    }

    /// Where a tile stands: its own space, or that of its allocation.
    pub(super) fn space_of(&self, tile: &TileType) -> Option<MemorySpace> {
        tile.space.or_else(|| match &tile.memref {
            Some(MemRef::Whole(base)) => self.allocations.get(base).and_then(|(space, _)| *space),
            _ => None,
        })
    }

    pub(super) fn tile_problem(&self, var: VarId, what: &str) -> Problem {
        let variable = self.function.var(var);
        Problem::new("PTO-0711", variable.span, format!("tile '{}' {what}", variable.name))
    }

    /// The type of a tile variable, and whether a valid extent is known only at run time.
    pub(super) fn tile_type_of(&self, var: VarId) -> Lowered<Option<(MlirType<'c>, bool)>> {
        let Type::Tile(tile) = &self.function.var(var).ty else { return Ok(None) };
        let valid =
            types::valid_extents(tile).ok_or_else(|| self.tile_problem(var, "has neither 1 nor 2 dimensions"))?;
        let known = valid.each_ref().map(Expr::as_int);
        Ok(Some((self.typed(var, tile, known)?, known.contains(&None))))
    }

    /// A tile's type with given valid extents.
    pub(super) fn typed(&self, var: VarId, tile: &TileType, valid: [Option<i64>; 2]) -> Lowered<MlirType<'c>> {
        let Some((rows, cols)) = types::extents(tile) else {
            return Err(self.tile_problem(var, "needs constant physical extents, 1 or 2 of them"));
        };
        let Some(space) = self.space_of(tile) else {
            return Err(self.tile_problem(var, "has no memory space"));
        };
        let form = types::form(&TileType { space: Some(space), ..tile.clone() });
        let mut extents = (rows, cols);
        let mut valid = valid;
        // In vector memory the dialect counts pairs of 4-bit elements along the contiguous dimension.
        if tile.dtype == DataType::Fp4 && space == MemorySpace::Vec {
            let packed = usize::from(form.blayout != "col_major");
            let extent = if packed == 0 { &mut extents.0 } else { &mut extents.1 };
            *extent /= 2;
            valid[packed] = valid[packed].map(|v| v / 2);
        }
        let text = types::tile_text(space, tile.dtype, extents, valid, &form);
        self.type_of_text(&text, self.function.var(var).span)
    }

    /// Where a tile variable stands, as a value; `None` when its type does not say.
    pub(super) fn address_of(&mut self, tile: &TileType) -> Lowered<Option<Value<'c, 'a>>> {
        let i64_type = integer_type(self.context, 64);
        let expr = match &tile.memref {
            Some(MemRef::Part { offset, .. }) => offset.clone(),
            Some(MemRef::Whole(base)) => match self.allocations.get(base) {
                Some((_, address)) => address.clone(),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        match expr.as_int() {
            Some(address) => self.constant(address, i64_type).map(Some),
            None => self.scalar_as(&expr, DataType::Int64).map(Some),
        }
    }

    /// A new name for the bytes at a tile variable's address; `None` when its type says no address.
    pub(super) fn tile_at_address(&mut self, var: VarId) -> Lowered<Option<Handle<'c, 'a>>> {
        let Type::Tile(tile) = &self.function.var(var).ty else { return Ok(None) };
        let valid =
            types::valid_extents(tile).ok_or_else(|| self.tile_problem(var, "has neither 1 nor 2 dimensions"))?;
        self.tile_with_valid(var, tile, &valid)
    }

    /// The same with valid extents of its own.
    pub(super) fn tile_with_valid(
        &mut self,
        var: VarId,
        tile: &'p TileType,
        valid: &[Expr; 2],
    ) -> Lowered<Option<Handle<'c, 'a>>> {
        let Some(address) = self.address_of(tile)? else { return Ok(None) };
        let known = valid.each_ref().map(Expr::as_int);
        let ty = self.typed(var, tile, known)?;
        let mut operands = vec![("addr", address)];
        for ((name, expr), known) in ["valid_row", "valid_col"].into_iter().zip(valid).zip(known) {
            if known.is_none() {
                operands.push((name, self.index_of(expr)?));
            }
        }
        let location = self.named(&self.function.var(var).name, self.at);
        let value = self.pto_value("alloc_tile", &operands, &[], ty, location)?;
        Ok(Some(Handle { value, addressed: true }))
    }

    /// The tile that an operation writes.
    pub(super) fn result_tile(&mut self, target: Option<VarId>) -> Lowered<Handle<'c, 'a>> {
        let (var, _) = self.target_tile(target)?;
        self.tile_at_address(var)?.ok_or_else(|| self.tile_problem(var, "has no address"))
    }

    /// The tile that an operation writes in place of an argument: that argument, under its type's own name if needed.
    pub(super) fn in_place_tile(&mut self, target: Option<VarId>, argument: Handle<'c, 'a>) -> Lowered<Handle<'c, 'a>> {
        let Some(var) = target else { return Ok(argument) };
        let Some((ty, dynamic)) = self.tile_type_of(var)? else { return Ok(argument) };
        if !argument.addressed || (ty == argument.value.r#type() && !dynamic) {
            return Ok(argument);
        }
        Ok(self.tile_at_address(var)?.unwrap_or(argument))
    }

    /// An operation whose row says everything.
    pub(super) fn regular(
        &mut self,
        row: &FrontOp,
        call: &'p Call,
        target: Option<VarId>,
    ) -> Lowered<Option<Bound<'c, 'a>>> {
        let Some(facts) = facts_by_name(&format!("pto.{}", row.pto)) else {
            return Err(self.unknown_op(row.name));
        };
        let dst = match row.memory {
            Memory::Reuses(index) => {
                let argument = self.tile_argument(self.arg(call, index, "a tile")?)?;
                self.in_place_tile(target, argument)?
            }
            _ => self.result_tile(target)?,
        };
        let inputs: Vec<&Operand> =
            if row.operands.is_empty() { facts.operands.iter().filter(|o| !o.is_out).collect() } else { Vec::new() };
        let named: Vec<&str> = if row.operands.is_empty() {
            inputs.iter().map(|o| o.name).collect()
        } else {
            row.operands.split_whitespace().collect()
        };
        if call.args.len() > named.len() {
            let message = format!("'{}' takes at most {} arguments, found {}", row.name, named.len(), call.args.len());
            return Err(Problem::new("PTO-0715", self.at, message));
        }
        let element = call.args.iter().find_map(|e| self.element_of(e)).or_else(|| self.element_of_target(target));
        let mut operands = vec![("dst", dst.value)];
        for (name, expr) in named.into_iter().zip(&call.args).filter(|(name, _)| *name != "_") {
            let is_tile = facts.operands.iter().any(|o| o.name == name && o.is_tile);
            let value = if is_tile || self.element_of(expr).is_some() {
                self.tile_argument(expr)?.value
            } else {
                self.scalar_operand(expr, element)?
            };
            operands.push((name, value));
        }
        let attributes = self.attributes(row, call)?;
        let attributes: Vec<(&str, Attribute)> = attributes.iter().map(|(n, a)| (*n, *a)).collect();
        self.pto(row.pto, &operands, &attributes, None, self.location(self.at))?;
        Ok(Some(Bound::Tile(dst)))
    }

    /// A scalar beside tiles: a literal takes the element type of the tiles.
    pub(super) fn scalar_operand(&mut self, expr: &Expr, element: Option<DataType>) -> Lowered<Value<'c, 'a>> {
        let literal = matches!(&expr.kind, ExprKind::Int(_, None) | ExprKind::Float(_, None))
            || matches!(&expr.kind, ExprKind::Unary(_, inner) if matches!(inner.kind, ExprKind::Int(_, None) | ExprKind::Float(_, None)));
        let want = if literal { element } else { None };
        let mut scalar = self.scalar(expr, want)?;
        if let Some(element) = want {
            scalar = self.convert(scalar, element)?;
        }
        self.signed(scalar)
    }

    /// The element type of an argument, when it is a tile.
    pub(super) fn element_of(&self, expr: &Expr) -> Option<DataType> {
        expr.as_var().and_then(|v| self.function.var(v).ty.tile()).map(|t| t.dtype)
    }

    pub(super) fn element_of_target(&self, target: Option<VarId>) -> Option<DataType> {
        target.and_then(|v| self.function.var(v).ty.tile()).map(|t| t.dtype)
    }

    pub(super) fn attributes(&self, row: &FrontOp, call: &Call) -> Lowered<Vec<(&'static str, Attribute<'c>)>> {
        let mut found = Vec::new();
        for rule in row.attrs {
            if let Some(value) = call.kwarg(rule.kwarg) {
                found.push((rule.attribute, self.attribute_of(rule, value)?));
            }
        }
        // A mask picks within rows; the dialect wants that said.
        if row.attrs.iter().any(|r| r.attribute == "maskPattern") {
            found.push(("axis", self.attribute("\"row\"")?));
        }
        Ok(found)
    }

    pub(super) fn attribute_of(&self, rule: &AttrRule, value: &Expr) -> Lowered<Attribute<'c>> {
        let wrong = |what: String| Problem::new("PTO-0715", value.span, format!("'{}' expects {what}", rule.kwarg));
        match rule.kind {
            AttrKind::Bool => match value.kind {
                ExprKind::Bool(b) => self.attribute(if b { "true" } else { "false" }),
                _ => Err(wrong("True or False".to_owned())),
            },
            AttrKind::Case { of, cases } => {
                let case = match &value.kind {
                    ExprKind::Int(index, _) => usize::try_from(*index).ok().and_then(|i| cases.get(i)).copied(),
                    ExprKind::Bool(b) => cases.get(usize::from(*b)).copied(),
                    ExprKind::Str(text) => cases.iter().find(|c| c.eq_ignore_ascii_case(text)).copied(),
                    ExprKind::Symbol(text) => {
                        let last = text.rsplit('.').next().unwrap_or(text);
                        cases.iter().find(|c| c.eq_ignore_ascii_case(last)).copied()
                    }
                    _ => None,
                };
                let known = || cases.iter().filter(|c| !c.is_empty()).copied().collect::<Vec<_>>().join(", ");
                let case = case.filter(|c| !c.is_empty()).ok_or_else(|| wrong(format!("one of {}", known())))?;
                enum_attr(self.context, of, case).ok_or_else(|| internal(format!("no case {case} of {of}")))
            }
        }
    }
}
