//! The control of the threads: the scheduler, and what its shell knows of them. What is ordered is
//! carried out in the debuggee; events that do not concern the scheduler are passed on.

mod calls;
mod communication;
pub(crate) mod copying;
mod events;
mod inputs;
mod kept_signals;
mod keys;
mod locks;
mod looking;
mod outside;
mod own;
mod signals;
mod silence;
pub(crate) mod spins;
mod two_steps;

use crate::blocking;
use crate::error::ExploreError;
use crate::input::{Inputs, classes};
use crate::own_calls::OwnCalls;
use crate::own_waits::Inherited;
use crate::points::Sites;
use crate::threads::{Standing, Threads};
use communication::CommunicationNotes;
use juror_debuggee::{Debuggee, Owner, StopEvent, SystemCalls, ThreadId};
use juror_schedule::{
    Input, LockOrder, Moment, Options, Order, Scheduler, Standstill, Strategy, ThreadPath,
};
use kept_signals::KeptSignals;
use keys::Keys;
use rustc_hash::FxHashSet;
use silence::Silence;
use spins::Spins;
use std::collections::{BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};
use two_steps::lose_writes;

/// The threads of a program, which run one at a time as the scheduler says.
#[derive(Debug)]
pub(crate) struct Control {
    pub(crate) scheduler: Scheduler,
    orders: VecDeque<Order>,
    sites: Rc<Sites>,
    /// The return addresses of waits for conditions.
    returns: FxHashSet<u64>,
    pub(crate) threads: Threads,
    /// Whether the points at accesses are inserted.
    has_accesses: bool,
    pub(crate) diverged: Option<Moment>,
    /// The longest time without a point.
    time: Option<Duration>,
    /// The moment at which a run that waits for the world is taken not to end.
    until: Option<Instant>,
    /// The orders in which locks are taken, if they are noted.
    pub(crate) lock_order: Option<LockOrder>,
    /// The number of choices up to the last wait that ended for no reason.
    last_spurious: usize,
    /// Events that are to be taken later.
    held: VecDeque<StopEvent>,
    /// News for the caller, which come before what is ordered next.
    told: VecDeque<Step>,
    /// The thread that had the baton, the number of points, and the time that the thread had computed,
    /// when that was first seen.
    seen: Option<(ThreadId, u64, Duration)>,
    /// The loops that only spin.
    spins: Spins,
    /// The words of the last futex call.
    last_words: (u64, Option<u64>),
    keys: Keys,
    /// The output that goes nowhere.
    silence: Option<Silence>,
    communication: CommunicationNotes,
    /// To where the run connects or sends, outside of the program.
    pub(crate) outside: BTreeSet<SocketAddr>,
    /// The time of the last look whether the run gets on, and whether a thread is stopped for that.
    looked_at: Instant,
    is_stopping: bool,
    /// The objects that may be others' as well.
    inherited: Inherited,
    /// The number of points at which all threads were seen to wait for objects of the program's own.
    waited_for_itself: Option<u64>,
    /// Why nobody goes on, if that is so.
    stands: Option<End>,
    inputs: Inputs,
    /// The number of things that the scheduler has been told.
    inputs_made: u64,
    /// The threads, in the order in which they started.
    started: Vec<ThreadId>,
    signals: KeptSignals,
    /// The calls that the program makes and notes itself.
    own_calls: Option<OwnCalls>,
    /// Whether a thread is about to end the program: the kernel ends the others.
    is_ending: bool,
}

/// A step of a controlled run, as far as it concerns the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// An event that is not the scheduler's. Its thread goes on when it is resumed.
    Event(StopEvent),
    /// A thread is about to end the program; it goes on when it is resumed.
    Exits { thread: ThreadId, status: i32 },
    /// A choice was not the usual one: the log has more than the first `known` deviations. The
    /// thread with the path `before` ran until then.
    Deviated { before: ThreadPath, known: usize },
    /// Some threads wait for one another, while others may go on.
    PartialDeadlock,
    /// The choice of the log is not possible here.
    Diverged,
    /// A thread has computed for long without a point; it goes on when it is resumed.
    Turns { thread: ThreadId },
    /// No thread goes on.
    Stands(End),
}

/// Why nobody goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Deadlock,
    /// Loops in which nothing changes, or too many points, or too much time.
    Endless,
    /// A person must choose.
    Choice,
}

