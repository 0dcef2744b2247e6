//! Beginning and ending calls.

use juror_arch::{NO_SYSTEM_CALL, Registers, VectorRegisters, flags};
use std::mem;

use juror_stepping::{Input, Owner, ThreadId};

use super::{Call, Calls, OpenCall};
use crate::calls::rescue::Before;
use crate::debuggee::Debuggee;
use crate::error::{DebuggeeError, gone_or};
use crate::kernel;
use crate::state::out_of_line::RETURN_CODE;
use crate::state::thread::{PendingSignal, State, StopRegisters};

impl Debuggee {
    /// Returns the calls that have not returned, in the order in which they
    /// began.
    pub fn open_calls(&self) -> impl DoubleEndedIterator<Item = &OpenCall> {
        self.calls.open.iter()
    }

    /// Returns the return address of calls; it belongs to no module.
    pub fn call_return_address(&self) -> Option<u64> {
        self.calls.return_address
    }

    /// Returns true if a stopped thread has just returned from its innermost
    /// call.
    pub fn has_returned(&self, thread: ThreadId) -> bool {
        let mut calls = self.calls.open.iter().rev();
        let Some(call) = calls.find(|call| call.thread == thread) else {
            return false;
        };
        self.registers(thread).is_ok_and(|now| {
            Some(now.instruction_pointer()) == self.calls.return_address
                && now.stack_pointer() == call.frame
        })
    }

    /// Selects which of the threads with open calls runs when it is resumed.
    pub fn select_caller(&mut self, thread: ThreadId) {
        if self.calls.depth(thread) > 0 {
            self.calls.chosen = Some(thread);
        }
    }

    /// Makes a waiting thread stand at the entry of a function. It runs when it
    /// is resumed, and every other thread stays stopped. All threads must be
    /// stopped.
    ///
    /// # Errors
    /// The thread runs or has ended, or its stack has no room: then nothing has
    /// changed.
    pub fn begin_call(&mut self, thread: ThreadId, call: &Call) -> Result<(), DebuggeeError> {
        self.needs_process()?;
        let failed = |errno| gone_or("call a function in the program", thread)(errno);
        if !self.stopped(thread)?.awaits_resume {
            return Err(DebuggeeError::NotStopped(thread));
        }
        self.leave_kernel(thread)?;
        let back = self.return_address()?;
        let stop = *self.stop_registers(thread)?;
        let kernel_registers = kernel::registers(thread.0).map_err(failed)?;
        let extended = kernel::extended_state(thread.0).map_err(failed)?;
        let mut bytes = back.to_le_bytes().to_vec();
        bytes.extend(&call.above);
        self.write_to_stack(thread, call.stack, &bytes)?;
        self.insert(back, Owner::Internal)?;
        let frame = call.stack.wrapping_add(8);
        let before = Before {
            registers: self.registers_of_return(thread)?,
            extended: &extended,
            signal_mask: kernel::signal_mask(thread.0).map_err(failed)?,
        };
        if !self.add_rescue(frame, &before)? && self.life.is_attached() {
            self.remove(back, Owner::Internal)?;
            return Err(no_way_back(self.rescue_obstacle(frame)));
        }

        // From here on only the thread's end makes anything fail.
        let depth = self.calls.depth(thread);
        self.feed(Input::Suspend { thread })?;
        let entry = entry_registers(&stop.shown, call);
        let entered =
            kernel::set_registers(thread.0, &entry).and_then(|()| set_vectors(thread, call));
        if let Err(errno) = entered {
            let _ = kernel::set_registers(thread.0, &kernel_registers);
            let _ = kernel::set_extended_state(thread.0, &extended);
            self.feed(Input::Restore { thread, depth })?;
            self.remove_rescue(frame);
            self.remove(back, Owner::Internal)?;
            return Err(failed(errno));
        }
        self.note_registers(
            thread,
            StopRegisters {
                kernel_counter: call.function,
                shown: entry,
            },
        );
        self.feed(Input::Jumped {
            thread,
            address: call.function,
        })?;
        self.defer_events();
        if self.calls.depth(thread) == 0 {
            self.set_muted(thread, true)?;
        }
        let known = self.stopped_mut(thread)?;
        let open = OpenCall {
            thread,
            number: call.number,
            frame,
            kernel_registers,
            stop,
            extended,
            pending: known.pending.take(),
            group_stopped: mem::take(&mut known.group_stopped),
            reenters_call: mem::take(&mut known.call.reenters),
            is_in_call: mem::take(&mut known.call.is_inside),
        };
        if self.calls.open.is_empty() {
            self.calls.still = self.threads.keys().copied().collect();
        }
        self.calls.chosen = Some(thread);
        self.calls.open.push(open);
        Ok(())
    }

