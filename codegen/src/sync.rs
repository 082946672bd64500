//! Barriers, tokens, event ids in arrays, and signals between cores.

use crate::{expression::Expression, function::Body, irregular::event_pipe};
use pto_dialect::{Op, SYNCALL_ELEMENTS, View, device::Legality, event_id_array_size};

impl<'c, 'a> Body<'_, 'c, 'a> {
    /// Prints the operation if it is one of those here.
    pub fn emit_sync(&mut self, op: Op<'c, 'a>) -> bool {
        match op.mnemonic() {
            "barrier" => self.emit_barrier(op.enum_text("pipe")),
            "barrier_sync" => self.emit_barrier(op.enum_text("op_type").and_then(event_pipe)),
            "get_buf" | "get_buf_dyn" => self.emit_buf(op, "get_buf"),
            "rls_buf" | "rls_buf_dyn" => self.emit_buf(op, "rls_buf"),
            "sync.set" => self.emit_signal(op, op.int("ffts_mode").unwrap_or(2)),
            "set_cross_block" => self.emit_signal(op, 0),
            "sync.wait" | "wait_cross_block" => self.emit_wait_signal(op),
            "set_intra_block" if self.device().legality == Legality::A3 => self.emit_signal(op, 2),
            "wait_intra_block" if self.device().legality == Legality::A3 => self.emit_wait_signal(op),
            "set_intra_block" | "wait_intra_block" => {
                let (pipe, id) = (op.enum_text("pipe").unwrap_or_default(), self.signal_id(op));
                self.line(format!("{}({pipe}, {id});", op.mnemonic()));
            }
            "syncall" => self.emit_syncall(op),
            _ => return false,
        }
        true
    }

    /// Nothing where the hardware keeps the pipe's order by itself: its compiler refuses the barrier there.
    fn emit_barrier(&mut self, pipe: Option<&str>) {
        let pipe = pipe.unwrap_or_default();
        if !self.device().sync.no_barrier.iter().any(|known| known == pipe) {
            self.line(format!("pipe_barrier({pipe});"));
        }
    }

    fn emit_buf(&mut self, op: Op<'c, 'a>, call: &str) {
        let named = op.enum_text("op_type").unwrap_or_default();
        let pipe = event_pipe(named).unwrap_or(named);
        let id = match (op.operand("buf_id"), op.int("buf_id")) {
            (Some(value), _) => self.argument(value),
            (None, id) => id.unwrap_or(0).to_string(),
        };
        self.line(format!("{call}({pipe}, {id}, {});", op.int("mode").unwrap_or(0)));
    }

    /// The number of a signal, as a whole argument.
    fn signal_id(&mut self, op: Op<'c, 'a>) -> String {
        match op.operand("event_id_dyn") {
            Some(value) => format!("(uint16_t){}", self.expression(value).operand()),
            None => op.int("event_id").unwrap_or(0).to_string(),
        }
    }

    /// Mode 0: all cores of a kind; 1: the vector cores of a block; 2: cube and vector cores of a block.
    fn emit_signal(&mut self, op: Op<'c, 'a>, mode: i64) {
        let (pipe, id) = (op.enum_text("pipe").unwrap_or_default(), self.signal_id(op));
        self.line(format!("ffts_cross_core_sync({pipe}, getFFTSMsg({mode}, {id}));"));
    }

    fn emit_wait_signal(&mut self, op: Op<'c, 'a>) {
        let id = self.signal_id(op);
        self.line(format!("wait_flag_dev({id});"));
    }

    /// `int64_t events[4];`, `events[i]`, `events[i] = v;`
    pub fn emit_event_id_array(&mut self, op: Op<'c, 'a>) {
        if let Some(array) = op.result().filter(|_| op.is("declare_eventid_array")) {
            let size = event_id_array_size(melior::ir::ValueLike::r#type(&array)).unwrap_or(0);
            let name = self.declare_name(array, "events");
            return self.line(format!("int64_t {name}[{size}];"));
        }
        let (Some(array), Some(index)) = (op.operand("array"), op.operand("index")) else { return };
        let place = format!("{}[{}]", self.argument(array), self.argument(index));
        self.emit_access(op, &place);
    }

    fn emit_syncall(&mut self, op: Op<'c, 'a>) {
        let core = op.attr("core_type").and_then(crate::spelling::enum_case).unwrap_or_default();
        if op.enum_text("mode") != Some("soft") {
            return self.line(format!("SYNCALL<{core}>();"));
        }
        let Some(workspace) = op.operand("gm_workspace") else {
            return self.fail(op.raw, "needs a workspace in global memory in soft mode");
        };
        let view = if View::of_value(workspace).is_some() {
            self.view_object(op.raw, workspace)
        } else {
            let base: Expression = self.expression(workspace);
            self.declare_counters(base, SYNCALL_ELEMENTS)
        };
        let cores = op.operand("used_cores").map_or("0".to_owned(), |v| self.argument(v));
        self.line(format!("SYNCALL<SyncAllMode::Soft, {core}>({view}, {cores});"));
    }
}
