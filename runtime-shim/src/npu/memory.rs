//! The memories: one bank for each space of a core, and the buffers of global memory. Bytes alias as on the device;
//! which bytes were ever written is kept beside them.

use super::abi::Space;
use super::layout::Region;
use crate::Arch;

/// Bytes of a memory, and whether each was written.
#[derive(Clone, Debug, Default)]
pub struct Bank {
    /// The bytes; what was never written holds [`POISON`].
    pub bytes: Vec<u8>,
    written: Vec<bool>,
}

/// What memory holds before it is written: as a float of any width it is NaN, so that it spreads.
pub const POISON: u8 = 0xff;

impl Bank {
    /// A bank that was never written.
    pub fn new(size: usize) -> Bank {
        Bank { bytes: vec![POISON; size], written: vec![false; size] }
    }

    /// A bank of zeros that was never written, which takes real memory only where it is used.
    pub fn spare(size: usize) -> Bank {
        Bank { bytes: vec![0; size], written: vec![false; size] }
    }

    /// A bank that holds `bytes`.
    pub fn of(bytes: Vec<u8>) -> Bank {
        Bank { written: vec![true; bytes.len()], bytes }
    }

    /// First byte of a region that was never written.
    pub fn first_unwritten(&self, region: &Region) -> Option<u64> {
        region.pieces().find_map(|(start, len)| {
            // Whole chunks first: they need no branch a byte.
            const CHUNK: usize = 128;
            let piece = &self.written[start as usize..(start + len) as usize];
            let chunk = piece.chunks(CHUNK).position(|c| !c.iter().fold(true, |all, &w| all & w))?;
            let at = piece[chunk * CHUNK..].iter().position(|w| !w)?;
            Some(start + (chunk * CHUNK + at) as u64)
        })
    }

    /// Notes that a region was written.
    pub fn mark_written(&mut self, region: &Region) {
        for (start, len) in region.pieces() {
            self.written[start as usize..(start + len) as usize].fill(true);
        }
    }
}

/// Bytes of a space of one core. Sources: the capacity macros of the PTO instruction library, as in
/// `include/pto/host/limits.hpp`.
pub fn capacity(arch: Arch, space: Space) -> usize {
    const KIB: usize = 1024;
    let row = match arch {
        Arch::A3 => [192 * KIB, 512 * KIB, 64 * KIB, 64 * KIB, 128 * KIB, KIB, 2 * KIB, 0, 0],
        Arch::A5 => [256 * KIB, 512 * KIB, 64 * KIB, 64 * KIB, 256 * KIB, 4 * KIB, 4 * KIB, 4 * KIB, 4 * KIB],
        Arch::Kirin9030 => [128 * KIB, 512 * KIB, 32 * KIB, 32 * KIB, 64 * KIB, KIB, 7 * KIB, 0, 0],
        Arch::KirinX90 => [128 * KIB, 1024 * KIB, 64 * KIB, 64 * KIB, 128 * KIB, KIB, 6 * KIB, 0, 0],
    };
    row.get(space as usize).copied().unwrap_or(0)
}

/// Name of the memory behind a space.
pub fn memory_name(space: Space) -> &'static str {
    ["UB", "L1", "L0A", "L0B", "L0C", "bias table", "fixpipe buffer", "L0A scales", "L0B scales", "control"]
        [space as usize]
}

/// The on-chip memories of one core.
#[derive(Debug)]
pub struct Spaces {
    sizes: [usize; 10],
    banks: [Bank; 10],
}

impl Spaces {
    /// The memories of a core, with sizes in bytes by space.
    pub fn new(sizes: [usize; 10]) -> Spaces {
        Spaces { sizes, banks: Default::default() }
    }

    /// Size of a space in bytes.
    pub fn size(&self, space: Space) -> usize {
        self.sizes[space as usize]
    }

    /// Forgets all contents; with `zero` every byte is a zero that counts as written.
    pub fn reset(&mut self, zero: bool) {
        for (bank, &size) in self.banks.iter_mut().zip(&self.sizes) {
            *bank = if zero { Bank::of(vec![0; size]) } else { Bank::default() };
        }
    }

    /// The bank of a space; made when first used.
    pub fn bank(&mut self, space: Space) -> &mut Bank {
        let bank = &mut self.banks[space as usize];
        if bank.bytes.is_empty() {
            *bank = Bank::new(self.sizes[space as usize]);
        }
        bank
    }
}

/// A buffer of global memory. The kernel sees made-up addresses, so that no access can leave a buffer unseen.
#[derive(Debug)]
pub struct Buffer {
    /// Name, of the kernel's parameter.
    pub name: String,
    /// Address that the kernel sees.
    pub base: u64,
    /// Contents.
    pub bank: Bank,
    /// One past the last byte ever written by the kernel.
    pub extent: u64,
    /// One past the last byte that the kernel read or wrote, inside the buffer or not.
    pub reach: u64,
    /// Bytes from row to row of what was stored: `Some(None)` when stores differ.
    pub pitch: Option<Option<u64>>,
}

impl Buffer {
    /// Notes a store with rows this many bytes apart.
    pub fn note_pitch(&mut self, pitch: u64) {
        self.pitch = match self.pitch {
            None => Some(Some(pitch)),
            Some(Some(same)) if same == pitch => Some(Some(pitch)),
            _ => Some(None),
        };
    }
}

/// Global memory.
#[derive(Debug, Default)]
pub struct GlobalMemory {
    /// The buffers, in the order of the kernel's parameters.
    pub buffers: Vec<Buffer>,
}

/// Address of the first buffer, and distance between two: above any address of the machine, and a power of two.
const FIRST: u64 = 1 << 60;
const DISTANCE: u64 = 1 << 40;

impl GlobalMemory {
    /// Adds a buffer and returns the address that the kernel sees.
    pub fn add(&mut self, name: &str, bank: Bank) -> u64 {
        let base = FIRST + self.buffers.len() as u64 * DISTANCE;
        self.buffers.push(Buffer { name: name.to_owned(), base, bank, extent: 0, reach: 0, pitch: None });
        base
    }

    /// Whether an address is one of global memory, in a buffer or not.
    pub fn owns(address: u64) -> bool {
        (FIRST >> 1..FIRST << 2).contains(&address)
    }

    /// The buffer in whose reach an address lies, and the offset in it, which may be past its end or negative.
    pub fn find(&self, address: u64) -> Option<(usize, i64)> {
        // Half a distance below a buffer still belongs to it, so that negative offsets are reported for it.
        let index = address.checked_sub(FIRST - DISTANCE / 2)? / DISTANCE;
        let buffer = self.buffers.get(index as usize)?;
        Some((index as usize, address.wrapping_sub(buffer.base) as i64))
    }
}