impl Control {
    /// Returns the control of a program of which nothing has run yet but its dynamic linker.
    pub(crate) fn new(sites: Rc<Sites>, options: Options, strategy: Strategy) -> Control {
        Control {
            scheduler: Scheduler::new(options, strategy),
            orders: VecDeque::new(),
            sites,
            returns: FxHashSet::default(),
            threads: Threads::default(),
            has_accesses: false,
            diverged: None,
            time: None,
            until: None,
            lock_order: None,
            last_spurious: 0,
            held: VecDeque::new(),
            told: VecDeque::new(),
            seen: None,
            spins: Spins::default(),
            last_words: (0, None),
            keys: Keys::default(),
            silence: None,
            communication: CommunicationNotes::default(),
            outside: BTreeSet::new(),
            looked_at: Instant::now(),
            is_stopping: false,
            inherited: Inherited::default(),
            waited_for_itself: None,
            stands: None,
            inputs: Inputs::Own,
            inputs_made: 0,
            started: Vec::new(),
            signals: KeptSignals::default(),
            own_calls: None,
            is_ending: false,
        }
    }

    /// Returns the control of a run whose inputs are recorded or fed.
    pub(crate) fn with_inputs(self, inputs: Inputs) -> Control {
        Control { inputs, ..self }
    }

    /// Limits the time for which a thread computes, or the program waits, without a point.
    pub(crate) fn limit_time(&mut self, time: Duration) {
        self.time = Some(time);
        self.until = Some(Instant::now() + time);
    }

    /// Returns the loop that spins without a point, if one was found.
    pub(crate) fn learned(&self) -> Option<u64> {
        self.spins.learned
    }

    /// Notes that the run has a world of its own.
    pub(crate) fn note_own_world(&mut self) {
        self.inherited.has_own_queues = true;
    }

    /// Notes the steps by which the threads communicate.
    pub(crate) fn note_communication(&mut self) {
        self.communication.begin();
    }

    /// Notes the orders in which locks are taken.
    pub(crate) fn note_lock_order(&mut self) {
        self.lock_order = Some(LockOrder::new());
    }

    /// Takes over the first thread, and inserts the points.
    pub(crate) fn start(
        &mut self,
        debuggee: &mut Debuggee,
        main: ThreadId,
    ) -> Result<(), ExploreError> {
        self.inherited.note_open(debuggee.pid());
        let kept = || SystemCalls::Only(classes::stopping());
        let (entries, exits) = match self.inputs {
            Inputs::Own => (
                SystemCalls::Only(blocking::stopping()),
                SystemCalls::Only(blocking::with_exit()),
            ),
            Inputs::Recorded(_) | Inputs::Fed(_) => (kept(), kept()),
        };
        debuggee.schedule_system_calls(entries, exits);
        self.begin_inputs(debuggee, main)?;
        self.note_first_descriptors(debuggee);
        for address in &self.sites.calls {
            debuggee.insert(*address, Owner::Schedule)?;
        }
        self.note_beginning(main);
        self.input(Input::Started {
            thread: scheduled(main),
            parent: None,
        })
    }

    /// Lets the threads go on until something concerns the caller.
    pub(crate) fn step(&mut self, debuggee: &mut Debuggee) -> Result<Step, ExploreError> {
        loop {
            if self.is_ending {
                let event = debuggee.wait()?;
                self.take_own_calls(debuggee, &event)?;
                self.note_end(&event);
                return Ok(Step::Event(event));
            }
            if let Some(step) = self.carry_out(debuggee)? {
                return Ok(step);
            }
            if self.await_input(debuggee)? || self.note_waiting_call(debuggee)? {
                continue;
            }
            self.resume_running(debuggee)?;
            let step = match self.next_event(debuggee)? {
                Some(event) => {
                    self.take_own_calls(debuggee, &event)?;
                    self.take(debuggee, event)?
                }
                None => {
                    self.look(debuggee)?;
                    None
                }
            };
            if let Some(step) = step {
                return Ok(step);
            }
        }
    }

    /// Tells the scheduler something, after what came before it in a run that is fed.
    pub(super) fn input(&mut self, input: Input) -> Result<(), ExploreError> {
        self.feed_due()?;
        self.note_coming(&input);
        self.tell(input)
    }

    fn tell(&mut self, input: Input) -> Result<(), ExploreError> {
        self.inputs_made += 1;
        let mut orders = Vec::new();
        let before = self.scheduler.moment_now().thread;
        let known = self.scheduler.log().deviations().len();
        let handled = self.scheduler.handle(input, &mut orders);
        handled.map_err(|refusal| ExploreError::Refused(format!("{input:?}: {refusal:?}")))?;
        self.orders.extend(orders);
        if self.scheduler.log().deviations().len() > known {
            self.told.push_back(Step::Deviated { before, known });
        }
        Ok(())
    }

