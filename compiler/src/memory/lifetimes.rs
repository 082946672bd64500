//! From when to when values matter, over structured control flow.
//!
//! The caller walks its program once and reports what happens. Time is a clock that the caller advances by one for
//! each statement. A value lives from its definition to its last read. What is defined before a loop and read inside
//! lives past the loop's last statement, because the next trip reads it again. A value that only stands for others
//! (carried by a loop, joined from branches) has no lifetime of its own: reading it reads what it stands for.
//!
//! Values of different branches that are joined are one value on paths that exclude each other: they are of one
//! family, and their lifetimes may overlap in the count without ever doing so in a run.

use std::collections::BTreeSet;

/// A position in the program.
pub type Tick = u64;

/// The first and the last position of a value, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// Where it is defined.
    pub start: Tick,
    /// Where it is read last, loops considered.
    pub end: Tick,
}

impl Lifetime {
    /// Whether both are needed at once. A value may be written by the statement that reads the other last.
    pub fn meets(&self, other: &Self) -> bool {
        self.end > other.start && other.end > self.start
    }

    /// From the first start to the last end.
    #[must_use]
    pub fn hull(&self, other: &Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// One value that a join takes, and the branch it comes out of.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The value.
    pub value: usize,
    /// When the branch began.
    pub from: Tick,
    /// The first tick behind the branch.
    pub until: Tick,
    /// Whether the joined value takes this one's bytes even if it was defined before the branch.
    pub keeps_bytes: bool,
}

/// Takes down what happens, in the order of the program.
#[derive(Debug)]
pub struct Timeline {
    now: Tick,
    order: Vec<usize>,
    defined: Vec<Option<Tick>>,
    read: Vec<Option<Tick>>,
    stands_for: Vec<Vec<usize>>,
    families: Vec<BTreeSet<u32>>,
    next_family: u32,
    open: Vec<Tick>,
    loops: Vec<(Tick, Tick)>,
}

impl Timeline {
    /// For values `0..values`.
    pub fn new(values: usize) -> Self {
        Self {
            now: 0,
            order: Vec::new(),
            defined: vec![None; values],
            read: vec![None; values],
            stands_for: vec![Vec::new(); values],
            families: vec![BTreeSet::new(); values],
            next_family: 0,
            open: Vec::new(),
            loops: Vec::new(),
        }
    }

    /// The tick that comes next.
    pub fn now(&self) -> Tick {
        self.now
    }

    /// A statement is over.
    pub fn step(&mut self) {
        self.now += 1;
    }

    /// The value is defined at this tick.
    pub fn define(&mut self, value: usize) {
        if let Some(defined) = self.defined.get_mut(value)
            && defined.is_none()
        {
            *defined = Some(self.now);
            self.order.push(value);
        }
    }

    /// The value is read at this tick.
    pub fn read(&mut self, value: usize) {
        let now = self.now;
        for terminal in self.terminals(value) {
            if let Some(read) = self.read.get_mut(terminal) {
                *read = Some(read.map_or(now, |before| before.max(now)));
            }
        }
    }

    /// From here on, reading `value` reads `other`.
    pub fn stand_for(&mut self, value: usize, other: usize) {
        if value != other && self.defined.get(value).is_some_and(Option::is_none) {
            self.stands_for[value] = vec![other];
        }
    }

    /// A loop's body begins.
    pub fn begin_loop(&mut self) {
        self.open.push(self.now);
    }

    /// A loop's body is over.
    pub fn end_loop(&mut self) {
        if let Some(start) = self.open.pop()
            && start < self.now
        {
            self.loops.push((start, self.now));
        }
    }

    /// Branches end and `result` is one of the sources.
    pub fn join(&mut self, result: usize, sources: &[Source]) {
        let family = self.next_family;
        self.next_family += 1;
        let mut kept = Vec::new();
        for source in sources {
            for terminal in self.terminals(source.value) {
                let Some(Some(defined)) = self.defined.get(terminal).copied() else { continue };
                if source.from <= defined && defined < source.until {
                    self.families[terminal].insert(family);
                    kept.push(terminal);
                } else if source.keeps_bytes {
                    kept.push(terminal);
                }
            }
        }
        if let Some(own) = self.stands_for.get_mut(result) {
            *own = kept;
        }
    }

    /// What there is to know.
    pub fn finish(self) -> Lifetimes {
        let lifetimes = self
            .defined
            .iter()
            .zip(&self.read)
            .map(|(defined, read)| {
                let start = (*defined)?;
                let last = read.unwrap_or(start);
                let again = self.loops.iter().filter(|(first, _)| start < *first && *first <= last);
                Some(Lifetime { start, end: again.map(|(_, end)| *end).fold(last, Tick::max) })
            })
            .collect();
        Lifetimes { order: self.order, lifetimes, families: self.families }
    }

