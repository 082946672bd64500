//! The C interface between a compiled kernel and the simulated NPU: the structures of `pto/host/call.hpp`, field by
//! field, and their owned Rust form. Nothing else reads raw pointers of the kernel.

use std::ffi::{CStr, c_char, c_void};

use super::element::Element;

/// `pto_host::Site`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawSite {
    file: *const c_char,
    line: u32,
    reserved: u32,
}

/// `pto_host::Operand`.
#[repr(C)]
pub struct RawOperand {
    kind: u8,
    space: u8,
    element: u8,
    layout: u8,
    block_layout: u8,
    box_layout: u8,
    compact: u8,
    rank: u8,
    fractal_bytes: u32,
    element_bytes: u32,
    address: u64,
    shape: [i64; 6],
    stride: [i64; 6],
    valid: [i64; 2],
    bits: u64,
    name: *const c_char,
    slot: *mut c_void,
    site: RawSite,
}

/// `pto_host::Call`.
#[repr(C)]
pub struct RawCall {
    name: *const c_char,
    operands: *const RawOperand,
    count: u64,
    result: *mut c_void,
    result_bytes: u64,
    site: RawSite,
}

const _: () = assert!(size_of::<RawSite>() == 16 && size_of::<RawOperand>() == 176 && size_of::<RawCall>() == 56);

/// A place in the kernel's source. The file name lives as long as the kernel's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    file: *const c_char,
    /// Line, from 1; 0 when unknown.
    pub line: u32,
}

// SAFETY: the pointer is to a constant of the kernel's code, which is only read.
unsafe impl Send for Site {}
// SAFETY: as above.
unsafe impl Sync for Site {}

impl Site {
    /// No place.
    pub const NONE: Site = Site { file: std::ptr::null(), line: 0 };

    /// Another line of the same file; the same when `line` is 0.
    pub fn with_line(self, line: u32) -> Site {
        Site { line: if line == 0 { self.line } else { line }, ..self }
    }

    /// File name as the compiler saw it.
    pub fn file(&self) -> &str {
        // SAFETY: see `RawCall::decode`; the string outlives the run.
        if self.file.is_null() { "" } else { unsafe { CStr::from_ptr(self.file) }.to_str().unwrap_or("") }
    }
}

impl From<RawSite> for Site {
    fn from(raw: RawSite) -> Self {
        Site { file: raw.file, line: raw.line }
    }
}

/// Memory space of a tile, numbered as `pto::TileType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Space {
    Vec,
    Mat,
    Left,
    Right,
    Acc,
    Bias,
    Scaling,
    ScaleLeft,
    ScaleRight,
    Ctrl,
}

impl Space {
    /// All spaces, by number.
    pub const ALL: [Space; 10] = [
        Space::Vec,
        Space::Mat,
        Space::Left,
        Space::Right,
        Space::Acc,
        Space::Bias,
        Space::Scaling,
        Space::ScaleLeft,
        Space::ScaleRight,
        Space::Ctrl,
    ];
}

/// Order of elements in the fractal box of a tile, as `pto::SLayout`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BoxLayout {
    None,
    RowMajor,
    ColMajor,
}

/// How a tile is stored when its valid part is smaller, as `pto::CompactMode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Compact {
    Null,
    Normal,
    RowPlusOne,
    RowAlignedPadding,
}

/// A tile operand. Addresses in bytes within its space, extents in elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tile {
    /// Memory space.
    pub space: Space,
    /// Element type.
    pub element: Element,
    /// Rows of boxes (or of elements when unboxed) follow one another.
    pub row_major: bool,
    /// Order inside a box.
    pub box_layout: BoxLayout,
    /// Size of a box in bytes: 512, 1024 or 32.
    pub fractal_bytes: u32,
    /// Compact mode.
    pub compact: Compact,
    /// Rows, padding included.
    pub rows: usize,
    /// Columns, padding included.
    pub cols: usize,
    /// Valid rows.
    pub valid_rows: usize,
    /// Valid columns.
    pub valid_cols: usize,
    /// Byte address in the space.
    pub address: u64,
    /// Pad value, as `pto::PadValue`.
    pub pad: u64,
    /// Where the kernel keeps the tile's address.
    pub slot: Slot,
    /// Declaration.
    pub site: Site,
}

