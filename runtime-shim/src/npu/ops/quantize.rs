//! Quantisation: `TQUANT` to bytes by row scales and to the MX block formats, `TDEQUANT`.

use super::super::abi::{BoxLayout, Operand, Tile};
use super::super::element::{Element, Lane};
use super::super::layout::Window;
use super::convert::Rounding;
use super::gather::scratch_holds;
use super::reduce::spread_bytes;
use super::{Apart, Ctx, Done, Fault, Op, illegal, vector};
use crate::Arch;
use Element::{BF16, F4E2M1, F8E4M3, F16, F32, I8, I16, U8};

/// The instructions.
pub const OPS: &[Op] = &[vector("TQUANT", quantise), vector("TDEQUANT", dequantise)];

/// Operands that may not share bytes. On A3 `TQUANT` to bytes
/// (dst, src, scale, scratch, offset) converts through the scratch, which it fills before it reads scale and offset.
pub const APART: &[Apart] = &[("TQUANT", &[(0, 1), (1, 3), (2, 3), (3, 4)], true)];

/// Elements that share an exponent in a block format.
const GROUP: usize = 32;

/// `QuantType`, by value.
const TYPES: [Target; 4] = [
    Target::Block(Format { four_bits: false, nv: false }),
    Target::Block(Format { four_bits: true, nv: false }),
    Target::Bytes(I8),
    Target::Bytes(U8),
];

/// `MxQuantAlg`, by value.
const ALGORITHMS: [Format; 4] = [
    Format { four_bits: false, nv: false },
    Format { four_bits: false, nv: true },
    Format { four_bits: true, nv: false },
    Format { four_bits: true, nv: true },
];

/// What to quantise to.
#[derive(Clone, Copy)]
enum Target {
    /// Bytes: signed without, unsigned with an offset.
    Bytes(Element),
    /// A block format.
    Block(Format),
}

/// A block format: MXFP4 (E2M1) or MXFP8 (E4M3), with the exponent of OCP or of NV.
#[derive(Clone, Copy)]
struct Format {
    four_bits: bool,
    nv: bool,
}

impl Format {
    /// Shared exponent of a group with this largest magnitude (E8M0, 255 for NaN), and what to multiply by.
    fn scale(self, largest: f32) -> (u8, f32) {
        if largest.is_nan() {
            return (255, largest);
        }
        let bits = largest.to_bits();
        let exponent = if self.nv {
            // The first power of two that brings the largest value into range.
            let part = largest * if self.four_bits { 1.0 / 6.0 } else { 1.0 / 448.0 };
            let (exponent, mantissa) = (part.to_bits() >> 23, part.to_bits() & 0x7f_ffff);
            match exponent {
                255 => return (254, 2f32.powi(-127)),
                0 => exponent + u32::from(mantissa > 0x40_0000),
                254 => exponent,
                _ => exponent + u32::from(mantissa > 0),
            }
        } else {
            // Exponents of 448 and 6.
            (bits >> 23).saturating_sub(if self.four_bits { 2 } else { 8 })
        };
        let inverse = match 254 - exponent {
            0 => 2f32.powi(-127),
            power => f32::from_bits(power << 23),
        };
        (exponent as u8, inverse)
    }

    /// The value that stands for `x` in a group with this scale.
    fn encode(self, x: f32, scale: f32, from: Element) -> f64 {
        let y = f64::from(x * scale);
        match self.four_bits {
            false => y.clamp(-448.0, 448.0),
            // There is no NaN: it becomes the largest value.
            true if y.is_nan() => 6.0,
            true => F4E2M1.round(if from == BF16 { BF16.round(y) } else { y }),
        }
    }
}

