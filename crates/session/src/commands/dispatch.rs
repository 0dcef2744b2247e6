//! Dispatches command lines to their handlers: the only place where this is done. The questions of
//! front ends about values go to theirs from here, too.

use crate::command_table;
use crate::command_table::TABLE;
use crate::command_table::arguments;
use crate::command_table::entry::{Entry, OpenEvaluation, Repeats};
use crate::command_table::words::find;
use crate::commands::{breakpoint_command_lists, context, control_flow, convenience};
use crate::inspect::{nodes, questions};
use crate::run::processes::leaving;
use crate::run::scenarios::{permissions, waiting};
use crate::run::{core_file, dynamic_print, self_modified_code, symbol_reading};
use crate::script::run::Asked;
use crate::session::Session;
use juror_fault::CommandError;
use juror_values::format::Radix;
use juror_view::nodes::{Group, Node, NodeId, PartFilter};
use juror_view::observer::Observer;
use juror_view::{CommandHelp, Outcome};
use std::sync::atomic::Ordering;

impl Session {
    /// Executes a line. An empty line does nothing; repetition by an empty line is the front end's
    /// task ([`Session::repetition`]).
    ///
    /// # Errors
    /// The line is not a command, or the command fails; the session continues.
    pub fn execute(
        &mut self,
        line: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let asked = self.points.commands.take_asked(line);
        let is_queued = asked.is_some();
        let is_interrupted = self.control.cancel.swap(false, Ordering::Relaxed);
        if is_interrupted && asked.is_some() {
            self.points.commands.give_up();
            if let Some(program) = &mut self.processes.program {
                // The next run is not meant.
                program.debuggee.forget_interruption();
            }
            return Err(CommandError::new("interrupted: the rest is not executed"));
        }
        let place = match &asked {
            Some(Asked::Command(place)) => place.clone(),
            _ => None,
        };
        let mut result = match asked {
            Some(Asked::Condition(condition)) => self.execute_condition(&condition, observer),
            Some(Asked::Fault(fault)) => Err(fault),
            asked => self.execute_line(line, asked == Some(Asked::Hooked), observer),
        };
        if matches!(result, Err(_) | Ok(Outcome::Quit(_))) {
            self.points.commands.give_up();
            if is_queued {
                // The next line that is typed is not for a block that a file has begun.
                self.points.commands.drop_given();
            }
        }
        if let Ok(Outcome::Stopped(stop)) = &mut result {
            context::add_context(self, stop);
        }
        match (result, place) {
            (Err(error), Some((file, number))) if error.found.is_empty() => Err(CommandError {
                message: format!("{file}:{number}: {}", error.message),
                ..error
            }),
            (result, _) => result,
        }
    }

    /// Executes a condition of `if` or `while`, which decides what follows.
    fn execute_condition(
        &mut self,
        condition: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let result = control_flow::holds(self, condition).map(|truth| {
            self.points.commands.runner.decide(truth);
            Outcome::Done
        });
        self.conclude_line("", result, observer)
    }

    fn execute_line(
        &mut self,
        line: &str,
        is_hooked: bool,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        if self.points.commands.is_being_given() {
            return breakpoint_command_lists::take_given(self, line);
        }
        let own = command_table::translated(line);
        let line = own.as_deref().unwrap_or(line);
        let (word, rest) = arguments::split_line(line);
        if word.is_empty() || word.starts_with('#') {
            return Ok(Outcome::Done);
        }
        if breakpoint_command_lists::begin_block(self, line)?
            || self.points.commands.begin_defined(line)?
        {
            return Ok(Outcome::Done);
        }
        let entry = find(word);
        if let Ok(entry) = entry
            && !is_hooked
            && self.points.commands.begin_hooked(entry.name, line)
        {
            return Ok(Outcome::Done);
        }
        let result = entry.and_then(|it| self.dispatch(it, rest, observer));
        self.conclude_line(line, result, observer)
    }

