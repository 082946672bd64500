//! Where something stands in the source, and what its author called it.

use crate::ffi;
use melior::ir::{Location, Value, ValueLike};
use mlir_sys::MlirStringRef;

/// A place in a source file, and the name of the value defined there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Position {
    /// The file as it was named to the parser or in `loc(...)`; empty when unknown.
    pub file: String,
    /// Line, from 1; 0 when unknown.
    pub line: u32,
    /// Column, from 1; 0 when unknown.
    pub column: u32,
    /// The author's name of the value, without `%`; empty when none was kept.
    pub name: String,
}

/// Unpacks a location.
pub fn position(location: Location) -> Position {
    let empty = MlirStringRef { data: std::ptr::null(), length: 0 };
    let (mut file, mut name, mut line, mut column) = (empty, empty, 0, 0);
    // SAFETY: the strings are uniqued in the context and outlive this call.
    unsafe {
        ffi::ptoLocationInfo(location.to_raw(), &mut file, &mut line, &mut column, &mut name);
        Position { file: ffi::str_of(file).to_owned(), line, column, name: ffi::str_of(name).to_owned() }
    }
}

/// The location of a value's definition.
pub fn value_location<'c>(value: Value<'c, '_>) -> Location<'c> {
    // SAFETY: the value is live.
    unsafe { Location::from_raw(ffi::ptoValueLocation(value.to_raw())) }
}

/// What the author called a value, without `%`. `None` for results after the first and for unnamed values.
pub fn name_of_value(value: Value) -> Option<String> {
    if let Some(op) = crate::op::defining_op(value)
        && op.result(0).is_ok_and(|first| ValueLike::to_raw(&first).ptr != value.to_raw().ptr)
    {
        return None;
    }
    let name = position(value_location(value)).name;
    (!name.is_empty()).then_some(name)
}
