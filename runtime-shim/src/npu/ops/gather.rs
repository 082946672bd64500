//! Gathers and scatters: within UB by index, comparison, mask or byte offset, and between global memory and a tile
//! by row or element.
//!
//! Values are moved bit by bit. Offsets are in elements of the tile's storage unless a name says bytes.

use super::{
    Apart, Ctx, Done, Fault, Global, GlobalRun, On, Op, Operand, POISON, Pipe, Region, Rule, Space, Strip, Tile,
    Window, global_region, illegal, vector,
};
use crate::Arch;
use crate::npu::abi::{BoxLayout, Instr};
use crate::npu::element::{Element, Lane};

/// The instructions.
pub const OPS: &[Op] = &[
    vector("TGATHER", gather),
    vector("TGATHERB", gather_blocks),
    vector("TSCATTER", scatter),
    Op { name: "MGATHER", on: On::By(memory_gather_pipe), run: memory_gather },
    vector("MSCATTER", memory_scatter),
];

/// Operands that may not share bytes: what is written first is read later. `TGATHER` checks its own, which depend on
/// its form.
pub const APART: &[Apart] =
    &[("TGATHERB", &[(0, 1), (0, 2)], false), ("TSCATTER", &[(0, 1), (0, 2)], false), ("MGATHER", &[(0, 2)], false)];

/// Every how many elements `pto::MaskPattern` takes one, and which.
#[derive(Clone, Copy)]
struct Pattern {
    times: usize,
    first: usize,
}

impl Pattern {
    /// By value of the enumeration.
    const EVERY: [(usize, usize); 8] = [(0, 0), (2, 0), (2, 1), (4, 0), (4, 1), (4, 2), (4, 3), (1, 0)];

    fn of(ctx: &Ctx) -> Result<Pattern, Fault> {
        let value = ctx.flag("MaskPattern").unwrap_or(7) as usize;
        match Pattern::EVERY.get(value) {
            Some(&(times, first)) if times > 0 => Ok(Pattern { times, first }),
            _ => Err(illegal(format!("{} has no mask pattern {value}", ctx.instr.name))),
        }
    }

    /// How many of the first `count` are taken.
    fn taken(self, count: usize) -> usize {
        (count + self.times - 1 - self.first) / self.times
    }

    /// The one taken as number `index`.
    fn at(self, index: usize) -> usize {
        self.first + index * self.times
    }
}

// ---- parts of a tile given by storage offsets --------------------------------------------------------------------

/// Runs of neighbours among offsets.
fn runs_of(offsets: &[i64]) -> Vec<GlobalRun> {
    let mut sorted = offsets.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut runs: Vec<GlobalRun> = Vec::new();
    for start in sorted {
        match runs.last_mut() {
            Some(run) if run.start + run.count as i64 == start => run.count += 1,
            _ => runs.push(GlobalRun { start, step: 1, count: 1 }),
        }
    }
    runs
}

/// Checks that a window lies in its tile and the tile in a memory of its size, before anything of that size is made.
pub(super) fn check_window(ctx: &mut Ctx, tile: &Tile, window: Window) -> Done {
    let (rows, cols) = (window.row.saturating_add(window.rows), window.col.saturating_add(window.cols));
    let room = ctx.spaces.size(tile.space).saturating_mul(2);
    if rows <= tile.rows && cols <= tile.cols && tile.rows.saturating_mul(tile.cols) <= room {
        return Ok(());
    }
    let name = ctx.name(tile.site, "tile");
    let message = format!(
        "{} uses {rows} x {cols} elements of tile {name}, which has {} x {} in a memory of {} bytes",
        ctx.instr.name,
        tile.rows,
        tile.cols,
        room / 2
    );
    Err(Fault { rule: Rule::OutsideSpace, message })
}

/// Checks an access to elements of a tile; returns where the tile starts in its bank.
fn access_flat(ctx: &mut Ctx, tile: &Tile, element: Element, offsets: &[i64], write: bool) -> Result<usize, Fault> {
    let size = tile.bytes() as i64 * 8 / element.bits() as i64;
    if let Some(&offset) = offsets.iter().find(|o| !(0..size).contains(*o)) {
        let name = ctx.name(tile.site, "tile");
        let verb = if write { "writes" } else { "reads" };
        return Err(Fault {
            rule: Rule::OutsideSpace,
            message: format!("{} {verb} element {offset} of tile {name}, which has {size}", ctx.instr.name),
        });
    }
    let region = global_region(tile.address, element, &runs_of(offsets));
    ctx.access_bytes(tile.space, tile.address, &region, write, tile.site)?;
    Ok(tile.address as usize)
}

