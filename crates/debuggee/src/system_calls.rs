//! Stops at the entry and the exit of system calls.
//!
//! A launched program may have a filter (`kernel::call_filter`): then the calls that it names stop, and no
//! others, as long as no other call is requested. Otherwise calls cost two stops each, requested
//! or not, so nothing is traced without a request. Invariant: an entry is reported once, also if
//! juror injects a call before the program's (`calls::inject`) or the instruction is executed by a step.

pub(crate) mod interrupted;

use juror_arch::instruction::SYSTEM_CALL;
use juror_stepping::ThreadId;

use crate::debuggee::Debuggee;
use crate::error::{DebuggeeError, gone_or};
use crate::kernel::{self, CallStop, call_filter, plain_files};
use crate::state::call_state::{CallNeeds, CallState, EntryReport};
use crate::state::stop_event::{StopEvent, SystemCallPhase};
use crate::state::thread::{Motion, State};
use crate::state::wanted_calls::{SystemCalls, installs_filter};

/// The number of a system call that was left at its entry: there was none.
const LEFT: u64 = u64::MAX;

impl Debuggee {
    /// Sets the calls for which [`StopEvent::SystemCall`] is reported. A thread
    /// that runs at this moment is traced from its next stop on.
    pub fn catch_system_calls(&mut self, calls: SystemCalls) {
        self.system_calls.set_developers(calls);
    }

    /// Sets the calls that monitors need, in addition to those of
    /// [`Debuggee::catch_system_calls`]. With a filter, an exit is reported only if it is one of
    /// `exits`: those that monitors need now or later.
    pub fn monitor_system_calls(&mut self, calls: SystemCalls, exits: SystemCalls) {
        self.system_calls.set_monitors(calls, exits);
    }

    /// Sets the calls that the control of the threads needs, in addition, and those whose exit it
    /// needs.
    pub fn schedule_system_calls(&mut self, calls: SystemCalls, exits: SystemCalls) {
        self.system_calls.set_scheduled(calls, exits);
    }

    /// Returns whether the user or a monitor needs a call.
    pub fn is_call_wanted(&self, number: u64) -> bool {
        self.system_calls.is_wanted(number)
    }

    /// Returns whether calls that the filter lets pass do not stop, and nobody needs to know of them but
    /// the control of the threads.
    pub fn lets_calls_pass(&self) -> bool {
        self.system_calls.are_the_controls() && !self.watches.is_live()
    }

    /// Returns whether a descriptor leads to a regular file or a directory whose reads and writes wait for
    /// no other program.
    pub fn has_plain_file(&self, descriptor: u64) -> bool {
        plain_files::leads_to_one(self.process, descriptor)
    }

    /// Returns how the requested calls stop, in words for the user: `filter`, or `every call
    /// stops` and the reason. None if nothing was said about it at the launch.
    pub fn call_stops(&self) -> Option<String> {
        self.system_calls.words(self.watches.is_live())
    }

    /// Handles a stop at the entry of a call that the filter names.
    pub(crate) fn handle_filtered_call(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        if self.refuse_foreign_call(thread)? {
            return self.continue_internally(thread);
        }
        let Some(known) = self.threads.get_mut(&thread.0) else {
            return Ok(());
        };
        known.at_entry = true;
        if known.call.is_inside {
            // It was reported when the thread came to the call.
            return self.continue_internally(thread);
        }
        let stop = CallStop {
            is_entry: true,
            is_wide: true,
        };
        self.handle_call_stop(thread, stop, EntryReport::Filtered)
    }

