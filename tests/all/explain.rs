//! `docs/diagnostics.md`: every code has its section, and what the sections show is so.
//!
//! A section's first block that is no `sh` is wrong in exactly the way that its code means; those behind it are right. A
//! block's first line says what runs it: `mlir` and `python` are for `ptoc`, `cpp` and `mlir run` for `pto-run`, with the
//! options behind.

use pto_tests::{Case, Run, each_case, files_below, repository, run, run_in};
use std::{collections::BTreeSet, fs};

const DOCUMENT: &str = "docs/diagnostics.md";

/// Codes without an example that can be run, and why.
const WITHOUT_EXAMPLE: &[(&str, &str)] = &[
    ("PTO-0001", "about a file that is not there"),
    ("PTO-0002", "about a place that cannot be written to"),
    ("PTO-0004", "depends on what is installed"),
    ("PTO-0070", "a bug, which nobody knows yet"),
    ("PTO-0103", "an example of 500 loops in one another teaches nobody"),
    ("PTO-0307", "ptoc says PTO-0003 before it reads the input; only ptoas and the library come so far"),
    ("PTO-0342", "only operations of unknown dialects, which only ptoas reads, branch in another way"),
    ("PTO-0410", "only a pass pipeline that leaves a pass out"),
];

/// What stands under a code.
struct Section {
    code: String,
    text: String,
    blocks: Vec<Block>,
}

/// A fenced block.
struct Block {
    info: Vec<String>,
    text: String,
}

impl Block {
    fn is_runnable(&self) -> bool {
        self.info.first().is_some_and(|language| language != "sh")
    }

    /// Gives it to its program, alone in a folder.
    fn run(&self) -> Run {
        let mut words = self.info.iter().map(String::as_str).peekable();
        let (extension, simulated) = match words.next() {
            Some("mlir") => ("pto", words.next_if_eq(&"run").is_some()),
            Some("python") => ("py", words.next_if_eq(&"run").is_some()),
            Some("cpp") => ("cpp", true),
            other => panic!("{DOCUMENT}: a block of {other:?}; expected mlir, python, cpp or sh"),
        };
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = format!("example.{extension}");
        fs::write(folder.path().join(&file), &self.text).expect("write the example");
        run_in(folder.path(), if simulated { "pto-run" } else { "ptoc" }, std::iter::once(file.as_str()).chain(words))
    }
}

fn sections() -> Vec<Section> {
    let text = fs::read_to_string(repository().join(DOCUMENT)).expect("the document is there");
    let mut sections: Vec<Section> = Vec::new();
    let mut open: Option<Block> = None;
    for line in text.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => {
                let info = info.split_whitespace().map(str::to_owned).collect();
                open = Some(Block { info, text: String::new() });
            }
            (Some(_), Some(_)) => {
                let block = open.take().expect("it is open");
                sections.last_mut().expect("blocks stand in sections").blocks.push(block);
            }
            (Some(block), None) => {
                let heading = line.starts_with("# ") || line.starts_with("## ");
                assert!(!heading, "a line of an example would end its section in `ptoc explain`: {line}");
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => match (line.strip_prefix("## "), sections.last_mut()) {
                (Some(head), _) => {
                    let (code, _title) = head.split_once(' ').expect("a heading is a code and a title");
                    let (code, text) = (code.to_owned(), String::new());
                    sections.push(Section { code, text, blocks: Vec::new() });
                }
                (None, Some(section)) => section.text.extend([line, "\n"]),
                (None, None) => {}
            },
        }
    }
    assert!(open.is_none(), "{DOCUMENT}: a block is not closed");
    sections
}

fn is_code(word: &str) -> bool {
    let digits = word.strip_prefix("PTO-").or_else(|| word.strip_prefix("SA-"));
    digits.is_some_and(|d| d.len() == 4 && d.bytes().all(|b| b.is_ascii_digit()))
}