/// Reads elements of a tile by their offsets in its storage.
pub(super) fn read_flat<L: Lane>(
    ctx: &mut Ctx,
    tile: &Tile,
    element: Element,
    offsets: &[i64],
) -> Result<Vec<L>, Fault> {
    let mut values = Vec::with_capacity(offsets.len());
    if !offsets.is_empty() {
        let base = access_flat(ctx, tile, element, offsets, false)?;
        let memory = &ctx.spaces.bank(tile.space).bytes[base..];
        offsets.iter().for_each(|&o| element.decode(memory, o as usize, 1, 1, &mut values));
    }
    Ok(values)
}

/// Writes elements of a tile by their offsets in its storage, in order.
pub(super) fn write_flat<L: Lane>(ctx: &mut Ctx, tile: &Tile, element: Element, offsets: &[i64], values: &[L]) -> Done {
    if !offsets.is_empty() {
        let base = access_flat(ctx, tile, element, offsets, true)?;
        let memory = &mut ctx.spaces.bank(tile.space).bytes[base..];
        offsets.iter().zip(values).for_each(|(&o, v)| element.encode(std::slice::from_ref(v), memory, o as usize, 1));
    }
    Ok(())
}

/// Reads a window of indices as unsigned numbers.
fn read_indices(ctx: &mut Ctx, index: &Tile, window: Window) -> Result<Vec<i64>, Fault> {
    if index.element.is_float() || !matches!(index.element.bits(), 16 | 32) {
        let found = index.element.name();
        return Err(illegal(format!("{} needs indices of 16 or 32 bits, found {found}", ctx.instr.name)));
    }
    ctx.read_window(index, window, index.element.raw())
}

/// Whether two tiles share bytes.
fn overlap(a: &Tile, b: &Tile) -> bool {
    a.space == b.space && a.region(a.whole()).overlaps(&b.region(b.whole()))
}

/// Reports that an operand is overwritten before it is read.
pub(super) fn keep_apart(ctx: &mut Ctx, written: &Tile, read: &Tile) {
    if overlap(written, read) {
        let (written, other) = (ctx.name(written.site, "tile"), read.site);
        let read = ctx.name(other, "tile");
        ctx.report(Rule::InPlace, other, |ctx| {
            format!("{} writes {written} before it has read all of {read}, and they share bytes", ctx.instr.name)
        });
    }
}

/// Reports scratch that is too small: the device writes past its end.
pub(super) fn scratch_holds(ctx: &mut Ctx, scratch: &Tile, needed: usize) {
    let size = scratch.bytes();
    if size < needed {
        let name = ctx.name(scratch.site, "tile");
        ctx.report(Rule::OutsideSpace, scratch.site, |ctx| {
            format!("{} uses {needed} bytes of scratch tile {name}, which has {size}", ctx.instr.name)
        });
    }
}

fn same_width(ctx: &Ctx, dst: &Tile, src: &Tile) -> Done {
    match dst.element.bits() == src.element.bits() && dst.element.bits() >= 8 {
        true => Ok(()),
        false => Err(illegal(format!(
            "{} needs elements of one width of whole bytes, found {} and {}",
            ctx.instr.name,
            dst.element.name(),
            src.element.name()
        ))),
    }
}

// ---- within UB ---------------------------------------------------------------------------------------------------

/// The form of `TGATHER` follows from its operands.
fn gather(ctx: &mut Ctx) -> Done {
    match (ctx.operand(2), ctx.operand(4)) {
        (Operand::Tile(_), Operand::Tile(_)) => gather_compare(ctx),
        (Operand::Tile(_), _) => gather_indexed(ctx),
        _ => gather_masked(ctx),
    }
}

/// dst[r, c] = src[index[r, c]], where an index counts elements of the storage of src.
///
/// An index outside src is an error: the device reads what lies there, the vendor's simulator yields 0.
fn gather_indexed(ctx: &mut Ctx) -> Done {
    let (dst, src, index) = (ctx.tile(0)?, ctx.tile(1)?, ctx.tile(2)?);
    same_width(ctx, dst, src)?;
    keep_apart(ctx, dst, src);
    let offsets = read_indices(ctx, index, dst.valid())?;
    let values: Vec<i64> = read_flat(ctx, src, src.element.raw(), &offsets)?;
    if let (Arch::A3, 16, Some(tmp)) = (ctx.arch, dst.element.bits(), ctx.tile_if(3)) {
        // Byte offsets of the rows go here, at the row stride of dst; those of wider elements go to dst itself.
        let last = dst.valid_rows.saturating_sub(1) * dst.cols + dst.valid_cols;
        scratch_holds(ctx, tmp, last * 4);
        ctx.clobber(tmp)?;
    }
    ctx.write_window(dst, dst.valid(), dst.element.raw(), &values)
}

