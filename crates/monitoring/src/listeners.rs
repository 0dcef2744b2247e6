//! Waiting scenarios: the queue that steps of monitors and hits of points fill for them.

use crate::listening::{Listener, ReactionId, States};
use crate::monitors::MonitoredProperty;
use crate::report;
use juror_event::{EventId, Value};
use juror_language::ContextValue;
use juror_monitor::{Change, SliceId};

/// Something that a scenario waits for has happened.
#[derive(Debug, Clone)]
pub enum QueuedTrigger {
    /// A slice took a step.
    Step {
        /// The reaction.
        id: ReactionId,
        /// The position of the monitor.
        monitor: usize,
        /// The slice.
        slice: SliceId,
        /// The context values of the step.
        context_values: ContextValues,
    },
    /// A point of a scenario was hit.
    Point {
        /// The number of the point.
        number: u32,
        /// The context values of the hit.
        context_values: ContextValues,
    },
    /// The state for which a point was set has been left.
    Left {
        /// The number of the point.
        point: u32,
    },
    /// An event that is not a step of a monitor.
    Other {
        /// The position of the scenario.
        scenario: usize,
        /// The position of the reaction in it.
        reaction: usize,
        /// The context values.
        context_values: ContextValues,
    },
}

/// A point that stays while a slice is in some states.
#[derive(Debug, Clone)]
pub struct Lasting {
    /// The number of the point.
    pub point: u32,
    /// The position of the monitor.
    pub monitor: usize,
    /// The slice.
    pub slice: SliceId,
    /// The states for which the point is set.
    pub states: States,
}

/// The reactions and points of scenarios that depend on monitors.
#[derive(Debug, Default, Clone)]
pub struct Subscriptions {
    /// The listeners of each monitor; empty if no scenario listens.
    pub listeners: Vec<Vec<Listener>>,
    /// The points that stay while a slice is in some states.
    pub lasting: Vec<Lasting>,
}

/// The step that a monitor has just taken.
pub struct Taken<'a> {
    /// The position of the monitor.
    pub monitor: usize,
    /// The event.
    pub event: EventId,
    /// The thread that it happened in.
    pub thread: u32,
    /// The values that were captured.
    pub values: &'a [Value],
}

impl Subscriptions {
    /// Returns a copy for a forked process; lasting points remain those of the parent.
    pub fn forked(&self) -> Subscriptions {
        Subscriptions {
            listeners: self.listeners.clone(),
            lasting: Vec::new(),
        }
    }

    /// Returns whether no reaction waits for any monitor.
    #[inline]
    pub fn is_silent(&self) -> bool {
        self.listeners.is_empty() && self.lasting.is_empty()
    }

    /// Queues the reactions to the step that a monitor has just taken.
    #[cold]
    pub fn notify(
        &mut self,
        monitored: &MonitoredProperty,
        taken: &Taken<'_>,
        queued: &mut Vec<QueuedTrigger>,
    ) {
        for change in monitored.monitor.changes() {
            self.notify_of_end(change, taken, queued);
            let listeners = self.listeners.get(taken.monitor).map_or(&[][..], |it| it);
            for listener in listeners {
                if listener.matches(change, taken.event) {
                    queued.push(QueuedTrigger::Step {
                        id: listener.id,
                        monitor: taken.monitor,
                        slice: change.slice,
                        context_values: context_values(monitored, change, taken),
                    });
                }
            }
        }
    }

    pub(crate) fn notify_of_end(
        &mut self,
        change: &Change,
        taken: &Taken<'_>,
        queued: &mut Vec<QueuedTrigger>,
    ) {
        let is_over = |it: &Lasting| {
            (it.monitor, it.slice) == (taken.monitor, change.slice)
                && !it.states.contains(change.to, change.verdict_after)
        };
        self.lasting.retain(|it| {
            let over = is_over(it);
            if over {
                queued.push(QueuedTrigger::Left { point: it.point });
            }
            !over
        });
    }

