//! What the process has open, as juror's own descriptors: with the same
//! offsets and flags, since both mean one open file.

use std::os::fd::OwnedFd;

use super::FrozenProcess;
use super::kernel as tasks;
use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;

/// The way to the open files of a process.
#[derive(Debug)]
pub struct Descriptors {
    process: u32,
    handle: OwnedFd,
}

impl Descriptors {
    fn of(process: u32) -> Result<Descriptors, DebuggeeError> {
        let failed = DebuggeeError::system("look at what the program has open");
        let handle = tasks::open_process(process).map_err(failed)?;
        Ok(Descriptors { process, handle })
    }

    /// The process, by whose number `/proc` tells more.
    pub fn process(&self) -> u32 {
        self.process
    }

    /// Another descriptor for what a number of the process is open on; none
    /// when it is not open.
    pub fn get(&self, number: i32) -> Option<OwnedFd> {
        tasks::descriptor_of(&self.handle, number).ok()
    }

    /// The bytes that wait in a pipe of which `descriptor` is the end to read
    /// from; they stay in it.
    ///
    /// # Errors
    /// The kernel's.
    pub fn peek_pipe(&self, descriptor: &OwnedFd) -> Result<Vec<u8>, DebuggeeError> {
        tasks::peek_pipe(descriptor).map_err(DebuggeeError::system("look into a pipe"))
    }

    /// Sets a timer that is a descriptor: seconds and nanoseconds of its
    /// interval, and of the time until its next end, with the flags of
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
    /// The open files of the process.
    ///
    /// # Errors
    /// The process is gone.
    pub fn descriptors(&self) -> Result<Descriptors, DebuggeeError> {
        Descriptors::of(self.process)
    }
}

impl FrozenProcess {
    /// The open files of the copy: those of the moment at which it was made.
    ///
    /// # Errors
    /// The copy is gone.
    pub fn descriptors(&self) -> Result<Descriptors, DebuggeeError> {
        Descriptors::of(self.template.0)
    }
}
