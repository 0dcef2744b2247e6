//! Runs the reactions to a moment, and decides what follows (`juror_control::decision`).
//!
//! The program stops for a reaction as for the user, and resumes as before, unless a reaction wants
//! it to stop. The order is: reactions to a stop of the user, to points of scenarios, to steps of
//! monitors (Jakse, Falcone and Méhaut, section 6: DEVBREAK, SCNBREAK, EXECEVENT).

use crate::run::pause::{Goal, KILLED_STATUS, Pause};
use crate::run::scenarios::{carrying, waiting};
use crate::session::Session;
use crate::state::scenarios::{Decision, Todo};
use juror_control::decision::{Moment, Next, Notification};
use juror_debuggee::ThreadId;
use juror_event::Value;
use juror_fault::CommandError;
use juror_language::{ContextValue, Trigger};
use juror_monitoring::listeners::{ContextValues, QueuedTrigger};
use juror_program::program::Program;
use juror_view::observer::Observer;
use juror_view::{Ending, StopReason};
use std::collections::VecDeque;

/// A stop that a reaction itself demands.
#[derive(Debug)]
pub(super) struct OwnStop {
    /// An error, or the reason of a scenario to stop the program.
    pub reason: Option<StopReason>,
    /// Whether the program was restored to another moment.
    pub is_restored: bool,
}

impl Session {
    /// Returns the pause, or the notification of queued triggers.
    pub(crate) fn or_notified(&self, pause: Option<Pause>, thread: ThreadId) -> Option<Pause> {
        pause.or_else(|| self.pause_of(Moment::default(), thread))
    }

    /// Runs the reactions to a pause; returns `None` if the program resumes.
    pub(crate) fn react(
        &mut self,
        pause: Pause,
        goal: Goal<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        if self.scenarios.is_idle() || self.scenarios.is_performing {
            return Ok(Some(pause));
        }
        let todo = self.reactions_to(&pause);
        if todo.is_empty() {
            return Ok(Some(pause));
        }
        let ran = self.running_threads();
        let selection = std::mem::take(&mut self.processes.selection);
        let thread = pause.thread();
        let (pause, next) = self.react_to(pause, todo, observer)?;
        let pause = if self.is_fresh() {
            // It was restored to its beginning, which it now leaves.
            pause.or(self.begin(observer)?)
        } else {
            pause
        };
        if pause.is_some() {
            return Ok(pause);
        }
        if next == Next::RunAll {
            self.resume_processes()?;
            return Ok(None);
        }
        self.processes.selection = selection;
        self.processes.selection.frames = None;
        if self.processes.are_several() {
            self.resume_processes()?;
            return Ok(None);
        }
        if let Some(thread) = thread {
            self.go_on(thread, goal)?;
        }
        for other in ran {
            self.running_mut()?.debuggee.resume(other)?;
        }
        Ok(None)
    }

    /// Returns the threads that a reaction, or a request of a front end, will have to stop.
    pub(crate) fn running_threads(&self) -> Vec<ThreadId> {
        let Some(program) = &self.processes.program else {
            return Vec::new();
        };
        let debuggee = &program.debuggee;
        let ids = debuggee.thread_ids();
        ids.filter(|&id| !debuggee.is_waiting(id)).collect()
    }

    /// Runs the reactions, with every thread stopped. Returns what is still to be shown, and what
    /// follows.
    pub(crate) fn react_to(
        &mut self,
        pause: Pause,
        queued: VecDeque<QueuedTrigger>,
        observer: &mut dyn Observer,
    ) -> Result<(Option<Pause>, Next), CommandError> {
        if !matches!(pause, Pause::Ended(_)) {
            self.halt_processes()?;
        }
        if let Some(thread) = pause.thread() {
            self.select_thread(thread);
        }
        let told = pause.notification();
        let todo = Todo { rest: None, queued };
        let (next, own) = self.decide_about(told, todo, observer);
        let thread = if own.is_restored {
            self.processes.selection.thread
        } else {
            pause.thread().or(self.processes.selection.thread)
        };
        let is_there = |program: &Program| program.debuggee.is_alive();
        let thread = thread.filter(|_| self.processes.program.as_ref().is_some_and(is_there));
        let shown = match (next, own.reason, thread) {
            (Next::ShowError | Next::ShowScenario, Some(reason), Some(thread)) => {
                Some(Pause::Reason(reason, thread))
            }
            (Next::ShowError, Some(reason), None) => {
                // Nothing is stopped that could be shown: the error is reported all the same.
                observer.scenario_error(&reason);
                Some(pause)
            }
            (Next::Move { shows: false }, _, Some(thread)) => Some(Pause::Moves(thread)),
            (Next::RunAll | Next::GoOn, ..) => None,
            _ => Some(pause),
        };
        Ok((shown, next))
    }

