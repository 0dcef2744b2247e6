//! Stops at the entry and the exit of system calls.
//!
//! They cost two stops for every call of the program, requested or not, so
//! nothing is traced without a request. Invariant: an entry is reported once,
//! also if juror injects a call before the program's (`inject`) or the
//! instruction is executed by a step.

use std::collections::BTreeSet;

use juror_stepping::ThreadId;

use crate::debuggee::{Debuggee, gone_or};
use crate::error::DebuggeeError;
use crate::kernel;
use crate::stop_event::{StopEvent, SystemCallPhase};

/// The number of a system call that was left at its entry: there was none.
const LEFT: u64 = u64::MAX;

/// A set of system calls, by their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum SystemCalls {
    /// No call.
    #[default]
    None,
    /// These.
    Only(BTreeSet<u64>),
    /// Every call.
    All,
}

impl SystemCalls {
    /// Returns true if the set contains a call.
    pub fn contains(&self, number: u64) -> bool {
        match self {
            SystemCalls::None => false,
            SystemCalls::Only(numbers) => numbers.contains(&number),
            SystemCalls::All => true,
        }
    }

    /// Returns the union of two sets.
    fn joined(&self, other: &SystemCalls) -> SystemCalls {
        match (self, other) {
            (SystemCalls::All, _) | (_, SystemCalls::All) => SystemCalls::All,
            (SystemCalls::None, some) | (some, SystemCalls::None) => some.clone(),
            (SystemCalls::Only(some), SystemCalls::Only(others)) => {
                SystemCalls::Only(some.union(others).copied().collect())
            }
        }
    }

    /// Returns true if threads have to stop at system calls.
    pub(crate) fn is_traced(&self) -> bool {
        *self != SystemCalls::None
    }
}

/// The reported calls, by who requested them.
#[derive(Debug, Clone, Default)]
pub(crate) struct WantedCalls {
    developer: SystemCalls,
    monitors: SystemCalls,
    /// Both.
    pub(crate) all: SystemCalls,
}

impl WantedCalls {
    /// Returns true if threads have to stop at system calls.
    pub(crate) fn is_traced(&self) -> bool {
        self.all.is_traced()
    }

    /// Takes over the user's calls of `other`.
    pub(crate) fn take_developers(&mut self, other: &WantedCalls) {
        self.developer.clone_from(&other.developer);
        self.join();
    }

    fn join(&mut self) {
        self.all = self.developer.joined(&self.monitors);
    }
}

impl Debuggee {
    /// Sets the calls for which [`StopEvent::SystemCall`] is reported. A thread
    /// that runs at this moment is traced from its next stop on.
    pub fn catch_system_calls(&mut self, calls: SystemCalls) {
        self.system_calls.developer = calls;
        self.system_calls.join();
    }

    /// Sets the calls that monitors need, in addition to those of
    /// [`Debuggee::catch_system_calls`].
    pub fn monitor_system_calls(&mut self, calls: SystemCalls) {
        self.system_calls.monitors = calls;
        self.system_calls.join();
    }

    /// Handles a stop at the entry or the exit of a system call.
    pub(crate) fn handle_system_call(&mut self, thread: ThreadId) -> Result<(), DebuggeeError> {
        let failed = gone_or("examine a system call", thread);
        let at_entry = kernel::is_at_entry(thread.0).map_err(failed)?;
        let mut was_in_call = false;
        if let Some(known) = self.threads.get_mut(&thread.0) {
            known.at_entry = at_entry;
            was_in_call = std::mem::replace(&mut known.is_in_call, at_entry);
        }
        let registers = self.stop_registers(thread)?.shown;
        // The registers are those of the code that the handler had interrupted,
        // in no call.
        let has_returned = was_in_call && !at_entry && registers.orig_rax == LEFT;
        if at_entry && registers.orig_rax != libc::SYS_rt_sigreturn as u64 || has_returned {
            self.note_call(thread, has_returned)?;
        }
        let accesses = match at_entry {
            true => Vec::new(),
            false => self.kernel_accesses(thread)?,
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
            self.note_fault_action(registers.orig_rax as i64, arguments, registers.rax as i64)?;
            self.note_seccomp_filter(registers.orig_rax as i64);
            self.close_after_call(thread)?;
        }
        let Some(known) = self.threads.get_mut(&thread.0) else {
            return Ok(());
        };
        let repeated = at_entry && std::mem::take(&mut known.reenters_call);
        let is_reported = std::mem::take(&mut known.exec_exit_reported) && !at_entry;
        let number = registers.orig_rax;
        if has_returned {
            return self.continue_after_call(thread);
        }
        if !at_entry && number == LEFT {
            return self.continue_internally(thread);
        }
        if repeated
            || is_reported
            || known.is_vfork_child
            || !self.system_calls.all.contains(number)
        {
            return match accesses.is_empty() {
                true => self.continue_after_call(thread),
                false => self.report_accesses(thread, accesses),
            };
        }
        let phase = if at_entry {
            SystemCallPhase::Entry {
                arguments: registers.system_call_arguments(),
            }
        } else {
            SystemCallPhase::Exit {
                result: registers.rax as i64,
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

    /// Returns true if a stopped thread will next enter a system call, or leave
    /// the one that it is in: a single step would pass both without a stop.
    pub(crate) fn enters_system_call(&self, thread: ThreadId) -> bool {
        const SYSTEM_CALL: [u8; 2] = [0x0f, 0x05];
        if self.threads.get(&thread.0).is_some_and(|it| it.is_in_call) {
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
        /// Length of the `syscall` instruction.
        const LENGTH: u64 = 2;
        let failed = |errno| gone_or("set registers", thread)(errno);
        if !self.stopped(thread)?.at_entry {
            return Ok(());
        }
        let mut registers = *self.stop_registers(thread)?;
        let mut raw = kernel::registers(thread.0).map_err(failed)?;
        raw.rip = raw.rip.wrapping_sub(LENGTH);
        raw.rax = raw.orig_rax;
        raw.orig_rax = u64::MAX;
        kernel::set_registers(thread.0, &raw).map_err(failed)?;
        registers.kernel_counter = raw.rip;
        registers.shown.rax = raw.rax;
        registers.shown.orig_rax = raw.orig_rax;
        registers.shown.rip = match self.image.original_of(raw.rip) {
            Some(place) => place.address,
            None => raw.rip,
        };
        let known = self.stopped_mut(thread)?;
        known.at_entry = false;
        known.inside_kernel = false;
        known.is_in_call = false;
        known.reenters_call = true;
        known.registers = registers.into();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_calls_are_joined() {
        let only = |numbers: &[u64]| SystemCalls::Only(numbers.iter().copied().collect());
        for (first, second, both) in [
            (SystemCalls::None, SystemCalls::None, SystemCalls::None),
            (only(&[1]), SystemCalls::None, only(&[1])),
            (SystemCalls::None, only(&[2]), only(&[2])),
            (only(&[1, 3]), only(&[2, 3]), only(&[1, 2, 3])),
            (SystemCalls::All, only(&[2]), SystemCalls::All),
        ] {
            assert_eq!(first.joined(&second), both);
            assert_eq!(second.joined(&first), both);
        }
    }
}
