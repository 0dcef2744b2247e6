//! The calls that events *after* a call wait for, thread by thread.
//!
//! When an instrumented call is entered, the word at the stack pointer is its
//! return address, and its frame is gone as soon as the stack pointer is above
//! that word. A trap at the return address belongs to the call exactly when
//! the stack pointer is one word above the place where the return address
//! stood; recursion through the same address has other stack pointers. A tail
//! call reuses the place, so several calls may end at one arrival: the callee
//! that was entered last ends first. Several probes may wait for one call; they
//! get it in the order in which they were entered.
//!
//! `longjmp` and exceptions remove frames without an arrival: such calls are taken,
//! innermost first ([`PendingReturns::take_gone`]), and their sites released.

use juror_stepping::ThreadId;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cmp::Reverse;

use crate::stack::unwinding::{Dropped, JumpTarget};
use juror_values::read_plan::Begun;
use juror_values::typed::Typed;

/// A call that has been entered and has not returned.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingReturn {
    /// Where it returns to.
    pub address: u64,
    /// The call frame address: the stack pointer once it has returned.
    pub frame: u64,
    /// Tells calls apart: greater for a later entry, equal for the probes of
    /// one entry.
    pub call: u64,
    /// Which probe waits for it.
    pub probe: u32,
    /// Found on a stack whose thread stood at the call's first instruction:
    /// the entry may still be told of, and it is one call all the same.
    pub at_entry: bool,
    /// What was taken at entry, by capture.
    pub begun: SmallVec<[Begun; 4]>,
    /// The values of the entry that captures evaluate at the return, in order.
    pub entry: Vec<Typed>,
}

impl PendingReturn {
    /// Whether a jump or an exception has taken its frame away.
    pub fn is_among(&self, dropped: &Dropped) -> bool {
        let back = JumpTarget {
            pc: self.address,
            stack: self.frame,
        };
        dropped.resumes_at(back).is_some()
    }
}

/// The pending calls of all threads.
#[derive(Debug, Default, Clone)]
pub struct PendingReturns {
    threads: FxHashMap<ThreadId, Vec<PendingReturn>>,
}

impl PendingReturns {
    /// A call has been entered.
    pub fn push(&mut self, thread: ThreadId, pending: PendingReturn) {
        self.threads.entry(thread).or_default().push(pending);
    }

    /// A call is entered, and told of now: takes back what was noted when its
    /// thread was found standing at the entry, if that is so. The caller
    /// releases the site.
    pub fn take_noted_entry(
        &mut self,
        thread: ThreadId,
        address: u64,
        frame: u64,
        probe: u32,
    ) -> Option<PendingReturn> {
        let calls = self.threads.get_mut(&thread)?;
        let position = calls.iter().position(|call| {
            call.at_entry && call.address == address && call.frame == frame && call.probe == probe
        })?;
        Some(calls.remove(position))
    }

    /// A thread stands at `address` with this stack pointer: takes what waits
    /// for the innermost call that has just returned, if one has. Call it
    /// until it gives nothing.
    pub fn pop_returned(
        &mut self,
        thread: ThreadId,
        address: u64,
        stack: u64,
    ) -> Option<PendingReturn> {
        let calls = self.threads.get_mut(&thread)?;
        let returned =
            |pending: &PendingReturn| pending.address == address && pending.frame == stack;
        let last = calls.iter().rev().find(|pending| returned(pending))?.call;
        let position = calls
            .iter()
            .position(|pending| returned(pending) && pending.call == last)?;
        Some(calls.remove(position))
    }

    /// Takes the calls that are gone because frames were unwound, the innermost first;
    /// the probes that wait for one call in the order in which they were entered.
    pub fn take_gone(
        &mut self,
        thread: ThreadId,
        is_gone: impl Fn(&PendingReturn) -> bool,
    ) -> Vec<PendingReturn> {
        let Some(calls) = self.threads.get_mut(&thread) else {
            return Vec::new();
        };
        let mut gone: Vec<PendingReturn> = calls.extract_if(.., |call| is_gone(call)).collect();
        // Where a tail call has taken a frame over, what was entered last ends first.
        gone.sort_by_key(|call| (call.frame, Reverse(call.call)));
        gone
    }

    /// The thread is gone.
    pub fn end_thread(&mut self, thread: ThreadId, dropped: &mut Vec<u64>) {
        if let Some(calls) = self.threads.remove(&thread) {
            dropped.extend(calls.iter().map(|call| call.address));
        }
    }

    /// The calls of `parent` are those of `thread` now, and no other thread is
    /// left.
    pub fn follow(&mut self, thread: ThreadId, parent: ThreadId, dropped: &mut Vec<u64>) {
        let calls = self.threads.remove(&parent);
        for gone in self.threads.values() {
            dropped.extend(gone.iter().map(|call| call.address));
        }
        self.threads.clear();
        self.threads.extend(calls.map(|calls| (thread, calls)));
    }

    /// Threads have other numbers now.
    pub fn renumber_threads(&mut self, number: impl Fn(ThreadId) -> ThreadId) {
        let threads = std::mem::take(&mut self.threads).into_iter();
        self.threads = threads
            .map(|(thread, calls)| (number(thread), calls))
            .collect();
    }

    /// Drops everything a probe waits for.
    pub fn end_probes(&mut self, gone: impl Fn(u32) -> bool, dropped: &mut Vec<u64>) {
        for calls in self.threads.values_mut() {
            calls.retain(|call| {
                let keep = !gone(call.probe);
                if !keep {
                    dropped.push(call.address);
                }
                keep
            });
        }
    }

    /// The frame of the outermost call that is pending in a thread.
    pub fn outermost(&self, thread: ThreadId) -> Option<u64> {
        let calls = self.threads.get(&thread)?;
        calls.iter().map(|call| call.frame).max()
    }

    /// Returns whether a probe waits for the call of a thread with this return address and frame.
    pub fn waits_for_call(&self, thread: ThreadId, address: u64, frame: u64, probe: u32) -> bool {
        let calls = self.threads.get(&thread).map_or(&[][..], |calls| calls);
        let mut same = calls
            .iter()
            .filter(|it| (it.address, it.frame) == (address, frame));
        same.any(|call| call.probe == probe)
    }

    /// Whether a probe waits for any call, in any thread.
    pub fn waits_for(&self, probe: u32) -> bool {
        let mut calls = self.threads.values().flatten();
        calls.any(|call| call.probe == probe)
    }
}

#[cfg(test)]
mod tests {
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
        // A tail call to itself is another call, though in the same place.
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
        // What lies on another stack is kept.
        assert!(pending.outermost(THREAD).is_some());
        let mut dropped = Vec::new();
        pending.end_thread(THREAD, &mut dropped);
        assert_eq!(dropped, [1, 4]);
        assert!(pending.outermost(THREAD).is_none());
    }

    proptest! {
        /// Random nested calls, returns and jumps on one stack, against the
        /// stack itself: each call ends exactly once or is unwound.
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
}
