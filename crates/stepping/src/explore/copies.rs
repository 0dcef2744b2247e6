//! Processes that the program makes: copies of its memory by `fork`, and one
//! more thread in the same memory by `vfork`.
//!
//! The kernel copies the memory at once. The shell hears of it from the parent
//! and sees the new process some time later. A copy is let go or followed; one
//! that runs alone is out of sight, so its text is looked at when it is let go.
//! A thread made by `vfork` goes through the program as any other until it
//! ends, and the one that made it waits in the kernel all that time.

use super::machine::State;
use super::processor::{
    Counter, EXIT, Mode, PLACES, Place, Processor, RETURN, Stop, Told, Upper, address_of, thread_of,
};
use super::program::Program;
use crate::{Input, Operation, Owner, Owners, ThreadId};

/// A process that has a copy of the memory, and stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Copied {
    pub(super) process: ThreadId,
    pub(super) parent: usize,
    /// Where it holds a trap.
    trap: [bool; PLACES],
    counter: Counter,
    interrupts: Option<Counter>,
    told: [Told; 2],
    /// How many evaluations it was made in.
    evaluations: usize,
}

impl State {
    /// The instruction is a `fork`.
    pub(super) fn fork(&mut self, number: usize, next: Place) -> Result<(), String> {
        self.run_instruction(number, next)?;
        self.left.forks -= 1;
        let processor = &mut self.processors[number];
        processor.in_call = true;
        processor.stop(Stop::Fork);
        self.copies.push(Copied {
            process: ThreadId(100 + u32::from(self.left.forks)),
            parent: number,
            trap: self.trap,
            counter: processor.counter,
            interrupts: processor.interrupts,
            told: processor.told,
            evaluations: processor.abandoned + processor.suspended.len(),
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
            told: processor.told,
            stop: Some(Stop::Start),
            shares_with: Some(number),
            ..Processor::new(Mode::Stopped)
        };
        let unborn = |it: &&mut Processor| it.mode == Mode::Unborn;
        if let Some(place) = self.processors.iter_mut().rev().find(unborn) {
            *place = child;
        }
        Ok(())
    }

    /// The thread that was made by a `vfork` is gone, or runs another program.
    pub(super) fn wake_parent(&mut self, number: usize) {
        if let Some(parent) = self.processors[number].shares_with
            && self.processors[parent].mode == Mode::Parked
        {
            self.processors[parent].stop(Stop::VforkDone);
        }
    }

    /// Whether the shell can know of a copy: from the parent, or since the
    /// parent is gone without a word.
    pub(super) fn is_announced(&self, copy: &Copied) -> bool {
        self.processors[copy.parent].stop != Some(Stop::Fork)
    }

    /// Whether the shell can see the stop of a thread: the start of one that
    /// was made by a `vfork` after its parent has told of it.
    pub(super) fn is_in_sight(&self, number: usize) -> bool {
        let processor = &self.processors[number];
        let parent = processor.shares_with.map(|parent| &self.processors[parent]);
        match processor.stop {
            Some(Stop::Start) => parent.is_none_or(|parent| parent.stop != Some(Stop::Vfork)),
            // What is forgotten with the program is needed for its copies.
            Some(Stop::Exec) => self.copies.is_empty(),
            _ => true,
        }
    }

    /// The shell sees that a copy stands.
    pub(super) fn see_copy(&mut self, program: &Program, index: usize) -> Result<(), String> {
        let process = self.copies[index].process;
        if !program.follows || self.is_switching() {
            return self.tell(Input::Copied { process });
        }
        self.followed = Some(process);
        (0..self.processors.len()).try_for_each(|number| self.halt(number))
    }

    /// Whether the memory of which the followed process has a copy is gone.
    pub(super) fn must_stop_following(&self) -> bool {
        let replaces = |processor: &Processor| processor.stop == Some(Stop::Exec);
        self.followed.is_some() && self.processors.iter().any(replaces)
    }

    /// The copy goes its own way, while what it needs is remembered.
    pub(super) fn stop_following(&mut self) -> Result<(), String> {
        match self.followed.take() {
            Some(process) => self.tell(Input::Copied { process }),
            None => Ok(()),
        }
    }

    /// Whether all stands for the shell to go over to the followed copy.
    pub(super) fn can_switch(&self) -> bool {
        let stands = |processor: &Processor| match processor.mode {
            Mode::Dead | Mode::Unborn => processor.stop.is_none(),
            _ => processor.upper == Upper::Has && processor.stop.is_none() && !processor.moves(),
        };
        self.followed.is_some()
            && self.copies.len() == 1
            && self.orders.is_empty()
            && self.processors.iter().all(stands)
    }

    /// The shell lets the process go, and is with the copy from here on.
    pub(super) fn switch(&mut self) -> Result<(), String> {
        let Some(mut copy) = self.copies.pop() else {
            return Ok(());
        };
        self.followed = None;
        self.give_up_evaluations()?;
        for processor in &mut self.processors {
            if processor.mode != Mode::Unborn {
                *processor = Processor::new(Mode::Dead);
            }
        }
        self.processors.push(Processor {
            counter: copy.counter,
            // Where the evaluation returns to, the copy ends.
            interrupts: copy.interrupts.map(|it| match it.place() {
                RETURN => Counter::At(EXIT),
                _ => it,
            }),
            told: copy.told,
            upper: Upper::Has,
            abandoned: copy.evaluations,
            ..Processor::new(Mode::Stopped)
        });
        let thread = thread_of(self.processors.len() - 1);
        let parent = thread_of(copy.parent);
        self.tell(Input::Followed { thread, parent })?;
        while let Some(order) = self.orders.pop_front() {
            copy.carry_out(order)?;
        }
        self.trap = copy.trap;
        self.armed = self.wanted;
        Ok(())
    }

    /// The threads of the process that is let go are put back where they were
    /// before their evaluations, and none of these returns any more.
    fn give_up_evaluations(&mut self) -> Result<(), String> {
        for number in 0..self.processors.len() {
            if !self.processors[number].suspended.is_empty() {
                let (thread, depth) = (thread_of(number), 0);
                self.tell(Input::Restore { thread, depth })?;
            }
        }
        if std::mem::replace(&mut self.wanted[RETURN], Owners::empty()).is_empty() {
            return Ok(());
        }
        self.tell(Input::Remove {
            address: address_of(RETURN),
            owner: Owner::Internal,
        })?;
        // They are about the process that is let go, without any trap.
        self.orders.clear();
        Ok(())
    }

    /// An order about a copy that is not followed.
    pub(super) fn carry_out_in_copy(
        &mut self,
        process: ThreadId,
        order: Operation,
    ) -> Result<(), String> {
        let known = |copy: &Copied| copy.process == process;
        let Some(index) = self.copies.iter().position(known) else {
            return Err("an order is about a copy that is gone".to_owned());
        };
        if !matches!(order, Operation::ReleaseCopy { .. }) {
            return self.copies[index].carry_out(order);
        }
        let copy = self.copies.remove(index);
        match copy.trap.contains(&true) {
            true => Err("a process is let go with a trap in its text".to_owned()),
            false => Ok(()),
        }
    }
}

impl Copied {
    fn carry_out(&mut self, order: Operation) -> Result<(), String> {
        match order {
            Operation::RestoreCopied { address, .. } => {
                self.trap[Counter::from_address(address).place()] = false;
            }
            Operation::PlantCopied { address, .. } => {
                self.trap[Counter::from_address(address).place()] = true;
            }
            _ => return Err("an order is about the process that was left".to_owned()),
        }
        Ok(())
    }
}
