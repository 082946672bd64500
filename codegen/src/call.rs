//! C++ calls from the templates in `dialect/td` (`cpp`, see Base.td).
//!
//!   `TCVT($dst, $src[, $tmp], $rmode)`: `$x` an operand, result or attribute; `@x` `decltype(x)`; `%x` the element's
//!   C++ type; `[...]` only when everything it names is present (attributes: and not the default); `[a|b]` b otherwise.

use crate::{function::Body, spelling::enum_case};
use melior::ir::{Attribute, attribute::BoolAttribute, attribute::IntegerAttribute};
use pto_dialect::{Op, Tile};

/// What a name in a template stands for.
enum Named {
    Text(String),
    /// An attribute at its default, or an absent one.
    Absent(String),
}

impl<'c, 'a> Body<'_, 'c, 'a> {
    /// Prints an operation by its template.
    pub fn emit_call(&mut self, op: Op<'c, 'a>) {
        let text = self.expand(op, op.facts.cpp);
        if !op.facts.results.is_empty() {
            return self.emit_result_call(op, &text);
        }
        for (index, statement) in text.split("; ").enumerate() {
            // The statements of one operation depend on one another, and only A2/A3 needs to be told.
            if index > 0 && op.facts.pipe == "PIPE_V" && !self.device().sync.in_order.iter().any(|p| p == "PIPE_V") {
                self.line("pipe_barrier(PIPE_V);");
            }
            self.line(format!("{statement};"));
        }
    }

    /// A call with a result: `$dst = ...` or an expression.
    fn emit_result_call(&mut self, op: Op<'c, 'a>, text: &str) {
        let Some(result) = op.result() else { return };
        let value = text.split_once(" = ").map_or(text, |(_, value)| value).to_owned();
        if pto_dialect::is_pure(op.raw) {
            return self.bind_scalar(op.raw, result, crate::expression::Expression::atom(value));
        }
        self.declare_scalar(result, &value);
    }

    /// A template with everything replaced.
    pub fn expand(&mut self, op: Op<'c, 'a>, template: &str) -> String {
        let mut out = String::new();
        let mut rest = template;
        while let Some(at) = rest.find(['$', '@', '%', '[']) {
            out.push_str(&rest[..at]);
            let tail = &rest[at + 1..];
            if rest.as_bytes()[at] == b'[' {
                let end = tail.find(']').unwrap_or(tail.len());
                out.push_str(&self.expand_group(op, &tail[..end]));
                rest = tail.get(end + 1..).unwrap_or("");
            } else {
                let end = tail.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(tail.len());
                out.push_str(&self.expand_name(op, rest.as_bytes()[at], &tail[..end]));
                rest = &tail[end..];
            }
        }
        out.push_str(rest);
        out
    }

    fn expand_group(&mut self, op: Op<'c, 'a>, group: &str) -> String {
        let (wanted, otherwise) = group.split_once('|').unwrap_or((group, ""));
        if self.all_present(op, wanted) { self.expand(op, wanted) } else { self.expand(op, otherwise) }
    }

    fn all_present(&mut self, op: Op<'c, 'a>, text: &str) -> bool {
        let mut rest = text;
        while let Some(at) = rest.find(['$', '@', '%']) {
            let tail = &rest[at + 1..];
            let end = tail.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(tail.len());
            if matches!(self.look_up(op, &tail[..end]), Named::Absent(_)) {
                return false;
            }
            rest = &tail[end..];
        }
        true
    }

    fn expand_name(&mut self, op: Op<'c, 'a>, sigil: u8, name: &str) -> String {
        if sigil == b'%' {
            let element = op.operand(name).and_then(Tile::of_value).map(|t| t.element.cpp());
            return element.unwrap_or("int32_t").to_owned();
        }
        let text = match self.look_up(op, name) {
            Named::Text(text) | Named::Absent(text) => text,
        };
        if sigil == b'@' { format!("decltype({text})") } else { text }
    }

    fn look_up(&mut self, op: Op<'c, 'a>, name: &str) -> Named {
        if op.facts.operand_index(name).is_some() {
            let values = op.operands(name);
            let texts: Vec<String> = values.into_iter().map(|v| self.call_argument(op.raw, v)).collect();
            return if texts.is_empty() { Named::Absent(String::new()) } else { Named::Text(texts.join(", ")) };
        }
        if op.facts.results.contains(&name) {
            return Named::Text(String::new());
        }
        match op.attr(name) {
            None => Named::Absent(String::new()),
            Some(attribute) if is_default(attribute) => Named::Absent(attribute_text(attribute)),
            Some(attribute) => Named::Text(attribute_text(attribute)),
        }
    }
}

/// The case of an enumeration that templates leave out.
fn is_default(attribute: Attribute) -> bool {
    matches!(
        pto_dialect::enum_text(attribute),
        Some("default" | "unspecified" | "no_relu" | "atomic_none" | "undefined")
    ) || BoolAttribute::try_from(attribute).is_ok_and(|b| !b.value())
}

fn attribute_text(attribute: Attribute) -> String {
    if let Some(case) = enum_case(attribute) {
        return case;
    }
    if let Ok(boolean) = BoolAttribute::try_from(attribute) {
        return boolean.value().to_string();
    }
    IntegerAttribute::try_from(attribute).map(|a| a.value().to_string()).unwrap_or_default()
}
