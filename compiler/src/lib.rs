//! The PTO compiler: passes, their order, and the drivers `ptoc`, `ptoas` and `pto-opt`.
//!
//! As a library: `passes::allocate_memory_addr()` and the other constructors make passes for any melior pass
//! manager; `session::compile` runs the whole pipeline on a text. Nothing outside `driver` prints.

pub mod driver;
mod foreign;
pub mod frontend;
pub mod ir;
pub mod memory;
pub mod passes;
pub mod pipeline;
pub mod placement;
mod scratch;
pub mod session;
pub mod target;
