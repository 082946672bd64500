//! The machine: cores with their pipes, the flags between pipes and between cores, and whose turn it is.
//!
//! The scalar program of a core issues instructions; each goes to the queue of its pipe and runs as soon as the pipe
//! is not held by a wait. So a kernel that synchronises well runs in program order, and one that waits before it sets
//! (which is legal between two pipes) runs too. One core runs at a time, in a fixed order, so that a run is repeatable.

mod signals;
mod turns;

use std::collections::{BTreeMap, HashMap, VecDeque, btree_map};

use super::abi::{Instr, Operand, Site, Space, Tile};
use super::memory::{GlobalMemory, Spaces, capacity};
use super::ops::{self, Ctx, Fault, Half, Op, PIPES, Pipe, Registers};
use super::order::{Clock, Log, Moment, join};
use super::report::{Checks, Findings, Rule, Sources};
use super::trace::Trace;
use crate::Arch;

/// What a core can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Matrix core.
    Cube,
    /// Vector core.
    Vector,
    /// Both in one: for kernels without sections.
    Whole,
}

/// Where a core stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Block.
    pub block: usize,
    /// Kind.
    pub kind: Kind,
    /// Number of the vector core in its block.
    pub sub: usize,
}

/// A wait that holds a pipe or the scalar unit, or an instruction that waits its turn.
pub(super) enum Item {
    /// An instruction.
    Run(&'static Op, Instr),
    /// A push into the memory of other cores.
    Fill(Instr),
    /// `set_flag` to a pipe.
    Set { to: Pipe, id: u64 },
    /// `wait_flag` from a pipe.
    Wait { from: Pipe, id: u64 },
    /// `pipe_barrier`.
    Barrier,
    /// A signal to other cores.
    Signal(Signal),
    /// A wait for a signal with this number.
    Await(u64),
    /// `get_buf`: a place in the queue for a buffer id.
    Get { id: u64, ticket: u64 },
    /// `rls_buf`.
    Release { id: u64 },
}

/// Whom a signal reaches.
#[derive(Clone, Copy, Debug)]
pub(super) enum Signal {
    /// `ffts_cross_core_sync` with mode and id.
    Group { mode: u64, id: u64 },
    /// `set_intra_block` with id.
    Intra { id: u64 },
}

struct Queued {
    item: Item,
    site: Site,
    /// What the scalar unit knew when it issued this.
    issue: Option<Clock>,
    time: u64,
}

impl Queued {
    /// What it waits for on a pipe, in words.
    fn waits_for(&self, pipe: Pipe) -> String {
        match &self.item {
            Item::Wait { from, id } => format!("wait_flag({}, {}, {id})", from.name(), pipe.name()),
            Item::Await(id) => format!("cross-core flag {id}"),
            Item::Get { id, .. } => format!("buffer id {id}"),
            _ => "its turn".to_owned(),
        }
    }
}

#[derive(Default)]
struct PipeState {
    queue: VecDeque<Queued>,
    clock: Clock,
    issued: u32,
    /// When it is free, in the time model.
    time: u64,
}

/// What a set or a signal carries.
#[derive(Clone)]
pub(in crate::npu) struct Released {
    clock: Clock,
    site: Site,
    time: u64,
    from: u32,
}

impl Released {
    /// Both have been released.
    fn join(&mut self, other: &Released) {
        join(&mut self.clock, &other.clock);
        self.time = self.time.max(other.time);
    }
}

#[derive(Default)]
struct FlagState {
    set: Option<Released>,
    /// Component and number of the last wait.
    waited: Option<(u32, u32, Site)>,
}

#[derive(Default)]
struct BufferId {
    issued: u64,
    served: u64,
    clock: Clock,
    time: u64,
}

/// State of a core's scalar program.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Ready,
    /// It waits; nothing had changed when it last looked at this count of progress.
    Blocked {
        what: String,
        site: Site,
        seen: u64,
    },
    Done,
}

