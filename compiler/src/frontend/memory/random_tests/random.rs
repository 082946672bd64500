//! Numbers that look random and are the same on every run.

/// A xorshift generator.
pub struct Random(u64);

impl Random {
    /// Seeds next to one another give sequences that have nothing in common.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    /// A number in `0..bound`; 0 when there is none.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// True so many times out of a hundred.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of some.
    pub fn of<T: Clone>(&mut self, all: &[T]) -> Option<T> {
        all.get(usize::try_from(self.below(all.len() as u64)).ok()?).cloned()
    }
}
