//! A session that plays a script, for tests.

use super::Console;
use crate::driver::{CommandError, Driver, Observer};
use crate::output::testing::{Streams, output};
use crate::session::interrupt::Running;
use juror_text::stops::samples::stop;
use juror_view::{Ending, Outcome, QuitView, StopReason};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// The lines that were executed, in order.
pub type Log = Rc<RefCell<Vec<String>>>;

/// Returns the outcomes of its script for commands that run the program, and a message
/// for the others.
struct Scripted {
    log: Log,
    script: VecDeque<Outcome>,
    alive: bool,
}

impl Driver for Scripted {
    fn execute(&mut self, line: &str, _: &mut dyn Observer) -> Result<Outcome, CommandError> {
        self.log.borrow_mut().push(line.to_owned());
        match line {
            "run" | "continue" | "next" => {
                let outcome = self.script.pop_front().ok_or_else(|| {
                    CommandError::with_help("the program is not being run", "type run")
                })?;
                self.alive = matches!(outcome, Outcome::Stopped(_));
                Ok(outcome)
            }
            "kill" => {
                self.alive = false;
                Ok(Outcome::Done)
            }
            "quit" => Ok(Outcome::Quit(QuitView::default())),
            "quit 7" => Ok(Outcome::Quit(QuitView { status: Some(7) })),
            "bad" => Err(CommandError::new("no command is named `bad`")),
            _ => Ok(Outcome::Message(format!("did {line}"))),
        }
    }

    fn complete(&mut self, line: &str, position: usize) -> (usize, Vec<String>) {
        let word = line.get(..position).unwrap_or("");
        (0, vec![format!("{word}!")])
    }

    fn repetition(&self, line: &str) -> Option<String> {
        (line == "next").then(|| line.to_owned())
    }

    fn is_alive(&self) -> bool {
        self.alive
    }

    fn interrupter(&self) -> Box<dyn Fn() + Send> {
        Box::new(|| ())
    }
}

/// Returns a console whose program goes through these stops.
pub fn console(script: Vec<Outcome>) -> (Console, Log, Streams) {
    let log = Log::default();
    let driver = Scripted {
        log: Rc::clone(&log),
        script: script.into(),
        alive: false,
    };
    let (output, streams) = output();
    let console = Console::new(Box::new(driver), output, Running::default());
    (console, log, streams)
}

pub fn stopped(reason: StopReason) -> Outcome {
    Outcome::Stopped(Box::new(stop(reason)))
}

pub fn violated() -> Outcome {
    stopped(StopReason::Violation {
        violations: vec![juror_text::stops::samples::violation()],
    })
}

/// Returns the end of a run with this number of violations.
pub fn ended(violations: u64) -> Outcome {
    use juror_event::Verdict::PresumablySatisfied;
    use juror_text::stops::samples::{end, summary};
    Outcome::Ended(Box::new(end(
        Some(Ending::Exited { status: 0 }),
        summary(PresumablySatisfied, violations),
    )))
}
