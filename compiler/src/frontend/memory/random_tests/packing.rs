//! Random timelines: buffers that `pack` puts into one place are never needed at once on any run.
//!
//! A timeline is drawn as a tree of statements. All its runs are listed (each loop not at all, once, twice; each branch
//! both ways), and each run is gone through with one cell a place: the cell must hold what a statement reads.

use super::random::Random;
use crate::memory::{
    lifetimes::{Lifetimes, Source, Timeline},
    reuse::{Buffer, owners, pack},
};
use std::collections::BTreeMap;

const TIMELINES: u64 = 800;
/// Runs of one timeline that are looked at.
const RUNS: usize = 400;

/// A statement on values.
#[derive(Clone, Debug)]
enum Step {
    /// Reads some values, then writes one.
    Define(Vec<usize>, usize),
    /// Runs any number of times.
    Loop(Vec<Step>),
    /// One of two ways; the joined value is one of both. Both values were defined inside.
    Branch([Vec<Step>; 2], [usize; 2], usize),
}

/// What happens on one run.
#[derive(Clone, Copy, Debug)]
enum Event {
    Read(usize),
    Write(usize),
    /// The first is the second from now on.
    Is(usize, usize),
}

struct Drawing {
    random: Random,
    values: usize,
}

impl Drawing {
    fn value(&mut self) -> usize {
        self.values += 1;
        self.values - 1
    }

    fn block(&mut self, known: &mut Vec<usize>, depth: u32) -> Vec<Step> {
        let count = 1 + self.random.below(4);
        (0..count).map(|_| self.step(known, depth)).collect()
    }

    fn step(&mut self, known: &mut Vec<usize>, depth: u32) -> Step {
        match self.random.below(6) {
            0 if depth > 0 => Step::Loop(self.block(&mut known.clone(), depth - 1)),
            1 if depth > 0 => {
                let mut side = || {
                    let mut inside = known.clone();
                    let mut steps = self.block(&mut inside, depth - 1);
                    steps.push(self.define(&mut inside));
                    (steps, inside.last().copied().unwrap_or(0))
                };
                let ((a, x), (b, y)) = (side(), side());
                let joined = self.value();
                known.push(joined);
                Step::Branch([a, b], [x, y], joined)
            }
            _ => self.define(known),
        }
    }

    fn define(&mut self, known: &mut Vec<usize>) -> Step {
        let count = self.random.below(3);
        let reads = (0..count).filter_map(|_| self.random.of(known)).collect();
        let value = self.value();
        known.push(value);
        Step::Define(reads, value)
    }
}

/// Tells the timeline what the steps are.
fn tell(steps: &[Step], time: &mut Timeline) {
    for step in steps {
        match step {
            Step::Define(reads, value) => {
                reads.iter().for_each(|&r| time.read(r));
                time.define(*value);
                time.step();
            }
            Step::Loop(body) => {
                time.begin_loop();
                tell(body, time);
                time.end_loop();
            }
            Step::Branch(sides, values, joined) => {
                let mut sources = Vec::new();
                for (side, &value) in sides.iter().zip(values) {
                    let from = time.now();
                    tell(side, time);
                    // The yield.
                    time.read(value);
                    time.step();
                    sources.push(Source { value, from, until: time.now(), keeps_bytes: sources.is_empty() });
                }
                time.join(*joined, &sources);
            }
        }
    }
}

/// All runs, as long as there are not too many.
fn runs(steps: &[Step]) -> Vec<Vec<Event>> {
    let mut all = vec![Vec::new()];
    for step in steps {
        let ways: Vec<Vec<Event>> = match step {
            Step::Define(reads, value) => {
                vec![reads.iter().map(|&r| Event::Read(r)).chain([Event::Write(*value)]).collect()]
            }
            Step::Loop(body) => {
                let once = runs(body);
                let pairs = once.iter().flat_map(|a| once.iter().map(move |b| a.iter().chain(b).copied().collect()));
                [Vec::new()].into_iter().chain(once.iter().cloned()).chain(pairs).collect()
            }
            Step::Branch(sides, values, joined) => {
                let side = |(side, &value): (&Vec<Step>, &usize)| {
                    let end = [Event::Read(value), Event::Is(*joined, value)];
                    runs(side).into_iter().map(move |r| r.into_iter().chain(end).collect::<Vec<_>>())
                };
                sides.iter().zip(values).flat_map(side).collect()
            }
        };
        let longer = all.iter().flat_map(|run| ways.iter().map(move |way| run.iter().chain(way).copied().collect()));
        all = longer.take(RUNS).collect();
    }
    all
}

/// A value that is read where another one has been written.
fn lost(run: &[Event], owners: &[usize]) -> Option<usize> {
    let (mut cells, mut meant) = (BTreeMap::new(), BTreeMap::new());
    for &event in run {
        match event {
            Event::Write(value) => {
                cells.insert(owners[value], value);
                meant.insert(value, value);
            }
            Event::Is(joined, value) => {
                let value = meant.get(&value).copied().unwrap_or(value);
                meant.insert(joined, value);
            }
            Event::Read(value) => {
                let value = meant.get(&value).copied()?;
                if cells.get(&owners[value]) != Some(&value) {
                    return Some(value);
                }
            }
        }
    }
    None
}

fn drawn(seed: u64) -> (Vec<Step>, Lifetimes, Vec<Buffer>) {
    let mut drawing = Drawing { random: Random::new(seed), values: 0 };
    let mut known = Vec::new();
    let mut steps = Vec::new();
    for _ in 0..3 {
        steps.extend(drawing.block(&mut known, 2));
    }
    let mut time = Timeline::new(drawing.values);
    tell(&steps, &mut time);
    let found = time.finish();
    let sizes: Vec<u64> = (0..drawing.values).map(|_| 32 * (1 + drawing.random.below(3))).collect();
    let start = |v| found.of(v).map_or(0, |l| l.start);
    let buffers = sizes.iter().enumerate().map(|(v, &size)| Buffer { size, start: start(v), alone: false }).collect();
    (steps, found, buffers)
}

#[test]
fn no_run_loses_a_value() {
    let mut shared = 0;
    for seed in 0..TIMELINES {
        let (steps, lifetimes, buffers) = drawn(seed);
        let places = pack(&buffers, &|a, b| lifetimes.may_share(&[a], &[b]));
        let owners = owners(&places, buffers.len());
        shared += buffers.len() - places.len();
        for run in runs(&steps) {
            let lost = lost(&run, &owners);
            assert_eq!(lost, None, "timeline {seed}: {places:?}\n{steps:#?}\n{run:?}");
        }
    }
    assert!(shared as u64 > TIMELINES, "only {shared} buffers share");
}

#[test]
fn places_hold_each_buffer_once_and_the_largest_first() {
    for seed in 0..TIMELINES {
        let (_, lifetimes, buffers) = drawn(seed);
        let may_share = |a: usize, b: usize| lifetimes.may_share(&[a], &[b]);
        let places = pack(&buffers, &may_share);
        let mut all: Vec<usize> = places.concat();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..buffers.len()), "timeline {seed}: {places:?}");
        for place in &places {
            for (index, &a) in place.iter().enumerate() {
                assert!(buffers[a].size <= buffers[place[0]].size, "timeline {seed}: {places:?}");
                let later = place.iter().skip(index + 1);
                assert!(later.into_iter().all(|&b| may_share(a, b)), "timeline {seed}: {places:?}");
            }
        }
    }
}
