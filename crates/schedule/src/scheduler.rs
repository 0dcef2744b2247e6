//! The machine: who has the baton, and the effect of each input.

mod decide;
mod ends;
mod futex;
mod queries;
mod wakes;

use crate::choice::{Log, Moment};
use crate::deadlock::Deadlock;
use crate::hash::RunHash;
use crate::holders::Holders;
use crate::protocol::{Input, Order, Refusal};
use crate::queues::{Queues, Waiter};
use crate::rule::Rule;
use crate::strategy::Strategy;
use crate::task::{State, Task};
use crate::terms::{PointKind, ThreadId, ThreadPath};
use alloc::vec::Vec;

/// The options of a run, beside its strategy. The log of a run is replayed with the same options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Options {
    /// Whether time jumps to the next deadline when nobody goes on, and time-outs are on offer.
    /// Otherwise [`Input::Expired`] says that a moment has come.
    pub is_time_virtual: bool,
    /// The number of spurious wake-ups on offer in a run.
    pub spurious: u32,
    /// Whether the strategy chooses whom a wake wakes; otherwise those who came first.
    pub chooses_woken: bool,
    /// Whether others may go first behind a futex call, too.
    pub decides_behind_calls: bool,
    /// The number of points after which a thread usually lets others go first.
    pub share: u32,
    /// The number of points after which [`Order::Limit`] is given.
    pub points_max: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            is_time_virtual: true,
            spurious: 0,
            chooses_woken: false,
            decides_behind_calls: false,
            share: 1_000,
            points_max: 1_000_000,
        }
    }
}

/// The scheduler.
///
/// It is driven by [`Scheduler::handle`] and does nothing by itself; equal schedulers behave
/// equally.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scheduler {
    options: Options,
    /// The threads, by path.
    tasks: Vec<Task>,
    queues: Queues,
    holders: Holders,
    baton: Option<ThreadPath>,
    /// The moment of the next decision.
    moment: Moment,
    /// The number of times that one thread went on while others could have.
    consecutive: u32,
    now: u64,
    points: u64,
    spurious_left: u32,
    /// Whether a person has been asked.
    is_asking: bool,
    /// Threads of deadlocks that have been told.
    told: Vec<ThreadPath>,
    deadlock: Option<Deadlock>,
    strategy: Strategy,
    log: Log,
    hash: RunHash,
    dropped: Option<Rule>,
}

impl Scheduler {
    /// Returns a scheduler without threads.
    pub fn new(options: Options, strategy: Strategy) -> Scheduler {
        Scheduler {
            options,
            tasks: Vec::new(),
            queues: Queues::default(),
            holders: Holders::default(),
            baton: None,
            moment: Moment::default(),
            consecutive: 0,
            now: 0,
            points: 0,
            spurious_left: options.spurious,
            is_asking: false,
            told: Vec::new(),
            deadlock: None,
            strategy,
            log: Log::default(),
            hash: RunHash::default(),
            dropped: None,
        }
    }

    /// Returns the scheduler without a rule.
    #[cfg(test)]
    pub(crate) fn without(self, dropped: Option<Rule>) -> Scheduler {
        Scheduler { dropped, ..self }
    }

    /// Returns the scheduler without what does not matter for who may go on: the log, the hash,
    /// and the numbers of points.
    #[cfg(test)]
    pub(crate) fn essence(&self) -> Scheduler {
        let mut essence = self.clone();
        essence.log = Log::default();
        essence.hash = RunHash::default();
        essence.moment = Moment::default();
        essence.deadlock = None;
        (essence.points, essence.consecutive) = (0, 0);
        for task in &mut essence.tasks {
            (task.points, task.part) = (0, 0);
        }
        for held in essence.holders.held_mut() {
            held.point = 0;
        }
        essence
    }

    fn drops(&self, rule: Rule) -> bool {
        cfg!(test) && self.dropped == Some(rule)
    }

