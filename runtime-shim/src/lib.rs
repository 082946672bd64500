//! Host stand-in for the device: compiles emitted kernels on a machine without an NPU.
//!
//! The crate carries a C++ header library ([`include_dir`]) with the interface of the device's instruction library.
//! It checks operands, layouts and addresses at compile time and hands every instruction to one C function,
//! `pto_host_call`. [`HostCompiler`] runs clang against it: to check a kernel, or to turn it into bitcode, whose
//! entry points [`entry_points`] lists.
//!
//! Nothing here executes a kernel, and nothing prints. The tests that compile kernels are in `tests.rs`.
#![warn(missing_docs)]

mod bitcode;
mod compiler;
mod error;
mod kernel;
mod npu;
pub mod npy;
mod options;
mod tensor;
#[cfg(test)]
mod tests;
mod vendor;

pub use bitcode::{Entry, entry_points};
pub use compiler::HostCompiler;
pub use error::{Diagnostic, Error, Severity};
pub use kernel::{Core, Parameter, Signature};
pub use npu::{Argument, Checks, Element, Finding, Kernel, Outcome, Progress, Rule, Runner};
pub use options::{Arch, CompileOptions, Half, Standard};
pub use tensor::{Agreement, Tensor};
pub use vendor::{VendorArg, VendorEntry, VendorKernel, VendorOptions, VendorReport, run_vendor};

use std::path::PathBuf;

/// Folder to put on the include path so that a kernel finds `pto/pto-inst.hpp`.
///
/// `PTO_SHIM_INCLUDE_DIR` overrides the folder of the sources the crate was built from.
#[must_use]
pub fn include_dir() -> PathBuf {
    match std::env::var_os("PTO_SHIM_INCLUDE_DIR") {
        Some(dir) => PathBuf::from(dir),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/include")),
    }
}
