//! The neighbours of slices in chains, by cell.
//!
//! The links of a cell are adjacent, and half as wide while there are few cells: each
//! instance of a template is in several chains, and its links take more memory than the
//! rest of it.
//!
//! **Invariant:** if cell b is the next of cell a, then a is the previous of b.

use crate::slices::{Place, make_room};

/// The link of a cell without a neighbour on that side.
const NOBODY: Place = Place::MAX;
/// The same for narrow links.
const NARROW_NOBODY: u16 = u16::MAX;

/// The next and the previous cell of each cell.
#[derive(Debug, Clone)]
pub(crate) struct Links(Pairs);

#[derive(Debug, Clone)]
enum Pairs {
    /// Used while all cell numbers are smaller than [`NARROW_NOBODY`].
    Narrow(Vec<[u16; 2]>),
    Wide(Vec<[Place; 2]>),
}

const NEXT: usize = 0;
const PREVIOUS: usize = 1;

impl Default for Links {
    fn default() -> Links {
        Links(Pairs::Narrow(Vec::new()))
    }
}

impl Links {
    /// Iterates over the chain from a cell on.
    pub fn along(&self, head: Place) -> impl Iterator<Item = Place> + '_ {
        std::iter::successors(Some(head), |&place| self.next(place))
    }

    /// Returns the next cell. A cell beyond the end of the list has no neighbours: if
    /// all cells are alone, the list is empty.
    #[inline]
    pub fn next(&self, place: Place) -> Option<Place> {
        self.link(place, NEXT)
    }

    /// Returns the previous cell.
    #[inline]
    pub fn previous(&self, place: Place) -> Option<Place> {
        self.link(place, PREVIOUS)
    }

    #[inline]
    fn link(&self, place: Place, side: usize) -> Option<Place> {
        match &self.0 {
            Pairs::Narrow(pairs) => {
                let link = pairs.get(place as usize)?[side];
                (link != NARROW_NOBODY).then_some(Place::from(link))
            }
            Pairs::Wide(pairs) => {
                let link = pairs.get(place as usize)?[side];
                (link != NOBODY).then_some(link)
            }
        }
    }

    /// Puts a cell that is in no chain before the first cell of a chain.
    pub fn lead(&mut self, place: Place, first: Place) {
        self.reach(place.max(first));
        self.isolate(place);
        self.set(place, NEXT, Some(first));
        self.set(first, PREVIOUS, Some(place));
    }

    /// Removes the neighbours of a cell, whatever slice had it before.
    pub fn isolate(&mut self, place: Place) {
        self.set(place, NEXT, None);
        self.set(place, PREVIOUS, None);
    }

    /// Unlinks a cell: its neighbours become adjacent.
    pub fn take_out(&mut self, place: Place) {
        let (next, previous) = (self.next(place), self.previous(place));
        if let Some(next) = next {
            self.set(next, PREVIOUS, previous);
        }
        if let Some(previous) = previous {
            self.set(previous, NEXT, next);
        }
    }

    fn set(&mut self, place: Place, side: usize, link: Option<Place>) {
        match &mut self.0 {
            Pairs::Narrow(pairs) => {
                if let Some(pair) = pairs.get_mut(place as usize) {
                    // All cell numbers are narrow here.
                    let link = link.and_then(|link| u16::try_from(link).ok());
                    pair[side] = link.unwrap_or(NARROW_NOBODY);
                }
            }
            Pairs::Wide(pairs) => {
                if let Some(pair) = pairs.get_mut(place as usize) {
                    pair[side] = link.unwrap_or(NOBODY);
                }
            }
        }
    }

    /// Extends the list to include a cell.
    #[inline]
    fn reach(&mut self, place: Place) {
        let size = place as usize + 1;
        if let Pairs::Narrow(pairs) = &self.0
            && pairs.len() < size
            && place >= Place::from(NARROW_NOBODY)
        {
            self.widen();
        }
        match &mut self.0 {
            Pairs::Narrow(pairs) => extend(pairs, size, [NARROW_NOBODY; 2]),
            Pairs::Wide(pairs) => extend(pairs, size, [NOBODY; 2]),
        }
    }

    #[cold]
    fn widen(&mut self) {
        let Pairs::Narrow(narrow) = &self.0 else {
            return;
        };
        let wide = |link: u16| match link {
            NARROW_NOBODY => NOBODY,
            link => Place::from(link),
        };
        self.0 = Pairs::Wide(narrow.iter().map(|pair| pair.map(wide)).collect());
    }

    /// Returns the number of allocated bytes.
    pub fn bytes(&self) -> usize {
        match &self.0 {
            Pairs::Narrow(pairs) => size_of::<[u16; 2]>() * pairs.capacity(),
            Pairs::Wide(pairs) => size_of::<[Place; 2]>() * pairs.capacity(),
        }
    }
}

#[inline]
fn extend<T: Clone>(pairs: &mut Vec<T>, size: usize, pair: T) {
    if pairs.len() < size {
        make_room(pairs, size - pairs.len());
        pairs.resize(size, pair);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(links: &Links, head: Place) -> Vec<Place> {
        links.along(head).collect()
    }

    #[test]
    fn links_stay_when_they_become_wide() {
        let mut links = Links::default();
        assert_eq!(chain(&links, 70_000), [70_000]);
        let last_narrow = Place::from(NARROW_NOBODY) - 1;
        for (place, first) in [(5, 3), (last_narrow, 5)] {
            links.lead(place, first);
        }
        assert!(matches!(links.0, Pairs::Narrow(_)));
        links.lead(last_narrow + 1, last_narrow);
        links.lead(70_000, last_narrow + 1);
        assert!(matches!(links.0, Pairs::Wide(_)));
        let all = [70_000, last_narrow + 1, last_narrow, 5, 3];
        assert_eq!(chain(&links, 70_000), all);
        links.take_out(last_narrow + 1);
        links.take_out(3);
        assert_eq!(chain(&links, 70_000), [70_000, last_narrow, 5]);
        assert_eq!(links.previous(last_narrow), Some(70_000));
        // Stale links of a cell must not become links of the next slice in it.
        links.isolate(3);
        assert_eq!((links.next(3), links.previous(3)), (None, None));
    }
}
