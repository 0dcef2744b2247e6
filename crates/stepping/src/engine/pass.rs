//! The pass in place: hold the others, lift, step, plant, release.
//!
//! Invariant (N. Ramsey, *Correctness of Trap-Based Breakpoint
//! Implementations*, section 4): from the write that lifts the trap to the
//! write that plants it, no thread moves but the one that passes. With a
//! processor per thread this takes three rules: every other thread has
//! answered its hold before the first write; the trap is back before the first
//! release; and a thread that answers by having trapped already is not past
//! anything, its arrival is taken up after the release.
//!
//! One thread passes at a time, in the order in which they asked. The others
//! stay held until the last of the queue is through: a held thread cannot
//! join the queue, so the queue runs empty.

use super::{Engine, Rule};
use crate::thread::{Motion, Next, Thread, Wanted};
use crate::{Operation, Passage, ThreadId};

/// A thread on its way past a site in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Pass {
    thread: ThreadId,
    address: u64,
    /// False while some other thread has not answered its hold.
    stepping: bool,
}

impl Engine {
    /// The thread that executes the lifted instruction at this moment.
    pub(super) fn stepper(&self) -> Option<ThreadId> {
        self.pass
            .filter(|pass| pass.stepping)
            .map(|pass| pass.thread)
    }

    /// The site from which a thread makes its step in place.
    pub(super) fn stepped_from(&self, thread: ThreadId) -> Option<u64> {
        let pass = self
            .pass
            .filter(|pass| pass.stepping && pass.thread == thread)?;
        Some(pass.address)
    }

    /// Whether the original instruction is back at `address` for a step.
    pub(super) fn is_lifted(&self, address: u64) -> bool {
        self.pass
            .is_some_and(|pass| pass.stepping && pass.address == address)
    }

    /// Takes the thread past the site at which it stands; no pass is under way.
    pub(super) fn begin_pass(&mut self, id: ThreadId, operations: &mut Vec<Operation>) {
        let Some(thread) = self.threads.get(&id) else {
            return;
        };
        let address = thread.place;
        self.pass = Some(Pass {
            thread: id,
            address,
            stepping: false,
        });
        if self.drops(Rule::HoldBeforeLift) {
            operations.push(Operation::Lift { address });
        }
        for (other, thread) in &mut self.threads {
            if *other != id && thread.motion != Motion::Stopped {
                thread.hold(*other, operations);
            }
        }
        self.settle(operations);
    }

    /// Lifts and steps as soon as no other thread moves.
    pub(super) fn settle(&mut self, operations: &mut Vec<Operation>) {
        let Some(pass) = self.pass.filter(|pass| !pass.stepping) else {
            return;
        };
        let moving = |(id, thread): (&ThreadId, &Thread)| {
            *id != pass.thread && thread.motion != Motion::Stopped
        };
        if self.threads.iter().any(moving) {
            return;
        }
        if !self.needs_pass(pass.thread) {
            // An owner came while the others were being held: it is told first.
            return self.abandon_pass(pass.thread, operations);
        }
        let early = self.drops(Rule::HoldBeforeLift);
        if self.sites.contains_key(&pass.address) && !early {
            operations.push(Operation::Lift {
                address: pass.address,
            });
        }
        let Some(thread) = self.threads.get_mut(&pass.thread) else {
            return;
        };
        self.pass = Some(Pass {
            stepping: true,
            ..pass
        });
        let wanted = std::mem::replace(&mut thread.wanted, Wanted::Step);
        thread.go(pass.thread, operations);
        thread.wanted = wanted;
    }

    /// The step of the pass is over, one way or another: plants, tells what
    /// there is to tell, releases.
    pub(super) fn leave_step(
        &mut self,
        id: ThreadId,
        report: Option<Operation>,
        operations: &mut Vec<Operation>,
    ) {
        let Some(pass) = self.pass.take() else { return };
        let planted = self.sites.contains_key(&pass.address);
        let early = self.drops(Rule::PlantBeforeRelease);
        if planted && !early {
            operations.push(Operation::Plant {
                address: pass.address,
            });
        }
        if let Some(thread) = self.threads.get_mut(&id) {
            if report.is_some() {
                thread.wanted = Wanted::Wait;
                operations.extend(report);
            }
            thread.answer_halt(id, operations);
            if !planted && thread.standing.is_none() {
                // It will find no trap when it comes back.
                thread.forget_arrival(pass.address);
            }
        }
        self.release(operations);
        if planted && early {
            operations.push(Operation::Plant {
                address: pass.address,
            });
        }
    }

    /// A thread will not pass for now: it was halted, moved or ended.
    pub(super) fn abandon_pass(&mut self, id: ThreadId, operations: &mut Vec<Operation>) {
        self.waiting.retain(|waiting| *waiting != id);
        if self.pass.is_some_and(|pass| pass.thread == id) {
            self.pass = None;
            self.release(operations);
        }
    }

    /// Puts the thread into the queue if its way past is in place.
    pub(super) fn wait_for_pass(&mut self, id: ThreadId) {
        let passing = self.pass.is_some_and(|pass| pass.thread == id);
        if !passing && self.needs_pass(id) && !self.waiting.contains(&id) {
            self.waiting.push_back(id);
        }
    }

    /// Gives the way to the next thread of the queue, or lets all go.
    fn release(&mut self, operations: &mut Vec<Operation>) {
        let mut from = ThreadId(0);
        while let Some(id) = self.thread_from(from) {
            self.wait_for_pass(id);
            let Some(next) = id.0.checked_add(1) else {
                break;
            };
            from = ThreadId(next);
        }
        while let Some(id) = self.waiting.pop_front() {
            if self.needs_pass(id) {
                return self.begin_pass(id, operations);
            }
        }
        let mut from = ThreadId(0);
        while let Some(id) = self.thread_from(from) {
            self.advance(id, operations);
            let Some(next) = id.0.checked_add(1) else {
                break;
            };
            from = ThreadId(next);
        }
    }

    fn needs_pass(&self, id: ThreadId) -> bool {
        self.threads.get(&id).is_some_and(|thread| {
            let wants = thread.motion == Motion::Stopped && thread.wanted != Wanted::Wait;
            let next = || thread.next(self.sites.get(&thread.place));
            wants && matches!(next(), Next::Pass(passage) if passage.is_in_place())
        })
    }

    /// Whether the step of the pass has ended within its instruction.
    pub(super) fn has_rounds_left(&self, id: ThreadId, address: u64) -> bool {
        self.stepped_from(id) == Some(address)
            && self.threads.get(&id).is_some_and(|thread| {
                thread.passage_of_arrival(address) == Some(Passage::InPlaceRounds)
            })
    }

    /// The thread with the lowest id not below `from`.
    fn thread_from(&self, from: ThreadId) -> Option<ThreadId> {
        self.threads.range(from..).next().map(|(id, _)| *id)
    }
}
