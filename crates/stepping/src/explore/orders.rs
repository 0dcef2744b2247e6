//! How the shell carries out the operations of the engine, one at a time, and
//! what may fail then.

use super::machine::{State, demand};
use super::processor::{Counter, HANDLER_END, I, J, Mode, Motion, Stop, Upper, address_of};
use super::program::{Layout, Method, Program};
use crate::{FollowSet, Input, Operation, Owners, StackPart, ThreadId};

impl State {
    pub(super) fn carry_out(&mut self, program: &Program) -> Result<(), String> {
        let Some(order) = self.orders.pop_front() else {
            return Ok(());
        };
        if let Operation::RestoreInFork { process, .. }
        | Operation::RestorePatchInFork { process, .. }
        | Operation::InsertInFork { process, .. }
        | Operation::ReleaseFork { process } = order
        {
            return self.carry_out_in_fork(process, order);
        }
        if self.is_about_the_past(&order) {
            return Ok(());
        }
        match order {
            Operation::InsertTrap { address } => {
                let place = Counter::from_address(address).place();
                self.trap[place] = true;
                self.armed[place] = self.wanted[place];
            }
            Operation::RemoveTrap { address } => {
                self.trap[Counter::from_address(address).place()] = false
            }
            Operation::HoldThread { thread } => {
                let processor = self.processor(thread);
                if processor.mode == Mode::Stopped && processor.stop.is_none() {
                    return Err("a thread is held that has stopped".to_owned());
                }
                processor.interrupted = processor.mode != Mode::Dead;
                processor.hold_requested = true;
            }
            Operation::SetCounter { thread, address } => {
                self.set_counter(program, thread, address)?
            }
            Operation::EmulateCall { thread, to, .. } => self.emulate(program, thread, to)?,
            Operation::FindFollowSet { thread, address } => {
                let follow = self.find_follow_set(program, thread, address);
                self.feed(Input::FollowSet {
                    thread,
                    address,
                    follow,
                })?;
            }
            Operation::RunToFollowSet { thread } => self.resume_thread(thread, Motion::ToTraps)?,
            Operation::StepThread { thread } => self.resume_thread(thread, Motion::Step)?,
            Operation::ContinueThread { thread } => self.resume_thread(thread, Motion::Free)?,
            Operation::Report {
                thread,
                address,
                owners,
            } => self.report(thread, address, owners)?,
            Operation::ReportStep { thread, .. } => {
                let processor = self.processor(thread);
                if program.layout == Layout::Head && !processor.stepped {
                    return Err("a step is reported that was not made".to_owned());
                }
                processor.stepped = false;
                processor.upper = Upper::Has;
            }
            Operation::ReportHalted { thread } => {
                let processor = self.processor(thread);
                processor.halting = false;
                processor.stepped = false;
                processor.upper = Upper::Has;
            }
            Operation::Unexplained { thread, .. } => {
                // No explored program has traps of its own: go back.
                let processor = self.processor(thread);
                processor.counter = Counter::At(processor.counter.place());
                processor.upper = Upper::Has;
            }
            Operation::WritePatch { .. }
            | Operation::RemovePatch { .. }
            | Operation::MoveToTwin { .. }
            | Operation::Arrive { .. } => self.carry_out_patch(order)?,
            Operation::RestorePatchInFork { .. }
            | Operation::RestoreInFork { .. }
            | Operation::InsertInFork { .. }
            | Operation::ReleaseFork { .. } => {}
        }
        Ok(())
    }

    /// Reports an arrival to upper layers.
    fn report(&mut self, thread: ThreadId, address: u64, owners: Owners) -> Result<(), String> {
        let processor = self.processor(thread);
        let is_in_twin = processor.counter == Counter::Twin(I) && address == address_of(I);
        if processor.counter.shown() != address + 1 && !is_in_twin {
            return Err("an arrival is reported of a thread that is not there".to_owned());
        }
        if std::mem::take(&mut processor.stepped) {
            return Err("a step is not reported".to_owned());
        }
        let is_silent = processor.shares_with.is_some();
        if !is_silent {
            processor.upper = Upper::Has;
        }
        let notified = processor.notified_mut();
        if notified.owners.intersects(owners) && !notified.vague {
            return Err("the same execution is reported twice".to_owned());
        }
        notified.owners |= owners;
        if is_silent {
            self.feed(Input::Resume { thread })?;
        }
        Ok(())
    }

    fn set_counter(
        &mut self,
        program: &Program,
        thread: ThreadId,
        address: u64,
    ) -> Result<(), String> {
        let wanted = self.wanted;
        let processor = self.processor(thread);
        if processor.mode != Mode::Stopped || processor.stop.is_some() {
            return Err("the program counter of a running thread is set".to_owned());
        }
        let to = Counter::from_address(address);
        if let (Counter::OutOfLine(place) | Counter::Twin(place), Counter::Behind(_)) =
            (to, processor.counter)
        {
            let notified = *processor.notified_mut();
            if !notified.vague {
                demand(wanted[place], notified.owners)?;
            }
            processor.notified_mut().vague |= wanted[place].is_empty();
        }
        if program.method == Method::Skip && to != Counter::At(processor.counter.place()) {
            return self.emulate(program, thread, address);
        }
        processor.counter = to;
        Ok(())
    }

