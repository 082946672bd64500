//! A row: an operation, how its kernels are made, and what it computes.

use super::build::{Case, Subject, Target};
use super::number::{Close, Num, TYPES, Type, noise, part};
use pto_dialect::OpFacts;

/// Makes the kernels of an operation for an element type: the first is the plain form.
pub type Pattern = fn(&Row, &Subject) -> Vec<Case>;

/// Numbers that an operand holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// Any, infinities and NaN too.
    Any,
    /// Any but NaN.
    Ordered,
    /// Floats from -8 to 8, integers from -8 to 8.
    Small,
    /// Floats that are quarters from -1 to 1, so that sums are exact; any integers.
    Quarters,
    /// Floats whose product is exact; any integers.
    Factor,
    /// From the smallest positive number on.
    Positive,
    /// Anything, and not 0 in the last operand.
    Divisor,
    /// Small floats from -8 to 8; the last operand not near 0.
    SmallDivisor,
    /// The last operand counts bits.
    Shift,
    /// A small power in the last operand.
    Power,
}

/// An operation.
#[derive(Clone, Copy)]
pub struct Row {
    pub op: &'static str,
    pub pattern: Pattern,
    /// The result from the operands, as floats.
    pub float: fn(&[f64], &Subject) -> f64,
    /// The same of integers.
    pub int: fn(&[i128], &Subject) -> i128,
    pub domain: Domain,
    pub close: Close,
    /// Further forms: name, attributes.
    pub forms: &'static [(&'static str, &'static str)],
    /// Element types where the facts leave them open, for A3 and A5.
    pub types: (&'static str, &'static str),
    /// Kernels that are refused for more than the element type that the facts list.
    pub wrong: Option<fn(&Row, Target) -> Vec<Case>>,
}

/// A row whose results are not said yet.
pub const fn row(op: &'static str, pattern: Pattern) -> Row {
    Row {
        op,
        pattern,
        float: no_float,
        int: no_int,
        domain: Domain::Any,
        close: Close::Exact,
        forms: &[],
        types: ("", ""),
        wrong: None,
    }
}

/// Of rows that have no such element type; they are made to be refused.
fn no_float(_: &[f64], _: &Subject) -> f64 {
    0.0
}

fn no_int(_: &[i128], _: &Subject) -> i128 {
    0
}

impl Row {
    pub const fn float(self, float: fn(&[f64], &Subject) -> f64) -> Row {
        Row { float, ..self }
    }

    pub const fn int(self, int: fn(&[i128], &Subject) -> i128) -> Row {
        Row { int, ..self }
    }

    pub const fn domain(self, domain: Domain) -> Row {
        Row { domain, ..self }
    }

    pub const fn close(self, close: Close) -> Row {
        Row { close, ..self }
    }

    pub const fn forms(self, forms: &'static [(&'static str, &'static str)]) -> Row {
        Row { forms, ..self }
    }

    pub const fn types(self, a3: &'static str, a5: &'static str) -> Row {
        Row { types: (a3, a5), ..self }
    }

    pub const fn wrong(self, wrong: fn(&Row, Target) -> Vec<Case>) -> Row {
        Row { wrong: Some(wrong), ..self }
    }

    /// The element types to try on a target: those of the facts, or its own where they leave them open.
    pub fn legal(&self, target: Target) -> impl Iterator<Item = &'static Type> + use<> {
        let own = if target == Target::A3 { self.types.0 } else { self.types.1 };
        let list = Some(target.legal(self.facts())).filter(|list| !list.is_empty()).unwrap_or(own);
        TYPES.iter().filter(move |ty| ty.is_in(list))
    }

    pub fn facts(&self) -> &'static OpFacts {
        let any = Subject { op: self.op, target: Target::A3, ty: &TYPES[0] };
        any.facts()
    }

    pub fn cases(&self, subject: &Subject) -> Vec<Case> {
        (self.pattern)(self, subject)
    }

    /// The result for operands, in the type of the result.
    pub fn result(&self, operands: &[Num], subject: &Subject) -> Num {
        if operands.iter().any(|n| matches!(n, Num::F(_))) {
            let floats: Vec<f64> = operands.iter().map(|n| n.float()).collect();
            return Num::F((self.float)(&floats, subject));
        }
        if !subject.ty.is_integer() {
            return Num::I(0);
        }
        let integers: Vec<i128> = operands.iter().map(|n| n.int()).collect();
        Num::I((self.int)(&integers, subject))
    }
}

/// A number of a domain for the operand `operand` of `count`: extreme ones first, then random ones.
pub fn number(domain: Domain, ty: &Type, (operand, count): (usize, usize), seed: u64, at: usize) -> Num {
    let key = seed * 16 + operand as u64;
    // So that the extremes of one operand meet all of the other.
    let turn = if operand % 2 == 0 { at } else { at / 11 };
    let last = operand + 1 == count && count > 1;
    if !ty.is_float() && !ty.is_integer() {
        return Num::I((noise(key, at as u64) >> 8) as i128);
    }
    match (ty.is_integer(), domain) {
        (true, Domain::Shift) if last => Num::I(i128::from(noise(key, at as u64) % u64::from(ty.bits()))),
        (true, Domain::Power) if last => Num::I(i128::from(noise(key, at as u64) % 9)),
        (true, Domain::Small | Domain::SmallDivisor) => {
            let value = i128::from(noise(key, at as u64) % 17) - if ty.is_unsigned() { 0 } else { 8 };
            Num::I(if last && domain == Domain::SmallDivisor && value == 0 { 3 } else { value })
        }
        (true, _) => {
            let (low, high) = ty.range();
            let edges = [low, high, 0, 1, high - 1, low + 1, 2, 3, 7, high / 2, high / 3];
            let value = match at < 121 {
                true => edges[turn % edges.len()],
                false => {
                    let wide = i128::from(noise(key, at as u64));
                    // Numbers of all sizes.
                    ty.wrap(wide) >> (noise(key + 7, at as u64) % u64::from(ty.bits()))
                }
            };
            let zero = value == 0 && (last || count == 1) && domain == Domain::Divisor;
            Num::I(if zero { 5 } else { value })
        }
        (false, domain) => Num::F(float(domain, ty, last, key, turn, at)),
    }
}

fn float(domain: Domain, ty: &Type, last: bool, key: u64, turn: usize, at: usize) -> f64 {
    let near = part(key, at as u64) * 16.0 - 8.0;
    let far = {
        let exponent = noise(key + 3, at as u64) % 40;
        near * 2f64.powi(exponent as i32 - 20)
    };
    let edges = [
        0.0,
        1.0,
        -1.0,
        ty.largest(),
        -ty.largest(),
        ty.least(),
        -ty.least(),
        0.5,
        f64::INFINITY,
        -0.0,
        f64::NEG_INFINITY,
    ];
    let edge = (at < 121).then(|| edges[turn % edges.len()]);
    ty.round(match domain {
        Domain::Any if at == 125 => f64::NAN,
        Domain::Any | Domain::Ordered | Domain::Shift => edge.unwrap_or(far),
        Domain::Divisor => edge.unwrap_or(far),
        Domain::Small => near,
        Domain::Factor => [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 2.0, 0.5][(noise(key, at as u64) % 8) as usize],
        Domain::Quarters => (near / 2.0).round() / 4.0,
        Domain::SmallDivisor if last => near + 0.25f64.copysign(near),
        Domain::SmallDivisor => near,
        Domain::Positive => edge.map_or(far.abs(), f64::abs),
        Domain::Power if last => (near / 2.0).round(),
        Domain::Power => near.abs() + 0.125,
    })
}
