//! The totals of the monitors of all processes of a run.
//!
//! Each process has its own monitors; a property is summarized once when the run is over.
//!
//! **Invariant**: an event is counted in the process where it happened, and nowhere else.

use crate::monitors::monitored_property::slice_total;
use crate::monitors::{MonitoredProperty, Monitors};
use crate::violation_counts;
use juror_event::{EventId, Reach, SymbolicEvent, Verdict};
use juror_instrument::probes::{CallDoubt, InlinedTotal};
use juror_language::{Behaviour, Property, State};
use juror_view::location::{Places, event_words};
use juror_view::{EventSummary, PropertySummary, ViolationCount};
use std::sync::Arc;

/// The number of stops from which on they are told.
const UNWINDING_STOPS_MIN: u64 = 100;

/// The totals of the processes that have ended, by property.
#[derive(Debug, Default)]
pub struct Totals(Vec<Total>);

/// The totals of one property.
#[derive(Debug, Clone)]
struct Total {
    property: Arc<Property>,
    verdict: Verdict,
    violations: u64,
    violation_counts: Vec<ViolationCount>,
    /// By event.
    events: Vec<EventTotal>,
    errors: u64,
    slices: u64,
}

/// The totals of one event.
#[derive(Debug, Clone)]
struct EventTotal {
    occurrences: u64,
    unneeded: u64,
    stops: u64,
    tier: Option<String>,
    bound: bool,
    inlined: InlinedTotal,
    doubts: Vec<CallDoubt>,
    overwritten: bool,
    namesakes: Vec<Arc<str>>,
    /// Whether some monitor waits for it.
    needed: bool,
}

impl Totals {
    /// Adds the counts of a process that has ended or was detached.
    pub fn add<P: Places>(&mut self, monitors: &Monitors, places: Option<&P>) {
        for monitored in monitors.shown() {
            self.add_one(monitored, places);
        }
    }

    /// Adds the counts of one property, or of a share of its slices.
    pub fn add_one<P: Places>(&mut self, monitored: &MonitoredProperty, places: Option<&P>) {
        let total = Total::of(monitored, places);
        match self.0.iter_mut().find(|it| it.is_of(monitored)) {
            Some(known) => known.add(&total),
            None => self.0.push(total),
        }
    }

    /// Forgets a removed property; another one may get its name.
    pub fn forget(&mut self, monitored: &MonitoredProperty) {
        self.0.retain(|total| !total.is_of(monitored));
    }

    /// Returns the summaries at the end of the run: these processes and the last one. If
    /// `allows_unbound`, a property may hold although no module had the name of an event.
    pub fn summaries<P: Places>(
        &self,
        last: &Monitors,
        places: Option<&P>,
        allows_unbound: bool,
    ) -> Vec<PropertySummary> {
        let with_others = |monitored: &MonitoredProperty| {
            let mut total = Total::of(monitored, places);
            if let Some(others) = self.0.iter().find(|it| it.is_of(monitored)) {
                total.add(others);
            }
            total.summary(monitored, allows_unbound)
        };
        last.shown().iter().map(with_others).collect()
    }
}

impl Total {
    fn is_of(&self, monitored: &MonitoredProperty) -> bool {
        self.property.name == monitored.property.name
            && self.property.source_name == monitored.property.source_name
    }

    fn of<P: Places>(monitored: &MonitoredProperty, places: Option<&P>) -> Total {
        let at = |index: usize| EventTotal {
            occurrences: monitored.occurrences.get(index).copied().unwrap_or(0),
            unneeded: monitored.unneeded.get(index).copied().unwrap_or(0),
            stops: monitored.stops.get(index).copied().unwrap_or(0),
            tier: monitored.tiers.get(index).cloned().flatten(),
            bound: monitored.bound.get(index).copied().unwrap_or(false),
            inlined: monitored.inlined.get(index).copied().unwrap_or_default(),
            doubts: monitored.doubts.get(index).cloned().unwrap_or_default(),
            overwritten: monitored.overwritten.get(index).copied().unwrap_or(false),
            namesakes: monitored.namesakes.get(index).cloned().unwrap_or_default(),
            needed: monitored.monitor.is_needed(EventId(index as u16)),
        };
        Total {
            property: Arc::clone(&monitored.property),
            verdict: monitored.monitor.verdict(),
            violations: monitored.violations,
            violation_counts: violation_counts::violations(monitored, places),
            events: (0..monitored.property.events.len()).map(at).collect(),
            errors: monitored.errors,
            slices: slice_total(monitored).saturating_sub(monitored.inherited.slices),
        }
    }

