//! Sequences, triangles, random numbers, histograms, combinations of tiles of different extents, scalar access,
//! printing, and intrinsics that touch no data.

use super::gather::{check_window, keep_apart, read_flat, scratch_holds, write_flat};
use super::{
    Apart, Ctx, Done, Fault, Global, GlobalRun, On, Op, Operand, Pipe, Space, Tile, Window, illegal, scalar, vector,
};
use crate::Arch;
use crate::npu::abi::{BoxLayout, Instr, Slot};
use crate::npu::element::{Element, Lane};

/// The instructions.
pub const OPS: &[Op] = &[
    Op { name: "TCI", on: On::By(sequence_pipe), run: sequence },
    vector("TTRI", triangle),
    vector("THISTOGRAM", histogram),
    vector("TRANDOM", random),
    vector("TPARTADD", |c| part(c, |a, b| a + b, |_, a, b| a.wrapping_add(b))),
    vector("TPARTMUL", |c| part(c, |a, b| a * b, |_, a, b| a.wrapping_mul(b))),
    vector("TPARTMAX", |c| part(c, |a, b| if a < b { b } else { a }, |e, a, b| if below(e, a, b) { b } else { a })),
    vector("TPARTMIN", |c| part(c, |a, b| if b < a { b } else { a }, |e, a, b| if below(e, b, a) { b } else { a })),
    vector("TPARTARGMAX", |c| part_arg(c, |a, b| a > b)),
    vector("TPARTARGMIN", |c| part_arg(c, |a, b| a < b)),
    // The library waits for all pipes before it prints.
    Op { name: "TPRINT", on: On::Pipe(Pipe::All), run: print },
    scalar("printf", print_text),
    scalar("GetValue", get_value),
    scalar("SetValue", set_value),
    scalar("dcci", nothing),
    scalar("dsb", nothing),
    scalar("set_mask_norm", nothing),
    scalar("set_mask_count", nothing),
    scalar("set_vector_mask", nothing),
    scalar("set_atomic_none", nothing),
    scalar("set_ctrl", nothing),
    scalar("get_ctrl", nothing),
    scalar("trap", |_| Err(illegal("trap reached"))),
];

/// Operands that may not share bytes.
pub const APART: &[Apart] = &[("TCI", &[(0, 2)], true), ("THISTOGRAM", &[(0, 1), (0, 2)], false)];

/// Data is coherent here, and instructions take what masks and modes say from their operands.
fn nothing(_: &mut Ctx) -> Done {
    Ok(())
}

/// a < b as values of a type, for lanes that may hold the bits of a u64.
fn below(element: Element, a: i64, b: i64) -> bool {
    if element == Element::U64 { (a as u64) < (b as u64) } else { a < b }
}

// ---- sequences ---------------------------------------------------------------------------------------------------

/// With scratch it is made of vector instructions, else the scalar unit counts.
fn sequence_pipe(instr: &Instr, _: Arch) -> Pipe {
    match instr.operands.get(2) {
        Some(Operand::Tile(_)) => Pipe::V,
        _ => Pipe::S,
    }
}

/// dst = start, start + 1, ..., or downwards.
///
/// A3 with scratch counts up and negates, so that downwards gives -start, -start - 1, ...
fn sequence(ctx: &mut Ctx) -> Done {
    let dst = ctx.tile(0)?;
    let tmp = ctx.tile_if(2);
    let down = ctx.int(ctx.count().saturating_sub(1))? != 0;
    if dst.rows != 1 || !matches!(dst.element.bits(), 16 | 32) {
        return Err(illegal(format!(
            "TCI needs one row of elements of 16 or 32 bits, found {} x {} of type {}",
            dst.rows,
            dst.cols,
            dst.element.name()
        )));
    }
    let line = Window { row: 0, col: 0, rows: 1, cols: dst.valid_cols };
    check_window(ctx, dst, line)?;
    let mut negated = false;
    if let (Some(tmp), Arch::A3) = (tmp, ctx.arch) {
        if dst.element.is_float() {
            return Err(illegal("TCI with scratch makes integers on this target"));
        }
        scratch_holds(ctx, tmp, if dst.element.bits() == 32 { 768 } else { 1792 });
        ctx.clobber(tmp)?;
        negated = down;
    }
    if dst.element.is_float() {
        let (start, sign) = (ctx.float(1)?, if down { -1.0 } else { 1.0 });
        let values: Vec<f64> = (0..dst.valid_cols).map(|i| start + sign * i as f64).collect();
        ctx.write_window(dst, line, dst.element, &values)
    } else {
        let start = ctx.int(1)?;
        let start = if negated { start.wrapping_neg() } else { start };
        let sign = if down { -1 } else { 1 };
        let values: Vec<i64> = (0..dst.valid_cols as i64).map(|i| start.wrapping_add(sign * i)).collect();
        ctx.write_window(dst, line, dst.element, &values)
    }
}

