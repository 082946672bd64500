//! Queues between the cube core and the vector cores: their buffers, their ends, what travels.

use super::{Bound, GM_PIPE_BUFFER, Handle, Lowered, Lowering, build::integer_type, scalars::Scalar, types};
use crate::frontend::ast::{
    Call, DataType, Expr, ExprKind, Function, FunctionKind, MemorySpace, Problem, Program, Stmt, StmtKind, TileType,
    Type, VarId,
};
use melior::ir::{
    Attribute, Type as MlirType, Value,
    attribute::{FlatSymbolRefAttribute, StringAttribute},
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Slots of a queue when the program does not say: one ring, or one in each direction.
const SLOTS: [i64; 2] = [8, 4];

/// Where each queue's slots stand in the buffer in global memory, in bytes, by queue number and directions. The queues
/// of a function and of those it shares queues with follow one another, so that both ends agree.
pub(super) fn gm_slot_offsets(program: &Program, function: &Function) -> HashMap<(i64, i64), i64> {
    let mut sizes: BTreeMap<(i64, i64), i64> = BTreeMap::new();
    let group = queue_group(program, &function.name);
    for member in program.functions.iter().filter(|f| group.contains(f.name.as_str())) {
        collect_queues(member.body.as_deref().unwrap_or_default(), &mut sizes);
    }
    let mut offset = 0i64;
    let mut offsets = HashMap::new();
    for (key, bytes) in sizes {
        offsets.insert(key, offset);
        offset = offset.saturating_add(bytes);
    }
    offsets
}

/// The functions that a function exchanges tiles with, itself included.
fn queue_group<'p>(program: &'p Program, name: &'p str) -> BTreeSet<&'p str> {
    let links: Vec<(&str, &str)> = program
        .functions
        .iter()
        .flat_map(|f| peers(f.body.as_deref().unwrap_or_default()).into_iter().map(move |peer| (f.name.as_str(), peer)))
        .collect();
    let mut group = BTreeSet::from([name]);
    loop {
        let before = group.len();
        for (a, b) in &links {
            if group.contains(a) || group.contains(b) {
                group.extend([*a, *b]);
            }
        }
        if group.len() == before {
            return group;
        }
    }
}

/// The functions whose reserved buffers statements import.
fn peers(body: &[Stmt]) -> Vec<&str> {
    let mut found = Vec::new();
    for statement in body {
        if let StmtKind::Assign { value, .. } = &statement.kind
            && let Some(call) = value.as_call().filter(|c| c.op() == Some("system.import_peer_buffer"))
        {
            found.extend(call.kwarg("peer_func").and_then(peer_name));
        }
        found.extend(statement.blocks().into_iter().flat_map(|b| peers(b)));
    }
    found
}

fn peer_name(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Str(text) | ExprKind::Function(text) => Some(text),
        _ => None,
    }
}

fn collect_queues(body: &[Stmt], sizes: &mut BTreeMap<(i64, i64), i64>) {
    for statement in body {
        if let StmtKind::Eval(value) | StmtKind::Assign { value, .. } = &statement.kind
            && let Some(call) = value.as_call()
            && call.op().is_some_and(|op| op.ends_with("_initialize_pipe"))
        {
            let number = |name: &str| call.kwarg(name).and_then(Expr::as_int).unwrap_or(0);
            let directions = number("dir_mask");
            let both = directions == 3;
            let said = number("slot_num");
            let slots = if said > 0 { said } else { SLOTS[usize::from(both)] };
            let rings = if both { 2 } else { 1 };
            let bytes = slots.saturating_mul(rings).saturating_mul(number("slot_size"));
            sizes.entry((number("id"), directions)).or_insert(bytes);
        }
        for block in statement.blocks() {
            collect_queues(block, sizes);
        }
    }
}

