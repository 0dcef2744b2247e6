//! Changes between a general monitor and a table at random moments: each continues what
//! the other has left, as an oracle that takes everything.

use super::{Given, Words, lowered, occurrence_values};
use crate::history::Path;
use crate::lowering::monitor::Values;
use crate::lowering::{
    EndKind, EventWords, Options, Progress, Running, WordKind, WordMonitor, lower,
};
use crate::monitor::Monitor;
use crate::snapshot::Edit;
use crate::step::Occurrence;
use juror_event::{EventId, Value};
use juror_language::{Property, StateId, load};
use std::sync::Arc;

/// Runs events through a monitor and a table, by moments that say which of them takes
/// the event and what is written back. Returns the number of writings; `None` if the
/// property is not native.
pub(super) fn run(
    property: &Property,
    records: usize,
    events: &[Given],
    moments: &[u8],
) -> Option<u64> {
    let lowered = lowered(property.clone(), records).ok()?;
    let property = Arc::new(property.clone());
    // The states of formulas are numbered as they appear.
    let mut oracle = Monitor::with_history(Arc::clone(&property), records).unwrap();
    let mut pair = Pair {
        monitor: oracle.clone(),
        words: WordMonitor::new(lowered, Vec::new()).unwrap(),
        is_native: false,
        counts: vec![0; property.events.len()],
        writings: 0,
    };
    for (given, &moment) in events.iter().zip(moments.iter().cycle()) {
        if moment % 4 == 0 {
            pair.change(moment & 16 != 0, &oracle);
        }
        let (event, values) = occurrence_values(&oracle, given);
        let occurrence = Occurrence {
            thread: given.2,
            address: given.3,
            time: 0,
            values: &values,
        };
        pair.take(&mut oracle, event, &occurrence, moment & 8 != 0);
        pair.check(&oracle, moment);
    }
    pair.write_back(&oracle);
    Some(pair.writings)
}

/// A monitor and a table, of which one is ahead.
struct Pair {
    monitor: Monitor,
    words: Words,
    is_native: bool,
    /// By event: how often it was needed since the table was filled.
    counts: Vec<u64>,
    writings: u64,
}

impl Pair {
    /// Goes on with the other one.
    fn change(&mut self, is_new: bool, oracle: &Monitor) {
        if self.is_native {
            self.write_back(oracle);
        } else {
            if is_new {
                let lowered = self.words.lowered.clone();
                self.words = WordMonitor::new(lowered, Vec::new()).unwrap();
            }
            assert!(self.words.take_over(&self.monitor));
            assert_same(&self.words.to_monitor(), oracle);
            self.counts.fill(0);
        }
        self.is_native = !self.is_native;
    }

    fn write_back(&mut self, oracle: &Monitor) {
        if self.is_native {
            self.words.write_back(&mut self.monitor);
            assert!(!self.words.is_behind(&self.monitor));
            assert_same(&self.monitor, oracle);
            self.writings += 1;
        }
    }

    fn take(
        &mut self,
        oracle: &mut Monitor,
        event: EventId,
        occurrence: &Occurrence<'_>,
        as_thread: bool,
    ) {
        let is_needed = oracle.needs()[usize::from(event.0)].needed;
        self.counts[usize::from(event.0)] += u64::from(is_needed);
        let by_thread = (self.is_native && as_thread)
            .then(|| run_as_thread(&mut self.words, event, occurrence))
            .flatten();
        match by_thread {
            // Nothing has been told of it.
            Some(EndKind::Unneeded) => assert!(!is_needed),
            Some(kind) => {
                let step = oracle.step(event, occurrence).unwrap();
                assert_eq!(step.taken, kind == EndKind::Taken);
            }
            None => {
                let expected = oracle.step(event, occurrence);
                let found = if self.is_native {
                    self.words.step(event, occurrence)
                } else {
                    self.monitor.step(event, occurrence)
                };
                match (expected, found) {
                    (Ok(expected), Ok(found)) => {
                        assert_eq!(expected.taken, found.taken);
                        assert_eq!(expected.violated, found.violated);
                        assert_eq!(expected.verdict_after, found.verdict_after);
                    }
                    (expected, found) => assert_eq!(expected.err(), found.err()),
                }
            }
        }
    }

