//! Numbers: kernels run on the simulated NPU and are compared with plain loops, and no check may find anything.
//!
//! Tables in `run/` give each kernel its arguments and what it must leave in memory; each runs on a3 and a5, unless its
//! file says `// ARCH: a5`. Kernels that take windows of global memory, and pairs of functions that work together, are
//! called by a launcher written here. A kernel that no table names fails [`all_kernels_run`].

mod codegen;
mod comm;
mod cube;
mod data;
pub(super) mod launch;
mod mixed;
mod scalar;
mod vector;

use data::{EXACT, Tolerance};
use launch::{Target, emit, launched};
use pto_runtime_shim::{Arch, Argument, CompileOptions, Element, HostCompiler, Kernel, Runner, Tensor};
use pto_tests::{Case, case_files, each_case, repository, run};
use std::{fs, path::Path};

/// One kernel: its file from the root, the functions of it that run together, and the runs.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub file: &'static str,
    pub functions: &'static [&'static str],
    pub trials: fn() -> Vec<Trial>,
    /// Further C++ that has the launcher in it, instead of one made from the parameters.
    launcher: Option<&'static str>,
}

const fn row(file: &'static str, functions: &'static [&'static str], trials: fn() -> Vec<Trial>) -> Row {
    Row { file, functions, trials, launcher: None }
}

/// One run: arguments and what they hold afterwards.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub blocks: usize,
    pub parts: Vec<Part>,
}

#[derive(Clone, Debug)]
pub(super) struct Part {
    pub argument: Argument,
    shape: Vec<usize>,
    pub want: Option<(Tensor, Tolerance)>,
}

impl Trial {
    fn new() -> Trial {
        Trial { blocks: 1, parts: Vec::new() }
    }

    fn part(mut self, argument: Argument, shape: &[usize], want: Option<(Tensor, Tolerance)>) -> Trial {
        self.parts.push(Part { argument, shape: shape.to_vec(), want });
        self
    }

    /// A tensor that the kernel only reads.
    fn read(self, tensor: &Tensor) -> Trial {
        self.update(tensor, tensor.clone(), EXACT)
    }

    /// Memory that nothing has written, and what the kernel must write to all of it.
    fn write(self, want: Tensor, tolerance: Tolerance) -> Trial {
        let (bytes, shape) = (want.bytes.len(), want.shape.clone());
        self.part(Argument::Fresh(bytes), &shape, Some((want, tolerance)))
    }

    /// A tensor and what it must be afterwards.
    fn update(self, before: &Tensor, want: Tensor, tolerance: Tolerance) -> Trial {
        self.part(Argument::Tensor(before.clone()), &before.shape, Some((want, tolerance)))
    }

    /// Memory for the kernel's own use.
    fn scratch(self, bytes: usize) -> Trial {
        self.part(Argument::Fresh(bytes), &[bytes], None)
    }

    fn int(self, value: i64) -> Trial {
        self.part(Argument::Int(value), &[], None)
    }

    fn float(self, value: f64) -> Trial {
        self.part(Argument::Float(value), &[], None)
    }

    fn blocks(mut self, blocks: usize) -> Trial {
        self.blocks = blocks;
        self
    }

    /// Runs a kernel and compares.
    fn check(&self, kernel: &Kernel, what: &str) {
        let runner = self.parts.iter().fold(Runner::new(kernel), |r, part| r.arg(part.argument.clone()));
        let outcome = runner.blocks(self.blocks).run().unwrap_or_else(|e| panic!("{what}: {e}"));
        let findings: String = outcome.findings.iter().map(|f| format!("\n{f}")).collect();
        assert!(findings.is_empty(), "{what}:{findings}");
        for (index, part) in self.parts.iter().enumerate() {
            let Some((want, (rtol, atol))) = &part.want else { continue };
            let found = Tensor { bytes: outcome.memory[index].clone(), ..want.clone() };
            let agreement = found.agreement(want, *rtol, *atol);
            let place = agreement.at.map(|(at, a, b)| format!("{a} instead of {b} at {:?}", want.index(at)));
            let name = &kernel.signature.parameters[index].name;
            assert_eq!(agreement.differing, 0, "{what}: {name} differs, most: {}", place.unwrap_or_default());
        }
    }
}

