//! The one table of commands: names, abbreviations, help.
//!
//! Names and abbreviations are gdb's where gdb has the command. A unique
//! prefix stands for its command; where several commands share a prefix, the
//! aliases decide (`s` is `step`, as in gdb).

mod calling;
mod checkpoints;
mod code;
pub(crate) mod foreign;
mod info;
mod inspecting;
mod memory;
mod modes;
mod outside;
mod points;
mod processes;
mod running;
mod scenarios;
mod settings;
mod watching;
pub(crate) mod words;

pub use crate::command_table::info::{INFO_SUBJECTS, find_info_subject};
pub use crate::command_table::modes::info_modes;
pub use crate::command_table::scenarios::{names_of_verde, translated};
use juror_view::CommandHelp;
use std::sync::LazyLock;

/// What a command does; the session dispatches on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // each variant is the command of its name in the table below
pub enum Command {
    Abandon,
    AccessWatch,
    Advance,
    Attach,
    Backtrace,
    Break,
    Call,
    ChangeWatch,
    Catch,
    ChangeDirectory,
    Checkpoint,
    Clear,
    CommandGroup,
    Commands,
    Condition,
    Continue,
    Delete,
    DefineType,
    Detach,
    Directory,
    Disable,
    Disassemble,
    Display,
    Down,
    Dump,
    DynamicPrint,
    Echo,
    Enable,
    Examine,
    Find,
    Finish,
    Frame,
    FramesApply,
    Handle,
    HardwareBreak,
    Help,
    Ignore,
    Info,
    Jump,
    Kill,
    List,
    Monitor,
    NameType,
    Next,
    NextInstruction,
    Output,
    Print,
    PrintFormatted,
    Process,
    Property,
    QueueSignal,
    Quit,
    ReadWatch,
    RegexBreak,
    Restore,
    Return,
    Run,
    Save,
    Scenario,
    Script,
    SelectFrame,
    Set,
    Shell,
    Show,
    ShowGraph,
    Signal,
    Skip,
    Start,
    StartInstruction,
    Step,
    StepInstruction,
    TemporaryBreak,
    TemporaryHardwareBreak,
    TemporaryCatch,
    Thread,
    ThreadsApply,
    Undisplay,
    Unset,
    Until,
    Up,
    Views,
    Watch,
}

/// What completes an argument of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completes {
    /// Nothing to complete.
    Nothing,
    /// Functions and source files.
    Places,
    /// What can be caught.
    Caught,
    /// Signals, and what `handle` does with them.
    Signals,
    /// Variables in scope, globals, functions.
    Expressions,
    /// The subjects of `info`.
    InfoSubjects,
    /// Names of commands.
    Commands,
    /// Files and directories.
    Files,
    /// What can be set and shown, and variables in scope.
    Settings,
    /// What `frame` and `thread` take beside a number.
    Words(&'static [&'static str]),
    /// Names of properties.
    Properties,
    /// What is done with properties, and their names.
    PropertyActions,
    /// What is done with scenarios, and their names.
    ScenarioActions,
}

/// A row of the table.
#[derive(Debug)]
pub struct Entry {
    /// What it does.
    pub command: Command,
    /// Its full name.
    pub name: &'static str,
    /// Its other names; they win over prefixes.
    pub aliases: &'static [&'static str],
    /// What it does, in a line.
    pub summary: &'static str,
    /// What is typed, and what that does.
    pub examples: &'static [(&'static str, &'static str)],
    /// More words.
    pub details: &'static str,
    /// Enter alone does it again.
    pub repeats: bool,
    /// What completes its argument.
    pub completes: Completes,
}

/// The table, sorted by name. Its rows stand in the modules of their subjects.
pub static TABLE: LazyLock<Vec<&'static Entry>> = LazyLock::new(|| {
    let parts = [
        calling::ENTRIES,
        checkpoints::ENTRIES,
        code::ENTRIES,
        inspecting::ENTRIES,
        memory::ENTRIES,
        outside::ENTRIES,
        points::ENTRIES,
        processes::ENTRIES,
        running::ENTRIES,
        scenarios::ENTRIES,
        settings::ENTRIES,
        watching::ENTRIES,
    ];
    let mut table: Vec<_> = parts.into_iter().flatten().collect();
    table.sort_unstable_by_key(|entry| entry.name);
    table
});

