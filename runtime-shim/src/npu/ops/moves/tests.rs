//! Tests of the moves and layout changes.

use super::super::super::abi::Site;
use super::super::bench::{Bench, flag, tile, tiles, vec};
use super::super::transfer::tests::{Arg, boxed, conv, counting, operands};
use super::super::transfer::{GNC1HWC0, GNCHW, NCDHW, NCHW};
use super::*;
use Element::{BF16, F8E8M0, F16, F32, I8, I32, U8, U64};

fn at(tile: Tile, address: u64) -> Tile {
    Tile { address, ..tile }
}

fn part(tile: &Tile, rows: usize, cols: usize) -> Tile {
    Tile { valid_rows: rows, valid_cols: cols, ..tile.clone() }
}

/// Operands of a window.
fn placed(dst: &impl Arg, src: &impl Arg, row: i64, col: i64) -> Vec<Operand> {
    let int = |x| Operand::Int(x, Element::U16);
    vec![dst.arg(), src.arg(), Operand::Null, int(row), int(col)]
}

fn refuse(bench: &mut Bench, name: &'static str, operands: Vec<Operand>, rule: Rule, words: &str) {
    let fault = bench.run(name, operands).expect_err(words);
    assert!(fault.rule == rule && fault.message.contains(words), "{}", fault.message);
}

/// The window of a row-major list of `cols` columns.
fn cut(list: &[f64], cols: usize, at: Pair, size: Pair) -> Vec<f64> {
    (0..size.0 * size.1).map(|i| list[(at.0 + i / size.1) * cols + at.1 + i % size.1]).collect()
}

#[test]
fn pipes_of_the_pairs_of_memories() {
    for (src, dst, pipe) in [
        (Space::Mat, Space::Left, Pipe::Mte1),
        (Space::Mat, Space::Bias, Pipe::Mte1),
        (Space::Mat, Space::ScaleRight, Pipe::Mte1),
        (Space::Mat, Space::Scaling, Pipe::Fix),
        (Space::Acc, Space::Mat, Pipe::Fix),
        (Space::Acc, Space::Vec, Pipe::Fix),
        (Space::Vec, Space::Vec, Pipe::V),
        (Space::Vec, Space::Mat, Pipe::Mte3),
    ] {
        let operands = tiles([&tile(dst, F32, 16, 16, 0), &tile(src, F32, 16, 16, 0)]);
        let instr = Instr { name: "TMOV", operands, result: (Slot(std::ptr::null_mut()), 0), site: Site::NONE };
        assert_eq!(move_pipe(&instr, Arch::A5), pipe, "{src:?} {dst:?}");
    }
}

#[test]
fn operands_of_the_matrix_unit() {
    let nz = |element| boxed(Space::Mat, Form::Nz, element, 64, 64);
    let zn = |element| boxed(Space::Mat, Form::Zn, element, 64, 64);
    let left = |form, element| boxed(Space::Left, form, element, 32, 32);
    let right = |element| boxed(Space::Right, Form::Zn, element, 32, 32);
    for (arch, src, dst, from) in [
        (Arch::A3, nz(F16), left(Form::Zz, F16), (16, 16)),
        (Arch::A3, zn(F16), left(Form::Zz, F16), (16, 32)),
        (Arch::A5, nz(I8), left(Form::Nz, I8), (16, 32)),
        (Arch::A5, zn(F32), right(F32), (8, 16)),
        (Arch::A3, nz(BF16), right(BF16), (32, 16)),
    ] {
        // Left and Right of a matrix tile: fractals of 512 bytes.
        let dst = Tile { fractal_bytes: 512, ..dst };
        let mut bench = Bench::new(arch);
        let list = counting(64 * 64);
        bench.put(&src, &list);
        let operands = placed(&dst, &src, from.0, from.1);
        bench.run("TEXTRACT", operands).unwrap_or_else(|f| panic!("{}", f.message));
        assert_eq!(bench.get(&dst), cut(&list, 64, (from.0 as usize, from.1 as usize), (32, 32)));
        let whole = Tile { rows: 64, cols: 64, valid_rows: 64, valid_cols: 64, ..dst.clone() };
        bench.run("TMOV", operands_of(&whole, &src)).expect("legal");
        assert_eq!(bench.get(&whole), list);
        refuse(&mut bench, "TEXTRACT", placed(&dst, &src, 1, 0), Rule::Misaligned, "the row");
        refuse(&mut bench, "TEXTRACT", placed(&dst, &src, 64, 0), Rule::OutsideSpace, "rows 64..96");
        refuse(&mut bench, "TMOV", operands_of(&dst, &src), Rule::Illegal, "one shape");
        assert!(bench.broken().is_empty());
    }
}

fn operands_of(dst: &Tile, src: &Tile) -> Vec<Operand> {
    operands(dst, src)
}

#[test]
fn padding_moves_along_without_being_read() {
    let mut bench = Bench::new(Arch::A5);
    let src = part(&boxed(Space::Mat, Form::Nz, F16, 32, 32), 20, 20);
    bench.put(&src, &counting(400));
    let dst = part(&boxed(Space::Left, Form::Nz, F16, 32, 32), 20, 20);
    bench.run("TMOV", operands(&dst, &src)).expect("legal");
    assert_eq!(bench.get(&dst), counting(400));
    bench.get(&part(&dst, 21, 20));
    assert_eq!(bench.broken(), ["PTO-0801"], "what was not written before is not written after");
}