/// Ones up to the diagonal and zeros behind it (lower), or zeros before the diagonal and ones from it on (upper).
fn triangle(ctx: &mut Ctx) -> Done {
    let dst = ctx.tile(0)?;
    let (diagonal, upper) = (ctx.int(1)?, ctx.int(2)? != 0);
    check_window(ctx, dst, dst.valid())?;
    let cells = (0..dst.valid_rows as i64).flat_map(|r| (0..dst.valid_cols as i64).map(move |c| (r, c)));
    let values: Vec<i64> = cells
        .map(|(r, c)| {
            let edge = r.saturating_add(diagonal);
            i64::from(if upper { c >= edge } else { c <= edge })
        })
        .collect();
    ctx.write(dst, &values)
}

/// Running counts of one byte of the values of each row: bin b counts the values up to b whose greater bytes are
/// those of `index` (of 16-bit values one for each row, of 32-bit values one row for each byte, greatest first).
fn histogram(ctx: &mut Ctx) -> Done {
    const BINS: usize = 256;
    let (dst, src, index) = (ctx.tile(0)?, ctx.tile(1)?, ctx.tile(2)?);
    let byte = ctx.flag("HistByte").unwrap_or(0) as usize;
    let bytes = match src.element {
        Element::U16 => 2,
        Element::U32 => 4,
        other => return Err(illegal(format!("THISTOGRAM counts values of type u16 or u32, found {}", other.name()))),
    };
    if byte >= bytes || dst.element != Element::U32 || index.element != Element::U8 {
        return Err(illegal(format!(
            "THISTOGRAM counts a byte of its values (found byte {byte}) into u32 (found {}) by indices of type u8 \
             (found {})",
            dst.element.name(),
            index.element.name()
        )));
    }
    let rows = src.valid_rows;
    if dst.valid_cols < BINS || (rows > 1 && dst.cols != BINS) {
        return Err(illegal(format!(
            "THISTOGRAM needs dst of 256 valid columns, and no more in several rows, found {} of {}",
            dst.valid_cols, dst.cols
        )));
    }
    let values: Vec<i64> = ctx.read_window(src, src.valid(), src.element)?;
    let greater = bytes - 1 - byte;
    let column = |rows: usize| Window { row: 0, col: 0, rows, cols: 1 };
    let filters: Vec<i64> = match (bytes, greater) {
        (_, 0) => Vec::new(),
        (2, _) => ctx.read_window(index, column(rows), Element::U8)?,
        _ => ctx.read_window(index, column(greater), Element::U8)?,
    };
    let mut counts = vec![0i64; rows * BINS];
    for (row, bins) in counts.chunks_exact_mut(BINS).enumerate() {
        let wanted = if bytes == 2 && greater > 0 { &filters[row..=row] } else { &filters[..] };
        let prefix = wanted.iter().fold(0, |p, f| p << 8 | f);
        for value in &values[row * src.valid_cols..(row + 1) * src.valid_cols] {
            let top = if greater == 0 { 0 } else { value >> (8 * (byte + 1)) };
            if top == prefix {
                bins[(value >> (8 * byte)) as usize & 0xff] += 1;
            }
        }
        let mut sum = 0;
        bins.iter_mut().for_each(|bin| {
            sum += *bin;
            *bin = sum;
        });
    }
    ctx.write_window(dst, Window { row: 0, col: 0, rows, cols: BINS }, dst.element, &counts)
}

/// Philox with four words of counter and two of key.
fn philox(mut counter: [u32; 4], mut key: [u32; 2], rounds: i64) -> [u32; 4] {
    let product = |a: u32, b: u32| {
        let wide = u64::from(a) * u64::from(b);
        ((wide >> 32) as u32, wide as u32)
    };
    for _ in 0..rounds {
        let (high0, low0) = product(counter[0], 0xd251_1f53);
        let (high1, low1) = product(counter[2], 0xcd9e_8d57);
        counter = [high1 ^ counter[1] ^ key[0], low1, high0 ^ counter[3] ^ key[1], low0];
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
    }
    counter
}

