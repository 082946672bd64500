//! What instructions do. One table row an instruction; families share a driver. An instruction says what it reads and
//! writes by reading and writing through [`Ctx`], which makes every check.

#[cfg(test)]
mod bench;
mod convert;
mod elementwise;
mod gather;
mod irregular;
mod layouts;
mod matrix;
mod moves;
mod quantize;
mod reduce;
mod sort;
mod transfer;

pub use convert::{fixpipe, quant_word};
pub(super) use transfer::quant_words;

use std::collections::HashMap;
use std::sync::OnceLock;

use super::abi::{Conv, Global, Image, Instr, Operand, Site, Space, Tile};
use super::element::{Element, Lane};
use super::layout::{Region, Run, Strip, Window};
use super::memory::{GlobalMemory, POISON, Spaces, memory_name};
use super::order::{Access, Log, Moment};
use super::report::{Checks, Findings, Rule, Sources};
use crate::Arch;

/// Pipe of a core, numbered as `pipe_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Pipe {
    S,
    V,
    Mte1,
    Mte2,
    Mte3,
    M,
    All,
    Fix,
    Mte4,
    Mte5,
}

impl Pipe {
    /// By number.
    pub const EVERY: [Pipe; 10] =
        [Pipe::S, Pipe::V, Pipe::Mte1, Pipe::Mte2, Pipe::Mte3, Pipe::M, Pipe::All, Pipe::Fix, Pipe::Mte4, Pipe::Mte5];

    /// Name of the enumerator.
    pub fn name(self) -> &'static str {
        [
            "PIPE_S",
            "PIPE_V",
            "PIPE_MTE1",
            "PIPE_MTE2",
            "PIPE_MTE3",
            "PIPE_M",
            "PIPE_ALL",
            "PIPE_FIX",
            "PIPE_MTE4",
            "PIPE_MTE5",
        ][self as usize]
    }
}

/// Components of the order in each core.
pub const PIPES: usize = Pipe::EVERY.len();

/// Which pipe runs an instruction.
#[derive(Clone, Copy)]
pub enum On {
    /// Always this one.
    Pipe(Pipe),
    /// It depends on the operands.
    By(fn(&Instr, Arch) -> Pipe),
}

/// An instruction.
pub struct Op {
    /// Name.
    pub name: &'static str,
    /// Pipe.
    pub on: On,
    /// What it does.
    pub run: fn(&mut Ctx) -> Done,
}

/// Pairs of operands of an instruction that may not share bytes; whether only on A3.
pub type Apart = (&'static str, &'static [(usize, usize)], bool);

/// An instruction of the vector pipe.
const fn vector(name: &'static str, run: fn(&mut Ctx) -> Done) -> Op {
    Op { name, on: On::Pipe(Pipe::V), run }
}

/// An instruction of the scalar unit.
const fn scalar(name: &'static str, run: fn(&mut Ctx) -> Done) -> Op {
    Op { name, on: On::Pipe(Pipe::S), run }
}

impl Op {
    /// Checks that the operands may lie where they do, and runs the instruction.
    pub fn run(&self, ctx: &mut Ctx) -> Done {
        if ctx.checks.bounds {
            check_sharing(ctx);
        }
        (self.run)(ctx)
    }

    /// Pipe of an instruction with these operands.
    pub fn pipe(&self, instr: &Instr, arch: Arch) -> Pipe {
        match self.on {
            On::Pipe(pipe) => pipe,
            On::By(choose) => choose(instr, arch),
        }
    }
}

