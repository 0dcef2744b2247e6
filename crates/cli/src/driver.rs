//! The session, as this front end drives it.
//!
//! The trait keeps the front end testable without a live process.

use juror_session::{RecordedRun, Session};
use juror_view::Outcome;

pub use juror_monitoring::property_files::{LoadedFiles, PropertySource};
pub use juror_monitoring::recording::Recording;
pub use juror_session::{
    AtInlined, AutomaticCheckpoints, CpuPolicy, Follow, InlinedPolicy, Options, Permissions,
    SelfCheck, SelfCheckReport, SymbolCache, SymbolSettings,
};
pub use juror_view::error::{CommandError, FileDiagnostics, SessionError};
pub use juror_view::observer::Observer;

/// A session.
pub trait Driver {
    /// Executes a command line.
    fn execute(&mut self, line: &str, observer: &mut dyn Observer)
    -> Result<Outcome, CommandError>;
    /// Where the word at `position` begins, and what it may become.
    fn complete(&mut self, line: &str, position: usize) -> (usize, Vec<String>);
    /// What Enter alone does after this line.
    fn repetition(&self, line: &str) -> Option<String>;
    /// The next command of the breakpoints that have stopped the program.
    fn next_attached(&mut self) -> Option<String> {
        None
    }
    /// How deep in `commands` the next line is; 0 for one that is executed.
    fn input_depth(&self) -> usize {
        0
    }
    /// Forgets the lines after `commands`.
    fn cancel_input(&mut self) {}
    /// There is a debuggee.
    fn is_alive(&self) -> bool;
    /// Makes a running `execute` return.
    fn interrupter(&self) -> Box<dyn Fn() + Send>;
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
    fn next_attached(&mut self) -> Option<String> {
        Session::next_attached(self)
    }
    fn input_depth(&self) -> usize {
        Session::input_depth(self)
    }
    fn cancel_input(&mut self) {
        Session::cancel_input(self);
    }
    fn is_alive(&self) -> bool {
        Session::is_alive(self)
    }
    fn interrupter(&self) -> Box<dyn Fn() + Send> {
        Box::new(Session::interrupter(self))
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
        // Nothing has to be ended.
        false
    }
    fn interrupter(&self) -> Box<dyn Fn() + Send> {
        Box::new(RecordedRun::interrupter(self))
    }
}

/// Begins a session.
pub fn start(
    options: Options,
    observer: &mut dyn Observer,
) -> Result<Box<dyn Driver>, SessionError> {
    Ok(Box::new(Session::start(options, observer)?))
}