/// Every code that stands as a string in what the programs are made of, without their tests.
fn codes_of_the_sources() -> BTreeSet<String> {
    let crates = ["dialect", "codegen", "compiler", "runtime-shim"];
    let files = crates.iter().flat_map(|name| files_below(&repository().join(name)));
    let is_source = |path: &std::path::Path| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let folders: Vec<_> = path.iter().collect();
        path.extension().is_some_and(|e| e == "rs" || e == "cpp")
            && !folders.iter().any(|f| *f == "tests" || *f == "target")
            && name != "tests"
            && !name.ends_with("_tests")
    };
    let mut codes = BTreeSet::new();
    // `files_below` gives whole paths: those of the repository itself do not count.
    for path in files.filter(|p| is_source(p.strip_prefix(repository()).unwrap_or(p))) {
        let text = fs::read_to_string(&path).expect("sources are text");
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        codes.extend(code.split(['"', '[', ']']).filter(|word| is_code(word)).map(str::to_owned));
    }
    codes
}

#[test]
fn every_code_has_a_section_and_every_section_a_code() {
    let mut explained = BTreeSet::new();
    for section in sections() {
        assert!(explained.insert(section.code.clone()), "{} has two sections", section.code);
        assert!(section.text.contains("\nTo fix: "), "{} does not say how to put it right", section.code);
    }
    let reported = codes_of_the_sources();
    assert!(reported.len() > 80, "only {} codes were found in the sources", reported.len());
    let unexplained: Vec<_> = reported.difference(&explained).collect();
    let unknown: Vec<_> = explained.difference(&reported).collect();
    assert!(unexplained.is_empty(), "{DOCUMENT} lacks {unexplained:?}");
    assert!(unknown.is_empty(), "{DOCUMENT} explains codes that nothing reports: {unknown:?}");
}

#[test]
fn the_program_finds_the_same_sections() {
    let listed = run("ptoc", ["explain"]).succeeded();
    let listed: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let sections = sections();
    assert_eq!(listed, sections.iter().map(|s| s.code.as_str()).collect::<Vec<_>>());
    for section in [&sections[0], &sections[sections.len() - 1]] {
        let shown = run("ptoc", ["explain", &section.code]).succeeded();
        assert!(shown.contains("\nTo fix: "), "{shown}");
    }
}

#[test]
fn every_code_has_an_example_or_a_reason() {
    for section in sections() {
        let runnable = section.blocks.iter().filter(|b| b.is_runnable()).count();
        match WITHOUT_EXAMPLE.iter().find(|(code, _)| *code == section.code) {
            Some((code, why)) => assert_eq!(runnable, 0, "{code} has an example; it was said to have none: {why}"),
            None => assert!(runnable >= 2, "{} needs a wrong program and one put right", section.code),
        }
    }
}

/// Runs the sections' blocks whose language is one of these.
fn examples_are_as_said(languages: &[&str]) {
    let of_language = |s: &Section| {
        let first = s.blocks.iter().find(|b| b.is_runnable()).and_then(|b| b.info.first());
        first.is_some_and(|language| languages.contains(&language.as_str()))
    };
    let sections: Vec<Section> = sections().into_iter().filter(of_language).collect();
    assert!(!sections.is_empty(), "no examples in {languages:?}");
    let cases: Vec<Case> = sections
        .iter()
        .map(|s| Case { path: repository().join(DOCUMENT), name: s.code.clone(), text: String::new() })
        .collect();
    each_case(&cases, |case| {
        let section = sections.iter().find(|s| s.code == case.name).expect("each case is a section");
        let mut blocks = section.blocks.iter().filter(|b| b.is_runnable());
        let marked = format!("[{}]", section.code);
        let wrong = blocks.next().expect("it has one").run();
        assert!(wrong.stderr.contains(&marked), "{}: the wrong program gives\n{}", section.code, wrong.stderr);
        for right in blocks {
            let right = right.run();
            let clean = right.code == Some(0) && !right.stderr.contains("error:") && !right.stderr.contains(&marked);
            assert!(clean, "{}: the program put right gives\n{}", section.code, right.stderr);
        }
    });
}

#[test]
fn examples_for_the_compiler_are_as_said() {
    examples_are_as_said(&["mlir", "python"]);
}

#[test]
fn examples_for_the_simulated_npu_are_as_said() {
    examples_are_as_said(&["cpp"]);
}
