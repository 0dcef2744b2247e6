//! One run of the program under the scheduler: what is ordered is carried out.

mod calls;
mod events;
mod locks;

use crate::blocking;
use crate::error::ExploreError;
use crate::modules::ModuleId;
use crate::outcome::{Deadlocked, Outcome, ThreadPlace};
use crate::points::Sites;
use crate::report;
use crate::runner::{Ended, Switch};
use crate::threads::{Standing, Threads};
use events::TICK;
use juror_debuggee::{Owner, StopEvent, SystemCalls, ThreadId};
use juror_program::program::Program;
use juror_schedule::{
    Input, LockCycle, LockOrder, Moment, Order, Scheduler, Standstill, ThreadPath,
};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// A run.
pub(crate) struct Run {
    pub(crate) modules: Vec<ModuleId>,
    pub(crate) program: Program,
    pub(crate) scheduler: Scheduler,
    pub(crate) orders: VecDeque<Order>,
    pub(crate) sites: Rc<Sites>,
    /// The return addresses of waits for conditions.
    pub(crate) returns: FxHashSet<u64>,
    pub(crate) threads: Threads,
    pub(crate) thread_count: u32,
    /// Whether the points at accesses are inserted.
    pub(crate) has_accesses: bool,
    pub(crate) diverged: Option<Moment>,
    pub(crate) until: Instant,
    /// The unusual choices, if they are noted.
    pub(crate) switches: Vec<Switch>,
    pub(crate) explains: bool,
    /// The orders in which locks are taken, if they are noted.
    pub(crate) lock_order: Option<LockOrder>,
    /// Threads that wait for one another while others go on.
    pub(crate) circle: Option<Deadlocked>,
    /// Events that are to be taken later.
    pub(crate) held: VecDeque<StopEvent>,
    /// The thread that had the baton, the number of points, and the time that the thread had computed,
    /// when that was first seen.
    pub(crate) seen: Option<(ThreadId, u64, Duration)>,
}

impl Run {
    /// Makes the run, and ends the program.
    pub(crate) fn make_whole(mut self, main: ThreadId) -> Result<Ended, ExploreError> {
        let outcome = self.drive(main)?;
        let outcome = match self.circle.take() {
            Some(circle) if matches!(outcome, Outcome::Exited { .. }) => Outcome::Deadlock(circle),
            _ => outcome,
        };
        // What is left of the program is of no use.
        let _ = self.program.debuggee.kill();
        Ok(self.ended(outcome))
    }

    fn ended(mut self, outcome: Outcome) -> Ended {
        let cycles = self.lock_order.as_mut().map(LockOrder::cycles);
        let cycles = cycles.unwrap_or_default();
        Ended {
            outcome,
            deviations: self.scheduler.log().deviations().to_vec(),
            points: self.scheduler.points(),
            decisions: self.scheduler.log().decisions(),
            threads: self.thread_count,
            hash: self.scheduler.hash().value(),
            diverged: self.diverged,
            left_out: self.sites.left_out,
            modules: self.modules,
            switches: self.switches,
            predicted: cycles.iter().map(LockCycle::goal).collect(),
        }
    }

    fn drive(&mut self, main: ThreadId) -> Result<Outcome, ExploreError> {
        let entries = blocking::stopping();
        let exits = SystemCalls::Only(blocking::with_exit());
        let debuggee = &mut self.program.debuggee;
        debuggee.monitor_system_calls(SystemCalls::Only(entries), exits);
        for address in &self.sites.calls {
            debuggee.insert(*address, Owner::Developer)?;
        }
        debuggee.set_alarm(Some(Instant::now() + TICK))?;
        self.input(Input::Started {
            thread: scheduled(main),
            parent: None,
        })?;
        loop {
            if let Some(outcome) = self.carry_out()? {
                return Ok(outcome);
            }
            if self.note_waiting_call()? {
                continue;
            }
            let event = self.next_event()?;
            if let Some(outcome) = self.take(event)? {
                return Ok(outcome);
            }
        }
    }

    /// Tells the scheduler something.
    pub(super) fn input(&mut self, input: Input) -> Result<(), ExploreError> {
        let mut orders = Vec::new();
        let before = self.scheduler.moment_now().thread;
        let known = self.scheduler.log().deviations().len();
        let handled = self.scheduler.handle(input, &mut orders);
        handled.map_err(|refusal| ExploreError::Refused(format!("{input:?}: {refusal:?}")))?;
        self.orders.extend(orders);
        if self.explains {
            self.note_switches(before, known);
        }
        Ok(())
    }

