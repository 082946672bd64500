//! Tests of the gathers and scatters.

use super::super::bench::{Bench, flag, tile, tiles, vec};
use super::*;

const E: [Element; 4] = [Element::F32, Element::F16, Element::I32, Element::U8];

fn ramp(count: usize) -> Vec<f64> {
    (0..count).map(|i| i as f64).collect()
}

/// An NZ tile.
fn fractal(space: Space, element: Element, rows: usize, cols: usize, address: u64) -> Tile {
    Tile { row_major: false, box_layout: BoxLayout::RowMajor, ..tile(space, element, rows, cols, address) }
}

fn valid(tile: &Tile, rows: usize, cols: usize) -> Tile {
    Tile { valid_rows: rows, valid_cols: cols, ..tile.clone() }
}

#[test]
fn indices_count_elements_of_the_storage() {
    let picks = [33.0, 0.0, 17.0, 33.0, 5.0, 1.0];
    for (arch, element, index) in [
        (Arch::A3, Element::F32, Element::I32),
        (Arch::A3, Element::F16, Element::U32),
        (Arch::A5, Element::BF16, Element::U16),
        (Arch::A5, Element::U8, Element::I16),
        (Arch::A5, Element::I64, Element::U32),
    ] {
        let mut bench = Bench::new(arch);
        let src = vec(element, 2, 32, 0);
        let index = valid(&vec(index, 2, 16, 2048), 2, 3);
        let dst = valid(&vec(element, 2, 32, 4096), 2, 3);
        let tmp = vec(Element::I32, 2, 32, 8192);
        bench.put(&src, &ramp(64));
        bench.put(&index, &picks);
        bench.put(&tmp, &ramp(64));
        bench.run("TGATHER", tiles([&dst, &src, &index, &tmp])).expect("legal");
        assert_eq!(bench.get(&dst), picks, "{}", element.name());
        // Only A3 needs the scratch, and only for elements of 16 bits.
        let kept = bench.get(&tmp)[0] == 0.0;
        assert_eq!(kept, !(arch == Arch::A3 && element == Element::F16), "{}", element.name());
        assert!(bench.broken().is_empty());
    }
}

#[test]
fn indices_outside_and_shared_bytes_are_found() {
    let mut bench = Bench::new(Arch::A3);
    let src = vec(Element::F32, 1, 8, 0);
    let index = vec(Element::I32, 1, 8, 64);
    bench.put(&src, &ramp(8));
    bench.put(&index, &[0.0, 1.0, 2.0, 8.0, 0.0, 0.0, 0.0, 0.0]);
    let dst = vec(Element::F32, 1, 8, 128);
    let fault = bench.run("TGATHER", tiles([&dst, &src, &index, &index])).expect_err("element 8 of 8");
    assert_eq!(fault.rule, Rule::OutsideSpace);
    bench.put(&index, &[-1.0; 8]);
    assert!(bench.run("TGATHER", tiles([&dst, &src, &index, &index])).is_err());
    bench.put(&index, &[7.0; 8]);
    bench.run("TGATHER", tiles([&src, &src, &index, &index])).expect("runs");
    // Padding that was never written counts when an index names it.
    let half = valid(&vec(Element::F32, 1, 8, 1024), 1, 4);
    bench.put(&half, &ramp(4));
    bench.run("TGATHER", tiles([&dst, &half, &index, &index])).expect("runs");
    let narrow = vec(Element::F16, 1, 16, 2048);
    assert!(bench.run("TGATHER", tiles([&narrow, &src, &index, &index])).is_err(), "widths differ");
    let codes = bench.broken();
    assert!(codes.contains(&"PTO-0805") && codes.contains(&"PTO-0801"), "{codes:?}");
}