/// Four random words for each value of a 128-bit counter, one after another along a row.
///
/// The device interleaves the words like this and steps the counter by what it has stored; the vendor's simulator
/// keeps the four words of a counter 64 elements apart and steps by the row stride.
fn random(ctx: &mut Ctx) -> Done {
    /// Counters of one load of the vector unit.
    const LANES: usize = 64;
    let dst = ctx.tile(0)?;
    let rounds = ctx.int(3)?;
    if !matches!(dst.element, Element::I32 | Element::U32) || !matches!(rounds, 7 | 10) {
        return Err(illegal(format!(
            "TRANDOM makes values of type i32 or u32 in 7 or 10 rounds, found {} and {rounds}",
            dst.element.name()
        )));
    }
    check_window(ctx, dst, dst.valid())?;
    let words = |operand: usize, count: usize| match ctx.operand(operand) {
        Operand::Memory(slot, size) if *size >= count * 4 => {
            let bytes = slot.load(count * 4);
            let word = |w: &[u8]| u32::from_le_bytes(w.try_into().expect("four bytes"));
            Ok(bytes.chunks_exact(4).map(word).collect::<Vec<u32>>())
        }
        other => Err(illegal(format!("TRANDOM needs {count} words in memory, found {other:?}"))),
    };
    let (Ok(key), Ok(start)) = (<[u32; 2]>::try_from(words(1, 2)?), <[u32; 4]>::try_from(words(2, 4)?)) else {
        return Err(illegal("TRANDOM needs a key and a counter"));
    };
    let mut counter = start.iter().rev().fold(0u128, |c, &w| c << 32 | u128::from(w));
    let cols = dst.valid_cols;
    let mut values = Vec::with_capacity(dst.valid_rows * cols);
    for _ in 0..dst.valid_rows {
        for first in (0..cols).step_by(4 * LANES) {
            for lane in 0..(cols - first).div_ceil(4).min(LANES) {
                let now = counter.wrapping_add(lane as u128);
                let words = philox([0, 32, 64, 96].map(|shift| (now >> shift) as u32), key, rounds);
                let left = (cols - first - 4 * lane).min(4);
                values.extend(words[..left].iter().map(|&w| i64::from(w)));
            }
            let last = first + 4 * LANES >= cols;
            let step = if last { (cols - 1) % LANES + 1 } else { LANES };
            counter = counter.wrapping_add(step as u128);
        }
    }
    ctx.write(dst, &values)
}

// ---- tiles of different extents ----------------------------------------------------------------------------------

/// Where two sources lie in a destination: the one that covers it, the other, and whether they changed places.
struct Parts<'m> {
    large: &'m Tile,
    small: &'m Tile,
    swapped: bool,
}

/// Checks that one source covers dst and the other does not reach beyond it.
fn parts<'m>(ctx: &Ctx, dst: &Tile, a: &'m Tile, b: &'m Tile) -> Result<Parts<'m>, Fault> {
    let extent = |t: &Tile| (t.valid_rows, t.valid_cols);
    let within = |t: &Tile| t.valid_rows <= dst.valid_rows && t.valid_cols <= dst.valid_cols;
    let found = match (extent(a) == extent(dst), extent(b) == extent(dst)) {
        (true, _) if within(b) => Some(Parts { large: a, small: b, swapped: false }),
        (_, true) if within(a) => Some(Parts { large: b, small: a, swapped: true }),
        _ => None,
    };
    let [d, x, y] = [dst, a, b].map(|t| format!("{} x {}", t.valid_rows, t.valid_cols));
    found.ok_or_else(|| {
        illegal(format!(
            "{} needs one source as large as dst and none larger, found {x} and {y} valid for {d}",
            ctx.instr.name
        ))
    })
}

/// A3 copies the larger source to dst before it combines, if the smaller has fewer columns.
fn copied_first(ctx: &mut Ctx, dst: &Tile, parts: &Parts) {
    let (large, small) = (parts.large, parts.small);
    if ctx.arch == Arch::A3 && small.valid_cols < large.valid_cols && small.valid_rows > 0 && small.valid_cols > 0 {
        keep_apart(ctx, dst, small);
    }
}

