//! The commands that are executed before the program begins: those of the user's files, and those
//! of the launch configuration.
//!
//! An error ends the file that it is in, as at the prompt, and no more than that.

use super::CommandFile;
use crate::adapter::Adapter;
use juror_fault::CommandError;
use juror_session::command_table;
use juror_text::messages;
use juror_view::Outcome;
use juror_view::driver::Driver;

/// Executes the commands of a file.
pub(super) fn execute_file(adapter: &mut Adapter, session: &mut dyn Driver, file: &CommandFile) {
    let mut lines = file.lines.iter();
    while let Some((number, line)) = lines.next() {
        let done = if begins_program(line) && session.input_depth() == 0 {
            Err(CommandError::new(format!(
                "`{line}` is not executed: the client lets the program begin"
            )))
        } else {
            execute(adapter, session, line)
        };
        let Err(error) = done else { continue };
        session.cancel_input();
        adapter.say_as("important", &messages::command_error(&error));
        let rest = match lines.next() {
            Some(_) => ": the rest of the file is not executed",
            None => "",
        };
        let text = format!("an error at {}:{number}{rest}", file.name);
        return adapter.say_as("important", &messages::notice(&text));
    }
    end_block(adapter, session, &file.name);
}

/// Executes the commands of a launch configuration. An error does not end them.
pub(super) fn execute_lines(adapter: &mut Adapter, session: &mut dyn Driver, lines: &[String]) {
    for line in lines {
        if let Err(error) = execute(adapter, session, line) {
            adapter.say_error(&error);
        }
    }
    end_block(adapter, session, "initCommands");
}

/// Executes a line, and the commands that it queues.
fn execute(
    adapter: &mut Adapter,
    session: &mut dyn Driver,
    line: &str,
) -> Result<(), CommandError> {
    let mut next = Some(line.to_owned());
    while let Some(line) = next {
        match adapter.execute_typed(session, &line)? {
            // There is nothing to leave yet.
            Outcome::Quit(_) => return Err(CommandError::new("the client ends the session")),
            outcome => {
                let text = adapter.text_of(&outcome);
                adapter.say(&text);
            }
        }
        next = session.next_queued_command();
    }
    Ok(())
}

/// Drops an open block: it must not take the lines of others.
fn end_block(adapter: &Adapter, session: &mut dyn Driver, name: &str) {
    if session.input_depth() > 0 {
        session.cancel_input();
        let text = format!("the last block of {name} has no `end`: it is not executed");
        adapter.say_as("important", &messages::notice(&text));
    }
}

/// Returns whether a line lets the program run.
fn begins_program(line: &str) -> bool {
    let (word, _) = command_table::split_line(line);
    command_table::find(word).is_ok_and(|entry| entry.moves)
}
