//! `commands`: what is done when a point has stopped the program.
//!
//! The lines come one by one, up to `end`; the front end asks for them at a
//! prompt of their own. After a stop it takes them from
//! [`Session::next_attached`] and executes each like one that was typed. As in
//! gdb, what follows a command that lets the program run is dropped, and so is
//! what follows a mistake.

use crate::commands::{self, Command};
use crate::options::CommandError;
use crate::points::{Stopping, whole_points};
use crate::session::Session;
use crate::view::Outcome;
use std::collections::{BTreeMap, VecDeque};

/// As the first line of the commands: the stop is not shown.
const SILENT: &str = "silent";

/// Lines that are being given, and lines that are to be executed.
#[derive(Debug, Default)]
pub(crate) struct Attached {
    given: Option<Given>,
    queue: VecDeque<String>,
    /// The points that have stopped the program.
    stopped_by: Vec<u32>,
    /// Lines of files, which go on when the program has run.
    script: VecDeque<String>,
    /// Commands that have a name together.
    groups: BTreeMap<String, Vec<String>>,
}

/// Commands that are being given.
#[derive(Debug)]
struct Given {
    points: Vec<u32>,
    /// The name of the group that they make.
    group: Option<String>,
    lines: Vec<String>,
    /// How many `end`s are still to come.
    depth: usize,
}

impl Attached {
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

impl Session {
    /// The next command of the points that have stopped the program, or of a
    /// file, for the front end to execute. None: a person is asked.
    pub fn next_attached(&mut self) -> Option<String> {
        let attached = &mut self.attached;
        attached
            .queue
            .pop_front()
            .or_else(|| attached.script.pop_front())
    }

    /// How deep in `commands` the lines are that come next; 0 for commands that
    /// are executed.
    pub fn input_depth(&self) -> usize {
        self.attached.given.as_ref().map_or(0, |given| given.depth)
    }

    /// Forgets the lines after `commands` that have been given so far.
    pub fn cancel_input(&mut self) {
        self.attached.given = None;
        self.attached.give_up();
    }

    /// `commands`, `commands N`: of the last point without a number.
    pub(crate) fn begin_commands(&mut self, rest: &str) -> Result<Outcome, CommandError> {
        let numbers = match rest {
            "" => vec![self.breakpoints.last_number()],
            "$bpnum" => vec![self.breakpoints.last_number()],
            _ => whole_points(rest)?,
        };
        for &number in &numbers {
            if self.point(number)?.prints.is_some() {
                return Err(CommandError::with_help(
                    format!("{number} is a dprintf: it prints and goes on, without commands"),
                    "set another breakpoint there: break",
                ));
            }
        }
        self.attached.given = Some(Given {
            points: numbers,
            group: None,
            lines: Vec::new(),
            depth: 1,
        });
        Ok(Outcome::Done)
    }

    /// `group`, `group NAME`: the lines that follow have a name together.
    pub(crate) fn group(&mut self, name: &str) -> Result<Outcome, CommandError> {
        if name.is_empty() {
            return self.groups();
        }
        let is_name = name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
        if !is_name || commands::find(name).is_ok() || commands::translated(name).is_some() {
            return Err(CommandError::with_help(
                format!("`{name}` cannot be the name of a group"),
                "one word that is no command, nor the beginning of one",
            ));
        }
        self.attached.given = Some(Given {
            points: Vec::new(),
            group: Some(name.to_owned()),
            lines: Vec::new(),
            depth: 1,
        });
        Ok(Outcome::Done)
    }

    /// `show user`: the groups, with their commands.
    pub(crate) fn groups(&self) -> Result<Outcome, CommandError> {
        let groups = self.attached.groups.iter();
        let lines: Vec<String> = groups
            .map(|(name, lines)| format!("{name}: {}", lines.join("; ")))
            .collect();
        match lines.is_empty() {
            true => Err(CommandError::with_help(
                "there is no group of commands",
                "begin one: group NAME",
            )),
            false => Ok(Outcome::Message(lines.join("\n"))),
        }
    }

    /// Takes a line of the commands that are being given.
    pub(crate) fn take_given(&mut self, line: &str) -> Outcome {
        let own = commands::translated(line);
        let ends = own.as_deref() == Some("end");
        let line = line.trim();
        let Some(given) = &mut self.attached.given else {
            return Outcome::Done;
        };
        let (word, _) = commands::split_line(line);
        let opens = commands::find(word).is_ok_and(|it| it.command == Command::Commands);
        match word {
            "end" => given.depth -= 1,
            _ if ends => given.depth -= 1,
            _ if opens => given.depth += 1,
            _ => {}
        }
        if given.depth > 0 {
            if !line.is_empty() && !line.starts_with('#') {
                given.lines.push(line.to_owned());
            }
            return Outcome::Done;
        }
        if let Some(given) = self.attached.given.take() {
            if let Some(name) = given.group {
                self.attached.groups.insert(name, given.lines);
                return Outcome::Done;
            }
            for number in given.points {
                if let Ok(point) = self.point(number) {
                    point.commands.clone_from(&given.lines);
                }
            }
        }
        Outcome::Done
    }
}
