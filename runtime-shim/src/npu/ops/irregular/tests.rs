//! Tests of the irregular instructions.

use super::super::bench::{Bench, flag, tile, tiles, vec};
use super::super::{Rule, find};
use super::*;

fn valid(tile: &Tile, rows: usize, cols: usize) -> Tile {
    Tile { valid_rows: rows, valid_cols: cols, ..tile.clone() }
}

fn int(value: i64) -> Operand {
    Operand::Int(value, Element::I32)
}

fn memory<T>(data: &mut [T]) -> Operand {
    Operand::Memory(Slot(data.as_mut_ptr().cast()), size_of_val(data))
}

#[test]
fn sequences_count() {
    for (arch, element, start, scratch, down, first, second) in [
        (Arch::A3, Element::I32, 5, false, 0, 5.0, 6.0),
        (Arch::A3, Element::I16, 32767, false, 0, 32767.0, -32768.0),
        (Arch::A3, Element::U16, 0, false, 1, 0.0, 65535.0),
        (Arch::A3, Element::F32, 5, false, 1, 5.0, 4.0),
        (Arch::A3, Element::I32, 5, true, 0, 5.0, 6.0),
        // Counted up, then negated.
        (Arch::A3, Element::I32, 5, true, 1, -5.0, -6.0),
        (Arch::A5, Element::I32, 5, true, 1, 5.0, 4.0),
    ] {
        let mut bench = Bench::new(arch);
        let dst = vec(element, 1, 160, 0);
        let tmp = vec(Element::F32, 1, 512, 4096);
        bench.put(&dst, &[99.0; 160]);
        bench.put(&tmp, &[1.0; 512]);
        let start = match element {
            Element::F32 => Operand::Float(f64::from(start), element),
            _ => int(i64::from(start)),
        };
        let operands = match scratch {
            true => vec![Operand::Tile(valid(&dst, 1, 150)), start, Operand::Tile(tmp.clone()), int(down)],
            false => vec![Operand::Tile(valid(&dst, 1, 150)), start, int(down)],
        };
        bench.run("TCI", operands.clone()).expect("legal");
        let got = bench.get(&dst);
        assert_eq!([got[0], got[1], got[150]], [first, second, 99.0]);
        assert_eq!(element.wrap((got[148] + second - first) as i64), got[149] as i64);
        assert_eq!(bench.get(&tmp)[0] == 1.0, !(scratch && arch == Arch::A3));
        assert!(bench.broken().is_empty());
        let On::By(pipe) = find("TCI").expect("in the table").on else { panic!("by operands") };
        let instr = Instr { name: "TCI", operands, result: (Slot(std::ptr::null_mut()), 0), site: tmp.site };
        assert_eq!(pipe(&instr, arch), if scratch { Pipe::V } else { Pipe::S });
    }
    let mut bench = Bench::new(Arch::A3);
    let operands = |dst: &Tile| vec![Operand::Tile(dst.clone()), int(0), int(0)];
    assert!(bench.run("TCI", operands(&vec(Element::I32, 2, 8, 0))).is_err(), "two rows");
    assert!(bench.run("TCI", operands(&vec(Element::I8, 1, 32, 0))).is_err(), "8 bits");
    let scratch = Operand::Tile(vec(Element::F32, 1, 128, 4096));
    let operands = vec![Operand::Tile(vec(Element::I16, 1, 16, 0)), int(0), scratch, int(0)];
    bench.run("TCI", operands).expect("runs");
    assert_eq!(bench.broken(), ["PTO-0802"], "512 bytes of 1792");
}

#[test]
fn triangles() {
    for element in [Element::F32, Element::F16, Element::I8, Element::U64] {
        for upper in [false, true] {
            for diagonal in [-9, -2, 0, 1, 20, i64::MAX] {
                let mut bench = Bench::new(Arch::A5);
                let dst = valid(&vec(element, 6, 32, 0), 5, 7);
                bench.put(&dst, &[9.0; 35]);
                let upper_flag = int(i64::from(upper));
                bench.run("TTRI", vec![Operand::Tile(dst.clone()), int(diagonal), upper_flag]).expect("legal");
                for (i, got) in bench.get(&dst).into_iter().enumerate() {
                    let distance = (i % 7) as i128 - (i / 7) as i128;
                    let one = if upper { distance >= i128::from(diagonal) } else { distance <= i128::from(diagonal) };
                    assert_eq!(got, f64::from(u8::from(one)), "{upper} {diagonal} {i}");
                }
            }
        }
    }
}