/// Writes the indices of the elements of each row that compare with the row's value to the start of that row of dst,
/// and how many there are to `count`.
///
/// Only the devices have this form. A3 compares in the type of src and numbers elements over whole rows of src; A5
/// compares unsigned numbers (floats of 32 bits rounded to nearest, floats of 16 bits as they are) and numbers them
/// over the lanes it has loaded.
fn gather_compare(ctx: &mut Ctx) -> Done {
    const EQ: u64 = 0;
    const GT: u64 = 4;
    let (dst, src, value, count, tmp) = (ctx.tile(0)?, ctx.tile(1)?, ctx.tile(2)?, ctx.tile(3)?, ctx.tile(4)?);
    let offset = ctx.int(5)?;
    let (rows, cols) = (src.valid_rows, src.valid_cols);
    let a3 = ctx.arch == Arch::A3;
    check_window(ctx, src, src.valid())?;
    let greater = match ctx.flag("CmpMode") {
        Some(EQ) => false,
        Some(GT) => true,
        found => return Err(illegal(format!("TGATHER compares with EQ or GT, found mode {found:?}"))),
    };
    if dst.element.is_float() || dst.element.bits() != 32 {
        return Err(illegal(format!("TGATHER needs 32-bit integers for indices, found {}", dst.element.name())));
    }
    let known = match src.element {
        Element::F32 | Element::F16 => true,
        Element::I32 if a3 => !greater,
        other => !a3 && !other.is_float() && matches!(other.bits(), 8 | 16 | 32),
    };
    if !known {
        return Err(illegal(format!("TGATHER cannot compare elements of type {} here", src.element.name())));
    }
    // Lanes of a load; the device masks the last load of a row only for elements of 32 bits.
    let load = if src.element.bits() == 8 { 128 } else { 64 };
    if !a3 && src.element.bits() < 32 && cols % load != 0 {
        return Err(illegal(format!(
            "TGATHER compares whole loads of {load} elements of type {}, and a row of src has {cols} valid",
            src.element.name()
        )));
    }
    let pitch = if a3 { src.cols } else { cols.next_multiple_of(load) };

    let rows_of: Vec<i64> = (0..rows as i64).collect();
    let wanted: Vec<i64> = read_flat(ctx, value, value.element, &rows_of)?;
    let element = src.element;
    let test = move |score: f64, wanted: f64| if greater { score > wanted } else { score == wanted };
    let window = src.valid();
    let hits: Vec<bool> = if element.is_float() {
        let scores: Vec<f64> = ctx.read_window(src, window, element)?;
        let whole = element == Element::F32 && !a3;
        let kind = if element == Element::F16 { Element::I16 } else { Element::I32 };
        let score = |x: f64| if whole { f64::from(libm::rint(x) as i32 as u32) } else { x };
        let limit = |k: i64| match whole {
            true => Element::U32.wrap(k) as f64,
            false => element.round(kind.wrap(k) as f64),
        };
        scores.iter().enumerate().map(|(i, &x)| test(score(x), limit(wanted[i / cols]))).collect()
    } else {
        let scores: Vec<i64> = ctx.read_window(src, window, element.raw())?;
        let limit = |k: i64| Element::U32.wrap(k) as f64;
        scores.iter().enumerate().map(|(i, &x)| test(x as f64, limit(wanted[i / cols]))).collect()
    };
    if a3 {
        // Bits of the comparison; then, beyond the tile (whose shape is that of the bits), numbers of all elements
        // of src, and the converted values of its rows.
        check_window(ctx, src, src.whole())?;
        check_window(ctx, tmp, tmp.whole())?;
        let used = tmp.rows * tmp.cols + src.rows * (src.cols * 4 + src.element.storage_bytes());
        let used = used.max(tmp.bytes());
        ctx.access_bytes(tmp.space, tmp.address, &Region::piece(tmp.address, used as u64), true, tmp.site)?;
        ctx.spaces.bank(tmp.space).bytes[tmp.address as usize..][..used].fill(POISON);
    }
    let mut counts = Vec::with_capacity(rows);
    for row in 0..rows {
        let here = &hits[row * cols..(row + 1) * cols];
        let numbers = here.iter().enumerate().filter(|(_, hit)| **hit);
        let indices: Vec<i64> = numbers.map(|(c, _)| offset + (row * pitch + c) as i64).collect();
        let window = Window { row, col: 0, rows: 1, cols: indices.len() };
        ctx.write_window(dst, window, dst.element, &indices)?;
        counts.push(indices.len() as i64);
    }
    write_flat(ctx, count, count.element, &rows_of, &counts)
}

