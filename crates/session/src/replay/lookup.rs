//! Finds the command that a word stands for over a recording, and its help.
//!
//! **Invariant**: a command of the session that a recording lacks is refused with the reason, not as
//! unknown.

use crate::command_table;
use crate::command_table::entry::Entry;
use crate::command_table::recorded::Recorded;
use crate::command_table::words::unclear_error;
use crate::command_table::{TABLE, Unclear};
use juror_control::Modes;
use juror_fault::CommandError;
use juror_language::suggest;
use juror_view::{CommandHelp, Outcome};
use std::sync::LazyLock;

/// A command that a recording has, with its row.
pub(super) type RecordedEntry = (&'static Entry, &'static Recorded);

/// The commands that a recording has, sorted by name.
pub(super) static RECORDED: LazyLock<Vec<RecordedEntry>> = LazyLock::new(|| {
    let mut recorded: Vec<_> = TABLE
        .iter()
        .copied()
        .filter_map(|entry| Some((entry, entry.recorded?)))
        .collect();
    recorded.sort_unstable_by_key(|(entry, _)| entry.name);
    recorded
});

/// Finds the command of a recording that a word stands for.
///
/// # Errors
/// The word is no command, one of several, or one that needs the program.
pub(super) fn find(word: &str) -> Result<RecordedEntry, CommandError> {
    let is_meant =
        |(entry, _): &&RecordedEntry| entry.name == word || entry.aliases.contains(&word);
    if let Some(found) = RECORDED.iter().find(is_meant) {
        return Ok(*found);
    }
    let begun: Vec<&RecordedEntry> = RECORDED
        .iter()
        .filter(|(entry, _)| entry.name.starts_with(word))
        .collect();
    match begun.as_slice() {
        [found] => return Ok(**found),
        [] => {}
        several => {
            let names = several.iter().map(|(entry, _)| entry.name).collect();
            let unclear = Unclear::Ambiguous(names);
            return Err(unclear_error(word, &unclear, "command", None));
        }
    }
    Err(match command_table::find(word) {
        Ok(entry) => CommandError::with_help(
            format!(
                "`{}` needs the program, and this is a recording",
                entry.name
            ),
            "help lists the commands",
        ),
        Err(_) => {
            let near = suggest(word, RECORDED.iter().map(|(entry, _)| entry.name));
            unclear_error(word, &Unclear::Unknown, "command", near)
        }
    })
}

fn help_of((entry, recorded): RecordedEntry) -> CommandHelp {
    let texts = |&(typed, effect): &(&str, &str)| (typed.to_owned(), effect.to_owned());
    CommandHelp {
        name: entry.name.to_owned(),
        aliases: entry.aliases.iter().map(|&it| it.to_owned()).collect(),
        summary: recorded.summary.to_owned(),
        examples: recorded.examples.iter().map(texts).collect(),
        details: String::new(),
        possible: match recorded.modes {
            Modes::Program => Some("Possible before the end of the recording.".to_owned()),
            _ => None,
        },
    }
}

/// `help`, `help COMMAND`
pub(super) fn help(rest: &str) -> Result<Outcome, CommandError> {
    if rest.is_empty() {
        return Ok(Outcome::HelpIndex(
            RECORDED.iter().copied().map(help_of).collect(),
        ));
    }
    find(rest).map(|found| Outcome::Help(help_of(found)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_the_same_names_with_and_without_the_program() {
        for (word, expected) in [
            ("b", "break"),
            ("c", "continue"),
            ("cont", "continue"),
            ("si", "step"),
            ("stepi", "step"),
            ("rc", "reverse-continue"),
            ("reverse-s", "reverse-step"),
            ("restart", "restore"),
        ] {
            let (entry, recorded) = find(word).expect("a command");
            let (_, meant) = find(expected).expect("a command");
            assert_eq!(recorded.summary, meant.summary, "{word} is {}", entry.name);
        }
    }

    #[test]
    fn a_command_that_needs_the_program_is_refused_with_the_reason() {
        let error = find("finish").expect_err("it needs the program");
        assert_eq!(
            error.message,
            "`finish` needs the program, and this is a recording"
        );
        assert_eq!(
            find("frobnicate").expect_err("unknown").message,
            "there is no command `frobnicate`"
        );
    }

    #[test]
    fn a_recording_has_no_commands_of_its_own() {
        for (entry, _) in RECORDED.iter() {
            let known = command_table::find_exact(entry.name);
            assert!(known.is_some(), "{}", entry.name);
        }
    }
}
