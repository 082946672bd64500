//! `pto-flush-scalar-stores`: scalar loads and stores of global memory see what others write, and are seen.
//!
//! They go through a data cache that pipes and other cores do not look into. The cache is written back and emptied
//! (`flush_scalar_stores`) before a pipe touches memory with scalar stores, before a scalar access to memory that a pipe
//! has written, before another core is told to go on, before a load from memory that another core may have written since
//! the last one, and at the end of a function with scalar stores. Memory counts by the pointer or view that it comes from;
//! what one function's parameters name counts as different memory, other than for barriers: emptying the cache is dear.
//! Loops are walked twice, so that the second trip sees what the first leaves.

use super::insert_sync;
use crate::ir;
use melior::ir::{
    BlockLike, BlockRef, OperationRef, RegionLike, Value, ValueLike,
    operation::{OperationBuilder, OperationLike},
};
use pto_dialect::{
    Op, Pipe, Space, Tile, accesses, device::Device, device::Legality, edit, op_name, pipe_of, pointer, value_key,
};
use std::collections::BTreeSet;

/// Runs the pass on a module.
pub fn run(module: OperationRef, device: &Device) -> bool {
    for function in ir::functions(module) {
        let Some(block) = function.region(0).ok().and_then(|r| r.first_block()) else { continue };
        let mut scalars = ir::walk(function).into_iter().filter_map(Op::of).filter(|&op| is_scalar(op)).peekable();
        if scalars.peek().is_none() {
            continue;
        }
        Coherence { legality: device.legality, cache: Cache::default() }.block(block);
        if scalars.any(|op| op.is("store_scalar")) {
            flush_at_end(block);
        }
    }
    true
}

fn flush_at_end(block: BlockRef) {
    let Some(last) = block.terminator() else { return };
    // melior cannot step backwards.
    let ops = ir::operations(block);
    let drained = ops.len().checked_sub(2).and_then(|i| Op::of(ops[i]));
    if !drained.is_some_and(|op| op.is("barrier") && op.enum_text("pipe") == Some("PIPE_ALL")) {
        insert_sync::barrier_before(last, Pipe::All);
    }
    flush_before(last);
}

fn flush_before(op: OperationRef) {
    let flush = OperationBuilder::new("pto.flush_scalar_stores", op.location()).build();
    edit::insert_before(op, flush.expect("the operation is complete"));
}

/// Whether an operation goes through the data cache.
fn is_scalar(op: Op) -> bool {
    op.is("load_scalar") || op.is("store_scalar")
}

/// What the cache and global memory may have apart, by the keys of what the memory comes from.
#[derive(Clone, Default)]
struct Cache {
    /// Stored, and not written back.
    stored: BTreeSet<usize>,
    /// Loaded or stored: lines may be here.
    held: BTreeSet<usize>,
    /// Written by pipes.
    written: BTreeSet<usize>,
    /// Another core, or a called function, may have written anything.
    foreign: bool,
}

impl Cache {
    fn unite(&mut self, other: &Self) {
        self.stored.extend(&other.stored);
        self.held.extend(&other.held);
        self.written.extend(&other.written);
        self.foreign |= other.foreign;
    }
}

/// Operations that tell another core to go on.
const SIGNALS: [&str; 7] =
    ["syncall", "sync.set", "set_cross_block", "set_intra_block", "tpush", "tpush_quant", "comm.tnotify"];
/// Operations after which another core may have written.
const WAITS: [&str; 7] =
    ["syncall", "sync.wait", "wait_cross_block", "wait_intra_block", "tpop", "comm.twait", "comm.ttest"];
/// Operations that empty the cache.
const FLUSHES: [&str; 1] = ["flush_scalar_stores"];

struct Coherence {
    legality: Legality,
    cache: Cache,
}

impl Coherence {
    fn block(&mut self, block: BlockRef) {
        for op in ir::operations(block) {
            self.operation(op);
        }
    }

    fn operation(&mut self, op: OperationRef) {
        match op_name(op) {
            "scf.for" | "scf.while" => {
                let before = self.cache.clone();
                for _trip in 0..2 {
                    ir::blocks(op).into_iter().for_each(|block| self.block(block));
                }
                self.cache.unite(&before);
            }
            "func.call" => {
                self.flush_if(op, |cache| !cache.stored.is_empty());
                self.cache.foreign = true;
            }
            _ if op.region_count() > 0 => {
                let before = self.cache.clone();
                let mut after = before.clone();
                for block in ir::blocks(op) {
                    self.cache.clone_from(&before);
                    self.block(block);
                    after.unite(&self.cache);
                }
                self.cache = after;
            }
            _ => {
                if let Some(known) = Op::of(op) {
                    self.instruction(known);
                }
            }
        }
    }

    fn instruction(&mut self, op: Op) {
        let all = op.is("cmo.cacheinvalid") && op.operand("addr").is_none();
        if all || FLUSHES.contains(&op.mnemonic()) {
            self.cache = Cache::default();
            return;
        }
        if is_scalar(op) {
            let Some(root) = op.operand("ptr").and_then(global_root) else { return };
            self.flush_if(op.raw, |cache| {
                cache.held.contains(&root) && (cache.foreign || cache.written.contains(&root))
            });
            self.cache.held.insert(root);
            if op.is("store_scalar") {
                self.cache.stored.insert(root);
            }
            return;
        }
        if SIGNALS.contains(&op.mnemonic()) {
            self.flush_if(op.raw, |cache| !cache.stored.is_empty());
        }
        if pipe_of(op, self.legality).is_some() {
            let touched = accesses(op, self.legality);
            let roots = touched.iter().filter_map(|a| Some((global_root(a.value)?, a.writes)));
            for (root, writes) in roots {
                self.flush_if(op.raw, |cache| cache.stored.contains(&root));
                if writes {
                    self.cache.written.insert(root);
                }
            }
        }
        self.cache.foreign |= WAITS.contains(&op.mnemonic());
    }

    fn flush_if(&mut self, op: OperationRef, needed: impl Fn(&Cache) -> bool) {
        if needed(&self.cache) {
            flush_before(op);
            self.cache = Cache::default();
        }
    }
}

/// What global memory comes from.
fn global_root(value: Value) -> Option<usize> {
    let local = pointer(value.r#type()).is_some_and(|(_, space)| space != Space::Gm) || Tile::of_value(value).is_some();
    (ir::is_memory(value) && !local).then(|| value_key(ir::root_of(value)))
}
