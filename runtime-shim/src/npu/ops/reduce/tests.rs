//! Tests of the reductions and expansions.

use super::super::bench::{Bench, tiles, vec};
use super::super::{Operand, Rule};
use super::*;
use Element::{BF16, F16, F32, I8, I16, I32, U8, U16, U32, U64};

/// A column-major column.
fn column(element: Element, rows: usize, address: u64) -> Tile {
    Tile { row_major: false, ..vec(element, rows, 1, address) }
}

/// Numbers without a pattern, integers or not, in the range of the type.
fn data(element: Element, count: usize) -> Vec<f64> {
    let mut state = 12345u32;
    let mut next = || {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        f64::from(state >> 8) / f64::from(1 << 24)
    };
    (0..count)
        .map(|_| match element {
            e if e.is_float() => e.round(next() * 8.0 - 4.0),
            e if e.is_unsigned() => (next() * 200.0).floor(),
            _ => (next() * 200.0).floor() - 100.0,
        })
        .collect()
}

/// Result of adding (or multiplying) `x` to `acc`, in the type.
fn step(element: Element, name: &str, acc: f64, x: f64) -> f64 {
    let exact = match &name[4..] {
        "SUM" => acc + x,
        "PROD" => acc * x,
        "MAX" => return acc.max(x),
        _ => return acc.min(x),
    };
    match element.is_float() {
        true => element.round(exact),
        false => element.wrap(exact as i64) as f64,
    }
}

#[test]
fn rows_and_columns_are_folded_in_order() {
    const ROWS: usize = 5;
    const COLS: usize = 19;
    for (arch, element) in
        [(Arch::A3, F32), (Arch::A3, F16), (Arch::A3, I16), (Arch::A5, I32), (Arch::A5, U8), (Arch::A5, BF16)]
    {
        let mut bench = Bench::new(arch);
        let mut src = vec(element, 8, 32, 0);
        (src.valid_rows, src.valid_cols) = (ROWS, COLS);
        let x = data(element, ROWS * COLS);
        bench.put(&src, &x);
        let tmp = vec(element, 8, 128, 8192);
        // Both destinations: a column-major column, and the first column of a row-major tile.
        let narrow = Tile { valid_rows: ROWS, ..column(element, 8, 4096) };
        let wide = Tile { valid_rows: ROWS, valid_cols: 1, ..vec(element, 8, 32, 5120) };
        for name in ["TROWSUM", "TROWPROD", "TROWMAX", "TROWMIN"] {
            let wider = if name == "TROWSUM" && element.is_float() { F32 } else { element };
            let expected: Vec<f64> = x
                .chunks(COLS)
                .map(|row| row[1..].iter().fold(row[0], |acc, &x| step(wider, name, acc, x)))
                .map(|sum| if element.is_float() { element.round(sum) } else { sum })
                .collect();
            for dst in [&narrow, &wide] {
                bench.run(name, tiles([dst, &src, &tmp])).expect("legal");
                assert_eq!(bench.get(dst), expected, "{name} {}", element.name());
            }
        }
        let row = Tile { valid_rows: 1, valid_cols: COLS, ..vec(element, 1, 32, 4096) };
        for name in ["TCOLSUM", "TCOLPROD", "TCOLMAX", "TCOLMIN"] {
            let at = |r: usize, c: usize| x[r * COLS + c];
            let expected: Vec<f64> =
                (0..COLS).map(|c| (1..ROWS).fold(at(0, c), |acc, r| step(element, name, acc, at(r, c)))).collect();
            bench.run(name, tiles([&row, &src])).expect("legal");
            assert_eq!(bench.get(&row), expected, "{name} {}", element.name());
        }
        assert!(bench.broken().is_empty());
    }
}