/// A convolution tile: a buffer of `elements` elements in L1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conv {
    /// Memory space.
    pub space: Space,
    /// Element type.
    pub element: Element,
    /// `pto::Layout`.
    pub layout: u8,
    /// Extents, as many as its rank.
    pub shape: Vec<i64>,
    /// Byte address in the space.
    pub address: u64,
    /// Size of the buffer in elements.
    pub elements: usize,
    /// Settings of im2col loads.
    pub image: Image,
    /// Declaration.
    pub site: Site,
}

/// What a convolution tile says about im2col loads. Extents and distances in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// Height and width of the feature map.
    pub map: [i64; 2],
    /// Height and width of the filter.
    pub filter: [i64; 2],
    /// Distance between taps of the filter, down and right.
    pub dilation: [i64; 2],
    /// Distance between filters, down and right.
    pub stride: [i64; 2],
    /// Borders: left, right, top, bottom.
    pub pad: [i64; 4],
    /// Channels; 0 when not set.
    pub channels: i64,
    /// Repetition: times, distance and mode.
    pub repeat: [i64; 3],
    /// Whether the result is transposed.
    pub transpose: bool,
    /// Bits of the element that stands outside the map.
    pub pad_value: u64,
}

impl Image {
    /// Unpacks the words of `pto_host::Describe` of a convolution tile.
    fn unpack(words: &[i64], pad_value: u64) -> Image {
        let field = |word: usize, shift: u32, bits: u32| words[word] >> shift & ((1 << bits) - 1);
        Image {
            map: [field(0, 0, 16), field(0, 16, 16)],
            filter: [field(0, 32, 16), field(0, 48, 16)],
            dilation: [field(1, 0, 8), field(1, 8, 8)],
            stride: [field(1, 16, 8), field(1, 24, 8)],
            pad: [0, 8, 16, 24].map(|shift| field(2, shift, 8)),
            channels: field(1, 32, 16),
            repeat: [field(2, 32, 8), field(1, 48, 16), field(2, 40, 8)],
            transpose: field(2, 48, 1) != 0,
            pad_value,
        }
    }
}

/// A global tensor of five dimensions; shape and stride in elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Global {
    /// Element type.
    pub element: Element,
    /// `pto::Layout`: 0 ND, 1 DN, 2 NZ, and the convolution layouts.
    pub layout: u8,
    /// Extents.
    pub shape: [i64; 5],
    /// Strides.
    pub stride: [i64; 5],
    /// Host pointer.
    pub address: u64,
    /// Where the kernel keeps the tensor's pointer.
    pub slot: Slot,
    /// Declaration.
    pub site: Site,
}

/// A pipe between the cube and the vector half.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipeDesc {
    /// First of its flags.
    pub flag: u8,
    /// `pto::Direction`.
    pub direction: u8,
    /// Bytes of a slot.
    pub slot_bytes: u64,
    /// Slots.
    pub slots: u64,
    /// Slots of the landing area in the consumer.
    pub local_slots: u64,
    /// Whether the pipe never splits a tile.
    pub no_split: bool,
    /// Host pointer of the slots in global memory; 0 when there are none.
    pub gm: u64,
    /// Landing area of the vector half, in bytes of UB.
    pub c2v: u64,
    /// Landing area of the cube half, in bytes of L1.
    pub v2c: u64,
    /// Declaration.
    pub site: Site,
}

/// An enumerator that reached an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Name of the enumeration, such as `RoundMode`.
    pub kind: &'static str,
    /// Value of the enumerator.
    pub value: u64,
}

/// A place of the kernel's own memory that the runtime may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot(pub *mut c_void);

