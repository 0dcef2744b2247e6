//! The engine, a shell that decides nothing, upper floors that may do
//! anything, and a processor for each thread.
//!
//! The order in which things can happen is the real one: the shell carries out
//! all operations before it looks at the next stop or hears the next command,
//! one by one, while the processors go on.

use super::copies::Copied;
use super::processor::{
    Counter, HANDLER_END, I, J, Mode, Motion, OUTSIDE, PLACES, Place, Processor, RETURN, Stop,
    Told, Upper, address_of, thread_of,
};
use super::program::{Budget, Program, Way};
use crate::{Engine, FollowSet, Input, Operation, Owner, Owners, ThreadId, ThreadState};
use std::collections::VecDeque;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub(super) engine: Engine,
    pub(super) processors: Vec<Processor>,
    /// Operations not carried out yet.
    pub(super) orders: VecDeque<Operation>,
    /// Where the memory holds a trap.
    pub(super) trap: [bool; PLACES],
    /// Who wants to be told, by what upper floors said.
    pub(super) wanted: [Owners; PLACES],
    /// The same, from the moment at which no thread can miss it.
    pub(super) armed: [Owners; PLACES],
    pub(super) left: Budget,
    /// Copies of the memory that have not been let go, and the one that is
    /// being followed.
    pub(super) copies: Vec<Copied>,
    pub(super) followed: Option<ThreadId>,
    /// The thread that has replaced the program, which the shell has not told
    /// the engine: what it does meanwhile is done to nothing, but for those who
    /// share the memory.
    pub(super) replaced_by: Option<usize>,
    /// The shell has seen it, and waits for these to stand.
    pub(super) leaves_memory: bool,
    /// What the engine was told and ordered, where that is kept.
    pub(super) heard: Option<Vec<(Input, Vec<Operation>)>>,
}

impl State {
    /// The threads run, and a monitor has its points at I and J.
    pub(super) fn new(program: &Program) -> Result<State, String> {
        let mut engine = Engine::stepping_by(program.step_by);
        engine.dropped = program.without;
        let mode = |number| {
            if number < program.threads {
                Mode::Stopped
            } else {
                Mode::Unborn
            }
        };
        let vforks = usize::from(program.budget.vforks);
        let numbers = 0..program.threads + program.later + vforks;
        let mut state = State {
            engine,
            processors: numbers.map(|number| Processor::new(mode(number))).collect(),
            orders: VecDeque::new(),
            trap: [false; PLACES],
            wanted: [Owners::empty(); PLACES],
            armed: [Owners::empty(); PLACES],
            left: program.budget,
            copies: Vec::new(),
            followed: None,
            replaced_by: None,
            leaves_memory: false,
            heard: program.records.then(Vec::new),
        };
        for number in 0..program.threads {
            let thread = thread_of(number);
            state.tell(Input::Started { thread })?;
            state.tell(Input::Resume { thread })?;
        }
        for place in [I, J] {
            state.wanted[place] = Owners::MONITOR;
            state.tell(program.insert(place, Owner::Monitor))?;
        }
        if program.budget.evaluations > 0 {
            state.want_return(program)?;
        }
        while !state.orders.is_empty() {
            state.carry_out(program)?;
        }
        Ok(state)
    }

    /// What juror evaluates returns to a point of its own.
    fn want_return(&mut self, program: &Program) -> Result<(), String> {
        self.wanted[RETURN] = Owners::INTERNAL;
        self.tell(program.insert(RETURN, Owner::Internal))
    }

    pub(super) fn tell(&mut self, input: Input) -> Result<(), String> {
        let mut operations = Vec::new();
        self.engine.handle(input, &mut operations);
        self.orders.extend(&operations);
        if let Some(heard) = &mut self.heard {
            heard.push((input, operations));
        }
        Ok(())
    }

    fn processor(&mut self, thread: ThreadId) -> &mut Processor {
        &mut self.processors[thread.0 as usize - 1]
    }

