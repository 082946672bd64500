//! Global memory: tensor views, loads and stores, single elements, gathers and scatters.

use super::{Bound, GM_PIPE_BUFFER, Lowered, Lowering, Tensor, types};
use crate::frontend::ast::{
    Call, DataType, Expr, ExprKind, Problem, Stmt, TensorType, TileType, VarId,
};
use crate::frontend::lower::scalars::Scalar;
use melior::ir::Value;

/// Layouts of tensors by the front-end's names.
const LAYOUTS: &[(&str, &str)] =
    &[("ND", "nd"), ("DN", "dn"), ("NZ", "nz"), ("MX_A_ZZ", "mx_a_zz"), ("MX_B_NN", "mx_b_nn")];

impl<'p, 'c, 'a> Lowering<'p, 'c, 'a> {
    /// The view of a tensor parameter, at the head of the function, when the body mentions the parameter.
    pub(super) fn make_param_view(&mut self, param: VarId, body: &'p [Stmt]) -> Lowered {
        let Some(Bound::Tensor(tensor)) = self.bound.get(&param).copied() else { return Ok(()) };
        if self.function.var(param).name == GM_PIPE_BUFFER || !mentions(body, param) {
            return Ok(());
        }
        self.at = self.function.var(param).span;
        let view = self.make_view(param, tensor.pointer)?;
        self.bound.insert(param, Bound::Tensor(Tensor { view: Some(view), ..tensor }));
        Ok(())
    }

