//! Each pass alone, on small modules: the printed IR, or the diagnostics beside the wrong lines.
//!
//! A case says `// RUN-PASS: name` (several names with commas). With an `expected-` line in it, its diagnostics are
//! compared, and otherwise what is printed.

use crate::assert_snapshot;
use pto_tests::{Case, case_files, cases, each_case, run};

#[test]
fn each_pass_does_what_it_says() {
    let all = case_files(&cases("passes"));
    assert!(!all.is_empty());
    each_case(&all, |case| {
        let pipeline = format!("--pass-pipeline=builtin.module({})", passes(case));
        if case.text.contains("expected-") {
            let run = run("pto-opt", [&case.relative(), &pipeline, "--split-input-file", "--verify-diagnostics"]);
            assert_eq!(run.code, Some(0), "{}:\n{}", case.relative(), run.stderr);
            return;
        }
        let printed = run("pto-opt", [&case.relative(), &pipeline]).succeeded();
        assert_snapshot(&format!("passes/{}", folder(case)), &case.name, &printed);
    });
}

#[test]
fn each_pass_has_cases() {
    let tested: Vec<String> = case_files(&cases("passes")).iter().map(|case| folder(case).to_owned()).collect();
    for pass in names() {
        let count = tested.iter().filter(|t| **t == pass).count();
        assert!(count >= 1, "no case in tests/cases/passes/{pass}");
    }
}

/// The table of `docs/architecture.md` has the passes in the order in which they run.
#[test]
fn the_table_of_passes_is_complete() {
    let text = std::fs::read_to_string(pto_tests::repository().join("docs/architecture.md")).expect("it is there");
    let section = text.split("\n## ").find(|section| section.starts_with("Passes")).expect("there is a section");
    let listed = section.lines().filter_map(|line| line.strip_prefix("| `pto-")).filter_map(|row| row.split_once('`'));
    let listed: Vec<String> = listed.map(|(name, _)| format!("pto-{name}")).collect();
    let source =
        std::fs::read_to_string(pto_tests::repository().join("compiler/src/pipeline.rs")).expect("it is there");
    let run = source.split("name: \"pto-").skip(1).filter_map(|rest| rest.split_once('"'));
    let run: Vec<String> = run.map(|(name, _)| format!("pto-{name}")).collect();
    assert_eq!(listed, run);
}

/// A pass that runs on a module that it already ran on changes nothing.
#[test]
fn placement_is_stable() {
    let all: Vec<Case> = case_files(&cases("passes/allocate"))
        .into_iter()
        .filter(|c| passes(c) == "pto-allocate-memory-addr")
        .filter(|c| !c.text.contains("expected-"))
        .collect();
    each_case(&all, |case| {
        let once =
            run("pto-opt", [&case.relative(), "--pass-pipeline=builtin.module(pto-allocate-memory-addr)"]).succeeded();
        let twice = run(
            "pto-opt",
            [&case.relative(), "--pass-pipeline=builtin.module(pto-allocate-memory-addr,pto-allocate-memory-addr)"],
        );
        assert_eq!(once, twice.succeeded());
    });
}

fn passes(case: &Case) -> &str {
    case.directive("RUN-PASS").unwrap_or_else(|| panic!("{} has no RUN-PASS line", case.relative()))
}

fn folder(case: &Case) -> &str {
    case.path.parent().and_then(|p| p.file_name()).and_then(|n| n.to_str()).unwrap_or_default()
}

/// The folders that must exist, one per pass.
fn names() -> [&'static str; 17] {
    [
        "allocate",
        "check_placement",
        "compose_windows",
        "find_lost_values",
        "flush_scalar_stores",
        "infer_kernel_kind",
        "infer_layout",
        "insert_sync",
        "legalize_tiles",
        "lift_control_flow",
        "lower_frontend_pipes",
        "materialize_sections",
        "materialize_tmp",
        "open_regions",
        "remove_identity_moves",
        "resolve_reserved_buffers",
        "resolve_views",
    ]
}
