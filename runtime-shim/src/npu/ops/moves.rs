//! Between on-chip memories: moves, windows, changes of layout, padding, im2col, and the registers that steer them.

use super::super::abi::{BoxLayout, Compact, Conv, Image, Instr, Operand, Slot, Space, Tile};
use super::super::element::Element;
use super::super::layout::Window;
use super::super::memory::memory_name;
use super::convert::{Quant, fixpipe};
use super::transfer::{
    Dim, FRACTAL_Z, FRACTAL_Z_3D, Form, GNC1HWC0, GNCHW, NC1HWC0, NCDHW, NCHW, NDC1HWC0, Path, block, fill, flat, form,
    layout_name, pad_bits, quant_words, same_width, spoil,
};
use super::{Apart, Ctx, Done, Fault, Img2col, On, Op, Pipe, Rule, illegal, vector};
use crate::Arch;

/// The instructions.
pub const OPS: &[Op] = &[
    Op { name: "TMOV", on: On::By(move_pipe), run: tmov },
    Op { name: "TMOV_FP", on: On::Pipe(Pipe::Fix), run: tmov },
    Op { name: "TEXTRACT", on: On::By(move_pipe), run: extract },
    Op { name: "TEXTRACT_FP", on: On::Pipe(Pipe::Fix), run: extract },
    Op { name: "TINSERT", on: On::By(move_pipe), run: insert },
    Op { name: "TINSERT_FP", on: On::Pipe(Pipe::Fix), run: insert },
    vector("TTRANS", transpose),
    vector("TCONCAT", concat),
    Op { name: "TFILLPAD", on: On::By(pad_pipe), run: |c| fill_pad(c, false) },
    vector("TFILLPAD_INPLACE", |c| fill_pad(c, false)),
    vector("TFILLPAD_EXPAND", |c| fill_pad(c, true)),
    vector("TINTERLEAVE", interleave),
    vector("TDEINTERLEAVE", deinterleave),
    Op { name: "TIMG2COL", on: On::Pipe(Pipe::Mte1), run: img2col },
    scalar("SETFMATRIX", |c| set_img2col(c, |set, image| set.fmatrix = Some(image))),
    scalar("SET_IMG2COL_RPT", |c| set_img2col(c, |set, image| set.repeat = Some(image))),
    scalar("SET_IMG2COL_PADDING", |c| set_img2col(c, |set, image| set.padding = Some(image.pad_value))),
    scalar("SET_QUANT_SCALAR", set_quant_scalar),
    scalar("SET_QUANT_VECTOR", set_quant_vector),
    scalar("TASSIGN", |_| Ok(())),
    scalar("TRESHAPE", reshape),
    scalar("TSUBVIEW", subview),
    scalar("TGET_SCALE_ADDR", |_| Ok(())),
];

/// Operands that may not share bytes: instruction, pairs of operands, whether only on A3 (where the scratch tile is
/// used).
pub const APART: &[Apart] = &[
    ("TTRANS", &[(0, 1)], false),
    ("TTRANS", &[(0, 2), (1, 2)], true),
    ("TINTERLEAVE", &[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)], false),
    ("TDEINTERLEAVE", &[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)], false),
];

/// An instruction of the scalar pipe.
const fn scalar(name: &'static str, run: fn(&mut Ctx) -> Done) -> Op {
    Op { name, on: On::Pipe(Pipe::S), run }
}

fn space(instr: &Instr, index: usize) -> Option<Space> {
    match instr.operands.get(index) {
        Some(Operand::Tile(tile)) => Some(tile.space),
        Some(Operand::Conv(conv)) => Some(conv.space),
        _ => None,
    }
}

/// Vec to Mat is a copy from UB to L1, which is MTE3's, whatever the library's table of pipes says.
fn move_pipe(instr: &Instr, _: Arch) -> Pipe {
    match (space(instr, 1), space(instr, 0)) {
        (Some(Space::Acc), _) | (Some(Space::Mat), Some(Space::Scaling)) => Pipe::Fix,
        (Some(Space::Mat), _) => Pipe::Mte1,
        (_, Some(Space::Mat)) => Pipe::Mte3,
        _ => Pipe::V,
    }
}

fn pad_pipe(instr: &Instr, _: Arch) -> Pipe {
    if space(instr, 0) == Some(Space::Mat) { Pipe::Mte2 } else { Pipe::V }
}

// ---- copies -------------------------------------------------------------------------------------------------------

/// Row and column, or rows and columns.
type Pair = (usize, usize);

fn window(at: Pair, size: Pair) -> Window {
    Window { row: at.0, col: at.1, rows: size.0, cols: size.1 }
}

