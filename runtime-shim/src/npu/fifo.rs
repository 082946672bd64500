//! Cube-vector pipes: `TPUSH`, `TPOP`, `TFREE`, `TALLOC`.
//!
//! A pipe is a ring of slots. On A2/A3 (and in the `_GM` directions of A5) the slots are in global memory, and a pop
//! loads into a landing area of the consumer; in the other directions of A5 they are in the consumer's own UB or L1.
//! The producer waits for a free slot from its `slots`-th push on, once for each period of slots; the consumer signals
//! as often. Source of flags, addresses and splits: PTO-ISA, `npu/{a2a3,a5}/TPush.hpp`, `TPop.hpp`, `TFree.hpp`.
//!
//! The library's A5 pipes start with credits that let a producer overrun unread slots; here both families wait as
//! A2/A3 does, so that only a kernel's own faults are reported.

use std::collections::{HashMap, HashSet};

use super::abi::{BoxLayout, Global, Instr, Operand, PipeDesc, Slot, Space, Tile};
use super::element::Element;
use super::layout::Window;
use super::machine::{Item, Kind, Machine, Next, Signal};
use super::ops::{self, Ctx, Done, Fault, Pipe, illegal};
use super::report::Rule;
use crate::Arch;

/// State of the pipes of all cores.
#[derive(Default)]
pub(super) struct Fifos {
    /// Tiles that a core pushed to and popped from the pipe with a first flag.
    counts: HashMap<(usize, u8), Counts>,
    flags: HashSet<u64>,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    pushed: u64,
    popped: u64,
    /// How many flags the current instruction has already waited for.
    waited: usize,
}

impl Fifos {
    /// Whether a flag belongs to a pipe: credits may be left over.
    pub fn owns(&self, id: u64) -> bool {
        self.flags.contains(&(id % 16))
    }
}

/// How a tile is divided between the two vector cores, as `pto::TileSplitAxis`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Split {
    None,
    UpDown,
    LeftRight,
    UpDownOdd,
    LeftRightOdd,
}

/// One direction of a pipe, seen from a core.
struct Channel {
    desc: PipeDesc,
    /// The data go from the cube to the vectors.
    to_vector: bool,
    /// The slots are in global memory.
    in_gm: bool,
    /// Flag of "data ready"; the one of "slot free" follows it.
    ready: u64,
    /// Offset of the ring in global memory, in bytes.
    ring: u64,
}

impl Channel {
    /// The channel that a core pushes to (or pops from).
    fn of(desc: &PipeDesc, arch: Arch, kind: Kind, push: bool) -> Result<Channel, Fault> {
        let to_vector = (kind == Kind::Cube) == push;
        let (c2v, v2c, in_gm) = match (arch, desc.direction) {
            (Arch::A5, 1..=3) => (desc.direction != 2, desc.direction != 1, false),
            (Arch::A5, 5..=7) => (desc.direction != 6, desc.direction != 5, true),
            (_, 1..=3) => (desc.direction != 2, desc.direction != 1, true),
            _ => return Err(illegal(format!("a pipe of direction {} is not simulated", desc.direction))),
        };
        if !(if to_vector { c2v } else { v2c }) {
            let verb = if push { "pushes to" } else { "pops from" };
            let half = if kind == Kind::Cube { "cube" } else { "vector" };
            return Err(illegal(format!("the {half} half {verb} a pipe of direction {}", desc.direction)));
        }
        let both = c2v && v2c && !to_vector;
        Ok(Channel {
            to_vector,
            in_gm,
            ready: u64::from(desc.flag) + if both { 2 } else { 0 },
            ring: if both && in_gm { desc.slots * desc.slot_bytes } else { 0 },
            desc: desc.clone(),
        })
    }

    /// Slots between two signals of free space.
    fn period(&self) -> u64 {
        if self.desc.slots <= 2 { self.desc.slots.max(1) } else { self.desc.slots / 2 }
    }

    fn waits_for_space(&self, pushed: u64) -> bool {
        pushed >= self.desc.slots && pushed.is_multiple_of(self.period())
    }

    fn frees(&self, popped: u64) -> bool {
        (popped + 1).is_multiple_of(self.period())
    }

    /// Pipe that fills a slot.
    fn producer(&self) -> Pipe {
        if self.to_vector { Pipe::Fix } else { Pipe::Mte3 }
    }

