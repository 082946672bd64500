//! What every operation means: a walk over the facts of the dialect.
//!
//! For each operation, target and element type that the facts allow there is a generated kernel: it compiles, its C++ has
//! the call, and it runs on the simulated NPU with random and extreme numbers and gives what a computation written here
//! gives. For each element type that they do not allow, and each target that lacks the operation, a generated kernel is
//! refused. An operation, an element type or a target without a kernel fails the walk.
//!
//! A table of operations for each family stands in `surface/`; operations that compute nothing are in `structure.rs`, with
//! the cases that cover them.

mod build;
mod check;
mod convert;
mod elementwise;
mod gather;
mod irregular;
mod matrix;
mod moves;
mod number;
mod reduce;
mod row;
mod scaled;
mod structure;
mod vendor;

use build::{Subject, TARGETS, Target};
use check::{Fate, Refusal, examine, refuse};
use number::TYPES;
use pto_dialect::OP_FACTS;
use pto_runtime_shim::HostCompiler;
use row::Row;
use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock};
use vendor::Agreement;

/// The families: operations that are compiled together.
const FAMILIES: &[(&str, &[Row])] = &[
    ("elementwise", elementwise::ROWS),
    ("reduce", reduce::ROWS),
    ("moves", moves::ROWS),
    ("gather", gather::ROWS),
    ("irregular", irregular::ROWS),
    ("convert", convert::ROWS),
    ("matrix", matrix::ROWS),
    ("scaled", scaled::ROWS),
];

/// Legal element types that no kernel runs: operation, target, types, why.
const EXCEPTIONS: &[(&str, &str, &str, &str)] = &[
    ("tload", "a5", FOUR_BITS, COUNTING),
    ("tprefetch", "a5", FOUR_BITS, COUNTING),
    ("tstore", "a5", FOUR_BITS, COUNTING),
    ("textract", "a5", FOUR_BITS, COUNTING),
    ("tinsert", "a5", FOUR_BITS, COUNTING),
    ("tcvt", "a5", FOUR_BITS, COUNTING),
    ("tmatmul.mx", "a5", FOUR_BITS, COUNTING),
    ("tmatmul.mx.acc", "a5", FOUR_BITS, COUNTING),
    ("tmatmul.mx.bias", "a5", FOUR_BITS, COUNTING),
    ("tgemv.mx", "a5", FOUR_BITS, COUNTING),
    ("tgemv.mx.acc", "a5", FOUR_BITS, COUNTING),
    ("tgemv.mx.bias", "a5", FOUR_BITS, COUNTING),
];

const FOUR_BITS: &str = "f4e2m1x2 f4e1m2x2";
const COUNTING: &str = "columns of tiles and of views count values or pairs of them, and not in step";

/// Whether no kernel needs to run.
fn excused(op: &str, target: Target, ty: &number::Type) -> bool {
    EXCEPTIONS.iter().any(|row| row.0 == op && row.1 == target.name() && ty.is_in(row.2))
}

/// What the walk found.
#[derive(Default)]
struct Report {
    fates: Vec<Fate>,
    refusals: Vec<Refusal>,
}

/// Kernels that must be refused: one for each element type that is not in the list.
fn illegal(row: &Row, target: Target) -> Vec<build::Case> {
    let facts = row.facts();
    let list = target.legal(facts);
    let subject = |ty| Subject { op: row.op, target, ty };
    if list == "-" {
        let other = TARGETS.into_iter().find(|t| *t != target).expect("there are two");
        let ty = row.legal(other).next().unwrap_or(number::named("f32"));
        return row.cases(&subject(ty)).into_iter().take(1).collect();
    }
    let further = row.wrong.map_or_else(Vec::new, |wrong| wrong(row, target));
    if list.is_empty() {
        return further;
    }
    let wrong = TYPES.iter().filter(|ty| !ty.is_in(list));
    wrong.filter_map(|ty| row.cases(&subject(ty)).into_iter().next()).chain(further).collect()
}