/// Copies the elements of a mask pattern: of each row, one after another through dst; or whole rows.
///
/// The devices run the loop over rows as often as src has rows and so write past dst; that is not modelled.
fn gather_masked(ctx: &mut Ctx) -> Done {
    let (dst, src) = (ctx.tile(0)?, ctx.tile(1)?);
    same_width(ctx, dst, src)?;
    let pattern = Pattern::of(ctx)?;
    let raw = src.element.raw();
    if ctx.flag("GatherAxis") == Some(1) {
        let rows = pattern.taken(src.valid_rows);
        if dst.valid_rows != rows {
            return Err(illegal(format!(
                "TGATHER takes {rows} of the {} valid rows of src, and dst has {} valid",
                src.valid_rows, dst.valid_rows
            )));
        }
        for row in 0..rows {
            let from = Window { row: pattern.at(row), rows: 1, ..src.valid() };
            let values: Vec<i64> = ctx.read_window(src, from, raw)?;
            ctx.write_window(dst, Window { row, ..from }, raw, &values)?;
        }
        return Ok(());
    }
    let values: Vec<i64> = ctx.read_window(src, src.valid(), raw)?;
    // Elements of 64 bits keep a pitch of rows, and what a row has beyond whole groups is left out (A5).
    let wide = raw.bits() == 64 && ctx.arch != Arch::A3;
    let taken = if wide { src.valid_cols / pattern.times } else { pattern.taken(src.valid_cols) };
    let pitch = if wide { dst.cols / pattern.times } else { taken };
    let picks = (0..src.valid_rows).flat_map(|r| (0..taken).map(move |i| (r, i)));
    let (offsets, picked): (Vec<i64>, Vec<i64>) =
        picks.map(|(r, i)| ((r * pitch + i) as i64, values[r * src.valid_cols + pattern.at(i)])).unzip();
    write_flat(ctx, dst, raw, &offsets, &picked)
}

/// Copies blocks of 32 bytes: block b of row r of dst comes from byte offset[r, b] of src.
fn gather_blocks(ctx: &mut Ctx) -> Done {
    const BLOCK: usize = 32;
    let (dst, src, offset) = (ctx.tile(0)?, ctx.tile(1)?, ctx.tile(2)?);
    if offset.element.is_float() || offset.element.bits() != 32 {
        return Err(illegal(format!("TGATHERB needs 32-bit offsets, found {}", offset.element.name())));
    }
    if dst.element.bits() < 8 || !dst.row_major || dst.box_layout != BoxLayout::None {
        return Err(illegal("TGATHERB needs an unboxed row-major dst of elements of whole bytes"));
    }
    let size = dst.element.storage_bytes();
    let (row_bytes, rows) = (dst.valid_cols * size, dst.valid_rows);
    let blocks = row_bytes.div_ceil(BLOCK);
    let window = Window { row: 0, col: 0, rows, cols: blocks };
    let starts: Vec<i64> = ctx.read_window(offset, window, Element::U32)?;
    if let Some(start) = starts.iter().find(|s| *s % BLOCK as i64 != 0) {
        let name = ctx.name(src.site, "tile");
        ctx.report(Rule::Misaligned, src.site, |_| {
            format!("TGATHERB reads byte {start} of tile {name}, which is no multiple of 32")
        });
    }
    // Byte offsets in both tiles, the last block of a row as far as it is valid.
    let places = |from: &dyn Fn(usize, usize) -> i64| -> Vec<i64> {
        (0..rows).flat_map(|r| (0..row_bytes).map(move |b| (r, b))).map(|(r, b)| from(r, b)).collect()
    };
    let sources = places(&|r, b| starts[r * blocks + b / BLOCK] + (b % BLOCK) as i64);
    let targets = places(&|r, b| (r * dst.cols * size + b) as i64);
    let bytes: Vec<i64> = read_flat(ctx, src, Element::U8, &sources)?;
    write_flat(ctx, dst, Element::U8, &targets, &bytes)
}

/// The form of `TSCATTER` follows from its operands.
fn scatter(ctx: &mut Ctx) -> Done {
    match ctx.operand(2) {
        Operand::Tile(_) => scatter_indexed(ctx),
        _ => scatter_masked(ctx),
    }
}

/// Zeroes all of a tile, padding included, as the devices do before they scatter into it (the vendor's simulator
/// leaves it as it is).
fn zero(ctx: &mut Ctx, tile: &Tile) -> Done {
    check_window(ctx, tile, tile.whole())?;
    ctx.write_window(tile, tile.whole(), tile.element.raw(), &vec![0i64; tile.rows * tile.cols])
}

/// dst[index[r, c]] = src[r, c] over the valid part of index, where an index counts elements of the storage of dst;
/// the last of several writes stays. Everything else in dst becomes 0.
fn scatter_indexed(ctx: &mut Ctx) -> Done {
    let (dst, src, index) = (ctx.tile(0)?, ctx.tile(1)?, ctx.tile(2)?);
    same_width(ctx, dst, src)?;
    let offsets = read_indices(ctx, index, index.valid())?;
    let values: Vec<i64> = ctx.read_window(src, index.valid(), src.element.raw())?;
    zero(ctx, dst)?;
    write_flat(ctx, dst, dst.element.raw(), &offsets, &values)
}