/// Copies the larger source to dst bit by bit, and `each` of both elements (and their number) where the smaller source
/// is valid, as elements of a type.
fn combine<L: Lane>(
    ctx: &mut Ctx,
    dst: &Tile,
    parts: &Parts,
    element: Element,
    each: impl Fn(usize, L, L) -> L,
) -> Done {
    let both = parts.small.valid();
    let mut first: Vec<L> = ctx.read_window(parts.large, both, element)?;
    let mut second: Vec<L> = ctx.read_window(parts.small, both, element)?;
    if parts.swapped {
        std::mem::swap(&mut first, &mut second);
    }
    first.iter_mut().zip(&second).enumerate().for_each(|(i, (a, &b))| *a = each(i, *a, b));
    if both != dst.valid() {
        let bits: Vec<i64> = ctx.read_window(parts.large, dst.valid(), dst.element.raw())?;
        ctx.write_window(dst, dst.valid(), dst.element.raw(), &bits)?;
    }
    ctx.write_window(dst, both, element, &first)
}

/// dst = f(src0, src1) where both are valid, else the one that is.
fn part(ctx: &mut Ctx, float: impl Fn(f64, f64) -> f64, integer: impl Fn(Element, i64, i64) -> i64) -> Done {
    let (dst, a, b) = (ctx.tile(0)?, ctx.tile(1)?, ctx.tile(2)?);
    let parts = parts(ctx, dst, a, b)?;
    copied_first(ctx, dst, &parts);
    let element = dst.element;
    match element.is_float() {
        true => combine(ctx, dst, &parts, element, |_, x, y| float(x, y)),
        false => combine(ctx, dst, &parts, element, |_, x, y| integer(element, x, y)),
    }
}

/// As [`part`] for a value and its index: those of src0 where its value is better or equal (the vendor's simulator
/// takes those of src1 when equal), else those of src1. Where one is not a number, A3 takes src1 and A5 src0, as their
/// comparisons do.
fn part_arg(ctx: &mut Ctx, better: impl Fn(f64, f64) -> bool) -> Done {
    let (dst, a, b) = (ctx.tile(0)?, ctx.tile(1)?, ctx.tile(2)?);
    let (dst_index, a_index, b_index) = (ctx.tile(3)?, ctx.tile(4)?, ctx.tile(5)?);
    if !matches!(dst.element, Element::F32 | Element::F16) || dst_index.element.is_float() {
        return Err(illegal(format!(
            "{} needs values of type f32 or f16 and integer indices, found {} and {}",
            ctx.instr.name,
            dst.element.name(),
            dst_index.element.name()
        )));
    }
    for (value, index) in [(dst, dst_index), (a, a_index), (b, b_index)] {
        if value.valid() != index.valid() {
            return Err(illegal(format!("{} needs an index for each valid value", ctx.instr.name)));
        }
    }
    let values = parts(ctx, dst, a, b)?;
    let (large, small) = if values.swapped { (b_index, a_index) } else { (a_index, b_index) };
    let indices = Parts { large, small, swapped: values.swapped };
    copied_first(ctx, dst, &values);
    copied_first(ctx, dst_index, &indices);
    let both = values.small.valid();
    let first: Vec<f64> = ctx.read_window(a, both, a.element)?;
    let second: Vec<f64> = ctx.read_window(b, both, b.element)?;
    let a3 = ctx.arch == Arch::A3;
    let of_first = |(&x, &y): (&f64, &f64)| if a3 { better(x, y) || x == y } else { !better(y, x) };
    let takes_first: Vec<bool> = first.iter().zip(&second).map(of_first).collect();
    let pick = |i: usize, x: i64, y: i64| if takes_first[i] { x } else { y };
    combine(ctx, dst, &values, dst.element.raw(), pick)?;
    combine(ctx, dst_index, &indices, dst_index.element.raw(), pick)
}

// ---- scalar access -----------------------------------------------------------------------------------------------

/// The element type that scalar access moves: two four-bit elements move as one byte.
fn scalar_element(tile: &Tile) -> Element {
    if tile.element.bits() < 8 { Element::U8 } else { tile.element.raw() }
}

/// Answers with the element at an offset of the storage of a tile.
fn get_value(ctx: &mut Ctx) -> Done {
    let (tile, offset) = (ctx.tile(0)?, ctx.int(1)?);
    let element = scalar_element(tile);
    let value: Vec<i64> = read_flat(ctx, tile, element, &[offset])?;
    let (slot, size) = ctx.instr.result;
    let bytes = value[0].to_le_bytes();
    slot.store(&bytes[..element.storage_bytes().min(size)]);
    Ok(())
}

