//! The engine: sites, threads, and the effect of each input.
//!
//! Invariants, checked by exploration (`explore`):
//!
//! - a thread leaves a site only after every owner has been notified of this
//!   execution of the instruction, each once;
//! - a trap with owners is removed only during the single step of a step-over
//!   in place, while no other thread runs (`in_place`);
//! - a stopped thread whose trap was passed in stands at the site until it
//!   departs, so an arrival that comes at a bad moment is only deferred.
//!
//! The last point is how the engine puts a late trap back and retries it: the
//! thread is not run into the trap a second time, its arrival is handled when
//! the others are released. To the debuggee this is the same, it saves two
//! context switches, and no schedule can starve the thread.

mod in_place;
mod motion;
mod patched_threads;
mod patches;
mod processes;
mod rule;
mod stops;
#[cfg(test)]
mod tests;

pub use rule::Rule;

use crate::arrival::Arrival;
use crate::thread::{Motion, Thread, Wanted};
use crate::{Input, Operation, Owner, Owners, Site, StepBy, StepOver, ThreadId};
use in_place::InPlaceStep;
use patches::Patches;
use processes::PendingFork;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

/// The state of a thread of the debuggee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ThreadState {
    /// It runs.
    Running,
    /// It executes one instruction.
    Stepping,
    /// It is stopped by the engine alone and will continue by itself.
    Held,
    /// It stands at a site, its owners have been notified, and it waits for
    /// [`Input::Resume`].
    Reported {
        /// The site.
        address: u64,
    },
    /// It is stopped for another reason and waits for [`Input::Resume`].
    Waiting,
}

/// The breakpoint engine.
///
/// It is driven by [`Engine::handle`] and does nothing by itself; equal engines
/// behave equally.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Engine {
    sites: BTreeMap<u64, Site>,
    threads: BTreeMap<ThreadId, Thread>,
    /// The step-over in place that is under way.
    in_place: Option<InPlaceStep>,
    /// Threads that wait for their step-over in place, first come first served.
    waiting: VecDeque<ThreadId>,
    /// Threads whose calls are being emulated: until the next input other than
    /// a fault, a fault means that the push failed.
    calling: Vec<ThreadId>,
    step_by: StepBy,
    /// Every address at which a trap was ever inserted: a copy of the memory
    /// has the state of some moment before it is seen.
    ever_inserted: BTreeSet<u64>,
    patches: Patches,
    /// The thread of an [`Input::Counted`], until its stop has been handled.
    counted: Option<ThreadId>,
    /// The arrivals of processes that have been made and not been seen yet.
    pending_forks: BTreeMap<ThreadId, PendingFork>,
    #[cfg(any(test, feature = "dropped-rules"))]
    pub(crate) dropped: Option<Rule>,
}

impl Engine {
    /// Returns an engine without sites and threads.
    pub fn new() -> Engine {
        Engine::default()
    }

    /// Returns an engine without sites and threads that steps its threads this
    /// way.
    pub fn stepping_by(step_by: StepBy) -> Engine {
        Engine {
            step_by,
            ..Engine::default()
        }
    }

    /// Returns the engine without a rule.
    #[cfg(any(test, feature = "dropped-rules"))]
    #[must_use]
    pub fn without(self, rule: Rule) -> Engine {
        Engine {
            dropped: Some(rule),
            ..self
        }
    }

    /// Handles `input` and appends the operations that it orders, to be carried
    /// out in order. An input about an unknown thread, or about a thread in a
    /// state in which it cannot be, changes nothing.
    pub fn handle(&mut self, input: Input, operations: &mut Vec<Operation>) {
        if !matches!(input, Input::Faulted { .. }) {
            self.finish_calls();
        }
        self.take(input, operations);
        if !matches!(input, Input::Counted { .. }) {
            self.forget_counted();
        }
    }

