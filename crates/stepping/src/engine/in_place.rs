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
//!
//! With [`StepBy::FollowSet`] every step is a pass, also one from where no
//! site is: the traps at the follow set are in the way of the others.

use super::{Engine, Rule};
use crate::thread::{Motion, Next, Thread, Wanted};
use crate::{FollowSet, Operation, StepBy, StepOver, ThreadId};

/// A thread on its way past an instruction in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct InPlaceStep {
    thread: ThreadId,
    address: u64,
    phase: Phase,
}

/// How far a pass is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Phase {
    /// Some other thread has not answered its hold.
    Holding,
    /// The shell looks for the follow set.
    Asking,
    /// The thread executes the instruction.
    Stepping(Step),
}

/// The step of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Step {
    /// Where it began.
    pub(super) start: u64,
    /// Whether the thread had arrived there, so that the trap, if there is one,
    /// is lifted for it.
    pub(super) is_trap_removed: bool,
    /// Where traps wait for its end; none for a step by the trace flag.
    pub(super) follow: Option<FollowSet>,
}

impl Step {
    /// Whether the trap at `address` ends the step.
    pub(super) fn ends_at(&self, address: u64) -> bool {
        self.follow.is_some_and(|follow| follow.contains(address))
    }

    /// The order that makes the step, once more if it has been made already.
    pub(super) fn order(&self, thread: ThreadId) -> Operation {
        match self.follow {
            None => Operation::StepThread { thread },
            Some(_) => Operation::RunToFollowSet { thread },
        }
    }
}

impl Engine {
    /// The step that is under way, and whose it is.
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

    /// The thread that executes the instruction of a pass at this moment.
    pub(super) fn stepper(&self) -> Option<ThreadId> {
        self.current_step().map(|(thread, _)| thread)
    }

    /// The step of a pass that a thread makes.
    pub(super) fn step_of(&self, thread: ThreadId) -> Option<Step> {
        self.current_step()
            .filter(|(stepper, _)| *stepper == thread)
            .map(|(_, step)| step)
    }

    /// Whether the original instruction is back at `address` for a step.
    pub(super) fn is_removed_for_step(&self, address: u64) -> bool {
        self.current_step()
            .is_some_and(|(_, step)| step.is_trap_removed && step.start == address)
    }

    /// Whether the end of a step is waited for at `address`.
    pub(super) fn is_follow_trap(&self, address: u64) -> bool {
        self.current_step()
            .is_some_and(|(_, step)| step.ends_at(address))
    }

    /// Takes the thread past the instruction at which it stands; no pass is
    /// under way.
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

    /// Goes on with the pass as soon as no other thread moves.
    pub(super) fn settle(&mut self, operations: &mut Vec<Operation>) {
        let Some(in_place) = self
            .in_place
            .filter(|in_place| in_place.phase == Phase::Holding)
        else {
            return;
        };
        let moving =
            |(id, thread): (&ThreadId, &Thread)| *id != in_place.thread && thread.motion.moves();
        if self.threads.iter().any(moving) && !self.drops(Rule::HoldOthers) {
            return;
        }
        if !self.needs_in_place(in_place.thread) {
            // An owner came while the others were being held: it is told first.
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

    /// The shell has found the follow set, or not.
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

    /// The trace flag must do after all.
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
                thread.go(in_place.thread, operations);
            }
        }
        self.release(operations);
    }

    /// Lifts, and lets the one thread execute the instruction.
    fn begin_step(
        &mut self,
        in_place: InPlaceStep,
        follow: Option<FollowSet>,
        operations: &mut Vec<Operation>,
    ) {
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

    /// The step of the pass is over, one way or another: plants, tells what
    /// there is to tell, releases.
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

    /// A thread will not pass for now: it was halted, moved or ended.
    pub(super) fn abandon_in_place(&mut self, id: ThreadId, operations: &mut Vec<Operation>) {
        self.waiting.retain(|waiting| *waiting != id);
        if self.in_place.is_some_and(|in_place| in_place.thread == id) {
            self.in_place = None;
            self.release(operations);
        }
    }

    /// Puts the thread into the queue if its way past is in place.
    pub(super) fn queue_in_place(&mut self, id: ThreadId) {
        let is_under_way = self.in_place.is_some_and(|in_place| in_place.thread == id);
        if !is_under_way && self.needs_in_place(id) && !self.waiting.contains(&id) {
            self.waiting.push_back(id);
        }
    }

    /// Gives the way to the next thread of the queue, or lets all go.
    fn release(&mut self, operations: &mut Vec<Operation>) {
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

    /// Whether a stopped thread that is to move must do so in place, alone.
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

    /// The thread with the lowest id not below `from`.
    fn thread_from(&self, from: ThreadId) -> Option<ThreadId> {
        self.threads.range(from..).next().map(|(id, _)| *id)
    }
}
