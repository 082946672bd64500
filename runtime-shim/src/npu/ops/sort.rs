//! Sorting of blocks of 32 values with their indices, and merging of sorted lists.
//!
//! Both work on records of 8 bytes: the value, two zero bytes behind a value of 16 bits, the index as `u32`.
//! Greater values come first.

use std::cmp::Ordering;

use super::gather::{check_window, scratch_holds};
use super::{Apart, Ctx, Done, Fault, Op, Operand, Rule, Tile, Window, illegal, vector};
use crate::Arch;
use crate::npu::element::Element;

/// The instructions.
pub const OPS: &[Op] = &[vector("TSORT32", sort), vector("TMRGSORT", merge)];

/// Operands that may not share bytes: the unit writes records while it still reads values or lists. `TMRGSORT` merges
/// lists (from operand 3) into scratch (operand 2), or blocks of operand 1 into operand 0.
pub const APART: &[Apart] = &[
    ("TSORT32", &[(0, 1), (0, 2), (0, 3), (1, 3), (2, 3)], false),
    ("TMRGSORT", &[(0, 1), (2, 3), (2, 4), (2, 5), (2, 6)], false),
];

/// Values of a block.
const BLOCK: usize = 32;
/// Most blocks or groups that one use of the unit takes.
const REPEATS: usize = 255;

/// A value and its index: the value's bits and its order.
#[derive(Clone, Copy)]
struct Record {
    bits: i64,
    value: f64,
    index: i64,
}

/// Descending; what is not a number lies below (negative) or above (positive) all numbers, as the padding of the
/// device needs.
fn descending(a: f64, b: f64) -> Ordering {
    match b.partial_cmp(&a) {
        Some(order) => order,
        None => rank(b).cmp(&rank(a)),
    }
}

fn rank(value: f64) -> i32 {
    match (value.is_nan(), value.is_sign_negative()) {
        (false, _) => 0,
        (true, true) => -1,
        (true, false) => 1,
    }
}

/// Elements of a record, if the unit takes the type.
fn record_elements(ctx: &Ctx, element: Element) -> Result<usize, Fault> {
    match element {
        Element::F32 => Ok(2),
        Element::F16 => Ok(4),
        other => Err(illegal(format!("{} needs elements of type f32 or f16, found {}", ctx.instr.name, other.name()))),
    }
}

/// Appends a record as unsigned elements of the width of `element`.
fn put(element: Element, record: &Record, out: &mut Vec<i64>) {
    match element {
        Element::F32 => out.extend([record.bits, record.index & 0xffff_ffff]),
        _ => out.extend([record.bits, 0, record.index & 0xffff, record.index >> 16 & 0xffff]),
    }
}

/// Value of bits of an element. Floats of 16 bits keep the sign of what is not a number.
fn value_of(element: Element, bits: i64) -> f64 {
    element.float_of_bits(bits as u64)
}

/// Records held by elements.
fn take(element: Element, elements: &[i64]) -> Record {
    let index = match element {
        Element::F32 => elements[1],
        _ => elements[2] | elements[3] << 16,
    };
    Record { bits: elements[0], value: value_of(element, elements[0]), index }
}