pub(super) struct Core {
    pub place: Place,
    spaces: Spaces,
    pub registers: Registers,
    logs: Vec<Log>,
    pipes: [PipeState; PIPES],
    flags: BTreeMap<(Pipe, Pipe, u64), FlagState>,
    /// Signals of other cores that wait to be consumed, by number.
    signals: BTreeMap<u64, VecDeque<Released>>,
    buffers: HashMap<u64, BufferId>,
    state: State,
    /// Place of the instruction that the scalar program is at.
    at: Site,
    /// Tiles that the runtime placed, by declaration, and the first free byte of each space.
    placed: HashMap<(Space, Site, usize), u64>,
    free: [u64; 10],
    /// It has announced itself at a rendezvous and waits for the others.
    arrived: bool,
}

impl Core {
    fn half(&mut self) -> Half<'_> {
        Half { spaces: &mut self.spaces, on_chip: &mut self.logs }
    }
}

/// Settings of a run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Target.
    pub arch: Arch,
    /// Checks.
    pub checks: Checks,
    /// Most instructions that a run may take.
    pub limit: u64,
    /// Whether to keep a trace.
    pub trace: bool,
}

/// The simulated NPU.
pub struct Machine {
    pub(super) arch: Arch,
    checks: Checks,
    pub(super) cores: Vec<Core>,
    /// Global memory.
    pub gm: GlobalMemory,
    gm_log: Log,
    /// Findings so far.
    pub findings: Findings,
    pub(super) sources: Sources,
    names: Vec<String>,
    /// Arrivals at a rendezvous: by scope, mode and id, who has come and what they know.
    arrivals: BTreeMap<(u64, usize, u64), Vec<(usize, Released)>>,
    /// What those who set signals in global memory knew, by address.
    announced: BTreeMap<u64, Released>,
    /// Transfers of the engine beside the cores that nobody has waited for, by number from 1.
    transfers: BTreeMap<u64, Released>,
    started: u64,
    /// Whose turn it is.
    pub(super) turn: usize,
    progress: u64,
    /// Instructions so far.
    pub instructions: u64,
    limit: u64,
    /// The run is over: calls do nothing.
    pub(super) aborted: bool,
    /// What the kernel printed.
    pub printed: String,
    /// The trace, if one is kept.
    pub trace: Option<Trace>,
    pub(super) blocks: usize,
    pub(super) fifos: super::fifo::Fifos,
}

/// The component of a core that stands for the engine of asynchronous transfers. No other instruction runs there.
const TRANSFERS: Pipe = Pipe::Mte5;

/// Numbers of the signals of a rendezvous, beyond those of flags.
const RENDEZVOUS: u64 = 1 << 32;

/// What a core may do next.
pub(super) enum Next {
    /// Go on.
    Go,
    /// Let others run first: what it waits for.
    Wait(String),
}

impl Machine {
    /// A machine with cores at these places.
    pub fn new(settings: &Settings, places: &[Place], blocks: usize, gm: GlobalMemory) -> Machine {
        let sizes = Space::ALL.map(|s| capacity(settings.arch, s));
        let components = places.len() * PIPES;
        let core = |&place: &Place| Core {
            place,
            spaces: Spaces::new(sizes),
            registers: Registers::default(),
            logs: Space::ALL.iter().map(|_| Log::new(12)).collect(),
            pipes: std::array::from_fn(|_| PipeState { clock: vec![0; components], ..PipeState::default() }),
            flags: BTreeMap::new(),
            signals: BTreeMap::new(),
            buffers: HashMap::new(),
            state: State::Ready,
            at: Site::NONE,
            placed: HashMap::new(),
            free: [0; 10],
            arrived: false,
        };
        let names = places.iter().flat_map(|place| Pipe::EVERY.map(|pipe| component_name(place, pipe, places.len())));
        Machine {
            arch: settings.arch,
            checks: settings.checks,
            cores: places.iter().map(core).collect(),
            gm,
            gm_log: Log::new(16),
            findings: Findings::default(),
            sources: Sources::default(),
            names: names.collect(),
            arrivals: BTreeMap::new(),
            announced: BTreeMap::new(),
            transfers: BTreeMap::new(),
            started: 0,
            turn: 0,
            progress: 0,
            instructions: 0,
            limit: settings.limit,
            aborted: false,
            printed: String::new(),
            trace: settings.trace.then(Trace::default),
            blocks,
            fifos: Default::default(),
        }
    }

