//! A program that is replaced: its memory is gone, with all threads but one.
//!
//! A vfork child keeps the memory. The shell waits until all that share it are
//! stopped, removes the traps and releases them; only then it passes the new
//! program to the engine.

use super::machine::State;
use super::processor::{Mode, PLACES, Processor, Stop, Upper, thread_of};
use crate::{Input, Operation, Owners};

impl State {
    /// A thread replaces the program.
    pub(super) fn replace(&mut self, number: usize) {
        for (other, processor) in self.processors.iter_mut().enumerate() {
            let is_apart = processor.shares() || self.followed_program == Some(other);
            if processor.mode != Mode::NotStarted && !is_apart {
                // Of a thread that was reporting a copy, the end is seen.
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
        self.patched = false;
        self.wanted = [Owners::empty(); PLACES];
        self.armed = [Owners::empty(); PLACES];
    }

    /// Returns true if there is a vfork child.
    pub(super) fn is_shared(&self) -> bool {
        self.processors.iter().any(Processor::shares)
    }

    /// Returns true if an operation concerns what is gone with the former
    /// program.
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

    /// The shell sees that the program has been replaced, and stops those that
    /// share the memory of the former one.
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
            if self.processors[other].shares() {
                self.halt(other)?
            } else {
                self.feed(Input::Ended { thread })?
            }
        }
        Ok(())
    }

    /// Returns true if all threads are stopped for which the shell waits.
    pub(super) fn can_leave(&self) -> bool {
        let stands = |processor: &Processor| {
            processor.upper == Upper::Has && processor.stop.is_none() && !processor.moves()
        };
        let mut vfork_children = self.processors.iter().filter(|it| it.shares());
        self.leaves_memory && self.orders.is_empty() && vfork_children.all(stands)
    }

    /// The shell removes the traps from the old memory, releases those that
    /// have it, and switches to the new program.
    pub(super) fn leave(&mut self) -> Result<(), String> {
        let Some(number) = self.replaced_by.take() else {
            return Ok(());
        };
        for processor in self.processors.iter_mut().filter(|it| it.shares()) {
            if processor.queued.is_some() {
                return Err("a process is released into the stop of its trap".to_owned());
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
