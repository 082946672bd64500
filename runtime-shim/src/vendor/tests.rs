//! Runs small kernels against the vendor's headers. Those that need them are skipped unless `PTO_ISA_DIR` names a
//! pto-isa checkout.

use std::os::unix::process::ExitStatusExt;
use std::sync::OnceLock;
use std::time::Duration;

use tempfile::TempDir;

use super::{VendorArg, VendorEntry, VendorKernel, VendorOptions, VendorReport, tail};
use crate::{Arch, Error};

/// Options with a cache that the tests share; none if there are no headers.
fn options(arch: Arch) -> Option<VendorOptions> {
    static CACHE: OnceLock<TempDir> = OnceLock::new();
    let Some(headers) = std::env::var_os("PTO_ISA_DIR").filter(|dir| !dir.is_empty()) else {
        println!("skipped: PTO_ISA_DIR is not set");
        return None;
    };
    let cache = CACHE.get_or_init(|| tempfile::tempdir().expect("a folder"));
    Some(VendorOptions { cache: Some(cache.path().to_owned()), ..VendorOptions::new(headers, arch) })
}

/// Compiles a kernel whose source is `text`.
fn compile(options: &VendorOptions, text: &str, entry: &VendorEntry) -> Result<VendorKernel, Error> {
    let folder = tempfile::tempdir().expect("a folder");
    let kernel = folder.path().join("kernel.cpp");
    let text = format!("#include \"pto/pto-inst.hpp\"\nusing namespace pto;\n{text}");
    std::fs::write(&kernel, text).expect("write the kernel");
    VendorKernel::compile(options, &kernel, entry)
}

/// Runs a kernel whose source is `text`.
fn run(
    options: &VendorOptions,
    text: &str,
    entry: &VendorEntry,
    args: &mut [VendorArg],
) -> Result<VendorReport, Error> {
    compile(options, text, entry)?.run(args)
}

fn floats(values: impl IntoIterator<Item = f32>) -> VendorArg {
    VendorArg::Buffer(values.into_iter().flat_map(f32::to_le_bytes).collect())
}

fn read_floats(arg: &VendorArg) -> Vec<f32> {
    let VendorArg::Buffer(bytes) = arg else { panic!("not a buffer: {arg:?}") };
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

/// `z[block] = x[block] * factor + block + offset` on tiles of 8 by 16.
const SCALE: &str = "
extern \"C\" __global__ AICORE void scale(__gm__ float* x, __gm__ float* z, float factor, int32_t offset, int64_t blocks) {
    using Tile8 = Tile<TileType::Vec, float, 8, 16, BLayout::RowMajor, -1, -1>;
    using Global = GlobalTensor<float, pto::Shape<1, 1, 1, 8, 16>, pto::Stride<128, 128, 128, 16, 1>>;
    if (get_block_num() != blocks || block_num != blocks) return;
    const int64_t at = get_block_idx() * 128;
    Tile8 a(8, 16), b(8, 16);
    TASSIGN<0x0>(a);
    TASSIGN<0x2FE00>(b);
    Global from(x + at), to(z + at);
    TLOAD(a, from);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TMULS(b, a, factor);
    pipe_barrier(PIPE_V);
    TADDS(b, b, float(block_idx + offset));
    TSTORE(to, b);
}";

fn scale_args(blocks: u32) -> [VendorArg; 5] {
    let elements = blocks as usize * 128;
    let x = floats((0..elements).map(|i| i as f32));
    [x, floats(vec![0.0; elements]), VendorArg::Real(0.5), VendorArg::Integer(100), VendorArg::BlockCount]
}

#[test]
fn vector_kernel_gets_buffers_scalars_and_blocks() {
    for arch in [Arch::A3, Arch::A5] {
        let Some(options) = options(arch) else { return };
        let options = VendorOptions { blocks: 3, ..options };
        let mut args = scale_args(3);
        let report = run(&options, SCALE, &VendorEntry::vector("scale"), &mut args).expect("the kernel runs");
        let expected: Vec<f32> = (0..3 * 128).map(|i| i as f32 * 0.5 + (i / 128) as f32 + 100.0).collect();
        assert_eq!(read_floats(&args[1]), expected);
        assert_eq!(args[0], scale_args(3)[0], "the input is unchanged");
        assert!(report.run > Duration::ZERO && report.compile > report.run, "{report:?}");
    }
}

