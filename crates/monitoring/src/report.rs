//! Views of monitors: paths, violations, state changes, summaries, and the errors of a property in
//! this program.

mod inlined;
#[cfg(test)]
mod tests;

use crate::monitors::{EventOutcome, MonitoredProperty, Monitors, ViolatedSlice};
use crate::violation_counts;
use juror_event::{EventId, Reach, Read, SymbolicEvent, Value};
use juror_instrument::probes::{BindError, CallDoubt};
use juror_language::{Diagnostic, EvaluationError, Property};
use juror_monitor::{Change, Monitor, PathEvent, SliceId};
use juror_view::location::{Places, event_location, event_words};
use juror_view::{
    DeadlineView, Location, MonitorView, NamedValue, PathStep, SliceView, StateChange, StopReason,
    StoredValue, ViolationView,
};
use std::sync::Arc;

/// The limit of shown slices of one monitor.
const SLICES_MAX: usize = 100;
/// The limit of reports at one stop; further ones say the same.
pub(crate) const VIOLATIONS_MAX: usize = 10;

/// Takes the stored value of an access out of the values that the property did not ask for.
fn stored(
    event: Option<&SymbolicEvent>,
    captured: &[Value],
    values: &mut Vec<NamedValue>,
) -> Option<StoredValue> {
    let event = event.filter(|event| event.kind.is_about_memory())?;
    let slot = |wanted: &Read| event.captures.iter().position(|it| it.read == *wanted);
    let value = |wanted| {
        let value = captured.get(slot(&wanted)?)?.clone();
        (!matches!(value, Value::Unavailable(_))).then_some(value)
    };
    let after = value(Read::Value)?;
    let before = value(Read::Old);
    // Those that a guard reads say the same, too.
    let is_added = |name: &str| {
        let mut captures = event.captures.iter();
        captures.any(|it| {
            let is_plain = it.span == event.span || matches!(name, "value" | "old");
            *it.name == *name && is_plain && matches!(it.read, Read::Value | Read::Old)
        })
    };
    values.retain(|value| !is_added(&value.name));
    Some(StoredValue { before, after })
}

/// Adds a value. Of two with one name, which a property has read in two ways, the text stays: the
/// other is the address of its characters.
fn with_each_name_once(mut values: Vec<NamedValue>, value: NamedValue) -> Vec<NamedValue> {
    match values.iter_mut().find(|known| known.name == value.name) {
        Some(known) if matches!(value.value, Value::String(_)) => *known = value,
        Some(_) => {}
        None => values.push(value),
    }
    values
}

/// Returns the bound parameters.
pub fn binding(property: &Property, binding: &[Option<Value>]) -> Vec<NamedValue> {
    property
        .slice
        .iter()
        .zip(binding)
        .filter_map(|(name, value)| {
            Some(NamedValue {
                name: name.to_string(),
                value: value.clone()?,
            })
        })
        .collect()
}

fn variables(property: &Property, environment: &[Value]) -> Vec<NamedValue> {
    let names = property.variables.iter();
    names
        .zip(environment)
        .map(|(variable, value)| NamedValue {
            name: variable.name.to_string(),
            value: value.clone(),
        })
        .collect()
}

fn path_step<P: Places>(
    monitor: &Monitor,
    bound: &[Option<Value>],
    event: &PathEvent,
    places: Option<&P>,
) -> PathStep {
    let property = monitor.property();
    let symbolic = property.event(event.event);
    let names = symbolic.map_or(&[][..], |symbolic| &symbolic.captures);
    // Values that were not captured in that state are omitted, and so are compared values, which
    // are shown already.
    let says_nothing = |read: &Read, value: &Value| match value {
        Value::Unavailable(juror_event::Unavailability::NotCaptured) => true,
        Value::Bool(_) => matches!(read, Read::Arithmetic(_)),
        _ => false,
    };
    let values = names.iter().zip(&event.values);
    let mut values: Vec<NamedValue> = values
        .filter(|(capture, value)| !says_nothing(&capture.read, value))
        .map(|(capture, value)| NamedValue {
            name: capture.name.to_string(),
            value: value.clone(),
        })
        .fold(Vec::new(), with_each_name_once);
    let stored = stored(symbolic, &event.values, &mut values);
    let [from, to] = monitor.step_sketch(bound, event);
    PathStep {
        sequence: event.sequence,
        stored,
        event: symbolic.map_or_else(String::new, |symbolic| symbolic.name.to_string()),
        what: symbolic.map_or_else(String::new, event_words),
        values,
        thread: event.thread,
        location: event_location(symbolic, places, event.address),
        from,
        to,
        repeated: event.repeated,
    }
}