fn valid(tile: &Tile) -> Pair {
    (tile.valid_rows, tile.valid_cols)
}

fn no_path(ctx: &Ctx, dst: &Tile, src: &Tile) -> Fault {
    illegal(format!(
        "{}: there is no path on this target from a tile of {} stored as {:?} to one of {} stored as {:?}",
        ctx.instr.name,
        memory_name(src.space),
        form(src),
        memory_name(dst.space),
        form(dst)
    ))
}

fn misaligned(ctx: &Ctx, what: &str, found: usize, unit: usize) -> Fault {
    let message = format!("{}: {what} must be a multiple of {unit}, found {found}", ctx.instr.name);
    Fault { rule: Rule::Misaligned, message }
}

/// Copies part of a tile bit by bit.
fn copy(ctx: &mut Ctx, dst: &Tile, to: Pair, src: &Tile, from: Pair, size: Pair) -> Done {
    if size.0 == 0 || size.1 == 0 {
        return Ok(());
    }
    let values = ctx.read_window::<i64>(src, window(from, size), src.element.raw())?;
    ctx.write_window(dst, window(to, size), dst.element.raw(), &values)
}

/// Copies `needed` rows and columns, and around them what the device moves along: up to `moved`, as far as both tiles
/// reach. What is moved along may be unwritten.
fn copy_with(ctx: &mut Ctx, dst: &Tile, to: Pair, src: &Tile, from: Pair, needed: Pair, moved: Pair) -> Done {
    let reach = |moved: usize, to: usize, dst: usize, from: usize, src: usize| {
        moved.min(dst.saturating_sub(to)).min(src.saturating_sub(from))
    };
    let moved = (reach(moved.0, to.0, dst.rows, from.0, src.rows), reach(moved.1, to.1, dst.cols, from.1, src.cols));
    if moved.0 > needed.0 || moved.1 > needed.1 {
        let moved = (moved.0.max(needed.0), moved.1.max(needed.1));
        ctx.unchecked(|ctx| copy(ctx, dst, to, src, from, moved))?;
    }
    copy(ctx, dst, to, src, from, needed)
}

/// Extents rounded up to whole boxes, or to whole blocks of 32 bytes along the rows of an unboxed tile.
fn boxes(tile: &Tile, size: Pair) -> Pair {
    let (rows, cols) = match form(tile) {
        Form::Rows => (1, block(tile.element)),
        Form::Cols => (block(tile.element), 1),
        _ => tile.inner_box(),
    };
    (size.0.next_multiple_of(rows), size.1.next_multiple_of(cols))
}

// ---- from accumulators --------------------------------------------------------------------------------------------

/// Part of an accumulator tile through the fixpipe: `size` elements from `from` of `src` to `to` of `dst`. The device
/// writes up to `spread` rows and columns; what is behind `size` means nothing.
fn from_acc(ctx: &mut Ctx, dst: &Tile, to: Pair, src: &Tile, from: Pair, size: Pair, spread: Pair) -> Done {
    let name = ctx.instr.name;
    let direct = ctx.arch != Arch::A3;
    let forms: &[Form] = match dst.space {
        Space::Mat if !direct => &[Form::Nz],
        Space::Mat | Space::Vec if direct => &[Form::Nz, Form::Rows, Form::Cols],
        _ => &[],
    };
    if !forms.contains(&form(dst)) {
        return Err(no_path(ctx, dst, src));
    }
    let mode = ctx.flag("AccToVecMode").unwrap_or(0);
    let words = quant_words(ctx, 2, size.1, from.1)?;
    // Single mode names a vector half; dual modes split rows (2) or columns (3) between both.
    let parts: [(usize, Pair, Pair); 2] = match mode {
        0 | 1 => [(mode as usize, (0, 0), size), (0, (0, 0), (0, 0))],
        2 => [(0, (0, 0), (size.0 / 2, size.1)), (1, (size.0 / 2, 0), (size.0 / 2, size.1))],
        _ => [(0, (0, 0), (size.0, size.1 / 2)), (1, (0, size.1 / 2), (size.0, size.1 / 2))],
    };
    if mode >= 2 {
        let split = if mode == 2 { size.0 } else { size.1 };
        if !matches!(words.quant(), Quant::None) || form(dst) == Form::Cols || split % 2 != 0 {
            return Err(illegal(format!(
                "{name}: both vector halves together take an even number of rows or columns, unscaled, and no tile by \
                 columns; found {} x {}",
                size.0, size.1
            )));
        }
    }
    let quant = if dst.element == Element::F32 && src.element == Element::F32 { Quant::None } else { words.quant() };
    let relu = ctx.flag("ReluPreMode") == Some(1);
    let values = ctx.read_window::<f64>(src, window(from, size), src.element)?;
    let values = fixpipe(&values, size.1, src.element, dst.element, quant, relu)?;
    for (half, at, part) in parts.into_iter().filter(|p| p.2.0 * p.2.1 > 0) {
        let list: Vec<f64> = match part == size {
            true => values.clone(),
            false => (at.0..at.0 + part.0).flat_map(|r| &values[r * size.1 + at.1..][..part.1]).copied().collect(),
        };
        let spread = (
            (spread.0 - size.0 + part.0).min(dst.rows.saturating_sub(to.0)),
            (spread.1 - size.1 + part.1).min(dst.cols.saturating_sub(to.1)),
        );
        let write = |ctx: &mut Ctx| {
            if spread.0 > part.0 || spread.1 > part.1 {
                let spread = (spread.0.max(part.0), spread.1.max(part.1));
                spoil(ctx, dst, window(to, spread))?;
            }
            ctx.write_window(dst, window(to, part), dst.element, &list)
        };
        match dst.space {
            Space::Vec => ctx.on_half(half, write)?,
            _ => write(ctx)?,
        }
    }
    Ok(())
}