/// `TQUANT` in all its forms, told apart by the type.
fn quantise(ctx: &mut Ctx) -> Done {
    if let Some(algorithm) = ctx.flag("MxQuantAlg") {
        let format = ALGORITHMS.get(algorithm as usize);
        let format = *format.ok_or_else(|| illegal(format!("TQUANT: algorithm {algorithm} is not available")))?;
        // The axis takes the place of the type; whether exponents interleave may follow.
        let mut numbers = ctx.instr.operands.iter().filter_map(|o| match o {
            Operand::Int(value, _) => Some(*value),
            _ => None,
        });
        return match (numbers.next(), numbers.next().unwrap_or(0) != 0) {
            (Some(0), interleave) => by_columns(ctx, format, interleave),
            (Some(1), false) => by_rows(ctx, format, false),
            (axis, interleave) => {
                Err(illegal(format!("TQUANT: no groups along axis {axis:?} with interleave {interleave}")))
            }
        };
    }
    let kind = ctx.flag("QuantType");
    match kind.and_then(|k| TYPES.get(k as usize)) {
        Some(&Target::Bytes(element)) => bytes(ctx, element),
        Some(&Target::Block(format)) => {
            let nv = ctx.flag("QuantScaleAlg") == Some(1);
            by_rows(ctx, Format { nv, ..format }, ctx.flag("VecStoreMode") == Some(1))
        }
        None => Err(illegal(format!("TQUANT: {kind:?} is no QuantType"))),
    }
}

/// dst = src * scale [+ offset], a scale and an offset a row, rounded to nearest and saturated. Operands: dst, src,
/// scale, [scratch,] offset. On A3 src is overwritten: in the end it holds the rounded values as f16.
fn bytes(ctx: &mut Ctx, to: Element) -> Done {
    let (dst, src, scale) = (ctx.tile(0)?, ctx.tile(1)?, ctx.tile(2)?);
    // With scratch there are six operands, the type included.
    let (tmp, offset) = match ctx.count() {
        0..=5 => (None, ctx.tile_if(3)),
        _ => (ctx.tile_if(3), ctx.tile_if(4)),
    };
    if (dst.element, src.element) != (to, F32) {
        return Err(illegal(format!(
            "TQUANT: f32 becomes {}, found {} and {}",
            to.name(),
            src.element.name(),
            dst.element.name()
        )));
    }
    if offset.is_some() != (to == U8) {
        return Err(illegal("TQUANT: unsigned bytes need an offset, signed ones take none"));
    }
    if ctx.arch == Arch::A3 && tmp.is_none() {
        return Err(illegal("TQUANT to bytes needs a scratch tile on A3"));
    }
    if src.box_layout != BoxLayout::None || !src.row_major {
        return Err(illegal("TQUANT: src must be row-major and unboxed"));
    }
    let window = src.valid();
    let mut values: Vec<f32> = ctx.read_window(src, window, F32)?;
    let scales = row_values(ctx, scale, window.rows)?;
    let offsets = offset.map(|o| row_values(ctx, o, window.rows)).transpose()?;
    for (r, row) in values.chunks_mut(window.cols.max(1)).enumerate() {
        let offset = offsets.as_ref().map(|o| o[r]);
        for x in row {
            // Product and sum are instructions of their own, each rounded to f32.
            *x *= scales[r];
            *x += offset.unwrap_or(0.0);
            *x = x.round_ties_even();
        }
    }
    if let (Arch::A3, Some(tmp)) = (ctx.arch, tmp) {
        // The factors of the rows, spread; then the numbers as integers.
        scratch_holds(ctx, tmp, spread_bytes(window.rows).max(src.rows * src.cols * F32.storage_bytes()));
        ctx.clobber(tmp)?;
        let halves = Tile { element: F16, cols: src.cols.next_multiple_of(16), ..src.clone() };
        let rounded: Vec<f64> = values.iter().map(|&x| Rounding::Rint.float(f64::from(x), F16, true)).collect();
        ctx.write_window(&halves, window, F16, &rounded)?;
    }
    let saturated: Vec<i64> = values.iter().map(|&x| to.saturate(x as i64)).collect();
    ctx.write_window(dst, window, to, &saturated)
}

/// One f32 a row: the first column.
fn row_values(ctx: &mut Ctx, tile: &Tile, rows: usize) -> Result<Vec<f32>, Fault> {
    if tile.element != F32 || tile.valid_rows < rows {
        let name = ctx.instr.name;
        return Err(illegal(format!(
            "{name} needs an f32 for each of {rows} rows, found {} rows of {}",
            tile.valid_rows,
            tile.element.name()
        )));
    }
    ctx.read_window(tile, Window { row: 0, col: 0, rows, cols: 1 }, F32)
}

/// Operands of a block format: dst, src, exponents, largest values, scales.
struct Block<'m> {
    dst: &'m Tile,
    src: &'m Tile,
    exponents: &'m Tile,
    largest: &'m Tile,
    scales: &'m Tile,
}

