//! The calls whose returns events *after* a call await, by thread.
//!
//! When an instrumented call is entered, the word at the stack pointer is its return address, and
//! its frame is gone as soon as the stack pointer is above that word. A trap at the return address
//! belongs to the call exactly if the stack pointer is one word above the slot of the return
//! address; recursive calls with the same return address have other stack pointers. A tail call
//! reuses the slot, so several calls may end at one return: the callee that was entered last ends
//! first. Several probes may await one call; they get it in the order in which they were entered.
//!
//! `longjmp` and exceptions remove frames without a return: such calls are removed, innermost first
//! ([`PendingReturns::take_gone`]), and their sites released.

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
    /// The return address.
    pub address: u64,
    /// The canonical frame address: the stack pointer after the return.
    pub frame: u64,
    /// The number of the call: greater for a later entry, equal for the probes of one entry.
    pub call: u64,
    /// The probe that awaits it.
    pub probe: u32,
    /// Whether it was found on a stack whose thread was at the call's first instruction: its entry
    /// may still be reported, for the same call.
    pub at_entry: bool,
    /// The words that were read at entry, one for each capture.
    pub begun: SmallVec<[Begun; 4]>,
    /// The values at entry that captures use at the return, in order.
    pub entry: Vec<Typed>,
}

impl PendingReturn {
    /// Returns whether a jump or an exception has removed its frame.
    pub fn is_among(&self, dropped: &Dropped) -> bool {
        let back = JumpTarget {
            pc: self.address,
            stack: self.frame,
        };
        dropped.resumes_at(back).is_some()
    }
}

/// The pending calls of a thread by frame, those of a frame in the order of entry. Deep recursion
/// has many frames, of which one is accessed at a time.
type Frames = FxHashMap<u64, SmallVec<[PendingReturn; 1]>>;

/// The pending calls of all threads.
#[derive(Debug, Default, Clone)]
pub struct PendingReturns {
    threads: FxHashMap<ThreadId, Frames>,
}

/// Removes one of the calls of a frame.
fn remove(frames: &mut Frames, frame: u64, position: usize) -> Option<PendingReturn> {
    let calls = frames.get_mut(&frame)?;
    let removed = (position < calls.len()).then(|| calls.remove(position));
    if calls.is_empty() {
        frames.remove(&frame);
    }
    removed
}

impl PendingReturns {
    /// Adds a call that has been entered.
    pub fn push(&mut self, thread: ThreadId, pending: PendingReturn) {
        let frames = self.threads.entry(thread).or_default();
        frames.entry(pending.frame).or_default().push(pending);
    }

    /// Adds a call that was found on the stack of a thread. Returns false if the probe awaits it
    /// already. If other probes await it, it gets the same number: `rank` gives the function of a
    /// probe, and its order among the probes of a call.
    pub fn add_found<R: Ord>(
        &mut self,
        thread: ThreadId,
        mut found: PendingReturn,
        rank: impl Fn(u32) -> (u64, R),
    ) -> bool {
        let frames = self.threads.entry(thread).or_default();
        let calls = frames.entry(found.frame).or_default();
        let own = rank(found.probe);
        let is_same =
            |call: &PendingReturn| call.address == found.address && rank(call.probe).0 == own.0;
        if calls
            .iter()
            .any(|call| is_same(call) && call.probe == found.probe)
        {
            return false;
        }
        let mut position = calls.len();
        if let Some(last) = calls.iter().rposition(is_same) {
            let call = calls.get(last).map_or(0, |call| call.call);
            let is_later =
                |it: &PendingReturn| is_same(it) && it.call == call && rank(it.probe) > own;
            position = calls.iter().position(is_later).unwrap_or(last + 1);
            found.call = call;
        }
        calls.insert(position, found);
        true
    }

    /// Removes a call that was recorded while its thread was at the first instruction, when its
    /// entry is now reported. The caller releases the site.
    pub fn take_noted_entry(
        &mut self,
        thread: ThreadId,
        address: u64,
        frame: u64,
        probe: u32,
    ) -> Option<PendingReturn> {
        let frames = self.threads.get_mut(&thread)?;
        let position = frames
            .get(&frame)?
            .iter()
            .position(|call| call.at_entry && call.address == address && call.probe == probe)?;
        remove(frames, frame, position)
    }

