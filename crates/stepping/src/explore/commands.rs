//! Requests of upper layers.

use super::machine::State;
use super::processor::{Counter, I, J, Notified, OUTSIDE, Place, RETURN, Upper, address_of};
use super::program::Program;
use crate::{Input, Owner, Owners};

impl State {
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
                    _ if place == J => self.left.inner -= 1,
                    Owner::Developer | Owner::Scenario => self.left.inserts -= 1,
                    _ => self.left.toggles = self.left.toggles.saturating_sub(1),
                }
                self.wanted[place] |= Owners::from(owner);
            }
            Input::Remove { address, owner } => {
                let place = Counter::from_address(address).place();
                match place {
                    J => self.left.inner -= 1,
                    _ => self.left.toggles -= 1,
                }
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
                self.feed(input)?;
                let address = address_of(I);
                return self.feed(Input::Jumped { thread, address });
            }
            Input::Patch { .. } | Input::Unpatch { .. } => self.left.patches -= 1,
            Input::Restore { thread, depth } => self.processor(thread).restore(depth),
            Input::Discard { thread, depth } => {
                // It jumps back into the program, out of handlers, too.
                self.processor(thread).suspended.truncate(depth);
                self.processor(thread).interrupts = None;
                self.processor(thread).jump(OUTSIDE);
                self.feed(input)?;
                let address = address_of(OUTSIDE);
                return self.feed(Input::Jumped { thread, address });
            }
            Input::Jumped { thread, address } => {
                self.left.jumps -= 1;
                let place = Counter::from_address(address).place();
                self.processor(thread).jump(place);
            }
            _ => {}
        }
        self.feed(input)?;
        if let Input::Insert { address, .. } = input {
            let place = Counter::from_address(address).place();
            if self.trap[place] {
                self.armed[place] = self.wanted[place];
            }
        }
        Ok(())
    }

    /// Handles the removal of the last owner: only a thread that stands there
    /// in sight of the engine is still known to have been notified.
    pub(super) fn forget(&mut self, place: Place) {
        for processor in &mut self.processors {
            let handed_in = processor.stop.is_none() && processor.queued.is_none();
            let in_sight = processor.counter == Counter::Behind(place) && handed_in;
            let inner = usize::from(processor.interrupts.is_some());
            forget_notified(&mut processor.notified, in_sight, inner);
            for saved in &mut processor.suspended {
                let inner = usize::from(saved.interrupts.is_some());
                forget_notified(
                    &mut saved.notified,
                    saved.counter == Counter::Behind(place),
                    inner,
                );
            }
        }
        for copy in &mut self.forks {
            copy.forget();
        }
    }
}

/// Marks notifications as vague, except those of the execution that is
/// `in_sight`.
fn forget_notified(notified: &mut [Notified; 2], in_sight: bool, inner: usize) {
    for (depth, notified) in notified.iter_mut().enumerate() {
        notified.vague |= !(notified.owners.is_empty() || in_sight && depth == inner);
    }
}
