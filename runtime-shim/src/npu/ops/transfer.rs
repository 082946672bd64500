//! Between global memory and on-chip tiles: `TLOAD`, `TSTORE`, `TSTORE_FP`, `TPREFETCH`, and access to single elements
//! of global memory.
//!
//! A tensor has five dimensions; its layout says which of them make up the rows and which the columns of a tile. A
//! transfer is then a strided copy between the tensor and a list of values, row by row.

use super::super::abi::{BoxLayout, Conv, Global, Instr, Operand, Space, Tile};
use super::super::element::{Element, Lane};
use super::super::layout::Window;
use super::super::memory::memory_name;
use super::convert::{Quant, fixpipe};
use super::{Ctx, Done, Fault, GlobalRun, On, Op, Pipe, Rule, illegal};
use crate::Arch;

/// The instructions.
pub const OPS: &[Op] = &[
    Op { name: "TLOAD", on: On::Pipe(Pipe::Mte2), run: load },
    Op { name: "TSTORE", on: On::By(store_pipe), run: store },
    Op { name: "TSTORE_FP", on: On::Pipe(Pipe::Fix), run: store },
    Op { name: "TPREFETCH", on: On::Pipe(Pipe::Mte2), run: prefetch },
];

fn store_pipe(instr: &Instr, _: Arch) -> Pipe {
    match instr.operands.get(1) {
        Some(Operand::Tile(src)) if src.space == Space::Acc => Pipe::Fix,
        _ => Pipe::Mte3,
    }
}

// ---- layouts ------------------------------------------------------------------------------------------------------

/// Names of `pto::Layout`, by number.
const LAYOUTS: [&str; 22] = [
    "ND",
    "DN",
    "NZ",
    "SCALE",
    "MX_A_ND",
    "MX_A_DN",
    "MX_A_ZZ",
    "MX_B_ND",
    "MX_B_DN",
    "MX_B_NN",
    "HIF4_A_ZZ",
    "HIF4_B_NN",
    "NC1HWC0",
    "GNC1HWC0",
    "NCHW",
    "GNCHW",
    "NHWC",
    "NDC1HWC0",
    "NCDHW",
    "FRACTAL_Z",
    "FRACTAL_Z_S16S8",
    "FRACTAL_Z_3D",
];
pub(super) const ND: u8 = 0;
pub(super) const DN: u8 = 1;
pub(super) const NZ: u8 = 2;
const MX_A_ND: u8 = 4;
const MX_A_DN: u8 = 5;
const MX_A_ZZ: u8 = 6;
const MX_B_ND: u8 = 7;
const MX_B_DN: u8 = 8;
const MX_B_NN: u8 = 9;
pub(super) const NC1HWC0: u8 = 12;
pub(super) const GNC1HWC0: u8 = 13;
pub(super) const NCHW: u8 = 14;
pub(super) const GNCHW: u8 = 15;
const NHWC: u8 = 16;
pub(super) const NDC1HWC0: u8 = 17;
pub(super) const NCDHW: u8 = 18;
pub(super) const FRACTAL_Z: u8 = 19;
pub(super) const FRACTAL_Z_3D: u8 = 21;

/// Name of a layout.
pub(super) fn layout_name(layout: u8) -> &'static str {
    LAYOUTS.get(usize::from(layout)).copied().unwrap_or("an unknown")
}

/// How a tile is stored: by rows or by columns, or in boxes, named by their outer and inner order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Unboxed, by rows.
    Rows,
    /// Unboxed, by columns.
    Cols,
    /// Boxes by columns, rows inside.
    Nz,
    /// Boxes by rows, columns inside.
    Zn,
    /// Boxes by rows, rows inside.
    Zz,
    /// Boxes by columns, columns inside.
    Nn,
}

/// The form of a tile.
pub(super) fn form(tile: &Tile) -> Form {
    match (tile.box_layout, tile.row_major) {
        (BoxLayout::None, true) => Form::Rows,
        (BoxLayout::None, false) => Form::Cols,
        (BoxLayout::RowMajor, false) => Form::Nz,
        (BoxLayout::ColMajor, true) => Form::Zn,
        (BoxLayout::RowMajor, true) => Form::Zz,
        (BoxLayout::ColMajor, false) => Form::Nn,
    }
}

/// Which dimensions of a tensor make up rows and columns of a tile, the slowest first. Dimension 5 is the C0 that
/// NDC1HWC0 tensors do not write down.
struct Axes {
    rows: &'static [usize],
    cols: &'static [usize],
    /// Dimensions that the device takes to be without gaps, the fastest first: it never looks at their strides.
    dense: &'static [usize],
}

