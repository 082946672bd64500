//! Transfers: which memories are connected, in which layouts, with which conversions on the way.

use super::{
    codes::{ATTRIBUTE, ELEMENT, LAYOUT, LIMIT, SHAPE, SPACE, UNKNOWN},
    subject::{Named, Subject},
};
use melior::ir::operation::OperationLike;
use pto_dialect::{BLayout, Element, Op, PadValue, SLayout, Space, Tile, View, diagnostics};

/// `tload`, `tprefetch`.
pub fn tload(subject: &mut Subject) {
    let (Some(src), Some(dst)) = (subject.view("src"), subject.tile("dst")) else { return };
    let padding = ["pad_value", "left_padding_num", "right_padding_num", "init_condition"];
    let given = padding.into_iter().find(|operand| subject.has(operand));
    let mode = subject.op.enum_text("pad_mode").filter(|mode| *mode != "PadNull").map(|_| "pad_mode");
    if let Some(what) = given.or(mode) {
        let message = format!("'pto.tload' op {what} has no effect: TLOAD pads as the type of {dst} says");
        diagnostics::warning(subject.op.raw.location(), UNKNOWN, message).emit();
    }
    let legal = super::legal_elements(subject);
    let expected = format_args!("src to hold one of {legal} on {}", subject.device.name);
    subject.require(src.element.is_in(legal), ELEMENT, expected, src.element.name());
    load_extent(subject, &src, &dst);
    if subject.is_a3() {
        return;
    }
    if dst.element.bytes() == 8 {
        let holds = matches!(dst.pad, PadValue::Null | PadValue::Zero);
        subject.require(holds, ATTRIBUTE, format_args!("{dst} with pad 0 or 1 for 64-bit elements"), dst.pad as i32);
    }
    if dst.space == Space::Vec {
        vec_layout(subject, &dst);
    }
}

/// One burst for each row (or column) of the window; the engine counts them in few bits.
fn load_extent(subject: &mut Subject, src: &View, dst: &Named) {
    let Some(limits) = subject.device.limits.as_ref() else { return };
    let from_end = if dst.is_rows() || dst.space == Space::Mat { 2 } else { 1 };
    let Some(bursts) = src.shape.len().checked_sub(from_end).and_then(|dim| src.shape[dim]) else { return };
    let limit = match dst.space {
        Space::Mat => limits.mat_rows,
        _ if subject.is_a3() && dst.slayout == SLayout::NoneBox => limits.vec_rows,
        _ => return,
    };
    let expected = format_args!("at most {limit} rows in one transfer to {dst}");
    subject.require(bursts <= limit, LIMIT, expected, bursts);
}

/// Rows or columns without boxes, or column-major blocks of row-major boxes.
fn vec_layout(subject: &mut Subject, tile: &Named) {
    let holds = tile.slayout == SLayout::NoneBox || tile.is_nz();
    let expected = format_args!("{tile} in rows, in columns, or in col_major blocks of row_major boxes");
    subject.require(holds, LAYOUT, expected, tile.layout_text());
}

/// `tstore`.
pub fn tstore(subject: &mut Subject) {
    let (Some(src), Some(dst)) = (subject.tile("src"), subject.view("dst")) else { return };
    if src.space == Space::Acc {
        return store_acc(subject, &src, &dst);
    }
    if !subject.is_a3() {
        let holds = src.space != Space::Mat;
        let expected = format_args!("{src} in vec or acc on {}", subject.device.name);
        subject.require(holds, SPACE, expected, src.space.name());
        if src.rows != 1 && src.cols != 1 && src.space == Space::Vec {
            vec_layout(subject, &src);
        }
    }
}