    /// The kernel stops a thread.
    pub(super) fn happen(&mut self, number: usize, stop: Stop) {
        let processor = &mut self.processors[number];
        match stop {
            Stop::Trap => processor.counter = Counter::Behind(processor.counter.place()),
            Stop::Fault => self.left.faults -= 1,
            Stop::Signal => self.left.signals -= 1,
            Stop::End if processor.shares_with.is_some() => {}
            Stop::End => self.left.ends -= 1,
            Stop::Exec => self.left.execs -= 1,
            Stop::Start | Stop::Trace | Stop::Hold => {}
            Stop::Fork | Stop::Vfork | Stop::VforkDone => {}
        }
        if stop == Stop::Exec {
            return self.replace(number);
        }
        processor.stop(stop);
        if stop == Stop::End {
            processor.mode = Mode::Dead;
            processor.halting = false;
            processor.upper = Upper::Lets;
            self.wake_parent(number);
        }
    }

    /// Whether the next order is a trap whose memory may be gone.
    pub(super) fn may_lose_trap(&self) -> bool {
        let Some(Operation::Plant { address }) = self.orders.front() else {
            return false;
        };
        let place = Counter::from_address(*address).place();
        matches!(place, I | J) && !self.wanted[place].is_empty()
    }

    /// The trap cannot be planted, and the shell says so.
    pub(super) fn fail_plant(&mut self) -> Result<(), String> {
        let Some(Operation::Plant { address }) = self.orders.pop_front() else {
            return Ok(());
        };
        self.left.losses -= 1;
        let place = Counter::from_address(address).place();
        self.wanted[place] = Owners::empty();
        self.armed[place] = Owners::empty();
        self.forget(place);
        self.tell(Input::Lost { address })
    }

    /// A thread traps, but the kernel tells of an ordered stop first.
    pub(super) fn trap_late(&mut self, number: usize) {
        let processor = &mut self.processors[number];
        processor.counter = Counter::Behind(processor.counter.place());
        processor.stop(Stop::Hold);
        processor.queued = Some(Stop::Trap);
    }

    pub(super) fn execute(&mut self, number: usize, next: Place, late: bool) -> Result<(), String> {
        self.run_instruction(number, next)?;
        let processor = &mut self.processors[number];
        if processor.mode == Mode::Stepping {
            processor.stop(if late { Stop::Hold } else { Stop::Trace });
            processor.queued = late.then_some(Stop::Trace);
        }
        Ok(())
    }

    /// A step of a thread in a system call: it is out of that, no more.
    pub(super) fn leave_call(&mut self, number: usize, late: bool) {
        let processor = &mut self.processors[number];
        processor.in_call = false;
        processor.stop(if late { Stop::Hold } else { Stop::Trace });
        processor.queued = late.then_some(Stop::Trace);
    }

    pub(super) fn run_instruction(&mut self, number: usize, next: Place) -> Result<(), String> {
        let processor = &mut self.processors[number];
        // A copy was entered with leave; the instruction itself needs it now.
        if let Counter::At(place) = processor.counter {
            let told = *processor.told_mut();
            if !told.vague {
                demand(self.armed[place], told.owners)?;
            }
        }
        if processor.counter == Counter::Leaving(next) {
            processor.counter = Counter::At(next);
        } else {
            // A step to the same instruction cannot be told from none in a copy.
            let elsewhere = processor.counter.place() != next;
            processor.executed(next);
            processor.stepped |= elsewhere && processor.upper == Upper::AwaitsStep;
        }
        Ok(())
    }

    /// What the shell tells the engine of a stop.
    pub(super) fn see(&mut self, number: usize) -> Option<Input> {
        let thread = thread_of(number);
        let wanted = self.wanted;
        let stepping = self.engine.thread_state(thread) == Some(ThreadState::Stepping);
        let passed = self.engine.reported_at(thread).filter(|_| stepping);
        let processor = &mut self.processors[number];
        let place = processor.counter.place();
        let unowned = wanted[place].is_empty();
        if processor.is_held_behind_trap() {
            // It goes no further than to that stop.
            processor.stop = processor.queued.take();
            return None;
        }
        let stop = processor.stop.take()?;
        processor.motion = None;
        processor.hold_requested = false;
        if matches!(stop, Stop::Start | Stop::Signal | Stop::Fault) {
            processor.upper = Upper::Has;
            processor.stepped = false;
            let told = processor.told_mut();
            told.vague |= unowned && !told.owners.is_empty();
        }
        let stack = processor.stack();
        let address = processor.counter.shown();
        Some(match stop {
            Stop::Start => Input::Started { thread },
            Stop::Trap => Input::Trapped {
                thread,
                address: address_of(place),
                stack,
            },
            Stop::Trace => Input::Stepped { thread, address },
            Stop::Hold => Input::Stopped { thread, address },
            Stop::Signal => {
                processor.signalled = true;
                Input::Interrupted { thread, address }
            }
            Stop::Fault
                if passed == Some(address) || matches!(processor.counter, Counter::InCopy(_)) =>
            {
                processor.counter = Counter::At(place);
                Input::Faulted {
                    thread,
                    address,
                    stack,
                }
            }
            Stop::Fault => Input::Interrupted { thread, address },
            // The first is held until the copy is followed.
            Stop::Fork | Stop::Vfork => {
                processor.mode = Mode::Parked;
                Input::Parked { thread, address }
            }
            Stop::VforkDone => Input::Unparked { thread },
            Stop::End => Input::Ended { thread },
            Stop::Exec => {
                processor.upper = Upper::Has;
                self.replaced_by = None;
                // Those who shared it have ended meanwhile.
                self.lose_memory();
                Input::Executed { thread }
            }
        })
    }

