//! Which slices are next to each other in chains, by their places.
//!
//! The links of a place lie side by side, and are half as wide while the places are
//! few: of a template each instance is in several chains, and their links take more
//! than anything else of it.
//!
//! Invariant: when a place is the next of another one, that is the one before it.

use crate::slices::{Place, make_room};

/// The link of a place that has nobody on that side.
const NOBODY: Place = Place::MAX;
/// The same, while the links are narrow.
const NARROW_NOBODY: u16 = u16::MAX;

/// The next and the previous place of each.
#[derive(Debug, Clone)]
pub(crate) struct Links(Pairs);

#[derive(Debug, Clone)]
enum Pairs {
    /// While all places are smaller than the number that stands for nobody.
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
    /// The chain of a place, from it on.
    pub fn along(&self, head: Place) -> impl Iterator<Item = Place> + '_ {
        std::iter::successors(Some(head), |&place| self.next(place))
    }

    /// The place after this one. One beyond the end of the list has nobody: where
    /// all are alone, the list is empty.
    #[inline]
    pub fn next(&self, place: Place) -> Option<Place> {
        self.link(place, NEXT)
    }

    /// The place before this one.
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

    /// A place that is in no chain comes before the first of one.
    pub fn lead(&mut self, place: Place, first: Place) {
        self.reach(place.max(first));
        self.isolate(place);
        self.set(place, NEXT, Some(first));
        self.set(first, PREVIOUS, Some(place));
    }

    /// The place has nobody next to it, whatever was there before it had this chain.
    pub fn isolate(&mut self, place: Place) {
        self.set(place, NEXT, None);
        self.set(place, PREVIOUS, None);
    }

    /// The places on both sides of this one are next to each other from now on.
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
                    // All places are narrow here.
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

    /// Makes the list so long that it has this place.
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

    /// The bytes that were taken from the system.
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
        // What was left of a place is no link of the next one that has it.
        links.isolate(3);
        assert_eq!((links.next(3), links.previous(3)), (None, None));
    }
}