// SAFETY: written only while the kernel's thread is inside a call.
unsafe impl Send for Slot {}

impl Slot {
    /// Writes bytes there, unless it is null. Only while the kernel is inside the call that names the place.
    pub fn store(self, bytes: &[u8]) {
        if !self.0.is_null() {
            // SAFETY: the headers name a live object of the kernel of at least the size the instruction writes.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.0.cast(), bytes.len()) }
        }
    }

    /// Reads `count` bytes there, none when it is null. Only while the kernel is inside the call that names the place.
    pub fn load(self, count: usize) -> Vec<u8> {
        if self.0.is_null() {
            return Vec::new();
        }
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(self.0.cast::<u8>(), count) }.to_vec()
    }

    /// The C string there. Only while the kernel is inside the call that names the place.
    pub fn text(self) -> String {
        if self.0.is_null() {
            return String::new();
        }
        // SAFETY: the kernel passes a string of C where an instruction takes text.
        unsafe { CStr::from_ptr(self.0.cast()) }.to_string_lossy().into_owned()
    }
}

/// An operand, owned.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// An absent optional operand.
    Null,
    /// A tile.
    Tile(Tile),
    /// A convolution tile.
    Conv(Conv),
    /// A global tensor.
    Global(Global),
    /// An integer (or the byte of a narrow float), sign-extended.
    Int(i64, Element),
    /// A float.
    Float(f64, Element),
    /// An enumerator.
    Flag(Flag),
    /// A cube-vector pipe.
    Pipe(PipeDesc),
    /// Memory of the kernel: pointer and size in bytes (0 when unknown).
    Memory(Slot, usize),
    /// A group of tensors, and the number of its root.
    Group(Vec<Global>, i64),
}

/// One instruction, owned, so that a pipe may run it later.
#[derive(Clone, Debug)]
pub struct Instr {
    /// Name, such as `TADD`.
    pub name: &'static str,
    /// Operands in the order of the header.
    pub operands: Vec<Operand>,
    /// Where the answer goes, and its size in bytes.
    pub result: (Slot, usize),
    /// The call.
    pub site: Site,
}

impl Instr {
    /// Value of the first enumerator of the enumeration `kind` among the operands.
    pub fn flag(&self, kind: &str) -> Option<u64> {
        self.operands.iter().find_map(|o| match o {
            Operand::Flag(flag) if flag.kind == kind => Some(flag.value),
            _ => None,
        })
    }
}

impl RawCall {
    /// Copies a call.
    ///
    /// # Safety
    /// `self` comes from `pto_host::record` or `pto_host::ask` of the headers, whose strings are constants of code
    /// that outlives the run.
    pub unsafe fn decode(&self) -> Instr {
        let raw = if self.count == 0 {
            &[]
        } else {
            // SAFETY: the headers pass an array of `count` operands.
            unsafe { std::slice::from_raw_parts(self.operands, self.count as usize) }
        };
        Instr {
            // SAFETY: as promised by the caller.
            name: unsafe { constant(self.name) },
            // SAFETY: as promised by the caller.
            operands: raw.iter().map(|o| unsafe { o.decode() }).collect(),
            result: (Slot(self.result), self.result_bytes as usize),
            site: self.site.into(),
        }
    }
}

/// # Safety
/// `text` is null or a constant string that outlives the run.
unsafe fn constant(text: *const c_char) -> &'static str {
    if text.is_null() { "" } else { unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("") }
}