impl<'m> Block<'m> {
    fn of(ctx: &Ctx<'m>, format: Format) -> Result<Self, Fault> {
        let block = Block {
            dst: ctx.tile(0)?,
            src: ctx.tile(1)?,
            exponents: ctx.tile(2)?,
            largest: ctx.tile(3)?,
            scales: ctx.tile(4)?,
        };
        let Block { dst, src, exponents, .. } = block;
        let to = if format.four_bits { dst.element == F4E2M1 } else { [I8, U8, F8E4M3].contains(&dst.element) };
        if !to || ![F32, F16, BF16].contains(&src.element) || exponents.element.bits() != 8 {
            return Err(illegal(format!(
                "TQUANT: no block format makes {} with exponents {} of {}",
                dst.element.name(),
                exponents.element.name(),
                src.element.name()
            )));
        }
        let all = [dst, src, exponents, block.largest, block.scales];
        if all.iter().any(|t| t.box_layout != BoxLayout::None || !t.row_major) {
            return Err(illegal("TQUANT: all tiles of a block format must be row-major and unboxed"));
        }
        if (dst.rows, dst.cols) != (src.rows, src.cols) {
            return Err(illegal(format!(
                "TQUANT: dst and src must have one shape, found {} x {} and {} x {}",
                dst.rows, dst.cols, src.rows, src.cols
            )));
        }
        Ok(block)
    }

    /// Writes the largest values and the scales of groups, `count` a row, rows `pitch` elements apart. The scales of
    /// 16-bit sources are BF16, whatever the tile says.
    fn write_scratch(&self, ctx: &mut Ctx, groups: &[Group], count: usize, pitch: usize) -> Done {
        let largest: Vec<f64> = groups.iter().map(|g| f64::from(g.largest)).collect();
        let scales: Vec<f64> = groups.iter().map(|g| f64::from(g.scale)).collect();
        let scale_type = if self.scales.element == F16 { BF16 } else { self.scales.element };
        lines(ctx, self.largest, self.largest.element, &largest, count, pitch)?;
        lines(ctx, self.scales, scale_type, &scales, count, pitch)
    }

    /// Type of the values that dst holds; the byte tiles of MXFP8 hold E4M3.
    fn stored(&self) -> Element {
        if self.dst.element == F4E2M1 { F4E2M1 } else { F8E4M3 }
    }
}

/// Writes lines of `count` values, `stride` elements apart, to an unboxed row-major tile taken as one row.
fn lines<L: Lane>(ctx: &mut Ctx, tile: &Tile, element: Element, values: &[L], count: usize, stride: usize) -> Done {
    let flat = Tile { rows: 1, cols: tile.rows * tile.cols, ..tile.clone() };
    // Lines without a gap are one.
    let count = if stride == count { values.len() } else { count };
    for (i, line) in values.chunks(count.max(1)).enumerate() {
        let window = Window { row: 0, col: i * stride, rows: 1, cols: line.len() };
        ctx.write_window(&flat, window, element, line)?;
    }
    Ok(())
}

/// A group of [`GROUP`] values.
#[derive(Clone, Copy)]
struct Group {
    largest: f32,
    exponent: u8,
    scale: f32,
}

impl Group {
    /// Of values of type `from`. NaN is the largest of 16-bit values, which are compared as bits, and is passed over
    /// among f32.
    fn of(values: impl Iterator<Item = f32>, format: Format, from: Element) -> Group {
        let keep_nan = from != F32 || format.four_bits;
        let largest = values.fold(0f32, |largest, x| match x.abs() {
            x if x > largest || (x.is_nan() && keep_nan) => x,
            _ => largest,
        });
        // E2M1 by OCP looks at the upper half of an f32 only.
        let largest = match format.four_bits && !format.nv && !largest.is_nan() {
            true => f32::from_bits(largest.to_bits() & 0xffff_0000),
            false => largest,
        };
        let (exponent, scale) = format.scale(largest);
        Group { largest, exponent, scale }
    }
}