    /// Carries out what is ordered. Returns what concerns the caller.
    fn carry_out(&mut self, debuggee: &mut Debuggee) -> Result<Option<Step>, ExploreError> {
        loop {
            if let Some(step) = self.told.pop_front() {
                return Ok(Some(step));
            }
            let Some(order) = self.orders.pop_front() else {
                return Ok(self.stands.map(Step::Stands));
            };
            if let Some(step) = self.obey(debuggee, order)? {
                return Ok(Some(step));
            }
        }
    }

    fn obey(
        &mut self,
        debuggee: &mut Debuggee,
        order: Order,
    ) -> Result<Option<Step>, ExploreError> {
        match order {
            Order::Run { thread } => return self.go_on(debuggee, traced(thread)),
            Order::Finish { thread, result } => {
                let result = if self.ends_wait_for_no_reason(debuggee, thread) {
                    locks::TIMED_OUT
                } else {
                    self.result_of_several(traced(thread), result)
                };
                self.note_finished(traced(thread), result);
                if !self.is_led_out(debuggee, traced(thread), result)? {
                    self.finish_call(debuggee, traced(thread), result)?;
                }
            }
            Order::Write { address, word } => debuggee.write(address, &word.to_le_bytes())?,
            Order::PartialDeadlock => return Ok(Some(Step::PartialDeadlock)),
            Order::Stands { reason } => {
                self.stands = match reason {
                    Standstill::Deadlock if self.await_signal(debuggee)? => None,
                    Standstill::Deadlock => Some(End::Deadlock),
                    Standstill::Spin if self.look_again()? => None,
                    Standstill::Spin => Some(End::Endless),
                    Standstill::Choice => Some(End::Choice),
                    _ => None,
                };
            }
            Order::Diverged { moment } => {
                self.diverged.get_or_insert(moment);
                return Ok(Some(Step::Diverged));
            }
            Order::Limit => self.stands = Some(End::Endless),
            // It is in its call already, or the signal is pending.
            Order::EnterKernel { .. } | Order::Deliver { .. } | Order::Known => {}
        }
        Ok(None)
    }

    /// A thread has the baton: what it stood before happens. Others may own points there, too.
    fn go_on(
        &mut self,
        debuggee: &mut Debuggee,
        thread: ThreadId,
    ) -> Result<Option<Step>, ExploreError> {
        if let Some(event) = self.threads.returned.remove(&thread) {
            self.held.push_back(event);
            return Ok(None);
        }
        self.note_going_on(thread);
        match self.threads.standing(thread) {
            Standing::FutexWaitv => {
                self.call_futex_waitv(debuggee, thread)?;
                self.note_waiting(thread);
                return Ok(None);
            }
            Standing::Futex => {
                self.call_futex(debuggee, thread)?;
                self.note_waiting(thread);
                return Ok(None);
            }
            Standing::Sleep(deadline) => {
                self.finish_call(debuggee, thread, 0)?;
                self.input(Input::Sleeps {
                    thread: scheduled(thread),
                    deadline,
                })?;
                return Ok(None);
            }
            Standing::LockCall(lock) => {
                self.use_lock(debuggee, thread, lock)?;
                self.threads.stands(thread, Standing::Ready);
            }
            Standing::MayWait(call) if self.inputs.are_fed() => {
                return self.feed_call(debuggee, thread, call);
            }
            Standing::MayWait(call) if self.write_nothing(debuggee, thread, call)? => {}
            Standing::MayWait(call) => {
                self.threads.stands(thread, Standing::InCall(call));
                self.send_held_signals(debuggee, thread);
            }
            Standing::Fed => return self.give_returned(debuggee, thread),
            Standing::Exit => self.leave_robust(debuggee, thread)?,
            Standing::Makes(number) => {
                self.make(debuggee, thread, number)?;
                if self.inputs.are_fed() && !self.threads.child_words.contains_key(&thread) {
                    return self.feed_call(debuggee, thread, number);
                }
            }
            Standing::Reads(address, size) => {
                if self.reach_write(debuggee, thread, (address, size))? {
                    return Ok(None);
                }
            }
            Standing::Writes(address, size, value) => {
                lose_writes(debuggee, thread, (address, size), value)?;
                self.threads.stands(thread, Standing::Ready);
            }
            Standing::Ready | Standing::InCall(_) | Standing::Kept(_) => {}
        }
        if let Some(event) = self.event_of_others(debuggee, thread)? {
            return Ok(Some(Step::Event(event)));
        }
        self.let_go(debuggee, thread)?;
        Ok(None)
    }
}

pub(crate) fn scheduled(thread: ThreadId) -> juror_schedule::ThreadId {
    juror_schedule::ThreadId(thread.0)
}

pub(crate) fn traced(thread: juror_schedule::ThreadId) -> ThreadId {
    ThreadId(thread.0)
}
