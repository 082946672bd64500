//! Small placed programs with one fault each, and their faultless neighbours.
//!
//! Tiles are written `name @address rows = value`: rows of eight FP32 numbers, 32 bytes, in the vector memory.

use super::{Target, check};
use crate::frontend::{
    ast::{MemorySpace, Problem},
    parse::parse,
};

const LIMIT: u64 = 8192;

fn capacity(space: MemorySpace) -> Option<u64> {
    (space == MemorySpace::Vec).then_some(LIMIT)
}

fn run(text: &str) -> Vec<Problem> {
    let program = parse(text).unwrap_or_else(|problems| panic!("{problems:?}\n{text}"));
    check(&program, &Target { capacity: &capacity, align: &|_| 32 })
}

/// The codes and messages that a kernel's body gives rise to.
fn problems(body: &str) -> Vec<String> {
    run(&kernel(body)).into_iter().map(|p| format!("{} {}", p.code, p.message)).collect()
}

fn codes(body: &str) -> Vec<&'static str> {
    run(&kernel(body)).into_iter().map(|p| p.code).collect()
}

fn kernel(body: &str) -> String {
    let mut text = String::from(concat!(
        "import pypto.language as pl\n@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.AIV)\n",
        "    def f(x: pl.Tensor[[64, 8], pl.FP32], c: pl.Scalar[pl.INDEX]):\n",
        "        m: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 65536)\n",
    ));
    for line in body.lines().filter(|line| !line.trim().is_empty()) {
        text.push_str(&format!("        {}\n", statement(line)));
    }
    text
}

/// Spells the tile of a line out.
fn statement(line: &str) -> String {
    let Some((name, rest)) = line.split_once(" @") else {
        return line.replace("load()", LOAD).replace("tile.", "pl.tile.").replace("range(", "pl.range(");
    };
    let mut words = rest.splitn(4, ' ');
    let (address, rows) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let value = words.nth(1).unwrap_or_default().replace("load()", LOAD).replace("tile.", "pl.tile.");
    let value = value.replace("yield", "pl.yield_");
    let bytes = rows.parse::<u64>().unwrap_or(1) * 32;
    format!("{name}: pl.Tile[[{rows}, 8], pl.FP32, pl.MemRef(m, {address}, {bytes}), pl.Mem.Vec] = {value}")
}

const LOAD: &str = "tile.load(x, [0, 0], [1, 8], [1, 8], target_memory=pl.Mem.Vec)";

#[test]
fn values_that_are_read_in_time_may_be_overwritten() {
    let body = "a @0 1 = load()\nb @32 1 = tile.exp(a)\nd @0 1 = tile.exp(b)\nd2 @0 1 = tile.add(d, b)\ntile.store(d2, [0, 0], x)";
    assert_eq!(problems(body), Vec::<String>::new());
}

#[test]
fn a_value_that_is_overwritten_before_a_read_is_found() {
    let body = "a @0 2 = load()\nb @32 1 = load()\ntile.store(b, [0, 0], x)\ntile.store(a, [0, 0], x)";
    let expected = "PTO-0673 tile.store reads tile 'a' (Vec 0 to 64), but 'b' has overwritten Vec 32 to 64 of it";
    assert_eq!(problems(body), [expected]);
}

#[test]
fn views_live_and_die_with_their_source() {
    let good = "a @0 2 = load()\nv @0 2 = tile.reshape(a, [2, 8])\ns @32 1 = tile.slice(a, [1, 8], [1, 0])\n";
    assert_eq!(codes(&format!("{good}tile.store(s, [0, 0], x)\ntile.store(v, [0, 0], x)")), [""; 0]);
    // The other row is lost, the slice is not.
    let over = format!("{good}b @0 1 = load()\ntile.store(b, [0, 0], x)\ntile.store(s, [0, 0], x)\n");
    assert_eq!(codes(&over), [""; 0]);
    assert_eq!(codes(&format!("{over}tile.store(v, [0, 0], x)")), ["PTO-0673"]);
}

#[test]
fn a_view_that_says_other_bytes_than_its_source_is_found() {
    assert_eq!(codes("a @0 2 = load()\nv @64 2 = tile.reshape(a, [2, 8])"), ["PTO-0674"]);
    assert_eq!(codes("a @0 2 = load()\ns @0 1 = tile.slice(a, [1, 8], [1, 0])"), ["PTO-0674"]);
}

#[test]
fn an_operation_in_place_ends_the_value_it_changes() {
    let body = "a @0 2 = load()\nb @64 1 = load()\nd @0 2 = tile.assemble(a, b, [0, 0])\ntile.store(d, [0, 0], x)\n";
    assert_eq!(codes(body), [""; 0]);
    assert_eq!(codes(&format!("{body}tile.store(a, [0, 0], x)")), ["PTO-0673"]);
    assert_eq!(codes("a @0 2 = load()\nd @64 2 = tile.assemble(a, a, [0, 0])"), ["PTO-0674"]);
    // A change without a new name keeps the names that the tile has.
    assert_eq!(codes("a @0 2 = load()\ntile.write(a, [0, 0], 1.0)\ntile.store(a, [0, 0], x)"), [""; 0]);
}