    fn take(&mut self, input: Input, operations: &mut Vec<Operation>) {
        match input {
            Input::Trapped {
                thread,
                address,
                stack,
            } => self.trapped(thread, address, stack, operations),
            Input::Resume { thread } => self.resume(thread, Wanted::Run, operations),
            Input::Step { thread } => self.resume(thread, Wanted::Step, operations),
            Input::Insert {
                address,
                owner,
                step_over,
            } => self.insert(address, owner, step_over, operations),
            Input::Remove { address, owner } => self.remove(address, owner, operations),
            Input::InsertFailed { address } => self.lose(address),
            Input::Rewritten { address, step_over } => {
                self.rewritten(address, step_over, operations)
            }
            Input::Patch {
                address,
                end,
                jump_end,
                owner,
                count,
                twin,
            } => {
                let stub = ((owner, count), twin);
                self.patch((address, end), jump_end, stub, operations)
            }
            Input::Unpatch { address } => self.unpatch(address, operations),
            Input::Stray { thread, address } => self.stray(thread, address, operations),
            Input::Counted {
                thread,
                address,
                stack,
            } => self.counted(thread, address, stack),
            Input::Started { thread } => self.begin(
                thread,
                Thread::new(Motion::Stopped, Wanted::Wait),
                operations,
            ),
            Input::StartedInPlace { thread, parent } => {
                self.started_in_place(thread, parent, operations)
            }
            Input::Attached { thread } => self.begin(
                thread,
                Thread::new(Motion::Running, Wanted::Run),
                operations,
            ),
            Input::Ended { thread } => self.ended(thread, operations),
            Input::Stepped { thread, address } => self.stepped(thread, address, operations),
            Input::FollowSet {
                thread,
                address,
                follow,
            } => self.follow(thread, address, follow, operations),
            Input::Stopped { thread, address } => self.stopped(thread, address, false, operations),
            Input::Interrupted { thread, address } => {
                self.stopped(thread, address, true, operations)
            }
            Input::Signalled { .. } if self.drops(Rule::NoteSignal) => {}
            Input::Signalled { thread, address } => {
                if let Some(thread) = self.threads.get_mut(&thread) {
                    thread.interrupt_departure(address);
                }
            }
            Input::HandlerEntered { .. } if self.drops(Rule::LeaveForHandler) => {}
            Input::HandlerEntered {
                thread,
                address,
                stack,
                alternate,
            } => {
                if let Some(thread) = self.threads.get_mut(&thread) {
                    thread.leave_for_handler(address, stack, alternate);
                }
            }
            Input::HandlerReturned { .. } if self.drops(Rule::ReturnFromHandler) => {}
            Input::HandlerReturned {
                thread,
                address,
                stack,
            } => {
                if let Some(thread) = self.threads.get_mut(&thread) {
                    thread.return_from_handler(address, stack);
                }
            }
            Input::Called { thread, stack } => {
                if let Some(thread) = self.threads.get_mut(&thread) {
                    thread.forget_left_handlers(stack);
                }
            }
            Input::Faulted {
                thread,
                address,
                stack,
            } => self.faulted(thread, address, stack, operations),
            Input::Halt { thread } => self.halt(thread, operations),
            Input::Jumped { thread, address } => self.jumped(thread, address, operations),
            Input::Suspend { thread } => self.suspend(thread, operations),
            Input::Restore { thread, depth } => self.restore(thread, depth, operations),
            Input::Discard { thread, depth } => {
                if let Some(thread) = self.threads.get_mut(&thread) {
                    thread.discard(depth);
                }
            }
            Input::Parked { thread, address } => self.parked(thread, address, operations),
            Input::Unparked { thread } => self.unparked(thread, operations),
            Input::ForkStopped { process } => self.fork_stopped(process, operations),
            Input::ForkMade { process, parent } => self.fork_made(process, parent),
            Input::ForkFollowed { thread } => self.fork_followed(thread, operations),
            Input::Inherited {
                thread,
                address,
                stack,
                notified,
                step_over,
                way_back,
            } => {
                let arrival = Arrival {
                    address,
                    stack,
                    notified,
                    step_over,
                    way_back,
                };
                self.inherited(thread, arrival, operations);
            }
            Input::Executed { thread } => self.executed(thread, operations),
        }
    }

    /// Records that the emulated calls have all succeeded.
    fn finish_calls(&mut self) {
        while let Some(id) = self.calling.pop() {
            if let Some(thread) = self.threads.get_mut(&id) {
                thread.departure = None;
            }
        }
    }

    /// Returns true if any owner has a point at `address`.
    pub fn is_site(&self, address: u64) -> bool {
        self.sites.contains_key(&address)
    }

    /// Returns true if a trap that a thread executed at `address` may be
    /// juror's: that of a site or of a patch, or one at which a step ends.
    pub fn expects_trap(&self, address: u64) -> bool {
        self.is_site(address) || self.is_follow_trap(address) || self.is_patched(address)
    }