fn store_acc(subject: &mut Subject, src: &Named, dst: &View) {
    let to = match (subject.has("preQuantScalar"), subject.has("fp")) {
        (false, false) => Some("i32 f32 f16 bf16"),
        (true, _) => scalar_conversions(subject.is_a3(), src.element),
        _ => None,
    };
    if let Some(to) = to {
        let expected = format_args!("a view of one of {to}, to which {src} is converted on {}", subject.device.name);
        subject.require(dst.element.is_in(to), ELEMENT, expected, dst.element.name());
    }
    let Some(limits) = subject.device.limits.as_ref().filter(|_| subject.is_a3()) else { return };
    let cols = limits.acc_cols;
    subject.require(src.cols <= cols, LIMIT, format_args!("{src} of at most {cols} columns"), src.cols);
}

/// What the store converts to with a scalar.
fn scalar_conversions(is_a3: bool, from: Element) -> Option<&'static str> {
    match (from, is_a3) {
        (Element::I32, true) => Some("i8 f16"),
        (Element::F32, true) => Some("i8"),
        (Element::I32, false) => Some("i8 f16 bf16"),
        (Element::F32, false) => Some("i8 f16 bf16 f32 hif8 f8e4m3"),
        _ => None,
    }
}

fn connected(subject: &mut Subject, src: &Named, dst: &Named, pairs: &[(Space, Space)]) -> bool {
    let to = if dst.is_scaling() { Space::Scaling } else { dst.space };
    let got = format_args!("{} to {}", src.space.name(), dst.space.name());
    let text: Vec<_> = pairs.iter().map(|(from, to)| format!("{} to {}", from.name(), to.name())).collect();
    let expected = format_args!("a transfer that {} has ({})", subject.device.name, text.join(", "));
    subject.require(pairs.contains(&(src.space, to)), SPACE, expected, got)
}

fn in_nz(subject: &mut Subject, tile: &Named) {
    let expected = format_args!("{tile} in col_major blocks of row_major boxes");
    subject.require(tile.is_nz(), LAYOUT, expected, tile.layout_text());
}

const A3_MOVES: &[(Space, Space)] = &[
    (Space::Mat, Space::Left),
    (Space::Mat, Space::Right),
    (Space::Mat, Space::Bias),
    (Space::Mat, Space::Scaling),
    (Space::Vec, Space::Vec),
    (Space::Acc, Space::Mat),
];

const A5_MOVES: &[(Space, Space)] = &[
    (Space::Mat, Space::Left),
    (Space::Mat, Space::Right),
    (Space::Mat, Space::Bias),
    (Space::Mat, Space::Scaling),
    (Space::Vec, Space::Vec),
    (Space::Vec, Space::Mat),
    (Space::Acc, Space::Mat),
    (Space::Acc, Space::Vec),
];

/// `tmov`.
pub fn tmov(subject: &mut Subject) {
    let (Some(src), Some(dst)) = (subject.tile("src"), subject.tile("dst")) else { return };
    if subject.tile("fp").is_some_and(|third| !third.is_scaling()) {
        return regroup(subject, &src, &dst);
    }
    let pairs = if subject.is_a3() { A3_MOVES } else { A5_MOVES };
    if !connected(subject, &src, &dst, pairs) {
        return;
    }
    if dst.is_scaling() {
        let legal = if subject.is_a3() { "i64" } else { "i64 f8e8m0" };
        let expected = format_args!("{dst} to hold {legal}");
        subject.require(dst.element.is_in(legal), ELEMENT, expected, dst.element.name());
    }
    if subject.is_a3() {
        let same = (src.rows, src.cols) == (dst.rows, dst.cols);
        subject.require(same, SHAPE, format_args!("{dst} of shape {} as {src} is", src.shape_text()), dst.shape_text());
    }
    if src.space == Space::Mat && is_strided_window(subject) {
        let expected = format_args!("{src} to be a whole tile; pto.textract takes a window out of one");
        subject.require(false, SHAPE, expected, "a window with its parent's strides");
    }
    if src.space == Space::Acc {
        move_acc(subject, &src, &dst);
    }
}

