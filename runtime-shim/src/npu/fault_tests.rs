//! Seeded faults: kernels that synchronise well, and every way to take a piece of that away. What is not reported must
//! be on a list that says why it does no harm.
//!
//! The faults are made from the text of a kernel, one of them is chosen by an added parameter: so a kernel is compiled
//! once for all of them.

use std::collections::{BTreeMap, BTreeSet};

use super::tests::{Program, f32s};
use crate::{Arch, Argument, CompileOptions, Element, Outcome, Runner, Tensor};

/// A change of one line.
enum Edit {
    Replace(String),
    Before(String),
    After(String),
}

/// A fault: its kind, the line that it is about, and the changes.
struct Mutant {
    kind: &'static str,
    line: usize,
    edits: Vec<(usize, Edit)>,
}

/// A call that stands alone on a line.
#[derive(Clone)]
struct Call<'t> {
    /// Index of the line.
    at: usize,
    text: &'t str,
    name: &'t str,
    args: Vec<&'t str>,
    /// Loops around it, the outermost first, by the index of their line and their variable.
    loops: Vec<(usize, &'t str)>,
    /// Constants declared before it in the blocks around it.
    constants: String,
    /// Half of the core: how many sections have begun.
    section: usize,
    /// The braces around it.
    block: usize,
}

impl Call<'_> {
    fn is_flag(&self) -> bool {
        self.name == "set_flag" || self.name == "wait_flag"
    }

    fn pipes(&self) -> (usize, &str, &str) {
        (self.section, self.args[0], self.args[1])
    }

    /// An instruction of a pipe.
    fn works(&self) -> bool {
        self.name.starts_with('T') && self.name != "TASSIGN"
    }
}

/// The calls of a kernel in the order of its text.
fn calls(text: &str) -> Vec<Call<'_>> {
    let mut calls = Vec::new();
    let mut braces: Vec<(usize, Option<&str>)> = Vec::new();
    let mut constants = vec![String::new()];
    let (mut section, mut block) = (0, 0);
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        section += usize::from(line.starts_with("#if"));
        if line.starts_with('}') {
            braces.pop();
            constants.pop();
            block += 1;
        }
        if line.starts_with("const ") {
            *constants.last_mut().expect("one for each brace") += line;
        }
        let call = line.strip_suffix(");").and_then(|l| l.split_once('('));
        if let Some((name, args)) = call.filter(|(name, _)| name.chars().all(|c| c.is_alphanumeric() || c == '_')) {
            calls.push(Call {
                at,
                text: line,
                name,
                args: args.split(", ").collect(),
                loops: braces.iter().filter_map(|&(at, variable)| Some((at, variable?))).collect(),
                constants: constants.concat(),
                section,
                block,
            });
        }
        if line.ends_with('{') {
            let variable = line.strip_prefix("for (int32_t ").and_then(|l| l.split(' ').next());
            braces.push((at, variable));
            constants.push(String::new());
            block += 1;
        }
    }
    calls
}

