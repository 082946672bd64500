//! Parameters of a function: tensors, scalars, dynamic extents, what the runtime passes.

use super::{Bound, GM_PIPE_BUFFER, Lowered, Lowering, Tensor, build::integer_type, scalars::Scalar};
use crate::frontend::ast::{
    Block as Statements, Call, Direction, Expr, ExprKind, FunctionKind, Problem, Span, StmtKind, Type,
};
use melior::ir::{
    Attribute, BlockLike, OperationRef, Type as MlirType, Value,
    attribute::{StringAttribute, TypeAttribute},
    r#type::FunctionType,
};
use pto_dialect::enum_attr;

/// Hidden parameters by what a function uses, in their order: operation, names, and whether they are one group.
const HIDDEN: &[(&[&str], &[&str])] = &[
    (&["tile.get_block_idx", "tile.get_block_num"], &["__pypto_spmd_block_idx", "__pypto_spmd_block_num"]),
    (&["tile.get_subblock_idx"], &["__pypto_spmd_subblock_idx"]),
];

impl<'c, 'a> Lowering<'_, 'c, 'a> {
    /// Adds the parameters to the block; returns their types.
    pub(super) fn parameters(&mut self) -> Lowered<Vec<MlirType<'c>>> {
        let mut inputs = Vec::new();
        let (tensors, others): (Vec<_>, Vec<_>) =
            self.function.params.iter().partition(|p| matches!(self.function.var(p.var).ty, Type::Tensor(_)));
        for param in &tensors {
            let var = self.function.var(param.var);
            let Type::Tensor(tensor) = &var.ty else { continue };
            let ty = self.pointer_type(tensor.dtype, var.span)?;
            let pointer = self.argument(&var.name, ty, var.span, &mut inputs);
            if var.name == GM_PIPE_BUFFER {
                self.gm_slots = Some(pointer);
            }
            let tensor = Tensor { pointer, root: param.var, shape: param.var, view: None };
            self.bound.insert(param.var, Bound::Tensor(tensor));
        }
        for param in others {
            let var = self.function.var(param.var);
            let Type::Scalar(dtype) = var.ty else {
                let message = format!("parameter '{}' is neither tensor nor scalar", var.name);
                return Err(Problem::new("PTO-0711", var.span, message));
            };
            if param.direction != Direction::In {
                let message = format!("parameter '{}' is a scalar and cannot be written", var.name);
                return Err(Problem::new("PTO-0711", var.span, message));
            }
            let ty = self.signed_scalar_type(dtype)?;
            let value = self.argument(&var.name, ty, var.span, &mut inputs);
            self.bound.insert(param.var, Bound::Scalar(Scalar { value, dtype }));
        }
        for param in &tensors {
            let Type::Tensor(tensor) = &self.function.var(param.var).ty else { continue };
            for name in tensor.shape.iter().flat_map(dynamic_names) {
                if !self.dynamics.contains_key(&name) {
                    let value = self.argument(&name, MlirType::index(self.context), self.at, &mut inputs);
                    self.dynamics.insert(name, value);
                }
            }
        }
        for (ops, names) in HIDDEN {
            let used = self
                .function
                .body
                .as_ref()
                .is_some_and(|body| calls(body, &|c| c.op().is_some_and(|o| ops.contains(&o))));
            for name in names.iter().filter(|_| used) {
                let value = self.argument(name, integer_type(self.context, 32), self.at, &mut inputs);
                self.hidden.insert(name, value);
            }
        }
        Ok(inputs)
    }

    pub(super) fn argument(
        &self,
        name: &str,
        ty: MlirType<'c>,
        span: Span,
        inputs: &mut Vec<MlirType<'c>>,
    ) -> Value<'c, 'a> {
        inputs.push(ty);
        self.head.add_argument(ty, self.named(name, span))
    }

    /// Gives the function its name, type and kind.
    pub(super) fn sign(&self, function: OperationRef<'c, 'a>, inputs: &[MlirType<'c>]) {
        let context = self.context;
        let ty: MlirType = FunctionType::new(context, inputs, &[]).into();
        let mut attributes: Vec<(&str, Attribute)> = vec![
            ("sym_name", StringAttribute::new(context, &self.function.name).into()),
            ("function_type", TypeAttribute::new(ty).into()),
        ];
        let kind = match self.function.kind {
            FunctionKind::Aic => enum_attr(context, "KernelKind", "cube"),
            FunctionKind::Aiv => enum_attr(context, "KernelKind", "vector"),
            _ => None,
        };
        attributes.extend(kind.map(|kind| ("pto.kernel_kind", kind)));
        for (name, value) in attributes {
            pto_dialect::edit::set_attribute(function, name, value);
        }
    }
}

/// The dynamic extents that an expression names.
fn dynamic_names(expr: &Expr) -> Vec<String> {
    let mut found = match &expr.kind {
        ExprKind::Dynamic(name) => vec![name.clone()],
        _ => Vec::new(),
    };
    found.extend(expr.children().into_iter().flat_map(dynamic_names));
    found
}

/// Whether a call for which `test` holds stands anywhere in statements.
fn calls(body: &Statements, test: &dyn Fn(&Call) -> bool) -> bool {
    pub(super) fn in_expr(expr: &Expr, test: &dyn Fn(&Call) -> bool) -> bool {
        expr.as_call().is_some_and(test) || expr.children().into_iter().any(|e| in_expr(e, test))
    }
    body.iter().any(|statement| {
        let direct = match &statement.kind {
            StmtKind::Assign { value, .. } | StmtKind::Eval(value) => in_expr(value, test),
            StmtKind::If { condition, .. } => in_expr(condition, test),
            StmtKind::While(it) => in_expr(&it.condition, test),
            StmtKind::For(it) => [&it.start, &it.stop, &it.step].into_iter().any(|e| in_expr(e, test)),
            _ => false,
        };
        direct || statement.blocks().into_iter().any(|b| calls(b, test))
    })
}
