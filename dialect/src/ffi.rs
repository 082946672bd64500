//! The C functions of `cpp/`, and the guard around every function that C++ calls.

use mlir_sys::{
    MlirAttribute, MlirContext, MlirDialectHandle, MlirDialectRegistry, MlirLocation, MlirLogicalResult, MlirModule,
    MlirOperation, MlirPass, MlirStringRef, MlirType, MlirValue,
};
use std::ffi::{c_char, c_int};

/// Mirrors `PtoTileInfo` in `cpp/Bridge.cpp`.
#[repr(C)]
pub struct TileInfo {
    pub space: i32,
    pub blayout: i32,
    pub slayout: i32,
    pub pad: i32,
    pub compact: i32,
    pub rows: i64,
    pub cols: i64,
    pub valid_rows: i64,
    pub valid_cols: i64,
    pub fractal: i64,
    pub element: MlirType,
}

unsafe extern "C" {
    pub fn mlirGetDialectHandle__pto__() -> MlirDialectHandle;
    pub fn ptoTileInfo(ty: MlirType, info: *mut TileInfo) -> bool;
    pub fn ptoTileGet(context: MlirContext, info: *const TileInfo) -> MlirType;
    pub fn ptoShapedKind(ty: MlirType) -> i32;
    pub fn ptoShapedInfo(ty: MlirType, extents: *mut i64, capacity: i64, element: *mut MlirType) -> i64;
    pub fn ptoPtrInfo(ty: MlirType, element: *mut MlirType, space: *mut i32) -> bool;
    pub fn ptoMultiTileInfo(ty: MlirType, slot: *mut MlirType, count: *mut i64) -> bool;
    pub fn ptoEventIdArraySize(ty: MlirType) -> i64;
    pub fn ptoPipeTypeGet(context: MlirContext) -> MlirType;
    pub fn ptoLowPrecisionName(ty: MlirType) -> MlirStringRef;
    pub fn ptoEnumAttrText(attribute: MlirAttribute) -> MlirStringRef;
    pub fn ptoEpiloguePart(attribute: MlirAttribute, part: i32) -> MlirAttribute;
    pub fn ptoEnumAttrName(attribute: MlirAttribute) -> MlirStringRef;
    pub fn ptoEnumAttrGet(context: MlirContext, name: MlirStringRef, text: MlirStringRef) -> MlirAttribute;
    pub fn ptoParse(context: MlirContext, text: MlirStringRef, file: MlirStringRef, unregistered: bool) -> MlirModule;
    pub fn ptoEmitDiagnostic(
        location: MlirLocation,
        severity: i32,
        message: MlirStringRef,
        note_count: isize,
        note_locations: *const MlirLocation,
        notes: *const MlirStringRef,
    );
    pub fn ptoLocationInfo(
        location: MlirLocation,
        file: *mut MlirStringRef,
        line: *mut u32,
        column: *mut u32,
        name: *mut MlirStringRef,
    ) -> bool;
    pub fn ptoValueLocation(value: MlirValue) -> MlirLocation;
    pub fn ptoIsPure(op: MlirOperation) -> bool;
    pub fn ptoStructFieldCount(ty: MlirType) -> i64;
    pub fn ptoStructField(ty: MlirType, index: i64) -> MlirType;
    pub fn ptoLiftControlFlow(function: MlirOperation) -> bool;
    pub fn ptoOpenRegion(op: MlirOperation);
    pub fn ptoReplaceAllUses(of: MlirValue, with: MlirValue);
    pub fn ptoRegisterPass(create: extern "C" fn() -> MlirPass);
    pub fn ptoRegisterUpstreamPasses();
    pub fn ptoCreateCsePass() -> MlirPass;
    pub fn ptoCreateCanonicalizerPass() -> MlirPass;
    pub fn ptoOptMain(argc: c_int, argv: *mut *mut c_char, registry: MlirDialectRegistry) -> c_int;
}

/// A string for C++; it must outlive the call.
pub fn string_ref(text: &str) -> MlirStringRef {
    MlirStringRef { data: text.as_ptr().cast(), length: text.len() }
}

/// The text behind a string that MLIR owns (uniqued in the context, or static).
///
/// # Safety
/// `raw` must point to memory that lives as long as the chosen lifetime.
pub unsafe fn str_of<'a>(raw: MlirStringRef) -> &'a str {
    if raw.data.is_null() || raw.length == 0 {
        return "";
    }
    // SAFETY: the caller promises that the memory lives; non-UTF-8 text reads as empty.
    std::str::from_utf8(unsafe { std::slice::from_raw_parts(raw.data.cast(), raw.length) }).unwrap_or_default()
}

/// Called by C++ for each operation; see `verify.rs`.
#[unsafe(no_mangle)]
extern "C" fn pto_verify_op(op: MlirOperation) -> MlirLogicalResult {
    // SAFETY: C++ passes a live operation and keeps it alive during the call.
    let op = unsafe { melior::ir::OperationRef::from_raw(op) };
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| crate::verify::verify(op)));
    let ok = outcome.unwrap_or_else(|_| {
        crate::diagnostics::internal_error(melior::ir::operation::OperationLike::location(&op), "the verifier");
        false
    });
    MlirLogicalResult { value: i8::from(ok) }
}
