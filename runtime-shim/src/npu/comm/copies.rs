//! Copies and collectives through staging tiles: `TPUT`, `TGET`, `TBROADCAST`, `TGATHER`, `TSCATTER`, `TREDUCE`.
//!
//! The library makes them from its own instructions: loads into a staging tile, flags, vector operations, stores. Here too:
//! a call becomes these instructions, so that flags, races, bounds and atomic stores come out as they do for a kernel that
//! writes them itself. A tensor that a staging tile cannot hold at once goes in pieces of the tile's valid part.

use super::super::abi::{Flag, Global, Instr, Operand, Slot, Tile};
use super::super::element::Element;
use super::super::machine::{Item, Machine, Next};
use super::super::ops::{self, Fault, Pipe, illegal};
use super::alike;

/// A step of a copy or a collective; `None` for other instructions.
pub(super) fn step(machine: &mut Machine, core: usize, instr: &Instr) -> Option<Next> {
    let mut calls = Calls { machine: &mut *machine, core, instr };
    let done = match instr.name {
        "TPUT" | "TGET" => calls.copy(),
        "comm::TBROADCAST" => calls.broadcast(),
        "comm::TGATHER" => calls.by_rows(true),
        "comm::TSCATTER" => calls.by_rows(false),
        "comm::TREDUCE" => calls.reduce(),
        _ => return None,
    };
    if let Err(fault) = done {
        machine.fault(instr, fault);
    }
    Some(Next::Go)
}

/// The instructions of one call, on their way to the pipes of a core.
struct Calls<'m> {
    machine: &'m mut Machine,
    core: usize,
    instr: &'m Instr,
}

/// A piece of a tensor: offsets of its first element along the five dimensions, rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    at: [i64; 5],
    rows: i64,
    cols: i64,
    /// The whole tensor at once, in its own shape.
    whole: bool,
}

