//! The statements that a thread has begun, call by call, up to a place.
//!
//! A statement begins where its line has code that begins one, and the thread was in another line of
//! the same call before. Code of inlined calls belongs to the line of the call for those who step
//! over calls, and has statements of its own for those who step into them.
//!
//! **Invariant**: what is kept of a call is of its last entry. A trail that begins in the middle of the
//! run takes the first line that it sees in a call for one that has begun before.

use std::ops::Range;
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
    pub address: u64,
    /// The inlined calls around it, outermost first, by where their code begins.
    pub path: Vec<u64>,
    pub line: Line,
    /// The code of the line.
    pub ranges: Rc<[Range<u64>]>,
    /// Whether code of a line begins at the address, of whatever call.
    pub is_start: bool,
    /// Whether a statement of the line begins at the address.
    pub begins: bool,
    /// Whether it stands before an inlined call of the user's code, or in one of others' code.
    pub around: Around,
    /// The number of inlined calls that begin at the address and are not entered.
    pub skipped: usize,
}

/// An inlined call at the address of a visit, which the visit is not in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Around {
    Nothing,
    /// It begins there.
    Call,
    /// Its code has no source to show.
    Foreign,
}

impl Visit {
    fn has(&self, address: u64) -> bool {
        self.ranges.iter().any(|range| range.contains(&address))
    }

    fn is_line_of(&self, other: &Visit) -> bool {
        self.path == other.path && self.line == other.line
    }
}

/// Whether a thread comes back from a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Back {
    No,
    FromCall,
    /// Of a function whose statements are entered.
    FromStatements,
}

/// The line in which a thread was before.
#[derive(Debug, Clone)]
enum Before {
    Unknown,
    /// It has entered the call.
    Entered,
    Line(Visit),
}

impl Before {
    /// Takes a visit. Returns whether it begins a statement. The rules are those by which a step
    /// forwards ends.
    fn take(&mut self, visit: &Visit, back: Back) -> bool {
        let is_back = back != Back::No;
        let (begins, stays) = match self {
            Before::Unknown => (false, false),
            Before::Entered => (true, false),
            // The line before is one of the function that was called.
            Before::Line(_) if back == Back::FromStatements => {
                (visit.around == Around::Call || visit.is_start, false)
            }
            Before::Line(before) => {
                let is_same = before.is_line_of(visit);
                let is_inside = before.has(visit.address);
                match visit.around {
                    _ if is_inside && !is_back => (false, true),
                    Around::Call => (!is_same, is_same),
                    _ if is_inside && before.path == visit.path => (false, true),
                    Around::Foreign if is_same => (false, true),
                    _ if visit.is_start => (visit.begins || !is_same, false),
                    // The code after a call often has a row of the line table, in the middle of
                    // its statement.
                    _ => (visit.begins && !is_back, false),
                }
            }
        };
        if !stays {
            *self = Before::Line(visit.clone());
        }
        begins
    }
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

/// A statement, and the calls that have been made since and are over.
pub(super) type Last<'a, P, C> = (&'a Found<P>, &'a [Made<P, C>]);

/// A call on the way to the place: its function's statements are seen.
#[derive(Debug, Clone)]
struct Track<P, C> {
    /// The inlined calls in which the thread stands at the place, outermost first.
    path: Vec<u64>,
    /// Whether the thread stands in a function that this one has called.
    is_calling: bool,
    before: Before,
    /// The last statement, those of inlined calls included.
    last: Option<Found<P>>,
    /// The line before, and the last statement, at each depth of inlined calls on the path, 0 for
    /// the function itself.
    own: Vec<(Before, Option<Found<P>>)>,
    /// The number of inlined calls on the path in which the thread was before.
    common: Option<usize>,
    /// The entries of the inlined calls on the path.
    entered: Vec<Option<Found<P>>>,
    /// The calls that were made since the last statement. Of several of one function only the last
    /// two are kept: the last one may not be over.
    made: Vec<Made<P, C>>,
    /// Whether the last call of all is the last one of these.
    is_last_kept: bool,
    /// The call since which nothing was visited.
    back: Back,
}

impl<P: Clone, C: Clone + PartialEq> Track<P, C> {
    fn new(path: Vec<u64>, is_calling: bool, before: &Before) -> Track<P, C> {
        let depths = path.len() + 1;
        Track {
            path,
            is_calling,
            before: before.clone(),
            last: None,
            own: vec![(before.clone(), None); depths],
            common: None,
            entered: vec![None; depths],
            made: Vec::new(),
            is_last_kept: false,
            back: Back::No,
        }
    }

