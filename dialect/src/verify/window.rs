//! Windows of tiles, other views of the same bytes, and valid extents set later.

use super::{
    check::{Check, Extent, Named, layout_text, may_equal, shape_text, valid_text},
    codes::{BOUNDS, ELEMENT, FORM, LAYOUT, RANK, SHAPE, SPACE, VALID, VALUE},
    layout::tile_layout,
    tile::label,
};
use crate::{
    op::{constant_int, defining_op, op_name},
    tile::{CompactMode, SLayout, Tile},
};
use melior::ir::{
    ValueLike,
    attribute::{ArrayAttribute, IntegerAttribute},
};

/// `subview`: a window inside its parent, with the parent's element type, memory and layout.
pub fn subview(check: &mut Check) {
    let Some(source) = check.tile("source") else { return };
    let offsets: Vec<_> = check.op.operands("offsets").into_iter().map(constant_int).collect();
    let sizes = int_array(check, "sizes");
    let two = check.require(offsets.len() == 2, RANK, format_args!("2 offsets"), offsets.len());
    if !check.require(sizes.len() == 2, RANK, format_args!("2 sizes"), sizes.len()) || !two {
        return;
    }
    inside(check, &source, &offsets, &sizes);
    if source.slayout != SLayout::NoneBox {
        on_boxes(check, &source, &offsets, &sizes);
    }
    if let Some(result) = check.op.result()
        && let Some(window) = Tile::of_value(result)
    {
        like_parent(check, &source, &window, &sizes, &label(result));
        window_extents(check, &window, &sizes);
    }
}

fn int_array(check: &Check, name: &str) -> Vec<i64> {
    let Some(array) = check.op.attr(name).and_then(|a| ArrayAttribute::try_from(a).ok()) else { return Vec::new() };
    let element = |i| array.element(i).ok().and_then(|a| IntegerAttribute::try_from(a).ok()).map(|a| a.value());
    (0..array.len()).filter_map(element).collect()
}

fn inside(check: &mut Check, source: &Named, offsets: &[Option<i64>], sizes: &[i64]) {
    for (side, extent, offset, size) in sides(source, offsets, sizes) {
        check.require(size > 0, VALUE, format_args!("a size above 0 in {side}"), size);
        let Some(offset) = offset else {
            check.require(size <= extent, BOUNDS, format_args!("at most the {extent} {side} of {source}"), size);
            continue;
        };
        let end = offset.checked_add(size);
        let holds = offset >= 0 && end.is_some_and(|end| end <= extent);
        let got = format_args!("{side} {offset} to {}", end.unwrap_or(i64::MAX));
        check.require(holds, BOUNDS, format_args!("a window inside the {extent} {side} of {source}"), got);
    }
}

