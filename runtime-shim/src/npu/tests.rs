//! Runs small kernels: each check has one that trips it and a corrected twin that does not. Then what kernels compute,
//! print and leave in a trace.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

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

#[test]
fn reads_of_what_nobody_wrote() {
    let rule = Rule::Uninitialised;
    check_all(&[
        Case {
            name: "tile",
            body: "+TLOAD(a, from);\n+FLAG(PIPE_MTE2, PIPE_V);\nTADDS(b, a, 1.0f); //!",
            says: &["TADDS reads tile 'a' at byte 0 of UB, which nothing has written"],
            rule,
            ..CASE
        },
        Case {
            name: "second half of a tile",
            body: "\
using TileUpper = Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, 8, 64>;
TileUpper upper;
TASSIGN(upper, 0x0);
GlobalTensor<float, Shape<1, 1, 1, 8, 64>, Stride<512, 512, 512, 64, 1>> half_of_x(x);
-TLOAD(upper, half_of_x);
+TLOAD(a, from);
FLAG(PIPE_MTE2, PIPE_V);
TADDS(b, a, 1.0f); //!",
            says: &["TADDS reads tile 'a' at byte 2048 of UB"],
            rule,
            ..CASE
        },
        Case {
            name: "argument",
            body: "-TLOAD(a, to); //!\n+TLOAD(a, from);",
            says: &["TLOAD reads byte 0 of argument 'y' through 'to', which was not given and nothing has written"],
            rule,
            ..CASE
        },
        Case {
            name: "scalar load",
            body: "-x[1] = y[7]; //!\n+x[1] = x[7];",
            says: &["scalar load reads byte 28 of argument 'y'"],
            rule,
            ..CASE
        },
        Case {
            name: "scalar access to a tile",
            body: "+a.SetValue(3, 2.0f);\na.SetValue(4, a.GetValue(3)); //!",
            says: &["GetValue reads tile 'a' at byte 12 of UB"],
            rule,
            ..CASE
        },
        Case {
            name: "accumulator",
            body: "\
#if defined(__DAV_CUBE__)
Square from(x);
TileMat a1;
TileLeft<float, 32, 32> a0;
TileRight<float, 32, 32> b0;
TileAcc<float, 32, 32> c;
TASSIGN(a1, 0x0);
TASSIGN(a0, 0x0);
TASSIGN(b0, 0x0);
TASSIGN(c, 0x400);
TLOAD(a1, from);
FLAG(PIPE_MTE2, PIPE_MTE1);
TMOV(a0, a1);
TMOV(b0, a1);
FLAG(PIPE_MTE1, PIPE_M);
+TMATMUL(c, a0, b0);
TMATMUL_ACC(c, c, a0, b0); //!
#endif",
            says: &["TMATMUL_ACC reads tile 'c' at byte 1024 of L0C"],
            rule,
            ..CASE
        },
    ]);
}

#[test]
fn accesses_outside_a_memory_or_a_tensor() {
    check_all(&[
        Case {
            name: "tile past the end",
            rule: Rule::OutsideSpace,
            body: "-TASSIGN(b, 0x2f020);\n+TASSIGN(b, 0x2f000);\nTLOAD(b, from); //!",
            says: &[
                "TLOAD writes bytes 192544 to 196640 of UB through tile 'b', which has 196608 bytes on this target",
            ],
            ..CASE
        },
        Case {
            name: "window past the tile",
            rule: Rule::OutsideSpace,
            body: "\
#if defined(__DAV_CUBE__)
Square from(x);
TileMat a1;
TileLeft<float, 16, 32> part;
TASSIGN(a1, 0x0);
TASSIGN(part, 0x0);
TLOAD(a1, from);
FLAG(PIPE_MTE2, PIPE_MTE1);
-TEXTRACT(part, a1, 32, 0); //!
+TEXTRACT(part, a1, 16, 0);
#endif",
            says: &["TEXTRACT", "'a1'", "32"],
            ..CASE
        },
        Case {
            name: "load past the argument",
            rule: Rule::OutsideTensor,
            body: "-View shifted(x + 64);\n+View shifted(x);\nTLOAD(a, shifted); //!",
            says: &["TLOAD reads bytes 256 to 4352 of argument 'x' through 'shifted', which has 4096 bytes"],
            ..CASE
        },
        Case {
            name: "store before the argument",
            rule: Rule::OutsideTensor,
            body: "\
-View shifted(y - 64);
+View shifted(y);
TLOAD(a, from);
FLAG(PIPE_MTE2, PIPE_MTE3);
TSTORE(shifted, a); //!",
            says: &["TSTORE writes bytes -256 to 3840 of argument 'y' through 'shifted'"],
            ..CASE
        },
        Case {
            name: "scalar store past the argument",
            rule: Rule::OutsideTensor,
            body: "-x[1024] = 1.0f; //!\n+x[1023] = 1.0f;",
            says: &["scalar store writes bytes 4096 to 4100 of argument 'x'"],
            ..CASE
        },
        Case {
            name: "pointer from nowhere",
            rule: Rule::OutsideTensor,
            body: "-View nothing((__gm__ float*)nullptr);\n+View nothing(x);\nTLOAD(a, nothing); //!",
            says: &["TLOAD reads global memory through 'nothing', whose pointer belongs to no argument"],
            ..CASE
        },
        Case {
            name: "address",
            rule: Rule::Misaligned,
            body: "-TASSIGN(b, 0x1010);\n+TASSIGN(b, 0x1020);\nTLOAD(b, from); //!",
            says: &["TLOAD uses tile 'b' at byte 4112 of UB, which is no multiple of 32"],
            ..CASE
        },
    ]);
    // The memory of the next family is larger.
    assert_eq!(codes("TASSIGN(b, 0x2f020); TLOAD(b, from);", Arch::A5, 1), [""; 0]);
}

#[test]
fn operands_that_share_bytes() {
    let rule = Rule::InPlace;
    check_all(&[
        Case {
            name: "in part",
            body: "\
-TASSIGN(b, 0x100);
+TASSIGN(b, 0x0);
TLOAD(a, from);
FLAG(PIPE_MTE2, PIPE_V);
TADDS(b, a, 1.0f); //!",
            says: &["TADDS: 'b' at byte 256 and 'a' at byte 0 of UB share bytes, in part"],
            rule,
            ..CASE
        },
        Case {
            name: "not in place",
            body: "\
GlobalTensor<float, Shape<1, 1, 1, 16, 16>, Stride<1024, 1024, 1024, 64, 1>> corner(x);
TileBox box;
TileBox turned;
TileBox scratch;
TASSIGN(box, 0x0);
TASSIGN(scratch, 0x1000);
-TASSIGN(turned, 0x0);
+TASSIGN(turned, 0x2000);
TLOAD(box, corner);
FLAG(PIPE_MTE2, PIPE_V);
TTRANS(turned, box, scratch); //!",
            says: &[
                "TTRANS: 'turned' at byte 0 and 'box' at byte 0 of UB share bytes, which this instruction does not",
            ],
            rule,
            ..CASE
        },
    ]);
}

