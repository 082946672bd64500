//! The other types: tensor views, pointers, local arrays, multi tiles, pipes.

use crate::{element::Element, ffi, tile::Space};
use melior::{
    Context,
    ir::{Type, TypeLike, Value, ValueLike},
};

/// Which view type this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewKind {
    /// `!pto.tensor_view`: a whole tensor.
    Tensor,
    /// `!pto.partition_tensor_view`: a window of one.
    Partition,
}

/// A tensor view type. Extents are elements; `None` is known only at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Whole tensor or window.
    pub kind: ViewKind,
    /// Extents, outermost first.
    pub shape: Vec<Option<i64>>,
    /// Element type.
    pub element: Element,
}

const MAX_RANK: usize = 8;

fn shaped(ty: Type) -> Option<(i32, Vec<Option<i64>>, Element)> {
    // SAFETY: the functions accept any type; the buffer has the stated capacity.
    unsafe {
        let kind = ffi::ptoShapedKind(ty.to_raw());
        if kind == 0 {
            return None;
        }
        let mut extents = [0i64; MAX_RANK];
        let mut element = ty.to_raw();
        let rank = ffi::ptoShapedInfo(ty.to_raw(), extents.as_mut_ptr(), MAX_RANK as i64, &mut element);
        let shape =
            extents[..usize::try_from(rank).ok()?.min(MAX_RANK)].iter().map(|&e| (e >= 0).then_some(e)).collect();
        Some((kind, shape, Element::of(Type::from_raw(element))?))
    }
}

impl View {
    /// The view behind a type, if it is one.
    pub fn of(ty: Type) -> Option<Self> {
        let (kind, shape, element) = shaped(ty)?;
        let kind = match kind {
            1 => ViewKind::Tensor,
            2 => ViewKind::Partition,
            _ => return None,
        };
        Some(Self { kind, shape, element })
    }

    /// The view type of a value.
    pub fn of_value(value: Value) -> Option<Self> {
        Self::of(value.r#type())
    }
}

/// Extents and element type of a local array.
pub fn local_array(ty: Type) -> Option<(Vec<i64>, Element)> {
    let (kind, shape, element) = shaped(ty)?;
    (kind == 3).then(|| (shape.into_iter().map(|e| e.unwrap_or(0)).collect(), element))
}

/// How many event ids an array of them holds.
pub fn event_id_array_size(ty: Type) -> Option<i64> {
    // SAFETY: the function accepts any type.
    let size = unsafe { ffi::ptoEventIdArraySize(ty.to_raw()) };
    (size >= 0).then_some(size)
}

/// Element type and memory space of a pointer.
pub fn pointer(ty: Type) -> Option<(Element, Space)> {
    let mut element = ty.to_raw();
    let mut space = 0;
    // SAFETY: the function accepts any type and fills both when it returns true.
    unsafe {
        if !ffi::ptoPtrInfo(ty.to_raw(), &mut element, &mut space) {
            return None;
        }
        Some((Element::of(Type::from_raw(element))?, Space::from_code(space)))
    }
}

/// The tile type of the slots, and their number.
pub fn multi_tile(ty: Type<'_>) -> Option<(Type<'_>, i64)> {
    let mut slot = ty.to_raw();
    let mut count = 0;
    // SAFETY: as above.
    unsafe { ffi::ptoMultiTileInfo(ty.to_raw(), &mut slot, &mut count).then(|| (Type::from_raw(slot), count)) }
}

/// How many fields a struct has; `None` for other types.
pub fn struct_fields(ty: Type) -> Option<usize> {
    // SAFETY: the function accepts any type.
    usize::try_from(unsafe { ffi::ptoStructFieldCount(ty.to_raw()) }).ok()
}

/// The type of a field below [`struct_fields`].
pub fn struct_field<'c>(ty: Type<'c>, index: usize) -> Type<'c> {
    assert!(struct_fields(ty).is_some_and(|count| index < count), "the struct has the field");
    // SAFETY: the type is a struct with that field, as asserted.
    unsafe { Type::from_raw(ffi::ptoStructField(ty.to_raw(), index as i64)) }
}

/// `!pto.pipe`.
pub fn pipe_type(context: &Context) -> Type<'_> {
    // SAFETY: the context is live and has the dialect loaded.
    unsafe { Type::from_raw(ffi::ptoPipeTypeGet(context.to_raw())) }
}
