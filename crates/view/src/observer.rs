//! What is told while a command runs.

use crate::{Outcome, ProcessEnd, ScenarioLine, StateChange, StopReason};

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
pub struct Nobody;

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