/// Sorts each block of 32 values of each row, equal values by index. One row of indices serves all rows.
///
/// The form with scratch pads the last block with negative NaN; the records of the padding are written too. Their
/// indices, which the device takes from behind the valid ones, are all ones here.
fn sort(ctx: &mut Ctx) -> Done {
    let (dst, src, index) = (ctx.tile(0)?, ctx.tile(1)?, ctx.tile(2)?);
    let width = record_elements(ctx, src.element)?;
    if dst.element != src.element || index.element != Element::U32 {
        return Err(illegal(format!(
            "TSORT32 needs dst of the type of src and indices of type u32, found {}, {} and {}",
            dst.element.name(),
            src.element.name(),
            index.element.name()
        )));
    }
    let (rows, cols) = (dst.valid_rows, src.valid_cols);
    let padded = cols.next_multiple_of(BLOCK);
    if let Some(tmp) = ctx.tile_if(3) {
        if cols % BLOCK != 0 {
            // The whole row is padded in scratch if one copy can move it, else its last block.
            let bytes = src.element.bytes_of(padded);
            // (32-byte blocks of a copy on A5; A3 counts elements).
            let size = if ctx.arch == Arch::A3 { cols } else { src.element.bytes_of(cols) };
            let whole = size <= REPEATS * BLOCK;
            scratch_holds(ctx, tmp, if whole { bytes } else { src.element.bytes_of(BLOCK) });
        }
    } else if cols % BLOCK != 0 {
        return Err(illegal(format!(
            "TSORT32 without scratch needs valid columns of src in multiples of 32, found {cols}"
        )));
    }
    let window = Window { row: 0, col: 0, rows, cols };
    let raw = src.element.raw();
    let bits: Vec<i64> = ctx.read_window(src, window, raw)?;
    let shared = index.valid_rows == 1;
    let indices: Vec<i64> =
        ctx.read_window(index, Window { rows: if shared { rows.min(1) } else { rows }, ..window }, Element::U32)?;
    if let (Some(tmp), true) = (ctx.tile_if(3), cols % BLOCK != 0) {
        ctx.clobber(tmp)?;
    }
    let pad_bits = match src.element {
        Element::F32 => 0xffc0_0000,
        _ => 0xfe00,
    };
    let pad = Record { bits: pad_bits, value: value_of(src.element, pad_bits), index: 0xffff_ffff };
    let stored = (padded * width).min(dst.cols);
    if stored < padded * width {
        let name = ctx.name(dst.site, "tile");
        ctx.report(Rule::OutsideSpace, dst.site, |_| {
            format!(
                "TSORT32 writes whole blocks of records, {} elements a row, to tile {name}, which has {} columns",
                padded * width,
                dst.cols
            )
        });
    }
    let mut out = Vec::with_capacity(rows * stored);
    let mut records: Vec<Record> = Vec::with_capacity(padded);
    for row in 0..rows {
        let line = &bits[row * cols..(row + 1) * cols];
        let numbers = &indices[if shared { 0 } else { row * cols }..][..cols];
        records.clear();
        records.extend(line.iter().zip(numbers).map(|(&bits, &index)| Record {
            bits,
            value: value_of(src.element, bits),
            index,
        }));
        records.resize(padded, pad);
        for block in records.chunks_mut(BLOCK) {
            block.sort_by(|a, b| descending(a.value, b.value).then(a.index.cmp(&b.index)));
        }
        let start = out.len();
        records.iter().for_each(|r| put(src.element, r, &mut out));
        out.truncate(start + stored);
    }
    ctx.write_window(dst, Window { row: 0, col: 0, rows, cols: stored }, raw, &out)
}

/// The form of `TMRGSORT` follows from its operands.
fn merge(ctx: &mut Ctx) -> Done {
    match ctx.operand(1) {
        Operand::Memory(..) => merge_lists(ctx),
        _ => merge_blocks(ctx),
    }
}

/// Checks a tile of records and reads the first `cols` elements of its row as records.
fn read_records(ctx: &mut Ctx, tile: &Tile, cols: usize, width: usize) -> Result<Vec<Record>, Fault> {
    let element = tile.element;
    let window = Window { row: 0, col: 0, rows: 1, cols: cols / width * width };
    let elements: Vec<i64> = ctx.read_window(tile, window, element.raw())?;
    Ok(elements.chunks_exact(width).map(|e| take(element, e)).collect())
}

/// Merges sorted lists: the greatest head first, of equal ones that of the first list. Stops when a list that was
/// not empty is used up, if asked to. Returns what was merged and how much of each list it took.
fn merge_runs(lists: &[&[Record]], stop: bool) -> (Vec<Record>, Vec<usize>) {
    let mut taken = vec![0; lists.len()];
    let mut out = Vec::with_capacity(lists.iter().map(|l| l.len()).sum());
    loop {
        let heads = lists.iter().enumerate().filter_map(|(i, list)| list.get(taken[i]).map(|head| (i, *head)));
        // The first of the least: `min_by` keeps the first of equals.
        let Some((from, head)) = heads.min_by(|a, b| descending(a.1.value, b.1.value)) else { break };
        out.push(head);
        taken[from] += 1;
        if stop && taken[from] == lists[from].len() {
            break;
        }
    }
    (out, taken)
}

/// Checks what both forms ask of their tiles.
fn check_lists(ctx: &mut Ctx, tiles: &[&Tile]) -> Result<usize, Fault> {
    let element = tiles[0].element;
    let width = record_elements(ctx, element)?;
    for tile in tiles {
        if tile.element != element || tile.rows != 1 || !tile.row_major {
            return Err(illegal(format!(
                "TMRGSORT needs row-major tiles of one row of type {}, found {} x {} of type {}",
                element.name(),
                tile.rows,
                tile.cols,
                tile.element.name()
            )));
        }
        check_window(ctx, tile, Window { row: 0, col: 0, rows: 1, cols: tile.valid_cols })?;
    }
    Ok(width)
}