    /// Removes a property. Returns the points that lasted for its states.
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

/// Returns the context values of a step.
pub(crate) fn context_values(
    monitored: &MonitoredProperty,
    change: &Change,
    taken: &Taken<'_>,
) -> ContextValues {
    let property = &monitored.property;
    let monitor = &monitored.monitor;
    let mut context_values = ContextValues::default();
    context_values.note_text(ContextValue::Property, &property.name);
    if let Some(event) = property.event(taken.event) {
        context_values.note_text(ContextValue::Event, &event.name);
    }
    context_values.note_text(ContextValue::OldState, &monitor.state_name(change.from));
    context_values.note_text(ContextValue::NewState, &monitor.state_name(change.to));
    context_values.note_text(ContextValue::Verdict, &change.verdict_after.to_string());
    context_values.note(ContextValue::Thread, Value::Int(i128::from(taken.thread)));
    let slice = monitor.slice(change.slice);
    let bound = report::bound_of(monitored, change, taken.event, taken.values);
    for bound in report::binding(property, &bound) {
        context_values.note(ContextValue::Parameter(bound.name.into()), bound.value);
    }
    let values = slice.as_ref().map_or(&[][..], |slice| slice.environment);
    for (variable, value) in property.variables.iter().zip(values) {
        context_values.note(ContextValue::Variable(variable.name.clone()), value.clone());
    }
    context_values
}

/// The context values of an event.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ContextValues(pub(crate) Vec<(ContextValue, Value)>);

impl ContextValues {
    /// Adds a context value.
    pub fn note(&mut self, key: ContextValue, value: Value) {
        self.0.push((key, value));
    }

    /// Adds a context value that is a string.
    pub fn note_text(&mut self, key: ContextValue, text: &str) {
        self.note(key, Value::String(text.into()));
    }

    /// Returns only the parameters of the slice.
    pub fn parameters(&self) -> ContextValues {
        let known = self.0.iter();
        let parameters = known.filter(|(key, _)| matches!(key, ContextValue::Parameter(_)));
        ContextValues(parameters.cloned().collect())
    }

    /// Adds other context values.
    pub fn extend(&mut self, other: &ContextValues) {
        self.0.extend_from_slice(&other.0);
    }