/// Rows and columns that the fixpipe writes for a whole tile of `size` valid elements: all its rows and whole boxes
/// when the destination is boxed.
fn whole_spread(dst: &Tile, src: &Tile, size: Pair) -> Pair {
    match form(dst) {
        Form::Nz => (src.rows.max(size.0), boxes(dst, size).1),
        _ => size,
    }
}

// ---- TMOV ---------------------------------------------------------------------------------------------------------

fn tmov(ctx: &mut Ctx) -> Done {
    let dst = ctx.tile(0)?;
    if let Operand::Conv(filter) = ctx.operand(1) {
        let src = filter_matrix(ctx, filter)?;
        return to_operand(ctx, dst, &src, (0, 0), boxes(dst, valid(dst)));
    }
    let src = ctx.tile(1)?;
    match (src.space, dst.space) {
        (Space::Acc, _) => from_acc(ctx, dst, (0, 0), src, (0, 0), valid(src), whole_spread(dst, src, valid(src))),
        (Space::Mat, Space::Bias) => to_bias(ctx, dst, src),
        (Space::Mat, Space::Scaling) if dst.element.bits() == 64 && src.rows == 1 => {
            same_width(ctx, dst.element, src.element)?;
            copy_with(ctx, dst, (0, 0), src, (0, 0), valid(dst), (1, dst.cols))
        }
        (Space::Mat, Space::Left | Space::Right | Space::ScaleLeft | Space::ScaleRight) => {
            if (src.rows, src.cols) != (dst.rows, dst.cols) {
                return Err(illegal(format!(
                    "TMOV: dst and src must have one shape, found {} x {} and {} x {}",
                    dst.rows, dst.cols, src.rows, src.cols
                )));
            }
            to_operand(ctx, dst, src, (0, 0), moved(dst))
        }
        (Space::Vec, Space::Vec) => match ctx.tile_if(2) {
            Some(tmp) => to_scales(ctx, dst, src, tmp),
            None => vec_to_vec(ctx, dst, src),
        },
        (Space::Vec, Space::Mat) => vec_to_mat(ctx, dst, (0, 0), src, (0, 0), valid(dst)),
        _ => Err(no_path(ctx, dst, src)),
    }
}

/// A row of L1 to the bias table; f16 and bf16 become f32.
fn to_bias(ctx: &mut Ctx, dst: &Tile, src: &Tile) -> Done {
    use Element::{BF16, F16, F32, I32};
    let narrow = match (src.element, dst.element) {
        (I32, I32) | (F32, F32) => false,
        (F16, F32) => true,
        (BF16, F32) if ctx.arch != Arch::A3 => true,
        (from, to) => {
            return Err(illegal(format!("TMOV: no bias of {} comes from {}", to.name(), from.name())));
        }
    };
    if src.rows != 1 || dst.rows != 1 {
        return Err(illegal(format!("TMOV: a bias is one row, found {} and {}", dst.rows, src.rows)));
    }
    if !narrow {
        return copy_with(ctx, dst, (0, 0), src, (0, 0), valid(dst), (1, dst.cols));
    }
    let convert = |ctx: &mut Ctx, cols: usize| {
        let values = ctx.read_window::<f64>(src, window((0, 0), (1, cols)), src.element)?;
        ctx.write_window(dst, window((0, 0), (1, cols)), dst.element, &values)
    };
    let moved = dst.cols.min(src.cols);
    if moved > dst.valid_cols {
        ctx.unchecked(|ctx| convert(ctx, moved))?;
    }
    convert(ctx, dst.valid_cols)
}

