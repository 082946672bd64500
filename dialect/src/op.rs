//! An operation together with its facts: operands and attributes by name.

use crate::{
    facts::{Arity, OpFacts, Operand, facts_by_name},
    ffi,
};
use melior::ir::{
    Attribute, AttributeLike, OperationRef, Value, ValueLike,
    attribute::{
        BoolAttribute, DenseI32ArrayAttribute, DenseI64ArrayAttribute, FlatSymbolRefAttribute, IntegerAttribute,
    },
    operation::OperationLike,
};
use melior::{Context, ContextRef};
use std::{cell::RefCell, collections::HashMap, ops::Range};

/// A `pto` operation.
#[derive(Clone, Copy)]
pub struct Op<'c, 'a> {
    /// The operation itself.
    pub raw: OperationRef<'c, 'a>,
    /// Its row in the facts table.
    pub facts: &'static OpFacts,
}

impl<'c, 'a> Op<'c, 'a> {
    /// The operation with its facts, if it belongs to the dialect.
    pub fn of(raw: OperationRef<'c, 'a>) -> Option<Self> {
        let name = op_name(raw);
        if !name.starts_with("pto.") {
            return None;
        }
        facts_by_name(name).map(|facts| Self { raw, facts })
    }

    /// The operation that defines a value, if it is one of ours.
    pub fn defining(value: Value<'c, 'a>) -> Option<Self> {
        defining_op(value).and_then(Self::of)
    }

    /// The name without `pto.`.
    pub fn mnemonic(&self) -> &'static str {
        self.facts.name.strip_prefix("pto.").unwrap_or(self.facts.name)
    }

    /// Whether this is `pto.<mnemonic>`.
    pub fn is(&self, mnemonic: &str) -> bool {
        self.mnemonic() == mnemonic
    }

    /// Which of the operation's values the operand at a position of the facts stands for.
    pub fn operand_range(&self, index: usize) -> Range<usize> {
        if self.facts.segments
            && let Some(sizes) = self.attr("operandSegmentSizes").and_then(|a| DenseI32ArrayAttribute::try_from(a).ok())
        {
            let size = |i: usize| usize::try_from(sizes.element(i).unwrap_or(0)).unwrap_or(0);
            let start = (0..index).map(size).sum();
            return start..start + size(index);
        }
        let flexible = self.raw.operand_count() - self.facts.operands.iter().filter(|o| o.arity == Arity::One).count();
        let width = |o: &Operand| if o.arity == Arity::One { 1 } else { flexible };
        let start = self.facts.operands[..index].iter().map(width).sum();
        start..start + width(&self.facts.operands[index])
    }

    /// All values of an operand (none when it is absent or unknown).
    pub fn operands(&self, name: &str) -> Vec<Value<'c, 'a>> {
        let Some(index) = self.facts.operand_index(name) else { return Vec::new() };
        self.operand_range(index).filter_map(|i| self.raw.operand(i).ok()).collect()
    }

    /// The value of an operand, if present.
    pub fn operand(&self, name: &str) -> Option<Value<'c, 'a>> {
        let index = self.facts.operand_index(name)?;
        let range = self.operand_range(index);
        (!range.is_empty()).then(|| self.raw.operand(range.start).ok()).flatten()
    }

    /// Every value with the operand it belongs to, in order.
    pub fn named_operands(&self) -> Vec<(&'static Operand, Value<'c, 'a>)> {
        let mut named = Vec::with_capacity(self.raw.operand_count());
        for (index, operand) in self.facts.operands.iter().enumerate() {
            named.extend(self.operand_range(index).filter_map(|i| Some((operand, self.raw.operand(i).ok()?))));
        }
        named
    }

    /// The operation's first result.
    pub fn result(&self) -> Option<Value<'c, 'a>> {
        // Asking melior for a result that is not there prints the whole operation into the error.
        (self.raw.result_count() > 0).then(|| self.raw.result(0).ok().map(Into::into)).flatten()
    }

    /// An attribute, if present.
    pub fn attr(&self, name: &str) -> Option<Attribute<'c>> {
        attribute(self.raw, name)
    }

    /// An integer attribute.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.attr(name).and_then(|a| IntegerAttribute::try_from(a).ok()).map(|a| a.value())
    }

    /// A boolean attribute.
    pub fn bool(&self, name: &str) -> Option<bool> {
        self.attr(name).and_then(|a| BoolAttribute::try_from(a).ok()).map(|a| a.value())
    }

    /// A string attribute; empty text reads as absent.
    pub fn string(&self, name: &str) -> Option<String> {
        self.attr(name).and_then(string_value)
    }

    /// The name that a symbol attribute refers to.
    pub fn symbol(&self, name: &str) -> Option<String> {
        self.attr(name).and_then(symbol_value)
    }

    /// A dense array of integers.
    pub fn ints(&self, name: &str) -> Option<Vec<i64>> {
        self.attr(name).and_then(int_values)
    }

    /// The case of an enumeration attribute.
    pub fn enum_text(&self, name: &str) -> Option<&'c str> {
        self.attr(name).and_then(enum_text)
    }
}

/// The operation that defines a value; `None` for block arguments.
pub fn defining_op<'c, 'a>(value: Value<'c, 'a>) -> Option<OperationRef<'c, 'a>> {
    if !value.is_operation_result() {
        return None;
    }
    // SAFETY: the value is an operation result, so its owner is a live operation.
    Some(unsafe { OperationRef::from_raw(mlir_sys::mlirOpResultGetOwner(value.to_raw())) })
}

/// An attribute of any operation.
pub fn attribute<'c>(op: OperationRef<'c, '_>, name: &str) -> Option<Attribute<'c>> {
    // SAFETY: the operation is live; a missing attribute is null.
    unsafe { Attribute::from_option_raw(mlir_sys::mlirOperationGetAttributeByName(op.to_raw(), ffi::string_ref(name))) }
}