    /// Compares the one that is ahead with the oracle.
    fn check(&mut self, oracle: &Monitor, moment: u8) {
        if !self.is_native {
            assert_same(&self.monitor, oracle);
            return;
        }
        assert_eq!(self.words.needs(), oracle.needs());
        assert_eq!(self.words.verdict(), oracle.verdict());
        assert_eq!(self.words.sequence(), oracle.sequence());
        assert_eq!(self.words.event_counts(), self.counts);
        match moment & 6 {
            2 => self.write_back(oracle),
            // Into a copy, from which it goes on.
            4 => {
                self.monitor = self.monitor.clone();
                self.write_back(oracle);
            }
            6 => assert_same(&self.words.to_monitor(), oracle),
            _ => {}
        }
    }
}

/// Runs the operations of an event as a thread does; `None` if it comes to a gate.
fn run_as_thread(
    words: &mut Words,
    event: EventId,
    occurrence: &Occurrence<'_>,
) -> Option<EndKind> {
    let lowered = words.lowered.clone();
    let program = &lowered.program.steps[usize::from(event.0)];
    if program.why.is_some() {
        return None;
    }
    let layout = &lowered.program.layout;
    let thread = layout.journal(1) + u64::from(crate::lowering::JournalWord::Thread.offset());
    words.memory_mut()[thread as usize / 8] = occurrence.thread.into();
    let values = Values {
        occurrence,
        kinds: &lowered.kinds[usize::from(event.0)],
    };
    let mut running = Running::new(layout, 1);
    loop {
        match running.advance(program, words.memory_mut(), &values) {
            Progress::Goes => {}
            Progress::Ends(kind) => return Some(kind),
            Progress::Gates(_) => return None,
            Progress::Waits => panic!("a lock is held"),
        }
    }
}

/// Compares everything that can be seen of two monitors, whose states may be numbered
/// differently.
pub(super) fn assert_same(monitor: &Monitor, oracle: &Monitor) {
    assert_eq!(monitor.slices().count(), oracle.slices().count());
    for (found, expected) in monitor.slices().zip(oracle.slices()) {
        assert_eq!(found.id, expected.id);
        // Equal numbers may be of different kinds.
        assert_eq!(
            format!("{:?}", found.binding),
            format!("{:?}", expected.binding)
        );
        assert_eq!(
            format!("{:?}", found.environment),
            format!("{:?}", expected.environment)
        );
        assert_eq!(
            monitor.state_name(found.state),
            oracle.state_name(expected.state)
        );
        assert_eq!(found.verdict, expected.verdict);
        assert_eq!(found.ended, expected.ended);
        assert_eq!(
            shown(monitor, &monitor.path(found.id)),
            shown(oracle, &oracle.path(found.id))
        );
    }
    assert_eq!(monitor.needs(), oracle.needs());
    assert_eq!(monitor.verdict(), oracle.verdict());
    assert_eq!(monitor.sequence(), oracle.sequence());
    assert_eq!(monitor.slice_count(), oracle.slice_count());
    assert_eq!(monitor.ended_count(), oracle.ended_count());
    assert_eq!(monitor.peak_count(), oracle.peak_count());
    assert_eq!(monitor.violation_count(), oracle.violation_count());
    assert_eq!(monitor.tally, oracle.tally);
    // Places that are overwritten keep values that nothing shows.
    if oracle.history.made() <= oracle.history.capacity() as u64 {
        assert!(monitor == oracle);
    }
}

/// A path with the descriptions of its states.
fn shown(monitor: &Monitor, path: &Path) -> String {
    let state = |state: StateId| monitor.state_name(state);
    let events = path.events.iter().map(|event| {
        let (from, to) = (state(event.from), state(event.to));
        let event = crate::history::PathEvent {
            from: StateId(0),
            to: StateId(0),
            ..event.clone()
        };
        format!("{event:?} {from} {to}\n")
    });
    format!("{} {}", path.forgotten, events.collect::<String>())
}