    /// Name of a component, for reports.
    fn component(&self, who: u32) -> String {
        self.names[who as usize].clone()
    }

    /// Whether a pipe of this target finishes an instruction before it starts the next. Source: PTO-ISA, barriers
    /// between dependent instructions of a pipe; from A5 on the vector pipe orders itself.
    fn in_order(&self, pipe: Pipe) -> bool {
        match pipe {
            Pipe::S | Pipe::M | Pipe::Fix | Pipe::Mte1 => true,
            Pipe::V => self.arch != Arch::A3,
            _ => false,
        }
    }

    /// Puts an item into the queue of a pipe and lets the core's pipes run.
    pub(super) fn enqueue(&mut self, core: usize, pipe: Pipe, item: Item, site: Site) {
        let state = &mut self.cores[core];
        let scalar = &state.pipes[Pipe::S as usize];
        let time = scalar.time;
        let queue_free = state.pipes[pipe as usize].queue.is_empty();
        if queue_free {
            // The common case: it runs at once, and no copy of the scalar unit's knowledge is needed.
            let queued = Queued { item, site, issue: None, time };
            if let Some(held) = self.try_run(core, pipe, queued) {
                let issue = self.cores[core].pipes[Pipe::S as usize].clock.clone();
                self.cores[core].pipes[pipe as usize].queue.push_back(Queued { issue: Some(issue), ..held });
            } else {
                self.drain(core);
            }
        } else {
            let issue = Some(scalar.clock.clone());
            state.pipes[pipe as usize].queue.push_back(Queued { item, site, issue, time });
        }
    }

    /// Runs what can run in the queues of a core, and of cores that it wakes.
    pub(super) fn drain(&mut self, core: usize) {
        let mut moved = true;
        while moved {
            moved = false;
            for pipe in Pipe::EVERY {
                while let Some(queued) = self.cores[core].pipes[pipe as usize].queue.pop_front() {
                    match self.try_run(core, pipe, queued) {
                        None => moved = true,
                        Some(held) => {
                            self.cores[core].pipes[pipe as usize].queue.push_front(held);
                            break;
                        }
                    }
                }
            }
        }
    }

    /// Runs an item on its pipe, or gives it back when it has to wait.
    fn try_run(&mut self, core: usize, pipe: Pipe, queued: Queued) -> Option<Queued> {
        if !self.ready(core, &queued.item, pipe) {
            return Some(queued);
        }
        self.progress += 1;
        let p = pipe as usize;
        let who = (core * PIPES + p) as u32;
        let state = &mut self.cores[core];
        if pipe != Pipe::S {
            let (scalar, target) = pair(&mut state.pipes, Pipe::S as usize, p);
            join(&mut target.clock, queued.issue.as_deref().unwrap_or(&scalar.clock));
        }
        let target = &mut state.pipes[p];
        target.issued += 1;
        target.time = target.time.max(queued.time);
        let epoch = target.issued;
        match queued.item {
            Item::Run(op, instr) => {
                self.execute(core, core, pipe, &instr, epoch, |ctx| op.run(ctx));
            }
            Item::Fill(instr) => self.fill(core, pipe, &instr, epoch),
            Item::Barrier => state.pipes[p].clock[who as usize] = epoch,
            Item::Set { to, id } => {
                let released = self.release(core, pipe, queued.site);
                self.set_flag(core, (pipe, to, id), released);
            }
            Item::Wait { from, id } => {
                let flag = state.flags.entry((from, pipe, id)).or_default();
                let released = flag.set.take();
                flag.waited = Some((who, epoch, queued.site));
                self.acquire(core, pipe, released);
            }
            Item::Signal(signal) => {
                let released = self.release(core, pipe, queued.site);
                self.signal(core, signal, released);
            }
            Item::Await(id) => {
                let released = state.signals.get_mut(&id).and_then(VecDeque::pop_front);
                self.acquire(core, pipe, released);
            }
            Item::Get { id, .. } => {
                let buffer = state.buffers.entry(id).or_default();
                join(&mut state.pipes[p].clock, &buffer.clock);
                state.pipes[p].time = state.pipes[p].time.max(buffer.time);
            }
            Item::Release { id } => {
                let released = self.release(core, pipe, queued.site);
                let buffer = self.cores[core].buffers.entry(id).or_default();
                buffer.served += 1;
                buffer.clock = released.clock;
                buffer.time = released.time;
            }
        }
        None
    }