/// Sets the element at an offset of the storage of a tile.
fn set_value(ctx: &mut Ctx) -> Done {
    let (tile, offset) = (ctx.tile(0)?, ctx.int(1)?);
    let element = scalar_element(tile);
    match ctx.operand(2) {
        Operand::Float(value, _) => write_flat(ctx, tile, tile.element, &[offset], &[*value]),
        _ => {
            // Narrow floats arrive as their byte.
            let value = ctx.int(2)?;
            write_flat(ctx, tile, element, &[offset], &[value])
        }
    }
}

// ---- printing ----------------------------------------------------------------------------------------------------

/// Bytes that a run may print; what comes later is dropped.
const PRINT_LIMIT: usize = 16 << 20;
/// Elements that one instruction prints.
const PRINT_ELEMENTS: usize = 1 << 20;

fn say(ctx: &mut Ctx, text: &str) {
    if ctx.printed.len() + text.len() <= PRINT_LIMIT {
        ctx.printed.push_str(text);
    }
}

/// Width and precision by value of `pto::PrintFormat`.
const PRINT_FORMATS: [(usize, usize); 3] = [(8, 4), (8, 2), (10, 6)];

/// The name that the library prints for a type.
fn type_name(element: Element) -> &'static str {
    const NAMES: &[(Element, &str)] = &[
        (Element::I8, "int8"),
        (Element::U8, "uint8"),
        (Element::I16, "int16"),
        (Element::U16, "uint16"),
        (Element::I32, "int32"),
        (Element::U32, "uint32"),
        (Element::I64, "int64"),
        (Element::U64, "uint64"),
        (Element::F16, "float16"),
        (Element::BF16, "bfloat16"),
        (Element::F32, "float32"),
    ];
    NAMES.iter().find(|n| n.0 == element).map_or(element.name(), |n| n.1)
}

/// Prints values of a type as numbers of a width.
struct Printer {
    element: Element,
    width: usize,
    precision: usize,
}

impl Printer {
    fn of(ctx: &Ctx, element: Element) -> Printer {
        let format = ctx.flag("PrintFormat").unwrap_or(0) as usize;
        let (width, precision) = PRINT_FORMATS.get(format).copied().unwrap_or(PRINT_FORMATS[0]);
        Printer { element, width, precision }
    }

    /// A value given as bits.
    fn number(&self, bits: i64) -> String {
        let Printer { element, width, precision } = *self;
        let text = match element {
            Element::F64 => fixed(f64::from_bits(bits as u64), precision),
            Element::U64 => (bits as u64).to_string(),
            float if float.is_float() => fixed(float.float_of_bits(bits as u64), precision),
            integer => integer.wrap(bits).to_string(),
        };
        format!("{text:>width$}")
    }

    fn dashes(&self) -> String {
        "-".repeat(self.width)
    }
}

/// Prints a tile, padding included, or a tensor, in the form of the devices' library (the vendor's simulator prints
/// less). A tile in L1 or L0C is printed by way of a tensor that takes its image.
fn print(ctx: &mut Ctx) -> Done {
    match ctx.operand(0) {
        Operand::Tile(tile) => print_tile(ctx, tile),
        Operand::Global(global) => print_global(ctx, global),
        other => Err(illegal(format!("TPRINT prints a tile or a tensor, found {other:?}"))),
    }
}