#[test]
fn a_vector_is_stored_without_gaps() {
    let mut bench = Bench::new(Arch::A3);
    let src = tile(Space::Mat, F16, 1, 512, 0);
    bench.put(&src, &counting(512));
    let dst = Tile { fractal_bytes: 512, ..boxed(Space::Left, Form::Zz, F16, 1, 256) };
    bench.run("TEXTRACT", placed(&dst, &src, 0, 256)).expect("legal");
    assert_eq!(bench.get(&tile(Space::Left, F16, 1, 256, 0)), counting(512)[256..]);
    refuse(&mut bench, "TEXTRACT", placed(&dst, &src, 0, 16), Rule::Misaligned, "multiple of 256");
}

#[test]
fn biases_scales_and_filters() {
    let mut bench = Bench::new(Arch::A5);
    for (from, to) in [(F32, F32), (I32, I32), (F16, F32), (BF16, F32)] {
        let (src, dst) = (tile(Space::Mat, from, 1, 32, 0), part(&tile(Space::Bias, to, 1, 32, 0), 1, 20));
        bench.put(&src, &counting(32));
        bench.run("TMOV", operands(&dst, &src)).expect("legal");
        assert_eq!(bench.get(&dst), counting(20));
    }
    let (src, dst) = (tile(Space::Mat, F32, 1, 32, 0), tile(Space::Bias, I32, 1, 32, 0));
    refuse(&mut bench, "TMOV", operands(&dst, &src), Rule::Illegal, "no bias of i32");
    let (src, dst) = (tile(Space::Mat, U64, 1, 16, 0), tile(Space::Scaling, U64, 1, 16, 0));
    bench.put(&src, &counting(16));
    bench.run("TMOV", operands(&dst, &src)).expect("legal");
    assert_eq!(bench.get(&dst), counting(16));
    for (form, space, rows, cols) in [(Form::Zz, Space::ScaleLeft, 16, 4), (Form::Nn, Space::ScaleRight, 4, 16)] {
        let exponents: Vec<f64> = (0..4 * rows * cols).map(|i| libm::ldexp(1.0, i as i32 % 50)).collect();
        let src = boxed(Space::Mat, form, F8E8M0, 2 * rows, 2 * cols);
        bench.put(&src, &exponents);
        let dst = boxed(space, form, F8E8M0, rows, cols);
        bench.run("TEXTRACT", placed(&dst, &src, rows as i64, cols as i64)).expect("legal");
        assert_eq!(bench.get(&dst), cut(&exponents, 2 * cols, (rows, cols), (rows, cols)));
    }
    // A filter of C1 = 2, H = W = 1, N = 32: rows are channels.
    for shape in [&[2, 2, 16, 16][..], &[2, 1, 1, 32, 16]] {
        let filter = conv(F16, FRACTAL_Z, shape, 1024);
        bench.put(&tile(Space::Mat, F16, 1, 1024, 0), &(0..1024).map(f64::from).collect::<Vec<_>>());
        let dst = boxed(Space::Right, Form::Zn, F16, 16, 16);
        bench.run("TEXTRACT", placed(&dst, &filter, 16, 16)).expect("legal");
        let expected: Vec<f64> = (0..256).map(|i| f64::from(512 + (16 + i % 16) * 16 + i / 16)).collect();
        assert_eq!(bench.get(&dst), expected);
        let dst = boxed(Space::Right, Form::Zn, F16, 32, 32);
        bench.run("TMOV", vec![dst.arg(), filter.arg(), Operand::Null]).expect("legal");
        assert_eq!(bench.get(&dst)[33], 17.0);
    }
    assert!(bench.broken().is_empty());
}

#[test]
fn accumulators_through_the_fixpipe() {
    let acc = boxed(Space::Acc, Form::Nz, F32, 32, 32);
    let values: Vec<f64> = (0..1024).map(|i| f64::from(i - 512) / 4.0).collect();
    for (arch, dst) in [
        (Arch::A3, boxed(Space::Mat, Form::Nz, F16, 32, 32)),
        (Arch::A5, boxed(Space::Mat, Form::Nz, F32, 32, 32)),
        (Arch::A5, boxed(Space::Vec, Form::Rows, BF16, 32, 32)),
        (Arch::A5, boxed(Space::Vec, Form::Cols, F16, 32, 32)),
        (Arch::A5, boxed(Space::Vec, Form::Nz, F32, 32, 32)),
    ] {
        let mut bench = Bench::new(arch);
        bench.put(&acc, &values);
        let mut with = operands(&dst, &acc);
        with.push(flag("ReluPreMode", 1));
        bench.run("TMOV", with).expect("legal");
        let clipped: Vec<f64> = values.iter().map(|x| dst.element.round(x.max(0.0))).collect();
        assert_eq!(bench.get(&dst), clipped);
        let rounded: Vec<f64> = values.iter().map(|&x| dst.element.round(x)).collect();
        let half = Tile { rows: 16, cols: 16, valid_rows: 16, valid_cols: 16, ..dst.clone() };
        bench.run("TEXTRACT", placed(&half, &acc, 16, 16)).expect("legal");
        assert_eq!(bench.get(&half), cut(&rounded, 32, (16, 16), (16, 16)));
        let small = Tile { rows: 16, cols: 16, valid_rows: 16, valid_cols: 16, ..acc.clone() };
        bench.put(&small, &values[..256]);
        bench.run("TMOV", operands(&dst, &acc)).expect("legal");
        bench.run("TINSERT", placed(&dst, &small, 16, 16)).expect("legal");
        let found = bench.get(&dst);
        assert_eq!(cut(&found, 32, (16, 16), (16, 16)), rounded[..256]);
        refuse(&mut bench, "TEXTRACT", placed(&half, &acc, 0, 8), Rule::Misaligned, "the column");
        refuse(&mut bench, "TINSERT", placed(&dst, &small, 32, 0), Rule::OutsideSpace, "rows 32..48");
        assert!(bench.broken().is_empty());
    }
    let mut bench = Bench::new(Arch::A3);
    bench.put(&acc, &values);
    let ub = boxed(Space::Vec, Form::Rows, F32, 32, 32);
    refuse(&mut bench, "TMOV", operands(&ub, &acc), Rule::Illegal, "no path");
}

