//! Properties, traces, and what is to come of them.

use juror_event::{EventId, Unavailability, Value, Verdict};
use juror_language::{Property, StateId, load};
use juror_monitor::{Monitor, Occurrence, PathEvent, SliceId, SliceView, Step};
use std::sync::Arc;

const QUEUE_BOUNDS: &str = "
property queue_bounds
slice on queue
event new  = after  queue_new(size) returns queue
event push = before queue_push(queue)
event pop  = before queue_pop(queue)
event free = before queue_free(queue)
event done = before done
var capacity = 0
var count = 0
state init accepting {
    on new  { capacity = size } -> ready
}
state ready accepting {
    on push when count < capacity { count += 1 } else -> overflow
    on pop  when count > 0        { count -= 1 } else -> underflow
    on free when count == 0 -> freed else -> leaked
    on done -> over
}
state overflow  non-accepting
state underflow non-accepting
state over
state freed final
state leaked non-accepting final
";

fn property(source: &str) -> Arc<Property> {
    let (mut properties, diagnostics) = load(source);
    assert_eq!(properties.len(), 1, "{diagnostics:#?}");
    Arc::new(properties.remove(0))
}

/// Takes `push 5 6`: an event and its values, in thread 1 at address 0x10.
fn take(monitor: &mut Monitor, text: &str) -> Result<Step, juror_language::EvaluationError> {
    let mut words = text.split_whitespace();
    let name = words.next().unwrap_or_default();
    let values: Vec<Value> = words
        .map(|word| match word {
            "?" => Value::Unavailable(Unavailability::OptimizedOut),
            _ => Value::Int(word.parse().unwrap()),
        })
        .collect();
    let events = &monitor.property().events;
    let event = events.iter().position(|e| &*e.name == name).unwrap();
    let occurrence = Occurrence {
        thread: 1,
        address: 0x10,
        time: 0,
        values: &values,
    };
    monitor.step(EventId(event as u16), &occurrence)
}

fn state_name(monitor: &Monitor, state: StateId) -> String {
    monitor.property().state(state).unwrap().name.to_string()
}

fn shown(monitor: &Monitor, slice: &SliceView<'_>) -> String {
    let binding: Vec<String> = slice
        .binding
        .iter()
        .map(|value| value.as_ref().map_or("-".to_owned(), ToString::to_string))
        .collect();
    let environment: Vec<String> = slice.environment.iter().map(ToString::to_string).collect();
    format!(
        "{}{}[{}]({})",
        if slice.ended { "ended " } else { "" },
        state_name(monitor, slice.state),
        binding.join(","),
        environment.join(",")
    )
}

fn run(source: &str, trace: &str) -> Monitor {
    let mut monitor = Monitor::new(property(source)).unwrap();
    for event in trace.split(';').filter(|event| !event.trim().is_empty()) {
        take(&mut monitor, event).unwrap();
    }
    monitor
}

#[track_caller]
fn check(source: &str, trace: &str, verdict: Verdict, slices: &[&str]) {
    let monitor = run(source, trace);
    let found: Vec<String> = monitor
        .slices()
        .map(|slice| shown(&monitor, &slice))
        .collect();
    assert_eq!(found, slices, "{trace}");
    assert_eq!(monitor.verdict(), verdict, "{trace}");
}

#[test]
fn the_queue_property() {
    use Verdict::{PresumablySatisfied, Violated};
    let check = |trace, verdict, slices: &[&str]| check(QUEUE_BOUNDS, trace, verdict, slices);
    check("", PresumablySatisfied, &["init[-](0,0)"]);
    check("push 7", PresumablySatisfied, &["init[-](0,0)"]);
    check(
        "new 2 7; push 7; new 1 8",
        PresumablySatisfied,
        &["init[-](0,0)", "ready[7](2,1)", "ready[8](1,0)"],
    );
    check(
        "new 1 7; push 7; new 5 8; push 7; push 8",
        Violated,
        &["init[-](0,0)", "overflow[7](1,1)", "ready[8](5,1)"],
    );
    check(
        "new 1 7; pop 7",
        Violated,
        &["init[-](0,0)", "underflow[7](1,0)"],
    );
    check(
        "new 1 7; done; new 1 8",
        PresumablySatisfied,
        &["init[-](0,0)", "over[7](1,0)", "ready[8](1,0)"],
    );
}

