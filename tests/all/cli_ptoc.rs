//! The command line of `ptoc`: exit codes, messages, options.

use crate::assert_snapshot;
use pto_tests::{Run, finish, program, repository, run, run_in, run_with_input};
use std::process::Command;

const KERNEL: &str = "tests/cases/codegen/vector_add.pto";

fn check(name: &str, run: &Run) {
    assert_snapshot("cli", &format!("ptoc_{name}"), &run.report(&repository()));
}

#[test]
fn an_unknown_target_is_a_wrong_command_line() {
    let run = run("ptoc", [KERNEL, "--arch=a9"]);
    assert_eq!(run.code, Some(2));
    check("unknown_target", &run);
}

#[test]
fn aliases_name_a3() {
    let [a3, a2, a2a3] = ["a3", "a2", "a2a3"].map(|arch| run("ptoc", [KERNEL, &format!("--arch={arch}")]).succeeded());
    assert_eq!(a3, a2);
    assert_eq!(a3, a2a3);
}

#[test]
fn modules_are_no_programs() {
    let run = run("ptoc", [KERNEL, "--emit=frontend"]);
    assert_eq!(run.code, Some(1));
    check("frontend_of_module", &run);
}

#[test]
fn the_placement_of_a_module_is_data() {
    check("placement", &run("ptoc", [KERNEL, "--emit=placement"]));
}

#[test]
fn names_order_tiles_when_asked() {
    let text = "module {\n  func.func @f() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {\n    %c = arith.constant 1.0 : f32\n    %b = pto.alloc_tile : !pto.tile_buf<vec, 8x64xf32>\n    %a = pto.alloc_tile : !pto.tile_buf<vec, 8x64xf32>\n    pto.texpands ins(%c : f32) outs(%b : !pto.tile_buf<vec, 8x64xf32>)\n    pto.texpands ins(%c : f32) outs(%a : !pto.tile_buf<vec, 8x64xf32>)\n    return\n  }\n}\n";
    for (order, address) in [("id", "TASSIGN<0x0>(b)"), ("name", "TASSIGN<0x0>(a)")] {
        let cpp = run_with_input("ptoc", ["-", &format!("--order={order}")], text).succeeded();
        assert!(cpp.contains(address), "{order}:\n{cpp}");
    }
}

#[test]
fn a_program_without_a_kernel_is_a_warning() {
    let text = "# pypto.program: Host\nimport pypto.language as pl\n\n@pl.program\nclass Host:\n    @pl.function(type=pl.FunctionType.Orchestration)\n    def host(self, x: pl.Tensor[[8, 8], pl.FP32]):\n        return x\n";
    check("no_kernel", &run_with_input("ptoc", ["-"], text));
}

#[test]
fn the_module_and_the_flag_must_not_contradict() {
    let run = run("ptoc", [KERNEL, "--arch=a5"]);
    assert_eq!(run.code, Some(1));
    check("contradiction", &run);
}

#[test]
fn a_target_of_the_module_that_nobody_knows_is_an_error() {
    let run = run("ptoc", ["tests/cases/cli/unknown_target.pto"]);
    assert_eq!(run.code, Some(1));
    check("unknown_target_in_module", &run);
}

#[test]
fn no_code_for_targets_that_are_data_only() {
    let run = run("ptoc", ["tests/cases/cli/plain.pto", "--arch=a6"]);
    assert_eq!(run.code, Some(1));
    check("data_only_target", &run);
}

#[test]
fn a_missing_file_is_named() {
    let run = run("ptoc", ["no_such_kernel.pto"]);
    assert_eq!(run.code, Some(1));
    check("missing_file", &run);
}

#[test]
fn wrong_overrides_are_explained() {
    for (name, option) in [
        ("define_name", "-DPTO_UBUF=1"),
        ("define_value", "-DPTO_UBUF_SIZE_BYTES=many"),
        ("reserve_form", "--reserve=vec"),
        ("reserve_space", "--reserve=top:5"),
    ] {
        let run = run("ptoc", [KERNEL, option]);
        assert_eq!(run.code, Some(2), "{option}");
        check(name, &run);
    }
}

#[test]
fn overrides_change_what_fits() {
    let input = "tests/cases/cli/top_of_vec.pto";
    let refused = run("ptoc", [input]);
    assert_eq!(refused.code, Some(1));
    check("reserve_in_the_way", &refused);
    assert_eq!(run("ptoc", [input, "--reserve=vec:0"]).code, Some(0));
    assert_eq!(run("ptoc", [input, "-DPTO_UBUF_SIZE_BYTES=262144"]).code, Some(0));
    assert_eq!(run("ptoc", [input, "--reserve=vec:0", "-DPTO_UBUF_SIZE_BYTES=131072"]).code, Some(1));
}

#[test]
fn an_overflow_names_every_tile() {
    let run = run("ptoc", ["tests/cases/cli/overflow.pto"]);
    assert_eq!(run.code, Some(1));
    check("overflow", &run);
}

#[test]
fn a_tile_that_can_never_fit_is_named() {
    let run = run("ptoc", ["tests/cases/cli/too_large.pto"]);
    assert_eq!(run.code, Some(1));
    check("too_large", &run);
}

#[test]
fn wrong_placements_are_shown_with_advice() {
    let run = run("ptoc", ["tests/cases/cli/misplaced.pto", "--level=3"]);
    assert_eq!(run.code, Some(1));
    check("misplaced", &run);
}