    fn tensor_type(&self, var: VarId) -> Lowered<&'p TensorType> {
        let variable = self.function.var(var);
        variable
            .ty
            .tensor()
            .ok_or_else(|| Problem::new("PTO-0711", variable.span, format!("'{}' is no tensor", variable.name)))
    }

    /// `pto.make_tensor_view` with the shape and strides of a variable's type.
    fn make_view(&mut self, var: VarId, pointer: Value<'c, 'a>) -> Lowered<Value<'c, 'a>> {
        let tensor = self.tensor_type(var)?;
        let rank = tensor.shape.len();
        let column = rank >= 2 && tensor.shape.last().and_then(Expr::as_int) == Some(1);
        let said = tensor.view.as_ref().and_then(|v| v.layout.as_deref());
        let layout = match said {
            Some(mx) if mx.starts_with("MX") => mx,
            // A column is contiguous along its rows, whatever it is called.
            _ if column => "DN",
            other => other.unwrap_or("ND"),
        };
        let Some((_, case)) = LAYOUTS.iter().find(|(name, _)| *name == layout) else {
            return Err(Problem::new("PTO-0713", self.at, format!("unknown tensor layout '{layout}'")));
        };
        let shape = tensor.shape.iter().map(|e| self.index_of(e)).collect::<Lowered<Vec<_>>>()?;
        let strides = self.strides(tensor, layout == "DN", column, &shape)?;
        let mut operands = vec![("ptr", pointer)];
        operands.extend(shape.iter().map(|v| ("shape", *v)));
        operands.extend(strides.iter().map(|v| ("strides", *v)));
        let attributes = [("layout", self.case("Layout", case)?)];
        let ty = self.view_type(rank, tensor.dtype, self.at)?;
        let location = self.named(&format!("{}_view", self.function.var(var).name), self.at);
        self.pto_value("make_tensor_view", &operands, &attributes, ty, location)
    }

    /// Strides in elements: those of the type, or of a packed tensor (ND: last extent first, DN: last but one first).
    fn strides(
        &mut self,
        tensor: &'p TensorType,
        column_major: bool,
        column: bool,
        shape: &[Value<'c, 'a>],
    ) -> Lowered<Vec<Value<'c, 'a>>> {
        let rank = shape.len();
        let said = tensor.view.as_ref().and_then(|v| v.stride.as_ref()).filter(|s| !s.is_empty());
        if let Some(said) = said {
            if said.len() != rank {
                let message = format!("expected {rank} strides for a tensor of rank {rank}, found {}", said.len());
                return Err(Problem::new("PTO-0713", self.at, message));
            }
            return said.iter().map(|e| self.index_of(e)).collect();
        }
        let mut order: Vec<usize> = (0..rank).rev().collect();
        if column_major && rank >= 2 {
            order.swap(0, 1);
        }
        let mut strides = vec![self.index(1)?; rank];
        for pair in order.windows(2) {
            let (inner, outer) = (pair[0], pair[1]);
            strides[outer] = self.product(strides[inner], shape[inner], inner == order[0])?;
        }
        // The stride of a column's only element is never used; the library wants the number of rows.
        if column && rank == 2 {
            strides[1] = shape[0];
        }
        Ok(strides)
    }

    fn product(&mut self, a: Value<'c, 'a>, b: Value<'c, 'a>, a_is_one: bool) -> Lowered<Value<'c, 'a>> {
        if a_is_one {
            return Ok(b);
        }
        match (pto_dialect::constant_int(a), pto_dialect::constant_int(b)) {
            (Some(a), Some(b)) if a.checked_mul(b).is_some() => self.index(a.wrapping_mul(b)),
            _ => {
                let ty = melior::ir::Type::index(self.context);
                self.value("arith.muli", &[a, b], &[], ty, self.location(self.at))
            }
        }
    }

    /// A window of a tensor. Offsets known only at run time are kept from going below zero, as PyPTO does.
    fn partition(&mut self, tensor: Tensor<'c, 'a>, offsets: &'p [Expr], sizes: &[Expr]) -> Lowered<Value<'c, 'a>> {
        let ty = self.tensor_type(tensor.shape)?;
        let Some(view) = tensor.view else {
            return Err(Problem::new("PTO-0711", self.at, "this tensor is a raw buffer and has no shape"));
        };
        if offsets.len() != ty.shape.len() || sizes.len() != ty.shape.len() {
            let message = format!(
                "expected {} offsets and sizes for tensor '{}', found {} and {}",
                ty.shape.len(),
                self.function.var(tensor.shape).name,
                offsets.len(),
                sizes.len()
            );
            return Err(Problem::new("PTO-0715", self.at, message));
        }
        let mut operands = vec![("source", view)];
        for offset in offsets {
            operands.push(("offsets", self.clamped(offset)?));
        }
        for size in sizes {
            operands.push(("sizes", self.index_of(size)?));
        }
        let result = self.partition_type(sizes, ty.dtype, self.at)?;
        let name = format!("{}_pview", self.function.var(tensor.root).name);
        self.pto_value("partition_view", &operands, &[], result, self.named(&name, self.at))
    }

    fn clamped(&mut self, offset: &Expr) -> Lowered<Value<'c, 'a>> {
        if let Some(constant) = offset.as_int() {
            return self.index(constant.max(0));
        }
        let value = self.index_of(offset)?;
        let zero = self.index(0)?;
        let ty = melior::ir::Type::index(self.context);
        self.value("arith.maxsi", &[value, zero], &[], ty, self.location(self.at))
    }

    /// The whole of a tensor as a window.
    fn whole(&mut self, tensor: Tensor<'c, 'a>) -> Lowered<Value<'c, 'a>> {
        let shape = &self.tensor_type(tensor.shape)?.shape;
        let view = tensor.view.ok_or_else(|| Problem::new("PTO-0711", self.at, "this tensor has no shape"))?;
        let mut operands = vec![("source", view)];
        for _ in shape {
            operands.push(("offsets", self.index(0)?));
        }
        for size in shape {
            operands.push(("sizes", self.index_of(size)?));
        }
        let dtype = self.tensor_type(tensor.shape)?.dtype;
        let ty = self.partition_type(shape, dtype, self.at)?;
        let name = format!("{}_pview", self.function.var(tensor.root).name);
        self.pto_value("partition_view", &operands, &[], ty, self.named(&name, self.at))
    }

    pub(super) fn load(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let tensor = self.tensor_argument(self.arg(call, 0, "a tensor")?)?;
        let offsets = self.list(call, 1, "offsets")?;
        let shape = self.list(call, 2, "a shape")?;
        let valid = match call.args.get(3).or_else(|| call.kwarg("valid_shape")) {
            Some(said) => said.as_elements().ok_or_else(|| self.expected("a list (valid shape)", said))?,
            None => shape,
        };
        if matches!(call.kwarg("transpose").map(|e| &e.kind), Some(ExprKind::Bool(true))) {
            return self.load_transposed(call, tensor, offsets, valid, target);
        }
        let window = self.partition(tensor, offsets, valid)?;
        self.into_result("tload", &[("src", window)], &[], target)
    }

    /// A load that exchanges the two dimensions: the same memory seen as a column-major tensor.
    fn load_transposed(
        &mut self,
        call: &'p Call,
        tensor: Tensor<'c, 'a>,
        offsets: &'p [Expr],
        valid: &'p [Expr],
        target: Option<VarId>,
    ) -> Lowered<Option<Bound<'c, 'a>>> {
        let ty = self.tensor_type(tensor.shape)?;
        let ([rows, cols], [row, col], [height, width]) = (&ty.shape[..], offsets, valid) else {
            return Err(self.expected("a tensor of two dimensions", self.arg(call, 0, "a tensor")?));
        };
        let view = self.transposed_view(tensor, rows, cols, ty.dtype)?;
        let mut operands = vec![("source", view), ("offsets", self.clamped(col)?), ("offsets", self.clamped(row)?)];
        let sizes = [width.clone(), height.clone()];
        for size in &sizes {
            operands.push(("sizes", self.index_of(size)?));
        }
        let result = self.partition_type(&sizes, ty.dtype, self.at)?;
        let window = self.pto_value("partition_view", &operands, &[], result, self.location(self.at))?;
        self.into_result("tload", &[("src", window)], &[], target)
    }

    fn transposed_view(
        &mut self,
        tensor: Tensor<'c, 'a>,
        rows: &'p Expr,
        cols: &'p Expr,
        dtype: DataType,
    ) -> Lowered<Value<'c, 'a>> {
        let (rows, cols, one) = (self.index_of(rows)?, self.index_of(cols)?, self.index(1)?);
        let operands =
            [("ptr", tensor.pointer), ("shape", cols), ("shape", rows), ("strides", one), ("strides", cols)];
        let attributes = [("layout", self.case("Layout", "dn")?)];
        let ty = self.view_type(2, dtype, self.at)?;
        let name = format!("{}_dn_view", self.function.var(tensor.root).name);
        self.pto_value("make_tensor_view", &operands, &attributes, ty, self.named(&name, self.at))
    }

    pub(super) fn store(&mut self, call: &'p Call) -> Lowered<Option<Bound<'c, 'a>>> {
        let tile_expr = self.arg(call, 0, "a tile")?;
        let tile = self.tile_argument(tile_expr)?;
        let offsets = self.list(call, 1, "offsets")?;
        let tensor = self.tensor_argument(self.arg(call, 2, "a tensor")?)?;
        let rank = self.tensor_type(tensor.shape)?.shape.len();
        let sizes = match call.args.get(3).and_then(Expr::as_elements).filter(|_| rank > 2) {
            Some(shape) => shape.to_vec(),
            None => self.stored_extents(tile_expr, rank)?,
        };
        let window = self.partition(tensor, offsets, &sizes)?;
        let atomic = match call.kwarg("atomic").map(|e| &e.kind) {
            Some(ExprKind::Int(1, _)) => true,
            Some(ExprKind::Symbol(name)) => name.ends_with("Add"),
            _ => false,
        };
        let mut attributes = Vec::new();
        if atomic {
            attributes.push(("atomicType", self.case("AtomicType", "atomic_add")?));
        }
        let operands = [("src", tile.value), ("dst", window)];
        self.pto("tstore", &operands, &attributes, None, self.location(self.at))?;
        Ok(Some(Bound::Tensor(tensor)))
    }

    /// What a tile stores: its valid extents, as many as the tensor has.
    fn stored_extents(&self, tile_expr: &Expr, rank: usize) -> Lowered<Vec<Expr>> {
        let tile = tile_expr.as_var().and_then(|v| self.function.var(v).ty.tile());
        let valid = tile.and_then(types::valid_extents).ok_or_else(|| self.expected("a tile", tile_expr))?;
        let [rows, cols] = valid;
        Ok(match rank {
            1 => vec![cols],
            _ => {
                let mut sizes = vec![Expr::index(1); rank.saturating_sub(2)];
                sizes.extend([rows, cols]);
                sizes
            }
        })
    }

    /// A store that converts with a table of factors.
    pub(super) fn store_fp(&mut self, call: &'p Call) -> Lowered<Option<Bound<'c, 'a>>> {
        let tile_expr = self.arg(call, 0, "a tile")?;
        let tile = self.tile_argument(tile_expr)?;
        let factors = self.tile_argument(self.arg(call, 1, "a tile of factors")?)?;
        let tensor = self.tensor_argument(self.arg(call, 2, "a tensor")?)?;
        let window = self.whole(tensor)?;
        let operands = [("src", tile.value), ("fp", factors.value), ("dst", window)];
        self.pto("tstore", &operands, &[], None, self.location(self.at))?;
        Ok(Some(Bound::Tensor(tensor)))
    }

    /// Loads one row of a tensor into a window of a tile.
    pub(super) fn gather_row(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let tile_expr = self.arg(call, 0, "a tile")?;
        let whole = self.tile_argument(tile_expr)?;
        let dst = self.in_place_tile(target, whole)?;
        let tensor = self.tensor_argument(self.arg(call, 1, "a tensor")?)?;
        let into = self.list(call, 2, "an offset in the tile")?;
        let from = self.list(call, 3, "an offset in the tensor")?;
        let shape = self.list(call, 4, "a shape")?;
        let valid = match call.args.get(5).or_else(|| call.kwarg("valid_shape")) {
            Some(said) => said.as_elements().ok_or_else(|| self.expected("a list (valid shape)", said))?,
            None => shape,
        };
        let transpose = matches!(call.kwarg("transpose").map(|e| &e.kind), Some(ExprKind::Bool(true)));
        let tile = tile_expr.as_var().and_then(|v| self.function.var(v).ty.tile());
        let (Some(tile), [_, _], [_, _], [rows, cols], [height, width]) = (tile, into, from, shape, valid) else {
            return Err(self.expected("a tile, and lists of two", tile_expr));
        };
        let (Some(rows), Some(cols)) = (rows.as_int(), cols.as_int()) else {
            return Err(self.expected("a constant shape", self.arg(call, 4, "a shape")?));
        };
        let (extents, moved) = if transpose {
            ((cols, rows), [width.clone(), height.clone()])
        } else {
            ((rows, cols), [height.clone(), width.clone()])
        };
        let space = self.space_of(tile);
        let form = types::form(&TileType { space, ..tile.clone() });
        let extents = whole_boxes(extents, tile.dtype, &form.slayout);
        let offsets: Vec<&Expr> = into.iter().collect();
        let window = self.window(dst.value, (tile, &form), &offsets, extents, &moved, "gather_row_view")?;
        let source = if transpose {
            let ty = self.tensor_type(tensor.shape)?;
            let [tensor_rows, tensor_cols] = &ty.shape[..] else {
                return Err(self.expected("a tensor of two dimensions", self.arg(call, 1, "a tensor")?));
            };
            let view = self.transposed_view(tensor, tensor_rows, tensor_cols, ty.dtype)?;
            let mut operands =
                vec![("source", view), ("offsets", self.clamped(&from[1])?), ("offsets", self.clamped(&from[0])?)];
            for size in &moved {
                operands.push(("sizes", self.index_of(size)?));
            }
            let result = self.partition_type(&moved, ty.dtype, self.at)?;
            self.pto_value("partition_view", &operands, &[], result, self.location(self.at))?
        } else {
            self.partition(tensor, from, &moved)?
        };
        self.pto("tload", &[("src", source), ("dst", window)], &[], None, self.location(self.at))?;
        Ok(Some(Bound::Tile(dst)))
    }

    pub(super) fn mscatter(&mut self, call: &'p Call) -> Lowered<Option<Bound<'c, 'a>>> {
        let source = self.tile_argument(self.arg(call, 0, "a tile")?)?;
        let indices = self.tile_argument(self.arg(call, 1, "a tile of indices")?)?;
        let tensor = self.tensor_argument(self.arg(call, 2, "a tensor")?)?;
        let window = self.whole(tensor)?;
        let operands = [("src", source.value), ("idx", indices.value), ("mem", window)];
        self.pto("mscatter", &operands, &[], None, self.location(self.at))?;
        Ok(Some(Bound::Tensor(tensor)))
    }

    pub(super) fn mgather(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let tensor = self.tensor_argument(self.arg(call, 0, "a tensor")?)?;
        let window = self.whole(tensor)?;
        let indices = self.arg(call, 1, "indices")?;
        let indices = match self.tile_argument(indices) {
            Ok(handle) => handle.value,
            Err(_) => {
                let tensor = self.tensor_argument(indices)?;
                self.whole(tensor)?
            }
        };
        let mut operands = vec![("mem", window), ("idx", indices)];
        if let Some(scratch) = call.args.get(2).or_else(|| call.kwarg("scratch")) {
            let tensor = self.tensor_argument(scratch)?;
            operands.push(("scratch", self.whole(tensor)?));
        }
        let choose = |cases: &[&'static str], index: i64| usize::try_from(index).ok().and_then(|i| cases.get(i)).copied();
        let coalesce = choose(&["row", "elem"], self.int_kwarg(call, "coalesce", Some(0))?);
        let outside = choose(&["undefined", "clamp", "wrap", "zero"], self.int_kwarg(call, "gather_oob", Some(0))?);
        let (Some(coalesce), Some(outside)) = (coalesce, outside) else {
            let message = "'tile.mgather' expects coalesce 0 or 1 and gather_oob 0 to 3";
            return Err(Problem::new("PTO-0715", self.at, message));
        };
        let attributes =
            [("coalesce", self.case("Coalesce", coalesce)?), ("gatherOob", self.case("GatherOOB", outside)?)];
        self.into_result("mgather", &operands, &attributes, target)
    }

    /// Position of an element counted row by row.
    fn flat_offset(&mut self, indices: &[Expr], shape: &[Expr]) -> Lowered<Value<'c, 'a>> {
        if indices.len() != shape.len() || indices.is_empty() {
            let message = format!("expected {} indices, found {}", shape.len(), indices.len());
            return Err(Problem::new("PTO-0715", self.at, message));
        }
        let mut offset = indices[0].clone();
        for (index, extent) in indices.iter().zip(shape).skip(1) {
            use crate::frontend::ast::BinaryOp::{Add, Mul};
            offset = folded(Add, folded(Mul, offset, extent.clone()), index.clone());
        }
        self.index_of(&offset)
    }

    pub(super) fn read_element(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let tile_expr = self.arg(call, 0, "a tile")?;
        let source = self.tile_argument(tile_expr)?;
        let tile = tile_expr.as_var().and_then(|v| self.function.var(v).ty.tile());
        let Some(tile) = tile else { return Err(self.expected("a tile", tile_expr)) };
        let offset = self.flat_offset(self.list(call, 1, "indices")?, &tile.shape)?;
        let ty = self.signed_scalar_type(tile.dtype)?;
        let operands = [("src", source.value), ("offset", offset)];
        let value = self.pto_value("tgetval", &operands, &[], ty, self.target_location(target))?;
        Ok(Some(Bound::Scalar(Scalar { value, dtype: tile.dtype })))
    }

    pub(super) fn write_element(&mut self, call: &'p Call) -> Lowered<Option<Bound<'c, 'a>>> {
        let tile_expr = self.arg(call, 0, "a tile")?;
        let dst = self.tile_argument(tile_expr)?;
        let tile = tile_expr.as_var().and_then(|v| self.function.var(v).ty.tile());
        let Some(tile) = tile else { return Err(self.expected("a tile", tile_expr)) };
        let offset = self.flat_offset(self.list(call, 1, "indices")?, &tile.shape)?;
        let value = self.scalar_operand(self.arg(call, 2, "a value")?, Some(tile.dtype))?;
        let operands = [("dst", dst.value), ("offset", offset), ("val", value)];
        self.pto("tsetval", &operands, &[], None, self.location(self.at))?;
        Ok(Some(Bound::Tile(dst)))
    }

    pub(super) fn tensor_call(
        &mut self,
        name: &str,
        call: &'p Call,
        target: Option<VarId>,
    ) -> Lowered<Option<Bound<'c, 'a>>> {
        let tensor = self.tensor_argument(self.arg(call, 0, "a tensor")?)?;
        let ty = self.tensor_type(tensor.shape)?;
        match name {
            "tensor.read" => {
                let offset = self.flat_offset(self.list(call, 1, "indices")?, &ty.shape)?;
                let element = self.signed_scalar_type(ty.dtype)?;
                let operands = [("ptr", tensor.pointer), ("offset", offset)];
                let value = self.pto_value("load_scalar", &operands, &[], element, self.target_location(target))?;
                Ok(Some(Bound::Scalar(Scalar { value, dtype: ty.dtype })))
            }
            "tensor.write" => {
                let offset = self.flat_offset(self.list(call, 1, "indices")?, &ty.shape)?;
                let scalar = self.scalar(self.arg(call, 2, "a value")?, Some(ty.dtype))?;
                let scalar = self.convert(scalar, ty.dtype)?;
                let value = self.signed(scalar)?;
                let operands = [("ptr", tensor.pointer), ("offset", offset), ("value", value)];
                self.pto("store_scalar", &operands, &[], None, self.location(self.at))?;
                Ok(Some(Bound::Tensor(tensor)))
            }
            "tensor.dim" => {
                let axis = self.arg(call, 1, "an axis")?;
                let extent = axis.as_int().and_then(|a| usize::try_from(a).ok()).and_then(|a| ty.shape.get(a));
                let Some(extent) = extent else { return Err(self.expected("an axis of the tensor", axis)) };
                let value = self.index_of(extent)?;
                Ok(Some(Bound::Scalar(Scalar { value, dtype: DataType::Index })))
            }
            "tensor.view" => {
                let Some(target) = target else { return Ok(None) };
                let view = self.make_view(target, tensor.pointer)?;
                Ok(Some(Bound::Tensor(Tensor { shape: target, view: Some(view), ..tensor })))
            }
            _ => Err(self.unknown_op(name)),
        }
    }

    /// The place of the statement with the name of what it defines.
    pub(super) fn target_location(&self, target: Option<VarId>) -> melior::ir::Location<'c> {
        match target {
            Some(var) => self.named(&self.function.var(var).name, self.at),
            None => self.location(self.at),
        }
    }
}