    /// Ends calls of a stopped thread until `depth` of them are left, returned
    /// or not, and moves the thread back to where it was before.
    pub fn end_calls(&mut self, thread: ThreadId, depth: usize) -> Result<(), DebuggeeError> {
        let failed = |errno| gone_or("end the call of a function", thread)(errno);
        let own = self.calls.open.iter().enumerate();
        let mut own = own.filter(|(_, call)| call.thread == thread);
        let Some((first, _)) = own.nth(depth) else {
            return Ok(());
        };
        let returned = self.has_returned(thread);
        self.stopped(thread)?;
        self.leave_kernel(thread)?;
        let outermost = self.calls.open.remove(first);
        let before = self.calls.open.len();
        let mut position = 0;
        let mut frames = vec![outermost.frame];
        self.calls.open.retain(|call| {
            let inside = position >= first && call.thread == thread;
            position += 1;
            frames.extend(inside.then_some(call.frame));
            !inside
        });
        let ended = before - self.calls.open.len() + 1;

        kernel::set_registers(thread.0, &outermost.kernel_registers).map_err(failed)?;
        kernel::set_extended_state(thread.0, &outermost.extended).map_err(failed)?;
        for frame in frames {
            self.remove_rescue(frame);
        }
        if self.calls.depth(thread) == 0 {
            self.set_muted(thread, false)?;
        }
        self.note_registers(thread, outermost.stop);
        self.feed(Input::Restore { thread, depth })?;
        self.wait.drop_events_of(thread);
        let process = self.process;
        let known = self.stopped_mut(thread)?;
        known.group_stopped = outermost.group_stopped;
        known.call.reenters = outermost.reenters_call;
        known.call.is_inside = outermost.is_in_call;
        let own_signal = mem::replace(&mut known.pending, outermost.pending);
        if let Some(pending) = &mut known.pending {
            pending.fresh = false;
        }
        // A fault of the call, or a signal that it raised, ends with it; a
        // signal from elsewhere must not get lost.
        if let Some(signal) = own_signal.filter(|signal| !returned && is_foreign(process, signal)) {
            match &known.pending {
                None => known.pending = Some(signal),
                Some(_) => drop(kernel::signal_thread(process, thread.0, signal.number)),
            }
        }
        if let Some(back) = self.calls.return_address {
            for _ in 0..ended {
                self.remove(back, Owner::Internal)?;
            }
        }
        self.note_calls_ended();
        Ok(())
    }

    /// Ends all calls, before tracing ends.
    pub(crate) fn end_all_calls(&mut self) -> Result<(), DebuggeeError> {
        while let Some(call) = self.calls.open.last() {
            self.end_calls(call.thread, 0)?;
        }
        Ok(())
    }

    /// Forgets the calls of a thread that has ended.
    pub(crate) fn forget_calls_of(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let ended = self.calls.depth(thread);
        if ended == 0 {
            return Ok(());
        }
        let (gone, open) = mem::take(&mut self.calls.open)
            .into_iter()
            .partition(|call| call.thread == thread);
        self.calls.open = open;
        let gone: Vec<OpenCall> = gone;
        for call in gone {
            self.remove_rescue(call.frame);
        }
        if self.is_ending() {
            // No thread runs again.
            self.calls.deferred.clear();
            return Ok(());
        }
        if let Some(back) = self.calls.return_address {
            for _ in 0..ended {
                self.remove(back, Owner::Internal)?;
            }
        }
        self.note_calls_ended();
        Ok(())
    }

    /// Forgets all calls: the process has ended, or runs another program.
    pub(crate) fn forget_calls(&mut self) {
        self.calls = Calls::default();
    }

    fn note_calls_ended(&mut self) {
        self.calls.chosen = self.calls.open.last().map(|call| call.thread);
        if self.calls.open.is_empty() {
            self.calls.still.clear();
            self.wait.events.append(&mut self.calls.deferred);
        }
    }

    /// Defers the queued events until the calls are over: a thread with a stop
    /// event could not run before.
    fn defer_events(&mut self) {
        self.wait.defer_thread_events(&mut self.calls.deferred);
    }

