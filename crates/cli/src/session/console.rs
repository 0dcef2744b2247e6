//! A session with its output: executes commands and shows their results.

use super::interrupt::{self, Running};
use crate::driver::{Driver, FrontEnd, Options, SessionError};
use crate::exit;
use crate::output::Output;
use crate::web::Performed;
use juror_fault::CommandError;
use juror_view::{Ending, Outcome, StopReason};
use std::cell::RefCell;
use std::io;
use std::rc::Rc;

/// A session, shared with the completion of the line editor.
pub type SharedDriver = Rc<RefCell<Box<dyn Driver>>>;

/// A session and its output.
pub struct Console {
    driver: SharedDriver,
    output: Output,
    running: Running,
    has_run: bool,
    /// There is a program to run, or a process.
    has_program: bool,
    violated: bool,
    /// A property could not be evaluated.
    erred: bool,
    /// The exit status that the user has named (`quit 3`).
    asked_status: Option<u8>,
    /// How the program ended last.
    ending: Option<Ending>,
    /// The last stop was at a signal that ends the program, and it has not exited since.
    is_at_fatal_signal: bool,
    /// There is no prompt at which the user can ask for the verdicts: they are shown also if a signal ends juror.
    is_batch: bool,
}

/// Starts a session. If it fails, shows why and returns the exit status as the error.
pub fn open(options: Options, mut output: Output) -> io::Result<Result<Console, u8>> {
    output.begin(&options)?;
    let driver = match crate::driver::start(options, &mut output) {
        Ok(driver) => driver,
        Err(error) => return refuse(output, &error),
    };
    let running = Running::default();
    interrupt::install(&running, driver.as_ref())?;
    if let Some(page) = output.page() {
        page.connect(driver.as_ref());
    }
    Ok(Ok(Console::new(driver, output, running)))
}

fn refuse(mut output: Output, error: &SessionError) -> io::Result<Result<Console, u8>> {
    output.show_session_error(error).map(Err)
}

impl Console {
    /// Creates a console of a session and an output.
    pub fn new(driver: Box<dyn Driver>, output: Output, running: Running) -> Console {
        Console {
            driver: Rc::new(RefCell::new(driver)),
            output,
            running,
            has_run: false,
            has_program: true,
            violated: false,
            erred: false,
            asked_status: None,
            ending: None,
            is_at_fatal_signal: false,
            is_batch: false,
        }
    }

    /// Notes that there is no prompt.
    pub fn begin_batch(&mut self) {
        self.is_batch = true;
    }

    /// Returns the session, for completion.
    pub fn driver(&self) -> SharedDriver {
        Rc::clone(&self.driver)
    }

    /// Returns what is shared with the thread that handles signals.
    pub fn running(&self) -> &Running {
        &self.running
    }

    /// Returns the output.
    pub fn output(&mut self) -> &mut Output {
        &mut self.output
    }