    /// Pipe that first touches the data of a slot in the consumer.
    fn consumer(&self) -> Pipe {
        match (self.in_gm, self.to_vector) {
            (true, _) => Pipe::Mte2,
            (false, true) => Pipe::V,
            (false, false) => Pipe::Mte1,
        }
    }

    fn slot(&self, count: u64) -> u64 {
        count % self.desc.slots.max(1) * self.desc.slot_bytes
    }
}

/// What a step of a pipe instruction is about.
struct Step<'a> {
    core: usize,
    instr: &'a Instr,
    channel: Channel,
    split: Split,
    /// As they were before the instruction.
    counts: Counts,
}

/// A step of a pipe instruction; called again after [`Next::Wait`].
pub(super) fn step(machine: &mut Machine, core: usize, instr: &Instr) -> Next {
    if instr.name == "TPipe" {
        return Next::Go;
    }
    let next = Step::of(machine, core, instr).and_then(|step| step.run(machine));
    next.unwrap_or_else(|fault| {
        machine.fault(instr, fault);
        Next::Go
    })
}

fn split_of(instr: &Instr) -> Split {
    [Split::None, Split::UpDown, Split::LeftRight, Split::UpDownOdd, Split::LeftRightOdd]
        [instr.flag("TileSplitAxis").unwrap_or(0).min(4) as usize]
}