#[test]
fn nothing_is_kept_without_a_cache() {
    let Some(options) = options(Arch::A3) else { return };
    let options = VendorOptions { cache: None, ..options };
    let mut args = scale_args(1);
    run(&options, SCALE, &VendorEntry::vector("scale"), &mut args).expect("the kernel runs");
    assert_eq!(read_floats(&args[1])[127], 163.5);
}

/// A cube half that multiplies, and vector halves that take a half of the rows each and add one. The ring is in
/// global memory on A3 and in the unified buffer on A5.
const MIXED: &str = "
#ifdef A5
#define RING nullptr
#else
#define RING ring
#endif
extern \"C\" __global__ AICORE void mixed(__gm__ float* a, __gm__ float* b, __gm__ float* c, __gm__ float* ring) {
    using Pipe = TPipe<0, Direction::DIR_C2V, 16 * 16 * 4, 2>;
    using Acc = Tile<TileType::Acc, float, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor, 1024>;
    using Global = GlobalTensor<float, pto::Shape<1, 1, 1, 16, 16>, pto::Stride<256, 256, 256, 16, 1>>;
    using Half = GlobalTensor<float, pto::Shape<1, 1, 1, 8, 16>, pto::Stride<256, 256, 256, 16, 1>>;
    const int64_t at = get_block_idx() * 256;
#if defined(__DAV_CUBE__)
    Pipe pipe(RING, 0, 0);
    Tile<TileType::Mat, float, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor> ma, mb;
    Tile<TileType::Left, float, 16, 16, BLayout::RowMajor, 16, 16, SLayout::RowMajor> left;
    Tile<TileType::Right, float, 16, 16, BLayout::RowMajor, 16, 16, SLayout::ColMajor> right;
    Acc acc;
    TASSIGN<0x0>(ma);
    TASSIGN<0x1000>(mb);
    TASSIGN<0x0>(left);
    TASSIGN<0x0>(right);
    TASSIGN<0x0>(acc);
    Global ga(a + at), gb(b);
    TLOAD(ma, ga);
    TLOAD(mb, gb);
    TMOV(left, ma);
    TMOV(right, mb);
    TMATMUL(acc, left, right);
    for (int i = 0; i < 4; ++i) TPUSH<Pipe, Acc, TileSplitAxis::TILE_UP_DOWN>(pipe, acc);
#endif
#if defined(__DAV_VEC__)
    using Vec = Tile<TileType::Vec, float, 8, 16, BLayout::RowMajor, 8, 16>;
    Pipe pipe(RING, 0, 0);
    Vec tile, sum;
    TASSIGN<0x2000>(tile);
    TASSIGN<0x4000>(sum);
    TEXPANDS(sum, 1.0f);
    for (int i = 0; i < 4; ++i) {
        TPOP<Pipe, Vec, TileSplitAxis::TILE_UP_DOWN>(pipe, tile);
        TADD(sum, sum, tile);
        TFREE<Pipe, TileSplitAxis::TILE_UP_DOWN>(pipe);
    }
    Half to(c + at + get_subblockid() * 128);
    TSTORE(to, sum);
#endif
}";

#[test]
fn mixed_kernel_runs_on_a_cube_core_and_two_vector_cores() {
    for (arch, prefix) in [(Arch::A3, ""), (Arch::A5, "#define A5\n")] {
        let Some(options) = options(arch) else { return };
        let options = VendorOptions { blocks: 2, time_limit: Duration::from_secs(20), ..options };
        // B doubles and reverses the columns. A slot of the ring is shared by the blocks, so that one block has it.
        let a: Vec<f32> = (0..512).map(|i| (i % 97) as f32).collect();
        let b = (0..256).map(|i| if i / 16 + i % 16 == 15 { 2.0 } else { 0.0 });
        let blocks = if arch == Arch::A3 { 1 } else { 2 };
        let options = VendorOptions { blocks, ..options };
        let size = blocks as usize * 256;
        let mut args = [floats(a.clone()), floats(b), floats(vec![0.0; size]), floats(vec![0.0; 512])];
        run(&options, &format!("{prefix}{MIXED}"), &VendorEntry::mixed("mixed"), &mut args).expect("the kernel runs");
        let expected: Vec<f32> = (0..size).map(|i| 1.0 + 4.0 * 2.0 * a[i / 16 * 16 + 15 - i % 16]).collect();
        assert_eq!(read_floats(&args[2]), expected, "{arch:?}");
    }
}

