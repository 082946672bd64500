//! Deadlocks, instructions that cannot run, limits.

use super::*;

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
            name: "a prefetch without a workspace",
            body: "-PrefetchAsyncContext context; TPREFETCH_ASYNC(from, context); //!\n+TLOAD(a, from);",
            says: &["TPREFETCH_ASYNC: the context has no workspace"],
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
