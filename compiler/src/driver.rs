//! What the programs share: showing diagnostics, writing outputs.

pub mod output;
pub mod ptoas;
pub mod ptoc;
pub mod render;
pub mod run;

/// Exit code after diagnostics about the user's program.
pub const EXIT_DIAGNOSTICS: i32 = 1;
/// Exit code after a wrong command line.
pub const EXIT_USAGE: i32 = 2;
/// Exit code after a bug of ours.
pub const EXIT_INTERNAL: i32 = 70;