/// Every fault of a kernel.
fn mutants(text: &str) -> Vec<Mutant> {
    let calls = calls(text);
    let named = |names: &'static [&'static str]| calls.iter().filter(move |c| names.contains(&c.name));
    let (sets, waits) = (|| named(&["set_flag"]), || named(&["wait_flag"]));
    let mut all = Vec::new();
    let mut add = |kind, call: &Call, edits| {
        all.push(Mutant { kind, line: call.at + 1, edits });
    };
    let drop = |call: &Call| (call.at, Edit::Replace(String::new()));

    // A flag, a barrier or a signal is missing.
    waits().for_each(|w| add("wait dropped", w, vec![drop(w)]));
    sets().for_each(|s| add("set dropped", s, vec![drop(s)]));
    for set in sets() {
        for wait in waits().filter(|w| w.args == set.args && w.section == set.section) {
            add("pair dropped", set, vec![drop(set), drop(wait)]);
        }
    }
    named(&["pipe_barrier"]).for_each(|b| add("barrier dropped", b, vec![drop(b)]));
    let signals: Vec<&Call> = named(&["signal_vectors", "signal_cube", "await_vectors", "await_cube"]).collect();
    signals.iter().for_each(|s| add("signal or wait dropped", s, vec![drop(s)]));
    let numbers: BTreeSet<&str> = signals.iter().filter_map(|s| s.args.last().copied()).collect();
    for number in numbers {
        let of_number: Vec<&&Call> = signals.iter().filter(|s| s.args.last() == Some(&number)).collect();
        add("signal number dropped", of_number[0], of_number.iter().map(|s| drop(s)).collect());
    }

    // The flags that a loop begins or ends with are missing.
    let outside = |c: &&Call| c.loops.is_empty();
    let looped = |c: &Call| waits().any(|w| w.pipes() == c.pipes() && !w.loops.is_empty());
    let groups: BTreeSet<_> = sets().filter(outside).filter(|s| looped(s)).map(Call::pipes).collect();
    for pipes in groups {
        let first: Vec<&Call> = sets().filter(outside).filter(|s| s.pipes() == pipes).collect();
        let last: Vec<&Call> = waits().filter(outside).filter(|w| w.pipes() == pipes).collect();
        // A pair before the loop is none of them.
        let Some(&end) = last.iter().find(|w| w.at > first[0].at + 8) else { continue };
        let dropped = |calls: &[&Call]| calls.iter().map(|c| drop(c)).collect::<Vec<_>>();
        add("pre-set dropped", first[0], dropped(&first));
        add("drain dropped", end, dropped(&last));
        add("pre-set and drain dropped", first[0], dropped(&[first, last].concat()));
    }

    // A wait covers less than it should.
    for wait in waits() {
        let Some(&(inner, variable)) = wait.loops.last() else { continue };
        let before = format!("const int32_t {variable} = 0; {} {}", wait.constants, wait.text);
        add("wait before the loop", wait, vec![drop(wait), (inner, Edit::Before(before))]);
        for (_, variable) in &wait.loops {
            let only = |test: &str| format!("if ({variable} {test} 0) {}", wait.text);
            add("wait in the first trip only", wait, vec![(wait.at, Edit::Replace(only("==")))]);
            add("no wait in the first trip", wait, vec![(wait.at, Edit::Replace(only("!=")))]);
        }
    }
    for (index, call) in calls.iter().enumerate() {
        if call.name == "wait_flag" {
            let mut next = calls[index + 1..].iter().take_while(|c| c.block == call.block);
            if let Some(work) = next.find(|c| c.works()) {
                add("wait after the instruction", call, vec![drop(call), (work.at, Edit::After(call.text.to_owned()))]);
            }
        }
        if call.name == "set_flag" {
            let mut before = calls[..index].iter().rev().take_while(|c| c.block == call.block);
            if let Some(work) = before.find(|c| c.works()) {
                add(
                    "set before the instruction",
                    call,
                    vec![drop(call), (work.at, Edit::Before(call.text.to_owned()))],
                );
            }
        }
    }

    // A flag goes to another pipe, or has another number.
    let pipes: BTreeSet<_> = waits().map(Call::pipes).collect();
    for (section, from, to) in pipes {
        let of_pipes: Vec<&Call> = calls.iter().filter(|c| c.is_flag() && c.pipes() == (section, from, to)).collect();
        for other in ["PIPE_V", "PIPE_MTE1", "PIPE_MTE2", "PIPE_MTE3", "PIPE_M", "PIPE_FIX"] {
            if other != from && other != to {
                let changed = |c: &&Call| (c.at, Edit::Replace(format!("{}({from}, {other}, {});", c.name, c.args[2])));
                add("other destination", of_pipes[0], of_pipes.iter().map(changed).collect());
            }
        }
    }
    for call in calls.iter().filter(|c| c.is_flag() && !c.args[2].starts_with("EVENT_ID")) {
        let text = format!("{}({}, {}, EVENT_ID0);", call.name, call.args[0], call.args[1]);
        add("number of the first buffer", call, vec![(call.at, Edit::Replace(text))]);
    }

    // A tile lies 32 bytes further.
    for call in named(&["TASSIGN"]) {
        let text = format!("TASSIGN({}, {} + 32);", call.args[0], call.args[1]);
        add("address shifted", call, vec![(call.at, Edit::Replace(text))]);
    }
    all
}

