//! The table of commands for a recording: those of the session that make sense without the program,
//! under the same names, and those that go back.
//!
//! **Invariant**: a command of the session that is not here is refused with the reason, not as
//! unknown.

use crate::command_table;
use crate::command_table::Unclear;
use crate::command_table::words::unclear_error;
use juror_fault::CommandError;
use juror_language::suggest;
use juror_rules::control::Modes;
use juror_view::{CommandHelp, Outcome};

/// The action of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Break,
    Checkpoint,
    Continue,
    Delete,
    Disable,
    Enable,
    GoTo,
    Help,
    Info,
    List,
    Monitor,
    Next,
    Print,
    Property,
    Quit,
    Restore,
    ReverseContinue,
    ReverseNext,
    ReverseStep,
    Run,
    Set,
    Start,
    Step,
    TemporaryBreak,
}

/// A row of the table.
pub(super) struct Row {
    pub act: Act,
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub summary: &'static str,
    pub examples: &'static [(&'static str, &'static str)],
    pub repeats: bool,
    pub modes: Modes,
}

const fn row(
    act: Act,
    name: &'static str,
    aliases: &'static [&'static str],
    summary: &'static str,
    examples: &'static [(&'static str, &'static str)],
) -> Row {
    Row {
        act,
        name,
        aliases,
        summary,
        examples,
        repeats: false,
        modes: Modes::Always,
    }
}

/// Marks a moving command: an empty line repeats it.
const fn forwards(row: Row) -> Row {
    Row {
        repeats: true,
        modes: Modes::Program,
        ..row
    }
}

const fn backwards(row: Row) -> Row {
    Row {
        repeats: true,
        ..row
    }
}

/// The table, sorted by name.
pub(super) static TABLE: [Row; 24] = [
    row(
        Act::Break,
        "break",
        &["b", "br"],
        "Stop at an event, or at events from a line",
        &[
            ("break push", "at each event before push is called"),
            ("break after pop if ret == 0", "where pop returned 0"),
            ("break main.c:30", "at all events from line 30"),
        ],
    ),
    row(
        Act::Checkpoint,
        "checkpoint",
        &[],
        "Save the present position as a checkpoint",
        &[("checkpoint", "restore 1 returns to it")],
    ),
    forwards(row(
        Act::Continue,
        "continue",
        &["c", "fg"],
        "Continue to the next stop or violation, or to the end",
        &[
            ("continue", "to the next stop"),
            (
                "continue 3",
                "to the third breakpoint; violations are not skipped",
            ),
        ],
    )),
    row(
        Act::Delete,
        "delete",
        &["d"],
        "Delete breakpoints or checkpoints",
        &[
            ("delete 2", "breakpoint 2"),
            ("delete", "all breakpoints"),
            ("delete checkpoint 1", "checkpoint 1"),
        ],
    ),
    row(
        Act::Disable,
        "disable",
        &["dis"],
        "Disable breakpoints",
        &[(
            "disable 2",
            "breakpoint 2 does not stop until it is enabled",
        )],
    ),
    row(
        Act::Enable,
        "enable",
        &["en"],
        "Enable breakpoints",
        &[("enable 2", "breakpoint 2")],
    ),
    row(
        Act::GoTo,
        "goto",
        &[],
        "Go to an event by its number in the recording",
        &[
            ("goto 27", "to the 27th event"),
            ("goto start", "before the first"),
            ("goto end", "to the last"),
        ],
    ),
    row(
        Act::Help,
        "help",
        &["h"],
        "Show the commands, or the help of one",
        &[("help break", "the help of break")],
    ),
    row(
        Act::Info,
        "info",
        &["i", "inf"],
        "Show the state of something",
        &[
            (
                "info events",
                "the recorded events, and how often each occurred",
            ),
            ("info args", "the values of the event"),
            ("info line", "the source line of the event"),
            (
                "info monitors",
                "the properties with their states and variables",
            ),
            ("info graph", "the states of the properties as a graph"),
            ("info breakpoints", "the breakpoints"),
            ("info checkpoints", "the checkpoints"),
            ("info threads", "the threads, and the last event of each"),
        ],
    ),
    row(
        Act::List,
        "list",
        &["l"],
        "Show source lines",
        &[
            ("list", "around the event, then onwards"),
            ("list 30", "around line 30"),
        ],
    ),
    row(
        Act::Monitor,
        "monitor",
        &["mon"],
        "Show the monitors, or the paths of one",
        &[
            ("monitor", "all"),
            ("monitor queue_bounds", "the paths of its slices"),
        ],
    ),
    forwards(row(
        Act::Next,
        "next",
        &["n"],
        "Step to the next event of the same thread",
        &[("next", "one event"), ("next 5", "five")],
    )),
    row(
        Act::Print,
        "print",
        &["p", "inspect"],
        "Show a value of the event",
        &[("print job", "the value that was recorded as job")],
    ),
    row(
        Act::Property,
        "property",
        &["prop"],
        "List, add or remove properties",
        &[
            ("property", "all"),
            (
                "property add queue.prop",
                "the properties of a file, from the beginning",
            ),
            ("property remove queue_bounds", "stop monitoring it"),
        ],
    ),
    row(
        Act::Quit,
        "quit",
        &["q", "exit"],
        "Leave",
        &[("quit", "leave")],
    ),
    row(
        Act::Restore,
        "restore",
        &["restart"],
        "Go back to a checkpoint",
        &[("restore 1", "to checkpoint 1")],
    ),
    backwards(row(
        Act::ReverseContinue,
        "reverse-continue",
        &["rc"],
        "Go back to the previous stop or violation, or to the beginning",
        &[("reverse-continue", "to the previous stop")],
    )),
    backwards(row(
        Act::ReverseNext,
        "reverse-next",
        &["rn"],
        "Step back to the previous event of the same thread",
        &[("reverse-next", "one event"), ("reverse-next 5", "five")],
    )),
    backwards(row(
        Act::ReverseStep,
        "reverse-step",
        &["rs"],
        "Step back to the previous event",
        &[("reverse-step", "one event"), ("reverse-step 5", "five")],
    )),
    row(
        Act::Run,
        "run",
        &["r"],
        "Run from the beginning to the first stop or violation",
        &[("run", "from the beginning")],
    ),
    row(
        Act::Set,
        "set",
        &[],
        "Set where source files are, what each stop shows, or what the terminal shows",
        &[
            (
                "set substitute-path /build /home/me",
                "files of /build are in /home/me",
            ),
            (
                "set context source locals",
                "show these parts at each stop: source, locals, monitors",
            ),
            ("set pagination off", "long output goes through no pager"),
            ("set width 100", "the columns of the terminal"),
        ],
    ),
    row(
        Act::Start,
        "start",
        &[],
        "Go to the beginning",
        &[("start", "before the first event")],
    ),
    forwards(row(
        Act::Step,
        "step",
        &["s", "stepi", "si"],
        "Step to the next event",
        &[("step", "one event"), ("step 5", "five")],
    )),
    row(
        Act::TemporaryBreak,
        "tbreak",
        &["tb"],
        "Set a temporary breakpoint",
        &[("tbreak push", "at the next push only")],
    ),
];

