//! Numbers with a fraction, digit by digit as PyPTO prints them.

use crate::frontend::ast::Notation;

/// A number that reads back as the same.
pub(super) fn float(value: f64, notation: Notation) -> String {
    if !value.is_finite() {
        let name = if value.is_nan() {
            "nan"
        } else if value > 0.0 {
            "inf"
        } else {
            "-inf"
        };
        return format!("float('{name}')");
    }
    // Today 17 digits, before the stream's own 6, which do not always suffice.
    let text = match notation {
        Notation::Today => general(value, 17),
        Notation::Older | Notation::Shorthand => {
            let short = general(value, 6);
            if short.parse() == Ok(value) { short } else { general(value, 17) }
        }
    };
    if text.contains(['.', 'e']) { text } else { text + ".0" }
}

/// As C's `%.{digits}g`: so many significant digits without trailing zeros, an exponent for large and small numbers.
fn general(value: f64, digits: usize) -> String {
    let scientific = format!("{value:.*e}", digits - 1);
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let limit = i32::try_from(digits).unwrap_or(i32::MAX);
    if (-4..limit).contains(&exponent) {
        let decimals = usize::try_from(limit - 1 - exponent).unwrap_or(0);
        return trimmed(&format!("{value:.decimals$}")).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(mantissa), exponent.unsigned_abs())
}

/// Without zeros at the end of the fraction.
fn trimmed(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

#[cfg(test)]
mod tests {
    use super::float;
    use crate::frontend::ast::Notation;

    #[test]
    fn numbers_have_the_digits_of_their_notation() {
        let today = |v| float(v, Notation::Today);
        assert_eq!(today(2.0), "2.0");
        assert_eq!(today(-0.0), "-0.0");
        assert_eq!(today(1e-6), "9.9999999999999995e-07");
        assert_eq!(today(0.0001), "0.0001");
        assert_eq!(today(1.702), "1.702");
        assert_eq!(today(1e20), "1e+20");
        assert_eq!(today(f64::from(f32::MIN)), "-3.4028234663852886e+38");
        assert_eq!(today(f64::NEG_INFINITY), "float('-inf')");
        assert_eq!(float(1e-5, Notation::Older), "1e-05");
        assert_eq!(float(0.044_194_173_824_159_22, Notation::Older), "0.044194173824159223");
    }
}
