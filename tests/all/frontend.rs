//! Front-end programs (`.py`): addresses, round trips, lowering, messages.
//!
//! `cases/frontend/memory`: programs with the placement that each must get. A file holds several, each under a line
//! `# ---- name: what it shows`, with directives in comments below it:
//!
//! - `run ARGUMENTS`: what `ptoc` is called with, `--planner=sequential` when not said otherwise
//! - `tile NAME SPACE ADDRESS BYTES`, `reserve NAME BASE`, `allocs NAME...` (all of them, in order), `functions NAME...`
//! - `first_statement TEXT`: how the first function's body begins in `--emit=frontend`
//! - `error TEXT`, `no_error TEXT`: what messages hold, and what not
//!
//! `cases/frontend/roundtrip`: printing the placed program and reading it again changes nothing.
//! `cases/frontend/lower`: the module that comes of a program, as a snapshot; every operation occurs in some file.
//! `cases/frontend/errors`: wrong programs, with what is said about them.
//!
//! `PTO_PYPTO_SAMPLES=DIR` names a folder of PyPTO programs with the addresses that PyPTO gave them (`4-after-reuse.py`
//! or `4b-after-legalize.py`, `placed.addr.json`): then those are compared, too.

use crate::assert_snapshot;
use pto_tests::{Run, case_files, cases, each_case, repository, run, run_with_input};
use serde_json::Value;
use std::{fs, path::Path};

/// A program of a file with several.
struct Program<'t> {
    name: &'t str,
    text: &'t str,
}

fn programs(text: &str) -> Vec<Program<'_>> {
    let mut found = Vec::new();
    for part in text.split("# ---- ").skip(1) {
        let name = part.split([':', '\n']).next().unwrap_or_default();
        let body = part.split_once('\n').map_or("", |(_, rest)| rest);
        found.push(Program { name, text: body });
    }
    found
}

impl Program<'_> {
    fn directives<'s>(&'s self, kind: &'s str) -> impl Iterator<Item = &'s str> {
        let is_it = move |line: &'s str| line.strip_prefix("# ")?.strip_prefix(kind);
        self.text.lines().filter_map(is_it).filter(|rest| rest.is_empty() || rest.starts_with(' ')).map(str::trim)
    }

    fn compile(&self, emit: &str) -> Run {
        let said = self.directives("run").next().unwrap_or("--planner=sequential");
        let emit = format!("--emit={emit}");
        let arguments = ["-", "-o", "-", emit.as_str()].into_iter().chain(said.split_whitespace());
        run_with_input("ptoc", arguments, self.text)
    }

    fn check(&self) {
        let name = self.name;
        let run = self.compile("placement");
        let errors: Vec<&str> = self.directives("error").collect();
        for text in &errors {
            assert!(run.stderr.contains(text), "{name}: expected '{text}' in\n{}", run.stderr);
        }
        for text in self.directives("no_error") {
            assert!(!run.stderr.contains(text), "{name}: unexpected '{text}' in\n{}", run.stderr);
        }
        if !errors.is_empty() {
            assert_eq!(run.code, Some(1), "{name}");
            return assert!(run.stdout.is_empty(), "{name}: a product after an error");
        }
        let placement: Value = serde_json::from_str(&run.succeeded()).expect("--emit=placement prints JSON");
        self.check_placement(&placement);
        for text in self.directives("first_statement") {
            let printed = self.compile("frontend").succeeded();
            let body = printed.split_once("):\n").or_else(|| printed.split_once("]:\n")).map_or("", |(_, body)| body);
            assert_eq!(body.lines().next().map(str::trim), Some(text), "{name}:\n{printed}");
        }
    }

    fn check_placement(&self, placement: &Value) {
        let name = self.name;
        let all = |list: &str| -> Vec<Value> {
            let functions = placement.as_array().expect("a list of functions");
            functions.iter().flat_map(|f| f[list].as_array().cloned().unwrap_or_default()).collect()
        };
        for stated in self.directives("tile") {
            let words: Vec<&str> = stated.split_whitespace().collect();
            let found = all("tiles").into_iter().find(|t| t["var"] == words[0]);
            let found = found.unwrap_or_else(|| panic!("{name}: no tile {} in\n{placement:#}", words[0]));
            let text = format!("{} {} {} {}", words[0], field(&found, "space"), found["addr"], found["size"]);
            assert_eq!(text, stated, "{name}");
        }
        for stated in self.directives("reserve") {
            let known: Vec<String> =
                all("reserve").iter().map(|r| format!("{} {}", field(r, "name"), r["base"])).collect();
            assert!(known.iter().any(|k| k == stated), "{name}: reserve {stated}, found {known:?}");
        }
        for stated in self.directives("allocs") {
            let known: Vec<String> = all("allocs").iter().map(|a| field(a, "base").to_owned()).collect();
            assert_eq!(known.join(" "), stated, "{name}");
        }
        for stated in self.directives("functions") {
            let known: Vec<&str> = placement.as_array().into_iter().flatten().map(|f| field(f, "func")).collect();
            assert_eq!(known.join(" "), stated, "{name}");
        }
    }
}

