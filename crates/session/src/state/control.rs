//! The control state: user or program, and how to interrupt.

use juror_control::{Control, ControlCheck, Mode, Refusal};
use juror_debuggee::{Debuggee, Interrupter};
use juror_fault::{CommandError, SessionError};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Creates the error of commands that need a program.
pub(crate) fn not_running() -> CommandError {
    CommandError::with_help("the program is not running", "start it with: run")
}

/// Converts the refusal of a transition of the control to the error of the command that needs it.
pub(crate) fn refused(refusal: Refusal) -> CommandError {
    match refusal {
        Refusal::Mode(Mode::Init | Mode::Loaded) => not_running(),
        other => CommandError::new(format!("juror is at fault: {other}")),
    }
}

/// Converts the refusal of a transition of the control to the error of a session that starts.
pub(crate) fn refused_start(refusal: Refusal) -> SessionError {
    SessionError::Internal(refusal.to_string())
}

/// The control machine, and the means to interrupt a run.
#[derive(Default)]
pub(crate) struct ControlState {
    /// The present control.
    pub state: Control,
    /// Under a self-check: compares the control with its model.
    pub check: Option<Box<ControlCheck>>,
    /// Set to abort long operations of juror.
    pub cancel: Arc<AtomicBool>,
    /// Set when juror is to end: nothing of the program runs any more.
    pub ending: Arc<AtomicBool>,
    /// Requests of a front end are served in the middle of a command.
    pub serves: bool,
    /// Shared with the threads that may interrupt a run.
    pub interrupter: Arc<Mutex<Option<Interrupter>>>,
}

impl ControlState {
    /// Returns a function that makes a command which lets the program run return; it may
    /// be called from any thread.
    pub(crate) fn interrupt(&self) -> impl Fn() + Send + use<> {
        let shared = Arc::clone(&self.interrupter);
        let cancel = Arc::clone(&self.cancel);
        move || {
            // Held meanwhile: whoever sees the first and then takes it finds the second, too.
            let guard = shared.lock();
            cancel.store(true, Ordering::Relaxed);
            if let Ok(guard) = &guard
                && let Some(interrupter) = &**guard
            {
                interrupter.interrupt();
            }
        }
    }

    /// Takes an interruption that is not for what follows. Returns whether there was one.
    pub(crate) fn set_interruption_aside(&self) -> bool {
        self.cancel.swap(false, Ordering::Relaxed)
    }

    /// Brings back an interruption that was set aside, for the command that goes on.
    pub(crate) fn put_interruption_back(&self, was_set: bool) {
        if was_set {
            self.cancel.store(true, Ordering::Relaxed);
        }
    }

    /// Drops an interruption that a command has followed without the program: the next run is not
    /// meant.
    pub(crate) fn forget_interruption(&self, debuggee: &mut Debuggee) {
        let guard = self.interrupter.lock();
        self.cancel.store(false, Ordering::Relaxed);
        debuggee.forget_interruption();
        drop(guard);
    }

    /// Returns a function that makes a command which lets the program run serve the requests of
    /// its observer; it may be called from any thread.
    pub(crate) fn call(&self) -> impl Fn() + Send + use<> {
        let shared = Arc::clone(&self.interrupter);
        move || {
            if let Ok(guard) = shared.lock()
                && let Some(interrupter) = &*guard
            {
                interrupter.call();
            }
        }
    }

    /// Returns a function after which no command lets the program run; it may be called
    /// from any thread.
    pub(crate) fn end_runs(&self) -> impl Fn() + Send + use<> {
        let ending = Arc::clone(&self.ending);
        move || ending.store(true, Ordering::SeqCst)
    }

    /// Whether juror is to end.
    pub(crate) fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Relaxed)
    }

    /// Refuses to let the program run if juror is to end.
    pub(crate) fn permit_run(&self) -> Result<(), CommandError> {
        if self.is_ending() {
            Err(CommandError::new(
                "juror has been asked to end: the program does not run any more",
            ))
        } else {
            Ok(())
        }
    }

    /// Makes [`ControlState::interrupt`] stop this debuggee.
    pub(crate) fn share_interrupter(&self, debuggee: &mut Debuggee) -> Result<(), SessionError> {
        let interrupter = debuggee
            .interrupter()
            .map_err(|error| SessionError::Internal(error.to_string()))?;
        if let Ok(mut guard) = self.interrupter.lock() {
            *guard = Some(interrupter);
        }
        Ok(())
    }

    /// Notes that the debuggee has ended.
    pub(crate) fn end(&mut self) {
        self.state.end();
        if let Ok(mut guard) = self.interrupter.lock() {
            *guard = None;
        }
    }
}
