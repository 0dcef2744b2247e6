//! Executes the effects of reactions, with the commands of the prompt.

use crate::commands::catch::signals;
use crate::commands::{breakpoint, property, scenario, set_variable, watch};
use crate::run::checkpoints::losses;
use crate::run::scenarios::waiting::Timing;
use crate::run::scenarios::{permissions, waiting};
use crate::run::{catchpoints, points};
use crate::session::Session;
use crate::state::scenarios::performance::Effect;
use crate::state::scenarios::{Decision, Line, PointDoes, PointReaction};
use juror_fault::CommandError;
use juror_language::{PointWord, StateName, Trigger};
use juror_monitor::SliceId;
use juror_monitoring::listeners::Lasting;
use juror_monitoring::listening::States;
use juror_points::catchpoints::{Catch, Catchpoint};
use juror_points::point::{Fate, Point, PointOwner};
use juror_points::watchpoints::WatchKind;
use juror_view::observer::Observer;
use juror_view::{Outcome, ScenarioLine};
use std::ops::Range;

/// The result of an effect.
pub(super) enum Done {
    Nothing,
    /// The number of a created object.
    Number(u64),
    /// The command expands to these.
    StandsFor(Vec<String>),
    /// A command is deferred until after the reactions; the reaction continues then.
    Waits(Line),
}

/// Executes an effect of a reaction.
pub(super) fn do_effect(
    session: &mut Session,
    scenario: usize,
    effect: Effect,
    span: Range<usize>,
    about: Option<(usize, SliceId)>,
    decision: &mut Decision,
    observer: &mut dyn Observer,
) -> Result<Done, CommandError> {
    let name = scenario_name(session, scenario);
    match effect {
        Effect::Print(text) => report_line(session, name, "print", text, observer),
        Effect::Report(text) => report_line(session, name, "report", text, observer),
        Effect::Stop(message) => {
            if let Some(text) = &message {
                report_line(session, name.clone(), "stop", text.clone(), observer);
            }
            decision.stop = Some((name, message));
        }
        Effect::Continue => decision.continues = true,
        Effect::Backtrace(count) => {
            let line = match count {
                Some(count) => format!("backtrace {count}"),
                None => "backtrace".to_owned(),
            };
            run_for_scenario(session, &name, &line, observer)?;
        }
        Effect::Checkpoint => {
            return checkpoint_for_scenario(session, observer).map(Done::Number);
        }
        Effect::Restore(number) => {
            restore_for_scenario(session, number, observer)?;
            decision.is_restored = true;
        }
        Effect::Set(text) => {
            permissions::for_scenario(session, |session| set_variable::assign(session, &text))?;
        }
        Effect::Point {
            word,
            place,
            lasting,
            reaction,
        } => {
            let reacts = reaction.is_some();
            let number = set_point(session, scenario, word, &place, reacts, span)?;
            report_if_pending(session, number, &name, &place, observer);
            if let Some(block) = reaction {
                session.scenarios.points.push(PointReaction {
                    number,
                    scenario,
                    does: PointDoes::Block(Box::new(block)),
                });
            }
            let_last(session, number, &lasting, about)?;
            return Ok(Done::Number(u64::from(number)));
        }
        Effect::Remove(number) => {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            points::point(session, number)?;
            points::delete_points(session, &[number])?;
            session.scenarios.points.retain(|it| it.number != number);
        }
        Effect::Switch {
            property,
            is_enabled,
        } => {
            let word = if is_enabled { "enable" } else { "disable" };
            property::property_command(session, &format!("{word} {property}"), observer)?;
        }
        Effect::Command(line) => {
            if let Some(lines) = session.points.commands.lines_of(&line) {
                return Ok(Done::StandsFor(lines?));
            }
            permissions::check(&line, session.options.permissions)?;
            match waiting::timing(&line) {
                Timing::Now => {
                    let waited = session.points.commands.waiting();
                    run_for_scenario(session, &name, &line, observer)?;
                    return Ok(Done::StandsFor(
                        session.points.commands.take_script_but(waited)?,
                    ));
                }
                Timing::Restore => {
                    run_for_scenario(session, &name, &line, observer)?;
                    decision.is_restored = true;
                }
                Timing::InPlace => return Ok(Done::Waits(Line::in_place(line))),
                Timing::Moves => return Ok(Done::Waits(Line::moving(line))),
            }
        }
    }
    Ok(Done::Nothing)
}

pub(super) fn scenario_name(session: &Session, scenario: usize) -> String {
    let loaded = session.scenarios.list.get(scenario);
    loaded.map_or_else(String::new, |it| it.scenario.name.to_string())
}

fn report_line(
    _session: &Session,
    scenario: String,
    sort: &'static str,
    text: String,
    observer: &mut dyn Observer,
) {
    observer.scenario_line(&ScenarioLine {
        scenario,
        sort,
        text,
    });
}

/// Runs a command as if it had been typed, and shows its outcome.
pub(super) fn run_for_scenario(
    session: &mut Session,
    scenario: &str,
    line: &str,
    observer: &mut dyn Observer,
) -> Result<(), CommandError> {
    let outcome =
        permissions::for_scenario(session, |session| session.perform_line(line, observer))?;
    observer.scenario_outcome(scenario, line, &outcome);
    Ok(())
}

fn checkpoint_for_scenario(
    session: &mut Session,
    observer: &mut dyn Observer,
) -> Result<u64, CommandError> {
    match session.perform_line("checkpoint", observer)? {
        Outcome::Checkpoint(view) => {
            losses::report_losses_of_checkpoint(session, view.number, &view.losses, observer);
            Ok(u64::from(view.number))
        }
        _ => Err(CommandError::new("a checkpoint number is missing")),
    }
}