/// Between vector tiles. A3 copies whole blocks of 32 bytes and keeps the layout; A5 copies exactly, and makes boxes.
fn vec_to_vec(ctx: &mut Ctx, dst: &Tile, src: &Tile) -> Done {
    same_width(ctx, dst.element, src.element)?;
    let size = (dst.valid_rows.min(src.valid_rows), dst.valid_cols.min(src.valid_cols));
    let boxing = ctx.arch != Arch::A3 && form(src) == Form::Rows && matches!(form(dst), Form::Nz | Form::Zn);
    if form(dst) != form(src) && !boxing {
        return Err(no_path(ctx, dst, src));
    }
    match ctx.arch == Arch::A3 && form(dst) == Form::Rows {
        true => copy_with(ctx, dst, (0, 0), src, (0, 0), size, boxes(dst, size)),
        false => copy(ctx, dst, (0, 0), src, (0, 0), size),
    }
}

/// Exponents of a block format, as `TQUANT` leaves them, to the order of a scale tile (A5). Axis 1 (the default): the
/// same matrix, with zeros up to whole boxes of 16 rows, in the source too. Axis 0: the transposed matrix.
fn to_scales(ctx: &mut Ctx, dst: &Tile, src: &Tile, tmp: &Tile) -> Done {
    let axis = ctx.instr.operands.iter().skip(3).find_map(|o| match o {
        Operand::Int(axis, _) => Some(*axis),
        _ => None,
    });
    if ctx.arch == Arch::A3 || form(src) != Form::Rows || form(dst) != Form::Zz || dst.element.bits() != 8 {
        return Err(no_path(ctx, dst, src));
    }
    same_width(ctx, dst.element, src.element)?;
    let raw = src.element.raw();
    if axis == Some(0) {
        let (rows, cols) = valid(src);
        let values = ctx.read_window::<i64>(src, src.valid(), raw)?;
        let turned: Vec<i64> =
            (0..cols).flat_map(|c| (0..rows).map(move |r| (r, c))).map(|(r, c)| values[r * cols + c]).collect();
        return ctx.write_window(dst, window((0, 0), (cols, rows)), raw, &turned);
    }
    let (rows, cols) = valid(dst);
    let values = ctx.read_window::<i64>(src, window((0, 0), (rows, cols)), raw)?;
    ctx.clobber(tmp)?;
    let padding = |tile: &Tile| {
        let end = rows.next_multiple_of(16).min(tile.rows);
        window((rows, 0), (end.saturating_sub(rows), cols))
    };
    fill(ctx, src, padding(src), 0)?;
    ctx.write_window(dst, window((0, 0), (rows, cols)), raw, &values)?;
    fill(ctx, dst, padding(dst), 0)
}

/// What the device moves into an operand of the matrix unit: all of it, or whole boxes of the valid part of compact
/// tiles.
fn moved(dst: &Tile) -> Pair {
    if dst.compact == Compact::Normal { boxes(dst, valid(dst)) } else { (dst.rows, dst.cols) }
}

/// From L1 to an operand of the matrix unit or to its scales, `moved` rows and columns. Positions are whole boxes, in
/// both directions when the boxes are turned on the way.
fn to_operand(ctx: &mut Ctx, dst: &Tile, src: &Tile, from: Pair, moved: Pair) -> Done {
    same_width(ctx, dst.element, src.element)?;
    let c0 = block(src.element);
    let side = if src.element.bits() < 16 { c0 } else { 16 };
    let row_of_vector = src.rows == 1 && src.row_major;
    let units = match (dst.space, form(src)) {
        (Space::Left, _) if row_of_vector => (1, 16 * c0),
        (Space::Left, Form::Nz) => (16, c0),
        (Space::Right, Form::Zn) => (c0, 16),
        (Space::Left, Form::Zn) | (Space::Right, Form::Nz) => (side, side),
        (Space::ScaleLeft, Form::Zz) if ctx.arch != Arch::A3 => (if src.rows == 1 { 1 } else { 16 }, 2),
        (Space::ScaleRight, Form::Nn) if ctx.arch != Arch::A3 => (2, 16),
        _ => return Err(no_path(ctx, dst, src)),
    };
    for (what, found, unit) in [("the row", from.0, units.0), ("the column", from.1, units.1)] {
        if found % unit != 0 {
            return Err(misaligned(ctx, what, found, unit));
        }
    }
    copy_with(ctx, dst, (0, 0), src, from, valid(dst), moved)
}

