//! Addresses for stubs.
//!
//! Stubs are packed from the start of the nearest window that has room. The most
//! constrained are placed first; what they leave between them is filled by the
//! others, so that few pages are used.
//!
//! A processor tells branches apart by the lower bits of their addresses. A stub whose
//! branches are at the same place as its jump or as the code around it, which runs in turn
//! with it, in another block of 64 KiB, takes their entries in the predictor, and loses its
//! own: some 20 cycles for each event. So a stub begins elsewhere if there is room.
//!
//! **Invariant**: stubs that are placed do not overlap, and each lies wholly in a
//! free range and within its reach.

use super::{Constraint, displacement};
use crate::head::JUMP_LENGTH;
use std::collections::BTreeMap;
use std::ops::Range;

/// Free ranges shorter than this are forgotten: no stub is as short.
const SHORTEST: u64 = 48;
/// The size of the blocks in which the same addresses may be confused.
const BLOCK: u64 = 1 << 16;
/// The distances in bytes between a stub and its jump within a block, the best first: from the
/// code around the jump, from the jump alone, none.
const DISTANCES: [u64; 3] = [4096, 64, 0];

/// A stub that needs an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The address of the jump.
    pub jump: u64,
    /// Which bytes of its displacement must trap.
    pub constraint: Constraint,
    /// The size of the stub in bytes.
    pub size: u64,
    /// Where the stub may begin, so that its twins reach what they address
    /// ([`crate::head::Head::reach`]).
    pub reach: Range<u64>,
}

/// The free parts of the address space.
#[derive(Debug, Clone, Default)]
pub struct Placement {
    /// The start of each free range, and its end.
    free: BTreeMap<u64, u64>,
}

impl Placement {
    /// Takes the free ranges, which may overlap.
    pub fn new(free: &[Range<u64>]) -> Self {
        let mut sorted = free.to_vec();
        sorted.sort_by_key(|range| range.start);
        let mut placement = Self::default();
        let mut last: Option<Range<u64>> = None;
        for range in sorted {
            match &mut last {
                Some(before) if range.start <= before.end => {
                    before.end = before.end.max(range.end);
                }
                _ => {
                    if let Some(before) = last.replace(range) {
                        placement.insert(before);
                    }
                }
            }
        }
        if let Some(range) = last {
            placement.insert(range);
        }
        placement
    }

    /// Takes out what is no longer free.
    pub fn exclude(&mut self, range: &Range<u64>) {
        let below = self.free.range(..range.end).rev();
        let overlapping = below.take_while(|(_, end)| **end > range.start);
        let overlapping: Vec<Range<u64>> = overlapping.map(|(start, end)| *start..*end).collect();
        for free in overlapping {
            self.free.remove(&free.start);
            self.insert(free.start..range.start.max(free.start));
            self.insert(range.end.min(free.end)..free.end);
        }
    }

    /// Returns an address for each stub, in the order of the requests; none
    /// where no free range fits.
    pub fn place_all(&mut self, requests: &[Request]) -> Vec<Option<u64>> {
        let mut order: Vec<usize> = (0..requests.len()).collect();
        order.sort_by_key(|at| {
            let constrained = requests
                .get(*at)
                .map_or(0, |request| request.constraint.count());
            std::cmp::Reverse(constrained)
        });
        let mut placed = vec![None; requests.len()];
        for at in order {
            if let (Some(request), Some(place)) = (requests.get(at), placed.get_mut(at)) {
                *place = self.place(request);
            }
        }
        placed
    }

    /// Takes an address for one stub from the free ranges.
    pub fn place(&mut self, request: &Request) -> Option<u64> {
        let size = request.size.max(1);
        let find = |distance: u64| {
            let mut windows = request.constraint.windows(request.jump);
            windows.find_map(|window| {
                let start = window.start.max(request.reach.start);
                let end = window.end.min(request.reach.end);
                self.find(request, start..end, (size, distance))
            })
        };
        let found = DISTANCES.into_iter().find_map(find)?;
        self.take(found..found.checked_add(size)?);
        Some(found)
    }

    /// Finds the first address in the window that the constraint allows, that has `size` free
    /// bytes, and that is so far from the jump within a block.
    fn find(
        &self,
        request: &Request,
        window: Range<u64>,
        (size, distance): (u64, u64),
    ) -> Option<u64> {
        let mut least = window.start;
        while least < window.end {
            let (start, end) = self.range_from(least)?;
            let candidate = next_address(request, least.max(start))?;
            if let Some(nearby) = nearby_for(request.jump, candidate, distance) {
                least = candidate.checked_add(nearby)?;
                continue;
            }
            if candidate >= window.end {
                return None;
            }
            if candidate.checked_add(size)? <= end {
                return Some(candidate);
            }
            // No later address of this range has more room.
            least = end.max(candidate);
        }
        None
    }

    /// Returns the free range that contains the address, or the next one.
    fn range_from(&self, address: u64) -> Option<(u64, u64)> {
        let before = self.free.range(..=address).next_back();
        let containing = before.filter(|(_, end)| **end > address);
        let found = containing.or_else(|| self.free.range(address..).next())?;
        Some((*found.0, *found.1))
    }

    /// Takes bytes out of the free range that contains them.
    fn take(&mut self, taken: Range<u64>) {
        let Some((start, end)) = self.range_from(taken.start) else {
            return;
        };
        self.free.remove(&start);
        self.insert(start..taken.start);
        self.insert(taken.end..end);
    }

    fn insert(&mut self, range: Range<u64>) {
        if range.end.saturating_sub(range.start) >= SHORTEST {
            self.free.insert(range.start, range.end);
        }
    }
}

/// Returns the number of bytes from the candidate to the next address that is so far from the
/// jump within a block; none if the candidate is.
fn nearby_for(jump: u64, candidate: u64, distance: u64) -> Option<u64> {
    let last = distance.checked_sub(1)?;
    let from_first = candidate.wrapping_sub(jump).wrapping_add(last) % BLOCK;
    let rest = (last + distance).checked_sub(from_first)?;
    (rest > 0).then_some(rest)
}

/// Returns the first address from `least` on to which the jump may lead.
fn next_address(request: &Request, least: u64) -> Option<u64> {
    let next = request
        .constraint
        .next_allowed(displacement(request.jump, least)?)?;
    let origin = request.jump.wrapping_add(JUMP_LENGTH);
    Some(origin.wrapping_add_signed(i64::from(next)))
}