    fn ready(&self, core: usize, item: &Item, pipe: Pipe) -> bool {
        let state = &self.cores[core];
        match item {
            Item::Wait { from, id } => state.flags.get(&(*from, pipe, *id)).is_some_and(|f| f.set.is_some()),
            Item::Await(id) => state.signals.get(id).is_some_and(|s| !s.is_empty()),
            Item::Get { id, ticket } => state.buffers.get(id).is_some_and(|b| b.served == *ticket),
            _ => true,
        }
    }

    /// What a pipe has finished, with everything before it.
    fn release(&self, core: usize, pipe: Pipe, site: Site) -> Released {
        let who = core * PIPES + pipe as usize;
        let state = &self.cores[core].pipes[pipe as usize];
        let mut clock = state.clock.clone();
        clock[who] = state.issued;
        Released { clock, site, time: state.time, from: who as u32 }
    }

    /// A pipe learns what was released.
    fn acquire(&mut self, core: usize, pipe: Pipe, released: Option<Released>) {
        let Some(released) = released else { return };
        let who = (core * PIPES + pipe as usize) as u32;
        let state = &mut self.cores[core].pipes[pipe as usize];
        join(&mut state.clock, &released.clock);
        state.time = state.time.max(released.time);
        let time = state.time;
        if let Some(trace) = &mut self.trace {
            trace.arrow(released.from, released.time, who, time);
        }
    }

    fn set_flag(&mut self, core: usize, key: (Pipe, Pipe, u64), released: Released) {
        let (from, to, id) = key;
        let flag = self.cores[core].flags.entry(key).or_default();
        let site = released.site;
        let pending = flag.set.as_ref().map(|earlier| earlier.site);
        let unordered = flag.waited.filter(|&(who, epoch, _)| released.clock[who as usize] < epoch);
        flag.set = Some(released);
        let name = || format!("flag {id} from {} to {}", from.name(), to.name());
        if let Some(earlier) = pending {
            self.find(Rule::SetTwice, site, earlier, || {
                let note = format!("{}:{}: the earlier set_flag", earlier.file(), earlier.line);
                (format!("{} is set again before it was waited for", name()), vec![note])
            });
        } else if let Some((_, _, waited)) = unordered {
            self.find(Rule::SetTwice, site, waited, || {
                let note = format!("{}:{}: the wait_flag", waited.file(), waited.line);
                let message = format!(
                    "{} may be set again before its earlier setting was waited for: nothing orders the wait_flag \
                     before this set_flag",
                    name()
                );
                (message, vec![note])
            });
        }
    }

    /// Notes a broken rule.
    pub(super) fn find(&mut self, rule: Rule, at: Site, other: Site, text: impl FnOnce() -> (String, Vec<String>)) {
        if self.checks.covers(rule) {
            self.findings.add(rule, at, other, text);
        }
    }

    /// Reports why an instruction cannot run.
    pub(super) fn fault(&mut self, instr: &Instr, fault: Fault) {
        self.find(fault.rule, instr.site, Site::NONE, || (fault.message, Vec::new()));
    }

