//! `help` and `apropos`: the commands by group, by name, and by words of their help.

use crate::command_table::arguments;
use crate::command_table::entry::{Entry, Group};
use crate::command_table::words::find;
use crate::command_table::{INFO_SUBJECTS, TABLE, find_info_subject, help_of};
use crate::commands::breakpoint_command_lists::help_of_defined;
use crate::session::Session;
use juror_fault::CommandError;
use juror_view::{CommandHelp, GroupHelp, Outcome};

/// `help`, `help GROUP`, `help COMMAND`, `help info SUBJECT`
pub(crate) fn help(session: &Session, rest: &str) -> Result<Outcome, CommandError> {
    match help_of_defined(session, rest) {
        Some(help) => Ok(Outcome::Help(help)),
        None => help_of_word(rest),
    }
}

fn help_of_word(rest: &str) -> Result<Outcome, CommandError> {
    if rest.is_empty() {
        return Ok(Outcome::HelpGroups(groups()));
    }
    if let Some(group) = group_named(rest) {
        let of_group = TABLE.iter().filter(|entry| entry.group == group);
        return Ok(Outcome::HelpIndex(of_group.map(|it| help_of(it)).collect()));
    }
    let (word, more) = arguments::split_line(rest);
    let entry = find(word)?;
    let (subject, extra) = arguments::split_line(more);
    let is_known = entry.name == "info" && find_info_subject(subject).is_ok();
    let wrong = if is_known { extra } else { more };
    if !wrong.is_empty() {
        return Err(CommandError::unexpected(wrong, &format!("help {word}")));
    }
    if let ("info", Ok(subject)) = (entry.name, find_info_subject(subject)) {
        let known = INFO_SUBJECTS.iter().find(|it| it.0 == subject);
        let what = known.map_or("", |it| it.1);
        return Ok(Outcome::Help(subject_help(subject, what)));
    }
    Ok(Outcome::Help(help_of(entry)))
}

/// Returns the group of this name. A command of the same name takes precedence.
fn group_named(word: &str) -> Option<Group> {
    let is_command = |it: &&'static Entry| it.name == word || it.aliases.contains(&word);
    if TABLE.iter().any(is_command) {
        None
    } else {
        Group::ALL.into_iter().find(|group| group.name() == word)
    }
}

fn groups() -> Vec<GroupHelp> {
    let commands = |group: Group| {
        let of_group = TABLE.iter().filter(move |entry| entry.group == group);
        of_group.map(|entry| entry.name.to_owned()).collect()
    };
    let help = |group: Group| GroupHelp {
        name: group.name().to_owned(),
        summary: group.summary().to_owned(),
        commands: commands(group),
    };
    Group::ALL.into_iter().map(help).collect()
}

/// `apropos WORD...`: the commands and subjects of `info` whose help has all the words.
pub(crate) fn apropos(rest: &str) -> Result<Outcome, CommandError> {
    let words: Vec<String> = rest.split_whitespace().map(str::to_lowercase).collect();
    if words.is_empty() {
        return Err(CommandError::with_help(
            "apropos needs a word to search for",
            "for example: apropos watch",
        ));
    }
    let matches = |text: &str| {
        let text = text.to_lowercase();
        words.iter().all(|word| text.contains(word.as_str()))
    };
    let commands = TABLE.iter().filter(|entry| matches(&text_of(entry)));
    let subjects = INFO_SUBJECTS
        .iter()
        .filter(|(name, what)| matches(&format!("info {name} {what}")));
    let mut found: Vec<CommandHelp> = commands.map(|entry| help_of(entry)).collect();
    found.extend(subjects.map(|(name, what)| subject_help(name, what)));
    if found.is_empty() {
        Err(CommandError::with_help(
            format!("no help text contains `{rest}`"),
            "help lists the commands",
        ))
    } else {
        Ok(Outcome::HelpIndex(found))
    }
}

fn subject_help(name: &str, summary: &str) -> CommandHelp {
    CommandHelp {
        name: format!("info {name}"),
        summary: summary.to_owned(),
        ..CommandHelp::default()
    }
}

/// Returns the whole help text of a command.
fn text_of(entry: &Entry) -> String {
    let mut text = [entry.name, entry.summary, entry.details].join(" ");
    for alias in entry.aliases {
        text.push(' ');
        text.push_str(alias);
    }
    for (typed, effect) in entry.examples {
        text.push_str(&format!(" {typed} {effect}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(outcome: Outcome) -> Vec<String> {
        match outcome {
            Outcome::HelpIndex(commands) => commands.into_iter().map(|it| it.name).collect(),
            other => panic!("no list of commands: {other:?}"),
        }
    }

    #[test]
    fn every_command_is_in_one_group() {
        let Ok(Outcome::HelpGroups(groups)) = help_of_word("") else {
            panic!("no groups");
        };
        let mut listed: Vec<String> = groups.into_iter().flat_map(|it| it.commands).collect();
        listed.sort_unstable();
        let all: Vec<&str> = TABLE.iter().map(|entry| entry.name).collect();
        assert_eq!(listed, all);
    }

    #[test]
    fn a_group_lists_its_commands_and_a_command_wins() {
        let stack = names(help_of_word("stack").expect("a group"));
        assert!(stack.contains(&"backtrace".to_owned()), "{stack:?}");
        for group in Group::ALL {
            assert!(!names(help_of_word(group.name()).expect("a group")).is_empty());
        }
        assert!(matches!(help_of_word("checkpoint"), Ok(Outcome::Help(_))));
    }

    #[test]
    fn apropos_searches_names_examples_and_subjects_for_all_words() {
        let found = names(apropos("Debug Registers").expect("commands"));
        assert!(found.contains(&"hbreak".to_owned()), "{found:?}");
        let found = names(apropos("threads").expect("commands"));
        assert!(found.contains(&"info threads".to_owned()), "{found:?}");
        assert!(apropos("xyzzy").is_err() && apropos(" ").is_err());
    }
}