#[test]
fn order_and_type_of_a_sum_decide_its_last_bits() {
    let mut bench = Bench::new(Arch::A3);
    // 2^24 + 1 + 1 + ... stays, in order; 1 + 1 + ... + 2^24 does not.
    let src = vec(F32, 2, 8, 0);
    let big = 16777216.0;
    let ones = [1.0; 7];
    bench.put(&src, &[&[big], &ones[..], &ones[..], &[big]].concat());
    let dst = Tile { valid_rows: 2, ..column(F32, 8, 512) };
    let tmp = vec(F32, 2, 8, 1024);
    bench.run("TROWSUM", tiles([&dst, &src, &tmp])).expect("legal");
    assert_eq!(bench.get(&dst), [big, big + 8.0]);
    // 2048 + 1 + 1 + 1 is 2051 in f32, 2048 in f16.
    let src = vec(F16, 4, 16, 0);
    bench.put(&src, &[[2048.0; 16], [1.0; 16], [1.0; 16], [1.0; 16]].concat());
    let row = vec(F16, 1, 16, 512);
    bench.run("TCOLSUM", tiles([&row, &src])).expect("legal");
    assert_eq!(bench.get(&row), [2048.0; 16]);
    let across = vec(F16, 1, 16, 0);
    bench.put(&across, &[2048.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let dst = Tile { valid_rows: 1, ..column(F16, 16, 512) };
    bench.run("TROWSUM", tiles([&dst, &across, &tmp])).expect("legal");
    assert_eq!(bench.get(&dst), [2052.0], "2051 rounded");
    bench.put(&across, &[-0.0; 16]);
    bench.run("TROWSUM", tiles([&dst, &across, &tmp])).expect("legal");
    assert!(bench.get(&dst)[0].is_sign_positive(), "starts from 0");
}

#[test]
fn pairwise_sums_of_columns() {
    // Five rows: pairs (0, 1), (2, 3); the odd row joins the first pair on A3, the last on A5.
    let rows = [1.0, 16777216.0, -16777216.0, 3.0, 1.0];
    let f = |x: f64| F32.round(x);
    let (first, second) = (f(rows[0] + rows[1]), f(rows[2] + rows[3]));
    let a3 = f(f(first + rows[4]) + second);
    let a5 = f(first + f(second + rows[4]));
    assert_ne!(a3, a5);
    for (arch, expected) in [(Arch::A3, a3), (Arch::A5, a5)] {
        for (pairwise, expected) in [(1, expected), (0, 4.0)] {
            let mut bench = Bench::new(arch);
            let (dst, src, tmp) = (vec(F32, 1, 8, 0), vec(F32, 5, 8, 64), vec(F32, 2, 8, 512));
            bench.put(&src, &rows.iter().flat_map(|&v| [v; 8]).collect::<Vec<_>>());
            let operands = [tiles([&dst, &src, &tmp]), vec![Operand::Int(pairwise, Element::Bool)]].concat();
            bench.run("TCOLSUM", operands).expect("legal");
            assert_eq!(bench.get(&dst), [expected; 8], "{pairwise}");
            assert!(bench.broken().is_empty());
        }
    }
}

#[test]
fn the_first_extreme_is_found() {
    for (arch, element, index_element) in [
        (Arch::A3, F32, I32),
        (Arch::A3, F16, U32),
        (Arch::A3, I16, I32),
        (Arch::A5, I8, U32),
        (Arch::A5, U32, I32),
        (Arch::A5, F32, U32),
    ] {
        let (rows, cols) = (6, 40);
        let mut bench = Bench::new(arch);
        let mut src = vec(element, 8, 64, 0);
        (src.valid_rows, src.valid_cols) = (rows, cols);
        // Few values, so that extremes repeat.
        let x: Vec<f64> = data(element, rows * cols).iter().map(|v| (v / 2.0).trunc()).collect();
        bench.put(&src, &x);
        let tmp = vec(element, 8, 64, 16384);
        let best = |line: Vec<f64>, greatest: bool| {
            let beats = |a: f64, b: f64| if greatest { a > b } else { a < b };
            let at = (1..line.len()).fold(0, |best, i| if beats(line[i], line[best]) { i } else { best });
            (at as f64, line[at])
        };
        for (name, by_row, greatest) in [
            ("TROWARGMAX", true, true),
            ("TROWARGMIN", true, false),
            ("TCOLARGMAX", false, true),
            ("TCOLARGMIN", false, false),
        ] {
            let lines: Vec<Vec<f64>> = match by_row {
                true => x.chunks(cols).map(<[f64]>::to_vec).collect(),
                false => (0..cols).map(|c| (0..rows).map(|r| x[r * cols + c]).collect()).collect(),
            };
            let (at, values): (Vec<f64>, Vec<f64>) = lines.into_iter().map(|line| best(line, greatest)).unzip();
            let out = |element, address| match by_row {
                true => Tile { valid_rows: rows, ..column(element, 8, address) },
                false => Tile { valid_cols: cols, ..vec(element, 1, 64, address) },
            };
            let (value, index) = (out(element, 4096), out(index_element, 8192));
            bench.run(name, tiles([&index, &src, &tmp])).expect("legal");
            assert_eq!(bench.get(&index), at, "{name}");
            bench.run(name, tiles([&value, &index, &src, &tmp])).expect("legal");
            assert_eq!(bench.get(&index), at, "{name}");
            assert_eq!(bench.get(&value), values, "{name}");
        }
        assert!(bench.broken().is_empty());
    }
}

#[test]
fn extremes_that_a3_or_64_bits_change() {
    // Bit patterns above 0x80000000 are negative floats.
    for (arch, expected) in [(Arch::A3, 0.0), (Arch::A5, 1.0)] {
        let mut bench = Bench::new(arch);
        let (src, index, tmp) = (vec(U32, 2, 8, 0), vec(I32, 1, 8, 512), vec(U32, 3, 8, 1024));
        bench.put(&src, &[[5.0; 8], [2147483653.0; 8]].concat());
        bench.run("TCOLARGMAX", tiles([&index, &src, &tmp])).expect("legal");
        assert_eq!(bench.get(&index), [expected; 8]);
    }
    // A row index beyond 2048 goes through f16.
    for (arch, expected) in [(Arch::A3, 2050.0), (Arch::A5, 2049.0)] {
        let mut bench = Bench::new(arch);
        let (src, index, tmp) = (vec(F16, 2100, 16, 0), vec(I32, 1, 16, 80000), vec(F16, 3, 16, 81920));
        let values = (0..2100 * 16).map(|i| if i / 16 == 2049 { 1.0 } else { 0.0 }).collect::<Vec<_>>();
        bench.put(&src, &values);
        bench.run("TCOLARGMAX", tiles([&index, &src, &tmp])).expect("legal");
        assert_eq!(bench.get(&index), [expected; 16]);
    }
    // All ones is the greatest u64 (and -1 to `get`).
    let mut bench = Bench::new(Arch::A5);
    let (src, part) = (vec(U64, 1, 4, 0), Tile { valid_cols: 1, ..vec(U64, 1, 4, 0) });
    let (index, value, tmp) = (vec(I32, 1, 8, 64), Tile { valid_cols: 1, ..vec(U64, 1, 4, 96) }, vec(U64, 1, 4, 128));
    bench.put(&src, &[0.0, 1.0, 2.0, 3.0]);
    bench.run("TNOT", tiles([&part, &part])).expect("legal");
    let index = Tile { valid_cols: 1, ..index };
    bench.run("TROWARGMAX", tiles([&value, &index, &src, &tmp])).expect("legal");
    assert_eq!((bench.get(&index), bench.get(&value)), (vec![0.0], vec![-1.0]));
    bench.run("TROWMAX", tiles([&value, &src, &tmp])).expect("legal");
    assert_eq!(bench.get(&value), [-1.0]);
}

#[test]
fn rows_and_columns_are_spread() {
    type Case = (&'static str, fn(f64, f64) -> f64);
    let cases: [Case; 7] = [
        ("ADD", |a, b| a + b),
        ("SUB", |a, b| a - b),
        ("MUL", |a, b| a * b),
        ("DIV", |a, b| a / b),
        ("MAX", f64::max),
        ("MIN", f64::min),
        ("EXPDIF", |a, b| libm::exp(a - b)),
    ];
    let named = |axis: &str, case: &str| -> &'static str {
        let wanted = format!("{axis}{case}");
        OPS.iter().find(|op| op.name == wanted).expect("in the table").name
    };
    for (arch, element) in [(Arch::A3, F32), (Arch::A3, F16), (Arch::A3, I16), (Arch::A5, U16), (Arch::A5, I32)] {
        let (rows, cols) = (4, 21);
        let block = 32 / element.storage_bytes();
        let mut bench = Bench::new(arch);
        let wide = |address| Tile { valid_rows: rows, valid_cols: cols, ..vec(element, 8, 32, address) };
        let (x, dst, tmp) = (wide(0), wide(2048), vec(U8, 1, 256, 4096));
        let values: Vec<f64> = data(element, rows * cols).iter().map(|v| v.trunc()).collect();
        let spread = [3.0, 1.0, 2.0, 5.0];
        bench.put(&x, &values);
        let narrow = Tile { valid_rows: rows, ..column(element, 16, 8192) };
        bench.put(&narrow, &spread);
        let blocks = Tile { valid_rows: rows, ..vec(element, 8, block, 8448) };
        bench.put(&blocks, &spread.iter().flat_map(|&v| vec![v; block]).collect::<Vec<_>>());
        let row = Tile { valid_cols: cols, ..vec(element, 1, 32, 8960) };
        let across: Vec<f64> = (0..cols).map(|c| (c % 5 + 1) as f64).collect();
        bench.put(&row, &across);
        for (case, f) in cases {
            if case == "EXPDIF" && !element.is_float() {
                continue;
            }
            let finish = |a: f64, b: f64| match element.is_float() {
                true => element.round(f(a, b)),
                false => element.wrap(f(a, b).trunc() as i64) as f64,
            };
            let by_row = |swapped: bool| -> Vec<f64> {
                let pair = |i: usize| (values[i], spread[i / cols]);
                (0..rows * cols).map(pair).map(|(x, v)| if swapped { finish(v, x) } else { finish(x, v) }).collect()
            };
            let name = named("TROWEXPAND", case);
            let same = |bench: &mut Bench, operands, expected: &[f64]| {
                bench.run(name, operands).expect("legal");
                assert_eq!(bench.get(&dst), expected, "{name} {}", element.name());
            };
            same(&mut bench, tiles([&dst, &x, &narrow]), &by_row(false));
            same(&mut bench, tiles([&dst, &x, &blocks]), &by_row(false));
            same(&mut bench, tiles([&dst, &x, &narrow, &tmp]), &by_row(false));
            let divisible = element.is_float() || case != "DIV" || !values.contains(&0.0);
            if divisible {
                same(&mut bench, tiles([&dst, &narrow, &x]), &by_row(true));
            }
            let by_column: Vec<f64> = (0..rows * cols).map(|i| finish(values[i], across[i % cols])).collect();
            let name = named("TCOLEXPAND", case);
            bench.run(name, tiles([&dst, &x, &row])).expect("legal");
            assert_eq!(bench.get(&dst), by_column, "{name} {}", element.name());
        }
        bench.run("TROWEXPAND", tiles([&dst, &narrow])).expect("legal");
        assert_eq!(bench.get(&dst), spread.iter().flat_map(|&v| vec![v; cols]).collect::<Vec<_>>());
        bench.run("TCOLEXPAND", tiles([&dst, &row])).expect("legal");
        assert_eq!(bench.get(&dst), across.repeat(rows));
        assert!(bench.broken().is_empty());
    }
}

#[test]
fn the_difference_is_rounded_before_its_exponential() {
    let mut bench = Bench::new(Arch::A5);
    let (x, dst, row) = (vec(F16, 1, 16, 0), vec(F16, 1, 16, 64), vec(F16, 1, 16, 128));
    bench.put(&x, &[8.0; 16]);
    let small = F16.round(0.001);
    bench.put(&row, &[small; 16]);
    bench.run("TCOLEXPANDEXPDIF", tiles([&dst, &x, &row])).expect("legal");
    let expected = F16.round(libm::exp(F16.round(8.0 - small)));
    assert_ne!(expected, F16.round(libm::exp(8.0 - small)));
    assert_eq!(bench.get(&dst), [expected; 16]);
}

#[test]
fn a3_spreads_a_row_over_one_block() {
    let (dst, src) = (vec(F32, 16, 8, 0), vec(F32, 1, 16, 1024));
    let values: Vec<f64> = (0..16).map(f64::from).collect();
    let mut bench = Bench::new(Arch::A3);
    bench.put(&src, &values);
    bench.run("TROWEXPAND", tiles([&dst, &src])).expect("legal");
    assert_eq!(bench.get(&dst), values.iter().flat_map(|&v| [v; 8]).collect::<Vec<_>>());
    let mut bench = Bench::new(Arch::A5);
    bench.put(&src, &values);
    assert!(bench.run("TROWEXPAND", tiles([&dst, &src])).is_err());
}

#[test]
fn scratch_is_lost_only_where_the_device_uses_it() {
    let lost = |arch, name, element: Element, cols| {
        let mut bench = Bench::new(arch);
        let src = vec(element, 2, cols, 0);
        bench.put(&src, &vec![1.0; 2 * cols]);
        let tmp = vec(element, 2, cols, 65536);
        bench.put(&tmp, &vec![1.0; 2 * cols]);
        let dst = Tile { valid_rows: 2, ..column(element, 16, 32768) };
        bench.run(name, tiles([&dst, &src, &tmp])).expect("legal");
        let lost = bench.get(&tmp) != vec![1.0; 2 * cols];
        assert!(bench.broken().is_empty());
        lost
    };
    assert!(!lost(Arch::A3, "TROWSUM", F32, 64));
    assert!(lost(Arch::A3, "TROWSUM", F32, 72));
    assert!(lost(Arch::A3, "TROWSUM", I32, 64));
    assert!(!lost(Arch::A3, "TROWMAX", F16, 128));
    assert!(lost(Arch::A3, "TROWMIN", F16, 144));
    assert!(lost(Arch::A3, "TROWPROD", F16, 16));
    assert!(!lost(Arch::A5, "TROWSUM", F32, 72));
    // Without a scratch tile, A3 uses the end of UB.
    for (arch, expected) in [(Arch::A3, false), (Arch::A5, true)] {
        let mut bench = Bench::new(arch);
        let (x, v, end) = (vec(F32, 8, 8, 0), column(F32, 8, 512), vec(F32, 1, 64, 184 * 1024));
        bench.put(&x, &[1.0; 64]);
        bench.put(&v, &[1.0; 8]);
        bench.put(&end, &[1.0; 64]);
        bench.run("TROWEXPANDADD", tiles([&x, &x, &v])).expect("legal");
        assert_eq!(bench.get(&end) == [1.0; 64], expected);
    }
    // No more than 30 times 8 blocks.
    let mut bench = Bench::new(Arch::A3);
    let (x, v, end) = (vec(F16, 256, 16, 0), column(F16, 256, 8192), vec(U8, 1, 512, 184 * 1024 + 7680 - 256));
    bench.put(&x, &[1.0; 4096]);
    bench.put(&v, &[1.0; 256]);
    bench.put(&end, &[1.0; 512]);
    bench.run("TROWEXPANDMUL", tiles([&x, &x, &v])).expect("legal");
    assert_eq!(bench.get(&end), [[255.0; 256], [1.0; 256]].concat());
    // Too little of it.
    let mut bench = Bench::new(Arch::A3);
    let src = vec(F32, 2, 256, 0);
    bench.put(&src, &[1.0; 512]);
    let dst = Tile { valid_rows: 2, ..column(F32, 8, 32768) };
    bench.run("TROWSUM", tiles([&dst, &src, &vec(F32, 2, 64, 65536)])).expect("runs");
    assert_eq!(bench.get(&dst), [256.0; 2]);
    assert_eq!(bench.broken(), [Rule::OutsideSpace.code()]);
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let mut bench = Bench::new(Arch::A3);
    let (x, half) = (vec(F32, 4, 8, 0), vec(F16, 4, 16, 0));
    let (v, empty) = (column(F32, 8, 512), Tile { valid_cols: 0, ..x.clone() });
    let short = Tile { valid_cols: 3, ..vec(F32, 1, 8, 768) };
    let cases = [
        ("TROWSUM", tiles([&v, &x, &x]), "rows must be as many"),
        ("TROWMAX", tiles([&x, &empty, &x]), "not empty"),
        ("TROWMAX", tiles([&x, &half, &x]), "must hold the f32 of dst, found f16"),
        ("TCOLSUM", tiles([&short, &x]), "columns must be as many"),
        ("TROWARGMAX", tiles([&x, &x, &x]), "integers for the index"),
        ("TCOLARGMIN", tiles([&vec(I32, 4, 8, 0), &x, &x]), "one index a row or column"),
        ("TROWEXPAND", tiles([&x, &v]), "rows must be as many"),
        ("TROWEXPANDADD", tiles([&x, &short, &v]), "one source must be row-major"),
        ("TROWEXPANDADD", tiles([&x, &x, &x, &x]), "the column must be column-major"),
        ("TROWEXPANDEXPDIF", tiles([&vec(I32, 4, 8, 0), &x, &v]), "must hold floats, found i32"),
    ];
    bench.put(&x, &[1.0; 32]);
    for (name, operands, expected) in cases {
        let fault = bench.run(name, operands).expect_err(name);
        assert!(fault.message.contains(expected), "{name}: {}", fault.message);
    }
    bench.run("TCOLMAX", tiles([&Tile { valid_cols: 0, ..short.clone() }, &empty])).expect("nothing to do");
}

#[test]
fn empty_tiles_need_not_fit() {
    let mut bench = Bench::new(Arch::A3);
    let none = |tile: Tile| Tile { valid_rows: 0, valid_cols: 0, ..tile };
    let (x, v, row) = (none(vec(F32, 4, 8, 0)), none(column(F32, 8, 512)), none(vec(F32, 1, 8, 768)));
    let cases = [
        ("TROWMAX", tiles([&v, &x, &vec(F32, 4, 8, 1024)])),
        ("TROWEXPAND", tiles([&x, &v])),
        ("TROWEXPANDMUL", tiles([&x, &x, &v])),
        ("TCOLEXPAND", tiles([&x, &row])),
        ("TCOLEXPANDADD", tiles([&x, &x, &row])),
    ];
    for (name, operands) in cases {
        bench.run(name, operands).expect(name);
    }
    assert!(bench.broken().is_empty());
}

#[test]
fn vectors_of_another_length_are_reported_and_read() {
    let (x, row, col) = (vec(F32, 2, 8, 0), vec(F32, 1, 8, 64), column(F32, 8, 96));
    let short = Tile { valid_cols: 4, ..row.clone() };
    let cases = [
        ("TCOLEXPAND", tiles([&x, &short]), [3.0; 16]),
        ("TCOLEXPANDADD", tiles([&x, &x, &short]), [4.0; 16]),
        ("TROWEXPANDADD", tiles([&x, &x, &col]), [6.0; 16]),
    ];
    for (name, operands, expected) in cases {
        let mut bench = Bench::new(Arch::A3);
        bench.put(&x, &[1.0; 16]);
        bench.put(&row, &[3.0; 8]);
        bench.put(&col, &[5.0; 8]);
        bench.run(name, operands).expect(name);
        assert_eq!(bench.get(&x), expected, "{name}");
        assert_eq!(bench.broken(), ["PTO-0810"], "{name}");
    }
}