/// Whether `src` is a window whose C++ object has its parent's shape: the library moves whole shapes.
fn is_strided_window(subject: &Subject) -> bool {
    let window = subject.op.operand("src").and_then(Op::defining).filter(|op| op.is("subview"));
    let tiles = window.and_then(|op| Some((Tile::of_value(op.operand("source")?)?, Tile::of_value(op.result()?)?)));
    tiles.is_some_and(|(parent, window)| parent.strides() != window.strides())
}

fn move_acc(subject: &mut Subject, src: &Named, dst: &Named) {
    let converts = subject.has("fp") || subject.op.enum_text("reluPreMode").is_some_and(|mode| mode != "no_relu");
    if converts {
        in_nz(subject, src);
    }
    if subject.is_a3() {
        in_nz(subject, dst);
        subject.require(dst.fractal == 512, LAYOUT, format_args!("{dst} with fractal=512"), dst.fractal);
    }
}

/// The X-to-ZZ form: A5 only, from rows to row-major blocks of row-major boxes.
fn regroup(subject: &mut Subject, src: &Named, dst: &Named) {
    let name = &subject.device.name;
    if !subject.require(!subject.is_a3(), ATTRIBUTE, format_args!("no scratch tile on {name}"), "one") {
        return;
    }
    subject.require(src.is_rows(), LAYOUT, format_args!("{src} in rows without boxes"), src.layout_text());
    let zz = dst.layout() == (BLayout::RowMajor, SLayout::RowMajor);
    subject.require(zz, LAYOUT, format_args!("{dst} in row_major blocks of row_major boxes"), dst.layout_text());
    let holds = src.element.is_in("hif8 f8e8m0") || src.element == Element::U8;
    subject.require(holds, ELEMENT, format_args!("{src} to hold ui8, hif8 or f8e8m0"), src.element.name());
}

const A3_PARTS: &[(Space, Space)] =
    &[(Space::Mat, Space::Left), (Space::Mat, Space::Right), (Space::Vec, Space::Vec), (Space::Acc, Space::Mat)];

const A5_EXTRACTS: &[(Space, Space)] = &[
    (Space::Mat, Space::Left),
    (Space::Mat, Space::Right),
    (Space::Mat, Space::Scaling),
    (Space::Vec, Space::Mat),
    (Space::Vec, Space::Vec),
    (Space::Acc, Space::Mat),
    (Space::Acc, Space::Vec),
];

/// `textract`.
pub fn textract(subject: &mut Subject) {
    let (Some(src), Some(dst)) = (subject.tile("src"), subject.tile("dst")) else { return };
    let pairs = if subject.is_a3() { A3_PARTS } else { A5_EXTRACTS };
    if !connected(subject, &src, &dst, pairs) {
        return;
    }
    match (src.space, dst.space) {
        (Space::Mat, _) => extract_mat(subject, &src, &dst),
        (Space::Acc, _) => part_of_acc(subject, &src, &dst),
        (Space::Vec, Space::Vec) => same_layout(subject, &src, &dst),
        _ => {}
    }
}

/// Boxes in src one way or the other (or a single row), and the operand's own layout in left and right.
fn extract_mat(subject: &mut Subject, src: &Named, dst: &Named) {
    if !dst.is_scaling() {
        let line = src.blayout == BLayout::RowMajor && (src.rows == 1 || dst.space == Space::Left);
        let expected = format_args!("{src} in col_major blocks of row_major boxes, or the other way round");
        subject.require(src.is_nz() || src.is_zn() || line, LAYOUT, expected, src.layout_text());
    }
    if subject.is_a3() {
        let holds = src.element.is_in("i8 f16 bf16 f32");
        subject.require(holds, ELEMENT, format_args!("{src} to hold i8, f16, bf16 or f32"), src.element.name());
    }
    match dst.space {
        Space::Left => {
            // A2/A3 extracts into row_major blocks only; elsewhere `pto-legalize-tiles` has settled the blocks.
            let holds = dst.slayout == SLayout::RowMajor && (!subject.is_a3() || dst.blayout == BLayout::RowMajor);
            subject.require(
                holds,
                LAYOUT,
                format_args!("{dst} in row_major blocks of row_major boxes"),
                dst.layout_text(),
            );
        }
        Space::Right => {
            let expected = format_args!("{dst} in row_major blocks of col_major boxes");
            subject.require(dst.is_zn(), LAYOUT, expected, dst.layout_text());
        }
        _ => {}
    }
}

