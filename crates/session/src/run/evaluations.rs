//! Evaluations: expressions that call functions of the debuggee.
//!
//! An evaluation runs until it has its value, or until the program stops inside a function that it
//! called; then it stays open and the user may look around, step, evaluate something else, finish
//! it or abandon it. After the model of N. Ramsey, *Correctness of Trap-Based Breakpoint
//! Implementations*: any number of evaluations can be suspended, and no arrival at a breakpoint is
//! missed or reported twice because of them.
//!
//! **Invariant**: each open evaluation has one open call in the debuggee, and the list is in the
//! order in which these began. Calls that juror makes for the user are not the program's behaviour:
//! monitors do not receive their events.

pub(crate) mod conditions;
mod drive;
mod exits;

use crate::run::pause::Pause;
use crate::run::scenarios::permissions;
use crate::run::serving;
use crate::session::Session;
use crate::state::evaluations::{CallEnd, Evaluation, Purpose};
use juror_debuggee::ThreadId;
use juror_fault::CommandError;
use juror_language::Expression;
use juror_program::stack::frames::Frame;
use juror_values::typed::Typed;
use juror_view::observer::Observer;
use juror_view::{EvaluationView, Outcome, StopReason};
use std::cell::RefCell;

impl Session {
    /// `print f(x)`, `call f(x)`: evaluates an expression with calls, in the selected frame.
    pub(crate) fn evaluate_with_calls(
        &mut self,
        text: &str,
        expression: Expression,
        purpose: Purpose,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        serving::permit_calls(self)?;
        permissions::permit_calls(self)?;
        self.begun()?;
        let thread = self.thread()?;
        let frames = self.frames()?.to_vec();
        let level = self.processes.selection.level;
        let evaluation = self.new_evaluation(thread, text, expression, purpose, frames, level);
        self.advance_evaluation(evaluation, observer)
    }

    fn new_evaluation(
        &self,
        thread: ThreadId,
        text: &str,
        expression: Expression,
        purpose: Purpose,
        frames: Vec<Frame>,
        level: usize,
    ) -> Evaluation {
        let own = |one: &&Evaluation| one.thread == thread;
        Evaluation {
            number: self.processes.evaluations.next_number(),
            thread,
            text: text.to_owned(),
            expression,
            purpose,
            frames,
            level,
            results: RefCell::default(),
            depth: self.processes.evaluations.open.iter().filter(own).count(),
            call: None,
            was_suspended: false,
            announced: None,
        }
    }

    /// Continues the evaluation of a call that has ended during another command.
    pub(crate) fn resume_evaluation(
        &mut self,
        thread: ThreadId,
        end: CallEnd,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        let position = self
            .processes
            .evaluations
            .open
            .iter()
            .rposition(|one| one.thread == thread);
        let Some(position) = position else {
            return Err(CommandError::new("no evaluation made this call"));
        };
        let mut evaluation = self.processes.evaluations.open.remove(position);
        self.end_call(&mut evaluation, end)?;
        self.select_thread(thread);
        self.advance_evaluation(evaluation, observer)
    }

    /// `info evaluations`
    pub(crate) fn evaluation_views(&self) -> Result<Outcome, CommandError> {
        let program = self.running()?;
        let open = self.processes.evaluations.open.iter();
        let views = open.map(|one| EvaluationView {
            number: one.number,
            thread: program.thread_number(one.thread),
            expression: one.text.clone(),
            function: one.function().to_owned(),
        });
        Ok(Outcome::Evaluations(views.collect()))
    }

    /// `abandon`, `abandon N`: ends an evaluation, and those that its thread began inside it.
    pub(crate) fn abandon(&mut self, text: &str) -> Result<Outcome, CommandError> {
        let selected = self.thread()?;
        let open = &self.processes.evaluations.open;
        let found = match crate::command_table::arguments::number(text)? {
            Some(number) => open.iter().find(|one| u64::from(one.number) == number),
            None => {
                let own = open.iter().rev().find(|one| one.thread == selected);
                own.or(open.last())
            }
        };
        let Some((thread, depth)) = found.map(|one| (one.thread, one.depth)) else {
            return Err(if open.is_empty() {
                CommandError::new("no evaluation is open")
            } else {
                CommandError::with_help(
                    format!("there is no evaluation {}", text.trim()),
                    "see: info evaluations",
                )
            });
        };
        let numbers = self.give_up(thread, depth)?;
        self.select_thread(thread);
        let reason = StopReason::Abandoned {
            evaluations: numbers,
        };
        self.stop(reason, thread)
    }

    /// Restores a thread to its state before the evaluation at `depth`; returns the numbers of the
    /// ended evaluations, outermost first.
    fn give_up(&mut self, thread: ThreadId, depth: usize) -> Result<Vec<u32>, CommandError> {
        let program = self.running_mut()?;
        program.debuggee.halt_all()?;
        program.debuggee.end_calls(thread, depth)?;
        self.processes.selection.frames = None;
        let mut numbers = Vec::new();
        for mut gone in self.processes.evaluations.take_from(thread, depth) {
            if numbers.is_empty() {
                self.processes.stop.announced = gone.announced.take();
            }
            numbers.push(gone.number);
            self.lift_exits(&mut gone)?;
        }
        Ok(numbers)
    }

    /// Selects the evaluation that a resuming command continues: the selected thread's.
    pub(crate) fn choose_evaluation(&mut self, must_be_own: bool) -> Result<(), CommandError> {
        let Some(last) = self.processes.evaluations.open.last() else {
            return Ok(());
        };
        let (number, holder) = (last.number, last.thread);
        let selected = self.thread()?;
        let is_own = self.processes.evaluations.innermost(selected).is_some();
        let program = self.running_mut()?;
        if !is_own && must_be_own {
            let thread = program.thread_number(holder);
            return Err(CommandError::with_help(
                format!("evaluation {number} is open in thread {thread}: other threads cannot run"),
                format!("finish it (continue) or end it (abandon {number}) first"),
            ));
        }
        let chosen = if is_own { selected } else { holder };
        program.debuggee.select_caller(chosen);
        Ok(())
    }

    /// Ends the evaluations of a thread that has ended.
    pub(crate) fn lose_evaluations(&mut self, thread: ThreadId) -> Result<(), CommandError> {
        // If by `exit`, all threads end with it: that is reported as the end.
        if self.processes.evaluations.innermost(thread).is_none()
            || self.running()?.debuggee.is_ending()
        {
            return Ok(());
        }
        let lost = self.processes.evaluations.take_from(thread, 0);
        let Some(first) = lost.first() else {
            return Ok(());
        };
        let function = first.function().to_owned();
        for mut evaluation in lost {
            self.lift_exits(&mut evaluation)?;
        }
        let program = self.running_mut()?;
        program.debuggee.halt_all()?;
        let ended = program.thread_number(thread);
        program.forget_thread(thread);
        let other = program.debuggee.thread_ids().find(|&other| other != thread);
        if let Some(other) = other {
            self.select_thread(other);
        }
        Err(CommandError::new(format!(
            "thread {ended} ended in `{function}`, which was called from juror"
        )))
    }
}

/// The state of an evaluation after a run.
enum Driven {
    /// It has its value.
    Value(Box<Evaluation>, Typed),
    /// A stop other than the end of its call: it stays open.
    Paused(Pause),
}
