//! Two threads in steps on one table, in every order of their operations; they are
//! killed or led out at each.

use super::{Lowered, Options, WordCapture, WordKind, WordMonitor, capture, lower};
use crate::history::Path;
use crate::lowering::{
    EndKind, EventWords, EventWordsSource, JournalWord, Phase, Progress, Running, Source, Why,
    WordSlice,
};
use crate::monitor::Monitor;
use crate::needs::EventNeed;
use crate::step::Occurrence;
use juror_event::{EventId, Value};
use juror_language::load;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

const SOURCE: &str = "property p slice on k
    event lock = before l(k, x)
    event unlock = before u(k, x)
    event destroy = before d(k, x)
    var n = 0
    state free { on lock when x > 0 { n = x } -> locked }
    state locked { on lock { n += x } -> locked on unlock when n > 1 { n -= 1 } -> locked
        else -> released on destroy -> over }
    state released { on lock -> locked on unlock -> bad }
    state bad non-accepting
    state over final";

/// An event and its two values.
type Event = (u16, u64, u64);
type Words = WordMonitor<Vec<u64>>;

struct Given(Event);

impl EventWordsSource for Given {
    fn word(&self, source: Source) -> Option<u64> {
        Some(match source {
            Source::Capture(0) => self.0.1,
            Source::Capture(_) => self.0.2,
            Source::Address => 0x40,
        })
    }
}

fn lowered(source: &str, records: usize, stripes: u32) -> Lowered {
    let property = Arc::new(load(source).0.remove(0));
    let captures: Vec<Option<WordCapture>> = vec![Some(capture(WordKind::Signed)); 2];
    let words = vec![Ok(EventWords { captures }); 3];
    let monitor = Monitor::with_history(property, records).unwrap();
    let options = Options {
        stripes,
        journals: 3,
        listening: 0,
    };
    lower(&monitor, &words, &options).unwrap()
}

/// A thread: its event, and where it is in the step.
#[derive(Clone)]
struct Thread {
    event: Event,
    running: Running,
    end: Option<End>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum End {
    Of(EndKind),
    /// A general step is to follow.
    Gate,
}

/// A table with two threads.
#[derive(Clone)]
struct World {
    words: Words,
    threads: [Thread; 2],
}

/// All that can be seen. The numbers of records do not count, nor do those of events if
/// some were lost with a thread.
#[derive(Debug, PartialEq, Clone)]
struct Seen {
    slices: Vec<WordSlice>,
    paths: Vec<Path>,
    needs: Vec<EventNeed>,
    sequence: u64,
    live: u64,
    peak: u64,
    counts: Vec<u64>,
}

fn seen(words: &Words, with_numbers: bool) -> Seen {
    let slices = words.slices();
    let mut paths: Vec<Path> = slices.iter().map(|slice| words.path(slice.id)).collect();
    if !with_numbers {
        let events = paths.iter_mut().flat_map(|path| &mut path.events);
        events.for_each(|event| event.sequence = 0);
        // A number that is lost with its thread takes the place of an older record.
        if words.lowered.records < 8 {
            paths.clear();
        }
    }
    Seen {
        paths,
        needs: words.needs(),
        sequence: if with_numbers { words.sequence() } else { 0 },
        live: words.slice_count(),
        peak: words.peak_count(),
        counts: words.event_counts(),
        slices,
    }
}

/// Takes an event by the debugger, in the name of a thread.
fn step(words: &mut Words, thread: usize, (event, key, x): Event) {
    let values = [Value::Int(key.into()), Value::Int((x as i64).into())];
    let occurrence = Occurrence {
        thread: thread as u32 + 1,
        address: 0x40,
        time: 0,
        values: &values,
    };
    words.step(EventId(event), &occurrence).unwrap();
}

/// What is seen after the events of these threads, in this order. Events that nothing
/// needs are not counted by threads.
fn after(words: &Words, events: [Event; 2], order: &[usize], with_numbers: bool) -> Seen {
    let mut words = words.clone();
    for &thread in order {
        let event = events[thread];
        if words.needs()[usize::from(event.0)].needed {
            step(&mut words, thread, event);
        }
    }
    seen(&words, with_numbers)
}

impl World {
    fn new(words: &Words, events: [Event; 2]) -> World {
        let mut words = words.clone();
        let layout = words.table.layout.clone();
        for thread in 0..2_u32 {
            let at = layout.journal(thread + 1) + u64::from(JournalWord::Thread.offset());
            words.table.memory[at as usize / 8] = u64::from(thread) + 1;
        }
        let thread = |number: usize| Thread {
            event: events[number],
            running: Running::new(&layout, number as u32 + 1),
            end: None,
        };
        World {
            words,
            threads: [thread(0), thread(1)],
        }
    }