/// The axes of a layout.
const AXES: &[(u8, Axes)] = &[
    (ND, Axes { rows: &[0, 1, 2, 3], cols: &[4], dense: &[4] }),
    (DN, Axes { rows: &[3], cols: &[0, 1, 2, 4], dense: &[3] }),
    (NZ, Axes { rows: &[2, 3], cols: &[0, 1, 4], dense: &[4, 3, 2] }),
    (MX_A_ZZ, Axes { rows: &[0, 1, 3], cols: &[2, 4], dense: &[4, 3, 2] }),
    (MX_A_ND, Axes { rows: &[2], cols: &[3, 4], dense: &[4, 3] }),
    (MX_A_DN, Axes { rows: &[3], cols: &[2, 4], dense: &[4, 3] }),
    (MX_B_NN, Axes { rows: &[2, 4], cols: &[0, 1, 3], dense: &[4, 3, 2] }),
    (MX_B_ND, Axes { rows: &[2, 4], cols: &[3], dense: &[4, 3] }),
    (MX_B_DN, Axes { rows: &[3, 4], cols: &[2], dense: &[4, 3] }),
];

/// The axes of a tensor that the fixpipe stores into. It has one distance between blocks of columns in NZ, and writes
/// the rows of the channel-first layouts one behind the other.
const FIXPIPE_AXES: &[(u8, Axes)] = &[
    (ND, Axes { rows: &[0, 1, 2, 3], cols: &[4], dense: &[4] }),
    (NZ, Axes { rows: &[2, 3], cols: &[0, 1, 4], dense: &[4, 3, 2, 1, 0] }),
    (NC1HWC0, Axes { rows: &[0, 2, 3], cols: &[1, 4], dense: &[4, 3] }),
    (NDC1HWC0, Axes { rows: &[0, 3, 4], cols: &[1, 2, 5], dense: &[5, 4] }),
    (NHWC, Axes { rows: &[1, 2, 3], cols: &[0, 4], dense: &[4] }),
    (NCHW, Axes { rows: &[1, 3, 4], cols: &[0, 2], dense: &[4, 3, 1] }),
    (NCDHW, Axes { rows: &[0, 2, 3, 4], cols: &[1], dense: &[4, 3, 2, 0] }),
];

fn axes_of(table: &'static [(u8, Axes)], layout: u8) -> Option<&'static Axes> {
    table.iter().find(|(l, _)| *l == layout).map(|(_, axes)| axes)
}

// ---- strided copies -----------------------------------------------------------------------------------------------

/// A dimension of a strided copy: its extent, its distance in global memory and its distance in the list, in elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dim {
    count: i64,
    stride: i64,
    place: i64,
}

impl Dim {
    /// A dimension.
    pub(super) fn new(count: i64, stride: i64, place: i64) -> Dim {
        Dim { count, stride, place }
    }
}

/// A strided copy: runs of one side, and for each run where its elements are in the list: first place and distance.
#[derive(Debug, Default)]
pub(super) struct Path {
    runs: Vec<GlobalRun>,
    places: Vec<(usize, usize)>,
}

/// No transfer spans more elements than this.
const REACH: i128 = 1 << 44;

impl Path {
    /// Adds the elements of nested dimensions, the slowest first, from element `start` and place `place` on.
    pub(super) fn add(&mut self, dims: &[Dim], start: i64, place: i64) -> Done {
        let span: i128 = dims.iter().map(|d| i128::from(d.count.max(1) - 1) * i128::from(d.stride)).sum();
        if dims.iter().any(|d| d.count < 0 || (d.count > 1 && d.stride < 0)) || span > REACH {
            return Err(illegal(format!("extents and strides must not be negative, nor reach further: {dims:?}")));
        }
        if dims.iter().any(|d| d.count == 0) {
            return Ok(());
        }
        // Dimensions that follow one another without a gap on both sides are one.
        let mut joined: Vec<Dim> = Vec::with_capacity(dims.len());
        for &dim in dims.iter().filter(|d| d.count > 1) {
            match joined.last_mut() {
                Some(outer) if outer.stride == dim.stride * dim.count && outer.place == dim.place * dim.count => {
                    *outer = Dim { count: outer.count * dim.count, ..dim };
                }
                _ => joined.push(dim),
            }
        }
        let inner = joined.pop().unwrap_or(Dim::new(1, 1, 1));
        let mut index = vec![0; joined.len()];
        loop {
            let at = |distance: fn(&Dim) -> i64| joined.iter().zip(&index).map(|(d, i)| distance(d) * i).sum::<i64>();
            let (run, first) = (start + at(|d| d.stride), place + at(|d| d.place));
            self.runs.push(GlobalRun { start: run, step: inner.stride, count: inner.count as usize });
            self.places.push((first as usize, inner.place as usize));
            let Some(next) = (0..joined.len()).rev().find(|&d| index[d] + 1 < joined[d].count) else { return Ok(()) };
            index[next] += 1;
            index[next + 1..].fill(0);
        }
    }

