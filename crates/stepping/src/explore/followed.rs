//! A vfork child that runs a program of its own.
//!
//! It has a memory of its own from that moment, and its parent waits no more.
//! The shell releases the process, or follows it: then all others are stopped
//! and released, and their ends and the new program are passed to the engine.
//! The parent makes no step before the shell has decided.

use super::machine::State;
use super::processor::{Mode, Processor, Stop, Upper, thread_of};
use super::program::Program;
use crate::Input;

impl State {
    /// Returns true if the shell is about to switch to another process.
    pub(super) fn is_switching(&self) -> bool {
        self.followed.is_some() || self.followed_program.is_some() || self.leaves_memory
    }

    /// The shell sees that a process which had the memory runs another program.
    pub(super) fn see_own_program(
        &mut self,
        program: &Program,
        number: usize,
    ) -> Result<(), String> {
        let thread = thread_of(number);
        if !program.follows || self.is_switching() {
            self.processors[number] = Processor {
                shares_with: self.processors[number].shares_with,
                ..Processor::new(Mode::Dead)
            };
            self.feed(Input::Ended { thread })?;
            return self.resume_parent(number);
        }
        let child = &mut self.processors[number];
        *child = Processor {
            upper: Upper::Has,
            ..Processor::new(Mode::Stopped)
        };
        self.followed_program = Some(number);
        for other in 0..self.processors.len() {
            if other != number {
                self.halt(other)?;
            }
        }
        Ok(())
    }

    /// Returns true if the parent of a process waits for the shell to decide
    /// whether the process is followed.
    pub(super) fn awaits_program(&self, program: &Program, parent: usize) -> bool {
        let mut processors = self.processors.iter().enumerate();
        let is_known = |number| self.engine.thread_state(thread_of(number)).is_some();
        program.follows
            && !self.is_switching()
            && processors.any(|(number, it)| it.shares_with == Some(parent) && is_known(number))
    }

    /// Continues the parent of a process that is gone and had the memory, if
    /// the parent is stopped for that.
    pub(super) fn resume_parent(&mut self, number: usize) -> Result<(), String> {
        let Some(parent) = self.processors[number].shares_with else {
            return Ok(());
        };
        let stands = &self.processors[parent];
        if stands.mode == Mode::Stopped && stands.stop.is_none() {
            self.feed(Input::Unparked {
                thread: thread_of(parent),
            })
        } else {
            Ok(())
        }
    }

    /// Returns true if all threads are stopped for the switch to the new
    /// program.
    pub(super) fn can_switch_program(&self) -> bool {
        let Some(followed) = self.followed_program else {
            return false;
        };
        let stands = |(number, processor): (usize, &Processor)| match processor.mode {
            _ if number == followed => true,
            Mode::Dead | Mode::NotStarted => processor.stop.is_none(),
            _ if processor.stop == Some(Stop::VforkDone) => true,
            _ => processor.upper == Upper::Has && processor.stop.is_none() && !processor.moves(),
        };
        self.forks.is_empty()
            && self.orders.is_empty()
            && self.processors.iter().enumerate().all(stands)
    }

    /// The shell releases all processes that there were, and switches to the
    /// new program.
    pub(super) fn switch_program(&mut self) -> Result<(), String> {
        let Some(followed) = self.followed_program.take() else {
            return Ok(());
        };
        let child = thread_of(followed);
        self.feed(Input::Ended { thread: child })?;
        for number in 0..self.processors.len() {
            let processor = &mut self.processors[number];
            if number == followed || processor.mode == Mode::NotStarted {
                continue;
            }
            if processor.queued.is_some() {
                return Err("a process is released into the stop of its trap".to_owned());
            }
            *processor = Processor::new(Mode::Dead);
            let thread = thread_of(number);
            self.feed(Input::Ended { thread })?;
        }
        if !self.orders.is_empty() {
            return Err("an operation concerns the process that was left".to_owned());
        }
        self.lose_memory();
        self.feed(Input::Executed { thread: child })
    }
}
