//! The codes of target errors; the table is in `verify_target.rs`.

pub const MISSING: &str = "PTO-0310";
pub const ELEMENT: &str = "PTO-0311";
pub const SPACE: &str = "PTO-0312";
pub const LAYOUT: &str = "PTO-0313";
pub const SHAPE: &str = "PTO-0314";
pub const VALID: &str = "PTO-0315";
pub const ATTRIBUTE: &str = "PTO-0316";
pub const LIMIT: &str = "PTO-0317";
pub const SCRATCH: &str = "PTO-0318";
pub const ALIAS: &str = "PTO-0319";
pub const UNKNOWN: &str = "PTO-0324";
pub const ENTRY: &str = "PTO-0323";