impl RawOperand {
    /// # Safety
    /// As for [`RawCall::decode`].
    unsafe fn decode(&self) -> Operand {
        let element = Element::of(self.element);
        let slot = Slot(self.slot);
        let site = self.site.into();
        let space = Space::ALL[usize::from(self.space).min(Space::ALL.len() - 1)];
        match self.kind {
            1 => Operand::Tile(Tile {
                space,
                element,
                row_major: self.block_layout == 0,
                box_layout: [BoxLayout::None, BoxLayout::RowMajor, BoxLayout::ColMajor]
                    [usize::from(self.box_layout) % 3],
                fractal_bytes: self.fractal_bytes,
                compact: [Compact::Null, Compact::Normal, Compact::RowPlusOne, Compact::RowAlignedPadding]
                    [usize::from(self.compact) % 4],
                rows: self.shape[0] as usize,
                cols: self.shape[1] as usize,
                valid_rows: self.valid[0].max(0) as usize,
                valid_cols: self.valid[1].max(0) as usize,
                address: self.address,
                pad: self.bits,
                slot,
                site,
            }),
            2 => Operand::Conv(Conv {
                space,
                element,
                layout: self.layout,
                shape: self.shape[..usize::from(self.rank).min(6)].to_vec(),
                address: self.address,
                elements: self.stride[0].max(0) as usize,
                image: Image::unpack(&self.stride[1..4], self.bits),
                site,
            }),
            3 => Operand::Global(Global {
                element,
                layout: self.layout,
                shape: self.shape[..5].try_into().expect("five of six"),
                stride: self.stride[..5].try_into().expect("five of six"),
                address: self.address,
                slot,
                site,
            }),
            4 => Operand::Int(self.bits as i64, element),
            5 => Operand::Float(f64::from_bits(self.bits), element),
            // SAFETY: as promised by the caller.
            6 => Operand::Flag(Flag { kind: unsafe { constant(self.name) }, value: self.bits }),
            7 => Operand::Pipe(PipeDesc {
                flag: self.shape[0] as u8,
                direction: self.shape[1] as u8,
                slot_bytes: self.shape[2] as u64,
                slots: self.shape[3] as u64,
                local_slots: self.shape[4] as u64,
                no_split: self.shape[5] != 0,
                gm: self.address,
                c2v: self.stride[0] as u64,
                v2c: self.stride[1] as u64,
                site,
            }),
            8 => Operand::Memory(Slot(self.address as *mut c_void), self.shape[0].max(0) as usize),
            // SAFETY: as promised by the caller.
            9 => Operand::Group(unsafe { self.members(element) }, self.shape[1]),
            _ => Operand::Null,
        }
    }
}

/// What a `GlobalTensor` of the headers begins with, whatever its parameters are.
#[repr(C)]
#[derive(Clone, Copy)]
struct RawGlobal {
    data: u64,
    shape: [i64; 5],
    stride: [i64; 5],
    site: RawSite,
}

impl RawOperand {
    /// The members of a group: `shape[0]` of them, `stride[0]` bytes from one to the next.
    ///
    /// # Safety
    /// The kernel is inside the call that names them.
    unsafe fn members(&self, element: Element) -> Vec<Global> {
        const MOST: i64 = 1 << 16;
        let count = if self.address == 0 { 0 } else { self.shape[0].clamp(0, MOST) };
        let member = |index: i64| {
            let at = self.address.wrapping_add((index * self.stride[0]) as u64);
            // SAFETY: the headers pass an array of that many tensors, each of which begins like this.
            let raw = unsafe { (at as *const RawGlobal).read_unaligned() };
            Global {
                element,
                layout: self.layout,
                shape: raw.shape,
                stride: raw.stride,
                address: raw.data,
                slot: Slot(at as *mut c_void),
                site: raw.site.into(),
            }
        };
        (0..count).map(member).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_a_convolution_tile() {
        // As the header packs: map 3 x 4, filter 2 x 5, 16 channels, borders 1 left and 9 below, transposed.
        let image = Image::unpack(&[0x5_0002_0004_0003, 0x10_0101_0101, 0x1_0001_0900_0001], 7);
        let expected = Image {
            map: [3, 4],
            filter: [2, 5],
            dilation: [1, 1],
            stride: [1, 1],
            pad: [1, 0, 0, 9],
            channels: 16,
            repeat: [1, 0, 0],
            transpose: true,
            pad_value: 7,
        };
        assert_eq!(image, expected);
    }
}
