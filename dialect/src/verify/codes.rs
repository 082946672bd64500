//! The codes of verifier errors; the table is in `verify.rs`.

pub const FORM: &str = "PTO-0201";
pub const SPACE: &str = "PTO-0202";
pub const LAYOUT: &str = "PTO-0203";
pub const ELEMENT: &str = "PTO-0204";
pub const SHAPE: &str = "PTO-0205";
pub const VALID: &str = "PTO-0206";
pub const BOUNDS: &str = "PTO-0207";
pub const VALUE: &str = "PTO-0208";
pub const RANK: &str = "PTO-0209";
pub const IDENTITY: &str = "PTO-0210";
pub const PLACE: &str = "PTO-0215";
