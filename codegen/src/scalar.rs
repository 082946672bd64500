//! Scalar arithmetic: `arith` operations as C++ expressions.
//!
//! Fixed-width integers wrap, as `arith` says, so their sums go through unsigned types; `index` values are
//! addresses and counts and are written plainly.

use crate::{expression::Expression as E, function::Body};
use melior::ir::{
    Attribute, AttributeLike, OperationRef, Value, ValueLike,
    attribute::{BoolAttribute, FloatAttribute, IntegerAttribute},
    operation::OperationLike,
};
use pto_dialect::{Element, attribute, op_name};

/// Binary operations that are one C++ operator, and whether the operator works on unsigned types.
const OPERATORS: &[(&str, &str, bool)] = &[
    ("addi", "+", false),
    ("subi", "-", false),
    ("muli", "*", false),
    ("divsi", "/", false),
    ("remsi", "%", false),
    ("divui", "/", true),
    ("remui", "%", true),
    ("andi", "&", false),
    ("ori", "|", false),
    ("xori", "^", false),
    ("shli", "<<", true),
    ("shrsi", ">>", false),
    ("shrui", ">>", true),
    ("addf", "+", false),
    ("subf", "-", false),
    ("mulf", "*", false),
    ("divf", "/", false),
];

/// Integer comparisons by predicate number.
const INTEGER_COMPARISONS: [(&str, bool); 10] = [
    ("==", false),
    ("!=", false),
    ("<", false),
    ("<=", false),
    (">", false),
    (">=", false),
    ("<", true),
    ("<=", true),
    (">", true),
    (">=", true),
];

