//! Compiles small kernels, right and wrong, against the headers. Needs clang 22: see `HostCompiler::find`.

use std::path::PathBuf;

use tempfile::TempDir;

use crate::compiler::parse_diagnostics;
use crate::{Arch, CompileOptions, Error, Half, HostCompiler, Severity, Standard, entry_points};

const VECTOR_KERNEL: &str = include_str!("../testdata/vector_add.cpp");
const MATMUL_KERNEL: &str = include_str!("../testdata/matmul.cpp");
const FAMILIES_KERNEL: &str = include_str!("../testdata/families.cpp");

/// A kernel in a folder of its own.
struct Kernel {
    folder: TempDir,
    path: PathBuf,
}

impl Kernel {
    fn new(source: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("kernel.cpp");
        std::fs::write(&path, source).expect("write the kernel");
        Kernel { folder, path }
    }

    /// A kernel whose body is `body`.
    fn of_body(body: &str) -> Self {
        Kernel::new(&format!(
            "#include \"pto/pto-inst.hpp\"\nusing namespace pto;\n\
             extern \"C\" __global__ AICORE void kernel(__gm__ float* v1) {{\n{body}\n}}\n"
        ))
    }

    fn check(&self, options: &CompileOptions) -> Result<(), Error> {
        clang().check(&self.path, options).map(|_| ())
    }
}

fn clang() -> HostCompiler {
    HostCompiler::find().expect("these tests need clang 22")
}

/// Codes of the errors that a body gives on `arch`, in order.
fn codes(body: &str, options: &CompileOptions) -> Vec<String> {
    match Kernel::of_body(body).check(options) {
        Ok(()) => Vec::new(),
        Err(error) => {
            let errors = error.diagnostics().iter().filter(|d| d.severity == Severity::Error);
            errors.filter_map(|d| d.code().map(str::to_owned)).collect()
        }
    }
}

/// The text of all errors that a body gives on `arch`.
fn errors(body: &str, arch: Arch) -> String {
    let error = Kernel::of_body(body).check(&CompileOptions::new(arch)).expect_err("the body is wrong");
    assert!(!error.diagnostics().is_empty(), "{error}");
    error.to_string()
}

fn a3() -> CompileOptions {
    CompileOptions::new(Arch::A3)
}

#[test]
fn good_kernels_compile_everywhere() {
    for source in [VECTOR_KERNEL, MATMUL_KERNEL, FAMILIES_KERNEL] {
        let kernel = Kernel::new(source);
        for arch in [Arch::A3, Arch::A5] {
            for standard in [Standard::Cxx17, Standard::Cxx20] {
                kernel.check(&CompileOptions::new(arch).standard(standard)).expect("a good kernel");
            }
        }
    }
}

#[test]
fn oversized_tile_is_sa_0352_and_0353() {
    let body = "Tile<TileType::Vec, float, 256, 256> t; TASSIGN<0x0>(t);";
    assert_eq!(codes(body, &a3()), ["SA-0352", "SA-0353"]);
}

#[test]
fn tile_past_the_end_is_sa_0353() {
    let body = "Tile<TileType::Vec, float, 128, 128> t; TASSIGN<0x20020>(t);";
    assert_eq!(codes(body, &a3()), ["SA-0353"]);
    assert!(errors(body, Arch::A3).contains("[SA-0353] TASSIGN: "));
    assert!(errors(body, Arch::A3).contains("FIX-A12"));
}

#[test]
fn missing_memory_is_sa_0351() {
    let body = "TileLeftScale<float8_e8m0_t, 16, 2> t; TASSIGN<0x0>(t);";
    assert_eq!(codes(body, &a3()), ["SA-0351", "SA-0352"]);
    assert_eq!(codes(body, &CompileOptions::new(Arch::A5)), [""; 0]);
}

#[test]
fn unaligned_address_is_sa_0354() {
    let body = "Tile<TileType::Vec, float, 16, 16> t; TASSIGN<0x10>(t);";
    assert_eq!(codes(body, &a3()), ["SA-0354"]);
}

#[test]
fn ping_pong_operands_fit() {
    let body = "TileLeft<half, 128, 128> l0, l1; TileRight<half, 128, 128> r0, r1;\n\
                TASSIGN<0x0000>(l0); TASSIGN<0x8000>(l1); TASSIGN<0x0000>(r0); TASSIGN<0x8000>(r1);";
    assert_eq!(codes(body, &a3()), [""; 0]);
    Kernel::of_body(body).check(&a3()).expect("ping and pong tiles fit");
}

#[test]
fn capacity_can_be_overridden() {
    let body = "Tile<TileType::Vec, float, 200, 256> t; TASSIGN<0x0>(t);";
    assert_eq!(codes(body, &a3()), ["SA-0352", "SA-0353"]);
    Kernel::of_body(body).check(&a3().define("PTO_UBUF_SIZE_BYTES=262144")).expect("200 KiB fit into 256 KiB");
}

