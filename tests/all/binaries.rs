//! The programs stand alone: no shared LLVM or MLIR, and not larger than they must be.

use pto_tests::program;
use std::process::Command;

const PROGRAMS: [&str; 3] = ["ptoc", "ptoas", "pto-opt"];
const LARGEST: u64 = 60_000_000;

#[test]
fn no_shared_llvm() {
    for name in PROGRAMS {
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
fn below_60_megabytes() {
    for name in PROGRAMS {
        let size = program(name).metadata().expect("a built program").len();
        assert!(size < LARGEST, "{name} has {size} bytes");
    }
}