    /// Puts values in the order of the runs to their places in `list`.
    fn scatter<L: Lane>(&self, values: &[L], list: &mut [L]) {
        let mut from = 0;
        for (run, &(first, step)) in self.runs.iter().zip(&self.places) {
            let part = &values[from..from + run.count];
            match step {
                1 => list[first..first + run.count].copy_from_slice(part),
                _ => part.iter().enumerate().for_each(|(i, &v)| list[first + i * step] = v),
            }
            from += run.count;
        }
    }

    /// Takes values from their places in `list`, in the order of the runs.
    pub(super) fn gather<L: Lane>(&self, list: &[L]) -> Vec<L> {
        let mut values = Vec::with_capacity(self.runs.iter().map(|r| r.count).sum());
        for (run, &(first, step)) in self.runs.iter().zip(&self.places) {
            match step {
                1 => values.extend_from_slice(&list[first..first + run.count]),
                _ => values.extend((0..run.count).map(|i| list[first + i * step])),
            }
        }
        values
    }

    /// The runs.
    pub(super) fn runs(&self) -> &[GlobalRun] {
        &self.runs
    }

    /// Two elements of four bits share a byte: runs must be whole bytes without gaps.
    fn check_nibbles(&self, ctx: &Ctx, element: Element) -> Done {
        let whole = |r: &GlobalRun| r.start % 2 == 0 && (r.step == 1 || r.count == 1);
        match element.bits() == 4 && !self.runs.iter().all(whole) {
            true => Err(illegal(format!("{}: elements of four bits are moved two by two", ctx.instr.name))),
            false => Ok(()),
        }
    }
}

/// The path between a tensor and a list of `valid` rows and columns.
fn path(ctx: &Ctx, tensor: &Global, axes: &Axes, c0: i64, valid: Window) -> Result<Path, Fault> {
    let name = ctx.instr.name;
    let [s0, s1, s2, s3, s4] = tensor.shape;
    let mut stride = [0; 6];
    stride[..5].copy_from_slice(&tensor.stride);
    stride[5] = 1;
    let uses_c0 = axes.cols.contains(&5);
    let shape = [s0, s1, s2, s3, s4, if uses_c0 { c0 } else { 1 }];
    let extent = |dims: &[usize]| dims.iter().try_fold(1i64, |n, &d| n.checked_mul(shape[d].max(0)));
    let (rows, cols) = (extent(axes.rows).unwrap_or(i64::MAX), extent(axes.cols).unwrap_or(i64::MAX));
    let named = axes.rows.iter().chain(axes.cols);
    let all = named.clone().try_fold(1i64, |n, &d| n.checked_mul(shape[d].max(0)));
    let rest: i64 =
        (0..5).filter(|d| !named.clone().any(|n| n == d)).map(|d| shape[d]).filter(|&n| n != 1).count() as i64;
    if (rows, cols) != (valid.rows as i64, valid.cols as i64) || all.is_none() || rest != 0 {
        return Err(illegal(format!(
            "{name}: a tensor of layout {} and shape {:?} has {rows} rows and {cols} columns, but the valid part of the \
             tile is {} x {}",
            layout_name(tensor.layout),
            tensor.shape,
            valid.rows,
            valid.cols
        )));
    }
    if all == Some(0) {
        return Ok(Path::default());
    }
    let mut gapless = 1;
    for &d in axes.dense {
        if shape[d] > 1 && stride[d] != gapless {
            return Err(illegal(format!(
                "{name}: stride {d} of a tensor of layout {} must be {gapless}, found {}: the device copies this \
                 dimension without gaps",
                layout_name(tensor.layout),
                stride[d]
            )));
        }
        gapless *= shape[d].max(1);
    }
    let weight = |dims: &[usize], d: usize| {
        let at = dims.iter().position(|&x| x == d)?;
        Some(dims[at + 1..].iter().map(|&x| shape[x]).product::<i64>())
    };
    // Dense dimensions inside, so that runs are long.
    let order = (0..6).filter(|d| !axes.dense.contains(d)).chain(axes.dense.iter().rev().copied());
    let dims: Vec<Dim> = order
        .map(|d| {
            let place = weight(axes.rows, d).map(|w| w * cols).or(weight(axes.cols, d)).unwrap_or(0);
            Dim::new(shape[d], stride[d], place)
        })
        .collect();
    let mut path = Path::default();
    path.add(&dims, 0, 0)?;
    Ok(path)
}

