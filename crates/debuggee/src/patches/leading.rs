//! Threads that stop in stubs, at gates, and in the middle of jumps.

use juror_arch::{NO_SYSTEM_CALL, Register};
use std::sync::Arc;

use juror_stepping::{Input, ThreadId};

use super::stack_top::StackTop;
use super::{LedTo, Patch, STRAYS_MAX, Stub, StubRegisters};
use crate::debuggee::Debuggee;
use crate::error::{DebuggeeError, gone_or, ignore_gone};
use crate::kernel::dispositions;
use crate::kernel::put_back;
use crate::kernel::{self, Event};
use crate::state::thread::{Motion, State};
use crate::stops::signal_code;
use juror_arch::Registers;

/// A thread that has been led out of a stub.
#[derive(Debug, Clone, Copy)]
pub(super) struct Left {
    to: LedTo,
    entry: u64,
    jump: u64,
    /// It came to the gate.
    was_at_gate: bool,
}

/// The number of the stack pointer among the general registers.
const STACK_POINTER: usize = 4;

impl Debuggee {
    /// Moves a thread that has just stopped out of a stub. Returns true if the
    /// stop has been handled with that.
    pub(crate) fn handle_stop_in_patch(
        &mut self,
        thread: ThreadId,
        signal: i32,
        event: Event,
    ) -> Result<bool, DebuggeeError> {
        if event == Event::Stop && self.is_before_own_signal(thread)? {
            return self.run_to_own_signal(thread, signal);
        }
        let is_signal = event == Event::Signal;
        // The trap of a site is one byte behind what may be in a jump.
        let may_be_stray = is_signal && is_raised_by_code(signal) && !put_back::is_moved(thread.0);
        if may_be_stray && self.handle_stray(thread, signal)? {
            return Ok(true);
        }
        let is_trap = is_signal && signal == libc::SIGTRAP;
        if is_trap && self.is_in_middle_of_twin(thread)? && signal_code(thread)? > 0 {
            return self.finish_twin(thread).map(|()| true);
        }
        let Some(left) = self.leave_stub(thread)? else {
            return Ok(false);
        };
        if event == Event::Exit {
            // It executes nothing more, and who has killed it waits for its end.
            return Ok(false);
        }
        // Otherwise a process has sent it.
        let ends_step = is_trap && (left.was_at_gate || signal_code(thread)? > 0);
        let is_fault = is_signal && !ends_step && is_own_fault(thread, signal)?;
        match left.to {
            // A step of juror's own has executed the jump, or a capture cannot be
            // read. A stub has no other faults, but for a program that uses `gs`
            // itself.
            LedTo::Entry { .. } if left.was_at_gate || ends_step || is_fault => {
                self.handle_patch_hit(thread, left)?;
                Ok(true)
            }
            // The other sections of the stub are taken at once, as by a trap: a handler that
            // ran before them might never come back, and would find the stub in its context.
            LedTo::Entry { done: 1.. }
                if (is_signal
                    || event == Event::Stop && !dispositions::stops_by_default(signal))
                    && self.driver.engine.is_site(left.entry) =>
            {
                if is_signal {
                    self.postpone_signal(thread, signal)?;
                }
                self.handle_patch_hit(thread, left)?;
                Ok(true)
            }
            LedTo::Entry { done } => {
                if let Some(known) = self.threads.get_mut(&thread.0) {
                    known.sections_done = done;
                }
                Ok(false)
            }
            LedTo::Twin { original } => {
                let is_first = original == left.entry || original == left.jump;
                if is_fault && !is_first {
                    self.return_fault(thread, signal, original)?;
                }
                Ok(false)
            }
        }
    }

    /// Moves a thread that has faulted in a twin to the instruction itself, so that a
    /// handler sees the program: it returns to a byte that traps.
    fn return_fault(
        &mut self,
        thread: ThreadId,
        signal: i32,
        original: u64,
    ) -> Result<(), DebuggeeError> {
        self.set_counter(thread, original)?;
        if !dispositions::names_instruction(signal) {
            return Ok(());
        }
        let mut information =
            kernel::signal_information(thread.0).map_err(gone_or("read a signal", thread))?;
        kernel::set_fault_address(&mut information, original);
        ignore_gone(kernel::set_signal_information(thread.0, &information))
    }

    /// Returns true if a stopped thread has made a step up to the middle of a twin.
    fn is_in_middle_of_twin(&self, thread: ThreadId) -> Result<bool, DebuggeeError> {
        let counter = self.stop_registers(thread)?.kernel_counter;
        Ok(self.makes_step_in_twin(thread) && self.image.patches.is_middle_of_twin(counter))
    }

