//! Synchronisation and questions: what the scalar unit does itself, or sends to a pipe as a set, a wait or a barrier.

use super::abi::{Instr, Operand, Site};
use super::machine::{Item, Kind, Machine, Next, Signal};
use super::ops::{Pipe, illegal};
use super::report::Rule;

/// Does a step of a synchronisation instruction; `None` for instructions of other kinds. After [`Next::Wait`] it is
/// called again with the same instruction.
pub(super) fn step(machine: &mut Machine, core: usize, instr: &Instr) -> Option<Next> {
    let site = instr.site;
    let number = |index: usize| match instr.operands.get(index) {
        Some(Operand::Int(value, _)) => *value as u64,
        Some(Operand::Flag(flag)) => flag.value,
        _ => 0,
    };
    let pipe = |index: usize| Pipe::EVERY[(number(index) as usize).min(Pipe::EVERY.len() - 1)];
    let place = machine.cores[core].place;
    match instr.name {
        "set_flag" => {
            let (from, to, id) = (pipe(0), pipe(1), number(2));
            if flag_is_legal(machine, from, to, id, site) {
                machine.enqueue(core, from, Item::Set { to, id }, site);
                machine.drain(core);
            }
        }
        "wait_flag" => {
            let (from, to, id) = (pipe(0), pipe(1), number(2));
            if !flag_is_legal(machine, from, to, id, site) {
                return Some(Next::Go);
            }
            let item = Item::Wait { from, id };
            if to == Pipe::S {
                return Some(machine.scalar(core, item, site));
            }
            machine.enqueue(core, to, item, site);
        }
        "pipe_barrier" | "TSYNC" => match pipe(0) {
            Pipe::All => return Some(machine.barrier_all(core)),
            one => machine.enqueue(core, one, Item::Barrier, site),
        },
        "ffts_cross_core_sync" => {
            // Message: count in bits 0..4, mode in 4..6, id in 8..12.
            let message = number(1);
            let signal = Signal::Group { mode: message >> 4 & 3, id: message >> 8 & 15 };
            machine.enqueue(core, pipe(0), Item::Signal(signal), site);
        }
        "wait_flag_dev" => return Some(machine.scalar(core, Item::Await(number(0)), site)),
        "set_intra_block" => machine.enqueue(core, pipe(0), Item::Signal(Signal::Intra { id: number(1) }), site),
        "wait_intra_block" => match pipe(0) {
            Pipe::S => return Some(machine.scalar(core, Item::Await(number(1)), site)),
            one => machine.enqueue(core, one, Item::Await(number(1)), site),
        },
        "get_buf" => {
            let id = number(1);
            let ticket = machine.ticket(core, id);
            machine.enqueue(core, pipe(0), Item::Get { id, ticket }, site);
        }
        "rls_buf" => {
            machine.enqueue(core, pipe(0), Item::Release { id: number(1) }, site);
            machine.drain(core);
        }
        "SYNCALL" => return Some(machine.rendezvous(core, sync_kind(instr), site)),
        "get_block_idx" => answer(instr, place.block as i64),
        "get_block_num" => answer(instr, machine.blocks as i64),
        "get_subblockid" => answer(instr, place.sub as i64),
        "get_subblockdim" => answer(instr, machine.sub_blocks(core) as i64),
        "get_coreid" => answer(instr, core as i64),
        "get_sys_cnt" => answer(instr, machine.instructions as i64),
        "set_ffts_base_addr" => {}
        "host_place" => {
            if let Some(Operand::Tile(tile)) = instr.operands.first() {
                answer(instr, machine.place_tile(core, tile) as i64);
            }
        }
        "NPU_MEMORY_INIT" if number(0) == 0 => {
            machine.fault(instr, illegal("NPU_MEMORY_INIT names another architecture than the kernel is compiled for"));
        }
        "NPU_MEMORY_INIT" => return Some(machine.reset_memory(core, false)),
        "NPU_MEMORY_CLEAR" => return Some(machine.reset_memory(core, true)),
        "TPipe" | "TPUSH" | "TPOP" | "TFREE" | "TALLOC" => return Some(super::fifo::step(machine, core, instr)),
        _ => return super::comm::step(machine, core, instr),
    }
    Some(Next::Go)
}

fn flag_is_legal(machine: &mut Machine, from: Pipe, to: Pipe, id: u64, site: Site) -> bool {
    let legal = from != to && from != Pipe::All && to != Pipe::All && id < 8;
    if !legal {
        machine.find(Rule::Illegal, site, Site::NONE, || {
            let message = format!(
                "flag {id} from {} to {}: a flag joins two different pipes and has a number from 0 to 7",
                from.name(),
                to.name()
            );
            (message, Vec::new())
        });
    }
    legal
}

/// Which cores a SYNCALL gathers: `pto::SyncCoreType`.
fn sync_kind(instr: &Instr) -> Option<Kind> {
    match instr.flag("SyncCoreType") {
        Some(0) => Some(Kind::Vector),
        Some(1) => Some(Kind::Cube),
        _ => None,
    }
}

/// Writes the answer of a question, as the integer type that the kernel asked for.
pub(super) fn answer(instr: &Instr, value: i64) {
    let (slot, size) = instr.result;
    let bytes = value.to_le_bytes();
    slot.store(&bytes[..size.min(bytes.len())]);
}
