//! Links the programs at fixed addresses: the loader then has none of LLVM's tens of thousands of tables to relocate,
//! which was a quarter of the instructions of compiling a small kernel.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