/// An occurrence of an event, for [`state_change`].
#[derive(Debug, Clone, Copy)]
pub struct EventOccurrence<'a> {
    /// The event.
    pub event: EventId,
    /// The thread.
    pub thread: u32,
    /// The address; for a call, its return address.
    pub address: u64,
    /// The time, in nanoseconds since the start of the program.
    pub time: u64,
    /// The captured values.
    pub values: &'a [Value],
}

/// Returns the parameters of a slice that an event has just changed.
pub fn bound_of(
    monitored: &MonitoredProperty,
    change: &Change,
    event: EventId,
    values: &[Value],
) -> Vec<Option<Value>> {
    if let Some(slice) = monitored.monitor.slice(change.slice) {
        return slice.binding;
    }
    // A slice that has just ended is identified by the values of the event.
    let bound = monitored.property.bindings.get(usize::from(event.0));
    let bound = bound.map_or(&[][..], |bound| bound).iter();
    bound
        .map(|slot| values.get(usize::from((*slot)?)).cloned())
        .collect()
}

/// Returns the deadline that decided a slice, with the event that set it.
fn deadline_view<P: Places>(
    monitored: &MonitoredProperty,
    slice: SliceId,
    deadline: u64,
    places: Option<&P>,
) -> DeadlineView {
    let bound = monitored.monitor.slice(slice);
    let bound = bound.as_ref().map_or(&[][..], |slice| &slice.binding);
    let asked = monitored.monitor.asked(slice, deadline);
    DeadlineView {
        // The bound includes its end.
        time_ns: deadline.saturating_sub(1),
        asked_ns: asked.as_ref().map(|event| event.time),
        asked: asked.map(|event| path_step(&monitored.monitor, bound, &event, places)),
    }
}

/// Returns the step of a slice that time has decided.
fn time_step(deadline: &DeadlineView) -> PathStep {
    PathStep {
        sequence: 0,
        event: "deadline".to_owned(),
        what: "deadline".to_owned(),
        values: Vec::new(),
        stored: None,
        thread: deadline.asked.as_ref().map_or(0, |asked| asked.thread),
        location: Location::default(),
        from: String::new(),
        to: String::new(),
        repeated: 1,
    }
}

/// Returns the view of a slice's change by an event that has just happened.
pub fn state_change<P: Places>(
    monitored: &MonitoredProperty,
    change: &Change,
    happened: EventOccurrence<'_>,
    places: &P,
) -> StateChange {
    let property = &monitored.property;
    let bound = bound_of(monitored, change, happened.event, happened.values);
    let event = PathEvent {
        sequence: monitored.sequence(),
        event: happened.event,
        thread: happened.thread,
        address: happened.address,
        time: happened.time,
        values: happened.values.to_vec(),
        from: change.from,
        to: change.to,
        repeated: 1,
    };
    let mut step = path_step(&monitored.monitor, &bound, &event, Some(places));
    if let Some(deadline) = change.deadline {
        let [from, to] = [step.from, step.to];
        step = time_step(&deadline_view(
            monitored,
            change.slice,
            deadline,
            Some(places),
        ));
        (step.from, step.to) = (from, to);
        step.sequence = event.sequence;
    }
    StateChange {
        property: property.name.to_string(),
        slice: binding(property, &bound),
        process: None,
        step,
        verdict: change.verdict_after,
    }
}

