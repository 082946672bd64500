//! Addresses of slots in one memory space, one after another.
//!
//! Where slots do not fit one after another, `first_fit` lets those share bytes that may, each at the lowest address.
//!
//! Reserved ranges come first: those without a base are put behind all before them, in the order given; those with one
//! stay there. Slots follow behind the end of the last reserved range, each at the first legal start behind the slot
//! before it, around what is taken anyway. How much the space has is compared by the caller, who knows what to say.

/// The first legal start at or behind a byte address.
pub type Align<'a> = &'a dyn Fn(u64) -> u64;

/// Addresses end here: they must fit a signed number, and an alignment function must have room to round up.
const LAST: u64 = i64::MAX as u64 - (1 << 20);

/// Bytes from `start` up to but without `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Range {
    /// First byte.
    pub start: u64,
    /// Byte behind the last one.
    pub end: u64,
}

impl Range {
    /// Whether both hold some byte.
    pub fn meets(&self, other: &Self) -> bool {
        self.start < other.end && other.start < self.end
    }
}

/// A range that the program reserves.
#[derive(Clone, Copy, Debug)]
pub struct Reserved {
    /// Bytes.
    pub size: u64,
    /// Where it is; `None` leaves it to us.
    pub base: Option<u64>,
}

/// Why there is no placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Two reserved ranges hold the same bytes; ends are rounded up to a legal start.
    Overlap {
        /// The later one in the order given.
        index: usize,
        /// Its range.
        range: Range,
        /// The earlier one.
        other: usize,
        /// Its range.
        taken: Range,
    },
    /// An address does not fit into 63 bits.
    TooFar {
        /// Which range or slot.
        index: usize,
    },
}

/// Reserved ranges with their bases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReservedRanges {
    /// In the order given; ends are rounded up to a legal start.
    pub ranges: Vec<Range>,
    /// Where slots begin.
    pub end: u64,
}

/// Gives reserved ranges their bases. `taken` is in use by others; only ranges without a base make way for it.
pub fn place_reserved(reserved: &[Reserved], taken: &[Range], align: Align) -> Result<ReservedRanges, Failure> {
    let mut done = ReservedRanges::default();
    let taken = sorted(taken);
    for (index, reserve) in reserved.iter().enumerate() {
        let far = Failure::TooFar { index };
        let start = match reserve.base {
            Some(base) => base,
            None => lowest_free(done.end, reserve.size, &taken, align).ok_or(far)?,
        };
        let end = up(start.checked_add(reserve.size).ok_or(far)?, align).ok_or(far)?;
        let range = Range { start, end };
        // The nearest range behind is named before the nearest one in front of it.
        let met = done.ranges.iter().enumerate().filter(|(_, r)| r.meets(&range)).max_by_key(|(_, r)| r.start);
        if let Some((other, &taken)) = met {
            return Err(Failure::Overlap { index, range, other, taken });
        }
        done.ranges.push(range);
        done.end = done.end.max(end);
    }
    Ok(done)
}

/// Slots with their addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slots {
    /// In the order given.
    pub addresses: Vec<u64>,
    /// The first legal start behind the last slot: what the space must have.
    pub end: u64,
}

/// Puts slots of the given sizes one after another from `start` on, around `taken`.
pub fn place_slots(sizes: &[u64], start: u64, taken: &[Range], align: Align) -> Result<Slots, Failure> {
    let mut slots = Slots { addresses: Vec::with_capacity(sizes.len()), end: start };
    let taken = sorted(taken);
    for (index, &size) in sizes.iter().enumerate() {
        let far = Failure::TooFar { index };
        let address = lowest_free(slots.end, size, &taken, align).ok_or(far)?;
        slots.addresses.push(address);
        slots.end = up(address.checked_add(size).ok_or(far)?, align).ok_or(far)?;
    }
    Ok(slots)
}

/// Where slots of the given sizes would end; `u64::MAX` when addresses do not reach that far.
pub fn end_of(sizes: &[u64], start: u64, align: Align) -> u64 {
    place_slots(sizes, start, &[], align).map_or(u64::MAX, |slots| slots.end)
}

/// What `first_fit` has to keep to.
pub struct Fit<'a> {
    /// Bytes of each slot.
    pub sizes: &'a [u64],
    /// Where slots begin.
    pub start: u64,
    /// The address that no slot may reach behind.
    pub limit: u64,
    /// The first legal start at or behind an address.
    pub align: Align<'a>,
    /// What is taken while a slot is in use.
    pub taken: &'a dyn Fn(usize) -> Vec<Range>,
    /// How a slot may meet another one that has its address.
    pub meeting: &'a dyn Fn(usize, usize) -> Meeting,
}

/// How a slot may meet one that has its address already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// They are never in use at once.
    Free,
    /// One operation reads the other last and writes this one, in place: both begin at one address, and what is written
    /// is no longer than what is read.
    Replaces,
    /// The same, the other way round.
    Replaced,
    /// They share no byte.
    Never,
}

