//! Output files appear whole or not at all.

use pto_tests::{files_below, repository, run, run_in};
use std::{fs, path::Path};

const KERNEL: &str = "tests/cases/codegen/vector_add.pto";
const FAILS: &str = "tests/cases/cli/overflow.pto";

fn names(folder: &Path) -> Vec<String> {
    files_below(folder).iter().map(|p| p.file_name().unwrap_or_default().to_string_lossy().into_owned()).collect()
}

#[test]
fn nothing_is_left_after_a_failure() {
    for program in ["ptoc", "ptoas"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let out = folder.path().join("kernel.cpp");
        assert_eq!(run(program, [FAILS, "-o", &out.to_string_lossy()]).code, Some(1));
        assert!(names(folder.path()).is_empty(), "{program} left {:?}", names(folder.path()));
    }
}

#[test]
fn an_old_file_survives_a_failure_and_is_replaced_by_a_success() {
    for program in ["ptoc", "ptoas"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let out = folder.path().join("kernel.cpp");
        fs::write(&out, "old").expect("the folder is writable");
        assert_eq!(run(program, [FAILS, "-o", &out.to_string_lossy()]).code, Some(1));
        assert_eq!(fs::read_to_string(&out).expect("it is still there"), "old");
        assert_eq!(run(program, [KERNEL, "-o", &out.to_string_lossy()]).code, Some(0));
        assert!(fs::read_to_string(&out).expect("it is there").starts_with("#include"));
        assert_eq!(names(folder.path()), ["kernel.cpp"]);
    }
}

#[test]
fn several_inputs_go_into_a_folder() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("new/folder");
    let inputs = [KERNEL, "tests/cases/codegen/masks.pto", FAILS];
    let run = run("ptoc", [inputs[0], inputs[1], inputs[2], "-j", "2", "-o", &format!("{}/", out.display())]);
    assert_eq!(run.code, Some(1), "one of them fails");
    assert!(run.stderr.contains("PTO-0602"));
    assert_eq!(names(&out), ["masks.cpp", "vector_add.cpp"], "the others are written");
}

#[test]
fn one_input_goes_into_a_folder_that_exists() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let kernel = repository().join(KERNEL);
    let run = run_in(folder.path(), "ptoc", [&*kernel.to_string_lossy(), "-o", "."]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(names(folder.path()), ["vector_add.cpp"]);
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    for program in ["ptoc", "ptoas"] {
        let run = run(program, [KERNEL, "-o", "/no/such/folder/kernel.cpp"]);
        assert_eq!(run.code, Some(1), "{program}");
        assert!(run.stderr.contains("/no/such/folder"), "{program}: {}", run.stderr);
    }
}
