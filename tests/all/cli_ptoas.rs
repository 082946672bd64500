//! The command line of `ptoas`: the spellings, messages and exit codes (0 or 1) that its callers know.

use crate::assert_snapshot;
use pto_tests::{Run, repository, run, run_with_input};

const KERNEL: &str = "tests/cases/codegen/vector_add.pto";
const GIVEN: &str = "tests/cases/codegen/given_addresses.pto";

fn fails(arguments: &[&str]) -> Run {
    let run = run("ptoas", arguments);
    assert_eq!(run.code, Some(1), "{arguments:?}: {}", run.stderr);
    assert!(run.stdout.is_empty(), "{arguments:?}");
    run
}

#[test]
fn what_front_ends_call() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("kernel.cpp");
    let out = out.to_string_lossy();
    for arguments in [
        vec![KERNEL, "-o", &out, "--enable-insert-sync", "--pto-level=level2", "--pto-arch", "a3"],
        vec![GIVEN, "-o", &out, "--enable-insert-sync", "--pto-level=level3", "--pto-arch", "a5"],
        vec!["-pto-arch=A3", "-pto-level", "LEVEL2", KERNEL, "-o", &out],
    ] {
        let run = run("ptoas", &arguments);
        assert_eq!(run.code, Some(0), "{arguments:?}: {}", run.stderr);
        let cpp = std::fs::read_to_string(&*out).expect("the product is there");
        assert!(cpp.contains("AICORE void "), "callers look for the function's head on one line");
        std::fs::remove_file(&*out).expect("written anew each time");
    }
}

#[test]
fn sync_only_when_asked() {
    assert!(!run("ptoas", [KERNEL]).succeeded().contains("pipe_barrier"));
    for mode in ["--enable-insert-sync", "--enable-inject-barrier-all-sync", "--enable-graph-sync-solver"] {
        assert!(run("ptoas", [KERNEL, mode]).succeeded().contains("pipe_barrier"), "{mode}");
    }
    let tokens = ["--pto-arch=a5", "--enable-bufid_sync"];
    assert!(run("ptoas", [KERNEL, tokens[0], tokens[1]]).succeeded().contains("pipe_barrier"));
    let message = fails(&[KERNEL, "--pto-arch=a3", tokens[1]]).stderr;
    assert_eq!(message, "Error: --enable-bufid_sync requires --pto-arch=a5.\n");
    let message = fails(&[KERNEL, "--enable-insert-sync", "--enable-graph-sync-solver"]).stderr;
    assert!(message.starts_with("Error: --enable-insert-sync,") && message.contains("mutually exclusive"));
}

#[test]
fn the_flag_wins_with_a_warning() {
    let run = run("ptoas", [KERNEL, "--pto-arch=a5"]);
    assert_eq!(run.code, Some(0));
    assert!(run.stderr.contains("warning: ") && run.stderr.contains("[PTO-0306]"), "{}", run.stderr);
    let unknown = pto_tests::run("ptoas", ["tests/cases/cli/unknown_target.pto"]);
    assert_eq!(unknown.code, Some(0), "there, an unknown target of the module is a3");
    assert!(unknown.stderr.contains("warning: ") && unknown.stderr.contains("[PTO-0301]"), "{}", unknown.stderr);
}

#[test]
fn lines_that_callers_match() {
    for (arguments, start) in [
        (vec![KERNEL, "--pto-arch=a9"], "Error: invalid --pto-arch='a9'. Expected 'a2', 'a3', or 'a5'."),
        (vec![KERNEL, "--pto-level=3"], "Error: invalid --pto-level='3'"),
        (
            vec![KERNEL, "--plan-memory-impl=old"],
            "Error: invalid --plan-memory-impl='old', expected 'legacy' or 'modern'.",
        ),
        (vec![KERNEL, "--pto-backend=llvm"], "Error: invalid --pto-backend='llvm'."),
        (vec!["no_such_kernel.pto"], "Error: Could not open input file: no_such_kernel.pto"),
    ] {
        let run = fails(&arguments);
        assert!(run.stderr.starts_with(start), "{arguments:?}: {}", run.stderr);
    }
}

#[test]
fn the_last_line_says_what_failed() {
    let syntax = run_with_input("ptoas", ["-"], "module { pto.tadd3 }\n");
    assert_eq!(syntax.code, Some(1));
    assert!(syntax.stderr.ends_with("Error: Failed to parse MLIR.\n"), "{}", syntax.stderr);
    let passes = fails(&["tests/cases/cli/overflow.pto"]);
    assert!(passes.stderr.ends_with("Error: Pass execution failed.\n"), "{}", passes.stderr);
}

#[test]
fn levels_are_strict() {
    let missing = fails(&[KERNEL, "--pto-level=level3"]).stderr;
    assert!(missing.contains("requires 'addr' operand when --pto-level=level3"), "{missing}");
    let unexpected = fails(&[GIVEN, "--pto-level=level2"]).stderr;
    assert!(unexpected.contains("unexpected 'addr' operand: only supported when --pto-level=level3"), "{unexpected}");
}

