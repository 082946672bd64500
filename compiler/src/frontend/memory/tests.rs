//! Whole programs: where tiles end up, and what is said when they cannot.

use super::{Limit, Options, Order, Planner, Target, place, placement};
use crate::{
    frontend::{
        ast::{MemorySpace, Problem},
        parse::parse,
    },
    placement::{Address, FunctionPlacement},
};

/// A program of one function with a body of lines.
fn program(kind: &str, name: &str, lines: &[&str]) -> String {
    let mut text = format!(
        "import pypto.language as pl\n\n@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.{kind})\n    def {name}(x: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):\n"
    );
    for line in lines {
        text += &format!("        {line}\n");
    }
    text
}

fn load(name: &str, rows: u64, columns: u64, space: &str) -> String {
    format!(
        "{name}: pl.Tile[[{rows}, {columns}], pl.FP32, pl.Mem.{space}] = pl.tile.load(x, [0, 0], [{rows}, {columns}], [{rows}, {columns}], target_memory=pl.Mem.{space})"
    )
}

fn compute(name: &str, value: &str) -> String {
    format!("{name}: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = {value}")
}

fn run(text: &str, planner: Planner, order: Order) -> Result<FunctionPlacement, Vec<Problem>> {
    let mut program = parse(text)?;
    let limit = |space| match space {
        MemorySpace::Vec => Some(Limit { bytes: 188_416, note: String::new() }),
        MemorySpace::Mat => Some(Limit { bytes: 524_288, note: String::new() }),
        _ => None,
    };
    let align = |address: u64, _| address.next_multiple_of(32);
    let target = Target { limit: &limit, align: &align, int_acc_rows: 32, split_load_hazard: true };
    place(&mut program, &Options { planner, order, target })?;
    Ok(placement::of_program(&program).into_iter().next().unwrap_or_default())
}

fn addresses(text: &str, planner: Planner) -> Vec<(String, i64)> {
    let placed = run(text, planner, Order::Id).expect("placed");
    let known = |addr: Address| if let Address::Known(known) = addr { known } else { -1 };
    placed.tiles.into_iter().map(|t| (t.var, known(t.addr))).collect()
}

fn at(found: &[(String, i64)], name: &str) -> i64 {
    found.iter().find(|(var, _)| var == name).map(|(_, address)| *address).expect("a tile of that name")
}

fn error(text: &str) -> Problem {
    run(text, Planner::Sequential, Order::Id).expect_err("refused").remove(0)
}

#[test]
fn tiles_stand_one_after_another_behind_what_is_reserved() {
    let body = [
        "b: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='ring', size=4096, base=-1)",
        &load("a", 64, 64, "Vec"),
        &compute("c", "pl.tile.add(a, a)"),
        &compute("d", "pl.tile.add(c, c)"),
    ];
    let text = program("AIV", "k", &body);
    let found = addresses(&text, Planner::Sequential);
    assert_eq!([at(&found, "a"), at(&found, "c"), at(&found, "d")], [4096, 20480, 36864]);
    let shared = addresses(&text, Planner::Reuse);
    assert_eq!([at(&shared, "a"), at(&shared, "c"), at(&shared, "d")], [4096; 3]);
}

#[test]
fn names_are_compared_as_text() {
    let tiles: Vec<String> = (0..10).map(|i| load(&format!("t{i}"), 8, 8, "Vec")).collect();
    let lines: Vec<&str> = tiles.iter().map(String::as_str).collect();
    let text = program("AIV", "k", &lines);
    let placed = run(&text, Planner::Sequential, Order::Name).expect("placed");
    // The allocations are mem_vec_2 to mem_vec_11: the last two come first.
    assert_eq!(placed.tiles.first().map(|t| t.addr.clone()), Some(Address::Known(512)));
    assert_eq!(placed.tiles.last().map(|t| t.addr.clone()), Some(Address::Known(256)));
}

#[test]
fn windows_keep_their_places() {
    let body = [
        &load("a", 8, 16, "Vec"),
        "s: pl.Tile[[1, 16], pl.FP32, pl.Mem.Vec] = pl.tile.slice(a, [1, 16], [1, 0])",
        "r: pl.Tile[[16, 1], pl.FP32, pl.Mem.Vec] = pl.tile.reshape(s, [16, 1])",
        "w: pl.Tile[[1, 16], pl.FP32, pl.Mem.Vec] = pl.tile.slice(a, [1, 16], [n, 0])",
    ];
    let placed = run(&program("AIV", "k", &body), Planner::Sequential, Order::Id).expect("placed");
    let of = |name: &str| placed.tiles.iter().find(|t| t.var == name).expect("a tile of that name");
    assert_eq!((of("s").addr.clone(), of("s").size), (Address::Known(64), 64));
    assert_eq!((of("r").addr.clone(), of("r").size), (Address::Known(64), 64));
    assert_eq!(of("w").offset.as_deref(), Some("n * 16 * 4"));
}

