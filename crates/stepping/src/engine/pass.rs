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
pub(super) struct Pass {
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
    pub(super) lifted: bool,
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
    fn present_step(&self) -> Option<(ThreadId, Step)> {
        match self.pass? {
            Pass {
                thread,
                phase: Phase::Stepping(step),
                ..
            } => Some((thread, step)),
            _ => None,
        }
    }

    /// The thread that executes the instruction of a pass at this moment.
    pub(super) fn stepper(&self) -> Option<ThreadId> {
        self.present_step().map(|(thread, _)| thread)
    }

    /// The step of a pass that a thread makes.
    pub(super) fn step_of(&self, thread: ThreadId) -> Option<Step> {
        self.present_step()
            .filter(|(stepper, _)| *stepper == thread)
            .map(|(_, step)| step)
    }

    /// Whether the original instruction is back at `address` for a step.
    pub(super) fn is_lifted(&self, address: u64) -> bool {
        self.present_step()
            .is_some_and(|(_, step)| step.lifted && step.start == address)
    }

    /// Whether the end of a step is waited for at `address`.
    pub(super) fn is_follow_trap(&self, address: u64) -> bool {
        self.present_step()
            .is_some_and(|(_, step)| step.ends_at(address))
    }

    /// Takes the thread past the instruction at which it stands; no pass is
    /// under way.
    pub(super) fn begin_pass(&mut self, id: ThreadId, operations: &mut Vec<Operation>) {
        let Some(thread) = self.threads.get(&id) else {
            return;
        };
        let address = thread.place;
        self.pass = Some(Pass {
            thread: id,
            address,
            phase: Phase::Holding,
        });
        if self.drops(Rule::HoldBeforeLift) {
            operations.push(Operation::Lift { address });
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
        let Some(pass) = self.pass.filter(|pass| pass.phase == Phase::Holding) else {
            return;
        };
        let moving =
            |(id, thread): (&ThreadId, &Thread)| *id != pass.thread && thread.motion.moves();
        if self.threads.iter().any(moving) && !self.drops(Rule::HoldOthers) {
            return;
        }
        if !self.needs_pass(pass.thread) {
            // An owner came while the others were being held: it is told first.
            return self.abandon_pass(pass.thread, operations);
        }
        match self.step_by {
            StepBy::TraceFlag => self.begin_step(pass, None, operations),
            StepBy::FollowSet => {
                self.pass = Some(Pass {
                    phase: Phase::Asking,
                    ..pass
                });
                operations.push(Operation::FindFollowSet {
                    thread: pass.thread,
                    address: pass.address,
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
        let asked = |pass: &Pass| pass.phase == Phase::Asking && pass.thread == id;
        let Some(pass) = self.pass.filter(asked) else {
            return;
        };
        if pass.address != address {
            return;
        }
        if !self.needs_pass(id) {
            return self.abandon_pass(id, operations);
        }
        // A trap at the instruction itself would let it not run at all.
        let refuses = !self.drops(Rule::RefuseItself);
        match follow.filter(|follow| !(refuses && follow.contains(address))) {
            Some(follow) => self.begin_step(pass, Some(follow), operations),
            None => self.step_without_follow_set(pass, operations),
        }
    }

    /// The trace flag must do after all.
    fn step_without_follow_set(&mut self, pass: Pass, operations: &mut Vec<Operation>) {
        let Some(thread) = self.threads.get_mut(&pass.thread) else {
            return;
        };
        match thread.next(self.sites.get(&thread.place)) {
            Next::Pass(step_over) if step_over.is_in_place() => {
                return self.begin_step(pass, None, operations);
            }
            Next::Pass(step_over) => {
                self.pass = None;
                self.pass(pass.thread, step_over, operations);
            }
            Next::Go | Next::Report(_) => {
                self.pass = None;
                thread.go(pass.thread, operations);
            }
        }
        self.release(operations);
    }

    /// Lifts, and lets the one thread execute the instruction.
    fn begin_step(
        &mut self,
        pass: Pass,
        follow: Option<FollowSet>,
        operations: &mut Vec<Operation>,
    ) {
        let Some(thread) = self.threads.get_mut(&pass.thread) else {
            return;
        };
        let step = Step {
            start: pass.address,
            lifted: thread.standing.is_some(),
            follow,
        };
        let early = self.drops(Rule::HoldBeforeLift);
        if step.lifted && self.sites.contains_key(&step.start) && !early {
            operations.push(Operation::Lift {
                address: step.start,
            });
        }
        for address in follow.iter().flat_map(FollowSet::iter) {
            if !self.sites.contains_key(&address) {
                self.plant(address, operations);
            }
        }
        self.pass = Some(Pass {
            phase: Phase::Stepping(step),
            ..pass
        });
        if let Some(thread) = self.threads.get_mut(&pass.thread) {
            thread.go_by(step.order(pass.thread), pass.thread, operations);
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
        let Some((_, step)) = self.present_step() else {
            return;
        };
        self.pass = None;
        let counts = !self.drops(Rule::CountTraps);
        for address in step.follow.iter().flat_map(FollowSet::iter) {
            if !(counts && self.sites.contains_key(&address)) {
                operations.push(Operation::Lift { address });
            }
        }
        let planted = self.sites.contains_key(&step.start);
        let early = self.drops(Rule::PlantBeforeRelease);
        if planted && step.lifted && !early {
            self.plant(step.start, operations);
        }
        if let Some(thread) = self.threads.get_mut(&id) {
            if report.is_some() {
                thread.wanted = Wanted::Wait;
                operations.extend(report);
            }
            thread.answer_halt(id, operations);
            if step.lifted && !planted && thread.standing.is_none() {
                // It will find no trap when it comes back.
                thread.forget_arrival(step.start);
            }
        }
        self.release(operations);
        if planted && step.lifted && early {
            self.plant(step.start, operations);
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

    /// Whether a stopped thread that is to move must do so in place, alone.
    pub(super) fn needs_pass(&self, id: ThreadId) -> bool {
        let Some(thread) = self.threads.get(&id) else {
            return false;
        };
        if thread.motion != Motion::Stopped || thread.wanted == Wanted::Wait {
            return false;
        }
        let by_traps = self.step_by == StepBy::FollowSet && thread.wanted == Wanted::Step;
        match thread.next(self.sites.get(&thread.place)) {
            Next::Pass(StepOver::InPlace | StepOver::InPlaceRepeated) => true,
            Next::Pass(StepOver::OutOfLine { .. }) | Next::Go => by_traps,
            Next::Pass(StepOver::Skip { .. } | StepOver::Call { .. }) | Next::Report(_) => false,
        }
    }

    /// The thread with the lowest id not below `from`.
    fn thread_from(&self, from: ThreadId) -> Option<ThreadId> {
        self.threads.range(from..).next().map(|(id, _)| *id)
    }
}
