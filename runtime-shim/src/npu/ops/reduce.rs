//! Reductions of rows and columns, and operations that spread a row or a column over a tile.
//!
//! Sums and products are taken in the order of the elements, as the source of the vendor's simulator has them. (Its
//! loops over a row allow the compiler to reorder them: clang does, gcc does not. The device adds up a row as a tree.)

use super::elementwise::{dividing, greater, holds, lesser, room, scratch};
use super::gather::scratch_holds;
use super::{Apart, Ctx, Done, Fault, Op, Rule, illegal, vector};
use crate::Arch;
use crate::npu::abi::{BoxLayout, Site, Space, Tile};
use crate::npu::element::{Element, Lane};
use crate::npu::layout::Window;

/// The instructions.
pub const OPS: &[Op] = &[
    // dst, src, tmp
    vector("TROWSUM", |c| reduce_rows::<RowSum>(c, Scratch::Sums)),
    vector("TROWPROD", |c| reduce_rows::<Product>(c, Scratch::Block)),
    vector("TROWMAX", |c| reduce_rows::<Maximum>(c, Scratch::Repeat)),
    vector("TROWMIN", |c| reduce_rows::<Minimum>(c, Scratch::Repeat)),
    // dst, src; or for TCOLSUM dst, src, tmp, whether pairwise
    vector("TCOLSUM", reduce_columns::<Sum>),
    vector("TCOLPROD", reduce_columns::<Product>),
    vector("TCOLMAX", reduce_columns::<Maximum>),
    vector("TCOLMIN", reduce_columns::<Minimum>),
    // index, src, tmp; or value, index, src, tmp
    vector("TROWARGMAX", |c| find(c, Axis::Row, true)),
    vector("TROWARGMIN", |c| find(c, Axis::Row, false)),
    vector("TCOLARGMAX", |c| find(c, Axis::Column, true)),
    vector("TCOLARGMIN", |c| find(c, Axis::Column, false)),
    // dst, src
    vector("TROWEXPAND", expand_column),
    vector("TCOLEXPAND", expand_row),
    // dst, src0, src1, tmp (or none): one source is a column
    vector("TROWEXPANDADD", |c| spread(c, Axis::Column, |a, b| a + b, i64::wrapping_add, u64::wrapping_add)),
    vector("TROWEXPANDSUB", |c| spread(c, Axis::Column, |a, b| a - b, i64::wrapping_sub, u64::wrapping_sub)),
    vector("TROWEXPANDMUL", |c| spread(c, Axis::Column, |a, b| a * b, i64::wrapping_mul, u64::wrapping_mul)),
    vector("TROWEXPANDDIV", |c| spread_quotient(c, Axis::Column)),
    vector("TROWEXPANDMAX", |c| spread(c, Axis::Column, greater, i64::max, u64::max)),
    vector("TROWEXPANDMIN", |c| spread(c, Axis::Column, lesser, i64::min, u64::min)),
    vector("TROWEXPANDEXPDIF", |c| spread_exponential(c, Axis::Column)),
    // dst, src0, src1: one source is a row
    vector("TCOLEXPANDADD", |c| spread(c, Axis::Row, |a, b| a + b, i64::wrapping_add, u64::wrapping_add)),
    vector("TCOLEXPANDSUB", |c| spread(c, Axis::Row, |a, b| a - b, i64::wrapping_sub, u64::wrapping_sub)),
    vector("TCOLEXPANDMUL", |c| spread(c, Axis::Row, |a, b| a * b, i64::wrapping_mul, u64::wrapping_mul)),
    vector("TCOLEXPANDDIV", |c| spread_quotient(c, Axis::Row)),
    vector("TCOLEXPANDMAX", |c| spread(c, Axis::Row, greater, i64::max, u64::max)),
    vector("TCOLEXPANDMIN", |c| spread(c, Axis::Row, lesser, i64::min, u64::min)),
    vector("TCOLEXPANDEXPDIF", |c| spread_exponential(c, Axis::Row)),
];

/// Operands that may not share bytes, all because of scratch tiles.
pub const APART: &[Apart] = &[
    ("TROWPROD", &[(0, 2), (1, 2)], true),
    ("TROWEXPANDADD", SPREAD, true),
    ("TROWEXPANDSUB", SPREAD, true),
    ("TROWEXPANDMUL", SPREAD, true),
    ("TROWEXPANDDIV", SPREAD, true),
    ("TROWEXPANDMAX", SPREAD, true),
    ("TROWEXPANDMIN", SPREAD, true),
    ("TROWEXPANDEXPDIF", SPREAD, true),
];
const SPREAD: &[(usize, usize)] = &[(0, 3), (1, 3), (2, 3)];

