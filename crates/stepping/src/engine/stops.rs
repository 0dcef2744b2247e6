//! The engine's handling of stops.

use super::in_place::Step;
use super::{Engine, Rule};
use crate::arrival::{Arrival, Departure};
use crate::thread::{Motion, Thread, Wanted};
use crate::{Operation, StepOver, ThreadId};

impl Engine {
    pub(super) fn trapped(
        &mut self,
        id: ThreadId,
        address: u64,
        stack: u64,
        operations: &mut Vec<Operation>,
    ) {
        let is_stepping = self.in_place.is_some();
        let is_under_way = is_stepping || self.patches.leave();
        let ignores_late_trap = is_stepping && self.drops(Rule::PutBackLateTrap);
        let step = self.step_of(id);
        let is_site = self.is_site(address);
        let thread = self
            .threads
            .entry(id)
            .or_insert_with(|| Thread::new(Motion::Running, Wanted::Run));
        thread.stop(address);
        thread.late_step = false;
        thread.out_of_line_steps = 0;
        thread.departure = None;
        if let Some(step) = step {
            return self.trapped_in_step(id, step, address, stack, operations);
        }
        thread.forget_gone_frames(address, stack);
        if !is_site {
            operations.push(Operation::Unexplained {
                thread: id,
                address,
            });
            thread.wanted = Wanted::Wait;
            thread.answer_halt(id, operations);
            return self.settle(operations);
        }
        if ignores_late_trap {
            return self.settle(operations);
        }
        thread.standing = Some(stack);
        thread.pc_to_write = Some(address);
        thread.answer_halt(id, operations);
        if is_under_way {
            return self.settle(operations);
        }
        self.advance(id, operations);
    }

    /// Handles a trap of the thread that is executing its instruction in place:
    /// first the end of its step, and then, if a site is there, an arrival.
    fn trapped_in_step(
        &mut self,
        id: ThreadId,
        step: Step,
        address: u64,
        stack: u64,
        operations: &mut Vec<Operation>,
    ) {
        let ends = step.ends_at(address) && !self.drops(Rule::CompleteFirst);
        let own = step.is_trap_removed && step.start == address;
        let is_site = self.is_site(address) && !own;
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        if own || (ends && step.is_trap_removed) {
            thread.forget_arrival(step.start);
        }
        thread.forget_gone_frames(address, stack);
        if is_site {
            thread.standing = Some(stack);
        }
        let report = if ends {
            thread.end_step(id, address)
        } else if !is_site {
            // The trap was removed: the thread ran into a trap of the program's
            // own.
            Some(Operation::Unexplained {
                thread: id,
                address,
            })
        } else {
            None
        };
        if ends || is_site {
            thread.pc_to_write = Some(address);
        }
        self.leave_step(id, report, operations);
    }

    pub(super) fn stepped(&mut self, id: ThreadId, address: u64, operations: &mut Vec<Operation>) {
        let step = self.step_of(id);
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        let motion = thread.motion;
        if !motion.moves() {
            return;
        }
        let late = std::mem::take(&mut thread.late_step) | std::mem::take(&mut thread.leaves_call);
        let start = thread.pc;
        thread.stop(address);
        thread.departure = None;
        if let Some(step) = step {
            let rounds = step.is_trap_removed
                && thread.step_over_of_arrival(start) == Some(StepOver::InPlaceRepeated);
            if address == start && (late || rounds) {
                return self.step_again(id, step, operations);
            }
            if step.is_trap_removed {
                thread.forget_arrival(start);
            }
            let report = thread.end_step(id, address);
            return self.leave_step(id, report, operations);
        }
        let is_inside_slot = thread.out_of_line_steps > 0 && address == start;
        thread.out_of_line_steps = thread.out_of_line_steps.saturating_sub(1);
        if motion == Motion::Stepping && !late && !is_inside_slot {
            operations.extend(thread.end_step(id, address));
            thread.answer_halt(id, operations);
            return self.settle(operations);
        }
        // An internal step, or the trace trap of an earlier one that another
        // stop interrupted: the thread continues what it was doing.
        if !thread.answer_halt(id, operations) {
            self.advance(id, operations);
        }
        self.settle(operations);
    }

