//! Tests of the transfers between global memory and tiles.

use super::super::super::abi::{Image, Site};
use super::super::bench::{Bench, dense, flag, tile, vec};
use super::*;
use crate::npu::abi::Slot;
use Element::{BF16, F8E8M0, F16, F32, I8, I16, I32, U8, U64};

/// A boxed tile of L1 or of another space, by its form.
pub fn boxed(space: Space, form: Form, element: Element, rows: usize, cols: usize) -> Tile {
    let (row_major, box_layout) = match form {
        Form::Rows => (true, BoxLayout::None),
        Form::Cols => (false, BoxLayout::None),
        Form::Nz => (false, BoxLayout::RowMajor),
        Form::Zn => (true, BoxLayout::ColMajor),
        Form::Zz => (true, BoxLayout::RowMajor),
        Form::Nn => (false, BoxLayout::ColMajor),
    };
    let fractal_bytes = match space {
        Space::Acc => 1024,
        _ if matches!(form, Form::Nn | Form::Zz) => 32,
        _ => 512,
    };
    Tile { row_major, box_layout, fractal_bytes, ..tile(space, element, rows, cols, 0) }
}

/// A convolution tile of L1.
pub fn conv(element: Element, layout: u8, shape: &[i64], elements: usize) -> Conv {
    let image = Image::default();
    Conv { space: Space::Mat, element, layout, shape: shape.into(), address: 0, elements, image, site: Site::NONE }
}

/// What an operand is made from.
pub trait Arg {
    fn arg(&self) -> Operand;
}
impl Arg for Tile {
    fn arg(&self) -> Operand {
        Operand::Tile(self.clone())
    }
}
impl Arg for Conv {
    fn arg(&self) -> Operand {
        Operand::Conv(self.clone())
    }
}
impl Arg for Global {
    fn arg(&self) -> Operand {
        Operand::Global(self.clone())
    }
}

/// Two operands and an absent one.
pub fn operands(a: &impl Arg, b: &impl Arg) -> Vec<Operand> {
    vec![a.arg(), b.arg(), Operand::Null]
}

/// 0, 1, 2, ... below 120, over and over.
pub fn counting(n: usize) -> Vec<f64> {
    (0..n).map(|i| (i % 120) as f64).collect()
}

/// Layout, form, space, element, shape and stride of the tensor, rows and columns, and the offset of an element.
type Case = (u8, Form, Space, Element, [i64; 5], [i64; 5], usize, usize, fn(usize, usize) -> usize);

const CASES: &[Case] = &[
    (ND, Form::Rows, Space::Vec, F32, [2, 1, 3, 2, 8], [200, 1, 60, 10, 1], 12, 8, |r, c| {
        r / 6 * 200 + r / 2 % 3 * 60 + r % 2 * 10 + c
    }),
    (DN, Form::Cols, Space::Vec, F16, [1, 2, 1, 16, 3], [1, 100, 1, 1, 20], 16, 6, |r, c| c / 3 * 100 + c % 3 * 20 + r),
    (NZ, Form::Nz, Space::Vec, F16, [2, 2, 2, 16, 16], [2000, 600, 256, 16, 1], 32, 64, |r, c| {
        c / 32 * 2000 + c / 16 % 2 * 600 + r * 16 + c % 16
    }),
    (ND, Form::Nz, Space::Mat, U8, [1, 1, 1, 32, 64], [1, 1, 1, 70, 1], 32, 64, |r, c| r * 70 + c),
    (DN, Form::Zn, Space::Mat, F16, [1, 1, 1, 32, 16], [1, 1, 1, 1, 40], 32, 16, |r, c| c * 40 + r),
    (DN, Form::Nz, Space::Mat, F32, [1, 1, 1, 16, 8], [1, 1, 1, 1, 16], 16, 8, |r, c| c * 16 + r),
    (MX_A_ZZ, Form::Zz, Space::Mat, F8E8M0, [1, 2, 3, 16, 2], [192, 96, 32, 2, 1], 32, 6, |r, c| {
        r / 16 * 96 + c / 2 * 32 + r % 16 * 2 + c % 2
    }),
    (MX_A_ND, Form::Zz, Space::Mat, F8E8M0, [1, 1, 16, 3, 2], [96, 96, 6, 2, 1], 16, 6, |r, c| r * 6 + c),
    (MX_A_DN, Form::Zz, Space::Mat, F8E8M0, [1, 1, 3, 16, 2], [96, 96, 32, 2, 1], 16, 6, |r, c| {
        c / 2 * 32 + r * 2 + c % 2
    }),
    (MX_B_NN, Form::Nn, Space::Mat, F8E8M0, [1, 2, 3, 16, 2], [192, 96, 32, 2, 1], 6, 32, |r, c| {
        c / 16 * 96 + r / 2 * 32 + c % 16 * 2 + r % 2
    }),
    (MX_B_ND, Form::Nn, Space::Mat, F8E8M0, [1, 1, 3, 16, 2], [96, 96, 32, 2, 1], 6, 16, |r, c| {
        r / 2 * 32 + c * 2 + r % 2
    }),
    (MX_B_DN, Form::Nn, Space::Mat, F8E8M0, [1, 1, 16, 3, 2], [96, 96, 6, 2, 1], 6, 16, |r, c| c * 6 + r),
];