impl<'a> Step<'a> {
    fn of(machine: &mut Machine, core: usize, instr: &'a Instr) -> Result<Step<'a>, Fault> {
        let kind = machine.cores[core].place.kind;
        let Some(Operand::Pipe(desc)) = instr.operands.first() else {
            return Err(illegal(format!("{} needs a pipe", instr.name)));
        };
        if kind == Kind::Whole {
            return Err(illegal(format!(
                "{} joins the cube and the vector half, but the kernel has no sections for them",
                instr.name
            )));
        }
        let push = matches!(instr.name, "TPUSH" | "TALLOC");
        let channel = Channel::of(desc, machine.arch, kind, push)?;
        machine.fifos.flags.extend([channel.ready, channel.ready + 1]);
        let counts = machine.fifos.counts.get(&(core, desc.flag)).copied().unwrap_or_default();
        Ok(Step { core, instr, channel, split: split_of(instr), counts })
    }

    fn run(&self, machine: &mut Machine) -> Result<Next, Fault> {
        let channel = &self.channel;
        match (self.instr.name, self.instr.operands.get(1)) {
            ("TPUSH", Some(Operand::Tile(tile))) => self.push_tile(machine, tile),
            ("TALLOC", Some(Operand::Global(global))) => self.alloc(machine, global),
            ("TPUSH", Some(Operand::Global(_))) => {
                self.signal(machine, channel.producer(), channel.ready);
                Ok(Next::Go)
            }
            ("TPOP", Some(Operand::Tile(tile))) => self.pop_tile(machine, tile),
            ("TPOP", Some(Operand::Global(global))) => self.pop_global(machine, global),
            ("TFREE", operand) => {
                // Tiles that were loaded from global memory free their slot when they are popped.
                let by_hand = !channel.in_gm || matches!(operand, Some(Operand::Global(_)));
                if by_hand && self.counts.popped > 0 && channel.frees(self.counts.popped - 1) {
                    self.signal(machine, channel.consumer(), channel.ready + 1);
                }
                Ok(Next::Go)
            }
            _ => Err(illegal(format!("{} needs a tile or a tensor", self.instr.name))),
        }
    }

    /// The counts, to change them.
    fn counts<'m>(&self, machine: &'m mut Machine) -> &'m mut Counts {
        machine.fifos.counts.entry((self.core, self.channel.desc.flag)).or_default()
    }

    /// Numbers under which the core sends or awaits flag `id` of the pipe.
    fn numbers(&self, machine: &Machine, id: u64) -> Vec<u64> {
        match (machine.arch, machine.cores[self.core].place.kind) {
            (Arch::A5, Kind::Cube) if self.split != Split::None => vec![id, id + 16],
            _ => vec![id],
        }
    }

    /// Tells the other half that what `pipe` was given so far is done.
    fn signal(&self, machine: &mut Machine, pipe: Pipe, id: u64) {
        for id in self.numbers(machine, id) {
            let signal = match machine.arch {
                Arch::A5 => Signal::Intra { id },
                _ => Signal::Group { mode: 2, id },
            };
            machine.enqueue(self.core, pipe, Item::Signal(signal), self.instr.site);
        }
    }

    /// Waits for a flag of the other half: the whole core on A2/A3, one pipe on A5.
    fn wait(&self, machine: &mut Machine, pipe: Pipe, id: u64) -> Next {
        let (core, site) = (self.core, self.instr.site);
        let ids = self.numbers(machine, id);
        if machine.arch == Arch::A5 {
            ids.into_iter().for_each(|id| machine.enqueue(core, pipe, Item::Await(id), site));
            return Next::Go;
        }
        for id in ids.into_iter().skip(self.counts.waited) {
            if let Next::Wait(_) = machine.scalar(core, Item::Await(id), site) {
                return Next::Wait(format!("flag {id} of its cube-vector pipe"));
            }
            self.counts(machine).waited += 1;
        }
        self.counts(machine).waited = 0;
        Next::Go
    }

    /// Waits until the next slot may be filled.
    fn wait_for_space(&self, machine: &mut Machine) -> Next {
        match self.channel.waits_for_space(self.counts.pushed) {
            true => self.wait(machine, self.channel.producer(), self.channel.ready + 1),
            false => Next::Go,
        }
    }

    /// Waits until the next slot is filled.
    fn wait_for_data(&self, machine: &mut Machine) -> Next {
        self.wait(machine, self.channel.consumer(), self.channel.ready)
    }

    /// Number of the vector core whose part a tile is: its own, or the one that the kernel names.
    fn sub_block(&self, machine: &Machine) -> usize {
        match self.instr.operands.get(2) {
            Some(Operand::Int(value, _)) => (*value).clamp(0, 1) as usize,
            _ => machine.cores[self.core].place.sub,
        }
    }

    /// A tile's place in slot number `count` in global memory, as a tensor: all of the slot for the cube, a part for a
    /// vector core.
    fn slot_tensor(&self, machine: &Machine, tile: &Tile, element: Element, count: u64) -> Result<Global, Fault> {
        let channel = &self.channel;
        if channel.desc.gm == 0 {
            return Err(illegal("the pipe keeps its slots in global memory, but was given no buffer for them"));
        }
        let (offset, pitch) = match machine.cores[self.core].place.kind {
            Kind::Cube => (0, tile.valid_cols as i64),
            _ => {
                let sub = self.sub_block(machine);
                part(self.split, sub, tile.valid_rows, tile.valid_cols, tile.element.storage_bytes())
            }
        };
        let (rows, cols) = (tile.valid_rows as i64, tile.valid_cols as i64);
        Ok(Global {
            element,
            layout: 0,
            shape: [1, 1, 1, rows, cols],
            stride: [rows * pitch, rows * pitch, rows * pitch, pitch, 1],
            address: channel.desc.gm + channel.ring + channel.slot(count) + offset,
            slot: Slot(std::ptr::null_mut()),
            site: channel.desc.site,
        })
    }

    /// Gives a pipe the transfer that this instruction makes.
    fn transfer(&self, machine: &mut Machine, pipe: Pipe, what: &'static str, operands: Vec<Operand>) -> Done {
        let op = ops::find(what).ok_or_else(|| illegal(format!("{what} is not simulated")))?;
        let instr = Instr { operands, ..self.instr.clone() };
        machine.enqueue(self.core, pipe, Item::Run(op, instr), self.instr.site);
        Ok(())
    }

    fn push_tile(&self, machine: &mut Machine, tile: &Tile) -> Result<Next, Fault> {
        let (channel, instr) = (&self.channel, self.instr);
        if let Next::Wait(what) = self.wait_for_space(machine) {
            return Ok(Next::Wait(what));
        }
        let pipe = channel.producer();
        let quant = instr.flag("QuantMode_t").unwrap_or(0);
        let scale = scale(machine, self.core, quant)?;
        let element = pushed_element(quant, tile.element, &scale);
        let bytes = tile.valid_rows * tile.valid_cols * element.storage_bytes();
        let parts = if channel.to_vector || self.split == Split::None { 1 } else { 2 };
        if (bytes * parts) as u64 > channel.desc.slot_bytes {
            let message = format!("TPUSH of {} bytes into slots of {} bytes", bytes * parts, channel.desc.slot_bytes);
            return Err(Fault { rule: Rule::OutsideSpace, message });
        }
        if channel.in_gm {
            let tensor = self.slot_tensor(machine, tile, element, self.counts.pushed)?;
            let mut operands = vec![Operand::Global(tensor), Operand::Tile(tile.clone()), scale];
            operands.extend(instr.operands.iter().filter(|o| matches!(o, Operand::Flag(_))).cloned());
            self.transfer(machine, pipe, "TSTORE", operands)?;
        } else {
            let slot = channel.slot(self.counts.pushed);
            let mut operands = vec![Operand::Tile(tile.clone()), Operand::Int(slot as i64, Element::U64)];
            operands.extend(instr.operands.iter().filter(|o| matches!(o, Operand::Pipe(_))).cloned());
            operands.push(scale);
            operands.extend(instr.operands.iter().filter(|o| matches!(o, Operand::Flag(_))).cloned());
            operands.push(Operand::Int(self.sub_block(machine) as i64, Element::I32));
            let item = Item::Fill(Instr { operands, ..instr.clone() });
            machine.enqueue(self.core, pipe, item, instr.site);
        }
        self.counts(machine).pushed += 1;
        self.signal(machine, pipe, channel.ready);
        Ok(Next::Go)
    }

    fn alloc(&self, machine: &mut Machine, global: &Global) -> Result<Next, Fault> {
        if let Next::Wait(what) = self.wait_for_space(machine) {
            return Ok(Next::Wait(what));
        }
        self.bind(machine, global, self.counts.pushed)?;
        self.counts(machine).pushed += 1;
        Ok(Next::Go)
    }

    /// Points a tensor of the kernel to slot number `count`, or to this vector core's part of it.
    fn bind(&self, machine: &Machine, global: &Global, count: u64) -> Done {
        let channel = &self.channel;
        if !channel.in_gm || channel.desc.gm == 0 {
            return Err(illegal(
                "a tensor can be bound to a slot only where the pipe keeps its slots in global memory",
            ));
        }
        let place = machine.cores[self.core].place;
        let bytes = place.sub as u64 * global.element.storage_bytes() as u64;
        let offset = match self.split {
            _ if place.kind == Kind::Cube => 0,
            Split::None => 0,
            Split::UpDown => bytes * (global.shape[3] * global.shape[4]) as u64,
            _ => bytes * global.shape[4] as u64,
        };
        write_address(global.slot, channel.desc.gm + channel.slot(count) + offset);
        Ok(())
    }

    fn pop_tile(&self, machine: &mut Machine, tile: &Tile) -> Result<Next, Fault> {
        let channel = &self.channel;
        if let Next::Wait(what) = self.wait_for_data(machine) {
            return Ok(Next::Wait(what));
        }
        let buffer = if channel.to_vector { channel.desc.c2v } else { channel.desc.v2c };
        if channel.in_gm {
            let pipe = channel.consumer();
            let turn = self.counts.popped % channel.desc.local_slots.max(1);
            let landing = if machine.arch == Arch::A5 { tile.bytes() as u64 } else { channel.desc.slot_bytes };
            let placed = Tile { address: buffer + turn * landing, ..tile.clone() };
            write_address(tile.slot, placed.address);
            let tensor = self.slot_tensor(machine, tile, tile.element, self.counts.popped)?;
            self.transfer(machine, pipe, "TLOAD", vec![Operand::Tile(placed), Operand::Global(tensor)])?;
            if channel.frees(self.counts.popped) {
                self.signal(machine, pipe, channel.ready + 1);
            }
        } else {
            write_address(tile.slot, buffer + channel.slot(self.counts.popped));
        }
        self.counts(machine).popped += 1;
        Ok(Next::Go)
    }

    fn pop_global(&self, machine: &mut Machine, global: &Global) -> Result<Next, Fault> {
        if let Next::Wait(what) = self.wait_for_data(machine) {
            return Ok(Next::Wait(what));
        }
        self.bind(machine, global, self.counts.popped)?;
        self.counts(machine).popped += 1;
        Ok(Next::Go)
    }
}

