//! Barriers, arrays on the core's stack, and what the runtime passes.

use super::{Bound, Lowered, Lowering, build::internal, scalars::Scalar, types};
use crate::frontend::ast::{Call, DataType, Expr, Problem, Type, VarId};
use melior::ir::{Attribute, operation::OperationBuilder};
use pto_dialect::enum_attr;

impl<'p, 'c, 'a> Lowering<'p, 'c, 'a> {
    pub(super) fn end_block(&self) -> Lowered {
        let built = OperationBuilder::new("scf.yield", self.location(self.at)).build();
        self.append(built.map_err(|e| internal(e.to_string()))?);
        Ok(())
    }

    /// A number that the runtime passes, as an index or whatever the program calls it.
    pub(super) fn hidden_index(&mut self, name: &str, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let Some(value) = self.hidden.get(name).copied() else {
            return Err(internal(format!("parameter {name} was not added")));
        };
        let dtype = target.and_then(|t| self.function.var(t).ty.scalar()).unwrap_or(DataType::Index);
        let scalar = self.convert(Scalar { value, dtype: DataType::Int32 }, dtype)?;
        Ok(Some(Bound::Scalar(scalar)))
    }

    pub(super) fn system_call(
        &mut self,
        name: &str,
        call: &'p Call,
        target: Option<VarId>,
    ) -> Lowered<Option<Bound<'c, 'a>>> {
        match name {
            "system.reserve_buffer" => self.reserve(call, target),
            "system.import_peer_buffer" => self.import(call, target),
            "system.aic_initialize_pipe" | "system.aiv_initialize_pipe" => self.initialize_pipe(name, call),
            "system.tfree_to_aic" | "system.tfree_to_aiv" => self.free(name, call),
            "system.bar_v" => self.barrier("PIPE_V"),
            "system.bar_m" => self.barrier("PIPE_M"),
            "system.bar_all" => self.barrier("PIPE_ALL"),
            "system.fence" => self.fence(),
            "system.syncall" => self.sync_all(call),
            "system.cacheinvalid" => self.cache_invalid(call),
            "system.set_ffts" => self.set_ffts(call),
            // Flags between pipes of one core are the compiler's own affair.
            "system.sync_src" | "system.sync_dst" => Ok(None),
            _ => Err(self.unknown_op(name)),
        }
    }

    pub(super) fn barrier(&mut self, pipe: &str) -> Lowered<Option<Bound<'c, 'a>>> {
        let attribute = self.case("Pipe", pipe)?;
        self.pto("barrier", &[], &[("pipe", attribute)], None, self.location(self.at))?;
        Ok(None)
    }

    pub(super) fn fence(&mut self) -> Lowered<Option<Bound<'c, 'a>>> {
        let scope = self.case("FenceScope", "gm")?;
        self.pto("fence.barrier_all", &[], &[("scope", scope)], None, self.location(self.at))?;
        Ok(None)
    }

    pub(super) fn cache_invalid(&mut self, call: &'p Call) -> Lowered<Option<Bound<'c, 'a>>> {
        let tensor = self.tensor_argument(self.arg(call, 0, "a tensor")?)?;
        let space = self.case("AddressSpace", "gm")?;
        let operands = [("addr", tensor.pointer)];
        self.pto("cmo.cacheinvalid", &operands, &[("space", space)], None, self.location(self.at))?;
        Ok(None)
    }

    pub(super) fn set_ffts(&mut self, call: &'p Call) -> Lowered<Option<Bound<'c, 'a>>> {
        let tensor = self.tensor_argument(self.arg(call, 0, "a workspace")?)?;
        self.pto("set_ffts", &[("ffts", tensor.pointer)], &[], None, self.location(self.at))?;
        Ok(None)
    }

    pub(super) fn sync_all(&mut self, call: &'p Call) -> Lowered<Option<Bound<'c, 'a>>> {
        let text = |name: &str, default: &str| -> String {
            call.kwarg(name).and_then(Expr::as_str).unwrap_or(default).to_owned()
        };
        let mode = self.case("SyncAllMode", &text("mode", "hard"))?;
        let core = self.case("SyncCoreType", &text("core_type", "mix"))?;
        let mut operands = Vec::new();
        if let Some(workspace) = call.args.first().or_else(|| call.kwarg("gm_workspace")) {
            operands.push(("gm_workspace", self.tensor_argument(workspace)?.pointer));
        }
        if let Some(cores) = call.args.get(1).or_else(|| call.kwarg("used_cores")) {
            operands.push(("used_cores", self.scalar_as(cores, DataType::Int32)?));
        }
        self.pto("syncall", &operands, &[("mode", mode), ("core_type", core)], None, self.location(self.at))?;
        Ok(None)
    }

    /// A case of an enumeration of the dialect.
    pub(super) fn case(&self, of: &str, case: &str) -> Lowered<Attribute<'c>> {
        enum_attr(self.context, of, case)
            .ok_or_else(|| Problem::new("PTO-0715", self.at, format!("'{case}' is no case of {of}")))
    }

    pub(super) fn array_call(
        &mut self,
        name: &str,
        call: &'p Call,
        target: Option<VarId>,
    ) -> Lowered<Option<Bound<'c, 'a>>> {
        if name == "array.create" {
            let Some(Type::Array(extent, dtype)) = target.map(|t| &self.function.var(t).ty) else {
                return Err(Problem::new(
                    "PTO-0711",
                    self.at,
                    "the result of 'array.create' needs the type Array[n, T]",
                ));
            };
            let text = format!("!pto.local_array<{extent}x{}>", types::element_text(*dtype));
            let ty = self.type_of_text(&text, self.at)?;
            let value = self.pto_value("declare_local_array", &[], &[], ty, self.target_location(target))?;
            return Ok(Some(Bound::Array(value)));
        }
        let array_expr = self.arg(call, 0, "an array")?;
        let array = array_expr.as_var().and_then(|v| Some((self.bound.get(&v).copied()?, &self.function.var(v).ty)));
        let Some((Bound::Array(array), Type::Array(_, dtype))) = array else {
            return Err(self.expected("an array", array_expr));
        };
        let index = self.index_of(self.arg(call, 1, "an index")?)?;
        match name {
            "array.get_element" => {
                let ty = self.signed_scalar_type(*dtype)?;
                let operands = [("array", array), ("indices", index)];
                let value = self.pto_value("local_array_get", &operands, &[], ty, self.target_location(target))?;
                Ok(Some(Bound::Scalar(Scalar { value, dtype: *dtype })))
            }
            "array.update_element" => {
                let scalar = self.scalar(self.arg(call, 2, "a value")?, Some(*dtype))?;
                let scalar = self.convert(scalar, *dtype)?;
                let value = self.signed(scalar)?;
                let operands = [("array", array), ("indices", index), ("value", value)];
                self.pto("local_array_set", &operands, &[], None, self.location(self.at))?;
                Ok(Some(Bound::Array(array)))
            }
            _ => Err(self.unknown_op(name)),
        }
    }
}