/// The text of a string attribute; an empty one counts as absent. What is no UTF-8 becomes replacement characters.
pub fn string_value(attribute: Attribute) -> Option<String> {
    string_bytes(attribute).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

/// The bytes of a string attribute, unless it is empty; MLIR's text may have any bytes (`"\\E4"`).
pub fn string_bytes<'c>(attribute: Attribute<'c>) -> Option<&'c [u8]> {
    if !attribute.is_string() {
        return None;
    }
    // SAFETY: the attribute is a string, whose bytes live as long as the context.
    unsafe { bytes_of(mlir_sys::mlirStringAttrGetValue(attribute.to_raw())) }
}

/// The bytes of MLIR's text, unless it is empty.
///
/// # Safety
/// The text lives as long as `'t`.
unsafe fn bytes_of<'t>(text: mlir_sys::MlirStringRef) -> Option<&'t [u8]> {
    if text.length == 0 || text.data.is_null() {
        return None;
    }
    // SAFETY: MLIR gives as many bytes as it says.
    Some(unsafe { std::slice::from_raw_parts(text.data.cast(), text.length) })
}

/// The name that a symbol attribute refers to.
pub fn symbol_value(attribute: Attribute) -> Option<String> {
    FlatSymbolRefAttribute::try_from(attribute).ok()?;
    // SAFETY: the attribute is a symbol reference, whose bytes live as long as the context.
    let bytes = unsafe { bytes_of(mlir_sys::mlirFlatSymbolRefAttrGetValue(attribute.to_raw())) };
    bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

/// The numbers of a dense array of 64-bit integers.
pub fn int_values(attribute: Attribute) -> Option<Vec<i64>> {
    let array = DenseI64ArrayAttribute::try_from(attribute).ok()?;
    (0..array.len()).map(|i| array.element(i).ok()).collect()
}

/// The case of an enumeration attribute (`CAST_RINT`).
pub fn enum_text<'c>(attribute: Attribute<'c>) -> Option<&'c str> {
    // SAFETY: the function accepts any attribute and returns a static string.
    let text = unsafe { ffi::str_of(ffi::ptoEnumAttrText(attribute.to_raw())) };
    (!text.is_empty()).then_some(text)
}

/// The enumeration that an attribute belongs to (`RoundMode`).
pub fn enum_name<'c>(attribute: Attribute<'c>) -> Option<&'c str> {
    // SAFETY: as above.
    let text = unsafe { ffi::str_of(ffi::ptoEnumAttrName(attribute.to_raw())) };
    (!text.is_empty()).then_some(text)
}

/// The attribute of an enumeration by its names; `None` when there is no such case.
pub fn enum_attr<'c>(context: &'c melior::Context, name: &str, case: &str) -> Option<Attribute<'c>> {
    // SAFETY: both strings outlive the call; no such case is null.
    unsafe {
        Attribute::from_option_raw(ffi::ptoEnumAttrGet(context.to_raw(), ffi::string_ref(name), ffi::string_ref(case)))
    }
}

/// The value of an integer constant (`arith.constant`), if the value is one.
pub fn constant_int(value: Value) -> Option<i64> {
    let op = defining_op(value)?;
    if op_name(op) != "arith.constant" {
        return None;
    }
    let attribute = attribute(op, "value")?;
    if attribute.is_bool() {
        return BoolAttribute::try_from(attribute).ok().map(|a| i64::from(a.value()));
    }
    attribute.is_integer().then(|| IntegerAttribute::try_from(attribute).ok().map(|a| a.value())).flatten()
}

/// Whether an operation has no effects, so that it may be dropped or moved when its results allow it.
pub fn is_pure(op: OperationRef) -> bool {
    // SAFETY: the operation is live.
    unsafe { ffi::ptoIsPure(op.to_raw()) }
}

/// The full name of any operation (`arith.addi`).
pub fn op_name<'c>(op: OperationRef<'c, '_>) -> &'c str {
    // SAFETY: the name is uniqued in the context.
    unsafe { ffi::str_of(mlir_sys::mlirIdentifierStr(mlir_sys::mlirOperationGetName(op.to_raw()))) }
}

/// A number that identifies a value while the IR is unchanged; for look-up only, never for ordering.
pub fn value_key(value: Value) -> usize {
    value.to_raw().ptr as usize
}

/// A number that identifies an operation while it exists; for look-up only, never for ordering.
pub fn op_key(op: OperationRef) -> usize {
    op.to_raw().ptr as usize
}

/// The context of an operation as a reference.
///
/// melior's `ContextRef::to_ref` borrows the `ContextRef` itself, which dangles when that is a temporary; here it is
/// kept for the life of the process (a pointer's size per distinct context address).
pub fn context_of<'c>(op: OperationRef<'c, '_>) -> &'c Context {
    thread_local! {
        static KNOWN: RefCell<HashMap<usize, &'static ContextRef<'static>>> = RefCell::new(HashMap::new());
    }
    let context = op.context();
    // SAFETY: the reference lives as long as `context` on this line.
    let raw = unsafe { context.to_ref() }.to_raw();
    let key = raw.ptr as usize;
    let kept: &'static ContextRef<'static> = KNOWN.with_borrow_mut(|known| {
        *known.entry(key).or_insert_with(|| {
            // SAFETY: only the raw handle is kept; it is used for as long as the caller's operation proves it live.
            Box::leak(Box::new(unsafe { ContextRef::from_raw(raw) }))
        })
    });
    // SAFETY: the operation proves that the context lives for 'c, and `kept` is never freed.
    unsafe { kept.to_ref() }
}
