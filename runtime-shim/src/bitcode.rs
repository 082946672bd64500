//! Reads the bitcode of a compiled kernel: verifies it and lists its functions. Does not run it.

use std::path::Path;

use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::values::FunctionValue;

use crate::error::Error;

/// Section that the headers put `__global__` functions in.
const ENTRY_SECTION: &str = "pto_entry";

/// A function that the kernel defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Symbol: the name as written for an `extern "C"` function, else the mangled name.
    pub name: String,
    /// LLVM types of the parameters in order, for example `ptr`, `i64`, `float`.
    pub params: Vec<String>,
    /// Whether the kernel marks it `__global__`, so that it can be launched.
    pub launchable: bool,
}

/// Parses and verifies a bitcode file and lists the functions the kernel defines, in their order in the file.
///
/// Functions of the header library (inline) are left out.
///
/// # Errors
/// [`Error::InvalidBitcode`] when LLVM cannot read the file or its verifier rejects the module.
pub fn entry_points(bitcode: &Path) -> Result<Vec<Entry>, Error> {
    let context = Context::create();
    let module = load(&context, bitcode)?;
    let listed = module.get_functions().filter(is_defined_here).map(describe).collect();
    Ok(listed)
}

/// All functions of a module that have a body.
pub(crate) fn defined_functions<'ctx>(module: &Module<'ctx>) -> Vec<FunctionValue<'ctx>> {
    module.get_functions().filter(|f| f.count_basic_blocks() > 0).collect()
}

pub(crate) fn load<'ctx>(context: &'ctx Context, bitcode: &Path) -> Result<Module<'ctx>, Error> {
    let invalid = |reason: String| Error::InvalidBitcode { file: bitcode.to_owned(), reason };
    let module = Module::parse_bitcode_from_path(bitcode, context).map_err(|e| invalid(e.to_string()))?;
    module.verify().map_err(|e| invalid(e.to_string()))?;
    Ok(module)
}

fn is_defined_here(function: &FunctionValue<'_>) -> bool {
    let inline = matches!(function.get_linkage(), Linkage::LinkOnceAny | Linkage::LinkOnceODR);
    function.count_basic_blocks() > 0 && !inline
}

fn describe(function: FunctionValue<'_>) -> Entry {
    let params = function.get_type().get_param_types();
    let global = function.as_global_value();
    let section = global.get_section();
    Entry {
        name: function.get_name().to_string_lossy().into_owned(),
        params: params.iter().map(|p| p.print_to_string().to_string_lossy().into_owned()).collect(),
        launchable: section.is_some_and(|s| s.to_bytes() == ENTRY_SECTION.as_bytes()),
    }
}