#[test]
fn unsplit_tiles_go_to_the_first_vector_core_only() {
    let Some(options) = options(Arch::A3) else { return };
    let options = VendorOptions { time_limit: Duration::from_secs(20), ..options };
    let text = "
    using Pipe = TPipe<0, Direction::DIR_C2V, 16 * 16 * 4, 2, 2, true>;
    AICORE void unsplit(__gm__ float* z, __gm__ float* ring) {
#if defined(__DAV_CUBE__)
        Pipe pipe(ring, 0, 0);
        Tile<TileType::Acc, float, 16, 16, BLayout::ColMajor, 16, 16, SLayout::RowMajor, 1024> acc;
        TASSIGN<0x0>(acc);
        for (int i = 0; i < 5; ++i) TPUSH<Pipe, decltype(acc), TileSplitAxis::TILE_NO_SPLIT>(pipe, acc);
#endif
#if defined(__DAV_VEC__)
        z[get_subblockid()] = float(get_subblockdim());
        Pipe pipe(ring, 0, 0);
        Tile<TileType::Vec, float, 16, 16, BLayout::RowMajor, -1, -1> tile(16, 16), none(0, 0);
        TASSIGN<0x0>(tile);
        TASSIGN<0x0>(none);
        if (get_subblockid() != 0) {
            TPOP<Pipe, decltype(none), TileSplitAxis::TILE_NO_SPLIT>(pipe, none);
            TFREE<Pipe, TileSplitAxis::TILE_NO_SPLIT>(pipe);
            return;
        }
        for (int i = 0; i < 5; ++i) {
            TPOP<Pipe, decltype(tile), TileSplitAxis::TILE_NO_SPLIT>(pipe, tile);
            TFREE<Pipe, TileSplitAxis::TILE_NO_SPLIT>(pipe);
            z[2] += 1.0f;
        }
#endif
    }";
    let mut args = [floats([0.0; 3]), floats([0.0; 512])];
    run(&options, text, &VendorEntry::mixed("unsplit"), &mut args).expect("the kernel runs");
    assert_eq!(read_floats(&args[0]), [2.0, 2.0, 5.0]);
}

#[test]
fn conversion_with_scratch_is_defined() {
    let Some(options) = options(Arch::A3) else { return };
    let text = "
    AICORE void narrow(__gm__ half* x, __gm__ int8_t* y) {
        Tile<TileType::Vec, half, 1, 32> a;
        Tile<TileType::Vec, int8_t, 1, 32> b, scratch;
        TASSIGN<0x0>(a);
        TASSIGN<0x100>(b);
        TASSIGN<0x200>(scratch);
        GlobalTensor<half, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>> gx(x);
        GlobalTensor<int8_t, pto::Shape<1, 1, 1, 1, 32>, pto::Stride<32, 32, 32, 32, 1>> gy(y);
        TLOAD(a, gx);
        TCVT(b, a, scratch, RoundMode::CAST_RINT, SaturationMode::ON);
        TSTORE(gy, b);
        TCVT(b, a, scratch, RoundMode::CAST_TRUNC);
        y[31] = b.data()[1];
    }";
    let x: Vec<u8> = (0..32).flat_map(|i| half::f16::from_f32(i as f32 * 12.7 - 200.0).to_le_bytes()).collect();
    let mut args = [VendorArg::Buffer(x), VendorArg::Buffer(vec![0; 32])];
    run(&options, text, &VendorEntry::vector("narrow"), &mut args).expect("the kernel runs");
    let VendorArg::Buffer(bytes) = &args[1] else { panic!("not a buffer") };
    let found: Vec<i8> = bytes.iter().map(|b| *b as i8).collect();
    let exact = |i: u8| half::f16::from_f32(f32::from(i) * 12.7 - 200.0).to_f32();
    let expected: Vec<i8> = (0..31).map(|i| exact(i).round_ties_even() as i8).collect();
    assert_eq!(found[..31], expected);
    assert_eq!(found[31], exact(1) as i64 as i8, "without saturation the low byte remains");
}

/// Cores of both kinds hand a counter on: with signals of the A3, or of the A5, and a barrier of all cores.
const SIGNALS: &str = "
AICORE void cube(__gm__ int32_t* p, int64_t a5) {
#if defined(__DAV_CUBE__)
    p[0] = 1;
    if (a5) { set_intra_block(PIPE_FIX, 3); set_intra_block(PIPE_FIX, 3 + 16); }
    else ffts_cross_core_sync(PIPE_FIX, 1 | 2 << 4 | 3 << 8);
    if (a5) { wait_intra_block(PIPE_S, 4); wait_intra_block(PIPE_S, 4 + 16); }
    else wait_flag_dev(4);
    p[3] = p[1] + p[2];
    SYNCALL<SyncCoreType::Mix>();
#endif
}
AICORE void vec(__gm__ int32_t* p, int64_t a5, int32_t sub) {
#if defined(__DAV_VEC__)
    if (a5) wait_intra_block(PIPE_S, 3);
    else wait_flag_dev(3);
    p[1 + sub] = p[0] * (10 + sub);
    if (a5) set_intra_block(PIPE_MTE3, 4);
    else ffts_cross_core_sync(PIPE_MTE3, 1 | 2 << 4 | 4 << 8);
    SYNCALL<SyncCoreType::Mix>();
    p[4 + sub] = p[3];
#endif
}";

