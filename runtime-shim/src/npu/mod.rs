//! A simulated NPU: memories, instructions, pipes and flags of every core, and the checks that watch them.

mod abi;
mod element;
mod layout;
mod memory;
mod ops;
mod order;
mod report;
