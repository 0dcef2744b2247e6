//! Executes reactions one after the other, statement by statement.
//!
//! Every thread is stopped. A reaction that reaches a deferred command is put aside with it
//! (`waiting`).

use crate::inspect::expressions;
use crate::run::points;
use crate::run::scenarios::effects;
use crate::run::scenarios::effects::Done;
use crate::session::Session;
use crate::state::scenarios::performance::{Effect, Failure, Performance, PointBlock, World};
use crate::state::scenarios::{Decision, Line, PointDoes, Reacting, Todo, Waiting};
use juror_event::Value;
use juror_fault::CommandError;
use juror_language::Term;
use juror_monitor::SliceId;
use juror_monitoring::listeners::{ContextValues, QueuedTrigger};
use juror_points::point::{PointOwner, Stopping};
use juror_values::format::{Radix, format};
use juror_view::StopReason;
use juror_view::observer::Observer;
use std::collections::VecDeque;
use std::sync::Arc;

/// The limit of command expansions between two resuming commands.
const EXPANSIONS_MAX: usize = 1_000;

/// The session as a reaction reads it.
struct Asked<'s>(&'s mut Session);

impl World for Asked<'_> {
    fn read(&mut self, code: &str) -> Result<Value, String> {
        let session = &mut *self.0;
        let typed = expressions::evaluate(session, code).map_err(|error| error.message)?;
        let program = session.running().map_err(|error| error.message)?;
        match typed.to_value(program) {
            Ok(value) => Ok(value),
            // A value that is not a number is read as it is shown.
            Err(_) => Ok(Value::String(
                format(&typed, program, program, Radix::Natural).into(),
            )),
        }
    }
}

/// Executes reactions in order. Returns the error of one of them.
pub(super) fn carry_out_all(
    session: &mut Session,
    mut todo: Todo,
    decision: &mut Decision,
    observer: &mut dyn Observer,
) -> Option<StopReason> {
    if let Some(rest) = todo.rest.take()
        && let Err(reason) = perform(session, rest, None, decision, observer)
    {
        return Some(*reason);
    }
    while !decision.is_restored
        && let Some(queued) = todo.queued.pop_front()
    {
        if let Err(reason) = carry_out(session, queued, decision, observer) {
            return Some(*reason);
        }
    }
    if decision.is_restored {
        // Triggers since the checkpoint are void.
        session.scenarios.forget_waiting_before_restore();
    }
    None
}

fn carry_out(
    session: &mut Session,
    queued: QueuedTrigger,
    decision: &mut Decision,
    observer: &mut dyn Observer,
) -> Result<(), Box<StopReason>> {
    match queued {
        QueuedTrigger::Step {
            id,
            monitor,
            slice,
            context_values,
        } => {
            let (scenario, reaction) = (id.scenario as usize, id.reaction as usize);
            let about = Some((monitor, slice));
            carry_out_reaction(
                session,
                scenario,
                reaction,
                about,
                context_values,
                decision,
                observer,
            )
        }
        QueuedTrigger::Other {
            scenario,
            reaction,
            context_values,
        } => carry_out_reaction(
            session,
            scenario,
            reaction,
            None,
            context_values,
            decision,
            observer,
        ),
        QueuedTrigger::Left { point } => {
            session.scenarios.points.retain(|it| it.number != point);
            // It may have been deleted by the user.
            let _ = points::delete_points(session, &[point]);
            Ok(())
        }
        QueuedTrigger::Point {
            number,
            context_values,
        } => {
            let Some(point) = session.scenarios.point(number).cloned() else {
                return Ok(());
            };
            match point.does {
                PointDoes::Block(point_block) => {
                    let PointBlock {
                        block,
                        locals,
                        parameters,
                    } = *point_block;
                    let mut context_values = context_values;
                    context_values.extend(&parameters);
                    let reacting = Reacting {
                        scenario: point.scenario,
                        performance: Performance::new(&block, locals, context_values),
                        lines: VecDeque::new(),
                        about: None,
                    };
                    perform(session, reacting, None, decision, observer)
                }
                PointDoes::Signal(reaction) => carry_out_reaction(
                    session,
                    point.scenario,
                    reaction,
                    None,
                    context_values,
                    decision,
                    observer,
                ),
            }
        }
    }
}

fn carry_out_reaction(
    session: &mut Session,
    scenario: usize,
    reaction: usize,
    about: Option<(usize, SliceId)>,
    context_values: ContextValues,
    decision: &mut Decision,
    observer: &mut dyn Observer,
) -> Result<(), Box<StopReason>> {
    let loaded = session
        .scenarios
        .list
        .get(scenario)
        .filter(|it| it.is_enabled);
    let Some(found) = loaded.and_then(|it| it.scenario.reactions.get(reaction)) else {
        return Ok(());
    };
    let reacting = Reacting {
        scenario,
        performance: Performance::new(&found.body, Vec::new(), context_values),
        lines: VecDeque::new(),
        about,
    };
    let guard = found.guard.clone();
    perform(session, reacting, guard, decision, observer)
}

