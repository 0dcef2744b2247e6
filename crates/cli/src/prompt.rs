//! The prompt: lines in, results out.
//!
//! At a terminal there is a line editor with history and completion, and
//! Enter repeats a command that goes forward. Elsewhere lines are read as they
//! are and echoed, so that the output reads like a session.

use crate::arguments::Script;
use crate::console::{Console, SharedDriver};
use crate::directories;
use anyhow::Context as _;
use juror_view::Outcome;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::{CompletionType, Config, Editor};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::PathBuf;

/// What stands before each line.
const PROMPT: &str = "(juror) ";

/// How many lines the history keeps.
const HISTORY_LINES: usize = 2000;

/// What came from the user.
#[derive(Debug, PartialEq, Eq)]
pub enum Input {
    /// A line, without its end.
    Line(String),
    /// Ctrl-C: the line is forgotten.
    Cancelled,
    /// Ctrl-D, or the end of the file.
    End,
}

/// Where lines come from.
pub trait Lines {
    /// The next one; a person sees this prompt.
    fn next(&mut self, prompt: &str) -> io::Result<Input>;
    /// A person types them: an empty line repeats, and nothing is echoed.
    fn is_typed(&self) -> bool;
}

/// Executes the commands, runs the program if `runs` and they did not, and
/// then talks until the user leaves. Gives the exit status.
pub fn converse(
    console: &mut Console,
    commands: &[String],
    runs: bool,
    lines: &mut dyn Lines,
) -> io::Result<u8> {
    for command in commands {
        match console.perform(command)? {
            Some(Outcome::Quit) => return console.leave(),
            Some(_) => {}
            // What follows was meant for another state.
            None => return talk(console, lines),
        }
    }
    if runs && !console.has_run() {
        console.perform(console.first_command())?;
    }
    talk(console, lines)
}

fn talk(console: &mut Console, lines: &mut dyn Lines) -> io::Result<u8> {
    let mut last = String::new();
    loop {
        // Lines for a breakpoint have a prompt of their own.
        let depth = console.input_depth();
        let prompt = match depth {
            0 => PROMPT.to_owned(),
            depth => ">".repeat(depth),
        };
        if !lines.is_typed() {
            console.output().say(&prompt)?;
        }
        let line = match lines.next(&prompt)? {
            Input::Line(line) => line,
            Input::Cancelled => {
                console.cancel_input();
                last.clear();
                continue;
            }
            Input::End => {
                // The prompt was echoed without a line after it.
                if !lines.is_typed() {
                    console.output().say("\n")?;
                }
                return console.leave();
            }
        };
        let line = line.trim();
        if !lines.is_typed() {
            let echo = format!("{}\n", juror_text::escape::safe(line));
            console.output().say(&echo)?;
        }
        if depth > 0 {
            console.perform(line)?;
            last.clear();
            continue;
        }
        let again = match line.is_empty() && lines.is_typed() {
            true => console.repetition(&last),
            false => None,
        };
        last = again.unwrap_or_else(|| line.to_owned());
        if last.is_empty() || last.starts_with('#') {
            continue;
        }
        if let Some(Outcome::Quit) = console.perform(&last)? {
            return console.leave();
        }
    }
}

/// The commands of `-x` and `-e`, in their order.
///
/// # Errors
/// A file cannot be read.
pub fn commands(scripts: &[Script]) -> anyhow::Result<Vec<String>> {
    let mut commands = Vec::new();
    for script in scripts {
        match script {
            Script::Line(line) => commands.push(line.clone()),
            Script::File(file) => {
                let text = std::fs::read_to_string(file).with_context(|| {
                    format!("the command file {} cannot be read", file.display())
                })?;
                commands.extend(script_lines(&text));
            }
        }
    }
    Ok(commands)
}

/// The lines of a script: comments and empty lines left out.
pub fn script_lines(text: &str) -> impl Iterator<Item = String> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
}

/// Lines typed at a terminal.
pub struct Typed {
    editor: Editor<Completion, DefaultHistory>,
    history: Option<PathBuf>,
}

impl Typed {
    /// A line editor that completes from the session, with the history of
    /// former sessions.
    pub fn new(driver: SharedDriver) -> io::Result<Typed> {
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .max_history_size(HISTORY_LINES)
            .and_then(|builder| builder.history_ignore_dups(true))
            .map_err(io::Error::other)?
            .build();
        let mut editor = Editor::with_config(config).map_err(io::Error::other)?;
        editor.set_helper(Some(Completion(driver)));
        let history = history_file();
        if let Some(file) = &history {
            // There is none at first.
            let _ = editor.load_history(file);
        }
        Ok(Typed { editor, history })
    }
}

impl Lines for Typed {
    fn next(&mut self, prompt: &str) -> io::Result<Input> {
        match self.editor.readline(prompt) {
            Ok(line) => {
                if !line.trim().is_empty() {
                    let _ = self.editor.add_history_entry(line.as_str());
                }
                Ok(Input::Line(line))
            }
            Err(ReadlineError::Interrupted) => Ok(Input::Cancelled),
            Err(ReadlineError::Eof) => Ok(Input::End),
            Err(ReadlineError::Io(error)) => Err(error),
            Err(error) => Err(io::Error::other(error)),
        }
    }

