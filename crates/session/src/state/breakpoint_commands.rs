//! The commands that are executed when a point is hit.

use juror_points::point::Stopping;
use std::collections::{BTreeMap, VecDeque};

/// As the first line of the commands: the stop is not shown.
pub(crate) const SILENT: &str = "silent";

/// Lines that are being given, and lines that are to be executed.
#[derive(Debug, Default)]
pub(crate) struct Attached {
    pub(crate) given: Option<Given>,
    pub(crate) queue: VecDeque<String>,
    /// The points that have stopped the program.
    pub(crate) stopped_by: Vec<u32>,
    /// Lines of files, which go on when the program has run.
    pub(crate) script: VecDeque<String>,
    /// Commands that have a name together.
    pub(crate) groups: BTreeMap<String, Vec<String>>,
}

/// Commands that are being given.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) points: Vec<u32>,
    /// The name of the group that they make.
    pub(crate) group: Option<String>,
    pub(crate) lines: Vec<String>,
    /// How many `end`s are still to come.
    pub(crate) depth: usize,
}

impl Attached {
    /// Takes the next command to execute.
    pub(crate) fn next(&mut self) -> Option<String> {
        self.queue.pop_front().or_else(|| self.script.pop_front())
    }

    /// Returns how many `commands` are open.
    pub(crate) fn input_depth(&self) -> usize {
        self.given.as_ref().map_or(0, |given| given.depth)
    }

    /// Forgets the lines that have been given so far.
    pub(crate) fn cancel(&mut self) {
        self.given = None;
        self.give_up();
    }

    /// The program stops at these points: their commands are next. Tells
    /// whether they ask for the stop not to be shown.
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

    /// Nothing more is to be done by the points that have stopped the program.
    pub(crate) fn clear(&mut self) {
        self.queue.clear();
        self.stopped_by.clear();
    }

    /// The numbers of the points that have stopped the program.
    pub(crate) fn stopped_by(&self) -> &[u32] {
        &self.stopped_by
    }

    /// Nothing more is to be done by itself.
    pub(crate) fn give_up(&mut self) {
        self.queue.clear();
        self.script.clear();
    }

    /// How many lines wait to be executed.
    pub(crate) fn waiting(&self) -> usize {
        self.script.len()
    }

    /// These lines are next.
    pub(crate) fn begin_script(&mut self, lines: Vec<String>) {
        for line in lines.into_iter().rev() {
            self.script.push_front(line);
        }
    }

    /// The lines that a command has put before those that waited already.
    pub(crate) fn take_script_but(&mut self, waited: usize) -> Vec<String> {
        let count = self.script.len().saturating_sub(waited);
        self.script.drain(..count).collect()
    }

    /// The commands of a group, where a line is the name of one.
    pub(crate) fn group(&self, line: &str) -> Option<&[String]> {
        self.groups.get(line.trim()).map(Vec::as_slice)
    }

    /// Where a line is the name of a group, its commands are next.
    pub(crate) fn begin_group(&mut self, line: &str) -> bool {
        let Some(lines) = self.groups.get(line) else {
            return false;
        };
        for line in lines.iter().rev() {
            self.queue.push_front(line.clone());
        }
        true
    }

    /// Commands are being given: lines are kept, not executed.
    pub(crate) fn is_being_given(&self) -> bool {
        self.given.is_some()
    }
}
