//! The orders of the scheduler.

use crate::control::{Control, End};
use crate::futex;
use crate::memory;
use crate::protocol;
use crate::returns;
use crate::runs;
use crate::system;
use crate::threads::{self, RAX, Standing, context, index_of};
use juror_schedule::{Input, Order, Standstill, ThreadId};

/// The number of times that threads that all spin may look again.
const LOOKS_MAX: u32 = 1_000;

impl Control {
    /// Carries out what is ordered, and lets the thread go on that has the baton then.
    pub fn proceed(&mut self) -> ! {
        self.carry_out();
        match (self.stands, self.goes.take()) {
            (Some(end), _) => runs::end_standing(end),
            (None, Some(index)) => self.let_go(index),
            (None, None) => runs::give_up(protocol::REASON_OVER),
        }
    }

    /// Carries out what is ordered.
    pub fn carry_out(&mut self) {
        while let Some(order) = self.orders.pop_front() {
            self.obey(order);
        }
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Run { thread } => self.take_baton(index_of(thread.0)),
            Order::Finish { thread, result } => {
                let index = index_of(thread.0);
                let result = if self.ends_wait_for_no_reason(index) {
                    returns::TIMED_OUT
                } else {
                    self.result_of_several(index, result)
                };
                finish(index, result);
            }
            Order::Write { address, word } => memory::write_u32(address, word),
            Order::PartialDeadlock => self.has_circle = true,
            Order::Stands { reason } => {
                self.stands = match reason {
                    Standstill::Deadlock => Some(End::Deadlock),
                    Standstill::Spin => {
                        self.looks += 1;
                        if self.looks > LOOKS_MAX {
                            Some(End::Endless)
                        } else {
                            self.input(Input::LookAgain);
                            None
                        }
                    }
                    _ => None,
                };
            }
            Order::Limit => self.stands = Some(End::Endless),
            Order::Diverged { .. }
            | Order::EnterKernel { .. }
            | Order::Deliver { .. }
            | Order::Known => {}
        }
    }

    /// A thread has the baton: what it stood before happens.
    fn take_baton(&mut self, index: usize) {
        let thread = ThreadId(context(index).id);
        match context(index).standing {
            Standing::FutexWaitv => return self.call_futex_waitv(index),
            Standing::Futex => return self.call_futex(index),
            Standing::Sleep(deadline) => {
                finish(index, 0);
                return self.input(Input::Sleeps { thread, deadline });
            }
            Standing::LockCall(lock) => {
                self.use_lock(index, lock);
                context(index).standing = Standing::Ready;
            }
            Standing::Exit => self.leave_robust(index),
            Standing::Makes => self.has_accesses |= system::makes_thread(index),
            Standing::Reads(address, size) => return self.reach_write(index, (address, size)),
            // Writes of others meanwhile are lost.
            Standing::Writes(address, size, value) => {
                memory::write_sized(address, size, value);
                context(index).standing = Standing::Ready;
            }
            Standing::Ready | Standing::InCall => {}
        }
        self.goes = Some(index);
    }

    /// Lets a thread go on that has the baton.
    fn let_go(&mut self, index: usize) -> ! {
        match context(index).standing {
            Standing::Exit => self.end_thread(index),
            Standing::InCall => {
                let number = context(index).number;
                let result = system::execute(index, number, context(index).arguments);
                finish(index, result);
            }
            Standing::Makes => self.make_thread(index),
            _ => {}
        }
        threads::go_on(index)
    }

    fn end_thread(&mut self, index: usize) -> ! {
        let ended = context(index);
        let thread = ThreadId(ended.id);
        ended.is_alive = false;
        ended.awaited = None;
        ended.condition = None;
        ended.word_count = 0;
        self.input(Input::Ended { thread });
        self.proceed()
    }

    fn make_thread(&mut self, index: usize) {
        let (child, word) = system::clone_thread(index);
        self.thread_count += 1;
        let thread = ThreadId(context(child).id);
        let parent = ThreadId(context(index).id);
        self.input(Input::Started {
            thread,
            parent: Some(parent),
        });
        let path_of = |thread| self.scheduler.task_of(thread).map(|task| task.path());
        let paths = path_of(parent).zip(path_of(thread));
        if let (Some(order), Some((parent, child))) = (&mut self.lock_order, paths) {
            order.started(parent, child);
        }
        let code = core::mem::take(&mut context(index).code);
        self.input(Input::Code { thread, code });
        self.input(Input::ChildTid {
            thread,
            address: word,
        });
        if !self.orders.is_empty() {
            runs::give_up(protocol::REASON_REFUSED);
        }
    }
}

/// Gives the call at which a thread stands its result.
pub fn finish(index: usize, result: i64) {
    let context = context(index);
    context.frame.general[RAX] = result as u64;
    context.standing = Standing::Ready;
}

/// Returns the moment of the scheduler's time at which a time-out comes.
pub fn deadline(control: &Control, address: u64, clock: futex::Clock) -> u64 {
    let time = memory::read_u64(address)
        .saturating_mul(1_000_000_000)
        .saturating_add(memory::read_u64(address.wrapping_add(8)));
    let remaining = match clock {
        futex::Clock::Relative => time,
        futex::Clock::Realtime => time.saturating_sub(crate::kernel::clock(0)),
        // As /proc/uptime has it.
        futex::Clock::Monotonic => {
            const HUNDREDTH: u64 = 10_000_000;
            let uptime = crate::kernel::clock(7);
            time.saturating_sub(uptime - uptime % HUNDREDTH)
        }
    };
    control.scheduler.now().saturating_add(remaining)
}