/// Executes a reaction of a scenario, or the rest of it.
pub(super) fn perform(
    session: &mut Session,
    mut reacting: Reacting,
    guard: Option<Term>,
    decision: &mut Decision,
    observer: &mut dyn Observer,
) -> Result<(), Box<StopReason>> {
    let Some(loaded) = session.scenarios.list.get_mut(reacting.scenario) else {
        return Ok(());
    };
    let mut variables = std::mem::take(&mut loaded.variables);
    let result = perform_until_it_waits(
        session,
        &mut reacting,
        guard.as_ref(),
        &mut variables,
        decision,
        observer,
    );
    let Some(loaded) = session.scenarios.list.get_mut(reacting.scenario) else {
        return Ok(());
    };
    loaded.variables = variables;
    match result {
        Ok(Performed::Whole(done)) => {
            loaded.reactions += u64::from(done);
            Ok(())
        }
        Ok(Performed::UntilCommand(line)) => {
            session.scenarios.waiting.push_back(Waiting {
                line,
                is_after_restore: decision.is_restored,
                is_under_way: false,
                reacting,
            });
            Ok(())
        }
        Err(failure) => Err(Box::new(failed(session, reacting.scenario, failure))),
    }
}

fn perform_until_it_waits(
    session: &mut Session,
    reacting: &mut Reacting,
    guard: Option<&Term>,
    variables: &mut Vec<Value>,
    decision: &mut Decision,
    observer: &mut dyn Observer,
) -> Result<Performed, Failure> {
    let Reacting {
        scenario,
        performance,
        lines,
        about,
    } = reacting;
    if let Some(guard) = guard
        && !performance.holds(guard, variables, &mut Asked(session))?
    {
        return Ok(Performed::Whole(false));
    }
    let mut expansions = 0;
    loop {
        let effect = match lines.pop_front() {
            Some(line) => Effect::Command(line),
            None => match performance.next(variables, &mut Asked(session))? {
                Some(effect) => effect,
                None => return Ok(Performed::Whole(true)),
            },
        };
        let done = effects::do_effect(
            session,
            *scenario,
            effect,
            performance.span(),
            *about,
            decision,
            observer,
        )
        .map_err(|error| performance.failure(error.message, error.help))?;
        match done {
            Done::Nothing => {}
            Done::Number(number) => performance.reply(number, variables),
            Done::StandsFor(more) => {
                expansions += usize::from(!more.is_empty());
                if expansions > EXPANSIONS_MAX {
                    let message = "this group of commands does not terminate".to_owned();
                    return Err(performance.failure(message, None));
                }
                for line in more.into_iter().rev() {
                    lines.push_front(line);
                }
            }
            Done::Waits(line) => return Ok(Performed::UntilCommand(line)),
        }
    }
}

/// Returns the error of a command of a reaction, as the user sees it.
pub(super) fn error_of(session: &Session, reacting: &Reacting, error: CommandError) -> StopReason {
    let performance = &reacting.performance;
    let failure = performance.failure(error.message, error.help);
    failed(session, reacting.scenario, failure)
}

/// Returns the error of a condition that a scenario has set and that cannot be evaluated, with its
/// place in the scenario.
pub(crate) fn wrong_condition_of_scenario(
    session: &mut Session,
    stopping: &Stopping,
    sentences: &[String],
) -> Option<StopReason> {
    let message = sentences.first()?.clone();
    let (number, _) = stopping.errors.first()?;
    match points::point(session, *number).ok()?.owner {
        PointOwner::Scenario {
            number, start, end, ..
        } => {
            let failure = Failure {
                span: start as usize..end as usize,
                message,
                help: None,
            };
            Some(failed(session, number as usize, failure))
        }
        PointOwner::Developer => None,
    }
}

fn failed(session: &Session, scenario: usize, failure: Failure) -> StopReason {
    let loaded = session.scenarios.list.get(scenario);
    StopReason::ScenarioError {
        scenario: loaded.map_or_else(|| "".into(), |it| it.scenario.name.clone()),
        message: failure.message,
        help: failure.help.map(Into::into),
        start: failure.span.start,
        end: failure.span.end,
        file: loaded.map_or_else(|| "".into(), |it| it.file.as_str().into()),
        text: loaded.map_or_else(|| "".into(), |it| Arc::clone(&it.text)),
    }
}

/// The progress of a reaction.
enum Performed {
    /// It has ended, or its guard is false.
    Whole(bool),
    /// It has reached a command that is deferred until after the reactions.
    UntilCommand(Line),
}
