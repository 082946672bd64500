//! Rust builders for every operation, generated from the same `.td` files as the C++ classes.
#![allow(missing_docs, clippy::all, reason = "generated code")]

melior::dialect! {
    name: "pto",
    files: ["Pto.td"],
    include_directory_env_vars: ["PTO_TD_DIR"],
}
