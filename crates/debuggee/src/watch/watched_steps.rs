//! Traps while memory is watched: of debug registers, and of steps that are not
//! reported.
//!
//! In the stepping tier a thread runs by single steps. Before each, its
//! instruction is decoded; an access to watched bytes is reported when the step
//! is done. So is that of a requested step.
//!
//! Invariant: an instruction that did not run is never reported. A signal may
//! take the place of the step (its handler is entered), and a fault may end it.

use juror_arch::INSTRUCTION_LENGTH_MAX;
use juror_arch::{Register, Registers};
use std::ops::Range;

use juror_stepping::{Access, AccessKinds, AccessState, Input, ThreadId, accesses_of};

use crate::debuggee::Debuggee;
use crate::error::{DebuggeeError, gone_or};
use crate::kernel::{self, Event, Outcome, Status, dispositions, pending_stops};
use crate::state::stop_event::StopEvent;
use crate::state::thread::Motion;
use crate::state::watched_step::WatchedStep;
use crate::watch::{AccessKind, MemoryAccess, WatchTier, joined_bytes};

/// `si_code` of the end of a single step.
const TRAP_TRACE: i32 = 2;
/// The instruction `int1`.
const INT1: u8 = 0xf1;
/// `si_code` of a debug exception whose cause the status register does not say: of the
/// instruction `int1`, and, once in a million times on some virtual machines, of a debug register.
const TRAP_WITHOUT_CAUSE: i32 = 1;
/// `si_code` of a debug register.
const TRAP_HARDWARE: i32 = 4;
/// The `syscall` instruction.
const SYSTEM_CALL: [u8; 2] = [0x0f, 0x05];

/// The end of a step by [`Debuggee::step_alone`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepEnd {
    Stepped,
    /// The instruction raised this signal and has not run.
    Faulted(i32),
}

