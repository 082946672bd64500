//! What a name may have been meant to be.

use crate::frontend::ast::Problem;

/// Adds what may have been meant.
pub(super) fn suggest<'a>(problem: Problem, name: &str, candidates: impl Iterator<Item = &'a str>) -> Problem {
    match closest(name, candidates) {
        Some(candidate) => problem.help(format!("did you mean `{candidate}`?")),
        None => problem,
    }
}

/// What the language calls an element that other languages call so.
pub(super) fn element_elsewhere(name: &str) -> Option<&'static str> {
    match name.to_ascii_uppercase().as_str() {
        "F32" | "FLOAT" | "FLOAT32" | "SINGLE" => Some("FP32"),
        "F16" | "HALF" | "FLOAT16" => Some("FP16"),
        "BFLOAT16" | "BFLOAT" => Some("BF16"),
        "I8" | "S8" => Some("INT8"),
        "I16" | "S16" => Some("INT16"),
        "I32" | "S32" | "INT" => Some("INT32"),
        "I64" | "S64" => Some("INT64"),
        "U8" => Some("UINT8"),
        "BOOLEAN" => Some("BOOL"),
        _ => None,
    }
}

/// The candidate that is like a name, if one is.
pub(super) fn closest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let limit = (name.chars().count() / 3).clamp(1, 3);
    candidates
        .filter(|c| *c != name && c.len().abs_diff(name.len()) <= limit)
        .map(|c| (distance(name, c), c))
        .filter(|(d, c)| *d <= limit && *d < c.len())
        .min()
        .map(|(_, c)| c.to_owned())
}

/// How many letters differ: insertions, deletions, replacements and swaps of neighbours.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.to_lowercase().chars().collect(), b.to_lowercase().chars().collect());
    let mut rows = [vec![0; b.len() + 1], (0..=b.len()).collect::<Vec<_>>(), vec![0; b.len() + 1]];
    for i in 1..=a.len() {
        rows[2][0] = i;
        for j in 1..=b.len() {
            let replaced = rows[1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[1][j] + 1).min(rows[2][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[0][j - 2] + 1);
            }
            rows[2][j] = best;
        }
        rows.rotate_left(1);
    }
    rows[1][b.len()]
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn the_closest_name_is_close() {
        assert_eq!(closest("suorce", ["source", "target"].into_iter()).as_deref(), Some("source"));
        assert_eq!(closest("x", ["y"].into_iter()), None);
        assert_eq!(closest("anything", ["else"].into_iter()), None);
    }
}
