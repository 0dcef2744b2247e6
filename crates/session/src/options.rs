//! What a session is started with, what can be wrong with it, and who is told
//! what happens meanwhile.

pub use juror_debuggee::{CpuPolicy, Follow, SelfCheck, SelfCheckReport};
pub use juror_instrument::probes::{AtInlined, InlinedPolicy};
use juror_monitoring::options::BindOptions;
use juror_monitoring::property_files::PropertySource;
use juror_monitoring::recording::Recording;
pub use juror_symbols::{Cache as SymbolCache, SymbolSettings};
use std::ffi::OsString;
use std::path::PathBuf;

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

    /// Returns the options that binding and recording need.
    pub(crate) fn binding(&self) -> BindOptions<'_> {
        BindOptions {
            inlined: self.inlined,
            program: &self.program,
            arguments: &self.arguments,
        }
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

/// When checkpoints are made by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AutomaticCheckpoints {
    /// One, before the program begins.
    Start,
    /// That one, and one after each so many stops at events.
    Every(u32),
}
