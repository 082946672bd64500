//! Asynchronous transfers: an engine beside the core copies while the core goes on. A transfer starts when it is issued
//! and counts as complete when its event is waited for or tested; whoever touches its memory before races with it.

use super::super::abi::{Instr, Operand, Site, Slot, Space};
use super::super::layout::Region;
use super::super::machine::{Machine, Next};
use super::super::ops::{Ctx, Done, Fault, On, Op, Pipe, illegal};
use super::super::sync::answer;
use super::{alike, runs};

/// What the engine does.
static COPY: Op = Op { name: "TPUT_ASYNC", on: On::Pipe(Pipe::Mte5), run: copy };
static PREFETCH: Op = Op { name: "TPREFETCH_ASYNC", on: On::Pipe(Pipe::Mte5), run: read };

/// Bytes of `pto::comm::AsyncSession` of the headers, and the one that says whether it was built.
const SESSION: usize = 16;
const VALID: usize = 1;
/// Bytes of UB that a prefetch context has its queue in.
const QUEUE: u64 = 256;
/// Where the session stands in `pto::PrefetchAsyncContext` of the headers.
const CONTEXT_SESSION: usize = 8;

/// A step of an asynchronous instruction; `None` for others.
pub(super) fn step(machine: &mut Machine, core: usize, instr: &Instr) -> Option<Next> {
    let done = match instr.name {
        "BuildAsyncSession" => build(machine, core, instr),
        "TPUT_ASYNC" | "TGET_ASYNC" => start(machine, core, instr, &COPY, 2, 0),
        "TPREFETCH_ASYNC" => prefetch(machine, core, instr),
        "AsyncEvent::Wait" | "AsyncEvent::Test" => finish(machine, core, instr),
        _ => return None,
    };
    if let Err(fault) = done {
        machine.fault(instr, fault);
    }
    Some(Next::Go)
}

/// Operands: scratch tile, workspace, session. The library keeps its queue in the scratch tile.
fn build(machine: &mut Machine, core: usize, instr: &Instr) -> Done {
    sdma(instr)?;
    let [Some(Operand::Tile(scratch)), Some(Operand::Memory(workspace, _)), Some(Operand::Memory(session, SESSION))] =
        [0, 1, 2].map(|i| instr.operands.get(i))
    else {
        return Err(illegal("BuildAsyncSession needs a scratch tile, a workspace and a session"));
    };
    let bytes = scratch.rows * scratch.cols * scratch.element.bits() / 8;
    if bytes < 8 || workspace.0.is_null() {
        return Err(illegal(format!(
            "BuildAsyncSession needs a workspace and 8 bytes of scratch, found {bytes} bytes"
        )));
    }
    machine.signal_access(core, instr, |ctx| ctx.clobber(scratch));
    mark_valid(*session, 0);
    answer(instr, 1);
    Ok(())
}

/// Starts a transfer; operand `at` is the memory in which the session stands, `offset` bytes from its beginning.
fn start(machine: &mut Machine, core: usize, instr: &Instr, op: &'static Op, at: usize, offset: usize) -> Done {
    sdma(instr)?;
    let Some(Operand::Memory(memory, _)) = instr.operands.get(at) else {
        return Err(illegal(format!("{} needs a session", instr.name)));
    };
    if memory.load(offset + SESSION).get(offset + VALID) != Some(&1) {
        return Err(illegal(format!("{}: the session was not built", instr.name)));
    }
    let number = machine.start_transfer(core, op, instr.clone());
    answer(instr, number as i64);
    Ok(())
}

/// The first prefetch of a context builds its session.
fn prefetch(machine: &mut Machine, core: usize, instr: &Instr) -> Done {
    let Some(Operand::Memory(context, _)) = instr.operands.get(1) else {
        return Err(illegal("TPREFETCH_ASYNC needs a context"));
    };
    if context.load(CONTEXT_SESSION).iter().all(|byte| *byte == 0) {
        return Err(illegal("TPREFETCH_ASYNC: the context has no workspace"));
    }
    // The library puts the context's queue of 256 bytes at address 0 of UB.
    let queue = Region::piece(0, QUEUE);
    machine.signal_access(core, instr, |ctx| ctx.access_bytes(Space::Vec, 0, &queue, true, Site::NONE));
    mark_valid(*context, CONTEXT_SESSION);
    start(machine, core, instr, &PREFETCH, 1, CONTEXT_SESSION)
}

/// Operands of an event's questions: its number, engine and session. No transfer is 0.
fn finish(machine: &mut Machine, core: usize, instr: &Instr) -> Done {
    let Some(Operand::Int(number, _)) = instr.operands.first() else {
        return Err(illegal(format!("{} needs an event", instr.name)));
    };
    machine.finish_transfer(core, *number as u64);
    answer(instr, 1);
    Ok(())
}

/// The other engines reach devices that are not there.
fn sdma(instr: &Instr) -> Result<(), Fault> {
    match instr.flag("DmaEngine") {
        None | Some(0) => Ok(()),
        Some(_) => Err(illegal(format!("{} by another engine than SDMA is not simulated", instr.name))),
    }
}

fn mark_valid(memory: Slot, offset: usize) {
    let mut bytes = memory.load(offset + SESSION);
    if let Some(valid) = bytes.get_mut(offset + VALID) {
        *valid = 1;
        memory.store(&bytes);
    }
}

/// A flat copy.
fn copy(ctx: &mut Ctx) -> Done {
    let (dst, src) = (ctx.global(0)?, ctx.global(1)?);
    alike(ctx.instr, "type and shape", true, dst, src)?;
    let values: Vec<i64> = ctx.read_global(src, src.element.raw(), &runs(src))?;
    ctx.write_global(dst, dst.element.raw(), &runs(dst), &values)
}

fn read(ctx: &mut Ctx) -> Done {
    let src = ctx.global(0)?;
    ctx.read_global::<i64>(src, src.element.raw(), &runs(src)).map(|_| ())
}