#[test]
fn missing_operand_is_rejected() {
    let body = "Tile<TileType::Vec, float, 16, 16> a, b; TADD(a, b);";
    assert!(errors(body, Arch::A3).contains("no matching function for call to 'TADD'"));
}

#[test]
fn swapped_matmul_operands_are_rejected() {
    let body = "TileLeft<half, 16, 16> a; TileRight<half, 16, 16> b; TileAcc<float, 16, 16> c; TMATMUL(c, b, a);";
    assert!(errors(body, Arch::A5).contains("TMATMUL: operand 'a' must be a Left tile"));
}

#[test]
fn wrong_location_and_element_type_are_rejected() {
    let place = "Tile<TileType::Vec, float, 16, 16> a; Tile<TileType::Mat, float, 16, 16> b; TADD(a, a, b);";
    assert!(errors(place, Arch::A3).contains("TADD: operand 'src1' must be"));
    let element = "Tile<TileType::Vec, float, 16, 16> a; Tile<TileType::Vec, int32_t, 16, 16> b; TADD(a, a, b);";
    assert!(errors(element, Arch::A3).contains("TADD: dst, src0 and src1 must hold the same element type"));
}

#[test]
fn vector_to_l1_exists_on_a5_only() {
    let body = "Tile<TileType::Vec, float, 16, 16> v; Tile<TileType::Mat, float, 16, 16> m; TMOV(m, v);";
    assert!(errors(body, Arch::A3).contains("TMOV: this architecture has no path"));
    Kernel::of_body(body).check(&CompileOptions::new(Arch::A5)).expect("A5 has the path");
}

#[test]
fn tile_layout_rules_hold() {
    let row = errors("Tile<TileType::Vec, float, 4, 4> t;", Arch::A3);
    assert!(row.contains("a row of an unboxed row-major tile must be a multiple of 32 bytes"));
    let column = errors("Tile<TileType::Vec, float, 4, 1, BLayout::ColMajor> t;", Arch::A3);
    assert!(column.contains("a column of an unboxed column-major tile must be a multiple of 32 bytes"));
    let boxed = errors("TileAcc<float, 8, 16> t;", Arch::A3);
    assert!(boxed.contains("rows must be a multiple of the rows of the inner box"));
}

#[test]
fn unknown_architecture_is_an_error() {
    let clang = clang();
    let kernel = Kernel::of_body("");
    let mut command = std::process::Command::new(clang.program());
    command.args(["-fsyntax-only", "-I"]).arg(crate::include_dir()).arg(&kernel.path);
    let stderr = command.output().expect("run clang").stderr;
    assert!(String::from_utf8_lossy(&stderr).contains("no NPU architecture"));
}

#[test]
fn bitcode_lists_the_entry_points() {
    let kernel = Kernel::new(VECTOR_KERNEL);
    let bitcode = kernel.folder.path().join("kernel.bc");
    let options = a3().half(Half::Vector);
    clang().compile_to_bitcode(&kernel.path, &options, &bitcode).expect("a good kernel");
    let entries = entry_points(&bitcode).expect("valid bitcode");
    let entry = entries.iter().find(|e| e.name == "vector_add").expect("the kernel's entry");
    assert!(entry.launchable);
    assert_eq!(entry.params, ["ptr", "ptr", "ptr", "i32"]);
    assert_eq!(entries.iter().filter(|e| e.launchable).count(), 1);
}

#[test]
fn text_is_not_bitcode() {
    let kernel = Kernel::of_body("");
    assert!(matches!(entry_points(&kernel.path), Err(Error::InvalidBitcode { .. })));
}

#[test]
fn missing_kernel_is_a_tool_failure() {
    let missing = PathBuf::from("no/such/kernel.cpp");
    let error = clang().check(&missing, &a3()).expect_err("there is no such file");
    assert!(matches!(&error, Error::CompilerFailed { stderr, .. } if stderr.contains("no/such/kernel.cpp")));
}

#[test]
fn diagnostics_are_parsed() {
    let text = "In file included from k.cpp:1:\na/b.hpp:7:12: error: [SA-0352] TASSIGN: big\nk.cpp:3:1: note: here\n\
                1 error generated.\n";
    let parsed = parse_diagnostics(text);
    assert_eq!(parsed.len(), 2);
    assert_eq!((parsed[0].file.as_str(), parsed[0].line, parsed[0].column), ("a/b.hpp", 7, 12));
    assert_eq!(parsed[0].code(), Some("SA-0352"));
    assert_eq!(parsed[1].to_string(), "k.cpp:3:1: note: here");
}
