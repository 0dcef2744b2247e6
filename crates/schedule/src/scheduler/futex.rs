//! The futex calls of the kernel (`kernel/futex/`), as pure state: no call is made.
//!
//! What a woken thread gets is known at the wake; it goes on when it is chosen.

use super::Scheduler;
use crate::protocol::{FutexCall, Order};
use crate::queues::Waiter;
use crate::rule::Rule;
use crate::task::State;
use crate::terms::{ThreadId, ThreadPath};
use alloc::vec::Vec;

/// Error numbers of Linux.
pub(super) mod error {
    pub(crate) const NOT_PERMITTED: i64 = -1;
    pub(crate) const NO_SUCH_THREAD: i64 = -3;
    pub(crate) const INTERRUPTED: i64 = -4;
    pub(crate) const AGAIN: i64 = -11;
    pub(crate) const INVALID: i64 = -22;
    pub(crate) const WOULD_DEADLOCK: i64 = -35;
    pub(crate) const NOT_IMPLEMENTED: i64 = -38;
    pub(crate) const TIMED_OUT: i64 = -110;
}

/// Bits of the words of priority-inheritance and robust futexes.
pub(super) mod word_bits {
    pub(crate) const WAITERS: u32 = 0x8000_0000;
    pub(crate) const OWNER_DIED: u32 = 0x4000_0000;
    pub(crate) const OWNER: u32 = 0x3FFF_FFFF;
}
use word_bits::{OWNER, OWNER_DIED, WAITERS};

/// The end of a call: its result, or that it waits.
enum Reply {
    Result(i64),
    Waits(Waiter, Option<u64>),
}

impl Scheduler {
    /// Makes a call of the thread that has the baton.
    pub(super) fn call_futex(
        &mut self,
        path: ThreadPath,
        call: FutexCall,
        words: [u32; 2],
        orders: &mut Vec<Order>,
    ) {
        let Some(thread) = self.task(path).map(|task| task.id) else {
            return;
        };
        let before = orders.len();
        let reply = self.reply_to((thread, path), call, words, orders);
        if orders.len() != before {
            self.note_change(path);
        }
        match reply {
            Reply::Result(result) => {
                self.finish(thread, result, orders);
                if self.options.decides_behind_calls {
                    self.leave(path, State::Behind);
                } else {
                    orders.push(Order::Run { thread });
                }
            }
            Reply::Waits(waiter, deadline) => {
                self.queues.add(waiter);
                let state = State::Waits {
                    address: waiter.address,
                    deadline,
                    is_pi: waiter.is_pi,
                };
                self.leave(path, state);
                self.tell_circle(path, orders);
            }
        }
    }

    fn reply_to(
        &mut self,
        (thread, path): (ThreadId, ThreadPath),
        call: FutexCall,
        [word, second]: [u32; 2],
        orders: &mut Vec<Order>,
    ) -> Reply {
        let result = match call {
            FutexCall::Wait { mask: 0, .. } | FutexCall::Wake { mask: 0, .. } => error::INVALID,
            FutexCall::Wait { expected, .. }
                if word != expected && !self.drops(Rule::CompareWord) =>
            {
                error::AGAIN
            }
            FutexCall::Wait {
                address,
                mask,
                deadline,
                ..
            } => {
                let waiter = Waiter {
                    address,
                    thread: path,
                    mask,
                    is_pi: false,
                };
                return Reply::Waits(waiter, deadline);
            }
            FutexCall::Wake { address, .. } if self.has_owner(address) => error::INVALID,
            FutexCall::Wake {
                address,
                count,
                mask,
            } => self.wake(address, mask, count.max(1), orders),
            FutexCall::Requeue {
                from,
                to,
                wake,
                requeue,
                expected,
            } => {
                if wake < 0 || requeue < 0 {
                    error::INVALID
                } else if expected.is_some_and(|it| it != word) && !self.drops(Rule::CompareRequeue)
                {
                    error::AGAIN
                } else if self.has_owner(from) || self.has_owner(to) {
                    error::INVALID
                } else {
                    let woken = self.wake(from, u32::MAX, wake, orders);
                    woken + self.requeue((from, to), requeue, orders)
                }
            }
            FutexCall::WakeOp {
                first,
                second: address,
                wake_first,
                wake_second,
                operation,
            } => {
                if self.has_owner(first) || self.has_owner(address) {
                    return Reply::Result(error::INVALID);
                }
                match operate(operation, second) {
                    None => error::NOT_IMPLEMENTED,
                    Some((word, holds)) => {
                        let holds = if self.drops(Rule::CompareOld) {
                            operate(operation, word).is_some_and(|(_, holds)| holds)
                        } else {
                            holds
                        };
                        if !self.drops(Rule::WriteOperation) {
                            orders.push(Order::Write { address, word });
                        }
                        let mut woken = self.wake(first, u32::MAX, wake_first.max(1), orders);
                        if holds {
                            woken += self.wake(address, u32::MAX, wake_second.max(1), orders);
                        }
                        woken
                    }
                }
            }
            FutexCall::LockPi { address, deadline } => {
                let owner = word & OWNER;
                if owner == thread.0 & OWNER && !self.drops(Rule::RefuseOwn) {
                    error::WOULD_DEADLOCK
                } else if owner == 0 {
                    self.own((thread, address), word & OWNER_DIED, orders)
                } else if self.task_of(ThreadId(owner)).is_none() {
                    error::NO_SUCH_THREAD
                } else {
                    if word & WAITERS == 0 && !self.drops(Rule::MarkWaiters) {
                        let word = word | WAITERS;
                        orders.push(Order::Write { address, word });
                    }
                    let waiter = Waiter {
                        address,
                        thread: path,
                        mask: u32::MAX,
                        is_pi: true,
                    };
                    return Reply::Waits(waiter, deadline);
                }
            }
            FutexCall::TryLockPi { address } => match word & OWNER {
                0 => self.own((thread, address), word & OWNER_DIED, orders),
                owner if owner == thread.0 & OWNER => error::WOULD_DEADLOCK,
                _ => error::AGAIN,
            },
            FutexCall::UnlockPi { address } => {
                if word & OWNER != thread.0 & OWNER && !self.drops(Rule::RefuseForeign) {
                    error::NOT_PERMITTED
                } else {
                    self.hand_over(address, 0, orders);
                    0
                }
            }
        };
        Reply::Result(result)
    }