/// A filter in L1 as the matrix it is: rows are channels and positions, columns are filters, boxed by rows.
fn filter_matrix(ctx: &Ctx, filter: &Conv) -> Result<Tile, Fault> {
    let c0 = block(filter.element) as i64;
    let s = &filter.shape;
    let (groups, filters): (&[i64], &[i64]) = match (filter.layout, s.len()) {
        (FRACTAL_Z | FRACTAL_Z_3D, 4) if s[2] == 16 && s[3] == c0 => (&s[..1], &s[1..3]),
        (FRACTAL_Z | FRACTAL_Z_3D, 5) if s[4] == c0 && s[3] % 16 == 0 => (&s[..3], &s[3..4]),
        _ => {
            return Err(illegal(format!(
                "{}: a convolution tile of layout {} and shape {s:?} is no filter whose last dimensions are whole boxes",
                ctx.instr.name,
                layout_name(filter.layout)
            )));
        }
    };
    let product = |of: &[i64]| of.iter().try_fold(1i64, |n, &x| n.checked_mul(x)).unwrap_or(-1);
    let matrix = flat(ctx, filter, product(groups).saturating_mul(c0), product(filters))?;
    Ok(Tile { box_layout: BoxLayout::ColMajor, ..matrix })
}

/// From UB to L1 (A5), keeping the layout. The device copies blocks of 32 bytes; from a tile by rows it takes one run
/// of bytes, so that the rows must follow one another on both sides.
fn vec_to_mat(ctx: &mut Ctx, dst: &Tile, to: Pair, src: &Tile, from: Pair, size: Pair) -> Done {
    same_width(ctx, dst.element, src.element)?;
    let like = form(src);
    let inserts = ctx.instr.name == "TINSERT";
    let known = matches!(like, Form::Rows | Form::Nz) || inserts && matches!(like, Form::Zn | Form::Zz);
    if ctx.arch == Arch::A3 || form(dst) != like || !known {
        return Err(no_path(ctx, dst, src));
    }
    let unit = block(src.element);
    let part = if inserts { to } else { from };
    let moved = match like {
        Form::Rows | Form::Zz => {
            let gapless = size.1 == src.cols && size.1 == dst.cols && part.1 == 0;
            let blocks = size.1 % unit == 0;
            // TINSERT copies row by row when a row is whole blocks.
            let fine = match inserts {
                true => gapless || (blocks && like == Form::Rows) || size.0 == 1 && size.1 < unit,
                false => (gapless || size.0 == 1 && (from.0 == 0 || src.valid_cols == src.cols)) && blocks,
            };
            if !fine {
                return Err(illegal(format!(
                    "{}: rows of {} elements of {} x {} in UB and {} x {} in L1 are not one run of whole blocks of 32 \
                     bytes",
                    ctx.instr.name, size.1, src.rows, src.cols, dst.rows, dst.cols
                )));
            }
            (size.0, size.1.next_multiple_of(unit))
        }
        Form::Nz => {
            let unit = src.inner_box().1;
            if part.1 % unit != 0 {
                return Err(misaligned(ctx, "the column", part.1, unit));
            }
            // Moves put one column of boxes behind the other.
            if !inserts && size.1 > unit && size.0.next_multiple_of(16) != dst.rows {
                return Err(illegal(format!(
                    "{}: the rows of dst must be the valid ones, up to whole boxes, found {} for {}",
                    ctx.instr.name, dst.rows, size.0
                )));
            }
            // The split forms and the moves take whole boxes, a plain insertion takes rows.
            let rows = if inserts && ctx.flag("TInsertMode").is_none() { size.0 } else { size.0.next_multiple_of(16) };
            (rows, size.1.next_multiple_of(unit))
        }
        _ => {
            let unit = src.inner_box().0;
            for (what, found) in [("the row", to.0), ("the number of rows", size.0)] {
                if found % unit != 0 {
                    return Err(misaligned(ctx, what, found, unit));
                }
            }
            size
        }
    };
    copy_with(ctx, dst, to, src, from, size, moved)
}

// ---- TEXTRACT and TINSERT -----------------------------------------------------------------------------------------

/// Row and column operands.
fn position(ctx: &Ctx, index: usize) -> Result<Pair, Fault> {
    let read = |i| ctx.int(i).map(|v| v.max(0) as usize);
    Ok((read(index)?, read(index + 1)?))
}

