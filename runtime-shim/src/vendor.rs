//! Runs a kernel against the vendor's own headers in their CPU simulation mode: a second opinion on its results.
//!
//! Each half of the kernel becomes a shared object. A runner (`vendor/runner.cpp`) loads them in a process of its own,
//! gives every core a thread, and implements the signals between cores, which the vendor's simulator leaves out. The
//! vendor's headers are not part of this crate: the caller says where they are.
//!
//! What the vendor's simulator does not see: `set_flag`, `wait_flag` and barriers between pipes are empty there, and
//! on-chip memory starts as zeroes. A kernel with wrong synchronisation can pass.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::compiler::{io_error, run};
use crate::{Arch, Error, Half, HostCompiler};

/// Files that go on the include path before the vendor's headers, and the runner.
const SUPPORT: [(&str, &str); 4] = [
    ("abi.hpp", include_str!("vendor/abi.hpp")),
    ("prelude.hpp", include_str!("vendor/prelude.hpp")),
    ("stdfloat", include_str!("vendor/stdfloat")),
    ("runner.cpp", include_str!("vendor/runner.cpp")),
];

/// Flags for a half. C++23 is what makes the vendor's `bfloat16_t` a type of its own; contraction would give other
/// bits on machines with fused multiply-add.
const HALF_FLAGS: [&str; 9] = [
    "-std=c++23",
    "-O1",
    "-w",
    "-fPIC",
    "-fvisibility=hidden",
    "-ffp-contract=off",
    "-D__CPU_SIM",
    "-DCPU_SIM_BFLOAT_ENABLED=1",
    "-fno-color-diagnostics",
];

/// Exit code of the runner when the time limit is over.
const TOO_SLOW: i32 = 122;

/// How much longer than the time limit the runner may live before it is killed.
const GRACE: Duration = Duration::from_secs(5);

/// Bytes of the error stream that a message keeps, from its end.
const KEPT_STDERR: usize = 8192;

/// Variables that change the vendor's simulator; those not set on purpose are removed.
const VARIABLES: [&str; 6] = [
    "PTO_CPU_SIM_NUM_CORES",
    "PTO_CPU_SIM_UB_BYTES",
    "PTO_CPU_SIM_L1_BYTES",
    "PTO_CPU_SIM_L0A_BYTES",
    "PTO_CPU_SIM_L0B_BYTES",
    "PTO_CPU_SIM_L0C_BYTES",
];

/// How a kernel is run against the vendor's headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VendorOptions {
    /// Folder of a pto-isa checkout, or its `include` folder.
    pub pto_isa: PathBuf,
    /// Architecture to simulate: A3 or A5.
    pub arch: Arch,
    /// Number of blocks; all run at the same time.
    pub blocks: u32,
    /// Longest time the kernel may run.
    pub time_limit: Duration,
    /// Folder for precompiled headers, which save seconds a kernel. It is created if needed; several processes may
    /// use it. Without it nothing is kept.
    pub cache: Option<PathBuf>,
}

impl VendorOptions {
    /// One block, a minute, no cache.
    #[must_use]
    pub fn new(pto_isa: impl Into<PathBuf>, arch: Arch) -> Self {
        let time_limit = Duration::from_secs(60);
        VendorOptions { pto_isa: pto_isa.into(), arch, blocks: 1, time_limit, cache: None }
    }
}

/// The functions a kernel starts with. A kernel with both halves runs on a cube core and two vector cores a block,
/// any other on one core a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VendorEntry {
    /// Function of the cube half, which is compiled with `__DAV_CUBE__`.
    pub cube: Option<String>,
    /// Function of the vector half, which is compiled with `__DAV_VEC__`.
    pub vector: Option<String>,
}

impl VendorEntry {
    /// `name` on cube cores.
    #[must_use]
    pub fn cube(name: impl Into<String>) -> Self {
        VendorEntry { cube: Some(name.into()), vector: None }
    }

    /// `name` on vector cores.
    #[must_use]
    pub fn vector(name: impl Into<String>) -> Self {
        VendorEntry { cube: None, vector: Some(name.into()) }
    }

    /// `name` on both: a function with `__DAV_CUBE__` and `__DAV_VEC__` sections.
    #[must_use]
    pub fn mixed(name: &str) -> Self {
        VendorEntry::halves(name, name)
    }

