//! Carrying out reactions, while every thread stands.
//!
//! The program stops for a reaction as for the user, and runs on as it ran,
//! unless a reaction wants it to stop. In this order they are asked: those to a
//! stop of the developer, those to points of scenarios, those to the steps of
//! monitors (Jakse, Falcone and Méhaut, section 6: DEVBREAK, SCNBREAK,
//! EXECEVENT).

use super::PointDoes;
use super::hearing::Heard;
use super::performance::{Facts, Failure, Performance, World};
use crate::monitoring::KILLED_STATUS;
use crate::options::{CommandError, Observer};
use crate::run::{Goal, Pause};
use crate::session::Session;
use crate::view::{Ending, StopReason};
use juror_debuggee::ThreadId;
use juror_event::Value;
use juror_instrument::format::{Radix, format};
use juror_language::{Fact, Term, Trigger};
use std::collections::VecDeque;
use std::sync::Arc;

/// What the reactions to one moment have decided.
#[derive(Debug, Default)]
pub(super) struct Decision {
    /// Who wants the program to stop, and why.
    pub stop: Option<(String, Option<String>)>,
    /// Somebody wants it not to stop for what has happened.
    pub continues: bool,
    /// The program is another one than at that moment.
    pub is_restored: bool,
}

/// The session as a reaction asks it.
struct Asked<'s>(&'s mut Session);

impl World for Asked<'_> {
    fn read(&mut self, code: &str) -> Result<Value, String> {
        let session = &mut *self.0;
        let typed = session.evaluate(code).map_err(|error| error.message)?;
        let program = session.running().map_err(|error| error.message)?;
        match typed.to_value(program) {
            Ok(value) => Ok(value),
            // What is no number is what a person would see.
            Err(_) => Ok(Value::Text(
                format(&typed, program, program, Radix::Natural).into(),
            )),
        }
    }
}

impl Session {
    /// Nothing is to be shown, but scenarios have heard of something.
    pub(crate) fn or_heard(&self, pause: Option<Pause>, thread: ThreadId) -> Option<Pause> {
        match pause {
            None if self.scenarios.has_heard() => Some(Pause::Heard(thread)),
            pause => pause,
        }
    }

    /// Asks the scenarios what is done about a pause of the run; nothing when
    /// the program runs on.
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
        let selection = std::mem::take(&mut self.selection);
        let thread = pause.thread();
        let (pause, is_restored) = self.react_to(pause, todo, observer)?;
        let pause = match self.is_fresh() {
            // It was brought back to its beginning, which it now leaves.
            true => pause.or(self.begin(observer)?),
            false => pause,
        };
        if pause.is_some() {
            return Ok(pause);
        }
        if is_restored {
            self.resume_processes()?;
            return Ok(None);
        }
        self.selection = selection;
        self.selection.frames = None;
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

    /// The threads that a reaction will have to stop.
    fn running_threads(&self) -> Vec<ThreadId> {
        let Some(program) = &self.program else {
            return Vec::new();
        };
        let debuggee = &program.debuggee;
        let ids = debuggee.thread_ids();
        ids.filter(|&id| !debuggee.is_waiting(id)).collect()
    }

    /// Asks the scenarios, with every thread standing. Gives what is still to
    /// be shown, and whether a checkpoint was brought back.
    pub(crate) fn react_to(
        &mut self,
        pause: Pause,
        todo: VecDeque<Heard>,
        observer: &mut dyn Observer,
    ) -> Result<(Option<Pause>, bool), CommandError> {
        if !matches!(pause, Pause::Ended(_)) {
            self.halt_processes()?;
        }
        if let Some(thread) = pause.thread() {
            self.select_thread(thread);
        }
        self.scenarios.is_performing = true;
        let mut decision = Decision::default();
        let is_lent = self.control.lend();
        let failed = self.carry_out_all(todo, &mut decision, observer);
        self.control.give_back(is_lent);
        self.scenarios.is_performing = false;
        // What a reaction itself has brought about is nothing to react to.
        self.scenarios.heard.clear();
        let thread = match decision.is_restored {
            true => self.selection.thread,
            false => pause.thread().or(self.selection.thread),
        };
        let is_restored = decision.is_restored;
        let pause = match (failed, thread) {
            (Some(reason), Some(thread)) => Some(Pause::Reason(reason, thread)),
            (Some(reason), None) => {
                // Nothing stands that could be shown: the error is told all the
                // same.
                observer.scenario_error(&reason);
                Some(pause)
            }
            (None, thread) => decided(pause, thread, decision),
        };
        Ok((pause, is_restored))
    }

