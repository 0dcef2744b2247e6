//! `display`: expressions that are shown at every stop.
//!
//! A display never runs the program, so it calls none of its functions. If it has no value at a
//! stop, the reason is shown there, and it is evaluated again at the next.

use crate::inspect::displays::displayed;
use crate::inspect::expressions;
use crate::session::Session;
use crate::state::displays::Display;
use crate::state::format_options::split_format;
use juror_fault::CommandError;
use juror_program::stack::frames::Frame;
use juror_values::format::Radix;
use juror_view::Outcome;

/// The limit of instructions that a display shows.
const INSTRUCTIONS_MAX: u64 = 100;

/// Parses `/3i EXPRESSION`: the number of instructions, and the expression.
fn split_instructions(text: &str) -> Option<(u64, &str)> {
    let (format, expression) = text.strip_prefix('/')?.split_once(char::is_whitespace)?;
    let count = match format.strip_suffix('i')? {
        "" => 1,
        count => count.parse().ok()?,
    };
    Some((count.clamp(1, INSTRUCTIONS_MAX), expression.trim()))
}

/// `display`, `display EXPRESSION`, `display/x EXPRESSION`
pub(crate) fn display(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    let level = session.processes.selection.level;
    if text.is_empty() {
        if session.user.displays.displays.is_empty() {
            return Ok(Outcome::Displays(Vec::new()));
        }
        let frames = frames_if_any(session)?;
        return Ok(Outcome::Displays(displayed(session, &frames, level)));
    }
    let instructions = split_instructions(text);
    let (radix, words) = match instructions {
        Some((_, words)) => (Radix::Natural, words),
        None => split_format(text)?,
    };
    let expression = expressions::read(session, words)?;
    if expression.assigns() {
        return Err(CommandError::with_help(
            "a display cannot change variables: they would change at every stop",
            "change them at one breakpoint with commands",
        ));
    }
    if expression.calls_functions() {
        return Err(CommandError::with_help(
            "a display cannot call functions: they would run at every stop",
            "call it once with print, or at one breakpoint with commands",
        ));
    }
    let format = text.strip_suffix(words).unwrap_or("").trim();
    session.user.displays.last_number += 1;
    session.user.displays.displays.push(Display {
        number: session.user.displays.last_number,
        text: format!("{format} {words}").trim().to_owned(),
        radix,
        instructions: instructions.map(|(count, _)| count),
        expression,
    });
    let frames = frames_if_any(session)?;
    let views = displayed(session, &frames, level);
    Ok(Outcome::Displays(views.into_iter().rev().take(1).collect()))
}

/// `undisplay`, `undisplay 2`, `delete display 2`
pub(crate) fn undisplay(session: &mut Session, text: &str) -> Result<Outcome, CommandError> {
    if text.is_empty() {
        session.user.displays.displays.clear();
        return Ok(Outcome::Done);
    }
    for word in text.split_whitespace() {
        let number = word.parse::<u32>().ok();
        let place = session
            .user
            .displays
            .displays
            .iter()
            .position(|display| Some(display.number) == number);
        let place = place.ok_or_else(|| {
            CommandError::with_help(
                format!("there is no display `{word}`"),
                "info display lists them",
            )
        })?;
        session.user.displays.displays.remove(place);
    }
    Ok(Outcome::Done)
}

fn frames_if_any(session: &mut Session) -> Result<Vec<Frame>, CommandError> {
    Ok(
        if session.has_begun() && session.processes.program.is_some() {
            session.frames()?.to_vec()
        } else {
            Vec::new()
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_counted_before_the_letter() {
        for (text, expected) in [
            ("/i $pc", Some((1, "$pc"))),
            ("/3i  $pc + 4", Some((3, "$pc + 4"))),
            ("/9999i $pc", Some((100, "$pc"))),
            ("/x $pc", None),
            ("/i", None),
            ("i", None),
        ] {
            assert_eq!(split_instructions(text), expected, "{text}");
        }
    }
}