/// Out of acc: its own layout, the receiver's, and the conversion.
fn part_of_acc(subject: &mut Subject, src: &Named, dst: &Named) {
    in_nz(subject, src);
    if dst.space == Space::Mat {
        in_nz(subject, dst);
        let fractal = !subject.is_a3() || dst.fractal == 512;
        subject.require(fractal, LAYOUT, format_args!("{dst} with fractal=512"), dst.fractal);
    } else {
        let holds = dst.is_rows() || (subject.op.is("tinsert") && dst.is_nz());
        subject.require(holds, LAYOUT, format_args!("{dst} in rows without boxes"), dst.layout_text());
    }
    let quantises = subject.has("fp") || subject.has("preQuantScalar");
    let to = match (subject.is_a3(), quantises, src.element) {
        (true, false, Element::F32) => "f16 bf16",
        (true, true, Element::F32) => "i8",
        (true, true, Element::I32) => "i8 i16 f16",
        (false, false, Element::F32) => "f16 bf16 f32",
        (false, false, Element::I32) => "i32",
        (false, true, Element::F32) => "i8 f8e4m3 f8e5m2 hif8 f16 bf16 f32",
        (false, true, Element::I32) => "i8 f16 bf16",
        _ => "",
    };
    let expected = format_args!("{dst} to hold what {} becomes in this form ({to})", src.element.name());
    subject.require(dst.element.is_in(to), ELEMENT, expected, dst.element.name());
}

/// Between vec tiles: both without boxes or both in boxes of one kind.
fn same_layout(subject: &mut Subject, src: &Named, dst: &Named) {
    let holds = src.layout() == dst.layout();
    subject.require(
        holds,
        LAYOUT,
        format_args!("{dst} in the layout of {src}, {}", src.layout_text()),
        dst.layout_text(),
    );
}

const A3_INSERTS: &[(Space, Space)] = &[(Space::Vec, Space::Vec), (Space::Acc, Space::Mat)];

const A5_INSERTS: &[(Space, Space)] =
    &[(Space::Vec, Space::Vec), (Space::Vec, Space::Mat), (Space::Acc, Space::Mat), (Space::Acc, Space::Vec)];

/// `tinsert`.
pub fn tinsert(subject: &mut Subject) {
    let (Some(src), Some(dst)) = (subject.tile("src"), subject.tile("dst")) else { return };
    let pairs = if subject.is_a3() { A3_INSERTS } else { A5_INSERTS };
    if !connected(subject, &src, &dst, pairs) {
        return;
    }
    if let Some(mode) = subject.op.enum_text("tinsertMode") {
        let holds = !subject.is_a3() && dst.space == Space::Mat && src.space == Space::Vec && src.is_nz();
        subject.require(holds, ATTRIBUTE, format_args!("tinsertMode only from boxes in vec to mat, on A5"), mode);
    }
    match (src.space, dst.space) {
        (Space::Acc, _) => part_of_acc(subject, &src, &dst),
        (Space::Vec, Space::Mat) => {
            in_nz(subject, &dst);
            let holds = src.is_rows() || src.is_nz();
            let expected = format_args!("{src} in rows, or in col_major blocks of row_major boxes");
            subject.require(holds, LAYOUT, expected, src.layout_text());
        }
        _ => same_layout(subject, &src, &dst),
    }
}
