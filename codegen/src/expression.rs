//! C++ expressions as text that knows whether it needs parentheses.

/// An expression.
#[derive(Clone, Debug)]
pub struct Expression {
    text: String,
    atomic: bool,
}

impl Expression {
    /// A name, a literal or a call: never needs parentheses.
    pub fn atom(text: impl Into<String>) -> Self {
        Self { text: text.into(), atomic: true }
    }

    /// Anything else.
    pub fn compound(text: impl Into<String>) -> Self {
        Self { text: text.into(), atomic: false }
    }

    /// An integer literal.
    pub fn integer(value: i64) -> Self {
        match value {
            i64::MIN => Self::atom("(-9223372036854775807 - 1)"),
            v if v < 0 => Self::compound(v.to_string()),
            v => Self::atom(v.to_string()),
        }
    }

    /// As a whole statement or argument.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// As an operand of another expression.
    pub fn operand(&self) -> String {
        if self.atomic { self.text.clone() } else { format!("({})", self.text) }
    }

    /// Whether it may be written several times without growing.
    pub fn is_atom(&self) -> bool {
        self.atomic || self.literal().is_some()
    }

    /// `a op b`.
    pub fn binary(&self, operator: &str, other: &Self) -> Self {
        Self::compound(format!("{} {operator} {}", self.operand(), other.operand()))
    }

    /// `(type)a`.
    pub fn cast(&self, ty: &str) -> Self {
        // A cast binds tighter than any binary operator.
        Self::atom(format!("({ty}){}", self.operand()))
    }

    /// `a + b`, folded when both are literals.
    pub fn plus(&self, other: &Self) -> Self {
        match (self.literal(), other.literal()) {
            (Some(a), Some(b)) if a.checked_add(b).is_some() => Self::integer(a + b),
            (Some(0), _) => other.clone(),
            (_, Some(0)) => self.clone(),
            _ => self.binary("+", other),
        }
    }

    /// `a * b`, folded when both are literals.
    pub fn times(&self, other: &Self) -> Self {
        match (self.literal(), other.literal()) {
            (Some(a), Some(b)) if a.checked_mul(b).is_some() => Self::integer(a * b),
            (Some(0), _) | (_, Some(0)) => Self::integer(0),
            (Some(1), _) => other.clone(),
            (_, Some(1)) => self.clone(),
            _ => self.binary("*", other),
        }
    }

    /// The value of an integer literal.
    pub fn literal(&self) -> Option<i64> {
        self.text.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::Expression as E;

    #[test]
    fn operands_are_parenthesised_only_where_needed() {
        let sum = E::atom("a").plus(&E::atom("b"));
        assert_eq!(sum.text(), "a + b");
        assert_eq!(sum.times(&E::integer(4)).text(), "(a + b) * 4");
        assert_eq!(E::atom("a").binary("-", &E::integer(-3)).text(), "a - (-3)");
    }

    #[test]
    fn literals_fold_without_overflow() {
        assert_eq!(E::integer(3).times(&E::integer(4)).plus(&E::integer(1)).text(), "13");
        assert_eq!(E::atom("x").plus(&E::integer(0)).text(), "x");
        assert_eq!(E::atom("x").times(&E::integer(0)).text(), "0");
        assert_eq!(E::integer(i64::MAX).plus(&E::integer(1)).text(), "9223372036854775807 + 1");
    }
}
