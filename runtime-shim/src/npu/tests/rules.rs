//! A kernel for each rule that an access or a flag can break.

use super::*;

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
