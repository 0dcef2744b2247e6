//! Breakpoints of lines, functions and instructions.

use super::{Answer, MaybeSession, address, body, parse};
use crate::adapter::{Adapter, queries};
use crate::points::{self, Origin, Wanted, format_of};
use crate::protocol::arguments::BreakpointLocations;
use crate::protocol::bodies::BreakpointLocation;
use crate::protocol::message::Failure;
use crate::protocol::point_arguments::{
    SetBreakpoints, SetFunctionBreakpoints, SetInstructionBreakpoints, SourceBreakpoint,
};
use juror_view::changes::PointPlace;
use juror_view::driver::Driver;
use juror_view::queries::StatementView;
use serde_json::{Value, json};

/// `setBreakpoints`
pub(super) fn of_source(
    adapter: &mut Adapter,
    mut session: MaybeSession<'_, '_>,
    arguments: Value,
) -> Answer {
    let given: SetBreakpoints = parse(arguments)?;
    let path = path_of(given.source.path)?;
    let plain = given.lines.unwrap_or_default().into_iter();
    let plain = plain.map(|line| SourceBreakpoint {
        line,
        column: None,
        condition: None,
        hit_condition: None,
        log_message: None,
    });
    let asked = given.breakpoints.unwrap_or_else(|| plain.collect());
    let mut wanted = Vec::new();
    for asked in asked {
        let line = adapter.line_in(asked.line);
        let column = asked.column.map(|column| adapter.column_in(column));
        let statements = match (column, session.as_deref_mut()) {
            (Some(_), Some(session)) => queries(session)?.statements(&path, line, line)?,
            _ => Vec::new(),
        };
        let mut known = statements.iter().filter_map(|it| it.column);
        let known = known.find(|it| Some(it.unit) == column);
        wanted.push(Wanted {
            column: known.map(|it| it.unit),
            ..of_line(&path, line, known.map(|it| it.byte).or(column), asked)
        });
    }
    replaced(adapter, session, &Origin::Source(path), wanted)
}

fn of_line(path: &str, line: u32, column: Option<u32>, asked: SourceBreakpoint) -> Wanted {
    let log = asked.log_message.filter(|text| !text.is_empty());
    let (prints, error) = match log.as_deref().map(format_of) {
        None => (None, None),
        Some(Ok(format)) => (Some(format), None),
        Some(Err(error)) => (Some(String::new()), Some(error)),
    };
    let place = PointPlace::Line {
        file: path.to_owned(),
        line,
        column,
    };
    Wanted {
        prints,
        line: Some(line),
        condition: filled(asked.condition),
        hits: filled(asked.hit_condition),
        error,
        ..Wanted::at(place)
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
        ..Wanted::at(PointPlace::Written(it.name.trim().to_owned()))
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
        let place = match &at {
            Ok(at) => PointPlace::Address(*at),
            Err(_) => PointPlace::Written(format!("*{}", it.instruction_reference)),
        };
        Wanted {
            condition: filled(it.condition),
            hits: filled(it.hit_condition),
            error: at.err().map(|failure| failure.message),
            ..Wanted::at(place)
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
    let statements = queries(session)?.statements(&path, first, last)?;
    let from = given
        .column
        .map(|column| (first, adapter.column_in(column)));
    let to = given.end_column;
    let to = to.map(|column| (last, adapter.column_in(column)));
    let is_wanted = |it: &StatementView| {
        let at = (it.line, it.column.map_or(1, |column| column.unit));
        from.is_none_or(|from| from <= at) && to.is_none_or(|to| at <= to)
    };
    let wanted = statements.into_iter().filter(is_wanted);
    let places: Vec<BreakpointLocation> = wanted
        .map(|it| BreakpointLocation {
            line: adapter.line_out(it.line),
            column: it.column.map(|column| adapter.column_out(column.unit)),
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(log: Option<&str>, condition: Option<&str>) -> Wanted {
        let asked = SourceBreakpoint {
            line: 3,
            column: None,
            condition: condition.map(str::to_owned),
            hit_condition: Some(" ".to_owned()),
            log_message: log.map(str::to_owned),
        };
        of_line("it's.c", 3, Some(7), asked)
    }

    #[test]
    fn a_line_is_asked_for_by_its_path_whatever_is_in_it() {
        let wanted = asked(None, Some("  x > 3 "));
        let place = PointPlace::Line {
            file: "it's.c".to_owned(),
            line: 3,
            column: Some(7),
        };
        assert_eq!(wanted.place, Some(place));
        assert_eq!(wanted.condition.as_deref(), Some("x > 3"));
        assert_eq!(
            (wanted.hits, wanted.prints, wanted.error),
            (None, None, None)
        );
    }

    #[test]
    fn a_message_is_printed_instead_of_a_stop() {
        for (log, prints, error) in [
            ("", None, None),
            ("at {n}", Some("\"at %s\\n\", n"), None),
            ("{n", Some(""), Some("a brace is not closed in `{n`")),
        ] {
            let wanted = asked(Some(log), None);
            assert_eq!(wanted.prints.as_deref(), prints, "{log}");
            assert_eq!(wanted.error.as_deref(), error, "{log}");
        }
    }
}
