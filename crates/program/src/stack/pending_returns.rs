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

/// The pending calls of a thread by their frames, each frame's in the order in which they were
/// entered. Deep recursion makes many frames, and looks at one of them at a time.
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
    /// A call has been entered.
    pub fn push(&mut self, thread: ThreadId, pending: PendingReturn) {
        let frames = self.threads.entry(thread).or_default();
        frames.entry(pending.frame).or_default().push(pending);
    }

    /// Adds a call that was found on the stack of a thread, and returns whether it was added: not
    /// if the probe waits for it already. If other probes wait for it, it is the same call:
    /// `rank` gives the function of a probe, and its place among the probes of a call.
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
        let frames = self.threads.get_mut(&thread)?;
        let position = frames
            .get(&frame)?
            .iter()
            .position(|call| call.at_entry && call.address == address && call.probe == probe)?;
        remove(frames, frame, position)
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
        let frames = self.threads.get_mut(&thread)?;
        let calls = frames.get(&stack)?;
        let mut returned = calls.iter().rev().filter(|call| call.address == address);
        let last = returned.next()?.call;
        let position = calls
            .iter()
            .position(|call| call.address == address && call.call == last)?;
        remove(frames, stack, position)
    }

    /// Takes the calls that are gone because frames were unwound, the innermost first;
    /// the probes that wait for one call in the order in which they were entered.
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
        // Where a tail call has taken a frame over, what was entered last ends first.
        gone.sort_by_key(|call| (call.frame, Reverse(call.call)));
        gone
    }

    /// The thread is gone.
    pub fn end_thread(&mut self, thread: ThreadId, dropped: &mut Vec<u64>) {
        let frames = self.threads.remove(&thread).unwrap_or_default();
        dropped.extend(frames.values().flatten().map(|call| call.address));
    }

    /// The calls of `parent` are those of `thread` now, and no other thread is
    /// left.
    pub fn follow(&mut self, thread: ThreadId, parent: ThreadId, dropped: &mut Vec<u64>) {
        let calls = self.threads.remove(&parent);
        let gone = self.threads.values().flat_map(|frames| frames.values());
        dropped.extend(gone.flatten().map(|call| call.address));
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

    /// The frame of the outermost call that is pending in a thread.
    pub fn outermost(&self, thread: ThreadId) -> Option<u64> {
        self.threads.get(&thread)?.keys().copied().max()
    }

    /// Whether a probe waits for any call, in any thread.
    pub fn waits_for(&self, probe: u32) -> bool {
        let mut frames = self.threads.values().flat_map(|frames| frames.values());
        frames.any(|calls| calls.iter().any(|call| call.probe == probe))
    }
}

#[cfg(test)]
mod tests;