/// Returns a slice with the path that led to its state. Without a program, places are bare
/// addresses.
pub fn violation<P: Places>(
    monitored: &MonitoredProperty,
    id: SliceId,
    places: Option<&P>,
    at_end: bool,
    repeated: bool,
) -> ViolationView {
    let property = &monitored.property;
    let path = monitored.monitor.path(id);
    let slice = monitored.monitor.slice(id);
    let bound = slice.as_ref().map_or(&[][..], |slice| &slice.binding);
    ViolationView {
        property: property.name.to_string(),
        description: property.description.as_ref().map(|text| text.to_string()),
        file: property
            .source_name
            .as_ref()
            .map_or_else(String::new, |name| name.to_string()),
        slice: slice
            .as_ref()
            .map_or_else(Vec::new, |slice| binding(property, &slice.binding)),
        state: slice
            .as_ref()
            .map_or_else(String::new, |slice| state_of(monitored, slice)),
        variables: slice
            .as_ref()
            .map_or_else(Vec::new, |s| variables(property, s.environment)),
        path: path
            .events
            .iter()
            .map(|event| path_step(&monitored.monitor, bound, event, places))
            .collect(),
        forgotten: path.forgotten,
        deadline: monitored
            .monitor
            .deadline(id)
            .map(|deadline| deadline_view(monitored, id, deadline, places)),
        at_end,
        repeated,
        notes: doubts(monitored),
    }
}

/// Returns the reason to stop after an event that a property could not evaluate.
pub fn error_reason(monitored: Option<&MonitoredProperty>, error: &EvaluationError) -> StopReason {
    let property = monitored.map(|monitored| &monitored.property);
    StopReason::MonitorError {
        property: property.map_or_else(String::new, |property| property.name.to_string()),
        message: error.message.clone(),
        start: error.span.start,
        end: error.span.end,
        file: monitored.map_or_else(String::new, |it| it.file().to_owned()),
        text: monitored.map_or_else(|| "".into(), |it| Arc::clone(&it.text)),
    }
}

/// Returns the reason to stop after an event: in the order of the properties, whatever the order in
/// which they took it.
pub fn reason<P: Places>(
    monitors: &Monitors,
    outcome: &EventOutcome,
    places: Option<&P>,
) -> StopReason {
    let monitored = |number: usize| monitors.properties.get(number);
    if let (true, Some((number, error))) = (outcome.violations.is_empty(), &outcome.error) {
        return error_reason(monitored(*number), error);
    }
    let mut violations = outcome.violations.clone();
    violations.sort_by_key(|violated| violated.monitor);
    StopReason::Violation {
        violations: violations
            .iter()
            .take(VIOLATIONS_MAX)
            .filter_map(|it| {
                let monitored = monitored(it.monitor)?;
                Some(violation(monitored, it.slice, places, false, it.repeated))
            })
            .collect(),
    }
}

/// Returns the violations at the end of a run.
pub fn end_violations<P: Places>(
    monitors: &Monitors,
    violations: &[ViolatedSlice],
    places: Option<&P>,
    at_end: bool,
) -> Vec<ViolationView> {
    let violations = violations.iter().take(VIOLATIONS_MAX);
    violations
        .filter_map(|it| {
            let monitored = monitors.properties.get(it.monitor)?;
            Some(violation(monitored, it.slice, places, at_end, it.repeated))
        })
        .collect()
}

/// Returns the state of a slice in words; for a violated formula, the part that failed.
fn state_of(monitored: &MonitoredProperty, slice: &juror_monitor::SliceView<'_>) -> String {
    let name = monitored.monitor.state_name(slice.state);
    let failed = monitored.monitor.failed_parts(slice.id);
    if failed.is_empty() {
        name
    } else {
        format!("{name}: {}", failed.join(" and "))
    }
}

/// Returns a slice of a monitor.
pub fn slice(monitored: &MonitoredProperty, slice: &juror_monitor::SliceView<'_>) -> SliceView {
    SliceView {
        binding: binding(&monitored.property, &slice.binding),
        state: monitored.monitor.state_name(slice.state),
        verdict: slice.verdict,
        variables: variables(&monitored.property, slice.environment),
    }
}

