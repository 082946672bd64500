//! What pass authors need: guarded construction and registration by name.

use crate::{diagnostics, ffi};
use melior::{
    dialect::DialectHandle,
    ir::{OperationRef, operation::OperationLike, r#type::TypeId},
    pass::{ExternalPass, Pass, create_external},
};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A place whose address is a pass's identity; one `static` per pass.
#[repr(align(8))]
pub struct PassId;

/// Makes an MLIR pass over `builtin.module` from a function that returns whether it succeeded. A panic inside
/// becomes an internal error instead of ending the process.
pub fn module_pass<F>(id: &'static PassId, argument: &'static str, description: &str, run: F) -> Pass
where
    F: for<'c, 'a> Fn(OperationRef<'c, 'a>) -> bool + Clone + 'static,
{
    let body = move |op: OperationRef, pass: ExternalPass<'_>| {
        let ok = catch_unwind(AssertUnwindSafe(|| run(op))).unwrap_or_else(|_| {
            diagnostics::internal_error(op.location(), argument);
            false
        });
        if !ok {
            pass.signal_failure();
        }
    };
    // Passes make constants and arithmetic for addresses, loops and conditions from branches.
    let dialects = [DialectHandle::arith(), DialectHandle::scf(), crate::context::handle()];
    create_external(body, TypeId::create(id), argument, argument, description, "builtin.module", &dialects)
}

/// Makes a pass known by its argument, for `--pass-pipeline`. Call it once per pass and process.
pub fn register(create: extern "C" fn() -> mlir_sys::MlirPass) {
    // SAFETY: the function pointer is static.
    unsafe { ffi::ptoRegisterPass(create) }
}

/// Defines `extern "C"` constructors for `register` from functions that make passes.
#[macro_export]
macro_rules! register_passes {
    ($($make:path),* $(,)?) => {
        $({
            extern "C" fn create() -> $crate::passes::RawPass {
                $make().to_raw()
            }
            $crate::passes::register(create);
        })*
    };
}

/// The C form of a pass.
pub type RawPass = mlir_sys::MlirPass;

/// MLIR's canonicalizer: constants folded, loops of one trip and branches with a known condition opened.
pub fn canonicalize() -> Pass {
    // SAFETY: as below.
    unsafe { Pass::from_raw(ffi::ptoCreateCanonicalizerPass()) }
}

/// MLIR's common-subexpression elimination.
pub fn cse() -> Pass {
    // SAFETY: the pass is new and ours to own.
    unsafe { Pass::from_raw(ffi::ptoCreateCsePass()) }
}
