//! Whom a wake wakes, and what becomes of waits.

use super::Scheduler;
use crate::choice::{Choice, ChoiceKind, Decision, Offer};
use crate::deadlock::WaitsFor;
use crate::protocol::Order;
use crate::queues::Waiter;
use crate::rule::Rule;
use crate::strategy::Verdict;
use crate::task::State;
use crate::terms::{Footprint, ThreadId, ThreadPath};
use alloc::vec::Vec;

impl Scheduler {
    /// Tells threads that wait for one another since this one waits, if that is new.
    pub(super) fn tell_circle(&mut self, path: ThreadPath, orders: &mut Vec<Order>) {
        let Some(deadlock) = self.graph().circle_from(path) else {
            return;
        };
        let is_told = |it: &WaitsFor| self.told.contains(&it.thread);
        if deadlock.circle.iter().all(is_told) {
            return;
        }
        self.told.extend(deadlock.circle.iter().map(|it| it.thread));
        self.deadlock = Some(deadlock);
        orders.push(Order::PartialDeadlock);
    }

    pub(super) fn matching(&self, address: u64, mask: u32) -> Vec<ThreadPath> {
        let concerned = |waiter: &&Waiter| waiter.mask & mask != 0 || self.drops(Rule::MatchMask);
        let waiters = self.queues.at(address).iter().filter(concerned);
        waiters.map(|waiter| waiter.thread).collect()
    }

    /// Wakes threads that wait for a word; returns how many.
    pub(super) fn wake(
        &mut self,
        address: u64,
        mask: u32,
        count: i32,
        orders: &mut Vec<Order>,
    ) -> i64 {
        let mut left = usize::try_from(count).unwrap_or(0);
        if self.drops(Rule::CountWoken) && left != 0 {
            left = usize::MAX;
        }
        if self.drops(Rule::WakeAll) {
            left = left.min(1);
        }
        let mut waiting = self.matching(address, mask);
        let mut woken = 0;
        while left != 0 {
            let Some(path) = self.pick_woken(&waiting, left, orders) else {
                break;
            };
            waiting.retain(|waiter| *waiter != path);
            if !self.drops(Rule::LeaveQueue) {
                self.queues.remove(path);
            }
            self.end_wait(path, 0, orders);
            left -= 1;
            woken += 1;
        }
        woken
    }

    pub(super) fn requeue(
        &mut self,
        (from, to): (u64, u64),
        count: i32,
        orders: &mut Vec<Order>,
    ) -> i64 {
        let waiting = self.matching(from, u32::MAX);
        let count = usize::try_from(count).unwrap_or(0);
        let moved: Vec<ThreadPath> = waiting.into_iter().take(count).collect();
        if from != to && !self.drops(Rule::Requeue) {
            for path in &moved {
                self.queues.requeue(*path, from, to);
                if let Some(task) = self.task_mut(*path)
                    && let State::Waits { address, .. } = &mut task.state
                    && *address == from
                {
                    *address = to;
                }
                self.tell_circle(*path, orders);
            }
        }
        moved.len() as i64
    }

    /// Ends a thread's wait with a result.
    pub(super) fn end_wait(&mut self, path: ThreadPath, result: i64, orders: &mut Vec<Order>) {
        self.told.retain(|told| *told != path);
        let Some(task) = self.task_mut(path) else {
            return;
        };
        if matches!(task.state, State::Waits { .. } | State::Sleeps(_)) {
            task.state = State::Behind;
            let thread = task.id;
            self.finish(thread, result, orders);
        }
    }

    pub(super) fn finish(&mut self, thread: ThreadId, result: i64, orders: &mut Vec<Order>) {
        self.hash.add(result as u64);
        orders.push(Order::Finish { thread, result });
    }

    /// Picks whom to wake of those who wait, in the order in which they came.
    pub(super) fn pick_woken(
        &mut self,
        waiting: &[ThreadPath],
        count: usize,
        orders: &mut Vec<Order>,
    ) -> Option<ThreadPath> {
        let first = if self.drops(Rule::FirstCome) {
            waiting.last()
        } else {
            waiting.first()
        };
        if !self.options.chooses_woken || waiting.len() <= count {
            return first.copied();
        }
        let offers: Vec<Offer> = waiting
            .iter()
            .map(|thread| Offer {
                choice: Choice {
                    kind: ChoiceKind::Wake,
                    thread: *thread,
                },
                footprint: Footprint::NONE,
                site: 0,
                object: 0,
                code: 0,
            })
            .collect();
        let decision = Decision {
            moment: self.moment_now(),
            offers: &offers,
            usual: 0,
            yields: false,
            is_due: false,
        };
        let usual = decision.usual_choice();
        let index = match self.strategy.choose(&decision) {
            Verdict::Take(index) => index,
            Verdict::Ask => 0,
            Verdict::Known => {
                orders.push(Order::Known);
                0
            }
            Verdict::Diverged => {
                let moment = decision.moment;
                orders.push(Order::Diverged { moment });
                0
            }
        };
        let choice = offers.get(index).map(|offer| offer.choice)?;
        self.note(choice, usual);
        Some(choice.thread)
    }
}
