//! The same input gives the same bytes, always.

use pto_tests::{cases, run};
use std::{fs, path::Path};

const KERNEL: &str = "tests/cases/determinism/many_tiles.pto";

#[test]
fn twenty_runs_are_identical() {
    let first = run("ptoc", [KERNEL]).succeeded();
    assert!(first.contains("TASSIGN<"));
    for _ in 1..20 {
        assert_eq!(first, run("ptoc", [KERNEL]).succeeded());
    }
}

#[test]
fn placements_of_programs_are_identical() {
    for emit in ["--emit=cpp", "--emit=frontend", "--emit=placement"] {
        let arguments = ["tests/cases/frontend/lower/control.py", "tests/cases/frontend/lower/queues_a3.py"];
        for program in arguments {
            let first = run("ptoc", [program, emit]).succeeded();
            for _ in 1..8 {
                assert_eq!(first, run("ptoc", [program, emit]).succeeded(), "{program} {emit}");
            }
        }
    }
}

/// Address-space layout and hash seeds differ between processes; reports must not.
#[test]
fn reports_are_identical() {
    let arguments = [KERNEL, "-DPTO_UBUF_SIZE_BYTES=16384"];
    let first = run("ptoc", arguments);
    assert_eq!(first.code, Some(1));
    for _ in 1..5 {
        assert_eq!(first.stderr, run("ptoc", arguments).stderr);
    }
}

#[test]
fn one_thread_and_two_give_the_same() {
    let inputs: Vec<String> = pto_tests::case_files(&cases("codegen"))
        .iter()
        .filter(|case| case.directive("ARCH").is_none() && case.directive("OPTIONS").is_none())
        .map(|case| case.relative())
        .collect();
    assert!(inputs.len() > 5);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [one, two] = ["-j1", "-j2"].map(|jobs| {
        let out = folder.path().join(jobs);
        let mut arguments = inputs.clone();
        arguments.extend([jobs.to_owned(), "-o".to_owned(), format!("{}/", out.display())]);
        let run = run("ptoc", arguments);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        (run.stderr, contents(&out))
    });
    assert_eq!(one.1.len(), inputs.len());
    assert_eq!(one, two);
}

fn contents(folder: &Path) -> Vec<(String, String)> {
    let files = pto_tests::files_below(folder);
    let name = |p: &Path| p.file_name().unwrap_or_default().to_string_lossy().into_owned();
    files.iter().map(|p| (name(p), fs::read_to_string(p).expect("the product is text"))).collect()
}
