//! What the properties over the C library say of traces: of the mistakes they
//! are about, and of correct programs that look like them.
//!
//! A trace has one event a line: `before` or `after`, the function, its
//! arguments in hexadecimal; after a call `=` and what it returned; `*` and
//! what its first argument points to by then, or the kind of the mutex; `@` and
//! the number of the thread, if it is not the first.

use juror_event::{Conversion, EventId, EventKind, Read, Unavailability, Value, Verdict};
use juror_language::Property;
use juror_monitor::{Monitor, Occurrence};
use juror_testing::repository_directory;
use std::fs;
use std::sync::Arc;

/// A line of a trace.
struct Event<'a> {
    thread: u32,
    kind: EventKind,
    function: &'a str,
    arguments: Vec<u64>,
    result: Option<u64>,
    pointee: Option<u64>,
}

fn hexadecimal(word: &str) -> u64 {
    u64::from_str_radix(word, 16).unwrap()
}

fn parse(line: &str) -> Event<'_> {
    let (line, thread) = match line.split_once('@') {
        Some((line, thread)) => (line, thread.trim().parse().unwrap()),
        None => (line, 1),
    };
    let (line, pointee) = match line.split_once('*') {
        Some((line, pointee)) => (line, Some(hexadecimal(pointee.trim()))),
        None => (line, None),
    };
    let (call, result) = match line.split_once('=') {
        Some((call, result)) => (call, Some(hexadecimal(result.trim()))),
        None => (line, None),
    };
    let mut words = call.split_whitespace();
    let kind = match words.next().unwrap() {
        "before" => EventKind::BeforeCall,
        "after" => EventKind::AfterCall,
        other => panic!("`{other}` is neither before nor after"),
    };
    Event {
        thread,
        kind,
        function: words.next().unwrap(),
        arguments: words.map(hexadecimal).collect(),
        result,
        pointee,
    }
}

fn value(read: &Read, event: &Event<'_>) -> Value {
    match read {
        Read::Convert(inner, Conversion::Address) => Value::Address(raw(inner, event)),
        Read::Convert(inner, _) => Value::Int(raw(inner, event).into()),
        Read::Thread => Value::Int(event.thread.into()),
        // What is computed has no types either.
        Read::Arithmetic(_) => Value::Unavailable(Unavailability::NotCaptured),
        _ => panic!("a capture without a type: nothing is known of a stripped library"),
    }
}

fn raw(read: &Read, event: &Event<'_>) -> u64 {
    match read {
        Read::Argument(position) => event.arguments[usize::from(*position) - 1],
        Read::Return => event.result.unwrap(),
        Read::Dereference(_) => event.pointee.unwrap(),
        // The kind of a mutex.
        Read::Expression(_) => event.pointee.unwrap_or(0),
        other => panic!("`{other}` is not in these traces"),
    }
}

fn load(file: &str, name: &str) -> Arc<Property> {
    let path = repository_directory().join("properties/libc").join(file);
    let (properties, _) = juror_language::load(&fs::read_to_string(path).unwrap());
    let property = properties
        .into_iter()
        .find(|property| &*property.name == name);
    Arc::new(property.unwrap())
}

/// The number of the line, from 1, at which the property is violated.
fn violated_at(property: &Arc<Property>, trace: &str) -> Option<usize> {
    let mut monitor = Monitor::new(Arc::clone(property)).unwrap();
    let lines = trace.lines().map(str::trim).filter(|line| !line.is_empty());
    for (number, line) in lines.enumerate() {
        let event = parse(line);
        for (id, symbolic) in property.events.iter().enumerate() {
            if symbolic.kind != event.kind || *symbolic.subject != *event.function {
                continue;
            }
            let values: Vec<Value> = symbolic
                .captures
                .iter()
                .map(|capture| value(&capture.read, &event))
                .collect();
            let occurrence = Occurrence {
                thread: 1,
                address: 0,
                time: 0,
                values: &values,
            };
            let id = EventId(u16::try_from(id).unwrap());
            if monitor.step(id, &occurrence).unwrap().violated.is_some() {
                return Some(number + 1);
            }
        }
    }
    let at_end = monitor.verdict().at_end();
    (at_end == Verdict::Violated).then_some(usize::MAX)
}

