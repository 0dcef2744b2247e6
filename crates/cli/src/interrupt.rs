//! Ctrl-C while the debuggee runs.
//!
//! Usually the debuggee has the terminal and gets the signal itself; juror
//! gets it when both share a process group, or from `kill`.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// Tells the signal's thread whether a command runs.
#[derive(Debug, Clone, Default)]
pub struct Running(Arc<State>);

#[derive(Debug, Default)]
struct State {
    is_running: AtomicBool,
    /// The signal that wants juror to end; 0 for none.
    ending: AtomicI32,
}

impl Running {
    /// A command runs until the guard is dropped.
    pub fn begin(&self) -> Guard<'_> {
        self.0.is_running.store(true, Ordering::SeqCst);
        Guard(self)
    }

    /// The signal that wants juror to end, once the command is over.
    pub fn ending(&self) -> Option<i32> {
        Some(self.0.ending.load(Ordering::SeqCst)).filter(|&signal| signal != 0)
    }
}

/// A command runs as long as this lives.
#[derive(Debug)]
pub struct Guard<'a>(&'a Running);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.0.is_running.store(false, Ordering::SeqCst);
    }
}

/// Ends juror by a signal, as if it had not been caught.
pub fn end_by(signal: i32) {
    // The debuggee has been ended or let go.
    let _ = signal_hook::low_level::emulate_default_handler(signal);
}

/// Calls `interrupt` at each SIGINT while a command runs. Between commands
/// the signal does nothing at a terminal, where the line editor sees Ctrl-C as
/// a key, and ends juror elsewhere. SIGTERM and SIGHUP end it, after the
/// command that runs has been interrupted: whoever sent them is not to find
/// the debuggee half let go.
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
                    // A debuggee that was started goes with us, one that was
                    // attached stands where it can be left.
                    let _ = signal_hook::low_level::emulate_default_handler(signal);
                }
            }
        })?;
    Ok(())
}
