//! `pto-opt`: MLIR's opt driver with the PTO dialect and passes.

fn main() {
    pto_compiler::passes::register_all();
    let arguments: Vec<String> = std::env::args().collect();
    std::process::exit(pto_dialect::opt_main(&arguments));
}