impl<'c, 'a> Body<'_, 'c, 'a> {
    /// Prints or binds an `arith` operation; false when it is not known.
    pub fn emit_arith(&mut self, op: OperationRef<'c, 'a>) -> bool {
        let Ok(result) = op.result(0).map(Value::from) else { return false };
        let name = op_name(op).strip_prefix("arith.").unwrap_or_default();
        let Some(element) = Element::of(result.r#type()) else {
            // The counts that a merge of lists starts from: the merge declares them itself.
            let counts = name == "constant" && result.r#type().to_string() == "vector<4xi16>";
            return counts || name == "select" && self.emit_select(op, result);
        };
        if name == "constant" {
            let literal = attribute(op, "value").and_then(|value| constant(value, element));
            return literal.inspect(|l| self.bind(result, l.clone())).is_some();
        }
        match self.arith_expression(op, name, element) {
            Some(expression) => {
                self.bind_scalar(op, result, expression);
                true
            }
            None => false,
        }
    }

    fn arith_expression(&mut self, op: OperationRef<'c, 'a>, name: &str, element: Element) -> Option<E> {
        let source = op.operand(0).ok().and_then(|v| Element::of(v.r#type()))?;
        if let Some(&(_, operator, unsigned)) = OPERATORS.iter().find(|row| row.0 == name) {
            // Of a single bit, only what a logical operator says.
            if element == Element::I1 && !matches!(name, "addi" | "subi" | "muli" | "andi" | "ori" | "xori") {
                return None;
            }
            let (a, b) = (self.operand_expression(op, 0), self.operand_expression(op, 1));
            return Some(binary(name, operator, unsigned, element, &a, &b));
        }
        match name {
            "cmpi" => self.compare_integers(op, source),
            "cmpf" => self.compare_floats(op),
            "select" => {
                let [c, a, b] = [0, 1, 2].map(|i| self.operand_expression(op, i));
                Some(E::compound(format!("{} ? {} : {}", c.operand(), a.operand(), b.operand())))
            }
            "maxsi" | "minsi" | "maxui" | "minui" | "maximumf" | "minimumf" | "maxnumf" | "minnumf" => {
                let [a, b] = [0, 1].map(|i| self.atom_operand(op, i));
                Some(extremum(name, element, &a, &b))
            }
            "floordivsi" | "ceildivsi" | "ceildivui" => {
                let [a, b] = [0, 1].map(|i| self.atom_operand(op, i));
                Some(rounded_division(name, element, &a, &b))
            }
            "negf" => Some(E::compound(format!("-{}", self.operand_expression(op, 0).operand()))),
            "bitcast" => {
                let mut value = self.operand_expression(op, 0);
                if op.operand(0).ok().and_then(pto_dialect::defining_op).is_some_and(|d| op_name(d) == "arith.constant")
                {
                    value = value.cast(source.cpp());
                }
                self.need_bitcast();
                Some(E::atom(format!("ptoc_bitcast<{}>({})", element.cpp(), value.text())))
            }
            _ => {
                let value = self.operand_expression(op, 0);
                conversion(name, source, element, &value)
            }
        }
    }

    /// `select` between tiles or pointers: a variable, since calls take references.
    fn emit_select(&mut self, op: OperationRef<'c, 'a>, result: Value<'c, 'a>) -> bool {
        let [c, a, b] = [0, 1, 2].map(|i| self.operand_expression(op, i));
        self.declare_variable(result, &format!("{} ? {} : {}", c.operand(), a.operand(), b.operand()))
    }

    fn operand_expression(&mut self, op: OperationRef<'c, 'a>, index: usize) -> E {
        op.operand(index).map_or_else(|_| E::atom(""), |v| self.expression(v))
    }

    /// An operand that is written more than once.
    fn atom_operand(&mut self, op: OperationRef<'c, 'a>, index: usize) -> E {
        op.operand(index).map_or_else(|_| E::atom(""), |v| self.atom_of(v))
    }

    fn compare_integers(&mut self, op: OperationRef<'c, 'a>, element: Element) -> Option<E> {
        let (operator, unsigned) = *INTEGER_COMPARISONS.get(predicate(op)?)?;
        let (mut a, mut b) = (self.operand_expression(op, 0), self.operand_expression(op, 1));
        if unsigned && element != Element::I1 {
            (a, b) = (a.cast(unsigned_of(element)), b.cast(unsigned_of(element)));
        }
        // A set bit alone is -1.
        if !unsigned && element == Element::I1 {
            std::mem::swap(&mut a, &mut b);
        }
        Some(a.binary(operator, &b))
    }

    fn compare_floats(&mut self, op: OperationRef<'c, 'a>) -> Option<E> {
        let [a, b] = [0, 1].map(|i| self.atom_operand(op, i).operand());
        let text = match predicate(op)? {
            0 => return Some(E::atom("false")),
            1 => format!("{a} == {b}"),
            2 => format!("{a} > {b}"),
            3 => format!("{a} >= {b}"),
            4 => format!("{a} < {b}"),
            5 => format!("{a} <= {b}"),
            6 => format!("{a} < {b} || {a} > {b}"),
            7 => format!("{a} == {a} && {b} == {b}"),
            8 => format!("!({a} < {b} || {a} > {b})"),
            9 => format!("!({a} <= {b})"),
            10 => format!("!({a} < {b})"),
            11 => format!("!({a} >= {b})"),
            12 => format!("!({a} > {b})"),
            13 => format!("{a} != {b}"),
            14 => format!("{a} != {a} || {b} != {b}"),
            15 => return Some(E::atom("true")),
            _ => return None,
        };
        Some(E::compound(text))
    }
}

fn predicate(op: OperationRef) -> Option<usize> {
    let value = IntegerAttribute::try_from(attribute(op, "predicate")?).ok()?.value();
    usize::try_from(value).ok()
}

/// The unsigned type of the same width.
pub fn unsigned_of(element: Element) -> &'static str {
    match element.bytes() {
        1 => "uint8_t",
        2 => "uint16_t",
        4 => "uint32_t",
        _ => "uint64_t",
    }
}

fn binary(name: &str, operator: &str, unsigned: bool, element: Element, a: &E, b: &E) -> E {
    match (element, name) {
        (Element::Index, "addi") => return a.plus(b),
        (Element::Index, "muli") => return a.times(b),
        _ => {}
    }
    // Two literals would be computed as `int`, and so would a literal that is shifted.
    let wide = element == Element::Index || element.bytes() == 8;
    let narrow = wide && a.literal().is_some() && (b.literal().is_some() || name == "shrsi");
    let a = &if narrow && !unsigned { a.cast("int64_t") } else { a.clone() };
    match element {
        Element::Index if !unsigned => a.binary(operator, b),
        Element::I1 => match name {
            "andi" | "muli" => a.binary("&&", b),
            "ori" => a.binary("||", b),
            _ => a.binary("!=", b),
        },
        element if element.is_integer() || element == Element::Index => {
            let u = unsigned_of(element);
            let wraps = matches!(name, "addi" | "subi" | "muli");
            if !unsigned && !wraps && element.bytes() >= 4 {
                return a.binary(operator, b);
            }
            let inner = match (name, unsigned || wraps) {
                ("shli" | "shrui", _) => a.cast(u).binary(operator, b),
                (_, true) => a.cast(u).binary(operator, &b.cast(u)),
                (_, false) => a.binary(operator, b),
            };
            inner.cast(element.cpp())
        }
        _ => a.binary(operator, b),
    }
}