/// All tables.
pub(super) const TABLES: [&[Row]; 6] = [codegen::ROWS, comm::ROWS, vector::ROWS, cube::ROWS, mixed::ROWS, scalar::ROWS];

/// Kernels that cannot run, and why: file and function.
const CANNOT_RUN: [(&str, &str, &str); 1] =
    [("tests/cases/codegen/whole_cards.pto", "exchange", "there is one card: no messages between cards")];

/// Runs the rows of a table on each architecture.
fn run_all(rows: &[Row]) {
    if let Err(error) = HostCompiler::find() {
        return eprintln!("skipped: {error}");
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cases: Vec<Case> = rows
        .iter()
        .map(|row| Case { name: format!("{}: {}", row.file, row.functions.join("+")), ..Case::read(&path(row.file)) })
        .collect();
    each_case(&cases, |case| {
        let at = cases.iter().position(|c| c.name == case.name).expect("it is one of them");
        for (name, arch) in [("a3", Arch::A3), ("a5", Arch::A5)] {
            if case.directive("ARCH").is_none_or(|only| only == name) {
                run_row(&rows[at], case, &Target { name, arch, folder: folder.path() });
            }
        }
    });
}

fn path(file: &str) -> std::path::PathBuf {
    repository().join(file)
}

fn run_row(row: &Row, case: &Case, target: &Target) {
    let cpp = emit(case, target);
    let mut compiled: Option<(String, Kernel)> = None;
    for (number, trial) in (row.trials)().iter().enumerate() {
        let text = launched(&cpp, row, trial);
        if compiled.as_ref().is_none_or(|(last, _)| *last != text) {
            let source = target.folder.join("launched.cpp");
            fs::write(&source, &text).expect("the folder is writable");
            let kernel = Kernel::compile(&source, &CompileOptions::new(target.arch), Some(launch::ENTRY));
            compiled = Some((text, kernel.unwrap_or_else(|e| panic!("{}: {e}", case.name))));
        }
        let (_, kernel) = compiled.as_ref().expect("compiled above");
        trial.check(kernel, &format!("{} on {}, run {number}", case.name, target.name));
    }
}

/// Every kernel of the folders is in a table, or in the list of those that cannot run.
#[test]
fn all_kernels_run() {
    let listed: Vec<(&str, &str)> = TABLES.iter().flat_map(|rows| rows.iter()).flat_map(of_row).collect();
    let excused = CANNOT_RUN.iter().map(|(file, function, _)| (*file, *function));
    let known: Vec<(&str, &str)> = listed.iter().copied().chain(excused).collect();
    let folders = ["tests/cases/codegen", "tests/cases/run", "examples"].map(|folder| case_files(&path(folder)));
    let present: Vec<(String, String)> = folders.iter().flatten().flat_map(kernels).collect();
    let missing: Vec<_> = present.iter().filter(|(f, k)| !known.contains(&(f.as_str(), k.as_str()))).collect();
    assert!(missing.is_empty(), "no table of runs has {missing:?}");
    let gone: Vec<_> = known.iter().filter(|(f, k)| !present.contains(&((*f).into(), (*k).into()))).collect();
    assert!(gone.is_empty(), "there is no kernel {gone:?}");
    assert!(present.len() >= 60);
}

fn of_row(row: &Row) -> impl Iterator<Item = (&str, &str)> {
    row.functions.iter().map(|function| (row.file, *function))
}

/// File and name of the kernels of a file.
fn kernels(case: &Case) -> Vec<(String, String)> {
    let names = case.text.lines().filter_map(|line| {
        let line = line.trim_start();
        let rest = line.strip_prefix("func.func @").or_else(|| line.strip_prefix("def "))?;
        rest.split_once('(').map(|(name, _)| name.to_owned())
    });
    names.map(|name| (case.relative(), name)).collect()
}
