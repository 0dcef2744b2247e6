//! The launch settings of the next run, which override the options.

use crate::options::{AutomaticCheckpoints, Tier};
use crate::state::command_line::{CommandLine, Redirections};
use juror_debuggee::StopEvent;
use std::path::PathBuf;

/// The options of runs that are not recorded.
#[derive(Debug, Clone)]
pub(crate) struct Unrecorded {
    /// The file of the run that is recorded.
    pub path: PathBuf,
    pub tier: Tier,
    pub randomize: bool,
    pub checkpoints: Option<AutomaticCheckpoints>,
}

/// The launch settings that commands have changed.
#[derive(Default)]
pub(crate) struct LaunchState {
    /// The redirections of the last `run`.
    pub redirections: Redirections,
    /// The arguments of `set args`, for the next run and those after it.
    pub next_line: Option<CommandLine>,
    /// Whether the launch settings changed after the program was started: its directory,
    /// its environment.
    pub is_outdated: bool,
    /// The signal that stopped the program while its libraries were being loaded: it is the first
    /// stop of the run.
    pub early_signal: Option<StopEvent>,
    /// Whether the program is launched to go back in its run: what it has written to files to which
    /// its streams are redirected stays.
    pub is_again: bool,
    /// The options of runs that are not recorded, while one is.
    pub unrecorded: Option<Unrecorded>,
    /// Whether the offer to record a run has been made.
    pub has_offered: bool,
    /// The most schedule points that have been seen of a run that is made again.
    pub last_point: u64,
    /// Whether juror keeps the terminal while the program runs, since somebody types at its prompt.
    pub keeps_terminal: bool,
}
