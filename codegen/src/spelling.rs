//! How enumerations are written in C++.

use pto_dialect::{enum_name, enum_spelling, enum_text};

/// An enumeration attribute as C++: `RoundMode::CAST_RINT`, `PIPE_V`. `None` for other attributes.
pub fn enum_case(attribute: melior::ir::Attribute) -> Option<String> {
    let name = enum_name(attribute)?;
    let text = enum_text(attribute)?;
    let spelling = enum_spelling(name)?;
    let case = match spelling.cpp_case {
        "same" => text.to_owned(),
        "upper" => text.to_ascii_uppercase(),
        "camel" => camel(text),
        listed => listed_case(listed, spelling.cases, text)?,
    };
    Some(if spelling.cpp_enum.is_empty() { case } else { format!("{}::{case}", spelling.cpp_enum) })
}

/// `"=A B C"`: the names one by one in the order of the cases.
fn listed_case(list: &str, cases: &[&str], text: &str) -> Option<String> {
    let index = cases.iter().position(|&case| case == text)?;
    list.strip_prefix('=')?.split_whitespace().nth(index).map(str::to_owned)
}

/// `atomic_add` -> `AtomicAdd`.
fn camel(text: &str) -> String {
    text.split('_')
        .map(|word| {
            let mut letters = word.chars();
            letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn snake_case_becomes_camel_case() {
        assert_eq!(super::camel("atomic_add"), "AtomicAdd");
        assert_eq!(super::camel("nd"), "Nd");
    }
}