#[test]
fn the_older_notation_has_addresses_in_its_statements() {
    let text = "mem_vec_1: MemRefType = tile.alloc(Vec, -1, 16384, 1)\n\
                mem_vec_0: MemRefType = tile.alloc(Vec, -1, 16384, 0)\n\
                a: Tile[[64, 64], FP32, memref=mem_vec_0] = tile.load(x, [0, 0], [64, 64])\n\
                b: Tile[[64, 64], FP32, memref=mem_vec_1] = tile.add(a, a)\n";
    let placed = run(text, Planner::Sequential, Order::Id).expect("placed");
    assert_eq!(placed.allocs.iter().map(|a| a.addr).collect::<Vec<_>>(), [Some(16384), Some(0)]);
}

#[test]
fn a_value_that_is_read_behind_its_loop_is_copied_for_the_loop() {
    let body = [
        &load("a", 64, 64, "Vec"),
        "for i, (c,) in pl.range(4, init_values=(a,)):",
        &format!("    {}", compute("d", "pl.tile.adds(c, 1.0)")),
        "    e: pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec] = pl.yield_(d)",
        &compute("f", "pl.tile.add(a, e)"),
    ];
    for planner in [Planner::Sequential, Planner::Reuse] {
        let found = addresses(&program("AIV", "k", &body), planner);
        assert_ne!(at(&found, "a"), at(&found, "e"));
        assert_eq!(at(&found, "d"), at(&found, "e"));
    }
}

#[test]
fn carried_values_may_change_places() {
    let body = [
        &load("a", 64, 64, "Vec"),
        &load("b", 64, 64, "Vec"),
        "for i, (c, d) in pl.range(4, init_values=(a, b)):",
        "    e, f = pl.yield_(d, c)",
        &compute("g", "pl.tile.sub(e, f)"),
    ];
    let found = addresses(&program("AIV", "k", &body), Planner::Sequential);
    let copies: Vec<&String> = found.iter().map(|(name, _)| name).filter(|n| n.contains("_mv")).collect();
    // One value is set aside, then both go to their places.
    assert_eq!(copies, ["d_mv", "c_mv", "d_mv_mv"].iter().collect::<Vec<_>>());
}

#[test]
fn overlapping_reservations_are_named() {
    let body = [
        "a: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='a', size=4096, base=-1)",
        "b: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='b', size=1024, base=2048)",
    ];
    let problem = error(&program("AIV", "f", &body));
    assert_eq!(problem.code, "PTO-0655");
    assert_eq!(
        problem.message,
        "overlapping reserve_buffer ranges in function 'f': [2048, 3072) overlaps with [0, 4096)"
    );
}

#[test]
fn what_does_not_fit_is_measured() {
    let problem = error(&program("AIV", "k", &[&load("a", 64, 752, "Vec")]));
    assert_eq!(problem.message, "Vec buffer usage (192512 bytes) exceeds platform limit (188416 bytes)");
}

#[test]
fn the_ring_of_a_queue_is_only_named_when_it_is_one() {
    for (name, hint) in [("kernel_v2c_slot_buffer", true), ("scratch_v2c_slot_buffer", false)] {
        let reserve = format!("r: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='{name}', size=524288, base=-1)");
        let problem = error(&program("AIC", "kernel_aic", &[&reserve, &load("a", 32, 64, "Mat")]));
        assert_eq!(problem.message, "Mat buffer usage (532480 bytes) exceeds platform limit (524288 bytes)");
        let notes: Vec<&str> = problem.notes.iter().map(|(_, note)| note.as_str()).collect();
        assert!(notes.iter().any(|n| n.contains("The first 524288 bytes of that space are reserved")));
        assert_eq!(notes.iter().any(|n| n.contains("pl.cross_core_slot(slot_num=N)")), hint);
    }
}

#[test]
fn extents_must_be_known_and_positive() {
    for (extent, code) in [("n", "PTO-0650"), ("0", "PTO-0651"), ("9223372036854775807", "PTO-0652")] {
        let line = format!("a: pl.Tile[[{extent}, 64], pl.FP32, pl.Mem.Vec] = pl.tile.create([64, 64], dtype=pl.FP32)");
        let found = run(&program("AIV", "k", &[&line]), Planner::Sequential, Order::Id);
        assert_eq!(found.expect_err("refused").remove(0).code, code);
    }
}

#[test]
fn no_tile_may_be_forgotten() {
    let body = [
        "m: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 16384)",
        "a: pl.Tile[[64, 64], pl.FP32, pl.MemRef(m, 0, 16384), pl.Mem.Vec] = pl.tile.create([64, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec)",
        &compute("b", "pl.tile.add(a, a)"),
    ];
    assert_eq!(error(&program("AIV", "k", &body)).code, "PTO-0654");
}
