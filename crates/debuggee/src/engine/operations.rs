//! Carrying out the operations of the engine, in order, deciding nothing.
//!
//! A thread can be killed at any moment, under every request: then the request
//! counts as done, since the thread's last status is still to come.

use juror_arch::NO_SYSTEM_CALL;
use juror_stepping::{Input, Operation, Owners, ThreadId};

use crate::debuggee::Debuggee;
use crate::error::{DebuggeeError, ignore_gone};
use crate::kernel;
use crate::kernel::traps::TRAP;
use crate::state::life::Phase;
use crate::state::stop_event::StopEvent;
use crate::state::thread::{Motion, PendingSignal, State};

impl Debuggee {
    pub(crate) fn carry_out(&mut self, operations: &[Operation]) -> Result<(), DebuggeeError> {
        // The thread whose emulated call failed: its further operations are
        // dropped.
        let mut failed = None;
        for &operation in operations {
            if failed.is_some() && failed == operation.thread() {
                continue;
            }
            match operation {
                Operation::InsertTrap { address } => {
                    // The other operations still hold.
                    if self.memory.insert_trap(address).is_err() {
                        self.driver
                            .inputs
                            .push_back(Input::InsertFailed { address });
                    }
                }
                Operation::RemoveTrap { address } => self.memory.remove_trap(address)?,
                Operation::WritePatch { address } => self.write_patch(address)?,
                Operation::RemovePatch { address } => self.remove_patch(address)?,
                Operation::MoveToTwin { thread, address } => self.move_to_twin(thread, address)?,
                Operation::Arrive { thread, address } => self.arrive(thread, address)?,
                Operation::RestorePatchInFork { process, address } => {
                    if let Some(copy) = self.forks.copies.get(&process.0) {
                        self.memory.restore_patch_in(&copy.memory, address);
                    }
                }
                Operation::RestoreInFork { process, address } => {
                    if let Some(copy) = self.forks.copies.get(&process.0) {
                        self.memory.restore_in(&copy.memory, address);
                    }
                }
                Operation::InsertInFork { process, address } => {
                    if let Some(copy) = self.forks.copies.get_mut(&process.0) {
                        self.memory.restore_in(&copy.memory, address);
                        if copy.memory.insert_trap(address).is_err() {
                            self.driver
                                .inputs
                                .push_back(Input::InsertFailed { address });
                        }
                    }
                }
                Operation::ReleaseFork { process } => self.release_fork(process.0)?,
                Operation::SetCounter { thread, address } => self.set_counter(thread, address)?,
                Operation::EmulateCall { thread, to, back } => {
                    if !self.emulate_call(thread, to, back)? {
                        failed = Some(thread);
                    }
                }
                Operation::FindFollowSet { thread, address } => {
                    self.find_follow_set(thread, address);
                }
                Operation::RunToFollowSet { thread } => {
                    self.set_in_motion(thread, Motion::ToFollowSet)?;
                }
                Operation::StepThread { thread } => self.set_in_motion(thread, Motion::Step)?,
                Operation::ContinueThread { thread } => self.set_in_motion(thread, Motion::Run)?,
                Operation::HoldThread { thread } => self.request_hold(thread)?,
                Operation::Report {
                    thread,
                    address,
                    owners,
                } => self.report_hit(thread, address, owners)?,
                Operation::ReportStep { thread, address } => {
                    self.queue_event(StopEvent::Stepped { thread, address });
                }
                Operation::ReportHalted { thread } => {
                    if let Some(known) = self.threads.get_mut(&thread.0) {
                        known.awaits_resume = true;
                    }
                }
                Operation::Unexplained { thread, address } => {
                    self.explain_trap(thread, address)?;
                }
            }
        }
        Ok(())
    }

