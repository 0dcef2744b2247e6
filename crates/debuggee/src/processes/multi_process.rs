//! Several debuggees of one tracer thread: waiting for whichever has something
//! to report, and transferring resources between them.
//!
//! Invariant: a status goes to the debuggee that knows its thread; as within
//! one debuggee, the stop of a thread is handled after a bounded number of
//! others, of whichever process.

use nix::errno::Errno;

use crate::debuggee::Debuggee;
use crate::error::DebuggeeError;
use crate::kernel::dispositions;
use crate::kernel::pending_stops;
use crate::kernel::{self, Status};
use crate::state::life::ProcessGroup;
use crate::state::signals::InterruptKey;
use crate::state::stop_event::StopEvent;
use crate::state::thread::State;

/// One status in this many is that of the next thread in order.
const STATUSES_PER_POLL: u32 = 4;

/// Waits for several debuggees at a time, fairly.
#[derive(Debug, Default)]
pub struct FairWaiter {
    statuses: u32,
    /// The thread that was polled last.
    last: u32,
}

impl FairWaiter {
    /// Waits for the next stop event of any of the debuggees, as
    /// [`Debuggee::wait`] does for one. Returns the position of the debuggee.
    ///
    /// # Errors
    /// None of them can report anything.
    pub fn wait(
        &mut self,
        debuggees: &mut [&mut Debuggee],
    ) -> Result<(usize, StopEvent), DebuggeeError> {
        loop {
            for debuggee in debuggees.iter_mut() {
                debuggee.wait.interruption.note_requests();
            }
            for (position, debuggee) in debuggees.iter_mut().enumerate() {
                if let Some(event) = debuggee.take_event() {
                    return Ok((position, event));
                }
            }
            let mut living = debuggees.iter().filter(|it| it.is_alive());
            if !living.clone().any(|it| it.can_report()) && !living.any(|it| it.is_ending()) {
                return Err(DebuggeeError::NothingRuns);
            }
            forward_interruption(debuggees)?;
            self.wait_and_handle(debuggees)?;
        }
    }

    fn wait_and_handle(&mut self, debuggees: &mut [&mut Debuggee]) -> Result<(), DebuggeeError> {
        let known = |thread| debuggees.iter().any(|it| it.knows(thread));
        let (thread, status) = match pending_stops::take(known) {
            Some(found) => found,
            None => match self.poll_fairly(debuggees) {
                Some(found) => found,
                None => next_status(debuggees)?,
            },
        };
        match debuggees.iter_mut().find(|it| it.knows(thread)) {
            Some(debuggee) => debuggee.handle_status_tolerantly(thread, status),
            None => Ok(()),
        }
    }

    /// Returns, once in a while, the status of the next thread in order; none
    /// if it has not stopped.
    fn poll_fairly(&mut self, debuggees: &[&mut Debuggee]) -> Option<(u32, Status)> {
        self.statuses = self.statuses.wrapping_add(1);
        if !self.statuses.is_multiple_of(STATUSES_PER_POLL) {
            return None;
        }
        let running = || {
            let threads = debuggees.iter().flat_map(|it| it.threads.values());
            threads
                .filter(|thread| thread.state == State::Running)
                .map(|thread| thread.id.0)
        };
        let later = running().filter(|&id| id > self.last).min();
        let id = later.or_else(|| running().min())?;
        self.last = id;
        let status = kernel::poll_for(id).ok().flatten()?;
        Some((id, status))
    }
}

/// Sleeps until a status comes that belongs to one of these debuggees.
fn next_status(debuggees: &mut [&mut Debuggee]) -> Result<(u32, Status), DebuggeeError> {
    loop {
        match kernel::wait_any() {
            Ok((thread, status)) => {
                let is_known = debuggees.iter().any(|it| it.knows(thread))
                    || debuggees.iter_mut().any(|it| it.adopts(thread));
                if is_known {
                    return Ok((thread, status));
                }
                pending_stops::put(thread, status);
            }
            Err(Errno::ECHILD) => {
                for debuggee in debuggees.iter_mut() {
                    debuggee.life.end();
                }
                return Err(DebuggeeError::Gone);
            }
            Err(errno) => return Err(DebuggeeError::system("wait for the program")(errno)),
        }
    }
}

/// Passes a request to stop to a debuggee that has a thread to stop for it.
fn forward_interruption(debuggees: &mut [&mut Debuggee]) -> Result<(), DebuggeeError> {
    for due in debuggees.iter_mut() {
        // An alarm concerns its own debuggee, and a call that of the stop helper or any.
        let interruption = &due.wait.interruption;
        if (interruption.is_due || interruption.is_called) && due.has_thread_to_interrupt() {
            due.interrupt_some_thread()?;
        }
    }
    let asked = debuggees
        .iter_mut()
        .find(|it| it.wait.interruption.is_wanted);
    let Some(asked) = asked else {
        return Ok(());
    };
    if asked.has_thread_to_interrupt() {
        return asked.interrupt_some_thread();
    }
    asked.wait.interruption.is_wanted = false;
    match debuggees.iter_mut().find(|it| it.has_thread_to_interrupt()) {
        Some(other) => {
            other.wait.interruption.is_wanted = true;
            other.interrupt_some_thread()
        }
        None => {
            // The first one that runs is stopped.
            if let Some(first) = debuggees.first_mut() {
                first.wait.interruption.is_wanted = true;
            }
            Ok(())
        }
    }
}

impl Debuggee {
    /// Returns true if a thread runs that could be stopped for a request.
    fn has_thread_to_interrupt(&self) -> bool {
        let mut threads = self.threads.values();
        threads.any(|thread| thread.state == State::Running && !thread.is_vfork_child)
    }

    /// Transfers the single resources to another debuggee, since this one is
    /// being left: the terminal, and the stop helper with its handles.
    pub fn transfer_to(&mut self, other: &mut Debuggee) {
        let interruption = &mut self.wait.interruption;
        interruption.transfer_to(&mut other.wait.interruption);
        if other.host.terminal.is_none() {
            other.host.terminal = self.host.terminal.take();
        }
    }

    /// Sets whether this is the only debuggee of its thread: of several, none
    /// shares a CPU with juror.
    pub fn set_only_debuggee(&mut self, is_alone: bool) {
        self.host.cpu.set_alone(is_alone);
    }

    /// Makes the rest of the process group survive a kill of this process: one
    /// of its processes was released on purpose.
    pub fn keep_process_group(&mut self) {
        self.life.group = ProcessGroup::KeptFork;
    }

    /// For a halted debuggee: discards the interrupt key that stopped another
    /// debuggee and went to this one, too, so that it does not stop a second
    /// time.
    pub fn discard_interrupt_key(&mut self) {
        self.wait
            .events
            .retain(|event| !matches!(event, StopEvent::Interrupted { .. }));
        self.signals.interrupt_key = if dispositions::is_waiting(self.process, libc::SIGINT) {
            InterruptKey::Ignored
        } else {
            InterruptKey::Reported
        };
    }
}
