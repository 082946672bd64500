//! Changes of layout on chip: transposition, concatenation, interleaving, padding.

use super::super::abi::{Compact, Conv, Instr, Operand, Space, Tile};
use super::moves::{Pair, boxes, copy, space, valid, window};
use super::transfer::{
    Dim, FRACTAL_Z, FRACTAL_Z_3D, Form, GNC1HWC0, GNCHW, NC1HWC0, NCDHW, NCHW, Path, block, fill, flat, form,
    layout_name, pad_bits, same_width, spoil,
};
use super::{Apart, Ctx, Done, Fault, On, Op, Pipe, Rule, illegal, vector};
use crate::Arch;

/// The instructions.
pub const OPS: &[Op] = &[
    vector("TTRANS", transpose),
    vector("TCONCAT", concat),
    Op { name: "TFILLPAD", on: On::By(pad_pipe), run: |c| fill_pad(c, false) },
    vector("TFILLPAD_INPLACE", |c| fill_pad(c, false)),
    vector("TFILLPAD_EXPAND", |c| fill_pad(c, true)),
    vector("TINTERLEAVE", interleave),
    vector("TDEINTERLEAVE", deinterleave),
];

/// Operands that may not share bytes: instruction, pairs of operands, whether only on A3 (where the scratch tile is
/// used).
pub const APART: &[Apart] = &[
    ("TTRANS", &[(0, 1)], false),
    ("TTRANS", &[(0, 2), (1, 2)], true),
    ("TINTERLEAVE", &[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)], false),
    ("TDEINTERLEAVE", &[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)], false),
];

fn pad_pipe(instr: &Instr, _: Arch) -> Pipe {
    if space(instr, 0) == Some(Space::Mat) { Pipe::Mte2 } else { Pipe::V }
}

// ---- changes of layout --------------------------------------------------------------------------------------------

/// dst(c, r) = src(r, c) over the valid part of src. A3 goes through the scratch tile, in blocks, when the rows of both
/// tiles allow it, and writes whole blocks of 32 bytes.
fn transpose(ctx: &mut Ctx) -> Done {
    if let Operand::Conv(src) = ctx.operand(1) {
        return transpose_conv(ctx, ctx.conv(0)?, src);
    }
    let (dst, src) = (ctx.tile(0)?, ctx.tile(1)?);
    same_width(ctx, dst.element, src.element)?;
    if !src.row_major || src.element.bits() > 32 {
        return Err(illegal(format!(
            "TTRANS: src must be stored by rows with elements of at most 32 bits, found {:?} of {}",
            form(src),
            src.element.name()
        )));
    }
    let (rows, cols) = valid(src);
    let values = ctx.read_window::<i64>(src, src.valid(), src.element.raw())?;
    let turned: Vec<i64> =
        (0..cols).flat_map(|c| (0..rows).map(move |r| (r, c))).map(|(r, c)| values[r * cols + c]).collect();
    let side = if src.element.bits() == 8 { 32 } else { 16 };
    if ctx.arch == Arch::A3 && dst.cols % side == 0 && src.cols % block(src.element) == 0 && rows * cols > 0 {
        if let Some(tmp) = ctx.tile_if(2) {
            let needed = cols * rows.next_multiple_of(side) * src.element.bits() / 8;
            if tmp.bytes() < needed {
                return Err(Fault {
                    rule: Rule::OutsideSpace,
                    message: format!("TTRANS: tmp needs {needed} bytes, found {}", tmp.bytes()),
                });
            }
            ctx.clobber(tmp)?;
        }
        let end = rows.next_multiple_of(block(dst.element)).min(dst.cols);
        spoil(ctx, dst, window((0, rows), (cols, end.saturating_sub(rows))))?;
    }
    ctx.write_window(dst, window((0, 0), (cols, rows)), dst.element.raw(), &turned)
}