    /// A function for each half.
    #[must_use]
    pub fn halves(cube: impl Into<String>, vector: impl Into<String>) -> Self {
        VendorEntry { cube: Some(cube.into()), vector: Some(vector.into()) }
    }

    /// The halves with their functions.
    fn list(&self) -> Vec<(Half, &str)> {
        let cube = self.cube.as_deref().map(|name| (Half::Cube, name));
        let vector = self.vector.as_deref().map(|name| (Half::Vector, name));
        cube.into_iter().chain(vector).collect()
    }
}

/// An argument of the kernel. Scalars are converted to the type of the parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum VendorArg {
    /// Global memory behind a pointer parameter; holds its contents after the run.
    Buffer(Vec<u8>),
    /// A number for an integer parameter.
    Integer(i64),
    /// A number for a floating-point parameter.
    Real(f64),
    /// The index of the block of the core.
    BlockIndex,
    /// The number of blocks.
    BlockCount,
    /// The index of the vector core within its block. A half that has no such parameter is called without.
    SubblockIndex,
}

impl VendorArg {
    /// Its line in the runner's job.
    fn line(&self) -> String {
        match self {
            VendorArg::Buffer(bytes) => format!("buffer {}", bytes.len()),
            VendorArg::Integer(value) => format!("integer {value}"),
            VendorArg::Real(value) => format!("real {:x}", value.to_bits()),
            VendorArg::BlockIndex => "block_index".to_owned(),
            VendorArg::BlockCount => "block_count".to_owned(),
            VendorArg::SubblockIndex => "subblock_index".to_owned(),
        }
    }
}

/// What a finished run took and said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VendorReport {
    /// Time to compile the kernel, with the precompiled headers if they had to be made.
    pub compile: Duration,
    /// Time from the start of the cores to the end of the last one.
    pub run: Duration,
    /// What the kernel printed.
    pub stdout: String,
    /// What it wrote to its error stream.
    pub stderr: String,
}

/// Compiles `kernel` and runs it once: see [`VendorKernel`].
///
/// # Errors
/// Those of [`VendorKernel::compile`] and [`VendorKernel::run`].
pub fn run_vendor(
    options: &VendorOptions,
    kernel: &Path,
    entry: &VendorEntry,
    args: &mut [VendorArg],
) -> Result<VendorReport, Error> {
    VendorKernel::compile(options, kernel, entry)?.run(args)
}

/// A kernel that is compiled against the vendor's headers, to run any number of times.
#[derive(Debug)]
pub struct VendorKernel {
    options: VendorOptions,
    entry: VendorEntry,
    memory: Memory,
    /// Holds the halves.
    folder: TempDir,
    runner: PathBuf,
    compile: Duration,
}

impl VendorKernel {
    /// Compiles the halves that `entry` names.
    ///
    /// # Errors
    /// [`Error::VendorHeadersNotFound`], [`Error::VendorArchUnknown`], [`Error::Rejected`] when the kernel does not
    /// compile against the vendor's headers, and those of the compiler and the file system.
    pub fn compile(options: &VendorOptions, kernel: &Path, entry: &VendorEntry) -> Result<Self, Error> {
        let memory = Memory::of(options.arch)?;
        let headers = find_headers(&options.pto_isa)?;
        let program = HostCompiler::find()?.program().to_owned();
        let folder = temporary_folder()?;

        let start = Instant::now();
        let toolchain = Toolchain::prepare(program, headers, options.cache.as_deref(), &folder)?;
        let runner = toolchain.runner()?;
        let kernel = kernel.canonicalize().map_err(|e| io_error(format!("cannot read {}", kernel.display()), e))?;
        toolchain.compile_halves(&kernel, &entry.list(), folder.path())?;
        let (options, entry, compile) = (options.clone(), entry.clone(), start.elapsed());
        Ok(VendorKernel { options, entry, memory, folder, runner, compile })
    }

