//! Tests of the element-wise instructions.

use super::super::bench::{Bench, flag, tile, tiles, vec};
use super::*;
use crate::npu::abi::Conv;
use crate::npu::abi::Slot;
use Element::{BF16, F16, F32, I8, I16, I32, U8, U16, U32, U64};

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

/// An operand: a tile with these values, or a scalar.
#[derive(Clone, Debug)]
enum Arg {
    T(Vec<f64>),
    S(f64),
}
use Arg::S;

fn t(values: &[f64]) -> Arg {
    Arg::T(values.to_vec())
}

/// Equal, NaN to NaN, and zeros of one sign.
fn assert_same(found: &[f64], expected: &[f64], what: &str) {
    let bits = |v: &[f64]| v.iter().map(|v| if v.is_nan() { 1 } else { v.to_bits() }).collect::<Vec<_>>();
    assert_eq!(bits(found), bits(expected), "{what}: {found:?}, expected {expected:?}");
}

/// Runs an instruction whose tiles are single rows; `initial` is in the destination.
fn eval(
    arch: Arch,
    name: &'static str,
    element: Element,
    initial: &[f64],
    args: &[Arg],
    more: Vec<Operand>,
) -> Vec<f64> {
    let mut bench = Bench::new(arch);
    let mut address = 0;
    let mut row = |bench: &mut Bench, values: &[f64]| {
        let mut row = vec(element, 1, 64, address);
        row.valid_cols = values.len();
        bench.put(&row, values);
        address += 1024;
        row
    };
    let dst = row(&mut bench, initial);
    let mut operands = tiles([&dst]);
    for arg in args {
        operands.push(match arg {
            Arg::T(values) => Operand::Tile(row(&mut bench, values)),
            S(value) if element.is_float() => Operand::Float(*value, element),
            S(value) => Operand::Int(*value as i64, element),
        });
    }
    operands.extend(more);
    bench.run(name, operands).unwrap_or_else(|fault| panic!("{name}: {}", fault.message));
    let found = bench.get(&dst);
    assert_eq!(bench.broken(), [""; 0], "{name}");
    found
}

fn scratch_tile() -> Vec<Operand> {
    tiles([&vec(U8, 4, 256, 64 * 1024)])
}

