//! The checkpoints of a run.

use crate::options::AutomaticCheckpoints;
use crate::state::waypoints::Waypoints;
use juror_checkpoint::{Checkpoint, Settings};
use juror_debuggee::{PidNamespace, ThreadId};
use juror_monitoring::monitors::{Monitors, ViolatedSlice};
use juror_monitoring::recording::Mark;
use juror_points::breakpoints::passes::Passes;
use juror_program::program::ProgramState;
use juror_view::CheckpointView;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// The number of a checkpoint: from 1, never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CheckpointId(pub u32);

/// All checkpoints of a session.
#[derive(Default)]
pub(crate) struct Checkpoints {
    pub(crate) saved: BTreeMap<u32, Saved>,
    pub(crate) last: u32,
    /// What is saved besides the process.
    pub(crate) settings: Settings,
    pub(crate) automatic: Automatic,
    pub(crate) reported_losses: ReportedLosses,
    /// The state that the last restore could not restore.
    pub(crate) lost: Vec<String>,
    /// Whether programs get their own PID namespace; `None` means as needed.
    pub(crate) namespace: Option<bool>,
    /// The PID namespace of the present program.
    pub(crate) numbers: PidNamespace,
    /// The checkpoints from which the run goes back.
    pub(crate) waypoints: Waypoints,
}

/// A saved state of the program and its monitors.
pub(crate) struct Saved {
    pub(crate) state: Checkpoint,
    pub(crate) monitors: Monitors,
    pub(crate) trace: Option<Mark>,
    pub(crate) program: ProgramState,
    pub(crate) thread: ThreadId,
    pub(crate) announced: Option<(ThreadId, u64)>,
    pub(crate) passes: Passes,
    pub(crate) hardware_passes: Passes,
    pub(crate) exit_violations: Vec<ViolatedSlice>,
    pub(crate) is_fresh: bool,
    pub(crate) view: CheckpointView,
}

impl Checkpoints {
    /// Creates the checkpoints of a session, with the option for automatic ones.
    pub(crate) fn new(automatic: Option<AutomaticCheckpoints>) -> Checkpoints {
        Checkpoints {
            automatic: Automatic::new(automatic),
            ..Checkpoints::default()
        }
    }

    /// Returns the text of `show checkpoint-files`.
    pub(crate) fn shown_files(&self) -> &'static str {
        if self.settings.keeps_contents {
            "on"
        } else {
            "off"
        }
    }

    /// Returns the text of `show checkpoint-namespace`.
    pub(crate) fn shown_namespace(&self) -> &'static str {
        match self.namespace {
            None => "auto",
            Some(true) => "on",
            Some(false) => "off",
        }
    }
}

/// The state of automatic checkpoints.
#[derive(Debug, Default)]
pub(crate) struct Automatic {
    pub(crate) when: Option<AutomaticCheckpoints>,
    /// The number of events before the next one.
    pub(crate) left: u32,
    /// The time of the next look how many events the program has taken itself, and their number at
    /// the last checkpoint.
    pub(crate) look_at: Option<Instant>,
    pub(crate) counted: u64,
    pub(crate) has_begun: bool,
    /// The periodic ones.
    pub(crate) kept: Vec<CheckpointId>,
}

impl Automatic {
    pub(crate) fn new(when: Option<AutomaticCheckpoints>) -> Automatic {
        Automatic {
            when,
            left: interval(when),
            ..Automatic::default()
        }
    }
}

/// Returns the interval in events; 0 for none.
pub(crate) fn interval(when: Option<AutomaticCheckpoints>) -> u32 {
    match when {
        Some(AutomaticCheckpoints::Every(count)) => count.max(1),
        _ => 0,
    }
}

/// The losses that were already reported.
#[derive(Debug, Default)]
pub(crate) struct ReportedLosses {
    pub(crate) at_checkpoints: BTreeSet<String>,
    pub(crate) at_restores: BTreeSet<String>,
}