#[test]
fn scales_of_the_fixpipe() {
    let mut bench = Bench::new(Arch::A3);
    let acc = boxed(Space::Acc, Form::Nz, I32, 16, 32);
    bench.put(&acc, &counting(512));
    let word = |scale: f32| i64::from(scale.to_bits()) | 1 << 46;
    let dst = part(&boxed(Space::Mat, Form::Nz, I8, 16, 32), 16, 16);
    let two = Operand::Int(word(0.5), U64);
    let int = |x| Operand::Int(x, Element::U16);
    bench.run("TEXTRACT", vec![dst.arg(), acc.arg(), two, int(0), int(16)]).expect("legal");
    let by = |scale: &dyn Fn(usize) -> f64| -> Vec<f64> {
        cut(&counting(512), 32, (0, 16), (16, 16))
            .iter()
            .enumerate()
            .map(|(i, x)| libm::rint(x * scale(i % 16)))
            .collect()
    };
    assert_eq!(bench.get(&dst), by(&|_| 0.5));
    let fp = tile(Space::Scaling, Element::I64, 1, 32, 0);
    let words: Vec<f64> = (0..32).map(|c| word(if c < 17 { 0.25 } else { 1.0 }) as f64).collect();
    bench.put(&fp, &words);
    bench.run("TEXTRACT_FP", vec![dst.arg(), acc.arg(), fp.arg(), int(0), int(16)]).expect("legal");
    assert_eq!(bench.get(&dst), by(&|c| if c == 0 { 0.25 } else { 1.0 }), "words of the extracted columns");
    let all = boxed(Space::Mat, Form::Nz, I8, 16, 32);
    bench.run("TMOV_FP", vec![all.arg(), acc.arg(), fp.arg()]).expect("legal");
    assert_eq!(bench.get(&all)[40], 10.0);
    bench.run("TINSERT_FP", vec![all.arg(), acc.arg(), fp.arg(), int(0), int(0)]).expect("legal");
    assert_eq!(bench.get(&all)[41], libm::rint(41.0 / 4.0));
    refuse(&mut bench, "TMOV", operands(&all, &acc), Rule::Illegal, "without a scale");
    assert!(bench.broken().is_empty());
}

#[test]
fn vector_halves() {
    let acc = boxed(Space::Acc, Form::Nz, F32, 16, 32);
    let list = counting(512);
    // Mode; what half 0 and half 1 hold: first row, first column, rows, columns.
    type Held = Option<(Pair, Pair)>;
    let cases: [(u64, [Held; 2]); 4] = [
        (0, [Some(((0, 0), (16, 32))), None]),
        (1, [None, Some(((0, 0), (16, 32)))]),
        (2, [Some(((0, 0), (8, 32))), Some(((8, 0), (8, 32)))]),
        (3, [Some(((0, 0), (16, 16))), Some(((0, 16), (16, 16)))]),
    ];
    for (mode, halves) in cases {
        let mut bench = Bench::cube(Arch::A5);
        bench.put(&acc, &list);
        let rows = if mode == 2 { 8 } else { 16 };
        let dst = tile(Space::Vec, F32, rows, if mode == 3 { 16 } else { 32 }, 64);
        let mut with = operands(&dst, &acc);
        with.push(flag("AccToVecMode", mode));
        bench.run("TMOV", with.clone()).expect("legal");
        for (half, held) in halves.into_iter().enumerate() {
            if let Some((from, size)) = held {
                assert_eq!(bench.get_half(half, &dst), cut(&list, 32, from, size), "mode {mode}, half {half}");
            }
        }
        with[2] = Operand::Int(1, U64);
        if mode >= 2 {
            refuse(&mut bench, "TMOV", with, Rule::Illegal, "unscaled");
        }
        assert!(bench.broken().is_empty());
    }
    let mut bench = Bench::new(Arch::A5);
    bench.put(&acc, &list);
    let mut with = operands(&tile(Space::Vec, F32, 16, 32, 0), &acc);
    with.push(flag("AccToVecMode", 1));
    refuse(&mut bench, "TMOV", with, Rule::Illegal, "no vector half 1");
}