#[test]
fn tensors_of_every_layout_become_tiles() {
    for &(layout, form, space, element, shape, stride, rows, cols, at) in CASES {
        let mut bench = Bench::new(Arch::A5);
        let memory = match element {
            F8E8M0 => counting(4096).iter().map(|x| libm::ldexp(1.0, *x as i32)).collect(),
            _ => counting(4096),
        };
        let src = bench.global(element, [1, 1, 1, 1, 4096], &memory);
        let src = Global { layout, shape, stride, ..src };
        let dst = boxed(space, form, element, rows, cols);
        bench.run("TLOAD", operands(&dst, &src)).unwrap_or_else(|f| panic!("{form:?}: {}", f.message));
        let expected: Vec<f64> = (0..rows * cols).map(|i| memory[at(i / cols, i % cols)]).collect();
        assert_eq!(bench.get(&dst), expected, "{} to {form:?}", layout_name(layout));
        assert!(bench.broken().is_empty());
    }
}

#[test]
fn tiles_are_stored_where_they_were_loaded_from() {
    for &(layout, form, space, element, shape, stride, rows, cols, at) in &CASES[..3] {
        let mut bench = Bench::new(Arch::A5);
        let dst = bench.global(element, [1, 1, 1, 1, 4096], &[7.0; 4096]);
        let dst = Global { layout, shape, stride, ..dst };
        let src = boxed(space, form, element, rows, cols);
        bench.put(&src, &counting(rows * cols));
        bench.run("TSTORE", operands(&dst, &src)).expect("legal");
        let mut expected = vec![7.0; 4096];
        (0..rows * cols).for_each(|i| expected[at(i / cols, i % cols)] = (i % 120) as f64);
        assert_eq!(bench.contents(&dst), expected, "{form:?}");
    }
}

