//! The commands that only a recording has: the program cannot carry them out.

use crate::command_table::entry::{Entry, Group};
use crate::command_table::recorded::Recorded;
use crate::replay::rows;
use juror_fault::CommandError;

/// A row of a command that only a recording has.
const fn only_recorded(
    name: &'static str,
    aliases: &'static [&'static str],
    recorded: &'static Recorded,
) -> Entry {
    Entry {
        name,
        aliases,
        group: Group::Running,
        run: |_, _, _| {
            Err(CommandError::new(
                "this needs a recording: juror replay FILE",
            ))
        },
        recorded: Some(recorded),
        ..Entry::DEFAULT
    }
}

/// The rows, sorted by name.
pub(crate) static ENTRIES: [Entry; 2] = [
    only_recorded("reverse-next", &["rn"], &rows::REVERSE_NEXT),
    only_recorded("reverse-step", &["rs"], &rows::REVERSE_STEP),
];
