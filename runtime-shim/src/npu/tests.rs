//! Runs small kernels: each check has one that trips it and a corrected twin that does not. Then what kernels compute,
//! print and leave in a trace.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

mod comm;
mod results;
mod rules;
mod stops;

use super::Rule;
use crate::{Arch, Argument, Checks, CompileOptions, Element, Kernel, Outcome, Runner, Tensor};

/// A compiled kernel, and the folder with its text, which findings are worded from.
pub(super) struct Program {
    pub kernel: Kernel,
    _folder: TempDir,
}

impl Program {
    /// Compiles a kernel.
    pub fn new(text: &str, options: &CompileOptions) -> Program {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("kernel.cpp");
        std::fs::write(&path, text).expect("write the kernel");
        let kernel = Kernel::compile(&path, options, None).unwrap_or_else(|e| panic!("{e}"));
        Program { kernel, _folder: folder }
    }

    /// Runs it with a ramp in `x`, and 16 KiB for `y`.
    fn run(&self, blocks: usize) -> Outcome {
        self.runner(Argument::Fresh(Y_BYTES)).blocks(blocks).run().expect("the arguments fit")
    }

    fn runner(&self, y: Argument) -> Runner<'_> {
        Runner::new(&self.kernel).arg(floats(&ramp())).arg(y)
    }
}

const Y_BYTES: usize = 16 << 10;

/// Values of a buffer of floats.
pub(super) fn f32s(bytes: &[u8]) -> Vec<f64> {
    Tensor { element: Element::F32, shape: vec![bytes.len() / 4], bytes: bytes.to_vec() }.values()
}

fn floats(values: &[f64]) -> Argument {
    Argument::Tensor(Tensor::of(Element::F32, &[values.len()], values))
}

fn ramp() -> Vec<f64> {
    (0..1024).map(f64::from).collect()
}

/// What all kernels here begin with.
const HEAD: &str = "\
#include \"pto/pto-inst.hpp\"
using namespace pto;
using View = GlobalTensor<float, Shape<1, 1, 1, 16, 64>, Stride<1024, 1024, 1024, 64, 1>>;
using Square = GlobalTensor<float, Shape<1, 1, 1, 32, 32>, Stride<1024, 1024, 1024, 32, 1>>;
using TileRows = Tile<TileType::Vec, float, 16, 64>;
using TileBox = Tile<TileType::Vec, float, 16, 16>;
using TileMat = Tile<TileType::Mat, float, 32, 32, BLayout::ColMajor, 32, 32, SLayout::RowMajor, 512>;
#define FLAG(FROM, TO) set_flag(FROM, TO, EVENT_ID0); wait_flag(FROM, TO, EVENT_ID0)
#define SIGNAL(PIPE, ID) ffts_cross_core_sync(PIPE, getFFTSMsg(2, ID))
extern \"C\" __global__ AICORE void k(__gm__ float* x, __gm__ float* y) {
";

/// What a vector kernel begins with: three tiles, one behind the other.
const VECTOR: &str = "\
#if defined(__DAV_VEC__)
View from(x);
View to(y);
TileRows a;
TileRows b;
TileRows c;
TASSIGN(a, 0x0);
TASSIGN(b, 0x1000);
TASSIGN(c, 0x2000);
";

/// A whole kernel: the body is that of a vector core unless it has sections of its own.
fn text(body: &str) -> String {
    match body.contains("#if") {
        true => format!("{HEAD}{body}\n}}\n"),
        false => format!("{HEAD}{VECTOR}{body}\n#endif\n}}\n"),
    }
}

fn program(body: &str, arch: Arch) -> Program {
    Program::new(&text(body), &CompileOptions::new(arch))
}

fn codes(body: &str, arch: Arch, blocks: usize) -> Vec<&'static str> {
    program(body, arch).run(blocks).findings.iter().map(|f| f.rule.code()).collect()
}

// ---- rules --------------------------------------------------------------------------------------------------------

/// A kernel that breaks a rule, and its corrected twin, as a difference: lines that begin with `-` are in the first
/// only, those with `+` in the second only. The finding is in the line that ends with `//!`, and a note names the line
/// that ends with `//?`.
struct Case {
    name: &'static str,
    rule: Rule,
    arch: Arch,
    blocks: usize,
    body: &'static str,
    /// What the finding says.
    says: &'static [&'static str],
}

const CASE: Case = Case { name: "", rule: Rule::Race, arch: Arch::A3, blocks: 1, body: "", says: &[] };

impl Case {
    fn check(&self) {
        let name = self.name;
        let version = |keep: char, other: char| {
            let lines = self.body.lines().filter(|line| !line.starts_with(other));
            text(&lines.map(|line| line.strip_prefix(keep).unwrap_or(line)).collect::<Vec<_>>().join("\n"))
        };
        let (wrong, corrected) = (version('-', '+'), version('+', '-'));
        assert_ne!(wrong, corrected, "{name}");
        let options = CompileOptions::new(self.arch);

        let findings = Program::new(&corrected, &options).run(self.blocks).findings;
        assert_eq!(findings, [], "{name}, corrected");

        let findings = Program::new(&wrong, &options).run(self.blocks).findings;
        let [finding] = findings.as_slice() else { panic!("{name}: one finding is expected, not {findings:#?}") };
        assert_eq!(finding.rule, self.rule, "{name}: {finding}");
        let line_of = |mark: &str| wrong.lines().position(|line| line.ends_with(mark)).map(|at| at + 1);
        let line = line_of("//!").unwrap_or_else(|| panic!("{name}: no line is marked"));
        assert_eq!(finding.line as usize, line, "{name}: {finding}");
        assert!(finding.file.ends_with("kernel.cpp"), "{name}: {finding}");
        let printed = finding.to_string();
        let place = format!("{}:{line}: error: [{}] ", finding.file, self.rule.code());
        assert!(printed.starts_with(&place), "{name}: {printed}");
        for says in self.says {
            assert!(printed.contains(says), "{name}: {says:?} is not in {printed}");
        }
        if let Some(earlier) = line_of("//?") {
            let place = format!("{}:{earlier}: ", finding.file);
            assert!(finding.notes.iter().any(|n| n.starts_with(&place)), "{name}: line {earlier} is not in {printed}");
        }
    }
}

/// Checks all cases, on both processors.
fn check_all(cases: &[Case]) {
    let (one, two) = cases.split_at(cases.len() / 2);
    std::thread::scope(|scope| {
        scope.spawn(|| one.iter().for_each(Case::check));
        two.iter().for_each(Case::check);
    });
}
