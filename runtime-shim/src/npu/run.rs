//! Runs compiled kernels: a thread for each core, one of which runs at a time.

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use inkwell::context::Context;

use super::abi::{Instr, RawCall, Site};
use super::jit::{self, Code, Hooks};
use super::machine::{Kind, Machine, Next, Place, Settings};
use super::memory::{Bank, GlobalMemory};
use super::report::{Checks, Finding, Rule};
use crate::compiler::io_error;
use crate::error::Error;
use crate::kernel::{Core, Parameter, Signature};
use crate::tensor::Tensor;
use crate::{Arch, CompileOptions, Half, HostCompiler};

/// A compiled kernel, ready to run as often as wanted.
pub struct Kernel {
    /// Its name and parameters.
    pub signature: Signature,
    arch: Arch,
    programs: Vec<(Kind, Rc<Program>, jit::Entry)>,
}

/// Code and the context that it lives in. Threads that hang in it after a run was stopped keep it in memory.
struct Program {
    code: ManuallyDrop<Code<'static>>,
    context: ManuallyDrop<Box<Context>>,
    hung: Cell<bool>,
}

impl Program {
    fn new(bitcode: &Path, entries: &[&str]) -> Result<Program, Error> {
        let context = Box::new(Context::create());
        // SAFETY: the context stays where it is, and is dropped after the code (see `Drop`).
        let forever: &'static Context = unsafe { &*std::ptr::from_ref::<Context>(&context) };
        let hooks =
            Hooks { call: host_call as *const _, access: host_access as *const _, divisor: host_divisor as *const _ };
        let code = jit::compile(forever, bitcode, entries, &hooks)?;
        Ok(Program { code: ManuallyDrop::new(code), context: ManuallyDrop::new(context), hung: Cell::new(false) })
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if !self.hung.get() {
            // SAFETY: dropped once, the code before the context that it refers to.
            unsafe {
                ManuallyDrop::drop(&mut self.code);
                ManuallyDrop::drop(&mut self.context);
            }
        }
    }
}

impl Kernel {
    /// Compiles the C++ of a kernel: the `__global__` function `entry`, or the only one there is.
    ///
    /// # Errors
    /// As for [`HostCompiler::compile_to_bitcode`]; [`Error::NoKernel`] when the entry is not there.
    pub fn compile(source: &Path, options: &CompileOptions, entry: Option<&str>) -> Result<Kernel, Error> {
        Ok(Kernel::compile_each(source, options, &[entry])?.remove(0))
    }

    /// Compiles a file once for several of its `__global__` functions, in this order.
    ///
    /// # Errors
    /// As for [`Kernel::compile`].
    pub fn compile_all(source: &Path, options: &CompileOptions, entries: &[&str]) -> Result<Vec<Kernel>, Error> {
        let entries: Vec<Option<&str>> = entries.iter().copied().map(Some).collect();
        Kernel::compile_each(source, options, &entries)
    }

    fn compile_each(source: &Path, options: &CompileOptions, entries: &[Option<&str>]) -> Result<Vec<Kernel>, Error> {
        let text =
            std::fs::read_to_string(source).map_err(|e| io_error(format!("cannot read {}", source.display()), e))?;
        let find = |entry: &Option<&str>| {
            Signature::find(&text, *entry).map_err(|reason| Error::NoKernel { file: source.to_owned(), reason })
        };
        let signatures: Vec<Signature> = entries.iter().map(find).collect::<Result<_, _>>()?;
        let compiler = HostCompiler::find()?;
        let folder = tempfile::tempdir().map_err(|e| io_error("cannot make a folder".to_owned(), e))?;
        let mut programs: Vec<Vec<_>> = signatures.iter().map(|_| Vec::new()).collect();
        let halves = [
            (Core::Cube, Kind::Cube, Half::Cube),
            (Core::Vector, Kind::Vector, Half::Vector),
            (Core::Whole, Kind::Whole, Half::Both),
        ];
        for (core, kind, half) in halves {
            let here = |(at, signature): (usize, &'_ Signature)| {
                let name = signature.entries.iter().find(|(c, _)| *c == core).map(|(_, name)| name.clone());
                name.map(|name| (at, name))
            };
            let wanted: Vec<(usize, String)> = signatures.iter().enumerate().filter_map(here).collect();
            if wanted.is_empty() {
                continue;
            }
            let bitcode = folder.path().join(format!("{half:?}.bc"));
            compiler.compile_to_bitcode(source, &options.clone().half(half), &bitcode)?;
            let names: Vec<&str> = wanted.iter().map(|(_, name)| name.as_str()).collect();
            let program = Rc::new(Program::new(&bitcode, &names)?);
            for ((at, _), entry) in wanted.iter().zip(program.code.entries.clone()) {
                programs[*at].push((kind, Rc::clone(&program), entry));
            }
        }
        let kernels = signatures.into_iter().zip(programs);
        Ok(kernels.map(|(signature, programs)| Kernel { signature, arch: options.arch, programs }).collect())
    }
}

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// Contents of global memory for a pointer.
    Tensor(Tensor),
    /// So many bytes of global memory that nothing has written.
    Fresh(usize),
    /// Global memory of unknown size that nothing has written: [`SPARE`] bytes.
    Spare,
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// The number of the block that runs, where the kernel takes it as a parameter.
    BlockIndex,
    /// The number of blocks.
    BlockCount,
    /// The number of the vector core within its block.
    SubblockIndex,
}