#[test]
fn branches_must_agree_on_where_their_result_stands() {
    let head = "a @0 1 = load()\nif c == 0:\n    b @32 1 = load()\n    r @32 1 = yield(b)\nelse:\n";
    let good = format!("{head}    d @32 1 = load()\n    r @32 1 = yield(d)\ntile.store(r, [0, 0], x)");
    assert_eq!(codes(&good), [""; 0]);
    let bad = format!("{head}    r @32 1 = yield(a)\ntile.store(r, [0, 0], x)");
    let message = "PTO-0674 the result of the branches 'r' does not stand where 'a' does: Vec 32 to 64 and Vec 0 to 32";
    assert_eq!(problems(&bad), [message]);
}

#[test]
fn one_branch_is_enough_to_lose_a_value() {
    let body =
        "a @0 1 = load()\nif c == 0:\n    b @0 1 = load()\n    tile.store(b, [0, 0], x)\ntile.store(a, [0, 0], x)";
    assert_eq!(codes(body), ["PTO-0673"]);
}

#[test]
fn a_later_trip_finds_what_an_earlier_one_left() {
    let body = "a @0 1 = load()\nfor i in range(4):\n    tile.store(a, [0, 0], x)\n    b @0 1 = load()\n    tile.store(b, [0, 0], x)";
    assert_eq!(codes(body), ["PTO-0673"]);
}

#[test]
fn carried_values_are_followed() {
    let head = "a @0 1 = load()\nfor i, (t,) in range(4, init_values=(a,)):\n    u @0 1 = tile.exp(t)\n";
    let good = format!("{head}    r @0 1 = yield(u)\ntile.store(r, [0, 0], x)");
    assert_eq!(codes(&good), [""; 0]);
    let moved = format!("{head}    w @32 1 = tile.exp(u)\n    r @0 1 = yield(w)\ntile.store(r, [0, 0], x)");
    assert_eq!(codes(&moved), ["PTO-0674"]);
    let lost = format!("{head}    w @0 1 = load()\n    r @0 1 = yield(u)\ntile.store(r, [0, 0], x)");
    assert_eq!(codes(&lost), ["PTO-0673", "PTO-0673"]);
}

#[test]
fn created_tiles_destroy_nothing() {
    let body = "a @0 1 = load()\nt @0 1 = tile.create([1, 8], dtype=pl.FP32, target_memory=pl.Mem.Vec)\ntile.store(a, [0, 0], x)\n";
    assert_eq!(codes(body), [""; 0]);
    assert_eq!(codes(&format!("{body}u @0 1 = tile.assemble(t, t, [0, 0])\ntile.store(a, [0, 0], x)")), ["PTO-0673"]);
}

#[test]
fn working_memory_destroys_what_stands_there() {
    let body =
        "a @0 1 = load()\nb @64 1 = load()\nt @0 1 = tile.create([1, 8], dtype=pl.FP32, target_memory=pl.Mem.Vec)\n";
    assert_eq!(codes(&format!("{body}r @96 1 = tile.row_sum(b, t)\ntile.store(a, [0, 0], x)")), ["PTO-0673"]);
    assert_eq!(codes(&format!("{body}r @96 1 = tile.row_sum(a, t)")), ["PTO-0675"]);
}

#[test]
fn a_result_may_replace_an_argument_but_not_cut_it() {
    assert_eq!(codes("a @0 2 = load()\nb @0 2 = tile.exp(a)"), [""; 0]);
    let message =
        "PTO-0675 tile.exp: its result 'b' (Vec 32 to 96) overlaps its argument 'a' (Vec 0 to 64) in Vec 32 to 64";
    assert_eq!(problems("a @0 2 = load()\nb @32 2 = tile.exp(a)"), [message]);
    assert_eq!(codes("a @0 1 = load()\nb @0 2 = tile.exp(a)"), ["PTO-0675"]);
}

#[test]
fn addresses_are_aligned_and_inside() {
    assert_eq!(codes("a @16 1 = load()"), ["PTO-0671"]);
    let message = "PTO-0671 tile 'a' (Vec 8160 to 8224) reaches behind the end of the memory, 8192 bytes";
    assert_eq!(problems("a @8160 2 = load()"), [message]);
    let small = "a: pl.Tile[[2, 8], pl.FP32, pl.MemRef(m, 0, 32), pl.Mem.Vec] = load()";
    assert_eq!(problems(small), ["PTO-0671 tile 'a' needs 64 bytes, but its memory has 32"]);
    assert_eq!(codes("a: pl.Tile[[2, 8], pl.FP32, pl.Mem.Vec] = load()"), ["PTO-0671"]);
    assert_eq!(codes("a: pl.Tile[[2, 8], pl.FP32, pl.MemRef(m, -1, 64), pl.Mem.Vec] = load()"), ["PTO-0671"]);
}