const BLOCKS: &str = "property p slice on k
    event open = before o(k)
    event close = before c(k)
    event gone = before g(k)
    state none { on open -> opened }
    state opened { on close -> closed on gone -> over }
    state closed { on open -> opened on gone -> over }
    state over final";

fn blocks(records: usize) -> (Monitor, Words) {
    super::pair(load(BLOCKS).0.remove(0), records).unwrap()
}

fn given(event: u16, key: i64) -> Given {
    (event, vec![Value::Int(key.into())], 1, 0)
}

/// Gives an event to the oracle, and runs its operations as a thread does.
fn step_as_thread(oracle: &mut Monitor, words: &mut Words, given: &Given) {
    let (event, values) = occurrence_values(oracle, given);
    let occurrence = Occurrence {
        thread: 1,
        address: 0,
        time: 0,
        values: &values,
    };
    // A thread does not number what nothing needs.
    if oracle.needs()[usize::from(event.0)].needed {
        oracle.step(event, &occurrence).unwrap();
        if run_as_thread(words, event, &occurrence).is_none() {
            words.step(event, &occurrence).unwrap();
        }
    }
}

#[test]
fn few_changes_among_many_slices_are_written_alone() {
    const COUNT: i64 = 100_000;
    let (mut oracle, mut words) = blocks(1_024);
    for key in 0..COUNT {
        step_as_thread(&mut oracle, &mut words, &given(0, key * 16));
    }
    let mut monitor = oracle.restarted(1_024);
    let mut write = |oracle: &mut Monitor, words: &mut Words, events: &[Given], most: usize| {
        for event in events {
            step_as_thread(oracle, words, event);
        }
        if let Some(written) = &monitor.written {
            let changed = words.changed_since(written, &monitor);
            assert!(changed.len() <= most, "{}", changed.len());
        }
        let start = std::time::Instant::now();
        words.write_back(&mut monitor);
        println!("{} events: {:?}", events.len(), start.elapsed());
        assert!(monitor == *oracle || oracle.history.made() > 1_024);
    };
    write(&mut oracle, &mut words, &[], 0);
    write(&mut oracle, &mut words, &[], 0);
    let few = [
        given(1, 160),
        given(2, 320),
        given(0, -1),
        given(0, 7),
        given(2, 480),
    ];
    write(&mut oracle, &mut words, &few, 5);
    let many: Vec<Given> = (0..2_000).map(|key| given(1, key * 16)).collect();
    write(&mut oracle, &mut words, &many, 2_000);
    assert_same(&monitor, &oracle);
    let start = std::time::Instant::now();
    let mut later = WordMonitor::new(words.lowered.clone(), Vec::new()).unwrap();
    assert!(later.take_over(&monitor));
    println!("take over: {:?}", start.elapsed());
    assert_same(&later.to_monitor(), &oracle);
}

#[test]
fn what_an_event_does_to_more_slices_than_are_noted_is_written() {
    const ALL: &str = "property p slice on k
        event open = before o(k)
        event end = before e()
        state none { on open -> opened }
        state opened { on end -> ended }
        state ended { on open -> opened }";
    for count in [4_096, 4_097, 10_000] {
        let (mut oracle, mut words) = super::pair(load(ALL).0.remove(0), 1 << 16).unwrap();
        let mut monitor = oracle.restarted(1 << 16);
        for key in 0..count {
            step_as_thread(&mut oracle, &mut words, &given(0, key * 16));
        }
        words.write_back(&mut monitor);
        step_as_thread(&mut oracle, &mut words, &(1, Vec::new(), 1, 0));
        words.write_back(&mut monitor);
        assert_same(&monitor, &oracle);
        step_as_thread(&mut oracle, &mut words, &given(0, 16));
        words.write_back(&mut monitor);
        assert_same(&monitor, &oracle);
    }
}

