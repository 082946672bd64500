//! What is printed can be parsed again and prints the same, in the dialect's spelling and in MLIR's generic one.

use crate::assert_snapshot;
use pto_tests::{Case, case_files, cases, each_case, run, run_with_input};

fn all() -> Vec<Case> {
    let all = case_files(&cases("roundtrip"));
    assert!(all.len() >= 9, "one file per family of operations");
    all
}

#[test]
fn canonical_spelling() {
    each_case(&all(), |case| {
        let printed = run("pto-opt", [case.relative()]).succeeded();
        assert_snapshot("roundtrip", &case.name, &printed);
    });
}

#[test]
fn printed_text_is_a_fixed_point() {
    each_case(&all(), |case| {
        let printed = run("pto-opt", [case.relative()]).succeeded();
        let again = run_with_input("pto-opt", ["-"], &printed).succeeded();
        assert_eq!(printed, again);
    });
}

#[test]
fn generic_form_means_the_same() {
    each_case(&all(), |case| {
        let printed = run("pto-opt", [case.relative()]).succeeded();
        let generic = run("pto-opt", [&case.relative(), "--mlir-print-op-generic"]).succeeded();
        assert!(generic.contains("\"builtin.module\"()"));
        let again = run_with_input("pto-opt", ["-"], &generic).succeeded();
        assert_eq!(printed, again);
    });
}

/// Every operation of the dialect stands in a roundtrip case.
#[test]
fn no_operation_is_forgotten() {
    let text: String = all().into_iter().map(|case| case.text).collect();
    let printed: String = all().iter().map(|case| run("pto-opt", [case.relative()]).stdout).collect();
    let missing: Vec<String> =
        mnemonics().into_iter().filter(|m| ![&text, &printed].iter().any(|t| names(t, m))).collect();
    assert!(missing.is_empty(), "no roundtrip case has {}", missing.join(", "));
}

fn names(text: &str, mnemonic: &str) -> bool {
    let wanted = format!("pto.{mnemonic}");
    text.match_indices(&wanted).any(|(at, _)| {
        !text[at + wanted.len()..].starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))
    })
}

/// The mnemonics of all operations, from the definitions.
fn mnemonics() -> Vec<String> {
    let mut found: Vec<String> = pto_tests::files_below(&pto_tests::repository().join("dialect/td"))
        .into_iter()
        .flat_map(|file| {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            text.lines().filter_map(defined_mnemonic).collect::<Vec<_>>()
        })
        .collect();
    found.sort();
    assert!(found.len() > 100, "the definitions were not found");
    found
}

/// `def TAddOp : BinaryTileOp<"tadd", ...` defines `tadd`; a matrix product's class adds its suffix.
fn defined_mnemonic(line: &str) -> Option<String> {
    let rest = line.strip_prefix("def ")?;
    let (name, class) = rest.split_once(" : ")?;
    let first = class.split_once("<\"")?.1.split_once('"')?.0;
    if !name.ends_with("Op") {
        return None;
    }
    let suffix = match class.split('<').next()? {
        "MatmulAccOp" => ".acc",
        "MatmulBiasOp" => ".bias",
        "MatmulMxOp" => ".mx",
        "MatmulMxAccOp" => ".mx.acc",
        "MatmulMxBiasOp" => ".mx.bias",
        _ => "",
    };
    Some(format!("{first}{suffix}"))
}
