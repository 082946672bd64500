//! What kernels compute, print and leave in a trace.

use super::*;

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
        let program = Program::new(include_str!("../../../testdata/fifo.cpp"), &options);
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
    let outcome = program(&text(1024), Arch::A3).run(1);
    assert_eq!(outcome.findings, []);
    let y = f32s(&outcome.memory[1][..4096]);
    let copied = |i: usize| if (4..8).contains(&i) { ramp()[i + 4] } else { 0.0 };
    assert_eq!(y, (0..1024).map(copied).collect::<Vec<_>>());
    assert_eq!(codes(&text(Y_BYTES / 4 + 1), Arch::A3, 1), ["PTO-0803"]);
}

/// The vector half may take the number of its core; what the kernel reaches for is noted even outside of its memory.
#[test]
fn halves_know_their_cores() {
    let program = Program::new(
        "#include \"pto/pto-inst.hpp\"\n\
         AICORE void k_aic(__gm__ int32_t* x, int32_t block) {}\n\
         AICORE void k_aiv(__gm__ int32_t* x, int32_t block, int32_t sub) { x[2 * block + sub] = 10 * block + sub; }\n",
        &CompileOptions::new(Arch::A3),
    );
    let given = |bytes| Runner::new(&program.kernel).arg(Argument::Fresh(bytes)).arg(Argument::BlockIndex);
    let run = |bytes| given(bytes).arg(Argument::SubblockIndex).blocks(2).run().expect("the arguments fit");
    let outcome = run(16);
    assert_eq!(outcome.findings, []);
    let x = Tensor { element: Element::I32, shape: vec![4], bytes: outcome.memory[0].clone() };
    assert_eq!((x.values(), outcome.reaches[0]), (vec![0.0, 1.0, 10.0, 11.0], 16));
    assert_eq!((run(12).findings[0].rule.code(), run(12).reaches[0]), ("PTO-0803", 16));
}