    /// A stop that concerns the program alone, or nobody: the thread goes on as it went,
    /// unless the engine wants it to stop.
    pub(super) fn see_quietly(&mut self, number: usize) -> Result<(), String> {
        let thread = thread_of(number);
        let processor = &mut self.processors[number];
        let stop = processor.stop.take();
        processor.signalled |= stop == Some(Stop::Signal);
        if stop == Some(Stop::Fork) && processor.motion == Some(Motion::Step) {
            // Its step has been made, but for the end.
            return self.let_go(thread, Motion::Step);
        }
        if std::mem::take(&mut processor.hold_requested) {
            processor.motion = None;
            let address = processor.counter.shown();
            return self.tell(Input::Stopped { thread, address });
        }
        match processor.motion {
            Some(motion) => self.let_go(thread, motion),
            None => Ok(()),
        }
    }

    pub(super) fn command(&mut self, program: &Program, input: Input) -> Result<(), String> {
        match input {
            Input::Resume { thread } => self.processor(thread).upper = Upper::Lets,
            Input::Step { thread } => {
                self.left.steps -= 1;
                let processor = self.processor(thread);
                processor.upper = Upper::AwaitsStep;
                processor.stepped = false;
            }
            Input::Halt { thread } => {
                self.left.halts -= 1;
                self.processor(thread).halting = true;
            }
            Input::Insert { address, owner, .. } => {
                let place = Counter::from_address(address).place();
                match owner {
                    Owner::Developer | Owner::Scenario => self.left.inserts -= 1,
                    _ => self.left.toggles = self.left.toggles.saturating_sub(1),
                }
                self.wanted[place] |= Owners::from(owner);
            }
            Input::Remove { address, owner } => {
                let place = Counter::from_address(address).place();
                self.left.toggles -= 1;
                self.wanted[place] -= Owners::from(owner);
                self.armed[place] &= self.wanted[place];
                if self.wanted[place].is_empty() {
                    self.forget(place);
                }
            }
            Input::Suspend { thread } => {
                self.left.evaluations -= 1;
                if self.wanted[RETURN].is_empty() {
                    // The program before had it.
                    self.want_return(program)?;
                }
                self.processor(thread).suspend();
                self.tell(input)?;
                let address = address_of(I);
                return self.tell(Input::Jumped { thread, address });
            }
            Input::Restore { thread, depth } => self.processor(thread).restore(depth),
            Input::Discard { thread, depth } => {
                // It jumps back into the program, out of handlers, too.
                self.processor(thread).suspended.truncate(depth);
                self.processor(thread).interrupts = None;
                self.processor(thread).jump(OUTSIDE);
                self.tell(input)?;
                let address = address_of(OUTSIDE);
                return self.tell(Input::Jumped { thread, address });
            }
            Input::Jumped { thread, address } => {
                self.left.jumps -= 1;
                let place = Counter::from_address(address).place();
                self.processor(thread).jump(place);
            }
            _ => {}
        }
        self.tell(input)?;
        if let Input::Insert { address, .. } = input {
            let place = Counter::from_address(address).place();
            if self.trap[place] {
                self.armed[place] = self.wanted[place];
            }
        }
        Ok(())
    }