    /// Runs (part of) an instruction of a pipe on the memories of core `home`, and reports a fault.
    fn execute<T>(
        &mut self,
        core: usize,
        home: usize,
        pipe: Pipe,
        instr: &Instr,
        epoch: u32,
        body: impl FnOnce(&mut Ctx) -> Result<T, Fault>,
    ) -> Option<T> {
        let who = (core * PIPES + pipe as usize) as u32;
        let in_order = self.in_order(pipe);
        // Taken out while the instruction runs, since `home` may be the same core.
        let clock = std::mem::take(&mut self.cores[core].pipes[pipe as usize].clock);
        let halves = self.halves_of(home);
        let (state, halves) = match halves[..] {
            [a, b] => {
                let [state, a, b] = self.cores.get_disjoint_mut([home, a, b]).expect("three different cores");
                (state, [Some(a.half()), Some(b.half())])
            }
            _ => (&mut self.cores[home], [None, None]),
        };
        let names = &self.names;
        let mut ctx = Ctx {
            arch: self.arch,
            instr,
            registers: &mut state.registers,
            spaces: &mut state.spaces,
            gm: &mut self.gm,
            on_chip: &mut state.logs,
            gm_log: &mut self.gm_log,
            moment: Moment { who, epoch, clock: &clock, in_order },
            checks: self.checks,
            findings: &mut self.findings,
            sources: &mut self.sources,
            component: &|who| names[who as usize].clone(),
            bytes: 0,
            macs: 0,
            atomic: false,
            repeats: false,
            halves,
            printed: &mut self.printed,
        };
        let done = body(&mut ctx);
        let ticks = super::trace::duration(pipe, ctx.bytes, ctx.macs);
        let state = &mut self.cores[core].pipes[pipe as usize];
        state.clock = clock;
        let start = state.time;
        state.time += ticks;
        if let Some(trace) = &mut self.trace {
            trace.slice(who, instr.name, instr.site, start, ticks);
        }
        match done {
            Ok(value) => Some(value),
            Err(fault) => {
                self.fault(instr, fault);
                None
            }
        }
    }

    /// Cores of a kind in a block, in their order.
    pub(super) fn of_block(&self, block: usize, kind: Kind) -> Vec<usize> {
        let wanted = |c: &usize| self.cores[*c].place.block == block && self.cores[*c].place.kind == kind;
        (0..self.cores.len()).filter(wanted).collect()
    }

    /// The two vector cores into whose memories the fixpipe of a cube core can write (from A5 on).
    fn halves_of(&self, core: usize) -> Vec<usize> {
        let place = self.cores[core].place;
        match place.kind == Kind::Cube && self.arch != Arch::A3 {
            true => self.of_block(place.block, Kind::Vector),
            false => Vec::new(),
        }
    }

    /// A push from this core's tile into slots in other cores.
    fn fill(&mut self, core: usize, pipe: Pipe, instr: &Instr, epoch: u32) {
        let pieces = match super::fifo::pieces(self, core, instr) {
            Ok(pieces) => pieces,
            Err(fault) => return self.fault(instr, fault),
        };
        let Some(Operand::Tile(tile)) = instr.operands.first() else { return };
        for piece in pieces {
            let taken = self.execute(core, core, pipe, instr, epoch, |ctx| super::fifo::take(ctx, tile, &piece));
            if let Some(values) = taken {
                self.execute(core, piece.core, pipe, instr, epoch, |ctx| super::fifo::put(ctx, &piece, &values));
            }
        }
    }

    /// Waits of the scalar unit: whether a flag to it is there; if so it is consumed.
    pub(super) fn scalar(&mut self, core: usize, item: Item, site: Site) -> Next {
        let queued = Queued { item, site, issue: None, time: 0 };
        self.try_run(core, Pipe::S, queued).map_or(Next::Go, |held| Next::Wait(held.waits_for(Pipe::S)))
    }

