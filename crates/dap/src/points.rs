//! The client's points: what it wants, and the points that stand for it.
//!
//! A client replaces all points of a file, or of a kind, at once. A point that it wants again
//! keeps its number and its count of hits.

mod formats;
mod replacing;
#[cfg(test)]
mod tests;

pub(crate) use formats::format_of;
pub(crate) use replacing::{renew, replace, set_all};

use crate::protocol::bodies::{Breakpoint, Source};
use juror_view::changes::PointPlace;
use std::collections::HashSet;

/// The set that a request replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The breakpoints of a file, as the client names it.
    Source(String),
    /// The breakpoints of functions.
    Functions,
    /// The breakpoints of instructions.
    Instructions,
    /// The watchpoints.
    Data,
    /// The exception filters.
    Exceptions,
}

/// A point that the client wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Its place or its event; none if the adapter itself does what is wanted.
    pub(crate) place: Option<PointPlace>,
    /// The format and the values that a hit prints instead of a stop.
    pub(crate) prints: Option<String>,
    /// The exception filter that it is for.
    pub(crate) filter: Option<&'static str>,
    /// The client's number of the frame in which its expressions are evaluated.
    pub(crate) frame: Option<i64>,
    /// The line that was asked for.
    pub(crate) line: Option<u32>,
    /// The column that was asked for, if a statement begins there.
    pub(crate) column: Option<u32>,
    /// The condition.
    pub(crate) condition: Option<String>,
    /// Which hits stop.
    pub(crate) hits: Option<String>,
    /// Why it cannot be set, whatever the program is.
    pub(crate) error: Option<String>,
}

impl Wanted {
    /// Creates a point that stops at each hit.
    pub(crate) fn at(place: PointPlace) -> Wanted {
        Wanted {
            place: Some(place),
            ..Wanted::nothing()
        }
    }

    /// Creates what no point of the session stands for.
    pub(crate) fn nothing() -> Wanted {
        Wanted {
            place: None,
            prints: None,
            filter: None,
            frame: None,
            line: None,
            column: None,
            condition: None,
            hits: None,
            error: None,
        }
    }

    /// Returns what distinguishes it from other points, whatever their conditions.
    fn key(&self) -> Key {
        let filter = self.filter.filter(|_| self.place.is_none());
        (self.place.clone(), self.prints.clone(), filter, self.frame)
    }
}

/// The place of a point, what it prints, its filter if it has no place, and its frame.
type Key = (
    Option<PointPlace>,
    Option<String>,
    Option<&'static str>,
    Option<i64>,
);

/// A point of the client.
#[derive(Debug, Clone)]
pub(crate) struct Point {
    pub(crate) id: i64,
    pub(crate) origin: Origin,
    pub(crate) wanted: Wanted,
    /// juror's number, if it is set.
    pub(crate) number: Option<u32>,
    /// Why it could not be set.
    pub(crate) failure: Option<String>,
    /// The state that the client was told last.
    pub(crate) told: Breakpoint,
    /// Only each of this many hits stops.
    pub(crate) every: Option<u64>,
}

/// The points of the client.
#[derive(Debug, Default)]
pub(crate) struct Points {
    all: Vec<Point>,
    last: i64,
    /// The points that the user has set by commands, and that the client has been told of.
    typed: Vec<(i64, u32)>,
}

impl Points {
    fn next(&mut self) -> i64 {
        self.last += 1;
        self.last
    }

    /// Returns the client's numbers of juror's.
    pub(crate) fn ids_of(&self, numbers: &[u32]) -> Vec<i64> {
        let own = self.all.iter();
        let own = own.filter(|it| it.number.is_some_and(|number| numbers.contains(&number)));
        let typed = self.typed.iter().filter(|it| numbers.contains(&it.1));
        own.map(|it| it.id).chain(typed.map(|it| it.0)).collect()
    }

    /// Returns the reason of a stop at these points, as a word.
    pub(crate) fn kind_of(&self, numbers: &[u32]) -> Option<&'static str> {
        let mut own = self.all.iter();
        let own = own.find(|it| it.number.is_some_and(|number| numbers.contains(&number)))?;
        Some(match own.origin {
            Origin::Functions => "function breakpoint",
            Origin::Instructions => "instruction breakpoint",
            Origin::Exceptions => "exception",
            Origin::Data => "data breakpoint",
            Origin::Source(_) => "breakpoint",
        })
    }

    /// Returns the exception filter that has stopped the program at these points.
    pub(crate) fn filter_of(&self, numbers: &[u32]) -> Option<&'static str> {
        let mut own = self.all.iter().filter(|it| it.origin == Origin::Exceptions);
        let own = own.find(|it| it.number.is_some_and(|number| numbers.contains(&number)))?;
        own.wanted.filter
    }

    /// Returns the points of which only some hits stop, among these.
    pub(crate) fn periodic(&self, numbers: &[u32]) -> Vec<(u32, u64)> {
        let own = self.all.iter().filter_map(|it| it.number.zip(it.every));
        own.filter(|(number, _)| numbers.contains(number)).collect()
    }

    /// Returns juror's numbers of all that are set.
    fn numbers(&self) -> HashSet<u32> {
        self.all.iter().filter_map(|it| it.number).collect()
    }

    /// Forgets juror's numbers: there is another session.
    pub(crate) fn forget_numbers(&mut self) {
        for point in &mut self.all {
            point.number = None;
        }
        self.typed.clear();
    }
}

impl Point {
    fn source(&self) -> Option<Source> {
        match &self.origin {
            Origin::Source(path) => Some(Source::of(path)),
            _ => None,
        }
    }
}
