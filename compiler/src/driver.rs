//! What the programs share: showing diagnostics, writing outputs.

pub mod explain;
pub mod output;
pub mod ptoas;
pub mod ptoc;
pub mod render;
pub mod run;

/// An input that cannot be read.
const UNREADABLE: &str = "PTO-0001";
/// An output that cannot be written.
const UNWRITABLE: &str = "PTO-0002";
/// A command line that makes no sense.
const USAGE: &str = "PTO-0003";
/// An external compiler that is missing or fails.
const TOOL: &str = "PTO-0004";
/// Something that cannot be run, or arguments that do not fit it.
const CANNOT_RUN: &str = "PTO-0005";

/// Exit code after diagnostics about the user's program.
pub const EXIT_DIAGNOSTICS: i32 = 1;
/// Exit code after a wrong command line.
pub const EXIT_USAGE: i32 = 2;
/// Exit code after a bug of ours.
pub const EXIT_INTERNAL: i32 = 70;