fn print_tile(ctx: &mut Ctx, tile: &Tile) -> Done {
    let spaces: &[Space] = match ctx.arch {
        Arch::A3 => &[Space::Vec, Space::Mat, Space::Acc],
        _ => &[Space::Vec, Space::Acc],
    };
    if !spaces.contains(&tile.space) {
        return Err(illegal(format!("TPRINT cannot print a tile in {:?} on this target", tile.space)));
    }
    check_window(ctx, tile, tile.valid())?;
    check_window(ctx, tile, tile.whole())?;
    let raw = tile.element.raw();
    // Reads what is valid, and looks at the padding without a report.
    ctx.read_window::<i64>(tile, tile.valid(), raw)?;
    let end = tile.address.saturating_add(tile.bytes() as u64);
    if end > ctx.spaces.size(tile.space) as u64 {
        return Err(illegal("TPRINT prints a tile that does not lie in its memory"));
    }
    let mut stored: Vec<i64> = Vec::new();
    let memory = &ctx.spaces.bank(tile.space).bytes[tile.address as usize..];
    raw.decode(memory, 0, 1, tile.rows * tile.cols, &mut stored);
    let cells = (0..tile.rows).flat_map(|r| (0..tile.cols).map(move |c| (r, c)));
    let values: Vec<i64> = cells.map(|(r, c)| stored.get(tile.offset(r, c)).copied().unwrap_or_default()).collect();
    if let (Operand::Global(image), true) = (ctx.operand(1), tile.space != Space::Vec) {
        // L1 is copied as it is stored, L0C row by row.
        let image_values = if tile.space == Space::Mat { &stored } else { &values };
        let run = GlobalRun { start: 0, step: 1, count: values.len() };
        ctx.write_global(image, raw, &[run], image_values)?;
    }

    let layout = match (tile.row_major, tile.box_layout) {
        (true, BoxLayout::None) => "ND",
        (false, BoxLayout::None) => "DN",
        (true, BoxLayout::RowMajor) => "Zz",
        (false, BoxLayout::RowMajor) => "Nz",
        (true, BoxLayout::ColMajor) => "Zn",
        (false, BoxLayout::ColMajor) => "Nn",
    };
    let printer = Printer::of(ctx, tile.element);
    let (rows, cols, valid_rows, valid_cols) = (tile.rows, tile.cols, tile.valid_rows, tile.valid_cols);
    let mut text = format!(
        "=== [TPRINT Tile] Data Type: {}, Layout: {layout}, TileType: {:?} ===\n  Shape: [{rows}, {cols}], Valid \
         Shape: [{valid_rows}, {valid_cols}]\n",
        type_name(tile.element),
        tile.space
    );
    // A bar behind the last valid column, a line below the last valid row.
    let bar = |c: usize| if c + 1 == valid_cols && valid_cols < cols { "|" } else { "" };
    let line = |cell: &dyn Fn(usize) -> String| {
        let cells: Vec<String> = (0..cols).map(|c| cell(c) + bar(c)).collect();
        cells.join(" ") + "\n"
    };
    for row in 0..rows.min(PRINT_ELEMENTS / cols.max(1)) {
        text += &line(&|c| printer.number(values[row * cols + c]));
        if row + 1 == valid_rows && valid_rows < rows {
            text += &line(&|_| printer.dashes());
        }
    }
    say(ctx, &text);
    Ok(())
}

fn print_global(ctx: &mut Ctx, global: &Global) -> Done {
    let shape = global.shape.map(|extent| extent.max(0));
    let stride = global.stride;
    let Some(layout) = ["ND", "DN", "NZ"].get(usize::from(global.layout)) else {
        return Err(illegal("TPRINT prints tensors of layout ND, DN or NZ"));
    };
    let total = shape.iter().try_fold(1i64, |p, &e| p.checked_mul(e)).filter(|&t| t <= PRINT_ELEMENTS as i64);
    let Some(total) = total else {
        return Err(illegal(format!("TPRINT prints at most {PRINT_ELEMENTS} elements, and the tensor has more")));
    };
    if stride.iter().any(|s| s.unsigned_abs() > 1 << 32) || global.element.bits() < 8 {
        return Err(illegal("TPRINT cannot print a tensor of these strides or elements"));
    }
    let offset = |at: [i64; 5]| at.iter().zip(stride).map(|(i, s)| i * s).sum::<i64>();
    let printer = Printer::of(ctx, global.element);
    let mut text =
        format!("=== [TPRINT GlobalTensor] Data Type: {}, Layout: {layout} ===\n", type_name(global.element));
    let [n0, n1, n2, n3, n4] = shape;
    // Places of the rows of each matrix, under a title.
    let mut matrices: Vec<(String, Vec<Vec<i64>>)> = Vec::new();
    if *layout == "NZ" {
        let (height, cols) = (n2.saturating_mul(n3), n1.saturating_mul(n4));
        let rows = if total == 0 { 0 } else { height };
        text += &format!("  Logical Shape: [{height}, {cols}]\n");
        let row = |r: i64| (0..cols).map(|c| offset([0, c / n4, r / n3, r % n3, c % n4])).collect();
        matrices.push((String::new(), (0..rows).map(row).collect()));
    } else {
        text += &format!("  Shape: [{n0}, {n1}, {n2}, {n3}, {n4}]\n");
        let batches = if total == 0 { 0 } else { n0 * n1 * n2 };
        for batch in 0..batches {
            let (i0, i1, i2) = (batch / (n1 * n2), batch / n2 % n1, batch % n2);
            let row = |r: i64| (0..n4).map(|c| offset([i0, i1, i2, r, c])).collect();
            matrices.push((format!("  Batch [{i0}, {i1}, {i2}]:\n"), (0..n3).map(row).collect()));
        }
    }
    for (title, rows) in matrices {
        text += &title;
        for places in rows {
            let runs: Vec<GlobalRun> = places.iter().map(|&start| GlobalRun { start, step: 1, count: 1 }).collect();
            let values: Vec<i64> = ctx.read_global(global, global.element.raw(), &runs)?;
            let cells: Vec<String> = values.iter().map(|&v| printer.number(v)).collect();
            text += &(cells.join(" ") + "\n");
        }
    }
    say(ctx, &text);
    Ok(())
}