fn extract(ctx: &mut Ctx) -> Done {
    let dst = ctx.tile(0)?;
    if ctx.tile_if(2).is_some_and(|src| src.space == Space::Vec) {
        return extract_two(ctx);
    }
    let from = position(ctx, 3)?;
    if let Operand::Conv(filter) = ctx.operand(1) {
        let src = filter_matrix(ctx, filter)?;
        return to_operand(ctx, dst, &src, from, boxes(dst, valid(dst)));
    }
    let src = ctx.tile(1)?;
    match (src.space, dst.space) {
        (Space::Acc, _) => {
            let dual = ctx.flag("AccToVecMode").unwrap_or(0) >= 2;
            let size = if dual { valid(src) } else { valid(dst) };
            // Blocks of 16 columns are far apart.
            if from.1 % 16 + size.1 > 16 && from.1 % 16 != 0 {
                return Err(misaligned(ctx, "the column", from.1, 16));
            }
            from_acc(ctx, dst, (0, 0), src, from, size, (size.0, boxes(dst, size).1))
        }
        (Space::Mat, _) => to_operand(ctx, dst, src, from, moved(dst)),
        (Space::Vec, Space::Mat) => vec_to_mat(ctx, dst, (0, 0), src, from, valid(dst)),
        (Space::Vec, Space::Vec) => {
            vec_window(ctx, dst, src, from, valid(dst))?;
            let moved = if ctx.arch != Arch::A3 && form(src) == Form::Nz { boxes(src, valid(dst)).1 } else { 0 };
            copy_with(ctx, dst, (0, 0), src, from, valid(dst), (dst.valid_rows, moved))
        }
        _ => Err(no_path(ctx, dst, src)),
    }
}

/// The rules of a window between vector tiles: one layout, by rows or Nz, and positions at whole blocks unless it is a
/// single element. (A5 moves rows from anywhere.)
fn vec_window(ctx: &mut Ctx, dst: &Tile, src: &Tile, at: Pair, size: Pair) -> Done {
    same_width(ctx, dst.element, src.element)?;
    let a3 = ctx.arch == Arch::A3;
    let (rows, cols) = match (form(dst), form(src)) {
        (Form::Rows, Form::Rows) => (1, if a3 { block(src.element) } else { 1 }),
        (Form::Nz, Form::Nz) => (if a3 { 16 } else { 1 }, src.inner_box().1),
        _ => return Err(no_path(ctx, dst, src)),
    };
    if size == (1, 1) {
        return Ok(());
    }
    if a3 && size.1 * src.element.bits() % 16 != 0 {
        return Err(misaligned(ctx, "the number of bytes in a row", size.1 * src.element.bits() / 8, 2));
    }
    for (what, found, unit) in [("the row", at.0, rows), ("the column", at.1, cols)] {
        if found % unit != 0 {
            return Err(misaligned(ctx, what, found, unit));
        }
    }
    Ok(())
}

/// Two windows of a vector tile by rows, each into boxes.
fn extract_two(ctx: &mut Ctx) -> Done {
    let src = ctx.tile(2)?;
    for (index, at) in [(0, 3), (1, 5)] {
        let (dst, from) = (ctx.tile(index)?, position(ctx, at)?);
        same_width(ctx, dst.element, src.element)?;
        if form(src) != Form::Rows || form(dst) != Form::Nz {
            return Err(no_path(ctx, dst, src));
        }
        copy(ctx, dst, (0, 0), src, from, valid(dst))?;
        let odd = dst.element.bits() == 8 && dst.valid_cols % 2 == 1 && valid(dst) != (1, 1);
        if ctx.arch == Arch::A3 && odd && from.1 % block(dst.element) == 0 {
            // An odd number of bytes goes through a window of UB that no kernel declares: 64 bytes a row, at most 8 KiB.
            let rows = dst.valid_rows.min(128);
            let hidden = Tile {
                element: Element::U8,
                box_layout: BoxLayout::None,
                row_major: true,
                rows,
                cols: 64,
                address: 0x2e000,
                slot: Slot(std::ptr::null_mut()),
                ..dst.clone()
            };
            ctx.clobber(&hidden)?;
        }
    }
    Ok(())
}