#[test]
fn final_states_let_a_binding_be_used_again() {
    use Verdict::{PresumablySatisfied, Violated};
    let check = |trace, verdict, slices: &[&str]| check(QUEUE_BOUNDS, trace, verdict, slices);
    check(
        "new 2 7; free 7; push 7",
        PresumablySatisfied,
        &["init[-](0,0)"],
    );
    check(
        "new 2 7; push 7; pop 7; free 7; new 3 7",
        PresumablySatisfied,
        &["init[-](0,0)", "ready[7](3,0)"],
    );
    check(
        "new 2 7; push 7; free 7; new 3 7",
        Violated,
        &["init[-](0,0)", "ready[7](3,0)", "ended leaked[7](2,1)"],
    );
    let monitor = run(QUEUE_BOUNDS, "new 2 7; free 7; new 2 8; push 8; free 8");
    assert_eq!(monitor.ended_count(), 2);
    assert_eq!(monitor.slice_count(), 1);
}

#[test]
fn a_step_tells_what_happened() {
    let mut monitor = Monitor::new(property(QUEUE_BOUNDS)).unwrap();
    let ignored = take(&mut monitor, "push 7").unwrap();
    assert!(!ignored.taken && !ignored.needs_changed);
    assert_eq!(ignored.slice, None);

    let new = take(&mut monitor, "new 1 7").unwrap();
    assert!(new.taken && new.needs_changed);
    assert_eq!((new.from, new.to), (StateId(0), StateId(1)));
    assert_eq!(new.slice, Some(SliceId(1)));
    assert_eq!(monitor.changes()[0].parent, Some(SliceId(0)));

    let pushed = take(&mut monitor, "push 7").unwrap();
    assert!(pushed.taken && !pushed.needs_changed);
    assert_eq!((pushed.violated, pushed.satisfied), (None, None));

    let overflow = take(&mut monitor, "push 7").unwrap();
    assert_eq!(overflow.violated, Some(SliceId(1)));
    assert_eq!(overflow.verdict_before, Verdict::PresumablySatisfied);
    assert_eq!(overflow.verdict_after, Verdict::Violated);
    assert!(overflow.needs_changed, "nothing leads out of the overflow");

    take(&mut monitor, "new 1 8").unwrap();
    take(&mut monitor, "new 1 9").unwrap();
    let done = take(&mut monitor, "done").unwrap();
    assert_eq!(done.satisfied, Some(SliceId(2)));
    let moved: Vec<SliceId> = monitor.changes().iter().map(|c| c.slice).collect();
    assert_eq!(moved, [SliceId(2), SliceId(3)]);
}

#[test]
fn undecided_slices_are_decided_at_the_end() {
    let source = "property closed slice on f
        event open = after open returns f
        event close = before close(f)
        state init { on open -> open }
        state open non-accepting { on close -> closed }
        state closed final";
    let mut monitor = run(source, "open 3; open 4; close 3");
    assert_eq!(monitor.verdict(), Verdict::PresumablyViolated);
    let verdicts = monitor.finish();
    let expected = [
        (SliceId(0), Verdict::Satisfied),
        (SliceId(2), Verdict::Violated),
    ];
    assert_eq!(verdicts, expected);
    assert_eq!(monitor.verdict(), Verdict::Violated);

    let mut monitor = run(source, "open 3; close 3");
    monitor.finish();
    assert_eq!(monitor.verdict(), Verdict::Satisfied);
}

#[test]
fn verdicts_look_ahead() {
    let source = |marks: [&str; 3]| {
        format!(
            "property p event e = before f(x) state a {} {{ on e when x > 0 -> b else -> c }}
             state b {} state c {}",
            marks[0], marks[1], marks[2]
        )
    };
    let (no, yes) = ("non-accepting", "accepting");
    for (marks, expected) in [
        ([yes, yes, yes], Verdict::Satisfied),
        ([yes, yes, no], Verdict::PresumablySatisfied),
        ([no, yes, no], Verdict::PresumablyViolated),
        ([no, no, no], Verdict::Violated),
    ] {
        let monitor = Monitor::new(property(&source(marks))).unwrap();
        assert_eq!(monitor.verdict(), expected, "{marks:?}");
    }
}