    /// Executes a line without showing its outcome. Returns nothing if it fails; the
    /// error has been shown.
    pub fn execute(&mut self, line: &str) -> io::Result<Option<Outcome>> {
        self.end_if_asked();
        let result = self.execute_for_page(line);
        self.end_if_asked();
        self.output.failure()?;
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

    /// Executes a line, which the page of the session follows.
    fn execute_for_page(&mut self, line: &str) -> Result<Outcome, CommandError> {
        let _guard = self.running.begin();
        let mut driver = self.driver.borrow_mut();
        if let Some(page) = self.output.page() {
            page.begin();
        }
        let result = driver.execute(line, &mut self.output);
        self.output.set_terminal(driver.terminal_settings());
        if let Some(page) = self.output.page() {
            page.end(&mut **driver, &result);
        }
        result
    }

    /// Serves what the page asks for, while no command runs. Returns whether it executed a
    /// command, whose outcome is shown here, too.
    pub fn serve_page(&mut self) -> io::Result<bool> {
        let mut has_executed = false;
        loop {
            let next = {
                let mut driver = self.driver.borrow_mut();
                let page = self.output.page();
                page.and_then(|page| page.next_command(&mut **driver))
            };
            let Some((line, reply)) = next else {
                return Ok(has_executed);
            };
            has_executed = true;
            let shown = juror_text::escape::safe(&line);
            self.output.say(&format!("\r(page) {shown}\n"))?;
            let performed = self.perform_for_page(&line)?;
            if let Some(page) = self.output.page() {
                page.reply(reply, &performed);
            }
        }
    }

    /// Executes a line of the page. Somebody may be typing meanwhile: the terminal stays here.
    fn perform_for_page(&mut self, line: &str) -> io::Result<Performed> {
        let word = line.split_whitespace().next().unwrap_or("");
        if !word.is_empty() && ["quit", "exit"].iter().any(|it| it.starts_with(word)) {
            return Ok(Performed {
                text: "type quit at the prompt of juror\n".to_owned(),
                failed: true,
            });
        }
        let before = {
            let mut driver = self.driver.borrow_mut();
            driver.keep_terminal(true);
            driver.speak_for(FrontEnd::Page)
        };
        let performed = self.perform_spoken(line);
        {
            let mut driver = self.driver.borrow_mut();
            driver.keep_terminal(false);
            driver.speak_for(before);
        }
        self.end_if_asked();
        performed
    }

    /// Executes a line of the page, and then the commands that follow it.
    fn perform_spoken(&mut self, line: &str) -> io::Result<Performed> {
        let mut all = Performed {
            text: String::new(),
            failed: false,
        };
        let mut next = Some(line.to_owned());
        while let Some(line) = next.filter(|_| !all.failed) {
            let result = self.execute_for_page(&line);
            self.output.failure()?;
            match &result {
                Ok(outcome) => {
                    self.note(outcome);
                    self.output.show(&line, outcome)?;
                }
                Err(error) => self.output.show_command_error(&line, error)?,
            }
            let performed = Performed::of(&result);
            all.text.push_str(&performed.text);
            all.failed = performed.failed;
            next = self.next_queued_command();
        }
        Ok(all)
    }

    /// Kills or detaches the debuggee and ends juror, if a signal has asked for it.
    pub fn end_if_asked(&mut self) {
        let Some(signal) = self.running.ending() else {
            return;
        };
        self.running.note_leaving();
        let command = self.last_command();
        let mut driver = self.driver.borrow_mut();
        driver.cancel_input();
        while driver.is_alive()
            && let Ok(outcome) = driver.execute(command, &mut self.output)
        {
            if self.is_batch {
                // juror ends now, whether somebody reads it or not.
                let _ = self.output.show(command, &outcome);
            }
        }
        self.running.end_by(signal);
    }

    /// As [`Console::perform`], for a line that somebody has typed: output that is longer than the
    /// screen goes through a pager. If the user leaves it, the rest of the commands is dropped.
    pub fn perform_typed(&mut self, line: &str) -> io::Result<Option<Outcome>> {
        self.output.begin_paging();
        let outcome = self.perform(line);
        if self.output.has_left_pager() {
            self.cancel_input();
        }
        self.output.end_paging()?;
        outcome
    }

    /// Executes a line, and then the commands of the breakpoints that stop the program.
    /// Shows each outcome. Returns the last one.
    pub fn perform(&mut self, line: &str) -> io::Result<Option<Outcome>> {
        // Ctrl-C between two of them is meant, too.
        let running = self.running.clone();
        let _guard = running.begin();
        let mut outcome = self.execute_and_show(line)?;
        while outcome.is_some()
            && !self.output.has_left_pager()
            && let Some(line) = self.next_queued_command()
        {
            outcome = self.execute_and_show(&line)?;
        }
        Ok(outcome)
    }

    /// Executes a line and shows its outcome, unless the outcome is silent.
    pub fn execute_and_show(&mut self, line: &str) -> io::Result<Option<Outcome>> {
        let outcome = self.execute(line)?;
        match &outcome {
            Some(outcome) if is_silent(outcome) => self.output.record(line, outcome)?,
            Some(outcome) => self.output.show(line, outcome)?,
            None => {}
        }
        Ok(outcome)
    }

    /// As [`Driver::next_queued_command`].
    pub fn next_queued_command(&mut self) -> Option<String> {
        self.driver.borrow_mut().next_queued_command()
    }

    /// As [`Driver::check_file`].
    pub fn check_file(&mut self, text: &str) -> Result<(), (usize, CommandError)> {
        self.driver.borrow_mut().check_file(text)
    }

    /// As [`Driver::forget_interruption`].
    pub fn forget_interruption(&mut self) {
        self.driver.borrow_mut().forget_interruption();
    }

    /// As [`Driver::input_depth`].
    pub fn input_depth(&self) -> usize {
        self.driver.borrow().input_depth()
    }

    /// As [`Driver::cancel_input`].
    pub fn cancel_input(&mut self) {
        self.driver.borrow_mut().cancel_input();
    }

    /// As [`Driver::loses_program`].
    pub fn loses_program(&self, line: &str) -> bool {
        self.driver.borrow().loses_program(line)
    }

    /// Whether there is a debuggee.
    pub fn is_alive(&self) -> bool {
        self.driver.borrow().is_alive()
    }

    /// How the program ended last; nothing if it did not end by itself.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// Whether a signal has ended the program, or ends it where it is stopped.
    pub fn has_crashed(&self) -> bool {
        self.is_at_fatal_signal || matches!(self.ending, Some(Ending::Killed { .. }))
    }

    /// Whether the program has run, be it ended or not.
    pub fn has_run(&self) -> bool {
        self.has_run
    }

    /// Notes that no program was given: the commands are all there is to do.
    pub fn expect_no_run(&mut self) {
        self.has_program = false;
    }

    /// Whether there is a program to run, or a process.
    pub fn has_program(&self) -> bool {
        self.has_program
    }

    /// As [`Driver::repetition`].
    pub fn repetition(&self, line: &str) -> Option<String> {
        self.driver.borrow().repetition(line)
    }

    /// Returns the command that lets the program run for the first time.
    pub fn first_command(&self) -> &'static str {
        if self.driver.borrow().is_attached() {
            "continue"
        } else {
            "run"
        }
    }

