//! Processes that the program makes: copies of its memory by `fork`, and one
//! more thread in the same memory by `vfork`.
//!
//! The kernel copies the memory at once. The shell gets the report of the
//! parent and sees the new process some time later. A copy is released or
//! followed; one that runs alone is out of sight, so its text is checked when
//! it is released. A thread made by `vfork` goes through the program as any
//! other until it ends, and its parent waits in the kernel all that time.

use super::machine::State;
use super::processor::{
    Counter, EXIT, Mode, Notified, PLACES, Place, Processor, RETURN, Stop, Upper, address_of,
    thread_of,
};
use super::program::Program;
use crate::{Input, Operation, Owner, Owners, ThreadId};

/// A process that has a copy of the memory, and is stopped.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ForkCopy {
    pub(super) process: ThreadId,
    pub(super) parent: usize,
    /// The places at which it holds a trap.
    trap: [bool; PLACES],
    /// It holds the jump of the patch at I.
    patched: bool,
    counter: Counter,
    interrupts: Option<Counter>,
    notified: [Notified; 2],
    /// The number of evaluations in which it was made.
    evaluations: usize,
    /// The shell knows of it: from the thread that made it, or by the end of
    /// that thread.
    pub(super) is_reported: bool,
}

impl State {
    /// The instruction is a `fork`.
    pub(super) fn fork(
        &mut self,
        program: &Program,
        number: usize,
        next: Place,
    ) -> Result<(), String> {
        self.run_instruction(number, next)?;
        let earlier = usize::from(program.budget.forks - self.left.forks);
        self.left.forks -= 1;
        let processor = &mut self.processors[number];
        processor.in_call = true;
        processor.stop(Stop::Fork);
        self.forks.push(ForkCopy {
            process: thread_of(program.processors() + earlier),
            parent: number,
            trap: self.trap,
            patched: self.patched,
            counter: processor.counter,
            interrupts: processor.interrupts,
            notified: processor.notified,
            evaluations: processor.abandoned + processor.suspended.len(),
            is_reported: false,
        });
        Ok(())
    }

    /// The instruction is a `vfork`.
    pub(super) fn vfork(&mut self, number: usize, next: Place) -> Result<(), String> {
        self.run_instruction(number, next)?;
        self.left.vforks -= 1;
        let processor = &mut self.processors[number];
        processor.in_call = true;
        processor.stop(Stop::Vfork);
        let child = Processor {
            counter: processor.counter,
            interrupts: processor.interrupts,
            notified: processor.notified,
            stop: Some(Stop::Start),
            shares_with: Some(number),
            ..Processor::new(Mode::Stopped)
        };
        let is_not_started = |it: &&mut Processor| it.mode == Mode::NotStarted;
        if let Some(place) = self.processors.iter_mut().rev().find(is_not_started) {
            *place = child;
        }
        Ok(())
    }

    /// Wakes the parent of a vfork child that is gone, or runs another program.
    pub(super) fn wake_parent(&mut self, number: usize) {
        if let Some(parent) = self.processors[number].shares_with
            && self.processors[parent].mode == Mode::Parked
        {
            self.processors[parent].stop(Stop::VforkDone);
        }
    }

    /// Returns true if a thread can be killed while it stands where it has
    /// forked: its copy has not been seen.
    pub(super) fn may_be_killed_in_fork(&self, number: usize) -> bool {
        let processor = &self.processors[number];
        processor.stop == Some(Stop::Fork)
            || processor.mode == Mode::Parked && self.forks.iter().any(|it| it.parent == number)
    }

    /// The shell learns of the copies that a thread has made: the thread
    /// reports them, or has ended. A thread that ended without a report has
    /// executed the system call.
    pub(super) fn report_forks(&mut self, follows: bool, number: usize) -> Result<(), String> {
        let parent = thread_of(number);
        let is_dead = self.processors[number].mode == Mode::Dead;
        for index in 0..self.forks.len() {
            let fork = &mut self.forks[index];
            if fork.parent != number || std::mem::replace(&mut fork.is_reported, true) {
                continue;
            }
            let (process, address) = (fork.process, fork.counter.shown());
            if follows && is_dead {
                let thread = parent;
                self.feed(Input::Parked { thread, address })?;
            }
            if follows {
                self.feed(Input::ForkMade { process, parent })?;
            }
        }
        Ok(())
    }

