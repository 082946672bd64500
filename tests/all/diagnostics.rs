//! Diagnostics of the programs: several in one run, as JSON, with the lines that `loc(...)` names; explanations.

use pto_tests::{Run, run, run_in, run_with_input};
use serde_json::Value;
use std::fs;

/// Three operations that are wrong in ways of their own, in two functions.
const THREE: &str = "!v = !pto.tile_buf<vec, 16x64xf32>
!h = !pto.tile_buf<vec, 16x64xf16>
module {
  func.func @f() {
    %a = pto.alloc_tile : !v
    %b = pto.alloc_tile : !h
    pto.tadd ins(%a, %b : !v, !h) outs(%a : !v)
    pto.tmul ins(%b, %a : !h, !v) outs(%b : !h)
    return
  }
  func.func @g() {
    %x = arith.constant 7 : index
    %a = pto.alloc_tile valid_row = %x : !v
    return
  }
}
";

fn objects(run: &Run) -> Vec<Value> {
    run.stderr.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

#[test]
fn independent_errors_are_reported_together() {
    let run = run_with_input("ptoc", ["-"], THREE);
    assert_eq!(run.code, Some(1));
    let lines: Vec<&str> = run.stderr.lines().filter(|line| line.contains("error: [")).collect();
    let starts = ["<stdin>:7:5: error: [PTO-0", "<stdin>:8:5: error: [PTO-0", "<stdin>:13:10: error: ["];
    assert_eq!(lines.len(), starts.len(), "{}", run.stderr);
    for (line, start) in lines.iter().zip(starts) {
        assert!(line.starts_with(start), "expected {start}, found {line}");
    }
}

#[test]
fn a_flood_is_cut_and_counted() {
    let wrong = "    pto.tadd ins(%a, %b : !v, !h) outs(%a : !v)\n";
    let text = THREE.replace(wrong, &wrong.repeat(70));
    let run = run_with_input("ptoc", ["-"], &text);
    assert_eq!(run.stderr.matches("error: [").count(), 50);
    assert!(run.stderr.contains("22 more messages are not shown"), "{}", run.stderr);
}

#[test]
fn mlirs_own_errors_have_codes() {
    for (text, code) in [
        ("module { func.func @f() { %a = pto.nonsense : i32 return } }", "[PTO-0101]"),
        ("module {", "[PTO-0101]"),
        ("module { func.func @f() -> i32 { return } }", "[PTO-0102] 'func.return' op"),
    ] {
        let run = run_with_input("ptoc", ["-"], text);
        assert!(run.code == Some(1) && run.stderr.contains(code), "{}", run.stderr);
    }
}

#[test]
fn json_has_one_object_a_line() {
    for program in ["ptoc", "ptoas"] {
        let run = run_with_input(program, ["-", "--diagnostics=json"], THREE);
        assert_eq!(run.code, Some(1));
        let json = Run {
            stderr: run.stderr.lines().filter(|l| l.starts_with('{')).map(|l| format!("{l}\n")).collect(),
            ..run
        };
        let all = objects(&json);
        assert_eq!(all.len(), 3);
        let first = &all[0];
        assert_eq!((&first["severity"], &first["line"], &first["column"]), (&"error".into(), &7.into(), &5.into()));
        assert_eq!(first["source"], "    pto.tadd ins(%a, %b : !v, !h) outs(%a : !v)");
        assert!(first["code"].as_str().is_some_and(|code| code.starts_with("PTO-02")));
        assert!(first["message"].as_str().is_some_and(|text| text.contains("'pto.tadd' op") && !text.starts_with('[')));
        assert_eq!(all[2]["value"], "a", "the value that is defined there");
    }
}

#[test]
fn json_keeps_notes_with_what_they_belong_to() {
    let all = objects(&run("ptoc", ["tests/cases/cli/misplaced.pto", "--diagnostics=json"]));
    let misaligned = all.iter().find(|object| object["code"] == "SA-0354").expect("an address of 100");
    let advice = misaligned["notes"][0]["message"].as_str().unwrap_or_default();
    assert!(advice.starts_with("FIX-A12: "), "{misaligned}");
}

#[test]
fn json_also_tells_what_is_wrong_around_the_input() {
    let missing = objects(&run("ptoc", ["no/such/file.pto", "--diagnostics=json"]));
    assert_eq!((missing.len(), &missing[0]["code"]), (1, &"PTO-0001".into()));
    let nowhere = run_with_input("ptoc", ["-", "-o", "no/such/folder/k.cpp", "--diagnostics=json"], "module {}");
    assert_eq!((nowhere.code, &objects(&nowhere)[0]["code"]), (Some(1), &"PTO-0002".into()));
    let usage = run("ptoc", ["x.pto", "--arch=a9", "--diagnostics=json"]);
    assert_eq!((usage.code, &objects(&usage)[0]["code"]), (Some(2), &"PTO-0003".into()));
}

#[test]
fn findings_of_a_run_are_json_too() {
    let text = "module {\n  func.func @f(%p: !pto.ptr<f32>) attributes {pto.entry} {\n    %c = arith.constant 5 : index\n    %x = arith.constant 1.0 : f32\n    pto.store_scalar %x, %p[%c] : !pto.ptr<f32>, f32\n    return\n  }\n}\n";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let kernel = folder.path().join("k.pto");
    fs::write(&kernel, text).expect("write it");
    let kernel = kernel.display().to_string();
    let run = run("pto-run", [&kernel, "--arg", "p=zeros:f32[2]", "--diagnostics=json", "--quiet"]);
    let found: Vec<Value> = run.stderr.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert_eq!((run.code, found.len()), (Some(1), 1), "{}", run.stderr);
    assert_eq!((&found[0]["code"], &found[0]["line"]), (&"PTO-0803".into(), &5.into()));
}

/// A front-end's `loc("kernel.py":3:5)` shows the line of that file, and nothing where there is none.
#[test]
fn lines_of_other_files_are_shown() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("kernel.py"), "one\ntwo\n    total = a + b\n").expect("write it");
    let text = THREE.replace("outs(%a : !v)\n", "outs(%a : !v) loc(\"kernel.py\":3:5)\n");
    fs::write(folder.path().join("k.pto"), &text).expect("write it");
    let shown = run_in(folder.path(), "ptoc", ["k.pto"]).stderr;
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].starts_with("kernel.py:3:5: error: [PTO-02"), "{shown}");
    assert_eq!(&lines[1..3], ["        total = a + b", "        ^"], "{shown}");
    fs::remove_file(folder.path().join("kernel.py")).expect("it is there");
    let alone = run_in(folder.path(), "ptoc", ["k.pto"]).stderr;
    assert!(alone.starts_with("kernel.py:3:5: error: [PTO-02") && !alone.contains("total"), "{alone}");
}

