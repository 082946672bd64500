//! Operations that compute no numbers by themselves, and the case that covers each.
//!
//! The cases of `codegen` and `run` have their C++ compared, and all their kernels run (`run.rs`).

use pto_dialect::OP_FACTS;
use pto_tests::{case_files, cases};

/// Operation, file of a case that uses it.
pub const COVERED: &[(&str, &str)] = &[
    ("alloc_tile", "tests/cases/run/add_types.pto"),
    ("alloc_multi_tile", "tests/cases/codegen/multi_tile.pto"),
    ("multi_tile_get", "tests/cases/codegen/multi_tile.pto"),
    ("declare_tile", "tests/cases/codegen/queue_handles_a3.pto"),
    ("subview", "tests/cases/codegen/column_windows.pto"),
    ("tile_addr", "tests/cases/codegen/moved_tile.pto"),
    ("bitcast", "tests/cases/run/sort_row.pto"),
    ("treshape", "tests/cases/run/attention_a3.pto"),
    ("tassign", "tests/cases/codegen/moved_tile.pto"),
    ("set_validshape", "tests/cases/codegen/dynamic_tail.pto"),
    ("get_validshape", "tests/cases/codegen/dynamic_tail.pto"),
    ("tile_valid_rows", "tests/cases/codegen/moved_tile.pto"),
    ("tile_valid_cols", "tests/cases/codegen/moved_tile.pto"),
    ("make_tensor_view", "tests/cases/run/add_types.pto"),
    ("partition_view", "tests/cases/run/add_types.pto"),
    ("get_tensor_view_dim", "tests/cases/codegen/carried_views.pto"),
    ("get_tensor_view_stride", "tests/cases/codegen/own_events.pto"),
    ("addptr", "tests/cases/codegen/narrow_integers.pto"),
    ("castptr", "tests/cases/codegen/scalar_memory.pto"),
    ("load_scalar", "tests/cases/run/local_state.pto"),
    ("store_scalar", "tests/cases/run/block_sums.pto"),
    ("declare_local_array", "tests/cases/run/local_state.pto"),
    ("local_array_get", "tests/cases/run/local_state.pto"),
    ("local_array_set", "tests/cases/run/local_state.pto"),
    ("set_flag", "tests/cases/run/ping_pong.pto"),
    ("wait_flag", "tests/cases/run/ping_pong.pto"),
    ("set_flag_dyn", "tests/cases/run/ping_pong.pto"),
    ("wait_flag_dyn", "tests/cases/run/ping_pong.pto"),
    ("barrier", "tests/cases/run/ping_pong.pto"),
    ("record_event", "tests/cases/codegen/own_events.pto"),
    ("wait_event", "tests/cases/codegen/own_events.pto"),
    ("fence.barrier_all", "tests/cases/codegen/whole_cards.pto"),
    ("cmo.cacheinvalid", "tests/cases/codegen/whole_cards.pto"),
    ("syncall", "tests/cases/codegen/whole_cards.pto"),
    ("get_block_idx", "tests/cases/run/add_types.pto"),
    ("get_block_num", "tests/cases/run/add_types.pto"),
    ("get_subblock_idx", "tests/cases/run/attention_a3.pto"),
    ("get_subblock_num", "tests/cases/codegen/own_events.pto"),
    ("flush_scalar_stores", "tests/cases/codegen/own_events.pto"),
    ("set_ffts", "tests/cases/codegen/block_signals_a3.pto"),
    ("trap", "tests/cases/codegen/narrow_integers.pto"),
    ("section.cube", "tests/cases/codegen/mixed_sections.pto"),
    ("section.vector", "tests/cases/codegen/mixed_sections.pto"),
    ("comm.tput", "tests/cases/codegen/whole_cards.pto"),
    ("comm.tnotify", "tests/cases/codegen/whole_cards.pto"),
    ("comm.twait", "tests/cases/codegen/whole_cards.pto"),
    ("print", "tests/cases/codegen/whole_cards.pto"),
    ("reserve_buffer", "tests/cases/run/attention_a3.pto"),
    ("import_reserved_buffer", "tests/cases/run/attention_a3.pto"),
    ("aic_initialize_pipe", "tests/cases/run/attention_a3.pto"),
    ("aiv_initialize_pipe", "tests/cases/run/attention_a3.pto"),
    ("tpush_to_aiv", "tests/cases/run/attention_a3.pto"),
    ("tpush_to_aic", "tests/cases/run/attention_a3.pto"),
    ("tpop_from_aic", "tests/cases/run/attention_a3.pto"),
    ("tpop_from_aiv", "tests/cases/run/attention_a3.pto"),
    ("tfree_from_aic", "tests/cases/run/attention_a3.pto"),
    ("tfree_from_aiv", "tests/cases/run/attention_a3.pto"),
    ("initialize_l2g2l_pipe", "tests/cases/codegen/queue_handles_a3.pto"),
    ("initialize_l2l_pipe", "tests/cases/codegen/queue_handles_a5.pto"),
    ("tpush", "tests/cases/codegen/queue_handles_a3.pto"),
    ("tpop", "tests/cases/codegen/queue_handles_a3.pto"),
    ("tfree", "tests/cases/codegen/queue_handles_a3.pto"),
    ("barrier_sync", "tests/cases/codegen/event_arrays.pto"),
    ("comm.build_async_session", "tests/cases/codegen/async_copies.pto"),
    ("comm.tbroadcast", "tests/cases/codegen/collectives.pto"),
    ("comm.test_async_event", "tests/cases/codegen/async_copies.pto"),
    ("comm.tgather", "tests/cases/codegen/collectives.pto"),
    ("comm.tget", "tests/cases/codegen/collectives.pto"),
    ("comm.tget_async", "tests/cases/codegen/async_copies.pto"),
    ("comm.tput_async", "tests/cases/codegen/async_copies.pto"),
    ("comm.treduce", "tests/cases/codegen/collectives.pto"),
    ("comm.tscatter", "tests/cases/codegen/collectives.pto"),
    ("comm.ttest", "tests/cases/codegen/collectives.pto"),
    ("comm.wait_async_event", "tests/cases/codegen/async_copies.pto"),
    ("declare_eventid_array", "tests/cases/codegen/event_arrays.pto"),
    ("declare_global", "tests/cases/codegen/queue_handles_a3.pto"),
    ("declare_struct", "tests/cases/codegen/records.pto"),
    ("eventid_array_get", "tests/cases/codegen/event_arrays.pto"),
    ("eventid_array_set", "tests/cases/codegen/event_arrays.pto"),
    ("fusion_region", "tests/cases/codegen/regions.pto"),
    ("get_buf", "tests/cases/codegen/buffer_tokens.pto"),
    ("get_buf_dyn", "tests/cases/codegen/buffer_tokens.pto"),
    ("get_prefetch_async_session", "tests/cases/codegen/async_copies.pto"),
    ("inttoptr", "tests/cases/codegen/addresses.pto"),
    ("make_prefetch_async_context", "tests/cases/codegen/async_copies.pto"),
    ("ptrtoint", "tests/cases/codegen/addresses.pto"),
    ("rls_buf", "tests/cases/codegen/buffer_tokens.pto"),
    ("rls_buf_dyn", "tests/cases/codegen/buffer_tokens.pto"),
    ("section.simt", "tests/cases/roundtrip/structure.pto"),
    ("set_cross_block", "tests/cases/codegen/block_signals_a3.pto"),
    ("set_intra_block", "tests/cases/codegen/signals_in_block_a5.pto"),
    ("set_quant_scalar", "tests/cases/codegen/acc_epilogue_a3.pto"),
    ("set_quant_vector", "tests/cases/codegen/acc_epilogue_a3.pto"),
    ("struct_get", "tests/cases/codegen/records.pto"),
    ("struct_set", "tests/cases/codegen/records.pto"),
    ("sync.set", "tests/cases/codegen/core_signals.pto"),
    ("sync.wait", "tests/cases/codegen/core_signals.pto"),
    ("talloc", "tests/cases/codegen/queue_handles_a3.pto"),
    ("talloc_to_aic", "tests/cases/codegen/slots_to_cube.pto"),
    ("talloc_to_aiv", "tests/cases/codegen/slot_tensors.pto"),
    ("tprefetch_async", "tests/cases/codegen/async_copies.pto"),
    ("tpush_quant", "tests/cases/codegen/queue_handles_a3.pto"),
    ("tsync", "tests/cases/codegen/event_arrays.pto"),
    ("wait_cross_block", "tests/cases/codegen/block_signals_a3.pto"),
    ("wait_intra_block", "tests/cases/codegen/signals_in_block_a5.pto"),
    ("yield", "tests/cases/codegen/regions.pto"),
    ("tprint", "tests/cases/codegen/moved_tile.pto"),
];

