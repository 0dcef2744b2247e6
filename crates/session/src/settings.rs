//! `set`: values of the program, and how juror behaves.

use crate::command_line::CommandLine;
use crate::options::{AtInlined, CommandError};
use crate::session::Session;
use crate::view::Outcome;

/// What can be said.
const HELP: &str = "set PLACE = VALUE gives a variable of the program a value; set args ARGUMENTS; \
                    set follow parent, child or both; set checkpoint-files on or off; set \
                    checkpoint-namespace on, off or auto; set at-inlined off, marked or likely; set \
                    ignore-inlined on or off; set substitute-path FROM TO; \
                    set debug-file-directory DIRECTORY";

/// Settings of gdb that have nothing to set here, by which many begin a session.
const NEEDLESS: [(&str, &str); 6] = [
    ("confirm", "juror never asks back"),
    ("height", "juror does not page"),
    ("pagination", "juror does not page"),
    ("width", "lines are as wide as they are"),
    (
        "disassembly-flavor",
        "instructions are shown as Intel writes them",
    ),
    ("breakpoint", "a place that is not loaded yet is waited for"),
];

/// Settings of gdb for which there is something else.
const INSTEAD: [(&str, &str); 3] = [
    (
        "print",
        "print -pretty VALUE shows each field on a line of its own, print array[0..500] more \
         elements",
    ),
    (
        "listsize",
        "list FIRST,LAST shows as many lines as there are",
    ),
    (
        "environment",
        "start juror with it: NAME=VALUE juror run ./program",
    ),
];

fn known(table: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    let row = table.iter().find(|(known, _)| *known == name);
    row.map(|(_, text)| *text)
}

impl Session {
    /// `set follow child`, `set args a b`, `set var count = 3`.
    pub(crate) fn set(&mut self, rest: &str) -> Result<Outcome, CommandError> {
        let (name, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let after = after.trim();
        let first = after.split_whitespace().next().unwrap_or("");
        match name {
            "at-inlined" => return self.set_at_inlined(first),
            "ignore-inlined" => return self.set_ignore_inlined(first),
            "checkpoint-files" => return self.set_checkpoint_files(first),
            "checkpoint-namespace" => return self.set_checkpoint_namespace(first),
            "debug-file-directory" => return self.set_debug_directories(after),
            "substitute-path" => return self.set_substitution(after),
            // gdb's is the longest.
            "follow" | "follow-fork" | "follow-fork-mode" => return self.set_follow(first),
            "var" | "variable" => return self.assign(after),
            "args" if !after.starts_with('=') => return self.set_arguments(after),
            _ => {}
        }
        if crate::assignment::split(rest).is_some() {
            return self.assign(rest);
        }
        if let Some(why) = known(&NEEDLESS, name) {
            return Ok(Outcome::Message(format!("nothing to set: {why}")));
        }
        let help = known(&INSTEAD, name).unwrap_or(HELP);
        let message = match name {
            "" => "what is to be set?".to_owned(),
            name => format!("there is no setting `{name}`"),
        };
        Err(CommandError::with_help(message, help))
    }

    /// `set at-inlined marked`: of the properties that are loaded from now on, and of the
    /// next run.
    fn set_at_inlined(&mut self, value: &str) -> Result<Outcome, CommandError> {
        self.options.inlined.at = match value {
            "off" => AtInlined::Never,
            "marked" => AtInlined::Marked,
            "likely" => AtInlined::Likely,
            _ => {
                return Err(CommandError::with_help(
                    "at which inlined calls are there events?",
                    "set at-inlined off, marked or likely",
                ));
            }
        };
        Ok(Outcome::Done)
    }

    /// `set ignore-inlined on`: the same of calls that are not seen.
    fn set_ignore_inlined(&mut self, value: &str) -> Result<Outcome, CommandError> {
        self.options.inlined.ignore = match value {
            "on" => true,
            "off" => false,
            _ => {
                return Err(CommandError::with_help(
                    "are inlined calls accepted that are not seen?",
                    "set ignore-inlined on, or set ignore-inlined off",
                ));
            }
        };
        Ok(Outcome::Done)
    }

    /// `set args a b`: those that `run` gives to the program from now on.
    fn set_arguments(&mut self, text: &str) -> Result<Outcome, CommandError> {
        let line = CommandLine::parse(text)?;
        line.redirections.check()?;
        self.next_line = Some(line);
        Ok(Outcome::Done)
    }
}
