//! The locations of calls and events, in a program or in a trace.

use crate::Location;
use juror_event::{EventKind, SymbolicEvent};

/// The locations of calls, in a program or in a trace.
pub trait Places {
    /// Returns the location of a call: the line of the call, not of the following instruction.
    fn call(&self, caller: u64) -> Location;

    /// Returns the location of an instruction.
    fn instruction(&self, address: u64) -> Location {
        self.call(address)
    }

    /// Returns the location of an instruction at which a line begins, `FILE:LINE`.
    fn line(&self, address: u64, _line: &str) -> Location {
        self.instruction(address)
    }

    /// Returns the location of a call of a function, which may be inlined there.
    fn call_of(&self, address: u64, _function: &str) -> Location {
        self.call(address)
    }
}

pub(crate) fn call_location<P: Places>(places: Option<&P>, caller: u64) -> Location {
    match places {
        Some(places) => places.call(caller),
        None => Location {
            address: caller,
            ..Location::default()
        },
    }
}

/// Returns the location of an event: that of a call, of an instruction, or of the line that it is
/// about.
pub fn event_location<P: Places>(
    event: Option<&SymbolicEvent>,
    places: Option<&P>,
    address: u64,
) -> Location {
    let Some((event, places)) = event.zip(places) else {
        return call_location(places, address);
    };
    match event.kind {
        EventKind::Line => places.line(address, &event.subject),
        kind if kind.is_call() => places.call_of(address, &event.subject),
        _ => places.instruction(address),
    }
}

/// Returns an event in words: `before queue_push`, `write total`.
pub fn event_words(event: &SymbolicEvent) -> String {
    if event.subject.is_empty() {
        event.kind.to_string()
    } else {
        format!("{} {}", event.kind, event.subject)
    }
}
