//! Options as gdb spells them: `-ex COMMAND`, `-batch`, `-p PID`.
//!
//! gdb takes its long options with one dash, too. They are translated before the command line is
//! parsed, up to the program: what follows it is not juror's.

use super::CommandLine;
use clap::{Command, CommandFactory};
use std::ffi::OsString;

/// gdb's names of options, and juror's.
const NAMES: [(&str, &str); 17] = [
    ("ex", "ex"),
    ("eval-command", "ex"),
    ("command", "commands"),
    ("q", "quiet"),
    ("quiet", "quiet"),
    ("silent", "quiet"),
    ("batch", "batch"),
    ("nx", "no-init"),
    ("n", "no-init"),
    ("nh", "no-init"),
    ("return-child-result", "return-child-result"),
    ("args", "args"),
    ("c", "core"),
    ("core", "core"),
    ("cd", "cd"),
    ("p", "pid"),
    ("pid", "pid"),
];

/// Returns the words of a command line with juror's options in place of gdb's. The first two are
/// the name of juror and its command.
pub(super) fn translated(mut words: Vec<OsString>) -> Vec<OsString> {
    let is_run = words.get(1).is_some_and(|word| word == "run");
    if !is_run && words.get(1).is_none_or(|word| word != "attach") {
        return words;
    }
    let line = CommandLine::command();
    let mut at = 2;
    while let Some(word) = words.get(at).and_then(|word| word.to_str()) {
        if word == "--" && is_run {
            // The rest is the program with its arguments, and no core file.
            if !words[..at].iter().any(|word| word == "--args") {
                words.insert(at, "--args".into());
            }
            break;
        }
        if !word.starts_with('-') || matches!(word, "-" | "--") {
            break;
        }
        let word = translated_option(word);
        if word == "--pid" && is_run {
            // The process is an argument of `attach`.
            words.remove(at);
            words[1] = "attach".into();
            break;
        }
        let takes_next = takes_next(&line, &word);
        words[at] = word.into();
        at += if takes_next { 2 } else { 1 };
    }
    words
}

/// Returns an option as juror spells it.
fn translated_option(word: &str) -> String {
    let name = word.trim_start_matches('-');
    let (name, value) = match name.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (name, None),
    };
    let found = NAMES.iter().find(|(theirs, _)| *theirs == name);
    match (found, value) {
        (None, _) => word.to_owned(),
        (Some((_, ours)), None) => format!("--{ours}"),
        (Some((_, ours)), Some(value)) => format!("--{ours}={value}"),
    }
}

/// Returns whether the next word is the value of an option.
fn takes_next(line: &Command, word: &str) -> bool {
    let Some(run) = line.find_subcommand("run") else {
        return false;
    };
    let is_meant = |argument: &&clap::Arg| match word.strip_prefix("--") {
        Some(long) => argument.get_long() == Some(long),
        None => {
            let short = argument.get_short();
            short.is_some_and(|short| word.strip_prefix('-') == Some(short.to_string().as_str()))
        }
    };
    run.get_arguments().find(is_meant).is_some_and(|argument| {
        argument.get_action().takes_values() && !argument.is_require_equals_set()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &str, expected: &str) {
        let words = given.split(' ').map(OsString::from).collect();
        let found = translated(words);
        let expected: Vec<OsString> = expected.split(' ').map(OsString::from).collect();
        assert_eq!(found, expected, "{given}");
    }

    #[test]
    fn one_dash_is_enough_before_the_program() {
        check("juror run -ex run prog", "juror run --ex run prog");
        check("juror run -ex=run prog", "juror run --ex=run prog");
        check(
            "juror run -q -nx -batch -ex bt -x f prog -ex -q",
            "juror run --quiet --no-init --batch --ex bt -x f prog -ex -q",
        );
        check("juror run -e -ex prog -q", "juror run -e -ex prog -q");
        check("juror run --json prog -q", "juror run --json prog -q");
        check("juror run -- -q", "juror run --args -- -q");
        check("juror run -args -- -q", "juror run --args -- -q");
        check(
            "juror run --silent --eval-command=run -args prog -batch",
            "juror run --quiet --ex=run --args prog -batch",
        );
        check(
            "juror run -q -c core prog -c x",
            "juror run --quiet --core core prog -c x",
        );
        check("juror run -core=core", "juror run --core=core");
        check("juror check -q", "juror check -q");
    }

    #[test]
    fn a_process_may_follow_other_options() {
        check("juror run -p 12", "juror attach 12");
        check(
            "juror run -batch -ex bt -pid 12",
            "juror attach --batch --ex bt 12",
        );
        check("juror attach -q 12", "juror attach --quiet 12");
        check("juror run prog -p 12", "juror run prog -p 12");
    }
}