#[test]
fn races_on_chip() {
    check_all(&[
        Case {
            name: "load, then read",
            body: "TLOAD(a, from); //?\n+FLAG(PIPE_MTE2, PIPE_V);\nTADDS(b, a, 1.0f); //!",
            says: &[
                "TADDS on PIPE_V reads bytes of UB through 'a' that TLOAD on PIPE_MTE2 writes through 'a', and nothing",
                "the earlier TLOAD",
                "a set_flag after the first with a wait_flag before the second, or a barrier, is missing",
            ],
            ..CASE
        },
        Case {
            name: "a flag of another number does not help",
            body: "\
set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
TLOAD(a, from); //?
wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
+FLAG(PIPE_MTE2, PIPE_V);
TADDS(b, a, 1.0f); //!",
            says: &["TADDS on PIPE_V reads"],
            ..CASE
        },
        Case {
            name: "read, then load again",
            body: "\
TLOAD(a, from);
pipe_barrier(PIPE_ALL);
TADDS(b, a, 1.0f); //?
+FLAG(PIPE_V, PIPE_MTE2);
TLOAD(a, from); //!",
            says: &["TLOAD on PIPE_MTE2 writes bytes of UB through 'a' that TADDS on PIPE_V reads through 'a'"],
            ..CASE
        },
        Case {
            name: "write, then store",
            body: "\
TEXPANDS(a, 1.0f); //?
+FLAG(PIPE_V, PIPE_MTE3);
TSTORE(to, a); //!",
            says: &["TSTORE on PIPE_MTE3 reads bytes of UB through 'a' that TEXPANDS on PIPE_V writes"],
            ..CASE
        },
        Case {
            name: "one pipe that overlaps its instructions",
            body: "\
TEXPANDS(a, 1.0f); //?
+pipe_barrier(PIPE_V);
TADDS(b, a, 1.0f); //!",
            says: &[
                "TADDS on PIPE_V reads bytes of UB through 'a' that TEXPANDS on PIPE_V writes",
                "a pipe_barrier of that pipe between them is missing (PIPE_V)",
            ],
            ..CASE
        },
        Case {
            name: "the pipe of an instruction's barrier",
            body: "TEXPANDS(a, 1.0f); //?\n+TSYNC<Op::TADDS>();\n-TSYNC<Op::TLOAD>();\nTADDS(b, a, 1.0f); //!",
            says: &["TADDS on PIPE_V reads"],
            ..CASE
        },
        Case {
            name: "loads over one another",
            arch: Arch::A5,
            body: "TLOAD(a, from); //?\n+pipe_barrier(PIPE_MTE2);\nTLOAD(a, from); //!",
            says: &["TLOAD on PIPE_MTE2 writes", "that TLOAD on PIPE_MTE2 writes", "a pipe_barrier"],
            ..CASE
        },
        Case {
            name: "vector, then GetValue",
            body: "\
TEXPANDS(a, 1.0f); //?
+FLAG(PIPE_V, PIPE_S);
x[0] = a.GetValue(5); //!",
            says: &["GetValue on PIPE_S reads bytes of UB through 'a' that TEXPANDS on PIPE_V writes"],
            ..CASE
        },
        Case {
            name: "SetValue, then vector",
            body: "\
TEXPANDS(a, 1.0f);
FLAG(PIPE_V, PIPE_S);
a.SetValue(5, 2.0f); //?
+FLAG(PIPE_S, PIPE_V);
TADDS(b, a, 1.0f); //!",
            says: &["TADDS on PIPE_V reads bytes of UB through 'a' that SetValue on PIPE_S writes"],
            ..CASE
        },
        Case {
            name: "vector reads, then SetValue",
            body: "\
TEXPANDS(a, 1.0f);
pipe_barrier(PIPE_ALL);
TADDS(b, a, 1.0f); //?
+FLAG(PIPE_V, PIPE_S);
a.SetValue(5, 2.0f); //!",
            says: &["SetValue on PIPE_S writes bytes of UB through 'a' that TADDS on PIPE_V reads"],
            ..CASE
        },
        Case {
            name: "the vector halves of one tile",
            arch: Arch::A5,
            // A barrier of the vector core does not cover what the cube core does.
            body: "\
#if defined(__DAV_CUBE__)
TileAcc<float, 32, 32> c;
TASSIGN(c, 0x0);
TileMat a1;
TileLeft<float, 32, 32> a0;
TileRight<float, 32, 32> b0;
TASSIGN(a1, 0x0);
TASSIGN(a0, 0x0);
TASSIGN(b0, 0x0);
Square from(x);
TLOAD(a1, from);
FLAG(PIPE_MTE2, PIPE_MTE1);
TMOV(a0, a1);
TMOV(b0, a1);
FLAG(PIPE_MTE1, PIPE_M);
TMATMUL(c, a0, b0);
FLAG(PIPE_M, PIPE_FIX);
Tile<TileType::Vec, float, 32, 32> there;
TASSIGN(there, 0x0);
TMOV(there, c); //?
+set_intra_block(PIPE_FIX, 0);
#endif
#if defined(__DAV_VEC__)
if (get_subblockid() == 0) {
Tile<TileType::Vec, float, 32, 32> here;
Tile<TileType::Vec, float, 32, 32> sum;
TASSIGN(here, 0x0);
TASSIGN(sum, 0x1000);
pipe_barrier(PIPE_ALL);
+wait_intra_block(PIPE_V, 0);
TADDS(sum, here, 1.0f); //!
}
#endif",
            says: &[
                "TADDS on PIPE_V of block 0 vector 0 reads",
                "'here'",
                "TMOV on PIPE_FIX of block 0 cube",
                "'there'",
            ],
            ..CASE
        },
    ]);
    let same_pipe = "TEXPANDS(a, 1.0f); TADDS(b, a, 1.0f);";
    assert_eq!(codes(same_pipe, Arch::A3, 1), ["PTO-0806"]);
    assert_eq!(codes(same_pipe, Arch::A5, 1), [""; 0], "from A5 on the vector pipe orders itself");
}