/// The text with all faults in it: the parameter `mutant` chooses one, from 1.
fn with_mutants(text: &str, mutants: &[Mutant]) -> String {
    let mut lines: Vec<(String, String, String)> =
        text.lines().map(|line| (String::new(), line.to_owned(), String::new())).collect();
    for (number, mutant) in mutants.iter().enumerate() {
        let chosen = format!("if (mutant == {})", number + 1);
        for (at, edit) in &mutant.edits {
            let (before, line, after) = &mut lines[*at];
            match edit {
                Edit::Before(text) => *before += &format!("{chosen} {{ {text} }} "),
                Edit::Replace(text) => *line = format!("{chosen} {{ {text} }} else {{ {} }}", line.trim()),
                Edit::After(text) => *after += &format!(" {chosen} {{ {text} }}"),
            }
        }
    }
    let entry = |line: &str| match line.contains("__global__") {
        true => line.replace(") {", ", int32_t mutant) {"),
        false => line.to_owned(),
    };
    lines.iter().map(|(before, line, after)| format!("{before}{}{after}\n", entry(line))).collect()
}

/// A kernel, its arguments, and what it must give in the last of them.
struct Subject {
    name: &'static str,
    text: &'static str,
    arguments: Vec<Argument>,
    expected: Vec<f64>,
}

/// Small integers that differ from place to place.
fn numbers(count: usize, seed: usize) -> Vec<f64> {
    (0..count).map(|i| ((i * 7 + i / 5 + seed * 3) % 17) as f64 - 8.0).collect()
}

fn tensor(element: Element, values: &[f64]) -> Argument {
    Argument::Tensor(Tensor::of(element, &[values.len()], values))
}

/// The product of `a` with `k` columns and `b` with `n` columns.
fn product(a: &[f64], b: &[f64], k: usize, n: usize) -> Vec<f64> {
    let element = |i: usize| (0..k).map(|t| a[i / n * k + t] * b[t * n + i % n]).sum();
    (0..a.len() / k * n).map(element).collect()
}

fn pipeline() -> Subject {
    let x = numbers(6 * 1024, 0);
    Subject {
        name: "pipeline",
        text: include_str!("../../testdata/pipeline.cpp"),
        expected: x.iter().map(|v| 2.0 * v + 1.0).collect(),
        arguments: vec![tensor(Element::F32, &x), Argument::Fresh(x.len() * 4)],
    }
}

fn tiled_matmul() -> Subject {
    let (a, b) = (numbers(32 * 256, 1), numbers(256 * 64, 2));
    Subject {
        name: "tiled_matmul",
        text: include_str!("../../testdata/tiled_matmul.cpp"),
        expected: product(&a, &b, 256, 64),
        arguments: vec![tensor(Element::F16, &a), tensor(Element::F16, &b), Argument::Fresh(32 * 64 * 4)],
    }
}

fn mixed() -> Subject {
    let (x, w) = (numbers(5 * 1024, 3), numbers(1024, 4));
    Subject {
        name: "mixed",
        text: include_str!("../../testdata/mixed.cpp"),
        expected: product(&x, &w, 32, 32).iter().map(|v| v + 1.0).collect(),
        arguments: vec![
            tensor(Element::F16, &x),
            tensor(Element::F16, &w),
            Argument::Fresh(2 * 1024 * 4),
            Argument::Fresh(x.len() * 4),
        ],
    }
}

/// A fault that does no harm: its kind and line, the target if it is only one, and the reason.
type Harmless = (&'static str, usize, Option<Arch>, &'static str);

/// Runs a kernel with each of its faults: as many as `total`, each of which is reported, or on the list of those that
/// do no harm. Prints a table.
fn check(subject: &Subject, total: usize, harmless: &[Harmless]) {
    std::thread::scope(|scope| {
        scope.spawn(|| check_on(Arch::A5, subject, total, harmless));
        check_on(Arch::A3, subject, total, harmless);
    });
}