/// A thread is killed after each number of operations, and the rest is redone.
#[test]
fn what_a_killed_thread_has_done_is_written() {
    for records in [0, 2, 64] {
        for event in [given(0, 48), given(1, 16), given(0, 16)] {
            for count in 0..150 {
                let (mut oracle, mut words) = blocks(records);
                let mut monitor = oracle.clone();
                for event in [given(0, 16), given(0, 32), given(2, 32)] {
                    step_as_thread(&mut oracle, &mut words, &event);
                }
                words.write_back(&mut monitor);
                let lowered = words.lowered.clone();
                let program = &lowered.program.steps[usize::from(event.0)];
                let occurrence = Occurrence {
                    thread: 1,
                    address: 0,
                    time: 0,
                    values: &event.1,
                };
                let values = Values {
                    occurrence: &occurrence,
                    kinds: &lowered.kinds[usize::from(event.0)],
                };
                let mut running = Running::new(&lowered.program.layout, 1);
                for _ in 0..count {
                    match running.advance(program, words.memory_mut(), &values) {
                        Progress::Goes => {}
                        _ => break,
                    }
                }
                words.recover();
                words.write_back(&mut monitor);
                assert_same(&monitor, &words.to_monitor());
                assert_eq!(monitor.slices.free(), words.to_monitor().slices.free());
                let happened: u64 = words.event_counts().iter().sum();
                assert!((3..=4).contains(&happened));
                assert!(monitor.sequence() >= happened);
            }
        }
    }
}

/// A parameter is shown as an address from the first event on that gives one.
#[test]
fn addresses_are_shown_when_they_were_seen() {
    let source = "property p slice on k event number = before f(k) event address = before g(k)
        state s { on number -> t on address -> t } state t { on address -> s }";
    let property = load(source).0.remove(0);
    let mut words = super::words_of(&property);
    words[1] = Ok(EventWords {
        captures: vec![Some(super::capture(WordKind::Address))],
    });
    let mut oracle = Monitor::new(Arc::new(property)).unwrap();
    let lowered = lower(&oracle, &words, &Options::default()).unwrap();
    let mut words = WordMonitor::new(lowered, Vec::new()).unwrap();
    let mut monitor = oracle.clone();
    for (event, value) in [(0, Value::Int(8)), (1, Value::Address(16))] {
        let occurrence = Occurrence {
            thread: 1,
            address: 0,
            time: 0,
            values: &[value],
        };
        oracle.step(EventId(event), &occurrence).unwrap();
        let kind = run_as_thread(&mut words, EventId(event), &occurrence);
        assert_eq!(kind, Some(EndKind::Taken));
        words.write_back(&mut monitor);
        assert_same(&monitor, &oracle);
    }
}

/// Keys that are not their own words are numbered anew when most of them are unused.
#[test]
fn keys_that_were_numbered_anew_are_written() {
    let (mut oracle, mut words) = blocks(64);
    let mut monitor = oracle.restarted(64);
    for key in 1..1_500 {
        for event in [given(0, -key), given(2, -key)] {
            step_as_thread(&mut oracle, &mut words, &event);
        }
        if key % 50 == 0 {
            step_as_thread(&mut oracle, &mut words, &given(0, -key));
        }
        if key % 40 == 0 {
            words.write_back(&mut monitor);
            assert_same(&monitor, &oracle);
        }
    }
    for key in 1..1_500 {
        let event = given(1, -key);
        step_as_thread(&mut oracle, &mut words, &event);
    }
    words.write_back(&mut monitor);
    assert_same(&monitor, &oracle);
}

/// The monitor that a table takes over is not the one that was written from it.
#[test]
fn a_monitor_that_was_replaced_is_written_anew() {
    let (mut monitor, mut words) = blocks(64);
    for event in [given(0, 16), given(0, 32)] {
        step_as_thread(&mut monitor.clone(), &mut words, &event);
    }
    words.write_back(&mut monitor);
    let slice = monitor.slices().nth(1).unwrap().id;
    let closed = monitor.edited(slice, &Edit::State(StateId(2))).unwrap();
    let mut oracle = closed.clone();
    assert!(words.take_over(&closed));
    step_as_thread(&mut oracle, &mut words, &given(1, 32));
    words.write_back(&mut monitor);
    assert_same(&monitor, &oracle);
    // What it has forgotten does not come back from the table.
    let mut forgetful = monitor.clone();
    forgetful.history.forget_before(2);
    forgetful.written = None;
    assert!(words.take_over(&forgetful));
    assert!(words.path(slice).forgotten);
    assert!(words.to_monitor().path(slice).forgotten);
}