/// Bytes of [`Argument::Spare`].
pub const SPARE: usize = 256 << 20;

/// Called now and then during a long run, with the instructions so far.
pub type Progress<'p> = Box<dyn FnMut(u64) + 'p>;

/// One run of a kernel.
pub struct Runner<'k> {
    kernel: &'k Kernel,
    blocks: usize,
    checks: Checks,
    limit: u64,
    time_limit: Duration,
    trace: bool,
    arguments: Vec<Argument>,
    progress: Option<Progress<'k>>,
}

/// What a run gave.
#[derive(Debug)]
pub struct Outcome {
    /// Broken rules, in the order in which they were found.
    pub findings: Vec<Finding>,
    /// Findings beyond those listed.
    pub dropped: usize,
    /// Contents of global memory by parameter; empty for scalars.
    pub memory: Vec<Vec<u8>>,
    /// One past the last byte that the kernel wrote, by parameter.
    pub extents: Vec<u64>,
    /// One past the last byte that the kernel read or wrote or wanted to, by parameter.
    pub reaches: Vec<u64>,
    /// Bytes from row to row of what was stored, by parameter, where all stores agree.
    pub pitches: Vec<Option<u64>>,
    /// What the kernel printed.
    pub printed: String,
    /// Instructions.
    pub instructions: u64,
    /// The trace as JSON, if one was asked for.
    pub trace: Option<String>,
    /// Time from the first to the last instruction.
    pub elapsed: Duration,
}

