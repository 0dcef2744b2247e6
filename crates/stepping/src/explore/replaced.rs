//! A program that is replaced: its memory is gone, with all threads but one.
//!
//! A thread that was made by a `vfork` keeps the memory. The shell sees all that
//! share it to a stand, takes the traps out of it and lets them go; only then
//! it tells the engine of the new program.

use super::machine::State;
use super::processor::{Mode, PLACES, Processor, Stop, Upper, thread_of};
use crate::{Input, Operation, Owners};

impl State {
    /// A thread replaces the program.
    pub(super) fn replace(&mut self, number: usize) {
        for (other, processor) in self.processors.iter_mut().enumerate() {
            let is_apart = processor.shares() || self.followed_program == Some(other);
            if processor.mode != Mode::NotStarted && !is_apart {
                // Of a thread that was telling of a copy it is seen that it ends.
                let tells = processor.stop == Some(Stop::Fork);
                processor.replace(other == number);
                processor.stop = processor.stop.or(tells.then_some(Stop::End));
            }
        }
        self.replaced_by = Some(number);
        if !self.is_shared() {
            self.lose_memory();
        }
    }

    pub(super) fn lose_memory(&mut self) {
        self.trap = [false; PLACES];
        self.wanted = [Owners::empty(); PLACES];
        self.armed = [Owners::empty(); PLACES];
    }

    /// Whether there is a thread that was made by a `vfork`.
    pub(super) fn is_shared(&self) -> bool {
        self.processors.iter().any(Processor::shares)
    }

    /// Whether an order is about what is gone with the program before.
    pub(super) fn is_about_the_past(&self, order: &Operation) -> bool {
        let mover = order.thread().map(|thread| thread.0 as usize - 1);
        if mover.is_some() && mover == self.followed_program {
            return true;
        }
        self.replaced_by.is_some()
            && match mover {
                None => !self.is_shared(),
                Some(number) => !self.processors[number].shares(),
            }
    }

    /// The shell sees that the program has been replaced, and has those stand
    /// that share the memory of the one before.
    pub(super) fn begin_to_leave(&mut self, number: usize) -> Result<(), String> {
        self.leaves_memory = true;
        let left = &mut self.processors[number];
        left.stop = None;
        left.upper = Upper::Has;
        let address = left.counter.shown();
        let thread = thread_of(number);
        self.feed(Input::Interrupted { thread, address })?;
        for other in 0..self.processors.len() {
            let thread = thread_of(other);
            if other == number || self.engine.thread_state(thread).is_none() {
                continue;
            }
            match self.processors[other].shares() {
                true => self.halt(other)?,
                false => self.feed(Input::Ended { thread })?,
            }
        }
        Ok(())
    }

    /// Whether all stand that the shell waits for.
    pub(super) fn can_leave(&self) -> bool {
        let stands = |processor: &Processor| {
            processor.upper == Upper::Has && processor.stop.is_none() && !processor.moves()
        };
        let mut vfork_children = self.processors.iter().filter(|it| it.shares());
        self.leaves_memory && self.orders.is_empty() && vfork_children.all(stands)
    }

    /// The shell takes the traps out of the old memory, lets those go that have
    /// it, and is with the new program.
    pub(super) fn leave(&mut self) -> Result<(), String> {
        let Some(number) = self.replaced_by.take() else {
            return Ok(());
        };
        for processor in self.processors.iter_mut().filter(|it| it.shares()) {
            if processor.queued.is_some() {
                return Err("a process is let go into the stop of its trap".to_owned());
            }
            *processor = Processor::new(Mode::Dead);
        }
        self.leaves_memory = false;
        if self.followed.is_some() {
            return self.switch_from_replaced();
        }
        self.lose_memory();
        let thread = thread_of(number);
        self.feed(Input::Executed { thread })
    }
}
