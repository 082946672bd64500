//! The command line of `pto-run`: arguments, files, messages, exit codes.

use pto_runtime_shim::{Element, Tensor, npy};
use pto_tests::{Run, run};
use std::path::PathBuf;

const SOFTMAX: &str = "examples/softmax.pto";
const INPUT: &str = "x=examples/data/softmax_x.npy";
const OUTPUT: &str = "y=examples/data/softmax_y.npy";

/// A folder of this test with a file in it.
fn file(name: &str, contents: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    std::fs::write(&path, contents).expect("write it");
    (folder, path)
}

fn softmax(more: &[&str]) -> Run {
    run("pto-run", [&[SOFTMAX, "--arg", INPUT, "--arg", "height=40"], more].concat())
}

/// Asserts the exit code and that standard error has all of these.
fn says(run: &Run, code: i32, words: &[&str]) {
    assert_eq!(run.code, Some(code), "{}", run.stderr);
    for word in words {
        assert!(run.stderr.contains(word), "no '{word}' in:\n{}", run.stderr);
    }
}

#[test]
fn a_kernel_agrees_with_its_reference() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("y.npy");
    let output = format!("y={}", out.display());
    says(&softmax(&["--expect", OUTPUT, "--out", &output]), 0, &["1 block", "no findings", "all 2560 values agree"]);
    let written = npy::read(&out, None).expect("an array");
    assert_eq!((written.element, &written.shape[..]), (Element::F32, &[40, 64][..]));
    // The same through ptoc, by position, in blocks, without the shape of the output.
    let words =
        ["run", SOFTMAX, "--arg", "0=examples/data/softmax_x.npy", "--arg", "2=40", "--blocks", "3", "--out", &output];
    says(&run("ptoc", words), 0, &["3 blocks", "no findings"]);
    assert_eq!(npy::read(&out, None).expect("an array"), written, "its shape follows from the stores");
}

#[test]
fn what_does_not_agree_is_an_error() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let other = folder.path().join("other.npy");
    npy::write(&other, &Tensor::zeros(Element::F32, &[40, 64])).expect("write it");
    let expect = format!("y={}", other.display());
    says(&softmax(&["--expect", &expect]), 1, &["of 2560 values differ", "largest difference"]);
    says(&softmax(&["--expect", &expect, "--atol", "1"]), 0, &["all 2560 values agree"]);
}

#[test]
fn a_finding_names_lines_of_the_kernel_and_fails() {
    let cpp = run("ptoc", [SOFTMAX, "--arch=a3"]).succeeded();
    let faulty = cpp.replace("    pipe_barrier(PIPE_ALL);\n    TSTORE", "    TSTORE");
    assert_ne!(cpp, faulty);
    let (_folder, path) = file("softmax.cpp", &faulty);
    let path = path.to_string_lossy();
    let words = [&path, "--arg", INPUT, "--arg", "height=40", "--arg", "y=f32[40,64]"];
    says(
        &run("pto-run", words),
        1,
        &["softmax.cpp:44: error: [PTO-0806] TSTORE on PIPE_MTE3", "'data'", "softmax.cpp:43"],
    );
    says(&run("pto-run", [&words[..], &["--check", "init,bounds"]].concat()), 0, &["no findings"]);
    // In a .pto file the line is its own.
    let text = std::fs::read_to_string(pto_tests::repository().join(SOFTMAX)).expect("the example");
    let line = 1 + text.lines().position(|l| l.contains("pto.tload")).expect("it loads");
    let short = ["examples/softmax.pto", "--arg", "x=f32[8,64]", "--arg", "y=f32[40,64]", "--arg", "height=16"];
    let place = format!("{SOFTMAX}:{line}: error: [PTO-0803] TLOAD reads bytes 0 to 4096 of argument 'x'");
    says(&run("pto-run", short), 1, &[&place, "which has 2048 bytes"]);
}

#[test]
fn a_trace_has_rows_slices_and_arrows() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("trace.json");
    says(&softmax(&["--arg", "y=f32[40,64]", "--trace", &path.to_string_lossy()]), 0, &["no findings"]);
    let trace: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&path).expect("a trace")).expect("valid JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    let named = |name: &str| events.iter().filter(|e| e["name"] == name).count();
    assert_eq!((named("TLOAD"), named("TROWMAX")), (3, 3));
    let rows: Vec<&str> =
        events.iter().filter(|e| e["name"] == "thread_name").filter_map(|e| e["args"]["name"].as_str()).collect();
    assert!(["PIPE_V", "PIPE_MTE2", "PIPE_MTE3"].iter().all(|p| rows.contains(p)), "{rows:?}");
}

#[test]
fn wrong_arguments_are_refused() {
    let (_folder, text) = file("text.npy", "no array");
    let text = format!("x={}", text.display());
    let cases: [(&[&str], i32, &str); 13] = [
        (&[SOFTMAX], 2, "argument 0 is missing: give --arg x=FILE.npy or TYPE[DIMS]"),
        (&[SOFTMAX, "--arg", "z=1"], 2, "no parameter 'z'; it has x, y, height"),
        (&[SOFTMAX, "--arg", "height=many"], 1, "expected a number"),
        (&[SOFTMAX, "--arg", "height=0.5"], 1, "expected an integer"),
        (&[SOFTMAX, "--arg", "x"], 2, "expected NAME=VALUE"),
        (&[SOFTMAX, "--arg", "x=f16[4,4]"], 1, "elements of type f32"),
        (&[SOFTMAX, "--arg", "x=no/such.npy"], 1, "no/such.npy"),
        (&[SOFTMAX, "--arg", &text], 1, "not an .npy file"),
        (&[SOFTMAX, "--check", "races"], 2, "unknown check 'races'"),
        (&[SOFTMAX, "--arch", "a9"], 2, "a9"),
        (&[SOFTMAX, "--blocks", "0"], 2, "0 is not in 1..="),
        (&["no/such.pto"], 1, "cannot read 'no/such.pto'"),
        (
            &[SOFTMAX, "--pto-isa", "no/such", "--arg", "x=f32[8]", "--arg", "y=f32[8]", "--arg", "height=0"],
            1,
            "no/such",
        ),
    ];
    for (words, code, message) in cases {
        says(&run("pto-run", words), code, &[message]);
    }
}

#[test]
fn a_kernel_that_does_not_compile_is_shown() {
    let (_folder, path) =
        file("wrong.cpp", "#include \"pto/pto-inst.hpp\"\nextern \"C\" __global__ AICORE void k() { TADD(); }\n");
    says(&run("pto-run", [&*path.to_string_lossy()]), 1, &["wrong.cpp:2", "TADD"]);
    let (_folder, path) = file("none.cpp", "int x;\n");
    says(&run("pto-run", [&*path.to_string_lossy()]), 1, &["there is no kernel"]);
}

#[test]
fn a_missing_compiler_is_said() {
    let mut command = std::process::Command::new(pto_tests::program("pto-run"));
    command.args([SOFTMAX]).env("PATH", "").env("PTO_HOST_CXX", "/no/such/clang");
    for prefix in ["LLVM_SYS_221_PREFIX", "MLIR_SYS_220_PREFIX"] {
        command.env_remove(prefix);
    }
    let output = command.current_dir(pto_tests::repository()).output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("no clang++ found") && text.contains("/no/such/clang"), "{text}");
}
