//! Which buffers of one memory space share bytes.
//!
//! First fit, largest first: a buffer goes to the first place all of whose buffers it may share with, or opens a new
//! one. The first buffer of a place is its largest, so joining it costs nothing. What may share is the caller's
//! business; so is how many bytes the space has (`layout` counts them).

use super::lifetimes::{Lifetime, Tick};
use std::collections::BTreeMap;

/// A buffer.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// Bytes.
    pub size: u64,
    /// When it is defined; equal sizes go by this.
    pub start: Tick,
    /// Whether the author gave it a place that no other buffer may take.
    pub alone: bool,
}

/// The places, each with its buffers; the first one gives the place its size.
pub fn pack(buffers: &[Buffer], may_share: &dyn Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    pack_by_time(buffers, &Times { lives: &[], always: &|_| true }, may_share)
}

/// What is known about time, so that not every pair has to be asked about.
pub struct Times<'a> {
    /// When each buffer is in use; two whose times do not even touch may share bytes.
    pub lives: &'a [Option<Lifetime>],
    /// Buffers that are asked about with one another whatever their times are.
    pub always: &'a dyn Fn(usize) -> bool,
}

/// The same, asking only where it matters. A buffer without a time that is not always asked about stays alone.
pub fn pack_by_time(buffers: &[Buffer], times: &Times, may_share: &dyn Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..buffers.len()).collect();
    order.sort_by_key(|&i| (std::cmp::Reverse(buffers[i].size), buffers[i].start, i));
    let mut places: Vec<Place> = Vec::new();
    for index in order {
        let life = times.lives.get(index).copied().flatten();
        let always = (times.always)(index);
        let alone = buffers[index].alone || (life.is_none() && !always);
        let fits = |place: &&mut Place| !alone && place.takes(index, life, always, may_share);
        match places.iter_mut().find(fits) {
            Some(place) => place.add(index, life, always),
            None => {
                let mut place = Place { closed: alone, ..Place::default() };
                place.add(index, life, always);
                places.push(place);
            }
        }
    }
    places.into_iter().map(|place| place.members).collect()
}

/// A place with its buffers by time.
#[derive(Default)]
struct Place {
    members: Vec<usize>,
    closed: bool,
    /// Ends of times by start.
    by_start: BTreeMap<(Tick, usize), Tick>,
    longest: Tick,
    always: Vec<usize>,
}

impl Place {
    fn takes(
        &self,
        index: usize,
        life: Option<Lifetime>,
        always: bool,
        may_share: &dyn Fn(usize, usize) -> bool,
    ) -> bool {
        let near = life.into_iter().flat_map(|life| {
            let from = (life.start.saturating_sub(self.longest), 0);
            let touching = self.by_start.range(from..=(life.end, usize::MAX));
            touching.filter(move |(_, end)| **end >= life.start).map(|((_, other), _)| *other)
        });
        !self.closed
            && near.into_iter().all(|other| may_share(index, other))
            && (!always || self.always.iter().all(|&other| may_share(index, other)))
    }

    fn add(&mut self, index: usize, life: Option<Lifetime>, always: bool) {
        self.members.push(index);
        if let Some(life) = life {
            self.by_start.insert((life.start, index), life.end);
            self.longest = self.longest.max(life.end.saturating_sub(life.start));
        }
        if always {
            self.always.push(index);
        }
    }
}

/// For each buffer the one whose place it has.
pub fn owners(places: &[Vec<usize>], buffers: usize) -> Vec<usize> {
    let mut owners: Vec<usize> = (0..buffers).collect();
    for place in places {
        for &member in place {
            owners[member] = place[0];
        }
    }
    owners
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(size: u64, start: Tick) -> Buffer {
        Buffer { size, start, alone: false }
    }

    #[test]
    fn a_late_large_buffer_takes_in_an_early_small_one() {
        let places = pack(&[buffer(64, 0), buffer(256, 5), buffer(64, 1)], &|a, b| a + b != 2);
        assert_eq!(places, vec![vec![1, 0], vec![2]]);
        assert_eq!(owners(&places, 3), vec![1, 1, 2]);
    }

    #[test]
    fn only_what_touches_in_time_is_asked_about() {
        let lives: Vec<Option<Lifetime>> =
            [(0, 2), (2, 4), (5, 9), (3, 6)].map(|(start, end)| Some(Lifetime { start, end })).to_vec();
        let asked = std::cell::RefCell::new(Vec::new());
        let meet = |a: usize, b: usize| {
            asked.borrow_mut().push((a, b));
            matches!((lives[a], lives[b]), (Some(x), Some(y)) if !x.meets(&y))
        };
        let buffers: Vec<Buffer> = (0..4).map(|i| buffer(64, i)).collect();
        let places = pack_by_time(&buffers, &Times { lives: &lives, always: &|_| false }, &meet);
        assert_eq!(places, vec![vec![0, 1, 2], vec![3]]);
        assert_eq!(*asked.borrow(), vec![(1, 0), (3, 1)]);
        assert_eq!(places, pack(&buffers, &meet));
    }

    #[test]
    fn the_author_s_buffers_stay_alone() {
        let alone = Buffer { alone: true, ..buffer(64, 0) };
        assert_eq!(pack(&[alone, buffer(64, 1), alone], &|_, _| true).len(), 3);
    }
}
