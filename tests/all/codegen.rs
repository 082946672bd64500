//! The C++ of whole kernels: its text, and that it compiles against the host headers.
//!
//! A case may say `// ARCH: a5` (default a3), `// OPTIONS: --level=3` and what its C++ must or must not contain:
//! `// CHECK: text`, `// CHECK-NOT: text`.

use crate::assert_snapshot;
use pto_runtime_shim::{Arch, CompileOptions, Half, HostCompiler, Standard};
use pto_tests::{Case, case_files, cases, each_case, repository, run, run_with_input};
use std::fs;

fn all() -> Vec<Case> {
    let all = case_files(&cases("codegen"));
    assert!(all.len() >= 14);
    all
}

/// The C++ of a case.
fn emit(case: &Case) -> String {
    let mut arguments = vec![case.relative(), format!("--arch={}", arch(case))];
    arguments.extend(case.directive("OPTIONS").unwrap_or_default().split_whitespace().map(str::to_owned));
    let run = run("ptoc", arguments);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    run.stdout
}

fn arch(case: &Case) -> &str {
    case.directive("ARCH").unwrap_or("a3")
}

#[test]
fn text() {
    each_case(&all(), |case| {
        let cpp = emit(case);
        for line in case.text.lines() {
            if let Some(wanted) = line.strip_prefix("// CHECK: ") {
                assert!(cpp.contains(wanted), "expected {wanted} in:\n{cpp}");
            }
            if let Some(unwanted) = line.strip_prefix("// CHECK-NOT: ") {
                assert!(!cpp.contains(unwanted), "found {unwanted} in:\n{cpp}");
            }
        }
        assert_snapshot("codegen", &case.name, &cpp);
    });
}

/// Compiles the C++ of all kernels as one standard, for each half of the core.
fn compiles(kernels: &[Case], standard: Standard) {
    let compiler = match HostCompiler::find() {
        Ok(compiler) => compiler,
        Err(error) => return eprintln!("skipped: {error}"),
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    each_case(kernels, |case| {
        let kernel = folder.path().join(format!("{}.cpp", case.name));
        fs::write(&kernel, emit(case)).expect("the folder is writable");
        for half in [Half::Cube, Half::Vector] {
            let arch = if arch(case) == "a5" { Arch::A5 } else { Arch::A3 };
            let options = CompileOptions::new(arch).standard(standard).half(half);
            if let Err(error) = compiler.check(&kernel, &options) {
                panic!("{half:?}: {error}");
            }
        }
    });
}

#[test]
fn compiles_as_cxx17() {
    compiles(&all(), Standard::Cxx17);
}

#[test]
fn compiles_as_cxx20() {
    compiles(&all(), Standard::Cxx20);
}

/// What comes of front-end programs.
#[test]
fn lowered_programs_compile() {
    let programs = case_files(&cases("frontend/lower"));
    assert!(!programs.is_empty());
    compiles(&programs, Standard::Cxx17);
}

/// A function's name is part of its interface: it is refused, not changed.
#[test]
fn names_that_cxx_cannot_have_are_refused() {
    for name in ["double", "a.b", "\"two words\"", "main", "half"] {
        let text = format!("module {{\n  func.func @{name}(%x: i32) -> i32 {{\n    return %x : i32\n  }}\n}}\n");
        let run = run_with_input("ptoc", ["-"], &text);
        assert_eq!(run.code, Some(1), "{name}: {}", run.stdout);
        assert!(run.stderr.contains(name.trim_matches('"')), "{name}: {}", run.stderr);
    }
}

/// The kernels that the README shows.
#[test]
fn examples_compile() {
    let examples = case_files(&repository().join("examples"));
    assert!(examples.iter().any(|e| e.name == "softmax"), "`make demo` shows examples/softmax.pto");
    compiles(&examples, Standard::Cxx17);
}
