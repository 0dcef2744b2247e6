//! What a session is started with, what can be wrong with it, and who is told
//! what happens meanwhile.

use crate::checkpoints::AutomaticCheckpoints;
use crate::property_files::PropertySource;
use crate::view::{Outcome, ProcessEnd, ScenarioLine, StateChange, StopReason};
use juror_language::Diagnostic;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

pub use juror_symbols::{Cache as SymbolCache, SymbolSettings};

pub use juror_instrument::probes::{AtInlined, InlinedPolicy};

pub use juror_debuggee::{CpuPolicy, Follow, SelfCheck, SelfCheckReport};

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
    /// What becomes of calls that the compiler inlined.
    pub inlined: InlinedPolicy,
    /// Follows what the breakpoint engine is told and orders.
    pub self_check: Option<SelfCheck>,
    /// Checkpoints that are made by themselves.
    pub checkpoints: Option<AutomaticCheckpoints>,
    /// Where the events of the run are recorded.
    pub recording: Option<Recording>,
    /// The files of scenarios, with the properties that they bring.
    pub scenarios: Vec<PropertySource>,
    /// What scenarios may do beside what the debugger does.
    pub permissions: Permissions,
    /// Where symbols are looked for, and what is kept of them.
    pub symbols: SymbolSettings,
}

impl Options {
    /// The files of properties and scenarios, each once.
    pub(crate) fn property_sources(&self) -> Vec<PropertySource> {
        let mut sources = self.properties.clone();
        let more = self.scenarios.iter();
        sources.extend(more.filter(|it| !self.properties.contains(it)).cloned());
        sources
    }
}

/// What scenarios may do beside what the debugger does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Permissions {
    /// Read and write files.
    pub files: bool,
    /// Start programs, and call functions of the debuggee.
    pub programs: bool,
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

/// What there is to say about a property file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiagnostics {
    /// The file, as the user or the file that uses it named it.
    pub file: String,
    /// What it says.
    pub text: Arc<str>,
    /// What is to be said, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Why a session could not begin.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// A property is wrong, by itself or about this program.
    #[error("the property in {file} cannot be used")]
    Property {
        /// The property file.
        file: String,
        /// What is wrong, there and in the files that it uses.
        found: Vec<FileDiagnostics>,
    },
    /// A scenario is wrong.
    #[error("the scenario in {file} cannot be used")]
    Scenario {
        /// Its file.
        file: String,
        /// What is wrong, there and in the files that it uses.
        found: Vec<FileDiagnostics>,
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
    /// What is wrong in property files.
    pub found: Vec<FileDiagnostics>,
}

impl CommandError {
    /// Something is wrong.
    pub fn new(message: impl Into<String>) -> CommandError {
        CommandError {
            message: message.into(),
            help: None,
            found: Vec::new(),
        }
    }

    /// Something is wrong, and perhaps this can be done.
    pub fn advised(message: impl Into<String>, help: Option<String>) -> CommandError {
        CommandError {
            help,
            ..CommandError::new(message)
        }
    }

    /// Something is wrong, and this can be done.
    pub fn with_help(message: impl Into<String>, help: impl Into<String>) -> CommandError {
        CommandError {
            help: Some(help.into()),
            ..CommandError::new(message)
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
        let message = error.to_string();
        let found = match error {
            SessionError::Property { found, .. } | SessionError::Scenario { found, .. } => found,
            _ => Vec::new(),
        };
        CommandError {
            found,
            ..CommandError::new(message)
        }
    }
}

/// Who is told what happens while a command runs.
pub trait Observer {
    /// A slice changed its state, or a transition kept it.
    fn state_change(&mut self, change: &StateChange);
    /// State changes are wanted at all: building them costs time.
    fn wants_state_changes(&self) -> bool;
    /// The program is about to run on. Told each time, whether or not anything was told
    /// meanwhile.
    fn resumes(&mut self) {}
    /// One of several processes has ended; the others go on.
    fn process_ended(&mut self, end: &ProcessEnd);
    /// Something worth a line: a thread started, a process forked.
    fn notice(&mut self, text: &str);
    /// A point that prints and goes on has printed this.
    fn printed(&mut self, point: u32, text: &str) {
        let _ = point;
        self.notice(text);
    }
    /// The standard output is for a program to read: nothing else may write there.
    fn owns_standard_output(&self) -> bool {
        false
    }
    /// A scenario has something to say.
    fn scenario_line(&mut self, line: &ScenarioLine);
    /// A command that a scenario has run gave this.
    fn scenario_outcome(&mut self, scenario: &str, command: &str, outcome: &Outcome);
    /// A reaction went wrong where the program is gone, so that it cannot stop.
    fn scenario_error(&mut self, reason: &StopReason);
    /// Long work goes on: `done` of `of`.
    fn progress(&mut self, what: &str, done: u64, of: u64);
}

/// Nobody follows: what a condition does, or what happens once more.
pub(crate) struct Nobody;

impl Observer for Nobody {
    fn state_change(&mut self, _: &StateChange) {}
    fn wants_state_changes(&self) -> bool {
        false
    }
    fn process_ended(&mut self, _: &ProcessEnd) {}
    fn notice(&mut self, _: &str) {}
    fn scenario_line(&mut self, _: &ScenarioLine) {}
    fn scenario_outcome(&mut self, _: &str, _: &str, _: &Outcome) {}
    fn scenario_error(&mut self, _: &StopReason) {}
    fn progress(&mut self, _: &str, _: u64, _: u64) {}
}
