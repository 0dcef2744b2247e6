//! What a reaction wants done, done: by the commands of the prompt.

use crate::commands::catch::signals;
use crate::commands::{breakpoint, property, set_variable, watch};
use crate::run::scenarios::waiting::Timing;
use crate::run::scenarios::{permissions, waiting};
use crate::run::{catchpoints, points};
use crate::session::Session;
use crate::state::scenarios::performance::Effect;
use crate::state::scenarios::{Decision, Line, PointDoes, PointReaction};
use juror_language::{PointWord, StateName, Trigger};
use juror_monitor::SliceId;
use juror_monitoring::listeners::Lasting;
use juror_monitoring::listening::States;
use juror_points::catchpoints::{Catch, Catchpoint};
use juror_points::point::{Fate, Point, PointOwner};
use juror_points::watchpoints::WatchKind;
use juror_view::error::CommandError;
use juror_view::observer::Observer;
use juror_view::{Outcome, ScenarioLine};
use std::ops::Range;

/// What has been done for a reaction.
pub(super) enum Done {
    Nothing,
    /// Something was made that has this number.
    Number(u64),
    /// The command is these.
    StandsFor(Vec<String>),
    /// A command is done when the reactions are; the reaction goes on then.
    Waits(Line),
}

impl Session {
    /// Does what a reaction of a scenario wants.
    pub(super) fn do_effect(
        &mut self,
        scenario: usize,
        effect: Effect,
        span: Range<usize>,
        about: Option<(usize, SliceId)>,
        decision: &mut Decision,
        observer: &mut dyn Observer,
    ) -> Result<Done, CommandError> {
        let name = self.scenario_name(scenario);
        match effect {
            Effect::Print(text) => self.tell_line(name, "print", text, observer),
            Effect::Report(text) => self.tell_line(name, "report", text, observer),
            Effect::Stop(message) => {
                if let Some(text) = &message {
                    self.tell_line(name.clone(), "stop", text.clone(), observer);
                }
                decision.stop = Some((name, message));
            }
            Effect::Continue => decision.continues = true,
            Effect::Backtrace(count) => {
                let line = match count {
                    Some(count) => format!("backtrace {count}"),
                    None => "backtrace".to_owned(),
                };
                self.run_for_scenario(&name, &line, observer)?;
            }
            Effect::Checkpoint => {
                return self.checkpoint_for_scenario(observer).map(Done::Number);
            }
            Effect::Restore(number) => {
                self.restore_for_scenario(number, observer)?;
                decision.is_restored = true;
            }
            Effect::Set(text) => {
                set_variable::assign(self, &text)?;
            }
            Effect::Point {
                word,
                place,
                lasting,
                reaction,
            } => {
                let reacts = reaction.is_some();
                let number = self.set_point(scenario, word, &place, reacts, span)?;
                self.tell_if_it_waits(number, &name, &place, observer);
                if let Some(block) = reaction {
                    self.scenarios.points.push(PointReaction {
                        number,
                        scenario,
                        does: PointDoes::Block(Box::new(block)),
                    });
                }
                self.let_last(number, &lasting, about)?;
                return Ok(Done::Number(u64::from(number)));
            }
            Effect::Remove(number) => {
                let number = u32::try_from(number).unwrap_or(u32::MAX);
                points::point(self, number)?;
                points::delete_points(self, &[number])?;
                self.scenarios.points.retain(|it| it.number != number);
            }
            Effect::Switch {
                property,
                is_enabled,
            } => {
                let word = if is_enabled { "enable" } else { "disable" };
                property::property_command(self, &format!("{word} {property}"), observer)?;
            }
            Effect::Command(line) => {
                if let Some(lines) = self.points.commands.group(&line) {
                    return Ok(Done::StandsFor(lines.to_vec()));
                }
                permissions::check(&line, self.options.permissions)?;
                match waiting::timing(&line) {
                    Timing::Now => {
                        let waited = self.points.commands.waiting();
                        self.run_for_scenario(&name, &line, observer)?;
                        return Ok(Done::StandsFor(
                            self.points.commands.take_script_but(waited),
                        ));
                    }
                    Timing::Restore => {
                        self.run_for_scenario(&name, &line, observer)?;
                        decision.is_restored = true;
                    }
                    Timing::InPlace => return Ok(Done::Waits(Line::in_place(line))),
                    Timing::Moves => return Ok(Done::Waits(Line::moving(line))),
                }
            }
        }
        Ok(Done::Nothing)
    }

    pub(super) fn scenario_name(&self, scenario: usize) -> String {
        let loaded = self.scenarios.list.get(scenario);
        loaded.map_or_else(String::new, |it| it.scenario.name.to_string())
    }