/// The reverse of the masked gather: spreads src over the columns (or rows) of a mask pattern, zeros elsewhere.
fn scatter_masked(ctx: &mut Ctx) -> Done {
    let (dst, src) = (ctx.tile(0)?, ctx.tile(1)?);
    same_width(ctx, dst, src)?;
    let pattern = Pattern::of(ctx)?;
    let rows = ctx.flag("ScatterAxis") == Some(1);
    let fits = match rows {
        true => (pattern.taken(dst.valid_rows), dst.valid_cols),
        false => (dst.valid_rows, pattern.taken(dst.valid_cols)),
    };
    if fits != (src.valid_rows, src.valid_cols) {
        return Err(illegal(format!(
            "TSCATTER spreads {} x {} elements over dst of {} x {} valid, and src has {} x {} valid",
            fits.0, fits.1, dst.valid_rows, dst.valid_cols, src.valid_rows, src.valid_cols
        )));
    }
    let raw = dst.element.raw();
    let values: Vec<i64> = ctx.read_window(src, src.valid(), raw)?;
    if pattern.times == 1 {
        return ctx.write_window(dst, dst.valid(), raw, &values);
    }
    zero(ctx, dst)?;
    let places = (0..src.valid_rows).flat_map(|r| (0..src.valid_cols).map(move |c| (r, c)));
    let offsets: Vec<i64> = match rows {
        true => places.map(|(r, c)| dst.offset(pattern.at(r), c) as i64).collect(),
        false => places.map(|(r, c)| dst.offset(r, pattern.at(c)) as i64).collect(),
    };
    write_flat(ctx, dst, raw, &offsets, &values)
}

// ---- between global memory and a tile ----------------------------------------------------------------------------

/// What happens to an index that is not below the capacity of the table.
#[derive(Clone, Copy, PartialEq)]
enum Outside {
    /// The kernel promises that there is none.
    Never,
    Clamp,
    Wrap,
    /// A gather yields 0, a scatter writes nothing.
    Drop,
}

/// By value of `pto::GatherOOB` and `pto::ScatterOOB`.
const GATHER_OUTSIDE: [Outside; 4] = [Outside::Never, Outside::Clamp, Outside::Wrap, Outside::Drop];
const SCATTER_OUTSIDE: [Outside; 4] = [Outside::Never, Outside::Drop, Outside::Clamp, Outside::Wrap];

/// How a global tensor is indexed.
struct Table<'t> {
    global: &'t Global,
    /// `pto::Layout::NZ`: shape is {outer, block columns, block rows, 16, elements of a block row}.
    fractal: bool,
    /// Indices below it are inside.
    capacity: i64,
    /// Elements that a row index moves.
    width: usize,
    /// Elements between rows that follow one another.
    pitch: i64,
    /// Whether an index names a row.
    by_row: bool,
}

impl<'t> Table<'t> {
    /// Rows of a fractal block.
    const BLOCK_ROWS: i64 = 16;