    /// `pipe_barrier(PIPE_ALL)`: everything issued is finished, or what is not.
    pub(super) fn barrier_all(&mut self, core: usize) -> Next {
        self.drain(core);
        if let Some(waits) = self.pending(core) {
            return Next::Wait(waits);
        }
        // What other cores may reach keeps its accesses: from A5 on the halves write into each other's memories.
        let alone = self.cores.len() == 1 && self.transfers.is_empty();
        let state = &mut self.cores[core];
        let mut all = state.pipes[0].clock.clone();
        let mut time = 0;
        // A barrier does not wait for the engine of asynchronous transfers.
        for (p, pipe) in state.pipes.iter().enumerate().filter(|(p, _)| *p != TRANSFERS as usize) {
            join(&mut all, &pipe.clock);
            all[core * PIPES + p] = pipe.issued;
            time = time.max(pipe.time);
        }
        for pipe in &mut state.pipes {
            pipe.clock.clone_from(&all);
            pipe.time = time;
        }
        if alone || self.arch == Arch::A3 {
            state.logs.iter_mut().for_each(Log::clear);
        }
        if alone {
            self.gm_log.clear();
        }
        self.progress += 1;
        Next::Go
    }

    /// Memory of its own for a declaration of a tile, where the kernel leaves addresses to the runtime. The same
    /// declaration gets the same place again; what does not fit is reported when it is used.
    pub(super) fn place_tile(&mut self, core: usize, tile: &Tile) -> u64 {
        let core = &mut self.cores[core];
        let next = &mut core.free[tile.space as usize];
        *core.placed.entry((tile.space, tile.site, tile.bytes())).or_insert_with(|| {
            let address = *next;
            *next += (tile.bytes() as u64).next_multiple_of(1024);
            address
        })
    }

    /// Empties the on-chip memories of a core: nothing is written any more, or everything is zero.
    pub(super) fn reset_memory(&mut self, core: usize, zero: bool) -> Next {
        let next = self.barrier_all(core);
        if matches!(next, Next::Go) {
            self.cores[core].spaces.reset(zero);
        }
        next
    }

    /// What the pipes of a core wait for; `None` when all queues are empty.
    fn pending(&self, core: usize) -> Option<String> {
        let waits: Vec<String> = Pipe::EVERY.iter().filter_map(|&pipe| self.held(core, pipe)).collect();
        (!waits.is_empty()).then(|| waits.join("; "))
    }

    /// What a pipe waits for.
    fn held(&self, core: usize, pipe: Pipe) -> Option<String> {
        let head = self.cores[core].pipes[pipe as usize].queue.front()?;
        Some(format!("{} waits at line {} for {}", pipe.name(), head.site.line, head.waits_for(pipe)))
    }

    /// Gives an instruction to its pipe. `Next::Wait` when the scalar unit has to wait first: call again later.
    pub(super) fn issue(&mut self, core: usize, instr: &mut Option<Instr>) -> Next {
        if self.aborted {
            return Next::Go;
        }
        let Some(current) = instr.as_ref() else { return Next::Go };
        self.cores[core].at = current.site;
        let site = current.site;
        match super::sync::step(self, core, current) {
            Some(next) => {
                if matches!(next, Next::Go) {
                    self.count(core, site);
                    self.cores[core].pipes[Pipe::S as usize].time += 1;
                }
                next
            }
            None => {
                let op = ops::find(current.name);
                let pipe = op.map(|op| op.pipe(current, self.arch));
                // What prints waits for all pipes; what writes a variable of the kernel does so before it goes on.
                let waits = match pipe {
                    Some(Pipe::All) => self.barrier_all(core),
                    Some(pipe) if current.operands.iter().any(|o| matches!(o, Operand::Memory(..))) => {
                        self.held(core, pipe).map_or(Next::Go, Next::Wait)
                    }
                    _ => Next::Go,
                };
                if let Next::Wait(what) = waits {
                    return Next::Wait(what);
                }
                self.count(core, site);
                let instr = instr.take().expect("still there");
                match op {
                    Some(op) => {
                        let pipe = pipe.filter(|p| *p != Pipe::All).unwrap_or(Pipe::S);
                        self.cores[core].pipes[Pipe::S as usize].time += 1;
                        self.enqueue(core, pipe, Item::Run(op, instr), site);
                    }
                    None => {
                        let name = instr.name;
                        self.find(Rule::Illegal, site, Site::NONE, || (format!("{name} is not simulated"), Vec::new()));
                    }
                }
                Next::Go
            }
        }
    }