/// Refuses a tile that is larger than its memory, before anything of its size is made.
fn fits(ctx: &mut Ctx, tile: &Tile) -> Done {
    let size = ctx.spaces.size(tile.space);
    let bytes = tile.rows as u128 * tile.cols as u128 * tile.element.bits() as u128 / 8;
    if bytes > size as u128 || tile.valid_rows > tile.rows || tile.valid_cols > tile.cols {
        let name = ctx.name(tile.site, "tile");
        return Err(Fault {
            rule: Rule::OutsideSpace,
            message: format!(
                "{}: tile {name} of {} x {} with {} x {} valid does not fit in {} ({size} bytes)",
                ctx.instr.name,
                tile.rows,
                tile.cols,
                tile.valid_rows,
                tile.valid_cols,
                memory_name(tile.space)
            ),
        });
    }
    Ok(())
}

/// Refuses operands whose elements differ in width.
pub(super) fn same_width(ctx: &Ctx, dst: Element, src: Element) -> Done {
    match dst.bits() == src.bits() {
        true => Ok(()),
        false => Err(illegal(format!(
            "{}: dst and src must have elements of one width, found {} and {}",
            ctx.instr.name,
            dst.name(),
            src.name()
        ))),
    }
}

// ---- padding ------------------------------------------------------------------------------------------------------

/// Bit pattern of the pad value `pad` (`pto::PadValue`) of an element type. The narrow floats and 64-bit integers have
/// zero only.
pub(super) fn pad_bits(element: Element, pad: u64) -> i64 {
    use Element::{BF16, F16, F32, I8, I16, I32, U8, U16, U32};
    let of = |max: i64, min: i64| match pad {
        2 => max,
        3 => min,
        _ => 0,
    };
    match element {
        _ if pad >> 32 == 1 => element.raw().wrap(i64::from(pad as u32)),
        F32 => of(0x7f80_0000, 0xff80_0000),
        F16 => of(0x7c00, 0xfc00),
        BF16 => of(0x7f80, 0xff80),
        I8 | I16 | I32 | U8 | U16 | U32 => {
            let (min, max) = element.integer_range();
            element.raw().wrap(of(max, min))
        }
        _ => 0,
    }
}

/// Elements in a block of 32 bytes.
pub(super) fn block(element: Element) -> usize {
    256 / element.bits()
}

/// Writes one value, as bits, to part of a tile.
pub(super) fn fill(ctx: &mut Ctx, tile: &Tile, window: Window, bits: i64) -> Done {
    match window.rows == 0 || window.cols == 0 {
        true => Ok(()),
        false => ctx.write_window(tile, window, tile.element.raw(), &vec![bits; window.rows * window.cols]),
    }
}

/// Part of a tile that the device overwrites with values that mean nothing, because it works in whole blocks.
pub(super) fn spoil(ctx: &mut Ctx, tile: &Tile, window: Window) -> Done {
    ctx.unchecked(|ctx| fill(ctx, tile, window, -1))
}

// ---- TLOAD --------------------------------------------------------------------------------------------------------

/// What a load does behind the valid part, up to a whole block (of 32 bytes, or the side of a box).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tail {
    None,
    Rows,
    Cols,
}

/// Which tiles are loaded from which tensors; whether vector tiles too; the tail.
const LOADS: &[(u8, Form, bool, Tail)] = &[
    (ND, Form::Rows, true, Tail::Cols),
    (DN, Form::Cols, true, Tail::Rows),
    (NZ, Form::Nz, true, Tail::None),
    (ND, Form::Nz, false, Tail::Cols),
    (DN, Form::Nz, false, Tail::Cols),
    (DN, Form::Zn, false, Tail::Rows),
    (ND, Form::Zz, false, Tail::Cols),
    (MX_A_ZZ, Form::Zz, false, Tail::None),
    (MX_A_ND, Form::Zz, false, Tail::Rows),
    (MX_A_DN, Form::Zz, false, Tail::Rows),
    (MX_B_NN, Form::Nn, false, Tail::None),
    (MX_B_ND, Form::Nn, false, Tail::Cols),
    (MX_B_DN, Form::Nn, false, Tail::Cols),
];

fn load(ctx: &mut Ctx) -> Done {
    let src = ctx.global(1)?;
    match ctx.operand(0) {
        Operand::Conv(dst) => load_conv(ctx, dst, src),
        _ => load_tile(ctx, ctx.tile(0)?, src),
    }
}

