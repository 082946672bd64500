//! `pto-open-regions`: regions that run exactly once where they stand are put in their place: `pto.fusion_region`, which
//! means nothing here since nothing is fused, and `scf.execute_region`. What they yield becomes their results.

use crate::ir;
use melior::ir::OperationRef;
use pto_dialect::{device::Device, edit, op_name};

/// Runs the pass on a module; regions of several blocks have been lifted before.
pub fn run(module: OperationRef, _device: &Device) -> bool {
    for function in ir::functions(module) {
        // Inner ones first.
        for op in ir::walk(function).into_iter().rev() {
            if matches!(op_name(op), "pto.fusion_region" | "scf.execute_region") && !ir::is_branched(op) {
                edit::open_region(op);
            }
        }
    }
    true
}