#[test]
fn a_syntax_error_has_its_line() {
    let run = run_with_input("ptoc", ["-"], "module {\n  func.func @f() {\n    pto.tadd3\n    return\n  }\n}\n");
    assert_eq!(run.code, Some(1));
    check("syntax_error", &run);
}

#[test]
fn levels_say_who_gives_addresses() {
    let given = "tests/cases/codegen/given_addresses.pto";
    for (input, level, code) in
        [(KERNEL, "2", 0), (KERNEL, "3", 1), (given, "2", 1), (given, "3", 0), (given, "mixed", 0)]
    {
        let run = run("ptoc", [input, &format!("--level={level}")]);
        assert_eq!(run.code, Some(code), "{input} --level={level}: {}", run.stderr);
    }
}

#[test]
fn other_products() {
    let pto = run("ptoc", [KERNEL, "--emit=pto"]).succeeded();
    assert!(pto.contains("pto.alloc_tile addr =") && pto.contains("pto.barrier"));
    let again = run_with_input("ptoc", ["-", "--emit=pto", "--sync=none"], &pto);
    assert_eq!(again.code, Some(0), "a placed module can be compiled again: {}", again.stderr);
    assert!(run("ptoc", [KERNEL, "--emit=mlir"]).succeeded().contains("\"pto.alloc_tile\"("));
}

#[test]
fn tassign_at_run_time_for_old_headers() {
    let cpp = run("ptoc", [KERNEL, "--tassign=runtime"]).succeeded();
    assert!(!cpp.contains("TASSIGN<") && cpp.contains("TASSIGN(sum, 0x4000)"), "{cpp}");
}

#[test]
fn planners_and_sync_are_choices() {
    let sequential = run("ptoc", ["tests/cases/cli/chain.pto", "--planner=sequential"]);
    assert_eq!(sequential.code, Some(1), "192 KiB in a row do not fit");
    assert_eq!(run("ptoc", ["tests/cases/cli/chain.pto", "--planner=reuse"]).code, Some(0));
    assert!(!run("ptoc", [KERNEL, "--sync=none"]).succeeded().contains("pipe_barrier"));
}

#[test]
fn reports_go_to_standard_error() {
    let run = run("ptoc", [KERNEL, "--timing", "--tassign-report", "--print-after=pto-allocate-memory-addr"]);
    assert_eq!(run.code, Some(0));
    assert!(run.stdout.starts_with("#include"));
    for part in [
        "ms  parse",
        "ms  pto-allocate-memory-addr",
        "3 TASSIGN checked at compile time",
        "after pto-allocate-memory-addr",
    ] {
        assert!(run.stderr.contains(part), "no {part} in {}", run.stderr);
    }
}

#[test]
fn wrong_usage_is_code_2() {
    for (name, arguments) in [
        ("unknown_flag", vec![KERNEL, "--emti=cpp"]),
        ("no_input", vec![]),
        ("unknown_pass", vec![KERNEL, "--print-after=pto-allocate"]),
        ("dry_run_alone", vec![KERNEL, "--dry-run"]),
        ("object_to_stdout", vec![KERNEL, "--emit=obj"]),
        ("no_folder", vec![KERNEL, "tests/cases/cli/plain.pto"]),
        ("one_name_twice", vec![KERNEL, KERNEL, "-o", "target/none/"]),
    ] {
        let run = run("ptoc", arguments);
        assert_eq!(run.code, Some(2), "{name}: {}", run.stderr);
        check(name, &run);
    }
    let _ = std::fs::remove_dir(repository().join("target/none"));
}

#[test]
fn help_and_version_are_not_errors() {
    assert!(run("ptoc", ["--version"]).succeeded().starts_with("ptoc "));
    let help = run("ptoc", ["--help"]).succeeded();
    assert_snapshot("cli", "ptoc_help", &help);
}

#[test]
fn a_missing_device_compiler_says_where_it_was_looked_for() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let object = folder.path().join("kernel.o");
    let mut command = Command::new(program("ptoc"));
    command.current_dir(repository()).args([KERNEL, "--emit=obj", "-o"]).arg(&object);
    command.env("PATH", "").env_remove("ASCEND_HOME_PATH").env_remove("PTO_LIB_PATH").env_remove("PTO_ISA_ROOT");
    let run = finish(&mut command, "");
    assert_eq!(run.code, Some(1));
    assert!(!object.exists());
    assert_snapshot("cli", "ptoc_no_device_compiler", &run.report(folder.path()));
}

#[test]
fn a_dry_run_prints_the_command() {
    let mut command = Command::new(program("ptoc"));
    command.current_dir(repository()).args([KERNEL, "--emit=obj", "--dry-run", "-o", "out/kernel.o"]);
    command.env("PATH", "").env_remove("ASCEND_HOME_PATH").env_remove("PTO_LIB_PATH").env_remove("PTO_ISA_ROOT");
    let run = finish(&mut command, "");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    for word in ["bisheng ", "--cce-aicore-arch=dav-c220-vec", "-std=c++17", "out/kernel.o"] {
        assert!(run.stdout.contains(word), "no {word} in {}", run.stdout);
    }
}

#[test]
fn standard_input_and_output() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = std::fs::read_to_string(repository().join(KERNEL)).expect("the kernel is there");
    let from_file = run("ptoc", [KERNEL]).succeeded();
    assert_eq!(from_file, run_with_input("ptoc", ["-"], &text).succeeded());
    assert_eq!(from_file, run_with_input("ptoc", ["-", "-o", "-"], &text).succeeded());
    assert_eq!(run_in(folder.path(), "ptoc", ["-"]).code, Some(0), "an empty module is a module");
}