    /// Removes and returns the innermost call that has just returned, for a thread at `address`
    /// with this stack pointer. Returns `None` if there is none; the caller repeats it until then.
    pub fn pop_returned(
        &mut self,
        thread: ThreadId,
        address: u64,
        stack: u64,
    ) -> Option<PendingReturn> {
        let frames = self.threads.get_mut(&thread)?;
        let calls = frames.get(&stack)?;
        let mut returned = calls.iter().rev().filter(|call| call.address == address);
        let last = returned.next()?.call;
        let position = calls
            .iter()
            .position(|call| call.address == address && call.call == last)?;
        remove(frames, stack, position)
    }

    /// Removes the calls whose frames were unwound, the innermost first; for one call its probes in
    /// the order of entry.
    pub fn take_gone(
        &mut self,
        thread: ThreadId,
        is_gone: impl Fn(&PendingReturn) -> bool,
    ) -> Vec<PendingReturn> {
        let Some(frames) = self.threads.get_mut(&thread) else {
            return Vec::new();
        };
        let mut gone: Vec<PendingReturn> = Vec::new();
        frames.retain(|_, calls| {
            let (left, kept) = std::mem::take(calls).into_iter().partition(&is_gone);
            *calls = kept;
            let left: SmallVec<[PendingReturn; 1]> = left;
            gone.extend(left);
            !calls.is_empty()
        });
        // If a tail call has taken over a frame, the last entered call ends first.
        gone.sort_by_key(|call| (call.frame, Reverse(call.call)));
        gone
    }

    /// Removes the calls of a thread that has ended, and adds their return addresses to `dropped`.
    pub fn end_thread(&mut self, thread: ThreadId, dropped: &mut Vec<u64>) {
        let frames = self.threads.remove(&thread).unwrap_or_default();
        dropped.extend(frames.values().flatten().map(|call| call.address));
    }

    /// Assigns the calls of `parent` to `thread`, the only thread that is left, and drops all
    /// others.
    pub fn follow(&mut self, thread: ThreadId, parent: ThreadId, dropped: &mut Vec<u64>) {
        let calls = self.threads.remove(&parent);
        let gone = self.threads.values().flat_map(|frames| frames.values());
        dropped.extend(gone.flatten().map(|call| call.address));
        self.threads.clear();
        self.threads.extend(calls.map(|calls| (thread, calls)));
    }

    /// Renumbers the threads.
    pub fn renumber_threads(&mut self, number: impl Fn(ThreadId) -> ThreadId) {
        let threads = std::mem::take(&mut self.threads).into_iter();
        self.threads = threads
            .map(|(thread, calls)| (number(thread), calls))
            .collect();
    }

    /// Removes all calls that the probes await.
    pub fn end_probes(&mut self, gone: impl Fn(u32) -> bool, dropped: &mut Vec<u64>) {
        for frames in self.threads.values_mut() {
            frames.retain(|_, calls| {
                calls.retain(|call| {
                    let keep = !gone(call.probe);
                    if !keep {
                        dropped.push(call.address);
                    }
                    keep
                });
                !calls.is_empty()
            });
        }
    }

    /// Returns the pending calls of a frame in the order of entry.
    pub fn of_frame(&self, thread: ThreadId, frame: u64) -> &[PendingReturn] {
        let frames = self.threads.get(&thread);
        frames
            .and_then(|it| it.get(&frame))
            .map_or(&[], |calls| calls)
    }

    /// Returns the frame of the outermost pending call of a thread.
    pub fn outermost(&self, thread: ThreadId) -> Option<u64> {
        self.threads.get(&thread)?.keys().copied().max()
    }

    /// Returns whether a probe awaits any call, in any thread.
    pub fn waits_for(&self, probe: u32) -> bool {
        let mut frames = self.threads.values().flat_map(|frames| frames.values());
        frames.any(|calls| calls.iter().any(|call| call.probe == probe))
    }
}

#[cfg(test)]
mod tests;
