//! The source locations of addresses and frames of a program, as views.

use crate::program::Program;
use crate::source_line::split_line;
use crate::stack::frames::{Frame, level_of_line};
use juror_symbols::without_parameters;
use juror_view::location::Places;
use juror_view::{Location, SourceLine};

/// Returns the location of an address.
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

/// Returns the location of a frame.
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
        // Inlined calls may begin there: the line is that of their caller.
        let frames = self.frames_at(address);
        let level = split_line(line).and_then(|(file, line)| level_of_line(&frames, file, line));
        match level.and_then(|level| frames.get(level)) {
            Some(frame) => location_of(self, frame),
            None => self.instruction(address),
        }
    }

    fn call_of(&self, address: u64, function: &str) -> Location {
        if self.modules.has_inlined_call_events(address) {
            inlined_call_location(self, address, function)
        } else {
            self.call(address)
        }
    }
}

/// Returns the location of an inlined call: the line of the call, in its caller's frame.
fn inlined_call_location(program: &Program, address: u64, function: &str) -> Location {
    let frames = program.frames_at(address);
    let asked = without_parameters(function);
    let call = frames
        .iter()
        .position(|frame| frame.is_inlined() && frame.is_called(asked));
    // An inlined call without code has no frame of its own.
    let caller = call.map_or(0, |call| call + 1);
    match frames.get(caller) {
        Some(frame) => location_of(program, frame),
        None => location(program, address),
    }
}
