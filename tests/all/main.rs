//! All tests over the built programs, one module per theme.
//!
//! `PTO_BIN_DIR` names the folder of the programs when they are not beside this one. `INSTA_UPDATE=always` accepts
//! changed snapshots: read the diff before it is committed.

mod agreement;
mod binaries;
mod cli_ptoas;
mod cli_ptoc;
mod cli_run;
mod codegen;
mod determinism;
mod diagnostics;
mod errors;
mod explain;
mod frontend;
mod outputs;
mod passes;
mod roundtrip;
mod run;
mod surface;
mod tidy;

/// Compares a text with `tests/snapshots/<folder>/<name>.snap`.
fn assert_snapshot(folder: &str, name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(pto_tests::repository().join("tests/snapshots").join(folder));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}
