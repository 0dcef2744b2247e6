//! Ctrl-C while the debuggee runs.
//!
//! Usually the debuggee has the terminal and gets the signal. juror gets it if both
//! share a process group, or from `kill`.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// The state that is shared with the thread that handles signals.
#[derive(Debug, Clone, Default)]
pub struct Running(Arc<State>);

#[derive(Debug, Default)]
struct State {
    is_running: AtomicBool,
    /// The signal that is to end juror; 0 for none.
    ending: AtomicI32,
}

impl Running {
    /// Marks a command as running until the guard is dropped.
    pub fn begin(&self) -> Guard<'_> {
        self.0.is_running.store(true, Ordering::SeqCst);
        Guard(self)
    }

    /// Returns the signal that is to end juror after the command.
    pub fn ending(&self) -> Option<i32> {
        Some(self.0.ending.load(Ordering::SeqCst)).filter(|&signal| signal != 0)
    }
}

/// Marks a command as running while it lives.
#[derive(Debug)]
pub struct Guard<'a>(&'a Running);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.0.is_running.store(false, Ordering::SeqCst);
    }
}

/// Ends juror by a signal, as if juror did not handle it.
pub fn end_by(signal: i32) {
    // The debuggee has been ended or detached.
    let _ = signal_hook::low_level::emulate_default_handler(signal);
}

/// Starts a thread that handles signals.
///
/// SIGINT calls `interrupt` while a command runs. Between commands it does nothing at a
/// terminal, where the line editor reads Ctrl-C as a key, and ends juror otherwise.
/// SIGTERM and SIGHUP end juror, after interrupting a running command, so that the
/// debuggee is not left half detached.
pub fn install(
    running: Running,
    interrupt: Box<dyn Fn() + Send>,
    at_terminal: bool,
) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    std::thread::Builder::new()
        .name("interrupts".to_owned())
        .spawn(move || {
            for signal in signals.forever() {
                let is_key = signal == SIGINT;
                if running.0.is_running.load(Ordering::SeqCst) {
                    if !is_key {
                        running.0.ending.store(signal, Ordering::SeqCst);
                    }
                    interrupt();
                } else if !is_key || !at_terminal {
                    // The kernel kills a started debuggee with juror, and an attached
                    // one is stopped where it can be left.
                    let _ = signal_hook::low_level::emulate_default_handler(signal);
                }
            }
        })?;
    Ok(())
}
