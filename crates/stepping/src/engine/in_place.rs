//! The step-over in place: hold the others, remove, step, insert, release.
//!
//! Invariant (N. Ramsey, *Correctness of Trap-Based Breakpoint
//! Implementations*, section 4): from the write that removes the trap to the
//! write that inserts it, no thread runs but the one that is stepped. With a
//! processor per thread this takes three rules: every other thread has answered
//! its hold before the first write; the trap is back before the first release;
//! and a thread that answers by having trapped already has not passed anything,
//! its arrival is handled after the release.
//!
//! One thread is stepped at a time, in the order of the requests. The others
//! stay held until the queue is empty: a held thread cannot join the queue, so
//! the queue runs empty.
//!
//! With [`StepBy::FollowSet`] every step is made this way, also one from where
//! no site is: the traps at the follow set are in the way of the other threads.

use super::{Engine, Rule};
use crate::thread::{Motion, Next, Thread, Wanted};
use crate::{FollowSet, Operation, StepBy, StepOver, ThreadId};

/// A thread that is being stepped over in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct InPlaceStep {
    thread: ThreadId,
    address: u64,
    phase: Phase,
}

/// The phase of a step-over in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Phase {
    /// Some other thread has not answered its hold.
    Holding,
    /// The shell looks for the follow set.
    Asking,
    /// The thread executes the instruction.
    Stepping(Step),
}

/// The step of a step-over in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Step {
    /// The address at which it began.
    pub(super) start: u64,
    /// Whether the thread had arrived there, so that the trap, if there is one,
    /// is removed for it.
    pub(super) is_trap_removed: bool,
    /// The addresses of the traps that end it; none for a step by the trace
    /// flag.
    pub(super) follow: Option<FollowSet>,
}

impl Step {
    /// Returns true if the trap at `address` ends the step.
    pub(super) fn ends_at(&self, address: u64) -> bool {
        self.follow.is_some_and(|follow| follow.contains(address))
    }

    /// Returns the operation that makes the step, or makes it again.
    pub(super) fn order(&self, thread: ThreadId) -> Operation {
        match self.follow {
            None => Operation::StepThread { thread },
            Some(_) => Operation::RunToFollowSet { thread },
        }
    }
}

impl Engine {
    /// Returns the step that is under way, and its thread.
    fn current_step(&self) -> Option<(ThreadId, Step)> {
        match self.in_place? {
            InPlaceStep {
                thread,
                phase: Phase::Stepping(step),
                ..
            } => Some((thread, step)),
            _ => None,
        }
    }

    /// Returns the thread that is executing its instruction in place.
    pub(super) fn stepper(&self) -> Option<ThreadId> {
        self.current_step().map(|(thread, _)| thread)
    }

    /// Returns the step that a thread is making in place.
    pub(super) fn step_of(&self, thread: ThreadId) -> Option<Step> {
        self.current_step()
            .filter(|(stepper, _)| *stepper == thread)
            .map(|(_, step)| step)
    }

    /// Returns true if the original instruction is back at `address` for a
    /// step.
    pub(super) fn is_removed_for_step(&self, address: u64) -> bool {
        self.current_step()
            .is_some_and(|(_, step)| step.is_trap_removed && step.start == address)
    }

    /// Returns true if a trap at `address` is to end a step.
    pub(super) fn is_follow_trap(&self, address: u64) -> bool {
        self.current_step()
            .is_some_and(|(_, step)| step.ends_at(address))
    }

    /// Begins to step the thread over the instruction at which it stands; no
    /// other step-over in place is under way.
    pub(super) fn begin_in_place(&mut self, id: ThreadId, operations: &mut Vec<Operation>) {
        let Some(thread) = self.threads.get(&id) else {
            return;
        };
        let address = thread.pc;
        self.in_place = Some(InPlaceStep {
            thread: id,
            address,
            phase: Phase::Holding,
        });
        if self.drops(Rule::HoldBeforeRemoval) {
            operations.push(Operation::RemoveTrap { address });
        }
        let holds = !self.drops(Rule::HoldOthers);
        for (other, thread) in &mut self.threads {
            if holds && *other != id && thread.motion.moves() {
                thread.hold(*other, operations);
            }
        }
        self.settle(operations);
    }