    /// Returns true if the shell can see the stop of a thread: the start of a
    /// vfork child only after the report of its parent.
    pub(super) fn is_in_sight(&self, number: usize) -> bool {
        let processor = &self.processors[number];
        let parent = processor.shares_with.map(|parent| &self.processors[parent]);
        match processor.stop {
            Some(Stop::Start) => parent.is_none_or(|parent| parent.stop != Some(Stop::Vfork)),
            // The copies need what is forgotten with the program.
            Some(Stop::Exec) => {
                let mut forks = self.forks.iter();
                forks.all(|fork| self.followed == Some(fork.process))
            }
            _ => true,
        }
    }

    /// The shell sees that a copy is stopped.
    pub(super) fn see_fork(&mut self, program: &Program, index: usize) -> Result<(), String> {
        let process = self.forks[index].process;
        if !program.follows || self.is_switching() {
            return self.feed(Input::ForkStopped { process });
        }
        let is_evaluating = |it: &Processor| it.abandoned + it.suspended.len() > 0;
        if program.adopts && self.processors.iter().any(is_evaluating) {
            let parent = self.forks[index].parent;
            self.feed(Input::ForkStopped { process })?;
            return self.unpark(parent);
        }
        if program.adopts {
            return self.adopt(program, index);
        }
        self.followed = Some(process);
        (0..self.processors.len()).try_for_each(|number| self.halt(number))
    }

    /// Returns true if all threads are stopped for the switch to the followed
    /// copy.
    pub(super) fn can_switch(&self) -> bool {
        let stands = |processor: &Processor| match processor.mode {
            Mode::Dead | Mode::NotStarted => processor.stop.is_none(),
            _ => processor.upper == Upper::Has && processor.stop.is_none() && !processor.moves(),
        };
        self.followed.is_some()
            && self.forks.len() == 1
            && self.orders.is_empty()
            && self.processors.iter().all(stands)
    }

    /// The shell releases the process, and switches to the copy.
    pub(super) fn switch(&mut self) -> Result<(), String> {
        self.give_up_evaluations()?;
        self.go_over()
    }

    fn go_over(&mut self) -> Result<(), String> {
        let Some(fork) = self.forks.pop() else {
            return Ok(());
        };
        self.followed = None;
        let thread = self.begin_fork(&fork);
        self.feed(Input::ForkFollowed { thread })?;
        self.settle_in(fork)
    }

    /// Returns true if the program has been replaced of which the followed
    /// process has a copy, and no process has the old memory any more.
    pub(super) fn can_switch_from_replaced(&self) -> bool {
        let replaces = |processor: &Processor| processor.stop == Some(Stop::Exec);
        self.followed.is_some()
            && self.forks.len() == 1
            && self.orders.is_empty()
            && !self.is_shared()
            && self.processors.iter().any(replaces)
    }

    /// The shell releases the new program, and switches to the copy of the old
    /// one.
    pub(super) fn switch_from_replaced(&mut self) -> Result<(), String> {
        self.replaced_by = None;
        for number in 0..self.processors.len() {
            let thread = thread_of(number);
            self.feed(Input::Ended { thread })?;
        }
        if self.engine.is_site(address_of(RETURN)) {
            self.feed(Input::Remove {
                address: address_of(RETURN),
                owner: Owner::Internal,
            })?;
        }
        // They concern what is gone.
        self.orders.clear();
        self.recall_wanted();
        self.go_over()
    }

    /// Gives a copy the points that its program had, also if that is replaced.
    fn recall_wanted(&mut self) {
        self.wanted = [Owners::empty(); PLACES];
        for (address, owners, _) in self.engine.sites() {
            self.wanted[Counter::from_address(address).place()] = owners;
        }
    }

    /// Continues a thread that stands where it has forked, after its copy was
    /// seen.
    fn unpark(&mut self, number: usize) -> Result<(), String> {
        let maker = &mut self.processors[number];
        if maker.mode != Mode::Parked {
            return Ok(());
        }
        maker.mode = Mode::Stopped;
        self.feed(Input::Unparked {
            thread: thread_of(number),
        })
    }