    /// Executes reactions, and decides what follows. Every thread is stopped.
    pub(super) fn decide_about(
        &mut self,
        told: Notification,
        todo: Todo,
        observer: &mut dyn Observer,
    ) -> (Next, OwnStop) {
        self.scenarios.is_performing = true;
        let mut decision = Decision::default();
        let is_lent = self.control.state.lend();
        let mut failed = carrying::carry_out_all(self, todo, &mut decision, observer);
        if failed.is_none() {
            let in_place = waiting::carry_out_in_place(self, &mut decision, observer);
            failed = in_place.err().map(|reason| *reason);
        }
        self.control.state.give_back(is_lent);
        self.scenarios.is_performing = false;
        // Events caused by a reaction itself have no reactions.
        self.scenarios.queued.clear();
        let wishes = decision.wishes(failed.is_some(), self.scenarios.is_awaiting());
        let next = juror_control::decision::next(told, wishes);
        if !matches!(next, Next::Move { .. } | Next::GoOn | Next::RunAll) {
            waiting::give_up_waiting(self, observer);
        }
        let is_restored = decision.is_restored;
        let stop = decision.stop;
        let own = stop.map(|(scenario, message)| StopReason::Scenario { scenario, message });
        let reason = failed.or(own);
        (
            next,
            OwnStop {
                reason,
                is_restored,
            },
        )
    }

    /// Returns the reactions to a stop, then those to the queued triggers.
    fn reactions_to(&mut self, pause: &Pause) -> VecDeque<QueuedTrigger> {
        let mut todo = VecDeque::new();
        let mut context_values = ContextValues::default();
        let waiting = match pause {
            Pause::Reason(reason, thread) => {
                context_values.note_text(ContextValue::Reason, reason.word());
                context_values.note(ContextValue::Thread, self.thread_value(*thread));
                self.scenarios.waiting_for(|it| *it == Trigger::Stop)
            }
            Pause::Ended(Some(ending)) => {
                let status = match ending {
                    Ending::Exited { status } => *status,
                    Ending::Killed { signal } => KILLED_STATUS.saturating_add(*signal),
                    Ending::Detached { .. } => return todo,
                };
                context_values.note(ContextValue::ExitStatus, Value::Int(i128::from(status)));
                self.scenarios.waiting_for(|it| *it == Trigger::Exit)
            }
            _ => Vec::new(),
        };
        todo.extend(
            waiting
                .into_iter()
                .map(|(scenario, reaction)| QueuedTrigger::Other {
                    scenario,
                    reaction,
                    context_values: context_values.clone(),
                }),
        );
        todo.append(&mut self.scenarios.queued);
        todo
    }

    /// Runs the reactions to the start of the program.
    pub(crate) fn react_to_start(
        &mut self,
        pause: Option<Pause>,
        thread: ThreadId,
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        if self.scenarios.is_idle() || self.scenarios.is_performing {
            return Ok(pause);
        }
        let mut context_values = ContextValues::default();
        context_values.note(ContextValue::Thread, self.thread_value(thread));
        let waiting = self.scenarios.waiting_for(|it| *it == Trigger::Start);
        let mut todo: VecDeque<QueuedTrigger> = waiting
            .into_iter()
            .map(|(scenario, reaction)| QueuedTrigger::Other {
                scenario,
                reaction,
                context_values: context_values.clone(),
            })
            .collect();
        let pause = pause.unwrap_or(Pause::ScenariosNotified(thread));
        todo.extend(self.reactions_to(&pause));
        self.react_to(pause, todo, observer).map(|(pause, _)| pause)
    }

    /// Returns a thread as a value of reactions.
    pub(crate) fn thread_value(&self, thread: ThreadId) -> Value {
        let number = self
            .processes
            .program
            .as_ref()
            .map(|it| it.thread_number(thread));
        Value::Int(i128::from(number.unwrap_or(0)))
    }
}
