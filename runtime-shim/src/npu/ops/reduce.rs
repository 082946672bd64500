//! Reductions of rows and columns, and operations that spread a row or a column over a tile.
//!
//! Sums and products are taken in the order of the elements, as the source of the vendor's simulator has them. (Its
//! loops over a row allow the compiler to reorder them: clang does, gcc does not. The device adds up a row as a tree.)

use super::elementwise::{dividing, greater, holds, lesser, room, scratch};
use super::{Apart, Ctx, Done, Fault, Op, Rule, illegal, vector};
use crate::Arch;
use crate::npu::abi::{BoxLayout, Compact, Site, Slot, Space, Tile};
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
    fn unsigned(a: u64, b: u64) -> u64;
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
    fn unsigned(a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }
}

impl Fold for RowSum {
    const START: Option<f32> = Some(0.0);
    fn float(_: Element, a: f32, b: f32) -> f32 {
        a + b
    }
    fn signed(a: i64, b: i64) -> i64 {
        a.wrapping_add(b)
    }
    fn unsigned(a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }
}

impl Fold for Product {
    fn float(element: Element, a: f32, b: f32) -> f32 {
        rounded(element, a * b)
    }
    fn signed(a: i64, b: i64) -> i64 {
        a.wrapping_mul(b)
    }
    fn unsigned(a: u64, b: u64) -> u64 {
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
    let bytes = dst.valid_rows.div_ceil(8).min(30) * 8 * BLOCK;
    let Some(tmp) = ctx.tile_if(3) else {
        return ctx.clobber(&Tile {
            space: Space::Vec,
            element: Element::U8,
            row_major: true,
            box_layout: BoxLayout::None,
            fractal_bytes: 512,
            compact: Compact::Null,
            rows: 1,
            cols: bytes,
            valid_rows: 1,
            valid_cols: bytes,
            address: 184 * 1024,
            pad: 0,
            slot: Slot(std::ptr::null_mut()),
            site: Site::NONE,
        });
    };
    let found = tmp.bytes();
    if found < bytes {
        ctx.report(Rule::OutsideSpace, tmp.site, |c| {
            format!("{} needs {bytes} bytes of scratch, found {found}", c.instr.name)
        });
    }
    ctx.clobber(tmp)
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, tiles, vec};
    use super::super::{Operand, Rule};
    use super::*;
    use Element::{BF16, F16, F32, I8, I16, I32, U8, U16, U32, U64};

    /// A column-major column.
    fn column(element: Element, rows: usize, address: u64) -> Tile {
        Tile { row_major: false, ..vec(element, rows, 1, address) }
    }

    /// Numbers without a pattern, integers or not, in the range of the type.
    fn data(element: Element, count: usize) -> Vec<f64> {
        let mut state = 12345u32;
        let mut next = || {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            f64::from(state >> 8) / f64::from(1 << 24)
        };
        (0..count)
            .map(|_| match element {
                e if e.is_float() => e.round(next() * 8.0 - 4.0),
                e if e.is_unsigned() => (next() * 200.0).floor(),
                _ => (next() * 200.0).floor() - 100.0,
            })
            .collect()
    }

    /// Result of adding (or multiplying) `x` to `acc`, in the type.
    fn step(element: Element, name: &str, acc: f64, x: f64) -> f64 {
        let exact = match &name[4..] {
            "SUM" => acc + x,
            "PROD" => acc * x,
            "MAX" => return acc.max(x),
            _ => return acc.min(x),
        };
        match element.is_float() {
            true => element.round(exact),
            false => element.wrap(exact as i64) as f64,
        }
    }

