//! The engine: sites, threads, and what each input changes.
//!
//! Invariants, checked by exploration (`explore`):
//! - a thread is let go from a site only after every owner has been told of
//!   this execution of the instruction, and each was told once;
//! - a trap with owners is off its site only during the single step of a pass
//!   in place, while no other thread moves (`pass`);
//! - a stopped thread whose trap was handed in stands at the site until it
//!   departs, so an arrival that comes at a bad moment is only deferred.
//!
//! The last point is how the engine puts a late trap back and retries it: the
//! thread is not run into the trap a second time, its arrival is taken up when
//! the others are released. To the debuggee this is the same, it saves two
//! context switches, and no schedule can starve the thread.

mod pass;
#[cfg(test)]
mod tests;

use crate::thread::{Arrival, Departure, Motion, Next, Thread, Wanted};
use crate::{Input, Operation, Owner, Owners, Passage, Site, ThreadId};
use pass::Pass;
use std::collections::{BTreeMap, VecDeque};

/// What a thread of the debuggee does at this moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ThreadState {
    /// It runs.
    Running,
    /// It executes one instruction.
    Stepping,
    /// It is stopped by the engine alone and will go on by itself.
    Held,
    /// It stands at a site, its owners have been told, and it waits for
    /// [`Input::Resume`].
    Reported {
        /// The site.
        address: u64,
    },
    /// It is stopped for another reason and waits for [`Input::Resume`].
    Waiting,
}

/// A rule of the algorithm that a test can drop, to see that it is missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Rule {
    /// The others are held before the write that lifts the trap.
    HoldBeforeLift,
    /// The trap is planted before the others are released.
    PlantBeforeRelease,
    /// A trap that was executed before the hold is put back.
    PutBackLateTrap,
    /// A reported arrival is remembered until the instruction has run.
    RememberArrival,
}

/// The breakpoint engine.
///
/// It is fed by [`Engine::handle`] and does nothing by itself; equal engines
/// behave equally.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Engine {
    sites: BTreeMap<u64, Site>,
    threads: BTreeMap<ThreadId, Thread>,
    /// The pass in place that is under way.
    pass: Option<Pass>,
    /// Threads that wait for theirs, first come first served.
    waiting: VecDeque<ThreadId>,
    #[cfg(test)]
    pub(crate) dropped: Option<Rule>,
}

impl Engine {
    /// An engine without sites and threads.
    pub fn new() -> Engine {
        Engine::default()
    }