impl<'k> Runner<'k> {
    /// A run with one block, all checks, and no arguments.
    #[must_use]
    pub fn new(kernel: &'k Kernel) -> Runner<'k> {
        Runner {
            kernel,
            blocks: 1,
            checks: Checks::ALL,
            limit: 1_000_000_000,
            time_limit: Duration::from_secs(600),
            trace: false,
            arguments: Vec::new(),
            progress: None,
        }
    }

    /// Adds the next argument.
    #[must_use]
    pub fn arg(mut self, argument: Argument) -> Self {
        self.arguments.push(argument);
        self
    }

    /// Sets the number of blocks.
    #[must_use]
    pub fn blocks(mut self, blocks: usize) -> Self {
        self.blocks = blocks.max(1);
        self
    }

    /// Sets the checks.
    #[must_use]
    pub fn checks(mut self, checks: Checks) -> Self {
        self.checks = checks;
        self
    }

    /// Keeps a trace.
    #[must_use]
    pub fn trace(mut self, trace: bool) -> Self {
        self.trace = trace;
        self
    }

    /// Stops the run after so many instructions.
    #[must_use]
    pub fn limit(mut self, instructions: u64) -> Self {
        self.limit = instructions;
        self
    }

    /// Stops the run after so much time.
    #[must_use]
    pub fn time_limit(mut self, time: Duration) -> Self {
        self.time_limit = time;
        self
    }

    /// Calls `progress` every two seconds.
    #[must_use]
    pub fn progress(mut self, progress: Progress<'k>) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Runs the kernel.
    ///
    /// # Errors
    /// [`Error::Arguments`] when the arguments do not fit the parameters; what the kernel does wrong while it runs is in
    /// [`Outcome::findings`].
    pub fn run(mut self) -> Result<Outcome, Error> {
        let (gm, words) = self.place_arguments()?;
        let places = self.places();
        let settings = Settings { arch: self.kernel.arch, checks: self.checks, limit: self.limit, trace: self.trace };
        let machine = Machine::new(&settings, &places, self.blocks, gm);
        let shared = Arc::new(Shared {
            machine: Mutex::new(machine),
            wake: places.iter().map(|_| Condvar::new()).collect(),
            ended: Condvar::new(),
        });
        let begin = Instant::now();
        let mut threads = Vec::new();
        for (core, place) in places.iter().enumerate() {
            let program = self.kernel.programs.iter().find(|(kind, ..)| *kind == place.kind);
            let entry = program.expect("a program for each kind").2;
            let shared = Arc::clone(&shared);
            let words: Vec<u64> = words.iter().map(|word| word.of_place(place)).collect();
            let name = format!("core {core}");
            let thread = std::thread::Builder::new().name(name).stack_size(8 << 20).spawn(move || {
                core_main(&shared, core, entry, &words);
            });
            threads.push(thread.map_err(|e| io_error("cannot start a thread".to_owned(), e))?);
        }
        let ended = self.supervise(&shared, begin);
        let elapsed = begin.elapsed();
        if ended {
            for thread in threads {
                let _ = thread.join();
            }
        } else {
            self.kernel.programs.iter().for_each(|(_, program, _)| program.hung.set(true));
        }
        let mut machine = shared.lock();
        machine.finish_all();
        Ok(self.outcome(&mut machine, elapsed))
    }

    /// Global memory, and the words that the kernel gets as arguments.
    fn place_arguments(&self) -> Result<(GlobalMemory, Vec<Word>), Error> {
        let parameters = &self.kernel.signature.parameters;
        if parameters.len() != self.arguments.len() {
            return Err(Error::Arguments(format!(
                "kernel '{}' takes {} arguments, got {}",
                self.kernel.signature.name,
                parameters.len(),
                self.arguments.len()
            )));
        }
        let mut gm = GlobalMemory::default();
        let mut words = Vec::new();
        for (parameter, argument) in parameters.iter().zip(&self.arguments) {
            words.push(match argument {
                Argument::BlockIndex if !parameter.pointer => Word::BlockIndex,
                Argument::SubblockIndex if !parameter.pointer => Word::SubblockIndex,
                Argument::BlockCount if !parameter.pointer => Word::Same(self.blocks as u64),
                _ => Word::Same(word(&mut gm, parameter, argument)?),
            });
        }
        Ok((gm, words))
    }

    fn places(&self) -> Vec<Place> {
        let mixed = self.kernel.programs.len() > 1;
        let mut places = Vec::new();
        for block in 0..self.blocks {
            for (kind, ..) in &self.kernel.programs {
                // A block of a mixed kernel is a cube and two vector cores.
                let subs = if mixed && *kind == Kind::Vector { 2 } else { 1 };
                places.extend((0..subs).map(|sub| Place { block, kind: *kind, sub }));
            }
        }
        places
    }

    /// Waits for the end; reports progress, and stops what takes too long. Whether all threads have ended.
    fn supervise(&mut self, shared: &Shared, begin: Instant) -> bool {
        let mut machine = shared.lock();
        let mut stopped: Option<Instant> = None;
        loop {
            if machine.all_done() {
                return true;
            }
            if let Some(since) = stopped {
                // What does not come back in this time never will: it loops without an instruction.
                if since.elapsed() > Duration::from_secs(2) {
                    return false;
                }
            } else if machine.aborted {
                stopped = Some(Instant::now());
            } else if begin.elapsed() > self.time_limit {
                machine.stop_for_time(self.time_limit);
                shared.wake.iter().for_each(Condvar::notify_all);
                stopped = Some(Instant::now());
            }
            let step =
                if stopped.is_some() { Duration::from_millis(50) } else { Duration::from_secs(2).min(self.time_limit) };
            let (guard, timeout) = shared.ended.wait_timeout(machine, step).unwrap_or_else(PoisonError::into_inner);
            machine = guard;
            if timeout.timed_out()
                && stopped.is_none()
                && let Some(progress) = &mut self.progress
            {
                progress(machine.instructions);
            }
        }
    }

    fn outcome(&self, machine: &mut MutexGuard<Machine>, elapsed: Duration) -> Outcome {
        let rows = machine.trace_rows();
        let findings = std::mem::take(&mut machine.findings);
        let mut buffers = std::mem::take(&mut machine.gm.buffers).into_iter();
        let (mut memory, mut extents, mut pitches) = (Vec::new(), Vec::new(), Vec::new());
        let mut reaches = Vec::new();
        for parameter in &self.kernel.signature.parameters {
            let buffer = if parameter.pointer { buffers.next() } else { None };
            pitches.push(buffer.as_ref().and_then(|b| b.pitch.flatten()));
            reaches.push(buffer.as_ref().map_or(0, |b| b.reach));
            extents.push(buffer.as_ref().map_or(0, |b| b.extent));
            memory.push(buffer.map_or_else(Vec::new, |b| b.bank.bytes));
        }
        Outcome {
            dropped: findings.dropped,
            findings: findings.into_list(),
            memory,
            extents,
            reaches,
            pitches,
            printed: std::mem::take(&mut machine.printed),
            instructions: machine.instructions,
            trace: machine.trace.take().map(|t| t.to_json(&rows)),
            elapsed,
        }
    }
}

/// What a parameter gets.
#[derive(Clone, Copy)]
enum Word {
    /// This, on every core.
    Same(u64),
    /// The number of the block.
    BlockIndex,
    /// The number of the core in its block.
    SubblockIndex,
}

impl Word {
    fn of_place(self, place: &Place) -> u64 {
        match self {
            Word::Same(word) => word,
            Word::BlockIndex => place.block as u64,
            Word::SubblockIndex => place.sub as u64,
        }
    }
}

/// The word that a parameter gets.
fn word(gm: &mut GlobalMemory, parameter: &Parameter, argument: &Argument) -> Result<u64, Error> {
    let wrong = |found: &str| {
        let wanted = if parameter.pointer { "a tensor" } else { "a number" };
        Err(Error::Arguments(format!("parameter '{}' is {wanted}, got {found}", parameter.name)))
    };
    match (argument, parameter.pointer) {
        (Argument::Tensor(tensor), true) => {
            if let Some(element) = parameter.element.filter(|e| e.bits() != tensor.element.bits()) {
                return Err(Error::Arguments(format!(
                    "parameter '{}' points to {} ({} bits), got a tensor of {}",
                    parameter.name,
                    element.name(),
                    element.bits(),
                    tensor.element.name()
                )));
            }
            Ok(gm.add(&parameter.name, Bank::of(tensor.bytes.clone())))
        }
        (Argument::Fresh(bytes), true) => Ok(gm.add(&parameter.name, Bank::new(*bytes))),
        (Argument::Int(value), false) => Ok(match parameter.element {
            Some(element) if element.is_float() => float_word(parameter, *value as f64),
            _ => *value as u64,
        }),
        (Argument::Float(value), false) => match parameter.element {
            Some(element) if element.is_float() => Ok(float_word(parameter, *value)),
            _ => wrong("a float where an integer is wanted"),
        },
        (Argument::Spare, true) => Ok(gm.add(&parameter.name, Bank::spare(SPARE))),
        (Argument::Tensor(_) | Argument::Fresh(_) | Argument::Spare, false) => wrong("a tensor"),
        _ => wrong("a number"),
    }
}

fn float_word(parameter: &Parameter, value: f64) -> u64 {
    let mut word = [0; 8];
    if let Some(element) = parameter.element {
        element.encode(&[value], &mut word, 0, 1);
    }
    u64::from_le_bytes(word)
}

/// What the threads of a run share.
struct Shared {
    machine: Mutex<Machine>,
    wake: Vec<Condvar>,
    ended: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Machine> {
        self.machine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives up the turn and waits until it comes back, or the run is over.
    fn wait_for_turn<'m>(&'m self, mut machine: MutexGuard<'m, Machine>, core: usize) -> MutexGuard<'m, Machine> {
        self.announce(&machine);
        while machine.turn != core && !machine.aborted {
            machine = self.wake[core].wait(machine).unwrap_or_else(PoisonError::into_inner);
        }
        machine
    }

    /// Wakes the core whose turn it is; everybody when the run is over.
    fn announce(&self, machine: &Machine) {
        if machine.aborted {
            self.wake.iter().for_each(Condvar::notify_all);
            self.ended.notify_all();
        } else if let Some(wake) = self.wake.get(machine.turn) {
            wake.notify_all();
        }
    }

    fn issue(&self, core: usize, instr: Instr) {
        let mut machine = self.lock();
        if machine.aborted {
            drop(machine);
            return rest_when_late();
        }
        let mut instr = Some(instr);
        while let Next::Wait(what) = machine.issue(core, &mut instr) {
            machine.yield_turn(core, what);
            machine = self.wait_for_turn(machine, core);
        }
    }
}

thread_local! {
    static CURRENT: RefCell<Option<(Arc<Shared>, usize)>> = const { RefCell::new(None) };
    /// Where accesses outside every buffer go.
    static NOWHERE: Cell<[u64; 64]> = const { Cell::new([0; 64]) };
    /// Calls since the run was stopped.
    static LATE: Cell<u64> = const { Cell::new(0) };
}

/// Calls after the end of a run before its thread is put to rest: it is in a loop that nothing will end.
const MOST_LATE: u64 = 1_000_000;

fn core_main(shared: &Arc<Shared>, core: usize, entry: extern "C" fn(*const u64), words: &[u64]) {
    let stopped = shared.wait_for_turn(shared.lock(), core).aborted;
    CURRENT.set(Some((Arc::clone(shared), core)));
    if !stopped {
        entry(words.as_ptr());
    }
    let mut machine = shared.lock();
    while let Next::Wait(what) = machine.finish(core) {
        machine.yield_turn(core, what);
        machine = shared.wait_for_turn(machine, core);
    }
    machine.pass_turn(core);
    shared.announce(&machine);
    if machine.all_done() {
        shared.ended.notify_all();
    }
}

/// Runs `body` for the core of this thread. Nothing may unwind into the kernel.
fn with_core<T>(fallback: T, body: impl FnOnce(&Arc<Shared>, usize) -> T) -> T {
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        CURRENT.with_borrow(|current| current.as_ref().map(|(shared, core)| body(shared, *core)))
    }));
    match done {
        Ok(Some(value)) => value,
        Ok(None) => fallback,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map_or("unknown", String::as_str).to_owned();
            CURRENT.with_borrow(|current| {
                let Some((shared, _)) = current else { return };
                let mut machine = shared.lock();
                machine.aborted = true;
                machine.findings.add(Rule::Illegal, Site::NONE, Site::NONE, || {
                    (format!("internal error of the simulated NPU: {text}"), Vec::new())
                });
            });
            fallback
        }
    }
}