    #[test]
    fn rows_and_columns_are_folded_in_order() {
        const ROWS: usize = 5;
        const COLS: usize = 19;
        for (arch, element) in
            [(Arch::A3, F32), (Arch::A3, F16), (Arch::A3, I16), (Arch::A5, I32), (Arch::A5, U8), (Arch::A5, BF16)]
        {
            let mut bench = Bench::new(arch);
            let mut src = vec(element, 8, 32, 0);
            (src.valid_rows, src.valid_cols) = (ROWS, COLS);
            let x = data(element, ROWS * COLS);
            bench.put(&src, &x);
            let tmp = vec(element, 8, 128, 8192);
            // Both destinations: a column-major column, and the first column of a row-major tile.
            let narrow = Tile { valid_rows: ROWS, ..column(element, 8, 4096) };
            let wide = Tile { valid_rows: ROWS, valid_cols: 1, ..vec(element, 8, 32, 5120) };
            for name in ["TROWSUM", "TROWPROD", "TROWMAX", "TROWMIN"] {
                let wider = if name == "TROWSUM" && element.is_float() { F32 } else { element };
                let expected: Vec<f64> = x
                    .chunks(COLS)
                    .map(|row| row[1..].iter().fold(row[0], |acc, &x| step(wider, name, acc, x)))
                    .map(|sum| if element.is_float() { element.round(sum) } else { sum })
                    .collect();
                for dst in [&narrow, &wide] {
                    bench.run(name, tiles([dst, &src, &tmp])).expect("legal");
                    assert_eq!(bench.get(dst), expected, "{name} {}", element.name());
                }
            }
            let row = Tile { valid_rows: 1, valid_cols: COLS, ..vec(element, 1, 32, 4096) };
            for name in ["TCOLSUM", "TCOLPROD", "TCOLMAX", "TCOLMIN"] {
                let at = |r: usize, c: usize| x[r * COLS + c];
                let expected: Vec<f64> =
                    (0..COLS).map(|c| (1..ROWS).fold(at(0, c), |acc, r| step(element, name, acc, at(r, c)))).collect();
                bench.run(name, tiles([&row, &src])).expect("legal");
                assert_eq!(bench.get(&row), expected, "{name} {}", element.name());
            }
            assert!(bench.broken().is_empty());
        }
    }

