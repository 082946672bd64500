//! Finds the device compiler and calls it on emitted C++.
//!
//! Names, folders and flags are data: `toolchain.toml`, `[device_compiler]` and `[targets.*.compiler]`. Nothing here
//! reads IR or knows a target by name. Tests: below, with shell scripts in place of the compiler.

use pto_dialect::device::{CompilerFlags, Device, device_compiler};
use std::{
    env,
    ffi::{OsStr, OsString},
    fmt, fs, io,
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
};

/// Which cores a source is for; each kind has its own architecture name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the cores")]
pub enum KernelKind {
    Vector,
    Cube,
    Mixed,
}

const VECTOR_GUARD: &str = "__DAV_VEC__";
const CUBE_GUARD: &str = "__DAV_CUBE__";

impl KernelKind {
    /// Decides by the guards around the sections of an emitted source. Without any guard the code is for both cores.
    pub fn of_text(cpp: &str) -> Self {
        match (cpp.contains(VECTOR_GUARD), cpp.contains(CUBE_GUARD)) {
            (true, false) => Self::Vector,
            (false, true) => Self::Cube,
            _ => Self::Mixed,
        }
    }

    fn architecture(self, flags: &CompilerFlags) -> &str {
        match self {
            Self::Vector => &flags.vector,
            Self::Cube => &flags.cube,
            Self::Mixed => &flags.mixed,
        }
    }

    /// The guard to define by hand. For a mixed architecture the compiler makes one pass per core and defines the right
    /// one in each. For a single core not every release defines it, and an architecture name may not say which core is
    /// meant; the section would then be compiled to nothing, without a message. Where the compiler defines it too,
    /// `-Wno-macro-redefined` keeps it quiet.
    fn guard(self) -> Option<&'static str> {
        match self {
            Self::Vector => Some(VECTOR_GUARD),
            Self::Cube => Some(CUBE_GUARD),
            Self::Mixed => None,
        }
    }
}

/// Where to look for the compiler and the headers. Paths are absolute: the compiler runs in a folder of its own.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// The value of `PATH`.
    pub path: Option<OsString>,
    /// The CANN installation (`home_variable` in toolchain.toml).
    pub home: Option<PathBuf>,
    /// PTO-ISA trees (`include_variables` in toolchain.toml), in the order of search.
    pub includes: Vec<PathBuf>,
}

impl Search {
    /// What the environment says. A variable that is empty counts as not set.
    pub fn from_environment() -> Self {
        let known = device_compiler();
        let mut includes: Vec<_> = known.include_variables.iter().filter_map(|name| folder(name)).collect();
        includes.dedup();
        Self { path: env::var_os("PATH"), home: folder(&known.home_variable), includes }
    }
}

fn folder(variable: &str) -> Option<PathBuf> {
    let value = env::var_os(variable).filter(|value| !value.is_empty())?;
    // It fails only where there is no current directory; the value as it stands is then all there is.
    Some(std::path::absolute(&value).unwrap_or_else(|_| value.into()))
}

/// What can go wrong between C++ text and an object file.
#[derive(Debug, thiserror::Error)]
pub enum DeviceCompilerError {
    /// There is no compiler where it could be.
    #[error("no device compiler; expected one of {names} (toolchain.toml, device_compiler.names), found none:{places}")]
    NotFound {
        /// What was looked for.
        names: String,
        /// Where, one place a line.
        places: String,
    },
    /// The target has no flags for the device compiler.
    #[error("no device compiler flags for target '{target}'; expected targets.{target}.compiler in toolchain.toml")]
    NoFlags {
        /// The target.
        target: String,
    },
    /// The compiler could not be started.
    #[error("cannot start the device compiler (toolchain.toml, device_compiler.names): {source}\n  command: {command}")]
    NotStarted {
        /// What was run.
        command: String,
        /// Why.
        source: io::Error,
    },
    /// The compiler ran and reported failure.
    #[error(
        "device compiler failed; expected success, found {status} (toolchain.toml, device_compiler)\n  \
         command: {command}\n{}", .stderr.trim_end()
    )]
    ToolFailed {
        /// What was run. File names are relative, so that it can be run again beside the C++ file.
        command: String,
        /// How it ended.
        status: ExitStatus,
        /// What it said.
        stderr: String,
    },
    /// The compiler reported success but wrote nothing.
    #[error("device compiler succeeded; expected an object file, found none\n  command: {command}")]
    NoObject {
        /// What was run.
        command: String,
    },
    /// A file could not be read or written.
    #[error("cannot write '{path}': {source}")]
    Io {
        /// Which file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Finds the compiler: each name in its order on `PATH`, then each below the home folder.
pub fn find(search: &Search) -> Result<PathBuf, DeviceCompilerError> {
    let here = env::current_dir().unwrap_or_default();
    let known = device_compiler();
    let on_path = |name: &String| which::which_in(name, search.path.as_ref(), &here).ok();
    // A name with a folder is not looked up on PATH, only checked to be executable.
    let below_home = |name: &String| {
        home_folders(search).find_map(|folder| which::which_in(folder.join(name), None::<&OsStr>, &here).ok())
    };
    let found = known.names.iter().find_map(on_path).or_else(|| known.names.iter().find_map(below_home));
    found.ok_or_else(|| DeviceCompilerError::NotFound { names: known.names.join(", "), places: places(search) })
}

fn home_folders(search: &Search) -> impl Iterator<Item = PathBuf> {
    search.home.iter().flat_map(|home| device_compiler().home_folders.iter().map(|folder| home.join(folder)))
}

/// Everything that `find` looks at, one place a line.
fn places(search: &Search) -> String {
    let variable = &device_compiler().home_variable;
    let path = match &search.path {
        Some(path) => format!("\n  on PATH: {}", path.display()),
        None => "\n  PATH is not set".to_owned(),
    };
    let home = match &search.home {
        Some(_) => home_folders(search).map(|f| format!("\n  below {variable}: {}", f.display())).collect(),
        None => format!("\n  {variable} is not set"),
    };
    path + &home
}

/// One call of the device compiler. Displayed as a command for a POSIX shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// The compiler.
    pub program: PathBuf,
    /// What it is given.
    pub arguments: Vec<OsString>,
}