/// Reports operands that share bytes where the instruction does not allow it: pairs of the families' tables, and
/// operands of element-wise instructions that overlap without being the same place.
fn check_sharing(ctx: &mut Ctx) {
    // By instruction: its pairs, and whether it is element-wise.
    static TABLE: OnceLock<HashMap<&'static str, (Vec<Apart>, bool)>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let families = [
            convert::APART,
            elementwise::APART,
            gather::APART,
            irregular::APART,
            layouts::APART,
            quantize::APART,
            reduce::APART,
            sort::APART,
        ];
        let mut table: HashMap<&'static str, (Vec<Apart>, bool)> = HashMap::new();
        families.iter().flat_map(|f| f.iter()).for_each(|rule| table.entry(rule.0).or_default().0.push(*rule));
        elementwise::OPS.iter().for_each(|op| table.entry(op.name).or_default().1 = true);
        table
    });
    let instr = ctx.instr;
    let Some((rules, elementwise)) = table.get(instr.name) else { return };
    let shares = |a: usize, b: usize| match (instr.operands.get(a), instr.operands.get(b)) {
        (Some(Operand::Tile(a)), Some(Operand::Tile(b))) if a.space == b.space => {
            a.region(a.valid()).overlaps(&b.region(b.valid())).then_some((a, b))
        }
        _ => None,
    };
    for (_, pairs, only_a3) in rules {
        let holds = !only_a3 || ctx.arch == Arch::A3;
        for &(a, b) in pairs.iter().filter(|_| holds) {
            if let Some((a, b)) = shares(a, b) {
                sharing(ctx, a, b, "which this instruction does not allow");
            }
        }
    }
    if *elementwise {
        let displaced = |a: &Tile, b: &Tile| a.address != b.address || (a.valid_rows > 1 && a.cols != b.cols);
        for other in 1..instr.operands.len() {
            let shared = shares(0, other).filter(|(a, b)| a.element.bits() == b.element.bits());
            if let Some((a, b)) = shared.filter(|(a, b)| displaced(a, b)) {
                sharing(ctx, a, b, "in part: in place they must be one and the same place");
            }
        }
    }
}

fn sharing(ctx: &mut Ctx, a: &Tile, b: &Tile, rule: &str) {
    let (first, second) = (ctx.name(a.site, "tile"), ctx.name(b.site, "tile"));
    ctx.report(Rule::InPlace, b.site, |ctx| {
        format!(
            "{}: {first} at byte {} and {second} at byte {} of {} share bytes, {rule}",
            ctx.instr.name,
            a.address,
            b.address,
            memory_name(a.space)
        )
    });
}

/// A scalar load or store of the kernel: operands are the address and the size in bytes.
pub fn scalar_access(ctx: &mut Ctx, write: bool) -> Done {
    let (address, bytes) = (ctx.int(0)? as u64, ctx.int(1)? as u64);
    ctx.access_global(address, &Region::piece(address, bytes), write, Site::NONE).map(|_| ())
}

/// The instruction with a name.
pub fn find(name: &str) -> Option<&'static Op> {
    static TABLE: OnceLock<HashMap<&'static str, &'static Op>> = OnceLock::new();
    let families = [
        convert::OPS,
        elementwise::OPS,
        gather::OPS,
        irregular::OPS,
        layouts::OPS,
        matrix::OPS,
        moves::OPS,
        quantize::OPS,
        reduce::OPS,
        sort::OPS,
        transfer::OPS,
    ];
    TABLE.get_or_init(|| families.iter().flat_map(|f| f.iter()).map(|op| (op.name, op)).collect()).get(name).copied()
}

/// An instruction that cannot run: which rule it breaks, and how.
#[derive(Debug)]
pub struct Fault {
    /// The rule.
    pub rule: Rule,
    /// What is wrong.
    pub message: String,
}

/// The end of an instruction.
pub type Done = Result<(), Fault>;

/// An instruction that does not allow its operands.
pub fn illegal(message: impl Into<String>) -> Fault {
    Fault { rule: Rule::Illegal, message: message.into() }
}

/// Configuration registers of a core.
#[derive(Clone, Debug, Default)]
pub struct Registers {
    /// Of `SET_QUANT_SCALAR`.
    pub quant_scalar: Option<(f64, Element)>,
    /// Of `SET_QUANT_VECTOR`.
    pub quant_vector: Option<Tile>,
    /// Of im2col loads: set A and set B.
    pub img2col: [Img2col; 2],
}

/// One set of the registers of im2col loads. Each holds the settings of the convolution tile it was set from.
#[derive(Clone, Debug, Default)]
pub struct Img2col {
    /// Of `SETFMATRIX`: extents of the map and its borders.
    pub fmatrix: Option<Image>,
    /// Of `SET_IMG2COL_RPT`.
    pub repeat: Option<Image>,
    /// Of `SET_IMG2COL_PADDING`: bits of the element that stands outside the map.
    pub padding: Option<u64>,
}

/// On-chip memories of a core, with the accesses to them.
pub struct Half<'m> {
    pub(super) spaces: &'m mut Spaces,
    pub(super) on_chip: &'m mut [Log],
}