/// Prints text with the conversions of C, from a format and its arguments.
fn print_text(ctx: &mut Ctx) -> Done {
    let Operand::Memory(format, _) = ctx.operand(0) else {
        return Err(illegal("printf needs a format"));
    };
    let text = format_text(&format.text(), &ctx.instr.operands[1..]);
    say(ctx, &text);
    Ok(())
}

/// Largest width and precision of a conversion.
const MOST_WIDTH: usize = 1000;

/// One conversion of a format, between `%` and its letter.
#[derive(Default)]
struct Conversion {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    long: bool,
}

/// Expands a format of C. A number converts to what its conversion takes; a conversion without an argument, or one
/// that is not known, stays as it is.
fn format_text(format: &str, arguments: &[Operand]) -> String {
    let mut arguments = arguments.iter();
    let mut out = String::new();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let (conversion, letter, length) = Conversion::parse(&rest[at + 1..], &mut arguments);
        let whole = &rest[at..at + 1 + length];
        match letter {
            Some('%') => out.push('%'),
            Some(letter) if "diuxXofFeEgGcsp".contains(letter) => match arguments.next() {
                Some(argument) => out.push_str(&conversion.expand(letter, argument)),
                None => out.push_str(whole),
            },
            _ => out.push_str(whole),
        }
        rest = &rest[at + 1 + length..];
    }
    out + rest
}

/// An argument as a number of 64 bits, and the width of its type (at least that of an `int`).
fn integer_of(argument: &Operand) -> (i64, u32) {
    match argument {
        Operand::Int(value, element) => (*value, element.bits().max(32) as u32),
        Operand::Float(value, _) => (*value as i64, 64),
        Operand::Flag(flag) => (flag.value as i64, 64),
        Operand::Memory(Slot(pointer), _) => (*pointer as i64, 64),
        _ => (0, 64),
    }
}

fn float_of(argument: &Operand) -> f64 {
    match argument {
        Operand::Float(value, _) => *value,
        Operand::Int(value, Element::U64) => *value as u64 as f64,
        Operand::Int(bits, element) if element.is_float() => element.float_of_bits(*bits as u64),
        other => integer_of(other).0 as f64,
    }
}