#[test]
fn races_in_global_memory() {
    check_all(&[
        Case {
            name: "store, then load",
            body: "\
TEXPANDS(a, 1.0f);
FLAG(PIPE_V, PIPE_MTE3);
TSTORE(to, a); //?
+FLAG(PIPE_MTE3, PIPE_MTE2);
TLOAD(b, to); //!",
            says: &["TLOAD on PIPE_MTE2 reads bytes of global memory through 'to' that TSTORE on PIPE_MTE3 writes"],
            ..CASE
        },
        Case {
            name: "blocks that write the same bytes",
            blocks: 2,
            body: "\
-View own(y);
+View own(y + 1024 * get_block_idx());
TEXPANDS(a, 1.0f);
FLAG(PIPE_V, PIPE_MTE3);
TSTORE(own, a); //!",
            says: &[
                "TSTORE on PIPE_MTE3 of block 1 vector 0 writes",
                "that TSTORE on PIPE_MTE3 of block 0 vector 0 writes",
            ],
            ..CASE
        },
        Case {
            name: "blocks that touch in one row",
            blocks: 2,
            body: "\
-View own(y + 960 * get_block_idx());
+View own(y + 1024 * get_block_idx());
TEXPANDS(a, 1.0f);
FLAG(PIPE_V, PIPE_MTE3);
TSTORE(own, a); //!",
            says: &["of block 1 vector 0 writes bytes of global memory through 'own'"],
            ..CASE
        },
        Case {
            name: "blocks that add to the same bytes",
            blocks: 2,
            body: "\
TEXPANDS(a, 1.0f);
FLAG(PIPE_V, PIPE_MTE3);
-TSTORE(from, a); //!
+TSTORE<TileRows, View, AtomicType::AtomicAdd>(from, a);",
            says: &["TSTORE on PIPE_MTE3 of block 1 vector 0 writes"],
            ..CASE
        },
        Case {
            name: "an addition and a load",
            blocks: 2,
            body: "\
TEXPANDS(a, 1.0f);
FLAG(PIPE_V, PIPE_MTE3);
TSTORE<TileRows, View, AtomicType::AtomicAdd>(from, a); //?
+SYNCALL<SyncCoreType::AIVOnly>();
-if (get_block_idx() == 1)
TLOAD(b, from); //!",
            says: &["TLOAD on PIPE_MTE2", "reads", "TSTORE on PIPE_MTE3"],
            ..CASE
        },
        Case {
            name: "store, then scalar load",
            body: "\
TEXPANDS(a, 1.0f);
FLAG(PIPE_V, PIPE_MTE3);
TSTORE(to, a); //?
+FLAG(PIPE_MTE3, PIPE_S);
x[0] = y[0]; //!",
            says: &[
                "scalar load on PIPE_S reads bytes of global memory",
                "that TSTORE on PIPE_MTE3 writes through 'to'",
            ],
            ..CASE
        },
        Case {
            name: "scalar store, then load",
            body: "x[3] = 1.0f; //?\n+FLAG(PIPE_S, PIPE_MTE2);\nTLOAD(a, from); //!",
            says: &[
                "TLOAD on PIPE_MTE2 reads bytes of global memory through 'from' that scalar store on PIPE_S writes",
            ],
            ..CASE
        },
        Case {
            name: "halves without a signal",
            body: "\
#if defined(__DAV_CUBE__)
pipe_barrier(PIPE_ALL);
x[3] = 1.0f; //?
+FLAG(PIPE_S, PIPE_MTE2);
+SIGNAL(PIPE_MTE2, 0);
#endif
#if defined(__DAV_VEC__)
+wait_flag_dev(0);
if (get_subblockid() == 1) {
View from(x);
TileRows a;
TASSIGN(a, 0x0);
TLOAD(a, from); //!
}
#endif",
            says: &[
                "TLOAD on PIPE_MTE2 of block 0 vector 1 reads",
                "that scalar store on PIPE_S of block 0 cube writes",
            ],
            ..CASE
        },
        Case {
            name: "blocks that do not meet",
            blocks: 2,
            body: "\
View own(y + 1024 * get_block_idx());
View other(y + 1024 * (1 - get_block_idx()));
TEXPANDS(a, 1.0f);
FLAG(PIPE_V, PIPE_MTE3);
TSTORE(own, a); //?
+SYNCALL<SyncCoreType::AIVOnly>();
-if (get_block_idx() == 1) {
TLOAD(b, other); //!
-}",
            says: &["TLOAD on PIPE_MTE2 of block 1 vector 0 reads", "'other'", "block 0 vector 0 writes through 'own'"],
            ..CASE
        },
    ]);
}

#[test]
fn flags_set_twice_and_left_set() {
    check_all(&[
        Case {
            name: "before it was waited for",
            rule: Rule::SetTwice,
            body: "\
set_flag(PIPE_MTE2, PIPE_V, EVENT_ID3); //?
+wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID3);
+FLAG(PIPE_V, PIPE_MTE2);
set_flag(PIPE_MTE2, PIPE_V, EVENT_ID3); //!
wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID3);",
            says: &["flag 3 from PIPE_MTE2 to PIPE_V is set again before it was waited for", "the earlier set_flag"],
            ..CASE
        },
        Case {
            name: "perhaps before it was waited for",
            rule: Rule::SetTwice,
            body: "\
set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0); //?
+FLAG(PIPE_V, PIPE_MTE2);
set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0); //!
wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);",
            says: &["may be set again before its earlier setting was waited for", "the wait_flag"],
            ..CASE
        },
        Case {
            name: "more signals than are counted",
            rule: Rule::SetTwice,
            body: "\
#if defined(__DAV_CUBE__)
for (int i = 0; i < 16; ++i) {
SIGNAL(PIPE_FIX, 0); //!
+wait_flag_dev(1);
}
#endif
#if defined(__DAV_VEC__)
for (int i = 0; i < 16; ++i) {
wait_flag_dev(0);
+SIGNAL(PIPE_MTE2, 1);
}
#endif",
            says: &["more than 15 signals of cross-core flag 0 wait to be consumed"],
            ..CASE
        },
        Case {
            name: "flag at the end",
            rule: Rule::LeftSet,
            body: "set_flag(PIPE_MTE2, PIPE_V, EVENT_ID5); //!\n+wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID5);",
            says: &["flag 5 from PIPE_MTE2 to PIPE_V is still set when the kernel ends", "in PIPE_S"],
            ..CASE
        },
        Case {
            name: "signal at the end",
            rule: Rule::LeftSet,
            arch: Arch::A5,
            body: "\
#if defined(__DAV_CUBE__)
set_intra_block(PIPE_FIX, 16 + 4); //!
#endif
#if defined(__DAV_VEC__)
+if (get_subblockid() == 1) wait_intra_block(PIPE_V, 4);
#endif",
            says: &["cross-core flag 4 to PIPE_S of block 0 vector 1 is still set when the kernel ends"],
            ..CASE
        },
    ]);
}