/// Groups of 32 in a row. With exponents in one row they lie one after the other for whole rows of src, padding
/// included; else each row has those of its valid part. `zigzag` stores them a second time, in boxes of 16 x 2.
fn by_rows(ctx: &mut Ctx, format: Format, zigzag: bool) -> Done {
    let block = Block::of(ctx, format)?;
    let (src, rows, valid) = (block.src, block.src.valid_rows, block.src.valid_cols);
    let strided = block.exponents.rows > 1;
    let width = if strided { valid.next_multiple_of(GROUP) } else { src.cols };
    if width % GROUP != 0 || width > src.cols {
        return Err(illegal(format!("TQUANT: rows of {} columns are no multiple of {GROUP}", src.cols)));
    }
    // 16-bit sources are padded with zeros first; the padding of f32 is read as it is.
    let read = if src.element == F32 && !strided { width } else { valid };
    let window = |row, col, rows, cols| Window { row, col, rows, cols };
    let known: Vec<f32> = ctx.read_window(src, window(0, 0, rows, read), src.element)?;
    let mut values = vec![0f32; rows * width];
    for (to, from) in values.chunks_exact_mut(width.max(1)).zip(known.chunks(read.max(1))) {
        to[..read].copy_from_slice(from);
    }
    if src.element != F32 && valid < src.cols {
        let padding = window(0, valid, rows, src.cols - valid);
        ctx.write_window(src, padding, src.element, &vec![0f32; rows * padding.cols])?;
    }
    let groups: Vec<Group> =
        values.chunks_exact(GROUP).map(|g| Group::of(g.iter().copied(), format, src.element)).collect();
    let exponents: Vec<i64> = groups.iter().map(|g| i64::from(g.exponent)).collect();
    // Eight-bit values of an unfinished group end with the valid part.
    let kept = if strided && !format.four_bits { valid } else { width };
    let codes: Vec<f64> = (0..rows * width)
        .filter(|i| i % width < kept)
        .map(|i| format.encode(values[i], groups[i / GROUP].scale, src.element))
        .collect();
    let count = width / GROUP;
    let stride = if strided { block.exponents.cols } else { count };
    lines(ctx, block.exponents, U8, &exponents, count, stride)?;
    block.write_scratch(ctx, &groups, count, count)?;
    ctx.write_window(block.dst, window(0, 0, rows, kept), block.stored(), &codes)?;
    if zigzag {
        let target = ctx.tile(5)?;
        let reordered: Vec<i64> = boxes(rows, count)?.into_iter().map(|i| exponents[i]).collect();
        lines(ctx, target, U8, &reordered, reordered.len(), reordered.len())?;
    }
    Ok(())
}

/// Indices of a row-major matrix in boxes of 16 x 2, row by row of boxes.
fn boxes(rows: usize, cols: usize) -> Result<Vec<usize>, Fault> {
    if !rows.is_multiple_of(16) || !cols.is_multiple_of(2) {
        return Err(illegal(format!("TQUANT: exponents of {rows} x {cols} do not fill boxes of 16 x 2")));
    }
    let mut order = Vec::with_capacity(rows * cols);
    for row in (0..rows).step_by(16) {
        for col in (0..cols).step_by(2) {
            order.extend((row..row + 16).flat_map(|r| [r * cols + col, r * cols + col + 1]));
        }
    }
    Ok(order)
}

/// Groups of 32 in a column; exponents in rows as long as those of src, or, interleaved, those of two groups side by
/// side.
fn by_columns(ctx: &mut Ctx, format: Format, interleave: bool) -> Done {
    let block = Block::of(ctx, format)?;
    let (src, window) = (block.src, block.src.valid());
    let (rows, cols) = (window.rows, window.cols);
    let step = if interleave { 2 * GROUP } else { GROUP };
    if rows % step != 0 {
        return Err(illegal(format!("TQUANT: {rows} rows are no multiple of {step}")));
    }
    if !interleave && block.exponents.cols != src.cols {
        return Err(illegal(format!(
            "TQUANT: exponents must have the {} columns of src, found {}",
            src.cols, block.exponents.cols
        )));
    }
    let values: Vec<f32> = ctx.read_window(src, window, src.element)?;
    let group =
        |g: usize, c: usize| Group::of((0..GROUP).map(|r| values[(g * GROUP + r) * cols + c]), format, src.element);
    let places = (0..rows / GROUP).flat_map(|g| (0..cols).map(move |c| (g, c)));
    let groups: Vec<Group> = places.map(|(g, c)| group(g, c)).collect();
    let scale = |i: usize| groups[i / cols / GROUP * cols + i % cols].scale;
    let codes: Vec<f64> = values.iter().enumerate().map(|(i, &x)| format.encode(x, scale(i), src.element)).collect();
    let exponents: Vec<i64> = if interleave {
        let pairs = groups.chunks_exact((2 * cols).max(1)).map(|two| two.split_at(cols));
        pairs.flat_map(|(a, b)| a.iter().zip(b)).flat_map(|(a, b)| [a, b]).map(|g| i64::from(g.exponent)).collect()
    } else {
        groups.iter().map(|g| i64::from(g.exponent)).collect()
    };
    let count = if interleave { 2 * cols } else { cols };
    lines(ctx, block.exponents, U8, &exponents, count, block.exponents.cols)?;
    block.write_scratch(ctx, &groups, cols, src.cols)?;
    ctx.write_window(block.dst, window, block.stored(), &codes)
}