    /// The last owner left: only a thread that stands there in sight of the
    /// engine is still known to have been told.
    fn forget(&mut self, place: Place) {
        for processor in &mut self.processors {
            let handed_in = processor.stop.is_none() && processor.queued.is_none();
            let in_sight = processor.counter == Counter::Behind(place) && handed_in;
            let inner = usize::from(processor.interrupts.is_some());
            forget_told(&mut processor.told, in_sight, inner);
            for saved in &mut processor.suspended {
                let inner = usize::from(saved.interrupts.is_some());
                forget_told(
                    &mut saved.told,
                    saved.counter == Counter::Behind(place),
                    inner,
                );
            }
        }
    }

    pub(super) fn carry_out(&mut self, program: &Program) -> Result<(), String> {
        let Some(order) = self.orders.pop_front() else {
            return Ok(());
        };
        if let Operation::RestoreCopied { process, .. }
        | Operation::PlantCopied { process, .. }
        | Operation::ReleaseCopy { process } = order
        {
            return self.carry_out_in_copy(process, order);
        }
        if self.is_about_the_past(&order) {
            return Ok(());
        }
        match order {
            Operation::Plant { address } => {
                let place = Counter::from_address(address).place();
                self.trap[place] = true;
                self.armed[place] = self.wanted[place];
            }
            Operation::Lift { address } => {
                self.trap[Counter::from_address(address).place()] = false
            }
            Operation::HoldThread { thread } => {
                let processor = self.processor(thread);
                if processor.mode == Mode::Stopped && processor.stop.is_none() {
                    return Err("a thread is held that has stopped".to_owned());
                }
                processor.interrupted = processor.mode != Mode::Dead;
                processor.hold_requested = true;
            }
            Operation::SetCounter { thread, address } => {
                self.set_counter(program, thread, address)?
            }
            Operation::EmulateCall { thread, to, .. } => self.emulate(program, thread, to)?,
            Operation::FindFollowSet { thread, address } => {
                let follow = self.find_follow_set(program, thread, address);
                self.tell(Input::FollowSet {
                    thread,
                    address,
                    follow,
                })?;
            }
            Operation::RunToFollowSet { thread } => self.let_go(thread, Motion::ToTraps)?,
            Operation::StepThread { thread } => self.let_go(thread, Motion::Step)?,
            Operation::ContinueThread { thread } => self.let_go(thread, Motion::Free)?,
            Operation::Report {
                thread,
                address,
                owners,
            } => {
                let processor = self.processor(thread);
                if processor.counter.shown() != address + 1 {
                    return Err("an arrival is reported of a thread that is not there".to_owned());
                }
                if std::mem::take(&mut processor.stepped) {
                    return Err("a step is not reported".to_owned());
                }
                let is_silent = processor.shares_with.is_some();
                if !is_silent {
                    processor.upper = Upper::Has;
                }
                let told = processor.told_mut();
                if told.owners.intersects(owners) && !told.vague {
                    return Err("the same execution is reported twice".to_owned());
                }
                told.owners |= owners;
                if is_silent {
                    self.tell(Input::Resume { thread })?;
                }
            }
            Operation::ReportStep { thread, .. } => {
                let processor = self.processor(thread);
                processor.stepped = false;
                processor.upper = Upper::Has;
            }
            Operation::ReportHalted { thread } => {
                let processor = self.processor(thread);
                processor.halting = false;
                processor.stepped = false;
                processor.upper = Upper::Has;
            }
            Operation::Unexplained { thread, .. } => {
                // No program of ours has traps of its own: go back.
                let processor = self.processor(thread);
                processor.counter = Counter::At(processor.counter.place());
                processor.upper = Upper::Has;
            }
            Operation::RestoreCopied { .. }
            | Operation::PlantCopied { .. }
            | Operation::ReleaseCopy { .. } => {}
        }
        Ok(())
    }

    fn set_counter(
        &mut self,
        program: &Program,
        thread: ThreadId,
        address: u64,
    ) -> Result<(), String> {
        let wanted = self.wanted;
        let processor = self.processor(thread);
        if processor.mode != Mode::Stopped || processor.stop.is_some() {
            return Err("a program counter is set of a thread that moves".to_owned());
        }
        let to = Counter::from_address(address);
        if let (Counter::InCopy(place), Counter::Behind(_)) = (to, processor.counter) {
            let told = *processor.told_mut();
            if !told.vague {
                demand(wanted[place], told.owners)?;
            }
            processor.told_mut().vague |= wanted[place].is_empty();
        }
        if program.way == Way::Skip && to != Counter::At(processor.counter.place()) {
            return self.emulate(program, thread, address);
        }
        processor.counter = to;
        Ok(())
    }

