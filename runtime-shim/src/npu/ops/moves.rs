//! Between on-chip memories: moves, windows, changes of layout, padding, im2col, and the registers that steer them.

use super::super::abi::{BoxLayout, Compact, Conv, Image, Instr, Operand, Slot, Space, Tile};
use super::super::element::Element;
use super::super::layout::Window;
use super::super::memory::memory_name;
use super::convert::{Quant, fixpipe};
use super::transfer::{
    FRACTAL_Z, FRACTAL_Z_3D, Form, NC1HWC0, NDC1HWC0, block, fill, flat, form, layout_name, quant_words, same_width,
    spoil,
};
use super::{Ctx, Done, Fault, Img2col, On, Op, Pipe, Rule, illegal, scalar};
use crate::Arch;

/// The instructions.
pub const OPS: &[Op] = &[
    Op { name: "TMOV", on: On::By(move_pipe), run: tmov },
    Op { name: "TMOV_FP", on: On::Pipe(Pipe::Fix), run: tmov },
    Op { name: "TEXTRACT", on: On::By(move_pipe), run: extract },
    Op { name: "TEXTRACT_FP", on: On::Pipe(Pipe::Fix), run: extract },
    Op { name: "TINSERT", on: On::By(move_pipe), run: insert },
    Op { name: "TINSERT_FP", on: On::Pipe(Pipe::Fix), run: insert },
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

pub(super) fn space(instr: &Instr, index: usize) -> Option<Space> {
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

// ---- copies -------------------------------------------------------------------------------------------------------

/// Row and column, or rows and columns.
pub(super) type Pair = (usize, usize);

pub(super) fn window(at: Pair, size: Pair) -> Window {
    Window { row: at.0, col: at.1, rows: size.0, cols: size.1 }
}

pub(super) fn valid(tile: &Tile) -> Pair {
    (tile.valid_rows, tile.valid_cols)
}

pub(super) fn no_path(ctx: &Ctx, dst: &Tile, src: &Tile) -> Fault {
    illegal(format!(
        "{}: there is no path on this target from a tile of {} stored as {:?} to one of {} stored as {:?}",
        ctx.instr.name,
        memory_name(src.space),
        form(src),
        memory_name(dst.space),
        form(dst)
    ))
}

pub(super) fn misaligned(ctx: &Ctx, what: &str, found: usize, unit: usize) -> Fault {
    let message = format!("{}: {what} must be a multiple of {unit}, found {found}", ctx.instr.name);
    Fault { rule: Rule::Misaligned, message }
}

/// Copies part of a tile bit by bit.
pub(super) fn copy(ctx: &mut Ctx, dst: &Tile, to: Pair, src: &Tile, from: Pair, size: Pair) -> Done {
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
pub(super) fn boxes(tile: &Tile, size: Pair) -> Pair {
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
            let blocks = size.1.is_multiple_of(unit);
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
pub(super) fn position(ctx: &Ctx, index: usize) -> Result<Pair, Fault> {
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
    if a3 && !(size.1 * src.element.bits()).is_multiple_of(16) {
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
mod tests;