/// dst = (src - offset) * scale, in f32, a scale and an offset a row. Operands: dst, src, scale, offset. (The vendor's
/// simulator takes further columns of scale and offset for further columns of src; the device has one a row.)
fn dequantise(ctx: &mut Ctx) -> Done {
    let (dst, src, scale, offset) = (ctx.tile(0)?, ctx.tile(1)?, ctx.tile(2)?, ctx.tile(3)?);
    if dst.element != F32 || ![I8, I16].contains(&src.element) {
        return Err(illegal(format!(
            "TDEQUANT: i8 or i16 becomes f32, found {} and {}",
            src.element.name(),
            dst.element.name()
        )));
    }
    let window = dst.valid();
    if src.valid() != window {
        return Err(illegal(format!(
            "TDEQUANT: src and dst must have one valid shape, found {} x {} and {} x {}",
            src.valid_rows, src.valid_cols, dst.valid_rows, dst.valid_cols
        )));
    }
    let mut values: Vec<f32> = ctx.read(src)?;
    let (scales, offsets) = (row_values(ctx, scale, window.rows)?, row_values(ctx, offset, window.rows)?);
    for (r, row) in values.chunks_mut(window.cols.max(1)).enumerate() {
        row.iter_mut().for_each(|x| *x = (*x - offsets[r]) * scales[r]);
    }
    ctx.write(dst, &values)
}

#[cfg(test)]
mod tests {
    use super::super::Rule;
    use super::super::bench::{Bench, flag, tiles, vec};
    use super::*;

    fn column(rows: usize, address: u64) -> Tile {
        Tile { row_major: false, ..vec(F32, rows, 1, address) }
    }

    #[test]
    fn bytes_by_row_scales() {
        for (arch, unsigned) in [(Arch::A3, false), (Arch::A3, true), (Arch::A5, false), (Arch::A5, true)] {
            let mut bench = Bench::new(arch);
            let to = if unsigned { U8 } else { I8 };
            let (mut src, mut dst) = (vec(F32, 2, 16, 0), vec(to, 2, 32, 512));
            (src.valid_cols, dst.valid_cols) = (5, 5);
            let (scale, offset, tmp) = (column(8, 1024), column(8, 1056), vec(F32, 2, 16, 2048));
            bench.put(&src, &[1.0, 2.5, -3.0, 1000.0, 0.25, 1.0, 2.5, -300.0, 1000.0, 0.25]);
            bench.put(&scale, &[2.0, 1.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0]);
            bench.put(&offset, &[10.0, 20.5, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0]);
            let mut operands = tiles([&dst, &src, &scale, &tmp]);
            operands.push(if unsigned { Operand::Tile(offset.clone()) } else { Operand::Null });
            operands.push(flag("QuantType", if unsigned { 3 } else { 2 }));
            bench.run("TQUANT", operands).expect("legal");
            let want = match unsigned {
                false => [2.0, 5.0, -6.0, 127.0, 0.0, 1.0, 2.0, -128.0, 127.0, 0.0],
                true => [12.0, 15.0, 4.0, 255.0, 10.0, 22.0, 23.0, 0.0, 255.0, 21.0],
            };
            assert_eq!(bench.get(&dst), want);
            assert!(bench.get(&Tile { element: F16, cols: 16, ..src.clone() })[0] == want[0] || arch == Arch::A5);
            match arch {
                Arch::A5 => assert_eq!(bench.get(&src)[1], 2.5),
                _ => assert_ne!(bench.get(&src)[1], 2.5),
            }
            // Without scratch, on A5 alone.
            let mut short = tiles([&dst, &src, &scale]);
            short.push(if unsigned { Operand::Tile(offset) } else { Operand::Null });
            short.push(flag("QuantType", if unsigned { 3 } else { 2 }));
            assert_eq!(bench.run("TQUANT", short).is_ok(), arch == Arch::A5);
        }
    }