/// Merges two to four lists into scratch, and copies what dst holds from there. When it stops at the end of a list,
/// it says how much of each it took; else it leaves the counts alone (the vendor's simulator always sets them, and
/// stops at the end of dst, where the device merges on).
fn merge_lists(ctx: &mut Ctx) -> Done {
    let dst = ctx.tile(0)?;
    let Operand::Memory(counts, _) = *ctx.operand(1) else {
        return Err(illegal("TMRGSORT needs a place for its counts"));
    };
    let tmp = ctx.tile(2)?;
    let last = ctx.count().saturating_sub(1);
    let stop = ctx.int(last)? != 0;
    let sources: Vec<&Tile> = (3..last).map(|i| ctx.tile(i)).collect::<Result<_, _>>()?;
    if !(2..=4).contains(&sources.len()) {
        return Err(illegal(format!("TMRGSORT merges two to four lists, found {}", sources.len())));
    }
    let width = check_lists(ctx, &[&[dst, tmp], &sources[..]].concat())?;
    let mut lists = Vec::new();
    for &source in &sources {
        lists.push(read_records(ctx, source, source.valid_cols, width)?);
    }
    let views: Vec<&[Record]> = lists.iter().map(Vec::as_slice).collect();
    let (merged, taken) = merge_runs(&views, stop);
    let raw = dst.element.raw();
    let mut out = Vec::with_capacity(merged.len() * width);
    merged.iter().for_each(|r| put(dst.element, r, &mut out));
    let line = |col: usize, cols: usize| Window { row: 0, col, rows: 1, cols };
    ctx.write_window(tmp, line(0, out.len()), raw, &out)?;
    if stop {
        let mut four = [0u8; 8];
        for (place, &count) in four.chunks_exact_mut(2).zip(&taken) {
            place.copy_from_slice(&(count as u16).to_le_bytes());
        }
        counts.store(&four);
    }
    // What lies behind the merged records in scratch is copied as it is.
    let end = dst.valid_cols.min(tmp.cols);
    if out.len() < end {
        let rest = line(out.len(), end - out.len());
        let region = tmp.region(rest);
        let inside = region.bounds().1 <= ctx.spaces.size(tmp.space) as u64;
        if inside && ctx.spaces.bank(tmp.space).first_unwritten(&region).is_none() {
            out.extend(ctx.read_window::<i64>(tmp, rest, raw)?);
        }
    }
    out.truncate(dst.valid_cols);
    ctx.write_window(dst, line(0, out.len()), raw, &out)
}

