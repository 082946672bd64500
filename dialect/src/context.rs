//! Contexts with our dialects registered, parsing that keeps value names, and the `mlir-opt` driver.

use crate::{diagnostics, ffi};
use melior::{
    Context,
    dialect::{DialectHandle, DialectRegistry},
    ir::{Location, Module},
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
    if let Some(line) = too_deep(text) {
        let message = format!("regions in more than {DEEPEST} others");
        diagnostics::error(Location::new(context, file, line, 1), "PTO-0103", message).emit();
        return None;
    }
    // SAFETY: both strings outlive the call; C++ copies the text.
    let raw = unsafe {
        ffi::ptoParse(context.to_raw(), ffi::string_ref(text), ffi::string_ref(file), options.allow_unregistered)
    };
    // SAFETY: a non-null module is ours to own.
    (!raw.ptr.is_null()).then(|| unsafe { Module::from_raw(raw) })
}

/// Braces in one another that a module may have. Parser and passes call themselves for each; the stack has an end.
const DEEPEST: usize = 500;

/// The line on which a text goes deeper than that.
fn too_deep(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (number, line) in text.lines().enumerate() {
        let (mut quoted, mut escaped) = (false, false);
        let mut bytes = line.bytes().peekable();
        while let Some(byte) = bytes.next() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if quoted => escaped = true,
                b'"' => quoted = !quoted,
                _ if quoted => {}
                b'/' if bytes.peek() == Some(&b'/') => break,
                b'{' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        if depth > DEEPEST {
            return Some(number + 1);
        }
    }
    None
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_braces_of_the_text_count() {
        let deep = |count: usize| format!("module {{\n{}", "scf.if %c {\n".repeat(count));
        assert_eq!(too_deep(&deep(DEEPEST - 1)), None);
        assert_eq!(too_deep(&deep(DEEPEST)), Some(DEEPEST + 1));
        let quiet = "\"{\\\"{\" // {\n".repeat(DEEPEST + 1);
        assert_eq!(too_deep(&quiet), None);
    }
}
