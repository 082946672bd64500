//! `ptoc`, see `pto_compiler::driver::ptoc`.

fn main() {
    std::process::exit(pto_compiler::driver::ptoc::main());
}