/// Offset in bytes of a part in a slot that holds whole rows, and distance of rows in elements.
fn part(split: Split, sub: usize, rows: usize, cols: usize, bytes: usize) -> (u64, i64) {
    let (offset, pitch) = match split {
        Split::None => (0, cols),
        Split::UpDown => (sub * rows * cols, cols),
        Split::LeftRight => (sub * cols, 2 * cols),
        Split::UpDownOdd => (sub * (rows + sub) * cols, cols),
        Split::LeftRightOdd => (sub * (cols + sub), (2 * cols + 2 * sub).saturating_sub(1)),
    };
    ((offset * bytes) as u64, pitch as i64)
}

/// What a push through the fixpipe stores. Source: PTO-ISA, the type table of `TPUSH` with fixpipe settings; whether 8 bits
/// have a sign is in the word of the scale.
fn pushed_element(quant: u64, own: Element, scale: &Operand) -> Element {
    match quant {
        1 | 4 | 5 | 32 => Element::F16,
        16 | 34 | 35 | 36 => Element::BF16,
        2 | 23 => Element::I8,
        3 | 24 => match scale {
            Operand::Int(word, _) if *word as u64 >> 46 & 1 == 0 => Element::U8,
            _ => Element::I8,
        },
        40 => Element::HiF8,
        41 => Element::F8E4M3,
        _ => own,
    }
}