/// The one operation that has no C++ form.
const NOT_EMITTED: &str = "section.simt";

/// Whether a text has an operation.
fn uses(text: &str, op: &str) -> bool {
    let name = format!("pto.{op}");
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.');
    text.match_indices(&name).any(|(at, _)| ends(&text[at + name.len()..]))
}

/// Each file is there, uses the operation, and has its C++ compared.
#[test]
fn cases_use_what_they_cover() {
    let is_wrong = |(op, file): &&(&str, &str)| {
        let text = std::fs::read_to_string(pto_tests::repository().join(file)).unwrap_or_default();
        let emitted = ["tests/cases/codegen/", "tests/cases/run/"].iter().any(|folder| file.starts_with(folder));
        !uses(&text, op) || (!emitted && *op != NOT_EMITTED)
    };
    let wrong: Vec<_> = COVERED.iter().filter(is_wrong).collect();
    assert!(wrong.is_empty(), "these do not cover what they should: {wrong:?}");
}

/// Each operation is printed and read again in some case.
#[test]
fn each_operation_has_a_round_trip() {
    let texts: Vec<String> = case_files(&cases("roundtrip")).into_iter().map(|case| case.text).collect();
    let names = OP_FACTS.iter().map(|facts| facts.name.trim_start_matches("pto."));
    let missing: Vec<&str> = names.filter(|op| !texts.iter().any(|text| uses(text, op))).collect();
    assert!(missing.is_empty(), "no case in tests/cases/roundtrip has {missing:?}");
}
