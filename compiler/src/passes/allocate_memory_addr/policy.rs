//! What a target may decide about placement.

use pto_dialect::{Space, device::Device};

/// A tile to be placed.
#[derive(Clone, Debug)]
pub struct TileRef {
    /// Number in the order of definition.
    pub id: usize,
    /// The author's name; empty when there is none.
    pub name: String,
    /// Memory space.
    pub space: Space,
    /// Bytes of its slot.
    pub size: u64,
}

/// Decides which spaces are placed, where tiles may start, and in which order they are placed.
pub trait MemoryAllocatorPolicy: Send + Sync {
    /// Whether tiles of a space get addresses.
    fn should_allocate(&self, space: Space) -> bool;
    /// The first legal start at or after a byte address.
    fn align_address(&self, address: u64, space: Space) -> u64;
    /// Puts tiles into the order of placement.
    fn order(&self, refs: &mut Vec<TileRef>);
}

/// Every space but global memory, starts at multiples of 32 bytes, in the order of definition.
#[derive(Clone, Copy, Debug, Default)]
pub struct DefaultPolicy;

const DEFAULT_ALIGN: u64 = 32;

impl MemoryAllocatorPolicy for DefaultPolicy {
    fn should_allocate(&self, space: Space) -> bool {
        space != Space::Gm
    }

    fn align_address(&self, address: u64, _space: Space) -> u64 {
        address.next_multiple_of(DEFAULT_ALIGN)
    }

    fn order(&self, refs: &mut Vec<TileRef>) {
        refs.sort_by_key(|r| r.id);
    }
}

/// The default with a target's own start alignment per space (`place_align` in toolchain.toml).
#[derive(Clone, Debug)]
pub struct TargetPolicy {
    align: Vec<(Space, u64)>,
}

impl TargetPolicy {
    /// For a device.
    pub fn new(device: &Device) -> Self {
        Self { align: device.memories().iter().map(|m| (m.space, m.place_align.max(m.align).max(1))).collect() }
    }
}

impl MemoryAllocatorPolicy for TargetPolicy {
    fn should_allocate(&self, space: Space) -> bool {
        DefaultPolicy.should_allocate(space)
    }

    fn align_address(&self, address: u64, space: Space) -> u64 {
        let align = self.align.iter().find(|(s, _)| *s == space).map_or(DEFAULT_ALIGN, |(_, align)| *align);
        address.next_multiple_of(align)
    }

    fn order(&self, refs: &mut Vec<TileRef>) {
        DefaultPolicy.order(refs);
    }
}

/// Another policy, but in the order of the names as plain text (today's PyPTO).
#[derive(Clone, Debug)]
pub struct ByName<P>(pub P);

impl<P: MemoryAllocatorPolicy> MemoryAllocatorPolicy for ByName<P> {
    fn should_allocate(&self, space: Space) -> bool {
        self.0.should_allocate(space)
    }

    fn align_address(&self, address: u64, space: Space) -> u64 {
        self.0.align_address(address, space)
    }

    fn order(&self, refs: &mut Vec<TileRef>) {
        refs.sort_by(|a, b| (&a.name, a.id).cmp(&(&b.name, b.id)));
    }
}
