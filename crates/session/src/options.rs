//! The options of a session.

pub use juror_control::{ControlCheck, ControlCheckMaker};
pub use juror_debuggee::{CpuPolicy, Follow, SelfCheck, SelfCheckReport};
use juror_explore::{RunFile, Tally};
pub use juror_instrument::probes::{AtInlined, InlinedPolicy};
pub use juror_monitoring::in_process::Tier;
use juror_monitoring::options::BindOptions;
use juror_monitoring::property_files::PropertySource;
use juror_monitoring::recording::Recording;
pub use juror_symbols::{Cache as SymbolCache, SymbolSettings};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

/// The program to run, and its options.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// The program; looked up in `PATH` only if it has no slash. Empty if there is none to start:
    /// then a process is attached to.
    pub program: PathBuf,
    /// The core file to debug, of the program if that is given: the program is not started, and
    /// the command `core-file` opens it.
    pub core: Option<PathBuf>,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Variables to set, or to remove if without a value.
    pub environment: Vec<(OsString, Option<OsString>)>,
    /// Whether to begin with an empty environment.
    pub clear_environment: bool,
    /// The working directory.
    pub directory: Option<PathBuf>,
    /// Standard input.
    pub stdin: Option<PathBuf>,
    /// Standard output.
    pub stdout: Option<PathBuf>,
    /// Standard error.
    pub stderr: Option<PathBuf>,
    /// Whether to append to the file of standard output.
    pub append_stdout: bool,
    /// Whether to append to the file of standard error.
    pub append_stderr: bool,
    /// Whether the kernel randomizes the program's addresses (ASLR).
    pub randomize: bool,
    /// The processors that juror and the debuggee use.
    pub cpu: CpuPolicy,
    /// The process that stays the debuggee after a fork.
    pub follow: Follow,
    /// The properties.
    pub properties: Vec<PropertySource>,
    /// Files of pretty-printers that are loaded before the properties are bound. One that cannot
    /// be loaded is left to the command `views` to report.
    pub views: Vec<String>,
    /// The number of events that each monitor remembers; 0 for the default.
    pub history: usize,
    /// Whether panics of Rust stop the program from the start.
    pub catch_panics: bool,
    /// Whether somebody types at the prompt, and may correct a line that is refused.
    pub is_interactive: bool,
    /// Whether nobody is at a prompt.
    pub batch: bool,
    /// The policy for events at inlined calls.
    pub inlined: InlinedPolicy,
    /// Whether a property can hold although the name of an event was in no loaded module.
    pub allow_unbound: bool,
    /// How the events of properties are taken.
    pub tier: Tier,
    /// Which system calls stop the program.
    pub system_calls: SystemCallStops,
    /// Checks the breakpoint engine against its model.
    pub self_check: Option<SelfCheck>,
    /// Under a self-check: what follows the control by its model, if there is the model.
    pub control_check: Option<ControlCheckMaker>,
    /// When automatic checkpoints are made.
    pub checkpoints: Option<AutomaticCheckpoints>,
    /// The trace of the run.
    pub recording: Option<Recording>,
    /// The run that the program makes again.
    pub schedule: Option<RunFile>,
    /// The file to which the run is recorded.
    pub recorded_run: Option<PathBuf>,
    /// Whether each system call of a run that is recorded stops: to compare.
    pub records_by_stops: bool,
    /// The number of entries that are recorded.
    pub recorded: Arc<Tally>,
    /// The files of scenarios, with their properties.
    pub scenarios: Vec<PropertySource>,
    /// What scenarios may do besides debugging.
    pub permissions: Permissions,
    /// Where symbols are searched, and how they are cached.
    pub symbols: SymbolSettings,
}

impl Options {
    /// Returns the files of properties and scenarios, each once.
    pub(crate) fn property_sources(&self) -> Vec<PropertySource> {
        let mut sources = self.properties.clone();
        let more = self.scenarios.iter();
        sources.extend(more.filter(|it| !self.properties.contains(it)).cloned());
        sources
    }

    /// Returns the options of a session in which a run is made again, with the properties of
    /// these options or else of the run.
    #[must_use]
    pub fn with_run(self, run: RunFile) -> Options {
        let (program, arguments, directory) = run.command();
        let recorded = run.environment().map(|variables| {
            let set = |(name, value): &(String, String)| (name.into(), Some(value.into()));
            variables.iter().map(set).collect()
        });
        Options {
            clear_environment: recorded.is_some() || self.clear_environment,
            environment: recorded.unwrap_or(self.environment),
            program: program.into(),
            core: None,
            arguments: arguments.into_iter().map(OsString::from).collect(),
            directory: Some(directory.into()),
            // It reads the same, and the order of its threads does not depend on the events.
            stdin: Some("/dev/null".into()),
            tier: Tier::Trap,
            randomize: false,
            checkpoints: None,
            properties: if self.properties.is_empty() {
                run.properties()
            } else {
                self.properties
            },
            schedule: Some(run),
            ..self
        }
    }

    /// Returns the options of a session whose run is recorded to a file and counted, perhaps with a
    /// stop for each system call.
    #[must_use]
    pub fn recording_run(self, path: PathBuf, by_stops: bool, tally: Arc<Tally>) -> Options {
        Options {
            tier: Tier::Trap,
            randomize: false,
            checkpoints: None,
            recorded_run: Some(path),
            records_by_stops: by_stops,
            recorded: tally,
            ..self
        }
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

/// Which system calls stop the program while events or catchpoints need some.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SystemCallStops {
    /// The needed calls alone, by a filter, where that is possible; else every call.
    #[default]
    Auto,
    /// The needed calls alone; if no filter is possible, the program is not started.
    Filter,
    /// Every call.
    All,
}

/// What scenarios may do besides debugging.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Permissions {
    /// Whether they may read and write files.
    pub files: bool,
    /// Whether they may start programs, and call functions of the debuggee.
    pub programs: bool,
}

/// When automatic checkpoints are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AutomaticCheckpoints {
    /// One, before the program begins.
    Start,
    /// One before the program begins, and one after each this many stops at events.
    Every(u32),
}
