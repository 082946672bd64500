//! `pto-run`, see `pto_compiler::driver::run`.

fn main() {
    let arguments: Vec<std::ffi::OsString> = std::env::args_os().collect();
    std::process::exit(pto_compiler::driver::run::main(arguments));
}
