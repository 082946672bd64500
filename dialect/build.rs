//! Builds the C++ part of the dialect and derives everything that follows from the `.td` files:
//! C++ declarations and definitions (mlir-tblgen), the parser table, and the Rust table of facts about each op.

#[path = "build/facts.rs"]
mod facts;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

const LLVM_MAJOR: &str = "22.";
const PACKAGES: &str =
    "llvm-22-dev libmlir-22-dev mlir-22-tools clang-22 libclang-22-dev libpolly-22-dev libzstd-dev zlib1g-dev";

fn main() {
    let prefix = PathBuf::from(env::var("MLIR_SYS_220_PREFIX").unwrap_or_else(|_| "/usr/lib/llvm-22".into()));
    check_llvm(&prefix);
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    let td = root.join("td");
    for watched in ["td", "cpp", "build", "build.rs", "../toolchain.toml"] {
        println!("cargo:rerun-if-changed={watched}");
    }
    println!("cargo:rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    println!("cargo:rustc-env=PTO_TD_DIR={}", td.display());
    run_mlir_tblgen(&prefix, &td, &out);
    facts::generate(&td, &prefix, &out);
    compile_cpp(&prefix, &root, &out);
}

/// Stops with what to install when LLVM is missing or is another version.
fn check_llvm(prefix: &Path) {
    let config = prefix.join("bin/llvm-config");
    let version = Command::new(&config).arg("--version").output().ok().filter(|o| o.status.success());
    let version = version.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned());
    match version {
        Some(v) if v.starts_with(LLVM_MAJOR) => {}
        Some(v) => fail(&format!("{} is LLVM {v}; expected {LLVM_MAJOR}x", config.display())),
        None => fail(&format!("no LLVM at {} (bin/llvm-config does not run)", prefix.display())),
    }
    for needed in ["bin/mlir-tblgen", "include/mlir/IR/OpBase.td", "lib/libMLIRIR.a", "lib/libclang.so"] {
        if !prefix.join(needed).exists() {
            fail(&format!("{} is missing", prefix.join(needed).display()));
        }
    }
}

fn fail(what: &str) -> ! {
    eprintln!("error: {what}");
    eprintln!("  LLVM and MLIR 22 are needed. `make setup` installs them on Debian; by hand:");
    eprintln!("  apt-get install {PACKAGES}");
    eprintln!("  Another prefix: set MLIR_SYS_220_PREFIX, TABLEGEN_220_PREFIX, LLVM_SYS_221_PREFIX and LIBCLANG_PATH.");
    std::process::exit(1);
}

fn run_mlir_tblgen(prefix: &Path, td: &Path, out: &Path) {
    let products: &[(&[&str], &str)] = &[
        (&["-gen-dialect-decls", "-dialect=pto"], "PtoDialect.h.inc"),
        (&["-gen-dialect-defs", "-dialect=pto"], "PtoDialect.cpp.inc"),
        (&["-gen-enum-decls"], "PtoEnums.h.inc"),
        (&["-gen-enum-defs"], "PtoEnums.cpp.inc"),
        (&["-gen-attrdef-decls", "-attrdefs-dialect=pto"], "PtoAttrs.h.inc"),
        (&["-gen-attrdef-defs", "-attrdefs-dialect=pto"], "PtoAttrs.cpp.inc"),
        (&["-gen-typedef-decls", "-typedefs-dialect=pto"], "PtoTypes.h.inc"),
        (&["-gen-typedef-defs", "-typedefs-dialect=pto"], "PtoTypes.cpp.inc"),
        (&["-gen-op-decls"], "PtoOps.h.inc"),
        (&["-gen-op-defs"], "PtoOps.cpp.inc"),
    ];
    for (flags, product) in products {
        let status = Command::new(prefix.join("bin/mlir-tblgen"))
            .args(*flags)
            .arg(td.join("Pto.td"))
            .arg("-I")
            .arg(td)
            .arg("-I")
            .arg(prefix.join("include"))
            .arg("-o")
            .arg(out.join(product))
            .status()
            .expect("mlir-tblgen runs");
        assert!(status.success(), "mlir-tblgen failed for {product}");
    }
}

/// Compiles `cpp/` with the generated files; skipped when nothing that goes in has changed, since it takes minutes.
fn compile_cpp(prefix: &Path, root: &Path, out: &Path) {
    let sources = files_with(&root.join("cpp"), "cpp");
    let mut inputs = sources.clone();
    inputs.extend(files_with(&root.join("cpp"), "h"));
    inputs.extend(files_with(out, "inc"));
    let stamp: String = inputs.iter().map(|p| fs::read_to_string(p).expect("inputs are readable")).collect();
    let stamp = format!("{}\n{stamp}", prefix.display());
    let stamp_file = out.join("cpp.stamp");
    if out.join("libpto_dialect_cpp.a").exists() && fs::read_to_string(&stamp_file).is_ok_and(|old| old == stamp) {
        println!("cargo:rustc-link-search=native={}", out.display());
        println!("cargo:rustc-link-lib=static=pto_dialect_cpp");
        println!("cargo:rustc-link-lib=stdc++");
        return;
    }
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .opt_level(1) // the generated code is large and not hot
        .debug(false)
        .warnings(false) // the generated code has some
        .flag("-fno-rtti")
        .flag("-fno-exceptions")
        .flag("-isystem")
        .flag(prefix.join("include").to_str().expect("a UTF-8 prefix"))
        .include(out)
        .include(root.join("cpp"))
        .files(sources)
        .compile("pto_dialect_cpp");
    fs::write(stamp_file, stamp).expect("OUT_DIR is writable");
}

fn files_with(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder exists")
        .map(|entry| entry.expect("the folder is readable").path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    found.sort();
    found
}
