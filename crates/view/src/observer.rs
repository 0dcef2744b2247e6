//! The observer of a running command.

use crate::driver::Driver;
use crate::{Outcome, ProcessEnd, ScenarioLine, StateChange, StopReason};

/// Receives the events of a running command.
pub trait Observer {
    /// A slice has changed its state, or a transition has kept it.
    fn state_change(&mut self, change: &StateChange);
    /// Returns whether state changes are wanted: building them costs time.
    fn wants_state_changes(&self) -> bool;
    /// The program is about to resume. Called each time, whether or not anything else was reported.
    fn resumes(&mut self) {}
    /// Another program, which the user runs from the prompt, is about to get the terminal.
    fn gives_terminal(&mut self) {}
    /// Returns whether other programs that the user runs get neither the standard input nor the
    /// standard output: both belong to a protocol, and the output is told.
    fn takes_output(&self) -> bool {
        false
    }
    /// Another program, which the user runs, has written this.
    fn output(&mut self, text: &str) {
        let _ = text;
    }
    /// A thread has started; with juror's number of it.
    fn thread_started(&mut self, number: u32) {
        let _ = number;
    }
    /// A thread has ended, and the program goes on.
    fn thread_ended(&mut self, number: u32) {
        let _ = number;
    }
    /// One of several processes has ended; the others continue.
    fn process_ended(&mut self, end: &ProcessEnd);
    /// A message of one line: a thread started, a process forked.
    fn notice(&mut self, text: &str);
    /// A `dprintf` point has printed this.
    fn printed(&mut self, point: u32, text: &str) {
        let _ = point;
        self.notice(text);
    }
    /// Returns whether the standard output is read by a program: nothing else may write to it.
    fn owns_standard_output(&self) -> bool {
        false
    }
    /// A scenario has printed a line.
    fn scenario_line(&mut self, line: &ScenarioLine);
    /// The outcome of a command that a scenario has run.
    fn scenario_outcome(&mut self, scenario: &str, command: &str, outcome: &Outcome);
    /// A reaction has failed after the end of the program, so that it cannot stop.
    fn scenario_error(&mut self, reason: &StopReason);
    /// The progress of a long operation: `done` of `of`.
    fn progress(&mut self, what: &str, done: u64, of: u64);
    /// Returns whether requests wait that are to be served while the command goes on.
    fn has_requests(&mut self) -> bool {
        false
    }
    /// Serves the waiting requests. The program is halted meanwhile, in the middle of the
    /// command, which goes on afterwards; commands that let the program run are refused. Called
    /// after [`Driver::caller`], if there are requests.
    fn serve(&mut self, session: &mut dyn Driver) {
        let _ = session;
    }
}

/// Nobody follows: what a condition does, or what happens once more.
pub struct SilentObserver;

impl Observer for SilentObserver {
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