#[test]
fn between_vector_tiles() {
    let list = counting(32 * 32);
    for element in [F16, I8, F32] {
        for (arch, from, to) in [
            (Arch::A3, Form::Rows, Form::Rows),
            (Arch::A3, Form::Nz, Form::Nz),
            (Arch::A5, Form::Rows, Form::Nz),
            (Arch::A5, Form::Rows, Form::Zn),
        ] {
            let mut bench = Bench::new(arch);
            let src = part(&boxed(Space::Vec, from, element, 32, 32), 20, 32);
            let dst = at(Tile { fractal_bytes: 512, ..boxed(Space::Vec, to, element, 32, 32) }, 8192);
            bench.put(&src, &list[..640]);
            bench.run("TMOV", operands(&part(&dst, 20, 7), &src)).expect("legal");
            assert_eq!(bench.get(&part(&dst, 20, 7)), cut(&list, 32, (0, 0), (20, 7)), "{from:?} {to:?}");
            assert!(bench.broken().is_empty());
        }
    }
    // A3 copies whole blocks, A5 does not.
    for (arch, next) in [(Arch::A3, 3.0), (Arch::A5, 9.0)] {
        let mut bench = Bench::new(arch);
        let (src, dst) = (vec(F32, 1, 16, 0), vec(F32, 1, 16, 64));
        bench.put(&src, &list[..16]);
        bench.put(&dst, &[9.0; 16]);
        bench.run("TMOV", operands(&part(&dst, 1, 3), &src)).expect("legal");
        let found = bench.get(&dst);
        assert_eq!((found[2], found[3], found[8]), (2.0, next, 9.0));
    }
    let mut bench = Bench::new(Arch::A3);
    let (rows, nz) = (vec(F16, 16, 16, 0), boxed(Space::Vec, Form::Nz, F16, 16, 16));
    refuse(&mut bench, "TMOV", operands(&nz, &rows), Rule::Illegal, "no path");
    refuse(&mut bench, "TMOV", operands(&vec(F32, 16, 16, 0), &rows), Rule::Illegal, "one width");
}

#[test]
fn exponents_become_scales() {
    let exponents: Vec<f64> = (0..20 * 4).map(|i| libm::ldexp(1.0, i)).collect();
    let mut bench = Bench::new(Arch::A5);
    let src = part(&vec(F8E8M0, 32, 32, 0), 20, 4);
    bench.put(&src, &exponents);
    let dst = at(boxed(Space::Vec, Form::Zz, F8E8M0, 32, 4), 2048);
    let tmp = at(vec(U8, 1, 256, 0), 4096);
    bench.put(&tmp, &[1.0; 256]);
    bench.run("TMOV", tiles([&part(&dst, 20, 4), &src, &tmp])).expect("legal");
    let found = bench.get(&dst);
    assert_eq!(found[..80], exponents);
    assert!(found[80..].iter().all(|&x| x == libm::ldexp(1.0, -127)), "zero bits to the end of the box");
    assert_eq!(bench.get(&tmp)[0], 255.0);
    let turned = at(boxed(Space::Vec, Form::Zz, F8E8M0, 16, 4), 2048);
    let src = part(&vec(F8E8M0, 4, 32, 0), 4, 16);
    bench.put(&src, &exponents[..64]);
    let mut with = tiles([&turned, &src, &tmp]);
    with.push(Operand::Int(0, I32));
    bench.run("TMOV", with).expect("legal");
    let expected: Vec<f64> = (0..64).map(|i| exponents[i % 4 * 16 + i / 4]).collect();
    assert_eq!(bench.get(&turned), expected);
    assert!(bench.broken().is_empty());
}

#[test]
fn windows_of_vector_tiles() {
    let list = counting(32 * 64);
    for (arch, form) in [(Arch::A3, Form::Rows), (Arch::A5, Form::Rows), (Arch::A3, Form::Nz), (Arch::A5, Form::Nz)] {
        let mut bench = Bench::new(arch);
        let big = boxed(Space::Vec, form, F16, 32, 64);
        let small = part(&at(boxed(Space::Vec, form, F16, 16, 16), 8192), 10, 6);
        bench.put(&big, &list);
        bench.run("TEXTRACT", placed(&small, &big, 16, 32)).expect("legal");
        assert_eq!(bench.get(&small), cut(&list, 64, (16, 32), (10, 6)));
        bench.put(&big, &vec![7.0; 32 * 64]);
        bench.run("TINSERT", placed(&big, &small, 16, 48)).expect("legal");
        let found = bench.get(&big);
        assert_eq!(cut(&found, 64, (16, 48), (10, 6)), cut(&list, 64, (16, 32), (10, 6)));
        // Whole boxes on A5 in Nz, else exactly the valid part.
        let exact = arch == Arch::A3 || form == Form::Rows;
        assert_eq!((found[16 * 64 + 54] == 7.0, found[26 * 64 + 48]), (exact, 7.0));
        let single = part(&small, 1, 1);
        bench.run("TEXTRACT", placed(&single, &big, 3, 5)).expect("a single element comes from anywhere");
        assert_eq!(bench.get(&single), [7.0]);
        if (arch, form) != (Arch::A5, Form::Rows) {
            refuse(&mut bench, "TEXTRACT", placed(&small, &big, 16, 8), Rule::Misaligned, "the column");
        } else {
            bench.run("TEXTRACT", placed(&small, &big, 3, 5)).expect("A5 takes rows from anywhere");
        }
        refuse(&mut bench, "TINSERT", placed(&big, &small, 32, 0), Rule::OutsideSpace, "rows 32..42");
        assert!(bench.broken().is_empty());
    }
}

