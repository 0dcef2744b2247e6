//! Evaluates properties over a recorded run.
//!
//! The monitors and reports are those of a live run; only the source of events and places differs.
//! A property receives an event only while it needs it, as in a live run, where its point would
//! have been removed; so both count alike, and violations are the same in both.
//!
//! **Invariant**: nothing is read or written here. Events come as batches of [`juror_trace`].

mod parts;
pub(crate) mod recorded;
mod shares;
#[cfg(test)]
mod tests;

use crate::monitors::{EventOutcome, MonitoredProperty, Monitors, loading};
pub use crate::offline::parts::{Finding, Part, Said, merge};
use crate::offline::recorded::Recorded;
pub use crate::offline::shares::Standing;
use crate::property_files::PropertySource;
use crate::report;
use crate::report::{EventOccurrence, VIOLATIONS_MAX};
use crate::totals::Totals;
use juror_event::{EventId, Value};
use juror_fault::SessionError;
use juror_language::{Diagnostic, Property};
use juror_monitor::{Occurrence, remember_as_one};
use juror_trace::{Batch, Binding, Event, EventBinding, Given, How, event_words};
use juror_view::location::Places as _;
use juror_view::observer::Observer;
use juror_view::{EndView, Ending, StopReason, TraceStop, ViolationView};

/// The properties over one recorded run, or over several that are merged.
pub struct Offline {
    /// The monitors.
    pub monitors: Monitors,
    /// The number of events that each monitor remembers; 0 for the default.
    pub history: usize,
    /// Whether a property may hold although no module of the run had the name of an event.
    pub allow_unbound: bool,
    /// The places and threads of the traces.
    pub recorded: Recorded,
    buffers: Buffers,
    outcome: EventOutcome,
    /// The joint state of properties whose slices are spread.
    together: Vec<shares::Together>,
    /// The number of events counted for them.
    counted: u64,
    /// The other shares of their slices, by the number of the property.
    others: Vec<(usize, MonitoredProperty)>,
}

/// Buffers reused for every event.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    captures: Vec<Value>,
}

/// An event of a trace, for one property.
pub(crate) struct Feeding<'a> {
    /// The number of the property.
    pub number: usize,
    /// The property's bindings of the event.
    pub events: &'a [EventBinding],
    /// The event, without its values.
    pub happened: Occurrence<'a>,
    /// The record of the event.
    pub given: Given<'a>,
}

impl Feeding<'_> {
    /// Feeds the property the event once for each binding that it needs; `told` is called for each.
    pub(crate) fn feed(
        &self,
        monitored: &mut MonitoredProperty,
        buffers: &mut Buffers,
        outcome: &mut EventOutcome,
        mut told: impl FnMut(&MonitoredProperty, EventOccurrence<'_>),
    ) {
        // One binding may make the next one needed.
        for found in self.events {
            let needs = monitored.monitor.needs();
            let need = needs.get(usize::from(found.event.0)).copied();
            let Some(need) = need.filter(|need| monitored.is_enabled && need.needed) else {
                let count = monitored.unneeded.get_mut(usize::from(found.event.0));
                if let Some(count) = count.filter(|_| monitored.is_enabled) {
                    *count += 1;
                }
                continue;
            };
            let captures = &mut buffers.captures;
            found.fill(&self.given, need.captures, captures);
            let happened = Occurrence {
                values: captures,
                ..self.happened
            };
            if monitored
                .step(self.number, found.event, &happened, outcome)
                .is_some()
            {
                told(
                    monitored,
                    EventOccurrence {
                        event: found.event,
                        thread: happened.thread,
                        address: happened.address,
                        time: happened.time,
                        values: happened.values,
                    },
                );
            }
        }
    }
}

impl Offline {
    /// Reads and checks the properties; also returns their diagnostics.
    ///
    /// # Errors
    /// A property is wrong.
    pub fn load(
        sources: &[PropertySource],
        history: usize,
    ) -> Result<(Offline, Vec<String>), SessionError> {
        let (monitors, remarks) = loading::load(sources, history)?;
        let mut offline = Offline {
            monitors,
            history,
            allow_unbound: false,
            recorded: Recorded::default(),
            buffers: Buffers::default(),
            outcome: EventOutcome::default(),
            together: Vec::new(),
            counted: 0,
            others: Vec::new(),
        };
        offline.begin(1);
        Ok((offline, remarks))
    }

