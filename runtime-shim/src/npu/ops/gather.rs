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
mod tests {
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
    fn compare(
        arch: Arch,
        element: Element,
        limit: Element,
        limits: &[f64],
        mode: u64,
    ) -> Result<[Vec<f64>; 2], Fault> {
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
        for (element, index) in
            [(Element::F32, Element::I32), (Element::F16, Element::I16), (Element::U8, Element::U16)]
        {
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
            [vec![Operand::Tile(dst.clone()), Operand::Global(table.clone()), Operand::Tile(index.clone())], flags]
                .concat()
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
}
