//! Which buffers of one memory space share bytes.
//!
//! First fit, largest first: a buffer goes to the first place all of whose buffers it may share with, or opens a new
//! one. The first buffer of a place is its largest, so joining it costs nothing. What may share is the caller's
//! business; so is how many bytes the space has (`layout` counts them).

use super::lifetimes::Tick;

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
    let mut order: Vec<usize> = (0..buffers.len()).collect();
    order.sort_by_key(|&i| (std::cmp::Reverse(buffers[i].size), buffers[i].start, i));
    let mut places: Vec<Vec<usize>> = Vec::new();
    for index in order {
        let open = places.iter_mut().find(|place| {
            !buffers[index].alone && place.iter().all(|&other| !buffers[other].alone && may_share(index, other))
        });
        match open {
            Some(place) => place.push(index),
            None => places.push(vec![index]),
        }
    }
    places
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
    fn the_author_s_buffers_stay_alone() {
        let alone = Buffer { alone: true, ..buffer(64, 0) };
        assert_eq!(pack(&[alone, buffer(64, 1), alone], &|_, _| true).len(), 3);
    }
}
