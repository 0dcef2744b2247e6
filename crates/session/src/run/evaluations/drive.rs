//! Runs the calls of an evaluation until it has its value.

use crate::commands::set_variable::assigned;
use crate::inspect::assignment::perform;
use crate::inspect::expressions;
use crate::run::evaluations::Driven;
use crate::run::pause::{Goal, Pause};
use crate::run::scheduling;
use crate::session::Session;
use crate::state::evaluations::{ActiveCall, CallEnd, Evaluation, Purpose};
use crate::state::format_options::is_formatted;
use crate::state::selection::Selection;
use juror_fault::CommandError;
use juror_program::calls::{Attempt, CallingScope, Request, attempt, lay_out, read_result};
use juror_program::scope::FrameScope;
use juror_symbols::TypeKind;
use juror_values::expression::{Assignment, ExpressionError};
use juror_values::format::{Radix, format};
use juror_values::typed::Typed;
use juror_view::observer::Observer;
use juror_view::{Outcome, StopReason, ValueView, VariableView};

impl Session {
    /// Runs an evaluation; shows its value, or where it was stopped.
    pub(super) fn advance_evaluation(
        &mut self,
        evaluation: Evaluation,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, CommandError> {
        match self.drive(evaluation, observer)? {
            Driven::Value(evaluation, value) => self.conclude(&evaluation, value),
            Driven::Paused(pause) => self.settle(pause),
        }
    }

    /// Makes the calls and assignments of an evaluation, one after the other. After an error its thread is back
    /// where it was before.
    pub(super) fn drive(
        &mut self,
        mut evaluation: Evaluation,
        observer: &mut dyn Observer,
    ) -> Result<Driven, CommandError> {
        let thread = evaluation.thread;
        let number = evaluation.number;
        loop {
            match self.attempt(&evaluation)? {
                Attempt::Value(value) => return Ok(Driven::Value(Box::new(evaluation), value)),
                Attempt::Assign(assignment) => {
                    self.assign_in(&mut evaluation, *assignment)?;
                    continue;
                }
                Attempt::Call(request) => self.begin_call(&mut evaluation, &request, observer)?,
            }
            self.processes.evaluations.open.push(evaluation);
            self.running_mut()?.debuggee.resume(thread)?;
            let pause = self.pump(observer, Goal::default())?;
            let position = self
                .processes
                .evaluations
                .open
                .iter()
                .position(|one| one.number == number);
            let Some(position) = position else {
                return Ok(Driven::Paused(pause));
            };
            match pause {
                Pause::CallEnded(ended, end) if ended == thread => {
                    evaluation = self.processes.evaluations.open.remove(position);
                    self.end_call(&mut evaluation, end)?;
                }
                other => {
                    if let Some(open) = self.processes.evaluations.open.get_mut(position) {
                        open.was_suspended = true;
                    }
                    return Ok(Driven::Paused(other));
                }
            }
        }
    }

    fn attempt(&self, evaluation: &Evaluation) -> Result<Attempt, CommandError> {
        let values = |name: &str| crate::state::values::convenience(&self.user.values, name);
        let scope = CallingScope {
            frame: FrameScope {
                program: self.running()?,
                frames: &evaluation.frames,
                level: evaluation.level,
                convenience: &values,
            },
            results: &evaluation.results,
        };
        attempt(&evaluation.expression, &scope)
            .map_err(|ExpressionError { message, .. }| CommandError::new(message))
    }

    /// Makes an assignment in the frame of an evaluation.
    fn assign_in(
        &mut self,
        evaluation: &mut Evaluation,
        assignment: Assignment,
    ) -> Result<(), CommandError> {
        let thread = evaluation.thread;
        let is_in_memory = assignment
            .target
            .as_ref()
            .is_some_and(|it| it.address().is_some());
        let own = Selection {
            level: evaluation.level,
            frames: Some(evaluation.frames.clone()),
            has_all_frames: true,
            ..Selection::of_thread(thread)
        };
        let selected = std::mem::replace(&mut self.processes.selection, own);
        let value = perform(self, &assignment);
        self.processes.selection = Selection {
            frames: None,
            ..selected
        };
        evaluation.results.borrow_mut().add(assignment.span, value?);
        if !is_in_memory {
            // The frames have cached old values of registers.
            let (frames, _) = self.running()?.backtrace(thread, evaluation.frames.len());
            evaluation.frames = match evaluation.purpose {
                Purpose::Condition => frames,
                _ => self.shown_frames(thread, frames),
            };
        }
        Ok(())
    }

    /// Moves the thread to the entry of the called function.
    fn begin_call(
        &mut self,
        evaluation: &mut Evaluation,
        request: &Request,
        observer: &mut dyn Observer,
    ) -> Result<(), CommandError> {
        let thread = evaluation.thread;
        scheduling::refuse(self, "a call of a function")?;
        let program = self.running_mut()?;
        let stack = program.registers(thread)?.stack_pointer();
        let stack = evaluation.results.borrow().stack_below(stack);
        let target = program
            .call_target(request, thread)
            .map_err(CommandError::new)?;
        let planned = program
            .plan_call(request, target)
            .map_err(CommandError::new)?;
        let (call, room) =
            lay_out(&planned, evaluation.number, stack).map_err(CommandError::new)?;
        evaluation.results.borrow_mut().note_stack(call.stack);
        let exits = self.plant_exits()?;
        let begun = self.running_mut()?.debuggee.begin_call(thread, &call);
        evaluation.announced = self.processes.stop.announced.take();
        let is_assumed = planned.is_result_assumed;
        let name = planned.name.clone();
        evaluation.call = Some(ActiveCall {
            planned,
            span: request.span.clone(),
            room,
            exits,
        });
        if let Err(error) = begun {
            self.processes.stop.announced = evaluation.announced.take();
            self.lift_exits(evaluation)?;
            return Err(error.into());
        }
        if is_assumed && self.processes.evaluations.assumed.insert(name.clone()) {
            observer.notice(&format!(
                "`{name}` has no debug information: its result is taken as long; \
                 write (TYPE){name}(...) for another type"
            ));
        }
        Ok(())
    }

    /// Ends a call of an evaluation: reads its result and restores the thread.
    pub(super) fn end_call(
        &mut self,
        evaluation: &mut Evaluation,
        end: CallEnd,
    ) -> Result<(), CommandError> {
        let thread = evaluation.thread;
        let program = self.running_mut()?;
        program.debuggee.halt_all()?;
        let program = self.running()?;
        let value = match (end, &evaluation.call) {
            (CallEnd::Returned, Some(call)) => {
                let value = read_result(program, thread, &call.planned, call.room)?;
                Some((call.span.clone(), value))
            }
            _ => None,
        };
        let function = evaluation.function().to_owned();
        self.lift_exits(evaluation)?;
        evaluation.call = None;
        let depth = evaluation.depth;
        self.running_mut()?.debuggee.end_calls(thread, depth)?;
        self.processes.stop.announced = evaluation.announced.take();
        self.processes.selection.frames = None;
        let how = match end {
            CallEnd::Returned => None,
            CallEnd::Jumped => Some("left by longjmp"),
            CallEnd::Threw => Some("left by an exception"),
        };
        if let Some((span, value)) = value {
            evaluation.results.borrow_mut().add(span, value);
        }
        match how {
            None => Ok(()),
            Some(how) => {
                let thread = self.running()?.thread_number(thread);
                Err(CommandError::new(format!(
                    "`{function}` was {how}: it has no value, and thread {thread} is back where it \
                     was before"
                )))
            }
        }
    }

    /// Shows the value of an evaluation, and the thread's restored position if it was stopped
    /// meanwhile.
    fn conclude(&mut self, evaluation: &Evaluation, value: Typed) -> Result<Outcome, CommandError> {
        let thread = evaluation.thread;
        let is_void = matches!(value.r#type.strip().kind(), TypeKind::Void);
        let radix = match evaluation.purpose {
            Purpose::Print(radix) => radix,
            Purpose::Call | Purpose::Assign | Purpose::Condition => Radix::Natural,
        };
        let program = self.running()?;
        let shown = if is_void {
            "void".to_owned()
        } else {
            format(&value, program, program, radix)
        };
        let type_name = value.r#type.name();
        let is_silent = is_void && evaluation.purpose == Purpose::Call;
        let is_assignment = evaluation.purpose == Purpose::Assign;
        if is_assignment && !evaluation.was_suspended {
            return assigned(self, &evaluation.text, &evaluation.expression, &value);
        }
        let number = if is_void || is_assignment {
            0
        } else {
            expressions::keep(self, value)
        };
        if !evaluation.was_suspended {
            return Ok(if is_silent {
                Outcome::Done
            } else {
                Outcome::Value(ValueView {
                    number,
                    type_name,
                    value: shown,
                    is_formatted: is_formatted(radix),
                })
            });
        }
        self.select_thread(thread);
        let returned = (!is_void).then(|| VariableView {
            name: match number {
                0 => evaluation.text.clone(),
                number => format!("${number}"),
            },
            type_name,
            value: shown,
        });
        let reason = StopReason::Evaluated {
            number: evaluation.number,
            expression: evaluation.text.clone(),
            returned,
        };
        let outcome = self.stop(reason, thread);
        self.processes.selection.level = evaluation.level;
        outcome
    }
}
