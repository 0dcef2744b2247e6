//! A control of the threads above the kernel: it decides which thread goes on
//! (`juror-explore`).
//!
//! While the control works it is taken out of the debuggee, so that what it calls
//! itself is carried out at once.

use std::fmt;
use std::time::Instant;

use juror_schedule::Scheduler;
use juror_stepping::ThreadId;

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::state::communication::Communication;
use crate::state::stop_event::StopEvent;

/// Decides which thread goes on. The user's commands are requests to it.
pub trait ThreadControl: fmt::Debug {
    /// Lets threads go on until the next stop event that is the user's.
    ///
    /// # Errors
    /// As [`Debuggee::wait`]; and what the program does cannot be controlled.
    fn wait(&mut self, debuggee: &mut Debuggee) -> Result<StopEvent, DebuggeeError>;

    /// The user lets a thread go on.
    ///
    /// # Errors
    /// As [`Debuggee::resume`].
    fn resume(&mut self, debuggee: &mut Debuggee, thread: ThreadId) -> Result<(), DebuggeeError>;

    /// The user lets a thread execute one instruction.
    ///
    /// # Errors
    /// As [`Debuggee::step`].
    fn step(&mut self, debuggee: &mut Debuggee, thread: ThreadId) -> Result<(), DebuggeeError>;

    /// Sets the time of the user's alarm.
    fn set_alarm(&mut self, at: Option<Instant>);

    /// The user chooses the thread that goes on; from here on it is another run. All threads are
    /// stopped.
    ///
    /// # Errors
    /// The thread cannot go on now; why, in words.
    fn choose(&mut self, debuggee: &Debuggee, thread: ThreadId) -> Result<(), DebuggeeError>;

    /// Returns whether the user has chosen.
    fn is_branched(&self) -> bool;

    /// Has [`ThreadControl::wait`] return [`StopEvent::Stepped`], once, when a thread is about to go
    /// on that has the baton after so many schedule points (or [`StopEvent::Hit`], if others own a
    /// point where it stands); `None` for never.
    fn stop_at_point(&mut self, points: Option<u64>);

    /// Sets whether what the program writes to the standard output and error with which it began
    /// goes nowhere.
    fn set_silent(&mut self, debuggee: &Debuggee, is_silent: bool);

    /// Returns the same, for a copy of the program as it is now; nothing if something is under way, or
    /// what the program is told by the kernel cannot be told to a copy.
    fn copy(&self) -> Option<Box<dyn ThreadControl>>;

    /// The threads have other numbers: each thread's then and now. Others have ended.
    fn renumber(&mut self, threads: &[(ThreadId, ThreadId)]);

    /// Returns the number of a thread (how many had started before it) and of the system calls that it
    /// has made, if the run is made again from a recording of them.
    fn calls_made(&self, thread: ThreadId) -> Option<(u32, usize)>;

    /// Returns the scheduler.
    fn scheduler(&self) -> &Scheduler;

    /// Returns the steps by which the threads have communicated, if they are noted.
    fn communication(&self) -> Option<&Communication>;
}