    fn add(&mut self, other: &Total) {
        self.verdict = self.verdict.max(other.verdict);
        self.violations += other.violations;
        for kind in &other.violation_counts {
            violation_counts::add(&mut self.violation_counts, kind.clone());
        }
        self.errors += other.errors;
        self.slices += other.slices;
        for (event, others) in self.events.iter_mut().zip(&other.events) {
            event.occurrences += others.occurrences;
            event.unneeded += others.unneeded;
            event.stops += others.stops;
            if event.tier.is_none() {
                event.tier.clone_from(&others.tier);
            }
            event.bound |= others.bound;
            let inlined = &mut event.inlined;
            inlined.missed = inlined.missed.max(others.inlined.missed);
            inlined.seen = inlined.seen.max(others.inlined.seen);
            inlined.likely = inlined.likely.max(others.inlined.likely);
            inlined.of_linker = inlined.of_linker.max(others.inlined.of_linker);
            event.doubts.extend_from_slice(&others.doubts);
            event.doubts.sort();
            event.doubts.dedup();
            event.overwritten |= others.overwritten;
            event.needed |= others.needed;
        }
    }

    fn summary(&self, monitored: &MonitoredProperty, allows_unbound: bool) -> PropertySummary {
        let events = monitored.property.events.iter().zip(&self.events);
        let events = events.map(|(event, total)| EventSummary {
            event: event.name.to_string(),
            what: event_words(event),
            occurrences: total.occurrences,
            unneeded: total.unneeded,
            stops: total.stops,
            tier: total.tier.clone(),
        });
        PropertySummary {
            property: monitored.property.name.to_string(),
            verdict: match self.violations {
                0 => self.verdict,
                _ => Verdict::Violated,
            },
            enabled: monitored.is_enabled,
            violations: self.violations,
            violation_counts: self.violation_counts.clone(),
            events: events.collect(),
            slices: self.slices,
            undecided: self.undecided(monitored, allows_unbound),
            remarks: self.remarks(monitored),
        }
    }

    /// Returns why the property does not hold, whatever its verdict is.
    fn undecided(&self, monitored: &MonitoredProperty, allows_unbound: bool) -> Vec<String> {
        let errors = match self.errors {
            0 => None,
            1 => Some("one event could not be evaluated".to_owned()),
            errors => Some(format!("{errors} events could not be evaluated")),
        };
        let absent = self
            .absent(monitored)
            .into_iter()
            .map(|event| absent_words(event, "had"));
        let absent = absent.filter(|_| !allows_unbound);
        let overwritten = self.overwritten(monitored);
        errors
            .into_iter()
            .chain(absent)
            .chain(overwritten)
            .collect()
    }

    /// Returns a sentence for each function whose code the program has written over.
    fn overwritten(&self, monitored: &MonitoredProperty) -> Vec<String> {
        let events = monitored.property.events.iter().zip(&self.events);
        let mut subjects: Vec<&str> = events
            .filter(|(_, total)| total.overwritten)
            .map(|(event, _)| &*event.subject)
            .collect();
        subjects.sort_unstable();
        subjects.dedup();
        let words = |subject| {
            format!("the program wrote over code where `{subject}` was watched: events were missed")
        };
        subjects.into_iter().map(words).collect()
    }

