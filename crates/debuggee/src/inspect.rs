//! Inspecting a stopped debuggee and changing it: threads, registers, memory.

use juror_arch::{NO_SYSTEM_CALL, Register, Registers, VectorRegisters};
use juror_stepping::{Input, ThreadId};
use std::ops::Range;

use crate::debuggee::Debuggee;
use crate::error::{DebuggeeError, gone_or};
use crate::host::cpu::CpuPolicy;
use crate::image::modules;
use crate::kernel;
use crate::state::thread::{State, StopRegisters, Thread, ThreadInfo, ThreadState};

/// The field of `/proc/PID/stat` with the address of the arguments, counted from behind the name.
const ARGUMENTS_FIELD: usize = 45;

impl Debuggee {
    /// Returns why the process has no PID namespace of its own although one was
    /// asked for ([`crate::PidNamespace`]); a sentence for the user.
    pub fn namespace_refusal(&self) -> Option<&str> {
        self.host.pids.refusal()
    }

    /// Returns the CPU policy that the debuggee was launched with.
    pub fn cpu_policy(&self) -> CpuPolicy {
        self.host.cpu.policy()
    }

    /// Returns the kernel's numbers of the threads, in order, without the
    /// system calls that [`Debuggee::threads`] makes.
    pub fn thread_ids(&self) -> impl Iterator<Item = ThreadId> + '_ {
        let threads = self
            .threads
            .values()
            .filter(|thread| !thread.is_vfork_child);
        threads.map(|thread| thread.id)
    }

    /// Returns the memory in which the kernel has put the arguments of the program, and its environment.
    pub fn argument_ranges(&self) -> Option<(Range<u64>, Range<u64>)> {
        let text = std::fs::read_to_string(self.file_of("stat")).ok()?;
        // The name of the program may have spaces.
        let (_, fields) = text.rsplit_once(')')?;
        let mut fields = fields.split_whitespace().skip(ARGUMENTS_FIELD);
        let mut next = || fields.next()?.parse::<u64>().ok().filter(|it| *it != 0);
        Some((next()?..next()?, next()?..next()?))
    }

    /// Returns the threads that are not waiting to be resumed.
    pub fn moving_threads(&self) -> Vec<ThreadId> {
        let moving = self.threads.values().filter(|known| !known.awaits_resume);
        moving.map(|known| known.id).collect()
    }

    /// Returns true if job control has stopped the process: resuming its
    /// threads does not make them run, `SIGCONT` does.
    pub fn is_job_stopped(&self) -> bool {
        self.threads.values().any(|thread| thread.group_stopped)
    }

    /// Returns the threads, by their numbers.
    pub fn threads(&self) -> impl Iterator<Item = ThreadInfo> + '_ {
        self.threads
            .values()
            .filter(|thread| !thread.is_vfork_child)
            .map(|thread| {
                let id = thread.id;
                ThreadInfo {
                    id,
                    name: self.thread_name(id),
                    state: match thread.state {
                        State::Starting => ThreadState::Starting,
                        State::Running => ThreadState::Running,
                        State::Stopped => ThreadState::Stopped,
                        State::InVfork => ThreadState::WaitingForChild,
                    },
                    pc: self
                        .registers(id)
                        .ok()
                        .map(|registers| registers.instruction_pointer()),
                }
            })
    }

    fn thread_name(&self, thread: ThreadId) -> String {
        if let Some(core) = &self.core {
            return core.thread_name(thread);
        }
        let path = format!("/proc/{}/task/{}/comm", self.process, thread.0);
        let name = std::fs::read_to_string(path).unwrap_or_default();
        name.trim_end().to_owned()
    }

    /// Returns true if a thread is stopped until it is resumed.
    pub fn is_waiting(&self, thread: ThreadId) -> bool {
        self.threads
            .get(&thread.0)
            .is_some_and(|known| known.awaits_resume)
    }

    /// Returns the general registers of a stopped thread; read once per stop.
    pub fn registers(&self, thread: ThreadId) -> Result<&Registers, DebuggeeError> {
        self.stop_registers(thread)
            .map(|registers| &registers.shown)
    }

    /// Sets the general registers of a stopped thread. If the program counter
    /// changes, the thread continues there.
    pub fn set_registers(
        &mut self,
        thread: ThreadId,
        registers: &Registers,
    ) -> Result<(), DebuggeeError> {
        self.needs_process()?;
        self.stopped_mut(thread)?;
        let present = *self.stop_registers(thread)?;
        let mut raw = *registers;
        let jumps = registers.instruction_pointer() != present.shown.instruction_pointer();
        if !jumps {
            raw.set_instruction_pointer(present.kernel_counter);
        } else if registers.system_call() == present.shown.system_call() {
            // The interrupted system call must not be restarted elsewhere.
            raw.set_system_call(NO_SYSTEM_CALL);
        }
        kernel::set_registers(thread.0, &raw).map_err(gone_or("set registers", thread))?;
        let mut shown = *registers;
        shown.set_system_call(raw.system_call());
        if let Some(cached) = self
            .threads
            .get_mut(&thread.0)
            .and_then(|known| known.registers.get_mut())
        {
            *cached = StopRegisters {
                kernel_counter: raw.instruction_pointer(),
                shown,
            };
        }
        if jumps {
            self.feed(Input::Jumped {
                thread,
                address: registers.instruction_pointer(),
            })?;
        }
        Ok(())
    }

    /// Returns the x87 and SSE registers of a stopped thread.
    pub fn vector_registers(&self, thread: ThreadId) -> Result<VectorRegisters, DebuggeeError> {
        self.stopped(thread)?;
        if let Some(core) = &self.core {
            return core.vector_registers(thread);
        }
        kernel::float_registers(thread.0)
            .map(|raw| VectorRegisters::from_bytes(&raw))
            .map_err(gone_or("read vector registers", thread))
    }

    /// Returns the upper halves of the 32-byte vector registers of a stopped
    /// thread; none if the machine has none.
    pub fn upper_halves(&self, thread: ThreadId) -> Result<Option<[[u8; 16]; 16]>, DebuggeeError> {
        self.stopped(thread)?;
        if let Some(core) = &self.core {
            return core.upper_halves(thread);
        }
        kernel::extended_state(thread.0)
            .map(|state| state.upper_halves())
            .map_err(gone_or("read vector registers", thread))
    }

    /// Sets the x87 and SSE registers of a stopped thread.
    pub fn set_vector_registers(
        &mut self,
        thread: ThreadId,
        registers: &VectorRegisters,
    ) -> Result<(), DebuggeeError> {
        self.needs_process()?;
        self.stopped(thread)?;
        let failed = |errno| gone_or("set vector registers", thread)(errno);
        let mut raw = kernel::float_registers(thread.0).map_err(failed)?;
        registers.store(&mut raw);
        kernel::set_float_registers(thread.0, &raw).map_err(failed)
    }

    /// Returns the address of the list of robust futexes of a thread, which the kernel goes
    /// through at its end; 0 for none.
    pub fn robust_list(&self, thread: ThreadId) -> Result<u64, DebuggeeError> {
        self.needs_process()?;
        kernel::robust_list(thread.0).map_err(gone_or("read the robust futexes", thread))
    }

    /// Fills `bytes` from the debuggee's memory as the program knows it:
    /// juror's traps are not seen. Works while threads run.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), DebuggeeError> {
        self.memory.read(address, bytes)
    }

    /// Fills as many leading bytes as are mapped, as [`Debuggee::read`] does;
    /// returns their number.
    pub fn read_up_to(&self, address: u64, bytes: &mut [u8]) -> usize {
        self.memory.read_up_to(address, bytes)
    }

    /// Reads eight bytes, low byte first.
    pub fn read_u64(&self, address: u64) -> Result<u64, DebuggeeError> {
        let mut bytes = [0; 8];
        self.memory.read(address, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Reads the bytes up to the first zero; at most `limit` of them, and none
    /// beyond the end of mapped memory.
    pub fn read_text(&self, address: u64, limit: usize) -> Result<Vec<u8>, DebuggeeError> {
        self.memory.read(address, &mut [0])?;
        Ok(modules::read_text(&self.memory, address, limit))
    }

    /// Writes to the debuggee's memory, including read-only pages. Points stay,
    /// and a thread that stands at one executes the new instruction.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), DebuggeeError> {
        self.needs_process()?;
        let end = address.saturating_add(bytes.len() as u64);
        self.unpatch_in(address..end)?;
        let written = self.memory.write(address, bytes);
        self.replan_overwritten(address, bytes.len());
        // juror's writes are no accesses of the program.
        for watch in &mut self.watches.list {
            watch.look(&self.memory);
        }
        written
    }

    pub(crate) fn stopped(&self, thread: ThreadId) -> Result<&Thread, DebuggeeError> {
        match self.threads.get(&thread.0) {
            None => Err(DebuggeeError::ThreadGone(thread)),
            Some(known) if known.state != State::Stopped => Err(DebuggeeError::NotStopped(thread)),
            Some(known) => Ok(known),
        }
    }

    pub(crate) fn stopped_mut(&mut self, thread: ThreadId) -> Result<&mut Thread, DebuggeeError> {
        self.stopped(thread)?;
        self.threads
            .get_mut(&thread.0)
            .ok_or(DebuggeeError::ThreadGone(thread))
    }

    /// Returns the registers of the present stop, read from the kernel once.
    pub(crate) fn stop_registers(&self, thread: ThreadId) -> Result<&StopRegisters, DebuggeeError> {
        let Some(known) = self.threads.get(&thread.0) else {
            return Err(DebuggeeError::ThreadGone(thread));
        };
        if let Some(registers) = known.registers.get() {
            return Ok(registers);
        }
        if known.state != State::Stopped {
            return Err(DebuggeeError::NotStopped(thread));
        }
        let raw = kernel::registers(thread.0).map_err(gone_or("read registers", thread))?;
        let mut registers = StopRegisters {
            kernel_counter: raw.instruction_pointer(),
            shown: raw,
        };
        if let Some(place) = self.image.original_of(raw.instruction_pointer()) {
            registers.shown.set_instruction_pointer(place.address);
            let is_slot = !self.image.patches.is_twin_inside(raw.instruction_pointer());
            if place.executed && is_slot {
                leave_slot(known, place.address, &mut registers);
            }
        }
        Ok(known.registers.get_or_init(|| registers))
    }
}

/// Moves a thread from the rest of a slot, which leads back to the program,
/// into the program: so a step or an inspection finds it there. A system call
/// that is not over, or will be restarted, still needs its slot.
fn leave_slot(known: &Thread, address: u64, registers: &mut StopRegisters) {
    let in_system_call = registers.shown.is_in_system_call();
    if in_system_call {
        // The processor left the address after its instruction here.
        registers.shown.set(Register::Rcx, address);
    }
    if known.at_entry || registers.restarts_system_call() {
        return;
    }
    let mut raw = registers.shown;
    raw.set_instruction_pointer(address);
    let left = if in_system_call {
        kernel::set_registers(known.id.0, &raw)
    } else {
        kernel::set_counter(known.id.0, address)
    };
    if left.is_ok() {
        registers.kernel_counter = address;
    }
}
