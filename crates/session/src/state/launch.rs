//! How the next run is started, over what the options say.

use crate::state::command_line::{CommandLine, Redirections};

/// The launch settings that commands have changed.
#[derive(Default)]
pub(crate) struct LaunchState {
    /// The standard streams that `run` was given.
    pub redirections: Redirections,
    /// The arguments of `set args`, for the next run and those after it.
    pub next_line: Option<CommandLine>,
    /// Whether the launch settings changed after the program was started: its directory,
    /// its environment.
    pub is_outdated: bool,
}
