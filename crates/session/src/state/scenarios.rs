//! The scenarios of a session and the reactions that are under way.

pub mod performance;

use crate::state::scenarios::performance::{Performance, PointBlock};
use juror_debuggee::ThreadId;
use juror_event::Value;
use juror_language::{Scenario, Trigger};
use juror_monitor::SliceId;
use juror_monitoring::listeners::Heard;
use juror_rules::decision::Wishes;
use juror_view::{Location, Outcome};
use std::collections::VecDeque;
use std::sync::Arc;

/// A command that waits.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) moves: bool,
}

impl Line {
    /// One during which the program stands.
    pub fn in_place(text: String) -> Line {
        Line { text, moves: false }
    }

    /// One that takes the place of the command of the person.
    pub fn moving(text: String) -> Line {
        Line { text, moves: true }
    }
}

/// A reaction that goes on when a command is done.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub line: Line,
    /// It came to its command after a checkpoint was brought back.
    pub is_after_restore: bool,
    /// The command is being done.
    pub is_under_way: bool,
    pub reacting: Reacting,
}

/// What is done when the commands of reactions are.
pub(crate) enum Afterwards {
    /// The person sees this.
    Show(Outcome),
    /// The program runs on.
    RunOn,
    /// What the command of the person says.
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

/// What the reactions to one moment want, all together.
#[derive(Debug, Default)]
pub(crate) struct Decision {
    /// Who wants the program to stop, and why.
    pub stop: Option<(String, Option<String>)>,
    /// Somebody wants it not to stop for what has happened.
    pub continues: bool,
    /// The program is another one than at that moment.
    pub is_restored: bool,
}

impl Decision {
    /// As the rules take it.
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

/// A reaction under way.
#[derive(Debug)]
pub(crate) struct Reacting {
    /// The position of its scenario.
    pub scenario: usize,
    pub performance: Performance,
    /// The commands that are done before it goes on: those of a group, or those that
    /// `thread apply` stands for.
    pub lines: VecDeque<String>,
    /// The monitor and the slice that it is about.
    pub about: Option<(usize, SliceId)>,
}

/// What there is to carry out at one moment.
#[derive(Debug, Default)]
pub(crate) struct Todo {
    /// A reaction that was waiting, and goes on.
    pub rest: Option<Reacting>,
    /// What has been heard.
    pub heard: VecDeque<Heard>,
}

/// A scenario that is loaded.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub scenario: Scenario,
    /// The file that it is from.
    pub file: String,
    pub text: Arc<str>,
    /// Its variables, by slot.
    pub variables: Vec<Value>,
    pub is_enabled: bool,
    /// How many of its reactions were carried out.
    pub reactions: u64,
    /// The catchpoints that wait for its signals.
    pub signal_points: Vec<u32>,
}

/// What is done when a point of a scenario is hit.
#[derive(Debug, Clone)]
pub(crate) struct PointReaction {
    pub number: u32,
    /// The position of the scenario.
    pub scenario: usize,
    pub does: PointDoes,
}

/// What a point of a scenario is for.
#[derive(Debug, Clone)]
pub(crate) enum PointDoes {
    /// The block of a reaction.
    Block(Box<PointBlock>),
    /// A reaction that waits for a signal, by its position.
    Signal(usize),
}

/// All scenarios of a session.
#[derive(Debug, Default)]
pub(crate) struct Scenarios {
    pub list: Vec<Loaded>,
    /// What has happened that they wait for.
    pub heard: VecDeque<Heard>,
    pub points: Vec<PointReaction>,
    /// A reaction is being carried out.
    pub is_performing: bool,
    /// Reactions that go on when a command of theirs is done, in order.
    pub waiting: VecDeque<Waiting>,
    /// Which statement has accessed what a scenario watches, since the program
    /// ran last.
    pub accessed: Option<(ThreadId, Location)>,
    /// For checkpoints: the last number of a point when they were taken.
    pub checkpoints: Vec<(u32, u32)>,
}

impl Scenarios {
    /// Nothing is loaded.
    pub fn is_idle(&self) -> bool {
        self.list.is_empty()
    }

    /// Something has happened that they wait for.
    pub fn has_heard(&self) -> bool {
        !self.heard.is_empty()
    }

    /// The reactions of enabled scenarios to something that is no step of a
    /// monitor.
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

    /// What a point of a scenario does.
    pub fn point(&self, number: u32) -> Option<&PointReaction> {
        self.points.iter().find(|it| it.number == number)
    }

    /// The names of all of them.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|it| &*it.scenario.name)
    }
}
