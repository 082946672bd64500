//! Invariants of the source: what must not be there.

use pto_tests::{files_below, repository};
use std::{fs, path::Path};

const CRATES: [&str; 5] = ["dialect", "codegen", "compiler", "runtime-shim", "tests"];
const LONGEST_FILE: usize = 900;

/// Files of the workspace's crates with their paths from the root; without what was built.
fn sources(extensions: &[&str]) -> Vec<(String, String)> {
    let root = repository();
    let files = CRATES.iter().flat_map(|name| files_below(&root.join(name)));
    files
        .filter(|p| p.extension().and_then(|e| e.to_str()).is_some_and(|e| extensions.contains(&e)))
        .filter(|p| !p.components().any(|c| c.as_os_str() == "target"))
        .map(|p| (relative(&p, &root), fs::read_to_string(&p).expect("sources are text")))
        .collect()
}

fn relative(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}

/// Only `owner` may contain `word`.
fn only(owner: &str, word: &str) {
    let offenders: Vec<String> = sources(&["rs", "toml"])
        .into_iter()
        .filter(|(path, _)| !path.starts_with(&format!("{owner}/")) && path != "tests/all/tidy.rs")
        .filter(|(_, text)| text.contains(word))
        .map(|(path, _)| path)
        .collect();
    assert!(offenders.is_empty(), "only {owner}/ may name {word}; found in {}", offenders.join(", "));
}

#[test]
fn raw_bindings_stay_in_one_crate() {
    only("dialect", "mlir_sys");
    only("dialect", "mlir-sys");
    only("runtime-shim", "inkwell");
}

#[test]
fn modules_say_what_they_do() {
    for (path, text) in sources(&["rs"]) {
        assert!(text.starts_with("//!"), "{path} does not start with //!");
    }
}

#[test]
fn files_are_short() {
    for (path, text) in sources(&["rs", "cpp", "h", "hpp", "td"]) {
        let lines = text.lines().count();
        assert!(lines <= LONGEST_FILE, "{path} has {lines} lines; split it");
    }
}

#[test]
fn nothing_is_left_undone() {
    for (path, text) in sources(&["rs"]) {
        for word in [concat!("todo", "!("), concat!("unimplemented", "!("), concat!("#[", "ignore")] {
            assert!(!text.contains(word), "{path} contains {word}");
        }
    }
}

#[test]
fn no_snapshot_waits_for_a_review() {
    let stale: Vec<String> = files_below(&repository().join("tests/snapshots"))
        .into_iter()
        .filter(|p| p.extension().is_some_and(|e| e == "new"))
        .map(|p| p.display().to_string())
        .collect();
    assert!(stale.is_empty(), "snapshots wait for a review: {}", stale.join(", "));
}