#[test]
fn deadlocks() {
    let rule = Rule::Deadlock;
    check_all(&[
        Case {
            name: "the scalar unit waits before it sets",
            body: "\
+set_flag(PIPE_V, PIPE_S, EVENT_ID0);
wait_flag(PIPE_V, PIPE_S, EVENT_ID0); //!
-set_flag(PIPE_V, PIPE_S, EVENT_ID0);",
            says: &["deadlock: the kernel waits for what nothing will set", "wait_flag(PIPE_V, PIPE_S, 0)"],
            rule,
            ..CASE
        },
        Case {
            name: "two pipes wait for each other",
            body: "\
+set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
-set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0); //!",
            says: &["for wait_flag(PIPE_MTE2, PIPE_V, 1)", "for wait_flag(PIPE_V, PIPE_MTE2, 0)"],
            rule,
            ..CASE
        },
        Case {
            name: "a barrier behind a wait",
            body: "\
-wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
+FLAG(PIPE_MTE2, PIPE_V);
pipe_barrier(PIPE_ALL); //!",
            says: &["waits for its pipes: PIPE_V waits at line", "wait_flag(PIPE_MTE2, PIPE_V, 0)"],
            rule,
            ..CASE
        },
        Case {
            name: "halves wait for each other",
            body: "\
#if defined(__DAV_CUBE__)
-wait_flag_dev(1); //!
SIGNAL(PIPE_FIX, 0);
+wait_flag_dev(1);
#endif
#if defined(__DAV_VEC__)
wait_flag_dev(0);
SIGNAL(PIPE_MTE3, 1);
#endif",
            says: &[
                "block 0 cube: the scalar program waits at line",
                "for cross-core flag 1",
                "block 0 vector 0: the scalar program waits at line",
                "for cross-core flag 0",
                "block 0 vector 1",
            ],
            rule,
            ..CASE
        },
        Case {
            name: "the cube waits for both vector halves",
            body: "\
#if defined(__DAV_CUBE__)
wait_flag_dev(1); //!
#endif
#if defined(__DAV_VEC__)
-if (get_subblockid() == 0)
SIGNAL(PIPE_MTE3, 1);
#endif",
            says: &["block 0 cube", "for cross-core flag 1"],
            rule,
            ..CASE
        },
        Case {
            name: "a pop too many",
            body: "\
#if defined(__DAV_CUBE__)
TPipe<0, DIR_V2C, 4096, 2> pipe(y, 0, 0);
TileMat tile;
-for (int i = 0; i < 4; ++i)
+for (int i = 0; i < 3; ++i)
TPOP<TPipe<0, DIR_V2C, 4096, 2>, TileMat, TILE_UP_DOWN>(pipe, tile); //!
#endif
#if defined(__DAV_VEC__)
TPipe<0, DIR_V2C, 4096, 2> pipe(y, 0, 0);
Tile<TileType::Vec, float, 16, 32> part;
TASSIGN(part, 0x0);
TEXPANDS(part, 1.0f);
FLAG(PIPE_V, PIPE_MTE3);
for (int i = 0; i < 3; ++i)
TPUSH<TPipe<0, DIR_V2C, 4096, 2>, Tile<TileType::Vec, float, 16, 32>, TILE_UP_DOWN>(pipe, part);
#endif",
            says: &["block 0 cube: the scalar program waits at line", "for flag 0 of its cube-vector pipe"],
            rule,
            ..CASE
        },
        Case {
            name: "pushes into slots that are not freed",
            arch: Arch::A5,
            body: "\
#if defined(__DAV_CUBE__)
TPipe<0, DIR_V2C, 4096, 2> pipe(nullptr, 0, 0);
TileMat tile;
-for (int i = 0; i < 2; ++i) {
+for (int i = 0; i < 4; ++i) {
TPOP<TPipe<0, DIR_V2C, 4096, 2>, TileMat, TILE_UP_DOWN>(pipe, tile);
TFREE<TPipe<0, DIR_V2C, 4096, 2>, TILE_UP_DOWN>(pipe);
}
-wait_intra_block(PIPE_S, 9); //!
#endif
#if defined(__DAV_VEC__)
TPipe<0, DIR_V2C, 4096, 2> pipe(nullptr, 0, 0);
using TilePart = Tile<TileType::Vec, float, 16, 32, BLayout::ColMajor, 16, 32, SLayout::RowMajor, 512>;
TilePart part;
TASSIGN(part, 0x0);
Tile<TileType::Vec, float, 16, 32> rows;
TASSIGN(rows, 0x0);
TEXPANDS(rows, 1.0f);
FLAG(PIPE_V, PIPE_MTE3);
for (int i = 0; i < 4; ++i)
TPUSH<TPipe<0, DIR_V2C, 4096, 2>, TilePart, TILE_UP_DOWN>(pipe, part);
-wait_intra_block(PIPE_MTE3, 8);
-set_intra_block(PIPE_MTE3, 9);
#endif",
            says: &["block 0 vector 0", "PIPE_MTE3 waits at line"],
            rule,
            ..CASE
        },
        Case {
            name: "a block does not come",
            blocks: 2,
            body: "-if (get_block_idx() == 1)\nSYNCALL<SyncCoreType::AIVOnly>(); //!",
            says: &["block 1 vector 0", "for the other cores at SYNCALL"],
            rule,
            ..CASE
        },
        Case {
            name: "a buffer that is not released",
            body: "\
get_buf(PIPE_MTE2, 4, 0);
+rls_buf(PIPE_MTE2, 4, 0);
get_buf(PIPE_V, 4, 0);
rls_buf(PIPE_V, 4, 0); //!",
            says: &["PIPE_V waits at line", "for buffer id 4"],
            rule,
            ..CASE
        },
    ]);
}

#[test]
fn illegal_instructions() {
    let rule = Rule::Illegal;
    check_all(&[
        Case {
            name: "flag of one pipe",
            body: "-set_flag(PIPE_V, PIPE_V, EVENT_ID0); //!\n+pipe_barrier(PIPE_V);",
            says: &["flag 0 from PIPE_V to PIPE_V: a flag joins two different pipes"],
            rule,
            ..CASE
        },
        Case {
            name: "flag beyond the last",
            body: "-set_flag(PIPE_V, PIPE_MTE2, 8); //!\n+set_flag(PIPE_V, PIPE_MTE2, 7);\n+wait_flag(PIPE_V, PIPE_MTE2, 7);",
            says: &["flag 8 from PIPE_V to PIPE_MTE2", "has a number from 0 to 7"],
            rule,
            ..CASE
        },
        Case {
            name: "shape of a load",
            body: "\
-GlobalTensor<float, Shape<1, 1, 1, 8, 64>, Stride<1024, 1024, 1024, 64, 1>> part(x);
+GlobalTensor<float, Shape<1, 1, 1, 16, 64>, Stride<1024, 1024, 1024, 64, 1>> part(x);
TLOAD(a, part); //!",
            says: &["TLOAD: a tensor of layout ND", "8 rows and 64 columns, but the valid part of the tile is 16 x 64"],
            rule,
            ..CASE
        },
        Case {
            name: "what is not simulated",
            body: "-pto::comm::TPUT(to, from, a); //!\n+TLOAD(a, from);",
            says: &["TPUT is not simulated"],
            rule,
            ..CASE
        },
        Case { name: "trap", body: "-trap(); //!\n+dsb(DSB_ALL);", says: &["trap reached"], rule, ..CASE },
        Case {
            name: "a pipe in the wrong direction",
            body: "\
#if defined(__DAV_CUBE__)
-TPipe<0, DIR_C2V, 4096, 2> pipe(y, 0, 0);
-TileMat tile;
-TPOP<TPipe<0, DIR_C2V, 4096, 2>, TileMat, TILE_UP_DOWN>(pipe, tile); //!
#endif
#if defined(__DAV_VEC__)
#endif",
            says: &["the cube half pops from a pipe of direction 1"],
            rule,
            ..CASE
        },
        Case {
            name: "a pipe without slots",
            body: "\
#if defined(__DAV_CUBE__)
TPipe<0, DIR_C2V, 4096, 2> pipe(nullptr, 0, 0);
TileAcc<float, 32, 32> c;
TASSIGN(c, 0x0);
-TPUSH<TPipe<0, DIR_C2V, 4096, 2>, TileAcc<float, 32, 32>, TILE_UP_DOWN>(pipe, c); //!
#endif
#if defined(__DAV_VEC__)
#endif",
            says: &["the pipe keeps its slots in global memory, but was given no buffer for them"],
            rule,
            ..CASE
        },
        Case {
            name: "a slot that is too small",
            rule: Rule::OutsideSpace,
            body: "\
#if defined(__DAV_CUBE__)
TPipe<0, DIR_C2V, 4064, 2> pipe(y, 0, 0);
TileAcc<float, 32, 32> c;
TASSIGN(c, 0x0);
-TPUSH<TPipe<0, DIR_C2V, 4064, 2>, TileAcc<float, 32, 32>, TILE_UP_DOWN>(pipe, c); //!
#endif
#if defined(__DAV_VEC__)
#endif",
            says: &["TPUSH of 4096 bytes into slots of 4064 bytes"],
            ..CASE
        },
        Case {
            name: "an odd split on chip",
            arch: Arch::A5,
            body: "\
#if defined(__DAV_VEC__)
TPipe<0, DIR_V2C, 4096, 2> pipe(nullptr, 0, 0);
using TilePart = Tile<TileType::Vec, float, 16, 32, BLayout::ColMajor, 16, 32, SLayout::RowMajor, 512>;
TilePart part;
TASSIGN(part, 0x0);
-if (get_subblockid() == 0)
-TPUSH<TPipe<0, DIR_V2C, 4096, 2>, TilePart, TILE_UP_DOWN_ODD>(pipe, part); //!
#endif
#if defined(__DAV_CUBE__)
#endif",
            says: &["TPUSH moves nothing with an _ODD split on this target"],
            rule,
            ..CASE
        },
    ]);
    // A pipe needs sections for the halves that it joins.
    let body = "#ifndef NOWHERE\nTPipe<0, DIR_C2V, 4096, 2> pipe(y, 0, 0);\nTileRows a;\n\
                TPOP<TPipe<0, DIR_C2V, 4096, 2>, TileRows, TILE_UP_DOWN>(pipe, a);\n#endif";
    let findings = program(body, Arch::A3).run(1).findings;
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].rule, rule);
    assert!(findings[0].message.contains("the kernel has no sections for them"), "{}", findings[0]);
}

