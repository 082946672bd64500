//! Types of the front-end in the dialect: elements, tiles with their layouts, pointers and views.

use super::{Lowering, build::integer_type};
use crate::frontend::ast::{DataType, Expr, MemorySpace, Problem, Span, TileType};
use melior::ir::Type;

/// An element type in the dialect's spelling.
pub fn element_text(dtype: DataType) -> &'static str {
    match dtype {
        DataType::Bool => "i1",
        DataType::Int4 => "i4",
        DataType::Uint4 => "ui4",
        DataType::Int8 => "i8",
        DataType::Uint8 => "ui8",
        DataType::Int16 => "i16",
        DataType::Uint16 => "ui16",
        DataType::Int32 => "i32",
        DataType::Uint32 => "ui32",
        DataType::Int64 | DataType::TaskId => "i64",
        DataType::Uint64 => "ui64",
        DataType::Fp4 => "!pto.f4E2M1x2",
        DataType::Fp8E4M3Fn => "f8E4M3FN",
        DataType::Fp8E5M2 => "f8E5M2",
        DataType::Fp8E8M0 => "!pto.f8E8M0",
        DataType::Hf8 => "!pto.hif8",
        DataType::Hf4 => "!pto.f4E1M2x2",
        DataType::Fp16 => "f16",
        DataType::Bf16 => "bf16",
        DataType::Fp32 => "f32",
        DataType::Index => "index",
    }
}

/// A space in the dialect's spelling; both scale memories have one name there.
pub fn space_text(space: MemorySpace) -> &'static str {
    match space {
        MemorySpace::Ddr | MemorySpace::ScalarLocal => "gm",
        MemorySpace::Vec => "vec",
        MemorySpace::Mat => "mat",
        MemorySpace::Left => "left",
        MemorySpace::Right => "right",
        MemorySpace::Acc => "acc",
        MemorySpace::Bias => "bias",
        MemorySpace::LeftScale | MemorySpace::RightScale => "scaling",
    }
}

/// How a tile lies in its memory, with the space's usual values where the type says nothing (PyPTO's implicit views).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    pub blayout: String,
    pub slayout: String,
    pub fractal: i64,
    pub pad: u8,
    pub compact: bool,
}

/// The form of a tile.
pub fn form(tile: &TileType) -> Form {
    let extents: Vec<Option<i64>> = tile.shape.iter().map(Expr::as_int).collect();
    let column = matches!(extents[..], [_, Some(1)]);
    let (blayout, slayout, fractal) = match tile.space {
        Some(MemorySpace::Mat | MemorySpace::Left) => ("col_major", "row_major", 512),
        Some(MemorySpace::Right) => ("row_major", "col_major", 512),
        Some(MemorySpace::Acc) => ("col_major", "row_major", 1024),
        Some(MemorySpace::LeftScale) => ("row_major", "row_major", 32),
        Some(MemorySpace::RightScale) => ("col_major", "col_major", 32),
        _ if column => ("col_major", "none_box", 512),
        _ => ("row_major", "none_box", 512),
    };
    let view = tile.view.clone().unwrap_or_default();
    Form {
        blayout: view.blayout.unwrap_or_else(|| blayout.to_owned()),
        slayout: view.slayout.unwrap_or_else(|| slayout.to_owned()),
        fractal: view.fractal.unwrap_or(fractal),
        pad: match view.pad.as_deref() {
            Some("zero") => 1,
            Some("max") => 2,
            Some("min") => 3,
            _ => 0,
        },
        compact: view.compact.as_deref() == Some("normal"),
    }
}

/// Rows and columns of a tile; a tile of one dimension is one row.
pub fn extents(tile: &TileType) -> Option<(i64, i64)> {
    match tile.shape.iter().map(Expr::as_int).collect::<Option<Vec<i64>>>()?[..] {
        [cols] => Some((1, cols)),
        [rows, cols] => Some((rows, cols)),
        _ => None,
    }
}

/// The extents that hold values, as expressions.
pub fn valid_extents(tile: &TileType) -> Option<[Expr; 2]> {
    let said = tile.view.as_ref().and_then(|v| v.valid_shape.as_ref()).filter(|v| !v.is_empty());
    match &said.unwrap_or(&tile.shape)[..] {
        [cols] => Some([Expr::index(1), cols.clone()]),
        [rows, cols] => Some([rows.clone(), cols.clone()]),
        _ => None,
    }
}

/// A tile type of the dialect; `None` in `valid` is known only at run time. `packed`: 4-bit elements in pairs.
pub fn tile_text(
    space: MemorySpace,
    dtype: DataType,
    (rows, cols): (i64, i64),
    valid: [Option<i64>; 2],
    form: &Form,
) -> String {
    let extent = |v: Option<i64>| v.map_or_else(|| "?".to_owned(), |v| v.to_string());
    let compact = if form.compact { ", compact=1" } else { "" };
    format!(
        "!pto.tile_buf<loc={}, dtype={}, rows={rows}, cols={cols}, v_row={}, v_col={}, blayout={}, slayout={}, fractal={}, pad={}{compact}>",
        space_text(space),
        element_text(dtype),
        extent(valid[0]),
        extent(valid[1]),
        form.blayout,
        form.slayout,
        form.fractal,
        form.pad
    )
}

impl<'c> Lowering<'_, 'c, '_> {
    /// A scalar's type as values of arithmetic have it: integers without sign.
    pub fn scalar_type(&self, dtype: DataType) -> Result<Type<'c>, Problem> {
        let context = self.context;
        Ok(match dtype {
            DataType::Index => Type::index(context),
            DataType::Bool => integer_type(context, 1),
            DataType::Fp32 => Type::float32(context),
            DataType::Fp16 => Type::float16(context),
            DataType::Bf16 => Type::bfloat16(context),
            other if !other.is_float() => integer_type(context, other.bits() as u32),
            other => self.type_of_text(element_text(other), Span::default())?,
        })
    }

    /// A scalar's type as signatures and operations of the dialect have it.
    pub fn signed_scalar_type(&self, dtype: DataType) -> Result<Type<'c>, Problem> {
        match dtype {
            DataType::Index => Ok(Type::index(self.context)),
            other => self.type_of_text(element_text(other), Span::default()),
        }
    }

    /// `!pto.ptr<f32>`.
    pub fn pointer_type(&self, dtype: DataType, span: Span) -> Result<Type<'c>, Problem> {
        self.type_of_text(&format!("!pto.ptr<{}>", element_text(dtype)), span)
    }

    /// `!pto.tensor_view<?x?xf32>`.
    pub fn view_type(&self, rank: usize, dtype: DataType, span: Span) -> Result<Type<'c>, Problem> {
        self.type_of_text(&format!("!pto.tensor_view<{}{}>", "?x".repeat(rank), element_text(dtype)), span)
    }

    /// `!pto.partition_tensor_view<16x?xf32>`.
    pub fn partition_type(&self, sizes: &[Expr], dtype: DataType, span: Span) -> Result<Type<'c>, Problem> {
        let extents: String = sizes.iter().map(|e| e.as_int().map_or("?x".to_owned(), |v| format!("{v}x"))).collect();
        self.type_of_text(&format!("!pto.partition_tensor_view<{extents}{}>", element_text(dtype)), span)
    }
}
