//! Tile operations whose C++ form depends on their operands more than a template can say.

use crate::function::Body;
use pto_dialect::{Op, Space, Tile};

impl<'c, 'a> Body<'_, 'c, 'a> {
    /// Prints the operation if it is one of those here.
    pub fn emit_irregular(&mut self, op: Op<'c, 'a>) -> bool {
        match op.mnemonic() {
            "tstore" => self.emit_tstore(op),
            "tmov" => self.emit_tmov(op),
            "textract" => self.emit_sub_tile(op, "TEXTRACT"),
            "tinsert" => self.emit_sub_tile(op, "TINSERT"),
            "tfillpad" => self.emit_tfillpad(op),
            "tgather" if op.attr("maskPattern").is_some() => {
                self.emit_masked(op, "TGATHER<@dst, @src, $maskPattern", "GatherAxis::GATHER_COL")
            }
            "tscatter" if op.attr("maskPattern").is_some() => self.emit_tscatter(op),
            "mgather" if op.attr("coalesce").is_none() => self.statement(op, "MGATHER($dst, $mem, $idx)"),
            "mscatter" if op.attr("coalesce").is_none() => self.statement(op, "MSCATTER($mem, $src, $idx)"),
            "set_validshape" => self.emit_set_validshape(op),
            "cmo.cacheinvalid" => self.emit_cache_invalid(op),
            "fence.barrier_all" => self.emit_fence(op),
            "print" => self.emit_print(op),
            "record_event" => self.emit_event(op, "set_flag"),
            "wait_event" => self.emit_event(op, "wait_flag"),
            "trandom" => self.emit_trandom(op),
            "tmrgsort" if op.operands("srcs").len() > 1 => self.emit_merge_lists(op),
            _ => return self.emit_comm(op),
        }
        true
    }

    /// Prints a template as a statement.
    pub fn statement(&mut self, op: Op<'c, 'a>, template: &str) {
        let text = self.expand(op, template);
        self.line(format!("{text};"));
    }

    /// Scalars of quantisation are cast here and in `emit_tmov`: the library takes a variable of another type for an
    /// event to wait for.
    fn emit_tstore(&mut self, op: Op<'c, 'a>) {
        let atomic = op.enum_text("atomicType").is_some_and(|t| t != "atomic_none");
        let relu = has_relu(op);
        let template = match (op.operand("fp").is_some(), atomic || relu, op.operand("preQuantScalar").is_some()) {
            (true, false, _) => "TSTORE_FP($dst, $src, $fp)",
            (true, true, _) => "TSTORE_FP<@src, @dst, @fp, $atomicType, $reluPreMode>($dst, $src, $fp)",
            (false, false, false) => "TSTORE[<$stPhase>]($dst, $src)",
            (false, true, false) if !relu => "TSTORE<[$stPhase, ]@src, @dst, $atomicType>($dst, $src)",
            (false, _, quant) => {
                let tail = if quant { ", uint64_t($preQuantScalar)" } else { "" };
                return self.statement(
                    op,
                    &format!("TSTORE<[$stPhase, ]@src, @dst, $atomicType, $reluPreMode>($dst, $src{tail})"),
                );
            }
        };
        self.statement(op, template);
    }

    fn emit_tmov(&mut self, op: Op<'c, 'a>) {
        let mode = op.attr("accToVecMode").is_some();
        let third = op.operand("fp");
        let is_scaling = third.and_then(Tile::of_value).is_some_and(|t| t.space == Space::Scaling);
        let template = match (third.is_some(), op.operand("preQuantScalar").is_some(), mode) {
            (true, _, _) if !is_scaling => {
                if op.enum_text("grpAxis") == Some("axis0") {
                    "TMOV<0>($dst, $src, $fp)"
                } else {
                    "TMOV($dst, $src, $fp)"
                }
            }
            (true, _, true) => "TMOV<@dst, @src, @fp, $accToVecMode, $reluPreMode>($dst, $src, $fp)",
            (true, _, false) => "TMOV_FP<@dst, @src, @fp[, $reluPreMode]>($dst, $src, $fp)",
            (false, true, true) => {
                "TMOV<@dst, @src, $accToVecMode, $reluPreMode>($dst, $src, uint64_t($preQuantScalar))"
            }
            (false, true, false) => "TMOV<@dst, @src[, $reluPreMode]>($dst, $src, uint64_t($preQuantScalar))",
            (false, false, true) => "TMOV<@dst, @src, $accToVecMode, $reluPreMode>($dst, $src)",
            (false, false, false) if has_relu(op) => "TMOV<@dst, @src, $reluPreMode>($dst, $src)",
            (false, false, false) => "TMOV($dst, $src)",
        };
        self.statement(op, template);
    }

    /// `textract` and `tinsert`.
    fn emit_sub_tile(&mut self, op: Op<'c, 'a>, callee: &str) {
        let mode = op.attr("accToVecMode").is_some();
        let quant = op.operand("preQuantScalar").is_some();
        let fp = op.operand("fp").is_some();
        let arguments = "$dst, $src[, $fp][, $preQuantScalar], $indexRow, $indexCol";
        let flags = match (fp, mode, has_relu(op), quant) {
            (true, false, false, _) => String::new(),
            (true, false, true, _) => "<@dst, @src, @fp, $reluPreMode>".to_owned(),
            (true, true, _, _) => "<@dst, @src, @fp, $accToVecMode, $reluPreMode>".to_owned(),
            (false, true, _, _) => "<@dst, @src, $accToVecMode, $reluPreMode>".to_owned(),
            (false, false, true, _) => "<@dst, @src, $reluPreMode>".to_owned(),
            (false, false, false, true) if callee == "TINSERT" => "<@dst, @src, $reluPreMode>".to_owned(),
            _ if op.attr("tinsertMode").is_some() => "<$tinsertMode>".to_owned(),
            _ => String::new(),
        };
        let suffix = if fp && !mode { "_FP" } else { "" };
        self.statement(op, &format!("{callee}{suffix}{flags}({arguments})"));
    }

    fn emit_tfillpad(&mut self, op: Op<'c, 'a>) {
        let (src, dst) = (op.operand("src"), op.operand("dst"));
        let (Some(from), Some(to)) = (src.and_then(Tile::of_value), dst.and_then(Tile::of_value)) else { return };
        let grows = to.rows > from.rows || to.cols > from.cols;
        let in_place = self.same_constant_address(src, dst);
        let template = match (to.space, grows, in_place) {
            (Space::Mat, _, _) if op.attr("padValue").is_some() => "TFILLPAD<@dst, $padValue>($dst, $src)",
            (Space::Vec, true, _) => "TFILLPAD<TFillPadMode::Expand>($dst, $src)",
            (Space::Vec, false, true) => "TFILLPAD<TFillPadMode::InPlace>($dst, $src)",
            _ => "TFILLPAD($dst, $src)",
        };
        self.statement(op, template);
    }

    fn emit_masked(&mut self, op: Op<'c, 'a>, head: &str, column: &str) {
        let axis = if op.string("axis").as_deref() == Some("col") { format!(", {column}") } else { String::new() };
        self.statement(op, &format!("{head}{axis}>($dst, $src)"));
    }

    fn emit_tscatter(&mut self, op: Op<'c, 'a>) {
        let axis = if op.string("axis").as_deref() == Some("col") { "SCATTER_COL" } else { "SCATTER_ROW" };
        self.statement(op, &format!("TSCATTER<$maskPattern, ScatterAxis::{axis}>($dst, $src)"));
    }

    /// The library sets both extents at once only where both are open.
    fn emit_set_validshape(&mut self, op: Op<'c, 'a>) {
        let Some((source, tile)) = op.operand("source").and_then(|s| Some((s, Tile::of_value(s)?))) else { return };
        self.check_valid(op, source, &tile);
        match (tile.valid_rows, tile.valid_cols) {
            (None, None) => self.statement(op, "$source.SetValidShape($valid_row, $valid_col)"),
            (None, Some(_)) => self.statement(op, "$source.SetValidRow($valid_row)"),
            (Some(_), None) => self.statement(op, "$source.SetValidCol($valid_col)"),
            (Some(_), Some(_)) => {}
        }
    }

    fn emit_cache_invalid(&mut self, op: Op<'c, 'a>) {
        match op.operand("addr") {
            None => self.line("dcci((__gm__ void*)0, cache_line_t::ENTIRE_DATA_CACHE);"),
            Some(value) if pto_dialect::View::of_value(value).is_some() => {
                let base = self.view_of(value).map(|v| v.base);
                let Some(base) = base else { return self.fail(op.raw, "names a view that is not defined here") };
                self.line(format!("dcci((__gm__ void*){}, cache_line_t::SINGLE_CACHE_LINE);", base.operand()));
            }
            Some(value) => {
                let pointer = self.expression(value);
                self.line(format!("dcci((__gm__ void*){}, cache_line_t::SINGLE_CACHE_LINE);", pointer.operand()));
            }
        }
    }

    fn emit_fence(&mut self, op: Op<'c, 'a>) {
        if op.enum_text("scope") == Some("local_memory") {
            return self.fail(op.raw, "has no C++ form for scope local_memory");
        }
        let barriers: &[&str] = if self.in_cube() {
            &["pipe_barrier(PIPE_MTE2);", "pipe_barrier(PIPE_MTE3);", "pipe_barrier(PIPE_FIX);"]
        } else {
            &["pipe_barrier(PIPE_ALL);"]
        };
        for barrier in barriers {
            self.line(*barrier);
        }
        self.line("dsb(DSB_DDR);");
    }

    /// A flag between the pipes of two kinds of operation.
    fn emit_event(&mut self, op: Op<'c, 'a>, call: &str) {
        let pipes = ["src_op", "dst_op"].map(|name| op.enum_text(name).and_then(event_pipe));
        match pipes {
            [Some(from), Some(to)] => self.statement(op, &format!("{call}({from}, {to}, $event_id)")),
            _ => self.fail(op.raw, "names a kind of operation without a pipe"),
        }
    }

    /// The library takes key and counter as objects of their own.
    fn emit_trandom(&mut self, op: Op<'c, 'a>) {
        self.line("{");
        self.statement(op, "  TRandomKey key = {(uint32_t)$key0, (uint32_t)$key1}");
        let counters = "(uint32_t)$counter0, (uint32_t)$counter1, (uint32_t)$counter2, (uint32_t)$counter3";
        self.statement(op, &format!("  TRandomCounter counter = {{{counters}}}"));
        self.statement(op, "  TRANDOM<$rounds>($dst, key, counter)");
        self.line("}");
    }

    /// Two to four sorted lists. How far each list was used is the library's to report; nothing reads it.
    fn emit_merge_lists(&mut self, op: Op<'c, 'a>) {
        let lists: Vec<String> = op.operands("srcs").into_iter().map(|list| self.argument(list)).collect();
        let types: Vec<String> = lists.iter().map(|list| format!("decltype({list})")).collect();
        self.line("{");
        self.line("  MrgSortExecutedNumList executed;");
        let call = format!(
            "  TMRGSORT<@dst, @tmp, {}, $exhausted>($dst, executed, $tmp, {})",
            types.join(", "),
            lists.join(", ")
        );
        self.statement(op, &call);
        self.line("}");
    }

    fn emit_print(&mut self, op: Op<'c, 'a>) {
        let format = op.string("format").unwrap_or_else(|| "%f".to_owned());
        let Some(scalar) = op.operand("scalar") else { return };
        let value = self.argument(scalar);
        self.line(format!("cce::printf(\"{}\", {value});", escape(&format)));
    }
}

/// The pipe of a kind of operation (the enumeration pipe_event_type).
pub fn event_pipe(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "TLOAD" => "PIPE_MTE2",
        "TSTORE_VEC" => "PIPE_MTE3",
        "TSTORE_ACC" | "TMOV_M2S" | "TMOV_V2M" => "PIPE_FIX",
        "TMOV_M2L" | "TMOV_M2B" => "PIPE_MTE1",
        "TMATMUL" => "PIPE_M",
        "TVEC" | "TVECWAIT_EVENT" | "TMOV_M2V" => "PIPE_V",
        _ => return None,
    })
}

fn has_relu(op: Op) -> bool {
    op.enum_text("reluPreMode").is_some_and(|mode| mode != "no_relu")
}

/// A string literal's content.
pub fn escape(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '"' => "\\\"".to_owned(),
            '\\' => "\\\\".to_owned(),
            '\n' => "\\n".to_owned(),
            '\t' => "\\t".to_owned(),
            c => c.to_string(),
        })
        .collect()
}