    fn report_hit(
        &mut self,
        thread: ThreadId,
        address: u64,
        owners: Owners,
    ) -> Result<(), DebuggeeError> {
        if self.life.is_phase(Phase::Restoring) {
            return Ok(());
        }
        if self
            .threads
            .get(&thread.0)
            .is_some_and(|known| known.is_vfork_child)
        {
            self.driver.inputs.push_back(Input::Resume { thread });
            return Ok(());
        }
        let mut owners = owners;
        let mut is_reported = false;
        if owners.contains(Owners::INTERNAL) && self.image.is_own_point(address) {
            owners.remove(Owners::INTERNAL);
            is_reported = self.follow_linker(thread, address)?;
        }
        if !owners.is_empty() {
            let single = self.threads.len() == 1;
            self.host.cpu.count_hit(single);
            self.queue_event(StopEvent::Hit {
                thread,
                address,
                owners,
            });
        } else if !is_reported {
            self.driver.inputs.push_back(Input::Resume { thread });
        }
        Ok(())
    }

    /// Sets a stopped thread's program counter.
    pub(crate) fn set_counter(
        &mut self,
        thread: ThreadId,
        address: u64,
    ) -> Result<(), DebuggeeError> {
        let mut registers = match self.stop_registers(thread) {
            Ok(registers) => *registers,
            Err(DebuggeeError::ThreadGone(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        if registers.kernel_counter == address {
            registers.shown.set_instruction_pointer(address);
        } else if registers.restarts_system_call() {
            // The kernel would move the new counter back to restart the call;
            // the thread makes the call itself instead.
            registers.shown.set_result(registers.restarted_call());
            registers.shown.set_system_call(NO_SYSTEM_CALL);
            registers.shown.set_instruction_pointer(address);
            ignore_gone(kernel::set_registers(thread.0, &registers.shown))?;
        } else {
            registers.shown.set_instruction_pointer(address);
            ignore_gone(kernel::set_counter(thread.0, address))?;
        }
        registers.kernel_counter = address;
        if let Some(place) = self.image.original_of(address) {
            registers.shown.set_instruction_pointer(place.address);
        }
        if let Some(cached) = self
            .threads
            .get_mut(&thread.0)
            .and_then(|known| known.registers.get_mut())
        {
            *cached = registers;
        }
        Ok(())
    }

    /// Pushes the return address and sets the counter to the callee; returns
    /// false if the stack cannot be written.
    fn emulate_call(
        &mut self,
        thread: ThreadId,
        to: u64,
        back: u64,
    ) -> Result<bool, DebuggeeError> {
        let registers = match self.stop_registers(thread) {
            Ok(registers) => *registers,
            Err(DebuggeeError::ThreadGone(_)) => return Ok(true),
            Err(error) => return Err(error),
        };
        let stack = registers.shown.stack_pointer().wrapping_sub(8);
        // The processor itself must push onto watched memory.
        let is_watched = self.watches.covers(&(stack..stack.saturating_add(8)));
        if is_watched
            || kernel::write_as_debuggee(self.process, stack, &back.to_le_bytes()).is_err()
        {
            let address = registers.shown.instruction_pointer();
            self.driver.inputs.push_back(Input::Faulted {
                thread,
                address,
                stack: registers.shown.stack_pointer(),
            });
            return Ok(false);
        }
        let mut shown = registers.shown;
        shown.set_stack_pointer(stack);
        shown.set_instruction_pointer(to);
        ignore_gone(kernel::set_registers(thread.0, &shown))?;
        if let Some(cached) = self
            .threads
            .get_mut(&thread.0)
            .and_then(|known| known.registers.get_mut())
        {
            cached.kernel_counter = to;
            cached.shown = shown;
        }
        Ok(true)
    }

    /// Lets a stopped thread run or step, with its pending signal.
    pub(crate) fn set_in_motion(
        &mut self,
        thread: ThreadId,
        motion: Motion,
    ) -> Result<(), DebuggeeError> {
        self.memory.end_quiescence()?;
        let Some(known) = self.threads.get_mut(&thread.0) else {
            return Ok(());
        };
        known.motion = motion;
        known.sections_done = 0;
        let is_synchronous = known.pending.as_ref().is_some_and(|it| it.synchronous);
        let may_wait = |it: &PendingSignal| !it.synchronous && !it.is_injected;
        let may_wait = known.pending.as_ref().is_none_or(may_wait);
        let is_none = known.pending.is_none() && known.deferred_signals.is_empty();
        // A step at a site is for the instruction; only a fault, which would
        // come again and again, precedes it.
        let is_due = motion == Motion::Run
            || is_synchronous
            || !is_none && self.may_step_into_handler(thread, motion);
        let leaves_copies = !is_none
            && motion == Motion::Run
            && (self.is_in_twin(thread) || may_wait && self.leaves_slot(thread));
        let signal = if !is_none && is_due && !leaves_copies {
            self.signal_to_deliver(thread)
        } else {
            0
        };
        let mut enters_handler = false;
        if signal != 0 {
            self.note_signal_out_of_line(thread)?;
            enters_handler = motion != Motion::Step && self.interrupts_arrival(thread);
        }
        match self.refresh_hardware(thread) {
            Ok(()) | Err(DebuggeeError::ThreadGone(_)) => {}
            Err(error) => return Err(error),
        }
        let Some(known) = self.threads.get_mut(&thread.0) else {
            return Ok(());
        };
        known.steps_internally = enters_handler;
        known.leaves_copies = leaves_copies;
        let traces_calls = self.stops_at_next_call(thread, motion);
        let Some(known) = self.threads.get(&thread.0) else {
            return Ok(());
        };
        let outcome = match motion {
            _ if known.group_stopped && !known.at_signal => kernel::listen(thread.0),
            _ if self.watches.is_live() => match self.run_watched(thread, motion, signal) {
                Err(DebuggeeError::ThreadGone(_)) => Ok(()),
                outcome => outcome?,
            },
            _ if enters_handler || leaves_copies => kernel::single_step(thread.0, signal),
            Motion::Run if traces_calls => kernel::resume_to_system_call(thread.0, signal),
            Motion::Run | Motion::ToFollowSet => kernel::resume(thread.0, signal),
            Motion::Step if traces_calls && self.enters_system_call(thread) => {
                kernel::resume_to_system_call(thread.0, signal)
            }
            Motion::Step => kernel::single_step(thread.0, signal),
        };
        let watches = self.watches.is_live();
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.may_be_stepping =
                watches || enters_handler || leaves_copies || motion == Motion::Step;
            known.state = State::Running;
            known.registers.take();
            known.at_entry = false;
        }
        ignore_gone(outcome)
    }

    /// Returns true if a signal is delivered to a thread when it has left its slot: the handler
    /// finds the counter in the program.
    fn leaves_slot(&self, thread: ThreadId) -> bool {
        let registers = self.stop_registers(thread);
        !self.watches.is_live()
            && registers.is_ok_and(|it| self.image.out_of_line.is_left_soon(it.kernel_counter))
    }

    /// Returns true if a step of a thread may enter a signal handler before the
    /// instruction: if no arrival is tied to that. A program that is stepped
    /// all the way would never run its handlers otherwise.
    fn may_step_into_handler(&self, thread: ThreadId, motion: Motion) -> bool {
        let Ok(registers) = self.stop_registers(thread) else {
            return false;
        };
        let counter = registers.kernel_counter;
        motion == Motion::Step
            && self.image.original_of(counter).is_none()
            && self.driver.engine.owners_at(counter).is_empty()
            && self.driver.engine.reported_at(thread) != Some(counter)
            && !self.is_hardware_site(counter)
    }

    fn request_hold(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.hold_requested = true;
        }
        // A thread that is ending answers by its end.
        ignore_gone(kernel::interrupt(thread.0))
    }

    /// Handles a trap that no site explains: the program's own, or one of
    /// juror's that was removed between the trap and now.
    fn explain_trap(&mut self, thread: ThreadId, address: u64) -> Result<(), DebuggeeError> {
        let mut byte = [0];
        let is_own = self.memory.read(address, &mut byte).is_ok() && byte == [TRAP];
        if !is_own {
            self.set_counter(thread, address)?;
            self.driver.inputs.push_back(Input::Resume { thread });
            return Ok(());
        }
        let after = address.wrapping_add(1);
        if let Some(cached) = self
            .threads
            .get_mut(&thread.0)
            .and_then(|known| known.registers.get_mut())
        {
            cached.shown.set_instruction_pointer(after);
        }
        self.driver.inputs.push_back(Input::Jumped {
            thread,
            address: after,
        });
        self.handle_trap_signal(thread)
    }
}
