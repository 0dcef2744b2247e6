//! Rendezvous: a message goes from one process to another in one step.
//!
//! The first half is the sender's; a state in between is never kept. For each
//! process that can take the message there is a second half.

use super::{Here, Sink, Walk};
use crate::promela::evaluate::View;
use crate::promela::memory::set_word;
use crate::promela::program::{Code, Transition};

impl<S: Sink> Walk<'_, S> {
    /// The first half of a rendezvous, and all second halves.
    pub(super) fn hand_over(
        &mut self,
        here: Here<'_>,
        view: &View<'_>,
        transition: &Transition,
        channel: Code,
        values: &[Code],
    ) -> bool {
        let mut message = std::mem::take(&mut self.scratch.message);
        let number = match self.machine.handed(view, channel, values, &mut message) {
            Ok(number) => number,
            Err(trap) => {
                self.scratch.message = message;
                return self.trapped(trap);
            }
        };
        let sent = |next: &mut [u8]| set_word(next, view.base, transition.to as u16);
        let taken = self.offer_message(here, view.process, number, &message, sent);
        self.scratch.message = message;
        taken
    }

    /// A message is handed over to whoever can take it; `sent` makes of the state
    /// what it is for the sender then. Gives whether anybody took it.
    pub(super) fn offer_message(
        &mut self,
        here: Here<'_>,
        sender: usize,
        channel: i32,
        message: &[i32],
        sent: impl FnOnce(&mut [u8]),
    ) -> bool {
        let mut next = self.copy(here.state);
        sent(&mut next);
        self.mark_last(&mut next, sender);
        let after = Here {
            state: &next,
            shape: here.shape,
        };
        self.remember(after.state);
        let mut taken = false;
        for receiver in (0..here.shape.frames.len()).rev() {
            if receiver != sender && !self.stopped {
                taken |= self.receiver(after, receiver, channel, message);
            }
        }
        self.scratch.pool.push(next);
        taken
    }

    /// What one process can do with a message that is handed over.
    fn receiver(&mut self, here: Here<'_>, process: usize, channel: i32, message: &[i32]) -> bool {
        if self.machine.program.has_outside && self.machine.is_outside(here.shape, process) {
            return self.outside_receives(here, process, channel, message);
        }
        self.transitions(here, process, false, |successors, view, transition, _| {
            successors.receive_half(here, view, transition, channel, message)
        })
    }

    fn receive_half(
        &mut self,
        here: Here<'_>,
        view: &View<'_>,
        transition: &Transition,
        channel: i32,
        message: &[i32],
    ) -> bool {
        let machine = self.machine;
        let Some(instruction) = machine.program.instruction(transition) else {
            return false;
        };
        match machine.takes(view, &instruction.operation, channel, message) {
            Ok(false) => return false,
            Ok(true) => {}
            Err(trap) => return self.trapped(trap),
        }
        self.push(view, transition, true);
        let mut next = self.copy(here.state);
        let done = machine.receive(view, &instruction.operation, message, &mut next);
        match done {
            Ok(done) => {
                if let Some(fault) = done.fault {
                    self.fault(fault);
                }
                let to = done.location.unwrap_or(transition.to as u16);
                set_word(&mut next, view.base, to);
                self.mark_last(&mut next, view.process);
                if !self.stopped {
                    let next = Here {
                        state: &next,
                        shape: here.shape,
                    };
                    self.after(next, view.process, transition.is_atomic);
                }
            }
            Err(fault) => self.fault(fault),
        }
        self.scratch.pool.push(next);
        self.scratch.path.pop();
        true
    }
}