    /// Handles an input, and appends what it orders, to be carried out in order. An input that
    /// cannot be is refused, and changes and orders nothing.
    pub fn handle(&mut self, input: Input, orders: &mut Vec<Order>) -> Result<(), Refusal> {
        match input {
            Input::Started { thread, parent } => self.start(thread, parent)?,
            Input::Code { thread, code } => {
                let index = self.index(thread)?;
                if let Some(task) = self.tasks.get_mut(index) {
                    task.code = code;
                }
                return Ok(());
            }
            Input::ChildTid { thread, address } => {
                let index = self.index(thread)?;
                if let Some(task) = self.tasks.get_mut(index) {
                    task.child_tid = Some(address).filter(|address| *address != 0);
                }
                return Ok(());
            }
            Input::Reached { thread, point } => {
                let path = self.bearer(thread)?;
                self.reach(path, point, orders);
            }
            Input::Futex {
                thread,
                call,
                word,
                second,
            } => {
                let path = self.bearer(thread)?;
                self.call_futex(path, call, [word, second], orders);
            }
            Input::AlsoWaits { thread, address } => {
                let index = self.index(thread)?;
                let waiting = self.tasks.get(index);
                let waits = |task: &&Task| matches!(task.state, State::Waits { is_pi: false, .. });
                let Some(path) = waiting.filter(waits).map(|task| task.path) else {
                    return Err(Refusal::WrongState);
                };
                self.queues.add(Waiter {
                    address,
                    thread: path,
                    mask: u32::MAX,
                    is_pi: false,
                });
                return Ok(());
            }
            Input::Sleeps { thread, deadline } => {
                let path = self.bearer(thread)?;
                self.leave(path, State::Sleeps(deadline));
            }
            Input::Call { thread } => {
                let path = self.bearer(thread)?;
                self.leave(path, State::InKernel);
                self.note_change(path);
                orders.push(Order::EnterKernel { thread });
            }
            Input::Returned { thread } => self.come_back(thread)?,
            Input::Expired { thread } => self.expire(thread, orders)?,
            Input::Signal { thread, signal } => self.send(thread, signal)?,
            Input::Lock {
                thread,
                lock,
                step,
                mode,
            } => {
                let path = self.bearer(thread)?;
                let points = self.task(path).map_or(0, |task| task.points);
                self.holders.step((path, points), lock, step, mode);
                return Ok(());
            }
            Input::Died {
                thread,
                address,
                word,
                is_pi,
            } => {
                self.index(thread)?;
                self.leave_robust((thread, address), word, is_pi, orders);
            }
            Input::Ended { thread } => {
                let index = self.index(thread)?;
                self.end(index, orders);
            }
            Input::UserKey { thread, on } => self.turn_key(thread, on, orders)?,
            Input::LookAgain => self.tasks.iter_mut().for_each(look_again),
            Input::Choose { choice } => {
                let is_open = self.is_asking && self.baton.is_none();
                let mut offers = self.offers().into_iter();
                if !is_open || !offers.any(|offer| offer.choice == choice) {
                    return Err(Refusal::NoChoice);
                }
                let usual = self.usual_choice();
                self.take(choice, usual, orders);
                return Ok(());
            }
        }
        self.decide(orders);
        Ok(())
    }

    fn index(&self, thread: ThreadId) -> Result<usize, Refusal> {
        let mut tasks = self.tasks.iter();
        let found = tasks.position(|task| task.id == thread);
        found.ok_or(Refusal::UnknownThread)
    }

    /// Returns the path of a thread that has the baton.
    fn bearer(&self, thread: ThreadId) -> Result<ThreadPath, Refusal> {
        let index = self.index(thread)?;
        let path = self.tasks.get(index).map(|task| task.path);
        match path {
            Some(path) if self.baton == Some(path) => Ok(path),
            _ => Err(Refusal::NoBaton),
        }
    }

    fn task(&self, path: ThreadPath) -> Option<&Task> {
        let index = self.tasks.binary_search_by_key(&path, |task| task.path);
        index.ok().and_then(|index| self.tasks.get(index))
    }

    fn task_mut(&mut self, path: ThreadPath) -> Option<&mut Task> {
        let index = self.tasks.binary_search_by_key(&path, |task| task.path);
        index.ok().and_then(|index| self.tasks.get_mut(index))
    }