impl Calls<'_> {
    /// `dst = src`, or `dst += src`.
    fn copy(&mut self) -> Result<(), Fault> {
        let (dst, src) = (self.tensor(0)?, self.tensor(1)?);
        let staging = self.staging(2)?;
        self.same(&dst, &src)?;
        let pieces = self.pieces(&src, &staging[0])?;
        for (number, piece) in pieces.iter().enumerate() {
            self.through(number, &staging, *piece, &src, &[&dst]);
        }
        self.rest(pieces.len(), &staging);
        Ok(())
    }

    /// Every member gets the tensor.
    fn broadcast(&mut self) -> Result<(), Fault> {
        let (members, _) = self.group()?;
        let (src, staging) = (self.tensor(1)?, self.staging(2)?);
        members.iter().try_for_each(|member| self.same(member, &src))?;
        let pieces = self.pieces(&src, &staging[0])?;
        let targets: Vec<&Global> = members.iter().collect();
        for (number, piece) in pieces.iter().enumerate() {
            self.through(number, &staging, *piece, &src, &targets);
        }
        self.rest(pieces.len(), &staging);
        Ok(())
    }

    /// The members' rows, one member below the other, go to the tensor, or come from it.
    fn by_rows(&mut self, gather: bool) -> Result<(), Fault> {
        let (members, _) = self.group()?;
        let (tensor, staging) = (self.tensor(1)?, self.staging(2)?);
        let pieces = self.pieces(&members[0], &staging[0])?;
        let mut number = 0;
        for (rank, member) in members.iter().enumerate() {
            let part = self.part(&tensor, rank, member)?;
            let (from, to) = if gather { (member, &part) } else { (&part, member) };
            for piece in &pieces {
                self.through(number, &staging, *piece, from, &[to]);
                number += 1;
            }
        }
        self.rest(number, &staging);
        Ok(())
    }

    /// The root's tensor, combined with each other member's, piece by piece.
    fn reduce(&mut self) -> Result<(), Fault> {
        let (members, root) = self.group()?;
        let (dst, accumulator) = (self.tensor(1)?, self.tile(2)?);
        let staging = self.staging(3)?;
        self.same(&dst, &members[0])?;
        let combine = match self.instr.flag("ReduceOp") {
            Some(1) => "TMAX",
            Some(2) => "TMIN",
            _ => "TADD",
        };
        let (load, vector, store) = (Pipe::Mte2, Pipe::V, Pipe::Mte3);
        for piece in self.pieces(&members[0], &accumulator)? {
            let acc = fitted(&accumulator, piece);
            self.load(&acc, &view(&members[root], piece));
            self.flag(load, vector, 0);
            for (number, (_, member)) in members.iter().enumerate().filter(|(rank, _)| *rank != root).enumerate() {
                let receive = fitted(&staging[number % staging.len()], piece);
                self.load(&receive, &view(member, piece));
                self.flag(load, vector, 1);
                let operands = [&acc, &acc, &receive].map(|tile| Operand::Tile(tile.clone())).to_vec();
                self.call(vector, combine, operands);
                self.flag(vector, load, 0);
            }
            self.flag(vector, store, 0);
            self.store(&view(&dst, piece), &acc);
            self.flag(store, load, 0);
        }
        Ok(())
    }

    // ---- pieces ---------------------------------------------------------------------------------------------------

    /// Loads a piece into a staging tile and stores it to each target. Two staging tiles take turns, with a flag each.
    fn through(&mut self, number: usize, staging: &[Tile], piece: Piece, src: &Global, targets: &[&Global]) {
        let turn = number % staging.len();
        let tile = fitted(&staging[turn], piece);
        if number >= staging.len() {
            self.wait(Pipe::Mte3, Pipe::Mte2, turn as u64);
        }
        self.load(&tile, &view(src, piece));
        self.flag(Pipe::Mte2, Pipe::Mte3, turn as u64);
        for target in targets {
            self.store(&view(target, piece), &tile);
        }
        self.set(Pipe::Mte3, Pipe::Mte2, turn as u64);
    }

    /// Waits for the stores that no later piece has waited for.
    fn rest(&mut self, pieces: usize, staging: &[Tile]) {
        for number in pieces.saturating_sub(staging.len())..pieces {
            self.wait(Pipe::Mte3, Pipe::Mte2, (number % staging.len()) as u64);
        }
    }

    /// How a tensor goes through a tile.
    fn pieces(&self, tensor: &Global, tile: &Tile) -> Result<Vec<Piece>, Fault> {
        let [s0, s1, s2, s3, s4] = tensor.shape;
        let total = tensor.shape.iter().try_fold(1i64, |n, &e| n.checked_mul(e.max(0)));
        let (rows, cols) = (tile.valid_rows as i64, tile.valid_cols as i64);
        let name = self.instr.name;
        match total {
            Some(0) => return Ok(Vec::new()),
            Some(total) if total <= 1 << 32 => {}
            _ => return Err(illegal(format!("{name}: a tensor of shape {:?} is too large", tensor.shape))),
        }
        if rows == 0 || cols == 0 {
            return Err(illegal(format!("{name}: a staging tile of {rows} x {cols} valid elements holds nothing")));
        }
        if s0 * s1 * s2 * s3 <= rows && s4 <= cols {
            return Ok(vec![Piece { at: [0; 5], rows: s0 * s1 * s2 * s3, cols: s4, whole: true }]);
        }
        let mut pieces = Vec::new();
        for (d0, d1, d2) in (0..s0).flat_map(|a| (0..s1).flat_map(move |b| (0..s2).map(move |c| (a, b, c)))) {
            for row in (0..s3).step_by(rows as usize) {
                for col in (0..s4).step_by(cols as usize) {
                    let (rows, cols) = (rows.min(s3 - row), cols.min(s4 - col));
                    pieces.push(Piece { at: [d0, d1, d2, row, col], rows, cols, whole: false });
                }
            }
        }
        Ok(pieces)
    }

    /// The rows of a tensor that belong to a member of a group.
    fn part(&self, tensor: &Global, rank: usize, member: &Global) -> Result<Global, Fault> {
        let name = self.instr.name;
        if tensor.element != member.element || tensor.layout != member.layout {
            return Err(illegal(format!("{name}: the tensor and the members of the group differ in type or layout")));
        }
        let rows = member.shape[3];
        if tensor.shape[3] < rows * (rank as i64 + 1) || tensor.shape[4] < member.shape[4] {
            return Err(illegal(format!(
                "{name}: a tensor of shape {:?} has no {rows} rows for member {rank} of shape {:?}",
                tensor.shape, member.shape
            )));
        }
        let offset = (rank as i64 * rows).wrapping_mul(tensor.stride[3]);
        Ok(Global { shape: member.shape, address: moved(tensor, offset), ..tensor.clone() })
    }

    // ---- operands -------------------------------------------------------------------------------------------------

    fn tensor(&self, index: usize) -> Result<Global, Fault> {
        match self.instr.operands.get(index) {
            Some(Operand::Global(tensor)) => Ok(tensor.clone()),
            other => Err(illegal(format!("{}: operand {index} must be a tensor, found {other:?}", self.instr.name))),
        }
    }

    fn tile(&self, index: usize) -> Result<Tile, Fault> {
        match self.instr.operands.get(index) {
            Some(Operand::Tile(tile)) => Ok(tile.clone()),
            other => Err(illegal(format!("{}: operand {index} must be a tile, found {other:?}", self.instr.name))),
        }
    }

    /// One staging tile, or two.
    fn staging(&self, index: usize) -> Result<Vec<Tile>, Fault> {
        let mut tiles = vec![self.tile(index)?];
        if let Some(Operand::Tile(pong)) = self.instr.operands.get(index + 1) {
            tiles.push(pong.clone());
        }
        Ok(tiles)
    }

    /// The members of the group, all of one shape, and the root.
    fn group(&self) -> Result<(Vec<Global>, usize), Fault> {
        let name = self.instr.name;
        let Some(Operand::Group(members, root)) = self.instr.operands.first() else {
            return Err(illegal(format!("{name}: operand 0 must be a group")));
        };
        let root = usize::try_from(*root).ok().filter(|&r| r < members.len());
        let root = root.ok_or_else(|| illegal(format!("{name}: the root is no member of its group")))?;
        let first = &members[0];
        if let Some(other) = members.iter().find(|m| m.shape != first.shape || m.stride != first.stride) {
            return Err(illegal(format!(
                "{name}: the members of a group must be alike, found shape {:?}, stride {:?} and shape {:?}, stride {:?}",
                first.shape, first.stride, other.shape, other.stride
            )));
        }
        Ok((members.clone(), root))
    }

    fn same(&self, dst: &Global, src: &Global) -> Result<(), Fault> {
        alike(self.instr, "type, shape and layout", dst.layout == src.layout, dst, src)
    }

    // ---- instructions ---------------------------------------------------------------------------------------------

    fn load(&mut self, tile: &Tile, tensor: &Global) {
        self.call(Pipe::Mte2, "TLOAD", vec![Operand::Tile(tile.clone()), Operand::Global(tensor.clone())]);
    }

    fn store(&mut self, tensor: &Global, tile: &Tile) {
        let atomic = Flag { kind: "AtomicType", value: self.instr.flag("AtomicType").unwrap_or(0) };
        let (tensor, tile) = (Operand::Global(tensor.clone()), Operand::Tile(tile.clone()));
        self.call(Pipe::Mte3, "TSTORE", vec![tensor, tile, Operand::Null, Operand::Flag(atomic)]);
    }

    fn call(&mut self, pipe: Pipe, name: &'static str, operands: Vec<Operand>) {
        let op = ops::find(name).expect("an instruction of the table");
        let result = (Slot(std::ptr::null_mut()), 0);
        let instr = Instr { name, operands, result, site: self.instr.site };
        self.machine.enqueue(self.core, pipe, Item::Run(op, instr), self.instr.site);
    }

    /// A flag that is waited for at once.
    fn flag(&mut self, from: Pipe, to: Pipe, id: u64) {
        self.set(from, to, id);
        self.wait(from, to, id);
    }

    fn set(&mut self, from: Pipe, to: Pipe, id: u64) {
        self.machine.enqueue(self.core, from, Item::Set { to, id }, self.instr.site);
        self.machine.drain(self.core);
    }

    fn wait(&mut self, from: Pipe, to: Pipe, id: u64) {
        self.machine.enqueue(self.core, to, Item::Wait { from, id }, self.instr.site);
    }
}

/// A piece of a tensor as a tensor of its own.
fn view(tensor: &Global, piece: Piece) -> Global {
    if piece.whole {
        return tensor.clone();
    }
    let offset = piece.at.iter().zip(&tensor.stride).map(|(at, stride)| at * stride).sum();
    Global { shape: [1, 1, 1, piece.rows, piece.cols], address: moved(tensor, offset), ..tensor.clone() }
}

/// The address of a tensor's element, counted from its pointer.
fn moved(tensor: &Global, elements: i64) -> u64 {
    let bits = |element: Element| element.bits() as i64;
    tensor.address.wrapping_add((elements * bits(tensor.element) / 8) as u64)
}

/// A tile with the valid part that a piece needs: the library sets it, where it may.
fn fitted(tile: &Tile, piece: Piece) -> Tile {
    Tile { valid_rows: piece.rows as usize, valid_cols: piece.cols as usize, ..tile.clone() }
}