    /// Runs one operation of a thread; returns false if it waits or has ended.
    fn advance(&mut self, number: usize) -> bool {
        let program = Arc::clone(self.words.lowered.program());
        let thread = &mut self.threads[number];
        if thread.end.is_some() {
            return false;
        }
        let of_event = &program.steps[usize::from(thread.event.0)];
        let given = Given(thread.event);
        let memory = self.words.memory_mut();
        match thread.running.advance(of_event, memory, &given) {
            Progress::Goes => {}
            Progress::Waits => return false,
            Progress::Ends(kind) => thread.end = Some(End::Of(kind)),
            Progress::Gates(_) => thread.end = Some(End::Gate),
        }
        true
    }

    fn identity(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.words.table.memory.hash(&mut hasher);
        for thread in &self.threads {
            thread.running.position.hash(&mut hasher);
            thread.running.registers.hash(&mut hasher);
            thread.running.bases.hash(&mut hasher);
            thread.end.hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Takes the general steps of threads at gates.
    fn settle(&mut self) {
        for number in 0..2 {
            if self.threads[number].end == Some(End::Gate) {
                let event = self.threads[number].event;
                if self.words.needs()[usize::from(event.0)].needed {
                    step(&mut self.words, number, event);
                }
            }
        }
    }

    /// Leads both threads out; those whose step never happened take it anew.
    fn led_out(mut self) -> World {
        let program = Arc::clone(self.words.lowered.program());
        for thread in &mut self.threads {
            let of_event = &program.steps[usize::from(thread.event.0)];
            let position = thread.running.position as usize;
            if thread.end.is_none() {
                let phase = of_event.phases().unwrap()[position];
                let memory = self.words.memory_mut();
                let end = thread.running.lead_out(of_event, phase, memory);
                thread.end = Some(end.map_or(End::Gate, End::Of));
                assert_eq!(end.is_some(), phase == Phase::Committed);
            }
        }
        self.settle();
        self
    }

    /// True if a lock is held.
    fn is_locked(&self) -> bool {
        let layout = &self.words.table.layout;
        let memory = &self.words.table.memory;
        let stripes = 0..layout.sizes.stripes;
        let mut locks = stripes.map(|it| memory[layout.stripe(it) as usize / 8]);
        memory[0] != 0 || locks.any(|lock| lock != 0)
    }
}

/// Explores all orders of two events; returns the number of states.
fn explore(words: &Words, events: [Event; 2], outcomes: &mut u64) -> usize {
    let orders: [&[usize]; 2] = [&[0, 1], &[1, 0]];
    let whole = orders.map(|order| after(words, events, order, true));
    let killed: [&[usize]; 5] = [&[], &[0], &[1], &[0, 1], &[1, 0]];
    let killed = killed.map(|order| after(words, events, order, false));
    let mut known = HashSet::new();
    let mut pending = vec![World::new(words, events)];
    while let Some(world) = pending.pop() {
        if !known.insert(world.identity()) {
            continue;
        }
        let led_out = world.clone().led_out();
        assert!(!led_out.is_locked());
        let outcome = seen(&led_out.words, true);
        assert!(
            whole.contains(&outcome),
            "led out: {outcome:#?}\n{whole:#?}"
        );
        let mut dead = world.clone();
        dead.words.recover();
        assert!(!dead.is_locked());
        let outcome = seen(&dead.words, false);
        assert!(
            killed.contains(&outcome),
            "killed: {outcome:#?}\n{killed:#?}"
        );
        let mut goes = false;
        for number in 0..2 {
            let mut next = world.clone();
            if next.advance(number) {
                goes = true;
                pending.push(next);
            }
        }
        if !goes {
            let mut end = world;
            assert!(end.threads.iter().all(|it| it.end.is_some()), "deadlock");
            end.settle();
            let outcome = seen(&end.words, true);
            assert!(whole.contains(&outcome), "{outcome:#?}\n{whole:#?}");
            *outcomes += 1;
        }
    }
    known.len()
}

/// Every pair of these events after a beginning.
fn explore_after(beginning: &[Event], events: &[[Event; 2]]) {
    for (records, stripes) in [(2, 1), (2, 2), (8, 1), (8, 2)] {
        explore_with(lowered(SOURCE, records, stripes), beginning, events);
    }
}

fn explore_with(lowered: Lowered, beginning: &[Event], events: &[[Event; 2]]) {
    let mut words = WordMonitor::new(lowered, Vec::new()).unwrap();
    for event in beginning {
        step(&mut words, 0, *event);
    }
    let (mut states, mut outcomes) = (0, 0);
    for events in events {
        states += explore(&words, *events, &mut outcomes);
    }
    assert!(outcomes > 0);
    println!("{states} states, {outcomes} outcomes");
}

const LOCK: u16 = 0;
const UNLOCK: u16 = 1;
const DESTROY: u16 = 2;

#[test]
fn births_in_two_slices_and_in_one() {
    explore_after(
        &[],
        &[
            [(LOCK, 16, 1), (LOCK, 32, 2)],
            [(LOCK, 16, 1), (LOCK, 16, 2)],
        ],
    );
}

#[test]
fn births_where_a_place_is_free() {
    explore_after(
        &[(LOCK, 8, 1), (DESTROY, 8, 0)],
        &[
            [(LOCK, 16, 1), (LOCK, 32, 2)],
            [(LOCK, 16, 1), (LOCK, 16, 0)],
        ],
    );
}

#[test]
fn transitions_that_change_needs() {
    explore_after(
        &[(LOCK, 16, 1)],
        &[
            [(UNLOCK, 16, 0), (LOCK, 32, 2)],
            [(UNLOCK, 16, 0), (LOCK, 16, 2)],
            [(UNLOCK, 16, 0), (UNLOCK, 32, 0)],
        ],
    );
}

#[test]
fn gates_and_transitions() {
    explore_after(
        &[(LOCK, 16, 2), (LOCK, 32, 1), (UNLOCK, 32, 0)],
        &[
            [(DESTROY, 16, 0), (UNLOCK, 16, 0)],
            [(UNLOCK, 32, 0), (LOCK, 32, 0)],
            [(LOCK, 16, i64::MAX as u64), (UNLOCK, 16, 0)],
        ],
    );
}

#[test]
fn events_without_slices() {
    let source = SOURCE.replace(" slice on k", "");
    let events = [
        [(LOCK, 16, 1), (LOCK, 16, 2)],
        [(LOCK, 16, 1), (UNLOCK, 16, 0)],
    ];
    for records in [2, 8] {
        let lowered = lowered(&source, records, 2);
        assert!(lowered.program().layout.has_one_lock());
        explore_with(lowered.clone(), &[], &events);
        explore_with(lowered, &[(LOCK, 16, 1)], &events);
    }
}

#[test]
fn an_event_that_nothing_needs_waits_for_the_only_lock() {
    let mut words = WordMonitor::new(lowered(SOURCE, 2, 1), Vec::new()).unwrap();
    let values = [Value::Int(16.into()), Value::Int(1.into())];
    let occurrence = Occurrence {
        thread: 1,
        address: 0x40,
        time: 0,
        values: &values,
    };
    let lock = words.table.layout.stripe(0) as usize / 8;
    words.table.memory[lock] = words.table.layout.journal(1);
    let step = words.try_step(EventId(UNLOCK), &occurrence);
    assert_eq!(step.unwrap_err(), Why::Busy);
    assert_eq!(words.sequence(), 0);
    words.table.memory[lock] = 0;
    assert!(words.try_step(EventId(UNLOCK), &occurrence).is_ok());
    assert_eq!(words.sequence(), 1);
    assert_eq!(words.table.memory[lock], 0);
}
