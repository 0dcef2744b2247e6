//! Deferred commands of reactions: those that resume or end the program, and those that change the
//! scenarios.
//!
//! Such a command replaces the user's command, which ends where the program is stopped
//! (`Pause::Moves`); after it, its reaction continues. A `continue` of the user resumes afterwards,
//! a step is over.
//!
//! **Invariant**: runs are never nested, so a reaction may move the program any number of times.

use crate::command_table;
use crate::command_table::arguments;
use crate::command_table::entry::Entry;
use crate::run::scenarios::{carrying, effects, permissions};
use crate::session::Session;
use crate::state::scenarios::{Afterwards, Decision, Reacting, Scenarios, Todo, Waiting};
use juror_control::decision::{Next, Notification};
use juror_fault::CommandError;
use juror_view::observer::Observer;
use juror_view::{Outcome, StopReason};

/// When a command of a reaction is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timing {
    /// At once.
    Now,
    /// At once; the program is another one afterwards.
    Restore,
    /// After the reactions to this moment; the program stays stopped meanwhile.
    InPlace,
    /// After the reactions, in place of the user's command.
    Moves,
}

/// Returns when a command is executed.
pub(super) fn timing(line: &str) -> Timing {
    let Some((entry, rest)) = command_of(line) else {
        return Timing::Now;
    };
    match entry.name {
        "restore" => Timing::Restore,
        "scenario" => Timing::InPlace,
        "property" if rest.starts_with("remove") || rest.starts_with("delete") => Timing::InPlace,
        _ if entry.moves => Timing::Moves,
        _ => Timing::Now,
    }
}

/// Returns the command of a line, translated to juror's own.
fn command_of(line: &str) -> Option<(&'static Entry, String)> {
    let own = command_table::translated(line);
    let (word, rest) = arguments::split_line(own.as_deref().unwrap_or(line));
    let entry = command_table::find(word).ok()?;
    Some((entry, rest.to_owned()))
}

/// Returns whether a command resumes the program until something happens.
fn runs_on(line: &str) -> bool {
    let found = command_of(line).map(|(entry, _)| entry.name);
    matches!(found, Some("continue" | "run"))
}

impl Scenarios {
    /// Returns whether a command is deferred and not in progress.
    pub fn is_awaiting(&self) -> bool {
        self.waiting.iter().any(|it| !it.is_under_way)
    }

    /// Marks the next command as in progress; if `in_place`, the next during which the program
    /// stays stopped. Returns its scenario and its line.
    fn begin_waiting(&mut self, in_place: bool) -> Option<(usize, String)> {
        let is_meant = |it: &&mut Waiting| !(it.is_under_way || in_place && it.line.moves);
        let waiting = self.waiting.iter_mut().find(is_meant)?;
        waiting.is_under_way = true;
        Some((waiting.reacting.scenario, waiting.line.text.clone()))
    }

    /// Takes the reaction whose command has just ended; `None` if its scenario was deleted or
    /// restarted.
    fn end_waiting(&mut self) -> Option<Reacting> {
        // The innermost is the one that was marked last.
        let in_place = |it: &Waiting| it.is_under_way && !it.line.moves;
        let position = self.waiting.iter().position(in_place);
        let position = position.or_else(|| self.waiting.iter().position(|it| it.is_under_way))?;
        self.waiting.remove(position).map(|it| it.reacting)
    }

    /// Drops the commands deferred since a checkpoint that is restored.
    pub fn forget_waiting_before_restore(&mut self) {
        self.waiting
            .retain(|it| it.is_after_restore || it.is_under_way);
    }

    /// Drops the commands of a deleted scenario.
    pub fn forget_waiting_of(&mut self, scenario: usize) {
        self.waiting.retain_mut(|it| {
            let number = &mut it.reacting.scenario;
            let stays = *number != scenario;
            *number -= usize::from(*number > scenario);
            stays
        });
    }

    /// Drops the points that lasted for states of a removed property.
    pub fn forget_waiting_about(&mut self, monitor: usize) {
        for waiting in &mut self.waiting {
            waiting.reacting.about = match waiting.reacting.about {
                Some((about, _)) if about == monitor => None,
                Some((about, slice)) => Some((about - usize::from(about > monitor), slice)),
                None => None,
            };
        }
    }
}

/// Executes the commands during which the program stays stopped, one after the other, each with the
/// rest of its reaction.
pub(super) fn carry_out_in_place(
    session: &mut Session,
    decision: &mut Decision,
    observer: &mut dyn Observer,
) -> Result<(), Box<StopReason>> {
    while !decision.is_restored
        && let Some((scenario, line)) = session.scenarios.begin_waiting(true)
    {
        let name = effects::scenario_name(session, scenario);
        let done = effects::run_for_scenario(session, &name, &line, observer);
        let Some(rest) = session.scenarios.end_waiting() else {
            continue;
        };
        if let Err(error) = done {
            return Err(Box::new(carrying::error_of(session, &rest, error)));
        }
        carrying::perform(session, rest, None, decision, observer)?;
    }
    Ok(())
}

