//! Wrong inputs and the messages that stand beside the wrong lines (`expected-error`).
//!
//! `cases/errors`: the grammar of types and operations. `cases/verify`: what verifiers find; a file that needs a pass
//! says so in a comment with its command, `// pto-opt --split-input-file --verify-diagnostics --pto-verify-target`.

use pto_tests::{Case, case_files, cases, each_case, run};

fn diagnostics_are_as_stated(folder: &str) {
    each_case(&case_files(&cases(folder)), |case| {
        let run = run("pto-opt", arguments(case));
        assert_eq!(run.code, Some(0), "{}:\n{}", case.relative(), run.stderr);
    });
}

/// The file, how it is checked, and the passes that it names.
fn arguments(case: &Case) -> Vec<String> {
    let fixed = ["--split-input-file", "--verify-diagnostics"];
    let stated = case.text.lines().find_map(|line| line.strip_prefix("// pto-opt ")).unwrap_or_default();
    let passes = stated.split_whitespace().filter(|word| word.starts_with("--") && !fixed.contains(word));
    [case.relative().as_str()].into_iter().chain(fixed).chain(passes).map(str::to_owned).collect()
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