#[test]
fn checks_can_be_left_out() {
    let program = program(
        "TADDS(b, a, 1.0f); TASSIGN(c, 0x2010); TLOAD(c, from); TSTORE(to, c); set_flag(PIPE_V, PIPE_S, EVENT_ID0);",
        Arch::A3,
    );
    let rules = |checks: Checks| {
        let outcome = program.runner(Argument::Fresh(Y_BYTES)).checks(checks).run().expect("the arguments fit");
        let mut rules: Vec<Rule> = outcome.findings.iter().map(|f| f.rule).collect();
        rules.sort_unstable();
        rules.dedup();
        rules
    };
    let none = Checks::NONE;
    assert_eq!(rules(none), []);
    assert_eq!(rules(Checks { init: true, ..none }), [Rule::Uninitialised]);
    assert_eq!(rules(Checks { bounds: true, ..none }), [Rule::Misaligned]);
    assert_eq!(rules(Checks { race: true, ..none }), [Rule::Race, Rule::LeftSet]);
    assert_eq!(rules(Checks::ALL), [Rule::Uninitialised, Rule::Misaligned, Rule::Race, Rule::LeftSet]);
}

#[test]
fn runs_that_take_too_long_are_stopped() {
    // So many instructions.
    let repeat = |times: u32| program(&format!("for (int i = 0; i < {times}; ++i)\npipe_barrier(PIPE_ALL);"), Arch::A3);
    let run = |times| repeat(times).runner(Argument::Fresh(4)).limit(1000).run().expect("the arguments fit");
    assert_eq!(run(900).findings, []);
    let found = &run(1001).findings;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].rule, Rule::Limit);
    assert!(found[0].message.contains("was stopped after 1000 instructions, in the scalar program of PIPE_S"));
    assert!(found[0].line > 0);

    // So much time: a core that asks again and again for what never comes.
    let polls = program("while (*(volatile __gm__ float*)x != 7.0f) {\n}", Arch::A3);
    let limit = Duration::from_millis(100);
    let outcome = polls.runner(Argument::Fresh(4)).time_limit(limit).run().expect("the arguments fit");
    assert_eq!(outcome.findings.len(), 1, "{:?}", outcome.findings);
    assert_eq!(outcome.findings[0].rule, Rule::Limit);

    // An endless loop without an instruction. Its thread can only be left behind; here it ends with the test.
    let endless = Program::new(
        "#include \"pto/pto-inst.hpp\"\n\
         extern \"C\" __global__ AICORE void k(__gm__ float* y, uint64_t go) {\n\
         while (*(volatile uint8_t*)go) {\n}\n}\n",
        &CompileOptions::new(Arch::A3),
    );
    static GO: AtomicBool = AtomicBool::new(true);
    let begin = Instant::now();
    let runner = Runner::new(&endless.kernel).arg(Argument::Fresh(4)).arg(Argument::Int(GO.as_ptr() as i64));
    let outcome = runner.time_limit(limit).run().expect("the arguments fit");
    GO.store(false, Ordering::Relaxed);
    assert_eq!(outcome.findings.len(), 1, "{:?}", outcome.findings);
    assert_eq!(outcome.findings[0].rule, Rule::Limit);
    assert!(outcome.findings[0].message.contains("seconds, in the scalar program"), "{}", outcome.findings[0]);
    assert!(begin.elapsed() < Duration::from_secs(30));
}

// ---- results ------------------------------------------------------------------------------------------------------

#[test]
fn doubles_a_tensor() {
    let body = "\
TLOAD(a, from);
FLAG(PIPE_MTE2, PIPE_V);
TADD(b, a, a);
FLAG(PIPE_V, PIPE_MTE3);
TSTORE(to, b);";
    for arch in [Arch::A3, Arch::A5, Arch::Kirin9030, Arch::KirinX90] {
        let outcome = program(body, arch).run(1);
        assert_eq!(outcome.findings, [], "{arch:?}");
        let doubled: Vec<f64> = ramp().iter().map(|v| v * 2.0).collect();
        assert_eq!(f32s(&outcome.memory[1])[..1024], doubled, "{arch:?}");
        assert_eq!((outcome.extents[0], outcome.extents[1]), (0, 4096));
        assert_eq!(outcome.pitches, [None, Some(256)]);
    }
}

#[test]
fn additions_of_blocks_add_up() {
    let body = "\
TEXPANDS(a, 1.0f);
FLAG(PIPE_V, PIPE_MTE3);
TSTORE<TileRows, View, AtomicType::AtomicAdd>(from, a);";
    let outcome = program(body, Arch::A3).run(3);
    assert_eq!(outcome.findings, []);
    assert_eq!(f32s(&outcome.memory[0]), ramp().iter().map(|v| v + 3.0).collect::<Vec<_>>());
}

/// Results of a kernel that finds nothing wrong, as floats.
fn results(body: &str, arch: Arch, blocks: usize) -> Vec<f64> {
    let outcome = program(body, arch).run(blocks);
    assert_eq!(outcome.findings, [], "{arch:?}");
    f32s(&outcome.memory[1])
}

#[test]
fn cores_know_who_they_are() {
    let vector = "y[get_block_idx()] = 100 * get_block_num() + 10 * get_block_idx() + get_subblockdim();";
    assert_eq!(results(vector, Arch::A3, 3)[..3], [301.0, 311.0, 321.0]);
    // In a mixed kernel a block is a cube core and two vector cores.
    let mixed = "\
#if defined(__DAV_CUBE__)
y[16 + block_idx] = 10 * block_num + block_idx;
#endif
#if defined(__DAV_VEC__)
y[2 * get_block_idx() + get_subblockid()] = 100 * get_block_idx() + 10 * get_subblockid() + get_subblockdim();
#endif";
    let y = results(mixed, Arch::A5, 2);
    assert_eq!(y[..4], [2.0, 12.0, 102.0, 112.0]);
    assert_eq!(y[16..18], [20.0, 21.0]);
}

#[test]
fn a_pipe_may_wait_before_another_sets() {
    // The load waits in its queue while the scalar program goes on to the set.
    let body = "\
TEXPANDS(a, 5.0f);
wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
TSTORE(to, a);
set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);";
    for arch in [Arch::A3, Arch::A5] {
        assert_eq!(results(body, arch, 1)[..1024], [5.0; 1024]);
    }
}