    fn visit(&mut self, visit: &Visit, found: &Found<P>) {
        let is_known = !matches!(self.before, Before::Unknown);
        if self.before.take(visit, self.back) {
            self.last = Some(found.clone());
            self.made.clear();
            self.is_last_kept = false;
        }
        let both = self.path.iter().zip(&visit.path);
        let common = both.take_while(|(own, other)| own == other).count();
        let common_before = self.common.replace(common);
        let back = match self.back {
            Back::No => Back::No,
            _ => Back::FromCall,
        };
        let depths = self.own.iter_mut().zip(&mut self.entered);
        for (depth, ((before, own), entered)) in depths.enumerate() {
            if depth > common {
                // The thread has left this inlined call, or is not in it yet.
                (*before, *own) = (Before::Entered, None);
                continue;
            }
            if is_known && common_before.is_none_or(|before| before < depth) {
                *entered = Some(Found {
                    skipped: found.skipped + 1,
                    ..found.clone()
                });
            }
            // Code of inlined calls belongs to the line of the call.
            if visit.path.len() == depth && before.take(visit, back) {
                *own = Some(found.clone());
            }
        }
    }

    fn make(&mut self, made: Option<Made<P, C>>, back: Back) {
        self.is_last_kept = made.is_some();
        self.back = back;
        let Some(made) = made else {
            return;
        };
        let same = self.made.iter().enumerate();
        let mut same = same.filter(|(_, it)| it.callee == made.callee);
        if let (Some((first, _)), Some(_)) = (same.next(), same.next()) {
            self.made.remove(first);
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
    /// The innermost call before its last entry: an earlier call of the same function.
    earlier: Option<Track<P, C>>,
    order: u64,
}

impl<P: Clone, C: Clone + PartialEq> Trail<P, C> {
    /// Returns the trail of calls, innermost first, each with the inlined calls in it, and whether
    /// the thread stands in a function that it has called.
    pub(super) fn new(calls: impl IntoIterator<Item = (Vec<u64>, bool)>) -> Trail<P, C> {
        let calls = calls.into_iter();
        Trail {
            tracks: calls
                .map(|(path, is)| Track::new(path, is, &Before::Unknown))
                .collect(),
            earlier: None,
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
        self.earlier = self.tracks.first().cloned();
        for track in self.tracks.iter_mut().take(call + 1) {
            let path = std::mem::take(&mut track.path);
            *track = Track::new(path, track.is_calling, &Before::Entered);
        }
    }

    /// Takes the visits of a call at an address.
    pub(super) fn visit(&mut self, call: usize, visits: &[Visit], place: &P) {
        let order = self.next_order();
        let Some(track) = self.tracks.get_mut(call).filter(|_| !visits.is_empty()) else {
            return;
        };
        for visit in visits {
            let found = Found {
                place: place.clone(),
                skipped: visit.skipped,
                order,
            };
            track.visit(visit, &found);
        }
        track.back = Back::No;
    }

    /// Takes a call that a call makes, of a function that has statements if it is given, and how the
    /// thread comes back from it.
    pub(super) fn make(&mut self, call: usize, made: Option<Made<P, C>>, back: Back) {
        if let Some(track) = self.tracks.get_mut(call) {
            track.make(made, back);
        }
    }

    /// Returns the last statement of the innermost call or of those that it is in.
    pub(super) fn last_over_calls(&self) -> Option<&Found<P>> {
        self.tracks
            .iter()
            .find_map(|track| track.own.iter().rev().find_map(|(_, own)| own.as_ref()))
    }

    /// Returns the last statement, and the calls that have been made since and are over: their
    /// statements are later.
    pub(super) fn last(&self) -> Option<Last<'_, P, C>> {
        let mut tracks = self.tracks.iter();
        tracks.find_map(|track| Some((track.last.as_ref()?, track.over())))
    }

    /// Goes back to before the last entry of the innermost call.
    pub(super) fn take_back_entry(&mut self) {
        if let (Some(earlier), Some(track)) = (self.earlier.take(), self.tracks.first_mut()) {
            *track = earlier;
        }
    }

    /// Returns where the inlined call of a depth was entered, in the innermost call.
    pub(super) fn entered(&self, depth: usize) -> Option<&Found<P>> {
        self.tracks.first()?.entered.get(depth)?.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code of a line: 16 bytes at 16 times its number.
    fn visit(address: u64) -> Visit {
        let number = address / 16;
        Visit {
            address,
            path: Vec::new(),
            line: Line {
                file: Rc::from(Path::new("a.c")),
                number: u32::try_from(number).unwrap_or(0),
            },
            ranges: std::iter::once(number * 16..number * 16 + 16).collect(),
            is_start: address.is_multiple_of(16),
            begins: address.is_multiple_of(16),
            around: Around::Nothing,
            skipped: 0,
        }
    }

    /// A trail of one call that has been entered, and has come to these addresses.
    fn trail(addresses: &[u64]) -> Trail<u64, u64> {
        let mut trail = Trail::new([(Vec::new(), false)]);
        trail.enter(0);
        go(&mut trail, addresses);
        trail
    }

    fn go(trail: &mut Trail<u64, u64>, addresses: &[u64]) {
        for address in addresses {
            trail.visit(0, &[visit(*address)], address);
        }
    }

    fn call(trail: &mut Trail<u64, u64>, place: u64, callee: u64) {
        let made = Made { place, callee };
        trail.make(0, Some(made), Back::FromStatements);
    }

    #[track_caller]
    fn check(trail: &Trail<u64, u64>, last: u64, made: &[u64]) {
        let (found, calls) = trail.last().expect("a statement");
        assert_eq!(found.place, last);
        let places: Vec<u64> = calls.iter().map(|it| it.place).collect();
        assert_eq!(places, made);
        assert_eq!(trail.last_over_calls().map(|it| it.place), Some(last));
    }

    #[test]
    fn a_statement_begins_where_a_thread_comes_from_another_line() {
        check(&trail(&[0x10]), 0x10, &[]);
        check(&trail(&[0x10, 0x20, 0x28]), 0x20, &[]);
        // A loop in one line is one statement, over two lines it is as many as it has turns.
        check(&trail(&[0x10, 0x18, 0x10]), 0x10, &[]);
        check(&trail(&[0x10, 0x20, 0x10]), 0x10, &[]);
        // The middle of a line begins none.
        check(&trail(&[0x10, 0x28]), 0x10, &[]);
    }

    #[test]
    fn what_a_trail_has_not_seen_is_not_known() {
        let mut trail: Trail<u64, u64> = Trail::new([(Vec::new(), false)]);
        go(&mut trail, &[0x20]);
        assert_eq!(trail.last_over_calls(), None);
        go(&mut trail, &[0x30]);
        check(&trail, 0x30, &[]);
    }

    #[test]
    fn calls_of_a_statement_are_kept_until_the_next() {
        let mut trail = trail(&[0x10]);
        call(&mut trail, 0x11, 7);
        go(&mut trail, &[0x15]);
        call(&mut trail, 0x16, 8);
        go(&mut trail, &[0x18]);
        check(&trail, 0x10, &[0x11, 0x16]);
        // Of many of a function the last two.
        for place in 0x19..0x1c {
            call(&mut trail, place, 7);
        }
        check(&trail, 0x10, &[0x16, 0x1a, 0x1b]);
        go(&mut trail, &[0x20]);
        check(&trail, 0x20, &[]);
    }

    #[test]
    fn the_call_that_a_thread_is_in_is_not_over() {
        let calls = [(Vec::new(), false), (Vec::new(), true)];
        let mut trail: Trail<u64, u64> = Trail::new(calls);
        trail.enter(1);
        trail.visit(1, &[visit(0x50)], &0x50);
        let made = |place| Some(Made { place, callee: 7 });
        trail.make(1, made(0x51), Back::FromStatements);
        trail.make(1, made(0x52), Back::FromStatements);
        trail.enter(0);
        let (found, calls) = trail.last().expect("a statement");
        assert_eq!((found.place, calls.len()), (0x50, 1));
        assert_eq!(trail.last_over_calls().map(|it| it.place), Some(0x50));
        go(&mut trail, &[0x10]);
        check(&trail, 0x10, &[]);
        trail.take_back_entry();
        assert_eq!(trail.last().map(|(it, _)| it.place), Some(0x50));
    }

    #[test]
    fn an_inlined_call_has_statements_of_its_own() {
        let inner = |address: u64| Visit {
            path: vec![0x20],
            ..visit(address)
        };
        let before = Visit {
            around: Around::Call,
            skipped: 1,
            ..visit(0x10)
        };
        let mut trail: Trail<u64, u64> = Trail::new([(vec![0x20], false)]);
        trail.enter(0);
        trail.visit(0, &[before, inner(0x20)], &1);
        trail.visit(0, &[inner(0x30)], &2);
        assert_eq!(
            trail.last().map(|(it, _)| (it.place, it.skipped)),
            Some((2, 0))
        );
        assert_eq!(
            trail.entered(1).map(|it| (it.place, it.skipped)),
            Some((1, 1))
        );
        // Left, and not entered again.
        go(&mut trail, &[0x40]);
        assert_eq!(trail.last_over_calls().map(|it| it.place), Some(0x40));
    }
}
