//! The properties of a check, evaluated apart from each other.
//!
//! No property looks at another one: whether it needs an event, which values it
//! asks for and how it numbers its events are its own affair. So each of them may
//! have a thread of its own. What they say is put together by the number of the
//! event and, at the same event, in the order of the properties.
//!
//! Invariant: of the events that all have been given, what [`merge`] gives is what
//! [`Offline::step`] would have said, in the same order.

use super::{Buffers, Feeding, Offline, Recorded};
use crate::report::{self, VIOLATIONS_MAX};
use crate::view::{StateChange, StopReason, ViolationView};
use crate::watch::{Reaction, Watched};
use juror_trace::Batch;
use std::ops::Range;

/// Some of the properties, to be evaluated apart from the others.
pub struct Part {
    /// With their numbers among all.
    watched: Vec<(usize, Watched)>,
    recorded: Recorded,
    buffers: Buffers,
    reaction: Reaction,
    /// State changes are wanted: building them costs time.
    wants_state_changes: bool,
}

/// What one property says of one event.
#[derive(Debug, PartialEq)]
pub struct Finding {
    /// The number of the event.
    event: u64,
    /// Which property.
    property: usize,
    changes: Vec<StateChange>,
    violations: Vec<ViolationView>,
    error: Option<StopReason>,
}

/// What all properties say of one event.
#[derive(Debug, PartialEq)]
pub struct Said {
    /// The number of the event.
    pub event: u64,
    /// The state changes, where they are wanted.
    pub changes: Vec<StateChange>,
    /// Why a reader wants to stop there, if so.
    pub reason: Option<StopReason>,
}

impl Offline {
    /// How many properties there are.
    pub fn property_count(&self) -> usize {
        self.watch.watched.len()
    }

    /// The properties of the run that has begun in so many parts, each at the
    /// beginning. [`Offline::take_back`] puts them together again.
    pub fn parts(&self, count: usize, wants_state_changes: bool) -> Vec<Part> {
        let traces = self.recorded.trace_count();
        let part = |first: usize| {
            let all = self.watch.watched.iter().enumerate();
            let watched = all.skip(first).step_by(count.max(1));
            let watched: Vec<(usize, Watched)> = watched
                .map(|(number, watched)| (number, watched.clone()))
                .collect();
            Part {
                recorded: Recorded::of(traces, watched.iter().map(|(_, it)| &it.property)),
                watched,
                buffers: Buffers::default(),
                reaction: Reaction::default(),
                wants_state_changes,
            }
        };
        (0..count).map(part).collect()
    }

    /// The properties are where these parts have come to.
    pub fn take_back(&mut self, parts: impl IntoIterator<Item = Part>) {
        for (number, came) in parts.into_iter().flat_map(|part| part.watched) {
            if let Some(watched) = self.watch.watched.get_mut(number) {
                *watched = came;
            }
        }
    }
}

impl Part {
    /// Takes what a batch of a trace defines. To be done before its events are
    /// taken.
    pub fn learn(&mut self, trace: usize, batch: &Batch) {
        self.recorded.learn(trace, batch);
    }

    /// Takes events of a batch, the first of which has this number.
    pub fn take(
        &mut self,
        trace: usize,
        (batch, events): (&Batch, Range<usize>),
        first: u64,
        findings: &mut Vec<Finding>,
    ) {
        // One property after the other: what a property has is near together.
        for number in 0..self.watched.len() {
            let events = batch.events.get(events.clone()).unwrap_or(&[]);
            for (event, sequence) in events.iter().zip(first..) {
                self.take_one(number, trace, (batch, event), sequence, findings);
            }
        }
    }

    #[inline]
    fn take_one(
        &mut self,
        number: usize,
        trace: usize,
        (batch, event): (&Batch, &juror_trace::Event),
        sequence: u64,
        findings: &mut Vec<Finding>,
    ) {
        let Some((property, watched)) = self.watched.get_mut(number) else {
            return;
        };
        let events = self.recorded.events(trace, number, event.layout);
        if events.is_empty() {
            return;
        }
        let feeding = Feeding {
            number,
            events,
            happened: self.recorded.occurrence(trace, batch, event),
        };
        let places = &self.recorded.places;
        let wants_state_changes = self.wants_state_changes;
        let mut changes = Vec::new();
        feeding.feed(
            watched,
            &mut self.buffers,
            &mut self.reaction,
            |watched, happened| {
                if wants_state_changes {
                    let of_step = watched.monitor.changes().iter();
                    changes.extend(
                        of_step
                            .map(|change| report::state_change(watched, change, happened, places)),
                    );
                }
            },
        );
        if changes.is_empty() && self.reaction.is_empty() {
            return;
        }
        let reaction = std::mem::take(&mut self.reaction);
        let violations = reaction.violations.iter().take(VIOLATIONS_MAX);
        findings.push(Finding {
            event: sequence,
            property: *property,
            changes,
            violations: violations
                .map(|it| report::violation(watched, it.slice, Some(places), false, it.repeated))
                .collect(),
            error: reaction
                .error
                .map(|(_, error)| report::error_reason(Some(watched), &error)),
        });
    }
}

/// What all parts have found in the same events, by event.
pub fn merge(mut findings: Vec<Finding>) -> Vec<Said> {
    findings.sort_by_key(|finding| (finding.event, finding.property));
    let mut merged: Vec<Said> = Vec::new();
    for finding in findings {
        let is_same = |said: &&mut Said| said.event == finding.event;
        match merged.last_mut().filter(is_same) {
            Some(said) => said.add(finding),
            None => {
                let mut said = Said {
                    event: finding.event,
                    changes: Vec::new(),
                    reason: None,
                };
                said.add(finding);
                merged.push(said);
            }
        }
    }
    merged
}

impl Said {
    /// The next property says this of the event.
    fn add(&mut self, mut finding: Finding) {
        self.changes.append(&mut finding.changes);
        if finding.violations.is_empty() {
            // An error is told where nothing is violated, the first of them.
            self.reason = self.reason.take().or(finding.error);
            return;
        }
        match &mut self.reason {
            Some(StopReason::Violation { violations }) => {
                violations.append(&mut finding.violations);
                violations.truncate(VIOLATIONS_MAX);
            }
            reason => {
                *reason = Some(StopReason::Violation {
                    violations: finding.violations,
                });
            }
        }
    }
}