impl Conversion {
    /// Reads a conversion; returns its letter, if there is one, and the length of it all.
    fn parse<'o>(text: &str, arguments: &mut impl Iterator<Item = &'o Operand>) -> (Conversion, Option<char>, usize) {
        let mut c = Conversion::default();
        let mut chars = text.char_indices().peekable();
        while let Some(&(_, flag)) = chars.peek() {
            match flag {
                '-' => c.left = true,
                '+' => c.plus = true,
                ' ' => c.space = true,
                '#' => c.alternate = true,
                '0' => c.zero = true,
                _ => break,
            }
            chars.next();
        }
        let mut number = |chars: &mut std::iter::Peekable<std::str::CharIndices>| {
            if chars.next_if(|c| c.1 == '*').is_some() {
                return arguments.next().map_or(0, |a| integer_of(a).0);
            }
            let mut value = 0i64;
            while let Some((_, digit)) = chars.next_if(|c| c.1.is_ascii_digit()) {
                value = (value * 10 + i64::from(digit as u8 - b'0')).min(MOST_WIDTH as i64);
            }
            value
        };
        let width = number(&mut chars);
        c.left |= width < 0;
        c.width = width.unsigned_abs().min(MOST_WIDTH as u64) as usize;
        if chars.next_if(|c| c.1 == '.').is_some() {
            // A negative one counts as none.
            c.precision = usize::try_from(number(&mut chars)).ok().map(|p| p.min(MOST_WIDTH));
        }
        while let Some((_, length)) = chars.next_if(|c| "hlzjtL".contains(c.1)) {
            c.long |= length != 'h';
        }
        match chars.next() {
            Some((at, letter)) => (c, Some(letter), at + letter.len_utf8()),
            None => (c, None, text.len()),
        }
    }

    fn expand(&self, letter: char, argument: &Operand) -> String {
        let upper = letter.is_ascii_uppercase();
        let (sign, mut body, number) = match letter {
            'c' => {
                let byte = integer_of(argument).0 as u8;
                ("", char::from(byte).to_string(), false)
            }
            's' => {
                let text = match argument {
                    Operand::Memory(slot, _) => slot.text(),
                    other => integer_of(other).0.to_string(),
                };
                let most = self.precision.unwrap_or(usize::MAX);
                ("", text.chars().take(most).collect(), false)
            }
            'p' => ("0x", format!("{:x}", integer_of(argument).0), false),
            'd' | 'i' => {
                let (value, bits) = self.integer(argument);
                let value = value << (64 - bits) >> (64 - bits);
                (self.sign(value < 0), value.unsigned_abs().to_string(), self.precision.is_none())
            }
            'u' | 'x' | 'X' | 'o' => {
                let (value, bits) = self.integer(argument);
                let value = value as u64 & (u64::MAX >> (64 - bits));
                let prefix = match letter {
                    'x' if self.alternate && value != 0 => "0x",
                    'X' if self.alternate && value != 0 => "0X",
                    'o' if self.alternate && value != 0 => "0",
                    _ => "",
                };
                let digits = match letter {
                    'u' => value.to_string(),
                    'o' => format!("{value:o}"),
                    _ => format!("{value:x}"),
                };
                (prefix, digits, self.precision.is_none())
            }
            _ => {
                let value = float_of(argument);
                let precision = self.precision.unwrap_or(6);
                let text = match letter.to_ascii_lowercase() {
                    'f' => fixed(value.abs(), precision),
                    'e' => scientific(value.abs(), precision),
                    _ => shortest(value.abs(), precision, self.alternate),
                };
                (self.sign(value.is_sign_negative()), text, value.is_finite())
            }
        };
        if "diuxXo".contains(letter) {
            let digits = self.precision.unwrap_or(0);
            body = if self.precision == Some(0) && body == "0" { String::new() } else { format!("{body:0>digits$}") };
        }
        if upper {
            body = body.to_uppercase();
        }
        let length = sign.len() + body.chars().count();
        let fill = self.width.saturating_sub(length);
        match (self.left, self.zero && number) {
            (true, _) => format!("{sign}{body}{}", " ".repeat(fill)),
            (false, true) => format!("{sign}{}{body}", "0".repeat(fill)),
            (false, false) => format!("{}{sign}{body}", " ".repeat(fill)),
        }
    }

    /// An argument, and how many bits of it count.
    fn integer(&self, argument: &Operand) -> (i64, u32) {
        let (value, bits) = integer_of(argument);
        (value, if self.long { 64 } else { bits })
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
    }
}

/// What is no number, as C prints it.
fn not_finite(value: f64) -> Option<String> {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    match (value.is_nan(), value.is_infinite()) {
        (true, _) => Some(format!("{sign}nan")),
        (_, true) => Some(format!("{sign}inf")),
        _ => None,
    }
}

/// `%.*f`
fn fixed(value: f64, precision: usize) -> String {
    not_finite(value).unwrap_or_else(|| format!("{value:.precision$}"))
}

/// `%.*e`: an exponent has a sign and at least two digits.
fn scientific(value: f64, precision: usize) -> String {
    not_finite(value).unwrap_or_else(|| {
        let text = format!("{value:.precision$e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |d| ('-', d));
        format!("{mantissa}e{sign}{digits:0>2}")
    })
}

/// `%.*g`: the shorter of both, without zeros at the end unless asked for.
fn shortest(value: f64, precision: usize, keep: bool) -> String {
    let digits = precision.max(1);
    let by_exponent = scientific(value, digits - 1);
    let Some((mantissa, exponent)) = by_exponent.split_once('e') else { return by_exponent };
    let place: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| match keep || !text.contains('.') {
        true => text.to_owned(),
        false => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
    };
    if (-4..digits as i32).contains(&place) {
        trim(&fixed(value, (digits as i32 - 1 - place).max(0) as usize))
    } else {
        format!("{}e{exponent}", trim(mantissa))
    }
}

#[cfg(test)]
mod tests;