#[test]
fn masks_pack_and_spread() {
    let patterns: [(u64, usize, usize); 7] =
        [(1, 2, 0), (2, 2, 1), (3, 4, 0), (4, 4, 1), (5, 4, 2), (6, 4, 3), (7, 1, 0)];
    for element in E {
        for (mask, times, first) in patterns {
            let mut bench = Bench::new(Arch::A5);
            let src = valid(&vec(element, 8, 32, 0), 8, 24);
            let values = ramp(192);
            bench.put(&src, &values);
            let mask = flag("MaskPattern", mask);
            // Along rows: all that is taken, one after another.
            let packed = vec(element, 8, 32, 4096);
            let row = [tiles([&packed, &src]), vec![mask.clone(), flag("GatherAxis", 0)]].concat();
            bench.run("TGATHER", row).expect("legal");
            let wanted: Vec<f64> = values.iter().copied().filter(|v| *v as usize % 24 % times == first).collect();
            let whole = valid(&packed, 1, 32);
            let count = wanted.len().min(32);
            assert_eq!(bench.get(&valid(&whole, 1, count)), wanted[..count]);
            assert_eq!(wanted.len(), 192 / times);
            // Along columns: whole rows.
            let rows = valid(&vec(element, 8, 32, 8192), 8 / times, 24);
            let column = [tiles([&rows, &src]), vec![mask.clone(), flag("GatherAxis", 1)]].concat();
            bench.run("TGATHER", column).expect("legal");
            let lines: Vec<f64> = values.iter().copied().filter(|v| *v as usize / 24 % times == first).collect();
            assert_eq!(bench.get(&rows), lines);
            // And back, with zeros between.
            let back = valid(&vec(element, 8, 32, 12288), 8, 24);
            let spread = [tiles([&back, &rows]), vec![mask.clone(), flag("ScatterAxis", 1)]].concat();
            bench.run("TSCATTER", spread).expect("legal");
            let keep = |v: f64, hit: bool| if hit { v } else { 0.0 };
            let wanted: Vec<f64> = values.iter().map(|&v| keep(v, v as usize / 24 % times == first)).collect();
            assert_eq!(bench.get(&back), wanted);
            let narrow = valid(&vec(element, 8, 32, 16384), 8, 24 / times);
            let narrow_values: Vec<f64> = ramp(8 * 24 / times).iter().map(|v| v + 1.0).collect();
            bench.put(&narrow, &narrow_values);
            let spread = [tiles([&back, &narrow]), vec![mask, flag("ScatterAxis", 0)]].concat();
            bench.run("TSCATTER", spread).expect("legal");
            let wanted: Vec<f64> = (0..192)
                .map(|i| keep(narrow_values[i / 24 * (24 / times) + i % 24 / times], i % 24 % times == first))
                .collect();
            assert_eq!(bench.get(&back), wanted);
            assert!(bench.broken().is_empty());
        }
    }
}

#[test]
fn masked_elements_of_64_bits_keep_a_pitch() {
    let mut bench = Bench::new(Arch::A5);
    let src = valid(&vec(Element::I64, 3, 24, 0), 3, 15);
    bench.put(&src, &ramp(45));
    let dst = vec(Element::I64, 3, 24, 4096);
    bench.put(&dst, &[-1.0; 72]);
    let operands = [tiles([&dst, &src]), vec![flag("MaskPattern", 2), flag("GatherAxis", 0)]].concat();
    bench.run("TGATHER", operands).expect("legal");
    let got = bench.get(&dst);
    assert_eq!(got[..8], [1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0, -1.0]);
    assert_eq!(got[12..20], [16.0, 18.0, 20.0, 22.0, 24.0, 26.0, 28.0, -1.0]);
}

