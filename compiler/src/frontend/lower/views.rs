//! Tiles that see the bytes of others: windows, other shapes and valid extents, tiles put into tiles.

use super::{
    Bound, Handle, Lowered, Lowering,
    types::{self, Form},
};
use crate::frontend::ast::{Call, Expr, MemRef, MemorySpace, Problem, TileType, Type, VarId};
use melior::ir::Value;

impl<'p, 'c, 'a> Lowering<'p, 'c, 'a> {
    /// A window. It keeps its parent's layout and strides, and the offset that is known only at run time.
    pub(super) fn slice(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
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
        let value =
            self.window(source.value, (parent, &form), &offsets, (rows, cols), &valid, &self.function.var(var).name)?;
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
    pub(super) fn reshape(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
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
    pub(super) fn set_valid(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
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
    pub(super) fn assemble(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let target_expr = self.arg(call, 0, "a tile")?;
        let source_expr = self.arg(call, 1, "a tile")?;
        let offsets = self.list(call, 2, "an offset")?;
        let [row, col] = offsets else { return Err(self.expected("two offsets", self.arg(call, 2, "an offset")?)) };
        let whole = self.tile_argument(target_expr)?;
        let part = self.tile_argument(source_expr)?;
        let tiles = [target_expr, source_expr].map(|e| e.as_var().and_then(|v| self.function.var(v).ty.tile()));
        let [Some(into), Some(from)] = tiles else { return Err(self.expected("a tile", source_expr)) };
        let Some(extents) = types::extents(from) else {
            return Err(self.expected("a tile of constant extents", source_expr));
        };
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
    pub(super) fn assembled(
        &mut self,
        into: &TileType,
        whole: Handle<'c, 'a>,
        target: Option<VarId>,
    ) -> Lowered<Handle<'c, 'a>> {
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