#[test]
fn signals_and_barriers_order_the_cores() {
    for (arch, a5) in [(Arch::A3, 0), (Arch::A5, 1)] {
        let Some(options) = options(arch) else { return };
        let options = VendorOptions { time_limit: Duration::from_secs(20), ..options };
        let entry = VendorEntry::halves("cube", "vec");
        let mut args = [VendorArg::Buffer(vec![0; 24]), VendorArg::Integer(a5), VendorArg::SubblockIndex];
        run(&options, SIGNALS, &entry, &mut args).expect("the kernel runs");
        let expected = [1i32, 10, 11, 21, 21, 21].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(args[0], VendorArg::Buffer(expected), "{arch:?}");
    }
}

#[test]
fn bfloat16_is_a_type_of_its_own() {
    let Some(options) = options(Arch::A3) else { return };
    let text = "
    extern \"C\" __global__ AICORE void round_trip(__gm__ float* x, __gm__ bfloat16_t* y, bfloat16_t scalar) {
        Tile<TileType::Vec, float, 1, 16> a;
        Tile<TileType::Vec, bfloat16_t, 1, 16> b;
        TASSIGN<0x0>(a);
        TASSIGN<0x100>(b);
        GlobalTensor<float, pto::Shape<1, 1, 1, 1, 16>, pto::Stride<16, 16, 16, 16, 1>> gx(x);
        GlobalTensor<bfloat16_t, pto::Shape<1, 1, 1, 1, 16>, pto::Stride<16, 16, 16, 16, 1>> gy(y);
        TLOAD(a, gx);
        TCVT(b, a, RoundMode::CAST_RINT);
        TSTORE(gy, b);
        y[15] = scalar;
    }";
    // The third and the fourth are ties.
    let values = [70000.0, 1.0, 1.0 + 1.0 / 256.0, 1.0 + 3.0 / 256.0, -3.0e38, f32::INFINITY];
    let x = floats(values.into_iter().chain([0.0; 10]));
    // One bit above half of the last place, in double precision only.
    let scalar = VendorArg::Real(1.0 + 1.0 / 256.0 + 1e-12);
    let mut args = [x, VendorArg::Buffer(vec![0xff; 32]), scalar];
    run(&options, text, &VendorEntry::vector("round_trip"), &mut args).expect("the kernel runs");
    let rounded = values.iter().map(|v| half::bf16::from_f32(*v).to_bits());
    let expected: Vec<u16> = rounded.chain([0; 9]).chain([0x3f81]).collect();
    let VendorArg::Buffer(bytes) = &args[1] else { panic!("not a buffer") };
    let found: Vec<u16> = bytes.chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect();
    assert_eq!(found, expected);
}

/// A vector kernel with one `float` buffer and one `int64_t`.
fn kernel(body: &str) -> String {
    format!("extern \"C\" __global__ AICORE void kernel(__gm__ float* p, int64_t n) {{ {body} }}")
}