#[test]
fn flags_of_other_backends_are_refused_by_name() {
    for flag in [
        "--emit-vpto",
        "--emit-vpto-llvm-ir",
        "--vpto-scheduler=on",
        "--vpto-lowering-strategy=post-update",
        "--enable-bisheng-vec-misched",
        "--simt-fastmath",
        "--pto-backend=vpto",
    ] {
        let message = fails(&[KERNEL, flag]).stderr;
        let name = flag.split('=').next().unwrap_or(flag);
        assert!(message.starts_with("Error: ") && message.contains(name), "{flag}: {message}");
    }
}

#[test]
fn what_belongs_to_another_backend_is_told() {
    let refused = |text: &str| {
        let run = run_with_input("ptoas", ["-", "--pto-arch=a5"], text);
        assert_eq!(run.code, Some(1), "{text}");
        run.stderr
    };
    let helper = "attributes {pto.tileop.helper}";
    for (text, wanted) in [
        ("module attributes {pto.backend = \"vpto\"} { func.func @f() { return } }", "[PTO-0341]"),
        ("module { module attributes {pto.backend = \"vpto\"} { func.func @f() { return } } }", "got \"vpto\""),
        (&format!("func.func private @f() {helper} {{ pto.barrier <PIPE_V> return }}"), "helper of micro instructions"),
        ("func.func @f() { %c = pto.get_ctrl : i64 return }", "'pto.get_ctrl' op expected an operation on tiles"),
        ("func.func @f() { pto.section.simt <<<1, 1, 1>>> { } return }", "threads belong to another backend"),
        ("func.func private @f(!pto.struct<f32>)", "'func.func' op expected parameters"),
        ("func.func private @f() -> !pto.struct<f32>", "'func.func' op expected results"),
        // Branches of an operation that MLIR cannot look into.
        ("func.func @f(%p: i1) { \"other.branch\"(%p) [^a, ^a] : (i1) -> () ^a: return }", "[PTO-0342]"),
    ] {
        let message = refused(text);
        assert!(message.contains(wanted), "{text}: {message}");
    }
    for text in [
        "module attributes {pto.backend = \"emitc\"} { func.func @f() { return } }",
        &format!("func.func private @f() {helper}"),
    ] {
        assert_eq!(run_with_input("ptoas", ["-"], text).code, Some(0), "{text}");
    }
}

#[test]
fn flags_without_effect_are_accepted() {
    let plain = run("ptoas", [KERNEL]).succeeded();
    for flag in [
        "--enable-tile-op-expand",
        "--mlir-timing",
        "--plan-memory-order-by-size",
        "--enable-shape-inference=false",
        "--cann-output-version=9.0.0",
    ] {
        assert_eq!(plain, run("ptoas", [KERNEL, flag]).succeeded(), "{flag}");
    }
}

#[test]
fn unknown_flags_get_a_suggestion() {
    assert_snapshot("cli", "ptoas_unknown_flag", &fails(&[KERNEL, "--pto-arhc=a3"]).report(&repository()));
    assert_snapshot("cli", "ptoas_no_value", &fails(&[KERNEL, "--pto-arch"]).report(&repository()));
    assert_snapshot("cli", "ptoas_two_inputs", &fails(&[KERNEL, GIVEN]).report(&repository()));
    assert_snapshot("cli", "ptoas_switch_value", &fails(&[KERNEL, "--enable-insert-sync=maybe"]).report(&repository()));
}

#[test]
fn ir_can_be_looked_at() {
    let dump = run("ptoas", [KERNEL, "--mlir-print-ir-after=pto-allocate-memory-addr"]);
    assert_eq!(dump.code, Some(0));
    assert!(dump.stderr.contains("IR Dump After") && dump.stderr.contains("pto.alloc_tile addr ="));
    let all = run("ptoas", [KERNEL, "--mlir-print-ir-after-all", "--mlir-print-ir-module-scope"]);
    assert!(all.stderr.matches("IR Dump After").count() > 5);
    let before = run("ptoas", [KERNEL, "--mlir-print-ir-before=pto-allocate-memory-addr"]);
    assert!(before.stderr.contains("IR Dump Before") && !before.stderr.contains("pto.alloc_tile addr ="));
    for (theirs, ours) in
        [("pto-plan-memory", "pto-allocate-memory-addr"), ("pto-resolve-buffer-select", "pto-resolve-views")]
    {
        let dump = run("ptoas", [KERNEL, &format!("--mlir-print-ir-after={theirs}")]);
        assert!(dump.stderr.contains(&format!("IR Dump After {ours}")), "{theirs}: {}", dump.stderr);
    }
    assert!(run("ptoas", [KERNEL, "--emit-pto-ir"]).succeeded().contains("pto.alloc_tile addr ="));
}

#[test]
fn standard_input_is_the_default() {
    let text = std::fs::read_to_string(repository().join(KERNEL)).expect("the kernel is there");
    let none: [&str; 0] = [];
    assert_eq!(run("ptoas", [KERNEL]).succeeded(), run_with_input("ptoas", none, &text).succeeded());
}

#[test]
fn help_and_version() {
    assert!(run("ptoas", ["--version"]).succeeded().starts_with("ptoas 0.60"));
    assert_snapshot("cli", "ptoas_help", &run("ptoas", ["--help"]).succeeded());
}