    struct Setup {
        bench: Bench,
        src: Tile,
        dst: Tile,
        exponents: Tile,
        largest: Tile,
        scales: Tile,
    }

    impl Setup {
        fn new(from: Element, four_bits: bool, rows: usize, cols: usize, exponents: (usize, usize)) -> Setup {
            Setup {
                bench: Bench::new(Arch::A5),
                src: vec(from, rows, cols, 0),
                dst: vec(if four_bits { F4E2M1 } else { I8 }, rows, cols, 0x8000),
                exponents: vec(U8, exponents.0, exponents.1, 0x10000),
                largest: vec(from, exponents.0, exponents.1, 0x14000),
                scales: vec(from, exponents.0, exponents.1, 0x18000),
            }
        }

        fn run(&mut self, rest: Vec<Operand>) -> Done {
            let mut operands = tiles([&self.dst, &self.src, &self.exponents, &self.largest, &self.scales]);
            operands.extend(rest);
            self.bench.run("TQUANT", operands)
        }

        /// The values that dst stands for, before the scale is undone.
        fn codes(&mut self) -> Vec<f64> {
            let element = if self.dst.element == F4E2M1 { F4E2M1 } else { F8E4M3 };
            self.bench.get(&Tile { element, ..self.dst.clone() })
        }
    }

    /// A shared exponent by its definition, from logarithms.
    fn exponent(largest: f64, format: Format) -> f64 {
        let limit: f64 = if format.four_bits { 6.0 } else { 448.0 };
        match format.nv {
            true => (largest / limit).log2().ceil() + 127.0,
            false => largest.log2().floor() - limit.log2().floor() + 127.0,
        }
    }

    #[test]
    fn blocks_along_rows() {
        for (from, four_bits, nv) in
            [(F32, false, false), (F32, false, true), (F16, false, true), (BF16, true, false), (F16, true, true)]
        {
            let format = Format { four_bits, nv };
            let mut s = Setup::new(from, four_bits, 16, 64, (1, 32));
            let x: Vec<f64> =
                (0..1024).map(|i| from.round(((i * 37 % 101) as f64 - 50.0) * 1.37f64.powi(i / 64))).collect();
            s.bench.put(&s.src.clone(), &x);
            let kind = flag("QuantType", u64::from(four_bits));
            let zigzag = vec(U8, 1, 32, 0x1c000);
            let mut rest = vec![Operand::Tile(zigzag.clone()), kind, flag("QuantScaleAlg", u64::from(nv))];
            rest.push(flag("VecStoreMode", 1));
            s.run(rest).expect("legal");
            let (exponents, largest, scales) = (s.exponents.clone(), s.largest.clone(), s.scales.clone());
            let (exponents, largest) = (s.bench.get(&exponents), s.bench.get(&largest));
            let element = if from == F32 { F32 } else { BF16 };
            let scales = s.bench.get(&Tile { element, ..scales });
            let codes = s.codes();
            for (g, group) in x.chunks(32).enumerate() {
                let top = group.iter().fold(0f64, |m, v| m.max(v.abs()));
                let cut = |v: f64| if four_bits && !nv { f64::from_bits(v.to_bits() & !0u64 << 45) } else { v };
                assert_eq!(largest[g], cut(top));
                assert_eq!(exponents[g], exponent(top, format), "{top}");
                assert_eq!(scales[g], 2f64.powf(127.0 - exponents[g]));
                for (i, &v) in group.iter().enumerate() {
                    let near = if four_bits { F4E2M1 } else { F8E4M3 };
                    let limit = near.largest();
                    assert_eq!(codes[g * 32 + i], near.round((v * scales[g]).clamp(-limit, limit)), "{v}");
                }
            }
            // Boxes of 16 x 2: with two groups a row, the order of the rows.
            assert_eq!(s.bench.get(&zigzag), exponents);
            assert!(s.bench.broken().is_empty());
        }
        assert_eq!(boxes(32, 4).expect("whole")[..34].to_vec()[30..], [60, 61, 2, 3]);
        assert!(boxes(8, 4).is_err());
    }