#[test]
fn allocations_hold_their_tiles() {
    let body = "n: pl.Ptr = tile.alloc(pl.Mem.Vec, 64)\n";
    let tile = |name, at| format!("{name}: pl.Tile[[1, 8], pl.FP32, pl.MemRef(n, {at}, 32), pl.Mem.Vec] = load()\n");
    assert_eq!(codes(&format!("{body}{}{}", tile("a", 0), tile("b", 32))), [""; 0]);
    assert_eq!(codes(&format!("{body}{}{}", tile("a", 0), tile("b", 64))), ["PTO-0671"]);
    assert_eq!(
        codes("a: pl.Tile[[1, 8], pl.FP32, pl.MemRef(m, 0, 32), pl.Mem.Mat] = load()\nb @0 1 = load()"),
        ["PTO-0671"]
    );
}

#[test]
fn reserved_ranges_are_left_alone() {
    let body = "q: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='q', size=64, base=0)\n";
    assert_eq!(codes(&format!("{body}a @64 1 = load()")), [""; 0]);
    assert_eq!(
        problems(&format!("{body}a @32 1 = load()")),
        ["PTO-0672 'a' (Vec 32 to 64) overlaps reserved buffer 'q' (Vec 0 to 64)"]
    );
}

#[test]
fn popped_tiles_stand_in_their_queue() {
    let body = "a: pl.Tile[[1, 8], pl.FP32, pl.Mem.Vec] = tile.tpop_from_aic(split=0)\nb @0 1 = tile.exp(a)\ntile.store(b, [0, 0], x)";
    assert_eq!(codes(body), [""; 0]);
}

#[test]
fn slots_of_one_allocation_are_the_authors_affair() {
    let tile = |name: &str, index: &str| {
        format!(
            "{name}: pl.Tile[[1, 8], pl.FP32, pl.MemRef(n, 64 + ({index}) % 2 * 32, 32, slots=2)[({index}) % 2], pl.Mem.Vec] = load()\n"
        )
    };
    let body = format!("n: pl.Ptr = tile.alloc(pl.Mem.Vec, 64, pinned=True)\n{}{}", tile("a", "c"), tile("b", "c + 1"));
    let reads = "tile.store(a, [0, 0], x)\ntile.store(b, [0, 0], x)";
    assert_eq!(codes(&format!("{body}{reads}")), [""; 0]);
    assert_eq!(codes(&format!("{body}d @96 1 = load()\ntile.store(d, [0, 0], x)\n{reads}")), ["PTO-0673", "PTO-0673"]);
}

#[test]
fn columns_of_a_tile_are_told_apart() {
    let wide = "a: pl.Tile[[4, 16], pl.FP32, pl.MemRef(m, 0, 256), pl.Mem.Vec] = load()\n";
    let part = |name, at, column| {
        format!(
            "{name}: pl.Tile[[4, 8], pl.FP32, pl.MemRef(m, {at}, 224), pl.Mem.Vec] = tile.slice(a, [4, 8], [0, {column}])\n"
        )
    };
    let body = format!("{wide}{}{}b @0 1 = load()\ntile.store(b, [0, 0], x)\n", part("l", 0, 0), part("r", 32, 8));
    assert_eq!(codes(&format!("{body}tile.store(r, [0, 0], x)")), [""; 0]);
    assert_eq!(codes(&format!("{body}tile.store(l, [0, 0], x)")), ["PTO-0673"]);
}

#[test]
fn the_older_notation_has_addresses_in_allocations() {
    let text = |at: u64| {
        format!(
            concat!(
                "import pypto.language as pl\n@pl.program\nclass P:\n    @pl.function\n",
                "    def f(self, x: pl.Tensor[[1, 8], pl.FP32]):\n",
                "        m: pl.MemRefType = pl.tile.alloc(pl.Mem.Vec, 0, 32, 0)\n",
                "        n: pl.MemRefType = pl.tile.alloc(pl.Mem.Vec, {}, 32, 1)\n",
                "        a: pl.Tile[[1, 8], pl.FP32, m, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [1, 8], [1, 8])\n",
                "        b: pl.Tile[[1, 8], pl.FP32, n, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [1, 8], [1, 8])\n",
                "        d: pl.Tile[[1, 8], pl.FP32, n, pl.Mem.Vec] = pl.tile.add(a, b)\n",
            ),
            at
        )
    };
    assert!(run(&text(32)).is_empty());
    assert_eq!(run(&text(0)).into_iter().map(|p| p.code).collect::<Vec<_>>(), ["PTO-0673"]);
}

#[test]
fn deep_nesting_is_run_once_a_level() {
    let mut body = String::from("a @0 1 = load()\n");
    for depth in 0..24 {
        body.push_str(&format!("{}for i{depth} in range(4):\n", "    ".repeat(depth)));
    }
    let inside = "    ".repeat(24);
    body.push_str(&format!("{inside}b @32 1 = tile.exp(a)\n{inside}tile.store(b, [0, 0], x)\n"));
    assert_eq!(codes(&body), [""; 0]);
}
