//! A property that is watched, and what its events bring.

use crate::listeners::Heard;
use juror_event::{EventId, Verdict};
use juror_instrument::probes::InlinedTotal;
use juror_language::{EvaluationError, Property};
use juror_monitor::{Change, Monitor, SliceId};
use std::sync::Arc;

/// A property that is watched.
#[derive(Debug, Clone)]
pub struct MonitoredProperty {
    /// The property.
    pub property: Arc<Property>,
    /// Its monitor.
    pub monitor: Monitor,
    /// What the file says that it is from; its name is the property's source
    /// name.
    pub text: Arc<str>,
    /// The user has not switched it off: it needs its events, and takes them.
    pub is_enabled: bool,
    /// From when on it is evaluated.
    pub since: Since,
    /// By event: how often it happened.
    pub occurrences: Vec<u64>,
    /// By event: how often the debuggee was stopped for it.
    pub stops: Vec<u64>,
    /// How many violations have been reported.
    pub violations: u64,
    /// How many of them the end of the run brought.
    pub violated_by_end: u64,
    /// By event: some definition of its function was found.
    pub bound: Vec<bool>,
    /// By event: what became of the calls that were inlined.
    pub inlined: Vec<InlinedTotal>,
    /// How many events were left out because they could not be evaluated.
    pub errors: u64,
    /// What the process that this one was forked from had seen till then.
    pub inherited: InheritedCounts,
    /// Of a recorded run: the time, thread and place of the last access to memory, and
    /// which events were needed when it began.
    pub(crate) access: Option<((u64, u32, u64), u64)>,
}

/// From when on a property is evaluated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Since {
    /// From the start of the run, or from when the process was attached to.
    #[default]
    Start,
    /// From when it was added, in the middle of a run.
    Addition,
    /// From the start of the run, of which so many events were recorded when it
    /// was added.
    Trace {
        /// How many.
        events: u64,
    },
}

/// What is counted in the process where it happened, and not in its children.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InheritedCounts {
    /// Events.
    pub events: u64,
    /// Objects that the property was evaluated for.
    pub slices: u64,
    /// Violations, by their kind in the monitor.
    pub violations: Vec<u64>,
}

impl MonitoredProperty {
    /// A property of which nothing has happened yet. `text` is what its file
    /// says.
    pub fn new(monitor: Monitor, text: Arc<str>) -> MonitoredProperty {
        let property = Arc::clone(monitor.property());
        let events = property.events.len();
        MonitoredProperty {
            property,
            monitor,
            text,
            is_enabled: true,
            since: Since::Start,
            occurrences: vec![0; events],
            stops: vec![0; events],
            violations: 0,
            violated_by_end: 0,
            bound: vec![false; events],
            inlined: vec![InlinedTotal::default(); events],
            errors: 0,
            inherited: InheritedCounts::default(),
            access: None,
        }
    }

    /// The name of the file that it is from.
    pub fn file(&self) -> &str {
        self.property.source_name.as_deref().unwrap_or("")
    }

    /// Whether it waits for an event in its present state.
    pub fn needs(&self, event: EventId) -> bool {
        let need = self.monitor.needs().get(usize::from(event.0));
        self.is_enabled && need.is_some_and(|need| need.needed)
    }

    /// The same for a forked copy of the process: the monitor has its past, and
    /// what is counted is counted anew.
    pub(super) fn forked(&self) -> MonitoredProperty {
        MonitoredProperty {
            is_enabled: self.is_enabled,
            since: self.since,
            bound: self.bound.clone(),
            inlined: self.inlined.clone(),
            inherited: InheritedCounts {
                events: self.sequence(),
                slices: slice_total(self),
                violations: self
                    .monitor
                    .violations()
                    .iter()
                    .map(|it| it.count)
                    .collect(),
            },
            ..MonitoredProperty::new(self.monitor.clone(), Arc::clone(&self.text))
        }
    }

    /// How many events there have been, those of the processes before it
    /// included.
    pub fn sequence(&self) -> u64 {
        self.inherited.events + self.occurrences.iter().sum::<u64>()
    }
}

