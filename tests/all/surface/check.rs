//! What is done with the kernels of a family: all functions for a target go into one module, which is compiled once; each
//! function's call is looked for in the C++, and each function runs.

use super::build::{Case, Target};
use super::number::first_difference;
use super::vendor::{Agreement, Agreements, agree};
use pto_runtime_shim::{CompileOptions, Diagnostic, Error, Kernel, Runner, Severity};
use pto_tests::{Run, run};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// What became of a function.
#[derive(Clone, Debug)]
pub struct Fate {
    pub case: Case,
    /// Whether it compiles and its C++ has the call.
    pub emitted: Result<(), String>,
    /// Whether its runs gave what is expected.
    pub ran: Result<(), String>,
    /// Whether the vendor's simulator gives the same; none: it was not asked.
    pub agrees: Option<Agreement>,
}

/// What became of a kernel that must be refused.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub case: Case,
    pub refused: Result<(), String>,
}

/// Functions in one text, and the lines on which each stands (from 1).
struct Module<'c> {
    text: String,
    lines: Vec<(usize, usize, &'c Case)>,
}

impl<'c> Module<'c> {
    fn of(cases: &[&'c Case]) -> Module<'c> {
        let mut module = Module { text: "module {\n".to_owned(), lines: Vec::new() };
        let mut line = 2;
        for case in cases {
            let count = case.text.lines().count();
            module.lines.push((line, line + count, case));
            module.text += &case.text;
            line += count;
        }
        module.text += "}\n";
        module
    }

    /// The messages of a run by function.
    fn errors(&self, output: &Run) -> BTreeMap<String, String> {
        let mut errors = BTreeMap::new();
        for text in output.stderr.lines() {
            let Some((place, message)) = text.split_once(": error: ") else { continue };
            let line = place.rsplit(':').nth(1).and_then(|line| line.parse::<usize>().ok());
            let Some(line) = line else { continue };
            let case = self.lines.iter().find(|(from, to, _)| (*from..*to).contains(&line));
            if let Some((_, _, case)) = case {
                let known: &mut String = errors.entry(case.function.clone()).or_default();
                known.push_str(message);
                known.push('\n');
            }
        }
        errors
    }
}

/// Compiles functions to C++. Those that are refused come back with the message.
fn compile(cases: &[&Case], target: Target, folder: &Path) -> (String, BTreeMap<String, String>) {
    let mut refused = BTreeMap::new();
    loop {
        let left: Vec<&Case> = cases.iter().filter(|c| !refused.contains_key(&c.function)).copied().collect();
        let module = Module::of(&left);
        let source = folder.join("good.pto");
        fs::write(&source, &module.text).expect("the folder is writable");
        let output = run("ptoc", [source.to_string_lossy().into_owned(), format!("--arch={}", target.name())]);
        if output.code == Some(0) {
            return (output.stdout, refused);
        }
        let errors = module.errors(&output);
        assert!(!errors.is_empty(), "no function is named in:\n{}", output.stderr);
        refused.extend(errors);
    }
}

/// The text of a function's C++.
fn body<'t>(cpp: &'t str, function: &str) -> Option<&'t str> {
    let start = cpp.find(&format!("AICORE void {function}("))?;
    let length = cpp[start..].find("\n}")?;
    Some(&cpp[start..start + length])
}

/// Whether the C++ of a function has its call with all its operands.
fn emitted(cpp: &str, case: &Case) -> Result<(), String> {
    let body = body(cpp, &case.function).ok_or("it has no C++")?;
    let template = case.callee.unwrap_or(case.subject.facts().cpp);
    let callees: Vec<&str> = template
        .split("; ")
        .map(|call| call.split(['(', '<', '[']).next().unwrap_or(call).rsplit(['.', ' ']).next().unwrap_or(call))
        .collect();
    let mut lines = Vec::new();
    for callee in &callees {
        let calls: Vec<&str> = body.lines().filter(|line| is_call(line, callee)).collect();
        if calls.is_empty() {
            return Err(format!("no call of {callee} in\n{body}"));
        }
        lines.push(calls);
    }
    // One call has all operands; several calls have them together.
    let candidates: Vec<String> = match lines.as_slice() {
        [only] => only.iter().map(|line| (*line).to_owned()).collect(),
        several => vec![several.concat().join(" ")],
    };
    match candidates.iter().any(|text| case.names.iter().all(|name| names(text, name))) {
        true => Ok(()),
        false => Err(format!("no call of {callees:?} with {:?} in\n{body}", case.names)),
    }
}

