//! Global memory by index: one row into a tile, rows and elements gathered and scattered.

use super::{Bound, Lowered, Lowering, types};
use crate::frontend::ast::{Call, DataType, Expr, ExprKind, Problem, TileType, VarId};

impl<'p, 'c, 'a> Lowering<'p, 'c, 'a> {
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
        let choose =
            |cases: &[&'static str], index: i64| usize::try_from(index).ok().and_then(|i| cases.get(i)).copied();
        let coalesce = choose(&["row", "elem"], self.int_kwarg(call, "coalesce", Some(0))?);
        let outside = choose(&["undefined", "clamp", "wrap", "zero"], self.int_kwarg(call, "gather_oob", Some(0))?);
        let (Some(coalesce), Some(outside)) = (coalesce, outside) else {
            let message = "'tile.mgather' expects coalesce 0 or 1 and gather_oob 0 to 3";
            return Err(Problem::new("PTO-0715", self.at, message));
        };
        let attributes =
            [("coalesce", self.case("Coalesce", coalesce)?), ("gatherOob", self.case("GatherOOB", outside)?)];
        self.write_result("mgather", &operands, &attributes, target)
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