/// The walk, once for all tests.
fn report() -> &'static Report {
    static REPORT: OnceLock<Report> = OnceLock::new();
    REPORT.get_or_init(|| {
        let families = FAMILIES.iter().filter(|(name, _)| wanted(name));
        let jobs: Vec<(&[Row], Target)> =
            families.flat_map(|(_, rows)| TARGETS.map(|target| (*rows, target))).collect();
        let next = Mutex::new(jobs.into_iter());
        let report = Mutex::new(Report::default());
        let (headers, cache) = (vendor::headers(), tempfile::tempdir().expect("a temporary folder"));
        let vendor = headers.as_deref().map(|headers| (headers, cache.path()));
        let work = || {
            while let Some((rows, target)) = { next.lock().expect("nobody panics here").next() } {
                let legal = |row: &'static Row| {
                    let types = row.legal(target).filter(move |ty| !excused(row.op, target, ty));
                    types.flat_map(move |ty| row.cases(&Subject { op: row.op, target, ty }))
                };
                let fates = examine(rows.iter().flat_map(legal).collect(), target, vendor);
                let refusals = refuse(rows.iter().flat_map(|row| illegal(row, target)).collect(), target);
                let mut report = report.lock().expect("nobody panics here");
                report.fates.extend(fates);
                report.refusals.extend(refusals);
            }
        };
        std::thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(work))));
        report.into_inner().expect("nobody panics here")
    })
}

/// Whether a family is examined: `PTO_SURFACE_ONLY` names one while it is worked on.
fn wanted(family: &str) -> bool {
    std::env::var("PTO_SURFACE_ONLY").map_or(true, |only| only.is_empty() || only == family)
}

/// Whether there is a compiler for the host.
fn can_run() -> bool {
    let found = HostCompiler::find();
    if let Err(error) = &found {
        println!("skipped: {error}");
    }
    found.is_ok()
}

