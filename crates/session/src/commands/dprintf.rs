//! `dprintf`: breakpoints that print and continue.
//!
//! The hit is counted as any other; its text is formatted in the frame of the breakpoint's location
//! while the thread is stopped there, and reported before anything else.
//!
//! **Invariant**: if the text cannot be formatted, the program stops with the reason.

use crate::commands::{breakpoint, convenience};
use crate::inspect::locations;
use crate::run::points;
use crate::session::Session;
use juror_fault::CommandError;
use juror_instrument::condition::missing_name;
use juror_language::Expression;
use juror_points::dynamic_print::DynamicPrint;
use juror_points::format_string::Format;
use juror_points::location_spec::{LocationSpec, Placed};
use juror_points::point::Fate;
use juror_view::{Outcome, SetPointView};
use std::rc::Rc;

/// The help of syntax errors.
const HELP: &str = "for example: dprintf queue.c:23,\"%d of %s\\n\", count, name";

/// Splits `PLACE,"FORMAT",VALUES` at the comma before the format.
fn split(text: &str) -> Option<(&str, &str)> {
    let commas = text.match_indices(',').map(|(at, _)| at);
    let mut parts = commas.filter_map(|at| Some((text.get(..at)?, text.get(at + 1..)?.trim())));
    let (place, format) = parts.find(|(_, format)| format.starts_with('"'))?;
    Some((place.trim(), format))
}

/// `dprintf PLACE,"FORMAT",VALUES`
pub(crate) fn set_dynamic_print(
    session: &mut Session,
    rest: &str,
) -> Result<Outcome, CommandError> {
    let (place, text) = split(rest).ok_or_else(|| {
        CommandError::with_help("`dprintf` needs a location and a quoted format", HELP)
    })?;
    let placed = locations::parsed(place).map_err(|error| {
        let at = place.len() - error.wrong.len();
        match error.wrong.is_empty() {
            true => error,
            false => error.pointing_at(rest, at),
        }
    })?;
    print_at(session, place, placed, text).map(Outcome::from)
}

/// Sets a breakpoint that prints instead of a stop: `text` is the format and the values.
pub(crate) fn print_at(
    session: &mut Session,
    written: &str,
    placed: Placed,
    text: &str,
) -> Result<SetPointView, CommandError> {
    let format = Format::parse(text)?;
    if format.values().any(|value| value.calls_functions()) {
        return Err(CommandError::with_help(
            "a dprintf cannot call functions of the program",
            "break, with commands: silent, print f(x), continue",
        ));
    }
    if format.values().any(Expression::assigns) {
        return Err(CommandError::with_help(
            "a dprintf cannot change variables of the program",
            "break, with commands: silent, print x++, continue",
        ));
    }
    for value in format.values() {
        convenience::check_kept(session, value)?;
    }
    check_values(session, &placed.place, &format)?;
    let prints = Rc::new(DynamicPrint {
        text: text.to_owned(),
        format,
        caller_count: text.matches('^').count(),
    });
    let mut set = breakpoint::set_breakpoint_at(session, written, placed, Fate::Keep)?;
    let number = session.points.breakpoints.last_number();
    points::point(session, number)?.prints = Some(prints);
    let program = session.processes.program.as_ref();
    if let Some(point) = session.points.breakpoints.view_of(number, program) {
        set.point = point;
    }
    set.prints = true;
    Ok(set)
}

/// Refuses values that exist at no location of the breakpoint.
fn check_values(
    session: &mut Session,
    place: &LocationSpec,
    format: &Format,
) -> Result<(), CommandError> {
    let place = locations::resolvable(session, place)?;
    let Some(program) = &session.processes.program else {
        return Ok(());
    };
    let addresses = place.resolve(&program.modules).addresses;
    let line = place.line_taken(&program.modules);
    let mut missing = None;
    for at in addresses {
        let level = place.level_at(&program.modules, at, line);
        let mut values = format.values();
        match values.find_map(|value| missing_name(value, program, at, level)) {
            None => return Ok(()),
            Some(name) => missing = Some(name),
        }
    }
    match missing {
        None => Ok(()),
        Some(name) => Err(CommandError::with_help(
            format!("there is no `{name}` in scope at this location"),
            "info scope LOCATION lists the variables",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_begins_at_the_comma_before_the_quote() {
        for (text, expected) in [
            ("f,\"a\"", Some(("f", "\"a\""))),
            (
                "area(int, int) , \"%d,\\n\", n, \"x\"",
                Some(("area(int, int)", "\"%d,\\n\", n, \"x\"")),
            ),
            ("f", None),
            ("f, n", None),
            ("", None),
        ] {
            assert_eq!(split(text), expected, "{text}");
        }
    }
}