/// Returns a monitor with its slices.
pub fn monitor<P: Places>(monitored: &MonitoredProperty, places: Option<&P>) -> MonitorView {
    let property = &monitored.property;
    let names = |wanted: bool| {
        property
            .events
            .iter()
            .zip(monitored.monitor.needs())
            .filter(|(_, need)| need.needed == wanted)
            .map(|(event, _)| event.name.to_string())
            .collect()
    };
    MonitorView {
        property: property.name.to_string(),
        description: property.description.as_ref().map(|text| text.to_string()),
        verdict: monitored.monitor.verdict(),
        slices: monitored
            .monitor
            .slices()
            .take(SLICES_MAX)
            .map(|it| slice(monitored, &it))
            .collect(),
        slice_count: monitored.monitor.slice_count(),
        violation_counts: violation_counts::violations(monitored, places),
        needed: names(true),
        not_needed: names(false),
    }
}

/// Returns a diagnostic of an event that does not fit this program.
pub fn bind_diagnostic(event: &SymbolicEvent, error: &BindError) -> Diagnostic {
    match error {
        BindError::UnknownFunction { near, is_stripped } => {
            let mut diagnostic = Diagnostic::error(
                "unknown-function",
                event.subject_span.clone(),
                match &event.reach {
                    Reach::Module(module) => {
                        format!("`{module}` has no function `{}`", event.subject)
                    }
                    _ => format!("the program has no function `{}`", event.subject),
                },
            );
            diagnostic.help = Some(match near {
                Some(near) => format!("did you mean `{near}`?"),
                None if *is_stripped => {
                    "the program was stripped of its symbols: build it without `-s`, or use a \
                     version of it that has them"
                        .to_owned()
                }
                None if matches!(event.reach, Reach::Module(_)) => {
                    "name another file, or leave `in` out to look in all modules".to_owned()
                }
                None => "if it is in a library that is loaded later, add `in library` to the event"
                    .to_owned(),
            });
            diagnostic
        }
        BindError::Inlined {
            sites,
            only,
            elsewhere,
        } => inlined::diagnostic(event, sites, *only, elsewhere.as_deref()),
        BindError::Doubtful { doubts } => doubtful(event, doubts),
        BindError::Subject { message, help, .. } => {
            let span = if event.subject_span.is_empty() {
                event.span.clone()
            } else {
                event.subject_span.clone()
            };
            let mut diagnostic = Diagnostic::error("unwatchable-event", span, message.clone());
            diagnostic.help.clone_from(help);
            diagnostic
        }
        BindError::Indirect => {
            let mut diagnostic = Diagnostic::error(
                "indirect-function",
                event.subject_span.clone(),
                format!(
                    "`{}` is selected when the program starts (an ifunc)",
                    event.subject
                ),
            );
            diagnostic.help = Some("name the implementation used on this machine".to_owned());
            diagnostic
        }
        BindError::Capture {
            slot,
            error,
            function,
        } => {
            let span = event
                .captures
                .get(*slot)
                .map_or_else(|| event.span.clone(), |c| c.span.clone());
            let mut diagnostic = Diagnostic::error("unreadable-value", span, error.message.clone());
            if **function != *event.subject {
                diagnostic.message = format!("in `{function}`: {}", diagnostic.message);
            }
            diagnostic.help.clone_from(&error.help);
            diagnostic
        }
    }
}

/// Returns the diagnostic of an event whose calls cannot be counted where they arrive.
fn doubtful(event: &SymbolicEvent, doubts: &[CallDoubt]) -> Diagnostic {
    let messages: Vec<String> = doubts.iter().map(ToString::to_string).collect();
    let mut helps: Vec<String> = doubts.iter().map(CallDoubt::help).collect();
    helps.dedup();
    let span = event.subject_span.clone();
    let mut diagnostic = Diagnostic::error("doubtful-calls", span, messages.join("; "));
    diagnostic.help = Some(format!(
        "{}, or accept it with --ignore-inlined",
        helps.join("; ")
    ));
    diagnostic
}

/// Returns what is to be known of the calls that are the events of a property.
fn doubts(monitored: &MonitoredProperty) -> Vec<String> {
    let all = monitored.doubts.iter().flatten();
    let mut notes: Vec<String> = all.map(ToString::to_string).collect();
    notes.sort();
    notes.dedup();
    notes
}