    /// What there is to react to: the reactions to a stop, then those to what
    /// has been heard.
    fn reactions_to(&mut self, pause: &Pause) -> VecDeque<Heard> {
        let mut todo = VecDeque::new();
        let mut facts = Facts::default();
        let waiting = match pause {
            Pause::Reason(reason, thread) => {
                facts.note_text(Fact::Reason, reason.word());
                facts.note(Fact::Thread, self.thread_value(*thread));
                self.scenarios.waiting_for(|it| *it == Trigger::Stop)
            }
            Pause::Ended(Some(ending)) => {
                let status = match ending {
                    Ending::Exited { status } => *status,
                    Ending::Killed { signal } => KILLED_STATUS.saturating_add(*signal),
                    Ending::Detached { .. } => return todo,
                };
                facts.note(Fact::ExitStatus, Value::Int(i128::from(status)));
                self.scenarios.waiting_for(|it| *it == Trigger::Exit)
            }
            _ => Vec::new(),
        };
        todo.extend(
            waiting
                .into_iter()
                .map(|(scenario, reaction)| Heard::Other {
                    scenario,
                    reaction,
                    facts: facts.clone(),
                }),
        );
        todo.append(&mut self.scenarios.heard);
        todo
    }

    /// The program is about to begin.
    pub(crate) fn react_to_start(
        &mut self,
        pause: Option<Pause>,
        thread: ThreadId,
        observer: &mut dyn Observer,
    ) -> Result<Option<Pause>, CommandError> {
        if self.scenarios.is_idle() || self.scenarios.is_performing {
            return Ok(pause);
        }
        let mut facts = Facts::default();
        facts.note(Fact::Thread, self.thread_value(thread));
        let waiting = self.scenarios.waiting_for(|it| *it == Trigger::Start);
        let mut todo: VecDeque<Heard> = waiting
            .into_iter()
            .map(|(scenario, reaction)| Heard::Other {
                scenario,
                reaction,
                facts: facts.clone(),
            })
            .collect();
        let pause = pause.unwrap_or(Pause::Heard(thread));
        todo.extend(self.reactions_to(&pause));
        self.react_to(pause, todo, observer).map(|(pause, _)| pause)
    }

    /// A thread as reactions know it.
    pub(crate) fn thread_value(&self, thread: ThreadId) -> Value {
        let number = self.program.as_ref().map(|it| it.thread_number(thread));
        Value::Int(i128::from(number.unwrap_or(0)))
    }

    /// Carries out reactions in order. Gives what went wrong with one of them.
    fn carry_out_all(
        &mut self,
        mut todo: VecDeque<Heard>,
        decision: &mut Decision,
        observer: &mut dyn Observer,
    ) -> Option<StopReason> {
        while let Some(heard) = todo.pop_front() {
            if let Err(reason) = self.carry_out(heard, decision, observer) {
                return Some(*reason);
            }
            if decision.is_restored {
                // What has happened since the checkpoint has not happened.
                return None;
            }
        }
        None
    }