#[test]
fn tails_of_loads() {
    // Space, form, element, pad value, what stands in the tail.
    let cases: [(Space, Form, Element, u64, f64); 9] = [
        (Space::Vec, Form::Rows, F16, 2, f64::INFINITY),
        (Space::Vec, Form::Rows, F32, 3, f64::NEG_INFINITY),
        (Space::Vec, Form::Rows, I8, 3, -128.0),
        (Space::Vec, Form::Rows, I32, 0x1_0000_002a, 42.0),
        (Space::Vec, Form::Rows, F16, 0, f64::NAN),
        (Space::Mat, Form::Rows, BF16, 2, f64::INFINITY),
        (Space::Mat, Form::Rows, I16, 0, 0.0),
        (Space::Mat, Form::Nz, F16, 2, 0.0),
        (Space::Mat, Form::Nz, I8, 0, 0.0),
    ];
    for (space, form, element, pad, expected) in cases {
        let mut bench = Bench::new(Arch::A5);
        let unit = block(element);
        let all = Tile { pad, ..boxed(space, form, element, 16, 2 * unit) };
        bench.put(&all, &vec![9.0; 32 * unit]);
        let dst = Tile { valid_rows: 2, valid_cols: 3, ..all.clone() };
        let src = bench.global(element, [1, 1, 1, 2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        bench.run("TLOAD", operands(&dst, &src)).expect("legal");
        let found = bench.get(&all);
        for (i, found) in found.into_iter().enumerate() {
            let (r, c) = (i / (2 * unit), i % (2 * unit));
            let wanted = match (r < 2, c) {
                (true, 0..3) => (r * 3 + c + 1) as f64,
                (true, c) if c < unit => expected,
                _ => 9.0,
            };
            assert!(found == wanted || found.is_nan() && wanted.is_nan(), "{space:?} {element:?} {r} {c}: {found}");
        }
        assert!(bench.broken().is_empty());
    }
}

#[test]
fn a_tail_without_pad_value_stays_unwritten() {
    let mut bench = Bench::new(Arch::A3);
    let dst = Tile { valid_cols: 3, ..vec(F32, 1, 8, 0) };
    let src = bench.global(F32, [1, 1, 1, 1, 3], &[1.0; 3]);
    bench.run("TLOAD", operands(&dst, &src)).expect("legal");
    bench.get(&Tile { valid_cols: 8, ..dst });
    assert_eq!(bench.broken(), ["PTO-0801"]);
}

#[test]
fn loads_and_stores_that_the_device_has_not() {
    let mut bench = Bench::new(Arch::A3);
    let g = bench.global(F32, [1, 1, 1, 4, 8], &[0.0; 64]);
    let v = vec(F32, 4, 8, 0);
    bench.put(&v, &[0.0; 32]);
    let mut refuse = |name, a: Operand, b: Operand, rule, words: &str| {
        let fault = bench.run(name, vec![a, b, Operand::Null]).expect_err(words);
        assert!(fault.rule == rule && fault.message.contains(words), "{}", fault.message);
    };
    let mut load = |dst: &Tile, src: &Global, rule, words| refuse("TLOAD", dst.arg(), src.arg(), rule, words);
    load(&Tile { valid_rows: 3, ..v.clone() }, &g, Rule::Illegal, "has 4 rows and 8 columns");
    load(&v, &Global { stride: [32, 32, 32, 16, 2], ..g.clone() }, Rule::Illegal, "stride 4");
    load(&v, &Global { layout: DN, ..g.clone() }, Rule::Illegal, "cannot be loaded");
    load(&Tile { element: F16, ..v.clone() }, &g, Rule::Illegal, "one width");
    load(&v, &Global { stride: [0, 0, 0, 100, 1], ..g.clone() }, Rule::OutsideTensor, "which has 256 bytes");
    load(&v, &Global { stride: [0, 0, 0, -8, 1], ..g.clone() }, Rule::Illegal, "negative");
    load(&v, &Global { address: 0, ..g.clone() }, Rule::OutsideTensor, "no argument");
    load(&Tile { rows: 1 << 20, ..v.clone() }, &g, Rule::OutsideSpace, "does not fit");
    load(&boxed(Space::Mat, Form::Nz, U64, 16, 4), &Global { element: U64, ..g.clone() }, Rule::Illegal, "u64");
    let narrow = Tile { valid_cols: 5, ..boxed(Space::Mat, Form::Rows, F32, 4, 8) };
    let five = Global { shape: [1, 1, 1, 4, 5], ..g.clone() };
    load(&narrow, &five, Rule::Illegal, "whole blocks");
    let mut store = |dst: &Global, src: &Tile, rule, words| refuse("TSTORE", dst.arg(), src.arg(), rule, words);
    store(&Global { layout: NZ, ..g.clone() }, &v, Rule::Illegal, "cannot be stored");
    store(&g, &Tile { valid_cols: 7, ..v.clone() }, Rule::Illegal, "has 4 rows and 8 columns");
    let acc = boxed(Space::Acc, Form::Nz, F32, 16, 16);
    store(&Global { shape: [1, 1, 2, 8, 16], ..g.clone() }, &acc, Rule::Illegal, "two dimensions");
    store(&Global { layout: DN, shape: [1, 1, 1, 16, 16], ..g }, &acc, Rule::Illegal, "layout DN");
}

#[test]
fn a_column_goes_to_a_tensor_by_rows() {
    let mut bench = Bench::new(Arch::A3);
    let src = Tile { valid_rows: 3, ..boxed(Space::Vec, Form::Cols, F32, 8, 1) };
    bench.put(&src, &[1.0, 2.0, 3.0]);
    let dst = bench.global(F32, [1, 1, 1, 3, 1], &[0.0; 3]);
    bench.run("TSTORE", operands(&dst, &src)).expect("legal");
    assert_eq!(bench.contents(&dst), [1.0, 2.0, 3.0]);
}

#[test]
fn images_are_loaded_as_they_are() {
    // C1 = 2, H = 2, W = 3 of a larger map; f16, so that C0 = 16.
    let mut bench = Bench::new(Arch::A3);
    let memory: Vec<f64> = (0..2048).map(f64::from).collect();
    let all = bench.global(F16, [1, 1, 1, 1, 2048], &memory);
    let src = Global { layout: NC1HWC0, shape: [1, 2, 4, 5, 16], stride: [640, 320, 80, 16, 1], ..all.clone() };
    let expected: Vec<f64> =
        (0..2 * 2 * 3 * 16).map(|i| memory[i / 96 * 320 + i / 48 % 2 * 80 + i / 16 % 3 * 16 + i % 16]).collect();
    let flat = tile(Space::Mat, F16, 1, 192, 0);
    for shape in [&[1, 2, 2, 3, 16][..], &[1, 2, 2, 3]] {
        bench.run("TLOAD", operands(&conv(F16, NC1HWC0, shape, 192), &src)).expect("legal");
        assert_eq!(bench.get(&flat), expected);
    }
    let src = Global { layout: NDC1HWC0, shape: [1, 1, 2, 4, 5], stride: [640, 640, 320, 80, 16], ..all.clone() };
    for shape in [&[1, 1, 2, 2, 3, 16][..], &[1, 1, 2, 2, 3]] {
        bench.run("TLOAD", operands(&conv(F16, NDC1HWC0, shape, 192), &src)).expect("legal");
        assert_eq!(bench.get(&flat), expected);
    }
    let src = Global { layout: FRACTAL_Z, shape: [1, 3, 1, 16, 16], stride: [1, 300, 256, 16, 1], ..all };
    bench.run("TLOAD", operands(&conv(F16, FRACTAL_Z, &[3, 1, 16, 16], 768), &src)).expect("legal");
    let expected: Vec<f64> = (0..768).map(|i| memory[i / 256 * 300 + i % 256]).collect();
    assert_eq!(bench.get(&tile(Space::Mat, F16, 1, 768, 0)), expected);
    let small = conv(F16, FRACTAL_Z, &[3, 1, 16, 16], 767);
    assert_eq!(bench.run("TLOAD", operands(&small, &src)).expect_err("small").rule, Rule::OutsideSpace);
}

#[test]
fn plain_images_are_split_by_channels() {
    // N, C, D, H, W of the source; values count elements. f32, so that C0 = 8.
    let value = |n: usize, c: usize, d: usize, h: usize, w: usize| (((n * 11 + c) * 2 + d) * 3 + h) * 4 + w;
    let (c, h, w) = (11, 3, 4);
    for (layout, to, depth, filter) in [
        (NCHW, NC1HWC0, 1, false),
        (NHWC, NC1HWC0, 1, false),
        (NCHW, FRACTAL_Z, 1, true),
        (NCDHW, NDC1HWC0, 2, false),
        (NCDHW, FRACTAL_Z_3D, 2, true),
    ] {
        let mut bench = Bench::new(Arch::A5);
        let mut memory = Vec::new();
        let sizes = if layout == NHWC { [2, h, w, c, 1] } else { [2, c, depth, h, w] };
        for i in 0..sizes.iter().product::<usize>() {
            let at = |d: usize| i / sizes[d + 1..].iter().product::<usize>() % sizes[d];
            memory.push(match layout {
                NHWC => value(at(0), at(3), 0, at(1), at(2)),
                _ => value(at(0), at(1), at(2), at(3), at(4)),
            } as f64);
        }
        let shape = match layout {
            NHWC => [1, 2, h, w, c],
            NCHW => [1, 2, c, h, w],
            _ => [2, c, depth, h, w],
        }
        .map(|x| x as i64);
        let src = Global { layout, ..bench.global(F32, shape, &memory) };
        let (d, h64, w64) = (depth as i64, h as i64, w as i64);
        let shape = match to {
            NC1HWC0 => vec![2, 2, h64, w64, 8],
            NDC1HWC0 => vec![2, d, 2, h64, w64, 8],
            _ => vec![2 * d * h64 * w64, 1, 16, 8],
        };
        let total = shape.iter().product::<i64>() as usize;
        bench.put(&tile(Space::Mat, F32, 1, total, 0), &vec![-1.0; total]);
        bench.run("TLOAD", operands(&conv(F32, to, &shape, total), &src)).unwrap_or_else(|f| panic!("{}", f.message));
        let found = bench.get(&tile(Space::Mat, F32, 1, total, 0));
        let mut expected = vec![-1.0; total];
        for n in 0..2 {
            for channel in 0..16 {
                for i in 0..depth * h * w {
                    let (c1, c0) = (channel / 8, channel % 8);
                    let (z, y, x) = (i / 12, i / 4 % 3, i % 4);
                    let at = match filter {
                        true => ((c1 * depth * 12 + i) * 16 + n) * 8 + c0,
                        false => ((((n * depth + z) * 2 + c1) * 3 + y) * 4 + x) * 8 + c0,
                    };
                    expected[at] = if channel < c { value(n, channel, z, y, x) as f64 } else { 0.0 };
                }
            }
        }
        assert_eq!(found, expected, "{} to {}", layout_name(layout), layout_name(to));
        assert!(bench.broken().is_empty());
    }
}

#[test]
fn images_that_do_not_fit() {
    let mut bench = Bench::new(Arch::A5);
    let src = Global { layout: NCHW, ..bench.global(F32, [1, 1, 8, 2, 2], &[0.0; 32]) };
    let mut refuse = |dst: Conv, src: &Global, rule| {
        assert_eq!(bench.run("TLOAD", operands(&dst, src)).expect_err("illegal").rule, rule);
    };
    refuse(conv(F32, NC1HWC0, &[1, 1, 3, 2, 8], 64), &src, Rule::Illegal);
    refuse(conv(F32, FRACTAL_Z_3D, &[4, 1, 16, 8], 512), &src, Rule::Illegal);
    refuse(conv(F32, NC1HWC0, &[1, 1, 2, 2, 8], 31), &src, Rule::OutsideSpace);
    refuse(conv(F32, NC1HWC0, &[i64::MAX, i64::MAX, 2, 2, 8], 31), &src, Rule::Illegal);
    let same = Global { layout: NC1HWC0, shape: [1, 1, 1, 1, 8], ..src };
    refuse(conv(F32, NC1HWC0, &[1, 1, 2, 2, 8], 64), &same, Rule::Illegal);
}

#[test]
fn atomic_stores_add() {
    for (element, sum) in [(F32, 5.5), (F16, 5.5), (BF16, 5.5), (I32, 5.0), (I16, 5.0), (I8, 5.0)] {
        let mut bench = Bench::new(Arch::A3);
        let src = Tile { valid_cols: 2, ..vec(element, 1, block(element), 0) };
        bench.put(&src, &[2.5, 2.5]);
        let dst = bench.global(element, [1, 1, 1, 1, 2], &[3.0, 3.0]);
        let mut with = operands(&dst, &src);
        with.push(flag("AtomicType", 1));
        bench.run("TSTORE", with).expect("legal");
        assert_eq!(bench.contents(&dst), [sum; 2], "{element:?}");
    }
    let mut bench = Bench::new(Arch::A3);
    let src = vec(U8, 1, 32, 0);
    let dst = bench.global(U8, [1, 1, 1, 1, 32], &[0.0; 32]);
    let mut with = operands(&dst, &src);
    with.push(flag("AtomicType", 1));
    assert!(bench.run("TSTORE", with).is_err(), "no atomic addition of u8");
}

/// Layout, shape and stride of the tensor, its element, and the offset of an element of the accumulator.
type Store = (Arch, u8, [i64; 5], [i64; 5], Element, fn(usize, usize) -> usize);

#[test]
fn accumulators_are_stored_in_every_layout() {
    let cases: [Store; 9] = [
        (Arch::A3, ND, [1, 1, 1, 16, 32], [1, 1, 1, 40, 1], F32, |r, c| r * 40 + c),
        (Arch::A5, ND, [1, 1, 1, 16, 32], [1, 1, 1, 40, 1], BF16, |r, c| r * 40 + c),
        (Arch::A3, NZ, [1, 2, 1, 16, 16], [512, 256, 256, 16, 1], F16, |r, c| c / 16 * 256 + r * 16 + c % 16),
        (Arch::A5, NZ, [1, 4, 1, 16, 8], [512, 128, 128, 8, 1], F32, |r, c| c / 8 * 128 + r * 8 + c % 8),
        (Arch::A3, NC1HWC0, [1, 2, 4, 4, 16], [512, 256, 64, 16, 1], F16, |r, c| c / 16 * 256 + r * 16 + c % 16),
        (Arch::A3, NDC1HWC0, [1, 1, 2, 4, 4], [512, 512, 256, 64, 16], F16, |r, c| c / 16 * 256 + r * 16 + c % 16),
        (Arch::A5, NHWC, [1, 1, 4, 4, 32], [512, 512, 128, 32, 1], F16, |r, c| r * 32 + c),
        (Arch::A5, NCHW, [1, 1, 32, 4, 4], [512, 512, 16, 4, 1], F32, |r, c| c * 16 + r),
        (Arch::A5, NCDHW, [1, 32, 1, 4, 4], [512, 16, 16, 4, 1], F32, |r, c| c * 16 + r),
    ];
    for (arch, layout, shape, stride, element, at) in cases {
        let mut bench = Bench::new(arch);
        let acc = boxed(Space::Acc, Form::Nz, F32, 16, 32);
        bench.put(&acc, &counting(512));
        let dst = Global { layout, shape, stride, ..bench.global(element, [1, 1, 1, 1, 1024], &[7.0; 1024]) };
        bench.run("TSTORE", operands(&dst, &acc)).unwrap_or_else(|f| panic!("{}", f.message));
        let mut expected = vec![7.0; 1024];
        (0..512).for_each(|i| expected[at(i / 32, i % 32)] = (i % 120) as f64);
        assert_eq!(bench.contents(&dst), expected, "{}", layout_name(layout));
        let gaps = Global { layout, shape, stride: stride.map(|s| s * 2), ..dst };
        assert!(bench.run("TSTORE", operands(&gaps, &acc)).is_err(), "gaps");
    }
}

#[test]
fn accumulators_are_scaled_and_clipped() {
    let mut bench = Bench::new(Arch::A3);
    let acc = Tile { valid_rows: 2, ..boxed(Space::Acc, Form::Nz, I32, 16, 16) };
    bench.put(&acc, &(0..32).map(|i| f64::from(i - 8)).collect::<Vec<_>>());
    let half = 0.5f32.to_bits();
    let word = u64::from(half) | 1 << 46;
    let dst = bench.global(I8, [1, 1, 1, 2, 16], &[0.0; 32]);
    let scaled = |i: i32| libm::rint(f64::from(i - 8) / 2.0);
    let run = vec![dst.arg(), acc.arg(), Operand::Int(word as i64, U64), flag("ReluPreMode", 1)];
    bench.run("TSTORE", run).expect("legal");
    assert_eq!(bench.contents(&dst), (0..32).map(|i| scaled(i).max(0.0)).collect::<Vec<_>>());
    // One word a column: half for the first, one for the others.
    let fp = tile(Space::Scaling, U64, 1, 16, 128);
    let words: Vec<i64> = (0..16).map(|c| i64::from(if c == 0 { half } else { 1f32.to_bits() }) | 1 << 46).collect();
    let as_i64: Vec<f64> = words.iter().map(|w| *w as f64).collect();
    bench.put(&Tile { element: Element::I64, ..fp.clone() }, &as_i64);
    bench.run("TSTORE_FP", vec![dst.arg(), acc.arg(), fp.arg()]).expect("legal");
    let expected: Vec<f64> = (0..32).map(|i| if i % 16 == 0 { scaled(i) } else { f64::from(i - 8) }).collect();
    assert_eq!(bench.contents(&dst), expected);
    let askew = Tile { address: 64, ..fp };
    let fault = bench.run("TSTORE_FP", vec![dst.arg(), acc.arg(), askew.arg()]).expect_err("askew");
    assert_eq!(fault.rule, Rule::Misaligned);
}

#[test]
fn stores_run_on_the_pipe_of_their_source() {
    let of = |space| {
        let operands = vec![Operand::Null, Operand::Tile(tile(space, F32, 16, 16, 0))];
        let instr = Instr { name: "TSTORE", operands, result: (Slot(std::ptr::null_mut()), 0), site: Site::NONE };
        store_pipe(&instr, Arch::A3)
    };
    assert_eq!([of(Space::Vec), of(Space::Mat), of(Space::Acc)], [Pipe::Mte3, Pipe::Mte3, Pipe::Fix]);
}

#[test]
fn prefetching_costs_the_contents_of_the_tile() {
    let mut bench = Bench::new(Arch::A5);
    let t = vec(F32, 1, 8, 0);
    bench.put(&t, &[1.0; 8]);
    let g = bench.global(F32, [1, 1, 1, 1, 8], &[0.0; 8]);
    bench.run("TPREFETCH", operands(&t, &g)).expect("legal");
    assert!(bench.get(&t).iter().all(|x| x.is_nan()));
    let long = Global { shape: [1, 1, 1, 2, 8], stride: dense([1, 1, 1, 2, 8]), ..g };
    assert_eq!(bench.run("TPREFETCH", operands(&t, &long)).expect_err("long").rule, Rule::OutsideTensor);
}
