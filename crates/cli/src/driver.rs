//! The interface by which a front end drives a session or a recorded run.
//!
//! **Invariant**: all that a front end does goes through [`Driver`] as command lines
//! and comes back as views. Nothing here depends on a terminal or on text.
//!
//! Tests implement the trait to play a script without a process.

use juror_session::{RecordedRun, Session};
use juror_view::Outcome;

pub use juror_monitoring::property_files::{LoadedFiles, PropertySource};
pub use juror_monitoring::recording::Recording;
pub use juror_session::{
    AtInlined, AutomaticCheckpoints, CpuPolicy, Follow, InlinedPolicy, Options, Permissions,
    SelfCheck, SelfCheckReport, SymbolCache, SymbolSettings, SystemCallStops, Tier, Waker,
};
pub use juror_view::error::{CommandError, FileDiagnostics, SessionError};
pub use juror_view::observer::Observer;

/// A session, or what is driven like one.
pub trait Driver {
    /// Executes a command line.
    fn execute(&mut self, line: &str, observer: &mut dyn Observer)
    -> Result<Outcome, CommandError>;
    /// Returns where the word at `position` begins, and its possible completions.
    /// Positions are in bytes.
    fn complete(&mut self, line: &str, position: usize) -> (usize, Vec<String>);
    /// Returns the line that an empty line repeats after `line`, if any.
    fn repetition(&self, line: &str) -> Option<String>;
    /// Returns the next command of the breakpoints that stopped the program, or of a
    /// script.
    fn next_queued_command(&mut self) -> Option<String> {
        None
    }
    /// Returns how many `commands` are open, to which the next line belongs; 0 if it is
    /// executed.
    fn input_depth(&self) -> usize {
        0
    }
    /// Whether the user is asked before this line is executed: the program would be lost.
    fn loses_program(&self, _line: &str) -> bool {
        false
    }
    /// Discards the lines after `commands`.
    fn cancel_input(&mut self) {}
    /// Whether there is a debuggee.
    fn is_alive(&self) -> bool;
    /// Whether the debuggee was attached: leaving detaches it instead of killing it.
    fn is_attached(&self) -> bool {
        false
    }
    /// Returns why the trace that is written is not whole, if it is not.
    fn trace_failure(&self) -> Option<String> {
        None
    }
    /// Returns a function that makes a running `execute` return.
    fn interrupter(&self) -> Box<dyn Fn() + Send>;
    /// Returns a function after which no command lets the program run: juror is to end.
    fn ender(&self) -> Box<dyn Fn() + Send> {
        Box::new(|| {})
    }
}

impl Driver for Session {
    fn execute(
        &mut self,
        line: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        Session::execute(self, line, observer)
    }
    fn complete(&mut self, line: &str, position: usize) -> (usize, Vec<String>) {
        Session::complete(self, line, position)
    }
    fn repetition(&self, line: &str) -> Option<String> {
        Session::repetition(self, line)
    }
    fn next_queued_command(&mut self) -> Option<String> {
        Session::next_queued_command(self)
    }
    fn input_depth(&self) -> usize {
        Session::input_depth(self)
    }
    fn loses_program(&self, line: &str) -> bool {
        Session::loses_program(self, line)
    }
    fn cancel_input(&mut self) {
        Session::cancel_input(self);
    }
    fn is_alive(&self) -> bool {
        Session::is_alive(self)
    }
    fn is_attached(&self) -> bool {
        Session::is_attached(self)
    }
    fn trace_failure(&self) -> Option<String> {
        Session::trace_failure(self).map(|failure| failure.to_owned())
    }
    fn interrupter(&self) -> Box<dyn Fn() + Send> {
        Box::new(Session::interrupter(self))
    }
    fn ender(&self) -> Box<dyn Fn() + Send> {
        Box::new(Session::ender(self))
    }
}

impl Driver for RecordedRun {
    fn execute(
        &mut self,
        line: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        RecordedRun::execute(self, line, observer)
    }
    fn complete(&mut self, line: &str, position: usize) -> (usize, Vec<String>) {
        RecordedRun::complete(self, line, position)
    }
    fn repetition(&self, line: &str) -> Option<String> {
        RecordedRun::repetition(self, line)
    }
    fn is_alive(&self) -> bool {
        false
    }
    fn interrupter(&self) -> Box<dyn Fn() + Send> {
        Box::new(RecordedRun::interrupter(self))
    }
}

/// Starts a session.
pub fn start(
    options: Options,
    observer: &mut dyn Observer,
) -> Result<Box<dyn Driver>, SessionError> {
    Ok(Box::new(Session::start(options, observer)?))
}