#[test]
fn a_mask_must_fit() {
    let mut bench = Bench::new(Arch::A3);
    let (wide, narrow) = (vec(Element::F32, 2, 16, 0), valid(&vec(Element::F32, 2, 16, 256), 2, 7));
    bench.put(&wide, &ramp(32));
    bench.put(&narrow, &ramp(14));
    let mask = [flag("MaskPattern", 1), flag("ScatterAxis", 0)];
    assert!(bench.run("TSCATTER", [tiles([&wide, &narrow]), mask.to_vec()].concat()).is_err(), "7 of 8");
    let rows = [flag("MaskPattern", 1), flag("GatherAxis", 1)];
    assert!(bench.run("TGATHER", [tiles([&narrow, &wide]), rows.to_vec()].concat()).is_err(), "1 of 2 rows");
    let none = [flag("MaskPattern", 0), flag("GatherAxis", 0)];
    assert!(bench.run("TGATHER", [tiles([&narrow, &wide]), none.to_vec()].concat()).is_err(), "no such mask");
}

/// Runs a comparison over rows of 64 and returns what dst holds of two rows, and the counts.
fn compare(arch: Arch, element: Element, limit: Element, limits: &[f64], mode: u64) -> Result<[Vec<f64>; 2], Fault> {
    let mut bench = Bench::new(arch);
    let src = valid(&vec(element, 2, 96, 0), 2, 64);
    let scores: Vec<f64> = (0..128).map(|i| f64::from(i % 10)).collect();
    bench.put(&src, &scores);
    let column = |element: Element, at: u64| Tile { row_major: false, ..valid(&vec(element, 32, 1, at), 2, 1) };
    let (value, count) = (column(limit, 4096), column(Element::I32, 8192));
    bench.put(&value, limits);
    let (dst, tmp) = (vec(Element::U32, 2, 32, 12288), vec(Element::U8, 2, 32, 16384));
    bench.put(&dst, &[99.0; 64]);
    let beyond = vec(Element::F32, 1, 8, 16384 + 64);
    bench.put(&tmp, &[1.0; 64]);
    bench.put(&beyond, &[1.0; 8]);
    let more = vec![Operand::Int(1000, Element::I32), flag("CmpMode", mode)];
    bench.run("TGATHER", [tiles([&dst, &src, &value, &count, &tmp]), more].concat())?;
    let out = [bench.get(&dst), bench.get(&count)];
    assert_eq!(bench.get(&beyond)[0].is_nan(), arch == Arch::A3, "scratch of A3 reaches beyond its tile");
    assert!(bench.broken().is_empty());
    Ok(out)
}

#[test]
fn comparisons_number_what_they_find() {
    const EQ: u64 = 0;
    const GT: u64 = 4;
    // A3 numbers over rows of 96, A5 over loads of 64.
    for (arch, element, limit, mode) in [
        (Arch::A3, Element::F32, Element::U32, GT),
        (Arch::A3, Element::F32, Element::I32, EQ),
        (Arch::A3, Element::F16, Element::U16, GT),
        (Arch::A3, Element::I32, Element::I32, EQ),
        (Arch::A5, Element::F32, Element::U32, GT),
        (Arch::A5, Element::F16, Element::U16, EQ),
        (Arch::A5, Element::U32, Element::U32, GT),
        (Arch::A5, Element::I16, Element::U16, GT),
    ] {
        let pitch = if arch == Arch::A3 { 96 } else { 64 };
        let limits = [7.0, 8.0];
        let [dst, counts] = compare(arch, element, limit, &limits, mode).expect("legal");
        for row in 0..2 {
            let hit = |i: &usize| {
                let score = f64::from((row * 64 + *i) as i32 % 10);
                if mode == GT { score > limits[row] } else { score == limits[row] }
            };
            let wanted: Vec<f64> = (0..64).filter(hit).map(|i| (1000 + row * pitch + i) as f64).collect();
            let here = &dst[row * 32..(row + 1) * 32];
            assert_eq!(here[..wanted.len()], wanted, "{} {mode}", element.name());
            assert!(here[wanted.len()..].iter().all(|v| *v == 99.0));
            assert_eq!(counts[row], wanted.len() as f64);
        }
    }
    assert!(compare(Arch::A3, Element::I32, Element::I32, &[1.0, 1.0], GT).is_err(), "A3 has no such comparison");
    assert!(compare(Arch::A3, Element::F32, Element::U32, &[1.0, 1.0], 2).is_err(), "neither GT nor EQ");
    assert!(compare(Arch::A5, Element::I8, Element::U16, &[1.0, 1.0], GT).is_err(), "half a load");
}

