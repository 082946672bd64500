//! The front-end: PyPTO programs as text, in and out.
//!
//! `parse` and `print` turn text into the typed program of `ast` and back; `memory` gives its tiles bytes and addresses;
//! `check` proves a placed program, sharing nothing with `memory`; `lower` makes a module of the dialect from it. `ops`
//! is the one table of operations.

pub mod ast;
pub mod check;
pub mod lower;
pub mod memory;
pub mod ops;
pub mod parse;
pub mod print;