    /// Returns the events whose names no loaded module had, one for each subject.
    fn absent<'a>(&self, monitored: &'a MonitoredProperty) -> Vec<&'a SymbolicEvent> {
        let events = monitored.property.events.iter().zip(&self.events);
        let mut absent: Vec<&SymbolicEvent> = events
            .filter(|(_, total)| !total.bound)
            .map(|(event, _)| event)
            .collect();
        absent.sort_by_key(|event| (&event.subject, event.kind.is_about_memory()));
        absent.dedup_by_key(|event| (&event.subject, event.kind.is_about_memory()));
        absent
    }

    /// Returns the remarks that a user should read before trusting a verdict.
    fn remarks(&self, monitored: &MonitoredProperty) -> Vec<String> {
        let mut remarks = Vec::new();
        match self.errors {
            0 => {}
            1 => remarks.push("one event could not be evaluated, and is ignored".to_owned()),
            errors => remarks.push(format!(
                "{errors} events could not be evaluated, and are ignored"
            )),
        }
        let events = || monitored.property.events.iter().zip(&self.events);
        if monitored.unwinding_stops >= UNWINDING_STOPS_MIN
            && events().any(|(event, _)| event.kind.is_end_of_call())
        {
            remarks.push(format!(
                "the program stopped {} times where it leaves calls otherwise than by a return \
                 (longjmp, exceptions), which may end calls that are followed",
                monitored.unwinding_stops
            ));
        }
        let mut inlined: Vec<String> = events()
            .flat_map(|(event, total)| inlined_remarks(&event.subject, total.inlined))
            .collect();
        inlined.dedup();
        remarks.append(&mut inlined);
        let mut doubts: Vec<&CallDoubt> = events().flat_map(|(_, it)| &it.doubts).collect();
        doubts.sort();
        doubts.dedup();
        remarks.extend(doubts.iter().map(ToString::to_string));
        let mut others: Vec<String> = events()
            .filter_map(|(event, total)| namesake_remark(&event.subject, &total.namesakes))
            .collect();
        others.dedup();
        remarks.append(&mut others);
        let absent = self.absent(monitored);
        remarks.extend(absent.iter().map(|event| absent_words(event, "had")));
        let absent: Vec<&str> = absent.iter().map(|event| &*event.subject).collect();
        let is_silent = self.events.iter().all(|total| total.occurrences == 0);
        if is_silent && self.events.iter().any(|total| total.unneeded > 0) {
            remarks.push(
                "no state needed the events that happened: the verdict says nothing about the \
                 behaviour"
                    .to_owned(),
            );
            return remarks;
        }
        if is_silent && absent.len() < self.events.len() {
            // Without an event the first states were never left.
            let is_complete = self.events.iter().all(|total| total.needed);
            let which = if is_complete {
                "none of its events"
            } else {
                "none of the events that its first state waits for"
            };
            remarks.push(format!(
                "{which} happened: the verdict says nothing about the behaviour"
            ));
            return remarks;
        }
        // Events that were monitored and never happened.
        let never = events().filter(|(event, total)| {
            total.occurrences == 0
                && total.needed
                && event.reach == Reach::Anywhere
                && !absent.contains(&&*event.subject)
        });
        let is_always_watched = |event: &SymbolicEvent| {
            let mut events = monitored.property.events.iter();
            let number = events.position(|it| std::ptr::eq(it, event));
            number.is_some_and(|number| is_needed_everywhere(&monitored.property, number))
        };
        remarks.extend(never.map(|(event, _)| {
            let words = event_words(event);
            if is_always_watched(event) {
                format!("`{words}` never happened")
            } else {
                format!("`{words}` did not happen in a state that waits for it")
            }
        }));
        remarks
    }
}

/// Returns whether each state waits for an event: in another one nobody knows whether it
/// happens. The states of a formula are not known beforehand.
fn is_needed_everywhere(property: &Property, event: usize) -> bool {
    let waits = |state: &State| {
        let mut transitions = state.transitions.iter();
        transitions.any(|transition| usize::from(transition.event.0) == event)
    };
    match &property.behaviour {
        // What binds no parameter stays in the first state.
        Behaviour::Automaton { states, initial } if !property.slice.is_empty() => {
            states.get(initial.index()).is_some_and(waits)
        }
        Behaviour::Automaton { states, .. } => states
            .iter()
            .filter(|state| !state.transitions.is_empty())
            .all(waits),
        Behaviour::Logic(_) => false,
    }
}

/// Returns that no module `had` (or `has`) the subject of an event.
pub fn absent_words(event: &SymbolicEvent, had: &str) -> String {
    let subject = &event.subject;
    match (&event.reach, event.kind.is_about_memory()) {
        (Reach::Module(module), _) => format!("no loaded `{module}` {had} `{subject}`"),
        (_, true) => format!("no loaded module {had} `{subject}`"),
        (_, false) => format!("no loaded module {had} the function `{subject}`"),
    }
}