    #[test]
    fn scales_at_the_edges() {
        let f = |four_bits, nv| Format { four_bits, nv };
        let (inf, tiny) = (f32::INFINITY, f32::from_bits(1));
        for (format, largest, want) in [
            (f(false, false), 448.0, (127, 1.0)),
            (f(false, false), 896.0, (128, 0.5)),
            (f(false, false), 0.0, (0, 2f32.powi(127))),
            (f(false, false), tiny, (0, 2f32.powi(127))),
            (f(false, false), inf, (247, 2f32.powi(-120))),
            (f(true, false), 6.0, (127, 1.0)),
            (f(true, false), inf, (253, 2f32.powi(-126))),
            (f(false, true), 448.0, (127, 1.0)),
            (f(false, true), 449.0, (128, 0.5)),
            (f(false, true), 0.0, (0, 2f32.powi(127))),
            (f(false, true), inf, (254, 2f32.powi(-127))),
            (f(true, true), 6.5, (128, 0.5)),
        ] {
            assert_eq!(format.scale(largest), want, "{largest}");
        }
        let (exponent, scale) = f(true, false).scale(f32::NAN);
        assert!(exponent == 255 && scale.is_nan());
        // NaN decides a group of 16-bit values and is passed over among f32.
        let group = |from| Group::of([1.0, f32::NAN, 2.0].into_iter(), f(false, false), from);
        assert_eq!((group(F32).largest, group(BF16).exponent), (2.0, 255));
        // In E2M1 there is no NaN; signs survive.
        assert_eq!(f(true, false).encode(1.0, f32::NAN, BF16), 6.0);
        assert!(f(true, false).encode(-0.01, 1.0, F16).is_sign_negative());
    }

    #[test]
    fn rows_of_exponents_end_with_the_valid_part() {
        for (from, four_bits) in [(F32, false), (BF16, false), (BF16, true)] {
            let mut s = Setup::new(from, four_bits, 2, 128, (2, 32));
            let whole = s.dst.clone();
            s.bench.put(&whole, &[1.0; 256]);
            (s.src.valid_cols, s.dst.valid_cols) = (40, 40);
            let src = s.src.clone();
            s.bench.put(&src, &(0..80).map(f64::from).collect::<Vec<_>>());
            s.run(vec![Operand::Null, flag("QuantType", u64::from(four_bits))]).expect("legal");
            let limit = if four_bits { 6.0 } else { 448.0 };
            let format = Format { four_bits, nv: false };
            let exponents = Tile { valid_cols: 2, ..s.exponents.clone() };
            let want: Vec<f64> = [31.0, 39.0, 71.0, 79.0].iter().map(|&x| exponent(x, format)).collect();
            assert_eq!(s.bench.get(&exponents), want);
            // The scratch is dense.
            let largest = Tile { rows: 1, valid_rows: 1, valid_cols: 4, ..s.largest.clone() };
            assert_eq!(s.bench.get(&largest)[1], 39.0);
            s.dst = whole;
            let codes = s.codes();
            assert!(codes[39].abs() <= limit && codes[39] > 0.0);
            // 16-bit sources are padded with zeros.
            if from == BF16 {
                assert_eq!(s.bench.get(&vec(from, 2, 128, 0))[40..128], [0.0; 88]);
            }
            assert_eq!(codes[64], F8E4M3.round(if four_bits { 1.0 } else { F8E4M3.float_of_bits(1) }));
            assert!(s.bench.broken().is_empty());
        }
    }

    #[test]
    fn blocks_along_columns() {
        for interleave in [false, true] {
            let shape = if interleave { (1, 128) } else { (2, 64) };
            let mut s = Setup::new(F32, false, 64, 64, shape);
            (s.largest, s.scales) = (vec(F32, 2, 64, 0x14000), vec(F32, 2, 64, 0x18000));
            let x: Vec<f64> = (0..4096).map(|i| ((i * 29 % 83) as f64 - 40.0) * f64::from(i / 64 + 1)).collect();
            let src = s.src.clone();
            s.bench.put(&src, &x);
            let mut rest = vec![Operand::Null, Operand::Int(0, Element::I32), flag("MxQuantAlg", 1)];
            if interleave {
                rest.push(Operand::Int(1, Element::Bool));
            }
            s.run(rest).expect("legal");
            let (exponents, codes) = (s.exponents.clone(), s.codes());
            let exponents = s.bench.get(&exponents);
            for g in 0..2 {
                for c in 0..64 {
                    let top = (0..32).fold(0f64, |m, r| m.max(x[(g * 32 + r) * 64 + c].abs()));
                    let want = exponent(top, Format { four_bits: false, nv: true });
                    assert_eq!(exponents[if interleave { 2 * c + g } else { g * 64 + c }], want);
                    let at = (g * 32 + 5) * 64 + c;
                    assert_eq!(codes[at], F8E4M3.round(x[at] * 2f64.powf(127.0 - want)));
                }
            }
            assert!(s.bench.broken().is_empty());
        }
    }