/// Boxes of a fractal layout are indivisible: the extents that a window of them has.
fn whole_boxes((rows, cols): (i64, i64), dtype: DataType, slayout: &str) -> (i64, i64) {
    if slayout == "none_box" {
        return (rows, cols);
    }
    // A box has 16 lines of 32 bytes (PTO-ISA, fractal size 512).
    let line = (32 * 8 / dtype.bits().max(1)) as i64;
    let up = |n: i64, of: i64| n.max(1).saturating_add(of - 1) / of * of;
    if slayout == "row_major" { (up(rows, 16), up(cols, line)) } else { (up(rows, line), up(cols, 16)) }
}

/// A binary expression, folded when both sides are constants.
fn folded(op: crate::frontend::ast::BinaryOp, a: Expr, b: Expr) -> Expr {
    use crate::frontend::ast::BinaryOp;
    if let (Some(x), Some(y)) = (a.as_int(), b.as_int()) {
        let value = if op == BinaryOp::Mul { x.checked_mul(y) } else { x.checked_add(y) };
        if let Some(value) = value {
            return Expr { kind: ExprKind::Int(value, None), span: a.span };
        }
    }
    let span = a.span;
    Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), span }
}

/// Whether statements name a variable in a call.
fn mentions(body: &[Stmt], var: VarId) -> bool {
    use crate::frontend::ast::StmtKind;
    body.iter().any(|statement| {
        let direct = match &statement.kind {
            StmtKind::Assign { value, .. } | StmtKind::Eval(value) => value.vars().contains(&var),
            StmtKind::For(it) => it.inits.iter().any(|e| e.vars().contains(&var)),
            StmtKind::While(it) => it.inits.iter().any(|e| e.vars().contains(&var)),
            _ => false,
        };
        direct || statement.blocks().into_iter().any(|b| mentions(b, var))
    })
}
