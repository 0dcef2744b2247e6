//! TODO header.

use crate::monitoring::listening::{Listener, ReactionId, States};
use crate::monitoring::monitors::Watched;
use crate::monitoring::report;
use juror_event::{EventId, Value};
use juror_language::Fact;
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

    pub(crate) fn tell_of_end(
        &mut self,
        change: &Change,
        taken: &Taken<'_>,
        heard: &mut Vec<Heard>,
    ) {
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
pub(crate) fn facts(watched: &Watched, change: &Change, taken: &Taken<'_>) -> Facts {
    let property = &watched.property;
    let monitor = &watched.monitor;
    let mut facts = Facts::default();
    facts.note_text(Fact::Property, &property.name);
    if let Some(event) = property.event(taken.event) {
        facts.note_text(Fact::Event, &event.name);
    }
    facts.note_text(Fact::OldState, &monitor.state_name(change.from));
    facts.note_text(Fact::NewState, &monitor.state_name(change.to));
    facts.note_text(Fact::Verdict, &change.verdict_after.to_string());
    facts.note(Fact::Thread, Value::Int(i128::from(taken.thread)));
    let slice = monitor.slice(change.slice);
    let bound = report::bound_of(watched, change, taken.event, taken.values);
    for bound in report::binding(property, &bound) {
        facts.note(Fact::Parameter(bound.name.into()), bound.value);
    }
    let values = slice.as_ref().map_or(&[][..], |slice| slice.environment);
    for (variable, value) in property.variables.iter().zip(values) {
        facts.note(Fact::Variable(variable.name.clone()), value.clone());
    }
    facts
}

/// What is known about what has happened.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts(pub(crate) Vec<(Fact, Value)>);

impl Facts {
    /// Notes something.
    pub fn note(&mut self, fact: Fact, value: Value) {
        self.0.push((fact, value));
    }

    /// Notes something in words.
    pub fn note_text(&mut self, fact: Fact, text: &str) {
        self.note(fact, Value::Text(text.into()));
    }

    /// The parameters of the slice alone.
    pub fn parameters(&self) -> Facts {
        let known = self.0.iter();
        let parameters = known.filter(|(fact, _)| matches!(fact, Fact::Parameter(_)));
        Facts(parameters.cloned().collect())
    }

    /// Adds what else is known.
    pub fn extend(&mut self, other: &Facts) {
        self.0.extend_from_slice(&other.0);
    }

    /// What is known of it.
    pub fn get(&self, wanted: &Fact) -> Option<&Value> {
        let found = self.0.iter().find(|(fact, _)| fact == wanted);
        found.map(|(_, value)| value)
    }
}