    /// Runs the kernel to its end. `args` are in the order of the parameters; after a run the buffers hold what the
    /// kernel left in them, after an error they are as before.
    ///
    /// # Errors
    /// [`Error::VendorStopped`] when the kernel aborts, accesses memory that is not its own or has other parameters,
    /// [`Error::VendorTimeout`], and those of the file system.
    pub fn run(&self, args: &mut [VendorArg]) -> Result<VendorReport, Error> {
        let failed = |e| io_error("cannot make a temporary folder".to_owned(), e);
        let folder = tempfile::tempdir_in(self.folder.path()).map_err(failed)?;
        write_job(&self.options, &self.entry, args, folder.path())?;
        let process = Process { runner: &self.runner, folder: folder.path(), limit: self.options.time_limit };
        process.run(self.options.blocks, self.memory)?;

        let contents = read_buffers(args, folder.path())?;
        let seconds: f64 = read_text(&folder.path().join("seconds.txt"))?.trim().parse().unwrap_or_default();
        for (arg, new) in args.iter_mut().zip(contents) {
            if let Some(bytes) = new {
                *arg = VendorArg::Buffer(bytes);
            }
        }
        let (stdout, stderr) = process.texts()?;
        let run = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        Ok(VendorReport { compile: self.compile, run, stdout, stderr })
    }
}

fn temporary_folder() -> Result<TempDir, Error> {
    tempfile::tempdir().map_err(|e| io_error("cannot make a temporary folder".to_owned(), e))
}

/// Sizes of on-chip memory that the vendor's simulator takes from the environment, in bytes. Without it the unified
/// buffer would be larger than the device's.
#[derive(Debug, Clone, Copy)]
struct Memory {
    unified_buffer: u32,
}

impl Memory {
    fn of(arch: Arch) -> Result<Self, Error> {
        match arch {
            Arch::A3 => Ok(Memory { unified_buffer: 192 << 10 }),
            Arch::A5 => Ok(Memory { unified_buffer: 256 << 10 }),
            Arch::Kirin9030 | Arch::KirinX90 => Err(Error::VendorArchUnknown(format!("{arch:?}"))),
        }
    }
}

fn find_headers(pto_isa: &Path) -> Result<PathBuf, Error> {
    let folders = [pto_isa.join("include"), pto_isa.to_owned()];
    let found = folders.iter().find(|folder| folder.join("pto/pto-inst.hpp").is_file());
    let found = found.and_then(|folder| folder.canonicalize().ok());
    found.ok_or_else(|| Error::VendorHeadersNotFound(pto_isa.to_owned()))
}

/// Clang with the vendor's headers and the support files.
struct Toolchain {
    program: PathBuf,
    headers: PathBuf,
    /// Folder of the support files.
    support: PathBuf,
    /// Whether the folder is kept, so that precompiling the headers pays.
    kept: bool,
}

impl Toolchain {
    /// Writes the support files into a folder of the cache, or into the job's folder.
    fn prepare(program: PathBuf, headers: PathBuf, cache: Option<&Path>, job: &TempDir) -> Result<Self, Error> {
        let mut hasher = DefaultHasher::new();
        (&program, &headers, HALF_FLAGS, SUPPORT).hash(&mut hasher);
        let support = match cache {
            Some(cache) => cache.join(format!("vendor-{:016x}", hasher.finish())),
            None => job.path().join("support"),
        };
        fs::create_dir_all(&support).map_err(|e| io_error(format!("cannot create {}", support.display()), e))?;
        let support = support.canonicalize().map_err(|e| io_error(format!("cannot read {}", support.display()), e))?;
        for (name, text) in SUPPORT {
            let path = support.join(name);
            // Left alone if it is there: precompiled headers refuse a file that was written again.
            if fs::read(&path).is_ok_and(|bytes| bytes == text.as_bytes()) {
                continue;
            }
            appear(&path, |scratch| {
                fs::write(scratch, text).map_err(|e| io_error(format!("cannot write {}", path.display()), e))
            })?;
        }
        Ok(Toolchain { program, headers, support, kept: cache.is_some() })
    }

    /// The runner, compiled if it is not there.
    fn runner(&self) -> Result<PathBuf, Error> {
        let (path, source) = (self.support.join("runner"), self.support.join("runner.cpp"));
        if !path.is_file() {
            appear(&path, |scratch| {
                let mut command = Command::new(&self.program);
                command.args(["-std=c++20", "-O1", "-rdynamic", "-o"]).arg(scratch).arg(&source);
                command.args(["-ldl", "-lpthread"]);
                run(&source, command).map(drop)
            })?;
        }
        Ok(path)
    }