    /// The shell does what the instruction would do.
    fn emulate(&mut self, program: &Program, thread: ThreadId, to: u64) -> Result<(), String> {
        let wanted = self.wanted;
        let processor = self.processor(thread);
        let place = processor.counter.place();
        let leads_there = address_of(program.followers(place)[0]) == to;
        if processor.counter != Counter::Behind(place) || !leads_there {
            return Err("an instruction is emulated where the thread is not".to_owned());
        }
        let told = *processor.told_mut();
        processor.executed(program.followers(place)[0]);
        if told.vague {
            Ok(())
        } else {
            demand(wanted[place], told.owners)
        }
    }

    /// The shell cannot push the return address: it drops what follows for
    /// the thread, and says so.
    pub(super) fn fail_push(&mut self) -> Result<(), String> {
        let Some(Operation::EmulateCall { thread, .. }) = self.orders.pop_front() else {
            return Ok(());
        };
        self.left.faults -= 1;
        self.orders.retain(|order| match order {
            Operation::ContinueThread { thread: id } => *id != thread,
            Operation::ReportStep { thread: id, .. } => *id != thread,
            _ => true,
        });
        let processor = self.processor(thread);
        let address = address_of(processor.counter.place());
        let stack = processor.stack();
        self.tell(Input::Faulted {
            thread,
            address,
            stack,
        })
    }

    /// What follows the instruction; nothing where a system call returns from
    /// a handler.
    fn find_follow_set(
        &mut self,
        program: &Program,
        thread: ThreadId,
        address: u64,
    ) -> Option<FollowSet> {
        let place = Counter::from_address(address).place();
        if program.may_be_call(place) {
            return None;
        }
        let processor = self.processor(thread);
        let mut follow = program
            .followers(place)
            .iter()
            .map(|next| address_of(processor.successor(*next)));
        let first = follow.next().filter(|_| place != HANDLER_END)?;
        Some(FollowSet::two(first, follow.next().unwrap_or(first)))
    }

    fn let_go(&mut self, thread: ThreadId, motion: Motion) -> Result<(), String> {
        let processor = self.processor(thread);
        if processor.mode == Mode::Dead {
            return Ok(());
        }
        if processor.mode != Mode::Stopped || processor.stop.is_some() {
            return Err("a thread is let go that moves".to_owned());
        }
        let trapped = processor.queued == Some(Stop::Trap);
        if matches!(processor.counter, Counter::Behind(_)) && !trapped {
            return Err("a thread goes on in the middle of an instruction".to_owned());
        }
        if processor.upper == Upper::Has {
            return Err("a thread is let go that waits to be resumed".to_owned());
        }
        let place = processor.counter.place();
        if processor.go(motion) {
            let address = address_of(place);
            self.tell(Input::Signalled { thread, address })?;
        }
        Ok(())
    }

    /// What must hold at every moment.
    pub(super) fn check(&self) -> Result<(), String> {
        let moving = self
            .processors
            .iter()
            .filter(|processor| processor.moves())
            .count();
        let bounded = |processor: &Processor| processor.motion == Some(Motion::ToTraps);
        if moving > 1 && self.processors.iter().any(bounded) {
            return Err("another thread may run into the traps of a step".to_owned());
        }
        for place in 0..PLACES {
            let owned = !self.armed[place].is_empty();
            if owned && !self.trap[place] && moving > 1 {
                return Err(
                    "the original instruction is back while another thread may run".to_owned(),
                );
            }
            let owned = !self.wanted[place].is_empty() || self.processors.iter().any(bounded);
            if self.orders.is_empty() && !owned && self.trap[place] {
                return Err("a trap stays that nobody owns".to_owned());
            }
        }
        Ok(())
    }
}

/// What was told is vague now, but for the execution that is `in_sight`.
fn forget_told(told: &mut [Told; 2], in_sight: bool, inner: usize) {
    for (depth, told) in told.iter_mut().enumerate() {
        told.vague |= !(told.owners.is_empty() || in_sight && depth == inner);
    }
}

/// Every owner has to have been told; what the person at the prompt saw by
/// the thread's standing there counts as told.
fn demand(owners: Owners, told: Owners) -> Result<(), String> {
    let seen = if told.is_empty() {
        told
    } else {
        told | Owners::DEVELOPER
    };
    if seen.contains(owners) {
        Ok(())
    } else {
        Err("an execution is not reported".to_owned())
    }
}