/// Fills the valid part of a tile. Nothing outside it changes but the tail. (The vendor's simulator fills the whole
/// tile first; the device does not.)
fn load_tile(ctx: &mut Ctx, dst: &Tile, src: &Global) -> Done {
    same_width(ctx, dst.element, src.element)?;
    fits(ctx, dst)?;
    let form = form(dst);
    let on_l1 = dst.space == Space::Mat;
    let known = LOADS.iter().find(|&&(layout, f, vector, _)| {
        layout == src.layout && f == form && (vector || on_l1) && (layout != ND || f != Form::Zz || dst.rows == 1)
    });
    let wide = src.element.bits() == 64 && !matches!(form, Form::Rows | Form::Cols);
    let Some(&(_, _, _, tail)) = known.filter(|_| !wide && (on_l1 || dst.space == Space::Vec)) else {
        return Err(illegal(format!(
            "TLOAD: a tensor of layout {} cannot be loaded to {} into a tile of {} stored as {form:?}",
            layout_name(src.layout),
            memory_name(dst.space),
            dst.element.name()
        )));
    };
    let axes = axes_of(AXES, src.layout).expect("every layout of LOADS has axes");
    let path = path(ctx, src, axes, 0, dst.valid())?;
    path.check_nibbles(ctx, src.element)?;
    let raw = dst.element.raw();
    let values = ctx.read_global::<i64>(src, raw, &path.runs)?;
    let mut list = vec![0; values.len()];
    path.scatter(&values, &mut list);
    ctx.write_window(dst, dst.valid(), raw, &list)?;
    load_tail(ctx, dst, form, tail)
}

/// The tail of a load. UB: the pad value, or, without one, whatever the copy of whole blocks leaves there. L1: zeros in
/// boxes, the pad value in unboxed tiles (A5).
fn load_tail(ctx: &mut Ctx, dst: &Tile, form: Form, tail: Tail) -> Done {
    let Window { rows, cols, .. } = dst.valid();
    let boxed = !matches!(form, Form::Rows | Form::Cols) && dst.rows > 1;
    let sides = if boxed { dst.inner_box() } else { (block(dst.element), block(dst.element)) };
    let window = match tail {
        Tail::None => return Ok(()),
        Tail::Rows => {
            let end = rows.next_multiple_of(sides.0).min(dst.rows);
            Window { row: rows, col: 0, rows: end - rows, cols }
        }
        Tail::Cols => {
            let end = cols.next_multiple_of(sides.1).min(dst.cols);
            Window { row: 0, col: cols, rows, cols: end - cols }
        }
    };
    match dst.space {
        Space::Vec if dst.pad == 0 => spoil(ctx, dst, window),
        Space::Vec => fill(ctx, dst, window, pad_bits(dst.element, dst.pad)),
        _ if boxed => fill(ctx, dst, window, 0),
        _ if ctx.arch == Arch::A3 && window.rows * window.cols > 0 && dst.rows > 1 && dst.cols > 1 => {
            Err(illegal("TLOAD: an unboxed tile of L1 takes whole blocks of 32 bytes on this target"))
        }
        _ => fill(ctx, dst, window, pad_bits(dst.element, dst.pad)),
    }
}

/// A convolution tile as a plain tile of `rows` rows.
pub(super) fn flat(ctx: &Ctx, conv: &Conv, rows: i64, cols: i64) -> Result<Tile, Fault> {
    match rows.checked_mul(cols) {
        Some(needed) if rows >= 0 && cols >= 0 && needed <= conv.elements as i64 => {}
        _ => {
            return Err(Fault {
                rule: Rule::OutsideSpace,
                message: format!(
                    "{}: a convolution tile of shape {:?} is larger than its buffer of {} elements",
                    ctx.instr.name, conv.shape, conv.elements
                ),
            });
        }
    }
    Ok(Tile::plain(conv.space, conv.element, rows as usize, cols as usize, conv.address, conv.site))
}

/// How a convolution tile is filled: the path, the tile as rows and columns, and how many of these columns are written.
struct Filling {
    path: Path,
    rows: i64,
    cols: i64,
    written: i64,
}

/// Fills a convolution tile: from a tensor of its own layout, or (A5) from a plain one whose channels are split into
/// C1 groups of C0, the missing ones of the last group being zero.
fn load_conv(ctx: &mut Ctx, dst: &Conv, src: &Global) -> Done {
    same_width(ctx, dst.element, src.element)?;
    let c0 = block(dst.element) as i64;
    let sane = dst.shape.iter().chain(&src.shape).all(|&n| (0..1 << 20).contains(&n));
    let filling = match (dst.layout, dst.shape.len(), &src.layout) {
        _ if !sane => Err("its extents are out of range".to_owned()),
        (layout, _, &other) if layout == other => conv_same(dst, src, c0),
        _ if ctx.arch == Arch::A3 => Err("this target does not change the layout of images".to_owned()),
        _ => conv_split(dst, src, c0),
    };
    let Filling { path, rows, cols, written } = filling.map_err(|why| {
        illegal(format!(
            "TLOAD: a tensor of layout {} and shape {:?} cannot be loaded into a convolution tile of layout {} and shape \
             {:?}: {why}",
            layout_name(src.layout),
            src.shape,
            layout_name(dst.layout),
            dst.shape
        ))
    })?;
    path.check_nibbles(ctx, src.element)?;
    let tile = flat(ctx, dst, rows, cols)?;
    fits(ctx, &tile)?;
    let raw = dst.element.raw();
    let values = ctx.read_global::<i64>(src, raw, &path.runs)?;
    let mut list = vec![0i64; tile.rows * tile.cols];
    path.scatter(&values, &mut list);
    let window = Window { cols: written as usize, ..tile.whole() };
    let part: Vec<i64> = match window.cols == tile.cols {
        true => list,
        false => list.chunks(tile.cols).flat_map(|row| &row[..window.cols]).copied().collect(),
    };
    ctx.write_window(&tile, window, raw, &part)
}

