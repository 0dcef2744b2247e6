//! The patch at I, whose head is I and J.
//!
//! The text of I is the original, a trap or a jump; with the jump that of J is a
//! tail, whose byte can only trap. In another kind of patch the head is I alone, and
//! the jump shares the bytes of J: a processor executes J there as ever. The stub is a few phases with one lock, and
//! leads to the twins. The shell leads a thread out of the stub before it passes
//! its stop, and delivers signals behind the twins.

use super::machine::{State, demand};
use super::processor::{
    Counter, FOLLOW, I, J, Mode, Phase, Processor, Stop, address_of, thread_of, twin_of,
};
use super::program::{Action, Program};
use crate::{Input, Operation, Owner, Owners, ThreadId};
use std::ops::Range;

impl Program {
    /// Returns the request for the patch.
    pub(super) fn patch(&self) -> Input {
        Input::Patch {
            address: address_of(I),
            end: self.head().end,
            jump_end: address_of(FOLLOW),
            owner: Owner::Monitor,
            count: 1,
            twin: twin_of(I),
        }
    }

    /// Returns the text of the head.
    fn head(&self) -> Range<u64> {
        let behind = if self.shares { J } else { FOLLOW };
        address_of(I)..address_of(behind)
    }

    /// Appends the requests that concern the patch: as often as the budget says,
    /// one may come or go, and the user's point at J.
    pub(super) fn patch_commands(&self, state: &State, actions: &mut Vec<Action>) {
        let address = address_of(I);
        if state.left.patches > 0 {
            let engine = &state.engine;
            if engine.may_be_patched(self.head(), address_of(FOLLOW), (Owner::Monitor, 1)) {
                actions.push(Action::Command(self.patch()));
            } else if state.engine.is_patched(address) {
                actions.push(Action::Command(Input::Unpatch { address }));
            }
        }
        if state.left.inner > 0 {
            let owner = Owner::Developer;
            let address = address_of(J);
            actions.push(Action::Command(if state.wanted[J].is_empty() {
                self.insert(J, owner)
            } else {
                Input::Remove { address, owner }
            }));
        }
    }

    /// Appends what a processor may do at a jump, at its tail or in the stub.
    pub(super) fn patch_actions(&self, state: &State, number: usize, actions: &mut Vec<Action>) {
        let processor = &state.processors[number];
        let advances = match processor.counter {
            Counter::Stub(Phase::Free) => !state.processors.iter().any(Processor::locks),
            counter => counter != Counter::At(J),
        };
        if advances {
            actions.push(Action::Advance(number));
        }
        // At a tail, or through the gate: juror handles the event.
        if matches!(
            processor.counter,
            Counter::At(J) | Counter::Stub(Phase::Free)
        ) {
            actions.push(Action::KernelStop(number, Stop::Trap));
            if processor.interrupted {
                actions.push(Action::TrapLate(number));
            }
        }
    }
}

impl State {
    /// Returns true if a processor is at a jump, at its tail or in the stub.
    pub(super) fn is_in_patch(&self, number: usize) -> bool {
        match self.processors[number].counter {
            Counter::Stub(_) => true,
            Counter::At(J) => self.patched && !self.shares,
            Counter::At(I) => self.patched,
            _ => false,
        }
    }

    /// A processor takes the jump, or the next phase of the stub.
    pub(super) fn advance_in_stub(&mut self, number: usize) -> Result<(), String> {
        if self.trap[J] && self.patched {
            return Err("a thread takes a jump that a trap has changed".to_owned());
        }
        let is_vague = self.wanted[I].is_empty();
        let processor = &mut self.processors[number];
        processor.counter = match processor.counter {
            Counter::Stub(Phase::Free) => Counter::Stub(Phase::Locked),
            Counter::Stub(Phase::Locked) => {
                let notified = processor.notified_mut();
                if notified.owners.intersects(Owners::MONITOR) && !notified.vague {
                    return Err("the same execution is reported twice".to_owned());
                }
                notified.owners |= Owners::MONITOR;
                notified.vague |= is_vague;
                Counter::Stub(Phase::Committed)
            }
            Counter::Stub(Phase::Committed) => Counter::Twin(I),
            _ => Counter::Stub(Phase::Free),
        };
        if processor.mode == Mode::Stepping {
            processor.stop(Stop::Trace);
        }
        Ok(())
    }