/// Layouts of images and filters in UB. The device takes images whose channels fill whole groups of C0.
fn transpose_conv(ctx: &mut Ctx, dst: &Conv, src: &Conv) -> Done {
    same_width(ctx, dst.element, src.element)?;
    let c0 = block(src.element) as i64;
    let (s, d) = (src.shape.as_slice(), dst.shape.as_slice());
    let refuse = |why: &str| {
        illegal(format!(
            "TTRANS: a convolution tile of layout {} and shape {s:?} cannot become one of layout {} and shape {d:?}: {why}",
            layout_name(src.layout),
            layout_name(dst.layout)
        ))
    };
    if s.iter().chain(d).any(|n| !(0..1 << 20).contains(n)) {
        return Err(refuse("the extents are out of range"));
    }
    let up = |c: i64| (c + c0 - 1) / c0;
    // Groups, images, groups of channels, depth, height, width: from a plain image (true) or one split by channels; to
    // a split image or to a filter.
    let (extents, plain, fits) = match (src.layout, dst.layout, s, d) {
        (NCHW, NC1HWC0, &[n, c, h, w], &[dn, c1, dh, dw, k]) => {
            ([1, n, up(c), 1, h, w], true, [dn, c1, dh, dw, k] == [n, up(c), h, w, c0])
        }
        (GNCHW, GNC1HWC0, &[g, n, c, h, w], &[dg, dn, c1, dh, dw, k]) => {
            ([g, n, up(c), 1, h, w], true, [dg, dn, c1, dh, dw, k] == [g, n, up(c), h, w, c0])
        }
        (NC1HWC0, NCHW, &[n, c1, h, w, k], &[dn, c, dh, dw]) => {
            ([1, n, c1, 1, h, w], false, [dn, c, dh, dw, k] == [n, c1 * c0, h, w, c0])
        }
        (GNC1HWC0, GNCHW, &[g, n, c1, h, w, k], &[dg, dn, c, dh, dw]) => {
            ([g, n, c1, 1, h, w], false, [dg, dn, c, dh, dw, k] == [g, n, c1 * c0, h, w, c0])
        }
        (NC1HWC0, FRACTAL_Z, &[n, c1, h, w, k], &[a, n1, n0, dk]) => {
            ([1, n, c1, 1, h, w], false, [a, dk, k] == [c1 * h * w, c0, c0] && n1 * n0 >= n)
        }
        (GNC1HWC0, FRACTAL_Z, &[g, n, c1, h, w, k], &[a, n1, n0, dk]) => {
            ([g, n, c1, 1, h, w], false, [a, dk, k] == [g * c1 * h * w, c0, c0] && n1 * n0 >= n)
        }
        (NCDHW, FRACTAL_Z_3D, &[n, c, depth, h, w], &[a, n1, n0, dk]) => {
            ([1, n, up(c), depth, h, w], true, [a, dk] == [depth * up(c) * h * w, c0] && n1 * n0 >= n)
        }
        _ => return Err(refuse("there is no such path")),
    };
    if !fits {
        return Err(refuse("the shapes do not agree"));
    }
    let channels = match (src.layout, s) {
        (NCHW | NCDHW, _) => s[1],
        (GNCHW, _) => s[2],
        _ => extents[2] * c0,
    };
    let [groups, images, c1, depth, height, width] = extents;
    let area = height * width;
    // Distances of: group, image, group of channels, channel, depth, row, column.
    let image_plain = c1 * c0 * depth * area;
    let plain_at = [images * image_plain, image_plain, c0 * depth * area, depth * area, area, width, 1];
    let image_split = c1 * area * c0;
    let split_at = [images * image_split, image_split, area * c0, 1, 0, width * c0, c0];
    let row = d.get(1).zip(d.get(2)).map_or(0, |(n1, n0)| n1 * n0 * c0);
    let filter_at = [c1 * area * row, c0, area * row, 1, c1 * area * row, width * row, row];
    let source = if plain { plain_at } else { split_at };
    let target = match dst.layout {
        NCHW | GNCHW => plain_at,
        NC1HWC0 | GNC1HWC0 => split_at,
        _ => filter_at,
    };
    let (from, to) = (flat(ctx, src, 1, s.iter().product())?, flat(ctx, dst, 1, d.iter().product())?);
    // The vendor's simulator packs images whose channels do not fill their groups; the device does not.
    if images * groups > 1 && channels % c0 != 0 {
        return Err(refuse("the channels of several images must fill whole groups of C0"));
    }
    let values = ctx.read::<i64>(&Tile { element: src.element.raw(), ..from })?;
    let mut list: Vec<Option<i64>> = vec![None; to.cols];
    for g in 0..c1 {
        let count = c0.min(channels - g * c0);
        let dims: Vec<Dim> = [groups, images, 1, count, depth, height, width]
            .into_iter()
            .zip(target.into_iter().zip(source))
            .map(|(n, (t, s))| Dim::new(n, t, s))
            .collect();
        let mut path = Path::default();
        path.add(&dims, g * target[2], g * source[2])?;
        let mut part = path.gather(&values).into_iter();
        for run in path.runs() {
            (0..run.count).for_each(|i| list[run.start as usize + i * run.step as usize] = part.next());
        }
    }
    // Places that nothing goes to stay as they are.
    let mut at = 0;
    for run in list.chunk_by(|a, b| a.is_some() == b.is_some()) {
        let part: Vec<i64> = run.iter().flatten().copied().collect();
        if !part.is_empty() {
            ctx.write_window(&to, window((0, at), (1, part.len())), to.element.raw(), &part)?;
        }
        at += run.len();
    }
    Ok(())
}