/// Returns the remark on functions of the program that have the name of a library's function.
fn namesake_remark(function: &str, namesakes: &[Arc<str>]) -> Option<String> {
    let (first, others) = namesakes.split_first()?;
    let more = match others.len() {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    Some(format!(
        "`{function}` is a library's function; `{first}`{more} of the program was not meant"
    ))
}

/// Returns remarks on the inlined calls of a function.
fn inlined_remarks(function: &str, total: InlinedTotal) -> impl Iterator<Item = String> {
    let calls = |count: usize| match count {
        1 => "an inlined call".to_owned(),
        _ => format!("{count} inlined calls"),
    };
    let InlinedTotal {
        missed,
        seen,
        likely,
        of_linker,
    } = total;
    let missed = (missed > 0).then(|| match missed {
        1 => format!("an inlined call of `{function}` could not be monitored"),
        _ => format!("inlined calls of `{function}` could not be monitored"),
    });
    let seen = (seen > 0).then(|| {
        format!(
            "`{function}` was monitored at {}; calls that the compiler evaluated have no code",
            calls(seen)
        )
    });
    let likely = (likely > 0).then(|| {
        format!(
            "{} of `{function}` had no mark: their code may belong to several calls",
            calls(likely)
        )
    });
    let of_linker = (of_linker > 0).then(|| {
        format!("`{function}` was not monitored where the dynamic linker has inlined its own")
    });
    let all = [missed, seen, likely, of_linker];
    all.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitors::loading;
    use crate::property_files::PropertySource;

    /// No locations are known.
    const PLACES: Option<&juror_program::program::Program> = None;

    /// Returns the monitors of one process, with the occurrences of its two events.
    fn monitored(occurrences: [u64; 2], violations: u64) -> Monitors {
        let text = "property p
            event a = before f()
            event b = before g()
            state s accepting { on a -> s on b -> s }";
        let source = PropertySource::new("p.prop", text);
        let (mut monitors, _) = loading::load(&[source], 0).expect("it is right");
        for monitored in &mut monitors.properties {
            monitored.occurrences = occurrences.to_vec();
            monitored.stops = occurrences.to_vec();
            monitored.violations = violations;
            monitored.bound = vec![true, true];
        }
        monitors
    }

    #[track_caller]
    fn check(
        gone: &[Monitors],
        last: &Monitors,
        expected: ([u64; 2], u64, Verdict),
        remarks: &[&str],
    ) {
        let mut totals = Totals::default();
        for monitors in gone {
            totals.add(monitors, PLACES);
        }
        let summaries = totals.summaries(last, PLACES, false);
        let [summary] = summaries.as_slice() else {
            panic!("{summaries:?}");
        };
        let counts: Vec<u64> = summary.events.iter().map(|it| it.occurrences).collect();
        let (occurrences, violations, verdict) = expected;
        assert_eq!(counts, occurrences);
        assert_eq!((summary.violations, summary.verdict), (violations, verdict));
        assert_eq!(summary.remarks, remarks);
    }

    #[test]
    fn what_happened_in_any_process_has_happened() {
        // Nothing in the property can be violated.
        let holds = Verdict::Satisfied;
        let silent = || monitored([0, 0], 0);
        let never = "none of its events happened: the verdict says nothing about the behaviour";
        check(&[], &silent(), ([0, 0], 0, holds), &[never]);
        let [one, other] = [monitored([3, 0], 0), monitored([2, 0], 0)];
        let missing = ["`before g` never happened"];
        check(&[one, other], &silent(), ([5, 0], 0, holds), &missing);
        let [one, other] = [monitored([3, 0], 1), monitored([0, 4], 0)];
        check(&[one], &other, ([3, 4], 1, Verdict::Violated), &[]);
    }

    #[test]
    fn a_child_counts_anew_what_it_goes_on_from() {
        let parent = monitored([3, 1], 2);
        let child = parent.executed(2);
        assert_eq!(child.properties[0].sequence(), 4);
        let expected = ([3, 1], 2, Verdict::Violated);
        check(&[child], &parent, expected, &[]);
    }

    /// Returns the only summary of a property that was changed.
    fn summary_of(
        allows_unbound: bool,
        change: impl FnOnce(&mut MonitoredProperty),
    ) -> PropertySummary {
        let mut monitors = monitored([1, 1], 0);
        change(&mut monitors.properties[0]);
        let totals = Totals::default();
        totals
            .summaries(&monitors, PLACES, allows_unbound)
            .remove(0)
    }

    #[test]
    fn a_property_with_an_event_in_no_module_is_undecided() {
        let change = |monitored: &mut MonitoredProperty| monitored.bound = vec![true, false];
        let words = "no loaded module had the function `g`";
        let strict = summary_of(false, change);
        assert_eq!(strict.undecided, [words]);
        assert_eq!(strict.remarks, [words]);
        let lenient = summary_of(true, change);
        assert_eq!(lenient.undecided, [""; 0]);
        assert_eq!(lenient.remarks, [words]);
    }

    #[test]
    fn a_property_whose_function_was_written_over_is_undecided() {
        let change = |monitored: &mut MonitoredProperty| monitored.overwritten = vec![false, true];
        let summary = summary_of(true, change);
        let words = "the program wrote over code where `g` was watched: events were missed";
        assert_eq!(summary.undecided, [words]);
        assert_eq!(summary.remarks, [""; 0]);
    }

    #[test]
    fn a_property_with_an_error_is_undecided() {
        let one = summary_of(true, |it| it.errors = 1);
        assert_eq!(one.undecided, ["one event could not be evaluated"]);
        assert_eq!(
            one.remarks,
            ["one event could not be evaluated, and is ignored"]
        );
        let several = summary_of(true, |it| it.errors = 3);
        assert_eq!(several.undecided, ["3 events could not be evaluated"]);
    }

    #[test]
    fn events_that_no_state_needed_say_nothing() {
        let unneeded = summary_of(false, |it| {
            it.occurrences = vec![0, 0];
            it.unneeded = vec![0, 2];
        });
        let [remark] = unneeded.remarks.as_slice() else {
            panic!("{:?}", unneeded.remarks);
        };
        assert!(
            remark.starts_with("no state needed the events that happened"),
            "{remark}"
        );
    }

    /// An event that a state does not wait for is not watched in it.
    #[test]
    fn only_an_event_that_each_state_waits_for_is_known_not_to_happen() {
        let remarks = |occurrences: [u64; 2], states: &str| {
            let text = format!("property p event a = before f() event b = before g() {states}");
            let source = PropertySource::new("p.prop", text);
            let (mut monitors, _) = loading::load(&[source], 0).expect("it is right");
            let monitored = &mut monitors.properties[0];
            monitored.occurrences = occurrences.to_vec();
            monitored.bound = vec![true, true];
            let summaries = Totals::default().summaries(&monitors, PLACES, false);
            summaries[0].remarks.clone()
        };
        let both = "state s { on a -> t on b -> t } state t { on a -> s on b -> s }";
        let one = "state s { on a -> t on b -> t } state t { on a -> s }";
        assert_eq!(remarks([2, 0], both), ["`before g` never happened"]);
        assert_eq!(
            remarks([2, 0], one),
            ["`before g` did not happen in a state that waits for it"]
        );
        let silent = |states| remarks([0, 0], states).remove(0);
        assert!(silent(both).starts_with("none of its events happened: "));
        let first = "state s { on a -> t } state t { on b -> s }";
        assert!(
            silent(first).starts_with("none of the events that its first state waits for happened")
        );
    }

    #[test]
    fn an_absent_event_is_told_by_its_reach() {
        let words = |text: &str| absent_words(&crate::samples::event(text), "has");
        assert_eq!(words("before f()"), "no loaded module has the function `f`");
        assert_eq!(
            words("before f() in \"libz.so\""),
            "no loaded `libz.so` has `f`"
        );
        assert_eq!(words("write total"), "no loaded module has `total`");
    }

    #[test]
    fn inlined_calls_are_told_by_what_is_known_of_them() {
        let told = |total| inlined_remarks("f", total).collect::<Vec<_>>();
        let none = InlinedTotal::default();
        assert_eq!(told(none), [""; 0]);
        let of = |words: &str, total| {
            let told = told(total);
            assert!(told.len() == 1 && told[0].contains(words), "{told:?}");
        };
        of(
            "an inlined call of `f` could not",
            InlinedTotal { missed: 1, ..none },
        );
        of(
            "inlined calls of `f` could not",
            InlinedTotal { missed: 2, ..none },
        );
        of(
            "monitored at an inlined call;",
            InlinedTotal { seen: 1, ..none },
        );
        of(
            "monitored at 2 inlined calls;",
            InlinedTotal { seen: 2, ..none },
        );
        of(
            "2 inlined calls of `f` had no mark",
            InlinedTotal { likely: 2, ..none },
        );
        of(
            "where the dynamic linker",
            InlinedTotal {
                of_linker: 1,
                ..none
            },
        );
    }

    #[test]
    fn inlined_calls_of_several_processes_are_the_same_ones() {
        let with = |missed| {
            let mut monitors = monitored([1, 1], 0);
            monitors.properties[0].inlined[0].missed = missed;
            monitors
        };
        let mut totals = Totals::default();
        totals.add(&with(1), PLACES);
        let summary = totals.summaries(&with(1), PLACES, false).remove(0);
        assert_eq!(
            summary.remarks,
            ["an inlined call of `f` could not be monitored"]
        );
    }

    #[test]
    fn a_forgotten_property_leaves_no_counts() {
        let mut totals = Totals::default();
        let gone = monitored([3, 0], 1);
        totals.add(&gone, PLACES);
        totals.forget(&gone.properties[0]);
        let summary = totals
            .summaries(&monitored([1, 1], 0), PLACES, false)
            .remove(0);
        assert_eq!((summary.violations, summary.events[0].occurrences), (0, 1));
    }
}