/// Merges each four neighbouring sorted blocks of `length` elements of src; what is left at the end is not touched.
fn merge_blocks(ctx: &mut Ctx) -> Done {
    let (dst, src) = (ctx.tile(0)?, ctx.tile(1)?);
    let width = check_lists(ctx, &[dst, src])?;
    let length = usize::try_from(ctx.int(2)?).unwrap_or(0);
    if length == 0 || length % 64 != 0 {
        return Err(illegal(format!("TMRGSORT needs blocks of a multiple of 64 elements, found {length}")));
    }
    let groups = src.valid_cols / length.saturating_mul(4);
    if !(1..=REPEATS).contains(&groups) {
        return Err(illegal(format!(
            "TMRGSORT merges 1 to 255 groups of four blocks of {length} elements, and src has {} valid columns",
            src.valid_cols
        )));
    }
    let cols = groups * length * 4;
    let records = read_records(ctx, src, cols, width)?;
    let mut out = Vec::with_capacity(cols);
    for group in records.chunks_exact(length * 4 / width) {
        let blocks: Vec<&[Record]> = group.chunks_exact(length / width).collect();
        merge_runs(&blocks, false).0.iter().for_each(|r| put(dst.element, r, &mut out));
    }
    ctx.write_window(dst, Window { row: 0, col: 0, rows: 1, cols }, dst.element.raw(), &out)
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, tiles, vec};
    use super::*;
    use crate::npu::abi::Slot;

    /// A row of records as elements of their raw type: value bits and index of each.
    fn raw(tile: &Tile) -> Tile {
        Tile { element: tile.element.raw(), ..tile.clone() }
    }

    fn records(bench: &mut Bench, tile: &Tile) -> Vec<(f64, f64)> {
        let elements = bench.get(&raw(tile));
        let width = if tile.element == Element::F32 { 2 } else { 4 };
        let value = |e: &[f64]| tile.element.float_of_bits(e[0] as u64);
        let index = |e: &[f64]| if width == 2 { e[1] } else { e[2] + e[3] * 65536.0 };
        elements
            .chunks_exact(width)
            .map(|e| {
                assert!(width == 2 || e[1] == 0.0, "two zero bytes");
                (value(e), index(e))
            })
            .collect()
    }

    fn put_records(bench: &mut Bench, tile: &Tile, list: &[(f64, f64)]) {
        let mut elements = Vec::new();
        for &(value, index) in list {
            let mut bytes = [0u8; 8];
            tile.element.encode(&[value], &mut bytes, 0, 1);
            bytes[4..].copy_from_slice(&(index as u32).to_le_bytes());
            raw(tile).element.decode(&bytes, 0, 1, 8 / tile.element.storage_bytes(), &mut elements);
        }
        bench.put(&raw(tile), &elements);
    }

    fn width(element: Element) -> usize {
        8 / element.storage_bytes()
    }

    fn valid(tile: &Tile, rows: usize, cols: usize) -> Tile {
        Tile { valid_rows: rows, valid_cols: cols, ..tile.clone() }
    }

    /// Values with equal ones among them, in no order.
    fn scores(count: usize) -> Vec<f64> {
        (0..count).map(|i| f64::from((i * 37 % 23) as u32) - 11.0).collect()
    }

    fn wanted(values: &[f64], indices: &[f64]) -> Vec<(f64, f64)> {
        let mut pairs: Vec<(f64, f64)> = values.iter().copied().zip(indices.iter().copied()).collect();
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.total_cmp(&b.1)));
        pairs
    }

    #[test]
    fn blocks_are_sorted_into_records() {
        for element in [Element::F32, Element::F16] {
            for shared in [false, true] {
                let mut bench = Bench::new(Arch::A3);
                let src = vec(element, 2, 64, 0);
                let index = valid(&vec(Element::U32, 2, 64, 4096), if shared { 1 } else { 2 }, 64);
                let dst = vec(element, 2, 64 * width(element), 8192);
                let values = scores(128);
                let numbers: Vec<f64> = (0..128).rev().map(|i| f64::from(i) + 70000.0).collect();
                bench.put(&src, &values);
                bench.put(&index, &numbers[..64 * index.valid_rows]);
                bench.run("TSORT32", tiles([&dst, &src, &index])).expect("legal");
                let got = records(&mut bench, &dst);
                for (block, got) in got.chunks(32).enumerate() {
                    let at = block * 32;
                    let from = if shared { at % 64 } else { at };
                    assert_eq!(got, wanted(&values[at..at + 32], &numbers[from..from + 32]), "block {block}");
                }
                assert!(bench.broken().is_empty());
            }
        }
    }

    #[test]
    fn a_tail_is_padded_with_what_sorts_last() {
        for (element, nan) in [(Element::F32, 0xffc0_0000u32), (Element::F16, 0xfe00)] {
            let mut bench = Bench::new(Arch::A5);
            let src = valid(&vec(element, 2, 64, 0), 2, 45);
            let index = valid(&vec(Element::U32, 2, 64, 4096), 2, 45);
            let dst = vec(element, 2, 64 * width(element), 8192);
            let tmp = vec(element, 1, 64, 16384);
            let mut values = scores(90);
            values[40] = f64::NEG_INFINITY;
            bench.put(&src, &values);
            bench.put(&index, &(0..90).map(f64::from).collect::<Vec<_>>());
            bench.run("TSORT32", tiles([&dst, &src, &index, &tmp])).expect("legal");
            let got = records(&mut bench, &dst);
            let numbers: Vec<f64> = (0..90).map(f64::from).collect();
            assert_eq!(got[..32], wanted(&values[..32], &numbers[..32]));
            assert_eq!(got[32..45], wanted(&values[32..45], &numbers[32..45]));
            assert_eq!(got[44].0, f64::NEG_INFINITY);
            assert!(got[45..64].iter().all(|r| r.0.is_nan()));
            assert_eq!(bench.get(&raw(&dst))[45 * width(element)], f64::from(nan));
            // Scratch and dst that cannot hold the padding.
            let small = vec(element, 1, 32, 16384);
            let exact = vec(element, 2, 48 * width(element), 8192);
            bench.run("TSORT32", tiles([&dst, &src, &index, &small])).expect("runs");
            bench.run("TSORT32", tiles([&exact, &src, &index, &tmp])).expect("runs");
            assert_eq!(records(&mut bench, &exact)[..32], wanted(&values[..32], &numbers[..32]));
            assert_eq!(bench.broken(), ["PTO-0802", "PTO-0802"][..1]);
        }
    }

    #[test]
    fn sorts_that_are_not_allowed() {
        let mut bench = Bench::new(Arch::A3);
        let src = valid(&vec(Element::F32, 1, 64, 0), 1, 45);
        let index = vec(Element::U32, 1, 64, 4096);
        bench.put(&src, &scores(45));
        bench.put(&index, &[0.0; 64]);
        let dst = vec(Element::F32, 1, 128, 8192);
        assert!(bench.run("TSORT32", tiles([&dst, &src, &index])).is_err(), "a tail without scratch");
        let whole = vec(Element::I32, 1, 64, 0);
        let out = vec(Element::I32, 1, 128, 8192);
        assert!(bench.run("TSORT32", tiles([&out, &whole, &index])).is_err(), "integers");
        let signed = Tile { element: Element::I32, ..index };
        assert!(bench.run("TSORT32", tiles([&dst, &src, &signed, &src])).is_err(), "signed indices");
    }

    #[test]
    fn what_is_no_number_has_a_place() {
        let mut list = [1.0, f64::NAN, f64::NEG_INFINITY, -f64::NAN, f64::INFINITY, 0.0];
        list.sort_by(|a, b| descending(*a, *b));
        assert!(list[0].is_nan() && list[0].is_sign_positive());
        assert_eq!(list[1..5], [f64::INFINITY, 1.0, 0.0, f64::NEG_INFINITY]);
        assert!(list[5].is_nan() && list[5].is_sign_negative());
        assert_eq!(descending(0.0, -0.0), Ordering::Equal);
        assert!(value_of(Element::F16, 0xfe00).is_sign_negative());
    }

    /// A sorted list whose values step down from `top`; indices from `first`.
    fn list(top: f64, step: f64, count: usize, first: f64) -> Vec<(f64, f64)> {
        (0..count).map(|i| (top - step * i as f64, first + i as f64)).collect()
    }

    fn lists(bench: &mut Bench, element: Element, all: &[Vec<(f64, f64)>]) -> Vec<Tile> {
        let mut tiles = Vec::new();
        for (i, list) in all.iter().enumerate() {
            let tile = vec(element, 1, list.len() * width(element), 4096 * i as u64);
            put_records(bench, &tile, list);
            tiles.push(tile);
        }
        tiles
    }

    fn merge_with(
        bench: &mut Bench,
        [dst, tmp]: [&Tile; 2],
        sources: &[Tile],
        counts: &mut [u16; 4],
        stop: bool,
    ) -> Done {
        let counts = Operand::Memory(Slot(counts.as_mut_ptr().cast()), 8);
        let mut operands = vec![Operand::Tile(dst.clone()), counts, Operand::Tile(tmp.clone())];
        operands.extend(sources.iter().cloned().map(Operand::Tile));
        operands.push(Operand::Int(i64::from(stop), Element::Bool));
        bench.run("TMRGSORT", operands)
    }

    #[test]
    fn lists_are_merged() {
        for element in [Element::F32, Element::F16] {
            for ways in 2..=4 {
                let mut bench = Bench::new(Arch::A3);
                let all: Vec<Vec<(f64, f64)>> = (0..ways)
                    .map(|i| list(100.0 - i as f64, 2.0 + i as f64, 8 * (ways - i), 1000.0 * i as f64))
                    .collect();
                let sources = lists(&mut bench, element, &all);
                let total: usize = all.iter().map(Vec::len).sum();
                let tmp = vec(element, 1, total * width(element), 20480);
                let dst = vec(element, 1, total * width(element), 40960);
                let mut counts = [9; 4];
                merge_with(&mut bench, [&dst, &tmp], &sources, &mut counts, false).expect("legal");
                let mut wanted = all.concat();
                wanted.sort_by(|a, b| b.0.total_cmp(&a.0));
                assert_eq!(records(&mut bench, &dst), wanted, "stable: of equals the first list's");
                assert_eq!(records(&mut bench, &tmp), wanted);
                assert_eq!(counts, [9; 4], "left alone");
                // A destination that holds the greatest only.
                let top = valid(&dst, 1, 8 * width(element));
                bench.put(&raw(&dst), &vec![7.0; total * width(element)]);
                merge_with(&mut bench, [&top, &tmp], &sources, &mut counts, true).expect("legal");
                assert_eq!(records(&mut bench, &top), wanted[..8]);
                assert_eq!(bench.get(&raw(&dst))[8 * width(element)..], vec![7.0; (total - 8) * width(element)]);
                assert!(bench.broken().is_empty());
            }
        }
    }

    #[test]
    fn a_merge_stops_when_a_list_ends() {
        let mut bench = Bench::new(Arch::A5);
        let all = [list(10.0, 1.0, 4, 0.0), list(8.5, 3.0, 4, 100.0), list(9.5, 0.25, 8, 200.0)];
        let sources = lists(&mut bench, Element::F32, &all);
        let [tmp, dst] = [20480, 40960].map(|at| vec(Element::F32, 1, 32, at));
        bench.put(&tmp, &[3.0; 32]);
        let mut counts = [9; 4];
        merge_with(&mut bench, [&dst, &tmp], &sources, &mut counts, true).expect("legal");
        // 10 | 9.5 9.25 9.0(200s) ... the third list ends at 7.75, before 7 of the first and 5.5 of the second.
        assert_eq!(counts, [3, 1, 8, 0]);
        let got = records(&mut bench, &dst);
        assert_eq!(got[0], (10.0, 0.0));
        assert_eq!(got[11], (7.75, 207.0));
        assert_eq!(bench.get(&dst)[24..], [3.0; 8], "the rest of scratch");
        assert!(bench.broken().is_empty());
    }

    #[test]
    fn neighbouring_blocks_are_merged() {
        for (element, length, groups) in [(Element::F32, 64, 2), (Element::F16, 128, 1)] {
            let mut bench = Bench::new(Arch::A3);
            let per_block = length / width(element);
            let blocks: Vec<Vec<(f64, f64)>> = (0..groups * 4 + 1)
                .map(|b| list(50.0 + (b * 7 % 5) as f64, 1.0, per_block, 100.0 * b as f64))
                .collect();
            let src = vec(element, 1, length * blocks.len(), 0);
            put_records(&mut bench, &src, &blocks.concat());
            let dst = vec(element, 1, length * blocks.len(), 8192);
            bench.put(&raw(&dst), &vec![7.0; length * blocks.len()]);
            let run = |bench: &mut Bench, length: i64| {
                let more = vec![Operand::Int(length, Element::U32)];
                bench.run("TMRGSORT", [tiles([&dst, &src]), more].concat())
            };
            run(&mut bench, length as i64).expect("legal");
            for group in 0..groups {
                let mut wanted = blocks[group * 4..group * 4 + 4].concat();
                wanted.sort_by(|a, b| b.0.total_cmp(&a.0));
                let here = Tile { address: 8192 + (group * per_block * 32) as u64, ..valid(&dst, 1, length * 4) };
                let here = Tile { cols: length * 4, ..here };
                assert_eq!(records(&mut bench, &here), wanted);
            }
            assert_eq!(bench.get(&raw(&dst))[groups * length * 4..], vec![7.0; length]);
            for bad in [0, 60, 32, -64, 64 * 64] {
                assert!(run(&mut bench, bad).is_err(), "{bad}");
            }
        }
    }

    #[test]
    fn merges_that_are_not_allowed() {
        let mut bench = Bench::new(Arch::A3);
        let sources = lists(&mut bench, Element::F32, &[list(9.0, 1.0, 8, 0.0), list(9.0, 1.0, 8, 0.0)]);
        let dst = vec(Element::F32, 1, 32, 40960);
        let mut counts = [0; 4];
        let small = vec(Element::F32, 1, 24, 20480);
        let fault = merge_with(&mut bench, [&dst, &small], &sources, &mut counts, false).expect_err("small scratch");
        assert_eq!(fault.rule, Rule::OutsideSpace);
        let rows = vec(Element::F32, 2, 32, 20480);
        assert!(merge_with(&mut bench, [&dst, &rows], &sources, &mut counts, false).is_err());
        let half = vec(Element::F16, 1, 64, 20480);
        assert!(merge_with(&mut bench, [&dst, &half], &sources, &mut counts, false).is_err());
        let tmp = vec(Element::F32, 1, 32, 20480);
        assert!(merge_with(&mut bench, [&dst, &tmp], &sources[..1], &mut counts, false).is_err());
        let huge = Tile { valid_cols: 1 << 40, ..dst.clone() };
        assert!(merge_with(&mut bench, [&dst, &tmp], &[huge, dst.clone()], &mut counts, false).is_err());
    }
}
