//! Expressions, with the parentheses they need.

use super::{Printer, number};
use crate::frontend::ast::{BinaryOp, Call, Callee, Expr, ExprKind, UnaryOp};
use crate::frontend::parse::language::is_keyword;

/// Which quotes strings get.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    /// In calls.
    Single,
    /// In dictionaries and decorators.
    Double,
}

/// How tightly an expression holds together; a tighter one needs no parentheses inside.
type Strength = u8;

const COMPARISON: Strength = 4;
const UNARY: Strength = 11;
const POWER: Strength = 12;
const ATOM: Strength = 14;

impl Printer<'_> {
    pub(super) fn expr(&self, expr: &Expr) -> String {
        self.quoted(expr, Quotes::Single)
    }

    pub(super) fn exprs(&self, exprs: &[Expr]) -> String {
        exprs.iter().map(|e| self.expr(e)).collect::<Vec<_>>().join(", ")
    }

    /// `(a,)`, `(a, b)`.
    pub(super) fn tuple(&self, exprs: &[Expr]) -> String {
        if let [expr] = exprs { format!("({},)", self.expr(expr)) } else { format!("({})", self.exprs(exprs)) }
    }

    pub(super) fn quoted(&self, expr: &Expr, quotes: Quotes) -> String {
        match &expr.kind {
            ExprKind::Var(var) => self.name(*var).to_owned(),
            ExprKind::Dynamic(name) => name.clone(),
            ExprKind::Int(value, None) => value.to_string(),
            ExprKind::Int(value, Some(dtype)) => self.constant(&value.to_string(), dtype.name()),
            ExprKind::Float(value, None) => number::float(*value, self.program.notation),
            ExprKind::Float(value, Some(dtype)) => {
                self.constant(&number::float(*value, self.program.notation), dtype.name())
            }
            ExprKind::Bool(true) => "True".to_owned(),
            ExprKind::Bool(false) => "False".to_owned(),
            ExprKind::Str(text) => string(text, quotes),
            ExprKind::Null => "None".to_owned(),
            ExprKind::Unary(op, operand) => self.unary(*op, operand),
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right),
            ExprKind::Call(call) => self.call(call),
            ExprKind::List(elements) => format!("[{}]", self.exprs(elements)),
            ExprKind::Tuple(elements) => self.tuple(elements),
            ExprKind::Dict(pairs) => {
                let pair = |(k, v): &(Expr, Expr)| {
                    format!("{}: {}", self.quoted(k, Quotes::Double), self.quoted(v, Quotes::Double))
                };
                format!("{{{}}}", pairs.iter().map(pair).collect::<Vec<_>>().join(", "))
            }
            ExprKind::Item(base, index) => format!("{}[{}]", self.inside(base, ATOM), self.expr(index)),
            ExprKind::Symbol(name) => self.symbol(name),
            ExprKind::Function(name) => self.program_function(name),
        }
    }

    fn constant(&self, value: &str, dtype: &str) -> String {
        format!("{}({value}, {})", self.language("const"), self.language(dtype))
    }

    /// A name of the language; spaces are short where names stand without the module.
    pub(super) fn symbol(&self, name: &str) -> String {
        match name.strip_prefix("Mem.") {
            _ if name == "..." => name.to_owned(),
            Some(space) if self.is_shorthand() => space.to_owned(),
            _ => self.language(name),
        }
    }

    fn program_function(&self, name: &str) -> String {
        if self.is_class() { format!("self.{name}") } else { name.to_owned() }
    }

    fn unary(&self, op: UnaryOp, operand: &Expr) -> String {
        match op {
            UnaryOp::Neg => format!("-{}", self.inside(operand, UNARY)),
            UnaryOp::BitNot => format!("~{}", self.inside(operand, UNARY)),
            UnaryOp::Not => format!("not {}", self.inside(operand, strength_of_not())),
        }
    }

    fn binary(&self, op: BinaryOp, left: &Expr, right: &Expr) -> String {
        let own = strength_of(op);
        let (for_left, for_right) = match op {
            // Powers group from the right, and take a sign there.
            BinaryOp::Pow => (POWER + 1, UNARY),
            // Comparisons do not group at all: `a < b < c` means something else.
            _ if own == COMPARISON => (COMPARISON + 1, COMPARISON + 1),
            _ => (own, own + 1),
        };
        format!("{} {op} {}", self.inside(left, for_left), self.inside(right, for_right))
    }

    /// An expression inside another that needs it to hold together so tightly.
    fn inside(&self, expr: &Expr, needed: Strength) -> String {
        let text = self.expr(expr);
        if strength(expr) < needed { format!("({text})") } else { text }
    }

    fn call(&self, call: &Call) -> String {
        let mut arguments: Vec<String> = call.args.iter().map(|a| self.expr(a)).collect();
        arguments.extend(call.kwargs.iter().map(|(name, value)| format!("{name}={}", self.expr(value))));
        format!("{}({})", self.callee(&call.callee), arguments.join(", "))
    }

    fn callee(&self, callee: &Callee) -> String {
        match callee {
            Callee::Function(name) => self.program_function(name),
            // A function of Python itself.
            Callee::Op(name) if name == "abs" => name.clone(),
            Callee::Op(name) => {
                let last = name.rsplit('.').next().unwrap_or(name);
                let keyword = if is_keyword(last) { "_" } else { "" };
                format!("{}{keyword}", self.language(name))
            }
        }
    }
}

fn strength(expr: &Expr) -> Strength {
    match &expr.kind {
        ExprKind::Unary(UnaryOp::Not, _) => strength_of_not(),
        ExprKind::Unary(..) => UNARY,
        // A sign is an operator to Python.
        ExprKind::Int(value, None) if *value < 0 => UNARY,
        ExprKind::Float(value, None) if value.is_finite() && value.is_sign_negative() => UNARY,
        ExprKind::Binary(op, ..) => strength_of(*op),
        _ => ATOM,
    }
}

fn strength_of_not() -> Strength {
    3
}

fn strength_of(op: BinaryOp) -> Strength {
    match op {
        BinaryOp::Or => 1,
        BinaryOp::And => 2,
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => COMPARISON,
        BinaryOp::BitOr => 5,
        BinaryOp::BitXor => 6,
        BinaryOp::BitAnd => 7,
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight => 8,
        BinaryOp::Add | BinaryOp::Sub => 9,
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Mod => 10,
        BinaryOp::Pow => POWER,
    }
}

/// A string literal.
pub(super) fn string(text: &str, quotes: Quotes) -> String {
    let quote = if quotes == Quotes::Single { '\'' } else { '"' };
    let mut literal = String::from(quote);
    for letter in text.chars() {
        match letter {
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\t' => literal.push_str("\\t"),
            c if c == quote => literal.extend(['\\', c]),
            c if c.is_control() => literal.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => literal.push(c),
        }
    }
    literal.push(quote);
    literal
}