fn insert(ctx: &mut Ctx) -> Done {
    let (dst, src, to) = (ctx.tile(0)?, ctx.tile(1)?, position(ctx, 3)?);
    let size = valid(src);
    match (src.space, dst.space) {
        (Space::Acc, _) => {
            let unit = boxes(dst, (1, 1)).1;
            if form(dst) == Form::Nz && to.1 % unit != 0 && to.1 % unit + size.1 > unit {
                return Err(misaligned(ctx, "the column", to.1, unit));
            }
            from_acc(ctx, dst, to, src, (0, 0), size, whole_spread(dst, src, size))
        }
        (Space::Vec, Space::Mat) => vec_to_mat(ctx, dst, to, src, (0, 0), size),
        (Space::Vec, Space::Vec) => {
            vec_window(ctx, dst, src, to, size)?;
            let moved = if ctx.arch != Arch::A3 && form(src) == Form::Nz { boxes(src, size).1 } else { 0 };
            copy_with(ctx, dst, to, src, (0, 0), size, (size.0, moved))
        }
        _ => Err(no_path(ctx, dst, src)),
    }
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

// ---- im2col -------------------------------------------------------------------------------------------------------

/// Which set of registers a `SetFmatrixMode` names, and whether the instruction uses it as it is.
fn register_set(ctx: &Ctx) -> (usize, bool) {
    let mode = ctx.flag("SetFmatrixMode").unwrap_or(2);
    ((mode % 2) as usize, mode >= 2)
}

/// The sets that repetition and padding go to: A3 has these registers once.
fn shared(arch: Arch, index: usize) -> std::ops::Range<usize> {
    if arch == Arch::A3 { 0..2 } else { index..index + 1 }
}

/// Sets a register of im2col loads; in the automatic modes TIMG2COL sets them itself.
fn set_img2col(ctx: &mut Ctx, set: fn(&mut Img2col, Image)) -> Done {
    let image = ctx.conv(0)?.image;
    let (index, manual) = register_set(ctx);
    let sets = if ctx.instr.name == "SETFMATRIX" { index..index + 1 } else { shared(ctx.arch, index) };
    if manual {
        sets.for_each(|index| set(&mut ctx.registers.img2col[index], image));
    }
    Ok(())
}

/// Rows are positions of the filter on the map, columns are channels in groups of C0, within them taps of the filter.
/// The map and its borders come from the registers (the vendor's simulator takes them from the tile), the filter from
/// the tile. The device fills whole groups of columns and whole boxes of rows.
fn img2col(ctx: &mut Ctx) -> Done {
    let (dst, src) = (ctx.tile(0)?, ctx.conv(1)?);
    same_width(ctx, dst.element, src.element)?;
    let (pos_m, pos_k) = (ctx.int(2)?.max(0), ctx.int(3)?.max(0));
    let (index, manual) = register_set(ctx);
    let image = &src.image;
    if !manual {
        // The device sets its registers, which stay.
        ctx.registers.img2col[index].fmatrix = Some(*image);
        for set in shared(ctx.arch, index) {
            let set = &mut ctx.registers.img2col[set];
            (set.padding, set.repeat) = (Some(image.pad_value), Some(*image));
        }
    }
    let set = &ctx.registers.img2col[index];
    let map =
        set.fmatrix.ok_or_else(|| illegal("TIMG2COL: SETFMATRIX was not called, and the mode is a manual one"))?;
    let (pad_value, repeat) = (set.padding.unwrap_or(0), set.repeat.map_or(1, |r| r.repeat[0]));
    if image.transpose || repeat > 1 {
        return Err(illegal("TIMG2COL: neither transposed nor repeated loads are simulated"));
    }
    let c0 = block(src.element) as i64;
    let s = &src.shape;
    let (images, depth, groups) = match (src.layout, s.len()) {
        (NC1HWC0, 4 | 5) => (s[0], 1, s[1]),
        (NDC1HWC0, 5 | 6) => (s[0], s[1], s[2]),
        _ => {
            return Err(illegal(format!(
                "TIMG2COL: a feature map has layout NC1HWC0 or NDC1HWC0, found {} with shape {s:?}",
                layout_name(src.layout)
            )));
        }
    };
    let groups = if image.channels > 0 { groups.min((image.channels + c0 - 1) / c0) } else { groups };
    let plane_groups = if src.layout == NC1HWC0 { s[1] } else { s[2] };
    let ([height, width], [fh, fw]) = (map.map, image.filter);
    let [left, right, top, bottom] = map.pad;
    let along = |extent: i64, filter: i64, dilation: i64, stride: i64| {
        let room = extent - dilation * (filter - 1) - 1;
        if stride < 1 || filter < 1 || room < 0 { 0 } else { room / stride + 1 }
    };
    let out_h = along(height + top + bottom, fh, image.dilation[0], image.stride[0]);
    let out_w = along(width + left + right, fw, image.dilation[1], image.stride[1]);
    if out_h < 1 || out_w < 1 {
        return Err(illegal(format!(
            "TIMG2COL: a filter of {fh} x {fw} with dilation {:?} and stride {:?} does not fit on a map of {height} x \
             {width}",
            image.dilation, image.stride
        )));
    }
    let volume =
        [images, depth, plane_groups, height, width, c0].iter().try_fold(1i64, |n, &x| n.checked_mul(x.max(0)));
    let buffer = flat(ctx, src, 1, volume.unwrap_or(i64::MAX))?;
    let (rows, cols) = (dst.valid_rows, dst.valid_cols.next_multiple_of(c0 as usize).min(dst.cols));
    if dst.valid_rows > dst.rows || dst.valid_cols > dst.cols {
        return Err(illegal("TIMG2COL: the valid part of dst is larger than dst"));
    }
    // Where each element comes from, if it lies on the map.
    let source = |row: usize, col: usize| {
        let (m, k) = (pos_m + row as i64, pos_k + col as i64);
        let (position, at_depth) = (m % (out_h * out_w), m / (out_h * out_w));
        let (n, d) = (at_depth / depth.max(1), at_depth % depth.max(1));
        let (c1, tap) = (k / (c0 * fh * fw), k / c0 % (fh * fw));
        let y = position / out_w * image.stride[0] + tap / fw * image.dilation[0] - top;
        let x = position % out_w * image.stride[1] + tap % fw * image.dilation[1] - left;
        let inside = n < images && c1 < groups && (0..height).contains(&y) && (0..width).contains(&x);
        inside.then(|| (((((n * depth + d) * plane_groups + c1) * height + y) * width + x) * c0 + k % c0) as usize)
    };
    let from: Vec<Option<usize>> = (0..rows).flat_map(|r| (0..cols).map(move |c| source(r, c))).collect();
    let mut used: Vec<usize> = from.iter().flatten().copied().collect();
    used.sort_unstable();
    used.dedup();
    let raw = src.element.raw();
    let first = used.first().copied().unwrap_or(0);
    let mut values = vec![0; used.last().map_or(0, |last| last + 1 - first)];
    for run in used.chunk_by(|a, b| a + 1 == *b) {
        let part = ctx.read_window::<i64>(&buffer, window((0, run[0]), (1, run.len())), raw)?;
        values[run[0] - first..][..part.len()].copy_from_slice(&part);
    }
    let outside = raw.wrap(pad_value as i64);
    let list: Vec<i64> = from.iter().map(|at| at.map_or(outside, |at| values[at - first])).collect();
    let bottom = rows.next_multiple_of(16).min(dst.rows);
    spoil(ctx, dst, window((rows, 0), (bottom - rows, cols)))?;
    ctx.write_window(dst, window((0, 0), (rows, cols)), dst.element.raw(), &list)
}

// ---- registers and views ------------------------------------------------------------------------------------------

/// The second operand is a zero of the result type.
fn set_quant_scalar(ctx: &mut Ctx) -> Done {
    let scale = ctx.float(0)?;
    let element = match ctx.operand(1) {
        Operand::Int(_, element) | Operand::Float(_, element) => *element,
        other => {
            return Err(illegal(format!("SET_QUANT_SCALAR: operand 1 must be of the result type, found {other:?}")));
        }
    };
    ctx.registers.quant_scalar = Some((scale, element));
    Ok(())
}

fn set_quant_vector(ctx: &mut Ctx) -> Done {
    ctx.registers.quant_vector = Some(ctx.tile(0)?.clone());
    Ok(())
}

/// Both views must be of one size.
fn reshape(ctx: &mut Ctx) -> Done {
    let (dst, src) = (ctx.tile(0)?, ctx.tile(1)?);
    match dst.bytes() == src.bytes() && dst.space == src.space {
        true => Ok(()),
        false => Err(Fault {
            rule: Rule::OutsideSpace,
            message: format!("TRESHAPE: dst has {} bytes, src has {}", dst.bytes(), src.bytes()),
        }),
    }
}

/// The valid part of the view must lie in its parent. (Its storage may not: a view keeps the shape of the parent.)
fn subview(ctx: &mut Ctx) -> Done {
    let (dst, src, at) = (ctx.tile(0)?, ctx.tile(1)?, position(ctx, 2)?);
    let end = (at.0 + dst.valid_rows, at.1 + dst.valid_cols);
    if end.0 <= src.rows && end.1 <= src.cols {
        return Ok(());
    }
    let name = ctx.name(src.site, "tile");
    Err(Fault {
        rule: Rule::OutsideSpace,
        message: format!(
            "TSUBVIEW: rows {}..{}, columns {}..{} of tile {name}, which has {} x {}",
            at.0, end.0, at.1, end.1, src.rows, src.cols
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::abi::Site;
    use super::super::bench::{Bench, flag, tile, tiles, vec};
    use super::super::transfer::tests::{Arg, boxed, conv, counting, operands};
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
        for (arch, form) in [(Arch::A3, Form::Rows), (Arch::A5, Form::Rows), (Arch::A3, Form::Nz), (Arch::A5, Form::Nz)]
        {
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
            assert_eq!(
                (found[end - 1] == 7.0, found[end], scratch[0] == 7.0),
                (arch != Arch::A3, 7.0, arch != Arch::A3)
            );
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
            for (arch, name) in [(Arch::A3, "TFILLPAD"), (Arch::A5, "TFILLPAD_INPLACE"), (Arch::A5, "TFILLPAD_EXPAND")]
            {
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
}
