//! The properties of a check, evaluated separately.
//!
//! Properties are independent: each decides whether it needs an event, which values it asks for and
//! how it numbers its events. So each can run in its own thread. Their results are merged by the
//! number of the event and, for the same event, in the order of the properties.
//!
//! **Invariant**: for the events that all parts have taken, [`merge`] gives the results of
//! [`Offline::step`], in the same order.

use crate::monitors::{EventOutcome, MonitoredProperty};
use crate::offline::shares::{Concern, Share, Standing, Together, is_remembered};
use crate::offline::{Buffers, Feeding, Offline, Recorded};
use crate::report;
use crate::report::VIOLATIONS_MAX;
use juror_trace::{Batch, Event};
use juror_view::{StateChange, StopReason, ViolationView};
use std::ops::Range;
use std::sync::Arc;

/// Some of the properties, evaluated separately from the others.
pub struct Part {
    units: Vec<Unit>,
    recorded: Recorded,
    buffers: Buffers,
    outcome: EventOutcome,
    /// Whether state changes are wanted: building them costs time.
    wants_state_changes: bool,
    /// The number of events taken.
    taken: u64,
}

/// A property, or a share of its slices.
struct Unit {
    /// The number of the property.
    property: usize,
    monitored: MonitoredProperty,
    share: Option<Share>,
}

/// The result of one event for one property.
#[derive(Debug, PartialEq)]
pub struct Finding {
    /// The number of the event.
    event: u64,
    /// The number of the property.
    property: usize,
    changes: Vec<StateChange>,
    violations: Vec<ViolationView>,
    error: Option<StopReason>,
    /// All slices of the property must be asked.
    is_unsure: bool,
}

/// The results of one event for all properties.
#[derive(Debug, PartialEq)]
pub struct Said {
    /// The number of the event.
    pub event: u64,
    /// The state changes, if wanted.
    pub changes: Vec<StateChange>,
    /// The reason to stop there, if any.
    pub reason: Option<StopReason>,
    /// The results are unknown: the run must be repeated without spreading slices.
    pub is_unsure: bool,
}

impl Offline {
    /// Returns the number of threads that can be used, at most `most`; with or without spreading
    /// the slices of properties.
    pub fn part_count(&self, most: usize, with_slices: bool) -> usize {
        most.min(self.shares(most, with_slices).iter().sum())
    }

    /// By property: the number of shares of its slices.
    fn shares(&self, threads: usize, with_slices: bool) -> Vec<usize> {
        let of_each = threads / self.monitors.properties.len().max(1);
        let shares = |monitored: &MonitoredProperty| match with_slices && of_each > 1 {
            true if monitored.monitor.spreading().is_some() => of_each,
            _ => 1,
        };
        self.monitors.properties.iter().map(shares).collect()
    }

    /// Splits the properties of the run into this number of parts, each at the beginning of the
    /// run. [`Offline::take_back`] merges them again.
    pub fn parts(
        &mut self,
        count: usize,
        wants_state_changes: bool,
        with_slices: bool,
    ) -> Vec<Part> {
        let shares = self.shares(count, with_slices);
        let mut parts: Vec<Vec<Unit>> = (0..count).map(|_| Vec::new()).collect();
        let mut next = 0;
        for ((property, monitored), shares) in
            self.monitors.properties.iter().enumerate().zip(shares)
        {
            let spreading = Some(shares).filter(|&shares| shares > 1);
            let spreading = spreading.and_then(|_| monitored.monitor.spreading());
            let spreading = spreading.map(Arc::new);
            if spreading.is_some() {
                let together = Together::new(property, monitored, shares);
                self.together.push(together);
            }
            for number in 0..shares {
                let share = spreading.as_ref();
                let share = share.map(|it| Share::new(it, (property, monitored), (number, shares)));
                let unit = Unit {
                    property,
                    monitored: monitored.clone(),
                    share,
                };
                if let Some(part) = parts.get_mut(next) {
                    part.push(unit);
                }
                next = (next + 1) % count.max(1);
            }
        }
        let traces = self.recorded.trace_count();
        let part = |units: Vec<Unit>| Part {
            recorded: Recorded::of(traces, units.iter().map(|it| &it.monitored.property)),
            units,
            buffers: Buffers::default(),
            outcome: EventOutcome::default(),
            wants_state_changes,
            taken: 0,
        };
        parts.into_iter().map(part).collect()
    }