#[test]
fn buffer_ids_hand_a_tile_from_pipe_to_pipe() {
    let body = "\
for (int i = 0; i < 3; ++i) {
get_buf(PIPE_MTE2, 0, 0);
TLOAD(a, from);
rls_buf(PIPE_MTE2, 0, 0);
get_buf(PIPE_V, 0, 0);
get_buf(PIPE_V, 1, 0);
TADDS(b, a, i);
rls_buf(PIPE_V, 0, 0);
rls_buf(PIPE_V, 1, 0);
get_buf(PIPE_MTE3, 1, 0);
View turn(y + i * 1024);
TSTORE(turn, b);
rls_buf(PIPE_MTE3, 1, 0);
}";
    let y = results(body, Arch::A5, 1);
    for (i, turn) in y.chunks(1024).take(3).enumerate() {
        assert_eq!(turn, ramp().iter().map(|v| v + i as f64).collect::<Vec<_>>());
    }
    let without = body.replace("get_buf(PIPE_V, 0, 0);", "").replace("rls_buf(PIPE_V, 0, 0);", "");
    assert_eq!(codes(&without, Arch::A5, 1).first(), Some(&"PTO-0806"));
}

#[test]
fn signals_reach_their_group() {
    // Mode 0: all vector cores. Each block reads what its neighbour wrote.
    let all = |meet: &str| {
        format!(
            "y[64 * get_block_idx()] = get_block_idx() + 1;\n{meet}\n\
             y[64 * get_block_idx() + 1] = y[64 * ((get_block_idx() + 1) % 3)] * 10;"
        )
    };
    let signals = "ffts_cross_core_sync(PIPE_S, getFFTSMsg(0, 5));\nwait_flag_dev(5);";
    for (meet, arch) in [(signals, Arch::A3), ("SYNCALL<SyncCoreType::AIVOnly>();", Arch::A5)] {
        let y = results(&all(meet), arch, 3);
        assert_eq!([y[1], y[65], y[129]], [20.0, 30.0, 10.0], "{meet}");
    }
    assert_eq!(codes(&all(""), Arch::A3, 3).last(), Some(&"PTO-0806"));

    // Mode 1: the vector cores of a block.
    let beside = |mode: u8| {
        format!(
            "#if defined(__DAV_CUBE__)\n#endif\n#if defined(__DAV_VEC__)\n\
             const int me = 2 * get_block_idx() + get_subblockid();\n\
             y[64 * me] = me + 1;\n\
             ffts_cross_core_sync(PIPE_S, getFFTSMsg({mode}, 5));\nwait_flag_dev(5);\n\
             y[64 * me + 1] = y[64 * (me ^ 1)] * 10;\n\
             #endif"
        )
    };
    for mode in [0, 1] {
        let y = results(&beside(mode), Arch::A3, 2);
        assert_eq!([y[1], y[65], y[129], y[193]], [20.0, 10.0, 40.0, 30.0], "mode {mode}");
    }
    assert_eq!(codes(&beside(2), Arch::A3, 2), ["PTO-0808"], "mode 2 signals the cube core");

    // Mode 2: from the cube core to both vector cores and back, by way of global memory.
    let halves = "\
#if defined(__DAV_CUBE__)
y[0] = 5.0f;
SIGNAL(PIPE_S, 0);
wait_flag_dev(1);
y[1] = y[64] + y[128];
#endif
#if defined(__DAV_VEC__)
wait_flag_dev(0);
y[64 + 64 * get_subblockid()] = y[0] + get_subblockid();
SIGNAL(PIPE_S, 1);
#endif";
    assert_eq!(results(halves, Arch::A3, 1)[..2], [5.0, 11.0]);

    // Signals of a block's halves from A5 on: the second vector core has numbers from 16 on, seen from the cube core.
    let intra = "\
#if defined(__DAV_CUBE__)
y[0] = 5.0f;
set_intra_block(PIPE_S, 16 + 3);
wait_intra_block(PIPE_S, 4);
y[1] = y[64] + y[128];
#endif
#if defined(__DAV_VEC__)
if (get_subblockid() == 1) {
wait_intra_block(PIPE_S, 3);
y[64] = y[0] * 2;
y[128] = 1.0f;
ANSWER
}
#endif";
    let right = intra.replace("wait_intra_block(PIPE_S, 4)", "wait_intra_block(PIPE_S, 16 + 4)");
    let answer = "set_intra_block(PIPE_S, 4);";
    assert_eq!(results(&right.replace("ANSWER", answer), Arch::A5, 1)[..2], [5.0, 11.0]);
    assert_eq!(codes(&intra.replace("ANSWER", answer), Arch::A5, 1)[0], "PTO-0808");
}

/// Where an element of a tile of these columns lies in boxes of 16 x 8 floats.
fn boxed(row: usize, col: usize, rows: usize) -> usize {
    col / 8 * rows * 8 + row * 8 + col % 8
}

#[test]
fn tiles_pass_through_pipes() {
    const TILES: usize = 5;
    const MOST: usize = 48 * 64;
    const RESULT: usize = 2 * TILES * MOST;
    let x: Vec<f64> = (0..TILES * 33 * 64).map(|i| (i % 4093) as f64).collect();
    let unit: Vec<f64> = (0..64 * 64).map(|i| if i / 64 == i % 64 { 1.0 } else { 0.0 }).collect();
    let targets = [
        (Arch::A3, "DIR_C2V", "DIR_V2C", true),
        (Arch::A5, "DIR_C2V", "DIR_V2C", false),
        (Arch::A5, "DIR_C2V_GM", "DIR_V2C_GM", true),
    ];
    for (arch, to_vector, to_cube, in_gm) in targets {
        let options = CompileOptions::new(arch)
            .define(format!("TO_VECTOR={to_vector}"))
            .define(format!("TO_CUBE={to_cube}"))
            .define(format!("IN_GM={}", u8::from(in_gm)));
        let program = Program::new(include_str!("../../testdata/fifo.cpp"), &options);
        let runner = Runner::new(&program.kernel).arg(floats(&x)).arg(floats(&unit));
        let runner = runner.arg(Argument::Fresh(16 * MOST * 4)).arg(Argument::Fresh(8 * RESULT * 4));
        let outcome = runner.run().expect("the arguments fit");
        assert_eq!(outcome.findings, [], "{arch:?} {to_vector}");
        let y = f32s(&outcome.memory[3]);

        // From the cube to the vector cores: flag, rows, columns.
        let splits = [(0, 32, 64), (2, 32, 64), (4, 32, 64), (6, 33, 64), (8, 32, 33)];
        for &(flag, rows, cols) in splits.iter().take(if in_gm { 5 } else { 3 }) {
            // Without a split both vector cores of A3 have the tile, only the first one of A5.
            for copy in 0..if flag == 0 && arch == Arch::A3 { 2 } else { 1 } {
                for t in 0..TILES {
                    for (r, c) in (0..rows).flat_map(|r| (0..cols).map(move |c| (r, c))) {
                        let found = y[flag / 2 * RESULT + (copy * TILES + t) * MOST + r * cols + c];
                        let expected = x[(t * rows + r) * 64 + c] + 1.0;
                        assert_eq!(found, expected, "{arch:?} {to_vector} pipe {flag}, tile {t}, {r}, {c}");
                    }
                }
            }
        }
        // From the vector cores to the cube: flag, rows and columns of a part.
        for (flag, rows, cols) in [(10, 32, 64), (12, 16, 64), (14, 32, 32)] {
            for t in 0..TILES {
                for (r, c) in (0..32).flat_map(|r| (0..64).map(move |c| (r, c))) {
                    let part = r / rows + c / cols;
                    let at = if in_gm { r % rows * cols + c % cols } else { boxed(r % rows, c % cols, rows) };
                    let expected = x[t * 32 * 64 + part * rows * cols + at];
                    let found = y[flag / 2 * RESULT + t * MOST + r * 64 + c];
                    assert_eq!(found, expected, "{arch:?} {to_cube} pipe {flag}, tile {t}, {r}, {c}");
                }
            }
        }
    }
}

