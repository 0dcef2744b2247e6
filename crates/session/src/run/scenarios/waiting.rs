//! Commands of reactions that are done when the reactions are: those that let
//! the program run or end it, and those that change what reacts.
//!
//! Such a command takes the place of the command of the person, which ends where
//! the program stands (`Pause::Moves`); when it is over, its reaction goes on. A
//! `continue` of the person runs on afterwards, a step is over. Invariant: runs
//! are never nested, so a reaction may move the program as often as it likes.

use crate::command_table;
use crate::command_table::arguments;
use crate::command_table::entry::Entry;
use crate::run::scenarios::{carrying, effects, permissions};
use crate::session::Session;
use crate::state::scenarios::{Afterwards, Decision, Reacting, Scenarios, Todo, Waiting};
use juror_rules::decision::{Next, Notification};
use juror_view::error::CommandError;
use juror_view::observer::Observer;
use juror_view::{Outcome, StopReason};

/// When a command of a reaction is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timing {
    /// Where it stands.
    Now,
    /// The same; the program is another one afterwards.
    Restore,
    /// When the reactions to this moment are done; the program stands meanwhile.
    InPlace,
    /// The same, in place of the command of the person.
    Moves,
}

/// When a command is done.
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

/// What a line is about, in juror's own words.
fn command_of(line: &str) -> Option<(&'static Entry, String)> {
    let own = command_table::translated(line);
    let (word, rest) = arguments::split_line(own.as_deref().unwrap_or(line));
    let entry = command_table::find(word).ok()?;
    Some((entry, rest.to_owned()))
}

/// Whether a command lets the program run until something happens.
fn runs_on(line: &str) -> bool {
    let found = command_of(line).map(|(entry, _)| entry.name);
    matches!(found, Some("continue" | "run"))
}

impl Scenarios {
    /// Whether a command waits that is not under way.
    pub fn is_awaiting(&self) -> bool {
        self.waiting.iter().any(|it| !it.is_under_way)
    }

    /// Marks the next command as under way, the next during which the program
    /// stands if `in_place`; its scenario and its line.
    fn begin_waiting(&mut self, in_place: bool) -> Option<(usize, String)> {
        let is_meant = |it: &&mut Waiting| !(it.is_under_way || in_place && it.line.moves);
        let waiting = self.waiting.iter_mut().find(is_meant)?;
        waiting.is_under_way = true;
        Some((waiting.reacting.scenario, waiting.line.text.clone()))
    }

    /// The reaction whose command has just been done; nothing where its scenario
    /// is gone, or has begun anew.
    fn end_waiting(&mut self) -> Option<Reacting> {
        // The innermost is the one that was marked last.
        let in_place = |it: &Waiting| it.is_under_way && !it.line.moves;
        let position = self.waiting.iter().position(in_place);
        let position = position.or_else(|| self.waiting.iter().position(|it| it.is_under_way))?;
        self.waiting.remove(position).map(|it| it.reacting)
    }

    /// What was to be done since a checkpoint is not done when it is brought back.
    pub fn forget_waiting_before_restore(&mut self) {
        self.waiting
            .retain(|it| it.is_after_restore || it.is_under_way);
    }

    /// A scenario is gone.
    pub fn forget_waiting_of(&mut self, scenario: usize) {
        self.waiting.retain_mut(|it| {
            let number = &mut it.reacting.scenario;
            let stays = *number != scenario;
            *number -= usize::from(*number > scenario);
            stays
        });
    }

    /// A property is gone: nothing can last for its states.
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

/// Commands of reactions during which the program stands, one after the
/// other, each with the rest of its reaction.
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

/// The program stops for the person: what waits is not done, and that is
/// said.
pub(super) fn give_up_waiting(session: &mut Session, observer: &mut dyn Observer) {
    let (kept, given_up) = std::mem::take(&mut session.scenarios.waiting)
        .into_iter()
        .partition(|it| it.is_under_way);
    session.scenarios.waiting = kept;
    for waiting in given_up {
        let name = effects::scenario_name(session, waiting.reacting.scenario);
        let line = &waiting.line.text;
        observer.notice(&format!(
            "scenario {name}: `{line}` is not done, since the program stops"
        ));
    }
}

/// Commands of reactions that take the place of the one that a person gave,
/// now that this one is over.
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
    if !matches!(moved, Ok(Outcome::Quit)) {
        give_up_waiting(session, observer);
    }
    session.scenarios.waiting.clear();
    moved
}

/// Does what waits, until nothing does.
fn move_by_turns(
    session: &mut Session,
    mut afterwards: Afterwards,
    observer: &mut dyn Observer,
) -> Result<Afterwards, CommandError> {
    while let Some((scenario, line)) = session.scenarios.begin_waiting(false) {
        let name = effects::scenario_name(session, scenario);
        if let Afterwards::Show(outcome) = &afterwards {
            // What a reaction goes on from.
            observer.scenario_outcome(&name, &line, outcome);
        }
        session.control.state.finish();
        let done =
            permissions::for_scenario(session, |session| session.perform_line(&line, observer));
        let rest = session.scenarios.end_waiting();
        afterwards = match (done, rest) {
            (Ok(Outcome::Quit), _) => return Ok(Afterwards::Show(Outcome::Quit)),
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

/// A command of a reaction is over: its reaction goes on.
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

/// What a reaction wants to be seen; told without a place where the program is
/// gone, and then what there was to show is.
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

/// Whether a command has stopped where it was to, or tells something: its own
/// end, and no stop for the person.
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