    /// Compiles the halves, at the same time, to `cube.so` and `vector.so` in `folder`.
    fn compile_halves(&self, kernel: &Path, halves: &[(Half, &str)], folder: &Path) -> Result<(), Error> {
        let compile = |&(half, name): &(Half, &str)| self.compile_half(kernel, half, name, folder);
        let results: Vec<Result<(), Error>> = std::thread::scope(|scope| {
            let workers: Vec<_> = halves.iter().map(|half| scope.spawn(move || compile(half))).collect();
            let join = |worker: std::thread::ScopedJoinHandle<'_, _>| worker.join().expect("compiling does not panic");
            workers.into_iter().map(join).collect()
        });
        results.into_iter().collect()
    }

    fn compile_half(&self, kernel: &Path, half: Half, name: &str, folder: &Path) -> Result<(), Error> {
        let source = folder.join(format!("{}.cpp", file_stem(half)));
        fs::write(&source, half_source(kernel, name)).map_err(|e| io_error("cannot write a half".to_owned(), e))?;
        let compile = |precompiled: Option<&Path>| {
            let mut command = self.command(half);
            match precompiled {
                Some(path) => command.arg("-include-pch").arg(path),
                None => command.arg("-include").arg(self.support.join("prelude.hpp")),
            };
            command.args(["-ferror-limit=0", "-fno-caret-diagnostics", "-shared", "-o"]);
            command.arg(folder.join(format!("{}.so", file_stem(half)))).arg(&source).args(["-ldl", "-lpthread"]);
            run(kernel, command).map(drop)
        };
        if !self.kept {
            return compile(None);
        }
        let precompiled = self.support.join(format!("{}.pch", file_stem(half)));
        if !precompiled.is_file() {
            self.precompile(half, &precompiled)?;
        }
        match compile(Some(&precompiled)) {
            // The vendor's headers, or clang, are newer than the precompiled ones.
            Err(error) if error.to_string().contains("precompiled") || error.to_string().contains("PCH") => {
                self.precompile(half, &precompiled)?;
                compile(Some(&precompiled))
            }
            result => result,
        }
    }

    fn precompile(&self, half: Half, output: &Path) -> Result<(), Error> {
        let prelude = self.support.join("prelude.hpp");
        appear(output, |scratch| {
            let mut command = self.command(half);
            command.args(["-x", "c++-header", "-o"]).arg(scratch).arg(&prelude);
            run(&prelude, command).map(drop)
        })
    }

    fn command(&self, half: Half) -> Command {
        let mut command = Command::new(&self.program);
        command.args(HALF_FLAGS);
        command.args(half.macro_names().iter().map(|name| format!("-D{name}")));
        command.arg("-I").arg(&self.support).arg("-I").arg(&self.headers);
        command
    }
}

fn file_stem(half: Half) -> &'static str {
    match half {
        Half::Cube => "cube",
        Half::Vector | Half::Both => "vector",
    }
}

/// A source that includes the kernel and exports the call of its function.
fn half_source(kernel: &Path, name: &str) -> String {
    let kernel = kernel.display();
    format!(
        "#include \"{kernel}\"\n\
         extern \"C\" __attribute__((visibility(\"default\")))\n\
         void vendor_entry(const VendorSlot* slots, int count, const VendorCore* core, bool a5) {{\n    \
             vendor::launch(&{name}, slots, count, *core, a5);\n\
         }}\n"
    )
}

/// Makes a file through a scratch file beside it, so that it appears whole or not at all.
fn appear(path: &Path, make: impl FnOnce(&Path) -> Result<(), Error>) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let scratch = tempfile::Builder::new().prefix("making").tempdir_in(folder);
    let scratch = scratch.map_err(|e| io_error(format!("cannot write in {}", folder.display()), e))?;
    let file = scratch.path().join("file");
    make(&file)?;
    fs::rename(&file, path).map_err(|e| io_error(format!("cannot write {}", path.display()), e))
}