    fn count(&mut self, core: usize, site: Site) {
        self.instructions += 1;
        self.progress += 1;
        if self.instructions > self.limit && !self.aborted {
            let limit = self.limit;
            self.aborted = true;
            let place = self.component((core * PIPES) as u32);
            self.findings.add(Rule::Limit, site, Site::NONE, || {
                (
                    format!("the kernel was stopped after {limit} instructions, in the scalar program of {place}"),
                    Vec::new(),
                )
            });
        }
    }

    /// Ends a run that takes too long.
    pub(super) fn stop_for_time(&mut self, limit: std::time::Duration) {
        self.aborted = true;
        let (core, site) =
            self.cores.iter().map(|c| c.at).enumerate().find(|(c, _)| *c == self.turn).unwrap_or((0, Site::NONE));
        let place = self.component((core * PIPES) as u32);
        self.findings.add(Rule::Limit, site, Site::NONE, || {
            let seconds = limit.as_secs();
            (format!("the kernel was stopped after {seconds} seconds, in the scalar program of {place}"), Vec::new())
        });
    }

    /// A line of the file that the core's program is in.
    pub(super) fn site_of_line(&self, core: usize, line: u32) -> Site {
        self.cores[core].at.with_line(line)
    }

    /// A ticket for a buffer id, in program order.
    pub(super) fn ticket(&mut self, core: usize, id: u64) -> u64 {
        let components = self.cores.len() * PIPES;
        let buffer = self.cores[core].buffers.entry(id).or_default();
        if buffer.clock.is_empty() {
            buffer.clock = vec![0; components];
        }
        buffer.issued += 1;
        buffer.issued - 1
    }

    /// A scalar access of the kernel to global memory: checks it and returns where the bytes are, or `None`.
    pub(super) fn scalar_access(
        &mut self,
        core: usize,
        address: u64,
        bytes: u64,
        write: bool,
        site: Site,
    ) -> Option<*mut u8> {
        let name = if write { "scalar store" } else { "scalar load" };
        self.count(core, site);
        let instr = Instr {
            name,
            operands: vec![
                Operand::Int(address as i64, super::element::Element::U64),
                Operand::Int(bytes as i64, super::element::Element::U64),
            ],
            result: (super::abi::Slot(std::ptr::null_mut()), 0),
            site,
        };
        static LOAD: Op =
            Op { name: "scalar load", on: ops::On::Pipe(Pipe::S), run: |ctx| ops::scalar_access(ctx, false) };
        static STORE: Op =
            Op { name: "scalar store", on: ops::On::Pipe(Pipe::S), run: |ctx| ops::scalar_access(ctx, true) };
        self.enqueue(core, Pipe::S, Item::Run(if write { &STORE } else { &LOAD }, instr), site);
        let (index, offset) = self.gm.find(address)?;
        let memory = &mut self.gm.buffers[index].bank.bytes;
        let start = usize::try_from(offset).ok()?;
        let end = start.checked_add(bytes as usize)?;
        (end <= memory.len()).then(|| memory[start..].as_mut_ptr())
    }
}

fn core_name(place: &Place) -> String {
    match place.kind {
        Kind::Cube => format!("block {} cube", place.block),
        Kind::Vector => format!("block {} vector {}", place.block, place.sub),
        Kind::Whole => format!("block {}", place.block),
    }
}

fn component_name(place: &Place, pipe: Pipe, cores: usize) -> String {
    if cores == 1 { pipe.name().to_owned() } else { format!("{} of {}", pipe.name(), core_name(place)) }
}

/// Two different elements of an array.
fn pair<T>(array: &mut [T], first: usize, second: usize) -> (&mut T, &mut T) {
    let [a, b] = array.get_disjoint_mut([first, second]).expect("two different places");
    (a, b)
}