impl Debuggee {
    /// Lets a thread run while memory is watched: to its next system call, or
    /// by steps if the stepping tier needs them, or up to the beginning of a
    /// handler if that is requested (`steps_internally`).
    pub(crate) fn run_watched(
        &mut self,
        thread: ThreadId,
        motion: Motion,
        signal: i32,
    ) -> Result<Outcome<()>, DebuggeeError> {
        if signal == 0 && self.watches.pages.are_open() {
            self.end_dropped_delivery(thread);
            self.close_unneeded(thread)?;
        }
        self.note_fault_mask(thread)?;
        let known = self.threads.get(&thread.0);
        let interrupts_arrival = known.is_some_and(|known| known.steps_internally);
        // The step ends before the handler's first instruction.
        let enters_handler = interrupts_arrival
            || signal != 0 && self.must_step() && dispositions::is_caught(self.process, signal);
        let must_step = motion == Motion::Step || interrupts_arrival || self.must_step();
        let Some(known) = self.threads.get_mut(&thread.0) else {
            return Ok(Ok(()));
        };
        known.steps_internally = false;
        known.watched_step = None;
        if known.call.is_inside || !must_step {
            return Ok(kernel::resume_to_system_call(thread.0, signal));
        }
        let step = match self.next_instruction(thread)? {
            NextInstruction::SystemCall if enters_handler => None,
            NextInstruction::SystemCall => {
                return Ok(kernel::resume_to_system_call(thread.0, signal));
            }
            NextInstruction::Other(step) => step,
        };
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.watched_step = step;
            known.steps_internally = motion != Motion::Step;
        }
        Ok(kernel::single_step(thread.0, signal))
    }

    /// Ends the delivery of a signal for which the pages are open: the thread
    /// runs without it, unless it comes later.
    fn end_dropped_delivery(&mut self, thread: ThreadId) {
        let waits = |known: &crate::state::thread::Thread| known.pending.is_some();
        if !self.threads.get(&thread.0).is_some_and(waits) {
            self.end_delivery(thread);
        }
    }

    /// Returns true if threads must run by steps.
    fn must_step(&self) -> bool {
        self.watches.has_stepping() || self.watches.pages.are_open()
    }

    /// Returns the next instruction of a thread with its watched accesses, if
    /// there are any.
    pub(crate) fn watched_step(
        &self,
        thread: ThreadId,
    ) -> Result<Option<WatchedStep>, DebuggeeError> {
        Ok(match self.next_instruction(thread)? {
            NextInstruction::SystemCall => None,
            NextInstruction::Other(step) => step,
        })
    }

    fn next_instruction(&self, thread: ThreadId) -> Result<NextInstruction, DebuggeeError> {
        let registers = self.stop_registers(thread)?;
        let counter = registers.kernel_counter;
        let mut bytes = [0; INSTRUCTION_LENGTH_MAX];
        let count = self.memory.read_up_to(counter, &mut bytes);
        let bytes = bytes.get(..count).unwrap_or(&[]);
        if bytes.starts_with(&SYSTEM_CALL) {
            return Ok(NextInstruction::SystemCall);
        }
        let accesses: Vec<Access> = accesses_of(bytes, counter, &state_of(&registers.shown));
        let is_stepped = |tier| tier == WatchTier::Stepping || tier == WatchTier::Page;
        let concerns = |access: &Access| {
            let mut watches = self.watches.list.iter();
            watches.any(|watch| {
                is_stepped(watch.tier) && watch.ranges.iter().any(|range| access.overlaps(range))
            })
        };
        let address = registers.shown.instruction_pointer();
        let step = accesses
            .iter()
            .any(concerns)
            .then_some(WatchedStep { address, accesses });
        Ok(NextInstruction::Other(step))
    }

    /// Handles a `SIGTRAP` while memory is watched or debug registers are set;
    /// returns `None` if it is caused by neither.
    pub(crate) fn handle_watched_trap(
        &mut self,
        thread: ThreadId,
        code: i32,
    ) -> Result<Option<()>, DebuggeeError> {
        let Some(known) = self.threads.get_mut(&thread.0) else {
            return Ok(Some(()));
        };
        let step = known.watched_step.take();
        let was_internal = std::mem::take(&mut known.steps_internally);
        let is_delivery = self.end_delivery(thread);
        let is_frame = code == libc::SIGTRAP && (was_internal || is_delivery);
        let unsaid = match code {
            TRAP_WITHOUT_CAUSE => self.only_data_register(thread)?,
            _ => None,
        };
        if code != TRAP_HARDWARE && code != TRAP_TRACE && !is_frame && unsaid.is_none() {
            return Ok(None);
        }
        let mut hits = self.take_hardware_hits(thread)?;
        hits.extend(unsaid.filter(|_| hits.is_empty()));
        let counter = self.stop_registers(thread)?.shown.instruction_pointer();
        let is_site = |hit: &juror_stepping::DebugRegister| {
            hit.kind == juror_stepping::HardwareKind::Execute && hit.address == counter
        };
        let mut accesses = Vec::new();
        self.hardware_accesses(&hits, &mut accesses);
        if code == TRAP_TRACE
            && let Some(step) = &step
        {
            self.stepped_accesses(step, &mut accesses);
        }
        if is_frame {
            self.frame_accesses(thread, &mut accesses)?;
        }
        if !accesses.is_empty() {
            self.finish_repetition(thread, &mut accesses)?;
            return self.report_accesses(thread, accesses).map(Some);
        }
        if hits.iter().any(is_site) && self.is_hardware_site(counter) {
            return self.handle_hardware_hit(thread, counter).map(Some);
        }
        if was_internal || code == TRAP_HARDWARE {
            // Nothing that is still watched.
            return self.continue_internally(thread).map(Some);
        }
        Ok(None)
    }

    /// Returns the debug register that a trap without a cause is of: the only one of the thread,
    /// for data, unless the thread has executed `int1`.
    fn only_data_register(
        &mut self,
        thread: ThreadId,
    ) -> Result<Option<juror_stepping::DebugRegister>, DebuggeeError> {
        let only = self.only_register(thread);
        let only = only.filter(|it| it.kind != juror_stepping::HardwareKind::Execute);
        if only.is_none() {
            return Ok(None);
        }
        let counter = self.stop_registers(thread)?.shown.instruction_pointer();
        let mut last = [0];
        let is_read = self.read(counter.wrapping_sub(1), &mut last).is_ok();
        Ok(only.filter(|_| is_read && last != [INT1]))
    }

    /// Handles a thread that is about to execute an instruction that a debug
    /// register watches.
    fn handle_hardware_hit(&mut self, thread: ThreadId, address: u64) -> Result<(), DebuggeeError> {
        let is_reported = self.driver.engine.reported_at(thread) == Some(address);
        let is_silent = self
            .threads
            .get(&thread.0)
            .is_none_or(|it| it.is_vfork_child);
        if is_reported || is_silent {
            // It is being stepped over a site at the same address.
            return self.continue_internally(thread);
        }
        self.interrupt_engine(thread)?;
        self.queue_event(StopEvent::HardwareHit { thread, address });
        Ok(())
    }

    /// Appends the accesses of an instruction that has run, to memory that no
    /// debug register watches.
    pub(crate) fn stepped_accesses(
        &mut self,
        step: &WatchedStep,
        accesses: &mut Vec<MemoryAccess>,
    ) {
        let memory = &self.memory;
        let watches = self.watches.list.iter_mut();
        for watch in watches.filter(|watch| watch.tier != WatchTier::Hardware) {
            let touches = |access: &&Access| watch.ranges.iter().any(|it| access.overlaps(it));
            let (mut reads, mut writes, mut may_write) = (false, false, false);
            for access in step.accesses.iter().filter(touches) {
                reads |= access.reads;
                writes |= access.writes && access.certain;
                may_write |= access.writes;
            }
            let writes = writes || may_write && watch.look(memory);
            let kind = if writes {
                AccessKind::Write
            } else {
                AccessKind::Read
            };
            let wanted = if writes {
                watch.kinds.contains(AccessKinds::WRITE)
            } else {
                reads && watch.kinds.contains(AccessKinds::READ)
            };
            if wanted {
                let is_meant = |it: &&Access| if writes { it.writes } else { it.reads };
                let meant = step.accesses.iter().filter(is_meant);
                let bytes = meant.fold(None, |bytes, access| {
                    let end = access.address.saturating_add(access.length);
                    joined_bytes(bytes, watch.part_of(&(access.address..end)))
                });
                accesses.push(MemoryAccess {
                    bytes,
                    instruction: Some(step.address),
                    ..watch.access(kind)
                });
            }
        }
    }

    /// Reports accesses; the thread waits.
    pub(crate) fn report_accesses(
        &mut self,
        thread: ThreadId,
        accesses: Vec<MemoryAccess>,
    ) -> Result<(), DebuggeeError> {
        for watch in &mut self.watches.list {
            watch.look(&self.memory);
        }
        if self
            .threads
            .get(&thread.0)
            .is_none_or(|it| it.is_vfork_child)
        {
            return self.continue_internally(thread);
        }
        self.interrupt_engine(thread)?;
        self.queue_event(StopEvent::Accessed { thread, accesses });
        Ok(())
    }

    /// Finishes a repeated string instruction, which traps after each element.
    /// Its further accesses to the watched bytes are part of the same access.
    pub(crate) fn finish_repetition(
        &mut self,
        thread: ThreadId,
        accesses: &mut Vec<MemoryAccess>,
    ) -> Result<(), DebuggeeError> {
        while self.repeats_on(thread, |it, bytes| it.watches.covers(bytes))? {
            let step = self.watched_step(thread)?;
            if self.step_alone(thread)? != StepEnd::Stepped {
                break;
            }
            let hits = self.take_hardware_hits(thread)?;
            let mut more = Vec::new();
            self.hardware_accesses(&hits, &mut more);
            if let Some(step) = &step {
                self.stepped_accesses(step, &mut more);
            }
            for access in more {
                note_access(accesses, access);
            }
        }
        Ok(())
    }

    /// Returns true if a thread stands in the middle of a repeated string
    /// instruction whose next element is relevant.
    pub(crate) fn repeats_on(
        &self,
        thread: ThreadId,
        matters: impl Fn(&Self, &Range<u64>) -> bool,
    ) -> Result<bool, DebuggeeError> {
        let registers = self.stop_registers(thread)?;
        let counter = registers.kernel_counter;
        let mut bytes = [0; INSTRUCTION_LENGTH_MAX];
        let count = self.memory.read_up_to(counter, &mut bytes);
        let bytes = bytes.get(..count).unwrap_or(&[]);
        if !juror_stepping::is_repeated(bytes) {
            return Ok(false);
        }
        let next = accesses_of(bytes, counter, &state_of(&registers.shown));
        Ok(next.iter().any(|access| {
            let end = access.address.saturating_add(access.length);
            matters(self, &(access.address..end))
        }))
    }

    /// Makes a stopped thread execute one instruction while everything waits:
    /// signals are deferred, and nothing is reported.
    pub(crate) fn step_alone(&mut self, thread: ThreadId) -> Result<StepEnd, DebuggeeError> {
        let failed = |errno| gone_or("step the program's thread", thread)(errno);
        let mask = self.block_signals(thread)?;
        let end = loop {
            kernel::single_step(thread.0, 0).map_err(failed)?;
            match kernel::wait_for(thread.0).map_err(failed)? {
                Status::Stopped {
                    signal: libc::SIGTRAP,
                    event: Event::Signal,
                } => break StepEnd::Stepped,
                Status::Stopped {
                    signal: libc::SIGSTOP,
                    event: Event::Signal,
                } => {
                    // Cannot be blocked; sent again, for later.
                    let _ = kernel::signal_process(self.process as i32, libc::SIGSTOP);
                }
                Status::Stopped {
                    signal,
                    event: Event::Signal,
                } => break StepEnd::Faulted(signal),
                Status::Stopped {
                    event: Event::Exit, ..
                }
                | Status::Exited { .. }
                | Status::Killed { .. } => {
                    pending_stops::put(
                        thread.0,
                        Status::Stopped {
                            signal: 0,
                            event: Event::Exit,
                        },
                    );
                    return Err(DebuggeeError::ThreadGone(thread));
                }
                Status::Stopped { .. } => {}
            }
        };
        kernel::set_signal_mask(thread.0, mask).map_err(failed)?;
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.note_stop(true);
        }
        Ok(end)
    }

    /// Passes the end of a step, after the thread was moved on by hand, to the
    /// engine; or lets it run on.
    pub(crate) fn continue_after_step(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let is_step = self
            .threads
            .get(&thread.0)
            .is_some_and(|known| known.motion == Motion::Step);
        if !is_step {
            return self.continue_internally(thread);
        }
        let address = self.stop_registers(thread)?.shown.instruction_pointer();
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.hold_requested = false;
        }
        self.feed(Input::Stepped { thread, address })
    }
}

/// Merges an access into those of the same instruction, one for each watch.
pub(crate) fn note_access(accesses: &mut Vec<MemoryAccess>, access: MemoryAccess) {
    match accesses.iter_mut().find(|it| it.watch == access.watch) {
        Some(known) => known.extend(access.bytes),
        None => accesses.push(access),
    }
}

/// The next instruction of a thread.
enum NextInstruction {
    SystemCall,
    /// Another one, with its watched accesses, if there are any.
    Other(Option<WatchedStep>),
}

/// Returns the registers on which addresses depend.
pub(crate) fn state_of(registers: &Registers) -> AccessState {
    AccessState {
        general: registers.encoded(),
        fs_base: registers.get(Register::FsBase),
        gs_base: registers.get(Register::GsBase),
    }
}