#[test]
fn transitions_are_tried_in_order() {
    let source = "property p event e = before f(x) var n = 0
        state a {
            on e when x == 1 { n += 1 }
            on e when x == 2 -> b else { n += 10 }
            on e { n = 100 }
        }
        state b { on e when x == 3 -> a }";
    check(source, "e 1; e 5", Verdict::Satisfied, &["a[](11)"]);
    check(source, "e 2; e 4", Verdict::Satisfied, &["b[](0)"]);
}

#[test]
fn an_error_leaves_the_slice_as_it_was() {
    let source = "property p slice on q event e = before f(q, x) event all = before g(x) var n = 0
        var m = 0
        state a { on e { n = 1 m = x } -> b } state b { on all when n == 1 { n += 1 m = 6 / x } -> c }
        state c";
    let mut monitor = run(source, "e 1 5; e 2 5");
    let error = take(&mut monitor, "e 3 ?").unwrap_err();
    assert_eq!(&source[error.span.clone()], "x");
    assert_eq!(monitor.slice_count(), 3);
    let error = take(&mut monitor, "all 0").unwrap_err();
    assert_eq!(error.message, "division by zero");
    let slices: Vec<String> = monitor.slices().map(|s| shown(&monitor, &s)).collect();
    assert_eq!(slices, ["a[-](0,0)", "b[1](1,5)", "b[2](1,5)"]);
    let error = take(&mut monitor, "e ? 1").unwrap_err();
    assert!(error.message.contains("slice parameter `q`"), "{error}");
    take(&mut monitor, "all 3").unwrap();
    assert_eq!(monitor.changes().len(), 2);
}

#[test]
fn slices_of_two_parameters() {
    let source = "property locks slice on thread, lock
        event start = before start(thread)
        event made = before made(lock)
        event take = before take(thread, lock)
        var n = 0
        state init { on start { n += 1 } -> started on made { n += 10 } -> made }
        state started { on made { n += 100 } -> both on take { n += 1000 } }
        state made { on start { n += 10000 } -> both }
        state both { on take { n += 100000 } }";
    check(
        source,
        "start 1; made 5",
        Verdict::Satisfied,
        &[
            "init[-,-](0)",
            "started[1,-](1)",
            "both[1,5](101)",
            "made[-,5](10)",
        ],
    );
    check(
        source,
        "start 1; take 1 6; take 1 6; take 2 6",
        Verdict::Satisfied,
        &["init[-,-](0)", "started[1,-](1)", "started[1,6](2001)"],
    );
    check(
        source,
        "made 5; start 1; take 1 5; take 2 5",
        Verdict::Satisfied,
        &[
            "init[-,-](0)",
            "made[-,5](10)",
            "both[1,5](110010)",
            "started[1,-](1)",
        ],
    );
}

#[test]
fn needs_follow_the_states() {
    let source = "property p event a = before f(q) event b = before g(q)
        state init { on a when q->x > 0 -> one }
        state one { on a when q->y > 0 on b -> two }
        state two";
    let mut monitor = Monitor::new(property(source)).unwrap();
    let needs = |monitor: &Monitor| -> Vec<(bool, u64)> {
        monitor
            .needs()
            .iter()
            .map(|n| (n.needed, n.captures))
            .collect()
    };
    assert_eq!(needs(&monitor), [(true, 0b011), (false, 1)]);
    take(&mut monitor, "a 1 1").unwrap();
    assert_eq!(needs(&monitor), [(true, 0b101), (true, 1)]);
    take(&mut monitor, "b 1").unwrap();
    assert_eq!(needs(&monitor), [(false, 1), (false, 1)]);
}

fn path_text(monitor: &Monitor, id: u64) -> Vec<String> {
    let show = |event: &PathEvent| {
        let name = &monitor.property().event(event.event).unwrap().name;
        let values: Vec<String> = event.values.iter().map(ToString::to_string).collect();
        format!(
            "{} {name}({}) {}->{} x{}",
            event.sequence,
            values.join(","),
            state_name(monitor, event.from),
            state_name(monitor, event.to),
            event.repeated
        )
    };
    monitor.path(SliceId(id)).events.iter().map(show).collect()
}

