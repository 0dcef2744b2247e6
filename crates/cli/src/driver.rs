//! The session, as this front end drives it.
//!
//! The trait keeps the front end testable without a live process.

use juror_session::view::{Outcome, StateChange};
use std::ffi::OsString;
use std::ops::Range;
use std::path::PathBuf;

/// How bad a diagnostic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The property cannot be used.
    Error,
    /// Probably not what was meant.
    Warning,
    /// Worth knowing.
    Note,
}

/// Something to say about a place in a property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// A stable word for this sort of message.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// Where, in bytes.
    pub span: Range<usize>,
    /// Other places that matter.
    pub labels: Vec<(Range<usize>, String)>,
    /// What to do about it.
    pub help: Option<String>,
}

/// Where juror and the debuggee run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CpuPolicy {
    /// On one processor while events are frequent, free otherwise.
    #[default]
    Auto,
    /// Always on one.
    Shared,
    /// Never pinned.
    Free,
}

/// A property file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PropertySource {
    /// Its name, as the user wrote it.
    pub file: String,
    /// What it says.
    pub text: String,
}

/// What to run, and how.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    pub environment: Vec<(OsString, Option<OsString>)>,
    pub clear_environment: bool,
    pub directory: Option<PathBuf>,
    pub stdin: Option<PathBuf>,
    pub stdout: Option<PathBuf>,
    pub stderr: Option<PathBuf>,
    pub append_stdout: bool,
    pub append_stderr: bool,
    pub randomize: bool,
    pub cpu: CpuPolicy,
    pub properties: Vec<PropertySource>,
    pub history: usize,
    pub batch: bool,
    pub ignore_inlined: bool,
    pub self_check: bool,
}

/// Why a session could not begin.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// A property is wrong.
    #[error("the property in {file} cannot be used")]
    Property {
        file: String,
        text: String,
        diagnostics: Vec<Diagnostic>,
    },
    /// The program cannot be run.
    #[error("{0}")]
    Launch(String),
    /// Its symbols cannot be read.
    #[error("{0}")]
    Symbols(String),
    /// A fault of juror's own.
    #[error("{0}")]
    Internal(String),
}

/// Why a command did nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandError {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// Who is told what happens while a command runs.
pub trait Observer {
    /// A slice changed its state.
    fn state_change(&mut self, change: &StateChange);
    /// State changes are wanted at all.
    fn wants_state_changes(&self) -> bool;
    /// Something worth a line: a thread started, a process forked.
    fn notice(&mut self, text: &str);
    /// Long work goes on: `done` of `of`.
    fn progress(&mut self, what: &str, done: u64, of: u64);
}

/// A session.
pub trait Driver {
    /// Executes a command line.
    fn execute(&mut self, line: &str, observer: &mut dyn Observer)
    -> Result<Outcome, CommandError>;
    /// Where the word at `position` begins, and what it may become.
    fn complete(&mut self, line: &str, position: usize) -> (usize, Vec<String>);
    /// Enter alone does this line again.
    fn repeats(&self, line: &str) -> bool;
    /// There is a debuggee.
    fn is_alive(&self) -> bool;
    /// Makes a running `execute` return.
    fn interrupter(&self) -> Box<dyn Fn() + Send>;
}

/// Begins a session.
pub fn start(
    options: Options,
    observer: &mut dyn Observer,
) -> Result<Box<dyn Driver>, SessionError> {
    let _ = (options, observer);
    Err(SessionError::Internal(
        "this build has no session".to_owned(),
    ))
}
