//! Where an address, a frame or an event is in the source, as views.

use crate::{Location, SourceLine};
use juror_event::{EventKind, SymbolicEvent};
use juror_program::program::Program;
use juror_program::source_line::split_line;
use juror_program::stack::frames::{Frame, level_of_line};
use juror_symbols::{is_name_of, without_parameters};

/// An address as a view.
pub fn location(program: &Program, address: u64) -> Location {
    let described = program.describe(address);
    Location {
        address,
        function: described.function,
        offset: described.offset,
        file: described.file.map(|file| file.display().to_string()),
        line: described.line,
        near: described.near.map(|(file, line)| SourceLine {
            file: file.display().to_string(),
            line,
        }),
        module: described.module,
    }
}

/// Where a frame stands.
pub fn location_of(program: &Program, frame: &Frame) -> Location {
    let at = location(program, frame.lookup);
    Location {
        address: frame.pc,
        offset: at.offset + frame.pc.saturating_sub(frame.lookup),
        function: frame.name.clone(),
        file: frame.file.as_ref().map(|file| file.display().to_string()),
        line: frame.line,
        near: at.near.filter(|_| frame.line.is_none()),
        ..at
    }
}

/// Who knows where calls were made: the program, or its trace.
pub trait Places {
    /// Where a call was made: the line of the call, not of what follows it.
    fn call(&self, caller: u64) -> Location;

    /// Where an instruction stands.
    fn instruction(&self, address: u64) -> Location {
        self.call(address)
    }

    /// Where an instruction stands by which a line begins, `FILE:LINE`.
    fn line(&self, address: u64, _line: &str) -> Location {
        self.instruction(address)
    }

    /// Where a call of a function was made, which may have been inlined there.
    fn call_of(&self, address: u64, _function: &str) -> Location {
        self.call(address)
    }
}

impl Places for Program {
    fn call(&self, caller: u64) -> Location {
        let call = location(self, caller.wrapping_sub(1));
        Location {
            address: caller,
            offset: call.offset + 1,
            ..call
        }
    }

    fn instruction(&self, address: u64) -> Location {
        location(self, address)
    }

    fn line(&self, address: u64, line: &str) -> Location {
        // Calls that were inlined may begin there: the line is that of their caller.
        let frames = self.frames_at(address);
        let level = split_line(line).and_then(|(file, line)| level_of_line(&frames, file, line));
        match level.and_then(|level| frames.get(level)) {
            Some(frame) => location_of(self, frame),
            None => self.instruction(address),
        }
    }

    fn call_of(&self, address: u64, function: &str) -> Location {
        match self.modules.has_inlined_call_events(address) {
            true => inlined_call_location(self, address, function),
            false => self.call(address),
        }
    }
}

/// Where a call was made that was inlined: the line of the call, which its caller's frame
/// stands in.
fn inlined_call_location(program: &Program, address: u64, function: &str) -> Location {
    let frames = program.frames_at(address);
    let asked = without_parameters(function);
    let call = frames.iter().position(|frame| {
        let name = frame.name.as_deref().filter(|_| frame.is_inlined());
        name.is_some_and(|name| is_name_of(asked, name))
    });
    // One of which nothing is left has no frame of its own.
    let caller = call.map_or(0, |call| call + 1);
    match frames.get(caller) {
        Some(frame) => location_of(program, frame),
        None => location(program, address),
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

/// Where an event happened: at the line of a call, at the instruction, or at the line that
/// it is about.
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

/// An event in words: `before queue_push`, `write total`.
pub fn event_words(event: &SymbolicEvent) -> String {
    match event.subject.is_empty() {
        true => event.kind.to_string(),
        false => format!("{} {}", event.kind, event.subject),
    }
}