/// Columns of src0, then of src1. With index tiles, column 0 of each row says how many bytes (of the index type) count;
/// what does not fit in the valid columns of dst is dropped.
fn concat(ctx: &mut Ctx) -> Done {
    let (dst, src0, src1) = (ctx.tile(0)?, ctx.tile(1)?, ctx.tile(2)?);
    let rows = dst.valid_rows;
    if src0.valid_rows != rows || src1.valid_rows != rows {
        return Err(illegal(format!(
            "TCONCAT: dst, src0 and src1 must have as many valid rows, found {rows}, {} and {}",
            src0.valid_rows, src1.valid_rows
        )));
    }
    same_width(ctx, dst.element, src0.element)?;
    same_width(ctx, dst.element, src1.element)?;
    let total = match ctx.count() {
        3 => None,
        5 => Some((None, ctx.tile(3)?, ctx.tile(4)?)),
        _ => Some((Some(ctx.tile(3)?), ctx.tile(4)?, ctx.tile(5)?)),
    };
    let Some((out, index0, index1)) = total else {
        let (first, second) = (src0.valid_cols, src1.valid_cols);
        if first + second > dst.cols {
            return Err(illegal(format!("TCONCAT: {first} and {second} columns do not fit in {}", dst.cols)));
        }
        // A3 copies whole blocks.
        if ctx.arch == Arch::A3 && form(dst) == Form::Rows {
            let unit = block(dst.element);
            let end = |at: usize, n: usize| (at + n.next_multiple_of(unit)).min(dst.cols);
            let written = if first % unit == 0 { end(first, second) } else { end(0, first).max(first + second) };
            spoil(ctx, dst, window((0, first + second), (rows, written - first - second)))?;
        }
        let values = ctx.read_window::<i64>(src1, src1.valid(), src1.element.raw())?;
        copy(ctx, dst, (0, 0), src0, (0, 0), (rows, first))?;
        return ctx.write_window(dst, window((0, first), (rows, second)), dst.element.raw(), &values);
    };
    let width = index0.element.bits() as u64 / 8;
    let count = |v: &i64| *v as u64 / width;
    let column = window((0, 0), (rows, 1));
    let counts0 = ctx.read_window::<i64>(index0, column, index0.element)?;
    let counts1 = ctx.read_window::<i64>(index1, column, index1.element)?;
    let limit = dst.valid_cols as u64;
    let mut sums = Vec::with_capacity(rows);
    for (row, (a, b)) in counts0.iter().zip(&counts1).enumerate() {
        let (first, second) = (count(a), count(b));
        sums.push((first.saturating_add(second).min(limit) * width) as i64);
        let first = first.min(limit);
        let second = second.min(limit - first);
        copy(ctx, dst, (row, 0), src0, (row, 0), (1, first as usize))?;
        copy(ctx, dst, (row, first as usize), src1, (row, 0), (1, second as usize))?;
    }
    match out {
        Some(out) => ctx.write_window(out, column, out.element, &sums),
        None => Ok(()),
    }
}

