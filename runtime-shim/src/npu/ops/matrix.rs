//! Work in progress.

use super::Op;

/// The instructions.
pub const OPS: &[Op] = &[];