    /// Notes the unusual choices after the first `known` ones; `before` ran until then.
    fn note_switches(&mut self, before: ThreadPath, known: usize) {
        let made = self.scheduler.log().deviations().get(known..);
        for deviation in made.unwrap_or_default() {
            let place = |path: ThreadPath| {
                let mut tasks = self.scheduler.tasks().iter();
                let task = tasks.find(|task| task.path() == path)?;
                let thread = traced(task.id());
                Some(match task.points() {
                    // It has executed nothing yet.
                    0 => ThreadPlace {
                        number: self.program.thread_number(thread),
                        ..ThreadPlace::default()
                    },
                    _ => report::place_of(&self.program, thread),
                })
            };
            let switch = Switch {
                from: place(before),
                to: place(deviation.choice.thread).unwrap_or_default(),
                kind: deviation.choice.kind,
            };
            self.switches.push(switch);
        }
    }

    /// Carries out what is ordered. Returns the end of the run if that is one.
    fn carry_out(&mut self) -> Result<Option<Outcome>, ExploreError> {
        while let Some(order) = self.orders.pop_front() {
            match order {
                Order::Run { thread } => self.go_on(traced(thread))?,
                Order::Finish { thread, result } => {
                    let result = if self.ends_wait_for_no_reason(thread) {
                        locks::TIMED_OUT
                    } else {
                        result
                    };
                    self.finish_call(traced(thread), result)?;
                }
                Order::Write { address, word } => {
                    self.program.debuggee.write(address, &word.to_le_bytes())?;
                }
                Order::Deliver { thread, signal } => {
                    let signal = i32::from(signal);
                    self.program
                        .debuggee
                        .inject_signal(traced(thread), signal)?;
                }
                Order::PartialDeadlock => {
                    let found = self.deadlock();
                    self.circle.get_or_insert(found);
                }
                Order::Stands { reason } => match reason {
                    Standstill::Deadlock => return Ok(Some(self.stand())),
                    Standstill::Spin => return Ok(Some(self.endless()?)),
                    _ => {}
                },
                Order::Diverged { moment } => {
                    self.diverged.get_or_insert(moment);
                }
                Order::Limit => return Ok(Some(self.endless()?)),
                // It is in its call already.
                Order::EnterKernel { .. } | Order::Known => {}
            }
        }
        Ok(None)
    }

    fn deadlock(&self) -> Deadlocked {
        report::deadlock(&self.program, &self.scheduler)
    }

    /// Nobody goes on: all wait, perhaps for those of a circle.
    fn stand(&mut self) -> Outcome {
        let circle = self.circle.take();
        Outcome::Deadlock(Deadlocked {
            is_partial: false,
            ..circle.unwrap_or_else(|| self.deadlock())
        })
    }

    pub(super) fn endless(&mut self) -> Result<Outcome, ExploreError> {
        if let Some(circle) = self.circle.take() {
            return Ok(Outcome::Deadlock(circle));
        }
        self.program.debuggee.halt_all()?;
        let threads = report::all_places(&self.program);
        Ok(Outcome::Endless { threads })
    }

    /// A thread has the baton: what it stood before happens.
    fn go_on(&mut self, thread: ThreadId) -> Result<(), ExploreError> {
        match self.threads.standing(thread) {
            Standing::Futex => return self.call_futex(thread),
            Standing::Sleep(deadline) => {
                self.finish_call(thread, 0)?;
                return self.input(Input::Sleeps {
                    thread: scheduled(thread),
                    deadline,
                });
            }
            Standing::LockCall(lock) => {
                self.use_lock(thread, lock)?;
                self.threads.stands(thread, Standing::Ready);
            }
            Standing::MayWait => self.threads.stands(thread, Standing::InCall),
            Standing::Exit => self.leave_robust(thread)?,
            Standing::Makes(number) => self.make(thread, number)?,
            Standing::Ready | Standing::InCall => {}
        }
        Ok(self.program.debuggee.resume(thread)?)
    }
}

fn scheduled(thread: ThreadId) -> juror_schedule::ThreadId {
    juror_schedule::ThreadId(thread.0)
}

fn traced(thread: juror_schedule::ThreadId) -> ThreadId {
    ThreadId(thread.0)
}
