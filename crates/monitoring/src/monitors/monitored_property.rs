//! A monitored property and the results of its events.

use crate::in_process::{CurrentMonitor, NativeSlot};
use crate::listeners::QueuedTrigger;
use juror_event::{EventId, Verdict};
use juror_instrument::probes::{CallDoubt, InlinedTotal};
use juror_language::{EvaluationError, Property};
use juror_monitor::{Change, Monitor, SliceId};
use std::sync::Arc;

/// A monitored property.
#[derive(Debug, Clone)]
pub struct MonitoredProperty {
    /// The property.
    pub property: Arc<Property>,
    /// Its monitor.
    pub monitor: CurrentMonitor,
    /// Its table, while the program steps it.
    pub(crate) native: NativeSlot,
    /// The text of its file; its name is the property's source name.
    pub text: Arc<str>,
    /// Whether it is enabled: a disabled property receives no events.
    pub is_enabled: bool,
    /// Since when it is evaluated.
    pub since: Since,
    /// By event: the number of occurrences.
    pub occurrences: Vec<u64>,
    /// By event: the number of occurrences in a recorded run while no state needed it. A live run
    /// has no points for such events.
    pub unneeded: Vec<u64>,
    /// By event: the number of stops of the debuggee.
    pub stops: Vec<u64>,
    /// By event: how it was last taken, in words.
    pub(crate) tiers: Vec<Option<String>>,
    /// The number of stops at places where frames are removed from stacks, for the ends of calls.
    pub(crate) unwinding_stops: u64,
    /// The number of reported violations.
    pub violations: u64,
    /// The number of these that the end of the run caused.
    pub violated_by_end: u64,
    /// By event: whether a definition of its function was found.
    pub bound: Vec<bool>,
    /// By event: the totals of its inlined calls.
    pub inlined: Vec<InlinedTotal>,
    /// By event: what is to be known of its calls.
    pub doubts: Vec<Vec<CallDoubt>>,
    /// By event: whether the program has written over code where it is seen.
    pub overwritten: Vec<bool>,
    /// By event: the program's own functions that have its name, too, and are not meant.
    pub namesakes: Vec<Vec<Arc<str>>>,
    /// The number of events that were ignored because they could not be evaluated.
    pub errors: u64,
    /// The counts at the fork, inherited from the parent process.
    pub inherited: InheritedCounts,
}

/// Since when a property is evaluated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Since {
    /// Since the start of the run, or since the process was attached.
    #[default]
    Start,
    /// Since it was added, in the middle of a run.
    Addition,
    /// Since the start of the run, of which a part was recorded when it was added.
    Trace {
        /// The number of recorded events.
        events: u64,
    },
}

/// Counts that belong to the parent process and not to its children.
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
    /// Creates a monitored property without any events. `text` is the text of its file.
    pub fn new(monitor: Monitor, text: Arc<str>) -> MonitoredProperty {
        let property = Arc::clone(monitor.property());
        let events = property.events.len();
        MonitoredProperty {
            property,
            monitor: CurrentMonitor::new(monitor),
            native: NativeSlot::default(),
            text,
            is_enabled: true,
            since: Since::Start,
            occurrences: vec![0; events],
            unneeded: vec![0; events],
            stops: vec![0; events],
            tiers: Vec::new(),
            unwinding_stops: 0,
            violations: 0,
            violated_by_end: 0,
            bound: vec![false; events],
            inlined: vec![InlinedTotal::default(); events],
            doubts: vec![Vec::new(); events],
            overwritten: vec![false; events],
            namesakes: vec![Vec::new(); events],
            errors: 0,
            inherited: InheritedCounts::default(),
        }
    }

    /// Returns the name of its file.
    pub fn file(&self) -> &str {
        self.property.source_name.as_deref().unwrap_or("")
    }

    /// Returns whether the program must be seen to reach an event: it waits for it in its
    /// present state, or its state changes in the program.
    pub fn watches(&self, event: EventId) -> bool {
        self.native.get().is_some() || self.needs(event)
    }

    /// Returns whether it waits for an event in its present state.
    pub fn needs(&self, event: EventId) -> bool {
        self.is_enabled && self.monitor.is_needed(event)
    }

    /// Returns a copy for a forked process: the monitor keeps its history, counts start anew.
    pub(super) fn forked(&self) -> MonitoredProperty {
        MonitoredProperty {
            is_enabled: self.is_enabled,
            since: self.since,
            bound: self.bound.clone(),
            inlined: self.inlined.clone(),
            doubts: self.doubts.clone(),
            overwritten: self.overwritten.clone(),
            namesakes: self.namesakes.clone(),
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
            ..MonitoredProperty::new(Monitor::clone(&self.monitor), Arc::clone(&self.text))
        }
    }

    /// Returns the number of events so far, including those of the parent processes.
    pub fn sequence(&self) -> u64 {
        self.inherited.events + self.occurrences.iter().sum::<u64>()
    }
}

