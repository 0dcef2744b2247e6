//! The control state: user or program, and how to interrupt.

use juror_debuggee::{Debuggee, Interrupter};
use juror_rules::control::{Control, ControlCheck};
use juror_view::error::{CommandError, SessionError};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

/// Bits of [`ControlState::asked`]: the user wants the program to stop.
const INTERRUPT: u8 = 1;
/// A front end has requests to serve.
const CALL: u8 = 2;

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
    /// Why the interrupter was called: [`INTERRUPT`], [`CALL`].
    pub asked: Arc<AtomicU8>,
    /// Requests came during a call of a function of the program, and wait for its end.
    pub is_call_deferred: bool,
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
        let asked = Arc::clone(&self.asked);
        move || {
            cancel.store(true, Ordering::Relaxed);
            asked.fetch_or(INTERRUPT, Ordering::SeqCst);
            ring(&shared);
        }
    }

    /// Returns a function that makes a command which lets the program run serve the requests of
    /// its observer; it may be called from any thread.
    pub(crate) fn call(&self) -> impl Fn() + Send + use<> {
        let shared = Arc::clone(&self.interrupter);
        let asked = Arc::clone(&self.asked);
        move || {
            asked.fetch_or(CALL, Ordering::SeqCst);
            ring(&shared);
        }
    }

    /// Takes the reason of an interruption. Returns whether it is for requests alone; the user's
    /// own wish to stop comes first, and also comes without this (Ctrl-C at the terminal).
    pub(crate) fn take_call(&mut self) -> bool {
        self.asked.swap(0, Ordering::SeqCst) == CALL
    }

    /// Has the requests served after the call of a function that is under way.
    pub(crate) fn defer_call(&mut self) {
        self.is_call_deferred = true;
    }

    /// Forgets that the user wanted to stop the command, which has ended.
    pub(crate) fn forget_interrupt(&self) {
        self.asked.fetch_and(!INTERRUPT, Ordering::SeqCst);
    }

    /// Makes sure that requests which came while nothing ran interrupt the run that begins: what
    /// was asked of the debuggee then is forgotten at a stop.
    pub(crate) fn repeat_call(&mut self) {
        let asked = self.asked.load(Ordering::SeqCst);
        if asked & CALL != 0 || std::mem::take(&mut self.is_call_deferred) {
            self.asked.fetch_or(CALL, Ordering::SeqCst);
            ring(&self.interrupter);
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
        match self.is_ending() {
            true => Err(CommandError::new(
                "juror has been asked to end: the program does not run any more",
            )),
            false => Ok(()),
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

/// Interrupts the run, if there is one.
fn ring(interrupter: &Mutex<Option<Interrupter>>) {
    if let Ok(guard) = interrupter.lock()
        && let Some(interrupter) = &*guard
    {
        interrupter.interrupt();
    }
}