#[test]
fn comparisons_of_floats_round_on_a5_only() {
    for (arch, found) in [(Arch::A3, 2.0), (Arch::A5, 4.0)] {
        let mut bench = Bench::new(arch);
        let src = vec(Element::F32, 1, 8, 0);
        bench.put(&src, &[1.4, 1.6, 2.5, 3.0, -1.0, 0.0, 2.0, 1.5]);
        let (value, count) = (vec(Element::U32, 1, 8, 64), vec(Element::U32, 1, 8, 96));
        bench.put(&value, &[2.0; 8]);
        let (dst, tmp) = (vec(Element::U32, 1, 8, 128), vec(Element::U8, 1, 32, 160));
        // 2.5 and 3 are greater; rounded and taken as unsigned, 3 and -1 are. Equal: 2; and 1.6, 2.5, 1.5.
        let more = vec![Operand::Int(0, Element::I32), flag("CmpMode", 0)];
        let run = [tiles([&dst, &src, &value, &count, &tmp]), more].concat();
        bench.run("TGATHER", run.clone()).expect("legal");
        let equal = bench.get(&count)[0];
        let greater = [run[..6].to_vec(), vec![flag("CmpMode", 4)]].concat();
        bench.run("TGATHER", greater).expect("legal");
        assert_eq!(equal, if arch == Arch::A3 { 1.0 } else { found });
        assert_eq!(bench.get(&count)[0], 2.0);
        let second = if arch == Arch::A3 { 3.0 } else { 4.0 };
        assert_eq!(bench.get(&dst)[1], second);
    }
}

#[test]
fn blocks_move_by_byte_offset() {
    for element in E {
        let mut bench = Bench::new(Arch::A3);
        let across = 32 / element.storage_bytes();
        let src = vec(element, 4, across * 2, 0);
        let values: Vec<f64> = (0..across * 8).map(|i| (i % 200) as f64).collect();
        bench.put(&src, &values);
        let offset = valid(&vec(Element::U32, 2, 8, 1024), 2, 2);
        let starts = [224.0, 32.0, 0.0, 96.0];
        bench.put(&offset, &starts);
        let dst = valid(&vec(element, 2, across * 2, 2048), 2, across * 2 - 1);
        bench.run("TGATHERB", tiles([&dst, &src, &offset])).expect("legal");
        let wanted: Vec<f64> = (0..2 * (across * 2 - 1))
            .map(|i| (i / (across * 2 - 1), i % (across * 2 - 1)))
            .map(|(r, c)| values[starts[r * 2 + c / across] as usize / 32 * across + c % across])
            .collect();
        assert_eq!(bench.get(&dst), wanted);
        bench.put(&offset, &[16.0, 32.0, 0.0, 96.0]);
        bench.run("TGATHERB", tiles([&dst, &src, &offset])).expect("runs");
        bench.put(&offset, &[256.0; 4]);
        assert!(bench.run("TGATHERB", tiles([&dst, &src, &offset])).is_err(), "past the end of src");
        assert_eq!(bench.broken(), ["PTO-0804"]);
    }
}

