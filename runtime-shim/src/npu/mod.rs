//! A simulated NPU: memories, instructions, pipes and flags of every core, and the checks that watch them.

mod abi;
mod comm;
mod element;
#[cfg(test)]
mod fault_tests;
mod fifo;
mod jit;
mod layout;
mod machine;
mod memory;
mod ops;
mod order;
mod report;
mod run;
mod sync;
#[cfg(test)]
mod tests;
mod trace;

pub use element::Element;
pub use report::{Checks, Finding, Rule};
pub use run::{Argument, Kernel, Outcome, Progress, Runner};