fn extremum(name: &str, element: Element, a: &E, b: &E) -> E {
    let (x, y) = (a.operand(), b.operand());
    let sign = if name.starts_with("max") { ">" } else { "<" };
    let text = match name {
        // A set bit alone is -1, or 1 without a sign.
        "maxsi" | "minui" if element == Element::I1 => format!("{x} && {y}"),
        "minsi" | "maxui" if element == Element::I1 => format!("{x} || {y}"),
        // The one that is not a number wins.
        "maximumf" | "minimumf" => format!("({x} {sign} {y} || {x} != {x}) ? {x} : {y}"),
        // The one that is a number wins.
        "maxnumf" | "minnumf" => format!("({x} {sign} {y} || {y} != {y}) ? {x} : {y}"),
        "maxui" | "minui" => {
            let u = unsigned_of(element);
            format!("(({u}){x} {sign} ({u}){y}) ? {x} : {y}")
        }
        _ => format!("({x} {sign} {y}) ? {x} : {y}"),
    };
    E::compound(text)
}

fn rounded_division(name: &str, element: Element, a: &E, b: &E) -> E {
    let (x, y) = (a.operand(), b.operand());
    let u = unsigned_of(element);
    let text = match name {
        "floordivsi" => format!("{x} / {y} - (({x} % {y} != 0 && (({x} < 0) != ({y} < 0))) ? 1 : 0)"),
        "ceildivsi" => format!("{x} / {y} + (({x} % {y} != 0 && (({x} < 0) == ({y} < 0))) ? 1 : 0)"),
        _ => format!("({u}){x} / ({u}){y} + ((({u}){x} % ({u}){y} != 0) ? 1 : 0)"),
    };
    E::compound(text).cast(element.cpp())
}

fn conversion(name: &str, from: Element, to: Element, value: &E) -> Option<E> {
    Some(match name {
        "index_cast" | "extf" | "truncf" | "fptosi" if from.cpp() == to.cpp() => value.clone(),
        "extsi" | "index_cast" | "sitofp" if from == Element::I1 => {
            E::compound(format!("{} ? ({})-1 : ({})0", value.operand(), to.cpp(), to.cpp()))
        }
        "trunci" if to == Element::I1 => E::compound(format!("({} & 1) != 0", value.operand())),
        "extui" | "index_castui" | "uitofp" if from != Element::I1 => value.cast(unsigned_of(from)).cast(to.cpp()),
        "fptoui" => value.cast(unsigned_of(to)).cast(to.cpp()),
        "index_cast" | "index_castui" | "extsi" | "extui" | "trunci" | "extf" | "truncf" | "fptosi" | "sitofp"
        | "uitofp" => value.cast(to.cpp()),
        _ => return None,
    })
}

/// A literal.
pub fn constant(value: Attribute, element: Element) -> Option<E> {
    if value.is_bool() {
        return BoolAttribute::try_from(value).ok().map(|b| E::atom(b.value().to_string()));
    }
    if value.is_integer() {
        return IntegerAttribute::try_from(value).ok().map(|i| E::integer(i.value()));
    }
    FloatAttribute::try_from(value).ok().map(|f| float_literal(f.value(), element))
}

/// The shortest literal that reads back as the same value; f16 and bf16 values are exact as floats.
fn float_literal(value: f64, element: Element) -> E {
    if value.is_nan() {
        return E::atom("__builtin_nanf(\"\")");
    }
    if value.is_infinite() {
        return if value > 0.0 { E::atom("__builtin_inff()") } else { E::compound("-__builtin_inff()") };
    }
    let text = match element {
        Element::F64 => format!("{value:?}"),
        _ => format!("{:?}f", value as f32),
    };
    if value.is_sign_negative() { E::compound(text) } else { E::atom(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn float_literals_read_back() {
        assert_eq!(float_literal(1.0, Element::F32).text(), "1.0f");
        assert_eq!(float_literal(1e-6, Element::F32).text(), "1e-6f");
        assert_eq!(float_literal(-0.5, Element::F16).operand(), "(-0.5f)");
        assert_eq!(float_literal(f64::INFINITY, Element::BF16).text(), "__builtin_inff()");
        assert_eq!(float_literal(0.1, Element::F64).text(), "0.1");
    }

    #[test]
    fn fixed_width_sums_wrap() {
        let (a, b) = (E::atom("a"), E::atom("b"));
        assert_eq!(binary("addi", "+", false, Element::I32, &a, &b).text(), "(int32_t)((uint32_t)a + (uint32_t)b)");
        assert_eq!(binary("addi", "+", false, Element::Index, &a, &b).text(), "a + b");
        assert_eq!(binary("andi", "&", false, Element::I1, &a, &b).text(), "a && b");
    }
}
