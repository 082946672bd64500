//! Random programs: whatever is placed keeps its values, under both planners and in both orders.
//!
//! `generate` writes programs without memory as text. They are placed, proved by `frontend::check`, and run on concrete
//! memory by `interpret`, which knows neither the passes nor the checker. `packing` does the same to the packing of
//! buffers alone. Seeds are constants: every run sees the same programs.

mod cells;
mod generate;
mod interpret;
mod operations;
mod packing;
mod random;
mod source;

use super::{Limit, Options, Order, Planner, Target, place, refs};
use crate::frontend::{
    ast::{MemRef, MemorySpace, Problem, Program},
    check::{self, check},
    parse::parse,
    print::print,
};
use std::{collections::BTreeMap, sync::LazyLock};

const PROGRAMS: u64 = 240;
const ALIGN: u64 = 32;
const WAYS: [(Planner, Order); 4] = [
    (Planner::Sequential, Order::Id),
    (Planner::Sequential, Order::Name),
    (Planner::Reuse, Order::Id),
    (Planner::Reuse, Order::Name),
];

/// Bytes of each space: small enough that some programs do not fit.
fn capacity(space: MemorySpace) -> u64 {
    match space {
        MemorySpace::Vec => 16_384,
        MemorySpace::Mat => 16_384,
        MemorySpace::Acc => 8192,
        _ => 4096,
    }
}

fn placed(text: &str, planner: Planner, order: Order) -> Result<Program, Vec<Problem>> {
    let mut program = parse(text).unwrap_or_else(|problems| panic!("{problems:?}\n{text}"));
    let limit = |space| Some(Limit { bytes: capacity(space), note: String::new() });
    let align = |address: u64, _| address.next_multiple_of(ALIGN);
    let target = Target { limit: &limit, align: &align, int_acc_rows: 32, split_load_hazard: true };
    place(&mut program, &Options { planner, order, target })?;
    Ok(program)
}

/// A program in each of the ways.
struct Case {
    seed: u64,
    placed: Vec<Result<Program, Vec<Problem>>>,
}

/// All programs, placed once for all tests.
static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let case = |seed| {
        let text = generate::program(seed);
        Case { seed, placed: WAYS.iter().map(|&(planner, order)| placed(&text, planner, order)).collect() }
    };
    (0..PROGRAMS).map(case).collect()
});

/// Looks at a placed program, with its name and way.
type Visit<'a> = dyn Fn(&str, (Planner, Order), &Program) + 'a;

/// Calls `visit` for every program that can be placed, once for each way.
fn each_placed(visit: &Visit) {
    for case in CASES.iter() {
        for (way, placed) in WAYS.iter().zip(&case.placed) {
            if let Ok(program) = placed {
                visit(&format!("program {}, {way:?}", case.seed), *way, program);
            }
        }
    }
}

/// The end of the last tile in each space.
fn ends(program: &Program) -> BTreeMap<MemorySpace, u64> {
    let mut found = BTreeMap::new();
    for tile in program.functions.iter().flat_map(|f| &f.vars).filter_map(|v| v.ty.tile()) {
        if let (Some(space), Some(memref @ MemRef::Part { size, .. })) = (tile.space, &tile.memref)
            && let Some(start) = refs::offset(memref).and_then(|o| u64::try_from(o).ok())
        {
            let end: &mut u64 = found.entry(space).or_default();
            *end = (*end).max(start + size);
        }
    }
    found
}

#[test]
fn every_read_gets_the_value_that_was_written() {
    each_placed(&|name, _, program| {
        for function in &program.functions {
            let faults = interpret::faults(function);
            assert!(faults.is_empty(), "{name}: {faults:#?}\n{}", print(program));
        }
    });
}

#[test]
fn the_checker_proves_every_placement() {
    each_placed(&|name, _, program| {
        let target = check::Target { capacity: &|space| Some(capacity(space)), align: &|_| ALIGN };
        let problems = check(program, &target);
        assert!(problems.is_empty(), "{name}: {problems:#?}\n{}", print(program));
    });
}

#[test]
fn addresses_are_aligned_and_inside() {
    each_placed(&|name, _, program| {
        for (space, end) in ends(program) {
            assert!(end <= capacity(space), "{name}: {end} bytes of {space}\n{}", print(program));
        }
        for var in program.functions.iter().flat_map(|f| &f.vars) {
            let Some(offset) = var.ty.tile().and_then(|t| refs::offset(t.memref.as_ref()?)) else { continue };
            assert!(offset >= 0 && offset % 32 == 0, "{name}: '{}' at {offset}\n{}", var.name, print(program));
        }
    });
}

#[test]
fn placed_programs_come_back_unchanged() {
    each_placed(&|name, (planner, order), program| {
        if (planner == Planner::Reuse) != (order == Order::Name) {
            return;
        }
        let once = print(program);
        let again = placed(&once, planner, order);
        let twice = again.map(|p| print(&p)).unwrap_or_else(|problems| panic!("{name}: {problems:#?}\n{once}"));
        assert_eq!(once, twice, "{name}");
    });
}

#[test]
fn sharing_bytes_never_takes_more() {
    for case in CASES.iter() {
        for (alone, shared) in [(0, 2), (1, 3)] {
            let (Ok(alone), shared) = (&case.placed[alone], &case.placed[shared]) else { continue };
            let Ok(shared) = shared else { panic!("program {} fits without sharing: {shared:#?}", case.seed) };
            let (alone, shared) = (ends(alone), ends(shared));
            for (space, bytes) in &shared {
                let seed = case.seed;
                assert!(Some(bytes) <= alone.get(space), "program {seed}: {bytes} bytes of {space}, alone {alone:?}");
            }
        }
    }
}

/// What cannot be copied and what does not fit are the only reasons, and both occur.
#[test]
fn few_programs_are_refused() {
    for (way, percent) in [(0, 30), (2, 20)] {
        let mut codes: BTreeMap<&str, u64> = BTreeMap::new();
        for problems in CASES.iter().filter_map(|case| case.placed[way].as_ref().err()) {
            *codes.entry(problems.first().map_or("", |p| p.code)).or_default() += 1;
        }
        assert_eq!(codes.keys().copied().collect::<Vec<_>>(), ["PTO-0658", "PTO-0659"], "{codes:?}");
        assert!(codes.values().sum::<u64>() * 100 < PROGRAMS * percent, "{codes:?}");
    }
}
