//! The checkpoints of a run.

use crate::options::AutomaticCheckpoints;
use juror_checkpoint::{Checkpoint, Settings};
use juror_debuggee::{PidNamespace, ThreadId};
use juror_monitoring::monitors::{Monitors, ViolatedSlice};
use juror_monitoring::recording::Mark;
use juror_points::breakpoints::passes::Passes;
use juror_program::program::ProgramState;
use juror_view::CheckpointView;
use std::collections::{BTreeMap, BTreeSet};

/// The number of a checkpoint: from 1, never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CheckpointId(pub u32);

/// All checkpoints of a session.
#[derive(Default)]
pub(crate) struct Checkpoints {
    pub(crate) saved: BTreeMap<u32, Saved>,
    pub(crate) last: u32,
    /// What is kept beside the process.
    pub(crate) settings: Settings,
    pub(crate) automatic: Automatic,
    pub(crate) told_losses: ToldLosses,
    /// What the last restore has not brought back.
    pub(crate) lost: Vec<String>,
    /// Whether programs have process numbers of their own; as needed without.
    pub(crate) namespace: Option<bool>,
    /// What the present program was started with.
    pub(crate) numbers: PidNamespace,
}

/// The program and its monitors as they were.
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
    /// With checkpoints that are made without being asked for.
    pub(crate) fn new(automatic: Option<AutomaticCheckpoints>) -> Checkpoints {
        Checkpoints {
            automatic: Automatic::new(automatic),
            ..Checkpoints::default()
        }
    }

    /// What `show checkpoint-files` tells.
    pub(crate) fn shown_files(&self) -> &'static str {
        match self.settings.keeps_contents {
            true => "on",
            false => "off",
        }
    }

    /// What `show checkpoint-namespace` tells.
    pub(crate) fn shown_namespace(&self) -> &'static str {
        match self.namespace {
            None => "auto",
            Some(true) => "on",
            Some(false) => "off",
        }
    }
}

/// What has been made, and what is next.
#[derive(Debug, Default)]
pub(crate) struct Automatic {
    pub(crate) when: Option<AutomaticCheckpoints>,
    /// How many events are still to come before the next one.
    pub(crate) left: u32,
    pub(crate) has_begun: bool,
    /// Those that come again and again.
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

/// Nothing comes every 0 events.
pub(crate) fn interval(when: Option<AutomaticCheckpoints>) -> u32 {
    match when {
        Some(AutomaticCheckpoints::Every(count)) => count.max(1),
        _ => 0,
    }
}

/// What has been told already.
#[derive(Debug, Default)]
pub(crate) struct ToldLosses {
    pub(crate) at_checkpoints: BTreeSet<String>,
    pub(crate) at_restores: BTreeSet<String>,
}
