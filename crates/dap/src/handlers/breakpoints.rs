//! Breakpoints of lines, functions and instructions.

use super::{Answer, MaybeSession, address, body, parse};
use crate::adapter::{Adapter, queries};
use crate::points::{self, Origin, Wanted, format_of};
use crate::protocol::arguments::BreakpointLocations;
use crate::protocol::message::Failure;
use crate::protocol::point_arguments::{
    SetBreakpoints, SetFunctionBreakpoints, SetInstructionBreakpoints, SourceBreakpoint,
};
use juror_view::driver::Driver;
use serde_json::{Value, json};

/// `setBreakpoints`
pub(super) fn of_source(
    adapter: &mut Adapter,
    session: MaybeSession<'_, '_>,
    arguments: Value,
) -> Answer {
    let given: SetBreakpoints = parse(arguments)?;
    let path = path_of(given.source.path)?;
    let plain = given.lines.unwrap_or_default().into_iter();
    let plain = plain.map(|line| SourceBreakpoint {
        line,
        condition: None,
        hit_condition: None,
        log_message: None,
    });
    let asked = given.breakpoints.unwrap_or_else(|| plain.collect());
    let wanted = asked.into_iter().map(|it| of_line(adapter, &path, it));
    let wanted = wanted.collect();
    replaced(adapter, session, &Origin::Source(path), wanted)
}

fn of_line(adapter: &Adapter, path: &str, asked: SourceBreakpoint) -> Wanted {
    let line = adapter.line_in(asked.line);
    let place = format!("{}:{line}", quoted(path));
    let log = asked.log_message.filter(|text| !text.is_empty());
    let (command, error) = match log.as_deref().map(format_of) {
        None => (format!("break {place}"), None),
        Some(Ok(format)) => (format!("dprintf {place},{format}"), None),
        Some(Err(error)) => (format!("dprintf {place}"), Some(error)),
    };
    Wanted {
        line: Some(line),
        condition: filled(asked.condition),
        hits: filled(asked.hit_condition),
        error,
        ..Wanted::of(command)
    }
}

/// `setFunctionBreakpoints`
pub(super) fn of_functions(
    adapter: &mut Adapter,
    session: MaybeSession<'_, '_>,
    arguments: Value,
) -> Answer {
    let given: SetFunctionBreakpoints = parse(arguments)?;
    let asked = given.breakpoints.unwrap_or_default().into_iter();
    let wanted = asked.map(|it| Wanted {
        condition: filled(it.condition),
        hits: filled(it.hit_condition),
        error: it
            .name
            .trim()
            .is_empty()
            .then(|| "the function has no name".to_owned()),
        ..Wanted::of(format!("break {}", it.name.trim()))
    });
    replaced(adapter, session, &Origin::Functions, wanted.collect())
}

/// `setInstructionBreakpoints`
pub(super) fn of_instructions(
    adapter: &mut Adapter,
    session: MaybeSession<'_, '_>,
    arguments: Value,
) -> Answer {
    let given: SetInstructionBreakpoints = parse(arguments)?;
    let asked = given.breakpoints.unwrap_or_default().into_iter();
    let wanted = asked.map(|it| {
        let at = address(&it.instruction_reference, it.offset);
        let command = match &at {
            Ok(at) => format!("break *{at:#x}"),
            Err(_) => format!("break *{}", it.instruction_reference),
        };
        Wanted {
            condition: filled(it.condition),
            hits: filled(it.hit_condition),
            error: at.err().map(|failure| failure.message),
            ..Wanted::of(command)
        }
    });
    replaced(adapter, session, &Origin::Instructions, wanted.collect())
}

/// `breakpointLocations`
pub(super) fn locations(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
    arguments: Value,
) -> Answer {
    let given: BreakpointLocations = parse(arguments)?;
    let path = path_of(given.source.path)?;
    let first = adapter.line_in(given.line);
    let last = given.end_line.map_or(first, |line| adapter.line_in(line));
    let lines = queries(session)?.lines_with_code(&path, first, last)?;
    let places: Vec<Value> = lines
        .into_iter()
        .map(|line| json!({ "line": adapter.line_out(line) }))
        .collect();
    body(json!({ "breakpoints": places }))
}

/// Replaces a set of points, and returns the body of the answer.
pub(super) fn replaced(
    adapter: &mut Adapter,
    session: MaybeSession<'_, '_>,
    origin: &Origin,
    wanted: Vec<Wanted>,
) -> Answer {
    // A program that has ended keeps its breakpoints for the next run.
    let told = points::replace(adapter, session, origin, wanted);
    body(json!({ "breakpoints": told }))
}

/// Returns a text that is not empty.
pub(super) fn filled(text: Option<String>) -> Option<String> {
    text.map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty())
}

/// Returns the path of a source.
pub(super) fn path_of(path: Option<String>) -> Result<String, Failure> {
    path.ok_or_else(|| Failure::quiet("the source has no path"))
}

/// Quotes a path for a location, if it needs that.
pub(super) fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@".contains(c);
    match path.chars().all(is_plain) {
        true => path.to_owned(),
        false => format!("'{path}'"),
    }
}