/// Violated only when the run ends.
const AT_END: Option<usize> = Some(usize::MAX);

#[test]
fn double_free() {
    let property = load("double-free.prop", "double_free");
    let check = |what: &str, trace: &str, expected: Option<usize>| {
        assert_eq!(violated_at(&property, trace), expected, "{what}");
    };
    check(
        "a block freed twice",
        "after malloc = 10
         before free 10
         before free 10",
        Some(3),
    );
    check(
        "another block is freed in between",
        "after malloc = 10
         after calloc = 20
         before free 10
         before free 20
         before free 10",
        Some(5),
    );
    check(
        "a block of unknown origin",
        "before free 10
         before free 10",
        Some(2),
    );
    check(
        "an address that is used again",
        "after malloc = 10
         before free 10
         after memalign = 10
         before free 10
         after posix_memalign 5000 = 0 * 10
         before free 10",
        None,
    );
    check(
        "null, and allocations that fail",
        "before free 0
         before free 0
         after malloc = 0
         after malloc = 0
         before free 0
         before realloc 0
         after realloc 0 8 = 0",
        None,
    );
    check(
        "an allocation that fails and leaves its result as it was",
        "before free 10
         after posix_memalign 5000 = c * 10
         before free 10",
        Some(3),
    );
    check(
        "realloc moves the block: the old one is freed, the new one is not",
        "after malloc = 10
         before realloc 10
         after realloc 10 8 = 20
         before free 20
         before free 10",
        Some(5),
    );
    check(
        "realloc leaves the block where it is",
        "after malloc = 10
         before realloc 10
         after realloc 10 8 = 10
         before free 10",
        None,
    );
    check(
        "realloc fails and leaves the block alone",
        "after malloc = 10
         before realloc 10
         after realloc 10 8 = 0
         before free 10",
        None,
    );
    check(
        "realloc to nothing frees, by a call of free within",
        "after malloc = 10
         before realloc 10
         before free 10
         after realloc 10 0 = 0
         after malloc = 10
         before free 10",
        None,
    );
    check(
        "realloc to nothing frees, whatever it calls",
        "after malloc = 10
         before realloc 10
         after realloc 10 0 = 0
         before free 10",
        Some(4),
    );
    check(
        "realloc of a freed block",
        "after malloc = 10
         before free 10
         before realloc 10",
        Some(3),
    );
    check(
        "another thread gets the old address before realloc returns",
        "after malloc = 10
         before realloc 10
         after malloc = 10
         after realloc 10 8 = 20
         before free 10
         before free 20",
        None,
    );
    check(
        "another thread gets and frees the old address before realloc returns",
        "after malloc = 10
         before realloc 10
         after malloc = 10
         before free 10
         after realloc 10 8 = 20
         after malloc = 10
         before free 10",
        None,
    );
    check(
        "the cache of a thread that ends is given back",
        "after malloc = 10
         before free 10
         before __call_tls_dtors
         before free 10",
        None,
    );
    check(
        "a destructor frees a block while its thread ends",
        "after malloc = 10
         before __call_tls_dtors
         before free 10
         before free 10",
        None,
    );
    check(
        "the cache of a thread lay where a block was",
        "after malloc = 10
         before free 10
         before __call_tls_dtors
         before free 10
         before __call_tls_dtors
         before free 10",
        None,
    );
    check(
        "a block freed three times, and only one thread has ended",
        "after malloc = 10
         before free 10
         before __call_tls_dtors
         before free 10
         before free 10",
        Some(5),
    );
}

