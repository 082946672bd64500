//! The PTO dialect as Rust sees it: registration, typed views of its types and operations, the generated facts
//! about each operation, verifiers, and the device model.
//!
//! This is the only crate that holds C++ for MLIR or names `mlir_sys`. It contains no passes and prints nothing.

mod context;
pub mod device;
pub mod diagnostics;
pub mod edit;
mod element;
mod epilogue;
mod facts;
mod ffi;
mod location;
mod ods;
mod op;
pub mod passes;
mod pipes;
mod tile;
mod types;
mod verify;

pub use context::{ParseOptions, new_context, opt_main, parse, registry};
pub use element::Element;
pub use epilogue::{Epilogue, Scale, epilogue_part};
pub use facts::{Arity, EnumSpelling, OP_FACTS, OpFacts, Operand, Role, enum_spelling, facts_by_name};
pub use location::{Position, name_of_value, position, value_location};
pub use ods::pto as ops;
pub use op::{
    Op, attribute, constant_int, context_of, defining_op, enum_attr, enum_name, enum_text, int_values, is_pure, op_key,
    op_name, string_bytes, string_value, symbol_value, value_key,
};
pub use pipes::{Access, Pipe, SYNCALL_ELEMENTS, UNTOUCHED, accesses, fixed_memory, pipe_of};
pub use tile::{BLayout, CompactMode, PadValue, SLayout, Space, Tile};
pub use types::{
    View, ViewKind, event_id_array_size, local_array, multi_tile, pipe_type, pointer, struct_field, struct_fields,
};
pub use verify::layout::layout_fault;