    /// The shell has the effect of the instruction.
    fn emulate(&mut self, program: &Program, thread: ThreadId, to: u64) -> Result<(), String> {
        let wanted = self.wanted;
        let processor = self.processor(thread);
        let place = processor.counter.place();
        let leads_there = address_of(program.followers(place)[0]) == to;
        if processor.counter != Counter::Behind(place) || !leads_there {
            return Err("an instruction is emulated at which the thread does not stand".to_owned());
        }
        let notified = *processor.notified_mut();
        processor.executed(program.followers(place)[0]);
        if notified.vague {
            Ok(())
        } else {
            demand(wanted[place], notified.owners)
        }
    }

    /// The shell cannot push the return address: it drops the following
    /// operations for the thread, and passes that to the engine.
    pub(super) fn fail_push(&mut self) -> Result<(), String> {
        let Some(Operation::EmulateCall { thread, .. }) = self.orders.pop_front() else {
            return Ok(());
        };
        self.left.faults -= 1;
        self.orders.retain(|order| match order {
            Operation::ContinueThread { thread: id } => *id != thread,
            Operation::ReportStep { thread: id, .. } => *id != thread,
            _ => true,
        });
        let processor = self.processor(thread);
        let address = address_of(processor.counter.place());
        let stack = processor.stack();
        self.feed(Input::Faulted {
            thread,
            address,
            stack,
        })
    }

    /// Returns what follows the instruction; nothing if a system call returns
    /// from a handler.
    fn find_follow_set(
        &mut self,
        program: &Program,
        thread: ThreadId,
        address: u64,
    ) -> Option<FollowSet> {
        // The engine knows no place of a thread whose stop has not been seen.
        let known = Some(address).filter(|address| *address != 0)?;
        let place = Counter::from_address(known).place();
        if program.may_be_call(place) {
            return None;
        }
        let processor = self.processor(thread);
        let mut follow = program
            .followers(place)
            .iter()
            .map(|next| address_of(processor.successor(*next)));
        let first = follow.next().filter(|_| place != HANDLER_END)?;
        Some(FollowSet::two(first, follow.next().unwrap_or(first)))
    }

    pub(super) fn resume_thread(&mut self, thread: ThreadId, motion: Motion) -> Result<(), String> {
        let is_traced = self.engine.awaits_handler(thread);
        let processor = self.processor(thread);
        if processor.mode == Mode::Dead {
            return Ok(());
        }
        if processor.mode != Mode::Stopped || processor.stop.is_some() {
            return Err("a thread is resumed that runs".to_owned());
        }
        let trapped = processor.queued == Some(Stop::Trap);
        if matches!(processor.counter, Counter::Behind(_)) && !trapped {
            return Err("a thread continues in the middle of an instruction".to_owned());
        }
        if processor.upper == Upper::Has {
            return Err("a thread is resumed that waits for a request".to_owned());
        }
        let stack = processor.stack();
        processor.traced = is_traced;
        match processor.go(motion) {
            Some(interrupted) => self.pass_delivery(thread, interrupted, stack),
            None => Ok(()),
        }
    }

    /// The shell passes that a signal has been delivered to a thread with this
    /// stack pointer.
    pub(super) fn pass_delivery(
        &mut self,
        thread: ThreadId,
        interrupted: Counter,
        stack: u64,
    ) -> Result<(), String> {
        let address = address_of(interrupted.place());
        match interrupted {
            Counter::OutOfLine(_) => self.feed(Input::Signalled { thread, address }),
            Counter::At(_) => {
                self.feed(Input::HandlerEntered {
                    thread,
                    address,
                    stack,
                    alternate: StackPart::default(),
                })?;
                // It stopped at the beginning of the handler.
                let is_traced = self.engine.awaits_handler(thread);
                self.processor(thread).traced = is_traced;
                Ok(())
            }
            Counter::Twin(_) => Err("a signal is delivered in a twin".to_owned()),
            Counter::Behind(_) | Counter::Leaving(_) | Counter::Stub(_) => Ok(()),
        }
    }

    /// Returns true if the next operation is a trap whose memory may be gone.
    pub(super) fn may_lose_trap(&self) -> bool {
        let Some(Operation::InsertTrap { address }) = self.orders.front() else {
            return false;
        };
        let place = Counter::from_address(*address).place();
        matches!(place, I | J) && !self.wanted[place].is_empty()
    }

    /// The trap cannot be inserted, and the shell passes that to the engine.
    pub(super) fn fail_insert_trap(&mut self) -> Result<(), String> {
        let Some(Operation::InsertTrap { address }) = self.orders.pop_front() else {
            return Ok(());
        };
        self.left.losses -= 1;
        let place = Counter::from_address(address).place();
        self.wanted[place] = Owners::empty();
        self.armed[place] = Owners::empty();
        self.forget(place);
        self.feed(Input::InsertFailed { address })
    }
}