fn field<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

#[test]
fn placements_are_as_stated() {
    each_case(&case_files(&cases("frontend/memory")), |case| {
        let programs = programs(&case.text);
        assert!(!programs.is_empty(), "{} holds no program", case.relative());
        for program in programs {
            program.check();
        }
    });
}

#[test]
fn placed_programs_read_back_unchanged() {
    let all = case_files(&cases("frontend/roundtrip"));
    // What says no types cannot be placed; that it prints as it reads is a test of the parser's own.
    let placed: Vec<_> = all.into_iter().filter(|case| !case.text.contains("(only parsed)")).collect();
    each_case(&placed, |case| {
        let once = run("ptoc", [case.relative().as_str(), "--emit=frontend", "-o", "-"]).succeeded();
        let twice = run_with_input("ptoc", ["-", "--emit=frontend", "-o", "-"], &once).succeeded();
        assert_eq!(once, twice, "{}", case.relative());
    });
}

#[test]
fn lowering() {
    each_case(&case_files(&cases("frontend/lower")), |case| {
        let arch = case.directive("ARCH").unwrap_or("a3");
        let arguments =
            [case.relative().to_string(), format!("--arch={arch}"), "--sync=none".to_owned(), "-o".into(), "-".into()];
        let cpp = run("ptoc", arguments.iter().map(String::as_str)).succeeded();
        assert_snapshot("frontend/lower", &case.name, &cpp);
    });
}

#[test]
fn messages() {
    each_case(&case_files(&cases("frontend/errors")), |case| {
        let run = run("ptoc", [case.relative().as_str(), "-o", "-"]);
        assert_eq!(run.code, Some(1), "{}:\n{}", case.relative(), run.stderr);
        assert_snapshot("frontend/errors", &case.name, &run.report(&repository()));
    });
}

#[test]
fn every_tile_operation_is_lowered_by_some_case() {
    let table = fs::read_to_string(repository().join("compiler/src/frontend/ops.rs")).expect("the table is there");
    let cases: String = case_files(&cases("frontend/lower")).into_iter().map(|c| c.text).collect();
    let names = table.split('"').filter(|part| part.starts_with("tile.") && !part.contains(' '));
    let keywords = ["and", "or", "not"];
    // No C++ form yet (messages: gather_compare.py).
    let without = ["tile.gather_compare"];
    let missing: Vec<&str> = names
        .filter(|name| !without.contains(name))
        .filter(|name| {
            let last = name.trim_start_matches("tile.");
            let spelled = if keywords.contains(&last) { format!("{name}_(") } else { format!("{name}(") };
            !cases.contains(&spelled)
        })
        .collect();
    assert!(missing.is_empty(), "no case in tests/cases/frontend/lower uses {missing:?}");
}

#[test]
fn samples_get_the_addresses_of_their_source() {
    let Some(folder) = std::env::var_os("PTO_PYPTO_SAMPLES") else {
        eprintln!("skipped: set PTO_PYPTO_SAMPLES to a folder of PyPTO programs");
        return;
    };
    let mut compared = 0;
    let entries = fs::read_dir(&folder).expect("PTO_PYPTO_SAMPLES is a folder");
    for entry in entries.filter_map(Result::ok) {
        let folder = entry.path();
        let names = ["4b-after-legalize.py", "4-after-reuse.py"];
        let Some(source) = names.iter().map(|n| folder.join(n)).find(|p| p.is_file()) else { continue };
        compare_sample(&folder, &source);
        compared += 1;
    }
    assert!(compared > 0, "no programs in {}", folder.display());
}

fn compare_sample(folder: &Path, source: &Path) {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let arch = if name.contains("-a5-") { "a5" } else { "a3" };
    let order = if name.contains("-older-") { "id" } else { "name" };
    let arguments = [
        source.to_string_lossy().into_owned(),
        "--planner=sequential".to_owned(),
        format!("--order={order}"),
        format!("--arch={arch}"),
        "--emit=placement".to_owned(),
    ];
    let ours: Value = serde_json::from_str(&run("ptoc", &arguments).succeeded()).expect("JSON");
    let text = fs::read_to_string(folder.join("placed.addr.json")).expect("the addresses are there");
    let theirs: Value = serde_json::from_str(&text).expect("JSON");
    let tiles = |placement: &Value| -> Vec<String> {
        let functions = placement.as_array().cloned().unwrap_or_default();
        let all = functions.iter().flat_map(|f| {
            let known = f["tiles"].as_array().cloned().unwrap_or_default();
            known
                .into_iter()
                .filter(|t| t["addr"].is_i64())
                .map(|t| format!("{} {} {} {}", field(f, "func"), field(&t, "var"), field(&t, "space"), t["addr"]))
        });
        all.collect()
    };
    let ours = tiles(&ours);
    for tile in tiles(&theirs) {
        assert!(ours.contains(&tile), "{name}: {tile} is elsewhere");
    }
}
