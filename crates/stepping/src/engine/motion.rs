//! Resuming threads, halting them and stepping them over their sites.

use super::{Engine, Rule};
use crate::thread::{Motion, Next, Wanted};
use crate::{Operation, StepBy, StepOver, ThreadId};

/// The number of steps through the longest out-of-line slot: the instruction,
/// the move that a system call needs, and the jump back.
const OUT_OF_LINE_STEPS: u8 = 3;

impl Engine {
    pub(super) fn resume(&mut self, id: ThreadId, wanted: Wanted, operations: &mut Vec<Operation>) {
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        if thread.motion.moves() {
            return;
        }
        thread.wanted = wanted;
        if thread.motion != Motion::Stopped {
            return;
        }
        if self.in_place.is_some() {
            self.queue_in_place(id);
        } else {
            self.advance(id, operations);
        }
    }

    pub(super) fn halt(&mut self, id: ThreadId, operations: &mut Vec<Operation>) {
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        thread.halting = true;
        if thread.motion.moves() {
            return thread.hold(id, operations);
        }
        thread.answer_halt(id, operations);
        self.abandon_in_place(id, operations);
    }

    pub(super) fn jumped(&mut self, id: ThreadId, address: u64, operations: &mut Vec<Operation>) {
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        if thread.motion != Motion::Stopped {
            return;
        }
        thread.forget_arrival_here();
        thread.stop(address);
        thread.departure = None;
        thread.out_of_line_steps = 0;
        self.abandon_in_place(id, operations);
    }

    pub(super) fn suspend(&mut self, id: ThreadId, operations: &mut Vec<Operation>) {
        let forgets = self.drops(Rule::SuspendArrival);
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        if forgets {
            thread.forget_arrival_here();
        }
        if thread.suspend() {
            self.abandon_in_place(id, operations);
        }
    }

    pub(super) fn restore(&mut self, id: ThreadId, depth: usize, operations: &mut Vec<Operation>) {
        let keeps = !self.drops(Rule::KeepParked);
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        if !keeps && thread.motion == Motion::Parked {
            thread.motion = Motion::Stopped;
        }
        if thread.restore(depth) {
            self.leave_twin(id);
            self.abandon_in_place(id, operations);
        }
    }

    /// Lets a stopped thread run as far as it may: past its site if all owners
    /// have been notified, to a report if they have not; not at all while
    /// another thread is stepped in place.
    pub(super) fn advance(&mut self, id: ThreadId, operations: &mut Vec<Operation>) {
        if self.in_place.is_some() || self.patches.leave() {
            return;
        }
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        if thread.motion != Motion::Stopped || thread.wanted == Wanted::Wait {
            return;
        }
        if self.step_by == StepBy::FollowSet && self.needs_in_place(id) {
            return self.begin_in_place(id, operations);
        }
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        let site = self.sites.get(&thread.pc);
        match thread.next(site) {
            Next::Go => self.go(id, operations),
            Next::StepOver(step_over) => self.step_over(id, step_over, operations),
            Next::Report(owners) => {
                let step_over = site.map_or(StepOver::InPlace, |site| site.step_over);
                thread.note_report(owners, step_over);
                operations.push(Operation::Report {
                    thread: id,
                    address: thread.pc,
                    owners,
                });
            }
        }
    }

    /// Steps a thread over the instruction at which it stands.
    pub(super) fn step_over(
        &mut self,
        id: ThreadId,
        step_over: StepOver,
        operations: &mut Vec<Operation>,
    ) {
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        let (to, emulated) = match step_over {
            StepOver::InPlace | StepOver::InPlaceRepeated => {
                return self.begin_in_place(id, operations);
            }
            StepOver::Skip { to } => {
                operations.push(Operation::SetCounter {
                    thread: id,
                    address: to,
                });
                (to, true)
            }
            StepOver::Call { to, back } => {
                self.calling.push(id);
                operations.push(Operation::EmulateCall {
                    thread: id,
                    to,
                    back,
                });
                (to, true)
            }
            StepOver::OutOfLine { at } => {
                operations.push(Operation::SetCounter {
                    thread: id,
                    address: at,
                });
                (thread.pc, false)
            }
        };
        let wanted = thread.wanted;
        thread.depart(!matches!(step_over, StepOver::Skip { .. }));
        thread.pc_to_write = None;
        thread.pc = to;
        if emulated && wanted == Wanted::Step {
            thread.standing = None;
            thread.wanted = Wanted::Wait;
            operations.push(Operation::ReportStep {
                thread: id,
                address: to,
            });
        } else {
            thread.out_of_line_steps = if emulated { 0 } else { OUT_OF_LINE_STEPS };
            thread.go(id, operations);
        }
    }
}
