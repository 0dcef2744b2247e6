//! What monitors and points tell scenarios.

use super::listening::{Listener, ReactionId, States};
use super::performance::Facts;
use crate::options::CommandError;
use crate::points::Stopping;
use crate::report;
use crate::session::Session;
use crate::view::WatchedAccess;
use crate::watch::Watched;
use juror_debuggee::ThreadId;
use juror_event::{EventId, Value};
use juror_language::ContextValue;
use juror_monitor::{Change, SliceId};

/// Something that a scenario waits for has happened.
#[derive(Debug, Clone)]
pub(crate) enum Heard {
    /// A slice took a step.
    Step {
        id: ReactionId,
        monitor: usize,
        slice: SliceId,
        facts: Facts,
    },
    /// A point of a scenario was hit.
    Point { number: u32, facts: Facts },
    /// The state is over for which a point was set.
    Left { point: u32 },
    /// Something that is no step of a monitor: the positions of the scenario
    /// and the reaction.
    Other {
        scenario: usize,
        reaction: usize,
        facts: Facts,
    },
}

/// A point that stays while a slice is in some states.
#[derive(Debug, Clone)]
pub(crate) struct Lasting {
    pub point: u32,
    pub monitor: usize,
    pub slice: SliceId,
    pub states: States,
}

/// What monitors tell scenarios.
#[derive(Debug, Default, Clone)]
pub(crate) struct Told {
    /// By monitor; none at all where no scenario listens.
    pub listeners: Vec<Vec<Listener>>,
    pub lasting: Vec<Lasting>,
}

/// The step that a monitor has just taken.
pub(crate) struct Taken<'a> {
    pub monitor: usize,
    pub event: EventId,
    pub thread: u32,
    pub values: &'a [Value],
}

impl Told {
    /// The same for a forked copy of the process: the points that last are its
    /// parent's.
    pub fn forked(&self) -> Told {
        Told {
            listeners: self.listeners.clone(),
            lasting: Vec::new(),
        }
    }

    /// Nobody wants to be told.
    #[inline]
    pub fn is_silent(&self) -> bool {
        self.listeners.is_empty() && self.lasting.is_empty()
    }

    /// Tells of the step that a monitor has just taken.
    #[cold]
    pub fn tell(&mut self, watched: &Watched, taken: &Taken<'_>, heard: &mut Vec<Heard>) {
        for change in watched.monitor.changes() {
            self.tell_of_end(change, taken, heard);
            let listeners = self.listeners.get(taken.monitor).map_or(&[][..], |it| it);
            for listener in listeners {
                if listener.hears(change, taken.event) {
                    heard.push(Heard::Step {
                        id: listener.id,
                        monitor: taken.monitor,
                        slice: change.slice,
                        facts: facts(watched, change, taken),
                    });
                }
            }
        }
    }

    fn tell_of_end(&mut self, change: &Change, taken: &Taken<'_>, heard: &mut Vec<Heard>) {
        let is_over = |it: &Lasting| {
            (it.monitor, it.slice) == (taken.monitor, change.slice)
                && !it.states.contains(change.to, change.verdict_after)
        };
        self.lasting.retain(|it| {
            let over = is_over(it);
            if over {
                heard.push(Heard::Left { point: it.point });
            }
            !over
        });
    }

    /// A property is gone: what lasted for its states does so no more. Gives
    /// the points.
    pub fn forget_monitor(&mut self, monitor: usize) -> Vec<u32> {
        let mut gone = Vec::new();
        self.lasting.retain_mut(|it| {
            if it.monitor == monitor {
                gone.push(it.point);
                return false;
            }
            it.monitor -= usize::from(it.monitor > monitor);
            true
        });
        gone
    }
}

/// What is known about a step.
fn facts(watched: &Watched, change: &Change, taken: &Taken<'_>) -> Facts {
    let property = &watched.property;
    let monitor = &watched.monitor;
    let mut facts = Facts::default();
    facts.note_text(ContextValue::Property, &property.name);
    if let Some(event) = property.event(taken.event) {
        facts.note_text(ContextValue::Event, &event.name);
    }
    facts.note_text(ContextValue::OldState, &monitor.state_name(change.from));
    facts.note_text(ContextValue::NewState, &monitor.state_name(change.to));
    facts.note_text(ContextValue::Verdict, &change.verdict_after.to_string());
    facts.note(ContextValue::Thread, Value::Int(i128::from(taken.thread)));
    let slice = monitor.slice(change.slice);
    let bound = report::bound_of(watched, change, taken.event, taken.values);
    for bound in report::binding(property, &bound) {
        facts.note(ContextValue::Parameter(bound.name.into()), bound.value);
    }
    let values = slice.as_ref().map_or(&[][..], |slice| slice.environment);
    for (variable, value) in property.variables.iter().zip(values) {
        facts.note(ContextValue::Variable(variable.name.clone()), value.clone());
    }
    facts
}

impl Session {
    /// What is left of a stop when scenarios have heard of their own points;
    /// the accesses that only they hear of are taken out.
    pub(crate) fn divert(
        &mut self,
        thread: ThreadId,
        stopping: Option<Stopping>,
        accesses: &mut Vec<WatchedAccess>,
    ) -> Result<Option<Stopping>, CommandError> {
        self.divert_with(Facts::default(), thread, stopping, accesses)
    }

    /// The same, where more is known than which point it was, and in which thread.
    pub(crate) fn divert_with(
        &mut self,
        known: Facts,
        thread: ThreadId,
        stopping: Option<Stopping>,
        accesses: &mut Vec<WatchedAccess>,
    ) -> Result<Option<Stopping>, CommandError> {
        let Some(mut stopping) = stopping else {
            return Ok(None);
        };
        if stopping.heard.is_empty() && !stopping.numbers.is_empty() {
            return Ok(Some(stopping));
        }
        for number in std::mem::take(&mut stopping.heard) {
            let mut facts = known.clone();
            facts.note(ContextValue::Point, Value::Int(i128::from(number)));
            facts.note(ContextValue::Thread, self.thread_value(thread));
            if let Some(access) = accesses.iter().find(|it| it.number == number) {
                let before = access.before.as_ref().unwrap_or(&access.value);
                facts.note_text(ContextValue::OldValue, before);
                facts.note_text(ContextValue::NewValue, &access.value);
                if !self.scenarios.is_performing {
                    self.scenarios.accessed = Some((thread, access.place.clone()));
                }
            }
            accesses.retain(|it| it.number != number);
            if !self.scenarios.is_performing {
                self.scenarios
                    .heard
                    .push_back(Heard::Point { number, facts });
            }
        }
        if !stopping.numbers.is_empty() {
            return Ok(Some(stopping));
        }
        // Those that are used up go; there is no stop.
        self.finish_stopping(&stopping)?;
        Ok(None)
    }
}
