//! `ptoas`, see `pto_compiler::driver::ptoas`.

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    std::process::exit(pto_compiler::driver::ptoas::main(&arguments));
}