/// Fails with all messages.
fn none(problems: impl Iterator<Item = String>) {
    let problems: Vec<String> = problems.collect();
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn legal_kernels_compile_to_their_calls() {
    if can_run() {
        none(report().fates.iter().filter_map(|f| Some(format!("{}: {}", f.case.title(), f.emitted.as_ref().err()?))));
    }
}

#[test]
fn kernels_compute_what_they_mean() {
    if can_run() {
        none(report().fates.iter().filter_map(|f| Some(format!("{}: {}", f.case.title(), f.ran.as_ref().err()?))));
    }
}

#[test]
fn other_kernels_are_refused() {
    if can_run() {
        none(
            report().refusals.iter().filter_map(|r| Some(format!("{}: {}", r.case.title(), r.refused.as_ref().err()?))),
        );
    }
}

/// What the vendor's simulator gives is what is expected, but for what its table of differences says.
#[test]
fn the_vendors_simulator_agrees() {
    if vendor::headers().is_none() {
        return println!("skipped: PTO_ISA_DIR is not set");
    }
    if can_run() {
        none(vendor::unexpected(&report().fates).into_iter());
    }
}

/// Each operation is in one list; each row runs each element type that the facts allow.
#[test]
fn nothing_is_left_out() {
    let mut problems = Vec::new();
    let rows: Vec<&Row> = FAMILIES.iter().flat_map(|(_, rows)| rows.iter()).collect();
    for facts in OP_FACTS {
        let op = facts.name.trim_start_matches("pto.");
        let own: Vec<&&Row> = rows.iter().filter(|row| row.op == op).collect();
        let listed = structure::COVERED.iter().filter(|row| row.0 == op).count();
        if own.is_empty() && listed == 0 {
            problems.push(format!("{op}: neither in a family nor in the list of operations without numbers"));
        }
        if listed > 1 || (listed == 1 && !own.is_empty()) {
            problems.push(format!("{op}: in several lists"));
        }
        if own.is_empty() {
            continue;
        }
        for target in TARGETS {
            let types: BTreeSet<&str> = own.iter().flat_map(|row| row.legal(target)).map(|ty| ty.name).collect();
            if types.is_empty() && target.legal(facts) != "-" {
                problems.push(format!("{op} on {}: no element type is tried", target.name()));
            }
            for ty in types.into_iter().map(number::named).filter(|ty| !excused(op, target, ty)) {
                let runs = own.iter().flat_map(|row| row.cases(&Subject { op: row.op, target, ty }));
                if !runs.into_iter().any(|case| case.runs.iter().flatten().any(|part| part.want.is_some())) {
                    problems.push(format!("{op} of {} on {} does not run", ty.name, target.name()));
                }
            }
        }
    }
    let known = |op: &str| OP_FACTS.iter().any(|facts| facts.name.trim_start_matches("pto.") == op);
    let named = rows.iter().map(|row| row.op).chain(structure::COVERED.iter().map(|row| row.0));
    problems.extend(named.filter(|op| !known(op)).map(|op| format!("{op}: the dialect has no such operation")));
    none(problems.into_iter());
}

/// Every element type that the facts name is one of those that are tried.
#[test]
fn all_element_types_are_known() {
    let named = OP_FACTS.iter().flat_map(|facts| facts.a3.split_whitespace().chain(facts.a5.split_whitespace()));
    // `si16` is `i16` without `ui16`.
    let bare = |name: &'static str| name.strip_prefix('s').filter(|rest| rest.starts_with('i')).unwrap_or(name);
    none(named.filter(|name| *name != "-" && !TYPES.iter().any(|ty| ty.name == bare(name))).map(str::to_owned));
}

/// What is covered, for each operation: `--nocapture` shows it.
#[test]
fn table() {
    if !can_run() {
        return;
    }
    let report = report();
    println!("element types that compile and that are refused on each target; calls; runs; agreement with the vendor");
    println!("{:<18} {:>9} {:>9} {:>6} {:>5}  {:<10} covered by", "operation", "a3", "a5", "calls", "runs", "vendor");
    let mut totals = [0; 7];
    for facts in OP_FACTS {
        let op = facts.name.trim_start_matches("pto.");
        if let Some((_, case)) = structure::COVERED.iter().find(|row| row.0 == op) {
            println!("{op:<18} {:>9} {:>9} {:>6} {:>5}  {:<10} {case}", "", "", "", "", "");
            continue;
        }
        let fates: Vec<&Fate> = report.fates.iter().filter(|f| f.case.subject.op == op).collect();
        let types = |target: Target| {
            let good: BTreeSet<&str> = fates
                .iter()
                .filter(|f| f.case.subject.target == target && f.emitted.is_ok())
                .map(|f| f.case.subject.ty.name)
                .collect();
            let refusals = report.refusals.iter().filter(|r| r.case.subject.op == op && r.refused.is_ok());
            (good.len(), refusals.filter(|r| r.case.subject.target == target).count())
        };
        let calls = fates.iter().filter(|f| f.emitted.is_ok()).count();
        let runs: usize = fates.iter().filter(|f| f.ran.is_ok()).map(|f| f.case.runs.len()).sum();
        let there = |what: &Agreement| fates.iter().filter(|f| f.agrees.as_ref() == Some(what)).count();
        let (agreed, refused) = (there(&Agreement::Agrees), there(&Agreement::Refused));
        let vendor = match vendor::headers() {
            None => "skipped".to_owned(),
            Some(_) => format!("{agreed} of {}", fates.len() - refused),
        };
        let left_out = EXCEPTIONS.iter().filter(|row| row.0 == op).map(|row| row.3);
        let reasons: BTreeSet<&str> = fates.iter().filter_map(|f| vendor::reason(&f.case)).chain(left_out).collect();
        let reasons = reasons.into_iter().collect::<Vec<_>>().join("; ");
        let (a3, a5) = (types(Target::A3), types(Target::A5));
        let text = |(good, bad): (usize, usize)| format!("{good}+{bad}");
        println!("{op:<18} {:>9} {:>9} {calls:>6} {runs:>5}  {vendor:<10} {reasons}", text(a3), text(a5));
        for (total, count) in totals.iter_mut().zip([a3.0 + a5.0, a3.1 + a5.1, calls, runs, agreed, refused, 1]) {
            *total += count;
        }
    }
    let [good, bad, calls, runs, agreed, refused, ops] = totals;
    println!("{ops} operations with numbers: {good} element types compile, {bad} kernels are refused");
    println!("{calls} kernels have their calls, {runs} runs give what is expected");
    println!("{agreed} kernels agree with the vendor's simulator; {refused} are refused by static assertions there");
    println!("{} operations without numbers, which cases cover", structure::COVERED.len());
}