    /// Checks that the events of a twin have been counted.
    pub(super) fn demand_counted(&mut self, number: usize) -> Result<(), String> {
        let armed = self.armed;
        let processor = &mut self.processors[number];
        let notified = *processor.notified_mut();
        match processor.counter {
            Counter::Twin(_) if notified.vague => Ok(()),
            Counter::Twin(I) => demand(Owners::MONITOR, notified.owners),
            Counter::Twin(place) => demand(armed[place], notified.owners),
            _ => Ok(()),
        }
    }

    /// The shell leads a stopped thread out of the stub.
    pub(super) fn lead_out(&mut self, program: &Program, number: usize) -> Result<(), String> {
        let processor = &mut self.processors[number];
        let Counter::Stub(phase) = processor.counter else {
            return Ok(());
        };
        if !program.leads_out {
            return Err("a thread is shown in a stub".to_owned());
        }
        processor.counter = match phase {
            Phase::Free | Phase::Locked => Counter::At(I),
            Phase::Committed => Counter::Twin(I),
        };
        Ok(())
    }

    /// The shell passes that a thread is before the first twin, if its counter
    /// was there at the stop that is passed next.
    pub(super) fn pass_counted(&mut self, number: usize, counter: Counter) -> Result<(), String> {
        if counter != Counter::Twin(I) {
            return Ok(());
        }
        self.feed(Input::Counted {
            thread: thread_of(number),
            address: address_of(I),
            stack: self.processors[number].stack(),
        })
    }

    /// Carries out an operation about the patch.
    pub(super) fn carry_out_patch(&mut self, order: Operation) -> Result<(), String> {
        match order {
            Operation::WritePatch { .. } => {
                if self.processors.iter().any(Processor::moves) {
                    return Err("a jump is written while a thread runs".to_owned());
                }
                self.patched = true;
                self.trap[I] = false;
            }
            Operation::RemovePatch { .. } => {
                if self.processors.iter().any(Processor::moves) {
                    return Err("a jump is removed while a thread runs".to_owned());
                }
                self.patched = false;
                self.trap[I] = true;
                self.armed[I] = self.wanted[I];
            }
            Operation::MoveToTwin { thread, address } => {
                if self.shares && address != address_of(I) {
                    return Err("a thread is moved to a twin that is not there".to_owned());
                }
                let place = Counter::from_address(address).place();
                self.processor(thread).counter = Counter::Twin(place);
            }
            Operation::Arrive { thread, .. } => return self.arrive(thread),
            _ => {}
        }
        Ok(())
    }

    /// The shell passes the arrival of a thread that is to make a step.
    fn arrive(&mut self, thread: ThreadId) -> Result<(), String> {
        let processor = self.processor(thread);
        if processor.counter != Counter::At(I) {
            return Err("an arrival is asked for of a thread that is not there".to_owned());
        }
        processor.counter = Counter::Behind(I);
        let stack = processor.stack();
        self.feed(Input::Trapped {
            thread,
            address: address_of(I),
            stack,
        })
    }

    /// Checks what must hold of the patch at every moment.
    pub(super) fn check_patch(&self) -> Result<(), String> {
        let is_seen = |it: &&Processor| it.mode == Mode::Stopped && it.stop.is_none();
        let mut stopped = self.processors.iter().filter(is_seen);
        if stopped.any(Processor::locks) {
            return Err("a thread is stopped that holds a lock".to_owned());
        }
        Ok(())
    }
}

impl Processor {
    /// Returns true if it holds the lock of the stub.
    pub(super) fn locks(&self) -> bool {
        let phase = matches!(
            self.counter,
            Counter::Stub(Phase::Locked | Phase::Committed)
        );
        phase && self.mode != Mode::Dead
    }
}