    fn carry_out(
        &mut self,
        heard: Heard,
        decision: &mut Decision,
        observer: &mut dyn Observer,
    ) -> Result<(), Box<StopReason>> {
        match heard {
            Heard::Step {
                id,
                monitor,
                slice,
                facts,
            } => {
                let (scenario, reaction) = (id.scenario as usize, id.reaction as usize);
                let about = Some((monitor, slice));
                self.carry_out_reaction(scenario, reaction, about, facts, decision, observer)
            }
            Heard::Other {
                scenario,
                reaction,
                facts,
            } => self.carry_out_reaction(scenario, reaction, None, facts, decision, observer),
            Heard::Left { point } => {
                self.scenarios.points.retain(|it| it.number != point);
                // It may have been deleted by hand.
                let _ = self.delete_points(&[point]);
                Ok(())
            }
            Heard::Point { number, facts } => {
                let Some(point) = self.scenarios.point(number).cloned() else {
                    return Ok(());
                };
                match point.does {
                    PointDoes::Block(block, locals) => {
                        let performance = Performance::new(&block, locals, facts);
                        self.perform(point.scenario, performance, None, None, decision, observer)
                    }
                    PointDoes::Signal(reaction) => self.carry_out_reaction(
                        point.scenario,
                        reaction,
                        None,
                        facts,
                        decision,
                        observer,
                    ),
                }
            }
        }
    }

    fn carry_out_reaction(
        &mut self,
        scenario: usize,
        reaction: usize,
        about: Option<(usize, juror_monitor::SliceId)>,
        facts: Facts,
        decision: &mut Decision,
        observer: &mut dyn Observer,
    ) -> Result<(), Box<StopReason>> {
        let loaded = self.scenarios.list.get(scenario).filter(|it| it.is_enabled);
        let Some(found) = loaded.and_then(|it| it.scenario.reactions.get(reaction)) else {
            return Ok(());
        };
        let performance = Performance::new(&found.body, Vec::new(), facts);
        let guard = found.guard.clone();
        self.perform(scenario, performance, guard, about, decision, observer)
    }

    /// Carries out one reaction of a scenario.
    fn perform(
        &mut self,
        scenario: usize,
        mut performance: Performance,
        guard: Option<Term>,
        about: Option<(usize, juror_monitor::SliceId)>,
        decision: &mut Decision,
        observer: &mut dyn Observer,
    ) -> Result<(), Box<StopReason>> {
        let Some(loaded) = self.scenarios.list.get_mut(scenario) else {
            return Ok(());
        };
        let mut variables = std::mem::take(&mut loaded.variables);
        let mut run = || -> Result<bool, Failure> {
            if let Some(guard) = &guard
                && !performance.holds(guard, &mut variables, &mut Asked(self))?
            {
                return Ok(false);
            }
            while let Some(effect) = performance.next(&mut variables, &mut Asked(self))? {
                let span = performance.span();
                let number = self
                    .do_effect(scenario, effect, about, decision, observer)
                    .map_err(|error| Failure {
                        span,
                        message: error.message,
                        help: error.help,
                    })?;
                if let Some(number) = number {
                    performance.reply(number, &mut variables);
                }
            }
            Ok(true)
        };
        let result = run();
        let Some(loaded) = self.scenarios.list.get_mut(scenario) else {
            return Ok(());
        };
        loaded.variables = variables;
        match result {
            Ok(done) => {
                loaded.reactions += u64::from(done);
                Ok(())
            }
            Err(failure) => Err(Box::new(StopReason::ScenarioError {
                scenario: loaded.scenario.name.clone(),
                message: failure.message,
                help: failure.help.map(Into::into),
                start: failure.span.start,
                end: failure.span.end,
                file: loaded.file.as_str().into(),
                text: Arc::clone(&loaded.text),
            })),
        }
    }
}

/// What is still to be shown of a pause.
fn decided(pause: Pause, thread: Option<ThreadId>, decision: Decision) -> Option<Pause> {
    if let (Some((scenario, message)), Some(thread)) = (decision.stop, thread) {
        let is_shown = matches!(pause, Pause::Reason(..)) && !decision.is_restored;
        return Some(match is_shown {
            // The user sees why the program would have stopped anyway.
            true => pause,
            false => Pause::Reason(StopReason::Scenario { scenario, message }, thread),
        });
    }
    match &pause {
        Pause::Heard(_) => None,
        _ if decision.is_restored => None,
        Pause::Reason(reason, _) if decision.continues && reason.may_be_passed() => None,
        _ => Some(pause),
    }
}