/// Where an instruction runs: the memories of its core, the moment, the checks.
pub struct Ctx<'m> {
    /// Target.
    pub arch: Arch,
    /// The instruction.
    pub instr: &'m Instr,
    /// Registers of the core.
    pub registers: &'m mut Registers,
    pub(super) spaces: &'m mut Spaces,
    pub(super) gm: &'m mut GlobalMemory,
    pub(super) on_chip: &'m mut [Log],
    pub(super) gm_log: &'m mut Log,
    pub(super) moment: Moment<'m>,
    pub(super) checks: Checks,
    pub(super) findings: &'m mut Findings,
    pub(super) sources: &'m mut Sources,
    /// Names a component, such as `PIPE_V of block 0`.
    pub(super) component: &'m dyn Fn(u32) -> String,
    /// Bytes moved, for the time model.
    pub bytes: u64,
    /// Multiply-accumulates done, for the time model.
    pub macs: u64,
    /// Whether writes to global memory add to what is there.
    pub atomic: bool,
    /// Whether what is written is there already.
    pub(super) repeats: bool,
    /// Memories of the two vector halves beside a cube half, whose fixpipe writes them; `None` where this core is both.
    pub(super) halves: [Option<Half<'m>>; 2],
    /// What the kernel prints.
    pub printed: &'m mut String,
}