/// Drops the deferred commands because the program stops for the user, and reports them.
pub(super) fn give_up_waiting(session: &mut Session, observer: &mut dyn Observer) {
    let (kept, given_up) = std::mem::take(&mut session.scenarios.waiting)
        .into_iter()
        .partition(|it| it.is_under_way);
    session.scenarios.waiting = kept;
    for waiting in given_up {
        let name = effects::scenario_name(session, waiting.reacting.scenario);
        let line = &waiting.line.text;
        observer.notice(&format!(
            "scenario {name}: `{line}` is not executed, since the program stops"
        ));
    }
}

/// Executes the commands that replace the user's, now that this one is over.
pub(crate) fn move_for_scenarios(
    session: &mut Session,
    line: &str,
    result: Result<Outcome, CommandError>,
    observer: &mut dyn Observer,
) -> Result<Outcome, CommandError> {
    if session.control.is_ending() {
        session.scenarios.waiting.clear();
    }
    if !session.scenarios.is_awaiting() {
        return result;
    }
    let moved = result.and_then(|outcome| {
        let mut afterwards = Afterwards::of(outcome);
        loop {
            afterwards = move_by_turns(session, afterwards, observer)?;
            let again = match afterwards {
                Afterwards::Show(outcome) => return Ok(outcome),
                Afterwards::Nothing if !runs_on(line) => {
                    let thread = session.thread()?;
                    return session.stop(StopReason::Step, thread);
                }
                Afterwards::Nothing | Afterwards::RunOn => {
                    session.perform_line("continue", observer)?
                }
            };
            if !session.scenarios.is_awaiting() {
                return Ok(again);
            }
            afterwards = Afterwards::of(again);
        }
    });
    if !matches!(moved, Ok(Outcome::Quit(_))) {
        give_up_waiting(session, observer);
    }
    session.scenarios.waiting.clear();
    moved
}

/// Executes deferred commands until none is left.
fn move_by_turns(
    session: &mut Session,
    mut afterwards: Afterwards,
    observer: &mut dyn Observer,
) -> Result<Afterwards, CommandError> {
    while let Some((scenario, line)) = session.scenarios.begin_waiting(false) {
        let name = effects::scenario_name(session, scenario);
        if let Afterwards::Show(outcome) = &afterwards {
            // The state that a reaction continues from.
            observer.scenario_outcome(&name, &line, outcome);
        }
        session.control.state.finish();
        let done =
            permissions::for_scenario(session, |session| session.perform_line(&line, observer));
        let rest = session.scenarios.end_waiting();
        afterwards = match (done, rest) {
            (Ok(Outcome::Quit(quit)), _) => return Ok(Afterwards::Show(Outcome::Quit(quit))),
            (Ok(outcome), rest) => {
                if is_own_end(&outcome) {
                    observer.scenario_outcome(&name, &line, &outcome);
                }
                follow(session, &line, outcome, rest, observer)?
            }
            (Err(error), Some(rest)) => {
                let reason = carrying::error_of(session, &rest, error);
                give_up_waiting(session, observer);
                show_own(session, reason, Outcome::Done, observer)?
            }
            (Err(error), None) => return Err(error),
        };
    }
    Ok(afterwards)
}

/// Continues the reaction whose command is over.
fn follow(
    session: &mut Session,
    line: &str,
    outcome: Outcome,
    rest: Option<Reacting>,
    observer: &mut dyn Observer,
) -> Result<Afterwards, CommandError> {
    let told = match &outcome {
        outcome if is_own_end(outcome) => Notification::ScenariosOnly,
        Outcome::Stopped(stop) => Notification::Stop {
            may_be_passed: stop.reason.may_be_passed(),
        },
        Outcome::Ended(_) => Notification::End,
        _ => Notification::ScenariosOnly,
    };
    let is_taken_over = outcome == Outcome::Done && runs_on(line);
    let todo = Todo {
        rest,
        ..Todo::default()
    };
    let (next, own) = session.decide_about(told, todo, observer);
    Ok(match (next, own.reason) {
        (Next::ShowError | Next::ShowScenario, Some(reason)) => {
            show_own(session, reason, outcome, observer)?
        }
        (Next::Move { shows: true }, _) => Afterwards::Show(outcome),
        (Next::Move { shows: false }, _) => Afterwards::Nothing,
        (Next::RunAll, _) => Afterwards::RunOn,
        (Next::GoOn, _) if told != Notification::ScenariosOnly || is_taken_over => {
            Afterwards::RunOn
        }
        (Next::GoOn, _) => Afterwards::Nothing,
        (Next::Show | Next::ShowError | Next::ShowScenario, _) => Afterwards::Show(outcome),
    })
}

/// Shows the stop of a reaction; without a location if the program has ended, and only if nothing
/// else is to be shown.
fn show_own(
    session: &mut Session,
    reason: StopReason,
    otherwise: Outcome,
    observer: &mut dyn Observer,
) -> Result<Afterwards, CommandError> {
    match session.thread() {
        Ok(thread) => session.stop(reason, thread).map(Afterwards::Show),
        Err(_) => {
            observer.scenario_error(&reason);
            Ok(Afterwards::Show(otherwise))
        }
    }
}

/// Returns whether a command reached its goal or only printed, and did not stop for the user.
fn is_own_end(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Stopped(stop) => matches!(
            stop.reason,
            StopReason::Step
                | StopReason::Finished { .. }
                | StopReason::Started
                | StopReason::Evaluated { .. }
                | StopReason::Abandoned { .. }
        ),
        Outcome::Done | Outcome::Ended(_) => false,
        _ => true,
    }
}
