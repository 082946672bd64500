//! Operations that compute no numbers by themselves, and the case that covers each.

/// Operation, file of a case that uses it.
pub const COVERED: &[(&str, &str)] = &[
    ("alloc_tile", "tests/cases/run/add_types.pto"),
    ("alloc_multi_tile", "tests/cases/codegen/multi_tile.pto"),
    ("multi_tile_get", "tests/cases/codegen/multi_tile.pto"),
    ("declare_tile", "tests/cases/passes/resolve_views/windows.pto"),
    ("subview", "tests/cases/codegen/column_windows.pto"),
    ("tile_addr", "tests/cases/roundtrip/memory.pto"),
    ("bitcast", "tests/cases/run/sort_row.pto"),
    ("treshape", "tests/cases/run/attention_a3.pto"),
    ("tassign", "tests/cases/roundtrip/memory.pto"),
    ("set_validshape", "tests/cases/codegen/dynamic_tail.pto"),
    ("get_validshape", "tests/cases/codegen/dynamic_tail.pto"),
    ("tile_valid_rows", "tests/cases/roundtrip/memory.pto"),
    ("tile_valid_cols", "tests/cases/roundtrip/memory.pto"),
    ("make_tensor_view", "tests/cases/run/add_types.pto"),
    ("partition_view", "tests/cases/run/add_types.pto"),
    ("get_tensor_view_dim", "tests/cases/roundtrip/memory.pto"),
    ("get_tensor_view_stride", "tests/cases/roundtrip/memory.pto"),
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
    ("record_event", "tests/cases/roundtrip/sync.pto"),
    ("wait_event", "tests/cases/roundtrip/sync.pto"),
    ("fence.barrier_all", "tests/cases/codegen/whole_cards.pto"),
    ("cmo.cacheinvalid", "tests/cases/codegen/whole_cards.pto"),
    ("syncall", "tests/cases/codegen/whole_cards.pto"),
    ("get_block_idx", "tests/cases/run/add_types.pto"),
    ("get_block_num", "tests/cases/run/add_types.pto"),
    ("get_subblock_idx", "tests/cases/run/attention_a3.pto"),
    ("get_subblock_num", "tests/cases/roundtrip/sync.pto"),
    ("flush_scalar_stores", "tests/cases/roundtrip/sync.pto"),
    ("set_ffts", "tests/cases/roundtrip/sync.pto"),
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
    ("initialize_l2g2l_pipe", "tests/cases/roundtrip/pipes.pto"),
    ("initialize_l2l_pipe", "tests/cases/roundtrip/pipes.pto"),
    ("tpush", "tests/cases/roundtrip/pipes.pto"),
    ("tpop", "tests/cases/roundtrip/pipes.pto"),
    ("tfree", "tests/cases/passes/resolve_reserved_buffers/errors.pto"),
    ("tprint", "tests/cases/roundtrip/irregular.pto"),
];

/// Each file is there and uses the operation.
#[test]
fn cases_use_what_they_cover() {
    let missing: Vec<String> = COVERED
        .iter()
        .filter(|(op, file)| {
            let text = std::fs::read_to_string(pto_tests::repository().join(file)).unwrap_or_default();
            let name = format!("pto.{op}");
            let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.');
            !text.match_indices(&name).any(|(at, _)| ends(&text[at + name.len()..]))
        })
        .map(|(op, file)| format!("{file} does not use {op}"))
        .collect();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
