//! The open files of the process as descriptors of juror's own: with the same
//! offsets and flags, since both refer to one open file.

use std::os::fd::OwnedFd;

use super::FrozenProcess;
use super::kernel as tasks;
use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;

/// Access to the open files of a process.
#[derive(Debug)]
pub struct Descriptors {
    process: u32,
    handle: OwnedFd,
}

impl Descriptors {
    fn of(process: u32) -> Result<Descriptors, DebuggeeError> {
        let failed = DebuggeeError::system("list the program's open files");
        let handle = tasks::open_process(process).map_err(failed)?;
        Ok(Descriptors { process, handle })
    }

    /// Returns the process, whose number gives access to `/proc`.
    pub fn process(&self) -> u32 {
        self.process
    }

    /// Returns another descriptor for an open file of the process; none if the
    /// number is not open.
    pub fn get(&self, number: i32) -> Option<OwnedFd> {
        tasks::descriptor_of(&self.handle, number).ok()
    }

    /// Returns the bytes in a pipe whose reading end is `descriptor`; they stay
    /// in it.
    ///
    /// # Errors
    /// The kernel's.
    pub fn peek_pipe(&self, descriptor: &OwnedFd) -> Result<Vec<u8>, DebuggeeError> {
        tasks::peek_pipe(descriptor).map_err(DebuggeeError::system("read a pipe"))
    }

    /// Sets a timer that is a descriptor: seconds and nanoseconds of its
    /// interval and of the time until its next expiry, with the flags of
    /// `timerfd_settime`.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_timer(
        &self,
        descriptor: &OwnedFd,
        flags: i32,
        times: [i64; 4],
    ) -> Result<(), DebuggeeError> {
        tasks::set_timer(descriptor, flags, times)
            .map_err(DebuggeeError::system("set a timer of the program again"))
    }
}

impl Debuggee {
    /// Returns the open files of the process.
    ///
    /// # Errors
    /// The process has ended.
    pub fn descriptors(&self) -> Result<Descriptors, DebuggeeError> {
        Descriptors::of(self.process)
    }
}

impl FrozenProcess {
    /// Returns the open files of the copy: those of the moment at which it was
    /// made.
    ///
    /// # Errors
    /// The copy is gone.
    pub fn descriptors(&self) -> Result<Descriptors, DebuggeeError> {
        Descriptors::of(self.template.0)
    }
}