    /// Starts anew, for a run recorded in this number of traces.
    pub fn begin(&mut self, traces: usize) {
        self.monitors.restart(self.history);
        self.together.clear();
        self.counted = 0;
        self.others.clear();
        for monitored in &mut self.monitors.properties {
            // A trace has no modules.
            monitored.bound.fill(true);
        }
        let properties = self.monitors.properties.iter().map(|it| &it.property);
        self.recorded = Recorded::of(traces, properties);
    }

    /// Returns the values that the properties take for texts.
    pub fn text_columns(&self) -> juror_trace::TextColumns {
        let properties = self.monitors.properties.iter();
        juror_trace::text_columns(properties.map(|it| &*it.property))
    }

    /// Returns the number of slices.
    pub fn slice_count(&self) -> usize {
        let monitored = self.monitors.properties.iter();
        monitored.map(|it| it.monitor.slice_count()).sum()
    }

    /// Adds the definitions of a batch of a trace, and counts the events that no property has. Must
    /// be called before its events are taken.
    pub fn learn(&mut self, trace: usize, batch: &Batch) {
        self.recorded.learn(trace, batch);
        self.recorded.count_others(trace, batch);
    }

    /// Returns the events of the traces that no property has, by name, with their numbers.
    pub fn others(&self) -> Vec<(String, u64)> {
        self.recorded.others()
    }

    /// Returns the errors of properties with events that the traces do not record.
    pub fn not_recorded(&self) -> Option<SessionError> {
        for (number, monitored) in self.monitors.properties.iter().enumerate() {
            let bindings = self.recorded.bindings(number);
            let missing: Vec<EventId> = bindings.flat_map(Binding::not_recorded).collect();
            let events = missing
                .iter()
                .filter_map(|&it| monitored.property.event(it));
            let diagnostics: Vec<Diagnostic> = events.map(not_recorded_diagnostic).collect();
            if !diagnostics.is_empty() {
                return Some(juror_fault::wrong(
                    monitored.file(),
                    &monitored.text,
                    diagnostics,
                ));
            }
        }
        None
    }

    /// Takes an event; returns the reason to stop there, if any.
    pub fn step(
        &mut self,
        trace: usize,
        batch: &Batch,
        event: &Event,
        observer: &mut dyn Observer,
    ) -> Option<StopReason> {
        let happened = self.recorded.occurrence(trace, event);
        let places = &self.recorded.places;
        for (number, monitored) in self.monitors.properties.iter_mut().enumerate() {
            let feeding = Feeding {
                number,
                events: self.recorded.events(trace, number, event.layout),
                happened,
                given: batch.given(event),
            };
            feeding.feed(
                monitored,
                &mut self.buffers,
                &mut self.outcome,
                |monitored, happened| {
                    if observer.wants_state_changes() {
                        let changes = monitored.monitor.changes().iter();
                        changes
                            .map(|change| report::state_change(monitored, change, happened, places))
                            .for_each(|change| observer.state_change(&change));
                    }
                },
            );
        }
        if self.outcome.is_empty() {
            return None;
        }
        let outcome = std::mem::take(&mut self.outcome);
        Some(report::reason(&self.monitors, &outcome, Some(places)))
    }

    /// Returns the report of an event.
    pub fn describe(&self, trace: usize, event: &Event, reason: StopReason) -> TraceStop {
        let layout = self.recorded.layout(trace, event.layout);
        let place = self.recorded.place(trace, event.place);
        let moment = layout.map_or("", |layout| &layout.event);
        let is_call = moment.starts_with("before ") || moment.starts_with("after ");
        TraceStop {
            reason,
            sequence: event.sequence,
            time_ns: event.time_ns,
            thread: event.thread,
            is_call,
            what: layout.map_or_else(String::new, |layout| layout.event.to_string()),
            location: place.map(|place| self.recorded.places.call(place)),
        }
    }