    fn tell_line(
        &self,
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

    /// Runs a command as if it had been typed, and shows what it gives.
    pub(super) fn run_for_scenario(
        &mut self,
        scenario: &str,
        line: &str,
        observer: &mut dyn Observer,
    ) -> Result<(), CommandError> {
        let outcome = self.for_scenario(|session| session.perform_line(line, observer))?;
        observer.scenario_outcome(scenario, line, &outcome);
        Ok(())
    }

    fn checkpoint_for_scenario(
        &mut self,
        observer: &mut dyn Observer,
    ) -> Result<u64, CommandError> {
        match self.perform_line("checkpoint", observer)? {
            Outcome::Checkpoint(view) => {
                self.tell_losses_of_checkpoint(view.number, &view.losses, observer);
                Ok(u64::from(view.number))
            }
            _ => Err(CommandError::new("the checkpoint has no number")),
        }
    }

    fn restore_for_scenario(
        &mut self,
        number: u64,
        observer: &mut dyn Observer,
    ) -> Result<(), CommandError> {
        self.perform_line(&format!("restore {number}"), observer)?;
        self.tell_losses_of_restore(number, observer);
        Ok(())
    }

    /// Points that scenarios have set since a checkpoint are gone with what
    /// they were set for (rule RESTORE).
    pub(crate) fn forget_points_after(&mut self, checkpoint: u32) -> Result<(), CommandError> {
        let known = self.scenarios.checkpoints.iter().rev();
        let Some(&(_, last)) = known.clone().find(|(number, _)| *number == checkpoint) else {
            return Ok(());
        };
        let newer = self.scenario_points();
        let newer: Vec<u32> = newer.into_iter().filter(|&it| it > last).collect();
        points::delete_points(self, &newer)?;
        self.scenarios
            .points
            .retain(|it| !newer.contains(&it.number));
        self.processes
            .monitors
            .told
            .lasting
            .retain(|it| !newer.contains(&it.point));
        Ok(())
    }

    fn set_point(
        &mut self,
        scenario: usize,
        word: PointWord,
        place: &str,
        reacts: bool,
        span: Range<usize>,
    ) -> Result<u32, CommandError> {
        let narrow = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        self.points.owner = PointOwner::Scenario {
            number: narrow(scenario),
            reacts,
            start: narrow(span.start),
            end: narrow(span.end),
        };
        let set = self.for_scenario(|session| match word {
            PointWord::Break => breakpoint::set_breakpoint(session, place, Fate::Keep),
            PointWord::TemporaryBreak => breakpoint::set_breakpoint(session, place, Fate::Delete),
            PointWord::Watch => watch::set_watchpoint(session, place, WatchKind::Write),
            PointWord::Change => watch::set_watchpoint(session, place, WatchKind::Change),
            PointWord::ReadWatch => watch::set_watchpoint(session, place, WatchKind::Read),
            PointWord::AccessWatch => watch::set_watchpoint(session, place, WatchKind::Access),
        });
        self.points.owner = PointOwner::Developer;
        set.map(|_| self.points.breakpoints.last_number())
    }

    /// A name that nothing has yet may be misspelt.
    fn tell_if_it_waits(
        &mut self,
        number: u32,
        scenario: &str,
        place: &str,
        observer: &mut dyn Observer,
    ) {
        let breakpoint = self.points.breakpoints.numbered(number);
        if breakpoint.is_some_and(|it| it.locations.bound().next().is_none()) {
            observer.notice(&format!(
                "scenario {scenario}: no loaded module has `{place}`; breakpoint {number} waits \
                 for one that does"
            ));
        }
    }

    /// The point goes when the slice leaves these states.
    fn let_last(
        &mut self,
        point: u32,
        states: &[StateName],
        about: Option<(usize, SliceId)>,
    ) -> Result<(), CommandError> {
        let (false, Some((monitor, slice))) = (states.is_empty(), about) else {
            return Ok(());
        };
        let Some(watched) = self.processes.monitors.shown().get(monitor) else {
            return Ok(());
        };
        let states = States::of(states, &watched.property);
        let is_there = watched
            .monitor
            .slice(slice)
            .is_some_and(|it| states.contains(it.state, it.verdict));
        if !is_there {
            points::delete_points(self, &[point])?;
            return Err(CommandError::with_help(
                "the slice is in none of the states for which this should last",
                "`while` names states in which it is when the point is set",
            ));
        }
        self.processes.monitors.told.lasting.push(Lasting {
            point,
            monitor,
            slice,
            states,
        });
        Ok(())
    }

    /// Catches the signals that a scenario reacts to.
    pub(super) fn await_signals(&mut self, scenario: usize) -> Result<(), CommandError> {
        let wanted = self
            .scenarios
            .waiting_for(|it| matches!(it, Trigger::Signal(_)));
        for (_, reaction) in wanted.into_iter().filter(|(number, _)| *number == scenario) {
            let Some(loaded) = self.scenarios.list.get(scenario) else {
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
            let number = self.points.breakpoints.take_number();
            let owner = PointOwner::Scenario {
                number: u32::try_from(scenario).unwrap_or(u32::MAX),
                reacts: true,
                start: 0,
                end: 0,
            };
            self.points.catchpoints.add(Catchpoint {
                point: Point {
                    owner,
                    ..Point::new(number, None, Fate::Keep)
                },
                text,
                catch: Catch::Signals(numbers),
                addresses: Vec::new(),
            });
            self.scenarios.points.push(PointReaction {
                number,
                scenario,
                does: PointDoes::Signal(reaction),
            });
            if let Some(loaded) = self.scenarios.list.get_mut(scenario) {
                loaded.signal_points.push(number);
            }
        }
        catchpoints::renew_catchpoints(self);
        Ok(())
    }
}