    /// Returns true if a thread has been resumed for a step that may be in a twin.
    fn makes_step_in_twin(&self, thread: ThreadId) -> bool {
        let known = self.threads.get(&thread.0);
        known.is_some_and(|it| it.motion == Motion::Step || it.leaves_copies)
    }

    /// Lets a thread execute the rest of a twin: the step of the program's instruction
    /// is not over. A thread that is to stop has not made it.
    fn finish_twin(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let known = self.threads.get(&thread.0);
        let is_held = known.is_some_and(|known| known.hold_requested);
        if is_held {
            self.leave_stub(thread)?;
        }
        self.continue_internally(thread)
    }

    /// Returns true if a thread that was asked to stop has trapped or faulted in
    /// code of juror's, and the signal of that is still to come: the kernel reports
    /// the request first. A thread that were led out now would get the signal at
    /// another instruction.
    fn is_before_own_signal(&self, thread: ThreadId) -> Result<bool, DebuggeeError> {
        let counter = self.stop_registers(thread)?.kernel_counter;
        let patches = &self.image.patches;
        let before = counter.wrapping_sub(1);
        let is_stray = |address: u64| {
            let patch = patches.covering(address);
            patch.is_some_and(|patch| is_inside(patch, address))
        };
        let is_ours = patches.stub_at(counter).is_some()
            || patches.is_gate(before)
            || is_stray(before)
            || is_stray(counter);
        Ok(is_ours && kernel::has_fault_waiting(thread.0))
    }

