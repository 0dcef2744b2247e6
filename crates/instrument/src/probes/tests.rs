//! Tests the book-keeping of probes without a process.

use super::*;
use juror_values::read_plan::{Decode, ReadPlan, Source};

fn probe(monitor: u16, event: u16, address: u64, kind: EventKind) -> Probe {
    Probe {
        monitor,
        event: EventId(event),
        kind,
        address,
        function: "f".into(),
        captures: Vec::new(),
        inlined: None,
        is_loop_head: false,
        is_inserted: false,
    }
}

fn before(monitor: u16, event: u16, address: u64) -> Probe {
    probe(monitor, event, address, EventKind::BeforeCall)
}

fn probes(list: impl IntoIterator<Item = Probe>) -> Probes {
    let mut all = Probes::default();
    list.into_iter().for_each(|it| all.add(it));
    all
}

/// Returns a capture that begins at the entry of the call.
fn argument() -> CapturePlan {
    CapturePlan::Entry(ReadPlan {
        source: Source::Constant { bits: 0 },
        follow: SmallVec::new(),
        decode: Decode::Address,
    })
}

#[test]
fn probes_of_an_address_are_in_the_order_of_monitors_and_events() {
    let all = probes([
        before(1, 0, 16),
        before(0, 2, 16),
        before(0, 1, 16),
        before(0, 0, 32),
    ]);
    assert_eq!(all.numbers_at(16), [2, 1, 0]);
    assert_eq!(all.numbers_at(32), [3]);
    assert!(all.numbers_at(48).is_empty());
    let mut hit = vec![7];
    assert_eq!(all.hit(16, None, &mut hit), Some(None));
    assert_eq!(hit, [2, 1, 0]);
    // All of them happen at one moment.
    assert_eq!(all.hit(16, Some(None), &mut hit), None);
    assert!(hit.is_empty());
    assert_eq!(all.hit(48, None, &mut hit), None);
}

#[test]
fn a_probe_is_known_by_its_monitor_event_and_address() {
    let all = probes([before(1, 2, 16)]);
    assert!(all.has(1, EventId(2), 16));
    for (monitor, event, address) in [(0, 2, 16), (1, 1, 16), (1, 2, 32)] {
        assert!(!all.has(monitor, EventId(event), address));
    }
}

#[test]
fn probes_of_a_monitor_that_is_gone_are_dropped_and_keep_their_numbers() {
    let mut all = probes([before(0, 0, 16), before(1, 0, 16), before(2, 0, 16)]);
    all.renumber(|monitor| (monitor != 1).then(|| monitor.min(1)));
    assert_eq!(all.numbers_at(16), [0, 2]);
    assert_eq!(all.get(2).map(|it| it.monitor), Some(1));
    assert!(!all.has(NO_MONITOR, EventId(0), 16));
    // Another renumbering does not bring the dropped one back.
    all.renumber(Some);
    assert_eq!(all.numbers_at(16), [0, 2]);
}

#[test]
fn a_return_is_awaited_for_inserted_probes() {
    let end = |monitor, event, is_inserted| Probe {
        is_inserted,
        ..probe(monitor, event, 16, EventKind::AfterCall)
    };
    let entry = Probe {
        is_inserted: true,
        ..before(0, 0, 16)
    };
    let all = probes([entry, end(0, 1, true), end(0, 2, false)]);
    let mut hit = Vec::new();
    all.awaited_at(16, &mut hit);
    assert_eq!(hit, [1]);
    all.awaited_at(32, &mut hit);
    assert!(hit.is_empty());
}

#[test]
fn the_end_of_a_call_with_arguments_is_awaited_while_its_monitor_sees_the_call() {
    let end = |monitor| Probe {
        captures: vec![argument()],
        ..probe(monitor, 1, 16, EventKind::AfterCall)
    };
    let entry = Probe {
        is_inserted: true,
        ..before(0, 0, 16)
    };
    let all = probes([entry, end(0), end(1)]);
    let mut hit = Vec::new();
    all.awaited_at(16, &mut hit);
    // The other monitor has nothing inserted there.
    assert_eq!(hit, [1]);
}

#[test]
fn only_the_end_of_a_call_keeps_arguments() {
    let of_kind = |kind, captures| Probe {
        captures,
        ..probe(0, 0, 16, kind)
    };
    for (kind, captures, expected) in [
        (EventKind::AfterCall, vec![argument()], true),
        (EventKind::Unwound, vec![argument()], true),
        (EventKind::BeforeCall, vec![argument()], false),
        (EventKind::AfterCall, vec![CapturePlan::Exact], false),
        (EventKind::AfterCall, Vec::new(), false),
    ] {
        let found = of_kind(kind, captures).keeps_arguments();
        assert_eq!(found, expected, "{kind}");
    }
}

#[test]
fn a_function_is_quiet_until_it_is_entered() {
    let mut all = probes([before(0, 0, 16)]);
    assert!(!all.is_quiet(0), "nothing is known at first");
    all.quiet.insert(16);
    assert!(all.is_quiet(0) && !all.is_quiet(1));
    all.note_entry(32);
    assert!(all.is_quiet(0));
    all.note_entry(16);
    assert!(!all.is_quiet(0));
}

#[test]
fn arrivals_are_counted() {
    let mut all = Probes::default();
    all.arrive();
    all.arrive();
    assert_eq!(all.arrivals(), 2);
    all.clear();
    assert_eq!(all.arrivals(), 0);
}