#[test]
fn histograms_run_up() {
    let words: Vec<u32> = (0..120u32).map(|i| i.wrapping_mul(0x0305_0701) ^ (i % 3) << 24).collect();
    for (element, bytes) in [(Element::U16, 2u32), (Element::U32, 4)] {
        for byte in 0..bytes {
            let mut bench = Bench::new(Arch::A5);
            let src = valid(&vec(element, 2, 64, 0), 2, 60);
            let mask = if bytes == 2 { 0xffff } else { u32::MAX };
            let values: Vec<u32> = words.iter().map(|w| w & mask).collect();
            bench.put(&src, &values.iter().map(|&v| f64::from(v)).collect::<Vec<_>>());
            // The bytes of value 7 above the counted one.
            let above: Vec<u8> = (byte + 1..bytes).rev().map(|b| (values[7] >> (8 * b)) as u8).collect();
            let index = match bytes {
                2 => Tile { row_major: false, ..valid(&vec(Element::U8, 32, 1, 1024), 2, 1) },
                _ => valid(&vec(Element::U8, 3, 64, 1024), above.len(), 1),
            };
            let put: Vec<f64> = match bytes {
                2 => [above.first().copied().unwrap_or(0); 2].map(f64::from).to_vec(),
                _ => above.iter().map(|&b| f64::from(b)).collect(),
            };
            if !put.is_empty() {
                bench.put(&index, &put);
            }
            let dst = vec(Element::U32, 2, 256, 2048);
            let operands = [tiles([&dst, &src, &index]), vec![flag("HistByte", u64::from(byte))]].concat();
            bench.run("THISTOGRAM", operands).expect("legal");
            let got = bench.get(&dst);
            for row in 0..2 {
                for bin in 0..256u32 {
                    let counted = values[row * 60..row * 60 + 60].iter().filter(|&&v| {
                        let same = byte + 1 == bytes || v >> (8 * (byte + 1)) == values[7] >> (8 * (byte + 1));
                        same && v >> (8 * byte) & 0xff <= bin
                    });
                    assert_eq!(got[row * 256 + bin as usize], counted.count() as f64, "{byte} {bin}");
                }
            }
            assert!(bench.broken().is_empty());
        }
    }
    let mut bench = Bench::new(Arch::A5);
    let [src, index, dst] =
        [(Element::U16, 0), (Element::U8, 1024), (Element::U32, 2048)].map(|(element, at)| vec(element, 1, 256, at));
    let run = |bench: &mut Bench, dst: &Tile, src: &Tile, byte| {
        bench.run("THISTOGRAM", [tiles([dst, src, &index]), vec![flag("HistByte", byte)]].concat())
    };
    bench.put(&src, &[0.0; 256]);
    assert!(run(&mut bench, &dst, &src, 2).is_err(), "16 bits have two bytes");
    assert!(run(&mut bench, &valid(&dst, 1, 255), &src, 1).is_err(), "255 bins");
    assert!(run(&mut bench, &dst, &dst, 7).is_err());
    assert!(run(&mut bench, &dst, &vec(Element::I16, 1, 256, 0), 1).is_err(), "signed values");
}

