//! The table of commands: names, abbreviations, help.
//!
//! Names and abbreviations are gdb's if gdb has the command. A unique prefix stands for its
//! command; if several commands share a prefix, the aliases decide (`s` is `step`, as in gdb).

pub(crate) mod arguments;
mod calling;
mod checkpoints;
mod code;
mod core_files;
mod effects;
pub mod entry;
pub(crate) mod foreign;
mod going_back;
mod info;
mod inspecting;
mod memory;
mod outside;
mod points;
mod processes;
pub(crate) mod recorded;
mod running;
mod scenarios;
pub(crate) mod setting_names;
mod settings;
mod watching;
pub(crate) mod words;

pub use crate::command_table::arguments::split_line;
pub use crate::command_table::effects::may_change;
use crate::command_table::entry::Entry;
pub(crate) use crate::command_table::info::takes_argument;
pub use crate::command_table::info::{INFO_SUBJECTS, find_info_subject, info_modes};
pub use crate::command_table::scenarios::{names_of_verde, translated};
use juror_view::CommandHelp;
use std::sync::LazyLock;

/// The table, sorted by name. Its rows are in the modules of their subjects.
pub static TABLE: LazyLock<Vec<&'static Entry>> = LazyLock::new(|| {
    let parts = [
        calling::ENTRIES,
        checkpoints::ENTRIES,
        code::ENTRIES,
        core_files::ENTRIES,
        going_back::ENTRIES,
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

/// The reason why a word is not a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unclear {
    /// No command begins with it.
    Unknown,
    /// Several commands begin with it.
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
    if foreign::instead(word).is_some() {
        // A whole name of gdb's is no abbreviation of another command.
        return Err(Unclear::Unknown);
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

/// Finds the command of this name, which is not abbreviated.
pub(crate) fn find_exact(name: &str) -> Option<&'static Entry> {
    TABLE.iter().copied().find(|entry| entry.name == name)
}

/// Returns the help of a command.
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
        possible: entry.modes.words().map(str::to_owned),
    }
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
}