#[test]
fn two_windows_at_once() {
    let mut bench = Bench::new(Arch::A3);
    let list = counting(32 * 64);
    let src = vec(I8, 32, 64, 0);
    bench.put(&src, &list);
    let dst0 = part(&at(boxed(Space::Vec, Form::Nz, I8, 16, 32), 4096), 10, 7);
    let dst1 = part(&at(dst0.clone(), 8192), 16, 32);
    let hidden = vec(U8, 1, 1024, 0x2e000);
    bench.put(&hidden, &[1.0; 1024]);
    let mut with = tiles([&dst0, &dst1, &src]);
    with.extend([2, 32, 16, 1].map(|x| Operand::Int(x, Element::U16)));
    bench.run("TEXTRACT", with).expect("legal");
    assert_eq!(bench.get(&dst0), cut(&list, 64, (2, 32), (10, 7)));
    assert_eq!(bench.get(&dst1), cut(&list, 64, (16, 1), (16, 32)));
    let lost = bench.get(&hidden);
    assert_eq!((lost[639], lost[640]), (255.0, 1.0), "64 bytes a row of the odd window");
    assert!(bench.broken().is_empty());
}

#[test]
fn from_ub_to_l1() {
    let list = counting(32 * 32);
    for form in [Form::Rows, Form::Nz] {
        let mut bench = Bench::new(Arch::A5);
        let (src, dst) = (boxed(Space::Vec, form, F16, 32, 32), boxed(Space::Mat, form, F16, 32, 32));
        bench.put(&src, &list);
        bench.run("TMOV", operands(&dst, &src)).expect("legal");
        assert_eq!(bench.get(&dst), list);
        let low = boxed(Space::Mat, form, F16, 16, 32);
        bench.run("TEXTRACT", placed(&low, &src, 16, 0)).expect("legal");
        assert_eq!(bench.get(&low), list[512..]);
    }
    for (mode, form, rows) in
        [(None, Form::Nz, 20), (Some(2), Form::Nz, 20), (Some(3), Form::Nz, 20), (None, Form::Zn, 16)]
    {
        let mut bench = Bench::new(Arch::A5);
        let src = part(&Tile { fractal_bytes: 512, ..boxed(Space::Vec, form, F16, 32, 32) }, rows, 32);
        let dst = boxed(Space::Mat, form, F16, 64, 64);
        bench.put(&dst, &vec![7.0; 4096]);
        bench.put(&src, &list[..rows * 32]);
        let mut with = placed(&dst, &src, 16, 16);
        with.extend(mode.map(|m| flag("TInsertMode", m)));
        bench.run("TINSERT", with).expect("legal");
        let found = bench.get(&dst);
        assert_eq!(cut(&found, 64, (16, 16), (rows, 32)), list[..rows * 32], "{form:?} {mode:?}");
        let below = found[(16 + rows) * 64 + 16];
        assert_eq!(below == 7.0, mode.is_none(), "the split forms take whole boxes");
    }
    let mut bench = Bench::new(Arch::A5);
    let (src, dst) = (part(&vec(F16, 16, 32, 0), 16, 20), tile(Space::Mat, F16, 16, 64, 0));
    bench.put(&src, &counting(320));
    refuse(&mut bench, "TINSERT", placed(&dst, &src, 0, 0), Rule::Illegal, "whole blocks");
    let nz = boxed(Space::Mat, Form::Nz, F16, 16, 32);
    refuse(&mut bench, "TMOV", operands(&nz, &src), Rule::Illegal, "no path");
    let mut bench = Bench::new(Arch::A3);
    refuse(&mut bench, "TMOV", operands(&dst, &src), Rule::Illegal, "no path");
}

#[test]
fn transposition() {
    for (arch, element) in [(Arch::A3, F32), (Arch::A3, I8), (Arch::A5, F16)] {
        let mut bench = Bench::new(arch);
        let src = part(&vec(element, 32, 32, 0), 20, 5);
        let dst = at(vec(element, 32, 64, 0), 8192);
        let tmp = at(vec(element, 64, 64, 0), 32768);
        bench.put(&src, &counting(100));
        bench.put(&dst, &vec![7.0; 2048]);
        bench.put(&tmp, &vec![7.0; 4096]);
        bench.run("TTRANS", tiles([&part(&dst, 5, 20), &src, &tmp])).expect("legal");
        let expected: Vec<f64> = (0..100).map(|i| f64::from(i % 20 * 5 + i / 20)).collect();
        assert_eq!(bench.get(&part(&dst, 5, 20)), expected);
        let (found, scratch) = (bench.get(&dst), bench.get(&tmp));
        // A3 goes through the scratch tile and writes whole blocks: 24 of f32, 32 of i8.
        let end = if element == F32 { 24 } else { 32 };
        assert_eq!((found[end - 1] == 7.0, found[end], scratch[0] == 7.0), (arch != Arch::A3, 7.0, arch != Arch::A3));
        if arch == Arch::A3 {
            let short = tiles([&part(&dst, 5, 20), &src, &vec(element, 1, 32, 32768)]);
            refuse(&mut bench, "TTRANS", short, Rule::OutsideSpace, "tmp needs");
        }
        assert!(bench.broken().is_empty());
    }
}

