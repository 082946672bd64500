//! Which bytes of its source a view has.

use crate::frontend::{
    ast::{Call, DataType, Expr, MemRef, Problem, Span, Type},
    memory::{refs, sizes},
};

/// The memory of `call`'s result, whose source has the memory `parent` and the given type.
pub fn memory(parent: &MemRef, source: Option<&Type>, call: &Call, span: Span) -> Result<MemRef, Problem> {
    let MemRef::Part { base, offset, size, .. } = parent else { return Ok(parent.clone()) };
    let shape = match source {
        Some(Type::Tile(tile)) => Some((&tile.shape, tile.dtype)),
        Some(Type::Tensor(tensor)) => Some((&tensor.shape, tensor.dtype)),
        _ => None,
    };
    let is_window = matches!(call.op(), Some("tile.slice" | "tensor.slice"));
    let (Some((extents, dtype)), true) = (shape, is_window) else { return Ok(parent.clone()) };
    let bytes = call.args.get(1).and_then(Expr::as_elements).and_then(|w| sizes::of_window(extents, w, dtype));
    let bytes = bytes.unwrap_or(*size);
    let Some(origin) = call.args.get(2) else { return Ok(parent.clone()) };
    let origins = origin.as_elements().unwrap_or(std::slice::from_ref(origin));
    let inside = byte_offset(origins, extents, dtype, span)?;
    // The whole of it is the same memory, down to how the offset is written.
    if bytes == *size && inside.as_int() == Some(0) {
        return Ok(parent.clone());
    }
    let offset = refs::add(offset, &inside).ok_or_else(|| too_far(span))?;
    Ok(MemRef::Part { base: base.clone(), offset, size: bytes, slot: None })
}

/// Bytes in front of the element at `origins` of a tile that is stored row by row.
fn byte_offset(origins: &[Expr], extents: &[Expr], dtype: DataType, span: Span) -> Result<Expr, Problem> {
    let mut elements = Expr::index(0);
    for (axis, origin) in origins.iter().enumerate() {
        let mut stride = Expr::index(1);
        for extent in extents.get(axis + 1..).unwrap_or_default() {
            stride = refs::mul(&stride, extent).ok_or_else(|| too_far(span))?;
        }
        let step = refs::mul(origin, &stride).ok_or_else(|| too_far(span))?;
        elements = refs::add(&elements, &step).ok_or_else(|| too_far(span))?;
    }
    let bits = i64::try_from(dtype.bits()).unwrap_or(i64::MAX);
    if bits % 8 == 0 {
        return refs::mul(&elements, &Expr::index(bits / 8)).ok_or_else(|| too_far(span));
    }
    let whole = elements.as_int().and_then(|e| e.checked_mul(bits)).filter(|b| *b >= 0 && b % 8 == 0);
    match whole {
        Some(all) => Ok(Expr::index(all / 8)),
        None => Err(Problem::new("PTO-0661", span, "a window of 4-bit elements must begin at a whole, constant byte")),
    }
}

fn too_far(span: Span) -> Problem {
    Problem::new("PTO-0652", span, "a window begins behind every address")
}