#[test]
fn halves_that_push_the_same_tile_agree() {
    let body = |value: &str| {
        format!(
            "#if defined(__DAV_CUBE__)\nTPipe<0, DIR_V2C, 4096, 2> pipe(y, 0, 0);\nTileMat tile;\n\
             TPOP<TPipe<0, DIR_V2C, 4096, 2>, TileMat, TILE_NO_SPLIT>(pipe, tile);\n#endif\n\
             #if defined(__DAV_VEC__)\nTPipe<0, DIR_V2C, 4096, 2> pipe(y, 0, 0);\n\
             using TilePart = Tile<TileType::Vec, float, 32, 32>;\nTilePart part;\nTASSIGN(part, 0x0);\n\
             TEXPANDS(part, {value});\nFLAG(PIPE_V, PIPE_MTE3);\n\
             TPUSH<TPipe<0, DIR_V2C, 4096, 2>, TilePart, TILE_NO_SPLIT>(pipe, part);\n#endif"
        )
    };
    assert_eq!(codes(&body("1.0f"), Arch::A3, 1), [""; 0]);
    assert_eq!(codes(&body("1.0f + get_subblockid()"), Arch::A3, 1), ["PTO-0806"]);
}

#[test]
fn slots_can_be_written_as_tensors() {
    // The producer stores into the slot itself, the consumer loads from it.
    let body = "\
using Slot = GlobalTensor<float, Shape<1, 1, 1, 16, 32>, Stride<512, 512, 512, 32, 1>>;
#if defined(PTO_NPU_ARCH_A2A3)
using Pipe = TPipe<0, DIR_V2C, 4096, 2>;
#else
using Pipe = TPipe<0, DIR_V2C_GM, 4096, 2>;
#endif
Pipe pipe(y, 0, 0);
#if defined(__DAV_VEC__)
Tile<TileType::Vec, float, 16, 32> part;
TASSIGN(part, 0x0);
for (int i = 0; i < 4; ++i) {
Slot slot(y);
TALLOC<Pipe, Slot, TILE_UP_DOWN>(pipe, slot);
TEXPANDS(part, 10.0f * i + get_subblockid());
pipe_barrier(PIPE_ALL);
TSTORE(slot, part);
TPUSH<Pipe, Slot, TILE_UP_DOWN>(pipe, slot);
pipe_barrier(PIPE_ALL);
}
#endif
#if defined(__DAV_CUBE__)
TileMat tile;
TileLeft<float, 32, 32> a0;
TileRight<float, 32, 32> b0;
TileAcc<float, 32, 32> c;
TileMat ones;
TASSIGN(tile, 0x0);
TASSIGN(ones, 0x4000);
TASSIGN(a0, 0x0);
TASSIGN(b0, 0x0);
TASSIGN(c, 0x0);
Square one(x);
TLOAD(ones, one);
pipe_barrier(PIPE_ALL);
TMOV(b0, ones);
for (int i = 0; i < 4; ++i) {
Square slot(y);
TPOP<Pipe, Square, TILE_UP_DOWN>(pipe, slot);
TLOAD(tile, slot);
TFREE<Pipe, Square, TILE_UP_DOWN>(pipe, slot);
pipe_barrier(PIPE_ALL);
TMOV(a0, tile);
pipe_barrier(PIPE_ALL);
TMATMUL(c, a0, b0);
pipe_barrier(PIPE_ALL);
Square to(y + 2048 + i * 1024);
TSTORE(to, c);
pipe_barrier(PIPE_ALL);
}
#endif";
    let unit: Vec<f64> = (0..1024).map(|i| if i / 32 == i % 32 { 1.0 } else { 0.0 }).collect();
    for arch in [Arch::A3, Arch::A5] {
        let program = program(body, arch);
        let runner = Runner::new(&program.kernel).arg(floats(&unit)).arg(Argument::Fresh(6 * 4096));
        let outcome = runner.run().expect("the arguments fit");
        assert_eq!(outcome.findings, [], "{arch:?}");
        let expected: Vec<f64> = (0..4096).map(|i| (i / 1024 * 10 + i % 1024 / 512) as f64).collect();
        assert_eq!(f32s(&outcome.memory[1])[2048..], expected, "{arch:?}");
    }
}

