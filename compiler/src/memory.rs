//! Memory on the chip without any language: lifetimes, sharing and addresses of buffers that are known by number.
//!
//! Everything here is arithmetic on sizes in bytes and on positions in a program. Which statement uses which buffer,
//! and how the result is written back, is the business of the callers; so both input languages share these rules.

pub mod layout;
pub mod lifetimes;
pub mod reuse;

/// How tiles may share bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Planner {
    /// Every tile or allocation has bytes of its own.
    Sequential,
    /// What is never needed at once may share bytes.
    #[default]
    Reuse,
}

/// In which order addresses are given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By number: the order of definition, or the id that an older program states.
    #[default]
    Id,
    /// By name, as plain text (today's PyPTO).
    Name,
}
