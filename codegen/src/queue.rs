//! Queues between cores: their objects, pushes, pops, frees and allocations.

use crate::{function::Body, spelling::enum_case};
use pto_dialect::{Element, Op, View, device::Legality, edit, epilogue_part};

/// `TileSplitAxis` by the number of a split.
const AXES: [&str; 5] = ["TILE_NO_SPLIT", "TILE_UP_DOWN", "TILE_LEFT_RIGHT", "TILE_UP_DOWN_ODD", "TILE_LEFT_RIGHT_ODD"];

/// `Direction` by `dir_mask`; on A5 the library has others for slots in global memory.
const DIRECTIONS: [&str; 4] = ["", "DIR_C2V", "DIR_V2C", "DIR_BOTH"];

impl<'c, 'a> Body<'_, 'c, 'a> {
    /// `pto.initialize_l2l_pipe`, `pto.initialize_l2g2l_pipe`.
    pub fn emit_pipe(&mut self, op: Op<'c, 'a>) {
        let Some(result) = op.result() else { return };
        let mask = op.int("dir_mask").and_then(|m| usize::try_from(m).ok()).filter(|&m| (1..=3).contains(&m));
        let (Some(mask), Some(flag)) = (mask, op.int("flag_base")) else {
            return self.fail(op.raw, "needs dir_mask 1 to 3 and a flag_base; run pto-resolve-reserved-buffers first");
        };
        let through_gm = op.is("initialize_l2g2l_pipe");
        let slots = op.int("slot_num").unwrap_or(0);
        let local_slots = if through_gm { op.int("local_slot_num").unwrap_or(slots) } else { 2 };
        let gm = match op.operand("gm_addr") {
            None => "nullptr".to_owned(),
            Some(value) if View::of_value(value).is_some() => match self.view_of(value) {
                Some(view) => view.base.text().to_owned(),
                None => return self.fail(op.raw, "names a view that is not defined here"),
            },
            Some(value) => self.argument(value),
        };
        let mut address = |name: &str| op.operand(name).map_or("0".to_owned(), |v| self.argument(v));
        let (local, peer) = (address("local_addr"), address("peer_local_addr"));
        let (c2v, v2c) = match mask {
            1 => (local, "0".to_owned()),
            2 => ("0".to_owned(), local),
            _ => (local, peer),
        };
        let suffix = if through_gm && self.device().legality == Legality::A5 { "_GM" } else { "" };
        let name = self.declare_name(result, "pipe");
        self.line(format!(
            "TPipe<{flag}, Direction::{}{suffix}, {}, {slots}, {local_slots}, {}> {name}({gm}, {c2v}, {v2c});",
            DIRECTIONS[mask],
            op.int("slot_size").unwrap_or(0),
            op.bool("nosplit").unwrap_or(false),
        ));
    }

    /// `pto.tpush`, `pto.tpop`, `pto.tfree`, `pto.talloc`.
    pub fn emit_transfer(&mut self, op: Op<'c, 'a>) {
        let axis = op.int("split").and_then(|s| usize::try_from(s).ok()).and_then(|s| AXES.get(s));
        let Some(axis) = axis else { return self.fail(op.raw, "expected split 0 to 4") };
        let Some(handle) = op.operand("pipe_handle") else { return };
        let pipe = self.argument(handle);
        let entry = op.operand("tile").or_else(|| op.operand("entry"));
        // The library frees the slot of a tile by its queue alone.
        let entry = entry.filter(|&v| !op.is("tfree") || View::of_value(v).is_some());
        let Some(entry) = entry else {
            return self.line(format!("TFREE<decltype({pipe}), TileSplitAxis::{axis}>({pipe});"));
        };
        let entry = self.call_argument(op.raw, entry);
        if op.is("tpush") && Op::defining(handle).is_some_and(|d| d.attr("acc_push_epilogue").is_some()) {
            return self.emit_push_through(op, &pipe, &entry);
        }
        let callee = op.mnemonic().to_ascii_uppercase();
        let lane = op
            .operand("aiv_subblockid")
            .map_or(String::new(), |v| format!(", (int32_t){}", self.expression(v).operand()));
        self.line(format!(
            "{callee}<decltype({pipe}), decltype({entry}), TileSplitAxis::{axis}>({pipe}, {entry}{lane});"
        ));
    }

    /// A push with the settings of its queue's epilogue.
    fn emit_push_through(&mut self, op: Op<'c, 'a>, pipe: &str, tile: &str) {
        let epilogue = op.operand("pipe_handle").and_then(Op::defining).and_then(|d| d.attr("acc_push_epilogue"));
        let parts = [0, 1, 2].map(|part| epilogue.and_then(|e| epilogue_part(e, part)).and_then(enum_case));
        let [Some(layout), Some(quant), Some(relu)] = parts else {
            return self.fail(op.raw, "has a queue without acc_push_epilogue");
        };
        self.line(format!(
            "TPUSH<decltype({pipe}), decltype({tile}), FixpipeParams<{layout}, {quant}, {relu}>>({pipe}, {tile});"
        ));
    }

    /// `pto.tpush_quant`: the fixpipe takes its factors from registers, which are set for each push.
    pub fn emit_push_quant(&mut self, op: Op<'c, 'a>) {
        let (Some(pipe), Some(tile)) = (op.operand("pipe_handle"), op.operand("tile")) else { return };
        let (pipe, tile) = (self.argument(pipe), self.argument(tile));
        let out = op.attr("out").and_then(|a| melior::ir::attribute::TypeAttribute::try_from(a).ok());
        let out = out.and_then(|a| Element::of(a.value()));
        match (op.operand("scale"), op.operand("scaling_tile"), out) {
            (Some(scale), None, Some(out)) => {
                let scale = self.argument(scale);
                self.line(format!("SET_QUANT_SCALAR<{}>({scale});", out.cpp()));
            }
            (None, Some(factors), _) => {
                let factors = self.argument(factors);
                self.line(format!("SET_QUANT_VECTOR({factors});"));
            }
            _ => return self.fail(op.raw, "needs a scale or a scaling tile, and an element type"),
        }
        self.emit_push_through(op, &pipe, &tile);
    }

    /// `pto.declare_global`: an entry whose address the queue sets.
    pub fn emit_declare_global(&mut self, op: Op<'c, 'a>) {
        let Some(result) = op.result() else { return };
        if !edit::is_unused(result) {
            self.declare_entry(op.raw, result, op.ints("strides"));
        }
    }
}
