//! The statements that a thread has begun, call by call, up to a place.
//!
//! A statement begins where its line has code that begins one, and the thread was in another line of
//! the same call before. Code of inlined calls belongs to the line of the call for those who step
//! over calls, and has statements of its own for those who step into them.
//!
//! **Invariant**: what is kept of a call is of its last entry. A trail that begins in the middle of the
//! run takes the first line that it sees in a call for one that has begun before.

use std::path::Path;
use std::rc::Rc;

/// A line of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub file: Rc<Path>,
    pub number: u32,
}

/// A line of a function's code in which a thread stands, at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Visit {
    /// The inlined calls around it, outermost first, by where their code begins.
    pub path: Vec<u64>,
    /// The lines of the function and of these calls: one more than these.
    pub lines: Vec<Line>,
    /// Whether a statement of the innermost line begins at the address.
    pub begins: bool,
    /// The number of inlined calls that begin at the address and are not entered.
    pub skipped: usize,
}

/// Something that is found on a trail: a place, as the trail is given it, and the inlined calls that
/// are not entered there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found<P> {
    pub place: P,
    pub skipped: usize,
    /// Its number among all that happened.
    pub order: u64,
}

/// A call of a function that may have statements, from a call on the trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Made<P, C> {
    pub place: P,
    pub callee: C,
}

/// A call on the way to the place: its function's statements are seen.
#[derive(Debug, Clone)]
struct Track<P, C> {
    /// The inlined calls in which the thread stands at the place, outermost first.
    path: Vec<u64>,
    /// Whether the thread stands in a function that this one has called.
    is_calling: bool,
    /// Whether the line before is known.
    is_known: bool,
    before: Option<Visit>,
    /// The last statement, those of inlined calls included.
    last: Option<Found<P>>,
    /// The last statement at each depth of inlined calls on the path, 0 for the function itself.
    own: Vec<Option<Found<P>>>,
    /// The line before, at each depth.
    own_before: Vec<Option<Line>>,
    /// The entries of the inlined calls on the path.
    entered: Vec<Option<Found<P>>>,
    /// The calls that were made since the last statement. Of several of one function only the last
    /// two are kept: the last one may not be over.
    made: Vec<Made<P, C>>,
    /// Whether the last call of all is the last one of these.
    is_last_kept: bool,
}

impl<P: Clone, C: Clone + PartialEq> Track<P, C> {
    fn new(path: Vec<u64>, is_calling: bool) -> Track<P, C> {
        let depths = path.len() + 1;
        Track {
            path,
            is_calling,
            is_known: false,
            before: None,
            last: None,
            own: vec![None; depths],
            own_before: vec![None; depths],
            entered: vec![None; depths],
            made: Vec::new(),
            is_last_kept: false,
        }
    }

    /// Returns at how many of the inlined calls on the path a visit is.
    fn common(&self, visit: &Visit) -> usize {
        let both = self.path.iter().zip(&visit.path);
        both.take_while(|(own, other)| own == other).count()
    }

    fn visit(&mut self, visit: &Visit, found: Found<P>) {
        let is_known = std::mem::replace(&mut self.is_known, true);
        let before = self.before.replace(visit.clone());
        let is_same_line =
            |before: &Visit| before.path == visit.path && before.lines.last() == visit.lines.last();
        if is_known && visit.begins && !before.as_ref().is_some_and(is_same_line) {
            self.last = Some(found.clone());
            self.made.clear();
            self.is_last_kept = false;
        }
        let common = self.common(visit);
        let common_before = before.as_ref().map(|before| self.common(before));
        for depth in 0..self.own.len() {
            let (Some(own), Some(line)) = (self.own.get_mut(depth), self.own_before.get_mut(depth))
            else {
                continue;
            };
            if depth > common {
                // The thread has left this inlined call, or is not in it yet.
                *own = None;
                *line = None;
                continue;
            }
            if is_known
                && common_before.is_none_or(|before| before < depth)
                && let Some(entered) = self.entered.get_mut(depth)
            {
                *entered = Some(Found {
                    skipped: found.skipped + 1,
                    ..found.clone()
                });
            }
            let now = visit.lines.get(depth).cloned();
            let is_innermost = visit.path.len() == depth;
            if is_known && is_innermost && visit.begins && *line != now {
                *own = Some(found.clone());
            }
            *line = now;
        }
    }

    fn make(&mut self, made: Option<Made<P, C>>) {
        self.is_last_kept = made.is_some();
        let Some(made) = made else {
            return;
        };
        if let Some(last) = self.made.pop() {
            self.made.retain(|it| it.callee != made.callee);
            self.made.push(last);
        }
        self.made.push(made);
    }

    /// Returns the calls that have been made since the last statement and are over.
    fn over(&self) -> &[Made<P, C>] {
        match self.made.split_last() {
            Some((_, before)) if self.is_calling && self.is_last_kept => before,
            _ => &self.made,
        }
    }
}

/// The calls on the way to a place, innermost first. `P` is a place and `C` a call.
#[derive(Debug, Clone)]
pub(super) struct Trail<P, C> {
    tracks: Vec<Track<P, C>>,
    order: u64,
}

impl<P: Clone, C: Clone + PartialEq> Trail<P, C> {
    /// Returns the trail of calls, innermost first, each with the inlined calls in it, and whether
    /// the thread stands in a function that it has called.
    pub(super) fn new(calls: impl IntoIterator<Item = (Vec<u64>, bool)>) -> Trail<P, C> {
        let calls = calls.into_iter();
        Trail {
            tracks: calls.map(|(path, is)| Track::new(path, is)).collect(),
            order: 0,
        }
    }

    /// Returns the number of what happens next.
    pub(super) fn next_order(&mut self) -> u64 {
        self.order += 1;
        self.order
    }

    /// Takes the entry of a call.
    pub(super) fn enter(&mut self, call: usize) {
        for track in self.tracks.iter_mut().take(call + 1) {
            *track = Track::new(std::mem::take(&mut track.path), track.is_calling);
            track.is_known = true;
        }
    }

    /// Takes a visit of a line of a call.
    pub(super) fn visit(&mut self, call: usize, visit: &Visit, place: P) {
        let found = Found {
            place,
            skipped: visit.skipped,
            order: self.next_order(),
        };
        if let Some(track) = self.tracks.get_mut(call) {
            track.visit(visit, found);
        }
    }

    /// Takes a call that a call makes; none of a function that has no statements.
    pub(super) fn make(&mut self, call: usize, made: Option<Made<P, C>>) {
        if let Some(track) = self.tracks.get_mut(call) {
            track.make(made);
        }
    }

    /// Returns the last statement of the innermost call or of those that it is in.
    pub(super) fn last_over_calls(&self) -> Option<&Found<P>> {
        self.tracks
            .iter()
            .find_map(|track| track.own.iter().rev().find_map(Option::as_ref))
    }

    /// Returns the last statement, and the calls that have been made since and are over: their
    /// statements are later.
    pub(super) fn last(&self) -> Option<(&Found<P>, &[Made<P, C>])> {
        let mut tracks = self.tracks.iter();
        tracks.find_map(|track| Some((track.last.as_ref()?, track.over())))
    }

    /// Returns where the inlined call of a depth was entered, in the innermost call.
    pub(super) fn entered(&self, depth: usize) -> Option<&Found<P>> {
        self.tracks.first()?.entered.get(depth)?.as_ref()
    }
}
