use super::*;
use proptest::prelude::*;

const THREAD: ThreadId = ThreadId(1);

fn call(address: u64, frame: u64, probe: u32) -> PendingReturn {
    PendingReturn {
        address,
        frame,
        call: u64::from(probe),
        probe,
        at_entry: false,
        begun: SmallVec::new(),
        entry: Vec::new(),
    }
}

#[test]
fn a_call_that_was_noted_at_its_entry_is_one_call() {
    let mut pending = PendingReturns::default();
    let noted = PendingReturn {
        at_entry: true,
        call: 0,
        ..call(7, 100, 1)
    };
    pending.push(THREAD, noted.clone());
    assert_eq!(pending.take_noted_entry(THREAD, 7, 80, 1), None);
    assert_eq!(pending.take_noted_entry(THREAD, 7, 100, 2), None);
    assert_eq!(pending.take_noted_entry(THREAD, 7, 100, 1), Some(noted));
    // A tail call to itself is another call in the same slot.
    pending.push(THREAD, call(7, 100, 1));
    assert_eq!(pending.take_noted_entry(THREAD, 7, 100, 1), None);
}

#[test]
fn recursion_returns_innermost_first() {
    let mut pending = PendingReturns::default();
    pending.push(THREAD, call(7, 100, 0));
    pending.push(THREAD, call(7, 80, 0));
    assert_eq!(pending.pop_returned(THREAD, 7, 60), None);
    assert_eq!(
        pending.pop_returned(THREAD, 7, 80).map(|c| c.frame),
        Some(80)
    );
    assert_eq!(pending.pop_returned(THREAD, 7, 80), None);
    assert_eq!(
        pending.pop_returned(THREAD, 7, 100).map(|c| c.frame),
        Some(100)
    );
}

#[test]
fn a_tail_call_ends_with_its_caller_the_last_entered_first() {
    let mut pending = PendingReturns::default();
    pending.push(THREAD, call(7, 100, 0));
    pending.push(THREAD, call(7, 100, 1));
    assert_eq!(
        pending.pop_returned(THREAD, 7, 100).map(|c| c.probe),
        Some(1)
    );
    assert_eq!(
        pending.pop_returned(THREAD, 7, 100).map(|c| c.probe),
        Some(0)
    );
}

#[test]
fn probes_of_one_call_get_it_in_order() {
    let mut pending = PendingReturns::default();
    for probe in [4, 2, 3] {
        pending.push(
            THREAD,
            PendingReturn {
                call: 9,
                ..call(7, 100, probe)
            },
        );
    }
    let order: Vec<_> = std::iter::from_fn(|| pending.pop_returned(THREAD, 7, 100))
        .map(|c| c.probe)
        .collect();
    assert_eq!(order, [4, 2, 3]);
}

/// Adds calls to the pending ones. Probe n belongs to the end of function n / 10.
fn add_found(pending: &mut PendingReturns, calls: &[PendingReturn]) -> usize {
    let add = |call: &&PendingReturn| {
        pending.add_found(THREAD, (*call).clone(), |probe| {
            (u64::from(probe / 10), probe)
        })
    };
    calls.iter().filter(add).count()
}

#[test]
fn a_call_that_is_found_on_the_stack_is_awaited_once_in_the_order_of_its_probes() {
    let mut pending = PendingReturns::default();
    for (frame, call_number, probe) in [(100, 1, 12), (100, 1, 14), (100, 2, 21), (80, 3, 12)] {
        pending.push(
            THREAD,
            PendingReturn {
                call: call_number,
                ..call(7, frame, probe)
            },
        );
    }
    let calls = [
        (120, 13),
        (100, 11),
        (100, 12),
        (100, 13),
        (100, 15),
        (80, 11),
        (60, 13),
    ];
    let calls = calls.map(|(frame, probe)| PendingReturn {
        call: 0,
        ..call(7, frame, probe)
    });
    assert_eq!(add_found(&mut pending, &calls), 6);
    assert_eq!(add_found(&mut pending, &calls), 0);
    let mut told = Vec::new();
    for frame in [60, 80, 100, 120] {
        while let Some(call) = pending.pop_returned(THREAD, 7, frame) {
            told.push((frame, call.probe));
        }
    }
    let expected = [
        (60, 13),
        (80, 11),
        (80, 12),
        // The callee of a tail call ends first.
        (100, 21),
        (100, 11),
        (100, 12),
        (100, 13),
        (100, 14),
        (100, 15),
        (120, 13),
    ];
    assert_eq!(told, expected);
}

#[test]
fn an_unwound_tail_call_ends_as_a_returned_one_does() {
    let mut pending = PendingReturns::default();
    for (frame, call_number, probe) in [(100, 1, 0), (80, 2, 1), (80, 3, 2), (80, 3, 3)] {
        pending.push(
            THREAD,
            PendingReturn {
                call: call_number,
                ..call(7, frame, probe)
            },
        );
    }
    let gone = pending.take_gone(THREAD, |call| call.frame <= 100);
    let gone: Vec<u32> = gone.iter().map(|call| call.probe).collect();
    assert_eq!(gone, [2, 3, 1, 0]);
}

#[test]
fn unwinding_drops_the_frames_below_and_keeps_other_stacks() {
    let mut pending = PendingReturns::default();
    pending.push(THREAD, call(1, 100, 0));
    pending.push(THREAD, call(2, 80, 0));
    pending.push(THREAD, call(3, 60, 0));
    pending.push(THREAD, call(4, 5, 0));
    let gone = pending.take_gone(THREAD, |call| (50..=80).contains(&call.frame));
    let gone: Vec<u64> = gone.iter().map(|call| call.address).collect();
    assert_eq!(gone, [3, 2], "the innermost first");
    // Calls on another stack are kept.
    assert!(pending.outermost(THREAD).is_some());
    let mut dropped = Vec::new();
    pending.end_thread(THREAD, &mut dropped);
    dropped.sort_unstable();
    assert_eq!(dropped, [1, 4]);
    assert!(pending.outermost(THREAD).is_none());
}

proptest! {
    /// Runs random nested calls, returns and jumps on one stack against a model of the stack: each
    /// call returns exactly once or is unwound.
    #[test]
    fn every_call_returns_once_or_is_unwound(actions in proptest::collection::vec(0u8..4, 0..200)) {
        let mut pending = PendingReturns::default();
        let mut stack: Vec<(u64, u64)> = Vec::new();
        for action in actions {
            match action {
                0 | 1 => {
                    let frame = 10_000 - 16 * (stack.len() as u64 + 1);
                    let address = u64::from(action);
                    stack.push((address, frame));
                    pending.push(THREAD, call(address, frame, 0));
                }
                2 => if let Some((address, frame)) = stack.pop() {
                    prop_assert_eq!(pending.pop_returned(THREAD, address, frame).map(|c| c.frame), Some(frame));
                },
                _ => {
                    let keep = stack.len() / 2;
                    if let Some(&(_, frame)) = stack.get(keep) {
                        let gone: Vec<u64> = stack.drain(keep..).rev().map(|it| it.1).collect();
                        let told = pending.take_gone(THREAD, |call| call.frame <= frame);
                        let told: Vec<u64> = told.iter().map(|call| call.frame).collect();
                        prop_assert_eq!(told, gone);
                    }
                }
            }
            prop_assert_eq!(pending.outermost(THREAD).is_some(), !stack.is_empty());
        }
    }
}