/// Bytes that the vector unit of A3 takes at once.
const REPEAT: usize = 256;
/// Bytes of a block.
const BLOCK: usize = 32;

/// A row or a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Axis {
    Row,
    Column,
}

/// How two partial results make one. Floats are folded in `f32`.
trait Fold {
    /// What a row starts from; its first element if nothing.
    const START: Option<f32> = None;
    fn float(element: Element, a: f32, b: f32) -> f32;
    fn signed(a: i64, b: i64) -> i64;
    /// The same bits as [`Fold::signed`], but where the order of numbers matters.
    fn unsigned(a: u64, b: u64) -> u64 {
        Self::signed(a as i64, b as i64) as u64
    }
}

/// A sum in the element type.
struct Sum;
/// A sum of a row: narrow floats are summed in `f32`, as in the vendor's simulator.
struct RowSum;
struct Product;
struct Maximum;
struct Minimum;

impl Fold for Sum {
    fn float(element: Element, a: f32, b: f32) -> f32 {
        rounded(element, a + b)
    }
    fn signed(a: i64, b: i64) -> i64 {
        a.wrapping_add(b)
    }
}

impl Fold for RowSum {
    const START: Option<f32> = Some(0.0);
    fn float(_: Element, a: f32, b: f32) -> f32 {
        a + b
    }
    fn signed(a: i64, b: i64) -> i64 {
        Sum::signed(a, b)
    }
}

impl Fold for Product {
    fn float(element: Element, a: f32, b: f32) -> f32 {
        rounded(element, a * b)
    }
    fn signed(a: i64, b: i64) -> i64 {
        a.wrapping_mul(b)
    }
}

impl Fold for Maximum {
    fn float(_: Element, a: f32, b: f32) -> f32 {
        if a < b { b } else { a }
    }
    fn signed(a: i64, b: i64) -> i64 {
        a.max(b)
    }
    fn unsigned(a: u64, b: u64) -> u64 {
        a.max(b)
    }
}

impl Fold for Minimum {
    fn float(_: Element, a: f32, b: f32) -> f32 {
        if b < a { b } else { a }
    }
    fn signed(a: i64, b: i64) -> i64 {
        a.min(b)
    }
    fn unsigned(a: u64, b: u64) -> u64 {
        a.min(b)
    }
}

/// Rounded to a type of at most 32 bits.
#[inline]
fn rounded(element: Element, value: f32) -> f32 {
    if element == Element::F32 { value } else { element.round(f64::from(value)) as f32 }
}

/// What a reduction of rows does with its scratch tile on A3.
#[derive(Clone, Copy)]
enum Scratch {
    /// A block, for every row.
    Block,
    /// The repeats of a row are combined in one repeat, if it has more than one.
    Repeat,
    /// Pairs of repeats are added up there, if a row has more than one; integers are summed in a block.
    Sums,
}

/// Shapes of `f32` that A3 reduces into a column-major column with an eighth of the source as scratch.
const FAST_SHAPES: [(usize, usize); 4] = [(64, 128), (32, 256), (16, 512), (8, 1024)];

/// Loses the contents of the scratch tile of a reduction of rows, and checks its size.
fn row_scratch(ctx: &mut Ctx, dst: &Tile, src: &Tile, kind: Scratch) -> Done {
    if ctx.arch != Arch::A3 {
        return Ok(());
    }
    let tmp = ctx.tile(2)?;
    let width = src.element.storage_bytes();
    let row = src.valid_cols * width;
    let fast = src.element == Element::F32
        && !dst.row_major
        && src.valid() == src.whole()
        && FAST_SHAPES.contains(&(src.rows, src.cols));
    let (rows, bytes) = match kind {
        Scratch::Sums if !src.element.is_float() => (1, BLOCK),
        Scratch::Block => (1, BLOCK),
        _ if row <= REPEAT => return Ok(()),
        _ if fast => (1, src.bytes() / 8),
        Scratch::Repeat => (src.valid_rows, REPEAT),
        Scratch::Sums => (src.valid_rows, REPEAT * (row / REPEAT / 2).max(1)),
    };
    let found = match rows {
        1 => tmp.bytes(),
        _ => tmp.cols * tmp.element.storage_bytes(),
    };
    if tmp.rows < rows || found < bytes {
        ctx.report(Rule::OutsideSpace, tmp.site, |c| {
            let name = c.instr.name;
            format!(
                "{name} needs {rows} x {bytes} bytes of scratch for {} x {} elements, found {} x {found}",
                src.valid_rows, src.valid_cols, tmp.rows
            )
        });
    }
    ctx.clobber(tmp)
}

