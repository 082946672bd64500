//! What a push from the accumulator does to its values on the way (`#pto.acc_push_epilogue`).

use crate::{
    element::Element,
    ffi,
    op::enum_text,
    tile::{BLayout, SLayout, Space, Tile},
};
use melior::ir::{Attribute, AttributeLike};

/// Where the factors of a conversion come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// It has none.
    None,
    /// One for all values.
    Scalar,
    /// One for each column, from a tile.
    Vector,
}

/// A row of the table of conversions.
#[derive(Debug)]
pub struct Quant {
    /// The case of the enumeration.
    pub case: &'static str,
    /// What the accumulator holds.
    pub from: &'static [Element],
    /// What the slot holds; one of them.
    pub to: &'static [Element],
    /// The factors.
    pub scale: Scale,
    /// Only A5 has it.
    pub a5_only: bool,
}

const fn quant(case: &'static str, from: &'static [Element], to: &'static [Element], scale: Scale) -> Quant {
    Quant { case, from, to, scale, a5_only: false }
}

/// The conversions of the fixpipe. Source: PTO-ISA fixpipe.hpp (type of the result), a2a3 and a5 TPush.hpp.
const QUANTS: &[Quant] = &[
    quant("no_convert", &[Element::F32, Element::I32], &[Element::F32, Element::I32], Scale::None),
    quant("f32_f16", &[Element::F32], &[Element::F16], Scale::None),
    quant("f32_bf16", &[Element::F32], &[Element::BF16], Scale::None),
    quant("req8_scalar", &[Element::I32], &[Element::I8, Element::U8], Scale::Scalar),
    quant("req8_vec", &[Element::I32], &[Element::I8], Scale::Vector),
    quant("deqf16_scalar", &[Element::I32], &[Element::F16], Scale::Scalar),
    quant("deqf16_vec", &[Element::I32], &[Element::F16], Scale::Vector),
    quant("qf322b8_pre_scalar", &[Element::F32], &[Element::I8, Element::U8], Scale::Scalar),
    quant("qf322b8_pre_vec", &[Element::F32], &[Element::I8], Scale::Vector),
    quant("qf322f16_pre_scalar", &[Element::F32], &[Element::F16], Scale::Scalar),
    quant("qf322bf16_pre_scalar", &[Element::F32], &[Element::BF16], Scale::Scalar),
    Quant { a5_only: true, ..quant("qs322bf16_pre_scalar", &[Element::I32], &[Element::BF16], Scale::Scalar) },
    Quant { a5_only: true, ..quant("qs322bf16_pre_vec", &[Element::I32], &[Element::BF16], Scale::Vector) },
    Quant { a5_only: true, ..quant("qf322hif8_pre_scalar", &[Element::F32], &[Element::HiF8], Scale::Scalar) },
    Quant { a5_only: true, ..quant("qf322fp8_pre_scalar", &[Element::F32], &[Element::F8E4M3], Scale::Scalar) },
];

/// An `acc_push_epilogue` attribute.
#[derive(Clone, Copy, Debug)]
pub struct Epilogue<'c> {
    /// `nz2nd`, `nz2dn` or `nz2nz`.
    pub layout: &'c str,
    /// The conversion.
    pub quant: &'static Quant,
    /// `no_relu` or `normal_relu`.
    pub relu: &'c str,
}

impl<'c> Epilogue<'c> {
    /// The epilogue behind an attribute, if it is one.
    pub fn of(attribute: Attribute<'c>) -> Option<Self> {
        let [layout, quant, relu] = [0, 1, 2].map(|part| epilogue_part(attribute, part).and_then(enum_text));
        let (layout, quant, relu) = (layout?, quant?, relu?);
        Some(Self { layout, quant: QUANTS.iter().find(|row| row.case == quant)?, relu })
    }

    /// Whether a tile can receive what the epilogue leaves in a slot, by its layout.
    pub fn fits_layout(&self, tile: &Tile) -> bool {
        let wanted = match self.layout {
            "nz2nd" => (BLayout::RowMajor, SLayout::NoneBox),
            "nz2dn" => (BLayout::ColMajor, SLayout::NoneBox),
            _ => (BLayout::ColMajor, SLayout::RowMajor),
        };
        tile.space == Space::Vec && (tile.blayout, tile.slayout) == wanted
    }
}

/// A part of an epilogue as an enumeration attribute: 0 layout, 1 quant, 2 relu.
pub fn epilogue_part<'c>(attribute: Attribute<'c>, part: i32) -> Option<Attribute<'c>> {
    // SAFETY: the function accepts any attribute and answers null for another kind.
    unsafe { Attribute::from_option_raw(ffi::ptoEpiloguePart(attribute.to_raw(), part)) }
}

#[cfg(test)]
mod tests {
    use super::QUANTS;
    use crate::facts::enum_spelling;

    #[test]
    fn the_table_has_a_row_for_every_case() {
        let cases: Vec<&str> = QUANTS.iter().map(|row| row.case).collect();
        assert_eq!(cases, enum_spelling("FixpipeQuant").expect("the enumeration exists").cases);
    }
}