impl fmt::Display for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quoted(self.program.as_os_str()))?;
        self.arguments.iter().try_for_each(|argument| write!(f, " {}", quoted(argument)))
    }
}

/// A word as a shell reads it back.
fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The call that makes `object` of `source`. An error when toolchain.toml has no flags for the target.
pub fn invocation(
    program: &Path,
    device: &Device,
    kind: KernelKind,
    source: &Path,
    object: &Path,
    search: &Search,
) -> Result<Invocation, DeviceCompilerError> {
    let no_flags = || DeviceCompilerError::NoFlags { target: device.name.clone() };
    let target = device.compiler.as_ref().ok_or_else(no_flags)?;
    let known = device_compiler();
    let architecture = format!("{}{}", known.arch_flag, kind.architecture(target));
    let mut arguments: Vec<OsString> = known.flags.iter().map(OsString::from).collect();
    arguments.push(architecture.into());
    arguments.extend(defines(device, target, kind).map(|define| format!("-D{define}").into()));
    arguments.extend(target.stack_flags.iter().map(OsString::from));
    arguments.extend(include_folders(search).map(|folder| joined("-I", &folder)));
    arguments.extend([source.into(), "-o".into(), object.into()]);
    Ok(Invocation { program: program.to_owned(), arguments })
}

/// What follows each `-D`: the target's, the core's, then the overrides in the order given.
fn defines(device: &Device, target: &CompilerFlags, kind: KernelKind) -> impl Iterator<Item = String> {
    let overrides = device.overrides.iter().map(|(name, value)| format!("{name}={value}"));
    target.defines.iter().cloned().chain(kind.guard().map(str::to_owned)).chain(overrides)
}

/// PTO-ISA before CANN, which carries a copy of the same headers.
fn include_folders(search: &Search) -> impl Iterator<Item = PathBuf> {
    let library = search.includes.iter().map(|tree| tree.join("include"));
    let home = search.home.iter().flat_map(|home| device_compiler().home_includes.iter().map(|f| home.join(f)));
    library.chain(home)
}

fn joined(flag: &str, path: &Path) -> OsString {
    let mut word = OsString::from(flag);
    word.push(path);
    word
}

/// Compiles C++ text to `object`, which appears whole or not at all.
pub fn compile(cpp: &str, device: &Device, search: &Search, object: &Path) -> Result<(), DeviceCompilerError> {
    let program = find(search)?;
    // Named after the object and given by relative name: messages read well, and neither they nor the object depend
    // on where the temporary folder is.
    let (source, built) = (working_name(object, "cpp"), working_name(object, "o"));
    let call = invocation(&program, device, KernelKind::of_text(cpp), &source, &built, search)?;
    let _span = tracing::info_span!("device_compiler", command = %call).entered();
    let folder = tempfile::Builder::new().prefix("pto-").tempdir().map_err(failed_at(&env::temp_dir()))?;
    let (source, built) = (folder.path().join(source), folder.path().join(built));
    fs::write(&source, cpp).map_err(failed_at(&source))?;
    run(&call, folder.path())?;
    if !built.is_file() {
        return Err(DeviceCompilerError::NoObject { command: call.to_string() });
    }
    persist(&built, object).map_err(failed_at(object))
}