    /// Returns the owners of the site at `address`; none if no site is there.
    pub fn owners_at(&self, address: u64) -> Owners {
        self.sites
            .get(&address)
            .map_or(Owners::empty(), Site::owners)
    }

    /// Returns all sites by address, with their owners and their step-over
    /// methods without a patch.
    pub fn sites(&self) -> impl Iterator<Item = (u64, Owners, StepOver)> + '_ {
        self.sites.iter().map(|(address, site)| {
            let step_over = self.step_over_by_trap(*address, site.step_over);
            (*address, site.owners(), step_over)
        })
    }

    /// Returns the step-over method of the site at an address, without a patch.
    pub fn step_over_at(&self, address: u64) -> Option<StepOver> {
        let site = self.sites.get(&address)?;
        Some(self.step_over_by_trap(address, site.step_over))
    }

    /// Returns the addresses of the sites in a range.
    pub fn sites_in(&self, range: Range<u64>) -> impl Iterator<Item = u64> + '_ {
        let is_empty = range.is_empty();
        let sites = (!is_empty).then(|| self.sites.range(range));
        sites.into_iter().flatten().map(|(address, _)| *address)
    }

    /// Returns every insert that has not been removed: the site, the owner, the
    /// count and the step-over method without a patch.
    pub fn inserts(&self) -> impl Iterator<Item = (u64, Owner, u32, StepOver)> + '_ {
        self.sites.iter().flat_map(|(&address, site)| {
            let counts = site.counts();
            let step_over = self.step_over_by_trap(address, site.step_over);
            counts.map(move |(owner, count)| (address, owner, count, step_over))
        })
    }

    /// Returns how threads execute one instruction.
    pub fn step_by(&self) -> StepBy {
        self.step_by
    }

    /// Returns the state of a thread; none for an unknown one.
    pub fn thread_state(&self, thread: ThreadId) -> Option<ThreadState> {
        let known = self.threads.get(&thread)?;
        Some(match (known.motion, known.wanted) {
            (Motion::Running, _) => ThreadState::Running,
            (Motion::Stepping, _) => ThreadState::Stepping,
            (_, Wanted::Run | Wanted::Step) => ThreadState::Held,
            (_, Wanted::Wait) => match known.arrival() {
                Some(arrival) => ThreadState::Reported {
                    address: arrival.address,
                },
                None => ThreadState::Waiting,
            },
        })
    }

    /// Returns true if a thread runs, freely or by a single step.
    pub fn is_running(&self, thread: ThreadId) -> bool {
        self.threads
            .get(&thread)
            .is_some_and(|known| known.motion.moves())
    }

    /// Returns the site at which a thread stands with its arrival reported,
    /// whether or not it has been resumed since. A thread stands there until
    /// its step-over in place has made its step.
    pub fn reported_at(&self, thread: ThreadId) -> Option<u64> {
        if let Some(step) = self.step_of(thread).filter(|step| step.is_trap_removed) {
            return Some(step.start);
        }
        Some(self.threads.get(&thread)?.arrival()?.address)
    }

    /// Returns true if a thread has been reported at `address`, with this stack
    /// pointer, and has not executed the instruction: the case of a signal
    /// there.
    pub fn has_arrival(&self, thread: ThreadId, address: u64, stack: u64) -> bool {
        let known = self.threads.get(&thread);
        known.is_some_and(|known| known.has_arrival(address, stack))
    }

    /// Returns true if the execution of the instruction at `address` has been
    /// reported for a thread that comes to it with this stack pointer: a
    /// handler has returned to it.
    pub fn is_reported(&self, thread: ThreadId, address: u64, stack: u64) -> bool {
        let known = self.threads.get(&thread);
        known.is_some_and(|known| known.is_reported(address, stack))
    }

    /// Returns true if a handler of a thread may return to an arrival
    /// ([`Input::HandlerReturned`]).
    pub fn awaits_handler(&self, thread: ThreadId) -> bool {
        self.threads
            .get(&thread)
            .is_some_and(Thread::awaits_handler)
    }

    /// Returns true if a thread waits for [`Input::Unparked`].
    pub fn is_parked(&self, thread: ThreadId) -> bool {
        self.threads
            .get(&thread)
            .is_some_and(|known| known.motion == Motion::Parked)
    }

    /// Returns the number of evaluations under way on a thread: see
    /// [`Input::Suspend`].
    pub fn suspended(&self, thread: ThreadId) -> usize {
        self.threads
            .get(&thread)
            .map_or(0, |known| known.suspended.len())
    }

    fn insert(
        &mut self,
        address: u64,
        owner: Owner,
        step_over: StepOver,
        operations: &mut Vec<Operation>,
    ) {
        let may_insert = self.may_insert_trap(address, operations);
        if may_insert
            && !self.is_site(address)
            && !self.is_removed_for_step(address)
            && !self.is_follow_trap(address)
        {
            self.insert_trap(address, operations);
        }
        let site = self
            .sites
            .entry(address)
            .or_insert_with(|| Site::new(step_over));
        site.add(owner);
        if !may_insert {
            self.settle(operations);
        }
    }

    fn insert_trap(&mut self, address: u64, operations: &mut Vec<Operation>) {
        self.ever_inserted.insert(address);
        operations.push(Operation::InsertTrap { address });
    }

    fn remove(&mut self, address: u64, owner: Owner, operations: &mut Vec<Operation>) {
        let Some(site) = self.sites.get_mut(&address) else {
            return;
        };
        site.subtract(owner);
        if !site.owners().is_empty() {
            return self.unpatch(address, operations);
        }
        self.sites.remove(&address);
        if self.is_patched(address) {
            self.forget_returns_to(address);
            return self.unpatch(address, operations);
        }
        // No trap is there yet if it waits for the removal of a patch.
        let is_inserted = self.patches.over(address).is_none();
        if is_inserted && !self.is_removed_for_step(address) && !self.is_follow_trap(address) {
            operations.push(Operation::RemoveTrap { address });
        }
        self.forget_returns_to(address);
    }

    /// Removes a site that is gone, and its trap with the memory.
    fn lose(&mut self, address: u64) {
        // A trap for the end of a step is there.
        if !self.is_follow_trap(address) && self.sites.remove(&address).is_some() {
            self.lose_patch(address);
            self.forget_returns_to(address);
        }
    }

    /// Changes the step-over method of the arrivals at a site.
    fn rewritten(&mut self, address: u64, step_over: StepOver, operations: &mut Vec<Operation>) {
        if let Some(site) = self.sites.get_mut(&address) {
            site.step_over = step_over;
        }
        // A thread may stand at a site that has been removed since.
        for thread in self.threads.values_mut() {
            thread.change_step_over(address, step_over);
        }
        for fork in self.pending_forks.values_mut() {
            fork.thread.change_step_over(address, step_over);
        }
        self.rewrite_patched(address, step_over, operations);
    }

    fn forget_returns_to(&mut self, address: u64) {
        // A thread that will return to the instruction from a signal handler
        // finds no trap, so its execution would go unnoticed: its arrival must
        // not count for a later one. A thread that stands here leaves by its
        // step-over and keeps it.
        let stepper = self.stepper().filter(|_| self.is_removed_for_step(address));
        for (id, thread) in &mut self.threads {
            if stepper == Some(*id) {
                thread.forget_outer(address);
            } else {
                thread.forget_returns_to(address);
            }
        }
        for fork in self.pending_forks.values_mut() {
            fork.thread.forget_returns_to(address);
        }
    }

    fn executed(&mut self, id: ThreadId, operations: &mut Vec<Operation>) {
        self.sites.clear();
        self.ever_inserted.clear();
        self.patches.clear();
        let mut thread = Thread::new(Motion::Stopped, Wanted::Wait);
        if !self.drops(Rule::AnswerReplaced) {
            let known = self.threads.get(&id);
            thread.halting = known.is_some_and(|known| known.halting);
            thread.answer_halt(id, operations);
        }
        self.replace_threads(id, thread);
    }

    /// Keeps one thread only.
    fn replace_threads(&mut self, id: ThreadId, thread: Thread) {
        self.threads.clear();
        self.in_place = None;
        self.waiting.clear();
        self.calling.clear();
        self.pending_forks.clear();
        self.threads.insert(id, thread);
    }

    /// Returns true if a test asks for the wrong algorithm without this rule.
    #[cfg(any(test, feature = "dropped-rules"))]
    fn drops(&self, rule: Rule) -> bool {
        self.dropped == Some(rule)
    }

    #[cfg(not(any(test, feature = "dropped-rules")))]
    #[inline(always)]
    fn drops(&self, _: Rule) -> bool {
        false
    }
}