/// Tensor and tile of one layout. The tile may be smaller.
fn conv_same(dst: &Conv, src: &Global, c0: i64) -> Result<Filling, String> {
    let d = &dst.shape;
    // Dimensions of the tensor behind those of the tile; whether C0 is one of them.
    let (map, whole): (&[usize], bool) = match (dst.layout, d.len()) {
        (NC1HWC0 | FRACTAL_Z, 5) => (&[0, 1, 2, 3, 4], true),
        (NC1HWC0, 4) => (&[0, 1, 2, 3], false),
        (FRACTAL_Z | FRACTAL_Z_3D, 4) => (&[1, 2, 3, 4], true),
        (NDC1HWC0, 5 | 6) => (&[0, 1, 2, 3, 4], false),
        _ => return Err("there is no such path".to_owned()),
    };
    if map.iter().zip(d).any(|(&g, &n)| src.shape[g] < n) {
        return Err("the tile is larger".to_owned());
    }
    let inner = if whole { src.stride[4] } else { 1 };
    let named = if whole { d.last() } else { d.get(map.len()) };
    if inner != 1 || named.is_some_and(|&n| n != c0) {
        return Err(format!("the last dimension must be C0, {c0} elements without gaps"));
    }
    let outer = &map[..map.len() - usize::from(whole)];
    let volume = |dims: &[i64]| dims.iter().try_fold(1i64, |n, &x| n.checked_mul(x)).ok_or("it is too large");
    let total = volume(&d[..outer.len()])?.saturating_mul(c0);
    let mut place = total;
    let mut dims = Vec::new();
    for (&g, &n) in outer.iter().zip(d) {
        place /= n.max(1);
        dims.push(Dim::new(n, src.stride[g], place));
    }
    dims.push(Dim::new(c0, 1, 1));
    let mut path = Path::default();
    if total <= dst.elements as i64 {
        path.add(&dims, 0, 0).map_err(|f| f.message)?;
    }
    Ok(Filling { path, rows: 1, cols: total, written: total })
}

/// A plain tensor whose channels the device splits on the way.
fn conv_split(dst: &Conv, src: &Global, c0: i64) -> Result<Filling, String> {
    let d = &dst.shape;
    // Dimension of images, of channels, and those inside an image.
    let (n, c, inside): (usize, usize, &[usize]) = match (src.layout, dst.layout, d.len()) {
        (NHWC, NC1HWC0, 4 | 5) => (1, 4, &[2, 3]),
        (NCHW, NC1HWC0, 4 | 5) | (NCHW, FRACTAL_Z, 4) => (1, 2, &[3, 4]),
        (NCDHW, NDC1HWC0, 5 | 6) | (NCDHW, FRACTAL_Z_3D, 4) => (0, 1, &[2, 3, 4]),
        _ => return Err("there is no such path".to_owned()),
    };
    let (images, channels) = (src.shape[n], src.shape[c]);
    let groups = (channels + c0 - 1) / c0;
    let inner: Vec<i64> = inside.iter().map(|&g| src.shape[g]).collect();
    let product = |of: &[i64]| of.iter().try_fold(1i64, |n, &x| n.checked_mul(x)).ok_or("it is too large");
    let area = product(&inner)?;
    // Distances in the tile: between images, groups, and positions by dimension of `inside`.
    let mut places = vec![c0; inside.len()];
    let (image, group, mut filling) = if matches!(dst.layout, FRACTAL_Z | FRACTAL_Z_3D) {
        let row = product(&[d[1], d[2], c0])?;
        if d[3] != c0 || d[1] * d[2] < images || d[0] != product(&[groups, area])? {
            return Err("the shapes do not agree".to_owned());
        }
        let mut at = row;
        for (place, &n) in places.iter_mut().zip(&inner).rev() {
            *place = at;
            at = product(&[at, n])?;
        }
        (c0, at, Filling { path: Path::default(), rows: groups * area, cols: row, written: images * c0 })
    } else {
        let (group_count, spatial): (i64, &[usize]) =
            if dst.layout == NC1HWC0 { (d[1], &[2, 3]) } else { (d[2], &[1, 3, 4]) };
        if d[0] != images || group_count < groups || spatial.iter().zip(&inner).any(|(&t, &x)| d[t] != x) {
            return Err("the shapes do not agree".to_owned());
        }
        let (height, width) = (inner[inner.len() - 2], inner[inner.len() - 1]);
        let plane = product(&[height, width, c0])?;
        let row = product(&[group_count, plane])?;
        places.copy_from_slice(&[row, width * c0, c0][3 - inside.len()..]);
        let depth = if inside.len() == 3 { inner[0] } else { 1 };
        let rows = product(&[images, depth])?;
        (depth * row, plane, Filling { path: Path::default(), rows, cols: row, written: groups * plane })
    };
    if product(&[filling.rows, filling.cols])? > dst.elements as i64 {
        return Ok(filling);
    }
    for g in 0..groups {
        let channel = Dim::new(c0.min(channels - g * c0), src.stride[c], 1);
        let mut dims = vec![Dim::new(images, src.stride[n], image)];
        let spatial = inside.iter().zip(&places).map(|(&i, &place)| Dim::new(src.shape[i], src.stride[i], place));
        if src.layout == NHWC {
            dims.extend(spatial);
            dims.push(channel);
        } else {
            dims.push(channel);
            dims.extend(spatial);
        }
        let start = src.stride[c].checked_mul(g * c0).ok_or("its strides are too large")?;
        filling.path.add(&dims, start, g * group).map_err(|f| f.message)?;
    }
    Ok(filling)
}