    /// The values with bytes that a value stands for; itself when it is one.
    fn terminals(&self, value: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut open = vec![value];
        while let Some(next) = open.pop() {
            if !seen.insert(next) {
                continue;
            }
            match self.stands_for.get(next) {
                Some(others) if !others.is_empty() => open.extend(others),
                _ => {
                    found.insert(next);
                }
            }
        }
        found
    }
}

/// The lifetimes of a program's values.
#[derive(Debug)]
pub struct Lifetimes {
    /// Values in the order of their definition.
    pub order: Vec<usize>,
    lifetimes: Vec<Option<Lifetime>>,
    families: Vec<BTreeSet<u32>>,
}

impl Lifetimes {
    /// Of one value; `None` when nothing defines it.
    pub fn of(&self, value: usize) -> Option<Lifetime> {
        self.lifetimes.get(value).copied().flatten()
    }

    /// Whether a join makes both one value on paths that exclude each other.
    pub fn same_family(&self, a: usize, b: usize) -> bool {
        match (self.families.get(a), self.families.get(b)) {
            (Some(a), Some(b)) => !a.is_disjoint(b),
            _ => false,
        }
    }

    /// Whether two groups of values, each with bytes of its own, may have the same bytes as far as time goes.
    pub fn may_share(&self, a: &[usize], b: &[usize]) -> bool {
        let (Some(whole_a), Some(whole_b)) = (self.hull(a), self.hull(b)) else { return false };
        if !whole_a.meets(&whole_b) {
            return true;
        }
        // The whole overlaps: only values that are one value on excluding paths excuse that.
        let mut related = false;
        for &x in a {
            for &y in b {
                if self.same_family(x, y) {
                    related = true;
                } else if let (Some(x), Some(y)) = (self.of(x), self.of(y))
                    && x.meets(&y)
                {
                    return false;
                }
            }
        }
        related
    }

    /// The most bytes that are needed at once: no placement can do with less. Values of a group stand at one place, which
    /// counts with the largest of them that is needed; each comes with its bytes.
    pub fn most_needed(&self, groups: &[Vec<(usize, u64)>]) -> u64 {
        let ticks = groups.iter().flatten().filter_map(|&(value, _)| self.of(value)).map(|l| l.start);
        let ticks: BTreeSet<Tick> = ticks.collect();
        let needed =
            |value: usize, at: Tick| self.of(value).is_some_and(|l| l.start <= at && (at < l.end || at == l.start));
        let at = |tick: Tick| -> u64 {
            let place = |group: &Vec<(usize, u64)>| {
                group.iter().filter(|(value, _)| needed(*value, tick)).map(|(_, size)| *size).max().unwrap_or(0)
            };
            groups.iter().map(place).fold(0, u64::saturating_add)
        };
        ticks.into_iter().map(at).max().unwrap_or(0)
    }

    /// From the first definition to the last read of a group.
    pub fn hull(&self, values: &[usize]) -> Option<Lifetime> {
        values.iter().filter_map(|&v| self.of(v)).reduce(|a, b| a.hull(&b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_from_before_a_loop_lives_to_its_end() {
        let mut time = Timeline::new(2);
        time.define(0);
        time.step();
        time.begin_loop();
        time.read(0);
        time.step();
        time.define(1);
        time.step();
        time.end_loop();
        let found = time.finish();
        assert_eq!(found.of(0), Some(Lifetime { start: 0, end: 3 }));
        assert!(!found.may_share(&[0], &[1]));
    }

    #[test]
    fn reading_a_loop_result_reads_the_first_value() {
        let mut time = Timeline::new(2);
        time.define(0);
        time.step();
        time.begin_loop();
        time.end_loop();
        time.stand_for(1, 0);
        time.step();
        time.read(1);
        assert_eq!(time.finish().of(0), Some(Lifetime { start: 0, end: 2 }));
    }

    #[test]
    fn joined_values_of_two_branches_may_share() {
        let mut time = Timeline::new(3);
        time.define(0);
        time.step();
        let middle = time.now();
        time.define(1);
        time.step();
        let end = time.now();
        let source = |value, from, until| Source { value, from, until, keeps_bytes: false };
        time.join(2, &[source(0, 0, middle), source(1, middle, end)]);
        time.read(2);
        let found = time.finish();
        assert_eq!(found.of(0), Some(Lifetime { start: 0, end: 2 }));
        assert!(found.may_share(&[0], &[1]));
    }

    #[test]
    fn what_is_read_last_where_another_begins_is_not_needed_with_it() {
        let mut time = Timeline::new(3);
        time.define(0);
        time.step();
        time.define(1);
        time.step();
        time.read(0);
        time.read(1);
        time.define(2);
        time.step();
        time.read(2);
        let found = time.finish();
        assert_eq!(found.most_needed(&[vec![(0, 64)], vec![(1, 32)], vec![(2, 128)]]), 128);
        assert_eq!(found.most_needed(&[vec![(0, 64)], vec![(1, 100)]]), 164);
        assert_eq!(found.most_needed(&[vec![(0, 64), (2, 32)], vec![(1, 16)]]), 80);
    }

    #[test]
    fn a_statement_may_write_over_what_it_reads_last() {
        let (a, b) = (Lifetime { start: 0, end: 3 }, Lifetime { start: 3, end: 5 });
        assert!(!a.meets(&b));
    }
}