    #[test]
    fn order_and_type_of_a_sum_decide_its_last_bits() {
        let mut bench = Bench::new(Arch::A3);
        // 2^24 + 1 + 1 + ... stays, in order; 1 + 1 + ... + 2^24 does not.
        let src = vec(F32, 2, 8, 0);
        let big = 16777216.0;
        let ones = [1.0; 7];
        bench.put(&src, &[&[big], &ones[..], &ones[..], &[big]].concat());
        let dst = Tile { valid_rows: 2, ..column(F32, 8, 512) };
        let tmp = vec(F32, 2, 8, 1024);
        bench.run("TROWSUM", tiles([&dst, &src, &tmp])).expect("legal");
        assert_eq!(bench.get(&dst), [big, big + 8.0]);
        // 2048 + 1 + 1 + 1 is 2051 in f32, 2048 in f16.
        let src = vec(F16, 4, 16, 0);
        bench.put(&src, &[[2048.0; 16], [1.0; 16], [1.0; 16], [1.0; 16]].concat());
        let row = vec(F16, 1, 16, 512);
        bench.run("TCOLSUM", tiles([&row, &src])).expect("legal");
        assert_eq!(bench.get(&row), [2048.0; 16]);
        let across = vec(F16, 1, 16, 0);
        bench.put(&across, &[2048.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let dst = Tile { valid_rows: 1, ..column(F16, 16, 512) };
        bench.run("TROWSUM", tiles([&dst, &across, &tmp])).expect("legal");
        assert_eq!(bench.get(&dst), [2052.0], "2051 rounded");
        bench.put(&across, &[-0.0; 16]);
        bench.run("TROWSUM", tiles([&dst, &across, &tmp])).expect("legal");
        assert!(bench.get(&dst)[0].is_sign_positive(), "starts from 0");
    }

    #[test]
    fn pairwise_sums_of_columns() {
        // Five rows: pairs (0, 1), (2, 3); the odd row joins the first pair on A3, the last on A5.
        let rows = [1.0, 16777216.0, -16777216.0, 3.0, 1.0];
        let f = |x: f64| F32.round(x);
        let (first, second) = (f(rows[0] + rows[1]), f(rows[2] + rows[3]));
        let a3 = f(f(first + rows[4]) + second);
        let a5 = f(first + f(second + rows[4]));
        assert_ne!(a3, a5);
        for (arch, expected) in [(Arch::A3, a3), (Arch::A5, a5)] {
            for (pairwise, expected) in [(1, expected), (0, 4.0)] {
                let mut bench = Bench::new(arch);
                let (dst, src, tmp) = (vec(F32, 1, 8, 0), vec(F32, 5, 8, 64), vec(F32, 2, 8, 512));
                bench.put(&src, &rows.iter().flat_map(|&v| [v; 8]).collect::<Vec<_>>());
                let operands = [tiles([&dst, &src, &tmp]), vec![Operand::Int(pairwise, Element::Bool)]].concat();
                bench.run("TCOLSUM", operands).expect("legal");
                assert_eq!(bench.get(&dst), [expected; 8], "{pairwise}");
                assert!(bench.broken().is_empty());
            }
        }
    }

    #[test]
    fn the_first_extreme_is_found() {
        for (arch, element, index_element) in [
            (Arch::A3, F32, I32),
            (Arch::A3, F16, U32),
            (Arch::A3, I16, I32),
            (Arch::A5, I8, U32),
            (Arch::A5, U32, I32),
            (Arch::A5, F32, U32),
        ] {
            let (rows, cols) = (6, 40);
            let mut bench = Bench::new(arch);
            let mut src = vec(element, 8, 64, 0);
            (src.valid_rows, src.valid_cols) = (rows, cols);
            // Few values, so that extremes repeat.
            let x: Vec<f64> = data(element, rows * cols).iter().map(|v| (v / 2.0).trunc()).collect();
            bench.put(&src, &x);
            let tmp = vec(element, 8, 64, 16384);
            let best = |line: Vec<f64>, greatest: bool| {
                let beats = |a: f64, b: f64| if greatest { a > b } else { a < b };
                let at = (1..line.len()).fold(0, |best, i| if beats(line[i], line[best]) { i } else { best });
                (at as f64, line[at])
            };
            for (name, by_row, greatest) in [
                ("TROWARGMAX", true, true),
                ("TROWARGMIN", true, false),
                ("TCOLARGMAX", false, true),
                ("TCOLARGMIN", false, false),
            ] {
                let lines: Vec<Vec<f64>> = match by_row {
                    true => x.chunks(cols).map(<[f64]>::to_vec).collect(),
                    false => (0..cols).map(|c| (0..rows).map(|r| x[r * cols + c]).collect()).collect(),
                };
                let (at, values): (Vec<f64>, Vec<f64>) = lines.into_iter().map(|line| best(line, greatest)).unzip();
                let out = |element, address| match by_row {
                    true => Tile { valid_rows: rows, ..column(element, 8, address) },
                    false => Tile { valid_cols: cols, ..vec(element, 1, 64, address) },
                };
                let (value, index) = (out(element, 4096), out(index_element, 8192));
                bench.run(name, tiles([&index, &src, &tmp])).expect("legal");
                assert_eq!(bench.get(&index), at, "{name}");
                bench.run(name, tiles([&value, &index, &src, &tmp])).expect("legal");
                assert_eq!(bench.get(&index), at, "{name}");
                assert_eq!(bench.get(&value), values, "{name}");
            }
            assert!(bench.broken().is_empty());
        }
    }

    #[test]
    fn extremes_that_a3_or_64_bits_change() {
        // Bit patterns above 0x80000000 are negative floats.
        for (arch, expected) in [(Arch::A3, 0.0), (Arch::A5, 1.0)] {
            let mut bench = Bench::new(arch);
            let (src, index, tmp) = (vec(U32, 2, 8, 0), vec(I32, 1, 8, 512), vec(U32, 3, 8, 1024));
            bench.put(&src, &[[5.0; 8], [2147483653.0; 8]].concat());
            bench.run("TCOLARGMAX", tiles([&index, &src, &tmp])).expect("legal");
            assert_eq!(bench.get(&index), [expected; 8]);
        }
        // A row index beyond 2048 goes through f16.
        for (arch, expected) in [(Arch::A3, 2050.0), (Arch::A5, 2049.0)] {
            let mut bench = Bench::new(arch);
            let (src, index, tmp) = (vec(F16, 2100, 16, 0), vec(I32, 1, 16, 80000), vec(F16, 3, 16, 81920));
            let values = (0..2100 * 16).map(|i| if i / 16 == 2049 { 1.0 } else { 0.0 }).collect::<Vec<_>>();
            bench.put(&src, &values);
            bench.run("TCOLARGMAX", tiles([&index, &src, &tmp])).expect("legal");
            assert_eq!(bench.get(&index), [expected; 16]);
        }
        // All ones is the greatest u64 (and -1 to `get`).
        let mut bench = Bench::new(Arch::A5);
        let (src, part) = (vec(U64, 1, 4, 0), Tile { valid_cols: 1, ..vec(U64, 1, 4, 0) });
        let (index, value, tmp) =
            (vec(I32, 1, 8, 64), Tile { valid_cols: 1, ..vec(U64, 1, 4, 96) }, vec(U64, 1, 4, 128));
        bench.put(&src, &[0.0, 1.0, 2.0, 3.0]);
        bench.run("TNOT", tiles([&part, &part])).expect("legal");
        let index = Tile { valid_cols: 1, ..index };
        bench.run("TROWARGMAX", tiles([&value, &index, &src, &tmp])).expect("legal");
        assert_eq!((bench.get(&index), bench.get(&value)), (vec![0.0], vec![-1.0]));
        bench.run("TROWMAX", tiles([&value, &src, &tmp])).expect("legal");
        assert_eq!(bench.get(&value), [-1.0]);
    }

    #[test]
    fn rows_and_columns_are_spread() {
        type Case = (&'static str, fn(f64, f64) -> f64);
        let cases: [Case; 7] = [
            ("ADD", |a, b| a + b),
            ("SUB", |a, b| a - b),
            ("MUL", |a, b| a * b),
            ("DIV", |a, b| a / b),
            ("MAX", f64::max),
            ("MIN", f64::min),
            ("EXPDIF", |a, b| libm::exp(a - b)),
        ];
        let named = |axis: &str, case: &str| -> &'static str {
            let wanted = format!("{axis}{case}");
            OPS.iter().find(|op| op.name == wanted).expect("in the table").name
        };
        for (arch, element) in [(Arch::A3, F32), (Arch::A3, F16), (Arch::A3, I16), (Arch::A5, U16), (Arch::A5, I32)] {
            let (rows, cols) = (4, 21);
            let block = 32 / element.storage_bytes();
            let mut bench = Bench::new(arch);
            let wide = |address| Tile { valid_rows: rows, valid_cols: cols, ..vec(element, 8, 32, address) };
            let (x, dst, tmp) = (wide(0), wide(2048), vec(U8, 1, 256, 4096));
            let values: Vec<f64> = data(element, rows * cols).iter().map(|v| v.trunc()).collect();
            let spread = [3.0, 1.0, 2.0, 5.0];
            bench.put(&x, &values);
            let narrow = Tile { valid_rows: rows, ..column(element, 16, 8192) };
            bench.put(&narrow, &spread);
            let blocks = Tile { valid_rows: rows, ..vec(element, 8, block, 8448) };
            bench.put(&blocks, &spread.iter().flat_map(|&v| vec![v; block]).collect::<Vec<_>>());
            let row = Tile { valid_cols: cols, ..vec(element, 1, 32, 8960) };
            let across: Vec<f64> = (0..cols).map(|c| (c % 5 + 1) as f64).collect();
            bench.put(&row, &across);
            for (case, f) in cases {
                if case == "EXPDIF" && !element.is_float() {
                    continue;
                }
                let finish = |a: f64, b: f64| match element.is_float() {
                    true => element.round(f(a, b)),
                    false => element.wrap(f(a, b).trunc() as i64) as f64,
                };
                let by_row = |swapped: bool| -> Vec<f64> {
                    let pair = |i: usize| (values[i], spread[i / cols]);
                    (0..rows * cols).map(pair).map(|(x, v)| if swapped { finish(v, x) } else { finish(x, v) }).collect()
                };
                let name = named("TROWEXPAND", case);
                let same = |bench: &mut Bench, operands, expected: &[f64]| {
                    bench.run(name, operands).expect("legal");
                    assert_eq!(bench.get(&dst), expected, "{name} {}", element.name());
                };
                same(&mut bench, tiles([&dst, &x, &narrow]), &by_row(false));
                same(&mut bench, tiles([&dst, &x, &blocks]), &by_row(false));
                same(&mut bench, tiles([&dst, &x, &narrow, &tmp]), &by_row(false));
                let divisible = element.is_float() || case != "DIV" || !values.contains(&0.0);
                if divisible {
                    same(&mut bench, tiles([&dst, &narrow, &x]), &by_row(true));
                }
                let by_column: Vec<f64> = (0..rows * cols).map(|i| finish(values[i], across[i % cols])).collect();
                let name = named("TCOLEXPAND", case);
                bench.run(name, tiles([&dst, &x, &row])).expect("legal");
                assert_eq!(bench.get(&dst), by_column, "{name} {}", element.name());
            }
            bench.run("TROWEXPAND", tiles([&dst, &narrow])).expect("legal");
            assert_eq!(bench.get(&dst), spread.iter().flat_map(|&v| vec![v; cols]).collect::<Vec<_>>());
            bench.run("TCOLEXPAND", tiles([&dst, &row])).expect("legal");
            assert_eq!(bench.get(&dst), across.repeat(rows));
            assert!(bench.broken().is_empty());
        }
    }

    #[test]
    fn the_difference_is_rounded_before_its_exponential() {
        let mut bench = Bench::new(Arch::A5);
        let (x, dst, row) = (vec(F16, 1, 16, 0), vec(F16, 1, 16, 64), vec(F16, 1, 16, 128));
        bench.put(&x, &[8.0; 16]);
        let small = F16.round(0.001);
        bench.put(&row, &[small; 16]);
        bench.run("TCOLEXPANDEXPDIF", tiles([&dst, &x, &row])).expect("legal");
        let expected = F16.round(libm::exp(F16.round(8.0 - small)));
        assert_ne!(expected, F16.round(libm::exp(8.0 - small)));
        assert_eq!(bench.get(&dst), [expected; 16]);
    }

    #[test]
    fn a3_spreads_a_row_over_one_block() {
        let (dst, src) = (vec(F32, 16, 8, 0), vec(F32, 1, 16, 1024));
        let values: Vec<f64> = (0..16).map(f64::from).collect();
        let mut bench = Bench::new(Arch::A3);
        bench.put(&src, &values);
        bench.run("TROWEXPAND", tiles([&dst, &src])).expect("legal");
        assert_eq!(bench.get(&dst), values.iter().flat_map(|&v| [v; 8]).collect::<Vec<_>>());
        let mut bench = Bench::new(Arch::A5);
        bench.put(&src, &values);
        assert!(bench.run("TROWEXPAND", tiles([&dst, &src])).is_err());
    }

    #[test]
    fn scratch_is_lost_only_where_the_device_uses_it() {
        let lost = |arch, name, element: Element, cols| {
            let mut bench = Bench::new(arch);
            let src = vec(element, 2, cols, 0);
            bench.put(&src, &vec![1.0; 2 * cols]);
            let tmp = vec(element, 2, cols, 65536);
            bench.put(&tmp, &vec![1.0; 2 * cols]);
            let dst = Tile { valid_rows: 2, ..column(element, 16, 32768) };
            bench.run(name, tiles([&dst, &src, &tmp])).expect("legal");
            let lost = bench.get(&tmp) != vec![1.0; 2 * cols];
            assert!(bench.broken().is_empty());
            lost
        };
        assert!(!lost(Arch::A3, "TROWSUM", F32, 64));
        assert!(lost(Arch::A3, "TROWSUM", F32, 72));
        assert!(lost(Arch::A3, "TROWSUM", I32, 64));
        assert!(!lost(Arch::A3, "TROWMAX", F16, 128));
        assert!(lost(Arch::A3, "TROWMIN", F16, 144));
        assert!(lost(Arch::A3, "TROWPROD", F16, 16));
        assert!(!lost(Arch::A5, "TROWSUM", F32, 72));
        // Without a scratch tile, A3 uses the end of UB.
        for (arch, expected) in [(Arch::A3, false), (Arch::A5, true)] {
            let mut bench = Bench::new(arch);
            let (x, v, end) = (vec(F32, 8, 8, 0), column(F32, 8, 512), vec(F32, 1, 64, 184 * 1024));
            bench.put(&x, &[1.0; 64]);
            bench.put(&v, &[1.0; 8]);
            bench.put(&end, &[1.0; 64]);
            bench.run("TROWEXPANDADD", tiles([&x, &x, &v])).expect("legal");
            assert_eq!(bench.get(&end) == [1.0; 64], expected);
        }
        // No more than 30 times 8 blocks.
        let mut bench = Bench::new(Arch::A3);
        let (x, v, end) = (vec(F16, 256, 16, 0), column(F16, 256, 8192), vec(U8, 1, 512, 184 * 1024 + 7680 - 256));
        bench.put(&x, &[1.0; 4096]);
        bench.put(&v, &[1.0; 256]);
        bench.put(&end, &[1.0; 512]);
        bench.run("TROWEXPANDMUL", tiles([&x, &x, &v])).expect("legal");
        assert_eq!(bench.get(&end), [[255.0; 256], [1.0; 256]].concat());
        // Too little of it.
        let mut bench = Bench::new(Arch::A3);
        let src = vec(F32, 2, 256, 0);
        bench.put(&src, &[1.0; 512]);
        let dst = Tile { valid_rows: 2, ..column(F32, 8, 32768) };
        bench.run("TROWSUM", tiles([&dst, &src, &vec(F32, 2, 64, 65536)])).expect("runs");
        assert_eq!(bench.get(&dst), [256.0; 2]);
        assert_eq!(bench.broken(), [Rule::OutsideSpace.code()]);
    }

    #[test]
    fn operands_that_do_not_fit_are_refused() {
        let mut bench = Bench::new(Arch::A3);
        let (x, half) = (vec(F32, 4, 8, 0), vec(F16, 4, 16, 0));
        let (v, empty) = (column(F32, 8, 512), Tile { valid_cols: 0, ..x.clone() });
        let short = Tile { valid_cols: 3, ..vec(F32, 1, 8, 768) };
        let cases = [
            ("TROWSUM", tiles([&v, &x, &x]), "rows must be as many"),
            ("TROWMAX", tiles([&x, &empty, &x]), "not empty"),
            ("TROWMAX", tiles([&x, &half, &x]), "must hold the f32 of dst, found f16"),
            ("TCOLSUM", tiles([&short, &x]), "columns must be as many"),
            ("TROWARGMAX", tiles([&x, &x, &x]), "integers for the index"),
            ("TCOLARGMIN", tiles([&vec(I32, 4, 8, 0), &x, &x]), "one index a row or column"),
            ("TROWEXPAND", tiles([&x, &v]), "rows must be as many"),
            ("TROWEXPANDADD", tiles([&x, &short, &v]), "one source must be row-major"),
            ("TROWEXPANDADD", tiles([&x, &x, &x, &x]), "the column must be column-major"),
            ("TROWEXPANDEXPDIF", tiles([&vec(I32, 4, 8, 0), &x, &v]), "must hold floats, found i32"),
        ];
        bench.put(&x, &[1.0; 32]);
        for (name, operands, expected) in cases {
            let fault = bench.run(name, operands).expect_err(name);
            assert!(fault.message.contains(expected), "{name}: {}", fault.message);
        }
        bench.run("TCOLMAX", tiles([&Tile { valid_cols: 0, ..short.clone() }, &empty])).expect("nothing to do");
    }

    #[test]
    fn empty_tiles_need_not_fit() {
        let mut bench = Bench::new(Arch::A3);
        let none = |tile: Tile| Tile { valid_rows: 0, valid_cols: 0, ..tile };
        let (x, v, row) = (none(vec(F32, 4, 8, 0)), none(column(F32, 8, 512)), none(vec(F32, 1, 8, 768)));
        let cases = [
            ("TROWMAX", tiles([&v, &x, &vec(F32, 4, 8, 1024)])),
            ("TROWEXPAND", tiles([&x, &v])),
            ("TROWEXPANDMUL", tiles([&x, &x, &v])),
            ("TCOLEXPAND", tiles([&x, &row])),
            ("TCOLEXPANDADD", tiles([&x, &x, &row])),
        ];
        for (name, operands) in cases {
            bench.run(name, operands).expect(name);
        }
        assert!(bench.broken().is_empty());
    }

    #[test]
    fn vectors_of_another_length_are_reported_and_read() {
        let (x, row, col) = (vec(F32, 2, 8, 0), vec(F32, 1, 8, 64), column(F32, 8, 96));
        let short = Tile { valid_cols: 4, ..row.clone() };
        let cases = [
            ("TCOLEXPAND", tiles([&x, &short]), [3.0; 16]),
            ("TCOLEXPANDADD", tiles([&x, &x, &short]), [4.0; 16]),
            ("TROWEXPANDADD", tiles([&x, &x, &col]), [6.0; 16]),
        ];
        for (name, operands, expected) in cases {
            let mut bench = Bench::new(Arch::A3);
            bench.put(&x, &[1.0; 16]);
            bench.put(&row, &[3.0; 8]);
            bench.put(&col, &[5.0; 8]);
            bench.run(name, operands).expect(name);
            assert_eq!(bench.get(&x), expected, "{name}");
            assert_eq!(bench.broken(), ["PTO-0810"], "{name}");
        }
    }
}
