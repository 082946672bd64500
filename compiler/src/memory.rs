//! Memory on the chip without any language: lifetimes, sharing and addresses of buffers that are known by number.
//!
//! Everything here is arithmetic on sizes in bytes and on positions in a program. Which statement uses which buffer,
//! and how the result is written back, is the business of the callers; so both input languages share these rules.

pub mod layout;
pub mod lifetimes;
pub mod reuse;