/// The first column of the valid rows.
fn first_column(tile: &Tile) -> Window {
    Window { cols: 1, ..tile.valid() }
}

/// Checks the types of source and destination of a reduction.
fn same_type(ctx: &Ctx, dst: &Tile, src: &Tile) -> Done {
    let wanted = format!("the {} of dst", dst.element.name());
    holds(ctx, src, src.element == dst.element, &wanted)
}

/// An instruction whose operands have shapes that do not fit.
fn shapes(ctx: &Ctx, what: &str, dst: &Tile, src: &Tile) -> Fault {
    illegal(format!(
        "{}: {what}; valid are {} x {} of dst and {} x {} of the source",
        ctx.instr.name, dst.valid_rows, dst.valid_cols, src.valid_rows, src.valid_cols
    ))
}

/// Reports operands whose shapes do not fit, where the device goes on with the shape of dst.
fn misfit(ctx: &mut Ctx, what: &str, dst: &Tile, src: &Tile) {
    let message = shapes(ctx, what, dst, src).message;
    ctx.report(Rule::Illegal, src.site, |_| message);
}

/// Whether there is nothing to do: a vector core without a part of the work has empty tiles. The vendor's debug builds
/// stop at some, others do nothing.
fn nothing(dst: &Tile, src: &Tile) -> bool {
    let empty = |tile: &Tile| tile.valid_rows == 0 || tile.valid_cols == 0;
    empty(dst) && empty(src)
}

/// dst[r][0] = fold of row r.
fn reduce_rows<F: Fold>(ctx: &mut Ctx, kind: Scratch) -> Done {
    let (dst, src) = (ctx.tile(0)?, ctx.tile(1)?);
    same_type(ctx, dst, src)?;
    if nothing(dst, src) {
        return Ok(());
    }
    if src.valid_rows != dst.valid_rows || src.valid_rows == 0 || src.valid_cols == 0 {
        return Err(shapes(ctx, "rows must be as many, and not empty", dst, src));
    }
    let (element, column, cols) = (src.element, first_column(dst), src.valid_cols);
    if element.is_float() {
        let x = ctx.read::<f32>(src)?;
        let rows = x.chunks_exact(cols).map(|row| match F::START {
            Some(start) => row.iter().fold(start, |a, &b| F::float(element, a, b)),
            None => row[1..].iter().fold(row[0], |a, &b| F::float(element, a, b)),
        });
        let results: Vec<f32> = rows.collect();
        row_scratch(ctx, dst, src, kind)?;
        ctx.write_window(dst, column, element, &results)
    } else {
        let x = ctx.read::<i64>(src)?;
        let unsigned = element.is_unsigned();
        let rows = x.chunks_exact(cols).map(|row| match unsigned {
            true => row[1..].iter().fold(row[0] as u64, |a, &b| F::unsigned(a, b as u64)) as i64,
            false => row[1..].iter().fold(row[0], |a, &b| F::signed(a, b)),
        });
        let results: Vec<i64> = rows.collect();
        row_scratch(ctx, dst, src, kind)?;
        ctx.write_window(dst, column, element, &results)
    }
}

/// dst[0][c] = fold of column c.
fn reduce_columns<F: Fold>(ctx: &mut Ctx) -> Done {
    let (dst, src) = (ctx.tile(0)?, ctx.tile(1)?);
    same_type(ctx, dst, src)?;
    if src.valid_cols != dst.valid_cols {
        return Err(shapes(ctx, "columns must be as many", dst, src));
    }
    if src.valid_rows == 0 || src.valid_cols == 0 {
        return Ok(());
    }
    let element = src.element;
    match element {
        e if e.is_float() => fold_columns(ctx, dst, src, |a: f32, b| F::float(element, a, b)),
        e if e.is_unsigned() => fold_columns(ctx, dst, src, |a: i64, b| F::unsigned(a as u64, b as u64) as i64),
        _ => fold_columns(ctx, dst, src, F::signed),
    }
}