    /// Returns a context value, if it is set.
    pub fn get(&self, wanted: &ContextValue) -> Option<&Value> {
        let found = self.0.iter().find(|(key, _)| key == wanted);
        found.map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::property_files::PropertySource;
    use crate::samples::{TWICE, id_of, monitored, take};
    use juror_language::StateName;

    /// Returns the listeners of `on enter second` and `on enter wrong`, and a point of the state
    /// `second` of a slice.
    fn subscriptions(monitored: &MonitoredProperty, slice: SliceId) -> Subscriptions {
        let text = format!(
            "{TWICE}\nscenario s\non enter second {{ print 1 }}\non enter wrong {{ print 2 }}"
        );
        let loaded = PropertySource::new("p.prop", text).load_among(&[]);
        let scenarios = loaded.scenarios.iter().map(|it| (true, it));
        let listeners = crate::listening::listeners(scenarios, &monitored.property);
        let second = [StateName::Named("second".into())];
        Subscriptions {
            listeners: vec![listeners],
            lasting: vec![Lasting {
                point: 7,
                monitor: 0,
                slice,
                states: States::of(&second, &monitored.property),
            }],
        }
    }

    /// Takes an event, and returns what it queues, in words.
    fn queued(
        subscriptions: &mut Subscriptions,
        monitored: &mut MonitoredProperty,
        (name, value): (&str, i128),
    ) -> Vec<String> {
        take(monitored, name, &[value], 0);
        let taken = Taken {
            monitor: 0,
            event: id_of(monitored, name),
            thread: 3,
            values: &[Value::Int(value)],
        };
        let mut queued = Vec::new();
        subscriptions.notify(monitored, &taken, &mut queued);
        let words = |it: &QueuedTrigger| match it {
            QueuedTrigger::Step { id, .. } => format!("reaction {}", id.reaction),
            QueuedTrigger::Left { point } => format!("left {point}"),
            other => format!("{other:?}"),
        };
        queued.iter().map(words).collect()
    }

    /// Returns a property whose slice 1 is in `second`, and that slice.
    fn entered() -> (MonitoredProperty, SliceId) {
        let mut monitored = monitored(TWICE);
        take(&mut monitored, "a", &[1], 0);
        let slice = monitored.monitor.changes()[0].slice;
        (monitored, slice)
    }

    #[test]
    fn a_step_queues_the_reactions_that_it_triggers() {
        let (mut monitored, slice) = entered();
        let mut subscriptions = subscriptions(&monitored, slice);
        subscriptions.lasting.clear();
        assert_eq!(
            queued(&mut subscriptions, &mut monitored, ("a", 2)),
            ["reaction 0"]
        );
        assert_eq!(
            queued(&mut subscriptions, &mut monitored, ("b", 2)),
            [""; 0]
        );
        assert_eq!(
            queued(&mut subscriptions, &mut monitored, ("a", 1)),
            ["reaction 1"]
        );
    }

    #[test]
    fn a_point_is_gone_once_its_slice_has_left_its_states() {
        let (mut monitored, slice) = entered();
        let mut subscriptions = subscriptions(&monitored, slice);
        subscriptions.listeners.clear();
        // Another slice does not matter.
        assert_eq!(
            queued(&mut subscriptions, &mut monitored, ("a", 2)),
            [""; 0]
        );
        assert_eq!(
            queued(&mut subscriptions, &mut monitored, ("b", 2)),
            [""; 0]
        );
        assert!(!subscriptions.is_silent());
        assert_eq!(
            queued(&mut subscriptions, &mut monitored, ("b", 1)),
            ["left 7"]
        );
        assert!(subscriptions.is_silent());
        assert_eq!(
            queued(&mut subscriptions, &mut monitored, ("a", 1)),
            [""; 0]
        );
    }

    #[test]
    fn a_removed_property_takes_its_points_and_the_others_move_up() {
        let (monitored, slice) = entered();
        let mut subscriptions = subscriptions(&monitored, slice);
        let known = subscriptions.lasting[0].clone();
        let of = |point, monitor| Lasting {
            point,
            monitor,
            ..known.clone()
        };
        subscriptions.lasting = vec![of(1, 0), of(2, 1), of(3, 2), of(4, 1)];
        assert_eq!(subscriptions.forget_monitor(1), [2, 4]);
        let left = subscriptions.lasting.iter();
        let left: Vec<(u32, usize)> = left.map(|it| (it.point, it.monitor)).collect();
        assert_eq!(left, [(1, 0), (3, 1)]);
    }

    #[test]
    fn a_forked_process_has_the_reactions_without_the_points() {
        let (monitored, slice) = entered();
        let forked = subscriptions(&monitored, slice).forked();
        assert_eq!(forked.listeners[0].len(), 2);
        assert!(forked.lasting.is_empty());
    }

    #[test]
    fn a_step_has_its_names_states_and_parameters() {
        let counted = TWICE.replace(
            "property p slice on n",
            "property p slice on n\nvar seen = 7",
        );
        let mut monitored =
            monitored(&counted.replace("on a -> wrong", "on a { seen = 8 } -> wrong"));
        take(&mut monitored, "a", &[5], 0);
        take(&mut monitored, "a", &[5], 0);
        let taken = Taken {
            monitor: 0,
            event: id_of(&monitored, "a"),
            thread: 3,
            values: &[Value::Int(5)],
        };
        let change = &monitored.monitor.changes()[0];
        let values = context_values(&monitored, change, &taken);
        let text = |text: &str| Value::String(text.into());
        for (key, expected) in [
            (ContextValue::Property, text("p")),
            (ContextValue::Event, text("a")),
            (ContextValue::OldState, text("second")),
            (ContextValue::NewState, text("wrong")),
            (ContextValue::Verdict, text("violated")),
            (ContextValue::Thread, Value::Int(3)),
            (ContextValue::Parameter("n".into()), Value::Int(5)),
            (ContextValue::Variable("seen".into()), Value::Int(8)),
        ] {
            assert_eq!(values.get(&key), Some(&expected), "{key:?}");
        }
        let parameters = values.parameters();
        assert_eq!(
            parameters.0,
            [(ContextValue::Parameter("n".into()), Value::Int(5))]
        );
    }
}