/// Writes what the runner reads: the job and the contents of the buffers.
fn write_job(options: &VendorOptions, entry: &VendorEntry, args: &[VendorArg], folder: &Path) -> Result<(), Error> {
    let mut lines = vec![format!("blocks {}", options.blocks), format!("limit {}", options.time_limit.as_secs_f64())];
    lines.extend((options.arch == Arch::A5).then(|| "a5".to_owned()));
    lines.extend(entry.list().iter().map(|(half, _)| file_stem(*half).to_owned()));
    lines.extend(args.iter().map(VendorArg::line));
    let write = |name: &str, bytes: &[u8]| {
        fs::write(folder.join(name), bytes).map_err(|e| io_error(format!("cannot write {name}"), e))
    };
    for (index, arg) in args.iter().enumerate() {
        if let VendorArg::Buffer(bytes) = arg {
            write(&buffer_name(index), bytes)?;
        }
    }
    write("job.txt", (lines.join("\n") + "\n").as_bytes())
}

/// The new contents of the buffers, in the places of their arguments.
fn read_buffers(args: &[VendorArg], folder: &Path) -> Result<Vec<Option<Vec<u8>>>, Error> {
    let read = |(index, arg): (usize, &VendorArg)| match arg {
        VendorArg::Buffer(_) => {
            let name = buffer_name(index);
            fs::read(folder.join(&name)).map(Some).map_err(|e| io_error(format!("cannot read {name}"), e))
        }
        _ => Ok(None),
    };
    args.iter().enumerate().map(read).collect()
}

fn buffer_name(index: usize) -> String {
    format!("arg{index}.bin")
}

fn read_text(path: &Path) -> Result<String, Error> {
    let bytes = fs::read(path).map_err(|e| io_error(format!("cannot read {}", path.display()), e))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The runner as a child process. Its streams go to files, so that it never waits for a reader.
struct Process<'a> {
    runner: &'a Path,
    folder: &'a Path,
    limit: Duration,
}

impl Process<'_> {
    fn run(&self, blocks: u32, memory: Memory) -> Result<(), Error> {
        let stream =
            |name: &str| File::create(self.folder.join(name)).map_err(|e| io_error(format!("cannot write {name}"), e));
        let mut command = Command::new(self.runner);
        command.current_dir(self.folder).stdin(Stdio::null());
        command.stdout(stream("stdout.txt")?).stderr(stream("stderr.txt")?);
        for name in VARIABLES {
            command.env_remove(name);
        }
        command.env("PTO_CPU_SIM_NUM_CORES", blocks.to_string());
        command.env("PTO_CPU_SIM_UB_BYTES", memory.unified_buffer.to_string());
        let status = self.wait(command).map_err(|e| io_error(format!("cannot run {}", self.runner.display()), e))?;
        let stderr = || self.texts().map(|(_, stderr)| tail(&stderr).to_owned());
        match status {
            Some(status) if status.success() => Ok(()),
            Some(status) if status.code() != Some(TOO_SLOW) => {
                Err(Error::VendorStopped { status: describe(status), stderr: stderr()? })
            }
            _ => Err(Error::VendorTimeout { seconds: self.limit.as_secs_f64(), stderr: stderr()? }),
        }
    }

    /// Its end; none if it had to be killed.
    fn wait(&self, mut command: Command) -> io::Result<Option<ExitStatus>> {
        let mut child = command.spawn()?;
        let end = Instant::now() + self.limit + GRACE;
        let mut pause = Duration::from_millis(1);
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Some(status));
            }
            if Instant::now() > end {
                child.kill()?;
                child.wait()?;
                return Ok(None);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    /// What it wrote to its two streams.
    fn texts(&self) -> Result<(String, String), Error> {
        Ok((read_text(&self.folder.join("stdout.txt"))?, read_text(&self.folder.join("stderr.txt"))?))
    }
}

fn describe(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(6), _) => "aborted".to_owned(),
        (Some(8), _) => "division by zero".to_owned(),
        (Some(signal), _) => format!("signal {signal}"),
        (None, Some(code)) => format!("exit code {code}"),
        (None, None) => status.to_string(),
    }
}

/// The end of a text, from a line's start where possible.
fn tail(text: &str) -> &str {
    let from = text.len().saturating_sub(KEPT_STDERR);
    let from = (from..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
    match text[from..].find('\n') {
        Some(line) if from > 0 => &text[from + line + 1..],
        _ => &text[from..],
    }
}

#[cfg(test)]
mod tests;
