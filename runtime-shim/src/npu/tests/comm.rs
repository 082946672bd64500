//! Communication on one card: what is in flight, what meets, what is not there.

use super::*;

/// A session whose queue stands behind the tiles and behind `y`.
const SESSION: &str = "\
Tile<TileType::Vec, int8_t, 1, 256> scratch;
TASSIGN(scratch, 0x4000);
pto::comm::AsyncSession session;
pto::comm::BuildAsyncSession(scratch, (__gm__ uint8_t*)(y + 2048), session);
";

fn with_session(rest: &str) -> String {
    format!("{SESSION}{rest}")
}

#[test]
fn a_transfer_is_in_flight_until_it_is_waited_for() {
    let early =
        "auto e = pto::comm::TPUT_ASYNC(to, from, session);\npipe_barrier(PIPE_ALL);\ny[0] = 1.0f;\ne.Wait(session);";
    let late = "auto e = pto::comm::TPUT_ASYNC(to, from, session);\ne.Wait(session);\ny[0] = 1.0f;";
    assert_eq!(
        codes(&with_session(early), Arch::A3, 1),
        [Rule::Race.code()],
        "a barrier of pipes does not wait for it"
    );
    assert!(codes(&with_session(late), Arch::A3, 1).is_empty());
    // What is read may be read meanwhile.
    let beside = "auto e = pto::comm::TPUT_ASYNC(to, from, session);\nTLOAD(a, from);\ne.Wait(session);";
    assert!(codes(&with_session(beside), Arch::A3, 1).is_empty());
    let two = "auto e = pto::comm::TPUT_ASYNC(to, from, session);\nauto f = pto::comm::TGET_ASYNC(to, from, session);\n\
               e.Wait(session);\nf.Wait(session);";
    assert_eq!(codes(&with_session(two), Arch::A3, 1), [Rule::Race.code()], "two write the same bytes");
}

#[test]
fn a_session_is_built_and_by_sdma() {
    let unbuilt = "pto::comm::AsyncSession session;\npto::comm::TPUT_ASYNC(to, from, session).Wait(session);";
    let found = program(unbuilt, Arch::A3).run(1).findings;
    assert!(found.iter().any(|f| f.message.contains("the session was not built")), "{found:?}");
    let other = "pto::comm::AsyncSession session;\n\
                 pto::comm::BuildAsyncSession<pto::comm::DmaEngine::URMA>((__gm__ uint8_t*)y, session);";
    let found = program(other, Arch::A5).run(1).findings;
    assert_eq!(found.iter().map(|f| f.rule.code()).collect::<Vec<_>>(), ["PTO-0810"]);
    assert!(found[0].message.contains("by another engine than SDMA is not simulated"), "{found:?}");
}

#[test]
fn additions_of_cards_meet_and_copies_do_not() {
    let zero = Argument::Tensor(Tensor::of(Element::F32, &[4096], &vec![0.0; 4096]));
    let run = |call: &str| {
        let program = program(call, Arch::A3);
        program.runner(zero.clone()).blocks(3).run().expect("the arguments fit")
    };
    let added = run("pto::comm::TPUT<AtomicType::AtomicAdd>(to, from, a);");
    assert!(added.findings.is_empty(), "{:?}", added.findings);
    let sums: Vec<f64> = ramp().iter().map(|v| v * 3.0).collect();
    assert_eq!(f32s(&added.memory[1])[..1024], sums);
    let copied = run("pto::comm::TPUT(to, from, a);");
    assert!(
        copied.findings.iter().all(|f| f.rule == Rule::Race) && !copied.findings.is_empty(),
        "{:?}",
        copied.findings
    );
}

/// The library uses flags 0 and 1 inside: one that the kernel has set and nobody has waited for is in the way. Its own wait
/// takes the flag, and the kernel's waits for ever.
#[test]
fn hidden_flags_collide_with_open_ones() {
    let open = "set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);\npto::comm::TGET(to, from, a);\nwait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);";
    let other = open.replace("EVENT_ID0", "EVENT_ID2");
    assert_eq!(codes(open, Arch::A3, 1), [Rule::SetTwice, Rule::Deadlock].map(Rule::code));
    assert!(codes(&other, Arch::A3, 1).is_empty());
}

#[test]
fn groups_are_checked() {
    let group = |second: &str| {
        format!(
            "using Rows = GlobalTensor<float, Shape<1, 1, 1, 8, -1>, Stride<1024, 1024, 1024, 64, 1>>;\n\
             Rows members[2] = {{Rows(y, Rows::Shape(64)), Rows(y + 512, Rows::Shape({second}))}};\n\
             auto group = pto::comm::ParallelGroup<Rows>::Create(members, 2, 0);\n\
             pto::comm::TSCATTER(group, from, a);"
        )
    };
    let uneven = program(&group("32"), Arch::A3).run(1).findings;
    assert!(uneven.iter().any(|f| f.message.contains("the members of a group must be alike")), "{uneven:?}");
    // A tile of 16 rows takes a member of 8 only where its valid rows may change.
    let tall = program(&group("64"), Arch::A3).run(1);
    assert!(tall.findings.is_empty(), "{:?}", tall.findings);
    assert_eq!(f32s(&tall.memory[1])[..1024], ramp());
}
