//! Operations between tiles that a row of the table does not say: one function each.

use super::{Bound, Lowered, Lowering};
use crate::frontend::{
    ast::{Call, DataType, Expr, ExprKind, VarId},
    ops::{FrontOp, Memory},
};
use melior::ir::{Attribute, Value};

impl<'p, 'c, 'a> Lowering<'p, 'c, 'a> {
    /// An operation that writes the statement's own tile.
    pub(super) fn write_result(
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

    pub(super) fn move_tile(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let source = self.tile_argument(self.arg(call, 0, "a tile")?)?;
        self.write_result("tmov", &[("src", source.value)], &[], target)
    }

    pub(super) fn full(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let value = match call.kwarg("value") {
            Some(value) => value,
            None => self.arg(call, 1, "a value")?,
        };
        let element = self.element_of_target(target);
        let scalar = self.scalar_operand(value, element)?;
        self.write_result("texpands", &[("scalar", scalar)], &[], target)
    }

    pub(super) fn random(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let mut operands = Vec::new();
        for (index, name) in ["key0", "key1", "counter0", "counter1", "counter2", "counter3"].into_iter().enumerate() {
            let value = self.arg(call, index, name)?;
            operands.push((name, self.scalar_as(value, DataType::Int32)?));
        }
        let rounds = self.integer(self.int_kwarg(call, "rounds", Some(10))?, 32);
        self.write_result("trandom", &operands, &[("rounds", rounds)], target)
    }

    pub(super) fn triangle(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let diagonal = self.scalar_as(self.arg(call, 0, "the diagonal")?, DataType::Int32)?;
        let upper = matches!(call.kwarg("upper").map(|e| &e.kind), Some(ExprKind::Bool(true)));
        let attribute = self.integer(i64::from(upper), 32);
        self.write_result("ttri", &[("diagonal", diagonal)], &[("upperOrLower", attribute)], target)
    }

    pub(super) fn col_sum(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let mut operands = vec![("src", self.tile_argument(self.arg(call, 0, "a tile")?)?.value)];
        let mut attributes = Vec::new();
        if let Some(tmp) = call.args.get(1) {
            operands.push(("tmp", self.tile_argument(tmp)?.value));
            attributes.push(("isBinary", self.attribute("true")?));
        }
        self.write_result("tcolsum", &operands, &attributes, target)
    }

    pub(super) fn extract(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let source = self.tile_argument(self.arg(call, 0, "a tile")?)?;
        let row = self.index_of(self.arg(call, 1, "a row")?)?;
        let col = self.index_of(self.arg(call, 2, "a column")?)?;
        self.write_result("textract", &[("src", source.value), ("indexRow", row), ("indexCol", col)], &[], target)
    }

    pub(super) fn transpose(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let mut operands = vec![("src", self.tile_argument(self.arg(call, 0, "a tile")?)?.value)];
        if let Some(tmp) = call.args.get(3) {
            operands.push(("tmp", self.tile_argument(tmp)?.value));
        }
        self.write_result("ttrans", &operands, &[], target)
    }

    /// With a condition that says whether the sum starts here: a plain product or an accumulating one.
    pub(super) fn matmul_acc(
        &mut self,
        row: &FrontOp,
        call: &'p Call,
        target: Option<VarId>,
    ) -> Lowered<Option<Bound<'c, 'a>>> {
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

    pub(super) fn merge_blocks(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let list = self.tile_argument(self.arg(call, 0, "a tile")?)?;
        let block = self.scalar_as(self.arg(call, 1, "a block length")?, DataType::Int32)?;
        self.write_result("tmrgsort", &[("srcs", list.value), ("blockLen", block)], &[], target)
    }

    pub(super) fn merge_lists(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
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
        self.write_result("tmrgsort", &operands, &[("exhausted", exhausted)], target)
    }
}