/// Why a word is no command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unclear {
    /// No command begins so.
    Unknown,
    /// Several do.
    Ambiguous(Vec<&'static str>),
}

/// Finds the command that a word stands for: a name, an alias, or a prefix
/// that only one name has.
pub fn find(word: &str) -> Result<&'static Entry, Unclear> {
    if let Some(entry) = TABLE
        .iter()
        .find(|entry| entry.name == word || entry.aliases.contains(&word))
    {
        return Ok(entry);
    }
    let candidates: Vec<_> = TABLE
        .iter()
        .copied()
        .filter(|entry| !word.is_empty() && entry.name.starts_with(word))
        .collect();
    match candidates.as_slice() {
        [entry] => Ok(entry),
        [] => Err(Unclear::Unknown),
        several => Err(Unclear::Ambiguous(
            several.iter().map(|entry| entry.name).collect(),
        )),
    }
}

/// The command in words, for help.
pub fn help_of(entry: &Entry) -> CommandHelp {
    CommandHelp {
        name: entry.name.to_owned(),
        aliases: entry
            .aliases
            .iter()
            .map(|&alias| alias.to_owned())
            .collect(),
        summary: entry.summary.to_owned(),
        examples: entry
            .examples
            .iter()
            .map(|&(typed, effect)| (typed.to_owned(), effect.to_owned()))
            .collect(),
        details: entry.details.to_owned(),
        possible: entry.command.modes().words().map(str::to_owned),
    }
}

/// Splits a line into its command word and the rest. `print/x n` and
/// `p/x n` give the word, and the rest with its format: `/x n`.
pub fn split_line(line: &str) -> (&str, &str) {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix('!') {
        return (&line[..1], rest.trim());
    }
    let end = line
        .find(|c: char| c.is_whitespace() || c == '/')
        .unwrap_or(line.len());
    let (word, rest) = line.split_at(end);
    (word, rest.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_stands_twice() {
        let mut all: Vec<_> = TABLE
            .iter()
            .flat_map(|entry| entry.aliases.iter().copied().chain([entry.name]))
            .collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn words_stand_for_commands_as_in_gdb() {
        for (word, expected) in [
            ("b", "break"),
            ("bt", "backtrace"),
            ("c", "continue"),
            ("n", "next"),
            ("ni", "nexti"),
            ("s", "step"),
            ("si", "stepi"),
            ("p", "print"),
            ("i", "info"),
            ("l", "list"),
            ("u", "until"),
            ("up", "up"),
            ("unt", "until"),
            ("adv", "advance"),
            ("tbreak", "tbreak"),
            ("f", "frame"),
            ("fin", "finish"),
            ("conti", "continue"),
            ("cond", "condition"),
            ("comm", "commands"),
            ("cl", "clear"),
            ("ign", "ignore"),
            ("q", "quit"),
        ] {
            assert_eq!(find(word).map(|entry| entry.name), Ok(expected), "{word}");
        }
        assert_eq!(find("frob").map(|entry| entry.name), Err(Unclear::Unknown));
        assert_eq!(
            find("st").map(|entry| entry.name),
            Err(Unclear::Ambiguous(vec!["start", "starti", "step", "stepi"]))
        );
        assert_eq!(find("").map(|entry| entry.name), Err(Unclear::Unknown));
    }

    #[test]
    fn a_line_splits_into_word_and_rest() {
        for (line, expected) in [
            ("print/x a + b", ("print", "/x a + b")),
            ("  b  queue.c:3 ", ("b", "queue.c:3")),
            ("c", ("c", "")),
            ("", ("", "")),
        ] {
            assert_eq!(split_line(line), expected, "{line:?}");
        }
    }
}
