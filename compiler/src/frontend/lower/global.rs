//! Global memory: tensor views, loads and stores, single elements, gathers and scatters.

use super::{Bound, GM_PIPE_BUFFER, Lowered, Lowering, Tensor, types};
use crate::frontend::ast::{Call, DataType, Expr, ExprKind, Problem, Stmt, TensorType, VarId};
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

    pub(super) fn tensor_type(&self, var: VarId) -> Lowered<&'p TensorType> {
        let variable = self.function.var(var);
        variable
            .ty
            .tensor()
            .ok_or_else(|| Problem::new("PTO-0711", variable.span, format!("'{}' is no tensor", variable.name)))
    }

    /// `pto.make_tensor_view` with the shape and strides of a variable's type.
    pub(super) fn make_view(&mut self, var: VarId, pointer: Value<'c, 'a>) -> Lowered<Value<'c, 'a>> {
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
    pub(super) fn strides(
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

    pub(super) fn product(&mut self, a: Value<'c, 'a>, b: Value<'c, 'a>, a_is_one: bool) -> Lowered<Value<'c, 'a>> {
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
    pub(super) fn partition(
        &mut self,
        tensor: Tensor<'c, 'a>,
        offsets: &'p [Expr],
        sizes: &[Expr],
    ) -> Lowered<Value<'c, 'a>> {
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

    pub(super) fn clamped(&mut self, offset: &Expr) -> Lowered<Value<'c, 'a>> {
        if let Some(constant) = offset.as_int() {
            return self.index(constant.max(0));
        }
        let value = self.index_of(offset)?;
        let zero = self.index(0)?;
        let ty = melior::ir::Type::index(self.context);
        self.value("arith.maxsi", &[value, zero], &[], ty, self.location(self.at))
    }

    /// The whole of a tensor as a window.
    pub(super) fn whole(&mut self, tensor: Tensor<'c, 'a>) -> Lowered<Value<'c, 'a>> {
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
        self.write_result("tload", &[("src", window)], &[], target)
    }

    /// A load that exchanges the two dimensions: the same memory seen as a column-major tensor.
    pub(super) fn load_transposed(
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
        self.write_result("tload", &[("src", window)], &[], target)
    }

    pub(super) fn transposed_view(
        &mut self,
        tensor: Tensor<'c, 'a>,
        rows: &'p Expr,
        cols: &'p Expr,
        dtype: DataType,
    ) -> Lowered<Value<'c, 'a>> {
        let (rows, cols, one) = (self.index_of(rows)?, self.index_of(cols)?, self.index(1)?);
        let operands = [("ptr", tensor.pointer), ("shape", cols), ("shape", rows), ("strides", one), ("strides", cols)];
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
    pub(super) fn stored_extents(&self, tile_expr: &Expr, rank: usize) -> Lowered<Vec<Expr>> {
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