#[test]
fn a_path_leads_to_the_violation() {
    let trace = "new 2 7; new 3 8; push 7; push 8; push 7; pop 9; push 7";
    let monitor = run(QUEUE_BOUNDS, trace);
    let expected = [
        "1 new(2,7) init->ready x1",
        "5 push(7) ready->ready x2",
        "7 push(7) ready->overflow x1",
    ];
    assert_eq!(path_text(&monitor, 1), expected);
    assert!(!monitor.path(SliceId(1)).forgotten);
    assert!(monitor.path(SliceId(99)).events.is_empty());
    // A slice in a final state that violates is kept for this.
    let monitor = run(QUEUE_BOUNDS, "new 2 7; push 7; free 7; new 2 7");
    assert_eq!(path_text(&monitor, 1).len(), 3);
    let again = monitor.slices().nth(1).unwrap().id;
    assert_eq!(path_text(&monitor, again.0).len(), 1);
}

#[test]
fn a_path_forgets_its_beginning() {
    for (records, expected) in [(0, 0), (1, 1), (3, 3), (6, 5), (100, 5)] {
        let mut monitor = Monitor::with_history(property(QUEUE_BOUNDS), records).unwrap();
        for event in ["new 4 7", "push 7", "pop 7", "push 7", "new 1 8", "pop 7"] {
            take(&mut monitor, event).unwrap();
        }
        let path = monitor.path(SliceId(1));
        // With three records one of them is of the other slice.
        let expected = if records == 3 { 2 } else { expected };
        assert_eq!(path.events.len(), expected, "{records} records");
        assert_eq!(
            path.forgotten,
            (1..6).contains(&records),
            "{records} records"
        );
    }
}

#[test]
fn a_clone_goes_on_by_itself() {
    let mut monitor = run(QUEUE_BOUNDS, "new 1 7; push 7");
    let checkpoint = monitor.clone();
    take(&mut monitor, "push 7").unwrap();
    assert_eq!(monitor.verdict(), Verdict::Violated);
    assert_eq!(checkpoint.verdict(), Verdict::PresumablySatisfied);
    assert_eq!(path_text(&checkpoint, 1).len(), 2);
}

#[test]
fn a_hundred_thousand_slices() {
    let mut monitor = Monitor::new(property(QUEUE_BOUNDS)).unwrap();
    let step = |monitor: &mut Monitor, event, values: &[Value]| {
        let occurrence = Occurrence {
            thread: 1,
            address: 0,
            time: 0,
            values,
        };
        monitor.step(EventId(event), &occurrence).unwrap()
    };
    let address = |n: u64| Value::Address(0x5555_0000 + n * 32);
    for n in 0..100_000 {
        step(&mut monitor, 0, &[Value::Int(2), address(n)]);
    }
    for n in 0..100_000 {
        assert!(step(&mut monitor, 1, &[address(n)]).taken);
    }
    assert_eq!(monitor.slice_count(), 100_001);
    for n in 0..100_000 {
        step(&mut monitor, 2, &[address(n)]);
        step(&mut monitor, 3, &[address(n)]);
    }
    assert_eq!(monitor.slice_count(), 1);
    assert_eq!(monitor.verdict(), Verdict::PresumablySatisfied);
}

/// Of an instance, whatever its parameters are, without values and a history.
#[test]
fn an_instance_takes_few_bytes() {
    let of = |slice: &str, events: &str, captures: fn(u64) -> Vec<u64>| {
        let source = format!(
            "property p slice on {slice} {events}
             state none {{ on make -> made }}
             state made {{ on change -> none }}"
        );
        let mut monitor = Monitor::with_history(property(&source), 0).unwrap();
        for n in 0..100_000 {
            monitor.step_words(EventId(0), &captures(n)).unwrap();
        }
        assert_eq!(monitor.slice_count(), 100_001);
        monitor.bytes() / monitor.slice_count()
    };
    let one = "event make = before m(i) event change = before n(i)";
    let bytes = of("i", one, |n| vec![n]);
    assert!(bytes <= 28, "{bytes}");
    // Found by each of two parameters alone, too; ten have one in common.
    let two = "event make = before m(c, i) event change = before n(c) event next = before x(i)";
    let bytes = of("c, i", two, |n| vec![n / 10, n]);
    assert!(bytes <= 52, "{bytes}");
}

#[test]
fn nonsense_does_not_panic() {
    let mut monitor = Monitor::new(property(QUEUE_BOUNDS)).unwrap();
    let occurrence = Occurrence {
        thread: 0,
        address: 0,
        time: 0,
        values: &[],
    };
    assert!(monitor.step(EventId(0), &occurrence).is_err());
    assert!(!monitor.step(EventId(999), &occurrence).unwrap().taken);
}