    fn new(ctx: &Ctx, global: &'t Global, tile: &Tile, by_row: bool) -> Result<Table<'t>, Fault> {
        if global.element.bits() != tile.element.bits() || !matches!(tile.element.bits(), 8 | 16 | 32) {
            return Err(illegal(format!(
                "{} needs a tile and a tensor of elements of one width of 8, 16 or 32 bits, found {} and {}",
                ctx.instr.name,
                tile.element.name(),
                global.element.name()
            )));
        }
        let in_ub = tile.space == Space::Vec;
        let nz = !tile.row_major && tile.box_layout == BoxLayout::RowMajor;
        let nd = tile.row_major && tile.box_layout == BoxLayout::None;
        let paired = match (global.layout, in_ub) {
            (0, true) => nd || ctx.arch != Arch::A3,
            (2, true) => nz || ctx.arch != Arch::A3,
            (_, true) => ctx.arch != Arch::A3,
            (layout, false) => layout == 0 && nz,
        };
        if !paired {
            return Err(illegal(format!(
                "{} cannot pair this layout of the tensor with that of the tile: ND goes with an unboxed row-major \
                 tile in Vec or an NZ tile in Mat, NZ with an NZ tile in Vec",
                ctx.instr.name
            )));
        }
        let shape = global.shape.map(|extent| extent.max(0));
        let product = |extents: &[i64]| extents.iter().try_fold(1i64, |p, &e| p.checked_mul(e));
        let too_large = || illegal(format!("{}: the tensor is too large to index", ctx.instr.name));
        let fractal = global.layout == 2 && in_ub && ctx.arch == Arch::A3;
        if fractal {
            let across = 32 / tile.element.storage_bytes() as i64;
            if shape[3] != Self::BLOCK_ROWS || shape[4] != across {
                return Err(illegal(format!(
                    "{} needs an NZ tensor of blocks of 16 x {across}, found {} x {}",
                    ctx.instr.name, shape[3], shape[4]
                )));
            }
            let width = product(&[shape[0], shape[1], across]).ok_or_else(too_large)?;
            let rows = product(&[shape[2], Self::BLOCK_ROWS]).ok_or_else(too_large)?;
            let capacity = if by_row { rows } else { rows.checked_mul(width).ok_or_else(too_large)? };
            return Ok(Table { global, fractal, capacity, width: width as usize, pitch: 0, by_row });
        }
        // A5 takes the rows of a table in UB gathers and scatters as packed, and counts those of one matrix only.
        let packed = ctx.arch != Arch::A3 && in_ub;
        let capacity = match (by_row, packed) {
            (true, true) => Some(shape[3]),
            (true, false) => product(&shape[..4]),
            (false, _) => product(&shape),
        };
        let pitch = if packed { tile.valid_cols as i64 } else { global.stride[3] };
        let capacity = capacity.ok_or_else(too_large)?;
        Ok(Table { global, fractal, capacity, width: tile.valid_cols, pitch, by_row })
    }

    /// The place an index names, `None` when there is none.
    fn resolve(&self, ctx: &mut Ctx, index: i64, outside: Outside) -> Result<Option<i64>, Fault> {
        if index < self.capacity {
            return Ok(Some(index));
        }
        match outside {
            Outside::Drop => Ok(None),
            Outside::Clamp if self.capacity > 0 => Ok(Some(self.capacity - 1)),
            Outside::Wrap if self.capacity > 0 => Ok(Some(index % self.capacity)),
            _ => {
                let name = ctx.name(self.global.site, "tensor");
                let unit = if self.by_row { "rows" } else { "elements" };
                let message =
                    format!("{} has index {index} into {name}, which has {} {unit}", ctx.instr.name, self.capacity);
                Err(Fault { rule: Rule::OutsideTensor, message })
            }
        }
    }

    /// Offset from the tensor's pointer of a row and column of a fractal table.
    fn fractal_offset(&self, row: i64, col: i64) -> Option<i64> {
        let (shape, stride) = (&self.global.shape, &self.global.stride);
        let (block, inside) = (col / shape[4], col % shape[4]);
        let places = [block / shape[1], block % shape[1], row / Self::BLOCK_ROWS, row % Self::BLOCK_ROWS, inside];
        places.iter().zip(stride).try_fold(0i64, |sum, (&p, &s)| sum.checked_add(p.checked_mul(s)?))
    }

    /// Offsets of the elements of a place, appended to `offsets`.
    fn place(&self, ctx: &Ctx, place: i64, offsets: &mut Vec<i64>) -> Done {
        let far = || illegal(format!("{}: an index is too far from the tensor", ctx.instr.name));
        // Far below what would overflow as a number of bytes.
        let near = |offset: Option<i64>| offset.filter(|o| o.unsigned_abs() < 1 << 56).ok_or_else(far);
        let width = self.width as i64;
        match (self.by_row, self.fractal) {
            (true, false) => {
                let start = near(place.checked_mul(self.pitch))?;
                offsets.extend(start..start + width);
            }
            (true, true) => {
                for col in 0..width {
                    offsets.push(near(self.fractal_offset(place, col))?);
                }
            }
            (false, false) => offsets.push(near(Some(place))?),
            (false, true) => offsets.push(near(self.fractal_offset(place / width, place % width))?),
        }
        Ok(())
    }
}

/// Reads what an instruction of global memory is indexed by: one index a row, or one an element.
fn memory_indices(ctx: &mut Ctx, operand: usize, tile: &Tile, by_row: bool) -> Result<Vec<i64>, Fault> {
    let name = ctx.instr.name;
    let (rows, cols) = (tile.valid_rows, tile.valid_cols);
    let wanted = if by_row { format!("{rows} in a line") } else { format!("{rows} x {cols}") };
    let element = match ctx.operand(operand) {
        Operand::Tile(index) => index.element,
        Operand::Global(index) => index.element,
        other => return Err(illegal(format!("{name} needs a tile or tensor of indices, found {other:?}"))),
    };
    if !matches!(element, Element::I32 | Element::U32) {
        return Err(illegal(format!("{name} needs indices of type i32 or u32, found {}", element.name())));
    }
    match ctx.operand(operand) {
        Operand::Tile(index) if by_row => {
            let line = match (index.valid_rows, index.valid_cols) {
                (1, count) if index.row_major || index.rows == 1 => count,
                (count, 1) if !index.row_major || index.cols == 1 => count,
                _ => usize::MAX,
            };
            if line != rows || index.box_layout != BoxLayout::None {
                return Err(illegal(format!(
                    "{name} needs {wanted} of indices, found {} x {} valid",
                    index.valid_rows, index.valid_cols
                )));
            }
            let offsets: Vec<i64> = (0..rows as i64).collect();
            read_flat(ctx, index, Element::U32, &offsets)
        }
        Operand::Tile(index) => {
            if (index.valid_rows, index.valid_cols) != (rows, cols) {
                return Err(illegal(format!(
                    "{name} needs {wanted} indices, found {} x {} valid",
                    index.valid_rows, index.valid_cols
                )));
            }
            ctx.read_window(index, index.valid(), Element::U32)
        }
        Operand::Global(index) => {
            let pitch = index.stride[3];
            if pitch.unsigned_abs() > 1 << 40 {
                return Err(illegal(format!("{name}: rows of indices are {pitch} elements apart")));
            }
            let runs: Vec<GlobalRun> = match by_row {
                true => vec![GlobalRun { start: 0, step: 1, count: rows }],
                false => (0..rows as i64).map(|r| GlobalRun { start: r * pitch, step: 1, count: cols }).collect(),
            };
            ctx.read_global(index, Element::U32, &runs)
        }
        _ => Ok(Vec::new()),
    }
}

/// Reads elements of a tensor by their offsets from its pointer.
fn read_offsets(ctx: &mut Ctx, global: &Global, element: Element, offsets: &[i64]) -> Result<Vec<i64>, Fault> {
    let mut values = Vec::with_capacity(offsets.len());
    if offsets.is_empty() {
        return Ok(values);
    }
    let region = global_region(global.address, element, &runs_of(offsets));
    let (buffer, start) = ctx.access_global(global.address, &region, false, global.site)?;
    let memory = &ctx.gm.buffers[buffer].bank.bytes;
    let width = element.storage_bytes() as i64;
    offsets.iter().for_each(|o| element.decode(&memory[(start + o * width) as usize..], 0, 1, 1, &mut values));
    Ok(values)
}

/// Value of `pto::Coalesce` that names elements.
const ELEM: u64 = 1;

/// Into L1 the load pipe gathers; into UB the devices use several pipes and order them with the vector pipe.
fn memory_gather_pipe(instr: &Instr, _: Arch) -> Pipe {
    match instr.operands.first() {
        Some(Operand::Tile(dst)) if dst.space == Space::Mat => Pipe::Mte2,
        _ => Pipe::V,
    }
}

/// Gathers rows or elements of a tensor into a tile.
///
/// Rows are the default (of both devices; the vendor's simulator takes elements). Into L1 the form follows from
/// the scratch tensor: with it elements, without it rows. The scratch then holds an image of the whole tile.
fn memory_gather(ctx: &mut Ctx) -> Done {
    let (dst, src) = (ctx.tile(0)?, ctx.global(1)?);
    let scratch = match ctx.operand(3) {
        Operand::Global(scratch) => Some(scratch),
        _ => None,
    };
    if ctx.flag("GatherExec") == Some(1) {
        return Err(illegal("MGATHER with GatherExec::Simt is split between the halves of a core: not simulated"));
    }
    let into_l1 = dst.space == Space::Mat;
    let by_row = if into_l1 { scratch.is_none() } else { ctx.flag("Coalesce") != Some(ELEM) };
    let outside = GATHER_OUTSIDE[(ctx.flag("GatherOOB").unwrap_or(0) & 3) as usize];
    let table = Table::new(ctx, src, dst, by_row)?;
    let window = Window { cols: if by_row { table.width } else { dst.valid_cols }, ..dst.valid() };
    check_window(ctx, dst, window)?;
    let indices = memory_indices(ctx, 2, dst, by_row)?;
    let raw = dst.element.raw();
    let width = if by_row { table.width } else { 1 };

    let mut offsets = Vec::new();
    let mut places = Vec::with_capacity(indices.len());
    for &index in &indices {
        let place = table.resolve(ctx, index, outside)?;
        if let Some(place) = place {
            table.place(ctx, place, &mut offsets)?;
        }
        places.push(place.is_some());
    }
    let found = read_offsets(ctx, src, raw, &offsets)?;
    let (mut values, mut next) = (Vec::with_capacity(places.len() * width), found.chunks_exact(width.max(1)));
    for &there in &places {
        match there {
            true => values.extend_from_slice(next.next().unwrap_or(&[])),
            false => values.resize(values.len() + width, 0),
        }
    }

    if let Some(scratch) = scratch {
        // The image is made in memory and loaded as one piece: what is not valid becomes 0.
        let mut image = vec![0i64; dst.rows * dst.cols];
        let cells = (0..window.rows).flat_map(|r| (0..window.cols).map(move |c| (r, c)));
        for ((r, c), &value) in cells.zip(&values) {
            if let Some(cell) = image.get_mut(dst.offset(r, c)) {
                *cell = value;
            }
        }
        ctx.write_global(scratch, raw, &[GlobalRun { start: 0, step: 1, count: image.len() }], &image)?;
    }
    if scratch.is_some() || (outside == Outside::Drop && (into_l1 || (by_row && table.fractal))) {
        zero(ctx, dst)?;
    }
    ctx.write_window(dst, window, raw, &values)
}

/// How a scatter combines with what is there, by value of `pto::ScatterAtomicOp`.
const ATOMIC: [&str; 4] = ["None", "Add", "Max", "Min"];

/// Combines two values of a type, given as bits.
fn combine(element: Element, operation: &str, old: i64, new: i64) -> i64 {
    let float = |bits: i64| element.float_of_bits(bits as u64);
    let pick = |newer: bool| if newer { new } else { old };
    match (operation, element.is_float()) {
        ("Add", true) => {
            let mut bytes = [0u8; 8];
            element.encode(&[float(old) + float(new)], &mut bytes, 0, 1);
            i64::from_le_bytes(bytes)
        }
        ("Add", false) => element.wrap(old.wrapping_add(new)),
        ("Max", true) => pick(float(old) < float(new)),
        ("Min", true) => pick(float(new) < float(old)),
        ("Max", false) => pick(element.wrap(old) < element.wrap(new)),
        ("Min", false) => pick(element.wrap(new) < element.wrap(old)),
        _ => new,
    }
}

/// Scatters the rows or elements of a tile over a tensor, in row-major order: the last of several writes stays.
///
/// Defaults are those of the devices: rows, the last write stays. Reports writes that meet where A5 leaves open
/// which one stays.
fn memory_scatter(ctx: &mut Ctx) -> Done {
    let (dst, src) = (ctx.global(0)?, ctx.tile(1)?);
    if src.space != Space::Vec {
        return Err(illegal(format!("MSCATTER needs a source tile in Vec, found {:?}", src.space)));
    }
    let by_row = ctx.flag("Coalesce") != Some(ELEM);
    let outside = SCATTER_OUTSIDE[(ctx.flag("ScatterOOB").unwrap_or(0) & 3) as usize];
    let operation = ATOMIC[(ctx.flag("ScatterAtomicOp").unwrap_or(0) & 3) as usize];
    let table = Table::new(ctx, dst, src, by_row)?;
    let window = Window { cols: if by_row { table.width } else { src.valid_cols }, ..src.valid() };
    check_window(ctx, src, window)?;
    let indices = memory_indices(ctx, 2, src, by_row)?;
    let raw = src.element.raw();
    let width = if by_row { table.width } else { 1 };
    let values: Vec<i64> = ctx.read_window(src, window, raw)?;

    let mut offsets = Vec::with_capacity(values.len());
    let mut kept = Vec::with_capacity(values.len());
    for (&index, row) in indices.iter().zip(values.chunks_exact(width.max(1))) {
        if let Some(place) = table.resolve(ctx, index, outside)? {
            table.place(ctx, place, &mut offsets)?;
            kept.extend_from_slice(row);
        }
    }
    if offsets.is_empty() {
        return Ok(());
    }
    let runs = runs_of(&offsets);
    let distinct: usize = runs.iter().map(|r| r.count).sum();
    let plain = operation == "None";
    if plain && distinct < offsets.len() && ctx.arch != Arch::A3 && ctx.flag("ScatterConflict") == Some(1) {
        let name = ctx.name(dst.site, "tensor");
        ctx.report(Rule::Race, dst.site, |_| {
            format!("MSCATTER writes elements of {name} more than once, and ScatterConflict::Default leaves open which write stays")
        });
    }
    let region = global_region(dst.address, raw, &runs);
    if !plain {
        report_unwritten(ctx, dst, &region);
    }
    // A3 adds single elements with the scalar unit, which other cores can interrupt.
    let atomic = ctx.atomic;
    ctx.atomic = !plain && (by_row || ctx.arch != Arch::A3);
    let access = ctx.access_global(dst.address, &region, true, dst.site);
    ctx.atomic = atomic;
    let (buffer, start) = access?;
    let memory = &mut ctx.gm.buffers[buffer].bank.bytes;
    let bytes = raw.storage_bytes() as i64;
    let mut old = Vec::with_capacity(1);
    for (&offset, &value) in offsets.iter().zip(&kept) {
        let cell = &mut memory[(start + offset * bytes) as usize..];
        old.clear();
        raw.decode(cell, 0, 1, 1, &mut old);
        raw.encode(&[combine(src.element, operation, old[0], value)], cell, 0, 1);
    }
    Ok(())
}

/// Reports that an update of a tensor meets bytes that nothing has written.
fn report_unwritten(ctx: &mut Ctx, global: &Global, region: &Region) {
    let Some((buffer, _)) = ctx.gm.find(global.address) else { return };
    let buffer = &ctx.gm.buffers[buffer];
    let (first, size) = (buffer.base, buffer.bank.bytes.len() as u64);
    let mut local = Region::default();
    let inside = region.pieces().filter(|&(at, len)| at >= first && at + len <= first + size);
    inside.for_each(|(at, len)| local.push(Strip::piece(at - first, len)));
    if let Some(byte) = buffer.bank.first_unwritten(&local) {
        let argument = buffer.name.clone();
        ctx.report(Rule::Uninitialised, global.site, |ctx| {
            format!("{} updates byte {byte} of argument '{argument}', which nothing has written", ctx.instr.name)
        });
    }
}

#[cfg(test)]
mod tests;
