//! Element types of tiles and tensors: names, sizes, C++ spelling.

use melior::ir::{Type, TypeLike, r#type::IntegerType};

/// The element type of a tile, a tensor view, a pointer or a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants are the element types")]
pub enum Element {
    I1,
    I4,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Index,
    F16,
    BF16,
    F32,
    F64,
    F8E4M3,
    F8E5M2,
    HiF8,
    F8E8M0,
    HiF8x2,
    F4E1M2x2,
    F4E2M1x2,
    BF16x2,
}

/// One row per element type: name in rules and messages, C++ type, bytes of storage that the library counts for
/// one element (PTO-ISA 1.4: packed 4-bit types count one byte per element although they hold two).
const TABLE: &[(Element, &str, &str, u64)] = &[
    (Element::I1, "i1", "bool", 1),
    (Element::I4, "i4", "int4b_t", 1),
    (Element::I8, "i8", "int8_t", 1),
    (Element::I16, "i16", "int16_t", 2),
    (Element::I32, "i32", "int32_t", 4),
    (Element::I64, "i64", "int64_t", 8),
    (Element::U8, "ui8", "uint8_t", 1),
    (Element::U16, "ui16", "uint16_t", 2),
    (Element::U32, "ui32", "uint32_t", 4),
    (Element::U64, "ui64", "uint64_t", 8),
    (Element::Index, "index", "int64_t", 8),
    (Element::F16, "f16", "half", 2),
    (Element::BF16, "bf16", "bfloat16_t", 2),
    (Element::F32, "f32", "float", 4),
    (Element::F64, "f64", "double", 8),
    (Element::F8E4M3, "f8e4m3", "float8_e4m3_t", 1),
    (Element::F8E5M2, "f8e5m2", "float8_e5m2_t", 1),
    (Element::HiF8, "hif8", "hifloat8_t", 1),
    (Element::F8E8M0, "f8e8m0", "float8_e8m0_t", 1),
    (Element::HiF8x2, "hif8x2", "hifloat8x2_t", 2),
    (Element::F4E1M2x2, "f4e1m2x2", "float4_e1m2x2_t", 1),
    (Element::F4E2M1x2, "f4e2m1x2", "float4_e2m1x2_t", 1),
    (Element::BF16x2, "bf16x2", "bfloat16x2_t", 4),
];

impl Element {
    /// The element type behind an MLIR type, if it is one.
    pub fn of(ty: Type) -> Option<Self> {
        if ty.is_integer() {
            let integer = IntegerType::try_from(ty).ok()?;
            let unsigned = integer.is_unsigned();
            return match (integer.width(), unsigned) {
                (1, _) => Some(Self::I1),
                (4, false) => Some(Self::I4),
                (8, false) => Some(Self::I8),
                (16, false) => Some(Self::I16),
                (32, false) => Some(Self::I32),
                (64, false) => Some(Self::I64),
                (8, true) => Some(Self::U8),
                (16, true) => Some(Self::U16),
                (32, true) => Some(Self::U32),
                (64, true) => Some(Self::U64),
                _ => None,
            };
        }
        Self::of_float(ty).or_else(|| Self::of_low_precision(ty))
    }

    fn of_float(ty: Type) -> Option<Self> {
        if ty.is_index() {
            return Some(Self::Index);
        }
        let raw = ty.to_raw();
        // SAFETY: these predicates accept any type.
        unsafe {
            if mlir_sys::mlirTypeIsAF32(raw) {
                return Some(Self::F32);
            }
            if mlir_sys::mlirTypeIsAF16(raw) {
                return Some(Self::F16);
            }
            if mlir_sys::mlirTypeIsABF16(raw) {
                return Some(Self::BF16);
            }
            if mlir_sys::mlirTypeIsAF64(raw) {
                return Some(Self::F64);
            }
            // Not `f8E4M3`: that one has infinities, the hardware's has none.
            if mlir_sys::mlirTypeIsAFloat8E4M3FN(raw) {
                return Some(Self::F8E4M3);
            }
            if mlir_sys::mlirTypeIsAFloat8E5M2(raw) {
                return Some(Self::F8E5M2);
            }
        }
        None
    }

    fn of_low_precision(ty: Type) -> Option<Self> {
        // SAFETY: the function accepts any type and returns a static string.
        let name = unsafe { crate::ffi::str_of(crate::ffi::ptoLowPrecisionName(ty.to_raw())) };
        match name {
            "hif8" => Some(Self::HiF8),
            "f8E8M0" => Some(Self::F8E8M0),
            "hif8x2" => Some(Self::HiF8x2),
            "f4E1M2x2" => Some(Self::F4E1M2x2),
            "f4E2M1x2" => Some(Self::F4E2M1x2),
            "bf16x2" => Some(Self::BF16x2),
            _ => None,
        }
    }

    fn row(self) -> &'static (Self, &'static str, &'static str, u64) {
        TABLE.iter().find(|row| row.0 == self).expect("every element type has a row")
    }

    /// The name used in rules and messages (`f32`, `ui8`).
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The C++ type (`float`, `uint8_t`).
    pub fn cpp(self) -> &'static str {
        self.row().2
    }

    /// Bytes that the library counts for one element.
    pub fn bytes(self) -> u64 {
        self.row().3
    }

    /// Whether two values share a byte.
    pub fn is_packed_4_bit(self) -> bool {
        matches!(self, Self::I4 | Self::F4E1M2x2 | Self::F4E2M1x2)
    }

    /// Whether it is an integer of any signedness (not `index`).
    pub fn is_integer(self) -> bool {
        self.name().trim_start_matches('u').starts_with('i') && self != Self::Index
    }

    /// Whether a list such as `"i16 i32 f16"` contains it; a signless name stands for both signednesses, `si16` for the
    /// signed one alone.
    pub fn is_in(self, list: &str) -> bool {
        let name = self.name();
        let bare = if self.is_integer() { name.strip_prefix('u') } else { None };
        let signed = |item: &str| self.is_integer() && item.strip_prefix('s') == Some(name);
        list.split_whitespace().any(|item| item == name || bare == Some(item) || signed(item))
    }
}

#[cfg(test)]
mod tests {
    use super::Element;

    #[test]
    fn a_signless_name_covers_both_signednesses() {
        assert!(Element::U8.is_in("i8 f16"));
        assert!(Element::I8.is_in("i8 f16"));
        assert!(!Element::I8.is_in("ui8 f16"));
        assert!(!Element::F16.is_in("bf16"));
        assert!(Element::I16.is_in("si16 f16"));
        assert!(!Element::U16.is_in("si16 f16"));
    }

    #[test]
    fn packed_types_count_one_byte_per_element() {
        assert_eq!(Element::F4E2M1x2.bytes(), 1);
        assert!(Element::F4E2M1x2.is_packed_4_bit());
    }
}