    /// Takes note of `input` and appends what must be done about it, to be
    /// carried out in order. What is said of a thread that is unknown, or of a
    /// thread in a state in which it cannot be, changes nothing.
    pub fn handle(&mut self, input: Input, operations: &mut Vec<Operation>) {
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
                passage,
            } => self.insert(address, owner, passage, operations),
            Input::Remove { address, owner } => self.remove(address, owner, operations),
            Input::Started { thread } => {
                self.threads
                    .insert(thread, Thread::new(Motion::Stopped, Wanted::Wait));
            }
            Input::Ended { thread } => self.ended(thread, operations),
            Input::Stepped { thread, address } => self.stepped(thread, address, operations),
            Input::Stopped { thread, address } => self.stopped(thread, address, false, operations),
            Input::Interrupted { thread, address } => {
                self.stopped(thread, address, true, operations)
            }
            Input::Faulted {
                thread,
                address,
                stack,
            } => self.faulted(thread, address, stack, operations),
            Input::Halt { thread } => self.halt(thread, operations),
            Input::Jumped { thread, address } => self.jumped(thread, address, operations),
            Input::Executed { thread } => self.executed(thread),
        }
    }

    /// Whether any owner has a point at `address`.
    pub fn is_site(&self, address: u64) -> bool {
        self.sites.contains_key(&address)
    }

    /// The owners of the site at `address`; none where no site is.
    pub fn owners_at(&self, address: u64) -> Owners {
        self.sites
            .get(&address)
            .map_or(Owners::empty(), Site::owners)
    }

    /// All sites by address, with their owners and the way past.
    pub fn sites(&self) -> impl Iterator<Item = (u64, Owners, Passage)> + '_ {
        self.sites
            .iter()
            .map(|(address, site)| (*address, site.owners(), site.passage))
    }

    /// What a thread does; nothing for an unknown one.
    pub fn thread_state(&self, thread: ThreadId) -> Option<ThreadState> {
        let known = self.threads.get(&thread)?;
        Some(match (known.motion, known.wanted) {
            (Motion::Running, _) => ThreadState::Running,
            (Motion::Stepping, _) => ThreadState::Stepping,
            (Motion::Stopped, Wanted::Run | Wanted::Step) => ThreadState::Held,
            (Motion::Stopped, Wanted::Wait) => match known.arrival() {
                Some(arrival) => ThreadState::Reported {
                    address: arrival.address,
                },
                None => ThreadState::Waiting,
            },
        })
    }

    /// Whether a thread moves, by itself or by a single step.
    pub fn is_running(&self, thread: ThreadId) -> bool {
        self.threads
            .get(&thread)
            .is_some_and(|known| known.motion != Motion::Stopped)
    }

    /// The site at which a thread stands with its arrival reported, whether
    /// or not it has been resumed since.
    pub fn reported_at(&self, thread: ThreadId) -> Option<u64> {
        Some(self.threads.get(&thread)?.arrival()?.address)
    }

    fn insert(
        &mut self,
        address: u64,
        owner: Owner,
        passage: Passage,
        operations: &mut Vec<Operation>,
    ) {
        let lifted = self.is_lifted(address);
        let site = self.sites.entry(address).or_insert_with(|| {
            if !lifted {
                operations.push(Operation::Plant { address });
            }
            Site::new(passage)
        });
        site.add(owner);
    }

    fn remove(&mut self, address: u64, owner: Owner, operations: &mut Vec<Operation>) {
        let Some(site) = self.sites.get_mut(&address) else {
            return;
        };
        site.subtract(owner);
        if !site.owners().is_empty() {
            return;
        }
        self.sites.remove(&address);
        if !self.is_lifted(address) {
            operations.push(Operation::Lift { address });
        }
        // A thread that will come back to the instruction from a signal
        // handler finds no trap, so nobody would learn that it ran: its
        // arrival must not be held against a later one. A thread that stands
        // here leaves by its passage and keeps it.
        let stepper = self.stepper();
        for (id, thread) in &mut self.threads {
            if stepper != Some(*id) {
                let here = thread.standing.filter(|_| thread.place == address);
                thread
                    .arrivals
                    .retain(|arrival| arrival.address != address || Some(arrival.stack) == here);
            }
        }
    }

    fn trapped(&mut self, id: ThreadId, address: u64, stack: u64, operations: &mut Vec<Operation>) {
        let stepped_in_place = self.stepper() == Some(id);
        let passing = self.pass.is_some();
        let ignores_late_trap = passing && self.drops(Rule::PutBackLateTrap);
        let thread = self
            .threads
            .entry(id)
            .or_insert_with(|| Thread::new(Motion::Running, Wanted::Run));
        thread.stop(address);
        thread.late_step = false;
        thread.in_copy = false;
        thread.departure = None;
        if stepped_in_place {
            // The trap was lifted: what ran is a trap of the program's own.
            thread.forget_arrival(address);
            return self.leave_step(
                id,
                Some(Operation::Unexplained {
                    thread: id,
                    address,
                }),
                operations,
            );
        }
        thread.forget_gone_frames(address, stack);
        if !self.sites.contains_key(&address) {
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
        thread.counter = Some(address);
        thread.answer_halt(id, operations);
        if passing {
            return self.settle(operations);
        }
        self.advance(id, operations);
    }

    /// Lets a stopped thread go on as far as it may: past its site when all
    /// owners know, to a report when they do not; not at all while another
    /// thread passes in place.
    fn advance(&mut self, id: ThreadId, operations: &mut Vec<Operation>) {
        if self.pass.is_some() {
            return;
        }
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        if thread.motion != Motion::Stopped || thread.wanted == Wanted::Wait {
            return;
        }
        let site = self.sites.get(&thread.place);
        match thread.next(site) {
            Next::Go => thread.go(id, operations),
            Next::Pass(passage) => self.pass(id, passage, operations),
            Next::Report(owners) => {
                let passage = site.map_or(Passage::InPlace, |site| site.passage);
                thread.note_report(owners, passage);
                operations.push(Operation::Report {
                    thread: id,
                    address: thread.place,
                    owners,
                });
            }
        }
    }

    /// Takes a thread past the instruction at which it stands.
    fn pass(&mut self, id: ThreadId, passage: Passage, operations: &mut Vec<Operation>) {
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        let (to, emulated) = match passage {
            Passage::InPlace => return self.begin_pass(id, operations),
            Passage::Skip { to } => {
                operations.push(Operation::SetCounter {
                    thread: id,
                    address: to,
                });
                (to, true)
            }
            Passage::Call { to, back } => {
                operations.push(Operation::EmulateCall {
                    thread: id,
                    to,
                    back,
                });
                (to, true)
            }
            Passage::Copy { at } => {
                operations.push(Operation::SetCounter {
                    thread: id,
                    address: at,
                });
                (thread.place, false)
            }
        };
        let wanted = thread.wanted;
        thread.departure = thread
            .take_arrival()
            .map(|arrival| Departure { arrival, wanted });
        thread.counter = None;
        thread.place = to;
        if emulated && wanted == Wanted::Step {
            thread.standing = None;
            thread.wanted = Wanted::Wait;
            operations.push(Operation::ReportStep {
                thread: id,
                address: to,
            });
        } else {
            thread.in_copy = !emulated && wanted == Wanted::Step;
            thread.go(id, operations);
        }
    }

    fn resume(&mut self, id: ThreadId, wanted: Wanted, operations: &mut Vec<Operation>) {
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        if thread.motion != Motion::Stopped {
            return;
        }
        thread.wanted = wanted;
        if self.pass.is_some() {
            self.wait_for_pass(id);
        } else {
            self.advance(id, operations);
        }
    }

    fn halt(&mut self, id: ThreadId, operations: &mut Vec<Operation>) {
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        thread.halting = true;
        if thread.motion != Motion::Stopped {
            return thread.hold(id, operations);
        }
        thread.answer_halt(id, operations);
        self.abandon_pass(id, operations);
    }

    fn stepped(&mut self, id: ThreadId, address: u64, operations: &mut Vec<Operation>) {
        let stepped_in_place = self.stepper() == Some(id);
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        let motion = thread.motion;
        if motion == Motion::Stopped {
            return;
        }
        let late = std::mem::take(&mut thread.late_step);
        let site = thread.place;
        thread.stop(address);
        thread.departure = None;
        if stepped_in_place {
            thread.forget_arrival(site);
            let report = thread.end_step(id, address);
            return self.leave_step(id, report, operations);
        }
        if motion == Motion::Stepping && !late {
            if std::mem::take(&mut thread.in_copy) {
                operations.push(Operation::SetCounter {
                    thread: id,
                    address,
                });
            }
            operations.extend(thread.end_step(id, address));
            thread.answer_halt(id, operations);
            return self.settle(operations);
        }
        // The trace trap of an earlier step that another stop cut short: the
        // instruction has run, and the thread goes on with what it was at.
        if !late {
            thread.forget_arrival(address);
        }
        if !thread.answer_halt(id, operations) {
            self.advance(id, operations);
        }
        self.settle(operations);
    }

    /// A stop that the engine ordered, or (`foreign`) one that upper floors
    /// deal with.
    fn stopped(
        &mut self,
        id: ThreadId,
        address: u64,
        foreign: bool,
        operations: &mut Vec<Operation>,
    ) {
        let stepped_in_place = self.stepper() == Some(id);
        let thread = self
            .threads
            .entry(id)
            .or_insert_with(|| Thread::new(Motion::Running, Wanted::Run));
        let (motion, start) = (thread.motion, thread.place);
        let ordered = !foreign && thread.take_hold_stop();
        if ordered && stepped_in_place && !thread.halting {
            // The stop of an earlier hold. Everything is as it was for the
            // step; if the instruction has run, its trace trap is waiting.
            return operations.push(Operation::StepThread { thread: id });
        }
        thread.stop(address);
        let executed = address != start;
        if stepped_in_place && executed {
            thread.forget_arrival(start);
        }
        let waits = !ordered || thread.halting;
        if waits {
            thread.wanted = Wanted::Wait;
            thread.late_step |= ordered && motion == Motion::Stepping && executed;
        }
        if stepped_in_place {
            return self.leave_step(id, None, operations);
        }
        thread.answer_halt(id, operations);
        if motion == Motion::Stopped && waits {
            self.abandon_pass(id, operations);
        }
        self.advance(id, operations);
        self.settle(operations);
    }

    fn faulted(&mut self, id: ThreadId, address: u64, stack: u64, operations: &mut Vec<Operation>) {
        let stepped_in_place = self.stepper() == Some(id);
        let remembers = !self.drops(Rule::RememberArrival);
        let site = self.sites.get(&address);
        let thread = self
            .threads
            .entry(id)
            .or_insert_with(|| Thread::new(Motion::Running, Wanted::Run));
        thread.stop(address);
        thread.in_copy = false;
        thread.counter = Some(address);
        let departure = thread
            .departure
            .take()
            .filter(|departure| departure.arrival.address == address);
        let call =
            departure.filter(|departure| matches!(departure.arrival.passage, Passage::Call { .. }));
        thread.wanted = Wanted::Wait;
        if let Some(Departure { arrival, wanted }) = call {
            // The push failed. The processor shall raise the fault, with the
            // registers that it gives to it.
            thread.arrivals.push(Arrival {
                stack,
                passage: Passage::InPlace,
                ..arrival
            });
            thread.standing = Some(stack);
            thread.wanted = wanted;
        } else if let Some(site) = site.filter(|_| remembers) {
            let earlier = thread
                .arrivals
                .iter()
                .rposition(|arrival| arrival.address == address && arrival.stack == stack);
            if earlier.is_none() {
                thread.arrivals.push(match departure {
                    Some(departure) => Arrival {
                        stack,
                        ..departure.arrival
                    },
                    None => Arrival {
                        address,
                        stack,
                        notified: site.owners(),
                        passage: site.passage,
                    },
                });
            }
        } else {
            thread.forget_arrival(address);
        }
        if stepped_in_place {
            return self.leave_step(id, None, operations);
        }
        thread.answer_halt(id, operations);
        self.advance(id, operations);
        self.settle(operations);
    }

    fn jumped(&mut self, id: ThreadId, address: u64, operations: &mut Vec<Operation>) {
        let Some(thread) = self.threads.get_mut(&id) else {
            return;
        };
        if thread.motion != Motion::Stopped {
            return;
        }
        thread.forget_arrival(thread.place);
        thread.stop(address);
        thread.departure = None;
        thread.in_copy = false;
        self.abandon_pass(id, operations);
    }

    fn ended(&mut self, id: ThreadId, operations: &mut Vec<Operation>) {
        let stepped_in_place = self.stepper() == Some(id);
        self.threads.remove(&id);
        if stepped_in_place {
            return self.leave_step(id, None, operations);
        }
        self.abandon_pass(id, operations);
        self.settle(operations);
    }

    fn executed(&mut self, id: ThreadId) {
        self.sites.clear();
        self.threads.clear();
        self.pass = None;
        self.waiting.clear();
        self.threads
            .insert(id, Thread::new(Motion::Stopped, Wanted::Wait));
    }

    /// Whether a test asks for the wrong algorithm without this rule.
    #[cfg(test)]
    fn drops(&self, rule: Rule) -> bool {
        self.dropped == Some(rule)
    }

    #[cfg(not(test))]
    #[inline(always)]
    fn drops(&self, _: Rule) -> bool {
        false
    }
}