/// The scale of a conversion, from the register that the kernel set: a word for all columns, or a tile of words.
fn scale(machine: &Machine, core: usize, quant: u64) -> Result<Operand, Fault> {
    let registers = &machine.cores[core].registers;
    match quant {
        0 | 1 | 16 => Ok(Operand::Null),
        2 | 4 | 23 | 36 => {
            let tile = registers.quant_vector.clone();
            tile.map(Operand::Tile)
                .ok_or_else(|| illegal("TPUSH scales by columns, but SET_QUANT_VECTOR was not called"))
        }
        _ => {
            let (scale, element) =
                registers.quant_scalar.ok_or_else(|| illegal("TPUSH scales, but SET_QUANT_SCALAR was not called"))?;
            Ok(Operand::Int(ops::quant_word(scale, element) as i64, Element::U64))
        }
    }
}

/// Gives a tile or tensor of the kernel its address.
fn write_address(slot: Slot, address: u64) {
    slot.store(&address.to_le_bytes());
}

/// A push into the memory of the other half (A5): the pieces that each core there receives.
///
/// Operands are the tile, the offset of the slot, the pipe, the scale, flags, and the number of the vector core.
pub(super) fn pieces(machine: &Machine, core: usize, instr: &Instr) -> Result<Vec<Piece>, Fault> {
    let (Some(Operand::Tile(tile)), Some(Operand::Int(slot, _)), Some(Operand::Pipe(desc))) =
        (instr.operands.first(), instr.operands.get(1), instr.operands.get(2))
    else {
        return Err(illegal("a push needs a tile and a pipe"));
    };
    let place = machine.cores[core].place;
    // Vector cores of a block stand in the order of their numbers; there is one cube.
    let in_block = |kind: Kind, sub: usize| machine.of_block(place.block, kind).get(sub).copied();
    let target = |space: Space, address: u64, rows: usize, cols: usize| Tile {
        space,
        address: address + *slot as u64,
        row_major: true,
        box_layout: BoxLayout::None,
        rows,
        cols,
        valid_rows: rows,
        valid_cols: cols,
        ..tile.clone()
    };
    let (rows, cols) = (tile.valid_rows, tile.valid_cols);
    let whole = tile.valid();
    let split = split_of(instr);
    if let Some(layout) = instr.flag("LayoutMode_t") {
        // Through the fixpipe: the slot is a tile of the accumulator's rows and columns, for one vector core.
        let sub = instr.operands.last().and_then(|o| if let Operand::Int(sub, _) = o { Some(*sub) } else { None });
        let mut slot_tile = target(Space::Vec, desc.c2v, tile.rows, tile.cols);
        (slot_tile.valid_rows, slot_tile.valid_cols) = (rows, cols);
        let scale = instr.operands.get(3).unwrap_or(&Operand::Null);
        slot_tile.element = pushed_element(instr.flag("QuantMode_t").unwrap_or(0), tile.element, scale);
        slot_tile.row_major = layout == 1;
        slot_tile.fractal_bytes = 512;
        slot_tile.box_layout = if layout == 0 { BoxLayout::RowMajor } else { BoxLayout::None };
        let vector = in_block(Kind::Vector, sub.unwrap_or(0) as usize);
        let pieces = vector.map(|core| Piece { core, tile: slot_tile, row: 0, col: 0, from: whole });
        return Ok(pieces.into_iter().collect());
    }
    let mut pieces = Vec::new();
    let mut add = |core: Option<usize>, tile: Tile, row: usize, col: usize, from: Window| {
        if let Some(core) = core {
            pieces.push(Piece { core, tile, row, col, from });
        }
    };
    if place.kind == Kind::Cube {
        // Rows keep the distance of the accumulator's whole rows.
        let halves: &[(usize, Window, usize)] = &match split {
            Split::UpDown => vec![
                (0, Window { rows: rows / 2, ..whole }, tile.cols),
                (1, Window { row: rows / 2, rows: rows - rows / 2, ..whole }, tile.cols),
            ],
            Split::LeftRight => vec![
                (0, Window { cols: cols / 2, ..whole }, tile.cols / 2),
                (1, Window { col: cols / 2, cols: cols - cols / 2, ..whole }, tile.cols / 2),
            ],
            Split::None => vec![(0, whole, tile.cols)],
            _ => return Err(illegal("TPUSH moves nothing with an _ODD split on this target")),
        };
        for &(sub, from, pitch) in halves {
            add(in_block(Kind::Vector, sub), target(Space::Vec, desc.c2v, from.rows, pitch), 0, 0, from);
        }
    } else {
        let sub = match instr.operands.last() {
            Some(Operand::Int(value, _)) => *value as usize,
            _ => place.sub,
        };
        let (all_rows, all_cols, row, col) = match split {
            Split::UpDown => (2 * tile.rows, tile.cols, sub * rows, 0),
            Split::LeftRight => (tile.rows, 2 * tile.cols, 0, sub * cols),
            Split::None => (tile.rows, tile.cols, 0, 0),
            _ => return Err(illegal("TPUSH moves nothing with an _ODD split on this target")),
        };
        // The slot has the layout of the pushed tile.
        let mut slot_tile = target(Space::Mat, desc.v2c, all_rows, all_cols);
        (slot_tile.row_major, slot_tile.box_layout) = (tile.row_major, tile.box_layout);
        add(in_block(Kind::Cube, 0), slot_tile, row, col, whole);
    }
    Ok(pieces)
}