    /// Gives the copy an engine of its own. The process that made it stays with
    /// the other engine.
    fn adopt(&mut self, program: &Program, index: usize) -> Result<(), String> {
        let mut fork = self.forks[index].clone();
        let process = fork.process;
        let inheritance: Vec<Input> = self.engine.inheritance(process).collect();
        self.feed(Input::ForkStopped { process })?;
        while let Some(order) = self.orders.pop_front() {
            match order {
                Operation::ReleaseFork { .. } => fork.demand_no_trap()?,
                order => fork.carry_out(order)?,
            }
        }
        self.forks.clear();
        self.replaced_by = None;
        self.recall_wanted();
        let made = std::mem::replace(&mut self.engine, program.new_engine());
        let thread = self.begin_fork(&fork);
        self.feed(Input::Started { thread })?;
        for (address, owner, count, step_over) in made.inserts() {
            for _ in 0..count {
                self.feed(Input::Insert {
                    address,
                    owner,
                    step_over,
                })?;
            }
        }
        for input in inheritance {
            self.feed(input)?;
        }
        while let Some(order) = self.orders.pop_front() {
            match order {
                Operation::InsertTrap { address } => {
                    fork.trap[Counter::from_address(address).place()] = true;
                }
                _ => return Err("an operation concerns the process that was left".to_owned()),
            }
        }
        self.trap = fork.trap;
        self.patched = false;
        self.armed = self.wanted;
        Ok(())
    }

    /// Begins the only thread of a copy.
    fn begin_fork(&mut self, fork: &ForkCopy) -> ThreadId {
        for processor in &mut self.processors {
            if processor.mode != Mode::NotStarted {
                *processor = Processor::new(Mode::Dead);
            }
        }
        let number = fork.process.0 as usize - 1;
        while self.processors.len() <= number {
            self.processors.push(Processor::new(Mode::Dead));
        }
        self.processors[number] = Processor {
            counter: fork.counter,
            // The copy ends where the evaluation returns to.
            interrupts: fork.interrupts.map(|it| match it.place() {
                RETURN => Counter::At(EXIT),
                _ => it,
            }),
            notified: fork.notified,
            upper: Upper::Has,
            abandoned: fork.evaluations,
            ..Processor::new(Mode::Stopped)
        };
        fork.process
    }

    /// Carries out the operations about the copy, whose memory becomes the
    /// program's.
    fn settle_in(&mut self, mut fork: ForkCopy) -> Result<(), String> {
        while let Some(order) = self.orders.pop_front() {
            fork.carry_out(order)?;
        }
        if fork.patched {
            return Err("a copy is followed with a jump in its text".to_owned());
        }
        self.patched = false;
        self.trap = fork.trap;
        self.armed = self.wanted;
        Ok(())
    }

    /// Moves the threads of the process that is released back to where they
    /// were before their evaluations, none of which returns any more.
    fn give_up_evaluations(&mut self) -> Result<(), String> {
        for number in 0..self.processors.len() {
            if !self.processors[number].suspended.is_empty() {
                let (thread, depth) = (thread_of(number), 0);
                self.feed(Input::Restore { thread, depth })?;
            }
        }
        if std::mem::replace(&mut self.wanted[RETURN], Owners::empty()).is_empty() {
            return Ok(());
        }
        self.feed(Input::Remove {
            address: address_of(RETURN),
            owner: Owner::Internal,
        })?;
        // They concern the process that is released, without any trap.
        self.orders.clear();
        Ok(())
    }

    /// Carries out an operation about a copy that is not followed.
    pub(super) fn carry_out_in_fork(
        &mut self,
        process: ThreadId,
        order: Operation,
    ) -> Result<(), String> {
        let known = |fork: &ForkCopy| fork.process == process;
        let Some(index) = self.forks.iter().position(known) else {
            return Err("an operation concerns a copy that is gone".to_owned());
        };
        if !matches!(order, Operation::ReleaseFork { .. }) {
            return self.forks[index].carry_out(order);
        }
        self.forks.remove(index).demand_no_trap()
    }
}

impl ForkCopy {
    /// As [`State::forget`], for a copy.
    pub(super) fn forget(&mut self) {
        for notified in &mut self.notified {
            notified.vague |= !notified.owners.is_empty();
        }
    }

    fn demand_no_trap(&self) -> Result<(), String> {
        if self.patched {
            return Err("a process is released with a jump in its text".to_owned());
        }
        if self.trap.contains(&true) {
            Err("a process is released with a trap in its text".to_owned())
        } else {
            Ok(())
        }
    }

    fn carry_out(&mut self, order: Operation) -> Result<(), String> {
        match order {
            Operation::RestorePatchInFork { .. } => self.patched = false,
            Operation::RestoreInFork { address, .. } => {
                self.trap[Counter::from_address(address).place()] = false;
            }
            Operation::InsertInFork { address, .. } => {
                self.trap[Counter::from_address(address).place()] = true;
            }
            _ => return Err("an operation concerns the process that was left".to_owned()),
        }
        Ok(())
    }
}