#[test]
fn scatters_zero_what_they_do_not_write() {
    for (element, index) in [(Element::F32, Element::I32), (Element::F16, Element::I16), (Element::U8, Element::U16)] {
        let mut bench = Bench::new(Arch::A3);
        let src = valid(&vec(element, 2, 32, 0), 2, 3);
        let index = valid(&vec(index, 2, 16, 1024), 2, 3);
        let dst = vec(element, 2, 32, 2048);
        bench.put(&dst, &[7.0; 64]);
        bench.put(&src, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        bench.put(&index, &[40.0, 0.0, 63.0, 1.0, 40.0, 2.0]);
        bench.run("TSCATTER", tiles([&dst, &src, &index])).expect("legal");
        let mut wanted = vec![0.0; 64];
        for (at, value) in [(0, 2.0), (63, 3.0), (1, 4.0), (40, 5.0), (2, 6.0)] {
            wanted[at] = value;
        }
        assert_eq!(bench.get(&dst), wanted);
        bench.put(&index, &[64.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert!(bench.run("TSCATTER", tiles([&dst, &src, &index])).is_err());
    }
}

const OUTSIDE: [u64; 4] = [0, 1, 2, 3];

fn line(count: usize, indices: &[f64], bench: &mut Bench) -> Tile {
    let index = valid(&vec(Element::I32, 1, 16, 65536), 1, count);
    bench.put(&index, indices);
    index
}

#[test]
fn rows_come_from_global_memory() {
    let values = ramp(6 * 16);
    for arch in [Arch::A3, Arch::A5] {
        for mode in OUTSIDE {
            let mut bench = Bench::new(arch);
            let table = bench.global(Element::F32, [1, 1, 1, 6, 16], &values);
            let index = line(3, &[5.0, 7.0, -1.0], &mut bench);
            let dst = vec(Element::F32, 3, 16, 0);
            let flags = vec![flag("Coalesce", 0), flag("GatherOOB", mode)];
            let operands = |dst: &Tile, index: &Tile| {
                let dst = Operand::Tile(dst.clone());
                [vec![dst, Operand::Global(table.clone()), Operand::Tile(index.clone())], flags.clone()].concat()
            };
            let ran = bench.run("MGATHER", operands(&dst, &index));
            if mode == 0 {
                assert_eq!(ran.expect_err("row 7 of 6").rule, Rule::OutsideTensor);
                continue;
            }
            ran.expect("legal");
            // By value: clamp, wrap (of the unsigned index), zero.
            let rows = [[0; 3], [5, 5, 5], [5, 1, 3], [5, 99, 99]][mode as usize];
            let row = |r: usize| if r == 99 { vec![0.0; 16] } else { values[r * 16..(r + 1) * 16].to_vec() };
            assert_eq!(bench.get(&dst), rows.map(row).concat(), "{mode}");
            let short = valid(&index, 1, 2);
            assert!(bench.run("MGATHER", operands(&dst, &short)).is_err(), "an index a row");
        }
    }
}

#[test]
fn rows_of_a5_are_packed() {
    for (arch, second) in [(Arch::A3, 16.0), (Arch::A5, 8.0)] {
        let mut bench = Bench::new(arch);
        let mut table = bench.global(Element::F16, [1, 1, 1, 4, 16], &ramp(64));
        table.shape[4] = 8;
        let index = line(1, &[1.0], &mut bench);
        let dst = valid(&vec(Element::F16, 1, 16, 0), 1, 8);
        let operands = vec![Operand::Tile(dst.clone()), Operand::Global(table), Operand::Tile(index)];
        bench.run("MGATHER", operands).expect("rows are the default");
        assert_eq!(bench.get(&dst)[0], second);
    }
}

#[test]
fn elements_come_from_global_memory() {
    for element in E {
        for mode in OUTSIDE {
            let mut bench = Bench::new(Arch::A3);
            let table = bench.global(element, [1, 1, 2, 3, 4], &ramp(24));
            let index = valid(&vec(Element::U32, 2, 8, 4096), 2, 2);
            let far = if mode == 0 { 0.0 } else { 50.0 };
            bench.put(&index, &[23.0, 3.0, far, 4.0]);
            let dst = valid(&vec(element, 2, 32, 0), 2, 2);
            let flags = vec![flag("Coalesce", 1), flag("GatherOOB", mode)];
            let tiles = vec![Operand::Tile(dst.clone()), Operand::Global(table), Operand::Tile(index)];
            bench.run("MGATHER", [tiles, flags].concat()).expect("legal");
            let third = [0.0, 23.0, 2.0, 0.0][mode as usize];
            assert_eq!(bench.get(&dst), [23.0, 3.0, third, 4.0]);
        }
    }
}

/// A tensor in blocks of 16 x 16 with two block rows and three block columns, whose values are row * 100 + column.
fn blocks(bench: &mut Bench) -> Global {
    let shape = [1, 3, 2, 16, 16];
    let values: Vec<f64> = (0..3 * 2 * 256)
        .map(|i| (i / 512, i / 256 % 2, i / 16 % 16, i % 16))
        .map(|(bc, br, r, c)| ((br * 16 + r) * 100 + bc * 16 + c) as f64)
        .collect();
    let mut table = bench.global(Element::F16, shape, &values.iter().map(|v| v % 2048.0).collect::<Vec<_>>());
    table.layout = 2;
    table
}

#[test]
fn fractal_tables_pair_with_fractal_tiles() {
    let mut bench = Bench::new(Arch::A3);
    let table = blocks(&mut bench);
    let at = |row: usize, col: usize| ((row * 100 + col) % 2048) as f64;
    let dst = valid(&fractal(Space::Vec, Element::F16, 16, 48, 0), 3, 48);
    let index = line(3, &[17.0, 40.0, 3.0], &mut bench);
    let operands = |dst: &Tile, index: &Tile, mode: u64| {
        let flags = vec![flag("Coalesce", mode), flag("GatherOOB", 3)];
        [vec![Operand::Tile(dst.clone()), Operand::Global(table.clone()), Operand::Tile(index.clone())], flags].concat()
    };
    bench.run("MGATHER", operands(&dst, &index, 0)).expect("legal");
    let got = bench.get(&dst);
    for col in 0..48 {
        let wanted = [at(17, col), 0.0, at(3, col)];
        assert_eq!([0, 1, 2].map(|row| got[row * 48 + col]), wanted);
    }
    let index = valid(&vec(Element::U32, 1, 8, 65536), 1, 2);
    bench.put(&index, &[48.0 * 20.0 + 33.0, 48.0 * 32.0]);
    let dst = valid(&dst, 1, 2);
    bench.run("MGATHER", operands(&dst, &index, 1)).expect("legal");
    assert_eq!(bench.get(&dst), [at(20, 33), 0.0]);
    let flat = valid(&vec(Element::F16, 16, 48, 0), 1, 2);
    assert!(bench.run("MGATHER", operands(&flat, &index, 1)).is_err(), "an NZ tensor and an ND tile");
    // The reverse.
    let src = valid(&fractal(Space::Vec, Element::F16, 16, 48, 8192), 1, 48);
    bench.put(&src, &ramp(48));
    let index = line(1, &[31.0], &mut bench);
    let tensors = vec![Operand::Global(table.clone()), Operand::Tile(src), Operand::Tile(index)];
    bench.run("MSCATTER", tensors).expect("legal");
    let contents = bench.contents(&table);
    for col in 0..48 {
        assert_eq!(contents[col / 16 * 512 + 256 + 15 * 16 + col % 16], col as f64);
    }
}

#[test]
fn gathers_into_l1_take_indices_from_global_memory() {
    let mut bench = Bench::new(Arch::A3);
    let table = bench.global(Element::F16, [1, 1, 1, 8, 32], &ramp(256));
    let rows = bench.global(Element::I32, [1, 1, 1, 1, 4], &[7.0, 0.0, 9.0, 2.0]);
    let dst = valid(&fractal(Space::Mat, Element::F16, 16, 32, 0), 4, 32);
    let operands = vec![Operand::Tile(dst.clone()), Operand::Global(table.clone()), Operand::Global(rows)];
    let flags = vec![flag("Coalesce", 0), flag("GatherOOB", 3)];
    assert!(bench.run("MGATHER", operands.clone()).is_err(), "row 9 of 8");
    bench.run("MGATHER", [operands, flags.clone()].concat()).expect("legal");
    let row = |r: usize| (r * 32..r * 32 + 32).map(|v| v as f64);
    let wanted: Vec<f64> = row(7).chain(row(0)).chain([0.0; 32]).chain(row(2)).collect();
    assert_eq!(bench.get(&dst), wanted);
    // All of the tile is zeroed first.
    assert_eq!(bench.get(&valid(&dst, 16, 32))[4 * 32..], [0.0; 12 * 32]);

    let index = bench.global(Element::U32, [1, 1, 1, 2, 4], &[255.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    let scratch = bench.global(Element::F16, [1, 1, 1, 16, 32], &[9.0; 512]);
    let dst = valid(&dst, 2, 2);
    let globals = [table, index, scratch.clone()].map(Operand::Global).to_vec();
    let operands = [vec![Operand::Tile(dst.clone())], globals, flags].concat();
    bench.run("MGATHER", operands.clone()).expect("scratch means elements");
    assert_eq!(bench.get(&dst), [255.0, 1.0, 4.0, 5.0]);
    let image = bench.contents(&scratch);
    assert_eq!(image[..3], [255.0, 1.0, 0.0]);
    assert_eq!(image[16..18], [4.0, 5.0]);
    let simt = [operands, vec![flag("GatherExec", 1)]].concat();
    assert!(bench.run("MGATHER", simt).is_err());
    let pipe = |space| {
        memory_gather_pipe(
            &Instr {
                name: "MGATHER",
                operands: tiles([&Tile { space, ..dst.clone() }]),
                result: (crate::npu::abi::Slot(std::ptr::null_mut()), 0),
                site: crate::npu::abi::Site::NONE,
            },
            Arch::A3,
        )
    };
    assert_eq!([pipe(Space::Mat), pipe(Space::Vec)], [Pipe::Mte2, Pipe::V]);
}

/// Scatters 1..=6 in two rows of three over a table of ones.
fn scattered(
    arch: Arch,
    element: Element,
    indices: &[f64],
    flags: &[(&'static str, u64)],
) -> (Result<Vec<f64>, Fault>, Vec<&'static str>) {
    let mut bench = Bench::new(arch);
    let table = bench.global(element, [1, 1, 1, 4, 3], &[1.0; 12]);
    let src = valid(&vec(element, 2, 32, 0), 2, 3);
    bench.put(&src, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let shape = if indices.len() == 2 { (1, 2) } else { (2, 3) };
    let index = valid(&vec(Element::I32, 2, 8, 4096), shape.0, shape.1);
    bench.put(&index, indices);
    let flags = flags.iter().map(|&(kind, value)| flag(kind, value)).collect();
    let operands = vec![Operand::Global(table.clone()), Operand::Tile(src), Operand::Tile(index)];
    let ran = bench.run("MSCATTER", [operands, flags].concat());
    (ran.map(|()| bench.contents(&table)), bench.broken())
}

#[test]
fn rows_and_elements_go_to_global_memory() {
    for arch in [Arch::A3, Arch::A5] {
        for element in E {
            let rows = scattered(arch, element, &[3.0, 0.0], &[]).0.expect("legal");
            assert_eq!(rows, [4.0, 5.0, 6.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 3.0]);
            let mut wanted = [1.0; 12];
            let at = [3.0, 2.0, 11.0, 3.0, 0.0, 2.0];
            at.iter().zip([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).for_each(|(&i, v)| wanted[i as usize] = v);
            let (elements, codes) = scattered(arch, element, &at, &[("Coalesce", 1)]);
            assert_eq!(elements.expect("legal"), wanted);
            assert!(codes.is_empty());
        }
    }
    let open = [("Coalesce", 1), ("ScatterAtomicOp", 0), ("ScatterOOB", 0), ("ScatterConflict", 1)];
    assert_eq!(scattered(Arch::A5, Element::F32, &[0.0; 6], &open).1, ["PTO-0806"]);
    assert!(scattered(Arch::A3, Element::F32, &[0.0; 6], &open).1.is_empty());
}

#[test]
fn scatters_combine() {
    for (element, operation, wanted) in [
        (Element::F32, 1, [7.0, 9.0, 5.0]),
        (Element::F16, 1, [7.0, 9.0, 5.0]),
        (Element::BF16, 1, [7.0, 9.0, 5.0]),
        (Element::I32, 1, [7.0, 9.0, 5.0]),
        (Element::I32, 2, [5.0, 6.0, 4.0]),
        (Element::F32, 2, [5.0, 6.0, 4.0]),
        (Element::F32, 3, [1.0, 1.0, 1.0]),
    ] {
        // 1 and 5 meet in slot 0, 2 and 6 in slot 1, 4 in slot 2, 3 far away.
        let at = [0.0, 1.0, 5.0, 2.0, 0.0, 1.0];
        let flags = [("Coalesce", 1), ("ScatterAtomicOp", operation), ("ScatterOOB", 1)];
        let got = scattered(Arch::A5, element, &at, &flags).0.expect("legal");
        assert_eq!(got[..3], wanted, "{} {operation}", element.name());
    }
    let added = scattered(Arch::A3, Element::U8, &[2.0, 2.0], &[("Coalesce", 0), ("ScatterAtomicOp", 1)]).0;
    assert_eq!(added.expect("legal")[6..9], [6.0, 8.0, 10.0]);
    // 16-bit sums round after each step.
    assert_eq!(combine(Element::F16, "Add", 0x6800, 0x3c00), 0x6800, "2048 + 1 in f16");
    assert_eq!(combine(Element::I8, "Add", 0x7f, 1), -128);
    assert_eq!(combine(Element::I32, "Max", 0xffff_ffff, 1), 1);
    assert_eq!(combine(Element::U32, "Max", 0xffff_ffff, 1), 0xffff_ffff);
}

#[test]
fn scatters_outside_the_table() {
    for (mode, row) in [(1, 99), (2, 3), (3, 2)] {
        let flags = [("Coalesce", 0), ("ScatterAtomicOp", 0), ("ScatterOOB", mode)];
        let got = scattered(Arch::A3, Element::F32, &[6.0, 0.0], &flags).0.expect("legal");
        let mut wanted = vec![1.0; 12];
        wanted[..3].copy_from_slice(&[4.0, 5.0, 6.0]);
        if row < 4 {
            wanted[row * 3..row * 3 + 3].copy_from_slice(&[1.0, 2.0, 3.0]);
        }
        assert_eq!(got, wanted);
    }
    let fault = scattered(Arch::A3, Element::F32, &[6.0, 0.0], &[]).0.expect_err("row 6 of 4");
    assert_eq!(fault.rule, Rule::OutsideTensor);
}

#[test]
fn nonsense_is_refused_without_harm() {
    let mut bench = Bench::new(Arch::A3);
    let table = bench.global(Element::F32, [1 << 40, 1 << 40, 1, 1, 1], &[0.0; 4]);
    let huge = Tile { valid_rows: 1 << 32, valid_cols: 1 << 32, ..vec(Element::F32, 1, 8, 0) };
    let index = vec(Element::I32, 1, 8, 64);
    bench.put(&index, &[-1.0; 8]);
    for name in ["MGATHER", "MSCATTER"] {
        for dst in [&huge, &index] {
            let mut operands = vec![Operand::Tile(dst.clone()), Operand::Global(table.clone())];
            if name == "MSCATTER" {
                operands.reverse();
            }
            operands.push(Operand::Tile(index.clone()));
            assert!(bench.run(name, operands).is_err());
        }
    }
    let wide = Tile { rows: 1 << 31, cols: 1 << 31, ..vec(Element::F32, 1, 8, 0) };
    assert!(bench.run("TSCATTER", tiles([&wide, &index, &index])).is_err());
    assert!(bench.run("TGATHER", tiles([&huge, &index, &index, &index])).is_err());
    assert!(bench.run("TGATHER", vec![]).is_err());
    assert!(bench.run("MSCATTER", vec![Operand::Global(table)]).is_err());
}