#[test]
fn every_instruction_of_one_or_two_sources() {
    let a = [7.0, -7.0, 0.5, -2.0];
    let b = [2.0, 2.0, -4.0, 3.0];
    let (x, y) = (t(&a), t(&b));
    let each = |f: fn(f64, f64) -> f64| a.iter().zip(&b).map(|(&a, &b)| f(a, b)).collect::<Vec<f64>>();
    let with = |s: f64, f: fn(f64, f64) -> f64| a.iter().map(|&a| f(a, s)).collect::<Vec<f64>>();
    let floats: &[(&'static str, &[Arg], Vec<f64>)] = &[
        ("TABS", slice::from_ref(&x), vec![7.0, 7.0, 0.5, 2.0]),
        ("TNEG", slice::from_ref(&x), vec![-7.0, 7.0, -0.5, 2.0]),
        ("TRELU", slice::from_ref(&x), vec![7.0, 0.0, 0.5, 0.0]),
        ("TSQRT", &[t(&[4.0, 0.25, 0.0, -1.0])], vec![2.0, 0.5, 0.0, NAN]),
        ("TRSQRT", &[t(&[4.0, 0.25, 0.0, -1.0])], vec![0.5, 2.0, INF, NAN]),
        ("TEXP", &[t(&[0.0, -INF, 100000.0, NAN])], vec![1.0, 0.0, INF, NAN]),
        ("TLOG", &[t(&[1.0, 0.0, INF, -1.0])], vec![0.0, -INF, INF, NAN]),
        ("TRECIP", &[t(&[2.0, -0.25, 0.0, INF])], vec![0.5, -4.0, INF, 0.0]),
        ("TADD", &[x.clone(), y.clone()], each(|a, b| a + b)),
        ("TADDS", &[x.clone(), S(1.5)], with(1.5, |a, s| a + s)),
        ("TSUB", &[x.clone(), y.clone()], each(|a, b| a - b)),
        ("TSUBS", &[x.clone(), S(1.5)], with(1.5, |a, s| a - s)),
        ("TMUL", &[x.clone(), y.clone()], each(|a, b| a * b)),
        ("TMULS", &[x.clone(), S(1.5)], with(1.5, |a, s| a * s)),
        ("TDIV", &[t(&[1.0, -3.0, 6.0, 0.0]), t(&[0.0, 2.0, 4.0, 0.0])], vec![INF, -1.5, 1.5, NAN]),
        ("TDIVS", &[x.clone(), S(4.0)], with(4.0, |a, s| a / s)),
        ("TDIVS", &[S(1.0), t(&[2.0, 4.0, -8.0, 0.0])], vec![0.5, 0.25, -0.125, INF]),
        ("TMAX", &[t(&[1.0, NAN, 1.0, -0.0]), t(&[2.0, 1.0, NAN, 0.0])], vec![2.0, NAN, 1.0, -0.0]),
        ("TMAXS", &[x.clone(), S(0.75)], with(0.75, f64::max)),
        ("TMIN", &[t(&[1.0, NAN, 1.0, 0.0]), t(&[2.0, 1.0, NAN, -0.0])], vec![1.0, NAN, 1.0, 0.0]),
        ("TMINS", &[x.clone(), S(0.75)], with(0.75, f64::min)),
        ("TLRELU", &[x.clone(), S(0.5)], vec![7.0, -3.5, 0.5, -1.0]),
        ("TSUBRELU", &[x.clone(), y.clone()], vec![5.0, 0.0, 4.5, 0.0]),
        ("TFMOD", &[x.clone(), y.clone()], vec![1.0, -1.0, 0.5, -2.0]),
        ("TFMODS", &[x.clone(), S(2.0)], vec![1.0, -1.0, 0.5, 0.0]),
        ("TPRELU", &[x.clone(), y.clone()], vec![7.0, -14.0, 0.5, -6.0]),
        ("TREM", &[x.clone(), y.clone()], vec![1.0, 1.0, -3.5, 1.0]),
        ("TREMS", &[x.clone(), S(-2.0)], vec![-1.0, -1.0, -1.5, 0.0]),
        ("TPOW", &[t(&[2.0, -2.0, 4.0, 0.0]), t(&[3.0, 3.0, 0.5, 0.0])], vec![8.0, -8.0, 2.0, 1.0]),
        ("TPOWS", &[t(&[2.0, -2.0, 4.0, 0.0]), S(2.0)], vec![4.0, 4.0, 16.0, 0.0]),
    ];
    let tmp = ["TPRELU", "TREM", "TREMS", "TPOW", "TPOWS"];
    for (arch, element) in [(Arch::A3, F32), (Arch::A3, F16), (Arch::A5, F32), (Arch::A5, F16), (Arch::A5, BF16)] {
        for (name, args, expected) in floats {
            let more = if tmp.contains(name) { scratch_tile() } else { Vec::new() };
            assert_same(&eval(arch, name, element, &[0.0; 4], args, more), expected, name);
        }
    }
}

#[test]
fn integers_wrap_divide_and_shift() {
    type Case = (&'static str, Element, &'static [f64], Arg, &'static [f64]);
    let cases: &[Case] = &[
        ("TADD", I8, &[127.0, -128.0, 3.0], t(&[1.0, -1.0, 4.0]), &[-128.0, 127.0, 7.0]),
        ("TADDS", U8, &[255.0, 0.0, 3.0], S(2.0), &[1.0, 2.0, 5.0]),
        ("TSUB", U16, &[0.0, 9.0, 3.0], t(&[1.0, 4.0, 3.0]), &[65535.0, 5.0, 0.0]),
        ("TSUBS", I16, &[-32768.0, 9.0, 3.0], S(1.0), &[32767.0, 8.0, 2.0]),
        ("TMUL", I32, &[65536.0, -3.0, 7.0], t(&[65536.0, 5.0, 7.0]), &[0.0, -15.0, 49.0]),
        ("TMULS", U32, &[2147483648.0, 3.0, 7.0], S(2.0), &[0.0, 6.0, 14.0]),
        ("TDIV", I32, &[-7.0, 7.0, -2147483648.0], t(&[2.0, -2.0, -1.0]), &[-3.0, -3.0, -2147483648.0]),
        ("TDIVS", U16, &[65535.0, 7.0, 1.0], S(2.0), &[32767.0, 3.0, 0.0]),
        ("TMAX", I8, &[-1.0, 5.0, 0.0], t(&[1.0, -5.0, 0.0]), &[1.0, 5.0, 0.0]),
        ("TMAXS", U8, &[255.0, 5.0, 0.0], S(6.0), &[255.0, 6.0, 6.0]),
        ("TMIN", U32, &[4294967295.0, 5.0, 0.0], t(&[1.0, 9.0, 0.0]), &[1.0, 5.0, 0.0]),
        ("TMINS", I32, &[-9.0, 5.0, 0.0], S(-1.0), &[-9.0, -1.0, -1.0]),
        ("TAND", I16, &[-1.0, 12.0, 5.0], t(&[255.0, 10.0, 2.0]), &[255.0, 8.0, 0.0]),
        ("TANDS", U16, &[65535.0, 12.0, 5.0], S(10.0), &[10.0, 8.0, 0.0]),
        ("TOR", U32, &[1.0, 12.0, 5.0], t(&[2.0, 10.0, 2.0]), &[3.0, 14.0, 7.0]),
        ("TORS", I8, &[-128.0, 12.0, 5.0], S(1.0), &[-127.0, 13.0, 5.0]),
        ("TXOR", I32, &[-1.0, 12.0, 5.0], t(&[1.0, 10.0, 5.0]), &[-2.0, 6.0, 0.0]),
        ("TXORS", U8, &[255.0, 12.0, 5.0], S(15.0), &[240.0, 3.0, 10.0]),
        ("TSHL", I8, &[1.0, -1.0, 3.0], t(&[7.0, 1.0, 8.0]), &[-128.0, -2.0, 0.0]),
        ("TSHLS", U16, &[32769.0, 1.0, 3.0], S(1.0), &[2.0, 2.0, 6.0]),
        ("TSHR", I16, &[-32768.0, -1.0, 256.0], t(&[15.0, 20.0, 4.0]), &[-1.0, -1.0, 16.0]),
        ("TSHRS", U32, &[4294967295.0, 8.0, 1.0], S(3.0), &[536870911.0, 1.0, 0.0]),
        ("TPOW", I16, &[3.0, -2.0, 2.0], t(&[4.0, 3.0, 16.0]), &[81.0, -8.0, 0.0]),
        ("TPOW", I32, &[-1.0, 1.0, 5.0], t(&[-3.0, -9.0, -1.0]), &[-1.0, 1.0, 0.0]),
        ("TPOWS", U8, &[3.0, 2.0, 0.0], S(5.0), &[243.0, 32.0, 0.0]),
        ("TREM", I16, &[-7.0, 7.0, 6.0], t(&[3.0, -3.0, 3.0]), &[2.0, -2.0, 0.0]),
        ("TREMS", U16, &[65535.0, 7.0, 6.0], S(10.0), &[5.0, 7.0, 6.0]),
        ("TFMOD", I32, &[-7.0, 7.0, 6.0], t(&[3.0, -3.0, 3.0]), &[-1.0, 1.0, 0.0]),
    ];
    for (name, element, a, b, expected) in cases {
        let found = eval(Arch::A5, name, *element, &[0.0; 3], &[t(a), b.clone()], Vec::new());
        assert_same(&found, expected, name);
    }
    for (name, a, expected) in
        [("TABS", -128.0, -128.0), ("TNEG", 5.0, -5.0), ("TNOT", 5.0, -6.0), ("TRELU", -5.0, 0.0)]
    {
        assert_same(&eval(Arch::A5, name, I8, &[0.0], &[t(&[a])], Vec::new()), &[expected], name);
    }
    assert_same(&eval(Arch::A3, "TRECIP", I32, &[9.0; 2], &[t(&[1.0, -3.0])], Vec::new()), &[1.0, 0.0], "TRECIP");
}

#[test]
fn unsigned_64_bit_integers_use_all_bits() {
    let mut bench = Bench::new(Arch::A5);
    let [zero, all, one, result] = [0, 32, 64, 96].map(|address| {
        let mut tile = vec(U64, 1, 4, address);
        tile.valid_cols = 1;
        tile
    });
    bench.put(&zero, &[0.0]);
    bench.put(&one, &[1.0]);
    bench.run("TNOT", tiles([&all, &zero])).expect("legal");
    // As i64 all ones is -1.
    for (name, expected) in [("TMAX", -1.0), ("TMIN", 1.0), ("TDIV", -1.0), ("TSHR", i64::MAX as f64), ("TREM", 0.0)] {
        bench.run(name, tiles([&result, &all, &one])).expect("legal");
        assert_eq!(bench.get(&result), [expected], "{name}");
    }
    let mask = vec(U8, 1, 32, 128);
    let operands = |mode| [tiles([&mask, &all, &one]), vec![flag("CmpMode", mode)]].concat();
    for (mode, expected) in [(0, 0.0), (1, 1.0), (2, 0.0), (3, 0.0), (4, 1.0), (5, 1.0)] {
        bench.run("TCMP", operands(mode)).expect("legal");
        assert_eq!(bench.get(&mask)[..2], [expected, 0.0], "mode {mode}");
    }
    assert!(bench.broken().is_empty());
}

#[test]
fn destinations_that_are_sources() {
    // In f32, 1 + 2^-12 squared is 1 + 2^-11 + 2^-24, a tie that goes down when rounded.
    let near = 1.0 + libm::ldexp(1.0, -12);
    let square = 1.0 + libm::ldexp(1.0, -11);
    let cases: &[(&'static str, f64, f64, Arg, f64)] = &[
        ("TFUSEDMULADD", near, near, t(&[-square]), 0.0),
        ("TFUSEDMULADDRELU", 2.0, 3.0, t(&[-7.0]), 0.0),
        ("TFUSEDMULADDRELU", 2.0, 3.0, t(&[1.0]), 7.0),
        ("TMULADDDST", -square, near, t(&[near]), 0.0),
        ("TAXPY", -square, near, S(near), 0.0),
    ];
    for (name, dst, a, b, expected) in cases {
        assert_same(&eval(Arch::A3, name, F32, &[*dst], &[t(&[*a]), b.clone()], Vec::new()), &[*expected], name);
    }
    // In f16, products of 1 + 2^-10 are rounded by TMULADDDST and TAXPY, not by TFUSEDMULADD.
    let step = libm::ldexp(1.0, -10);
    let (x, rounded, rest) = (1.0 + step, 1.0 + 2.0 * step, step * step);
    assert_same(&eval(Arch::A3, "TFUSEDMULADD", F16, &[x], &[t(&[x]), t(&[-rounded])], Vec::new()), &[rest], "fused");
    assert_same(&eval(Arch::A3, "TMULADDDST", F16, &[-rounded], &[t(&[x]), t(&[x])], Vec::new()), &[0.0], "product");
    assert_same(&eval(Arch::A5, "TAXPY", F16, &[-rounded], &[t(&[x]), S(x)], Vec::new()), &[0.0], "product");
    // f32 += f16 * f16 is exact.
    let mut bench = Bench::new(Arch::A3);
    let (dst, src) = (vec(F32, 1, 16, 0), vec(F16, 1, 16, 64));
    bench.put(&dst, &[-rounded; 16]);
    bench.put(&src, &[x; 16]);
    bench.run("TAXPY", [tiles([&dst, &src]), vec![Operand::Float(x, F16)]].concat()).expect("legal");
    assert_eq!(bench.get(&dst), [rest; 16]);
}

#[test]
fn steps_are_rounded_as_on_the_device() {
    let third = F32.round(1.0 / 3.0);
    let two = F32.round(libm::sqrt(2.0));
    let single = |x: f64| F32.round(x);
    assert_same(&eval(Arch::A5, "TRSQRT", F32, &[0.0], &[t(&[2.0])], Vec::new()), &[single(1.0 / two)], "rounded root");
    assert_same(
        &eval(Arch::A3, "TRSQRT", F32, &[0.0], &[t(&[2.0])], Vec::new()),
        &[single(1.0 / libm::sqrt(2.0))],
        "one instruction",
    );
    assert_same(&eval(Arch::A3, "TRSQRT", F32, &[0.0], &[t(&[2.0])], scratch_tile()), &[single(1.0 / two)], "scratch");
    // A quotient that f32 cannot hold: the remainder is not that of fmod, unless high precision is asked for.
    let (a, b) = (1e8, third);
    let device = single(a - single(single(a / b).trunc() * b));
    assert_ne!(device, single(libm::fmod(a, b)));
    let high = vec![flag("FmodAlgorithm", 1)];
    assert_same(&eval(Arch::A5, "TFMOD", F32, &[0.0], &[t(&[a]), t(&[b])], Vec::new()), &[device], "default");
    assert_same(
        &eval(Arch::A5, "TFMOD", F32, &[0.0], &[t(&[a]), t(&[b])], high.clone()),
        &[single(libm::fmod(a, b))],
        "high",
    );
    assert_same(&eval(Arch::A3, "TFMOD", F32, &[0.0], &[t(&[a]), t(&[b])], high), &[device], "A3 has one precision");
    // In place by a scalar, A3 multiplies with the reciprocal.
    for (arch, expected) in [(Arch::A3, single(5.0 * third)), (Arch::A5, single(5.0 / 3.0))] {
        let mut bench = Bench::new(arch);
        let x = vec(F32, 1, 8, 0);
        bench.put(&x, &[5.0; 8]);
        bench.run("TDIVS", [tiles([&x, &x]), vec![Operand::Float(3.0, F32)]].concat()).expect("legal");
        assert_eq!(bench.get(&x), [expected; 8]);
    }
    assert_ne!(single(5.0 * third), single(5.0 / 3.0));
}

#[test]
fn remainders_of_i32_spoil_their_sources_on_a3() {
    let mut bench = Bench::new(Arch::A3);
    let [dst, a, b] = [0, 32, 64].map(|address| vec(I32, 1, 8, address));
    let tmp = vec(I32, 1, 72, 96);
    let dividends = [-7.0, 7.0, 16777217.0, 9.0, 0.0, 1.0, 2.0, 3.0];
    bench.put(&a, &dividends);
    bench.put(&b, &[3.0, -3.0, 5.0, 9.0, 1.0, 0.0, 2.0, 2.0]);
    bench.run("TREM", tiles([&dst, &a, &b, &tmp])).expect("legal");
    // 2^24 + 1 is 2^24 as f32, whose remainder by 5 is 1.
    assert_eq!(bench.get(&dst), [2.0, -2.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0]);
    assert_eq!(bench.get(&a), [-7.0, 7.0, 16777216.0, 9.0, 0.0, 1.0, 2.0, 3.0]);
    let bits = Tile { element: F32, ..b.clone() };
    assert_eq!(bench.get(&bits), [3.0, -3.0, 5.0, 9.0, 1.0, 0.0, 2.0, 2.0]);
    bench.put(&a, &dividends);
    bench.run("TREMS", [tiles([&dst, &a]), vec![Operand::Int(-2, I32)], tiles([&tmp])].concat()).expect("legal");
    assert_eq!(bench.get(&dst), [-1.0, -1.0, 0.0, -1.0, 0.0, -1.0, 0.0, -1.0]);
    assert!(bench.broken().is_empty());
}

#[test]
fn masks_are_packed_by_row_and_choose() {
    for (arch, element, mask_element) in
        [(Arch::A3, F32, U8), (Arch::A3, F16, U8), (Arch::A5, I8, U32), (Arch::A5, I32, U32)]
    {
        let mut bench = Bench::new(arch);
        let (rows, cols) = (3, 64);
        let data = |address| {
            let mut tile = vec(element, rows, cols, address);
            tile.valid_cols = 43;
            tile
        };
        let (x, y, dst) = (data(0), data(1024), data(2048));
        let count = rows * x.valid_cols;
        let a: Vec<f64> = (0..count).map(|i| (i * 7 % 11) as f64 - 5.0).collect();
        let b: Vec<f64> = (0..count).map(|i| (i * 5 % 7) as f64 - 3.0).collect();
        bench.put(&x, &a);
        bench.put(&y, &b);
        let mask = vec(mask_element, rows, 64 / mask_element.storage_bytes(), 4096);
        let bytes = Tile { element: U8, cols: 64, valid_cols: 6, ..mask.clone() };
        let modes: [fn(&f64, &f64) -> bool; 6] = [f64::eq, f64::ne, f64::lt, f64::le, f64::gt, f64::ge];
        for (mode, holds) in modes.iter().enumerate() {
            if arch == Arch::A3 && element == I32 && mode > 1 {
                continue;
            }
            let mode = flag("CmpMode", mode as u64);
            let packed = |right: &dyn Fn(usize) -> f64| -> Vec<f64> {
                let bit = |r: usize, c: usize| c < 43 && holds(&a[r * 43 + c], &right(r * 43 + c));
                (0..rows * 6)
                    .map(|i| (0..8).map(|k| f64::from(u8::from(bit(i / 6, i % 6 * 8 + k)) << k)).sum())
                    .collect()
            };
            bench.run("TCMP", [tiles([&mask, &x, &y]), vec![mode.clone()]].concat()).expect("legal");
            assert_eq!(bench.get(&bytes), packed(&|i| b[i]));
            // The first element of a tile counts as a scalar.
            bench.run("TCMPS", [tiles([&mask, &x, &y]), vec![mode.clone()]].concat()).expect("legal");
            assert_eq!(bench.get(&bytes), packed(&|_| b[0]));
            let one = if element.is_float() { Operand::Float(1.0, element) } else { Operand::Int(1, element) };
            bench.run("TCMPS", [tiles([&mask, &x]), vec![one.clone(), mode]].concat()).expect("legal");
            assert_eq!(bench.get(&bytes), packed(&|_| 1.0));
            // Choose with the last mask.
            let tmp = vec(U32, 1, 16, 8192);
            let pick = |other: &dyn Fn(usize) -> f64| -> Vec<f64> {
                (0..count).map(|i| if holds(&a[i], &1.0) { a[i] } else { other(i) }).collect()
            };
            bench.run("TSEL", tiles([&dst, &mask, &x, &y, &tmp])).expect("legal");
            assert_eq!(bench.get(&dst), pick(&|i| b[i]));
            bench.run("TSELS", [tiles([&dst, &mask, &x, &tmp]), vec![one]].concat()).expect("legal");
            assert_eq!(bench.get(&dst), pick(&|_| 1.0));
        }
        assert!(bench.broken().is_empty());
    }
}

#[test]
fn masks_are_written_by_groups() {
    // 43 columns need 6 bytes.
    for (arch, element, expected) in
        [(Arch::A3, F32, 8), (Arch::A3, F16, 16), (Arch::A5, I8, 32), (Arch::A5, BF16, 16), (Arch::A5, I32, 16)]
    {
        let mut bench = Bench::new(arch);
        let (x, mask) = (Tile { valid_cols: 43, ..vec(element, 1, 64, 0) }, vec(U8, 1, 64, 1024));
        bench.put(&x, &[1.0; 43]);
        bench.put(&mask, &[255.0; 64]);
        bench.run("TCMP", [tiles([&mask, &x, &x]), vec![flag("CmpMode", 1)]].concat()).expect("legal");
        let written = bench.get(&mask).iter().take_while(|&&byte| byte == 0.0).count();
        assert_eq!(written, expected, "{}", element.name());
    }
}

#[test]
fn comparisons_that_a3_does_not_have() {
    let compare = |arch, element, name, right: Operand, mode| {
        let mut bench = Bench::new(arch);
        let (x, mask) = (vec(element, 1, 16, 0), vec(U8, 1, 32, 128));
        bench.put(&x, &[-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let operands = [tiles([&mask, &x]), vec![right, flag("CmpMode", mode)]].concat();
        bench.run(name, operands).expect("runs");
        (bench.get(&Tile { valid_cols: 1, ..mask })[0], bench.broken())
    };
    // i32 is only tested for equality; i16 is compared as f16, whose negative numbers are in reverse.
    assert_eq!(compare(Arch::A3, I32, "TCMPS", Operand::Int(2, I32), 2), (32.0, vec!["PTO-0810"]));
    assert_eq!(compare(Arch::A3, I32, "TCMPS", Operand::Int(2, I32), 1), (223.0, vec![]));
    assert_eq!(compare(Arch::A5, I32, "TCMPS", Operand::Int(2, I32), 2), (31.0, vec![]));
    assert_eq!(compare(Arch::A3, I16, "TCMPS", Operand::Int(2, I16), 4), (192.0, vec![]));
    let (mask, broken) = compare(Arch::A3, I16, "TCMPS", Operand::Int(2, I16), 2);
    assert_eq!((mask, broken), (24.0, vec!["PTO-0810"]), "-3, -2 and -1 are NaN");
}

#[test]
fn pairs_are_added_in_half_of_the_destination() {
    let mut bench = Bench::new(Arch::A5);
    let (mut dst, mut src) = (vec(F16, 2, 16, 0), vec(F16, 2, 16, 64));
    bench.put(&dst, &[9.0; 32]);
    (dst.valid_cols, src.valid_cols) = (5, 5);
    bench.put(&src, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]);
    bench.run("TPAIRREDUCESUM", tiles([&dst, &src])).expect("legal");
    assert_eq!(bench.get(&dst), [3.0, 7.0, 9.0, 9.0, 9.0, 13.0, 17.0, 9.0, 9.0, 9.0]);
}

#[test]
fn fills_reach_the_valid_part_or_all_of_l1() {
    let mut bench = Bench::new(Arch::A3);
    let mut ub = vec(BF16, 2, 16, 0);
    bench.put(&ub, &[1.0; 32]);
    ub.valid_cols = 3;
    bench.run("TEXPANDS", [tiles([&ub]), vec![Operand::Float(-2.5, BF16)]].concat()).expect("legal");
    ub.valid_cols = 4;
    assert_eq!(bench.get(&ub), [-2.5, -2.5, -2.5, 1.0, -2.5, -2.5, -2.5, 1.0]);
    let mut l1 = tile(Space::Mat, U16, 32, 32, 512);
    (l1.box_layout, l1.row_major) = (BoxLayout::RowMajor, false);
    (l1.valid_rows, l1.valid_cols) = (1, 1);
    bench.run("TEXPANDS", [tiles([&l1]), vec![Operand::Int(7, U16)]].concat()).expect("legal");
    (l1.valid_rows, l1.valid_cols) = (32, 32);
    assert_eq!(bench.get(&l1), [7.0; 1024]);
    let shape = vec![1, 2, 3, 4, 16];
    let conv = Conv {
        space: Space::Mat,
        element: F16,
        layout: 0,
        shape,
        address: 4096,
        elements: 384,
        image: Default::default(),
        site: Site::NONE,
    };
    bench.run("TEXPANDS", vec![Operand::Conv(conv.clone()), Operand::Float(1.5, F16)]).expect("legal");
    assert_eq!(bench.get(&tile(Space::Mat, F16, 24, 16, 4096)), [1.5; 384]);
    let small = Conv { elements: 100, ..conv };
    assert!(bench.run("TEXPANDS", vec![Operand::Conv(small), Operand::Float(1.5, F16)]).is_err());
    let On::By(pipe) = super::super::find("TEXPANDS").expect("in the table").on else { panic!("depends on dst") };
    let on = |operand| {
        let result = (Slot(std::ptr::null_mut()), 0);
        pipe(&Instr { name: "TEXPANDS", operands: vec![operand], result, site: Site::NONE }, Arch::A3)
    };
    assert_eq!((on(Operand::Tile(l1)), on(Operand::Tile(ub))), (Pipe::Mte2, Pipe::V));
}

#[test]
fn scratch_is_lost_only_where_the_device_uses_it() {
    for (arch, lost) in [(Arch::A3, true), (Arch::A5, false)] {
        let mut bench = Bench::new(arch);
        let [dst, a, b, tmp] = [0, 32, 64, 96].map(|address| vec(U8, 1, 32, address));
        [&a, &b, &tmp].into_iter().for_each(|tile| bench.put(tile, &[1.0; 32]));
        bench.run("TXOR", tiles([&dst, &a, &b, &tmp])).expect("legal");
        assert_eq!(bench.get(&tmp) != [1.0; 32], lost);
    }
}

#[test]
fn boxed_tiles_keep_their_layout() {
    let mut bench = Bench::new(Arch::A5);
    let mut x = vec(F16, 32, 32, 0);
    (x.box_layout, x.row_major, x.valid_rows, x.valid_cols) = (BoxLayout::RowMajor, false, 17, 20);
    let y = Tile { address: 2048, ..vec(F16, 32, 32, 0) };
    let y = Tile { valid_rows: 17, valid_cols: 20, ..y };
    let values: Vec<f64> = (0..340).map(f64::from).collect();
    bench.put(&x, &values);
    bench.put(&y, &values);
    bench.run("TADD", tiles([&y, &x, &y])).expect("legal");
    assert_eq!(bench.get(&y), values.iter().map(|v| 2.0 * v).collect::<Vec<_>>());
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let mut bench = Bench::new(Arch::A3);
    let x = vec(F32, 2, 8, 0);
    let integers = vec(I32, 2, 8, 0);
    bench.put(&x, &[1.0; 16]);
    let small = Tile { valid_rows: 1, ..x.clone() };
    let column = Tile { row_major: false, element: U8, ..x.clone() };
    let cases: Vec<(&'static str, Vec<Operand>, &str)> = vec![
        ("TADD", tiles([&x, &x, &integers]), "operand 2 must hold f32, found i32"),
        ("TADD", tiles([&x, &x]), "operand 2 must be a number"),
        ("TADDS", vec![Operand::Tile(x.clone()), Operand::Int(1, I32), Operand::Int(1, I32)], "must be a tile"),
        ("TAND", tiles([&x, &x, &x]), "must hold integers, found f32"),
        ("TSHR", tiles([&x, &x, &x]), "must hold integers, found f32"),
        ("TNOT", tiles([&x, &x]), "must hold integers, found f32"),
        ("TEXP", tiles([&integers, &integers]), "must hold floats, found i32"),
        ("TLRELU", tiles([&integers, &integers, &integers]), "must hold floats, found i32"),
        ("TAXPY", tiles([&integers, &integers, &integers]), "must hold floats, found i32"),
        ("TCMP", tiles([&integers, &x, &x]), "no comparison mode"),
        ("TCMP", [tiles([&integers, &x, &x]), vec![flag("CmpMode", 6)]].concat(), "no comparison mode"),
        ("TCMP", [tiles([&small, &x, &x]), vec![flag("CmpMode", 0)]].concat(), "the mask has 1 rows"),
        ("TSEL", tiles([&x, &column, &x, &x, &x]), "a mask must be"),
        (
            "TEXPANDS",
            [tiles([&Tile { valid_rows: 1 << 40, ..x.clone() }]), vec![Operand::Float(0.0, F32)]].concat(),
            "elements of a tile of 2 x 8",
        ),
    ];
    for (name, operands, expected) in cases {
        let fault = bench.run(name, operands).expect_err(name);
        assert!(fault.message.contains(expected), "{name}: {}", fault.message);
    }
    bench.run("TPOW", tiles([&x, &x, &x, &vec(F32, 2, 8, 512)])).expect("runs");
    let (zero, by) = (vec(I32, 2, 8, 64), vec(I32, 2, 8, 128));
    [&zero, &by].into_iter().for_each(|tile| bench.put(tile, &[0.0; 16]));
    bench.run("TDIVS", [tiles([&by, &zero]), vec![Operand::Int(0, I32)]].concat()).expect("runs");
    assert_eq!(bench.get(&by), [0.0; 16]);
    assert_eq!(bench.broken(), ["PTO-0805", "PTO-0810"]);
}

#[test]
fn sources_with_a_smaller_valid_part_are_reported_and_read() {
    let mut bench = Bench::new(Arch::A3);
    let (x, sum) = (vec(F32, 2, 8, 0), vec(F32, 2, 8, 64));
    bench.put(&x, &[1.0; 16]);
    bench.run("TADD", tiles([&sum, &x, &Tile { valid_rows: 1, ..x.clone() }])).expect("runs");
    assert_eq!(bench.get(&sum), [2.0; 16]);
    assert_eq!(bench.broken(), ["PTO-0810"]);
}