#[test]
fn transposition_of_images() {
    // f32, C0 = 8. Values count elements of the source, in its own order.
    let vector = |layout, shape: &[i64]| {
        let elements = shape.iter().product::<i64>() as usize;
        Conv { space: Space::Vec, ..conv(F32, layout, shape, elements) }
    };
    type Case = (u8, &'static [i64], u8, &'static [i64], fn(usize) -> usize);
    let cases: [Case; 6] = [
        // Where element `i` of the destination comes from: C = 16, H W = 8.
        (NCHW, &[2, 16, 2, 4], NC1HWC0, &[2, 2, 2, 4, 8], |i| i / 64 * 64 + i % 8 * 8 + i / 8 % 8),
        (NC1HWC0, &[2, 2, 2, 4, 8], NCHW, &[2, 16, 2, 4], |i| i / 64 * 64 + i % 8 * 8 + i / 8 % 8),
        (GNCHW, &[2, 1, 16, 2, 4], GNC1HWC0, &[2, 1, 2, 2, 4, 8], |i| i / 64 * 64 + i % 8 * 8 + i / 8 % 8),
        (NC1HWC0, &[16, 1, 2, 4, 8], FRACTAL_Z, &[8, 1, 16, 8], |i| i / 8 % 16 * 64 + i / 128 * 8 + i % 8),
        (GNC1HWC0, &[2, 16, 1, 2, 4, 8], FRACTAL_Z, &[16, 1, 16, 8], |i| {
            i / 1024 * 1024 + i / 8 % 16 * 64 + i / 128 % 8 * 8 + i % 8
        }),
        // N = 16, C = 8, D = 2, H W = 4.
        (NCDHW, &[16, 8, 2, 2, 2], FRACTAL_Z_3D, &[8, 1, 16, 8], |i| i / 8 % 16 * 64 + i % 8 * 8 + i / 128),
    ];
    for (from, source, to, target, origin) in cases {
        let mut bench = Bench::new(Arch::A3);
        let (src, dst) = (vector(from, source), Conv { address: 65536, ..vector(to, target) });
        let n = src.elements;
        bench.put(&vec(F32, 1, n, 0), &(0..n).map(|i| i as f64).collect::<Vec<_>>());
        bench.run("TTRANS", operands(&dst, &src)).unwrap_or_else(|f| panic!("{}", f.message));
        let found = bench.get(&vec(F32, 1, dst.elements, 65536));
        assert_eq!(found, (0..n).map(|i| origin(i) as f64).collect::<Vec<_>>(), "{from} {to}");
        let other = vector(NCHW, &[1, 1, 1, 1]);
        refuse(&mut bench, "TTRANS", operands(&dst, &other), Rule::Illegal, "cannot become");
    }
    // Channels that do not fill their group leave the rest as it is.
    let mut bench = Bench::new(Arch::A3);
    let (src, dst) = (vector(NCHW, &[1, 3, 1, 8]), Conv { address: 1024, ..vector(NC1HWC0, &[1, 1, 1, 8, 8]) });
    bench.put(&vec(F32, 1, 24, 0), &counting(24));
    bench.put(&vec(F32, 1, 64, 1024), &[-1.0; 64]);
    bench.run("TTRANS", operands(&dst, &src)).expect("legal");
    let expected: Vec<f64> = (0..64).map(|i| if i % 8 < 3 { (i % 8 * 8 + i / 8) as f64 } else { -1.0 }).collect();
    assert_eq!(bench.get(&vec(F32, 1, 64, 1024)), expected);
}

