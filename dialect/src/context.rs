//! Contexts with our dialects registered, parsing that keeps value names, and the `mlir-opt` driver.

use crate::ffi;
use melior::{
    Context,
    dialect::{DialectHandle, DialectRegistry},
    ir::Module,
};
use std::ffi::{CString, c_char};

/// The dialects that a `.pto` file may use.
pub fn registry() -> DialectRegistry {
    let registry = DialectRegistry::new();
    for handle in [DialectHandle::func(), DialectHandle::arith(), DialectHandle::scf()] {
        handle.insert_dialect(&registry);
    }
    handle().insert_dialect(&registry);
    registry
}

/// The PTO dialect's own handle.
pub fn handle() -> DialectHandle {
    // SAFETY: the handle is a static object of the linked dialect.
    unsafe { DialectHandle::from_raw(ffi::mlirGetDialectHandle__pto__()) }
}

/// A context without threads of its own (parallelism is across files) and with all dialects loaded.
pub fn new_context() -> Context {
    let context = Context::new_with_threading(false);
    context.append_dialect_registry(&registry());
    context.load_all_available_dialects();
    context
}

/// How to parse.
#[derive(Clone, Copy, Default)]
pub struct ParseOptions {
    /// Accept operations of unknown dialects.
    pub allow_unregistered: bool,
}

/// Parses and verifies a module. Value names are kept in locations (`name_of_value`). `None` after an error, which
/// goes to the context's diagnostic handlers.
pub fn parse<'c>(context: &'c Context, text: &str, file: &str, options: ParseOptions) -> Option<Module<'c>> {
    // SAFETY: both strings outlive the call; C++ copies the text.
    let raw = unsafe {
        ffi::ptoParse(context.to_raw(), ffi::string_ref(text), ffi::string_ref(file), options.allow_unregistered)
    };
    // SAFETY: a non-null module is ours to own.
    (!raw.ptr.is_null()).then(|| unsafe { Module::from_raw(raw) })
}

/// Runs MLIR's opt driver with our dialects and whatever passes have been registered; returns its exit code.
pub fn opt_main(arguments: &[String]) -> i32 {
    // SAFETY: registration has no preconditions.
    unsafe { ffi::ptoRegisterUpstreamPasses() };
    let owned: Vec<CString> = arguments.iter().filter_map(|a| CString::new(a.as_str()).ok()).collect();
    let mut argv: Vec<*mut c_char> = owned.iter().map(|a| a.as_ptr().cast_mut()).collect();
    argv.push(std::ptr::null_mut());
    let registry = registry();
    // SAFETY: argv is null-terminated and outlives the call; the driver does not write to the strings.
    unsafe { ffi::ptoOptMain(owned.len() as i32, argv.as_mut_ptr(), registry.to_raw()) }
}
