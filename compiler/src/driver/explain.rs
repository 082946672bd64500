//! `ptoc explain CODE`: what a code means, an example, and how to put it right.
//!
//! The text is docs/diagnostics.md, which people read too: `## CODE title`, then whatever belongs to the code.

const TEXT: &str = include_str!("../../../docs/diagnostics.md");

/// The section of a code (`pto-0602` and `0602` are understood too); the list of all codes for none.
pub fn explain(code: Option<&str>) -> Result<String, String> {
    let Some(asked) = code else {
        return Ok(sections().map(|(code, title, _)| format!("{code}  {title}\n")).collect());
    };
    let upper = asked.trim().trim_matches(['[', ']']).to_uppercase();
    let found = sections().find(|(code, ..)| *code == upper || code.split_once('-').is_some_and(|(_, n)| n == upper));
    match found {
        Some((code, title, body)) => Ok(format!("{code}: {title}\n\n{}\n", body.trim())),
        None => Err(format!("there is no code '{asked}'; `ptoc explain` lists them")),
    }
}

/// Code, title and text.
fn sections() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    TEXT.split("\n## ").skip(1).filter_map(|section| {
        let (head, body) = section.split_once('\n')?;
        let (code, title) = head.split_once(' ')?;
        // The next heading of a higher level is not part of it.
        Some((code, title, body.split("\n# ").next().unwrap_or(body)))
    })
}

#[cfg(test)]
mod tests {
    use super::explain;

    #[test]
    fn codes_are_found_however_they_are_written() {
        let whole = explain(Some("PTO-0602")).expect("a known code");
        assert!(whole.starts_with("PTO-0602: ") && !whole.contains("\n## "));
        for spelling in ["pto-0602", "0602", "[PTO-0602]"] {
            assert_eq!(explain(Some(spelling)).as_ref(), Ok(&whole));
        }
        assert!(explain(None).expect("the list").contains("SA-0352"));
        assert!(explain(Some("PTO-9999")).is_err());
    }
}