    fn start(&mut self, thread: ThreadId, parent: Option<ThreadId>) -> Result<(), Refusal> {
        if self.index(thread).is_ok() {
            return Err(Refusal::KnownThread);
        }
        let path = match parent {
            None if self.tasks.is_empty() => ThreadPath::MAIN,
            None => return Err(Refusal::WrongState),
            Some(parent) => {
                let index = self.index(parent)?;
                let Some(parent) = self.tasks.get_mut(index) else {
                    return Err(Refusal::UnknownThread);
                };
                let number = parent.children.saturating_add(1);
                let path = parent.path.child(number).ok_or(Refusal::TooManyThreads)?;
                parent.children = number;
                path
            }
        };
        let place = self.tasks.partition_point(|task| task.path < path);
        self.tasks.insert(place, Task::new(thread, path));
        Ok(())
    }

    /// A thread gives the baton back at a point.
    fn reach(&mut self, path: ThreadPath, point: crate::Point, orders: &mut Vec<Order>) {
        self.hash.add_point(path, &point);
        self.points = self.points.saturating_add(1);
        if self.points == self.options.points_max {
            orders.push(Order::Limit);
        }
        let Some(task) = self.task_mut(path) else {
            return;
        };
        task.points = task.points.saturating_add(1);
        task.part = 0;
        let is_turn = matches!(point.kind, PointKind::Loop | PointKind::Yield);
        let repeats = task.repeats(point.site, point.state);
        task.state = if repeats && is_turn {
            State::Spins(point)
        } else {
            State::At(point)
        };
        self.moment = Moment {
            thread: path,
            point: task.points,
            part: 0,
        };
        self.baton = None;
        if !repeats {
            self.end_spins(path);
        }
    }

    /// A thread gives the baton away, and is in this state.
    fn leave(&mut self, path: ThreadPath, state: State) {
        if let Some(task) = self.task_mut(path) {
            task.state = state;
        }
        self.baton = None;
        self.end_spins(path);
    }

    fn come_back(&mut self, thread: ThreadId) -> Result<(), Refusal> {
        let index = self.index(thread)?;
        match self.tasks.get_mut(index) {
            Some(task) if task.state == State::InKernel => {
                task.state = State::Behind;
                Ok(())
            }
            _ => Err(Refusal::WrongState),
        }
    }

    fn send(&mut self, thread: ThreadId, signal: u8) -> Result<(), Refusal> {
        let index = self.index(thread)?;
        let bit = u32::from(signal)
            .checked_sub(1)
            .and_then(|shift| 1_u64.checked_shl(shift))
            .ok_or(Refusal::NoSignal)?;
        if let Some(task) = self.tasks.get_mut(index) {
            task.signals |= bit;
        }
        Ok(())
    }

    fn turn_key(
        &mut self,
        thread: ThreadId,
        on: bool,
        orders: &mut Vec<Order>,
    ) -> Result<(), Refusal> {
        let index = self.index(thread)?;
        let Some(task) = self.tasks.get_mut(index) else {
            return Err(Refusal::UnknownThread);
        };
        let was_on = core::mem::replace(&mut task.user_key, on);
        if on && !was_on && task.state == State::Running {
            orders.push(Order::Run { thread });
        }
        Ok(())
    }

    /// A thread may have changed something that others see: they look again.
    fn end_spins(&mut self, path: ThreadPath) {
        if self.drops(Rule::EndSpin) {
            return;
        }
        let others = self.tasks.iter_mut().filter(|task| task.path != path);
        others.for_each(look_again);
    }

    /// A thread has changed something, so that it is not where it was.
    fn note_change(&mut self, path: ThreadPath) {
        if !self.drops(Rule::WritesAreTurns)
            && let Some(task) = self.task_mut(path)
        {
            task.stops.clear();
        }
        self.end_spins(path);
    }
}

fn look_again(task: &mut Task) {
    if let State::Spins(point) = task.state {
        task.state = State::At(point);
    }
}
