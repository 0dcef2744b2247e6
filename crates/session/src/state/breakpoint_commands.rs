//! The commands of breakpoints and other points, the groups, and the lines of command files.

use juror_points::point::Stopping;
use juror_view::error::CommandError;
use std::collections::{BTreeMap, VecDeque};

/// As the first command: the stop is not shown.
pub(crate) const SILENT: &str = "silent";

/// The largest number of files and groups that begin one another, without a line that was typed
/// or a stop of the program between them: more begin themselves, directly or not.
const BEGUN_MAX: usize = 1_000;

/// The largest number of queued lines of files.
const LINES_MAX: usize = 100_000;

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
    /// The number of files and groups that have begun since the last typed line or stop.
    begun: usize,
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
        let line = self.queue.pop_front().or_else(|| self.script.pop_front());
        if line.is_none() {
            self.begun = 0;
        }
        line
    }

    /// Counts a file or group of some lines that begins. Returns whether it may: it does not, in all
    /// likelihood, begin itself for ever.
    pub(crate) fn may_begin(&mut self, lines: usize) -> bool {
        self.begun += 1;
        self.begun <= BEGUN_MAX && self.queue.len() + self.script.len() + lines <= LINES_MAX
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
        self.begun = 0;
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

    /// Queues the commands of a group, if a line is its name. Returns whether it is one.
    ///
    /// # Errors
    /// The group begins itself.
    pub(crate) fn begin_group(&mut self, line: &str) -> Result<bool, CommandError> {
        let Some(lines) = self.groups.get(line).cloned() else {
            return Ok(false);
        };
        if !self.may_begin(lines.len()) {
            return Err(CommandError::with_help(
                format!("`{line}` begins itself without end"),
                "the last command of a group, or of one that it begins, is its own name",
            ));
        }
        for line in lines.into_iter().rev() {
            self.queue.push_front(line);
        }
        Ok(true)
    }

    /// Returns whether commands are being entered: lines are stored, not executed.
    pub(crate) fn is_being_given(&self) -> bool {
        self.given.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Executes the queued lines, at most `limit`. Returns how many lines there were, and the error.
    fn perform(commands: &mut BreakpointCommands, limit: usize) -> (usize, Option<CommandError>) {
        let mut count = 0;
        while count < limit
            && let Some(line) = commands.next()
        {
            count += 1;
            if let Err(error) = commands.begin_group(&line) {
                return (count, Some(error));
            }
        }
        (count, None)
    }

    fn commands(groups: &[(&str, &[&str])]) -> BreakpointCommands {
        let groups = groups.iter().map(|(name, lines)| {
            let lines = lines.iter().map(|line| (*line).to_owned());
            ((*name).to_owned(), lines.collect())
        });
        BreakpointCommands {
            groups: groups.collect(),
            ..BreakpointCommands::default()
        }
    }

    #[test]
    fn a_group_that_begins_itself_ends() {
        let itself = commands(&[("a", &["next", "a"])]);
        let each_other = commands(&[("a", &["b"]), ("b", &["next", "a"])]);
        let before = commands(&[("a", &["a", "next"])]);
        for mut commands in [itself, each_other, before] {
            commands.begin_script(vec!["a".to_owned()]);
            let (_, error) = perform(&mut commands, 1_000_000);
            assert!(error.is_some_and(|it| it.message.contains("without end")));
        }
    }

    #[test]
    fn groups_that_end_begin_as_often_as_they_are_typed() {
        let mut commands = commands(&[("a", &["next"])]);
        for _ in 0..2 * BEGUN_MAX {
            commands.begin_script(vec!["a".to_owned()]);
            assert_eq!(perform(&mut commands, 1_000_000), (2, None));
        }
    }
}