    /// Lets a thread run up to the stop of the signal that it has raised. One that
    /// job control has stopped gets it when it continues.
    fn run_to_own_signal(&mut self, thread: ThreadId, signal: i32) -> Result<bool, DebuggeeError> {
        if dispositions::stops_by_default(signal) {
            return Ok(false);
        }
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.state = State::Running;
            known.registers.take();
        }
        ignore_gone(kernel::resume(thread.0, 0))?;
        Ok(true)
    }

    /// Handles a thread that has come to a patched instruction and has not been
    /// led past it by the stub.
    fn handle_patch_hit(&mut self, thread: ThreadId, left: Left) -> Result<(), DebuggeeError> {
        if !self.driver.engine.is_site(left.entry) {
            // The site was removed since.
            return self.continue_internally(thread);
        }
        let done = match left.to {
            LedTo::Entry { done } => done,
            LedTo::Twin { .. } => 0,
        };
        let Some(known) = self.threads.get_mut(&thread.0) else {
            return Ok(());
        };
        known.hold_requested = false;
        known.sections_done = done;
        let Some(registers) = known.registers.get_mut() else {
            return Ok(());
        };
        registers.shown.set_instruction_pointer(left.entry);
        let stack = registers.shown.stack_pointer();
        self.feed(Input::Trapped {
            thread,
            address: left.entry,
            stack,
        })
    }

    /// Handles a thread that has trapped in the bytes of a jump, where an
    /// instruction used to begin.
    fn handle_stray(&mut self, thread: ThreadId, signal: i32) -> Result<bool, DebuggeeError> {
        let counter = self.stop_registers(thread)?.kernel_counter;
        let address = match signal {
            libc::SIGTRAP => counter.wrapping_sub(1),
            _ => counter,
        };
        let patches = &mut self.image.patches;
        let entry = self.driver.engine.patch_over(address);
        let found = match entry {
            Some(entry) => patches.list.get(&entry),
            None => patches.covering(address),
        };
        let is_stray =
            |patch: &&Patch| is_inside(patch, address) && patch.stub.twin_of(address).is_some();
        if found.filter(is_stray).is_none() {
            return Ok(false);
        }
        // A step that ends behind an instruction of one byte, which has been executed as a twin,
        // stops where a trap at it would.
        if signal == libc::SIGTRAP && signal_code(thread)? != libc::SI_KERNEL {
            return Ok(false);
        }
        let Some(entry) = entry else {
            // The jump was removed since. If the instruction itself has faulted, it does so
            // again.
            if self.has_retried(thread, address) {
                return Ok(false);
            }
            self.set_counter(thread, address)?;
            self.continue_internally(thread)?;
            return Ok(true);
        };
        let strays = patches.strays.entry(entry).or_default();
        *strays += 1;
        let are_many = *strays >= STRAYS_MAX;
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.hold_requested = false;
        }
        self.feed(Input::Stray { thread, address })?;
        if are_many {
            self.feed(Input::Unpatch { address: entry })?;
        }
        Ok(true)
    }

    /// Returns whether the last run of a thread began at this address for the same reason;
    /// otherwise notes that it does now.
    fn has_retried(&mut self, thread: ThreadId, address: u64) -> bool {
        let Some(known) = self.threads.get_mut(&thread.0) else {
            return false;
        };
        let has_retried = known.retried_before == Some(address);
        known.retries = (!has_retried).then_some(address);
        has_retried
    }

    /// Moves a stopped thread out of a stub, if it is in one.
    pub(super) fn leave_stub(&mut self, thread: ThreadId) -> Result<Option<Left>, DebuggeeError> {
        let registers = *self.stop_registers(thread)?;
        let patches = &self.image.patches;
        let counter = registers.kernel_counter;
        let mut present = to_stub(&registers.shown, counter);
        // A thread at the gate is before its trap, or was put back there from behind it.
        let is_at_gate = patches.is_gate(counter);
        let was_at_gate = patches.is_gate(counter.wrapping_sub(1))
            || is_at_gate && put_back::take_moved(thread.0);
        let place = if is_at_gate || was_at_gate {
            registers.shown.result()
        } else {
            counter
        };
        let Some(stub) = patches.stub_at(place).cloned() else {
            return Ok(None);
        };
        if is_at_gate || was_at_gate {
            present = stub.before_gate(&present);
        }
        let Some((entry, jump)) = self.place_of(&stub) else {
            return Ok(None);
        };
        let stack = StackTop::read(&self.memory, present.general[STACK_POINTER]);
        let read = |address: u64| stack.word(&self.memory, address);
        let record = registers.shown.get(Register::GsBase);
        let Some(out) = stub.lead_out(&present, record, &read) else {
            return Err(DebuggeeError::Memory {
                address: registers.shown.stack_pointer(),
                length: 8,
            });
        };
        for (address, word) in &out.writes {
            self.memory.write_raw(*address, &word.to_le_bytes())?;
        }
        let shown = from_stub(&out.registers, registers.shown);
        if shown != registers.shown || was_at_gate {
            kernel::set_registers(thread.0, &shown).map_err(gone_or("set registers", thread))?;
        }
        let known = self.threads.get_mut(&thread.0);
        if let Some(cached) = known.and_then(|known| known.registers.get_mut()) {
            cached.kernel_counter = shown.instruction_pointer();
            cached.shown = shown;
            cached.shown.set_instruction_pointer(match out.to {
                LedTo::Entry { .. } => entry,
                LedTo::Twin { original } if original == jump => entry,
                LedTo::Twin { original } => original,
            });
        }
        Ok(Some(Left {
            to: out.to,
            entry,
            jump,
            was_at_gate,
        }))
    }

    /// Returns the entry and the jump of the patch that leads to a stub.
    fn place_of(&self, stub: &Arc<dyn Stub>) -> Option<(u64, u64)> {
        let patches = &self.image.patches;
        let entry = *patches.entries.get(&stub.range().start)?;
        Some((entry, patches.list.get(&entry)?.jump))
    }
}

/// Returns true if an address is in the jump of a patch and in the replaced
/// instructions, behind the first byte.
fn is_inside(patch: &Patch, address: u64) -> bool {
    patch.jump < address && address < patch.end.min(patch.jump_end())
}

/// Returns true for the signals by which the bytes of a jump and the loads of a
/// stub end.
fn is_raised_by_code(signal: i32) -> bool {
    matches!(
        signal,
        libc::SIGTRAP | libc::SIGILL | libc::SIGSEGV | libc::SIGBUS
    )
}

/// Returns true if the signal for which a thread has stopped was raised by its
/// instruction.
fn is_own_fault(thread: ThreadId, signal: i32) -> Result<bool, DebuggeeError> {
    let information = kernel::signal_information(thread.0);
    let information = information.map_err(gone_or("read a signal", thread))?;
    Ok(dispositions::is_fault(signal, &information))
}

fn to_stub(shown: &Registers, counter: u64) -> StubRegisters {
    StubRegisters {
        general: shown.encoded(),
        counter,
        flags: shown.flags(),
    }
}

fn from_stub(stub: &StubRegisters, shown: Registers) -> Registers {
    let mut registers = shown;
    registers.set_encoded(stub.general);
    registers.set_instruction_pointer(stub.counter);
    registers.set_flags(stub.flags);
    // The kernel must not take the thread for one in a system call.
    registers.set_system_call(NO_SYSTEM_CALL);
    registers
}