/// Reads tiles of one valid shape, as bits.
fn read_alike<const N: usize>(ctx: &mut Ctx, indices: [usize; N], shape: Pair) -> Result<[Vec<i64>; N], Fault> {
    let mut all = [const { Vec::new() }; N];
    for (list, index) in all.iter_mut().zip(indices) {
        let tile = ctx.tile(index)?;
        check_shape(ctx, tile, index, shape)?;
        *list = ctx.read_window(tile, tile.valid(), tile.element.raw())?;
    }
    Ok(all)
}

fn check_shape(ctx: &Ctx, tile: &Tile, index: usize, shape: Pair) -> Done {
    match valid(tile) == shape {
        true => Ok(()),
        false => Err(illegal(format!(
            "{}: operand {index} must have {} x {} valid elements, found {} x {}",
            ctx.instr.name, shape.0, shape.1, tile.valid_rows, tile.valid_cols
        ))),
    }
}

fn even(ctx: &Ctx, cols: usize) -> Done {
    match cols % 2 {
        0 => Ok(()),
        _ => Err(illegal(format!("{}: the number of columns must be even, found {cols}", ctx.instr.name))),
    }
}

/// Rows of dst0 then dst1: elements of src0 and src1 in turn.
fn interleave(ctx: &mut Ctx) -> Done {
    let (dst1, dst0) = (ctx.tile(0)?, ctx.tile(1)?);
    let (rows, cols) = valid(dst0);
    even(ctx, cols)?;
    check_shape(ctx, dst1, 0, (rows, cols))?;
    let [src1, src0] = read_alike(ctx, [2, 3], (rows, cols))?;
    for (dst, half) in [(dst0, 0), (dst1, cols / 2)] {
        let values: Vec<i64> = (0..rows * cols)
            .map(|i| {
                let (row, col) = (i / cols, i % cols);
                let source = if col % 2 == 0 { &src0 } else { &src1 };
                source[row * cols + half + col / 2]
            })
            .collect();
        ctx.write_window(dst, dst.valid(), dst.element.raw(), &values)?;
    }
    Ok(())
}

/// The inverse of `interleave`: dst0 takes the even elements of the rows of src0 then src1, dst1 the odd ones. With one
/// source, its rows are twice as long.
fn deinterleave(ctx: &mut Ctx) -> Done {
    let (dst1, dst0) = (ctx.tile(0)?, ctx.tile(1)?);
    let (rows, cols) = valid(dst0);
    check_shape(ctx, dst1, 0, (rows, cols))?;
    let rows_of: Vec<Vec<i64>> = match ctx.tile_if(3) {
        Some(_) => {
            even(ctx, cols)?;
            let [src1, src0] = read_alike(ctx, [2, 3], (rows, cols))?;
            (0..rows).map(|r| [&src0[r * cols..][..cols], &src1[r * cols..][..cols]].concat()).collect()
        }
        None => {
            let [src] = read_alike(ctx, [2], (rows, 2 * cols))?;
            (0..rows).map(|r| src[2 * r * cols..][..2 * cols].to_vec()).collect()
        }
    };
    for (dst, odd) in [(dst0, 0), (dst1, 1)] {
        let values: Vec<i64> = rows_of.iter().flat_map(|row| row.iter().skip(odd).step_by(2)).copied().collect();
        ctx.write_window(dst, dst.valid(), dst.element.raw(), &values)?;
    }
    Ok(())
}

