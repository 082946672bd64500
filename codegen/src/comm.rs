//! Communication between cards: groups of tensors, queues of asynchronous transfers.

use crate::{
    function::Body,
    view::{ViewBinding, common_type},
};
use pto_dialect::Op;

impl<'c, 'a> Body<'_, 'c, 'a> {
    /// Prints the operation if it is one of those here.
    pub fn emit_comm(&mut self, op: Op<'c, 'a>) -> bool {
        match op.mnemonic() {
            "comm.tput" => self.statement(op, "pto::comm::TPUT[<pto::$atomicType>]($dst, $src, $ping[, $pong])"),
            "comm.tget" => self.statement(op, "pto::comm::TGET($dst, $src, $ping[, $pong])"),
            "comm.tnotify" => self.statement(op, "pto::comm::TNOTIFY($signal, $value, pto::$notifyOp)"),
            "comm.twait" => self.statement(op, "pto::comm::TWAIT($signal, $value, pto::$cmp)"),
            "comm.ttest" => {
                let call = self.expand(op, "pto::comm::TTEST($signal, $value, pto::$cmp)");
                if let Some(result) = op.result() {
                    self.declare_scalar(result, &call);
                }
            }
            "comm.tbroadcast" => self.emit_group(op, "TBROADCAST(#, $src, $ping[, $pong])"),
            "comm.tgather" => self.emit_group(op, "TGATHER(#, $dst, $ping[, $pong])"),
            "comm.tscatter" => self.emit_group(op, "TSCATTER(#, $src, $ping[, $pong])"),
            "comm.treduce" => self.emit_group(op, "TREDUCE(#, $dst, $acc, $ping[, $pong], pto::$reduceOp)"),
            "comm.build_async_session" => self.emit_session(op),
            // Prefetches change it, so it is a variable.
            "make_prefetch_async_context" => {
                let call = self.expand(op, op.facts.cpp);
                if let Some(result) = op.result() {
                    self.declare_variable(result, &call);
                }
            }
            _ => return false,
        }
        true
    }

    /// A collective: `#` in the template is the group.
    fn emit_group(&mut self, op: Op<'c, 'a>, template: &str) {
        let members: Option<Vec<ViewBinding>> = op.operands("group").into_iter().map(|v| self.view_of(v)).collect();
        let Some(members) = members.filter(|m| !m.is_empty()) else {
            return self.fail(op.raw, "has a group member that is not defined in its function");
        };
        let Some((ty, arguments)) = common_type(&members) else {
            return self.fail(op.raw, "has group members of different layouts");
        };
        let [member, array, group] = ["Member", "members", "group"].map(|name| self.fresh_name(name));
        let (count, root) = (members.len(), op.int("root").unwrap_or(0));
        let objects: Vec<String> = arguments.iter().map(|a| format!("{member}({a})")).collect();
        let call = self.expand(op, &template.replace('#', &group));
        self.line(format!("using {member} = {ty};"));
        self.line(format!("{member} {array}[{count}] = {{{}}};", objects.join(", ")));
        self.line(format!("auto {group} = pto::comm::ParallelGroup<{member}>::Create({array}, {count}, {root});"));
        self.line(format!("pto::comm::{call};"));
    }

    /// A queue: the variable that the library fills, and its settings.
    fn emit_session(&mut self, op: Op<'c, 'a>) {
        let Some(result) = op.result() else { return };
        let setting = |name: &str, otherwise: i64| op.int(name).unwrap_or(otherwise);
        // Source of the defaults: ptoas. 32 KiB a request, one queue, the library's own choice of channels.
        let (bytes, offset) = (setting("block_bytes", 32 * 1024), setting("comm_block_offset", 0));
        let (queues, sync) = (setting("queue_num", 1), setting("sync_id", 0));
        let channels = op.int("channel_group_idx").map_or("UINT32_MAX".to_owned(), |index| format!("{index}u"));
        let inputs = self.expand(op, "$scratch, (__gm__ uint8_t*)($workspace)");
        let name = self.declare_name(result, "session");
        let config = self.fresh_name(&format!("{name}_config"));
        self.line(format!("pto::comm::AsyncSession {name};"));
        self.line(format!("pto::comm::sdma::SdmaBaseConfig {config} = {{{bytes}ULL, {offset}ULL, {queues}u}};"));
        self.line(format!(
            "pto::comm::BuildAsyncSession<pto::comm::DmaEngine::SDMA>({inputs}, {name}, {sync}u, {config}, {channels});"
        ));
    }
}