    /// Removes patches, or continues the step-over, as soon as no other thread
    /// runs.
    pub(super) fn settle(&mut self, operations: &mut Vec<Operation>) {
        let Some(in_place) = self.in_place else {
            if self.patches.leave() {
                self.release(operations);
            }
            return;
        };
        if in_place.phase != Phase::Holding {
            return;
        }
        let moving =
            |(id, thread): (&ThreadId, &Thread)| *id != in_place.thread && thread.motion.moves();
        if self.threads.iter().any(moving) && !self.drops(Rule::HoldOthers) {
            return;
        }
        self.remove_patches(operations);
        if !self.needs_in_place(in_place.thread) {
            // An owner came while the others were being held: it is notified
            // first.
            return self.abandon_in_place(in_place.thread, operations);
        }
        match self.step_by {
            StepBy::TraceFlag => self.begin_step(in_place, None, operations),
            StepBy::FollowSet => {
                self.in_place = Some(InPlaceStep {
                    phase: Phase::Asking,
                    ..in_place
                });
                operations.push(Operation::FindFollowSet {
                    thread: in_place.thread,
                    address: in_place.address,
                });
            }
        }
    }

    /// Handles the follow set that the shell has found, or none.
    pub(super) fn follow(
        &mut self,
        id: ThreadId,
        address: u64,
        follow: Option<FollowSet>,
        operations: &mut Vec<Operation>,
    ) {
        let asked =
            |in_place: &InPlaceStep| in_place.phase == Phase::Asking && in_place.thread == id;
        let Some(in_place) = self.in_place.filter(asked) else {
            return;
        };
        if in_place.address != address {
            return;
        }
        if !self.needs_in_place(id) {
            return self.abandon_in_place(id, operations);
        }
        // A trap at the instruction itself would let it not run at all.
        let refuses = !self.drops(Rule::RefuseItself);
        match follow.filter(|follow| !(refuses && follow.contains(address))) {
            Some(follow) => self.begin_step(in_place, Some(follow), operations),
            None => self.step_without_follow_set(in_place, operations),
        }
    }

    /// Falls back to the trace flag.
    fn step_without_follow_set(&mut self, in_place: InPlaceStep, operations: &mut Vec<Operation>) {
        let Some(thread) = self.threads.get_mut(&in_place.thread) else {
            return;
        };
        match thread.next(self.sites.get(&thread.pc)) {
            Next::StepOver(step_over) if step_over.is_in_place() => {
                return self.begin_step(in_place, None, operations);
            }
            Next::StepOver(step_over) => {
                self.in_place = None;
                self.step_over(in_place.thread, step_over, operations);
            }
            Next::Go | Next::Report(_) => {
                self.in_place = None;
                self.go(in_place.thread, operations);
            }
        }
        self.release(operations);
    }

    /// Removes the trap, and lets the one thread execute the instruction.
    fn begin_step(
        &mut self,
        in_place: InPlaceStep,
        follow: Option<FollowSet>,
        operations: &mut Vec<Operation>,
    ) {
        if let Some(follow) = follow {
            self.clear_way(follow.iter().chain([in_place.address]), operations);
        }
        let Some(thread) = self.threads.get_mut(&in_place.thread) else {
            return;
        };
        let step = Step {
            start: in_place.address,
            is_trap_removed: thread.standing.is_some(),
            follow,
        };
        let early = self.drops(Rule::HoldBeforeRemoval);
        if step.is_trap_removed && self.sites.contains_key(&step.start) && !early {
            operations.push(Operation::RemoveTrap {
                address: step.start,
            });
        }
        for address in follow.iter().flat_map(FollowSet::iter) {
            if !self.sites.contains_key(&address) {
                self.insert_trap(address, operations);
            }
        }
        self.in_place = Some(InPlaceStep {
            phase: Phase::Stepping(step),
            ..in_place
        });
        if let Some(thread) = self.threads.get_mut(&in_place.thread) {
            thread.go_by(step.order(in_place.thread), in_place.thread, operations);
        }
    }