fn restore_for_scenario(
    session: &mut Session,
    number: u64,
    observer: &mut dyn Observer,
) -> Result<(), CommandError> {
    session.perform_line(&format!("restore {number}"), observer)?;
    losses::report_losses_of_restore(session, number, observer);
    Ok(())
}

/// Deletes the points that scenarios have set since a checkpoint (rule RESTORE).
pub(crate) fn forget_points_after(
    session: &mut Session,
    checkpoint: u32,
) -> Result<(), CommandError> {
    let known = session.scenarios.checkpoints.iter().rev();
    let Some(&(_, last)) = known.clone().find(|(number, _)| *number == checkpoint) else {
        return Ok(());
    };
    let newer = scenario::scenario_points(session);
    let newer: Vec<u32> = newer.into_iter().filter(|&it| it > last).collect();
    points::delete_points(session, &newer)?;
    session
        .scenarios
        .points
        .retain(|it| !newer.contains(&it.number));
    session
        .processes
        .monitors
        .subscriptions
        .lasting
        .retain(|it| !newer.contains(&it.point));
    Ok(())
}

fn set_point(
    session: &mut Session,
    scenario: usize,
    word: PointWord,
    place: &str,
    reacts: bool,
    span: Range<usize>,
) -> Result<u32, CommandError> {
    let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    session.points.owner = PointOwner::Scenario {
        number: narrow(scenario),
        reacts,
        start: narrow(span.start),
        end: narrow(span.end),
    };
    let set = permissions::for_scenario(session, |session| match word {
        PointWord::Break => breakpoint::set_breakpoint(session, place, Fate::Keep),
        PointWord::TemporaryBreak => breakpoint::set_breakpoint(session, place, Fate::Delete),
        PointWord::Watch => watch::set_watchpoint(session, place, WatchKind::Write),
        PointWord::Change => watch::set_watchpoint(session, place, WatchKind::Change),
        PointWord::ReadWatch => watch::set_watchpoint(session, place, WatchKind::Read),
        PointWord::AccessWatch => watch::set_watchpoint(session, place, WatchKind::Access),
    });
    session.points.owner = PointOwner::Developer;
    set.map(|_| session.points.breakpoints.last_number())
}

/// An unknown name may be misspelt.
fn report_if_pending(
    session: &mut Session,
    number: u32,
    scenario: &str,
    place: &str,
    observer: &mut dyn Observer,
) {
    let breakpoint = session.points.breakpoints.numbered(number);
    if breakpoint.is_some_and(|it| it.locations.bound().next().is_none()) {
        observer.notice(&format!(
            "scenario {scenario}: no loaded module has `{place}`; breakpoint {number} is pending"
        ));
    }
}

/// Makes a point last until the slice leaves these states.
fn let_last(
    session: &mut Session,
    point: u32,
    states: &[StateName],
    about: Option<(usize, SliceId)>,
) -> Result<(), CommandError> {
    let (false, Some((monitor, slice))) = (states.is_empty(), about) else {
        return Ok(());
    };
    // Each change of a state must be seen from now on.
    let process = &mut *session.processes;
    if let Some(program) = &mut process.program {
        process.monitors.leave_native(program)?;
    }
    let Some(monitored) = session.processes.monitors.shown().get(monitor) else {
        return Ok(());
    };
    let states = States::of(states, &monitored.property);
    let is_there = monitored
        .monitor
        .slice(slice)
        .is_some_and(|it| states.contains(it.state, it.verdict));
    if !is_there {
        points::delete_points(session, &[point])?;
        return Err(CommandError::with_help(
            "the slice is in none of the states of `while`",
            "`while` names states that the slice is in when the point is set",
        ));
    }
    session
        .processes
        .monitors
        .subscriptions
        .lasting
        .push(Lasting {
            point,
            monitor,
            slice,
            states,
        });
    Ok(())
}

/// Sets catchpoints for the signals that a scenario reacts to.
pub(super) fn await_signals(session: &mut Session, scenario: usize) -> Result<(), CommandError> {
    let wanted = session
        .scenarios
        .waiting_for(|it| matches!(it, Trigger::Signal(_)));
    for (_, reaction) in wanted.into_iter().filter(|(number, _)| *number == scenario) {
        let Some(loaded) = session.scenarios.list.get(scenario) else {
            continue;
        };
        let trigger = loaded
            .scenario
            .reactions
            .get(reaction)
            .map(|it| &it.trigger);
        let Some(Trigger::Signal(name)) = trigger else {
            continue;
        };
        let numbers = signals(name.as_deref().unwrap_or(""))?;
        let text = match name {
            Some(name) => format!("signal {name}"),
            None => "signal".to_owned(),
        };
        let number = session.points.breakpoints.take_number();
        let owner = PointOwner::Scenario {
            number: u32::try_from(scenario).unwrap_or(u32::MAX),
            reacts: true,
            start: 0,
            end: 0,
        };
        session.points.catchpoints.add(Catchpoint {
            point: Point {
                owner,
                ..Point::new(number, None, Fate::Keep)
            },
            text,
            catch: Catch::Signals(numbers),
            types: None,
            addresses: Vec::new(),
        });
        session.scenarios.points.push(PointReaction {
            number,
            scenario,
            does: PointDoes::Signal(reaction),
        });
        if let Some(loaded) = session.scenarios.list.get_mut(scenario) {
            loaded.signal_points.push(number);
        }
    }
    catchpoints::renew_catchpoints(session);
    Ok(())
}