#[test]
fn kernels_print() {
    let body = "\
Tile<TileType::Vec, float, 2, 8, BLayout::RowMajor, 2, 3> small;
TASSIGN(small, 0x0);
TEXPANDS(a, 1.5f);
cce::printf(\"%d %s %5.2f|%x\\n\", -7, \"tile\", 2.5f, 255);
TPRINT(small);";
    let outcome = program(body, Arch::A3).run(1);
    assert_eq!(outcome.findings, []);
    let (first, rest) = outcome.printed.split_once('\n').expect("two lines or more");
    assert_eq!(first, "-7 tile  2.50|ff");
    let mut lines = rest.lines();
    assert_eq!(lines.next(), Some("=== [TPRINT Tile] Data Type: float32, Layout: ND, TileType: Vec ==="));
    assert_eq!(lines.next(), Some("  Shape: [2, 8], Valid Shape: [2, 3]"));
    let row: Vec<&str> = lines.next().expect("a row").split_whitespace().collect();
    assert_eq!(row[..3], ["1.5000", "1.5000", "1.5000|"]);
    assert_eq!(lines.count(), 1);
}

// ---- traces and repeatability -------------------------------------------------------------------------------------

/// A value of JSON, as far as traces use it.
#[derive(Debug, PartialEq)]
enum Json {
    Text(String),
    Number(f64),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    fn parse(text: &str) -> Json {
        let mut rest = text;
        let value = Json::value(&mut rest);
        assert_eq!(rest.trim(), "", "something follows the value");
        value
    }

    fn eat(rest: &mut &str, c: char) -> bool {
        let stripped = rest.trim_start().strip_prefix(c);
        *rest = stripped.unwrap_or(rest.trim_start());
        stripped.is_some()
    }

    fn value(rest: &mut &str) -> Json {
        if Json::eat(rest, '{') {
            return Json::Object(Json::items(rest, '}', |rest| {
                let Json::Text(key) = Json::value(rest) else { panic!("a key is a string") };
                assert!(Json::eat(rest, ':'), "a colon follows {key}");
                (key, Json::value(rest))
            }));
        }
        if Json::eat(rest, '[') {
            return Json::List(Json::items(rest, ']', Json::value));
        }
        if Json::eat(rest, '"') {
            let end = rest.find('"').expect("a string ends");
            let text = rest[..end].to_owned();
            assert!(!text.contains('\\'), "these traces need no escapes");
            *rest = &rest[end + 1..];
            return Json::Text(text);
        }
        let end = rest.find(|c: char| !"0123456789.-".contains(c)).unwrap_or(rest.len());
        let number = rest[..end].parse().unwrap_or_else(|_| panic!("no value: {:.40}", rest));
        *rest = &rest[end..];
        Json::Number(number)
    }

    fn items<T>(rest: &mut &str, close: char, item: impl Fn(&mut &str) -> T) -> Vec<T> {
        let mut items = Vec::new();
        if Json::eat(rest, close) {
            return items;
        }
        loop {
            items.push(item(rest));
            if Json::eat(rest, close) {
                return items;
            }
            assert!(Json::eat(rest, ','), "a comma or {close} follows: {:.40}", rest);
        }
    }

    fn get(&self, key: &str) -> &Json {
        let Json::Object(fields) = self else { panic!("no object: {self:?}") };
        &fields.iter().find(|(k, _)| k == key).unwrap_or_else(|| panic!("no {key} in {self:?}")).1
    }

    fn text(&self) -> &str {
        let Json::Text(text) = self else { panic!("no string: {self:?}") };
        text
    }

    fn number(&self) -> f64 {
        let Json::Number(number) = self else { panic!("no number: {self:?}") };
        *number
    }
}

const TRACED: &str = "\
#if defined(__DAV_CUBE__)
set_intra_block(PIPE_S, 0);
set_intra_block(PIPE_S, 16);
#endif
#if defined(__DAV_VEC__)
View from(x);
View to(y + 1024 * get_subblockid());
TileRows a;
TileRows b;
TASSIGN(a, 0x0);
TASSIGN(b, 0x1000);
wait_intra_block(PIPE_MTE2, 0);
TLOAD(a, from);
FLAG(PIPE_MTE2, PIPE_V);
TADDS(b, a, 1.0f);
FLAG(PIPE_V, PIPE_MTE3);
TSTORE(to, b);
cce::printf(\"%d\\n\", (int)get_subblockid());
#endif";

#[test]
fn a_trace_shows_pipes_instructions_and_flags() {
    let program = program(TRACED, Arch::A5);
    let outcome = program.runner(Argument::Fresh(Y_BYTES)).trace(true).run().expect("the arguments fit");
    assert_eq!(outcome.findings, []);
    let trace = Json::parse(&outcome.trace.expect("a trace was asked for"));
    let Json::List(events) = trace.get("traceEvents") else { panic!("no events") };
    let of = |ph: &str| events.iter().filter(|e| e.get("ph").text() == ph).collect::<Vec<_>>();
    let tid = |event: &Json| event.get("tid").number() as u64;

    // A row for each pipe that did something.
    let names = |kind: &str| {
        let named = of("M").into_iter().filter(|e| e.get("name").text() == kind);
        let mut names: Vec<(u64, String)> =
            named.map(|e| (tid(e), e.get("args").get("name").text().to_owned())).collect();
        names.sort_unstable();
        names
    };
    let rows = names("thread_name");
    let pipes: Vec<&str> = rows.iter().map(|(_, name)| name.as_str()).collect();
    let vector = ["PIPE_S", "PIPE_V", "PIPE_MTE2", "PIPE_MTE3"];
    assert_eq!(pipes, [&["PIPE_S"][..], &vector, &vector].concat());
    let cores: Vec<String> = names("process_name").into_iter().map(|(_, name)| name).collect();
    let count = |name: &str| cores.iter().filter(|c| *c == name).count();
    assert_eq!([count("block 0 cube"), count("block 0 vector 0"), count("block 0 vector 1")], [1, 4, 4]);

    // Every instruction lies on a row, and those of one row follow one another.
    let slices = of("X");
    let on = |name: &str| slices.iter().filter(|s| s.get("name").text() == name).map(|s| tid(s)).collect::<Vec<_>>();
    let row = |pipe: &str| rows.iter().filter(|(_, p)| p == pipe).map(|(tid, _)| *tid).collect::<Vec<_>>();
    for (name, pipe) in [("TLOAD", "PIPE_MTE2"), ("TADDS", "PIPE_V"), ("TSTORE", "PIPE_MTE3")] {
        assert_eq!(on(name), row(pipe), "{name}");
    }
    for (tid_, _) in &rows {
        let mut end = 0.0;
        for slice in slices.iter().filter(|s| tid(s) == *tid_) {
            assert!(slice.get("ts").number() >= end - 1e-9, "{slice:?}");
            end = slice.get("ts").number() + slice.get("dur").number();
        }
    }
    let at = slices.iter().find(|s| s.get("name").text() == "TADDS").map(|s| s.get("args").get("at").text());
    let line = text(TRACED).lines().position(|l| l.starts_with("TADDS")).map(|at| at + 1);
    assert!(at.is_some_and(|at| at.ends_with(&format!("kernel.cpp:{}", line.unwrap_or(0)))), "{at:?}");

    // Two flags and a signal for each vector core, each from its set to its wait.
    let (starts, ends) = (of("s"), of("f"));
    let mut arrows: Vec<(u64, u64)> = starts
        .iter()
        .map(|start| {
            let end = ends.iter().find(|e| e.get("id") == start.get("id")).expect("an arrow has an end");
            assert!(end.get("ts").number() >= start.get("ts").number(), "{start:?} {end:?}");
            (tid(start), tid(end))
        })
        .collect();
    arrows.sort_unstable();
    let (load, add, store) = (row("PIPE_MTE2"), row("PIPE_V"), row("PIPE_MTE3"));
    let cube = row("PIPE_S")[0];
    let mut expected: Vec<(u64, u64)> =
        (0..2).flat_map(|v| [(cube, load[v]), (load[v], add[v]), (add[v], store[v])]).collect();
    expected.sort_unstable();
    assert_eq!(arrows, expected);
    assert_eq!(ends.len(), 6);
}

#[test]
fn runs_repeat() {
    // With races and prints in several cores.
    let body = TRACED.replace("FLAG(PIPE_MTE2, PIPE_V);\n", "").replace(" + 1024 * get_subblockid()", "");
    let program = program(&body, Arch::A5);
    let run = || {
        let runner = program.runner(Argument::Fresh(Y_BYTES)).blocks(2).trace(true);
        let outcome = runner.run().expect("the arguments fit");
        (outcome.findings, outcome.memory, outcome.printed, outcome.instructions, outcome.trace)
    };
    let first = run();
    assert!(first.0.iter().any(|f| f.rule == Rule::Race));
    assert_eq!(first.2.lines().count(), 4);
    for _ in 0..3 {
        assert_eq!(run(), first);
    }
}

/// The compiler knows how to fill and copy memory; what the kernel does to global memory must still be seen.
#[test]
fn scalar_loops_and_structures_are_checked() {
    let text = |count: usize| {
        format!(
            "for (int i = 0; i < {count}; ++i) {{ y[i] = 0; }}\n\
             struct Four {{ float part[4]; }}; ((__gm__ Four*)y)[1] = ((__gm__ Four*)x)[2];"
        )
    };
    let outcome = run(&vector_kernel(&text(1024)));
    assert_eq!(outcome.findings, []);
    let y = Tensor { element: Element::F32, shape: vec![1024], bytes: outcome.memory[1].clone() };
    let copied = |i: usize| if (4..8).contains(&i) { ramp()[i + 4] } else { 0.0 };
    assert_eq!(y.values(), (0..1024).map(copied).collect::<Vec<_>>());
    assert_eq!(codes(&text(1025)), ["PTO-0803"]);
}
