//! A session with its output: commands go in, results are shown.

use crate::driver::{Driver, Options, SessionError};
use crate::exit;
use crate::interrupt::{self, Running};
use crate::output::Output;
use juror_view::{Outcome, StopReason};
use std::cell::RefCell;
use std::io::{self, IsTerminal};
use std::rc::Rc;

/// A session, shared with the completion of the line editor.
pub type SharedDriver = Rc<RefCell<Box<dyn Driver>>>;

/// A session and where its results go.
pub struct Console {
    driver: SharedDriver,
    output: Output,
    running: Running,
    has_run: bool,
    /// The debuggee was running before juror came: it is let go at the end.
    is_attached: bool,
    violated: bool,
    /// A property could not be evaluated.
    erred: bool,
}

/// Begins a session; when there is none, says why and gives the exit status.
pub fn open(options: Options, mut output: Output) -> io::Result<Result<Console, u8>> {
    output.begin(&options)?;
    let driver = match crate::driver::start(options, &mut output) {
        Ok(driver) => driver,
        Err(error) => return refuse(output, &error),
    };
    let running = Running::default();
    let at_terminal = io::stdin().is_terminal();
    interrupt::install(running.clone(), driver.interrupter(), at_terminal)?;
    Ok(Ok(Console::new(driver, output, running)))
}

fn refuse(mut output: Output, error: &SessionError) -> io::Result<Result<Console, u8>> {
    output.show_session_error(error).map(Err)
}

impl Console {
    /// Joins a session and an output.
    pub fn new(driver: Box<dyn Driver>, output: Output, running: Running) -> Console {
        Console {
            driver: Rc::new(RefCell::new(driver)),
            output,
            running,
            has_run: false,
            is_attached: false,
            violated: false,
            erred: false,
        }
    }

    /// The session, for completion.
    pub fn driver(&self) -> SharedDriver {
        Rc::clone(&self.driver)
    }

    /// Where results go.
    pub fn output(&mut self) -> &mut Output {
        &mut self.output
    }

    /// Executes a line without showing what it gives. None: it did nothing,
    /// and why has been shown.
    pub fn execute(&mut self, line: &str) -> io::Result<Option<Outcome>> {
        let result = {
            let _guard = self.running.begin();
            self.driver.borrow_mut().execute(line, &mut self.output)
        };
        self.output.failure()?;
        if let Some(signal) = self.running.ending() {
            let command = self.last_command();
            let mut driver = self.driver.borrow_mut();
            driver.cancel_input();
            while driver.is_alive() && driver.execute(command, &mut self.output).is_ok() {}
            interrupt::end_by(signal);
        }
        match result {
            Ok(outcome) => {
                self.note(&outcome);
                Ok(Some(outcome))
            }
            Err(error) => {
                self.output.show_command_error(line, &error)?;
                Ok(None)
            }
        }
    }

    /// Executes a line and shows what it gives; then the commands of the
    /// breakpoints at which that stopped the program. Gives the last outcome.
    pub fn perform(&mut self, line: &str) -> io::Result<Option<Outcome>> {
        let mut outcome = self.execute_and_show(line)?;
        while outcome.is_some()
            && let Some(line) = self.next_attached()
        {
            outcome = self.execute_and_show(&line)?;
        }
        Ok(outcome)
    }

    /// Executes a line and shows what it gives, unless that is to be silent.
    pub fn execute_and_show(&mut self, line: &str) -> io::Result<Option<Outcome>> {
        let outcome = self.execute(line)?;
        match &outcome {
            Some(outcome) if is_silent(outcome) => self.output.record(line, outcome)?,
            Some(outcome) => self.output.show(line, outcome)?,
            None => {}
        }
        Ok(outcome)
    }

    /// The next command of the breakpoints that have stopped the program.
    pub fn next_attached(&mut self) -> Option<String> {
        self.driver.borrow_mut().next_attached()
    }

    /// How deep in `commands` the next line is; 0 for one that is executed.
    pub fn input_depth(&self) -> usize {
        self.driver.borrow().input_depth()
    }

    /// Forgets the lines after `commands`.
    pub fn cancel_input(&mut self) {
        self.driver.borrow_mut().cancel_input();
    }

    /// The program has run, whether or not it still does.
    pub fn has_run(&self) -> bool {
        self.has_run
    }

    /// What Enter alone does after this line.
    pub fn repetition(&self, line: &str) -> Option<String> {
        self.driver.borrow().repetition(line)
    }

    /// The command that lets the program run for the first time.
    pub fn first_command(&self) -> &'static str {
        match self.is_attached {
            true => "continue",
            false => "run",
        }
    }

    /// The command that ends the debuggee, or lets it go.
    fn last_command(&self) -> &'static str {
        match self.is_attached {
            true => "detach",
            false => "kill",
        }
    }

    /// Ends the debuggee if there is one, or lets it go; the verdicts as they are go to the
    /// JSON output. Gives the exit status.
    pub fn leave(&mut self) -> io::Result<u8> {
        let command = self.last_command();
        // Lines that are given to a point may be unfinished: this one is none of them.
        self.cancel_input();
        // What becomes of a process that was there before juror is news.
        let is_news = self.is_attached;
        // Of several processes one is let go at a time.
        while self.driver.borrow().is_alive()
            && let Some(outcome) = self.execute(command)?
        {
            match is_news {
                true => self.output.show(command, &outcome)?,
                false => self.output.record(command, &outcome)?,
            }
        }
        Ok(self.status())
    }

    /// The exit status as the verdicts stand.
    pub fn status(&self) -> u8 {
        if self.violated || self.output.has_violated() {
            exit::VIOLATED
        } else if self.erred || self.output.has_erred() {
            // Nobody knows what the verdict would have been.
            exit::USAGE
        } else {
            exit::HOLDS
        }
    }

    fn note(&mut self, outcome: &Outcome) {
        self.has_run |= outcome.has_run();
        self.violated |= outcome.is_violated();
        self.erred |= outcome.is_error();
        match outcome {
            Outcome::Stopped(stop) if matches!(stop.reason, StopReason::Attached { .. }) => {
                self.is_attached = true;
            }
            Outcome::Ended(_) => self.is_attached = false,
            _ => {}
        }
    }
}

/// A point whose commands begin with `silent`.
fn is_silent(outcome: &Outcome) -> bool {
    let Outcome::Stopped(stop) = outcome else {
        return false;
    };
    stop.reason.is_silent() == Some(true)
}

#[cfg(test)]
pub mod testing;