/// Puts the slots of `order`, in that order, each at the lowest address where it meets nothing that it may not.
/// `None` when one does not fit. Addresses are by slot; slots outside `order` get 0.
pub fn first_fit(fit: &Fit, order: &[usize]) -> Option<Vec<u64>> {
    let mut addresses = vec![0; fit.sizes.len()];
    for (done, &slot) in order.iter().enumerate() {
        let size = *fit.sizes.get(slot)?;
        let mut never = (fit.taken)(slot);
        let mut in_place = Vec::new();
        for &other in &order[..done] {
            let range = Range { start: addresses[other], end: addresses[other].saturating_add(fit.sizes[other]) };
            match (fit.meeting)(slot, other) {
                Meeting::Free => {}
                Meeting::Replaces if size <= fit.sizes[other] => in_place.push(range),
                Meeting::Replaced if size >= fit.sizes[other] => in_place.push(range),
                _ => never.push(range),
            }
        }
        let legal = |address: u64| {
            let Some(end) = address.checked_add(size).filter(|end| *end <= fit.limit) else { return false };
            let own = Range { start: address, end };
            !never.iter().any(|r| r.meets(&own)) && in_place.iter().all(|r| r.start == address || !r.meets(&own))
        };
        // The lowest legal address is the first one, the end of something, or the start of what it replaces.
        let behind = never.iter().chain(&in_place).filter_map(|r| up(r.end, fit.align));
        let mut candidates: Vec<u64> = behind.chain(in_place.iter().map(|r| r.start)).collect();
        candidates.push(up(fit.start, fit.align)?);
        let from = up(fit.start, fit.align)?;
        addresses[slot] = candidates.into_iter().filter(|&address| address >= from && legal(address)).min()?;
    }
    Some(addresses)
}

fn sorted(ranges: &[Range]) -> Vec<Range> {
    let mut sorted = ranges.to_vec();
    sorted.sort_unstable();
    sorted
}

/// The lowest start from `from` on where `size` bytes meet nothing taken; `sorted` by start.
fn lowest_free(from: u64, size: u64, sorted: &[Range], align: Align) -> Option<u64> {
    let mut address = from;
    for range in sorted {
        if range.meets(&Range { start: address, end: address.checked_add(size)? }) {
            address = up(range.end, align)?;
        }
    }
    (address <= LAST).then_some(address)
}

fn up(address: u64, align: Align) -> Option<u64> {
    (address <= LAST).then(|| align(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn align(address: u64) -> u64 {
        address.next_multiple_of(32)
    }

    fn reserved(list: &[(u64, Option<u64>)]) -> Result<ReservedRanges, Failure> {
        let list: Vec<Reserved> = list.iter().map(|&(size, base)| Reserved { size, base }).collect();
        place_reserved(&list, &[], &align)
    }

    #[test]
    fn slots_follow_one_another_aligned() {
        let slots = place_slots(&[36, 96, 36, 32], 0, &[], &align).expect("fits");
        assert_eq!(slots, Slots { addresses: vec![0, 64, 160, 224], end: 256 });
    }

    #[test]
    fn reserved_ranges_stand_in_order_and_keep_bases() {
        let done = reserved(&[(100, Some(40)), (10, None)]).expect("no overlap");
        assert_eq!(done.ranges.iter().map(|r| r.start).collect::<Vec<_>>(), vec![40, 160]);
        assert_eq!(done.end, 192);
    }

    #[test]
    fn overlaps_are_named_with_both_ranges() {
        let failure = reserved(&[(4096, None), (1024, Some(2048))]).expect_err("overlap");
        let expected = Failure::Overlap {
            index: 1,
            range: Range { start: 2048, end: 3072 },
            other: 0,
            taken: Range { start: 0, end: 4096 },
        };
        assert_eq!(failure, expected);
    }

    #[test]
    fn slots_go_around_what_is_taken() {
        let slots = place_slots(&[64, 64], 0, &[Range { start: 64, end: 100 }], &align).expect("fits");
        assert_eq!(slots.addresses, vec![0, 128]);
    }

    #[test]
    fn first_fit_uses_the_bytes_of_what_is_over() {
        // 0 and 2 are never in use at once; 1 meets both.
        let meeting = |a: usize, b: usize| if a == 1 || b == 1 { Meeting::Never } else { Meeting::Free };
        let free = |_: usize| Vec::new();
        let fit = Fit { sizes: &[64, 32, 64], start: 0, limit: 96, align: &align, taken: &free, meeting: &meeting };
        assert_eq!(first_fit(&fit, &[0, 1, 2]), Some(vec![0, 64, 0]));
        assert_eq!(first_fit(&Fit { limit: 95, ..fit }, &[0, 1, 2]), None);
    }

    #[test]
    fn what_works_in_place_begins_where_its_argument_does() {
        let meeting = |slot: usize, other: usize| match (slot, other) {
            (2, 1) => Meeting::Replaces,
            (2, 0) => Meeting::Free,
            _ => Meeting::Never,
        };
        let free = |_: usize| Vec::new();
        let fit = Fit { sizes: &[32, 64, 64], start: 0, limit: 160, align: &align, taken: &free, meeting: &meeting };
        // At 0 it would lie over half of its argument.
        assert_eq!(first_fit(&fit, &[0, 1, 2]), Some(vec![0, 32, 32]));
        // A longer result would reach behind its argument, which the operation still reads.
        let longer = Fit { sizes: &[32, 64, 96], limit: 192, ..fit };
        assert_eq!(first_fit(&longer, &[0, 1, 2]), Some(vec![0, 32, 96]));
    }

    #[test]
    fn huge_sizes_are_refused() {
        assert_eq!(place_slots(&[u64::MAX, 1], 64, &[], &align), Err(Failure::TooFar { index: 0 }));
        assert_eq!(end_of(&[u64::MAX], 1, &align), u64::MAX);
        assert!(reserved(&[(u64::MAX, Some(1))]).is_err());
    }
}
