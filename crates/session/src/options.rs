//! What a session is started with, what can be wrong with it, and who is told
//! what happens meanwhile.

use crate::view::{ProcessEnd, StateChange};
use juror_language::Diagnostic;
use std::ffi::OsString;
use std::path::PathBuf;

pub use juror_debuggee::{CpuPolicy, Follow, SelfCheck, SelfCheckReport};

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
    /// The program; looked up in `PATH` only when it has no slash. Empty when
    /// there is none to start: then a process is attached to.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Variables to set, or to remove where there is no value.
    pub environment: Vec<(OsString, Option<OsString>)>,
    /// Begin with no variables at all.
    pub clear_environment: bool,
    /// The working directory.
    pub directory: Option<PathBuf>,
    /// Standard input.
    pub stdin: Option<PathBuf>,
    /// Standard output.
    pub stdout: Option<PathBuf>,
    /// Standard error.
    pub stderr: Option<PathBuf>,
    /// Write behind what is in the file for standard output.
    pub append_stdout: bool,
    /// Write behind what is in the file for standard error.
    pub append_stderr: bool,
    /// Let the kernel place the program at random addresses.
    pub randomize: bool,
    /// Which processors juror and the debuggee use.
    pub cpu: CpuPolicy,
    /// Which process stays the debuggee when it makes another.
    pub follow: Follow,
    /// The properties.
    pub properties: Vec<PropertySource>,
    /// How many events each monitor remembers; 0 for the default.
    pub history: usize,
    /// Nobody sits at a prompt.
    pub batch: bool,
    /// Accept that calls which the compiler inlined are not seen.
    pub ignore_inlined: bool,
    /// Follows what the breakpoint engine is told and orders.
    pub self_check: Option<SelfCheck>,
    /// Where the events of the run are recorded.
    pub recording: Option<Recording>,
}

/// What is recorded of a run, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// The file; what was in it is gone.
    pub file: PathBuf,
    /// The binary form, not JSON lines.
    pub binary: bool,
    /// Events besides those of the properties, each as a property declares it:
    /// `before f(x)`.
    pub events: Vec<String>,
}

/// Why a session could not begin.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// A property is wrong, by itself or about this program.
    #[error("the property in {file} cannot be used")]
    Property {
        /// The property file.
        file: String,
        /// What it says.
        text: String,
        /// What is wrong.
        diagnostics: Vec<Diagnostic>,
    },
    /// The program cannot be run.
    #[error("{0}")]
    Launch(String),
    /// Something in juror or the kernel went wrong.
    #[error("{0}")]
    Internal(String),
}

/// Why a command did nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CommandError {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl CommandError {
    /// Something is wrong.
    pub fn new(message: impl Into<String>) -> CommandError {
        CommandError {
            message: message.into(),
            help: None,
        }
    }

    /// Something is wrong, and this can be done.
    pub fn with_help(message: impl Into<String>, help: impl Into<String>) -> CommandError {
        CommandError {
            message: message.into(),
            help: Some(help.into()),
        }
    }
}

impl From<juror_debuggee::DebuggeeError> for CommandError {
    fn from(error: juror_debuggee::DebuggeeError) -> CommandError {
        CommandError::new(error.to_string())
    }
}

impl From<SessionError> for CommandError {
    fn from(error: SessionError) -> CommandError {
        let help = match &error {
            SessionError::Property { diagnostics, .. } => {
                diagnostics.first().map(|d| d.message.clone())
            }
            _ => None,
        };
        CommandError {
            message: error.to_string(),
            help,
        }
    }
}

/// Who is told what happens while a command runs.
pub trait Observer {
    /// A slice changed its state, or a transition kept it.
    fn state_change(&mut self, change: &StateChange);
    /// State changes are wanted at all: building them costs time.
    fn wants_state_changes(&self) -> bool;
    /// One of several processes has ended; the others go on.
    fn process_ended(&mut self, end: &ProcessEnd);
    /// Something worth a line: a thread started, a process forked.
    fn notice(&mut self, text: &str);
    /// Long work goes on: `done` of `of`.
    fn progress(&mut self, what: &str, done: u64, of: u64);
}