/// A slice that is violated now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViolatedSlice {
    /// The number of the monitor.
    pub monitor: usize,
    /// The slice.
    pub slice: SliceId,
    /// There was an earlier violation of the same kind at the same place.
    pub repeated: bool,
}

/// The consequences of an event that must be reported.
#[derive(Debug, Default)]
pub struct EventOutcome {
    /// Slices that are violated now.
    pub violations: Vec<ViolatedSlice>,
    /// A guard or update that could not be evaluated, by monitor.
    pub error: Option<(usize, EvaluationError)>,
    /// The queued triggers of scenarios.
    pub queued: Vec<QueuedTrigger>,
    /// The frame level of the first of them, if that was an inlined call.
    pub level: Option<usize>,
}

impl EventOutcome {
    /// Returns whether the user need not be notified.
    pub fn is_empty(&self) -> bool {
        self.violations.is_empty() && self.error.is_none()
    }
}

impl MonitoredProperty {
    /// Takes an event. Returns whether its needs may have changed; `None` if no slice took it.
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
            // Slices without the error have taken the event.
            Err(error) => {
                self.note_error(number, error, outcome);
                true
            }
        };
        self.count_violations(number, happened.address, outcome);
        Some(needs_changed)
    }

    /// Counts an event that could not be evaluated; the first property's error is reported.
    pub(crate) fn note_error(
        &mut self,
        number: usize,
        error: EvaluationError,
        outcome: &mut EventOutcome,
    ) {
        self.errors += 1;
        let told = outcome.error.as_ref().map(|(number, _)| *number);
        if told.is_none_or(|told| number < told) {
            outcome.error = Some((number, error));
        }
    }

    /// Decides what is due at this time, in nanoseconds since the start of the program. Returns
    /// whether its needs may have changed; `None` if nothing is due.
    pub fn pass_time(
        &mut self,
        number: usize,
        time: u64,
        outcome: &mut EventOutcome,
    ) -> Option<bool> {
        self.next_deadline().filter(|deadline| *deadline <= time)?;
        let step = self.monitor.advance(time);
        self.count_violations(number, 0, outcome);
        Some(step.needs_changed)
    }

    /// Returns the time at which something is decided without an event.
    pub fn next_deadline(&self) -> Option<u64> {
        self.monitor.next_deadline().filter(|_| self.is_enabled)
    }

    /// Counts the violations of the last step, at an address.
    pub(crate) fn count_violations(
        &mut self,
        number: usize,
        address: u64,
        outcome: &mut EventOutcome,
    ) {
        let changes = self.monitor.changes().iter();
        for change in changes.filter(|change| change.violates()) {
            self.violations += 1;
            // Time has no address.
            let address = change.deadline.map_or(address, |_| 0);
            outcome.violations.push(ViolatedSlice {
                monitor: number,
                slice: change.slice,
                repeated: is_repeated(&self.monitor, change, address),
            });
        }
    }

    /// Ends the run, which decides undecided verdicts. Returns the slices that this violates, in
    /// the order of their parameters.
    pub fn finish(&mut self) -> Vec<SliceId> {
        if !self.is_enabled {
            return Vec::new();
        }
        if self.monitor.finish_quietly() {
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

/// Returns whether an earlier event violated in the same way at this place. Kinds beyond those that
/// can be distinguished count as new.
fn is_repeated(monitor: &Monitor, change: &Change, address: u64) -> bool {
    let kinds = monitor.violations().iter();
    let mut same = kinds
        .filter(|kind| (kind.from, kind.to, kind.address) == (change.from, change.to, address));
    same.any(|kind| {
        kind.last_sequence == monitor.sequence() && kind.first_sequence < kind.last_sequence
    })
}

/// Returns the number of objects that the property was evaluated for, including those that have
/// ended; 0 if it is not sliced.
pub fn slice_total(monitored: &MonitoredProperty) -> u64 {
    if monitored.property.slice.is_empty() {
        return 0;
    }
    monitored.monitor.object_count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{TWICE, monitored, take, take_at};

    fn error(words: &str) -> EvaluationError {
        EvaluationError {
            span: 0..1,
            message: words.to_owned(),
        }
    }

    #[test]
    fn the_error_of_the_first_property_is_reported() {
        let mut monitored = monitored(TWICE);
        let mut outcome = EventOutcome::default();
        monitored.note_error(2, error("of 2"), &mut outcome);
        monitored.note_error(1, error("of 1"), &mut outcome);
        monitored.note_error(3, error("of 3"), &mut outcome);
        assert_eq!(outcome.error, Some((1, error("of 1"))));
        assert_eq!(monitored.errors, 3);
    }

    #[test]
    fn an_event_that_cannot_be_evaluated_is_counted_and_reported() {
        let mut monitored = monitored(
            "property p event a = before a(n)
            state s accepting { on a when 10 / n > 1 -> t }
            state t accepting { on a -> s }",
        );
        let outcome = take(&mut monitored, "a", &[0], 0);
        assert!(outcome.error.is_some() && outcome.violations.is_empty());
        assert_eq!((monitored.errors, monitored.occurrences[0]), (1, 1));
    }

    #[test]
    fn a_disabled_property_takes_no_event_and_no_end() {
        let mut monitored = monitored(
            "property p event a = before a() state s non-accepting { on a -> t }
            state t accepting { on a -> s }",
        );
        monitored.is_enabled = false;
        take(&mut monitored, "a", &[], 0);
        assert_eq!(monitored.occurrences, [0]);
        assert!(!monitored.needs(EventId(0)) && !monitored.watches(EventId(0)));
        assert_eq!(monitored.finish(), []);
        assert_eq!(monitored.violations, 0);
        monitored.is_enabled = true;
        assert!(monitored.needs(EventId(0)));
        assert_eq!(monitored.finish().len(), 1);
    }

    #[test]
    fn a_violation_is_repeated_if_it_was_at_the_same_place() {
        let mut monitored = monitored(TWICE);
        let mut violate = |value, address| {
            take(&mut monitored, "a", &[value], 0x10);
            let outcome = take(&mut monitored, "a", &[value], address);
            outcome.violations[0].repeated
        };
        assert_eq!(
            [violate(1, 0x20), violate(2, 0x20), violate(3, 0x30)],
            [false, true, false]
        );
        assert_eq!(monitored.violations, 3);
    }

    #[test]
    fn the_end_violates_the_open_slices_in_the_order_of_their_parameters() {
        let mut monitored = monitored(
            "property p slice on n
            event a = before a(n)
            event b = before b(n)
            state open non-accepting { on a -> open on b -> done }
            state done accepting { on b -> open }",
        );
        for value in [3, 1, 2] {
            take(&mut monitored, "a", &[value], 0);
        }
        let open = monitored.finish();
        let bound = |id: &SliceId| monitored.monitor.slice(*id).expect("a slice").binding;
        let bound: Vec<String> = open.iter().map(|id| format!("{:?}", bound(id))).collect();
        // The slice without an object is none of them.
        assert_eq!(
            bound,
            ["[Some(Int(1))]", "[Some(Int(2))]", "[Some(Int(3))]"]
        );
        assert_eq!((monitored.violations, monitored.violated_by_end), (3, 3));
    }

    #[test]
    fn time_decides_when_the_deadline_has_come_and_has_no_address() {
        let mut monitored = monitored(
            "property p event a = before a() event b = before b()
            ltl always (a implies eventually within 10 ns b)",
        );
        assert_eq!(monitored.next_deadline(), None);
        take_at(&mut monitored, "a", &[], (0x10, 100));
        let deadline = monitored.next_deadline().expect("it waits");
        let mut outcome = EventOutcome::default();
        assert_eq!(monitored.pass_time(0, deadline - 1, &mut outcome), None);
        assert!(outcome.is_empty());
        assert!(monitored.pass_time(0, deadline, &mut outcome).is_some());
        assert_eq!(outcome.violations.len(), 1);
        assert_eq!(monitored.monitor.violations()[0].address, 0);
        monitored.is_enabled = false;
        assert_eq!(monitored.next_deadline(), None);
    }

    #[test]
    fn objects_are_counted_without_the_slice_of_none() {
        let mut sliced = monitored(TWICE);
        for value in [1, 2, 1] {
            take(&mut sliced, "a", &[value], 0);
        }
        assert_eq!(slice_total(&sliced), 2);
        let child = sliced.forked();
        assert_eq!((child.inherited.slices, child.inherited.events), (2, 3));
        assert_eq!((child.sequence(), child.violations), (3, 0));
        let mut whole =
            monitored("property p event a = before a() state s accepting { on a -> s }");
        take(&mut whole, "a", &[], 0);
        assert_eq!(slice_total(&whole), 0);
    }
}
