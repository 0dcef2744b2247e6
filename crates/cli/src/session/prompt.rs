//! The prompt: reads command lines and executes them.
//!
//! At a terminal, lines come from a line editor ([`typed`]), and Enter repeats a
//! command that goes forward. Otherwise lines are read as they are ([`piped`]) and
//! echoed, so that the output reads like a session.

mod awaited;
mod piped;
mod typed;

use super::console::Console;
use super::scripts::{self, Commands, Executed};
use awaited::Awaited;
use juror_view::Outcome;
use piped::Piped;
use std::io::{self, IsTerminal};
use typed::Typed;

/// The prompt.
const PROMPT: &str = "(juror) ";

/// The question before a program is lost.
const QUESTION: &str = "The program has not ended. End it? (y or n) ";

/// An input of the user.
#[derive(Debug, PartialEq, Eq)]
pub enum Input {
    /// A line, without its line end.
    Line(String),
    /// Ctrl-C: the line is discarded.
    Cancelled,
    /// Ctrl-D, or the end of the file.
    End,
    /// The page of the session asks for something; the line is still awaited.
    Requests,
}

/// A source of lines.
pub trait Lines {
    /// Returns the next input. A line editor shows the prompt.
    fn next(&mut self, prompt: &str) -> io::Result<Input>;
    /// Whether lines are typed: then an empty line repeats, and nothing is echoed.
    fn is_typed(&self) -> bool;
    /// Returns the answer to a question.
    fn ask(&mut self, question: &str) -> io::Result<Input> {
        self.next(question)
    }
    /// Drops the lines that were pasted and are not executed yet.
    fn discard(&mut self) {}
}

/// Executes the commands and then the lines of the standard input, as [`converse`] does.
pub fn run(console: &mut Console, commands: &[Commands], runs: bool) -> io::Result<u8> {
    if console.output().page().is_some() {
        let mut lines = Awaited::new(console)?;
        return converse(console, commands, runs, &mut lines);
    }
    if io::stdin().is_terminal() {
        let driver = console.driver();
        let complete = move |line: &str, position| driver.borrow_mut().complete(line, position);
        let mut lines = Typed::new(Box::new(complete))?;
        converse(console, commands, runs, &mut lines)
    } else {
        converse(console, commands, runs, &mut Piped::standard_input()?)
    }
}

/// Executes the commands, runs the program if `runs` is set and the commands did not,
/// and then executes lines until the user leaves. Returns the exit status.
fn converse(
    console: &mut Console,
    commands: &[Commands],
    runs: bool,
    lines: &mut dyn Lines,
) -> io::Result<u8> {
    if scripts::execute(console, commands, false)? == Executed::Quit {
        return console.leave();
    }
    if runs && !console.has_run() {
        console.perform(console.first_command())?;
    }
    execute_lines(console, lines)
}

/// Executes lines until the user leaves. Returns the exit status.
fn execute_lines(console: &mut Console, lines: &mut dyn Lines) -> io::Result<u8> {
    let mut last = String::new();
    // The prompt is shown, and its line still awaited.
    let mut is_shown = false;
    loop {
        // The lines of `commands` have a prompt of their own.
        let depth = console.input_depth();
        let prompt = match depth {
            0 => PROMPT.to_owned(),
            depth => ">".repeat(depth),
        };
        if !lines.is_typed() && !is_shown {
            console.output().say(&prompt)?;
        }
        is_shown = false;
        let next = lines.next(&prompt);
        console.end_if_asked();
        let line = match next? {
            Input::Line(line) => line,
            Input::Cancelled => {
                lines.discard();
                console.cancel_input();
                last.clear();
                continue;
            }
            Input::Requests => {
                if console.serve_page()? {
                    console.output().say(&prompt)?;
                }
                is_shown = true;
                continue;
            }
            // As in gdb, it ends the lines of `commands` first.
            Input::End if depth > 0 && lines.is_typed() => "end".to_owned(),
            Input::End => {
                if !is_agreed(console, lines, "quit")? {
                    continue;
                }
                // The prompt was echoed, and no line follows it.
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
            last.clear();
            if let Some(Outcome::Quit(_)) = perform(console, lines, line)? {
                return console.leave();
            }
            continue;
        }
        let again = if line.is_empty() && lines.is_typed() {
            console.repetition(&last)
        } else {
            None
        };
        last = again.unwrap_or_else(|| line.to_owned());
        if last.is_empty() || last.starts_with('#') {
            continue;
        }
        if !is_agreed(console, lines, &last)? {
            last.clear();
            continue;
        }
        if let Some(Outcome::Quit(_)) = perform(console, lines, &last)? {
            return console.leave();
        }
    }
}

/// Executes a line, which may be typed: then its output is paged.
fn perform(console: &mut Console, lines: &dyn Lines, line: &str) -> io::Result<Option<Outcome>> {
    if !lines.is_typed() {
        return console.perform(line);
    }
    let outcome = console.perform_typed(line);
    // Ctrl-C that came too late for the line is not meant for the next one.
    console.forget_interruption();
    outcome
}

/// Returns whether a line may be executed: at a terminal, the user is asked before a program is
/// lost.
fn is_agreed(console: &Console, lines: &mut dyn Lines, line: &str) -> io::Result<bool> {
    if !lines.is_typed() || !console.loses_program(line) {
        return Ok(true);
    }
    Ok(match lines.ask(QUESTION)? {
        Input::Line(answer) => answer.trim().starts_with(['y', 'Y']),
        Input::Cancelled | Input::Requests => false,
        // Ctrl-D again.
        Input::End => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit;
    use crate::session::console::testing::*;
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
        let commands: Vec<_> = commands
            .iter()
            .map(|line| Commands::of_line(line))
            .collect();
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
        // As in gdb, an error does not drop the commands that follow.
        check(
            &["x"],
            &["bad", "run"],
            true,
            exit::VIOLATED,
            &["bad", "run", "x", "kill"],
        );
    }

    #[test]
    fn piped_lines_are_echoed_and_not_repeated() {
        let (mut console, log, streams) = console(vec![]);
        let mut lines = Piped::new(&b"info \x1b\n\n# a remark\nbad\nlast"[..]);
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
}