#[test]
fn concatenation() {
    for arch in [Arch::A3, Arch::A5] {
        let mut bench = Bench::new(arch);
        let (src0, src1) = (part(&vec(F32, 2, 8, 0), 2, 3), part(&vec(F32, 2, 8, 64), 2, 2));
        let dst = vec(F32, 2, 16, 128);
        bench.put(&src0, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        bench.put(&src1, &[10.0, 20.0, 30.0, 40.0]);
        bench.put(&dst, &[7.0; 32]);
        bench.run("TCONCAT", tiles([&part(&dst, 2, 5), &src0, &src1])).expect("legal");
        let found = bench.get(&dst);
        assert_eq!(found[..5], [1.0, 2.0, 3.0, 10.0, 20.0]);
        assert_eq!(found[16..21], [4.0, 5.0, 6.0, 30.0, 40.0]);
        assert_eq!((found[5] == 7.0, found[8]), (arch == Arch::A5, 7.0), "A3 copies whole blocks");
        refuse(&mut bench, "TCONCAT", tiles([&part(&dst, 1, 5), &src0, &src1]), Rule::Illegal, "as many");
        // Row 0: 2 of src0, 1 of src1. Row 1: more than fits in 4 columns.
        let index = |address| part(&vec(I32, 2, 8, address), 2, 1);
        let (index0, index1, out) = (index(512), index(576), index(640));
        bench.put(&index0, &[8.0, 12.0]);
        bench.put(&index1, &[4.0, 8.0]);
        bench.put(&dst, &[7.0; 32]);
        let narrow = part(&dst, 2, 4);
        bench.run("TCONCAT", tiles([&narrow, &src0, &src1, &out, &index0, &index1])).expect("legal");
        let found = bench.get(&dst);
        assert_eq!(found[..5], [1.0, 2.0, 10.0, 7.0, 7.0]);
        assert_eq!(found[16..21], [4.0, 5.0, 6.0, 30.0, 7.0]);
        assert_eq!(bench.get(&out), [12.0, 16.0]);
        bench.put(&dst, &[7.0; 32]);
        bench.run("TCONCAT", tiles([&narrow, &src0, &src1, &index0, &index1])).expect("legal");
        assert_eq!(bench.get(&dst)[16..20], [4.0, 5.0, 6.0, 30.0]);
        assert!(bench.broken().is_empty());
    }
}

#[test]
fn interleaving_and_back() {
    let mut bench = Bench::new(Arch::A5);
    let t = |address| part(&vec(F16, 2, 16, address), 2, 6);
    let (a0, a1, b0, b1) = (t(0), t(64), t(128), t(192));
    bench.put(&a0, &(0..12).map(f64::from).collect::<Vec<_>>());
    bench.put(&a1, &(100..112).map(f64::from).collect::<Vec<_>>());
    bench.run("TINTERLEAVE", tiles([&b1, &b0, &a1, &a0])).expect("legal");
    assert_eq!(bench.get(&b0)[..6], [0.0, 100.0, 1.0, 101.0, 2.0, 102.0]);
    assert_eq!(bench.get(&b1)[6..], [9.0, 109.0, 10.0, 110.0, 11.0, 111.0]);
    let (c0, c1) = (t(256), t(320));
    bench.run("TDEINTERLEAVE", tiles([&c1, &c0, &b1, &b0])).expect("legal");
    assert_eq!(bench.get(&c0), bench.get(&a0));
    assert_eq!(bench.get(&c1), bench.get(&a1));
    let (d0, d1) = (part(&c0, 2, 3), part(&c1, 2, 3));
    bench.run("TDEINTERLEAVE", tiles([&d1, &d0, &a0])).expect("legal");
    assert_eq!(bench.get(&d0), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
    assert_eq!(bench.get(&d1), [1.0, 3.0, 5.0, 7.0, 9.0, 11.0]);
    refuse(&mut bench, "TINTERLEAVE", tiles([&d1, &d0, &a1, &a0]), Rule::Illegal, "even");
    refuse(&mut bench, "TDEINTERLEAVE", tiles([&b1, &b0, &d1, &a0]), Rule::Illegal, "valid elements");
}

#[test]
fn padding() {
    // Pad values, by type.
    let cases = [
        (F32, 1, 0.0),
        (F32, 2, f64::INFINITY),
        (F16, 3, f64::NEG_INFINITY),
        (I8, 2, 127.0),
        (U8, 3, 0.0),
        (U8, 2, 255.0),
        (I32, 3, -2147483648.0),
        (F32, 0x1_bf80_0000, -1.0),
        (BF16, 0x1_0000_4000, 2.0),
    ];
    for (element, pad, value) in cases {
        for (arch, name) in [(Arch::A3, "TFILLPAD"), (Arch::A5, "TFILLPAD_INPLACE"), (Arch::A5, "TFILLPAD_EXPAND")] {
            let mut bench = Bench::new(arch);
            let cols = 2 * block(element);
            let src = part(&vec(element, 4, cols, 0), 2, 3);
            let address = if name == "TFILLPAD_INPLACE" { 0 } else { 4096 };
            let rows = if name == "TFILLPAD_EXPAND" { 5 } else { 4 };
            let dst = Tile { pad, ..vec(element, rows, cols, address) };
            bench.put(&dst, &vec![7.0; rows * cols]);
            bench.put(&src, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
            bench.run(name, tiles([&part(&dst, 3, 3), &src])).expect("legal");
            let found = bench.get(&dst);
            for (i, found) in found.into_iter().enumerate() {
                let expected = match (i / cols, i % cols) {
                    (r @ 0..2, c @ 0..3) => (3 * r + c + 1) as f64,
                    (0..3, _) => value,
                    _ => 7.0,
                };
                assert_eq!(found, expected, "{name} {element:?} {i}");
            }
            assert!(bench.broken().is_empty());
        }
    }
}

#[test]
fn padding_that_a_load_should_have_done() {
    for (arch, broken) in [(Arch::A3, &["PTO-0801"][..]), (Arch::A5, &[])] {
        let mut bench = Bench::new(arch);
        let src = Tile { pad: 1, ..part(&vec(F32, 1, 16, 0), 1, 3) };
        bench.put(&src, &[1.0; 3]);
        let dst = Tile { pad: 1, ..vec(F32, 1, 16, 64) };
        bench.run("TFILLPAD", tiles([&dst, &src])).expect("legal");
        assert_eq!(bench.broken(), broken, "with one pad value, A3 trusts the rest of the block");
    }
    let mut bench = Bench::new(Arch::A5);
    let (a, b) = (Tile { pad: 1, ..vec(F32, 1, 8, 0) }, vec(F32, 1, 8, 32));
    refuse(&mut bench, "TFILLPAD_INPLACE", tiles([&a, &b]), Rule::Illegal, "one buffer");
    refuse(&mut bench, "TFILLPAD", tiles([&b, &a]), Rule::Illegal, "pad value");
    refuse(&mut bench, "TFILLPAD", tiles([&a, &vec(F32, 2, 8, 32)]), Rule::Illegal, "shape");
}

#[test]
fn padding_of_l1() {
    for (compact, rows) in [(Compact::Null, 32), (Compact::RowAlignedPadding, 16)] {
        let mut bench = Bench::new(Arch::A5);
        let all = Tile { compact, ..boxed(Space::Mat, Form::Nz, F16, 32, 48) };
        bench.put(&all, &vec![7.0; 32 * 48]);
        let t = part(&all, 10, 20);
        let mut with = tiles([&t, &t]);
        with.push(flag("PadValue", 1));
        bench.run("TFILLPAD", with.clone()).expect("legal");
        let found = bench.get(&all);
        let zero = |r: usize, c: usize| found[r * 48 + c] == 0.0;
        assert_eq!([zero(9, 31), zero(10, 31), zero(15, 0), zero(16, 0)], [false, true, true, rows == 32]);
        assert_eq!([zero(0, 32), zero(31, 47)], [rows == 32; 2]);
        with[2] = flag("PadValue", 2);
        refuse(&mut bench, "TFILLPAD", with, Rule::Illegal, "zeros");
    }
}

#[test]
fn im2col() {
    // A map of 3 x 4, two groups of C0 = 8 (f32), a filter of 2 x 2 with stride 1, one border above and left.
    let image = Image {
        map: [3, 4],
        filter: [2, 2],
        dilation: [1, 1],
        stride: [1, 1],
        pad: [1, 0, 1, 0],
        channels: 16,
        repeat: [1, 0, 0],
        transpose: false,
        pad_value: u64::from(99f32.to_bits()),
    };
    let memory: Vec<f64> = (0..192).map(f64::from).collect();
    let source = |m: usize, k: usize| {
        let (c1, tap, c0) = (k / 32, k / 8 % 4, k % 8);
        let (y, x) = ((m / 4 + tap / 2).checked_sub(1), (m % 4 + tap % 2).checked_sub(1));
        match (y, x) {
            (Some(y), Some(x)) => memory[((c1 * 3 + y) * 4 + x) * 8 + c0],
            _ => 99.0,
        }
    };
    for (arch, mode) in [(Arch::A3, 0), (Arch::A3, 3), (Arch::A5, 2)] {
        let mut bench = Bench::new(arch);
        bench.put(&tile(Space::Mat, F32, 1, 192, 0), &memory);
        let src = Conv { image, ..conv(F32, NC1HWC0, &[1, 2, 3, 4, 8], 192) };
        let form = if arch == Arch::A3 { Form::Zz } else { Form::Nz };
        let left = Tile { fractal_bytes: 512, ..boxed(Space::Left, form, F32, 16, 32) };
        let dst = part(&left, 7, 24);
        let int = |x| Operand::Int(x, Element::U16);
        let load = vec![dst.arg(), src.arg(), int(2), int(16), flag("SetFmatrixMode", mode)];
        if mode >= 2 {
            refuse(&mut bench, "TIMG2COL", load.clone(), Rule::Illegal, "SETFMATRIX");
            for name in ["SETFMATRIX", "SET_IMG2COL_RPT", "SET_IMG2COL_PADDING"] {
                bench.run(name, vec![src.arg(), flag("SetFmatrixMode", mode)]).expect("legal");
            }
        }
        bench.run("TIMG2COL", load).unwrap_or_else(|f| panic!("{}", f.message));
        let expected: Vec<f64> = (0..7 * 24).map(|i| source(2 + i / 24, 16 + i % 24)).collect();
        assert_eq!(bench.get(&dst), expected, "mode {mode}");
        let huge = Conv { image: Image { filter: [9, 9], ..image }, ..src };
        let load = vec![dst.arg(), huge.arg(), int(0), int(0), flag("SetFmatrixMode", 0)];
        refuse(&mut bench, "TIMG2COL", load, Rule::Illegal, "does not fit");
        assert!(bench.broken().is_empty());
    }
}

#[test]
fn registers_and_views() {
    let mut bench = Bench::new(Arch::A5);
    let fp = tile(Space::Scaling, U64, 1, 16, 0);
    bench.run("SET_QUANT_SCALAR", vec![Operand::Float(0.5, F32), Operand::Int(0, I8)]).expect("legal");
    bench.run("SET_QUANT_VECTOR", vec![fp.arg()]).expect("legal");
    bench.check(|ctx| {
        assert_eq!(ctx.registers.quant_scalar, Some((0.5, I8)));
        assert_eq!(ctx.registers.quant_vector, Some(fp.clone()));
    });
    let (t, view) = (vec(F32, 16, 32, 0), part(&vec(F32, 16, 32, 0), 4, 8));
    let int = |x| Operand::Int(x, Element::U16);
    bench.run("TASSIGN", vec![t.arg()]).expect("legal");
    bench.run("TGET_SCALE_ADDR", tiles([&t, &t])).expect("legal");
    bench.run("TSUBVIEW", vec![view.arg(), t.arg(), int(12), int(24)]).expect("legal");
    refuse(&mut bench, "TSUBVIEW", vec![view.arg(), t.arg(), int(13), int(0)], Rule::OutsideSpace, "rows 13..17");
    bench.run("TRESHAPE", tiles([&vec(F16, 32, 32, 0), &t])).expect("legal");
    refuse(&mut bench, "TRESHAPE", tiles([&vec(F16, 16, 32, 0), &t]), Rule::OutsideSpace, "1024 bytes");
}
