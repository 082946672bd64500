//! From a placed module to CANN C++, one operation to one statement.
//!
//! Nothing here decides anything: addresses, views, layouts, queues and barriers are in the IR already. What is chosen
//! here is only how things are written: names, constants in place, which scalars become variables. The device
//! compiler is called from `device_compiler`. Tests: `tests/cases/codegen`.

mod call;
mod carried;
mod comm;
pub mod device_compiler;
mod expression;
mod function;
mod irregular;
mod module;
mod names;
mod queue;
mod scalar;
mod spelling;
mod structure;
mod sync;
mod tile;
mod view;

pub use module::{Emitted, Options, TassignCount, emit};
