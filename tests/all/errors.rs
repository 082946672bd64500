//! Wrong inputs and the messages that stand beside the wrong lines (`expected-error`).
//!
//! `cases/errors`: the grammar of types and operations. `cases/verify`: what verifiers find, on any target.

use pto_tests::{case_files, cases, each_case, run};

fn diagnostics_are_as_stated(folder: &str) {
    each_case(&case_files(&cases(folder)), |case| {
        let run = run("pto-opt", [&case.relative(), "--split-input-file", "--verify-diagnostics"]);
        assert_eq!(run.code, Some(0), "{}:\n{}", case.relative(), run.stderr);
    });
}

#[test]
fn grammar() {
    assert!(!case_files(&cases("errors")).is_empty());
    diagnostics_are_as_stated("errors");
}

#[test]
fn verifiers() {
    diagnostics_are_as_stated("verify");
}