impl<'m> Ctx<'m> {
    /// Operand `index`, [`Operand::Null`] when there is none.
    pub fn operand(&self, index: usize) -> &'m Operand {
        self.instr.operands.get(index).unwrap_or(&Operand::Null)
    }

    /// How many operands there are.
    pub fn count(&self) -> usize {
        self.instr.operands.len()
    }

    /// Operand `index`, a tile.
    pub fn tile(&self, index: usize) -> Result<&'m Tile, Fault> {
        match self.operand(index) {
            Operand::Tile(tile) => Ok(tile),
            other => Err(illegal(format!("operand {index} must be a tile, found {other:?}"))),
        }
    }

    /// Operand `index` if it is a tile.
    pub fn tile_if(&self, index: usize) -> Option<&'m Tile> {
        match self.operand(index) {
            Operand::Tile(tile) => Some(tile),
            _ => None,
        }
    }

    /// Operand `index`, a convolution tile.
    pub fn conv(&self, index: usize) -> Result<&'m Conv, Fault> {
        match self.operand(index) {
            Operand::Conv(conv) => Ok(conv),
            other => Err(illegal(format!("operand {index} must be a convolution tile, found {other:?}"))),
        }
    }

    /// Operand `index`, a global tensor.
    pub fn global(&self, index: usize) -> Result<&'m Global, Fault> {
        match self.operand(index) {
            Operand::Global(global) => Ok(global),
            other => Err(illegal(format!("operand {index} must be a global tensor, found {other:?}"))),
        }
    }

    /// Operand `index`, an integer.
    pub fn int(&self, index: usize) -> Result<i64, Fault> {
        match self.operand(index) {
            Operand::Int(value, _) => Ok(*value),
            Operand::Float(value, _) => Ok(*value as i64),
            Operand::Flag(flag) => Ok(flag.value as i64),
            other => Err(illegal(format!("operand {index} must be an integer, found {other:?}"))),
        }
    }

    /// Operand `index`, a number.
    pub fn float(&self, index: usize) -> Result<f64, Fault> {
        match self.operand(index) {
            Operand::Float(value, _) => Ok(*value),
            // A narrow float arrives as its byte.
            Operand::Int(bits, element) if element.is_float() => Ok(element.float_of_bits(*bits as u64)),
            Operand::Int(value, _) => Ok(*value as f64),
            other => Err(illegal(format!("operand {index} must be a number, found {other:?}"))),
        }
    }

    /// Value of the first enumerator of the enumeration `kind` among the operands.
    pub fn flag(&self, kind: &str) -> Option<u64> {
        self.instr.flag(kind)
    }

    /// Runs `body` with the memories of a vector half in place of the core's own. A core without halves is half 0.
    pub fn on_half<T>(&mut self, half: usize, body: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        if half != 0 && self.halves[half].is_none() {
            return Err(illegal(format!("{}: there is no vector half {half}", self.instr.name)));
        }
        self.swap_half(half);
        let result = body(self);
        self.swap_half(half);
        result
    }

    fn swap_half(&mut self, half: usize) {
        if let Some(other) = &mut self.halves[half] {
            std::mem::swap(&mut self.spaces, &mut other.spaces);
            std::mem::swap(&mut self.on_chip, &mut other.on_chip);
        }
    }

    /// Runs `body` without the check that what is read was written: for padding that the device moves along. What is
    /// written does not count as written either.
    pub fn unchecked<T>(&mut self, body: impl FnOnce(&mut Self) -> T) -> T {
        let init = std::mem::replace(&mut self.checks.init, false);
        let result = body(self);
        self.checks.init = init;
        result
    }

    /// Name of what was declared at `site`, in quotes, or a word for it.
    pub fn name(&mut self, site: Site, word: &str) -> String {
        let article = if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        self.sources.declared(site).map_or_else(|| format!("{article} {word}"), |name| format!("'{name}'"))
    }

    /// Reads the valid part of a tile, row by row.
    pub fn read<L: Lane>(&mut self, tile: &Tile) -> Result<Vec<L>, Fault> {
        self.read_window(tile, tile.valid(), tile.element)
    }

    /// Reads part of a tile, row by row, as elements of another type of the same width.
    pub fn read_window<L: Lane>(&mut self, tile: &Tile, window: Window, element: Element) -> Result<Vec<L>, Fault> {
        let base = self.access(tile, window, false)?;
        let memory = &self.spaces.bank(tile.space).bytes[base..];
        let mut values = Vec::with_capacity(window.rows * window.cols);
        tile.runs(window, |run| element.decode(memory, run.start, run.step, run.count, &mut values));
        Ok(values)
    }

    /// Writes the valid part of a tile, row by row.
    pub fn write<L: Lane>(&mut self, tile: &Tile, values: &[L]) -> Done {
        self.write_window(tile, tile.valid(), tile.element, values)
    }

    /// Writes part of a tile, row by row, as elements of another type of the same width.
    pub fn write_window<L: Lane>(&mut self, tile: &Tile, window: Window, element: Element, values: &[L]) -> Done {
        let base = self.access(tile, window, true)?;
        let memory = &mut self.spaces.bank(tile.space).bytes[base..];
        let mut at = 0;
        tile.runs(window, |run| {
            element.encode(&values[at..at + run.count], memory, run.start, run.step);
            at += run.count;
        });
        Ok(())
    }

    /// A scratch tile: whatever it held is gone.
    pub fn clobber(&mut self, tile: &Tile) -> Done {
        let base = self.access(tile, tile.whole(), true)?;
        self.spaces.bank(tile.space).bytes[base..base + tile.bytes()].fill(POISON);
        Ok(())
    }

    /// Checks an access to part of a tile and returns where the tile starts in its bank.
    fn access(&mut self, tile: &Tile, window: Window, write: bool) -> Result<usize, Fault> {
        if window.row + window.rows > tile.rows || window.col + window.cols > tile.cols {
            let name = self.name(tile.site, "tile");
            return Err(Fault {
                rule: Rule::OutsideSpace,
                message: format!(
                    "{} {} rows {}..{}, columns {}..{} of tile {name}, which has {} x {}",
                    self.instr.name,
                    if write { "writes" } else { "reads" },
                    window.row,
                    window.row + window.rows,
                    window.col,
                    window.col + window.cols,
                    tile.rows,
                    tile.cols
                ),
            });
        }
        let region = tile.region(window);
        self.access_bytes(tile.space, tile.address, &region, write, tile.site)?;
        Ok(tile.address as usize)
    }

    /// Checks an access to bytes of a space by an operand declared at `operand` that starts at `address`.
    pub fn access_bytes(&mut self, space: Space, address: u64, region: &Region, write: bool, operand: Site) -> Done {
        let size = self.spaces.size(space) as u64;
        let (start, end) = region.bounds();
        if end > size || address > size {
            let name = self.name(operand, "tile");
            let verb = if write { "writes" } else { "reads" };
            let message = format!(
                "{} {verb} bytes {start} to {end} of {} through tile {name}, which has {size} bytes on this target",
                self.instr.name,
                memory_name(space),
            );
            return Err(Fault { rule: Rule::OutsideSpace, message });
        }
        if !address.is_multiple_of(32) && self.moment.who as usize % PIPES != Pipe::S as usize {
            let name = self.name(operand, "tile");
            self.report(Rule::Misaligned, operand, |ctx| {
                format!(
                    "{} uses tile {name} at byte {address} of {}, which is no multiple of 32",
                    ctx.instr.name,
                    memory_name(space)
                )
            });
        }
        if !write
            && self.checks.init
            && let Some(byte) = self.spaces.bank(space).first_unwritten(region)
        {
            let name = self.name(operand, "tile");
            self.report(Rule::Uninitialised, operand, |ctx| {
                format!(
                    "{} reads tile {name} at byte {byte} of {}, which nothing has written",
                    ctx.instr.name,
                    memory_name(space)
                )
            });
        }
        if write && self.checks.init {
            self.spaces.bank(space).mark_written(region);
        }
        self.bytes += region.pieces().map(|(_, len)| len).sum::<u64>();
        if self.checks.race {
            let access = self.describe(region, write, operand);
            let conflict = self.on_chip[space as usize].note(self.moment, access);
            self.race(conflict, write, operand, memory_name(space));
        }
        Ok(())
    }

    fn describe(&self, region: &Region, write: bool, operand: Site) -> Access {
        Access {
            name: self.instr.name,
            site: self.instr.site,
            operand,
            region: region.clone(),
            write,
            atomic: self.atomic,
        }
    }

    fn race(&mut self, conflict: Option<(Access, u32)>, write: bool, operand: Site, memory: &str) {
        let Some((other, who)) = conflict else { return };
        // Without a split both vector halves push the same tile into the same slot.
        if self.repeats && self.instr.name == "TPUSH" && other.name == "TPUSH" && write && other.write {
            return;
        }
        let verb = |write: bool| if write { "writes" } else { "reads" };
        let mine = self.name(operand, "operand");
        let theirs = self.name(other.operand, "operand");
        let (me, they) = ((self.component)(self.moment.who), (self.component)(who));
        let instr = self.instr;
        self.findings.add(Rule::Race, instr.site, other.site, || {
            let message = format!(
                "{} on {me} {} bytes of {memory} through {mine} that {} on {they} {} through {theirs}, and nothing \
                 orders the two",
                instr.name,
                verb(write),
                other.name,
                verb(other.write),
            );
            let note = format!("{}:{}: the earlier {}", other.site.file(), other.site.line, other.name);
            let hint = match self.moment.who == who {
                true => format!("a pipe_barrier of that pipe between them is missing ({me})"),
                false => {
                    "a set_flag after the first with a wait_flag before the second, or a barrier, is missing".to_owned()
                }
            };
            (message, vec![note, hint])
        });
    }

    /// Reports a broken rule without stopping the instruction.
    pub fn report(&mut self, rule: Rule, other: Site, message: impl FnOnce(&Self) -> String) {
        if self.checks.covers(rule) {
            let text = message(self);
            self.findings.add(rule, self.instr.site, other, || (text, Vec::new()));
        }
    }

    /// Checks an access to global memory; returns the buffer and the offset of `address` in it.
    fn access_global(
        &mut self,
        address: u64,
        region: &Region,
        write: bool,
        operand: Site,
    ) -> Result<(usize, i64), Fault> {
        let verb = if write { "writes" } else { "reads" };
        let Some((index, offset)) = self.gm.find(address) else {
            let name = self.name(operand, "tensor");
            let message = format!(
                "{} {verb} global memory through {name}, whose pointer belongs to no argument",
                self.instr.name
            );
            return Err(Fault { rule: Rule::OutsideTensor, message });
        };
        let (start, end) = region.bounds();
        let buffer = &mut self.gm.buffers[index];
        let size = buffer.bank.bytes.len() as u64;
        buffer.reach = buffer.reach.max(end.saturating_sub(buffer.base));
        if start < buffer.base || end > buffer.base + size {
            let (start, end) = (start.wrapping_sub(buffer.base) as i64, end.wrapping_sub(buffer.base) as i64);
            let argument = buffer.name.clone();
            let name = self.name(operand, "tensor");
            let message = format!(
                "{} {verb} bytes {start} to {end} of argument '{argument}' through {name}, which has {size} bytes",
                self.instr.name,
            );
            return Err(Fault { rule: Rule::OutsideTensor, message });
        }
        if self.checks.init || write {
            let mut local = Region::default();
            region.pieces().for_each(|(at, len)| local.push(Strip::piece(at - buffer.base, len)));
            if write {
                buffer.bank.mark_written(&local);
                buffer.extent = buffer.extent.max(end - buffer.base);
            } else if let Some(byte) = buffer.bank.first_unwritten(&local) {
                let argument = buffer.name.clone();
                let name = self.name(operand, "tensor");
                self.report(Rule::Uninitialised, operand, |ctx| {
                    format!(
                        "{} reads byte {byte} of argument '{argument}' through {name}, which was not given and nothing \
                         has written",
                        ctx.instr.name
                    )
                });
            }
        }
        self.bytes += region.pieces().map(|(_, len)| len).sum::<u64>();
        if self.checks.race {
            let access = self.describe(region, write, operand);
            let conflict = self.gm_log.note(self.moment, access);
            self.race(conflict, write, operand, "global memory");
        }
        Ok((index, offset))
    }

    /// Reads runs of elements (offsets from the tensor's pointer, which may be negative) of a global tensor.
    pub fn read_global<L: Lane>(
        &mut self,
        global: &Global,
        element: Element,
        runs: &[GlobalRun],
    ) -> Result<Vec<L>, Fault> {
        let region = global_region(global.address, element, runs);
        let mut values = Vec::with_capacity(runs.iter().map(|r| r.count).sum());
        if region.is_empty() {
            return Ok(values);
        }
        let (index, offset) = self.access_global(global.address, &region, false, global.site)?;
        let memory = &self.gm.buffers[index].bank.bytes;
        for run in runs {
            let start = byte_offset(offset, run, element);
            element.decode(&memory[start..], 0, run.step.max(0) as usize, run.count, &mut values);
        }
        Ok(values)
    }

    /// Writes runs of elements of a global tensor.
    pub fn write_global<L: Lane>(
        &mut self,
        global: &Global,
        element: Element,
        runs: &[GlobalRun],
        values: &[L],
    ) -> Done {
        let region = global_region(global.address, element, runs);
        if region.is_empty() {
            return Ok(());
        }
        self.repeats = self.holds(global, element, runs, values);
        let (index, offset) = self.access_global(global.address, &region, true, global.site)?;
        if global.layout == 0 && global.shape[3] > 1 {
            self.gm.buffers[index].note_pitch(element.bytes_of(global.stride[3].max(0) as usize) as u64);
        }
        let memory = &mut self.gm.buffers[index].bank.bytes;
        let mut at = 0;
        for run in runs {
            let start = byte_offset(offset, run, element);
            element.encode(&values[at..at + run.count], &mut memory[start..], 0, run.step.max(0) as usize);
            at += run.count;
        }
        Ok(())
    }

    /// Whether global memory holds these values already; looked at for pushes only.
    fn holds<L: Lane>(&self, global: &Global, element: Element, runs: &[GlobalRun], values: &[L]) -> bool {
        let Some((index, offset)) = self.gm.find(global.address).filter(|_| self.instr.name == "TPUSH") else {
            return false;
        };
        let memory = &self.gm.buffers[index].bank.bytes;
        let mut at = 0;
        runs.iter().all(|run| {
            let part = &values[at..at + run.count];
            at += run.count;
            let start = byte_offset(offset, run, element);
            let end = start.checked_add(element.bytes_of(run.count)).filter(|_| run.step == 1);
            let Some(old) = end.and_then(|end| memory.get(start..end)) else { return false };
            let mut new = old.to_vec();
            element.encode(part, &mut new, 0, 1);
            new == old
        })
    }
}

/// Elements of a global tensor at equal distances, counted from its pointer.
#[derive(Clone, Copy, Debug)]
pub struct GlobalRun {
    /// Offset of the first in elements.
    pub start: i64,
    /// Distance in elements.
    pub step: i64,
    /// How many.
    pub count: usize,
}

fn byte_offset(offset: i64, run: &GlobalRun, element: Element) -> usize {
    (offset + run.start * element.bits() as i64 / 8) as usize
}

/// The bytes of runs, as addresses.
fn global_region(address: u64, element: Element, runs: &[GlobalRun]) -> Region {
    let mut region = Region::default();
    let bits = element.bits() as i64;
    for run in runs.iter().filter(|r| r.count > 0) {
        let start = address.wrapping_add((run.start * bits / 8) as u64);
        let width = (bits as u64).div_ceil(8);
        match run.step {
            1 => region.push(Strip::piece(start, element.bytes_of(run.count) as u64)),
            step => region.push(Strip { start, len: width, stride: (step * bits / 8) as u64, count: run.count as u64 }),
        }
    }
    region
}

impl From<Run> for GlobalRun {
    fn from(run: Run) -> Self {
        GlobalRun { start: run.start as i64, step: run.step as i64, count: run.count }
    }
}