/// One row after the other; or pairwise, if a scratch tile (operand 2) and a flag say so. The vendor's simulator never
/// adds pairwise.
fn fold_columns<L: Lane>(ctx: &mut Ctx, dst: &Tile, src: &Tile, f: impl Fn(L, L) -> L) -> Done {
    let (mut rows, cols) = (src.valid_rows, src.valid_cols);
    let mut x = ctx.read::<L>(src)?;
    let pairwise = ctx.tile_if(2).is_some() && ctx.int(3)? != 0 && rows > 1;
    let mut merge = |to: usize, a: usize, b: usize| {
        for c in 0..cols {
            x[to * cols + c] = f(x[a * cols + c], x[b * cols + c]);
        }
    };
    match pairwise {
        true => {
            // An odd last row goes to the first sum on A3, to the last one on A5.
            let odd = |half: usize| if ctx.arch == Arch::A3 { 0 } else { half - 1 };
            while rows > 1 {
                let half = rows / 2;
                (0..half).for_each(|i| merge(i, 2 * i, 2 * i + 1));
                if rows % 2 == 1 {
                    merge(odd(half), odd(half), rows - 1);
                }
                rows = half;
            }
        }
        false => (1..rows).for_each(|r| merge(0, 0, r)),
    }
    if pairwise {
        let tmp = ctx.tile(2)?;
        if tmp.rows < src.valid_rows / 2 || tmp.cols * tmp.element.storage_bytes() < cols * src.element.storage_bytes()
        {
            return Err(shapes(ctx, "half the rows of the source must fit into the scratch tile", dst, src));
        }
        ctx.clobber(tmp)?;
    }
    ctx.write_window(dst, Window { row: 0, col: 0, rows: 1, cols }, dst.element, &x[..cols])
}

/// Index of the first greatest or least element of each row or column, and its value if there are four operands.
fn find(ctx: &mut Ctx, along: Axis, greatest: bool) -> Done {
    let with_value = ctx.tile_if(3).is_some();
    let at = usize::from(with_value);
    let (index, src) = (ctx.tile(at)?, ctx.tile(at + 1)?);
    holds(ctx, index, !index.element.is_float(), "integers for the index")?;
    let value = if with_value { Some(ctx.tile(0)?) } else { None };
    let lines = match along {
        Axis::Row => src.valid_rows == index.valid_rows,
        Axis::Column => src.valid_cols == index.valid_cols && index.valid_rows == 1,
    };
    if !lines || src.valid_rows == 0 || src.valid_cols == 0 {
        return Err(shapes(ctx, "there must be one index a row or column, and no empty one", index, src));
    }
    if let Some(value) = value {
        same_type(ctx, value, src)?;
    }
    // Columns of unsigned integers are compared as floats of their width on A3, but not in the simulator.
    let element = match (along, ctx.arch, src.element) {
        (Axis::Column, Arch::A3, Element::U16) => Element::F16,
        (Axis::Column, Arch::A3, Element::U32) => Element::F32,
        (_, _, element) => element,
    };
    let beats = |a: f64, b: f64| if greatest { a > b } else { a < b };
    let line = |tile: &Tile| match along {
        Axis::Row => first_column(tile),
        Axis::Column => Window { rows: 1, ..tile.valid() },
    };
    let tmp = at + 2;
    let scratched = with_value || along == Axis::Column || src.valid_cols * src.element.storage_bytes() > REPEAT;
    let narrow = along == Axis::Column && ctx.arch == Arch::A3 && !with_value && element.bits() == 16;
    let finish = |ctx: &mut Ctx, mut found: Vec<i64>| -> Done {
        if narrow {
            // The index goes through f16, rounded away from 0 (to a multiple of 2 from 2048 on).
            found.iter_mut().filter(|i| **i > 2048).for_each(|i| {
                let step = (1 << i.ilog2()) >> 10;
                *i = (*i + step / 2) / step * step;
            });
        }
        if scratched {
            scratch(ctx, tmp)?;
        }
        ctx.write_window(index, line(index), index.element, &found)
    };
    if element.is_float() {
        let (found, values) = extremes(ctx, src, element, along, beats)?;
        finish(ctx, found)?;
        value.map_or(Ok(()), |value| ctx.write_window(value, line(value), element, &values))
    } else {
        // Makes u64 compare as i64.
        let flip = if element == Element::U64 { i64::MIN } else { 0 };
        let beats = |a: i64, b: i64| if greatest { a ^ flip > b ^ flip } else { a ^ flip < b ^ flip };
        let (found, values) = extremes(ctx, src, element, along, beats)?;
        finish(ctx, found)?;
        value.map_or(Ok(()), |value| ctx.write_window(value, line(value), element, &values))
    }
}