    /// A call that stops by a filter of the program's own fails, as it does without a tracer.
    /// Returns true if it is one.
    fn refuse_foreign_call(&mut self, thread: ThreadId) -> Result<bool, DebuggeeError> {
        let failed = |errno| gone_or("examine a system call", thread)(errno);
        if !self.system_calls.is_filtered_by_program() {
            return Ok(false);
        }
        if kernel::event_message(thread.0).map_err(failed)? == u32::from(call_filter::MARK) {
            return Ok(false);
        }
        let mut raw = kernel::registers(thread.0).map_err(failed)?;
        raw.set_system_call(LEFT);
        raw.set_result(-i64::from(libc::ENOSYS) as u64);
        kernel::set_registers(thread.0, &raw).map_err(failed)?;
        Ok(true)
    }

    /// Decides how a thread goes on, as far as its system calls are concerned. Returns true if it
    /// is resumed up to its next call.
    #[inline]
    pub(crate) fn stops_at_next_call(&mut self, thread: ThreadId, motion: Motion) -> bool {
        let Some(known) = self.threads.get(&thread.0) else {
            return false;
        };
        // The end of a step over a call is its exit.
        let is_left_out = known.call.is_at_filter() && motion == Motion::Run;
        let every = !known.is_vfork_child && self.system_calls.needs_every()
            || self.watches.is_live()
            || self.driver.engine.awaits_handler(thread);
        let exit = !is_left_out || !known.is_vfork_child && self.needs_present_exit(thread);
        let needs = CallNeeds { every, exit };
        let known = self.threads.get_mut(&thread.0);
        known.is_some_and(|known| known.call.go_on(needs))
    }

    fn needs_present_exit(&self, thread: ThreadId) -> bool {
        let registers = self.stop_registers(thread);
        registers.is_ok_and(|it| self.system_calls.needs_exit(it.shown.system_call()))
    }

