//! `pto-flush-scalar-stores`: a function that writes single elements to global memory makes them visible at its end.
//!
//! Scalar stores go through the data cache; without write-back other cores and the host may read old values.

use crate::ir;
use melior::ir::{BlockLike, OperationRef, RegionLike, operation::{OperationBuilder, OperationLike}};
use super::insert_sync;
use pto_dialect::{Op, Pipe, device::Device, edit};

/// Runs the pass on a module.
pub fn run(module: OperationRef, _device: &Device) -> bool {
    for function in ir::functions(module) {
        let stores = ir::walk(function).into_iter().filter_map(Op::of).any(|op| op.is("store_scalar"));
        let block = function.region(0).ok().and_then(|r| r.first_block());
        if let (true, Some(last)) = (stores, block.and_then(|b| b.terminator())) {
            let drained = last.previous_in_block().and_then(Op::of);
            if !drained.is_some_and(|op| op.is("barrier") && op.enum_text("pipe") == Some("PIPE_ALL")) {
                insert_sync::barrier_before(last, Pipe::All);
            }
            let flush = OperationBuilder::new("pto.flush_scalar_stores", last.location()).build();
            edit::insert_before(last, flush.expect("the operation is complete"));
        }
    }
    true
}