/// For each row or column, the index of the first element that no later one beats, and that element.
fn extremes<L: Lane>(
    ctx: &mut Ctx,
    src: &Tile,
    element: Element,
    along: Axis,
    beats: impl Fn(L, L) -> bool,
) -> Result<(Vec<i64>, Vec<L>), Fault> {
    let (rows, cols) = (src.valid_rows, src.valid_cols);
    let x = ctx.read_window::<L>(src, src.valid(), element)?;
    let (lines, across, length, step) = match along {
        Axis::Row => (rows, cols, cols, 1),
        Axis::Column => (cols, 1, rows, cols),
    };
    Ok((0..lines)
        .map(|line| {
            let at = |i: usize| x[line * across + i * step];
            let best = (1..length).fold(0, |best, i| if beats(at(i), at(best)) { i } else { best });
            (best as i64, at(best))
        })
        .unzip())
}

/// dst[r][c] = src[r][0], bit by bit.
fn expand_column(ctx: &mut Ctx) -> Done {
    let (dst, src) = (ctx.tile(0)?, ctx.tile(1)?);
    same_type(ctx, dst, src)?;
    if nothing(dst, src) {
        return Ok(());
    }
    let raw = dst.element.raw();
    // A3 also spreads a row over the rows of a tile that is one block wide.
    let is_row = ctx.arch == Arch::A3
        && src.row_major
        && src.rows == 1
        && src.cols == dst.rows
        && dst.cols * dst.element.storage_bytes() == BLOCK
        && src.valid() == src.whole()
        && dst.valid() == dst.whole();
    let window = match is_row {
        true => src.whole(),
        false if src.valid_rows == dst.valid_rows && src.valid_cols > 0 => first_column(src),
        false => return Err(shapes(ctx, "rows must be as many, and not empty", dst, src)),
    };
    let count = room(ctx, dst, dst.valid())?;
    let column = ctx.read_window::<i64>(src, window, raw)?;
    let mut values = Vec::with_capacity(count);
    column.iter().for_each(|&v| values.resize(values.len() + dst.valid_cols, v));
    ctx.write_window(dst, dst.valid(), raw, &values)
}

/// dst[r][c] = src[0][c], bit by bit.
fn expand_row(ctx: &mut Ctx) -> Done {
    let (dst, src) = (ctx.tile(0)?, ctx.tile(1)?);
    same_type(ctx, dst, src)?;
    if dst.valid_rows == 0 || dst.valid_cols == 0 || src.valid_rows == 0 || src.valid_cols == 0 {
        return Ok(());
    }
    if src.valid_cols < dst.valid_cols {
        misfit(ctx, "the source must have the columns of dst", dst, src);
    }
    room(ctx, dst, dst.valid())?;
    let raw = dst.element.raw();
    let row = ctx.read_window::<i64>(src, Window { rows: 1, ..dst.valid() }, raw)?;
    ctx.write_window(dst, dst.valid(), raw, &row.repeat(dst.valid_rows))
}

/// dst = f(src0, src1), where one source is like the destination and the other a vector: a column (column-major, or a
/// row-major tile one block wide, whose columns repeat) or a row.
fn spread(
    ctx: &mut Ctx,
    vector: Axis,
    float: impl Fn(f64, f64) -> f64,
    signed: impl Fn(i64, i64) -> i64,
    unsigned: impl Fn(u64, u64) -> u64,
) -> Done {
    match ctx.tile(0)?.element {
        e if e.is_float() => combine(ctx, vector, float),
        e if e.is_unsigned() => combine(ctx, vector, |a: i64, b: i64| unsigned(a as u64, b as u64) as i64),
        _ => combine(ctx, vector, signed),
    }
}

fn spread_quotient(ctx: &mut Ctx, vector: Axis) -> Done {
    dividing(ctx, |ctx, signed, unsigned| spread(ctx, vector, |a, b| a / b, signed, unsigned))
}