#[test]
fn random_words() {
    // Known answers of Philox 4x32-10 (Random123).
    assert_eq!(philox([0; 4], [0; 2], 10), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
    assert_eq!(philox([u32::MAX; 4], [u32::MAX; 2], 10), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
    let (mut key, mut counter) = ([11u32, 12], [u32::MAX, u32::MAX, 5, 0]);
    let mut bench = Bench::new(Arch::A5);
    let dst = valid(&vec(Element::U32, 2, 304, 0), 2, 299);
    let run = |bench: &mut Bench, dst: &Tile, key: Operand, counter: Operand, rounds| {
        bench.run("TRANDOM", vec![Operand::Tile(dst.clone()), key, counter, int(rounds)])
    };
    for rounds in [7, 10] {
        run(&mut bench, &dst, memory(&mut key), memory(&mut counter), rounds).expect("legal");
        let got = bench.get(&dst);
        for (row, base) in [(0u128, 0u128), (1, 64 + 43)] {
            for col in [0u128, 1, 2, 3, 4, 255, 256, 298] {
                let count = (5u128 << 64 | u128::from(u64::MAX)) + base + col / 4;
                let state = [0, 32, 64, 96].map(|shift| (count >> shift) as u32);
                let wanted = philox(state, key, rounds)[(col % 4) as usize];
                assert_eq!(got[(row * 299 + col) as usize], f64::from(wanted), "{row} {col}");
            }
        }
    }
    assert!(run(&mut bench, &dst, memory(&mut key), memory(&mut counter), 8).is_err());
    assert!(run(&mut bench, &dst, memory(&mut key), memory(&mut key), 7).is_err(), "two words of four");
    assert!(run(&mut bench, &dst, int(1), memory(&mut counter), 7).is_err());
    let float = vec(Element::F32, 1, 8, 0);
    assert!(run(&mut bench, &float, memory(&mut key), memory(&mut counter), 7).is_err());
}

#[test]
fn parts_combine_where_both_are_valid() {
    type Case = (&'static str, fn(f64, f64) -> f64);
    let cases: [Case; 4] =
        [("TPARTADD", |a, b| a + b), ("TPARTMUL", |a, b| a * b), ("TPARTMAX", f64::max), ("TPARTMIN", f64::min)];
    for arch in [Arch::A3, Arch::A5] {
        for (name, f) in cases {
            for element in [Element::F32, Element::F16, Element::I32, Element::I16] {
                for ((ar, ac), (br, bc)) in
                    [((4, 9), (4, 9)), ((4, 9), (2, 9)), ((4, 9), (3, 5)), ((1, 4), (4, 9)), ((4, 9), (0, 0))]
                {
                    let mut bench = Bench::new(arch);
                    let a = valid(&vec(element, 4, 16, 0), ar, ac);
                    let b = valid(&vec(element, 4, 32, 1024), br, bc);
                    let dst = valid(&vec(element, 4, 16, 2048), 4, 9);
                    let x: Vec<f64> = (0..ar * ac).map(|i| f64::from(i as u32 * 7 % 23) - 9.0).collect();
                    let y: Vec<f64> = (0..br * bc).map(|i| f64::from(i as u32 * 5 % 19) - 9.0).collect();
                    bench.put(&a, &x);
                    bench.put(&b, &y);
                    bench.run(name, tiles([&dst, &a, &b])).expect("legal");
                    let at = |v: &[f64], rows: usize, cols: usize, r: usize, c: usize| {
                        (r < rows && c < cols).then(|| v[r * cols + c])
                    };
                    for (i, got) in bench.get(&dst).into_iter().enumerate() {
                        let (r, c) = (i / 9, i % 9);
                        let wanted = match (at(&x, ar, ac, r, c), at(&y, br, bc, r, c)) {
                            (Some(x), Some(y)) => f(x, y),
                            (x, y) => x.or(y).expect("one covers dst"),
                        };
                        assert_eq!(got, wanted, "{name} {} {ar} {ac} {br} {bc}", element.name());
                    }
                    assert!(bench.broken().is_empty());
                }
            }
        }
    }
    let mut bench = Bench::new(Arch::A3);
    let t = |at, rows, cols| valid(&vec(Element::F32, 4, 16, at), rows, cols);
    bench.put(&t(0, 4, 16), &[1.0; 64]);
    assert!(bench.run("TPARTADD", tiles([&t(1024, 4, 9), &t(0, 4, 8), &t(0, 3, 9)])).is_err(), "none covers dst");
    assert!(bench.run("TPARTADD", tiles([&t(1024, 4, 9), &t(0, 4, 9), &t(0, 4, 10)])).is_err(), "one is larger");
    bench.put(&t(512, 2, 3), &[2.0; 6]);
    bench.run("TPARTADD", tiles([&t(512, 4, 9), &t(0, 4, 9), &t(512, 2, 3)])).expect("runs");
    assert_eq!(bench.broken(), ["PTO-0805"], "A3 copies first");
    let mut bench = Bench::new(Arch::A5);
    let [a, b, dst] = [0, 256, 512].map(|at| vec(Element::U64, 1, 4, at));
    bench.put(&a, &[-1.0, 1.0, 0.0, 5.0]);
    bench.put(&b, &[1.0, -1.0, 0.0, 4.0]);
    bench.run("TPARTMAX", tiles([&dst, &a, &b])).expect("legal");
    assert_eq!(bench.get(&dst), [-1.0, -1.0, 0.0, 5.0], "bits of the largest u64");
}

#[test]
fn parts_carry_their_index() {
    for (arch, unordered) in [(Arch::A3, 21.0), (Arch::A5, 11.0)] {
        for (element, index) in
            [(Element::F32, Element::U32), (Element::F16, Element::I32), (Element::F16, Element::U16)]
        {
            for (name, wanted, from) in [
                ("TPARTARGMAX", [3.0, 2.0, 5.0], [10.0, 21.0, 12.0]),
                ("TPARTARGMIN", [1.0, -4.0, 5.0], [20.0, 11.0, 12.0]),
            ] {
                for swapped in [false, true] {
                    let mut bench = Bench::new(arch);
                    let t = |element, at, cols| valid(&vec(element, 1, 16, at), 1, cols);
                    let [mut a, mut b] = [t(element, 0, 4), t(element, 64, 3)];
                    let [mut ai, mut bi] = [t(index, 128, 4), t(index, 192, 3)];
                    if swapped {
                        (a, b) = (valid(&a, 1, 3), valid(&b, 1, 4));
                        (ai, bi) = (valid(&ai, 1, 3), valid(&bi, 1, 4));
                    }
                    let (dst, di) = (t(element, 256, 4), t(index, 320, 4));
                    let cut = |values: [f64; 4], tile: &Tile| values[..tile.valid_cols].to_vec();
                    bench.put(&a, &cut([3.0, -4.0, 5.0, 8.0], &a));
                    bench.put(&b, &cut([1.0, 2.0, 5.0, 8.0], &b));
                    bench.put(&ai, &cut([10.0, 11.0, 12.0, 13.0], &ai));
                    bench.put(&bi, &cut([20.0, 21.0, 22.0, 13.0], &bi));
                    let all = tiles([&dst, &a, &b, &di, &ai, &bi]);
                    bench.run(name, all.clone()).expect("legal");
                    assert_eq!(bench.get(&dst), [&wanted[..], &[8.0]].concat(), "{name}");
                    assert_eq!(bench.get(&di), [&from[..], &[13.0]].concat(), "{name}");
                    bench.put(&b, &cut([1.0, f64::NAN, 5.0, 8.0], &b));
                    bench.run(name, all).expect("legal");
                    assert_eq!(bench.get(&di)[1], unordered);
                    assert!(bench.broken().is_empty());
                }
            }
        }
    }
    let mut bench = Bench::new(Arch::A3);
    let [a, b] = [Element::F32, Element::I32].map(|e| vec(e, 1, 8, 0));
    assert!(bench.run("TPARTARGMAX", tiles([&a, &a, &a, &a, &a, &a])).is_err(), "float indices");
    assert!(bench.run("TPARTARGMAX", tiles([&a, &a, &a, &b, &valid(&b, 1, 4), &b])).is_err());
}

#[test]
fn scalar_access() {
    for element in [Element::F32, Element::F16, Element::I8, Element::U64, Element::F8E4M3] {
        let mut bench = Bench::new(Arch::A5);
        let t = vec(element, 2, 32, 64);
        bench.put(&t, &(0..64).map(|i| f64::from(i % 8)).collect::<Vec<_>>());
        let mut bytes = [0u8; 8];
        let mut get = |bench: &mut Bench, offset: i64| {
            let result = (Slot(bytes.as_mut_ptr().cast()), element.storage_bytes());
            bench.ask("GetValue", vec![Operand::Tile(t.clone()), int(offset)], result)?;
            let mut value = Vec::new();
            element.decode(&bytes, 0, 1, 1, &mut value);
            Ok::<f64, Fault>(value[0])
        };
        assert_eq!(get(&mut bench, 37).expect("legal"), 5.0);
        let value = match element {
            Element::F32 | Element::F16 => Operand::Float(1.5, element),
            Element::F8E4M3 => Operand::Int(0x3c, element),
            _ => Operand::Int(-3, element),
        };
        bench.run("SetValue", vec![Operand::Tile(t.clone()), int(37), value]).expect("legal");
        assert_eq!(get(&mut bench, 37).expect("legal"), if element.is_float() { 1.5 } else { -3.0 });
        assert_eq!(get(&mut bench, 36).expect("legal"), 4.0);
        for outside in [64, -1] {
            assert_eq!(get(&mut bench, outside).expect_err("outside").rule, Rule::OutsideSpace);
            assert!(bench.run("SetValue", vec![Operand::Tile(t.clone()), int(outside), int(1)]).is_err());
        }
    }
    assert!(matches!(find("GetValue").expect("in the table").on, On::Pipe(Pipe::S)));
}

#[test]
fn intrinsics_touch_no_data() {
    let mut bench = Bench::new(Arch::A3);
    for name in ["dcci", "dsb", "set_mask_norm", "set_mask_count", "set_vector_mask", "set_atomic_none"] {
        bench.run(name, vec![int(1)]).expect("legal");
    }
    bench.run("set_ctrl", vec![int(1)]).expect("legal");
    bench.run("get_ctrl", vec![]).expect("legal");
    let fault = bench.run("trap", vec![]).expect_err("stops");
    assert_eq!((fault.rule, fault.message.as_str()), (Rule::Illegal, "trap reached"));
}

#[test]
fn tiles_are_printed_with_their_padding() {
    let mut bench = Bench::new(Arch::A3);
    let t = vec(Element::F32, 3, 8, 0);
    bench.put(&t, &(0..24).map(|i| f64::from(i) / 4.0 - 1.0).collect::<Vec<_>>());
    bench.run("TPRINT", vec![Operand::Tile(valid(&t, 2, 3)), flag("PrintFormat", 1)]).expect("legal");
    let text = bench.printed();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "=== [TPRINT Tile] Data Type: float32, Layout: ND, TileType: Vec ===");
    assert_eq!(lines[1], "  Shape: [3, 8], Valid Shape: [2, 3]");
    assert_eq!(lines[2], "   -1.00    -0.75    -0.50|    -0.25     0.00     0.25     0.50     0.75");
    assert_eq!(lines[4], "-------- -------- --------| -------- -------- -------- -------- --------");
    assert_eq!(lines[5], "    3.00     3.25     3.50|     3.75     4.00     4.25     4.50     4.75");
    assert_eq!(lines.len(), 6);

    let t = Tile { row_major: false, box_layout: BoxLayout::RowMajor, ..tile(Space::Acc, Element::I32, 16, 16, 0) };
    let t = Tile { fractal_bytes: 1024, ..t };
    bench.put(&t, &(0..256).map(|i| f64::from(i) - 3.0).collect::<Vec<_>>());
    let image = bench.global(Element::I32, [1, 1, 1, 16, 16], &[0.0; 256]);
    let operands = vec![Operand::Tile(t), Operand::Global(image.clone()), flag("PrintFormat", 2)];
    bench.run("TPRINT", operands).expect("legal");
    let text = bench.printed();
    assert!(text.starts_with("=== [TPRINT Tile] Data Type: int32, Layout: Nz, TileType: Acc ===\n"), "{text}");
    assert!(text.lines().nth(2).expect("a row").starts_with("        -3         -2         -1          0"));
    assert_eq!(bench.contents(&image)[17], 14.0);
    let left = tile(Space::Left, Element::F16, 16, 16, 0);
    assert!(bench.run("TPRINT", tiles([&left])).is_err());
    // Padding may be unwritten; what is valid may not.
    bench.run("TPRINT", tiles([&valid(&vec(Element::U16, 1, 16, 4096), 1, 0)])).expect("legal");
    assert!(bench.printed().contains("   65535"));
    bench.run("TPRINT", tiles([&vec(Element::U16, 1, 16, 4096)])).expect("runs");
    assert_eq!(bench.broken(), ["PTO-0801"]);
}

#[test]
fn tensors_are_printed() {
    let mut bench = Bench::new(Arch::A5);
    let mut g = bench.global(Element::U8, [1, 2, 1, 2, 3], &(0..12).map(f64::from).collect::<Vec<_>>());
    bench.run("TPRINT", vec![Operand::Global(g.clone()), flag("PrintFormat", 0)]).expect("legal");
    let wanted = "=== [TPRINT GlobalTensor] Data Type: uint8, Layout: ND ===\n  Shape: [1, 2, 1, 2, 3]\n  Batch \
                  [0, 0, 0]:\n       0        1        2\n       3        4        5\n  Batch [0, 1, 0]:\n       \
                  6        7        8\n       9       10       11\n";
    assert_eq!(bench.printed(), wanted);
    g.layout = 2;
    bench.run("TPRINT", vec![Operand::Global(g.clone())]).expect("legal");
    let text = bench.printed();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[1], "  Logical Shape: [2, 6]");
    assert_eq!(lines[3], "       3        4        5        9       10       11");
    for shape in [[1, 1, 1, 1 << 20, 2], [1, 1 << 62, 4, 1, 1], [1, 1, 1, 1, 13]] {
        assert!(bench.run("TPRINT", vec![Operand::Global(Global { shape, ..g.clone() })]).is_err());
    }
    let empty = Global { shape: [0, i64::MAX, i64::MAX, i64::MAX, i64::MAX], ..g };
    bench.run("TPRINT", vec![Operand::Global(empty)]).expect("legal");
}

#[test]
fn text_is_formatted_as_in_c() {
    let word = c"word";
    let text = Operand::Memory(Slot(word.as_ptr().cast_mut().cast()), 0);
    let f = |v: f64| Operand::Float(v, Element::F32);
    let n = |v: i64, e: Element| Operand::Int(v, e);
    for (format, arguments, wanted) in [
        ("plain %% 100%%\n", vec![], "plain % 100%\n"),
        (
            "%d|%5d|%-5d|%05d|%+d|% d|%i",
            vec![int(1), int(2), int(3), int(-4), int(5), int(6), int(-7)],
            "1|    2|3    |-0004|+5| 6|-7",
        ),
        ("%.3d|%8.3d|%.0d|%08.3d", vec![int(5), int(-5), int(0), int(7)], "005|    -005||     007"),
        (
            "%u|%u|%x|%X|%#x|%#o|%o",
            vec![int(-1), n(-1, Element::U64), int(255), int(-1), int(255), int(8), int(8)],
            "4294967295|18446744073709551615|ff|FFFFFFFF|0xff|010|10",
        ),
        (
            "%d|%ld|%hd|%llu",
            vec![n(0xffff_ffff, Element::U32), n(1 << 40, Element::I64), int(7), int(-1)],
            "-1|1099511627776|7|18446744073709551615",
        ),
        (
            "%f|%8.3f|%-8.1f|%08.2f|%.0f|%+f",
            vec![f(1.5), f(-2.25), f(0.25), f(-1.005), f(2.5), f(1.0)],
            "1.500000|  -2.250|0.2     |-0001.00|2|+1.000000",
        ),
        (
            "%e|%.2E|%12.3e|%e",
            vec![f(12345.678), f(0.00012), f(-1.0), f(0.0)],
            "1.234568e+04|1.20E-04|  -1.000e+00|0.000000e+00",
        ),
        (
            "%g|%g|%g|%G|%#g|%.3g|%g",
            vec![f(0.0001), f(0.00001), f(123456.0), f(1e20), f(1.0), f(1234.0), f(0.0)],
            "0.0001|1e-05|123456|1E+20|1.00000|1.23e+03|0",
        ),
        (
            "%f|%5f|%05f|%F",
            vec![f(f64::NAN), f(f64::INFINITY), f(f64::NEG_INFINITY), f(f64::NAN)],
            "nan|  inf| -inf|NAN",
        ),
        (
            "%s|%6s|%-6s|%.2s|%c|%3c",
            vec![text.clone(), text.clone(), text.clone(), text, int(65), int(66)],
            "word|  word|word  |wo|A|  B",
        ),
        (
            "%*d|%-*d|%.*f|%*d",
            vec![int(4), int(1), int(3), int(2), int(1), f(1.25), int(-3), int(9)],
            "   1|2  |1.2|9  ",
        ),
        ("%p|%f|%d", vec![n(4096, Element::U64), int(3), f(2.9)], "0x1000|3.000000|2"),
        ("%d %d %y %", vec![int(1)], "1 %d %y %"),
        ("é%5%%ü", vec![], "é%%ü"),
    ] {
        assert_eq!(format_text(format, &arguments), wanted, "{format}");
    }
    let wide = format_text("%999999999999999999999d%.99999f", &[int(1), f(1.0)]);
    assert_eq!(wide.len(), MOST_WIDTH + 2 + MOST_WIDTH);
    let mut bench = Bench::new(Arch::A3);
    let format = c"x = %d\n";
    for value in 1..3 {
        let operands = vec![Operand::Memory(Slot(format.as_ptr().cast_mut().cast()), 0), int(value)];
        bench.run("printf", operands).expect("legal");
    }
    assert_eq!(bench.printed(), "x = 1\nx = 2\n");
    assert!(bench.run("printf", vec![]).is_err());
}
