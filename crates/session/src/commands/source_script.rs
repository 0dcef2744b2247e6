//! `source`: runs commands from a file.
//!
//! The front end executes each line as if it had been typed
//! ([`breakpoint_command_lists::next_queued_command`]). Unlike the commands of a breakpoint, they
//! continue after one that resumes the program; an error ends them.

use crate::session::Session;
use juror_view::Outcome;
use juror_view::error::CommandError;

/// The limit of queued lines, which detects files that source one another endlessly.
const LINES_MAX: usize = 100_000;

/// Returns the commands of a script: its lines without empty lines and comments.
pub fn script_lines(text: &str) -> impl Iterator<Item = String> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
}

/// `source FILE`
pub(crate) fn read_script(session: &mut Session, file: &str) -> Result<Outcome, CommandError> {
    if file.is_empty() {
        return Err(CommandError::with_help(
            "the name of a command file is missing",
            "for example: source setup.juror",
        ));
    }
    let text = std::fs::read_to_string(file)
        .map_err(|error| CommandError::new(format!("{file} cannot be read: {error}")))?;
    let lines: Vec<String> = script_lines(&text).collect();
    if session.points.commands.waiting() + lines.len() > LINES_MAX {
        return Err(CommandError::with_help(
            format!("{file} has too many lines"),
            "it may source itself",
        ));
    }
    session.points.commands.begin_script(lines);
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_have_comments() {
        let lines: Vec<_> = script_lines("# first\n\n  break f\nrun\r\n").collect();
        assert_eq!(lines, ["break f", "run"]);
    }
}