// ---- padding ------------------------------------------------------------------------------------------------------

/// Copies the valid part of src and fills the rest of its rows, and the rows of dst below them down to the last valid
/// one, with the pad value of dst. (The vendor's simulator fills all rows of dst; the device stops at the valid ones.)
fn fill_pad(ctx: &mut Ctx, expand: bool) -> Done {
    let name = ctx.instr.name;
    let (dst, src) = (ctx.tile(0)?, ctx.tile(1)?);
    if dst.space == Space::Mat {
        return fill_pad_mat(ctx, dst);
    }
    same_width(ctx, dst.element, src.element)?;
    let mode = ctx.flag("TFillPadMode").unwrap_or(0);
    let expand = expand || mode == 2;
    let in_place = name == "TFILLPAD_INPLACE" || mode == 1;
    let fits = match expand {
        true => dst.rows >= src.rows && dst.cols >= src.cols,
        false => (dst.rows, dst.cols) == (src.rows, src.cols),
    };
    if !fits || dst.pad == 0 || dst.element.bits() > 32 || form(dst) != Form::Rows || form(src) != Form::Rows {
        return Err(illegal(format!(
            "{name}: dst must have a pad value, elements of at most 32 bits and the shape of src (at least, for \
             TFILLPAD_EXPAND), both by rows; found {} x {} and {} x {}",
            dst.rows, dst.cols, src.rows, src.cols
        )));
    }
    if in_place && dst.address != src.address {
        return Err(illegal(format!(
            "{name}: dst and src must be one buffer, found bytes {} and {}",
            dst.address, src.address
        )));
    }
    if dst.valid_rows == 0 || dst.valid_cols == 0 {
        return Ok(());
    }
    let size = valid(src);
    // A3 takes the rest of a block of 32 bytes from src when both have one pad value: TLOAD has padded it.
    let kept = match ctx.arch == Arch::A3 && dst.pad == src.pad {
        true => size.1.next_multiple_of(block(dst.element)).min(src.cols),
        false => size.1,
    };
    let bits = pad_bits(dst.element, dst.pad);
    match in_place {
        // Nothing moves, but what is kept must be there.
        true => drop(ctx.read_window::<i64>(src, window((0, size.1), (size.0, kept - size.1)), src.element.raw())?),
        false => copy(ctx, dst, (0, 0), src, (0, 0), (size.0, kept))?,
    }
    fill(ctx, dst, window((0, kept), (size.0, dst.cols.saturating_sub(kept))), bits)?;
    fill(ctx, dst, window((size.0, 0), (dst.valid_rows.saturating_sub(size.0), dst.cols)), bits)
}

/// Zeros around the valid part of a tile of L1 in Nz: below it (down to whole boxes only, with `RowAlignedPadding`),
/// and in the boxes to its right. The rest of its last boxes was zeroed by TLOAD.
fn fill_pad_mat(ctx: &mut Ctx, dst: &Tile) -> Done {
    if form(dst) != Form::Nz || dst.pad > 1 || !matches!(ctx.flag("PadValue"), None | Some(0 | 1)) {
        return Err(illegal("TFILLPAD: a tile of L1 is padded with zeros, in Nz"));
    }
    let (rows, cols) = valid(dst);
    let edge = boxes(dst, (rows, cols)).1.min(dst.cols);
    let aligned = dst.compact == Compact::RowAlignedPadding;
    let bottom = if aligned { rows.next_multiple_of(16).min(dst.rows) } else { dst.rows };
    fill(ctx, dst, window((rows, 0), (bottom.saturating_sub(rows), edge)), 0)?;
    match aligned {
        true => Ok(()),
        false => fill(ctx, dst, window((0, edge), (dst.rows, dst.cols - edge)), 0),
    }
}
