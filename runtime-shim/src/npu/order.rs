//! Happens-before: vector clocks of the pipes, and the log of accesses in which unordered pairs are found.
//!
//! Every pipe of every core is a component. A pipe's instructions are numbered; a clock says, for each component, up
//! to which number its instructions are known to be finished.

use std::collections::HashMap;

use super::abi::Site;
use super::layout::Region;

/// What is known to be finished, by component.
pub type Clock = Vec<u32>;

/// Adds what `other` knows.
pub fn join(clock: &mut Clock, other: &[u32]) {
    clock.iter_mut().zip(other).for_each(|(mine, &theirs)| *mine = (*mine).max(theirs));
}

/// Who makes an access, and what it knows is finished.
#[derive(Clone, Copy)]
pub struct Moment<'c> {
    /// Component of the pipe.
    pub who: u32,
    /// Number of the instruction on its pipe.
    pub epoch: u32,
    /// What is finished before it starts.
    pub clock: &'c [u32],
    /// The pipe finishes an instruction before it starts the next.
    pub in_order: bool,
}

/// An access of an instruction to one operand.
#[derive(Clone, Debug)]
pub struct Access {
    /// Name of the instruction.
    pub name: &'static str,
    /// The call.
    pub site: Site,
    /// Declaration of the tile or tensor.
    pub operand: Site,
    /// The bytes.
    pub region: Region,
    /// Whether they are written.
    pub write: bool,
    /// An atomic update: it may meet others.
    pub atomic: bool,
}

struct Entry {
    access: Access,
    who: u32,
    epoch: u32,
    checked: u64,
}

/// Accesses to one memory that later ones may conflict with.
pub struct Log {
    /// Pages of this many bits of address hold lists of entries.
    page_bits: u32,
    entries: Vec<Entry>,
    pages: HashMap<u64, Vec<u32>>,
    known: HashMap<(u32, bool, bool, Region), u32>,
    turn: u64,
}

impl Log {
    /// An empty log.
    pub fn new(page_bits: u32) -> Log {
        Log { page_bits, entries: Vec::new(), pages: HashMap::new(), known: HashMap::new(), turn: 0 }
    }

    /// Forgets everything: all of it is ordered before whatever comes.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.pages.clear();
        self.known.clear();
    }

    /// Notes an access and returns an earlier one that nothing orders before it, with its component.
    pub fn note(&mut self, moment: Moment, access: Access) -> Option<(Access, u32)> {
        if access.region.is_empty() {
            return None;
        }
        self.turn += 1;
        let (start, end) = access.region.bounds();
        let pages = start >> self.page_bits..=(end - 1) >> self.page_bits;
        let mut found = None;
        for page in pages.clone() {
            for &index in self.pages.get(&page).map_or(&[][..], Vec::as_slice) {
                let entry = &mut self.entries[index as usize];
                if entry.checked == self.turn {
                    continue;
                }
                entry.checked = self.turn;
                let same_pipe = entry.who == moment.who;
                let harmless = !(entry.access.write || access.write)
                    || (entry.access.atomic && access.atomic)
                    || (same_pipe && (moment.in_order || entry.epoch == moment.epoch))
                    || moment.clock[entry.who as usize] >= entry.epoch;
                if !harmless && found.is_none() && entry.access.region.overlaps(&access.region) {
                    found = Some((entry.access.clone(), entry.who));
                }
            }
        }
        self.insert(moment, access, pages);
        found
    }

    /// A later access of one pipe to the same bytes stands for the earlier one.
    fn insert(&mut self, moment: Moment, access: Access, pages: std::ops::RangeInclusive<u64>) {
        let key = (moment.who, access.write, access.atomic, access.region.clone());
        if let Some(&index) = self.known.get(&key) {
            let entry = &mut self.entries[index as usize];
            *entry = Entry { access, who: moment.who, epoch: moment.epoch, checked: self.turn };
            return;
        }
        let index = self.entries.len() as u32;
        self.entries.push(Entry { access, who: moment.who, epoch: moment.epoch, checked: self.turn });
        self.known.insert(key, index);
        for page in pages {
            self.pages.entry(page).or_default().push(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(start: u64, len: u64, write: bool) -> Access {
        let region = Region::piece(start, len);
        Access { name: "T", site: Site::NONE, operand: Site::NONE, region, write, atomic: false }
    }

    #[test]
    fn unordered_overlap_with_a_write_is_found() {
        let mut log = Log::new(12);
        let nothing_known = [0, 0];
        let first = Moment { who: 0, epoch: 1, clock: &nothing_known, in_order: true };
        let second = Moment { who: 1, epoch: 1, ..first };
        assert!(log.note(first, access(0, 64, true)).is_none());
        assert!(log.note(second, access(64, 64, false)).is_none(), "next to it");
        assert!(log.note(second, access(32, 64, false)).is_some(), "overlaps, not ordered");
        let knows = [1, 0];
        let ordered = Moment { who: 1, epoch: 2, clock: &knows, in_order: true };
        assert!(log.note(ordered, access(32, 64, true)).is_none(), "ordered");
        let later = Moment { who: 0, epoch: 2, clock: &nothing_known, in_order: true };
        assert!(log.note(later, access(60, 1, false)).is_some(), "reads what the other pipe may still write");
    }

    #[test]
    fn a_pipe_that_overlaps_its_instructions_needs_a_barrier() {
        let mut log = Log::new(12);
        let unknown = [0];
        let first = Moment { who: 0, epoch: 1, clock: &unknown, in_order: false };
        assert!(log.note(first, access(0, 32, false)).is_none());
        assert!(log.note(first, access(0, 32, true)).is_none(), "in place, one instruction");
        assert!(log.note(Moment { epoch: 2, ..first }, access(0, 32, false)).is_some());
        assert!(log.note(Moment { epoch: 3, in_order: true, ..first }, access(0, 32, false)).is_none());
    }
}
