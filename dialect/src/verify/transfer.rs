//! Transfers: global memory to tiles and back, tiles to tiles, parts of tiles.

use super::{
    check::{Check, Named, shape_text},
    codes::{BOUNDS, ELEMENT, FORM, SHAPE, SPACE, VALUE},
    elementwise::same_shape,
};
use crate::{element::Element, tile::Space, types::View};

/// `tload`, `tprefetch`: into vec or mat, elements of one size.
pub fn tload(check: &mut Check) {
    let (Some(src), Some(dst)) = (check.view("src"), check.tile("dst")) else { return };
    for (dim, extent) in src.shape.iter().enumerate() {
        if let Some(extent) = *extent {
            check.require(extent > 0, SHAPE, format_args!("dimension {dim} of src above 0"), extent);
        }
    }
    let holds = matches!(dst.space, Space::Vec | Space::Mat);
    check.require(holds, SPACE, format_args!("{dst} in vec or mat"), dst.space.name());
    same_size(check, &dst, src.element, "src");
}

/// `tstore`: from vec, mat or acc; as many elements as the window has; conversion only from acc.
pub fn tstore(check: &mut Check) {
    let (Some(src), Some(dst)) = (check.tile("src"), check.view("dst")) else { return };
    let holds = matches!(src.space, Space::Vec | Space::Mat | Space::Acc);
    check.require(holds, SPACE, format_args!("{src} in vec, mat or acc"), src.space.name());
    conversion(check, &src);
    if check.has("fp") {
        let plain = !check.differs("stPhase", "unspecified");
        check.require(plain, VALUE, format_args!("stPhase unspecified with fp"), "another");
    } else {
        same_count(check, &src, &dst);
    }
    if src.space == Space::Acc {
        let holds = matches!(src.element, Element::I32 | Element::F32);
        check.require(holds, ELEMENT, format_args!("{src} to hold i32 or f32"), src.element.name());
    } else {
        same_size(check, &src, dst.element, "dst");
    }
}

/// The window has as many elements as the tile's valid region, where both are known and not empty.
fn same_count(check: &mut Check, src: &Named, dst: &View) {
    let window = dst.shape.iter().try_fold(1i64, |product, extent| product.checked_mul((*extent)?));
    let valid = src.valid_rows.zip(src.valid_cols).and_then(|(rows, cols)| rows.checked_mul(cols));
    if let (Some(window), Some(valid)) = (window, valid)
        && window > 0
        && valid > 0
    {
        check.require(window == valid, SHAPE, format_args!("a window of the {valid} valid elements of {src}"), window);
    }
}

fn same_size(check: &mut Check, tile: &Named, element: Element, other: &str) {
    let (had, wanted) = (tile.element.bytes(), element.bytes());
    let expected = format_args!("{tile} to hold elements of {wanted} bytes as {other} does");
    check.require(had == wanted, ELEMENT, expected, format_args!("{had} bytes ({})", tile.element.name()));
}

/// Conversion on the way out of acc: by a vector or a scalar, perhaps with relu.
fn conversion(check: &mut Check, src: &Named) {
    let (fp, scalar) = (check.tile("fp"), check.has("preQuantScalar"));
    check.require(fp.is_none() || !scalar, FORM, format_args!("fp or preQuantScalar"), "both");
    if let Some(fp) = fp {
        check.require(fp.space == Space::Scaling, SPACE, format_args!("{fp} in scaling"), fp.space.name());
    }
    let relu = check.differs("reluPreMode", "no_relu");
    if relu {
        let holds = !check.differs("reluPreMode", "normal_relu");
        check.require(holds, VALUE, format_args!("reluPreMode no_relu or normal_relu"), "another");
    }
    if fp.is_some() || scalar || relu {
        let expected = format_args!("{src} in acc with fp, preQuantScalar or reluPreMode");
        check.require(src.space == Space::Acc, SPACE, expected, src.space.name());
    }
    if fp.is_some() || scalar {
        let holds = matches!(src.element, Element::I32 | Element::F32);
        check.require(holds, ELEMENT, format_args!("{src} to hold i32 or f32"), src.element.name());
    }
}