/// Part of a pushed tile, and where it goes.
pub(super) struct Piece {
    /// Core that receives it.
    pub core: usize,
    /// The slot, as a tile in that core's memory.
    pub tile: Tile,
    /// First row of the slot.
    pub row: usize,
    /// First column of the slot.
    pub col: usize,
    /// Part of the pushed tile.
    pub from: Window,
}

/// What was read of a pushed tile.
pub(super) enum Taken {
    /// Bits, as they are.
    Bits(Vec<i64>),
    /// Values of the slot's element type.
    Values(Vec<f64>),
}

/// Reads a part of the pushed tile; through the fixpipe, converted to the elements of the slot.
pub(super) fn take(ctx: &mut Ctx, tile: &Tile, piece: &Piece) -> Result<Taken, Fault> {
    if ctx.flag("LayoutMode_t").is_none() {
        return ctx.read_window(tile, piece.from, tile.element.raw()).map(Taken::Bits);
    }
    let words = ops::quant_words(ctx, 3, piece.from.cols, piece.from.col)?;
    let relu = ctx.flag("ReluPreMode") == Some(1);
    let values = ctx.read_window::<f64>(tile, piece.from, tile.element)?;
    ops::fixpipe(&values, piece.from.cols, tile.element, piece.tile.element, words.quant(), relu).map(Taken::Values)
}

/// Writes it into the slot.
pub(super) fn put(ctx: &mut Ctx, piece: &Piece, taken: &Taken) -> Done {
    let window = Window { row: piece.row, col: piece.col, ..piece.from };
    match taken {
        Taken::Bits(bits) => ctx.write_window(&piece.tile, window, piece.tile.element.raw(), bits),
        Taken::Values(values) => ctx.write_window(&piece.tile, window, piece.tile.element, values),
    }
}
