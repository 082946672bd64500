//! Tiles: handles at addresses, views, and operations between tiles.
//!
//! Regular operations go by their row in `ops.rs` and the dialect's own facts; the rest has a function each.

use super::{
    Bound, Handle, Lowered, Lowering,
    build::{integer_type, internal},
    types::{self, Form},
};
use crate::frontend::{
    ast::{Call, DataType, Expr, ExprKind, MemRef, MemorySpace, Problem, Type, TileType, VarId},
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

    fn tile_problem(&self, var: VarId, what: &str) -> Problem {
        let variable = self.function.var(var);
        Problem::new("PTO-0711", variable.span, format!("tile '{}' {what}", variable.name))
    }

    /// The type of a tile variable, and whether a valid extent is known only at run time.
    pub(super) fn tile_type_of(&self, var: VarId) -> Lowered<Option<(MlirType<'c>, bool)>> {
        let Type::Tile(tile) = &self.function.var(var).ty else { return Ok(None) };
        let valid = types::valid_extents(tile).ok_or_else(|| self.tile_problem(var, "has neither 1 nor 2 dimensions"))?;
        let known = valid.each_ref().map(Expr::as_int);
        Ok(Some((self.typed(var, tile, known)?, known.contains(&None))))
    }

    /// A tile's type with given valid extents.
    fn typed(&self, var: VarId, tile: &TileType, valid: [Option<i64>; 2]) -> Lowered<MlirType<'c>> {
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
    fn address_of(&mut self, tile: &TileType) -> Lowered<Option<Value<'c, 'a>>> {
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
        let valid = types::valid_extents(tile).ok_or_else(|| self.tile_problem(var, "has neither 1 nor 2 dimensions"))?;
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
    fn regular(&mut self, row: &FrontOp, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
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
        let inputs: Vec<&Operand> = if row.operands.is_empty() {
            facts.operands.iter().filter(|o| !o.is_out).collect()
        } else {
            Vec::new()
        };
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
    fn element_of(&self, expr: &Expr) -> Option<DataType> {
        expr.as_var().and_then(|v| self.function.var(v).ty.tile()).map(|t| t.dtype)
    }

    fn element_of_target(&self, target: Option<VarId>) -> Option<DataType> {
        target.and_then(|v| self.function.var(v).ty.tile()).map(|t| t.dtype)
    }

    fn attributes(&self, row: &FrontOp, call: &Call) -> Lowered<Vec<(&'static str, Attribute<'c>)>> {
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

    fn attribute_of(&self, rule: &AttrRule, value: &Expr) -> Lowered<Attribute<'c>> {
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

/// Operations with a function each.
impl<'p, 'c, 'a> Lowering<'p, 'c, 'a> {
    /// An operation that writes the statement's own tile.
    pub(super) fn into_result(
        &mut self,
        mnemonic: &str,
        operands: &[(&str, Value<'c, 'a>)],
        attributes: &[(&str, Attribute<'c>)],
        target: Option<VarId>,
    ) -> Lowered<Option<Bound<'c, 'a>>> {
        let dst = self.result_tile(target)?;
        let mut all = operands.to_vec();
        all.push(("dst", dst.value));
        self.pto(mnemonic, &all, attributes, None, self.location(self.at))?;
        Ok(Some(Bound::Tile(dst)))
    }

    fn move_tile(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let source = self.tile_argument(self.arg(call, 0, "a tile")?)?;
        self.into_result("tmov", &[("src", source.value)], &[], target)
    }

    fn full(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let value = match call.kwarg("value") {
            Some(value) => value,
            None => self.arg(call, 1, "a value")?,
        };
        let element = self.element_of_target(target);
        let scalar = self.scalar_operand(value, element)?;
        self.into_result("texpands", &[("scalar", scalar)], &[], target)
    }

    fn random(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let mut operands = Vec::new();
        for (index, name) in ["key0", "key1", "counter0", "counter1", "counter2", "counter3"].into_iter().enumerate() {
            let value = self.arg(call, index, name)?;
            operands.push((name, self.scalar_as(value, DataType::Int32)?));
        }
        let rounds = self.integer(self.int_kwarg(call, "rounds", Some(10))?, 32);
        self.into_result("trandom", &operands, &[("rounds", rounds)], target)
    }

    fn triangle(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let diagonal = self.scalar_as(self.arg(call, 0, "the diagonal")?, DataType::Int32)?;
        let upper = matches!(call.kwarg("upper").map(|e| &e.kind), Some(ExprKind::Bool(true)));
        let attribute = self.integer(i64::from(upper), 32);
        self.into_result("ttri", &[("diagonal", diagonal)], &[("upperOrLower", attribute)], target)
    }

    fn col_sum(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let mut operands = vec![("src", self.tile_argument(self.arg(call, 0, "a tile")?)?.value)];
        let mut attributes = Vec::new();
        if let Some(tmp) = call.args.get(1) {
            operands.push(("tmp", self.tile_argument(tmp)?.value));
            attributes.push(("isBinary", self.attribute("true")?));
        }
        self.into_result("tcolsum", &operands, &attributes, target)
    }

    fn extract(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let source = self.tile_argument(self.arg(call, 0, "a tile")?)?;
        let row = self.index_of(self.arg(call, 1, "a row")?)?;
        let col = self.index_of(self.arg(call, 2, "a column")?)?;
        self.into_result("textract", &[("src", source.value), ("indexRow", row), ("indexCol", col)], &[], target)
    }

    fn transpose(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let mut operands = vec![("src", self.tile_argument(self.arg(call, 0, "a tile")?)?.value)];
        if let Some(tmp) = call.args.get(3) {
            operands.push(("tmp", self.tile_argument(tmp)?.value));
        }
        self.into_result("ttrans", &operands, &[], target)
    }

    /// With a condition that says whether the sum starts here: a plain product or an accumulating one.
    fn matmul_acc(&mut self, row: &FrontOp, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let acc = self.tile_argument(self.arg(call, 0, "an accumulator")?)?;
        let dst = self.in_place_tile(target, acc)?;
        let mut product = Vec::new();
        for (index, name) in [(1, "lhs"), (2, "rhs")] {
            product.push((name, self.tile_argument(self.arg(call, index, "a tile")?)?.value));
        }
        product.push(("dst", dst.value));
        let mut accumulating = product.clone();
        accumulating.push(("acc_in", acc.value));
        let location = self.location(self.at);
        debug_assert_eq!(row.memory, Memory::Reuses(0));
        match call.args.get(3).or_else(|| call.kwarg("init_cond")) {
            None => {
                self.pto("tmatmul.acc", &accumulating, &[], None, location)?;
            }
            Some(Expr { kind: ExprKind::Bool(first), .. }) => {
                let (name, operands) = if *first { ("tmatmul", &product) } else { ("tmatmul.acc", &accumulating) };
                self.pto(name, operands, &[], None, location)?;
            }
            Some(condition) => {
                let condition = self.scalar_as(condition, DataType::Bool)?;
                let (_, blocks) = self.with_regions("scf.if", &[condition], &[], &[&[], &[]], location)?;
                let outer = self.block;
                for (block, (name, operands)) in
                    blocks.into_iter().zip([("tmatmul", &product), ("tmatmul.acc", &accumulating)])
                {
                    self.block = block;
                    self.pto(name, operands, &[], None, location)?;
                    self.end_block()?;
                }
                self.block = outer;
            }
        }
        Ok(Some(Bound::Tile(dst)))
    }

    fn merge_blocks(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let list = self.tile_argument(self.arg(call, 0, "a tile")?)?;
        let block = self.scalar_as(self.arg(call, 1, "a block length")?, DataType::Int32)?;
        self.into_result("tmrgsort", &[("srcs", list.value), ("blockLen", block)], &[], target)
    }

    fn merge_lists(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let mut operands = Vec::new();
        for (index, expr) in call.args.iter().enumerate() {
            let name = if index + 1 == call.args.len() { "tmp" } else { "srcs" };
            operands.push((name, self.tile_argument(expr)?.value));
        }
        let counts = self.type_of_text("vector<4xi16>", self.at)?;
        let zeros = self.attribute("dense<0> : vector<4xi16>")?;
        let executed = self.value("arith.constant", &[], &[("value", zeros)], counts, self.location(self.at))?;
        operands.push(("excuted", executed));
        let exhausted = matches!(call.kwarg("exhausted").map(|e| &e.kind), Some(ExprKind::Bool(true)));
        let exhausted = self.attribute(if exhausted { "true" } else { "false" })?;
        self.into_result("tmrgsort", &operands, &[("exhausted", exhausted)], target)
    }

    /// A window. It keeps its parent's layout and strides, and the offset that is known only at run time.
    fn slice(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let source_expr = self.arg(call, 0, "a tile")?;
        let source = self.tile_argument(source_expr)?;
        let offsets = self.list(call, 2, "an offset")?;
        let (var, tile) = self.target_tile(target)?;
        let Some((rows, cols)) = types::extents(tile) else {
            return Err(self.tile_problem(var, "needs constant physical extents, 1 or 2 of them"));
        };
        let said = call.args.get(3).and_then(Expr::as_elements).filter(|v| v.len() == 2);
        let valid = match said {
            Some([row, col]) => [row.clone(), col.clone()],
            _ => types::valid_extents(tile).ok_or_else(|| self.tile_problem(var, "has no valid extents"))?,
        };
        let zero = Expr::index(0);
        let offsets: Vec<&Expr> = match offsets {
            [col] => vec![&zero, col],
            [row, col] => vec![row, col],
            _ => return Err(self.expected("two offsets", self.arg(call, 2, "an offset")?)),
        };
        let parent = source_expr.as_var().and_then(|v| self.function.var(v).ty.tile());
        let Some(parent) = parent else { return Err(self.expected("a tile", source_expr)) };
        let form = types::form(&TileType { space: self.space_of(parent), ..parent.clone() });
        let constant = offsets.iter().all(|e| e.as_int().is_some());
        let symbolic = matches!(&tile.memref, Some(MemRef::Part { offset, .. }) if offset.as_int().is_none());
        // PyPTO's own text gives a window at a run-time offset its parent's address; only the window itself knows better.
        let addressed = source.addressed && form.slayout == "none_box" && (constant || symbolic);
        let value = self.window(source.value, (parent, &form), &offsets, (rows, cols), &valid, &self.function.var(var).name)?;
        Ok(Some(Bound::Tile(Handle { value, addressed })))
    }

    /// `pto.subview`.
    pub(super) fn window(
        &mut self,
        source: Value<'c, 'a>,
        (parent, form): (&TileType, &Form),
        offsets: &[&Expr],
        (rows, cols): (i64, i64),
        valid: &[Expr; 2],
        name: &str,
    ) -> Lowered<Value<'c, 'a>> {
        let known = valid.each_ref().map(Expr::as_int);
        let Some(space) = self.space_of(parent) else {
            return Err(Problem::new("PTO-0711", self.at, "a window of a tile without memory space"));
        };
        // The text form gives both extents or none.
        let dynamic = known.contains(&None);
        let text = types::tile_text(space, parent.dtype, (rows, cols), known, form);
        let ty = self.type_of_text(&text, self.at)?;
        let mut operands = vec![("source", source)];
        for offset in offsets {
            operands.push(("offsets", self.index_of(offset)?));
        }
        if dynamic {
            operands.push(("valid_row", self.index_of(&valid[0])?));
            operands.push(("valid_col", self.index_of(&valid[1])?));
        }
        let sizes = self.attribute(&format!("[{rows}, {cols}]"))?;
        let location = self.named(name, self.at);
        self.pto_value("subview", &operands, &[("sizes", sizes)], ty, location)
    }

    /// The same bytes with another shape, element type or layout.
    fn reshape(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let source = self.tile_argument(self.arg(call, 0, "a tile")?)?;
        let (var, _) = self.target_tile(target)?;
        if source.addressed
            && let Some(handle) = self.tile_at_address(var)?
        {
            return Ok(Some(Bound::Tile(handle)));
        }
        let Some((ty, dynamic)) = self.tile_type_of(var)? else { return Err(self.tile_problem(var, "is no tile")) };
        if dynamic {
            let message = "has a valid extent known only at run time, which a view of an unplaced tile cannot have";
            return Err(self.tile_problem(var, message));
        }
        let location = self.named(&self.function.var(var).name, self.at);
        let value = self.pto_value("treshape", &[("src", source.value)], &[], ty, location)?;
        Ok(Some(Bound::Tile(Handle { value, addressed: false })))
    }

    /// The same bytes with other valid extents: a name of its own, so that the old one keeps its extents.
    fn set_valid(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let source_expr = self.arg(call, 0, "a tile")?;
        let source = self.tile_argument(source_expr)?;
        let valid = [self.arg(call, 1, "valid rows")?.clone(), self.arg(call, 2, "valid columns")?.clone()];
        let (var, tile) = self.target_tile(target)?;
        if source.addressed
            && let Some(handle) = self.tile_with_valid(var, tile, &valid)?
        {
            return Ok(Some(Bound::Tile(handle)));
        }
        let Some(extents) = types::extents(tile) else { return Err(self.tile_problem(var, "needs constant extents")) };
        let parent = source_expr.as_var().and_then(|v| self.function.var(v).ty.tile());
        let Some(parent) = parent else { return Err(self.expected("a tile", source_expr)) };
        let form = types::form(&TileType { space: self.space_of(parent), ..parent.clone() });
        let zero = Expr::index(0);
        let name = &self.function.var(var).name;
        let value = self.window(source.value, (parent, &form), &[&zero, &zero], extents, &valid, name)?;
        Ok(Some(Bound::Tile(Handle { value, addressed: false })))
    }

    /// Writes a tile into a window of another one.
    fn assemble(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let target_expr = self.arg(call, 0, "a tile")?;
        let source_expr = self.arg(call, 1, "a tile")?;
        let offsets = self.list(call, 2, "an offset")?;
        let [row, col] = offsets else { return Err(self.expected("two offsets", self.arg(call, 2, "an offset")?)) };
        let whole = self.tile_argument(target_expr)?;
        let part = self.tile_argument(source_expr)?;
        let tiles = [target_expr, source_expr].map(|e| e.as_var().and_then(|v| self.function.var(v).ty.tile()));
        let [Some(into), Some(from)] = tiles else { return Err(self.expected("a tile", source_expr)) };
        let Some(extents) = types::extents(from) else { return Err(self.expected("a tile of constant extents", source_expr)) };
        let dst = self.assembled(into, whole, target)?;
        let location = self.location(self.at);
        let spaces = (self.space_of(from), self.space_of(into));
        // From an accumulator into L1 at an offset: the writer converts while it inserts.
        if spaces == (Some(MemorySpace::Acc), Some(MemorySpace::Mat)) {
            let operands = [
                ("src", part.value),
                ("indexRow", self.index_of(row)?),
                ("indexCol", self.index_of(col)?),
                ("dst", dst.value),
            ];
            self.pto("tinsert", &operands, &[], None, location)?;
            return Ok(Some(Bound::Tile(dst)));
        }
        let form = types::form(&TileType { space: self.space_of(into), ..into.clone() });
        let valid = types::valid_extents(from).ok_or_else(|| self.expected("a tile", source_expr))?;
        let window = self.window(dst.value, (into, &form), &[row, col], extents, &valid, "assemble_view")?;
        self.pto("tmov", &[("src", part.value), ("dst", window)], &[], None, location)?;
        Ok(Some(Bound::Tile(dst)))
    }

    /// Where an assembled tile stands: in place of its target, or at an address of its own, to which the target is
    /// copied first.
    fn assembled(&mut self, into: &TileType, whole: Handle<'c, 'a>, target: Option<VarId>) -> Lowered<Handle<'c, 'a>> {
        let Some(Type::Tile(result)) = target.map(|t| &self.function.var(t).ty) else { return Ok(whole) };
        if same_bytes(&into.memref, &result.memref) {
            return self.in_place_tile(target, whole);
        }
        let dst = self.result_tile(target)?;
        self.pto("tmov", &[("src", whole.value), ("dst", dst.value)], &[], None, self.location(self.at))?;
        Ok(dst)
    }
}

/// Whether two tiles start at one address, as far as their types say; without an address they are views of one tile.
fn same_bytes(a: &Option<MemRef>, b: &Option<MemRef>) -> bool {
    match (a, b) {
        (Some(MemRef::Part { base: x, offset: m, .. }), Some(MemRef::Part { base: y, offset: n, .. })) => {
            match (m.as_int(), n.as_int()) {
                (Some(m), Some(n)) => m == n,
                _ => x == y,
            }
        }
        (Some(MemRef::Whole(x)), Some(MemRef::Whole(y))) => x == y,
        (None, _) | (_, None) => true,
        _ => false,
    }
}
