//! Location specs, resolved relative to the selected frame.

use crate::inspect::source::{main_function, main_line};
use crate::inspect::{expressions, frames};
use crate::session::Session;
use crate::state::control::not_running;
use juror_fault::CommandError;
use juror_points::breakpoints;
use juror_points::breakpoints::Resolvable;
use juror_points::location_spec;
use juror_points::location_spec::{LocationSpec, Placed};
use juror_values::typed::Number;
use juror_view::CodePlaceView;
use std::path::Path;

/// Parses a location spec with its thread and condition.
///
/// # Errors
/// It is none, or words follow it.
pub(crate) fn parsed(text: &str) -> Result<Placed, CommandError> {
    location_spec::parse(text).map_err(|wrong| {
        let error = CommandError::new(wrong.message);
        match wrong.at {
            Some(at) => error.pointing_at(text, at),
            None => error,
        }
    })
}

/// Parses a location spec for a command that takes neither a thread nor a condition.
///
/// # Errors
/// It is none, or words follow it.
pub(crate) fn parsed_alone(text: &str) -> Result<Placed, CommandError> {
    let placed = parsed(text)?;
    let after = location_spec::after_location(text);
    if placed.thread.is_none() && placed.condition.is_none() {
        return Ok(placed);
    }
    let error = CommandError::with_help(
        format!("`{after}` is unexpected after the location: this command has no condition"),
        "break, tbreak and hbreak take a thread and a condition",
    );
    Err(error.pointing_at(text, text.len() - after.len()))
}

/// Checks that an address is the start of an instruction that can be reached.
pub(crate) fn check_address(session: &Session, address: u64) -> Result<(), CommandError> {
    let program = session.processes.program.as_ref().ok_or_else(not_running)?;
    if let Some(problem) = program.code_problem(address) {
        return Err(CommandError::new(format!("{address:#x} {problem}")));
    }
    Ok(())
}

/// Makes a written location spec resolvable.
pub(crate) fn resolvable(
    session: &mut Session,
    written: &LocationSpec,
) -> Result<Resolvable, CommandError> {
    // In a Rust program the compiler generates another function of this name.
    if matches!(written, LocationSpec::Function(name) if name == "main") {
        return Ok(main_function(session));
    }
    let has_begun = session.has_begun();
    let process = &mut *session.processes;
    if let (
        LocationSpec::Function(name) | LocationSpec::FunctionIn { name, .. },
        Some(program),
        Some(thread),
    ) = (written, &mut process.program, process.selection.thread)
    {
        program.resolve_functions(name, thread, has_begun);
    }
    let frame = if session.processes.program.is_some() {
        frames::selected_frame(session).ok()
    } else {
        None
    };
    let here = frame.as_ref().map(|frame| frame.pc);
    let begun = frame.as_ref().filter(|_| has_begun);
    let shown = session.processes.selection.of_caller.clone();
    let line = match shown
        .as_ref()
        .filter(|_| session.processes.selection.level == 0)
    {
        Some((file, line)) => Some((file.as_path(), *line)),
        None => begun.and_then(|frame| Some((frame.file.as_deref()?, frame.line?))),
    };
    // Before the program has begun, its current location is taken to be the main function, not the
    // dynamic linker. Finding it costs a lookup of a name.
    let is_relative = matches!(
        written,
        LocationSpec::Line { file: None, .. } | LocationSpec::Offset(_)
    );
    let main = match line {
        None if is_relative => main_line(session),
        _ => None,
    };
    let line = line.or_else(|| main.as_ref().map(|(file, line)| (file.as_path(), *line)));
    let address = match written {
        LocationSpec::Address(text) => Some(expressions::evaluate(session, text)?),
        _ => None,
    };
    breakpoints::resolvable(written, session.modules(), here, line, |_| {
        let program = session
            .processes
            .program
            .as_ref()
            .ok_or("the program is not running")?;
        match address.ok_or("an address is missing")?.number(program)? {
            Number::Pointer(address, _) => Ok(address),
            Number::Int(number) => {
                u64::try_from(number).map_err(|_| "this is not an address".to_owned())
            }
            _ => Err("this is not an address".to_owned()),
        }
    })
    .map_err(CommandError::new)
}

/// Describes an address of code.
pub(crate) fn place_view(session: &Session, address: u64) -> CodePlaceView {
    let frame = session.modules().frame_at(address);
    let frame = frame.map(|frame| (frame.name, frame.file.zip(frame.line)));
    let (function, line) = frame.unwrap_or_default();
    let (file, line) = line.filter(|_| function.is_some()).unzip();
    CodePlaceView {
        address,
        function,
        caller: None,
        file: file.as_deref().map(name_of),
        line,
    }
}

/// Returns the name of a file, without directories.
pub(crate) fn name_of(file: &Path) -> String {
    let name = file.file_name().unwrap_or(file.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Returns the same in words, as a part of a sentence.
pub(crate) fn place_words(session: &Session, address: u64) -> String {
    let place = place_view(session, address);
    let mut words = format!("{address:#x}");
    if let Some(function) = &place.function {
        words.push_str(&format!(": {function}"));
    }
    if let Some((file, line)) = place.file.zip(place.line) {
        words.push_str(&format!(", {file}:{line}"));
    }
    words
}