fn sides(source: &Tile, offsets: &[Option<i64>], sizes: &[i64]) -> [(&'static str, i64, Option<i64>, i64); 2] {
    [("rows", source.rows, offsets[0], sizes[0]), ("columns", source.cols, offsets[1], sizes[1])]
}

/// In boxes, sizes and constant offsets are multiples of the box; a window as wide as its parent is whole too.
fn on_boxes(check: &mut Check, source: &Named, offsets: &[Option<i64>], sizes: &[i64]) {
    let (box_rows, box_cols) = source.inner_box();
    for ((side, extent, offset, size), unit) in sides(source, offsets, sizes).into_iter().zip([box_rows, box_cols]) {
        let expected = format_args!("a multiple of the box's {unit} {side}");
        check.require(size % unit == 0 || size == extent, BOUNDS, expected, format_args!("size {size}"));
        if let Some(offset) = offset {
            check.require(offset % unit == 0, BOUNDS, expected, format_args!("offset {offset}"));
        }
    }
}

fn like_parent(check: &mut Check, source: &Named, window: &Tile, sizes: &[i64], label: &str) {
    let element = window.element.name();
    let expected = format_args!("{label} to hold {} as {source} does", source.element.name());
    check.require(window.element == source.element, ELEMENT, expected, element);
    let expected = format_args!("{label} in {} as {source} is", source.space.name());
    check.require(window.space == source.space, SPACE, expected, window.space.name());
    let same_config =
        (window.slayout, window.fractal, window.compact) == (source.slayout, source.fractal, source.compact);
    let holds = same_config && (window.blayout == source.blayout || is_line(source, sizes));
    check.require(
        holds,
        LAYOUT,
        format_args!("{label} with the layout {} of {source}", layout_text(source)),
        layout_text(window),
    );
    let holds = [window.rows, window.cols] == sizes;
    check.require(holds, SHAPE, format_args!("{label} with the sizes {}x{}", sizes[0], sizes[1]), shape_text(window));
}

/// One row or one column may be written with either block layout: what it addresses follows from its parent, and
/// placement checks the alignment.
fn is_line(source: &Tile, sizes: &[i64]) -> bool {
    source.slayout == SLayout::NoneBox && source.compact != CompactMode::RowPlusOne && (sizes[0] == 1 || sizes[1] == 1)
}

fn window_extents(check: &mut Check, window: &Tile, sizes: &[i64]) {
    let given = [check.has("valid_row"), check.has("valid_col")];
    check.require(given[0] == given[1], FORM, format_args!("both valid extents or none"), "one");
    let sides = [("valid_row", window.valid_rows, sizes[0]), ("valid_col", window.valid_cols, sizes[1])];
    for (operand, of_type, size) in sides {
        let open = of_type.is_none() && !check.has(operand);
        check.require(!open, FORM, format_args!("operand {operand} because the type says '?'"), "none");
        let Some(valid) = check.constant(operand) else { continue };
        check.require((0..=size).contains(&valid), VALID, format_args!("{operand} from 0 to {size}"), valid);
        let expected = format_args!("the result's type to say {valid} or '?' for {operand}");
        check.require(may_equal(of_type, Some(valid)), VALID, expected, Extent(of_type));
    }
}

/// `set_validshape`: a tile whose type leaves an extent open, and is not a window.
pub fn set_validshape(check: &mut Check) {
    let Some(source) = check.tile("source") else { return };
    let open = source.valid_rows.is_none() || source.valid_cols.is_none();
    check.require(open, VALID, format_args!("{source} with a valid extent '?' in its type"), valid_text(&source));
    for (operand, extent) in [("valid_row", source.rows), ("valid_col", source.cols)] {
        if let Some(valid) = check.constant(operand) {
            check.require((0..=extent).contains(&valid), VALID, format_args!("{operand} from 0 to {extent}"), valid);
        }
    }
    let maker = defining_op(source.value).map_or("", op_name);
    let is_window = maker == "pto.subview";
    check.require(!is_window, FORM, format_args!("{source} to be a tile of its own"), "a window");
    // What flows in is a copy of the handle: whoever has the other copy would not see the new extents.
    let made_here = maker.starts_with("pto.");
    check.require(made_here, FORM, format_args!("{source} to be made by an operation on tiles"), "a value handed on");
    check.help(!is_window, "give the window its valid extents where it is made: pto.subview ... sizes [..] valid [..]");
}

/// `treshape`, `bitcast`: the same bytes of the same memory under another type.
pub fn tile_cast(check: &mut Check) {
    let (Some(src), Some(result)) = (check.tile("src"), check.op.result()) else { return };
    let Some(cast) = Tile::of_value(result) else { return };
    let label = label(result);
    let expected = format_args!("{label} in {} as {src} is", src.space.name());
    check.require(cast.space == src.space, SPACE, expected, cast.space.name());
    let (had, has) = (src.storage_bytes(), cast.storage_bytes());
    check.require(had == has, SHAPE, format_args!("{label} of {had} bytes as {src} is"), format_args!("{has} bytes"));
    tile_layout(check, &cast, &label);
    let boxed = |tile: &Tile| tile.slayout != SLayout::NoneBox;
    let expected = format_args!("{label} in boxes exactly when {src} is");
    check.require(boxed(&cast) == boxed(&src), LAYOUT, expected, layout_text(&cast));
    if check.op.is("bitcast") {
        let holds = (cast.rows, cast.cols, cast.blayout) == (src.rows, src.cols, src.blayout);
        check.require(
            holds,
            SHAPE,
            format_args!("{label} with the shape {} of {src}", shape_text(&src)),
            shape_text(&cast),
        );
        let ty = src.value.r#type();
        check.require(
            result.r#type() != ty,
            ELEMENT,
            format_args!("another element type than {src} holds"),
            "the same",
        );
    }
}
