//! The commands that are executed before the prompt: of `-x`, `-e`, and of the files `init` and
//! `.juror`.
//!
//! An error ends the file that it is in. At a prompt the next file or command follows, as in gdb;
//! in batch mode an error ends juror. What is not executed is told.

use super::console::Console;
use crate::arguments::Script;
use crate::driver::{CommandError, Observer as _};
use anyhow::Context as _;
use juror_dap::CommandFile;
use juror_view::Outcome;
use std::io;

/// Commands that are executed before the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commands {
    /// The file that they come from; none for a command of the command line.
    file: Option<String>,
    /// The text of the file.
    text: String,
    /// The commands, with their line numbers.
    lines: Vec<(usize, String)>,
}

/// How the execution of commands ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Executed {
    /// All were executed, or at a prompt all that could be.
    All,
    /// One failed, in batch mode.
    Failed,
    /// One of them leaves juror.
    Quit,
}

impl Commands {
    /// Returns a command of the command line.
    pub fn of_line(line: &str) -> Commands {
        Commands {
            file: None,
            text: String::new(),
            lines: vec![(1, line.to_owned())],
        }
    }

    /// Returns the commands for a front end that executes them itself.
    pub fn into_file(self) -> CommandFile {
        CommandFile {
            name: self.file.unwrap_or_default(),
            lines: self.lines,
        }
    }

    /// Returns the files that `views` loads before any block of commands.
    pub fn views(&self) -> impl Iterator<Item = String> {
        const BLOCKS: [&str; 5] = ["if", "while", "define", "document", "commands"];
        let first = |line: &str| line.split_whitespace().next().unwrap_or("").to_owned();
        let lines = self.lines.iter().map(|(_, line)| line.trim());
        let plain = lines.take_while(move |line| !BLOCKS.contains(&&*first(line)));
        plain.filter_map(|line| {
            let file = line.strip_prefix("views ")?.trim();
            (!file.is_empty()).then(|| file.to_owned())
        })
    }

    /// Returns the commands of a file with this text.
    pub fn of_text(name: &str, text: &str) -> Commands {
        let lines = text.lines().enumerate();
        let lines = lines.map(|(index, line)| (index + 1, line.trim().to_owned()));
        Commands {
            file: Some(name.to_owned()),
            text: text.to_owned(),
            lines: lines
                .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
                .collect(),
        }
    }
}

/// Returns the commands of `-x` and `-e`, in the order given.
///
/// # Errors
/// A file cannot be read.
pub fn read(scripts: &[Script]) -> anyhow::Result<Vec<Commands>> {
    let read = |script: &Script| match script {
        Script::Line(line) => Ok(Commands::of_line(line)),
        Script::File(file) => {
            let name = file.display().to_string();
            let text = std::fs::read_to_string(file);
            let text = text.with_context(|| format!("the command file {name} cannot be read"))?;
            Ok(Commands::of_text(&name, &text))
        }
    };
    scripts.iter().map(read).collect()
}

/// Executes commands. `is_strict` makes the first error the last command.
pub fn execute(console: &mut Console, all: &[Commands], is_strict: bool) -> io::Result<Executed> {
    for (index, commands) in all.iter().enumerate() {
        match execute_one(console, commands)? {
            Executed::All => {}
            Executed::Quit => return Ok(Executed::Quit),
            Executed::Failed if is_strict => {
                let rest: usize = all[index + 1..].iter().map(|it| it.lines.len()).sum();
                match rest {
                    0 => {}
                    1 => console.output().notice("one more command is not executed"),
                    rest => {
                        let text = format!("{rest} more commands are not executed");
                        console.output().notice(&text);
                    }
                }
                return Ok(Executed::Failed);
            }
            Executed::Failed => {}
        }
    }
    Ok(Executed::All)
}

fn execute_one(console: &mut Console, commands: &Commands) -> io::Result<Executed> {
    if let Some(file) = &commands.file
        && let Err((number, error)) = console.check_file(&commands.text)
    {
        let error = CommandError {
            message: format!("{file}:{number}: {}", error.message),
            help: Some("nothing of the file is executed".to_owned()),
            ..error
        };
        console.output().show_command_error(file, &error)?;
        return Ok(Executed::Failed);
    }
    let mut lines = commands.lines.iter();
    while let Some((number, line)) = lines.next() {
        match console.perform(line)? {
            Some(Outcome::Quit(_)) => return Ok(Executed::Quit),
            Some(_) => {}
            None => {
                if let Some(file) = &commands.file {
                    // The lines of an unfinished block must not take what follows the file.
                    console.cancel_input();
                    let rest = match lines.next() {
                        Some(_) => ": the rest of the file is not executed",
                        None => "",
                    };
                    let text = format!("an error at {file}:{number}{rest}");
                    console.output().notice(&text);
                }
                return Ok(Executed::Failed);
            }
        }
    }
    Ok(Executed::All)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::console::testing::*;

    #[track_caller]
    fn check(all: &[Commands], is_strict: bool, end: Executed, done: &[&str], told: &[&str]) {
        let (mut console, log, streams) = console(vec![]);
        let given = execute(&mut console, all, is_strict).expect("memory");
        assert_eq!(given, end);
        assert_eq!(*log.borrow(), done);
        let messages = streams.messages();
        for text in told {
            assert!(messages.contains(text), "{text}: {messages}");
        }
        assert_eq!(messages.is_empty(), told.is_empty(), "{messages}");
    }

    #[test]
    fn an_error_ends_its_file() {
        let file = || Commands::of_text("f", "info\n\n# no\n  bad\nlast\nlast\n");
        let line = Commands::of_line;
        check(
            &[file(), line("after")],
            false,
            Executed::All,
            &["info", "bad", "after"],
            &["an error at f:4: the rest of the file is not executed"],
        );
        check(
            &[file(), line("after"), line("after")],
            true,
            Executed::Failed,
            &["info", "bad"],
            &[
                "an error at f:4: the rest",
                "2 more commands are not executed",
            ],
        );
        check(
            &[line("bad"), line("info"), line("quit"), line("after")],
            false,
            Executed::Quit,
            &["bad", "info", "quit"],
            &[],
        );
    }
}
