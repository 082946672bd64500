//! `pto-flush-scalar-stores`: a function that writes single elements to global memory makes them visible at its end.
//!
//! Scalar stores go through the data cache; without write-back other cores and the host may read old values.

use super::insert_sync;
use crate::ir;
use melior::ir::{
    BlockLike, OperationRef, RegionLike,
    operation::{OperationBuilder, OperationLike},
};
use pto_dialect::{Op, Pipe, device::Device, edit};

/// Runs the pass on a module.
pub fn run(module: OperationRef, _device: &Device) -> bool {
    for function in ir::functions(module) {
        let stores = ir::walk(function).into_iter().filter_map(Op::of).any(|op| op.is("store_scalar"));
        let block = function.region(0).ok().and_then(|r| r.first_block());
        if let (true, Some(last)) = (stores, block.and_then(|b| b.terminator())) {
            // melior cannot step backwards.
            let ops = block.map(ir::operations).unwrap_or_default();
            let drained = ops.len().checked_sub(2).and_then(|i| Op::of(ops[i]));
            if !drained.is_some_and(|op| op.is("barrier") && op.enum_text("pipe") == Some("PIPE_ALL")) {
                insert_sync::barrier_before(last, Pipe::All);
            }
            let flush = OperationBuilder::new("pto.flush_scalar_stores", last.location()).build();
            edit::insert_before(last, flush.expect("the operation is complete"));
        }
    }
    true
}