    fn note_registers(&mut self, thread: ThreadId, registers: StopRegisters) {
        if let Some(known) = self.threads.get_mut(&thread.0)
            && known.state == State::Stopped
        {
            known.registers = registers.into();
        }
    }

    /// Returns the registers with which a thread goes on after a call: an
    /// interrupted system call is made again.
    fn registers_of_return(&self, thread: ThreadId) -> Result<Registers, DebuggeeError> {
        let stop = self.stop_registers(thread)?;
        let mut registers = stop.shown;
        if stop.restarts_system_call() {
            registers.set_result(registers.system_call());
            registers.set_instruction_pointer(self.engine_address(thread)?);
        }
        Ok(registers)
    }

    /// Returns the return address of calls: a trap is there while one is open.
    /// A process that was forked inside a call has no trap, and ends there.
    ///
    /// # Errors
    /// There is no memory for it, or an attached process would not find back from a call.
    fn return_address(&mut self) -> Result<u64, DebuggeeError> {
        if let Some(address) = self.calls.return_address {
            return Ok(address);
        }
        let own_number = if self.life.is_attached() {
            Some(self.prepare_rescue()?.map_err(no_way_back)?)
        } else {
            None
        };
        let no_room = || DebuggeeError::System {
            what: "call a function in the program",
            source: std::io::Error::other("juror has no memory in it for the return"),
        };
        let slot = self.image.out_of_line.take_slot().ok_or_else(no_room)?;
        match own_number {
            Some(process) if !self.write_rescue(slot, process)? => return Err(no_room()),
            Some(_) => {}
            None => self.memory.write_raw(slot, &RETURN_CODE)?,
        }
        self.calls.return_address = Some(slot);
        Ok(slot)
    }

    /// Writes to memory to which the program itself may write. The kernel lets
    /// a stack grow for its own thread only, so the thread makes a system call
    /// if need be.
    fn write_to_stack(
        &mut self,
        thread: ThreadId,
        address: u64,
        bytes: &[u8],
    ) -> Result<(), DebuggeeError> {
        if kernel::write_as_debuggee(self.process, address, bytes).is_ok() {
            return Ok(());
        }
        if let Some(gadget) = self.image.out_of_line.gadget() {
            // Stores the present signal mask there, and has no other effect.
            let size = size_of::<u64>() as u64;
            let arguments = [libc::SIG_BLOCK as u64, 0, address, size, 0, 0];
            self.call_system(thread, gadget, libc::SYS_rt_sigprocmask, arguments)?;
        }
        kernel::write_as_debuggee(self.process, address, bytes).map_err(|_| {
            DebuggeeError::NoStack {
                thread,
                length: bytes.len(),
            }
        })
    }
}

/// Returns that a call is not begun, since the program would not go on where it was if juror
/// were killed.
fn no_way_back(why: &str) -> DebuggeeError {
    DebuggeeError::System {
        what: "call a function in the program",
        source: std::io::Error::other(format!(
            "it would not go on where it was if juror were killed: {why}"
        )),
    }
}

fn entry_registers(now: &Registers, call: &Call) -> Registers {
    let mut entry = *now;
    for &(number, value) in &call.registers {
        entry.set_by_dwarf_number(number, value);
    }
    entry.set_instruction_pointer(call.function);
    entry.set_stack_pointer(call.stack);
    entry.set_flags(entry.flags() & !(flags::DIRECTION | flags::TRAP));
    // No system call is to be restarted now.
    entry.set_system_call(NO_SYSTEM_CALL);
    entry
}

/// Sets the vector registers of a call, and empties the x87 stack.
fn set_vectors(thread: ThreadId, call: &Call) -> kernel::Outcome<()> {
    let mut raw = kernel::float_registers(thread.0)?;
    let mut vectors = VectorRegisters::from_bytes(&raw);
    vectors.empty_x87();
    for &(index, value) in &call.vectors {
        if let Some(vector) = vectors.vectors.get_mut(index) {
            *vector = value;
        }
    }
    vectors.store(&mut raw);
    kernel::set_float_registers(thread.0, &raw)
}

/// Returns true if the signal was not sent by the process itself.
fn is_foreign(process: u32, signal: &PendingSignal) -> bool {
    let is_sent = signal.information.si_code <= 0;
    let by_itself = is_sent && kernel::sender(&signal.information) as u32 == process;
    signal.deliver && !signal.synchronous && !by_itself
}