#[test]
fn faults_are_reported_and_leave_the_arguments_alone() {
    let Some(options) = options(Arch::A3) else { return };
    let body = "
        p[0] = 7;
        Tile<TileType::Vec, float, 8, 16> tile;
        if (n == -8 || n == 4 || n == 1 << 20) p[n] = 1;
        else if (n == 20) trap();
        else if (n == 21) assert(n == 3 && \"three\");
        else TASSIGN(tile, n);";
    let cases = [
        (4, "the kernel accessed byte 16 of argument 0, which has 16 bytes"),
        (1 << 20, "the kernel accessed byte 4194304 of argument 0"),
        (-8, "the kernel wrote byte -32 of argument 0"),
        (20, "the kernel executed trap()"),
        (21, "three"),
        (196_608, "(aborted)"),
    ];
    let kernel = compile(&options, &kernel(body), &VendorEntry::vector("kernel")).expect("it compiles");
    for (n, expected) in cases {
        let before = [floats([1.0, 2.0, 3.0, 4.0]), VendorArg::Integer(n)];
        let mut args = before.clone();
        let error = kernel.run(&mut args).expect_err(expected);
        assert!(matches!(error, Error::VendorStopped { .. }), "{n}: {error:?}");
        assert!(error.to_string().contains(expected), "{n}: {error}");
        assert_eq!(args, before, "{n}");
    }
    let mut last = [floats([1.0]), VendorArg::Integer(196_608 - 512)];
    kernel.run(&mut last).expect("the tile ends where the buffer ends");
    assert_eq!(read_floats(&last[0]), [7.0]);
}

#[test]
fn wrong_arguments_are_refused() {
    let Some(options) = options(Arch::A3) else { return };
    let kernel = compile(&options, &kernel(""), &VendorEntry::vector("kernel")).expect("it compiles");
    let buffer = || floats([1.0]);
    let cases = [
        (vec![buffer()], "the kernel has 2 parameters, but 1 arguments are given"),
        (vec![buffer(), VendorArg::Integer(1), VendorArg::Integer(2)], "has 2 parameters, but 3"),
        (vec![VendorArg::Integer(1), VendorArg::Integer(1)], "a parameter is a pointer"),
        (vec![buffer(), buffer()], "a parameter is a scalar"),
    ];
    for (mut args, expected) in cases {
        let error = kernel.run(&mut args).expect_err(expected);
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn time_limit_says_which_cores_wait() {
    let Some(options) = options(Arch::A3) else { return };
    let options = VendorOptions { time_limit: Duration::from_millis(300), ..options };
    let mut args = [floats([1.0]), VendorArg::Integer(0)];
    let body = "if (get_subblockid() == 1) wait_flag_dev(5); while (get_subblockid() == 0 && p[0] > 0) {}";
    let error = run(&options, &kernel(body), &VendorEntry::mixed("kernel"), &mut args).expect_err("endless");
    assert!(matches!(error, Error::VendorTimeout { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("block 0 vector 1: waits for flag 5"), "{text}");
    assert!(text.contains("block 0 vector 0: runs"), "{text}");
}

#[test]
fn compile_errors_have_their_place() {
    let Some(options) = options(Arch::A3) else { return };
    let mut args = [floats([1.0]), VendorArg::Integer(0)];
    let error = run(&options, &kernel("no_such_thing();"), &VendorEntry::vector("kernel"), &mut args);
    let error = error.expect_err("it does not compile");
    let found = error.diagnostics().first().expect("a diagnostic");
    assert_eq!((found.line, found.message.as_str()), (3, "use of undeclared identifier 'no_such_thing'"));
    let error = run(&options, &kernel(""), &VendorEntry::vector("other"), &mut args).expect_err("no such function");
    assert!(error.to_string().contains("use of undeclared identifier 'other'"), "{error}");
}

#[test]
fn stale_precompiled_headers_are_made_again() {
    let Some(options) = options(Arch::A3) else { return };
    let cache = tempfile::tempdir().expect("a folder");
    let options = VendorOptions { cache: Some(cache.path().to_owned()), ..options };
    let compile = || compile(&options, SCALE, &VendorEntry::vector("scale"));
    compile().expect("it compiles");
    let folder = std::fs::read_dir(cache.path()).expect("the cache").next().expect("a folder").expect("readable");
    std::fs::write(folder.path().join("vector.pch"), "not what it was").expect("write");
    let mut args = scale_args(1);
    compile().expect("it compiles again").run(&mut args).expect("the kernel runs");
    assert_eq!(read_floats(&args[1])[127], 163.5);
}

#[test]
fn missing_headers_and_unknown_architectures_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for (arch, expected) in [(Arch::A3, "no pto/pto-inst.hpp in"), (Arch::Kirin9030, "does not know Kirin9030")] {
        let options = VendorOptions::new(folder.path(), arch);
        let error = run(&options, "", &VendorEntry::vector("kernel"), &mut []).expect_err(expected);
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn signals_have_names() {
    let describe = |raw| super::describe(std::process::ExitStatus::from_raw(raw));
    let found = [6, 8, 9, 121 << 8].map(describe);
    assert_eq!(found, ["aborted", "division by zero", "signal 9", "exit code 121"]);
}

#[test]
fn long_messages_are_cut_at_a_line() {
    assert_eq!(tail("short\ntext"), "short\ntext");
    let long = "first line\n".repeat(2000) + "é last";
    let cut = tail(&long);
    assert!(cut.len() <= super::KEPT_STDERR && cut.starts_with("first line\n") && cut.ends_with("é last"));
}
