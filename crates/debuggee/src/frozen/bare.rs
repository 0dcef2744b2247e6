//! System calls made by a stopped task that is no thread of a debuggee: a
//! template, or a process that is being made from one.
//!
//! Like `calls::inject`, but without a table of threads. Invariant: the task is
//! stopped before and after, with the same registers and the same signal mask.

use juror_arch::{NO_SYSTEM_CALL, Registers};
use nix::errno::Errno;

use crate::kernel::injected_call::call_registers;
use crate::kernel::{self, Event, Outcome, Status};
use crate::state::out_of_line::GADGET;

/// The result of a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Answer {
    /// The kernel's return value.
    pub(super) result: i64,
    /// The task that the call made, which is stopped; by its number for juror.
    pub(super) made: Option<u32>,
}

impl Answer {
    /// Returns the answer, or the kernel's error.
    pub(super) fn checked(self) -> Outcome<Answer> {
        /// The kernel's largest error number.
        const ERRORS_MAX: i64 = 4095;
        match self.result {
            refused if (-ERRORS_MAX..0).contains(&refused) => {
                Err(Errno::from_raw(-(refused as i32)))
            }
            _ => Ok(self),
        }
    }
}

/// A task that runs a system call for juror, with the state to restore
/// afterwards.
#[derive(Debug)]
pub(super) struct Begun {
    task: u32,
    saved: Registers,
    mask: u64,
}

/// Resumes a stopped task, with some registers changed.
pub(super) fn begin(task: u32, change: impl FnOnce(&mut Registers)) -> Outcome<Begun> {
    let saved = kernel::registers(task)?;
    let mask = kernel::signal_mask(task)?;
    // The kernel resets the handler of a trap that is blocked.
    kernel::set_signal_mask(task, !(1 << (libc::SIGTRAP - 1)))?;
    let mut call = saved;
    call.set_system_call(NO_SYSTEM_CALL);
    change(&mut call);
    kernel::set_registers(task, &call)?;
    kernel::resume(task, 0)?;
    Ok(Begun { task, saved, mask })
}

impl Begun {
    /// Waits until the task is stopped at the trap at `end`; returns what it
    /// has made.
    pub(super) fn end(self, end: u64) -> Outcome<Vec<u32>> {
        self.end_with_result(end).map(|(_, made)| made)
    }

    fn end_with_result(self, end: u64) -> Outcome<(i64, Vec<u32>)> {
        let (result, made) = run_to_trap(self.task, end)?;
        kernel::set_registers(self.task, &self.saved)?;
        kernel::set_signal_mask(self.task, self.mask)?;
        Ok((result, made))
    }
}

/// Makes a stopped task execute a system call at `gadget`.
pub(super) fn call(task: u32, gadget: u64, number: i64, arguments: [u64; 6]) -> Outcome<Answer> {
    let begun = begin(task, |registers| {
        *registers = call_registers(*registers, gadget, number, arguments);
    })?;
    let (result, made) = begun.end_with_result(gadget + GADGET.len() as u64)?;
    let made = made.first().copied();
    Ok(Answer { result, made })
}

/// As [`call`], where a refusal is an error.
pub(super) fn demand(task: u32, gadget: u64, number: i64, arguments: [u64; 6]) -> Outcome<Answer> {
    call(task, gadget, number, arguments)?.checked()
}

/// Waits for a running task until the trap at `end`; returns the result of its
/// last call, and what it has made.
fn run_to_trap(task: u32, end: u64) -> Outcome<(i64, Vec<u32>)> {
    let mut made = Vec::new();
    loop {
        match kernel::wait_for(task)? {
            Status::Stopped {
                signal: libc::SIGTRAP,
                event: Event::Signal,
            } => {
                let registers = kernel::registers(task)?;
                if registers.instruction_pointer() == end {
                    return Ok((registers.result() as i64, made));
                }
            }
            Status::Stopped {
                event: Event::Clone | Event::Fork | Event::Vfork,
                ..
            } => {
                let child = kernel::event_message(task)?;
                // Its first stop.
                if let Status::Stopped { .. } = kernel::wait_for(child)? {
                    made.push(child);
                }
            }
            Status::Stopped {
                event: Event::Exit, ..
            }
            | Status::Exited { .. }
            | Status::Killed { .. } => return Err(Errno::ESRCH),
            Status::Stopped { .. } => {}
        }
        kernel::resume(task, 0)?;
    }
}
