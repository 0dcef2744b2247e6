//! `source`: runs commands from a file.
//!
//! The front end executes each line as if it had been typed
//! ([`Session::next_queued_command`]). Unlike the commands of a breakpoint, they continue after one
//! that resumes the program; an error ends them. A file with a malformed block is refused as a
//! whole.

use crate::commands::block_lines;
use crate::commands::blocks::WORDS;
use crate::script::block::Block;
use crate::script::parse::parse_file;
use crate::script::run::Origin;
use crate::session::Session;
use juror_fault::CommandError;
use juror_view::Outcome;
use std::rc::Rc;

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
    let block = read_blocks(session, &text).map_err(|(number, error)| CommandError {
        message: format!("{file}:{number}: {}", error.message),
        help: Some("nothing of the file is executed".to_owned()),
        ..error
    })?;
    let commands = &mut session.points.commands;
    if !commands.runner.may_begin() {
        return Err(CommandError::with_help(
            format!("{file} is not read: too many command files have begun"),
            "it may source itself, directly or by another file",
        ));
    }
    let origin = Origin::File(file.into());
    commands.runner.begin(block, Vec::new(), origin);
    Ok(Outcome::Done)
}

/// Reads the blocks of a file of commands, and checks the lines within.
///
/// # Errors
/// The number of the first line that has no place or could only fail, and why; or of the line that
/// begins a block without an end.
pub(crate) fn read_blocks(
    session: &mut Session,
    text: &str,
) -> Result<Rc<Block>, (usize, CommandError)> {
    let block = parse_file(text, WORDS)?;
    block_lines::check_file(session, text)?;
    Ok(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_have_comments() {
        let block = parse_file("# first\n\n  break f\nrun\r\n", WORDS).expect("a block");
        assert_eq!(block.lines, ["break f", "run"]);
    }
}