fn check_on(arch: Arch, subject: &Subject, total: usize, harmless: &[Harmless]) {
    let mutants = mutants(subject.text);
    let program = Program::new(&with_mutants(subject.text, &mutants), &CompileOptions::new(arch));
    let run = |mutant: usize| -> Outcome {
        let runner = Runner::new(&program.kernel).limit(100_000);
        let runner = subject.arguments.iter().fold(runner, |runner, argument| runner.arg(argument.clone()));
        runner.arg(Argument::Int(mutant as i64)).run().expect("the arguments fit")
    };
    let right = |outcome: &Outcome| f32s(&outcome.memory[subject.arguments.len() - 1]) == subject.expected;
    let sound = run(0);
    assert_eq!(sound.findings, [], "{} on {arch:?} without a fault", subject.name);
    assert!(right(&sound), "{} on {arch:?}", subject.name);

    // How many there are of a kind, and how many of them were reported.
    let mut table: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut rules: BTreeMap<String, usize> = BTreeMap::new();
    let (mut unreported, mut wrong) = (Vec::new(), 0);
    for (number, mutant) in mutants.iter().enumerate() {
        let outcome = run(number + 1);
        let (all, found) = table.entry(mutant.kind).or_default();
        *all += 1;
        wrong += usize::from(!right(&outcome));
        if let Some(first) = outcome.findings.first() {
            *found += 1;
            *rules.entry(format!("{:?}", first.rule)).or_default() += 1;
        } else {
            assert!(right(&outcome), "{} in line {}: wrong numbers and no finding", mutant.kind, mutant.line);
            unreported.push((mutant.kind, mutant.line));
        }
    }
    let found = mutants.len() - unreported.len();
    let mut lines = vec![format!(
        "{} on {arch:?}: {found} of {} faults reported, first findings {rules:?}; {wrong} give wrong numbers",
        subject.name,
        mutants.len()
    )];
    lines.extend(table.iter().map(|(kind, (all, found))| format!("  {kind:32} {found:3} of {all:3}")));
    let expected: Vec<&Harmless> = harmless.iter().filter(|h| h.2.is_none_or(|only| only == arch)).collect();
    lines.extend(expected.iter().map(|(kind, line, _, why)| format!("  harmless: {kind}, line {line}: {why}")));
    println!("{}\n", lines.join("\n"));
    let expected: Vec<(&str, usize)> = expected.iter().map(|h| (h.0, h.1)).collect();
    assert_eq!(unreported, expected, "{} on {arch:?}: what is not reported", subject.name);
    assert_eq!((found, mutants.len()), (total - expected.len(), total), "{} on {arch:?}", subject.name);
}

#[test]
fn faults_of_a_vector_pipeline_are_reported() {
    let in_order = "from A5 on the vector pipe orders itself";
    let harmless = [
        ("barrier dropped", 30, Some(Arch::A5), in_order),
        ("barrier dropped", 34, Some(Arch::A5), in_order),
        ("address shifted", 11, None, "nothing lies above it"),
    ];
    check(&pipeline(), 79, &harmless);
}

#[test]
fn faults_of_a_tiled_product_are_reported() {
    let once = "it stands where k and s are zero";
    let both = "both buffers move, and nothing lies above them";
    let harmless = [
        ("wait in the first trip only", 47, None, once),
        ("wait in the first trip only", 47, None, once),
        ("address shifted", 15, None, "nothing lies above it"),
        ("address shifted", 29, None, both),
        ("address shifted", 39, None, both),
        ("address shifted", 40, None, both),
    ];
    check(&tiled_matmul(), 122, &harmless);
}

#[test]
fn faults_of_a_mixed_kernel_are_reported() {
    let other_pipe = "the instruction that it passes uses nothing that the flag guards";
    let alone = "nothing lies above it";
    let harmless = [
        ("set before the instruction", 39, None, other_pipe),
        ("set before the instruction", 40, None, other_pipe),
        ("set before the instruction", 41, None, other_pipe),
        ("set before the instruction", 42, None, other_pipe),
        ("address shifted", 30, None, alone),
        ("address shifted", 31, None, alone),
        ("address shifted", 32, None, alone),
        ("address shifted", 33, None, alone),
        ("address shifted", 46, None, "it reaches the weights, which are in L0B by then"),
        ("address shifted", 88, None, alone),
    ];
    check(&mixed(), 193, &harmless);
}