/// `pto_host_call`.
extern "C" fn host_call(call: *const RawCall) {
    with_core((), |shared, core| {
        // SAFETY: called by the kernel through the headers of this crate.
        let instr = unsafe { (*call).decode() };
        shared.issue(core, instr);
    });
}

/// A thread that goes on and on after the end of its run sleeps for good.
fn rest_when_late() {
    LATE.set(LATE.get() + 1);
    if LATE.get() > MOST_LATE {
        loop {
            std::thread::park();
        }
    }
}

/// `pto_host_access`: the pointer to use for a scalar access of the kernel.
extern "C" fn host_access(pointer: u64, bytes: u64, write: u32, line: u32) -> u64 {
    if !GlobalMemory::owns(pointer) {
        return if pointer < 4096 { nowhere() } else { pointer };
    }
    with_core(nowhere(), |shared, core| {
        let mut machine = shared.lock();
        if machine.aborted {
            drop(machine);
            rest_when_late();
            return nowhere();
        }
        let site = machine.site_of_line(core, line);
        machine.scalar_access(core, pointer, bytes, write != 0, site).map_or_else(nowhere, |p| p as u64)
    })
}

/// `pto_host_divisor`: the divisor, or 1 in place of one that this machine cannot divide by.
extern "C" fn host_divisor(dividend: i64, divisor: i64, line: u32) -> i64 {
    if divisor != 0 && !(divisor == -1 && dividend == i64::MIN) {
        return divisor;
    }
    with_core((), |shared, core| {
        let mut machine = shared.lock();
        let site = machine.site_of_line(core, line);
        if !machine.aborted {
            machine.find(Rule::Illegal, site, Site::NONE, || {
                (format!("the scalar program divides {dividend} by {divisor}"), Vec::new())
            });
        }
    });
    1
}

fn nowhere() -> u64 {
    NOWHERE.with(|cell| {
        cell.set([0; 64]);
        cell.as_ptr() as u64
    })
}
