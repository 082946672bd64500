//! What all tests share: the repository, the built programs, running them, folders of cases.
//!
//! The programs are run as a user runs them; of the compiler only the dialect's table of facts is linked here. The tests are in `all/`, their
//! inputs in `cases/`, what is expected of printed text in `snapshots/`.

use std::{
    ffi::OsStr,
    fs,
    io::Write,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Environment variable that names the folder of the built programs; by default they stand above the test's own.
pub const BIN_DIR: &str = "PTO_BIN_DIR";

/// The root of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies in the repository").to_path_buf()
}

/// A folder below `tests/cases`.
pub fn cases(folder: &str) -> PathBuf {
    repository().join("tests/cases").join(folder)
}

/// The path of a built program.
///
/// # Panics
/// When it was not built.
pub fn program(name: &str) -> PathBuf {
    let path = bin_dir().join(name);
    assert!(path.is_file(), "{} is missing: run `make build` first, or set {BIN_DIR}", path.display());
    path
}

fn bin_dir() -> PathBuf {
    if let Some(folder) = std::env::var_os(BIN_DIR).filter(|v| !v.is_empty()) {
        return folder.into();
    }
    // target/release/deps/all-0123 -> target/release
    let own = std::env::current_exe().expect("a running program has a path");
    own.parent().and_then(Path::parent).expect("tests run from target/<profile>/deps").to_path_buf()
}

/// What a program did.
#[derive(Debug)]
pub struct Run {
    /// Exit code; `None` after a signal.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Run {
    /// Standard output of a program that must succeed.
    ///
    /// # Panics
    /// When it did not.
    pub fn succeeded(self) -> String {
        assert_eq!(self.code, Some(0), "failed with:\n{}", self.stderr);
        self.stdout
    }

    /// Everything that is worth a snapshot, with `folder` written as `$DIR`.
    pub fn report(&self, folder: &Path) -> String {
        let code = self.code.map_or("signal".to_owned(), |c| c.to_string());
        let text = format!("exit {code}\n--- stdout\n{}--- stderr\n{}", self.stdout, self.stderr);
        text.replace(&*folder.to_string_lossy(), "$DIR")
    }
}

/// Runs a program with arguments, in a folder, without input.
pub fn run_in<A: AsRef<OsStr>>(folder: &Path, name: &str, arguments: impl IntoIterator<Item = A>) -> Run {
    finish(Command::new(program(name)).args(arguments).current_dir(folder), "")
}

/// Runs a program with arguments, in the repository, without input.
pub fn run<A: AsRef<OsStr>>(name: &str, arguments: impl IntoIterator<Item = A>) -> Run {
    run_in(&repository(), name, arguments)
}

/// Runs a program with arguments and a text on its standard input.
pub fn run_with_input<A: AsRef<OsStr>>(name: &str, arguments: impl IntoIterator<Item = A>, input: &str) -> Run {
    finish(Command::new(program(name)).args(arguments).current_dir(repository()), input)
}

/// Runs a command and waits for it.
///
/// # Panics
/// When it cannot be started, or prints something else than UTF-8 text.
pub fn finish(command: &mut Command, input: &str) -> Run {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|e| panic!("cannot start {command:?}: {e}"));
    // A program that fails early does not read its input; that is not an error here.
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("a started program can be waited for");
    let text = |bytes| String::from_utf8(bytes).expect("programs print UTF-8");
    Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// One input file.
#[derive(Clone, Debug)]
pub struct Case {
    /// Where it is.
    pub path: PathBuf,
    /// Its name without its extension.
    pub name: String,
    /// Its text.
    pub text: String,
}

impl Case {
    /// Reads a case.
    ///
    /// # Panics
    /// When it cannot be read.
    pub fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Self { path: path.to_path_buf(), name, text }
    }

    /// The value of a `// KEY: value` line (`# KEY: value` in programs).
    pub fn directive(&self, key: &str) -> Option<&str> {
        let comment = |line: &'_ str| line.strip_prefix("// ").or_else(|| line.strip_prefix("# ")).map(str::len);
        self.text.lines().find_map(|line| {
            let text = &line[line.len() - comment(line)?..];
            text.strip_prefix(key)?.strip_prefix(": ").map(str::trim)
        })
    }

    /// The path as the programs are given it, from the root of the repository.
    pub fn relative(&self) -> String {
        let path = self.path.strip_prefix(repository()).unwrap_or(&self.path);
        path.to_string_lossy().into_owned()
    }
}

/// The `.pto` and `.py` files of a folder and the folders in it, sorted; none when there is no such folder.
pub fn case_files(folder: &Path) -> Vec<Case> {
    files_below(folder)
        .into_iter()
        .filter(|p| p.extension().is_some_and(|e| e == "pto" || e == "py"))
        .map(|p| Case::read(&p))
        .collect()
}

/// All files of a folder and the folders in it, sorted.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        match entry.path() {
            path if path.is_dir() => files.append(&mut files_below(&path)),
            path => files.push(path),
        }
    }
    files.sort();
    files
}

/// Runs a check on every case, all of them even when some fail, then fails with the names of those that did.
///
/// # Panics
/// When a check does.
pub fn each_case(cases: &[Case], check: impl Fn(&Case)) {
    let failed: Vec<&str> = cases
        .iter()
        .filter(|c| catch_unwind(AssertUnwindSafe(|| check(c))).is_err())
        .map(|c| c.name.as_str())
        .collect();
    assert!(failed.is_empty(), "{} of {} cases failed: {}", failed.len(), cases.len(), failed.join(", "));
}
