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

use super::abi::{BoxLayout, Flag, Global, Instr, Operand, PipeDesc, Site, Slot, Space, Tile};
use super::element::Element;
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
        pushed >= self.desc.slots && pushed % self.period() == 0
    }

    fn frees(&self, popped: u64) -> bool {
        (popped + 1) % self.period() == 0
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

/// A step of a pipe instruction; called again after [`Next::Wait`].
pub(super) fn step(machine: &mut Machine, core: usize, instr: &Instr) -> Next {
    let kind = machine.cores[core].place.kind;
    let Some(Operand::Pipe(desc)) = instr.operands.first() else {
        return fault(machine, instr, illegal(format!("{} needs a pipe", instr.name)));
    };
    if instr.name == "TPipe" {
        return Next::Go;
    }
    if kind == Kind::Whole {
        let message =
            format!("{} joins the cube and the vector half, but the kernel has no sections for them", instr.name);
        return fault(machine, instr, illegal(message));
    }
    let push = matches!(instr.name, "TPUSH" | "TALLOC");
    let channel = match Channel::of(desc, machine.arch, kind, push) {
        Ok(channel) => channel,
        Err(error) => return fault(machine, instr, error),
    };
    machine.fifos.flags.extend([channel.ready, channel.ready + 1]);
    let split = split_of(instr);
    let key = (core, desc.flag);
    let counts = machine.fifos.counts.get(&key).copied().unwrap_or_default();
    let tile = instr.operands.get(1);
    let next = match (instr.name, tile) {
        ("TPUSH", Some(Operand::Tile(tile))) => push_tile(machine, core, instr, &channel, split, tile, counts),
        ("TALLOC", Some(Operand::Global(global))) => alloc(machine, core, instr, &channel, split, global, counts),
        ("TPUSH", Some(Operand::Global(_))) => {
            signal(machine, core, &channel, channel.producer(), channel.ready, split, instr.site);
            Ok(Next::Go)
        }
        ("TPOP", Some(Operand::Tile(tile))) => pop_tile(machine, core, instr, &channel, split, tile, counts),
        ("TPOP", Some(Operand::Global(global))) => pop_global(machine, core, instr, &channel, split, global, counts),
        ("TFREE", operand) => {
            // Tiles that were loaded from global memory free their slot when they are popped.
            let by_hand = !channel.in_gm || matches!(operand, Some(Operand::Global(_)));
            if by_hand && counts.popped > 0 && channel.frees(counts.popped - 1) {
                signal(machine, core, &channel, channel.consumer(), channel.ready + 1, split, instr.site);
            }
            Ok(Next::Go)
        }
        _ => Err(illegal(format!("{} needs a tile or a tensor", instr.name))),
    };
    next.unwrap_or_else(|error| fault(machine, instr, error))
}

fn fault(machine: &mut Machine, instr: &Instr, fault: Fault) -> Next {
    machine.fault(instr, fault);
    Next::Go
}

fn split_of(instr: &Instr) -> Split {
    let value = instr.operands.iter().find_map(|o| match o {
        Operand::Flag(Flag { kind: "TileSplitAxis", value }) => Some(*value),
        _ => None,
    });
    [Split::None, Split::UpDown, Split::LeftRight, Split::UpDownOdd, Split::LeftRightOdd]
        [value.unwrap_or(0).min(4) as usize]
}

/// Numbers under which a core sends or awaits flag `id` of a pipe.
fn numbers(machine: &Machine, core: usize, split: Split, id: u64) -> Vec<u64> {
    match (machine.arch, machine.cores[core].place.kind) {
        (Arch::A5, Kind::Cube) if split != Split::None => vec![id, id + 16],
        _ => vec![id],
    }
}

/// Tells the other half that what `pipe` was given so far is done.
fn signal(machine: &mut Machine, core: usize, _channel: &Channel, pipe: Pipe, id: u64, split: Split, site: Site) {
    for id in numbers(machine, core, split, id) {
        let signal = match machine.arch {
            Arch::A5 => Signal::Intra { id },
            _ => Signal::Group { mode: 2, id },
        };
        machine.enqueue(core, pipe, Item::Signal(signal), site);
    }
}

/// Waits for a flag of the other half: the whole core on A2/A3, one pipe on A5.
fn wait(machine: &mut Machine, core: usize, key: (usize, u8), pipe: Pipe, id: u64, split: Split, site: Site) -> Next {
    let ids = numbers(machine, core, split, id);
    if machine.arch == Arch::A5 {
        ids.into_iter().for_each(|id| machine.enqueue(core, pipe, Item::Await(id), site));
        return Next::Go;
    }
    let done = machine.fifos.counts.entry(key).or_default().waited;
    for id in ids.into_iter().skip(done) {
        if let Next::Wait(_) = machine.scalar(core, Item::Await(id), site) {
            return Next::Wait(format!("flag {id} of its cube-vector pipe"));
        }
        machine.fifos.counts.entry(key).or_default().waited += 1;
    }
    machine.fifos.counts.entry(key).or_default().waited = 0;
    Next::Go
}

/// Number of the vector core whose part a tile is: its own, or the one that the kernel names.
fn sub_block(machine: &Machine, core: usize, instr: &Instr) -> usize {
    match instr.operands.get(2) {
        Some(Operand::Int(value, _)) => (*value).clamp(0, 1) as usize,
        _ => machine.cores[core].place.sub,
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

/// The part of a slot in global memory as a tensor.
fn slot_tensor(channel: &Channel, tile: &Tile, element: Element, offset: u64, pitch: i64) -> Result<Global, Fault> {
    if channel.desc.gm == 0 {
        return Err(illegal("the pipe keeps its slots in global memory, but was given no buffer for them"));
    }
    let (rows, cols) = (tile.valid_rows as i64, tile.valid_cols as i64);
    Ok(Global {
        element,
        layout: 0,
        shape: [1, 1, 1, rows, cols],
        stride: [rows * pitch, rows * pitch, rows * pitch, pitch, 1],
        address: channel.desc.gm + channel.ring + offset,
        slot: Slot(std::ptr::null_mut()),
        site: channel.desc.site,
    })
}

fn run(
    machine: &mut Machine,
    core: usize,
    pipe: Pipe,
    what: &'static str,
    instr: &Instr,
    operands: Vec<Operand>,
) -> Done {
    let op = ops::find(what).ok_or_else(|| illegal(format!("{what} is not simulated")))?;
    let instr = Instr { operands, ..instr.clone() };
    machine.enqueue(core, pipe, Item::Run(op, instr.clone()), instr.site);
    Ok(())
}

fn push_tile(
    machine: &mut Machine,
    core: usize,
    instr: &Instr,
    channel: &Channel,
    split: Split,
    tile: &Tile,
    counts: Counts,
) -> Result<Next, Fault> {
    let key = (core, channel.desc.flag);
    let pipe = channel.producer();
    if channel.waits_for_space(counts.pushed) {
        if let Next::Wait(what) = wait(machine, core, key, pipe, channel.ready + 1, split, instr.site) {
            return Ok(Next::Wait(what));
        }
    }
    let bytes = tile.valid_rows * tile.valid_cols * tile.element.storage_bytes();
    let parts = if channel.to_vector || split == Split::None { 1 } else { 2 };
    if (bytes * parts) as u64 > channel.desc.slot_bytes {
        let message = format!("TPUSH of {} bytes into slots of {} bytes", bytes * parts, channel.desc.slot_bytes);
        return Err(Fault { rule: Rule::OutsideSpace, message });
    }
    let slot = channel.slot(counts.pushed);
    if channel.in_gm {
        let sub = sub_block(machine, core, instr);
        let (offset, pitch) = match channel.to_vector {
            true => (0, tile.valid_cols as i64),
            false => part(split, sub, tile.valid_rows, tile.valid_cols, tile.element.storage_bytes()),
        };
        let quant = instr.operands.iter().find_map(|o| match o {
            Operand::Flag(Flag { kind: "QuantMode_t", value }) => Some(*value),
            _ => None,
        });
        let element = pushed_element(quant.unwrap_or(0), tile.element);
        let tensor = slot_tensor(channel, tile, element, slot + offset, pitch)?;
        let scale = scale(machine, core, quant.unwrap_or(0), element)?;
        let mut operands = vec![Operand::Global(tensor), Operand::Tile(tile.clone()), scale];
        operands.extend(instr.operands.iter().filter(|o| matches!(o, Operand::Flag(_))).cloned());
        run(machine, core, pipe, "TSTORE", instr, operands)?;
    } else {
        let mut operands = vec![Operand::Tile(tile.clone()), Operand::Int(slot as i64, Element::U64)];
        operands.extend(instr.operands.iter().filter(|o| matches!(o, Operand::Pipe(_) | Operand::Flag(_))).cloned());
        operands.push(Operand::Int(sub_block(machine, core, instr) as i64, Element::I32));
        let item = Item::Fill(Instr { operands, ..instr.clone() });
        machine.enqueue(core, pipe, item, instr.site);
    }
    machine.fifos.counts.entry(key).or_default().pushed += 1;
    signal(machine, core, channel, pipe, channel.ready, split, instr.site);
    Ok(Next::Go)
}

/// What a push through the fixpipe stores. Source: PTO-ISA, the type table of `TPUSH` with fixpipe settings.
fn pushed_element(quant: u64, own: Element) -> Element {
    match quant {
        1 | 4 | 5 | 32 => Element::F16,
        16 | 34 | 35 | 36 => Element::BF16,
        2 | 3 | 23 | 24 => Element::I8,
        _ => own,
    }
}

/// The scale of a conversion, from the register that the kernel set: a word for all columns, or a tile of words.
fn scale(machine: &Machine, core: usize, quant: u64, element: Element) -> Result<Operand, Fault> {
    let registers = &machine.cores[core].registers;
    match quant {
        0 | 1 | 16 => Ok(Operand::Null),
        2 | 4 | 23 | 36 => {
            let tile = registers.quant_vector.clone();
            tile.map(Operand::Tile)
                .ok_or_else(|| illegal("TPUSH scales by columns, but SET_QUANT_VECTOR was not called"))
        }
        _ => {
            let (scale, _) =
                registers.quant_scalar.ok_or_else(|| illegal("TPUSH scales, but SET_QUANT_SCALAR was not called"))?;
            Ok(Operand::Int(ops::quant_word(scale, element) as i64, Element::U64))
        }
    }
}

fn alloc(
    machine: &mut Machine,
    core: usize,
    instr: &Instr,
    channel: &Channel,
    split: Split,
    global: &Global,
    counts: Counts,
) -> Result<Next, Fault> {
    let key = (core, channel.desc.flag);
    if channel.waits_for_space(counts.pushed) {
        if let Next::Wait(what) = wait(machine, core, key, channel.producer(), channel.ready + 1, split, instr.site) {
            return Ok(Next::Wait(what));
        }
    }
    bind(machine, core, channel, split, global, counts.pushed, !channel.to_vector)?;
    machine.fifos.counts.entry(key).or_default().pushed += 1;
    Ok(Next::Go)
}

/// Points a tensor of the kernel to a slot, or to this vector core's part of it.
fn bind(
    machine: &Machine,
    core: usize,
    channel: &Channel,
    split: Split,
    global: &Global,
    count: u64,
    on_vector: bool,
) -> Done {
    if !channel.in_gm || channel.desc.gm == 0 {
        return Err(illegal("a tensor can be bound to a slot only where the pipe keeps its slots in global memory"));
    }
    let sub = machine.cores[core].place.sub as u64;
    let bytes = global.element.storage_bytes() as u64;
    let offset = match split {
        _ if !on_vector => 0,
        Split::None => 0,
        Split::UpDown => sub * (global.shape[3] * global.shape[4]) as u64 * bytes,
        _ => sub * global.shape[4] as u64 * bytes,
    };
    write_slot(global.slot, channel.desc.gm + channel.slot(count) + offset);
    Ok(())
}

/// Gives a tile or tensor of the kernel its address.
fn write_slot(slot: Slot, address: u64) {
    if !slot.0.is_null() {
        // SAFETY: the kernel waits in the call, and the header gave the place of the object's address: 8 bytes.
        unsafe { slot.0.cast::<u64>().write_unaligned(address) };
    }
}

fn pop_tile(
    machine: &mut Machine,
    core: usize,
    instr: &Instr,
    channel: &Channel,
    split: Split,
    tile: &Tile,
    counts: Counts,
) -> Result<Next, Fault> {
    let key = (core, channel.desc.flag);
    let pipe = channel.consumer();
    if let Next::Wait(what) = wait(machine, core, key, pipe, channel.ready, split, instr.site) {
        return Ok(Next::Wait(what));
    }
    let buffer = if channel.to_vector { channel.desc.c2v } else { channel.desc.v2c };
    let mut placed = tile.clone();
    if channel.in_gm {
        let turn = counts.popped % channel.desc.local_slots.max(1);
        let landing = if machine.arch == Arch::A5 { tile.bytes() as u64 } else { channel.desc.slot_bytes };
        placed.address = buffer + turn * landing;
        write_slot(tile.slot, placed.address);
        let sub = sub_block(machine, core, instr);
        let (offset, pitch) = match channel.to_vector {
            true => part(split, sub, tile.valid_rows, tile.valid_cols, tile.element.storage_bytes()),
            false => (0, tile.valid_cols as i64),
        };
        let tensor = slot_tensor(channel, tile, tile.element, channel.slot(counts.popped) + offset, pitch)?;
        run(machine, core, pipe, "TLOAD", instr, vec![Operand::Tile(placed), Operand::Global(tensor)])?;
        if channel.frees(counts.popped) {
            signal(machine, core, channel, pipe, channel.ready + 1, split, instr.site);
        }
    } else {
        write_slot(tile.slot, buffer + channel.slot(counts.popped));
    }
    machine.fifos.counts.entry(key).or_default().popped += 1;
    Ok(Next::Go)
}

fn pop_global(
    machine: &mut Machine,
    core: usize,
    instr: &Instr,
    channel: &Channel,
    split: Split,
    global: &Global,
    counts: Counts,
) -> Result<Next, Fault> {
    let key = (core, channel.desc.flag);
    if let Next::Wait(what) = wait(machine, core, key, channel.consumer(), channel.ready, split, instr.site) {
        return Ok(Next::Wait(what));
    }
    bind(machine, core, channel, split, global, counts.popped, channel.to_vector)?;
    machine.fifos.counts.entry(key).or_default().popped += 1;
    Ok(Next::Go)
}

/// A push into the memory of the other half (A5): the pieces that each core there receives.
///
/// Operands are the tile, the offset of the slot, the pipe, flags, and the number of the vector core.
pub(super) fn pieces(machine: &Machine, core: usize, instr: &Instr) -> Result<Vec<Piece>, Fault> {
    let (Some(Operand::Tile(tile)), Some(Operand::Int(slot, _)), Some(Operand::Pipe(desc))) =
        (instr.operands.first(), instr.operands.get(1), instr.operands.get(2))
    else {
        return Err(illegal("a push needs a tile and a pipe"));
    };
    let place = machine.cores[core].place;
    let in_block = |kind: Kind, sub: usize| {
        let wanted = |c: &&usize| {
            let other = machine.cores[**c].place;
            other.block == place.block && other.kind == kind && (kind != Kind::Vector || other.sub == sub)
        };
        (0..machine.cores.len()).collect::<Vec<_>>().iter().find(wanted).copied()
    };
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
    let mut pieces = Vec::new();
    let mut add = |core: Option<usize>, tile: Tile, row: usize, col: usize, from: super::layout::Window| {
        if let Some(core) = core {
            pieces.push(Piece { core, tile, row, col, from });
        }
    };
    if place.kind == Kind::Cube {
        // Rows keep the distance of the accumulator's whole rows.
        let halves: &[(usize, super::layout::Window, usize)] = &match split {
            Split::UpDown => vec![
                (0, super::layout::Window { rows: rows / 2, ..whole }, tile.cols),
                (1, super::layout::Window { row: rows / 2, rows: rows - rows / 2, ..whole }, tile.cols),
            ],
            Split::LeftRight => vec![
                (0, super::layout::Window { cols: cols / 2, ..whole }, tile.cols / 2),
                (1, super::layout::Window { col: cols / 2, cols: cols - cols / 2, ..whole }, tile.cols / 2),
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
    pub from: super::layout::Window,
}

/// Reads a part of the pushed tile.
pub(super) fn take(ctx: &mut Ctx, tile: &Tile, piece: &Piece) -> Result<Vec<i64>, Fault> {
    ctx.read_window(tile, piece.from, tile.element.raw())
}

/// Writes it into the slot.
pub(super) fn put(ctx: &mut Ctx, piece: &Piece, values: &[i64]) -> Done {
    let window = super::layout::Window { row: piece.row, col: piece.col, ..piece.from };
    ctx.write_window(&piece.tile, window, piece.tile.element.raw(), values)
}