    /// Sends the thread again, unless it is to stop: its step, or a further
    /// iteration of its instruction, is still to be made.
    pub(super) fn step_again(&mut self, id: ThreadId, step: Step, operations: &mut Vec<Operation>) {
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        if thread.halting {
            thread.wanted = Wanted::Wait;
            if step.is_trap_removed {
                thread.stand_again(step.start);
            }
            return self.leave_step(id, None, operations);
        }
        thread.go_by(step.order(id), id, operations);
    }

    /// Handles a stop that the engine ordered, or (`foreign`) one that upper
    /// layers handle.
    pub(super) fn stopped(
        &mut self,
        id: ThreadId,
        address: u64,
        foreign: bool,
        operations: &mut Vec<Operation>,
    ) {
        let step = self.step_of(id);
        let thread = self
            .threads
            .entry(id)
            .or_insert_with(|| Thread::new(Motion::Running, Wanted::Run));
        let (motion, start) = (thread.motion, thread.pc);
        let ordered = !foreign && thread.take_hold_stop();
        if let Some(step) = step.filter(|_| ordered && !thread.halting) {
            // The stop of an earlier hold. Everything is as it was for the
            // step; if the instruction has run, its trap is waiting.
            return operations.push(step.order(id));
        }
        thread.stop(address);
        thread.is_interrupted = foreign;
        if foreign {
            self.interrupted(id, address);
        }
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        let waits = !ordered || thread.halting;
        if waits {
            thread.wanted = Wanted::Wait;
            let traced = step.is_none_or(|step| step.follow.is_none());
            let stepping = ordered && motion == Motion::Stepping;
            thread.late_step |= stepping && traced && address != start;
        }
        if let Some(step) = step {
            if !step.is_trap_removed {
                // Nothing was reported here.
            } else if address != start {
                thread.forget_arrival(start);
            } else if ordered {
                // No signal stands between the thread and the instruction:
                // when it is resumed, the step is made again. If it has been
                // made (to the same address), its trace trap is waiting.
                thread.stand_again(start);
            } else {
                thread.before = thread.stack_of_arrival(start);
            }
            return self.leave_step(id, None, operations);
        }
        thread.answer_halt(id, operations);
        if waits {
            self.abandon_in_place(id, operations);
        }
        self.advance(id, operations);
        self.settle(operations);
    }

    pub(super) fn faulted(
        &mut self,
        id: ThreadId,
        address: u64,
        stack: u64,
        operations: &mut Vec<Operation>,
    ) {
        let stepped_in_place = self.stepper() == Some(id);
        let remembers = !self.drops(Rule::RememberArrival);
        let is_site = self.is_site(address);
        let thread = self
            .threads
            .entry(id)
            .or_insert_with(|| Thread::new(Motion::Running, Wanted::Run));
        thread.stop(address);
        thread.is_interrupted = true;
        thread.out_of_line_steps = 0;
        thread.pc_to_write = Some(address);
        thread.wanted = Wanted::Wait;
        if let Some(Departure { arrival, wanted }) = thread.take_departure(address) {
            let mut arrival = Arrival { stack, ..arrival };
            if matches!(arrival.step_over, StepOver::Call { .. }) {
                // The push failed. The processor shall raise the fault, with
                // the registers that it gives to it.
                arrival.step_over = StepOver::InPlace;
                thread.standing = Some(stack);
                thread.wanted = wanted;
            }
            thread.arrivals.push(arrival);
        }
        self.return_from_twin(id, address, stack);
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        let expected = thread.return_to_arrival(address, stack);
        thread.before = Some(stack).filter(|_| thread.standing.is_none());
        let retries = thread.wanted != Wanted::Wait;
        if (expected && !is_site && !retries) || !remembers {
            // It will find no trap when it comes back.
            thread.forget_arrival(address);
        }
        self.unpatch_for_fault(address, operations);
        if stepped_in_place {
            return self.leave_step(id, None, operations);
        }
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        thread.answer_halt(id, operations);
        self.advance(id, operations);
        self.settle(operations);
    }

    pub(super) fn ended(&mut self, id: ThreadId, operations: &mut Vec<Operation>) {
        let stepped_in_place = self.stepper() == Some(id);
        self.threads.remove(&id);
        self.forget_fork(id);
        if stepped_in_place {
            return self.leave_step(id, None, operations);
        }
        self.abandon_in_place(id, operations);
        self.settle(operations);
    }
}
