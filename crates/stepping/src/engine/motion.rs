//! How threads are let go, halted and taken past their sites.

use super::{Engine, Rule};
use crate::thread::{Motion, Next, Wanted};
use crate::{Operation, Passage, StepBy, ThreadId};

/// The steps that the longest copy takes: the instruction, the move that a
/// system call needs, and the jump back.
const COPY_STEPS: u8 = 3;

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
        if self.pass.is_some() {
            self.wait_for_pass(id);
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
        self.abandon_pass(id, operations);
    }

    pub(super) fn jumped(&mut self, id: ThreadId, address: u64, operations: &mut Vec<Operation>) {
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        if thread.motion != Motion::Stopped {
            return;
        }
        thread.forget_place();
        thread.stop(address);
        thread.departure = None;
        thread.copy_steps = 0;
        self.abandon_pass(id, operations);
    }

    pub(super) fn suspend(&mut self, id: ThreadId, operations: &mut Vec<Operation>) {
        let forgets = self.drops(Rule::SuspendArrival);
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        if forgets {
            thread.forget_place();
        }
        if thread.suspend() {
            self.abandon_pass(id, operations);
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
            self.abandon_pass(id, operations);
        }
    }

    /// Lets a stopped thread go on as far as it may: past its site when all
    /// owners know, to a report when they do not; not at all while another
    /// thread passes in place.
    pub(super) fn advance(&mut self, id: ThreadId, operations: &mut Vec<Operation>) {
        if self.pass.is_some() {
            return;
        }
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        if thread.motion != Motion::Stopped || thread.wanted == Wanted::Wait {
            return;
        }
        if self.step_by == StepBy::FollowSet && self.needs_pass(id) {
            return self.begin_pass(id, operations);
        }
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        let site = self.sites.get(&thread.place);
        match thread.next(site) {
            Next::Go => thread.go(id, operations),
            Next::Pass(passage) => self.pass(id, passage, operations),
            Next::Report(owners) => {
                let passage = site.map_or(Passage::InPlace, |site| site.passage);
                thread.note_report(owners, passage);
                operations.push(Operation::Report {
                    thread: id,
                    address: thread.place,
                    owners,
                });
            }
        }
    }

    /// Takes a thread past the instruction at which it stands.
    pub(super) fn pass(&mut self, id: ThreadId, passage: Passage, operations: &mut Vec<Operation>) {
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        let (to, emulated) = match passage {
            Passage::InPlace | Passage::InPlaceRounds => return self.begin_pass(id, operations),
            Passage::Skip { to } => {
                operations.push(Operation::SetCounter {
                    thread: id,
                    address: to,
                });
                (to, true)
            }
            Passage::Call { to, back } => {
                self.calling.push(id);
                operations.push(Operation::EmulateCall {
                    thread: id,
                    to,
                    back,
                });
                (to, true)
            }
            Passage::Copy { at } => {
                operations.push(Operation::SetCounter {
                    thread: id,
                    address: at,
                });
                (thread.place, false)
            }
        };
        let wanted = thread.wanted;
        thread.depart(!matches!(passage, Passage::Skip { .. }));
        thread.counter = None;
        thread.place = to;
        if emulated && wanted == Wanted::Step {
            thread.standing = None;
            thread.wanted = Wanted::Wait;
            operations.push(Operation::ReportStep {
                thread: id,
                address: to,
            });
        } else {
            thread.copy_steps = if emulated { 0 } else { COPY_STEPS };
            thread.go(id, operations);
        }
    }
}