    /// Returns true if threads wait for a priority-inheritance lock there.
    fn has_owner(&self, address: u64) -> bool {
        self.queues.at(address).iter().any(|waiter| waiter.is_pi)
    }

    /// A thread becomes the owner of a free lock.
    fn own(
        &mut self,
        (thread, address): (ThreadId, u64),
        bits: u32,
        orders: &mut Vec<Order>,
    ) -> i64 {
        let waiters = if self.queues.at(address).is_empty() {
            0
        } else {
            WAITERS
        };
        orders.push(Order::Write {
            address,
            word: thread.0 & OWNER | waiters | bits,
        });
        0
    }

    /// Gives a lock with priority inheritance to who waits for it, or frees it.
    pub(super) fn hand_over(&mut self, address: u64, bits: u32, orders: &mut Vec<Order>) {
        let heirs: Vec<ThreadPath> = self.matching(address, u32::MAX);
        let heir = if self.drops(Rule::HandOver) {
            None
        } else {
            self.pick_woken(&heirs, 1, orders)
        };
        let id = heir.and_then(|heir| self.task(heir)).map(|task| task.id);
        let (Some(heir), Some(id)) = (heir, id) else {
            orders.push(Order::Write {
                address,
                word: bits,
            });
            return;
        };
        self.queues.remove(heir);
        let waiters = if heirs.len() > 1 { WAITERS } else { 0 };
        orders.push(Order::Write {
            address,
            word: id.0 & OWNER | waiters | bits,
        });
        self.end_wait(heir, 0, orders);
    }
}

/// Returns what `FUTEX_WAKE_OP` makes of a word, and whether its comparison holds of what the
/// word was; nothing if the kernel knows no such operation.
fn operate(packed: u32, word: u32) -> Option<(u32, bool)> {
    let sign_extend = |bits: u32| ((bits << 20) as i32) >> 20;
    let (operation, comparison) = (packed >> 28, packed >> 24 & 0xF);
    let argument = sign_extend(packed >> 12 & 0xFFF);
    let with = sign_extend(packed & 0xFFF);
    let argument = if operation & 8 == 0 {
        argument as u32
    } else {
        1_u32 << (argument as u32 & 31)
    };
    let changed = match operation & 7 {
        0 => argument,
        1 => word.wrapping_add(argument),
        2 => word | argument,
        3 => word & !argument,
        4 => word ^ argument,
        _ => return None,
    };
    let old = word as i32;
    let holds = match comparison {
        0 => old == with,
        1 => old != with,
        2 => old < with,
        3 => old <= with,
        4 => old > with,
        5 => old >= with,
        _ => return None,
    };
    Some((changed, holds))
}