    /// Brings the session to the state in which the next line can be executed.
    fn conclude_line(
        &mut self,
        line: &str,
        mut result: Result<Outcome, CommandError>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let (word, _) = arguments::split_line(line);
        result = core_file::worded(self, result);
        while let Some((thread, end)) = self.processes.stop.ended_call.take() {
            result = self.resume_evaluation(thread, end, observer);
        }
        self.control.state.finish();
        self.follow_control();
        result = waiting::move_for_scenarios(self, line, result, observer);
        self.control.state.finish();
        self.follow_control();
        if is_about_points(word) {
            self.renew_points()?;
        }
        self_modified_code::reinsert_overwritten(self, observer)?;
        // However it ended, the user types next, and juror may be killed before that.
        if let Some(program) = &mut self.processes.program {
            program.debuggee.take_terminal();
            program.debuggee.quiesce()?;
        }
        if self.processes.are_several() {
            for program in self.processes.other_programs_mut() {
                program.debuggee.quiesce()?;
            }
            leaving::retire_ended(self);
        }
        self.report_ends(observer);
        symbol_reading::report_left_out(self, observer);
        dynamic_print::report_printed(self, observer);
        // A debuggee that vanished during a command has ended for good.
        if let Some(program) = &self.processes.program
            && !program.debuggee.is_alive()
            && !matches!(result, Ok(Outcome::Ended(_)))
        {
            let end = self.end(None);
            return Ok(Outcome::Ended(Box::new(end)));
        }
        result
    }

    /// Returns the values of a group in a frame of a thread, which is given by its number.
    ///
    /// # Errors
    /// There is no such thread or frame, or no program.
    pub fn scope_nodes(
        &mut self,
        thread: u32,
        frame_level: usize,
        group: Group,
    ) -> Result<Vec<Node>, CommandError> {
        nodes::scope_nodes(self, thread, frame_level, group, Radix::Natural)
    }

    /// Returns `count` parts of a value from the one with the number `start` on; those behind
    /// the last one are left out.
    ///
    /// # Errors
    /// The value is of an earlier stop, or the parts are too many.
    pub fn part_nodes(
        &mut self,
        node: NodeId,
        filter: PartFilter,
        start: u64,
        count: u64,
    ) -> Result<Vec<Node>, CommandError> {
        nodes::part_nodes(self, node, filter, start..start.saturating_add(count), None)
    }

    /// Evaluates an expression in a frame. Functions of the program are called only if
    /// `may_call`; the program resumes for that.
    ///
    /// # Errors
    /// The expression has no value, or the program stopped in a call.
    pub fn evaluate_node(
        &mut self,
        thread: u32,
        frame_level: usize,
        expression: &str,
        radix: Option<Radix>,
        may_call: bool,
    ) -> Result<Node, CommandError> {
        nodes::evaluate_node(self, thread, frame_level, expression, radix, may_call)
    }

    /// Assigns to a part of a value, by the name of its node; returns the part with its new
    /// value.
    ///
    /// # Errors
    /// The value is of an earlier stop, or the part does not take the new value.
    pub fn assign_node(
        &mut self,
        parent: NodeId,
        name: &str,
        value: &str,
    ) -> Result<Node, CommandError> {
        nodes::assign_node(self, parent, name, value, None)
    }

    /// Assigns to the value of an expression in a frame; returns its new value.
    ///
    /// # Errors
    /// The expression is no place, or does not take the new value.
    pub fn assign_expression(
        &mut self,
        thread: u32,
        frame_level: usize,
        expression: &str,
        value: &str,
    ) -> Result<Node, CommandError> {
        nodes::assign_expression(self, thread, frame_level, expression, value, None)
    }

    /// Executes a line in the middle of another command.
    pub(crate) fn perform_line(
        &mut self,
        line: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let own = command_table::translated(line);
        let (word, rest) = arguments::split_line(own.as_deref().unwrap_or(line));
        let result = find(word).and_then(|it| self.dispatch(it, rest, observer));
        self.conclude_served(word, result, observer)
    }

    /// Carries out a call of a front end under the conditions of a command's row; `argument` is
    /// what its names are read from. Hooks, aliases and open blocks are left alone: they belong to
    /// typed lines.
    ///
    /// # Errors
    /// The command is not possible now, or `act` fails.
    pub(crate) fn call(
        &mut self,
        name: &str,
        argument: &str,
        observer: &mut dyn Observer,
        act: impl FnOnce(&mut Session, &mut dyn Observer) -> Result<Outcome, CommandError>,
    ) -> Result<Outcome, CommandError> {
        let prepared = self.prepare_call(name, argument, observer);
        let result = prepared.and_then(|()| act(self, observer));
        self.conclude_call(name, result, observer)
    }

