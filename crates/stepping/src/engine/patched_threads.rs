//! Threads at patched sites: in a head, before the first twin, or about to step.
//!
//! The shell shows every thread at an original address, so a thread at a patched
//! site is either before the jump or before the first twin, with its event counted
//! ([`Input::Counted`](crate::Input::Counted)). The difference matters when it
//! steps, faults or gets a signal, and when the patch is removed.

use super::patches::Former;
use super::{Engine, Rule};
use crate::arrival::Arrival;
use crate::suspended::Suspended;
use crate::thread::{Motion, Thread, Wanted};
use crate::{Operation, ThreadId, WayBack};
use std::ops::Range;

impl Engine {
    /// Handles a thread that has executed a byte of a jump.
    pub(super) fn stray(&mut self, id: ThreadId, address: u64, operations: &mut Vec<Operation>) {
        let is_inside = self.is_inside_patch(address) && !self.drops(Rule::CatchStray);
        let step = self.step_of(id);
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        if !thread.motion.moves() {
            return;
        }
        thread.stop(address);
        thread.late_step = false;
        thread.out_of_line_steps = 0;
        thread.departure = None;
        if is_inside {
            operations.push(Operation::MoveToTwin {
                thread: id,
                address,
            });
        } else {
            thread.pc_to_write = Some(address);
        }
        if let Some(step) = step {
            return self.step_again(id, step, operations);
        }
        thread.answer_halt(id, operations);
        self.advance(id, operations);
        self.settle(operations);
    }

    /// Notes that the next stop of a thread finds it in a first twin.
    pub(super) fn counted(&mut self, id: ThreadId, address: u64, stack: u64) {
        let is_known = self.patches.ever.contains_key(&address) && !self.drops(Rule::RememberCount);
        if let Some(thread) = self.threads.get_mut(&id).filter(|_| is_known) {
            thread.counted = Some(stack);
            // The departure of an earlier arrival, after which the stub brought
            // the thread here.
            thread.departure = thread.departure.filter(|it| it.arrival.stack == stack);
            self.counted = Some(id);
        }
    }

    /// Forgets [`Engine::counted`] after the input that follows it.
    pub(super) fn forget_counted(&mut self) {
        if let Some(id) = self.counted.take()
            && let Some(thread) = self.threads.get_mut(&id)
        {
            thread.counted = None;
        }
    }

    /// Handles a fault at `address`, to which the thread returns with its
    /// arrival reported, or which may be that of the jump itself.
    pub(super) fn unpatch_for_fault(&mut self, address: u64, operations: &mut Vec<Operation>) {
        if let Some(start) = self.patches.with_head_over(address)
            && !self.drops(Rule::UnpatchForFault)
        {
            self.mark_leaving(start, operations);
        }
    }

    /// Handles a signal that is reported at `address`, to a thread that may be in
    /// a slot; one in a twin gets it behind the twins.
    pub(super) fn interrupted(&mut self, id: ThreadId, address: u64) {
        let twin = self.patches.ever.get(&address).map(|former| former.twin);
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        if thread.in_twin.is_some() {
            return;
        }
        // It has left the twin to which it departed.
        thread.departure = thread
            .departure
            .filter(|it| it.arrival.address != address || Some(it.arrival.step_over) != twin);
        thread.interrupt_departure(address);
    }

    /// Restores or makes the arrival of a thread that has faulted in the first
    /// twin of a patch.
    pub(super) fn return_from_twin(&mut self, id: ThreadId, address: u64, stack: u64) {
        let former = self.patches.ever.get(&address).copied();
        if let Some(thread) = self.threads.get_mut(&id)
            && thread.in_twin.take() == Some(stack)
            && let Some(former) = former
        {
            thread.return_counted(address, stack, former);
        }
    }

    /// Takes a thread that is back from an evaluation out of the twins of a
    /// patch that has been removed meanwhile.
    pub(super) fn leave_twin(&mut self, id: ThreadId) {
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        let pc = thread.pc;
        let mut before = self.patches.ever.range(..=pc);
        let Some((&address, &former)) = before.next_back() else {
            return;
        };
        if self.patches.over(pc).is_some() || pc >= former.end || self.drops(Rule::LeaveTwins) {
            return;
        }
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        if pc == address {
            thread.stand_counted(former);
        } else if thread.standing.is_none() {
            thread.pc_to_write = Some(pc);
        }
    }

    /// Lets a stopped thread that is at no site run or step from where it is. A
    /// step from a patched site is an arrival first.
    pub(super) fn go(&mut self, id: ThreadId, operations: &mut Vec<Operation>) {
        let Some(thread) = self.threads.get(&id) else {
            return;
        };
        let is_step = thread.wanted == Wanted::Step && !thread.late_step && !thread.leaves_call;
        let address = thread.pc;
        let arrives = is_step
            && thread.in_twin.is_none()
            && self.is_patched(address)
            && !self.drops(Rule::StepIsArrival);
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        if arrives {
            let order = Operation::Arrive {
                thread: id,
                address,
            };
            return thread.go_by(order, id, operations);
        }
        thread.go(id, operations);
    }
}

impl Thread {
    /// Returns true if the thread is stopped in the head of a patch, and does
    /// not stand at a site.
    pub(super) fn is_in_head(&self, head: &Range<u64>) -> bool {
        self.motion == Motion::Stopped && self.standing.is_none() && head.contains(&self.pc)
    }

    /// Makes the thread, which is before the first twin of a patch that is
    /// removed, stand at the site with its arrival reported.
    pub(super) fn stand_counted(&mut self, former: Former) {
        let Some(stack) = self.in_twin.take() else {
            return;
        };
        self.return_counted(self.pc, stack, former);
        self.standing = Some(stack);
        self.before = None;
        self.pc_to_write = Some(self.pc);
    }

    /// Restores or makes the arrival of a thread whose event has been counted.
    fn return_counted(&mut self, address: u64, stack: u64, former: Former) {
        let step_over = former.step_over;
        if let Some(departure) = self.take_departure(address) {
            self.arrivals.push(Arrival {
                step_over,
                ..departure.arrival
            });
        } else if self.return_to_arrival(address, stack) {
            self.change_step_over(address, step_over);
        } else {
            self.arrivals.push(Arrival {
                address,
                stack,
                notified: former.owner.into(),
                step_over,
                way_back: WayBack::Trap,
            });
        }
    }

    /// Returns true if the thread returns to the site of a patch with this head with
    /// its arrival reported, from a handler or by a fault.
    pub(super) fn returns_to_patch(&self, head: &Range<u64>) -> bool {
        let returns = |pc: u64, standing: Option<u64>, arrivals: &[Arrival]| {
            let here = standing.filter(|_| pc == head.start);
            arrivals.iter().any(|it| {
                it.address == head.start
                    && it.way_back != WayBack::OutOfLine
                    && Some(it.stack) != here
            })
        };
        let suspended = |it: &Suspended| returns(it.pc, it.standing, &it.arrivals);
        returns(self.pc, self.standing, &self.arrivals) || self.suspended.iter().any(suspended)
    }

    /// Returns true if the thread is in this head, behind its start, and cannot be
    /// moved to a twin: during an evaluation, or (`with_signal`) with a signal.
    pub(super) fn stays_in_patch(&self, head: &Range<u64>, with_signal: bool) -> bool {
        let is_inside = |pc: u64| pc != head.start && head.contains(&pc);
        let is_bound = with_signal && self.is_interrupted;
        is_bound && is_inside(self.pc) || self.suspended.iter().any(|it| is_inside(it.pc))
    }
}