impl<'p, 'c, 'a> Lowering<'p, 'c, 'a> {
    /// The space of a reserved buffer: the memory in which this core receives.
    pub(super) fn receiving_space(&self) -> &'static str {
        if self.function.kind == FunctionKind::Aic { "mat" } else { "vec" }
    }

    pub(super) fn reserve(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let name = self.text_kwarg(call, "name")?;
        let size = self.int_kwarg(call, "size", None)?;
        let base = self.int_kwarg(call, "base", Some(-1))?;
        let mut attributes = vec![
            ("name", StringAttribute::new(self.context, name).into()),
            ("size", self.integer(size, 32)),
            ("space", self.case("AddressSpace", self.receiving_space())?),
            ("autoAlloc", self.attribute(if base < 0 { "true" } else { "false" })?),
        ];
        if base >= 0 {
            attributes.push(("base", self.integer(base, 32)));
        }
        let ty = integer_type(self.context, 32);
        let value = self.pto_value("reserve_buffer", &[], &attributes, ty, self.target_location(target))?;
        Ok(Some(Bound::Scalar(Scalar { value, dtype: DataType::Int32 })))
    }

    pub(super) fn import(&mut self, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let name = self.text_kwarg(call, "name")?;
        let Some(peer) = call.kwarg("peer_func").and_then(peer_name) else {
            return Err(Problem::new("PTO-0715", self.at, "'system.import_peer_buffer' needs peer_func='name'"));
        };
        if !self.program.functions.iter().any(|f| f.name == peer) {
            return Err(Problem::new("PTO-0715", self.at, format!("no function '{peer}' in this program")));
        }
        let attributes = [
            ("name", StringAttribute::new(self.context, name).into()),
            ("peer_func", FlatSymbolRefAttribute::new(self.context, peer).into()),
        ];
        let ty = integer_type(self.context, 32);
        let value = self.pto_value("import_reserved_buffer", &[], &attributes, ty, self.target_location(target))?;
        Ok(Some(Bound::Scalar(Scalar { value, dtype: DataType::Int32 })))
    }

    pub(super) fn text_kwarg<'e>(&self, call: &'e Call, name: &str) -> Lowered<&'e str> {
        call.kwarg(name).and_then(Expr::as_str).filter(|s| !s.is_empty()).ok_or_else(|| {
            let op = call.op().unwrap_or_default();
            Problem::new("PTO-0715", self.at, format!("'{op}' needs {name}='...'"))
        })
    }

    pub(super) fn initialize_pipe(&mut self, name: &str, call: &'p Call) -> Lowered<Option<Bound<'c, 'a>>> {
        let directions = self.int_kwarg(call, "dir_mask", None)?;
        let size = self.int_kwarg(call, "slot_size", None)?;
        let id = self.int_kwarg(call, "id", Some(0))?;
        let mut operands = Vec::new();
        if let Some(buffer) = self.slots_in_global_memory(id, directions)? {
            operands.push(("gm_slot_buffer", buffer));
        }
        for (index, operand) in ["c2v_consumer_buf", "v2c_consumer_buf"].into_iter().enumerate() {
            let expr = self.arg(call, index, "a buffer")?;
            operands.push((operand, self.scalar_as(expr, DataType::Int32)?));
        }
        let mut attributes = vec![
            ("dir_mask", self.integer(directions, 8)),
            ("slot_size", self.integer(size, 32)),
            ("id", self.integer(id, 32)),
        ];
        for number in ["slot_num", "local_slot_num"] {
            if call.kwarg(number).is_some() {
                attributes.push((number, self.integer(self.int_kwarg(call, number, None)?, 32)));
            }
        }
        let mnemonic = name.trim_start_matches("system.");
        self.pto(mnemonic, &operands, &attributes, None, self.location(self.at))?;
        Ok(None)
    }

    /// The part of the buffer in global memory that belongs to a queue, where the program has such a buffer.
    pub(super) fn slots_in_global_memory(&mut self, id: i64, directions: i64) -> Lowered<Option<Value<'c, 'a>>> {
        let Some(buffer) = self.gm_slots else { return Ok(None) };
        let offset = self.gm_slot_offsets.get(&(id, directions)).copied().unwrap_or(0);
        if offset == 0 {
            return Ok(Some(buffer));
        }
        let param = self.function.params.iter().find(|p| self.function.var(p.var).name == GM_PIPE_BUFFER);
        let dtype = param.and_then(|p| self.function.var(p.var).ty.tensor()).map_or(DataType::Fp32, |t| t.dtype);
        let elements = self.index(offset / (dtype.bits() / 8).max(1) as i64)?;
        let ty = self.pointer_type(dtype, self.at)?;
        self.pto_value("addptr", &[("ptr", buffer), ("offset", elements)], &[], ty, self.location(self.at)).map(Some)
    }

    pub(super) fn queue_attributes(&self, call: &Call) -> Lowered<[(&'static str, Attribute<'c>); 2]> {
        let split = self.int_kwarg(call, "split", Some(0))?;
        let id = self.int_kwarg(call, "id", Some(0))?;
        Ok([("split", self.integer(split, 8)), ("id", self.integer(id, 32))])
    }

    pub(super) fn free(&mut self, name: &str, call: &'p Call) -> Lowered<Option<Bound<'c, 'a>>> {
        let attributes = self.queue_attributes(call)?;
        let mnemonic = if name.ends_with("aic") { "tfree_from_aic" } else { "tfree_from_aiv" };
        self.pto(mnemonic, &[], &attributes, None, self.location(self.at))?;
        Ok(None)
    }

    pub(super) fn push(&mut self, name: &str, call: &'p Call) -> Lowered<Option<Bound<'c, 'a>>> {
        let expr = self.arg(call, 0, "a tile")?;
        let tile = self.tile_argument(expr)?;
        let attributes = self.queue_attributes(call)?;
        let split = self.int_kwarg(call, "split", Some(0))?;
        let sent = self.transported(expr, tile, name.ends_with("aiv"), split)?;
        let mnemonic = name.trim_start_matches("tile.");
        self.pto(mnemonic, &[("tile", sent)], &attributes, None, self.location(self.at))?;
        Ok(None)
    }

    /// A queue moves whole boxes: a tile that is valid in part is sent under a name with the extents that travel.
    pub(super) fn transported(
        &mut self,
        expr: &Expr,
        tile: Handle<'c, 'a>,
        to_aiv: bool,
        split: i64,
    ) -> Lowered<Value<'c, 'a>> {
        let Some((var, Type::Tile(ty))) = expr.as_var().map(|v| (v, &self.function.var(v).ty)) else {
            return Ok(tile.value);
        };
        let (Some(valid), Some((rows, cols))) = (types::valid_extents(ty), types::extents(ty)) else {
            return Ok(tile.value);
        };
        let both_lanes = split == 0 && self.dispatches_both_lanes();
        let from_acc = split == 0 && to_aiv && self.space_of(ty) == Some(MemorySpace::Acc);
        let empty = |e: &Expr| e.as_int() == Some(0);
        let leave = split == 0 && !both_lanes && !from_acc
            || from_acc && valid.iter().any(empty)
            || both_lanes && empty(&valid[0]);
        let travelling = [if both_lanes { valid[0].clone() } else { Expr::index(rows) }, Expr::index(cols)];
        let same = travelling.iter().zip(&valid).all(|(a, b)| a.as_int().is_some() && a.as_int() == b.as_int());
        let same = same || both_lanes && valid[1].as_int() == Some(cols);
        if leave || same || !tile.addressed {
            return Ok(tile.value);
        }
        Ok(self.tile_with_valid(var, ty, &travelling)?.map_or(tile.value, |h| h.value))
    }

    pub(super) fn dispatches_both_lanes(&self) -> bool {
        let Some(ExprKind::Dict(pairs)) = self.function.attributes.as_ref().map(|e| &e.kind) else { return false };
        pairs.iter().any(|(k, v)| k.as_str() == Some("dual_aiv_dispatch") && matches!(v.kind, ExprKind::Bool(true)))
    }

    pub(super) fn pop(&mut self, name: &str, call: &'p Call, target: Option<VarId>) -> Lowered<Option<Bound<'c, 'a>>> {
        let (var, tile) = self.target_tile(target)?;
        let attributes = self.queue_attributes(call)?;
        let mnemonic = name.trim_start_matches("tile.");
        let (Some(valid), Some((rows, cols))) = (types::valid_extents(tile), types::extents(tile)) else {
            return Err(Problem::new("PTO-0711", self.at, "a popped tile needs constant physical extents"));
        };
        let whole = [Some(rows), Some(cols)];
        let known = valid.each_ref().map(Expr::as_int);
        let location = self.named(&self.function.var(var).name, self.at);
        let full_type = self.popped_type(tile, whole)?;
        let (value, logical) = if known.contains(&None) {
            let operands = [("valid_row", self.index_of(&valid[0])?), ("valid_col", self.index_of(&valid[1])?)];
            let ty = self.popped_type(tile, [None, None])?;
            (self.pto_value(mnemonic, &operands, &attributes, ty, location)?, None)
        } else if known == whole || known.contains(&Some(0)) {
            // Nothing travels in an empty tile; both ends agree on that by its type.
            let ty = self.popped_type(tile, known)?;
            (self.pto_value(mnemonic, &[], &attributes, ty, location)?, None)
        } else {
            // The whole box travels; the part that means something is a view of it.
            let value = self.pto_value(mnemonic, &[], &attributes, full_type, location)?;
            (value, Some(self.popped_type(tile, known)?))
        };
        let value = match logical {
            Some(ty) => self.pto_value("treshape", &[("src", value)], &[], ty, location)?,
            None => value,
        };
        Ok(Some(Bound::Tile(Handle { value, addressed: false })))
    }

    pub(super) fn popped_type(&self, tile: &TileType, valid: [Option<i64>; 2]) -> Lowered<MlirType<'c>> {
        let Some(space) = self.space_of(tile) else {
            return Err(Problem::new("PTO-0711", self.at, "a popped tile needs a memory space"));
        };
        let extents = types::extents(tile).unwrap_or((0, 0));
        let text = types::tile_text(space, tile.dtype, extents, valid, &types::form(tile));
        self.type_of_text(&text, self.at)
    }
}