/// Finds the command for a word.
pub(super) fn find(word: &str) -> Result<&'static Row, CommandError> {
    let is_meant = |row: &&Row| row.name == word || row.aliases.contains(&word);
    if let Some(row) = TABLE.iter().find(is_meant) {
        return Ok(row);
    }
    let begun: Vec<&Row> = TABLE
        .iter()
        .filter(|it| it.name.starts_with(word))
        .collect();
    match begun.as_slice() {
        [row] => return Ok(row),
        [] => {}
        several => {
            let names = several.iter().map(|it| it.name).collect();
            return Err(unclear_error(
                word,
                &Unclear::Ambiguous(names),
                "command",
                None,
            ));
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
            let near = suggest(word, TABLE.iter().map(|it| it.name));
            unclear_error(word, &Unclear::Unknown, "command", near)
        }
    })
}

fn help_of(row: &Row) -> CommandHelp {
    let texts = |&(typed, effect): &(&str, &str)| (typed.to_owned(), effect.to_owned());
    CommandHelp {
        name: row.name.to_owned(),
        aliases: row.aliases.iter().map(|&it| it.to_owned()).collect(),
        summary: row.summary.to_owned(),
        examples: row.examples.iter().map(texts).collect(),
        details: String::new(),
        possible: match row.modes {
            Modes::Program => Some("Possible before the end of the recording.".to_owned()),
            _ => None,
        },
    }
}

/// `help`, `help COMMAND`
pub(super) fn help(rest: &str) -> Result<Outcome, CommandError> {
    if rest.is_empty() {
        return Ok(Outcome::HelpIndex(TABLE.iter().map(help_of).collect()));
    }
    find(rest).map(|row| Outcome::Help(help_of(row)))
}
