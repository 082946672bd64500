//! Verifiers.
use melior::ir::OperationRef;
/// Verifies one operation.
pub fn verify(_op: OperationRef) -> bool { true }