#[test]
fn streams() {
    let once = load("streams.prop", "stream_closed_once");
    let closed = load("streams.prop", "stream_closed");
    let check = |what: &str, trace: &str, [first, second]: [Option<usize>; 2]| {
        assert_eq!(violated_at(&once, trace), first, "{what}: closed once");
        assert_eq!(violated_at(&closed, trace), second, "{what}: closed");
    };
    check(
        "a stream closed twice",
        "after fopen = 10
         before fclose 10
         before fclose 10",
        [Some(3), None],
    );
    check(
        "a stream left open",
        "after fopen = 10
         after fopen = 20
         before fclose 10",
        [None, AT_END],
    );
    check(
        "an address that is used again",
        "after fopen = 10
         before fclose 10
         after fdopen = 10
         before fclose 10",
        [None, None],
    );
    check(
        "a file that is not there",
        "after fopen = 0
         after fopen = 0",
        [None, None],
    );
    check(
        "the standard streams",
        "before fclose 10
         before fclose 10",
        [None, None],
    );
    check(
        "a command, closed by pclose and the fclose within",
        "after popen = 10
         before pclose 10
         before fclose 10",
        [None, None],
    );
    check(
        "a stream opened anew",
        "after fopen = 10
         after freopen 1 2 10 = 10
         before fclose 10",
        [None, None],
    );
    check(
        "a stream that cannot be opened anew is closed",
        "after fopen = 10
         after freopen 1 2 10 = 0",
        [None, None],
    );
}

#[test]
fn mutexes() {
    let property = load("mutex.prop", "unlock_of_locked");
    let check = |what: &str, trace: &str, expected: Option<usize>| {
        assert_eq!(violated_at(&property, trace), expected, "{what}");
    };
    check(
        "an unlock of a mutex that was never locked",
        "before pthread_mutex_unlock 10",
        Some(1),
    );
    check(
        "an unlock too many",
        "after pthread_mutex_lock 10 = 0
         before pthread_mutex_unlock 10
         before pthread_mutex_unlock 10",
        Some(3),
    );
    check(
        "a recursive mutex, unlocked once too often",
        "after pthread_mutex_lock 10 = 0
         after pthread_mutex_trylock 10 = 0
         before pthread_mutex_unlock 10
         before pthread_mutex_unlock 10
         before pthread_mutex_unlock 10",
        Some(5),
    );
    check(
        "a lock that was not got",
        "after pthread_mutex_trylock 10 = 10
         before pthread_mutex_unlock 10",
        Some(2),
    );
    check(
        "another thread locks while the first waits for a condition",
        "after pthread_mutex_lock 10 = 0
         after pthread_mutex_lock 10 = 0
         before pthread_mutex_unlock 10
         before pthread_mutex_unlock 10",
        None,
    );
    check(
        "another thread has the lock before the unlock returns",
        "after pthread_mutex_lock 10 = 0
         before pthread_mutex_unlock 10
         after pthread_mutex_lock 10 = 0
         before pthread_mutex_unlock 10",
        None,
    );
    check(
        "another thread destroys the mutex before the unlock returns",
        "after pthread_mutex_lock 10 = 0
         before pthread_mutex_unlock 10
         before pthread_mutex_destroy 10",
        None,
    );
    check(
        "unlocks that a mutex that checks its owner refuses",
        "after pthread_mutex_lock 10 = 0
         before pthread_mutex_unlock 10 * 2 @ 2
         before pthread_mutex_unlock 10 * 2
         before pthread_mutex_unlock 10 * 2",
        None,
    );
    check(
        "another mutex takes any unlock",
        "after pthread_mutex_lock 10 = 0
         before pthread_mutex_unlock 10 * 3 @ 2
         before pthread_mutex_unlock 10 * 3",
        Some(3),
    );
    check(
        "a recursive mutex is unlocked while another thread has it",
        "after pthread_mutex_lock 10 = 0
         after pthread_mutex_lock 10 = 0
         before pthread_mutex_unlock 10 * 1 @ 2
         before pthread_mutex_unlock 10 * 1
         before pthread_mutex_unlock 10 * 1",
        None,
    );
    check(
        "the owner of a robust mutex died",
        "after pthread_mutex_lock 10 = 0
         after pthread_mutex_lock 10 = 82
         before pthread_mutex_unlock 10
         before pthread_mutex_unlock 10",
        Some(4),
    );
    check(
        "a mutex at the address of a locked one that is gone",
        "after pthread_mutex_lock 10 = 0
         before pthread_mutex_init 10
         before pthread_mutex_unlock 10",
        Some(3),
    );
}
