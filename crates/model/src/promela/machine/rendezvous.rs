//! Rendezvous handshake: a message passes from one process to another in one step.
//!
//! The first half is the sender's; the intermediate state is never stored. For each
//! process that can receive the message there is a second half.

use super::table::Step;
use super::{Here, Sink, Walk};
use crate::promela::evaluate::View;
use crate::promela::program::{Code, Transition};
use crate::promela::trace::Event;

impl<S: Sink> Walk<'_, S> {
    /// Makes the first half of a rendezvous, and all second halves. Returns whether there
    /// was a receiver.
    pub(super) fn rendezvous(
        &mut self,
        here: Here<'_>,
        view: &View<'_>,
        transition: &Transition,
        channel: Code,
        values: &[Code],
    ) -> bool {
        let mut message = std::mem::take(&mut self.scratch.message);
        let number = match self
            .machine
            .rendezvous_message(view, channel, values, &mut message)
        {
            Ok(number) => number,
            Err(trap) => {
                self.scratch.message = message;
                return self.trapped(trap);
            }
        };
        let event = Event {
            sends: true,
            channel: number,
            message: &message,
            at: Some(channel),
        };
        let program = &self.machine.program;
        let sent = |next: &mut [u8]| program.stand(next, view.base, transition.to as u16);
        let taken = self.offer_message(here, view.process, event, sent);
        self.scratch.message = message;
        taken
    }

    /// Offers a rendezvous message to all receivers; `sent` updates the state for the
    /// sender. Returns whether there was a receiver.
    pub(super) fn offer_message(
        &mut self,
        here: Here<'_>,
        sender: usize,
        event: Event<'_>,
        sent: impl FnOnce(&mut [u8]),
    ) -> bool {
        let mut sent = Some(sent);
        // The state after the first half, created when the first possible receiver is
        // found.
        let mut next = None;
        let mut taken = false;
        for (receiver, frame) in here.shape.frames.iter().enumerate().rev() {
            if receiver == sender || self.stopped {
                continue;
            }
            let machine = self.machine;
            let standing = machine.program.standing(here.state, frame.base);
            let takes = machine.table.takes(frame.kind, standing);
            let is_outside =
                machine.program.has_outside && machine.is_outside(here.shape, receiver);
            if !takes.may_have(event.channel) && !is_outside {
                continue;
            }
            let next: &Vec<u8> = next.get_or_insert_with(|| {
                let mut next = self.scratch.copy(here.state);
                if let Some(sent) = sent.take() {
                    sent(&mut next);
                }
                self.mark_last(&mut next, sender);
                self.remember(&next);
                next
            });
            let after = Here {
                state: next,
                shape: here.shape,
            };
            taken |= self.receiver(after, receiver, event);
        }
        if let Some(next) = next {
            self.scratch.recycle(next);
        }
        taken
    }

    /// Makes the steps in which one process receives a rendezvous message. Returns whether
    /// there were any.
    fn receiver(&mut self, here: Here<'_>, process: usize, event: Event<'_>) -> bool {
        if self.machine.program.has_outside && self.machine.is_outside(here.shape, process) {
            return self.outside_receives(here, process, event);
        }
        self.steps(here, process, false, |walk, view, step, _| {
            walk.receive_half(here, view, step, event)
        })
    }

    fn receive_half(
        &mut self,
        here: Here<'_>,
        view: &View<'_>,
        step: &Step,
        event: Event<'_>,
    ) -> bool {
        let machine = self.machine;
        if !step.takes.may_have(event.channel) {
            return false;
        }
        let Step {
            transition,
            operation,
            ..
        } = step;
        match machine.takes(view, operation, event.channel, event.message) {
            Ok(false) => return false,
            Ok(true) => {}
            Err(trap) => return self.trapped(trap),
        }
        self.push(view, transition, true);
        let mut next = self.scratch.copy(here.state);
        let done = machine.receive(view, operation, event, &mut next);
        match done {
            Ok(done) => {
                if let Some(fault) = done.fault {
                    self.fault(fault);
                }
                let to = done.location.unwrap_or(transition.to as u16);
                machine.program.stand(&mut next, view.base, to);
                self.mark_last(&mut next, view.process);
                if !self.stopped {
                    let is_atomic = transition.is_atomic && !done.leaves_atomic;
                    self.after(&mut next, here.shape, view.process, is_atomic);
                }
            }
            Err(fault) => self.fault(fault),
        }
        self.scratch.recycle(next);
        self.scratch.path.pop();
        true
    }
}
