//! The scenarios of a session and the reactions in progress.

pub mod performance;

use crate::state::scenarios::performance::{Performance, PointBlock};
use juror_control::decision::Wishes;
use juror_debuggee::ThreadId;
use juror_event::Value;
use juror_language::{Scenario, Trigger};
use juror_monitor::SliceId;
use juror_monitoring::listeners::QueuedTrigger;
use juror_view::{Location, Outcome};
use std::collections::VecDeque;
use std::sync::Arc;

/// A queued command.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) moves: bool,
}

impl Line {
    /// Creates a command during which the program stays stopped.
    pub fn in_place(text: String) -> Line {
        Line { text, moves: false }
    }

    /// Creates a command that replaces the user's.
    pub fn moving(text: String) -> Line {
        Line { text, moves: true }
    }
}

/// A reaction that continues after a command.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub line: Line,
    /// Whether its command was issued after a checkpoint was restored.
    pub is_after_restore: bool,
    /// Whether the command is being executed.
    pub is_under_way: bool,
    pub reacting: Reacting,
}

/// The action after the commands of reactions.
pub(crate) enum Afterwards {
    /// Show this to the user.
    Show(Outcome),
    /// Resume the program.
    RunOn,
    /// Keep the outcome of the user's command.
    Nothing,
}

impl Afterwards {
    pub(crate) fn of(outcome: Outcome) -> Afterwards {
        match outcome {
            Outcome::Done => Afterwards::Nothing,
            outcome => Afterwards::Show(outcome),
        }
    }
}

/// The combined wishes of all reactions at one moment.
#[derive(Debug, Default)]
pub(crate) struct Decision {
    /// The scenario that wants the program to stop, and the reason.
    pub stop: Option<(String, Option<String>)>,
    /// Whether some reaction wants no stop for the event.
    pub continues: bool,
    /// Whether the program was restored to another moment.
    pub is_restored: bool,
}

impl Decision {
    /// Returns the wishes as the rules take them.
    pub(crate) fn wishes(&self, has_failed: bool, moves: bool) -> Wishes {
        Wishes {
            has_failed,
            stops: self.stop.is_some(),
            continues: self.continues,
            moves,
            is_restored: self.is_restored,
        }
    }
}

/// A reaction in progress.
#[derive(Debug)]
pub(crate) struct Reacting {
    /// The position of its scenario.
    pub scenario: usize,
    pub performance: Performance,
    /// The commands that run before it continues: those of a group, or those that `thread apply`
    /// expands to.
    pub lines: VecDeque<String>,
    /// The monitor and the slice that it concerns.
    pub about: Option<(usize, SliceId)>,
}

/// The reactions to execute at one moment.
#[derive(Debug, Default)]
pub(crate) struct Todo {
    /// A reaction that was waiting, and continues.
    pub rest: Option<Reacting>,
    /// The queued triggers.
    pub queued: VecDeque<QueuedTrigger>,
}

/// A loaded scenario.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub scenario: Scenario,
    /// Its file.
    pub file: String,
    pub text: Arc<str>,
    /// Its variables, by slot.
    pub variables: Vec<Value>,
    pub is_enabled: bool,
    /// The number of executed reactions.
    pub reactions: u64,
    /// The catchpoints for its signals.
    pub signal_points: Vec<u32>,
}

/// The effect of a point of a scenario when it is hit.
#[derive(Debug, Clone)]
pub(crate) struct PointReaction {
    pub number: u32,
    /// The position of the scenario.
    pub scenario: usize,
    pub does: PointDoes,
}

/// The purpose of a point of a scenario.
#[derive(Debug, Clone)]
pub(crate) enum PointDoes {
    /// The block of a reaction.
    Block(Box<PointBlock>),
    /// A reaction to a signal, by its position.
    Signal(usize),
}

/// All scenarios of a session.
#[derive(Debug, Default)]
pub(crate) struct Scenarios {
    pub list: Vec<Loaded>,
    /// The queued triggers.
    pub queued: VecDeque<QueuedTrigger>,
    pub points: Vec<PointReaction>,
    /// Whether a reaction is being executed.
    pub is_performing: bool,
    /// Whether the present command comes from a scenario, and has only its permissions.
    pub acts: bool,
    /// Reactions that continue after a command, in order.
    pub waiting: VecDeque<Waiting>,
    /// The statement that accessed memory watched by a scenario since the last run.
    pub accessed: Option<(ThreadId, Location)>,
    /// For checkpoints: the last number of a point when each was created.
    pub checkpoints: Vec<(u32, u32)>,
}

impl Scenarios {
    /// Returns whether no scenario is loaded.
    pub fn is_idle(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns whether triggers are queued.
    pub fn has_queued(&self) -> bool {
        !self.queued.is_empty()
    }

    /// Returns the reactions of enabled scenarios to an event that is not a step of a monitor.
    pub fn waiting_for(&self, is_meant: impl Fn(&Trigger) -> bool) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for (number, loaded) in self.list.iter().enumerate() {
            if !loaded.is_enabled {
                continue;
            }
            for (position, reaction) in loaded.scenario.reactions.iter().enumerate() {
                if is_meant(&reaction.trigger) {
                    found.push((number, position));
                }
            }
        }
        found
    }

    /// Returns the effect of a point of a scenario.
    pub fn point(&self, number: u32) -> Option<&PointReaction> {
        self.points.iter().find(|it| it.number == number)
    }

    /// Returns the names of all scenarios.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|it| &*it.scenario.name)
    }
}