    /// Notes of a new thread or process that it will leave the call that has made it, if the exit
    /// of that is needed.
    pub(crate) fn note_birth_in_call(&mut self, thread: ThreadId) {
        if self.system_calls.filter().is_none() || !self.needs_present_exit(thread) {
            return;
        }
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.call.is_inside = true;
        }
    }

    /// Handles the end of a call that may have installed a filter of the program's own.
    fn note_filter_of_program(&mut self, number: u64, arguments: [u64; 6]) {
        let wanted = &self.system_calls;
        let is_news = wanted.filter().is_some() && !wanted.is_filtered_by_program();
        if !is_news || !installs_filter(number) || !self.is_seccomp_filtered_now() {
            return;
        }
        self.system_calls.note_filter_of_program();
        let [_, flags, ..] = arguments;
        let is_for_all =
            number == libc::SYS_seccomp as u64 && flags & libc::SECCOMP_FILTER_FLAG_TSYNC != 0;
        if is_for_all && self.system_calls.needs_every() {
            // A running thread would stop at every call only from its next stop on.
            for known in self
                .threads
                .values()
                .filter(|it| it.state == State::Running)
            {
                let _ = kernel::interrupt(known.id.0);
            }
        }
    }

    /// Handles a stop at the entry or the exit of a system call.
    pub(crate) fn handle_system_call(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let failed = gone_or("examine a system call", thread);
        let stop = kernel::call_stop(thread.0).map_err(failed)?;
        self.handle_call_stop(thread, stop, EntryReport::Requested)
    }

    fn handle_call_stop(
        &mut self,
        thread: ThreadId,
        stop: CallStop,
        report: EntryReport,
    ) -> Result<(), DebuggeeError> {
        let at_entry = stop.is_entry;
        let (mut was_in_call, mut repeated) = (false, false);
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.at_entry = at_entry;
            if at_entry {
                repeated = !known.call.enter(report)
            } else {
                was_in_call = known.call.exit()
            }
        }
        let registers = self.stop_registers(thread)?.shown;
        // The registers are those of the code that the handler had interrupted,
        // in no call.
        let has_returned = was_in_call && !at_entry && registers.system_call() == LEFT;
        if at_entry && registers.system_call() != libc::SYS_rt_sigreturn as u64 || has_returned {
            self.note_call(thread, has_returned)?;
        }
        let accesses = if at_entry {
            Vec::new()
        } else {
            self.kernel_accesses(thread)?
        };
        if at_entry && self.needs_open_pages(thread)? {
            self.open_for_call(thread)?;
            let is_away = self.threads.get(&thread.0).is_some_and(|it| !it.at_entry);
            if is_away {
                return self.continue_internally(thread);
            }
        }
        if !at_entry {
            let arguments = registers.system_call_arguments();
            self.note_fault_action(
                registers.system_call() as i64,
                arguments,
                registers.result() as i64,
            )?;
            self.note_seccomp_filter(registers.system_call() as i64);
            self.note_filter_of_program(registers.system_call(), arguments);
            self.close_after_call(thread)?;
        }
        let Some(known) = self.threads.get_mut(&thread.0) else {
            return Ok(());
        };
        let is_reported = std::mem::take(&mut known.exec_exit_reported) && !at_entry;
        let number = registers.system_call();
        if has_returned {
            return self.continue_after_call(thread);
        }
        if !at_entry && number == LEFT {
            return self.continue_internally(thread);
        }
        if repeated || is_reported || known.is_vfork_child || !self.is_reported(number, stop) {
            return if accesses.is_empty() {
                self.continue_after_call(thread)
            } else {
                self.report_accesses(thread, accesses)
            };
        }
        let phase = if at_entry {
            SystemCallPhase::Entry {
                arguments: registers.system_call_arguments(),
            }
        } else {
            SystemCallPhase::Exit {
                result: registers.result() as i64,
            }
        };
        self.interrupt_engine(thread)?;
        self.queue_event(StopEvent::SystemCall {
            thread,
            number,
            phase,
        });
        if !accesses.is_empty() {
            self.queue_event(StopEvent::Accessed { thread, accesses });
        }
        Ok(())
    }

    /// Returns true if a call is requested. A number of another architecture has another meaning.
    fn is_reported(&self, number: u64, stop: CallStop) -> bool {
        let all = &self.system_calls.all;
        all.contains(number) && (stop.is_wide || *all == SystemCalls::All)
    }

    /// Returns true if a stopped thread will next enter a system call, or leave
    /// the one that it is in: a single step would pass both without a stop.
    pub(crate) fn enters_system_call(&self, thread: ThreadId) -> bool {
        if self
            .threads
            .get(&thread.0)
            .is_some_and(|it| it.call.is_inside)
        {
            return true;
        }
        let Ok(registers) = self.stop_registers(thread) else {
            return false;
        };
        let mut bytes = [0; SYSTEM_CALL.len()];
        let read = self.memory.read(registers.kernel_counter, &mut bytes);
        read.is_ok() && bytes == SYSTEM_CALL
    }

    /// Moves a thread from the entry of a system call to before its
    /// instruction, where it can be used for something else. It enters the call
    /// again when it continues.
    pub(crate) fn leave_entry(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let failed = |errno| gone_or("set registers", thread)(errno);
        if !self.stopped(thread)?.at_entry {
            return Ok(());
        }
        let mut registers = *self.stop_registers(thread)?;
        if registers.shown.system_call() == LEFT {
            // It has its result, and is not made.
            let known = self.stopped_mut(thread)?;
            known.at_entry = false;
            known.inside_kernel = false;
            known.call = CallState::default();
            return Ok(());
        }
        let mut raw = kernel::registers(thread.0).map_err(failed)?;
        raw.repeat_system_call();
        kernel::set_registers(thread.0, &raw).map_err(failed)?;
        registers.kernel_counter = raw.instruction_pointer();
        registers.shown.repeat_system_call();
        let place = self.image.original_of(registers.kernel_counter);
        let address = place.map_or(registers.kernel_counter, |place| place.address);
        registers.shown.set_instruction_pointer(address);
        let known = self.stopped_mut(thread)?;
        known.at_entry = false;
        known.inside_kernel = false;
        known.call.leave();
        known.registers = registers.into();
        Ok(())
    }
}