    fn is_typed(&self) -> bool {
        true
    }
}

impl Drop for Typed {
    fn drop(&mut self) {
        // A home that cannot be written to is no reason to complain at the
        // end of every session.
        if let Some(file) = &self.history
            && file
                .parent()
                .is_some_and(|directory| std::fs::create_dir_all(directory).is_ok())
        {
            let _ = self.editor.append_history(file);
        }
    }
}

/// The history's file.
fn history_file() -> Option<PathBuf> {
    Some(directories::state()?.join("history"))
}

/// Completes from the session.
struct Completion(SharedDriver);

impl Completer for Completion {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &rustyline::Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.0.borrow_mut().complete(line, position))
    }
}

impl rustyline::hint::Hinter for Completion {
    type Hint = String;
}
impl rustyline::highlight::Highlighter for Completion {}
impl rustyline::validate::Validator for Completion {}
impl rustyline::Helper for Completion {}

/// Lines from a file or a pipe.
///
/// Read a byte at a time: what is not read yet belongs to the debuggee, which
/// reads from the same file.
pub struct Piped<R> {
    input: R,
}

impl Piped<File> {
    /// The standard input.
    pub fn standard_input() -> io::Result<Piped<File>> {
        let input = io::stdin().as_fd().try_clone_to_owned()?;
        Ok(Piped {
            input: input.into(),
        })
    }
}

impl<R: Read> Lines for Piped<R> {
    fn next(&mut self, _: &str) -> io::Result<Input> {
        let mut line = Vec::new();
        let mut byte = [0];
        loop {
            let ended = match self.input.read(&mut byte) {
                Ok(0) if line.is_empty() => return Ok(Input::End),
                Ok(count) => count == 0 || byte == [b'\n'],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if ended {
                return Ok(Input::Line(String::from_utf8_lossy(&line).into_owned()));
            }
            line.extend(byte);
        }
    }

    fn is_typed(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::testing::*;
    use crate::exit;
    use std::collections::VecDeque;

    /// Lines as if typed; `^C` cancels.
    struct Fingers(VecDeque<&'static str>);

    impl Lines for Fingers {
        fn next(&mut self, _: &str) -> io::Result<Input> {
            Ok(match self.0.pop_front() {
                Some("^C") => Input::Cancelled,
                Some(line) => Input::Line(line.to_owned()),
                None => Input::End,
            })
        }

        fn is_typed(&self) -> bool {
            true
        }
    }

    fn check(typed: &[&'static str], commands: &[&str], runs: bool, status: u8, done: &[&str]) {
        let (mut console, log, _) = console(vec![violated(), violated(), violated()]);
        let commands: Vec<String> = commands.iter().map(|&line| line.to_owned()).collect();
        let mut lines = Fingers(typed.iter().copied().collect());
        let given = converse(&mut console, &commands, runs, &mut lines).expect("memory");
        assert_eq!(*log.borrow(), done);
        assert_eq!(given, status);
    }

    #[test]
    fn enter_repeats_what_goes_forward() {
        check(
            &["next", "", "info", "", "next", "^C", "", "quit", "next"],
            &[],
            false,
            exit::VIOLATED,
            &["next", "next", "info", "next", "quit", "kill"],
        );
    }

    #[test]
    fn with_a_property_the_program_runs_at_once() {
        check(&[], &[], true, exit::VIOLATED, &["run", "kill"]);
        check(&[], &[], false, exit::HOLDS, &[]);
        check(
            &["backtrace"],
            &["break f"],
            true,
            exit::VIOLATED,
            &["break f", "run", "backtrace", "kill"],
        );
        check(&[], &["run"], true, exit::VIOLATED, &["run", "kill"]);
        check(&["x"], &["bad", "run"], true, exit::HOLDS, &["bad", "x"]);
    }

    #[test]
    fn piped_lines_are_echoed_and_not_repeated() {
        let (mut console, log, streams) = console(vec![]);
        let mut lines = Piped {
            input: &b"info \x1b\n\n# a remark\nbad\nlast"[..],
        };
        let status = converse(&mut console, &[], false, &mut lines).expect("memory");
        assert_eq!(status, exit::HOLDS);
        assert_eq!(*log.borrow(), ["info \u{1b}", "bad", "last"]);
        assert_eq!(
            streams.text(),
            "(juror) info \\u{1b}
did info \\u{1b}
(juror) 
(juror) # a remark
(juror) bad
no command is named `bad`
(juror) last
did last
(juror) 
"
        );
    }

    #[test]
    fn what_is_not_read_yet_is_left_to_the_debuggee() {
        let mut input = &b"run\nthis is for the program\n"[..];
        let mut lines = Piped { input: &mut input };
        assert_eq!(lines.next(PROMPT).ok(), Some(Input::Line("run".into())));
        assert_eq!(input, b"this is for the program\n");
    }

    #[test]
    fn scripts_have_remarks() {
        let lines: Vec<_> = script_lines("# first\n\n  break f\nrun\r\n").collect();
        assert_eq!(lines, ["break f", "run"]);
    }
}