    /// Checks that a command is possible, and reads the names that its argument needs.
    ///
    /// # Errors
    /// It is not possible now, or the reading was interrupted.
    pub(crate) fn prepare_call(
        &mut self,
        name: &str,
        argument: &str,
        observer: &mut dyn Observer,
    ) -> Result<(), CommandError> {
        let entry = find(name)?;
        if self.control.serves {
            entry.permit_while_running(name)?;
        } else {
            // An interruption of an earlier command is not meant.
            self.control.cancel.store(false, Ordering::Relaxed);
        }
        self.prepare(entry, argument, observer)
    }

    /// Brings the session to the state in which the next call or line can be executed.
    ///
    /// # Errors
    /// `result` is one, or the program cannot be brought to this state.
    pub(crate) fn conclude_call(
        &mut self,
        name: &str,
        result: Result<Outcome, CommandError>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        if self.control.serves {
            return self.conclude_served(name, result, observer);
        }
        let mut result = self.conclude_line(name, result, observer);
        if let Ok(Outcome::Stopped(stop)) = &mut result {
            context::add_context(self, stop);
        }
        result
    }

    /// Does the same in the middle of another command, which goes on.
    fn conclude_served(
        &mut self,
        word: &str,
        mut result: Result<Outcome, CommandError>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        while let Some((thread, end)) = self.processes.stop.ended_call.take() {
            result = self.resume_evaluation(thread, end, observer);
        }
        self.control.state.finish();
        if is_about_points(word) {
            self.renew_points()?;
        }
        result
    }

    fn dispatch(
        &mut self,
        entry: &Entry,
        rest: &str,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        self.prepare(entry, rest, observer)?;
        if entry.is_question() && !self.control.serves {
            return questions::asked(self, |session| (entry.run)(session, rest, observer));
        }
        (entry.run)(self, rest, observer)
    }

    /// Checks that a command is possible, and does what comes before its handler.
    fn prepare(
        &mut self,
        entry: &Entry,
        rest: &str,
        observer: &mut dyn Observer,
    ) -> Result<(), CommandError> {
        if self.scenarios.acts {
            permissions::check_entry(entry, rest, self.options.permissions)?;
        }
        core_file::permit(self, entry)?;
        if entry.takes_nothing && !rest.is_empty() {
            return Err(CommandError::unexpected(rest, entry.name));
        }
        convenience::note_conveniences(self);
        symbol_reading::prepare_names(self, entry.names, rest, observer)?;
        let steps = matches!(entry.name, "step" | "next" | "stepi" | "nexti");
        self.user.settings.is_stepping = steps;
        match entry.evaluation {
            OpenEvaluation::Nothing => {}
            OpenEvaluation::Any => self.choose_evaluation(false)?,
            OpenEvaluation::Own => self.choose_evaluation(true)?,
        }
        Ok(())
    }

    /// Returns the line that an empty line after this one repeats: mostly the same; after `list` of
    /// a location, the lines that follow.
    pub fn repetition(&self, line: &str) -> Option<String> {
        let (word, _) = arguments::split_line(line);
        let entry = command_table::find(word).ok()?;
        match entry.repeats {
            Repeats::No => None,
            Repeats::Line => Some(line.to_owned()),
            Repeats::Onwards if line.ends_with(" -") => Some(line.to_owned()),
            Repeats::Name | Repeats::Onwards => Some(entry.name.to_owned()),
        }
    }

    /// Returns whether a front end asks before it executes this line, by which a program that has
    /// begun would be lost. An attached process is not lost.
    pub fn loses_program(&self, line: &str) -> bool {
        let (word, _) = arguments::split_line(line);
        let is_loss = command_table::find(word)
            .is_ok_and(|entry| matches!(entry.name, "quit" | "run" | "start" | "starti"));
        let is_kept = self.is_attached() || core_file::is_open(self);
        let is_lost = self.is_alive() && self.has_begun() && !is_kept;
        is_loss && is_lost && self.user.settings.confirms && !self.points.commands.is_being_given()
    }

    /// Returns all commands, for help.
    pub fn commands(&self) -> Vec<CommandHelp> {
        TABLE.iter().copied().map(command_table::help_of).collect()
    }
}

/// Returns whether a command may change the points to insert, in every process.
fn is_about_points(word: &str) -> bool {
    command_table::find(word).is_ok_and(|entry| entry.changes_points)
}
