//! Branches and loops: scalars are carried in the IR; tiles and tensors stand where they stand.

use super::{Bound, Lowered, Lowering, build::internal, scalars::Scalar};
use crate::frontend::ast::{Block, DataType, Expr, For, Problem, StmtKind, Type, VarId, While};
use melior::ir::{
    BlockLike, BlockRef, Location, OperationRef, Type as MlirType, Value, ValueLike,
    operation::{OperationBuilder, OperationLike},
};

impl<'p, 'c, 'a> Lowering<'p, 'c, 'a> {
    pub(super) fn lower_if(
        &mut self,
        condition: &'p Expr,
        then: &'p Block,
        otherwise: Option<&'p Block>,
        results: &'p [VarId],
    ) -> Lowered {
        let span = self.at;
        let condition = self.scalar_as(condition, DataType::Bool)?;
        // What reads a tile after the branches finds it at its own address, whichever way was taken.
        for &result in results {
            if matches!(self.function.var(result).ty, Type::Tile(_)) {
                let handle = self.tile_at_address(result)?;
                if let Some(handle) = handle {
                    self.bound.insert(result, Bound::Tile(handle));
                }
            }
        }
        let scalars = self.scalars_among(results);
        let types = self.types_of(&scalars)?;
        let location = self.location(span);
        let has_else = otherwise.is_some() || !scalars.is_empty();
        let regions: &[&[(MlirType, Location)]] = if has_else { &[&[], &[]] } else { &[&[]] };
        let (op, mut blocks) = self.if_op(condition, &types, regions, location)?;
        let outer = self.block;
        let branches: [Option<&'p Block>; 2] = [Some(then), otherwise];
        for (block, statements) in blocks.drain(..).zip(branches) {
            self.block = block;
            self.branch(statements.map_or(&[], |s| s), results, &scalars)?;
            self.block = outer;
        }
        self.bind_results(op, &scalars);
        Ok(())
    }

    fn if_op(
        &self,
        condition: Value<'c, 'a>,
        types: &[MlirType<'c>],
        regions: &[&[(MlirType<'c>, Location<'c>)]],
        location: Location<'c>,
    ) -> Lowered<(OperationRef<'c, 'a>, Vec<BlockRef<'c, 'a>>)> {
        if regions.len() == 2 {
            return self.with_regions("scf.if", &[condition], types, regions, location);
        }
        // An `scf.if` always has two regions; the second may be empty.
        let then = melior::ir::Region::new();
        melior::ir::RegionLike::append_block(&then, melior::ir::Block::new(&[]));
        let built = OperationBuilder::new("scf.if", location)
            .add_operands(&[condition])
            .add_regions([then, melior::ir::Region::new()])
            .build();
        let op = self.append(built.map_err(|e| internal(e.to_string()))?);
        let blocks = op.regions().filter_map(|r| melior::ir::RegionLike::first_block(&r)).collect();
        Ok((op, blocks))
    }

    /// One way of a branch, with its yield.
    fn branch(
        &mut self,
        statements: &'p [crate::frontend::ast::Stmt],
        results: &[VarId],
        scalars: &[VarId],
    ) -> Lowered {
        self.statements(statements);
        let yielded = yields(statements);
        for (&result, value) in results.iter().zip(yielded) {
            self.bind_yield(result, value)?;
        }
        let values = self.yielded_scalars(results, yielded, scalars)?;
        self.terminate("scf.yield", &values)
    }

    /// What a branch yields, for tensors and for tiles that only their handle knows where they are.
    fn bind_yield(&mut self, result: VarId, value: &Expr) -> Lowered {
        let Some(Bound::Tensor(tensor)) = value.as_var().and_then(|v| self.bound.get(&v)).copied() else {
            return Ok(());
        };
        if let Some(Bound::Tensor(other)) = self.bound.get(&result)
            && other.root != tensor.root
        {
            let names = [other.root, tensor.root].map(|v| self.function.var(v).name.clone());
            let message = format!(
                "'{}' is tensor '{}' on one way and '{}' on the other; which one must not depend on the way taken",
                self.function.var(result).name,
                names[0],
                names[1]
            );
            return Err(Problem::new("PTO-0716", value.span, message));
        }
        self.bound.insert(result, Bound::Tensor(tensor));
        Ok(())
    }

    pub(super) fn lower_for(&mut self, it: &'p For) -> Lowered {
        let span = self.at;
        let bounds = [self.index_of(&it.start)?, self.index_of(&it.stop)?, self.index_of(&it.step)?];
        if it.step.as_int().is_some_and(|step| step <= 0) {
            return Err(Problem::new("PTO-0714", it.step.span, "expected a positive loop step"));
        }
        self.bind_carried(&it.carried, &it.inits)?;
        let scalars = self.scalars_among(&it.carried);
        let types = self.types_of(&scalars)?;
        let mut operands = bounds.to_vec();
        for (&carried, init) in it.carried.iter().zip(&it.inits) {
            if scalars.contains(&carried) {
                operands.push(self.scalar_as(init, self.dtype_of_var(carried))?);
            }
        }
        let index = MlirType::index(self.context);
        let mut arguments = vec![(index, self.named(&self.function.var(it.index).name, span))];
        arguments.extend(scalars.iter().zip(&types).map(|(&v, &t)| (t, self.named(&self.function.var(v).name, span))));
        let (op, blocks) = self.with_regions("scf.for", &operands, &types, &[&arguments], self.location(span))?;
        let Some(&block) = blocks.first() else { return Err(internal("a loop without a block".to_owned())) };
        let value = argument(block, 0)?;
        let outer = std::mem::replace(&mut self.block, block);
        let counted = self.convert(Scalar { value, dtype: DataType::Index }, self.dtype_of_var(it.index))?;
        self.bound.insert(it.index, Bound::Scalar(counted));
        self.bind_arguments(block, 1, &scalars)?;
        self.loop_body(&it.body);
        let values = self.yielded_scalars(&it.carried, yields(&it.body), &scalars)?;
        self.terminate("scf.yield", &values)?;
        self.block = outer;
        self.bind_loop_results(op, &it.carried, &it.results, &scalars)
    }

    pub(super) fn lower_while(&mut self, it: &'p While) -> Lowered {
        let span = self.at;
        self.bind_carried(&it.carried, &it.inits)?;
        let scalars = self.scalars_among(&it.carried);
        let types = self.types_of(&scalars)?;
        let mut operands = Vec::new();
        for (&carried, init) in it.carried.iter().zip(&it.inits) {
            if scalars.contains(&carried) {
                operands.push(self.scalar_as(init, self.dtype_of_var(carried))?);
            }
        }
        let arguments: Vec<_> =
            scalars.iter().zip(&types).map(|(&v, &t)| (t, self.named(&self.function.var(v).name, span))).collect();
        let regions = [&arguments[..], &arguments[..]];
        let (op, blocks) = self.with_regions("scf.while", &operands, &types, &regions, self.location(span))?;
        let [before, after] = blocks[..] else { return Err(internal("a loop without blocks".to_owned())) };
        let outer = std::mem::replace(&mut self.block, before);
        self.bind_arguments(before, 0, &scalars)?;
        let condition = self.scalar_as(&it.condition, DataType::Bool)?;
        let mut passed = vec![condition];
        for index in 0..scalars.len() {
            passed.push(argument(before, index)?);
        }
        self.terminate("scf.condition", &passed)?;
        self.block = after;
        self.bind_arguments(after, 0, &scalars)?;
        self.loop_body(&it.body);
        let values = self.yielded_scalars(&it.carried, yields(&it.body), &scalars)?;
        self.terminate("scf.yield", &values)?;
        self.block = outer;
        self.bind_loop_results(op, &it.carried, &it.results, &scalars)
    }

    /// A loop's body is followed by its next trip.
    fn loop_body(&mut self, body: &'p Block) {
        let tail = std::mem::replace(&mut self.tail, false);
        self.statements(body);
        self.tail = tail;
    }

    /// The body knows carried tiles and tensors as what they are before the loop.
    fn bind_carried(&mut self, carried: &[VarId], inits: &[Expr]) -> Lowered {
        for (&carried, init) in carried.iter().zip(inits) {
            if matches!(self.function.var(carried).ty, Type::Scalar(_)) {
                continue;
            }
            let Some(var) = init.as_var() else { return Err(self.expected("a variable", init)) };
            let Some(bound) = self.bound.get(&var).copied() else { return Err(self.unbound(init, var)) };
            self.bound.insert(carried, bound);
        }
        Ok(())
    }

    fn bind_loop_results(
        &mut self,
        op: OperationRef<'c, 'a>,
        carried: &[VarId],
        results: &[VarId],
        scalars: &[VarId],
    ) -> Lowered {
        let mut next = 0;
        for (&carried, &result) in carried.iter().zip(results) {
            if scalars.contains(&carried) {
                let value = op.result(next).map_err(|e| internal(e.to_string()))?.into();
                self.bound.insert(result, Bound::Scalar(Scalar { value, dtype: self.dtype_of_var(carried) }));
                next += 1;
            } else if let Some(bound) = self.bound.get(&carried).copied() {
                let bound = self.result_of_loop(result, bound)?;
                self.bound.insert(result, bound);
            }
        }
        Ok(())
    }

    /// A tile after a loop: the same bytes as before it, with the result's own valid extents.
    fn result_of_loop(&mut self, result: VarId, bound: Bound<'c, 'a>) -> Lowered<Bound<'c, 'a>> {
        let Bound::Tile(handle) = bound else { return Ok(bound) };
        let same = self.tile_type_of(result)?.is_some_and(|(ty, dynamic)| ty == handle.value.r#type() && !dynamic);
        if same || !handle.addressed {
            return Ok(bound);
        }
        Ok(self.tile_at_address(result)?.map_or(bound, Bound::Tile))
    }

    fn bind_arguments(&mut self, block: BlockRef<'c, 'a>, first: usize, scalars: &[VarId]) -> Lowered {
        for (index, &var) in scalars.iter().enumerate() {
            let value = argument(block, first + index)?;
            self.bound.insert(var, Bound::Scalar(Scalar { value, dtype: self.dtype_of_var(var) }));
        }
        Ok(())
    }

    fn bind_results(&mut self, op: OperationRef<'c, 'a>, scalars: &[VarId]) {
        for (index, &var) in scalars.iter().enumerate() {
            if index < op.result_count()
                && let Ok(value) = op.result(index)
            {
                self.bound.insert(var, Bound::Scalar(Scalar { value: value.into(), dtype: self.dtype_of_var(var) }));
            }
        }
    }

    fn yielded_scalars(
        &mut self,
        targets: &[VarId],
        yielded: &[Expr],
        scalars: &[VarId],
    ) -> Lowered<Vec<Value<'c, 'a>>> {
        let mut values = Vec::new();
        for (index, &target) in targets.iter().enumerate() {
            if !scalars.contains(&target) {
                continue;
            }
            let Some(value) = yielded.get(index) else {
                let message = format!("'{}' gets no value on this way", self.function.var(target).name);
                return Err(Problem::new("PTO-0716", self.at, message));
            };
            values.push(self.scalar_as(value, self.dtype_of_var(target))?);
        }
        Ok(values)
    }

    fn terminate(&self, name: &str, values: &[Value<'c, 'a>]) -> Lowered {
        let built = OperationBuilder::new(name, self.location(self.at)).add_operands(values).build();
        self.append(built.map_err(|e| internal(e.to_string()))?);
        Ok(())
    }

    fn scalars_among(&self, vars: &[VarId]) -> Vec<VarId> {
        vars.iter().copied().filter(|&v| matches!(self.function.var(v).ty, Type::Scalar(_))).collect()
    }

    fn types_of(&self, scalars: &[VarId]) -> Lowered<Vec<MlirType<'c>>> {
        scalars.iter().map(|&v| self.scalar_type(self.dtype_of_var(v))).collect()
    }

    fn dtype_of_var(&self, var: VarId) -> DataType {
        self.function.var(var).ty.scalar().unwrap_or(DataType::Index)
    }
}

/// What the last statement of a block yields.
fn yields(statements: &[crate::frontend::ast::Stmt]) -> &[Expr] {
    match statements.last().map(|s| &s.kind) {
        Some(StmtKind::Yield(values)) => values,
        _ => &[],
    }
}

fn argument<'c, 'a>(block: BlockRef<'c, 'a>, index: usize) -> Lowered<Value<'c, 'a>> {
    block.argument(index).map(Value::from).map_err(|e| internal(e.to_string()))
}