    /// Ends the step: inserts the trap, reports, releases the others.
    pub(super) fn leave_step(
        &mut self,
        id: ThreadId,
        report: Option<Operation>,
        operations: &mut Vec<Operation>,
    ) {
        let Some((_, step)) = self.current_step() else {
            return;
        };
        self.in_place = None;
        let counts = !self.drops(Rule::CountTraps);
        for address in step.follow.iter().flat_map(FollowSet::iter) {
            if !(counts && self.sites.contains_key(&address)) {
                operations.push(Operation::RemoveTrap { address });
            }
        }
        let inserted = self.sites.contains_key(&step.start);
        let early = self.drops(Rule::InsertBeforeRelease);
        if inserted && step.is_trap_removed && !early {
            self.insert_trap(step.start, operations);
        }
        if let Some(thread) = self.threads.get_mut(&id) {
            if report.is_some() {
                thread.wanted = Wanted::Wait;
                operations.extend(report);
            }
            thread.answer_halt(id, operations);
            if step.is_trap_removed && !inserted && thread.standing.is_none() {
                // It will find no trap when it comes back.
                thread.forget_arrival(step.start);
            }
        }
        self.release(operations);
        if inserted && step.is_trap_removed && early {
            self.insert_trap(step.start, operations);
        }
    }

    /// Abandons the step-over of a thread: it was halted, moved or ended.
    pub(super) fn abandon_in_place(&mut self, id: ThreadId, operations: &mut Vec<Operation>) {
        self.waiting.retain(|waiting| *waiting != id);
        if self.in_place.is_some_and(|in_place| in_place.thread == id) {
            self.in_place = None;
            self.release(operations);
        }
    }

    /// Puts the thread into the queue if its step-over method is in place.
    pub(super) fn queue_in_place(&mut self, id: ThreadId) {
        if self.needs_in_place(id) && !self.waiting.contains(&id) {
            self.waiting.push_back(id);
        }
    }

    /// Lets the next thread of the queue step, or releases all.
    fn release(&mut self, operations: &mut Vec<Operation>) {
        if !self.remove_patches(operations) {
            return;
        }
        let mut from = ThreadId(0);
        while let Some(id) = self.thread_from(from) {
            self.queue_in_place(id);
            let Some(next) = id.0.checked_add(1) else {
                break;
            };
            from = ThreadId(next);
        }
        while let Some(id) = self.waiting.pop_front() {
            if self.needs_in_place(id) {
                return self.begin_in_place(id, operations);
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

    /// Returns true if a stopped thread that is to run must be stepped in
    /// place, alone.
    pub(super) fn needs_in_place(&self, id: ThreadId) -> bool {
        let Some(thread) = self.threads.get(&id) else {
            return false;
        };
        if thread.motion != Motion::Stopped || thread.wanted == Wanted::Wait {
            return false;
        }
        let by_traps = self.step_by == StepBy::FollowSet && thread.wanted == Wanted::Step;
        match thread.next(self.sites.get(&thread.pc)) {
            Next::StepOver(StepOver::InPlace | StepOver::InPlaceRepeated) => true,
            Next::StepOver(StepOver::OutOfLine { .. }) | Next::Go => by_traps,
            Next::StepOver(StepOver::Skip { .. } | StepOver::Call { .. }) | Next::Report(_) => {
                false
            }
        }
    }

    /// Returns the thread with the lowest id not below `from`.
    fn thread_from(&self, from: ThreadId) -> Option<ThreadId> {
        self.threads.range(from..).next().map(|(id, _)| *id)
    }
}