    #[test]
    fn dequantised_by_rows() {
        for from in [I8, I16] {
            let mut bench = Bench::new(Arch::A3);
            let (mut src, mut dst) = (vec(from, 2, 32, 0), vec(F32, 2, 16, 256));
            (src.valid_cols, dst.valid_cols) = (3, 3);
            let (scale, offset) = (vec(F32, 2, 8, 1024), vec(F32, 2, 8, 1152));
            bench.put(&src, &[1.0, -2.0, 100.0, 5.0, 6.0, 7.0]);
            bench.put(&scale, &(0..16).map(|i| if i < 8 { 0.1 } else { 4.0 }).collect::<Vec<_>>());
            bench.put(&offset, &(0..16).map(|i| if i < 8 { 3.0 } else { -0.5 }).collect::<Vec<_>>());
            bench.run("TDEQUANT", tiles([&dst, &src, &scale, &offset])).expect("legal");
            let tenth = |x: f32| f64::from(x * 0.1f32);
            assert_eq!(bench.get(&dst), [tenth(-2.0), tenth(-5.0), tenth(97.0), 22.0, 26.0, 30.0]);
            let fault = bench.run("TDEQUANT", tiles([&src, &src, &scale, &offset])).expect_err("not f32");
            assert!(fault.message.contains("i8 or i16 becomes f32"));
            src.valid_cols = 4;
            assert!(bench.run("TDEQUANT", tiles([&dst, &src, &scale, &offset])).is_err());
        }
    }

    #[test]
    fn operands_that_do_not_fit_are_refused() {
        let kind = |k| vec![Operand::Null, flag("QuantType", k)];
        let (alg, axis) = (|a| flag("MxQuantAlg", a), |a| Operand::Int(a, Element::I32));
        for (change, rest, words) in [
            (0, kind(7), "is no QuantType"),
            (0, vec![], "None is no QuantType"),
            (0, vec![Operand::Null, axis(0), alg(4)], "algorithm 4 is not available"),
            (0, vec![Operand::Null, axis(2), alg(0)], "no groups along axis"),
            (0, vec![Operand::Null, axis(0), alg(0)], "16 rows are no multiple of 32"),
            (0, kind(1), "no block format makes i8"),
            (1, kind(0), "must be row-major"),
            (2, kind(0), "one shape"),
            (3, kind(0), "40 columns are no multiple of 32"),
        ] {
            let mut s = Setup::new(F32, false, 16, 64, (1, 32));
            match change {
                1 => s.src.row_major = false,
                2 => s.dst.cols = 128,
                3 => (s.src, s.dst) = (vec(F32, 16, 40, 0), vec(I8, 16, 40, 0x8000)),
                _ => {}
            }
            let fault = s.run(rest).expect_err(words);
            assert!(fault.message.contains(words), "{}", fault.message);
            assert_eq!(fault.rule, Rule::Illegal);
        }
        let mut bench = Bench::new(Arch::A5);
        for (dst, rows, offset, k, words) in [
            (U8, 2, false, 2, "f32 becomes i8"),
            (U8, 2, false, 3, "need an offset"),
            (I8, 1, false, 2, "an f32 for each of 2 rows"),
        ] {
            let src = vec(F32, 2, 8, 256);
            bench.put(&src, &[1.0; 16]);
            let mut operands = tiles([&vec(dst, 2, 32, 0), &src, &column(rows, 512)]);
            operands.push(if offset { Operand::Tile(column(2, 512)) } else { Operand::Null });
            operands.push(flag("QuantType", k));
            let fault = bench.run("TQUANT", operands).expect_err(words);
            assert!(fault.message.contains(words), "{}", fault.message);
        }
    }
}
