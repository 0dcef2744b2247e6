//! The commands of breakpoints and other points, the groups, and the lines of command files.

use juror_points::point::Stopping;
use std::collections::{BTreeMap, VecDeque};

/// As the first command: the stop is not shown.
pub(crate) const SILENT: &str = "silent";

/// Command lines that are being entered, and lines that are to be executed.
#[derive(Debug, Default)]
pub(crate) struct BreakpointCommands {
    pub(crate) given: Option<Given>,
    pub(crate) queue: VecDeque<String>,
    /// The points that have stopped the program.
    pub(crate) stopped_by: Vec<u32>,
    /// Lines of files, which continue after the program has run.
    pub(crate) script: VecDeque<String>,
    /// Groups: named lists of commands.
    pub(crate) groups: BTreeMap<String, Vec<String>>,
}

/// A list of commands that is being entered.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) points: Vec<u32>,
    /// The name of the group that it defines.
    pub(crate) group: Option<String>,
    pub(crate) lines: Vec<String>,
    /// The number of missing `end`s.
    pub(crate) depth: usize,
}

impl BreakpointCommands {
    /// Takes the next command to execute.
    pub(crate) fn next(&mut self) -> Option<String> {
        self.queue.pop_front().or_else(|| self.script.pop_front())
    }

    /// Returns the nesting depth of open `commands`.
    pub(crate) fn input_depth(&self) -> usize {
        self.given.as_ref().map_or(0, |given| given.depth)
    }

    /// Drops the lines entered so far.
    pub(crate) fn cancel(&mut self) {
        self.given = None;
        self.give_up();
    }

    /// Queues the commands of the points that stop the program. Returns whether they suppress the
    /// display of the stop.
    pub(crate) fn prepare(&mut self, stopping: &Stopping) -> bool {
        self.queue.clear();
        self.stopped_by = stopping.numbers.to_vec();
        let mut is_silent = stopping.errors.is_empty() && stopping.unprinted.is_empty();
        for commands in &stopping.commands {
            let asks = commands.first().is_some_and(|it| it == SILENT);
            is_silent &= asks;
            let lines = commands.iter().skip(usize::from(asks));
            self.queue.extend(lines.cloned());
        }
        is_silent
    }

    /// Drops the remaining commands of the points that have stopped the program.
    pub(crate) fn clear(&mut self) {
        self.queue.clear();
        self.stopped_by.clear();
    }

    /// Returns the numbers of the points that have stopped the program.
    pub(crate) fn stopped_by(&self) -> &[u32] {
        &self.stopped_by
    }

    /// Drops all queued commands.
    pub(crate) fn give_up(&mut self) {
        self.queue.clear();
        self.script.clear();
    }

    /// Returns the number of queued lines.
    pub(crate) fn waiting(&self) -> usize {
        self.script.len()
    }

    /// Queues lines before all others.
    pub(crate) fn begin_script(&mut self, lines: Vec<String>) {
        for line in lines.into_iter().rev() {
            self.script.push_front(line);
        }
    }

    /// Takes the lines that a command has queued before the `waited` earlier ones.
    pub(crate) fn take_script_but(&mut self, waited: usize) -> Vec<String> {
        let count = self.script.len().saturating_sub(waited);
        self.script.drain(..count).collect()
    }

    /// Returns the commands of a group, if a line is its name.
    pub(crate) fn group(&self, line: &str) -> Option<&[String]> {
        self.groups.get(line.trim()).map(Vec::as_slice)
    }

    /// Queues the commands of a group, if a line is its name.
    pub(crate) fn begin_group(&mut self, line: &str) -> bool {
        let Some(lines) = self.groups.get(line) else {
            return false;
        };
        for line in lines.iter().rev() {
            self.queue.push_front(line.clone());
        }
        true
    }

    /// Returns whether commands are being entered: lines are stored, not executed.
    pub(crate) fn is_being_given(&self) -> bool {
        self.given.is_some()
    }
}