    /// Takes the properties back from their parts.
    pub fn take_back(&mut self, parts: impl IntoIterator<Item = Part>) {
        for mut unit in parts.into_iter().flat_map(|part| part.units) {
            if let Some(share) = &unit.share {
                let mut together = self.together.iter();
                let together = together.find(|it| it.property() == unit.property);
                // Diagnostics are reported once.
                let counted = together.filter(|_| share.number() == 0);
                let occurrences = unit.monitored.occurrences.iter_mut().enumerate();
                for (event, count) in occurrences {
                    let total = counted.and_then(|it| it.occurrences().get(event));
                    *count = total.copied().unwrap_or(0);
                }
                let unneeded = unit.monitored.unneeded.iter_mut().enumerate();
                for (event, count) in unneeded {
                    let total = counted.and_then(|it| it.unneeded().get(event));
                    *count = total.copied().unwrap_or(0);
                }
                if share.number() > 0 {
                    self.others.push((unit.property, unit.monitored));
                    continue;
                }
            }
            if let Some(monitored) = self.monitors.properties.get_mut(unit.property) {
                *monitored = unit.monitored;
            }
        }
    }

    /// Takes the reports of the shares on a portion of the events, before these are counted.
    pub fn begin_portion(&mut self, standings: &[Standing]) {
        for together in &mut self.together {
            together.begin(standings);
        }
    }

    /// Counts events of a portion that no share could count.
    pub fn count(&mut self, trace: usize, batch: &Batch, events: Range<usize>) {
        if self.together.is_empty() {
            return;
        }
        for event in batch.events.get(events).unwrap_or(&[]) {
            self.counted += 1;
            for together in &mut self.together {
                let property = together.property();
                let events = self.recorded.events(trace, property, event.layout);
                together.count(self.counted, events);
            }
        }
    }

    /// Returns whether one thread would give the same results, in the same words, for this portion.
    pub fn is_sure(&self, said: &[Said]) -> bool {
        let may_forget = self.together.iter().any(Together::may_forget);
        !self.together.iter().any(Together::is_mixed)
            && said
                .iter()
                .all(|said| !said.is_unsure && (said.reason.is_none() || !may_forget))
    }
}

impl Part {
    /// Adds the definitions of a batch of a trace. Must be called before its events are taken.
    pub fn learn(&mut self, trace: usize, batch: &Batch) {
        self.recorded.learn(trace, batch);
    }

    /// Takes events of a batch; the first has this number.
    pub fn take(
        &mut self,
        trace: usize,
        (batch, events): (&Batch, Range<usize>),
        first: u64,
        findings: &mut Vec<Finding>,
    ) {
        let events = batch.events.get(events).unwrap_or(&[]);
        // One property after the other, for locality of memory.
        for position in 0..self.units.len() {
            for (event, number) in events.iter().zip(0..) {
                let numbers = (first + number, self.taken + number + 1);
                self.take_one(position, trace, (batch, event), numbers, findings);
            }
        }
        self.taken += events.len() as u64;
    }

    /// Returns the reports of the shares on the events since the last call.
    pub fn standings(&mut self) -> Vec<Standing> {
        let shares = self.units.iter_mut();
        let shares = shares.filter_map(|unit| Some((unit.share.as_mut()?, &unit.monitored)));
        shares
            .map(|(share, monitored)| share.take_standing(&monitored.monitor))
            .collect()
    }