// ---- TSTORE -------------------------------------------------------------------------------------------------------

/// Stores the valid part of a tile. Vector and matrix tiles go bit by bit, in the layout they have; accumulators go
/// through the fixpipe, which converts.
fn store(ctx: &mut Ctx) -> Done {
    let (dst, src) = (ctx.global(0)?, ctx.tile(1)?);
    fits(ctx, src)?;
    let add = ctx.flag("AtomicType") == Some(1) || ctx.atomic;
    let element = dst.element;
    if src.space == Space::Acc {
        return store_acc(ctx, dst, src, add);
    }
    same_width(ctx, element, src.element)?;
    let layout = match form(src) {
        Form::Rows => ND,
        Form::Cols => DN,
        Form::Nz if element.bits() < 64 => NZ,
        other => return Err(illegal(format!("TSTORE: a tile stored as {other:?} cannot be stored"))),
    };
    let allowed = src.space == Space::Vec || (src.space == Space::Mat && ctx.arch != Arch::A5);
    // The tile decides how the device copies; a single row or column may go to a tensor of the other layout.
    if !allowed || (layout != dst.layout && src.rows != 1 && src.cols != 1) {
        return Err(illegal(format!(
            "TSTORE: a tile of {} stored as {:?} cannot be stored to a tensor of layout {}",
            memory_name(src.space),
            form(src),
            layout_name(dst.layout)
        )));
    }
    let axes = axes_of(AXES, layout).expect("ND, DN and NZ have axes");
    let path = path(ctx, dst, axes, 0, src.valid())?;
    path.check_nibbles(ctx, element)?;
    if !add {
        let values = ctx.read_window::<i64>(src, src.valid(), element.raw())?;
        return ctx.write_global(dst, element.raw(), &path.runs, &path.gather(&values));
    }
    if element.is_float() {
        let values = ctx.read_window::<f64>(src, src.valid(), element)?;
        add_global(ctx, dst, &path, &values, |a, b| a + b)
    } else {
        let values = ctx.read_window::<i64>(src, src.valid(), element)?;
        add_global(ctx, dst, &path, &values, i64::wrapping_add)
    }
}

/// Stores accumulators through the fixpipe.
fn store_acc(ctx: &mut Ctx, dst: &Global, src: &Tile, add: bool) -> Done {
    let name = ctx.instr.name;
    let element = dst.element;
    let legal: &[u8] = match ctx.arch {
        Arch::A3 | Arch::KirinX90 => &[ND, NZ, NC1HWC0, NDC1HWC0],
        _ => &[ND, NZ, NHWC, NCHW, NCDHW],
    };
    let axes = axes_of(FIXPIPE_AXES, dst.layout).filter(|_| legal.contains(&dst.layout)).ok_or_else(|| {
        illegal(format!("{name}: an accumulator cannot be stored to a tensor of layout {}", layout_name(dst.layout)))
    })?;
    if dst.layout == ND && dst.shape[..3] != [1, 1, 1] {
        return Err(illegal(format!(
            "{name}: an accumulator is stored to a tensor of two dimensions, found shape {:?}",
            dst.shape
        )));
    }
    let c0 = if element == Element::I32 { 16 } else { block(element) as i64 };
    let path = path(ctx, dst, axes, c0, src.valid())?;
    let relu = ctx.flag("ReluPreMode") == Some(1);
    let words = quant_words(ctx, 2, src.valid_cols, 0)?;
    // Only A5 scales from f32 to f32.
    let quant = if element == Element::F32 && ctx.arch == Arch::A3 { Quant::None } else { words.quant() };
    let values = ctx.read::<f64>(src)?;
    let out = fixpipe(&values, src.valid_cols, src.element, element, quant, relu)?;
    match add {
        true => add_global(ctx, dst, &path, &out, |a, b| a + b),
        false => ctx.write_global(dst, element, &path.runs, &path.gather(&out)),
    }
}

