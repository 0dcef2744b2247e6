//! The client's points: what it wants, and the points that stand for it.
//!
//! A client replaces all points of a file, or of a kind, at once. A point that it wants again
//! keeps its number and its count of hits.

mod commands;
mod replacing;

pub(crate) use commands::format_of;
pub(crate) use replacing::{renew, replace, set_all};

use crate::protocol::bodies::{Breakpoint, Source};

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
    /// The command with its location, without conditions: `break queue.c:12`.
    pub(crate) command: String,
    /// The client's number of the frame that the command is executed in.
    pub(crate) frame: Option<i64>,
    /// Whether the command sets a point; else the adapter itself does what is wanted.
    pub(crate) has_point: bool,
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
    /// Creates what is wanted by a command alone.
    pub(crate) fn of(command: String) -> Wanted {
        Wanted {
            command,
            frame: None,
            has_point: true,
            line: None,
            column: None,
            condition: None,
            hits: None,
            error: None,
        }
    }

    /// Returns whether both are the same point, whatever their conditions.
    fn is_same_point(&self, other: &Wanted) -> bool {
        (&self.command, self.frame) == (&other.command, other.frame)
    }
}

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

    /// Returns the command of the exception filter that has stopped the program at these points.
    pub(crate) fn command_of_filter(&self, numbers: &[u32]) -> Option<&str> {
        let mut own = self.all.iter().filter(|it| it.origin == Origin::Exceptions);
        let own = own.find(|it| it.number.is_some_and(|number| numbers.contains(&number)))?;
        Some(&own.wanted.command)
    }

    /// Returns the points of which only some hits stop, among these.
    pub(crate) fn periodic(&self, numbers: &[u32]) -> Vec<(u32, u64)> {
        let own = self.all.iter().filter_map(|it| it.number.zip(it.every));
        own.filter(|(number, _)| numbers.contains(number)).collect()
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