/// A slice that is violated now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViolatedSlice {
    /// Which monitor.
    pub monitor: usize,
    /// Which of its slices.
    pub slice: SliceId,
    /// There was a violation of the same kind at the same place before.
    pub repeated: bool,
}

/// What an event brought that somebody must hear of.
#[derive(Debug, Default)]
pub struct EventOutcome {
    /// Slices that are violated now.
    pub violations: Vec<ViolatedSlice>,
    /// A guard or update that could not be evaluated, by monitor.
    pub error: Option<(usize, EvaluationError)>,
    /// What scenarios wait for.
    pub heard: Vec<Heard>,
    /// In which frame the first of it happened: that of a call that was inlined.
    pub level: Option<usize>,
}

impl EventOutcome {
    /// The user need not hear of it.
    pub fn is_empty(&self) -> bool {
        self.violations.is_empty() && self.error.is_none()
    }
}

impl MonitoredProperty {
    /// The property takes an event. Tells whether its needs may have changed;
    /// nothing when no slice took it.
    pub fn step(
        &mut self,
        number: usize,
        event: EventId,
        happened: &juror_monitor::Occurrence<'_>,
        outcome: &mut EventOutcome,
    ) -> Option<bool> {
        if !self.is_enabled {
            return None;
        }
        if let Some(count) = self.occurrences.get_mut(usize::from(event.0)) {
            *count += 1;
        }
        let needs_changed = match self.monitor.step(event, happened) {
            Ok(step) if !step.taken => return None,
            Ok(step) => step.needs_changed,
            // The slices without the error have taken the event all the same.
            Err(error) => {
                self.errors += 1;
                // That of the first property is told.
                let told = outcome.error.as_ref().map(|(number, _)| *number);
                if told.is_none_or(|told| number < told) {
                    outcome.error = Some((number, error));
                }
                true
            }
        };
        let changes = self.monitor.changes().iter();
        for change in changes.filter(|change| change.violates()) {
            self.violations += 1;
            outcome.violations.push(ViolatedSlice {
                monitor: number,
                slice: change.slice,
                repeated: is_repeated(&self.monitor, change, happened.address),
            });
        }
        Some(needs_changed)
    }

    /// The run is over: what is undecided becomes decided. Gives the slices
    /// that this violates, in the order of their parameters.
    pub fn finish(&mut self) -> Vec<SliceId> {
        if !self.is_enabled {
            return Vec::new();
        }
        // The base slice of a sliced property stands for no object.
        let is_sliced = !self.property.slice.is_empty();
        let mut open: Vec<_> = self
            .monitor
            .slices()
            .filter(|slice| slice.verdict == Verdict::PresumablyViolated)
            .filter(|slice| !(is_sliced && slice.binding.iter().all(Option::is_none)))
            .map(|slice| (slice.binding, slice.id))
            .collect();
        open.sort_unstable();
        self.monitor.finish();
        self.violated_by_end = open.len() as u64;
        self.violations += self.violated_by_end;
        open.into_iter().map(|(_, slice)| slice).collect()
    }
}

/// Whether the last event was not the first to violate in this way at this
/// place. Kinds that are too many to be told apart are all new.
fn is_repeated(monitor: &Monitor, change: &Change, address: u64) -> bool {
    let kinds = monitor.violations().iter();
    let mut same = kinds
        .filter(|kind| (kind.from, kind.to, kind.address) == (change.from, change.to, address));
    same.any(|kind| {
        kind.last_sequence == monitor.sequence() && kind.first_sequence < kind.last_sequence
    })
}

/// How many objects the property was evaluated for, those that have ended
/// included; none when it is not sliced. The base slice stands for no object.
pub fn slice_total(monitored: &MonitoredProperty) -> u64 {
    if monitored.property.slice.is_empty() {
        return 0;
    }
    let living = monitored
        .monitor
        .slices()
        .filter(|slice| !slice.ended)
        .count() as u64;
    living.saturating_sub(1) + monitored.monitor.ended_count()
}