    /// Feeds one property an event, which has a number in its portion and one among all.
    #[inline]
    fn take_one(
        &mut self,
        position: usize,
        trace: usize,
        (batch, event): (&Batch, &Event),
        (number, number_of_all): (u64, u64),
        findings: &mut Vec<Finding>,
    ) {
        let Some(unit) = self.units.get_mut(position) else {
            return;
        };
        let events = self.recorded.events(trace, position, event.layout);
        if events.is_empty() {
            return;
        }
        if let Some(share) = &mut unit.share {
            match share.concern(events, &batch.given(event)) {
                Concern::Own => unit.monitored.monitor.count_from(number_of_all - 1),
                Concern::Others => return,
                Concern::Unknown => {
                    findings.push(Finding::unsure(number, unit.property));
                    return;
                }
            }
        }
        let monitored = &mut unit.monitored;
        let feeding = Feeding {
            number: position,
            events,
            happened: self.recorded.occurrence(trace, event),
            given: batch.given(event),
        };
        let places = &self.recorded.places;
        let wants_state_changes = self.wants_state_changes;
        let mut changes = Vec::new();
        feeding.feed(
            monitored,
            &mut self.buffers,
            &mut self.outcome,
            |monitored, happened| {
                if wants_state_changes {
                    let of_step = monitored.monitor.changes().iter();
                    changes.extend(
                        of_step.map(|change| {
                            report::state_change(monitored, change, happened, places)
                        }),
                    );
                }
            },
        );
        if let Some(share) = &mut unit.share {
            share.note(number_of_all, &monitored.monitor);
        }
        if changes.is_empty() && self.outcome.is_empty() {
            return;
        }
        let outcome = std::mem::take(&mut self.outcome);
        let violations = || outcome.violations.iter().take(VIOLATIONS_MAX);
        let is_unsure = unit.share.is_some()
            && !violations().all(|it| is_remembered(&monitored.monitor, it.slice, number_of_all));
        findings.push(Finding {
            event: number,
            property: unit.property,
            changes,
            violations: violations()
                .map(|it| report::violation(monitored, it.slice, Some(places), false, it.repeated))
                .collect(),
            error: outcome
                .error
                .map(|(_, error)| report::error_reason(Some(monitored), &error)),
            is_unsure,
        });
    }
}

impl Finding {
    /// A result that needs all slices of the property.
    fn unsure(event: u64, property: usize) -> Finding {
        Finding {
            event,
            property,
            changes: Vec::new(),
            violations: Vec::new(),
            error: None,
            is_unsure: true,
        }
    }
}

/// Merges the findings of all parts for the same events, by event.
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
                    is_unsure: false,
                };
                said.add(finding);
                merged.push(said);
            }
        }
    }
    merged
}

impl Said {
    /// Adds the finding of the next property for the event.
    fn add(&mut self, mut finding: Finding) {
        self.changes.append(&mut finding.changes);
        self.is_unsure |= finding.is_unsure;
        if finding.violations.is_empty() {
            // The first error is reported, unless something is violated.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(event: u64, property: usize) -> Finding {
        Finding {
            is_unsure: false,
            ..Finding::unsure(event, property)
        }
    }

    #[test]
    fn findings_are_merged_by_event_and_in_the_order_of_properties() {
        let error = |event, property, words: &str| Finding {
            error: Some(StopReason::MonitorError {
                property: words.to_owned(),
                message: String::new(),
                start: 0,
                end: 0,
                file: String::new(),
                text: "".into(),
            }),
            ..finding(event, property)
        };
        let said = merge(vec![
            error(2, 1, "late"),
            finding(1, 0),
            error(2, 0, "first"),
        ]);
        let events: Vec<u64> = said.iter().map(|it| it.event).collect();
        assert_eq!(events, [1, 2]);
        assert_eq!(said[0].reason, None);
        let Some(StopReason::MonitorError { property, .. }) = &said[1].reason else {
            panic!("{said:?}");
        };
        assert_eq!(property, "first");
        let unsure = merge(vec![finding(1, 0), Finding::unsure(1, 1), finding(2, 0)]);
        let unsure: Vec<bool> = unsure.iter().map(|it| it.is_unsure).collect();
        assert_eq!(unsure, [true, false]);
    }

    #[test]
    fn a_violation_is_told_before_an_error_and_the_number_of_violations_is_limited() {
        let violation = |property: usize| {
            let text = format!(
                "property p{property} event a = before a() state s accepting {{ on a -> s }}"
            );
            let monitored = crate::samples::monitored(&text);
            let slice = juror_monitor::SliceId(0);
            report::violation(&monitored, slice, crate::samples::PLACES, false, false)
        };
        let violated = |property: usize, count: usize| Finding {
            violations: vec![violation(property); count],
            ..finding(1, property)
        };
        let wrong = Finding {
            error: Some(StopReason::Step),
            ..finding(1, 0)
        };
        let said = merge(vec![violated(2, VIOLATIONS_MAX), wrong, violated(1, 2)]);
        let Some(StopReason::Violation { violations }) = &said[0].reason else {
            panic!("{said:?}");
        };
        assert_eq!(violations.len(), VIOLATIONS_MAX);
        let of_first = violations.iter().filter(|it| it.property == "p1");
        assert_eq!(of_first.count(), 2);
    }
}
