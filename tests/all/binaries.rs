//! The programs stand alone: no shared LLVM or MLIR, and not larger than they must be.

use pto_tests::program;
use std::process::Command;

/// With the most bytes that each may have. `pto-run` has a code generator for this machine in it.
const PROGRAMS: [(&str, u64); 4] =
    [("ptoc", 60_000_000), ("ptoas", 60_000_000), ("pto-opt", 60_000_000), ("pto-run", 90_000_000)];

#[test]
fn no_shared_llvm() {
    for (name, _) in PROGRAMS {
        let Ok(output) = Command::new("ldd").arg(program(name)).output() else {
            return eprintln!("skipped: ldd is missing; install it to see what the programs need");
        };
        let needed = String::from_utf8_lossy(&output.stdout).to_lowercase();
        for library in ["llvm", "mlir", "clang"] {
            assert!(!needed.contains(library), "{name} needs a shared {library}:\n{needed}");
        }
    }
}

#[test]
fn not_larger_than_they_must_be() {
    for (name, most) in PROGRAMS {
        let size = program(name).metadata().expect("a built program").len();
        assert!(size < most, "{name} has {size} bytes");
    }
}
