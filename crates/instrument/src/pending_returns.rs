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
//! `longjmp` and exceptions remove frames without an arrival: such calls are
//! dropped ([`PendingReturns::unwind_to`]), and their sites released.

use juror_stepping::ThreadId;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::read_plan::Begun;
use crate::typed::Typed;

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

    /// The thread's stack now begins at `stack`, because frames were unwound
    /// within one stack: the calls whose frames lay below are gone. `same_stack`
    /// says whether a frame address lies on that stack at all.
    pub fn unwind_to(
        &mut self,
        thread: ThreadId,
        stack: u64,
        same_stack: impl Fn(u64) -> bool,
        dropped: &mut Vec<u64>,
    ) {
        self.retain(thread, dropped, |call| {
            call.frame > stack || !same_stack(call.frame)
        });
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

    /// Whether any call of the thread is pending.
    pub fn is_waiting(&self, thread: ThreadId) -> bool {
        self.threads
            .get(&thread)
            .is_some_and(|calls| !calls.is_empty())
    }

    /// Whether a probe waits for any call, in any thread.
    pub fn waits_for(&self, probe: u32) -> bool {
        let mut calls = self.threads.values().flatten();
        calls.any(|call| call.probe == probe)
    }

    fn retain(
        &mut self,
        thread: ThreadId,
        dropped: &mut Vec<u64>,
        keep: impl Fn(&PendingReturn) -> bool,
    ) {
        if let Some(calls) = self.threads.get_mut(&thread) {
            calls.retain(|call| {
                let kept = keep(call);
                if !kept {
                    dropped.push(call.address);
                }
                kept
            });
        }
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
    fn unwinding_drops_the_frames_below_and_keeps_other_stacks() {
        let mut pending = PendingReturns::default();
        pending.push(THREAD, call(1, 100, 0));
        pending.push(THREAD, call(2, 80, 0));
        pending.push(THREAD, call(3, 60, 0));
        pending.push(THREAD, call(4, 5, 0));
        let mut dropped = Vec::new();
        pending.unwind_to(THREAD, 80, |frame| frame > 50, &mut dropped);
        assert_eq!(dropped, [2, 3]);
        // What lies on another stack is kept.
        assert!(pending.is_waiting(THREAD));
        pending.end_thread(THREAD, &mut dropped);
        assert_eq!(dropped, [2, 3, 1, 4]);
        assert!(!pending.is_waiting(THREAD));
    }

    proptest! {
        /// Random nested calls, returns and jumps on one stack, against the
        /// stack itself: each call ends exactly once or is unwound.
        #[test]
        fn every_call_returns_once_or_is_unwound(actions in proptest::collection::vec(0u8..4, 0..200)) {
            let mut pending = PendingReturns::default();
            let mut stack: Vec<(u64, u64)> = Vec::new();
            let mut dropped = Vec::new();
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
                            let gone = stack.len() - keep;
                            stack.truncate(keep);
                            dropped.clear();
                            pending.unwind_to(THREAD, frame, |_| true, &mut dropped);
                            prop_assert_eq!(dropped.len(), gone);
                        }
                    }
                }
                prop_assert_eq!(pending.is_waiting(THREAD), !stack.is_empty());
            }
        }
    }
}
