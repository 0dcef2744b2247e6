//! Processes that the debuggee makes, by `fork` and by `vfork`.
//!
//! A forked process has a copy of the memory as it was at the moment of the
//! `fork`. That is earlier than any report of it: since then sites have come
//! and gone, and other threads were stepped over theirs. It may even have been
//! made by an instruction that was stepped in place, with its trap removed.
//! Invariant: before a copy runs alone, the original bytes are back wherever a
//! trap was ever inserted; before it runs as the debuggee, a trap is at each
//! site, too.
//!
//! It returns from signal handlers to the arrivals to which its parent would
//! have returned at that moment. They are kept until the process is seen: the
//! parent may continue, or be killed with its whole process.
//!
//! A `vfork` makes one more thread in the same memory, and its parent waits in
//! the kernel: it executes nothing, but answers no request to stop either. So
//! nothing may wait for it.

use super::{Engine, Rule};
use crate::arrival::Arrival;
use crate::thread::{Motion, Thread, Wanted};
use crate::{Input, Operation, ThreadId};

/// A process that has been made with a copy of the memory and has not been seen
/// yet.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct PendingFork {
    pub(super) parent: ThreadId,
    /// Its thread, as it will be if it is followed.
    pub(super) thread: Thread,
}

impl Engine {
    pub(super) fn parked(&mut self, id: ThreadId, address: u64, operations: &mut Vec<Operation>) {
        let step = self.step_of(id);
        let parks = !self.drops(Rule::Park);
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        if !thread.motion.moves() {
            return;
        }
        if thread.motion == Motion::Stepping {
            thread.out_of_line_steps = thread.out_of_line_steps.saturating_sub(1);
        }
        thread.stop(address);
        thread.departure = None;
        thread.motion = if parks {
            Motion::Parked
        } else {
            Motion::Running
        };
        if let Some(step) = step {
            if step.is_trap_removed {
                thread.forget_arrival(step.start);
            }
            return self.leave_step(id, None, operations);
        }
        thread.answer_halt(id, operations);
        self.settle(operations);
    }

    /// Notes a new thread. If the number is that of a thread whose end was not reported, that thread
    /// ends first: a step of it in place may be under way.
    pub(super) fn begin(&mut self, id: ThreadId, thread: Thread, operations: &mut Vec<Operation>) {
        if self.threads.contains_key(&id) {
            self.ended(id, operations);
        }
        self.threads.insert(id, thread);
    }

    pub(super) fn started_in_place(
        &mut self,
        id: ThreadId,
        parent: ThreadId,
        operations: &mut Vec<Operation>,
    ) {
        let mut thread = Thread::new(Motion::Stopped, Wanted::Wait);
        let inherits = !self.drops(Rule::InheritInPlace);
        if let Some(parent) = self.threads.get(&parent).filter(|_| inherits) {
            thread.inherit(parent);
        }
        self.pending_forks.remove(&id);
        self.begin(id, thread, operations);
    }

    pub(super) fn unparked(&mut self, id: ThreadId, operations: &mut Vec<Operation>) {
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        if thread.motion != Motion::Parked {
            return;
        }
        thread.motion = Motion::Stopped;
        thread.leaves_call = true;
        operations.extend(thread.end_step(id, thread.pc));
        if self.in_place.is_some() {
            self.queue_in_place(id);
        } else {
            self.advance(id, operations);
        }
    }

    pub(super) fn fork_made(&mut self, process: ThreadId, parent: ThreadId) {
        let Some(maker) = self.threads.get(&parent) else {
            return;
        };
        let mut thread = Thread::new(Motion::Stopped, Wanted::Wait);
        thread.pc = maker.pc;
        if !self.drops(Rule::Inherit) {
            thread.inherit(maker);
        }
        for arrival in &mut thread.arrivals {
            // The copy will have no patch.
            arrival.step_over = self.step_over_by_trap(arrival.address, arrival.step_over);
        }
        self.pending_forks
            .insert(process, PendingFork { parent, thread });
    }

    /// Returns the inputs ([`Input::Inherited`]) that give an engine of its own
    /// to a process that has been made and not been seen yet, after its thread
    /// and the sites exist there.
    pub fn inheritance(&self, process: ThreadId) -> impl Iterator<Item = Input> + '_ {
        let fork = self.pending_forks.get(&process);
        let arrivals = fork.into_iter().flat_map(|fork| &fork.thread.arrivals);
        arrivals.map(move |arrival| arrival.as_inherited(process))
    }

    /// Returns the inputs ([`Input::Inherited`]) that give another engine the
    /// arrivals to which this thread returns, except the one at which it
    /// stands.
    pub fn arrivals_further_out(&self, thread: ThreadId) -> impl Iterator<Item = Input> + '_ {
        let known = self.threads.get(&thread).into_iter();
        known.flat_map(move |known| {
            let here = known.arrival();
            let others = known.arrivals.iter().filter(move |it| Some(*it) != here);
            others.map(move |&arrival| {
                let step_over = self.step_over_by_trap(arrival.address, arrival.step_over);
                let arrival = Arrival {
                    step_over,
                    ..arrival
                };
                arrival.as_inherited(thread)
            })
        })
    }

    pub(super) fn inherited(
        &mut self,
        id: ThreadId,
        arrival: Arrival,
        operations: &mut Vec<Operation>,
    ) {
        let is_known = self.is_site(arrival.address) && !self.drops(Rule::InheritApart);
        if let Some(thread) = self.threads.get_mut(&id).filter(|_| is_known) {
            thread.arrivals.push(arrival);
            self.unpatch(arrival.address, operations);
        }
    }

    /// Forgets a thread that has ended, or a process that was made.
    pub(super) fn forget_fork(&mut self, id: ThreadId) {
        self.pending_forks.remove(&id);
        if self.drops(Rule::InheritFromEnded) {
            self.pending_forks.retain(|_, fork| fork.parent != id);
        }
    }

    pub(super) fn fork_stopped(&mut self, process: ThreadId, operations: &mut Vec<Operation>) {
        self.pending_forks.remove(&process);
        self.restore_patches(process, operations);
        for &address in &self.ever_inserted {
            if self.drops(Rule::RestoreFork)
                || self.drops(Rule::RestoreRemoved) && !self.is_site(address)
            {
                continue;
            }
            operations.push(Operation::RestoreInFork { process, address });
        }
        operations.push(Operation::ReleaseFork { process });
    }

    pub(super) fn fork_followed(&mut self, id: ThreadId, operations: &mut Vec<Operation>) {
        self.restore_patches(id, operations);
        self.drop_patches();
        for &address in &self.ever_inserted {
            let process = id;
            if !self.is_site(address) {
                operations.push(Operation::RestoreInFork { process, address });
            } else if !self.drops(Rule::InsertInFork) {
                operations.push(Operation::InsertInFork { process, address });
            }
        }
        let fork = self.pending_forks.remove(&id);
        let thread = fork.map_or_else(
            || Thread::new(Motion::Stopped, Wanted::Wait),
            |fork| fork.thread,
        );
        self.replace_threads(id, thread);
    }
}
