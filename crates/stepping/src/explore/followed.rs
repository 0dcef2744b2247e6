//! A process that was made by a `vfork` and now runs a program of its own.
//!
//! It has a memory of its own from that moment, and the one that made it waits
//! no more. The shell lets the process go, or follows it: then all others are
//! brought to a stand and let go, and the engine hears of their ends and of the
//! new program. The one that made it makes no step before the shell knows which
//! of the two it will be.

use super::machine::State;
use super::processor::{Mode, Processor, Stop, Upper, thread_of};
use super::program::Program;
use crate::Input;

impl State {
    /// Whether the shell is about to be with another process.
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

    /// Whether the one that made a process waits for the shell to see whether
    /// that is followed.
    pub(super) fn awaits_program(&self, program: &Program, parent: usize) -> bool {
        let mut processors = self.processors.iter().enumerate();
        let is_known = |number| self.engine.thread_state(thread_of(number)).is_some();
        program.follows
            && !self.is_switching()
            && processors.any(|(number, it)| it.shares_with == Some(parent) && is_known(number))
    }

    /// A process that had the memory is gone: the one that made it goes on, if it
    /// stands for that.
    pub(super) fn resume_parent(&mut self, number: usize) -> Result<(), String> {
        let Some(parent) = self.processors[number].shares_with else {
            return Ok(());
        };
        let stands = &self.processors[parent];
        match stands.mode == Mode::Stopped && stands.stop.is_none() {
            true => self.feed(Input::Unparked {
                thread: thread_of(parent),
            }),
            false => Ok(()),
        }
    }

    /// Whether all stands for the shell to go over to the new program.
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

    /// The shell lets all go that there were, and is with the new program.
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
                return Err("a process is let go into the stop of its trap".to_owned());
            }
            *processor = Processor::new(Mode::Dead);
            let thread = thread_of(number);
            self.feed(Input::Ended { thread })?;
        }
        if !self.orders.is_empty() {
            return Err("an order is about the process that was left".to_owned());
        }
        self.lose_memory();
        self.feed(Input::Executed { thread: child })
    }
}