    /// Ends the run; if the trace ends without `how`, that is taken as the end of the program.
    pub fn finish(&mut self, how: Option<How>) -> EndView {
        let violations = if how.is_none_or(How::is_final) {
            self.end_violations()
        } else {
            Vec::new()
        };
        EndView {
            process: None,
            ending: match how {
                Some(How::Exited(status)) => Some(Ending::Exited { status }),
                Some(How::Killed(signal)) => Some(Ending::Killed { signal }),
                Some(How::Detached | How::Stopped) | None => None,
            },
            called: None,
            violations,
            summaries: self.summaries(),
        }
    }

    /// Decides undecided verdicts; returns the first slices that this violates.
    fn end_violations(&mut self) -> Vec<ViolationView> {
        let mut views = Vec::new();
        for (number, monitored) in self.monitors.properties.iter_mut().enumerate() {
            let others = self.others.iter_mut().filter(|(of, _)| *of == number);
            let mut shares: Vec<&mut MonitoredProperty> =
                others.map(|(_, monitored)| monitored).collect();
            shares.insert(0, monitored);
            if shares.len() > 1 {
                let monitors = shares.iter_mut().map(|it| &mut *it.monitor);
                remember_as_one(&mut monitors.collect::<Vec<_>>());
            }
            let mut open = Vec::new();
            for (share, monitored) in shares.iter_mut().enumerate() {
                let first = monitored.finish().into_iter().take(VIOLATIONS_MAX);
                let slices = first.filter_map(|slice| monitored.monitor.slice(slice));
                open.extend(slices.map(|slice| (slice.binding, share, slice.id)));
            }
            // In the order in which one monitor would give them.
            open.sort_unstable();
            open.truncate(VIOLATIONS_MAX - views.len());
            let views_of = open.into_iter().filter_map(|(_, share, slice)| {
                let monitored = shares.get(share)?;
                let places = Some(&self.recorded.places);
                Some(report::violation(monitored, slice, places, true, false))
            });
            views.extend(views_of);
        }
        views
    }

    /// Returns the present verdicts, for a trace that is not read to its end.
    pub fn leave(&mut self) -> EndView {
        EndView {
            ending: None,
            process: None,
            called: None,
            violations: Vec::new(),
            summaries: self.summaries(),
        }
    }

    /// Notes which events were bound when the run was recorded, as far as the traces say it.
    fn note_bound(&mut self) {
        let properties = self.monitors.properties.iter_mut().enumerate();
        let others = self.others.iter_mut().map(|(number, it)| (*number, it));
        for (number, monitored) in properties.chain(others) {
            for (event, bound) in (0..).map(EventId).zip(&mut monitored.bound) {
                *bound = self.recorded.was_bound(number, event);
            }
        }
    }

    fn summaries(&mut self) -> Vec<juror_view::PropertySummary> {
        self.note_bound();
        let places = Some(&self.recorded.places);
        let mut totals = Totals::default();
        for (_, share) in &self.others {
            totals.add_one(share, places);
        }
        let mut summaries = totals.summaries(&self.monitors, places, self.allow_unbound);
        for (number, summary) in summaries.iter_mut().enumerate() {
            let monitored = self.monitors.properties.get(number);
            let bindings = self.recorded.bindings(number);
            for event in bindings.flat_map(Binding::not_recorded) {
                if let Some(words) = monitored.and_then(|it| words(&it.property, event)) {
                    let never = format!("`{words}` ");
                    summary.remarks.retain(|remark| !remark.starts_with(&never));
                    summary
                        .undecided
                        .push(format!("`{words}` was not recorded"));
                }
            }
        }
        summaries
    }
}

fn words(property: &Property, event: EventId) -> Option<String> {
    property.event(event).map(event_words)
}

fn not_recorded_diagnostic(event: &juror_event::SymbolicEvent) -> Diagnostic {
    let words = event_words(event);
    let mut diagnostic = Diagnostic::error(
        "event-not-recorded",
        event.span.clone(),
        format!("the trace does not record `{words}`"),
    );
    diagnostic.help = Some(format!(
        "record it: juror run --trace FILE --record '{words}(…)' or with this property; \
         --keep-going assumes that it never happened"
    ));
    diagnostic
}