    /// Returns the command that ends the debuggee, or detaches from it.
    fn last_command(&self) -> &'static str {
        if self.driver.borrow().is_attached() {
            "detach"
        } else {
            "kill"
        }
    }

    /// Ends the debuggee if there is one, or detaches from it. The JSON output gets the
    /// verdicts. Returns the exit status.
    pub fn leave(&mut self) -> io::Result<u8> {
        // The user is told that an attached process continues.
        self.leave_telling(self.last_command() == "detach")
    }

    /// As [`Console::leave`], and shows the verdicts so far.
    pub fn leave_early(&mut self) -> io::Result<u8> {
        self.leave_telling(true)
    }

    fn leave_telling(&mut self, is_shown: bool) -> io::Result<u8> {
        self.end_if_asked();
        let reported = self.output.write_report(&mut **self.driver.borrow_mut());
        if let Err(failure) = reported {
            self.erred = true;
            self.output.show_error(&failure)?;
        }
        let command = self.last_command();
        // The lines of an unfinished `commands` must not take this command.
        self.cancel_input();
        // A command ends one of several processes.
        while self.driver.borrow().is_alive()
            && let Some(outcome) = self.execute(command)?
        {
            if is_shown {
                self.output.show(command, &outcome)?
            } else {
                self.output.record(command, &outcome)?
            }
        }
        let failure = self.driver.borrow().trace_failure();
        if let Some(failure) = failure {
            self.erred = true;
            self.output.show_error(&failure)?;
        }
        Ok(self.status())
    }

    /// The exit status that the user has named, if any.
    pub fn asked_status(&self) -> Option<u8> {
        self.asked_status
    }

    /// Returns the exit status that the user has named, or else that by the verdicts so far.
    pub fn status(&self) -> u8 {
        if let Some(status) = self.asked_status {
            status
        } else if self.violated || self.output.has_violated() {
            exit::VIOLATED
        } else if self.erred || self.output.has_erred() {
            // The verdict is unknown.
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
            Outcome::Quit(quit) => self.asked_status = quit.status,
            Outcome::Ended(end) => {
                self.ending = end.ending;
                self.is_at_fatal_signal &= !matches!(end.ending, Some(Ending::Exited { .. }));
            }
            Outcome::Stopped(stop) => {
                self.is_at_fatal_signal =
                    matches!(stop.reason, StopReason::Signal { fatal: true, .. });
            }
            _ => {}
        }
    }
}

/// Tells whether the commands of the point that stopped the program begin with `silent`.
fn is_silent(outcome: &Outcome) -> bool {
    let Outcome::Stopped(stop) = outcome else {
        return false;
    };
    stop.reason.is_silent() == Some(true)
}

#[cfg(test)]
pub mod testing;