fn is_call(line: &str, callee: &str) -> bool {
    line.match_indices(callee).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + callee.len()..].chars().next();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_') && matches!(after, Some('(' | '<' | ' '))
    })
}

/// Whether a text has a name; C++ or the library may have it already: then something follows.
fn names(text: &str, name: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| word.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('_')))
}

/// Kernels of the functions; those that clang refuses are left out, and come back with its messages.
fn kernels(
    cases: &[&Case],
    cpp: &str,
    target: Target,
    folder: &Path,
) -> (BTreeMap<String, Kernel>, BTreeMap<String, String>) {
    let mut text = cpp.to_owned();
    let mut refused: BTreeMap<String, String> = BTreeMap::new();
    let source = folder.join("good.cpp");
    loop {
        fs::write(&source, &text).expect("the folder is writable");
        let left: Vec<&str> =
            cases.iter().map(|c| c.function.as_str()).filter(|name| !refused.contains_key(*name)).collect();
        if left.is_empty() {
            return (BTreeMap::new(), refused);
        }
        match Kernel::compile_all(&source, &CompileOptions::new(target.arch()).unoptimised(), &left) {
            Ok(kernels) => return (left.iter().map(|name| (*name).to_owned()).zip(kernels).collect(), refused),
            Err(Error::Rejected { diagnostics, .. }) => {
                let blamed = blamed(&text, &diagnostics, "good.cpp");
                assert!(!blamed.is_empty(), "clang names no function: {diagnostics:?}");
                text = without(&text, blamed.keys());
                refused.extend(blamed);
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// The functions that clang's messages are about, each with its first one.
pub fn blamed(text: &str, diagnostics: &[Diagnostic], file: &str) -> BTreeMap<String, String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut blamed = BTreeMap::new();
    let mut message = String::new();
    for diagnostic in diagnostics {
        if diagnostic.severity == Severity::Error {
            message.clone_from(&diagnostic.message);
        }
        if !diagnostic.file.ends_with(file) || diagnostic.line as usize > lines.len() {
            continue;
        }
        let head = &lines[..diagnostic.line as usize];
        let name = head.iter().rev().find_map(|line| line.split_once("AICORE void ")?.1.split_once('('));
        if let Some((name, _)) = name {
            blamed.entry(name.to_owned()).or_insert_with(|| message.clone());
        }
    }
    blamed
}

/// The C++ without the bodies of some functions, line by line as long as before.
pub fn without<'n>(text: &str, names: impl Iterator<Item = &'n String>) -> String {
    let mut text = text.to_owned();
    for name in names {
        if let Some(body) = body(&text, name).map(str::to_owned) {
            let lines = "\n".repeat(body.lines().count() - 1);
            text = text.replacen(&body, &format!("AICORE void {name}_left_out() {{{lines}"), 1);
        }
    }
    text
}

/// Runs a kernel with all its arguments.
fn ran(case: &Case, kernel: &Kernel) -> Result<(), String> {
    for (number, parts) in case.runs.iter().enumerate() {
        let runner = parts.iter().fold(Runner::new(kernel), |runner, part| runner.arg(part.argument.clone()));
        let outcome = runner.run().map_err(|e| e.to_string())?;
        if let Some(finding) = outcome.findings.first() {
            return Err(format!("run {number}: {finding}"));
        }
        for (at, part) in parts.iter().enumerate() {
            let Some((want, close)) = &part.want else { continue };
            if let Some(difference) = first_difference(&outcome.memory[at], want, *close) {
                let name = &kernel.signature.parameters[at].name;
                return Err(format!("run {number}: {name} has {difference}"));
            }
        }
    }
    Ok(())
}

/// Compiles and runs the functions of a family for a target; with the vendor's headers (and a cache) there too.
pub fn examine(cases: Vec<Case>, target: Target, vendor: Option<(&Path, &Path)>) -> Vec<Fate> {
    if cases.is_empty() {
        return Vec::new();
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let all: Vec<&Case> = cases.iter().collect();
    let (cpp, refused) = compile(&all, target, folder.path());
    let good: Vec<&Case> = all.iter().filter(|c| !refused.contains_key(&c.function)).copied().collect();
    let (kernels, rejected) = kernels(&good, &cpp, target, folder.path());
    let agreements = vendor.map_or_else(Agreements::new, |(headers, cache)| {
        agree(&good, &kernels, &cpp, target, (headers, cache, folder.path()))
    });
    let fate = |case: &Case| {
        let agrees = agreements.get(&case.function).cloned();
        let emitted = match refused.get(&case.function) {
            Some(message) => Err(format!("refused: {message}")),
            None => emitted(&cpp, case),
        };
        let ran = match (kernels.get(&case.function), rejected.get(&case.function)) {
            (Some(kernel), _) => ran(case, kernel),
            (None, Some(message)) => Err(format!("clang: {message}")),
            (None, None) => Err("it does not compile".to_owned()),
        };
        Fate { case: case.clone(), emitted, ran, agrees }
    };
    cases.iter().map(fate).collect()
}

/// Compiles functions each of which must be refused, with `ptoas`. A run may end at the first that is: then the rest is
/// tried again.
pub fn refuse(cases: Vec<Case>, target: Target) -> Vec<Refusal> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (source, result) = (folder.path().join("bad.pto"), folder.path().join("bad.cpp"));
    let mut messages: BTreeMap<String, String> = BTreeMap::new();
    let mut accepted = String::new();
    loop {
        let left: Vec<&Case> = cases.iter().filter(|c| !messages.contains_key(&c.function)).collect();
        if left.is_empty() {
            break;
        }
        let module = Module::of(&left);
        fs::write(&source, &module.text).expect("the folder is writable");
        let paths = [&source, &result].map(|path| path.to_string_lossy().into_owned());
        let output = run("ptoas", [&paths[0], &format!("--pto-arch={}", target.name()), "-o", &paths[1]]);
        if result.exists() {
            accepted = "there is an output file".to_owned();
            break;
        }
        let mut errors = module.errors(&output);
        if errors.is_empty() {
            accepted = output.stderr;
            break;
        }
        // There is a limit to what is printed: the last function may have more to say.
        let last = left.iter().rev().find(|case| errors.contains_key(&case.function)).map(|case| &case.function);
        if let Some(last) = last.filter(|_| errors.len() > 1) {
            errors.remove(last);
        }
        messages.extend(errors);
    }
    let refusal = |case: &Case| {
        let refused = match messages.get(&case.function) {
            None => Err(format!("it is not refused: {accepted}")),
            Some(message) => names_what_is_wrong(case, message),
        };
        Refusal { case: case.clone(), refused }
    };
    cases.iter().map(refusal).collect()
}

/// A refusal has a code, the operation, and (where the element type is what is wrong) a tile.
fn names_what_is_wrong(case: &Case, message: &str) -> Result<(), String> {
    let op = format!("'pto.{}' op", case.subject.op);
    let missing = case.subject.target.legal(case.subject.facts()) == "-";
    let codes: &[&str] = if missing { &["PTO-0310"] } else { &["PTO-0311", "PTO-0204"] };
    let fits = |line: &str| {
        // Where types do not go together, the message has them instead of a tile.
        let has_tile = case.names.iter().any(|name| line.contains(&format!("(tile %{name})")));
        let says_what = missing || has_tile || line.contains(case.subject.ty.name);
        line.contains(&op) && says_what && codes.iter().any(|code| line.contains(code))
    };
    match message.lines().any(fits) {
        true => Ok(()),
        false => Err(format!("no message with one of {codes:?}, {op} and a tile in: {message}")),
    }
}