/// `accToVecMode` belongs to acc to vec; with fp or a scalar, one vector core receives.
fn acc_to_vec(check: &mut Check, src: &Named, dst: &Named) {
    let Some(mode) = check.op.enum_text("accToVecMode") else { return };
    let holds = (src.space, dst.space) == (Space::Acc, Space::Vec);
    let got = format_args!("{} to {}", src.space.name(), dst.space.name());
    check.require(holds, SPACE, format_args!("acc to vec with accToVecMode"), got);
    if check.has("fp") || check.has("preQuantScalar") {
        let single = mode.starts_with("single_");
        check.require(single, VALUE, format_args!("accToVecMode for one vector core with fp or preQuantScalar"), mode);
    }
}

/// `tmov`: whole tiles; which pairs of memories exist depends on the target.
pub fn tmov(check: &mut Check) {
    let (Some(src), Some(dst)) = (check.tile("src"), check.tile("dst")) else { return };
    let third = check.tile("fp");
    if third.is_some_and(|tile| tile.space != Space::Scaling) {
        return scratch_form(check, &src, &dst);
    }
    let regroups = check.op.enum_text("grpAxis").is_none();
    check.require(regroups, FORM, format_args!("a scratch tile with grpAxis"), "none");
    conversion(check, &src);
    acc_to_vec(check, &src, &dst);
    match (src.space, dst.space) {
        (Space::Mat, Space::Bias) => line(check, &src, &dst, 64),
        (Space::Mat, Space::Scaling) => line(check, &src, &dst, 128),
        (Space::Vec, Space::Vec) => same_size(check, &dst, src.element, "src"),
        (Space::Mat, _) => same_shape(check, &dst, &src),
        _ => {}
    }
}

/// The X-to-ZZ form: all three in vec, all different, one element type of one byte.
fn scratch_form(check: &mut Check, src: &Named, dst: &Named) {
    let Some(tmp) = check.tile("fp") else { return };
    for tile in [src, dst, &tmp] {
        check.require(
            tile.space == Space::Vec,
            SPACE,
            format_args!("{tile} in vec, or fp in scaling"),
            tile.space.name(),
        );
        let holds = tile.element == src.element && tile.element.bytes() == 1;
        check.require(holds, ELEMENT, format_args!("{tile} to hold one type of one byte"), tile.element.name());
    }
    let distinct = src.value != dst.value && src.value != tmp.value && dst.value != tmp.value;
    check.require(distinct, FORM, format_args!("three different tiles"), "one twice");
}

/// A line of whole units of the bias table or the fixpipe buffer.
fn line(check: &mut Check, src: &Named, dst: &Named, unit: u64) {
    same_shape(check, dst, src);
    check.require(src.rows == 1, SHAPE, format_args!("{src} of 1 row"), src.rows);
    let bytes = (src.cols as u64).saturating_mul(src.element.bytes());
    let expected = format_args!("{src} of a multiple of {unit} bytes");
    check.require(bytes.is_multiple_of(unit), SHAPE, expected, format_args!("{bytes} bytes"));
}

/// `textract`: a part of src, as large as dst.
pub fn textract(check: &mut Check) {
    let (Some(src), Some(dst)) = (check.tile("src"), check.tile("dst")) else { return };
    part_inside(check, &dst, &src);
    part_elements(check, &src, &dst);
}

/// `tinsert`: a part of dst, as large as src.
pub fn tinsert(check: &mut Check) {
    let (Some(src), Some(dst)) = (check.tile("src"), check.tile("dst")) else { return };
    part_inside(check, &src, &dst);
    part_elements(check, &src, &dst);
}

/// Rows and columns of the part, from the index on, inside the whole.
fn part_inside(check: &mut Check, part: &Named, whole: &Named) {
    for (operand, size, extent) in [("indexRow", part.rows, whole.rows), ("indexCol", part.cols, whole.cols)] {
        let Some(index) = check.constant(operand) else { continue };
        let holds = index >= 0 && index.checked_add(size).is_some_and(|end| end <= extent);
        let expected = format_args!("{part} inside {whole} of shape {}", shape_text(whole));
        check.require(holds, BOUNDS, expected, format_args!("{operand} {index} and size {size}"));
    }
}

fn part_elements(check: &mut Check, src: &Named, dst: &Named) {
    conversion(check, src);
    acc_to_vec(check, src, dst);
    if src.space != Space::Acc {
        let expected = format_args!("{dst} to hold {} as {src} does", src.element.name());
        check.require(src.element == dst.element, ELEMENT, expected, dst.element.name());
    }
}
