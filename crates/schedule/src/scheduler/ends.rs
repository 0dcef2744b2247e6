//! The end of threads, and of waits that nobody ends by a wake.

use super::Scheduler;
use super::futex::error;
use super::futex::word_bits::{OWNER, OWNER_DIED, WAITERS};
use crate::protocol::{LockMode, LockStep, Order, Refusal};
use crate::rule::Rule;
use crate::task::State;
use crate::terms::{ThreadId, ThreadPath};
use alloc::vec::Vec;

impl Scheduler {
    /// A thread is gone: its word is cleared, and one who waits for it is woken. The kernel does
    /// the same, and finds nobody.
    pub(super) fn end(&mut self, index: usize, orders: &mut Vec<Order>) {
        let Some(task) = (index < self.tasks.len()).then(|| self.tasks.remove(index)) else {
            return;
        };
        self.queues.remove(task.path);
        self.holders.forget_wish(task.path);
        if self.baton == Some(task.path) {
            self.baton = None;
        }
        self.end_spins(task.path);
        if let Some(address) = task.child_tid {
            orders.push(Order::Write { address, word: 0 });
            if !self.drops(Rule::WakeJoiner) {
                self.wake(address, u32::MAX, 1, orders);
            }
        }
        let wish_for_ever = |path: &ThreadPath| self.holders.wish_of(*path).is_some();
        let paths = self.tasks.iter().map(|task| task.path);
        for path in paths.filter(wish_for_ever).collect::<Vec<_>>() {
            self.tell_circle(path, orders);
        }
    }

    /// A thread ends with a robust futex: the next owner is told that it died.
    pub(super) fn leave_robust(
        &mut self,
        (thread, address): (ThreadId, u64),
        word: u32,
        is_pi: bool,
        orders: &mut Vec<Order>,
    ) {
        if word & OWNER != thread.0 & OWNER {
            return;
        }
        // Who takes it next does not wait for the dead.
        if let Some(task) = self.task_of(thread) {
            let holder = (task.path, task.points);
            self.holders
                .step(holder, address, LockStep::Drops, LockMode::Exclusive);
        }
        let died = if self.drops(Rule::MarkDied) {
            0
        } else {
            OWNER_DIED
        };
        if is_pi && !self.queues.at(address).is_empty() {
            return self.hand_over(address, died, orders);
        }
        orders.push(Order::Write {
            address,
            word: word & WAITERS | died,
        });
        if word & WAITERS != 0 && !is_pi && !self.drops(Rule::WakeHeir) {
            self.wake(address, u32::MAX, 1, orders);
        }
    }

    /// In real time, the moment has come for which a thread waits.
    pub(super) fn expire(
        &mut self,
        thread: ThreadId,
        orders: &mut Vec<Order>,
    ) -> Result<(), Refusal> {
        let index = self.index(thread)?;
        let task = self.tasks.get(index).ok_or(Refusal::UnknownThread)?;
        let (path, deadline) = (task.path, task.state.deadline());
        if self.options.is_time_virtual || deadline.is_none() {
            return Err(Refusal::WrongState);
        }
        self.time_out(path, orders);
        Ok(())
    }

    /// The moment comes for which a thread waits, and with it all that were to come before.
    pub(super) fn pass_time(&mut self, path: ThreadPath, orders: &mut Vec<Order>) {
        let Some(moment) = self.task(path).and_then(|task| task.state.deadline()) else {
            return;
        };
        self.now = if self.drops(Rule::KeepTime) {
            moment
        } else {
            self.now.max(moment)
        };
        let now = self.now;
        let has_expired = |state: &State| state.deadline().is_some_and(|it| it <= now);
        let expired: Vec<ThreadPath> = self
            .tasks
            .iter()
            .filter(|task| task.path == path || has_expired(&task.state))
            .filter(|task| task.path == path || !self.drops(Rule::ExpireEarlier))
            .map(|task| task.path)
            .collect();
        for path in expired {
            self.time_out(path, orders);
        }
    }

    fn time_out(&mut self, path: ThreadPath, orders: &mut Vec<Order>) {
        let sleeps = self
            .task(path)
            .is_some_and(|task| matches!(task.state, State::Sleeps(_)));
        if !self.drops(Rule::LeaveAtTimeOut) {
            self.queues.remove(path);
        }
        let result = if sleeps { 0 } else { error::TIMED_OUT };
        self.end_wait(path, result, orders);
    }

    /// A thread that waits or sleeps is interrupted by a signal, or wakes for no reason.
    pub(super) fn interrupt(&mut self, path: ThreadPath, result: i64, orders: &mut Vec<Order>) {
        if !self.drops(Rule::LeaveAtSignal) {
            self.queues.remove(path);
        }
        self.end_wait(path, result, orders);
    }
}