/// The object's name with another extension; one that would read as an option is replaced.
fn working_name(object: &Path, extension: &str) -> PathBuf {
    let stem = object.file_stem().filter(|stem| !stem.as_encoded_bytes().starts_with(b"-"));
    let mut name = stem.unwrap_or(OsStr::new("kernel")).to_owned();
    name.push(".");
    name.push(extension);
    name.into()
}

fn failed_at(path: &Path) -> impl FnOnce(io::Error) -> DeviceCompilerError {
    move |source| DeviceCompilerError::Io { path: path.to_owned(), source }
}

fn run(call: &Invocation, folder: &Path) -> Result<(), DeviceCompilerError> {
    let output = Command::new(&call.program).args(&call.arguments).current_dir(folder).output();
    let output = output.map_err(|source| DeviceCompilerError::NotStarted { command: call.to_string(), source })?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(DeviceCompilerError::ToolFailed { command: call.to_string(), status: output.status, stderr });
    }
    if !stderr.is_empty() {
        tracing::warn!(%stderr, "device compiler");
    }
    Ok(())
}

/// Moves a finished file into place. The temporary folder may be on another file system, where a rename fails; so a
/// copy is made beside the target first.
fn persist(built: &Path, object: &Path) -> io::Result<()> {
    let beside = object.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The kind alone: the full error names the temporary file, which differs from run to run.
    let staged = tempfile::Builder::new().prefix(".pto-").tempfile_in(beside).map_err(|e| io::Error::from(e.kind()))?;
    let staged = staged.into_temp_path();
    // The copy takes over the permissions, which are closed for a temporary file.
    fs::copy(built, &staged)?;
    staged.persist(object).map_err(|failure| failure.error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        os::unix::fs::PermissionsExt,
        sync::{Mutex, MutexGuard},
    };

    /// Writes its `-o` file.
    const WORKING: &str = "while [ \"$1\" != -o ]; do last=$1; shift; done; cat \"$last\" > \"$2\"";
    /// Writes its `-o` file and then fails.
    const FAILING: &str = "while [ \"$1\" != -o ]; do shift; done; echo half > \"$2\"; echo bad tile >&2; exit 3";

    /// A folder with scripts in place of compilers. One at a time: a script that another thread's child process still
    /// holds open for writing cannot be started.
    struct Fixture {
        folder: tempfile::TempDir,
        _alone: MutexGuard<'static, ()>,
    }

    impl Fixture {
        fn new(scripts: &[(&str, &str)]) -> Self {
            static ALONE: Mutex<()> = Mutex::new(());
            let alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let fixture = Self { folder: tempfile::tempdir().expect("a folder"), _alone: alone };
            for (name, body) in scripts {
                let script = fixture.at(name);
                fs::create_dir_all(script.parent().expect("a parent")).expect("a folder");
                fs::write(&script, format!("#!/bin/sh\n{body}\n")).expect("a script");
                fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("executable");
            }
            fixture
        }

        fn at(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn on_path(&self) -> Search {
            Search { path: Some(self.folder.path().into()), ..Search::default() }
        }

        fn compile(&self, cpp: &str, object: &Path) -> Result<(), DeviceCompilerError> {
            compile(cpp, &device("a3"), &self.on_path(), object)
        }
    }

    fn device(name: &str) -> Device {
        Device::by_name(name).expect("a target")
    }

    fn message(search: &Search) -> String {
        find(search).expect_err("nothing to find").to_string()
    }

    fn text(device: &Device, kind: KernelKind, search: &Search) -> String {
        let (program, source, object) = (Path::new("/b in/ccec"), Path::new("k.cpp"), Path::new("it's.o"));
        invocation(program, device, kind, source, object, search).expect("flags").to_string()
    }

    #[test]
    fn the_kind_follows_the_guards() {
        assert_eq!(KernelKind::of_text("#if defined(__DAV_VEC__)"), KernelKind::Vector);
        assert_eq!(KernelKind::of_text("#if defined(__DAV_CUBE__)"), KernelKind::Cube);
        assert_eq!(KernelKind::of_text("#if defined(__DAV_CUBE__)\n#if defined(__DAV_VEC__)"), KernelKind::Mixed);
        assert_eq!(KernelKind::of_text("TADD(a, b, c);"), KernelKind::Mixed);
    }

    #[test]
    fn not_found_lists_what_was_looked_for_and_where() {
        let head =
            "no device compiler; expected one of bisheng, ccec (toolchain.toml, device_compiler.names), found none:";
        let nothing = Search::default();
        assert_eq!(message(&nothing), format!("{head}\n  PATH is not set\n  ASCEND_HOME_PATH is not set"));
        let search = Search { path: Some("/no/bin:/no/sbin".into()), home: Some("/no/cann".into()), includes: vec![] };
        let places = "\n  on PATH: /no/bin:/no/sbin\n  below ASCEND_HOME_PATH: /no/cann/compiler/ccec_compiler/bin\
                      \n  below ASCEND_HOME_PATH: /no/cann/bin\
                      \n  below ASCEND_HOME_PATH: /no/cann/tools/ccec_compiler/bin";
        assert_eq!(message(&search), format!("{head}{places}"));
    }

    #[test]
    fn found_on_path_in_the_order_of_names() {
        let fixture = Fixture::new(&[("ccec", "")]);
        assert_eq!(find(&fixture.on_path()).expect("ccec"), fixture.at("ccec"));
        drop(fixture);
        let fixture = Fixture::new(&[("ccec", ""), ("bisheng", "")]);
        assert_eq!(find(&fixture.on_path()).expect("both"), fixture.at("bisheng"));
    }

    #[test]
    fn found_below_home_after_path() {
        let fixture =
            Fixture::new(&[("home/bin/bisheng", ""), ("home/compiler/ccec_compiler/bin/ccec", ""), ("ccec", "")]);
        let home = Some(fixture.at("home"));
        let at_home = Search { home: home.clone(), ..Search::default() };
        assert_eq!(find(&at_home).expect("below home"), fixture.at("home/bin/bisheng"));
        assert_eq!(find(&Search { home, ..fixture.on_path() }).expect("on PATH"), fixture.at("ccec"));
    }

    #[test]
    fn the_command_is_that_of_the_target_and_kind() {
        let mut a3 = device("a3");
        a3.apply_define("PTO_UBUF_SIZE_BYTES=0x40000").expect("known");
        let search = Search { path: None, home: Some("/cann".into()), includes: vec!["/isa".into()] };
        let expected = "'/b in/ccec' -xcce -Xhost-start -Xhost-end -O2 -std=c++17 -fPIC -c -Wno-macro-redefined \
            -Wno-ignored-attributes --cce-aicore-arch=dav-c220-vec -DMEMORY_BASE -D__DAV_VEC__ \
            -DPTO_UBUF_SIZE_BYTES=262144 \
            -mllvm -cce-aicore-stack-size=0x8000 -mllvm -cce-aicore-function-stack-size=0x8000 \
            -mllvm -cce-aicore-record-overflow=true -mllvm -cce-aicore-addr-transform \
            -mllvm -cce-aicore-dcci-insert-for-scalar=false \
            -I/isa/include -I/cann/include -I/cann/pkg_inc k.cpp -o 'it'\\''s.o'";
        assert_eq!(text(&a3, KernelKind::Vector, &search), expected);
        let mixed = text(&device("a5"), KernelKind::Mixed, &search);
        assert!(mixed.contains("--cce-aicore-arch=dav-c310 -DREGISTER_BASE -mllvm"), "{mixed}");
    }

    #[test]
    fn a_target_without_flags_is_an_error() {
        let error = invocation(
            Path::new("ccec"),
            &device("a6"),
            KernelKind::Cube,
            Path::new("k.cpp"),
            Path::new("k.o"),
            &Search::default(),
        );
        let expected = "no device compiler flags for target 'a6'; expected targets.a6.compiler in toolchain.toml";
        assert_eq!(error.expect_err("data only").to_string(), expected);
    }

    #[test]
    fn success_leaves_the_object_and_nothing_else() {
        let fixture = Fixture::new(&[("bisheng", WORKING), ("out/.keep", "")]);
        let object = fixture.at("out/kernel.o");
        fixture.compile("// __DAV_VEC__", &object).expect("the script copies");
        assert_eq!(fs::read_to_string(&object).expect("an object"), "// __DAV_VEC__");
        assert_eq!(fs::read_dir(fixture.at("out")).expect("a folder").count(), 2);
    }

    #[test]
    fn failure_leaves_nothing_and_says_what_was_run() {
        let fixture = Fixture::new(&[("bisheng", FAILING), ("out/.keep", "")]);
        let object = fixture.at("out/kernel.o");
        let error = fixture.compile("", &object).expect_err("exit 3").to_string();
        assert!(error.starts_with("device compiler failed; expected success, found exit status: 3"), "{error}");
        assert!(error.ends_with("kernel.cpp -o kernel.o\nbad tile"), "{error}");
        assert_eq!(fs::read_dir(fixture.at("out")).expect("a folder").count(), 1);
    }

    #[test]
    fn a_missing_output_folder_is_named() {
        let fixture = Fixture::new(&[("bisheng", WORKING)]);
        let object = fixture.at("none/kernel.o");
        let error = fixture.compile("", &object).expect_err("no folder").to_string();
        assert_eq!(error, format!("cannot write '{}': entity not found", object.display()));
    }

    #[test]
    fn success_without_an_object_is_an_error() {
        let fixture = Fixture::new(&[("bisheng", "exit 0")]);
        let error = fixture.compile("", &fixture.at("kernel.o")).expect_err("no object");
        assert!(matches!(error, DeviceCompilerError::NoObject { .. }), "{error}");
    }
}