#[test]
fn codes_are_explained() {
    let one = run("ptoc", ["explain", "PTO-0602"]).succeeded();
    assert!(one.starts_with("PTO-0602: ") && one.contains("To fix:"), "{one}");
    let list = run("ptoc", ["explain"]).succeeded();
    assert!(list.lines().any(|line| line.starts_with("SA-0353  ")), "{list}");
    let unknown = run("ptoc", ["explain", "PTO-1234"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("there is no code 'PTO-1234'"), "{}", unknown.stderr);
}

/// A valid extent from run time that is negative or too large stops the kernel with its place.
#[test]
fn extents_are_checked_at_run_time_when_asked() {
    let text = "!v = !pto.tile_buf<vec, 16x64xf32, valid=16x?>
module {
  func.func @f(%n: index) attributes {pto.entry} {
    %zero = arith.constant 0.0 : f32
    %c384 = arith.constant 384 : index
    %w = arith.subi %n, %c384 : index
    %t = pto.alloc_tile valid_col = %w : !v
    pto.texpands ins(%zero : f32) outs(%t : !v)
    return
  }
}
";
    let plain = run_with_input("ptoc", ["-"], text).succeeded();
    assert!(!plain.contains("trap"));
    let cpp = run_with_input("ptoc", ["-", "--runtime-checks"], text).succeeded();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let kernel = folder.path().join("k.cpp");
    fs::write(&kernel, cpp).expect("write it");
    let kernel = kernel.display().to_string();
    let good = run("pto-run", [&kernel, "--arg", "n=400"]);
    assert_eq!(good.code, Some(0), "{}", good.stderr);
    for (n, found) in [("100", "-284"), ("449", "65")] {
        let bad = run("pto-run", [&kernel, "--arg", &format!("n={n}")]);
        assert_ne!(bad.code, Some(0), "{}", bad.stderr);
        let wanted = format!("<stdin>:7: valid_col of tile %t is {found}, expected 0 to 64");
        assert!(bad.stdout.contains(&wanted), "{}\n{}", bad.stdout, bad.stderr);
    }
}