/// dst = exp(src0 - src1); the difference is rounded first.
fn spread_exponential(ctx: &mut Ctx, vector: Axis) -> Done {
    let dst = ctx.tile(0)?;
    holds(ctx, dst, dst.element.is_float(), "floats")?;
    let element = dst.element;
    combine(ctx, vector, |a: f64, b| libm::exp(element.round(a - b)))
}

/// See [`spread`].
fn combine<L: Lane>(ctx: &mut Ctx, axis: Axis, f: impl Fn(L, L) -> L) -> Done {
    let (dst, src0, src1) = (ctx.tile(0)?, ctx.tile(1)?, ctx.tile(2)?);
    same_type(ctx, dst, src0)?;
    same_type(ctx, dst, src1)?;
    if nothing(dst, src0) && nothing(dst, src1) {
        return Ok(());
    }
    let full = |src: &Tile| src.valid() == dst.valid() && src.row_major;
    let (tile, vector, swapped) = match (full(src0), full(src1)) {
        (true, _) => (src0, src1, false),
        (_, true) => (src1, src0, true),
        _ => return Err(shapes(ctx, "one source must be row-major and have the shape of dst", dst, src0)),
    };
    let window = match axis {
        Axis::Row if vector.valid_rows == 0 => return Err(shapes(ctx, "the row must not be empty", dst, vector)),
        Axis::Row => {
            if vector.valid_cols < dst.valid_cols {
                misfit(ctx, "the row must have the columns of dst", dst, vector);
            }
            Window { rows: 1, ..dst.valid() }
        }
        Axis::Column => {
            // The device walks the blocks of a row-major column by their size.
            let block = BLOCK / dst.element.storage_bytes();
            // A3 takes no row-major one with a scratch tile.
            let blocked = vector.row_major && (ctx.arch != Arch::A3 || ctx.tile_if(3).is_none());
            let width = if blocked { block } else { 1 };
            let column_major = !vector.row_major && vector.box_layout == BoxLayout::None;
            let laid_out = column_major || (width == block && vector.cols == block);
            if !laid_out || vector.valid_cols != width {
                let what =
                    format!("the column must be column-major, or row-major and {block} wide without a scratch tile");
                return Err(shapes(ctx, &what, dst, vector));
            }
            if vector.valid_rows != dst.valid_rows {
                misfit(ctx, "the column must have the rows of dst", dst, vector);
            }
            Window { cols: width, ..dst.valid() }
        }
    };
    let mut x = ctx.read_window::<L>(tile, dst.valid(), dst.element)?;
    let v = ctx.read_window::<L>(vector, window, dst.element)?;
    let f = |x: L, v: L| if swapped { f(v, x) } else { f(x, v) };
    if !x.is_empty() {
        let rows = x.chunks_exact_mut(dst.valid_cols);
        match (axis, window.cols) {
            (Axis::Row, _) => rows.for_each(|row| row.iter_mut().zip(&v).for_each(|(x, &v)| *x = f(*x, v))),
            (Axis::Column, 1) => rows.zip(&v).for_each(|(row, &v)| row.iter_mut().for_each(|x| *x = f(*x, v))),
            (Axis::Column, width) => rows.zip(v.chunks_exact(width)).for_each(|(row, v)| {
                row.chunks_mut(width).for_each(|part| part.iter_mut().zip(v).for_each(|(x, &v)| *x = f(*x, v)));
            }),
        }
    }
    if axis == Axis::Column && !vector.row_major && ctx.arch == Arch::A3 {
        spread_scratch(ctx, dst)?;
    }
    ctx.write(dst, &x)
}

/// A3 writes a block for each element of a column-major column to the scratch tile (operand 3), or without one to the
/// last 8 KiB of UB.
fn spread_scratch(ctx: &mut Ctx, dst: &Tile) -> Done {
    let bytes = spread_bytes(dst.valid_rows);
    let Some(tmp) = ctx.tile_if(3) else {
        return ctx.clobber(&Tile::plain(Space::Vec, Element::U8, 1, bytes, 184 * 1024, Site::NONE));
    };
    scratch_holds(ctx, tmp, bytes);
    ctx.clobber(tmp)
}

/// Bytes that A3 spreads a column of so many rows over: eight rows at a time, all at once up to 255, then 240 a round.
pub(super) fn spread_bytes(rows: usize) -> usize {
    let at_once = if rows < 256 { rows } else { 240 };
    at_once.div_ceil(8) * 8 * BLOCK
}

#[cfg(test)]
mod tests;