/// Adds to what global memory holds, as one access that other atomic ones may meet.
fn add_global<L: Lane>(ctx: &mut Ctx, dst: &Global, path: &Path, list: &[L], sum: impl Fn(L, L) -> L) -> Done {
    use Element::{BF16, F16, F32, I8, I16, I32};
    let element = dst.element;
    if !matches!(element, F16 | BF16 | F32 | I8 | I16 | I32) {
        return Err(illegal(format!("{}: there is no atomic addition of {}", ctx.instr.name, element.name())));
    }
    let mut values = path.gather(list);
    // The access is noted by the write.
    let race = std::mem::replace(&mut ctx.checks.race, false);
    let old = ctx.read_global::<L>(dst, element, &path.runs);
    ctx.checks.race = race;
    values.iter_mut().zip(old?).for_each(|(value, old)| *value = sum(old, *value));
    let atomic = std::mem::replace(&mut ctx.atomic, true);
    let done = ctx.write_global(dst, element, &path.runs, &values);
    ctx.atomic = atomic;
    done
}

/// Words with which the fixpipe scales, owned.
pub(in crate::npu) enum Words {
    None,
    Scalar(u64),
    Columns(Vec<u64>),
}

impl Words {
    /// As the fixpipe takes them.
    pub(in crate::npu) fn quant(&self) -> Quant<'_> {
        match self {
            Words::None => Quant::None,
            Words::Scalar(word) => Quant::Scalar(*word),
            Words::Columns(words) => Quant::Columns(words),
        }
    }
}

/// The scale that operand `index` gives for `cols` columns from `first` on: none, a word, or a Scaling tile. The
/// fixpipe finds the words of a tile only at multiples of 128 bytes.
pub(in crate::npu) fn quant_words(ctx: &mut Ctx, index: usize, cols: usize, first: usize) -> Result<Words, Fault> {
    let tile = match ctx.operand(index) {
        Operand::Int(word, _) => return Ok(Words::Scalar(*word as u64)),
        Operand::Tile(tile) if tile.space == Space::Scaling => tile,
        Operand::Null => return Ok(Words::None),
        other => {
            return Err(illegal(format!("{}: operand {index} is no scale of the fixpipe: {other:?}", ctx.instr.name)));
        }
    };
    if tile.element.bits() != 64 {
        return Err(illegal(format!(
            "{}: the fixpipe takes words of 64 bits, found {}",
            ctx.instr.name,
            tile.element.name()
        )));
    }
    if !(tile.address + 8 * first as u64).is_multiple_of(128) {
        let name = ctx.name(tile.site, "tile");
        let message = format!(
            "{}: the fixpipe finds its words at multiples of 128 bytes, not at byte {} (column {first} of tile {name})",
            ctx.instr.name,
            tile.address + 8 * first as u64
        );
        return Err(Fault { rule: Rule::Misaligned, message });
    }
    let window = Window { row: 0, col: first, rows: 1, cols };
    let words: Vec<i64> = ctx.read_window(tile, window, Element::U64)?;
    Ok(Words::Columns(words.into_iter().map(|w| w as u64).collect()))
}

// ---- TPREFETCH ----------------------------------------------------------------------------------------------------

/// Brings a tensor into the cache. The device does it by copying into `dst`, whose contents are lost. (The vendor's
/// simulator leaves it alone.) What is read is not used, so that it may be unwritten or be written meanwhile.
fn prefetch(ctx: &mut Ctx) -> Done {
    let src = ctx.global(1)?;
    let mut path = Path::default();
    let total = src.shape.iter().try_fold(1i64, |n, &x| n.checked_mul(x.max(0)));
    if total.is_none_or(|n| i128::from(n) > REACH >> 12) {
        return Err(illegal(format!("TPREFETCH: a tensor of shape {:?} is too large", src.shape)));
    }
    let dims: Vec<Dim> = (0..5).map(|d| Dim::new(src.shape[d], src.stride[d], 0)).collect();
    path.add(&dims, 0, 0)?;
    let race = std::mem::replace(&mut ctx.checks.race, false);
    let read = ctx.unchecked(|ctx| ctx.read_global::<i64>(src, src.element.raw(), &path.runs));
    ctx.checks.race = race;
    read?;
    match ctx.tile_if(0) {
        Some(dst) if dst.space == Space::Vec => ctx.clobber(dst),
        _ => Ok(()),
    }
}

#[cfg(test)]
pub(super) mod tests;
